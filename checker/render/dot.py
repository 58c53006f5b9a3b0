"""A state space in Graphviz's language DOT, and the pictures that Graphviz's `dot` draws of it.

In a small space a state is a box that lists its differences from the start, and transitions are
labelled. In a larger space states are numbered circles, and the text is in tooltips. Colour is
never the only sign: the start has a heavy border, a final state has a double border, and a
violation has a cross. The space-time diagram has the same colours. They follow the reader's light
or dark scheme.
"""

from __future__ import annotations

import shutil
import subprocess
import textwrap
from collections.abc import Iterator, Mapping
from html import escape
from typing import Any

import networkx as nx

from antecede.checker.render.geometry import cut
from antecede.checker.render.svg_style import DARK, LIGHT, darkening
from antecede.checker.support.amounts import counted
from antecede.checker.support.errors import InputError

MOST_WORDED, MOST_IN_A_ROW = 60, 8
"""The greatest numbers of states, in all and in a row, for a graph with text in its boxes."""
LONGEST_LINE, MOST_LINES, LONGEST_LABEL = 34, 6, 26
CAPTION_WIDTH = 90
"""The greatest length of a line of the caption, in characters."""

USED = ("paper", "ink", "muted", "strip", "late")
"""The colours of `LIGHT` in the picture."""

FONT = {"fontname": "Helvetica,Arial,sans-serif", "fontsize": "11", "fontcolor": LIGHT["ink"]}
WORDED = {"shape": "box", "style": "rounded,filled", "margin": "0.12,0.06"}
NUMBERED = {"shape": "circle", "style": "filled", "fixedsize": "true", "width": "0.36"}


def is_installed() -> bool:
    """Return whether Graphviz's `dot` is installed."""
    return shutil.which("dot") is not None


def svg(graph: nx.MultiDiGraph) -> str:
    """Return a picture that Graphviz draws; it follows the reader's light or dark scheme.

    Raises:
        InputError: Graphviz failed.
    """
    done = subprocess.run(
        ["dot", "-Tsvg"], input=source(graph), capture_output=True, encoding="utf-8", check=False
    )
    if done.returncode:
        raise InputError(f"Graphviz's dot failed: {done.stderr.strip()[:500]}")
    picture = done.stdout[done.stdout.index("<svg") :]
    inside = picture.index(">") + 1
    style = darkening({LIGHT[name]: DARK[name] for name in USED})
    return f"{picture[:inside]}\n<style>{style}</style>{picture[inside:]}"


def source(graph: nx.MultiDiGraph) -> str:
    """Return a graph of `graph.state_graph` in DOT, with one arrow per pair of states."""
    depths = [depth for _, depth in graph.nodes(data="depth")]
    worded = len(depths) <= MOST_WORDED and max(map(depths.count, depths)) <= MOST_IN_A_ROW
    caption = "".join(_caption(graph, worded=worded))
    node = {**FONT, **(WORDED if worded else NUMBERED)}
    node |= {"color": LIGHT["ink"], "fillcolor": LIGHT["strip"]}
    edge = {**FONT, "color": LIGHT["muted"], "fontcolor": LIGHT["muted"], "arrowsize": "0.7"}
    looks = {**FONT, "labelloc": "t", "labeljust": "l", "bgcolor": LIGHT["paper"]}
    lines = ["digraph states {", f"  graph [{_attributes(looks)}, label=<{caption}>];"]
    lines += [f"  node [{_attributes(node)}];", f"  edge [{_attributes(edge)}];"]
    for number, data in graph.nodes(data=True):
        lines.append(f"  {number} [{_attributes(_state(number, data, worded=worded))}];")
    for (start, end), several in _arrows(graph).items():
        labels = "; ".join(dict.fromkeys(data["label"] for data in several))
        looks = {"tooltip": "; ".join(data["text"] for data in several)}
        looks |= {"label": cut(labels, LONGEST_LABEL), "labeltooltip": looks["tooltip"]} if (
            worded
        ) else {}  # fmt: skip
        lines.append(f"  {start} -> {end} [{_attributes(looks)}];")
    return "\n".join([*lines, "}", ""])


