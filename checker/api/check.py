"""Check a protocol from Python, and assert in a test suite what a check must find.

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

from antecede.checker.api.arguments import RECORDS, CheckArguments, described, record_of
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
    """Explore a protocol within bounds, and return the result, also if a property is violated.

    Args:
        protocol: the record, a registered name, or FILE.py:OBJECT.
        selfcheck: the calls of the protocol to check for purity: off, on or all.
        arguments: the options of `antecede check`, with `_` for `-`: actors, messages, network,
            workload, properties, engine, max_states, …

    Returns:
        The result: verdict, counts and counterexample.

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
    given: dict[str, Any] = {"protocol": name_of(protocol), **arguments}
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
    """Check a protocol, and fail the test with the report if a property does not hold.

    It takes the arguments of `check`.

    Raises:
        AssertionError: a property is violated, or the search came to no verdict.

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
    """Check a protocol, and fail the test with the report if no property is violated.

    Args:
        protocol: the record, a registered name, or FILE.py:OBJECT.
        violates: a property that must be violated.
        length: the length of a shortest counterexample, in transitions.
        selfcheck: as in `check`.
        arguments: as in `check`.

    Raises:
        AssertionError: nothing is violated, or another property, or after more or fewer steps.

    Examples:
        >>> from antecede import assert_violated
        >>> assert_violated("fifo", messages=2, length=6).counterexample.violates
        'causal-delivery'
    """
    __tracebackhide__ = True
    result = check(protocol, selfcheck=selfcheck, **arguments)
    return result.expect("violated", violates=violates, length=length)


def check_spec(file: str) -> CheckResult:
    """Check a spec; fail the test with the report if it does not come out as the spec expects.

    Examples:
        >>> from antecede.testing import check_spec
        >>> result = check_spec("specs/museum/partisan-unordered.toml")
        >>> result.verdict
        <Verdict.VIOLATED: 'VIOLATED'>
    """
    __tracebackhide__ = True
    return as_expected(pipeline.check(load_spec(Path(file))))
