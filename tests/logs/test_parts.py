"""Logs in parts, and logs in Parquet files, have the findings of one file of lines."""

from __future__ import annotations

import json
import random
from io import TextIOWrapper
from itertools import pairwise
from pathlib import Path
from typing import Any

import pyarrow
import pytest
from attrs import evolve
from pyarrow import parquet

from antecede.checker.logs import audit as audits
from antecede.checker.logs.judge.findings import Audit
from antecede.checker.support.errors import InputError
from tests.logs.test_compiled import Lines, shuffled, wild, write

MOST = 10_000


def in_parts(folder: Path, lines: Lines, cuts: list[int]) -> Path:
    """Write lines as the parts of a log, cut before those numbers."""
    folder.mkdir()
    (folder / "_SUCCESS").write_text("")
    (folder / ".part-0.crc").write_text("no line of the log")
    bounds = [0, *cuts, len(lines)]
    for number, (begin, end) in enumerate(pairwise(bounds)):
        write(folder / f"part-{number:05}.jsonl", lines[begin:end])
    return folder


def as_one(found: Audit, cuts: list[int], name: str) -> Audit:
    """Return the audit of parts with the lines of the whole."""
    starts = dict(zip(found.logs, [0, *cuts], strict=True))

    def moved(place: Any) -> Any:
        return evolve(place, log=name, line=place.line + starts[place.log])

    def whole(finding: Any) -> Any:
        return evolve(moved(finding), events=tuple(map(moved, finding.events)))

    return evolve(
        found,
        logs=(name,),
        findings=tuple(map(whole, found.findings)),
        undelivered=tuple(map(whole, found.undelivered)),
    )


def cuts_in(draw: random.Random, lines: Lines) -> list[int]:
    return sorted(draw.sample(range(1, len(lines)), draw.choice([1, 3, 9])))


@pytest.mark.parametrize("compiled", [False, True])
@pytest.mark.parametrize("seed", range(8))
def test_a_log_in_parts_is_judged_as_a_whole(seed: int, compiled: bool, tmp_path: Path) -> None:
    draw = random.Random(seed)
    lines = shuffled(draw, wild(draw, 4, 200)) if seed % 2 else wild(draw, 4, 200)
    cuts = cuts_in(draw, lines)
    one = write(tmp_path / "log.jsonl", lines)
    expected = audits.audit([str(one)], compiled=compiled)
    found = audits.audit([str(in_parts(tmp_path / "parts", lines, cuts))], compiled=compiled)
    assert expected == as_one(found, cuts, str(one))


def written(path: Path, lines: Lines, kind: Any = None) -> Path:
    """Write lines as the rows of a Parquet file, a few in each row group."""
    kind = kind or pyarrow.string()
    schema = pyarrow.schema(
        [
            ("actor", kind),
            ("event", pyarrow.dictionary(pyarrow.int32(), pyarrow.string())),
            ("message", pyarrow.string()),
            ("to", pyarrow.list_(pyarrow.string())),
            ("when", pyarrow.float64()),
        ]
    )
    rows = [json.loads(line) for _, line in lines]
    values = [{**row, "message": str(row["message"]), "when": 0.5} for row in rows]
    parquet.write_table(pyarrow.Table.from_pylist(values, schema), path, row_group_size=64)
    return path


@pytest.mark.parametrize("odd", ["", 'a "quoted" name', "back\\slash", "line\nend"])
@pytest.mark.parametrize("compiled", [False, True])
def test_rows_of_parquet_are_judged_like_lines(odd: str, compiled: bool, tmp_path: Path) -> None:
    """Names that JSON must escape take another way than those that it need not."""
    draw = random.Random(len(odd))
    lines = [(a, line) for a, line in wild(draw, 4, 300) if "ghost" not in line]
    if odd:
        lines = [(a, line.replace('"m1"', json.dumps(odd))) for a, line in lines]
    expected = audits.audit([str(write(tmp_path / "log.jsonl", lines))], compiled=compiled)
    found = audits.audit([str(written(tmp_path / "log.parquet", lines))], compiled=compiled)
    name = str(tmp_path / "log.jsonl")
    assert expected == as_one(found, [], name)


