"""Pictures of small state spaces."""

from __future__ import annotations

import io
import re
from itertools import combinations
from pathlib import Path
from xml.etree import ElementTree

import networkx as nx
import pytest

from antecede.checker.errors import InputError
from antecede.checker.formats import placing
from antecede.checker.formats.geometry import overlap
from antecede.checker.formats.graph import dot, graph_writer, graphml, html, state_graph, svg
from antecede.checker.formats.placing import in_rows, spread
from antecede.checker.registry import protocol_named
from tests.conftest import Command, search
from tests.semantics.test_transition import system_for

NAMESPACE = "{http://www.w3.org/2000/svg}"


def graph_of(name: str, messages: int = 1, **options: str) -> nx.MultiDiGraph:
    return state_graph(system_for(protocol_named(name), 2, messages, **options))  # type: ignore[arg-type]


def test_a_graph_has_the_states_and_transitions_that_a_search_counts() -> None:
    counts = search("mfss", 2, 2).counts
    graph = graph_of("mfss", 2)
    assert counts.unique_states == graph.number_of_nodes()
    assert counts.total_states == graph.number_of_edges() + 1
    assert counts.depth == max(depth for _, depth in graph.nodes(data="depth"))
    assert counts.final_states == sum(final for _, final in graph.nodes(data="final"))


def test_violating_states_are_marked() -> None:
    wrong = {v for _, v in graph_of("unordered", 2).nodes(data="violates") if v}
    assert {"causal-delivery"} == wrong
    wrong = {v for _, v in graph_of("cykas-as-printed", 2).nodes(data="violates") if v}
    assert {"all-delivered"} == wrong
    assert not any(v for _, v in graph_of("mfss", 2).nodes(data="violates"))


def test_graphml_is_read_back_by_networkx() -> None:
    graph = graph_of("mfss")
    again = nx.read_graphml(io.BytesIO(graphml(graph).encode()), force_multigraph=True)
    assert graph.number_of_nodes() == again.number_of_nodes()
    assert graph.number_of_edges() == again.number_of_edges()
    assert {text for _, text in graph.nodes(data="text")} == {
        text for _, text in again.nodes(data="text")
    }


def test_dot_names_every_state_and_transition_once() -> None:
    graph = graph_of("unordered", 2)
    lines = dot(graph).splitlines()
    assert ("digraph states {", "}") == (lines[0], lines[-1])
    statement = r'  \d+( -> \d+)? \[\w+="(\\.|[^"\\])*"(, \w+="(\\.|[^"\\])*")*\];'
    assert all(re.fullmatch(statement, line) for line in lines[2:-1])
    assert graph.number_of_edges() == sum(" -> " in line for line in lines)
    assert graph.number_of_nodes() == len(lines) - 3 - graph.number_of_edges()


def frames(text: str) -> list[tuple[float, float, float, float]]:
    """Return the boxes of the states of a picture, as left, top, right, bottom."""
    rects = list(ElementTree.fromstring(text).iter(f"{NAMESPACE}rect"))
    return [
        (x, y, x + float(r.get("width", "0")), y + float(r.get("height", "0")))
        for r in rects
        if r.get("class") == "frame"
        for x, y in [(float(r.get("x", "0")), float(r.get("y", "0")))]
    ]


