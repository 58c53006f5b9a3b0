"""The report on a protocol or property that cannot be checked: what, where, and what to do."""

from __future__ import annotations

import textwrap

from antecede.checker.check.report import CheckReport
from antecede.checker.paths.path import Path
from antecede.checker.render.terminal import wrapped
from antecede.checker.semantics.failing import Raised, failure_in


def text(report: CheckReport) -> str:
    """Return three lines about an error, and the traceback of the exception if there is one."""
    path, label = report.result.counterexample, report.spec.label
    failure = None if path is None else path.failure
    if path is None or failure is None or not failure.fault:
        return wrapped(f"{label}: ERROR: {report.result.error}", "  ")
    lines = [
        f"{label}: ERROR: {failure.fault}",
        f"  where: {_where(path, failure)}",
        f"  to do: {_remedy(path, failure)}",
    ]
    traceback = failure.traceback or _traceback(path)
    told = [textwrap.indent(traceback, "  ")] if traceback else []
    return "\n\n".join(["\n".join(wrapped(line, "    ") for line in lines), *told])


def _where(path: Path, failure: Raised) -> str:
    """Return the line of the code, the step of the run, and the call."""
    step = f"in step {path.length}" if path.steps else "at the start"
    place = f"{failure.place}, " if failure.place else ""
    return f"{place}{step}" + (f", in the call {failure.call}" if failure.call else "")


def _remedy(path: Path, failure: Raised) -> str:
    """Return what its author should do about an error."""
    if failure.advice:
        return failure.advice
    if not path.steps:
        return "correct the function, and check again"
    steps = "the step" if path.length == 1 else f"the {path.length} steps"
    return f"correct the function, and check again; --trace run.html shows {steps} to this call"


def _traceback(path: Path) -> str:
    """Return the traceback of the exception that ends a run, or ""."""
    mark = failure_in(path.last.actors)
    return "" if mark is None else mark.traceback
