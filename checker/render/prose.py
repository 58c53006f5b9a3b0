"""Wording of actors, messages, packets, states and transitions, shared by all output."""

from __future__ import annotations

import unicodedata
from collections import Counter
from collections.abc import Mapping, Sequence
from enum import Enum
from itertools import groupby
from types import MappingProxyType
from typing import Any, TypeAlias

from attrs import field, frozen

from antecede.checker.model import (
    Arm,
    CausalSend,
    Internal,
    Lose,
    Message,
    Packet,
    Receive,
    Timeout,
    Transition,
)
from antecede.checker.paths.path import Path, PathStep
from antecede.checker.semantics.crashes import CRASH, RECOVER, Crashed, cut_of
from antecede.checker.semantics.failing import Raised, failure_in, is_declared
from antecede.checker.semantics.judge import pending
from antecede.checker.semantics.names import Names
from antecede.checker.semantics.transition import System
from antecede.checker.semantics.values import (
    contains,
    field_names,
    message_in,
    shown,
    stands_for_another,
)
from antecede.checker.support.amounts import counted, quoted

Remarks: TypeAlias = Mapping[tuple[int, Message], str]
"""(step number, message) -> the fault of its delivery, in two words."""

_HIDDEN = ("Cc", "Cf", "Cs", "Zl", "Zp")
"""Unicode categories of invisible characters with an effect."""

LABEL = 20
"""The longest label of a packet that has no class name, in characters."""


def printable(text: str) -> str:
    """Return untrusted text on one line, with control characters escaped."""
    if text.isascii() and text.isprintable():
        return text
    return "".join(repr(c)[1:-1] if unicodedata.category(c) in _HIDDEN else c for c in text)


def listed(words: Sequence[str]) -> str:
    """Return `words` as an enumeration: a, b and c."""
    *most, last = words
    return f"{', '.join(most)} and {last}" if most else last


def fields_of(local: Any) -> dict[str, Any]:
    """Return the fields of an actor's state; a state without fields is one field, `state`."""
    local = shown(local)
    names = None if isinstance(local, Raised) else field_names(local)
    return {"state": local} if names is None else {name: getattr(local, name) for name in names}


def aligned(rows: Sequence[Sequence[str]], side: str = "<") -> str:
    """Return rows of cells as lines with columns aligned to one `side` ("<" or ">")."""
    wides = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return "\n".join(
        "  ".join(f"{cell:{side}{wide}}" for cell, wide in zip(row, wides, strict=True)).rstrip()
        for row in rows
    )


