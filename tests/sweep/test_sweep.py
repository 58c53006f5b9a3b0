"""Sweeps: every combination, a row as soon as it is there, resumed where they stopped."""

from __future__ import annotations

import io
import json
import os
import signal
from functools import partial
from pathlib import Path

import pytest

from antecede.checker.check.spec import Spec
from antecede.checker.render.ticker import Line, Ticker
from antecede.checker.search.options import Bounds, Options
from antecede.checker.support import extras
from antecede.checker.support.errors import InputError
from antecede.checker.sweep import parquet
from antecede.checker.sweep.sweep import (
    SweepProgress,
    combined,
    in_processes,
    kept_in,
    matrix,
    row_of,
    sweep,
)
from tests.conftest import COMMAND, ROOT, Command, begun, in_a_process

PLAIN = Options(engine="plain")


def swept(specs: list[Spec], file: Path) -> list[dict[str, object]]:
    return list(sweep(specs, partial(in_processes, processes=1), file, PLAIN, Bounds()))


def test_a_second_sweep_into_the_same_file_is_refused_while_the_first_one_runs(
    tmp_path: Path,
) -> None:
    file, specs = tmp_path / "rows.jsonl", [Spec(protocol="mfss", actors=2, messages=1)]
    first = sweep(specs, partial(in_processes, processes=1), file, PLAIN, Bounds())
    next(first)
    with pytest.raises(InputError, match="another run is writing rows to"):
        swept(specs, file)
    first.close()  # type: ignore[attr-defined]
    assert [] == swept(specs, file)
    assert 1 == len(file.read_text().splitlines())


@pytest.mark.parametrize("cut", [1, 20])
def test_a_row_that_was_cut_off_is_made_again(cut: int, tmp_path: Path) -> None:
    """Without its last character a row is whole, and only the end of its line is missing."""
    file = tmp_path / "rows.jsonl"
    specs = [Spec(protocol=name, actors=2, messages=1) for name in ("mfss", "fifo")]
    swept(specs, file)
    whole = file.read_text()
    file.write_text(whole[:-cut])
    assert (cut > 1) == len(swept(specs, file))
    assert 2 == len(kept_in(file).rows())
    assert file.read_text().endswith("\n")


def test_every_combination_once_and_small_ones_first() -> None:
    specs = [Spec(protocol="mfss"), Spec(protocol="mfss", network="fifo")]
    found = combined(specs, {"actors": (3, 2), "messages": (2, 1)})
    sizes = [(s.actors, s.messages) for s in found]
    assert 8 == len(found)
    assert (2, 1) == sizes[0]
    assert (3, 2) == sizes[-1]
    assert {"unordered", "fifo"} == {s.network for s in found}


def test_a_row_has_the_counts_without_symmetry() -> None:
    spec = Spec(protocol="mfss", actors=3, messages=1)
    local, plain = (row_of(spec, Options(engine=e), Bounds()) for e in ("local", "plain"))
    assert 216 == local["unique_states"] == plain["unique_states"]
    assert 649 == local["total_states"]


def test_progress_says_how_many_checks_are_done_and_which_run() -> None:
    clock = {"now": 0.0}
    stream = io.StringIO()
    ticker = Ticker(stream, now=lambda: clock["now"])
    progress = SweepProgress(24, ticker, now=lambda: clock["now"])
    first, second = (Spec(protocol=name, actors=3, messages=3) for name in ("cykas", "mfss"))
    progress.running([first])
    progress.ended(first)
    clock["now"] = 2.0
    progress.running([second])
    clock["now"] = 14.0
    progress.running([second])
    assert "1 of 24 checks done; mfss 3x3: 12.0 s\n" == stream.getvalue()


def test_a_sweep_reports_its_checks_to_the_ticker() -> None:
    called = []

    class Told(Ticker):
        def show(self, line: Line) -> None:
            called.append(line(80))

    specs = [Spec(protocol="mfss", actors=2, messages=1)]
    assert list(in_processes(specs, PLAIN, Bounds(), 1, Told()))
    assert called[0].startswith("0 of 1 check done; mfss 2x1: ")


def test_a_quiet_sweep_writes_nothing_but_the_matrix(antecede: Command, tmp_path: Path) -> None:
    asked = ("sweep", "mfss", "--actors", 2, "--messages", 2, "--engine", "plain", "--quiet")
    ran = antecede(*asked, "--output", tmp_path / "rows.jsonl")
    assert (0, "") == (ran.code, ran.err)


