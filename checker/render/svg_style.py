"""The style of space-time diagrams: colours in both schemes, and the style sheet."""

from __future__ import annotations

from collections.abc import Mapping

from antecede.checker.render.geometry import NAME, TEXT
from antecede.checker.render.markup import number

LIGHT: Mapping[str, str] = {
    "paper": "#ffffff",
    "ink": "#1f2328",
    "muted": "#59636e",
    "faint": "#d1d9e0",
    "strip": "#f3f5f8",
    "late": "#b34700",
    "chain": "#0063a3",
    "band": "#bfdcf2",
    "shade": "#6e7781",
    "mode": "#7d3c98",
}
DARK: Mapping[str, str] = {
    "paper": "#0d1117",
    "ink": "#e6edf3",
    "muted": "#9da7b1",
    "faint": "#3d444d",
    "strip": "#151b23",
    "late": "#ff9d57",
    "chain": "#6cb8ff",
    "band": "#173a5c",
    "shade": "#8d96a0",
    "mode": "#d2a8ff",
}

_PAINT = """
.{at} .paper {{ fill: {paper}; }}
.{at} text {{ fill: {ink}; }}
.{at} .muted, .{at} .control text {{ fill: {muted}; }}
.{at} .halo {{ stroke: {paper}; }}
.{at} .strip {{ fill: {strip}; }}
.{at} .even {{ fill: {paper}; }}
.{at} .life {{ stroke: {muted}; }}
.{at} .tick {{ stroke: {faint}; }}
.{at} .shaft {{ stroke: {ink}; }}
.{at} .head, .{at} .dot {{ fill: {ink}; }}
.{at} .ring, .{at} .glass, .{at} .cross {{ stroke: {ink}; }}
.{at} .ring, .{at} .glass, .{at} .open {{ fill: {paper}; }}
.{at} .diamond {{ fill: {ink}; stroke: {paper}; }}
.{at} .control .shaft, .{at} .control .open {{ stroke: {muted}; }}
.{at} .control .head, .{at} .control .dot {{ fill: {muted}; }}
.{at} .open {{ stroke: {ink}; }}
.{at} .chain .shaft {{ stroke: {chain}; }}
.{at} .chain .head, .{at} .chain text {{ fill: {chain}; }}
.{at} .late .shaft, .{at} .wrong .ring, .{at} .wrong .glass {{ stroke: {late}; }}
.{at} .late .core {{ stroke: {paper}; }}
.{at} .gap {{ stroke: {late}; fill: {paper}; }}
.{at} .late .head, .{at} .late text, .{at} .wrong text, .{at} text.wrong {{ fill: {late}; }}
.{at} .wrong .diamond {{ fill: {late}; }}
.{at} .wrong .cross {{ stroke: {paper}; }}
.{at} .turn {{ stroke: {late}; }}
.{at} .band {{ stroke: {band}; }}
.{at} .shade {{ stroke: {shade}; fill: {shade}; }}
.{at} .mode {{ stroke: {mode}; fill: {mode}; }}
.{at} .span text {{ fill: {muted}; }}
.{at} .row.selected .strip {{ fill: {band}; }}
"""

_SHAPE = """
.{at} {{ font-family: system-ui, -apple-system, "Segoe UI", "Liberation Sans", Arial, sans-serif;
  font-size: {size}px; }}
.{at} .title {{ font-size: 18px; font-weight: 650; }}
.{at} .name {{ font-size: {name}px; font-weight: 650; }}
.{at} .halo {{ paint-order: stroke; stroke-width: 3.5px; stroke-linejoin: round; }}
.{at} .shaft {{ fill: none; stroke-width: 1.5; }}
.{at} .control .shaft {{ stroke-dasharray: 5 4; stroke-width: 1.2; }}
.{at} .control .solid {{ stroke-dasharray: none; }}
.{at} .in-flight .shaft {{ stroke-dasharray: 1.5 3.5; }}
.{at} .chain .shaft {{ stroke-width: 2.4; }}
.{at} .late .shaft {{ stroke-width: 5; }}
.{at} .late .core {{ fill: none; stroke-width: 1.8; }}
.{at} .late text, .{at} .chain text, .{at} .wrong text, .{at} text.wrong {{ font-weight: 650; }}
.{at} .band {{ fill: none; stroke-width: 17; stroke-linecap: round; }}
.{at} .life {{ stroke-width: 1.4; }}
.{at} .ring, .{at} .glass {{ stroke-width: 1.7; }}
.{at} .open {{ stroke-width: 1.3; }}
.{at} .gap {{ stroke-width: 1.8; stroke-dasharray: 3 2.2; }}
.{at} .turn {{ fill: none; stroke-width: 1.8; stroke-linejoin: round; stroke-linecap: round; }}
.{at} .cross {{ fill: none; stroke-width: 2; stroke-linecap: round; }}
.{at} .diamond {{ stroke-width: 1; }}
.{at} .span rect {{ stroke-width: 0.8; }}
.{at} .span text {{ font-size: 11px; font-style: italic; }}
.{at} .veil {{ opacity: 0.8; pointer-events: none; }}
.{at}.hide-control .control {{ display: none; }}
"""

CLASS = "spacetime"
"""The class of the drawing; with `hide-control` beside it, control packets are not shown."""


def style() -> str:
    """Return the style sheet of the drawing."""
    paint = _PAINT.format(at=CLASS, **LIGHT)
    dark = _PAINT.format(at=CLASS, **DARK)
    return (
        f"{_SHAPE.format(at=CLASS, size=number(TEXT), name=number(NAME))}{paint}"
        f"@media screen and (prefers-color-scheme: dark) {{{dark}}}\n"
    )
