"""Ctrl-C, SIGTERM and bounds: all work ends cleanly, or at once if it must."""

from __future__ import annotations

import contextlib
import fcntl
import gc
import json
import os
import select
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from antecede.checker.semantics.handlers import called
from antecede.checker.support import interrupts, streams
from antecede.checker.support.block import ASKED, CALL, DETAIL, INSISTS, block
from antecede.checker.support.interrupts import Ended, Limit
from antecede.checker.support.registry import protocol_named
from antecede.checker.support.supervisor import ENDING, WAKE
from tests.conftest import COMMAND, ROOT, begun, in_a_process
from tests.stubborn import HALF_AN_HOUR, PASSING

Start = Callable[..., "subprocess.Popen[str]"]

WITHIN = 600
"""Seconds; a machine under load takes its time."""


class Clock:
    """A clock that a test moves."""

    def __init__(self) -> None:
        self.seconds = 1000.0

    def __call__(self) -> float:
        return self.seconds


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    """Replace the deadline of this process by one that has a clock of the test."""
    clock = Clock()
    monkeypatch.setattr(interrupts, "deadline", interrupts.Deadline(clock))
    return clock


def test_what_does_not_look_is_interrupted_at_once() -> None:
    with interrupts.handled(), pytest.raises(Ended, match="ended by SIGTERM"):
        signal.raise_signal(signal.SIGTERM)
    assert interrupts.wanted() is None
    assert signal.getsignal(signal.SIGTERM) == signal.SIG_DFL


def test_what_looks_is_not_interrupted_and_sees_why_it_should_end() -> None:
    with interrupts.handled(), interrupts.looking():
        signal.raise_signal(signal.SIGINT)
        assert "interrupted by the user" == interrupts.wanted()
        signal.raise_signal(signal.SIGTERM)  # at once, so it means the same
        assert "interrupted by the user" == interrupts.wanted()


def insist() -> None:
    """Do what a supervisor does if a process does not end in time."""
    block.numbers[ASKED] = INSISTS
    assert WAKE is not None
    signal.raise_signal(WAKE)


@pytest.fixture(autouse=True)
def not_asked() -> Iterator[None]:
    yield
    block.numbers[ASKED] = 0.0


def test_what_does_not_look_in_time_is_interrupted() -> None:
    with interrupts.handled(), interrupts.looking():
        signal.raise_signal(signal.SIGHUP)
        with pytest.raises(Ended, match="SIGHUP"):
            insist()


def test_what_is_shielded_is_interrupted_afterwards() -> None:
    done = []

    def work() -> None:
        with interrupts.shielded():
            signal.raise_signal(signal.SIGTERM)
            done.append("in good order")
        done.append("never")

    with interrupts.handled(), pytest.raises(Ended):
        work()
    assert ["in good order"] == done


def is_signalled(done: list[str]) -> None:
    """Get a signal, and go on for a while."""
    signal.raise_signal(signal.SIGTERM)
    assert not interrupts.was_interrupted()
    done.append("in good order")


def finalized(done: list[str]) -> None:
    """Drop an object whose finalizer gets a signal."""

    class Finalized:
        def __del__(self) -> None:
            is_signalled(done)

    Finalized()


def collected(done: list[str]) -> None:
    """Collect garbage, with a callback that gets a signal."""

    def called(phase: str, _information: object) -> None:
        if phase == "start" and not done:
            is_signalled(done)

    gc.callbacks.append(called)
    try:
        gc.collect()
    finally:
        gc.callbacks.remove(called)


@pytest.mark.parametrize("work", [finalized, collected])
def test_what_cannot_raise_an_interruption_is_interrupted_afterwards(
    work: Callable[[list[str]], None],
) -> None:
    done: list[str] = []

    def whole() -> None:
        work(done)
        insist()

    with interrupts.handled(), pytest.raises(Ended, match="SIGTERM"):
        whole()
    assert ["in good order"] == done


