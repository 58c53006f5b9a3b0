"""The records with which protocols and properties are written.

A protocol decides when a message that arrives may be handed to the application. `Protocol`,
`Message` and `Step` describe protocols, `Property`, `What` and `When` describe the statements that
the checker decides about protocols. `State` and the classes of transitions (`CausalSend`,
`Receive`, …) describe runs. A file with a protocol or a property imports no other module of the
checker.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from enum import Enum
from types import MappingProxyType
from typing import Any, TypeAlias, TypeVar

from attrs import field, frozen

LocalState: TypeAlias = Any
"""The state of one actor of a protocol: any hashable value, usually an instance of a frozen attrs
class. A protocol chooses the type. An actor is one participant of the system."""

Packet: TypeAlias = Any
"""The data that a protocol puts on the network: any hashable value, usually an instance of a frozen
attrs class. A protocol chooses the type."""

Predicate: TypeAlias = Callable[[LocalState], bool]
"""A function that takes the state of one actor and returns True or False."""

T = TypeVar("T")


def with_item(values: tuple[T, ...], index: int, value: T) -> tuple[T, ...]:
    """Return a copy of a tuple with one item replaced: the item at `index` becomes `value`.

    Examples:
        >>> from antecede.checker.model import with_item
        >>> with_item((10, 20, 30), 1, 25)
        (10, 25, 30)
    """
    items = list(values)
    items[index] = value
    return tuple(items)


@frozen(cache_hash=True)
class Message:
    """A message that an application sends through the protocol.

    Its sender and its number identify a message. It has no content, unless the workload gives it a
    label, such as `edit` or `delete`; see `LabelledMessage`.

    Attributes:
        sender: the number of the actor that sends the message. Actors are numbered from 0.
        number: 1 for the first message of this sender, 2 for the second one, and so on.
        destinations: the numbers of the actors that must deliver the message.

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
        """The number of the only actor to which the message is sent.

        Use `destinations` for a message that may have several.

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

    @property
    def label(self) -> str | int | None:
        """The label that the workload gives the message, or None."""
        return None


@frozen(cache_hash=True)
class LabelledMessage(Message):
    """A message with a label: its kind or its value, for protocols that look at it.

    The workloads `script`, `reaction` and `program` can give labels, and with `--labels` the
    application chooses them.

    Attributes:
        label: the label, a text or a whole number.

    Examples:
        >>> from antecede.checker.model import LabelledMessage
        >>> LabelledMessage(sender=0, number=1, destinations=(2,), label="edit").label
        'edit'
    """

    label: str | int


@frozen
class Envelope:
    """A packet in flight: it has been sent and has not arrived yet.

    Attributes:
        src: the number of the actor that sent the packet. Actors are numbered from 0.
        dst: the number of the actor that will receive the packet.
        packet: the data that the protocol sent.

    Examples:
        >>> from antecede import Envelope
        >>> Envelope(src=0, dst=2, packet="ack")
        Envelope(src=0, dst=2, packet='ack')
    """

    src: int
    dst: int
    packet: Packet


@frozen(eq=False)
class NormalForm:
    """Two functions that simplify a state of the whole system without changing its future.

    Counters such as sequence numbers grow forever, although a protocol may only look at their
    differences. The functions subtract the part of the counters that all actors have passed. Two
    states that differ only in this part then become equal, and the checker explores one of them.
    `normal` of `Protocol` returns such a pair. The functions must not change any `Message`.

    Attributes:
        state: a function that takes the number of an actor and its state, and returns the
            simplified state.
        packet: a function that takes an `Envelope`, and returns its packet in simplified form.
    """

    state: Callable[[int, LocalState], LocalState]
    packet: Callable[[Envelope], Packet]


Normaliser: TypeAlias = Callable[[tuple[LocalState, ...], tuple[Envelope, ...]], NormalForm]
"""A function that takes the states of all actors and all envelopes in flight, and returns the
`NormalForm` that simplifies them. `normal` of `Protocol` has this type."""


@frozen
class Step:
    """The result of a call of a protocol's function, such as `receive`: one step of an actor.

    Attributes:
        state: the new state of the actor.
        sends: the packets that the actor puts on the network, in order: pairs of the receiver's
            number and the packet. By default, none.
        deliveries: the messages that the actor hands to its application, in order. By default,
            none.

    Examples:
        An actor delivers a message, and sends an acknowledgement to actor 0:

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
    """A statement of an application's program that waits for a message.

    An application with such a program first sends some messages, then waits, and so on.
    `on_request` of `Protocol` passes the requests to a protocol that chooses which message to
    deliver.

    Attributes:
        after: the number of messages that the application has sent when it begins to wait.
        accepts: the messages that end the waiting, as pairs (sender, number). None means any
            message.
    """

    after: int
    accepts: frozenset[tuple[int, int]] | None = None

    def takes(self, message: tuple[int, int]) -> bool:
        """Return True if a message may end the waiting.

        Args:
            message: the sender of the message and its number, such as (0, 1).

        Examples:
            >>> from antecede import Request
            >>> request = Request(after=0, accepts=frozenset({(0, 1)}))
            >>> request.takes((0, 1)), request.takes((0, 2))
            (True, False)
        """
        return self.accepts is None or message in self.accepts


