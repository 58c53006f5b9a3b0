"""How the abstract models of the protocols that hold back at the receiver are linked to them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from antecede.checker.model import CausalSend, Packet, Receive, Transition
from antecede.checker.prove.link import (
    Event,
    Link,
    View,
    causal_sent,
    delivered_in,
    received_message,
)
from antecede.protocols import cbcast, fifo, newtop, rst, ses
from antecede.protocols.mail_room import Held
from antecede.protocols.rst import Matrix


def events(view: View, transition: Transition, outcome: Any) -> Iterator[Event]:
    """A causal-send; or a reception, and what is delivered then."""
    if isinstance(transition, CausalSend):
        yield "causal-send", causal_sent(view, transition, outcome)
        return
    assert isinstance(transition, Receive)
    yield "receive", received_message(view, transition)
    for m in delivered_in(view, outcome):
        yield "deliver", m


def in_flight(view: View) -> list[int]:
    """Return the messages that were not received yet."""
    return [m for m in view.sent() if not view.has("received", m)]


def held(view: View, actor: int) -> list[int]:
    """Return the messages that were received and wait."""
    return [
        m for m in view.sent(to=actor) if view.has("received", m) and not view.has("delivered", m)
    ]


def channels_of(
    packet: Callable[[View, int], Packet],
) -> Callable[[View], Iterator[tuple[int, int, Packet]]]:
    """Return the channels of a protocol whose messages travel as `packet`."""
    return lambda view: ((view.src(m), view.dst(m), packet(view, m)) for m in in_flight(view))


# --- fifo


def numbered(view: View, m: int) -> fifo.Numbered:
    """A message with its place on its channel."""
    place = sum(view.has("before", x, m) for x in view.sent(view.src(m), view.dst(m)))
    return fifo.Numbered(view.message(m), place + 1)


def rebuild_fifo(view: View, actor: int) -> fifo.Fifo:
    """What was sent, delivered and held back, per other actor."""
    actors = range(view.system.actors)
    return fifo.Fifo(
        sent=tuple(len(view.sent(actor, j)) for j in actors),
        delivered=tuple(sum(view.has("delivered", m) for m in view.sent(j, actor)) for j in actors),
        held_back=tuple(
            frozenset(numbered(view, m) for m in held(view, actor) if view.src(m) == j)
            for j in actors
        ),
    )


FIFO_LINK = Link(events=events, rebuild=rebuild_fifo, channels=channels_of(numbered))

# --- RST


def matrix(view: View, counted: Callable[[int], bool]) -> Matrix:
    """How many messages are counted, by sender and destination."""
    actors = range(view.system.actors)
    return tuple(tuple(sum(map(counted, view.sent(j, k))) for k in actors) for j in actors)


def with_matrix(view: View, m: int) -> rst.Stamped:
    """A message with SENT_m."""
    return rst.Stamped(view.message(m), matrix(view, lambda x: view.has("carries", m, x)))


def rebuild_rst(view: View, actor: int) -> rst.Rst:
    """SENT_i, DELIV_i and the mail room."""
    waiting = (Held(view.src(m), with_matrix(view, m)) for m in held(view, actor))
    return rst.Rst(
        actor,
        SENT=matrix(view, lambda x: view.has("counts", actor, x)),
        DELIV=tuple(row[actor] for row in matrix(view, lambda x: view.has("delivered", x))),
        held_back=tuple(sorted(waiting, key=lambda one: (one.src, one.packet.SENT))),
    )


def rebuild_no_deliv(view: View, actor: int) -> rst.Rst:
    """The same without DELIV_i."""
    made = rebuild_rst(view, actor)
    return rst.Rst(actor, made.SENT, (), made.held_back)


RST_LINK = Link(events=events, rebuild=rebuild_rst, channels=channels_of(with_matrix))
RST_NO_DELIV_LINK = Link(events=events, rebuild=rebuild_no_deliv, channels=channels_of(with_matrix))

# --- SES


def vector(view: View, covered: Callable[[int], bool]) -> tuple[int, ...]:
    """How many messages of each sender are covered."""
    return tuple(sum(map(covered, view.sent(j))) for j in range(view.system.actors))


def pair(time: tuple[int, ...]) -> tuple[int, ...] | None:
    """A pair's time; None where nothing is covered."""
    return time if any(time) else None


