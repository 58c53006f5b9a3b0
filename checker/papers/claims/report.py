"""Reports on claims: lines, Markdown, JSON, and files with the counterexamples."""

from __future__ import annotations

import re
import time
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from attrs import asdict, evolve, frozen

from antecede.checker.papers.claims.claim import NAMES, Ruling, Source, source_named, sources
from antecede.checker.papers.claims.judge import Finding, Judged
from antecede.checker.render.files import make_folder
from antecede.checker.render.json import CLAIMS_SCHEMA, versions
from antecede.checker.render.pages import text_page
from antecede.checker.render.terminal import elapsed
from antecede.checker.render.trace_formats import write_trace
from antecede.checker.support.amounts import counted
from antecede.checker.support.errors import InputError, check_known

SIGNS: Mapping[Ruling, str] = {
    Ruling.CONFIRMED: "✓",
    Ruling.CONSISTENT: "≈",
    Ruling.REFUTED: "✗",
    Ruling.UNDECIDED: "?",
}


@frozen(eq=False)
class Saved:
    """The files of a finding's counterexample, relative to the report."""

    trace: str
    picture: str


KEY = 24
"""The width of the column with the keys of claims. Some keys are longer."""

Files = Mapping[Finding, Saved]

PAGE = re.compile(r"docs/(\w+)\.md")
"""A page of the documentation that a claim names."""


def chosen(name: str | None, key: str | None = None) -> tuple[Source, ...]:
    """Return the source of that name, or all; with a key, only the claim with this key.

    Raises:
        InputError: there is no such source, or it has no such claim.
    """
    if name is not None:
        check_known("source", name, NAMES)
    found = sources() if name is None else (source_named(name),)
    if key is None:
        return found
    keys = [claim.key for source in found for claim in source.claims]
    check_known("claim", key, keys)
    return tuple(
        evolve(source, claims=claims)
        for source in found
        if (claims := tuple(claim for claim in source.claims if claim.key == key))
    )


def folder_beside(output: str) -> Path:
    """Return the folder for the counterexamples of a report: its name without the ending.

    Raises:
        InputError: a file has this name, or the report has no ending.
    """
    file = Path(output)
    if not file.suffix:
        raise InputError(f"--output {output!r} has no ending; give a name such as claims.md")
    folder = file.with_suffix("")
    if folder.exists() and not folder.is_dir():
        raise InputError(f"counterexamples would go to {str(folder)!r}, which is no folder")
    return folder


def save(found: Iterable[Judged], folder: Path) -> dict[Finding, Saved]:
    """Write each counterexample as a trace and as a picture; return the files' names.

    Other files of an earlier report stay in the folder.

    Raises:
        InputError: they cannot be written.
    """
    files: dict[Finding, Saved] = {}
    for judged in found:
        shown = [f for f in judged.findings if f.path is not None]
        for number, finding in enumerate(shown, 1):
            assert finding.path is not None
            make_folder(folder)
            name = judged.claim.key if number == 1 else f"{judged.claim.key}-{number}"
            for ending in (".json", ".svg"):
                write_trace(finding.path, str(folder / f"{name}{ending}"), report=finding.report)
            files[finding] = Saved(f"{folder.name}/{name}.json", f"{folder.name}/{name}.svg")
    return files


def line(judged: Judged) -> str:
    """Return the line of one claim for a terminal, with the key that `--claim` takes."""
    seconds = sum(finding.seconds for finding in judged.findings)
    return (
        f"{judged.ruling:<10}  {elapsed(seconds):>7}  {judged.claim.key:<{KEY}}  "
        f"{judged.claim.place}" + (f": {judged.reason}" if judged.reason else "")
    )


def details(judged: Judged) -> str:
    """Return a claim and the results of its evidence, as lines for a terminal."""
    lines = [judged.claim.text]
    lines += [
        f"{finding.command}: {finding.text}".removeprefix(": ") for finding in judged.findings
    ]
    return "\n".join(f"  {line}" for line in lines)


def summary(found: Sequence[Judged]) -> str:
    """Return the number of claims per ruling, in words."""
    counts = ", ".join(f"{count} {ruling}" for ruling, count in _counts(found).items())
    return f"{counted(len(found), 'claim')}: {counts}"


def _counts(found: Sequence[Judged]) -> dict[str, int]:
    return {str(ruling): sum(j.ruling is ruling for j in found) for ruling in SIGNS}


# JSON


def as_object(found: Sequence[Judged], files: Files, *, quick: bool) -> dict[str, Any]:
    """Return the report for JSON."""
    return {
        "schema": CLAIMS_SCHEMA,
        "date": time.strftime("%Y-%m-%d"),
        "versions": versions(),
        "quick": quick,
        "counts": _counts(found),
        "claims": [_claim_object(judged, files) for judged in found],
    }


def _claim_object(judged: Judged, files: Files) -> dict[str, Any]:
    claim = judged.claim
    cell = claim.cell
    return {
        "key": claim.key,
        "source": judged.source,
        "place": claim.place,
        "cell": None if cell is None else asdict(cell),
        "claim": claim.text,
        "verdict": str(judged.ruling),
        "reason": judged.reason,
        "note": claim.note,
        "checks": [_finding_object(finding, files.get(finding)) for finding in judged.findings],
    }


def _finding_object(finding: Finding, saved: Saved | None) -> dict[str, Any]:
    return {
        "command": finding.command,
        "found": finding.text,
        "verdict": str(finding.ruling),
        "trace": None if saved is None else saved.trace,
        "picture": None if saved is None else saved.picture,
        "seconds": round(finding.seconds, 3),
    }


# Markdown


def markdown(found: Sequence[Judged], files: Files, *, command: str, folder: Path) -> str:
    """Return the report as a page of `folder`; it links to pages that exist there."""

    def linked(text: str) -> str:
        return PAGE.sub(
            lambda named: (
                f"[{named[1]}]({named[1]}.md)" if (folder / f"{named[1]}.md").exists() else named[0]
            ),
            text,
        )

    sections = [(source, [j for j in found if j.source == source.name]) for source in sources()]
    printed = [(judged.claim.cell, judged.ruling) for judged in found if judged.claim.cell]
    cells = {(cell.row, cell.column): f"{cell.printed} {SIGNS[it]}" for cell, it in printed}
    return text_page(
        "claims.md",
        command=command,
        date=time.strftime("%Y-%m-%d"),
        versions=", ".join(f"{name} {version}" for name, version in versions().items()),
        summary=summary(found),
        sections=[(source, claims) for source, claims in sections if claims],
        legend=", ".join(f"{sign} {ruling}" for ruling, sign in SIGNS.items()),
        cells=defaultdict(str, cells),
        files=files,
        linked=linked,
        counted=counted,
    )
