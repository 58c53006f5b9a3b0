"""Writes docs/crashes.md: what each protocol does when one actor crashes, as checked.

python benchmarks/crashes.py          # some minutes
python benchmarks/crashes.py rst ses  # only these rows, on standard output
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator
from pathlib import Path

from attrs import frozen

from antecede.checker.check.pipeline import check
from antecede.checker.check.spec import Spec, system_of
from antecede.checker.graphs.backwards import first_lost
from antecede.checker.model import State
from antecede.checker.render.files import write_whole
from antecede.checker.search.options import Bounds, Options
from antecede.checker.search.plain import BreadthFirst, first_states
from antecede.checker.search.result import Verdict
from antecede.checker.semantics.crashes import is_crash
from antecede.checker.semantics.judge import undelivered
from antecede.checker.semantics.transition import System
from antecede.checker.support.amounts import counted
from antecede.checker.support.errors import AntecedeError
from antecede.checker.support.registry import protocol_named, protocol_names

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from benchmarks.page import rendered  # noqa: E402 -- this folder is no package
from benchmarks.protocols import FIXED, WORKLOADS  # noqa: E402

PAGE = ROOT / "docs" / "crashes.md"
SAFETY = ("causal-delivery", "integrity")
MOST_STATES = 40_000
"""The most states of a system in which we look who waits: they are explored in plain Python."""


def actors_of(protocol: str) -> int:
    """Return the number of actors of a protocol with a fixed number; 3 for the others."""
    return FIXED.get(protocol, ((3, 1),))[0][0]


@frozen
class Scene:
    """A script of sends, and the actor that may crash."""

    title: str
    script: tuple[tuple[int, ...], ...]
    crashed: int

    @property
    def messages(self) -> list[tuple[int, int, int]]:
        """The messages between the other actors: sender, number and destination."""
        return [
            (sender, number, to)
            for sender, row in enumerate(self.script)
            for number, to in enumerate(row, 1)
            if self.crashed not in (sender, to)
        ]

    def system(self, protocol: str) -> System:
        """Return the system with a protocol on the network that it needs."""
        actors = max(len(self.script), actors_of(protocol))
        script = (*self.script, *((),) * (actors - len(self.script)))
        rows = ",".join(str(list(row)).replace(" ", "") for row in script)
        workload, crashes = f"script:[{rows}]", f"1:of={self.crashed}"
        return system_of(Spec(protocol, actors, workload=workload, crashes=crashes))


RECEIVER = Scene("a receiver crashes", ((3, 1), (2,), (1,), ()), 3)
SENDER = Scene("a sender crashes", ((2, 1), (2,), ()), 0)
SCENES = (RECEIVER, SENDER)


def is_delivered(system: System, state: State, message: tuple[int, int, int]) -> bool:
    """Return whether a message was sent and delivered."""
    sender, number, _ = message
    left = [each.number for each in undelivered(state, sender)]
    return system.workload.sent(state.workload[sender]) >= number and number not in left


def waiting(system: System, search: BreadthFirst, scene: Scene) -> dict[str, bool]:
    """Return the messages that some run leaves undelivered forever, as texts such as `0→1`.

    Such a run reaches a state from which no transitions but crashes lead to the delivery.

    Returns:
        For each message, whether it needs a crash.
    """
    rows, states = search.graph.rows.without(search.graph.rows.which(is_crash)), search.graph.states
    stuck = {}
    for message in scene.messages:
        good = bytearray(is_delivered(system, state, message) for state in states)
        if first_lost(rows.first, rows.target, good) is not None:
            bad = (state for state, is_good in zip(states, good, strict=True) if not is_good)
            stuck[f"{message[0]}→{message[2]}"] = all(state.crashes == 0 for state in bad)
    return stuck


def of_broadcasts(protocol: str, scene: Scene) -> str:
    """Return whether live actors may wait forever under a protocol for broadcasts."""
    crashes = f"1:of={min(scene.crashed, 2)}"
    spec = Spec(
        protocol, 3, 1, workload="broadcast", properties=("all-delivered",), crashes=crashes
    )
    result = check(spec, Options(), selfcheck="off").result
    waits = "none" if result.verdict is Verdict.HOLDS else "some"
    return f"{waits}; {result.counts.unique_states:,} states (a broadcast of each of 3 actors)"


def cell(protocol: str, scene: Scene) -> str:
    """Return which messages between live actors may wait forever for a crashed actor."""
    if protocol in WORKLOADS:
        return of_broadcasts(protocol, scene)
    try:
        system = scene.system(protocol)
        search = first_states(system, MOST_STATES)
        if search.frontier:
            return f"unknown: more than {MOST_STATES:,} states"
        stuck = waiting(system, search, scene)
    except AntecedeError as error:
        return f"not checked: {error}".partition(" (line")[0]
    size = counted(search.unique, "state")
    pairs = [name if needs else f"{name} (even without a crash)" for name, needs in stuck.items()]
    return f"{', '.join(pairs) or 'none'}; {size}"


def safety(protocol: str) -> str:
    """Return whether a protocol is safe if one of three actors crashes at any time."""
    actors, workload = actors_of(protocol), WORKLOADS.get(protocol, "any")
    spec = Spec(protocol, actors, 1, workload=workload, properties=SAFETY, crashes="1")
    try:
        result = check(spec, Options(), Bounds(max_states=3_000_000), selfcheck="off").result
    except AntecedeError as error:
        return f"not checked: {error}"
    if result.verdict is Verdict.VIOLATED and result.counterexample is not None:
        return f"{result.counterexample.violates} VIOLATED ({result.counterexample.length})"
    return f"{result.verdict} ({result.counts.unique_states:,})"


def table_rows(names: list[str]) -> Iterator[str]:
    """Yield a row of the table per protocol."""
    for name in names:
        network = protocol_named(name).network
        cells = [safety(name), *(cell(name, scene) for scene in SCENES)]
        yield f"| `{name}` | {network} | {' | '.join(cells)} |"


def main() -> None:
    """Write the page, or print the rows that were asked for."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("names", nargs="*", metavar="PROTOCOL", help="print only these rows")
    names = parser.parse_args().names
    rows = []
    for row in table_rows(names or list(protocol_names())):
        print(row, flush=True)
        rows.append(row)
    if not names:
        write_whole(str(PAGE), rendered("crashes.md", rows=rows, most=f"{MOST_STATES:,}"))


if __name__ == "__main__":
    main()
