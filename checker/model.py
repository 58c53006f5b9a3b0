"""The vocabulary shared by protocols, properties and engines.

Protocols and properties need no other module of the checker.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from enum import Enum
from types import MappingProxyType
from typing import Any, TypeAlias, TypeVar

from attrs import field, frozen

LocalState: TypeAlias = Any
"""One actor's own state: any hashable value, in practice a frozen attrs class."""

Packet: TypeAlias = Any
"""The content of an envelope: any hashable value, in practice a frozen attrs class."""

Predicate: TypeAlias = Callable[[LocalState], bool]

T = TypeVar("T")


def with_item(values: tuple[T, ...], index: int, value: T) -> tuple[T, ...]:
    """Return `values` with `value` at `index`."""
    return (*values[:index], value, *values[index + 1 :])


@frozen(cache_hash=True)
class Message:
    """A message of the application; `number` counts 1, 2, … per sender.

    Examples:
        >>> from antecede import Message
        >>> first = Message(sender=0, number=1, destinations=(2,))
        >>> first.receiver
        2
    """

    sender: int
    number: int
    destinations: tuple[int, ...]

    @property
    def receiver(self) -> int:
        """The only destination of a point-to-point message.

        Raises:
            ValueError: the message has more than one destination.
        """
        if len(self.destinations) != 1:
            raise ValueError(
                f"message {self.number} of actor {self.sender} has the destinations "
                f"{self.destinations}, and `receiver` is for messages with one; use "
                "`destinations`, or a workload in which every message has one"
            )
        return self.destinations[0]


@frozen
class Envelope:
    """A packet in flight.

    Examples:
        >>> from antecede import Envelope
        >>> Envelope(src=0, dst=2, packet="ack")
        Envelope(src=0, dst=2, packet='ack')
    """

    src: int
    dst: int
    packet: Packet


@frozen(eq=False)
class Renaming:
    """The functions that bring one global state into normal form. They must not change messages.

    Attributes:
        state: (actor, its state) -> the state without the common past.
        packet: envelope -> its packet without the common past.
    """

    state: Callable[[int, LocalState], LocalState]
    packet: Callable[[Envelope], Packet]


NormalForm: TypeAlias = Callable[[tuple[LocalState, ...], tuple[Envelope, ...]], Renaming]
"""(all actors' states, all envelopes in flight) -> the renaming that removes the common past."""


@frozen
class Step:
    """The result of a handler.

    Attributes:
        state: the actor's new state.
        sends: (destination, packet) pairs in network-send order.
        deliveries: messages in delivery order.

    Examples:
        A new state, a message that is delivered, and an acknowledgement to actor 0:

        >>> from antecede import Message, Step
        >>> message = Message(sender=0, number=1, destinations=(1,))
        >>> step = Step(state=5, sends=((0, "ack"),), deliveries=(message,))
        >>> step.state
        5
    """

    state: LocalState
    sends: tuple[tuple[int, Packet], ...] = ()
    deliveries: tuple[Message, ...] = ()


@frozen
class Request:
    """A receive statement of an application's program, as a request to its protocol.

    Attributes:
        after: the number of messages that the application has causal-sent before.
        accepts: the (sender, number) of the messages that it accepts; None accepts any.
    """

    after: int
    accepts: frozenset[tuple[int, int]] | None = None

    def takes(self, message: tuple[int, int]) -> bool:
        """Return whether the message with this (sender, number) is accepted."""
        return self.accepts is None or message in self.accepts


Measure: TypeAlias = Callable[[LocalState], int]

Action: TypeAlias = Callable[[LocalState], Step | None]


# One function per type of value, because mypy does not infer the type of a generic converter.
def _frozen_mapping(value: Mapping[str, Predicate]) -> Mapping[str, Predicate]:
    return MappingProxyType(dict(value))


def _frozen_actions(value: Mapping[str, Action]) -> Mapping[str, Action]:
    return MappingProxyType(dict(value))


def _frozen_measures(value: Mapping[str, Measure]) -> Mapping[str, Measure]:
    return MappingProxyType(dict(value))


