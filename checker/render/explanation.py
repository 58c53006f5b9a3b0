"""Explanations of counterexamples: the violation and the chain of events that proves it."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Mapping
from itertools import pairwise

from attrs import Factory, frozen

from antecede.checker.liveness.starvation import FAIRNESS
from antecede.checker.model import (
    CausalSend,
    Message,
    Property,
    Receive,
    Request,
    State,
    What,
    When,
)
from antecede.checker.paths.flights import Flight, flights_of
from antecede.checker.paths.path import Path, PathStep, first_shown
from antecede.checker.paths.violation import Violation, Wrong, lost, wrong_delivery, wrong_order
from antecede.checker.render.prose import Remarks, Wording, listed, loop_text
from antecede.checker.semantics.crashes import is_live
from antecede.checker.semantics.failing import failure_in, failure_of, is_declared
from antecede.checker.semantics.judge import Fault, pending, things
from antecede.checker.semantics.values import contains, field_names, message_in, packet_class, shown
from antecede.checker.support.registry import KINDS

_KIND_OF_CLAIM = re.compile(r"^(safety|reachability|at final states): ")

_KINDS_OF_PARTS = ("action", "property", *(kind for kind, *_ in KINDS.values()))
"""The words that an error may have before the name of a part of a protocol or question."""


@frozen
class Explanation:
    """The reason why a path violates a property.

    Attributes:
        details: additional lines, such as the final states.
        remarks: short descriptions of wrong deliveries.
    """

    text: str
    details: tuple[str, ...] = ()
    remarks: Remarks = Factory(dict)


def explain(path: Path) -> Explanation:
    """Explain why `path` violates its property."""
    prop = path.violated
    assert prop is not None, "only a counterexample can be explained"
    how = _EXPLAINED.get((prop.what, prop.when))
    return (how and how(path, prop)) or Explanation(f"The run violates {claim_of(prop)}.")


def claim_of(prop: Property) -> str:
    """Return what a property says, as a part of a sentence: its summary, or else its name."""
    kind, _, name = prop.name.partition(":")
    if kind in KINDS:
        return f"the predicate `{name}`"
    return _KIND_OF_CLAIM.sub("", prop.summary) or prop.name


def _false_for(prop: Property, who: str) -> str:
    """Return a clause: what a property says is false for some actors."""
    if is_declared(prop.name):
        return f"{claim_of(prop)} is false for {who}"
    return f"this is false for {who}: {claim_of(prop)}"


_ENDINGS = {
    "stuck": "Nothing that may still happen delivers it.",
    "starved": "It is starved, not stuck: as soon as the application stops, it is delivered.",
    "avoided": "It may be delivered if the application sends nothing more, but it need not be.",
    "waiting": "It is delivered only if the application sends again.",
    "undecided": "Whether it is delivered when the application stops, or sends again, is open.",
}
"""The fate of a message that is never delivered; see `checker.liveness.fairness.ENDINGS`."""


def _for_ever(path: Path, _prop: Property) -> Explanation | None:
    """Explain a run without end that never delivers a message."""
    words, loop = Wording.of(path), path.loop
    if loop is None:
        return None
    name = words.said(loop.message)
    where = listed([words.actor(d) for d in pending(path.last, loop.message)])
    text = f"{name} ({words.actor(loop.message.sender)} to {where}) is never delivered. "
    if not path.repeats:
        return Explanation(f"{text}The run is over: nothing more can happen.")
    sends = any(isinstance(step.transition, CausalSend) for step in path.steps[loop.after :])
    new = ", except that new messages have taken the place of old ones" if sends else ""
    text += (
        f"{loop_text(path)}: after them the state is the same as before{new}. "
        f"{_ENDINGS[loop.ending]}"
    )
    assumed = FAIRNESS[path.system.network.lose is not None]
    place = _place(words, path.last, loop.message)
    states = [step.state for step in path.steps[loop.after :]]
    exists = any(contains((s.actors, s.channels), loop.message) for s in states)
    elsewhere = "on its way again and again" if exists else "in no packet and in no actor's state"
    return Explanation(
        text,
        (
            f"{name} waits in {place}." if place else f"{name} is {elsewhere}.",
            _why_again(path),
            f"The run is fair: {assumed}, and a timer or action that stays enabled happens.",
        ),
    )


def _why_again(path: Path) -> str:
    """Return a sentence that says why each step of the cycle can repeat."""
    loop = path.loop
    assert loop is not None, "only a run without end repeats"
    steps = path.steps[loop.after :]
    met, before = flights_of(path).met, _of_the_round_before(path)
    sends = [str(s.number) for s in steps if isinstance(s.transition, CausalSend)]
    parts = [f"in {listed(sends)} the application goes on"] if sends else []
    for step in steps:
        flight = met.get(step.number)
        if isinstance(step.transition, Receive) and flight is not None:
            parts.append(_received(step, flight, loop.after, before))
        elif not isinstance(step.transition, CausalSend):
            parts.append(f"{step.number} is enabled again")
    return f"Why each step comes again: {'; '.join(parts)}."


def _received(step: PathStep, flight: Flight, after: int, before: dict[int, int]) -> str:
    """Return the packet that a step receives and the step that sends it, in words."""
    what = packet_class(flight.packet)
    if flight.since > after:
        return f"{step.number} receives the {what} of {flight.since}"
    if (sender := before.get(step.number)) is not None:
        return f"{step.number} receives the {what} that {sender} sends in the round before"
    return f"{step.number} receives a {what} that stays in flight"


def _of_the_round_before(path: Path) -> dict[int, int]:
    """Return a mapping: step that receives a packet from before the cycle -> its sender later.

    In later rounds, such a step receives a packet of the previous round. The state repeats, so each
    round leaves as many packets of a class on a channel as it takes from the previous round.
    """
    assert path.loop is not None
    left, flights = defaultdict[tuple[int, int, str], list[int]](list), flights_of(path)
    for flight in flights.every:
        if flight.since > path.loop.after and flight.in_flight:
            left[flight.src, flight.dst, packet_class(flight.packet)].append(flight.since)
    senders = dict[int, int]()
    for number, flight in sorted(flights.met.items()):
        waiting = left[flight.src, flight.dst, packet_class(flight.packet)]
        if path.loop.covers(number) and not path.loop.covers(flight.since) and waiting:
            senders[number] = waiting.pop(0)
    return senders


def _no_way_back(path: Path, prop: Property) -> Explanation:
    words = Wording.of(path)
    stuck = []
    if prop.what is What.UNDELIVERED:
        here = things(path.system, prop, path.last)
        stuck = [words.said(message) for row in here for message in row]
    if not stuck:
        return Explanation(f"From here on, nothing leads to this: {claim_of(prop)}.")
    return Explanation(
        "No continuation of this run reaches a state in which every message is delivered. "
        f"Here, {listed(stuck)} {'is' if len(stuck) == 1 else 'are'} undelivered."
    )


def _delivery(path: Path, prop: Property) -> Explanation | None:
    """Explain the fault of the delivery that violates the property."""
    words, wrong, pair = Wording.of(path), wrong_delivery(path), wrong_order(path)
    if wrong is None:
        return None
    if pair is not None:
        return _wrong_order(path, pair, known=wrong.fault is Fault.CAUSALLY_LATE)
    if wrong.fault is Fault.UNEXPECTED:
        return _unexpected(path, wrong)
    who, name = words.actor(wrong.delivery.actor), words.said(wrong.delivery.message)
    text = f"{who} delivers {name} (step {wrong.step}), and so this is false: {claim_of(prop)}."
    return Explanation(text)


def _chain_text(words: Wording, chain: tuple[Message, ...]) -> str:
    """Return the happens-before chain from the first message's causal-send to the last one's."""
    clauses: list[str] = []
    sender = words.actor(chain[0].sender)
    if chain[0].sender != chain[1].sender:
        clauses.append(f"{sender} sent {words.said(chain[0])}")
    for before, after in pairwise(chain):
        actor, earlier = words.actor(after.sender), words.said(before)
        if before.sender == after.sender and clauses:
            clauses.append(f"{actor} then sent {words.said(after)}")
        elif before.sender == after.sender:
            clauses.append(f"{actor} sent {earlier}, then {words.said(after)}")
        else:
            clauses.append(f"{actor} delivered {earlier}, then sent {words.said(after)}")
    return "; ".join(clauses)


def _wrong_order(path: Path, pair: Violation, *, known: bool) -> Explanation:
    """Explain two messages delivered in the wrong order.

    `known` means that the actor causally knew of the first message when it delivered the second.
    """
    words = Wording.of(path)
    actor = words.actor(pair.actor)
    first, second = words.said(pair.first), words.said(pair.second)
    why = f"{words.actor(pair.first.sender)} sent {first} before {second}"
    if known:
        why = f"{first} happened before {second}: {_chain_text(words, pair.chain)}"
    late = _delivery_steps(path, pair.actor, pair.first)[0]
    early = _delivery_steps(path, pair.actor, pair.second)[0]
    text = f"{actor} delivers {second} before {first}, although {why}."
    remarks = {(early, pair.second): "too early", (late, pair.first): "too late"}
    return Explanation(text, remarks=remarks)


def _delivery_steps(path: Path, actor: int, message: Message) -> list[int]:
    return [
        step.number
        for step in path.steps
        for d in step.deliveries
        if d.actor == actor and d.message == message
    ]


def _unexpected(path: Path, wrong: Wrong) -> Explanation:
    """Explain a delivery at an actor that is no destination, or a second delivery."""
    words, m, at = Wording.of(path), wrong.delivery.message, wrong.step
    text, earlier = "", _delivery_steps(path, wrong.delivery.actor, m)[0]
    if m not in words.names:
        text, remark = f" (step {at}), which was never sent", "never sent"
    elif wrong.delivery.actor not in m.destinations:
        to = listed([words.actor(x) for x in m.destinations])
        text, remark = f" (step {at}), but it was sent to {to}", "wrong actor"
    elif earlier == at:
        text, remark = f" twice in step {at}", "twice"
    else:
        text, remark = f" twice: at step {earlier}, and again at step {at}", "again"
    text = f"{words.actor(wrong.delivery.actor)} delivered {words.said(m)}{text}."
    return Explanation(text, remarks={(at, m): remark})


def _undelivered(path: Path, _prop: Property) -> Explanation | None:
    words, state, missing = Wording.of(path), path.last, list(lost(path))
    if not missing:
        return None
    in_flight = "nothing is in flight" if not any(state.channels) else "packets are still in flight"
    routes = [f"{words.said(m)} ({_route(words, m)})" for m in missing]
    was = "was" if len(missing) == 1 else "were"
    text = (
        f"The run is over: {in_flight} and nothing more can happen, yet {listed(routes)} {was} "
        f"never delivered. {_places(path, words, missing)}"
    )
    return Explanation(text, _endings(path))


def _partly(path: Path, _prop: Property) -> Explanation | None:
    """Explain which live receivers have delivered a message, and which never do."""
    words, state, missing = Wording.of(path), path.last, list(lost(path))
    if not missing:
        return None
    steps = {(d.actor, d.message): s.number for s in reversed(path.steps) for d in s.deliveries}
    clauses = []
    for message in missing:
        waiting = pending(state, message)
        live = [i for i in message.destinations if is_live(state, i)]
        done = [i for i in live if i not in waiting]
        did, never = (
            listed(list(map(words.actor, actors))) for actors in (done, set(live) - set(done))
        )
        at = listed([str(step) for step in sorted(steps[i, message] for i in done)])
        when = f"(step{'s' * (len(done) > 1)} {at})"
        clauses.append(f"{did} delivered {words.said(message)} {when}, and {never} never did")
    text = f"The run is over: {'; '.join(clauses)}. {_places(path, words, missing)}"
    return Explanation(text, _endings(path))


def _endings(path: Path) -> tuple[str, ...]:
    """Return a line on the last state of each actor."""
    words = Wording.of(path)
    last = enumerate(path.last.actors)
    return tuple(f"{words.actor(i)} ends as {words.value(local)}" for i, local in last)


def _route(words: Wording, message: Message) -> str:
    to = listed([words.actor(d) for d in message.destinations])
    return f"{words.actor(message.sender)} to {to}"


def _places(path: Path, words: Wording, missing: list[Message]) -> str:
    """Return a sentence on the losses and places of the undelivered messages, grouped by them."""
    grouped: dict[tuple[int | None, str], list[str]] = {}
    for message in missing:
        fate = _lost_in(path, message), _place(words, path.last, message)
        grouped.setdefault(fate, []).append(words.said(message))
    return "; ".join(_fate(listed(n), len(n) == 1, *fate) for fate, n in grouped.items()) + "."


def _fate(names: str, single: bool, step: int | None, place: str) -> str:
    """Return a clause on messages that a step lost, or that are stuck in a place."""
    if step is not None:
        rest = f" and {'remains' if single else 'remain'} in {place}" if place else ""
        return f"{names} {'was' if single else 'were'} lost in step {step}{rest}"
    where = f"stuck in {place}" if place else "no longer in any actor's state"
    return f"{names} {'is' if single else 'are'} {where}"


def _lost_in(path: Path, message: Message) -> int | None:
    """Return the step that lost the last packet with a message, or None.

    These are the packets to the destinations that have not delivered the message or, if there are
    none, to other actors. None of these destinations may keep the message.
    """
    waiting = pending(path.last, message)
    if any(contains(shown(path.last.actors[i]), message) for i in waiting):
        return None
    carrying = [f for f in flights_of(path).every if message_in(f.packet) == message]
    last = [f for f in carrying if f.dst in waiting] or carrying
    if any(f.in_flight for f in last):
        return None
    ends = [(s.number, s is f.lost) for f in last for s in (*f.receptions, f.lost) if s is not None]
    step, is_lost = max(ends, default=(0, False))
    return step if is_lost else None


def _place(words: Wording, state: State, message: Message) -> str:
    """Return the actors where `message` is stuck, with the field of their state, or "".

    These are the destinations that keep it undelivered. If there are none, these are the other
    actors that keep it, except destinations that have delivered it.
    """
    waiting = pending(state, message)
    others = [i for i in range(len(state.actors)) if i not in message.destinations]
    for actors in (waiting, others):
        places = [place for i in actors if (place := _kept_by(words, state, i, message))]
        if places:
            return listed(places)
    return ""


def _kept_by(words: Wording, state: State, actor: int, message: Message) -> str:
    """Return the fields of an actor's state that hold `message`, in words, or ""."""
    local = shown(state.actors[actor])
    fields = field_names(local) or ()
    held = [name for name in fields if contains(getattr(local, name), message)]
    if held:
        return f"{words.actor(actor)}'s {listed(held)}"
    return f"{words.actor(actor)}'s state" if not fields and contains(local, message) else ""


