"""Functions that check a protocol, and functions that assert in a test what a check must find.

from antecede import assert_holds, assert_violated, check

result = check("cykas-secret-mode", messages=2)

def test_mine_delivers_causally() -> None:
    assert_holds(MINE, actors=3, messages=2)

def test_the_variant_of_section_2_3_does_not() -> None:
    assert_violated("cykas-secret-mode", messages=2, length=9)
"""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from antecede.checker.api.arguments import RECORDS, CheckArguments, described, record_of, with_names
from antecede.checker.api.progress import progress
from antecede.checker.api.protocols import name_of
from antecede.checker.api.results import CheckResult, as_expected
from antecede.checker.check import pipeline
from antecede.checker.check.spec import Spec, load_spec
from antecede.checker.model import Protocol
from antecede.checker.render.progress import watching
from antecede.checker.search.options import Bounds, Options

if TYPE_CHECKING:
    from typing import Unpack


@described(CheckArguments, *RECORDS)
def check(
    protocol: Protocol | str | Path, *, selfcheck: str = "on", **arguments: Unpack[CheckArguments]
) -> CheckResult:
    """Explore the possible runs of a protocol, and return whether its properties hold.

    The check tries every order in which messages can be sent, received and delivered, for a given
    number of actors (participants) and messages. A violated property is a result, not an exception:
    see `assert_holds` for tests.

    Args:
        protocol: an `antecede.Protocol`, the name of a protocol that `antecede list` shows, or
            FILE.py:OBJECT.
        selfcheck: which calls of the protocol's functions are repeated, to find functions whose
            results are not determined by their arguments: `on` (the default) repeats the first
            calls and a sample of later ones, `all` repeats every call, `off` repeats none.
        arguments: the options of the command `antecede check`, with `_` in place of `-`. They are
            listed below.

    Returns:
        The verdict, the counts of states, and the counterexample if a property is violated.

    Raises:
        InputError: a name or a value cannot be used.

    Examples:
        >>> from antecede import check
        >>> result = check("cykas-secret-mode", actors=3, messages=2)
        >>> result.verdict
        <Verdict.VIOLATED: 'VIOLATED'>
        >>> result.counterexample
        <Run: causal-delivery VIOLATED after 9 transitions>
        >>> result.counterexample.save("run.svg")  # doctest: +SKIP
    """
    given: dict[str, Any] = {"protocol": name_of(protocol), **with_names(arguments)}
    spec = record_of(Spec, given)
    with progress() as ticker:
        return CheckResult(
            pipeline.check(
                spec,
                record_of(Options, given),
                record_of(Bounds, given),
                protocol=protocol if isinstance(protocol, Protocol) else None,
                selfcheck=selfcheck,
                extras=record_of(pipeline.Extras, given),
                watch=partial(watching(ticker), spec),
            )
        )


@described(CheckArguments, *RECORDS)
def assert_holds(
    protocol: Protocol | str | Path, *, selfcheck: str = "on", **arguments: Unpack[CheckArguments]
) -> CheckResult:
    """Check a protocol, and fail the test if a property does not hold.

    The arguments are the same as for `antecede.check`, for example the number of actors.

    Returns:
        The result of the check, whose verdict is HOLDS.

    Raises:
        AssertionError: a property is violated, or a bound ended the search before it had a verdict.
            The text of the error is the report.
        InputError: a name or a value cannot be used.

    Examples:
        >>> from antecede import assert_holds
        >>> assert_holds("mfss", actors=2, messages=2).counts.depth
        13
    """
    __tracebackhide__ = True  # pytest then shows the line of the test
    return check(protocol, selfcheck=selfcheck, **arguments).expect("holds")


@described(CheckArguments, *RECORDS)
def assert_violated(
    protocol: Protocol | str | Path,
    *,
    violates: str | None = None,
    length: int | None = None,
    selfcheck: str = "on",
    **arguments: Unpack[CheckArguments],
) -> CheckResult:
    """Check a protocol, and fail the test if no property is violated.

    Args:
        protocol: an `antecede.Protocol`, the name of a protocol that `antecede list` shows, or
            FILE.py:OBJECT.
        violates: the name of the property that must be violated. By default, any.
        length: the number of transitions of the counterexample. By default, any.
        selfcheck: which calls of the protocol's functions are repeated, to find functions whose
            results are not determined by their arguments: `on` (some calls, the default), `all` or
            `off`.
        arguments: the further arguments of `antecede.check`. They are listed below.

    Returns:
        The result of the check, which has a counterexample.

    Raises:
        AssertionError: no property is violated, another property is violated, or the counterexample
            has another length. The text of the error is the report.
        InputError: a name or a value cannot be used.

    Examples:
        >>> from antecede import assert_violated
        >>> assert_violated("fifo", messages=2, length=6).counterexample.violates
        'causal-delivery'
    """
    __tracebackhide__ = True
    result = check(protocol, selfcheck=selfcheck, **arguments)
    return result.expect("violated", violates=violates, length=length)


def check_spec(file: str) -> CheckResult:
    """Check a spec, and fail the test if the result is not the one that the spec expects.

    A spec is a TOML file with a saved check: the protocol, the number of actors and messages, and
    the expected verdict.

    Args:
        file: the name of the TOML file.

    Raises:
        AssertionError: the result differs from the expected one. The text of the error is the
            report.
        InputError: the file is not a spec.

    Examples:
        >>> from antecede.testing import check_spec
        >>> result = check_spec("specs/museum/partisan-unordered.toml")
        >>> result.verdict
        <Verdict.VIOLATED: 'VIOLATED'>
    """
    __tracebackhide__ = True
    return as_expected(pipeline.check(load_spec(Path(file))))
