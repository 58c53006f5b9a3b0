"""Translation of endless runs between anonymous and numbered messages, and the check of a cycle.

A search follows one marked message, and all others are anonymous (see `checker.semantics.marked`).
Reports need the names m1, m2, m3, and plain replay needs numbered messages in a saved run. So a run
is translated, transition by transition, from the anonymous system to the system that counts
messages, and back. Handlers treat messages as opaque, so both systems take the same steps. If they
do not, the protocol is wrong, and the run is not shown.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from attrs import evolve

from antecede.checker.model import CausalSend, Envelope, Message, Packet, State, Step, Transition
from antecede.checker.purity.commutes import FormCheck
from antecede.checker.semantics.judge import obliged, refused
from antecede.checker.semantics.marked import follows, marked_oracle
from antecede.checker.semantics.normal import renaming_of, rewritten
from antecede.checker.semantics.transition import (
    System,
    enabled,
    initial_state,
    next_message,
    state_after,
    successor,
)
from antecede.checker.semantics.values import with_messages
from antecede.checker.semantics.workloads import workload_from
from antecede.checker.support.errors import ProtocolError, ReplayError


def renamed(value: Any, names: Mapping[Message, Message]) -> Any:
    """Return a state or packet with its messages replaced."""
    return with_messages(value, lambda message: names.get(message, message))


def anonymous_system(system: System) -> System:
    """Return the system with the history `marked`, whose workload positions do not count."""
    workload = workload_from(system.workload.text, system.actors, 1)
    return evolve(system, oracle=marked_oracle(track_order=True), workload=workload)


def numbered(
    system: System, plain: System, transitions: Iterable[Transition]
) -> tuple[Transition, ...]:
    """Return the transitions of an anonymous run with the messages numbered per sender.

    Where packets differ only in their messages' numbers, the first one in the channel's order is
    received.

    Args:
        system: the anonymous system.
        plain: `system` with counted messages.
        transitions: transitions of `system`, from its initial state.

    Raises:
        ProtocolError: a handler behaves differently if messages have no numbers, or if its state is
            in normal form.
        ReplayError: the counted system cannot take a transition although its handlers agree.
    """
    names, whole = dict[Message, Message](), system.with_states_as_they_are()
    state, counted, found = initial_state(whole), initial_state(plain), list[Transition]()
    forms = None if system.normal is None else FormCheck(system)
    for number, transition in enumerate(transitions, 1):
        if forms is not None:
            forms.compare(state)
        if isinstance(transition, CausalSend):
            send = evolve(transition, marked=False)
            names[next_message(plain, counted, send)] = next_message(whole, state, transition)
            told: Transition = send
            taken: Transition = transition
        else:
            told = _counterpart(system, plain, counted, transition, names, number)
            taken = _anonymous(whole, counted, told, names)
        found.append(told)
        one, other = successor(plain, counted, told), successor(whole, state, taken)
        if renamed(one.step, names) != other.step:
            raise ProtocolError(_told_apart(plain, told, number, one.step))
        state, counted = other.state, one.state
    return tuple(found)


def _told_apart(plain: System, transition: Transition, number: int, step: Step) -> str:
    handler = {"causal-send": "causal_send", "internal": "an action"}
    name = handler.get(transition.kind, transition.kind)
    return (
        f"{name} of protocol {plain.protocol.name!r} compares messages with each other: in step "
        f"{number} of a run it returned {step!r}, and something else where messages have no "
        "numbers, as under an endless workload; let the protocol number its messages itself, or "
        "give a workload that ends"
    )


def _counterpart(
    system: System,
    plain: System,
    counted: State,
    transition: Transition,
    names: Mapping[Message, Message],
    number: int,
) -> Transition:
    """Return the enabled transition of the counted system that corresponds to `transition`."""
    for other in enabled(plain, counted):
        if _anonymous(system, counted, other, names) == transition:
            return other
    raise ReplayError(f"step {number} of an endless run has no counterpart with numbered messages")


def _anonymous(
    system: System, counted: State, transition: Transition, names: Mapping[Message, Message]
) -> Transition:
    """Return the transition of the anonymous system that corresponds to `transition`."""
    renaming = None if system.normal is None else renaming_of(system.normal, counted)

    def write(envelope: Envelope) -> Packet:
        packet = envelope.packet if renaming is None else renaming.packet(envelope)
        return renamed(packet, names)

    return rewritten(transition, counted, system.network, write)


def goes_round(
    system: System, transitions: Iterable[Transition], after: int, victim: Message
) -> bool:
    """Return whether the end of a run of a `system` that counts messages can repeat forever.

    The cycle begins after `after` transitions, and starves the message `victim`.
    """
    hidden = anonymous_system(system)
    try:
        found = anonymous(system, transitions, victim)
        check_cycle(hidden, found[:after], found[after:])
    except ReplayError:
        return False
    return True


def anonymous(
    system: System, transitions: Iterable[Transition], victim: Message
) -> tuple[Transition, ...]:
    """Return the anonymous run for a run of a `system` that counts messages; `victim` is marked.

    Raises:
        ReplayError: a transition is not enabled there.
    """
    hidden, names = anonymous_system(system), dict[Message, Message]()
    state, counted, found = initial_state(hidden), initial_state(system), list[Transition]()
    for number, told in enumerate(transitions, 1):
        if isinstance(told, CausalSend):
            message = next_message(system, counted, told)
            send = evolve(told, marked=message == victim)
            names[message] = next_message(hidden, state, send)
            transition: Transition = send
        else:
            transition = _anonymous(hidden, counted, told, names)
        if transition not in enabled(hidden, state):
            raise ReplayError(f"step {number} of the endless run is not enabled there")
        found.append(transition)
        state = successor(hidden, state, transition).state
        counted = successor(system, counted, told).state
    return tuple(found)


def check_cycle(system: System, stem: Iterable[Transition], cycle: Sequence[Transition]) -> None:
    """Check that a run can repeat its cycle forever: run the stem, and the cycle twice.

    The system has the history `marked`. The transitions of the stem must be enabled in turn.

    Raises:
        ReplayError: a transition of the cycle is not enabled, the state does not return, the marked
            message does not wait, or the cycle is unfair; the message says which.
    """
    state = state_after(system, stem)
    start, offered = state, list[set[Transition]]()
    for number, transition in enumerate((*cycle, *cycle)):
        available = enabled(system, state)
        offered.append(obliged(available))
        if not follows(state.history):
            raise ReplayError("on the cycle the message is delivered, or was never causal-sent")
        if transition not in available:
            again = "the cycle does not lead back to the state that it began in: "
            raise ReplayError(
                f"{again if number >= len(cycle) else ''}step {number % len(cycle) + 1} of the "
                "cycle is not enabled"
            )
        state = successor(system, state, transition).state
    if not cycle and (not follows(state.history) or enabled(system, state)):
        raise ReplayError("the run is not over, or its message is not waiting")
    if state != start:
        raise ReplayError("the cycle does not lead back to the state that it began in")
    if not cycle:
        return
    for unfair in refused(offered, cycle, lossy=system.network.lose is not None):
        raise ReplayError(f"the cycle is not fair: {unfair} could always happen and never does")
