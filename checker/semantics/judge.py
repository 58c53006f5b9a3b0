"""The evaluation of properties that all engines and tools share.

The searches in plain Python, the tables of the compiled engines, replayed paths, the explore page
and the graph of states call these functions. A state or delivery *shows* a property if it violates
the property or, for a property that is sought (a witness), if it satisfies the predicate.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from enum import Enum
from itertools import product
from typing import Any

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
from antecede.checker.semantics.crashes import is_live
from antecede.checker.semantics.handlers import Unknown
from antecede.checker.semantics.transition import System

ENDS = (Where.AT_FINAL_STATES, Where.AT_SOME_FINAL_STATE)

# Python looks members of an Enum up slowly, and the plain searches ask in every state.
_DELIVERY, _STATE, _STATES, _SEQUENCES = What.DELIVERY, What.STATE, What.STATES, What.SEQUENCES
_SOMEWHERE = Where.SOMEWHERE
_ALWAYS = (Where.EVERYWHERE, Where.SOMEWHERE)


def shown(prop: Property, things: Iterable[Any]) -> bool:
    """Return whether some of the things, such as the states of all actors, show `prop`."""
    if prop.where is _SOMEWHERE:
        return any(map(prop.predicate, things))
    return all(map(prop.predicate, things)) is prop.sought


def things(system: System, prop: Property, state: State) -> Iterable[Any]:
    """Return the arguments that a state has for the predicate of `prop`; crashed actors have none.

    There is one for each actor, or one for all actors together.
    """
    actors: Iterable[int] = range(system.actors)
    if system.crashes is not None:
        actors = (i for i in actors if is_live(state, i))
    if prop.what is What.UNDELIVERED:
        return (undelivered(state, i) for i in actors)
    if prop.what is What.ENDED:
        return (system.workload.ended(i, state.workload[i]) for i in actors)
    assert prop.what is not What.DELIVERY, "a state has no deliveries"
    return _of_actors(prop, state)


def _of_actors(prop: Property, state: State) -> Iterable[Any]:
    """Return the states of the actors, one by one or together, or all delivery sequences."""
    if prop.what is _SEQUENCES:
        return (tuple([position.delivered for position in state.workload]),)
    return state.actors if prop.what is _STATE else (state.actors,)


def undelivered(state: State, sender: int) -> tuple[Message, ...]:
    """Return the messages of a live sender that some live destination has not delivered."""
    if not is_live(state, sender):
        return ()
    pending = state.history[sender].pending
    return tuple(p.message for p in pending if any(is_live(state, d) for d in p.remaining))


# Safety and reachability


def in_deliveries(prop: Property, deliveries: Iterable[Delivery | Glimpse]) -> bool:
    """Return whether the deliveries of a transition show `prop`."""
    return prop.what is _DELIVERY and shown(prop, deliveries)


def in_state(prop: Property, state: State) -> bool:
    """Return whether a state by itself shows `prop`."""
    if prop.where not in _ALWAYS or prop.what is _DELIVERY:
        return False
    return shown(prop, _of_actors(prop, state))


def is_joint(prop: Property) -> bool:
    """Return whether any state can show `prop`, and its predicate is about all actors at once."""
    return prop.where in _ALWAYS and prop.what in (_STATES, _SEQUENCES)


def is_of_one_state(prop: Property) -> bool:
    """Return whether any state can show `prop`, and its predicate is about one actor's state."""
    return prop.where in _ALWAYS and prop.what is _STATE


def records_deliveries(props: Iterable[Property]) -> bool:
    """Return whether states must record the delivery sequences, because properties ask for them."""
    return any(prop.what is _SEQUENCES for prop in props)


def at_end(system: System, prop: Property, state: State) -> bool:
    """Return whether a state that the caller knows to be final shows `prop`."""
    return prop.where in ENDS and shown(prop, things(system, prop, state))


def as_wanted(system: System, prop: Property, state: State) -> bool:
    """Return whether a state satisfies the predicate of `prop`, which must stay reachable."""
    return all(map(prop.predicate, things(system, prop, state)))


# Faults of deliveries


class Glimpse:
    """A delivery with only some attributes. Anything else that is asked of it raises Unknown."""

    def __init__(self, **known: bool) -> None:
        """Set the attributes that are known."""
        self.__dict__.update(known)

    def __getattr__(self, name: str) -> Any:
        """Raise Unknown."""
        raise Unknown(name)

    def _whole(self, *_others: object) -> Any:
        """Raise Unknown: the delivery is asked for its class, or compared with another one."""
        raise Unknown("all attributes")

    __eq__ = __hash__ = __repr__ = _whole
    __class__ = property(_whole)  # isinstance and match ask for it


def looks_at_order(prop: Property) -> bool:
    """Return whether the history must record overtaken messages for `prop`.

    It must if the predicate can ask for `overtaken`. A pure predicate that can do so does it for
    some combination of the other attributes, so it is called with all of them.
    """
    return _asks_beyond(prop, "expected", "known")


def looks_at_message(prop: Property) -> bool:
    """Return whether the predicate can ask for the message or the actor of a delivery.

    The tables of the compiled engines record neither.
    """
    return _asks_beyond(prop, "expected", "known", "overtaken")


def _asks_beyond(prop: Property, *known: str) -> bool:
    """Return whether the predicate asks some delivery for an attribute beyond `known`."""
    try:
        for values in product((False, True), repeat=len(known)):
            in_deliveries(prop, (Glimpse(**dict(zip(known, values, strict=True))),))
    except Unknown:
        return True
    return False


class Fault(Enum):
    """A fault of a delivery. The value is the name of the attribute of `Delivery`."""

    UNEXPECTED = "expected"
    KNOWN = "known"
    OVERTAKEN = "overtaken"


_RIGHT: Mapping[Fault, bool] = {Fault.UNEXPECTED: True, Fault.KNOWN: False, Fault.OVERTAKEN: False}


def fault_of(prop: Property, delivery: Delivery) -> Fault | None:
    """Return the last fault that has to be removed before a delivery respects `prop`.

    None means that the property objects to the message or to the actor, and to no fault.
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
    """Return the transitions that fairness covers: those that the application does not choose."""
    return {t for t in transitions if isinstance(t, (Receive, Timeout, Internal))}


def strongly_owed(transitions: Iterable[Transition], *, lossy: bool) -> set[Transition]:
    """Return the transitions that must be taken if they are enabled again and again.

    These are the receptions on a network that loses packets. All others that fairness covers must
    be taken only if they stay enabled.
    """
    return {t for t in transitions if lossy and isinstance(t, Receive)}


def refused(
    offered: Sequence[AbstractSet[Transition]], taken: Iterable[Transition], *, lossy: bool
) -> AbstractSet[Transition]:
    """Return the transitions that a run repeating a cycle for ever treats unfairly.

    Args:
        offered: per state of the cycle, the enabled transitions that fairness covers.
        taken: the transitions of the cycle.
        lossy: whether the network loses packets.
    """
    always, sometimes = set(offered[0]).intersection(*offered), set(offered[0]).union(*offered)
    return (always | strongly_owed(sometimes, lossy=lossy)) - set(taken)
