"""What people read names nothing that only the code knows."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.conftest import Command

INTERNAL = (
    "frontier",
    "kernel",
    "(×",
    "PickledPacket",
    "Fields",
    "pickled",
    "Out(",
    "adapter",
    "HANDLER_RETURNS",
    "handler-returns",
    "Raised(",
    "delivers: ",
    "knowledge (default)",
)
"""Words of the code that commands have printed."""

OWN = """
class Overtakes:
    def __init__(self, me, actors):
        self.me, self.seen = me, []

    def causal_send(self, out, message):
        for to in message.destinations:
            out.send(to, {"message": message})

    def receive(self, out, src, packet):
        self.seen.append(packet["message"])
        out.deliver(packet["message"])


class Fails(Overtakes):
    def receive(self, out, src, packet):
        raise KeyError(src)


class Waits(Overtakes):
    async def receive(self, out, src, packet):
        out.deliver(packet["message"])


class Incomplete:
    def __init__(self, me, actors):
        pass
"""
FILES = ("bug.svg", "bug.html", "bug.txt", "bug.itf.json", "bug.puml", "bug.mmd", "bug.shiviz")
SMALL = ("--actors", "2", "--messages", "2")

COMMANDS = (
    ("check", "mfss", *SMALL, "--verbose"),
    ("check", "fifo", "--verbose"),
    ("check", "mfss", "--max-states", "50"),
    ("check", "mfss", *SMALL, "--engine", "plain", "--search", "depth", "--verbose"),
    ("check", "fifo", *SMALL[:2], "--workload", "endless:1", "--verbose"),
    ("check", "own.py:Overtakes", *SMALL, "--verbose"),
    ("check", "own.py:Fails", *SMALL),
    ("check", "own.py:Waits", *SMALL),
    ("test", "own.py:Overtakes", *SMALL),
    ("test", "own.py:Fails", *SMALL),
    ("test", "own.py:Incomplete", *SMALL),
    ("list", "mfss"),
)


@pytest.mark.parametrize("asked", COMMANDS, ids=" ".join)
def test_a_command_prints_no_word_of_the_code(
    asked: tuple[str, ...], antecede: Command, tmp_path: Path
) -> None:
    (tmp_path / "own.py").write_text(OWN)
    traced = [word for file in FILES for word in ("--trace", file)] if asked[0] != "list" else []
    ran = antecede(*asked, *traced, cwd=tmp_path)
    written = [file.read_text() for name in FILES if (file := tmp_path / name).exists()]
    for text in (ran.out, ran.err, *written):
        assert [] == [word for word in INTERNAL if word in text]


def test_the_first_start_says_what_it_does_without_words_of_the_code(
    antecede: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("antecede.checker.commands.check.kernels_are_compiled", lambda: False)
    ran = antecede("check", "mfss", *SMALL)
    assert "compiles its search code" in ran.err
    assert "kernel" not in ran.out + ran.err
