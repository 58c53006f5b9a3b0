"""Pictures of small state spaces."""

from __future__ import annotations

import io
import re
from pathlib import Path
from xml.etree import ElementTree

import networkx as nx
import pytest

from antecede.checker.errors import InputError
from antecede.checker.formats.graph import dot, graph_writer, graphml, html, state_graph, svg
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


def test_the_picture_has_a_circle_per_state_inside_its_frame() -> None:
    graph = graph_of("unordered", 2)
    root = ElementTree.fromstring(svg(graph))
    circles = list(root.iter(f"{NAMESPACE}circle"))
    assert graph.number_of_nodes() == len(circles)
    for circle in circles:
        assert 0 < float(circle.get("cx", "0")) < float(root.get("width", "0"))
        assert 0 < float(circle.get("cy", "0")) < float(root.get("height", "0"))
    assert any("wrong" in circle.get("class", "") for circle in circles)
    places = {(circle.get("cx"), circle.get("cy")) for circle in circles}
    assert len(places) == len(circles)


def test_the_page_needs_nothing_from_elsewhere() -> None:
    page = html(graph_of("mfss"))
    assert page.startswith("<!DOCTYPE html>")
    assert not re.findall(r"(?:src|href)=", page)


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
