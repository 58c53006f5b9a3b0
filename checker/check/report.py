"""The outcome of a check: the result of its search, and how that differs from the expectation."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeAlias

from attrs import frozen

from antecede.checker import interrupts
from antecede.checker.check.expectation import decides
from antecede.checker.check.spec import Spec
from antecede.checker.errors import CapacityError, InputError
from antecede.checker.exit_codes import AS_EXPECTED, INCOMPLETE, INPUT_ERROR, NOT_AS_EXPECTED
from antecede.checker.paths.path import Path
from antecede.checker.search.measures import Measures
from antecede.checker.search.options import Options
from antecede.checker.search.result import Result, Verdict
from antecede.checker.semantics.transition import System


@frozen(eq=False)
class CheckReport:
    """The outcome of a check.

    Attributes:
        spec: the question.
        options: how the system was explored.
        system: the system that was explored.
        result: the result of the search.
        differences: from the spec's expectation, in sentences. Empty if the search decided nothing.
        measures: the protocol's costs, if they were asked for.
        unmeasured: why the costs could not be measured, in a sentence, or None.
        sample: a run, if one was asked for and no property is violated.
    """

    spec: Spec
    options: Options
    system: System
    result: Result
    differences: tuple[str, ...]
    measures: Measures | None = None
    unmeasured: str | None = None
    sample: Path | None = None

    @property
    def run(self) -> Path | None:
        """The run to show: the counterexample, a witness, a sample, or a run to a limit."""
        grown = [growth.path for growth in self.result.grown]
        runs = (self.result.counterexample, self.sample, *self.result.shown.values(), *grown)
        return next((path for path in runs if path is not None), None)

    @property
    def as_expected(self) -> bool:
        """The search reached a verdict, and the verdict and the counts are the expected ones."""
        return decides(self.spec, self.result) and not self.differences

    @property
    def interrupted(self) -> bool:
        """A signal ended the search."""
        return interrupts.is_interruption(self.result.stopped_by)

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
        error: the reason.
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
    codes = {report.exit_code for report in reports}
    ranked = (INPUT_ERROR, NOT_AS_EXPECTED, INCOMPLETE)
    return next((code for code in ranked if code in codes), AS_EXPECTED)
