"""RST: the matrix protocol. The receiver holds a message back until its causal past was delivered.

M. Raynal, A. Schiper, S. Toueg: The causal ordering abstraction and a simple way to implement it.
Information Processing Letters 39(6), 1991; as explained in the matrix source (L. Kuper: An example
run of a matrix-based causal unicast protocol), whose headings the functions below name.

A message carries its sender's knowledge from before the send, so the receiver has to count the
message itself (step 2).

Differences: a message may have several destinations; the copy for each of them counts the other
copies as sent before it. With one destination this is the published rule. If one receive makes
several messages deliverable, they are delivered in the order of `protocols.mail_room`. The
resulting state does not depend on that order. With up to three actors, the order does not depend on
the actors' names.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

from attrs import evolve, frozen

from antecede import Envelope, Message, NormalForm, Property, Protocol, Step, What, When
from antecede.checker.model import with_item
from antecede.protocols.mail_room import Held, released

Vector: TypeAlias = tuple[int, ...]
Matrix: TypeAlias = tuple[Vector, ...]


@frozen
class Stamped:
    """A message with SENT_m, its sender's matrix."""

    message: Message
    SENT: Matrix


Mail: TypeAlias = Held[Stamped]


@frozen
class Rst:
    """Getting started: SENT_i[j][k], messages from j to k; DELIV_i[j], those delivered from j.

    `held_back` is the mail room of undeliverable packets, sorted by sender, then by number sent.
    """

    me: int
    SENT: Matrix
    DELIV: Vector
    held_back: tuple[Mail, ...] = ()


Deliverable: TypeAlias = Callable[[Rst, Mail], bool]
AfterDelivery: TypeAlias = Callable[[Rst, Mail], Rst]


def initial(actor: int, actors: int) -> Rst:
    """Getting started: no actor has sent or delivered anything."""
    return Rst(actor, SENT=((0,) * actors,) * actors, DELIV=(0,) * actors)


def causal_send(state: Rst, message: Message) -> Step:
    """Sending messages: attach SENT_i, then increment SENT_i[i, j] for each destination j."""
    sends = tuple((j, attach(state, message, j)) for j in message.destinations)
    return Step(count_sends(state, message.destinations), sends)


def attach(state: Rst, message: Message, j: int) -> Stamped:
    """Sending messages, step 1: attach SENT_i; the copy for j counts the other copies."""
    others = tuple(k for k in message.destinations if k != j)
    return Stamped(message, count_sends(state, others).SENT)


def count_sends(state: Rst, destinations: tuple[int, ...]) -> Rst:
    """Sending messages, step 2: increment SENT_i[i, j] for each destination j."""
    SENT = state.SENT
    for j in destinations:
        SENT = with_entry(SENT, state.me, j, SENT[state.me][j] + 1)
    return evolve(state, SENT=SENT)


def deliverable(state: Rst, held: Mail) -> bool:
    """Delivering messages (or not): for all k, DELIV_i[k] >= SENT_m[k, i]."""
    return at_least(state.DELIV, column(held.packet.SENT, state.me))


def after_delivery(state: Rst, held: Mail) -> Rst:
    """After delivering a message, steps 1 to 3."""
    return merge_past(count_received(count_delivered(state, held.src), held.src), held.packet)


def count_delivered(state: Rst, j: int) -> Rst:
    """Step 1: increment DELIV_i[j]."""
    return evolve(state, DELIV=with_item(state.DELIV, j, state.DELIV[j] + 1))


def count_received(state: Rst, j: int) -> Rst:
    """Step 2: increment SENT_i[j, i], because the matrix of m does not count m."""
    i = state.me
    return evolve(state, SENT=with_entry(state.SENT, j, i, state.SENT[j][i] + 1))


def merge_past(state: Rst, packet: Stamped) -> Rst:
    """Step 3: every entry of SENT_i becomes the maximum of itself and SENT_m's entry."""
    rows = zip(state.SENT, packet.SENT, strict=True)
    return evolve(state, SENT=tuple(tuple(map(max, mine, its)) for mine, its in rows))


