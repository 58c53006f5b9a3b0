"""How all threads expand a level: chunks of three phases, and the tables filled between them.

In a chunk every thread first expands rows of its own frontier and sorts the successors by owner;
then every owner inserts what all threads sent to it; then every thread appends what was new of its
own successors to its next frontier. No thread writes what another one reads in the same phase, so
there are no locks. Rows that missed a table entry are postponed; between chunks Python fills the
tables, and the rows are tried again.

Question: How do all threads expand a level?
"""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor, wait
from functools import partial
from typing import Any

import numpy as np
from attrs import define, field

from antecede.checker.engine.rows import geometry as g
from antecede.checker.engine.rows import hashing_kernels
from antecede.checker.engine.rows.grading import NotGradedError, Weights, open_levels
from antecede.checker.engine.rows.table_filler import (
    Repacking,
    TableFiller,
    refuse_crowds,
    wrapping,
)
from antecede.checker.engine.storage.arena import Arena, Arenas
from antecede.checker.engine.storage.arrays import Words
from antecede.checker.engine.storage.validation import truth, wholes
from antecede.checker.engine.successors import memos
from antecede.checker.engine.tabulated import levels_kernels
from antecede.checker.engine.tabulated.transport import Address
from antecede.checker.engine.threads.shard import (
    LEAST_SHARE,
    NO_ROWS,
    RECENT,
    VISITED,
    Level,
    NextLevel,
    Rows,
    Shard,
    check_links,
    find_used,
    renumber,
    repack_level,
)
from antecede.checker.engine.visited.visited import Visited
from antecede.checker.search.options import Options


