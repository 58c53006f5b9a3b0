"""The evaluation of properties that all engines and tools share.

The searches in plain Python, the tables of the compiled engines, replayed paths, the explore page
and the graph of states call these functions. A state or delivery *shows* a property if it violates
the property or, for a property that is sought (a witness), if it satisfies the predicate.

Question: Does a state or a delivery violate a property? All engines ask `in_deliveries`, `in_state`
and `at_end`.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
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
    When,
)
from antecede.checker.semantics.crashes import is_live, with_crashed
from antecede.checker.semantics.history import Pending
from antecede.checker.semantics.reads import calls_users, noting
from antecede.checker.semantics.transition import System

ENDS = (When.AT_FINAL_STATES, When.AT_SOME_FINAL_STATE)

# Python looks members of an Enum up slowly, and the plain searches ask in every state.
_DELIVERY, _SEQUENCES, _UNDELIVERED = What.DELIVERY, What.SEQUENCES, What.UNDELIVERED
_STATE, _STATES, _SOMETIMES = What.LOCAL_STATE, What.GLOBAL_STATE, When.SOMETIMES
_ALWAYS = (When.ALWAYS, When.SOMETIMES)


@calls_users
def shown(prop: Property, things: Iterable[Any]) -> bool:
    """Return whether some of the things, such as the states of all actors, show `prop`."""
    if prop.when is _SOMETIMES:
        return any(map(prop.predicate, things))
    return all(map(prop.predicate, things)) is prop.sought


def things(system: System, prop: Property, state: State) -> Iterable[Any]:
    """Return the arguments that a state has for the predicate of `prop`; crashed actors have none.

    There is one for each actor, or one for all actors together. The messages of crashed senders are
    judged only by properties of partly delivered messages.
    """
    actors: Iterable[int] = range(system.actors)
    if prop.what is What.PARTLY_DELIVERED:
        crashed = [i for i in actors if not is_live(state, i)]
        return (left(prop.what, ghost.pending, crashed) for ghost in state.history)
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
        delivered = [position.delivered for position in state.workload]
        return (with_crashed(delivered, state.actors),)
    return state.actors if prop.what is _STATE else (state.actors,)


def undelivered(state: State, sender: int) -> tuple[Message, ...]:
    """Return the messages of a live sender that some live destination has not delivered."""
    crashed = [i for i in range(len(state.actors)) if not is_live(state, i)]
    return () if sender in crashed else left(_UNDELIVERED, state.history[sender].pending, crashed)


def left(
    what: What, undelivered: Iterable[Pending], crashed: Collection[int] = ()
) -> tuple[Message, ...]:
    """Return the messages that some live destination has not delivered.

    Args:
        what: UNDELIVERED; or PARTLY_DELIVERED, for those that another live destination has
            delivered.
        undelivered: the messages of a sender that are not delivered everywhere.
        crashed: the actors that are not live.
    """

    def among_live(actors: Iterable[int]) -> bool:
        return any(actor not in crashed for actor in actors)

    partly = what is What.PARTLY_DELIVERED
    return tuple(
        entry.message
        for entry in undelivered
        if among_live(entry.remaining)
        and (not partly or among_live(set(entry.message.destinations).difference(entry.remaining)))
    )


def pending(state: State, message: Message) -> tuple[int, ...]:
    """Return the destinations where `message` is not delivered yet."""
    if message.sender not in range(len(state.history)):
        return ()
    entries = state.history[message.sender].pending
    return next((p.remaining for p in entries if p.message == message), ())


# Safety and reachability


def in_deliveries(prop: Property, deliveries: Iterable[Delivery]) -> bool:
    """Return whether the deliveries of a transition show `prop`."""
    return prop.what is _DELIVERY and shown(prop, deliveries)


def in_state(prop: Property, state: State) -> bool:
    """Return whether a state by itself shows `prop`."""
    if prop.when not in _ALWAYS or prop.what is _DELIVERY:
        return False
    return shown(prop, _of_actors(prop, state))


def is_joint(prop: Property) -> bool:
    """Return whether any state can show `prop`, and its predicate is about all actors at once."""
    return prop.when in _ALWAYS and prop.what in (_STATES, _SEQUENCES)


def is_of_one_state(prop: Property) -> bool:
    """Return whether any state can show `prop`, and its predicate is about one actor's state."""
    return prop.when in _ALWAYS and prop.what is _STATE