def test_what_cannot_be_checked_is_a_row_with_the_error() -> None:
    row = row_of(Spec(protocol="mfss", workload="script:[[9]]"), PLAIN, Bounds())
    assert "ERROR" == row["verdict"]
    assert row["error"]
    assert "ERROR" in matrix([row])


@pytest.mark.parametrize(
    ("asked", "said"),
    [
        (("mfss", "--property", "integritty"), "did you mean 'integrity'?"),
        (("mfss", "--property", "own.py:WRONG"), "did you mean 'WRONGS'?"),
        (("mfss", "--property", "invariant:x"), "unknown invariant of mfss 'x'"),
        (("--protocol", "mfss,mfs"), "unknown protocol 'mfs'; did you mean 'mfss'"),
    ],
)
def test_an_unknown_name_is_refused_before_the_first_check(
    asked: tuple[str, ...], said: str, antecede: Command, tmp_path: Path
) -> None:
    (tmp_path / "own.py").write_text(IMPURE)
    ran = antecede("sweep", *asked, cwd=tmp_path)
    assert 2 == ran.code
    assert said in ran.err
    assert ["own.py"] == [file.name for file in tmp_path.iterdir()]


IMPURE = """
import random

from antecede import Property, What, When

WRONGS = Property(
    "wrongs", "", What.LOCAL_STATE, When.ALWAYS, lambda _state: random.random() < 0.7
)
"""


def test_an_impure_property_of_a_user_is_noticed(tmp_path: Path) -> None:
    (tmp_path / "own.py").write_text(IMPURE)
    named = f"{tmp_path / 'own.py'}:WRONGS"
    row = row_of(Spec(protocol="mfss", actors=2, messages=1, properties=(named,)), PLAIN, Bounds())
    assert "ERROR" == row["verdict"]
    assert f"property '{named}' returned different results" in row["error"]


def test_a_matrix_has_a_line_for_each_number_of_crashes(tmp_path: Path) -> None:
    axes = {"crashes": ("0", "1", "1:of=0"), "sends": ("joint", "split")}
    rows = swept(combined([Spec(protocol="fifo", actors=2, messages=1)], axes), tmp_path / "rows")
    lines = [line.split() for line in matrix(rows).splitlines()[1:7]]
    assert [
        f"fifo unordered any knowledge sends {sends} crashes {crashes} VACUOUS".split()
        for sends in ("joint", "split")
        for crashes in ("0", "1", "1:of=0")
    ] == [line[:-1] for line in lines]
    assert len({line[-1] for line in lines}) == 6


def test_a_sweep_goes_on_where_it_stopped(tmp_path: Path) -> None:
    file = tmp_path / "rows.jsonl"
    specs = combined([Spec(protocol="mfss", actors=2)], {"messages": (1, 2, 3)})
    assert 2 == len(swept(specs[:2], file))
    with file.open("a") as out:
        out.write('{"protocol": "mf')  # cut off by a kill
    rest = swept(specs, file)
    assert [3] == [row["messages"] for row in rest]
    assert [1, 2, 3] == [row["messages"] for row in kept_in(file).rows()]
    assert [] == swept(specs, file)


BROKEN = """
from attrs import evolve
from antecede.protocols import mfss, unordered
PROTOCOL = {name}
"""


@pytest.mark.integration
def test_a_row_of_a_protocol_that_was_changed_since_is_run_again(
    antecede: Command, tmp_path: Path
) -> None:
    """In both directions: a verdict of yesterday is no answer today."""
    asked = ("sweep", "mine.py", "--actors", 2, "--messages", 2, "--engine", "plain")
    for name, verdict, again in (
        ("mfss.MFSS", "HOLDS", False),
        ("unordered.UNORDERED", "VIOLATED", False),
        ("mfss.MFSS", "HOLDS", True),
    ):
        source = BROKEN.format(name=f"evolve({name}, name='mine')")
        (tmp_path / "mine.py").write_text(source)
        ran = antecede(*asked, cwd=tmp_path)
        assert verdict in ran.out
        assert again == ("1 of 1 rows are in sweep.jsonl already" in ran.err)


