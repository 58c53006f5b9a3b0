"""Events whose order is known in part: which violations happen in every order?

A delivery is late in every order if its message is known by events that are certainly earlier: from
one moment to a later one (see `events.moments`). It is late in no order if its message is not even
known in case each event of a moment comes after all others of the moment. Between the two, the
order decides. Messages that one step delivers arrive together, so none of them is late because of
another one.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import chain

from attrs import define, evolve, field, frozen

from antecede.checker.logs.events.capacity import OFTEN, check_memory
from antecede.checker.logs.events.event import DELIVER, SEND
from antecede.checker.logs.events.moments import Moments, Step
from antecede.checker.logs.judge.findings import Audit
from antecede.checker.logs.readers.spans import DIVIDED
from antecede.checker.support.amounts import counted


@frozen
class Known:
    """Known messages.

    Attributes:
        until: actor -> the number of its first moments of which all messages are known.
        single: known messages of moments of which not all messages are known.
    """

    until: Mapping[str, int] = field(factory=dict)
    single: frozenset[str] = frozenset()


def _together(parts: Iterable[Known]) -> Known:
    until, single = dict[str, int](), frozenset[str]()
    for part in parts:
        for actor, count in part.until.items():
            until[actor] = max(until.get(actor, 0), count)
        single |= part.single
    return Known(until, single)


@define(eq=False)
class _Search:
    """Follows what is known from moment to moment.

    Attributes:
        certain: only certain orders count; otherwise all possible ones do.
        sent: message -> the actor and the moment of its causal-send.
        stamps: message -> the messages known to its causal-send, and itself.
        known: actor -> the messages that it knows from deliveries.
        delivered: actor -> the messages that it has delivered.
        late: the actors and messages of late deliveries.
        visited: actor -> the number of its moments that were visited.
        unsure: actor -> messages that its next moment delivers, the last one first. They may not
            have been sent yet.
        waiting: the actor and number of a moment -> the actors that wait for it.
        impossible: deliveries that are left out, because they wait for each other in a circle:
            actor, number of the moment, and message.
    """

    own: Mapping[str, Sequence[Sequence[Step]]]
    certain: bool
    sent: dict[str, tuple[str, int]] = field(factory=dict)
    sends: Counter[tuple[str, int]] = field(factory=Counter)
    stamps: dict[str, Known] = field(factory=dict)
    known: dict[str, Known] = field(factory=lambda: defaultdict(Known))
    delivered: dict[str, set[str]] = field(factory=lambda: defaultdict(set))
    late: set[tuple[str, str]] = field(factory=set)
    visited: Counter[str] = field(factory=Counter)
    unsure: dict[str, list[str]] = field(factory=dict)
    waiting: dict[tuple[str, int], list[str]] = field(factory=lambda: defaultdict(list))
    impossible: set[tuple[str, int, str]] = field(factory=set)
    visits: int = 0

    def run(self) -> bool:
        """Visit all moments; return whether all deliveries can happen."""
        for actor, moments in self.own.items():
            for at, moment in enumerate(moments):
                for message in (m for step in moment for m in step.messages(SEND)):
                    self.sent[message] = actor, at
                    self.sends[actor, at] += 1
        for actor in self.own if self.certain else ():
            self._send(actor, 0)
        ready = [*self.own]
        while ready:
            self._advance(ready)
            ready = self._leave_out_circles()
        return not self.impossible

    def _advance(self, ready: list[str]) -> None:
        """Visit the next moments of some actors, and of the actors that waited for these."""
        while ready:
            actor = ready.pop()
            while (at := self.visited[actor]) < len(self.own[actor]):
                if self._waits(actor, at):
                    break
                self._visit(actor, at)
                self.visited[actor] += 1
                ready += self.waiting.pop((actor, at), ())
                self.visits += 1
                if self.visits % OFTEN == 0:
                    check_memory()

    def _waits(self, actor: str, at: int) -> bool:
        """Return whether the next moment of an actor has to wait for a moment to come."""
        if actor not in self.unsure:
            step_messages = (step.messages(DELIVER) for step in self.own[actor][at])
            self.unsure[actor] = [*chain.from_iterable(step_messages)][::-1]
        unsure = self.unsure[actor]
        while unsure:
            sender, moment = needed = self._needed(unsure[-1])
            own_moment = needed == (actor, at) and not self.certain
            if self.visited[sender] <= moment and not own_moment:
                self.waiting[needed].append(actor)
                return True
            unsure.pop()
        del self.unsure[actor]
        return False

    def _needed(self, message: str) -> tuple[str, int]:
        """Return the actor and the moment that must come before a delivery; -1 is no moment."""
        actor, moment = self.sent[message]
        return actor, moment - self.certain

    def _leave_out_circles(self) -> list[str]:
        """Leave out the deliveries that wait for each other in a circle; return their actors."""
        left_out, done = list[str](), set[str]()
        for actor in self.unsure:  # each of them waits for another one, or for itself
            path = list[str]()
            while actor not in done:
                done.add(actor)
                path.append(actor)
                actor, _ = self._needed(self.unsure[actor][-1])
            left_out += path[path.index(actor) :] if actor in path else []
        for actor in left_out:
            self.impossible.add((actor, self.visited[actor], self.unsure[actor].pop()))
        return left_out

    def _send(self, actor: str, at: int) -> None:
        """Give the messages of a moment their stamps."""
        known = self.known[actor]
        for message in (m for step in self.own[actor][at] for m in step.messages(SEND)):
            together = self.certain and self.sends[actor, at] > 1
            until = {actor: at if together else at + 1}
            single = frozenset([message] if together else [])
            self.stamps[message] = _together([known, Known(until, single)])

    def _visit(self, actor: str, at: int) -> None:
        new = [
            [m for m in step.messages(DELIVER) if self._counts(actor, at, m)]
            for step in self.own[actor][at]
        ]
        told = [_together(self._stamp(message) for message in messages) for messages in new]
        before = self.known[actor]
        for messages, others in zip(new, _others(before, told), strict=True):
            known = before if self.certain else others
            self.late |= {(actor, message) for message in messages if self._knows(known, message)}
            self.delivered[actor].update(messages)
        self.known[actor] = self._shorter(_together([before, *told]))
        if not self.certain:
            self._send(actor, at)
        elif at + 1 < len(self.own[actor]):
            self._send(actor, at + 1)

    def _counts(self, actor: str, at: int, message: str) -> bool:
        """Return whether a delivery of a moment is the first one of its message, and possible."""
        return message not in self.delivered[actor] and (actor, at, message) not in self.impossible

    def _stamp(self, message: str) -> Known:
        if message in self.stamps:
            return self.stamps[message]
        actor, at = self.sent[message]  # the same moment, if an order is only possible
        return Known({actor: at + 1})

    def _knows(self, known: Known, message: str) -> bool:
        actor, at = self.sent[message]
        return known.until.get(actor, 0) > at or message in known.single

    def _shorter(self, known: Known) -> Known:
        """Remove single messages that are among all messages of known moments."""
        if not known.single:
            return known
        all_known = Known(known.until)
        return Known(
            known.until, frozenset(m for m in known.single if not self._knows(all_known, m))
        )


def _others(before: Known, told: Sequence[Known]) -> Iterator[Known]:
    """Yield, for each part of `told`, `before` together with all other parts."""
    if len(told) == 1:
        yield before
        return
    after = [Known()]
    for part in reversed(told[1:]):
        after.append(_together([after[-1], part]))
    for part, later in zip(told, reversed(after), strict=True):
        yield _together([before, later])
        before = _together([before, part])


def late(moments: Moments, *, certain: bool) -> tuple[set[tuple[str, str]], bool]:
    """Return the actors and messages of late deliveries, and whether all events can happen.

    With `certain`, these are the deliveries that are late in all orders, and otherwise those that
    may be late in one. Deliveries that wait for each other in a circle cannot happen.
    """
    search = _Search(moments.own, certain)
    can_happen = search.run()
    return search.late, can_happen


MOST_NAMED = 3
"""The most moments or services that a sentence of the report names."""


def in_every_order(found: Audit, moments: Moments) -> Audit:
    """Return the audit of one order of the spans as an audit of all possible orders."""
    undecided = ""
    if not moments.ordered:
        possible, can_happen = late(moments, certain=False)
        certain, never_waits = late(moments, certain=True)
        findings = tuple(
            each
            for each in found.findings
            if (each.kind == "causal-delivery" and (each.actor, each.first) in certain)
            or each.kind == "integrity"
            or (each.kind == "impossible" and not never_waits)
        )
        found = evolve(found, findings=findings)
        if possible - certain or can_happen != never_waits:
            undecided = _undecided(moments)
    return evolve(
        found,
        left_out=left_out(moments),
        undecided=undecided,
        warnings=(
            *_lacking(moments),
            *_instances(moments),
            *(_warnings(moments) if found.findings else ()),
        ),
    )


def _undecided(moments: Moments) -> str:
    """Return a sentence that names events of unknown order."""
    places = []
    for moment in moments.unordered()[:MOST_NAMED]:
        lines = sorted({event.line for step in moment for event in step.events})
        where = f"{'line' if len(lines) == 1 else 'lines'} {', '.join(map(str, lines))}"
        places.append(f"{moment[0].events[0].actor} in {where}")
    more = ", …" if len(moments.unordered()) > MOST_NAMED else ""
    return (
        "whether deliveries violate causal order may depend on the order of spans that have equal "
        f"times: {'; '.join(places)}{more}. Record times with a finer clock"
    )


def left_out(moments: Moments) -> tuple[str, ...]:
    """Return clauses about the spans that are not judged."""
    reasons = [
        reason.format(spans=counted(number, "span"), documents=counted(number, "document"))
        for reason, number in moments.left_out
    ]
    return (*reasons, *(DIVIDED.format(actor=actor) for actor in sorted(moments.divided)))


def _lacking(moments: Moments) -> Iterator[str]:
    """Yield warnings about attributes that name actors, and that spans lack."""
    for name, number in moments.lacking:
        lack = "lacks" if number == 1 else "lack"
        yield (
            f"{counted(number, 'span')} of producers and consumers {lack} the attribute {name!r} "
            "of --fields, so the service names the actor there"
        )


def _instances(moments: Moments) -> Iterator[str]:
    """Yield warnings about actors that may be several: one for each actor, and few in all."""
    first = {actor: (name, values) for actor, name, values in reversed(moments.apart)}
    for actor in sorted(first)[:MOST_NAMED]:
        name, values = first[actor]
        more = ", …" if len(values) > MOST_NAMED else ""
        yield (
            f"{actor} counts as one actor, although its spans have {len(values)} values of {name} "
            f"({', '.join(values[:MOST_NAMED])}{more}). If these are several actors, tell them "
            f"apart with --fields actor=service.name+{name}"
        )


def _warnings(moments: Moments) -> tuple[str, ...]:
    if not moments.unnamed:
        return ()
    names = sorted(moments.unnamed)
    more = f" and {len(names) - MOST_NAMED} more" if len(names) > MOST_NAMED else ""
    return (
        f"no service.instance.id at {', '.join(names[:MOST_NAMED])}{more}. If several instances of "
        "such a service ran, they count as one actor here, and a finding may be wrong",
    )
