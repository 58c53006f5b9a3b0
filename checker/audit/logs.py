r"""Logs of real systems: their causal-sends and deliveries, read line by line.

Two formats:

* `jsonl`: a JSON object a line,
  {"actor": "alice", "event": "causal-send", "message": "m1", "to": ["bob", "carol"]};
* `shiviz`: what ShiViz draws, and GoVector and others write: an event's text, its host and its
  vector clock. The first line of a file may be the regular expression that finds them, the second
  is the delimiter of several executions then, and must be blank. Without it a host and its clock
  stand on the line before the text, or after it. Causal-sends and deliveries are recognised in the
  text, by `EVENT`.
"""

from __future__ import annotations

import json
import re
import warnings
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

from attrs import field, frozen

from antecede.checker.errors import InputError, unknown

FORMATS = ("jsonl", "shiviz")
EVENTS = ("causal-send", "deliver")

_NAME = r"(?:Actor \d+|[^\s,;]+)"
_NAMES = rf"{_NAME}(?:(?:, {_NAME})* and {_NAME}|(?:,{_NAME})+|(?:, {_NAME})+$)?"
EVENT = (
    rf"(?i:(?:^(?:\d+\. )?(?:{_NAME} )?|, )(?P<event>causal-sen(?:ds?|t)|deliver(?:s|ed)?)) "
    rf"(?P<message>message \d+ of {_NAME}|[^\s,;]+)(?: to (?P<to>{_NAMES}))?"
    r"(?P<twice> \(twice\))?"
)
"""What a causal-send or a delivery looks like in the text of an event of a ShiViz log.

A clause such as `causal-sends m1 to Bob and Carol` or `delivers m1`: at the start, after one word
there (and a number, `3. Alice delivers m1`), or after a comma. The counterexamples that antecede
writes keep to it.
"""

_HOST_FIRST = r"(?<host>\S*) (?<clock>\{.*\})\n(?<event>.*)"
_TEXT_FIRST = r"(?<event>.*)\n(?<host>\S*) (?<clock>\{.*\})"


@frozen
class Event:
    """A causal-send or a delivery; `clock` is what the log says of it, if it does."""

    line: int
    actor: str
    kind: str
    message: str
    to: tuple[str, ...] | None = None
    clock: Mapping[str, int] | None = field(default=None, eq=False)


@frozen
class Stamp:
    """An event of any kind as a ShiViz log has it: host, vector clock, and the clock's line."""

    line: int
    host: str
    clock: Mapping[str, int]


@frozen
class Log:
    """A log and how to read it.

    Attributes:
        path: the file.
        format: one of FORMATS.
        parser: of ShiViz: finds text, host and clock in the lines of an event.
        height: of ShiViz: how many lines an event has.
        header: of ShiViz: the first line is the parser's expression.
        event: of ShiViz: finds causal-sends and deliveries in an event's text.
    """

    path: Path
    format: str
    parser: re.Pattern[str] = re.compile("")
    height: int = 1
    header: bool = False
    event: re.Pattern[str] = re.compile(EVENT)


def open_log(path: Path, format: str | None = None, event: str | None = None) -> Log:
    """Find out how a log is to be read.

    Args:
        path: the file.
        format: one of FORMATS; None: what the first line looks like.
        event: the expression that finds causal-sends and deliveries in a ShiViz log, in place of
            EVENT.

    Raises:
        InputError: it cannot be read, or what was given does not fit; says which and why.
    """
    if format not in (None, *FORMATS):
        raise unknown("log format", str(format), FORMATS)
    first = next((line for _, line in _lines(path) if line.strip()), "")
    is_object = first.lstrip().startswith("{")
    header = not is_object and re.search(r"\(\?P?<(event|host|clock)>", first) is not None
    host_first = not is_object and re.match(r"\S+ \{.*\}\s*$", first) is not None
    if format is None:
        format = "shiviz" if header or host_first else "jsonl"
    if format == "jsonl":
        if event is not None:
            raise InputError(
                f"{path} is a log of JSON objects, whose events need no expression; leave out "
                "--event, or give --log-format shiviz"
            )
        return Log(path, format)
    written = first if header else _HOST_FIRST if host_first else _TEXT_FIRST
    return Log(
        path,
        format,
        parser=_parser(path, written),
        height=1 + len(re.findall(r"(?<!\\)(?:\\\\)*\\n", written)),
        header=header,
        event=re.compile(EVENT) if event is None else _event_expression(event),
    )


def _parser(path: Path, written: str) -> re.Pattern[str]:
    found = _compiled(written.strip(), f"{path}, line 1: the log's expression")
    missing = [name for name in ("event", "host", "clock") if name not in found.groupindex]
    if missing:
        raise InputError(
            f"{path}, line 1: the log's expression has no group (?<{missing[0]}>…); ShiViz needs "
            "event, host and clock"
        )
    return found


def _event_expression(written: str) -> re.Pattern[str]:
    found = _compiled(written, f"--event {written!r}")
    if "message" not in found.groupindex or not {"event", "send", "deliver"} & {*found.groupindex}:
        raise InputError(
            f"--event {written!r} lacks named groups; it needs (?<message>…), and (?<event>…) or "
            "(?<send>…) and (?<deliver>…); (?<to>…) may be there, too"
        )
    return found


def _compiled(written: str, what: str) -> re.Pattern[str]:
    """Compile an expression as ShiViz writes it: groups are named as in JavaScript."""
    python = re.sub(r"\(\?<(?=[A-Za-z_])", "(?P<", written)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return re.compile(python, re.MULTILINE)
    except (re.error, OverflowError, RecursionError) as error:
        raise InputError(f"{what} is no regular expression: {error}") from None


