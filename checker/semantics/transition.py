"""The transitions of a system in plain Python: their conditions and their effects.

This module and `checker.semantics.history` define the semantics. Every faster engine must agree
with them.

Question: Which transitions are enabled in a state, and what do they change? `enabled`, `successor`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from functools import cached_property
from typing import TypeAlias

from attrs import evolve, field, frozen

from antecede.checker.model import (
    Arm,
    CausalSend,
    Delivery,
    Internal,
    Lose,
    Message,
    Normaliser,
    Packet,
    Property,
    Protocol,
    Receive,
    State,
    Step,
    Timeout,
    Transition,
    with_item,
)
from antecede.checker.semantics.crashes import (
    CLOSED,
    CRASH,
    RECOVER,
    Crashed,
    Crashes,
    Sends,
    cuts_of,
    is_crash,
    is_live,
    reopened,
    sent_at,
)
from antecede.checker.semantics.handlers import CheckedHandlers
from antecede.checker.semantics.history import Oracle, deliver, network_send
from antecede.checker.semantics.limits import AnyLimit
from antecede.checker.semantics.marked import is_over, may_mark, told_apart
from antecede.checker.semantics.names import Names
from antecede.checker.semantics.network import Channel, Network
from antecede.checker.semantics.normal import normal_form
from antecede.checker.semantics.ordering import Order
from antecede.checker.semantics.question import Question
from antecede.checker.semantics.values import messages_in
from antecede.checker.semantics.workload import ARM, EndlessWorkload, Workload
from antecede.checker.support.errors import CapacityError
from antecede.checker.support.memory import lacking


@frozen(eq=False)
class System:
    """A closed system: a protocol, a workload, a network, a history and properties.

    Attributes:
        limits: a search does not expand a state that reaches one of these limits.
        names: the names of actors and messages in reports.
        crashes: the crashes that may happen, or None.
        reference: the protocol on the command line, which may be a file; empty: its name.
        handlers: the checked handlers of the protocol.
    """

    protocol: Protocol
    actors: int
    messages: int
    network: Network
    workload: Workload
    oracle: Oracle
    properties: tuple[Property, ...]
    limits: tuple[AnyLimit, ...] = ()
    names: Names = field(factory=Names)
    crashes: Crashes | None = None
    reference: str = ""
    handlers: CheckedHandlers = field(init=False)

    @property
    def question(self) -> Question:
        """The question that this system answers."""
        return Question(
            protocol=self.protocol.name,
            actors=self.actors,
            messages=self.messages,
            network=self.network.name,
            workload=self.workload.text,
            labels=",".join(map(str, self.workload.offers)),
            sends="split" if self.workload.splits else "joint",
            clock_at="causal-send" if self.oracle.network_send is None else "network-send",
            history=self.oracle.name,
            crashes="0" if self.crashes is None else self.crashes.text,
            to_crashed="lost" if self.crashes is not None and self.crashes.lost else "kept",
            properties=tuple(prop.name for prop in self.properties),
        )

    @handlers.default
    def _checked_handlers(self) -> CheckedHandlers:
        return CheckedHandlers(self.protocol, self.actors)

    @property
    def normal(self) -> Normaliser | None:
        """The normal form that is applied to states, or None."""
        return None

    def with_states_as_they_are(self) -> System:
        """Return the system without a normal form."""
        return self

    def may_send(self, state: State, actor: int) -> bool:
        """Return whether an actor's undelivered messages leave room for another one."""
        return True

    def is_over(self, state: State) -> bool:
        """Return whether the successors of a state need not be judged."""
        return False

    @cached_property
    def pairs(self) -> tuple[tuple[int, int], ...]:
        """Return (src, dst) of every channel, at its index."""
        return tuple((i, j) for i in range(self.actors) for j in range(self.actors))


