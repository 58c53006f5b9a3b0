"""The commands on a simulated macOS and a simulated Windows; see `platforms/sitecustomize.py`."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from antecede.checker.support import interrupts, private
from antecede.checker.support.platforms import refuse_on_windows
from tests.platforms.__main__ import environment

SYSTEMS = ("macos", "windows")

NODE = """
class Node:
    def __init__(self, actor, actors):
        pass

    def causal_send(self, out, message):
        for to in message.destinations:
            out.send(to, message)

    def receive(self, out, src, packet):
        out.deliver(packet)
"""

LOG = """
{"actor": "alice", "event": "causal-send", "message": "m1", "to": ["bob"]}
{"actor": "bob", "event": "deliver", "message": "m1"}
"""

COMMANDS = """
import json, sys, traceback
from antecede.cli import main

codes = {}
for line in json.loads(sys.argv[1]):
    codes[line] = main(line.split())
print(codes, file=sys.stderr)
assert codes == json.loads(sys.argv[1]), codes
"""


def simulated(system: str, folder: Path, *command: str) -> subprocess.CompletedProcess[str]:
    """Run Python with the code of antecede on a simulated system."""
    encoding = "cp1252" if system == "windows" else "utf-8"
    env = {**environment(system), "PYTHONIOENCODING": encoding, "PYTHONWARNDEFAULTENCODING": "1"}
    return subprocess.run(
        [sys.executable, *command],
        cwd=folder,
        env=env,
        capture_output=True,
        encoding=encoding,
        check=False,
    )


def check_codes(system: str, folder: Path, codes: dict[str, int]) -> str:
    """Run command lines in one process, compare their exit codes, and return what they print."""
    (folder / "node.py").write_text(NODE)
    (folder / "log.jsonl").write_text(LOG.lstrip())
    done = simulated(system, folder, "-c", COMMANDS, json.dumps(codes))
    assert 0 == done.returncode, done.stderr
    assert "Traceback" not in done.stderr
    return done.stdout


@pytest.mark.parametrize("system", SYSTEMS)
def test_the_main_commands_run(system: str, tmp_path: Path) -> None:
    out = check_codes(
        system,
        tmp_path,
        {
            "--version": 0,
            "list": 0,
            "check fifo --actors 2 --messages 2 --engine plain": 0,
            "check cykas-secret-mode --actors 3 --messages 2 --trace run.json": 1,
            "replay run.json": 1,
            "audit log.jsonl": 0,
            "test node.py:Node --messages 1": 0,
        },
    )
    assert "too late" in out
    assert "every message was processed" in out


@pytest.mark.parametrize("system", SYSTEMS)
def test_the_command_runs_with_its_own_streams(system: str, tmp_path: Path) -> None:
    line = ("check", "unordered", "--actors", "3", "--messages", "2", "--engine", "plain")
    done = simulated(system, tmp_path, "-m", "antecede", *line, "--json", "run.json")
    assert (1, "") == (done.returncode, done.stderr)
    assert "VIOLATED" in done.stdout
    assert "VIOLATED" == json.loads((tmp_path / "run.json").read_bytes())["verdict"]


@pytest.mark.slow
@pytest.mark.parametrize("system", SYSTEMS)
def test_the_other_commands_run(system: str, tmp_path: Path) -> None:
    check_codes(
        system,
        tmp_path,
        {
            "simulate fifo --actors 3 --messages 20": 0,
            "prove fifo": 0,
            "sweep fifo --actors 2 --actors 3 --messages 1 --workers 2 --output rows.jsonl": 0,
            "sweep fifo --actors 2 --actors 3 --messages 2 --workers 2 --output rows.jsonl": 0,
            "check mfss --actors 3 --messages 2 --checkpoint saved --checkpoint-seconds 0.01": 0,
            "classes fifo --actors 2 --messages 1": 0,
            "check mfss --actors 3 --messages 2 --spill spilled": 2 if system == "windows" else 0,
        },
    )


EXPLORE = """
import urllib.request
import antecede

page = antecede.explore("fifo", actors=2, messages=1)
print(urllib.request.urlopen(page.address).status)
page.close()
"""


@pytest.mark.slow
@pytest.mark.parametrize("system", SYSTEMS)
def test_the_page_of_a_protocol_opens(system: str, tmp_path: Path) -> None:
    done = simulated(system, tmp_path, "-c", EXPLORE)
    assert ("200\n", "") == (done.stdout, done.stderr)


@pytest.mark.parametrize(
    ("system", "use"),
    [
        ("windows", "exec('os.fork()', vars(ours))"),
        ("windows", "exec('os.getuid()', vars(ours))"),
        ("windows", "exec('import fcntl', vars(ours))"),
        ("windows", "exec('open(0)', vars(ours))"),
        ("macos", "exec('os.sched_getaffinity(0)', vars(ours))"),
        ("macos", "exec('open(\"/proc/self/statm\")', vars(ours))"),
    ],
)
def test_the_simulation_takes_features_from_antecede_only(
    system: str, use: str, tmp_path: Path
) -> None:
    """The same use of a feature fails in a module of antecede, and succeeds elsewhere."""
    done = simulated(
        system, tmp_path, "-c", f"import antecede.checker.support.private as ours\n{use}"
    )
    assert 1 == done.returncode
    assert "Error" in done.stderr or "EncodingWarning" in done.stderr


def test_what_windows_lacks_is_refused_with_a_sentence(monkeypatch: pytest.MonkeyPatch) -> None:
    refuse_on_windows("--spill")
    monkeypatch.setattr("antecede.checker.support.platforms.WINDOWS", True)
    with pytest.raises(Exception, match=r"^--spill needs Linux or macOS; on Windows, run antecede"):
        refuse_on_windows("--spill")


def test_on_windows_only_the_home_folder_is_private(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(private, "WINDOWS", True)
    monkeypatch.setattr(Path, "home", lambda: tmp_path / "me")
    for name in ("me", "shared"):
        (tmp_path / name).mkdir()
    assert private.changed_by_others(tmp_path / "me") is None
    reason = private.changed_by_others(tmp_path / "shared")
    assert reason is not None
    assert "outside your home folder" in reason


def test_the_thread_that_looks_for_signals_reads_their_numbers() -> None:
    reading, writing = interrupts.signal_numbers()
    with reading, writing:
        writing.send(bytes([2]))
        assert b"\x02" == reading.recv(64)
