"""The shard of one thread: its part of the levels, of the visited set and of the parents.

A hash of a state selects the shard that has it in its visited set, so that no two threads write to
one set. The state is in the level of the thread that found it.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from attrs import define, field

from antecede.checker.engine.rows import composites_kernels
from antecede.checker.engine.rows import geometry as g
from antecede.checker.engine.rows.layout import Layout
from antecede.checker.engine.rows.table_filler import Repacking
from antecede.checker.engine.storage.arena import Arena
from antecede.checker.engine.storage.arrays import Words
from antecede.checker.engine.storage.validation import MOST, numbers, whole, wholes
from antecede.checker.engine.visited.visited import NO_DEPTHS, Depths, Visited

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

COUNTERS = (
    g.FIRED,
    g.FINALS,
    g.ORBIT_STATES,
    g.ORBIT_FIRED,
    g.ORBIT_FINALS,
)
"""The places of `Shard.control` that matter between two chunks."""


@define(eq=False)
class Level:
    """The states of one level that one thread has found, in the order in which it found them.

    Attributes:
        rows: the states, flat.
        count: the number of states.
        depths: the depth of each state, once the level is complete; None if a level is a depth.
    """

    rows: Arena
    count: int = 0
    depths: Arena | None = None

    def record(self, words: int) -> dict[str, Any]:
        """Return the states, of rows of these words, as data of a checkpoint; see `adopt`."""
        return {
            "count": self.count,
            "rows": self.rows.array[: self.count * words],
            "depths": self.known_depths,
        }

    @property
    def known_depths(self) -> Depths:
        """The depth of each state; empty if a level is a depth."""
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
        """Remove all states, and give back their memory if it is much."""
        self.rows.release(0)
        if self.depths is not None:
            self.depths.release(0)
        self.count = 0

    def adopt(self, record: dict[str, Any], layout: Layout) -> None:
        """Take over the states that another process recorded."""
        self.count = whole("the states of a level", record["count"])
        length = (self.count * layout.row_words,)
        rows = numbers("the states of a level", record["rows"], np.int64, length)
        layout.check_rows(rows)
        self.rows.put(rows)
        kept = self.count * (self.depths is not None)
        depths = numbers("depths of states", record["depths"], np.uint16, (kept,))
        if self.depths is not None:
            self.depths.put(depths)


@define(eq=False)
class NextLevel:
    """One thread's part of a level that is not complete yet.

    Attributes:
        visited: the states of this level whose hash selects this thread.
        following: the states of this level that this thread found.
    """

    visited: Visited
    following: Level


@define(eq=False)
class Rows:
    """Rows of one shard's level that a thread is to expand, often the thread of this shard.

    Attributes:
        source: the number of the shard that has the rows.
        todo: the indices of rows to be tried again, because they missed a table entry.
        begin, end: the rows with the indices begin … end - 1 were not tried yet.
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
        """The least index of a row; `begin` if there is no row."""
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

    A state is in the visited set of the shard that its hash selects, and in the level of the shard
    whose thread found it, so that states that were found together are expanded together.

    Attributes:
        number: the index of the shard.
        level: its states of the current level.
        ahead: its part of the next level; if levels are weighted, of all that are open.
        parents, places: arenas over all depths; of each state but the initial one, the index of its
            parent in the level before (times the number of threads, plus the parent's shard), and
            the place of the transition among those enabled there.
        out, sizes, order: the successors that its thread sends in a chunk; see `g.Outbox`.
        recent, recent_depths: see `g.Outbox` and `g.Weighing`.
        postponed, misses, shown, fired, control: the output of its thread's kernels; see `g.Told`.
        fresh_kinds: per kind, the number of transitions that led to a new state.
        memo: the transitions that its thread remembers.
        starts: where each depth begins in `parents`.
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
    memo: g.Memo
    starts: list[int] = field(factory=lambda: [0])
    waiting: list[Rows] = field(factory=list)

    @property
    def visited(self) -> Visited:
        """Its part of the visited set; with weighted levels, only states of the next level."""
        return self.ahead[0].visited

    @property
    def following(self) -> Level:
        """Its states of the next level."""
        return self.ahead[0].following

    @property
    def levels(self) -> list[Level]:
        """Its parts of the current level and of the levels that are not complete yet."""
        return [self.level, *(ahead.following for ahead in self.ahead)]

    def record(self, *, traces: bool) -> dict[str, Any]:
        """Return the shard as data of a checkpoint, between two chunks, when buffers are empty.

        `traces` is whether parents and places are kept; likewise in `adopt`.
        """
        kept = (self.starts[-1] + self.following.count) * traces
        return {
            "level": self.level.record(self.visited.width),
            "ahead": [
                (ahead.visited.record(), ahead.following.record(self.visited.width))
                for ahead in self.ahead
            ],
            "parents": self.parents.array[:kept],
            "places": self.places.array[:kept],
            "shown": self.shown[: self.control[g.FOUND]],
            "waiting": [(w.source, w.todo, w.begin, w.end) for w in self.waiting],
            "fired": self.fired,
            "fresh_kinds": self.fresh_kinds,
            "counters": [int(self.control[place]) for place in COUNTERS],
            "starts": self.starts,
        }

    def adopt(self, record: dict[str, Any], layout: Layout, *, traces: bool) -> None:
        """Take over what another process recorded; `check_links` checks links to other shards."""
        self.level.adopt(record["level"], layout)
        for ahead, (visited, following) in zip(self.ahead, record["ahead"], strict=True):
            ahead.visited.adopt(visited, layout.check_rows)
            ahead.following.adopt(following, layout)
        self.starts = wholes("the beginnings of levels", record["starts"])
        if self.starts[0] or sorted(self.starts) != self.starts:
            raise ValueError("the beginnings of levels are not in order")
        kept = ((self.starts[-1] + self.following.count) * traces,)
        self.parents.put(numbers("parents of states", record["parents"], np.uint32, kept))
        self.places.put(numbers("places of transitions", record["places"], np.uint16, kept))
        for name in ("fired", "fresh_kinds"):
            counted = getattr(self, name)
            kind, shape = counted.dtype, counted.shape
            counted[:] = numbers("numbers of transitions", record[name], kind, shape, most=MOST)
        self.control[list(COUNTERS)] = wholes("counters", record["counters"])
        if self.control[g.FIRED] != self.fired.sum():
            raise ValueError("the numbers of transitions do not add up")
        self._adopt_unfinished(record)

    def _adopt_unfinished(self, record: dict[str, Any]) -> None:
        """Take over which rows were to be expanded, and what the level showed."""
        self.waiting = []
        for source, todo, begin, end in record["waiting"]:
            first, last = wholes("the rows that wait", [begin, end])
            tried = numbers("the rows that wait", todo, np.int64).copy()
            self.waiting.append(Rows(whole("a thread", source), tried, first, last))
        shown, most = record["shown"], len(self.shown)
        found = numbers("the properties that a level shows", shown, np.int64, (None, 3), least=-1)
        if len(found) > most:
            raise ValueError(f"a level shows properties in more than {most} ways")
        self.shown[: len(found)] = found
        self.control[g.FOUND] = len(found)

    @property
    def unfinished(self) -> int:
        """The number of rows that its thread is to expand."""
        return sum(rows.count for rows in self.waiting)


def check_links(shards: list[Shard], *, traces: bool) -> None:
    """Check that all states exist to which the shards from a checkpoint refer, after `adopt`.

    These are the parents of states, rows to expand, and states that show properties. A stranger may
    have written the checkpoint, so no number is trusted.

    Raises:
        ValueError: some state does not exist, or a finding has an impossible property or
            transition.
    """
    counts = np.array([shard.level.count for shard in shards], np.int64)
    for shard in shards:
        for rows in shard.waiting:
            most = int(counts[rows.source]) if rows.source < len(shards) else 0
            numbers("the rows that wait", rows.todo, np.int64, most=most - 1)
            if not rows.begin <= rows.end <= most:
                raise ValueError("rows wait that do not exist")
        bits, links, places = shard.shown[: shard.control[g.FOUND]].T
        numbers("the properties of a level", bits, np.int64, most=(1 << 31) - 1)
        numbers(
            "the properties that a level shows",
            places,
            np.int64,
            least=-1,
            most=g.MOST_TRANSITIONS,
        )
        _check_parents(links, counts)
    for depth in range(1, len(shards[0].starts) * traces):
        before = np.array([shard.starts[depth] - shard.starts[depth - 1] for shard in shards])
        for shard in shards:
            ends = [*shard.starts, shard.starts[-1] + shard.following.count]
            _check_parents(shard.parents.array[ends[depth] : ends[depth + 1]], before)


def _check_parents(parents: Any, counts: Words) -> None:
    """Check numbers of states, as index * threads + thread; `counts` has the states per thread."""
    for start in range(0, len(parents), PIECE):
        piece = parents[start : start + PIECE].astype(np.int64)
        if piece.min() < 0 or (piece // len(counts) >= counts[piece % len(counts)]).any():
            raise ValueError("a state has a parent that does not exist")


def repack_level(level: Level, repacking: Repacking) -> None:
    """Pack the rows of a level anew, in place; rows do not become shorter."""
    old, new = repacking.old_words, repacking.new_words
    level.rows.ensure(level.count * new)
    for end in range(level.count, 0, -PIECE):
        start = max(end - PIECE, 0)
        rows = repacking.apply(level.rows.array[start * old : end * old])
        level.rows.array[start * new : end * new] = rows


def forget_last(shard: Shard, expected: int) -> None:
    """Empty the visited set of a shard's last open level, for a new level.

    The set then has room for the expected states, but no more room than before.
    """
    shard.ahead[-1].visited.forget(expected)


def find_used(shard: Shard, geo: Words, used: Any) -> None:
    """Find all composites that occur in the levels of a shard; see the kernel."""
    for level in shard.levels:
        composites_kernels.find_used(level.rows.array, level.count, geo, used)


def renumber(shard: Shard, geo: Words, numbers: Words) -> None:
    """Replace all composites in the levels of a shard by other numbers; see the kernel."""
    for level in shard.levels:
        composites_kernels.renumber(level.rows.array, level.count, geo, numbers)
