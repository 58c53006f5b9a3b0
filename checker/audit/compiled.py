"""The compiled audit of logs of JSON objects: the plain audit's findings, but faster."""

from __future__ import annotations

from bisect import bisect_left
from collections import defaultdict
from collections.abc import Callable, Iterator

import numpy as np
from attrs import define, evolve, field, frozen

from antecede.checker.audit import kernels as k
from antecede.checker.audit.arrays import Array, again, fresh, grown
from antecede.checker.audit.capacity import OFTEN, check_memory
from antecede.checker.audit.chains import MOST_CHAINS
from antecede.checker.audit.events import DELIVER, SEND, Event
from antecede.checker.audit.findings import Audit, Finding, finding_of, no_sends, two_homes
from antecede.checker.audit.records import Fields, line_events
from antecede.checker.audit.sources import Source
from antecede.checker.audit.store import Store

BATCH = 1 << 14
LOG_SHIFT = 40
"""The number of bits of a line in a place; a place is a log's number and a line."""

ROWS = 1 << 16
"""The number of events in a piece of the record."""

WHAT = {
    k.CAUSAL: "late",
    k.AGAIN: "again",
    k.STRAY: "astray",
    k.TWICE: "sent twice",
    k.SHARED: "shared",
}
"""The keys of `findings.KINDS` for the kernels' findings; for k.NEVER it depends on the message."""


