"""Hostile days, one at a time: kills, interruptions, full disks, little memory.

Each function runs commands in processes of their own and returns what went wrong, in sentences. A
check may end without a verdict then; it may never end with a wrong one, in an internal error, or
not at all, and it leaves nothing behind.
"""

from __future__ import annotations

import contextlib
import json
import os
import random
import resource
import signal
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import lru_cache, partial
from pathlib import Path
from typing import Any

from attrs import frozen

from tests.conftest import COMMAND, default_interrupts

PATIENCE = 300.0
"""Seconds after which a command counts as one that hangs."""

COUNTS = ("verdict", "unique_states", "total_states", "depth", "final_states", "unreduced")

LASTING = ("check", "mfss", "--actors", "3", "--messages", "2", "--history", "full")
"""Takes some seconds; 873,895 states without symmetry."""

BROKEN = ("check", "cykas-secret-mode", "--actors", "3", "--messages", "2")

SPARK = ("--engine", "spark", "--spark-threshold", "3000", "--partitions", "4")


@frozen
class Ended:
    """How a process ended.

    Attributes:
        code: as the shell sees it; negative for a signal.
        found: what it wrote as JSON, or nothing.
        text: what it printed.
    """

    code: int
    found: dict[str, Any]
    text: str

    @property
    def counts(self) -> dict[str, Any]:
        """The verdict and the counts."""
        return {key: self.found.get(key) for key in COUNTS}

    def faults(self, line: tuple[str, ...]) -> Iterator[str]:
        """Yield what no end may be like."""
        shown = " ".join(line)
        if self.code == 4 or "Internal error" in self.text or "Traceback" in self.text:
            yield f"{shown}: exit {self.code}: {self.text[-600:]}"
        if self.code == 0 and self.found and self.found.get("verdict") != "HOLDS":
            yield f"{shown}: exit 0 and verdict {self.found.get('verdict')}"


def run(
    line: tuple[str, ...],
    folder: Path,
    *,
    after: float | None = None,
    sign: int = signal.SIGKILL,
    limit: Callable[[], None] | None = None,
) -> Ended:
    """Run a command in a session of its own, and send it a signal after some seconds.

    Everything that it started has to be gone when it is gone.
    """
    (folder / "tmp").mkdir(exist_ok=True)
    said = folder / "said"

    def begin() -> None:
        default_interrupts()
        if limit is not None:
            limit()

    with said.open("wb") as out:
        process = subprocess.Popen(
            [*COMMAND, *line],
            cwd=folder,
            env={**os.environ, "TMPDIR": str(folder / "tmp")},
            stdin=subprocess.DEVNULL,
            stdout=out,
            stderr=out,
            start_new_session=True,
            preexec_fn=begin,
        )
        hangs = False
        try:
            process.wait(PATIENCE if after is None else after)
        except subprocess.TimeoutExpired:
            hangs = after is None
            with contextlib.suppress(ProcessLookupError):
                os.kill(process.pid, signal.SIGKILL if hangs else sign)
        try:
            process.wait(PATIENCE)
        except subprocess.TimeoutExpired:
            hangs = True
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()
    text = said.read_text(encoding="utf-8", errors="replace")
    if hangs:
        text += "\nTraceback: it hangs"
    return Ended(process.returncode, _json(folder / "found.json"), text)


def _json(file: Path) -> dict[str, Any]:
    """Return what a file says; a file that is there is whole."""
    if not file.exists() or not file.stat().st_size:
        return {}
    found: dict[str, Any] = json.loads(file.read_text(encoding="utf-8"))
    return found


def left_behind(folder: Path, session: str) -> list[str]:
    """Return temporary files, and processes whose environment names the folder."""
    faults = [f"{session} left {each.name}" for each in (folder / "tmp").iterdir()]
    mark = f"TMPDIR={folder / 'tmp'}".encode()
    for each in Path("/proc").iterdir():
        with contextlib.suppress(OSError):
            if each.name.isdigit() and mark in (each / "environ").read_bytes().split(b"\0"):
                faults.append(f"{session} left process {each.name} running")
    return faults


