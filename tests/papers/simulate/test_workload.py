"""Programs are drawn from their seed as their scenario says."""

from __future__ import annotations

from collections import Counter

import pytest
from attrs import evolve

from antecede.checker.papers.simulate.handlers import handlers_of
from antecede.checker.papers.simulate.run import simulate
from antecede.checker.papers.simulate.scenario import Scenario, parsed, written
from antecede.checker.papers.simulate.workload import NOTHING, WORKLOADS, plan_of
from antecede.checker.support.errors import InputError

SCENARIO = Scenario(actors=20, messages=50, job_share=0.2, reacting=0.3)


@pytest.mark.parametrize("workload", WORKLOADS)
def test_a_seed_is_a_program(workload: str) -> None:
    scenario = evolve(SCENARIO, workload=workload)
    assert plan_of(scenario, 1) == plan_of(scenario, 1) != plan_of(scenario, 2)


def test_a_program_does_not_depend_on_what_it_does_not_speak_of() -> None:
    """So that protocols, networks and encodings are compared on the same program."""
    other = evolve(SCENARIO, bandwidth=1, delay=7, payload=1, busy="background", jitter=3)
    assert plan_of(SCENARIO, 1) == plan_of(other, 1)


def test_other_jobs_leave_the_sends_as_they_are() -> None:
    one, two = plan_of(SCENARIO, 1), plan_of(evolve(SCENARIO, job_length=1, job_share=0.9), 1)
    assert [evolve(send, job=0) for send in one] == [evolve(send, job=0) for send in two]


def test_messages_go_to_others_each_as_likely() -> None:
    plan = plan_of(evolve(SCENARIO, messages=500), 1)
    assert Counter(send.src for send in plan) == dict.fromkeys(range(20), 500)
    received = Counter(send.destinations[0] for send in plan)
    assert all(send.destinations != (send.src,) for send in plan)
    assert all(400 < count < 600 for count in received.values())


def test_four_of_five_messages_go_to_hotspots() -> None:
    plan = plan_of(evolve(SCENARIO, messages=500, hotspots=0.1), 1)
    hot = sum(send.destinations[0] < 2 for send in plan) / len(plan)
    assert 0.78 < hot < 0.82


def test_one_hotspot_is_refused_for_it_could_not_send_to_another() -> None:
    with pytest.raises(InputError, match="1 of 20 actors would be hotspots"):
        plan_of(evolve(SCENARIO, hotspots=0.05), 1)


def test_a_tenth_of_the_messages_trigger_jobs_of_the_length_asked_for() -> None:
    scenario = evolve(SCENARIO, messages=500, job_share=0.1)
    jobs = [send.job for send in plan_of(scenario, 1) if send.job]
    assert 900 < len(jobs) < 1100
    assert {scenario.job_length} == set(jobs)
    for kind in ("normal", "exponential"):
        drawn = [send.job for send in plan_of(evolve(scenario, job_lengths=kind), 1) if send.job]
        assert 0.9 < sum(drawn) / len(drawn) / scenario.job_length < 1.1
        assert len(set(drawn)) > 500


@pytest.mark.parametrize("spacing", ["fixed", "uniform", "exponential"])
def test_gaps_are_the_interval_on_average(spacing: str) -> None:
    plan = plan_of(evolve(SCENARIO, spacing=spacing, messages=500), 1)
    gaps = [send.gap for send in plan if send.behind != NOTHING]
    assert 0.97 < sum(gaps) / len(gaps) / SCENARIO.interval < 1.03
    assert (len(set(gaps)) == 1) == (spacing == "fixed")


def test_a_send_that_waits_waits_for_the_latest_message_to_its_sender() -> None:
    plan = plan_of(SCENARIO, 1)
    waiting = [(k, send) for k, send in enumerate(plan) if send.after]
    assert 0.25 < len(waiting) / len(plan) < 0.35
    for index, send in waiting:
        (awaited,) = send.after
        latest = max(k for k in range(index) if send.src in plan[k].destinations)
        assert latest == awaited


def test_every_request_is_answered_and_nobody_waits_for_what_comes_later() -> None:
    scenario = Scenario(actors=16, messages=20, workload="requests")
    plan = plan_of(scenario, 1)
    assert all(earlier < k for k, send in enumerate(plan) for earlier in send.after)
    for send in plan:
        for earlier in send.after:
            assert send.src in plan[earlier].destinations
    asked = sum(send.src < 8 for send in plan)
    answered = sum(send.destinations[0] < 8 for send in plan)
    assert asked == answered == 8 * 20
    outcome = simulate(handlers_of("cykas"), scenario, 1)
    assert len(outcome.delivered) == len(plan)


@pytest.mark.parametrize(
    ("name", "text", "value"),
    [
        ("delay", "5ms", 5_000_000),
        ("delay", "12.5 ms", 12_500_000),
        ("delay", "0", 0),
        ("interval", "1s", 10**9),
        ("bandwidth", "20k", 20_000),
        ("bandwidth", "5MB/s", 5_000_000),
        ("bandwidth", "unlimited", 0),
        ("payload", "1k", 1_000),
        ("hotspots", "5%", 0.05),
        ("hotspots", "0.2", 0.2),
        ("busy", "background", "background"),
    ],
)
def test_values_are_read_as_people_write_them(name: str, text: str, value: object) -> None:
    assert value == parsed(name, text)
    assert value == parsed(name, written(name, value))


@pytest.mark.parametrize(
    ("name", "text", "sentence"),
    [
        ("delay", "5", "give a time such as 500us, 12.5ms or 1s"),
        ("delay", "-5ms", "delay is '-5ms'"),
        ("delay", "1.2.3ms", "delay is"),
        ("delay", "٣ms", "delay is"),
        ("bandwidth", "0", "give bytes per second, such as 20k or 5M, or unlimited"),
        ("bandwidth", "fast", "bandwidth is 'fast'"),
        ("payload", "1e400", "payload is"),
        ("hotspots", "120%", "give a share such as 10% or 0.1"),
        ("hotspots", "nan", "hotspots is 'nan'"),
        ("actors", "1", "give a whole number from 2 to 5,000"),
        ("messages", "0", "give a whole number from 1 to"),
        ("busy", "proces", "did you mean 'process'"),
    ],
)
def test_what_cannot_be_read_is_said(name: str, text: str, sentence: str) -> None:
    with pytest.raises(InputError, match=sentence):
        parsed(name, text)
