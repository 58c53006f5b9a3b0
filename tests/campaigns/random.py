"""`make random`: engines, encodings, reductions and networks compared on random systems.

Runs for as long as asked, and writes what disagrees as a protocol file and a spec:

    python -m tests.campaigns.random --seconds 3600 --seed 7 --out /tmp/found

The same seed draws the same cases; `--only N` runs the N-th of them alone.
"""

from __future__ import annotations

import argparse
import random
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator
from functools import partial
from itertools import count
from pathlib import Path

from tests.campaigns.adapters import compare_adapters
from tests.campaigns.audits import compare_audits
from tests.campaigns.classes import compare_classes
from tests.campaigns.compare import Comparison, comparisons
from tests.campaigns.coverages import compare_coverages
from tests.campaigns.draw import Case, as_json, drawn, drawn_for_users, smaller
from tests.campaigns.emptiness import compare_emptiness
from tests.campaigns.endless import compare_endless
from tests.campaigns.formats import compare_formats
from tests.campaigns.links import compare_links
from tests.campaigns.livelocks import compare_livelocks
from tests.campaigns.memories import compare_memories
from tests.campaigns.packets import compare_packets
from tests.campaigns.proofs import compare_proofs
from tests.campaigns.smallest import compare_smallest
from tests.campaigns.spans import compare_spans

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
    """Return a protocol file that registers the properties of users.

    It imports these tests only for such properties, or for a table.
    """
    return _protocol_source(case) + (REGISTERS if case.user else "")


REGISTERS = """
from antecede import properties
from tests.campaigns.user_properties import REGISTRY

properties.REGISTRY = REGISTRY
"""


def _protocol_source(case: Case) -> str:
    if case.kind == "table":
        return (
            '"""Run it in the folder of the project; the tests are imported."""\n\n'
            "from tests.campaigns.machine import losing, restarting\n"
            "from tests.random_systems import table_protocol\n\n"
            f"PROTOCOL = restarting(losing(table_protocol({case.rules!r}, {case.credit}), "
            f"{case.labels!r}), {case.restarts!r})\n"
        )
    source = Path(__file__).with_name("machine.py").read_text(encoding="utf-8")
    made = f"machine({case.rules!r}, {case.credit}, {case.resends})"
    made = f"losing({made}, {case.labels!r})"
    return f"{source}\n\nPROTOCOL = restarting({made}, {case.restarts!r})\n"


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
        f'crashes = "{case.crashes}"',
        f'to_crashed = "{case.to_crashed}"',
        f'labels = "{case.labels}"',
        f"properties = {list(case.properties)}",
    ]
    return "\n".join(lines) + "\n"


def compare_systems(
    seed: str,
    folder: Path,
    tally: Counter[str],
    *,
    spark: bool,
    draw: Callable[[str], Case] = drawn,
) -> list[str]:
    """Compare all ways to explore one random system; shrink and write the first disagreement."""
    descriptions = []
    for wrong in disagreements(draw(seed), seed, spark=spark, tally=tally)[:1]:
        least = shrunk(wrong, seed, spark=spark)
        described = written(least, folder, f"random-{seed.replace('/', '-')}")
        descriptions.append(f"{as_json(least.case)}\n{described}")
    return descriptions


Kind = Callable[[str, Path, Counter[str]], list[str]]
"""Compares one random case of a seed, adds its comparisons to the tally, writes files that
reproduce each disagreement into the folder, and returns a description of each."""

KINDS: dict[str, tuple[int, Kind]] = {
    "systems": (10, partial(compare_systems, spark=False)),
    "properties": (4, partial(compare_systems, spark=False, draw=drawn_for_users)),
    "proofs": (1, compare_proofs),
    "links": (1, compare_links),
    "adapters": (2, compare_adapters),
    "memories": (2, compare_memories),
    "packets": (2, compare_packets),
    "audits": (3, compare_audits),
    "spans": (3, compare_spans),
    "formats": (2, compare_formats),
    "endless": (3, compare_endless),
    "livelocks": (3, compare_livelocks),
    "smallest": (3, compare_smallest),
    "classes": (1, compare_classes),
    "coverages": (1, compare_coverages),
    "emptiness": (3, compare_emptiness),
}
"""The kinds of random cases with their weights. A campaign draws a kind for every number."""


def campaign(
    seconds: float, seed: int, folder: Path, kinds: dict[str, tuple[int, Kind]], first: int = 0
) -> Iterator[tuple[Counter[str], int, list[str]]]:
    """Compare random cases for some time.

    Yields, after every case, the comparisons so far by kind, the number of the case and the
    descriptions of its disagreements.
    """
    tally, until = Counter[str](), time.monotonic() + seconds
    names, weights = list(kinds), [weight for weight, _ in kinds.values()]
    for number in count(first):
        own = f"{seed}/{number}"
        (name,) = random.Random(f"kind {own}").choices(names, weights)
        yield tally, number, kinds[name][1](own, folder, tally)
        if time.monotonic() > until:
            return


def main() -> int:
    """Run the campaign; 1 if anything disagreed."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seconds", type=float, default=600.0)
    parser.add_argument("--seed", type=int, default=random.randrange(1_000_000))
    parser.add_argument("--out", type=Path, default=Path("found"))
    parser.add_argument("--only", type=int, help="the number of one case")
    parser.add_argument("--kinds", default=",".join(KINDS), help=", ".join(KINDS))
    parser.add_argument("--spark", action="store_true", help="compare Spark, too (slow)")
    asked = parser.parse_args()
    if unknown := set(asked.kinds.split(",")) - set(KINDS):
        parser.error(f"unknown kinds: {', '.join(unknown)}; use {', '.join(KINDS)}")
    kinds = {name: KINDS[name] for name in asked.kinds.split(",")}
    if asked.spark and "systems" in kinds:
        kinds["systems"] = (kinds["systems"][0], partial(compare_systems, spark=True))
    began = said = time.monotonic()
    tally, cases, wrong = Counter[str](), 0, 0
    numbers = campaign(asked.seconds, asked.seed, asked.out, kinds, asked.only or 0)
    for tally, number, descriptions in numbers:
        cases, wrong = cases + 1, wrong + len(descriptions)
        for description in descriptions:
            print(f"case {number}: {description}", flush=True)
        if time.monotonic() - said > 60:
            said = time.monotonic()
            print(f"{tally.total():,} comparisons of {cases:,} cases", flush=True)
        if asked.only is not None:
            break
    seconds = time.monotonic() - began
    for name, times in tally.most_common():
        print(f"{times:>9,}  {name}")
    rate = tally.total() / seconds
    print(
        f"seed {asked.seed}: {tally.total():,} comparisons of {cases:,} cases in "
        f"{seconds:,.0f} s ({rate:,.1f} a second); {wrong} disagreements"
    )
    return int(wrong > 0)


if __name__ == "__main__":
    sys.exit(main())
