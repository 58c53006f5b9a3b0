"""Paths: sequences of transitions replayed through plain Python, and judged."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any

from attrs import evolve, frozen

from antecede.checker.model import (
    Arm,
    CausalSend,
    Delivery,
    Internal,
    Lose,
    Message,
    Property,
    Protocol,
    Receive,
    State,
    Step,
    Timeout,
    Transition,
    When,
)
from antecede.checker.paths.endless import goes_round, numbered
from antecede.checker.semantics.crashes import cut_of
from antecede.checker.semantics.failing import FAILURES, Raised, failure_of
from antecede.checker.semantics.history import oracle_named
from antecede.checker.semantics.judge import ENDS, at_end, in_deliveries, in_state
from antecede.checker.semantics.recoverability import recovers
from antecede.checker.semantics.transition import (
    EndlessSystem,
    System,
    enabled,
    enabled_at,
    initial_state,
    is_final,
    next_message,
    successor,
)
from antecede.checker.semantics.values import identifying
from antecede.checker.semantics.workload import counting
from antecede.checker.support.errors import ProtocolError, ReplayError


@frozen(eq=False)
class PathStep:
    """One transition of a path and its effect.

    Attributes:
        number: the number of the step, from 1.
        actor: the actor that takes it; the packet's destination if it is a loss.
        message: the message causal-sent, or None.
        deliveries: the judged deliveries, in order.
        state: the global state after it; its history is in the `full` encoding.
    """

    number: int
    transition: Transition
    actor: int
    message: Message | None
    step: Step
    deliveries: tuple[Delivery, ...]
    state: State

    @property
    def clocks(self) -> tuple[tuple[int, ...], ...]:
        """The actors' vector clocks after this step."""
        return tuple(ghost.knows for ghost in self.state.history)


@frozen
class Loop:
    """The infinite continuation of a path.

    Attributes:
        after: the number of steps before the cycle; all steps if the path ends in a final state.
        message: the message that is never delivered.
        ending: one of `checker.liveness.fairness.ENDINGS`.
    """

    after: int
    message: Message
    ending: str

    def covers(self, step: int) -> bool:
        """Return whether the step with this number is on the cycle."""
        return step > self.after


@frozen(eq=False)
class Path:
    """A replayed path.

    Attributes:
        violates: the name of the property that it violates, or None.
        loop: the cycle of an infinite run, or None.
        looked_at: for recoverability, the number of later states that were searched, if there are
            more of them; else None.
        compared: whether it is known to be possible if no states of actors are taken for equal.
    """

    system: System
    initial: State
    steps: tuple[PathStep, ...]
    violates: str | None = None
    loop: Loop | None = None
    looked_at: int | None = None
    compared: bool = True

    @property
    def length(self) -> int:
        """The number of transitions."""
        return len(self.steps)

    @property
    def violated(self) -> Property | None:
        """The property that `violates` names."""
        return next((p for p in self.system.properties if p.name == self.violates), None)

    @property
    def failure(self) -> Raised | None:
        """The failure of a handler or a predicate that the run shows, or None."""
        return failure_of(self.violated, self.last.actors) if self.violates in FAILURES else None

    @property
    def repeats(self) -> bool:
        """True if the last steps repeat forever."""
        return self.loop is not None and self.loop.after < self.length

    @property
    def last(self) -> State:
        """The state at the end."""
        return self.steps[-1].state if self.steps else self.initial

    @property
    def transitions(self) -> tuple[Transition, ...]:
        """The transitions, in order."""
        return tuple(step.transition for step in self.steps)

    @property
    def messages(self) -> tuple[Message, ...]:
        """The messages causal-sent, in the order of their causal-sends."""
        return tuple(s.message for s in self.steps if s.message is not None)


def for_replay(system: System) -> System:
    """Return `system` with the most detailed history: `full`, with overtaking tracked."""
    oracle = oracle_named(
        "full",
        system.actors,
        system.workload.most,
        self_sends=system.workload.self_sends,
        track_order=True,
        clock_at=system.question.clock_at,
    )
    if isinstance(system, EndlessSystem):
        return evolve(system, oracle=oracle, workload=counting(system.workload))
    return evolve(system, oracle=oracle)


def replay(system: System, transitions: Iterable[Transition]) -> Path:
    """Run `transitions` from the initial state.

    If the system follows one message, the path has all messages numbered.

    Raises:
        ReplayError: a transition is not enabled at its step; the error names the step.
    """
    if system.oracle.number is not None:
        transitions = numbered(system, for_replay(system), transitions)
    return replay_keys(system, map(transition_key, transitions))


def replay_keys(system: System, keys: Iterable[str]) -> Path:
    """Run the transitions that `keys` identify (see `transition_key`) from the initial state.

    Raises:
        ReplayError: a transition is not enabled at its step; the error names the step.
    """
    system = for_replay(system)
    state = start = initial_state(system)
    steps: list[PathStep] = []
    for number, key in enumerate(keys, 1):
        match = next((t for t in _likely(system, state, key) if transition_key(t) == key), None)
        if match is None:
            raise ReplayError(_not_enabled(system, state, number, key))
        step = _step(system, state, number, match)
        steps.append(step)
        state = step.state
    return Path(system, start, tuple(steps))


_WHO = re.compile(r"[a-z-]+ (?:by|of|on the way to) ([0-9]{1,9})(?: from ([0-9]{1,9}) )?")


def _likely(system: System, state: State, key: str) -> tuple[Transition, ...]:
    """Return the enabled transitions of the actors in `key`; cheaper than `enabled`."""
    who = _WHO.match(key)
    if who is None or any(int(k) >= system.actors for k in who.groups() if k is not None):
        return ()
    return enabled_at(system, state, int(who[1]), None if who[2] is None else int(who[2]))


