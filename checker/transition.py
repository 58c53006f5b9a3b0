"""The transitions of a system in plain Python: what is enabled, and what it does.

This module and `checker.history` are the semantics; every faster engine is judged by them.
"""

from __future__ import annotations

import traceback
from typing import Any

from attrs import field, frozen

from checker.errors import ProtocolError
from checker.history import Oracle, deliver
from checker.model import (
    CausalSend,
    Delivery,
    Message,
    Property,
    Protocol,
    Receive,
    State,
    Step,
    Transition,
)
from checker.network import Network
from checker.workload import Workload


@frozen(eq=False)
class System:
    """Everything a check fixes: who runs what, over which network, judged how."""

    protocol: Protocol
    actors: int
    messages: int
    network: Network
    workload: Workload
    oracle: Oracle
    properties: tuple[Property, ...]
    pairs: tuple[tuple[int, int], ...] = field(init=False)

    @pairs.default
    def _all_pairs(self) -> tuple[tuple[int, int], ...]:
        """Return (src, dst) of every channel, at its index."""
        return tuple((i, j) for i in range(self.actors) for j in range(self.actors))


@frozen(eq=False)
class Outcome:
    """What a transition did: the state after it, the handler's step, the judged deliveries."""

    state: State
    step: Step
    deliveries: tuple[Delivery, ...]


def initial_state(system: System) -> State:
    """Return the state before anything happened."""
    everyone = range(system.actors)
    return State(
        actors=tuple(call_initial(system.protocol, i, system.actors) for i in everyone),
        channels=((),) * system.actors**2,
        workload=tuple(system.workload.initial(i) for i in everyone),
        history=tuple(system.oracle.initial(i) for i in everyone),
    )


def enabled(system: System, state: State) -> tuple[Transition, ...]:
    """Return the enabled transitions: causal-sends by actor, receives by channel, timeouts."""
    found: list[Transition] = []
    for actor in range(system.actors):
        for destinations in system.workload.choices(actor, state.workload[actor]):
            found.append(CausalSend(actor, destinations))
    for (src, dst), channel in zip(system.pairs, state.channels, strict=True):
        for packet, _ in system.network.take(channel):
            found.append(Receive(src, dst, packet))
    return tuple(found)


def successor(system: System, state: State, transition: Transition) -> Outcome:
    """Apply an enabled transition.

    Raises:
        ProtocolError: the handler raised or returned something that is not a Step.
    """
    if isinstance(transition, CausalSend):
        return _causal_send(system, state, transition)
    if isinstance(transition, Receive):
        return _receive(system, state, transition)
    raise NotImplementedError(transition.kind)


def next_message(system: System, state: State, transition: CausalSend) -> Message:
    """Return the message that `transition` creates."""
    actor = transition.actor
    number = system.workload.sent(state.workload[actor]) + 1
    return Message(actor, number, transition.destinations)


def _causal_send(system: System, state: State, transition: CausalSend) -> Outcome:
    actor = transition.actor
    message = next_message(system, state, transition)
    position = system.workload.after_send(actor, state.workload[actor], transition.destinations)
    ghost = system.oracle.causal_send(state.history[actor], message)
    before = State(
        actors=state.actors,
        channels=state.channels,
        workload=_replaced(state.workload, actor, position),
        history=_replaced(state.history, actor, ghost),
    )
    step = call_causal_send(system.protocol, system.actors, state.actors[actor], message)
    return _finish(system, before, actor, step)


def _receive(system: System, state: State, transition: Receive) -> Outcome:
    src, dst = transition.src, transition.dst
    index = src * system.actors + dst
    rest = dict(system.network.take(state.channels[index]))[transition.packet]
    before = State(
        actors=state.actors,
        channels=_replaced(state.channels, index, rest),
        workload=state.workload,
        history=state.history,
    )
    step = call_receive(system.protocol, system.actors, state.actors[dst], src, transition.packet)
    return _finish(system, before, dst, step)


def _finish(system: System, state: State, actor: int, step: Step) -> Outcome:
    """Let `actor` take `step`: its sends enter the network, its deliveries the history."""
    channels = list(state.channels)
    for destination, packet in step.sends:
        index = actor * system.actors + destination
        channels[index] = system.network.put(channels[index], packet)
    history, position = state.history, state.workload[actor]
    judged = []
    for message in step.deliveries:
        history, delivery = deliver(system.oracle, history, actor, message)
        judged.append(delivery)
        if delivery.expected:
            position = system.workload.after_delivery(actor, position, message)
    after = State(
        actors=_replaced(state.actors, actor, step.state),
        channels=tuple(channels),
        workload=_replaced(state.workload, actor, position),
        history=history,
    )
    return Outcome(after, step, tuple(judged))


def _replaced(values: tuple[Any, ...], index: int, value: Any) -> tuple[Any, ...]:
    return (*values[:index], value, *values[index + 1 :])


def call_initial(protocol: Protocol, actor: int, actors: int) -> object:
    """Call the protocol's `initial`; raise ProtocolError if it raises."""
    try:
        return protocol.initial(actor, actors)
    except Exception as error:
        raise _raised(protocol, "initial", (actor, actors), error) from error


def call_causal_send(protocol: Protocol, actors: int, state: object, message: Message) -> Step:
    """Call the protocol's `causal_send` and check what it returns."""
    try:
        step = protocol.causal_send(state, message)
    except Exception as error:
        raise _raised(protocol, "causal_send", (state, message), error) from error
    return _checked(protocol, "causal_send", actors, step)


def call_receive(protocol: Protocol, actors: int, state: object, src: int, packet: object) -> Step:
    """Call the protocol's `receive` and check what it returns."""
    try:
        step = protocol.receive(state, src, packet)
    except Exception as error:
        raise _raised(protocol, "receive", (state, src, packet), error) from error
    return _checked(protocol, "receive", actors, step)


def _raised(
    protocol: Protocol, handler: str, args: tuple[object, ...], error: Exception
) -> ProtocolError:
    shown = ", ".join(map(repr, args))
    *_, frame = traceback.extract_tb(error.__traceback__)
    line = f" (line {frame.lineno} of {frame.filename})"
    return ProtocolError(
        f"{handler} of protocol {protocol.name!r} raised {type(error).__name__}: {error}{line}; "
        f"it was called as {handler}({shown})"
    )


def _checked(protocol: Protocol, handler: str, actors: int, step: object) -> Step:
    prefix = f"{handler} of protocol {protocol.name!r} returned"
    if not isinstance(step, Step):
        raise ProtocolError(f"{prefix} {step!r}; it must return a Step")
    for send in step.sends:
        if not isinstance(send, tuple) or len(send) != 2 or send[0] not in range(actors):
            raise ProtocolError(
                f"{prefix} the send {send!r}; give (destination, packet) with a destination from "
                f"0 to {actors - 1}"
            )
    for message in step.deliveries:
        if not isinstance(message, Message):
            raise ProtocolError(f"{prefix} the delivery {message!r}; deliver messages")
    return step