@frozen(eq=False)
class Protocol:
    """A protocol: a record of pure functions over frozen values.

    A handler sees one actor's own state, never the system, the network or the history. Equal
    arguments give an equal result, nothing is mutated, every value is hashable.

    Attributes:
        name: the name on the command line.
        summary: one line for `antecede list`.
        source: the definition of the protocol, such as a citation.
        initial: (actor, actors) -> state.
        causal_send: (state, message) -> Step; the application hands over a message.
        receive: (state, src, packet) -> Step; an envelope reaches its actor.
        timeout: state -> Step or None; only for protocols that retransmit.
        actions: name -> (state -> Step, or None if it is not enabled): steps that an actor may take
            at any time by itself. The difference from a timeout is that a timeout does not send a
            packet again while an equal one is in flight.
        in_flight: (actor, actors) -> the (destination, packet) pairs in flight from the actor at
            the start. They contain no messages, because none has been causal-sent.
        network: the network that the protocol needs; checks use it by default.
        on_request: (per actor, its application's requests in order) -> the protocol for these
            requests; only for protocols that choose which message to deliver.
        invariants: name -> predicate on one actor's state, checked as `invariant:NAME`.
        joint_invariants: name -> predicate on the states of all actors, a tuple, checked as
            `invariant:NAME`, too; on tables only breadth-first.
        at_rest: name -> predicate that every actor's state should satisfy in a final state;
            `check --measures` reports the predicates that fail.
        joint_at_rest: name -> predicate that the states of all actors, a tuple, should satisfy in a
            final state; reported as those of `at_rest`.
        witnesses: name -> predicate on one actor's state, searched for as `witness:NAME`.
        joint_witnesses: name -> predicate on the states of all actors, a tuple, searched for as
            `witness:NAME`, too.
        measures: name -> (state -> int): a quantity that may grow without end, such as the length
            of a queue. With `--bound NAME=N` a search does not expand states that reach N.
        normal: the normal form, which removes counters that all actors have passed. It makes the
            graph of an endless workload smaller, often finite. See `checker.semantics.normal`.
        unmerged: the same protocol without equal states for different histories, if the author of
            this one says which states are equal. Counterexamples are replayed with it, too.
        shows_messages: whether an actor's state contains the messages that the actor keeps; False
            if the state represents an object or a process.

    Examples:
        A protocol that delivers every message on arrival. FIFO channels do not make it causal:

        >>> from antecede import Protocol, Step, check
        >>> def causal_send(state, message):
        ...     return Step(state, sends=((message.receiver, message),))
        >>> def receive(state, sender, packet):
        ...     return Step(state, deliveries=(packet,))
        >>> chat = Protocol(
        ...     name="chat",
        ...     summary="deliver on arrival",
        ...     source="a first idea",
        ...     initial=lambda actor, actors: None,
        ...     causal_send=causal_send,
        ...     receive=receive,
        ... )
        >>> check(chat, actors=3, messages=2, network="fifo").counterexample.length
        6
    """

    name: str
    summary: str
    source: str
    initial: Callable[[int, int], LocalState]
    causal_send: Callable[[LocalState, Message], Step]
    receive: Callable[[LocalState, int, Packet], Step]
    timeout: Callable[[LocalState], Step | None] | None = None
    actions: Mapping[str, Action] = field(factory=dict, converter=_frozen_actions)
    in_flight: Callable[[int, int], tuple[tuple[int, Packet], ...]] | None = None
    network: str = "unordered"
    on_request: Callable[[tuple[tuple[Request, ...], ...]], Protocol] | None = None
    invariants: Mapping[str, Predicate] = field(factory=dict, converter=_frozen_mapping)
    joint_invariants: Mapping[str, Predicate] = field(factory=dict, converter=_frozen_mapping)
    at_rest: Mapping[str, Predicate] = field(factory=dict, converter=_frozen_mapping)
    joint_at_rest: Mapping[str, Predicate] = field(factory=dict, converter=_frozen_mapping)
    witnesses: Mapping[str, Predicate] = field(factory=dict, converter=_frozen_mapping)
    joint_witnesses: Mapping[str, Predicate] = field(factory=dict, converter=_frozen_mapping)
    measures: Mapping[str, Measure] = field(factory=dict, converter=_frozen_measures)
    normal: NormalForm | None = None
    unmerged: Unmerged | None = None
    shows_messages: bool = True


