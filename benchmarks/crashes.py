"""Writes docs/crashes.md: what each protocol does when one actor crashes, as checked.

python benchmarks/crashes.py          # some minutes
python benchmarks/crashes.py rst ses  # only these rows, on standard output
"""

from __future__ import annotations

import argparse
import json
import sys
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TypeAlias

from antecede.checker.check.pipeline import check
from antecede.checker.check.spec import Spec, system_of
from antecede.checker.graphs.backwards import first_lost
from antecede.checker.model import State
from antecede.checker.render.files import write_whole
from antecede.checker.search.options import Bounds, Options
from antecede.checker.search.plain import BreadthFirst, first_states
from antecede.checker.search.result import Verdict
from antecede.checker.semantics.crashes import is_crash, is_live
from antecede.checker.semantics.judge import undelivered
from antecede.checker.semantics.transition import System
from antecede.checker.support.errors import AntecedeError
from antecede.checker.support.registry import protocol_named, protocol_names

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from benchmarks.page import rendered  # noqa: E402 -- this folder is no package
from benchmarks.protocols import FIXED, WORKLOADS  # noqa: E402

PAGE = ROOT / "docs" / "crashes.md"
MOST_STATES = 40_000
"""The most states of a system in which we look who waits: they are explored in plain Python."""
MOST_OF_BROADCASTS = 3_000_000
"""The most states of a check with broadcasts."""

Script: TypeAlias = list[list[int]]
Message: TypeAlias = tuple[int, int, int]
"""Sender, number, destination."""
Waiting: TypeAlias = Mapping[int | None, set[str]]
"""The crashed actor, or None -> the messages that may wait forever, as texts such as `0→1`."""

ALL_PAIRS: list[Script] = [[[1, 2], [2, 0], [0, 1]]]
"""Each of three actors sends to both others."""
TRIANGLES: list[Script] = [[[2, 1], [2], []], [[], [0, 2], [0]], [[1], [], [1, 0]]]
"""One actor sends to both others, and one of these to the other; each of three actors begins."""
TWO_SIZES = {"all pairs": ALL_PAIRS, "triangles": TRIANGLES}


def one_sender(actors: int) -> list[Script]:
    """Return the scripts in which one actor sends a message to each other actor."""
    others = [[to for to in range(actors) if to != sender] for sender in range(actors)]
    return [[others[i] if i == sender else [] for i in range(actors)] for sender in range(actors)]


def scripts_of(protocol: str) -> dict[str, list[Script]]:
    """Return the scripts to try, the best ones first; all of one kind together make a table."""
    if protocol in FIXED:
        return {"one sender": one_sender(FIXED[protocol][0][0])}
    return TWO_SIZES


def is_delivered(system: System, state: State, message: Message) -> bool:
    """Return whether a message was sent and delivered."""
    sender, number, _ = message
    left = [each.number for each in undelivered(state, sender)]
    return system.workload.sent(state.workload[sender]) >= number and number not in left


def crashed_in(state: State) -> int | None:
    """Return the actor that has crashed, or None."""
    down = [actor for actor in range(len(state.actors)) if not is_live(state, actor)]
    return down[0] if down else None


def waiting(system: System, search: BreadthFirst, script: Script) -> Waiting:
    """Return the messages between live actors that some run leaves undelivered forever.

    Such a run reaches a state from which no transitions but crashes lead to the delivery.
    """
    rows, states = search.graph.rows.without(search.graph.rows.which(is_crash)), search.graph.states
    down = [crashed_in(state) for state in states]
    stuck = defaultdict[int | None, set[str]](set)
    for sender, row in enumerate(script):
        for number, to in enumerate(row, 1):
            message = (sender, number, to)
            good = bytearray(is_delivered(system, state, message) for state in states)
            first_lost(rows.first, rows.target, good)
            for actor in {down[k] for k, can in enumerate(good) if not can} - {sender, to}:
                stuck[actor].add(f"{sender}→{to}")
    return stuck


def of_scripts(protocol: str, scripts: Sequence[Script]) -> Waiting | None:
    """Return who waits under any of the scripts; None if one of them has too many states."""
    stuck = defaultdict[int | None, set[str]](set)
    for script in scripts:
        workload = f"script:{json.dumps(script, separators=(',', ':'))}"
        system = system_of(Spec(protocol, len(script), workload=workload, crashes="1"))
        search = first_states(system, MOST_STATES)
        if search.frontier:
            return None
        for actor, messages in waiting(system, search, script).items():
            stuck[actor] |= messages
    return stuck


def who_waits(protocol: str) -> str:
    """Return which messages between live actors may wait forever for which crashed actor."""
    if protocol in WORKLOADS:
        return "broadcasts only"
    for kind, scripts in scripts_of(protocol).items():
        try:
            stuck = of_scripts(protocol, scripts)
        except AntecedeError as error:
            return f"not checked: {error}".partition(" (line")[0]
        if stuck is not None:
            without = stuck.get(None, set[str]())
            parts = [f"without a crash: {', '.join(sorted(without))}"] if without else []
            for actor in sorted(actor for actor in stuck if actor is not None):
                if more := sorted(stuck[actor] - without):
                    parts.append(f"{actor}: {', '.join(more)}")
            fewer = " (triangles)" if kind == "triangles" else ""
            return f"{'; '.join(parts) or 'none'}{fewer}"
    return f"unknown: more than {MOST_STATES:,} states"


def of_broadcasts(protocol: str, prop: str) -> str:
    """Return the verdict on a property if each of three actors broadcasts a message."""
    if protocol in FIXED:
        return "-"
    for crashes in ("0", "1"):
        spec = Spec(protocol, 3, 1, workload="broadcast", properties=(prop,), crashes=crashes)
        try:
            bounds = Bounds(max_states=MOST_OF_BROADCASTS)
            result = check(spec, Options(), bounds, selfcheck="off").result
        except AntecedeError:
            return "-"
        if result.verdict is Verdict.ERROR:
            return "-"
        run = result.counterexample
        if run is not None:
            return f"VIOLATED ({run.length}{' without a crash' if crashes == '0' else ''})"
        if result.verdict is not Verdict.HOLDS:
            return f"{result.verdict}"
    return f"HOLDS ({result.counts.unique_states:,})"


def table_rows(names: list[str]) -> Iterator[str]:
    """Yield a row of the table per protocol."""
    for name in names:
        network = protocol_named(name).network
        cells = [who_waits(name)]
        cells += [of_broadcasts(name, prop) for prop in ("all-delivered", "agreement")]
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
        sizes = {"most": f"{MOST_STATES:,}", "broadcasts": f"{MOST_OF_BROADCASTS:,}"}
        write_whole(str(PAGE), rendered("crashes.md", rows=rows, **sizes))


if __name__ == "__main__":
    main()
