"""How the abstract model of trees is linked to the Python: by the trees that its routes are."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
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
from antecede.protocols.tree import Data, Node, line


def events(view: View, transition: Transition, outcome: Any) -> Iterator[Event]:
    """M-Send, M-Route and M-Receive."""
    if isinstance(transition, CausalSend):
        ((hop, _),) = outcome.step.sends
        yield "causal-send", causal_sent(view, transition, outcome), hop
        return
    assert isinstance(transition, Receive)
    m = received_message(view, transition)
    for hop, _ in outcome.step.sends:
        yield "route", m, transition.src, transition.dst, hop
    for delivered in delivered_in(view, outcome):
        yield "deliver", delivered


def rebuild(view: View, actor: int) -> Node:
    """A node keeps nothing but its place: the way to each node is the near side of a link."""
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
    """What is on the links."""
    actors = range(view.system.actors)
    for m in view.sent():
        for u in actors:
            for v in actors:
                if view.has("at", m, u, v):
                    yield u, v, Data(view.message(m))


@cache
def cuts(actors: int) -> frozenset[tuple[int, int, int]]:
    """(u, v, a) where a is on the side of u when the link between u and v is cut, of a line."""
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
    """The links of a line of nodes, and their sides."""
    if name == "link":
        return iter({(u, v) for u, v, _ in cuts(system.actors)})
    return iter(cuts(system.actors))


LINK = Link(events=events, rebuild=rebuild, channels=channels, network="fifo", rigid=rigid)
