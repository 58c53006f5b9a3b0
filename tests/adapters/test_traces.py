"""Traces of real code: they show the packets as a reader knows them, and can be replayed."""

from __future__ import annotations

import re
from pathlib import Path

from antecede import replay
from antecede import test as tested
from tests.conftest import Command

INTERNAL = re.compile(
    r"frontier|kernels|PickledPacket|\bFields|pickled|\bOut\b|HANDLER_RETURNS|antecede\\\.checker"
)

OBJECTS = """
class Packet:
    def __init__(self, message, tags):
        self.message, self.tags = message, tags

class Node:
    def __init__(self, actor, actors):
        self.seen = []
    def causal_send(self, out, message):
        out.send(message.receiver, Packet(message, ["a", {"b": 1}]))
    def receive(self, out, src, packet):
        self.seen.append(packet)
        out.deliver(packet.message)
"""


def test_a_trace_of_real_objects_shows_their_packets_and_is_replayed(
    antecede: Command, tmp_path: Path
) -> None:
    (tmp_path / "nodes.py").write_text(OBJECTS)
    node = f"{tmp_path / 'nodes.py'}:Node"
    found = tested(node, actors=2, messages=2, engine="plain").counterexample
    assert found is not None
    found.save(tmp_path / "run.json")
    for form in ("json", "itf", "txt", "mermaid", "puml", "shiviz", "html", "svg"):
        assert not INTERNAL.findall(found.text(form)), form
    written = (tmp_path / "run.json").read_text("utf-8")
    assert "'message':Message(sender=0,number=1,destinations=(1))" in written
    assert replay(tmp_path / "run.json", protocol=node).violated
    damaged = re.sub("#[0-9a-f]{8}", "#00000000", written)
    (tmp_path / "run.json").write_text(damaged)
    assert 2 == antecede("replay", tmp_path / "run.json", "--protocol", node).code
