"""Assertions about protocols, for test suites.

from antecede import check

def test_mine_delivers_causally() -> None:
    check(MINE, actors=3, messages=2)

def test_the_variant_of_section_2_3_does_not() -> None:
    check("cykas-secret-mode", messages=2, expect="violated", counterexample_length=9)
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import attrs

from antecede.checker.check import pipeline
from antecede.checker.check.report import CheckReport
from antecede.checker.check.spec import Expectation, Spec, expected_verdict, load_spec
from antecede.checker.errors import InputError
from antecede.checker.model import Protocol
from antecede.checker.render.text import check_text
from antecede.checker.search.options import Bounds, Options
from antecede.checker.search.result import Result
from antecede.checker.settings import taken


def check(
    protocol: Protocol | str,
    *,
    expect: str = "holds",
    violates: str | None = None,
    counterexample_length: int | None = None,
    selfcheck: str = "on",
    **values: Any,
) -> Result:
    """Check a protocol; fail the test with the report if the result is not as expected.

    Args:
        protocol: the record, a registered name, or FILE.py:OBJECT.
        expect: `holds` or `violated`.
        violates: the property that must be violated.
        counterexample_length: the length of a shortest counterexample, in transitions.
        selfcheck: the calls of the protocol to check for purity: off, on or all.
        values: the question, as fields of `checker.check.spec.Spec` (actors, messages, network,
            workload, history, search, properties), and the search, as fields of `Options` (engine,
            threads, …) and `Bounds` (max_states, …) in `checker.search.options`.

    Returns:
        The result, with counts and the counterexample.

    Raises:
        AssertionError: the check did not come out as expected, or came to no verdict.
        InputError: a name or number cannot be used.

    Examples:
        A protocol that holds, and a variant that must not:

        >>> from antecede import check
        >>> result = check("mfss", actors=2, messages=2)
        >>> result.verdict
        <Verdict.HOLDS: 'HOLDS'>
        >>> broken = check("cykas-secret-mode", messages=2, expect="violated")
        >>> print(broken.counterexample.violates)
        causal-delivery

        A wrong expectation fails the test, with the report as its text:

        >>> check("unordered", actors=2, messages=2)
        Traceback (most recent call last):
        AssertionError: ...
    """
    __tracebackhide__ = True
    name = protocol if isinstance(protocol, str) else protocol.name
    wanted = Expectation(expected_verdict(expect), counterexample_length, violates)
    question, method, bounds = _parts_of(values)
    report = pipeline.check(
        Spec(**{"protocol": name, "expect": wanted, **question}),
        Options(**method),
        Bounds(**bounds),
        protocol=None if isinstance(protocol, str) else protocol,
        selfcheck=selfcheck,
    )
    return expected(report)


def _parts_of(values: dict[str, Any]) -> list[dict[str, Any]]:
    """Return the arguments of `check` for the spec, the search and its bounds."""
    kinds = (Spec, Options, Bounds)
    parts = [taken(values, kind) for kind in kinds]
    if values:
        known = sorted({f.name for kind in kinds for f in attrs.fields(kind)})
        raise InputError(f"unknown argument {min(values)!r}; available: {', '.join(known)}")
    return parts


def check_spec(file: str) -> Result:
    """Check a spec; fail the test with the report if it does not come out as expected.

    Examples:
        >>> from antecede.checker.testing import check_spec
        >>> result = check_spec("specs/museum/partisan-unordered.toml")
        >>> result.verdict
        <Verdict.VIOLATED: 'VIOLATED'>
    """
    __tracebackhide__ = True
    return expected(pipeline.check(load_spec(Path(file))))


def expected(report: CheckReport) -> Result:
    """Return the result of a check if it is as expected.

    Raises:
        AssertionError: it is not; the text is the report.
    """
    __tracebackhide__ = True  # pytest then shows the line of the test
    if report.exit_code:
        differences = [*report.differences, ""] if report.differences else []
        raise AssertionError("\n".join([*differences, check_text(report)]))
    return report.result