@frozen(eq=False)
class EndlessSystem(System):
    """A system whose applications never stop; its history follows one message.

    Attributes:
        normalises: whether the protocol's normal form, if it has one, is applied to states. A form
            drops values that handlers do not depend on, so it is not applied if a predicate or a
            limit looks at states.
    """

    workload: EndlessWorkload = field(kw_only=True)
    normalises: bool = field()

    @normalises.default
    def _nothing_looks_at_states(self) -> bool:
        return not self.limits and not any(prop.of_states for prop in self.properties)

    @cached_property
    def normal(self) -> Normaliser | None:
        """Return the normal form that is applied to states, or None."""
        follows_one = self.oracle.number is not None
        return self.protocol.normal if follows_one and self.normalises else None

    def with_states_as_they_are(self) -> EndlessSystem:
        """Return the system without a normal form."""
        return evolve(self, normalises=False)

    def may_send(self, state: State, actor: int) -> bool:
        """Return whether an actor has fewer undelivered messages than its workload allows."""
        return len(state.history[actor].pending) < self.workload.buffer

    def is_over(self, state: State) -> bool:
        """Return whether the marked message was delivered everywhere."""
        return self.oracle.number is not None and is_over(state.history)


@frozen(eq=False)
class Outcome:
    """The effect of a transition: the next state, the handler's step, the judged deliveries."""

    state: State
    step: Step
    deliveries: tuple[Delivery, ...]


CROWD = 1000
"""The greatest number of actors whose channels surely fit the memory."""


def channel_bytes(actors: int) -> int:
    """Return the number of bytes that the channels of two states take while they are empty.

    A state has a channel for every two actors. Making the next state copies all of them at once.
    """
    return 2 * 8 * actors**2


def refuse_crowd(actors: int) -> None:
    """Refuse so many actors that the memory cannot hold the channels of a state.

    Raises:
        CapacityError: there is not enough memory.
    """
    if actors > CROWD and (lacks := lacking(*2 * (channel_bytes(actors),))):
        raise CapacityError(
            f"the channels between {actors:,} actors take more than the memory; give fewer "
            f"({lacks})"
        )


def initial_state(system: System) -> State:
    """Return the state at the start of every run."""
    everyone = range(system.actors)
    channels: list[Channel] = [()] * system.actors**2
    ordering = system.network.ordering
    order = None if ordering is None else ordering.initial(system.actors)
    for actor in everyone:
        order = _put(system, channels, order, actor, system.handlers.in_flight(actor))
    state = State(
        actors=tuple(system.handlers.initial(i) for i in everyone),
        channels=tuple(channels),
        workload=tuple(system.workload.initial(i) for i in everyone),
        history=tuple(system.oracle.initial(i) for i in everyone),
        losses=system.network.budget or 0,
        order=order,
        crashes=0 if system.crashes is None else system.crashes.most,
    )
    return _written(system, state)


def _put(
    system: System,
    channels: list[Channel],
    order: Order,
    actor: int,
    sends: tuple[tuple[int, Packet], ...],
) -> Order:
    """Put the packets that an actor sends into their channels; return the order afterwards."""
    ordering = system.network.ordering
    for destination, packet in sends:
        index = actor * system.actors + destination
        before = channels[index]
        channels[index] = system.network.put(before, packet)
        if ordering is not None and channels[index] is not before:
            order = ordering.sent(order, actor, destination)
    return order


def _written(system: System, state: State) -> State:
    """Return the normal form of a state, or the state itself if the system applies none."""
    if system.normal is None:
        return state
    return normal_form(system.normal, system.network, state)


def enabled(system: System, state: State) -> tuple[Transition, ...]:
    """Return the enabled transitions in a fixed order.

    The order is: causal-sends by actor, receives by channel, timeouts and other internal actions by
    actor, losses by channel, recoveries and crashes by actor. The crashes in the middle of a step
    follow this step.
    """
    if waits_for_receipts(system, state):
        return tuple(_receives(system, state, range(len(state.channels))))
    whole = (
        *_causal_sends(system, state, range(system.actors)),
        *_receives(system, state, range(len(state.channels))),
        *_internals(system, state, range(system.actors)),
        *_losses(system, state),
        *_restarts(system, state, range(system.actors)),
    )
    return tuple(_with_cuts(system, state, whole))


def is_final(system: System, transitions: Iterable[Transition]) -> bool:
    """Return whether a state with these enabled transitions is final: all of them are crashes."""
    return all(crashes(system, transition) for transition in transitions)


