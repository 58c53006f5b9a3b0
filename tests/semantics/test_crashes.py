"""Actors that crash: the counts in docs/model.md; every engine against the reference checker."""

from __future__ import annotations

from typing import Any

import pytest
from attrs import astuple, evolve, frozen

from antecede import check as checked
from antecede.checker.check.pipeline import check
from antecede.checker.check.spec import Spec, spec_from, system_of
from antecede.checker.explore.code import code_of_step
from antecede.checker.model import (
    CausalSend,
    Internal,
    Message,
    Property,
    Protocol,
    State,
    Step,
    What,
    Where,
)
from antecede.checker.paths.path import replay
from antecede.checker.render.advice import next_steps
from antecede.checker.render.prose import Wording
from antecede.checker.render.spacetime import layout_of
from antecede.checker.search.options import Options
from antecede.checker.search.result import Result, Verdict
from antecede.checker.semantics.judge import undelivered
from antecede.checker.semantics.transition import state_after
from antecede.checker.support.errors import InputError
from antecede.checker.support.registry import protocol_named
from tests.conftest import Command
from tests.explored import tree_of
from tests.models import Data, Toy, naive_counts, toy
from tests.naive import Crashes

CHAT = toy("chat")
"""A protocol that delivers on arrival."""

ENGINES = {"plain": Options(engine="plain"), "local": Options(threads=2)}


@frozen
class Waiting(Toy):
    """The state of an actor that delivers nothing before it heard from actor 0."""

    heard: bool = False


def _receive(state: Any, src: int, packet: Data) -> Step:
    """Deliver the messages that arrived as soon as one of them is from actor 0."""
    held, heard = (*state.held, packet.message), state.heard or src == 0
    after = evolve(state, held=() if heard else held, heard=heard)
    return Step(after, deliveries=held if heard else ())


WAITS = evolve(toy("waits", receive=_receive), initial=lambda actor, actors: Waiting(actor, actors))


def _remembering(state: Toy, _src: int, packet: Data) -> Step:
    """Deliver a message and remember it."""
    return Step(evolve(state, held=(*state.held, packet.message)), deliveries=(packet.message,))


RESTARTS = evolve(
    toy("restarts", receive=_remembering),
    durable=lambda state: len(state.held),
    recover=lambda actor, actors, durable: Step(Toy(actor, actors, (Message(9, durable, ()),))),
)
"""A protocol whose actors recover, and know only how many messages they delivered before."""


def found(protocol: Protocol, engine: str = "plain", **asked: Any) -> Result:
    """Return the result of a check with crashes."""
    spec = Spec(protocol.name, **{"actors": 2, "messages": 1, "crashes": "1", **asked})
    return check(spec, ENGINES[engine], protocol=protocol, selfcheck="off").result


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize(
    ("crashes", "counts"), [("1", (9, 11, 4, 5)), ("2", (12, 17, 5, 8)), ("1:of=0", (6, 7, 4, 3))]
)
def test_the_counts_are_those_that_the_model_derives(
    engine: str, crashes: str, counts: tuple[int, ...]
) -> None:
    result = found(CHAT, engine, workload="script:[[1],[]]", crashes=crashes)
    assert (astuple(result.counts), result.verdict) == (counts, Verdict.HOLDS)


@pytest.mark.parametrize("to_crashed", ["kept", "lost"])
@pytest.mark.parametrize(
    ("protocol", "actors", "messages", "network", "history", "crashes"),
    [
        (CHAT, 3, 1, "unordered", "knowledge", "1"),
        (CHAT, 2, 2, "fifo", "clocks", "2"),
        (CHAT, 2, 2, "unordered", "full", "1:of=1"),
        (WAITS, 3, 1, "fifo", "knowledge", "1:of=0"),
        (RESTARTS, 2, 1, "unordered", "knowledge", "2"),
        (RESTARTS, 2, 2, "fifo", "full", "1"),
    ],
)
def test_engines_agree_with_the_reference_checker(
    protocol: Protocol,
    actors: int,
    messages: int,
    network: str,
    history: str,
    crashes: str,
    to_crashed: str,
) -> None:
    of = {int(crashes[-1])} if ":" in crashes else None
    allowed = Crashes(int(crashes[0]), of, to_crashed == "lost")
    asked: dict[str, Any] = {"network": network, "history": history}
    naive = naive_counts(protocol, actors, messages, crashes=allowed, **asked)
    asked |= {"crashes": crashes, "to_crashed": to_crashed}
    for engine in ENGINES:
        result = found(protocol, engine, actors=actors, messages=messages, **asked)
        assert astuple(result.counts) == tuple(naive[:4])
        path = result.counterexample
        assert (path and path.length) == min(naive.violation.values(), default=None)


