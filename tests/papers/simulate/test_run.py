"""Runs whose times can be told by hand, to the nanosecond."""

from __future__ import annotations

import pytest
from attrs import evolve

from antecede.checker.model import Message, Protocol, Step
from antecede.checker.papers.simulate.encoding import contents_of
from antecede.checker.papers.simulate.handlers import Handlers, handlers_of
from antecede.checker.papers.simulate.oracle import WrongRun
from antecede.checker.papers.simulate.run import Run, simulate
from antecede.checker.papers.simulate.scenario import UNLIMITED, Scenario
from antecede.checker.papers.simulate.workload import Planned
from antecede.checker.support.errors import InputError, ProtocolError

MS = 1_000_000
LINK = Scenario(
    actors=2, messages=3, bandwidth=10_000, delay=5 * MS, payload=80, header=20, integer=4, flag=1
)
"""A message of 100 bytes takes 10 ms to send, a packet of nothing but headers 2 ms."""

THREE = (Planned(0, (1,), 0), Planned(0, (1,), 0, 0), Planned(0, (1,), 0, 1))
"""Three messages from 0 to 1, at once."""


def run(protocol: str, scenario: Scenario, *plan: Planned) -> Run:
    return simulate(handlers_of(protocol), scenario, 1, plan=plan, tolerant=protocol == "unordered")


def deliveries(outcome: Run) -> list[float]:
    """Return when each send is delivered first, in milliseconds."""
    when: dict[int, int] = {}
    for (index, _), at in sorted(outcome.delivered.items()):
        when.setdefault(index, at)
    return [when[index] / MS for index in range(len(outcome.plan))]


def test_one_sender_without_control_keeps_its_link_full() -> None:
    assert [15, 25, 35] == deliveries(run("unordered", LINK, *THREE))


def test_mfss_alternates_between_messages_and_acknowledgements() -> None:
    outcome = run("mfss", LINK, *THREE)
    round_trip = 10 + 5 + 2 + 5
    assert [15, 15 + round_trip, 15 + 2 * round_trip] == deliveries(outcome)
    assert 3 * round_trip * MS == outcome.last_receive
    assert [0, 22 * MS, 44 * MS] == outcome.network_sent
    assert (6, 3) == (outcome.packets, outcome.control_packets)
    assert (3 * 100 + 3 * 20, 6 * 20) == (outcome.bytes, outcome.control_bytes)
    assert (2, 0) == (outcome.sender_buffer, outcome.receiver_buffer)


@pytest.mark.parametrize("messages", [1, 2, 7, 20])
@pytest.mark.parametrize("delay", [0, 3, 50])
def test_mfss_takes_a_round_trip_per_message(messages: int, delay: int) -> None:
    plan = [Planned(0, (1,), 0, k - 1) for k in range(messages)]
    outcome = run("mfss", evolve(LINK, delay=delay * MS), *plan)
    assert messages * (10 + 2 + 2 * delay) * MS == outcome.last_receive


def test_cykas_sends_eagerly_to_another_and_tells_when_acknowledged() -> None:
    plan = (Planned(0, (1,), 0), Planned(0, (2,), 0, 0))
    outcome = run("cykas", evolve(LINK, actors=3), *plan)
    # Data to 1 and 2 leave one after the other; both ACKs, then YCT to 2.
    assert [15, 25] == deliveries(outcome)
    first_ack = 15 + 2 + 5
    assert (max(first_ack, 25 + 2 + 5) + 2 + 5) * MS >= outcome.last_receive
    assert (first_ack + 2 + 5) * MS < outcome.last_receive == (25 + 2 + 5 + 2 + 5) * MS
    assert (5, 3) == (outcome.packets, outcome.control_packets)


def test_the_matrix_pays_for_its_integers() -> None:
    outcome = run("rst", LINK, *THREE)
    matrix = 4 * 2 * 2
    per_message = (100 + matrix) / 10
    assert [k * per_message + 5 for k in (1, 2, 3)] == deliveries(outcome)
    assert 3 * (20 + matrix) == outcome.control_bytes