def extended(path: Path, transition: Transition) -> Path:
    """Return a replayed path with one more transition, which must be enabled at its end."""
    step = _step(path.system, path.last, path.length + 1, transition)
    return evolve(path, steps=(*path.steps, step), violates=None)


def first_difference(path: Path, protocol: Protocol) -> tuple[int, State, State] | None:
    """Return the first step of a path that another protocol does differently, or None.

    Returns:
        The number of the step, and the states before it under the path's protocol and the other.
    """
    system = evolve(path.system, protocol=protocol)
    state, other = path.initial, initial_state(system)
    for step in path.steps:
        key = transition_key(step.transition)
        try:  # a timeout runs already when it is looked for
            match = next((t for t in _likely(system, other, key) if transition_key(t) == key), None)
            again = None if match is None else _step(system, other, step.number, match)
        except ProtocolError:  # the last step of a path may be a handler's failure
            return None if step.number == path.length else (step.number, state, other)
        if again is None or _effect(again) != _effect(step):
            return step.number, state, other
        state, other = step.state, again.state
    return None


def _effect(step: PathStep) -> Any:
    return step.step.sends, step.step.deliveries


def _not_enabled(system: System, state: State, number: int, key: str) -> str:
    """Return the error for a transition that is not enabled; it lists similar enabled ones."""
    kind = _kind_and_actors(key)
    others = [transition_key(t) for t in enabled(system, state)]
    near = [other for other in others if _kind_and_actors(other) == kind]
    return (
        f"step {number}, {key}, is not enabled there; of its kind, {'; '.join(near) or 'none'} is"
    )


def _kind_and_actors(key: str) -> str:
    return key.partition(" of " if " of " in key else " to ")[0]


def transition_key(transition: Transition) -> str:
    """Return the text that identifies a transition in a state, for people and files."""
    return with_cut(_whole_key(transition), cut_of(transition))


def with_cut(key: str, cut: Iterable[int] | None) -> str:
    """Return the key of a step in which the actor crashes, from the key of the whole step.

    Args:
        key: as `key_text` returns it.
        cut: see `CausalSend.cut`.
    """
    return key if cut is None else f"{key}, with a crash after the packets to {list(cut)}"


def _whole_key(transition: Transition) -> str:
    if isinstance(transition, CausalSend):
        to, label = transition.destinations, transition.label
        return key_text(transition.kind, transition.actor, destinations=to, label=label)
    if isinstance(transition, Arm | Timeout):
        return key_text(transition.kind, transition.actor)
    if isinstance(transition, Internal):
        return key_text(transition.kind, transition.actor, name=transition.name)
    return key_text(
        transition.kind,
        transition.dst,
        src=transition.src,
        packet=identifying(transition.packet),
        stays=isinstance(transition, Receive) and transition.stays,
        place=transition.place if isinstance(transition, Lose) else 0,
    )


def key_text(
    kind: str,
    actor: int,
    *,
    destinations: Iterable[int] = (),
    src: int | None = None,
    packet: str = "",
    stays: bool = False,
    place: int = 0,
    name: str = "",
    label: str | int | None = None,
) -> str:
    """Return the key of a transition from its parts; a packet is given by its canonical text."""
    if kind == CausalSend.kind:
        chosen = "" if label is None else f", with the label {label!r}"
        return f"{kind} by {actor} to {list(destinations)}{chosen}"
    if kind in (Arm.kind, Timeout.kind):
        return f"{kind} of {actor}"
    if kind == Internal.kind:
        return f"{kind} of {actor}: {name}"
    if kind == Lose.kind:
        return f"{kind} on the way to {actor} from {src} of {packet}, place {place}"
    return f"{kind} by {actor} from {src} of {packet}{', which stays in flight' if stays else ''}"


def attempted(path: Path, transition: Transition) -> Path:
    """Return a replayed path with one more step that has no effect, to say which step fails."""
    return evolve(path, steps=(*path.steps, _without_effect(path.system, path.last, transition)))


def _step(system: System, state: State, number: int, transition: Transition) -> PathStep:
    outcome = successor(system, state, transition)
    step = _without_effect(system, state, transition)
    return evolve(
        step,
        number=number,
        step=outcome.step,
        deliveries=outcome.deliveries,
        state=outcome.state,
    )


def _without_effect(system: System, state: State, transition: Transition) -> PathStep:
    message = None
    if isinstance(transition, CausalSend):
        message = next_message(system, state, transition)
    actor = transition.dst if isinstance(transition, Receive | Lose) else transition.actor
    return PathStep(0, transition, actor, message, Step(state.actors[actor]), (), state)


def holds_along(path: Path, prop: Property) -> bool:
    """Return whether `path` respects `prop` (if it is sought: does not show it)."""
    if prop.when is When.ALWAYS_POSSIBLE:
        return bool(recovers(path.system, path.last, prop))
    if prop.when is When.EVENTUALLY_IF_FAIR:
        return path.loop is None or not goes_round(
            path.system, path.transitions, path.loop.after, path.loop.message
        )
    return first_shown(path, prop) is None


def first_shown(path: Path, prop: Property) -> int | None:
    """Return the number of steps after which `path` first shows `prop`, or None.

    No step by itself shows a property that is judged after a search (`Property.later`).
    """
    if prop.when in ENDS:  # only the last state can be final
        over = is_final(path.system, enabled(path.system, path.last))
        return path.length if over and at_end(path.system, prop, path.last) else None
    if in_state(prop, path.initial):
        return 0
    shown = (s for s in path.steps if in_deliveries(prop, s.deliveries) or in_state(prop, s.state))
    return next((step.number for step in shown), None)
