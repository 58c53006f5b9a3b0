"""Which protocols are safe, starve or grow where the application never stops: a table.

    python benchmarks/endless.py --page benchmarks/endless.md

Each cell is a check of `antecede check PROTOCOL --network … --workload endless:…`. If the check has
no verdict, it is repeated with a bound on the protocol's measures (`--bound NAME=N`; if it declares
no measure, on the greatest number in its state). A violation within the bound is real, and the run
to the bound shows which measure grows. A cell that is still undecided has the reason.
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
from page import part, put

from antecede.checker.check.pipeline import check
from antecede.checker.check.spec import Spec
from antecede.checker.paths.growth import Growth
from antecede.checker.paths.path import Path
from antecede.checker.render.prose import Wording
from antecede.checker.search.options import Bounds
from antecede.checker.search.result import Result, Verdict
from antecede.checker.support.errors import AntecedeError
from antecede.checker.support.registry import protocol_named

PROTOCOLS = (
    ("mfss", "unordered"),
    ("mfss-fifo", "fifo"),
    ("cykas", "unordered"),
    ("cykas", "fifo"),
    ("cykas-fair", "unordered"),
    ("cykas-fair", "fifo"),
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
    "+ Carol to Alice": "[[1,2],[],[0]]",
    "+ Bob to Carol": "[[1,2],[2],[0]]",
    "all to all": "[[1,2],[0,2],[0,1]]",
}
"""A description of the senders -> per actor its destinations."""

BROADCASTERS = {
    "Alice to both": "[[[1,2]],[],[]]",
    "+ Carol to Alice": "[[[1,2]],[],[[0,1]]]",
    "+ Bob to Carol": "[[[1,2]],[[0,2]],[]]",
    "all to all": "[[[1,2]],[[0,2]],[[0,1]]]",
}
"""As SENDERS, for protocols of broadcasts: each busy actor sends to all others."""

CASES = (
    *((1, who) for who in SENDERS),
    (2, "+ Bob to Carol"),
)
"""(undelivered messages per sender, description of the senders)."""

Notes = dict[tuple[str, str, str], str]
"""(protocol, network, measure) -> the first run to its limit, in words."""

LASTING = "**"
"""The end of a cell with a violation or a cycle, which more senders cannot prevent.

Additional senders need not send. A final state does not count, because they could send there.
"""

LIMITS = 3, 2
"""The bounds on every measure that a protocol declares, until one decides a cell."""


def main() -> None:
    """Print the table, or insert it into a page."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--max-states", type=int, default=8_000, help="of a check")
    parser.add_argument("--max-seconds", type=float, default=60, help="of a check")
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
        old = part(asked.page.read_text(encoding="utf-8"), "endless").splitlines()
        new = merged(old, "\n".join(lines).splitlines())
        put(asked.page, {"endless": "\n".join(["", *new, "", ""])})


def merged(old: list[str], new: list[str]) -> list[str]:
    """Return the rows and notes of both tables in the order of PROTOCOLS; new ones replace old."""
    heads = [line for line in new if not line.startswith(("| `", "* `"))]
    rows: dict[str, list[str]] = {}
    notes: dict[str, list[str]] = {}
    for lines in (old, new):
        made = {name_of(line) for line in lines if line.startswith("| `")}
        for kind, found in (("| `", rows), ("* `", notes)):
            for name in made:
                found[name] = [
                    line for line in lines if line.startswith(kind) and name_of(line) == name
                ]
    names = [f"{protocol} {network}" for protocol, network in PROTOCOLS]
    told = ([line for name in names for line in found.get(name, [])] for found in (rows, notes))
    return [*heads[:2], *next(told), *heads[2:], *next(told)]


def name_of(line: str) -> str:
    """Return the protocol and the network of a row or a note."""
    words = re.match(r". `([^`]*)` (?:\||on) (\S+?):? ", line)
    return f"{words[1]} {words[2]}" if words else ""


def table(bounds: Bounds, only: list[str] | None) -> Iterator[str]:
    """Yield the lines of the table and of the notes; print the time of each check to stderr."""
    heads = [f"{who}, B = {buffer}" for buffer, who in CASES]
    yield f"| protocol | network | {' | '.join(heads)} |"
    yield f"|---|---|{'---|' * len(heads)}"
    notes: Notes = {}
    for protocol, network in PROTOCOLS:
        if not only or protocol in only:
            cells = " | ".join(row(protocol, network, bounds, notes))
            yield f"| `{protocol}` | {network} | {cells} |"
    yield "\nShortest runs that reach a limit:\n"
    for (protocol, network, _name), note in notes.items():
        yield f"* `{protocol}` on {network}: {note}"


