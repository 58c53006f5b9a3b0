"""The causality oracle on the log of a real system; `checker.audit.logs` reads it.

The events of each actor stand in the order in which they happened there; the actors' lines may be
interleaved in any way. An actor whose next event is the delivery of a message that the log has not
sent yet waits for it. The log is read line by line, and never held as a whole: memory goes into the
name of each message, a number per message and pair of actors, and the clocks of messages in transit
(of messages without `to`, which never are known to have arrived everywhere, all clocks). It is read
once more for each of the first violations, for the chain of messages.
"""

from __future__ import annotations

from bisect import bisect_left
from collections import defaultdict, deque
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import attrs
from attrs import define, evolve, field, frozen

from antecede.checker.audit.clocks import Clocks
from antecede.checker.audit.logs import Event, Log, events, open_log
from antecede.checker.errors import InputError

MOST_CHAINS = 20
"""Violations whose chains are looked for; more of them are reported without."""


@frozen
class Finding:
    """Something wrong in a log.

    Attributes:
        kind: `causal-delivery`, `integrity`, `impossible`, `clock` or `undelivered`.
        line: where it shows.
        text: in a sentence.
        actor: where it shows.
        first, second: for causal-delivery: the message that was overtaken, and the one that did.
        chain: messages from `first` to `second`, each causal-sent after the one before was sent or
            delivered at its sender.
    """

    kind: str
    line: int
    text: str
    actor: str
    first: str | None = None
    second: str | None = None
    chain: tuple[str, ...] = ()


@frozen
class Audit:
    """What was found in a log.

    Attributes:
        findings: what is wrong, by line.
        undelivered: messages that some destination did not deliver, with those destinations.
        actors, causal_sends, deliveries, lines: counts.
    """

    findings: tuple[Finding, ...]
    undelivered: tuple[Finding, ...]
    actors: int
    causal_sends: int
    deliveries: int
    lines: int

    @property
    def holds(self) -> bool:
        """Nothing is wrong but that messages may still be in transit."""
        return not self.findings


def audit(path: Path, format: str | None = None, event: str | None = None) -> Audit:
    """Read a log and judge it.

    Args:
        path: the log.
        format: one of `checker.audit.logs.FORMATS`; None: what the first line looks like.
        event: what finds causal-sends and deliveries in the texts of a ShiViz log.

    Raises:
        InputError: the file cannot be read, or a line is no event; says which and why.
    """
    log = open_log(path, format, event)
    oracle, clocks = _Oracle(), Clocks()
    for happened in events(log, clocks.take):
        oracle.take(happened)
    if log.format == "shiviz" and not oracle.lines:
        raise InputError(
            f"{path}: no event is a causal-send or a delivery, such as 'causal-sends m1 to bob' or "
            "'delivers m1'; say with --event what they look like"
        )
    oracle.finish()
    clocks.finish()
    impossible = [Finding("clock", at.line, at.text, at.host) for at in clocks.faults]
    findings = sorted([*oracle.findings, *impossible], key=lambda found: found.line)
    return Audit(
        findings=tuple(_with_chains(log, findings)),
        undelivered=tuple(oracle.undelivered()),
        actors=len(oracle.clocks),
        causal_sends=oracle.causal_sends,
        deliveries=oracle.deliveries,
        lines=oracle.lines,
    )


@define
class _Sent:
    """A message in transit: who sent it, as which of its messages, and with what in its past.

    `clock` is what the log says of the causal-send, if it does.
    """

    sender: str
    number: int
    line: int
    stamp: dict[str, int]
    waiting: set[str] | None
    clock: Mapping[str, int] | None = None
    delivered: set[str] = field(factory=set)


