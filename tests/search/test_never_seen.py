"""Verdicts that rest on nothing are said to do so, and what never happened is told."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from attrs import evolve

from antecede.checker.check.pipeline import check
from antecede.checker.check.report import CheckReport
from antecede.checker.check.spec import Spec, system_of
from antecede.checker.model import Protocol, Step
from antecede.checker.render.json import replay_file, result_object
from antecede.checker.render.text import check_text
from antecede.checker.search.options import Options
from antecede.checker.search.packet_classes import handled
from antecede.checker.search.plain import first_states
from antecede.checker.search.result import Verdict
from antecede.checker.support.errors import InputError
from antecede.checker.support.registry import protocol_named
from antecede.protocols import mfss
from antecede.protocols.cbcast import Stamped
from antecede.protocols.unordered import Data
from tests.conftest import Command

SPIN = """
from attrs import frozen
from antecede import Message, Protocol, Step

@frozen
class State:
    on: bool = False

@frozen
class Data:
    message: Message

PROTOCOL = Protocol(
    name="spin", summary="a timeout that always fires", source="a test",
    initial=lambda actor, actors: State(),
    causal_send=lambda state, message: Step(state, ((message.receiver, Data(message)),)),
    receive=lambda state, src, packet: Step(state, (), (packet.message,)),
    timeout=lambda state: Step(State(not state.on)),
)
"""

ENGINES = pytest.mark.parametrize("engine", ["plain", "local"])


def reported(engine: str = "plain", **values: Any) -> CheckReport:
    return check(Spec(**{"actors": 2, "messages": 1, **values}), Options(engine=engine))


@ENGINES
def test_what_is_said_of_final_states_holds_of_nothing_where_there_are_none(
    engine: str, tmp_path: Path
) -> None:
    (tmp_path / "spin.py").write_text(SPIN)
    report = reported(engine, messages=2, network="fifo", protocol=str(tmp_path / "spin.py"))
    assert Verdict.VACUOUS is report.result.verdict
    assert Verdict.VACUOUS is report.result.properties["all-delivered"]
    assert Verdict.HOLDS is report.result.properties["causal-delivery"]
    assert 3 == report.exit_code
    assert "no run comes to an end" in report.result.never
    assert "nothing to judge: no final state can be reached" in check_text(report)
    assert "can-deliver" in check_text(report)


def test_a_verdict_on_nothing_is_as_expected_only_if_it_is_expected(
    antecede: Command, tmp_path: Path
) -> None:
    (tmp_path / "spin.py").write_text(SPIN)
    asked = ("check", "spin.py", "--actors", 2, "--messages", 1, "--engine", "plain")
    for expected, code in (("holds", 3), ("vacuous", 0), ("violated", 1)):
        assert code == antecede(*asked, "--expect", expected, cwd=tmp_path).code


@ENGINES
def test_where_nobody_sends_everything_holds_of_nothing(engine: str) -> None:
    report = reported(engine, protocol="mfss", workload="script:[[],[]]")
    assert {Verdict.VACUOUS} == set(report.result.properties.values())
    assert (
        "In all that was explored, no actor sends a message and no packet is received"
        in " ".join(check_text(report).split())
    )
    assert result_object(report)["never_seen"]


NEVER_DELIVERS = Protocol(
    name="never-delivers",
    summary="receives everything and delivers nothing",
    source="a test",
    initial=lambda _actor, _actors: 0,
    causal_send=lambda state, message: Step(state, ((message.receiver, message),)),
    receive=lambda state, _src, _packet: Step(state),
)


@ENGINES
@pytest.mark.parametrize("search", ["breadth", "depth"])
def test_what_is_said_of_deliveries_holds_of_nothing_where_there_are_none(
    engine: str, search: str
) -> None:
    asked = ("causal-delivery", "integrity", "fifo-delivery", "finishes")
    spec = Spec("never-delivers", 2, 1, properties=asked, search=search)
    report = check(spec, Options(engine=engine), protocol=NEVER_DELIVERS)
    assert {Verdict.VACUOUS} == {report.result.properties[name] for name in asked[:3]}
    assert Verdict.HOLDS is report.result.properties["finishes"]
    assert ("nothing is delivered",) == report.result.never
    assert 3 == report.exit_code
    assert "nothing to judge: nothing is delivered" in check_text(report)
    assert "nothing was violated, but nothing is delivered. Check all-delivered" in " ".join(
        check_text(report).split()
    )


@ENGINES
def test_what_is_said_of_messages_holds_of_nothing_where_nobody_sends_any(engine: str) -> None:
    """An actor who takes an action is no message: final states and ways back are of none."""
    acts = evolve(NEVER_DELIVERS, actions={"rise": lambda n: Step(n + 1) if n < 2 else None})
    asked = ("all-delivered", "can-deliver", "finishes")
    spec = Spec("never-delivers", 2, 1, workload="script:[[],[]]", properties=asked)
    found = check(spec, Options(engine=engine), protocol=acts).result.properties
    assert [Verdict.VACUOUS, Verdict.VACUOUS, Verdict.HOLDS] == list(found.values())


@ENGINES
@pytest.mark.parametrize(
    ("workload", "prop"),
    [("endless:1:[[],[]]", "no-starvation"), ("script:[[],[]]", "can-deliver")],
)
def test_ways_back_and_cycles_are_of_nothing_where_nothing_can_happen(
    engine: str, workload: str, prop: str
) -> None:
    report = reported(engine, protocol="mfss", workload=workload, properties=(prop,))
    assert Verdict.VACUOUS is report.result.verdict
    assert "nothing to judge: nothing can happen" in check_text(report)


@ENGINES
def test_a_network_that_never_gets_to_lose_anything_is_told(engine: str) -> None:
    lossy = {"protocol": "mfss", "network": "lossy:1", "properties": ("causal-delivery",)}
    assert () == reported(engine, **lossy).result.never
    nothing = reported(engine, **lossy, workload="script:[[],[]]").result.never
    assert "nothing is lost" in nothing


WAITING = (
    'reaction:[{"name":"ask","from":0,"to":[1]},'
    '{"name":"late","from":1,"to":[0],"after":["never"]},'
    '{"name":"never","from":0,"to":[1],"after":["late"]}]'
)
STUCK = (
    'program:[[{"send":"ask","to":[1]}],'
    '[{"receive":"answer"},{"send":"thanks","to":[2]}],[{"receive":"any"},{"send":"answer","to":[1]}]]'
)


@ENGINES
@pytest.mark.parametrize("sends", ["joint", "split"])
@pytest.mark.parametrize(
    ("actors", "workload", "never"),
    [
        (2, WAITING, ("no actor sends never", "no actor sends late")),
        (3, STUCK, ("no actor sends thanks", "no actor sends answer")),
        (2, WAITING.replace('"after":["never"]', '"after":["ask"]'), ()),
    ],
)
def test_a_send_that_waits_for_what_never_comes_is_told(
    engine: str, sends: str, actors: int, workload: str, never: tuple[str, ...]
) -> None:
    asked = {"protocol": "mfss", "workload": workload, "properties": ("causal-delivery",)}
    report = reported(engine, actors=actors, sends=sends, **asked)
    assert never == report.result.never
    assert list(never) == result_object(report)["never_seen"]
    assert all(said in " ".join(check_text(report).split()) for said in never)


@ENGINES
def test_packets_that_the_handler_names_and_nobody_receives_are_told(engine: str) -> None:
    two = reported(engine, protocol="cykas")
    assert ("no Yct is received", "no Eager is received") == two.result.never
    expected = "In all that was explored, no Yct is received and no Eager is received."
    assert expected in check_text(two)
    assert (
        ()
        == reported(
            engine, protocol="cykas", actors=3, workload="script:[[1,2],[],[]]"
        ).result.never
    )


@ENGINES
def test_a_reception_that_changes_nothing_is_not_called_none(engine: str) -> None:
    asked = {"protocol": "cykas", "network": "duplicating", "properties": ("causal-delivery",)}
    never = reported(engine, **asked).result.never
    assert "no reception of Yct changes anything" in never


@ENGINES
def test_a_search_that_ended_with_its_witness_has_not_seen_everything(engine: str) -> None:
    report = reported(engine, protocol="mfss", messages=2, properties=("witness:waited",))
    assert Verdict.HOLDS is report.result.verdict
    assert () == report.result.never


@pytest.mark.parametrize(
    ("protocol", "names"),
    [
        ("cykas", {"Ack", "Yct", "Normal", "Eager"}),
        ("cykas-secret-mode", {"Ack", "Yct", "Normal", "Eager"}),
        ("mfss", {"Data", "Ack"}),
        ("hybrid-basic", {"Msg", "Ack", "Permit"}),
        ("newtop-null", {"Timestamped", "Null"}),
    ],
)
def test_a_handler_names_the_packets_of_its_protocol(protocol: str, names: set[str]) -> None:
    assert names == {known.__name__ for known in handled(protocol_named(protocol).receive)}


def by_match(_state: Any, _src: int, packet: Any) -> Any:
    match packet:
        case Data():
            return None
        case _:
            return passed_on(1, packet)


def passed_on(_how: int, packet: mfss.Ack | Stamped) -> Any:
    return packet


def test_a_handler_may_match_classes_and_pass_packets_on() -> None:
    assert [Data, mfss.Ack, Stamped] == list(handled(by_match))
    assert () == handled(len)
    assert () == handled(lambda _state, _src, packet: packet)


@ENGINES
def test_declared_invariants_are_checked_by_default_and_listed_in_a_line(engine: str) -> None:
    report = reported(engine, protocol="mfss")
    names = [name for name in report.result.properties if name.startswith("invariant:")]
    assert [f"invariant:{name}" for name in report.system.protocol.invariants] == names
    line = next(line for line in check_text(report).splitlines() if "3 invariants" in line)
    assert "hold" in line
    assert "one-unacknowledged" in line
    narrowed = reported(engine, protocol="mfss", properties=("integrity",))
    assert ["integrity"] == list(narrowed.result.properties)


def test_a_declared_invariant_that_is_violated_is_a_violation() -> None:
    report = reported(protocol="cykas-as-printed", messages=2)
    assert report.result.counterexample is not None
    assert "invariant:buffer-waits-for-ack-or-yct" == report.result.counterexample.violates


@ENGINES
def test_a_witness_shows_its_run(engine: str) -> None:
    report = reported(engine, protocol="mfss", messages=2, properties=("witness:waited",))
    path = report.result.shown["witness:waited"]
    assert 2 == path.length
    assert "witness:waited is reached after 2 transitions:" in check_text(report)
    assert 2 == result_object(report)["witnesses"]["witness:waited"]["length"]


def test_several_properties_with_commas_are_several(antecede: Command) -> None:
    asked = ("check", "mfss", "--actors", 2, "--messages", 1, "--engine", "plain")
    ran = antecede(*asked, "--property", "integrity,all-delivered")
    assert 0 == ran.code
    assert "integrity" in ran.out
    assert "causal-delivery" not in ran.out


def test_the_run_of_a_witness_is_saved(antecede: Command, tmp_path: Path) -> None:
    asked = ("check", "mfss", "--actors", 2, "--engine", "plain", "--property", "witness:waited")
    ran = antecede(*asked, "--trace", tmp_path / "run.json")
    assert 0 == ran.code
    path, prop, _ = replay_file(str(tmp_path / "run.json"))
    assert (2, None) == (path.length, prop)


def test_the_first_states_of_many_actors_take_few_transitions() -> None:
    system = system_of(Spec("unordered", 7, 2))
    search = first_states(system, 2_000)
    assert search.frontier > 0
    assert 2_000 <= search.unique <= search.total < 5_000, "the whole level has 40,000"


def test_the_first_states_are_all_where_there_are_few() -> None:
    system = system_of(Spec("mfss", 2, 1))
    search = first_states(system, 1_000)
    assert (0, len(search.graph.states)) == (search.frontier, search.graph.expanded)


def test_an_expectation_of_a_property_that_is_not_checked_is_refused() -> None:
    spec = Spec("mfss", properties=("integrity",))
    expecting = Spec(
        "mfss", properties=("integrity",), expect=type(spec.expect)(violates="integrty")
    )
    with pytest.raises(InputError, match=r"expect\.violates 'integrty'; did you mean 'integrity'"):
        system_of(expecting)
