"""A protocol that fails is a finding: the shortest run that leads there, in every search."""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable
from pathlib import Path as FilePath
from typing import Any

import pytest
from attrs import evolve, frozen

from antecede.checker.check.pipeline import check
from antecede.checker.check.report import CheckReport
from antecede.checker.check.spec import Spec
from antecede.checker.model import Message, Protocol, Step
from antecede.checker.render.json import replay_file
from antecede.checker.render.text import check_text
from antecede.checker.search.options import Bounds, Options
from antecede.checker.search.result import Verdict
from antecede.checker.semantics.failing import HANDLER_RETURNS, PREDICATE_RETURNS, Raised
from antecede.checker.support import interrupts
from antecede.cli import main
from tests.conftest import in_a_process
from tests.support.test_interrupts import insist

EVERYWHERE = [
    (engine, search) for engine in ("plain", "local") for search in ("breadth", "depth", "random")
]
in_every_engine = pytest.mark.parametrize(("engine", "search"), EVERYWHERE)


@frozen
class Seen:
    """The number of messages that an actor has received."""

    count: int = 0


@frozen
class Data:
    message: Message


def fails_at(count: int, failure: Callable[[], Any]) -> Protocol:
    """Return a protocol whose reception with this number ends in `failure`."""

    def causal_send(state: Seen, message: Message) -> Step:
        return Step(state, sends=((message.receiver, Data(message)),))

    def receive(state: Seen, _src: int, packet: Data) -> Any:
        state = evolve(state, count=state.count + 1)
        if state.count == count:
            return failure()
        return Step(state, deliveries=(packet.message,))

    return Protocol("failing", lambda _actor, _actors: Seen(), causal_send, receive)


def _asserts() -> None:
    raise AssertionError("three got here")


def checked(
    protocol: Protocol,
    engine: str = "local",
    search: str = "breadth",
    *,
    bounds: Bounds = Bounds(),
    properties: tuple[str, ...] = ("integrity",),
    **how: Any,
) -> CheckReport:
    asked = {"actors": 3, "messages": 2} | how
    spec = Spec(protocol="failing", properties=properties, search=search, **asked)
    return check(spec, Options(engine=engine, walks=50), bounds, protocol=protocol)


@in_every_engine
def test_every_search_shows_the_shortest_run_to_a_handler_that_raises(
    engine: str, search: str
) -> None:
    report = checked(fails_at(3, _asserts), engine, search)
    assert (Verdict.ERROR, 2) == (report.result.verdict, report.exit_code)
    assert "receive of protocol 'failing' raised AssertionError: three got here" in str(
        report.result.error
    )
    path = report.result.counterexample
    assert path is not None
    assert HANDLER_RETURNS == path.violates
    assert 6 == path.length, "three causal-sends to one actor, and three receptions"
    assert ", in step 6, in the call receive(" in joined(check_text(report))
    assert "The protocol fails in step 6:" in check_text(report, verbose=True)


def joined(text: str) -> str:
    """Return a text without its line breaks."""
    return " ".join(text.split())


@pytest.mark.parametrize("network", ["duplicating", "fifo+lossy:1"])
def test_run_is_found_on_networks_that_repeat_and_lose(network: str) -> None:
    report = checked(fails_at(2, _asserts), network=network)
    assert report.result.counterexample is not None
    # On a network that duplicates, one packet is received twice.
    assert (3 if network == "duplicating" else 4) == report.result.counterexample.length


@pytest.mark.parametrize(
    ("returned", "said"),
    [
        (None, "returned None; it must return a Step, Step(state) where nothing happens"),
        (Step(Seen(), deliveries=Message(0, 1, (1,))), "comma after it: deliveries=(message,)"),  # type: ignore[arg-type]
        (Step(Seen(), sends=((7, "far"),)), "with a destination from 0 to 2"),
        (Step([]), "state is a list; use a tuple"),
    ],
)
def test_wrong_result_is_explained_with_the_run(returned: Any, said: str) -> None:
    report = checked(fails_at(2, lambda: returned))
    assert Verdict.ERROR is report.result.verdict
    assert said in str(report.result.error)
    assert report.result.counterexample is not None
    assert 4 == report.result.counterexample.length


