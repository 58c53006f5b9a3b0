"""Writes docs/protocols.md and its runs: the guarantees of each protocol, as checked.

python benchmarks/protocols.py            # a few minutes
python benchmarks/protocols.py --costs    # only the table of costs
"""

from __future__ import annotations

import argparse
import random
import re
import sys
import time
from collections.abc import Iterator, Sequence
from pathlib import Path

from antecede.checker.check.pipeline import check
from antecede.checker.check.report import CheckReport
from antecede.checker.check.spec import Spec, system_of
from antecede.checker.model import Protocol, Transition
from antecede.checker.papers.claims.measures import Measures, measure
from antecede.checker.paths.path import Path as Run
from antecede.checker.paths.path import replay
from antecede.checker.render.files import write_whole
from antecede.checker.render.prose import waiting
from antecede.checker.search.options import Bounds, Options
from antecede.checker.search.result import Verdict
from antecede.checker.semantics.judge import undelivered
from antecede.checker.semantics.transition import enabled, initial_state, successor
from antecede.checker.support.errors import AntecedeError, CapacityError
from antecede.checker.support.registry import default_properties, protocol_named, protocol_names

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from benchmarks.drawings import shortened  # noqa: E402 -- the same
from benchmarks.page import put, rendered  # noqa: E402 -- this folder is no package

PAGE = ROOT / "docs" / "protocols.md"
NETWORKS = ("unordered", "fifo", "duplicating", "fifo+lossy:1", "duplicating+lossy")
SIZES = ((3, 1), (2, 2), (3, 2))
MEASURED = (((3, 2),), ((3, 1), (2, 2)))
"""The sizes for measurements of costs. One message per actor never shows a second one held back."""
MOST_MEASURED = 60_000
FIXED = {
    "tree-figure-1": ((4, 1), (4, 2)),
    "tree-figure-2-left": ((4, 1), (4, 2)),
    "tree-figure-2-right": ((4, 1), (4, 2)),
}
"""Protocols with a fixed number of actors."""
WORKLOADS = {"cbcast": "broadcast"}
CHAINS = {3: "script:[[2,1],[2],[]]", 4: "script:[[2,1],[3],[],[2]]"}
"""Number of actors -> a workload in which a chain of messages can overtake the first message."""
TYPICAL = (
    'reaction:[{"name":"m1","from":0,"to":[2]},{"name":"m2","from":0,"to":[1]},'
    '{"name":"m3","from":1,"to":[2],"after":["m2"]}]'
)
"""A workload: Alice writes to Carol and to Bob, and Bob then writes to Carol."""
WALKS = 300
MOST_STATES = 3_000_000


def cell(name: str, network: str) -> tuple[str, CheckReport | None]:
    """Return the result for a protocol on a network, and the check that found a violation."""
    states, reached = 0, ""
    for spec in questions(name, network):
        is_chain = spec.workload.startswith("script:")
        if is_chain and reached == "3×2":
            break  # which has all runs of the chain
        try:
            report = check(spec, Options(), Bounds(max_states=MOST_STATES), selfcheck="off")
        except AntecedeError as error:
            return f"not checked: {error}", None
        result = report.result
        if result.verdict is Verdict.VIOLATED and result.counterexample is not None:
            path = result.counterexample
            return f"{path.violates} VIOLATED ({path.length})", report
        if result.verdict is Verdict.INCOMPLETE and reached:
            continue
        if result.verdict is not Verdict.HOLDS:
            raised = re.search(r"(\w+) of protocol .* raised (\w+)", result.error or "")
            why = f"{raised[1]} raises {raised[2]}" if raised else result.error
            return f"{result.verdict}: {why or result.stopped_by}", None
        states += result.size.unique_states
        reached = f"{reached} and the chain" if is_chain else f"{spec.actors}×{spec.messages}"
    return f"HOLDS to {reached} ({states:,})", None


def questions(name: str, network: str) -> Iterator[Spec]:
    """Yield the checks of a protocol on a network, without the protocol's invariants.

    Nobody can violate the order of messages to one receiver each if every actor sends only one.
    """
    workload, sizes = WORKLOADS.get(name, "any"), FIXED.get(name, SIZES)
    for actors, messages in sizes:
        is_empty = workload == "any" and messages == 1
        judged = tuple(p for p in default_properties() if not is_empty or p != "causal-delivery")
        yield Spec(name, actors, messages, network, workload, properties=judged)
    if workload == "any":
        actors = max(actors for actors, _ in sizes)
        yield Spec(name, actors, 2, network, CHAINS[actors], properties=default_properties())


COSTS = (
    "in transit per sender",
    "in transit per pair",
    "integers per message",
    "control packets per message",
    "messages held",
)
"""The columns of costs. All are maxima."""


