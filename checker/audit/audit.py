"""The audit: judges the logs of a real system by the causality rule of a check.

All events of an actor are in one log, in their order at the actor. The actors' lines may be
interleaved in any way. A folder is a log in parts. Every log is read once.
"""

from __future__ import annotations

import contextlib
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence, Set
from functools import partial
from pathlib import Path

from attrs import define, evolve, field, frozen

from antecede.checker.audit.capacity import TOO_LARGE, check_memory
from antecede.checker.audit.chains import Record, with_chains
from antecede.checker.audit.clocks import Clocks
from antecede.checker.audit.events import Begin, Event, Stamp
from antecede.checker.audit.evidence import with_events, with_missing
from antecede.checker.audit.findings import (
    Audit,
    Finding,
    Foreign,
    foreign_of,
    no_sends,
    of_all,
    two_homes,
    without,
)
from antecede.checker.audit.logs import Log, events, open_log
from antecede.checker.audit.moments import Moments
from antecede.checker.audit.oracle import LogOracle
from antecede.checker.audit.records import Fields
from antecede.checker.audit.shiviz import Expressions
from antecede.checker.audit.sources import Source, opened, parts_of_logs, shown_name
from antecede.checker.audit.spans import Spans, in_every_order, left_out
from antecede.checker.engine.compiled import cache
from antecede.checker.support.amounts import counted
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
    fields: Fields | None = None,
    *,
    given: Expressions | None = None,
    how: How | None = None,
    judge: str = "auto",
    tick: Callable[[int, int], None] = lambda _bytes, _events: None,
) -> Audit:
    """Read logs and judge them together.

    Args:
        names: the files; `-` is standard input, and a folder is a log in parts.
        format: one of `checker.audit.logs.FORMATS`, or None to detect it from the first line.
        fields: the names of the records' fields.
        given: expressions for a ShiViz log.
        how: the kinds of events that are no errors.
        judge: `plain`, `compiled`, or `auto`: compiled for large logs of JSON objects.
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
            result = how.tolerated(_judged(logs, judge, watch, how))
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


@frozen
class How:
    """The kinds of events that an audit does not report as errors.

    Attributes:
        unfinished: only count undelivered messages, and do not list them.
        redelivery: an actor may deliver a message again; only its first delivery is judged.
        from_middle: the logs may begin in the middle, so messages may have been sent before.
    """

    unfinished: bool = False
    redelivery: bool = False
    from_middle: bool = False

    def tolerated(self, found: Audit) -> Audit:
        """Return an audit without the deliveries that are no errors; it counts them."""
        if self.redelivery:
            found = without(found, "again", "{times}, an actor processed a message again")
        if self.from_middle:
            found = without(
                found, "unsent", "{times}, an actor processed a message that no log sends"
            )
        return evolve(found, unfinished=self.unfinished)


def _watched(tick: Callable[[int, int], None], size: int, events: int) -> None:
    """Report the progress, and end the audit before all memory is used."""
    tick(size, events)
    check_memory()


def _judged(logs: Sequence[Log], judge: str, tick: Callable[[int, int], None], how: How) -> Audit:
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
        return _compiled(logs, tick, how)
    small = compiles
    read = [source.ahead for source in sources]
    try:
        return _plain(logs, tick, how, _refuse if small else _look)
    except _Crowded:
        for source, ahead in zip(sources, read, strict=True):
            source.begin_again(ahead)
        return _compiled(logs, tick, how)


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
    how: How,
    crowded: Callable[[int], int],
) -> Audit:
    with contextlib.closing(_Plain(crowded, how, [log.source.name for log in logs])) as judge:
        for log in logs:
            judge.read(log, tick)
        foreign = [foreign_of(log.source) for log in logs]
        _check_logs(judge.read_of, logs, foreign)
        moments = judge.take_spans(tick)
        result = judge.result(foreign)
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


def _compiled(logs: Sequence[Log], tick: Callable[[int, int], None], how: How) -> Audit:
    # Small logs need no compiler, so it is imported here.
    from antecede.checker.audit.compiled import Compiled

    with contextlib.closing(Compiled()) as judge:
        found: Counter[str] = Counter()
        for log in logs:
            found[log.source.whole] += judge.read(log.source, log.fields, tick)
        judge.wait()
        foreign = [foreign_of(log.source) for log in logs]
        _check_logs(found, logs, foreign)
        return judge.result(foreign, unfinished=how.unfinished)


def _check_logs(found: Mapping[str, int], logs: Sequence[Log], foreign: Sequence[Foreign]) -> None:
    """Refuse logs with more other lines than events, given the number of events per log."""
    wholes = [log.source.whole for log in logs]
    check_events(found, [(log.source.whole, log.format) for log in logs], foreign, wholes)


def check_events(
    found: Mapping[str, int],
    logs: Sequence[tuple[str, str]],
    foreign: Sequence[Foreign],
    wholes: Sequence[str],
) -> None:
    """Refuse logs, given as (name, format), without events or with more other lines than events.

    A part of a log may have no events. If the log's own words say that a line is no event, the line
    does not count.

    Args:
        found: log -> the number of its events.
        foreign: for some logs and parts, their lines that are no events.
        wholes: for each of these, the log.
    """
    others: Counter[str] = Counter()
    first: dict[str, Foreign] = {}
    for each, whole in zip(foreign, wholes, strict=True):
        if each.odd:
            others[whole] += each.odd
            first.setdefault(whole, each)
    for name, format in logs:
        if others[name] > found[name]:
            raise InputError(_mostly(first[name], others[name], found[name]))
        if not found[name]:
            raise _nothing_in(name, format)


def _mostly(first: Foreign, lines: int, events: int) -> str:
    text = f"{first.log}, line {first.first}: {first.why}"
    if lines == 1:
        return text
    return (
        f"{text}. {counted(lines, 'line')} of the log are no events, and "
        f"{counted(events, 'line')} {'is' if events == 1 else 'are'}"
    )


def _nothing_in(name: str, format: str) -> InputError:
    how = (
        "no event says that a message is sent or processed, as 'causal-sends m1 to bob' or "
        "'delivers m1' do; give an expression that finds these events with --event"
        if format == "shiviz"
        else "it has no spans of producers and consumers, so no message was sent or received"
        if format == "otel"
        else "no message is sent or processed in it; name the log's fields with --fields"
    )
    return InputError(f"{name}: {how}")


@define(eq=False)
class _Plain:
    """The plain judge, with its data while logs are read.

    Attributes:
        crowded: called when clocks have many entries; see `LogOracle`.
        logs: the names of the logs.
        read_of: log -> its lines that are events.
        execution: the execution that is being read, in a log with several ones.
        executions: the executions before it.
        spans: the spans that were read; they are judged after all logs were read.
        wholes: part of a log with spans -> the log.
        left_out: the spans that are not judged, and why.
    """

    crowded: Callable[[int], int]
    how: How
    logs: Sequence[str]
    execution: Begin | None = None
    executions: list[tuple[str, Audit]] = field(factory=list)
    spans: Spans = field(factory=Spans)
    wholes: dict[str, str] = field(factory=dict)
    record: Record = field(factory=Record)
    oracle: LogOracle = field(init=False)
    clocks: Clocks = field(init=False)
    stamps: int = 0
    left_out: tuple[str, ...] = ()
    events: int = 0
    home: dict[str, str] = field(factory=dict)
    read_of: Counter[str] = field(factory=Counter)

    def __attrs_post_init__(self) -> None:
        self._begin(frozenset())
        self.clocks = Clocks(self.how.from_middle)

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
            self.spans.by = log.fields.actors
            self.read_of[log.source.whole] += self.spans.read(log.source)
            self.wholes[log.source.name] = log.source.whole
            return
        named = log.layout is None or log.layout.named
        for number, event in enumerate(events(log, self._stamp), 1):
            if isinstance(event, Begin):
                self._next_execution(event, log)
            else:
                self.take(event, log.source.whole)
                self.read_of[log.source.whole] += named
            if not number % TICK:
                tick(log.source.taken, number)
        self._count_stamps(log)

    def _count_stamps(self, log: Log) -> None:
        """Count the lines with the clocks of a log whose events have no messages."""
        if log.layout is not None and not log.layout.named:
            self.read_of[log.source.whole] += self.stamps * log.layout.height

    def _stamp(self, stamp: Stamp) -> None:
        self.stamps += 1
        self.clocks.take(stamp)

    def _next_execution(self, begin: Begin, log: Log) -> None:
        """Judge the execution that was read, if there is one, and begin the next."""
        if len(self.logs) > 1:
            raise InputError(
                f"{log.source.name}, line {begin.line}: the log holds several executions; audit it "
                "alone, because several logs are one execution"
            )
        if self.stamps:
            self._count_stamps(log)
            self._end_execution()
            self.close()
            self.record, self.home, self.events, self.stamps = Record(), {}, 0, 0
            self.__attrs_post_init__()
        self.execution = begin

    def _end_execution(self) -> None:
        found = self.how.tolerated(self._result())
        name = self.execution.name if self.execution else "execution 0"
        self.executions.append((name, found))

    def take_spans(self, tick: Callable[[int, int], None]) -> Moments | None:
        """Judge the spans in one of their possible orders; return their moments, if any."""
        if not self.wholes:
            return None
        moments = self.spans.moments()
        self.left_out = left_out(moments)
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

    def result(self, foreign: Sequence[Foreign]) -> Audit:
        """Return the result, once everything is read; `foreign` is for the error.

        Raises:
            InputError: nothing was sent.
        """
        if self.execution is not None:
            self._end_execution()
            return of_all(self.executions)
        found = self._result()
        if not found.causal_sends and not self.stamps:
            raise no_sends(self.logs, self.events, foreign, self.left_out)
        return found

    def _result(self) -> Audit:
        self.oracle.finish()
        if self.oracle.shared:
            self._judge_again()
        findings = with_events(with_chains(self._findings(), self.record), self._about)
        undelivered = sorted(self.oracle.undelivered(), key=_actor)
        return Audit(
            findings=tuple(findings),
            undelivered=() if self.how.unfinished else with_missing(undelivered),
            logs=tuple(self.logs),
            actors=len(self.home) if self.events else len(self.clocks.latest),
            causal_sends=self.oracle.causal_sends,
            deliveries=self.oracle.deliveries,
            events=self.events,
            open=self.oracle.open,
            unaddressed=self.oracle.unaddressed,
            clocks=self.stamps,
        )

    def _about(self, messages: Set[str]) -> Iterator[tuple[Event, bool]]:
        """Yield the recorded events of messages, and whether each counts."""
        return ((event, counts) for event, counts in self.record if event.message in messages)

    def _judge_again(self) -> None:
        """Judge everything again, without the names that several actors causal-send."""
        first, self.record = self.record, Record()
        with contextlib.closing(first):
            self._begin(self.oracle.shared)
            for event, _ in first:
                self.oracle.take(event)
            self.oracle.finish()

    def _findings(self) -> list[Finding]:
        """Return the findings, sorted by the names of actors, then in each actor's own order."""
        self.clocks.finish()
        findings = sorted(self.oracle.findings, key=_actor)  # stable: keeps each actor's order
        if not self.clocks.faults:
            return findings
        order = {log: at for at, log in enumerate(self.logs)}
        # In a log with clocks, each actor's events are in the order of its lines; spans may not be.
        faults = sorted(self.clocks.faults, key=lambda finding: finding.text)
        return sorted([*findings, *faults], key=lambda f: (f.actor, order[f.log], f.line))


def _actor(finding: Finding) -> str:
    return finding.actor