def with_pairs(view: View, m: int) -> ses.Stamped:
    """A message with t_m and V_M."""
    return ses.Stamped(
        view.message(m),
        t=vector(view, lambda x: view.has("stamp", m, x)),
        V=tuple(
            pair(vector(view, lambda x, j=j: view.has("carries", m, j, x)))  # type: ignore[misc]
            for j in range(view.system.actors)
        ),
    )


def rebuild_ses(view: View, actor: int) -> ses.Ses:
    """T_P, V_P and what is held back."""
    waiting = (Held(view.src(m), with_pairs(view, m)) for m in held(view, actor))
    return ses.Ses(
        actor,
        T=vector(view, lambda x: view.has("time", actor, x)),
        V=tuple(
            pair(vector(view, lambda x, j=j: view.has("pair", actor, j, x)))  # type: ignore[misc]
            for j in range(view.system.actors)
        ),
        held_back=tuple(sorted(waiting, key=lambda one: (one.src, one.packet.t))),
    )


SES_LINK = Link(events=events, rebuild=rebuild_ses, channels=channels_of(with_pairs))

# --- CBCAST


def events_at(view: View, transition: Transition, outcome: Any) -> Iterator[Event]:
    """As `events`, for messages with several destinations."""
    for event in events(view, transition, outcome):
        here = () if isinstance(transition, CausalSend) else (transition.dst,)  # type: ignore[union-attr]
        yield (*event, *here)


def with_time(view: View, m: int) -> cbcast.Stamped:
    """A message with VT(m)."""
    return cbcast.Stamped(view.message(m), vector(view, lambda x: view.has("stamp", m, x)))


def rebuild_cbcast(view: View, actor: int) -> cbcast.Cbcast:
    """VT(p_i) and the delay queue."""
    waiting = (
        Held(view.src(m), with_time(view, m))
        for m in view.sent()
        if view.has("received", m, actor) and not view.has("delivered", m, actor)
    )
    return cbcast.Cbcast(
        actor,
        VT=vector(view, lambda x: view.has("VT", actor, x)),
        delay_queue=tuple(sorted(waiting, key=lambda one: (one.src, one.packet.VT))),
    )


def copies(view: View) -> Iterator[tuple[int, int, Packet]]:
    """The copies that were not received yet."""
    for m in view.sent():
        for a in range(view.system.actors):
            if view.has("to", m, a) and not view.has("received", m, a):
                yield view.src(m), a, with_time(view, m)


CBCAST_LINK = Link(events=events_at, rebuild=rebuild_cbcast, channels=copies, workload="broadcast")

# --- Newtop: element t of the sort Time is the clock value t + 1


def events_of_newtop(view: View, transition: Transition, outcome: Any) -> Iterator[Event]:
    """As `events`; a causal-send says to which value the clock ticks."""
    for event in events(view, transition, outcome):
        ticks = () if event[0] != "causal-send" else (outcome.step.state.clock - 1,)
        yield (*event, *ticks)


def value(view: View, relation: str, *elements: int) -> int:
    """The greatest clock value that the relation says was reached."""
    return sum(view.has(relation, *elements, t) for t in range(view.sizes["Time"]))


def with_clock(view: View, m: int) -> newtop.Timestamped:
    """A message with its clock."""
    return newtop.Timestamped(view.message(m), value(view, "stamp", m))


def rebuild_newtop(view: View, actor: int) -> newtop.Newtop:
    """The clock, what was received last from each, and what is held back."""
    waiting = (newtop.Held(view.src(m), with_clock(view, m)) for m in held(view, actor))
    return newtop.Newtop(
        actor,
        clock=value(view, "clock", actor),
        last_received=tuple(value(view, "heard", actor, j) for j in range(view.system.actors)),
        held_back=tuple(sorted(waiting, key=lambda one: (one.packet.clock, one.src))),
    )


def order_of_values(system: Any, _name: str) -> Iterator[tuple[int, ...]]:
    """Clock values are numbers."""
    count = system.actors * system.messages
    return ((t, s) for t in range(count) for s in range(count) if t <= s)


NEWTOP_LINK = Link(
    events=events_of_newtop,
    rebuild=rebuild_newtop,
    channels=channels_of(with_clock),
    network="fifo",
    rigid=order_of_values,
)
