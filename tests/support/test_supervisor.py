"""The process that keeps the limits of a command from outside, and ends what the command leaves."""

from __future__ import annotations

import os
import signal
import sys
import time
from pathlib import Path

import pytest

from antecede.checker.support.block import (
    ASKED,
    ASKS,
    BEGAN,
    CALL,
    CONCLUDED,
    INSISTS,
    MOST,
    NOTICED,
    PROCESS,
    TIME,
    UNTIL,
    VITAL,
    Block,
)
from antecede.checker.support.supervisor import GRACE, HANGING, LATE, OWN, PERIOD, STUCK, Watch
from tests.conftest import COMMAND, begun, children_of, in_a_process, is_alive, on_linux
from tests.support.test_interrupts import WITHIN, until

REASON = "--max-seconds 5 reached"


class Watched(Watch):
    """A watch that notes the signals that it sends, and has a clock of its own."""

    def __init__(self) -> None:
        super().__init__(Block())
        self.sent, self.now = 0, 100.0
        self.block.write(TIME, REASON)

    def send(self, number: int | None) -> None:
        """Count a signal."""
        self.sent += 1

    def looks(self, seconds: float) -> bool:
        """Look for some seconds, and return whether the process must be killed."""
        until = self.now + seconds
        while self.now < until:
            self.now += PERIOD
            if self.look(self.now):
                return True
        return False

    def calls(self) -> None:
        """Begin a call of a function of the user."""
        self.block.numbers[CALL] = self.block.name("receive of protocol 'p'")
        self.block.numbers[BEGAN] = self.now


@pytest.fixture
def watch() -> Watched:
    return Watched()


def test_work_in_time_is_left_alone(watch: Watched) -> None:
    watch.block.numbers[UNTIL] = watch.now + 60
    assert not watch.looks(60)
    assert (0, "", 0.0) == (watch.sent, watch.reason, watch.block.numbers[ASKED])


def test_work_that_is_late_is_asked_to_end_and_its_own_end_is_awaited(watch: Watched) -> None:
    watch.block.numbers[UNTIL] = watch.now + 1
    assert not watch.looks(1 + LATE + PERIOD)
    assert (1, REASON, ASKS) == (watch.sent, watch.reason, watch.block.numbers[ASKED])
    watch.block.numbers[NOTICED] = 1.0
    assert not watch.looks(1000)
    assert 1 == watch.sent


def test_work_that_does_not_notice_is_interrupted_and_killed(watch: Watched) -> None:
    watch.block.numbers[UNTIL] = watch.now
    assert not watch.looks(LATE + GRACE + 2 * PERIOD)
    assert INSISTS == watch.block.numbers[ASKED]
    assert not watch.looks(OWN - 2 * PERIOD)
    assert watch.looks(4 * PERIOD)


def test_a_call_of_the_user_is_killed_sooner(watch: Watched) -> None:
    watch.calls()
    watch.block.numbers[UNTIL] = watch.now
    assert watch.looks(LATE + 2 * STUCK + 3 * PERIOD)
    assert watch.unfinished(" (line 3 of p.py)").startswith(
        f"{REASON}; receive of protocol 'p' had not returned after "
    )
    assert watch.unfinished(" (line 3 of p.py)").endswith(" seconds (line 3 of p.py)")


def test_a_call_that_swallows_what_it_noticed_is_killed(watch: Watched) -> None:
    watch.block.numbers[UNTIL] = watch.now
    watch.looks(LATE + PERIOD)
    watch.block.numbers[NOTICED] = 1.0
    watch.calls()
    assert watch.looks(2 * STUCK + 3 * PERIOD)


def test_calls_that_return_are_no_hang(watch: Watched) -> None:
    watch.block.numbers[UNTIL] = watch.now
    watch.looks(LATE + PERIOD)
    watch.block.numbers[NOTICED] = 1.0
    for _ in range(100):
        watch.calls()
        assert not watch.looks(STUCK - PERIOD)


@pytest.mark.parametrize("number", [VITAL, CONCLUDED])
def test_what_must_be_finished_is_not_killed(watch: Watched, number: int) -> None:
    watch.block.numbers[number] = 1.0
    watch.calls()
    watch.ask("ended by SIGTERM")
    assert not watch.looks(1000)


