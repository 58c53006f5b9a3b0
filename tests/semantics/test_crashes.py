"""Actors that crash: the counts in docs/crash-model.md; all engines against the reference."""

from __future__ import annotations

import json
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
    Receive,
    State,
    Step,
    Timeout,
    What,
    When,
)
from antecede.checker.paths.minimise import minimise
from antecede.checker.paths.path import Path, replay
from antecede.checker.render import itf
from antecede.checker.render.advice import next_steps
from antecede.checker.render.diagram import diagram
from antecede.checker.render.json import replay_file, trace_text
from antecede.checker.render.prose import Wording
from antecede.checker.render.spacetime import layout_of
from antecede.checker.search.options import Options
from antecede.checker.search.result import Result, Verdict
from antecede.checker.semantics.crashes import Crashed, cut_of
from antecede.checker.semantics.judge import undelivered
from antecede.checker.semantics.transition import enabled, initial_state, state_after, successor
from antecede.checker.support.errors import InputError, ReplayError
from antecede.checker.support.registry import protocol_named
from tests.conftest import Command
from tests.explored import tree_of
from tests.models import Data, Toy, deliver_the_first_copy, naive_counts, toy
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


def _send_twice(_state: Toy, message: Message) -> Step:
    """Send two packets to each destination, in turn; the second one has the message."""
    to = message.destinations
    data = tuple((d, Data(message)) for d in to)
    return Step(_state, sends=(*((d, Note()) for d in to), *data))


@frozen
class Note:
    """A packet without a message."""


def _deliver_data(state: Toy, _src: int, packet: Data | Note) -> Step:
    return Step(state, deliveries=(packet.message,) if isinstance(packet, Data) else ())


TWICE = toy("twice", causal_send=_send_twice, receive=_deliver_data)


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
    asked = {"workload": "script:[[1],[]]", "properties": ("integrity", "all-delivered")}
    result = found(CHAT, engine, crashes=crashes, **asked)
    assert (astuple(result.counts), result.verdict) == (counts, Verdict.HOLDS)


ONE_TO_TWO = "script:[[[1,2]],[],[]]"


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize(
    ("crashes", "counts"),
    [("0", (5, 6, 4, 1)), ("1:of=0:whole", (10, 15, 5, 3)), ("1:of=0", (14, 19, 5, 5))],
)
def test_a_split_broadcast_has_the_counts_that_the_model_derives(
    engine: str, crashes: str, counts: tuple[int, ...]
) -> None:
    asked = {"workload": ONE_TO_TWO, "properties": ("integrity", "all-delivered")}
    result = found(CHAT, engine, actors=3, crashes=crashes, **asked)
    assert (astuple(result.counts), result.verdict) == (counts, Verdict.HOLDS)
    kinds = result.statistics["transitions"]
    assert kinds["causal-send"]["total"] == 1
    assert (
        kinds.get("internal crash", {"total": 0})["total"]
        == ({"0": 0, "1:of=0:whole": 5, "1:of=0": 7}[crashes])
    )


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
        (RESTARTS, 2, 2, "fifo", "clocks", "1:whole"),
        (TWICE, 2, 1, "fifo", "full", "2"),
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
    of = {int(crashes[-1])} if "of" in crashes else None
    allowed = Crashes(int(crashes[0]), of, to_crashed == "lost", "whole" in crashes)
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
    mfss = evolve(
        protocol_named("mfss"), invariants=never, final_invariants={}, joint_final_invariants={}
    )
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
        "nothing",
        "nothing",
        What.LOCAL_STATE,
        When.AT_SOME_FINAL_STATE,
        lambda state: not state.held,
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
    result = checked("rst", actors=2, messages=1, crashes=1, properties="integrity")
    naive = naive_counts(protocol_named("rst"), 2, 1, crashes=Crashes(1))
    assert (result.verdict, result.counts.unique_states) == ("HOLDS", naive.unique)


@pytest.mark.parametrize("crashes", [1, "1", "1:of=0", "1:whole", "1:of=0:whole"])
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
        ({"crashes": "1:whole:of=0"}, "such as 1:of=0,2, or :whole"),
        ({"crashes": "1:of=0:of=1"}, "such as 1:of=0,2, or :whole"),
        ({"crashes": "1:of="}, "such as 1:of=0,2, or :whole"),
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
    assert "where: " in str(result)
    assert "in step 1" in " ".join(str(result).split())


def test_explore_steps_through_a_crash_and_a_recovery() -> None:
    tree = tree_of(RESTARTS, crashes="1", workload="script:[[],[0]]")
    path = tree.path((2, 1))
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


