"""Traces as plain text: the counterexample as `antecede check` prints it."""

from __future__ import annotations

from antecede.checker.check.report import CheckReport
from antecede.checker.paths.path import Path
from antecede.checker.render.about import about
from antecede.checker.render.diagram import diagram
from antecede.checker.render.markup import plain
from antecede.checker.render.terminal import wrapped
from antecede.checker.render.text import path_text, steps_text


def text(path: Path, report: CheckReport | None = None) -> str:
    """Return `path` as text for people."""
    said = about(path, report)
    head = f"{plain(said.headline)}\n{wrapped(plain(said.question))}\n{said.verdict}"
    if path.violates is not None:
        body = path_text(path)
    else:
        body = f"{steps_text(path, said.explanation)}\n\n" + "\n".join(diagram(path).lines)
    return f"{head}\n\n{body}\n"
