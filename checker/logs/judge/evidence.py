"""The events that show a finding which is no late delivery: the sends and deliveries of a message.

A message that was delivered before it can have been sent belongs to a circle: its sender waits for
a message whose sender waits, and so on, until the one who waits for the first message.
"""

from __future__ import annotations

from collections import Counter, defaultdict, deque
from collections.abc import Callable, Iterable, Sequence, Set

from attrs import evolve

from antecede.checker.logs.events.event import DELIVER, MISSING, SEND, Event
from antecede.checker.logs.judge.findings import Finding

MOST_SHOWN = 20
"""The most findings with events, for each kind of mistake."""

MOST_SENDERS = 4
"""The most actors that are shown to send a message of one name."""

MOST_MISSING = 10
"""The most destinations that are shown to lack a message."""


def with_events(
    findings: Sequence[Finding], about: Callable[[Set[str]], Iterable[tuple[Event, bool]]]
) -> list[Finding]:
    """Return findings, the first of each kind with their events; late deliveries have theirs.

    `about` yields the events of messages, so that each actor's events are in order, and whether
    each counts.
    """
    kinds = defaultdict[str, list[Finding]](list)
    for each in findings:
        if each.what not in ("", "late"):
            kinds[each.what].append(each)
    if not kinds:
        return [*findings]
    wanted = [each for some in kinds.values() for each in some[:MOST_SHOWN]]
    early = kinds.get("too soon", [])
    shown = wanted + early
    actors = defaultdict[str, set[str]](set)
    for each in shown:
        actors[str(each.first)].add(each.actor)
    events = [
        (event, counts)
        for event, counts in about(actors.keys())
        if event.kind == SEND or event.actor in actors[event.message]
    ]
    chosen = {id(each) for each in wanted}
    circles = _Circles(events, early)
    return [
        each
        if id(each) not in chosen
        else circles.shown(each)
        if each.what == "too soon"
        else evolve(each, events=tuple(_events(each, events)))
        for each in findings
    ]


def with_missing(findings: Sequence[Finding]) -> tuple[Finding, ...]:
    """Return messages that were not delivered, the first of them with their events."""

    def events(each: Finding) -> list[Event]:
        sent = Event(each.line, each.actor, SEND, str(each.first), log=each.log)
        there = each.missing[:MOST_MISSING]
        return [sent, *(evolve(sent, actor=actor, kind=MISSING) for actor in there)]

    shown = findings[:MOST_SHOWN]
    return (*(evolve(each, events=tuple(events(each))) for each in shown), *findings[MOST_SHOWN:])


def is_about(finding: Finding, event: Event) -> bool:
    """Return whether a finding stands at an event."""
    here = (finding.log, finding.line, finding.actor, finding.first)
    return here == (event.log, event.line, event.actor, event.message)


def _events(finding: Finding, every: Sequence[tuple[Event, bool]]) -> list[Event]:
    """Return the send of a finding's message, an earlier event of this kind, and its own event."""
    mine = [(event, counts) for event, counts in every if event.message == finding.first]
    sends = {event.actor: event for event, _ in reversed(mine) if event.kind == SEND}
    own = next((e for e, _ in reversed(mine) if is_about(finding, e)), None)
    if finding.what == "shared":
        others = [sends[actor] for actor in sorted(sends.keys() - {finding.actor})]
        return [*others[: MOST_SENDERS - 1], *([own] if own else [])]
    counting = [event for event, counts in mine if counts]
    before = [event for event in counting if event.kind == SEND]
    if finding.what == "again":
        before += [e for e in counting if e.kind == DELIVER and e.actor == finding.actor]
    return [*before, *([own] if own else [])]


class _Circles:
    """Deliveries of messages that were not sent yet.

    Attributes:
        sends: message -> its send, and the number of this event among the events of its actor.
        early: actor -> its deliveries of messages that were not sent yet, with such numbers.
    """

    def __init__(self, events: Sequence[tuple[Event, bool]], findings: Sequence[Finding]) -> None:
        self.sends = dict[str, tuple[Event, int]]()
        self.early = defaultdict[str, list[tuple[Event, int]]](list)
        places = {(each.log, each.line, each.actor, each.first) for each in findings}
        number = Counter[str]()
        for event, counts in events:
            number[event.actor] += 1
            place = (event.log, event.line, event.actor, event.message)
            if event.kind == SEND and counts:
                self.sends[event.message] = event, number[event.actor]
            elif event.kind == DELIVER and not counts and place in places:
                self.early[event.actor].append((event, number[event.actor]))

    def shown(self, finding: Finding) -> Finding:
        """Return a finding with a circle through its delivery: the messages, and their events."""
        own = self.early[finding.actor]
        circle = self._circle(
            next(at for at, (e, _) in enumerate(own) if is_about(finding, e)), finding.actor
        )
        events = circle[:1]
        for delivery in reversed(circle):
            events.append(self.sends[delivery.message][0])
            events += [delivery] if delivery is not circle[0] else []
        chain = (circle[0].message, *(each.message for each in reversed(circle)))
        return evolve(finding, chain=chain, events=tuple(events))

    def _circle(self, at: int, actor: str) -> list[Event]:
        """Return the deliveries of a shortest circle that begins with a delivery of an actor.

        The sender of each message has the next delivery before its send.
        """
        begin, mine = (actor, at), self.early[actor][at][1]
        reached: dict[tuple[str, int], tuple[str, int] | None] = {begin: None}
        ready, seen = deque([begin]), Counter[str]()
        while ready:
            here = ready.popleft()
            send, limit = self.sends[self.early[here[0]][here[1]][0].message]
            if send.actor == actor and mine < limit:
                break
            own = self.early[send.actor]
            while seen[send.actor] < len(own) and own[seen[send.actor]][1] < limit:
                there = send.actor, seen[send.actor]
                if there not in reached:
                    reached[there] = here
                    ready.append(there)
                seen[send.actor] += 1
        path = [here]
        while (step := reached[path[-1]]) is not None:
            path.append(step)
        return [self.early[of][number][0] for of, number in reversed(path)]