def cuts_in(protocol: Protocol, **asked: Any) -> list[Any]:
    """Return the cuts of the first causal-send, in the order of the transitions."""
    asked = {"actors": 3, "messages": 1, "workload": ONE_TO_TWO, "crashes": "1", **asked}
    system = system_of(Spec("x", **asked), protocol)
    transitions = enabled(system, initial_state(system))
    return [t.cut for t in transitions if isinstance(t, CausalSend) and t.cut is not None]


def test_to_each_destination_the_first_packets_get_out() -> None:
    cuts = [(2,), (2, 2), (1,), (1, 2), (1, 2, 2), (1, 1), (1, 1, 2)]
    assert cuts_in(TWICE) == cuts
    assert cuts_in(evolve(TWICE, durable=str, recover=lambda *_: Step(0))) == [(), *cuts]
    assert cuts_in(TWICE, crashes="1:of=1") == cuts_in(TWICE, crashes="1:whole") == []
    assert cuts_in(TWICE, workload="script:[[1],[],[]]") == [(1,)]
    system = system_of(Spec("x", 3, 1, "fifo", ONE_TO_TWO, crashes="1"), TWICE)
    after = successor(system, initial_state(system), CausalSend(0, (1, 2), cut=(1, 2, 2)))
    data = Data(Message(0, 1, (1, 2)))
    assert after.state.channels[1:3] == ((Note(),), (Note(), data))
    assert (after.state.actors[0], after.state.crashes) == (Crashed(), 0)


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("network", ["unordered", "duplicating"])
def test_a_packet_that_is_in_flight_already_is_not_sent_again(engine: str, network: str) -> None:
    """Where equal packets are one, an action that sends both again can lose neither."""

    def again(state: Toy) -> Step | None:
        own = [m for m in state.held if m.sender == state.actor]
        sends = tuple((d, Data(m)) for m in own for d in m.destinations)
        return Step(state, sends=sends) if sends else None

    def send(state: Toy, message: Message) -> Step:
        return again(evolve(state, held=(message,))) or Step(state)

    resends = evolve(toy("again", causal_send=send, receive=deliver_the_first_copy), timeout=again)
    asked: dict[str, Any] = {"actors": 3, "workload": ONE_TO_TWO, "network": network}
    results = [found(resends, each, crashes="1:of=0", **asked) for each in ("plain", engine)]
    assert results[0].counts == results[1].counts
    system = system_of(Spec("x", 3, 1, network, ONE_TO_TWO, crashes="1:of=0"), resends)
    state = state_after(system, (CausalSend(0, (1, 2)),))
    (packet,) = state.channels[1]
    assert [t for t in enabled(system, state) if isinstance(t, Timeout)] == []
    receipt = Receive(0, 1, packet, stays=network == "duplicating")
    received = successor(system, state, receipt).state
    again_to_one = [t for t in enabled(system, received) if isinstance(t, Timeout)]
    assert [t.cut for t in again_to_one] == ([None] if network == "unordered" else [])


@pytest.mark.parametrize("script", ["[[[1,2]],[[0,2]],[]]", "[[[1,2]],[],[[0,1]]]"])
def test_the_order_in_which_a_broadcast_names_its_receivers_does_not_matter(script: str) -> None:
    asked: dict[str, Any] = {"actors": 3, "workload": f"script:{script}"}
    cbcast = protocol_named("cbcast")
    path = found(cbcast, crashes="1:of=0", **asked).counterexample
    assert path is not None
    assert (path.violates, path.length) == ("all-delivered", 4)
    assert found(cbcast, crashes="1:of=0:whole", **asked).verdict is Verdict.HOLDS


def test_without_recoveries_safety_does_not_depend_on_the_middle_of_steps() -> None:
    """The protocol delivers on arrival, and a broadcast may overtake its cause."""
    asked: dict[str, Any] = {"actors": 3, "workload": "broadcast"}
    asked |= {"properties": ("causal-delivery", "integrity")}
    lengths = []
    for crashes in ("1", "1:whole"):
        path = found(CHAT, crashes=crashes, **asked).counterexample
        assert path is not None
        lengths.append((path.violates, path.length))
    assert lengths == [("causal-delivery", 5)] * 2


