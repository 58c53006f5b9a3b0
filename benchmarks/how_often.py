"""How often clocks with few entries deliver out of causal order: random walks, 95 % intervals.

    python benchmarks/how_often.py [WALKS]

Each walk goes from the initial state to a final state, and every enabled transition is equally
likely. It counts if a delivery violates causal order. This does not model a network's delays, so
only comparisons of the figures are meaningful. Intervals are Wilson's.
"""

from __future__ import annotations

import argparse
import random
from math import sqrt
from pathlib import Path

from antecede.checker.check.spec import Spec, system_of
from antecede.checker.semantics.transition import System, enabled, initial_state, successor

FILE = Path(__file__).parent.parent / "specs" / "museum" / "few_entries.py"
ROWS = (
    ("PROBABILISTIC", 3, 1),
    ("PROBABILISTIC", 3, 2),
    ("PROBABILISTIC_4_2", 4, 1),
    ("PROBABILISTIC_4_2", 4, 2),
    ("BLOOM", 3, 1),
    ("BLOOM", 3, 2),
    ("BLOOM", 4, 2),
    ("ONE_EACH", 3, 2),
)


def violates(system: System, draw: random.Random) -> bool:
    """Walk to a final state; return whether a delivery on the way violates causal order."""
    state = initial_state(system)
    while transitions := enabled(system, state):
        outcome = successor(system, state, draw.choice(transitions))
        if any(delivery.causally_late for delivery in outcome.deliveries):
            return True
        state = outcome.state
    return False


def interval(hits: int, walks: int, z: float = 1.96) -> tuple[float, float]:
    """Return Wilson's interval of a share."""
    share, spread = hits / walks, z * z / walks
    middle = (share + spread / 2) / (1 + spread)
    half = z * sqrt(share * (1 - share) / walks + spread / walks / 4) / (1 + spread)
    return max(0.0, middle - half), min(1.0, middle + half)


def main() -> None:
    """Print a table."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("walks", type=int, nargs="?", default=2000, metavar="WALKS")
    walks = parser.parse_args().walks
    print(f"{walks:,} random walks each, seed 1\n")
    print("| clock | actors | messages each | violated | 95 % interval |\n|---|---|---|---|---|")
    for name, actors, messages in ROWS:
        protocol = f"{FILE}:{name}"
        spec = Spec(protocol=protocol, actors=actors, messages=messages, workload="broadcast")
        system, draw = system_of(spec), random.Random(1)
        hits = sum(violates(system, draw) for _ in range(walks))
        low, high = interval(hits, walks)
        label = system.protocol.summary
        print(f"| {label} | {actors} | {messages} | {hits / walks:.1%} | {low:.1%} to {high:.1%} |")


if __name__ == "__main__":
    main()