@define(eq=False)
class Compiled:
    """Judges logs one after the other.

    Attributes:
        tables: the kernels' arrays.
        group: the range of chunks of senders that is judged; None: all senders.
        record: the events in causal order, four numbers each; see `Tables.out`.
        names, ends: the names of messages, one after the other, and the end of each name.
        home: per actor, the log that has its events, as index of `wholes`.
        logs: the names of logs, or of their parts.
        wholes: the names of logs.
        events: the number of events read.
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
        """The number of messages."""
        return int(self.tables.counter[k.MESSAGES])

    def close(self) -> None:
        """Delete the record."""
        for store in (self.record, self.names, self.ends):
            store.close()

    def read(self, source: Source, fields: Fields, tick: Callable[[int, int], None]) -> int:
        """Read and judge the next log; return the number of its events.

        Raises:
            InputError: a line is not an event; the message names the line and the reason.
        """
        before = self.events
        self.logs.append(source.name)
        if self.wholes[-1:] != [source.whole]:
            self.wholes.append(source.whole)
        self._begin(source)
        words = (fields.actor, fields.event, fields.message, fields.to, fields.send, fields.deliver)
        vocabulary = k.Vocabulary(
            np.frombuffer("".join(words).encode(), np.uint8),
            np.cumsum([len(word.encode()) for word in words]),
            fields.foreign,
        )
        batch = np.zeros(5 * BATCH, np.int64)
        while chunk := source.read():
            source.check_text(chunk, int(self.tables.counter[k.LINES]))
            chunk += b"" if chunk.endswith(b"\n") else b"\n"
            self._chunk(chunk, source, fields, vocabulary, batch)
            tick(source.taken, self.events)
        return self.events - before

    def _begin(self, source: Source) -> None:
        """Restart the count of lines for the next log."""
        self.tables.counter[k.LINES] = source.skipped

    def _chunk(
        self, chunk: bytes, source: Source, fields: Fields, vocabulary: k.Vocabulary, batch: Array
    ) -> None:
        data, position = np.frombuffer(chunk, np.uint8), 0
        log = (len(self.logs) - 1) << LOG_SHIFT
        while position < len(chunk):
            sets = int(self.tables.counter[k.SETS])
            why, position, events = k.parse(self.tables, data, position, vocabulary, batch, log)
            self._sort(sets)
            self._take(batch, events)
            if why == k.FINISHED:
                continue
            if why == k.GROW:
                self._keep_names()
                self.tables = grown(self.tables)
                continue
            end = chunk.index(b"\n", position)
            self.tables.counter[k.LINES] += 1
            line, number = (
                chunk[position:end].decode().removesuffix("\r"),
                self.tables.counter[k.LINES],
            )
            if line.strip():
                self._line(line_events(source, int(number), line, fields), log, batch)
            position = end + 1

    def _sort(self, first: int) -> None:
        """Sort the members of the destination sets from number `first` on."""
        starts = self.tables.set_starts[first : self.tables.counter[k.SETS] + 1]
        members = self.tables.members[starts[0] : starts[-1]]
        owners = np.repeat(np.arange(len(starts) - 1), np.diff(starts))
        members[:] = members[np.lexsort((members, owners))]

    def _line(self, events: list[Event], log: int, batch: Array) -> None:
        """Judge the events of a line that Python parsed."""
        for event in events:
            self._event(event, log, batch)

    def _event(self, event: Event, log: int, batch: Array) -> None:
        actor = self._number(k.actor_of, event.actor)
        message = self._number(k.message_of, event.message)
        to = -1
        if event.kind == SEND and event.to is not None:
            to = self._set(sorted({self._number(k.actor_of, name) for name in event.to}))
        kind = k.SEND if event.kind == SEND else k.DELIVER
        batch[:5] = (kind, actor, message, to, log | event.line)
        self._take(batch, 1)

    def _set(self, members: list[int]) -> int:
        """Return the number of a destination set; a new set gets the next number."""
        self.tables.counter[k.LISTED] = len(members)
        t = self.tables = grown(self.tables)
        text = np.frombuffer(repr(members).encode(), np.uint8)
        one, two = k.hashes(text, 0, len(text))
        slot = k.place(t.set_keys, one, two)
        if (existing := int(t.set_keys[3 * slot + 2])) >= 0:
            return existing
        number, used = int(t.counter[k.SETS]), int(t.counter[k.MEMBERS])
        t.members[used : used + len(members)] = members
        t.set_starts[number + 1] = used + len(members)
        k.put(t.set_keys, slot, one, two, number)
        t.counter[k.SETS] += 1
        t.counter[k.MEMBERS] += len(members)
        return number

    def _number(self, kernel: Callable[..., int], name: str) -> int:
        """Return the number of a name; a new name gets the next number."""
        text = np.frombuffer(_bytes(name), np.uint8)
        while (number := int(kernel(self.tables, text, 0, len(text)))) < 0:
            self._keep_names()
            self.tables = grown(self.tables)
        return number

    def _take(self, batch: Array, events: int) -> None:
        """Judge the events in a batch."""
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
        first = 0
        while True:
            first = k.judge(self.tables, batch, first, events)
            if first > events:
                break
            self._empty(keep=keep)
        if self.tables.counter[k.OUT] > len(self.tables.out) // 8:
            self._empty(keep=keep)

    def _empty(self, *, keep: bool) -> None:
        """Append events to the record, and lengthen arrays that are nearly full."""
        count = self.tables.counter
        if keep:
            self.record.add(self.tables.out[: 4 * count[k.OUT]])
        count[k.OUT] = 0
        self.tables = grown(self.tables)

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

    def result(self, *, unfinished: bool = False) -> Audit:
        """Return the result, once everything is read."""
        self._finish()
        rows = self._found()
        ambiguous = np.unique(rows[rows[:, 0] == k.SHARED, 2])
        if ambiguous.size:
            self._judge_again(ambiguous)
            rows = self._found()
        t = self.tables
        if not t.counter[k.SENDS]:
            raise no_sends(self.logs, self.events)
        missing = self._missing(rows)
        return Audit(
            findings=tuple(self._findings(rows)),
            undelivered=() if unfinished else self._undelivered(missing),
            logs=tuple(self.logs),
            actors=int((self.home >= 0).sum()),
            causal_sends=int(t.counter[k.SENDS]),
            deliveries=int(t.counter[k.DELIVERIES]),
            events=self.events,
            open=missing.copies,
            unaddressed=int(t.counter[k.UNADDRESSED]),
        )

    def _finish(self) -> None:
        """Report the impossible deliveries, and continue with their actors' later events."""
        t = self.tables
        actors = int(t.counter[k.ACTORS])
        if (t.waits_for[:actors] >= 0).any():
            senders, at = np.full(self.messages, -1, np.int32), np.array([0, -1])
            while at[0] < actors:
                k.find_senders(t, senders, at)
            path, position = np.zeros(2 * actors, np.int64), np.full(actors, -1, np.int32)
            walk = np.zeros(3, np.int64)
            while walk[k.ACTOR] < actors:
                k.finish(self.tables, senders, path, position, walk)
                self._empty(keep=True)
        self._empty(keep=True)

    def _judge_again(self, ambiguous: Array) -> None:
        """Judge everything again, without the names that several actors causal-send."""
        first, self.record = self.record, Store(np.int64)
        self.tables = again(self.tables, self.group)
        self.tables.state[ambiguous] = k.AMBIGUOUS
        self._replay(first, wrong=True, keep=True)
        first.close()
        self._finish()

    def _replay(self, record: Store, *, wrong: bool, keep: bool) -> None:
        """Judge the events of a record again; `wrong`: include events that do not count."""
        batch = np.zeros(5 * ROWS, np.int64)
        for _, rows in self._rows(record):
            events = rows.reshape(-1, 4)
            if not wrong:
                events = events[events[:, 0] & k.WRONG == 0]
            shaped = batch[: 5 * len(events)].reshape(-1, 5)
            shaped[:, 0], shaped[:, 4] = events[:, 0] & 1, events[:, 0] >> 2
            shaped[:, 1:4] = events[:, 1:]
            self._judge(batch, len(events), keep=keep)

    def _found(self) -> Array:
        """Return the findings as rows, sorted by the actors' names, then in each actor's order."""
        t = self.tables
        rows = t.found[: 6 * t.counter[k.FOUND]].reshape(-1, 6)
        return rows[np.lexsort((rows[:, 3], self._ranks(rows[:, 1])))]

    def _ranks(self, actors: Array) -> Array:
        """Return numbers that sort actors by their names."""
        there, which = np.unique(actors, return_inverse=True)
        names = [self.actor(int(actor)) for actor in there]
        ranks = np.empty(len(there), np.int64)
        ranks[sorted(range(len(there)), key=names.__getitem__)] = np.arange(len(there))
        return np.asarray(ranks[which])

    def _findings(self, rows: Array) -> Iterator[Finding]:
        state = self.tables.state
        sent = (state & 3 == k.TRANSIT) | (state & 3 == k.DONE)
        causal = rows[rows[:, 0] == k.CAUSAL]
        seconds = iter(self._seconds(causal) if len(causal) else ())
        chains = MOST_CHAINS
        for number, row in enumerate(rows):
            if number % OFTEN == 0:
                check_memory()
            second = next(seconds) if row[0] == k.CAUSAL else -1
            finding = self._finding(row, second, sent=bool(sent[row[2]]))
            if second >= 0 and chains:
                chains -= 1
                finding = self._with_chain(finding, int(row[2]), second, int(row[1]))
            yield finding

    def _finding(self, row: Array, second: int, *, sent: bool) -> Finding:
        what = WHAT[row[0]] if row[0] != k.NEVER else "too soon" if sent else "unsent"
        overtaker = self.message(second) if row[0] == k.CAUSAL else ""
        log, line = self.place(int(row[3]))
        actor, message = self.actor(int(row[1])), self.message(int(row[2]))
        return finding_of(what, actor, message, line, log, overtaker)

    def _missing(self, rows: Array) -> _Missing:
        """Return the copies that were causal-sent and not delivered.

        Args:
            rows: the findings; a copy with an impossible delivery is not missing.
        """
        t = self.tables
        state = t.state[: self.messages]
        messages = np.flatnonzero(state & 3 == k.TRANSIT)
        messages = messages[t.missing[state[messages] >> 2] > 0]
        copies = int(t.missing[state[messages] >> 2].sum())
        early = {(int(row[2]), int(row[1])) for row in rows[rows[:, 0] == k.NEVER]}
        early = {pair for pair in early if self._is_missing(*pair)}
        return _Missing(messages, copies - len(early), early)

    def _is_missing(self, message: int, actor: int) -> bool:
        """Return whether an actor is a destination of a message and has not delivered it."""
        t = self.tables
        to = t.to[t.state[message] >> 2] if t.state[message] & 3 == k.TRANSIT else -1
        return bool(
            to >= 0
            and k.is_member(t.members, t.set_starts[to], t.set_starts[to + 1], actor)
            and t.pairs[k.pair_place(t.pairs, (message << 32) | actor)] < 0
        )

    def _undelivered(self, missing: _Missing) -> tuple[Finding, ...]:
        """Return the messages that some destination has not delivered, sorted by sender."""
        t = self.tables
        slots = t.state[missing.messages] >> 2
        order = np.lexsort((t.sent_at[slots], self._ranks(t.sender[slots])))
        findings = []
        for message, slot in zip(missing.messages[order].tolist(), slots[order], strict=True):
            to = t.to[slot]
            members = t.members[t.set_starts[to] : t.set_starts[to + 1]].tolist()
            pairs = [(message, actor) for actor in members if self._is_missing(message, actor)]
            there = [actor for pair in pairs if pair not in missing.early for actor in pair[1:]]
            if there:
                sender, name = self.actor(int(t.sender[slot])), self.message(message)
                log, line = self.place(int(t.sent_at[slot]))
                missed = ", ".join(sorted(map(self.actor, there)))
                findings.append(finding_of("undelivered", sender, name, line, log, missed))
        return tuple(findings)

    def _rows(self, record: Store | None = None) -> Iterator[tuple[int, Array]]:
        """Yield the pieces of a record, each with the number of its first event."""
        record = record or self.record
        for start in range(0, record.count, 4 * ROWS):
            yield start // 4, record.get(start, 4 * ROWS)

    def _seconds(self, causal: Array) -> Iterator[int]:
        """Yield the message that overtook the delivered one, violation by violation.

        This judges everything once more. For the actors and senders of the violations, it records
        how many of the sender's messages the actor knows after each delivery.
        """
        raised = defaultdict(list)
        for pair, number, message in self._raised(causal):
            raised[pair].append((number, message))
        for row in causal:
            increases = raised[int(row[1]) << 32 | int(row[4])]
            yield increases[bisect_left(increases, (int(row[5]), -1))][1]

    def _raised(self, causal: Array) -> list[list[int]]:
        done = self.tables
        pairs = np.unique(causal[:, 1] << 32 | causal[:, 4])
        self.tables = again(done, self.group)._replace(
            watched=(pairs & 0xFFFFFFFF).astype(np.int32),
            watch_starts=np.searchsorted(pairs >> 32, np.arange(done.counter[k.ACTORS] + 1)),
        )
        self._replay(self.record, wrong=False, keep=False)
        t, self.tables = self.tables, done
        increases: list[list[int]] = t.raised[: 3 * t.counter[k.RAISED]].reshape(-1, 3).tolist()
        return increases

    def _with_chain(self, finding: Finding, first: int, second: int, actor: int) -> Finding:
        """Return a violation with the chain of messages from `first` to `second`."""
        knowledge = k.Knowledge(
            via=np.full(self.tables.counter[k.ACTORS], -1, np.int64),
            how=np.full(self.messages, -1, np.int64),
            sent_at=np.full(self.messages, -1, np.int64),
            ends=np.zeros(2, np.int64),
        )
        for base, rows in self._rows():
            if k.follow(rows, base, first, second, actor, knowledge):
                break
        events: list[Event] = []
        current = second
        while current >= 0:
            events.append(self._recorded(int(knowledge.sent_at[current])))
            event_number, current = int(knowledge.how[current]), -1
            if event_number >= 0:
                how_known = self._recorded(event_number)
                current = int(self.record.get(4 * event_number, 4)[2])
                events += [how_known] if how_known.kind == DELIVER else []
        events.reverse()
        chain = tuple(event.message for event in events if event.kind == SEND)
        ends = map(self._recorded, knowledge.ends.tolist())
        return evolve(finding, chain=chain, events=(*events, *ends))

    def _recorded(self, number: int) -> Event:
        """Return event `number` of the record."""
        where, actor, message, _ = map(int, self.record.get(4 * number, 4))
        log, line = self.place(where >> 2)
        kind = DELIVER if where & 1 else SEND
        return Event(line, self.actor(actor), kind, self.message(message), log=log)


@frozen(eq=False)
class _Missing:
    """Copies that were causal-sent and not delivered.

    Attributes:
        messages: int64; messages that a destination has not delivered.
        copies: the number of copies.
        early: (message, actor) pairs with an impossible delivery and no other delivery.
    """

    messages: Array
    copies: int
    early: set[tuple[int, int]]


def _bytes(name: str) -> bytes:
    return name.encode("utf-8", "surrogatepass")
