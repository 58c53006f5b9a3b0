"""Measures the local engine: one table, each row a separate process, medians of several runs.

python benchmarks/run.py --quick            # seconds: does everything still run?
python benchmarks/run.py                    # the usual rows
python benchmarks/run.py --only 'cykas 3x3' --runs 1
python benchmarks/run.py --only spin        # Spin and rumur beside the local engine, nothing else
python benchmarks/run.py --only start       # how long short commands take
python benchmarks/run.py --write-readme     # and put the tables into benchmarks/README.md
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import re
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent
sys.path.append(str(ROOT))

from benchmarks import peers, rumur  # noqa: E402 -- this folder is no package
from benchmarks.page import put  # noqa: E402

README = HERE / "README.md"
FIXED_BYTES = 300e6
"""The memory of the process itself (Python, kernels, tables), excluded from bytes per state."""

ROWS = [
    "mfss 3x3 clocks --no-symmetry --threads 1",
    "mfss 3x3 clocks --no-symmetry --threads 2",
    "mfss 3x3 clocks --no-symmetry --threads 2 --forget never",
    "mfss 3x3 clocks",
    "mfss 3x3 knowledge --no-symmetry",
    "mfss 3x3 knowledge",
    "cykas-secret-mode 3x3 knowledge --no-symmetry",
    "cykas-secret-mode 3x3 knowledge",
    "cykas 3x3 knowledge --no-symmetry",
    "cykas 3x3 knowledge",
    "cykas 3x3 clocks",
    "cykas 4x2 knowledge",
    "cykas 4x2 knowledge --no-symmetry",
    "cykas 3x4 knowledge",
    "cykas 3x4 knowledge --no-symmetry",
    "cykas 3x3 clocks --no-symmetry",
]
SLOW = ("3x3 full", "cykas 3x3 clocks --no-symmetry", "4x2", "3x4")
QUICK = [
    "mfss 3x2 clocks --no-symmetry --threads 1",
    "mfss 3x2 clocks --no-symmetry --threads 2",
    "cykas 3x2 knowledge",
    "mfss 3x2 full --no-symmetry --forget never",
]
SPIN = [
    "mfss 3x3 clocks",
    "cykas 3x2 clocks",
    "cykas 3x3 knowledge",
    "rst 3x2 clocks",
    "rst 3x3 clocks",
    "ses 3x2 clocks",
]
"""The rows explored by Spin, by rumur, and by the local engine."""
SPIN_QUICK = ["mfss 3x2 clocks", "cykas 3x2 knowledge"]
STARTS = [
    "--help",
    "list",
    "check mfss --actors 2 --messages 1",
    "check mfss --actors 3 --messages 3",
    "check cykas --actors 3 --messages 3",
    "check cykas --actors 3 --messages 3 --selfcheck off",
]
"""The commands whose start is measured, with compiled kernels on the disk."""

COLUMNS = ["check", "verdict", "unique", "total", "depth", "s", "M total/s", "B/state", "peak MB"]


def command(row: str) -> list[str]:
    """Return the command line of a row."""
    protocol, bounds, history, *options = row.split()
    actors, messages = bounds.split("x")
    size = ["--actors", actors, "--messages", messages, "--history", history]
    expect = "violated" if "secret" in protocol else "holds"
    return [protocol, *size, *options, "--expect", expect, "--selfcheck", "off", "--quiet"]


def run(row: str) -> dict[str, Any]:
    """Run a row once in a process of its own and return its JSON result."""
    done = subprocess.run(
        [sys.executable, "-m", "antecede", "check", *command(row), "--json", "-"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode not in (0, 3):
        raise SystemExit(f"{row}: exit code {done.returncode}\n{done.stdout}{done.stderr}")
    found: dict[str, Any] = json.loads(done.stdout)
    return found


def measure(row: str, runs: int) -> list[str]:
    """Return the cells of a row, medians over `runs` runs."""
    results = [run(row) for _ in range(runs)]
    first = results[0]
    seconds = statistics.median(r["seconds"] for r in results)
    peak = statistics.median(r["peak_memory_bytes"] for r in results)
    unique, total = first["explored"]["unique_states"], first["explored"]["total_states"]
    beyond = max(peak - FIXED_BYTES, 0) / unique
    return [
        row,
        first["verdict"],
        f"{unique:,}",
        f"{total:,}",
        str(first["depth"]),
        f"{seconds:,.2f}",
        f"{total / max(seconds, 1e-3) / 1e6:,.2f}",
        f"{beyond:.1f}",
        f"{peak / 1e6:,.0f}",
    ]


def spent(arguments: list[str], **environment: str) -> float:
    """Run a Python command in a process of its own; return its processor time in seconds."""
    silent = subprocess.DEVNULL
    child = subprocess.Popen(
        [sys.executable, "-m", *arguments],
        cwd=ROOT,
        env={**os.environ, **environment},
        stdout=silent,
        stderr=silent,
    )
    _, status, usage = os.wait4(child.pid, 0)
    child.returncode = os.waitstatus_to_exitcode(status)
    if child.returncode:
        raise SystemExit(f"{' '.join(arguments)}: exit code {child.returncode}")
    return usage.ru_utime + usage.ru_stime


def starts(runs: int) -> str:
    """Return the table of the processor times of short commands, and of compiling the kernels."""
    rows = []
    for command in STARTS:
        seconds = statistics.median(spent(["antecede", *command.split()]) for _ in range(runs))
        rows.append([f"`antecede {command}`", f"{seconds:.2f}"])
        show(rows[-1])
    with tempfile.TemporaryDirectory() as empty:
        seconds = spent(["antecede.checker.engine.threads.compiling"], NUMBA_CACHE_DIR=empty)
    rows.append(["compiling all kernels of breadth-first search, once", f"{seconds:.2f}"])
    show(rows[-1])
    return f"{machine()}.\n\n{table(rows, ['command', 'CPU s'])}"


def machine() -> str:
    """Return a description of the machine."""
    model = platform.processor() or "unknown processor"
    cpuinfo = Path("/proc/cpuinfo")
    if cpuinfo.exists():
        match = re.search(r"model name\s*: (.*)", cpuinfo.read_text(encoding="utf-8"))
        model = match[1] if match else model
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30
    return (
        f"{model}, {os.cpu_count()} cores, {memory:.0f} GiB, Python {platform.python_version()}, "
        f"{time.strftime('%Y-%m-%d')}"
    )


def table(rows: list[list[str]], columns: list[str] = COLUMNS) -> str:
    """Return rows as a Markdown table."""
    lines = [columns, ["---"] + ["---:"] * (len(columns) - 1), *rows]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)


def engine(rows: list[str], runs: int) -> str:
    """Return the table of the local engine; slow rows are run once."""
    cells = []
    for row in rows:
        slow = any(part in row for part in SLOW)
        cells.append(measure(row, 1 if slow else runs))
        show(cells[-1])
    return f"{machine()}.\n\n{table(cells)}"


def beside_peers(rows: list[str], runs: int) -> str:
    """Return the table of the comparison with Spin and rumur, or a sentence if Spin is missing."""
    missing: str = peers.missing()
    if missing:
        return missing
    lines, compiling = [], []
    for row in rows:
        cells, seconds = peers.measured(row, runs, run)
        for line in cells:
            show(line)
        lines += cells
        compiling += seconds
    return (
        f"{machine()}, {peers.version()}.\n\n{table(lines, peers.COLUMNS)}\n\n"
        f"Generating and compiling the verifiers, which is not counted, took "
        f"{min(compiling):.1f} to {max(compiling):.1f} s each. {rumur.missing()}".rstrip()
    )


def show(cells: list[str]) -> None:
    """Print a row at once."""
    print(" ".join(f"{cell:>12}" for cell in cells), file=sys.stderr, flush=True)


def main() -> None:
    """Parse the arguments, measure, print."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--runs", type=int, default=3, help="runs per row (slow rows: one)")
    parser.add_argument("--only", default="", metavar="REGEX", help="only rows that match")
    parser.add_argument("--quick", action="store_true", help="small rows")
    parser.add_argument("--slow", action="store_true", help="also rows that take minutes")
    parser.add_argument("--write-readme", action="store_true")
    arguments = parser.parse_args()
    chosen = [row for row in (QUICK if arguments.quick else ROWS) if re.search(arguments.only, row)]
    if not arguments.slow and not arguments.only:
        chosen = [row for row in chosen if not any(slow in row for slow in SLOW)]
    peer = [
        row
        for row in (SPIN_QUICK if arguments.quick else SPIN)
        if re.search(arguments.only, f"spin {row}")
    ]
    spent(["antecede.checker.engine.threads.compiling"])  # only if necessary
    texts = {}
    if chosen:
        texts["generated"] = engine(chosen, arguments.runs)
    if peer:
        texts["spin"] = beside_peers(peer, arguments.runs)
    if re.search(arguments.only, "start"):
        texts["start"] = starts(arguments.runs)
    print("\n\n".join(texts.values()))
    if arguments.write_readme:
        put(README, {part: f"{text}\n" for part, text in texts.items()})


if __name__ == "__main__":
    main()
