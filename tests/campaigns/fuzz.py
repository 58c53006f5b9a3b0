"""Fuzzing of all readers: no input may cause an internal error or a hang.

Command lines are built from the command's own options. Specs, traces, checkpoints, logs and rows of
a sweep are written by antecede itself and then changed, as trees of lists and objects or as bytes.
All inputs run in this process, each in a folder of its own.
"""

from __future__ import annotations

import contextlib
import io
import json
import random
import re
import shutil
import signal
import sys
import tempfile
import tomllib
from collections.abc import Callable, Iterator
from pathlib import Path

import click
from attrs import Factory, define, frozen

from antecede import cli
from antecede.checker.commands.help_pages import PAGES
from antecede.checker.support.exit_codes import INCOMPLETE, INTERNAL_ERROR
from tests import tuned
from tests.campaigns import raising
from tests.campaigns.nasty import NUMBERS, TEXTS, WORKLOADS, changed, damaged, dumped, toml
from tests.conftest import ROOT

CPU_SECONDS, WALL_SECONDS = 15.0, 900.0
"""The limits, in seconds, after which an input counts as a hang."""


class Hang(BaseException):
    """An input that does not come to an end."""


@frozen
class Fault:
    """An input that ended in an internal error, in a traceback, or not at all.

    Attributes:
        reader: the kind of input.
        number: the number of the input, which with the seed reproduces it.
        arguments: the command line.
        said: a description of the fault.
    """

    reader: str
    number: int
    arguments: tuple[str, ...]
    said: str


@define
class Ran:
    """The result of a command in this process."""

    code: int = 0
    text: str = ""
    hung: bool = False
    raised: str = ""

    @property
    def fault(self) -> str:
        """A description of the fault, or an empty text."""
        if self.hung:
            return "hangs"
        if self.raised:
            return f"raises {self.raised}"
        # A report shows the traceback of a handler that raised, indented.
        if self.code == INTERNAL_ERROR or re.search("^Traceback", self.text, re.MULTILINE):
            return f"exit {self.code}: {self.text[-300:]}"
        # The mark of a failure is antecede's own: no code of a user may be asked about it.
        if "'Raised' object" in " ".join(self.text.split()):
            return f"exit {self.code}: {' '.join(self.text[-600:].split())}"
        return "" if self.code in range(4) else f"exit {self.code}"


def ran(arguments: list[str], folder: Path) -> Ran:
    """Run a command line in a folder, in this process, with limits."""
    done = Ran()

    def too_long(_signal: int, _frame: object) -> None:
        done.hung = True
        raise Hang

    stream = io.TextIOWrapper(io.BytesIO(), encoding="utf-8", errors="strict")
    errors = io.TextIOWrapper(io.BytesIO(), encoding="utf-8", errors="backslashreplace")
    before = sys.stdin
    sys.stdin = io.TextIOWrapper(io.BytesIO(), encoding="utf-8")
    for sign, timer, seconds in (
        (signal.SIGPROF, signal.ITIMER_PROF, CPU_SECONDS),
        (signal.SIGALRM, signal.ITIMER_REAL, WALL_SECONDS),
    ):
        signal.signal(sign, too_long)
        signal.setitimer(timer, seconds)
    try:
        with (
            contextlib.chdir(folder),
            contextlib.redirect_stdout(stream),
            contextlib.redirect_stderr(errors),
        ):
            done.code = cli.main(arguments)
    except BaseException as error:  # nothing may escape
        done.raised = f"{type(error).__name__}: {error}"
    finally:
        for timer in (signal.ITIMER_PROF, signal.ITIMER_REAL):
            signal.setitimer(timer, 0)
        sys.stdin = before
    for each in (stream, errors):
        with contextlib.suppress(UnicodeError):
            each.flush()
        done.text += each.buffer.getvalue().decode("utf-8", "replace")
    return done


# Command lines

SMALL = ["--max-states", "300", "--max-seconds", "2"]
SERVERS = ("explore",)
"""Commands that run forever with valid arguments."""

LONG = ("claims", "table")
UNBOUNDED = ("prove", "simulate")
"""Commands without a bound, which may legitimately take minutes."""

ENDINGS = ("nothing.toml", *("x" * 300 + ending for ending in ("", ".py", ".toml", ".json")))
"""Names of missing files. Most of them are too long for any file."""

NUMBERED = ("--actors", "--messages", "--bounds", "--max-memory")
_INT, _FLOAT = click.types.IntParamType, click.types.FloatParamType


