"""Why one message happened before another: the chain of messages between them."""

from __future__ import annotations

import contextlib
import json
import tempfile
from collections.abc import Iterable, Iterator, Sequence
from typing import IO

from attrs import define, evolve, field

from antecede.checker.audit.events import DELIVER, SEND, Event
from antecede.checker.audit.findings import Finding
from antecede.checker.errors import CapacityError

MOST_CHAINS = 20
"""Chains are looked for of at most this many violations; others are reported without one."""

IN_MEMORY = 1 << 24


@define(eq=False)
class Record:
    """The events of logs that are read once, kept to be gone through again; large ones on disk."""

    file: IO[str] = field(factory=lambda: _temporary())

    def keep(self, event: Event, counts: bool) -> None:
        """Keep an event, and whether it counts.

        Raises:
            CapacityError: the disk is full.
        """
        place, clock = (event.log, event.line), None if event.clock is None else dict(event.clock)
        values = (counts, place, event.actor, event.kind, event.message, event.to, clock)
        try:
            self.file.write(json.dumps(values) + "\n")
        except OSError as error:
            raise full_disk(error) from None

    def close(self) -> None:
        """Give the events up, also those for which the disk has no room."""
        with contextlib.suppress(OSError):
            self.file.close()

    def __iter__(self) -> Iterator[tuple[Event, bool]]:
        """Yield the events in the order in which they were kept, and whether they count."""
        self.file.seek(0)
        for text in self.file:
            counts, (log, line), actor, kind, message, to, clock = json.loads(text)
            to = None if to is None else tuple(to)
            yield Event(line, actor, kind, message, to, clock, log), counts


def _temporary() -> IO[str]:
    return tempfile.SpooledTemporaryFile(IN_MEMORY, "w+", encoding="utf-8")


def full_disk(error: OSError) -> CapacityError:
    """Return the error for a record that cannot be kept."""
    return CapacityError(
        f"records of the log cannot be kept in {tempfile.gettempdir()}: {error.strerror}; "
        "name another folder in TMPDIR"
    )


def with_chains(findings: Sequence[Finding], record: Iterable[tuple[Event, bool]]) -> list[Finding]:
    """Return the findings, with the chains of the first violations.

    Args:
        findings: of an audit.
        record: the events in causal order, and whether they count; gone through once more.
    """
    wanted = [f for f in findings if f.kind == "causal-delivery"][:MOST_CHAINS]
    if not wanted:
        return [*findings]
    searches = {id(finding): _Search(finding) for finding in wanted}
    for event, counts in record:
        for search in searches.values() if counts else ():
            search.take(event)
    return [searches[id(f)].result() if id(f) in searches else f for f in findings]


@define(eq=False)
class _Search:
    """Follows what happened after the causal-send of a message that was overtaken.

    Attributes:
        finding: the violation.
        via: the actors that know of the message, and the event by which they first did.
        sends: the messages that were causal-sent by such, and what their senders knew it by.
        last: the deliveries of the two messages.
    """

    finding: Finding
    via: dict[str, Event] = field(factory=dict)
    sends: dict[str, tuple[Event, Event | None]] = field(factory=dict)
    last: dict[str, Event] = field(factory=dict)

    def take(self, event: Event) -> None:
        """Take the next event, in causal order."""
        first, second = str(self.finding.first), str(self.finding.second)
        if event.kind == DELIVER:
            if event.message in self.sends:
                self.via.setdefault(event.actor, event)
            if event.actor == self.finding.actor and event.message in (first, second):
                self.last.setdefault(event.message, event)
        elif second not in self.sends and event.message not in self.sends:
            if event.message == first:
                self.sends[first] = event, None
                self.via[event.actor] = event
            elif event.actor in self.via:
                self.sends[event.message] = event, self.via[event.actor]

    def result(self) -> Finding:
        """Return the finding with its chain, and the events of the chain."""
        events: list[Event] = []
        at: str | None = self.finding.second
        while at in self.sends:
            sent, how = self.sends[at]
            events.append(sent)
            at = None
            if how is not None:
                at = how.message
                events += [how] if how.kind == DELIVER else []
        events.reverse()
        chain = tuple(event.message for event in events if event.kind == SEND)
        ends = [self.last[m] for m in (self.finding.second, self.finding.first) if m in self.last]
        return evolve(self.finding, chain=chain, events=(*events, *ends))
