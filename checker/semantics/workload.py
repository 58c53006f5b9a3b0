"""Workloads: who may causal-send what, and when.

Each actor has a workload position of its own; a causal-send or a delivery at that actor may move
it. Nothing else does, so a workload is four pure functions on one actor's position.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from itertools import combinations
from typing import Any, TypeAlias

from attrs import evolve, frozen

from antecede.checker.errors import InputError, unknown
from antecede.checker.model import Message, Request

Position: TypeAlias = Any
Destinations: TypeAlias = tuple[int, ...]


@frozen(eq=False)
class Workload:
    """A workload for a fixed number of actors.

    Attributes:
        kind: one of SUMMARIES.
        text: the workload in full, as `--workload` reads it.
        most: the greatest number of messages one actor causal-sends.
        initial: actor -> position.
        sent: position -> how many messages the actor has causal-sent.
        choices: (actor, position) -> the destinations the next message may have.
        after_send: (actor, position, destinations) -> position.
        after_delivery: (actor, position, message) -> position.
        ended: (actor, position) -> whether the application has come to its end.
        symmetric: actors may be renamed without changing the workload.
        self_sends: some message may be addressed to its own sender.
        reacts: deliveries may move a position.
        fan_out: the greatest number of destinations of one message.
        splits: a send takes two transitions; see `split`.
        requests: per actor what its application asks for, if that is laid down.
        buffer: an actor sends only while fewer than so many of its own messages are undelivered.
    """

    kind: str
    text: str
    most: int
    initial: Callable[[int], Position]
    sent: Callable[[Position], int]
    choices: Callable[[int, Position], tuple[Destinations, ...]]
    after_send: Callable[[int, Position, Destinations], Position]
    after_delivery: Callable[[int, Position, Message], Position]
    ended: Callable[[int, Position], bool]
    symmetric: bool
    self_sends: bool
    reacts: bool = False
    fan_out: int = 1
    splits: bool = False
    requests: tuple[tuple[Request, ...], ...] | None = None
    buffer: int | None = None


SENDS = {
    "joint": "a causal-send, with the choice of its destinations, is one transition",
    "split": "an application first decides to send, then chooses the destinations",
}

ARM: Destinations = ()
"""What stands for the decision to send where a choice of destinations is expected."""


def split(workload: Workload) -> Workload:
    """Return a workload where each causal-send is preceded by a transition that arms it.

    A position is (whether the actor is armed, position in `workload`).
    """

    def choices(actor: int, position: tuple[bool, Position]) -> tuple[Destinations, ...]:
        armed, inner = position
        found = workload.choices(actor, inner)
        return found if armed or not found else (ARM,)

    def after_send(
        actor: int, position: tuple[bool, Position], destinations: Destinations
    ) -> tuple[bool, Position]:
        if destinations == ARM:
            return True, position[1]
        return False, workload.after_send(actor, position[1], destinations)

    def after_delivery(
        actor: int, position: tuple[bool, Position], message: Message
    ) -> tuple[bool, Position]:
        return position[0], workload.after_delivery(actor, position[1], message)

    return evolve(
        workload,
        initial=lambda actor: (False, workload.initial(actor)),
        sent=lambda position: workload.sent(position[1]),
        choices=choices,
        after_send=after_send,
        after_delivery=after_delivery,
        ended=lambda actor, position: workload.ended(actor, position[1]),
        splits=True,
    )


SUMMARIES = {
    "any": "each actor causal-sends --messages messages, each to any one other actor",
    "broadcast": "each actor causal-sends --messages messages, each to all the others",
    "multicast": "each actor causal-sends --messages messages, each to any one or more others",
    "self": "as any, and also to itself",
    "script": "script:[[1,2],[0],[]]: per actor the destinations of its messages, in order",
    "reaction": (
        'reaction:[{"name":"m1","from":0,"to":[2]},{"name":"m2","from":2,"to":[1],'
        '"after":["m1"]}]: sends enabled by named deliveries at their sender'
    ),
    "endless": (
        "endless:B: every actor causal-sends for ever, while fewer than B of its own messages are "
        "undelivered, to any one other actor; endless:B:[[1,2],[0],[]]: to these"
    ),
    "program": (
        'program:[[{"send":"m1","to":[1]}],[{"receive":"m1"}]]: per actor its sends and receives, '
        "in order; a receive accepts any message, or only those that it names"
    ),
}


def _count(position: int) -> int:
    return position


def _one_more(_actor: int, position: int, _destinations: Destinations) -> int:
    return position + 1


def _unmoved(_actor: int, position: Position, _message: Message) -> Position:
    return position


def _counted(
    kind: str,
    text: str,
    most: int,
    choices: Callable[[int, int], tuple[Destinations, ...]],
    *,
    symmetric: bool,
    self_sends: bool = False,
    fan_out: int = 1,
) -> Workload:
    """Return a workload whose position is the number of messages sent."""
    return Workload(
        kind=kind,
        text=text,
        most=most,
        initial=lambda _actor: 0,
        sent=_count,
        choices=choices,
        after_send=_one_more,
        after_delivery=_unmoved,
        ended=lambda actor, position: not choices(actor, position),
        symmetric=symmetric,
        self_sends=self_sends,
        fan_out=fan_out,
    )


def any_one(actors: int, messages: int) -> Workload:
    """Each actor causal-sends `messages` messages, each to any one other actor."""

    # Made when it is asked for: a system that is too large must be able to say so at once.
    @cache
    def others(actor: int) -> tuple[Destinations, ...]:
        return tuple((j,) for j in range(actors) if j != actor)

    def choices(actor: int, position: int) -> tuple[Destinations, ...]:
        return others(actor) if position < messages else ()

    return _counted("any", "any", messages, choices, symmetric=True)


def any_or_self(actors: int, messages: int) -> Workload:
    """Each actor causal-sends `messages` messages, each to any one actor, itself included."""
    everyone = tuple((j,) for j in range(actors))

    def choices(_actor: int, position: int) -> tuple[Destinations, ...]:
        return everyone if position < messages else ()

    return _counted("self", "self", messages, choices, symmetric=True, self_sends=True)


def multicast(actors: int, messages: int) -> Workload:
    """Each actor causal-sends `messages` messages, each to any one or more other actors."""

    @cache
    def groups(actor: int) -> tuple[Destinations, ...]:
        others = [j for j in range(actors) if j != actor]
        return tuple(group for size in range(1, actors) for group in combinations(others, size))

    def choices(actor: int, position: int) -> tuple[Destinations, ...]:
        return groups(actor) if position < messages else ()

    return _counted("multicast", "multicast", messages, choices, symmetric=True, fan_out=actors - 1)


def broadcast(actors: int, messages: int) -> Workload:
    """Each actor causal-sends `messages` messages, each to all the others."""

    @cache
    def others(actor: int) -> Destinations:
        return tuple(j for j in range(actors) if j != actor)

    def choices(actor: int, position: int) -> tuple[Destinations, ...]:
        return (others(actor),) if position < messages else ()

    return _counted("broadcast", "broadcast", messages, choices, symmetric=True, fan_out=actors - 1)


def endless(actors: int, argument: str) -> Workload:
    """Every actor causal-sends for ever, to any one other actor, or to those that are listed.

    A position says nothing, for what was sent and delivered does not matter any more.

    Args:
        actors: how many there are.
        argument: BUFFER, or BUFFER:[[destinations of actor 0], …].

    Raises:
        InputError: no number, or no list of other actors per actor.
    """
    number, _, listed = argument.partition(":")
    if not (number.isascii() and number.isdigit() and 1 <= int(number[:9]) <= MOST_BUFFER):
        raise InputError(
            f"the workload 'endless' needs how many messages of an actor may be undelivered, from "
            f"1 to {MOST_BUFFER}, after the colon, got {number!r}; for example endless:1"
        )
    rows = _targets(actors, listed)
    text = f"endless:{int(number)}"
    if listed:
        text += ":" + json.dumps(rows, separators=(",", ":"))
    return Workload(
        kind="endless",
        text=text,
        most=1,
        initial=lambda _actor: 0,
        sent=_count,
        choices=lambda actor, _position: tuple((target,) for target in rows[actor]),
        after_send=lambda _actor, position, _destinations: position,
        after_delivery=_unmoved,
        ended=lambda _actor, _position: False,
        symmetric=not listed,
        self_sends=False,
        buffer=int(number),
    )


MOST_BUFFER = 1_000
"""More undelivered messages of one actor are a slip of the pen."""


def counting(workload: Workload) -> Workload:
    """Return an endless workload whose positions count, so that messages have numbers."""
    return evolve(workload, after_send=_one_more)


def _targets(actors: int, listed: str) -> list[list[int]]:
    """Return per actor to whom it sends; all others where nothing is listed."""
    if not listed:
        return [[j for j in range(actors) if j != i] for i in range(actors)]
    rows = _json_list("endless", listed)
    if len(rows) != actors:
        raise InputError(f"an endless workload needs one list per actor: {actors}, got {len(rows)}")
    for actor, targets in enumerate(rows):
        for target in targets:
            _check_destination(actors, actor, target)
    return [sorted(set(targets)) for targets in rows]


def script(actors: int, sends: Sequence[Sequence[int]]) -> Workload:
    """Per actor the destinations of its messages, in order.

    Raises:
        InputError: not one list per actor, or a destination that is no other actor.
    """
    if len(sends) != actors:
        raise InputError(f"a script needs one list per actor: {actors} actors, {len(sends)} lists")
    for actor, targets in enumerate(sends):
        for target in targets:
            _check_destination(actors, actor, target)
    plan = tuple(tuple((target,) for target in targets) for targets in sends)

    def choices(actor: int, position: int) -> tuple[Destinations, ...]:
        return plan[actor][position : position + 1]

    text = "script:" + json.dumps([list(t) for t in sends], separators=(",", ":"))
    return _counted("script", text, max(map(len, plan), default=0), choices, symmetric=False)


def _check_destination(actors: int, actor: int, target: object) -> None:
    if not isinstance(target, int) or isinstance(target, bool) or not 0 <= target < actors:
        raise InputError(
            f"destination {target!r} of actor {actor}: give an actor from 0 to {actors - 1}"
        )
    if target == actor:
        raise InputError(f"actor {actor} sends to itself; give another actor as destination")


@frozen
class _Send:
    """One send of a reaction workload."""

    name: str
    src: int
    destinations: Destinations
    after: tuple[str, ...]


@frozen
class _Progress:
    """Position in a reaction workload.

    `awaited` holds the (sender, number) of delivered messages that a later send still waits for,
    so that deliveries which can no longer matter are forgotten.
    """

    sent: int
    awaited: frozenset[tuple[int, int]]


def reaction(actors: int, sends: Sequence[Mapping[str, Any]]) -> Workload:
    """Sends that wait for named deliveries at their sender; one actor's sends keep their order.

    Each entry of `sends` has `name`, `from`, `to` (a list) and, optionally, `after`: the names of
    the messages that must have been delivered at `from` before.

    Raises:
        InputError: an entry that cannot be used, with the entry and what it needs.
    """
    parsed = [_parse_send(actors, entry) for entry in sends]
    identity: dict[str, tuple[int, int]] = {}
    plan: list[list[_Send]] = [[] for _ in range(actors)]
    for send in parsed:
        if send.name in identity:
            raise InputError(f"two sends of the reaction workload are called {send.name!r}")
        plan[send.src].append(send)
        identity[send.name] = (send.src, len(plan[send.src]))
    destinations = {send.name: send.destinations for send in parsed}
    for send in parsed:
        for name in send.after:
            if name not in identity:
                raise unknown(f"message in 'after' of {send.name!r}", name, identity)
            if send.src not in destinations[name]:
                raise InputError(
                    f"{send.name!r} waits for {name!r}, which is never delivered at actor "
                    f"{send.src}; its destinations are {list(destinations[name])}"
                )
    needs = [[frozenset(identity[n] for n in s.after) for s in row] for row in plan]

    def still_awaited(actor: int, sent: int) -> frozenset[tuple[int, int]]:
        return frozenset().union(*needs[actor][sent:])

    def choices(actor: int, position: _Progress) -> tuple[Destinations, ...]:
        row = plan[actor]
        if position.sent == len(row) or not needs[actor][position.sent] <= position.awaited:
            return ()
        return (row[position.sent].destinations,)

    def after_send(actor: int, position: _Progress, _destinations: Destinations) -> _Progress:
        sent = position.sent + 1
        return _Progress(sent, position.awaited & still_awaited(actor, sent))

    def after_delivery(actor: int, position: _Progress, message: Message) -> _Progress:
        key = (message.sender, message.number)
        if key not in still_awaited(actor, position.sent):
            return position
        return _Progress(position.sent, position.awaited | {key})

    return Workload(
        kind="reaction",
        text="reaction:" + json.dumps([_entry(s) for s in parsed], separators=(",", ":")),
        most=max(map(len, plan), default=0),
        initial=lambda _actor: _Progress(0, frozenset()),
        sent=lambda position: position.sent,
        choices=choices,
        after_send=after_send,
        after_delivery=after_delivery,
        ended=lambda actor, position: position.sent == len(plan[actor]),
        symmetric=False,
        self_sends=False,
        reacts=True,
        fan_out=max((len(s.destinations) for s in parsed), default=1),
    )


def _entry(send: _Send) -> dict[str, Any]:
    entry: dict[str, Any] = {"name": send.name, "from": send.src, "to": list(send.destinations)}
    if send.after:
        entry["after"] = list(send.after)
    return entry


def _parse_send(actors: int, entry: Mapping[str, Any]) -> _Send:
    if not isinstance(entry, Mapping):
        raise InputError(f"a send of the reaction workload is a table, not {entry!r}")
    for key in entry:
        if key not in ("name", "from", "to", "after"):
            raise unknown("key in a send of the reaction workload", str(key), _SEND_KEYS)
    for key in ("name", "from", "to"):
        if key not in entry:
            raise InputError(f"the send {dict(entry)!r} of the reaction workload lacks {key!r}")
    src, to, after = entry["from"], entry["to"], entry.get("after", [])
    if not isinstance(src, int) or not 0 <= src < actors:
        raise InputError(f"'from' is {src!r}; give an actor from 0 to {actors - 1}")
    destinations = _parse_destinations(actors, src, to)
    if not isinstance(after, list):
        raise InputError(f"'after' is {after!r}; give a list of message names")
    return _Send(str(entry["name"]), src, destinations, tuple(map(str, after)))


def _parse_destinations(actors: int, src: int, to: Any) -> Destinations:
    if not isinstance(to, list) or not to or len(set(map(str, to))) != len(to):
        raise InputError(f"'to' is {to!r}; give a list of one or more different actors")
    for target in to:
        _check_destination(actors, src, target)
    return tuple(to)


_SEND_KEYS = ("name", "from", "to", "after")


@frozen
class _Statement:
    """One statement of a program: a send of `name`, or a receive of one of `accepts`, if named."""

    name: str | None = None
    destinations: Destinations = ()
    accepts: tuple[str, ...] | None = None


@frozen
class _At:
    """Position in a program.

    Attributes:
        sent: how many messages were causal-sent.
        taken: how many receives have their message; the first delivered is for the first one.
        blocked: the next receive does not accept the message that was delivered for it.
    """

    sent: int = 0
    taken: int = 0
    blocked: bool = False


def program(actors: int, programs: Sequence[Sequence[Mapping[str, Any]]]) -> Workload:
    """Per actor the statements of its program, in order: sends, and receives that may be selective.

    A receive takes the oldest message from the actor's inbox, and waits until there is one; if it
    does not accept that message, it waits for ever. So what the n-th receive takes is decided when
    the n-th message is delivered, though the program may be behind. A send does not block.

    Raises:
        InputError: not one program per actor, or a statement that cannot be used.
    """
    if len(programs) != actors:
        raise InputError(f"give one program per actor: {actors} actors, {len(programs)} programs")
    plan = [
        [_parse_statement(actors, actor, entry) for entry in entries]
        for actor, entries in enumerate(programs)
    ]
    requests = _requests(plan)
    sends = [[s for s in row if s.name is not None] for row in plan]

    def choices(actor: int, position: _At) -> tuple[Destinations, ...]:
        before = sum(r.after <= position.sent for r in requests[actor])
        if position.taken < before:
            return ()
        return tuple(s.destinations for s in sends[actor][position.sent : position.sent + 1])

    def after_delivery(actor: int, position: _At, message: Message) -> _At:
        if position.blocked or position.taken == len(requests[actor]):
            return position
        if requests[actor][position.taken].takes((message.sender, message.number)):
            return evolve(position, taken=position.taken + 1)
        return evolve(position, blocked=True)

    text = json.dumps([[_statement_entry(s) for s in row] for row in plan], separators=(",", ":"))
    return Workload(
        kind="program",
        text="program:" + text,
        most=max(map(len, sends)),
        initial=lambda _actor: _At(),
        sent=lambda position: position.sent,
        choices=choices,
        after_send=lambda _actor, position, _to: evolve(position, sent=position.sent + 1),
        after_delivery=after_delivery,
        ended=lambda actor, position: (
            (position.sent, position.taken) == (len(sends[actor]), len(requests[actor]))
        ),
        symmetric=False,
        self_sends=False,
        reacts=True,
        fan_out=max((len(s.destinations) for row in sends for s in row), default=1),
        requests=requests,
    )


def _requests(plan: Sequence[Sequence[_Statement]]) -> tuple[tuple[Request, ...], ...]:
    """Return each actor's receives, in order, with the messages that they name looked up."""
    identity: dict[str, tuple[int, int]] = {}
    destinations: dict[str, Destinations] = {}
    for actor, row in enumerate(plan):
        for number, send in enumerate((s for s in row if s.name is not None), 1):
            assert send.name is not None
            if send.name in identity:
                raise InputError(f"two sends of the programs are called {send.name!r}")
            identity[send.name] = (actor, number)
            destinations[send.name] = send.destinations
    found = []
    for actor, row in enumerate(plan):
        sent, receives = 0, []
        for statement in row:
            if statement.name is not None:
                sent += 1
                continue
            for name in statement.accepts or ():
                if name not in identity:
                    raise unknown(f"message in a receive of actor {actor}", name, identity)
                if actor not in destinations[name]:
                    raise InputError(
                        f"actor {actor} receives {name!r}, which is not sent to it; its "
                        f"destinations are {list(destinations[name])}"
                    )
            names = statement.accepts
            receives.append(
                Request(sent, None if names is None else frozenset(identity[n] for n in names))
            )
        found.append(tuple(receives))
    return tuple(found)