def receive(
    state: Rst,
    src: int,
    packet: Stamped,
    may_deliver: Deliverable = deliverable,
    update: AfterDelivery = after_delivery,
) -> Step:
    """Put the packet in the mail room; deliver from there as long as possible."""
    waiting = tuple(sorted((*state.held_back, Held(src, packet)), key=_sending_order))
    state, waiting, deliveries = released(state, waiting, src, may_deliver, update)
    return Step(evolve(state, held_back=waiting), deliveries=deliveries)


def column(matrix: Matrix, k: int) -> Vector:
    """Return column `k`: the number of messages that each actor sent to k."""
    return tuple(row[k] for row in matrix)


def at_least(left: Vector, right: Vector) -> bool:
    """Return whether no entry of `left` is less than the entry of `right`."""
    return all(a >= b for a, b in zip(left, right, strict=True))


def with_entry(matrix: Matrix, row: int, at: int, value: int) -> Matrix:
    """Return `matrix` with the entry `at` of `row` set to `value`."""
    return with_item(matrix, row, with_item(matrix[row], at, value))


def _sending_order(held: Mail) -> tuple[int, Matrix]:
    """Sort by sender, then in sending order, because a sender's matrix grows with each message."""
    return held.src, held.packet.SENT


# The algorithms end here. Below: invariants, witnesses, measures and normal forms for the checker.


def deliv_is_column_of_sent(state: Rst) -> bool:
    """Return whether DELIV_i equals column i of SENT_i, so that DELIV is redundant."""
    return column(state.SENT, state.me) == state.DELIV


def all_agree_on_sent(states: tuple[Rst, ...]) -> bool:
    """Return whether all actors have the same matrix SENT."""
    return len({state.SENT for state in states}) == 1


def normal(states: tuple[Rst, ...], _flying: tuple[Envelope, ...]) -> NormalForm:
    """Subtract delivered messages: those from k that j has delivered hold nothing back at j.

    So an entry SENT[k][j] up to DELIV_j[k] is equivalent to DELIV_j[k]. Column j of j's own matrix
    also keeps smaller entries, because an invariant compares it with DELIV_j.
    """
    delivered = [state.DELIV for state in states]

    def since(SENT: Matrix, me: int | None = None) -> Matrix:
        return tuple(
            tuple(
                count - delivered[j][k] if j == me else max(count - delivered[j][k], 0)
                for j, count in enumerate(row)
            )
            for k, row in enumerate(SENT)
        )

    def packet(stamped: Stamped) -> Stamped:
        return evolve(stamped, SENT=since(stamped.SENT))

    def state(actor: int, local: Rst) -> Rst:
        waiting = tuple(evolve(held, packet=packet(held.packet)) for held in local.held_back)
        DELIV = (0,) * len(states)
        return evolve(local, SENT=since(local.SENT, actor), DELIV=DELIV, held_back=waiting)

    return NormalForm(state, lambda envelope: packet(envelope.packet))


IN_AGREEMENT_ON_SENT = Property(
    name="in-agreement-on-sent",
    summary="at final states: all actors have the same matrix SENT, if all messages are broadcast",
    what=What.GLOBAL_STATE,
    when=When.AT_FINAL_STATES,
    predicate=all_agree_on_sent,
)
INVARIANTS = {"deliv-is-column-of-sent": deliv_is_column_of_sent}
WITNESSES = {"waited": lambda state: bool(state.held_back)}

RST = Protocol(
    name="rst",
    summary="receiver-side: a matrix of sends on every message",
    source="Raynal, Schiper and Toueg 1991; matrix source",
    initial=initial,
    causal_send=causal_send,
    receive=receive,
    invariants=INVARIANTS,
    witnesses=WITNESSES,
    normal=normal,
)