@define(eq=False)
class _Oracle:
    """Vector clocks, kept sparse; see `checker.semantics.history` for the rule."""

    clocks: dict[str, dict[str, int]] = field(factory=lambda: defaultdict(dict))
    known: dict[str, dict[str, int]] = field(factory=lambda: defaultdict(dict))
    sent: dict[str, _Sent] = field(factory=dict)
    done: set[str] = field(factory=set)
    blocked: dict[str, deque[Event]] = field(factory=dict)
    awaited: dict[str, list[str]] = field(factory=lambda: defaultdict(list))
    raised: dict[tuple[str, str], list[tuple[int, str]]] = field(factory=lambda: defaultdict(list))
    findings: list[Finding] = field(factory=list)
    causal_sends: int = 0
    deliveries: int = 0
    lines: int = 0

    def take(self, event: Event) -> None:
        """Take the next line."""
        self.lines += 1
        self.clocks[event.actor]
        if event.actor in self.blocked:
            self.blocked[event.actor].append(event)
        else:
            self._act(event)

    def _act(self, event: Event) -> None:
        ready = deque([event])
        while ready:
            now = ready.popleft()
            if now.actor in self.blocked:
                self.blocked[now.actor].append(now)
            elif now.kind == "causal-send":
                self._send(now)
                for actor in self.awaited.pop(now.message, []):
                    ready.extend(self.blocked.pop(actor))
            elif now.message in self.sent or now.message in self.done:
                self._deliver(now)
            else:
                self.blocked[now.actor] = deque([now])
                self.awaited[now.message].append(now.actor)

    def _send(self, event: Event) -> None:
        if event.message in self.sent or event.message in self.done:
            self._find("impossible", event, f"{event.message} is causal-sent a second time")
            return
        self.causal_sends += 1
        clock = self.clocks[event.actor]
        clock[event.actor] = clock.get(event.actor, 0) + 1
        waiting = None if event.to is None else set(event.to)
        self.sent[event.message] = _Sent(
            event.actor, clock[event.actor], event.line, dict(clock), waiting, event.clock
        )

    def _deliver(self, event: Event) -> None:
        self.deliveries += 1
        if event.message in self.done:
            self._find("integrity", event, f"{event.actor} delivers {event.message} again")
            return
        message = self.sent[event.message]
        if event.actor in message.delivered:
            self._find("integrity", event, f"{event.actor} delivers {event.message} again")
            return
        if message.waiting is not None and event.actor not in message.waiting:
            self._find(
                "integrity", event, f"{event.actor} delivers {event.message}, not sent to it"
            )
        self._compare(event, message)
        self._judge(event, message)
        self._learn(event, message)
        message.delivered.add(event.actor)
        if message.waiting is not None:
            message.waiting.discard(event.actor)
            if not message.waiting:
                del self.sent[event.message]
                self.done.add(event.message)

    def _compare(self, event: Event, message: _Sent) -> None:
        """Report a delivery whose clock, in the log, does not know all that the causal-send did."""
        if event.clock is None or message.clock is None:
            return
        for host, known in message.clock.items():
            if event.clock.get(host, 0) < known:
                text = (
                    f"the clock of {event.actor}, which delivers {event.message}, does not know of "
                    f"event {known} of {host}, which the causal-send in line {message.line} knows"
                )
                self._find("clock", event, text)
                return

    def _judge(self, event: Event, message: _Sent) -> None:
        if self.known[event.actor].get(message.sender, 0) < message.number:
            return
        raised = self.raised[event.actor, message.sender]
        at = bisect_left(raised, (message.number, ""))
        second = raised[min(at, len(raised) - 1)][1]
        self.findings.append(
            Finding(
                "causal-delivery",
                event.line,
                f"{event.actor} delivers {event.message} after {second}, which was causal-sent "
                f"later: {event.message} happened before {second}",
                event.actor,
                event.message,
                second,
            )
        )

    def _learn(self, event: Event, message: _Sent) -> None:
        known, clock = self.known[event.actor], self.clocks[event.actor]
        for sender, number in message.stamp.items():
            clock[sender] = max(clock.get(sender, 0), number)
            if number > known.get(sender, 0):
                known[sender] = number
                self.raised[event.actor, sender].append((number, event.message))

    def finish(self) -> None:
        """Report deliveries of messages that were never causal-sent; then go on without them."""
        while self.blocked:
            actor = min(self.blocked, key=lambda name: self.blocked[name][0].line)
            waiting = self.blocked.pop(actor)
            first = waiting.popleft()
            self.awaited[first.message].remove(actor)
            sent_later = any(
                event.kind == "causal-send" and event.message == first.message
                for queue in [*self.blocked.values(), waiting]
                for event in queue
            )
            why = "before it can have been" if sent_later else "and it was never"
            self._find("impossible", first, f"{actor} delivers {first.message}, {why} causal-sent")
            for event in waiting:
                self._act(event)

    def undelivered(self) -> Iterator[Finding]:
        """Yield the messages that some destination has not delivered."""
        for name, message in self.sent.items():
            if message.waiting:
                missing = ", ".join(sorted(message.waiting))
                text = f"{name} of {message.sender} was not delivered at {missing}"
                yield Finding("undelivered", message.line, text, message.sender, name)

    def _find(self, kind: str, event: Event, text: str) -> None:
        self.findings.append(Finding(kind, event.line, text, event.actor, event.message))


