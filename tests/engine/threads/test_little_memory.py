"""With too little memory for compiled kernels, plain Python explores, or the check says so.

LLVM ends a process to which the system gives no memory, so it must not be loaded then.
"""

from __future__ import annotations

import resource
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from antecede.checker.check.engine import explorer_for
from antecede.checker.check.spec import Spec, system_of
from antecede.checker.compiled import cache, jit
from antecede.checker.logs import audit as audits
from antecede.checker.logs.audit import audit
from antecede.checker.search.loop import explore
from antecede.checker.search.options import Options
from antecede.checker.support import memory
from antecede.checker.support.errors import CapacityError
from tests.conftest import COMMAND, ROOT, Command
from tests.engine.threads.test_spill import jit_is_off

LITTLE = 500 << 20
"""Bytes of address space with which loading the kernels aborted the process."""


def checked_with_little(*options: str, folder: Path) -> subprocess.CompletedProcess[str]:
    """Run a small check with little address space."""
    return subprocess.run(
        [*COMMAND, "check", "mfss", "--actors", "2", "--messages", "2", *options],
        cwd=folder,
        capture_output=True,
        text=True,
        check=False,
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_AS, (LITTLE, LITTLE)),
    )


@pytest.mark.integration
@pytest.mark.parametrize("search", ["breadth", "depth", "random"])
def test_plain_python_explores_and_says_so(search: str, tmp_path: Path) -> None:
    done = checked_with_little("--search", search, "--walks", "5", folder=tmp_path)
    assert "" == done.stderr
    assert (3 if search == "random" else 0) == done.returncode
    said = " ".join(done.stdout.split())
    assert "Explored in plain Python: there is too little memory to load the compiled" in said
    assert "MB of address space (ulimit -v) are needed, and" in said


@pytest.mark.integration
def test_kernels_are_not_compiled_either(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(tmp_path / "cache"))
    done = checked_with_little(folder=tmp_path)
    assert (0, "") == (done.returncode, done.stderr)
    assert "too little memory to compile the search code" in " ".join(done.stdout.split())
    assert not (tmp_path / "cache").exists()


@pytest.mark.integration
@pytest.mark.parametrize(
    ("options", "named"),
    [
        (("--checkpoint", "saved"), "--checkpoint"),
        (("--spill", "spilled", "--engine", "spark"), "--engine spark"),
    ],
)
def test_what_only_kernels_do_ends_with_a_sentence(
    options: tuple[str, ...], named: str, tmp_path: Path
) -> None:
    done = checked_with_little("--quiet", *options, folder=tmp_path)
    assert (3, "") == (done.returncode, done.stdout)
    assert done.stderr.startswith("Error: there is too little memory to load the compiled search")
    assert f"or leave {named}" in done.stderr
    assert not any(tmp_path.iterdir())


def test_a_limit_on_data_counts_too(monkeypatch: pytest.MonkeyPatch) -> None:
    assert memory.lacking(1, 1) is None
    limit = resource.RLIMIT_DATA
    monkeypatch.setattr(resource, "getrlimit", lambda asked: (0 if asked == limit else -1, -1))
    assert memory.lacking(1 << 20, 0) == "1 MB of data (ulimit -d) are needed, and 0 MB are left"


def test_in_a_small_container_kernels_are_not_loaded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(memory, "available_memory_bytes", lambda: 90_000_000)
    monkeypatch.setattr(sys, "modules", {})
    lacks = cache.lacking()
    assert lacks is not None
    assert lacks.endswith("MB of memory are needed, and 90 MB are left")


ANOTHER = """
import numpy as np
from antecede.checker.support import memory
from antecede.checker.check.engine import explorer_for
from antecede.checker.check.spec import Spec, system_of
from antecede.checker.support.errors import CapacityError
from antecede.checker.search.loop import explore
from antecede.checker.search.options import Options
from antecede.checker.engine.rows import entries_kernels
memory.available_memory_bytes = lambda: {left}
try:
    entries_kernels.store(np.full(16, -1, np.int64), np.array([5]), np.array([7]))
except CapacityError as error:
    print(error)
"""


@pytest.mark.integration
@pytest.mark.skipif(jit_is_off(), reason="nothing is compiled")
@pytest.mark.parametrize("left", [cache.EACH - 1, cache.EACH_COMPILED - 1])
def test_one_more_kernel_is_refused_when_the_memory_is_nearly_gone(
    left: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With the first amount it is not loaded; with the second one it is not compiled."""
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(tmp_path))
    script = [sys.executable, "-c", ANOTHER.format(left=left)]
    done = subprocess.run(script, cwd=ROOT, capture_output=True, text=True, check=False)
    assert (0, "") == (done.returncode, done.stderr)
    assert done.stdout.startswith("too little memory for another compiled kernel: ")


LOG = """\
{"actor": "a", "event": "causal-send", "message": "m", "to": ["b"]}
{"actor": "b", "event": "deliver", "message": "m"}
"""


def test_plain_python_audits_large_logs_and_says_so(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    log = tmp_path / "log.jsonl"
    log.write_text(LOG)
    monkeypatch.setattr(audits, "LARGE", 1)
    monkeypatch.setattr(cache, "lacking", lambda **_home: "too little memory to load kernels")
    monkeypatch.setattr(jit.Kernel, "__call__", lambda *_: pytest.fail("it was loaded"))
    assert not audit([str(log)]).findings
    assert "too little memory to load kernels; plain Python judges" in capsys.readouterr().err
    with pytest.raises(CapacityError, match="too little memory to load kernels"):
        audit([str(log)], compiled=True)


def refuse(_thread: threading.Thread) -> None:
    raise RuntimeError("can't start new thread")


def test_a_search_that_gets_no_thread_is_incomplete(monkeypatch: pytest.MonkeyPatch) -> None:
    explorer = explorer_for(system_of(Spec("mfss", 2, 2)), Options(threads=2))
    monkeypatch.setattr(threading.Thread, "start", refuse)
    result = explore(system_of(Spec("mfss", 2, 2)), explorer)
    assert "too little memory: no further thread can be started" == result.stopped_by


def test_a_command_that_gets_no_thread_ends_with_a_sentence(
    antecede: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(threading.Thread, "start", refuse)
    ran = antecede("check", "mfss", "--messages", "1")
    said = "mfss: INCOMPLETE: too little memory: no further thread can be started"
    assert (3, said, "") == (ran.code, ran.out.partition("\n")[0], ran.err)