@lru_cache
def expected(line: tuple[str, ...]) -> dict[str, Any]:
    """Return what an undisturbed run of a command finds."""
    with tempfile.TemporaryDirectory() as folder:
        done = run((*line, "--json", "found.json", "--quiet"), Path(folder))
        assert done.code in (0, 1), done.text
        return done.counts


def killed(chance: random.Random, folder: Path, *, spark: bool = False) -> list[str]:
    """Kill a search at random instants, resume it as often, and compare what it finds."""
    variant = (*LASTING, *chance.choice(((), ("--no-symmetry",), ("--threads", "1"))))
    if spark:
        variant = (*LASTING[:-2], *SPARK)
    save = ("--checkpoint-seconds", "0.05", "--json", "found.json", "--quiet")
    faults: list[str] = []
    kills = chance.choice((1, 2, 3))
    for attempt in range(kills + 1):
        saved = any((folder / "saved").glob("*")) if (folder / "saved").is_dir() else False
        line = (*variant, "--resume" if saved else "--checkpoint", "saved", *save)
        # Most of the first second is spent on starting.
        seconds = None if attempt == kills else 0.5 + chance.random() * (20 if spark else 5)
        done = run(line, folder, after=seconds)
        faults += done.faults(line)
        if saved and done.code == 2:  # killed while the first checkpoint was being written
            for each in (folder / "saved").iterdir():
                each.unlink() if each.is_file() else _remove(each)
            done = run((*variant, *save), folder)
        if done.code >= 0:
            break
    if done.counts != expected(variant):
        faults.append(f"{' '.join(variant)} after kills: {done.counts}, not {expected(variant)}")
    return faults


def _remove(folder: Path) -> None:
    for each in folder.rglob("*"):
        each.unlink()
    folder.rmdir()


INTERRUPTED = (
    (*LASTING, "--json", "found.json"),
    (*LASTING, "--spill", "spilled", "--checkpoint", "saved", "--json", "found.json"),
    ("check", "cykas", "--engine", "plain", "--json", "found.json"),
    ("check", "hybrid-basic", "--network", "duplicating+lossy", "--property", "can-deliver"),
    (
        "sweep",
        "--protocol",
        "mfss,cykas",
        "--actors",
        "2,3",
        "--messages",
        "1,2,3",
        "--history",
        "full",
    ),
    ("claims", "--quick"),
    ("table", "--bounds", "3x3"),
    ("explore", "mfss", "--no-browser"),
)


def interrupted(chance: random.Random, folder: Path, *, spark: bool = False) -> list[str]:
    """End a command by Ctrl-C, SIGTERM or SIGHUP; it says so, and leaves nothing behind."""
    line = (*LASTING, *SPARK) if spark else chance.choice(INTERRUPTED)
    sign = chance.choice((signal.SIGINT, signal.SIGTERM, signal.SIGTERM, signal.SIGHUP))
    done = run(line, folder, after=0.8 + chance.random() * (20 if spark else 6), sign=sign)
    if done.code == -sign or (sign == signal.SIGINT and "KeyboardInterrupt" in done.text):
        return left_behind(folder, " ".join(line))  # before the command itself began
    faults = [*done.faults(line)]
    if done.code not in (0, 1, 3):
        faults.append(f"{' '.join(line)}: exit {done.code} after {sign!r}: {done.text[-300:]}")
    if done.found and done.code == 3 and done.found["verdict"] != "INCOMPLETE":
        faults.append(f"{' '.join(line)}: exit 3 and verdict {done.found['verdict']}")
    time.sleep(0.5)
    return faults + left_behind(folder, " ".join(line))


@contextmanager
def small_disk(folder: Path, megabytes: int) -> Iterator[bool]:
    """Mount a small file system, if this may be done here, and say whether it was."""
    folder.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", f"size={megabytes}m", "tmpfs", str(folder)]
    mounted = (
        os.geteuid() == 0 and not subprocess.run(mount, capture_output=True, check=False).returncode
    )
    try:
        yield mounted
    finally:
        if mounted:
            subprocess.run(["umount", "--lazy", str(folder)], check=True)


