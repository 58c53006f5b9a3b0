"""Comparison of the local engine with two peers, Spin and rumur, on the same systems.

The models are in benchmarks/spin, in Promela, and in benchmarks/rumur, in Murphi. Each model is
explored completely: without partial-order reduction, symmetry reduction, compression of states, or
hash compaction. So a peer's states are our unique states. Spin's transitions, which include the
start, are our total states; so are rumur's fired rules and the start.
"""

from __future__ import annotations

import re
import resource
import shutil
import statistics
import subprocess
import tempfile
import time
from collections.abc import Callable, Sequence
from functools import partial
from itertools import pairwise
from pathlib import Path
from typing import Any

from attrs import evolve

from benchmarks import rumur
from benchmarks.verifiers import ENVIRONMENT, Found, compiler, done, field, model_of, number

MODELS = Path(__file__).resolve().parent / "spin"
OPTIONS = (
    "-O3",
    "-march=native",
    "-w",
    "-DSAFETY",
    "-DNOREDUCE",
    "-DNOBOUNDCHECK",
    "-DNOFAIR",
    "-DMEMLIM=12000",
)
"""Options of the C compiler: speed, safety only, no reduction, at most 12,000 MB."""
DEPTH = 10_000
"""More than the length of the longest run of any of these systems; Spin warns otherwise."""
COLUMNS = ["check", "by", "unique", "total", "s", "CPU s", "M total/s", "peak MB", "times Spin"]
SPIN: dict[str, tuple[list[str], list[str]]] = {
    "Spin, one core": ([], []),
    "Spin, two cores": (["-DBFS_PAR", "-DNO_HC"], ["-u2"]),
}
"""A way to run Spin -> more options of the compiler, and of the verifier.

On several cores, the breadth-first search is the fastest exact search of these systems.
"""
OURS = {
    "antecede --threads 1": "--no-symmetry --threads 1",
    "antecede --threads 2": "--no-symmetry --threads 2",
    "antecede, default options": "",
}
"""A way to run the local engine -> its options. With symmetry, the counts are those without it."""

Explore = Callable[[], Found]
Check = Callable[[str], dict[str, Any]]
"""A row of run.py -> the JSON result of the local engine."""


def missing() -> str:
    """Return the missing programs for Spin in words, or an empty text."""
    if shutil.which("spin") is None:
        return "Spin is not installed (there is no command spin), so no peer was measured."
    if compiler() is None:
        return "There is no C compiler (cc, gcc or clang), so Spin was not measured."
    return ""


def version() -> str:
    """Return the names and versions of the peers, such as `Spin 6.5.2, Rumur v2022.08.20`."""
    asked = [["spin", "-V"], *([] if rumur.missing() else [["rumur", "--version"]])]
    texts = [subprocess.run(a, capture_output=True, text=True, check=True).stdout for a in asked]
    return ", ".join(
        " ".join(word for word in text.split()[:3] if word.lower() != "version") for text in texts
    )


def verifier(check: str, folder: Path, *options: str, models: Path = MODELS) -> Path:
    """Generate and compile the verifier of a check in a folder.

    Args:
        check: protocol, bounds and history, such as `mfss 3x2 clocks`.
        folder: the folder for Spin's files; one verifier per folder.
        options: more options of the compiler.
        models: the folder of the models.

    Raises:
        SystemExit: Spin or the compiler failed.
    """
    model, macros = model_of(check)
    done(["spin", f"-P{compiler()} -E -x c", *macros, "-a", str(models / f"{model}.pml")], folder)
    done([str(compiler()), *OPTIONS, *options, "-o", "pan", "pan.c"], folder)
    return folder / "pan"


def explored(pan: Path, unique: int, *options: str) -> Found:
    """Run a verifier; `unique` is an estimate of the number of states."""
    asked = [str(pan), f"-w{max(unique.bit_length(), 20)}", f"-m{DEPTH}", *options]
    ran = subprocess.run(asked, cwd=pan.parent, env=ENVIRONMENT, capture_output=True, text=True)
    return parsed(ran.stdout)


