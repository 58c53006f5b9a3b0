"""What others' test suites and CI servers get: assertions, collected specs, JUnit files."""

from __future__ import annotations

import functools
import inspect
import re
from base64 import b64decode
from importlib.metadata import entry_points
from pathlib import Path
from typing import Any, get_type_hints
from xml.etree import ElementTree

import pytest
from attrs import evolve

from antecede.checker import pytest_plugin
from antecede.checker.api.arguments import RECORDS, CheckArguments
from antecede.checker.api.check import assert_holds, assert_violated, check
from antecede.checker.api.results import CheckResult
from antecede.checker.render.trace_formats import FORMATS, format_of
from antecede.checker.search.result import Verdict
from antecede.checker.support.errors import InputError
from antecede.checker.support.settings import settings_of
from antecede.protocols.cykas_secret_mode import CYKAS_SECRET_MODE
from antecede.protocols.mfss import MFSS
from tests.conftest import Command

pytest_plugins = ["pytester"]


def test_a_check_returns_its_result_whatever_the_verdict() -> None:
    assert 81 == check(MFSS, actors=2, engine="plain").counts.unique_states
    assert Verdict.VIOLATED is check("unordered", actors=2, engine="plain").verdict
    assert Verdict.INCOMPLETE is check(MFSS, engine="plain", max_states=10).verdict


def test_a_protocol_that_does_not_hold_fails_with_the_explanation() -> None:
    with pytest.raises(AssertionError, match="expected HOLDS, found VIOLATED"):
        assert_holds("unordered", actors=2, engine="plain")


@pytest.mark.integration
def test_a_failed_assertion_shows_the_line_of_the_test_and_what_was_found(
    pytester: pytest.Pytester,
) -> None:
    pytester.makepyfile(
        """
        from antecede import assert_holds, check

        def test_broken():
            assert_holds("unordered", actors=2, engine="plain")

        def test_unexpected():
            check("mfss", actors=2, engine="plain").expect("violated")

        def test_misspelt():
            check("mfss", actorss=2)
        """
    )
    shown = pytester.runpytest_subprocess("-p", "no:cacheprovider").stdout.str()
    assert "checker/api" not in shown
    assert "checker/support" not in shown
    assert "InputError: unknown argument 'actorss'; did you mean 'actors'?\n" in shown
    assert "E       AssertionError: expected HOLDS, found VIOLATED\n" in shown
    assert "E       AssertionError: expected VIOLATED, found HOLDS\n" in shown


def test_an_expected_violation_passes_and_an_unexpected_length_does_not() -> None:
    found = check("unordered", actors=2, engine="plain")
    assert found.expect("violated", violates="causal-delivery", length=4).counts == found.counts
    with pytest.raises(AssertionError, match="expected a counterexample of 5 transitions"):
        found.expect("violated", length=5)
    with pytest.raises(AssertionError, match="expected integrity to be violated"):
        assert_violated("unordered", actors=2, engine="plain", violates="integrity")


def test_a_protocol_that_is_an_object_is_checked_itself_not_the_registered_one() -> None:
    broken = evolve(CYKAS_SECRET_MODE, name="mfss")
    with pytest.raises(AssertionError, match="found VIOLATED"):
        assert_holds(broken, actors=3, messages=2)


def test_a_search_without_a_verdict_fails() -> None:
    for verdict in ("holds", "violated"):
        with pytest.raises(AssertionError, match="max_states=10 reached"):
            check(MFSS, engine="plain", max_states=10).expect(verdict)


def test_an_unknown_argument_is_named_with_what_was_meant() -> None:
    misspelt: dict[str, Any] = {"actor": 3}
    with pytest.raises(InputError, match=r"unknown argument 'actor'; did you mean 'actors'\?"):
        check(MFSS, **misspelt)


def test_values_may_be_written_as_on_the_command_line() -> None:
    found = check(MFSS, actors=2, properties=["integrity"], engine="plain", max_memory="4G")
    assert ["integrity"] == list(found.properties)
    with pytest.raises(InputError, match="max_memory is 'much'"):
        check(MFSS, max_memory="much")


@pytest.mark.parametrize("protocol", [None, 3, len, MFSS.receive])
def test_what_is_no_protocol_is_refused_in_a_sentence(protocol: Any) -> None:
    with pytest.raises(InputError, match=r"give a name, FILE\.py:OBJECT, an antecede"):
        check(protocol)
    with pytest.raises(InputError, match="properties has 3; give names"):
        check(MFSS, properties=[3])  # type: ignore[list-item]


