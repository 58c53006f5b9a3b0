"""Cykas for every number of actors and messages: safety, and nothing undelivered at quiescence.

Y. Tong, N. Liittschwager, L. Kuper: Can you keep a secret? A new protocol for sender-side
enforcement of causal message delivery (as in `protocols.cykas`), section 3. Until R is
acknowledged, any other actor that knows of R got an Eager Send that waits for R, and sends nothing.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from attrs import evolve
from z3 import And, Exists, ForAll, If, Implies, Not, Or

from antecede.checker.model import CausalSend, Packet, Receive, Transition
from antecede.checker.prove.link import Event, Link, View, causal_sent, delivered_in, posted_in
from antecede.checker.prove.stock import *
from antecede.checker.prove.vocabulary import *
from antecede.protocols.cykas import Ack, Cykas, Eager, Normal, Yct
from antecede.protocols.cykas_secret_mode import CykasSecretMode
from antecede.protocols.mfss_proof import buffered, unacknowledged, waiting

m, x, e, u, v = messages("m x e u v")
a, b = actors("a b")

eager = Relation("eager", (MESSAGE,), "{0} was an Eager Send")
waits = Relation("waits", (MESSAGE, MESSAGE), "the YCT of {0} waits for the ACK of {1}")
told = Relation("told", (MESSAGE,), "the YCT of {0} was sent")
heard = Relation("heard", (MESSAGE,), "the YCT of {0} was received")
tries = Relation("tries", (ACTOR,), "{0} runs TRY_SEND_MESSAGE")
confidant = Relation("confidant", (ACTOR, ACTOR), "{0} may send to {1} in secret mode")


def keeps_secret(actor: Term) -> Formula:
    """Return Algorithm 2, line 2: the actor has an Eager Send whose YCT is missing."""
    return Exists([e], And(eager(e), delivered(e), dst(e) == actor, Not(heard(e))))


def unacknowledged_to_same(message: Term) -> Formula:
    """Return Algorithm 2: UNACK has the bit of the message's receiver."""
    same = And(src(x) == src(message), dst(x) == dst(message))
    return Exists([x], And(posted(x), same, Not(acknowledged(x))))


def is_next(message: Term) -> Formula:
    """Return that the message is the head of OB."""
    return ForAll([x], Implies(before(x, message), posted(x)))


def could_be_posted(message: Term) -> Formula:
    """Return that the message waits only for TRY_SEND_MESSAGE."""
    return And(
        sent(message),
        Not(posted(message)),
        is_next(message),
        Not(keeps_secret(src(message))),
        Not(unacknowledged_to_same(message)),
    )


POST = post(
    [
        Guard("in TRY_SEND_MESSAGE", tries(src(c))),
        Guard("is the head of OB", is_next(c), needed=True),
        Guard("not in secret mode", Not(keeps_secret(src(c))), needed=True),
        Guard("none to its receiver is unacknowledged", Not(unacknowledged_to_same(c)), True),
    ],
    [
        gains_all(
            eager,
            (u,),
            And(
                u == c,
                Exists([x], And(posted(x), src(x) == src(c), Not(acknowledged(x)))),
            ),
        ),
        gains_all(waits, (u, v), And(u == c, posted(v), src(v) == src(c), Not(acknowledged(v)))),
    ],
)
STOP = Action(
    name="stop",
    params=(a,),
    guards=(
        Guard("in TRY_SEND_MESSAGE", tries(a)),
        Guard(
            "nothing can be posted",
            ForAll([m], Implies(src(m) == a, Not(could_be_posted(m)))),
            needed=True,
        ),
    ),
    updates=(loses_all(tries, (b,), b == a),),
    words="{0} comes to the end of TRY_SEND_MESSAGE",
    urgent=True,
)
TELL = Action(
    name="tell",
    params=(c,),
    guards=(
        Guard("was an Eager Send", eager(c)),
        Guard("not told before", Not(told(c))),
        Guard(
            "what it waits for is acknowledged",
            ForAll([x], Implies(waits(c, x), acknowledged(x))),
            needed=True,
        ),
        Guard("none to its receiver is unacknowledged", Not(unacknowledged_to_same(c))),
    ),
    updates=(gains(told, c),),
    words="the YCT of {0} is sent",
    urgent=True,
)
HEAR = Action(
    name="hear",
    params=(c,),
    guards=(Guard("was told", told(c), needed=True), Guard("not heard before", Not(heard(c)))),
    updates=(gains(heard, c), gains_all(tries, (b,), b == dst(c))),
    words="the YCT of {0} is received",
)
CAUSAL_SEND = causal_send(updates=[gains_all(tries, (b,), b == src(c))])
TRY_AFTER_ACK = gains_all(tries, (b,), b == src(c))
ACK = evolve(ACKNOWLEDGE, updates=(*ACKNOWLEDGE.updates, TRY_AFTER_ACK))

