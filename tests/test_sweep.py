"""Sweeps: every combination, a row as soon as it is there, resumed where they stopped."""

from __future__ import annotations

import json
from functools import partial
from pathlib import Path

import pytest

from checker.engine import Options
from checker.errors import InputError
from checker.search import Bounds
from checker.spec import Spec
from checker.sweep import Axes, combined, in_processes, matrix, row_of, saved, sweep
from tests.conftest import ROOT, Command, in_a_process

PLAIN = Options(engine="plain")


def swept(specs: list[Spec], file: Path) -> list[dict[str, object]]:
    run = partial(in_processes, options=PLAIN, bounds=Bounds(), processes=1)
    return list(sweep(specs, run, file))


def test_every_combination_once_and_small_ones_first() -> None:
    specs = [Spec(protocol="mfss"), Spec(protocol="mfss", network="fifo")]
    found = combined(specs, Axes(actors=(3, 2), messages=(2, 1)))
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


def test_what_cannot_be_checked_is_a_row_with_the_error() -> None:
    row = row_of(Spec(protocol="mfss", workload="script:[[9]]"), PLAIN, Bounds())
    assert "ERROR" == row["verdict"]
    assert row["error"]
    assert "ERROR" in matrix([row])


def test_a_sweep_goes_on_where_it_stopped(tmp_path: Path) -> None:
    file = tmp_path / "rows.jsonl"
    specs = combined([Spec(protocol="mfss", actors=2)], Axes(messages=(1, 2, 3)))
    assert 2 == len(swept(specs[:2], file))
    with file.open("a") as out:
        out.write('{"protocol": "mf')  # cut off by a kill
    rest = swept(specs, file)
    assert [3] == [row["messages"] for row in rest]
    assert [1, 2, 3] == [row["messages"] for row in saved(file)]
    assert [] == swept(specs, file)


def test_a_file_of_something_else_is_left_alone(tmp_path: Path) -> None:
    file = tmp_path / "other.jsonl"
    file.write_text('{"a": 1}\n{"b": 2}\n')
    with pytest.raises(InputError, match="line 1: no row of a sweep; give another file"):
        saved(file)
    assert '{"a": 1}\n{"b": 2}\n' == file.read_text()


def test_the_command_prints_a_matrix(tmp_path: Path) -> None:
    file = tmp_path / "rows.jsonl"
    asked = ("sweep", "--protocol", "mfss,unordered", "--actors", "2", "--messages", "1,2")
    ran = in_a_process(*asked, "--engine", "plain", "--output", file, "--quiet", cwd=ROOT)
    assert 0 == ran.code
    head, mfss, unordered = ran.out.splitlines()
    assert ["2x1", "2x2"] == head.split()
    assert ["mfss", "unordered", "any", "knowledge", "HOLDS", "16", "HOLDS", "81"] == mfss.split()
    assert "VIOLATED (4)" in unordered
    assert 4 == len([json.loads(line) for line in file.read_text().splitlines()])


@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        ((), "there is nothing to check"),
        (("mfss", "--actors", "2,x"), "'2,x' is not a list of positive numbers"),
        (("mfss", "--output", "no/rows.jsonl"), "cannot write to 'no/rows.jsonl'"),
    ],
)
def test_wrong_input_is_refused(
    causalcheck: Command, arguments: tuple[str, ...], text: str
) -> None:
    ran = causalcheck("sweep", *arguments)
    assert 2 == ran.code
    assert text in ran.err