@frozen
class Wording:
    """The words for one path, or with `Wording.about` for a system.

    Attributes:
        names: the names of the messages that were causal-sent: from the spec or its workload, or
            m1, m2, … in the order of their causal-sends.
        given: the names of actors, and of messages if the spec has them.
        sent: whether `names` has all messages that were causal-sent.
        loses: whether packets to a crashed actor are lost.
    """

    names: Mapping[Message, str]
    given: Names = field(factory=Names)
    sent: bool = True
    loses: bool = False

    @classmethod
    def of(cls, path: Path) -> Wording:
        """Return the wording for `path`."""
        given = path.system.names
        named = {
            message: (given.message(message.sender, message.number) or f"m{at}")
            + ("" if message.label is None else f" ({message.label})")
            for at, message in enumerate(path.messages, 1)
        }
        return cls(named, given, loses=_loses(path.system))

    @classmethod
    def about(cls, system: System) -> Wording:
        """Return the wording for a system, with the messages that its spec or workload names."""
        return cls({}, system.names, sent=False, loses=_loses(system))

    def actor(self, actor: int) -> str:
        """Return the name of an actor in text; files use its index."""
        return self.given.actor(actor)

    def message(self, message: Message) -> str:
        """Return a message's name, or a description if it was never causal-sent."""
        name = self.names.get(message)
        if name is None and not self.sent:
            name = self.given.message(message.sender, message.number)
        if name is not None:
            return printable(name)
        sender = message.sender
        who = self.actor(sender) if isinstance(sender, int) else repr(sender)
        return f"message {message.number} of {who}"

    def said(self, message: Message) -> str:
        """Return a message's name as a word of a sentence: in quotes if somebody chose it."""
        name = self.message(message)
        chosen = self.given.message(message.sender, message.number)
        return name if chosen is None else quoted(name)

    def value(self, value: Any) -> str:
        """Return a packet or a state in readable form."""
        if isinstance(value, Raised):
            return "failed"
        if isinstance(value, Crashed) and value.durable is None:
            return "Crashed"
        value = shown(value)
        if isinstance(value, Message):
            return self.message(value)
        if isinstance(value, Enum):
            return printable(value.name)
        if (names := field_names(value)) is not None:
            fields = ", ".join(self._field(name, value) for name in names)
            return printable(type(value).__name__) + (f"({fields})" if fields else "")
        if isinstance(value, tuple) and value and all(isinstance(part, bool) for part in value):
            return "[" + " ".join("1" if part else "0" for part in value) + "]"
        if isinstance(value, tuple):
            return "(" + ", ".join(map(self.value, value)) + ")"
        if isinstance(value, (frozenset, set)):
            return "{" + ", ".join(sorted(map(self.value, value))) + "}"
        if isinstance(value, Mapping):
            items = sorted((self.value(k), self.value(v)) for k, v in value.items())
            return "{" + ", ".join(f"{k}: {v}" for k, v in items) + "}"
        return printable(repr(value))

    def _field(self, name: str, owner: Any) -> str:
        value = getattr(owner, name)
        text = self.value(value)
        return text if isinstance(value, Message) else f"{name}={text}"

    def transition(self, transition: Transition, message: Message | None) -> str:
        """Return the trigger of a transition in words, and a crash in its middle."""
        parts = [self.trigger(transition, message), *self.crash(transition)]
        return ", and ".join(parts)

    def trigger(
        self, transition: Transition, message: Message | None, *, brief: bool = False
    ) -> str:
        """Return the trigger of a transition in words; `message` is the message causal-sent.

        A `brief` text has the packet's class and message only.
        """
        if isinstance(transition, CausalSend):
            assert message is not None
            to = listed([self.actor(d) for d in transition.destinations])
            return f"{self.actor(transition.actor)} sends {self.said(message)} to {to}"
        if isinstance(transition, Arm):
            return f"{self.actor(transition.actor)} decides to send"
        if isinstance(transition, Timeout):
            return f"{self.actor(transition.actor)} times out"
        if isinstance(transition, Internal):
            return f"{self.actor(transition.actor)} {self.acts(transition)}"
        packet = self.label(transition.packet) if brief else self.value(transition.packet)
        src = self.actor(transition.src)
        if isinstance(transition, Lose):
            return f"{packet} from {src} to {self.actor(transition.dst)} is lost"
        stays = " (and it stays in flight)" if transition.stays and not brief else ""
        return f"{self.actor(transition.dst)} receives {packet} from {src}{stays}"

    def acts(self, transition: Internal) -> str:
        """Return a predicate for what an actor does by itself."""
        usual = {CRASH: f"crashes{self._lost(transition.actor)}", RECOVER: "recovers"}
        return usual.get(transition.name) or f"takes the action {printable(transition.name)}"

    def _lost(self, crashed: int) -> str:
        return f"; packets to {self.actor(crashed)} are lost" if self.loses else ""

    def crash(self, transition: Transition, *, brief: bool = False) -> list[str]:
        """Return a predicate for a crash in the middle of a transition; empty without one.

        A `brief` text leaves out the packets that have left, because a diagram shows them.
        """
        if isinstance(transition, Arm | Lose) or transition.cut is None:
            return []
        actor = transition.dst if isinstance(transition, Receive) else transition.actor
        numbers = Counter(transition.cut)
        packets = [
            f"{counted(number, 'packet')} to {self.actor(to)}" for to, number in numbers.items()
        ]
        if all(number == 1 for number in numbers.values()) and numbers:
            what = "the packets" if len(numbers) > 1 else "the packet"
            packets = [f"{what} to {listed([self.actor(to) for to in numbers])}"]
        when = f"after {listed(packets)}" if packets else "before any packet leaves"
        if brief and packets:
            when = "midway"
        return [f"crashes {when}{self._lost(actor)}"]

    def step(self, step: PathStep, remarks: Remarks = MappingProxyType({})) -> str:
        """Return a transition and its effects in words; `remarks` has its wrong deliveries."""
        parts = [self.trigger(step.transition, step.message)]
        parts += self.deliveries(step, remarks)
        parts += self._sends(step)
        parts += (f"and {crash}" for crash in self.crash(step.transition))
        held = waiting(step)
        wait = f"; {self.said(held)} has to wait" if held is not None else ""
        return ", ".join(parts) + (f", and {failed} fails" if (failed := failing(step)) else wait)

    def deliveries(self, step: PathStep, remarks: Remarks) -> list[str]:
        """Return the deliveries in words, with their faults."""
        parts = []
        for delivery in step.deliveries:
            remark = remarks.get((step.number, delivery.message))
            wrong = f" ({remark})" if remark else ""
            parts.append(f"delivers {self.said(delivery.message)}{wrong}")
        return list(dict.fromkeys(parts))

    def _sends(self, step: PathStep) -> list[str]:
        """Return the network-sends, without what the text of a causal-send says of them."""
        said, message = getattr(step.transition, "destinations", ()), step.message
        parts = []
        for packet, group in groupby(step.step.sends, key=lambda send: send[1]):
            to = tuple(destination for destination, _ in group)
            if packet == message and to == said:
                continue
            where = "" if to == said else f" to {listed([self.actor(d) for d in to])}"
            carries = message is not None and contains(packet, message)
            parts.append(f"{'as' if carries else 'sends'} {self.value(packet)}{where}")
        return parts

    def label(self, packet: Packet) -> str:
        """Return a short label of a packet: its class and its message, without other fields."""
        message = message_in(packet)
        inner = "" if message is None else self.message(message)
        if stands_for_another(packet) and inner:
            return f"Packet({inner})"
        if field_names(shown(packet)) is not None and packet is not message:
            return type(packet).__name__ + (f"({inner})" if inner else "")
        text = self.value(packet)
        return text if len(text) <= LABEL else text[: LABEL - 1] + "…"


