"""The costs of a protocol: packets in transit, control data, buffers, from all reachable states.

A protocol declares nothing for this. A packet that holds a message carries it; one that holds none
is a control packet. Control data are the integers and booleans (and other scalars) in a packet
apart from the message, counted as the hybrid paper's Table 1 counts them (P. S. Almeida:
Space-Optimal, Computation-Optimal, Topology-Agnostic, Throughput-Scalable Causal Delivery through
Hybrid Buffering): how many, not how many bits.

All measures are maxima, over all states or over all runs that end.
"""

from __future__ import annotations

from array import array
from collections import deque
from collections.abc import Callable, Hashable, Iterable, Mapping
from fractions import Fraction
from itertools import chain
from typing import Any

from attrs import define, field, frozen

from antecede.checker.model import Message, Packet, Predicate, State
from antecede.checker.search.graph import StateGraph, integers
from antecede.checker.semantics.handlers import called
from antecede.checker.semantics.transition import Outcome, System, enabled, initial_state
from antecede.checker.semantics.values import field_names, packet_class
from antecede.checker.support.errors import CapacityError

MOST_STATES = 300_000
"""The default bound. Plain Python explores about 10,000 states per second, at 2 KB per state."""

TICK = 1 << 12


@frozen
class Size:
    """The content of a value: integers (and other scalars) apart from messages, and messages."""

    integers: int
    messages: int


@frozen
class PacketKind:
    """The packets of one class: whether they carry a message, and their greatest control data."""

    carries: bool
    integers: int


@frozen
class Measures:
    """The measures of a protocol; the module's docstring defines the terms.

    Attributes:
        states, final_states: the numbers of measured states, and of final states among them.
        acyclic: whether no state can be reached again, so that every run ends.
        packets_per_sender, packets_per_pair: the most packets in transit at once from one actor,
            and from one actor to one other.
        messages_per_sender, messages_per_pair: the most packets with a message in transit at once.
        packets: class -> PacketKind.
        state_integers: the most integers in one actor's state apart from its messages.
        buffered: the most messages in one actor's state.
        control_packets: the most control packets per message, over runs that end; None if runs need
            not end, or none sends a message.
        overtaken: the most undelivered messages of one sender that it sent before one that is
            delivered everywhere, to any receivers.
        final_invariants: predicate that the protocol declares for final states -> whether every
            actor, or for a joint predicate all actors together, respect it in all of them.
    """

    states: int
    final_states: int
    acyclic: bool
    packets_per_sender: int
    packets_per_pair: int
    messages_per_sender: int
    messages_per_pair: int
    packets: Mapping[str, PacketKind]
    state_integers: int
    buffered: int
    control_packets: Fraction | None
    overtaken: int
    final_invariants: Mapping[str, bool]

    @property
    def packet_integers(self) -> int:
        """The greatest control data of a packet."""
        return max((kind.integers for kind in self.packets.values()), default=0)

    @property
    def control_kinds(self) -> tuple[str, ...]:
        """The classes of control packets, sorted."""
        return tuple(sorted(name for name, kind in self.packets.items() if not kind.carries))


def size_of(value: Any) -> Size:
    """Count what is in a value, however deep; None and empty containers are nothing."""
    if isinstance(value, Message):
        return Size(0, 1)
    if value is None:
        return Size(0, 0)
    if isinstance(value, Mapping):
        return _sum(part for item in value.items() for part in item)
    if isinstance(value, tuple | list | frozenset | set):
        return _sum(value)
    if (names := field_names(value)) is not None:
        return _sum(getattr(value, name) for name in names)
    return Size(1, 0)


def _sum(parts: Any) -> Size:
    sizes = [size_of(part) for part in parts]
    return Size(sum(s.integers for s in sizes), sum(s.messages for s in sizes))


def measure(
    system: System, tick: Callable[[int], None] = lambda _states: None, most: int = MOST_STATES
) -> Measures:
    """Measure all reachable states of a system, in plain Python.

    Args:
        system: the system; its properties are ignored.
        tick: called now and then with the number of states that were measured.
        most: the greatest number of states that are measured.

    Raises:
        CapacityError: there are more than `most` states.
    """
    return _Measuring(system, most).run(tick)


