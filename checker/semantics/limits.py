"""Bounds on measures of an actor's state. They can make an infinite state graph finite.

A protocol declares measures of its state, such as the length of a queue. A search with a limit does
not expand a state where some actor's measure reaches the limit. So it never concludes that a
property holds. Violations within the limit are real, and so is the run that reaches the limit.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from attrs import field, frozen

from antecede.checker.model import LocalState, Measure, Message, Protocol, State
from antecede.checker.semantics.handlers import called
from antecede.checker.semantics.values import messages_in, parts
from antecede.checker.support.errors import InputError, ProtocolError, unknown
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
        bound: the measure at which a state is no longer expanded.
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


def reached(limits: Iterable[Limit], state: State) -> Limit | None:
    """Return the first limit that some actor's state reaches, or None."""
    return next((limit for limit in limits if not all(map(limit.spares, state.actors))), None)


def limits_from(texts: Iterable[str], protocol: Protocol) -> tuple[Limit, ...]:
    """Return the limits that texts such as `mode=3` describe.

    If two limits are on the same measure, the last one counts.

    Raises:
        InputError: a text is not a limit, or the protocol has no such measure; names the choices.
    """
    limits = dict[str, Limit]()
    for text in texts:
        limit = _limit(text, protocol)
        limits[limit.name] = limit
    return tuple(limits.values())


def _limit(text: str, protocol: Protocol) -> Limit:
    name, equals, number = text.partition("=")
    choices = {**COMMON, **protocol.measures}
    if not equals:
        raise InputError(
            f"the bound is {shown(text)}; give a measure and where to stop, such as "
            f"{next(iter(protocol.measures), 'greatest')}=3"
        )
    if name not in choices:
        raise unknown(f"measure of {protocol.name}", name, choices)
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