@frozen
class Unmerged:
    """A protocol that tells apart what another one takes for equal states.

    Attributes:
        protocol: its handlers behave like the other protocol's, if equal states behave alike.
        condition: returns, after a search, that equal states behave alike, in words; None if the
            author of the protocol did not choose which states are equal.
        refusal: (state of the other protocol, state of `protocol`, what they did) -> the error, if
            they behave differently.
    """

    protocol: Protocol
    condition: Callable[[], str | None]
    refusal: Callable[[LocalState, LocalState, str], str]


@frozen
class Delivery:
    """One delivery as the causality oracle judges it; the argument of safety properties.

    Attributes:
        actor: the actor that delivers the message.
        message: the message.
        expected: whether it was causal-sent to this actor and not delivered here before.
        known: whether the actor causally knew of it already, from earlier deliveries.
        overtaken: whether a later message of its sender was delivered here before it.

    Examples:
        The second delivery of one message to actor 1:

        >>> from antecede import Delivery, Message
        >>> message = Message(sender=0, number=1, destinations=(1,))
        >>> again = Delivery(actor=1, message=message, expected=False, known=True, overtaken=False)
        >>> again.expected
        False
    """

    actor: int
    message: Message
    expected: bool
    known: bool
    overtaken: bool


class What(Enum):
    """The subject of a property: the argument of its predicate.

    Examples:
        The predicate takes one actor's own state:

        >>> from antecede import Property, What, Where
        >>> def is_small(state):
        ...     return len(state) < 3
        >>> small = Property("small", "few held back", What.STATE, Where.EVERYWHERE, is_small)
        >>> small.predicate(("m1", "m2"))
        True
    """

    DELIVERY = "deliveries"
    """A `Delivery`."""
    STATE = "actors' states"
    """An actor's own state."""
    STATES = "the states of all actors"
    """The states of all actors at once, in order; on tables only breadth-first."""
    UNDELIVERED = "undelivered messages"
    """The messages of one sender that are not delivered everywhere, in causal-send order."""
    ENDED = "ends of workloads"
    """A bool per actor: whether its application has ended."""


class Where(Enum):
    """The states or runs where the predicate of a property must be true.

    Examples:
        The predicate is asked in final states only:

        >>> from antecede import Property, What, Where
        >>> def nothing(undelivered):
        ...     return not undelivered
        >>> done = Property("done", "all is done", What.UNDELIVERED, Where.AT_FINAL_STATES, nothing)
        >>> done.final
        True
    """

    EVERYWHERE = "everywhere"
    """Always, in every run."""
    SOMEWHERE = "somewhere"
    """Once, in some run."""
    AT_FINAL_STATES = "at final states"
    """For every actor, in every final state."""
    AT_SOME_FINAL_STATE = "at some final state"
    """For every actor, in one final state."""
    FROM_EVERYWHERE_ON = "from everywhere on"
    """From every reachable state, some state can be reached where it is true for every actor; see
    `semantics.recoverability`."""
    ON_FAIR_RUNS = "on fair runs"
    """Without a predicate: no fair run leaves a message undelivered for ever; see
    `liveness.fairness`."""


_PLACES = {
    What.DELIVERY: (Where.EVERYWHERE, Where.SOMEWHERE),
    What.STATE: (Where.EVERYWHERE, Where.SOMEWHERE),
    What.STATES: (Where.EVERYWHERE, Where.SOMEWHERE),
    What.UNDELIVERED: tuple(Where)[2:],
    What.ENDED: tuple(Where)[2:5],
}
"""Subject -> the places where every engine can judge it."""

# Lookups of Enum members are slow, and searches need `sought` in every state.
_SOUGHT = (Where.SOMEWHERE, Where.AT_SOME_FINAL_STATE)


def _unasked(_thing: Any) -> bool:
    raise TypeError("a property of fair runs asks no predicate")