def test_editors_and_help_know_every_public_option() -> None:
    hints = get_type_hints(CheckArguments)
    public = [each.name for record in RECORDS for each in settings_of(record) if each.public]
    assert {*public, "names"} == {*hints}
    for kind in (assert_holds, assert_violated, check):
        shown = inspect.signature(kind).parameters
        assert {*hints, "protocol", "selfcheck"} <= {*shown}
        assert 3 == shown["actors"].default


KINDS = {str: "str", int: "int", float: "float", bool: "bool", Path: "str | pathlib.Path"}


OTHER_FORMS = {
    "spark_conf": "Mapping[str, typing.Any] | Sequence[str]",
    "workload": "str | Sequence[Sequence[int | Sequence[int] | Mapping[str, typing.Any]]]",
    "bound": "str | Sequence[str]",
    "labels": "str | Sequence[str]",
    "crashes": "int | str",
    "properties": "str | Property | Sequence[str | Property]",
}
"""Argument -> its types, if it has more forms than its option."""


def test_the_types_of_arguments_are_those_of_the_options() -> None:
    hints = get_type_hints(CheckArguments)
    for each in (known for record in RECORDS for known in settings_of(record) if known.public):
        kinds = {"tuple": "Sequence[str]", "SIZE": "int | str"}
        wanted = kinds.get(each.metavar or "") or kinds.get(each.kind.__name__, "")
        wanted = wanted or KINDS[each.kind]
        wanted += " | None" * (each.default is None)
        wanted = OTHER_FORMS.get(each.name, wanted)
        hint = hints[each.name]
        shown = hint.__name__ if isinstance(hint, type) else str(hint)
        for module in ("collections.abc.", "antecede.checker.model."):
            shown = shown.replace(module, "")
        assert wanted == shown, each.name


# Results


@functools.cache
def broken() -> CheckResult:
    return check("cykas-secret-mode", messages=2, engine="plain")


@pytest.mark.integration
def test_a_result_is_shown_in_three_lines() -> None:
    assert (
        "cykas-secret-mode: VIOLATED\n  3 actors, 18,103 unique states\n"
        "  <Run: causal-delivery VIOLATED after 9 transitions>"
    ) == repr(broken())
    assert 2 == len(repr(check(MFSS, actors=2, max_states=5, engine="plain")).splitlines())


def test_a_printed_result_is_the_report_of_the_command(antecede: Command) -> None:
    figures = r" in [\d.]+ s.*"
    printed = str(check("unordered", actors=2, engine="plain"))
    asked = antecede("check", "unordered", "--actors", 2, "--engine", "plain").out
    assert re.sub(figures, "", asked).startswith(re.sub(figures, "", printed))


@pytest.mark.integration
def test_a_notebook_shows_verdict_reason_and_picture() -> None:
    shown = broken()._repr_html_()
    assert "<strong>cykas-secret-mode: VIOLATED</strong>" in shown
    assert "Bob delivers m5 before m1" in shown
    found = re.search(r"data:image/svg\+xml;base64,([^\"]+)", shown)
    assert found is not None
    picture = b64decode(found[1]).decode()
    assert all(name in picture for name in ("Alice", "Bob", "Carol"))
    assert "causal-delivery VIOLATED after 9 transitions" in picture


@pytest.mark.integration
def test_a_run_is_saved_in_every_format(tmp_path: Path) -> None:
    run = broken().counterexample
    assert run is not None
    for known in FORMATS.values():
        file = tmp_path / f"run{known.endings[0]}"
        run.save(str(file))
        assert file.read_text(encoding="utf-8") == run.text(format_of(str(file)))
    assert run.text("svg") == run._repr_svg_()
    with pytest.raises(InputError, match="unsupported trace format"):
        run.save(str(tmp_path / "run.gif"))


def test_a_witness_has_a_run() -> None:
    found = check("mfss", actors=2, messages=2, properties=["witness:waited"], engine="plain")
    assert 0 < found.witnesses["witness:waited"].length


def test_a_failing_handler_is_a_result_with_its_reason() -> None:
    def fails(state: Any, message: Any) -> Any:
        raise LookupError("nothing there")

    found = check(evolve(MFSS, causal_send=fails), actors=2, engine="plain")
    assert Verdict.ERROR is found.verdict
    assert "nothing there" in found.reason
    assert 1 == found._repr_html_().split("<img")[0].count("nothing there")
    run = found.counterexample
    assert "<Run: ERROR: a handler fails after 1 transition>" == repr(run)
    assert run is not None
    for known in FORMATS:
        assert "VIOLATED" not in run.text(known), known
    with pytest.raises(AssertionError, match="nothing there"):
        found.expect("violated")


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


