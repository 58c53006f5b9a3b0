"""Newtop's safety for every number of actors, messages and clock values.

P. Ezhilchelvan, R. Macêdo, S. Shrivastava: Newtop (as in `protocols.newtop`). A Lamport clock is
the set of the values that it has reached: `clock(a, t)` means that the clock of a is t or more.
Liveness is not claimed, because `protocols.newtop` waits for messages that may never be sent.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from z3 import And, Exists, ForAll, If, Implies, Not, Or

from antecede.checker.model import Transition
from antecede.checker.prove.link import Event, Link, View
from antecede.checker.prove.stock import LIFE_OF_A_RECEPTION, ORDER, WAS_RECEIVED, receive, received
from antecede.checker.prove.vocabulary import *
from antecede.protocols import newtop
from antecede.protocols.fifo_proof import channels_of, events, held
from antecede.protocols.mail_room import Held

m, x, y, u = messages("m x y u")
a, b, j = actors("a b j")
t, s, r = times("t s r")

upto = Relation("upto", (TIME, TIME), "{0} is at most {1}", rigid=True)
clock = Relation("clock", (ACTOR, TIME), "the clock of {0} is at least {1}")
stamp = Relation("stamp", (MESSAGE, TIME), "the clock on {0} is at least {1}")
heard = Relation("heard", (ACTOR, ACTOR, TIME), "{0} has received {2} or more from {1}")

LINEAR = (
    "clock values are linearly ordered",
    And(
        ForAll([t], upto(t, t)),
        ForAll([t, s], Or(upto(t, s), upto(s, t))),
        ForAll([t, s], Implies(And(upto(t, s), upto(s, t)), t == s)),
        ForAll([t, s, r], Implies(And(upto(t, s), upto(s, r)), upto(t, r))),
    ),
)


def is_less(one: Term, other: Term) -> Formula:
    """Return that one message's clock is less than the other message's clock."""
    return And(
        ForAll([t], Implies(stamp(one, t), stamp(other, t))),
        Exists([t], And(stamp(other, t), Not(stamp(one, t)))),
    )


RECEIVE = receive(
    [
        Guard(
            "the network hands over in order",
            ForAll([x], Implies(And(before(x, c), dst(x) == dst(c)), received(x))),
            needed=True,
        )
    ],
    [
        gains_all(clock, (a, t), And(a == dst(c), stamp(c, t))),
        becomes(
            heard,
            (a, b, t),
            If(And(a == dst(c), b == src(c)), stamp(c, t), heard(a, b, t)),
        ),
    ],
)
SEND = causal_send(
    params=(t,),
    guards=[
        Guard(
            "the clock ticks to its next value",
            And(
                Not(clock(src(c), t)),
                ForAll([s], Implies(And(upto(s, t), s != t), clock(src(c), s))),
            ),
            needed=True,
        )
    ],
    updates=[
        gains(clock, src(c), t),
        gains_all(stamp, (u, s), And(u == c, Or(s == t, clock(src(c), s)))),
    ],
)
DELIVER = deliver(
    [
        WAS_RECEIVED,
        Guard(
            "everybody else was heard with its clock",
            ForAll([b, t], Implies(And(b != dst(c), stamp(c, t)), heard(dst(c), b, t))),
            needed=True,
        ),
        Guard(
            "nothing received with a lesser clock waits",
            whenever([x], [received(x), Not(delivered(x)), dst(x) == dst(c)], Not(is_less(x, c))),
            needed=True,
        ),
    ],
    urgent=True,
)

NEWTOP = Model(
    protocol="newtop",
    title="Newtop: Lamport clocks, delivery in clock order after a message from every actor; FIFO"
    " links",
    source="Newtop, as in section 3.1 of the hybrid paper",
    relations=(*APPLICATION, received, upto, clock, stamp, heard),
    actions=(SEND, RECEIVE, DELIVER),
    conjuncts=(
        LIFE_OF_A_RECEPTION,
        ORDER,
        Conjunct(
            "clocks-are-numbers",
            "a clock that has reached a value has reached all lesser values",
            And(
                ForAll([a, t, s], Implies(And(upto(s, t), clock(a, t)), clock(a, s))),
                ForAll([m, t, s], Implies(And(upto(s, t), stamp(m, t)), stamp(m, s))),
                ForAll([a, b, t, s], Implies(And(upto(s, t), heard(a, b, t)), heard(a, b, s))),
            ),
            needed=False,
        ),
        Conjunct(
            "stamps-are-of-clocks",
            "the clock on a message is at most its sender's present clock",
            ForAll([m, t], Implies(stamp(m, t), And(sent(m), clock(src(m), t)))),
        ),
        Conjunct(
            "receiving-advances-the-clock",
            "an actor's clock is at least the clock on every message that it received",
            ForAll([m, t], Implies(And(received(m), stamp(m, t)), clock(dst(m), t))),
        ),
        Conjunct(
            "later-is-greater",
            "of two messages from one sender, the later one has the greater clock",
            ForAll([m, x], Implies(before(x, m), is_less(x, m))),
        ),
        Conjunct(
            "received-in-order",
            "the received messages of each channel are its first ones",
            whenever([m, x], [before(x, m), dst(x) == dst(m), received(m)], received(x)),
        ),
        Conjunct(
            "heard-is-received",
            "every clock that an actor heard came on a message that it received",
            whenever(
                [a, b, t],
                [heard(a, b, t)],
                Exists([x], And(received(x), src(x) == b, dst(x) == a, stamp(x, t))),
            ),
        ),
        Conjunct(
            "knowing-advances-the-clock",
            "the clock of an actor that knows of R is at least the clock on R",
            ForAll([a, t], Implies(And(knows(a), stamp(R, t)), clock(a, t))),
        ),
        Conjunct(
            "taint-is-greater",
            "the clock on a message that depends on R is greater than the clock on R",
            ForAll([m], Implies(tainted(m), is_less(R, m))),
        ),
        Conjunct(
            "knowing-needs-a-send",
            "actors know of R only after its causal-send",
            And(
                ForAll([a], Implies(knows(a), sent(R))),
                ForAll([m], Implies(tainted(m), sent(R))),
            ),
        ),
        Conjunct("causal-order", CAUSAL_DELIVERY.says, CAUSAL_DELIVERY.formula),
    ),
    safety=CAUSAL_DELIVERY,
    axioms=(NO_SELF_SENDS, LINEAR),
    link="antecede.protocols.newtop_proof:NEWTOP_LINK",
)


# Below this line: the model's link to the Python of the protocol (`prove --link`)


# Element t of the sort Time is the clock value t + 1.


def events_of_newtop(view: View, transition: Transition, outcome: Any) -> Iterator[Event]:
    """Like `events`; a causal-send also names the new value of the clock."""
    for event in events(view, transition, outcome):
        ticks = () if event[0] != "causal-send" else (outcome.step.state.clock - 1,)
        yield (*event, *ticks)


def value(view: View, relation: str, *elements: int) -> int:
    """Return the greatest clock value in the relation."""
    return sum(view.has(relation, *elements, t) for t in range(view.sizes["Time"]))


def with_clock(view: View, m: int) -> newtop.Timestamped:
    """Return a message with its clock."""
    return newtop.Timestamped(view.message(m), value(view, "stamp", m))


def rebuild_newtop(view: View, actor: int) -> newtop.Newtop:
    """Return the clock, the last clock received from each actor, and the held messages."""
    waiting = (Held(view.src(m), with_clock(view, m)) for m in held(view, actor))
    return newtop.Newtop(
        actor,
        clock=value(view, "clock", actor),
        last_received=tuple(value(view, "heard", actor, j) for j in range(view.system.actors)),
        held_back=tuple(sorted(waiting, key=lambda one: (one.packet.clock, one.src))),
    )


def order_of_values(system: Any, _name: str) -> Iterator[tuple[int, ...]]:
    """Yield the order of clock values, which are numbers."""
    count = system.actors * system.messages
    return ((t, s) for t in range(count) for s in range(count) if t <= s)


NEWTOP_LINK = Link(
    events=events_of_newtop,
    rebuild=rebuild_newtop,
    channels=channels_of(with_clock),
    network="fifo",
    rigid=order_of_values,
)
