"""Cykas with acknowledged YCTs: why the repairs are safe with any number of actors and messages.

Section 2.1 of the Cykas paper can be read to acknowledge YCTs. The proof of `protocols.cykas_proof`
needs that a cleared bit of UNACK means a delivered message. The ACK of a YCT breaks that, unless
the YCT sets the bit, too, or its ACK is another packet.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from attrs import evolve
from z3 import And, Exists, ForAll, Implies, Not, Or

from antecede.checker.model import Packet, Receive, Transition
from antecede.checker.prove.link import Event, Link, View, posted_in
from antecede.checker.prove.stock import ACKNOWLEDGE, acknowledged, posted
from antecede.checker.prove.vocabulary import *
from antecede.protocols import cykas_proof
from antecede.protocols.cykas import Ack, Cykas
from antecede.protocols.cykas_proof import (
    CYKAS,
    POST,
    STOP,
    TELL,
    TRY_AFTER_ACK,
    eager,
    heard,
    told,
)
from antecede.protocols.cykas_yct_named import YctAck

m, x, e, u, v = messages("m x e u v")
a = actors("a")

answered = Relation("answered", (MESSAGE,), "the ACK of {0} was received")
confirmed = Relation("confirmed", (MESSAGE,), "the ACK of the YCT of {0} was received")
cleared = Relation("cleared", (MESSAGE,), "the bit of UNACK that the YCT of {0} set was cleared")
awaits = Relation("awaits", (MESSAGE, MESSAGE), "the YCT of {0} waits for the ACK of {1}'s YCT")

NOT_CONFIRMED = Guard("not confirmed before", Not(confirmed(c)))
CONFIRM = Action(
    name="confirm",
    params=(c,),
    guards=(Guard("its YCT was received", heard(c)), NOT_CONFIRMED),
    updates=(gains(confirmed, c),),
    words="the ACK of the YCT of {0} reaches its sender",
)

CYKAS_YCT_NAMED = evolve(
    CYKAS,
    protocol="cykas-yct-named",
    title="Cykas that acknowledges YCTs by another packet",
    source="Cykas paper, Algorithms 1-5, with the ACKs of section 2.1, repaired",
    relations=(*CYKAS.relations, confirmed),
    actions=(*CYKAS.actions, CONFIRM),
    link="antecede.protocols.cykas_yct_proof:NAMED_LINK",
)


def same_channel(one: Term, other: Term) -> Formula:
    """Return that two messages have the same sender and the same receiver."""
    return And(src(one) == src(other), dst(one) == dst(other))


CLEAR = gains_all(acknowledged, (u,), And(posted(u), same_channel(u, c)))
"""Algorithm 4: an ACK clears the bit of UNACK, whatever it acknowledges."""


def on_ack(action: Action, relation: Relation, *updates: Update) -> Action:
    """Return the action that receives an ACK, which does not say what it acknowledges."""
    not_before = Guard("this ACK was not received before", Not(relation(c)))
    return evolve(
        action,
        guards=(action.guards[0], not_before),
        updates=(gains(relation, c), CLEAR, *updates, TRY_AFTER_ACK),
    )


ONE_UNACKNOWLEDGED = Conjunct(
    "one-unacknowledged",
    "of the messages from one sender to one receiver at most one is unacknowledged",
    ForAll(
        [m, x],
        Implies(
            And(posted(m), posted(x), same_channel(m, x)),
            Or(acknowledged(m), acknowledged(x), m == x),
        ),
    ),
    lemma="Proposition 3.1, second key aspect",
)
CLEARED_BY_ITS_ACK = Conjunct(
    "cleared-by-its-ack",
    "the bit of UNACK that a message sets is cleared by the ACK of this message",
    ForAll([m], acknowledged(m) == answered(m)),
)
TOLD_AFTER_ITS_ACK = Conjunct(
    "told-after-its-ack",
    "a YCT is sent only after its Eager Send is acknowledged",
    ForAll([m], Implies(told(m), acknowledged(m))),
    lemma="Lemma 3.4",
)
CYKAS_YCT_ACKED = evolve(
    CYKAS,
    protocol="cykas-yct-acked",
    title="Cykas that acknowledges YCTs by the same ACK",
    source="Cykas paper, Algorithms 1-5, with the ACKs of section 2.1",
    relations=(*CYKAS.relations, answered, confirmed),
    actions=(
        *replaced(CYKAS.actions, "acknowledge", lambda _: on_ack(ACKNOWLEDGE, answered)),
        on_ack(CONFIRM, confirmed),
    ),
    conjuncts=(*CYKAS.conjuncts, ONE_UNACKNOWLEDGED, CLEARED_BY_ITS_ACK, TOLD_AFTER_ITS_ACK),
    expected="FAILED",
    link="antecede.protocols.cykas_yct_proof:ACKED_LINK",
)


def unconfirmed(yct: Term, sender: Term) -> Formula:
    """Return that the sender sent the YCT of this message, and the YCT's bit of UNACK is set."""
    return And(told(yct), src(yct) == sender, Not(cleared(yct)))


