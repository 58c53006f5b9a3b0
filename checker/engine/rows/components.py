"""The components of a system's states, numbered: equal values get one number.

Each actor has four components, which are its state, its position in the workload, and the two parts
of its ghost: what it knows, and its messages that are not delivered yet. Each channel has one, its
content. The protocol is called at most once for each distinct argument.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Hashable, Iterable, Iterator
from inspect import unwrap
from typing import Any, TypeVar

from attrs import define, field

from antecede.checker.engine.rows import entries_kernels
from antecede.checker.engine.rows import geometry as g
from antecede.checker.engine.storage.arrays import Words
from antecede.checker.model import Property, State, Step
from antecede.checker.semantics.crashes import CLOSED
from antecede.checker.semantics.history import Ghost, Oracle, oracle_named, with_pending
from antecede.checker.semantics.judge import is_of_one_state, looks_at_order, shown
from antecede.checker.semantics.transition import System, initial_state
from antecede.checker.semantics.values import canonical
from antecede.checker.support.errors import CapacityError, ProtocolError

MOST_PROPERTIES = 30
"""The most properties that an entry has room for, besides the bit for a handler that raised."""


@define
class Interner:
    """Numbers distinct values 0, 1, 2, … in the order of their first appearance.

    Attributes:
        what: the plural noun for the values in error messages.
        share: the number of parts of a key's field for numbers; these numbers use one part.
        numbers: value -> number, by equality.
        places: id of an object in `values` -> number; avoids hashing a value that is known.
        values: number -> value.
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
        """Return the number of `value`; a new value gets the next number.

        Raises:
            CapacityError: a key has no room for another number.
            ProtocolError: the value is not equal to itself.
        """
        number_before = self.places.get(id(value))
        if number_before is None:
            number_before = self.numbers.get(value)
        if number_before is not None:
            return number_before
        number, limit = len(self.values), g.NUMBER_LIMIT // self.share
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
        self.places[id(value)] = number  # the id stays valid, because `values` keeps the object
        self.values.append(value)
        return number


def bits_of(system: System, chosen: Callable[[Property], bool]) -> int:
    """Return the bit set of the chosen properties: bit k stands for property k of the system."""
    return sum(1 << rank for rank, prop in enumerate(system.properties) if chosen(prop))


def in_bits(system: System, bits: int) -> Iterator[Property]:
    """Yield the properties in a bit set, in the order of `system.properties`."""
    return (prop for rank, prop in enumerate(system.properties) if bits >> rank & 1)


Call = TypeVar("Call", int, Words)
"""The number of a call, or an array of such numbers."""

NOT_ENABLED = -1
"""The result of a timeout or an action that is not enabled."""


call_of: Callable[[Any, Any, Any, Any], Any] = unwrap(entries_kernels.key_of)
"""Return the number of a call of the protocol: a key like those of table entries, or an array.

Its kind is SEND, RECEIVE or INTERNAL, and its column is the actor, or for RECEIVE the channel to
it. Then come the number of the actor's state, and the number of the message or packet, or the place
of the action in `internals`.
"""


def in_call(call: Call) -> tuple[Call, Call, Call, Call]:
    """Unpack the number of a call of a handler (or of each in an array), as `call_of` packed it.

    Keys of other table entries have the same layout; see `key_of`.

    Returns:
        The kind (SEND, RECEIVE or INTERNAL), the actor (for RECEIVE: the channel to it), the number
        of the actor's state, and the number of the message, packet or action.
    """
    least, column = g.NUMBER_MASK, call >> 2 * g.NUMBER_BITS
    state = call >> g.NUMBER_BITS & least
    return column >> g.COLUMN_BITS, column & (1 << g.COLUMN_BITS) - 1, state, call & least


def in_result(result: int) -> tuple[int, int]:
    """Unpack the result of a call that is enabled, as `Components.result_of` packed it.

    Returns:
        The number of the actor's next state, and the number of its effects; 0 if it has none.
    """
    return result & (g.NUMBER_MASK), result >> g.NUMBER_BITS