Measure: TypeAlias = Callable[[LocalState], int]
"""A function that takes the state of one actor and returns a whole number, such as the length of a
queue. `measures` of `Protocol` contains functions of this type."""

Action: TypeAlias = Callable[[LocalState], Step | None]
"""A function that takes the state of one actor and returns a `Step` that the actor may take by
itself, or None if the actor cannot take the step now. `actions` of `Protocol` contains such
functions."""


# One function per type of value, because mypy does not infer the type of a generic converter.
def _frozen_mapping(value: Mapping[str, Predicate]) -> Mapping[str, Predicate]:
    return MappingProxyType(dict(value))


def _frozen_actions(value: Mapping[str, Action]) -> Mapping[str, Action]:
    return MappingProxyType(dict(value))


def _frozen_measures(value: Mapping[str, Measure]) -> Mapping[str, Measure]:
    return MappingProxyType(dict(value))


@frozen(eq=False)
class Protocol:
    """A protocol for the delivery of messages: a record of functions that the checker calls.

    Each actor, a participant of the system, runs the same functions. A function takes the state of
    one actor and returns a `Step`: the new state, packets to send, and messages to deliver to the
    application. The functions must be pure: equal arguments give an equal result, and nothing is
    changed in place. All states and packets must be hashable.

    Attributes:
        name: the name of the protocol in commands and reports.
        initial: takes the number of an actor (from 0) and the number of all actors, and returns the
            actor's first state.
        causal_send: takes a state and a `Message` that the application wants to send, and returns a
            `Step`.
        receive: takes a state, the number of the sender and a packet that arrives, and returns a
            `Step`.
        summary: one line that describes the protocol; `antecede list` shows it.
        source: where the protocol is defined, such as the citation of a paper.
        timeout: takes a state, and returns a `Step`, or None if there is nothing to do. The checker
            calls it at any time. Only a protocol that sends packets again needs this function.
        actions: further steps that an actor may take at any time by itself: a dictionary of names
            and functions, which take a state and return a `Step`, or None if the step is impossible
            now. Unlike `timeout`, an action sends a packet even if an equal packet is still in
            flight.
        in_flight: takes the number of an actor and the number of all actors, and returns the
            packets that the actor has in flight at the start, as pairs of the receiver's number and
            the packet. By default, there are none. The packets must not contain messages of an
            application.
        network: the kind of network that the protocol needs, for example `unordered` (the default)
            or `fifo`, in which packets between two actors keep their order.
        on_request: takes, for each actor, the `Request`s of its application in order, and returns
            the protocol for these requests. Only a protocol that chooses which message to deliver
            needs this function.
        invariants: predicates that must be true of every actor's state at any time: a dictionary of
            names and functions, which take one state. Check one as the property `invariant:NAME`.
        joint_invariants: invariants whose functions take a tuple of the states of all actors.
            Compiled engines check them only in a breadth-first search.
        final_invariants: predicates that must be true of every actor's state when nothing more can
            happen. Check one as the property `final:NAME`.
        joint_final_invariants: such predicates whose functions take a tuple of the states of all
            actors.
        witnesses: predicates that should be true of some actor's state at some time, for example "a
            message had to wait". They show that a check covers the mechanism. Search for one as the
            property `witness:NAME`.
        joint_witnesses: witnesses whose functions take a tuple of the states of all actors.
        measures: numbers that may grow forever, such as the length of a queue: a dictionary of
            names and functions, which take one state. `check` with `bound=["NAME=5"]` does not
            search beyond states in which the number reaches 5.
        normal: takes the states of all actors and the envelopes in flight, and returns a
            `NormalForm` that removes counters that all actors have passed. An endless run then
            often has finitely many states.
        unmerged: the protocol with finer states, if this protocol treats different objects as one
            state because the author says that they behave alike. See `Unmerged`.
        shows_messages: True (the default) if the state of an actor contains the messages that the
            actor keeps. False if a state stands for an object or a program that hides them.
        states_are_calls: True if the state of an actor is the list of all its calls, so that each
            call makes a new state. By default False.
        durable: takes the state of an actor that crashes, and returns what the actor has on its
            disk. `recover` must be given, too.
        recover: takes the number of an actor, the number of all actors, and what the actor has on
            its disk, and returns a `Step` with the first state after the restart. Without it, an
            actor that crashes never takes a step again. Only `check` with `crashes` uses it.

    Examples:
        A protocol that delivers every message on arrival. A message from actor 0 can then be
        delivered after a message that depends on it, even if each channel keeps its order. The
        shortest run that shows this has 6 transitions:

        >>> from antecede import Protocol, Step, check
        >>> def causal_send(state, message):
        ...     return Step(state, sends=((message.receiver, message),))
        >>> def receive(state, sender, packet):
        ...     return Step(state, deliveries=(packet,))
        >>> chat = Protocol(
        ...     name="chat",
        ...     initial=lambda actor, actors: None,
        ...     causal_send=causal_send,
        ...     receive=receive,
        ... )
        >>> check(chat, actors=3, messages=2, network="fifo").counterexample.length
        6
    """

    name: str
    initial: Callable[[int, int], LocalState]
    causal_send: Callable[[LocalState, Message], Step]
    receive: Callable[[LocalState, int, Packet], Step]
    summary: str = field(default="", kw_only=True)
    source: str = field(default="", kw_only=True)
    timeout: Callable[[LocalState], Step | None] | None = None
    actions: Mapping[str, Action] = field(factory=dict, converter=_frozen_actions)
    in_flight: Callable[[int, int], tuple[tuple[int, Packet], ...]] | None = None
    network: str = "unordered"
    on_request: Callable[[tuple[tuple[Request, ...], ...]], Protocol] | None = None
    invariants: Mapping[str, Predicate] = field(factory=dict, converter=_frozen_mapping)
    joint_invariants: Mapping[str, Predicate] = field(factory=dict, converter=_frozen_mapping)
    final_invariants: Mapping[str, Predicate] = field(factory=dict, converter=_frozen_mapping)
    joint_final_invariants: Mapping[str, Predicate] = field(factory=dict, converter=_frozen_mapping)
    witnesses: Mapping[str, Predicate] = field(factory=dict, converter=_frozen_mapping)
    joint_witnesses: Mapping[str, Predicate] = field(factory=dict, converter=_frozen_mapping)
    measures: Mapping[str, Measure] = field(factory=dict, converter=_frozen_measures)
    normal: Normaliser | None = None
    unmerged: Unmerged | None = None
    shows_messages: bool = True
    states_are_calls: bool = False
    durable: Callable[[LocalState], Any] | None = None
    recover: Callable[[int, int, Any], Step] | None = None


