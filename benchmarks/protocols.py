"""Writes docs/protocols.md and its pictures: what each protocol guarantees, as checked.

python benchmarks/protocols.py    # a few minutes
"""

from __future__ import annotations

import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from checker.check import CheckReport, check
from checker.engine import Options
from checker.errors import CausalCheckError
from checker.formats import write_whole
from checker.formats.registry import write_trace
from checker.model import Protocol
from checker.registry import protocol_named, protocol_names
from checker.result import Verdict
from checker.search import Bounds
from checker.spec import Spec

ROOT = Path(__file__).resolve().parent.parent
NETWORKS = ("unordered", "fifo", "duplicating", "fifo+lossy:1", "duplicating+lossy")
SIZES = ((3, 1), (2, 2), (3, 2))
WORKLOADS = {"cbcast": "broadcast"}
MOST_STATES = 3_000_000

HEAD = """# The protocols

What each protocol guarantees on which network, as `causalcheck` found it: causal delivery,
integrity (nothing twice, nothing that was not sent) and, at final states, everything delivered.
Each cell is up to three checks of every interleaving: three actors with one message each, two with
two, three with two where that is at most 3 million states. HOLDS says how far it got, and the
number of states of all of them; a violation names the property and the length of the shortest
counterexample. The specs in [specs/protocols](../specs/protocols) go further. Made by
`python benchmarks/protocols.py`, {date}.

`duplicating` delivers every packet any number of times, `lossy:1` loses one packet at most,
`lossy` any number. A protocol that repeats its packets (it has a timeout) may never come to a
final state there: see the property `can-deliver`.
"""


def cell(name: str, network: str) -> tuple[str, CheckReport | None]:
    """Return what was found of a protocol on a network, and the check that found a violation."""
    states, reached = 0, ""
    for actors, messages in SIZES:
        workload = WORKLOADS.get(name, "any")
        spec = Spec(name, "", actors, messages, network, workload)
        try:
            report = check(spec, Options(), Bounds(max_states=MOST_STATES), selfcheck="off")
        except CausalCheckError as error:
            return f"not checked: {error}", None
        result = report.result
        if result.verdict is Verdict.VIOLATED and result.counterexample is not None:
            path = result.counterexample
            return f"{path.violates} VIOLATED ({path.length})", report
        if result.verdict is Verdict.INCOMPLETE and reached:
            break
        if result.verdict is not Verdict.HOLDS:
            return f"{result.verdict}: {result.error or result.stopped_by}", None
        states += (result.unreduced or result.counts).unique_states
        reached = f"{actors}×{messages}"
    return f"HOLDS to {reached} ({states:,})", None


def section(protocol: Protocol, pictures: Path) -> str:
    """Return the section of one protocol; write the picture of its first counterexample."""
    lines = [f"## {protocol.name}", "", f"{protocol.summary}. Source: {protocol.source}.", ""]
    lines += ["| " + " | ".join(NETWORKS) + " |", "|" + " --- |" * len(NETWORKS)]
    cells, picture = [], None
    for network in NETWORKS:
        text, report = cell(protocol.name, network)
        cells.append(text)
        if report is not None and picture is None:
            picture = network, report
        print(protocol.name, network, text, file=sys.stderr, flush=True)
    lines += ["| " + " | ".join(cells) + " |", ""]
    if picture is not None:
        network, report = picture
        assert report.result.counterexample is not None
        file = pictures / f"{protocol.name}.svg"
        write_trace(report.result.counterexample, str(file), report=report)
        where = f"{protocol.name} on {network}: {report.result.counterexample.violates}"
        lines += [f"![A shortest counterexample of {where}](images/protocols/{file.name})", ""]
    return "\n".join(lines)


def main() -> None:
    """Check everything, then write the page."""
    pictures = ROOT / "docs" / "images" / "protocols"
    pictures.mkdir(parents=True, exist_ok=True)
    parts = [HEAD.format(date=time.strftime("%Y-%m-%d"))]
    parts += [section(protocol_named(name), pictures) for name in protocol_names()]
    write_whole(str(ROOT / "docs" / "protocols.md"), "\n".join(parts))


if __name__ == "__main__":
    main()