def _arrows(graph: nx.MultiDiGraph) -> dict[tuple[int, int], list[Mapping[str, Any]]]:
    """Return the transitions of a graph, by (source, target)."""
    arrows: dict[tuple[int, int], list[Mapping[str, Any]]] = {}
    for start, end, data in graph.edges(data=True):
        arrows.setdefault((start, end), []).append(data)
    return arrows


def _state(number: int, data: Mapping[str, Any], *, worded: bool) -> dict[str, str]:
    """Return the DOT attributes of a state."""
    wrong = data["violates"].split()
    said = f"{number}: {data['text']}" + (f"\nviolates {' '.join(wrong)}" if wrong else "")
    looks = {"label": str(number), "tooltip": said}
    if worded:
        looks["label"] = "".join(f"{line}\n" for line in _lines(number, data))
    if data["initial"]:
        looks["penwidth"] = "4"
    if data["final"]:
        looks["peripheries"] = "2"
    if wrong:
        looks |= {"color": LIGHT["late"], "fontcolor": LIGHT["late"]}
        looks["label"] = looks["label"] if worded else f"✗{number}"
    return looks


def _lines(number: int, data: Mapping[str, Any]) -> list[str]:
    """Return the text of a box."""
    said = [cut(line, LONGEST_LINE) for line in data["label"].split("\n") if line]
    if len(said) > MOST_LINES:
        said = [*said[: MOST_LINES - 1], f"… {len(said) - MOST_LINES + 1} more"]
    wrong = [f"✗ {cut(name, LONGEST_LINE)}" for name in data["violates"].split()]
    return [str(number), *said, *wrong]


def _caption(graph: nx.MultiDiGraph, *, worded: bool) -> Iterator[str]:
    """Yield the lines above the graph, as HTML-like labels of Graphviz."""
    final = sum(data for _, data in graph.nodes(data="final"))
    wrong = sum(bool(data) for _, data in graph.nodes(data="violates"))
    counts = [counted(len(graph), "state"), counted(graph.number_of_edges(), "transition")]
    counts += [counted(final, "final state"), f"{counted(wrong, 'state')} in violation"]
    how = (
        "A state says how it differs from the start."
        if worded
        else "Point at a state or a transition to read what it is."
    )
    signs = ["heavy border: the start"]
    signs += ["double border: a final state"] * bool(final)
    signs += ["✗: a property is violated there, or on the way there"] * bool(wrong)
    title, ink, muted = graph.graph["title"], LIGHT["ink"], LIGHT["muted"]
    yield _said(title, f'point-size="18" color="{ink}"', CAPTION_WIDTH * 11 // 18)
    yield _said(f"{', '.join(counts)}. {how}", f'point-size="12.5" color="{ink}"')
    yield _said(graph.graph["question"], f'color="{muted}"')
    yield _said("; ".join(signs), f'color="{muted}"')


def _said(text: str, look: str, width: int = CAPTION_WIDTH) -> str:
    lines = textwrap.wrap(text, width)
    return "".join(f'<font {look}>{escape(line)}</font><br align="left"/>' for line in lines)


def _attributes(looks: Mapping[str, str]) -> str:
    return ", ".join(f"{name}={_quoted(value)}" for name, value in looks.items())


def _quoted(text: str) -> str:
    r"""Return `text` as a quoted string of DOT, with escape sequences and entities escaped.

    Lines end with \l, which aligns them to the left in labels and breaks lines in tooltips.
    """
    for plain, written in (("\\", "\\\\"), ('"', '\\"'), ("&", "&amp;"), ("\n", "\\l")):
        text = text.replace(plain, written)
    return f'"{text}"'
