"""Decides whether the vector clocks of a log are possible.

The log is read once, in any interleaving of the hosts. What is kept is a clock per host and what
hosts know of events that have not been read yet, which is nothing where every event stands after
those that it knows of.
"""

from __future__ import annotations

from collections import defaultdict, deque
from collections.abc import Iterator

from attrs import define, field, frozen

from antecede.checker.audit.events import Stamp


@frozen
class Fault:
    """What is impossible about a clock."""

    line: int
    host: str
    text: str
    log: str = ""


@frozen
class _Claim:
    """An event that knows of another host's event number `entry`, which was not read yet."""

    entry: int
    own: int
    line: int
    log: str


@define(eq=False)
class Clocks:
    """Takes the clocks of a log one by one, and finds out which are impossible.

    Four laws, after Fidge (1988) and Mattern (1989): a host's own entries run 1, 2, 3, …; no entry
    decreases; an entry is the number of an event that exists; and no event knows of one that knows
    of it.
    """

    faults: list[Fault] = field(factory=list)
    latest: dict[str, Stamp] = field(factory=dict)
    counts: dict[str, int] = field(factory=dict)
    claims: dict[str, dict[str, deque[_Claim]]] = field(factory=lambda: defaultdict(dict))

    def take(self, stamp: Stamp) -> None:
        """Take the next event."""
        self.faults += self._own(stamp)
        self.faults += self._forgotten(stamp)
        if stamp.clock.get(stamp.host, 0):  # else it cannot be told which event it is
            self.faults += self._circular(stamp)
            self._claim(stamp)
        self.latest[stamp.host] = stamp

    def finish(self) -> None:
        """Report what was known of events that the log does not have."""
        for host, claimers in self.claims.items():
            count = self.counts.get(host, 0)
            for claimer, queue in claimers.items():
                future = next((claim for claim in queue if claim.entry > count), None)
                if future is not None:
                    there = f"{count} events" if count != 1 else "1 event"
                    text = f"{claimer} knows of event {future.entry} of {host}, which has {there}"
                    fault = Fault(future.line, claimer, f"{text} in the log", future.log)
                    self.faults.append(fault)

    def _own(self, stamp: Stamp) -> Iterator[Fault]:
        own, before = stamp.clock.get(stamp.host, 0), self.counts.get(stamp.host, 0)
        if own != before + 1:
            text = f"the entry of {stamp.host} in its own clock is {own}, not {before + 1}"
            yield Fault(stamp.line, stamp.host, text, stamp.log)
        self.counts[stamp.host] = max(before, own)

    def _forgotten(self, stamp: Stamp) -> Iterator[Fault]:
        before = self.latest.get(stamp.host, stamp).clock
        for other, known in before.items():
            now = stamp.clock.get(other, 0)
            if now < known and other != stamp.host:
                text = f"{stamp.host} knew of event {known} of {other}, and now of {now} only"
                yield Fault(stamp.line, stamp.host, text, stamp.log)

    def _circular(self, stamp: Stamp) -> Iterator[Fault]:
        """Find events read before that know of this one, although it knows of them."""
        own = stamp.clock.get(stamp.host, 0)
        for claimer, queue in self.claims.get(stamp.host, {}).items():
            while queue and queue[0].entry < own:
                queue.popleft()
            if queue and stamp.clock.get(claimer, 0) >= queue[0].own:
                claim = queue.popleft()
                text = (
                    f"{stamp.host} knows of event {claim.own} of {claimer} (line {claim.line}), "
                    "which knows of this one already"
                )
                yield Fault(stamp.line, stamp.host, text, stamp.log)
            while queue and queue[0].entry <= own:
                queue.popleft()

    def _claim(self, stamp: Stamp) -> None:
        """Remember what this event is the first of its host to know, and has not been read yet."""
        before = self.latest[stamp.host].clock if stamp.host in self.latest else {}
        for other, entry in stamp.clock.items():
            new = entry > max(before.get(other, 0), self.counts.get(other, 0))
            if new and other != stamp.host:
                claim = _Claim(entry, stamp.clock.get(stamp.host, 0), stamp.line, stamp.log)
                self.claims[other].setdefault(stamp.host, deque()).append(claim)