@pytest.fixture(params=["Graphviz", "our own"])
def layout(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    """Whose layout the pictures have."""
    if request.param == "our own":
        monkeypatch.setattr(placing, "_graphviz", lambda: None)
    elif placing._graphviz() is None:
        pytest.skip("Graphviz and its package are not installed")
    return str(request.param)


@pytest.mark.parametrize(("protocol", "messages"), [("unordered", 1), ("mfss", 2), ("cykas", 2)])
def test_every_state_has_a_place_of_its_own_inside_the_picture(
    protocol: str, messages: int, layout: str
) -> None:
    graph = graph_of(protocol, messages)
    text = svg(graph)
    root, boxes = ElementTree.fromstring(text), frames(text)
    assert graph.number_of_nodes() == len(boxes)
    assert not any(overlap(one, other) for one, other in combinations(boxes, 2)), layout
    for left, top, right, bottom in boxes:
        assert 0 <= left < right <= float(root.get("width", "0"))
        assert 0 <= top < bottom <= float(root.get("height", "0"))


def test_a_small_space_says_what_states_and_transitions_are(layout: str) -> None:
    shown = svg(graph_of("unordered", 1))
    words = [text.text for text in ElementTree.fromstring(shown).iter(f"{NAMESPACE}text")]
    for said in ("Alice sends to Bob", "Bob gets Data(A1)", "→ Bob: Data(A1)"):
        assert said in words, layout
    assert "State space of unordered" in words


def test_the_caption_counts_and_the_signs_need_no_colour() -> None:
    graph = graph_of("cykas-as-printed", 1)
    shown = svg(graph)
    assert f"{graph.number_of_nodes()} states, {graph.number_of_edges()} transitions, " in shown
    assert "in violation" in shown
    assert 'class="inner"' in shown
    assert 1 == shown.count('class="state initial')
    assert "prefers-color-scheme: dark" in shown


def test_a_large_space_is_drawn_with_numbers_and_fewer_crossings() -> None:
    graph = graph_of("mfss", 2)
    shown = svg(graph)
    assert "Point at a state" in shown
    assert "gets Data" not in re.sub("<title>[^<]*</title>", "", shown)


def test_neighbours_stand_as_near_as_possible_to_where_they_are_pulled() -> None:
    assert [0.0, 10.0, 20.0] == spread([0.0, 10.0, 20.0], [10.0] * 3)
    assert [-5.0, 5.0] == spread([0.0, 0.0], [10.0, 10.0])
    assert [0.0, 5.0, 15.0] == spread([0.0, 10.0, 10.0], [2.0, 8.0, 12.0])


def test_our_own_layout_has_few_crossings() -> None:
    edges = [(0, 1), (0, 2), (0, 3), (1, 6), (2, 5), (3, 4)]
    depths = {0: 1, 1: 2, 2: 2, 3: 2, 4: 3, 5: 3, 6: 3}
    where = in_rows(dict.fromkeys(depths, (20.0, 20.0)), depths, edges, 40.0).centers
    assert [6, 5, 4] == sorted((4, 5, 6), key=lambda state: where[state][0])


def test_an_edge_back_or_to_itself_goes_around() -> None:
    sizes = {0: (20.0, 20.0), 1: (20.0, 20.0)}
    found = in_rows(sizes, {0: 1, 1: 2}, [(0, 1), (1, 0), (1, 1)], 40.0)
    assert [2, 4, 4] == [len(route) for route in found.routes]
    assert all(x < found.size[0] for route in found.routes for x, _ in route)


def test_the_page_needs_nothing_from_elsewhere() -> None:
    page = html(graph_of("mfss"))
    assert page.startswith("<!DOCTYPE html>")
    assert not re.findall(r"(?:src|href)=", page)


def test_states_are_counted_and_not_their_transitions() -> None:
    """Six of them lead from each of these states."""
    ring = "script:" + str([[(actor + 1) % 6] for actor in range(6)])
    system = system_for(protocol_named("unordered"), 6, 1, network="duplicating", workload=ring)
    assert 729 == len(state_graph(system, 729))
    with pytest.raises(InputError, match="more than 728 states"):
        state_graph(system, 728)


def test_a_large_space_is_refused_politely(antecede: Command, tmp_path: Path) -> None:
    file = tmp_path / "g.svg"
    ran = antecede("check", "mfss", "--actors", "3", "--engine", "plain", "--graph", file)
    assert 2 == ran.code
    assert "more than 400 states, too many to be read; give fewer actors" in ran.err
    assert not file.exists()


def test_the_command_draws_what_the_ending_says(antecede: Command, tmp_path: Path) -> None:
    asked = ("check", "mfss", "--actors", "2", "--messages", "1", "--engine", "plain")
    for ending, start in ((".dot", "digraph"), (".graphml", "<?xml"), (".svg", "<svg")):
        file = tmp_path / f"g{ending}"
        assert 0 == antecede(*asked, "--graph", file).code
        assert file.read_text().startswith(start)
    with pytest.raises(InputError, match=r"known endings: \.dot, \.graphml, \.svg, \.html"):
        graph_writer("g.png")