def unacknowledged_to_same(message: Term) -> Formula:
    """Return Algorithm 2: UNACK has the bit of the message's receiver, set by a YCT or not."""
    by_yct = And(unconfirmed(e, src(message)), dst(e) == dst(message))
    return Or(cykas_proof.unacknowledged_to_same(message), Exists([e], by_yct))


def could_be_posted(message: Term) -> Formula:
    """Return that the message waits only for TRY_SEND_MESSAGE."""
    return And(cykas_proof.could_be_posted(message), Not(unacknowledged_to_same(message)))


FREE = Guard("nothing to its receiver is unacknowledged", Not(unacknowledged_to_same(c)), True)
HAS_UNACKNOWLEDGED = Or(
    Exists([x], And(posted(x), src(x) == src(c), Not(acknowledged(x)))),
    Exists([e], unconfirmed(e, src(c))),
)
COUNTED_POST = evolve(
    POST,
    guards=(*without_guard(POST, "none to its receiver is unacknowledged").guards, FREE),
    updates=(
        *(update for update in POST.updates if update.relation is not eager),
        gains_all(eager, (u,), And(u == c, HAS_UNACKNOWLEDGED)),
        gains_all(awaits, (u, v), And(u == c, unconfirmed(v, src(c)))),
    ),
)
COUNTED_STOP = evolve(
    STOP,
    guards=(
        STOP.guards[0],
        Guard(
            "nothing can be posted",
            ForAll([m], Implies(src(m) == a, Not(could_be_posted(m)))),
            needed=True,
        ),
    ),
)
COUNTED_TELL = evolve(
    TELL,
    guards=(
        *without_guard(TELL, "none to its receiver is unacknowledged").guards,
        Guard(
            "the YCTs that it waits for are acknowledged",
            ForAll([x], Implies(awaits(c, x), cleared(x))),
        ),
        FREE,
    ),
)
CLEAR_YCTS = gains_all(cleared, (u,), And(told(u), same_channel(u, c)))
COUNTED = {"post": COUNTED_POST, "stop": COUNTED_STOP, "tell": COUNTED_TELL}

CYKAS_YCT_COUNTED = evolve(
    CYKAS,
    protocol="cykas-yct-counted",
    title="Cykas that acknowledges YCTs by the same ACK; a YCT sets UNACK",
    source="Cykas paper, Algorithms 1-5, with the ACKs of section 2.1, repaired",
    relations=(*CYKAS.relations, answered, confirmed, cleared, awaits),
    actions=(
        *(
            COUNTED.get(action.name, action)
            for action in CYKAS.actions
            if action.name != "acknowledge"
        ),
        on_ack(ACKNOWLEDGE, answered, CLEAR_YCTS),
        on_ack(CONFIRM, confirmed, CLEAR_YCTS),
    ),
    conjuncts=(
        *CYKAS.conjuncts[:-1],
        ONE_UNACKNOWLEDGED,
        CLEARED_BY_ITS_ACK,
        Conjunct(
            "yct-or-message",
            "a YCT is unacknowledged only if no message and no other YCT from its sender to its "
            "receiver is",
            ForAll(
                [e, x],
                Implies(
                    And(told(e), Not(cleared(e)), same_channel(e, x)),
                    And(
                        Or(Not(posted(x)), acknowledged(x)),
                        Or(Not(told(x)), cleared(x), x == e),
                    ),
                ),
            ),
        ),
        Conjunct(
            "yct-cleared-by-its-ack",
            "the bit of UNACK that a YCT sets is cleared by this YCT's ACK, after its reception",
            ForAll([e], And(cleared(e) == confirmed(e), Implies(confirmed(e), heard(e)))),
        ),
        Conjunct(
            "awaits-told",
            "an Eager Send waits only for YCTs that were sent",
            ForAll([m, e], Implies(awaits(m, e), told(e))),
            lemma="Lemma 3.4",
        ),
        evolve(
            CYKAS.conjuncts[-1],
            formula=ForAll([m], Implies(could_be_posted(m), cykas_proof.tries(src(m)))),
        ),
    ),
    link="antecede.protocols.cykas_yct_proof:COUNTED_LINK",
)