def _with_chains(log: Log, findings: list[Finding]) -> Iterator[Finding]:
    """Yield the findings, with the chains between the messages of the first violations."""
    wanted = [f for f in findings if f.kind == "causal-delivery"][:MOST_CHAINS]
    chains = {id(f): _chain(log, str(f.first), str(f.second)) for f in wanted}
    for finding in findings:
        yield evolve(finding, chain=chains.get(id(finding), ()))


def _chain(log: Log, first: str, second: str) -> tuple[str, ...]:
    """Return the messages by which the causal-send of `first` happened before that of `second`."""
    via: dict[str, str] = {}
    before: dict[str, str | None] = {}
    for event in _in_causal_order(log):
        if event.kind == "causal-send":
            if event.message == first:
                before[first] = None
                via[event.actor] = first
            elif event.actor in via:
                before[event.message] = via[event.actor]
        elif event.message in before and event.actor not in via:
            via[event.actor] = event.message
        if second in before:
            break
    chain: list[str] = []
    at: str | None = second if second in before else None
    while at is not None:
        chain.append(at)
        at = before[at]
    return tuple(reversed(chain))


def _in_causal_order(log: Log) -> Iterator[Event]:
    """Yield the events so that every message is causal-sent before it is delivered."""
    sent: set[str] = set()
    blocked: dict[str, deque[Event]] = {}
    awaited: dict[str, list[str]] = defaultdict(list)
    for line in events(log):
        ready = deque([line])
        while ready:
            event = ready.popleft()
            if event.actor in blocked:
                blocked[event.actor].append(event)
            elif event.kind == "deliver" and event.message not in sent:
                blocked[event.actor] = deque([event])
                awaited[event.message].append(event.actor)
            else:
                yield event
                if event.kind == "causal-send":
                    sent.add(event.message)
                    for actor in awaited.pop(event.message, []):
                        ready.extend(blocked.pop(actor))


def as_object(found: Audit, file: str) -> dict[str, Any]:
    """Return an audit for programs."""
    return {
        "schema": "antecede/audit/1",
        "log": file,
        "actors": found.actors,
        "causal_sends": found.causal_sends,
        "deliveries": found.deliveries,
        "lines": found.lines,
        "findings": [attrs.asdict(finding) for finding in (*found.findings, *found.undelivered)],
    }


def text(found: Audit, file: str, *, most: int = 50) -> str:
    """Return an audit for people; of each kind of finding at most `most`."""
    counts = (
        f"{found.lines:,} events of {found.actors:,} actors: {found.causal_sends:,} causal-sends, "
        f"{found.deliveries:,} deliveries"
    )
    wrong = [*found.findings, *found.undelivered]
    if not wrong:
        return f"{file}: HOLDS\n\n  {counts}; everything was delivered, in causal order."
    lines = [f"{file}: VIOLATED", "", f"  {counts}.", ""]
    for finding in wrong[:most]:
        lines.append(f"  line {finding.line}: {finding.kind}: {finding.text}.")
        if finding.chain:
            lines.append(f"    {' → '.join(finding.chain)}")
    if len(wrong) > most:
        lines.append(f"  … and {len(wrong) - most:,} more.")
    return "\n".join(lines)
