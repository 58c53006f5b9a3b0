"""The components of a system's states, numbered: equal values get one number.

Components are an actor's state, its workload position, the two parts of its ghost and the content
of a channel. What the protocol says about them is asked once.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Hashable, Iterator
from typing import Any

import numpy as np
from attrs import define, evolve, field

from antecede.checker.errors import CapacityError, ProtocolError
from antecede.checker.model import Packet, Property, State, Step, What
from antecede.checker.semantics.history import Ghost, Oracle, oracle_named
from antecede.checker.semantics.judge import looks_at_order, shown
from antecede.checker.semantics.transition import System, initial_state
from antecede.checker.semantics.values import canonical
from antecede.checker.tables import kernels

Words = np.ndarray[Any, np.dtype[np.int64]]

MOST_PROPERTIES = 30
"""An entry has room for this many properties, and for one that stands for a handler that raised."""


@define
class Interner:
    """Numbers distinct values 0, 1, 2, … in the order in which they are met.

    Attributes:
        what: the word for the values in error messages.
        share: into how many parts a key's field for numbers is divided; these numbers use one.
        numbers: of the values, by equality.
        places: of the very objects in `values`, by identity: no hash of all their parts is needed.
    """

    what: str
    share: int = 1
    numbers: dict[Hashable, int] = field(factory=dict)
    places: dict[int, int] = field(factory=dict)
    values: list[Any] = field(factory=list)
    _digested: int = 0
    _digest: Any = field(factory=hashlib.blake2b)

    def digest(self) -> str:
        """Return a digest of all values, in the order of their numbers."""
        for value in self.values[self._digested :]:
            self._digest.update(canonical(value).encode() + b"\0")
        self._digested = len(self.values)
        return str(self._digest.hexdigest())

    def number(self, value: Hashable) -> int:
        """Return the number of `value`, a new one if it has none.

        Raises:
            CapacityError: there are more distinct values than a key has room for.
            ProtocolError: the value differs from itself.
        """
        known = self.places.get(id(value))
        if known is None:
            known = self.numbers.get(value)
        if known is not None:
            return known
        number, limit = len(self.values), kernels.NUMBER_LIMIT // self.share
        if number >= limit:
            raise CapacityError(
                f"more than {limit:,} distinct values of {self.what}; "
                "the plain engine (--engine plain) has no such limit"
            )
        if value != value:
            raise ProtocolError(
                f"{value!r}, one of the {self.what}, is not equal to itself (does it hold NaN?), "
                "so no state with it is ever met again"
            )
        self.numbers[value] = number
        self.places[id(value)] = number  # which stays the object's, for `values` keeps it
        self.values.append(value)
        return number


def bits_of(system: System, chosen: Callable[[Property], bool]) -> int:
    """Return the bit set of the properties that are chosen, as tables and kernels know them."""
    return sum(1 << rank for rank, prop in enumerate(system.properties) if chosen(prop))


def in_bits(system: System, bits: int) -> Iterator[Property]:
    """Yield the properties in a bit set."""
    return (prop for rank, prop in enumerate(system.properties) if bits >> rank & 1)


@define(eq=False)
class Components:
    """The components of one system.

    Attributes:
        self_channels: actors may send packets to themselves.
        channels, channel_of: (source, destination) of each channel, and the number of each.
        sequences: per column of records of an actor, how many are numbered.
        packets: what was received; they are numbered for the sake of `steps` alone.
        steps: what `receive` returned for (actor, state, source, number of the packet).
        asks_of_states: some property looks at the states of single actors.
        shown_states: those that `shown` judged; many table entries lead to the same state.
        judged: what it returned, by their numbers.
        calls: how often the protocol was called.
    """

    system: System
    self_channels: bool = False
    oracle: Oracle = field(init=False)
    channels: list[tuple[int, int]] = field(init=False)
    channel_of: dict[tuple[int, int], int] = field(init=False)
    states: list[Interner] = field(init=False)
    positions: list[Interner] = field(init=False)
    knows: list[Interner] = field(init=False)
    pending: list[Interner] = field(init=False)
    contents: list[Interner] = field(init=False)
    bundles: list[Interner] = field(init=False)
    messages: Interner = field(init=False)
    sent: Interner = field(init=False)
    stamps: Interner = field(init=False)
    records: Interner = field(init=False)
    packets: Interner = field(init=False)
    asks_of_states: bool = field(init=False)
    shown_states: Interner = field(init=False)
    sequences: dict[int, int] = field(factory=dict)
    steps: dict[Hashable, Step] = field(factory=dict)
    judged: dict[int, int] = field(factory=dict)
    calls: int = 0

    def __attrs_post_init__(self) -> None:
        """Number what every state has.

        Raises:
            CapacityError: the system has more actors or properties than there is room for.
        """
        system = self.system
        _refuse_too_many("actors", system.actors, kernels.MOST_ACTORS)
        _refuse_too_many("properties", len(system.properties), MOST_PROPERTIES)
        actors = range(system.actors)
        self.oracle = _tabulated_oracle(system)
        self.channels = [(i, j) for i in actors for j in actors if i != j or self.self_channels]
        self.channel_of = {pair: k for k, pair in enumerate(self.channels)}
        self.states = [Interner(f"states of actor {i}") for i in actors]
        self.positions = [Interner(f"workload positions of actor {i}") for i in actors]
        self.knows = [Interner(f"causal pasts of actor {i}") for i in actors]
        self.pending = [Interner(f"undelivered messages of actor {i}") for i in actors]
        self.contents = [Interner(f"channel {i} to {j}") for i, j in self.channels]
        self.bundles = [Interner(f"sends from {i} to {j}") for i, j in self.channels]
        self.messages = Interner("messages", share=system.actors)
        self.sent = Interner("messages with their stamps")
        self.stamps = Interner("stamps")
        self.records = Interner("recorded stamps")
        self.packets = Interner("packets")
        self.asks_of_states = any(prop.what is What.STATE for prop in system.properties)
        self.shown_states = Interner("states")
        self.records.number(None)
        for content in self.contents:
            content.number(())

    @property
    def full(self) -> bool:
        """The history also records sequences."""
        return self.system.oracle.name == "full"

    def columns(self, state: State) -> list[list[int]]:
        """Return, per actor, the numbers of its columns, for a state without records."""
        rows = []
        for i in range(self.system.actors):
            row = [
                self.states[i].number(state.actors[i]),
                self.positions[i].number(state.workload[i]),
                *self._ghost_numbers(i, state.history[i]),
                0,
                0,
                state.losses if i == 0 else 0,
            ]
            for k, (src, dst) in enumerate(self.channels):
                if src == i:
                    content = state.channels[src * self.system.actors + dst]
                    row.append(self.contents[k].number(content))
            rows.append(row)
        return rows

    def initial_states(self) -> list[int]:
        """Return the number of each actor's initial state."""
        states = initial_state(self.system).actors
        return [self.states[i].number(state) for i, state in enumerate(states)]

    def _ghost_numbers(self, actor: int, ghost: Ghost) -> tuple[int, int]:
        """Return the numbers of the two parts of a ghost: what it knows, what is pending."""
        return (
            self.knows[actor].number(evolve(ghost, pending=())),
            self.pending[actor].number(ghost.pending),
        )

    def shown(self, state: Any) -> int:
        """Return the bit set of invariants that `state` violates and witnesses that it shows."""
        if not self.asks_of_states:
            return 0
        number = self.shown_states.number(state)
        bits = self.judged.get(number)
        if bits is None:
            bits = self.judged[number] = bits_of(
                self.system, lambda prop: prop.what is What.STATE and shown(prop, (state,))
            )
        return bits

    def receive_step(self, actor: int, state: int, src: int, packet: Packet) -> Step:
        """Call `receive` once per distinct argument, whatever else is in the channel."""
        memo = (actor, state, src, self.packets.number(packet))
        if memo not in self.steps:
            self.calls += 1
            self.steps[memo] = self.system.handlers.receive(
                self.states[actor].values[state], src, packet
            )
        return self.steps[memo]

    @property
    def internals(self) -> tuple[str | None, ...]:
        """What actors may do by themselves, in order: None is the timeout, the others are named."""
        protocol = self.system.protocol
        timeout = () if protocol.timeout is None else (None,)
        return (*timeout, *protocol.actions)

    def internal_step(self, actor: int, state: int, name: str | None) -> Step | None:
        """Call `timeout`, or the action of that name."""
        self.calls += 1
        value, handlers = self.states[actor].values[state], self.system.handlers
        return handlers.timeout(value) if name is None else handlers.action(name, value)

    def _sent(self, actor: int) -> Words:
        """Return what each position of an actor adds to the progress."""
        workload = self.system.workload
        weight = workload.fan_out + 1
        return np.array([weight * workload.sent(p) for p in self.positions[actor].values], np.int64)

    def _undelivered(self, actor: int) -> Words:
        """Return how many copies each set of undelivered messages of an actor stands for."""
        pending = self.pending[actor].values
        return np.array([sum(len(entry.remaining) for entry in row) for row in pending], np.int64)

    def progress_by_value(self) -> tuple[Words, Words]:
        """Return what each position adds to the progress, and what undelivered messages take.

        A causal-send adds at least 1, for its weight is more than its copies; a delivery of a copy
        adds 1; nothing else changes it.

        Both are flat: of an actor's value number n at actor * (length // actors) + n.
        """
        actors = range(self.system.actors)
        room = max(len(n.values) for found in (self.positions, self.pending) for n in found)

        def flat(rows: list[Words]) -> Words:
            return np.concatenate([np.pad(row, (0, room - len(row))) for row in rows])

        return flat([self._sent(i) for i in actors]), flat([self._undelivered(i) for i in actors])

    @property
    def most_progress(self) -> int:
        """The progress of a state with all causal-sent and delivered; see `progress_by_value`."""
        workload = self.system.workload
        return self.system.actors * workload.most * (workload.fan_out + 1)


def _refuse_too_many(things: str, count: int, most: int) -> None:
    if count > most:
        raise CapacityError(
            f"the local engine has room for {most} {things}, and there are {count}; "
            "the plain engine (--engine plain) has no such limit"
        )


def _tabulated_oracle(system: System) -> Oracle:
    if system.oracle.number is not None:
        return system.oracle
    name = "clocks" if system.oracle.name == "full" else system.oracle.name
    return oracle_named(
        name,
        system.actors,
        system.workload.most,
        self_sends=system.workload.self_sends,
        track_order=any(map(looks_at_order, system.properties)),
        clock_at=system.question.clock_at,
    )
