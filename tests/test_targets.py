"""What `check` is pointed at: several specs, folders with other files, unreadable specs."""

from __future__ import annotations

import json
from pathlib import Path
from xml.etree import ElementTree

import pytest

from antecede.checker.check.report import Refused
from antecede.checker.check.targets import targets_of
from antecede.checker.support.errors import CapacityError
from tests.conftest import Command

GOOD = 'protocol = "mfss"\nactors = 2\nmessages = 2\n'
BAD = GOOD.replace("mfss", "mfs")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A project: a good spec, a wrong one, one that is no TOML, and files that are no specs."""
    files = {
        "a.toml": BAD,
        "b.toml": GOOD,
        "deep/c.toml": "protocol = [",
        "pyproject.toml": '[project]\nname = "mine"\n',
        "deep/titled.toml": 'title = "some other tool"\n',
        ".venv/lib/d.toml": GOOD,
    }
    for name, text in files.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
    return tmp_path


def test_a_folder_gives_its_specs_and_names_the_files_that_are_none(folder: Path) -> None:
    found = targets_of([str(folder)])
    assert ["a.toml", "b.toml", "c.toml"] == [Path(spec.label).name for spec in found.specs]
    assert [str(folder / "b.toml")] == [spec.label for spec in found.readable]
    assert ["titled.toml", "pyproject.toml"] == [file.name for file in found.others]


def test_a_spec_without_a_protocol_is_a_mistake_and_no_other_file(tmp_path: Path) -> None:
    (tmp_path / "a.toml").write_text(GOOD.replace("protocol", "protocl"))
    (spec,) = targets_of([str(tmp_path)]).specs
    assert "unknown key 'protocl'; did you mean 'protocol'?" in str(spec)


def test_one_known_key_beside_a_misspelt_protocol_is_enough(folder: Path) -> None:
    """Such a file was skipped as no spec, and the exit code was 0."""
    (folder / "small.toml").write_text('protocl = "mfss"\nactors = 2\n')
    (folder / "tls.toml").write_text('protocols = ["TLSv1.3"]\n')
    found = targets_of([str(folder)])
    assert any("did you mean 'protocol'?" in str(spec) for spec in found.specs)
    assert "tls.toml" in [file.name for file in found.others]


def test_a_file_that_is_named_twice_is_checked_once(folder: Path) -> None:
    spec = str(folder / "b.toml")
    assert 3 == len(targets_of([spec, str(folder), spec]).specs)


def test_one_bad_spec_stops_neither_the_others_nor_the_files_for_ci(
    folder: Path, antecede: Command
) -> None:
    ran = antecede("check", ".", "--junit", "r.xml", "--json", "r.json", cwd=folder)
    assert 2 == ran.code
    assert "ok          HOLDS" in ran.out
    assert "unknown protocol 'mfs'; did you mean 'mfss' or 'mfss-fifo'?" in " ".join(
        ran.out.split()
    )
    assert ran.out.splitlines()[-1].startswith("3 specs: 1 as expected, 2 with an error; ")
    assert "they are not specs: deep/titled.toml and pyproject.toml." in " ".join(ran.err.split())
    suites = {suite.get("name"): suite for suite in ElementTree.parse(folder / "r.xml").getroot()}
    assert {"a.toml": "1", "b.toml": "0", "deep/c.toml": "1"} == {
        str(name): suite.get("errors") for name, suite in suites.items()
    }
    (error,) = suites["a.toml"].iter("error")
    assert "did you mean 'mfss' or 'mfss-fifo'?" in str(error.get("message"))
    assert "unknown-name" == error.get("type")
    found = json.loads((folder / "r.json").read_text())
    assert (False, 2, 1) == (found["as_expected"], found["exit_code"], len(found["checks"]))
    assert ["a.toml", "deep/c.toml"] == [each["spec"] for each in found["refused"]]
    first, _ = found["refused"]
    assert ("unknown-name", "mfs") == (first["code"], first["value"])
    assert "mfss" in first["choices"]


def test_several_specs_and_protocols_are_checked_in_the_order_given(
    folder: Path, antecede: Command
) -> None:
    small = ("--actors", "2", "--messages", "2")
    ran = antecede("check", "fifo", "b.toml", "mfss", *small, cwd=folder)
    assert 0 == ran.code
    lines = ran.out.splitlines()
    assert ["fifo", "b.toml", "mfss"] == [line.split()[-1] for line in lines[:3]]
    assert lines[-1].startswith("3 checks: 3 as expected; ")


def test_what_an_option_makes_impossible_for_one_does_not_stop_the_others(
    folder: Path, antecede: Command
) -> None:
    (folder / "none.toml").write_text(GOOD)
    (folder / "endless.toml").write_text(GOOD + 'workload = "endless:1"\nsearch = "depth"\n')
    ran = antecede("check", "endless.toml", "none.toml", cwd=folder)
    assert 2 == ran.code
    assert "2 specs: 1 as expected, 1 with an error" in ran.out


def test_the_only_spec_that_cannot_be_read_is_an_error_in_the_junit_file_too(
    folder: Path, antecede: Command
) -> None:
    ran = antecede("check", "a.toml", "--junit", "r.xml", cwd=folder)
    assert (2, "") == (ran.code, ran.out)
    assert "did you mean 'mfss' or 'mfss-fifo'?" in (folder / "r.xml").read_text().replace(
        "&apos;", "'"
    )


def test_a_capacity_that_is_exceeded_leaves_the_check_incomplete(
    folder: Path, antecede: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_args: object, **_more: object) -> None:
        raise CapacityError("too many distinct values")

    monkeypatch.setattr("antecede.checker.check.pipeline.check", full)
    ran = antecede("check", "b.toml", "fifo", cwd=folder)
    assert 3 == ran.code
    assert "2 checks: 0 as expected, 2 incomplete" in ran.out
    assert "too many distinct values" in ran.out


def test_a_counterexample_is_saved_in_several_formats_at_once(
    folder: Path, antecede: Command
) -> None:
    traces = ("--trace", "t.json", "--trace", "t.svg", "--trace", "t.mmd")
    assert 1 == antecede("check", "unordered", "--actors", "2", *traces, cwd=folder).code
    assert (folder / "t.svg").read_text().startswith("<svg")
    assert "sequenceDiagram" in (folder / "t.mmd").read_text()
    again = antecede("replay", "t.json", "--trace", "u.svg", "--trace", "u.txt", cwd=folder)
    assert 1 == again.code
    assert (folder / "u.svg").read_text().startswith("<svg")
    assert (folder / "u.txt").exists()


def test_two_traces_in_one_file_are_refused(folder: Path, antecede: Command) -> None:
    ran = antecede("check", "mfss", "--trace", "t.svg", "--trace", "t.svg", cwd=folder)
    assert 2 == ran.code
    assert "both name 't.svg'" in ran.err


@pytest.mark.parametrize(
    ("given", "meant"),
    [("g4:A", "g4.py:A"), ("g4", "g4.py"), ("./g4:A", "./g4.py:A"), ("b", "b.toml")],
)
def test_a_file_without_its_ending_is_guessed(
    given: str, meant: str, folder: Path, antecede: Command
) -> None:
    (folder / "g4.py").write_text("")
    ran = antecede("check", given, cwd=folder)
    assert 2 == ran.code
    assert f"there is no protocol {given!r}; did you mean {meant!r}?" in ran.err


def test_a_shipped_spec_is_named_without_its_path(antecede: Command, tmp_path: Path) -> None:
    ran = antecede("check", "museum/partisan-unordered", "--engine", "plain", cwd=tmp_path)
    assert 0 == ran.code
    assert ran.out.startswith("museum/partisan-unordered: VIOLATED, as expected")


def test_a_shipped_folder_is_named_without_its_path(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    labels = [spec.label for spec in targets_of(["museum"]).specs]
    assert "museum/partisan-unordered" in labels
    assert all(label.startswith("museum/") for label in labels)


def test_a_file_of_the_user_comes_before_a_shipped_spec(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "museum").mkdir()
    (tmp_path / "museum" / "mine.toml").write_text(GOOD)
    monkeypatch.chdir(tmp_path)
    assert ["museum/mine.toml"] == [spec.label for spec in targets_of(["museum"]).specs]


@pytest.mark.parametrize("name", ["museum/../museum", "/museum", "museum/partisan", "museum/.."])
def test_other_names_stand_for_no_shipped_spec(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (refused,) = targets_of([name]).specs
    assert isinstance(refused, Refused)
