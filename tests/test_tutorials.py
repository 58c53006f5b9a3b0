"""The tutorials: every command is run, in order, and prints what the page shows."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator
from pathlib import Path

import pytest
from attrs import frozen

from antecede.checker.explore import start
from antecede.checker.explore.server import Server
from benchmarks.blocks import TIMES
from tests.conftest import ROOT, Command

PAGES = ("tutorial", "teaching", "ci", "writing", "crashes", "asyncio")
BLOCK = re.compile(
    r"^```(\w+)([^\n]*)\n(.*?)^```|`(antecede \w+\s[^`…]+)`", re.MULTILINE | re.DOTALL
)
FILE = re.compile(r"\s([\w./-]+\.\w+)(?![\w.])")
NAMED = re.compile(r'title="([^"]+)"')
REPLACED = re.compile(r'replaces="(\w+)"')
EXITS = re.compile(r"#\s*exits with (\d)")


@frozen
class Block:
    """A part of a page: a file to save, commands to type, their output, or a command inline."""

    kind: str
    about: str
    text: str


def blocks(page: str) -> Iterator[Block]:
    """Yield the parts of a tutorial that a reader follows, and inline commands, in order."""
    for kind, about, text, inline in BLOCK.findall(page):
        if inline:
            yield Block("inline", "", " ".join(inline.split()))
        elif kind in ("sh", "text") or "title=" in about:
            yield Block(kind, about, text)


def save(block: Block, folder: Path) -> None:
    """Save a file as the page says: whole, or one function or class of it anew."""
    (name,) = NAMED.findall(block.about)
    file, text = folder / name, block.text
    for function in REPLACED.findall(block.about):
        begin = rf"^def {function}\(|^@frozen\nclass {function}:"
        whole = re.compile(rf"({begin}).*?(?=^\S)", re.MULTILINE | re.DOTALL)
        text, count = whole.subn(lambda _: f"{block.text}\n\n", file.read_text())
        assert 1 == count
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text)


def follow(page: str, folder: Path, antecede: Command) -> int:
    """Do what a page says, and return how many commands that were."""
    printed, typed = "", 0
    for block in blocks(page):
        if block.kind == "sh":
            printed = ""
            for line in filter(None, block.text.splitlines()):
                words = shlex.split(line, comments=True)
                assert "antecede" == words[0]
                ran = antecede(*words[1:], cwd=folder)
                expected = int((EXITS.findall(line) or ["0"])[0])
                assert expected == ran.code, f"{line}\n{ran.out}{ran.err}"
                printed, typed = printed + ran.out, typed + 1
        elif block.kind == "inline":
            if any(not (folder / name).exists() for name in FILE.findall(block.text)):
                continue  # a file of the reader's own
            ran = antecede(*shlex.split(block.text)[1:], cwd=folder)
            assert ran.code in (0, 1), f"{block.text}\n{ran.out}{ran.err}"
            typed += 1
        elif block.kind == "text":
            for line in block.text.splitlines():
                shown = TIMES.sub("-", line.strip())
                assert shown in TIMES.sub("-", printed), f"{line}\nis not in\n{printed}"
        else:
            save(block, folder)
    return typed


@pytest.fixture(autouse=True)
def explore_ends_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let `antecede explore` load what it is given and then end, as if by Ctrl-C."""
    monkeypatch.setattr(Server, "serve_forever", lambda _server: None)
    monkeypatch.setattr(start, "show", lambda _address: None)


@pytest.mark.integration
@pytest.mark.parametrize("name", PAGES)
def test_a_tutorial_can_be_followed(name: str, antecede: Command, tmp_path: Path) -> None:
    page = (ROOT / "docs" / f"{name}.md").read_text(encoding="utf-8")
    assert follow(page, tmp_path, antecede) >= 2


WRONG = {
    "another verdict": "```sh\nantecede check fifo --actors 2 --expect violated\n```\n",
    "other words": "```sh\nantecede list mfss\n```\n\n```text\nno such words\n```\n",
    "no such command": "```sh\nantecede chekc fifo\n```\n",
    "a command inline": "Type `antecede check mfss --workload nothing` to see it.\n",
}


@pytest.mark.parametrize("page", WRONG.values(), ids=list(WRONG))
def test_a_tutorial_that_is_wrong_is_noticed(page: str, antecede: Command, tmp_path: Path) -> None:
    with pytest.raises(AssertionError):
        follow(page, tmp_path, antecede)


def test_a_function_of_a_file_can_be_replaced(tmp_path: Path) -> None:
    (tmp_path / "a.py").write_text("x = 1\n\n\ndef f():\n    return 1\n\n\ny = 2\n")
    save(Block("python", 'title="a.py" replaces="f"', "def f():\n    return 2\n"), tmp_path)
    assert "x = 1\n\n\ndef f():\n    return 2\n\n\ny = 2\n" == (tmp_path / "a.py").read_text()


def test_a_class_of_a_file_can_be_replaced(tmp_path: Path) -> None:
    (tmp_path / "a.py").write_text("@frozen\nclass A:\n    x: int\n\n\ny = 2\n")
    replaced = "@frozen\nclass A:\n    x: str\n"
    save(Block("python", 'title="a.py" replaces="A"', replaced), tmp_path)
    assert f"{replaced}\n\ny = 2\n" == (tmp_path / "a.py").read_text()
