"""Pictures of small state spaces."""

from __future__ import annotations

import io
import re
import shutil
import subprocess
from pathlib import Path
from xml.etree import ElementTree

import networkx as nx
import pytest

from antecede.checker.render import dot
from antecede.checker.render.graph import graphml, html, state_graph
from antecede.checker.support.errors import InputError
from antecede.checker.support.registry import protocol_named
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


needs_graphviz = pytest.mark.skipif(
    not dot.is_installed(), reason="Graphviz is not installed: apt-get install graphviz"
)

STRING = r'"(?:\\.|[^"\\])*"'


def test_dot_names_every_state_once_and_every_way_between_two_once() -> None:
    graph = graph_of("unordered", 2)
    lines = dot.source(graph).splitlines()
    assert ("digraph states {", "}") == (lines[0], lines[-1])
    statement = rf"  \d+( -> \d+)? \[\w+={STRING}(, \w+={STRING})*\];"
    assert all(re.fullmatch(statement, line) for line in lines[4:-1])
    ways = [(int(a), int(b)) for a, b in re.findall(r"^  (\d+) -> (\d+) ", "\n".join(lines), re.M)]
    assert sorted(set(graph.edges())) == sorted(ways)
    assert graph.number_of_nodes() == len(lines) - 5 - len(ways)


def test_what_means_something_in_dot_is_written_as_itself() -> None:
    graph = nx.MultiDiGraph(title="<b>&", question='"\\N"')
    looks = {"final": True, "initial": True, "violates": "", "depth": 1}
    graph.add_node(0, text='\\N "&lt;"', label='\\G "]; &amp;', **looks)
    graph.add_edge(0, 0, text="\\E", label='"]')
    text = dot.source(graph)
    assert r'label="0\l\\G \"]; &amp;amp;\l"' in text
    assert r'tooltip="0: \\N \"&amp;lt;\""' in text
    assert "&lt;b&gt;&amp;" in text
    if dot.is_installed():
        words = shown_words(dot.svg(graph))
        assert {'\\G "]; &amp;', "<b>&", '"\\N"', '"]'} <= set(words)


def shown_words(text: str) -> list[str]:
    texts = ElementTree.fromstring(text).iter(f"{NAMESPACE}text")
    return ["".join(each.itertext()) for each in texts]


@needs_graphviz
@pytest.mark.parametrize(("protocol", "messages"), [("unordered", 1), ("mfss", 2), ("cykas", 2)])
def test_graphviz_draws_every_state_and_every_way_between_two(protocol: str, messages: int) -> None:
    graph = graph_of(protocol, messages)
    groups = [g.get("class") for g in ElementTree.fromstring(dot.svg(graph)).iter(f"{NAMESPACE}g")]
    assert graph.number_of_nodes() == groups.count("node")
    assert len(set(graph.edges())) == groups.count("edge")


@needs_graphviz
def test_a_small_space_says_what_states_and_transitions_are() -> None:
    words = shown_words(dot.svg(graph_of("unordered", 1)))
    for said in ("Alice sends to Bob", "Bob gets Data(A1)", "→ Bob: Data(A1)"):
        assert said in words
    assert "State space of unordered" in words


def test_the_caption_counts_and_the_signs_need_no_colour() -> None:
    graph = graph_of("cykas-as-printed", 2)
    text = dot.source(graph)
    assert f"{graph.number_of_nodes()} states, {graph.number_of_edges()} transitions, " in text
    assert "in violation" in text
    wrong = sum(bool(data) for _, data in graph.nodes(data="violates"))
    final = sum(data for _, data in graph.nodes(data="final"))
    assert wrong > 0
    assert wrong == text.count('label="✗')
    assert final == text.count('peripheries="2"')
    assert 1 == text.count("penwidth")


@needs_graphviz
def test_no_colour_of_a_graph_is_left_light_for_a_reader_in_the_dark() -> None:
    for text in (dot.svg(graph_of("unordered", 1)), dot.svg(graph_of("cykas-as-printed", 2))):
        style, rest = text.partition("<style>")[2].split("</style>")
        used = set(re.findall('(?:fill|stroke)="(#[0-9a-f]+|[a-z]+)"', rest)) - {
            "none",
            "transparent",
        }
        assert used
        for colour in used:
            assert f'[fill="{colour}"]' in style
            assert f'[stroke="{colour}"]' in style
        assert "prefers-color-scheme: dark" in style
        assert all("fill=" in element for element in re.findall("<text[^>]*>", rest))


def test_a_large_space_is_drawn_with_numbers() -> None:
    text = dot.source(graph_of("mfss", 2))
    assert "Point at a state" in text
    assert "gets Data" not in re.sub(f"tooltip={STRING}", "", text)


@needs_graphviz
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


ASKED = ("check", "mfss", "--actors", "2", "--messages", "2", "--engine", "plain")


def test_the_command_writes_what_the_ending_says(antecede: Command, tmp_path: Path) -> None:
    for ending, start in ((".dot", "digraph"), (".graphml", "<?xml")):
        file = tmp_path / f"g{ending}"
        assert 0 == antecede(*ASKED, "--graph", file).code
        assert file.read_text().startswith(start)
    ran = antecede(*ASKED, "--graph", tmp_path / "g.png")
    assert 2 == ran.code
    assert "unsupported graph format. Use one of: .dot, .graphml, .svg, .html" in ran.err


@needs_graphviz
def test_the_command_lets_graphviz_draw(antecede: Command, tmp_path: Path) -> None:
    for ending, start in ((".svg", "<svg"), (".html", "<!DOCTYPE html>")):
        file = tmp_path / f"g{ending}"
        ran = antecede(*ASKED, "--graph", file)
        assert 0 == ran.code
        assert file.read_text().startswith(start)
        assert "Graphviz" not in ran.err


def test_without_graphviz_the_command_says_so_and_writes_dot(
    antecede: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(shutil, "which", lambda name: None)
    ran = antecede(*ASKED, "--graph", tmp_path / "g.svg")
    assert 0 == ran.code
    assert f"{tmp_path / 'g.dot'} instead" in " ".join(ran.err.split())
    assert ["g.dot"] == [file.name for file in tmp_path.iterdir()]
    assert (tmp_path / "g.dot").read_text().startswith("digraph")


def test_what_graphviz_complains_about_is_told(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    failed = subprocess.CompletedProcess([], 1, "", "Error: out of ink\n")
    monkeypatch.setattr(subprocess, "run", lambda *_args, **_options: failed)
    with pytest.raises(InputError, match="Graphviz's dot failed: Error: out of ink"):
        dot.svg(graph_of("unordered"))
