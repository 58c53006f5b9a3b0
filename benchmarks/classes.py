"""Writes the table of classes.md: the computations that each protocol generates.

python benchmarks/classes.py            # about 20 minutes on one core; keeps what is done
python benchmarks/classes.py --redraw   # writes the page again from the kept results

The results are in figures/classes.json. A protocol whose sources have not changed is not
enumerated again.
"""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path
from typing import Any, TypeAlias

from antecede.checker.check.spec import Spec, system_of
from antecede.checker.papers.computations.placement import Placement, placed
from antecede.checker.papers.computations.report import placement_object
from antecede.checker.render.files import write_whole
from antecede.checker.search.options import Bounds
from antecede.checker.support.errors import AntecedeError
from antecede.checker.support.registry import protocol_names

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from benchmarks.page import code_of, digest_of, lines_of, put  # noqa: E402 -- this folder is no package

PAGE = ROOT / "benchmarks" / "classes.md"
DATA = ROOT / "benchmarks" / "figures" / "classes.json"
NESTED = "script:[[1,2],[0,3],[0],[1]]"
"""The program with the smallest computation that we know to be causal and not one of Cykas."""
WORKLOADS = ("any", NESTED)
MOST = 4
Size: TypeAlias = tuple[int, tuple[str, ...], int]
"""Actors, workloads and messages in all."""
SIZES: tuple[Size, ...] = (
    (4, WORKLOADS, MOST),
    *((3, ("any",), most) for most in (MOST, 3)),
    (2, ("any",), 3),
    *((4, ("any",), most) for most in (3, 2)),  # trees of four nodes have no smaller size
)
"""The sizes in their order; a protocol that is too large gets the next one."""
LARGE = (
    *("hybrid-sps", "hybrid-sps-as-printed", "hybrid-sps-ghost", "hybrid-sps-told"),
    *("hybrid-cumulative", "newtop-null"),
)
"""Protocols that are too large for the first two sizes, which are not tried."""
STATES = 250_000

KEYS = (
    *("actors", "workload", "max_messages", "programs", "up_to_names", "states", "stuck"),
    *("exactly", "contained", "containing", "classes"),
)
"""The keys of the result that are kept."""

Found: TypeAlias = dict[str, Any]
"""A JSON object of `figures/classes.json`."""


def digest(name: str) -> str:
    """Return a digest of the protocol's own code and the sizes that its result depends on."""
    sizes = sizes_of(name)
    code = code_of(system_of(Spec(name, sizes[0][0], 1, properties=("causal-delivery",))))
    return digest_of([sorted(code.items()), sizes, STATES])


def sizes_of(name: str) -> tuple[Size, ...]:
    """Return the sizes that are tried for a protocol, in their order."""
    return SIZES[2 if name in LARGE else 0 :]


def enumerated(name: str) -> Found:
    """Return the placement of a protocol at the largest size that it admits, or the reason."""
    reason = ""
    for actors, workloads, most in sizes_of(name):
        try:
            found = placed(Spec(name, actors), workloads, most, Bounds(max_states=STATES))
        except AntecedeError as error:
            reason = reason or str(error)
            continue
        if found.stopped_by is None:
            return found_of(found)
        reason = f"more than {STATES:,} states"
    return {"unplaced": reason}


def found_of(placement: Placement) -> Found:
    """Return what the table shows of a placement."""
    whole = placement_object(placement)
    missing = whole["missing"]
    shown = missing and {key: missing[key] for key in ("class", "script")}
    return {**{key: whole[key] for key in KEYS}, "missing": shown}


def run(names: list[str]) -> None:
    """Enumerate the protocols that are new, and keep each result."""
    kept = json.loads(DATA.read_text(encoding="utf-8")) if DATA.exists() else {}
    for name in names:
        now = digest(name)
        if kept.get(name, {}).get("digest") != now:
            kept[name] = {"digest": now, **enumerated(name)}
            write_whole(str(DATA), lines_of(kept, 1) + "\n")
            print(row(name, kept[name]), file=sys.stderr, flush=True)


# The page


def row(name: str, found: Found) -> str:
    """Return the row of a protocol."""
    if "unplaced" in found:
        return f"| `{name}` | | not placed: {found['unplaced']} | | |"
    nested = " and the nested crowns" if NESTED in found["workload"] else ""
    size = f"{found['actors']} actors, {found['max_messages']} messages{nested}"
    sizes = found["classes"]["asynchronous"]
    counts = f"{sizes['generated']:,} of {sizes['computations']:,}"
    return f"| `{name}` | {size} | {counts} | {place(found)} | {missing(found)} |"


def place(found: Found) -> str:
    """Return where a protocol lies, and whether it can lose messages."""
    if found["exactly"]:
        words = f"exactly {' = '.join(found['exactly'])}"
    elif found["contained"]:
        words = f"between {found['contained'][-1]} and {found['containing'][0]}"
    else:
        words = f"some of {found['containing'][0]}, and all of no class"
    return f"{words}; some runs deliver not every message" if found["stuck"] else words


def missing(found: Found) -> str:
    """Return the script of a smallest computation that is not generated, and its class."""
    if found["missing"] is None:
        return ""
    script = json.dumps(found["missing"]["script"], separators=(",", ":"))
    return f"`{script}` ({found['missing']['class']})"


def table(results: dict[str, Found]) -> str:
    """Return the table of the page."""
    head = [
        "| protocol | programs | computations generated | place | a smallest one that is missing |",
        "|---|---|---|---|---|",
    ]
    return "\n".join([*head, *(row(name, found) for name, found in results.items())]) + "\n"


def main() -> None:
    """Write the page."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--redraw", action="store_true")
    parser.add_argument("names", nargs="*", help="only these protocols; by default all")
    given = parser.parse_args()
    if not given.redraw:
        run(given.names or sorted(protocol_names()))
    kept = json.loads(DATA.read_text(encoding="utf-8"))
    put(PAGE, {"table": table(dict(sorted(kept.items())))})


if __name__ == "__main__":
    main()
