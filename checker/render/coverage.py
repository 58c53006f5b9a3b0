"""The coverage of handlers in reports: as text, as data, and as lines of source."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import groupby
from typing import TYPE_CHECKING, Any

from attrs import frozen

from antecede.checker.render.source import from_here
from antecede.checker.render.terminal import wrapped
from antecede.checker.semantics.tracing import lines_of
from antecede.checker.support.amounts import counted

if TYPE_CHECKING:
    from antecede.checker.check.handler_coverage import FunctionCoverage, HandlerCoverage

NOT_COUNTED = (
    "Not counted: initial states, packets in flight at the start, calls that the self-check "
    "repeats, conditions within one line, and functions that a handler reaches otherwise than by "
    "name, such as methods of a state or functions in a dictionary."
)


ENDED_EARLY = "The search did not visit all states, so a complete search may run more lines."


def text(found: HandlerCoverage, *, complete: bool) -> str:
    """Return the coverage as a part of a report.

    Args:
        found: the coverage.
        complete: whether the search visited every state.
    """
    if not found:
        return "Handlers: their source is not available, so there is no coverage."
    lines, never = sum(len(each.lines) for each in found), sum(len(each.never) for each in found)
    total = sum(each.conditions for each in found)
    both = total - sum(len(each.one_sided) for each in found)
    head = (
        f"Handlers: {lines - never} of {counted(lines, 'line')} ran, and {both} of "
        f"{counted(total, 'condition')} went both ways."
    )
    parts = [wrapped(head), *(wrapped(f"  {said}", "    ") for said in remarks(found))]
    limits = [NOT_COUNTED] if complete else [ENDED_EARLY, NOT_COUNTED]
    return "\n".join([*parts, *(wrapped(f"  {said}", "  ") for said in limits)])


def remarks(found: HandlerCoverage) -> Iterator[str]:
    """Yield what never ran in each function, and the conditions that went one way only."""
    for each in found:
        place = f"{each.name} ({from_here(each.file)})"
        if each.never:
            many = "line" if len(each.never) == 1 else "lines"
            yield f"never ran: {many} {spans_text(each.never)} of {place}"
        for side in each.one_sided:
            yield f"always {str(side.always).lower()}: line {side.line} of {place}"


def spans(lines: Sequence[int]) -> list[tuple[int, int]]:
    """Return runs of consecutive lines as (first, last)."""
    runs = groupby(enumerate(lines), lambda pair: pair[1] - pair[0])
    grouped = [[line for _, line in run] for _, run in runs]
    return [(run[0], run[-1]) for run in grouped]


def spans_text(lines: Sequence[int]) -> str:
    """Return lines such as `3, 7-9`."""
    return ", ".join(f"{a}" if a == b else f"{a}-{b}" for a, b in spans(lines))


def as_object(found: HandlerCoverage | None) -> list[dict[str, Any]] | None:
    """Return the coverage as data."""
    if found is None:
        return None
    return [
        {
            "function": each.name,
            "file": from_here(each.file),
            "lines": list(each.lines),
            "never_ran": list(each.never),
            "conditions": each.conditions,
            "always_true": [side.line for side in each.one_sided if side.always],
            "always_false": [side.line for side in each.one_sided if not side.always],
        }
        for each in found
    ]


@frozen
class Line:
    """A line of a function.

    Attributes:
        looks: `never` if it never ran, `one` if its condition went one way only, or "".
        note: what is to be said of it, or "".
    """

    number: int
    text: str
    looks: str
    note: str


@frozen
class Listing:
    """The lines of a function, with its name and file."""

    name: str
    file: str
    lines: list[Line]


def listing(each: FunctionCoverage) -> Listing:
    """Return the lines of a function as a page shows them."""
    return Listing(each.name, from_here(each.file), lines(each))


def lines(each: FunctionCoverage) -> list[Line]:
    """Return the lines of a function, with what is to be said of them."""
    source = lines_of(each.file)
    notes = {side.line: ("one", f"always {str(side.always).lower()}") for side in each.one_sided}
    notes |= dict.fromkeys(each.never, ("never", "never ran"))
    return [
        Line(number, source[number - 1], *notes.get(number, ("", "")))
        for number in range(each.first, min(each.last, len(source)) + 1)
    ]
