"""The check of the prose: what it finds, and what it leaves alone."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests import prose

HARD = (
    "It depends on what is sent.",
    "It stops, for it has no more states.",
    "It takes the clock, and not that of the sender.",
    "There are so many states.",
    "Then nobody sends a message.",
    "It keeps all but the last one.",
)
PLAIN = (
    "What is a causal order?",
    "It searches for the shortest run, for example by levels.",
    "`what is it` is a name.",
    "Carol, who is in secret mode, answers.",
)


def found(tmp_path: Path, name: str, text: str) -> list[str]:
    (tmp_path / name).write_text(text)
    return list(prose.hits(tmp_path / name))


@pytest.mark.parametrize("sentence", HARD)
def test_a_habit_is_found_in_a_page_and_in_a_printed_text(sentence: str, tmp_path: Path) -> None:
    assert 1 == len(found(tmp_path, "page.md", sentence))
    assert 1 == len(found(tmp_path, "program.py", f"print({sentence!r})"))


@pytest.mark.parametrize("sentence", PLAIN)
def test_plain_sentences_and_code_are_left_alone(sentence: str, tmp_path: Path) -> None:
    assert [] == found(tmp_path, "page.md", f"{sentence}\n\n```\nwhat is it\n```\n")


def test_docstrings_are_not_printed_texts_except_of_commands(tmp_path: Path) -> None:
    source = f'def command():\n    """{HARD[0]}"""\n'
    assert [] == found(tmp_path, "program.py", source)
    assert 1 == len(found(tmp_path, "cli.py", source))


def test_the_pages_and_texts_of_the_project_have_none_of_these_habits(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert 0 == prose.main([])
    assert "" == capsys.readouterr().out
