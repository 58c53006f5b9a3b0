"""Shortest runs to a handler or predicate that fails.

A handler that raises, or returns an unusable value, ends a search at once. To find a run that leads
there, the search is repeated on a *deferring* system. In that system the failing transition is
taken, and it leads to a state with a mark in place of the actor's state. A transition to a state
that a predicate cannot judge also leads to a mark. The mark violates a property. So every search
finds the shortest run to it, and that run is replayed, drawn and saved like any other.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import partial, wraps
from typing import Any, TypeVar

from attrs import evolve, frozen

from antecede.checker.model import Message, Property, Protocol, State, Step, What, When
from antecede.checker.semantics.crashes import Crashed
from antecede.checker.semantics.handlers import answer_of, called, traceback_of, truth_of
from antecede.checker.semantics.judge import is_joint, is_of_one_state
from antecede.checker.semantics.transition import System
from antecede.checker.support.errors import HandlerError, ProtocolError
from antecede.checker.support.registry import KINDS

HANDLER_RETURNS, PREDICATE_RETURNS = "handler-returns", "predicate-returns"
FINAL_RETURNS = "final-returns"
FAILURES = {
    HANDLER_RETURNS: "no handler raises or returns what cannot be used",
    PREDICATE_RETURNS: "no invariant or witness raises",
    FINAL_RETURNS: "no predicate on final states raises",
}
"""Names and summaries of the properties that a failing protocol violates."""


def is_declared(name: str) -> bool:
    """Return whether the name of a property is KIND:NAME, so that a protocol declares it."""
    return name.partition(":")[0] in KINDS


S = TypeVar("S", Step, Step | None)


@frozen
class Raised:
    """The mark that replaces an actor's state after a failure.

    Attributes:
        violates: one of FAILURES.
        error: the error's message, or "" in a search. `fault`, `advice`, `call` and `place` are
            its parts, as in `HandlerError`.
        traceback: the traceback of the exception, or "".
        prop: the property whose predicate failed, or "" in a search and if a handler failed.
    """

    violates: str
    error: str = ""
    traceback: str = ""
    prop: str = ""
    fault: str = ""
    advice: str = ""
    call: str = ""
    place: str = ""

    @classmethod
    def by(cls, violates: str, error: ProtocolError, prop: str = "") -> Raised:
        """Return the mark of an error."""
        if not isinstance(error, HandlerError):
            return cls(violates, str(error), prop=prop, fault=str(error))
        parts = (error.fault, error.advice, error.call, error.place)
        return cls(violates, str(error), traceback_of(error), prop, *parts)


def guarded(protocol: Protocol, prop: Property) -> Property:
    """Return `prop` with a predicate whose errors name it and, for states, its arguments."""
    if prop.when is When.EVENTUALLY_IF_FAIR:
        return prop
    predicate = prop.predicate
    kind, _, name = prop.name.partition(":")
    if kind in KINDS:
        title = f"{KINDS[kind][0]} {name!r}"
    else:
        name, title = prop.name, f"property {prop.name!r}"

    @wraps(predicate)  # drawings and citations need its source lines
    def judged(thing: Any) -> bool:
        if prop.of_states:
            return truth_of(title, called(protocol, name, predicate, (thing,), title))
        return answer_of(protocol, name, predicate, thing)

    return evolve(prop, predicate=judged)


def deferring(system: System, *, told: bool = False) -> System:
    """Return a system that reaches a mark where a handler or a predicate of `system` fails.

    Args:
        system: the system whose handlers, or predicates on states, may fail.
        told: whether marks include the error's message. In a search they do not. The message names
            actors, so it would tell states apart that differ only by a renaming of actors.
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
        joint: the properties whose predicates take the states of all actors.
    """

    joint: tuple[Property, ...]

    def __call__(self, states: tuple[Any, ...]) -> bool:
        """Return whether every predicate returns."""
        return self.failure(states) is None

    def failure(self, states: tuple[Any, ...]) -> Raised | None:
        """Return the failure of the first predicate that raises, or None."""
        mark = failure_in(states)
        if mark is not None:
            return mark if mark.violates == PREDICATE_RETURNS else None
        return _first_failure(PREDICATE_RETURNS, ((p, states) for p in self.joint))


@frozen
class FinalReturns:
    """The predicate of FINAL_RETURNS on the states of all actors.

    Attributes:
        asked: the properties that ask for states in final states.
    """

    asked: tuple[Property, ...]

    def __call__(self, states: tuple[Any, ...]) -> bool:
        """Return whether every predicate returns."""
        return self.failure(states) is None

    def failure(self, states: tuple[Any, ...]) -> Raised | None:
        """Return the failure of the first predicate that raises, or None."""
        if failure_in(states):
            return None
        alone = ((p, state) for p in self.asked for state in states if p.what is What.LOCAL_STATE)
        joint = ((p, states) for p in self.asked if p.what is What.GLOBAL_STATE)
        return _first_failure(FINAL_RETURNS, (*alone, *joint))


def _failures(system: System) -> tuple[Property, ...]:
    """Return FAILURES as properties of the deferring system of `system`."""
    handler, predicate = map(failure_property, (HANDLER_RETURNS, PREDICATE_RETURNS))
    joint = tuple(p for p in system.properties if p.what is What.GLOBAL_STATE and is_joint(p))
    if joint:
        predicate = evolve(predicate, what=What.GLOBAL_STATE, predicate=PredicatesReturn(joint))
    asked = tuple(prop for prop in system.properties if prop.at_end and prop.of_states)
    if not asked:
        return handler, predicate
    what, where = What.GLOBAL_STATE, When.AT_FINAL_STATES
    rest = Property(FINAL_RETURNS, FAILURES[FINAL_RETURNS], what, where, FinalReturns(asked))
    return handler, predicate, rest


def failure_property(name: str) -> Property:
    """Return one of FAILURES as a property of deferring systems."""

    def returns(state: Any) -> bool:
        mark = failure_in((state,))
        return mark is None or mark.violates != name

    return Property(name, FAILURES[name], What.LOCAL_STATE, When.ALWAYS, returns)


def only_failures(system: System) -> System:
    """Return the deferring system with FAILURES as its only properties."""
    return evolve(deferring(system), properties=_failures(system))


def failure_in(states: tuple[Any, ...]) -> Raised | None:
    """Return the first mark among the states of all actors, or None.

    If `durable` failed, the mark is in the state of the crashed actor.
    """
    marks = (state.durable if isinstance(state, Crashed) else state for state in states)
    return next((mark for mark in marks if isinstance(mark, Raised)), None)


def failure_of(prop: Property | None, states: tuple[Any, ...]) -> Raised | None:
    """Return the failure that a run to these states shows, or None if it shows none.

    Args:
        prop: the property that the run violates.
        states: the states of all actors at its end.
    """
    if prop is not None and isinstance(prop.predicate, PredicatesReturn | FinalReturns):
        return prop.predicate.failure(states)
    return failure_in(states)


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

        def durable(state: Any) -> Any:
            return self._step(lambda: Step(handlers.durable(state)), judged=False).state

        def recover(actor: int, _actors: int, durable: Any) -> Step:
            return self._from(durable, lambda: handlers.recover(actor, durable))

        return evolve(
            protocol,
            durable=None if protocol.durable is None else durable,
            recover=None if protocol.recover is None else recover,
            initial=initial,
            causal_send=causal_send,
            receive=receive,
            timeout=None if protocol.timeout is None else timeout,
            actions={name: partial(action, name) for name in protocol.actions},
            in_flight=None if protocol.in_flight is None else self._in_flight,
        )

    def _start(self, actor: int) -> Step:
        """Return an actor's initial state, after a check of its packets in flight at the start."""
        self.system.handlers.in_flight(actor)
        return Step(self.system.handlers.initial(actor))

    def _in_flight(self, actor: int, _actors: int) -> tuple[tuple[int, Any], ...]:
        """Return the packets in flight from an actor at the start; none if the handler fails."""
        try:
            return self.system.handlers.in_flight(actor)
        except ProtocolError:
            return ()

    def _from(self, state: Any, take: Callable[[], S]) -> S | Step:
        """Take a step, unless the actor has failed before."""
        return Step(state) if isinstance(state, Raised) else self._step(take)

    def _step(self, take: Callable[[], S], *, judged: bool = True) -> S | Step:
        try:
            step = take()
        except ProtocolError as error:
            if not self.told:
                return Step(Raised(HANDLER_RETURNS))
            return Step(Raised.by(HANDLER_RETURNS, error))
        if judged and step is not None and (failure := self._unjudged(step.state)) is not None:
            return Step(failure if self.told else Raised(PREDICATE_RETURNS))
        return step

    def _unjudged(self, state: Any) -> Raised | None:
        """Return the failure of the first predicate on states that raises, or None."""
        asked = ((prop, state) for prop in self.system.properties if is_of_one_state(prop))
        return _first_failure(PREDICATE_RETURNS, asked)


def judge_states(system: System, state: State) -> None:
    """Call every predicate on actors' states.

    Raises:
        HandlerError: one of them raises.
    """
    for prop in system.properties:
        if is_of_one_state(prop):
            for local in state.actors:
                prop.predicate(local)


def _first_failure(violates: str, asked: Iterable[tuple[Property, Any]]) -> Raised | None:
    """Return the failure of the first predicate that raises about its argument, or None."""
    for prop, thing in asked:
        try:
            prop.predicate(thing)
        except HandlerError as error:
            return Raised.by(violates, error, prop.name)
    return None


def _tolerant(prop: Property) -> Property:
    """Return `prop` so that marks neither violate nor satisfy it."""

    def but_raised(state: Any) -> bool:
        return not prop.sought if failure_in((state,)) else prop.predicate(state)

    def but_any_raised(states: tuple[Any, ...]) -> bool:
        return not prop.sought if failure_in(states) else prop.predicate(states)

    if prop.what is What.GLOBAL_STATE:
        return evolve(prop, predicate=but_any_raised)
    return evolve(prop, predicate=but_raised) if prop.what is What.LOCAL_STATE else prop
