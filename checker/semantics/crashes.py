"""Actors that crash: the option `--crashes`, and the state of a crashed actor.

docs/model.md defines the semantics. A crash replaces the state of its actor by `Crashed`, and takes
one from the crashes that are left in a run. A crashed actor takes no step.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any

from attrs import evolve, frozen

from antecede.checker.model import (
    Internal,
    LocalState,
    Packet,
    Property,
    Protocol,
    State,
    Transition,
    What,
    Where,
)
from antecede.checker.semantics.network import Channel, Network, Taken
from antecede.checker.support.errors import InputError
from antecede.checker.support.settings import shown, whole_number

CRASH, RECOVER = "crash", "recover"
"""The names of the internal transitions that `--crashes` adds to a system."""

TO_CRASHED = {
    "kept": "they stay in flight",
    "lost": "they leave the network",
}
"""What happens to packets to a crashed actor."""


@frozen
class Crashed:
    """The state of a crashed actor.

    Attributes:
        durable: what the actor finds when it recovers; None if it never recovers.
    """

    durable: Any = None


@frozen(eq=False)
class Crashes:
    """The crashes that a system allows.

    Attributes:
        text: the value of `--crashes`.
        most: the greatest number of crashes in a run.
        of: the actors that may crash.
        lost: packets to a crashed actor leave the network.
    """

    text: str
    most: int
    of: frozenset[int]
    lost: bool


def crashes_from(text: str, to_crashed: str, actors: int) -> Crashes | None:
    """Return the crashes that a value of `--crashes` allows, or None if it allows none.

    Args:
        text: K or K:of=ACTOR,…
        to_crashed: one of TO_CRASHED.
        actors: the number of actors.

    Raises:
        InputError: the text has another form, or names an actor that does not exist.
    """
    number, colon, rest = text.partition(":")
    most = whole_number(number, "the number of crashes (as in --crashes 1)", least=0)
    of = frozenset(_actors_in(text, rest, actors) if colon else range(actors))
    return Crashes(text, most, of, to_crashed == "lost") if most else None


def _actors_in(text: str, rest: str, actors: int) -> list[int]:
    """Return the actors that a value of `--crashes` names after its colon."""
    names = rest.removeprefix("of=").split(",")
    if not rest.startswith("of=") or not all(name.isdecimal() for name in names):
        raise InputError(
            f"the crashes are {shown(text)}; give a number, and perhaps the actors that may "
            "crash, such as 1:of=0,2"
        )
    here = {str(actor): actor for actor in range(actors)}
    if outside := [name for name in names if name not in here]:
        raise InputError(
            f"the crashes {shown(text)} name actor {shown(outside[0])}; the actors are 0 to "
            f"{actors - 1}"
        )
    return [here[name] for name in names]


def refuse_own(protocol: Protocol) -> None:
    """Reject a protocol with an own crash or recovery, or with a disk that no recovery reads.

    Raises:
        InputError: it has one.
    """
    if protocol.durable is not None and protocol.recover is None:
        raise InputError(
            f"{protocol.name} declares durable without recover, so nothing reads what is on the "
            "disk; give recover, too, or leave durable out"
        )
    for name in (CRASH, RECOVER):
        if name in protocol.actions:
            raise InputError(
                f"{protocol.name} has an action {name!r}, which --crashes adds by itself; rename "
                "the action"
            )


def is_crash(transition: Transition) -> bool:
    """Return whether a transition of a system with crashes is a crash."""
    return isinstance(transition, Internal) and transition.name == CRASH


# Properties


def of_live_actors(prop: Property) -> Property:
    """Return a property of states that leaves crashed actors out."""
    predicate = prop.predicate
    if prop.what is What.STATE:
        return evolve(prop, predicate=_but_crashed(prop))
    return evolve(prop, predicate=_on_the_rest(predicate)) if prop.what is What.STATES else prop


def _but_crashed(prop: Property) -> Callable[[LocalState], bool]:
    @wraps(prop.predicate)  # drawings and citations need its source lines
    def judged(state: LocalState) -> bool:
        if isinstance(state, Crashed):  # it decides neither whether any, nor whether all are right
            return prop.where is not Where.SOMEWHERE
        return prop.predicate(state)

    return judged


def _on_the_rest(predicate: Callable[[Any], bool]) -> Callable[[Any], bool]:
    @wraps(predicate)
    def judged(states: tuple[LocalState, ...]) -> bool:
        return predicate(tuple(state for state in states if not isinstance(state, Crashed)))

    return judged


def is_live(state: State, actor: int) -> bool:
    """Return whether an actor has not crashed."""
    return not isinstance(state.actors[actor], Crashed)


# Packets to a crashed actor


class Closed(tuple[Packet, ...]):
    """The channel to a crashed actor whose packets are lost. It contains no packet."""

    __slots__ = ()

    def __eq__(self, other: object) -> bool:
        """Return whether the other channel is closed, too."""
        return isinstance(other, Closed)

    def __ne__(self, other: object) -> bool:
        """Return whether the other channel is not closed."""
        return not isinstance(other, Closed)

    def __hash__(self) -> int:
        """Return the same number for every closed channel."""
        return hash(Closed)


CLOSED: Channel = Closed()


def closable(network: Network) -> Network:
    """Return a network whose closed channels lose every packet."""

    def put(channel: Channel, packet: Packet) -> Channel:
        return channel if channel == CLOSED else network.put(channel, packet)

    def without_closed(take: Callable[[Channel], Taken]) -> Callable[[Channel], Taken]:
        return lambda channel: () if channel == CLOSED else take(channel)

    lose = None if network.lose is None else without_closed(network.lose)
    return evolve(network, put=put, take=without_closed(network.take), lose=lose)


def reopened(channel: Channel) -> Channel:
    """Return a channel whose receiver has recovered."""
    return () if channel == CLOSED else channel
