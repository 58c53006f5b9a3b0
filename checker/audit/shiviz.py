r"""Logs as ShiViz draws them, and GoVector and others write them.

An event's text, its host and its vector clock. The first line of a file may be the regular
expression that finds them, the second is the delimiter of several executions then, and must be
blank. Without it a host and its clock stand on the line before the text, or after it. Causal-sends
and deliveries are recognised in the text, by `EVENT`.
"""

from __future__ import annotations

import re
import warnings
from collections.abc import Callable, Iterator, Mapping

from attrs import frozen

from antecede.checker.audit.events import DELIVER, SEND, Event, Stamp
from antecede.checker.audit.records import parsed
from antecede.checker.audit.sources import Source
from antecede.checker.audit.watchdog import Watchdog
from antecede.checker.errors import InputError

LONGEST_EXPRESSION = 10_000
"""The greatest length of an expression, in characters."""

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
class Layout:
    """How the events of a ShiViz log are written.

    Attributes:
        parser: finds text, host and clock in the lines of an event.
        height: how many lines an event has.
        header: the first line is the parser's expression.
        event: finds causal-sends and deliveries in an event's text.
    """

    parser: re.Pattern[str]
    height: int
    header: bool
    event: re.Pattern[str]


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
    """Find out how a ShiViz log is written.

    Args:
        name: of the log.
        first: its first line.
        event: what finds causal-sends and deliveries, in place of EVENT.

    Raises:
        InputError: an expression cannot be used; says which and why.
    """
    header = _is_header(first)
    written = first if header else _HOST_FIRST if _is_host_first(first) else _TEXT_FIRST
    return Layout(
        parser=_parser(name, written),
        height=1 + len(re.findall(r"(?<!\\)(?:\\\\)*\\n", written)),
        header=header,
        event=re.compile(EVENT) if event is None else _event_expression(event),
    )


def _parser(name: str, written: str) -> re.Pattern[str]:
    found = _compiled(written.strip(), f"{name}, line 1: the log's expression")
    missing = [group for group in ("event", "host", "clock") if group not in found.groupindex]
    if missing:
        raise InputError(
            f"{name}, line 1: the log's expression has no group (?<{missing[0]}>…); ShiViz needs "
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
    if len(written) > LONGEST_EXPRESSION:
        raise InputError(f"{what} is longer than {LONGEST_EXPRESSION:,} characters")
    python = re.sub(r"\(\?<(?=[A-Za-z_])", "(?P<", written)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return re.compile(python, re.MULTILINE)
    except (re.error, OverflowError, RecursionError) as error:
        raise InputError(f"{what} is no regular expression: {error}") from None


def shiviz_events(
    source: Source, layout: Layout, watch: Callable[[Stamp], None]
) -> Iterator[Event]:
    """Yield the causal-sends and deliveries of a log.

    Args:
        source: what to read.
        layout: how it is written.
        watch: called with the clock of each event, of other events, too.

    Raises:
        InputError: a line is no event, or searching it takes too long; says which and why.
    """
    with Watchdog() as dog:
        for number, block in _blocks(source, layout):
            dog.at = f"{source.name}, line {number}"
            found = [*_text_events(source.name, layout, number, block, watch)]
            dog.at = ""
            yield from found


def _blocks(source: Source, layout: Layout) -> Iterator[tuple[int, str]]:
    """Yield the lines of each event, with the number of the first."""
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
    found = layout.parser.search(block)
    if found is None:
        raise InputError(
            f"{log}, line {number}: no event here; the expression of the log is "
            f"{layout.parser.pattern!r}"
        )
    clock_line = number + block.count("\n", 0, found.start("clock"))
    host = found["host"] or ""
    if not host:
        raise InputError(f"{log}, line {clock_line}: an event without a host")
    clock = _clock(f"{log}, line {clock_line}", found["clock"] or "")
    watch(Stamp(clock_line, host, clock, log))
    line = number + block.count("\n", 0, found.start("event"))
    for said in layout.event.finditer(found["event"] or ""):
        groups = said.groupdict()
        kind = _kind(f"{log}, line {line}", groups)
        if not groups["message"]:
            raise InputError(f"{log}, line {line}: the event names no message")
        to = _receivers(groups.get("to"))
        event = Event(line, host, kind, groups["message"], to, clock, log)
        yield event
        if groups.get("twice"):
            yield event


def _clock(where: str, text: str) -> Mapping[str, int]:
    found = parsed(where, text, "the clock is ")
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
        return SEND
    if groups.get("deliver") is not None or word.startswith("deliver"):
        return DELIVER
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
