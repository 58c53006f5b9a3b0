"""What a user of default options gets: a check of each protocol of the library at two sizes.

python benchmarks/defaults.py                # half an hour; puts the table into README.md
python benchmarks/defaults.py --only '^rst'  # measures only these protocols again
"""

from __future__ import annotations

import argparse
import json
import re
import resource
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from antecede.checker.support.registry import protocol_names  # noqa: E402
from benchmarks.page import part, put  # noqa: E402
from benchmarks.protocols import FIXED, WORKLOADS  # noqa: E402
from benchmarks.run import README, machine, show, spent, table  # noqa: E402

SIZES = ("3x2", "3x3")
FIXED_SIZES = ("4x1", "4x2")
"""The sizes for protocols with four actors."""
LIMIT = 60
"""Seconds after which a check stops."""
COLUMNS = ["check", "verdict", "unique", "total", "s", "CPU s", "total/s", "peak MB"]


def checks(name: str) -> list[str]:
    """Return the checks of a protocol, such as `rst 3x2`, with the options that they need."""
    workload = f" --workload {WORKLOADS[name]}" if name in WORKLOADS else ""
    return [f"{name} {size}{workload}" for size in (FIXED_SIZES if name in FIXED else SIZES)]


def result(check: str) -> dict[str, Any]:
    """Run a check with default options; return its JSON result.

    Raises:
        SystemExit: the command failed.
    """
    protocol, bounds, *options = check.split()
    actors, messages = bounds.split("x")
    options += ["--actors", actors, "--messages", messages, "--max-seconds", str(LIMIT)]
    program = [sys.executable, "-m", "antecede", "check", protocol, *options, "--json", "-"]
    done = subprocess.run(program, cwd=ROOT, capture_output=True, text=True, check=False)
    if not done.stdout:
        raise SystemExit(f"{check}: exit code {done.returncode}\n{done.stderr}")
    found: dict[str, Any] = json.loads(done.stdout)
    return found


def facts(check: str, found: dict[str, Any]) -> list[str]:
    """Return the cells of a check that do not depend on the machine, unless the search stopped."""
    verdict = found["verdict"]
    if (found["stopped_by"] or "").startswith("--max-seconds"):
        verdict = f"stopped after {LIMIT} s"
    counts = found["explored"]  # what was visited, for that takes the time
    return [check, verdict, f"{counts['unique_states']:,}", f"{counts['total_states']:,}"]


def measured(check: str) -> list[str]:
    """Run a check; return its row."""
    before, began = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
    found = result(check)
    seconds, after = time.perf_counter() - began, resource.getrusage(resource.RUSAGE_CHILDREN)
    processor = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    rate = found["explored"]["total_states"] / seconds
    peak = found["peak_memory_bytes"] / 1e6
    figures = [f"{seconds:,.1f}", f"{processor:,.1f}", f"{rate:,.0f}", f"{peak:,.0f}"]
    return [*facts(check, found), *figures]


def rows_of(page: str) -> dict[str, list[str]]:
    """Return the rows of the table on a page: check -> cells."""
    lines = [line for line in part(page, "defaults").splitlines() if line.startswith("|")]
    rows = [[cell.strip() for cell in line.strip("|").split("|")] for line in lines[2:]]
    return {row[0]: row for row in rows}


def main() -> None:
    """Run the checks; keep the rows of the page that are not measured again."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--only", default="", metavar="REGEX", help="measure only these protocols")
    chosen = re.compile(parser.parse_args().only)
    spent(["antecede.checker.engine.threads.compiling"])  # only if necessary
    kept, rows = rows_of(README.read_text(encoding="utf-8")), []
    for name in protocol_names():
        for check in checks(name):
            if chosen.search(name):
                kept[check] = measured(check)
                show(kept[check])
            rows += [kept[check]] if check in kept else []
    put(README, {"defaults": f"{machine()}.\n\n{table(rows, COLUMNS)}\n"})


if __name__ == "__main__":
    main()