def rows(path: Path, column: str, values: list[Any], kind: Any) -> Path:
    """Write a send and its delivery as rows, in which one column has other values."""
    table = {"actor": ["a", "b"], "event": ["sent", "processed"], "message": ["m", "m"]}
    whole = pyarrow.table({**table, "to": [["b"], None]})
    if column in whole.column_names:
        whole = whole.drop_columns([column])
    parquet.write_table(whole.append_column(column, pyarrow.array(values, kind)), path)
    return path


@pytest.mark.parametrize("compiled", [False, True])
@pytest.mark.parametrize(
    ("column", "values", "kind", "said"),
    [
        ("message", [1.0, 1.0], pyarrow.float64(), "column 'message' has the type double; give a"),
        ("actor", [True, False], pyarrow.bool_(), "column 'actor' has the type bool"),
        ("to", [1.0, None], pyarrow.float64(), "'to' has the type double; give .* lists of texts"),
        ("message", ["m", None], pyarrow.string(), "line 2: 'message' is None; give a text or a"),
        ("actor", ['"', None], pyarrow.string(), "line 2: 'actor' is None; give a text or a"),
    ],
)
def test_a_column_that_cannot_be_a_field_of_an_event_is_named(
    compiled: bool, column: str, values: list[Any], kind: Any, said: str, tmp_path: Path
) -> None:
    path = rows(tmp_path / "log.parquet", column, values, kind)
    with pytest.raises(InputError, match=said):
        audits.audit([str(path)], compiled=compiled)


@pytest.mark.parametrize(("column", "events"), [("to", 0), ("when", 2)])
def test_a_repeated_column_of_rows_is_refused_if_it_is_used(
    column: str, events: int, tmp_path: Path
) -> None:
    path = rows(tmp_path / "log.parquet", column, [["b"], None], pyarrow.list_(pyarrow.string()))
    once = parquet.read_table(path)
    parquet.write_table(once.append_column(column, once.column(column)), path)
    if events:
        assert events == audits.audit([str(path)]).events
        return
    with pytest.raises(InputError, match="2 columns are named 'to'; keep one of them"):
        audits.audit([str(path)])


@pytest.mark.parametrize(
    ("column", "values", "kind"),
    [("when", [0.5, None], pyarrow.float64()), ("to", [None, None], pyarrow.null())],
)
def test_a_column_that_is_not_used_may_have_any_type(
    column: str, values: list[Any], kind: Any, tmp_path: Path
) -> None:
    path = rows(tmp_path / "log.parquet", column, values, kind)
    assert 2 == audits.audit([str(path)]).events


def test_columns_without_values_are_read(tmp_path: Path) -> None:
    """Pandas writes the type null into an empty part, and into a column of empty lists."""
    rows(tmp_path / "part-0.parquet", "to", [["b"], None], pyarrow.list_(pyarrow.string()))
    names = ("actor", "event", "message", "to")
    parquet.write_table(
        pyarrow.table({name: pyarrow.nulls(0) for name in names}), tmp_path / "part-1.parquet"
    )
    rows(tmp_path / "part-2.parquet", "to", [[], None], pyarrow.list_(pyarrow.null()))
    assert 4 == audits.audit([str(tmp_path)]).events


def test_a_parquet_file_that_is_none_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "log.parquet"
    path.write_bytes(b"PAR1 and nothing else")
    with pytest.raises(InputError, match="no Parquet that can be read"):
        audits.audit([str(path)])


def test_parquet_on_standard_input_is_refused(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    path = written(tmp_path / "log.parquet", wild(random.Random(1), 3, 20))
    with path.open("rb") as file:
        monkeypatch.setattr("sys.stdin", TextIOWrapper(file))
        with pytest.raises(InputError, match="is read from its end"):
            audits.audit(["-"])


def test_a_folder_without_files_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="contains no log files"):
        audits.audit([str(tmp_path)])
