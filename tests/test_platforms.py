"""The commands on Linux, macOS and Windows, in processes of their own; and what differs there."""

from __future__ import annotations

import json
import sys
import urllib.request
from pathlib import Path

import pytest

import antecede
from antecede.checker.support import private
from antecede.checker.support.platforms import refuse_on_windows
from tests.conftest import in_a_process

NODE = """
class Node:
    def __init__(self, actor, actors):
        pass

    def causal_send(self, out, message):
        for to in message.destinations:
            out.send(to, message)

    def receive(self, out, src, packet):
        out.deliver(packet)
"""

LOG = """
{"actor": "alice", "event": "causal-send", "message": "m1", "to": ["bob"]}
{"actor": "bob", "event": "deliver", "message": "m1"}
"""

COMMANDS = {
    "--version": 0,
    "list": 0,
    "check fifo --actors 2 --messages 2 --engine plain": 0,
    "check cykas-secret-mode --actors 3 --messages 2 --trace run.json": 1,
    "replay run.json": 1,
    "audit log.jsonl": 0,
    "test node.py:Node --messages 1 --property integrity": 0,
    "simulate fifo --actors 3 --messages 20": 0,
    "prove fifo": 0,
    "sweep fifo --actors 2,3 --messages 1 --property integrity --workers 2 --output rows.jsonl": 0,
    "sweep fifo --actors 2 --actors 3 --messages 2 --workers 2 --output rows.jsonl": 0,
    "check mfss --actors 3 --messages 2 --checkpoint saved": 0,
    "classes fifo --actors 2 --messages 1": 0,
    "check mfss --actors 3 --messages 2 --spill spilled": 2 if sys.platform == "win32" else 0,
}


@pytest.mark.integration
def test_the_main_commands_run(tmp_path: Path) -> None:
    (tmp_path / "node.py").write_text(NODE, encoding="utf-8")
    (tmp_path / "log.jsonl").write_text(LOG.lstrip(), encoding="utf-8")
    ran = {line: in_a_process(*line.split(), cwd=tmp_path) for line in COMMANDS}
    assert COMMANDS == {line: done.code for line, done in ran.items()}, ran
    assert [] == [line for line, done in ran.items() if "Traceback" in done.err]


@pytest.mark.integration
def test_the_command_runs_with_its_own_streams(tmp_path: Path) -> None:
    line = ("check", "unordered", "--actors", 3, "--messages", 2, "--engine", "plain")
    done = in_a_process(*line, "--json", "run.json", cwd=tmp_path)
    assert (1, "") == (done.code, done.err)
    assert "VIOLATED" in done.out
    assert "VIOLATED" == json.loads((tmp_path / "run.json").read_bytes())["verdict"]


def test_the_page_of_a_protocol_opens() -> None:
    page = antecede.explore("fifo", actors=2, messages=1)
    with urllib.request.urlopen(page.address) as answer:
        assert 200 == answer.status
    page.close()


def test_what_windows_lacks_is_refused_with_a_sentence(monkeypatch: pytest.MonkeyPatch) -> None:
    refuse_on_windows("--spill")
    monkeypatch.setattr("antecede.checker.support.platforms.WINDOWS", True)
    with pytest.raises(Exception, match=r"^--spill needs Linux or macOS; on Windows, run antecede"):
        refuse_on_windows("--spill")


def test_on_windows_only_the_home_folder_is_private(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(private, "WINDOWS", True)
    monkeypatch.setattr(Path, "home", lambda: tmp_path / "me")
    for name in ("me", "shared"):
        (tmp_path / name).mkdir()
    assert private.changed_by_others(tmp_path / "me") is None
    reason = private.changed_by_others(tmp_path / "shared")
    assert reason is not None
    assert "outside your home folder" in reason