def records_deliveries(props: Iterable[Property]) -> bool:
    """Return whether states must record the delivery sequences, because properties ask for them."""
    return any(prop.what is _SEQUENCES for prop in props)


def at_end(system: System, prop: Property, state: State) -> bool:
    """Return whether a state that the caller knows to be final shows `prop`."""
    return prop.when in ENDS and shown(prop, things(system, prop, state))


def as_wanted(system: System, prop: Property, state: State) -> bool:
    """Return whether a state satisfies the predicate of `prop`, which must stay reachable."""
    return all(map(prop.predicate, things(system, prop, state)))


# Faults of deliveries

_FLAGS = ("expected", "causally_late", "fifo_late")
_FIELDS = ("actor", "message", *_FLAGS)


def delivery_with(**judged: bool) -> Delivery:
    """Return a delivery of some message, for predicates that do not look at the message."""
    return Delivery(0, Message(0, 1, (0,)), **judged)


def looks_at_order(prop: Property) -> bool:
    """Return whether the history must record overtaken messages for `prop`.

    It must if the predicate can ask for `fifo_late`. A pure predicate that can do so does it for
    some combination of the other attributes, so it is called with all of them.
    """
    return _asks_beyond(prop, "expected", "causally_late")


def looks_at_causality(prop: Property) -> bool:
    """Return whether the predicate can ask what the actor of a delivery knew before it.

    True also if it can ask for the message, because it then asks in one of many ways.
    """
    return _asks_beyond(prop, "expected", "fifo_late")


def looks_at_message(prop: Property) -> bool:
    """Return whether the predicate can ask for the message or the actor of a delivery.

    The tables of the compiled engines record neither.
    """
    return _asks_beyond(prop, "expected", "causally_late", "fifo_late")


def looks_at_wrong_message(prop: Property, actors: int) -> bool:
    """Return whether the predicate asks for the message of a delivery that nobody expects."""
    asked = set[str]()
    with noting(Delivery, ("message",), lambda _delivery, name, _by: asked.add(name)):
        for actor in range(actors):
            in_deliveries(
                prop, (evolve(delivery_with(**dict.fromkeys(_FLAGS, False)), actor=actor),)
            )
    return bool(asked)


def _asks_beyond(prop: Property, *known: str) -> bool:
    """Return whether the predicate asks some delivery for an attribute that is not in `known`."""
    asked = set[str]()
    others = tuple(name for name in _FIELDS if name not in known)
    for values in product((False, True), repeat=len(known)):
        judged = dict.fromkeys(_FLAGS, False) | dict(zip(known, values, strict=True))
        with noting(Delivery, others, lambda _delivery, name, _by: asked.add(name)):
            try:
                in_deliveries(prop, (delivery_with(**judged),))
            except Exception:
                if not asked:  # otherwise it may fail because there is no such message
                    raise
        if asked:
            return True
    return False


class Fault(Enum):
    """A fault of a delivery. The value is the name of the attribute of `Delivery`."""

    UNEXPECTED = "expected"
    CAUSALLY_LATE = "causally_late"
    FIFO_LATE = "fifo_late"


_RIGHT: Mapping[Fault, bool] = {
    Fault.UNEXPECTED: True,
    Fault.CAUSALLY_LATE: False,
    Fault.FIFO_LATE: False,
}


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
    """Return the transitions that a run repeating a cycle forever treats unfairly.

    Args:
        offered: per state of the cycle, the enabled transitions that fairness covers.
        taken: the transitions of the cycle.
        lossy: whether the network loses packets.
    """
    always, sometimes = set(offered[0]).intersection(*offered), set(offered[0]).union(*offered)
    return (always | strongly_owed(sometimes, lossy=lossy)) - set(taken)
