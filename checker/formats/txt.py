"""Traces as plain text: the counterexample as `antecede check` prints it."""

from __future__ import annotations

from antecede.checker.check.report import CheckReport
from antecede.checker.formats.markup import plain
from antecede.checker.paths.path import Path
from antecede.checker.report.about import about
from antecede.checker.report.diagram import diagram
from antecede.checker.report.terminal import wrapped
from antecede.checker.report.text import path_text, steps_text


def text(path: Path, report: CheckReport | None = None) -> str:
    """Return `path` as text for people."""
    said = about(path, report)
    head = f"{plain(said.headline)}\n{wrapped(plain(said.question))}\n{said.verdict}"
    if path.violates is not None:
        body = path_text(path)
    else:
        body = f"{steps_text(path, said.explanation)}\n\n" + "\n".join(diagram(path).lines)
    return f"{head}\n\n{body}\n"
