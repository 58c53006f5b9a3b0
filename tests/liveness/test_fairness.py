"""Fair cycles: judged by all sets of states of small random graphs, and by known protocols."""

from __future__ import annotations

from itertools import combinations

import networkx
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from antecede.checker.engine.threads.graphs_kernels import COMPILED
from antecede.checker.liveness.fairness import (
    ENDINGS,
    Lasso,
    ending_of,
    fair_components,
    lasso,
    shortest_fair_cycle,
)
from antecede.checker.model import CausalSend, Receive, Timeout, Transition
from antecede.checker.render.explanation import _ENDINGS
from antecede.checker.search.graph import Passes
from antecede.checker.semantics.transition import System, initial_state, successor
from tests import naive_endless
from tests.search.test_graph import Edges, graph_of, rows_of
from tests.semantics.test_marked import system

SEND = CausalSend(0, (1,))
STEPS: tuple[Transition, ...] = (SEND, Receive(0, 1, "a"), Receive(1, 0, "b"), Timeout(0))


@st.composite
def graphs(draw: st.DrawFn) -> Edges:
    """Return a random graph of few states; each transition leads to one state."""
    size = draw(st.integers(1, 6))
    places = st.integers(0, size - 1)
    return [
        [(step, draw(places)) for step in draw(st.lists(st.sampled_from(STEPS), unique=True))]
        for _ in range(size)
    ]


def owed(states: list[set[Transition]], *, lossy: bool) -> set[Transition]:
    """Return the transitions that a fair run takes if it visits states with these transitions."""
    always, sometimes = set.intersection(*states), set.union(*states)
    strong: set[Transition] = {t for t in sometimes if lossy and isinstance(t, Receive)}
    return strong | {t for t in always if not isinstance(t, CausalSend)}


def naive_fair_sets(edges: Edges, *, lossy: bool) -> list[set[int]]:
    """Return every set of states that a fair run may visit forever."""
    found = []
    for size in range(1, len(edges) + 1):
        for chosen in map(set, combinations(range(len(edges)), size)):
            inner = [(k, t, after) for k in chosen for t, after in edges[k] if after in chosen]
            graph = networkx.DiGraph()
            graph.add_nodes_from(chosen)
            graph.add_edges_from((k, after) for k, _, after in inner)
            if not inner or not networkx.is_strongly_connected(graph):
                continue
            needed = owed([{t for t, _ in edges[k]} for k in chosen], lossy=lossy)
            if needed <= {t for _, t, _ in inner}:
                found.append(chosen)
    return found


def found_in(edges: Edges, *, lossy: bool, passes: Passes = Passes()) -> list[set[int]]:
    everywhere = bytearray([1]) * len(edges)
    return fair_components(rows_of(edges), everywhere, lossy=lossy, passes=passes)


@pytest.mark.integration
@pytest.mark.parametrize("passes", [Passes(), COMPILED], ids=["plain", "compiled"])
@settings(max_examples=150)
@given(edges=graphs(), lossy=st.booleans())
def test_components_are_the_largest_sets_where_fair_runs_stay(
    edges: Edges, lossy: bool, passes: Passes
) -> None:
    expected = naive_fair_sets(edges, lossy=lossy)
    found = found_in(edges, lossy=lossy, passes=passes)
    assert all(component in expected for component in found)
    assert all(any(fair <= component for component in found) for fair in expected)


KINDS = {CausalSend: "send", Receive: "receive", Timeout: "timeout"}
"""Class of a transition -> its name in the naive checker of endless workloads."""


@pytest.mark.integration
@settings(max_examples=300)
@given(edges=graphs(), lossy=st.booleans())
def test_the_naive_checker_finds_a_fair_run_where_a_set_of_states_has_one(
    edges: Edges, lossy: bool
) -> None:
    graph = networkx.MultiDiGraph()
    for k, row in enumerate(edges):
        graph.add_node(k, offers={(KINDS[type(t)], t) for t, _ in row})
        graph.add_edges_from((k, after, {"name": (KINDS[type(t)], t)}) for t, after in row)
    expected = bool(naive_fair_sets(edges, lossy=lossy))
    assert expected == naive_endless.stays_for_ever(graph, lossy)
    assert (expected or [] in edges) == naive_endless.starves(graph, lossy)


