"""The shard of one thread: its part of the levels, of the visited set and of the parents."""

from __future__ import annotations

from typing import Any

import numpy as np
from attrs import define, field

from antecede.checker.tables import kernels
from antecede.checker.tables.arena import Arena
from antecede.checker.tables.checkpoint import Saved
from antecede.checker.tables.table_filler import Repacking
from antecede.checker.tables.tabulate import Words
from antecede.checker.tables.visited import NO_DEPTHS, Depths, Visited

RECENT = 1 << 14
"""Rows that a thread remembers having sent, so as not to send them again soon."""

ARENAS = 3
"""Per shard: the frontier, parents, places."""

FURTHER = 3
"""Per shard and level ahead: the frontier, the visited set, and the one it is packed into anew."""

VISITED = "visited states"
LEAST_SHARE = 1 << 9
"""Rows that are worth being given to another thread."""

NO_ROWS = np.empty(0, np.int64)

PIECE = 1 << 20
"""Rows that are packed anew at a time."""


@define(eq=False)
class Level:
    """One shard's states of one level, as they were found.

    Attributes:
        rows: flat.
        depths: of the states, once the level is complete; kept where levels are sums of weights.
    """

    rows: Arena
    count: int = 0
    depths: Arena | None = None

    def record(self, words: int) -> dict[str, Any]:
        """Return this as data."""
        return {
            "count": self.count,
            "rows": self.rows.array[: self.count * words],
            "depths": self.known_depths,
        }

    @property
    def known_depths(self) -> Depths:
        """The depths of its states; none where they are not kept."""
        if self.depths is None:
            return NO_DEPTHS
        self.depths.ensure(self.count)
        return self.depths.array[: self.count]

    def release_first(self, count: int, words: int) -> None:
        """Free the memory of the first `count` states, whose content is lost, if it is much."""
        self.rows.release_first(count * words)
        if self.depths is not None:
            self.depths.release_first(count)

    def clear(self) -> None:
        """Begin without states, and give back much memory."""
        self.rows.release(0)
        if self.depths is not None:
            self.depths.release(0)
        self.count = 0

    def adopt(self, record: dict[str, Any], saved: Saved) -> None:
        """Take over what another process recorded."""
        self.count = int(record["count"])
        saved.into(record["rows"], self.rows)
        if self.depths is not None:
            saved.into(record["depths"], self.depths)


@define(eq=False)
class NextLevel:
    """One shard's part of a level that is not complete yet.

    Attributes:
        visited: its share of the visited set.
        following: the states that it found.
    """

    visited: Visited
    following: Level


@define(eq=False)
class Rows:
    """Rows of one shard's level that a thread is to expand.

    Attributes:
        source: the number of the shard.
        todo: rows to be tried again, because they missed a table entry.
        begin, end: rows begin … end - 1 were not tried yet.
    """

    source: int
    todo: Words
    begin: int
    end: int

    @property
    def count(self) -> int:
        """The number of rows."""
        return len(self.todo) + self.end - self.begin

    @property
    def first(self) -> int:
        """The first row, if there is one."""
        return int(self.todo.min(initial=self.begin))

    def cut(self, count: int) -> Rows:
        """Take the last `count` rows away, and return them."""
        fresh = min(count, self.end - self.begin)
        self.end -= fresh
        kept = len(self.todo) - (count - fresh)
        todo, self.todo = self.todo[kept:].copy(), self.todo[:kept]
        return Rows(self.source, todo, self.end, self.end + fresh)


