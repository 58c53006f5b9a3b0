"""Smallest bounds of random protocols, with renamed scripts left out and with all scripts.

Many of these protocols and properties treat an actor, a channel or a message specially. So scripts
that differ in the names of actors can differ in their results.
"""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Any
from unittest.mock import patch

from attrs import evolve

from antecede import properties as package
from antecede.checker.check.pipeline import check
from antecede.checker.check.spec import Spec
from antecede.checker.search.options import Bounds, Options
from antecede.checker.sweep.kept import Row
from antecede.checker.sweep.renamings import Renamings
from antecede.checker.sweep.smallest import levels, rows_of, smallest
from tests.campaigns.draw import Case, answerable, as_json, drawn, user_properties
from tests.campaigns.user_properties import REGISTRY

PLAIN, TABLES = Options(engine="plain"), Options(threads=1)


def drawn_for_scripts(seed: str) -> Case:
    """Return a case whose scripts are explored; its workload and number of messages do not count.

    Its network neither loses nor duplicates packets, so that its checks are small.
    """
    chance = random.Random(f"smallest {seed}")
    case = drawn(seed)
    names = user_properties(chance, messages=3) if chance.random() < 0.5 else case.properties
    return answerable(
        evolve(
            case,
            actors=chance.choice((2, 3, 3)),
            messages=2,
            network=chance.choice(("unordered", "fifo")),
            workload="script",
            resends=False,
            credit=min(case.credit, 1),
            crashes=chance.choice((case.crashes, case.crashes, "1:of=1")),
            properties=tuple(name for name in names if name != "can-deliver"),
        )
    )


def checked(case: Case, options: Options, specs: Sequence[Spec]) -> list[Row]:
    """Return the rows of some checks in this process."""
    return [_row(case, options, spec) for spec in specs]


def _row(case: Case, options: Options, spec: Spec) -> Row:
    renamings = Renamings()
    with patch.object(package, "REGISTRY", REGISTRY):
        report = check(
            spec,
            options,
            Bounds(max_states=2_000),
            protocol=case.protocol,
            selfcheck="off",
            around=renamings.watching,
        )
    result, path = report.result, report.result.counterexample
    return {
        "workload": spec.workload,
        "verdict": str(result.verdict),
        "counterexample_length": path and path.length,
        "names_matter": renamings.difference,
    }


def bound_of(case: Case, options: Options, *, renamed: bool) -> dict[str, Any]:
    """Return the smallest bound of a violation, and the length of its counterexample.

    A violated witness has no counterexample; its length is 0.
    """
    spec = case.spec("knowledge")
    run = partial(checked, case, options)
    tried = levels(spec, (case.actors,), case.messages, renamed=renamed)
    found = smallest(spec, tried, lambda level: rows_of(level, run))
    return {
        "bound": found.level and (found.level.messages, found.level.actors),
        "verdict": found.row and found.row["verdict"],
        "length": found.row and found.row["counterexample_length"],
    }


def compare_smallest(seed: str, _folder: Path, tally: Counter[str]) -> list[str]:
    """Compare the smallest bounds of one random protocol, and describe a disagreement."""
    case = drawn_for_scripts(seed)
    chance = random.Random(f"engine {seed}")
    options = TABLES if chance.random() < 0.3 else PLAIN
    every = bound_of(case, PLAIN, renamed=True)
    some = bound_of(case, options, renamed=False)
    tally["--smallest with all scripts"] += 1
    if some == every:
        return []
    return [f"{as_json(case)}\n  --smallest: {some}\n  all scripts: {every}\n"]
