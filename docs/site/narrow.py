"""Narrow forms of space-time diagrams, for phones.

A diagram has words about the run above it, a column of words about the steps on its right, and a
legend below it. The narrow form is the picture without all three. A phone shows it in place of the
whole diagram.
"""

from __future__ import annotations

import posixpath
import re
from typing import Any

from mkdocs.structure.files import File, Files

PHONE = "(max-width: 600px)"
GAP = 10
"""The room between the picture and the words about its steps, in units of the SVG."""

IMAGE = re.compile(r'<img [^>]*src="([^":]+\.svg)"[^>]*>')
FIGURE = '<figure class="counterexample"'


def crop(drawing: str) -> tuple[float, float, float, float] | None:
    """Return the width of a diagram, and the top, width and height of its narrow form.

    Pictures that are no space-time diagrams have none.
    """
    size = re.search(r'<svg [^>]*class="spacetime"[^>]*viewBox="0 0 ([\d.]+) ', drawing)
    tops = [float(top) for top in re.findall(r'<g transform="translate\(0 ([\d.]+)\)">', drawing)]
    words = re.findall(r'<text class="note[^"]*" x="([\d.]+)"', drawing)
    if not (size and len(tops) > 1 and words):
        return None
    body, legend = tops[0], max(tops)
    return float(size[1]), body, min(map(float, words)) - GAP, legend - body


def narrow(drawing: str) -> str | None:
    """Return the narrow form of a diagram as SVG, or None."""
    found = crop(drawing)
    if found is None:
        return None
    _, top, width, height = found
    box = f'viewBox="0 {top:g} {width:g} {height:g}" width="{width:g}" height="{height:g}"'
    return re.sub(r'viewBox="[^"]*" width="[^"]*" height="[^"]*"', box, drawing, count=1)


def narrow_name(place: str) -> str:
    """Return where the narrow form of a picture is on the site."""
    return f"narrow/{place}"


def on_files(files: Files, *, config: Any) -> Files:
    """Add the narrow forms of all diagrams."""
    for file in [each for each in files if each.src_uri.endswith(".svg")]:
        drawing = narrow(file.content_string)
        if drawing is not None:
            files.append(File.generated(config, narrow_name(file.src_uri), content=drawing))
    return files


def on_page_content(html: str, *, page: Any, files: Files, **_more: Any) -> str:
    """Let phones load the narrow form of each diagram, and tell the first page how to crop."""
    folder = posixpath.dirname(page.file.src_uri)

    def with_narrow(found: re.Match[str]) -> str:
        place = narrow_name(posixpath.normpath(posixpath.join(folder, found[1])))
        if files.get_file_from_path(place) is None:
            return found[0]
        source = posixpath.relpath(place, folder or ".")
        return (
            f'<picture><source media="{PHONE}" srcset="{source}">'
            f"{found[0].replace('<img ', '<img class=diagram ', 1)}</picture>"
        )

    if FIGURE in html and (found := crop(html)) is not None:
        whole, top, width, height = found
        style = (
            f"--whole: {whole / width:.4f}; --top: {top / width:.4f}; --shape: {width} / {height}"
        )
        html = html.replace(FIGURE, f'{FIGURE} style="{style}"', 1)
    return IMAGE.sub(with_narrow, html)
