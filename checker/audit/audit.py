"""The audit: judges the logs of a real system by the causality rule of a check.

All events of an actor are in one log, in their order at the actor. The actors' lines may be
interleaved in any way. A folder is a log in parts. Every log is read once.
"""

from __future__ import annotations

import contextlib
from collections import Counter
from collections.abc import Callable, Mapping, Sequence, Set
from functools import partial
from pathlib import Path

from attrs import define, evolve, field

from antecede.checker.audit.capacity import TOO_LARGE, check_memory
from antecede.checker.audit.chains import Record, with_chains
from antecede.checker.audit.clocks import Clocks
from antecede.checker.audit.events import Event
from antecede.checker.audit.findings import Audit, Finding, no_sends, two_homes
from antecede.checker.audit.logs import Log, events, open_log
from antecede.checker.audit.moments import Moments
from antecede.checker.audit.oracle import LogOracle
from antecede.checker.audit.records import Fields
from antecede.checker.audit.sources import Source, opened, parts_of, shown_name
from antecede.checker.audit.spans import Spans, in_every_order
from antecede.checker.engine.compiled import cache
from antecede.checker.support.errors import CapacityError, InputError

KERNELS = Path(__file__).parent / "kernels"

LARGE = 1 << 20
"""The size of logs in bytes from which the compiled judge is faster, including its start."""

LARGE_UNCOMPILED = 1 << 25
"""The same if the kernels must be compiled first, which takes some 8 seconds."""

TICK = 1 << 12
"""The number of events between two calls of the plain judge's watcher."""

CROWDED = 1 << 20
"""The number of clock entries, some 350 MB, at which the plain judge gives up a small log."""


def audit(
    names: Sequence[str],
    format: str | None = None,
    event: str | None = None,
    fields: Fields | None = None,
    *,
    unfinished: bool = False,
    judge: str = "auto",
    tick: Callable[[int, int], None] = lambda _bytes, _events: None,
) -> Audit:
    """Read logs and judge them together.

    Args:
        names: the files; `-` is standard input, and a folder is a log in parts.
        format: one of `checker.audit.logs.FORMATS`, or None to detect it from the first line.
        event: the expression that finds causal-sends and deliveries in a ShiViz log.
        fields: the names of the records' fields.
        unfinished: only count undelivered messages, and do not list them.
        judge: `plain`, `compiled`, or `auto`: compiled for large logs of JSON objects.
        tick: called now and then with the bytes of the current log and the events of all.

    Raises:
        InputError: a log cannot be read, a line is not an event, there is nothing to judge, or the
            disk is full.
        CapacityError: there is too little memory.
    """
    check_names(names)
    watch = partial(_watched, tick)
    try:
        with contextlib.ExitStack() as stack:
            parts = [(part, name) for name in names for part in parts_of(name)]
            sources = [stack.enter_context(opened(part, name)) for part, name in parts]
            sources = [s for s in sources if s.whole == s.name or s.first_line()] or sources
            logs = [open_log(source, format, event, fields) for source in sources]
            _check_formats(logs)
            result = _judged(logs, judge, watch, unfinished=unfinished)
    except MemoryError:
        raise CapacityError(TOO_LARGE) from None
    torn = tuple((source.name, line) for source in sources for line in source.torn)
    return evolve(result, torn=torn)


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
    check_memory()


def _judged(
    logs: Sequence[Log], judge: str, tick: Callable[[int, int], None], *, unfinished: bool
) -> Audit:
    """Judge logs by the given judge; `auto` chooses the faster one."""
    simple = all(log.format == "jsonl" and log.fields.simple for log in logs)
    sources = [log.source for log in logs]
    compiles = judge == "compiled" or (judge == "auto" and simple)
    if compiles and (lacks := cache.lacking(home=KERNELS)):
        if judge == "compiled":
            raise CapacityError(lacks)
        cache.say(f"{lacks}; plain Python judges the logs, which takes longer")
        compiles = False
    if compiles and (judge == "compiled" or _are_large(sources)):
        return _compiled(logs, tick, unfinished)
    small = compiles
    read = [source.ahead for source in sources]
    try:
        return _plain(logs, tick, unfinished, _refuse if small else _look)
    except _Crowded:
        for source, ahead in zip(sources, read, strict=True):
            source.begin_again(ahead)
        return _compiled(logs, tick, unfinished)


class _Crowded(Exception):
    """A small log has large clocks."""


def _refuse(_entries: int) -> int:
    """Leave large clocks to the compiled judge, which shares their equal parts."""
    raise _Crowded


def _look(entries: int) -> int:
    """Check the memory; return the number of entries for the next check."""
    check_memory()
    return entries + CROWDED


def _plain(
    logs: Sequence[Log],
    tick: Callable[[int, int], None],
    unfinished: bool,
    crowded: Callable[[int], int],
) -> Audit:
    with contextlib.closing(_Plain(crowded)) as judge:
        for log in logs:
            judge.read(log, tick)
        check_events(judge.read_of, [(log.source.whole, log.format) for log in logs])
        moments = judge.take_spans(tick)
        result = judge.result([log.source.name for log in logs], unfinished)
        return result if moments is None else in_every_order(result, moments)


def check_names(names: Sequence[str]) -> None:
    """Refuse a log that is named twice."""
    if len(set(names)) < len(names):
        twice = next(name for name in names if names.count(name) > 1)
        raise InputError(f"{shown_name(twice)} is named twice; name each log once")


