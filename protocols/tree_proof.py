"""Tree topologies for every tree, every number of nodes and messages.

S. Blessing, S. Clebsch, S. Drossopoulou: Tree Topologies for Causal Message Delivery (as in
`protocols.tree`), section 4. Removing the link that R is on cuts the tree in two. Until R has
passed, no actor on the far side knows of R. Messages that are causally after R are on the near
side, or behind R on this very link.

Trees are described by axioms that all trees satisfy: `near(u, v, a)` means that a is on the side of
u when the link between u and v is removed.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from typing import Any

from attrs import evolve
from z3 import And, Exists, ForAll, Implies, Not, Or

from antecede.checker.model import CausalSend, Packet, Receive, Transition
from antecede.checker.prove.link import (
    Event,
    Link,
    View,
    causal_sent,
    delivered_in,
    received_message,
)
from antecede.checker.prove.vocabulary import *
from antecede.protocols.tree import Node, line
from antecede.protocols.unordered import Data

m, x, y = messages("m x y")
a, b, u, v, w = actors("a b u v w")

link = Relation("link", (ACTOR, ACTOR), "{0} and {1} are neighbours", rigid=True)
near = Relation(
    "near", (ACTOR, ACTOR, ACTOR), "cut between {0} and {1}, {2} is on the side of {0}", rigid=True
)
at = Relation("at", (MESSAGE, ACTOR, ACTOR), "{0} is on the link from {1} to {2}")
ahead = Relation("ahead", (MESSAGE, MESSAGE), "{0} is ahead of {1} on the same link")

NEIGHBOURS = (
    "a link joins two different nodes, in both directions",
    ForAll([u, v], Implies(link(u, v), And(u != v, link(v, u)))),
)
TREE_AXIOMS = (
    NEIGHBOURS,
    (
        "a link has two sides, and each node is on exactly one of them",
        whenever(
            [u, v, a],
            [link(u, v)],
            And(near(u, v, u), Not(near(u, v, v)), near(v, u, a) != near(u, v, a)),
        ),
    ),
    (
        "only the link itself leads from one of its sides to the other, so no cycle exists",
        whenever(
            [u, v, a, b],
            [link(u, v), link(a, b), near(u, v, a), Not(near(u, v, b))],
            And(a == u, b == v),
        ),
    ),
    (
        "nodes behind a link are also behind the next link of a path",
        whenever([u, v, w, a], [link(u, v), link(v, w), u != w, near(u, v, a)], near(v, w, a)),
    ),
)


def leads(u: Term, v: Term, destination: Term) -> Formula:
    """Return Figure 4, `next`: v is the neighbour of u on the way to the destination."""
    return And(link(u, v), Not(near(u, v, destination)))


def is_head(u: Term, v: Term) -> tuple[Guard, Guard]:
    """Return the guards that c is on the link, and that no message is ahead of it."""
    return (
        Guard("is on the link", at(c, u, v), needed=True),
        Guard("is the head of its link", ForAll([x], Not(ahead(x, c))), needed=True),
    )


SEND = causal_send(
    params=(v,),
    guards=[Guard("the link leads to its destination", leads(src(c), v, dst(c)), needed=True)],
    updates=[
        gains(at, c, src(c), v),
        gains_all(ahead, (x, y), And(y == c, at(x, src(c), v))),
    ],
)
ROUTE = Action(
    name="route",
    params=(c, u, v, w),
    guards=(
        *is_head(u, v),
        Guard("the node is not its destination", dst(c) != v),
        Guard("the link leads to its destination", leads(v, w, dst(c)), needed=True),
    ),
    updates=(
        becomes(at, (x, a, b), Or(And(at(x, a, b), x != c), And(x == c, a == v, b == w))),
        becomes(
            ahead,
            (x, y),
            Or(And(ahead(x, y), x != c), And(y == c, at(x, v, w))),
        ),
    ),
    words="{0} goes on from the link {1}-{2} to the link {2}-{3}",
)
DELIVER = deliver(
    [
        Guard("is on a link to its destination", Exists([u], at(c, u, dst(c))), needed=True),
        Guard("is the head of its link", ForAll([x], Not(ahead(x, c))), needed=True),
    ],
    [loses_all(at, (x, a, b), x == c), loses_all(ahead, (x, y), x == c)],
)

TREE = Model(
    protocol="tree",
    title="messages hop along the FIFO links of a tree, without control data; every tree",
    source="Blessing, Clebsch and Drossopoulou 2017, Figures 3-5",
    relations=(*APPLICATION, link, near, at, ahead),
    actions=(SEND, ROUTE, DELIVER),
    conjuncts=(
        *GHOST_IS_OF_SENT,
        Conjunct(
            "one-place",
            "a message is on at most one link, which belongs to the tree, and only between its "
            "causal-send and its delivery",
            And(
                ForAll([m], Implies(delivered(m), sent(m))),
                whenever([m, u, v, a, b], [at(m, u, v), at(m, a, b)], And(u == a, v == b)),
                whenever([m, u, v], [at(m, u, v)], And(link(u, v), sent(m), Not(delivered(m)))),
            ),
        ),
        Conjunct(
            "on-its-way",
            "from its causal-send to its delivery, R is on a link that leads to its destination",
            And(
                Implies(And(sent(R), Not(delivered(R))), Exists([u, v], at(R, u, v))),
                ForAll([u, v], Implies(at(R, u, v), Not(near(u, v, dst(R))))),
            ),
        ),
        Conjunct(
            "ahead-is-of-a-link",
            "a message ahead of another one is on the other one's link",
            And(
                ForAll([x, y], Implies(ahead(x, y), And(sent(x), sent(y)))),
                ForAll([x, y, u, v], Implies(ahead(x, y), at(x, u, v) == at(y, u, v))),
            ),
            needed=False,
        ),
        Conjunct(
            "knowers-are-behind",
            "every actor that knows of R is behind R's link",
            ForAll([a, u, v], Implies(And(at(R, u, v), knows(a)), near(u, v, a))),
        ),
        Conjunct(
            "tainted-is-behind",
            "a message that depends on R is on a link behind R's link, or behind R on R's link",
            whenever(
                [m, u, v, a, b],
                [at(R, u, v), tainted(m), at(m, a, b)],
                Or(
                    And(near(u, v, a), near(u, v, b)),
                    And(a == u, b == v, ahead(R, m)),
                ),
            ),
            lemma="section 4",
        ),
        Conjunct("order-of-deliveries", CAUSAL_DELIVERY.says, CAUSAL_DELIVERY.formula),
    ),
    safety=CAUSAL_DELIVERY,
    axioms=TREE_AXIOMS,
    link="antecede.protocols.tree_proof:LINK",
)

TREE_RING = evolve(
    TREE,
    protocol="tree-ring",
    title="the tree protocol on links that need not form a tree: any link may lead to a "
    "destination",
    source="none; what Definition 3.2 rules out",
    axioms=(TREE_AXIOMS[0], TREE_AXIOMS[1]),
    expected="FAILED",
    link=None,
)


# Below this line: the model's link to the Python of the protocol (`prove --link`)


def events(view: View, transition: Transition, outcome: Any) -> Iterator[Event]:
    """Yield the events of M-Send, M-Route and M-Receive."""
    if isinstance(transition, CausalSend):
        ((hop, _),) = outcome.step.sends
        yield "causal-send", causal_sent(view, transition), hop
        return
    assert isinstance(transition, Receive)
    m = received_message(view, transition)
    for hop, _ in outcome.step.sends:
        yield "route", m, transition.src, transition.dst, hop
    for each in delivered_in(view, outcome):
        yield "deliver", each


def rebuild(view: View, actor: int) -> Node:
    """Return a node's place, its only state: the way to each node is the near side of a link."""
    actors = range(view.system.actors)
    return Node(actor, tuple(_hop(view, actor, j) for j in actors))


