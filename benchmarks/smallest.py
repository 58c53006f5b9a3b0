"""Writes docs/bounds.md: the smallest bound that reveals each bug that we know.

python benchmarks/smallest.py            # about 20 minutes on two cores; keeps what is done
python benchmarks/smallest.py --redraw   # writes the page again from the kept results

The bugs are the mutants in tests/mutants, and the protocols that fail in a spec. The results are
in figures/smallest.json. A bug whose sources have not changed is not searched again.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import multiprocessing
import os
import sys
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from functools import partial
from pathlib import Path
from typing import Any, TypeAlias

from attrs import asdict, frozen

from antecede.checker.check.pipeline import check
from antecede.checker.check.spec import Spec, load_spec, system_of
from antecede.checker.model import Protocol
from antecede.checker.registry import default_properties, protocol_named
from antecede.checker.render.files import write_whole
from antecede.checker.search.options import Bounds, Options
from antecede.checker.search.result import Result, Verdict
from antecede.checker.sweep.smallest import SIZED, Level, difference, levels
from antecede.checker.tables.fingerprint import fingerprint

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from tests.mutants.mutant import (  # noqa: E402 -- the tests are beside this folder
    FILES,
    Mutants,
    changed_source,
    label,
    mutants_in,
    mutated,
)

DATA = ROOT / "benchmarks" / "figures" / "smallest.json"
ACTORS = (2, 3, 4)
MESSAGES = 5
SECONDS = 30.0
"""The limit for one bug and one list of properties, so that few large systems cannot delay all."""
MOST_STATES = 3_000_000
LIVENESS = ("can-deliver", "no-starvation", "can-finish", "finishes")
ESCAPES = "tests/yct_acked.py:YCT_ACKED"
"""The protocol that holds with 3 actors and 3 messages each, and fails with one message more."""

Found: TypeAlias = dict[str, Any]
"""A JSON object of `figures/smallest.json`."""


@frozen
class Bug:
    """A protocol that is known to fail.

    Attributes:
        protocol: its name, or that of the protocol that the mutant changes.
        mutant: the name of the mutant; empty for a protocol that fails as it is.
        network: the network on which it fails.
        workload: `script` or `broadcast`.
        delivery: the properties of deliveries that it is checked for.
        unicast: it is known to fail with messages that have one destination.
    """

    protocol: str
    mutant: str
    network: str
    workload: str
    delivery: tuple[str, ...]
    unicast: bool = True

    @property
    def key(self) -> str:
        """Identify the bug."""
        return f"{self.protocol} {self.mutant} {self.network} {self.workload}"

    def made(self) -> Protocol:
        """Return the protocol with the bug."""
        return (
            mutated(self.protocol, self._mutant()) if self.mutant else protocol_named(self.protocol)
        )

    def _mutant(self) -> Any:
        mutants = next(m for m in map(mutants_in, FILES) if m.protocol == self.protocol)
        return next(one for one in mutants.mutants if one.name == self.mutant)

    def digest(self) -> str:
        """Return a digest of the sources and limits that the result depends on."""
        spec = Spec(self.protocol, max(ACTORS[1], 3), 1, self.network, properties=self.delivery)
        changed = changed_source(self._mutant()) if self.mutant else ""
        rests_on = [fingerprint(system_of(spec)), changed, self.delivery, ACTORS, MESSAGES]
        return hashlib.blake2b(
            json.dumps(rests_on, default=str).encode(), digest_size=8
        ).hexdigest()


def variants() -> Iterator[Bug]:
    """Yield the protocols that fail in a spec, each once per network and workload."""
    yield Bug(ESCAPES, "", "unordered", "script", default_properties())
    for file in sorted((ROOT / "specs").rglob("*.toml")):
        spec = load_spec(file)
        kind = spec.workload.partition(":")[0]
        violates = spec.expect.violates or ""
        if spec.expect.verdict is not Verdict.VIOLATED or violates in LIVENESS:
            continue
        if kind not in ("any", "script", "broadcast"):
            continue
        name = (
            str(Path(spec.protocol).relative_to(ROOT)) if ".py" in spec.protocol else spec.protocol
        )
        network = spec.network or protocol_named(spec.protocol).network
        workload = "broadcast" if kind == "broadcast" else "script"
        shown = tuple(p for p in spec.properties if not p.startswith("invariant:"))
        fifo = ("fifo-delivery", "integrity", "all-delivered")
        delivery = fifo if "fifo-delivery" in shown else default_properties()
        yield Bug(name, "", network, workload, delivery)


def mutants() -> tuple[list[Bug], dict[str, str]]:
    """Return the mutants that violate a property, and why the others are left out."""
    bugs, left = list[Bug](), dict[str, str]()
    page = (ROOT / "docs" / "mutants.md").read_text(encoding="utf-8")
    for of in map(mutants_in, FILES):
        section = page.partition(f"## {of.protocol}\n")[2].partition("\n## ")[0]
        lines = [line.strip("| ").split(" | ") for line in section.splitlines()]
        rows = {cells[0]: cells[-1] for cells in lines if len(cells) == 3}
        for one in of.mutants:
            where = f"{of.protocol} {one.name}"
            if one.survives:
                left[where] = one.survives.partition(":")[0]
                continue
            spec, finding = _detected(of, rows[one.name])
            if not finding.partition(", ")[2].endswith(("transition", "transitions")):
                left[where] = "no final state, or no end"
            elif finding.startswith(LIVENESS):
                left[where] = "liveness"
            else:
                bugs.append(_bug(of.protocol, one.name, spec))
    return bugs, left


def _detected(of: Mutants, cell: str) -> tuple[Spec, str]:
    """Return the check that detects a mutant, and its finding, from the mutants page."""
    spec = next(spec for spec in of.checks if cell.startswith(f"{label(spec)}: "))
    return spec, cell.removeprefix(f"{label(spec)}: ")


def _bug(protocol: str, mutant: str, spec: Spec) -> Bug:
    delivery = tuple(p for p in spec.properties if not p.startswith("invariant:"))
    network = spec.network or protocol_named(protocol).network
    kind = spec.workload.partition(":")[0]
    workload = "broadcast" if kind == "broadcast" else "script"
    return Bug(protocol, mutant, network, workload, delivery, kind in ("any", "script"))


def searched(bug: Bug) -> Found:
    """Return the smallest bounds that reveal a bug, with and without its protocol's invariants."""
    began, protocol = time.monotonic(), bug.made()
    invariants = tuple(f"invariant:{name}" for name in protocol_named(bug.protocol).invariants)
    delivery = frontier(bug, protocol, bug.delivery)
    every = frontier(bug, protocol, (*bug.delivery, *invariants)) if invariants else delivery
    seconds = round(time.monotonic() - began, 1)
    return {**asdict(bug), "deliveries": delivery, "invariants": every, "seconds": seconds}