def crashes(system: System, transition: Transition) -> bool:
    """Return whether an actor crashes in a transition, and not in an own action of that name."""
    return system.crashes is not None and is_crash(transition)


def enabled_at(
    system: System, state: State, actor: int, src: int | None = None
) -> tuple[Transition, ...]:
    """Return the enabled transitions of one actor, in the order of `enabled`.

    Args:
        system: the system.
        state: the state.
        actor: the actor that sends, receives, times out or acts by itself.
        src: the sender of the packets in receptions and losses; None leaves both out.
    """
    channels = () if src is None else (src * system.actors + actor,)
    if waits_for_receipts(system, state):
        return tuple(_receives(system, state, channels))
    whole = (
        *_causal_sends(system, state, (actor,)),
        *_receives(system, state, channels),
        *_internals(system, state, (actor,)),
        *(() if src is None else _losses(system, state)),
        *_restarts(system, state, (actor,)),
    )
    return tuple(_with_cuts(system, state, whole))


def waits_for_receipts(system: System, state: State) -> bool:
    """Return whether packets are in flight that must be received before anything else happens."""
    return system.network.urgent and any(state.channels)


def _causal_sends(system: System, state: State, actors: Iterable[int]) -> Iterator[Transition]:
    for actor in actors:
        if not system.may_send(state, actor) or not is_live(state, actor):
            continue
        for destinations in system.workload.choices(actor, state.workload[actor]):
            if destinations == ARM:
                yield Arm(actor)
                continue
            number = system.workload.sent(state.workload[actor]) + 1
            for label in system.workload.offered(actor, number):
                yield CausalSend(actor, destinations, label=label)
                if system.oracle.number is not None and may_mark(state.history):
                    yield CausalSend(actor, destinations, marked=True, label=label)


def _receives(system: System, state: State, channels: Iterable[int]) -> Iterator[Transition]:
    ordering = system.network.ordering
    for number in channels:
        channel = state.channels[number]
        if not channel:
            continue
        src, dst = divmod(number, system.actors)
        unready = ordering is not None and not ordering.ready(state.order, src, dst)
        if unready or not is_live(state, dst):
            continue
        for packet, rest in system.network.take(channel):
            receive = Receive(src, dst, packet, stays=rest == channel)
            if not receive.stays or _changes(system, state, receive):
                yield receive


def _internals(system: System, state: State, actors: Iterable[int]) -> Iterator[Transition]:
    protocol = system.protocol
    if protocol.timeout is None and not protocol.actions:
        return
    for actor in actors:
        if not is_live(state, actor):
            continue
        if protocol.timeout is not None and _run_timeout(system, state, actor):
            timeout = Timeout(actor)
            if _changes(system, state, timeout):
                yield timeout
        for name in protocol.actions:
            if system.handlers.action(name, state.actors[actor]) is None:
                continue
            action = Internal(actor, name)
            if _changes(system, state, action):
                yield action


def _losses(system: System, state: State) -> Iterator[Transition]:
    network = system.network
    if network.lose is None or (network.budget is not None and state.losses == 0):
        return
    for (src, dst), channel in zip(system.pairs, state.channels, strict=True):
        for place, (packet, _) in enumerate(network.lose(channel)):
            yield Lose(src, dst, packet, place)


def _restarts(system: System, state: State, actors: Iterable[int]) -> Iterator[Transition]:
    """Yield the recoveries of actors, then the crashes."""
    allowed = system.crashes
    if allowed is None:
        return
    if system.protocol.recover is not None:
        yield from (Internal(i, RECOVER) for i in actors if not is_live(state, i))
    if state.crashes:
        live = (i for i in actors if i in allowed.of and is_live(state, i))
        yield from (Internal(i, CRASH) for i in live)