def _are_large(sources: Sequence[Source]) -> bool:
    """Return whether the logs are large enough for the compiled judge."""
    least = LARGE if cache.compiled_in(KERNELS) else LARGE_UNCOMPILED
    for source in sources:
        if source.has_at_least(least):
            return True
        least -= len(source.ahead)
    return False


def _compiled(logs: Sequence[Log], tick: Callable[[int, int], None], unfinished: bool) -> Audit:
    # Small logs need no compiler, so it is imported here.
    from antecede.checker.audit.compiled import Compiled

    with contextlib.closing(Compiled()) as judge:
        found: Counter[str] = Counter()
        for log in logs:
            found[log.source.whole] += judge.read(log.source, log.fields, tick)
        judge.wait()
        check_events(found, [(log.source.whole, log.format) for log in logs])
        return judge.result(unfinished=unfinished)


def check_events(found: Mapping[str, int], logs: Sequence[tuple[str, str]]) -> None:
    """Refuse logs, given as (name, format), without events; a part may have none."""
    for name, format in logs:
        if not found[name]:
            raise _nothing_in(name, format)


def _nothing_in(name: str, format: str) -> InputError:
    how = (
        "no event is a causal-send or a delivery, such as 'causal-sends m1 to bob' or 'delivers "
        "m1'; give an expression that finds them with --event"
        if format == "shiviz"
        else "there is no producer span and no consumer span in it (kind 4 and 5)"
        if format == "otel"
        else "there is no causal-send and no delivery in it; name the log's fields with --fields"
    )
    return InputError(f"{name}: {how}")


@define(eq=False)
class _Plain:
    """The plain judge, with its data while logs are read.

    Attributes:
        crowded: called when clocks have many entries; see `LogOracle`.
        spans: the spans that were read; they are judged after all logs were read.
        wholes: part of a log with spans -> the log.
    """

    crowded: Callable[[int], int]
    spans: Spans = field(factory=Spans)
    wholes: dict[str, str] = field(factory=dict)
    record: Record = field(factory=Record)
    oracle: LogOracle = field(init=False)
    clocks: Clocks = field(factory=Clocks)
    events: int = 0
    home: dict[str, str] = field(factory=dict)
    read_of: Counter[str] = field(factory=Counter)

    def __attrs_post_init__(self) -> None:
        self._begin(frozenset())

    def _begin(self, ambiguous: Set[str]) -> None:
        self.oracle = LogOracle(
            self.record.keep, ambiguous=ambiguous, crowded=self.crowded, most=CROWDED
        )

    def close(self) -> None:
        """Delete the record."""
        self.record.close()

    def read(self, log: Log, tick: Callable[[int, int], None]) -> None:
        """Read a log, and judge its events if it has no spans."""
        if log.format == "otel":
            self.read_of[log.source.whole] += self.spans.read(log.source)
            self.wholes[log.source.name] = log.source.whole
            return
        before = self.events
        for event in events(log, self.clocks.take):
            self.take(event, log.source.whole)
            if not self.events % TICK:
                tick(log.source.taken, self.events)
        self.read_of[log.source.whole] += self.events - before

    def take_spans(self, tick: Callable[[int, int], None]) -> Moments | None:
        """Judge the spans in one of their possible orders; return their moments, if any."""
        if not self.wholes:
            return None
        moments = self.spans.moments()
        for event in moments.events():
            self.take(event, self.wholes[event.log])
            if not self.events % TICK:
                tick(0, self.events)
        return moments

    def take(self, event: Event, whole: str) -> None:
        """Judge the next event; `whole` is the name of its log."""
        if self.home.setdefault(event.actor, whole) != whole:
            raise two_homes(event.actor, self.home[event.actor], event.log, event.line)
        self.events += 1
        self.oracle.take(event)

    def result(self, logs: Sequence[str], unfinished: bool) -> Audit:
        """Return the result, once everything is read."""
        self.oracle.finish()
        if self.oracle.shared:
            self._judge_again()
        if not self.oracle.causal_sends:
            raise no_sends(logs, self.events)
        findings = with_chains(self._findings(logs), self.record)
        undelivered = sorted(self.oracle.undelivered(), key=_actor)
        return Audit(
            findings=tuple(findings),
            undelivered=() if unfinished else tuple(undelivered),
            logs=tuple(logs),
            actors=len(self.home),
            causal_sends=self.oracle.causal_sends,
            deliveries=self.oracle.deliveries,
            events=self.events,
            open=self.oracle.open,
            unaddressed=self.oracle.unaddressed,
        )

    def _judge_again(self) -> None:
        """Judge everything again, without the names that several actors causal-send."""
        first, self.record = self.record, Record()
        with contextlib.closing(first):
            self._begin(self.oracle.shared)
            for event, _ in first:
                self.oracle.take(event)
            self.oracle.finish()

    def _findings(self, logs: Sequence[str]) -> list[Finding]:
        """Return the findings, sorted by the names of actors, then in each actor's own order."""
        self.clocks.finish()
        findings = sorted(self.oracle.findings, key=_actor)  # stable: keeps each actor's order
        if not self.clocks.faults:
            return findings
        order = {log: at for at, log in enumerate(logs)}
        # In a log with clocks, each actor's events are in the order of its lines; spans may not be.
        faults = sorted(self.clocks.faults, key=lambda finding: finding.text)
        return sorted([*findings, *faults], key=lambda f: (f.actor, order[f.log], f.line))


def _actor(finding: Finding) -> str:
    return finding.actor