CYKAS = Model(
    protocol="cykas",
    title="Cykas: Eager Sends, secret mode, YCTs; packets in any order",
    source="Cykas paper, Algorithms 1-5, section 3",
    relations=(
        *APPLICATION,
        posted,
        acknowledged,
        eager,
        waits,
        told,
        heard,
        tries,
    ),
    actions=(
        CAUSAL_SEND,
        POST,
        STOP,
        deliver([WAS_POSTED]),
        ACK,
        TELL,
        HEAR,
    ),
    conjuncts=(
        LIFE_OF_A_POST,
        *GHOST_IS_OF_SENT,
        Conjunct(
            "life-of-a-yct",
            "received YCTs were sent, and a YCT is sent only for a posted Eager Send",
            in_turn([m], heard(m), told(m), eager(m), posted(m)),
        ),
        Conjunct(
            "waits-for-posted",
            "an Eager Send waits only for posted messages",
            ForAll([m, x], Implies(waits(m, x), posted(x))),
            lemma="Lemma 3.4",
        ),
        Conjunct(
            "told-after-acks",
            "a YCT is sent only after all messages that its Eager Send waits for are acknowledged",
            ForAll([m, x], Implies(And(told(m), waits(m, x)), acknowledged(x))),
            lemma="Lemma 3.4",
        ),
        Conjunct(
            "posted-in-order",
            "messages are posted in the order of their causal-sends",
            ForAll([m, x], Implies(And(before(x, m), posted(m)), posted(x))),
            lemma="Proposition 3.1, first key aspect",
            needed=False,
        ),
        Conjunct(
            "own-taint-is-later",
            "a message of R's sender that depends on R comes after R",
            ForAll([m], Implies(And(tainted(m), src(m) == src(R)), before(R, m))),
        ),
        Conjunct(
            "others-keep-still",
            "until R is delivered, only its sender posts messages that depend on it",
            until_delivered([m], [tainted(m), src(m) != src(R)], Not(posted(m))),
            lemma="Proposition 3.1",
        ),
        Conjunct(
            "sender-sends-eagerly",
            "until R is delivered, every posted message of its sender that depends on R is an "
            "Eager Send that waits for R and has another destination",
            until_delivered(
                [m],
                [tainted(m), src(m) == src(R), posted(m)],
                And(eager(m), waits(m, R), dst(m) != dst(R)),
            ),
            lemma="Proposition 3.1, second key aspect",
        ),
        Conjunct(
            "knowers-keep-a-secret",
            "until R is delivered, every other actor that knows of it was told by an Eager Send "
            "that waits for R",
            until_delivered(
                [a],
                [knows(a), a != src(R)],
                Exists([m], And(delivered(m), dst(m) == a, eager(m), waits(m, R))),
            ),
            lemma="Proposition 3.1",
        ),
        Conjunct(
            "who-sends-tainted-knows",
            "the sender of a message that depends on R knows of R",
            ForAll([m], Implies(tainted(m), knows(src(m)))),
        ),
        ORDER_IS_OF_SENT,
        Conjunct(
            "stops-for-a-reason",
            "outside TRY_SEND_MESSAGE the head of OB waits for an ACK or a YCT",
            ForAll([m], Implies(could_be_posted(m), tries(src(m)))),
            lemma="Proposition 3.2",
        ),
    ),
    safety=CAUSAL_DELIVERY,
    quiescent=ALL_DELIVERED,
    link="antecede.protocols.cykas_proof:LINK",
)

CYKAS_AS_PRINTED = evolve(
    CYKAS,
    protocol="cykas-as-printed",
    title="Cykas with line 8 of Algorithm 4 inside the loop over EAGER_SENT",
    source="Cykas paper, Algorithms 1-5 to the letter",
    actions=replaced(
        CYKAS.actions,
        "acknowledge",
        lambda action: evolve(
            action,
            updates=(
                *ACKNOWLEDGE.updates,
                gains_all(  # as printed: only if the loop has an entry to meet
                    tries, (b,), And(b == src(c), Exists([e], And(eager(e), src(e) == b)))
                ),
            ),
        ),
    ),
    expected="FAILED",
    link=None,
)