def _with_cuts(
    system: System, state: State, transitions: tuple[Transition, ...]
) -> Iterator[Transition]:
    """Yield transitions, and after each step the crashes in its middle."""
    allowed = system.crashes
    if allowed is None or allowed.whole or not state.crashes:
        yield from transitions
        return
    nothing = system.protocol.recover is not None
    for each in transitions:
        yield each
        if isinstance(each, Arm | Lose) or is_crash(each) or _actor_of(each) not in allowed.of:
            continue
        before, step = _handled(system, state, each)
        sends = _entering(system, before, _actor_of(each), step.sends)
        for cut in cuts_of(sends, nothing=nothing):
            yield evolve(each, cut=cut)


def _entering(system: System, state: State, actor: int, sends: Sends) -> Sends:
    """Return those packets of a step that change their channels, in order."""
    channels, entering = list(state.channels), []
    for destination, packet in sends:
        index = actor * system.actors + destination
        before = channels[index]
        channels[index] = system.network.put(before, packet)
        if channels[index] != before:
            entering.append((destination, packet))
    return tuple(entering)


def _changes(system: System, state: State, transition: Transition) -> bool:
    """Return whether a transition changes the state or delivers a message, even wrongly."""
    outcome = successor(system, state, transition)
    return bool(outcome.deliveries) or outcome.state != state


def successor(system: System, state: State, transition: Transition) -> Outcome:
    """Apply an enabled transition.

    Raises:
        ProtocolError: the handler raised or returned something that is not a Step.
    """
    if isinstance(transition, Arm):
        return _arm(system, state, transition.actor)
    if isinstance(transition, Lose):
        return _lose(system, state, transition)
    actor = _actor_of(transition)
    before, step = _handled(system, state, transition)
    if not crashes(system, transition):
        return _finish(system, before, actor, step)
    if transition.cut is not None:
        sends = sent_at(transition.cut, _entering(system, before, actor, step.sends))
        step = Step(Crashed(system.handlers.durable(step.state)), sends, step.deliveries)
    return _crash(system, _finish(system, before, actor, step), actor)


Handled: TypeAlias = CausalSend | Receive | Timeout | Internal
"""The transitions that a function of the protocol handles."""


def _actor_of(transition: Handled) -> int:
    return transition.dst if isinstance(transition, Receive) else transition.actor


def _handled(system: System, state: State, transition: Handled) -> tuple[State, Step]:
    """Return what an actor finds in a transition, and the whole step that it takes there.

    What it finds is the state before the step, without the packet that is received, and with the
    message that is causal-sent.
    """
    here = state.actors[_actor_of(transition)]
    if isinstance(transition, CausalSend):
        return _causal_send(system, state, transition)
    if isinstance(transition, Receive):
        return _receive(system, state, transition)
    if isinstance(transition, Timeout):
        return state, _run_timeout(system, state, transition.actor) or Step(here)
    if system.crashes is not None and transition.name in (CRASH, RECOVER):
        return _restart(system, state, transition)
    return state, system.handlers.action(transition.name, here) or Step(here)


def state_after(system: System, transitions: Iterable[Transition]) -> State:
    """Return the state to which transitions lead from the initial state."""
    state = initial_state(system)
    for transition in transitions:
        state = successor(system, state, transition).state
    return state


def next_message(system: System, state: State, transition: CausalSend) -> Message:
    """Return the message that `transition` creates."""
    actor, make = transition.actor, system.workload.message
    if system.oracle.number is None:
        number = system.workload.sent(state.workload[actor]) + 1
        return make(actor, number, transition.destinations, transition.label)
    number = system.oracle.number(state.history[actor], transition.marked)
    message = make(actor, number, transition.destinations, transition.label)
    return told_apart(message, state) if system.network.merges else message


def _causal_send(system: System, state: State, transition: CausalSend) -> tuple[State, Step]:
    actor = transition.actor
    message = next_message(system, state, transition)
    position = system.workload.after_send(actor, state.workload[actor], transition.destinations)
    ghost = system.oracle.causal_send(state.history[actor], message)
    before = evolve(
        state,
        workload=with_item(state.workload, actor, position),
        history=with_item(state.history, actor, ghost),
    )
    return before, system.handlers.causal_send(state.actors[actor], message)