def counted_alone(sends: dict[int, int], crashes: int) -> tuple[int, int, int]:
    """Return unique states, total states and depth of CHAT, from sets of actors alone.

    Actor i sends one message to sends[i]. A message is named by its sender. A state has the
    messages sent, the messages delivered, and the crashed actors.
    """
    start = (frozenset[int](), frozenset[int](), frozenset[int]())
    seen, level, total, depth = {start}, [start], 1, 0
    while level:
        found = list[Any]()
        for sent, done, down in level:
            found += [(sent | {i}, done, down) for i in sends.keys() - sent - down]
            found += [(sent, done | {i}, down) for i in sent - done if sends[i] not in down]
            if len(down) < crashes:
                found += [(sent, done, down | {i}) for i in sends.keys() - down]
        total, depth = total + len(found), depth + 1
        level = list(set(found) - seen)
        seen |= set(level)
    return len(seen), total, depth


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("crashes", [1, 2, 3])
def test_a_ring_has_the_counts_of_a_model_that_shares_no_code(engine: str, crashes: int) -> None:
    ring = {0: 1, 1: 2, 2: 0}
    result = found(CHAT, engine, actors=3, workload="script:[[1],[2],[0]]", crashes=str(crashes))
    assert astuple(result.counts)[:3] == counted_alone(ring, crashes)


@pytest.mark.parametrize("engine", ENGINES)
def test_a_live_actor_that_waits_for_a_crashed_one_violates_all_delivered(engine: str) -> None:
    result = found(WAITS, engine, actors=3, workload="script:[[2],[2],[]]")
    path = result.counterexample
    assert path is not None
    assert path.violates == "all-delivered"
    assert [step.actor for step in path.steps if isinstance(step.transition, Internal)] == [0]
    assert path.length == 3  # actor 0 crashes, actor 1 sends, actor 2 receives
    assert replay(path.system, path.transitions).last == path.last


@pytest.mark.parametrize(
    ("asked", "said"),
    [
        ({}, "Bob crashed and takes no more steps, so Data(m1) stays in flight. A protocol"),
        ({"to_crashed": "lost"}, "Bob crashed and takes no more steps. A protocol that waits"),
        (
            {"properties": ("can-deliver",)},
            "Bob crashed and takes no more steps, so Data(m1)",
        ),
        ({"properties": ("invariant:never",)}, None),
    ],
)
def test_the_report_says_who_crashed_and_what_the_others_need(
    asked: dict[str, Any], said: str | None
) -> None:
    """MFSS waits for an acknowledgement of Bob. An invariant has nothing to do with the crash."""
    never = {"never": lambda state: not state.OB}
    mfss = evolve(protocol_named("mfss"), invariants=never, at_rest={}, joint_at_rest={})
    usual: dict[str, Any] = {"actors": 3, "workload": "script:[[1,2],[],[]]", "crashes": "1:of=1"}
    spec = Spec("mfss", **{**usual, "properties": ("all-delivered",), **asked})
    report = check(spec, ENGINES["plain"], protocol=mfss, selfcheck="off")
    assert report.result.verdict is Verdict.VIOLATED
    text = " ".join(str(next_steps(report)).split())
    assert (said or "") in text
    assert (said is None) == ("failure detector" not in text)
    assert "broadcast protocol" not in text


@pytest.mark.parametrize(
    ("to_crashed", "said"),
    [("kept", "3. Bob crashes\n"), ("lost", "3. Bob crashes; packets to Bob are lost\n")],
)
def test_the_steps_say_which_packets_a_crash_loses(to_crashed: str, said: str) -> None:
    asked: dict[str, Any] = {"actors": 3, "workload": "script:[[1,2],[],[]]", "engine": "plain"}
    asked |= {"crashes": "1:of=1", "to_crashed": to_crashed, "properties": ["all-delivered"]}
    text = str(checked("mfss", **asked).counterexample)
    assert said in text
    assert "Bob ends as Crashed\n" in text


def test_messages_of_and_to_crashed_actors_are_not_owed() -> None:
    silent = toy("silent", receive=lambda state, _src, _packet: Step(state))
    asked: dict[str, Any] = {"workload": "script:[[1],[]]"}
    assert found(silent, **asked).verdict is Verdict.VIOLATED
    ends = [path_to_end(silent, actor) for actor in (0, 1)]
    assert [undelivered(end, 0) for end in ends] == [(), ()]