def _parse_statement(actors: int, actor: int, entry: Mapping[str, Any]) -> _Statement:
    if not isinstance(entry, Mapping):
        raise InputError(f"a statement of a program is a table, not {entry!r}")
    for key in entry:
        if key not in _STATEMENT_KEYS:
            raise unknown("key in a statement of a program", str(key), _STATEMENT_KEYS)
    if ("send" in entry) == ("receive" in entry) or ("send" in entry) != ("to" in entry):
        raise InputError(
            f"the statement {dict(entry)!r} is neither a send, such as {{'send': 'm1', 'to': [1]}},"
            " nor a receive, such as {'receive': 'm1'} or {'receive': 'any'}"
        )
    if "receive" in entry:
        names = entry["receive"]
        if names == ANY_MESSAGE:
            return _Statement()
        names = [names] if isinstance(names, str) else names
        if not isinstance(names, list) or not names or not all(isinstance(n, str) for n in names):
            raise InputError(f"'receive' is {names!r}; give a message name, several, or 'any'")
        return _Statement(accepts=tuple(names))
    name = entry["send"]
    if not isinstance(name, str) or name in ("", ANY_MESSAGE):
        raise InputError(f"'send' is {name!r}; give the message a name other than 'any'")
    return _Statement(name, _parse_destinations(actors, actor, entry["to"]))