@define(eq=False)
class _Measuring:
    """All reachable states in breadth-first order, and the maxima over them so far.

    Attributes:
        graph: the states and their edges.
        controls: per edge, the control packets that it sends.
        finals: the numbers of the final states.
        sizes: of packets and of actors' states.
        loads: content of a channel -> packets in it, and those that carry a message.
    """

    system: System
    most: int
    graph: StateGraph = field(init=False)
    controls: array[int] = field(factory=integers)
    finals: list[int] = field(factory=list)
    sizes: dict[Hashable, Size] = field(factory=dict)
    loads: dict[Hashable, tuple[int, int]] = field(factory=dict)
    packets: dict[str, PacketKind] = field(factory=dict)
    per_sender: list[int] = field(factory=lambda: [0, 0])
    per_pair: list[int] = field(factory=lambda: [0, 0])
    state_integers: int = 0
    buffered: int = 0
    overtaken: int = 0

    @graph.default
    def _initial(self) -> StateGraph:
        return StateGraph([initial_state(self.system)])

    def run(self, tick: Callable[[int], None]) -> Measures:
        for here, state in enumerate(self.graph.states):  # grows meanwhile
            if here % TICK == 0:
                tick(here)
            self._look_at(state)
            transitions = enabled(self.system, state)
            for edge in self.graph.expand(self.system, transitions):
                if edge.number >= self.most:
                    raise CapacityError(
                        f"more than {self.most:,} states are too many to be measured; give fewer "
                        "actors or messages"
                    )
                self._add_edge(edge.outcome)
            if not transitions:
                self.finals.append(here)
        return self._result(len(self.graph.states))

    def _look_at(self, state: State) -> None:
        """Take a new state into the maxima."""
        for local in state.actors:
            size = self._size(local)
            self.state_integers = max(self.state_integers, size.integers)
            self.buffered = max(self.buffered, size.messages)
        actors = self.system.actors
        for at in range(0, actors * actors, actors):
            loads = [self._load(channel) for channel in state.channels[at : at + actors]]
            for k in range(2):
                self.per_sender[k] = max(self.per_sender[k], sum(load[k] for load in loads))
                self.per_pair[k] = max(self.per_pair[k], max(load[k] for load in loads))
        for position, ghost in zip(state.workload, state.history, strict=True):
            pending = [entry.message.number for entry in ghost.pending]
            sent = self.system.workload.sent(position)
            delivered = max((n for n in range(1, sent + 1) if n not in pending), default=0)
            self.overtaken = max(self.overtaken, sum(n < delivered for n in pending))

    def _load(self, channel: tuple[Packet, ...]) -> tuple[int, int]:
        if channel not in self.loads:
            carrying = [p for p in channel if self._size(p).messages]
            self.loads[channel] = len(channel), len(carrying)
        return self.loads[channel]

    def _size(self, value: Hashable) -> Size:
        if value not in self.sizes:
            self.sizes[value] = size_of(value)
        return self.sizes[value]

    def _add_edge(self, outcome: Outcome) -> None:
        controls = 0
        for _, packet in outcome.step.sends:
            size, name = self._size(packet), packet_class(packet)
            controls += not size.messages
            known = self.packets.get(name, PacketKind(False, 0))
            carries = known.carries or size.messages > 0
            self.packets[name] = PacketKind(carries, max(known.integers, size.integers))
        self.controls.append(controls)

    def _result(self, states: int) -> Measures:
        longest = self._longest(states)
        return Measures(
            states=states,
            final_states=len(self.finals),
            acyclic=longest is not None,
            packets_per_sender=self.per_sender[0],
            packets_per_pair=self.per_pair[0],
            messages_per_sender=self.per_sender[1],
            messages_per_pair=self.per_pair[1],
            packets=dict(sorted(self.packets.items())),
            state_integers=self.state_integers,
            buffered=self.buffered,
            control_packets=None if longest is None else self._per_message(longest),
            overtaken=self.overtaken,
            final_invariants=self._final_invariants(),
        )

    def _final_invariants(self) -> dict[str, bool]:
        """Return for each predicate of final states whether all of them respect it."""
        protocol, ends = self.system.protocol, [self.graph.states[n].actors for n in self.finals]
        each = list(chain.from_iterable(ends))
        asked = (
            *((name, p, each) for name, p in protocol.final_invariants.items()),
            *((name, p, ends) for name, p in protocol.joint_final_invariants.items()),
        )
        return {name: self._respected(name, p, values) for name, p, values in asked}

    def _respected(self, name: str, respects: Predicate, values: Iterable[Any]) -> bool:
        protocol, title = self.system.protocol, f"final invariant {name!r}"
        return all(called(protocol, name, respects, (value,), title) for value in values)

    def _per_message(self, longest: array[int]) -> Fraction | None:
        """Return the most control packets per message, over the final states."""
        sent = self.system.workload.sent
        ratios = [
            Fraction(longest[number], messages)
            for number in self.finals
            if (messages := sum(map(sent, self.graph.states[number].workload)))
        ]
        return max(ratios, default=None)

    def _longest(self, states: int) -> array[int] | None:
        """Return per state the most control packets on a way to it; None if there is a cycle."""
        first, targets = self.graph.rows.first, self.graph.rows.target
        left, longest = integers([0]) * states, integers([0]) * states
        for target in targets:
            left[target] += 1
        ready, done = deque([0] if not left[0] else []), 0
        while ready:
            here = ready.popleft()
            done += 1
            for edge in range(first[here], first[here + 1]):
                target = targets[edge]
                longest[target] = max(longest[target], longest[here] + self.controls[edge])
                left[target] -= 1
                if not left[target]:
                    ready.append(target)
        return longest if done == states else None
