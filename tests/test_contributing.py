"""CONTRIBUTING.md and the pages for contributors: what they say about the code is so."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from benchmarks import questions
from benchmarks.page import rendered
from tests.conftest import ROOT
from tests.test_architecture import ROOMS, imports_of

TEXT = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")


@pytest.mark.parametrize(("page", "most"), [("CONTRIBUTING.md", 1_200), ("docs/style.md", 400)])
def test_a_page_for_contributors_is_short(page: str, most: int) -> None:
    assert len((ROOT / page).read_text(encoding="utf-8").split()) <= most


# The reading order


def steps(text: str) -> list[tuple[str, str]]:
    """Return the files of the reading order, each with what is said about it."""
    _, _, order = text.partition("\n## Read this first\n")
    items = re.findall(r"^\d\. `([\w/.]+)`: (.*?)(?=^\d\. |^\n)", order, re.M | re.S)
    return [(file, about) for file, about in items if file.endswith(".py")]


def gaps(text: str) -> list[str]:
    """Return the files of the reading order to which no earlier file leads, and missing names."""
    found, read = [], set[str]()
    for file, about in steps(text):
        module = "antecede." + file.removesuffix(".py").replace("/", ".")
        if read and not any(name.startswith(module) for name in read):
            found.append(f"no earlier file imports {file}")
        files = [ROOT / each for each in (file, *re.findall(r"`([\w/]+\.py)`", about))]
        read |= {name for each in files for name in imports_of(each)}
        code = "".join(each.read_text(encoding="utf-8") for each in files)
        names = re.findall(r"`(\w+)`", about)
        found += [f"{file} has no {name}" for name in names if not re.search(rf"\b{name}\b", code)]
    return found


def test_each_file_of_the_reading_order_leads_to_the_next() -> None:
    assert 8 == len(steps(TEXT))
    assert "checker/commands/check.py" == steps(TEXT)[0][0]
    assert [] == gaps(TEXT)


def test_a_gap_in_the_reading_order_would_be_seen() -> None:
    wrong = TEXT.replace("`checker/check/pipeline.py`: `check`", "`checker/prove/link.py`: `chuck`")
    assert [
        "no earlier file imports checker/prove/link.py",
        "checker/prove/link.py has no chuck",
    ] == [gap for gap in gaps(wrong) if "chuck" in gap or "imports checker/prove" in gap]


# The rooms


def rows_of_rooms(text: str) -> list[tuple[str, ...]]:
    """Return the rooms in the picture, from the highest row to the lowest."""
    (picture,) = re.findall(r"^```text\n(commands .*?)^```", text, re.M | re.S)
    return [tuple(re.split(r" {2,}", row)[0].split()) for row in picture.splitlines()]


def test_the_picture_shows_the_rooms_that_the_code_has() -> None:
    assert [set(row) for row in reversed(ROOMS)] == [set(row) for row in rows_of_rooms(TEXT)]
    assert ("path",) in rows_of_rooms(TEXT.replace("\npaths ", "\npath "))


# The questions


def test_the_map_shows_the_questions_of_all_modules() -> None:
    fresh = rendered("map.md", rows=questions.rows())
    assert fresh == questions.PAGE.read_text(encoding="utf-8")


def test_a_question_is_read_from_a_docstring() -> None:
    source = '"""Crashes.\n\nQuestion: What is\na crash? See\n`crash`.\n"""\n'
    assert questions.Row("a.py", "What is a crash?", "See `crash`.") == questions.row_in(
        "a.py", source
    )
    assert questions.row_in("a.py", '"""Crashes."""\n') is None
    with pytest.raises(ValueError, match=r"a\.py: the docstring must end"):
        questions.row_in("a.py", source.replace("?", ""))


def missing(rows: list[questions.Row]) -> list[str]:
    """Return the names in hints that neither their file nor its folder has."""
    found = []
    for row in rows:
        file = ROOT / row.file
        code = file.read_text(encoding="utf-8").rpartition('"""\n\nfrom')[2]
        for name in re.findall(r"`([^`]+)`", row.hint):
            beside = [file.parent / name, file.parent / f"{name}.py", ROOT / name]
            if not any(map(Path.exists, beside)) and not re.search(rf"\b{name}\b", code):
                found.append(f"{row.file}: {name}")
    return found


def test_a_hint_names_what_is_there() -> None:
    assert [] == missing(questions.rows())
    wrong = questions.Row("checker/model.py", "What is a crash?", "`crasch`")
    assert ["checker/model.py: crasch"] == missing([wrong])