@pytest.mark.parametrize("raised", [SystemExit(0), GeneratorExit(), BaseException("odd")])
@pytest.mark.parametrize("engine", ["plain", "local"])
def test_whatever_a_handler_raises_is_its_error(raised: BaseException, engine: str) -> None:
    def failure() -> None:
        raise raised

    report = checked(fails_at(1, failure), engine)
    assert 2 == report.exit_code
    assert f"raised {type(raised).__name__}" in str(report.result.error)
    assert report.result.counterexample is not None
    assert 2 == report.result.counterexample.length


LOADS = """
import json
from antecede import Protocol, Step

def send(state, message):
    return Step(state, sends=((message.receiver, message),))

def receive(state, src, message):
    return Step(loaded("{"), deliveries=(message,))

def loaded(text):
    return json.loads(text)

LOADS = Protocol("loads", lambda *_: 0, send, receive)
"""


def test_an_error_in_a_library_is_reported_once_at_the_line_of_the_user(
    tmp_path: FilePath, capsys: pytest.CaptureFixture[str]
) -> None:
    source = tmp_path / "mine.py"
    source.write_text(LOADS)
    trace = tmp_path / "bug.svg"
    assert 2 == main(["check", str(source), "--trace", str(trace)])
    out = capsys.readouterr().out
    assert f"{source}: ERROR: receive of protocol" in " ".join(out.split())
    joined = "".join(out.split())
    assert 1 == joined.count("raisedJSONDecodeError")
    assert f"where:line12of{source},instep2" in joined
    assert "line 9, in receive\n" in out
    assert "in called" not in out, "frames of the checker help nobody"
    assert "causal-delivery" not in out, "the protocol is broken, so nothing was searched"
    drawn = trace.read_text()
    assert "ERROR: a handler fails after 2 transitions" in drawn
    assert "handler-returns" not in drawn
    assert 2 == main(["check", str(source), "--quiet"])
    assert "ERROR: receive of protocol 'loads' raised JSONDecodeError" in capsys.readouterr().out


class Mute(Exception):
    """Has no text: making one raises."""

    def __str__(self) -> str:
        raise KeyError("no")


@frozen(repr=False)
class Unprintable:
    """A packet whose repr raises."""

    content: Any

    def __repr__(self) -> str:
        raise KeyError("no")


def test_an_exception_or_argument_whose_text_raises_is_named_by_its_class() -> None:
    """Both texts are made by the user's code."""

    def receive(_state: Any, _src: int, _packet: Any) -> Step:
        raise Mute

    def causal_send(state: Any, message: Message) -> Step:
        return Step(state, sends=tuple((to, Unprintable(message)) for to in message.destinations))

    report = checked(evolve(fails_at(9, _asserts), causal_send=causal_send, receive=receive))
    said = str(report.result.error)
    assert "receive of protocol 'failing' raised Mute, whose text raised KeyError" in said
    assert "<Unprintable, whose repr raised KeyError>" in said


MUTE = """\
from attrs import evolve

from antecede.protocols.unordered import UNORDERED


class Mute(Exception):
    def __str__(self):
        raise KeyError("no")


def receive(state, source, packet):
    raise Mute


P = evolve(UNORDERED, name="mute", receive=receive)
"""


@pytest.mark.parametrize("raised", ["KeyError", "SystemExit"])
def test_a_command_that_meets_an_exception_without_a_text_exits_2(
    raised: str, tmp_path: FilePath, capsys: pytest.CaptureFixture[str]
) -> None:
    """SystemExit would end the command with the exit code of a success."""
    (tmp_path / "mute.py").write_text(MUTE.replace('KeyError("no")', f"{raised}(0)"))
    assert 2 == main(["check", f"{tmp_path / 'mute.py'}:P", "--quiet", "--engine", "plain"])
    shown = capsys.readouterr()
    assert f"raised Mute, whose text raised {raised} (line 12 of" in shown.out
    assert "bug of antecede" not in shown.err