@define(eq=False)
class Components:
    """The components of one system, and the calls of its protocol.

    Attributes:
        system: the system.
        self_channels: actors may send packets to themselves.
        oracle: the functions of the history.
        channels, channel_of: (source, destination) of each channel, and the number of each.
        states, positions, knows, pending: per actor, the components named at the top.
        contents: per channel, its contents.
        bundles: per channel, the sequences of packets that one step puts into it.
        messages: the application's messages, and network-sends of them.
        sent: messages together with their stamps, which are what their senders knew.
        stamps: pairs of a message and its stamp.
        records: the records in sequences of the `full` history.
        packets: packets that were received.
        effects: pairs of the sends and the deliveries of a call; 0: there are none.
        asks_of_states: some property looks at the states of single actors.
        shown_states: states that `shown` judged; many table entries lead to one state.
        sequences: column of records -> the number of numbered sequences.
        results: call -> its result, as in `call_of` and `in_result`, or NOT_ENABLED.
        judged: number of a state in `shown_states` -> the result of `shown`.
        calls: the number of calls of the protocol.
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
    effects: Interner = field(init=False)
    asks_of_states: bool = field(init=False)
    shown_states: Interner = field(init=False)
    sequences: dict[int, int] = field(factory=dict)
    results: dict[int, int] = field(factory=dict)
    judged: dict[int, int] = field(factory=dict)
    calls: int = 0

    def __attrs_post_init__(self) -> None:
        """Number the components of the initial state.

        Raises:
            CapacityError: the tables have no room for this many actors or properties.
        """
        system = self.system
        _refuse_too_many("actors", system.actors, g.MOST_ACTORS)
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
        self.effects = Interner("sends and deliveries")
        self.effects.number(((), ()))
        self.asks_of_states = any(map(is_of_one_state, system.properties))
        self.shown_states = Interner("states")
        self.records.number(None)
        for content in self.contents:
            content.number(())
            if system.crashes is not None:
                assert content.number(CLOSED) == g.CLOSED

    @property
    def crash_unit(self) -> int:
        """The amount by which a crash lowers the column LOSSES; 0 if no actor can crash.

        A lost packet lowers it by 1, so the column tells both how many losses and crashes are left.
        """
        return 0 if self.system.crashes is None else 1 + (self.system.network.budget or 0)

    @property
    def most_left(self) -> int:
        """The value of the column LOSSES in the initial state; see `crash_unit`."""
        crashes = 0 if self.system.crashes is None else self.system.crashes.most
        return (self.system.network.budget or 0) + self.crash_unit * crashes

    @property
    def full(self) -> bool:
        """The history is `full`: it also records sequences of sends and deliveries."""
        return self.system.oracle.name == "full"

    def columns(self, state: State) -> list[list[int]]:
        """Return, per actor, the numbers of its components in a state, column by column.

        The columns of records are 0, because the initial state has none.
        """
        rows = []
        for i in range(self.system.actors):
            row = [
                self.states[i].number(state.actors[i]),
                self.positions[i].number(state.workload[i]),
                *self._ghost_numbers(i, state.history[i]),
                0,
                0,
                (state.losses + self.crash_unit * state.crashes) * (i == 0),
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
        """Return the numbers of a ghost's two parts: its knowledge and its pending messages."""
        return (
            self.knows[actor].number(with_pending(ghost, ())),
            self.pending[actor].number(ghost.pending),
        )

    def shown(self, state: Any) -> int:
        """Return the bit set of the invariants that a state violates and witnesses it reaches."""
        if not self.asks_of_states:
            return 0
        number = self.shown_states.number(state)
        bits = self.judged.get(number)
        if bits is None:
            bits = self.judged[number] = bits_of(
                self.system, lambda prop: is_of_one_state(prop) and shown(prop, (state,))
            )
        return bits

    def values_of_all(self, column: int, numbers: Iterable[int]) -> tuple[Any, ...]:
        """Return the states of all actors, or the messages that they delivered (POSITION).

        There may be no numbers, if nothing is asked about the column.
        """
        if column == g.STATE:
            return tuple(s.values[n] for s, n in zip(self.states, numbers, strict=False))
        return tuple(p.values[n].delivered for p, n in zip(self.positions, numbers, strict=False))

    @property
    def internals(self) -> tuple[str | None, ...]:
        """The actors' spontaneous actions, in order: None is the timeout, the others have names."""
        protocol = self.system.protocol
        timeout = () if protocol.timeout is None else (None,)
        return (*timeout, *protocol.actions)

    def make(self, call: int) -> int:
        """Make a call of the protocol; return its result as in `in_result`, or NOT_ENABLED."""
        self.calls += 1
        kind, column, state, argument = in_call(call)
        handlers, actor = self.system.handlers, column
        step: Step | None
        if kind == g.RECEIVE:
            src, actor = self.channels[column]
            packet = self.packets.values[argument]
            step = handlers.receive(self.states[actor].values[state], src, packet)
        elif kind == g.SEND:
            message = self.messages.values[argument]
            step = handlers.causal_send(self.states[actor].values[state], message)
        elif (name := self.internals[argument]) is None:
            step = handlers.timeout(self.states[actor].values[state])
        else:
            step = handlers.action(name, self.states[actor].values[state])
        return NOT_ENABLED if step is None else self.result_of(actor, step)

    def result_of(self, actor: int, step: Step) -> int:
        """Return the result of a call, an actor's step, as a number; see `in_result`."""
        effects = 0
        if step.sends or step.deliveries:
            effects = self.effects.number((step.sends, step.deliveries))
        return self.states[actor].number(step.state) | effects << g.NUMBER_BITS


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
