"""Which protocols are safe, starve or grow where the application never stops: a table.

    python benchmarks/endless.py --max-states 9000 --max-seconds 60

Each cell is a check of `antecede check PROTOCOL --network … --workload endless:…`. Where that comes
to no verdict, what the protocol measures of itself is bounded (`--bound NAME=N`), and the check
asked again: what is found within the bound is true, and the run to the bound says what grows.
"""

from __future__ import annotations

import argparse

from attrs import evolve

from antecede.checker.check import check
from antecede.checker.errors import AntecedeError
from antecede.checker.paths.growth import Growth
from antecede.checker.paths.path import Path
from antecede.checker.registry import protocol_named
from antecede.checker.report.prose import Wording
from antecede.checker.search.options import Bounds
from antecede.checker.search.result import Result, Verdict
from antecede.checker.spec import Spec

PROTOCOLS = (
    ("mfss", "unordered"),
    ("mfss-fifo", "fifo"),
    ("cykas", "unordered"),
    ("cykas", "fifo"),
    ("tree", "fifo"),
    ("rst", "unordered"),
    ("cbcast", "unordered"),
    ("ses", "unordered"),
    ("ks", "fifo"),
    ("newtop", "fifo"),
    ("newtop-null", "fifo"),
    ("hybrid-basic", "unordered"),
    ("fifo", "unordered"),
)
SENDERS = {
    "Alice to both": "[[1,2],[],[]]",
    "and Carol to Alice": "[[1,2],[],[0]]",
    "and Bob to Carol": "[[1,2],[2],[0]]",
    "everybody": "[[1,2],[0,2],[0,1]]",
}
"""Who is busy, in words -> per actor to whom it sends."""

BROADCASTERS = {
    "Alice to both": "[[[1,2]],[],[]]",
    "and Carol to Alice": "[[[1,2]],[],[[0,1]]]",
    "and Bob to Carol": "[[[1,2]],[[0,2]],[]]",
    "everybody": "[[[1,2]],[[0,2]],[[0,1]]]",
}
"""The same for protocols of broadcasts, where each busy actor sends to all others."""

CASES = (
    *((1, who) for who in SENDERS),
    (2, "and Bob to Carol"),
)
"""(undelivered messages per sender, who sends)."""

LIMIT = 3
"""The bound on every measure that a protocol declares."""


def main() -> None:
    """Print the table, a row as soon as it is made."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--max-states", type=int, default=9_000)
    parser.add_argument("--max-seconds", type=float, default=60)
    parser.add_argument("--only", nargs="*", help="the rows of these protocols alone")
    asked = parser.parse_args()
    bounds = Bounds(max_states=asked.max_states, max_seconds=asked.max_seconds)
    heads = [f"{who}, B = {buffer}" for buffer, who in CASES]
    print(f"| protocol | network | {' | '.join(heads)} |")
    print(f"|---|---|{'---|' * len(heads)}")
    for protocol, network in PROTOCOLS:
        if not asked.only or protocol in asked.only:
            print(f"| `{protocol}` | {network} ", end="", flush=True)
            for buffer, who in CASES:
                rows = (BROADCASTERS if protocol == "cbcast" else SENDERS)[who]
                workload = f"endless:{buffer}:{rows}"
                spec = Spec(protocol=protocol, network=network, workload=workload)
                print(f"| {cell(spec, bounds)} ", end="", flush=True)
            print("|", flush=True)


def cell(spec: Spec, bounds: Bounds) -> str:
    """Return what was found: safe, starves, grows, or unknown with the reason."""
    try:
        result = check(spec, bounds=bounds).result
        measures = protocol_named(spec.protocol).measures
        if result.verdict is Verdict.INCOMPLETE and measures:
            limits = tuple(f"{name}={LIMIT}" for name in measures)
            result = check(evolve(spec, bound=limits), bounds=bounds).result
    except AntecedeError as error:
        return f"unknown: {error}"
    return told(result)


def told(result: Result) -> str:
    """Return a result in a few words."""
    path = result.counterexample
    if path is not None:
        found = f"**{lasso(path)}**"
    elif result.verdict is Verdict.HOLDS:
        return f"safe ({result.counts.unique_states:,})"
    else:
        found = f"unknown ({result.counts.unique_states:,} states)"
        if result.grown and (result.stopped_by or "").startswith("--bound"):
            found = f"within it nothing ({result.counts.unique_states:,})"
    return "; ".join([*map(growth, result.grown), found])


def growth(found: Growth) -> str:
    """Return who grows, after how many transitions, and whether something was late."""
    words = Wording.of(found.path)
    late = sorted({f"{type(f.packet).__name__} of {words.actor(f.src)}" for f in found.late})
    why = f", late: {', '.join(late)}" if late else ""
    who = f"{found.limit.name} of {words.actor(found.actor)}"
    return f"grows: {who} is {found.limit.bound} after {found.path.length}{why}"


def lasso(path: Path) -> str:
    """Return how long the run is, and what becomes of the message."""
    if path.loop is None:
        return f"{path.violates} violated after {path.length}"
    if not path.repeats:
        return f"{path.loop.ending} after {path.length}"
    return f"{path.loop.ending}: {path.loop.after} + {path.length - path.loop.after}"


if __name__ == "__main__":
    main()
