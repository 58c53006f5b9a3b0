"""From the events of logs to the audit; most logs have one execution, some of ShiViz several."""

from __future__ import annotations

import contextlib
from collections import Counter
from collections.abc import Callable, Sequence

from attrs import define, evolve, field

from antecede.checker.logs.events.event import Begin, Stamp
from antecede.checker.logs.events.moments import Moments
from antecede.checker.logs.judge.ahead import Ahead
from antecede.checker.logs.judge.findings import Audit, Finding, How, no_sends, of_all
from antecede.checker.logs.judge.judge import Judge
from antecede.checker.logs.judge.orders import in_every_order, left_out
from antecede.checker.logs.judge.stamps import Clocks, Passed
from antecede.checker.logs.readers.formats import Log, events
from antecede.checker.logs.readers.numbering import Numbering
from antecede.checker.logs.readers.parser import Parser
from antecede.checker.logs.readers.sources import Foreign
from antecede.checker.logs.readers.spans import Spans
from antecede.checker.support.errors import InputError

TICK = 1 << 12
"""The number of events between two calls of a watcher."""


@define(eq=False)
class Execution:
    """The events of one execution, and what is known of them while logs are read.

    Attributes:
        parses: kernels read the logs, which are JSON objects.
        stamps: the number of events with clocks.
    """

    how: How
    compiled: bool
    parses: bool
    judge: Judge = field(init=False)
    ahead: Ahead = field(init=False)
    reader: Parser | Numbering = field(init=False)
    clocks: Clocks = field(init=False)
    passed: Passed = field(factory=Passed)
    stamps: int = 0

    def __attrs_post_init__(self) -> None:
        """Let the judge know the names that the reader reads."""
        reader = Parser if self.parses else Numbering
        self.reader = reader(lambda batch: self.ahead.take(batch))
        self.judge = Judge(self.reader, self.compiled)
        self.ahead = Ahead(self.judge)
        self.clocks = Clocks(self.how.from_middle)

    def close(self) -> None:
        """End the judge, and delete what is on the disk."""
        for part in (self.ahead, self.judge, self.reader):
            part.close()

    def stamp(self, stamp: Stamp) -> None:
        """Check the clock of the next event, which need not be about a message."""
        self.stamps += 1
        self.clocks.take(stamp)

    def result(self, logs: Sequence[str]) -> Audit:
        """Return the result, once everything was read."""
        self.ahead.wait()
        found = self.judge.result(logs, unfinished=self.how.unfinished)
        if not self.stamps:
            return found
        actors = found.actors if found.events else len(self.clocks.latest)
        findings = self._with_clocks(found.findings, logs)
        return evolve(found, findings=findings, actors=actors, clocks=self.stamps)

    def _with_clocks(self, findings: Sequence[Finding], logs: Sequence[str]) -> tuple[Finding, ...]:
        """Return findings with those about clocks, where the event stands in its log."""
        self.clocks.finish()
        places = [*self.passed.faults]
        counting = self.judge.counting([where for where, _ in places]) if places else ()
        behind = [self.passed.faults[each] for each in counting if each in self.passed.faults]
        faults = sorted(self.clocks.faults, key=lambda finding: finding.text)
        if not behind and not faults:
            return tuple(findings)
        order = {log: at for at, log in enumerate(logs)}
        # In a log with clocks, each actor's events are in the order of its lines; spans may not be.
        return tuple(
            sorted([*behind, *findings, *faults], key=lambda f: (f.actor, order[f.log], f.line))
        )


