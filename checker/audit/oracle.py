"""The causality oracle on events that come in any interleaving of the actors; plain Python.

An actor whose next event is the delivery of a message that has not been sent yet waits for it. The
rule is that of `checker.semantics.history`: a delivery is wrong if its actor knew of the message
already, from what it had delivered before. An actor's own causal-sends are counted apart from what
it knows, so that messages to oneself are judged as well.
"""

from __future__ import annotations

import heapq
from bisect import bisect_left
from collections import defaultdict, deque
from collections.abc import Callable, Iterator, Mapping

from attrs import define, field

from antecede.checker.audit.events import DELIVER, SEND, Event
from antecede.checker.audit.findings import Finding


@define(eq=False)
class _Sent:
    """A message in transit.

    Attributes:
        event: its causal-send.
        number: which of its sender's messages it is.
        stamp: per actor how many of its messages were in the past of the causal-send.
        missing: the destinations that have not delivered it; None if the log names none.
        delivered: the actors that have.
    """

    event: Event
    number: int
    stamp: Mapping[str, int]
    missing: set[str] | None
    delivered: set[str] = field(factory=set)


@define(eq=False)
class Oracle:
    """Takes events one by one; vector clocks, kept sparse.

    Attributes:
        happened: called with each event, in causal order.
        known: per actor, what it knows by its deliveries: how many messages of each sender.
        own: per actor, how many messages it has causal-sent.
        sent: messages in transit.
        done: the destinations of messages that were delivered everywhere.
        logs: in the order in which they come.
        queues: per actor, its events that have to wait.
        blocked: the actors that wait, and for what.
        awaited: which actors wait for a message; some may have gone on.
        raised: per actor and sender, which deliveries told the one more of the other.
        finishing: at the end: a heap of where actors wait.
    """

    happened: Callable[[Event], None] = lambda _event: None
    known: dict[str, dict[str, int]] = field(factory=lambda: defaultdict(dict))
    own: dict[str, int] = field(factory=lambda: defaultdict(int))
    sent: dict[str, _Sent] = field(factory=dict)
    done: dict[str, tuple[str, ...]] = field(factory=dict)
    logs: dict[str, int] = field(factory=dict)
    queues: dict[str, deque[Event]] = field(factory=lambda: defaultdict(deque))
    blocked: dict[str, Event] = field(factory=dict)
    awaited: dict[str, list[str]] = field(factory=lambda: defaultdict(list))
    raised: dict[tuple[str, str], list[tuple[int, str]]] = field(factory=lambda: defaultdict(list))
    finishing: list[tuple[int, int, str]] | None = None
    findings: list[Finding] = field(factory=list)
    causal_sends: int = 0
    deliveries: int = 0
    unaddressed: int = 0

    def take(self, event: Event) -> None:
        """Take the next event of a log."""
        self.logs.setdefault(event.log, len(self.logs))
        self.queues[event.actor].append(event)
        if event.actor not in self.blocked:
            self._run(event.actor)

    def _run(self, actor: str) -> None:
        """Let an actor go on until it has to wait; then those that it woke."""
        ready = deque([actor])
        while ready:
            queue = self.queues[actor := ready.popleft()]
            while queue:
                event = queue[0]
                if event.kind == DELIVER and not self._was_sent(event.message):
                    self._block(event)
                    break
                queue.popleft()
                self.happened(event)
                if event.kind == SEND:
                    self._send(event)
                    ready.extend(self._woken(event.message))
                else:
                    self._deliver(event)

    def _block(self, event: Event) -> None:
        self.blocked[event.actor] = event
        self.awaited[event.message].append(event.actor)
        if self.finishing is not None:
            heapq.heappush(self.finishing, (self.logs[event.log], event.line, event.actor))

    def _was_sent(self, message: str) -> bool:
        return message in self.sent or message in self.done

    def _woken(self, message: str) -> Iterator[str]:
        for actor in self.awaited.pop(message, ()):
            if actor in self.blocked and self.blocked[actor].message == message:
                del self.blocked[actor]
                yield actor

    def _send(self, event: Event) -> None:
        if self._was_sent(event.message):
            self._find("impossible", event, f"{event.message} is causal-sent a second time")
            return
        self.causal_sends += 1
        self.own[event.actor] += 1
        self.unaddressed += event.to is None
        missing = None if event.to is None else set(event.to)
        self.sent[event.message] = _Sent(
            event, self.own[event.actor], dict(self.known[event.actor]), missing
        )
        self._forget(event.message)

    def _deliver(self, event: Event) -> None:
        """Judge a delivery; one that should not be is told, and teaches its actor nothing."""
        self.deliveries += 1
        actor, name = event.actor, event.message
        message = self.sent.get(name)
        to = self.done[name] if message is None else message.event.to
        if to is not None and actor not in to:
            self._find("integrity", event, f"{actor} delivers {name}, which was not sent to it")
        elif message is None or actor in message.delivered:
            self._find("integrity", event, f"{actor} delivers {name} again")
        else:
            self._compare(event, message)
            self._judge(event, message)
            self._learn(event, message)
            message.delivered.add(actor)
            if message.missing is not None:
                message.missing.discard(actor)
                self._forget(name)

    def _forget(self, name: str) -> None:
        """Keep no more than the destinations of a message that was delivered everywhere."""
        message = self.sent[name]
        if message.missing is not None and not message.missing:
            del self.sent[name]
            self.done[name] = message.event.to or ()

    def _compare(self, event: Event, message: _Sent) -> None:
        """Report a delivery whose clock, in the log, does not know all that the causal-send did."""
        if event.clock is None or message.event.clock is None:
            return
        for host, known in message.event.clock.items():
            if event.clock.get(host, 0) < known:
                text = (
                    f"the clock of {event.actor}, which delivers {event.message}, does not know of "
                    f"event {known} of {host}, which the causal-send in line {message.event.line} "
                    "knows"
                )
                self._find("clock", event, text)
                return

    def _judge(self, event: Event, message: _Sent) -> None:
        sender = message.event.actor
        if self.known[event.actor].get(sender, 0) < message.number:
            return
        raised = self.raised[event.actor, sender]
        second = raised[bisect_left(raised, (message.number, ""))][1]
        self._find("causal-delivery", event, overtaken(event, second), second)

    def _learn(self, event: Event, message: _Sent) -> None:
        known = self.known[event.actor]
        for sender, number in (*message.stamp.items(), (message.event.actor, message.number)):
            if number > known.get(sender, 0):
                known[sender] = number
                self.raised[event.actor, sender].append((number, event.message))

    def finish(self) -> None:
        """Report deliveries of messages that were never causal-sent; then go on without them."""
        queued = {e.message for queue in self.queues.values() for e in queue if e.kind == SEND}
        heap = [(self.logs[e.log], e.line, actor) for actor, e in self.blocked.items()]
        heapq.heapify(heap)
        self.finishing = heap
        while heap:
            log, line, actor = heapq.heappop(heap)
            event = self.blocked.get(actor)
            if event is None or (self.logs[event.log], event.line) != (log, line):
                continue  # it has gone on since
            del self.blocked[actor]
            self.queues[actor].popleft()
            why = "before it can have been" if event.message in queued else "and it was never"
            self._find("impossible", event, f"{actor} delivers {event.message}, {why} causal-sent")
            self._run(actor)

    def undelivered(self) -> Iterator[Finding]:
        """Yield the messages that some destination has not delivered."""
        for name, message in self.sent.items():
            if message.missing:
                missing, sent = ", ".join(sorted(message.missing)), message.event
                text = f"{name} of {sent.actor} was not delivered at {missing}"
                yield Finding("undelivered", sent.line, text, sent.actor, name, log=sent.log)

    @property
    def open(self) -> int:
        """How many copies were causal-sent and not delivered."""
        return sum(len(message.missing or ()) for message in self.sent.values())

    def _find(self, kind: str, event: Event, text: str, second: str | None = None) -> None:
        self.findings.append(
            Finding(kind, event.line, text, event.actor, event.message, second, event.log)
        )


def overtaken(event: Event, second: str) -> str:
    """Say which message the delivered one was overtaken by."""
    return (
        f"{event.actor} delivers {event.message} after {second}, which was causal-sent later: "
        f"{event.message} happened before {second}"
    )
