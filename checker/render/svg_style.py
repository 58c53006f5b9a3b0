"""The colours of pictures in both schemes, and their style sheets."""

from __future__ import annotations

from collections.abc import Mapping

from antecede.checker.render.geometry import NAME, TEXT
from antecede.checker.render.pages import page

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


def style() -> str:
    """Return the style sheet of the drawing, in which `hide-control` hides control packets."""
    return page("spacetime.css", light=LIGHT, dark=DARK, text=TEXT, name=NAME)


def darkening(colours: Mapping[str, str]) -> str:
    """Return a style sheet that darkens an SVG picture on screens; paper keeps the light colours.

    Args:
        colours: light colour -> dark colour. Light colours are written as in the picture's
            attributes `fill` and `stroke` or, by Matplotlib, `style`.
    """
    rules = "".join(
        f'[{kind}="{light}"],[style*="{kind}: {light}"]{{{kind}:{dark}!important}}\n'
        for light, dark in colours.items()
        for kind in ("fill", "stroke")
    )
    return f"@media screen and (prefers-color-scheme: dark) {{\n{rules}}}\n"