@frozen
class Unmerged:
    """A version of a protocol with finer states, which tests whether merged states behave alike.

    The author of a protocol for real objects may give a key, and objects with equal keys are then
    one state. If two such objects behave differently, the checker explores too little. It therefore
    also runs counterexamples with the version that merges nothing.

    Attributes:
        protocol: the version of the protocol that merges fewer states, or none.
        condition: a function that returns, after a search, a sentence that says which states must
            behave alike. A verdict HOLDS depends on it. None if the author of the protocol did not
            choose which states are equal.
        refusal: a function that returns the text of the error if two merged states behave
            differently. It takes the merged state, the finer state, and a text that says how they
            differ.
    """

    protocol: Protocol
    condition: Callable[[], str | None]
    refusal: Callable[[LocalState, LocalState, str], str]


@frozen
class Delivery:
    """One delivery of a message, and whether it was correct.

    The predicates of safety properties, which find wrong deliveries, take such a record. The
    checker knows the whole run, and fills in the three flags. A correct delivery has
    `expected=True` and the other two flags False.

    Attributes:
        actor: the number of the actor that delivers the message. Actors are numbered from 0.
        message: the message.
        expected: True if the message was sent to this actor, and the actor had not delivered it
            before.
        causally_late: True if the actor had already delivered another message whose sender knew of
            this one.
        fifo_late: True if the actor had already delivered a later message of the same sender.

    Examples:
        Actor 1 delivers a message for the second time:

        >>> from antecede import Delivery, Message
        >>> message = Message(sender=0, number=1, destinations=(1,))
        >>> again = Delivery(1, message, expected=False, causally_late=True, fifo_late=False)
        >>> again.expected
        False
    """

    actor: int
    message: Message
    expected: bool
    causally_late: bool
    fifo_late: bool