_CONFIDES = becomes(
    confidant,
    (a, b),
    If(And(a == dst(c), eager(c)), b == src(c), confidant(a, b)),
)
_CONFIDENCE_ENDS = loses_all(
    confidant,
    (a, b),
    And(
        a == dst(c),
        ForAll([e], Implies(And(eager(e), delivered(e), dst(e) == a, e != c), heard(e))),
    ),
)
CYKAS_SECRET_MODE = evolve(
    CYKAS,
    protocol="cykas-secret-mode",
    title="Cykas that may send to its latest eager sender in secret mode",
    source="Cykas paper, section 2.3",
    relations=(*CYKAS.relations, confidant),
    actions=(
        CAUSAL_SEND,
        evolve(
            POST,
            guards=(
                *without_guard(POST, "not in secret mode").guards,
                Guard(
                    "not in secret mode, or to the confidant",
                    Or(Not(keeps_secret(src(c))), confidant(src(c), dst(c))),
                ),
            ),
        ),
        STOP,
        deliver([Guard("was posted", posted(c))], [_CONFIDES]),
        ACK,
        TELL,
        evolve(HEAR, updates=(*HEAR.updates, _CONFIDENCE_ENDS)),
    ),
    quiescent=None,
    conjuncts=CYKAS.conjuncts[:-1],
    expected="FAILED",
    link="antecede.protocols.cykas_proof:SECRET_MODE_LINK",
)


# Below this line: the model's link to the Python of the protocol (`prove --link`)


def events(view: View, transition: Transition, outcome: Any) -> Iterator[Event]:
    """Yield the events of Algorithms 1, 3, 4 and 5."""
    if isinstance(transition, CausalSend):
        actor = transition.actor
        yield "causal-send", causal_sent(view, transition)
    else:
        assert isinstance(transition, Receive)
        actor = transition.dst
        if isinstance(transition.packet, Ack):
            yield "acknowledge", view.first(unacknowledged(view, transition), "to acknowledge")
            yield from tells(view, actor, outcome)
        elif isinstance(transition.packet, Yct):
            yield "hear", view.first(unheard(view, transition.src, actor), "whose YCT this is")
        else:
            for m in delivered_in(view, outcome):
                yield "deliver", m
            return
    for m in posted_in(view, actor, outcome):
        yield "post", m
    yield "stop", actor


def tells(view: View, actor: int, outcome: Any) -> Iterator[Event]:
    """Yield the YCTs of a step: for each receiver, those of its oldest Eager Sends."""
    queues = {
        j: [m for m in view.sent(actor, j) if view.has("eager", m) and not view.has("told", m)]
        for j in range(view.system.actors)
    }
    for j, packet in outcome.step.sends:
        if isinstance(packet, Yct):
            yield "tell", view.first(queues[j], "whose YCT this is")
            queues[j] = queues[j][1:]


def unheard(view: View, src: int, dst: int) -> list[int]:
    """Return the messages with a YCT in flight; these YCTs are interchangeable."""
    return [m for m in view.sent(src, dst) if view.has("told", m) and not view.has("heard", m)]


def rebuild(view: View, actor: int) -> Cykas:
    """Return UNACK, EAGER_SENT, OB and MODE."""
    actors = range(view.system.actors)
    receivers = {view.dst(m) for m in waiting(view, actor)}
    return Cykas(
        UNACK=tuple(j in receivers for j in actors),
        EAGER_SENT=tuple(tuple(bit_vectors(view, actor, j)) for j in actors),
        OB=buffered(view, actor),
        MODE=sum(
            view.has("eager", m) and view.has("delivered", m) and not view.has("heard", m)
            for m in view.sent(to=actor)
        ),
    )


def bit_vectors(view: View, actor: int, j: int) -> Iterator[tuple[bool, ...]]:
    """Yield the queue of EAGER_SENT for j: per Eager Send, the receivers whose ACK it awaits."""
    for m in view.sent(actor, j):
        if view.has("eager", m) and not view.has("told", m):
            missing = {
                view.dst(x)
                for x in view.sent(actor)
                if view.has("waits", m, x) and not view.has("acknowledged", x)
            }
            yield tuple(k in missing for k in range(view.system.actors))


def channels(view: View, acked: str = "acknowledged") -> Iterator[tuple[int, int, Packet]]:
    """Yield the messages, ACKs and YCTs in flight; `acked` has the messages with a received ACK."""
    for m in view.sent():
        src, dst = view.src(m), view.dst(m)
        if view.has("posted", m) and not view.has("delivered", m):
            kind = Eager if view.has("eager", m) else Normal
            yield src, dst, kind(view.message(m))
        if view.has("delivered", m) and not view.has(acked, m):
            yield dst, src, Ack()
        if view.has("told", m) and not view.has("heard", m):
            yield src, dst, Yct()


def rebuild_secret_mode(view: View, actor: int) -> CykasSecretMode:
    """Return the state as `rebuild` does, with the confidant."""
    made = rebuild(view, actor)
    found = [j for j in range(view.system.actors) if view.has("confidant", actor, j)]
    return CykasSecretMode(
        made.UNACK, made.EAGER_SENT, made.OB, made.MODE, confidant=found[0] if found else None
    )


LINK = Link(events=events, rebuild=rebuild, channels=channels)
SECRET_MODE_LINK = Link(events=events, rebuild=rebuild_secret_mode, channels=channels)
