"""Parses logs of JSON objects into batches: events as numbers, and the names of these numbers."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np
from attrs import define, field

from antecede.checker.audit import kernels as k
from antecede.checker.audit.arrays import Array, more_names, no_names
from antecede.checker.audit.events import SEND, Event
from antecede.checker.audit.findings import two_homes
from antecede.checker.audit.records import Fields, line_events
from antecede.checker.audit.sources import Source
from antecede.checker.audit.store import Store

BATCH = 1 << 14
"""The number of events in a batch."""

LOG_SHIFT = 40
"""The number of bits of a line in a place; a place is a log's number and a line."""


@define(eq=False)
class Batch:
    """Events in the order of their log, with the data that the judge needs about them.

    Attributes:
        rows: int64; five numbers per event, see `kernels.parse`.
        events: the number of events.
        actors, messages: the numbers of actors and messages up to the last event.
        set_ends: int64; the destination sets that are new in this batch, as ends in `members`.
        members: int32; the actors in these sets, sorted in each.
    """

    rows: Array = field(factory=lambda: np.zeros(5 * BATCH, np.int64))
    events: int = 0
    actors: int = 0
    messages: int = 0
    set_ends: Array = field(factory=lambda: np.zeros(0, np.int64))
    members: Array = field(factory=lambda: np.zeros(0, np.int32))


