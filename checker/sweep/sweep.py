"""Many checks: every combination of protocols, bounds, networks, encodings, here or on a cluster.

The row of a check is appended to a file of JSON lines as soon as the check ends. A sweep that is
restarted skips checks whose rows are in the file already.
"""

from __future__ import annotations

import hashlib
import json
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from itertools import product
from pathlib import Path
from typing import Any, TypeAlias

from attrs import asdict, define, evolve, field

from antecede.checker.check.exploring import Around, as_it_is
from antecede.checker.check.pipeline import check
from antecede.checker.check.report import CheckReport
from antecede.checker.check.spec import Spec, system_of
from antecede.checker.engine.rows.fingerprint import fingerprint
from antecede.checker.render.prose import aligned
from antecede.checker.render.terminal import elapsed
from antecede.checker.render.ticker import Ticker, fitting
from antecede.checker.search.options import Bounds, Options
from antecede.checker.search.result import Verdict
from antecede.checker.semantics.failing import FAILURES, is_declared
from antecede.checker.semantics.question import FIELDS, Question, as_asked
from antecede.checker.support.amounts import counted
from antecede.checker.support.errors import AntecedeError, CapacityError
from antecede.checker.support.exit_codes import AS_EXPECTED, INCOMPLETE, INPUT_ERROR
from antecede.checker.support.registry import (
    property_named,
    property_names,
    protocol_named,
    protocol_names,
)
from antecede.checker.support.version import VERSION
from antecede.checker.sweep.elsewhere import on_spark
from antecede.checker.sweep.kept import Kept, Row
from antecede.checker.sweep.parquet import COLUMNS
from antecede.checker.sweep.processes import Overdue, Workers

KEYS = FIELDS
"""The fields of a question, which a sweep combines."""

DIGEST = "digest"
"""The column that distinguishes equal questions: other sources, versions, options or bounds."""

ROWS = 2
"""The version of the rows. Rows of another version are not taken for the same checks.

Since version 2, a check is VACUOUS if no protocol can violate a property.
"""

IDLE = ("threads", "master")
"""Options that do not influence any row."""

GAVE_UP = "GAVE UP"
"""The verdict if the cluster, a process or its memory failed; such a row is shown, not saved."""

Runner: TypeAlias = Callable[..., Iterator[Row]]
"""(specs, options, bounds) -> their rows as they come; each check runs on one thread."""


def combined(specs: Sequence[Spec], axes: Mapping[str, tuple[Any, ...]]) -> list[Spec]:
    """Return every combination once, smaller ones first, without expectations.

    Args:
        specs: the specs to vary.
        axes: field of a question -> the values that replace a spec's own value, one by one; the
            properties in `properties` are checked together.

    Raises:
        InputError: there is no such protocol, or it does not have one of the properties.
    """
    axes = {**axes, "properties": (axes["properties"],)} if axes.get("properties") else axes
    spec_of: dict[Question, Spec] = {}
    for spec in specs:
        for values in product(*(axes.get(key) or (getattr(spec, key),) for key in KEYS)):
            asked = dict(zip(KEYS, values, strict=True))
            variant = _named(Spec(**asked, search=spec.search, own=spec.own))
            spec_of.setdefault(as_asked(variant), variant)
    return sorted(spec_of.values(), key=lambda s: (s.actors * s.messages, s.actors))


def _named(spec: Spec) -> Spec:
    """Return `spec` with an explicit network, after a check of the names in it.

    Raises:
        InputError: there is no such protocol, or it does not have one of the properties.
    """
    protocol = protocol_named(spec.protocol)
    for name in spec.properties:
        if name not in FAILURES and spec.own.named(name) is None:
            property_named(name, protocol)
    return evolve(spec, network=spec.network or protocol.network)


def row_of(spec: Spec, options: Options, bounds: Bounds, around: Around = as_it_is) -> Row:
    """Run one check and return its row; the row of an impossible check has the error."""
    row = columns_of(spec, options, bounds)
    try:
        report = check(spec, options, bounds, selfcheck=_selfcheck(spec), around=around)
    except CapacityError as error:
        return {**row, "verdict": GAVE_UP, "error": str(error)}
    except AntecedeError as error:
        return {**row, "verdict": "ERROR", "error": str(error)}
    return _with_result(row, report)


def _selfcheck(spec: Spec) -> str:
    """Return which calls a check repeats; the protocols and properties of antecede are pure."""
    known = property_names()
    are_ours = all(name in known or is_declared(name) for name in spec.properties)
    return "off" if are_ours and spec.protocol in protocol_names() else "on"