def test_a_row_that_a_bound_ended_is_run_again_without_it(
    antecede: Command, tmp_path: Path
) -> None:
    asked = ("sweep", "mfss", "--actors", 2, "--messages", 2, "--engine", "plain")
    assert 3 == antecede(*asked, "--max-states", 5, cwd=tmp_path).code
    ran = antecede(*asked, cwd=tmp_path)
    assert 0 == ran.code
    assert "INCOMPLETE" not in ran.out


def test_only_rows_that_were_asked_for_are_printed(antecede: Command, tmp_path: Path) -> None:
    asked = (
        "sweep",
        "--actors",
        2,
        "--messages",
        1,
        "--engine",
        "plain",
        "--property",
        "integrity",
    )
    antecede(*asked, "fifo", cwd=tmp_path)
    ran = antecede(*asked, "mfss", cwd=tmp_path)
    assert "mfss" in ran.out
    assert "fifo" not in ran.out
    assert ["integrity"] * 2 == [row["properties"] for row in rows_in(tmp_path)]


def rows_in(folder: Path) -> list[dict[str, object]]:
    return kept_in(folder / "sweep.jsonl").rows()


@pytest.mark.parametrize("column", ["verdict", "counterexample_length"])
def test_a_row_that_lacks_what_is_printed_of_it_is_refused(
    tmp_path: Path, antecede: Command, column: str
) -> None:
    asked = ("sweep", "--protocol", "unordered", "--actors", 2, "--messages", 2)
    antecede(*asked, "--engine", "plain", "--quiet", cwd=tmp_path)
    [row] = rows_in(tmp_path)
    del row[column]
    (tmp_path / "sweep.jsonl").write_text(f"{json.dumps(row)}\n{json.dumps(row)}\n")
    ran = antecede(*asked, "--engine", "plain", "--quiet", cwd=tmp_path)
    assert 2 == ran.code
    assert "line 1: no row of a sweep; give another file" in ran.err


def test_a_file_of_something_else_is_left_alone(tmp_path: Path) -> None:
    file = tmp_path / "other.jsonl"
    file.write_text('{"a": 1}\n{"b": 2}\n')
    with pytest.raises(InputError, match="line 1: no row of a sweep; give another file"):
        kept_in(file).rows()
    assert '{"a": 1}\n{"b": 2}\n' == file.read_text()


@pytest.mark.integration
def test_the_command_prints_a_matrix(tmp_path: Path) -> None:
    file = tmp_path / "rows.jsonl"
    asked = ("sweep", "--protocol", "mfss,unordered", "--actors", "2", "--messages", "2,3")
    ran = in_a_process(*asked, "--engine", "plain", "--output", file, "--quiet", cwd=ROOT)
    assert 0 == ran.code
    head, mfss, unordered, *_ = ran.out.splitlines()
    assert ["2x2", "2x3"] == head.split()
    assert ["mfss", "unordered", "any", "knowledge", "HOLDS", "81", "HOLDS", "256"] == mfss.split()
    assert "VIOLATED (4)" in unordered
    assert 4 == len([json.loads(line) for line in file.read_text().splitlines()])


# On Spark

DEADLY = """
import ctypes
from attrs import evolve
from antecede.protocols import mfss

def die(actor, actors):
    ctypes.string_at(0)  # the self-check would refuse a call of os.getpid or os.kill

PROTOCOL = evolve(mfss.MFSS, name="deadly", initial=die)
"""


@pytest.mark.integration
def test_on_spark_a_check_that_kills_its_worker_is_tried_again_by_the_next_run(
    tmp_path: Path,
) -> None:
    (tmp_path / "mine.py").write_text((ROOT / "protocols/mfss.py").read_text())
    (tmp_path / "deadly.py").write_text(DEADLY)
    asked = ("sweep", "--protocol", "mfss,mine.py,deadly.py", "--actors", "2", "--messages", "2")
    ran = in_a_process(*asked, "--on", "spark", "--master", "local[2,2]", cwd=tmp_path)
    assert 3 == ran.code
    assert ran.err.count("deadly.py 2x") == ran.err.count("GAVE UP, Spark gave up: ") == 1
    rows = [json.loads(line) for line in (tmp_path / "sweep.jsonl").read_text().splitlines()]
    found = {(row["protocol"], row["messages"], row["unique_states"]) for row in rows}
    assert {("mfss", 2, 81), ("mine.py", 2, 81)} == found
    (tmp_path / "deadly.py").write_text("from antecede.protocols.mfss import MFSS")
    again = in_a_process(*asked, cwd=tmp_path)
    assert 0 == again.code
    assert "2 of 3 rows are in sweep.jsonl already" in again.err


