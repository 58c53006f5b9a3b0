"""Workloads that wait: sends after named deliveries, and programs of sends and receives."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any, TypeAlias

from attrs import evolve, frozen

from antecede.checker.model import Message, Request
from antecede.checker.semantics.workload import (
    Destinations,
    Label,
    Workload,
    check_destination,
    checked_label,
)
from antecede.checker.support.amounts import counted
from antecede.checker.support.errors import InputError, check_known


@frozen
class _Send:
    """One send of a reaction workload."""

    name: str
    src: int
    destinations: Destinations
    after: tuple[str, ...]
    label: Label | None = None


_Named: TypeAlias = Mapping[str, tuple[tuple[int, int], Destinations]]
"""Name of a message -> its sender and number, and its destinations."""


def _by_name(plan: Sequence[Sequence[_Send | _Statement]], where: str) -> _Named:
    """Return the messages of a workload by name; `where` names the workload in errors."""
    named: dict[str, tuple[tuple[int, int], Destinations]] = {}
    for actor, row in enumerate(plan):
        for number, send in enumerate(row, 1):
            name = str(send.name)
            if name in named:
                raise InputError(f"two sends of {where} are called {name!r}")
            named[name] = (actor, number), send.destinations
    return named


def _awaited(
    named: _Named, names: Sequence[str], actor: int, where: str
) -> frozenset[tuple[int, int]]:
    """Return the senders and numbers of the messages that an actor waits for; checks them."""
    for name in names:
        check_known(f"message in {where}", name, named)
        if actor not in named[name][1]:
            raise InputError(
                f"the message {name!r} in {where} is not sent to actor {actor}; its destinations "
                f"are {list(named[name][1])}"
            )
    return frozenset(named[name][0] for name in names)


@frozen
class _Progress:
    """Position in a reaction workload.

    Attributes:
        awaited: (sender, number) of the delivered messages that a later send names. Other
            deliveries are forgotten.
    """

    sent: int
    awaited: frozenset[tuple[int, int]]


def reaction(actors: int, sends: Sequence[Mapping[str, Any]]) -> Workload:
    """Return the workload of sends that wait for deliveries; an actor's sends keep their order.

    Each entry of `sends` has `name`, `from`, `to` (a list) and, optionally, `label`, and `after`:
    the names of the messages that must have been delivered at `from` before.

    Raises:
        InputError: an entry is unusable; names the entry and the requirement.
    """
    parsed = [_parse_send(actors, entry) for entry in sends]
    plan = [[send for send in parsed if send.src == actor] for actor in range(actors)]
    named = _by_name(plan, "the reaction workload")
    needs = [
        [_awaited(named, s.after, s.src, f"'after' of {s.name!r}") for s in row] for row in plan
    ]

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
        row=lambda actor: tuple(send.destinations for send in plan[actor]),
        chooses=False,
        after_send=after_send,
        after_delivery=after_delivery,
        ended=lambda actor, position: position.sent == len(plan[actor]),
        symmetric=False,
        self_sends=False,
        reacts=True,
        fan_out=max((len(s.destinations) for s in parsed), default=1),
        sends=tuple(tuple(send.name for send in row) for row in plan),
        labels=_labels(plan),
    )


def _labels(plan: Sequence[Sequence[_Send | _Statement]]) -> dict[tuple[int, int], Label]:
    """Return the labels of messages, by sender and number; each row has the sends of an actor."""
    return {
        (actor, number): send.label
        for actor, row in enumerate(plan)
        for number, send in enumerate(row, 1)
        if send.label is not None
    }


def _entry(send: _Send) -> dict[str, Any]:
    entry: dict[str, Any] = {"name": send.name, "from": send.src, "to": list(send.destinations)}
    if send.after:
        entry["after"] = list(send.after)
    if send.label is not None:
        entry["label"] = send.label
    return entry


def _parse_send(actors: int, entry: Mapping[str, Any]) -> _Send:
    if not isinstance(entry, Mapping):
        raise InputError(f"a send of the reaction workload is a table, not {entry!r}")
    for key in entry:
        check_known("key in a send of the reaction workload", key, _SEND_KEYS)
    for key in ("name", "from", "to"):
        if key not in entry:
            raise InputError(f"the send {dict(entry)!r} of the reaction workload lacks {key!r}")
    src, to, after = entry["from"], entry["to"], entry.get("after", [])
    if not isinstance(src, int) or not 0 <= src < actors:
        raise InputError(f"'from' is {src!r}; give an actor from 0 to {actors - 1}")
    destinations = _parse_destinations(actors, src, to)
    if not isinstance(after, list):
        raise InputError(f"'after' is {after!r}; give a list of message names")
    label = checked_label(entry["label"]) if "label" in entry else None
    return _Send(str(entry["name"]), src, destinations, tuple(map(str, after)), label)


def _parse_destinations(actors: int, src: int, to: Any) -> Destinations:
    if not isinstance(to, list) or not to or len(set(map(str, to))) != len(to):
        raise InputError(f"'to' is {to!r}; give a list of one or more different actors")
    for target in to:
        check_destination(actors, src, target)
    return tuple(to)


_SEND_KEYS = ("name", "from", "to", "after", "label")


@frozen
class _Statement:
    """One statement of a program: a send of `name`, or a receive of one of `accepts`, if named."""

    name: str | None = None
    destinations: Destinations = ()
    accepts: tuple[str, ...] | None = None
    label: Label | None = None


@frozen
class _At:
    """Position in a program.

    Attributes:
        sent: the number of messages causal-sent.
        taken: the number of receives that have their message, in order.
        blocked: whether the next receive does not accept the message that was delivered for it.
    """

    sent: int = 0
    taken: int = 0
    blocked: bool = False


def program(actors: int, programs: Sequence[Sequence[Mapping[str, Any]]]) -> Workload:
    """Return the workload of one program per actor: its sends and receives, in order.

    A receive takes the oldest message from the actor's inbox, and waits until there is one. If it
    does not accept that message, it waits forever. So the n-th receive takes the n-th delivered
    message, although the program may execute it later. A send does not block.

    Raises:
        InputError: not one program per actor, or a statement that cannot be used.
    """
    if len(programs) != actors:
        raise InputError(
            f"give one program per actor: {actors} actors, {counted(len(programs), 'program')}"
        )
    plan = [
        [_parse_statement(actors, actor, entry) for entry in entries]
        for actor, entries in enumerate(programs)
    ]
    sends = [[s for s in row if s.name is not None] for row in plan]
    requests = _requests(plan, _by_name(sends, "the programs"))

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
        row=lambda actor: tuple(send.destinations for send in sends[actor]),
        chooses=False,
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
        sends=tuple(tuple(str(send.name) for send in row) for row in sends),
        labels=_labels(sends),
    )


def _requests(
    plan: Sequence[Sequence[_Statement]], named: _Named
) -> tuple[tuple[Request, ...], ...]:
    """Return each actor's receives, in order, with the messages that they name looked up."""
    requests = []
    for actor, row in enumerate(plan):
        sent, receives = 0, []
        for statement in row:
            if statement.name is not None:
                sent += 1
                continue
            names, where = statement.accepts, f"a receive of actor {actor}"
            accepts = None if names is None else _awaited(named, names, actor, where)
            receives.append(Request(sent, accepts))
        requests.append(tuple(receives))
    return tuple(requests)


def _parse_statement(actors: int, actor: int, entry: Mapping[str, Any]) -> _Statement:
    if not isinstance(entry, Mapping):
        raise InputError(f"a statement of a program is a table, not {entry!r}")
    for key in entry:
        check_known("key in a statement of a program", key, _STATEMENT_KEYS)
    sends, receives = "send" in entry, "receive" in entry
    if sends == receives or sends != ("to" in entry) or (receives and "label" in entry):
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
    label = checked_label(entry["label"]) if "label" in entry else None
    return _Statement(name, _parse_destinations(actors, actor, entry["to"]), label=label)


_STATEMENT_KEYS = ("send", "to", "label", "receive")


ANY_MESSAGE = "any"
"""The keyword of a receive that accepts every message."""


def _statement_entry(statement: _Statement) -> dict[str, Any]:
    if statement.name is not None:
        entry: dict[str, Any] = {"send": statement.name, "to": list(statement.destinations)}
        return entry if statement.label is None else {**entry, "label": statement.label}
    if statement.accepts is None:
        return {"receive": ANY_MESSAGE}
    names = list(statement.accepts)
    return {"receive": names[0] if len(names) == 1 else names}
