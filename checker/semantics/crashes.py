"""Actors that crash: the option `--crashes`, and the state of a crashed actor.

docs/crash-model.md defines the semantics. A crash replaces the state of its actor by `Crashed`, and
takes one from the crashes that are left in a run. A crashed actor takes no step. A crash in the
middle of a step is the transition of this step with a *cut*: the packets that get out.

Question: What does a crash do?
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from functools import wraps
from itertools import product
from typing import Any, TypeAlias

from attrs import evolve, frozen

from antecede.checker.model import (
    Arm,
    Internal,
    LocalState,
    Lose,
    Packet,
    Property,
    Protocol,
    State,
    Transition,
    What,
    When,
)
from antecede.checker.semantics.network import Channel, Network, Taken
from antecede.checker.support.errors import InputError
from antecede.checker.support.settings import shown, whole_number

CRASH, RECOVER = "crash", "recover"
"""The names of the internal transitions that `--crashes` adds to a system."""

WHOLE = "whole"
"""The word of `--crashes` with which actors crash between their steps only."""

Sends: TypeAlias = tuple[tuple[int, Packet], ...]
"""The packets that a step sends, each after its destination."""

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
        whole: actors crash between their steps only.
    """

    text: str
    most: int
    of: frozenset[int]
    lost: bool
    whole: bool = False


def crashes_from(text: str, to_crashed: str, actors: int) -> Crashes | None:
    """Return the crashes that a value of `--crashes` allows, or None if it allows none.

    Args:
        text: K, K:of=ACTOR,…, K:whole or K:of=ACTOR,…:whole.
        to_crashed: one of TO_CRASHED.
        actors: the number of actors.

    Raises:
        InputError: the text has another form, or names an actor that does not exist.
    """
    number, *rest = text.split(":")
    most = whole_number(number, "the number of crashes (as in --crashes 1)", least=0)
    whole = rest[-1:] == [WHOLE]
    named = rest[: len(rest) - whole]
    if len(named) > 1 or not all(name.startswith("of=") for name in named):
        raise _unreadable(text)
    of = frozenset(_actors_in(text, named[0], actors) if named else range(actors))
    return Crashes(text, most, of, to_crashed == "lost", whole) if most else None


def _actors_in(text: str, named: str, actors: int) -> list[int]:
    """Return the actors that a value of `--crashes` names, as in `of=0,2`."""
    names = named.removeprefix("of=").split(",")
    if not all(name.isdecimal() for name in names):
        raise _unreadable(text)
    here = {str(actor): actor for actor in range(actors)}
    if outside := [name for name in names if name not in here]:
        raise InputError(
            f"the crashes {shown(text)} name actor {shown(outside[0])}; the actors are 0 to "
            f"{actors - 1}"
        )
    return [here[name] for name in names]


def _unreadable(text: str) -> InputError:
    return InputError(
        f"the crashes are {shown(text)}; give a number, and perhaps the actors that may crash, "
        f"such as 1:of=0,2, or :{WHOLE} if no actor crashes in the middle of a step"
    )


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
    """Return whether an actor crashes in a transition of a system with crashes."""
    alone = isinstance(transition, Internal) and transition.name == CRASH
    return alone or cut_of(transition) is not None


def cut_of(transition: Transition) -> tuple[int, ...] | None:
    """Return the packets that get out if the actor crashes in the middle of the step, or None."""
    return None if isinstance(transition, Arm | Lose) else transition.cut


# Crashes in the middle of a step


def cuts_of(sends: Sends, *, nothing: bool) -> Iterator[tuple[int, ...]]:
    """Yield each part of a step's packets that gets out if the actor crashes while it sends them.

    To each destination, the first packets get out and the others are lost; at least one is lost.

    Args:
        sends: the packets that the whole step sends.
        nothing: whether all of them may be lost.

    Yields:
        The destination of each packet that gets out, in ascending order; see `CausalSend.cut`.

    Examples:
        >>> list(cuts_of(((1, "a"), (2, "b"), (1, "c")), nothing=False))
        [(2,), (1,), (1, 2), (1, 1)]
    """
    numbers = sorted(Counter(destination for destination, _ in sends).items())
    for most in product(*(range(number + 1) for _, number in numbers)):
        cut = tuple(d for (d, _), out in zip(numbers, most, strict=True) for _ in range(out))
        if len(cut) < len(sends) and (cut or nothing):
            yield cut


def sent_at(cut: tuple[int, ...], sends: Sends) -> Sends:
    """Return those packets of a step that get out, in order.

    Examples:
        >>> sent_at((1,), ((1, "a"), (2, "b"), (1, "c")))
        ((1, 'a'),)
    """
    left, out = Counter(cut), []
    for destination, packet in sends:
        if left[destination]:
            left[destination] -= 1
            out.append((destination, packet))
    return tuple(out)


# Properties


def of_live_actors(prop: Property) -> Property:
    """Return a property of actors' states or delivery sequences that leaves crashed actors out."""
    if prop.what is What.LOCAL_STATE:
        return evolve(prop, predicate=_but_crashed(prop))
    joint = prop.what in (What.GLOBAL_STATE, What.SEQUENCES)
    return evolve(prop, predicate=_on_the_rest(prop.predicate)) if joint else prop


def _but_crashed(prop: Property) -> Callable[[LocalState], bool]:
    @wraps(prop.predicate)  # drawings and citations need its source lines
    def judged(state: LocalState) -> bool:
        if isinstance(state, Crashed):  # it decides neither whether any, nor whether all are right
            return prop.when is not When.SOMETIMES
        return prop.predicate(state)

    return judged


def _on_the_rest(predicate: Callable[[Any], bool]) -> Callable[[Any], bool]:
    @wraps(predicate)
    def judged(of_actors: tuple[Any, ...]) -> bool:
        return predicate(tuple(each for each in of_actors if not isinstance(each, Crashed)))

    return judged


def with_crashed(sequences: Iterable[Any], states: Iterable[LocalState]) -> tuple[Any, ...]:
    """Return the delivery sequences of all actors; a crashed actor has its state in their place."""
    pairs = zip(sequences, states, strict=True)
    return tuple([state if isinstance(state, Crashed) else sequence for sequence, state in pairs])


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