def path_to_end(protocol: Protocol, crashed: int) -> State:
    """Return the state in which actor 0 has sent a message and an actor has crashed."""
    system = system_of(Spec("x", 2, 1, workload="script:[[1],[]]", crashes="1"), protocol)
    return state_after(system, (CausalSend(0, (1,)), Internal(crashed, "crash")))


def test_a_crash_does_not_count_as_a_way_to_deliver() -> None:
    silent = toy("silent", receive=lambda state, _src, _packet: Step(state))
    result = found(silent, workload="script:[[1],[]]", properties=("can-deliver",))
    path = result.counterexample
    assert path is not None
    assert path.length == 1


def test_packets_that_are_lost_are_sent_again_after_a_recovery() -> None:
    def timeout(state: Toy) -> Step | None:
        sends = tuple((d, Data(m)) for m in state.held for d in m.destinations)
        return Step(state, sends=sends) if sends else None

    def causal_send(state: Toy, message: Message) -> Step:
        return Step(evolve(state, held=(message,)), sends=((message.receiver, Data(message)),))

    def receive(state: Toy, _src: int, packet: Data) -> Step:
        new = packet.message not in state.held
        after = evolve(state, held=(*state.held, packet.message))
        return Step(after, deliveries=(packet.message,)) if new else Step(state)

    resends = evolve(
        toy("resends", causal_send=causal_send, receive=receive),
        timeout=timeout,
        durable=lambda state: state,
        recover=lambda _actor, _actors, durable: Step(durable),
    )
    asked: dict[str, Any] = {"workload": "script:[[1],[]]", "properties": ("can-deliver",)}
    for to_crashed in ("kept", "lost"):
        result = found(resends, crashes="1:of=1", to_crashed=to_crashed, **asked)
        assert result.verdict is Verdict.HOLDS
    forgets = evolve(resends, timeout=None)
    assert found(forgets, crashes="1:of=1", **asked).verdict is Verdict.HOLDS
    lost = found(forgets, crashes="1:of=1", to_crashed="lost", **asked)
    assert lost.verdict is Verdict.VIOLATED


def test_predicates_are_not_asked_about_crashed_actors() -> None:
    asked = evolve(
        CHAT,
        invariants={"a-toy": lambda state: isinstance(state, Toy)},
        joint_invariants={"toys": lambda states: all(isinstance(s, Toy) for s in states)},
        joint_witnesses={"two-crashed": lambda states: len(states) == 0},
    )
    for engine in ENGINES:
        names = ("invariant:a-toy", "invariant:toys", "witness:two-crashed")
        result = found(asked, engine, crashes="2", properties=names)
        assert result.verdict is Verdict.HOLDS


def test_a_final_state_with_a_crashed_actor_can_show_a_property() -> None:
    """After a crash, the run is over before the other actor has received anything."""
    nothing = Property(
        "nothing", "nothing", What.STATE, Where.AT_SOME_FINAL_STATE, lambda state: not state.held
    )
    keeps = evolve(RESTARTS, durable=None, recover=None)
    asked: dict[str, Any] = {"actors": 2, "workload": "script:[[],[0]]", "crashes": "1:of=1"}
    for engine in ("plain", "local"):
        checked(keeps, engine=engine, properties=[nothing], **asked).expect("holds")


def test_a_function_for_restarts_that_fails_is_an_error() -> None:
    def fails(*_args: Any) -> Any:
        raise OSError("the disk is full")

    for broken in (evolve(RESTARTS, durable=fails), evolve(RESTARTS, recover=fails)):
        result = found(broken)
        assert result.verdict is Verdict.ERROR
        assert result.error is not None
        assert "the disk is full" in result.error


@pytest.mark.parametrize("search", ["depth", "random"])
def test_other_searches_meet_crashes_too(search: str) -> None:
    result = found(WAITS, "local", actors=3, workload="script:[[2],[2],[]]", search=search)
    assert result.verdict is Verdict.VIOLATED
    assert result.statistics["explored_plainly"] == "actors may crash"


def test_python_takes_a_number_of_crashes() -> None:
    result = checked("rst", actors=2, messages=1, crashes=1)
    naive = naive_counts(protocol_named("rst"), 2, 1, crashes=Crashes(1))
    assert (result.verdict, result.counts.unique_states) == ("HOLDS", naive.unique)


