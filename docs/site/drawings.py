"""Draws the runs and charts of which the repository has a short form; see benchmarks/drawings.py.

A paragraph that is only a link to a short form becomes the picture, which is a link to the data. A
link to a trace within a sentence gets a link to the picture beside it. The site has whole traces.
"""

from __future__ import annotations

import json
import posixpath
import re
import sys
from pathlib import Path
from typing import Any

from mkdocs.structure.files import File, Files

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))

from benchmarks import drawings  # noqa: E402 -- it is no package that is installed

ALONE = re.compile(r"(?<=\n\n)\[([^\]]+)\]\(([^()\s]+)\.json\)(?=\n\n|\n*\Z)")
TRACE = re.compile(r"(\[trace\]\(([^()\s]+)\.json\))(?!, \[picture\])")


def on_files(files: Files, *, config: Any) -> Files:
    """Add the pictures, and replace traces in short form by whole ones."""
    places = config.extra["drawings"] = dict[str, str]()
    for source in drawings.sources():
        path = source.relative_to(ROOT).as_posix()
        in_docs = path.startswith("docs/")
        place = path.removeprefix("docs/") if in_docs else f"project/{path}"
        places[path] = place
        if drawings.is_run(source) and (short := files.get_file_from_path(place)) is not None:
            files.remove(short)
            whole = json.dumps(drawings.in_full(source), indent=2) + "\n"
            files.append(File.generated(config, place, content=whole))
        picture = place.removesuffix(".json") + ".svg"
        if files.get_file_from_path(picture) is None:
            files.append(File.generated(config, picture, content=drawings.drawn(source)))
    return files


def on_page_markdown(markdown: str, *, page: Any, config: Any, **_more: Any) -> str:
    """Show the pictures on a page; it still has the links of the repository."""
    place = page.file.src_uri
    folder = posixpath.dirname(config.extra["origins"].get(place, f"docs/{place}"))

    def is_drawing(link: str) -> bool:
        return posixpath.normpath(posixpath.join(folder, link)) in config.extra["drawings"]

    def shown(found: re.Match[str]) -> str:
        text, link = found.groups()
        if not is_drawing(f"{link}.json"):
            return found[0]
        return f"[![{text}]({link}.svg)]({link}.json)"

    def with_picture(found: re.Match[str]) -> str:
        whole, link = found.groups()
        return f"{whole}, [picture]({link}.svg)" if is_drawing(f"{link}.json") else whole

    return TRACE.sub(with_picture, ALONE.sub(shown, markdown))