def _with_result(row: Row, report: CheckReport) -> Row:
    """Return the row of a check with its result."""
    result = report.result
    counts, path = result.size, result.counterexample
    return {
        **row,
        "verdict": str(result.verdict),
        "vacuous": ",".join(result.vacuous) or None,
        "cannot_fail": ",".join(n for n in result.vacuous if n in result.empty) or None,
        "violates": None if path is None else path.violates,
        "counterexample_length": None if path is None else path.length,
        "unique_states": counts.unique_states,
        "total_states": counts.total_states,
        "depth": counts.depth,
        "seconds": round(result.seconds, 3),
        "stopped_by": result.stopped_by,
        "error": result.error,
    }


def kept_in(file: Path) -> Kept:
    """Return the rows of a file."""
    return Kept(file, (*KEYS, DIGEST), "a sweep", COLUMNS, _is_whole)


def _is_whole(row: Row) -> bool:
    """Return whether a row has its verdict and the columns that are printed with it."""
    column_of = {"ERROR": "error", "VIOLATED": "counterexample_length"}
    verdict = row.get("verdict")
    return isinstance(verdict, str) and row.get(column_of.get(verdict, "unique_states")) is not None


def sweep(
    specs: Sequence[Spec], run: Runner, file: Path, options: Options, bounds: Bounds
) -> Iterator[Row]:
    """Run the checks that are missing in `file`; yield each row when it is in the file."""
    columns = partial(columns_of, options=options, bounds=bounds)
    runner = partial(run, options=options, bounds=bounds)
    return kept_in(file).run(specs, columns, runner, lambda row: row["verdict"] != GAVE_UP)


def asked_for(specs: Sequence[Spec], file: Path, options: Options, bounds: Bounds) -> list[Row]:
    """Return the rows of `file` for exactly these checks, in their order."""
    return kept_in(file).rows_of(specs, partial(columns_of, options=options, bounds=bounds))


def in_processes(
    specs: Sequence[Spec],
    options: Options,
    bounds: Bounds,
    processes: int,
    ticker: Ticker | None = None,
) -> Iterator[Row]:
    """Run checks in several processes of this machine."""
    with Workers(min(processes, len(specs))) as workers:
        yield from in_workers(specs, options, bounds, workers, ticker or Ticker(quiet=True))


def in_workers(
    specs: Sequence[Spec],
    options: Options,
    bounds: Bounds,
    workers: Workers,
    ticker: Ticker,
    what: str = "",
    until: Callable[[], None] = lambda: None,
    row_of: Callable[..., Row] = row_of,
) -> Iterator[Row]:
    """Run checks in processes that are there already.

    `what` is the first part of a line of progress. `until` is called now and then; it raises to end
    the sweep. `row_of` runs a check.
    """
    call = partial(row_of, options=options, bounds=bounds)
    progress = SweepProgress(len(specs), ticker, what)

    def tick(running: Sequence[Spec]) -> None:
        until()
        progress.running(running)

    for spec, row in workers.spread(call, specs, tick):
        progress.ended(spec)
        if isinstance(row, Overdue):
            yield _overdue(spec, options, bounds, row)
        elif isinstance(row, CapacityError):
            yield _given_up(spec, options, bounds, row)
        else:  # the process may know the sources of a program's objects by other names
            yield {**row, **columns_of(spec, options, bounds)}


@define(eq=False)
class SweepProgress:
    """Shows how many checks are done, and how long the current ones have been running.

    Attributes:
        what: the first part of the line.
        began: when each current check began, by its question.
    """

    checks: int
    ticker: Ticker
    what: str = ""
    now: Callable[[], float] = time.monotonic
    done: int = 0
    began: dict[Question, float] = field(factory=dict)

    def running(self, specs: Sequence[Spec]) -> None:
        """Take the checks that are under way."""
        for spec in specs:
            self.began.setdefault(as_asked(spec), self.now())
        self.ticker.show(lambda width: self._line(specs, width))

    def ended(self, spec: Spec) -> None:
        """Take a check that is done."""
        self.done += 1
        self.began.pop(as_asked(spec), None)
        self.ticker.clear()

    def _line(self, specs: Sequence[Spec], width: int) -> str:
        parts = [f"{self.what}{self.done:,} of {counted(self.checks, 'check')} done"]
        for spec in specs:
            seconds = self.now() - self.began[as_asked(spec)]
            parts.append(f"{spec.protocol} {spec.actors}x{spec.messages}: {elapsed(seconds)}")
        return fitting(list(enumerate(parts)), width, "; ")


def in_executors(
    specs: Sequence[Spec], options: Options, bounds: Bounds, master: str | None
) -> Iterator[Row]:
    """Run checks in the executors of a Spark cluster, a task per check, large ones first."""
    call = partial(row_of, options=options, bounds=bounds)
    for spec, row in on_spark(call, specs[::-1], master):
        if isinstance(row, CapacityError):
            yield _given_up(spec, options, bounds, row)
        else:
            yield {**row, **columns_of(spec, options, bounds)}


