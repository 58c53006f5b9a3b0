"""Calls on several processes: a killed call is one failure, and no process outlives the caller."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

from antecede.checker.support.errors import CapacityError
from antecede.checker.sweep.processes import KILLED, SAFE_PATH, Workers, starting_safely
from tests.conftest import ROOT, begun, children_of, is_alive
from tests.support.test_interrupts import WITHIN, started, until


def dying_at_two(number: int) -> int:
    if number == 2:
        os.kill(os.getpid(), signal.SIGKILL)
    return number * number


@pytest.mark.integration
def test_a_killed_worker_is_one_failure_among_results() -> None:
    with Workers(2) as workers:
        found = dict(workers.spread(dying_at_two, [1, 2, 3, 4]))
    assert {1: 1, 3: 9, 4: 16} == {k: v for k, v in found.items() if k != 2}
    assert isinstance(found[2], CapacityError)
    assert KILLED == str(found[2])


def test_two_threads_may_start_processes_at_one_time() -> None:
    """Each restores what it changes for the new processes, which belongs to both."""
    program, began, ended = sys.modules["__main__"], threading.Event(), threading.Event()
    marked = list[bool]()

    def start_too() -> None:
        with starting_safely() as was_set:
            marked.append(was_set)
            began.set()
            ended.wait(0.5)

    other = threading.Thread(target=start_too)
    with starting_safely() as was_set:
        other.start()
        began.wait(0.5)
    ended.set()
    other.join()
    assert program is sys.modules["__main__"]
    assert [was_set] == marked == [SAFE_PATH in os.environ]


def failing(number: int) -> int:
    raise ValueError(number)


def test_what_a_call_raises_is_raised() -> None:
    with Workers(1) as workers, pytest.raises(ValueError, match="7"):
        list(workers.spread(failing, [7]))


WORK = """
import os
from pathlib import Path

def work(folder):
    Path(folder, str(os.getpid())).touch()
    while True:
        pass
"""

BUSY = """
import sys
from work import work
from antecede.checker.sweep.processes import Workers

with Workers(2) as workers:  # no worker runs this program again
    list(workers.spread(work, [sys.argv[1]] * 2))
"""


@pytest.mark.integration
def test_workers_end_with_whoever_started_them_even_if_it_is_killed(tmp_path: Path) -> None:
    (tmp_path / "busy.py").write_text(BUSY)
    (tmp_path / "work.py").write_text(WORK)
    pids = tmp_path / "pids"
    pids.mkdir()
    command = [sys.executable, str(tmp_path / "busy.py"), str(pids)]
    env = {**os.environ, "PYTHONPATH": str(ROOT / "src")}
    process = begun(command, env=env)
    until(lambda: len(list(pids.iterdir())) == 2)
    process.kill()
    process.wait()
    until(lambda: not any(is_alive(int(file.name)) for file in pids.iterdir()))


@pytest.mark.integration
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_sweep_that_is_ended_leaves_nobody_computing(
    tmp_path: Path, number: signal.Signals
) -> None:
    asked = ("sweep", "mfss", "--actors", 3, "--messages", "1,4,5", "--history", "full")
    process = started(*asked, "--engine", "plain", "--workers", 2, cwd=tmp_path)
    rows = tmp_path / "sweep.jsonl"
    until(lambda: rows.exists() and rows.read_text().count("\n") == 1)
    children = children_of(process.pid)
    assert len(children) > 1
    time.sleep(0.5)
    os.killpg(process.pid, number)
    _, err = process.communicate(timeout=WITHIN)
    assert 3 == process.returncode
    assert "Traceback" not in err
    assert "Interrupted; the rows so far are in sweep.jsonl, and the same command goes on" in err
    until(lambda: not any(map(is_alive, children)))


HOSTILE = "open('RAN', 'a').write(__name__)\n"


@pytest.fixture
def hostile(tmp_path: Path) -> Path:
    """Return a folder with files that are called like modules of Python."""
    for name in ("signal", "pickle", "socket", "threading", "attrs"):
        (tmp_path / f"{name}.py").write_text(HOSTILE)
    return tmp_path


def ran_in(folder: Path, *arguments: str) -> int:
    """Run the installed command in a folder; return its exit code."""
    command: list[str | Path] = [Path(sys.executable).with_name("antecede"), *arguments, "--quiet"]
    return subprocess.run(command, cwd=folder, capture_output=True, timeout=600).returncode


@pytest.mark.integration
@pytest.mark.parametrize(
    "command",
    [
        "sweep --protocol fifo --actors 2 --messages 2",
        "simulate fifo --actors 3 --messages 2 --seeds 2",
    ],
)
def test_no_file_of_the_current_folder_is_imported(hostile: Path, command: str) -> None:
    assert 0 == ran_in(hostile, *command.split())
    assert not (hostile / "RAN").exists()


@pytest.mark.integration
def test_no_worker_of_spark_imports_a_file_of_the_current_folder(hostile: Path) -> None:
    pytest.importorskip("pyspark")
    cluster = ("--engine", "spark", "--spark-threshold", "50", "--master", "local[1]")
    assert 0 == ran_in(hostile, "check", "mfss", "--no-symmetry", *cluster)
    assert not (hostile / "RAN").exists()


def test_the_programs_of_a_worker_import_as_they_would_anywhere() -> None:
    with Workers(1) as workers:
        assert {None: None} == dict(workers.spread(_safe_path, [None]))


def _safe_path(_item: None) -> str | None:
    return os.environ.get(SAFE_PATH)
