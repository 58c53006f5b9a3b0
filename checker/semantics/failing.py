"""Handlers that fail, as something that a run shows.

A handler that raises, or returns what cannot be used, ends a search at once. To find out how it
comes to that, the system is replaced by a *deferring* one: there the failing transition is taken,
and leads to a state with a mark in place of the actor's state. A transition to a state that a
predicate cannot judge leads to such a mark, too. The mark violates a property, so that every search
finds the shortest run to it, and that run is replayed, drawn and saved like any other.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial, wraps
from typing import Any, TypeVar

from attrs import evolve, frozen

from antecede.checker.errors import HandlerError, ProtocolError
from antecede.checker.model import (
    LocalState,
    Message,
    Predicate,
    Property,
    Protocol,
    State,
    Step,
    What,
    Where,
)
from antecede.checker.semantics.handlers import called
from antecede.checker.semantics.transition import System

HANDLER_RETURNS, PREDICATE_RETURNS = "handler-returns", "predicate-returns"
FAILURES = {
    HANDLER_RETURNS: "no handler raises or returns what cannot be used",
    PREDICATE_RETURNS: "no invariant or witness raises",
}
"""What a protocol that fails violates."""


S = TypeVar("S", Step, Step | None)


@frozen
class Raised:
    """Stands in for an actor's state where the protocol failed.

    Attributes:
        violates: one of FAILURES.
        error: what went wrong.
    """

    violates: str
    error: str = ""


def guarded(protocol: Protocol, prop: Property) -> Property:
    """Return a property whose predicate on states, if it raises, is named with its arguments."""

    def judging(predicate: Predicate) -> Predicate:
        kind, _, name = prop.name.rpartition(":")
        title = f"{kind} {name!r}"

        @wraps(predicate)  # who draws or cites it finds its lines
        def judged(state: LocalState) -> bool:
            return bool(called(protocol, name, predicate, (state,), title))

        return judged

    return evolve(prop, predicate=judging(prop.predicate)) if prop.of_states else prop


def deferring(system: System, *, told: bool = False) -> System:
    """Return a system that goes on where a handler of `system` fails, and shows that it did.

    Args:
        system: the system whose handlers, or predicates on states, may fail.
        told: whether marks say what went wrong. In a search they do not, for the words name actors,
            and states that differ in names alone would then differ in the words, too.
    """
    return evolve(
        system.with_states_as_they_are(),  # a normal form knows no marks
        protocol=_Deferring(system, told).protocol(),
        properties=(*map(_tolerant, system.properties), *_failures(system)),
    )


@frozen
class PredicatesReturn:
    """The predicate of PREDICATE_RETURNS on the states of all actors.

    Attributes:
        joint: properties whose predicates are asked about all actors' states at once.
    """

    joint: tuple[Property, ...]

    def __call__(self, states: tuple[Any, ...]) -> bool:
        """Return whether every predicate returns."""
        return self.error(states) is None

    def error(self, states: tuple[Any, ...]) -> str | None:
        """Return what a predicate raises, or None."""
        failure = failure_in(states)
        if failure is not None:
            return failure.error if failure.violates == PREDICATE_RETURNS else None
        return next(filter(None, (_raised_by(p, states) for p in self.joint)), None)


def _failures(system: System) -> tuple[Property, ...]:
    """Return FAILURES as properties of the deferring system of `system`."""
    handler, predicate = map(failure_property, FAILURES)
    joint = tuple(prop for prop in system.properties if prop.what is What.STATES)
    if joint:
        predicate = evolve(predicate, what=What.STATES, predicate=PredicatesReturn(joint))
    return handler, predicate


def failure_property(name: str) -> Property:
    """Return one of FAILURES as a property of deferring systems."""

    def returns(state: Any) -> bool:
        return not isinstance(state, Raised) or state.violates != name

    return Property(name, FAILURES[name], What.STATE, Where.EVERYWHERE, returns)


def only_failures(system: System) -> System:
    """Return the deferring system in which nothing is judged but whether the protocol fails."""
    return evolve(deferring(system), properties=_failures(system))


def failure_in(states: tuple[Any, ...]) -> Raised | None:
    """Return what went wrong where a run on a deferring system ends, or None."""
    return next((state for state in states if isinstance(state, Raised)), None)


@frozen(eq=False)
class _Deferring:
    """Makes the handlers of a deferring system."""

    system: System
    told: bool

    def protocol(self) -> Protocol:
        """Return the protocol whose handlers never fail."""
        protocol, handlers = self.system.protocol, self.system.handlers

        def initial(actor: int, _actors: int) -> Any:
            return self._step(lambda: self._start(actor)).state

        def causal_send(state: Any, message: Message) -> Step:
            return self._from(state, lambda: handlers.causal_send(state, message))

        def receive(state: Any, src: int, packet: Any) -> Step:
            return self._from(state, lambda: handlers.receive(state, src, packet))

        def timeout(state: Any) -> Step | None:
            return self._from(state, lambda: handlers.timeout(state))

        def action(name: str, state: Any) -> Step | None:
            return self._from(state, lambda: handlers.action(name, state))

        return evolve(
            protocol,
            initial=initial,
            causal_send=causal_send,
            receive=receive,
            timeout=None if protocol.timeout is None else timeout,
            actions={name: partial(action, name) for name in protocol.actions},
            in_flight=None if protocol.in_flight is None else self._in_flight,
        )

    def _start(self, actor: int) -> Step:
        """Return an actor's initial state, if its packets that are in flight then can be used."""
        self.system.handlers.in_flight(actor)
        return Step(self.system.handlers.initial(actor))

    def _in_flight(self, actor: int, _actors: int) -> tuple[tuple[int, Any], ...]:
        """Return what is in flight from an actor at the start: nothing if that fails."""
        try:
            return self.system.handlers.in_flight(actor)
        except ProtocolError:
            return ()

    def _from(self, state: Any, take: Callable[[], S]) -> S | Step:
        """Take a step, unless the actor has failed before."""
        return Step(state) if isinstance(state, Raised) else self._step(take)

    def _step(self, take: Callable[[], S]) -> S | Step:
        try:
            step = take()
        except ProtocolError as error:
            return Step(Raised(HANDLER_RETURNS, str(error) if self.told else ""))
        if step is not None and (why := self._unjudged(step.state)) is not None:
            return Step(Raised(PREDICATE_RETURNS, why if self.told else ""))
        return step

    def _unjudged(self, state: Any) -> str | None:
        """Return what a predicate on states raises, or None."""
        return next(filter(None, (_error_in(p, state) for p in self.system.properties)), None)


def judge_states(system: System, state: State) -> None:
    """Call every predicate on actors' states.

    Raises:
        HandlerError: one of them raises.
    """
    for prop in system.properties:
        if prop.what is What.STATE:
            for local in state.actors:
                prop.predicate(local)


def _error_in(prop: Property, state: Any) -> str | None:
    return _raised_by(prop, state) if prop.what is What.STATE else None


def _raised_by(prop: Property, thing: Any) -> str | None:
    """Return what the predicate of `prop` raises about one thing, or None."""
    try:
        prop.predicate(thing)
    except HandlerError as error:
        return str(error)
    return None


def _tolerant(prop: Property) -> Property:
    """Return `prop` with nothing to say about marks."""

    def but_raised(state: Any) -> bool:
        return not prop.sought if isinstance(state, Raised) else prop.predicate(state)

    def but_any_raised(states: tuple[Any, ...]) -> bool:
        return not prop.sought if failure_in(states) else prop.predicate(states)

    if prop.what is What.STATES:
        return evolve(prop, predicate=but_any_raised)
    return evolve(prop, predicate=but_raised) if prop.what is What.STATE else prop