def _invariant(path: Path, prop: Property) -> Explanation | None:
    """Explain the first state that violates an invariant, or the failure of a handler.

    An invariant judges one actor's state, or all actors' states together.
    """
    words = Wording.of(path)
    for number, state in [(0, path.initial), *((s.number, s.state) for s in path.steps)]:
        joint = prop.what is What.GLOBAL_STATE
        for actor, judged in enumerate([state.actors] if joint else state.actors):
            if prop.predicate(judged):
                continue
            mark = None if joint else failure_in((judged,))
            if mark is not None:
                return Explanation(failure_text(mark.error))
            if joint and (failure := failure_of(prop, judged)) is not None:
                return Explanation(failure_text(failure.error))
            when = f"After step {number}" if number else "At the start"
            said = _false_for(prop, "all actors together" if joint else words.actor(actor))
            shown_actors = range(path.system.actors) if joint else (actor,)
            details = (f"{words.actor(i)} is {words.value(state.actors[i])}" for i in shown_actors)
            return Explanation(f"{when}, {said}.", tuple(details))
    return None


def failure_text(error: str) -> str:
    """Return the error of a handler or predicate at the end of a run as a sentence.

    Handlers are called by their names, such as `receive`. The other parts have a kind before their
    name, so they need an article.
    """
    named = error.partition("'")[0].rstrip() in _KINDS_OF_PARTS
    return f"There, {'the ' if named else ''}{error}."


