"""Logs in pieces, here and on Spark, have the findings of the plain judge."""

from __future__ import annotations

import gzip
import json
import random
from pathlib import Path
from typing import Any

import pytest

from antecede.checker.logs import audit as audits
from antecede.checker.logs.judge.findings import Audit, How
from antecede.checker.logs.readers.records import Fields
from antecede.checker.logs.spark import on_spark, spread
from antecede.checker.logs.spark.pieces import names_at, read, splits_of
from antecede.checker.support.errors import InputError
from antecede.cli import main
from tests.logs.test_compiled import all_of, shuffled, wild, write
from tests.logs.test_parts import cuts_in, in_parts, written

FIELDS = Fields()


def in_pieces(names: list[str], size: int, *, unfinished: bool = False) -> tuple[Audit, int]:
    """Judge logs as a cluster does, one thing after the other; say how many passes there were."""
    splits = splits_of(names, None, FIELDS, size)
    pieces = [read(split, FIELDS) for split in splits]
    whole = spread.together(splits, [spread.info_of(piece) for piece in pieces], most=2)
    numbers: dict[int, list[Any]] = {}
    for bucket in range(3):
        named = (pair for at, piece in enumerate(pieces) for pair in spread.buckets(at, piece, 3))
        parts = [part for where, part in named if where == bucket]
        for at, known in spread.ranked(bucket, 3, parts):
            numbers.setdefault(at, []).append(known)
    blocks = [
        (at, spread.block_of(piece, numbers.get(at, []), whole)) for at, piece in enumerate(pieces)
    ]
    groups = range(len(whole.groups))
    found = [spread.judged(group, blocks, whole, unfinished=unfinished) for group in groups]
    wanted: dict[int, dict[int, int]] = {}
    for one in found:
        for number, (at, line) in one.places.items():
            wanted.setdefault(at, {})[line] = number
    names_of = {
        n: v for at, lines in wanted.items() for n, v in names_at(splits[at], FIELDS, lines).items()
    }
    return spread.merged(found, whole, names_of), len(groups)


def a_log(seed: int, folder: Path, most: int = 100) -> Path:
    """Return a folder with the parts of a log with every kind of fault."""
    draw = random.Random(seed)
    lines = wild(draw, draw.choice([3, 5, 40, most]), draw.choice([100, 400]))
    lines = shuffled(draw, lines) if seed % 2 else lines
    return in_parts(folder, lines, cuts_in(draw, lines))


