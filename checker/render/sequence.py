"""Sequence diagrams in two languages: Mermaid, which GitHub draws from text, and PlantUML.

Syntax: Mermaid documentation, Sequence diagrams; PlantUML language reference guide, chapters
Sequence Diagram and Creole. A name or payload may contain any character, so every character with a
meaning in a language is escaped: #35; in Mermaid, and <U+0023> in PlantUML.

The arrows are horizontal. An arrow stands at the reception of its packet, and the notes name the
step of the network-send. The step numbers increase down the page, so overtaking is visible.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import ClassVar, TypeAlias

from attrs import frozen

from antecede.checker.check.report import CheckReport
from antecede.checker.model import Lose, Message, Receive
from antecede.checker.paths.flights import Flight, flights_of
from antecede.checker.paths.path import Path, PathStep
from antecede.checker.paths.violation import wrong_order
from antecede.checker.render.about import about, explanation_of
from antecede.checker.render.markup import plain
from antecede.checker.render.pages import text_page
from antecede.checker.render.prose import Remarks, Wording, failing, waiting
from antecede.checker.semantics.values import contains


@frozen
class Note:
    """An event at one actor or, with actor None, a remark on the whole run."""

    kind: ClassVar[str] = "note"
    actor: int | None
    text: str
    wrong: bool = False


@frozen
class Turn:
    """The begin, or the end (without text), of the steps that repeat forever."""

    kind: ClassVar[str] = "turn"
    text: str
    wrong: bool = False


@frozen
class PacketArrow:
    """A packet that is received or lost."""

    kind: ClassVar[str] = "arrow"
    src: int
    dst: int
    text: str
    control: bool = False
    lost: bool = False
    wrong: bool = False


Line: TypeAlias = Note | PacketArrow | Turn


def lines_of(path: Path) -> Iterator[Line]:
    """Return the lines of a sequence diagram of `path`, in order."""
    words, explanation, flights = Wording.of(path), explanation_of(path), flights_of(path)
    pair = _pair(path)
    for step in path.steps:
        if path.loop is not None and step.number == path.loop.after + 1:
            yield Turn("forever")
        if isinstance(step.transition, Receive | Lose):
            yield _arrow(words, step, flights.met[step.number], pair)
        note = _note(words, step, explanation.remarks)
        if note is not None:
            yield note
    if path.repeats:
        yield Turn("")
    if flights.in_flight:
        yield Note(None, "Still in flight: " + ", ".join(_travels(words, flights.in_flight)))
    if explanation.text:
        yield Note(None, explanation.text, wrong=True)


def _pair(path: Path) -> tuple[int, tuple[Message, ...]] | None:
    """Return the actor that delivered two messages in the wrong order, and both messages."""
    pair = wrong_order(path)
    return None if pair is None else (pair.actor, (pair.first, pair.second))


def _arrow(
    words: Wording, step: PathStep, flight: Flight, pair: tuple[int, tuple[Message, ...]] | None
) -> PacketArrow:
    lost = isinstance(step.transition, Lose)
    wrong = (
        pair is not None
        and flight.dst == pair[0]
        and any(contains(flight.packet, message) for message in pair[1])
    )
    text = f"{step.number}. {words.value(flight.packet)}{' is lost' if lost else ''}"
    return PacketArrow(flight.src, flight.dst, text, flight.control, lost, wrong)


def _note(words: Wording, step: PathStep, remarks: Remarks) -> Note | None:
    """Return a note on the effects of a step other than a reception or a loss, or None."""
    said = words.step(step, remarks)
    wrong = any((step.number, d.message) in remarks for d in step.deliveries)
    if not isinstance(step.transition, Receive | Lose):
        return Note(step.actor, f"{step.number}. {said}", wrong)
    happened = words.trigger(step.transition, None)
    rest = said.removeprefix(happened).lstrip(",; ")
    if isinstance(step.transition, Lose) or not rest:
        return None
    if failing(step):
        return Note(step.actor, rest.removeprefix("and "), wrong=True)
    return Note(
        step.actor, f"{words.actor(step.actor)} {rest}" if not waiting(step) else rest, wrong
    )


def _travels(words: Wording, flights: tuple[Flight, ...]) -> Iterator[str]:
    for flight in flights:
        src, dst = words.actor(flight.src), words.actor(flight.dst)
        yield f"{words.value(flight.packet)} ({src} to {dst})"


# Languages. Their templates also mark the lines of a violation, whose notes describe it in words.

_UNSAFE_IN_MERMAID = re.compile(r"[^\w .,()=+'/\[\]…-]|--+")
_UNSAFE_IN_PLANTUML = re.compile(r"[^A-Za-z0-9 .,()=+'_-]|--+|__+|''+")


def mermaid(path: Path, report: CheckReport | None = None) -> str:
    """Return `path` as a Mermaid sequence diagram."""
    return _diagram("sequence.mmd", path, report, in_mermaid)


def plantuml(path: Path, report: CheckReport | None = None) -> str:
    """Return `path` as a PlantUML sequence diagram."""
    return _diagram("sequence.puml", path, report, in_plantuml)


def _diagram(
    template: str, path: Path, report: CheckReport | None, written: Callable[[str], str]
) -> str:
    """Return a diagram whose texts are `written` in its language."""
    actors = range(path.system.actors)
    return text_page(
        template,
        said=about(path, report),
        names=[path.system.names.actor(actor) for actor in actors],
        last=actors[-1],
        lines=list(lines_of(path)),
        written=written,
    )


def in_mermaid(said: str) -> str:
    """Return the text escaped for Mermaid."""
    return _escaped(said, _UNSAFE_IN_MERMAID, lambda character: f"#{ord(character)};")


def in_plantuml(said: str) -> str:
    """Return the text escaped for PlantUML."""
    return _escaped(said, _UNSAFE_IN_PLANTUML, lambda character: f"<U+{ord(character):04X}>")


def _escaped(said: str, unsafe: re.Pattern[str], written: Callable[[str], str]) -> str:
    return unsafe.sub(lambda found: "".join(map(written, found[0])), plain(said))
