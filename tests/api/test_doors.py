"""The command and the function give the same answers: verdicts, exit codes and refusals."""

from __future__ import annotations

import json
import random
from collections import Counter
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from antecede import check, sweep
from antecede.checker.support.errors import InputError
from tests.conftest import Command

POOL: dict[str, tuple[Any, ...]] = {
    "actors": (2, 3, 1, 0),
    "messages": (1, 2, -1),
    "network": ("fifo", "lossy:1", "unordered", "ordered"),
    "workload": ("any", "broadcast", "script:[[1],[]]", "script:[[1]]", "endless:1", "most"),
    "history": ("full", "clocks", "knowledge", "none"),
    "engine": ("plain", "local", "distributed"),
    "search": ("breadth", "depth", "random", "width"),
    "threads": (1, 2, 0),
    "symmetry": (True, False),
    "forget": ("never", "auto", "keep"),
    "walks": (20, 0),
    "seed": (7, -7),
    "crashes": (1, 0, "1:of=1", "many"),
    "to_crashed": ("lost", "kept"),
    "selfcheck": ("off", "on", "some"),
    "property": ("causal-delivery", "fifo-delivery", "can-deliver", "no-starvation", "order"),
    "max_states": (5_000, 40, 0),
    "max_depth": (9, -1),
    "bound": ("in-flight=2", "spread=1", "in-flight"),
    "master": ("local[2]",),
    "spark_threshold": (5,),
    "minimise": (True,),
    "labels": ("a", "a,b"),
}
"""Argument -> values, of which some are wrong in themselves and others beside some arguments."""

CODES = {"HOLDS": 0, "VIOLATED": 1, "ERROR": 2, "INCOMPLETE": 3, "VACUOUS": 3}

PROTOCOLS = ("fifo", "mfss", "unordered", "rst", "mfs")


def drawn(rng: random.Random) -> tuple[str, dict[str, Any]]:
    """Return a protocol and arguments of a small check."""
    asked = {name: rng.choice(POOL[name]) for name in rng.sample([*POOL], rng.randint(0, 4))}
    return rng.choice(PROTOCOLS), {"actors": 2, "messages": 1, "max_states": 3_000, **asked}


def as_options(asked: dict[str, Any]) -> list[str]:
    """Return the options of the command for arguments of the function."""
    words = []
    for name, value in asked.items():
        option = name.replace("_", "-")
        if isinstance(value, bool):
            words.append(f"--{option}" if value else f"--no-{option}")
        else:
            words.append(f"--{option}={value}")
    return words


@pytest.mark.parametrize("seed", range(30))
def test_the_command_and_the_function_agree(seed: int, antecede: Command) -> None:
    """Ten calls of each seed. Of several wrong arguments, the doors may name different ones."""
    rng = random.Random(seed)
    for _ in range(10):
        protocol, asked = drawn(rng)
        ran = antecede("check", protocol, *as_options(asked), "--json", "-", "--quiet")
        names = {"property": "properties"}
        result = None
        with suppress(InputError):
            result = check(protocol, **{names.get(name, name): v for name, v in asked.items()})
        assert (result is None) == (ran.code == 2), (protocol, asked, ran.err)
        if result is None:
            continue
        found = json.loads(ran.out)
        assert CODES[result.verdict] == ran.code, (protocol, asked, ran.err)
        assert result.verdict == found["verdict"], (protocol, asked)
        assert result.counts.unique_states == found["unique_states"], (protocol, asked)
        steps = None if result.counterexample is None else result.counterexample.length
        assert steps == (found["counterexample"] or {}).get("length"), (protocol, asked)


SWEEPS: dict[str, tuple[Any, ...]] = {
    "on": ("here", "spark", "there"),
    "workers": (1, 0),
    "master": ("local[2]",),
    "engine": ("plain", "local", "spark"),
    "actors": (2, 3, 1),
    "messages": (1, 0),
    "network": ("fifo", "ordered"),
    "smallest": (True,),
    "max_messages": (2, 0),
    "threads": (1, 0),
    "max_states": (500, 0),
}


@pytest.mark.parametrize("seed", range(10))
def test_sweeps_agree(seed: int, antecede: Command, tmp_path: Path) -> None:
    """Five calls of each seed; none of them starts Spark, because another argument is wrong."""
    rng = random.Random(seed)
    for number in range(5):
        names = rng.sample([*SWEEPS], rng.randint(1, 4))
        asked = {name: rng.choice(SWEEPS[name]) for name in names}
        if asked.get("on") == "spark":
            asked["workers"] = 1
        usual = {} if "smallest" in asked else {"messages": 1}
        asked = {"actors": 2, "workers": 1, **usual, **asked}
        words = as_options(asked)
        output = tmp_path / f"{number}.jsonl"
        ran = antecede("sweep", "fifo", *words, "--output", output, "--quiet")
        result = None
        with suppress(InputError):
            result = sweep("fifo", **asked)
        assert (result is None) == (ran.code == 2), (asked, ran.err)
        if result is not None and "smallest" not in asked:
            kept = [json.loads(line) for line in output.read_text().splitlines()]
            told = Counter(row["verdict"] for row in kept if "verdict" in row)
            assert told == Counter(row["verdict"] for row in result.rows)