def full_disk(chance: random.Random, folder: Path, *, spark: bool = False) -> list[str]:
    """Let the disk be full: a real one where it can be mounted, else by a limit on files' sizes."""
    question = chance.choice((LASTING, (*LASTING, "--no-symmetry"), BROKEN))
    files: tuple[str, ...] = chance.choice(
        (
            ("--spill", "disk/s"),
            ("--spill", "disk/s", "--spill-visited"),
            ("--checkpoint", "disk/c", "--checkpoint-seconds", "0.05"),
            ("--trace", "disk/t.html"),
        )
    )
    if spark:
        question, files = (*question[:-2], *SPARK) if question != BROKEN else (*BROKEN, *SPARK), ()
    line = (*question, *files, "--json", "found.json", "--quiet")
    megabytes = chance.choice((1, 2, 4, 8))
    with small_disk(folder / "disk", megabytes) as mounted:
        if spark and mounted:
            (folder / "tmp").symlink_to(folder / "disk")
        done = run(line, folder, limit=None if mounted else _limited_files(megabytes))
    faults = [*done.faults(line)]
    if done.code in (0, 1) and done.counts != expected(question):
        faults.append(f"{' '.join(line)}: {done.counts}, not {expected(question)}")
    elif done.code not in (0, 1, 2, 3):
        faults.append(f"{' '.join(line)}: exit {done.code}: {done.text[-300:]}")
    return faults


def _limited_files(megabytes: int) -> Callable[[], None]:
    return lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (megabytes << 20, megabytes << 20))


GREEDY = (
    ("check", "counts.py", "--engine", "plain", "--actors", "2", "--messages", "1"),
    ("check", "counts.py", "--actors", "2", "--messages", "1"),
    ("check", "cykas", "--engine", "plain", "--actors", "4", "--messages", "3"),
    ("check", "cykas", "--actors", "4", "--messages", "4", "--history", "full"),
    ("check", "mfss", "--actors", "5000"),
    ("check", "mfss", "--actors", "30", "--workload", "multicast"),
    ("check", "mfss", "--messages", "1000000"),
)

COUNTING = """
from attrs import frozen
from antecede import Protocol, Step

@frozen
class State:
    told: int = 0
    ballast: str = ""

PROTOCOL = Protocol(
    name="counts", summary="a timeout that counts, without end", source="a campaign",
    initial=lambda actor, actors: State(),
    causal_send=lambda state, message: Step(state, sends=((message.receiver, message),)),
    receive=lambda state, src, packet: Step(state, deliveries=(packet,)),
    timeout=lambda state: Step(State(state.told + 1, f"{state.told} " * 4000)),
)
"""


def little_memory(chance: random.Random, folder: Path) -> list[str]:
    """Give a check that needs much only little memory: a control group, or an address space."""
    (folder / "counts.py").write_text(COUNTING)
    line = (*chance.choice(GREEDY), "--json", "found.json", "--quiet")
    megabytes = chance.choice((600, 1_000, 1_500))
    if "plain" in line:  # which takes five minutes to fill more
        megabytes = 600
    with control_group(megabytes) as join:
        done = run(line, folder, limit=join)
    faults = [*done.faults(line)]
    if done.code not in (2, 3):
        faults.append(f"{' '.join(line)}: exit {done.code} with {megabytes} MB: {done.text[-300:]}")
    return faults


def _join(group: Path) -> None:
    (group / "cgroup.procs").write_text(str(os.getpid()))


@contextmanager
def control_group(megabytes: int) -> Iterator[Callable[[], None]]:
    """Yield what makes a process a member of a group with limited memory.

    Without the right to make such a group the option --max-memory is the limit that remains, so
    nothing is limited here that the command could not see.
    """
    version_1 = Path("/sys/fs/cgroup/memory")
    top = version_1 if version_1.is_dir() else Path("/sys/fs/cgroup")
    group = top / f"antecede-soak-{os.getpid()}-{time.monotonic_ns()}"
    limit = group / ("memory.limit_in_bytes" if top == version_1 else "memory.max")
    try:
        group.mkdir()
        limit.write_text(str(megabytes << 20))
    except OSError:
        with contextlib.suppress(OSError):
            group.rmdir()
        size = 8 << 30
        yield lambda: resource.setrlimit(resource.RLIMIT_DATA, (size, size))
        return
    try:
        yield partial(_join, group)
    finally:
        for _ in range(50):
            with contextlib.suppress(OSError):
                group.rmdir()
                break
            time.sleep(0.1)
