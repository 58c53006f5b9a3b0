"""Tree topologies: the rules beside the paper, its three figures, and checks."""

from __future__ import annotations

import itertools
import json
from collections.abc import Iterator

import pytest

from antecede.checker.model import Message, Protocol, Step
from antecede.checker.search.result import Verdict
from antecede.protocols import tree as module
from antecede.protocols.tree import (
    ONE_WAY_RING,
    RING,
    TREE,
    TREE_FIGURE_1,
    TREE_FIGURE_2_LEFT,
    TREE_FIGURE_2_RIGHT,
    TREE_STAR,
    Node,
    Tree,
    check_well_formed,
    next_hop,
    routes_in,
    tree,
)
from antecede.protocols.unordered import Data
from tests.conftest import search

FIGURE_1 = (1, 2, 2, 2)
"""T of section 3.1, its nodes numbered from 0."""


def purchase(customer: int, shop: int, bank: int) -> str:
    """Return the workload of section 2: "credit", then "buy", then in reaction "debit"."""
    sends = [
        {"name": "credit", "from": customer, "to": [bank]},
        {"name": "buy", "from": customer, "to": [shop]},
        {"name": "debit", "from": shop, "to": [bank], "after": ["buy"]},
    ]
    return "reaction:" + json.dumps(sends)


def trees(nodes: int) -> Iterator[Tree]:
    """Generate the trees of a number of nodes, once per root."""
    for parents in itertools.product(range(nodes), repeat=nodes):
        try:
            check_well_formed(parents)
        except ValueError:
            continue
        yield parents


def way(start: int, end: int, parents: Tree) -> list[int]:
    """Figure 5, `path`."""
    return [start] if start == end else [start, *way(next_hop(start, end, parents), end, parents)]


def verdict(protocol: Protocol, actors: int, workload: str = "any", messages: int = 1) -> Verdict:
    return search(protocol, actors, messages, workload=workload, network="fifo").verdict


# the rules


def test_m_send_pushes_to_the_queue_of_the_next_hop() -> None:
    node, message = TREE_FIGURE_1.initial(0, 4), Message(0, 1, (2,))
    assert Step(node, sends=((1, Data(message)),)) == TREE_FIGURE_1.causal_send(node, message)


def test_m_route_passes_a_message_on_as_it_came() -> None:
    node, packet = TREE_FIGURE_1.initial(1, 4), Data(Message(0, 1, (2,)))
    assert Step(node, sends=((2, packet),)) == TREE_FIGURE_1.receive(node, 0, packet)


def test_m_receive_delivers_at_the_destination() -> None:
    node, message = TREE_FIGURE_1.initial(2, 4), Message(0, 1, (2,))
    assert Step(node, deliveries=(message,)) == TREE_FIGURE_1.receive(node, 1, Data(message))


def test_node_knows_its_next_hops_and_nothing_else() -> None:
    assert Node(actor=1, routes=(0, 1, 2, 2)) == TREE_FIGURE_1.initial(1, 4)


@pytest.mark.parametrize(
    ("start", "end", "expected"),
    [(0, 2, [0, 1, 2]), (0, 3, [0, 1, 2, 3]), (3, 0, [3, 2, 1, 0]), (3, 2, [3, 2])],
)
def test_ways_in_figure_1(start: int, end: int, expected: list[int]) -> None:
    assert expected == way(start, end, FIGURE_1)


@pytest.mark.parametrize("nodes", [2, 3, 4])
def test_ways_in_a_tree_do_not_depend_on_its_root(nodes: int) -> None:
    """There are n^(n-2) trees of n nodes (Cayley), each with n choices of the root."""
    found = [routes_in(parents) for parents in trees(nodes)]
    assert nodes ** (nodes - 1) == len(found)
    assert nodes ** (nodes - 2) == len(set(found))


@pytest.mark.parametrize("nodes", [2, 3, 4])
def test_ways_in_a_tree_are_reversible_and_visit_no_node_twice(nodes: int) -> None:
    for parents in trees(nodes):
        for start, end in itertools.permutations(range(nodes), 2):
            forth = way(start, end, parents)
            assert len(forth) == len(set(forth))
            assert forth[::-1] == way(end, start, parents)


@pytest.mark.parametrize(
    ("parents", "why"),
    [
        ((1, 2, 0), "one root"),
        ((0, 1, 0), "one root"),
        ((0, 2, 1), "node 1 is on a cycle"),
        ((0, 3, 0), "parent 3 is no node"),
        ((0, -1), "parent -1 is no node"),
    ],
)
def test_parents_that_are_no_tree_are_refused(parents: Tree, why: str) -> None:
    with pytest.raises(ValueError, match=why):
        tree(parents)