def _final(path: Path, prop: Property) -> Explanation | None:
    """Explain the final states of actors that violate a property together, or one by itself."""
    words, states = Wording.of(path), path.last.actors
    if (failure := failure_of(prop, states)) is not None:
        return Explanation(failure_text(failure.error))
    alone = prop.what is What.LOCAL_STATE
    wrong = [i for i, state in enumerate(states) if not prop.predicate(state)] if alone else []
    whose = listed([words.actor(i) for i in wrong]) if alone else "all actors together"
    text = f"The run is over, and {_false_for(prop, whose)}."
    actors = wrong or range(len(states))
    return Explanation(text, tuple(f"{words.actor(i)} is {words.value(states[i])}" for i in actors))


def _sequences(path: Path, prop: Property) -> Explanation | None:
    """Explain the delivery sequences that violate a property."""
    words, number = Wording.of(path), first_shown(path, prop)
    if number is None:
        return None
    when = "When the run is over" if prop.at_end else f"After step {number}"
    text = f"{when}, this is false: {claim_of(prop)}."
    here = path.steps[number - 1].state if number else path.initial
    delivered = [position.delivered for position in here.workload]
    order = [", then ".join(map(words.said, row)) or "nothing" for row in delivered]
    told = (
        f"{words.actor(i)} {f'delivered {row}' if is_live(here, i) else 'crashed, and is left out'}"
        for i, row in enumerate(order)
    )
    return Explanation(text, tuple(told))


