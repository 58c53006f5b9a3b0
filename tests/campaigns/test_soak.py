"""A short version of `make soak`, and that it would notice."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

from antecede import cli
from antecede.checker.semantics.network import Network, network_named
from tests.campaigns import fuzz, hostile

SEED = 1


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("fuzz")


@pytest.mark.parametrize("first", range(0, 60, 20))
def test_no_input_ends_in_an_internal_error_or_not_at_all(first: int, home: Path) -> None:
    tried = fuzz.fuzzed(SEED, iter(range(first, first + 20)), home)
    assert [] == [fault for _, fault in tried if fault is not None]


def test_an_internal_error_would_be_seen(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    def broken(name: str, *, retransmits: bool = False) -> Network:
        raise KeyError(network_named(name, retransmits=retransmits).name)

    monkeypatch.setattr("antecede.checker.spec.network_named", broken)
    done = fuzz.ran(["check", "mfss"], tmp_path)
    assert "exit 4: Internal error: KeyError" in done.fault


def test_a_hang_would_be_seen(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    def goes_on(_arguments: list[str]) -> int:
        while True:
            pass

    monkeypatch.setattr(fuzz, "CPU_SECONDS", 0.2)
    monkeypatch.setattr(cli, "main", goes_on)
    assert "hangs" == fuzz.ran(["check", "mfss"], tmp_path).fault


def test_a_search_killed_and_resumed_counts_what_an_undisturbed_one_does(tmp_path: Path) -> None:
    assert [] == hostile.killed(random.Random("1/0"), tmp_path)


@pytest.mark.parametrize("number", [1, 3])
def test_an_interrupted_command_says_so_and_leaves_nothing(number: int, tmp_path: Path) -> None:
    assert [] == hostile.interrupted(random.Random(f"1/{number}"), tmp_path)


def test_a_full_disk_changes_no_answer(tmp_path: Path) -> None:
    assert [] == hostile.full_disk(random.Random("1/1"), tmp_path)


def test_little_memory_ends_a_check_in_good_order(tmp_path: Path) -> None:
    assert [] == hostile.little_memory(random.Random("1/0"), tmp_path)


def test_a_wrong_end_would_be_seen() -> None:
    ended = hostile.Ended(0, {"verdict": "INCOMPLETE"}, "")
    assert ["check: exit 0 and verdict INCOMPLETE"] == list(ended.faults(("check",)))
    assert [] != list(hostile.Ended(4, {}, "").faults(("check",)))
    assert [] == list(hostile.Ended(0, {"verdict": "HOLDS"}, "").faults(("check",)))
