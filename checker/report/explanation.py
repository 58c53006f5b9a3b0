"""Explains a counterexample: what is violated, and the chain of events that shows it."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import attrs
from attrs import Factory, frozen

from antecede.checker.model import Message, Property, Request
from antecede.checker.paths.path import Loop, Path, undelivered
from antecede.checker.paths.violation import Violation, causal_violation
from antecede.checker.report.prose import Remarks, Words, listed, loop_text, pending
from antecede.checker.semantics.failing import FAILURES, failure_in
from antecede.checker.semantics.values import contains


@frozen
class Explanation:
    """Why a path violates a property.

    Attributes:
        text: the reason, in sentences.
        details: lines that belong to it, such as the final states.
        remarks: what is wrong with which delivery.
    """

    text: str
    details: tuple[str, ...] = ()
    remarks: Remarks = Factory(dict)


def explain(path: Path) -> Explanation:
    """Explain the property that `path` violates."""
    assert path.violates is not None, "only a counterexample can be explained"
    (prop,) = (p for p in path.system.properties if p.name == path.violates)
    explained = _EXPLAINED.get(prop.name, lambda _path: None)(path)
    return explained or _by_kind(path, prop)


def _by_kind(path: Path, prop: Property) -> Explanation:
    """Explain a property that this module does not know by name."""
    if prop.invariant is not None:
        return _invariant(path, prop)
    if prop.recoverable is not None:
        return _no_way_back(path)
    if path.loop is not None:
        return _for_ever(path, path.loop)
    if prop.final:
        return Explanation(f"The run is over, and its final state does not respect {prop.name}.")
    words = Words.of(path)
    for step in path.steps:
        for d in step.deliveries:
            if prop.at_delivery is not None and not prop.at_delivery(d):
                text = f"{words.actor(d.actor)} delivers {words.message(d.message)} (step "
                return Explanation(f"{text}{step.number}), which does not respect {prop.name}.")
    return Explanation(f"The path does not respect {prop.name}.")


_ENDINGS = {
    "stuck": "Nothing that may still happen delivers it.",
    "starved": "It is starved, not stuck: as soon as the application stops, it is delivered.",
    "waiting": "It is not delivered either when the application stops; only when it sends again.",
}
"""What becomes of a message that is never delivered; see `checker.search.fairness.ENDINGS`."""


def _for_ever(path: Path, loop: Loop) -> Explanation:
    """Explain a run without end that never delivers a message."""
    words = Words.of(path)
    name = words.message(loop.message)
    where = listed([words.actor(d) for d in pending(path.last, loop.message)])
    text = f"{name} ({words.actor(loop.message.sender)} to {where}) is never delivered. "
    if not path.repeats:
        return Explanation(f"{text}The run is over: nothing more can happen.")
    text += (
        f"{loop_text(path)}: after them all is as it was before, but for other messages of the "
        f"same kind. {_ENDINGS[loop.ending]}"
    )
    strong = path.system.network.lose is not None
    fair = "again and again" if strong else "always"
    return Explanation(
        text, (f"Nothing is treated unfairly: what can {fair} be received is received.",)
    )


def _no_way_back(path: Path) -> Explanation:
    words = Words.of(path)
    last = path.steps[-1].state if path.steps else path.initial
    stuck = [words.message(m) for i in range(path.system.actors) for m in undelivered(last, i)]
    return Explanation(
        f"From here on nothing that can happen delivers all of {listed(stuck)}: every state that "
        "can still be reached leaves some of it undelivered."
    )


def _causal(path: Path) -> Explanation | None:
    violation = causal_violation(path)
    if violation is None:
        return None
    words = Words.of(path)
    first, second = words.message(violation.first), words.message(violation.second)
    text = f"{first} was causal-sent before {second}: {_chain_text(words, violation.chain)}. "
    return _wrong_order(path, violation, text)


def _chain_text(words: Words, chain: tuple[Message, ...]) -> str:
    """Return the happens-before chain from the first message's causal-send to the last one's."""
    clauses: list[str] = []
    sender = words.actor(chain[0].sender)
    if chain[0].sender != chain[1].sender:
        clauses.append(f"{sender} sent {words.message(chain[0])}")
    for before, after in pairwise(chain):
        actor, earlier = words.actor(after.sender), words.message(before)
        if before.sender == after.sender and clauses:
            clauses.append(f"{actor} then sent {words.message(after)}")
        elif before.sender == after.sender:
            clauses.append(f"{actor} sent {earlier}, then {words.message(after)}")
        else:
            clauses.append(f"{actor} delivered {earlier} and then sent {words.message(after)}")
    return "; ".join(clauses)


def _wrong_order(path: Path, violation: Violation, why: str) -> Explanation:
    """Finish the explanation of two messages delivered in the wrong order."""
    words, actor = Words.of(path), violation.actor
    late = _delivery_steps(path, actor, violation.first)[0]
    early = _delivery_steps(path, actor, violation.second)[0]
    text = (
        f"{why}{words.actor(actor)} delivered {words.message(violation.second)} (step {early}) "
        f"before {words.message(violation.first)} (step {late})."
    )
    remarks = {(early, violation.second): "too early", (late, violation.first): "too late"}
    return Explanation(text, remarks=remarks)


def _delivery_steps(path: Path, actor: int, message: Message) -> list[int]:
    return [
        step.number
        for step in path.steps
        for d in step.deliveries
        if d.actor == actor and d.message == message
    ]


def _fifo(path: Path) -> Explanation | None:
    """Find the delivery that was overtaken, and the later message that overtook it."""
    words = Words.of(path)
    before: list[tuple[int, Message]] = []
    for step in path.steps:
        for d in step.deliveries:
            if d.overtaken:
                first = d.message
                second = next(
                    m
                    for actor, m in before
                    if actor == d.actor and m.sender == first.sender and m.number > first.number
                )
                why = (
                    f"{words.actor(first.sender)} causal-sent {words.message(first)} before "
                    f"{words.message(second)}, both to {words.actor(d.actor)}. "
                )
                return _wrong_order(path, Violation(d.actor, first, second, (first, second)), why)
            before.append((d.actor, d.message))
    return None


def _integrity(path: Path) -> Explanation | None:
    words = Words.of(path)
    for step in path.steps:
        for d in step.deliveries:
            if d.expected:
                continue
            m, actor = d.message, words.actor(d.actor)
            name, earlier = words.message(m), _delivery_steps(path, d.actor, m)
            if m not in words.names:
                text = f"{actor} delivered {name} (step {step.number}), which was never causal-sent"
                return Explanation(text + ".", remarks={(step.number, m): "never sent"})
            if d.actor not in m.destinations:
                to = listed([words.actor(x) for x in m.destinations])
                text = f"{actor} delivered {name} (step {step.number}), but it was causal-sent to"
                return Explanation(f"{text} {to}.", remarks={(step.number, m): "wrong actor"})
            if earlier[0] == step.number:
                text = f"{actor} delivered {name} twice in step {step.number}."
                return Explanation(text, remarks={(step.number, m): "twice"})
            text = f"{actor} delivered {name} twice: at step {earlier[0]}, and again at step"
            return Explanation(f"{text} {step.number}.", remarks={(step.number, m): "again"})
    return None


def _all_delivered(path: Path) -> Explanation | None:
    words = Words.of(path)
    state = path.steps[-1].state if path.steps else path.initial
    lost = [m for i in range(path.system.actors) for m in undelivered(state, i)]
    if not lost:
        return None
    lost.sort(key=lambda m: path.messages.index(m))
    in_flight = "nothing is in flight" if not any(state.channels) else "packets are in flight still"
    routes = [f"{words.message(m)} ({_route(words, m)})" for m in lost]
    was = "was" if len(lost) == 1 else "were"
    text = (
        f"The run is over: {in_flight} and nothing more can happen, yet {listed(routes)} {was} "
        f"never delivered. {_places(words, state.actors, lost)}"
    )
    details = tuple(
        f"{words.actor(i)} ends as {words.value(local)}" for i, local in enumerate(state.actors)
    )
    return Explanation(text, details)


def _route(words: Words, message: Message) -> str:
    to = listed([words.actor(d) for d in message.destinations])
    return f"{words.actor(message.sender)} to {to}"


def _places(words: Words, states: tuple[Any, ...], lost: list[Message]) -> str:
    """Say where the undelivered messages are stuck, those of one place together."""
    stuck: dict[str, list[str]] = {}
    for message in lost:
        stuck.setdefault(_place(words, states, message), []).append(words.message(message))
    sentences = []
    for place, names in stuck.items():
        where = f"stuck in {place}" if place else "held by no actor any more"
        sentences.append(f"{listed(names)} {'is' if len(names) == 1 else 'are'} {where}")
    return "; ".join(sentences) + "."


def _place(words: Words, states: tuple[Any, ...], message: Message) -> str:
    """Return which actors hold `message` and in which field of their state; empty if none does."""
    places = []
    for actor, local in enumerate(states):
        fields = attrs.fields(type(local)) if attrs.has(type(local)) else ()
        held = [a.name for a in fields if contains(getattr(local, a.name), message)]
        if held:
            places.append(f"{words.actor(actor)}'s {listed(held)}")
        elif not fields and contains(local, message):
            places.append(f"{words.actor(actor)}'s state")
    return listed(places) if places else ""


def _invariant(path: Path, prop: Property) -> Explanation:
    assert prop.invariant is not None
    words = Words.of(path)
    name = prop.name.partition(":")[2] or prop.name
    states = [(0, path.initial), *((s.number, s.state) for s in path.steps)]
    for number, state in states:
        for actor, local in enumerate(state.actors):
            if not prop.invariant(local):
                when = f"After step {number}" if number else "From the start"
                text = f"{when}, {words.actor(actor)}'s state does not respect {name}."
                return Explanation(text, (f"{words.actor(actor)} is {words.value(local)}",))
    return Explanation(f"No state on the path breaks {name}.")


def _finishes(path: Path) -> Explanation | None:
    """Say of each application that has not come to its end what it waits for."""
    words, system = Words.of(path), path.system
    last = path.steps[-1].state if path.steps else path.initial
    waiting = []
    for actor, position in enumerate(last.workload):
        if not system.workload.ended(actor, position):
            requests = system.workload.requests
            found = None if requests is None else _waits(path, words, actor, requests[actor])
            waiting.append(f"{words.actor(actor)} {found or 'never causal-sends all its messages'}")
    return Explanation(f"The run is over, but {listed(waiting)}.") if waiting else None


def _waits(path: Path, words: Words, actor: int, requests: tuple[Request, ...]) -> str | None:
    """Say which receive of a program keeps it waiting, if one does."""
    names = {(m.sender, m.number): words.message(m) for m in path.messages}
    inbox = [d.message for s in path.steps for d in s.deliveries if d.actor == actor and d.expected]
    for number, request in enumerate(requests, 1):
        accepts = sorted(request.accepts or ())
        wanted = " or ".join(names.get(m, "a message never sent") for m in accepts) or "a message"
        if number > len(inbox):
            return f"waits for {wanted}, which does not come"
        head = inbox[number - 1]
        if not request.takes((head.sender, head.number)):
            return f"waits for {wanted}, while {words.message(head)} is first in its inbox"
    return None


def _failing(path: Path) -> Explanation | None:
    """Say what failed, and how; it did so in the last step."""
    failure = failure_in(path.last.actors)
    return None if failure is None else Explanation(f"There {failure.error}.")


_EXPLAINED = {
    **dict.fromkeys(FAILURES, _failing),
    "causal-delivery": _causal,
    "fifo-delivery": _fifo,
    "integrity": _integrity,
    "all-delivered": _all_delivered,
    "finishes": _finishes,
}