def _unended(path: Path, _prop: Property) -> Explanation | None:
    """Explain what each unfinished application waits for."""
    words, system = Wording.of(path), path.system
    waiting = []
    for actor, position in enumerate(path.last.workload):
        if not system.workload.ended(actor, position):
            requests = system.workload.requests
            reason = None if requests is None else _waits(path, words, actor, requests[actor])
            waiting.append(f"{words.actor(actor)} {reason or 'never sends all its messages'}")
    return Explanation(f"The run is over, but {listed(waiting)}.") if waiting else None


def _waits(path: Path, words: Wording, actor: int, requests: tuple[Request, ...]) -> str | None:
    """Return a sentence on the receive that blocks a program, or None."""
    names = {(m.sender, m.number): words.said(m) for m in path.messages}
    inbox = [d.message for s in path.steps for d in s.deliveries if d.actor == actor and d.expected]
    for number, request in enumerate(requests, 1):
        accepts = sorted(request.accepts or ())
        wanted = " or ".join(names.get(m, "a message never sent") for m in accepts) or "a message"
        if number > len(inbox):
            return f"waits for {wanted}, which does not come"
        head = inbox[number - 1]
        if not request.takes((head.sender, head.number)):
            return f"waits for {wanted}, while {words.said(head)} is first in its inbox"
    return None


