"""The compiled audit of logs of JSON objects: the same findings as the plain one, sooner."""

from __future__ import annotations

import heapq
import tempfile
from bisect import bisect_left
from collections import defaultdict
from collections.abc import Callable, Iterator
from typing import IO, Any

import numpy as np
from attrs import define, evolve, field

from antecede.checker.audit import kernels as k
from antecede.checker.audit.arrays import Array, fresh, grown
from antecede.checker.audit.chains import MOST_CHAINS, full_disk
from antecede.checker.audit.events import DELIVER, SEND, Event
from antecede.checker.audit.findings import Audit, Finding, no_sends, two_homes
from antecede.checker.audit.oracle import overtaken
from antecede.checker.audit.records import Fields, object_event
from antecede.checker.audit.sources import Source

BATCH = 1 << 14
LOG_SHIFT = 44
"""A place is a log's number and a line."""

ROWS = 1 << 16
"""The record is read in pieces of this many events."""


@define(eq=False)
class Store:
    """Numbers on disk, written at the end and read anywhere."""

    kind: Any
    file: IO[bytes] = field(factory=tempfile.TemporaryFile)
    count: int = 0

    def add(self, values: Array) -> None:
        """Append numbers.

        Raises:
            CapacityError: the disk is full.
        """
        try:
            self.file.write(np.ascontiguousarray(values, self.kind).tobytes())
        except OSError as error:
            raise full_disk(error) from None
        self.count += len(values)

    def get(self, start: int, count: int) -> Array:
        """Return numbers from a place on."""
        size = np.dtype(self.kind).itemsize
        try:
            self.file.flush()
        except OSError as error:
            raise full_disk(error) from None
        self.file.seek(start * size)
        found = np.frombuffer(self.file.read(count * size), self.kind)
        self.file.seek(0, 2)
        return found