def test_a_limit_that_is_over_is_forgotten(watch: Watched) -> None:
    watch.block.numbers[UNTIL] = watch.now
    watch.looks(LATE + PERIOD)
    watch.block.numbers[UNTIL] = watch.now + 1000
    assert not watch.looks(100)
    assert ("", 0.0) == (watch.reason, watch.block.numbers[ASKED])


def test_a_request_by_a_signal_outlasts_the_limit(watch: Watched) -> None:
    watch.block.numbers[UNTIL] = watch.now + 1000
    watch.ask("ended by SIGTERM")
    watch.block.numbers[UNTIL] = 0.0
    watch.looks(1)
    assert "ended by SIGTERM" == watch.reason


def test_time_in_which_both_processes_are_stopped_is_no_hang(watch: Watched) -> None:
    watch.calls()
    watch.looks(1)
    watch.now += 3600  # Ctrl-Z, and fg an hour later
    watch.looks(1)
    assert "" == watch.hanging()
    watch.looks(HANGING)
    assert watch.hanging().startswith("receive of protocol 'p' has not returned after")
    assert "" == watch.hanging()


@on_linux
def test_memory_does_not_wait_for_a_poll(watch: Watched) -> None:
    watch.block.numbers[PROCESS] = os.getpid()
    watch.block.numbers[MOST] = 1e15
    watch.looks(1)
    assert 0.0 == watch.block.numbers[ASKED]
    watch.block.numbers[MOST] = 1e6
    watch.looks(PERIOD)
    assert INSISTS == watch.block.numbers[ASKED]


def test_many_names_share_the_last_one() -> None:
    block = Block()
    indices = [block.name(f"function {number}") for number in range(100)]
    assert "function 3" == block.text(int(indices[3]))
    assert "a function of a protocol" == block.text(int(indices[-1]))


# The command

HOSTILE = """
import ctypes, multiprocessing, os, signal, subprocess, sys, time
from antecede import Protocol, Step

def forks():
    if os.fork() == 0:
        os._exit(0)
    os.wait()

def goes_on():
    os.fork()

def sleeps():
    if os.fork() == 0:
        time.sleep(3600)

def daemon():
    if os.fork() == 0:
        os.setsid()
        if os.fork() == 0:
            time.sleep(3600)
        os._exit(0)

def swallows():
    while True:
        try:
            time.sleep(3600)
        except BaseException:
            pass

def deaf():
    for number in (signal.SIGURG, signal.SIGTERM, signal.SIGINT):
        signal.signal(number, signal.SIG_IGN)
    while True:
        pass

HABITS = {
    "exits": lambda: os._exit(0),
    "crashes": lambda: ctypes.string_at(0),
    "is killed": lambda: os.kill(os.getpid(), signal.SIGKILL),
    "has a timer": lambda: (signal.setitimer(signal.ITIMER_REAL, 0.01), time.sleep(60)),
    "forks": forks,
    "forks and goes on": goes_on,
    "forks a sleeper": sleeps,
    "forks a daemon": daemon,
    "starts a program": lambda: subprocess.Popen(["sleep", "3600"]),
    "uses multiprocessing": lambda: multiprocessing.get_context("fork").Process(target=int).start(),
    "hangs in C": lambda: sum(range(10**13)),
    "hangs in C, but heeds signals": lambda: pow(7, 10**8),
    "swallows": swallows,
    "ignores signals": deaf,
    "stops": lambda: os.kill(os.getpid(), signal.SIGSTOP),
}

def receive(state, src, packet):
    HABITS[HABIT]()
    return Step(state, deliveries=(packet,))

def causal_send(state, message):
    return Step(state, sends=tuple((to, message) for to in message.destinations))

P = Protocol(name="p", summary="x", source="x", initial=lambda actor, actors: 0,
             causal_send=causal_send, receive=receive)
"""

