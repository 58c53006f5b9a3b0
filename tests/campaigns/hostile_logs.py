"""Hostile tests of audits: torn logs, huge names, many destinations, many actors, Ctrl-C.

As in `tests.campaigns.hostile`, each function returns the faults as sentences.
"""

from __future__ import annotations

import json
import os
import random
import re
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

from tests.campaigns.hostile import Ended, address_space, control_group, left_behind, run
from tests.conftest import COMMAND, default_interrupts

SIGNAL_CPU_SECONDS = 3.0
"""The processor time in seconds until an interrupted audit must have ended, on any machine."""

SIGNAL_AFTER = (1.5, 16.0)
"""The range of the time before the signal, in seconds."""

AUDIT = ("audit", "log.jsonl", "--unfinished", "--json", "found.json")

WHOLE = re.compile(
    rb'\{"actor": "\w+", "event": "[\w-]+", "message": "\w+"(?:, "to": \["\w+"\])?\}'
)
"""A complete record of RECORDING, anywhere in the log."""

RECORDING = """
import resource, signal, sys
from antecede.testing.recorder import Recorder

path, name, most = sys.argv[1], sys.argv[2], int(sys.argv[3])
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
if most:
    resource.setrlimit(resource.RLIMIT_FSIZE, (most, most))
actor = Recorder(path).actor(name)
for number in range(10**9):
    actor.causal_send(f"{name}m{number}", to=[name])
    actor.deliver(f"{name}m{number}")
"""
"""A program that writes messages of an actor to itself, until it is killed or the disk is full."""


def hostile_log(chance: random.Random, folder: Path) -> list[str]:
    """Audit a broken or huge log, and return the faults."""
    return chance.choice(DAYS)(chance, folder)


def torn(chance: random.Random, folder: Path) -> list[str]:
    """Kill recording processes, fill the disk, cut the log; every complete record counts."""
    log, size = folder / "log.jsonl", 0
    for number in range(chance.choice((2, 5))):
        full = chance.choice((0, chance.randrange(200, 4_000)))
        line = (str(log), f"p{number}", str(size + full if full else 0))
        process = subprocess.Popen([sys.executable, "-c", RECORDING, *line], stderr=-3)
        written = chance.randrange(300, 60_000)
        while process.poll() is None and (not log.exists() or log.stat().st_size < size + written):
            time.sleep(0.005)
        process.kill()
        process.wait()
        if chance.random() < 0.7:  # as if the last write had not been whole
            os.truncate(log, log.stat().st_size - chance.randrange(1, 60))
            with log.open("ab") as file:
                file.write(chance.choice((b"", b'{"actor": "q1", "event": "deliver", "mess')))
                file.write(chance.choice((b"", b"\n")))
        size = log.stat().st_size
    done = run(AUDIT, folder)
    expected = len(WHOLE.findall(log.read_bytes()))
    wrong = done.found.get("lines") != expected or done.found.get("foreign_lines")
    if done.code not in (0, 1) or wrong:  # lines that are no records are torn
        return [*done.faults(AUDIT), f"{expected} whole records: exit {done.code}, {done.text}"]
    return list(done.faults(AUDIT))


def sent(actor: str, message: str, to: list[str]) -> str:
    return json.dumps({"actor": actor, "event": "causal-send", "message": message, "to": to})


def delivered(actor: str, message: str) -> str:
    return json.dumps({"actor": actor, "event": "deliver", "message": message})


def huge_name(chance: random.Random) -> Iterator[str]:
    """Yield the lines of a log with a name of some megabytes."""
    names = ["a", "b", "m"]
    names[chance.randrange(3)] *= chance.randrange(1_000_000, 12_000_000)
    actor, other, message = names
    yield sent(actor, message, [other])
    yield delivered(other, message)


def many_destinations(chance: random.Random) -> Iterator[str]:
    """Yield the lines of a log with a causal-send to very many actors; some deliver it."""
    names = [f"d{number}" for number in range(chance.choice((100_000, 400_000)))]
    yield sent("a", "m", names)
    for name in chance.sample(names, chance.choice((1, 1_000, len(names)))):
        yield delivered(name, "m")


