"""Measures, compared with values worked out by hand."""

from __future__ import annotations

import json
from fractions import Fraction
from typing import Any

import pytest
from attrs import evolve, frozen

from antecede.checker.check import pipeline
from antecede.checker.check.pipeline import Extras, check
from antecede.checker.check.spec import Spec, system_of
from antecede.checker.model import Message, Protocol, Step
from antecede.checker.render.progress import progress_text
from antecede.checker.search.loop import Progress
from antecede.checker.search.measures import Kind, Measures, Size, measure, size_of
from antecede.checker.search.options import Options
from antecede.checker.search.result import Verdict
from antecede.checker.support.errors import CapacityError
from antecede.checker.support.registry import protocol_named
from antecede.protocols.rst import all_agree_on_sent
from tests.conftest import ROOT, Command


def measured(protocol: str, actors: int, messages: int, **values: Any) -> Measures:
    return measure(system_of(Spec(protocol=protocol, actors=actors, messages=messages, **values)))


@frozen
class Thing:
    number: int
    flags: tuple[bool, ...]
    message: Message | None = None


def test_integers_and_messages_are_counted_however_deep() -> None:
    m = Message(0, 1, (1,))
    assert Size(0, 1) == size_of(m)
    assert Size(3, 1) == size_of(Thing(7, (True, False), m))
    assert Size(4, 0) == size_of({1: (2, None), 3: frozenset({4})})
    assert Size(6, 2) == size_of((Thing(1, (True, True), m), [Thing(2, (False, False), m)]))


def test_fifo_two_by_two_by_hand() -> None:
    """Both messages may be in flight at once; the second may come first and is then held back.

    A packet has its sequence number. A state has two rows of two counters. Nothing else is sent.
    """
    found = measured("fifo", 2, 2)
    assert (2, 2) == (found.messages_per_sender, found.messages_per_pair)
    assert (2, 2) == (found.packets_per_sender, found.packets_per_pair)
    assert {"Numbered": Kind(carries=True, integers=1)} == found.packets
    assert 1 == found.buffered
    assert 4 + 1 == found.state_integers  # and the number of the one that is held back
    assert 0 == found.control_packets
    assert () == found.control_kinds
    assert {} == found.at_rest
    assert 0 == found.overtaken
    assert found.acyclic


def test_mfss_two_by_two_by_hand() -> None:
    """One message in flight, the other in the buffer; the ACK of the other's message beside it.

    The other posts nothing before it has that ACK, so there is never a second one. Each message
    is acknowledged once. At the end nothing waits, and nothing is unacknowledged.
    """
    found = measured("mfss", 2, 2)
    assert (1, 1) == (found.messages_per_sender, found.messages_per_pair)
    assert (2, 2) == (found.packets_per_sender, found.packets_per_pair)
    assert {"Ack": Kind(False, 0), "Data": Kind(True, 0)} == found.packets
    assert ("Ack",) == found.control_kinds
    assert (1, 1) == (found.buffered, found.state_integers)
    assert 1 == found.control_packets
    assert (0, {"acknowledged": True, "sent": True}) == (found.overtaken, found.at_rest)
    assert (81, 1) == (found.states, found.final_states)


def test_cykas_three_by_one_by_hand() -> None:
    """One message each is sent normally, at once, because nothing is unacknowledged.

    Its sender may have that and the ACKs of both others in flight, one of these to its receiver.
    A state is three bits, three empty queues and MODE.
    """
    found = measured("cykas", 3, 1)
    assert (1, 1) == (found.messages_per_sender, found.messages_per_pair)
    assert (3, 2) == (found.packets_per_sender, found.packets_per_pair)
    assert {"Ack": Kind(False, 0), "Normal": Kind(True, 0)} == found.packets
    assert (0, 4) == (found.buffered, found.state_integers)
    assert 1 == found.control_packets
    assert all(found.at_rest.values())
    assert 216 == found.states


def test_cykas_sends_one_ack_and_one_yct_for_an_eager_send() -> None:
    """Alice's second message is eager: three control packets for two messages, at most."""
    found = measured("cykas", 3, 2, workload="script:[[1,2],[],[]]")
    assert {"Normal", "Eager", "Ack", "Yct"} == set(found.packets)
    assert ("Ack", "Yct") == found.control_kinds
    assert (2, 1) == (found.messages_per_sender, found.messages_per_pair)
    assert Fraction(3, 2) == found.control_packets
    assert 1 == found.overtaken  # Carol's arrives before Bob's


def test_what_is_never_sent_is_seen_at_rest() -> None:
    found = measured("cykas-as-printed", 2, 2)
    assert {"sent"} == {name for name, respected in found.at_rest.items() if not respected}


def test_a_joint_predicate_is_about_all_actors_at_rest() -> None:
    """Broadcasts leave one matrix SENT behind; a message to one receiver is unknown to others."""
    agreeing = evolve(protocol_named("rst"), joint_at_rest={"in-agreement": all_agree_on_sent})
    for workload, agree in (("broadcast", True), ("any", False)):
        spec = Spec(protocol="rst", actors=3, messages=1, workload=workload)
        assert measure(system_of(spec, agreeing)).at_rest == {"in-agreement": agree}


