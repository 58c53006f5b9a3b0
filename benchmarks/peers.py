"""Comparison of the local engine with Spin on systems that are also written in Promela.

The models are in benchmarks/spin. Each is explored completely: without partial-order reduction,
compression of states, or hash compaction. So Spin's stored states are our unique states, and its
transitions, including the start, are our total states.
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
from pathlib import Path
from typing import Any

from attrs import evolve, frozen

MODELS = Path(__file__).resolve().parent / "spin"
OPTIONS = (
    "-O3",
    "-march=native",
    "-w",
    "-DSAFETY",
    "-DNOREDUCE",
    "-DNOBOUNDCHECK",
    "-DNOFAIR",
    "-DMEMLIM=6000",
)
"""Options of the C compiler: speed, safety only, no reduction, at most 6000 MB."""
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
OURS = ["antecede --threads 1", "antecede --threads 2"]

Check = Callable[[str], dict[str, Any]]
"""A row of run.py -> the JSON result of the local engine."""


@frozen
class Found:
    """The result of one exploration.

    Attributes:
        unique: the number of states stored, including the start.
        total: the number of states generated, including the start.
        seconds: the duration of the exploration.
        peak: the peak memory in bytes.
        violated: Spin's text for the assertion that failed; empty if none did.
        processor: the processor time of the whole process in seconds.
    """

    unique: int
    total: int
    seconds: float
    peak: float
    violated: str = ""
    processor: float = 0.0


def missing() -> str:
    """Return the missing programs for Spin in words, or an empty text."""
    if shutil.which("spin") is None:
        return "Spin is not installed (there is no command spin), so no peer was measured."
    if compiler() is None:
        return "There is no C compiler (cc, gcc or clang), so Spin was not measured."
    return ""


def compiler() -> str | None:
    """Return the C compiler."""
    return next(filter(shutil.which, ("cc", "gcc", "clang")), None)


def version() -> str:
    """Return Spin's name and version, such as `Spin 6.5.2`."""
    said = subprocess.run(["spin", "-V"], capture_output=True, text=True, check=True).stdout
    return " ".join(word for word in said.split()[:3] if word != "Version")


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
    protocol, bounds, history = check.split()
    actors, messages = bounds.split("x")
    named = [f"-DACTORS={actors}", f"-DMESSAGES={messages}"]
    named += ["-DKNOWLEDGE"] if history == "knowledge" else []
    named += ["-DSECRET_MODE"] if protocol == "cykas-secret-mode" else []
    model = models / f"{protocol.removesuffix('-secret-mode')}.pml"
    _done(["spin", f"-P{compiler()} -E -x c", *named, "-a", str(model)], folder)
    _done([str(compiler()), *OPTIONS, *options, "-o", "pan", "pan.c"], folder)
    return folder / "pan"


def _done(asked: list[str], folder: Path) -> None:
    ran = subprocess.run(asked, cwd=folder, capture_output=True, text=True, check=False)
    if ran.returncode != 0 or "error:" in ran.stdout:
        raise SystemExit(f"{' '.join(asked)}: exit code {ran.returncode}\n{ran.stdout}{ran.stderr}")


def explored(pan: Path, unique: int, *options: str) -> Found:
    """Run a verifier; `unique` is an estimate of the number of states."""
    asked = [str(pan), f"-w{max(unique.bit_length(), 20)}", f"-m{DEPTH}", *options]
    return parsed(subprocess.run(asked, cwd=pan.parent, capture_output=True, text=True).stdout)


def parsed(said: str) -> Found:
    """Parse the output of a verifier.

    Raises:
        SystemExit: the search did not end, an error other than a failed assertion occurred, Spin
            rounded a count, or the output is not in the format of Spin 6.
    """
    errors = _number(r"errors: (\S+)$", said)
    assertion = re.search(r"assertion violated (.*?) \(at depth", said)
    if "max search depth too small" in said:
        raise SystemExit(f"Spin did not search deeper than -m{DEPTH}; give more:\n{said}")
    if errors and not assertion:
        raise SystemExit(f"Spin found an error that is no failed assertion:\n{said}")
    if not errors and "Search not completed" in said:
        raise SystemExit(f"Spin did not complete its search:\n{said}")
    return Found(
        unique=_number(r"^\s*(\S+) states, stored", said),
        total=_number(r"^\s*(\S+) transitions \(= stored\+matched\)", said),
        seconds=float(_field(r"elapsed time (\S+) seconds", said)),
        peak=float(_field(r"^\s*(\S+)\s+total (?:actual|shared) memory usage", said)) * 1e6,
        violated=assertion[1].strip() if errors and assertion else "",
    )


def _field(pattern: str, said: str) -> str:
    found = re.search(pattern, said, re.MULTILINE)
    if found is None:
        raise SystemExit(f"what Spin printed has nothing like {pattern!r}:\n{said}")
    return found[1]


def _number(pattern: str, said: str) -> int:
    text = _field(pattern, said)
    if not text.isdecimal():
        raise SystemExit(f"Spin printed {text!r}, which is no exact count (it rounds from 10^8 on)")
    return int(text)


def _timed(explore: Callable[[], Found]) -> Found:
    """Return the result of `explore`, with the processor time of its processes."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    found = explore()
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    took = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return evolve(found, processor=took)


def _ours(check: Check, row: str, threads: int) -> Found:
    """Explore with the local engine."""
    result = check(f"{row} --no-symmetry --threads {threads}")
    counts = result["unique_states"], result["total_states"]
    return Found(*counts, result["seconds"], result["peak_memory_bytes"])


def measured(row: str, runs: int, check: Check) -> tuple[list[list[str]], float]:
    """Return a line of cells for each way to explore a check, and the seconds of compiling Spin's.

    Args:
        row: protocol, bounds and history.
        runs: the number of runs of each engine, in turn; the cells are medians.
        check: runs the local engine.

    Raises:
        SystemExit: the counts differ, or Spin finds a violation.
    """
    with tempfile.TemporaryDirectory() as folder:
        started = time.perf_counter()
        pans = [
            verifier(row, Path(tempfile.mkdtemp(dir=folder)), *compiled)
            for compiled, _ in SPIN.values()
        ]
        compiling = (time.perf_counter() - started) / len(pans)
        rounds = []
        for _ in range(runs):
            ours = [_timed(partial(_ours, check, row, threads)) for threads in (1, 2)]
            spins = [
                _timed(partial(explored, pan, ours[0].unique, *options))
                for pan, (_, options) in zip(pans, SPIN.values(), strict=True)
            ]
            for spin in spins:
                agree(row, spin, *ours)
            rounds.append([*spins, *ours])
    ways = list(zip(*rounds, strict=True))
    spin_s = _median("seconds", ways[0])
    return [
        _cells(row, name, way, spin_s) for name, way in zip([*SPIN, *OURS], ways, strict=True)
    ], compiling


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


def agree(row: str, spin: Found, *ours: Found) -> None:
    """Compare the results of Spin and of the local engine.

    Raises:
        SystemExit: the counts differ, or Spin finds a violation.
    """
    if spin.violated:
        raise SystemExit(f"{row}: Spin says that this assertion fails: {spin.violated}")
    for found in ours:
        if (spin.unique, spin.total) != (found.unique, found.total):
            raise SystemExit(
                f"{row}: Spin stored {spin.unique:,} states after {spin.total:,} transitions, "
                f"antecede {found.unique:,} unique of {found.total:,} total states"
            )
