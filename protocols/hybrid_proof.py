"""Hybrid buffering for every number of actors and messages: Algorithms 1, 2 and 3.

P. S. Almeida: Space-Optimal, Computation-Optimal, Topology-Agnostic, Throughput-Scalable Causal
Delivery through Hybrid Buffering (as in `protocols.hybrid_basic`, `hybrid_sps` and
`hybrid_multicast`), section 5. The network may lose, repeat and reorder packets: a packet that was
sent once may be received at any time, and any number of times.

Until R is acknowledged, any other actor that knows of R got a flagged message, whose permit cannot
arrive before R's acknowledgement. The paper gives no proof of Algorithm 2.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from attrs import evolve
from z3 import And, Exists, ForAll, Implies, Not, Or

from antecede.checker.model import CausalSend, Message, Receive, Timeout, Transition
from antecede.checker.prove.link import Event, Link, View, causal_sent, delivered_in, posted_in
from antecede.checker.prove.stock import *
from antecede.checker.prove.vocabulary import *
from antecede.protocols.hybrid_basic import Ack, Per, Permit

m, x, e, u, v = messages("m x e u v")
a, b = actors("a b")

flagged = Relation("flagged", (MESSAGE,), "{0} was sent while it needed a permit")
waits = Relation("waits", (MESSAGE, MESSAGE), "{0} waits for the permit of {1}")
permit = Relation("permit", (MESSAGE,), "the permit of {0} was sent")
permitted = Relation("permitted", (MESSAGE,), "the permit of {0} was received")

IN_ORDER = Guard(
    "its predecessor on the channel was delivered",
    ForAll([x], Implies(And(before(x, c), dst(x) == dst(c)), delivered(x))),
    needed=True,
)
WAITS = gains_all(
    waits,
    (u, v),
    And(u == c, flagged(v), delivered(v), dst(v) == src(c), Not(permitted(v))),
)
CAUSAL_SEND = causal_send(updates=[WAITS])
POST = post(
    [
        Guard("is the head of the send buffer", ForAll([x], Implies(before(x, c), posted(x)))),
        Guard(
            "the permits that it waits for are there",
            ForAll([e], Implies(waits(c, e), permitted(e))),
            needed=True,
        ),
    ],
    [gains_all(flagged, (u,), And(u == c, Exists([x], And(before(x, c), Not(acknowledged(x))))))],
)
PERMIT = Action(
    name="permit",
    params=(c,),
    guards=(
        Guard("is flagged", flagged(c)),
        Guard("not permitted before", Not(permit(c))),
        Guard(
            "all before it are acknowledged",
            ForAll([x], Implies(before(x, c), acknowledged(x))),
            needed=True,
        ),
    ),
    updates=(gains(permit, c),),
    words="the permit of {0} is sent",
)
HEAR = Action(
    name="hear",
    params=(c,),
    guards=(
        Guard("its permit was sent", permit(c), needed=True),
        Guard("was delivered", delivered(c)),
        Guard("not heard before", Not(permitted(c))),
    ),
    updates=(gains(permitted, c),),
    words="the permit of {0} is received",
)
LIFE_OF_A_PERMIT = Conjunct(
    "life-of-a-permit",
    "received permits were sent, and a permit is sent only for a posted, flagged message",
    in_turn([m], permitted(m), permit(m), flagged(m), posted(m)),
)
OWN_TAINT_IS_LATER = Conjunct(
    "own-taint-is-later",
    "a message of R's sender that depends on R comes after R",
    ForAll([m], Implies(And(tainted(m), src(m) == src(R)), before(R, m))),
)
FIRST_OF_CHANNEL = Conjunct(
    "delivered-are-prefixes",
    "the delivered messages of each channel are its first ones",
    whenever([m, x], [before(x, m), dst(x) == dst(m), delivered(m)], delivered(x)),
)


def told_by(e: Term, a: Term) -> Formula:
    """Return that e, a later message of R's sender, told a of R, and a misses e's permit."""
    return And(
        delivered(e), dst(e) == a, flagged(e), Not(permitted(e)), src(e) == src(R), before(R, e)
    )


HYBRID_BASIC = Model(
    protocol="hybrid-basic",
    title="hybrid buffering, Algorithm 1; packets may be lost, repeated and reordered",
    source="hybrid paper, Algorithm 1, section 5.5",
    relations=(*APPLICATION, posted, acknowledged, flagged, waits, permit, permitted),
    actions=(
        CAUSAL_SEND,
        POST,
        deliver([WAS_POSTED, IN_ORDER]),
        ACKNOWLEDGE,
        PERMIT,
        HEAR,
    ),
    conjuncts=(
        LIFE_OF_A_POST,
        ORDER,
        *GHOST_IS_OF_SENT,
        LIFE_OF_A_PERMIT,
        FIRST_OF_CHANNEL,
        OWN_TAINT_IS_LATER,
        Conjunct(
            "permits-after-acks",
            "a permit is sent only after all messages before its message are acknowledged",
            ForAll([m, x], Implies(And(permit(m), before(x, m)), acknowledged(x))),
        ),
        Conjunct(
            "sender-flags",
            "until R is delivered, every message that its sender posts after it is flagged",
            until_delivered([m], [before(R, m), posted(m)], flagged(m)),
        ),
        Conjunct(
            "knowers-miss-a-permit",
            "until R is delivered, every other actor that knows of it was told by a later, "
            "flagged message of R's sender whose permit is missing, and is not R's destination",
            until_delivered(
                [a], [knows(a), a != src(R)], And(a != dst(R), Exists([e], told_by(e, a)))
            ),
        ),
        Conjunct(
            "others-wait",
            "until R is delivered, messages of other actors that depend on R wait for such a "
            "permit and are not posted",
            until_delivered(
                [m],
                [tainted(m), src(m) != src(R)],
                And(Not(posted(m)), Exists([e], And(waits(m, e), told_by(e, src(m))))),
            ),
        ),
        evolve(ENFORCES_CSPS, lemma="Proposition 5.2"),
    ),
    safety=CAUSAL_DELIVERY,
    link="antecede.protocols.hybrid_proof:LINK",
)

SPS_POST = post(
    [
        Guard(
            "the permits of others than its receiver that it waits for are there",
            ForAll([e], Implies(And(waits(c, e), src(e) != dst(c)), permitted(e))),
            needed=True,
        ),
    ],
    [
        gains_all(
            flagged,
            (u,),
            And(
                u == c,
                Exists([x], And(before(x, c), Not(acknowledged(x)), dst(x) != dst(c))),
            ),
        )
    ],
)
SPS_PERMIT = evolve(
    PERMIT,
    guards=(
        *PERMIT.guards[:2],
        Guard(
            "all before it that are for others are acknowledged",
            ForAll([x], Implies(And(before(x, c), dst(x) != dst(c)), acknowledged(x))),
            needed=True,
        ),
    ),
)
HYBRID_SPS = evolve(
    HYBRID_BASIC,
    protocol="hybrid-sps",
    title="hybrid buffering, Algorithm 2 (SPS-optimal); packets may be lost, repeated, reordered",
    source="hybrid paper, Algorithm 2, section 5.6, which omits the proof",
    actions=(
        CAUSAL_SEND,
        SPS_POST,
        deliver([WAS_POSTED, IN_ORDER]),
        ACKNOWLEDGE,
        SPS_PERMIT,
        HEAR,
    ),
    conjuncts=(
        *HYBRID_BASIC.conjuncts[:7],
        Conjunct(
            "permits-after-acks",
            "a permit is sent only after all messages before its message to other destinations "
            "are acknowledged",
            whenever([m, x], [permit(m), before(x, m), dst(x) != dst(m)], acknowledged(x)),
        ),
        Conjunct(
            "sender-flags",
            "until R is delivered, every message that its sender posts after it to another "
            "destination is flagged",
            until_delivered([m], [before(R, m), posted(m), dst(m) != dst(R)], flagged(m)),
        ),
        HYBRID_BASIC.conjuncts[9],
        Conjunct(
            "others-tell-the-sender-only",
            "until R is delivered, messages of other actors that depend on R wait for such a "
            "permit; only those for R's sender are posted",
            until_delivered(
                [m],
                [tainted(m), src(m) != src(R)],
                And(
                    Implies(posted(m), dst(m) == src(R)),
                    Exists([e], And(waits(m, e), told_by(e, src(m)))),
                ),
            ),
        ),
        ENFORCES_SPS,
    ),
    axioms=(NO_SELF_SENDS,),
    link="antecede.protocols.hybrid_proof:SPS_LINK",
)

acknowledged_by = Relation(
    "acknowledged", (MESSAGE, ACTOR), "{0}'s sender has the acknowledgement of {1}"
)
heard_by = Relation("permitted", (MESSAGE, ACTOR), "the permit of {0} was received by {1}")


def has_all_acks(message: Term) -> Formula:
    """Return that every destination has acknowledged the message."""
    return ForAll([b], Implies(to(message, b), acknowledged_by(message, b)))


def is_for_several() -> Formula:
    """Return that c has several destinations."""
    return Exists([a, b], And(a != b, to(c, a), to(c, b)))


def told_by_copy(e: Term, a: Term) -> Formula:
    """Return that e, R or a later message of its sender, told a of R, and a misses e's permit."""
    return And(
        delivered_at(e, a),
        flagged(e),
        Not(heard_by(e, a)),
        src(e) == src(R),
        Or(e == R, before(R, e)),
    )


