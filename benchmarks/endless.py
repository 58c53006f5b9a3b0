"""Which protocols are safe, starve or grow where the application never stops: a table.

    python benchmarks/endless.py --max-states 20000

Each row is one check of `antecede check PROTOCOL --workload endless:…`; an infinite graph ends at
the bound, where HOLDS is never said.
"""

from __future__ import annotations

import argparse

from antecede.checker.check import check
from antecede.checker.errors import AntecedeError
from antecede.checker.paths.path import Path
from antecede.checker.search.options import Bounds
from antecede.checker.spec import Spec

PROTOCOLS = (
    ("mfss", "unordered"),
    ("mfss-fifo", "fifo"),
    ("cykas", "unordered"),
    ("cykas", "fifo"),
    ("tree", "fifo"),
    ("ks", "fifo"),
    ("rst", "unordered"),
    ("ses", "unordered"),
    ("newtop", "fifo"),
    ("newtop-null", "fifo"),
    ("hybrid-basic", "unordered"),
)
WORKLOADS = {
    "everybody": "endless:1",
    "Alice to both, Carol to Alice": "endless:1:[[1,2],[],[0]]",
    "Alice to both, the others on": "endless:1:[[1,2],[2],[0]]",
}


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--max-states", type=int, default=20_000)
    parser.add_argument("--max-seconds", type=float, default=120)
    asked = parser.parse_args()
    bounds = Bounds(max_states=asked.max_states, max_seconds=asked.max_seconds)
    print("| protocol | network | who sends | states | verdict |\n|---|---|---|---|---|")
    for protocol, network in PROTOCOLS:
        for who, workload in WORKLOADS.items():
            spec = Spec(protocol=protocol, network=network, workload=workload)
            print(f"| `{protocol}` | {network} | {who} | {cells(spec, bounds)} |", flush=True)


def cells(spec: Spec, bounds: Bounds) -> str:
    """Return the number of states, and what was found."""
    try:
        result = check(spec, bounds=bounds).result
    except AntecedeError as error:
        return f"– | {error}"
    states = f"{result.counts.unique_states:,}"
    path = result.counterexample
    if path is None:
        return f"{states} | {result.verdict}{f', {result.stopped_by}' * bool(result.stopped_by)}"
    return f"{states} | {path.violates} violated: {lasso(path)}"


def lasso(path: Path) -> str:
    """Return how long the run is, and what becomes of the message."""
    if path.loop is None:
        return f"{path.length} transitions"
    if not path.repeats:
        return f"{path.length} transitions, then nothing more can happen ({path.loop.ending})"
    cycle = path.length - path.loop.after
    return f"{path.loop.after} transitions, then {cycle} for ever ({path.loop.ending})"


if __name__ == "__main__":
    main()
