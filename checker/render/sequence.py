"""Sequence diagrams, independent of their language.

Their arrows are horizontal. An arrow stands at the reception of its packet, and the notes name the
step of the network-send. The step numbers increase down the page, so overtaking is visible.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TypeAlias

from attrs import frozen

from antecede.checker.model import Lose, Message, Receive
from antecede.checker.paths.flights import Flight, flights_of
from antecede.checker.paths.path import Path, PathStep
from antecede.checker.paths.violation import wrong_order
from antecede.checker.render.about import explanation_of
from antecede.checker.render.prose import Remarks, Wording, failing, waiting
from antecede.checker.semantics.values import contains


@frozen
class Note:
    """An event at one actor or, with actor None, a remark on the whole run."""

    actor: int | None
    text: str
    wrong: bool = False


@frozen
class Turn:
    """The begin, or the end (without text), of the steps that repeat for ever."""

    text: str
    wrong: bool = False


@frozen
class Arrow:
    """A packet that is received or lost."""

    src: int
    dst: int
    text: str
    control: bool = False
    lost: bool = False
    wrong: bool = False


Line: TypeAlias = Note | Arrow | Turn


def lines_of(path: Path) -> Iterator[Line]:
    """Return the lines of a sequence diagram of `path`, in order."""
    words, explanation, flights = Wording.of(path), explanation_of(path), flights_of(path)
    pair = _pair(path)
    for step in path.steps:
        if path.loop is not None and step.number == path.loop.after + 1:
            yield Turn("for ever")
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
) -> Arrow:
    lost = isinstance(step.transition, Lose)
    wrong = (
        pair is not None
        and flight.dst == pair[0]
        and any(contains(flight.packet, message) for message in pair[1])
    )
    text = f"{step.number}. {words.value(flight.packet)}{' is lost' if lost else ''}"
    return Arrow(flight.src, flight.dst, text, flight.control, lost, wrong)


def _note(words: Wording, step: PathStep, remarks: Remarks) -> Note | None:
    """Return a note on the effects of a step other than a reception or a loss, or None."""
    said = words.step(step, remarks)
    wrong = any((step.number, d.message) in remarks for d in step.deliveries)
    if not isinstance(step.transition, Receive | Lose):
        return Note(step.actor, f"{step.number}. {said}", wrong)
    happened = words.transition(step.transition, None)
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