@define(eq=False)
class Executions:
    """Reads logs, and judges their executions.

    Attributes:
        current: the execution that is being read; `begin` is its start in a log with several ones.
        done: the executions before it.
        read_of: log -> the number of its lines that are events.
        spans: the spans that were read; they are judged after all logs were read.
        wholes: part of a log with spans -> the log.
    """

    logs: Sequence[Log]
    how: How
    compiled: bool
    current: Execution = field(init=False)
    begin: Begin | None = None
    done: list[tuple[str, Audit]] = field(factory=list)
    read_of: Counter[str] = field(factory=Counter)
    spans: Spans = field(factory=Spans)
    wholes: dict[str, str] = field(factory=dict)

    def __attrs_post_init__(self) -> None:
        """Begin with the first execution."""
        simple = all(log.format == "jsonl" and log.fields.simple for log in self.logs)
        self.current = Execution(self.how, self.compiled, self.compiled and simple)

    @property
    def _names(self) -> list[str]:
        return [log.source.name for log in self.logs]

    def close(self) -> None:
        """End the judge."""
        self.current.close()

    def wait(self) -> None:
        """Wait until everything that was read is judged; raise the errors of the judge."""
        self.current.ahead.wait()

    def read(self, log: Log, tick: Callable[[int, int], None]) -> None:
        """Read a log, and judge its events if it has no spans.

        Raises:
            InputError: a line is not an event; the message names the line and the reason.
        """
        source, reader = log.source, self.current.reader
        if log.format == "otel":
            self.spans.by = log.fields.actors
            self.read_of[source.whole] += self.spans.read(source)
            self.wholes[source.name] = source.whole
            return
        try:
            if isinstance(reader, Parser):
                self.read_of[source.whole] += reader.read(source, log.fields, tick)
            else:
                self._read_events(log, tick)
        except Exception:
            self.wait()  # an error of an earlier event comes first
            raise

    def _read_events(self, log: Log, tick: Callable[[int, int], None]) -> None:
        reader = self._numbering(log)
        named = log.layout is None or log.layout.named
        try:
            for number, event in enumerate(events(log, lambda stamp: self.current.stamp(stamp)), 1):
                if isinstance(event, Begin):
                    self._next_execution(event, log)
                    reader = self._numbering(log)
                    continue
                where = reader.take(event)
                if log.layout is not None:
                    self.current.passed.take(event, where)
                self.read_of[log.source.whole] += named
                if not number % TICK:
                    tick(log.source.taken, number)
        except Exception:
            reader.flush()
            raise
        reader.flush()
        self._count_stamps(log)

    def _numbering(self, log: Log) -> Numbering:
        """Return the reader of the current execution, which begins or continues a log."""
        reader = self.current.reader
        assert isinstance(reader, Numbering)
        reader.begin(log.source.name, log.source.whole)
        return reader

    def _count_stamps(self, log: Log) -> None:
        """Count the lines with the clocks of a log whose events have no messages."""
        if log.layout is not None and not log.layout.named:
            self.read_of[log.source.whole] += self.current.stamps * log.layout.height

    def _next_execution(self, begin: Begin, log: Log) -> None:
        """Judge the execution that was read, if there is one, and begin the next."""
        if len(self.logs) > 1:
            raise InputError(
                f"{log.source.name}, line {begin.line}: the log holds several executions; audit it "
                "alone, because several logs are one execution"
            )
        if self.current.stamps:
            self._count_stamps(log)
            self._end_execution()
            with contextlib.closing(self.current):
                self.current = Execution(self.how, self.compiled, False)
        self.begin = begin

    def _end_execution(self) -> None:
        reader = self.current.reader
        if isinstance(reader, Numbering):
            reader.flush()
        found = self.how.tolerated(self.current.result(self._names))
        self.done.append((self.begin.name if self.begin else "execution 0", found))

    def result(self, foreign: Sequence[Foreign], tick: Callable[[int, int], None]) -> Audit:
        """Return the result, once everything was read; `foreign` is for the error.

        Raises:
            InputError: nothing was sent.
        """
        moments = self._take_spans(tick) if self.wholes else None
        if self.begin is not None:
            self._end_execution()
            return of_all(self.done)
        found = self.current.result(self._names)
        if not found.causal_sends and not found.clocks:
            omitted = left_out(moments) if moments is not None else ()
            raise no_sends(self._names, found.events, foreign, omitted)
        return found if moments is None else in_every_order(found, moments)

    def _take_spans(self, tick: Callable[[int, int], None]) -> Moments:
        """Judge the spans in one of their possible orders."""
        moments, reader = self.spans.moments(), self.current.reader
        assert isinstance(reader, Numbering)
        for name, whole in self.wholes.items():
            reader.begin(name, whole)
        for event in moments.events():
            reader.take(event)
            if not reader.events % TICK:
                tick(0, reader.events)
        reader.flush()
        return moments
