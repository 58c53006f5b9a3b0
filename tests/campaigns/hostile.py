"""Hostile tests: kills, interruptions, full disks, little memory, bad programs.

Each function runs commands in processes of their own and returns the faults as sentences. A check
may end without a verdict. It must not end with a wrong verdict or an internal error, it must not
hang, and it must leave nothing behind.
"""

from __future__ import annotations

import contextlib
import json
import os
import random
import re
import resource
import shlex
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import lru_cache, partial
from pathlib import Path
from typing import Any

from attrs import frozen

from tests import tuned
from tests.campaigns import child
from tests.conftest import default_interrupts

PATIENCE = 600.0
"""The time in seconds after which a command counts as a hang."""

COMMAND = (sys.executable, tuned.__file__)

COUNTS = ("verdict", "unique_states", "total_states", "depth", "final_states", "explored")

LASTING = ("check", "mfss", "--actors", "3", "--messages", "2", "--history", "full")
"""A check that takes some seconds; it has 873,895 states without symmetry."""

BROKEN = ("check", "cykas-secret-mode", "--actors", "3", "--messages", "2")

SPARK = ("--engine", "spark", "--spark-threshold", "3000", "--partitions", "4")


@frozen
class Ended:
    """The result of a process.

    Attributes:
        code: the exit code; negative for a signal.
        found: its JSON output, or an empty object.
        text: the printed text.
    """

    code: int
    found: dict[str, Any]
    text: str

    @property
    def counts(self) -> dict[str, Any]:
        """The verdict and the counts."""
        return {key: self.found.get(key) for key in COUNTS}

    def faults(self, line: tuple[str, ...]) -> Iterator[str]:
        """Yield faults that no end of a process may have."""
        shown = " ".join(line)
        # A report shows the traceback of a handler that raised, indented.
        if self.code == 4 or re.search("Internal error|^Traceback", self.text, re.MULTILINE):
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
    **environment: str,
) -> Ended:
    """Run a command in a session of its own, and send it a signal after some seconds.

    It also takes the settings of `tests.tuned`.

    All processes that it started must have ended when it ends.
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
            env={**os.environ, "TMPDIR": str(folder / "tmp"), **environment},
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
    """Return the content of a JSON file, which is complete if it exists; else an empty object."""
    if not file.exists() or not file.stat().st_size:
        return {}
    found: dict[str, Any] = json.loads(file.read_text(encoding="utf-8"))
    return found


def left_behind(folder: Path, session: str) -> list[str]:
    """Return temporary files, and processes whose environment names the folder."""
    files = [f"{session} left {each.name}" for each in (folder / "tmp").iterdir()]
    return files + [f"{session} left process {pid} running" for pid in processes_of(folder)]


def processes_of(folder: Path) -> list[int]:
    """Return the processes whose environment names the folder."""
    mark, found = f"TMPDIR={folder / 'tmp'}".encode(), []
    for each in Path("/proc").iterdir():
        with contextlib.suppress(OSError):
            if each.name.isdigit() and mark in (each / "environ").read_bytes().split(b"\0"):
                found.append(int(each.name))
    return found


@lru_cache
def expected(line: tuple[str, ...]) -> dict[str, Any]:
    """Return the result of an undisturbed run of a command."""
    with tempfile.TemporaryDirectory() as folder:
        done = run((*line, "--json", "found.json", "--quiet"), Path(folder))
        assert done.code in (0, 1), done.text
        return done.counts


def killed(chance: random.Random, folder: Path, *, spark: bool = False) -> list[str]:
    """Kill a search at random times, resume it each time, and compare its result."""
    how = SPARK if spark else chance.choice(((), ("--no-symmetry",), ("--threads", "1")))
    asked, untraced = LASTING[:-2] if spark else LASTING, (*BROKEN, "--no-traces", *how)
    if spark:
        untraced = (*untraced, "--spark-threshold", "300")  # its levels are small
    variant = chance.choice(((*asked, *how), (*asked, *how), untraced))
    save = ("--checkpoint-seconds", "0.05", "--json", "found.json", "--quiet")
    faults: list[str] = []
    kills = chance.choice((1, 2, 3))
    for attempt in range(kills + 1):
        saved = any((folder / "saved").glob("checkpoint-*"))
        line = (*variant, "--resume" if saved else "--checkpoint", "saved", *save)
        # Most of the first second is spent on starting.
        seconds = None if attempt == kills else 0.5 + chance.random() * (20 if spark else 5)
        done = run(line, folder, after=seconds)
        faults += done.faults(line)
        said = " ".join(done.text.split())
        # It was killed while the first checkpoint was being written.
        if saved and done.code == 2 and "there is no complete checkpoint" in said:
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
    """End a command by Ctrl-C, SIGTERM or SIGHUP; it reports this, and leaves nothing behind."""
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
    """Mount a small file system, and yield whether this was permitted."""
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
    """Simulate a full disk: a small file system if permitted, else a limit on file sizes."""
    question = chance.choice((LASTING, (*LASTING, "--no-symmetry"), BROKEN))
    files: tuple[str, ...] = chance.choice(
        (
            ("--spill", "disk/s"),
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
    """Run a large check with little memory, by a control group or a limited address space."""
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


CRAMPED = (
    ("check", "mfss", "--messages", "2"),
    ("check", "mfss", "--messages", "2", "--threads", "8"),
    ("check", "mfss", "--search", "depth"),
    ("check", "mfss", "--checkpoint", "saved"),
)


def little_address_space(chance: random.Random, folder: Path) -> list[str]:
    """Give a check less address space than kernels need, or little more (`ulimit -v`)."""
    return cramped(chance.choice(CRAMPED), chance.choice((200, 400, 500, 650, 800, 1_100)), folder)


def address_space(megabytes: int) -> Callable[[], None]:
    """Return a function that limits the address space of the process that calls it."""
    return lambda: resource.setrlimit(resource.RLIMIT_AS, (megabytes << 20, megabytes << 20))


def cramped(line: tuple[str, ...], megabytes: int, folder: Path) -> list[str]:
    """Limit the address space of a check; it has a verdict, or ends with a sentence."""
    done = run(line, folder, limit=address_space(megabytes))
    faults = [*done.faults(line), *left_behind(folder, " ".join(line))]
    if done.code not in (0, 3):
        faults.append(f"{' '.join(line)}: exit {done.code} with {megabytes} MB: {done.text[-300:]}")
    return faults


def _join(group: Path) -> None:
    (group / "cgroup.procs").write_text(str(os.getpid()))


@contextmanager
def control_group(megabytes: int) -> Iterator[Callable[[], None]]:
    """Yield a function that moves the calling process into a group with limited memory.

    Without the permission to create such a group, only the option --max-memory limits the command.
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


