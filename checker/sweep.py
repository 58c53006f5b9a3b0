"""Many checks: every combination of protocols, bounds, networks, encodings, on all cores.

A row per finished check is appended to a file of JSON lines as soon as it is there; a sweep that is
begun again leaves out what is in the file already.
"""

from __future__ import annotations

import json
import multiprocessing
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from itertools import product
from pathlib import Path
from typing import Any

from attrs import evolve, frozen

from checker.check import check
from checker.engine import Options
from checker.errors import CausalCheckError, InputError
from checker.formats import write_whole
from checker.search import Bounds
from checker.spec import Expectation, Spec

KEYS = ("protocol", "actors", "messages", "network", "workload", "history")
"""What tells the checks of a sweep apart; the columns of its rows."""


@frozen
class Axes:
    """The values that a sweep combines; where there are none a spec's own is kept."""

    protocol: tuple[str, ...] = ()
    actors: tuple[int, ...] = ()
    messages: tuple[int, ...] = ()
    network: tuple[str, ...] = ()
    workload: tuple[str, ...] = ()
    history: tuple[str, ...] = ()


def combined(specs: Sequence[Spec], axes: Axes) -> list[Spec]:
    """Return every combination once, smaller ones first; none expects anything."""
    found: dict[tuple[Any, ...], Spec] = {}
    for spec in specs:
        values = [getattr(axes, key) or (getattr(spec, key),) for key in KEYS]
        for combination in product(*values):
            changed = evolve(spec, **dict(zip(KEYS, combination, strict=True)))
            found.setdefault(combination, evolve(changed, expect=Expectation(), file=None))
    return sorted(found.values(), key=lambda s: (s.actors * s.messages, s.actors))


def row_of(spec: Spec, options: Options, bounds: Bounds) -> dict[str, Any]:
    """Run one check and return its row; what cannot be checked has the error in its row."""
    row: dict[str, Any] = {key: getattr(spec, key) for key in KEYS}
    try:
        report = check(spec, options, bounds, selfcheck="off")
    except CausalCheckError as error:
        return {**row, "verdict": "ERROR", "error": str(error)}
    result = report.result
    counts, path = result.unreduced or result.counts, result.counterexample
    return {
        **row,
        "verdict": str(result.verdict),
        "violates": None if path is None else path.violates,
        "counterexample_length": None if path is None else path.length,
        "unique_states": counts.unique_states,
        "total_states": counts.total_states,
        "depth": counts.depth,
        "seconds": round(result.seconds, 3),
        "stopped_by": result.stopped_by,
        "error": result.error,
    }


def saved(file: Path) -> list[dict[str, Any]]:
    """Return the rows of an earlier run; a last line that is cut off is left out.

    Raises:
        InputError: the file holds something else.
    """
    if not file.exists():
        return []
    rows = []
    lines = file.read_text(encoding="utf-8").splitlines(keepends=True)
    for number, line in enumerate(lines, 1):
        try:
            row = json.loads(line)
        except json.JSONDecodeError:
            if number == len(lines):
                break
            row = None
        if not isinstance(row, dict) or not set(KEYS) <= set(row):
            raise InputError(f"{file}, line {number}: no row of a sweep; give another file")
        rows.append(row)
    return rows


def sweep(
    specs: Sequence[Spec], options: Options, bounds: Bounds, processes: int, file: Path
) -> Iterator[dict[str, Any]]:
    """Run what is missing in `file` on several processes; yield each row when it is in the file."""
    rows = saved(file)
    done = {_key(row) for row in rows}
    # What was cut off in the middle of a line is written anew.
    write_whole(str(file), "".join(f"{json.dumps(row)}\n" for row in rows))
    missing = [spec for spec in specs if tuple(getattr(spec, key) for key in KEYS) not in done]
    context = multiprocessing.get_context("spawn")
    with (
        file.open("a", encoding="utf-8") as out,
        ProcessPoolExecutor(processes, mp_context=context) as pool,
    ):
        futures = [pool.submit(row_of, spec, options, bounds) for spec in missing]
        try:
            for future in as_completed(futures):
                row = future.result()
                out.write(f"{json.dumps(row)}\n")
                out.flush()
                yield row
        except BaseException:
            pool.shutdown(cancel_futures=True)
            raise


def _key(row: dict[str, Any]) -> tuple[Any, ...]:
    return tuple(row[key] for key in KEYS)


def line(row: dict[str, Any]) -> str:
    """Return a row for a terminal, as it comes."""
    what = f"{row['protocol']} {row['actors']}x{row['messages']} {row['network']} "
    states = f"{row['unique_states']:,} states" if "unique_states" in row else str(row["error"])
    return f"{what}{row['workload']} {row['history']}: {row['verdict']}, {states}"


def matrix(rows: Sequence[dict[str, Any]]) -> str:
    """Return the verdicts and unique states: a line per protocol and setting, bounds across."""
    sizes = sorted({(row["actors"], row["messages"]) for row in rows})
    settings = sorted({_setting(row) for row in rows})
    cells = {(_setting(row), (row["actors"], row["messages"])): _cell(row) for row in rows}
    table = [["", *(f"{actors}x{messages}" for actors, messages in sizes)]]
    table += [[" ".join(s), *(cells.get((s, size), "") for size in sizes)] for s in settings]
    wides = [max(len(row[k]) for row in table) for k in range(len(table[0]))]
    return "\n".join(
        "  ".join(cell.ljust(wide) for cell, wide in zip(row, wides, strict=True)).rstrip()
        for row in table
    )


def _setting(row: dict[str, Any]) -> tuple[str, ...]:
    return tuple(str(row[key]) for key in ("protocol", "network", "workload", "history"))


def _cell(row: dict[str, Any]) -> str:
    if row["verdict"] == "ERROR":
        return "ERROR"
    if row["verdict"] == "VIOLATED":
        return f"VIOLATED ({row['counterexample_length']})"
    return f"{row['verdict']} {row['unique_states']:,}"
