"""The outcome of a check: the result of its search, and how that differs from the expectation.

Question: Where is the exit code chosen? `exit_code_of`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, TypeAlias

from attrs import frozen

from antecede.checker.check.spec import COUNT_KEYS, Spec
from antecede.checker.paths.path import Path
from antecede.checker.search.options import Options
from antecede.checker.search.result import Result, Verdict
from antecede.checker.semantics.transition import System
from antecede.checker.support import interrupts
from antecede.checker.support.amounts import counted
from antecede.checker.support.errors import CapacityError, InputError
from antecede.checker.support.exit_codes import (
    AS_EXPECTED,
    INCOMPLETE,
    INPUT_ERROR,
    NOT_AS_EXPECTED,
    most_urgent,
)

if TYPE_CHECKING:  # few checks ask for it
    from antecede.checker.check.handler_coverage import HandlerCoverage


@frozen(eq=False)
class CheckReport:
    """The outcome of a check.

    Attributes:
        differences: from the spec's expectation, in sentences. Empty if the search decided nothing.
        coverage: the lines of the handlers that ran and never ran, if they were asked for.
        unfinished: why the work after the search was ended, so that `Extras` are missing, or None.
    """

    spec: Spec
    options: Options
    system: System
    result: Result
    differences: tuple[str, ...]
    unfinished: str | None = None
    coverage: HandlerCoverage | None = None

    @property
    def run(self) -> Path | None:
        """The run to show: the counterexample, a witness, or a run to a limit."""
        grown = [growth.path for growth in self.result.grown]
        runs = (self.result.counterexample, *self.result.shown.values(), *grown)
        return next((path for path in runs if path is not None), None)

    @property
    def as_expected(self) -> bool:
        """The search reached a verdict, and the verdict and the counts are the expected ones."""
        return decides(self.spec, self.result) and not self.differences

    @property
    def interrupted(self) -> bool:
        """A signal ended the search, or the work after it."""
        return any(map(interrupts.is_interruption, (self.result.stopped_by, self.unfinished)))

    @property
    def exit_code(self) -> int:
        """The exit code of `antecede check` for this check alone."""
        if self.result.verdict is Verdict.ERROR:
            return INPUT_ERROR
        if not decides(self.spec, self.result):
            return INCOMPLETE
        return AS_EXPECTED if self.as_expected else NOT_AS_EXPECTED


@frozen(eq=False)
class Refused:
    """A check that could not start.

    Attributes:
        label: the spec's file, or its protocol.
    """

    label: str
    error: InputError | CapacityError

    @property
    def text(self) -> str:
        """The label and the reason, in a sentence."""
        reason = str(self.error)
        return reason if reason.startswith(self.label) else f"{self.label}: {reason}"

    @property
    def exit_code(self) -> int:
        """The exit code of `antecede check` for this check alone."""
        return INCOMPLETE if isinstance(self.error, CapacityError) else INPUT_ERROR


Checked: TypeAlias = CheckReport | Refused
"""The outcome of one of several checks."""


def exit_code_of(reports: Sequence[Checked]) -> int:
    """Return the exit code for several checks: the most urgent of their codes."""
    return most_urgent(report.exit_code for report in reports)


def decides(spec: Spec, result: Result) -> bool:
    """Return whether a result answers the spec's question; VACUOUS does only if it is expected."""
    if result.verdict is Verdict.VACUOUS:
        return spec.expect.verdict is not Verdict.HOLDS
    return result.verdict in (Verdict.HOLDS, Verdict.VIOLATED)


def differences(spec: Spec, result: Result) -> tuple[str, ...]:
    """Return how `result` differs from what `spec` expects, in sentences.

    A search without a verdict differs in nothing. Counts and lengths are compared only if the
    search makes them exact.
    """
    expect, verdict = spec.expect, result.verdict
    if not decides(spec, result):
        return ()
    if verdict is not expect.verdict:
        return (f"expected {expect.verdict}, found {verdict}",)
    return (*_violation_differences(spec, result), *_count_differences(spec, result))


def _violation_differences(spec: Spec, result: Result) -> list[str]:
    differing = []
    violated = [name for name, verdict in result.properties.items() if verdict is Verdict.VIOLATED]
    if spec.expect.violates is not None and spec.expect.violates not in violated:
        differing.append(
            f"expected {spec.expect.violates} to be violated, found {', '.join(violated)}"
        )
    length = spec.expect.counterexample_length
    if length is not None and spec.search == "breadth":
        path = result.counterexample
        actual = "none" if path is None else f"{path.length}"
        if actual != str(length):
            expected = counted(length, "transition")
            differing.append(f"expected a counterexample of {expected}, found {actual}")
    return differing


def _count_differences(spec: Spec, result: Result) -> list[str]:
    exact: tuple[str, ...] = {
        "breadth": COUNT_KEYS,
        "depth": ("unique_states", "total_states", "final_states"),
    }.get(spec.search, ())
    if spec.search == "depth" and result.verdict is Verdict.VIOLATED:
        exact = ()
    counts = result.size
    return [
        f"expected {key.replace('_', ' ')} {number:,}, found {getattr(counts, key):,} "
        f"(history {spec.history})"
        for key, number in spec.expect.counts.get(spec.history, {}).items()
        if key in exact and number != getattr(counts, key)
    ]