_EXPLAINED: Mapping[tuple[What, When], Callable[[Path, Property], Explanation | None]] = {
    (What.DELIVERY, When.ALWAYS): _delivery,
    (What.LOCAL_STATE, When.ALWAYS): _invariant,
    (What.GLOBAL_STATE, When.ALWAYS): _invariant,
    (What.LOCAL_STATE, When.AT_FINAL_STATES): _final,
    (What.GLOBAL_STATE, When.AT_FINAL_STATES): _final,
    (What.SEQUENCES, When.ALWAYS): _sequences,
    (What.SEQUENCES, When.AT_FINAL_STATES): _sequences,
    (What.UNDELIVERED, When.AT_FINAL_STATES): _undelivered,
    (What.UNDELIVERED, When.ALWAYS_POSSIBLE): _no_way_back,
    (What.PARTLY_DELIVERED, When.AT_FINAL_STATES): _partly,
    (What.PARTLY_DELIVERED, When.ALWAYS_POSSIBLE): _no_way_back,
    (What.UNDELIVERED, When.EVENTUALLY_IF_FAIR): _for_ever,
    (What.ENDED, When.AT_FINAL_STATES): _unended,
    (What.ENDED, When.ALWAYS_POSSIBLE): _no_way_back,
}
"""(what a property judges, where) -> the function that explains its violation."""