def test_what_the_bandwidth_limits() -> None:
    """Two senders with a message each to 2, and one of them with one more to the other."""
    plan = (Planned(0, (2,), 0), Planned(1, (2,), 0), Planned(0, (1,), 0, 0))
    expected = {
        "uplink": [15, 15, 25],
        "access": [25, 35, 35],
        "link": [15, 15, 15],
        "shared": [15, 25, 35],
    }
    for limits, times in expected.items():
        scenario = evolve(LINK, actors=3, limits=limits)
        assert times == deliveries(run("unordered", scenario, *plan)), limits


def test_free_control_takes_no_bandwidth() -> None:
    outcome = run("mfss", evolve(LINK, control="free"), *THREE)
    assert [15, 35, 55] == deliveries(outcome)


def test_an_unlimited_bandwidth_leaves_the_delay() -> None:
    outcome = run("mfss", evolve(LINK, bandwidth=UNLIMITED), *THREE)
    assert [5, 15, 25] == deliveries(outcome)


JOB = (Planned(0, (1,), 0, job=100 * MS), Planned(0, (1,), 0, 0), Planned(1, (0,), 20 * MS))
"""Actor 1 gets a job and a message, and has something to send meanwhile."""


def test_a_busy_process_neither_receives_nor_sends() -> None:
    outcome = run("unordered", LINK, *JOB)
    assert [15, 115, 115 + 15] == deliveries(outcome)
    assert {0: 15 * MS} == outcome.job_started
    assert 115 * MS == outcome.causal_sent[2]


def test_a_busy_application_does_not_keep_the_protocol_from_acknowledging() -> None:
    outcome = run("mfss", evolve(LINK, busy="application"), *JOB)
    assert [15, 37, 130] == deliveries(outcome)
    outcome = run("mfss", evolve(LINK, busy="process"), *JOB)
    # Its send has waited in the inbox since 20 ms, the second message only since 37 ms.
    assert [15, 115, 130] == deliveries(outcome)


def test_jobs_in_the_background_delay_nothing_but_each_other() -> None:
    plan = (Planned(0, (1,), 0, job=50 * MS), Planned(0, (1,), 0, 0, job=50 * MS), JOB[2])
    outcome = run("unordered", evolve(LINK, busy="background"), *plan)
    assert [15, 25, 35] == deliveries(outcome)
    assert {0: 15 * MS, 1: 65 * MS} == outcome.job_started
    assert (35 * MS, 115 * MS) == (outcome.last_receive, outcome.finished)


@pytest.mark.parametrize("busy", ["process", "application", "background"])
def test_a_send_waits_for_the_handling_of_what_it_answers(busy: str) -> None:
    plan = (Planned(0, (1,), 0, job=30 * MS), Planned(1, (0,), 7 * MS, after=(0,)))
    outcome = run("mfss", evolve(LINK, busy=busy), *plan)
    # With a job in the process, the ACK has left long before.
    assert (15 + 30 + 7) * MS == outcome.causal_sent[1]


def test_gaps_count_from_the_send_before() -> None:
    plan = (Planned(0, (1,), 4 * MS), Planned(0, (1,), 6 * MS, 0))
    assert [4 * MS, 10 * MS] == run("mfss", LINK, *plan).causal_sent


def test_fifo_keeps_jitter_from_reordering() -> None:
    plan = [Planned(0, (1,), 0, k - 1) for k in range(30)]
    scenario = evolve(LINK, bandwidth=UNLIMITED, jitter=50 * MS)
    in_order = deliveries(run("unordered", evolve(scenario, order="fifo"), *plan))
    anyhow = deliveries(run("unordered", scenario, *plan))
    assert sorted(in_order) == in_order
    assert sorted(anyhow) != anyhow
    assert all(5 <= when <= 55 for when in (*in_order, *anyhow))


