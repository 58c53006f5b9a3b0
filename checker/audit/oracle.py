"""The causality oracle in plain Python; the actors' events may be interleaved in any way.

If an actor's next event is the delivery of a message that was not sent yet, the actor waits for the
message. The rule is defined in `checker.semantics.history`: a delivery is wrong if its actor
already knew of the message from earlier deliveries. An actor's own causal-sends are counted
separately, so that messages to oneself are judged as well.

Actors that still wait at the end have impossible deliveries. Either no actor causal-sends the
message, or several actors wait for each other in a circle. Then every delivery that an actor of the
circle waits for is impossible, and the actors continue without these deliveries. The result does
not depend on the order of the search, because no actor outside a circle can end it.
"""

from __future__ import annotations

import sys
from bisect import bisect_left
from collections import defaultdict, deque
from collections.abc import Callable, Iterator, Mapping, Set

from attrs import define, field

from antecede.checker.audit.events import DELIVER, SEND, Event
from antecede.checker.audit.findings import Finding, finding_of


@define(eq=False)
class _Sent:
    """A message in transit.

    Attributes:
        event: its causal-send.
        number: its number among its sender's messages.
        stamp: the vector clock of the causal-send: per actor, the number of its known messages.
        missing: the destinations that have not delivered it; None if the log names none.
        delivered: the actors that have delivered it.
    """

    event: Event
    number: int
    stamp: Mapping[str, int]
    missing: set[str] | None
    delivered: set[str] = field(factory=set)


def _no_bound(_entries: int) -> int:
    return sys.maxsize


