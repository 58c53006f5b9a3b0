r"""Logs in the format of ShiViz, which GoVector and other libraries write.

An event has a text, a host and a vector clock. The first line of a file may be a regular expression
that matches them. Then the second line is the delimiter of several executions, and must be blank.
Without an expression, the host and its clock are on the line before the text, or after it. `EVENT`
finds causal-sends and deliveries in the text.

Expressions come from logs of other people, so the engine is RE2, whose time is linear in the text.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from attrs import frozen

from antecede.checker.audit.events import DELIVER, SEND, Event, Stamp
from antecede.checker.audit.records import parsed
from antecede.checker.audit.sources import Source
from antecede.checker.support.errors import InputError

LONGEST_EXPRESSION = 10_000
"""The greatest length of a regular expression, in characters."""

_NAME = r"(?:Actor \d+|[^\s,;]+)"
_NAMES = rf"{_NAME}(?:(?:, {_NAME})* and {_NAME}|(?:,{_NAME})+|(?:, {_NAME})+$)?"
EVENT = (
    rf"(?i:(?:^(?:\d+\. )?(?:{_NAME} )?|, )(?P<event>causal-sen(?:ds?|t)|deliver(?:s|ed)?)) "
    rf"(?P<message>message \d+ of {_NAME}|[^\s,;]+)(?: to (?P<to>{_NAMES}))?"
    r"(?P<twice> \(twice\))?"
)
"""Matches a causal-send or a delivery in the text of an event of a ShiViz log.