@define(eq=False)
class Expansion:
    """The states of a search on threads, and how the threads expand them.

    Attributes:
        filler: the tables.
        weights: as in `checker.engine.tabulated.search_state.SearchState`.
        arenas: creates the arrays that grow.
        pool: a thread for each shard but the first.
        options: how to search; `threads` is the number of shards.
        block: the number of entries that one thread may send to one owner in a chunk.
        forgot: visited states were forgotten.
        composites_kept, composites_dropped: see `drop_composites`.
        shards: the part of each thread.
    """

    filler: TableFiller
    weights: Weights
    arenas: Arenas
    pool: ThreadPoolExecutor
    options: Options
    block: int
    forgot: bool = False
    composites_kept: int = 0
    composites_dropped: int = 0
    shards: list[Shard] = field(init=False)

    def __attrs_post_init__(self) -> None:
        """Make shards that have nothing yet."""
        self.shards = [self._shard(k) for k in range(self.options.threads or 1)]

    @property
    def frontier(self) -> int:
        """The number of states that were found and not expanded."""
        return sum(level.count for shard in self.shards for level in shard.levels)

    def total(self, place: int) -> int:
        """Return the sum over all shards of one counter of `Shard.control`, such as FIRED."""
        return sum(int(shard.control[place]) for shard in self.shards)

    # The start of a search.

    def _shard(self, number: int) -> Shard:
        """Return a shard that has nothing yet."""
        row_words, block = self.filler.layout.row_words, self.block
        arena, levels = self.arenas.make, open_levels(self.weights)
        threads = self.options.threads or 1
        return Shard(
            number=number,
            level=self._level(),
            ahead=[NextLevel(self._visited(), self._level()) for _ in range(levels)],
            parents=arena(np.uint32, "parents"),
            places=arena(np.uint16, "places"),
            out=np.empty((levels * threads, block * (row_words + 1)), np.int64),
            sizes=np.zeros(levels * threads, np.int64),
            order=np.empty(levels * threads * block, np.uint16),
            recent=np.full(RECENT * row_words, -1, np.int64),
            recent_depths=np.zeros(RECENT if self.weights else 0, np.uint16),
            postponed=np.empty(1 << 12, np.int64),
            misses=self.filler.misses(),
            shown=np.empty((64, 3), np.int64),
            fired=np.zeros(1 << 10, np.int64),
            fresh_kinds=np.zeros(1 << 10, np.int64),
            control=np.zeros(g.CONTROL_SIZE, np.int64),
            memo=memos.empty(self.filler.tables.geo, self.filler.layout.counts),
        )

    def _level(self) -> Level:
        """Return an empty level."""
        rows = self.arenas.make(np.int64, "frontiers")
        return Level(rows, depths=self._depths_of("frontiers"))

    def _visited(self) -> Visited:
        """Return an empty visited set."""
        width = self.filler.layout.row_words
        rows = self.arenas.make(np.int64, VISITED)
        return Visited(width, rows, depths=self._depths_of(VISITED))

    def _depths_of(self, _name: str) -> Arena | None:
        """Return room for the depths of states, where they are kept."""
        return None

    def begin(self) -> None:
        """Make the initial state the next level."""
        row = self.filler.initial_row()
        threads = len(self.shards)
        hashed = hashing_kernels.hash_row(row) & np.uint64(0xFFFFFFFF)
        shard = self.shards[int(hashed * np.uint64(threads) >> np.uint64(32))]
        sender = self.shards[0]
        sender.out[shard.number, : len(row)] = row
        sender.out[shard.number, len(row)] = bool(self.weights) << g.LABEL_SHIFT
        sender.sizes[shard.number] = 1
        sender.order[0] = shard.number
        self._insert(shard)
        self._gather(sender)
        sender.fresh_kinds[:] = 0

    # Chunks.

    def each(self, work: Callable[[Shard], None]) -> None:
        """Call a function for all shards at the same time, and wait.

        The first shard runs on the calling thread, and the others run in the pool.
        """

        def quietly(shard: Shard) -> None:
            with wrapping():  # NumPy's warnings are per thread
                work(shard)

        others = [self.pool.submit(quietly, shard) for shard in self.shards[1:]]
        try:
            quietly(self.shards[0])
        finally:
            wait(others)
        for other in others:
            other.result()

    @property
    def unfinished(self) -> bool:
        """Some row of this level is not expanded yet."""
        return any(shard.unfinished for shard in self.shards)

    def chunk(self) -> None:
        """Expand some rows on every thread, insert their successors, and fill the tables.

        Raises:
            NotGradedError: states were forgotten that may be met again.
        """
        self._share()
        self.each(self._expand)
        self.each(self._insert)
        self.each(self._gather)
        self._fill_missed()
        self._release_expanded()
        if not self._well_graded:
            raise NotGradedError(str(self.filler.tabulation.grading.reason))
        most = max(int(shard.control[g.FULL]) for shard in self.shards)
        if most:  # A row has more successors than a block has room for.
            refuse_crowds(most)
            self.block = max(self.block, 2 * most)
            for shard in self.shards:
                shard.control[g.FULL] = 0
            self._new_blocks()

    def _release_expanded(self) -> None:
        """Give back the memory of rows that nobody will expand again."""
        waiting = [rows for shard in self.shards for rows in shard.waiting]
        for shard in self.shards:
            left = [rows.first for rows in waiting if rows.source == shard.number]
            first = min(left, default=shard.level.count)
            shard.level.release_first(first, self.filler.layout.row_words)

    @property
    def _well_graded(self) -> bool:
        """No state that was forgotten can be met again."""
        return self.filler.graded or not self.forgot

    def _share(self) -> None:
        """Divide the rows that wait evenly among the threads, if the difference is large enough."""
        mean = sum(shard.unfinished for shard in self.shards) // len(self.shards)
        for idle in self.shards:
            while mean - idle.unfinished >= LEAST_SHARE:
                busy = max(self.shards, key=lambda shard: shard.unfinished)
                most = max(busy.waiting, key=lambda rows: rows.count)
                extra = min(mean - idle.unfinished, busy.unfinished - mean, most.count)
                if extra < LEAST_SHARE:
                    break
                idle.waiting.append(most.cut(extra))

    def _expand(self, shard: Shard) -> None:
        """Expand rows that wait for a thread until it has none, or a buffer is full."""
        for rows in shard.waiting:
            if not self._expand_rows(shard, rows):
                break
        shard.waiting = [rows for rows in shard.waiting if rows.count]

    def _expand_rows(self, shard: Shard, rows: Rows) -> bool:
        """Try some rows until a buffer is full, and keep those that are left or were postponed.

        Return whether all rows were tried.
        """
        level, control = self.shards[rows.source].level, shard.control
        control[g.TODO] = len(rows.todo)
        control[g.AT_FRESH], control[g.END_FRESH] = rows.begin, rows.end
        before = control[g.POSTPONED]
        levels_kernels.expand(
            level.rows.array,
            rows.todo,
            self.filler.tables,
            rows.source,
            len(self.shards),
            g.Outbox(shard.out.ravel(), shard.sizes, shard.order, shard.recent),
            self._weighing(shard, level),
            g.Told(
                shard.postponed,
                shard.misses,
                shard.shown,
                shard.fired,
                shard.control,
                shard.memo,
            ),
        )
        left, rows.begin = rows.todo[: control[g.TODO]], int(control[g.AT_FRESH])
        postponed = shard.postponed[before : control[g.POSTPONED]]
        rows.todo = np.concatenate([left, postponed])
        return len(left) == 0 and rows.begin == rows.end

    def _weighing(self, _shard: Shard, _level: Level) -> g.Weighing:
        """Return what the kernel needs to know of weights."""
        return g.BY_DEPTH

    def _insert(self, shard: Shard) -> None:
        """Insert what all threads sent to `shard`, and mark what is new."""
        threads = len(self.shards)
        for lead, ahead in enumerate(shard.ahead):
            at = lead * threads + shard.number
            for sender in self.shards:
                sent, sizes = sender.out[at : at + 1], sender.sizes[at : at + 1]
                ahead.visited.insert(sent, sizes, self.filler.tables)

    def _gather(self, shard: Shard) -> None:
        """Append what is new of what `shard` sent to its next frontiers, and tend its memo."""
        for lead in range(len(shard.ahead)):
            self._gather_ahead(shard, lead)
        shard.sizes[:] = 0
        shard.memo = memos.tended(shard.memo, self.filler.layout.counts)

    @property
    def _traces(self) -> bool:
        """Parents are kept."""
        return self.options.traces and not self.weights

    def _gather_ahead(self, shard: Shard, lead: int) -> None:
        following, row_words = shard.ahead[lead].following, self.filler.layout.row_words
        threads, first = len(self.shards), shard.starts[-1]
        sent = int(shard.sizes[lead * threads : (lead + 1) * threads].sum())
        most = following.count + sent
        following.rows.ensure(most * row_words)
        if self._traces:
            shard.parents.ensure(first + most)
            shard.places.ensure(first + most)
        following.count = levels_kernels.gather(
            g.Outbox(shard.out.ravel(), shard.sizes, shard.order, shard.recent),
            lead * threads,
            threads,
            self.filler.tables,
            g.Frontier(
                following.rows.array, shard.parents.array[first:], shard.places.array[first:]
            ),
            following.count,
            self._traces,
            shard.fresh_kinds,
        )

    def _fill_missed(self) -> None:
        """Fill what rows missed."""
        missed = []
        for shard in self.shards:
            control = shard.control
            missed.append(shard.misses[: control[g.MISSES]].copy())
            control[g.POSTPONED] = control[g.MISSES] = 0
        self.fill(np.concatenate(missed))

    def fill(self, missed: Words) -> Repacking | None:
        """Fill the tables, and adapt all arrays; return how rows were packed anew, or None."""
        words = self.filler.layout.words
        repacking = self.filler.fill(missed)
        if repacking is not None:
            self._repack(repacking)
        if self.filler.layout.words != words:
            for shard in self.shards:
                shard.misses = self.filler.misses()
        return repacking

    def _repack(self, repacking: Repacking) -> None:
        """Pack every row anew. Frontier rows stay with their shards, visited ones may move."""
        for shard in self.shards:
            for level in shard.levels:
                repack_level(level, repacking)
        self._new_blocks()
        self._repack_visited(repacking)

    def _repack_visited(self, repacking: Repacking) -> None:
        old = [shard.visited for shard in self.shards]
        for shard in self.shards:
            shard.ahead[0].visited = self._visited()
            shard.visited.dropped = old[shard.number].dropped
        for visited in old:
            for part in visited.parts():
                self.each(partial(self._reinsert, rows=repacking.apply(part)))
            visited.close()

    def _reinsert(self, shard: Shard, rows: Words) -> None:
        """Put the rows that `shard` owns into its visited set."""
        shard.visited.add(rows, shard.number, len(self.shards))

    def _new_blocks(self) -> None:
        """Make new buffers between threads, for rows of another size or blocks of another."""
        stride = self.filler.layout.row_words + 1
        for shard in self.shards:
            receivers = len(self.shards) * open_levels(self.weights)
            shard.out = np.empty((receivers, self.block * stride), np.int64)
            shard.order = np.empty(receivers * self.block, np.uint16)
            shard.recent = np.full(RECENT * (stride - 1), -1, np.int64)

    # Between levels.

    def next_level(self) -> dict[int, int]:
        """Make the next level the current one; return how many of its states have each depth."""
        level = self._advance()
        for shard in self.shards:
            shard.waiting = [Rows(shard.number, NO_ROWS, 0, shard.level.count)]
        return level

    def _advance(self) -> dict[int, int]:
        for shard in self.shards:
            shard.level, shard.ahead[0].following = shard.following, shard.level
            shard.following.clear()
            shard.starts.append(shard.starts[-1] + shard.level.count)
        states = sum(shard.level.count for shard in self.shards)
        return {len(self.shards[0].starts) - 1: states} if states else {}

    def forget(self) -> None:
        """Forget the visited states; they cannot be met again."""
        self.forgot = True
        # Levels rarely grow by more; where one does, the set grows as usual.
        expected = 3 * self.frontier // (2 * len(self.shards))
        self.each(lambda shard: shard.visited.forget(expected))

    def drop_composites(self) -> None:
        """Forget the composites that no state of the new level has, if no other states are kept.

        Under `full` there is about one composite for every ten states.
        """
        layout = self.filler.layout
        had = int(layout.counts.sum())
        least = max(self.options.collect_from, 2 * self.composites_kept)
        # A composite that was forgotten and is met again could change which renaming of a state is
        # its representative. With parents, its path could then not be traced back.
        if had < least or (self.filler.symmetric and self._traces):
            return
        self._keep_composites()
        self.composites_kept = int(layout.counts.sum())
        self.composites_dropped += had - self.composites_kept

    def _keep_composites(self) -> None:
        """Keep only the composites of open levels; number them anew."""
        layout, geo = self.filler.layout, self.filler.tables.geo
        used = np.zeros(len(layout.counts) * layout.room, np.bool_)
        self.each(lambda shard: find_used(shard, geo, used))
        numbers = self.filler.keep(used)
        self.each(lambda shard: renumber(shard, geo, numbers))
        for shard in self.shards:
            shard.recent[:] = -1
            shard.memo = memos.emptied(shard.memo, self.filler.tables.geo, layout.counts)

    def read_depths(self) -> None:
        """Do nothing, because a level is a depth here; see `WeightedExpansion.read_depths`."""

    def forget_states(self) -> None:
        """Give back all states, and keep only the tables, the parents and the places, for paths."""
        for shard in self.shards:
            for ahead in shard.ahead:
                ahead.visited.close()
                ahead.visited = self._visited()
            for level in shard.levels:
                level.count = 0
            shard.waiting = []

    # Paths.

    def places_to(self, address: Address) -> list[int]:
        """Return the places of the transitions that lead from the initial state to a state.

        A place is the index of a transition among those that are enabled.
        """
        places, index, owner = [], address.index, address.part
        for depth in range(address.depth - 1, 0, -1):
            at = self.shards[owner].starts[depth] + index
            places.append(int(self.shards[owner].places.array[at]))
            index, owner = divmod(int(self.shards[owner].parents.array[at]), len(self.shards))
        return places[::-1]

    # Checkpoints.

    def record(self) -> dict[str, Any]:
        """Return the states and counts as data of a checkpoint, between two chunks; see `adopt`."""
        return {
            "block": self.block,
            "forgot": self.forgot,
            "composites": (self.composites_kept, self.composites_dropped),
            "shards": [shard.record(traces=self._traces) for shard in self.shards],
        }

    def adopt(self, record: dict[str, Any]) -> None:
        """Take over what another process recorded; this expansion is empty, with equal `block`."""
        self.forgot = truth("whether states were forgotten", record["forgot"])
        kept, dropped = wholes("numbers of composites", record["composites"])
        self.composites_kept, self.composites_dropped = kept, dropped
        for shard, its_record in zip(self.shards, record["shards"], strict=True):
            shard.adopt(its_record, self.filler.layout, traces=self._traces)
        if len({len(shard.starts) for shard in self.shards}) > 1:
            raise ValueError("the threads are at different levels")
        check_links(self.shards, traces=self._traces)