def split_path(protocol: Protocol = CHAT, **asked: Any) -> Path:
    """Return the run in which actor 0 crashes after its packet to actor 2, which delivers it."""
    asked = {"workload": ONE_TO_TWO, "crashes": "1", **asked}
    system = system_of(Spec(protocol.name, 3, 1, **asked), protocol)
    crash = CausalSend(0, (1, 2), cut=(2,))
    (packet,) = state_after(system, (crash,)).channels[2]
    return replay(system, (crash, Receive(0, 2, packet)))


@pytest.mark.parametrize(("to_crashed", "rest"), [("kept", ""), ("lost", "; packets to Alice")])
def test_words_say_after_which_packets_an_actor_crashed(to_crashed: str, rest: str) -> None:
    path = split_path(to_crashed=to_crashed)
    words, step = Wording.of(path), path.steps[0]
    sent = "Alice sends m1 to Bob and Carol"
    crash = f"and crashes after the packet to Carol{rest}"
    assert f"{sent}, as Data(m1) to Carol, {crash}" in words.step(step)
    assert words.transition(step.transition, step.message).startswith(f"{sent}, {crash}")
    drawn = layout_of(path)
    assert [mark.kind for mark in drawn.marks if mark.step == 1].count("internal") == 1
    assert [span.kind for span in drawn.spans] == ["crashed"]
    brief = crash.replace("after the packet to Carol", "midway")
    assert drawn.rows[0].note.startswith(f"{sent}, {brief}")
    assert f"{sent}, {brief}" in "\n".join(diagram(path).lines)
    assert crash in json.loads(itf.text(path))["states"][1]["transition"]


def test_words_count_the_packets_that_got_out() -> None:
    system = system_of(Spec("x", 3, 1, workload=ONE_TO_TWO, crashes="1"), RESTARTS)
    path = replay(system, (CausalSend(0, (1, 2), cut=()),))
    assert Wording.of(path).crash(path.steps[0].transition) == ["crashes before any packet leaves"]
    words = Wording.about(system)
    several = words.crash(CausalSend(0, (1, 2), cut=(1, 1, 2)))
    assert several == ["crashes after 2 packets to Bob and 1 packet to Carol"]
    assert words.crash(Timeout(0, cut=(1, 2))) == ["crashes after the packets to Bob and Carol"]


def test_a_trace_stores_which_packets_got_out(tmp_path: Any) -> None:
    trace = tmp_path / "run.json"
    saved = json.loads(trace_text(split_path(protocol_named("unordered"))))
    assert [entry.get("cut") for entry in saved["transitions"]] == [[2], None]
    assert "Alice crashes" not in saved["transitions"][0]["text"]
    trace.write_text(json.dumps(saved))
    path, _, _ = replay_file(str(trace))
    assert path.steps[0].transition == CausalSend(0, (1, 2), cut=(2,))
    del saved["transitions"][0]["cut"]  # as a whole step
    trace.write_text(json.dumps(saved))
    path, _, _ = replay_file(str(trace))
    assert path.steps[0].transition == CausalSend(0, (1, 2))
    saved["transitions"][0]["cut"] = [1, 2]
    trace.write_text(json.dumps(saved))
    with pytest.raises(ReplayError, match=r"after the packets to \[1, 2\], is not enabled"):
        replay_file(str(trace))


def test_a_shortened_run_has_no_crash_that_it_does_not_need() -> None:
    """Carol delivers m2 before m1, whoever crashes."""
    system = system_of(Spec("x", 3, 1, workload="broadcast", crashes="2"), CHAT)
    m1, m2 = Data(Message(0, 1, (1, 2))), Data(Message(1, 1, (0, 2)))
    run = (
        *(CausalSend(0, (1, 2)), Receive(0, 1, m1), CausalSend(1, (0, 2), cut=(2,))),
        *(Receive(1, 2, m2), Receive(0, 2, m1)),
    )
    path = evolve(replay(system, run), violates="causal-delivery")
    assert [cut_of(t) for t in minimise(path).transitions] == [None] * 5
    cbcast = protocol_named("cbcast")
    needed = found(cbcast, actors=3, workload="script:[[[1,2]],[[0,2]],[]]").counterexample
    assert needed is not None
    assert [cut_of(t) for t in minimise(needed).transitions] == [(1,), None, None, None]


def test_advice_follows_a_crash_in_the_middle_of_a_step() -> None:
    asked: dict[str, Any] = {"actors": 3, "workload": "script:[[[1,2]],[[0,2]],[]]"}
    spec = Spec("cbcast", crashes="1:of=0", **asked)
    report = check(spec, ENGINES["plain"], selfcheck="off")
    text = " ".join(str(next_steps(report)).split())
    assert "In step 1, Alice crashed before all its packets left. If all the others must" in text
    spec = Spec("x", 2, workload="script:[[1],[]]", crashes="1", properties=("all-delivered",))
    report = check(spec, ENGINES["plain"], protocol=RESTARTS, selfcheck="off")
    text = " ".join(str(next_steps(report)).split())
    assert "Keep the packets on the disk, and let recover send them again." in text


