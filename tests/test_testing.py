"""What others' test suites and CI servers get: assertions, collected specs, JUnit files."""

from __future__ import annotations

from importlib.metadata import entry_points
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest
from attrs import evolve

from antecede.checker import pytest_plugin
from antecede.checker.errors import InputError
from antecede.checker.testing import check
from antecede.protocols.cykas_secret_mode import CYKAS_SECRET_MODE
from antecede.protocols.mfss import MFSS
from tests.conftest import Command

pytest_plugins = ["pytester"]


def test_a_protocol_that_holds_returns_its_result() -> None:
    assert 81 == check(MFSS, actors=2, engine="plain").counts.unique_states


def test_a_protocol_that_does_not_hold_fails_with_the_explanation() -> None:
    with pytest.raises(AssertionError, match="expected HOLDS, found VIOLATED"):
        check("unordered", actors=2, engine="plain")


def test_a_failed_assertion_shows_the_line_of_the_test_and_what_was_found(
    pytester: pytest.Pytester,
) -> None:
    pytester.makepyfile(
        """
        from antecede import check

        def test_broken():
            check("unordered", actors=2, engine="plain")
        """
    )
    shown = pytester.runpytest_subprocess("-p", "no:cacheprovider").stdout.str()
    assert "checker/testing.py" not in shown
    assert "E       AssertionError: expected HOLDS, found VIOLATED\n" in shown


def test_an_expected_violation_passes_and_an_unexpected_length_does_not() -> None:
    values: dict[str, Any] = {"actors": 2, "expect": "violated", "engine": "plain"}
    check("unordered", counterexample_length=4, violates="causal-delivery", **values)
    with pytest.raises(AssertionError, match="expected a counterexample of 5 transitions"):
        check("unordered", counterexample_length=5, **values)


def test_a_protocol_that_is_an_object_is_checked_itself_not_the_registered_one() -> None:
    broken = evolve(CYKAS_SECRET_MODE, name="mfss")
    with pytest.raises(AssertionError, match="found VIOLATED"):
        check(broken, actors=3, messages=2)


def test_a_search_without_a_verdict_fails() -> None:
    with pytest.raises(AssertionError, match="--max-states 10 reached"):
        check(MFSS, engine="plain", max_states=10)


def test_an_unknown_argument_is_named_with_the_choices() -> None:
    with pytest.raises(InputError, match=r"unknown argument 'actor'; available: actors, "):
        check(MFSS, actor=3)


# The plugin


def run_pytest(pytester: pytest.Pytester) -> pytest.RunResult:
    """Run pytest with the plugin, whether the package is installed with its entry point or not."""
    installed = entry_points(group="pytest11", name="antecede")
    plugins = [] if installed else [pytest_plugin]
    return pytester.runpytest_inprocess("-p", "no:cacheprovider", plugins=plugins)


SPEC = """
protocol = "unordered"
actors = 2
[expect]
verdict = "{verdict}"
"""


def test_pytest_collects_specs_and_shows_the_report(pytester: pytest.Pytester) -> None:
    (pytester.path / "good.antecede.toml").write_text(SPEC.format(verdict="violated"))
    (pytester.path / "bad.antecede.toml").write_text(SPEC.format(verdict="holds"))
    result = run_pytest(pytester)
    result.assert_outcomes(passed=1, failed=1)
    result.stdout.fnmatch_lines(["*expected HOLDS, found VIOLATED*", "*delivered*"])
    result.stdout.no_fnmatch_line("*Traceback*")


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ('protocol = "mfs"', "*unknown protocol 'mfs'; did you mean 'mfss'?*"),
        ("[[[", "*not valid TOML*"),
        ("[tool]", "*protocol*"),
    ],
)
def test_a_spec_that_cannot_be_used_fails_with_a_sentence(
    pytester: pytest.Pytester, text: str, sentence: str
) -> None:
    (pytester.path / "typo.antecede.toml").write_text(text)
    result = run_pytest(pytester)
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines([sentence])


def test_an_ini_option_names_the_specs(pytester: pytest.Pytester) -> None:
    pytester.makeini("[pytest]\nantecede_specs = specs/*.toml\n")
    (pytester.path / "specs").mkdir()
    (pytester.path / "specs/mine.toml").write_text(SPEC.format(verdict="violated"))
    (pytester.path / "other.antecede.toml").write_text(SPEC.format(verdict="holds"))
    run_pytest(pytester).assert_outcomes(passed=1)


def test_other_peoples_files_are_left_alone(pytester: pytest.Pytester) -> None:
    """A manifest of theirs may well name a protocol."""
    for name in ("pyproject.toml", "service.toml"):
        (pytester.path / name).write_text('protocol = "https"\n')
    (pytester.path / "antecede.toml.py").write_text("")
    run_pytest(pytester).assert_outcomes()


# JUnit


def junit_of(antecede: Command, file: Path, *arguments: str) -> ElementTree.Element:
    antecede("check", *arguments, "--engine", "plain", "--junit", file)
    return ElementTree.parse(file).getroot()


def cases(root: ElementTree.Element) -> dict[str, list[str]]:
    return {case.get("name", ""): [kind.tag for kind in case] for case in root.iter("testcase")}


def test_each_property_is_a_test_case(antecede: Command, tmp_path: Path) -> None:
    root = junit_of(antecede, tmp_path / "r.xml", "mfss", "--actors", "2")
    declared = [f"invariant:{name}" for name in MFSS.invariants]
    names = ["causal-delivery", "integrity", "all-delivered", *declared, "expectation"]
    assert {name: [] for name in names} == cases(root)
    assert [str(len(names)), "0", "0", "0"] == [
        root[0].get(key) for key in ("tests", "failures", "errors", "skipped")
    ]


def test_a_violation_is_a_failure_with_the_explanation(antecede: Command, tmp_path: Path) -> None:
    root = junit_of(antecede, tmp_path / "r.xml", "unordered", "--actors", "2")
    found = cases(root)
    assert ["failure"] == found["causal-delivery"] == found["expectation"]
    assert ["error"] == found["integrity"]
    failure = root.find(".//failure")
    assert failure is not None
    assert "m1 was causal-sent before m2" in (failure.text or "")


def test_an_expected_violation_is_no_failure(antecede: Command, tmp_path: Path) -> None:
    arguments = ("unordered", "--actors", "2", "--expect", "violated")
    assert not any(cases(junit_of(antecede, tmp_path / "r.xml", *arguments)).values())


def test_an_unfinished_search_is_an_error_never_skipped(antecede: Command, tmp_path: Path) -> None:
    root = junit_of(antecede, tmp_path / "r.xml", "mfss", "--max-states", "9")
    assert {("error",)} == {tuple(kinds) for kinds in cases(root).values()}
    assert str(4 + len(MFSS.invariants)) == root[0].get("errors")


def test_a_folder_makes_a_suite_per_spec(antecede: Command, tmp_path: Path) -> None:
    (tmp_path / "a.toml").write_text(SPEC.format(verdict="violated"))
    (tmp_path / "b.toml").write_text(SPEC.format(verdict="holds"))
    root = junit_of(antecede, tmp_path / "r.xml", str(tmp_path))
    assert ["a.toml", "b.toml"] == [Path(suite.get("name", "")).name for suite in root]