_STATEMENT_KEYS = ("send", "to", "receive")

ANY_MESSAGE = "any"
"""What a receive says that is not selective."""


def _statement_entry(statement: _Statement) -> dict[str, Any]:
    if statement.name is not None:
        return {"send": statement.name, "to": list(statement.destinations)}
    if statement.accepts is None:
        return {"receive": ANY_MESSAGE}
    names = list(statement.accepts)
    return {"receive": names[0] if len(names) == 1 else names}


_COUNTED = {
    "any": any_one,
    "broadcast": broadcast,
    "multicast": multicast,
    "self": any_or_self,
}


_LISTED: dict[str, Callable[[int, list[Any]], Workload]] = {
    "script": script,
    "reaction": reaction,
    "program": program,
}


def workload_from(text: str, actors: int, messages: int) -> Workload:
    """Return the workload that `text` describes (as `--workload` takes it).

    Raises:
        InputError: the text names no workload or its argument cannot be used.
    """
    kind, _, argument = text.partition(":")
    if kind not in SUMMARIES:
        raise unknown("workload", kind, SUMMARIES)
    if kind == "endless":
        return endless(actors, argument)
    if kind in _COUNTED:
        if argument:
            raise InputError(f"the workload {kind!r} takes no argument, got {argument!r}")
        return _COUNTED[kind](actors, messages)
    return _LISTED[kind](actors, _json_list(kind, argument))


def _json_list(kind: str, argument: str) -> Any:
    """Return what a workload lists in JSON."""
    try:
        sends = json.loads(argument)
    except json.JSONDecodeError as error:
        raise InputError(
            f"the workload {kind!r} needs a JSON list after the colon ({error.msg} at character "
            f"{error.pos}); for example {SUMMARIES[kind].partition(']:')[0]}]"
        ) from None
    except (ValueError, RecursionError):
        raise InputError(
            f"the workload {kind!r} is nested too deeply, or a number in it is too long"
        ) from None
    if not isinstance(sends, list) or (
        kind != "reaction" and not all(isinstance(row, list) for row in sends)
    ):
        raise InputError(f"the workload {kind!r} needs a JSON list of lists or tables: {argument}")
    return sends
