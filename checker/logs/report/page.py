"""A violation as a page to step through its events, as for a counterexample of a check."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from antecede.checker.logs.events.event import DELIVER, MISSING, SEND
from antecede.checker.logs.judge.findings import KINDS, Finding
from antecede.checker.logs.report.diagram import flights, is_wrong, layout_of, note
from antecede.checker.render.about import About
from antecede.checker.render.explanation import Explanation
from antecede.checker.render.geometry import LONGEST_NOTE, cut
from antecede.checker.render.html import Carried, Cell, Shown, Table, stepping
from antecede.checker.render.prose import printable
from antecede.checker.render.svg import sheet


def html(finding: Finding, *, several: bool) -> str:
    """Return the page; with `several` logs, each line number also names its log."""
    layout = layout_of(finding, several=several)
    text = printable(finding.text)
    said = About(
        headline=printable(f"{finding.first} at {finding.actor}: {KINDS[finding.what][2]}"),
        violates=finding.kind,
        length=f"{len(finding.events)} events",
        explanation=Explanation(f"{text}."),
        question=printable(" → ".join(finding.chain)),
    )
    return stepping(
        said, layout, sheet(layout, text, inside=True), _steps(finding, several=several)
    )


def _steps(finding: Finding, *, several: bool) -> Iterator[Shown]:
    """Yield the start and each event, with the messages that actors sent, processed and know of."""
    actors = [*dict.fromkeys(event.actor for event in finding.events)]
    names = [cut(printable(actor)) for actor in actors]
    sent: dict[str, list[str]] = {actor: [] for actor in actors}
    processed: dict[str, list[str]] = {actor: [] for actor in actors}
    knows: dict[str, list[str]] = {actor: [] for actor in actors}
    causes: dict[str, list[str]] = {}
    was = _state(actors, sent, processed, knows)
    yield Shown(0, "At the start", "", _table(names, None, was, was), [])
    for number, event in enumerate(finding.events, 1):
        own = knows[event.actor]
        if event.kind == SEND:
            sent[event.actor].append(event.message)
            causes[event.message] = [*dict.fromkeys([*own, event.message])]
        elif event.kind == DELIVER:
            processed[event.actor].append(event.message)
        if event.kind != MISSING:
            told = causes.get(event.message, [event.message])
            own += [each for each in told if each not in own]
        now = _state(actors, sent, processed, knows)
        looks = "wrong" if is_wrong(finding, event) else ""
        words = note(finding, event, several)
        table = _table(names, actors.index(event.actor), was, now)
        yield Shown(number, words, looks, table, [*_in_flight(finding, number)])
        was = now


def _state(actors: Sequence[str], *parts: dict[str, list[str]]) -> list[list[str]]:
    """Return the values of the fields: sent, processed and known messages, for each actor."""
    return [[printable(", ".join(part[actor])) for actor in actors] for part in parts]


def _table(
    actors: list[str], acts: int | None, was: list[list[str]], now: list[list[str]]
) -> Table:
    fields = ("sent", "processed", "knows of")
    rows = {
        field: [Cell(*pair) for pair in zip(before, after, strict=True)]
        for field, before, after in zip(fields, was, now, strict=True)
    }
    return Table(actors, acts, rows)


def _in_flight(finding: Finding, number: int) -> Iterator[Carried]:
    """Yield the messages in flight after an event, compared with before it."""
    for start, end in flights(finding.events):
        event, other = finding.events[start], finding.events[end]
        at, met = start + 1, None if other.kind == MISSING else end + 1
        if at <= number and (met is None or number <= met):
            text = f"{event.actor} → {other.actor}: {event.message}"
            fate = "new" if at == number else "gone" if met == number else "same"
            yield cut(printable(text), LONGEST_NOTE), fate
