"""Draws small state spaces: states, transitions, final states and violations."""

from __future__ import annotations

import io
from collections.abc import Callable, Mapping
from pathlib import Path as FilePath
from types import MappingProxyType

import networkx as nx
from attrs import evolve

from antecede.checker.errors import InputError
from antecede.checker.formats.markup import Markup, joined, plain, tag
from antecede.checker.model import Property, State
from antecede.checker.paths.path import transition_key
from antecede.checker.report.prose import Wording
from antecede.checker.search.graph import StateGraph
from antecede.checker.search.plain import BreadthFirst
from antecede.checker.semantics.judge import at_end, in_deliveries, in_state
from antecede.checker.semantics.transition import Outcome, System, successor

MOST_STATES = 400
"""More than these nobody can read."""

ACROSS, DOWN, RADIUS = 90, 80, 9


def state_graph(system: System, most: int = MOST_STATES) -> nx.MultiDiGraph:
    """Return the reachable states and the transitions between them.

    A node is a state's number, in breadth-first order, with `depth`, `text`, `final`, `initial` and
    `violates`, the names of the properties that it violates, or that a transition into it does; an
    edge has `text`.

    Raises:
        InputError: there are more than `most` states.
    """
    graph, found, judged = nx.MultiDiGraph(), _explored(system, most), _judged(system)
    _add(graph, system, found.states[0], 0, 1)
    for here, state in enumerate(found.states):
        edges = list(found.rows.of(here))
        graph.nodes[here]["final"] = not edges
        if not edges:
            _violate(graph, here, [p for p in judged if at_end(system, p, state)])
        for label, number in edges:
            transition = found.rows.transitions[label]
            if number not in graph:
                _add(graph, system, found.states[number], number, graph.nodes[here]["depth"] + 1)
            outcome = successor(system, state, transition)
            graph.add_edge(
                here, number, text=_edge_text(system, transition_key(transition), outcome)
            )
            wrong = [p for p in judged if in_deliveries(p, outcome.deliveries)]
            _violate(graph, number, wrong)
    return graph


def _explored(system: System, most: int) -> StateGraph:
    """Return the graph of all states; raises as `state_graph`."""
    search = BreadthFirst(evolve(system, properties=()))
    while search.frontier:
        if len(search.graph.states) > most:
            raise InputError(
                f"the state space has more than {most} states, too many to be read; give "
                "fewer actors or messages, or a workload such as script:[[1],[0]]"
            )
        search.round(lambda: None)
    return search.graph


def _add(graph: nx.MultiDiGraph, system: System, state: State, number: int, depth: int) -> None:
    words = Wording.about(system)
    text = "\n".join(
        f"{words.actor(actor)}: {words.value(here)}" for actor, here in enumerate(state.actors)
    )
    graph.add_node(
        number, depth=depth, text=plain_lines(text), final=False, violates="", initial=number == 0
    )
    _violate(graph, number, [p for p in _judged(system) if in_state(p, state)])


def _judged(system: System) -> list[Property]:
    return [prop for prop in system.properties if not prop.sought]


def _violate(graph: nx.MultiDiGraph, number: int, props: list[Property]) -> None:
    known = graph.nodes[number]["violates"].split()
    names = dict.fromkeys([*known, *(prop.name for prop in props)])
    graph.nodes[number]["violates"] = " ".join(names)


def _edge_text(system: System, key: str, outcome: Outcome) -> str:
    words = Wording.about(system)
    delivered = "".join(f", delivers {words.message(d.message)}" for d in outcome.deliveries)
    return plain(key + delivered)


def plain_lines(text: str) -> str:
    """Return `text` with its line breaks and nothing else that is invisible."""
    return "\n".join(plain(line) for line in text.split("\n"))


# Formats


def dot(graph: nx.MultiDiGraph) -> str:
    """Return the graph for Graphviz."""
    lines = ["digraph states {", '  node [shape=circle, label=""];']
    for number, data in graph.nodes(data=True):
        looks = {"tooltip": data["text"], "label": str(number)}
        if data["initial"]:
            looks["penwidth"] = "3"
        if data["final"]:
            looks["shape"] = "doublecircle"
        if data["violates"]:
            looks |= {"style": "filled", "fillcolor": "#d55e00", "xlabel": data["violates"]}
        lines.append(f"  {number} [{_attributes(looks)}];")
    for source, target, data in graph.edges(data=True):
        lines.append(f"  {source} -> {target} [{_attributes({'label': data['text']})}];")
    return "\n".join([*lines, "}", ""])


def _attributes(looks: Mapping[str, str]) -> str:
    def quoted(text: str) -> str:
        return '"' + text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n") + '"'

    return ", ".join(f"{name}={quoted(value)}" for name, value in looks.items())


def graphml(graph: nx.MultiDiGraph) -> str:
    """Return the graph as GraphML, for yEd, Gephi and networkx."""
    out = io.BytesIO()
    nx.write_graphml(graph, out)
    return out.getvalue().decode("utf-8") + "\n"


STYLE = """
svg { font: 11px system-ui, sans-serif; color: #1f2328; background: #fff; }
line { stroke: #6e7781; } circle { fill: #fff; stroke: #1f2328; stroke-width: 1.5; }
.initial { stroke-width: 4; } .final { stroke-dasharray: none; fill: #dbe9f6; }
.wrong { fill: #d55e00; stroke: #8a3c00; } text { fill: #1f2328; text-anchor: middle; }
.muted { fill: #57606a; text-anchor: start; }
@media screen and (prefers-color-scheme: dark) {
  svg { background: #0d1117; } line { stroke: #8b949e; } text { fill: #e6edf3; }
  circle { fill: #0d1117; stroke: #e6edf3; } .final { fill: #1f3a57; }
  .wrong { fill: #d55e00; stroke: #ffb77a; } .muted { fill: #8b949e; }
}
"""