MARGIN = 10.0
"""The time in seconds after --max-seconds until a test of a program must have ended."""

ENDING = 100.0
"""The time in seconds until all processes must have ended after the checker was killed."""

WRAPPERS = ("{}", "sh -c {quoted}", "timeout 600 {}", "sh -c {quoted_with_another}")


def bad_program(chance: random.Random, folder: Path) -> list[str]:
    """Test a program with a bad habit, perhaps with a signal meanwhile; no process is left."""
    habit, since = chance.choice(tuple(child.HABITS)), chance.choice((1, 2, 3, 7, 20))
    return tested(folder, habit, since, chance.choice(WRAPPERS), *_ending(chance))


def _ending(chance: random.Random) -> tuple[float | None, int, float | None]:
    """Draw the end of the test: --max-seconds, or a signal after some seconds."""
    if chance.random() < 0.5:
        return chance.choice((3.0, 6.0, 9.0)), signal.SIGTERM, None
    signs = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGKILL)
    return None, chance.choice(signs), 1.5 + chance.random() * 4


def tested(
    folder: Path,
    habit: str,
    since: int,
    wrapper: str,
    seconds: float | None,
    sign: int,
    after: float | None,
) -> list[str]:
    """Test a program with a habit; return the faults."""
    command = shlex.join([sys.executable, child.__file__, habit, str(since)])
    wrapped = wrapper.format(
        command,
        quoted=shlex.quote(command),
        quoted_with_another=shlex.quote(f"sleep 600 & {command}"),
    )
    line: tuple[str, ...] = (
        "test",
        f"pipe:{wrapped}",
        "--actors",
        "2",
        "--engine",
        "plain",
        "--quiet",
    )
    line += () if seconds is None else ("--max-seconds", f"{seconds:g}")
    done = run(line, folder, after=after, sign=sign)
    ended = time.monotonic()
    shown = f"{' '.join(line)} after {sign!r} in {after} s"
    # A signal may come before the command itself begins.
    early = after is not None and (done.code == -sign or "KeyboardInterrupt" in done.text)
    faults = [] if early else [*done.faults(line)]
    if not early and done.code not in (0, 1, 2, 3):
        faults.append(f"{shown}: exit {done.code}: {done.text[-300:]}")
    if done.code in (0, 1) and habit != "is slow":
        faults.append(f"{shown}: a verdict on a program that {habit}: {done.text[:300]}")
    asked = folder / "asked"
    if seconds is not None and asked.exists():
        late = ended - float(asked.read_text()) - seconds
        if late > MARGIN:
            faults.append(f"{shown}: it ended {late:.1f} seconds after --max-seconds")
    if done.code == -signal.SIGKILL:
        while processes_of(folder) and time.monotonic() < ended + ENDING:
            time.sleep(0.1)
    faults += left_behind(folder, shown)
    for pid in processes_of(folder):
        with contextlib.suppress(OSError):
            os.kill(pid, signal.SIGKILL)
    return faults