@define(eq=False)
class Compiled:
    """Takes logs one after the other.

    Attributes:
        tables: what the kernels work on.
        group: which chunks of senders are judged; None: all.
        record: the events in causal order, four numbers each; see `Tables.out`.
        names, ends: of messages, and where each ends.
        home: per actor, the log that holds its events, a number in `wholes`.
        logs: the names of logs, or of their parts.
        wholes: the names of logs.
        events: how many were read.
    """

    tables: k.Tables = field(factory=fresh)
    group: tuple[int, int] | None = None
    record: Store = field(factory=lambda: Store(np.int64))
    names: Store = field(factory=lambda: Store(np.uint8))
    ends: Store = field(factory=lambda: Store(np.int64))
    home: Array = field(factory=lambda: np.full(64, -1, np.int32))
    logs: list[str] = field(factory=list)
    wholes: list[str] = field(factory=list)
    events: int = 0

    @property
    def messages(self) -> int:
        """How many messages there are."""
        return int(self.tables.counter[k.MESSAGES])

    def close(self) -> None:
        """Give the record up."""
        for store in (self.record, self.names, self.ends):
            store.file.close()

    def read(self, source: Source, fields: Fields, tick: Callable[[int, int], None]) -> int:
        """Take the next log; return how many events it has.

        Raises:
            InputError: a line is no event; says which and why.
        """
        before = self.events
        self.logs.append(source.name)
        if self.wholes[-1:] != [source.whole]:
            self.wholes.append(source.whole)
        self._begin()
        words = (fields.actor, fields.event, fields.message, fields.to, fields.send, fields.deliver)
        keys = np.frombuffer("".join(words).encode(), np.uint8)
        ends = np.cumsum([len(word.encode()) for word in words])
        batch = np.zeros(5 * BATCH, np.int64)
        while chunk := source.read():
            source.check_text(chunk, int(self.tables.counter[k.LINES]))
            chunk += b"" if chunk.endswith(b"\n") else b"\n"
            self._chunk(chunk, source.name, fields, keys, ends, batch)
            tick(source.taken, self.events)
        return self.events - before

    def _begin(self) -> None:
        """Count the lines of the next log."""
        self.tables.counter[k.LINES] = 0

    def _chunk(
        self, chunk: bytes, name: str, fields: Fields, keys: Array, ends: Array, batch: Array
    ) -> None:
        data, at = np.frombuffer(chunk, np.uint8), 0
        log = (len(self.logs) - 1) << LOG_SHIFT
        while at < len(chunk):
            why, at, events = k.parse(
                self.tables, data, len(chunk), at, keys, ends, fields.foreign, batch, log
            )
            self._take(batch, events)
            if why == k.FINISHED:
                continue
            end = chunk.index(b"\n", at)
            if why == k.GROW:
                self._keep_names()
                self.tables = grown(self.tables, end - at + 1)
                continue
            self.tables.counter[k.LINES] += 1
            line, number = chunk[at:end].decode().removesuffix("\r"), self.tables.counter[k.LINES]
            event = object_event(name, int(number), line, fields) if line.strip() else None
            if event is not None:
                self._event(event, log, batch)
            at = end + 1

    def _event(self, event: Event, log: int, batch: Array) -> None:
        """Take an event that Python has read."""
        spelled = [event.actor, event.message, *(event.to or ())]
        self._keep_names()
        self.tables = grown(self.tables, sum(len(_bytes(name)) + 3 for name in spelled) + 64)
        actor, message = (
            self._number(k.actor_of, event.actor),
            self._number(k.message_of, event.message),
        )
        to = -1
        if event.kind == SEND and event.to is not None:
            to = self._set(sorted({self._number(k.actor_of, name) for name in event.to}))
        kind = k.SEND if event.kind == SEND else k.DELIVER
        batch[:5] = (kind, actor, message, to, log | event.line)
        self._take(batch, 1)

    def _set(self, members: list[int]) -> int:
        """Return the number of a destination set, for which there is room."""
        t = self.tables
        text = np.frombuffer(repr(members).encode(), np.uint8)
        one, two = k.hashes(text, 0, len(text))
        at = k.place(t.set_keys, one, two)
        if (known := int(t.set_keys[3 * at + 2])) >= 0:
            return known
        number, used = int(t.counter[k.SETS]), int(t.counter[k.MEMBERS])
        t.members[used : used + len(members)] = members
        t.set_starts[number + 1] = used + len(members)
        k.put(t.set_keys, at, one, two, number)
        t.counter[k.SETS] += 1
        t.counter[k.MEMBERS] += len(members)
        return number

    def _number(self, kernel: Callable[..., int], name: str) -> int:
        text = np.frombuffer(_bytes(name), np.uint8)
        return int(kernel(self.tables, text, 0, len(text)))

    def _take(self, batch: Array, events: int) -> None:
        """Judge events."""
        if not events:
            return
        self._check_homes(batch[1 : 5 * events : 5], batch[4 : 5 * events : 5])
        self.events += events
        self._judge(batch, events)
        self._keep_names()

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

    def _judge(self, batch: Array, events: int, *, keep: bool = True) -> None:
        at = 0
        while True:
            at = k.judge(self.tables, batch, at, events)
            if at > events:
                break
            self._empty(keep=keep)
        if self.tables.counter[k.OUT] > len(self.tables.out) // 8:
            self._empty(keep=keep)

    def _empty(self, *, keep: bool) -> None:
        """Take the events to the record, and make what is short longer."""
        count = self.tables.counter
        if keep:
            self.record.add(self.tables.out[: 4 * count[k.OUT]])
        count[k.OUT] = 0
        self.tables = grown(self.tables)

    def _keep_names(self) -> None:
        """Take the names of messages to the disk."""
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
        """Return a log and a line."""
        return self.logs[where >> LOG_SHIFT], int(where & ((1 << LOG_SHIFT) - 1))

    def result(self, *, unfinished: bool = False) -> Audit:
        """Return what was found, once everything is read."""
        self._finish()
        self._empty(keep=True)
        t = self.tables
        if not t.counter[k.SENDS]:
            raise no_sends(self.logs, self.events)
        rows = t.found[: 6 * t.counter[k.FOUND]].reshape(-1, 6).copy()
        rows = rows[np.argsort(rows[:, 3], kind="stable")]
        undelivered = () if unfinished else self._undelivered()
        causal = rows[rows[:, 0] == k.CAUSAL]
        counts = [int(t.counter[at]) for at in (k.SENDS, k.DELIVERIES, k.UNADDRESSED)]
        sent = (t.state & 3 == k.TRANSIT) | (t.state & 3 == k.DONE)
        seconds = iter(self._seconds(causal) if len(causal) else ())
        findings: list[Finding] = []
        for row in rows:
            second = next(seconds) if row[0] == k.CAUSAL else -1
            finding = self._finding(row, second, sent=bool(sent[row[2]]))
            if second >= 0 and sum(bool(f.chain) for f in findings) < MOST_CHAINS:
                finding = self._with_chain(finding, int(row[2]), second, int(row[1]))
            findings.append(finding)
        return Audit(
            findings=tuple(findings),
            undelivered=undelivered,
            logs=tuple(self.logs),
            actors=int((self.home >= 0).sum()),
            causal_sends=counts[0],
            deliveries=counts[1],
            events=self.events,
            open=self._open(),
            unaddressed=counts[2],
        )

    def _finish(self) -> None:
        """Give up deliveries of messages that were never causal-sent, by their places."""
        t = self.tables
        blocked = np.flatnonzero(t.waits_for[: t.counter[k.ACTORS]] >= 0)
        heap = [(self._waits_at(int(actor)), int(actor)) for actor in blocked]
        heapq.heapify(heap)
        batch = np.zeros(5, np.int64)
        while heap:
            where, actor = heapq.heappop(heap)
            if self.tables.waits_for[actor] < 0 or self._waits_at(actor) != where:
                continue  # it has gone on since
            self.tables = grown(self.tables)
            before = int(self.tables.counter[k.READY_END])
            k.give_up(self.tables, actor)
            self._judge(batch, 0)
            t = self.tables
            woken = range(before, int(t.counter[k.READY_END]))
            for other in {int(t.ready[at % len(t.ready)]) for at in woken}:
                if t.waits_for[other] >= 0:
                    heapq.heappush(heap, (self._waits_at(other), other))

    def _waits_at(self, actor: int) -> int:
        t = self.tables
        return int(t.nodes[5 * t.first_node[actor] + 3])

    def _finding(self, row: Array, second: int, *, sent: bool) -> Finding:
        kind, actor, name = int(row[0]), self.actor(int(row[1])), self.message(int(row[2]))
        log, line = self.place(int(row[3]))
        event = Event(line, actor, DELIVER, name, log=log)
        why = "before it can have been" if sent else "and it was never"
        kinds = {
            k.AGAIN: ("integrity", f"{actor} delivers {name} again"),
            k.STRAY: ("integrity", f"{actor} delivers {name}, which was not sent to it"),
            k.TWICE: ("impossible", f"{name} is causal-sent a second time"),
            k.NEVER: ("impossible", f"{actor} delivers {name}, {why} causal-sent"),
        }
        if kind == k.CAUSAL:
            other = self.message(second)
            text = overtaken(event, other)
            return Finding("causal-delivery", line, text, actor, name, other, log)
        word, text = kinds[kind]
        return Finding(word, line, text, actor, name, log=log)

    def _open(self) -> int:
        """Return how many copies were causal-sent and not delivered."""
        state = self.tables.state[: self.messages]
        slots = state[state & 3 == k.TRANSIT] >> 2
        return int(np.maximum(self.tables.missing[slots], 0).sum())

    def _undelivered(self) -> tuple[Finding, ...]:
        """Return the messages that some destination has not delivered."""
        t, found = self.tables, []
        for message in np.flatnonzero(t.state[: self.messages] & 3 == k.TRANSIT):
            slot = t.state[message] >> 2
            if t.missing[slot] <= 0:
                continue
            members = t.members[t.set_starts[t.to[slot]] : t.set_starts[t.to[slot] + 1]]
            names = sorted(
                self.actor(int(m))
                for m in members
                if t.pairs[k.pair_place(t.pairs, (int(message) << 32) | int(m))] < 0
            )
            sender, name = self.actor(int(t.sender[slot])), self.message(int(message))
            log, line = self.place(int(t.sent_at[slot]))
            text = f"{name} of {sender} was not delivered at {', '.join(names)}"
            found.append(
                (int(t.sent_at[slot]), Finding("undelivered", line, text, sender, name, log=log))
            )
        return tuple(f for _, f in sorted(found, key=lambda pair: pair[0]))

    def _rows(self) -> Iterator[tuple[int, Array]]:
        """Yield the record in pieces, with the number of the first event of each."""
        for start in range(0, self.record.count, 4 * ROWS):
            yield start // 4, self.record.get(start, 4 * ROWS)

    def _seconds(self, causal: Array) -> Iterator[int]:
        """Yield for each violation by which message the delivered one was overtaken.

        Judges everything once more, and notes what the deliveries of the actors concerned tell of
        the senders concerned.
        """
        raised = defaultdict(list)
        for pair, number, message in self._raised(causal):
            raised[pair].append((number, message))
        for row in causal:
            told = raised[int(row[1]) << 32 | int(row[4])]
            yield told[bisect_left(told, (int(row[5]), -1))][1]

    def _raised(self, causal: Array) -> list[list[int]]:
        done = self.tables
        pairs = np.unique(causal[:, 1] << 32 | causal[:, 4])
        again = fresh(self.group)
        self.tables = again._replace(
            state=np.zeros_like(done.state),
            members=done.members,
            set_starts=done.set_starts,
            watched=(pairs & 0xFFFFFFFF).astype(np.int32),
            watch_starts=np.searchsorted(pairs >> 32, np.arange(done.counter[k.ACTORS] + 1)),
        )
        for _ in range(int(done.counter[k.ACTORS])):
            self._add_actor()
        batch = np.zeros(5 * ROWS, np.int64)
        for _, rows in self._rows():
            events = rows.reshape(-1, 4)
            shaped = batch[: 5 * len(events)].reshape(-1, 5)
            shaped[:, 0], shaped[:, 4] = events[:, 0] & 1, events[:, 0] >> 1
            shaped[:, 1:4] = events[:, 1:]
            self._judge(batch, len(events), keep=False)
        t, self.tables = self.tables, done
        found: list[list[int]] = t.raised[: 3 * t.counter[k.RAISED]].reshape(-1, 3).tolist()
        return found

    def _add_actor(self) -> None:
        number = int(self.tables.counter[k.ACTORS])
        if number % 16 == 0:
            self.tables = grown(self.tables, 256)
        self._number(k.actor_of, str(number))

    def _with_chain(self, finding: Finding, first: int, second: int, actor: int) -> Finding:
        """Return a violation with the chain from one message to the other."""
        t = self.tables
        via = np.full(t.counter[k.ACTORS], -1, np.int64)
        how, sent_at = (np.full(self.messages, -1, np.int64) for _ in range(2))
        for base, rows in self._rows():
            if k.follow(rows, base, first, second, via, how, sent_at):
                break
        events: list[Event] = []
        at = second
        while at >= 0:
            events.append(self._recorded(int(sent_at[at])))
            known, at = int(how[at]), -1
            if known >= 0:
                how_known = self._recorded(known)
                at = int(self.record.get(4 * known, 4)[2])
                events += [how_known] if how_known.kind == DELIVER else []
        events.reverse()
        chain = tuple(event.message for event in events if event.kind == SEND)
        ends = [self._delivery(actor, message) for message in (second, first)]
        return evolve(finding, chain=chain, events=(*events, *ends))

    def _recorded(self, number: int) -> Event:
        """Return an event of the record."""
        where, actor, message, _ = map(int, self.record.get(4 * number, 4))
        log, line = self.place(where >> 1)
        kind = DELIVER if where & 1 else SEND
        return Event(line, self.actor(actor), kind, self.message(message), log=log)

    def _delivery(self, actor: int, message: int) -> Event:
        """Return the first delivery of a message at an actor."""
        for base, rows in self._rows():
            events = rows.reshape(-1, 4)
            here = (events[:, 0] & 1 == 1) & (events[:, 1] == actor) & (events[:, 2] == message)
            if (found := np.flatnonzero(here)).size:
                return self._recorded(base + int(found[0]))
        raise AssertionError("a violation has both deliveries")


def _bytes(name: str) -> bytes:
    return name.encode("utf-8", "surrogatepass")
