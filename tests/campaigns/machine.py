"""Protocols of random rules, correct or not. The file is self-contained, to accompany bug reports.

A machine has a few modes. In each mode an event (a causal-send, a message received, a note
received) has a list of rules. The first rule whose guard is true determines the operations and the
next mode. Every state space is finite: a held message is handed on once, a message is relayed once,
and any other send costs a credit.

These are not meant to be good protocols. The rules treat actors by their order (`by-receiver`), by
their names (`is-first`) or rarely (`last-credit`). They send packets that are equal but not
identical, and keep values that Python confuses with each other.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from attrs import Factory, define, evolve, frozen

from antecede.checker.model import Message, Protocol, Step

GUARDS = (
    *("always", "has-held", "has-two-held", "has-credit", "last-credit", "second-message"),
    *("is-first", "is-last", "from-below", "to-above", "new", "marked"),
)
SEND_OPERATIONS = (
    *("send", "send-high-first", "hold", "drop", "bundle", "send-by-way", "send-to-least"),
    *("flush", "flush-by-receiver", "flush-newest-first", "ask", "ask-all", "again", "mark"),
)
RECEIVE_OPERATIONS = (
    *("deliver", "hold", "drop", "deliver-held", "deliver-held-by-sender", "deliver-newest"),
    *("answer", "answer-least", "echo", "again", "flush", "flush-by-receiver", "mark", "count"),
    "answer-twin",
)
NOTE_OPERATIONS = (
    *("flush", "flush-by-receiver", "flush-one", "deliver-held", "deliver-newest", "answer"),
    *("mark", "count", "nothing"),
)
OPERATIONS = (SEND_OPERATIONS, RECEIVE_OPERATIONS, NOTE_OPERATIONS)
MARKS = (0, 1, "1", (1,), frozenset({1}), frozenset({(1, 2)}), None, "ü")
"""The values that `mark` writes; no two of them are equal."""


class Ack(NamedTuple):
    """A note."""

    number: int = 0


class Nack(NamedTuple):
    """Another note."""

    number: int = 0
    kind: str = "nack"


class Twin(NamedTuple):
    """A third note; it equals an Ack of the same number and is not one, so it is refused."""

    number: int = 0


@frozen
class Data:
    """Messages; those whose destination is elsewhere are relayed."""

    messages: tuple[tuple[int, Message], ...]


@frozen
class Cell:
    """One actor's state."""

    me: int
    actors: int
    credit: int
    mode: int = 0
    held: tuple[tuple[int, Message], ...] = ()
    seen: frozenset[tuple[int, int]] = frozenset()
    mark: Any = 0
    unanswered: tuple[tuple[int, Message], ...] = ()


Rule = Sequence[Any]
"""(guard, operations, next mode)"""