def many_actors(chance: random.Random) -> Iterator[str]:
    """Yield the lines of a log with very many actors; each sends a message to the next one."""
    actors, hears = chance.choice((100_000, 300_000)), chance.choice((2, 10**9))
    for number in range(actors):
        if 0 < number < hears:
            yield delivered(f"x{number}", f"m{number - 1}")
        yield sent(f"x{number}", f"m{number}", [f"x{number + 1}"])


def blank_lines(chance: random.Random) -> Iterator[str]:
    """Yield very many blank lines, before a small log or behind it."""
    small = [sent("a", "m", ["b"]), delivered("b", "m")]
    blanks = ["\n" * (1 << 20)] * chance.choice((100, 300))
    yield from [*blanks, *small] if chance.random() < 0.5 else [*small, *blanks]


MAKERS: tuple[Callable[[random.Random], Iterator[str]], ...] = (
    huge_name,
    many_destinations,
    many_actors,
    blank_lines,
)


def made(chance: random.Random, folder: Path) -> str:
    """Write a log that is large in some way, and return this way in words."""
    maker = chance.choice(MAKERS)
    with (folder / "log.jsonl").open("w") as file:
        file.writelines(f"{line}\n" for line in maker(chance))
    return maker.__name__


def large(chance: random.Random, folder: Path) -> list[str]:
    """Audit a log that is large in some way, with 1,000 MB of memory; it has no violation."""
    name = made(chance, folder)
    with control_group(1_000) as join:
        done = run(AUDIT, folder, limit=join)
    faults = [*done.faults(AUDIT), *left_behind(folder, name)]
    if done.code != 0:
        faults.append(f"{name}: exit {done.code} with 1,000 MB: {done.text[-300:]}")
    return faults


def cramped(chance: random.Random, folder: Path) -> list[str]:
    """Audit such a log with too little address space; it ends with a sentence."""
    name, size = made(chance, folder), chance.choice((700, 1_000, 1_500))
    done = run(AUDIT, folder, limit=address_space(size))
    faults = [*done.faults(AUDIT), *left_behind(folder, name)]
    if done.code not in (0, 3):
        faults.append(f"{name}: exit {done.code} with {size} MB: {done.text[-300:]}")
    return faults


def interrupted(chance: random.Random, folder: Path) -> list[str]:
    """Interrupt the audit of such a log; it ends within little processor time."""
    name = made(chance, folder)
    with (folder / "said").open("wb") as out:
        process = subprocess.Popen(
            [*COMMAND, *AUDIT], cwd=folder, stdout=out, stderr=out, preexec_fn=default_interrupts
        )
        time.sleep(chance.uniform(*SIGNAL_AFTER))
        before = cpu_seconds(process.pid)
        os.kill(process.pid, signal.SIGINT)
        _, status, used = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    text = (folder / "said").read_text(errors="replace")
    took = used.ru_utime + used.ru_stime - before
    faults: list[str] = []
    if "KeyboardInterrupt" not in text:  # else it came before the command itself began
        faults += Ended(process.returncode, {}, text).faults(AUDIT)
    if process.returncode not in (0, 3, -signal.SIGINT) or took > SIGNAL_CPU_SECONDS:
        faults.append(f"{name}: exit {process.returncode} {took:.1f} s after Ctrl-C: {text[-300:]}")
    return faults


def cpu_seconds(pid: int) -> float:
    """Return the processor time of a process so far, in seconds."""
    try:
        stat = Path(f"/proc/{pid}/stat").read_text()
    except FileNotFoundError:
        return float("inf")
    user, system = stat.rpartition(")")[2].split()[11:13]
    return (int(user) + int(system)) / os.sysconf("SC_CLK_TCK")


DAYS: tuple[Callable[[random.Random, Path], list[str]], ...] = (torn, large, cramped, interrupted)
