"""The judge: processes the events of logs as numbers, and names what it finds."""

from __future__ import annotations

from bisect import bisect_left
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence, Set
from functools import partial

import numpy as np
from attrs import define, evolve, field, frozen

from antecede.checker.logs.events.batches import Batch, Numbered
from antecede.checker.logs.events.capacity import OFTEN, check_memory
from antecede.checker.logs.events.event import DELIVER, EVENTS, SEND, Event
from antecede.checker.logs.events.space import Array, Store, longer
from antecede.checker.logs.judge import layout_kernels as k
from antecede.checker.logs.judge.code import MACHINE, PLAIN, Code
from antecede.checker.logs.judge.evidence import with_events, with_missing
from antecede.checker.logs.judge.findings import Audit, Finding, finding_of
from antecede.checker.logs.judge.following_kernels import Knowledge
from antecede.checker.logs.judge.tables import again, fresh, grown

MOST_CHAINS = 20
"""The most violations with a chain; further violations are reported without one."""

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


def _no_record() -> Store:
    return Store(np.int64, 4)


@define(eq=False)
class Judge:
    """Judges the events of logs, batch by batch.

    Attributes:
        names: knows the names of actors, messages and logs.
        compiled: the kernels are machine code.
        group: the range of chunks of senders that is judged; None: all senders.
        tables: the kernels' arrays.
        record: the events in causal order; see `out` of `Tables`.
        acts: bool per actor; it has events.
        events: the number of events read.
        stopped: events are left out from now on, because the result is not needed any more.
    """

    names: Numbered
    compiled: bool = True
    group: tuple[int, int] | None = None
    tables: k.Tables = field(init=False)
    record: Store = field(factory=_no_record)
    acts: Array = field(factory=lambda: np.zeros(64, bool))
    events: int = 0
    stopped: bool = False

    def __attrs_post_init__(self) -> None:
        """Begin with empty tables."""
        self.tables = fresh(self.group)

    @property
    def code(self) -> Code:
        """The kernels."""
        return MACHINE if self.compiled else PLAIN

    @property
    def messages(self) -> int:
        """The number of messages, or an upper bound of their numbers."""
        return int(self.tables.counter[k.MESSAGES])

    def close(self) -> None:
        """Delete the record."""
        self.stopped = True
        self.record.close()

    def take(self, batch: Batch) -> None:
        """Judge the events of a batch, unless an earlier one failed."""
        if self.stopped:
            return
        try:
            self.tables.counter[[k.ACTORS, k.MESSAGES]] = batch.actors, batch.messages
            self._add_sets(batch.set_ends, batch.members)
            if batch.actors > len(self.acts):
                self.acts = longer(self.acts, 2 * batch.actors)
            self.acts[batch.rows[: batch.events, k.ACTOR]] = True
            self.events += batch.events
            self._judge(batch.rows, batch.events)
        except BaseException:
            self.stopped = True
            raise

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
        t = self.tables = grown(self.tables, self.code)
        t.members[used : used + len(members)] = members
        t.set_starts[sets + 1 : sets + 1 + len(ends)] = used + ends

    def _judge(self, batch: Array, events: int, *, keep: bool = True) -> None:
        first = 0
        while not self.stopped:
            first = self.code.judge(self.tables, batch, first, events)
            if first > events:
                break
            self._empty(keep=keep)
        if self.tables.counter[k.OUT] > len(self.tables.out) // 8:
            self._empty(keep=keep)

    def _empty(self, *, keep: bool) -> None:
        """Append events to the record, and lengthen arrays that are nearly full."""
        count = self.tables.counter
        if keep:
            self.record.add(self.tables.out[: count[k.OUT]])
        count[k.OUT] = 0
        self.tables = grown(self.tables, self.code)

    def result(self, logs: Sequence[str], *, unfinished: bool = False) -> Audit:
        """Return the result, once everything is read; `logs` are the names of the logs."""
        self._finish()
        rows = self._found()
        ambiguous = np.unique(rows[rows[:, k.KIND] == k.SHARED, k.MESSAGE])
        if ambiguous.size:
            self._judge_again(ambiguous)
            rows = self._found()
        t = self.tables
        missing = self._missing(rows)
        findings = [*self._findings(rows)]
        numbers = {
            str(each.first): int(row[k.MESSAGE])
            for row, each in zip(rows, findings, strict=True)
            if each.what != "late"
        }
        findings = with_events(findings, partial(self._about, numbers))
        return Audit(
            findings=tuple(findings),
            undelivered=() if unfinished else with_missing(self._undelivered(missing)),
            logs=tuple(logs),
            actors=int(self.acts.sum()),
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
                self.code.find_senders(t, senders, at)
            path, position = np.zeros((actors, 2), np.int64), np.full(actors, -1, np.int32)
            walk = np.zeros(3, np.int64)
            while walk[k.BEGIN] < actors:
                self.code.finish(self.tables, senders, path, position, walk)
                self._empty(keep=True)
        self._empty(keep=True)

    def _judge_again(self, ambiguous: Array) -> None:
        """Judge everything again, without the names that several actors causal-send."""
        first, self.record = self.record, _no_record()
        self.tables = again(self.tables, self.group, self.code)
        self.tables.state[ambiguous] = k.AMBIGUOUS
        self._replay(first, wrong=True, keep=True)
        first.close()
        self._finish()

    def _replay(self, record: Store, *, wrong: bool, keep: bool) -> None:
        """Judge the events of a record again; `wrong`: include events that do not count."""
        rows = np.zeros((ROWS, k.COLUMNS), np.int64)
        for _, events in self.rows(record):
            if not wrong:
                events = events[events[:, k.TAGGED] & k.WRONG == 0]
            used = rows[: len(events)]
            used[:, k.KIND], used[:, k.PLACE] = events[:, k.TAGGED] & 1, events[:, k.TAGGED] >> 2
            used[:, [k.ACTOR, k.MESSAGE, k.TO]] = events[:, [k.ACTOR, k.MESSAGE, k.TO]]
            self._judge(rows, len(events), keep=keep)

    def _found(self) -> Array:
        """Return the findings as rows, sorted by the actors' names, then in each actor's order.

        The kernels find them in this order, because they process each actor's events in order.
        """
        rows = self.tables.found[: self.tables.counter[k.FOUND]]
        return rows[np.argsort(self._ranks(rows[:, k.ACTOR]), kind="stable")]

    def _ranks(self, actors: Array) -> Array:
        """Return numbers that sort actors by their names."""
        there, which = np.unique(actors, return_inverse=True)
        names = [self.names.actor(int(actor)) for actor in there]
        ranks = np.empty(len(there), np.int64)
        ranks[sorted(range(len(there)), key=names.__getitem__)] = np.arange(len(there))
        return np.asarray(ranks[which])

    def _findings(self, rows: Array) -> Iterator[Finding]:
        state = self.tables.state
        sent = (state & 3 == k.TRANSIT) | (state & 3 == k.DONE)
        causal = rows[rows[:, k.KIND] == k.CAUSAL]
        seconds = iter(self._seconds(causal) if len(causal) else ())
        chains = MOST_CHAINS
        for number, row in enumerate(rows):
            if number % OFTEN == 0:
                check_memory()
            second = next(seconds) if row[k.KIND] == k.CAUSAL else -1
            finding = self._finding(row, second, sent=bool(sent[row[k.MESSAGE]]))
            if second >= 0 and chains:
                chains -= 1
                first, actor = int(row[k.MESSAGE]), int(row[k.ACTOR])
                finding = self._with_chain(finding, first, second, actor)
            yield finding

    def _finding(self, row: Array, second: int, *, sent: bool) -> Finding:
        kind = int(row[k.KIND])
        what = WHAT[kind] if kind != k.NEVER else "too soon" if sent else "unsent"
        overtaker = self.names.message(second) if kind == k.CAUSAL else ""
        log, line = self.names.place(int(row[k.PLACE]))
        actor = self.names.actor(int(row[k.ACTOR]))
        message = self.names.message(int(row[k.MESSAGE]))
        return finding_of(what, actor, message, line, log, overtaker)

    def _missing(self, rows: Array) -> _Missing:
        """Return the copies that were causal-sent and not delivered.

        Args:
            rows: the findings; a copy with an impossible delivery is not missing.
        """
        t = self.tables
        state = t.state[: self.messages]
        messages = np.flatnonzero(state & 3 == k.TRANSIT)
        messages = messages[t.slots[state[messages] >> 2, k.MISSING] > 0]
        copies = int(t.slots[state[messages] >> 2, k.MISSING].sum())
        never = rows[rows[:, k.KIND] == k.NEVER][:, [k.MESSAGE, k.ACTOR]]
        early = {(m, actor) for m, actor in never.tolist() if self._is_missing(m, actor)}
        return _Missing(messages, copies - len(early), early)

    def _is_missing(self, message: int, actor: int) -> bool:
        """Return whether an actor is a destination of a message and has not delivered it."""
        t = self.tables
        to = t.slots[t.state[message] >> 2, k.WHOM] if t.state[message] & 3 == k.TRANSIT else -1
        return bool(
            to >= 0
            and self.code.is_member(t.members, t.set_starts[to], t.set_starts[to + 1], actor)
            and t.pairs[self.code.pair_place(t.pairs, (message << 32) | actor)] < 0
        )

    def _undelivered(self, missing: _Missing) -> tuple[Finding, ...]:
        """Return the messages that some destination has not delivered, sorted by sender."""
        t = self.tables
        slots = t.state[missing.messages] >> 2
        order = np.lexsort((t.sent_at[slots], self._ranks(t.slots[slots, k.FROM])))
        findings = []
        for message, slot in zip(missing.messages[order].tolist(), slots[order], strict=True):
            to = t.slots[slot, k.WHOM]
            members = t.members[t.set_starts[to] : t.set_starts[to + 1]].tolist()
            pairs = [(message, actor) for actor in members if self._is_missing(message, actor)]
            there = [actor for pair in pairs if pair not in missing.early for actor in pair[1:]]
            if there:
                sender, name = (
                    self.names.actor(int(t.slots[slot, k.FROM])),
                    self.names.message(message),
                )
                log, line = self.names.place(int(t.sent_at[slot]))
                missed = tuple(sorted(map(self.names.actor, there)))
                findings.append(finding_of("undelivered", sender, name, line, log, missing=missed))
        return tuple(findings)

    def rows(self, record: Store | None = None) -> Iterator[tuple[int, Array]]:
        """Yield the pieces of a record, each with the number of its first event."""
        record = record or self.record
        for start in range(0, record.count, ROWS):
            yield start, record.get(start, ROWS)

    def _seconds(self, causal: Array) -> Iterator[int]:
        """Yield the message that overtook the delivered one, violation by violation.

        This judges everything once more. For the actors and senders of the violations, it records
        how many of the sender's messages the actor knows after each delivery.
        """
        raised = defaultdict(list)
        for pair, number, message in self._raised(causal):
            raised[pair].append((number, message))
        for row in causal:
            increases = raised[int(row[k.ACTOR]) << 32 | int(row[k.SENDER])]
            yield increases[bisect_left(increases, (int(row[k.NUMBER]), -1))][1]

    def _raised(self, causal: Array) -> list[list[int]]:
        done = self.tables
        pairs = np.unique(causal[:, k.ACTOR] << 32 | causal[:, k.SENDER])
        self.tables = again(done, self.group, self.code)._replace(
            watched=(pairs & 0xFFFFFFFF).astype(np.int32),
            watch_starts=np.searchsorted(pairs >> 32, np.arange(done.counter[k.ACTORS] + 1)),
        )
        self._replay(self.record, wrong=False, keep=False)
        t, self.tables = self.tables, done
        increases: list[list[int]] = t.raised[: t.counter[k.RAISED]].tolist()
        return increases

    def _with_chain(self, finding: Finding, first: int, second: int, actor: int) -> Finding:
        """Return a violation with the chain of messages from `first` to `second`."""
        knowledge = Knowledge(
            via=np.full(self.tables.counter[k.ACTORS], -1, np.int64),
            how=np.full(self.messages, -1, np.int64),
            sent_at=np.full(self.messages, -1, np.int64),
            ends=np.zeros(2, np.int64),
        )
        for base, rows in self.rows():
            if self.code.follow(rows, base, first, second, actor, knowledge):
                break
        events: list[Event] = []
        current = second
        while current >= 0:
            events.append(self._recorded(int(knowledge.sent_at[current])))
            event_number, current = int(knowledge.how[current]), -1
            if event_number >= 0:
                how_known = self._recorded(event_number)
                current = int(self.record.get(event_number, 1)[0, k.MESSAGE])
                events += [how_known] if how_known.kind == DELIVER else []
        events.reverse()
        chain = tuple(event.message for event in events if event.kind == SEND)
        ends = map(self._recorded, knowledge.ends.tolist())
        return evolve(finding, chain=chain, events=(*events, *ends))

    def _recorded(self, number: int) -> Event:
        """Return event `number` of the record."""
        return self._event(self.record.get(number, 1)[0])

    def _about(
        self, numbers: Mapping[str, int], messages: Set[str]
    ) -> Iterator[tuple[Event, bool]]:
        """Yield the recorded events of messages, given their numbers, and whether each counts."""
        wanted = np.array([numbers[message] for message in messages])
        for _, rows in self.rows():
            for row in rows[np.isin(rows[:, k.MESSAGE], wanted)]:
                yield self._event(row), not row[k.TAGGED] & k.WRONG

    def counting(self, places: Sequence[int]) -> Iterator[tuple[int, str]]:
        """Yield the deliveries that count among the events at some places: place and message."""
        for _, rows in self.rows():
            counts = rows[:, k.TAGGED] & (k.WRONG | 1) == k.GOT
            for row in rows[counts & np.isin(rows[:, k.TAGGED] >> 2, places)]:
                yield int(row[k.TAGGED] >> 2), self.names.message(int(row[k.MESSAGE]))

    def _event(self, row: Array) -> Event:
        """Return the event in a row of the record."""
        tagged, actor, message, _ = map(int, row)
        log, line = self.names.place(tagged >> 2)
        kind = EVENTS[tagged & 1]
        return Event(line, self.names.actor(actor), kind, self.names.message(message), log=log)


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
