"""How the abstract models of hybrid buffering are linked to their Python.

The receive buffer is no part of the models: what waits there might as well be on the network still.
Permit indexes are compared as what they stand for, the permits that a message waits for.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from antecede.checker.model import CausalSend, Message, Receive, Timeout, Transition
from antecede.checker.prove.link import (
    Event,
    Link,
    View,
    causal_sent,
    delivered_in,
    posted_in,
)
from antecede.protocols.hybrid_basic import Ack, Per, Permit


def message_of(view: View, sender: int, number: int) -> int:
    """Return the message with an id: ids number a sender's messages."""
    return view.number(Message(sender, number, ()))


def events(view: View, transition: Transition, outcome: Any) -> Iterator[Event]:
    """What a handler does; a repeated packet is nothing new to the model, nor is a timeout."""
    if isinstance(transition, Timeout):
        return
    if isinstance(transition, CausalSend):
        actor = transition.actor
        yield "causal-send", causal_sent(view, transition, outcome)
    else:
        assert isinstance(transition, Receive)
        actor = transition.dst
        yield from received(view, transition)
        for m in delivered_in(view, outcome):
            yield "deliver", m, *at(view, actor)
    yield from permits(view, actor, outcome)
    posted = {m for m in posted_in(view, actor, outcome) if not view.has("posted", m)}
    for m in sorted(posted):
        yield "post", m


def at(view: View, actor: int) -> tuple[int, ...]:
    """The actor that an event is at, where messages have several destinations."""
    return (actor,) if "to" in view.sorts else ()


def received(view: View, transition: Receive) -> Iterator[Event]:
    """An ACK or a permit that is received for the first time."""
    packet, src, dst = transition.packet, transition.src, transition.dst
    if isinstance(packet, Ack):
        m = message_of(view, dst, packet.mid)
        if not view.has("acknowledged", m, *at(view, src)):
            yield "acknowledge", m, *at(view, src)
    elif isinstance(packet, Permit):
        m = message_of(view, src, packet.mid)
        # A permit that overtakes its message is dropped; the ACK, repeated, asks for it again.
        news = view.has("flagged", m) and not view.has("permitted", m, *at(view, dst))
        if news and view.has("delivered", m, *at(view, dst)):
            yield "hear", m, *at(view, dst)


def permits(view: View, actor: int, outcome: Any) -> Iterator[Event]:
    """The permits that are sent for the first time; those of unflagged messages mean nothing."""
    ids = {packet.mid for _, packet in outcome.step.sends if isinstance(packet, Permit)}
    for number in sorted(ids):
        m = message_of(view, actor, number)
        if view.has("flagged", m) and not view.has("permit", m):
            yield "permit", m


def local(state: Any) -> tuple[Any, ...]:
    """Algorithm 1: ld, ls, ck, the missing permits, the unacked buffer and the send buffer."""
    return (
        state.ld,
        state.ls,
        state.ck,
        frozenset(state.p),
        state.u.first,
        tuple((m.mid, m.per, m.pl is None) for m in state.u),
        tuple((m.mid, missing(state, m.per)) for m in state.sb),
    )


def missing(state: Any, per: int) -> frozenset[Per]:
    """Return the missing permits with an index below `per`."""
    slots = enumerate(state.p.slots, state.p.first)
    return frozenset(permit for index, permit in slots if permit is not None and index < per)


def last(numbers: list[int]) -> int:
    """Return the greatest of some ids, 0 if there is none."""
    return max(numbers, default=0)


def number_of(view: View, m: int) -> int:
    """Return the id of a message."""
    return view.message(m).number


def rebuild(view: View, actor: int) -> tuple[Any, ...]:
    """The same from the relations."""
    own = view.sent(by=actor)
    posted = [m for m in own if view.has("posted", m)]
    first = next((k for k, m in enumerate(posted) if not acked(view, m)), len(posted))
    return (
        *common(view, actor),
        first + 1,
        tuple((number_of(view, m), view.has("flagged", m), acked(view, m)) for m in posted[first:]),
        tuple(
            (number_of(view, m), awaited(view, m, actor)) for m in own if not view.has("posted", m)
        ),
    )


def common(view: View, actor: int) -> tuple[Any, ...]:
    """ld, ls, ck and the missing permits."""
    actors = range(view.system.actors)
    return (
        tuple(
            last([number_of(view, m) for m in view.sent(by=j) if is_delivered(view, m, actor)])
            for j in actors
        ),
        tuple(
            last([number_of(view, m) for m in view.sent(by=actor) if is_for(view, m, j)])
            for j in actors
        ),
        len(view.sent(by=actor)) + 1,
        frozenset(
            Per(view.src(m), number_of(view, m))
            for m in view.sent()
            if is_delivered(view, m, actor)
            and view.has("flagged", m)
            and not view.has("permitted", m, *at(view, actor))
        ),
    )


def is_for(view: View, m: int, j: int) -> bool:
    """Return whether a message is for j."""
    return view.has("to", m, j) if "to" in view.sorts else view.dst(m) == j


def is_delivered(view: View, m: int, actor: int) -> bool:
    """Return whether a message was delivered at an actor."""
    return is_for(view, m, actor) and view.has("delivered", m, *at(view, actor))


def acked(view: View, m: int) -> bool:
    """Return whether all destinations have acknowledged a message."""
    if "to" not in view.sorts:
        return view.has("acknowledged", m)
    return all(
        view.has("acknowledged", m, a) for a in range(view.system.actors) if view.has("to", m, a)
    )


def awaited(view: View, m: int, actor: int) -> frozenset[Per]:
    """Return the missing permits that a message waits for."""
    return frozenset(
        Per(view.src(e), number_of(view, e))
        for e in view.sent()
        if view.has("waits", m, e) and not view.has("permitted", e, *at(view, actor))
    )


def local_sps(state: Any) -> tuple[Any, ...]:
    """Algorithm 2: the same with the unified buffer."""
    return (
        state.ld,
        state.ls,
        state.ck,
        frozenset(state.p),
        state.u.first,
        tuple(
            (m.mid, m.sent, m.per if m.sent else missing(state, m.per), m.pl is None)
            for m in state.u
        ),
    )


def rebuild_sps(view: View, actor: int) -> tuple[Any, ...]:
    """The same from the relations."""
    own = view.sent(by=actor)
    first = next((k for k, m in enumerate(own) if not acked(view, m)), len(own))
    return (*common(view, actor), first + 1, tuple(entry(view, m, actor) for m in own[first:]))


def entry(view: View, m: int, actor: int) -> tuple[Any, ...]:
    """One message of the unified buffer."""
    sent = view.has("posted", m)
    per = view.has("flagged", m) if sent else awaited(view, m, actor)
    return number_of(view, m), sent, per, acked(view, m)


LINK = Link(events=events, rebuild=rebuild, local=local)
SPS_LINK = Link(events=events, rebuild=rebuild_sps, local=local_sps)
MULTICAST_LINK = Link(events=events, rebuild=rebuild, local=local, workload="multicast")
