"""The graph of the states around the current one."""

from __future__ import annotations

from typing import Any

import pytest

from antecede.checker.explore.near import FAR, MOST_NODES, near
from antecede.checker.explore.tree import MOST_STEPS
from antecede.checker.semantics.transition import enabled, successor
from tests import runs
from tests.explored import fetch, serving, tree_of
from tests.models import toy


@pytest.mark.parametrize("numbers", [(), (0,), (0, 1, 2)])
def test_the_graph_has_exactly_the_states_within_two_steps(numbers: tuple[int, ...]) -> None:
    tree = tree_of("unordered", 2, 2)
    graph = near(tree, numbers)
    path = tree.path(numbers)
    expected = {path.last: 0}
    for depth in range(FAR):
        for state in [state for state, at in expected.items() if at == depth]:
            for transition in enabled(path.system, state):
                expected.setdefault(successor(path.system, state, transition).state, depth + 1)
    assert expected == {state: node.depth for state, node in graph.nodes.items()}
    assert graph.complete
    for state, node in graph.nodes.items():
        assert state == tree.path(node.numbers).last


def test_independent_steps_meet_in_one_state() -> None:
    graph = near(tree_of("unordered", 2, 1), ())
    (meeting,) = [n for n in graph.nodes.values() if n.numbers == (0, 0)]
    assert 2 == sum(edge.end is meeting for edge in graph.edges)


def test_a_large_neighbourhood_is_bounded_and_says_so() -> None:
    tree = tree_of("unordered", 6, 3)
    graph = near(tree, ())
    assert (MOST_NODES, False) == (len(graph.nodes), graph.complete)
    with serving(tree) as server:
        picture = fetch(server, "/graph?path=")
        assert "image/svg+xml; charset=utf-8" == picture.headers["Content-Type"]
        assert "60 states within 2 steps; there are more" in picture.body
        assert MOST_NODES == len(picture.found("a"))


def test_states_of_a_layer_have_places_of_their_own_inside_the_picture() -> None:
    for numbers in ((), (0, 1)):
        graph = near(tree_of("cykas-secret-mode", 3, 2), numbers)
        places = {(node.x, node.y) for node in graph.nodes.values()}
        assert len(places) == len(graph.nodes)
        assert all(0 < x < 640 and 0 < y < graph.height for x, y in places)


def test_a_step_that_violates_is_marked_and_one_that_fails_leads_nowhere() -> None:
    with serving(tree_of("unordered", 2, 2)) as server:
        assert fetch(server, "/graph?path=0.0.2").found("circle", class_="wrong")
        assert not fetch(server, "/graph?path=").found("circle", class_="wrong")

    def receive(*_arguments: object) -> Any:
        raise ValueError

    graph = near(tree_of(toy("failing", receive=receive)), (0,))
    assert {0, 1} == {node.depth for node in graph.nodes.values()}


def test_every_state_is_a_link_to_its_page_and_keeps_what_is_watched() -> None:
    with serving(tree_of("unordered", 2, 2)) as server:
        picture = fetch(server, "/graph?path=0&watch=state")
        for link in picture.found("a"):
            assert link.attributes["href"].endswith("&watch=state")
            assert 200 == fetch(server, link.attributes["href"]).status


def test_a_path_of_greatest_length_has_no_states_beyond() -> None:
    tree = tree_of("unordered", 2, 400)
    assert 1 == len(near(tree, (0,) * MOST_STEPS).nodes)


def test_hostile_names_stay_text() -> None:
    with serving(tree_of(runs.HOSTILE, 2, 2)) as server:
        picture = fetch(server, "/graph?path=0")
        assert runs.EVIL not in picture.body
        assert [] == picture.found("img")