def test_a_bound_that_nobody_looks_at_interrupts(clock: Clock) -> None:
    reasons = iter([None, "--max-seconds 5 reached"])
    with interrupts.handled(), interrupts.limited(Limit(lambda: next(reasons))):
        assert interrupts.wanted() is None
        with pytest.raises(Ended, match="--max-seconds 5 reached"):
            insist()
    assert interrupts.wanted() is None


def test_a_bound_that_is_looked_at_does_not_interrupt(clock: Clock) -> None:
    with interrupts.limited(Limit(lambda: "too little memory" if clock() > 1004 else None)):
        assert interrupts.wanted() is None
        clock.seconds = 1005.0
        assert "too little memory" == interrupts.wanted()
        with pytest.raises(Ended, match="too little memory"):
            interrupts.deadline.poll()
    assert interrupts.wanted() is None


def test_polls_look_at_bounds_now_and_then_only(clock: Clock) -> None:
    """To look at the memory takes longer than some calls of handlers."""
    looks = list[float]()

    def passed() -> None:
        looks.append(clock())

    with interrupts.limited(Limit(passed)):
        for _ in range(100):
            assert interrupts.wanted() is None
        clock.seconds += 1.0
        assert interrupts.wanted() is None
    assert [1000.0, 1001.0] == looks