@define(eq=False)
class Parser:
    """Parses logs one after the other.

    Attributes:
        tables: the kernel's arrays.
        names, ends: the names of messages, one after the other, and the end of each name.
        home: per actor, the log that has its events, as index of `wholes`.
        logs: the names of logs, or of their parts.
        wholes: the names of logs.
        events: the number of events read.
        batch: the batch that is being filled. After a batch was yielded, the parser continues with
            the batch that is here then.
    """

    tables: k.Names = field(factory=lambda: no_names(BATCH))
    names: Store = field(factory=lambda: Store(np.uint8))
    ends: Store = field(factory=lambda: Store(np.int64))
    home: Array = field(factory=lambda: np.full(64, -1, np.int32))
    logs: list[str] = field(factory=list)
    wholes: list[str] = field(factory=list)
    events: int = 0
    batch: Batch = field(factory=Batch)

    def close(self) -> None:
        """Delete the names of messages."""
        for store in (self.names, self.ends):
            store.close()

    def read(
        self, source: Source, fields: Fields, tick: Callable[[int, int], None]
    ) -> Iterator[Batch]:
        """Parse the next log, and yield its events.

        Raises:
            InputError: a line is not an event; the message names the line and the reason. The
                events before it were yielded.
        """
        self.logs.append(source.name)
        if self.wholes[-1:] != [source.whole]:
            self.wholes.append(source.whole)
        self._begin(source)
        names = fields.used
        words = (*names, *fields.sends, *fields.delivers)
        vocabulary = k.Vocabulary(
            np.frombuffer("".join(words).encode(), np.uint8),
            np.cumsum([len(word.encode()) for word in words]),
            fields.foreign,
        )
        try:
            while chunk := source.read():
                source.check_text(chunk, int(self.tables.counter[k.LINES]))
                chunk += b"" if chunk.endswith(b"\n") else b"\n"
                yield from self._chunk(chunk, source, fields, vocabulary)
                tick(source.taken, self.events)
        except Exception:
            yield from self._filled()  # these events may have an error, which comes first
            raise
        yield from self._filled()

    def _begin(self, source: Source) -> None:
        """Restart the count of lines for the next log."""
        self.tables.counter[k.LINES] = source.skipped

    def _chunk(
        self, chunk: bytes, source: Source, fields: Fields, vocabulary: k.Vocabulary
    ) -> Iterator[Batch]:
        data, position = np.frombuffer(chunk, np.uint8), 0
        log = (len(self.logs) - 1) << LOG_SHIFT
        while position < len(chunk):
            why, position, events = k.parse(
                self.tables, data, position, vocabulary, self.batch.rows, self.batch.events, log
            )
            self._add(events)
            source.foreign += int(self.tables.counter[k.OTHERS])
            if why == k.FINISHED:
                if position < len(chunk):
                    yield from self._filled()
                continue
            if why == k.GROW:
                self._keep_names()
                self.tables = more_names(self.tables)
                continue
            end = chunk.index(b"\n", position)
            self.tables.counter[k.LINES] += 1
            line = chunk[position:end].decode().removesuffix("\r")
            if line.strip():
                number = int(self.tables.counter[k.LINES])
                yield from self._line(line_events(source, number, line, fields), log)
            position = end + 1

    def _line(self, events: list[Event], log: int) -> Iterator[Batch]:
        """Take the events of a line that Python parsed."""
        for event in events:
            actor = self._number(k.actor_of, event.actor)
            message = self._number(k.message_of, event.message)
            to = -1
            if event.kind == SEND and event.to is not None:
                to = self._set(sorted({self._number(k.actor_of, name) for name in event.to}))
            if 5 * self.batch.events == len(self.batch.rows):
                yield from self._filled()
            kind = k.SEND if event.kind == SEND else k.DELIVER
            row = (kind, actor, message, to, log | event.line)
            self.batch.rows[5 * self.batch.events :][:5] = row
            self._add(self.batch.events + 1)

    def _set(self, members: list[int]) -> int:
        """Return the number of a destination set; a new set gets the next number."""
        self.tables.counter[k.LISTED] = len(members)
        t = self.tables = more_names(self.tables)
        text = np.frombuffer(repr(members).encode(), np.uint8)
        one, two = k.hashes(text, 0, len(text))
        slot = k.place(t.set_keys, one, two)
        if (existing := int(t.set_keys[3 * slot + 2])) >= 0:
            return existing
        number, used = int(t.counter[k.SETS]), int(t.counter[k.MEMBERS])
        t.members[used : used + len(members)] = members
        t.set_starts[number - t.counter[k.FIRST_SET] + 1] = used + len(members)
        k.put(t.set_keys, slot, one, two, number)
        t.counter[k.SETS] += 1
        t.counter[k.MEMBERS] += len(members)
        return number

    def _number(self, kernel: Callable[..., int], name: str) -> int:
        """Return the number of a name; a new name gets the next number."""
        text = np.frombuffer(name.encode("utf-8", "surrogatepass"), np.uint8)
        while (number := int(kernel(self.tables, text, 0, len(text)))) < 0:
            self._keep_names()
            self.tables = more_names(self.tables)
        return number

    def _filled(self) -> Iterator[Batch]:
        """Yield the batch if it has events."""
        batch, count = self.batch, self.tables.counter
        if not batch.events:
            return
        batch.actors, batch.messages = int(count[k.ACTORS]), int(count[k.MESSAGES])
        batch.set_ends, batch.members = self._new_sets()
        yield batch
        self.batch.events = 0
        self._keep_names()

    def _add(self, end: int) -> None:
        """Count the rows of the batch that were filled, up to event `end`.

        Raises:
            InputError: an actor also has events in another log.
        """
        rows = self.batch.rows[5 * self.batch.events : 5 * end]
        if len(rows):
            self._check_homes(rows[1::5], rows[4::5])
            self.events += end - self.batch.events
            self.batch.events = end

    def _check_homes(self, actors: Array, places: Array) -> None:
        if (most := int(actors.max())) >= len(self.home):
            self.home = np.concatenate([self.home, np.full(2 * most, -1, np.int32)])
        homes, here = self.home[actors], len(self.wholes) - 1
        if (wrong := np.flatnonzero((homes >= 0) & (homes != here))).size:
            first = wrong[0]
            raise two_homes(
                self.actor(int(actors[first])),
                self.wholes[homes[first]],
                self.logs[-1],
                int(places[first]) & ((1 << LOG_SHIFT) - 1),
            )
        self.home[actors] = here

    def _new_sets(self) -> tuple[Array, Array]:
        """Return the ends and the sorted members of new destination sets, and remove these sets."""
        t = self.tables
        starts = t.set_starts[: t.counter[k.SETS] - t.counter[k.FIRST_SET] + 1]
        members = t.members[: t.counter[k.MEMBERS]]
        owners = np.repeat(np.arange(len(starts) - 1), np.diff(starts))
        t.counter[k.FIRST_SET], t.counter[k.MEMBERS] = t.counter[k.SETS], 0
        return starts[1:].copy(), members[np.lexsort((members, owners))]

    def _keep_names(self) -> None:
        """Move the names of messages to the disk."""
        count = int(self.tables.counter[k.NAMES])
        if count:
            ends = self.tables.name_ends[:count]
            self.ends.add(ends + self.names.count)
            self.names.add(self.tables.names[: ends[-1]])
            self.tables.counter[k.NAMES] = 0

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
        return self.logs[where >> LOG_SHIFT], int(where & ((1 << LOG_SHIFT) - 1))
