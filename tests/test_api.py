"""The page of the Python API: everything on it has an example, and the examples are so."""

from __future__ import annotations

import doctest
import re
from importlib import import_module
from types import ModuleType
from typing import Any

import pytest

import antecede
from antecede.checker.support.errors import InputError
from tests.conftest import ROOT

NAMES = re.findall(r"^::: (\S+)$", (ROOT / "docs" / "api.md").read_text("utf-8"), re.MULTILINE)


def named(name: str) -> Any:
    """Return the module, class or function with a full name."""
    try:
        return import_module(name)
    except ModuleNotFoundError:
        module, _, last = name.rpartition(".")
        return getattr(import_module(module), last)


def examples(name: str) -> list[doctest.DocTest]:
    """Return the examples in the docstring of an entry; a module's are those of what it exports."""
    entry = named(name)
    entries = (
        [getattr(entry, each) for each in entry.__all__]
        if isinstance(entry, ModuleType)
        else [entry]
    )
    finder = doctest.DocTestFinder(exclude_empty=True)
    return [test for each in entries for test in finder.find(each, name) if test.examples]


@pytest.mark.parametrize("name", NAMES)
def test_every_entry_has_examples_that_work(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)
    tests = examples(name)
    assert tests, "add an example to the docstring"
    for test in tests:
        test.globs = {"__name__": "__main__"}
        said: list[str] = []
        runner = doctest.DocTestRunner(verbose=False, optionflags=doctest.ELLIPSIS)
        assert 0 == runner.run(test, out=said.append).failed, "".join(said)


def test_an_example_that_is_wrong_would_be_seen() -> None:
    wrong = doctest.DocTestParser().get_doctest(">>> 1 + 1\n3\n", {}, "wrong", None, None)
    assert 1 == doctest.DocTestRunner(verbose=False).run(wrong, out=lambda _text: None).failed


@pytest.mark.parametrize("length", ["4", 4.0, True, -1])
def test_a_length_that_is_no_number_of_transitions_is_refused(length: Any) -> None:
    found = antecede.check("unordered", actors=2, messages=2, engine="plain")
    with pytest.raises(InputError, match="give a number of transitions, such as 4"):
        found.expect("violated", length=length)
    found.expect("violated", length=4)


def test_a_verdict_that_is_no_text_is_refused() -> None:
    verdict: Any = 5
    with pytest.raises(InputError, match="'5'"):
        antecede.check("mfss", actors=2, messages=1, engine="plain").expect(verdict)