@define
class Work:
    """One handler's call in progress."""

    cell: Cell
    src: int
    message: Message | None = None
    note: Any = None
    sends: list[tuple[int, Any]] = Factory(list)
    deliveries: list[Message] = Factory(list)

    @property
    def own(self) -> list[tuple[int, Message]]:
        """The held messages that still have to be sent, with their destinations."""
        return [(d, m) for d, m in self.cell.held if m.sender == self.cell.me != d]

    @property
    def others(self) -> list[Message]:
        """The held messages that still have to be delivered here."""
        return [m for d, m in self.cell.held if d == self.cell.me]

    def is_true(self, guard: str) -> bool:
        """Return whether a guard lets its rule do something."""
        cell, m = self.cell, self.message
        match guard:
            case "has-held":
                return bool(cell.held)
            case "has-two-held":
                return len(cell.held) > 1
            case "has-credit":
                return cell.credit > 0
            case "last-credit":
                return cell.credit == 1
            case "second-message":
                return m is not None and m.number == 2
            case "is-first":
                return cell.me == 0
            case "is-last":
                return cell.me == cell.actors - 1
            case "from-below":
                return self.src < cell.me
            case "to-above":
                return m is not None and max(m.destinations, default=0) > cell.me
            case "new":
                return m is not None and (m.sender, m.number) not in cell.seen
            case "marked":
                return bool(cell.mark)
        return True

    def pay(self) -> bool:
        """Spend a credit, if there is one."""
        if not self.cell.credit:
            return False
        self.cell = evolve(self.cell, credit=self.cell.credit - 1)
        return True

    def hold(self) -> None:
        """Keep the message, once per destination that it has here."""
        m = self.message
        if m is not None:
            mine = m.sender == self.cell.me
            new = [(d, m) for d in m.destinations if mine or d == self.cell.me]
            held = (*self.cell.held, *(e for e in new if e not in self.cell.held))
            self.cell = evolve(self.cell, held=held)

    def flush(self, pairs: list[tuple[int, Message]]) -> None:
        """Send held messages."""
        self.sends += [(d, Data(((d, m),))) for d, m in pairs]
        self.cell = evolve(self.cell, held=tuple(e for e in self.cell.held if e not in pairs))

    def release(self, messages: list[Message]) -> None:
        """Deliver held messages."""
        self.deliveries += messages
        gone = [(self.cell.me, m) for m in messages]
        self.cell = evolve(self.cell, held=tuple(e for e in self.cell.held if e not in gone))

    def direct(self, *, backwards: bool = False) -> None:
        """Send the message to each of its destinations."""
        if self.message is not None:
            pairs = [(d, Data(((d, self.message),))) for d in self.message.destinations]
            self.sends += reversed(pairs) if backwards else pairs

    def by_way_of(self, actor: int) -> None:
        """Send the message to another actor, which relays it."""
        if self.message is not None:
            pairs = tuple((d, self.message) for d in self.message.destinations)
            self.sends.append((actor, Data(pairs)))

    def tell(self, actors: Sequence[int], note: Any) -> None:
        """Send a note to each actor, if there is a credit for it."""
        if actors and self.pay():
            self.sends += [(d, note) for d in actors]

    def do(self, operation: str) -> None:
        """Carry out one operation."""
        cell = self.cell
        everybody = [d for d in range(cell.actors) if d != cell.me]
        newest = self.own[-1:] or self.own
        match operation:
            case "send":
                self.direct()
            case "send-high-first":
                self.direct(backwards=True)
            case "hold":
                self.hold()
            case "bundle":
                self.hold()
                for actor in sorted({d for d, _ in self.own})[:1]:
                    pairs = self.own
                    self.flush(pairs)
                    self.sends[-len(pairs) :] = [(actor, Data(tuple(pairs)))]
            case "send-by-way":
                self.by_way_of((cell.me + 1) % cell.actors)
            case "send-to-least":
                self.by_way_of(everybody[0])
            case "flush":
                self.flush(self.own)
            case "flush-by-receiver":
                self.flush(sorted(self.own, key=lambda e: (e[0], e[1].number)))
            case "flush-newest-first":
                self.flush(self.own[::-1])
            case "flush-one":
                self.flush(newest)
            case "ask" if self.message is not None:
                self.tell(list(self.message.destinations[:1]), Ack(cell.mode))
            case "ask-all":
                self.tell(everybody, Nack(cell.mode))
            case "answer" if self.src != cell.me:
                self.tell([self.src], Ack(cell.mode))
            case "answer-twin" if self.src != cell.me:
                self.tell([self.src], Twin(cell.mode))
            case "answer-least":
                self.tell(everybody[:1], Nack(cell.mode))
            case "echo" if self.src != cell.me and self.message is not None:
                self.tell([self.src], Ack(self.message.number))
            case "again" if self.message is not None and self.pay():
                if self.message.sender == cell.me:
                    self.direct()
                else:
                    self.deliveries.append(self.message)
            case "deliver" if self.message is not None:
                self.deliveries.append(self.message)
            case "deliver-held":
                self.release(self.others)
            case "deliver-held-by-sender":
                self.release(sorted(self.others, key=lambda m: (m.sender, m.number)))
            case "deliver-newest":
                self.release(self.others[-1:])
            case "mark":
                at = (cell.me + len(cell.held) + isinstance(self.note, Nack)) % len(MARKS)
                self.cell = evolve(cell, mark=MARKS[at])
            case "count":
                m = self.message
                key = (self.src, -1) if m is None else (m.sender, m.number)
                self.cell = evolve(cell, seen=cell.seen | {key})

    def follow(self, rules: Sequence[Rule]) -> None:
        """Carry out the first rule whose guard is true."""
        for guard, operations, mode in rules:
            if self.is_true(guard):
                for operation in operations:
                    self.do(operation)
                self.cell = evolve(self.cell, mode=mode)
                return

    def step(self) -> Step:
        """Return the result of the call."""
        return Step(self.cell, tuple(self.sends), tuple(self.deliveries))


