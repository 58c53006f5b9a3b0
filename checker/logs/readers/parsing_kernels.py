"""Parses simple JSON objects, one per line; Python parses the other lines."""

from __future__ import annotations

from typing import NamedTuple

from antecede.checker.compiled.jit import prefetch
from antecede.checker.logs.events.columns_kernels import (
    ACTOR,
    GOT,
    KIND,
    MESSAGE,
    PLACE,
    SENT,
    TO,
    Array,
    kernel,
)
from antecede.checker.logs.readers.names_kernels import (
    AHEAD,
    BEGIN,
    END,
    FIRST_HASH,
    FIRST_SET,
    INDEX,
    LINE,
    LINES,
    LISTED,
    LISTS,
    MEMBERS,
    NAMED,
    OTHERS,
    SECOND_HASH,
    SETS,
    actor_of,
    hashed_message,
    hashes,
    place,
    put,
)

BY, WORD, NAME, TO_WHOM = range(4)
"""The fields of an event, as rows of `spans`: actor, word, message, destinations."""

FINISHED, ASK, GROW = range(3)
"""Reasons of a return: all is done; Python must read a line; arrays are too short."""


class Vocabulary(NamedTuple):
    """The words of a log.

    Attributes:
        words: uint8; the names of the fields actor, event, message and to, two words for a
            causal-send, and two for a delivery.
        ends: int64; the end of each of these words.
        foreign: ignore events with other words.
    """

    words: Array
    ends: Array
    foreign: bool


@kernel
def blank(data, at):
    """Return the position of the next byte that is not a space."""
    while data[at] == 32 or data[at] == 9 or data[at] == 13:
        at += 1
    return at


@kernel
def text_end(data, at):
    """Return the end of a simple text or whole number that starts at `at`, or -1.

    A text starts after its opening quote and ends before its closing quote.
    """
    if data[at] == 34:
        at += 1
        while data[at] != 34:
            if data[at] == 92 or data[at] < 32:
                return -1
            at += 1
        return at
    begin = at
    if data[at] == 45:
        at += 1
    first = at
    while 48 <= data[at] <= 57:
        at += 1
    if at == first or (data[first] == 48 and (at > first + 1 or first > begin)):
        return -1
    return at


@kernel
def same(data, start, end, other, begin, stop):
    """Return whether two spans have equal bytes."""
    if end - start != stop - begin:
        return False
    for at in range(end - start):  # noqa: SIM110 compiled
        if data[start + at] != other[begin + at]:
            return False
    return True


@kernel
def list_end(data, at):
    """Return the end of the list that starts at `at`, or -1 if it is not simple."""
    at += 1
    while data[at] != 93:
        if data[at] == 10 or data[at] == 91 or data[at] == 123:
            return -1
        if data[at] == 34:
            at = text_end(data, at)
            if at < 0:
                return -1
        at += 1
    return at


@kernel
def set_of(t, data, start, end):
    """Return the number of the destination set with the given list; -1 if strange, -2 if full.

    `start` is the position of its opening bracket, `end` of its closing bracket. The
    members of a new set are in the order of the list.
    """
    one, two = hashes(data, start, end)
    at = place(t.set_keys, one, two)
    if t.set_keys[at, INDEX] >= 0:
        return t.set_keys[at, INDEX]
    number, used = t.counter[SETS], t.counter[MEMBERS]
    new = number - t.counter[FIRST_SET]
    if new + 2 > len(t.set_starts) or 2 * number > len(t.set_keys):
        return -2
    begin, now = used, blank(data, start + 1)
    t.counter[LISTS] += 1
    while now < end:
        stop = text_end(data, now)
        if stop < 0:
            return -1
        quoted = data[now] == 34
        actor = actor_of(t, data, now + quoted, stop)
        if actor < 0 or used == len(t.members):
            t.counter[LISTED] = used - begin
            return -2
        if t.marks[actor] != t.counter[LISTS]:
            t.marks[actor] = t.counter[LISTS]
            t.members[used] = actor
            used += 1
        now = blank(data, stop + quoted)
        if now < end:
            if data[now] != 44:
                return -1
            now = blank(data, now + 1)
            if now >= end:
                return -1
    t.counter[MEMBERS] = used
    t.set_starts[new + 1] = used
    put(t.set_keys, at, one, two, number)
    t.counter[SETS] += 1
    return number


@kernel
def parse(t, data, at, vocabulary, batch, events, log):
    """Read lines until the batch is full, a line is not simple, or arrays are too short.

    Args:
        t: the parser's arrays.
        data: uint8; complete lines, each with a line end.
        at: the position to begin at.
        vocabulary: a `Vocabulary`.
        batch: int64; a row per event, see `columns_kernels`.
        events: the number of events in the batch.
        log: the log's number, shifted to its position in a place.

    Returns:
        The reason for the return, the position reached, and the number of events in the batch.
    """
    t.counter[NAMED], t.counter[OTHERS] = events, 0
    why, at, events = parse_lines(t, data, at, vocabulary, batch, events, log)
    while t.counter[NAMED] < events:
        if not name_next(t, data, batch):
            # Later events must be read again.
            named = t.counter[NAMED]
            t.counter[LINES] = batch[named, PLACE] - log - 1
            before = t.ahead[named % AHEAD, LINE]
            t.counter[OTHERS] = before >> 32
            return GROW, before & 0xFFFFFFFF, named
    return why, at, events


