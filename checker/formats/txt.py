"""Traces as plain text: what `causalcheck check` prints of a counterexample, in a file."""

from __future__ import annotations

from checker.check import CheckReport
from checker.diagram import diagram
from checker.formats.about import about
from checker.formats.markup import plain
from checker.path import Path
from checker.report import path_text, steps_text, wrapped


def text(path: Path, report: CheckReport | None = None) -> str:
    """Return `path` as text for people."""
    said = about(path, report)
    head = f"{plain(said.headline)}\n{wrapped(plain(said.question))}\n{said.verdict}"
    if path.violates is not None:
        body = path_text(path)
    else:
        body = f"{steps_text(path, said.explanation)}\n\n" + "\n".join(diagram(path).lines)
    return f"{head}\n\n{body}\n"
