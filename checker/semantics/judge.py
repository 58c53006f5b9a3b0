"""Whether something is violated: everybody who has to know asks here.

That is to say the searches in plain Python and the tables of the compiled engines, replayed paths,
the explore page and the graph of states. A property is *shown* by what violates it or, if it is
sought, by what is looked for.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from enum import Enum
from itertools import product
from typing import Any, TypeVar

from attrs import evolve

from antecede.checker.model import (
    Delivery,
    Internal,
    Message,
    Property,
    Receive,
    State,
    Timeout,
    Transition,
    What,
    Where,
)
from antecede.checker.semantics.transition import System

_Step = TypeVar("_Step")

ENDS = (Where.AT_FINAL_STATES, Where.AT_SOME_FINAL_STATE)

# Python looks members of an Enum up slowly, and the plain searches ask in every state.
_DELIVERY, _STATE, _STATES = What.DELIVERY, What.STATE, What.STATES
_SOMEWHERE = Where.SOMEWHERE


def shown(prop: Property, things: Iterable[Any]) -> bool:
    """Return whether the things of one place, such as all actors' states, show `prop`."""
    if prop.where is _SOMEWHERE:
        return any(map(prop.predicate, things))
    return all(map(prop.predicate, things)) is prop.sought


def things(system: System, prop: Property, state: State) -> Iterable[Any]:
    """Return what `prop` judges of what is left to do in a state, by actor."""
    actors = range(system.actors)
    if prop.what is What.UNDELIVERED:
        return (undelivered(state, i) for i in actors)
    assert prop.what is What.ENDED, "nothing else is judged there"
    return (system.workload.ended(i, state.workload[i]) for i in actors)


def undelivered(state: State, sender: int) -> tuple[Message, ...]:
    """Return the messages of `sender` that are not delivered everywhere."""
    return tuple(pending.message for pending in state.history[sender].pending)


# Safety and reachability


def in_deliveries(prop: Property, deliveries: Iterable[Delivery | Glimpse]) -> bool:
    """Return whether the deliveries of a transition show `prop`."""
    return prop.what is _DELIVERY and shown(prop, deliveries)


def in_state(prop: Property, state: State) -> bool:
    """Return whether a state shows `prop`, whatever happens before and after it."""
    if prop.what is _STATE:
        return shown(prop, state.actors)
    return prop.what is _STATES and shown(prop, (state.actors,))


def at_end(system: System, prop: Property, state: State) -> bool:
    """Return whether a state shows `prop` because it is final, as the caller knows it to be."""
    return prop.where in ENDS and shown(prop, things(system, prop, state))


def as_wanted(system: System, prop: Property, state: State) -> bool:
    """Return whether a state is one of those that `prop` says must stay within reach."""
    return all(map(prop.predicate, things(system, prop, state)))


# What is wrong with a delivery


class Unknown(Exception):
    """A predicate asks what is not known of a delivery."""


class Glimpse:
    """A delivery of which only some attributes are known; to ask for another one raises Unknown."""

    def __init__(self, **known: bool) -> None:
        """Know these attributes of it."""
        self.__dict__.update(known)

    def __getattr__(self, name: str) -> Any:
        """Say that it is not known."""
        raise Unknown(name)


def looks_at_order(prop: Property) -> bool:
    """Return whether the history must tell which messages were overtaken.

    It must where the predicate asks, or may ask, for that: as a pure function it does so for some
    delivery of which it knows the rest, or else never.
    """
    return _asks_beyond(prop, "expected", "known")


def looks_at_message(prop: Property) -> bool:
    """Return whether the predicate asks which message is delivered, or where.

    The tables of the compiled engines do not know that.
    """
    return _asks_beyond(prop, "expected", "known", "overtaken")


def _asks_beyond(prop: Property, *known: str) -> bool:
    """Return whether the predicate asks more of some delivery than these attributes."""
    try:
        for values in product((False, True), repeat=len(known)):
            in_deliveries(prop, (Glimpse(**dict(zip(known, values, strict=True))),))
    except Unknown:
        return True
    return False


class Fault(Enum):
    """What a property minds about a delivery; the value is the name of the attribute."""

    UNEXPECTED = "expected"
    KNOWN = "known"
    OVERTAKEN = "overtaken"


_RIGHT: Mapping[Fault, bool] = {Fault.UNEXPECTED: True, Fault.KNOWN: False, Fault.OVERTAKEN: False}


def fault_of(prop: Property, delivery: Delivery) -> Fault | None:
    """Return the last fault that has to be mended before a delivery respects `prop`.

    None says that no fault is what the property minds, but which message it is, or where.
    """
    for fault, right in _RIGHT.items():
        if getattr(delivery, fault.value) is not right:
            mended: Any = {fault.value: right}
            delivery = evolve(delivery, **mended)
            if prop.predicate(delivery):
                return fault
    return None


# Fairness


def obliged(transitions: Iterable[Transition]) -> set[Transition]:
    """Return those that fairness speaks of: receptions and timeouts, not the application's."""
    return {t for t in transitions if isinstance(t, (Receive, Timeout, Internal))}


def refused(
    offered: Sequence[AbstractSet[_Step]], taken: Iterable[_Step], *, strong: bool
) -> AbstractSet[_Step]:
    """Return what a run that goes round for ever treats unfairly.

    Args:
        offered: what fairness speaks of among the enabled transitions of each state on the way.
        taken: the transitions that are taken. Numbers may stand for transitions.
        strong: what is enabled in some state must be taken, not only what is enabled in all.
    """
    owed = set[_Step]().union(*offered) if strong else set(offered[0]).intersection(*offered)
    return owed - set(taken)
