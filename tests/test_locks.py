"""Locks between processes."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from antecede.checker.support.locks import Taken, held, locked
from tests.conftest import begun

HOLD = """
import sys
from pathlib import Path
from antecede.checker.support.locks import locked
lock = locked(Path(sys.argv[1]))
print("held", flush=True)
sys.stdin.read()
"""


def test_a_held_lock_is_refused_until_it_is_released(tmp_path: Path) -> None:
    lock = locked(tmp_path / "lock")
    assert lock is not None
    with pytest.raises(Taken):
        locked(tmp_path / "lock")
    lock.release()
    again = locked(tmp_path / "lock", waits=True)
    assert again is not None
    again.release()


@pytest.mark.integration
def test_the_system_frees_the_lock_of_a_killed_process(tmp_path: Path) -> None:
    command = [sys.executable, "-c", HOLD, str(tmp_path / "lock")]
    process = begun(command, stdin=subprocess.PIPE)
    assert process.stdout is not None
    assert "held\n" == process.stdout.readline()
    with pytest.raises(Taken):
        locked(tmp_path / "lock")
    process.kill()
    process.wait()
    lock = locked(tmp_path / "lock")
    assert lock is not None
    lock.release()


def test_where_no_file_can_be_made_there_is_no_lock(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    assert locked(tmp_path / "file" / "lock") is None


def test_a_lock_is_free_after_its_block_even_if_something_still_refers_to_it(
    tmp_path: Path,
) -> None:
    lock = locked(tmp_path / "lock")
    with held(lock), pytest.raises(Taken):
        locked(tmp_path / "lock")
    again = locked(tmp_path / "lock")
    assert again is not None
    again.release()