def machine(modes: Sequence[Sequence[Sequence[Rule]]], credit: int, resends: bool) -> Protocol:
    """Return the protocol of some rules.

    Args:
        modes: for each mode the rules of causal-sends, of messages and of notes.
        credit: the number of credits of an actor in a run.
        resends: whether an actor sends its messages again until they are answered.
    """

    def causal_send(cell: Cell, message: Message) -> Step:
        work = Work(cell, cell.me, message)
        work.follow(modes[cell.mode][0])
        if resends and message.destinations:
            mine = (message.destinations[0], message)
            work.cell = evolve(work.cell, unanswered=(*work.cell.unanswered, mine))
        return work.step()

    def receive(cell: Cell, src: int, packet: Any) -> Step:
        if not isinstance(packet, Data):
            work = Work(cell, src, note=packet)
            work.follow(modes[cell.mode][2])
            if isinstance(packet, Ack):
                left = tuple(e for e in work.cell.unanswered if e[0] != src)
                work.cell = evolve(work.cell, unanswered=left)
            return work.step()
        work = Work(cell, src)
        work.sends += [(d, Data(((d, m),))) for d, m in packet.messages if d != cell.me]
        for d, m in packet.messages:
            if d == cell.me:
                work.message = m
                work.follow(modes[work.cell.mode][1])
        return work.step()

    def timeout(cell: Cell) -> Step | None:
        sends = tuple((d, Data(((d, m),))) for d, m in cell.unanswered[:1])
        return Step(cell, sends) if sends else None

    return Protocol(
        name="machine",
        summary="drawn rules",
        source="a campaign of random systems",
        initial=lambda actor, actors: Cell(actor, actors, credit),
        causal_send=causal_send,
        receive=receive,
        timeout=timeout if resends else None,
        invariants={"holds-at-most-one": lambda cell: len(cell.held) < 2},
        joint_invariants={"hold-at-most-two": lambda cells: sum(len(c.held) for c in cells) < 3},
        witnesses={"marked": lambda cell: bool(cell.mark)},
        joint_witnesses={"all-hold": lambda cells: all(cell.held for cell in cells)},
    )


def losing(protocol: Protocol, labels: str) -> Protocol:
    """Return a protocol that delivers no message with the label `lose`."""
    if "lose" not in labels:
        return protocol

    def kept(step: Step) -> Step:
        return evolve(step, deliveries=tuple(m for m in step.deliveries if m.label != "lose"))

    def receive(state: Any, src: int, packet: Any) -> Step:
        return kept(protocol.receive(state, src, packet))

    def causal_send(state: Any, message: Message) -> Step:
        return kept(protocol.causal_send(state, message))

    return evolve(protocol, receive=receive, causal_send=causal_send)


def restarting(protocol: Protocol, how: str) -> Protocol:
    """Return a protocol whose actors recover from crashes; none of them does if `how` is empty.

    Args:
        protocol: the protocol.
        how: `keeps` if an actor has its whole state on the disk, `resends` if it also sends again
            what it holds, or `forgets` if it has nothing.
    """
    if not how:
        return protocol
    forgets = how == "forgets"

    def recover(actor: int, actors: int, durable: Any) -> Step:
        held = getattr(durable, "held", ()) if how == "resends" else ()
        again = tuple((d, Data(((d, m),))) for d, m in held if d != actor)
        return Step(protocol.initial(actor, actors) if forgets else durable, again)

    return evolve(protocol, durable=lambda state: None if forgets else state, recover=recover)