def parsed(said: str) -> Found:
    """Parse the output of a verifier.

    Spin rounds the number of transitions from 10^8 on, so they are added up.

    Raises:
        SystemExit: the search did not end, an error other than a failed assertion occurred, Spin
            rounded a count, or the output is not in the format of Spin 6.
    """
    errors = number(r"errors: (\S+)$", said)
    assertion = re.search(r"assertion violated (.*?) \(at depth", said)
    if "max search depth too small" in said:
        raise SystemExit(f"Spin did not search deeper than -m{DEPTH}; give more:\n{said}")
    if errors and not assertion:
        raise SystemExit(f"Spin found an error that is no failed assertion:\n{said}")
    if not errors and "Search not completed" in said:
        raise SystemExit(f"Spin did not complete its search:\n{said}")
    stored, matched = (number(rf"^\s*(\S+) states, {kind}", said) for kind in ("stored", "matched"))
    return Found(
        unique=stored,
        total=stored + matched,
        seconds=float(field(r"elapsed time (\S+) seconds", said)),
        peak=float(field(r"^\s*(\S+)\s+total (?:actual|shared) memory usage", said)) * 1e6,
        violated=assertion[1].strip() if errors and assertion else "",
    )


def _timed(explore: Explore) -> Found:
    """Return the result of `explore`, with the processor time of its processes."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    found = explore()
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    took = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return evolve(found, processor=took)


def _ours(check: Check, row: str, options: str) -> Found:
    """Explore with the local engine."""
    result = check(f"{row} {options}")
    found = result["unique_states"], result["total_states"]
    return Found(*found, result["seconds"], result["peak_memory_bytes"])


def measured(row: str, runs: int, check: Check) -> tuple[list[list[str]], list[float]]:
    """Return a line of cells for each way to explore a check, and the seconds of each compilation.

    Args:
        row: protocol, bounds and history.
        runs: the number of runs of each engine, in turn; the cells are medians.
        check: runs the local engine.

    Raises:
        SystemExit: the counts differ, or a peer finds a violation.
    """
    unique = _ours(check, row, "").unique  # the sizes of the peers' tables
    ours = {name: partial(_ours, check, row, options) for name, options in OURS.items()}
    with tempfile.TemporaryDirectory() as folder:
        peers, compiling = _compiled(row, unique, Path(folder))
        rounds = []
        for _ in range(runs):
            found = {name: _timed(explore) for name, explore in (peers | ours).items()}
            for name in peers:
                agree(row, name, found[name], *(found[our] for our in ours))
            rounds.append(found)
    ways = {name: [found[name] for found in rounds] for name in peers | ours}
    spin_s = _median("seconds", ways[next(iter(SPIN))])
    return [_cells(row, name, way, spin_s) for name, way in ways.items()], compiling


def _compiled(row: str, unique: int, folder: Path) -> tuple[dict[str, Explore], list[float]]:
    """Return how to explore with each peer, and the seconds of each compilation."""
    ways: dict[str, Explore] = {}
    times = [time.perf_counter()]
    for name, (compiled, options) in SPIN.items():
        pan = verifier(row, Path(tempfile.mkdtemp(dir=folder)), *compiled)
        ways[name] = partial(explored, pan, unique, *options)
        times.append(time.perf_counter())
    for name, threads in rumur.WAYS.items() if not rumur.missing() else ():
        built = rumur.verifier(row, Path(tempfile.mkdtemp(dir=folder)), threads, unique)
        ways[name] = partial(rumur.explored, built)
        times.append(time.perf_counter())
    return ways, [end - start for start, end in pairwise(times)]


def _median(field: str, way: Sequence[Found]) -> float:
    return max(float(statistics.median(getattr(found, field) for found in way)), 1e-3)


def _cells(row: str, name: str, way: Sequence[Found], spin: float) -> list[str]:
    """Return the cells of one engine; `spin` is the time of Spin in seconds."""
    unique, total = way[0].unique, way[0].total
    seconds, processor = _median("seconds", way), _median("processor", way)
    return [
        row,
        name,
        f"{unique:,}",
        f"{total:,}",
        f"{seconds:,.2f}",
        f"{processor:,.2f}",
        f"{total / seconds / 1e6:,.2f}",
        f"{_median('peak', way) / 1e6:,.0f}",
        f"{spin / seconds:,.2f}",
    ]


def agree(row: str, peer: str, theirs: Found, *ours: Found) -> None:
    """Compare the results of a peer and of the local engine.

    Raises:
        SystemExit: the counts differ, or the peer finds a violation.
    """
    if theirs.violated:
        raise SystemExit(f"{row}: {peer}: this assertion fails: {theirs.violated}")
    for found in ours:
        if (theirs.unique, theirs.total) != (found.unique, found.total):
            raise SystemExit(
                f"{row}: {peer}: {theirs.unique:,} unique of {theirs.total:,} total states; "
                f"antecede: {found.unique:,} unique of {found.total:,} total states"
            )