@define(eq=False)
class LogOracle:
    """Judges events one by one, with sparse vector clocks.

    Attributes:
        happened: called with each event in causal order, and whether it counts.
        ambiguous: names that several actors causal-send; they do not identify a message.
        crowded: called when clocks have more than `most` entries; returns the next bound.
        known: per actor, the vector clock of its deliveries: sender -> number of messages.
        own: per actor, the number of messages that it has causal-sent.
        sent: messages in transit.
        done: the senders and destinations of messages that were delivered everywhere.
        shared: new ambiguous names. The events must be judged again with these in `ambiguous`.
        queues: per actor, its events that have to wait.
        blocked: actor -> the delivery that it waits for.
        awaited: message -> actors that wait for it; some may no longer wait.
        early: message -> the actors with an impossible delivery of it.
        raised: (actor, sender) -> the deliveries that raised the actor's counter for the sender.
        entries: the number of entries of all clocks.
        findings: the findings, per actor in its own order.
        causal_sends, deliveries: counts.
        unaddressed: the number of causal-sends without destinations.
    """

    happened: Callable[[Event, bool], None] = lambda _event, _counts: None
    ambiguous: Set[str] = frozenset()
    crowded: Callable[[int], int] = _no_bound
    most: int = 0
    known: dict[str, dict[str, int]] = field(factory=lambda: defaultdict(dict))
    own: dict[str, int] = field(factory=lambda: defaultdict(int))
    sent: dict[str, _Sent] = field(factory=dict)
    done: dict[str, tuple[str, set[str]]] = field(factory=dict)
    shared: set[str] = field(factory=set)
    queues: dict[str, deque[Event]] = field(factory=lambda: defaultdict(deque))
    blocked: dict[str, Event] = field(factory=dict)
    awaited: dict[str, list[str]] = field(factory=lambda: defaultdict(list))
    early: dict[str, set[str]] = field(factory=lambda: defaultdict(set))
    raised: dict[tuple[str, str], list[tuple[int, str]]] = field(factory=lambda: defaultdict(list))
    entries: int = 0
    findings: list[Finding] = field(factory=list)
    causal_sends: int = 0
    deliveries: int = 0
    unaddressed: int = 0

    def take(self, event: Event) -> None:
        """Process the next event of a log."""
        self.queues[event.actor].append(event)
        if event.actor not in self.blocked:
            self._run(event.actor)

    def _run(self, actor: str) -> None:
        """Process an actor's events until it has to wait; then the events of actors it woke."""
        ready = deque([actor])
        while ready:
            queue = self.queues[actor := ready.popleft()]
            while queue:
                event = queue[0]
                if event.kind == DELIVER and not self._was_sent(event.message):
                    self.blocked[actor] = event
                    self.awaited[event.message].append(actor)
                    break
                queue.popleft()
                if event.kind == SEND:
                    self.happened(event, self._send(event))
                    ready.extend(self._woken(event.message))
                else:
                    self.happened(event, self._deliver(event))

    def _was_sent(self, message: str) -> bool:
        return message in self.sent or message in self.done or message in self.ambiguous

    def _woken(self, message: str) -> Iterator[str]:
        for actor in self.awaited.pop(message, ()):
            if actor in self.blocked and self.blocked[actor].message == message:
                del self.blocked[actor]
                yield actor

    def _send(self, event: Event) -> bool:
        """Put a message in transit; return whether the causal-send counts."""
        self.causal_sends += 1
        self.unaddressed += event.to is None
        if event.message in self.ambiguous:
            return self._find("shared", event)
        if self._was_sent(event.message):
            if self._sender(event.message) != event.actor:
                self.shared.add(event.message)
            return self._find("sent twice", event)
        self.own[event.actor] += 1
        missing = None if event.to is None else set(event.to)
        stamp = dict(self.known[event.actor])
        self._count(len(stamp))
        self.sent[event.message] = _Sent(event, self.own[event.actor], stamp, missing)
        self._forget(event.message)
        return True

    def _sender(self, name: str) -> str:
        return self.sent[name].event.actor if name in self.sent else self.done[name][0]

    def _deliver(self, event: Event) -> bool:
        """Judge a delivery; return whether it counts. If not, its actor learns nothing."""
        self.deliveries += 1
        actor, name = event.actor, event.message
        if name in self.ambiguous:
            return False
        message = self.sent.get(name)
        if message is None:
            is_destination = actor in self.done[name][1]
        else:
            is_destination = (
                message.missing is None or actor in message.missing or actor in message.delivered
            )
        if not is_destination:
            return self._find("astray", event)
        if message is None or actor in message.delivered:
            return self._find("again", event)
        self._compare(event, message)
        self._judge(event, message)
        self._learn(event, message)
        message.delivered.add(actor)
        if message.missing is not None:
            message.missing.discard(actor)
            self._forget(name)
        return True

    def _forget(self, name: str) -> None:
        """Keep only the sender and the destinations of a message that was delivered everywhere."""
        message = self.sent[name]
        if message.missing is not None and not message.missing:
            del self.sent[name]
            self.entries -= len(message.stamp)
            self.done[name] = message.event.actor, message.delivered

    def _count(self, entries: int) -> None:
        self.entries += entries
        if self.entries > self.most:
            self.most = self.crowded(self.entries)

    def _compare(self, event: Event, message: _Sent) -> None:
        """Report a delivery whose clock in the log lacks events of the causal-send's clock."""
        if event.clock is None or message.event.clock is None:
            return
        for host, entry in message.event.clock.items():
            if event.clock.get(host, 0) < entry:
                text = (
                    f"the clock of {event.actor}, which processes {event.message}, does not know "
                    f"of event {entry} of {host}, which its sender knew in line "
                    f"{message.event.line}"
                )
                clock = Finding(
                    "clock", event.line, text, event.actor, event.message, log=event.log
                )
                self.findings.append(clock)
                return

    def _judge(self, event: Event, message: _Sent) -> None:
        sender = message.event.actor
        if self.known[event.actor].get(sender, 0) < message.number:
            return
        raised = self.raised[event.actor, sender]
        second = raised[bisect_left(raised, (message.number, ""))][1]
        self._find("late", event, second)

    def _learn(self, event: Event, message: _Sent) -> None:
        clock = self.known[event.actor]
        before = len(clock)
        for sender, number in (*message.stamp.items(), (message.event.actor, message.number)):
            if number > clock.get(sender, 0):
                clock[sender] = number
                self.raised[event.actor, sender].append((number, event.message))
        self._count(len(clock) - before)

    def finish(self) -> None:
        """Report the impossible deliveries after all events were read."""
        senders = {
            event.message: actor
            for actor, queue in self.queues.items()
            for event in queue
            if event.kind == SEND
        }
        for actor in [*self.blocked]:
            while actor in self.blocked:
                self._release(actor, senders)

    def _release(self, actor: str, senders: Mapping[str, str]) -> None:
        """Follow the waiting actors from one to the next until the first one continues.

        The path ends at a message without a causal-send, or it closes a circle. The search then
        continues from the rest of the path, so that long paths are not walked again.
        """
        path: dict[str, Event] = {}
        while True:
            while path and self.blocked.get(last := next(reversed(path))) is not path[last]:
                path.popitem()  # it no longer waits
            next_actor = senders[path[last].message] if path else actor
            if next_actor not in self.blocked:
                return
            if next_actor in path:
                circle = []
                while next_actor in path:
                    circle.append(path.popitem()[1])
                # If several actors causal-send a message, an actor inside of the path may have
                # continued already.
                if all(self.blocked.get(event.actor) is event for event in circle):
                    self._give_up(circle, "too soon")
            elif self.blocked[next_actor].message in senders:
                path[next_actor] = self.blocked[next_actor]
            else:
                self._give_up([self.blocked[next_actor]], "unsent")

    def _give_up(self, deliveries: list[Event], what: str) -> None:
        """Report deliveries, all of them before any of their actors continues without them."""
        for event in deliveries:
            del self.blocked[event.actor]
            self.queues[event.actor].popleft()
            self.early[event.message].add(event.actor)
            self.deliveries += 1
            self._find(what, event)
            self.happened(event, False)
        for event in deliveries:
            self._run(event.actor)

    def undelivered(self) -> Iterator[Finding]:
        """Yield the messages that some destination has not delivered."""
        for name, message in self.sent.items():
            if missing := self._missing(name):
                sent, there = message.event, tuple(sorted(missing))
                yield finding_of(
                    "undelivered", sent.actor, name, sent.line, sent.log, missing=there
                )

    def _missing(self, name: str) -> Set[str]:
        return (self.sent[name].missing or set()) - self.early.get(name, set())

    @property
    def open(self) -> int:
        """The number of copies that were causal-sent and not delivered."""
        return sum(len(self._missing(name)) for name in self.sent)

    def _find(self, what: str, event: Event, second: str = "") -> bool:
        """Add a finding; return False, because the event does not count."""
        self.findings.append(
            finding_of(what, event.actor, event.message, event.line, event.log, second)
        )
        return False