OPEN = And(to(R, D), sent(R), Not(delivered_at(R, D)))
"""R was sent to D and not delivered there."""

HYBRID_MULTICAST = Model(
    protocol="hybrid-multicast",
    title="hybrid buffering, Algorithm 3 (multicast); packets may be lost, repeated and reordered",
    source="hybrid paper, Algorithm 3, section 5.7",
    relations=(
        *APPLICATION_OF_MANY,
        posted,
        acknowledged_by,
        flagged,
        waits,
        permit,
        heard_by,
    ),
    actions=(
        causal_send(
            updates=[
                gains_all(
                    waits,
                    (u, v),
                    And(
                        u == c,
                        flagged(v),
                        delivered_at(v, src(c)),
                        Not(heard_by(v, src(c))),
                    ),
                )
            ]
        ),
        Action(
            name="post",
            params=(c,),
            guards=(
                *POST.guards[:3],
                Guard(
                    "the permits that it waits for are there",
                    ForAll([e], Implies(waits(c, e), heard_by(e, src(c)))),
                    needed=True,
                ),
            ),
            updates=(
                gains(posted, c),
                gains_all(
                    flagged,
                    (u,),
                    And(
                        u == c,
                        Or(
                            is_for_several(),
                            Exists([x], And(before(x, c), Not(has_all_acks(x)))),
                        ),
                    ),
                ),
            ),
            words="{0} is network-sent",
            urgent=True,
        ),
        deliver_at(
            [
                WAS_POSTED,
                Guard(
                    "its predecessor for this actor was delivered",
                    ForAll([x], Implies(And(before(x, c), to(x, a)), delivered_at(x, a))),
                    needed=True,
                ),
            ]
        ),
        Action(
            name="acknowledge",
            params=(c, a),
            guards=(
                Guard("was delivered there", delivered_at(c, a), needed=True),
                Guard("not acknowledged before", Not(acknowledged_by(c, a))),
            ),
            updates=(gains(acknowledged_by, c, a),),
            words="the acknowledgement of {0} by {1} reaches its sender",
        ),
        Action(
            name="permit",
            params=(c,),
            guards=(
                *PERMIT.guards[:2],
                Guard(
                    "all before it, and it itself, are acknowledged",
                    ForAll([x], Implies(Or(x == c, before(x, c)), has_all_acks(x))),
                    needed=True,
                ),
            ),
            updates=PERMIT.updates,
            words=PERMIT.words,
        ),
        Action(
            name="hear",
            params=(c, a),
            guards=(
                Guard("its permit was sent", permit(c), needed=True),
                Guard("was delivered there", delivered_at(c, a)),
                Guard("not heard before", Not(heard_by(c, a))),
            ),
            updates=(gains(heard_by, c, a),),
            words="the permit of {0} is received by {1}",
        ),
    ),
    conjuncts=(
        Conjunct(
            "life-of-a-copy",
            "acknowledged copies were delivered, delivered copies were posted to this actor, and "
            "posted messages were causal-sent",
            ForAll(
                [m, a],
                And(
                    Implies(acknowledged_by(m, a), delivered_at(m, a)),
                    Implies(delivered_at(m, a), And(posted(m), to(m, a))),
                    Implies(posted(m), sent(m)),
                ),
            ),
        ),
        ORDER,
        *GHOST_IS_OF_SENT,
        Conjunct(
            "life-of-a-permit",
            "received permits were sent, and a permit is sent only for a posted, flagged message",
            in_turn([m, a], heard_by(m, a), permit(m), flagged(m), posted(m)),
        ),
        Conjunct(
            "delivered-are-prefixes",
            "the delivered messages of each channel are its first ones",
            whenever([m, x, a], [before(x, m), to(x, a), delivered_at(m, a)], delivered_at(x, a)),
        ),
        OWN_TAINT_IS_LATER,
        Conjunct(
            "permits-after-acks",
            "a permit is sent only after its message and all messages before it are acknowledged",
            whenever(
                [m, x, a], [permit(m), Or(x == m, before(x, m)), to(x, a)], acknowledged_by(x, a)
            ),
        ),
        Conjunct(
            "sender-flags",
            "until R is delivered at D, every message that its sender posts after it is flagged",
            ForAll([m], Implies(And(OPEN, before(R, m), posted(m)), flagged(m))),
        ),
        Conjunct(
            "multicast-is-flagged",
            "if R was posted to D and other actors, it is flagged",
            ForAll([a], Implies(And(posted(R), to(R, D), to(R, a), a != D), flagged(R))),
        ),
        Conjunct(
            "knowers-miss-a-permit",
            "until R is delivered at D, every actor other than its sender that knows of it was "
            "told by a flagged message whose permit is missing, and is not D",
            whenever(
                [a], [OPEN, knows(a), a != src(R)], And(a != D, Exists([e], told_by_copy(e, a)))
            ),
        ),
        Conjunct(
            "others-wait",
            "until R is delivered at D, messages of other actors that depend on R wait for such a"
            " permit and are not posted",
            whenever(
                [m],
                [OPEN, tainted(m), src(m) != src(R)],
                And(
                    Not(posted(m)),
                    Exists([e], And(waits(m, e), told_by_copy(e, src(m)))),
                ),
            ),
        ),
    ),
    safety=CAUSAL_DELIVERY_OF_MANY,
    axioms=(NO_SELF_SENDS_OF_MANY,),
    link="antecede.protocols.hybrid_proof:MULTICAST_LINK",
)


