"""The verification table of the Cykas paper (section 4, Table 1), from our own checks.

Question: Where are our numbers compared with Table 1 of the Cykas paper?
"""

from __future__ import annotations

import csv
import io
import json
import os
import platform
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from attrs import asdict, evolve, frozen

from antecede.checker.check.pipeline import check
from antecede.checker.check.report import CheckReport
from antecede.checker.check.spec import SHIPPED, Spec, overridden
from antecede.checker.check.targets import targets_of
from antecede.checker.render.json import TABLE_SCHEMA, versions
from antecede.checker.render.prose import aligned
from antecede.checker.render.terminal import elapsed
from antecede.checker.search.loop import Progress
from antecede.checker.search.options import Bounds, Options
from antecede.checker.search.result import Verdict
from antecede.checker.semantics.history import HISTORIES
from antecede.checker.semantics.question import as_asked
from antecede.checker.support.errors import InputError
from antecede.checker.support.memory import machine_memory_bytes
from antecede.checker.support.settings import whole_number

SPECS = SHIPPED / "table1"
FORMATS = ("text", "markdown", "json", "csv")


@frozen
class Paper:
    """A row of the paper: millions of states, the depth, seconds on 96 threads, and the verdict."""

    name: str
    total: int
    unique: int
    depth: int
    seconds: int
    verdict: Verdict


PAPER = {
    "mfss": Paper("MFSS", 1_543, 527, 37, 163, Verdict.HOLDS),
    "cykas-secret-mode": Paper("Cykas w/ secret-mode sends", 44, 13, 43, 5, Verdict.VIOLATED),
    "cykas": Paper("Cykas", 5_974, 1_945, 49, 709, Verdict.HOLDS),
}
"""Protocol -> its row, in the paper's order."""

PAPER_BOUNDS = (3, 3)
"""Actors, and messages per actor, of all rows of the paper."""


@frozen
class Row:
    """One row: the paper's numbers, and ours."""

    paper: Paper
    history: str
    report: CheckReport

    @property
    def comparable(self) -> bool:
        """The bounds are the paper's."""
        return (self.report.spec.actors, self.report.spec.messages) == PAPER_BOUNDS

    @property
    def agrees(self) -> bool | None:
        """The verdict is the paper's; None if the bounds are not."""
        return self.report.result.verdict is self.paper.verdict if self.comparable else None


def parsed_bounds(text: str) -> tuple[int, int]:
    """Return actors and messages of a text such as 3x2.

    Raises:
        InputError: the text is not of this form.
    """
    actors, _, messages = text.partition("x")
    what = f"of the bounds {text!r} (ACTORSxMESSAGES, such as 3x3) the number of"
    return whole_number(actors, f"{what} actors"), whole_number(messages, f"{what} messages")


def parsed_histories(text: str) -> tuple[str, ...]:
    """Return the encodings in the value of `--history`.

    Raises:
        InputError: there is no such encoding.
    """
    if text == "all":
        return tuple(HISTORIES)
    if text not in HISTORIES:
        raise InputError(f"unknown history {text!r}; available: {', '.join(HISTORIES)}, all")
    return (text,)


def specs(values: Mapping[str, Any], histories: Sequence[str]) -> list[Spec]:
    """Return the specs of the rows, in the paper's order, with `values` by field name."""
    shipped = {spec.protocol: spec for spec in targets_of([str(SPECS)]).strictly()}
    return [
        overridden(_of_the_paper(shipped[protocol]), {**values, "history": history})
        for history in histories
        for protocol in PAPER
    ]


def _of_the_paper(spec: Spec) -> Spec:
    """Remove properties that are sought, because smaller bounds may not reach them."""
    names = tuple(prop.name for prop in spec.system.properties if not prop.sought)
    return evolve(spec, file=None, properties=names if spec.properties else ())


def rows(
    specs: Sequence[Spec],
    options: Options,
    bounds: Bounds,
    watch: Callable[[Spec, Progress], None],
) -> Iterator[Row]:
    """Run the checks one by one, and yield each row as soon as it is complete."""
    for spec in specs:

        def seen(progress: Progress, spec: Spec = spec) -> None:
            watch(spec, progress)

        report = check(spec, options, bounds, watch=seen)
        report = evolve(report, result=report.result.of_this_search)  # counts are compared, too
        yield Row(PAPER[spec.protocol], spec.history, report)
        if report.interrupted:
            return


def machine(options: Options) -> str:
    """Return a description of the machine."""
    memory = machine_memory_bytes() / 2**30
    threads = f", {options.threads} threads" if options.threads else ""
    used = ", ".join(f"{name} {version}" for name, version in versions().items())
    return (
        f"{platform.machine()}, {os.cpu_count()} cores, {memory:.0f} GiB; engine "
        f"{options.engine}{threads}; {used}"
    )


