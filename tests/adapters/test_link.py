"""Programs that hang, end and talk nonsense, and that none of them is left behind."""

from __future__ import annotations

import gc
import os
import signal
import subprocess
import sys
import uuid
from pathlib import Path
from typing import Any

import pytest

from antecede.checker.adapters import guard, link
from antecede.checker.adapters.link import Link
from antecede.checker.support import interrupts
from antecede.checker.support.errors import InputError
from antecede.checker.support.interrupts import Limit
from tests.campaigns import child

START: dict[str, Any] = {"do": "start", "actor": 0, "actors": 2}
SEND: dict[str, Any] = {
    "do": "causal-send",
    "actor": 0,
    "message": {"sender": 0, "number": 1, "to": [1]},
}


@pytest.fixture(autouse=True)
def patience(monkeypatch: pytest.MonkeyPatch) -> None:
    """Wait for an event on a machine of any speed."""
    for name in ("PATIENCE", "CLOSING", "ENDING"):
        monkeypatch.setattr(link, name, 600.0)


@pytest.fixture
def mark(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> bytes:
    """Return what all processes that are started from now on have in their environment."""
    monkeypatch.chdir(tmp_path)  # where programs write when they were asked
    value = uuid.uuid4().hex
    monkeypatch.setenv("ANTECEDE_TEST", value)
    return f"ANTECEDE_TEST={value}".encode()


def started(habit: str) -> Link:
    """Return the link to a program that answered once, and shows a habit from then on."""
    made = Link((sys.executable, child.__file__, habit, "2"))
    assert made.ask(START) == {}
    return made


def no_patience(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(link, "PATIENCE", 0.0)


@pytest.mark.integration
@pytest.mark.parametrize(
    "habit", ["hangs", "ignores signals", "stops", "closes its input", "starts another"]
)
def test_a_program_that_hangs_is_ended_at_once(
    habit: str, mark: bytes, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = started(habit)
    no_patience(monkeypatch)
    with pytest.raises(InputError, match=r"did not answer within .*it was asked .*causal-send"):
        made.ask(SEND)
    assert [] == guard.processes(mark)


@pytest.mark.integration
@pytest.mark.parametrize(
    ("habit", "said"),
    [
        ("ends", "has ended with exit code 3"),
        ("is killed", "has ended with signal 9"),
        ("starts another and ends", "has ended with exit code 0"),
        ("starts a daemon and ends", "has ended with exit code 0"),
        ("closes its output", "closed its standard output"),
        ("writes text", "answered b'Listening on port 3000', which is no JSON"),
        ("writes no UTF-8", "which is no JSON"),
        ("writes no number", "which is no JSON"),
        ("writes brackets", "which is no JSON"),
        ("writes a line without end", "answered more than 16 MiB"),
        ("writes a long line", "answered more than 16 MiB"),
    ],
)
def test_what_is_wrong_with_a_program_is_told_and_it_is_ended(
    habit: str, said: str, mark: bytes, monkeypatch: pytest.MonkeyPatch
) -> None:
    if habit == "closes its output":
        monkeypatch.setattr(link, "CLOSING", 0.0)
    with pytest.raises(InputError, match=said):
        started(habit).ask(SEND)
    assert [] == guard.processes(mark)


@pytest.mark.integration
@pytest.mark.parametrize("habit", ["answers twice", "writes lines without end"])
def test_an_answer_that_nobody_asked_for_is_no_answer_to_the_next_question(
    habit: str, mark: bytes
) -> None:
    made = started(habit)
    made.ask(SEND)
    with pytest.raises(InputError, match=r"wrote b'\{.* without being asked"):
        made.ask(SEND)


@pytest.mark.integration
def test_after_a_fault_the_program_is_started_anew(mark: bytes) -> None:
    made = started("ends")
    for _ in range(2):
        with pytest.raises(InputError, match="has ended"):
            made.ask(SEND)
        assert made.ask(START) == {}


def test_a_fault_in_a_later_answer_is_told_with_its_question(mark: bytes) -> None:
    made = Link((sys.executable, child.__file__, "ends", "2"))
    with pytest.raises(InputError, match=r"has ended.*it was asked .*causal-send"):
        made.ask_all([START, SEND, START])
    assert made.ask(START) == {}


def test_answers_after_a_failure_are_no_answers_to_the_next_question(mark: bytes) -> None:
    """The program numbers its answers, and fails at every causal-send."""
    failing = (
        "import sys\n"
        "for number, line in enumerate(sys.stdin):\n"
        '    print(\'{"error": "no"}\' if "send" in line else f\'{{"key": {number}}}\', flush=True)'
    )
    made = Link((sys.executable, "-c", failing))
    with pytest.raises(InputError, match=r"failed: no; it was asked .*causal-send"):
        made.ask_all([START, SEND, START, START])
    assert made.ask_all([START, START]) == [{"key": 0}, {"key": 1}]


@pytest.mark.integration
def test_a_long_question_to_a_program_that_reads_nothing_does_not_hang(
    mark: bytes, monkeypatch: pytest.MonkeyPatch
) -> None:
    no_patience(monkeypatch)
    deaf = Link((sys.executable, "-c", "import time; time.sleep(1000)"))
    monkeypatch.setattr(link, "PATIENCE", 600.0)
    program = link.started(deaf.command)
    no_patience(monkeypatch)
    with pytest.raises(link.ProgramFault, match="did not answer"):
        next(program.answers_to([b"x" * (1 << 22)]))
    program.kill()
    assert [] == guard.processes(mark)


@pytest.mark.integration
def test_a_program_ends_with_the_last_who_needs_it(mark: bytes) -> None:
    made = started("hangs")
    assert len(guard.processes(mark)) == 2
    del made
    gc.collect()
    assert [] == guard.processes(mark)


def test_a_program_may_end_by_itself_when_its_input_is_closed(
    mark: bytes, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    patient = tmp_path / "guard.py"
    patient.write_text(Path(guard.__file__).read_text().replace("GRACE = 1.0", "GRACE = 600.0"))
    assert "GRACE = 600.0" in patient.read_text()
    monkeypatch.setattr(link, "GUARD", str(patient))
    body = "import sys\nfor line in sys.stdin: print('{}', flush=True)\nopen('done', 'w').close()"
    made = Link((sys.executable, "-c", body))
    made.ask(START)
    del made
    gc.collect()
    assert (tmp_path / "done").exists()


@pytest.mark.integration
def test_a_hang_ends_when_the_end_is_wanted(mark: bytes) -> None:
    made = started("hangs")
    with (
        pytest.raises(interrupts.Ended, match="enough"),
        interrupts.limited(Limit(lambda: "enough")),
    ):
        made.ask(SEND)
    assert [] == guard.processes(mark)


@pytest.mark.integration
def test_a_program_is_ended_however_the_checker_ends(mark: bytes) -> None:
    body = (
        "import os, signal, sys\n"
        "from tests.adapters.test_link import SEND, started\n"
        "import antecede.checker.adapters.link as link\n"
        "made = started('starts a daemon')\n"
        "os.kill(os.getpid(), signal.SIGKILL)"
    )
    root = Path(__file__).parents[2]
    path = os.pathsep.join([str(root), *filter(None, [os.environ.get("PYTHONPATH")])])
    done = subprocess.run(
        [sys.executable, "-c", body], env={**os.environ, "PYTHONPATH": path}, check=False
    )
    assert done.returncode == -signal.SIGKILL
    while guard.processes(mark):  # the guard is at work
        pass


def test_signals_that_the_guard_minds_not_reach_the_program_as_usual(mark: bytes) -> None:
    body = (
        "import json, signal, sys\nfor line in sys.stdin:\n"
        " print(json.dumps({'key': [signal.getsignal(n) is signal.SIG_IGN for n in (1, 15)]}),"
        " flush=True)"
    )
    assert Link((sys.executable, "-c", body)).ask(START) == {"key": [False, False]}


@pytest.mark.parametrize("command", ["/", "no-such-program", "\0"])
def test_what_cannot_be_started_is_refused(command: str, mark: bytes) -> None:
    with pytest.raises(InputError, match="cannot start"):
        Link((command,)).ask(START)
    assert [] == guard.processes(mark)
