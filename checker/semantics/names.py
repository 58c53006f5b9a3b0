"""Names of actors and messages in reports. They never change the state space."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

from attrs import evolve, frozen

from antecede.checker.semantics.workload import EndlessWorkload, Workload, messages_of
from antecede.checker.support.amounts import counted
from antecede.checker.support.errors import InputError, check_known
from antecede.checker.support.settings import shown

KEYS = ("actors", "messages")
LONGEST = 40
"""The greatest length of a name, in characters, so that it fits into a label."""

ACTORS = ("Alice", "Bob", "Carol", "Dave", "Erin", "Frank", "Grace", "Heidi")
"""The default names of actors, as in many papers."""


@frozen
class Names:
    """Names of actors and messages.

    Attributes:
        actors: the names of all actors, in order; empty means `ACTORS`.
        messages: per actor, the names of its messages in order; empty means m1, m2, … in the order
            of their causal-sends in a run.
    """

    actors: tuple[str, ...] = ()
    messages: tuple[tuple[str, ...], ...] = ()

    def actor(self, actor: int) -> str:
        """Return the name of an actor."""
        named = self.actors or ACTORS
        return named[actor] if 0 <= actor < len(named) else f"Actor {actor + 1}"

    def message(self, sender: int, number: int) -> str | None:
        """Return the name of a message, or None if it has none of its own."""
        row = self.messages[sender] if 0 <= sender < len(self.messages) else ()
        return row[number - 1] if 0 < number <= len(row) else None


def names_from(given: Names | Mapping[str, Any]) -> Names:
    """Return the names from a table such as `[names]` of a spec.

    Raises:
        InputError: an unknown key, an unusable name, or a name that is used twice.
    """
    if isinstance(given, Names):
        return given
    if not isinstance(given, Mapping):
        raise InputError(f"names is {shown(given)}; it must be a table with actors and messages")
    for key in given:
        check_known("key of names", key, KEYS)
    actors = _named("names.actors", given.get("actors", ()))
    _refuse_doubles("actors", actors, lambda name: "-".join(name.split()).casefold())
    rows = given.get("messages", ())
    if not isinstance(rows, list | tuple):
        raise InputError(
            f"names.messages is {shown(rows)}; it must be a list with one list of names per actor"
        )
    messages = tuple(_named(f"names.messages of actor {at}", row) for at, row in enumerate(rows))
    _refuse_doubles("messages", (name for row in messages for name in row), str.casefold)
    return Names(actors, messages)


def _named(what: str, names: Any) -> tuple[str, ...]:
    if not isinstance(names, list | tuple):
        raise InputError(f"{what} is {shown(names)}; it must be a list of names")
    for name in names:
        if not isinstance(name, str):
            raise InputError(f"{what} has {shown(name)}; a name is a string")
        if not name.strip() or name != name.strip() or not name.isprintable():
            raise InputError(
                f"{what} has {shown(name)}; a name has printable characters, with no space around"
            )
        if len(name) > LONGEST:
            raise InputError(
                f"{what} has {shown(name)}, of {len(name)} characters; a name has at most {LONGEST}"
            )
    return tuple(names)


def _refuse_doubles(what: str, names: Iterable[str], seen_as: Callable[[str], str]) -> None:
    met: dict[str, str] = {}
    for name in names:
        key = seen_as(name)
        if key in met:
            raise InputError(
                f"two {what} are called {name!r}; give each a name of its own"
                if met[key] == name
                else f"two {what} are called {met[key]!r} and {name!r}, which look alike"
            )
        met[key] = name


def fitted(names: Names, actors: int, workload: Workload) -> Names:
    """Return the names for a system. Names of messages in its workload are used as they are.

    Raises:
        InputError: too few or too many names, or names for messages that the workload names.
    """
    if names.actors and len(names.actors) != actors:
        raise InputError(
            f"names.actors has {counted(len(names.actors), 'name')} and there are {actors} actors; "
            "name all of them, or none"
        )
    if workload.sends is not None:
        if names.messages:
            raise InputError(
                f"names.messages names what the {workload.kind} workload names itself; leave it out"
            )
        return evolve(names, messages=workload.sends)
    if names.messages:
        _check_count(names.messages, actors, workload)
    return names


def _check_count(rows: tuple[tuple[str, ...], ...], actors: int, workload: Workload) -> None:
    if isinstance(workload, EndlessWorkload):
        raise InputError(
            "names.messages is for workloads that end; an endless one has too many messages"
        )
    if len(rows) != actors:
        raise InputError(
            f"names.messages has {counted(len(rows), 'list')} and there are {actors} actors; "
            "give one list of names per actor"
        )
    for actor, row in enumerate(rows):
        if len(row) != (most := messages_of(workload, actor)):
            raise InputError(
                f"names.messages of actor {actor} has {counted(len(row), 'name')}, and the actor "
                f"causal-sends {counted(most, 'message')}; name all of them, or leave out messages"
            )
