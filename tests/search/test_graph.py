"""The numbered graph of states, judged by sets, by networkx and by the plain semantics."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import networkx
import pytest
from attrs import evolve
from hypothesis import given, settings
from hypothesis import strategies as st

from antecede.checker.check.pipeline import check
from antecede.checker.check.spec import Spec
from antecede.checker.engine.threads.graphs_kernels import COMPILED
from antecede.checker.graphs.backwards import first_lost
from antecede.checker.model import Timeout, Transition
from antecede.checker.purity.opaque import FAR
from antecede.checker.search.graph import Passes, Rows, StateGraph, integers
from antecede.checker.search.options import Options
from antecede.checker.search.plain import BreadthFirst
from antecede.checker.semantics.reads import unnoted
from antecede.checker.semantics.transition import System, enabled, initial_state, successor
from antecede.checker.semantics.values import messages_in
from antecede.checker.support.registry import protocol_named
from antecede.properties import ENDLESS
from tests.semantics.test_transition import system_for

Edges = list[list[tuple[Transition, int]]]
"""Per state, its transitions, each with the number of the state after it."""


def rows_of(edges: Edges) -> Rows:
    """Return edges as compressed rows."""
    rows = Rows()
    for row in edges:
        for transition, after in row:
            rows.add(transition, after)
        rows.end()
    return rows


def graph_of(system: System, most: int | None = None) -> StateGraph:
    """Return the graph of a system, up to the end of the level with the `most`-th state."""
    search = BreadthFirst(evolve(system, properties=()))
    while search.frontier and (most is None or search.graph.expanded < most):
        search.round(lambda: None)
    return search.graph


@st.composite
def targets(draw: st.DrawFn) -> Edges:
    """Return a graph of few states whose edges lead anywhere; they all have the same label."""
    size = draw(st.integers(1, 9))
    places = st.lists(st.integers(0, size - 1), max_size=3)
    return [[(Timeout(0), after) for after in draw(places)] for _ in range(size)]


def components(rows: Rows, inside: set[int], passes: Passes) -> list[set[int]]:
    """Return the strong components of a part of a graph."""
    size, part = len(rows), bytearray(k in inside for k in range(len(rows)))
    numbers, members = integers([-1]) * size, integers([0]) * size
    count = passes.number_components(rows.first, rows.target, part, numbers)
    ends = integers([0]) * (count + 1)
    passes.sort_components(numbers, ends, members)
    return [set(members[a:b]) for a, b in pairwise([0, *ends[:count]])]


@pytest.mark.parametrize("passes", [Passes(), COMPILED], ids=["plain", "compiled"])
@settings(max_examples=150)
@given(edges=targets(), data=st.data())
def test_components_are_those_of_networkx(
    edges: Edges, data: st.DataObject, passes: Passes
) -> None:
    inside = data.draw(st.sets(st.integers(0, len(edges) - 1)))
    judge = networkx.DiGraph()
    judge.add_nodes_from(inside)
    judge.add_edges_from((k, to) for k in inside for _, to in edges[k] if to in inside)
    expected = {frozenset(c) for c in networkx.strongly_connected_components(judge)}
    found = components(rows_of(edges), inside, passes)
    assert expected == set(map(frozenset, found))
    assert len(expected) == len(found)


@settings(max_examples=300)
@given(targets(), st.data())
def test_what_leads_to_no_goal_is_lost(edges: Edges, data: st.DataObject) -> None:
    goals = data.draw(st.sets(st.integers(0, len(edges) - 1)))
    back = set(goals)
    while more := {k for k, row in enumerate(edges) if any(to in back for _, to in row)} - back:
        back |= more
    rows, good = rows_of(edges), bytearray(k in goals for k in range(len(edges)))
    lost = first_lost(rows.first, rows.target, good)
    assert min(set(range(len(edges))) - back, default=None) == lost
    assert back == {k for k, is_good in enumerate(good) if is_good}


def test_the_graph_has_every_state_and_every_transition() -> None:
    system = system_for(protocol_named("cykas"), 2, 2)
    graph = graph_of(system)
    assert all(map(graph.all_edges, range(len(graph.states))))
    assert initial_state(system) == graph.states[0]
    for number, state in enumerate(graph.states):
        after = [(t, successor(system, state, t).state) for t in enabled(system, state)]
        rows, found = graph.rows, graph.rows.of(number)
        assert after == [(rows.transitions[label], graph.states[to]) for label, to in found]


def test_a_path_leads_to_its_state_and_no_shorter_one_does() -> None:
    system = system_for(protocol_named("mfss"), 2, 2)
    graph, nearest = graph_of(system), 0
    for number, expected in enumerate(graph.states):
        path, state = graph.path_to(number), graph.states[0]
        for transition in path:
            state = successor(system, state, transition).state
        assert expected == state
        assert nearest <= len(path)
        nearest = len(path)


def test_a_state_that_is_being_expanded_knows_how_it_was_found() -> None:
    """The edges of its row are there before the row ends; they must not be taken for others."""
    system = system_for(protocol_named("mfss"), 2, 1)
    start = initial_state(system)
    graph = StateGraph([start])
    (first, *_) = enabled(system, start)
    edges = graph.expand(system, [first])
    next(edges)
    assert (first,) == graph.path_to(1)


def test_rows_without_some_transitions_keep_the_others() -> None:
    edges: Edges = [[(Timeout(0), 0), (Timeout(1), 1)], [], [(Timeout(0), 1)]]
    rows = rows_of(edges)
    rest = rows.without(rows.which(lambda transition: transition == Timeout(0)))
    assert [[(1, 1)], [], []] == [list(rest.of(k)) for k in range(3)]


def test_an_endless_check_takes_every_transition_once() -> None:
    """Safety and cycles are judged on one graph, so handlers are called once per transition.

    Each distinct call is made once more, with messages of other numbers.
    """
    calls = 0
    distinct = set[Any]()
    mfss = protocol_named("mfss")

    def counted(state: Any, src: int, packet: Any) -> Any:
        nonlocal calls
        calls += 1
        with unnoted():  # a handler must not look at numbers
            if all(message.number < FAR for message in messages_in((state, packet))):
                distinct.add((state, src, packet))
        return mfss.receive(state, src, packet)

    spec = Spec(protocol="mfss", actors=2, workload="endless:1", properties=ENDLESS)
    ran = check(
        spec, Options(engine="plain"), protocol=evolve(mfss, receive=counted), selfcheck="off"
    )
    taken = ran.result.statistics["transitions"].items()
    received = sum(n["total"] for kind, n in taken if kind.startswith("receive"))
    assert received + len(distinct) == calls
