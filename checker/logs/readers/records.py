"""Events as records with named fields, of which a log has one JSON object per line."""

from __future__ import annotations

import contextlib
import json
import re
from collections import Counter
from collections.abc import Iterator, Mapping
from itertools import islice
from typing import Any

from attrs import evolve, frozen

from antecede.checker.logs.events.event import DELIVER, EVENTS, SEND, SYNONYMS, Event
from antecede.checker.logs.readers.sources import Source
from antecede.checker.logs.readers.torn import records
from antecede.checker.render.prose import printable
from antecede.checker.support.errors import InputError


@frozen
class Fields:
    """The names of fields and events in a log's records.

    Attributes:
        actor, event, message, to: the names of fields; a dot leads into an object.
        send, deliver: the words for causal-sends and deliveries, besides SYNONYMS. With antecede's
            own words, any other event is an error; with other words, other events are ignored.
    """

    actor: str = "actor"
    event: str = "event"
    message: str = "message"
    to: str = "to"
    send: str = SEND
    deliver: str = DELIVER

    @property
    def actors(self) -> tuple[str, ...]:
        """The attributes that name the actor of a span; none if the user names none."""
        return () if self.actor == "actor" else tuple(self.actor.split("+"))

    @property
    def sends(self) -> tuple[str, str]:
        """The words for a causal-send; they may be equal."""
        return self.send, SYNONYMS.get(self.send, self.send)

    @property
    def delivers(self) -> tuple[str, str]:
        """The words for a delivery; they may be equal."""
        return self.deliver, SYNONYMS.get(self.deliver, self.deliver)

    @property
    def foreign(self) -> bool:
        """The log uses its own words for events."""
        return (self.send, self.deliver) != EVENTS

    @property
    def used(self) -> tuple[str, str, str, str]:
        """The names of the fields of an event."""
        return self.actor, self.event, self.message, self.to

    @property
    def simple(self) -> bool:
        """No name leads into an object."""
        return not any("." in name for name in (self.actor, self.event, self.message, self.to))


NAMES = ("actor", "event", "message", "to", "send", "deliver")

WHAT_A_LINE_IS = (
    "a line is an object with actor, event and message (`jq -c` divides a document into lines; for "
    "other logs, see --log-format and --parser)"
)

_DECODER = json.JSONDecoder()

MOST_SHOWN = 12
"""The most fields that an error lists when a field is missing."""


def fields_from(text: str | None) -> Fields:
    """Return the fields that a list such as `actor=host,message=id,deliver=CONSUMED` defines.

    Raises:
        InputError: a part is not NAME=FIELD, or has an unknown name; the message says which part.
    """
    fields = Fields()
    for part in (text or "").split(",") if text else ():
        name, equals, value = (piece.strip() for piece in part.partition("="))
        if not equals or name not in NAMES or not value:
            raise InputError(
                f"--fields: {part.strip()!r} names no field; give NAME=FIELD, where NAME is one of "
                f"{', '.join(NAMES)}, such as actor=host,message=id,send=PUBLISH,deliver=CONSUME"
            )
        fields = evolve(fields, **{name: value})
    if fields.send == fields.deliver:
        raise InputError(f"--fields: send and deliver are both {fields.send!r}; give two words")
    return fields


class NoEvent(Exception):
    """A line is no event; the text says why, or is empty if the log's own words say so."""


def object_events(source: Source, fields: Fields) -> Iterator[Event]:
    """Yield the events of a log with one JSON object per line.

    Raises:
        InputError: an event lacks something; the message names the line and the reason.
    """
    for number, line in source.lines():
        if line.strip():
            yield from line_events(source, number, line, fields)


def line_events(source: Source, number: int, line: str, fields: Fields) -> list[Event]:
    """Return the events of one line that is not blank.

    Usually there is one event. A torn line has the events of the records that are glued to it, and
    its number is added to `source.torn`. A line that is no event is counted in `source`. Other
    text may come before the object, such as the name of a container.
    """
    where = f"{source.name}, line {number}"
    try:
        objects, torn = _objects(line, fields, _NOTING if _may_repeat(line, fields) else _DECODER)
    except NoEvent as error:
        source.note_foreign(number, str(error))
        return []
    if torn:
        source.note_torn(number)
    events, why = [], list[str]()
    for each in objects:
        try:
            events.append(record_event(source.name, number, each, fields))
        except NoEvent as error:
            why.append(str(error))
            continue
        for name in fields.used:
            _check_once(where, each, name, name)
    if why and not events:
        source.note_foreign(number, why[0])
    return events


def _may_repeat(line: str, fields: Fields) -> bool:
    """Return whether a field of an event may occur twice; this is much faster than parsing."""
    for name in fields.used:
        if line.count(f'"{name}"') > 1:
            return True
        if "." in name and any(line.count(f'"{part}"') > 1 for part in name.split(".")):
            return True
    return "\\u" in line


class _Object(dict[str, Any]):
    """A JSON object, and the names in it that are repeated."""

    repeated: frozenset[str] = frozenset()


def _object_of(pairs: list[tuple[str, Any]]) -> _Object:
    found = _Object(pairs)
    if len(found) < len(pairs):
        times = Counter(name for name, _ in pairs)
        found.repeated = frozenset(name for name, count in times.items() if count > 1)
    return found


_NOTING = json.JSONDecoder(object_pairs_hook=_object_of)
"""Makes each object an `_Object`."""


