"""The check of the prose: what it finds, and what it leaves alone."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests import prose

WRONG = (
    "The file is /home/anna/protocols/chat.py.",
    "The search explores 3,000,000 per second.",
    "It explores 3 million a second.",
    "Then it waits for ever.",
)
RIGHT = (
    "What is a causal order?",
    "It explores 3 million states per second.",
    "The folder is ~/.cache/antecede, or $HOME/work/antecede.",
    "It depends on what is sent, and waits forever.",
)


def found(tmp_path: Path, name: str, text: str) -> list[str]:
    (tmp_path / name).write_text(text)
    return list(prose.hits(tmp_path / name))


@pytest.mark.parametrize("sentence", WRONG)
def test_a_mistake_is_found_in_a_page_and_in_a_printed_text(sentence: str, tmp_path: Path) -> None:
    assert 1 == len(found(tmp_path, "page.md", sentence))
    assert 1 == len(found(tmp_path, "program.py", f"print({sentence!r})"))


@pytest.mark.parametrize("sentence", RIGHT)
def test_right_sentences_and_code_are_left_alone(sentence: str, tmp_path: Path) -> None:
    assert [] == found(tmp_path, "page.md", f"{sentence}\n\n```\nfor ever\n```\n")


def test_docstrings_are_not_printed_texts_except_of_commands(tmp_path: Path) -> None:
    source = f'def command():\n    """{WRONG[3]}"""\n'
    assert [] == found(tmp_path, "program.py", source)
    assert 1 == len(found(tmp_path, "cli.py", source))


@pytest.mark.integration
def test_the_pages_and_texts_of_the_project_have_none_of_these_mistakes(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert 0 == prose.main([])
    assert "" == capsys.readouterr().out
