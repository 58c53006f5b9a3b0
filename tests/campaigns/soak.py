"""`make soak`: hostile days for as long as asked, all of them one after the other.

    python -m tests.campaigns.soak --seconds 3600 --seed 7 --parts fuzz,kills

Ends with 0 if nothing ended in an internal error, hung, found something wrong or left something
behind. What did is printed with its number, which repeats it: `--first N --count 1`.
"""

from __future__ import annotations

import argparse
import random
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator
from functools import partial
from itertools import count
from pathlib import Path

from tests.campaigns import (
    changed_checkpoints,
    edges,
    fuzz,
    hanging,
    hostile,
    hostile_logs,
    raising,
    stored,
)

BATCH = 200
"""Inputs of the fuzzer between two other days."""

Day = Callable[[random.Random, Path], list[str]]
DAYS: dict[str, Day] = {
    "kills": hostile.killed,
    "interruptions": hostile.interrupted,
    "disks": hostile.full_disk,
    "memory": hostile.little_memory,
    "address space": hostile.little_address_space,
    "programs": hostile.bad_program,
    "handlers": hanging.hanging,
    "constants": stored.changed_constants,
    "files": stored.odd_files,
    "kernels": stored.odd_kernels,
    "changed checkpoints": changed_checkpoints.changed_checkpoint,
    "pages": raising.explored,
    "logs": hostile_logs.hostile_log,
    "streams": edges.unusable,
    "signals": edges.signalled,
    "GitHub": edges.ordered,
}
ON_SPARK: dict[str, Day] = {
    "kills on Spark": partial(hostile.killed, spark=True),
    "interruptions of Spark": partial(hostile.interrupted, spark=True),
    "disks of Spark": partial(hostile.full_disk, spark=True),
    "changed checkpoints of Spark": changed_checkpoints.changed_on_spark,
}


def hostile_days(
    parts: dict[str, Day], seed: int, numbers: Iterator[int]
) -> Iterator[tuple[str, list[str]]]:
    """Yield the part that each number stands for, and what went wrong on that day."""
    for number in numbers:
        chance = random.Random(f"{seed}/{number}")
        name = list(parts)[number % len(parts)]
        with tempfile.TemporaryDirectory(prefix="soak-") as folder:
            yield name, parts[name](chance, Path(folder).resolve())


def soak(
    seconds: float, seed: int, parts: list[str], first: int = 0, most: int | None = None
) -> tuple[Counter[str], int]:
    """Return how often each part was tried, and how many faults there were."""
    until, tally, faults = time.monotonic() + seconds, Counter[str](), 0
    days = {name: day for name, day in (DAYS | ON_SPARK).items() if name in parts}
    last = None if most is None else first + most
    inputs = iter(range(first, last)) if last is not None else count(first)
    numbers = iter(range(first, last)) if last is not None else count(first)
    others = hostile_days(days, seed, numbers) if days else iter(())
    with tempfile.TemporaryDirectory(prefix="fuzz-") as folder:
        changed = fuzz.fuzzed(seed, inputs, Path(folder)) if "fuzz" in parts else iter(())
        while time.monotonic() < until:
            before = tally.total()
            for _, (reader, fault) in zip(range(BATCH), changed, strict=False):
                tally[reader] += 1
                if fault is not None:
                    faults += 1
                    print(
                        f"{fault.reader} {fault.number}: {fault.arguments}: {fault.said}",
                        flush=True,
                    )
                if time.monotonic() > until:
                    break
            for name, wrong in others:
                tally[name] += 1
                faults += bool(wrong)
                for each in wrong:
                    print(f"{name} {tally[name]}: {each}", flush=True)
                break
            if tally.total() == before:
                break
    return tally, faults


def main() -> int:
    """Run the campaign; 1 if anything went wrong."""
    known = ["fuzz", *DAYS, *ON_SPARK]
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seconds", type=float, default=600.0)
    parser.add_argument("--seed", type=int, default=random.randrange(1_000_000))
    parser.add_argument("--parts", default=",".join(["fuzz", *DAYS]), help=", ".join(known))
    parser.add_argument("--first", type=int, default=0, help="the number to begin with")
    parser.add_argument("--count", type=int, help="how many numbers")
    asked = parser.parse_args()
    parts = asked.parts.split(",")
    if not set(parts) <= set(known):
        parser.error(f"the parts are {', '.join(known)}")
    began = time.monotonic()
    tally, faults = soak(asked.seconds, asked.seed, parts, asked.first, asked.count)
    for name, times in tally.most_common():
        print(f"{times:>9,}  {name}")
    print(f"seed {asked.seed}: {time.monotonic() - began:,.0f} s, {faults} faults")
    return int(faults > 0)


if __name__ == "__main__":
    sys.exit(main())
