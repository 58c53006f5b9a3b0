"""The compiled reader of JSON objects: kernels parse simple lines, and Python parses the others."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from attrs import define, field

from antecede.checker.logs.events import columns_kernels as c
from antecede.checker.logs.events.batches import SIZE, Batch, Logs, two_homes
from antecede.checker.logs.events.event import EVENTS, SEND, Event
from antecede.checker.logs.events.space import Array, Store, alone, lengthen, moved, new_array
from antecede.checker.logs.readers import names_kernels as n
from antecede.checker.logs.readers import parsing_kernels as p
from antecede.checker.logs.readers.records import Fields, line_events
from antecede.checker.logs.readers.sources import Source


def no_names(messages: int) -> n.NameTables:
    """Return the arrays before the first line, with room for a batch of `messages`."""
    return n.NameTables(
        counter=np.zeros(n.COUNTERS, np.int64),
        actor_keys=_keys(64),
        message_keys=_keys(1 << 12),
        set_keys=_keys(64),
        arena=np.zeros(1 << 10, np.uint8),
        starts=np.zeros(32, np.int64),
        marks=np.zeros(32, np.int64),
        names=np.zeros(1 << 16, np.uint8),
        name_ends=np.zeros(messages + 1, np.int64),
        members=np.zeros(1 << 8, np.int32),
        set_starts=np.zeros(64, np.int64),
        spans=np.zeros((4, 2), np.int64),
        ahead=np.zeros((n.AHEAD, 5), np.int64),
    )


@alone
def more_names(t: n.NameTables) -> n.NameTables:
    """Return the arrays with each array that is nearly full made twice as long.

    Raises:
        CapacityError: there is too little memory.
    """
    arrays, count = t._asdict(), t.counter
    for name in ("starts", "marks"):
        lengthen(arrays, name, 4 * (count[n.ACTORS] + 2) // 3)
    names = t.name_ends[count[n.NAMES] - 1] if count[n.NAMES] else 0
    for name, used in (("arena", count[n.ARENA]), ("names", names)):
        lengthen(arrays, name, used + count[n.WANTED] + 1)
    lengthen(arrays, "name_ends", count[n.NAMES] + 2)
    lengthen(arrays, "members", count[n.MEMBERS] + count[n.LISTED] + 2)
    lengthen(arrays, "set_starts", count[n.SETS] - count[n.FIRST_SET] + 4)
    for name, used in (("actor_keys", count[n.ACTORS]), ("set_keys", count[n.SETS])):
        while 2 * (used + 2) > len(arrays[name]):
            arrays[name] = _rehashed(arrays[name])
    while 4 * (count[n.MESSAGES] + 2) > 3 * len(arrays["message_keys"]):
        arrays["message_keys"] = _rehashed(arrays["message_keys"])
    count[n.WANTED] = count[n.LISTED] = 0
    return n.NameTables(**arrays)


def _keys(rows: int) -> Array:
    keys = new_array((rows, 3), np.int64)
    keys[:, n.INDEX] = -1
    return keys


def _rehashed(old: Array) -> Array:
    return moved(n.rehash, old, _keys(2 * len(old)))


@define(eq=False)
class Parser:
    """Parses logs one after the other.

    Attributes:
        hand_over: takes a batch that is full, and returns one that can be filled.
        tables: the kernels' arrays.
        names, ends: the names of messages, one after the other, and the end of each name.
        home: per actor, the log that has its events, as index of `logs.wholes`.
        logs: the logs that were read.
        events: the number of events read.
        batch: the batch that is being filled.
    """

    hand_over: Callable[[Batch], Batch]
    tables: n.NameTables = field(factory=lambda: no_names(SIZE))
    names: Store = field(factory=lambda: Store(np.uint8))
    ends: Store = field(factory=lambda: Store(np.int64))
    home: Array = field(factory=lambda: np.full(64, -1, np.int32))
    logs: Logs = field(factory=Logs)
    events: int = 0
    batch: Batch = field(factory=Batch)

    def close(self) -> None:
        """Delete the names of messages."""
        for store in (self.names, self.ends):
            store.close()

    def read(self, source: Source, fields: Fields, tick: Callable[[int, int], None]) -> int:
        """Parse the next log, hand its events over, and return their number.

        Raises:
            InputError: a line is not an event; the message names the line and the reason. The
                events before it were handed over, because they may have an error, which comes
                first.
        """
        before = self.events
        self.logs.begin(source.name, source.whole)
        self._begin(source)
        words = (*fields.used, *fields.sends, *fields.delivers)
        vocabulary = p.Vocabulary(
            np.frombuffer("".join(words).encode(), np.uint8),
            np.cumsum([len(word.encode()) for word in words]),
            fields.foreign,
        )
        try:
            while chunk := source.read():
                source.check_text(chunk, int(self.tables.counter[n.LINES]))
                chunk += b"" if chunk.endswith(b"\n") else b"\n"
                self._chunk(chunk, source, fields, vocabulary)
                tick(source.taken, self.events)
        except Exception:
            self._empty()
            raise
        self._empty()
        return self.events - before

    def _begin(self, source: Source) -> None:
        """Restart the count of lines for the next log."""
        self.tables.counter[n.LINES] = source.skipped

    def _chunk(
        self, chunk: bytes, source: Source, fields: Fields, vocabulary: p.Vocabulary
    ) -> None:
        data, position = np.frombuffer(chunk, np.uint8), 0
        log = (len(self.logs.names) - 1) << c.PLACE_BITS
        while position < len(chunk):
            why, position, events = p.parse(
                self.tables, data, position, vocabulary, self.batch.rows, self.batch.events, log
            )
            self._add(events)
            source.foreign += int(self.tables.counter[n.OTHERS])
            if why == p.FINISHED:
                if position < len(chunk):
                    self._empty()
                continue
            if why == p.GROW:
                self._keep_names()
                self.tables = more_names(self.tables)
                continue
            end = chunk.index(b"\n", position)
            self.tables.counter[n.LINES] += 1
            line = chunk[position:end].decode().removesuffix("\r")
            if line.strip():
                number = int(self.tables.counter[n.LINES])
                self._line(line_events(source, number, line, fields), log)
            position = end + 1

    def _line(self, events: list[Event], log: int) -> None:
        """Take the events of a line that Python parsed."""
        for event in events:
            actor = self._number(n.actor_of, event.actor)
            message = self._number(n.message_of, event.message)
            to = -1
            if event.kind == SEND and event.to is not None:
                to = self._set(sorted({self._number(n.actor_of, name) for name in event.to}))
            if self.batch.events == len(self.batch.rows):
                self._empty()
            kind = EVENTS.index(event.kind)
            self.batch.rows[self.batch.events] = kind, actor, message, to, log | event.line
            self._add(self.batch.events + 1)

    def _set(self, members: list[int]) -> int:
        """Return the number of a destination set; a new set gets the next number."""
        self.tables.counter[n.LISTED] = len(members)
        t = self.tables = more_names(self.tables)
        text = np.frombuffer(repr(members).encode(), np.uint8)
        one, two = n.hashes(text, 0, len(text))
        row = n.place(t.set_keys, one, two)
        if (existing := int(t.set_keys[row, n.INDEX])) >= 0:
            return existing
        number, used = int(t.counter[n.SETS]), int(t.counter[n.MEMBERS])
        t.members[used : used + len(members)] = members
        t.set_starts[number - t.counter[n.FIRST_SET] + 1] = used + len(members)
        n.put(t.set_keys, row, one, two, number)
        t.counter[n.SETS] += 1
        t.counter[n.MEMBERS] += len(members)
        return number

    def _number(self, kernel: Callable[..., int], name: str) -> int:
        """Return the number of a name; a new name gets the next number."""
        text = np.frombuffer(name.encode("utf-8", "surrogatepass"), np.uint8)
        while (number := int(kernel(self.tables, text, 0, len(text)))) < 0:
            self._keep_names()
            self.tables = more_names(self.tables)
        return number

    def _empty(self) -> None:
        """Hand the batch over if it has events."""
        batch, count = self.batch, self.tables.counter
        if not batch.events:
            return
        batch.actors, batch.messages = int(count[n.ACTORS]), int(count[n.MESSAGES])
        batch.set_ends, batch.members = self._new_sets()
        self.batch = self.hand_over(batch)
        self.batch.events = 0
        self._keep_names()

    def _add(self, end: int) -> None:
        """Count the rows of the batch that were filled, up to event `end`.

        Raises:
            InputError: an actor also has events in another log.
        """
        rows = self.batch.rows[self.batch.events : end]
        if len(rows):
            self._check_homes(rows[:, c.ACTOR], rows[:, c.PLACE])
            self.events += end - self.batch.events
            self.batch.events = end

    def _check_homes(self, actors: Array, places: Array) -> None:
        if (most := int(actors.max())) >= len(self.home):
            self.home = np.concatenate([self.home, np.full(2 * most, -1, np.int32)])
        wholes = self.logs.wholes
        homes, here = self.home[actors], self.logs.here
        if (wrong := np.flatnonzero((homes >= 0) & (homes != here))).size:
            first = wrong[0]
            log, line = self.place(int(places[first]))
            raise two_homes(self.actor(int(actors[first])), wholes[homes[first]], log, line)
        self.home[actors] = here

    def _new_sets(self) -> tuple[Array, Array]:
        """Return the ends and the sorted members of new destination sets, and remove these sets."""
        t = self.tables
        starts = t.set_starts[: t.counter[n.SETS] - t.counter[n.FIRST_SET] + 1]
        members = t.members[: t.counter[n.MEMBERS]]
        owners = np.repeat(np.arange(len(starts) - 1), np.diff(starts))
        t.counter[n.FIRST_SET], t.counter[n.MEMBERS] = t.counter[n.SETS], 0
        return starts[1:].copy(), members[np.lexsort((members, owners))]

    def _keep_names(self) -> None:
        """Move the names of messages to the disk."""
        count = int(self.tables.counter[n.NAMES])
        if count:
            ends = self.tables.name_ends[:count]
            self.ends.add(ends + self.names.count)
            self.names.add(self.tables.names[: ends[-1]])
            self.tables.counter[n.NAMES] = 0

    def actor(self, number: int) -> str:
        """Return an actor's name."""
        start, end = self.tables.starts[number], self.tables.starts[number + 1]
        return self.tables.arena[start:end].tobytes().decode("utf-8", "surrogatepass")

    def message(self, number: int) -> str:
        """Return a message's name."""
        start, end = (0, *self.ends.get(0, 1)) if number == 0 else self.ends.get(number - 1, 2)
        return self.names.get(start, end - start).tobytes().decode("utf-8", "surrogatepass")

    def place(self, where: int) -> tuple[str, int]:
        """Return the log and the line of a place."""
        return self.logs.place(where)