def test_a_value_whose_repr_raises_is_an_error_of_the_protocol(
    tmp_path: FilePath, capsys: pytest.CaptureFixture[str]
) -> None:
    """The value gets into a run, which the report writes."""
    (tmp_path / "mute.py").write_text(
        MUTE.replace("class Mute(Exception):", "class Mute:")
        .replace("__str__", "__repr__")
        .replace("raise Mute", "return Step(Mute())")
        .replace("from attrs", "from antecede import Step\nfrom attrs")
    )
    size = ("--actors", "2", "--messages", "1", "--engine", "plain", "--selfcheck", "off")
    assert 2 == main(["check", f"{tmp_path / 'mute.py'}:P", "--property", "all-delivered", *size])
    shown = capsys.readouterr()
    assert "Error: line 9 of" in shown.err
    assert "mute.py raised KeyError: 'no', when antecede looked at a value" in shown.err


FORKING = """\
import os
from attrs import evolve

from antecede import Step
from antecede.protocols.unordered import UNORDERED


def receive(state, source, packet):
    with open("calls", "ab") as calls:
        calls.write(b"x")
    if os.path.getsize("calls") < 30:  # if the copies went on, they would fork again
        child = os.fork()
        if child == 0:
            HOW
        else:
            assert CODE == os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    return UNORDERED.receive(state, source, packet)


P = evolve(UNORDERED, name="forking", receive=receive)
"""


@pytest.mark.integration
@pytest.mark.parametrize(
    ("how", "code"), [("os._exit(7)", 7), ("pass", 0), ("raise SystemExit(0)", 1), ("1 / 0", 1)]
)
def test_a_handler_that_forks_makes_no_second_antecede(
    tmp_path: FilePath, how: str, code: int
) -> None:
    (tmp_path / "forking.py").write_text(FORKING.replace("HOW", how).replace("CODE", str(code)))
    size = ("--actors", 2, "--messages", 1, "--property", "integrity,all-delivered")
    how_so = ("--engine", "plain", "--selfcheck", "off", "--quiet", "--json", "r.json")
    ran = in_a_process("check", "forking.py:P", *size, *how_so, cwd=tmp_path)
    assert 0 == ran.code, ran.err
    assert 1 == ran.out.count("forking") == ran.out.count("forking.py:P: HOLDS"), ran.out


@pytest.mark.integration
@pytest.mark.parametrize("how", ["pass", "1 / 0"])
def test_the_copies_of_a_process_end_under_the_self_check_too(tmp_path: FilePath, how: str) -> None:
    """Each copy notes its process before it returns to the checker, and must call nothing more."""
    notes = "os.close(os.open(f\"copy-{os.readlink('/proc/self')}\", os.O_CREAT))"
    calls = 'calls.write(os.readlink("/proc/self").encode() + b"\\n")'
    text = FORKING.replace('calls.write(b"x")', calls).replace("< 30", "< 600")
    how = f"{notes}\n            {how}"
    text = text.replace("            HOW", f"            {how}").replace("assert CODE == ", "")
    (tmp_path / "forking.py").write_text(text)
    size = ("--actors", 2, "--messages", 1, "--property", "integrity", "--quiet")
    ran = in_a_process("check", "forking.py:P", *size, "--engine", "plain", cwd=tmp_path)
    assert 1 == ran.out.count("forking"), ran.out
    copies = {path.name.removeprefix("copy-") for path in tmp_path.rglob("copy-*")}
    called = {n for path in tmp_path.rglob("calls") for n in path.read_text().split()}
    assert copies
    assert copies.isdisjoint(called)


LEAVING = """\
import os
from attrs import evolve

from antecede.protocols.unordered import UNORDERED


def receive(state, source, packet):
    os.chdir(os.path.join(os.path.dirname(__file__), "elsewhere"))
    return UNORDERED.receive(state, source, packet)


P = evolve(UNORDERED, name="leaving", receive=receive)
"""


def test_a_handler_that_changes_the_folder_does_not_move_the_results(
    tmp_path: FilePath, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "leaving.py").write_text(LEAVING)
    monkeypatch.chdir(tmp_path)
    written = {"--json": "r.json", "--trace": "t.svg", "--junit": "j.xml", "--summary": "s.md"}
    options = [word for pair in written.items() for word in pair]
    code = main(["check", "leaving.py:P", "--engine", "plain", "--selfcheck", "off", *options])
    assert 1 == code, capsys.readouterr().err
    assert tmp_path / "elsewhere" == FilePath.cwd(), "the handler has left"
    assert all((tmp_path / name).is_file() for name in written.values())
    assert [] == list((tmp_path / "elsewhere").iterdir())


