"""Pictures in light colours, for readers whose scheme is dark."""

from __future__ import annotations

from collections.abc import Mapping


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