@frozen(eq=False)
class Property:
    """A property: a predicate, with its subject and the places where it must be true.

    `checker.semantics.judge` evaluates it on all engines.

    Attributes:
        name: the name on the command line and in results.
        summary: one line for `antecede list`.
        what: the subject of the predicate.
        where: the places where the predicate must be true.
        predicate: subject -> bool.

    Raises:
        ValueError: this subject cannot be judged there, or there is no predicate.

    Examples:
        No actor delivers a message after a later one of the same sender:

        >>> from antecede import Delivery, Message, Property, What, Where
        >>> in_order = Property(
        ...     name="in-order",
        ...     summary="a sender's messages are delivered in the order of their causal-sends",
        ...     what=What.DELIVERY,
        ...     where=Where.EVERYWHERE,
        ...     predicate=lambda delivery: not delivery.overtaken,
        ... )
        >>> message = Message(sender=0, number=1, destinations=(1,))
        >>> late = Delivery(actor=1, message=message, expected=True, known=True, overtaken=True)
        >>> in_order.predicate(late)
        False
    """

    name: str
    summary: str
    what: What
    where: Where
    predicate: Callable[[Any], bool] = _unasked

    def __attrs_post_init__(self) -> None:
        """Check that every engine can judge the property."""
        if self.where not in _PLACES[self.what]:
            places = " or ".join(f"Where.{place.name}" for place in _PLACES[self.what])
            raise ValueError(
                f"the property {self.name!r} judges {self.what.value} {self.where.value}; "
                f"What.{self.what.name} goes with {places}"
            )
        if (self.predicate is _unasked) != (self.where is Where.ON_FAIR_RUNS):
            raise ValueError(
                f"the property {self.name!r} judges {self.what.value} {self.where.value}, and "
                f"that {'takes no' if self.predicate is not _unasked else 'needs a'} predicate"
            )

    @property
    def of_states(self) -> bool:
        """True if its predicate is about actors' states."""
        return self.what in (What.STATE, What.STATES)

    @property
    def sought(self) -> bool:
        """True if it holds as soon as some state or delivery satisfies it; no path violates it."""
        return self.where in _SOUGHT

    @property
    def final(self) -> bool:
        """True if only final states can violate it."""
        return self.where is Where.AT_FINAL_STATES

    @property
    def later(self) -> bool:
        """True if it is judged after a search, on the graph of all states."""
        return self.where in (Where.FROM_EVERYWHERE_ON, Where.ON_FAIR_RUNS)


@frozen
class CausalSend:
    """Transition: the application hands the next message of `actor` to the protocol.

    Under the history `marked`, `marked` says whether this message is the marked one.
    """

    kind = "causal-send"

    actor: int
    destinations: tuple[int, ...]
    marked: bool = False


@frozen
class Arm:
    """Transition: the application of `actor` decides to send; only with `--sends split`."""

    kind = "arm"

    actor: int


@frozen
class Receive:
    """Transition: an envelope reaches its actor. On a duplicating network it may stay in flight."""

    kind = "receive"

    src: int
    dst: int
    packet: Packet
    stays: bool = False


@frozen
class Timeout:
    """Transition: the periodic part of the protocol runs at `actor`."""

    kind = "timeout"

    actor: int


@frozen
class Internal:
    """Transition: `actor` takes an action of its own; see `Protocol.actions`."""

    kind = "internal"

    actor: int
    name: str


@frozen
class Lose:
    """Transition: an envelope is lost; `place` is its index among its channel's possible losses."""

    kind = "lose"

    src: int
    dst: int
    packet: Packet
    place: int = 0


Transition: TypeAlias = CausalSend | Arm | Receive | Timeout | Internal | Lose


@frozen
class State:
    """A global state. Searches identify equal states.

    Attributes:
        actors: each actor's protocol state.
        channels: packets in flight from src to dst at index src * actors + dst, in the network
            kind's canonical order.
        workload: each actor's position in the workload.
        history: each actor's ghost record; see `checker.semantics.history`.
        losses: the number of envelopes that may still be lost, if the network has a budget; else 0.
    """

    actors: tuple[LocalState, ...]
    channels: tuple[tuple[Packet, ...], ...]
    workload: tuple[Any, ...]
    history: tuple[Any, ...]
    losses: int = 0