@pytest.mark.parametrize("crashes", [1, "1", "1:of=0"])
def test_a_spec_names_crashes(crashes: Any) -> None:
    spec = spec_from({"protocol": "rst", "crashes": crashes, "to_crashed": "lost"})
    assert (spec.crashes, spec.system.question.crashes) == (str(crashes), str(crashes))
    assert spec.system.question.to_crashed == "lost"


@pytest.mark.parametrize(
    ("asked", "said"),
    [
        ({"crashes": "none"}, "the number of crashes"),
        ({"crashes": "-1"}, "give at least 0"),
        ({"crashes": "1:0"}, "such as 1:of=0,2"),
        ({"crashes": "1:of=2"}, "name actor '2'; the actors are 0 to 1"),
        ({"crashes": "0:of=2"}, "name actor '2'; the actors are 0 to 1"),
        ({"crashes": "0:nobody"}, "such as 1:of=0,2"),
        ({"crashes": f"1:of={'9' * 5_000}"}, "name actor '999"),
        ({"crashes": "0", "to_crashed": "lost"}, "give --crashes 1, too"),
        ({"workload": "endless:1"}, "the workload is endless"),
        ({"bound": ("held=1",)}, "--bound held=1"),
    ],
)
def test_a_question_that_does_not_fit_is_refused(asked: Any, said: str) -> None:
    with pytest.raises(InputError, match=said):
        system_of(Spec("x", **{"actors": 2, "crashes": "1", **asked}), CHAT)


def test_an_action_with_the_name_of_a_crash_is_refused() -> None:
    own = evolve(CHAT, actions={"crash": lambda _state: None})
    with pytest.raises(InputError, match="rename the action"):
        system_of(Spec("x", crashes="1"), own)


def test_a_disk_that_no_recovery_reads_is_refused() -> None:
    own = evolve(CHAT, durable=lambda state: state)
    with pytest.raises(InputError, match="durable without recover"):
        system_of(Spec("x", crashes="1"), own)


@pytest.mark.parametrize("engine", ["local", "plain"])
def test_a_disk_that_fails_comes_with_a_run(engine: str) -> None:
    def fails(_state: Any) -> Any:
        raise ValueError("disk full")

    broken = evolve(RESTARTS, durable=fails)
    result = checked(broken, actors=2, messages=1, crashes=2, engine=engine)
    assert result.counterexample is not None
    assert (result.verdict, result.counterexample.length) == ("ERROR", 1)
    assert "crashes" in str(result)
    assert "does not respect" not in str(result)


def test_explore_steps_through_a_crash_and_a_recovery() -> None:
    tree = tree_of(RESTARTS, crashes="1", workload="script:[[],[0]]")
    path = tree.path((1, 1))
    assert [Wording.of(path).step(step) for step in path.steps] == [
        "Alice crashes",
        "Alice recovers",
    ]
    codes = [code_of_step(path, step) for step in path.steps]
    assert [code is not None for code in codes] == [True, True]


def test_a_picture_shades_the_time_between_a_crash_and_a_recovery() -> None:
    system = system_of(Spec("x", 2, 1, workload="script:[[],[0]]", crashes="1"), RESTARTS)
    path = replay(system, (Internal(0, "crash"), CausalSend(1, (0,)), Internal(0, "recover")))
    (span,) = layout_of(path).spans
    assert (span.kind, span.label) == ("crashed", None)
    never_back = replay(system, (Internal(0, "crash"), CausalSend(1, (0,))))
    assert len(layout_of(never_back).spans) == 1
    assert layout_of(replay(system, (CausalSend(1, (0,)),))).spans == ()


FILE = """
from tests.semantics.test_crashes import WAITS
"""


def test_the_command_draws_a_crash_and_replays_it(antecede: Command, tmp_path: Any) -> None:
    (tmp_path / "waits.py").write_text(FILE)
    asked = ("--actors", 3, "--workload", "script:[[2],[2],[]]", "--crashes", "1")
    files = [arg for end in ("json", "svg", "txt") for arg in ("--trace", tmp_path / f"run.{end}")]
    ran = antecede("check", f"{tmp_path}/waits.py:WAITS", *asked, "--engine", "plain", *files)
    assert (ran.code, "crashes" in ran.out) == (1, True)
    assert "crashes" in (tmp_path / "run.svg").read_text()
    again = antecede("replay", tmp_path / "run.json", "--protocol", f"{tmp_path}/waits.py:WAITS")
    assert (again.code, "Alice crashes" in again.out) == (1, True)
    refused = antecede("check", "rst", "--crashes", 1, "--measures")
    assert (refused.code, "leave --crashes out" in refused.err) == (2, True)
