"""Simulated runs against an implementation with SimPy's processes, stores and resources.

Nothing of the simulator is used here but the program of a seed and the counting of packets.
"""

from __future__ import annotations

from collections.abc import Generator
from typing import Any

import pytest
import simpy
from attrs import evolve

from antecede.checker.model import Message, Step
from antecede.checker.papers.simulate.encoding import contents_of
from antecede.checker.papers.simulate.handlers import handlers_of
from antecede.checker.papers.simulate.run import simulate
from antecede.checker.papers.simulate.scenario import Scenario
from antecede.checker.papers.simulate.workload import NOTHING, Plan, plan_of
from antecede.checker.support.registry import protocol_named

Process = Generator[Any, Any, None]

SCENARIO = Scenario(
    actors=6,
    messages=12,
    bandwidth=40_000,
    delay=4_999_999,
    interval=6_000_000,
    spacing="exponential",
    job_share=0.3,
    job_length=17_000_000,
    job_lengths="exponential",
    reacting=0.4,
)


class InSimPy:
    """A run of processes that are busy with jobs, each behind an uplink of its own."""

    def __init__(self, protocol: str, scenario: Scenario, plan: Plan) -> None:
        self.protocol, self.scenario, self.plan = protocol_named(protocol), scenario, plan
        n = scenario.actors
        self.env = simpy.Environment()
        self.states = [self.protocol.initial(i, n) for i in range(n)]
        queue = simpy.Store if scenario.limits == "uplink" else None
        assert queue is not None
        self.uplinks = [queue(self.env) for _ in range(n)]
        self.inboxes = [simpy.Store(self.env) for _ in range(n)]
        self.sent = [self.env.event() for _ in plan]
        self.handled = [self.env.event() for _ in plan]
        self.numbered: dict[tuple[int, int], int] = {}
        self.counts = [0] * n
        self.causal_sent: dict[int, int] = {}
        self.delivered: dict[tuple[int, int], int] = {}
        for i in range(n):
            self.env.process(self.uplink(i))
            self.env.process(self.actor(i))
        for index in range(len(plan)):
            self.env.process(self.application(index))

    def application(self, index: int) -> Process:
        send = self.plan[index]
        waits = [self.handled[k] for k in send.after]
        if send.behind != NOTHING:
            waits.append(self.sent[send.behind])
        yield self.env.all_of(waits)
        yield self.env.timeout(send.gap)
        yield self.inboxes[send.src].put(("send", index, None))

    def actor(self, i: int) -> Process:
        while True:
            kind, what, packet = yield self.inboxes[i].get()
            if kind == "send":
                self.counts[i] += 1
                message = Message(i, self.counts[i], self.plan[what].destinations)
                self.numbered[i, message.number] = what
                self.causal_sent[what] = int(self.env.now)
                step = self.protocol.causal_send(self.states[i], message)
                self.sent[what].succeed()
            else:
                step = self.protocol.receive(self.states[i], what, packet)
            self.states[i] = step.state
            for j, out in step.sends:
                yield self.uplinks[i].put((j, out))
            yield from self.handle(i, step)

    def handle(self, i: int, step: Step) -> Process:
        indexes = [self.numbered[m.sender, m.number] for m in step.deliveries]
        for index in indexes:
            self.delivered[index, i] = int(self.env.now)
        for index in indexes:
            if self.plan[index].job:
                yield self.env.timeout(self.plan[index].job)
            self.handled[index].succeed()

    def uplink(self, i: int) -> Process:
        while True:
            j, packet = yield self.uplinks[i].get()
            held = contents_of(packet)
            size = 28 + 100 * len(held.messages) + 4 * held.integers + held.flags
            yield self.env.timeout(-(-size * 10**9 // self.scenario.bandwidth))
            self.env.process(self.propagation(i, j, packet))

    def propagation(self, i: int, j: int, packet: object) -> Process:
        yield self.env.timeout(self.scenario.delay)
        yield self.inboxes[j].put(("receive", i, packet))


@pytest.mark.parametrize("protocol", ["mfss", "cykas", "rst", "ks"])
def test_simpy_comes_to_the_same_times(protocol: str) -> None:
    for seed in range(3):
        plan = plan_of(SCENARIO, seed)
        expected = InSimPy(protocol, SCENARIO, plan)
        expected.env.run()
        actual = simulate(handlers_of(protocol), SCENARIO, seed)
        assert expected.delivered == actual.delivered
        assert [expected.causal_sent[k] for k in range(len(plan))] == actual.causal_sent


def test_the_comparison_with_simpy_sees_a_nanosecond() -> None:
    plan = plan_of(SCENARIO, 1)
    expected = InSimPy("mfss", SCENARIO, plan)
    expected.env.run()
    other = evolve(SCENARIO, delay=SCENARIO.delay + 1)
    assert expected.delivered != simulate(handlers_of("mfss"), other, 1).delivered
