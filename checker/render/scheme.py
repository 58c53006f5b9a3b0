"""Dark colour schemes for pictures in light colours."""

from __future__ import annotations

from collections.abc import Mapping


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
