"""Mermaid sequence diagrams, as GitHub and many wikis draw them from text.

Syntax: Mermaid documentation, Sequence diagrams. A name or payload may contain any character, so
every character with a meaning in Mermaid is written as an entity code such as #35;.
"""

from __future__ import annotations

import re
from itertools import groupby

from antecede.checker.check.report import CheckReport
from antecede.checker.paths.path import Path
from antecede.checker.render.about import about
from antecede.checker.render.markup import plain
from antecede.checker.render.sequence import Arrow, Line, Note, Turn, lines_of

CONFIG = "---\nconfig:\n  sequence:\n    wrap: true\n    width: 220\n---\n"
"""The front matter, which wraps long notes."""
WRONG = "rgba(213, 94, 0, 0.25)"
"""The background of a violation. The notes describe it in words, too."""

_UNSAFE = re.compile(r"[^\w .,()=+'/\[\]…-]|--+")


def text(path: Path, report: CheckReport | None = None) -> str:
    """Return `path` as a Mermaid sequence diagram."""
    said = about(path, report)
    last = path.system.actors - 1
    lines = ["sequenceDiagram", f"title {encoded(said.headline)}"]
    lines += [f"participant p{i} as {encoded(path.system.names.actor(i))}" for i in range(last + 1)]
    lines.append(f"Note over p0,p{last}: {encoded(f'{said.question}. {said.verdict}')}")
    for wrong, group in groupby(lines_of(path), key=lambda line: line.wrong):
        written = [_written(line, last) for line in group]
        lines += [f"rect {WRONG}", *written, "end"] if wrong else written
    return CONFIG + "\n".join(lines[:1] + [f"    {line}" for line in lines[1:]]) + "\n"


def encoded(said: str) -> str:
    """Return the text escaped for Mermaid."""
    return _UNSAFE.sub(lambda found: "".join(f"#{ord(ch)};" for ch in found[0]), plain(said))


def _written(line: Line, last: int) -> str:
    if isinstance(line, Turn):
        return f"loop {encoded(line.text)}" if line.text else "end"
    if isinstance(line, Note):
        over = f"p0,p{last}" if line.actor is None else f"p{line.actor}"
        return f"Note over {over}: {encoded(line.text)}"
    return f"p{line.src}{_head(line)}p{line.dst}: {encoded(line.text)}"


def _head(arrow: Arrow) -> str:
    shaft = "--" if arrow.control else "-"
    return f"{shaft}{'x' if arrow.lost else ')' if arrow.control else '>>'}"