@pytest.mark.integration
@settings(max_examples=300)
@given(graphs(), st.booleans())
def test_a_shortest_cycle_is_fair_and_one_is_found_in_each_component(
    edges: Edges, lossy: bool
) -> None:
    rows = rows_of(edges)
    for component in found_in(edges, lossy=lossy):
        for start in component:
            labels = shortest_fair_cycle(rows, component, start, lossy=lossy)
            assert labels is not None
            cycle, visited, at = [rows.transitions[label] for label in labels], [start], start
            for transition in cycle:
                at = dict(edges[at])[transition]
                visited.append(at)
            assert start == at
            assert cycle
            needed = owed([{t for t, _ in edges[k]} for k in visited], lossy=lossy)
            assert needed <= set(cycle)


def test_an_unfair_cycle_is_no_answer() -> None:
    """Forever leaving out a reception that stays enabled is the network's fault."""
    receive = STEPS[1]
    unfair: Edges = [[(SEND, 0), (receive, 1)], []]
    assert [] == found_in(unfair, lossy=False)
    fair: Edges = [[(SEND, 1), (receive, 2)], [(SEND, 0)], []]
    assert [{0, 1}] == found_in(fair, lossy=False)
    assert [] == found_in(fair, lossy=True)


def test_a_timer_that_is_disabled_now_and_then_need_not_fire() -> None:
    """Strong fairness is about packets that a network loses, not about timers."""
    edges: Edges = [[(SEND, 1), (Timeout(0), 2)], [(SEND, 0)], []]
    assert [{0, 1}] == found_in(edges, lossy=True)


def found(asked: System, most: int = 6_000) -> Lasso | None:
    return lasso(asked, graph_of(asked, most))


def returns(asked: System, run: Lasso) -> bool:
    """Return whether the cycle leads back to the state after the stem."""
    state = initial_state(asked)
    for transition in run.stem:
        state = successor(asked, state, transition).state
    after = state
    for transition in run.cycle * 2:
        after = successor(asked, after, transition).state
    return after == state


def kinds(transitions: tuple[Transition, ...]) -> list[str]:
    return [transition.kind for transition in transitions]


@pytest.mark.slow
def test_cykas_starves_when_one_sender_is_busy() -> None:
    """The next eager send arrives before the YCT of the one before: Carol stays in secret mode."""
    asked = system("cykas", "endless:1:[[1,2],[2],[0]]")
    run = found(asked)
    assert run is not None
    assert "starved" == run.ending
    assert 7 == len(run.cycle)
    assert 2 == kinds(run.cycle).count("causal-send")
    assert returns(asked, run)


def test_mfss_does_not_starve() -> None:
    asked = system("mfss", "endless:1")
    graph = graph_of(asked)
    assert all(map(graph.all_edges, range(len(graph.states))))
    assert lasso(asked, graph) is None


def test_a_message_that_nothing_can_deliver_is_stuck() -> None:
    """Newtop without null messages waits for actors whose buffers are full."""
    run = found(system("newtop", "endless:1", network="fifo"), most=3_000)
    assert run is not None
    assert ("stuck", ()) == (run.ending, run.cycle)


@pytest.mark.parametrize("protocol", ["unordered", "fifo"])
def test_who_never_waits_never_starves(protocol: str) -> None:
    """The graph of `fifo` has no end: it counts."""
    asked = system(protocol, "endless:1:[[1],[2],[0]]")
    assert lasso(asked, graph_of(asked, most=1_000)) is None


def test_on_a_network_that_loses_a_message_without_retransmission_is_stuck() -> None:
    run = found(system("unordered", "endless:1:[[1],[0]]", 2, network="lossy"))
    assert run is not None
    assert "stuck" == run.ending


@pytest.mark.parametrize("most", [10, 60, 120])
def test_what_becomes_of_a_message_does_not_depend_on_how_much_was_explored(most: int) -> None:
    """States that were not expanded are not taken for final states."""
    asked = system("mfss", "endless:1")
    graph = graph_of(asked, most)
    starts = [k for k, inside in enumerate(graph.followed()) if inside and graph.all_edges(k)]
    assert starts
    assert {"starved"} == {ending_of(asked, graph, start, lossy=False) for start in starts}


def test_every_ending_is_explained() -> None:
    assert set(ENDINGS) == set(_ENDINGS)
