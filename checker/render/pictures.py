"""Pictures as PNG and PDF, by the library vl-convert, which draws SVG without other programs."""

from __future__ import annotations

from importlib import import_module
from typing import Any

from antecede.checker.support.extras import check_installed

PICTURES = ("png", "pdf")
"""Kinds of pictures other than SVG; each is the ending of its files."""

SCALE = 2
"""Pixels of a PNG for each pixel of the drawing."""


def check_picture(kind: str) -> None:
    """Raise InputError if the package is missing that draws pictures of a kind."""
    check_installed("pictures", f"a .{kind} file")


def converted_picture(svg: str, kind: str) -> bytes:
    """Return an SVG picture as another kind: png or pdf.

    Raises:
        InputError: the package is missing.
    """
    check_picture(kind)
    library: Any = import_module("vl_convert")  # it has no types
    found = library.svg_to_pdf(svg) if kind == "pdf" else library.svg_to_png(svg, scale=SCALE)
    return bytes(found)