def without_order(spec: Spec) -> tuple[str, ...]:
    """Return the default properties except causal delivery, which nobody can violate."""
    return tuple(p.name for p in spec.system.properties if p.name != "causal-delivery")


def row(protocol: str, network: str, bounds: Bounds, notes: Notes) -> Iterator[str]:
    """Yield the cells of one protocol."""
    known: list[tuple[Spec, str]] = []
    for buffer, who in CASES:
        began = time.monotonic()
        rows = (BROADCASTERS if protocol == "cbcast" else SENDERS)[who]
        spec = Spec(protocol=protocol, network=network, workload=f"endless:{buffer}:{rows}")
        if buffer == 1 and (protocol != "cbcast" or who == "Alice to both"):
            spec = evolve(spec, properties=without_order(spec))
        text = next((t for less, t in known if allows(spec, less)), None)
        text = text or cell(spec, bounds, notes)
        if text.endswith(LASTING):
            known.append((spec, text))
        spent = time.monotonic() - began
        print(f"{protocol}, {network}, {who}, {buffer}: {text}, {spent:.0f} s", file=sys.stderr)
        yield text


def allows(spec: Spec, less: Spec) -> bool:
    """Return whether every run of the endless workload of `less` is a run of `spec`."""
    rows = [
        [json.loads(s.workload.split(":", 2)[2]), s.workload.split(":")[1]] for s in (spec, less)
    ]
    (more, buffer), (fewer, least) = rows
    senders = zip(more, fewer, strict=True)
    return int(least) <= int(buffer) and all(to in its for its, row in senders for to in row)


def cell(spec: Spec, bounds: Bounds, notes: Notes) -> str:
    """Return the result: safe, starves, grows, or unknown; note the first runs to limits."""
    declared, grown = protocol_named(spec.protocol).measures, list[Growth]()
    # The greatest number may be an actor's own number, so smaller bounds are useless.
    measures, limits = (tuple(declared), LIMITS) if declared else (("greatest",), LIMITS[:1])
    try:
        result, used = check(spec, bounds=bounds).result, LIMITS[0]
        for limit in limits:
            if result.verdict is not Verdict.INCOMPLETE or cut(result):
                break
            used = limit
            within = evolve(spec, bound=tuple(f"{name}={limit}" for name in measures))
            result = check(within, bounds=bounds).result
            grown += result.grown if limit == LIMITS[0] else ()
    except AntecedeError as error:
        return f"unknown: {error}"
    for found in grown:
        notes.setdefault((spec.protocol, spec.network or "", found.limit.name), growth(found))
    names = ", ".join(sorted(found.limit.name for found in grown))
    text = told(result, used)
    return f"grows ({names}); {text}" if names else text


def cut(result: Result) -> bool:
    """Return whether everything within a limit was explored."""
    return (result.stopped_by or "").startswith("--bound")


def told(result: Result, limit: int) -> str:
    """Return a result in a few words."""
    states, path = f"{result.counts.unique_states:,}", result.counterexample
    if path is not None:
        found = lasso(path)
        return f"**{found}**" if path.loop is None or path.repeats else found
    if result.verdict is Verdict.HOLDS:
        return f"safe ({states})"
    if cut(result):
        return f"else safe ({states}{f', below {limit}' if limit < LIMITS[0] else ''})"
    return f"unknown ({states} states, {(result.stopped_by or '').removesuffix(' reached')})"


def growth(found: Growth) -> str:
    """Return the growing actor, the number of transitions, and the late packets, in words."""
    words = Wording.of(found.path)
    late = [f"{type(f.packet).__name__} from {words.actor(f.src)}" for f in found.late]
    why = f"; late: {', '.join(dict.fromkeys(late))}" if late else ""
    who = f"{found.limit.name} of {words.actor(found.actor)}"
    return f"{who} reaches {found.limit.bound} after {found.path.length} transitions{why}"


def lasso(path: Path) -> str:
    """Return the length of the run and the fate of the message, in words."""
    if path.loop is None:
        return f"{path.violates} violated after {path.length}"
    if not path.repeats:
        return f"{path.loop.ending} after {path.length}"
    return f"{path.loop.ending}: {path.loop.after} + {path.length - path.loop.after}"


if __name__ == "__main__":
    main()