def cost(name: str) -> tuple[str, ...]:
    """Return a row of the table of costs, at the first sizes of MEASURED that are feasible."""
    network = protocol_named(name).network
    workload = WORKLOADS.get(name, "any")
    for sizes in (FIXED[name][:1],) if name in FIXED else MEASURED:
        specs = [Spec(name, *size, network, workload) for size in sizes]
        try:
            found = [measure(system_of(spec), most=MOST_MEASURED) for spec in specs]
        except CapacityError:
            continue
        except AntecedeError:
            break
        where = " and ".join(f"{actors}×{messages}" for actors, messages in sizes)
        return (linked(name), network, where, *_costs(found))
    return (linked(name), network, *["-"] * (1 + len(COSTS)))


def linked(name: str) -> str:
    """Return a link to the section of a protocol on the page."""
    return f"[{name}](#{name})"


def _costs(found: list[Measures]) -> tuple[str, ...]:
    """Return the maxima of some measures, in the order of COSTS."""
    kinds = [kind for each in found for kind in each.packets.values()]
    controls = [each.control_packets for each in found]
    control = None if None in controls else max(c for c in controls if c is not None)
    return (
        str(max(each.packets_per_sender for each in found)),
        str(max(each.packets_per_pair for each in found)),
        str(max((kind.integers for kind in kinds if kind.carries), default=0)),
        "-" if control is None else str(control),
        str(max(each.buffered for each in found)),
    )


def table_of_costs(names: Sequence[str]) -> str:
    """Return the table of costs: a row per protocol."""
    head = ("protocol", "network", "measured at", *COSTS)
    rows = [f"| {' | '.join(head)} |", "| --- | --- | --- |" + " ---: |" * len(COSTS)]
    for name in names:
        rows.append(f"| {' | '.join(cost(name))} |")
        print(rows[-1], file=sys.stderr, flush=True)
    return "\n".join(rows) + "\n"


def typical(name: str) -> Run | None:
    """Return a run of the workload TYPICAL with waiting messages, or None."""
    if name in FIXED:
        return None
    system = system_of(Spec(name, workload=TYPICAL))
    best: tuple[tuple[bool, int, int], Run] | None = None
    for seed in range(WALKS):
        chance, state, taken = random.Random(seed), initial_state(system), list[Transition]()
        while len(taken) < 24 and (choices := enabled(system, state)):
            taken.append(chance.choice(choices))
            state = successor(system, state, taken[-1]).state
        run = replay(system, taken)
        over = all(not undelivered(run.last, i) for i in range(system.actors))
        held = sum(waiting(step) is not None for step in run.steps)
        found = (over, held, -run.length)
        if best is None or found > best[0]:
            best = found, run
    return best[1] if best is not None and best[0][0] else None


def section(protocol: Protocol, pictures: Path) -> str:
    """Return the section of one protocol; write a run and its first counterexample."""
    lines = [f"## {protocol.name}", "", f"{protocol.summary}.", ""]
    lines += [f"*Source:* {protocol.source}.", ""]
    lines += ["| " + " | ".join(NETWORKS) + " |", "|" + " --- |" * len(NETWORKS)]
    cells, picture = [], None
    for network in NETWORKS:
        text, report = cell(protocol.name, network)
        cells.append(text)
        if report is not None and picture is None:
            picture = network, report
        print(protocol.name, network, text, file=sys.stderr, flush=True)
    lines += ["| " + " | ".join(cells) + " |", ""]
    if any(text.startswith("HOLDS") for text in cells):
        run = typical(protocol.name)
        if run is not None:
            name = f"{protocol.name}-run.json"
            write_whole(str(pictures / name), shortened(run))
            lines += [f"[A run of {protocol.name}](images/protocols/{name})", ""]
    if picture is not None:
        network, report = picture
        assert report.result.counterexample is not None
        name = f"{protocol.name}.json"
        write_whole(str(pictures / name), shortened(report.result.counterexample))
        where = f"{protocol.name} on {network}: {report.result.counterexample.violates}"
        lines += [f"[A shortest counterexample of {where}](images/protocols/{name})", ""]
    return "\n".join(lines)


def main() -> None:
    """Check everything, then write the page; with --costs, write only the table of costs."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--costs", action="store_true", help="write only the table of costs")
    only_costs = parser.parse_args().costs
    costs = table_of_costs(protocol_names())
    if only_costs:
        put(PAGE, {"costs": f"\n{costs}\n"})
        return
    pictures = ROOT / "docs" / "images" / "protocols"
    pictures.mkdir(parents=True, exist_ok=True)
    parts = [rendered("protocols.md", date=time.strftime("%Y-%m-%d"), costs=costs)]
    parts += [section(protocol_named(name), pictures) for name in protocol_names()]
    write_whole(str(PAGE), "\n".join(parts))


if __name__ == "__main__":
    main()