def test_a_call_after_the_end_of_the_time_is_interrupted_if_nobody_looks(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """In a notebook there is no supervisor that insists."""
    clock, calls = Clock(), list[float]()
    deadline = interrupts.Deadline(clock)
    monkeypatch.setattr(interrupts, "deadline", deadline)
    monkeypatch.setattr(time, "monotonic", clock)
    protocol = protocol_named("unordered")
    with interrupts.limited(Limit(lambda: "the time is over" if clock() > 1010 else None, 1010.0)):
        for seconds in (1009.0, 1011.0, 1013.0):
            clock.seconds = seconds
            with contextlib.suppress(Ended):
                called(protocol, "receive", lambda: calls.append(clock()), ())
    assert [1009.0, 1011.0] == calls


def test_the_bound_of_an_outer_block_outlasts_the_inner_one(clock: Clock) -> None:
    with interrupts.limited(Limit(lambda: "outer")):
        assert "outer" == interrupts.wanted()
        with interrupts.limited(Limit(lambda: "inner")):
            assert "outer" == interrupts.wanted()
        assert "outer" == interrupts.wanted()
    assert interrupts.wanted() is None


def test_who_has_looked_is_left_to_end_in_its_own_time() -> None:
    with interrupts.handled(), interrupts.looking():
        signal.raise_signal(signal.SIGTERM)
        assert "ended by SIGTERM" == interrupts.wanted()
        insist()


def test_a_call_that_is_interrupted_is_noted_with_its_arguments() -> None:
    """The process may be killed in it, and the supervisor then reports it."""

    def swallows(*_arguments: object) -> None:
        with contextlib.suppress(Ended):
            insist()

    with interrupts.handled(), interrupts.looking():
        signal.raise_signal(signal.SIGTERM)
        with pytest.raises(Ended):
            called(protocol_named("unordered"), "receive", swallows, (1, "a"))
    assert "receive of protocol 'unordered'; it was called as receive(1, 'a')" == block.text(DETAIL)
    assert 0.0 == block.numbers[CALL]


@pytest.fixture
def quick(monkeypatch: pytest.MonkeyPatch) -> float:
    """Let waits end soon after a request."""
    monkeypatch.setattr("antecede.checker.support.interrupts.GRACE", 0.1)
    return 0.1


@pytest.mark.parametrize("heeds_earlier", [True, False])
def test_the_wait_for_another_program_ends_by_a_signal(heeds_earlier: bool, quick: float) -> None:
    def happens(_seconds: float) -> bool:
        signal.raise_signal(signal.SIGTERM)
        interrupts.conclude()
        return False

    with interrupts.handled(), pytest.raises(Ended, match="SIGTERM") as ended:
        interrupts.until(happens, "it was not read", heeds_earlier=heeds_earlier)
    assert ["it was not read"] == ended.value.__notes__


def test_an_earlier_signal_ends_the_wait_only_if_it_is_heeded(quick: float) -> None:
    with interrupts.handled(), interrupts.looking():
        signal.raise_signal(signal.SIGTERM)
        with pytest.raises(Ended):
            interrupts.until(lambda _seconds: False, "it was not read")
        late = time.monotonic() + 2 * quick
        interrupts.until(lambda _seconds: time.monotonic() > late, "", heeds_earlier=False)


def test_a_signal_after_the_verdict_ends_every_later_wait(quick: float) -> None:
    """It may come between two writes of a report, so that none of them sees it come."""
    with interrupts.handled():
        interrupts.conclude()
        signal.raise_signal(signal.SIGTERM)
        with pytest.raises(Ended):
            interrupts.until(lambda _seconds: False, "it was not read", heeds_earlier=False)


def test_a_signal_between_two_writes_leaves_the_stream_open(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The report about the interruption is still to be written."""

    def interrupted(*_arguments: object, **_options: object) -> None:
        signal.raise_signal(signal.SIGTERM)

    with open(tmp_path / "lines", "wb") as file, interrupts.handled():
        stream = streams._Raw(file.fileno(), None)
        with monkeypatch.context() as patches:
            patches.setattr(interrupts, "until_writable", interrupted)
            with pytest.raises(Ended):
                stream.write(b"a line")
        stream.write(b"the report")
    assert "the report" == (tmp_path / "lines").read_text()


# The command

FOREVER = """
from pathlib import Path
import attrs
from antecede.protocols.unordered import UNORDERED as base

def receive(state, src, packet):
    Path("begun").touch()
    while True:
        pass

PROTOCOL = attrs.evolve(base, name="forever", receive=receive)
"""


def started(*arguments: object, cwd: Path) -> subprocess.Popen[str]:
    """Start the command in a process group of its own, with the signals of a terminal."""
    return begun(
        [*COMMAND, *map(str, arguments)],
        cwd=cwd,
        env={**os.environ, "PYTHONUTF8": "1", "PYTHONPATH": str(ROOT / "src")},
        start_new_session=True,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler),
    )


def until(happens: Callable[[], object]) -> None:
    """Wait until something is so."""
    end = time.monotonic() + WITHIN
    while not happens():
        assert time.monotonic() < end, "it did not happen"
        time.sleep(0.05)


def starting(begins: str, *asked: object, cwd: Path) -> Start:
    """Return a function that starts the command, and returns when it writes `begins`.

    Args:
        begins: text in a line on standard error.
        asked: the command's first arguments.
    """

    def start(*options: object) -> subprocess.Popen[str]:
        process = started(*asked, *options, cwd=cwd)
        assert process.stderr is not None
        while begins not in process.stderr.readline():
            assert process.poll() is None
        return process

    return start


@pytest.fixture
def searching(tmp_path: Path) -> Start:
    """Start a long search; return when it has begun."""
    asked = ("check", "mfss", "--actors", 3, "--messages", 4, "--history", "full")
    return starting("states/s", *asked, cwd=tmp_path)


@pytest.mark.smoke
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP, signal.SIGINT])
def test_a_signal_gives_the_report_of_what_was_explored(
    searching: Start, number: signal.Signals
) -> None:
    process = searching("--engine", "plain")
    os.killpg(process.pid, number)
    out, err = process.communicate(timeout=WITHIN)
    assert 3 == process.returncode, err
    reason = "interrupted by the user" if number == signal.SIGINT else f"ended by {number.name}"
    assert out.startswith(f"mfss: INCOMPLETE: {reason}\n")
    assert "Traceback" not in err


@pytest.mark.integration
def test_a_signal_to_the_local_engine_leaves_a_last_checkpoint(
    searching: Start, tmp_path: Path
) -> None:
    saving = ("--checkpoint", "saved", "--json", "first.json")
    process = searching("--no-symmetry", *saving)
    process.terminate()
    process.communicate(timeout=WITHIN)
    assert 3 == process.returncode
    first = json.loads((tmp_path / "first.json").read_text())
    assert "ended by SIGTERM" == first["stopped_by"]
    asked = ("check", "mfss", "--actors", 3, "--messages", 4, "--history", "full", "--no-symmetry")
    bounds = ("--resume", "saved", "--max-states", 1, "--json", "second.json", "--quiet")
    assert 3 == in_a_process(*asked, *bounds, cwd=tmp_path).code
    second = json.loads((tmp_path / "second.json").read_text())
    assert first["unique_states"] == second["unique_states"] > 1


QUICK = ("check", "mfss", "--actors", 2, "--messages", 2, "--engine", "plain", "--quiet")
PIPED = {
    "check --json": (*QUICK, "--json", "pipe"),
    "prove --json": ("prove", "mfss", "--quiet", "--json", "pipe"),
    "prove --junit": ("prove", "mfss", "--quiet", "--junit", "pipe"),
}
"""Commands that write to a named pipe, after a line on standard output."""


@pytest.mark.integration
@pytest.mark.parametrize("case", PIPED)
def test_a_signal_ends_the_wait_for_the_reader_of_a_pipe(case: str, tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    _ends_without_a_reader(PIPED[case], signal.SIGTERM, tmp_path)


@pytest.mark.integration
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGHUP])
def test_each_signal_ends_the_wait_for_a_reader(number: signal.Signals, tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    _ends_without_a_reader(PIPED["check --json"], number, tmp_path)


@pytest.mark.integration
def test_a_signal_ends_the_wait_for_a_reader_that_does_not_read(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    reader = os.open(tmp_path / "pipe", os.O_RDONLY | os.O_NONBLOCK)
    filler = os.open(tmp_path / "pipe", os.O_WRONLY | os.O_NONBLOCK)
    while True:
        try:
            os.write(filler, b"x")
        except BlockingIOError:
            break
    _ends_without_a_reader(PIPED["check --json"], signal.SIGTERM, tmp_path)
    os.close(reader)
    os.close(filler)


def _ends_without_a_reader(asked: tuple[object, ...], number: signal.Signals, folder: Path) -> None:
    process = started(*asked, cwd=folder)
    try:
        assert process.stdout is not None
        assert process.stdout.readline()
        process.send_signal(number)
        _, err = process.communicate(timeout=WITHIN)
    finally:
        process.kill()
        process.wait()
    assert 3 == process.returncode, err
    assert "Interrupted; no program read 'pipe'.\n" in err
    assert "Traceback" not in err


@pytest.mark.integration
def test_a_signal_to_the_search_ends_the_wait_for_a_reader(
    searching: Start, tmp_path: Path
) -> None:
    os.mkfifo(tmp_path / "pipe")
    process = searching("--engine", "plain", "--json", "pipe")
    process.terminate()
    out, err = process.communicate(timeout=WITHIN)
    assert 3 == process.returncode
    assert "INCOMPLETE: ended by SIGTERM" in out
    assert "no program read 'pipe'" in err


@pytest.mark.integration
def test_a_signal_ends_the_wait_for_a_reader_of_standard_output(tmp_path: Path) -> None:
    process = started("prove", "mfss", "--json", "-", cwd=tmp_path)
    assert process.stdout is not None
    fcntl.fcntl(process.stdout, fcntl.F_SETPIPE_SZ, 4096)
    assert process.stderr is not None
    select.select([process.stdout], [], [], WITHIN)
    process.terminate()
    assert 3 == process.wait(timeout=WITHIN)
    assert "Interrupted; standard output was not read to its end." in process.stderr.read()
    process.communicate()


@pytest.mark.integration
def test_a_signal_ends_the_wait_for_a_reader_before_the_report(tmp_path: Path) -> None:
    """These files are written before the report, one after the other."""
    os.mkfifo(tmp_path / "pipe")
    process = started(*QUICK, "--junit", "done", "--sarif", "pipe", cwd=tmp_path)
    until((tmp_path / "done").exists)
    process.terminate()
    _, err = process.communicate(timeout=WITHIN)
    assert 3 == process.returncode
    assert "no program read 'pipe'" in err


@pytest.mark.integration
def test_a_reader_that_comes_late_gets_the_whole_file(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    process = started(*PIPED["check --json"], cwd=tmp_path)
    assert process.stdout is not None
    assert process.stdout.readline()
    assert "HOLDS" == json.loads((tmp_path / "pipe").read_text())["verdict"]
    process.communicate(timeout=WITHIN)
    assert 0 == process.returncode


@pytest.mark.integration
def test_a_second_signal_ends_at_once(tmp_path: Path) -> None:
    (tmp_path / "forever.py").write_text(FOREVER)
    process = started("check", "forever.py:PROTOCOL", "--engine", "plain", cwd=tmp_path)
    until((tmp_path / "begun").exists)
    process.terminate()
    time.sleep(1.2)
    process.terminate()
    _, err = process.communicate(timeout=WITHIN)
    assert 3 == process.returncode
    assert "Traceback" not in err


@pytest.mark.integration
@pytest.mark.parametrize(
    "asked",
    [
        ("--actors", 5000),
        ("--actors", 30, "--workload", "multicast"),
    ],
)
def test_more_actors_than_the_engine_takes_is_said_at_once(
    tmp_path: Path, asked: tuple[object, ...]
) -> None:
    ran = in_a_process("check", "mfss", *asked, cwd=tmp_path)
    assert 2 == ran.code
    assert "the local engine takes at most 16" in ran.err


@pytest.mark.integration
@pytest.mark.parametrize(
    "asked",
    [
        ("rst", "--actors", 1000, "--engine", "plain"),
        ("mfss", "--actors", 30, "--workload", "multicast", "--engine", "plain"),
        ("mfss", "--messages", 1_000_000, "--engine", "plain"),
    ],
)
def test_bounds_hold_from_the_first_second(tmp_path: Path, asked: tuple[object, ...]) -> None:
    """A check whose start is too large is INCOMPLETE, soon after the bound."""
    ran = in_a_process("check", *asked, "--max-seconds", 1, "--quiet", cwd=tmp_path)
    assert 3 == ran.code, ran.err
    assert "INCOMPLETE: --max-seconds 1 reached" in ran.out


@pytest.mark.integration
def test_more_channels_than_fit_the_memory_are_incomplete(tmp_path: Path) -> None:
    asked = ("check", "cykas", "--actors", 3_400_000, "--messages", 1, "--engine", "plain")
    ran = in_a_process(*asked, "--max-seconds", 60, "--quiet", cwd=tmp_path)
    assert 3 == ran.code, ran.err
    assert "the channels between 3,400,000 actors take more than the memory" in ran.out + ran.err


@pytest.mark.integration
def test_a_search_ends_before_the_last_memory_is_gone(tmp_path: Path) -> None:
    """Simulate a container: the memory left in the control group shrinks with use."""
    script = tmp_path / "limited.py"
    script.write_text(LIMITED)
    done = subprocess.run(
        [sys.executable, str(script), "check", "rst", "--actors", "6", "--engine", "plain"],
        env={**os.environ, "PYTHONPATH": str(ROOT / "src")},
        capture_output=True,
        text=True,
        timeout=WITHIN,
        check=False,
    )
    assert 3 == done.returncode, done.stderr
    assert "INCOMPLETE: too little memory: only " in done.stdout


LIMITED = """
import sys
from antecede import cli
from antecede.checker.support import memory
from antecede.checker.support.memory import memory_bytes

LIMIT = memory_bytes() + 60_000_000
memory.available_memory_bytes = lambda: LIMIT - memory_bytes()
memory.usable_memory_bytes = lambda: LIMIT
sys.exit(cli.main(sys.argv[1:]))
"""


@pytest.mark.integration
@pytest.mark.parametrize("engine", ["plain", "local"])
def test_a_handler_that_does_not_return_is_ended_by_the_bound(tmp_path: Path, engine: str) -> None:
    (tmp_path / "forever.py").write_text(FOREVER)
    asked = ("check", "forever.py:PROTOCOL", "--engine", engine, "--selfcheck", "off")
    ran = in_a_process(*asked, "--max-seconds", 1, cwd=tmp_path)
    assert 3 == ran.code
    assert "INCOMPLETE: --max-seconds 1 reached" in ran.out


STUBBORN = f"""{PASSING}
import attrs
from antecede.protocols.unordered import UNORDERED as base

def receive(state, src, packet):
    try:
        never()
    except BaseException:
        return base.receive(state, src, packet)

DEEP = attrs.evolve(base, name="deep", initial=deep)
CATCHES = attrs.evolve(base, name="catches", initial=catches)
RETURNS = attrs.evolve(base, name="returns", receive=receive)
"""


@pytest.mark.integration
@pytest.mark.parametrize("name", ["DEEP", "CATCHES", "RETURNS"])
def test_a_handler_that_no_exception_ends_is_ended_by_the_bound(tmp_path: Path, name: str) -> None:
    (tmp_path / "stubborn.py").write_text(STUBBORN)
    asked = ("check", f"stubborn.py:{name}", "--max-seconds", HALF_AN_HOUR, "--json", "found.json")
    ran = in_a_process(*asked, cwd=tmp_path)
    assert 3 == ran.code
    assert f"--max-seconds {HALF_AN_HOUR} reached; " in ran.out + ran.err
    assert "had not returned after" in ran.out + ran.err
    if name == "RETURNS":
        assert "INCOMPLETE" == json.loads((tmp_path / "found.json").read_text())["verdict"]
    else:  # the supervisor kills it, unless an interruption ends it by chance
        reported = "there is no result" not in ran.err
        assert reported is (tmp_path / "found.json").exists()


@pytest.mark.integration
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
@pytest.mark.parametrize("name", ["DEEP", "CATCHES", "RETURNS"])
def test_a_handler_that_no_exception_ends_is_ended_by_one_signal(
    tmp_path: Path, name: str, number: signal.Signals
) -> None:
    (tmp_path / "stubborn.py").write_text(STUBBORN)
    process = started("check", f"stubborn.py:{name}", cwd=tmp_path)
    until((tmp_path / "begun").exists)
    process.send_signal(number)
    out, err = process.communicate(timeout=WITHIN)
    assert 3 == process.returncode
    assert "had not returned after" in out + err


@pytest.mark.integration
def test_an_import_that_no_exception_ends_is_ended_by_the_bound(tmp_path: Path) -> None:
    (tmp_path / "stubborn.py").write_text(STUBBORN + "\ncatches(0, 1)\n")
    asked = ("check", "stubborn.py:DEEP", "--max-seconds", HALF_AN_HOUR)
    ran = in_a_process(*asked, cwd=tmp_path)
    assert 3 == ran.code
    reached = f"--max-seconds {HALF_AN_HOUR} reached"
    assert f"{reached}; the import of stubborn.py had not ended after" in ran.err


@pytest.mark.integration
@pytest.mark.parametrize("search", ["breadth", "depth", "random"])
def test_the_time_to_compile_counts(tmp_path: Path, search: str) -> None:
    asked = ("check", "rst", "--actors", 4, "--messages", 4, "--search", search)
    cache = str(tmp_path / "cache")
    ran = in_a_process(*asked, "--max-seconds", 0.5, cwd=tmp_path, NUMBA_CACHE_DIR=cache)
    assert 3 == ran.code
    assert "--max-seconds 0.5 reached" in ran.out + ran.err
    assert [] == list((tmp_path / "cache").rglob("*.new")) or search == "breadth"


@pytest.mark.integration
def test_a_compilation_that_never_ends_is_abandoned(tmp_path: Path) -> None:
    (tmp_path / "endless.py").write_text(ENDLESS_COMPILATION)
    done = subprocess.run(
        [sys.executable, "endless.py", "check", "rst", "--search", "random", "--max-seconds", "1"],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(ROOT / "src"), "NUMBA_CACHE_DIR": str(tmp_path)},
        capture_output=True,
        text=True,
        timeout=WITHIN,
        check=False,
    )
    assert 3 == done.returncode, done.stderr
    assert "--max-seconds 1 reached; the compilation of a kernel had not ended after" in done.stderr


ENDLESS_COMPILATION = """
import sys
from antecede import __main__
from antecede.checker.compiled import jit

def compiles(self, kinds):
    while True:
        pass

jit.Kernel._compile = compiles
sys.exit(__main__.main())
"""


@pytest.mark.integration
@pytest.mark.parametrize("search", ["breadth", "depth", "random"])
def test_a_start_that_is_far_beyond_the_memory_is_refused_early(
    tmp_path: Path, search: str
) -> None:
    asked = ("check", "mfss", "--actors", 20_000, "--engine", "plain", "--search", search)
    ran = in_a_process(*asked, "--max-memory", "1G", "--quiet", cwd=tmp_path)
    assert 3 == ran.code, ran.err
    expected = "--max-memory 1.0 GB reached: the channels between 20,000 actors do"
    assert f"mfss: INCOMPLETE: {expected}, before the search began" in " ".join(ran.out.split())


# Before the command handles signals, and after its report

POINTS = """
import atexit, os, runpy, signal, sys

number, point = int(sys.argv[1]), sys.argv[2]


def send(*_arguments, **_more):
    os.kill(os.getpid(), number)


class Hook:
    imports = 0

    def find_spec(self, name, *_):
        self.imports += signal.getsignal(signal.SIGTERM) != signal.SIG_DFL
        if point.removeprefix("import ") in (name, str(self.imports)):
            send()


class Late:
    def __del__(self):
        send()


def before(function):
    def sends(*arguments, **more):
        send()
        return function(*arguments, **more)

    return sends


def after(function):
    def sends(*arguments, **more):
        try:
            return function(*arguments, **more)
        finally:
            send()

    return sends


def arrange():
    import antecede.cli as cli
    from antecede.checker.commands import console, outputs

    if point == "after the report":
        console.emit = after(console.emit)
    elif point == "with the file":
        outputs.write_whole = before(outputs.write_whole)
    elif point == "before the end":
        cli.main = after(cli.main)
    elif point == "at exit":
        atexit.register(send)
    elif point == "in the last moment":
        sys.late = Late()


sys.argv[1:3] = []
if point.startswith("import "):
    sys.meta_path.insert(0, Hook())
else:
    arrange()
runpy.run_module("antecede", run_name="__main__", alter_sys=True)
"""


def signalled(number: int, point: str, *arguments: str, cwd: Path) -> tuple[int, str, str]:
    """Run the command, which gets a signal at a point; return its exit code, and its output."""
    (cwd / "points.py").write_text(POINTS)
    done = subprocess.run(
        [sys.executable, "points.py", str(int(number)), point, *arguments],
        cwd=cwd,
        env={**os.environ, "PYTHONUTF8": "1", "PYTHONPATH": str(ROOT / "src")},
        capture_output=True,
        text=True,
        check=False,
    )
    return done.returncode, done.stdout, done.stderr


EVERY_SIGNAL = pytest.mark.parametrize("number", ENDING)
SMALL = ("--actors", "2", "--messages", "2", "--engine", "plain", "--quiet")


@pytest.mark.integration
@EVERY_SIGNAL
@pytest.mark.parametrize(
    "point", ["attrs", "click", "antecede.cli", "antecede.checker.check.targets"]
)
def test_a_signal_during_the_imports_ends_without_a_result(
    tmp_path: Path, number: int, point: str
) -> None:
    code, out, err = signalled(number, f"import {point}", "check", "mfss", *SMALL, cwd=tmp_path)
    assert (3, "", "Interrupted; there is no result.") == (code, out, err.strip())


@pytest.mark.integration
@EVERY_SIGNAL
def test_a_signal_during_an_import_of_the_command_ends_without_a_result(
    tmp_path: Path, number: int
) -> None:
    point = "import antecede.checker.papers.simulate"
    code, out, err = signalled(number, point, "simulate", "mfss", cwd=tmp_path)
    assert (3, "", "Interrupted; there is no result.") == (code, out, err.strip())


@pytest.mark.integration
@EVERY_SIGNAL
@pytest.mark.parametrize(
    ("point", "expected"),
    [
        ("after the report", "holds"),
        ("with the file", "violated"),
        ("before the end", "holds"),
        ("at exit", "violated"),
        ("in the last moment", "holds"),
    ],
)
def test_a_signal_after_the_verdict_does_not_change_the_exit_code(
    tmp_path: Path, number: int, point: str, expected: str
) -> None:
    asked = ("check", "mfss", *SMALL, "--expect", expected, "--json", "found.json")
    code, out, err = signalled(number, point, *asked, cwd=tmp_path)
    assert (0 if expected == "holds" else 1, "") == (code, err)
    assert out.startswith("mfss: HOLDS")
    assert "HOLDS" == json.loads((tmp_path / "found.json").read_text())["verdict"]


@pytest.mark.integration
@pytest.mark.parametrize(
    ("expected", "arguments"),
    [
        (0, ("list", "mfss")),
        (0, ("table", "--bounds", "2x1", "--engine", "plain")),
        (0, ("sweep", "mfss", "--actors", "2", "--messages", "2", "--engine", "plain")),
        (0, ("audit", "log.jsonl")),
        (0, ("prove", "fifo")),
        (0, ("claims", "--source", "tree", "--quick", "--engine", "plain")),
    ],
)
def test_the_exit_code_of_every_report_stays(
    tmp_path: Path, expected: int, arguments: tuple[str, ...]
) -> None:
    event = '{{"actor": "{}", "event": "{}", "message": "m", "to": ["b"]}}\n'
    both = event.format("a", "causal-send") + event.format("b", "deliver")
    (tmp_path / "log.jsonl").write_text(both)
    code, out, _ = signalled(signal.SIGTERM, "before the end", *arguments, cwd=tmp_path)
    assert expected == code
    assert out
    if arguments[0] != "claims":  # it prints during the work, too
        code, _, _ = signalled(signal.SIGTERM, "after the report", *arguments, cwd=tmp_path)
        assert expected == code


@pytest.mark.integration
def test_a_signal_that_is_ignored_at_the_start_stays_so(tmp_path: Path) -> None:
    (tmp_path / "points.py").write_text(POINTS)
    line = 'trap "" HUP; exec "$@"'
    points = [sys.executable, "points.py", str(int(signal.SIGHUP)), "import click"]
    done = subprocess.run(
        ["sh", "-c", line, "sh", *points, "check", "mfss", *SMALL],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(ROOT / "src")},
        capture_output=True,
        text=True,
        check=False,
    )
    assert (0, "mfss: HOLDS\n") == (done.returncode, done.stdout)
