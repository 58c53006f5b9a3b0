"""Pictures in light colours, for readers whose scheme is dark."""

from __future__ import annotations

from collections.abc import Mapping

from antecede.checker.formats.svg_style import DARK

PAPER, INK = "#ffffff", "#000000"


def darkening(colours: Mapping[str, str]) -> str:
    """Return a style sheet for an SVG picture; on paper it stays as it is.

    Args:
        colours: each light colour, as the picture writes it in its attributes `fill` and `stroke`
            or, as Matplotlib does, in its attributes `style` -> the one for a dark scheme.
    """
    rules = "".join(
        f'[{kind}="{light}"],[style*="{kind}: {light}"]{{{kind}:{dark}!important}}\n'
        for light, dark in colours.items()
        for kind in ("fill", "stroke")
    )
    return f"@media screen and (prefers-color-scheme: dark) {{\n{rules}}}\n"


PLOTTED: Mapping[str, str] = {
    PAPER: DARK["paper"],
    INK: DARK["ink"],
    "#b0b0b0": DARK["muted"],
    "#cccccc": DARK["faint"],
    "#1f77b4": "#6cb8ff",
    "#ff7f0e": "#ffa657",
    "#2ca02c": "#56d364",
    "#d62728": "#ff7b72",
    "#9467bd": "#d2a8ff",
    "#8c564b": "#d9a08b",
    "#e377c2": "#f7a8d8",
    "#7f7f7f": "#b1bac4",
}
"""Matplotlib's colours -> those for a dark scheme."""


def plotted(picture: str) -> str:
    """Return a picture of Matplotlib's that follows the reader's scheme."""
    style = f"<style>{darkening(PLOTTED)}</style>"
    head, root, rest = picture.partition("<svg ")
    inside = rest.index(">") + 1
    # What Matplotlib writes as text has no colour of its own.
    return f'{head}{root}fill="{INK}" {rest[:inside]}\n {style}{rest[inside:]}'
