"""Hypothesis strategies for small systems whose protocol is a random table, right or wrong.

A table maps (control state, event) to (control state, action). Whatever is drawn, the state space
is finite and small: a message is network-sent at most twice by its sender and forwarded at most
once, a message held back is let go at most once, and every other packet or copy costs a credit, of
which an actor has at most two for the whole run.
"""

from __future__ import annotations

import json
from typing import Any, TypeAlias

from attrs import evolve, frozen
from hypothesis import strategies as st

from antecede.checker.model import Message, Packet, Protocol, Step
from antecede.checker.semantics.history import CLOCK_AT

Sends: TypeAlias = tuple[tuple[int, Packet], ...]
Table: TypeAlias = tuple[tuple[tuple[int, str], ...], ...]

ACTIONS = (
    (
        *("send", "hold", "send-twice", "send-held-first", "send-held-after", "ask", "relay"),
        *("drop", "send-held-by-receiver", "send-batch", "first-actor-holds"),
    ),
    (
        *("deliver", "acknowledge", "hold", "held-first", "held-after", "deliver-twice", "drop"),
        *("held-by-sender", "first-actor-drops"),
    ),
    ("ignore", "release", "release-newest", "release-by-receiver", "reply"),
)
"""What a table may say about a causal-send, about a message received and about a note received.

Some treat actors differently: by their order (`by-receiver`, `by-sender`) or by their identity
(`first-actor`), and maybe only in a control state that is rarely reached. Symmetry must notice."""


@frozen
class Cell:
    """The local state of a table protocol."""

    actor: int
    actors: int
    credit: int
    control: int = 0
    held: tuple[Message, ...] = ()


@frozen
class Data:
    """A message; relayed if it still has to be forwarded to its destination."""

    message: Message
    relayed_to: int | None = None


@frozen
class Batch:
    """Several messages of one sender, in the order of their receivers; its receiver forwards."""

    messages: tuple[Message, ...]


@frozen
class Note:
    """Control data alone."""


def table_protocol(table: Table, credit: int) -> Protocol:
    """Return the protocol that does what `table` says."""

    def look_up(cell: Cell, event: int) -> tuple[Cell, str]:
        control, action = table[cell.control][event]
        return evolve(cell, control=control), action

    def causal_send(cell: Cell, message: Message) -> Step:
        cell, action = look_up(cell, 0)
        return _on_causal_send(cell, action, message)

    def receive(cell: Cell, src: int, packet: Packet) -> Step:
        if isinstance(packet, Note):
            cell, action = look_up(cell, 2)
            return _on_note(cell, action, src)
        if isinstance(packet, Batch):
            own = tuple(m for m in packet.messages if cell.actor in m.destinations)
            others = tuple(m for m in packet.messages if cell.actor not in m.destinations)
            return Step(cell, sends=_data(others), deliveries=own)
        if packet.relayed_to is not None:
            return Step(cell, sends=((packet.relayed_to, Data(packet.message)),))
        cell, action = look_up(cell, 1)
        return _on_message(cell, action, src, packet.message)

    return Protocol(
        name="random-table",
        summary="a random table",
        source="tests",
        initial=lambda actor, actors: Cell(actor, actors, credit),
        causal_send=causal_send,
        receive=receive,
    )


def _on_causal_send(cell: Cell, action: str, message: Message) -> Step:
    paid = evolve(cell, credit=max(cell.credit - 1, 0))
    own, rest = _own_held(cell)
    if action == "hold" or (action == "first-actor-holds" and cell.actor == 0):
        return Step(evolve(cell, held=(*cell.held, message)))
    if action == "drop":
        return Step(cell)
    if action == "send-held-by-receiver":
        return Step(rest, sends=_data(_by_receiver((*own, message))))
    if action == "send-batch":
        batch = Batch(_by_receiver((*own, message)))
        return Step(rest, sends=tuple((d, batch) for d in message.destinations[:1]))
    if action == "send-held-first":
        return Step(rest, sends=(*_data(own), *_data((message,))))
    if action == "send-held-after":
        return Step(rest, sends=(*_data((message,)), *_data(own)))
    if action == "send-twice" and cell.credit:
        return Step(paid, sends=_data((message, message)))
    if action == "ask" and cell.credit:
        return Step(
            evolve(paid, held=(*cell.held, message)),
            sends=tuple((d, Note()) for d in message.destinations[:1]),
        )
    if action == "relay":
        return Step(
            cell,
            sends=tuple(((d + 1) % cell.actors, Data(message, d)) for d in message.destinations),
        )
    return Step(cell, sends=_data((message,)))


def _on_message(cell: Cell, action: str, src: int, message: Message) -> Step:
    others = tuple(m for m in cell.held if m.sender != cell.actor)
    rest = evolve(cell, held=tuple(m for m in cell.held if m.sender == cell.actor))
    if action == "hold":
        return Step(evolve(cell, held=(*cell.held, message)))
    if action == "drop" or (action == "first-actor-drops" and cell.actor == 0):
        return Step(cell)
    if action == "held-by-sender":
        by_sender = sorted((*others, message), key=lambda m: (m.sender, m.number))
        return Step(rest, deliveries=tuple(by_sender))
    if action == "held-first":
        return Step(rest, deliveries=(*others, message))
    if action == "held-after":
        return Step(rest, deliveries=(message, *others))
    if action == "deliver-twice":
        return Step(cell, deliveries=(message, message))
    if action == "acknowledge" and cell.credit:
        paid = evolve(cell, credit=cell.credit - 1)
        return Step(paid, sends=((src, Note()),), deliveries=(message,))
    return Step(cell, deliveries=(message,))