def _arm(system: System, state: State, actor: int) -> Outcome:
    position = system.workload.after_send(actor, state.workload[actor], ARM)
    after = evolve(state, workload=with_item(state.workload, actor, position))
    return Outcome(after, Step(state.actors[actor]), ())


def _receive(system: System, state: State, transition: Receive) -> tuple[State, Step]:
    src, dst = transition.src, transition.dst
    index = src * system.actors + dst
    channel = state.channels[index]
    rest = next(
        rest
        for packet, rest in system.network.take(channel)
        if packet == transition.packet and transition.stays == (rest == channel)
    )
    before = evolve(state, channels=with_item(state.channels, index, rest))
    if system.network.ordering is not None:
        before = evolve(before, order=system.network.ordering.received(state.order, src, dst))
    return before, system.handlers.receive(state.actors[dst], src, transition.packet)


def _run_timeout(system: System, state: State, actor: int) -> Step | None:
    """Run the timeout of `actor`, and drop its sends of packets that are in flight already."""
    step = system.handlers.timeout(state.actors[actor])
    if step is None:
        return None
    row = actor * system.actors
    new = tuple((d, packet) for d, packet in step.sends if packet not in state.channels[row + d])
    return evolve(step, sends=new)


def _restart(system: System, state: State, transition: Internal) -> tuple[State, Step]:
    """Let an actor crash or recover."""
    actor, here = transition.actor, state.actors[transition.actor]
    if transition.name == CRASH:
        return state, Step(Crashed(system.handlers.durable(here)))
    assert isinstance(here, Crashed)
    channels = _incoming(system, state, actor, reopened)
    return evolve(state, channels=channels), system.handlers.recover(actor, here.durable)


def _crash(system: System, outcome: Outcome, actor: int) -> Outcome:
    """Take one from the crashes that are left, and perhaps lose the packets to the actor."""
    state = outcome.state
    channels = state.channels
    if system.crashes is not None and system.crashes.lost:
        channels = _incoming(system, state, actor, lambda _channel: CLOSED)
    return evolve(outcome, state=evolve(state, channels=channels, crashes=state.crashes - 1))


def _incoming(
    system: System, state: State, actor: int, change: Callable[[Channel], Channel]
) -> tuple[Channel, ...]:
    """Return all channels, with a change of those that lead to an actor."""
    pairs = zip(system.pairs, state.channels, strict=True)
    return tuple(change(channel) if dst == actor else channel for (_, dst), channel in pairs)


def _lose(system: System, state: State, transition: Lose) -> Outcome:
    index = transition.src * system.actors + transition.dst
    assert system.network.lose is not None
    _, rest = system.network.lose(state.channels[index])[transition.place]
    after = evolve(
        state,
        channels=with_item(state.channels, index, rest),
        losses=max(state.losses - 1, 0),
    )
    return Outcome(_written(system, after), Step(state.actors[transition.dst]), ())


def _finish(system: System, state: State, actor: int, step: Step) -> Outcome:
    """Let `actor` take `step`: its sends enter the network, its deliveries the history."""
    channels = list(state.channels)
    order = _put(system, channels, state.order, actor, step.sends)
    history, position = state.history, state.workload[actor]
    judged = []
    for message in step.deliveries:
        history = network_send(system.oracle, history, actor, message)
        history, delivery = deliver(system.oracle, history, actor, message)
        judged.append(delivery)
        if delivery.expected:
            position = system.workload.after_delivery(actor, position, message)
    for message in network_sent(actor, step.sends):
        history = network_send(system.oracle, history, actor, message)
    after = evolve(
        state,
        actors=with_item(state.actors, actor, step.state),
        channels=tuple(channels),
        workload=with_item(state.workload, actor, position),
        history=history,
        order=order,
    )
    return Outcome(_written(system, after), step, tuple(judged))


def network_sent(actor: int, sends: tuple[tuple[int, Packet], ...]) -> tuple[Message, ...]:
    """Return the messages of `actor` inside the packets that a step sends, in order."""
    per_packet = (
        sorted({m for m in messages_in(packet) if m.sender == actor}, key=lambda m: m.number)
        for _, packet in sends
    )
    return tuple(dict.fromkeys(message for messages in per_packet for message in messages))
