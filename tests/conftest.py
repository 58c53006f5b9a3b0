"""Helpers of tests of whole checks: run the command, and find a counterexample."""

from __future__ import annotations

import compileall
import os
import re
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, TypeAlias

import psutil
import pytest
from attrs import frozen
from hypothesis import settings

from antecede import cli
from antecede.checker.check.engine import explorer_for, kernels_are_compiled
from antecede.checker.check.spec import Spec, system_of
from antecede.checker.model import Protocol
from antecede.checker.paths.path import Path as Run
from antecede.checker.search.loop import explore
from antecede.checker.search.options import Bounds, Options
from antecede.checker.search.result import Result
from antecede.checker.support.registry import default_properties
from tests.budget import Budget

ROOT = Path(__file__).parent.parent
collect_ignore_glob = ["mutants/*.toml"]
"""These files are not specs, although they look like specs to the plugin."""

COMMAND = (sys.executable, "-m", "antecede")

settings.register_profile("antecede", deadline=None)
settings.load_profile("antecede")  # no test may depend on the speed of the machine


def pytest_configure(config: pytest.Config) -> None:
    """Make the commands that tests start react to Ctrl-C, however the tests were started."""
    default_interrupts()
    config.pluginmanager.register(Budget.here(), "budget")
    os.environ.pop("GITHUB_ACTIONS", None)  # tests of annotations set it
    # Otherwise Python writes __pycache__ into the folders whose contents tests compare.
    sys.dont_write_bytecode = True
    os.environ["PYTHONDONTWRITEBYTECODE"] = "1"


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_auto_num_workers() -> int:
    """Use one worker more than there are cores, because many tests wait for other processes."""
    return (os.cpu_count() or 1) + 1


def default_interrupts() -> None:
    """Restore the default signal handlers, because `make test &` and `nohup` ignore signals."""
    usual_handlers: dict[int, Any] = {signal.SIGINT: signal.default_int_handler}
    if hasattr(signal, "SIGHUP"):
        usual_handlers[signal.SIGHUP] = signal.SIG_DFL
    for number, usual in usual_handlers.items():
        if signal.getsignal(number) is signal.SIG_IGN:
            signal.signal(number, usual)


def pytest_sessionstart(session: pytest.Session) -> None:
    """Compile the code and the kernels once, before all workers and commands do so."""
    if hasattr(session.config, "workerinput"):
        return
    for folder in ("checker", "properties", "protocols"):
        compileall.compile_dir(ROOT / folder, quiet=2)
    side_by_side = getattr(session.config.option, "numprocesses", None)
    if kernels_are_compiled() and not side_by_side:
        return
    terminal = session.config.pluginmanager.get_plugin("terminalreporter")
    if terminal is not None and not kernels_are_compiled():
        terminal.write_line("Compiling the kernels once for all tests; this takes a minute.")
    subprocess.run([*COMMAND, "compile"], capture_output=True, check=False)


on_linux = pytest.mark.skipif(sys.platform != "linux", reason="needs Linux")
on_unix = pytest.mark.skipif(os.name == "nt", reason="needs Linux or macOS")


@frozen
class Ran:
    """The exit code and the output of a command."""

    code: int
    out: str
    err: str


Command: TypeAlias = Callable[..., Ran]


_BEGUN: list[subprocess.Popen[str]] = []
"""The processes that `begun` has started in this test."""


def begun(command: Sequence[str], **how: Any) -> subprocess.Popen[str]:
    """Start a command in the background, with its output in pipes of text.

    It is killed when the test ends, so no failed assertion leaves it behind. Give it a session of
    its own (`start_new_session=True`) if it starts others: they are killed, too.

    Args:
        command: the program and its arguments.
        how: as for `subprocess.Popen`.
    """
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "encoding": "utf-8"}
    process: subprocess.Popen[str] = subprocess.Popen(command, **{**pipes, **how})
    _BEGUN.append(process)
    return process


@pytest.fixture(autouse=True)
def no_process_is_left() -> Iterator[None]:
    """Kill what `begun` has started, if it still runs."""
    yield
    while _BEGUN:
        process = _BEGUN.pop()
        if process.poll() is None:
            with suppress(ProcessLookupError):
                leads = os.getpgid(process.pid) == process.pid
                os.killpg(process.pid, signal.SIGKILL) if leads else process.kill()
        process.wait()
        for pipe in (process.stdin, process.stdout, process.stderr):
            if pipe is not None:
                pipe.close()


def children_of(process: int) -> list[int]:
    """Return the processes that a process started, and those that these started.

    psutil asks each process for its parent. The lists in /proc/PID/task/*/children would not do:
    while a thread ends, its children are in none of them.
    """
    return [child.pid for child in psutil.Process(process).children(recursive=True)]


def is_alive(process: int) -> bool:
    """Return whether a process runs; one that only waits to be collected does not."""
    try:
        return bool(psutil.Process(process).status() != psutil.STATUS_ZOMBIE)
    except psutil.NoSuchProcess:
        return False


@pytest.fixture
def antecede(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Command:
    """Run the command in this process, as if in the folder `cwd`."""

    def run(*arguments: object, cwd: Path | None = None) -> Ran:
        if cwd is not None:
            monkeypatch.chdir(cwd)
        code = cli.main(list(map(str, arguments)))
        out, err = capsys.readouterr()
        return Ran(code, out, err)

    return run


def in_a_process(*arguments: object, cwd: Path, **environment: str) -> Ran:
    """Run the command as a user does."""
    done = subprocess.run(
        [*COMMAND, *map(str, arguments)],
        cwd=cwd,
        env={**os.environ, "PYTHONUTF8": "1", **environment},
        capture_output=True,
        text=True,
        encoding="utf-8",
        check=False,
    )
    return Ran(done.returncode, done.stdout, done.stderr)


def without_progress(err: str) -> str:
    """Return standard error without lines of progress, which appear on slow machines."""
    progress = re.compile(r"(level|depth) [\d,]+.* states/s")
    lines = err.splitlines(keepends=True)
    return "".join(line for line in lines if not progress.search(line))


def method(**options: Any) -> Options:
    """Return search options, by default without reductions."""
    return Options(**{"symmetry": False, **options})


def search(
    protocol: Protocol | str,
    actors: int = 2,
    messages: int = 2,
    *,
    options: Options = Options(engine="plain"),
    bounds: Bounds = Bounds(),
    **values: Any,
) -> Result:
    """Explore a system given in the command line's terms, in plain Python.

    The search judges the default properties, without the protocol's invariants.
    """
    name = protocol if isinstance(protocol, str) else protocol.name
    values = {"properties": default_properties(), **values}
    spec = Spec(protocol=name, actors=actors, messages=messages, **values)
    system = system_of(spec, None if isinstance(protocol, str) else protocol)
    return explore(system, explorer_for(system, options, bounds.max_depth), bounds)


def counterexample(protocol: Protocol | str, *arguments: int, **values: Any) -> Run:
    """Return the counterexample of a search; fail if there is none."""
    path = search(protocol, *arguments, **values).counterexample
    assert path is not None
    return path