# Below this line: the model's link to the Python of the protocol (`prove --link`)


def message_of(view: View, sender: int, number: int) -> int:
    """Return the message with an id; ids number a sender's messages."""
    return view.number(Message(sender, number, ()))


def events(view: View, transition: Transition, outcome: Any) -> Iterator[Event]:
    """Yield the events of a handler; repeated packets and timeouts have no event in the model."""
    if isinstance(transition, Timeout):
        return
    if isinstance(transition, CausalSend):
        actor = transition.actor
        yield "causal-send", causal_sent(view, transition)
    else:
        assert isinstance(transition, Receive)
        actor = transition.dst
        yield from first_reception(view, transition)
        for m in delivered_in(view, outcome):
            yield "deliver", m, *at(view, actor)
    yield from permits(view, actor, outcome)
    posted = {m for m in posted_in(view, actor, outcome) if not view.has("posted", m)}
    for m in sorted(posted):
        yield "post", m


def at(view: View, actor: int) -> tuple[int, ...]:
    """Return the actor of an event if messages have several destinations, otherwise nothing."""
    return (actor,) if "to" in view.sorts else ()


def first_reception(view: View, transition: Receive) -> Iterator[Event]:
    """Yield an ACK or a permit that is received for the first time."""
    packet, src, dst = transition.packet, transition.src, transition.dst
    if isinstance(packet, Ack):
        m = message_of(view, dst, packet.mid)
        if not view.has("acknowledged", m, *at(view, src)):
            yield "acknowledge", m, *at(view, src)
    elif isinstance(packet, Permit):
        m = message_of(view, src, packet.mid)
        # A permit that overtakes its message is dropped; a repeated ACK asks for it again.
        news = view.has("flagged", m) and not view.has("permitted", m, *at(view, dst))
        if news and view.has("delivered", m, *at(view, dst)):
            yield "hear", m, *at(view, dst)