def test_handler_that_fails_at_the_start_is_shown_with_an_empty_run() -> None:
    protocol = evolve(fails_at(9, _asserts), initial=lambda _actor, _actors: 1 / 0)
    report = checked(protocol)
    assert "initial of protocol 'failing' raised ZeroDivisionError" in str(report.result.error)
    assert report.result.counterexample is not None
    assert 0 == report.result.counterexample.length
    assert ", at the start, in the call initial(" in joined(check_text(report))


@in_every_engine
@pytest.mark.parametrize("kind", ["invariant", "witness"])
def test_predicate_that_raises_is_named_with_its_argument_and_a_run(
    kind: str, engine: str, search: str
) -> None:
    def typo(state: Any) -> bool:
        return bool(state.count < 2 or state.cuont)

    protocol = evolve(
        fails_at(9, _asserts),
        invariants={"typo": lambda state: typo(state) or True},
        witnesses={"typo": lambda state: typo(state) and False},
    )
    report = checked(protocol, engine, search, properties=(f"{kind}:typo",))
    error = str(report.result.error)
    assert f"{kind} 'typo' of protocol 'failing' raised AttributeError" in error
    assert "it was called as typo(Seen(count=2))" in error
    path = report.result.counterexample
    assert path is not None
    assert (PREDICATE_RETURNS, 4) == (path.violates, path.length)


@in_every_engine
def test_predicate_on_all_actors_that_raises_is_named_with_a_run(engine: str, search: str) -> None:
    report = checked(_at_odds(), engine, search, properties=("invariant:sum",))
    error = str(report.result.error)
    assert "invariant 'sum' of protocol 'failing' raised ValueError: three" in error
    path = report.result.counterexample
    assert path is not None
    assert (PREDICATE_RETURNS, 6) == (path.violates, path.length)
    text = joined(check_text(report))
    assert "ERROR: invariant 'sum' of protocol 'failing' raised ValueError: three" in text
    assert ", in step 6, in the call " in text


def _at_odds() -> Protocol:
    def total(states: tuple[Seen, ...]) -> bool:
        if sum(state.count for state in states) > 2:
            raise ValueError("three")
        return True

    return evolve(fails_at(9, _asserts), joint_invariants={"sum": total})


def test_run_to_a_predicate_on_all_actors_is_replayed_from_its_trace(tmp_path: FilePath) -> None:
    source, trace = tmp_path / "mine.py", tmp_path / "t.json"
    invariant = "joint_invariants={'two': lambda states: sum(states) < 2 or states.two}"
    source.write_text(COUNTS.format(invariant))
    command = ["check", str(source), "--actors", "3", "--messages", "1", "--trace", str(trace)]
    assert 2 == main(command)
    path, prop, _ = replay_file(str(trace), str(source))
    assert (PREDICATE_RETURNS, 4) == (prop, path.length)
    assert prop == path.violates
    source.write_text(COUNTS.format(invariant.replace("states.two", "True")))
    path, prop, _ = replay_file(str(trace), str(source))
    assert (None, PREDICATE_RETURNS) == (path.violates, prop), "it is repaired"


COUNTS = """
from antecede import Protocol, Step

def send(state, message):
    return Step(state, sends=((message.receiver, message),))

def receive(state, src, message):
    return Step(state + 1, deliveries=(message,))

COUNTS = Protocol("counts", lambda *_: 0, send, receive, {})
"""


def test_failing_run_is_saved_and_replayed(
    tmp_path: FilePath, capsys: pytest.CaptureFixture[str]
) -> None:
    source = tmp_path / "mine.py"
    source.write_text(USERS)
    trace = tmp_path / "t.json"
    command = ["check", str(source), "--actors", "3", "--trace", str(trace), "--json", "-"]
    assert 2 == main(command)
    assert "ERROR" == json.loads(capsys.readouterr().out)["verdict"], "the handler's print is not"
    path, prop, _ = replay_file(str(trace), str(source))
    assert isinstance(failed := path.last.actors[path.steps[-1].actor], Raised)
    assert HANDLER_RETURNS == prop == path.violates
    assert "raised KeyError: 'nobody'" in failed.error
    source.write_text(USERS.replace('{}["nobody"]', '"somebody"'))
    path, prop, _ = replay_file(str(trace), str(source))
    assert (None, HANDLER_RETURNS) == (path.violates, prop), "it is repaired"