@define(eq=False)
class Shard:
    """One thread's part of a search.

    A state is in the share of the visited set that its hash says, and in the frontier of the thread
    that found it, so that what was found together is expanded together.

    Attributes:
        level: its states of this level.
        ahead: its part of the next level; if levels are weighted, of all that are open.
        parents, places: arenas over all depths; of each state but the initial one, the index of its
            parent in the level before (times the number of threads, plus the parent's shard), and
            the place of the transition among those enabled there.
        starts: where each depth begins in `parents`.
        order: the rows of `out` to which its successors went, in the order of sending.
        recent, recent_depths: see `kernels.Outbox` and `kernels.Weighing`.
        memo: what its thread remembers of transitions, if they depend on little.
        waiting: the rows that its thread is to expand. Most are rows of its own level.
    """

    number: int
    level: Level
    ahead: list[NextLevel]
    parents: Arena
    places: Arena
    out: Words
    sizes: Words
    order: Words
    recent: Words
    recent_depths: Depths
    postponed: Words
    misses: Words
    shown: Words
    fired: Words
    fresh_kinds: Words
    control: Words
    memo: kernels.Memo
    starts: list[int] = field(factory=lambda: [0])
    waiting: list[Rows] = field(factory=list)

    @property
    def visited(self) -> Visited:
        """Its share of the visited set of the next level."""
        return self.ahead[0].visited

    @property
    def following(self) -> Level:
        """Its states of the next level."""
        return self.ahead[0].following

    @property
    def levels(self) -> list[Level]:
        """The level that it expands and those that are open."""
        return [self.level, *(ahead.following for ahead in self.ahead)]

    def record(self, *, traces: bool) -> dict[str, Any]:
        """Return this as data, between two chunks; the content of buffers does not matter then."""
        kept = (self.starts[-1] + self.following.count) * traces
        return {
            "level": self.level.record(self.visited.width),
            "ahead": [
                (ahead.visited.record(), ahead.following.record(self.visited.width))
                for ahead in self.ahead
            ],
            "parents": self.parents.array[:kept],
            "places": self.places.array[:kept],
            "shown": self.shown[: self.control[kernels.FOUND]],
            "waiting": [(w.source, w.todo, w.begin, w.end) for w in self.waiting],
            "fired": self.fired,
            "fresh_kinds": self.fresh_kinds,
            "control": self.control,
            "starts": self.starts,
        }

    def adopt(self, record: dict[str, Any], saved: Saved) -> None:
        """Take over what another process recorded."""
        self.level.adopt(record["level"], saved)
        for ahead, (visited, following) in zip(self.ahead, record["ahead"], strict=True):
            ahead.visited.adopt(visited, saved)
            ahead.following.adopt(following, saved)
        saved.into(record["parents"], self.parents)
        saved.into(record["places"], self.places)
        for name in ("fired", "fresh_kinds", "control"):
            getattr(self, name)[:] = record[name]
        self.starts, shown = list(record["starts"]), record["shown"]
        self.waiting = [Rows(*rows) for rows in record["waiting"]]
        self.shown[: len(shown)] = shown

    @property
    def unfinished(self) -> int:
        """The number of rows that its thread is to expand."""
        return sum(rows.count for rows in self.waiting)


def repack_level(level: Level, repacking: Repacking) -> None:
    """Pack rows anew in place, the last first, because they only become longer."""
    old, new = repacking.old_words, repacking.new_words
    level.rows.ensure(level.count * new)
    for end in range(level.count, 0, -PIECE):
        start = max(end - PIECE, 0)
        rows = repacking.apply(level.rows.array[start * old : end * old])
        level.rows.array[start * new : end * new] = rows


def forget_last(shard: Shard, expected: int) -> None:
    """Let the level that is open last begin without states."""
    shard.ahead[-1].visited.forget(expected)


def mark(shard: Shard, geo: Words, marks: Any) -> None:
    """Mark the composites that an shard's open levels refer to."""
    for level in shard.levels:
        kernels.mark_composites(level.rows.array, level.count, geo, marks)


def renumber(shard: Shard, geo: Words, numbers: Words) -> None:
    """Write the new numbers of composites into an shard's open levels."""
    for level in shard.levels:
        kernels.renumber(level.rows.array, level.count, geo, numbers)