OVERTAKE = (Planned(0, (2,), 0), Planned(0, (1,), 0, 0), Planned(1, (2,), 0, after=(1,)))
"""0 tells 2, then 1, which tells 2."""


def slow_to_2(scenario: Scenario) -> Scenario:
    return evolve(scenario, actors=3, bandwidth=UNLIMITED, jitter=90 * MS)


def overtaking_seed() -> int:
    for seed in range(100):
        outcome = simulate(
            handlers_of("unordered"), slow_to_2(LINK), seed, plan=OVERTAKE, tolerant=True
        )
        if outcome.violations:
            return seed
    raise AssertionError("no seed lets the messages overtake")


def test_a_run_that_violates_causality_is_an_error() -> None:
    seed = overtaking_seed()
    with pytest.raises(WrongRun, match="causal-delivery: message 1 of actor 0 is delivered at"):
        simulate(handlers_of("unordered"), slow_to_2(LINK), seed, plan=OVERTAKE)
    for protocol in ("mfss", "cykas", "rst", "ks", "hybrid-basic", "hybrid-sps"):
        simulate(handlers_of(protocol), slow_to_2(LINK), seed, plan=OVERTAKE)


def test_a_protocol_that_is_not_live_is_an_error() -> None:
    with pytest.raises(WrongRun, match="all-delivered: 1 messages never arrive"):
        run("newtop", evolve(LINK, actors=3), Planned(0, (1,), 0))


def made(receive: object, **more: object) -> Handlers:
    protocol = Protocol(
        name="made",
        summary="",
        source="",
        initial=lambda _i, _n: 0,
        causal_send=lambda state, m: Step(state, ((m.receiver, (m,)),)),
        receive=receive,  # type: ignore[arg-type]
        **more,  # type: ignore[arg-type]
    )
    return Handlers(
        protocol,
        lambda n: [0] * n,
        protocol.causal_send,
        protocol.receive,
        contents_of,
        protocol.timeout,
    )


def test_a_message_delivered_twice_is_an_error() -> None:
    twice = made(lambda state, _src, packet: Step(state, deliveries=(packet[0], packet[0])))
    with pytest.raises(WrongRun, match="integrity: message 1 of actor 0 is delivered at"):
        simulate(twice, LINK, 1, plan=THREE)


def test_a_message_that_nobody_sent_is_an_error() -> None:
    other = Message(1, 7, (1,))
    forged = made(lambda state, _src, _packet: Step(state, deliveries=(other,)))
    with pytest.raises(WrongRun, match="integrity: message 7 of actor 1"):
        simulate(forged, LINK, 1, plan=THREE)


def test_what_a_handler_raises_is_said_with_its_arguments() -> None:
    with pytest.raises(ProtocolError, match="receive of protocol 'made' raised ZeroDivisionError"):
        simulate(made(lambda state, _src, _packet: 1 // 0), LINK, 1, plan=THREE)


def test_what_is_no_step_is_said() -> None:
    with pytest.raises(ProtocolError, match="it must return a Step"):
        simulate(made(lambda state, _src, _packet: None), LINK, 1, plan=THREE)


def test_timeouts_that_never_help_end() -> None:
    silent = made(
        lambda state, _src, _packet: Step(state), timeout=lambda state: Step(state, ((1, ()),))
    )
    with pytest.raises(WrongRun, match="timeouts in a row without a delivery"):
        simulate(silent, LINK, 1, plan=THREE[:1])


def test_four_actors_are_enough_for_requests() -> None:
    ran = simulate(handlers_of("mfss"), evolve(LINK, actors=4, workload="requests"), 1)
    assert ran.delivered


def test_a_plan_for_too_few_actors_is_refused() -> None:
    with pytest.raises(InputError, match="requests need at least 4 actors, not 3"):
        simulate(handlers_of("mfss"), evolve(LINK, actors=3, workload="requests"), 1)
