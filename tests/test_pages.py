"""The pages: every command on them is one, and every link leads somewhere."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator
from pathlib import Path

import click
import pytest

from antecede import cli
from tests.conftest import ROOT

PAGES = sorted([*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md"), *ROOT.glob("benchmarks/*.md")])

FENCED = re.compile(r"^```(?:sh|text|console)?\n(.*?)^```", re.MULTILINE | re.DOTALL)
LINK = re.compile(r"\[[^\]]*\]\(([^)#\s]+)(?:#[^)]*)?\)")


def commands(text: str) -> Iterator[str]:
    """Yield the commands of antecede in the blocks of a page, each in one line."""
    for block in FENCED.findall(text):
        joined = block.replace("\\\n", " ")
        for line in joined.splitlines():
            found = re.match(r"\s*(?:\$ )?antecede (\w.*)", line)
            if found:
                yield re.split(r"\s+#\s|\s*[;|>]\s|\s&&\s", found[1])[0]


def accepted(words: list[str]) -> None:
    """Parse a command line without running it."""
    name, *rest = words
    command = cli.commands.commands[name]
    command.make_context(name, rest)


def test_what_is_no_command_would_be_seen() -> None:
    text = "```sh\nantecede check mfss --actors 3  # three\nantecede check mfss --nothing\n```\n"
    right, wrong = commands(text)
    accepted(shlex.split(right))
    with pytest.raises(click.UsageError):
        accepted(shlex.split(wrong))


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.relative_to(ROOT).as_posix())
def test_every_command_on_a_page_is_accepted(page: Path) -> None:
    for line in commands(page.read_text(encoding="utf-8")):
        if "…" in line or line.startswith(("help", "--")):
            continue
        try:
            accepted(shlex.split(line))
        except (click.ClickException, KeyError, ValueError) as error:
            raise AssertionError(f"{page.name}: antecede {line}: {error}") from None
        except click.exceptions.Exit:
            continue


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.relative_to(ROOT).as_posix())
def test_every_link_on_a_page_leads_to_a_file(page: Path) -> None:
    targets = LINK.findall(page.read_text(encoding="utf-8"))
    files = [t for t in targets if not re.match(r"[a-z]+:", t)]
    assert [] == [t for t in files if not (page.parent / t).exists()]
