"""The pages of findings: their commands find what they say, if they are small."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator

import pytest

from tests.conftest import ROOT, Command

PAGES = ("findings.md", "findings-trees.md")
PAGE = "\n".join((ROOT / "docs" / name).read_text(encoding="utf-8") for name in PAGES)
COMMAND = re.compile(r"^antecede (check .*)$", re.MULTILINE)
WORDS = {"two": 2, "three": 3, "nine": 9}
FOUND = re.compile(r"(?:, after|, in step) (\d+)")
"""The length of the run that a report shows."""


LARGE = (
    "check hybrid-basic --workload 'script:[[2,1],[2],[]]' --network duplicating+lossy",
    "check hybrid-sps-as-printed --actors 2 --messages 2 --property causal-delivery",
)


def lengths(text: str) -> set[int]:
    """Return the lengths that a text names: 8 transitions, 5 steps, step 12, or after 4."""
    named = r"\b(\w+) (?:transitions|steps)|\b(?:after|step) (\d+)\b"
    found = re.findall(named, " ".join(text.split()))
    words = [one or other for one, other in found]
    numbers = [WORDS.get(word.lower(), word) for word in words]
    return {int(number) for number in numbers if str(number).isdigit()}


def commands() -> Iterator[tuple[str, str, bool]]:
    """Yield the commands that take seconds, each with its section and whether it is of a repair."""
    for section in PAGE.split("\n## ")[1:]:
        wrong, _, repair = section.partition("**Repair:**")
        for text, repairs in ((wrong, False), (repair, True)):
            for command in COMMAND.findall(text):
                if "--actors 2" in command or "script:" in command:
                    yield section, command, repairs


@pytest.mark.parametrize(
    ("section", "command", "repairs"),
    [
        pytest.param(*case, id=case[1], marks=pytest.mark.integration if case[1] in LARGE else ())
        for case in commands()
    ],
)
def test_a_finding_is_what_its_command_finds(
    antecede: Command, section: str, command: str, repairs: bool
) -> None:
    ran = antecede(*shlex.split(command), "--engine", "plain")
    if repairs:
        assert (0, True) == (ran.code, "HOLDS" in ran.out)
        return
    assert (2 if "ERROR" in ran.out else 1) == ran.code
    length, *_ = FOUND.findall(ran.out)
    assert int(length) in lengths(section)


CLAIM = re.compile(r"^antecede (claims --claim .*)$", re.MULTILINE)


def claims() -> Iterator[tuple[str, str]]:
    """Yield the commands that decide one claim, each with the ruling that its place implies."""
    for section in PAGE.split("\n## ")[1:]:
        wrong, _, repair = section.partition("**Repair:**")
        for text, ruling in ((wrong, "REFUTED"), (repair, "CONFIRMED")):
            yield from ((command, ruling) for command in CLAIM.findall(text))


@pytest.mark.integration
@pytest.mark.parametrize(("command", "ruling"), list(claims()))
def test_a_claim_on_the_page_is_decided_as_its_section_says(
    antecede: Command, command: str, ruling: str
) -> None:
    ran = antecede(*shlex.split(command), "--quick", "--engine", "plain")
    assert (0, ruling) == (ran.code, ran.out.split()[0])


# The table at the top

ROWS = re.findall(
    r"^\| \[[^\]]+\]\([\w.-]*#([^)]+)\) \|.*\| ([\d; ]*) ?\| [^|]+ \|$", PAGE, re.MULTILINE
)


def test_the_table_has_each_finding_with_the_length_that_its_section_gives() -> None:
    sections = PAGE.split("\n## ")[1:]
    titles = [section.partition("\n")[0] for section in sections]
    assert [anchor for anchor, _ in ROWS] == [
        re.sub(r"[^\w\- ]", "", title.lower()).replace(" ", "-") for title in titles
    ]
    for section, (_, cell) in zip(sections, ROWS, strict=True):
        assert {int(number) for number in re.findall(r"\d+", cell)} <= lengths(section)