ENDS = {
    "exits": (2, "receive of protocol 'p' ended the process (exit code 0)"),
    "crashes": (2, "receive of protocol 'p' ended the process (SIGSEGV) (line "),
    "is killed": (3, "the process was killed in receive of protocol 'p', most likely for want of"),
    "has a timer": (2, "receive of protocol 'p' ended the process (SIGALRM)"),
    "forks": (0, ""),
    "forks and goes on": (0, ""),
    "forks a sleeper": (0, ""),
    "forks a daemon": (0, ""),
    "starts a program": (0, ""),
    "uses multiprocessing": (0, ""),
    "hangs in C": (3, "--max-seconds 1 reached; receive of protocol 'p' had not returned after "),
    "hangs in C, but heeds signals": (3, "; receive of protocol 'p' had not returned after "),
    "swallows": (3, "; it was called as receive(0, 0, Message("),
    "ignores signals": (3, "receive of protocol 'p' had not returned after "),
    "stops": (3, "receive of protocol 'p' had not returned after "),
}
SMALL = ("--actors", 2, "--messages", 2, "--engine", "plain", "--selfcheck", "off")


@pytest.mark.integration
@on_linux
@pytest.mark.parametrize("habit", ENDS)
def test_whatever_a_handler_does_gives_one_line_and_leaves_no_process(
    tmp_path: Path, habit: str
) -> None:
    (tmp_path / "hostile.py").write_text(HOSTILE + f"\nHABIT = {habit!r}\n")
    limit = ("--max-seconds", 1 if ENDS[habit][0] == 3 else 3600)
    asked = ("hostile.py:P", *SMALL, "--property", "integrity", *limit)
    ran = in_a_process("check", *asked, cwd=tmp_path)
    code, said = ENDS[habit]
    assert code == ran.code, ran.err
    told = " ".join((ran.out + ran.err).split())
    assert said in told
    assert "Traceback" not in told
    assert ran.err.count("\n") <= 2
    assert [] == in_folder(tmp_path)


def in_folder(folder: Path) -> list[str]:
    """Return the processes whose current folder this is."""
    found = []
    for entry in Path("/proc").iterdir():
        try:
            if entry.name.isdigit() and os.readlink(entry / "cwd") == str(folder):
                found.append((entry / "cmdline").read_text())
        except OSError:
            pass
    return found


@pytest.mark.integration
@on_linux
def test_a_command_ends_with_its_supervisor_even_if_that_is_killed(tmp_path: Path) -> None:
    (tmp_path / "hostile.py").write_text(HOSTILE + "\nHABIT = 'hangs in C'\n")
    process = begun([*COMMAND, "check", "hostile.py:P", *map(str, SMALL)], cwd=tmp_path)
    until(lambda: children_of(process.pid))
    children = children_of(process.pid)
    process.kill()
    process.wait()
    until(lambda: not any(map(is_alive, children)))


@pytest.mark.integration
@on_linux
def test_what_runs_no_code_of_the_user_starts_no_other_process(tmp_path: Path) -> None:
    """Count the forks of `--version` and `--help`, and of a check for comparison."""
    script = tmp_path / "forks.py"
    script.write_text(
        "import os, sys\n"
        "from antecede.__main__ import main\n"
        "os.register_at_fork(before=lambda: os.write(2, b'forked'))\n"
        "sys.exit(main())\n"
    )
    for words, forks in {"--version": 0, "check --help": 0, "list mfss": 1}.items():
        process = begun([sys.executable, str(script), *words.split()], cwd=tmp_path)
        _, err = process.communicate(timeout=WITHIN)
        assert forks == err.count("forked"), words


@pytest.mark.integration
@on_linux
def test_a_second_signal_ends_a_call_that_hangs(tmp_path: Path) -> None:
    (tmp_path / "hostile.py").write_text(HOSTILE + "\nHABIT = 'hangs in C'\n")
    process = begun([*COMMAND, "check", "hostile.py:P", *map(str, SMALL)], cwd=tmp_path)
    assert process.stderr is not None
    said = process.stderr.readline()
    assert said.startswith("receive of protocol 'p' has not returned after ")
    began = time.monotonic()
    process.send_signal(signal.SIGINT)
    _, err = process.communicate(timeout=WITHIN)
    assert (3, time.monotonic() < began + WITHIN) == (process.returncode, True)
    assert err.startswith("Error: interrupted by the user; receive of protocol 'p' had not ")
