"""Events of actors whose order is known in part; `judge.orders` judges them.

A *step* is a span: one causal-send, or one or more deliveries at the same time. A *moment* of an
actor is a list of steps of unknown order; usually it is one step. An actor's moments are in order.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet

from attrs import frozen

from antecede.checker.logs.events.event import Event


@frozen
class Step:
    """The events of a span: a causal-send, or deliveries at one time."""

    events: tuple[Event, ...]

    def messages(self, kind: str) -> list[str]:
        """Return the messages that it sends or delivers."""
        return [event.message for event in self.events if event.kind == kind]


@frozen(eq=False)
class Moments:
    """The moments of all actors.

    Attributes:
        own: actor -> its moments.
        left_out: reasons and numbers of spans that are no events.
        unnamed: actors that may be several instances of a service.
        divided: services of which each consumer group is an actor.
        apart: an actor, an attribute, and its values, which tell instances of a service apart.
        lacking: attributes that the user names, and the number of spans that lack each.
    """

    own: Mapping[str, Sequence[Sequence[Step]]]
    left_out: tuple[tuple[str, int], ...] = ()
    unnamed: AbstractSet[str] = frozenset()
    divided: AbstractSet[str] = frozenset()
    apart: tuple[tuple[str, str, tuple[str, ...]], ...] = ()
    lacking: tuple[tuple[str, int], ...] = ()

    def events(self) -> Iterator[Event]:
        """Yield the events in one of the possible orders, the same for all orders of the lines."""
        for moments in self.own.values():
            for moment in moments:
                for step in moment:
                    yield from step.events

    def unordered(self) -> list[Sequence[Step]]:
        """Return the moments with several steps."""
        return [moment for all_ in self.own.values() for moment in all_ if len(moment) > 1]

    @property
    def ordered(self) -> bool:
        """The order of all events is known."""
        steps = (step for all_ in self.own.values() for moment in all_ for step in moment)
        return not self.unordered() and all(len(step.events) == 1 for step in steps)
