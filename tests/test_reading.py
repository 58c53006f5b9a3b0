"""Whatever is wrong with what a person gives is a sentence and exit code 2."""

from __future__ import annotations

from pathlib import Path

import pytest

from antecede.checker.errors import InputError
from antecede.checker.formats import make_folder
from antecede.checker.reading import json_in, text_in
from tests.conftest import Command

DEEP = "[" * 100_000


@pytest.mark.parametrize(
    ("word", "said"),
    [("a\0b", "has a NUL character"), ("\udcff", "is not UTF-8"), ("\ud800.toml", "is not UTF-8")],
)
@pytest.mark.parametrize("place", ["name", "file", "text"])
def test_an_argument_that_is_no_text_is_refused(
    word: str, said: str, place: str, antecede: Command
) -> None:
    line = {
        "name": ["check", word],
        "file": ["check", "mfss", "--json", word],
        "text": ["audit", "no.log", "--event", word],
    }[place]
    ran = antecede(*line)
    assert 2 == ran.code
    assert said in ran.err


@pytest.mark.parametrize("ending", ["", ".py", ".toml", ".json"])
@pytest.mark.parametrize("command", ["check", "audit", "simulate", "prove", "list", "explore"])
def test_a_name_too_long_for_a_file_is_refused(
    command: str, ending: str, antecede: Command
) -> None:
    ran = antecede(command, "x" * 300 + ending)
    assert 2 == ran.code
    assert "x" * 300 in ran.err


@pytest.mark.parametrize("target", ["x" * 5_000, "no/such/folder/x"])
def test_a_file_that_cannot_be_written_is_said(target: str, antecede: Command) -> None:
    ran = antecede("check", "mfss", "--actors", "2", "--messages", "1", "--json", target)
    assert 2 == ran.code
    assert "cannot write to" in ran.err


@pytest.mark.parametrize(
    "workload", ["script:" + DEEP, "reaction:[" + "9" * 5_000 + "]", "program:" + DEEP]
)
def test_a_workload_that_json_cannot_read_is_said(workload: str, antecede: Command) -> None:
    ran = antecede("check", "mfss", "--workload", workload)
    assert 2 == ran.code
    assert "nested too deeply, or a number in it is too long" in ran.err


@pytest.mark.parametrize(
    "text", ["actors = " + DEEP, "actors = " + "9" * 5_000, "actors = '\udc80"]
)
def test_a_spec_that_toml_cannot_read_is_said(text: str, antecede: Command, tmp_path: Path) -> None:
    spec = tmp_path / "spec.antecede.toml"
    spec.write_bytes(text.encode("utf-8", "surrogateescape"))
    assert 2 == antecede("check", spec).code


@pytest.mark.parametrize(
    ("text", "said"),
    [("{", "is not valid JSON"), (DEEP, "nested too deeply"), ("9" * 5_000, "too long")],
)
def test_text_that_is_no_json_is_said(text: str, said: str) -> None:
    with pytest.raises(InputError, match=said):
        json_in(text, "it")


def test_a_file_that_is_no_text_is_said(tmp_path: Path) -> None:
    (tmp_path / "bytes").write_bytes(b"\xff")
    for name, said in (("bytes", "UTF-8"), ("none", "No such file"), ("\0", "null")):
        with pytest.raises(InputError, match=said):
            text_in(tmp_path / name, "it")


ROW = '{"protocol": "mfss", "actors": 2, "messages": 1, "network": "unordered", "workload": "any"'


@pytest.mark.parametrize(
    "row",
    [
        b"\xff\n",
        ROW.encode() + b"}\n",
        ROW.encode() + b', "history": "knowledge"}\n',
        ROW.encode() + b', "history": [1], "verdict": "HOLDS"}\n',
        ROW.encode() + b', "history": "knowledge", "verdict": 7}\n',
        ROW.encode() + b', "history": "knowledge", "verdict": "HOLDS", "depth": "deep"}\n',
        DEEP.encode() + b"\n",
    ],
)
def test_rows_that_are_none_are_refused(row: bytes, antecede: Command, tmp_path: Path) -> None:
    kept = tmp_path / "kept.jsonl"
    kept.write_bytes(row * 2)
    ran = antecede("sweep", "--protocol", "mfss", "--actors", "2", "--output", kept)
    assert 2 == ran.code
    assert row * 2 == kept.read_bytes()


@pytest.mark.parametrize("network", ["lossy:²", "lossy:٣", "lossy:0", "lossy:" + "9" * 400])
def test_a_budget_that_is_no_number_is_refused(network: str, antecede: Command) -> None:
    ran = antecede("check", "mfss", "--network", network)
    assert 2 == ran.code
    assert "losses" in ran.err


def test_a_workload_whose_kind_is_no_word_is_refused(antecede: Command, tmp_path: Path) -> None:
    spec = tmp_path / "spec.antecede.toml"
    spec.write_text('protocol = "mfss"\nworkload = {kind = {a = 1}}\n')
    ran = antecede("check", spec)
    assert 2 == ran.code
    assert "unknown workload kind" in ran.err


@pytest.mark.parametrize("folder", ["/dev/null", "/dev/null/below", "x" * 5_000])
def test_a_folder_that_cannot_be_made_is_said(folder: str) -> None:
    with pytest.raises(InputError, match="cannot make the folder"):
        make_folder(Path(folder))
