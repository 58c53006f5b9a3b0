"""Which protocols are safe, starve or grow where the application never stops: a table.

    python benchmarks/endless.py --page docs/liveness.md

Each cell is a check of `antecede check PROTOCOL --network … --workload endless:…`. Where that comes
to no verdict, what the protocol measures of itself is bounded (`--bound NAME=N`; if it declares no
measure, the greatest number in its state), and the check asked again: what is found within the
bound is true, and the run to the bound says what grows. What is undecided then says why.
"""

from __future__ import annotations

import argparse
import json
import pathlib
import re
import sys
import time
from collections.abc import Iterator

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

Notes = dict[tuple[str, str, str], str]
"""(protocol, network, measure) -> the first run that was found to its limit, in words."""

LASTING = "**"
"""How a cell ends that shows a violation or a cycle; it is one of all workloads with more senders,
who need not send. (Where nothing more can happen, somebody else might still send.)"""

LIMIT = 3
"""The bound on every measure that a protocol declares."""


MARKS = "<!-- begin: benchmarks/endless.py -->\n", "<!-- end: benchmarks/endless.py -->\n"
"""Between these lines of a page the table is put."""


def main() -> None:
    """Print the table, or put it into a page."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--max-states", type=int, default=24_000, help="of a check")
    parser.add_argument("--max-seconds", type=float, default=90, help="of a check")
    parser.add_argument("--only", nargs="*", help="the rows of these protocols alone")
    parser.add_argument(
        "--page", type=pathlib.Path, help="a page with the lines that the table is put in"
    )
    asked = parser.parse_args()
    bounds = Bounds(max_states=asked.max_states, max_seconds=asked.max_seconds)
    lines = []
    for line in table(bounds, asked.only):
        print(line, flush=True)
        lines.append(line)
    if asked.page is not None:
        put(asked.page, "\n".join(lines))


def put(page: pathlib.Path, text: str) -> None:
    """Put a text between the marks of a page."""
    begin, end = MARKS
    old = page.read_text(encoding="utf-8")
    found = re.compile(f"{re.escape(begin)}.*?{re.escape(end)}", re.DOTALL)
    if not found.search(old):
        sys.exit(f"{page} has no lines {begin.strip()} and {end.strip()}; nothing was changed")
    new = page.with_suffix(".new")
    new.write_text(found.sub(lambda _: f"{begin}\n{text}\n\n{end}", old), encoding="utf-8")
    new.replace(page)


def table(bounds: Bounds, only: list[str] | None) -> Iterator[str]:
    """Yield the lines of the table, and of what grows; what takes how long goes to stderr."""
    heads = [f"{who}, B = {buffer}" for buffer, who in CASES]
    yield f"| protocol | network | {' | '.join(heads)} |"
    yield f"|---|---|{'---|' * len(heads)}"
    notes: Notes = {}
    for protocol, network in PROTOCOLS:
        if not only or protocol in only:
            cells = " | ".join(row(protocol, network, bounds, notes))
            yield f"| `{protocol}` | {network} | {cells} |"
    yield "\nThe shortest runs to a limit:\n"
    for (protocol, network, _name), note in notes.items():
        yield f"* `{protocol}` on {network}: {note}"


def row(protocol: str, network: str, bounds: Bounds, notes: Notes) -> Iterator[str]:
    """Yield the cells of one protocol."""
    known: list[tuple[Spec, str]] = []
    for buffer, who in CASES:
        began = time.monotonic()
        rows = (BROADCASTERS if protocol == "cbcast" else SENDERS)[who]
        spec = Spec(protocol=protocol, network=network, workload=f"endless:{buffer}:{rows}")
        text = next((t for less, t in known if allows(spec, less)), None)
        text = text or cell(spec, bounds, notes)
        if text.endswith(LASTING):
            known.append((spec, text))
        spent = time.monotonic() - began
        print(f"{protocol}, {network}, {who}, {buffer}: {text}, {spent:.0f} s", file=sys.stderr)
        yield text


def allows(spec: Spec, less: Spec) -> bool:
    """Return whether every run of an endless workload is one of another, where more may be sent."""
    rows = [
        [json.loads(s.workload.split(":", 2)[2]), s.workload.split(":")[1]] for s in (spec, less)
    ]
    (more, buffer), (fewer, least) = rows
    senders = zip(more, fewer, strict=True)
    return int(least) <= int(buffer) and all(to in its for its, row in senders for to in row)


def cell(spec: Spec, bounds: Bounds, notes: Notes) -> str:
    """Return what was found: safe, starves, grows, or unknown; note the first runs to limits."""
    protocol = protocol_named(spec.protocol)
    try:
        result = check(spec, bounds=bounds).result
        if result.verdict is Verdict.INCOMPLETE:
            limits = tuple(f"{name}={LIMIT}" for name in protocol.measures or ("greatest",))
            result = check(evolve(spec, bound=limits), bounds=bounds).result
    except AntecedeError as error:
        return f"unknown: {error}"
    for found in result.grown:
        notes.setdefault((spec.protocol, spec.network or "", found.limit.name), growth(found))
    return told(result)


def told(result: Result) -> str:
    """Return a result in a few words."""
    states, path = f"{result.counts.unique_states:,}", result.counterexample
    by_limit = (result.stopped_by or "").startswith("--bound")
    if path is not None:
        found = lasso(path)
        if path.loop is None or path.repeats:
            found = f"**{found}**"
    elif result.verdict is Verdict.HOLDS:
        found = f"safe ({states})"
    else:
        why = (result.stopped_by or "").removesuffix(" reached")
        found = f"else safe ({states})" if by_limit else f"unknown ({states} states, {why})"
    names = ", ".join(sorted(growth.limit.name for growth in result.grown))
    return f"grows ({names}); {found}" if names else found


def growth(found: Growth) -> str:
    """Return who grows, after how many transitions, and what was late."""
    words = Wording.of(found.path)
    late = [f"{type(f.packet).__name__} from {words.actor(f.src)}" for f in found.late]
    why = f"; late: {', '.join(dict.fromkeys(late))}" if late else ""
    who = f"{found.limit.name} of {words.actor(found.actor)}"
    return f"{who} comes to {found.limit.bound} after {found.path.length} transitions{why}"


def lasso(path: Path) -> str:
    """Return how long the run is, and what becomes of the message."""
    if path.loop is None:
        return f"{path.violates} violated after {path.length}"
    if not path.repeats:
        return f"{path.loop.ending} after {path.length}"
    return f"{path.loop.ending}: {path.loop.after} + {path.length - path.loop.after}"


if __name__ == "__main__":
    main()
