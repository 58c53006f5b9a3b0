"""The tutorials: what they tell to type is typed, in their order, and prints what they show."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator
from pathlib import Path

import pytest
from attrs import frozen

from tests.conftest import ROOT, Command

PAGES = ("tutorial", "teaching", "ci")
BLOCK = re.compile(r"^```(\w+)([^\n]*)\n(.*?)^```", re.MULTILINE | re.DOTALL)
NAMED = re.compile(r'title="([^"]+)"')
REPLACED = re.compile(r'replaces="(\w+)"')
EXITS = re.compile(r"#\s*exits with (\d)")


@frozen
class Block:
    """A fenced part of a page: a file to save, commands to type, or what they print."""

    kind: str
    about: str
    text: str


def blocks(page: str) -> Iterator[Block]:
    """Yield the blocks of a tutorial that are done or shown."""
    for kind, about, text in BLOCK.findall(page):
        if kind in ("sh", "text") or "title=" in about:
            yield Block(kind, about, text)


def save(block: Block, folder: Path) -> None:
    """Save a file as the page says: whole, or one function of it anew."""
    (name,) = NAMED.findall(block.about)
    file, text = folder / name, block.text
    for function in REPLACED.findall(block.about):
        whole = re.compile(rf"^def {function}\(.*?(?=^\S)", re.MULTILINE | re.DOTALL)
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
        elif block.kind == "text":
            for line in block.text.splitlines():
                assert line.strip() in printed, f"{line}\nis not in\n{printed}"
        else:
            save(block, folder)
    return typed


@pytest.mark.parametrize("name", PAGES)
def test_a_tutorial_can_be_followed(name: str, antecede: Command, tmp_path: Path) -> None:
    page = (ROOT / "docs" / f"{name}.md").read_text(encoding="utf-8")
    assert follow(page, tmp_path, antecede) >= 2


WRONG = {
    "another verdict": "```sh\nantecede check fifo --actors 2 --expect violated\n```\n",
    "other words": "```sh\nantecede list mfss\n```\n\n```text\nno such words\n```\n",
    "no such command": "```sh\nantecede chekc fifo\n```\n",
}


@pytest.mark.parametrize("page", WRONG.values(), ids=list(WRONG))
def test_a_tutorial_that_is_wrong_is_noticed(page: str, antecede: Command, tmp_path: Path) -> None:
    with pytest.raises(AssertionError):
        follow(page, tmp_path, antecede)


def test_a_function_of_a_file_can_be_replaced(tmp_path: Path) -> None:
    (tmp_path / "a.py").write_text("x = 1\n\n\ndef f():\n    return 1\n\n\ny = 2\n")
    save(Block("python", 'title="a.py" replaces="f"', "def f():\n    return 2\n"), tmp_path)
    assert "x = 1\n\n\ndef f():\n    return 2\n\n\ny = 2\n" == (tmp_path / "a.py").read_text()