class What(Enum):
    """The kind of argument that the predicate of a property takes.

    Attributes:
        DELIVERY: one `Delivery` of a message.
        LOCAL_STATE: the state of one actor.
        GLOBAL_STATE: a tuple of the states of all actors. Compiled engines check such a property
            only in a breadth-first search, except in final states.
        SEQUENCES: a tuple of all actors' deliveries: for each actor, a tuple of the messages that
            it has delivered so far, in order. If an actor delivers a message again, the tuple still
            has it once. Actors that have crashed are left out, as in `GLOBAL_STATE`. Compiled
            engines check such a property as one of `GLOBAL_STATE`.
        UNDELIVERED: a tuple of the messages of one sender that some receiver has not delivered.
        PARTLY_DELIVERED: a tuple of the messages of one sender that some receiver has delivered and
            another one has not. If actors can crash, it is about receivers that have not crashed.
        ENDED: a bool, whether the application of an actor has finished its program.

    Examples:
        A property whose predicate takes the state of one actor, here a tuple of waiting messages:

        >>> from antecede import Property, What, When
        >>> def is_small(state):
        ...     return len(state) < 3
        >>> small = Property("small", "few messages wait", What.LOCAL_STATE, When.ALWAYS, is_small)
        >>> small.predicate(("m1", "m2"))
        True
    """

    DELIVERY = "deliveries"
    LOCAL_STATE = "actors' states"
    GLOBAL_STATE = "the states of all actors"
    SEQUENCES = "the deliveries of all actors"
    UNDELIVERED = "undelivered messages"
    PARTLY_DELIVERED = "partly delivered messages"
    ENDED = "ends of workloads"


class When(Enum):
    """When the predicate of a property must be true: in all states or runs, or in some of them.

    A final state is a state in which nothing more can happen.

    Attributes:
        ALWAYS: in every state or delivery of every run.
        SOMETIMES: in at least one state or delivery of some run.
        AT_FINAL_STATES: in every final state, for every actor.
        AT_SOME_FINAL_STATE: in at least one final state, for every actor.
        ALWAYS_POSSIBLE: every reachable state can be continued to a state where the predicate is
            true for every actor.
        EVENTUALLY_IF_FAIR: no predicate. No message stays undelivered forever in a run whose
            network and timers delay nothing forever.

    Examples:
        When nothing more can happen, no message may be undelivered:

        >>> from antecede import Property, What, When
        >>> def nothing(undelivered):
        ...     return not undelivered
        >>> done = Property("done", "all is done", What.UNDELIVERED, When.AT_FINAL_STATES, nothing)
        >>> done.predicate(())
        True
    """

    ALWAYS = "always"
    SOMETIMES = "at some time"
    AT_FINAL_STATES = "at final states"
    AT_SOME_FINAL_STATE = "at some final state"
    ALWAYS_POSSIBLE = "as always possible"
    EVENTUALLY_IF_FAIR = "on fair runs"


_PLACES = {
    What.DELIVERY: (When.ALWAYS, When.SOMETIMES),
    What.LOCAL_STATE: tuple(When)[:4],
    What.GLOBAL_STATE: tuple(When)[:4],
    What.SEQUENCES: tuple(When)[:4],
    What.UNDELIVERED: tuple(When)[2:],
    What.PARTLY_DELIVERED: tuple(When)[2:5],
    What.ENDED: tuple(When)[2:5],
}
"""Subject -> the places where every engine can judge it."""

