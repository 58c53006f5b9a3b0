"""Draws small state spaces: states, transitions, final states and violations."""

from __future__ import annotations

import io
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path as FilePath
from types import MappingProxyType

import networkx as nx
from attrs import evolve

from antecede.checker.model import (
    Arm,
    CausalSend,
    Internal,
    Lose,
    Property,
    State,
    Timeout,
    Transition,
)
from antecede.checker.paths.path import transition_key
from antecede.checker.render import dot
from antecede.checker.render.about import question
from antecede.checker.render.files import check_writable, write_whole
from antecede.checker.render.markup import Markup, plain, plain_lines
from antecede.checker.render.pages import page
from antecede.checker.render.prose import Wording, fields_of, listed
from antecede.checker.search.graph import StateGraph
from antecede.checker.search.plain import first_states
from antecede.checker.semantics.judge import at_end, in_deliveries, in_state
from antecede.checker.semantics.transition import (
    Outcome,
    System,
    initial_state,
    is_final,
    successor,
)
from antecede.checker.support.errors import InputError

MOST_STATES = 400
"""The greatest number of states in a readable drawing."""


def state_graph(system: System, most: int = MOST_STATES) -> nx.MultiDiGraph:
    """Return the reachable states and the transitions between them.

    A node is a state's number, in breadth-first order. It has the attributes `depth`, `text`,
    `label` (its differences from the start, in lines), `final`, `initial` and `violates` (the names
    of the properties that it, or a transition into it, violates). An edge has the attributes `text`
    and `label`, a short text.

    Raises:
        InputError: there are more than `most` states.
    """
    explored, judged, words = _explored(system, most), _judged(system), short_words(system)
    title = f"State space of {plain(system.protocol.name)}"
    graph = nx.MultiDiGraph(title=title, question=plain(question(system)))
    _add(graph, system, explored.states[0], 0, 1)
    for here, state in enumerate(explored.states):
        edges = list(explored.rows.of(here))
        transitions = [explored.rows.transitions[label] for label, _ in edges]
        graph.nodes[here]["final"] = is_final(system, transitions)
        if is_final(system, transitions):
            _violate(graph, here, [p for p in judged if at_end(system, p, state)])
        for label, number in edges:
            transition = explored.rows.transitions[label]
            if number not in graph:
                _add(graph, system, explored.states[number], number, graph.nodes[here]["depth"] + 1)
            outcome = successor(system, state, transition)
            text = _edge_text(system, transition_key(transition), outcome)
            graph.add_edge(here, number, text=text, label=plain(_short(words, transition)))
            wrong = [p for p in judged if in_deliveries(p, outcome.deliveries)]
            _violate(graph, number, wrong)
    return graph


def _explored(system: System, most: int) -> StateGraph:
    """Return the graph of all states; it raises the errors of `state_graph`."""
    search = first_states(system, most + 1)
    if len(search.graph.states) > most:
        raise InputError(
            f"the state space has more than {most} states, too many to be read; give "
            "fewer actors or messages, or a workload such as script:[[1],[0]]"
        )
    return search.graph


def _add(graph: nx.MultiDiGraph, system: System, state: State, number: int, depth: int) -> None:
    words = Wording.about(system)
    text = "\n".join(
        f"{words.actor(actor)}: {words.value(here)}" for actor, here in enumerate(state.actors)
    )
    graph.add_node(
        number,
        depth=depth,
        text=plain_lines(text),
        label=plain_lines("\n".join(_differences(system, state))),
        final=False,
        violates="",
        initial=number == 0,
    )
    _violate(graph, number, [p for p in _judged(system) if in_state(p, state)])


def short_words(system: System) -> Wording:
    """Return words that name messages by their senders: A1 is Alice's first."""
    names = [system.names.actor(actor) for actor in range(system.actors)]
    initials = [name[:1] for name in names]
    apart = len(set(initials)) == len(names)
    messages = tuple(
        tuple(
            system.names.message(actor, number)
            or (f"{initial}{number}" if apart else f"{actor + 1}.{number}")
            for number in range(1, system.messages + 1)
        )
        for actor, initial in enumerate(initials)
    )
    return Wording({}, evolve(system.names, messages=messages), sent=False)