def test_tree_of_other_size_than_the_system_is_an_error() -> None:
    with pytest.raises(ValueError, match="has 4 nodes, not 3"):
        TREE_FIGURE_1.initial(0, 3)


# the figures


def test_figure_1_customer_reaches_the_bank_on_its_way_to_the_shop() -> None:
    assert way(0, 3, FIGURE_1)[:3] == way(0, 2, FIGURE_1)


def test_figure_2_left_debit_ends_with_the_way_of_credit() -> None:
    left = (1, 2, 2, 0)
    assert way(3, 2, left)[1:] == way(0, 2, left)


def test_figure_2_right_credit_and_buy_both_pass_the_last_node() -> None:
    right = (3, 3, 3, 3)
    assert [1, 3] == way(1, 0, right)[:2] == way(1, 2, right)[:2]
    assert way(1, 0, right)[1:] == way(2, 0, right)[1:]


@pytest.mark.parametrize(
    ("protocol", "workload", "unique"),
    [
        (TREE_FIGURE_1, purchase(customer=0, shop=3, bank=2), 13),
        (TREE_FIGURE_2_LEFT, purchase(customer=0, shop=3, bank=2), 19),
        (TREE_FIGURE_2_RIGHT, purchase(customer=1, shop=2, bank=0), 16),
    ],
    ids=lambda value: value.name if isinstance(value, Protocol) else None,
)
def test_figures_deliver_credit_before_debit(
    protocol: Protocol, workload: str, unique: int
) -> None:
    """The longer the ways that are not shared, the more interleavings."""
    result = search(protocol, 4, workload=workload, network="fifo")
    assert Verdict.HOLDS == result.verdict
    assert (unique, 10, 1) == (
        result.counts.unique_states,
        result.counts.depth,
        result.counts.final_states,
    )


# checks


def test_every_tree_of_four_nodes_delivers_credit_before_debit_wherever_the_three_are() -> None:
    one_per_tree = {routes_in(parents): parents for parents in trees(4)}
    for parents, three in itertools.product(
        one_per_tree.values(), itertools.permutations(range(4), 3)
    ):
        assert Verdict.HOLDS == verdict(tree(parents), 4, purchase(*three))


@pytest.mark.parametrize("protocol", [TREE, TREE_STAR], ids=lambda protocol: protocol.name)
def test_line_and_star_of_four_nodes_hold(protocol: Protocol) -> None:
    assert Verdict.HOLDS == verdict(protocol, 4)


@pytest.mark.integration
@pytest.mark.parametrize("parents", [(0, 0, 1), (0, 0, 0), (2, 2, 2)])
def test_every_tree_of_three_nodes_holds(parents: Tree) -> None:
    assert Verdict.HOLDS == verdict(tree(parents), 3, messages=2)


def test_cycle_delivers_debit_before_credit() -> None:
    """On a ring of three each node is the other's neighbour: FIFO links and no more."""
    result = search(RING, 3, workload=purchase(0, 1, 2), network="fifo")
    assert result.counterexample is not None
    assert ("causal-delivery", 6) == (result.counterexample.violates, result.counterexample.length)


def test_cycle_of_four_violates_causal_delivery_too() -> None:
    assert Verdict.VIOLATED == verdict(RING, 4, purchase(customer=0, shop=3, bank=2))


@pytest.mark.parametrize("three", list(itertools.permutations(range(4), 3)))
def test_cycle_that_all_messages_travel_one_way_round_holds(three: tuple[int, int, int]) -> None:
    """What follows on a message follows it on its way, so it is not the cycle alone that hurts."""
    assert Verdict.HOLDS == verdict(ONE_WAY_RING, 4, purchase(*three))


@pytest.mark.integration
def test_one_way_ring_of_three_holds() -> None:
    assert Verdict.HOLDS == verdict(ONE_WAY_RING, 3, messages=2)


def test_tree_needs_links_that_keep_the_order() -> None:
    result = search(TREE, 3, workload=purchase(0, 1, 2), network="unordered")
    assert result.counterexample is not None
    assert ("causal-delivery", 7) == (result.counterexample.violates, result.counterexample.length)


def test_tree_whose_node_forgets_to_route_loses_messages() -> None:
    def keep(state: Node, src: int, packet: Data) -> Step:
        step = module.receive(state, src, packet)
        return Step(step.state, deliveries=step.deliveries)

    broken = Protocol("broken", TREE.initial, TREE.causal_send, keep)
    result = search(broken, 3, 1, network="fifo")
    assert result.counterexample is not None
    assert "all-delivered" == result.counterexample.violates