def frontier(bug: Bug, protocol: Protocol, properties: tuple[str, ...]) -> Found:
    """Return the smallest bounds: fewer messages would need more actors, and vice versa."""
    end = time.monotonic() + SECONDS
    spec = Spec(bug.protocol, network=bug.network, workload=bug.workload, properties=properties)
    treats = partial(_treats, spec, protocol)
    bounds: list[Found] = []
    most = MESSAGES + 1 if bug.workload in SIZED else MESSAGES
    for actors in ACTORS:
        for level in levels(spec, (actors,), most, treats):
            if any(found["messages"] <= level.messages for found in bounds):
                break  # fewer actors suffice
            failed = first_failure(level, protocol, end)
            if isinstance(failed, str):
                return {"bounds": bounds, "stopped": [level.messages, level.actors, failed]}
            if failed is not None:
                bounds.append({"messages": level.messages, "actors": level.actors, **failed})
    return {"bounds": bounds, "stopped": None}


def _treats(spec: Spec, protocol: Protocol, actors: int) -> str | None:
    return difference(spec, Options(), actors, protocol)


def first_failure(level: Level, protocol: Protocol, end: float) -> Found | str | None:
    """Return the shortest failure of a level, the reason why it was not completed, or None."""
    found: list[Found] = []
    for spec in level.specs:
        left = end - time.monotonic()
        if left <= 0:
            return f"{SECONDS:g} s"
        limits = Bounds(max_states=MOST_STATES, max_seconds=left)
        result = check(spec, Options(threads=1), limits, protocol=protocol, selfcheck="off").result
        if result.verdict is Verdict.INCOMPLETE:
            return str(result.stopped_by)
        if (failure := _failure(spec, result)) is not None:
            found.append(failure)
    return min(found, key=lambda one: one["length"], default=None)


def _failure(spec: Spec, result: Result) -> Found | None:
    path = result.counterexample
    if path is None:
        return None
    return {"workload": spec.workload, "violates": path.violates, "length": path.length}


def run(bugs: Sequence[Bug], processes: int) -> None:
    """Search for the bugs that have no result yet, and write each result when it is there."""
    known = (
        {each["key"]: each for each in json.loads(DATA.read_text())["bugs"]}
        if DATA.exists()
        else {}
    )
    digests = {bug.key: bug.digest() for bug in bugs}
    done = {k: each for k, each in known.items() if each["digest"] == digests.get(k)}
    todo = [bug for bug in bugs if bug.key not in done]
    context = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(processes, context, max_tasks_per_child=25) as pool:
        futures = {pool.submit(searched, bug): bug for bug in todo}
        for number, future in enumerate(as_completed(futures), 1):
            bug = futures[future]
            result = future.result()
            done[bug.key] = {"key": bug.key, "digest": digests[bug.key], **result}
            _keep([done[each.key] for each in bugs if each.key in done])
            print(f"{number}/{len(todo)} {bug.key}: {_told(result)}", file=sys.stderr, flush=True)


def _keep(found: Sequence[Found]) -> None:
    write_whole(str(DATA), json.dumps({"bugs": found}, indent=1) + "\n")


def _told(result: Found) -> str:
    bounds = result["deliveries"]["bounds"], result["invariants"]["bounds"]
    words = [" ".join(f"{b['actors']}x{b['messages']}" for b in each) or "-" for each in bounds]
    return f"{' | '.join(words)}, {result['seconds']} s"


def every_bug() -> tuple[list[Bug], dict[str, str]]:
    """Return all bugs, each once, and the mutants that are left out."""
    found, left = mutants()
    bugs = dict[str, Bug]()
    for bug in (*variants(), *found):
        bugs.setdefault(bug.key, bug)
    return list(bugs.values()), left


def main() -> None:
    """Search, then write the page."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--redraw", action="store_true", help="from the kept results")
    parser.add_argument("--processes", type=int, default=os.cpu_count() or 1)
    parser.add_argument("--only", default="", help="only bugs whose key contains this text")
    arguments = parser.parse_args()
    os.chdir(ROOT)
    bugs, left = every_bug()
    if not arguments.redraw:
        run([bug for bug in bugs if arguments.only in bug.key], arguments.processes)


if __name__ == "__main__":
    main()