def svg(graph: nx.MultiDiGraph) -> str:
    """Return a picture: a row of states per depth; pointing at one shows what it is."""
    return str(_picture(graph)) + "\n"


def _picture(graph: nx.MultiDiGraph) -> Markup:
    places = _places(graph)
    wide = max(x for x, _ in places.values()) + ACROSS
    high = max(y for _, y in places.values()) + DOWN
    edges = [_edge(graph, places, *ends) for ends in dict.fromkeys(graph.edges())]
    nodes = [_node(places[number], number, data) for number, data in graph.nodes(data=True)]
    legend = tag(
        "text",
        "heavy: the start; blue: a final state; orange: a violation; pointing at one tells more",
        x=12,
        y=high - 12,
        class_="muted",
    )
    return tag(
        "svg",
        tag("style", Markup(STYLE)),
        _ARROW,
        *edges,
        *nodes,
        legend,
        xmlns="http://www.w3.org/2000/svg",
        width=float(wide),
        height=float(high),
        viewBox=f"0 0 {wide:.0f} {high:.0f}",
        role="img",
    )


_ARROW = tag(
    "defs",
    tag(
        "marker",
        tag("path", d="M0,0 L8,4 L0,8 z", fill="#6e7781"),
        id="arrow",
        viewBox="0 0 8 8",
        refX=8,
        refY=4,
        markerWidth=7,
        markerHeight=7,
        orient="auto",
    ),
)


def _places(graph: nx.MultiDiGraph) -> dict[int, tuple[float, float]]:
    """Return where each state stands: a row per depth, each state near those that lead to it."""
    rows: dict[int, list[int]] = {}
    for number, depth in graph.nodes(data="depth"):
        rows.setdefault(depth, []).append(number)
    widest = max(map(len, rows.values()))
    places: dict[int, tuple[float, float]] = {}
    for depth, row in sorted(rows.items()):
        row.sort(key=lambda number: _pull(graph, places, number))
        gap = ACROSS * widest / (len(row) + 1)
        for at, number in enumerate(row, 1):
            places[number] = (gap * at, DOWN * (depth - 0.5))
    return places


def _pull(graph: nx.MultiDiGraph, places: Mapping[int, tuple[float, float]], number: int) -> float:
    above = [places[other][0] for other in graph.predecessors(number) if other in places]
    return sum(above) / len(above) if above else 0.0


def _edge(
    graph: nx.MultiDiGraph, places: Mapping[int, tuple[float, float]], source: int, target: int
) -> Markup:
    texts = [data["text"] for data in graph.get_edge_data(source, target).values()]
    (x1, y1), (x2, y2) = places[source], places[target]
    length = ((x2 - x1) ** 2 + (y2 - y1) ** 2) ** 0.5 or 1.0
    back = (RADIUS + 2) / length
    return tag(
        "line",
        tag("title", "; ".join(texts)),
        x1=x1,
        y1=y1,
        x2=x2 - (x2 - x1) * back,
        y2=y2 - (y2 - y1) * back,
        marker_end="url(#arrow)",
    )


def _node(place: tuple[float, float], number: int, data: Mapping[str, object]) -> Markup:
    looks = [
        name
        for name, there in (
            ("initial", data["initial"]),
            ("final", data["final"]),
            ("wrong", data["violates"]),
        )
        if there
    ]
    x, y = place
    said = f"{number}: {data['text']}"
    if data["violates"]:
        said += f"; violates {data['violates']}"
    circle = tag("circle", tag("title", said), cx=x, cy=y, r=RADIUS, class_=" ".join(looks) or None)
    return tag("g", circle, tag("text", str(number), x=x, y=y + RADIUS + 12))


def html(graph: nx.MultiDiGraph) -> str:
    """Return a page with the picture, in a frame that scrolls and zooms."""
    page = tag(
        "html",
        tag("head", tag("meta", charset="utf-8"), tag("title", "State space")),
        tag(
            "body",
            tag(
                "p",
                f"{graph.number_of_nodes()} states, {graph.number_of_edges()} transitions. Zoom ",
                tag("input", type="range", min="20", max="300", value="100", aria_label="zoom"),
            ),
            tag("div", _picture(graph), style="overflow: auto; max-height: 88vh"),
            tag("script", Markup(_ZOOM)),
        ),
        lang="en",
    )
    return str(joined(Markup("<!DOCTYPE html>"), page)) + "\n"


_ZOOM = """
const picture = document.querySelector("svg");
const [wide, high] = [picture.width.baseVal.value, picture.height.baseVal.value];
document.querySelector("input").addEventListener("input", (event) => {
  picture.setAttribute("width", wide * event.target.value / 100);
  picture.setAttribute("height", high * event.target.value / 100);
});
"""

GRAPH_FORMATS: Mapping[str, Callable[[nx.MultiDiGraph], str]] = MappingProxyType(
    {".dot": dot, ".graphml": graphml, ".svg": svg, ".html": html}
)


def graph_writer(file: str) -> Callable[[nx.MultiDiGraph], str]:
    """Return what writes a graph as the ending of `file` says.

    Raises:
        InputError: the ending names no known format.
    """
    ending = FilePath(file).suffix.lower()
    if ending not in GRAPH_FORMATS:
        raise InputError(
            f"the ending of {file!r} tells no graph format; known endings: "
            f"{', '.join(GRAPH_FORMATS)}"
        )
    return GRAPH_FORMATS[ending]