def test_an_own_action_that_is_called_crash_is_no_crash_without_crashes() -> None:
    """Actors send in this action. A state in which nothing else can happen is not final."""

    def crash(state: Toy) -> Step | None:
        sends = tuple((m.receiver, Data(m)) for m in state.held)
        return Step(evolve(state, held=()), sends=sends) if sends else None

    def hold(state: Toy, message: Message) -> Step:
        return Step(evolve(state, held=(*state.held, message)))

    own = evolve(toy("own", causal_send=hold), actions={"crash": crash})
    asked = {"properties": ("integrity", "all-delivered")}
    results = [found(own, engine, crashes="0", **asked) for engine in ENGINES]
    assert [(r.verdict, r.size.final_states) for r in results] == [(Verdict.HOLDS, 1)] * 2


FILE = """
from tests.semantics.test_crashes import WAITS
"""


def test_the_command_draws_a_crash_and_replays_it(antecede: Command, tmp_path: Any) -> None:
    (tmp_path / "waits.py").write_text(FILE)
    asked: tuple[Any, ...] = ("--actors", 3, "--workload", "script:[[2],[2],[]]", "--crashes", "1")
    asked += ("--engine", "plain", "--sarif", tmp_path / "run.sarif")
    files = [arg for end in ("json", "svg", "txt") for arg in ("--trace", tmp_path / f"run.{end}")]
    ran = antecede("check", f"{tmp_path}/waits.py:WAITS", *asked, *files)
    assert (ran.code, "crashes" in ran.out) == (1, True)
    assert "crashes" in (tmp_path / "run.svg").read_text()
    assert "crashes" in (tmp_path / "run.sarif").read_text()
    again = antecede("replay", tmp_path / "run.json", "--protocol", f"{tmp_path}/waits.py:WAITS")
    assert (again.code, "Alice crashes" in again.out) == (1, True)


@frozen
class Outbox(Toy):
    """What an actor of LETTERS has sent, and how many messages it has delivered."""

    delivered: int = 0


def _note_and_send(state: Any, message: Message) -> Step:
    sends = ((message.receiver, Data(message)),)
    return Step(evolve(state, held=(*state.held, message)), sends=sends)


def _deliver_next(state: Any, _src: int, packet: Data) -> Step:
    """Deliver a message in its turn; the network keeps the order, so others are repetitions."""
    if packet.message.number != state.delivered + 1:
        return Step(state)
    return Step(evolve(state, delivered=state.delivered + 1), deliveries=(packet.message,))


LETTERS = evolve(
    toy("letters", causal_send=_note_and_send, receive=_deliver_next),
    initial=lambda actor, actors: Outbox(actor, actors),
    durable=lambda state: state,
    recover=lambda _actor, _actors, state: Step(state),
)
SENDS_AGAIN = evolve(
    LETTERS,
    recover=lambda _actor, _actors, state: Step(
        state, sends=tuple((m.receiver, Data(m)) for m in state.held)
    ),
)


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("to_crashed", ["kept", "lost"])
def test_only_an_outbox_on_the_disk_survives_a_crash_between_disk_and_network(
    engine: str, to_crashed: str
) -> None:
    """`1:of=0`: only the sender crashes, because packets to a crashed receiver may be lost."""
    asked: dict[str, Any] = {"workload": "script:[[1,1],[]]", "network": "fifo", "messages": 2}
    asked |= {"to_crashed": to_crashed, "properties": ("all-delivered", "integrity")}
    path = found(LETTERS, engine, crashes="2:of=0", **asked).counterexample
    assert path is not None
    assert path.length == 4
    assert () in [cut_of(transition) for transition in path.transitions]
    assert found(LETTERS, engine, crashes="2:of=0:whole", **asked).verdict is Verdict.HOLDS
    result = found(SENDS_AGAIN, engine, crashes="2:of=0", **asked)
    allowed = Crashes(2, {0}, to_crashed == "lost")
    shared = {"workload": asked["workload"], "network": "fifo"}
    naive = naive_counts(SENDS_AGAIN, 2, 2, crashes=allowed, **shared)
    assert (result.verdict, astuple(result.counts)) == (Verdict.HOLDS, tuple(naive[:4]))
