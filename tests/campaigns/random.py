"""`make random`: engines, encodings, reductions and networks compared on random systems.

Runs for as long as asked, and writes what disagrees as a protocol file and a spec:

    python -m tests.campaigns.random --seconds 3600 --seed 7 --out /tmp/found

The same seed draws the same systems; `--only N` runs the N-th of them alone.
"""

from __future__ import annotations

import argparse
import random
import sys
import time
from collections import Counter
from pathlib import Path

from tests.campaigns.compare import Comparison, comparisons
from tests.campaigns.draw import Case, as_json, drawn, smaller

SHRINK_SECONDS = 30.0


def disagreements(case: Case, seed: str, *, spark: bool, tally: Counter[str]) -> list[Comparison]:
    """Return the comparisons of a case that do not agree, and count all of them."""
    found = []
    for each in comparisons(case, random.Random(f"ways {seed}"), spark=spark):
        tally[f"{each.tried} with {each.reference}"] += 1
        if not each.agrees:
            found.append(each)
    return found


def shrunk(found: Comparison, seed: str, *, spark: bool) -> Comparison:
    """Return a simpler case for which the same two ways disagree."""
    until = time.monotonic() + SHRINK_SECONDS
    progress = True
    while progress and time.monotonic() < until:
        progress = False
        for case in smaller(found.case):
            again = [
                each
                for each in disagreements(case, seed, spark=spark, tally=Counter())
                if (each.tried, each.reference) == (found.tried, found.reference)
            ]
            if again:
                found, progress = again[0], True
                break
            if time.monotonic() > until:
                break
    return found


def written(found: Comparison, folder: Path, name: str) -> str:
    """Write the protocol and the spec of a disagreement; return how to see it."""
    folder.mkdir(parents=True, exist_ok=True)
    case = found.case
    protocol, spec = folder / f"{name}.py", folder / f"{name}.antecede.toml"
    protocol.write_text(protocol_file(case), encoding="utf-8")
    spec.write_text(spec_file(found, protocol.name), encoding="utf-8")
    return (
        f"{spec}: {found.reference} and {found.tried} disagree ({found.history})\n"
        f"  expected {found.expected}\n  actual   {found.actual}\n"
        f"  antecede check {spec} {found.reference}\n  antecede check {spec} {found.tried}\n"
    )


def protocol_file(case: Case) -> str:
    """Return a protocol file that needs nothing but antecede, or these tests for a table."""
    if case.kind == "table":
        return (
            '"""Run it in the folder of the project; the tests are imported."""\n\n'
            "from tests.random_systems import table_protocol\n\n"
            f"PROTOCOL = table_protocol({case.rules!r}, {case.credit})\n"
        )
    source = Path(__file__).with_name("machine.py").read_text(encoding="utf-8")
    return f"{source}\n\nPROTOCOL = machine({case.rules!r}, {case.credit}, {case.resends})\n"


def spec_file(found: Comparison, protocol: str) -> str:
    """Return the spec: the question alone, and in comments what was answered."""
    case = found.case
    lines = [
        f"# {found.reference}: {found.expected}",
        f"# {found.tried}: {found.actual}",
        f'protocol = "{protocol}"',
        f"actors = {case.actors}",
        f"messages = {case.messages}",
        f'network = "{case.network}"',
        f"workload = '{case.workload}'",
        f'history = "{found.history}"',
        f'sends = "{case.sends}"',
        f'clock_at = "{case.clock_at}"',
        f"properties = {list(case.properties)}",
    ]
    return "\n".join(lines) + "\n"


def campaign(
    seconds: float, seed: int, folder: Path, *, only: int | None = None, spark: bool = False
) -> tuple[Counter[str], int, int]:
    """Compare for some time; return the comparisons by kind, the systems and the disagreements."""
    tally, systems, wrong = Counter[str](), 0, 0
    until, number, said = time.monotonic() + seconds, only or 0, time.monotonic()
    while time.monotonic() < until:
        own, case = f"{seed}/{number}", drawn(f"{seed}/{number}")
        before = tally.total()
        for found in disagreements(case, own, spark=spark, tally=tally)[:1]:
            wrong += 1
            least = shrunk(found, own, spark=spark)
            print(f"system {number}: {as_json(least.case)}")
            print(written(least, folder, f"random-{seed}-{number}"), flush=True)
        systems += tally.total() > before
        if only is not None:
            break
        number += 1
        if time.monotonic() - said > 60:
            said = time.monotonic()
            print(f"{tally.total():,} comparisons of {number:,} systems", flush=True)
    return tally, systems, wrong


def main() -> int:
    """Run the campaign; 1 if anything disagreed."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seconds", type=float, default=600.0)
    parser.add_argument("--seed", type=int, default=random.randrange(1_000_000))
    parser.add_argument("--out", type=Path, default=Path("found"))
    parser.add_argument("--only", type=int, help="the number of one system")
    parser.add_argument("--spark", action="store_true", help="compare Spark, too (slow)")
    asked = parser.parse_args()
    began = time.monotonic()
    tally, systems, wrong = campaign(
        asked.seconds, asked.seed, asked.out, only=asked.only, spark=asked.spark
    )
    seconds = time.monotonic() - began
    for kind, count in tally.most_common():
        print(f"{count:>9,}  {kind}")
    rate = tally.total() / seconds
    print(
        f"seed {asked.seed}: {tally.total():,} comparisons of {systems:,} systems in "
        f"{seconds:,.0f} s ({rate:,.1f} a second); {wrong} systems disagreed"
    )
    return int(wrong > 0)


if __name__ == "__main__":
    sys.exit(main())