def command_lines(chance: random.Random) -> Iterator[list[str]]:
    """Yield command lines forever."""
    names = [name for name in PAGES if name not in SERVERS]
    while True:
        name = chance.choice([*names, "check", "check", "sweep"])
        command = cli.command_named(name)
        line = [name] if chance.random() < 0.98 else [chance.choice(TEXTS)]
        options = [p for p in command.params if isinstance(p, click.Option)]
        for option in chance.sample(options, min(len(options), chance.choice((1, 2, 3, 5)))):
            line += _option(option, chance)
        if any(isinstance(p, click.Argument) for p in command.params):
            known = () if name in UNBOUNDED else ("mfss", "cykas", "unordered")
            line.append(chance.choice((*known, *TEXTS[:8], *ENDINGS)))
        if name in ("check", "sweep", "table"):
            line += SMALL
        if name == "sweep":
            line += ["--workers", "1", "--actors", "2", "--messages", "1"]
        if name in LONG:
            line += ["--source", "none"] if name == "claims" else ["--bounds", "2x1"]
        yield [word for word in line if word not in ("spark", "interactive")]


def _option(option: click.Option, chance: random.Random) -> list[str]:
    name = option.opts[-1]
    if name in ("--interactive", "--engine", "--on", "--master", "--workers"):
        return []
    if option.is_flag:
        return [name]
    pool: tuple[str, ...] = TEXTS
    if isinstance(option.type, click.Choice) and chance.random() < 0.8:
        pool = tuple(map(str, option.type.choices))
    elif name in NUMBERED or isinstance(option.type, _INT | _FLOAT):
        pool = NUMBERS
    elif name == "--workload":
        pool = WORKLOADS
    return [name, chance.choice(pool)]


# Files


def _copied(chance: random.Random, seeds: Path) -> Path:
    return chance.choice(sorted(each for each in seeds.iterdir() if each.is_file()))


def specs(chance: random.Random, folder: Path) -> list[str]:
    """Write a changed spec into a folder; return the command line that reads it."""
    seed = chance.choice(sorted((ROOT / "specs/small").glob("*.toml")))
    file = folder / "changed.antecede.toml"
    text = seed.read_text(encoding="utf-8")
    if chance.random() < 0.75:
        table = changed(tomllib.loads(text), chance)
        text = toml(table) if isinstance(table, dict) else dumped(table)
        file.write_bytes(text.encode("utf-8", "surrogatepass"))
    else:
        file.write_bytes(damaged(text.encode(), chance))
    engine = chance.choice((["--engine", "plain"], []))
    return ["check", file.name, *engine, *SMALL, "--quiet"]


def traces(chance: random.Random, folder: Path) -> list[str]:
    """Write a changed trace, of a check or of a result."""
    seed = _copied(chance, SEEDS.folder / "traces")
    _write(folder / "changed.json", seed, chance)
    name = chance.choice(("svg", "html", "mmd", "puml", "json", "itf.json", "shiviz"))
    more = ["--trace", f"again.{name}"] if chance.random() < 0.3 else []
    return ["replay", "changed.json", *more]


def endless_traces(chance: random.Random, folder: Path) -> list[str]:
    """Write an endless trace whose cycle begins elsewhere, or starves another message."""
    trace = json.loads((SEEDS.folder / "traces/endless.json").read_bytes())
    trace["loop"]["after"] = chance.randrange(-1, len(trace["transitions"]) + 2)
    if chance.random() < 0.3:
        sends = [each for each in trace["transitions"] if each["kind"] == "causal-send"]
        trace["loop"]["message"] = chance.choice(sends)["message"]
    (folder / "changed.json").write_text(dumped(trace), encoding="utf-8")
    return ["replay", "changed.json", *(["--interactive"] if chance.random() < 0.3 else [])]


def log_files(chance: random.Random, folder: Path) -> list[str]:
    """Write a changed log."""
    seed = _copied(chance, SEEDS.folder / "logs")
    lines = seed.read_text(encoding="utf-8").splitlines()
    if chance.random() < 0.5 and lines[0].startswith("{"):
        rows = changed([json.loads(line) for line in lines], chance)
        text = "\n".join(map(dumped, rows)) if isinstance(rows, list) else dumped(rows)
        (folder / "changed.log").write_text(text, encoding="utf-8")
    else:
        (folder / "changed.log").write_bytes(damaged(seed.read_bytes(), chance))
    return ["audit", "changed.log", *(["--unfinished"] if chance.random() < 0.2 else [])]


def rows(chance: random.Random, folder: Path) -> list[str]:
    """Write the changed rows of a sweep; return the command line that continues it."""
    seed = SEEDS.folder / "rows" / "sweep.jsonl"
    lines = seed.read_text(encoding="utf-8").splitlines()
    if chance.random() < 0.7:
        changes = changed([json.loads(line) for line in lines], chance)
        text = "\n".join(map(dumped, changes)) + "\n" if isinstance(changes, list) else "{}"
        (folder / "sweep.jsonl").write_text(text, encoding="utf-8")
    else:
        (folder / "sweep.jsonl").write_bytes(damaged(seed.read_bytes(), chance))
    return [*SWEEP, "--quiet"]


