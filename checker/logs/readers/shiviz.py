r"""Logs in the format of ShiViz, which GoVector and other libraries write.

An event has a text, a host and a vector clock. The first line of a file may be a regular expression
that matches them. Then the second line may be an expression for the lines between executions, which
are judged one by one. Without an expression, the host and its clock are on the line before the
text, or after it. `EVENT` finds causal-sends and deliveries in the text. Lines that match no
expression are no events.

Expressions come from logs of other people, so the engine is RE2, whose time is linear in the text.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import chain
from typing import Any

from attrs import frozen

from antecede.checker.logs.events.event import DELIVER, SEND, Begin, Event, Stamp
from antecede.checker.logs.readers.records import NoEvent, parsed
from antecede.checker.logs.readers.sources import Source
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

HOST_FIRST = r"(?<host>\S*) (?<clock>\{.*\})\n(?<event>.*)"
_TEXT_FIRST = r"(?<event>.*)\n(?<host>\S*) (?<clock>\{.*\})"


SEPARATOR = re.compile(r"^=== (?P<trace>.*) ===$")
"""Matches the lines between executions in the examples of ShiViz. It is used if a log begins so."""

MULTILINE = "(?m)"
"""Makes ^ and $ match at the start and end of each line, as in ShiViz."""


@frozen
class Layout:
    """The format of the events in a ShiViz log. RE2 compiles the expressions; it has no types.

    Attributes:
        parser: matches text, host and clock in the lines of an event.
        height: the number of lines of an event.
        header: the number of lines that are expressions and no events.
        event: finds causal-sends and deliveries in an event's text; None if `parser` has them in
            groups of its own.
        delimiter: matches the lines between executions, or None.
        named: the user said how events name their messages.
    """

    parser: Any
    height: int
    header: int
    event: Any
    delimiter: Any = None
    named: bool = False


def is_expression(first: str) -> bool:
    """Return whether the first line of a log is a regular expression for its events."""
    braced = first.lstrip().startswith("{")
    return not braced and re.search(r"\(\?P?<(event|host|clock)>", first) is not None


def is_host_and_clock(line: str) -> bool:
    """Return whether a line is a host and its clock."""
    found = re.fullmatch(r"\s*[^\s{]\S* (\{.*\})\s*", line)
    if found is None:
        return False
    try:
        entries = [*parsed("", found[1], "").values()]
    except InputError:
        return False
    return bool(entries) and all(isinstance(each, int) for each in entries)


def looks_like_shiviz(line: str) -> bool:
    """Return whether a line is a host and its clock, or stands between executions."""
    return is_host_and_clock(line) or SEPARATOR.match(line) is not None


def layout_of(name: str, lines: Sequence[str], given: str | None) -> Layout:
    """Detect the format of the events in a ShiViz log from its first lines that are not blank.

    Args:
        given: the user's expression, or None. Without a host and a clock among its groups, it
            matches the texts of events.

    Raises:
        InputError: an expression cannot be used; the message says which one and why.
    """
    of_text = given is not None and not is_of_whole_events(given)
    written, header, ends = None if of_text else given, 0, None
    what = f"--parser {given!r}"
    if written is None and is_expression(lines[0]):
        written, header, what = lines[0], 1, f"{name}, line 1: the log's expression"
        if len(lines) > 1 and _is_delimiter(lines[1]):
            header, ends = 2, _compiled(lines[1], f"{name}, line 2: the log's delimiter")
    elif SEPARATOR.match(lines[0]):
        ends = SEPARATOR
    if written is None:
        first = next((line for line in lines if ends is None or not ends.search(line)), "")
        written = HOST_FIRST if is_host_and_clock(first) else _TEXT_FIRST
    parser = _parser(written, what)
    if given is None or (not of_text and "message" not in parser.groupindex):
        event = _compiled(EVENT, "")
    else:
        event = _event_expression(given) if of_text else None
    return Layout(
        parser=parser,
        height=1 + len(re.findall(r"(?<!\\)(?:\\\\)*\\n", written)),
        header=header,
        event=event,
        delimiter=ends,
        named=of_text or event is None,
    )


def is_of_whole_events(given: str) -> bool:
    """Return whether an expression of the user matches whole events, and not only their texts."""
    return bool({"host", "clock"} & {*_compiled_option(given).groupindex})


def _compiled_option(given: str) -> Any:
    return _compiled(given, f"--parser {given!r}")


def _is_delimiter(second: str) -> bool:
    return "(?<" in second or "(?P<" in second or second.startswith("^")


def _parser(written: str, what: str) -> Any:
    parser = _compiled(written.strip(), what)
    groups = {*parser.groupindex}
    missing = [group for group in ("event", "host", "clock") if group not in groups]
    if missing == ["event"] and "message" in groups and groups & {"send", "deliver"}:
        return parser
    if missing:
        raise InputError(
            f"{what} has no group (?<{missing[0]}>…); ShiViz needs event, host and clock"
        )
    return parser


def _event_expression(written: str) -> Any:
    expression = _compiled_option(written)
    if "message" not in expression.groupindex or not {"event", "send", "deliver"} & {
        *expression.groupindex
    }:
        raise InputError(
            f"--parser {written!r} lacks named groups; it needs (?<host>…), (?<clock>…) and "
            "(?<event>…) for whole events, or for their texts (?<message>…), and (?<event>…) or "
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
) -> Iterator[Event | Begin]:
    """Yield the causal-sends and deliveries of a log; `watch` gets the clocks of all events.

    Raises:
        InputError: the expression of events finds a wrong event; the message says where and why.
    """
    for found in _matches(source, layout):
        if isinstance(found, Begin):
            yield found
            continue
        number, match, clock = found
        line = number + match.string.count("\n", 0, _start(match, "clock"))
        watch(Stamp(line, match["host"], clock, source.name))
        said = "event" if "event" in match.re.groupindex else "message"
        line = number + match.string.count("\n", 0, _start(match, said))
        yield from _text_events(source.name, layout, line, match, clock)


def _matches(
    source: Source, layout: Layout
) -> Iterator[tuple[int, Any, Mapping[str, int]] | Begin]:
    """Yield the first line, the parser's match and the clock of each event, and new executions.

    A match begins in the first of the next `height` lines; otherwise this line is no event.
    """
    window: list[tuple[int, str]] = []
    executions = 0
    for number, line in chain(_body(source, layout), [(0, None)]):
        between = None
        if line is not None and layout.delimiter is not None:
            between = layout.delimiter.search(line)
        if line is not None and between is None:
            window.append((number, line))
        at_end = line is None or between is not None
        while len(window) >= layout.height or (window and at_end):
            begin, first = window[0]
            text = "\n".join(each for _, each in window[: layout.height])
            match = layout.parser.search(text)
            try:
                clock = _clock_in(layout, first, match)
            except NoEvent as error:
                if first.strip():
                    source.note_foreign(begin, str(error))
                del window[0]
            else:
                yield begin, match, clock
                del window[: 1 + text.count("\n", 0, match.end())]
        if between is not None:
            executions += 1
            name = between.groupdict().get("trace") or f"execution {executions}"
            yield Begin(name, number)


def _clock_in(layout: Layout, first: str, match: Any) -> Mapping[str, int]:
    """Return the clock in a match of the parser that must begin in the line `first`.

    Raises:
        NoEvent: there is no such match, or it has no clock or no host.
    """
    if match is None or match.start() > len(first):
        written = layout.parser.pattern.removeprefix(MULTILINE)
        raise NoEvent(f"no event here; the expression of the log is {written!r} (see --parser)")
    if not match["host"]:
        raise NoEvent("an event without a host")
    return _clock(match["clock"] or "")


def _body(source: Source, layout: Layout) -> Iterator[tuple[int, str]]:
    """Yield the lines of a log without its own expressions."""
    header = layout.header
    for number, line in source.lines():
        if header and line.strip():
            header -= 1
        else:
            yield number, line


def _text_events(
    log: str, layout: Layout, line: int, match: Any, clock: Mapping[str, int]
) -> Iterator[Event]:
    if layout.event is None:
        clauses = [match] if match["message"] else []
    else:
        clauses = layout.event.finditer(match["event"] or "")
    for clause in clauses:
        groups = clause.groupdict()
        kind = _kind(f"{log}, line {line}", groups)
        if not groups["message"]:
            raise InputError(f"{log}, line {line}: the event names no message")
        to = _receivers(groups.get("to"))
        event = Event(line, match["host"], kind, groups["message"], to, clock, log)
        yield event
        if groups.get("twice"):
            yield event


def _start(match: Any, group: str) -> int:
    """Return the start of a group; 0 if it is not in the match."""
    return max(0, int(match.start(match.re.groupindex[group])))


def _clock(text: str) -> Mapping[str, int]:
    """Return a clock, whose quotes may be escaped as in the traces of TLC.

    Raises:
        NoEvent: it is none.
    """
    try:
        clean = text.replace('\\"', '"') if text.startswith('{\\"') else text
        clock = parsed("", clean, "the clock is ")
    except InputError as error:
        raise NoEvent(str(error).removeprefix(": ")) from None
    if not isinstance(clock, dict):
        raise NoEvent(f"the clock is {text}; give an object of hosts and numbers")
    for host, count in clock.items():
        if not isinstance(count, int) or isinstance(count, bool) or count < 0:
            raise NoEvent(f"the clock's entry of {host!r} is {count!r}; give a whole number")
    return clock


def _kind(where: str, groups: Mapping[str, str | None]) -> str:
    """Return the kind of an event, from its word or from the group that matched."""
    written = groups.get("event")
    word = "" if written is None else written.lower()
    if groups.get("send") is not None or word.startswith(("causal-sen", "send", "sent")):
        return SEND
    if groups.get("deliver") is not None or word.startswith(("deliver", "process")):
        return DELIVER
    raise InputError(
        f"{where}: {written!r} does not say whether the message is sent or processed; in --parser, "
        "name a group (?<send>…) or (?<deliver>…) in place of (?<event>…)"
    )


def _receivers(text: str | None) -> tuple[str, ...] | None:
    """Return the hosts' names in a list such as `Bob, Carol and Actor 9`."""
    if text is None:
        return None
    joined = re.sub(r"\bActor (?=\d)", "Actor-", text)
    return tuple(name for name in re.split(r"\s+and\s+|[\s,]+", joined) if name)