def events(log: Log, watch: Callable[[Stamp], None] = lambda _stamp: None) -> Iterator[Event]:
    """Yield the causal-sends and deliveries of a log.

    Args:
        log: what to read.
        watch: called with the clock of each event of a ShiViz log, of other events, too.

    Raises:
        InputError: the file cannot be read, or a line is no event; says which and why.
    """
    if log.format == "jsonl":
        for number, line in _lines(log.path):
            if line.strip():
                yield _object_event(f"{log.path}, line {number}", number, line)
        return
    for number, block in _blocks(log):
        yield from _text_events(log, number, block, watch)


def _lines(path: Path) -> Iterator[tuple[int, str]]:
    try:
        with path.open(encoding="utf-8-sig") as file:
            yield from enumerate(file, 1)
    except (OSError, UnicodeDecodeError) as error:
        reason = getattr(error, "strerror", None) or "it is not UTF-8 text"
        raise InputError(f"cannot read {str(path)!r}: {reason}") from None


# JSON objects


def _object_event(where: str, number: int, line: str) -> Event:
    found = _parsed(where, line, "")
    if not isinstance(found, dict):
        raise InputError(f"{where}: a line is an object with actor, event and message")
    for key in ("actor", "event", "message"):
        if not isinstance(found.get(key), str | int) or isinstance(found.get(key), bool):
            raise InputError(f"{where}: {key!r} is {found.get(key)!r}; give a text or a number")
    if found["event"] not in EVENTS:
        raise InputError(
            f"{where}: unknown event {found['event']!r}; available: {', '.join(EVENTS)}"
        )
    to = found.get("to")
    if to is not None and (
        not isinstance(to, list) or not all(isinstance(each, str | int) for each in to)
    ):
        raise InputError(f"{where}: 'to' is {to!r}; give a list of actors, or leave it out")
    return Event(
        number,
        str(found["actor"]),
        found["event"],
        str(found["message"]),
        None if to is None else tuple(map(str, to)),
    )


def _parsed(where: str, text: str, what: str) -> Any:
    """Return JSON text as a value; `what` says what it is."""
    try:
        return json.loads(text)
    except json.JSONDecodeError as error:
        raise InputError(f"{where}: {what}no JSON ({error.msg} at column {error.colno})") from None
    except (ValueError, RecursionError):
        raise InputError(f"{where}: {what}no JSON that can be read (too large)") from None


# ShiViz


def _blocks(log: Log) -> Iterator[tuple[int, str]]:
    """Yield the lines of each event, with the number of the first."""
    block: list[str] = []
    header, number = log.header, 0
    for number, line in _lines(log.path):
        if not block and not line.strip():
            continue
        if header:
            header = False
            continue
        if log.header and number == 2 and "(?<" in line:
            raise InputError(
                f"{log.path}, line 2: the log holds several executions, and an audit reads one; "
                "split it, and leave line 2 blank"
            )
        block.append(line.rstrip("\n"))
        if len(block) == log.height:
            yield number - log.height + 1, "\n".join(block)
            block = []
    if block and any(line.strip() for line in block):
        raise InputError(
            f"{log.path}, line {number}: the log ends within an event, which has {log.height} lines"
        )


def _text_events(
    log: Log, number: int, block: str, watch: Callable[[Stamp], None]
) -> Iterator[Event]:
    found = log.parser.search(block)
    if found is None:
        raise InputError(
            f"{log.path}, line {number}: no event here; the expression of the log is "
            f"{log.parser.pattern!r}"
        )
    clock_line = number + block.count("\n", 0, found.start("clock"))
    host = found["host"] or ""
    if not host:
        raise InputError(f"{log.path}, line {clock_line}: an event without a host")
    clock = _clock(f"{log.path}, line {clock_line}", found["clock"] or "")
    watch(Stamp(clock_line, host, clock))
    line = number + block.count("\n", 0, found.start("event"))
    for said in log.event.finditer(found["event"] or ""):
        groups = said.groupdict()
        kind = _kind(f"{log.path}, line {line}", groups)
        if not groups["message"]:
            raise InputError(f"{log.path}, line {line}: the event names no message")
        event = Event(line, host, kind, groups["message"], _receivers(groups.get("to")), clock)
        yield event
        if groups.get("twice"):
            yield event


def _clock(where: str, text: str) -> Mapping[str, int]:
    found = _parsed(where, text, "the clock is ")
    if not isinstance(found, dict):
        raise InputError(f"{where}: the clock is {text}; give an object of hosts and numbers")
    for host, count in found.items():
        if not isinstance(count, int) or isinstance(count, bool) or count < 0:
            raise InputError(
                f"{where}: the clock's entry of {host!r} is {count!r}; give a whole number"
            )
    return found


def _kind(where: str, groups: Mapping[str, str | None]) -> str:
    """Return what an event is, from its word or from the group that took part."""
    said = groups.get("event")
    word = "" if said is None else said.lower()
    if groups.get("send") is not None or word.startswith(("causal-sen", "send", "sent")):
        return "causal-send"
    if groups.get("deliver") is not None or word.startswith("deliver"):
        return "deliver"
    raise InputError(
        f"{where}: {said!r} is neither a causal-send nor a delivery; in --event, name a group "
        "(?<send>…) or (?<deliver>…) in place of (?<event>…)"
    )


def _receivers(text: str | None) -> tuple[str, ...] | None:
    """Return the actors of a list such as `Bob, Carol and Actor 9`, by the names of hosts."""
    if text is None:
        return None
    joined = re.sub(r"\bActor (?=\d)", "Actor-", text)
    return tuple(name for name in re.split(r"\s+and\s+|[\s,]+", joined) if name)