@pytest.mark.parametrize("seed", range(12))
def test_pieces_are_judged_as_the_whole_is(
    seed: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(spread, "SENDERS", 32)
    folder = str(a_log(seed, tmp_path / "log"))
    expected = all_of(audits.audit([folder], compiled=False))
    found, _ = in_pieces([folder], random.Random(seed).choice([300, 3_000, 1 << 26]))
    assert expected == all_of(found)


def test_many_senders_are_judged_in_several_passes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each of them finds something that the other does not keep."""
    monkeypatch.setattr(spread, "SENDERS", 32)
    path = str(write(tmp_path / "log.jsonl", wild(random.Random(0), 70, 3_000)))
    found, passes = in_pieces([path], 50_000)
    assert passes == 2
    assert all_of(audits.audit([path], compiled=True)) == all_of(found)
    late = [f for f in found.findings if f.kind == "causal-delivery"]
    assert len(late) == 104
    halves = [spread_of(path, group) for group in (0, 1)]
    assert all(0 < half < len(late) for half in halves)
    assert sum(halves) == len(late)


def spread_of(path: str, group: int) -> int:
    """Return how many deliveries the pass for a group of senders finds to be late."""
    (split,) = splits_of([path], None, FIELDS)
    piece = read(split, FIELDS)
    whole = spread.together([split], [spread.info_of(piece)], most=2)
    numbers = [
        known for _, known in spread.ranked(0, 1, [p for _, p in spread.buckets(0, piece, 1)])
    ]
    block = spread.block_of(piece, numbers, whole)
    found = spread.judged(group, [(0, block)], whole, unfinished=True).audit.findings
    return sum(finding.kind == "causal-delivery" for finding in found)


def test_a_compressed_file_and_a_parquet_file_are_pieces_too(tmp_path: Path) -> None:
    lines = [(a, line) for a, line in wild(random.Random(5), 4, 300) if "ghost" not in line]
    rows = str(written(tmp_path / "log.parquet", lines))
    packed = tmp_path / "log.jsonl.gz"
    packed.write_bytes(gzip.compress("\n".join(line for _, line in lines).encode()))
    for name in (rows, str(packed)):
        assert all_of(audits.audit([name], compiled=False)) == all_of(in_pieces([name], 99)[0])


def test_an_event_without_a_message_is_named_by_its_number_in_the_file(tmp_path: Path) -> None:
    lines = [line for _, line in wild(random.Random(3), 3, 200)]
    path = tmp_path / "log.jsonl"
    path.write_text("\n".join([*lines[:150], '{"actor": 3, "event": "deliver"}', *lines[150:]]))
    with pytest.raises(InputError) as plain:
        audits.audit([str(path)], compiled=False)
    with pytest.raises(InputError) as spread_out:
        in_pieces([str(path)], 1_000)
    assert str(plain.value) == str(spread_out.value)
    assert "line 151" in str(plain.value)


def test_an_actor_in_two_logs_is_refused_with_the_same_words(tmp_path: Path) -> None:
    event = {"actor": "a", "event": "causal-send", "message": "m1", "to": ["b"]}
    one, two = tmp_path / "one.jsonl", tmp_path / "two.jsonl"
    one.write_text(json.dumps(event))
    two.write_text("\n" + json.dumps({**event, "message": "m2"}))
    said = []
    for judge in (audits.audit, lambda names: in_pieces(names, 99)):
        with pytest.raises(InputError) as error:
            judge([str(one), str(two)])
        said.append(str(error.value))
    assert said[0] == said[1]


@pytest.mark.parametrize(
    ("name", "text", "said"),
    [
        ("-", "", "standard input is read once"),
        ("log.csv", "actor,event,message\na,causal-send,m\n", "a log of records; --on spark"),
        ("log.jsonl", "", "is empty: there is nothing to judge"),
    ],
)
def test_what_a_cluster_cannot_read_is_refused(
    name: str, text: str, said: str, tmp_path: Path
) -> None:
    path = tmp_path / name
    path.write_text(text)
    with pytest.raises(InputError, match=said):
        splits_of([name if name == "-" else str(path)], None, FIELDS)


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["-", "--on", "spark"], "standard input is read once"),
        (["log.jsonl", "--on", "spark", "--parser", "x"], "--parser is for ShiViz logs"),
        (["log.jsonl", "--on", "spark", "--fields", "actor=a.b"], "plain fields"),
        (["log.jsonl", "--on", "spark", "--master", "here"], "cannot be started with master"),
        (["log.jsonl", "--master", "local"], "--master is for --on spark"),
    ],
)
def test_options_that_do_not_fit_a_cluster_are_refused(
    options: list[str],
    said: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    event = {"actor": "a", "event": "causal-send", "message": "m1", "to": ["b"]}
    Path("log.jsonl").write_text(json.dumps(event))
    assert main(["audit", *options]) == 2
    assert said in capsys.readouterr().err


@pytest.mark.integration
@pytest.mark.usefixtures("cluster")
def test_on_spark_the_findings_are_those_of_the_plain_judge(tmp_path: Path) -> None:
    lines = shuffled(random.Random(7), wild(random.Random(7), 40, 400))
    folder = str(in_parts(tmp_path / "log", lines, [250]))
    assert len(splits_of([folder], None, FIELDS, 16_000)) == 3
    for how in (How(), How(unfinished=True, redelivery=True, from_middle=True)):
        expected = audits.audit([folder], how=how, compiled=False)
        found = on_spark.audit([folder], how=how, size=16_000)
        assert all_of(expected) == all_of(found)
        assert (expected.left_out, how.unfinished) == (found.left_out, found.unfinished)
    assert [True, True] == [" again" in found.left_out[0], " no log sends" in found.left_out[1]]
    assert {"late", "astray"} <= {each.what for each in found.findings}


@pytest.mark.integration
@pytest.mark.usefixtures("cluster")
def test_on_spark_a_bad_log_is_refused_in_a_sentence(tmp_path: Path) -> None:
    bad = tmp_path / "bad.jsonl"
    bad.write_text('{"actor": "a"}\n')
    with pytest.raises(InputError, match=r"bad\.jsonl, line 1"):
        on_spark.audit([str(bad)])
