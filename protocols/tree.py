"""Tree topologies: a message travels hop by hop along a tree of FIFO links, without control data.

S. Blessing, S. Clebsch, S. Drossopoulou: Tree Topologies for Causal Message Delivery. Proceedings
of AGERE 2017, section 3: Figures 3 to 5, rules M-Send, M-Route, M-Forward and M-Receive.

The actors are the nodes. A node's out-queue towards a neighbour, followed by that neighbour's
in-queue from it, is the channel between the two on a `fifo` network. M-Forward moves a message from
the out-queue to the in-queue without changing their order, so it is no transition here. A node's
only state is its place in the tree. M-Route and M-Receive take the head of an in-queue: they are
the two cases of a receive.

Differences: Figure 3 as printed makes M-Route push to an out-queue of the neighbour (read: of the
node itself) and M-Forward push to an in-queue of the node (read: of its neighbour), against its
text. A message has one destination, which is not its sender.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeAlias

from attrs import frozen

from antecede import Message, Protocol, Step
from antecede.protocols.unordered import Data

Tree: TypeAlias = Sequence[int]
"""T of Figure 3: the parent of each node; the root is its own parent."""

Routes: TypeAlias = tuple[int, ...]
"""A node's next hop towards each node."""


@frozen
class Node:
    """A node's place among the nodes: its name, and the next hop towards each of them."""

    actor: int
    routes: Routes


def causal_send(state: Node, message: Message) -> Step:
    """M-Send: push the message to the out-queue towards its destination."""
    return Step(state, sends=((state.routes[message.receiver], Data(message)),))


def receive(state: Node, _src: int, packet: Data) -> Step:
    """M-Receive at the destination, M-Route elsewhere."""
    if packet.message.receiver == state.actor:
        return Step(state, deliveries=(packet.message,))
    return Step(state, sends=((state.routes[packet.message.receiver], packet),))


def children(node: int, tree: Tree) -> frozenset[int]:
    """Definition 3.1."""
    return frozenset(child for child, parent in enumerate(tree) if parent == node != child)


def next_hop(node: int, destination: int, tree: Tree) -> int:
    """Figure 4, `next`: a child if `destination` is below it, otherwise the parent."""
    if destination in children(node, tree):
        return destination
    if destination == tree[destination]:
        return tree[node]
    return next_hop(node, tree[destination], tree)


def routes_in(tree: Tree) -> tuple[Routes, ...]:
    """Return the routes of every node of a well-formed tree.

    Raises:
        ValueError: `tree` is not well-formed (Definition 3.2).
    """
    check_well_formed(tree)
    nodes = range(len(tree))
    return tuple(tuple(next_hop(i, j, tree) if i != j else i for j in nodes) for i in nodes)


def check_well_formed(tree: Tree) -> None:
    """Definition 3.2: every parent is a node, there is one root, and no cycle.

    Raises:
        ValueError: the tree is not well-formed.
    """
    nodes = range(len(tree))
    strangers = [parent for parent in tree if parent not in nodes]
    if strangers:
        raise ValueError(f"parent {strangers[0]} is no node; nodes are 0 to {len(tree) - 1}")
    roots = [node for node in nodes if tree[node] == node]
    if len(roots) != 1:
        raise ValueError(f"a tree has one root, a node that is its own parent; here: {roots}")
    for node in nodes:
        above = node
        for _ in nodes:
            above = tree[above]
        if above != roots[0]:
            raise ValueError(f"node {node} is on a cycle or below one: it never gets to the root")


def tree(parents: Tree, name: str = "tree", summary: str = "") -> Protocol:
    """Return the protocol for nodes with these parents.

    Raises:
        ValueError: the parents do not form a well-formed tree.
    """
    routes = routes_in(parents)

    def routes_of(actors: int) -> tuple[Routes, ...]:
        if actors != len(parents):
            raise ValueError(f"this tree has {len(parents)} nodes, not {actors}")
        return routes

    return routed(routes_of, name, summary or f"FIFO links along the tree of parents {parents}")


def routed(
    routes_of: Callable[[int], tuple[Routes, ...]],
    name: str,
    summary: str,
    source: str = "Blessing, Clebsch and Drossopoulou 2017, Figures 3-5",
) -> Protocol:
    """Return the protocol whose nodes route by `routes_of(actors)`; they need not form a tree."""

    def initial(actor: int, actors: int) -> Node:
        return Node(actor, routes_of(actors)[actor])

    return Protocol(
        name=name,
        summary=summary,
        source=source,
        initial=initial,
        causal_send=causal_send,
        receive=receive,
        network="fifo",
    )


def line(actors: int) -> tuple[Routes, ...]:
    """Return the routes of the tree where each node's parent is the previous node."""
    return routes_in([max(node - 1, 0) for node in range(actors)])


def star(actors: int) -> tuple[Routes, ...]:
    """Return the routes of the tree where node 0 is the parent of all nodes."""
    return routes_in([0] * actors)


def shortest_way_round(actors: int) -> tuple[Routes, ...]:
    """Return routes in a ring, where each message takes the shorter way; a ring is no tree."""

    def hop(i: int, j: int) -> int:
        ahead = (j - i) % actors
        return (i + (1 if ahead <= actors - ahead else -1)) % actors

    return tuple(tuple(hop(i, j) if i != j else i for j in range(actors)) for i in range(actors))


def one_way_round(actors: int) -> tuple[Routes, ...]:
    """Return routes that Figure 4 yields for a cycle of parents: all messages go one way round."""
    cycle = [(node + 1) % actors for node in range(actors)]
    nodes = range(actors)
    return tuple(tuple(next_hop(i, j, cycle) if i != j else i for j in nodes) for i in nodes)


TREE = routed(line, "tree", "FIFO links along a tree, without control data; nodes in a line")
TREE_STAR = routed(star, "tree-star", "tree with node 0 in the middle of a star")

# Section 2, its four nodes numbered from 0. The trees follow from the text's routes.
# Figure 1: section 3.1 gives the parents; Customer 0, Bank 2, Shop 3 (section 2 swaps the last two,
# against the routes it describes). Figure 2 left: the route of "credit" is the end of the route of
# "debit"; the same actors. Figure 2 right: "credit" and "buy" both pass the last node. From there,
# "credit" and "debit" go on to the first node; Customer 1, Shop 2, Bank 0.
TREE_FIGURE_1 = tree((1, 2, 2, 2), "tree-figure-1", "tree of Figure 1: nodes 0-1-2-3 in a line")
TREE_FIGURE_2_LEFT = tree(
    (1, 2, 2, 0), "tree-figure-2-left", "tree of Figure 2, left: nodes 3-0-1-2 in a line"
)
TREE_FIGURE_2_RIGHT = tree(
    (3, 3, 3, 3), "tree-figure-2-right", "tree of Figure 2, right: node 3 between 0, 1 and 2"
)

RING = routed(
    shortest_way_round,
    "tree-ring",
    "control: a cycle of FIFO links; each message takes the shorter way",
    source="none; what Definition 3.2 rules out",
)
ONE_WAY_RING = routed(
    one_way_round,
    "tree-one-way-ring",
    "a cycle of FIFO links, used in one direction",
    source="Blessing, Clebsch and Drossopoulou 2017, Figure 4 without Definition 3.2",
)
