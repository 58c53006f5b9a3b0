"""Which mechanism of the self-check finds which habit; each finds something that no other finds.

benchmarks/selfcheck.md has the table of a larger measurement.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from antecede.checker.check import pipeline
from antecede.checker.purity import effects, selfcheck
from antecede.checker.search.result import Verdict
from tests.purity.test_afresh import LATCH, MEMORIES, found, written

MECHANISMS = {
    "copies": (selfcheck._Watch, "_repeat"),
    "later": (selfcheck._Watch, "look_back"),
    "worlds": (selfcheck._Watch, "_repeat_in_other_worlds"),
    "calls": (effects, "_profile_with"),
    "files": (effects.Effects, "on_audit"),
    "values": (selfcheck._Watch, "_inspect"),
    "new processes": (pipeline, "repeat_afresh"),
}
"""A mechanism -> the function without which it does nothing."""

RARE = 300
"""The call with the rare answer. Only "copies" calls so often, since it sees numbers drawn."""

ROUND = "return Step(state, deliveries=(message,))"

HABITS = {
    "a rare chance": (
        "import random\ncalls = 0",  # counted, because other threads may draw numbers, too
        "global calls; calls += 1; random.random(); "
        f"return Step('heads' if calls == {RARE} else 'tails', deliveries=(message,))",
        {"copies"},
    ),
    "the order of a set of numbers": (
        "",
        "return Step(tuple({1, 2, 3, message.number}), deliveries=(message,))",
        {"worlds"},
    ),
    "id() as a key": (
        "",
        "return Step(min('pqrs', key=id), deliveries=(message,))",
        {"worlds"},
    ),
    "a clock": (
        "from datetime import datetime",
        "return Step(datetime.now().year, deliveries=(message,))",
        {"calls"},
    ),
    "the environment": (
        "import os",
        "return Step(os.getenv('HOME'), deliveries=(message,))",
        {"calls"},
    ),
    "a file": (
        "from pathlib import Path\nflag = Path(__file__).with_name('flag')",
        f"flag.touch(); {ROUND}",
        {"files"},
    ),
    "a state that can be changed": (
        "from attrs import define\n\n@define(unsafe_hash=True)\nclass State:\n    x: int",
        "return Step(State(message.number), deliveries=(message,))",
        {"values"},
    ),
    "a memory anywhere": (MEMORIES["a context variable"], LATCH, {"new processes"}),
    "a cache with a wrong key": (
        "cached = {}",
        "return cached.setdefault(message.number, Step(state, deliveries=(message,)))",
        {"new processes"},
    ),
    "a counter": (
        "count = 0",
        "global count; count += 1; return Step(count, deliveries=(message,))",
        {"copies", "later", "worlds", "new processes"},
    ),
    "a mutable default": (
        "def calls(now, seen=[]):\n    seen.append(now)\n    return len(seen)",
        "return Step(calls(message), deliveries=(message,))",
        {"copies", "later", "worlds", "new processes"},
    ),
}
"""A habit -> what stands before a handler, its body, and the mechanisms that find it alone."""


@pytest.mark.parametrize("habit", HABITS)
def test_each_habit_is_found_by_these_mechanisms_alone(
    habit: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    before, body, expected = HABITS[habit]
    finders = {}
    for mechanism in MECHANISMS:
        (folder := tmp_path / mechanism).mkdir()
        name = written(folder, before, body)  # a new module, which has been called by nobody
        with monkeypatch.context() as patch:
            for other, (place, function) in MECHANISMS.items():
                if other != mechanism:
                    patch.setattr(place, function, lambda *_: None)
            result = found(name, "on")
            if result.verdict is Verdict.ERROR:
                finders[mechanism] = result.error
    assert expected == set(finders), finders