@kernel
def name_next(t, data, batch):
    """Give the next message of a batch its number; return whether there was room."""
    event = t.counter[NAMED]
    at = event % AHEAD
    start, end = t.ahead[at, BEGIN], t.ahead[at, END]
    one, two = t.ahead[at, FIRST_HASH], t.ahead[at, SECOND_HASH]
    message = hashed_message(t, data, start, end, one, two)
    if message < 0:
        return False
    batch[event, MESSAGE] = message
    t.counter[NAMED] += 1
    return True


@kernel
def parse_lines(t, data, at, vocabulary, batch, events, log):
    """Do the same as `parse`, but leave the last messages without numbers."""
    spans, words, ends = t.spans, vocabulary.words, vocabulary.ends
    mask = len(t.message_keys) - 1
    while at < len(data):
        if events == len(batch):
            return FINISHED, at, events
        now = blank(data, at)
        if data[now] == 10:
            t.counter[LINES] += 1
            at = now + 1
            continue
        now = object_spans(data, behind_text(data, now), words, ends, spans)
        if now < 0:
            return ASK, at, events
        kind = kind_of(data, spans[WORD, BEGIN], spans[WORD, END], words, ends)
        if kind < 0:
            if vocabulary.foreign:
                t.counter[LINES] += 1
                t.counter[OTHERS] += 1
                at = now + 1
                continue
            return ASK, at, events
        actor = actor_of(t, data, spans[BY, BEGIN], spans[BY, END])
        if actor < 0:
            return GROW, at, events
        to = -1
        if spans[TO_WHOM, END] and kind == SENT:
            to = set_of(t, data, spans[TO_WHOM, BEGIN], spans[TO_WHOM, END])
            if to < -1:
                return GROW, at, events
            if to < 0:
                return ASK, at, events
        if events - t.counter[NAMED] == AHEAD and not name_next(t, data, batch):
            return GROW, at, events
        one, two = hashes(data, spans[NAME, BEGIN], spans[NAME, END])
        prefetch(t.message_keys, 3 * (one & mask))
        slot = events % AHEAD
        t.ahead[slot, BEGIN], t.ahead[slot, END] = spans[NAME, BEGIN], spans[NAME, END]
        t.ahead[slot, FIRST_HASH], t.ahead[slot, SECOND_HASH] = one, two
        t.ahead[slot, LINE] = t.counter[OTHERS] << 32 | at
        t.counter[LINES] += 1
        batch[events, KIND], batch[events, ACTOR] = kind, actor
        batch[events, TO], batch[events, PLACE] = to, log | t.counter[LINES]
        events += 1
        at = now + 1
    return FINISHED, at, events


@kernel
def kind_of(data, start, end, words, ends):
    """Return the kind of an event, given the span of its word, or -1 if the word is unknown."""
    for known in range(4, 8):
        if same(data, start, end, words, ends[known - 1], ends[known]):
            return SENT if known < 6 else GOT
    return -1


@kernel
def behind_text(data, at):
    """Return the start of the first object of a line, behind text such as a container's name."""
    begin = at
    while data[at] != 123 and data[begin] != 10:
        if data[begin] == 123 and data[blank(data, begin + 1)] == 34:
            return begin
        begin += 1
    return at


@kernel
def object_spans(data, at, words, ends, spans):
    """Find the values of the four fields of a simple object; return the end of its line, or -1.

    `spans` gets their positions; without destinations, the end is 0.
    """
    if data[at] != 123:
        return -1
    for field in range(4):
        spans[field, BEGIN] = spans[field, END] = 0
    seen = 0
    at = blank(data, at + 1)
    while True:
        stop = text_end(data, at)
        if data[at] != 34 or stop < 0:
            return -1
        field = -1
        for known in range(4):
            begin = ends[known - 1] if known else 0
            if same(data, at + 1, stop, words, begin, ends[known]):
                field = known
        at = blank(data, stop + 1)
        if data[at] != 58:
            return -1
        at = blank(data, at + 1)
        if field == TO_WHOM:
            if data[at] != 91:
                return -1
            stop = list_end(data, at)
        else:
            stop = text_end(data, at)
        if stop < 0:
            return -1
        if field >= 0:
            if seen & (1 << field):
                return -1
            seen |= 1 << field
            spans[field, BEGIN] = at + (data[at] == 34)
            spans[field, END] = stop
        at = blank(data, stop + (data[stop] == 34 or data[stop] == 93))
        if data[at] == 44:
            at = blank(data, at + 1)
        elif data[at] == 125:
            break
        else:
            return -1
    at = blank(data, at + 1)
    if seen & 7 != 7 or data[at] != 10:
        return -1
    return at
