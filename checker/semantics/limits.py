"""Bounds on states. They can make an infinite state graph finite.

A search with a limit does not expand a state that reaches the limit. So it never concludes that a
property holds. Violations within the limit are real, and so is the run that reaches the limit.

A limit is about a measure of an actor's state that the protocol declares, such as the length of a
queue, about the number of packets in flight, or it is a predicate on states in a file, like a
CONSTRAINT of TLC.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import wraps
from typing import Any, TypeAlias

from attrs import evolve, field, frozen

from antecede.checker.model import (
    LocalState,
    Measure,
    Message,
    Property,
    Protocol,
    State,
    What,
    When,
)
from antecede.checker.semantics.handlers import called, truth_of
from antecede.checker.semantics.values import messages_in, parts
from antecede.checker.support.errors import InputError, ProtocolError, check_known
from antecede.checker.support.registry import property_in_file
from antecede.checker.support.settings import shown, whole_number


def held(state: LocalState) -> int:
    """Return the number of messages in an actor's state."""
    return sum(1 for _ in messages_in(state))


def greatest(state: LocalState) -> int:
    """Return the greatest whole number in an actor's state, apart from its messages; at least 0."""
    if isinstance(state, Message):
        return 0
    if isinstance(state, int) and not isinstance(state, bool):
        return max(state, 0)
    return max(map(greatest, parts(state)), default=0)


COMMON: Mapping[str, Measure] = {"held": held, "greatest": greatest}
"""The measures of every protocol, by name."""


@frozen(eq=False)
class Limit:
    """A bound on one measure of every actor's state.

    Attributes:
        name: the name of the measure.
        bound: states with this measure or a greater one are not expanded.
        measure: an actor's state -> its measure.
        known: a cache: state -> measure.
    """

    name: str
    bound: int
    measure: Measure
    known: dict[LocalState, int] = field(factory=dict, repr=False)

    @property
    def text(self) -> str:
        """The limit as `--bound` takes it, such as `mode=3`."""
        return f"{self.name}={self.bound}"

    def of(self, state: LocalState) -> int:
        """Return the measure of one actor's state."""
        if (value := self.known.get(state)) is None:
            value = self.known[state] = self.measure(state)
        return value

    def spares(self, state: LocalState) -> bool:
        """Return whether one actor's state is within the limit."""
        return self.of(state) < self.bound

    def spares_all(self, state: State) -> bool:
        """Return whether the states of all actors are within the limit."""
        return all(map(self.spares, state.actors))


@frozen(eq=False)
class InFlight:
    """A bound on the number of packets in flight.

    Attributes:
        bound: states with this number of packets or more are not expanded.
    """

    bound: int

    name = "in-flight"

    @property
    def text(self) -> str:
        """The limit as `--bound` takes it, such as `in-flight=4`."""
        return f"{self.name}={self.bound}"

    def spares_all(self, state: State) -> bool:
        """Return whether a state is within the limit."""
        return sum(map(len, state.channels)) < self.bound


@frozen(eq=False)
class Constraint:
    """A property that a state must satisfy to be expanded.

    Attributes:
        prop: the property; it is judged everywhere, on one actor's state or on all states.
    """

    prop: Property

    @property
    def name(self) -> str:
        """The name of the property."""
        return self.prop.name

    @property
    def text(self) -> str:
        """The limit as `--bound` takes it, such as `own.py:SMALL`."""
        return self.prop.name

    def spares_all(self, state: State) -> bool:
        """Return whether a state satisfies the property."""
        things = state.actors if self.prop.what is What.LOCAL_STATE else (state.actors,)
        return all(map(self.prop.predicate, things))


AnyLimit: TypeAlias = Limit | InFlight | Constraint


def reached(limits: Iterable[AnyLimit], state: State) -> AnyLimit | None:
    """Return the first limit that a state reaches, or None."""
    return next((limit for limit in limits if not limit.spares_all(state)), None)


def limits_from(texts: Iterable[str], protocol: Protocol) -> tuple[AnyLimit, ...]:
    """Return the limits that texts such as `mode=3`, `in-flight=4` or `own.py:SMALL` describe.

    If two limits are on the same measure, the last one counts.

    Raises:
        InputError: a text is not a limit, or the protocol has no such measure; names the choices.
    """
    limits = dict[str, AnyLimit]()
    for text in texts:
        limit = _limit(text, protocol)
        limits[limit.name] = limit
    return tuple(limits.values())


def _constraint(reference: str, protocol: Protocol) -> Constraint:
    """Return the limit that a property of a file describes.

    Raises:
        InputError: it is no property of states that is judged everywhere.
    """
    prop = property_in_file(reference)
    if not prop.of_states or prop.when is not When.ALWAYS:
        raise InputError(
            f"the bound {reference} judges {prop.what.value} {prop.when.value}; give a property "
            "with What.LOCAL_STATE or What.GLOBAL_STATE and When.ALWAYS"
        )
    predicate, title = prop.predicate, f"bound {reference!r}"

    @wraps(predicate)
    def judged(thing: Any) -> bool:
        return truth_of(title, called(protocol, prop.name, predicate, (thing,), title))

    return Constraint(evolve(prop, predicate=judged))


def _limit(text: str, protocol: Protocol) -> AnyLimit:
    name, equals, number = text.partition("=")
    if not equals and ".py" in text:
        return _constraint(text, protocol)
    if name == InFlight.name and equals:
        return InFlight(whole_number(number, f"the bound on {name}"))
    choices = {**COMMON, InFlight.name: None, **protocol.measures}
    if not equals:
        raise InputError(
            f"the bound is {shown(text)}; give a measure and where to stop, such as "
            f"{next(iter(protocol.measures), 'greatest')}=3 or in-flight=4, or FILE.py:NAME for a "
            "property that a state must satisfy to be expanded"
        )
    check_known(f"measure of {protocol.name}", name, choices)
    return Limit(name, whole_number(number, f"the bound on {name}"), _measuring(protocol, name))


def _measuring(protocol: Protocol, name: str) -> Measure:
    """Return a measure of the protocol. Its errors name it."""
    measure = {**COMMON, **protocol.measures}[name]

    def measured(state: LocalState) -> int:
        value = called(protocol, name, measure, (state,), f"measure {name!r}")
        if not isinstance(value, int):
            raise ProtocolError(
                f"the measure {name!r} of {protocol.name} returned {shown(value)}; it must return "
                "a whole number"
            )
        return value

    return measured
