"""Every faulty input causes one sentence and exit code 2."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from antecede.checker.render.files import make_folder
from antecede.checker.support.errors import InputError
from antecede.checker.support.reading import MOST_BYTES, json_in, text_in, toml_in
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
        "text": ["audit", "no.log", "--parser", word],
    }[place]
    ran = antecede(*line)
    assert 2 == ran.code
    assert said in ran.err


@pytest.mark.parametrize("command", ["check", "audit", "simulate", "prove", "list", "explore"])
def test_a_name_too_long_for_a_file_is_refused(command: str, antecede: Command) -> None:
    for ending in ("", ".py", ".toml", ".json"):
        ran = antecede(command, "x" * 300 + ending)
        assert 2 == ran.code
        assert "x" * 300 in ran.err


def test_a_trace_of_a_file_whose_name_is_too_long_is_refused(
    tmp_path: Path, antecede: Command
) -> None:
    trace = tmp_path / "run.json"
    antecede("check", "unordered", "--actors", "2", "--trace", trace)
    text = trace.read_text(encoding="utf-8")
    trace.write_text(text.replace('"unordered"', f'"{"x" * 300}.py"'), encoding="utf-8")
    ran = antecede("replay", trace)
    assert 2 == ran.code
    assert "is about the protocol in 'xxx" in ran.err


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


LONG_KEY = ".".join(["a"] * 50_000)
INLINE = "{" + ".".join(["a"] * 90) + " = "


@pytest.mark.parametrize(
    "text",
    [
        f"{LONG_KEY} = 1",
        f"workload.{LONG_KEY} = 1",
        f"[[{LONG_KEY}]]",
        f"expect = {{counts.{LONG_KEY} = 1}}",
        " . ".join(['"a b"', "'c'"] * 25_000) + " = 1",
        "properties = [" + INLINE * 9 + "1" + "}" * 9 + "]",
    ],
)
def test_a_spec_with_a_key_of_many_parts_is_refused(
    text: str, antecede: Command, tmp_path: Path
) -> None:
    """Python's reader would take gigabytes, or whoever shows the value would recurse."""
    (tmp_path / "deep.toml").write_text(f'protocol = "mfss"\n{text}\n')
    ran = antecede("check", tmp_path / "deep.toml")
    assert (2, 1) == (ran.code, len(ran.err.splitlines()))
    assert "a key has more than 100 parts" in ran.err or "nested too deeply" in ran.err


def test_many_dots_are_not_a_long_key(tmp_path: Path) -> None:
    numbers, words = ", ".join(["1.5"] * 1_000), "one two. " * 1_000
    (tmp_path / "x.toml").write_text(f'title = "{words}"\n[other]\nnumbers = [{numbers}]\n')
    assert {"title", "other"} == toml_in(tmp_path / "x.toml", "the spec").keys()


def test_a_spec_that_is_a_pipe_or_too_large_is_refused(antecede: Command, tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe.toml")
    (tmp_path / "large.toml").touch()
    os.truncate(tmp_path / "large.toml", MOST_BYTES + 1)
    (tmp_path / "zero.toml").symlink_to("/dev/zero")
    ran = antecede("check", tmp_path)
    assert 2 == ran.code
    said = " ".join((ran.out + ran.err).split())
    assert "is a named pipe; it must be a regular file" in said
    assert "has 16,777,217 bytes; it may have at most 16,777,216" in said
    assert "is a device; it must be a regular file" in said


def test_a_long_unknown_name_is_not_repeated_in_full(antecede: Command, tmp_path: Path) -> None:
    (tmp_path / "key.toml").write_text(f'protocol = "mfss"\n{"k" * 100_000} = 1\n')
    ran = antecede("check", tmp_path / "key.toml")
    assert 2 == ran.code
    assert len(ran.err) < 1_000


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