def titles(found: Sequence[Row]) -> tuple[str, ...]:
    """Return the heads of the columns; they name the paper's bounds if ours are others."""
    figures = ("depth", "time", "verdict")
    bounds = "" if _judged(found) else " " + _size(*PAPER_BOUNDS)
    ours, theirs = "total / unique", f"paper{bounds}: total / unique"
    return ("protocol", "history", ours, *figures, theirs, *figures)


def _size(actors: int, messages: int) -> str:
    return f"{actors}x{messages}"


def _other_bounds(found: Sequence[Row]) -> list[str]:
    """Say that the figures of the paper are for other bounds, if they are."""
    if _judged(found):
        return []
    spec, theirs = found[0].report.spec, _size(*PAPER_BOUNDS)
    return [
        f"Our columns are for {_size(spec.actors, spec.messages)} (actors x messages per actor), "
        f"and the paper's for {theirs}.",
        f"Verdicts are compared only within the same bounds: --bounds {theirs}.",
    ]


def cells(row: Row) -> list[str]:
    """Return the cells of a row for people."""
    result, paper = row.report.result, row.paper
    counts = result.size
    verdict = str(result.verdict)
    if result.stopped_by:
        verdict += f" ({result.stopped_by})"
    return [
        paper.name,
        row.history,
        f"{counts.total_states:,} / {counts.unique_states:,}",
        f"{counts.depth}",
        elapsed(result.seconds),
        verdict,
        f"{paper.total:,}M / {paper.unique:,}M",
        f"{paper.depth}",
        f"{paper.seconds} s",
        str(paper.verdict),
    ]


def text(found: list[Row], options: Options) -> str:
    """Return the table for a terminal."""
    table = aligned([titles(found), *map(cells, found)])
    return "\n".join([table, "", *_notes(found, options)])


def _notes(found: list[Row], options: Options) -> list[str]:
    return [f"Here: {machine(options)}.", *_on_spark(found), *_other_bounds(found), NOTE]


def _on_spark(found: list[Row]) -> list[str]:
    """Return a line with the number of rounds on Spark, if `--engine spark` was asked for."""
    figures = [(row, row.report.result.statistics) for row in found]
    asked = [(row, found) for row, found in figures if "rounds_on_spark" in found]
    if not asked:
        return []
    rounds = ", ".join(f"{cells(row)[0]} {found['rounds_on_spark']}" for row, found in asked)
    least = asked[0][1]["spark_threshold"]
    return [f"Rounds on Spark: {rounds}; levels below {least:,} states are explored without it."]


NOTE = (
    "The paper: Stateright on 96 threads. Counts are of all states, without symmetry. They differ\n"
    "from the paper's, which does not say how sends are triggered nor what its history records;\n"
    "a violated row counts the states up to the end of the level with the first violation."
)


def markdown(found: list[Row], options: Options) -> str:
    """Return the table in Markdown."""
    heads = titles(found)
    lines = [list(heads), ["---"] * len(heads), *map(cells, found)]
    table = "\n".join("| " + " | ".join(line) + " |" for line in lines)
    return "\n".join([table, "", *_notes(found, options)])


def as_object(found: list[Row], options: Options) -> dict[str, Any]:
    """Return the table for programs."""
    return {
        "schema": TABLE_SCHEMA,
        "machine": machine(options),
        "paper_bounds": _size(*PAPER_BOUNDS),
        "verdicts_agree": all(row.agrees for row in found) if _judged(found) else None,
        "rows": [_row_object(row) for row in found],
    }


def _judged(found: Sequence[Row]) -> bool:
    return all(row.comparable for row in found)


def _row_object(row: Row) -> dict[str, Any]:
    result, paper, spec = row.report.result, row.paper, row.report.spec
    counts = result.size
    return {
        **asdict(as_asked(spec), filter=lambda field, _value: field.name != "properties"),
        "network": row.report.system.network.name,
        "total_states": counts.total_states,
        "unique_states": counts.unique_states,
        "depth": counts.depth,
        "seconds": result.seconds,
        "verdict": str(result.verdict),
        "stopped_by": result.stopped_by,
        "paper_total_states_in_millions": paper.total,
        "paper_unique_states_in_millions": paper.unique,
        "paper_depth": paper.depth,
        "paper_seconds": paper.seconds,
        "paper_verdict": str(paper.verdict),
        "agrees": row.agrees,
    }


def as_csv(found: list[Row], _options: Options) -> str:
    """Return the table as comma-separated values."""
    out = io.StringIO()
    objects = [_row_object(row) for row in found]
    writer = csv.DictWriter(out, list(objects[0]), lineterminator="\n")
    writer.writeheader()
    writer.writerows(objects)
    return out.getvalue().rstrip("\n")


def rendered(found: list[Row], options: Options, format: str) -> str:
    """Return the table in one of FORMATS."""
    if format == "json":
        return json.dumps(as_object(found, options), indent=2)
    return {"text": text, "markdown": markdown, "csv": as_csv}[format](found, options)
