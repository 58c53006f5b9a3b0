"""The chain of messages that connects two messages, so that one happened before the other."""

from __future__ import annotations

import contextlib
import json
import tempfile
from collections.abc import Iterable, Iterator, Sequence
from typing import IO

from attrs import define, evolve, field

from antecede.checker.audit.events import DELIVER, SEND, Event
from antecede.checker.audit.findings import Finding
from antecede.checker.support.errors import InputError

MOST_CHAINS = 20
"""The most violations with a chain; further violations are reported without one."""

IN_MEMORY = 1 << 24


@define(eq=False)
class Record:
    """The events of logs, kept to be read again; on disk if there are many."""

    file: IO[str] = field(factory=lambda: _temporary())

    def keep(self, event: Event, counts: bool) -> None:
        """Append an event, and whether it counts.

        Raises:
            InputError: the disk is full.
        """
        place, clock = (event.log, event.line), None if event.clock is None else dict(event.clock)
        values = (counts, place, event.actor, event.kind, event.message, event.to, clock)
        try:
            self.file.write(json.dumps(values) + "\n")
        except OSError as error:
            raise full_disk(error) from None

    def close(self) -> None:
        """Delete the events, including those that did not fit the disk."""
        with contextlib.suppress(OSError):
            self.file.close()

    def __iter__(self) -> Iterator[tuple[Event, bool]]:
        """Yield the events in the order of `keep`, and whether each counts."""
        try:
            self.file.seek(0)
        except OSError as error:
            raise full_disk(error) from None
        for text in self.file:
            counts, (log, line), actor, kind, message, to, clock = json.loads(text)
            to = None if to is None else tuple(to)
            yield Event(line, actor, kind, message, to, clock, log), counts


def _temporary() -> IO[str]:
    return tempfile.SpooledTemporaryFile(IN_MEMORY, "w+", encoding="utf-8")


def full_disk(error: OSError) -> InputError:
    """Return the error for a disk that has no room for the record."""
    return InputError(
        f"records of the log cannot be kept in {tempfile.gettempdir()}: {error.strerror}; "
        "name another folder in TMPDIR"
    )


def with_chains(findings: Sequence[Finding], record: Iterable[tuple[Event, bool]]) -> list[Finding]:
    """Return the findings, with the chains of the first violations.

    The record has the events in causal order, and whether each counts. It is read once more.
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
    """Follows the knowledge of an overtaken message after its causal-send.

    Attributes:
        via: actors that know of the message -> the event that first told each of them.
        sends: messages that such actors causal-sent -> the causal-send, and the sender's `via`.
        last: the deliveries of the two messages.
    """

    finding: Finding
    via: dict[str, Event] = field(factory=dict)
    sends: dict[str, tuple[Event, Event | None]] = field(factory=dict)
    last: dict[str, Event] = field(factory=dict)

    def take(self, event: Event) -> None:
        """Process the next event, in causal order."""
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
        message: str | None = self.finding.second
        while message in self.sends:
            sent, how = self.sends[message]
            events.append(sent)
            message = None
            if how is not None:
                message = how.message
                events += [how] if how.kind == DELIVER else []
        events.reverse()
        chain = tuple(event.message for event in events if event.kind == SEND)
        ends = [self.last[m] for m in (self.finding.second, self.finding.first) if m in self.last]
        return evolve(self.finding, chain=chain, events=(*events, *ends))