# Below this line: the models' links to the Python of the protocols (`prove --link`)


def named_events(view: View, transition: Transition, outcome: Any) -> Iterator[Event]:
    """Yield the events of Cykas, or the reception of the ACK of a YCT."""
    if isinstance(transition, Receive) and isinstance(transition.packet, YctAck):
        yield (
            "confirm",
            view.first(without_ack(view, transition, "heard", "confirmed"), "to confirm"),
        )
    else:
        yield from cykas_proof.events(view, transition, outcome)


def events(view: View, transition: Transition, outcome: Any) -> Iterator[Event]:
    """Yield the events of Cykas; an ACK is of a message if one has its ACK in flight."""
    if not (isinstance(transition, Receive) and isinstance(transition.packet, Ack)):
        yield from cykas_proof.events(view, transition, outcome)
        return
    if of_messages := without_ack(view, transition, "delivered", "answered"):
        yield "acknowledge", of_messages[0]
    else:
        of_ycts = without_ack(view, transition, "heard", "confirmed")
        yield "confirm", view.first(of_ycts, "to acknowledge")
    yield from cykas_proof.tells(view, transition.dst, outcome)
    for message in posted_in(view, transition.dst, outcome):
        yield "post", message
    yield "stop", transition.dst


def without_ack(view: View, transition: Receive, arrived: str, acked: str) -> list[int]:
    """Return what arrived and has its ACK in flight; these are interchangeable."""
    sent = view.sent(by=transition.dst, to=transition.src)
    return [n for n in sent if view.has(arrived, n) and not view.has(acked, n)]


def rebuild_counted(view: View, actor: int) -> Cykas:
    """Return the state as `cykas_proof.rebuild` does, with the bits that YCTs set."""
    made = cykas_proof.rebuild(view, actor)
    ycts = [n for n in view.sent(actor) if view.has("told", n) and not view.has("cleared", n)]

    def with_bits(bits: tuple[bool, ...], found: list[int]) -> tuple[bool, ...]:
        receivers = {view.dst(n) for n in found}
        return tuple(bit or j in receivers for j, bit in enumerate(bits))

    def queue(j: int) -> Iterator[tuple[bool, ...]]:
        untold = [
            n for n in view.sent(actor, j) if view.has("eager", n) and not view.has("told", n)
        ]
        for bits, n in zip(made.EAGER_SENT[j], untold, strict=True):
            yield with_bits(bits, [yct for yct in ycts if view.has("awaits", n, yct)])

    eager_sent = tuple(tuple(queue(j)) for j in range(view.system.actors))
    return evolve(made, UNACK=with_bits(made.UNACK, ycts), EAGER_SENT=eager_sent)


def channels_of(acked: str, ack: Packet) -> Any:
    """Return the function of the packets in flight, with this packet as the ACK of a YCT."""

    def channels(view: View) -> Iterator[tuple[int, int, Packet]]:
        yield from cykas_proof.channels(view, acked)
        for n in view.sent():
            if view.has("heard", n) and not view.has("confirmed", n):
                yield view.dst(n), view.src(n), ack

    return channels


NAMED_LINK = Link(
    events=named_events,
    rebuild=cykas_proof.rebuild,
    channels=channels_of("acknowledged", YctAck()),
)
ACKED_LINK = Link(
    events=events, rebuild=cykas_proof.rebuild, channels=channels_of("answered", Ack())
)
COUNTED_LINK = Link(events=events, rebuild=rebuild_counted, channels=channels_of("answered", Ack()))