def test_who_may_repeat_for_ever_has_no_bound_on_control_packets() -> None:
    found = measured("hybrid-basic", 2, 1, network="lossy")
    assert not found.acyclic
    assert found.control_packets is None


def test_as_many_states_as_the_local_engine_finds() -> None:
    spec = Spec(protocol="rst", actors=3, messages=1)
    report = check(spec, Options(), extras=Extras(measures=True))
    counts = report.result.unreduced or report.result.counts
    assert report.measures is not None
    assert (counts.unique_states, counts.final_states) == (
        report.measures.states,
        report.measures.final_states,
    )


def test_too_many_states_are_refused() -> None:
    with pytest.raises(CapacityError, match="more than 50 states are too many to be measured"):
        measure(system_of(Spec(protocol="mfss", actors=2)), most=50)


def test_a_protocol_that_sends_nothing_has_nothing_to_measure() -> None:
    silent = Protocol(
        name="silent",
        summary="",
        source="",
        initial=lambda _actor, _actors: None,
        causal_send=lambda state, _message: Step(state),
        receive=lambda state, _src, _packet: Step(state),
    )
    found = measure(system_of(Spec(protocol="silent", actors=2), silent))
    assert {} == found.packets
    assert (0, 0, 0) == (found.packet_integers, found.packets_per_sender, found.buffered)


def test_the_command_prints_measures_and_writes_them(antecede: Command) -> None:
    asked = ("check", "mfss", "--actors", "2", "--engine", "plain", "--measures")
    printed = antecede(*asked).out
    assert "messages in transit at most: 1 per sender, 1 per pair" in printed
    assert "control data per packet, in integers, at most: Ack 0 (control), Data 0" in printed
    assert "control packets per message at most: 1\n" in printed
    found = json.loads(antecede(*asked, "--json", "-").out)["measures"]
    assert (81, 1, 1.0) == (
        found["states"],
        found["messages_in_transit_per_pair"],
        found["control_packets_per_message"],
    )


def test_the_documentation_names_every_measure(antecede: Command) -> None:
    asked = ("check", "mfss", "--actors", "2", "--engine", "plain", "--measures", "--json", "-")
    page = (ROOT / "docs" / "files.md").read_text(encoding="utf-8")
    for key in json.loads(antecede(*asked).out)["measures"]:
        assert f"`{key}`" in page


def test_what_cannot_be_measured_is_said_and_the_verdict_stands(
    antecede: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked = ("check", "mfss", "--actors", "2", "--engine", "plain", "--measures")
    ran = antecede(*asked, "--max-states", "20")
    assert 3 == ran.code
    assert "not measured: the check is INCOMPLETE" in ran.out
    monkeypatch.setattr(
        "antecede.checker.check.pipeline.measure", lambda system, tick: measure(system, tick, 20)
    )
    ran = antecede(*asked, "--json", "-")
    assert 0 == ran.code
    assert "more than 20 states" in json.loads(ran.out)["measures"]["problem"]


def test_nothing_is_measured_if_the_first_search_shows_that_it_would_be_too_much(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The 45 explored states of mfss 2 x 2 stand for 81."""
    began: list[object] = []
    monkeypatch.setattr(pipeline, "measure", lambda *_: began.append(0))
    monkeypatch.setattr(pipeline, "MOST_STATES", 80)
    for protocol, verdict in (("mfss", Verdict.HOLDS), ("unordered", Verdict.VIOLATED)):
        asked = Spec(protocol=protocol, actors=2 if protocol == "mfss" else 3, messages=2)
        report = check(asked, extras=Extras(measures=True))
        assert verdict is report.result.verdict
        assert "more than 80 states" in str(report.unmeasured)
    assert [] == began
    monkeypatch.setattr(pipeline, "MOST_STATES", 81)
    check(Spec(protocol="mfss", actors=2), extras=Extras(measures=True))
    assert [0] == began


def test_the_progress_line_says_that_costs_are_measured() -> None:
    """It looked like the line of the search, with the counts of its end."""
    seen: list[str] = []

    def watch(progress: Progress) -> None:
        seen.append(progress_text(progress))

    asked = Spec(protocol="mfss", actors=3, messages=2)
    check(asked, extras=Extras(measures=True), watch=watch)
    line = "measuring costs in plain Python: 4,096 of 6,859 states  "
    assert any(each.startswith(line) for each in seen)
    assert seen[0].startswith("level 1  ")


def test_measures_are_for_one_check(antecede: Command) -> None:
    ran = antecede("check", "specs/small", "--measures")
    assert 2 == ran.code
    assert "--measures is for one check" in ran.err


@pytest.mark.parametrize("where", ["at_rest", "joint_at_rest"])
def test_a_predicate_of_final_states_that_fails_makes_the_check_an_error(where: str) -> None:
    def fails(_state: object) -> bool:
        raise SystemExit(3)

    broken: dict[str, Any] = {where: {"broken": fails}}
    protocol = evolve(protocol_named("unordered"), **broken)
    asked = Spec(protocol="unordered", actors=2, messages=1)
    report = check(asked, protocol=protocol, extras=Extras(measures=True))
    assert (Verdict.ERROR, 2) == (report.result.verdict, report.exit_code)
    assert "at-rest predicate 'broken' of protocol 'unordered' raised" in str(report.result.error)
