"""However a search on Spark ends: a report if there can be one, no process and no folder left."""

from __future__ import annotations

import logging
import os
import signal
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest
from py4j import java_gateway

from antecede.checker.engine.spark.cluster import not_of_py4j
from antecede.checker.engine.spark.folder import MARK, PREFIX, Folder
from tests.conftest import COMMAND, ROOT, begun, is_alive
from tests.support.test_interrupts import WITHIN, until


def searching(folder: Path) -> subprocess.Popen[str]:
    """Start a long search on Spark whose temporary folder is `folder`."""
    asked = ("check", "mfss", "--actors", "3", "--messages", "4", "--history", "full")
    options = ("--no-symmetry", "--engine", "spark", "--master", "local[1]")
    return begun(
        [*COMMAND, *asked, *options, "--spark-threshold", "200"],
        cwd=folder.parent,
        env={**os.environ, "TMPDIR": str(folder), "PYTHONPATH": str(ROOT / "src")},
        start_new_session=True,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler),
    )


def started_for(folder: Path) -> list[int]:
    """Return the processes that were started for a run below `folder`."""
    found = []
    for process in Path("/proc").glob("[0-9]*"):
        try:
            if f"{MARK}={folder}/{PREFIX}".encode() in (process / "environ").read_bytes():
                found.append(int(process.name))
        except OSError:
            continue
    return [pid for pid in found if is_alive(pid)]


def is_java(pid: int) -> bool:
    return Path(f"/proc/{pid}/comm").read_text().strip() == "java"


def is_daemon(pid: int) -> bool:
    """Return whether a process is PySpark's daemon, or one of the workers that it forked."""
    return b"pyspark.daemon" in Path(f"/proc/{pid}/cmdline").read_bytes()


def ended(process: subprocess.Popen[str], folder: Path) -> str:
    """Wait for the end; return the report if there is one. Nothing must be left."""
    out, err = process.communicate(timeout=WITHIN)
    assert 3 == process.returncode, err
    assert "Traceback" not in err
    assert "Internal error" not in err
    until(lambda: not started_for(folder))
    assert [] == list(folder.iterdir())
    return out


@pytest.mark.integration
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_ended_while_java_starts(tmp_path: Path, number: signal.Signals) -> None:
    folder = tmp_path / "temporary"
    folder.mkdir()
    process = searching(folder)
    until(lambda: started_for(folder))
    os.killpg(process.pid, number)
    assert "mfss: INCOMPLETE: " in ended(process, folder)


@pytest.mark.integration
@pytest.mark.parametrize(
    "victim",
    [
        "driver",
        pytest.param("java", marks=pytest.mark.slow),
        pytest.param("daemon", marks=pytest.mark.slow),
    ],
)
def test_ended_in_the_middle_of_the_rounds(tmp_path: Path, victim: str) -> None:
    folder = tmp_path / "temporary"
    folder.mkdir()
    process = searching(folder)
    until(lambda: list(folder.glob(f"{PREFIX}*/blocks/*")))
    if victim == "java":
        (java,) = filter(is_java, started_for(folder))
        os.kill(java, signal.SIGKILL)
        expected = "mfss: INCOMPLETE: Spark gave up: its Java process has ended"
    else:
        if victim == "daemon":  # its workers live on, and know no parent
            os.kill(min(filter(is_daemon, started_for(folder))), signal.SIGKILL)
        os.killpg(process.pid, signal.SIGTERM)
        expected = "mfss: INCOMPLETE: ended by SIGTERM"
    assert expected in ended(process, folder)


KILLED = """
import os, signal, subprocess
from antecede.checker.engine.spark.folder import Folder

folder, quiet = Folder.new(), {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
with folder.marking_children():
    child = subprocess.Popen(["sleep", "600"], start_new_session=True, **quiet)
print(folder.path, child.pid, flush=True)
os.kill(os.getpid(), signal.SIGKILL)
"""


@pytest.mark.integration
def test_the_next_start_removes_what_a_killed_run_left(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    env = {**os.environ, "TMPDIR": str(tmp_path), "PYTHONPATH": str(ROOT / "src")}
    done = subprocess.run(
        [sys.executable, "-c", KILLED], env=env, capture_output=True, text=True, check=False
    )
    path, child = done.stdout.split()
    assert Path(path).exists()
    assert is_alive(int(child))
    until(lambda: Path(f"/proc/{child}/environ").read_bytes() != b"")  # it may still be starting
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    alive, other = Folder.new(), Folder.new()
    until(lambda: not is_alive(int(child)))
    assert {alive.path, other.path} == set(tmp_path.iterdir())
    alive.remove()
    other.remove()
    assert [] == list(tmp_path.iterdir())


@pytest.mark.parametrize(("path", "shown"), [(java_gateway.__file__, False), (__file__, True)])
def test_what_py4j_logs_of_a_lost_connection_is_not_shown(
    caplog: pytest.LogCaptureFixture, path: str, shown: bool
) -> None:
    root = logging.getLogger()
    root.addFilter(not_of_py4j)
    try:
        exec(compile("import logging; logging.error('Exception while sending')", path, "exec"))
    finally:
        root.removeFilter(not_of_py4j)
    assert shown == ("Exception while sending" in caplog.text)