@pytest.mark.integration
@pytest.mark.slow
def test_on_spark_ctrl_c_keeps_the_rows_that_are_there(tmp_path: Path) -> None:
    file = tmp_path / "rows.jsonl"
    asked = ("sweep", "--protocol", "mfss", "--messages", "2,9", "--history", "full")
    process = begun(
        [*COMMAND, *asked, "--on", "spark", "--master", "local[2]", "--output", str(file)],
        cwd=tmp_path,
    )
    assert process.stderr is not None
    assert any("mfss 3x2 unordered any full: HOLDS" in line for line in process.stderr)
    process.send_signal(signal.SIGINT)
    _, err = process.communicate(timeout=300)
    assert 3 == process.returncode
    assert f"Interrupted; the rows so far are in {file}, and the same command goes on" in err
    assert 1 == len([line for line in err.strip().splitlines() if "done;" not in line])
    assert [2] == [row["messages"] for row in kept_in(file).rows()]


@pytest.mark.integration
def test_a_closed_terminal_keeps_the_rows_that_are_there(tmp_path: Path) -> None:
    file = tmp_path / "rows.jsonl"
    asked = ("sweep", "--protocol", "mfss", "--messages", "2,9", "--history", "full")
    process = begun(
        [*COMMAND, *asked, "--workers", "2", "--output", str(file)],
        cwd=tmp_path,
        start_new_session=True,
    )
    assert process.stderr is not None
    assert any("mfss 3x2 unordered any full: HOLDS" in line for line in process.stderr)
    os.killpg(process.pid, signal.SIGHUP)
    _, err = process.communicate(timeout=300)
    assert 3 == process.returncode
    assert f"Interrupted; the rows so far are in {file}, and the same command goes on" in err
    assert 1 == len([line for line in err.strip().splitlines() if "done;" not in line])


# Parquet


@pytest.mark.integration
def test_rows_can_be_read_back_from_parquet(tmp_path: Path) -> None:
    pytest.importorskip("pyarrow")
    from pyarrow import parquet as reader

    asked = ("sweep", "mfss", "unordered", "--actors", "2", "--workload", "any")
    more = ("--workload", "script:[[9]]", "--engine", "plain", "--parquet", "rows.parquet")
    assert 2 == in_a_process(*asked, *more, cwd=tmp_path).code
    table = reader.read_table(tmp_path / "rows.parquet")
    assert list(parquet.COLUMNS) == table.column_names
    rows = kept_in(tmp_path / "sweep.jsonl").rows()
    assert 4 == len(rows)
    assert [{**dict.fromkeys(parquet.COLUMNS), **row} for row in rows] == table.to_pylist()
    found = {file.name for file in tmp_path.iterdir()}
    assert {".sweep.jsonl.lock", "sweep.jsonl", "rows.parquet"} == found


def test_without_the_library_for_parquet_the_command_says_how_to_get_it(
    monkeypatch: pytest.MonkeyPatch, antecede: Command, tmp_path: Path
) -> None:
    monkeypatch.setattr(extras, "find_spec", lambda name: None)
    ran = antecede("sweep", "mfss", "--parquet", "rows.parquet", cwd=tmp_path)
    assert 2 == ran.code
    assert extras.install_command("parquet") in ran.err
    assert [] == list(tmp_path.iterdir())


@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        (("mfss", "--on", "spark", "--workers", "2"), "--workers is for --on here"),
        (("mfss", "--master", "local"), "--master is for --on spark"),
        ((), "there is nothing to check"),
        (("mfss", "--actors", "2,x"), "actors is 'x'; it must be a whole number"),
        (("mfss", "--output", "no/rows.jsonl"), "cannot write to 'no/rows.jsonl'"),
    ],
)
def test_wrong_input_is_refused(antecede: Command, arguments: tuple[str, ...], text: str) -> None:
    ran = antecede("sweep", *arguments)
    assert 2 == ran.code
    assert text in ran.err