# Lookups of Enum members are slow, and searches need `sought` in every state.
_SOUGHT = (When.SOMETIMES, When.AT_SOME_FINAL_STATE)


def _unasked(_thing: Any) -> bool:
    raise TypeError("a property of fair runs asks no predicate")


@frozen(eq=False)
class Property:
    """A statement about a protocol that a check decides, such as "messages keep their order".

    A property consists of a predicate, the kind of its argument, and the states or runs in which
    the predicate must be true.

    Attributes:
        name: the name of the property in commands and results.
        summary: one line that describes the property; `antecede list` shows it.
        what: the kind of argument that the predicate takes, such as `What.DELIVERY`.
        when: when the predicate must be true, such as `When.ALWAYS`.
        predicate: a function that takes the argument and returns True or False. Leave it out for
            `When.EVENTUALLY_IF_FAIR`, and only there.

    Raises:
        ValueError: `what` and `when` do not fit together; the error names the values of `when`
            that fit. Or the predicate is missing, or superfluous.

    Examples:
        No actor delivers a message after a later message of the same sender:

        >>> from antecede import Delivery, Message, Property, What, When
        >>> in_order = Property(
        ...     name="in-order",
        ...     summary="the messages of a sender are delivered in the order of sending",
        ...     what=What.DELIVERY,
        ...     when=When.ALWAYS,
        ...     predicate=lambda delivery: not delivery.fifo_late,
        ... )
        >>> message = Message(sender=0, number=1, destinations=(1,))
        >>> late = Delivery(1, message, expected=True, causally_late=True, fifo_late=True)
        >>> in_order.predicate(late)
        False
    """

    name: str
    summary: str
    what: What
    when: When
    predicate: Callable[[Any], bool] = _unasked

    def __attrs_post_init__(self) -> None:
        """Check that the fields of the property fit together.

        Raises:
            ValueError: a field has a value of a wrong kind, `what` and `when` do not fit, or the
                predicate is missing or superfluous.
        """
        kinds: Mapping[str, Any] = {"name": str, "summary": str, "what": What, "when": When}
        for name, kind in kinds.items():
            if not isinstance(value := getattr(self, name), kind):
                wanted = "a text" if kind is str else f"a member of {kind.__name__}"
                raise ValueError(
                    f"the field {name!r} of the property {self.name!r} is {value!r}; give {wanted}"
                )
        if not self.name or not callable(self.predicate):
            raise ValueError(
                f"the property {self.name!r} needs a name and, as its predicate, a function; the "
                f"predicate is {self.predicate!r}"
            )
        if self.when not in _PLACES[self.what]:
            places = " or ".join(f"When.{place.name}" for place in _PLACES[self.what])
            raise ValueError(
                f"the property {self.name!r} has What.{self.what.name} and When.{self.when.name}; "
                f"What.{self.what.name} goes with {places}"
            )
        if (self.predicate is _unasked) != (self.when is When.EVENTUALLY_IF_FAIR):
            raise ValueError(
                f"the property {self.name!r} has When.{self.when.name}, and that "
                f"{'takes no' if self.predicate is not _unasked else 'needs a'} predicate"
            )

    @property
    def of_states(self) -> bool:
        """True if the predicate of the property takes the state of one actor, or of all actors."""
        return self.what in (What.LOCAL_STATE, What.GLOBAL_STATE)

    @property
    def at_end(self) -> bool:
        """True if the predicate is asked in final states only, in which nothing more can happen."""
        return self.when in (When.AT_FINAL_STATES, When.AT_SOME_FINAL_STATE)

    @property
    def sought(self) -> bool:
        """True if one example is enough: a state or delivery that satisfies the predicate.

        The property then holds as soon as the search finds an example. No single run can violate
        it. The property is violated if a complete search finds none.
        """
        return self.when in _SOUGHT

    @property
    def final(self) -> bool:
        """True if only final states, in which nothing more can happen, can violate the property."""
        return self.when is When.AT_FINAL_STATES

    @property
    def later(self) -> bool:
        """True if the checker can decide the property only after it has found all states.

        Examples of such properties are that every state can still lead to a good state, and that no
        message waits forever. False if single states or deliveries decide the property during the
        search.
        """
        return self.when in (When.ALWAYS_POSSIBLE, When.EVENTUALLY_IF_FAIR)