def _check_once(where: str, record: Any, name: str, path: str) -> None:
    """Refuse an object that has two values at `name`, which is the end of `path`.

    Raises:
        InputError: it has. JSON readers take one of the two values without a word.
    """
    if not isinstance(record, _Object):
        return
    first, dot, rest = (name, "", "") if name in record else name.partition(".")
    if first in record.repeated:
        raise InputError(f"{where}: the field {path!r} occurs twice; give it once")
    if dot:
        _check_once(where, record.get(first), rest, path)


_BEGIN = re.compile(r'\{[ \t\r]*"')
"""Matches the start of an object behind other text."""

MOST_BEGINS = 16
"""The most positions behind other text at which the object of a line may begin."""


def behind_text(line: str) -> str:
    """Return a line without other text before its object, such as the name of a container."""
    begin = _BEGIN.search(line)
    return line if begin is None or line.lstrip(" \t\r")[0] == "{" else line[begin.start() :]


def _objects(
    line: str, fields: Fields, decoder: json.JSONDecoder = _DECODER
) -> tuple[list[dict[str, Any]], bool]:
    """Return the objects of a line, and whether it is torn.

    Raises:
        NoEvent: it has no objects.
    """
    try:
        value = parsed("", line, "", decoder)
    except InputError as error:
        pieces = records(behind_text(line), lambda each: _has_event(each, fields), decoder)
        if pieces is None and (last := _at_end(line, fields, decoder)) is not None:
            pieces = [last], False
        if pieces is None:
            raise NoEvent(f"{str(error).removeprefix(': ')}; {WHAT_A_LINE_IS}") from None
        return pieces
    if not isinstance(value, dict):
        raise NoEvent(WHAT_A_LINE_IS)
    return [value], False


def _has_event(record: Mapping[str, Any], fields: Fields) -> bool:
    return isinstance(value_at(record, fields.event), str | int)


def _at_end(line: str, fields: Fields, decoder: json.JSONDecoder) -> dict[str, Any] | None:
    """Return the object with an event at the end of a line whose text has other objects, too."""
    for begin in islice(_BEGIN.finditer(line), MOST_BEGINS if line.lstrip()[0] != "{" else 0):
        with contextlib.suppress(ValueError, RecursionError):
            value: dict[str, Any] = decoder.decode(line[begin.start() :])
            if _has_event(value, fields):
                return value
    return None


def record_event(log: str, number: int, found: Mapping[str, Any], fields: Fields) -> Event:
    """Return the event in a record.

    Raises:
        NoEvent: it is neither a causal-send nor a delivery.
        InputError: it is one, and lacks an actor or a message.
    """
    word = value_at(found, fields.event)
    if word not in (*fields.sends, *fields.delivers):
        if fields.foreign:
            raise NoEvent("")
        try:
            word = _text("", "event", fields, found)
        except InputError as error:
            raise NoEvent(str(error).removeprefix(": ")) from None
        available = ", ".join((*SYNONYMS.values(), *EVENTS))
        raise NoEvent(
            f"unknown event {word!r}; available: {available}. If the log uses other words, give "
            "them with --fields send=WORD,deliver=WORD"
        )
    where = f"{log}, line {number}"
    return Event(
        number,
        _text(where, "actor", fields, found),
        SEND if word in fields.sends else DELIVER,
        _text(where, "message", fields, found),
        _destinations(where, fields.to, value_at(found, fields.to)),
        log=log,
    )


def value_at(record: Mapping[str, Any], name: str) -> Any:
    """Return the value of a field, or the value at a path such as `host.name`."""
    if name in record or "." not in name:
        return record.get(name)
    first, _, rest = name.partition(".")
    inner = record.get(first)
    return value_at(inner, rest) if isinstance(inner, dict) else None


def _text(where: str, name: str, fields: Fields, found: Mapping[str, Any]) -> str:
    """Return the record's actor, event or message (`name`) as text.

    Raises:
        InputError: the field is missing, or is neither a text nor a number.
    """
    key: str = getattr(fields, name)
    value = value_at(found, key)
    if isinstance(value, str | int) and not isinstance(value, bool):
        return str(value)
    if value is not None or key in found or not found:
        raise InputError(f"{where}: {key!r} is {value!r}; give a text or a number")
    there = ", ".join(printable(str(one)) for one in [*found][:MOST_SHOWN])
    more = ", …" if len(found) > MOST_SHOWN else ""
    raise InputError(
        f"{where}: there is no field {key!r} among {there}{more}; name the {name}'s field with "
        f"--fields {name}=FIELD"
    )


def _destinations(where: str, key: str, to: Any) -> tuple[str, ...] | None:
    if to is None:
        return None
    if not isinstance(to, list) or any(
        not isinstance(actor, str | int) or isinstance(actor, bool) for actor in to
    ):
        raise InputError(f"{where}: {key!r} is {to!r}; give a list of actors, or leave it out")
    return tuple(map(str, to))


def parsed(where: str, text: str, what: str, decoder: json.JSONDecoder = _DECODER) -> Any:
    """Parse JSON text; `what` names the text in errors."""
    about = f"{where}: {what or 'this is '}not JSON"
    try:
        return decoder.decode(text)
    except json.JSONDecodeError as error:
        raise InputError(f"{about} ({error.msg} at column {error.colno})") from None
    except (ValueError, RecursionError):
        raise InputError(f"{about} that can be read (too large)") from None


def looks_like_objects(line: str, fields: Fields) -> bool:
    """Return whether a line has an object with an event, or the start of one."""
    try:
        objects, torn = _objects(line, fields)
    except NoEvent:
        return False
    return torn or any(value_at(each, fields.event) is not None for each in objects)