def _on_note(cell: Cell, action: str, src: int) -> Step:
    if action in ("release", "release-by-receiver"):
        own, _ = _own_held(cell)
        if action == "release-by-receiver":
            own = _by_receiver(own)
        others = tuple(m for m in cell.held if m.sender != cell.actor)
        return Step(evolve(cell, held=()), sends=_data(own), deliveries=others)
    if action == "release-newest" and cell.held:
        *held, newest = cell.held
        after = evolve(cell, held=tuple(held))
        if newest.sender == cell.actor:
            return Step(after, sends=_data((newest,)))
        return Step(after, deliveries=(newest,))
    if action == "reply" and cell.credit:
        return Step(evolve(cell, credit=cell.credit - 1), sends=((src, Note()),))
    return Step(cell)


def _own_held(cell: Cell) -> tuple[tuple[Message, ...], Cell]:
    own = tuple(m for m in cell.held if m.sender == cell.actor)
    return own, evolve(cell, held=tuple(m for m in cell.held if m.sender != cell.actor))


def _by_receiver(messages: tuple[Message, ...]) -> tuple[Message, ...]:
    return tuple(sorted(messages, key=lambda m: m.destinations))


def _data(messages: tuple[Message, ...]) -> Sends:
    return tuple((d, Data(m)) for m in messages for d in m.destinations)


@frozen
class RandomSystem:
    """A random system; equal draws are equal systems."""

    table: Table
    credit: int
    actors: int
    messages: int
    workload: str
    network: str
    clock_at: str

    @property
    def protocol(self) -> Protocol:
        """The table as a protocol."""
        return table_protocol(self.table, self.credit)


@st.composite
def tables(draw: st.DrawFn) -> Table:
    """Draw a table of one to three control states."""
    size = draw(st.integers(1, 3))
    entry = [st.tuples(st.integers(0, size - 1), st.sampled_from(actions)) for actions in ACTIONS]
    return draw(st.tuples(*[st.tuples(*entry)] * size))


@st.composite
def scripts(draw: st.DrawFn, actors: int, most: int) -> str:
    """Draw a script of at most `most` messages in all."""
    rows: list[list[int]] = [[] for _ in range(actors)]
    for _ in range(draw(st.integers(1, most))):
        src, dst = draw(_channel(actors))
        rows[src].append(dst)
    return "script:" + json.dumps(rows)


@st.composite
def reactions(draw: st.DrawFn, actors: int, most: int) -> str:
    """Draw at most `most` sends, each awaiting some of the earlier ones that its sender gets."""
    sends: list[dict[str, Any]] = []
    for at in range(draw(st.integers(1, most))):
        src, dst = draw(_channel(actors))
        to = draw(st.sampled_from([[dst], [d for d in range(actors) if d != src]]))
        earlier = [send["name"] for send in sends if src in send["to"]]
        after = draw(st.lists(st.sampled_from(earlier), unique=True)) if earlier else []
        sends.append({"name": f"m{at}", "from": src, "to": to, "after": after})
    return "reaction:" + json.dumps(sends)


@st.composite
def programs(draw: st.DrawFn, actors: int, most: int, *, multicast: bool = True) -> str:
    """Draw at most `most` sends, and receives that accept any, one or some of the messages."""
    rows: list[list[dict[str, Any]]] = [[] for _ in range(actors)]
    names: list[list[str]] = [[] for _ in range(actors)]
    for at in range(draw(st.integers(1, most))):
        src, dst = draw(_channel(actors))
        others = [d for d in range(actors) if d != src]
        to = draw(st.sampled_from([[dst], others] if multicast else [[dst]]))
        rows[src].append({"send": f"m{at}", "to": to})
        for actor in to:
            names[actor].append(f"m{at}")
    for row, coming in zip(rows, names, strict=True):
        for _ in range(draw(st.integers(0, len(coming)))):
            some = st.lists(st.sampled_from(coming), unique=True, min_size=1)
            accepts = draw(st.one_of(st.just("any"), st.sampled_from(coming), some))
            row.insert(draw(st.integers(0, len(row))), {"receive": accepts})
    return "program:" + json.dumps(rows)


def _channel(actors: int) -> st.SearchStrategy[tuple[int, int]]:
    return st.sampled_from([(i, j) for i in range(actors) for j in range(actors) if i != j])


@st.composite
def random_systems(draw: st.DrawFn) -> RandomSystem:
    """Draw a system of two or three actors and at most four messages.

    A reaction's messages may go to all the others; broadcasts of all actors would be too many.
    """
    actors = draw(st.integers(2, 3))
    kind = draw(st.sampled_from(["any", "script", "reaction", "program"]))
    messages = draw(st.integers(1, 2)) if actors == 2 else 1
    workload = kind
    if kind == "script":
        workload = draw(scripts(actors, 4))
    if kind == "reaction":
        workload = draw(reactions(actors, 3))
    if kind == "program":
        workload = draw(programs(actors, 3))
    return RandomSystem(
        table=draw(tables()),
        credit=draw(st.integers(0, 2 if actors == 2 and messages == 1 else 1)),
        actors=actors,
        messages=messages,
        workload=workload,
        network=draw(st.sampled_from(["unordered", "fifo"])),
        clock_at=draw(st.sampled_from(list(CLOCK_AT))),
    )