OWN = """
from antecede import Property, What, When

FEW = Property("few", "", What.LOCAL_STATE, When.ALWAYS, lambda state: not state.held_back)
LOUD = Property("loud", "", What.LOCAL_STATE, When.ALWAYS, lambda state: state.nothing)
"""

OWN_SPEC = """
protocol = "rst"
actors = 2
properties = ["own.py:{name}"]
[expect]
{expected}
"""


def test_pytest_checks_the_property_of_a_file_beside_the_spec(pytester: pytest.Pytester) -> None:
    """The tests run in another folder than the one with the specs."""
    folder = pytester.path / "specs"
    folder.mkdir()
    (folder / "own.py").write_text(OWN)
    expected = 'verdict = "violated"\nviolates = "own.py:FEW"'
    (folder / "a.antecede.toml").write_text(OWN_SPEC.format(name="FEW", expected=expected))
    (folder / "b.antecede.toml").write_text(OWN_SPEC.format(name="FEW", expected=""))
    (folder / "c.antecede.toml").write_text(OWN_SPEC.format(name="LOUD", expected=""))
    (folder / "d.antecede.toml").write_text(OWN_SPEC.format(name="FWE", expected=""))
    result = run_pytest(pytester)
    result.assert_outcomes(passed=1, failed=3)
    shown = result.stdout.str()
    assert "own.py:FEW, after 3 transitions" in " ".join(shown.split())
    assert "own.py:LOUD' raised" in " ".join(shown.split())
    assert "own.py 'FWE'; did you mean 'FEW'?" in shown
    assert "checker/" not in shown  # a traceback has only lines of the user


@pytest.mark.integration
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
    declared += [f"final:{name}" for name in MFSS.final_invariants]
    names = ["causal-delivery", "integrity", "all-delivered", *declared, "expectation"]
    assert {name: [] for name in names} == cases(root)
    assert [str(len(names)), "0", "0", "0"] == [
        root[0].get(key) for key in ("tests", "failures", "errors", "skipped")
    ]


def test_a_violation_is_a_failure_with_the_explanation(antecede: Command, tmp_path: Path) -> None:
    root = junit_of(antecede, tmp_path / "r.xml", "unordered", "--actors", "2")
    found = cases(root)
    assert ["failure"] == found["causal-delivery"]
    assert ["skipped"] == found["integrity"] == found["all-delivered"] == found["expectation"]
    assert ["1", "0", "3"] == [root[0].get(key) for key in ("failures", "errors", "skipped")]
    failure = root.find(".//failure")
    assert failure is not None
    assert "delivers m2 before m1" in (failure.text or "")


def test_an_expected_violation_is_no_failure(antecede: Command, tmp_path: Path) -> None:
    arguments = ("unordered", "--actors", "2", "--expect", "violated")
    root = junit_of(antecede, tmp_path / "r.xml", *arguments)
    found = cases(root)
    assert [] == found["causal-delivery"] == found["expectation"]
    assert ["skipped"] == found["integrity"], "it was not decided"
    assert ["0", "0"] == [root[0].get(key) for key in ("failures", "errors")]


def test_another_violation_than_the_expected_one_is_one_failure(
    antecede: Command, tmp_path: Path
) -> None:
    (tmp_path / "a.toml").write_text(f'{SPEC.format(verdict="violated")}violates = "integrity"\n')
    root = junit_of(antecede, tmp_path / "r.xml", str(tmp_path / "a.toml"))
    assert ["1", "0"] == [root[0].get(key) for key in ("failures", "errors")]


def test_what_no_property_says_is_a_failure_of_the_expectation(
    antecede: Command, tmp_path: Path
) -> None:
    root = junit_of(antecede, tmp_path / "r.xml", "mfss", "--actors", "2", "--expect", "violated")
    assert {"expectation": ["failure"]} == {
        name: tags for name, tags in cases(root).items() if tags
    }


def test_an_unfinished_search_is_one_error_and_its_properties_are_skipped(
    antecede: Command, tmp_path: Path
) -> None:
    root = junit_of(antecede, tmp_path / "r.xml", "mfss", "--max-states", "9")
    found = cases(root)
    assert ["error"] == found.pop("expectation"), "it must not look like a success"
    assert {("skipped",)} == {tuple(kinds) for kinds in found.values()}


def test_a_folder_makes_a_suite_per_spec(antecede: Command, tmp_path: Path) -> None:
    (tmp_path / "a.toml").write_text(SPEC.format(verdict="violated"))
    (tmp_path / "b.toml").write_text(SPEC.format(verdict="holds"))
    root = junit_of(antecede, tmp_path / "r.xml", str(tmp_path))
    assert ["a.toml", "b.toml"] == [Path(suite.get("name", "")).name for suite in root]