def permits(view: View, actor: int, outcome: Any) -> Iterator[Event]:
    """Yield the permits that are sent for the first time, except permits of unflagged messages."""
    ids = {packet.mid for _, packet in outcome.step.sends if isinstance(packet, Permit)}
    for number in sorted(ids):
        m = message_of(view, actor, number)
        if view.has("flagged", m) and not view.has("permit", m):
            yield "permit", m


def local(state: Any) -> tuple[Any, ...]:
    """Return ld, ls, ck, missing permits, unacked buffer and send buffer of Algorithm 1."""
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
    """Return the greatest of some ids, or 0 if there is none."""
    return max(numbers, default=0)


def number_of(view: View, m: int) -> int:
    """Return the id of a message."""
    return view.message(m).number


def rebuild(view: View, actor: int) -> tuple[Any, ...]:
    """Return `local` as computed from the model's relations."""
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
    """Return ld, ls, ck and the missing permits."""
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
    """Return `local` for Algorithm 2, with the unified buffer."""
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
    """Return `local_sps` as computed from the model's relations."""
    own = view.sent(by=actor)
    first = next((k for k, m in enumerate(own) if not acked(view, m)), len(own))
    return (*common(view, actor), first + 1, tuple(entry(view, m, actor) for m in own[first:]))


def entry(view: View, m: int, actor: int) -> tuple[Any, ...]:
    """Return one message of the unified buffer."""
    sent = view.has("posted", m)
    per = view.has("flagged", m) if sent else awaited(view, m, actor)
    return number_of(view, m), sent, per, acked(view, m)


LINK = Link(events=events, rebuild=rebuild, local=local)
SPS_LINK = Link(events=events, rebuild=rebuild_sps, local=local_sps)
MULTICAST_LINK = Link(events=events, rebuild=rebuild, local=local, workload="multicast")
