"""Would pyarrow or polars read a log of JSON objects as fast as the audit's own kernels do?

    pip install pyarrow polars
    python benchmarks/audit_readers.py [EVENTS] [RUNS]

The readers take turns in one process, on chunks of 1 MB, each on one thread. Times are medians of
CPU seconds. The last column is the rate of an audit with this reader, relative to today's rate. It
follows from the times, because an audit reads the log and then judges its events.
"""

from __future__ import annotations

import io
import statistics
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numba
import numpy as np
from audit import lines

from antecede.checker.audit.arrays import grown
from antecede.checker.audit.audit import audit
from antecede.checker.audit.kernels import actor_of, message_of
from antecede.checker.audit.records import Fields
from antecede.checker.audit.sources import opened
from antecede.checker.audit.splits import _Reading

SHAPES = {"20 actors": (20, 50), "200 actors": (200, 1_000)}
"""Name -> actors, and messages in transit."""


@numba.njit(_nrt=False)  # type: ignore[call-overload, untyped-decorator]
def numbered(
    t: Any, actors: Any, starts: Any, messages: Any, begins: Any, to: Any, ends: Any, row: int
) -> int:
    """Number the names of columns, beginning at a row; return the row that needs longer arrays."""
    while row < len(starts) - 1:
        if actor_of(t, actors, starts[row], starts[row + 1]) < 0:
            return row
        if row < len(ends) - 1 and actor_of(t, to, ends[row], ends[row + 1]) < 0:
            return row
        if message_of(t, messages, begins[row], begins[row + 1]) < 0:
            return row
        row += 1
    return row


def texts(column: Any) -> tuple[Any, Any]:
    """Return the bytes and the offsets of a column of texts."""
    _, offsets, content = column.buffers()
    there = slice(column.offset, column.offset + len(column) + 1)
    return np.frombuffer(content, np.uint8), np.frombuffer(offsets, np.int32)[there]


def number_names(reading: _Reading, table: Any) -> None:
    """Number the names of a table with the audit's own hash tables, as a reader must."""
    columns = [table.column(name).combine_chunks() for name in ("actor", "message", "to")]
    columns[2] = columns[2].values
    given = [part for column in columns for part in texts(column)]
    row = 0
    while (row := numbered(reading.tables, *given, row)) < len(table):
        reading._keep_names()
        reading.tables = grown(reading.tables)
    reading._keep_names()


def chunks(path: Path) -> Iterator[bytes]:
    """Yield the chunks of a log as an audit reads them."""
    with opened(str(path)) as source:
        while chunk := source.read():
            source.check_text(chunk, 0)
            yield chunk


def by_kernels(path: Path) -> None:
    with opened(str(path)) as source:
        _Reading().read(source, Fields(), lambda _bytes, _events: None)


def by_arrow(path: Path, *, named: bool) -> None:
    import pyarrow
    from pyarrow import json

    text = pyarrow.string()
    kinds = {"actor": text, "event": text, "message": text, "to": pyarrow.list_(text)}
    how = json.ParseOptions(
        explicit_schema=pyarrow.schema(kinds.items()), unexpected_field_behavior="ignore"
    )
    reading = _Reading()
    for chunk in chunks(path):
        options = json.ReadOptions(use_threads=False, block_size=len(chunk) + 1)
        table = json.read_json(pyarrow.BufferReader(chunk), options, how)
        if named:
            number_names(reading, table)


def by_polars(path: Path) -> None:
    import polars

    text = polars.String
    kinds: Any = {"actor": text, "event": text, "message": text, "to": polars.List(text)}
    for chunk in chunks(path):
        polars.read_ndjson(io.BytesIO(chunk), schema=kinds)


READERS: dict[str, Callable[[Path], None]] = {
    "the audit's kernels": by_kernels,
    "pyarrow, without numbers for names": lambda path: by_arrow(path, named=False),
    "pyarrow": lambda path: by_arrow(path, named=True),
    "polars, without numbers for names": by_polars,
}


def whole(path: Path) -> None:
    audit([str(path)], judge="compiled", unfinished=True)


def seconds(work: Callable[[Path], None], path: Path) -> float:
    """Return the CPU seconds of this process."""
    begin = time.process_time()
    work(path)
    return time.process_time() - begin


def main(events: int, runs: int) -> None:
    """Print a table."""
    print("| log | reader | s per 10⁶ events | rate of the audit |\n|---|---|---:|---:|")
    with tempfile.TemporaryDirectory() as folder:
        large, small = Path(folder) / "large.jsonl", Path(folder) / "small.jsonl"
        for name, (actors, transit) in SHAPES.items():
            for path, count in ((large, events), (small, 5_000)):
                with path.open("w") as file:
                    file.writelines(f"{line}\n" for _, line in lines(actors, transit, count))
            ways = {"": whole, **READERS}
            for work in ways.values():
                seconds(work, small)
            times: dict[str, list[float]] = {way: [] for way in ways}
            for _ in range(runs):
                for way, work in ways.items():
                    times[way].append(seconds(work, large))
            median = {way: statistics.median(each) for way, each in times.items()}
            judging = median[""] - median["the audit's kernels"]
            for way in READERS:
                rate = median[""] / (judging + median[way])
                each = median[way] * 1e6 / events
                print(f"| {name} | {way} | {each:.2f} | {rate:.2f} |", flush=True)


if __name__ == "__main__":
    given = [int(each) for each in sys.argv[1:]]
    main(given[0] if given else 1_000_000, given[1] if len(given) > 1 else 3)