def _loses(system: System) -> bool:
    """Return whether packets to a crashed actor are lost."""
    return system.crashes is not None and system.crashes.lost


def failing(step: PathStep) -> str:
    """Return what failed in this step: the protocol, or a property; empty if nothing did."""
    return failed_part(failure_in((step.state.actors[step.actor],)))


def failed_part(failure: Raised | None) -> str:
    """Return the part of the question that failed, as the subject of a sentence."""
    if failure is None:
        return ""
    return f"the property {printable(failure.prop)}" if failure.prop else "the protocol"


def property_of(path: Path) -> str | None:
    """Return the property that a run violates.

    If a predicate that the protocol does not declare fails, this is its property, which a replay
    then asks for. A replay finds all other predicates that may fail in the protocol.
    """
    prop = "" if path.failure is None else path.failure.prop
    return prop if prop and not is_declared(prop) else path.violates


def waiting(step: PathStep) -> Message | None:
    """Return the message that the step holds back, or None.

    After a causal-send, the message was not network-sent. After a reception, it was not delivered.
    In both cases it is in the actor's state. A message that is in no state does not wait, and an
    actor that crashes in the step holds nothing back.
    """
    held = None if failing(step) or cut_of(step.transition) is not None else _not_passed_on(step)
    kept = held is not None and contains(shown(step.state.actors[step.actor]), held)
    return held if kept else None


def _not_passed_on(step: PathStep) -> Message | None:
    """Return the message that the step neither sends nor delivers, or None."""
    if isinstance(step.transition, CausalSend):
        message = step.message
        assert message is not None
        moved = any(contains(packet, message) for _, packet in step.step.sends)
        return None if moved or not pending(step.state, message) else message
    if isinstance(step.transition, Receive):
        held = message_in(step.transition.packet)
        if held is not None and step.actor in pending(step.state, held):
            return held
    return None


def loop_text(path: Path) -> str:
    """Return a sentence on the steps that repeat forever; empty if none do."""
    if path.loop is None or not path.repeats:
        return ""
    first, last = path.loop.after + 1, path.length
    if first == last:
        return f"Step {first} repeats forever"
    return f"Steps {first} to {last} repeat forever"


def bracket(inside: Sequence[bool]) -> list[tuple[str, str]]:
    """Return per line the character of a bracket around the lines inside, and the one below it."""
    signs = []
    for at, here in enumerate(inside):
        before = at > 0 and inside[at - 1]
        after = at + 1 < len(inside) and inside[at + 1]
        sign = "│" if before and after else "┌" if after else "└" if before else "↻"
        signs.append((sign if here else " ", "│" if here and after else " "))
    return signs


def length_text(path: Path) -> str:
    """Return the length of a path in words."""
    stem = path.loop.after if path.loop is not None else path.length
    text = counted(stem, "transition")
    return f"{text}, then {path.length - stem} forever" if path.repeats else text
