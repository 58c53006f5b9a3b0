"""The compiled judge: processes the events of a log as numbers, and names what it finds."""

from __future__ import annotations

from abc import ABC, abstractmethod
from bisect import bisect_left
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence, Set
from functools import partial

import numpy as np
from attrs import define, evolve, field, frozen

from antecede.checker.audit import kernels as k
from antecede.checker.audit.arrays import Array, again, fresh, grown
from antecede.checker.audit.capacity import OFTEN, check_memory
from antecede.checker.audit.chains import MOST_CHAINS
from antecede.checker.audit.events import DELIVER, SEND, Event
from antecede.checker.audit.evidence import with_events, with_missing
from antecede.checker.audit.findings import Audit, Finding, Foreign, finding_of, no_sends
from antecede.checker.audit.store import Store

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
class Judge(ABC):
    """Judges events; a subclass knows the names of actors, messages and logs.

    Attributes:
        tables: the kernels' arrays.
        group: the range of chunks of senders that is judged; None: all senders.
        record: the events in causal order, four numbers each; see `Tables.out`.
        logs: the names of logs, or of their parts.
        events: the number of events read.
        stopped: events are left out from now on, because the result is not needed any more.
    """

    tables: k.Tables = field(factory=fresh)
    group: tuple[int, int] | None = None
    record: Store = field(factory=lambda: Store(np.int64))
    logs: list[str] = field(factory=list)
    events: int = 0
    stopped: bool = False

    @property
    @abstractmethod
    def messages(self) -> int:
        """The number of messages, or an upper bound of their numbers."""

    @property
    @abstractmethod
    def acting(self) -> int:
        """The number of actors that have events."""

    @abstractmethod
    def actor(self, number: int) -> str:
        """Return an actor's name."""

    @abstractmethod
    def message(self, number: int) -> str:
        """Return a message's name."""

    @abstractmethod
    def place(self, where: int) -> tuple[str, int]:
        """Return the log and the line of a place."""

    def close(self) -> None:
        """Delete the record."""
        self.record.close()

    def _add_sets(self, ends: Array, members: Array) -> None:
        """Add destination sets, and make room for all events that can come next.

        Args:
            ends: per new set, the end of its members.
            members: int32; the actors in these sets, sorted in each.
        """
        count = self.tables.counter
        sets, used = int(count[k.SETS]), int(count[k.MEMBERS])
        count[k.SETS] += len(ends)
        count[k.MEMBERS] += len(members)
        t = self.tables = grown(self.tables)
        t.members[used : used + len(members)] = members
        t.set_starts[sets + 1 : sets + 1 + len(ends)] = used + ends

    def _judge(self, batch: Array, events: int, *, keep: bool = True) -> None:
        first = 0
        while not self.stopped:
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

    def result(self, foreign: Sequence[Foreign] = (), *, unfinished: bool = False) -> Audit:
        """Return the result, once everything is read.

        Raises:
            InputError: nothing was sent; the message names the lines in `foreign`, too.
        """
        self._finish()
        rows = self._found()
        ambiguous = np.unique(rows[rows[:, 0] == k.SHARED, 2])
        if ambiguous.size:
            self._judge_again(ambiguous)
            rows = self._found()
        t = self.tables
        if not t.counter[k.SENDS]:
            raise no_sends(self.logs, self.events, foreign)
        missing = self._missing(rows)
        findings = [*self._findings(rows)]
        numbers = {
            str(each.first): int(row[2])
            for row, each in zip(rows, findings, strict=True)
            if each.what != "late"
        }
        findings = with_events(findings, partial(self._about, numbers))
        return Audit(
            findings=tuple(findings),
            undelivered=() if unfinished else with_missing(self._undelivered(missing)),
            logs=tuple(self.logs),
            actors=self.acting,
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
                missed = tuple(sorted(map(self.actor, there)))
                findings.append(finding_of("undelivered", sender, name, line, log, missing=missed))
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
        return self._event(self.record.get(4 * number, 4))

    def _about(
        self, numbers: Mapping[str, int], messages: Set[str]
    ) -> Iterator[tuple[Event, bool]]:
        """Yield the recorded events of messages, given their numbers, and whether each counts."""
        wanted = np.array([numbers[message] for message in messages])
        for _, rows in self._rows():
            events = rows.reshape(-1, 4)
            for row in events[np.isin(events[:, 2], wanted)]:
                yield self._event(row), not row[0] & k.WRONG

    def _event(self, row: Array) -> Event:
        """Return the event in a row of the record."""
        where, actor, message, _ = map(int, row)
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