@frozen
class CausalSend:
    """An application hands its next message to the protocol: one kind of transition.

    A transition is one atomic step of the whole system.

    Attributes:
        actor: the number of the actor (participant) whose application sends. Actors are numbered
            from 0.
        destinations: the numbers of the actors that must deliver the message.
        marked: True if the checker judges the delivery of this message only. It does so in runs
            that never end: each search follows one message. Otherwise False.
        label: the label of the message if the application chooses it (`--labels`); otherwise None.
        cut: if the actor crashes while the packets of this step are sent: the destination of each
            packet that gets out, in ascending order. None if the actor takes the whole step.
    """

    kind = "causal-send"

    actor: int
    destinations: tuple[int, ...]
    marked: bool = False
    label: str | int | None = None
    cut: tuple[int, ...] | None = None


@frozen
class Arm:
    """An application decides to send, and chooses the receivers later: one kind of transition.

    A transition is one atomic step of the whole system. This kind exists only in a check with
    `sends="split"`, which divides each sending into two transitions: the decision (`Arm`) and the
    sending to chosen receivers (`CausalSend`). By default, one `CausalSend` does both.

    Attributes:
        actor: the number of the actor (participant) whose application decides to send. Actors are
            numbered from 0.
    """

    kind = "arm"

    actor: int


@frozen
class Receive:
    """A packet arrives, and the protocol's function `receive` runs: one kind of transition.

    A transition is one atomic step of the whole system.

    Attributes:
        src: the number of the actor (participant) that sent the packet. Actors are numbered from 0.
        dst: the number of the actor that receives the packet.
        packet: the packet.
        stays: True if a copy of the packet remains in flight, so that it can arrive again. This
            happens only on a network that duplicates packets.
        cut: as in `CausalSend`.
    """

    kind = "receive"

    src: int
    dst: int
    packet: Packet
    stays: bool = False
    cut: tuple[int, ...] | None = None


@frozen
class Timeout:
    """The timer of an actor runs out, and its function `timeout` runs: one kind of transition.

    A transition is one atomic step of the whole system.

    Attributes:
        actor: the number of the actor (participant). Actors are numbered from 0.
        cut: as in `CausalSend`.
    """

    kind = "timeout"

    actor: int
    cut: tuple[int, ...] | None = None


@frozen
class Internal:
    """An actor takes one of the `actions` of its protocol by itself: one kind of transition.

    A transition is one atomic step of the whole system.

    Attributes:
        actor: the number of the actor (participant). Actors are numbered from 0.
        name: the name of the action.
        cut: as in `CausalSend`.
    """

    kind = "internal"

    actor: int
    name: str
    cut: tuple[int, ...] | None = None


@frozen
class Lose:
    """The network loses a packet: one kind of transition.

    A transition is one atomic step of the whole system.

    Attributes:
        src: the number of the actor (participant) that sent the packet. Actors are numbered from 0.
        dst: the number of the actor that does not receive the packet.
        packet: the packet.
        place: the index of the packet among the packets from `src` to `dst` that may be lost now.
    """

    kind = "lose"

    src: int
    dst: int
    packet: Packet
    place: int = 0


Transition: TypeAlias = CausalSend | Arm | Receive | Timeout | Internal | Lose
"""One atomic step of the whole system, which leads from one state to the next state."""


@frozen
class State:
    """The state of the whole system between two transitions, its atomic steps.

    A state determines everything that can happen next. States are hashable, and a search visits
    equal states only once.

    Attributes:
        actors: the state of each actor (participant), in the order of the actors' numbers.
        channels: the packets in flight. The packets from actor `src` to actor `dst` are the tuple
            at index `src * len(actors) + dst`. They are sorted if the network may reorder them.
        workload: for each actor, how far its application is in its program.
        history: for each actor, a record of past events with which the checker judges deliveries.
            The protocol cannot see it.
        losses: the number of packets that the network may still lose, if that number is limited;
            otherwise 0.
        order: what the network remembers of the order of packets in different channels; None on
            most networks.
        crashes: the number of actors that may still crash.
    """

    actors: tuple[LocalState, ...]
    channels: tuple[tuple[Packet, ...], ...]
    workload: tuple[Any, ...]
    history: tuple[Any, ...]
    losses: int = 0
    order: Any = None
    crashes: int = 0
