"""The mutants of the checker's code are what they say, and tests catch them; see `code.py`."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

from tests.conftest import ROOT
from tests.mutants.code import Copy, Place, drawn, nearest, places

SOURCE = """
from a import b

def f(x: int = 7) -> bool:
    \"\"\"Text.\"\"\"
    total = 0
    for each in x:
        if each > 1 and not x.done:
            total += each
            continue
        log(each)
    return total == x
"""

CHANGES = {
    ("0", "(1)"),
    ("1", "(2)"),
    ("each > 1", "(each >= 1)"),
    ("each > 1 and not x.done", "(each > 1 or not x.done)"),
    ("not x.done", "(x.done)"),
    ("total += each", "total -= each"),
    ("total += each", "pass"),
    ("continue", "pass"),
    ("log(each)", "pass"),
    ("total == x", "(total != x)"),
    ("return total == x", "return None"),
}


def mutated(place: Place, source: str) -> str:
    return (source.encode()[: place.start] + place.new.encode()).decode() + (
        source.encode()[place.end :].decode()
    )


def test_a_source_has_these_mutants_and_no_others() -> None:
    assert CHANGES == {(place.old, place.new) for place in places("f.py", SOURCE)}


def test_a_change_is_made_at_its_place_behind_letters_of_several_bytes() -> None:
    source = 'x = "é→"; y = 3 < 4\n'
    changes = {mutated(place, source) for place in places("f.py", source)}
    assert 'x = "é→"; y = (3 <= 4)\n' in changes


@pytest.fixture(scope="module")
def some() -> list[Place]:
    return drawn(1, 200)


def test_every_mutant_is_python_and_differs(some: list[Place]) -> None:
    for place in some[:50]:
        source = (ROOT / place.file).read_text(encoding="utf-8")
        changed = mutated(place, source)
        assert ast.dump(ast.parse(source)) != ast.dump(ast.parse(changed)), place.name


@pytest.mark.integration
def test_a_seed_draws_the_same_mutants_again(some: list[Place]) -> None:
    assert some == drawn(1, 200) != drawn(2, 200)


def test_a_files_own_tests_are_the_nearest() -> None:
    close, others = nearest("checker/paths/minimise.py")
    assert "tests/paths/test_minimise.py" == close[0]
    assert "tests/test_cli.py" in others
    assert not set(close) & set(others)


@pytest.mark.slow
def test_a_mutant_is_caught_and_the_code_as_it_is_passes(tmp_path: Path) -> None:
    file = "checker/semantics/values.py"
    source = (ROOT / file).read_text(encoding="utf-8")
    caught = next(place for place in places(file, source) if place.new == "return None")
    copy = Copy(tmp_path, limit=600)
    row = copy.judge(caught, ["fast"], near=True)
    assert "fast" == row.by
    assert row.test.startswith("tests/")
    assert (copy.root / file).read_text(encoding="utf-8") == source
    unchanged = copy.judge(Place(file, 1, 0, 0, "", ""), ["fast"], near=True)
    assert ("nothing", "") == (unchanged.by, unchanged.test)