def _differences(system: System, state: State) -> Iterator[str]:
    """Yield the differences of a state from the start: fields of actors, packets in flight."""
    words, start = short_words(system), initial_state(system)
    for actor, (was, now) in enumerate(zip(start.actors, state.actors, strict=True)):
        changed = [
            f"{name}={words.value(value)}"
            for name, value in fields_of(now).items()
            if type(was) is not type(now) or fields_of(was).get(name) != value
        ]
        if changed:
            yield f"{words.actor(actor)}: {', '.join(changed)}"
    for (_, dst), channel in zip(system.pairs, state.channels, strict=True):
        for packet in channel:
            yield f"→ {words.actor(dst)}: {words.label(packet)}"


def _short(words: Wording, transition: Transition) -> str:
    """Return a transition in very few words."""
    return ", and ".join([_trigger(words, transition), *words.crash(transition)])


def _trigger(words: Wording, transition: Transition) -> str:
    if isinstance(transition, CausalSend):
        to = listed([words.actor(dst) for dst in transition.destinations])
        label = "" if transition.label is None else f" {words.value(transition.label)}"
        return f"{words.actor(transition.actor)} sends{label} to {to}"
    if isinstance(transition, Arm | Timeout | Internal):
        return words.trigger(transition, None)
    packet = words.label(transition.packet)
    if isinstance(transition, Lose):
        return f"{packet} is lost"
    return f"{words.actor(transition.dst)} gets {packet}"


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


# Formats


def graphml(graph: nx.MultiDiGraph) -> str:
    """Return the graph as GraphML, for yEd, Gephi and networkx."""
    out = io.BytesIO()
    nx.write_graphml(graph, out)
    return out.getvalue().decode("utf-8") + "\n"


def html(graph: nx.MultiDiGraph) -> str:
    """Return a page with the picture, in a frame that scrolls and zooms."""
    return page("graph.html", title=graph.graph["title"], drawing=Markup(dot.svg(graph)))


GRAPH_FORMATS: Mapping[str, Callable[[nx.MultiDiGraph], str]] = MappingProxyType(
    {".dot": dot.source, ".graphml": graphml, ".svg": dot.svg, ".html": html}
)
DRAWN = (".svg", ".html")
"""Endings of pictures, which need Graphviz."""


def check_drawable(file: str) -> None:
    """Check that a graph can be written to `file`, in the format of its ending.

    Raises:
        InputError: the ending names no known format, or the file cannot be written.
    """
    if _ending(file) not in GRAPH_FORMATS:
        raise InputError(
            f"{file!r}: unsupported graph format. Use one of: {', '.join(GRAPH_FORMATS)}"
        )
    check_writable(_written(file))


def draw(file: str, graph: nx.MultiDiGraph) -> str:
    """Write a graph to `file` in the format of its ending; return a note for the user, or ''.

    Without Graphviz, a DOT file with the same name replaces a picture.

    Raises:
        InputError: the file cannot be written, or Graphviz failed.
    """
    target = _written(file)
    write_whole(target, GRAPH_FORMATS[_ending(target)](graph))
    if target == file:
        return ""
    return (
        "--graph needs Graphviz to draw pictures, and its program dot is not installed. The state "
        f"space was written to {target} instead; where Graphviz is installed, "
        f"dot -Tsvg -O {target} draws it."
    )


def _ending(file: str) -> str:
    return FilePath(file).suffix.lower()


def _written(file: str) -> str:
    """Return the file to write; without Graphviz, a .dot file in place of a picture."""
    if _ending(file) in DRAWN and not dot.is_installed():
        return str(FilePath(file).with_suffix(".dot"))
    return file
