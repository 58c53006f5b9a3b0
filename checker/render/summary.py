"""Results as Markdown, which GitHub Actions shows on the page of a job.

See "Adding a job summary" in GitHub's documentation. GitHub draws Mermaid diagrams there, and no
pictures from files of the job. Any text from outside stands in a block of code or is escaped, so it
cannot be Markdown or HTML.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from antecede.checker.check.report import Checked, CheckReport, Refused
from antecede.checker.render.markup import escaped, plain, plain_lines
from antecede.checker.render.sequence import mermaid
from antecede.checker.render.terminal import elapsed
from antecede.checker.render.text import check_text
from antecede.checker.render.text import summary as last_line
from antecede.checker.support.amounts import counted

MARKS = {0: "✅", 1: "❌", 2: "⚠️", 3: "⏳"}
"""Exit code of a check -> the mark in its row."""

MOST_BYTES = 1 << 20
"""The most bytes of a summary that GitHub shows."""


def text(done: Sequence[Checked], planned: int) -> str:
    """Return a table of all checks, and a diagram and a report of each unexpected result.

    Args:
        done: the checks.
        planned: the number of checks that were to be done.
    """
    rows = "\n".join(map(_row, done))
    parts = [f"### antecede\n\n{_cell(last_line(done, planned))}\n\n{HEAD}\n{rows}\n"]
    for each in done:
        part = _details(each) if each.exit_code else ""
        if sum(len(written.encode()) for written in (*parts, part)) < MOST_BYTES - 200:
            parts.append(part)
    return "\n".join(filter(None, parts)) + "\n"


HEAD = "| | spec | verdict | states | time |\n|---|---|---|--:|--:|"


def _row(each: Checked) -> str:
    mark = MARKS[each.exit_code]
    if isinstance(each, Refused):
        return f"| {mark} | {_cell(each.label)} | ERROR | | |"
    result = each.result
    cells = (result.verdict, counted(result.size.unique_states, "state"), elapsed(result.seconds))
    return f"| {mark} | {_cell(each.spec.label)} | {' | '.join(map(str, cells))} |"


def _details(each: Checked) -> str:
    """Return the report of an unexpected result, which is folded, with a diagram of its run."""
    if isinstance(each, Refused):
        return _folded(each.label, _block("text", str(each.error)))
    return _folded(each.spec.label, _diagram(each) + _block("text", check_text(each)))


def _diagram(report: CheckReport) -> str:
    path = report.result.counterexample
    return "" if path is None else _block("mermaid", mermaid(path, report))


def _folded(label: str, body: str) -> str:
    return f"<details><summary>{escaped(label)}</summary>\n\n{body}</details>\n"


def _block(kind: str, body: str) -> str:
    """Return a block of code. Its fence is longer than every fence in it."""
    fence = "`" * max([3, *(len(found) + 1 for found in re.findall("`+", body))])
    return f"{fence}{kind}\n{plain_lines(body)}\n{fence}\n\n"


def _cell(said: str) -> str:
    """Return text as it stands in a cell of a table."""
    return re.sub(r"([\\`*_{}\[\]<>()#+!|~&])", r"\\\1", " ".join(plain(said).split()))
