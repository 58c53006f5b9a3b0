"""The colours of pictures in both schemes, and their style sheets."""

from __future__ import annotations

from collections.abc import Mapping

from antecede.checker.render.geometry import NAME, TEXT
from antecede.checker.render.pages import page

_COLOURS = {
    "paper": ("#ffffff", "#0d1117"),
    "ink": ("#1f2328", "#e6edf3"),
    "muted": ("#59636e", "#9da7b1"),
    "faint": ("#d1d9e0", "#3d444d"),
    "strip": ("#f3f5f8", "#151b23"),
    "late": ("#b34700", "#ff9d57"),
    "chain": ("#0063a3", "#6cb8ff"),
    "band": ("#bfdcf2", "#173a5c"),
    "shade": ("#6e7781", "#8d96a0"),
    "mode": ("#7d3c98", "#d2a8ff"),
}
"""Name -> the colour in a light and in a dark scheme."""

LIGHT: Mapping[str, str] = {name: light for name, (light, _) in _COLOURS.items()}
DARK: Mapping[str, str] = {name: dark for name, (_, dark) in _COLOURS.items()}


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
