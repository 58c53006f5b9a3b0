"""One simulated run: the checked handlers, driven by a heap of timed events.

Handlers take no time. The network, the gaps of the workload, and the handling of delivered messages
take time. Events of the same instant happen in the order in which they were scheduled.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from heapq import heappop, heappush
from random import Random
from typing import Any

from attrs import define, field

from antecede.checker.model import (
    CausalSend,
    LocalState,
    Message,
    Packet,
    Receive,
    Step,
    Timeout,
    Transition,
)
from antecede.checker.papers.simulate.encoding import control_bytes
from antecede.checker.papers.simulate.handlers import Handlers
from antecede.checker.papers.simulate.network import Network
from antecede.checker.papers.simulate.oracle import RunOracle, WrongRun
from antecede.checker.papers.simulate.scenario import Scenario
from antecede.checker.papers.simulate.workload import NOTHING, Plan, plan_of
from antecede.checker.support.errors import ProtocolError

NEVER = -1
MOST_VAIN_TIMEOUTS = 10_000
"""The most timeouts in a row without a delivery; after more, a run is assumed never to end."""


def simulate(
    handlers: Handlers,
    scenario: Scenario,
    seed: int,
    *,
    plan: Plan | None = None,
    tolerant: bool = False,
    record: Callable[[Transition, Step], None] | None = None,
) -> Run:
    """Run a protocol on the program of a seed until everything is delivered.

    Args:
        handlers: the handlers of the protocol.
        scenario: all other parameters.
        seed: the seed of all random numbers.
        plan: a plan to use in place of the scenario's program.
        tolerant: count violations of causal delivery instead of raising; for controls.
        record: called with each transition and its step, in the checker's terms.

    Raises:
        InputError: the scenario is impossible.
        ProtocolError: a handler raised, or returned something unusable.
        WrongRun: a delivery violates causality or integrity, or a message never arrives.

    Cost: a few microseconds per event, plus the time of the handlers.
    """
    program = plan_of(scenario, seed) if plan is None else plan
    network = Network(scenario, Random(f"{seed} jitter"))
    run = Run(handlers, scenario, program, network, tolerant, record)
    run.begin()
    run.play()
    return run


@define(eq=False)
class Run:
    """A run; times are nanoseconds from its start, sends are indices in the plan.

    Attributes:
        causal_sent, network_sent: per send, its time.
        received, delivered: (send, actor) -> time.
        job_started: send -> the start of its job at its first destination.
        last_receive: the time when communication was complete.
        finished: the time when the last job was complete, too.
        packets, control_packets: the number of all packets, and of those without a message.
        bytes, control_bytes: the size of all packets, and their size without the payloads.
        sender_buffer, receiver_buffer: the most messages that one process held back at once,
            causal-sent and not network-sent, or received and not delivered.
        events: the number of causal-sends, receives and timeouts.
        heap: (time, number, method, arguments); numbers are unique, so no more is compared.
        pending: the number of events on the heap that are not timeouts.
        waits: per send, the number of events that it still waits for.
        followers: per send, the next sends of its actor.
        dependents: per send, the sends that wait for its delivery.
        numbered: per actor, its sends by message number.
        free_at: per actor, the time when it, its application or its worker is idle again.
        inbox: per actor, the events that arrived while it was busy; None: it is not busy.
        armed: per actor, whether its timeout is on the heap.
        buffered, held: per actor, the messages that it holds back now as a sender, as a receiver.
        vain: the number of timeouts since the latest delivery.
    """

    handlers: Handlers
    scenario: Scenario
    plan: Plan
    network: Network
    tolerant: bool
    record: Callable[[Transition, Step], None] | None
    causal_sent: list[int] = field(init=False)
    network_sent: list[int] = field(init=False)
    received: dict[tuple[int, int], int] = field(factory=dict)
    delivered: dict[tuple[int, int], int] = field(factory=dict)
    job_started: dict[int, int] = field(factory=dict)
    last_receive: int = 0
    finished: int = 0
    packets: int = 0
    control_packets: int = 0
    bytes: int = 0
    control_bytes: int = 0
    sender_buffer: int = 0
    receiver_buffer: int = 0
    events: int = 0
    states: list[LocalState] = field(init=False)
    oracle: RunOracle = field(init=False)
    heap: list[tuple[int, int, Any, tuple[Any, ...]]] = field(factory=list)
    scheduled: int = 0
    pending: int = 0
    waits: list[int] = field(factory=list)
    followers: list[list[int]] = field(init=False)
    dependents: list[list[int]] = field(init=False)
    numbered: list[list[int]] = field(init=False)
    free_at: list[int] = field(init=False)
    inbox: list[deque[tuple[Any, tuple[Any, ...]]] | None] = field(init=False)
    armed: list[bool] = field(init=False)
    held: list[int] = field(init=False)
    buffered: list[int] = field(init=False)
    vain: int = 0

    def __attrs_post_init__(self) -> None:
        n, sends = self.scenario.actors, len(self.plan)
        self.states = self.handlers.start(n)
        most = [0] * n
        for send in self.plan:
            most[send.src] += 1
        self.oracle = RunOracle(n, max(most, default=0), self.tolerant)
        self.numbered = [[] for _ in range(n)]
        self.free_at, self.inbox, self.armed = [0] * n, [None] * n, [False] * n
        self.held, self.buffered = [0] * n, [0] * n
        self.causal_sent, self.network_sent = [NEVER] * sends, [NEVER] * sends
        self.followers, self.dependents = [[] for _ in self.plan], [[] for _ in self.plan]

    @property
    def violations(self) -> int:
        """The number of violations of causal delivery; only a control has any."""
        return self.oracle.violations

    def begin(self) -> None:
        """Schedule the sends that wait for nothing."""
        for index, send in enumerate(self.plan):
            self.waits.append(len(send.after) + (send.behind != NOTHING))
            if send.behind != NOTHING:
                self.followers[send.behind].append(index)
            for earlier in send.after:
                self.dependents[earlier].append(index)
        for index, send in enumerate(self.plan):
            if not self.waits[index]:
                self._schedule(send.gap, self._due, (index,))

    def play(self) -> None:
        """Process all events, in order of time."""
        heap = self.heap
        while heap and (self.pending or self.oracle.waiting):
            now, _, what, arguments = heappop(heap)
            if what.__func__ is not Run._timeout:
                self.pending -= 1
            what(now, *arguments)
        self.oracle.finish()
        self.finished = max(self.finished, self.last_receive)

    def _schedule(self, when: int, what: Any, arguments: tuple[Any, ...]) -> None:
        self.scheduled += 1
        self.pending += 1
        heappush(self.heap, (when, self.scheduled, what, arguments))

    def _due(self, now: int, index: int) -> None:
        """Process a send whose time has come."""
        actor = self.plan[index].src
        inbox = self.inbox[actor]
        if inbox is not None:
            inbox.append((self._due, (index,)))
        elif self.scenario.busy == "application" and self.free_at[actor] > now:
            self._schedule(self.free_at[actor], self._due, (index,))
        else:
            self._causal_send(now, index)

    def _causal_send(self, now: int, index: int) -> None:
        send = self.plan[index]
        actor = send.src
        mine = self.numbered[actor]
        mine.append(index)
        message = Message(actor, len(mine), send.destinations)
        self.causal_sent[index] = now
        self.oracle.causal_send(message)
        self.buffered[actor] += 1
        state = self.states[actor]
        step = self._called(self.handlers.causal_send, state, message)
        if self.record is not None:
            self.record(CausalSend(actor, send.destinations), step)
        self._take(now, actor, step)
        if self.buffered[actor] > self.sender_buffer:
            self.sender_buffer = self.buffered[actor]
        for follower in self.followers[index]:
            self._met(now, follower)

    def _met(self, now: int, index: int) -> None:
        """Remove one reason to wait from a send."""
        self.waits[index] -= 1
        if not self.waits[index]:
            self._schedule(now + self.plan[index].gap, self._due, (index,))

    def _reach(self, now: int, src: int, dst: int, packet: Packet, size: int) -> None:
        """Put a packet into the queue of its receiver."""
        there = self.network.admit(now, dst, size)
        self._schedule(there, self._arrive, (src, dst, packet))

    def _arrive(self, now: int, src: int, dst: int, packet: Packet) -> None:
        inbox = self.inbox[dst]
        if inbox is not None:
            inbox.append((self._receive, (src, dst, packet)))
        else:
            self._receive(now, src, dst, packet)

    def _receive(self, now: int, src: int, dst: int, packet: Packet) -> None:
        self.last_receive = now
        for message in self.handlers.contents(packet).messages:
            key = self.numbered[message.sender][message.number - 1], dst
            if dst in message.destinations and key not in self.received:
                self.received[key] = now
                self.held[dst] += 1
        state = self.states[dst]
        step = self._called(self.handlers.receive, state, src, packet)
        if self.record is not None:
            self.record(Receive(src, dst, packet), step)
        self._take(now, dst, step)
        if self.held[dst] > self.receiver_buffer:
            self.receiver_buffer = self.held[dst]

    def _take(self, now: int, actor: int, step: Step) -> None:
        """Apply a step of an actor: send its packets, judge and handle its deliveries."""
        self.events += 1
        self.states[actor] = step.state
        for dst, packet in step.sends:
            self._network_send(now, actor, dst, packet)
        for message in step.deliveries:
            self._deliver(now, actor, message)
        if self.handlers.timeout is not None and not self.armed[actor]:
            self._arm(now, actor)

    def _network_send(self, now: int, src: int, dst: int, packet: Packet) -> None:
        contents = self.handlers.contents(packet)
        control = control_bytes(contents, self.scenario)
        size = control + self.scenario.payload * len(contents.messages)
        if dst not in range(self.scenario.actors):
            raise ProtocolError(
                f"{self.handlers.protocol.name!r} sends a packet to {dst!r}; give a destination "
                f"from 0 to {self.scenario.actors - 1}"
            )
        self.packets += 1
        self.bytes += size
        self.control_bytes += control
        if not contents.messages:
            self.control_packets += 1
            size = 0 if self.scenario.control == "free" else size
        for message in contents.messages:
            index = self.numbered[message.sender][message.number - 1]
            if self.network_sent[index] == NEVER:
                self.network_sent[index] = now
                self.buffered[src] -= 1
        there = self.network.send(now, src, dst, size)
        if self.network.receives_in_turn and size:
            self._schedule(there, self._reach, (src, dst, packet, size))
        else:
            self._schedule(there, self._arrive, (src, dst, packet))

    def _deliver(self, now: int, actor: int, message: Message) -> None:
        self.oracle.deliver(actor, message)
        self.vain = 0
        index = self.numbered[message.sender][message.number - 1]
        self.delivered[index, actor] = now
        self.held[actor] -= 1
        start = max(now, self.free_at[actor])
        if self.plan[index].job:
            self.job_started.setdefault(index, start)
        end = start + self.scenario.handling + self.plan[index].job
        if end == now:
            self._handled(now, index, actor)
            return
        self._occupy(actor, end)
        self._schedule(end, self._handled, (index, actor))

    def _occupy(self, actor: int, end: int) -> None:
        """Keep an actor busy until `end`, after everything that it has to handle already."""
        self.free_at[actor] = end
        self.finished = max(self.finished, end)
        if self.scenario.busy == "process":
            if self.inbox[actor] is None:
                self.inbox[actor] = deque()
            self._schedule(end, self._free, (actor,))

    def _handled(self, now: int, index: int, actor: int) -> None:
        """End the handling of a delivered message; sends that wait for it can go on."""
        for dependent in self.dependents[index]:
            if self.plan[dependent].src == actor:
                self._met(now, dependent)

    def _free(self, now: int, actor: int) -> None:
        """Let a process that may be free process its inbox, until it is busy again."""
        inbox = self.inbox[actor]
        if self.free_at[actor] > now or inbox is None:
            return
        self.inbox[actor] = None
        while inbox and self.inbox[actor] is None:
            what, arguments = inbox.popleft()
            what(now, *arguments)
        if inbox:
            new = self.inbox[actor]
            assert new is not None
            new.extendleft(reversed(inbox))

    def _called(self, handler: Any, *arguments: Any, may_be_none: bool = False) -> Any:
        """Call a handler; if that fails, repeat the call with the checker's checks."""
        try:
            step = handler(*arguments)
        except Exception:
            step = handler
        if type(step) is Step or (step is None and may_be_none):
            return step
        return self.handlers.explained(self.scenario.actors, handler, arguments)

    def _arm(self, now: int, actor: int) -> None:
        """Schedule the timeout of an actor after its period."""
        self.armed[actor] = True
        self.scheduled += 1
        when = now + self.scenario.timeout
        heappush(self.heap, (when, self.scheduled, self._timeout, (actor,)))

    def _timeout(self, now: int, actor: int) -> None:
        self.armed[actor] = False
        assert self.handlers.timeout is not None
        state = self.states[actor]
        step = self._called(self.handlers.timeout, state, may_be_none=True)
        if step is None:
            return
        self.vain += 1
        if self.vain > MOST_VAIN_TIMEOUTS:
            raise WrongRun(
                f"all-delivered: {MOST_VAIN_TIMEOUTS:,} timeouts in a row without a delivery"
            )
        if self.record is not None:
            self.record(Timeout(actor), step)
        self._take(now, actor, step)