USERS = """
from attrs import frozen
from antecede import Message, Protocol, Step

print("nor is this, as the file is imported")

@frozen
class Data:
    message: Message

def initial(actor, actors):
    return 0

def causal_send(state, message):
    print("not for standard output")
    return Step(state, sends=((message.receiver, Data(message)),))

def receive(state, src, packet):
    {}["nobody"]
    return Step(state, deliveries=(packet.message,))

MINE = Protocol("mine", initial, causal_send, receive)
"""


@pytest.mark.parametrize("ending", ["svg", "html", "txt", "puml", "mmd", "itf.json", "shiviz"])
def test_failing_run_is_drawn(ending: str, tmp_path: FilePath) -> None:
    source, file = tmp_path / "mine.py", tmp_path / f"t.{ending}"
    source.write_text(USERS)
    assert 2 == main(["check", str(source), "--trace", str(file)])
    assert file.stat().st_size > 0


def test_exit_in_one_protocol_hides_no_other_spec(
    tmp_path: FilePath, capsys: pytest.CaptureFixture[str]
) -> None:
    spec = 'protocol = {!r}\nactors = 2\nmessages = 1\nproperties = ["integrity"]\n'
    for name, line in (("a", "import sys; sys.exit(0)"), ("b", "pass")):
        (tmp_path / f"{name}.py").write_text(USERS.replace('{}["nobody"]', line))
        (tmp_path / f"{name}.toml").write_text(spec.format(f"{name}.py"))
    (tmp_path / "c.py").write_text("raise SystemExit(0)")
    (tmp_path / "c.toml").write_text(spec.format("c.py"))
    assert 2 == main(["check", str(tmp_path / "c.toml")])
    (tmp_path / "c.toml").unlink()
    assert 2 == main(["check", str(tmp_path)])
    lines = capsys.readouterr().out.splitlines()
    assert any("ERROR" in line and "/a" in line for line in lines)
    assert any("HOLDS" in line and "/b" in line for line in lines)


@pytest.mark.integration
@in_every_engine
def test_handler_that_does_not_return_is_ended_by_max_seconds_and_named(
    engine: str, search: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    begun: list[str] = []

    def failure() -> None:
        begun.append("--max-seconds 0.5 reached")
        insist()

    # The bound is hit when the handler is at work, however slow the machine is.
    monkeypatch.setattr(
        "antecede.checker.check.exploring._limits", lambda *_: lambda: begun[0] if begun else None
    )
    monkeypatch.setattr("antecede.checker.semantics.handlers.LONG", -1.0)
    with interrupts.handled():
        report = checked(fails_at(2, failure), engine, search)
    assert (Verdict.INCOMPLETE, 3) == (report.result.verdict, report.exit_code)
    stopped = str(report.result.stopped_by)
    assert stopped.startswith("--max-seconds 0.5 reached; receive of protocol 'failing' had not")
    assert "receive(Seen(count=1), " in stopped


def test_interruption_of_a_long_call_names_the_handler(monkeypatch: pytest.MonkeyPatch) -> None:
    def failure() -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("antecede.checker.semantics.handlers.LONG", -1.0)
    report = checked(fails_at(1, failure))
    assert report.interrupted
    assert "interrupted by the user; receive of protocol 'failing' had not returned" in str(
        report.result.stopped_by
    )


def test_plain_depth_first_search_heeds_its_bounds_within_a_batch() -> None:
    calls: list[float] = []

    def slow() -> Step:
        time.sleep(0.02)
        calls.append(0.02)
        return Step(Seen(1))

    report = checked(
        fails_at(1, slow), "plain", "depth", bounds=Bounds(max_seconds=0.3), messages=3
    )
    assert Verdict.INCOMPLETE is report.result.verdict
    assert sum(calls) < 5


def test_what_a_handler_prints_goes_to_standard_error(capsys: pytest.CaptureFixture[str]) -> None:
    def failure() -> Step:
        print("for the author")
        return Step(Seen(1))

    checked(fails_at(1, failure), actors=2, messages=1)
    out, err = capsys.readouterr()
    assert "" == out
    assert "for the author" in err
    assert sys.stdout is not sys.stderr