This is a clause such as `causal-sends m1 to Bob and Carol` or `delivers m1`. It is at the start,
after one word at the start (and a number, `3. Alice delivers m1`), or after a comma. The
counterexamples that antecede writes have this form.
"""

_HOST_FIRST = r"(?<host>\S*) (?<clock>\{.*\})\n(?<event>.*)"
_TEXT_FIRST = r"(?<event>.*)\n(?<host>\S*) (?<clock>\{.*\})"


MULTILINE = "(?m)"
"""Makes ^ and $ match at the start and end of each line, as in ShiViz."""


@frozen
class Layout:
    """The format of the events in a ShiViz log.

    Attributes:
        parser: matches text, host and clock in the lines of an event.
        height: the number of lines of an event.
        header: the first line is the parser's expression.
        event: finds causal-sends and deliveries in an event's text.

    Both expressions are compiled by RE2, which has no types.
    """

    parser: Any
    height: int
    header: bool
    event: Any


def looks_like_shiviz(first: str) -> bool:
    """Return whether the first line of a log is an expression, or a host and its clock."""
    return _is_header(first) or _is_host_first(first)


def _is_header(first: str) -> bool:
    braced = first.lstrip().startswith("{")
    return not braced and re.search(r"\(\?P?<(event|host|clock)>", first) is not None


def _is_host_first(first: str) -> bool:
    braced = first.lstrip().startswith("{")
    return not braced and re.match(r"\S+ \{.*\}\s*$", first) is not None


def layout_of(name: str, first: str, event: str | None = None) -> Layout:
    """Detect the format of the events in a ShiViz log from its first line.

    Raises:
        InputError: an expression cannot be used; the message says which one and why.
    """
    header = _is_header(first)
    written = first if header else _HOST_FIRST if _is_host_first(first) else _TEXT_FIRST
    return Layout(
        parser=_parser(name, written),
        height=1 + len(re.findall(r"(?<!\\)(?:\\\\)*\\n", written)),
        header=header,
        event=_event_expression(EVENT if event is None else event),
    )


def _parser(name: str, written: str) -> Any:
    parser = _compiled(written.strip(), f"{name}, line 1: the log's expression")
    missing = [group for group in ("event", "host", "clock") if group not in parser.groupindex]
    if missing:
        raise InputError(
            f"{name}, line 1: the log's expression has no group (?<{missing[0]}>…); ShiViz needs "
            "event, host and clock"
        )
    return parser


def _event_expression(written: str) -> Any:
    expression = _compiled(written, f"--event {written!r}")
    if "message" not in expression.groupindex or not {"event", "send", "deliver"} & {
        *expression.groupindex
    }:
        raise InputError(
            f"--event {written!r} lacks named groups; it needs (?<message>…), and (?<event>…) or "
            "(?<send>…) and (?<deliver>…); (?<to>…) may be there, too"
        )
    return expression


def _compiled(written: str, what: str) -> Any:
    """Compile an expression of ShiViz; its parts may match at the start and end of each line."""
    import re2

    if len(written) > LONGEST_EXPRESSION:
        raise InputError(f"{what} is longer than {LONGEST_EXPRESSION:,} characters")
    options = re2.Options()
    options.log_errors = False
    try:
        return re2.compile(f"{MULTILINE}{written}", options)
    except re2.error as error:
        raise InputError(f"{what} {_unusable(error.args[0].decode(errors='replace'))}") from None


def _unusable(reason: str) -> str:
    """Return a clause that says what is wrong with an expression, and the fix.

    `reason` is RE2's: a kind of error and the wrong part of the expression, which may be all of it.
    """
    kind, _, part = reason.replace(MULTILINE, "", 1).partition(": ")
    if part in ("(?=", "(?!", "(?<=", "(?<!"):
        return (
            f"has the lookaround {part}…), which RE2 does not support, because its time has no "
            "bound; match the text around it without a group, and the text that you need in a group"
        )
    if re.fullmatch(r"\\[1-9k]", part):
        return (
            f"has the backreference {part}, which RE2 does not support, because its time has no "
            "bound; write the expression of its group again"
        )
    return f"is no regular expression of RE2 ({kind}: {part}); correct this part of it"


def shiviz_events(
    source: Source, layout: Layout, watch: Callable[[Stamp], None]
) -> Iterator[Event]:
    """Yield the causal-sends and deliveries of a log; `watch` gets the clocks of all events.

    Raises:
        InputError: a line is not an event; the message says which line and why.
    """
    for number, block in _blocks(source, layout):
        yield from _text_events(source.name, layout, number, block, watch)


def _blocks(source: Source, layout: Layout) -> Iterator[tuple[int, str]]:
    """Yield the lines of each event, with the number of its first line."""
    block: list[str] = []
    header, number = layout.header, 0
    for number, line in source.lines():
        if not block and not line.strip():
            continue
        if header:
            header = False
            continue
        if layout.header and number == 2 and "(?<" in line:
            raise InputError(
                f"{source.name}, line 2: the log holds several executions, and an audit reads one; "
                "split it, and leave line 2 blank"
            )
        block.append(line)
        if len(block) == layout.height:
            yield number - layout.height + 1, "\n".join(block)
            block = []
    if block and any(line.strip() for line in block):
        raise InputError(
            f"{source.name}, line {number}: the log ends within an event, which has "
            f"{layout.height} lines"
        )


def _text_events(
    log: str, layout: Layout, number: int, block: str, watch: Callable[[Stamp], None]
) -> Iterator[Event]:
    match = layout.parser.search(block)
    if match is None:
        raise InputError(
            f"{log}, line {number}: no event here; the expression of the log is "
            f"{layout.parser.pattern.removeprefix('(?m)')!r}"
        )
    clock_line = number + block.count("\n", 0, _start(match, "clock"))
    host = match["host"] or ""
    if not host:
        raise InputError(f"{log}, line {clock_line}: an event without a host")
    clock = _clock(f"{log}, line {clock_line}", match["clock"] or "")
    watch(Stamp(clock_line, host, clock, log))
    line = number + block.count("\n", 0, _start(match, "event"))
    for clause in layout.event.finditer(match["event"] or ""):
        groups = clause.groupdict()
        kind = _kind(f"{log}, line {line}", groups)
        if not groups["message"]:
            raise InputError(f"{log}, line {line}: the event names no message")
        to = _receivers(groups.get("to"))
        event = Event(line, host, kind, groups["message"], to, clock, log)
        yield event
        if groups.get("twice"):
            yield event


def _start(match: Any, group: str) -> int:
    """Return the start of a group; 0 if it is not in the match."""
    return max(0, int(match.start(match.re.groupindex[group])))


def _clock(where: str, text: str) -> Mapping[str, int]:
    clock = parsed(where, text, "the clock is ")
    if not isinstance(clock, dict):
        raise InputError(f"{where}: the clock is {text}; give an object of hosts and numbers")
    for host, count in clock.items():
        if not isinstance(count, int) or isinstance(count, bool) or count < 0:
            raise InputError(
                f"{where}: the clock's entry of {host!r} is {count!r}; give a whole number"
            )
    return clock


def _kind(where: str, groups: Mapping[str, str | None]) -> str:
    """Return the kind of an event, from its word or from the group that matched."""
    written = groups.get("event")
    word = "" if written is None else written.lower()
    if groups.get("send") is not None or word.startswith(("causal-sen", "send", "sent")):
        return SEND
    if groups.get("deliver") is not None or word.startswith("deliver"):
        return DELIVER
    raise InputError(
        f"{where}: {written!r} is neither a causal-send nor a delivery; in --event, name a group "
        "(?<send>…) or (?<deliver>…) in place of (?<event>…)"
    )


def _receivers(text: str | None) -> tuple[str, ...] | None:
    """Return the hosts' names in a list such as `Bob, Carol and Actor 9`."""
    if text is None:
        return None
    joined = re.sub(r"\bActor (?=\d)", "Actor-", text)
    return tuple(name for name in re.split(r"\s+and\s+|[\s,]+", joined) if name)
