"""Judges the logs of a real system by the causality of a check.

The events of each actor stand in the order in which they happened there, all in one log; the
actors' lines may be interleaved in any way. Every log is read once.
"""

from __future__ import annotations

import contextlib
from collections.abc import Sequence

from attrs import define, field

from antecede.checker.audit.chains import Record, with_chains
from antecede.checker.audit.clocks import Clocks
from antecede.checker.audit.events import Event
from antecede.checker.audit.findings import Audit, Finding
from antecede.checker.audit.logs import events, open_log
from antecede.checker.audit.oracle import Oracle
from antecede.checker.audit.records import Fields
from antecede.checker.audit.sources import opened, shown_name
from antecede.checker.errors import InputError


def audit(
    names: Sequence[str],
    format: str | None = None,
    event: str | None = None,
    fields: Fields | None = None,
) -> Audit:
    """Read logs and judge them together.

    Args:
        names: the files; `-` is standard input.
        format: one of `checker.audit.logs.FORMATS`; None: what the first line looks like.
        event: what finds causal-sends and deliveries in the texts of a ShiViz log.
        fields: how records are called.

    Raises:
        InputError: a log cannot be read, a line is no event, or there is nothing to judge.
    """
    if len(set(names)) < len(names):
        twice = next(name for name in names if names.count(name) > 1)
        raise InputError(f"{shown_name(twice)} is named twice; name each log once")
    with contextlib.closing(Record()) as record:
        judge = _Judge(record)
        for name in names:
            with opened(name) as source:
                log = open_log(source, format, event, fields)
                before = judge.events
                for happened in events(log, judge.clocks.take):
                    judge.take(happened)
                if judge.events == before:
                    raise _nothing_in(source.name, log.format)
        return judge.result([shown_name(name) for name in names])


def _nothing_in(name: str, format: str) -> InputError:
    how = (
        "no event is a causal-send or a delivery, such as 'causal-sends m1 to bob' or 'delivers "
        "m1'; say with --event what they look like"
        if format == "shiviz"
        else "there is no causal-send and no delivery in it; say with --fields what they are called"
    )
    return InputError(f"{name}: {how}")


@define(eq=False)
class _Judge:
    """What is kept while logs are read."""

    record: Record
    oracle: Oracle = field(factory=Oracle)
    clocks: Clocks = field(factory=Clocks)
    events: int = 0
    home: dict[str, str] = field(factory=dict)

    def take(self, event: Event) -> None:
        """Take the next event."""
        if self.home.setdefault(event.actor, event.log) != event.log:
            raise InputError(
                f"{event.log}, line {event.line}: {event.actor!r} has events in "
                f"{self.home[event.actor]}, too; the events of an actor stand in one log, for "
                "nothing tells which of two logs comes first"
            )
        self.events += 1
        self.record.keep(event)
        self.oracle.take(event)

    def result(self, logs: Sequence[str]) -> Audit:
        """Return what was found, once everything is read."""
        self.oracle.finish()
        self.clocks.finish()
        if not self.oracle.causal_sends:
            raise InputError(
                f"{', '.join(logs)}: no causal-send in {self.events:,} events, so there is no "
                "order to judge; does the log begin too late?"
            )
        faults = [Finding("clock", f.line, f.text, f.host, log=f.log) for f in self.clocks.faults]

        def where(finding: Finding) -> tuple[int, int]:
            return logs.index(finding.log), finding.line

        findings = sorted([*self.oracle.findings, *faults], key=where)
        return Audit(
            findings=tuple(with_chains(findings, self.record)),
            undelivered=tuple(sorted(self.oracle.undelivered(), key=where)),
            logs=tuple(logs),
            actors=len(self.home),
            causal_sends=self.oracle.causal_sends,
            deliveries=self.oracle.deliveries,
            events=self.events,
            open=self.oracle.open,
            unaddressed=self.oracle.unaddressed,
        )