def _given_up(spec: Spec, options: Options, bounds: Bounds, error: CapacityError) -> Row:
    """Return the row of a check that the cluster, or its process, did not complete."""
    return {**columns_of(spec, options, bounds), "verdict": GAVE_UP, "error": str(error)}


def _overdue(spec: Spec, options: Options, bounds: Bounds, error: Overdue) -> Row:
    """Return the row of a check whose process was killed, because a call did not end in time."""
    nothing = dict.fromkeys(("unique_states", "total_states", "depth", "seconds"), 0)
    columns = {**dict.fromkeys(COLUMNS), **columns_of(spec, options, bounds), **nothing}
    return {**columns, "verdict": str(Verdict.INCOMPLETE), "stopped_by": str(error)}


def columns_of(spec: Spec, options: Options, bounds: Bounds) -> Row:
    """Return the columns that identify a row: the question, and a digest of all other inputs."""
    columns = {**asdict(as_asked(spec)), "properties": ",".join(spec.properties)}
    try:
        system = system_of(spec)
        columns["network"] = system.network.name
        rests_on: dict[str, Any] = fingerprint(system)
    except AntecedeError as error:
        columns["network"] = spec.network or "not known"
        rests_on = {"error": str(error)}
    return {**columns, DIGEST: _digest(rests_on, spec, options, bounds)}


def _digest(rests_on: dict[str, Any], spec: Spec, options: Options, bounds: Bounds) -> str:
    """Return a digest of the sources, the version, the bounds and the options."""
    method = asdict(options, filter=lambda field, _value: field.name not in IDLE)
    whole = [ROWS, rests_on, VERSION, spec.search, method, asdict(bounds)]
    text = json.dumps(whole, sort_keys=True, default=str)
    return hashlib.blake2b(text.encode(), digest_size=12).hexdigest()


def line(row: Row) -> str:
    """Return a row as a line of text."""
    what = f"{row['protocol']} {row['actors']}x{row['messages']} {row['network']} "
    states = counted(row["unique_states"], "state") if "unique_states" in row else str(row["error"])
    return f"{what}{row['workload']} {row['history']}: {row['verdict']}, {states}"


def exit_code_of(row: Row) -> int:
    """Return the exit code of a sweep for this check alone; all verdicts of protocols are fine."""
    if row["verdict"] == "ERROR":
        return INPUT_ERROR
    return AS_EXPECTED if row["verdict"] in ("HOLDS", "VIOLATED") else INCOMPLETE


LEGEND = (
    "2x3 means 2 actors with 3 messages each. The number after HOLDS counts unique states\n"
    "(without symmetry). The number after VIOLATED counts transitions of the counterexample."
)
"""The meaning of the numbers in the matrix."""


def matrix(rows: Sequence[Row]) -> str:
    """Return the verdicts and unique states as text."""
    return f"{aligned(cells_of(rows))}\n\n{LEGEND}"


def cells_of(rows: Sequence[Row], *, explained: bool = False) -> list[list[str]]:
    """Return the verdicts and unique states: a line per protocol and setting, sizes across.

    The first line has the sizes. If `explained`, the names of lines say what each word means.
    """
    sizes = sorted({(row["actors"], row["messages"]) for row in rows})
    more = [key for key in FURTHER if len({row.get(key) for row in rows}) > 1]
    setting = partial(_setting, more=more)
    settings = sorted({setting(row) for row in rows})
    cells = {(setting(row), (row["actors"], row["messages"])): _cell(row) for row in rows}
    table = [["", *(f"{actors}x{messages}" for actors, messages in sizes)]]
    several = len({row["history"] for row in rows}) > 1
    name = partial(_explained, history=several) if explained else " ".join
    table += [[name(s), *(cells.get((s, size), "") for size in sizes)] for s in settings]
    return table


def _explained(setting: tuple[str, ...], *, history: bool) -> str:
    """Return the name of a line in words; the history is in it if lines differ in it."""
    protocol, network, workload, kept, *more = setting
    words = [protocol, f"network {network}", f"workload {workload}"]
    return ", ".join([*words, *([f"history {kept}"] if history else []), *more])


FURTHER = ("labels", "sends", "clock_at", "crashes", "to_crashed")
"""The parts of a setting that the matrix names only if lines differ in them."""


def _setting(row: Row, more: Sequence[str]) -> tuple[str, ...]:
    usual = (str(row[key]) for key in ("protocol", "network", "workload", "history"))
    return (*usual, *(f"{key.replace('_', '-')} {row.get(key)}" for key in more))


def _cell(row: Row) -> str:
    if row["verdict"] == "ERROR":
        return "ERROR"
    if row["verdict"] == "VIOLATED":
        return f"VIOLATED ({row['counterexample_length']})"
    return f"{row['verdict']} {row['unique_states']:,}"