def checkpoints(chance: random.Random, folder: Path) -> list[str]:
    """Copy a checkpoint, and damage one of its files."""
    saved = chance.choice(sorted((SEEDS.folder / "checkpoints").iterdir()))
    shutil.copytree(saved, folder / "saved")
    files = sorted(each for each in (folder / "saved").rglob("*") if each.is_file())
    file = chance.choice(files)
    if chance.random() < 0.1:
        file.unlink()
    else:
        _write(file, file, chance)
    return [*CHECKPOINTED[saved.name], "--resume", "saved", "--max-seconds", "5", "--quiet"]


def _write(file: Path, seed: Path, chance: random.Random) -> None:
    """Write a changed copy: as a tree if it is JSON, or as bytes."""
    data = seed.read_bytes()
    if chance.random() < 0.75:
        with contextlib.suppress(ValueError):
            file.write_text(dumped(changed(json.loads(data), chance)), encoding="utf-8")
            return
    file.write_bytes(damaged(data, chance))


SWEEP = ["sweep", "--protocol", "mfss,unordered", "--actors", "2", "--messages", "1,2",
         "--workers", "1"]  # fmt: skip
ENDLESS = ["check", "cykas", "--workload", "endless:1:[[1,2],[2],[0]]", "--quiet"]
CHECKPOINTED = {
    "plain": ["check", "mfss", "--actors", "3", "--messages", "2", "--threads", "1"],
    "symmetric": ["check", "cykas", "--actors", "3", "--messages", "2", "--threads", "2"],
}


@define
class Seeds:
    """Files written by antecede, created once."""

    folder: Path = Factory(Path)

    def make(self, folder: Path) -> None:
        """Write them."""
        self.folder = folder
        for name in ("traces", "logs", "rows", "checkpoints"):
            (folder / name).mkdir(parents=True)
        for at, name in enumerate(("cykas-secret-mode", "unordered", "hybrid-basic-no-timeout")):
            trace, log = f"traces/{at}.json", f"logs/{at}.shiviz"
            size = ["--actors", "3", "--messages", "2"] if not at else ["--actors", "2"]
            network = ["--network", "lossy:1"] if at == 2 else []
            first = ran(
                ["check", name, *size, *network, "--trace", trace, "--json", f"traces/r{at}.json"],
                folder,
            )
            assert not first.fault, first.fault
            if (folder / trace).is_file():
                ran(["replay", trace, "--trace", log], folder)
        assert not ran([*ENDLESS, "--trace", "traces/endless.json"], folder).fault
        (folder / "logs/own.jsonl").write_text(LOG, encoding="utf-8")
        assert not ran([*SWEEP, "--output", "rows/sweep.jsonl"], folder).fault
        for name, line in CHECKPOINTED.items():
            saved = [*line, "--checkpoint", f"checkpoints/{name}", "--max-states", "500"]
            with tuned.chosen(checkpoint_seconds=0.01):
                done = ran(saved, folder)
            assert INCOMPLETE == done.code, done.text


LOG = """\
{"actor": "alice", "event": "causal-send", "message": "m1", "to": ["carol"]}
{"actor": "alice", "event": "causal-send", "message": "m2", "to": ["bob"]}
{"actor": "bob", "event": "deliver", "message": "m2"}
{"actor": "bob", "event": "causal-send", "message": "m3", "to": ["carol"]}
{"actor": "carol", "event": "deliver", "message": "m3"}
{"actor": "carol", "event": "deliver", "message": "m1"}
"""


def failing_protocols(chance: random.Random, folder: Path) -> list[str]:
    """Return the command line of a check of a failing protocol, or of the replay of its run."""
    line = raising.checks(chance, folder)
    if chance.random() < 0.5 or ran(line, folder).fault:
        return line
    return raising.replays(chance, folder)


SEEDS = Seeds()
READERS: dict[str, Callable[[random.Random, Path], list[str]]] = {
    "command lines": lambda chance, _folder: next(command_lines(chance)),
    "specs": specs,
    "traces": traces,
    "endless traces": endless_traces,
    "logs": log_files,
    "rows of a sweep": rows,
    "checkpoints": checkpoints,
    "protocols that fail": failing_protocols,
}
WEIGHTS = (40, 20, 15, 3, 15, 5, 5, 10)


def fuzzed(seed: int, numbers: Iterator[int], home: Path) -> Iterator[tuple[str, Fault | None]]:
    """Run inputs by number; yield the reader of each and its fault, or None."""
    if not SEEDS.folder.name:
        SEEDS.make(home / "seeds")
    for number in numbers:
        chance = random.Random(f"{seed}/{number}")
        (reader,) = chance.choices(list(READERS), WEIGHTS)
        folder = Path(tempfile.mkdtemp(dir=home))
        try:
            line = READERS[reader](chance, folder)
            said = ran(line, folder).fault
        finally:
            shutil.rmtree(folder, ignore_errors=True)
        yield reader, Fault(reader, number, tuple(line), said) if said else None