def _hop(view: View, i: int, j: int) -> int:
    if i == j:
        return i
    (hop,) = (
        v for v in range(view.system.actors) if view.has("link", i, v) and view.has("near", v, i, j)
    )
    return hop


def channels(view: View) -> Iterator[tuple[int, int, Packet]]:
    """Yield the messages on the links."""
    actors = range(view.system.actors)
    for m in view.sent():
        for u in actors:
            for v in actors:
                if view.has("at", m, u, v):
                    yield u, v, Data(view.message(m))


@cache
def cuts(actors: int) -> frozenset[tuple[int, int, int]]:
    """Return all (u, v, a) with a on the side of u when a line is cut between u and v."""
    routes, nodes = line(actors), range(actors)
    return frozenset(
        (u, v, a)
        for u in nodes
        for v in nodes
        if u != v and routes[u][v] == v
        for a in nodes
        if a != v and routes[v][a] == u
    )


def rigid(system: Any, name: str) -> Iterator[tuple[int, ...]]:
    """Yield the links of a line of nodes, and their sides."""
    if name == "link":
        return iter({(u, v) for u, v, _ in cuts(system.actors)})
    return iter(cuts(system.actors))


LINK = Link(events=events, rebuild=rebuild, channels=channels, network="fifo", rigid=rigid)
