"""The audit: judges the logs of a real system by the causality rule of a check.

All events of an actor are in one log, in their order at the actor. The actors' lines may be
interleaved in any way. A folder is a log in parts. Every log is read once.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path

from attrs import evolve

from antecede.checker.compiled import cache
from antecede.checker.logs.events.capacity import TOO_LARGE, check_memory
from antecede.checker.logs.judge.findings import Audit, How
from antecede.checker.logs.readers.formats import Log, check_events, open_log
from antecede.checker.logs.readers.records import Fields
from antecede.checker.logs.readers.sources import (
    Source,
    check_names,
    foreign_of,
    opened,
    parts_of_logs,
)
from antecede.checker.logs.report import summary
from antecede.checker.render.ticker import Ticker
from antecede.checker.support import interrupts
from antecede.checker.support.errors import CapacityError, InputError

HERE = Path(__file__).parent
"""The folder whose kernels an audit uses."""

LARGE = 1 << 17
"""The size of logs in bytes from which compiled kernels are faster, if they are on the disk."""

LARGE_UNCOMPILED = 1 << 24
"""The same if they must be compiled first, which takes some 15 seconds."""


def audit(
    names: Sequence[str],
    format: str | None = None,
    fields: Fields | None = None,
    *,
    given: str | None = None,
    how: How | None = None,
    compiled: bool | None = None,
    tick: Callable[[int, int], None] = lambda _bytes, _events: None,
) -> Audit:
    """Read logs and judge them together.

    Args:
        names: the files; `-` is standard input, and a folder is a log in parts.
        format: one of `readers.formats.FORMATS`, or None to detect it from the first line.
        fields: the names of the records' fields.
        given: an expression for a ShiViz log.
        how: the kinds of events that are no errors.
        compiled: the kernels of the judge are machine code; None: if the logs are large.
        tick: called now and then with the bytes of the current log and the events of all.

    Raises:
        InputError: a log cannot be read, a line is not an event, there is nothing to judge, or the
            disk is full.
        CapacityError: there is too little memory.
    """
    check_names(names)
    watch, how = partial(_watched, tick), how or How()
    try:
        with contextlib.ExitStack() as stack:
            parts = parts_of_logs(names)
            used, optional = (fields or Fields()).used, (fields or Fields()).to
            sources = [
                stack.enter_context(opened(part, name, used, optional)) for part, name in parts
            ]
            sources = [s for s in sources if s.whole == s.name or s.first_line()] or sources
            logs = [open_log(source, format, given, fields) for source in sources]
            _check_formats(logs)
            result = how.tolerated(_judged(logs, compiled, watch, how))
    except MemoryError:
        raise CapacityError(TOO_LARGE) from None
    torn = tuple((source.name, line) for source in sources for line in source.torn)
    return evolve(
        result, torn=torn, foreign=tuple(foreign_of(each) for each in sources if each.foreign)
    )


def _check_formats(logs: Sequence[Log]) -> None:
    """Refuse spans beside logs of other formats, because only spans have times."""
    spans = next((log for log in logs if log.format == "otel"), None)
    other = next((log for log in logs if log.format != "otel"), None)
    if spans is not None and other is not None:
        raise InputError(
            f"{spans.source.name} is a log of OpenTelemetry spans, and {other.source.name} is not; "
            "audit them separately, because they have no common order and no common names"
        )


def _watched(tick: Callable[[int, int], None], size: int, events: int) -> None:
    """Report the progress, and end the audit before all memory is used."""
    tick(size, events)
    interrupts.deadline.poll()
    check_memory()


def _judged(
    logs: Sequence[Log], compiled: bool | None, tick: Callable[[int, int], None], how: How
) -> Audit:
    """Judge logs; None chooses whether the kernels are compiled."""
    sources = [log.source for log in logs]
    lacks = cache.lacking(home=HERE) if compiled is not False else None
    if lacks is not None:
        if compiled:
            raise CapacityError(lacks)
        if _have_at_least(LARGE, sources):
            cache.say(f"{lacks}; plain Python judges the logs, which takes longer")
        compiled = False
    if compiled is None:
        least = LARGE if cache.compiled_in(HERE) else LARGE_UNCOMPILED
        compiled = _have_at_least(least, sources)
    # NumPy may be imported only now: without memory, it ends the process.
    from antecede.checker.logs.executions import Executions

    with contextlib.closing(Executions(logs, how, compiled)) as executions:
        for log in logs:
            executions.read(log, tick)
        executions.wait()
        foreign = [foreign_of(log.source) for log in logs]
        wholes = [log.source.whole for log in logs]
        formats = [(log.source.whole, log.format) for log in logs]
        check_events(executions.read_of, formats, foreign, wholes)
        return executions.result(foreign, tick)


def _have_at_least(least: int, sources: Sequence[Source]) -> bool:
    """Return whether logs have at least so many bytes."""
    for source in sources:
        if source.has_at_least(least):
            return True
        least -= len(source.ahead)
    return False


def audit_at(
    place: str,
    names: Sequence[str],
    format: str | None,
    fields: Fields,
    *,
    given: str | None,
    how: How,
    ticker: Ticker,
    master: str | None,
) -> Audit:
    """Judge logs `here` or on `spark`; see `audit`.

    `master` is for Spark. Only an audit in this process shows its progress.

    Raises:
        InputError: as in `audit`.
    """
    if place == "here":
        return audit(names, format, fields, given=given, how=how, tick=summary.watching(ticker))
    # Only this needs compiled kernels at once.
    from antecede.checker.logs.spark import on_spark

    return on_spark.audit(names, format, fields, given=given, how=how, master=master)
