"""Checks whether the vector clocks of a log are possible.

The log is read once. The hosts' events may be interleaved in any way, and the faults do not depend
on the interleaving. The memory holds two clocks per host, and entries for events that are known
before they are read. There are no such entries if every event comes after the events that it knows.
"""

from __future__ import annotations

from collections import defaultdict, deque

from attrs import define, evolve, field, frozen

from antecede.checker.logs.events.event import SEND, Event, Stamp
from antecede.checker.logs.judge.findings import Finding


@frozen
class _Claim:
    """Event number `own`, which knows of another host's event number `entry`, not read yet."""

    entry: int
    own: int
    stamp: Stamp


@define(eq=False)
class Clocks:
    """Finds the impossible clocks of a log; takes its clocks one by one.

    It checks four laws, after Fidge (1988) and Mattern (1989). A host's own entries are 1, 2, 3, ….
    No entry decreases. An entry is the number of an event that exists. No two events know of each
    other. For two hosts, the first two events that know of each other are a fault. So is the first
    event of a host that knows of a missing event of another host.

    Attributes:
        from_middle: the log may begin with any event of a host.
        latest: per host, its last event.
        counts: per host, the greatest number of its events.
        highest: per host, the greatest known event number of each other host.
        claims: per host and other host, the other's first events that know of an event of the host;
            sorted by the known events.
        mutual: pairs of hosts with events that know of each other.
    """

    from_middle: bool = False
    faults: list[Finding] = field(factory=list)
    latest: dict[str, Stamp] = field(factory=dict)
    counts: dict[str, int] = field(factory=dict)
    highest: dict[str, dict[str, int]] = field(factory=lambda: defaultdict(dict))
    claims: dict[str, dict[str, deque[_Claim]]] = field(factory=lambda: defaultdict(dict))
    mutual: set[frozenset[str]] = field(factory=set)

    def take(self, stamp: Stamp) -> None:
        """Check the clock of the next event."""
        own, before = stamp.clock.get(stamp.host, 0), self.counts.get(stamp.host, 0)
        self._own(stamp, own, before)
        self._forgotten(stamp)
        if own > before:  # otherwise another event has its number
            self.counts[stamp.host] = own
            self._circular(stamp, own)
            self._claim(stamp, own)
        self.latest[stamp.host] = stamp

    def finish(self) -> None:
        """Report known events that the log does not have."""
        for host, claimers in self.claims.items():
            count = self.counts.get(host, 0)
            for claimer, queue in claimers.items():
                future = next((claim for claim in queue if claim.entry > count), None)
                if future is not None:
                    there = f"{count} events" if count != 1 else "1 event"
                    text = f"{claimer} knows of event {future.entry} of {host}, which has {there}"
                    self._find(future.stamp, f"{text} in the log")

    def _find(self, stamp: Stamp, text: str) -> None:
        self.faults.append(Finding("clock", stamp.line, text, stamp.host, log=stamp.log))

    def _own(self, stamp: Stamp, own: int, before: int) -> None:
        if self.from_middle and own and stamp.host not in self.latest:
            return
        if own != before + 1:
            text = f"the entry of {stamp.host} in its own clock is {own}, not {before + 1}"
            self._find(stamp, text)

    def _forgotten(self, stamp: Stamp) -> None:
        before = self.latest.get(stamp.host, stamp).clock
        for other, earlier in before.items():
            now = stamp.clock.get(other, 0)
            if now < earlier and other != stamp.host:
                text = f"{stamp.host} knew of event {earlier} of {other}, and now of {now} only"
                self._find(stamp, text)

    def _circular(self, stamp: Stamp, own: int) -> None:
        """Find earlier events that know of this event, although this event knows of them.

        For two hosts, the first pair consists of the first such event of each host. This does not
        depend on the interleaving, because whichever event comes later finds the other one.
        """
        for claimer, queue in self.claims.get(stamp.host, {}).items():
            while queue and queue[0].entry < own:
                queue.popleft()
            pair = frozenset((claimer, stamp.host))
            if queue and stamp.clock.get(claimer, 0) >= queue[0].own and pair not in self.mutual:
                self.mutual.add(pair)
                one, other = sorted(((stamp, own), (queue[0].stamp, queue[0].own)), key=_host)
                text = (
                    f"{one[0].host} knows of event {other[1]} of {other[0].host} (line "
                    f"{other[0].line}), which knows of this one"
                )
                self._find(one[0], text)
            while queue and queue[0].entry <= own:
                queue.popleft()

    def _claim(self, stamp: Stamp, own: int) -> None:
        """Remember known events that are not read yet, unless an earlier event of the host did."""
        highest = self.highest[stamp.host]
        for other, entry in stamp.clock.items():
            if other != stamp.host and entry > highest.get(other, 0):
                highest[other] = entry
                if entry > self.counts.get(other, 0):
                    claims = self.claims[other].setdefault(stamp.host, deque())
                    claims.append(_Claim(entry, own, evolve(stamp, clock={})))


def _host(numbered: tuple[Stamp, int]) -> str:
    return numbered[0].host


@define(eq=False)
class Passed:
    """Finds deliveries whose clock in the log lacks events of the causal-send's clock.

    Attributes:
        sends: message -> its first causal-send.
        early: message -> its deliveries that were read before, and their places.
        faults: the place and the message of a delivery -> the fault, if the delivery counts.
    """

    sends: dict[str, Event] = field(factory=dict)
    early: dict[str, list[tuple[Event, int]]] = field(factory=lambda: defaultdict(list))
    faults: dict[tuple[int, str], Finding] = field(factory=dict)

    def take(self, event: Event, where: int) -> None:
        """Compare the clocks of the next event, which is at a place."""
        if event.kind == SEND:
            self.sends.setdefault(event.message, event)
            for delivery, there in self.early.pop(event.message, ()):
                self._compare(delivery, there)
        elif event.message in self.sends:
            self._compare(event, where)
        else:
            self.early[event.message].append((event, where))

    def _compare(self, event: Event, where: int) -> None:
        sent = self.sends[event.message]
        if event.clock is None or sent.clock is None:
            return
        for host, entry in sent.clock.items():
            if event.clock.get(host, 0) < entry:
                text = (
                    f"the clock of {event.actor}, which processes {event.message}, does not know "
                    f"of event {entry} of {host}, which its sender knew in line {sent.line}"
                )
                self.faults[where, event.message] = Finding(
                    "clock", event.line, text, event.actor, event.message, log=event.log
                )
                return
