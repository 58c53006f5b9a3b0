"""What all threads do with a level: expand it, exchange successors, fill tables, pack rows anew."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import partial

import numpy as np
from attrs import define, field

from antecede.checker.local.owners import (
    LEAST_SHARE,
    RECENT,
    VISITED,
    Ahead,
    Level,
    LocalCourse,
    Owner,
    mark,
    renumber,
    repack_level,
)
from antecede.checker.search.options import Options
from antecede.checker.tables import kernels
from antecede.checker.tables.arena import Arena, Arenas
from antecede.checker.tables.grading import NotGradedError
from antecede.checker.tables.misses import Repacking, Supply, refuse_crowds, wrapping
from antecede.checker.tables.tabulate import Words
from antecede.checker.tables.visited import Visited


@define(eq=False)
class Expansion:
    """The threads of a search, with what they own, from the initial state on.

    Attributes:
        supply: the tables.
        course: how far the search has come.
        arenas: make room.
        pool: a thread for each owner.
        options: how to search; `threads` says how many owners there are.
    """

    supply: Supply
    course: LocalCourse
    arenas: Arenas
    pool: ThreadPoolExecutor
    options: Options
    owners: list[Owner] = field(init=False)

    def __attrs_post_init__(self) -> None:
        """Make owners that have nothing yet."""
        self.owners = [self._owner(k) for k in range(self.options.threads or 1)]

    @property
    def graded(self) -> bool:
        """No state that was reached has several depths, see `checker.tables.grading`."""
        return self.supply.tabulation.grading.reason is None

    def total(self, place: int) -> int:
        """Return the sum of what all owners count at one place of `control`."""
        return sum(int(owner.control[place]) for owner in self.owners)

    # What a search begins with.

    def _owner(self, number: int) -> Owner:
        row_words, block = self.supply.layout.row_words, self.course.block
        arena, levels = self.arenas.make, self.course.open_levels
        threads = self.options.threads or 1
        return Owner(
            number=number,
            level=self._level(),
            ahead=[Ahead(self._visited(), self._level()) for _ in range(levels)],
            parents=arena(np.uint32, "parents"),
            places=arena(np.uint16, "places"),
            out=np.empty((levels * threads, block * (row_words + 1)), np.int64),
            sizes=np.zeros(levels * threads, np.int64),
            order=np.empty(levels * threads * block, np.uint16),
            recent=np.full(RECENT * row_words, -1, np.int64),
            recent_depths=np.zeros(RECENT if self.course.weights else 0, np.uint16),
            postponed=np.empty(1 << 12, np.int64),
            misses=self.supply.misses(),
            shown=np.empty((64, 3), np.int64),
            fired=np.zeros(1 << 10, np.int64),
            fresh_kinds=np.zeros(1 << 10, np.int64),
            control=np.zeros(kernels.CONTROL_SIZE, np.int64),
        )

    def _level(self) -> Level:
        """Return an empty level."""
        rows = self.arenas.make(np.int64, "frontiers")
        return Level(rows, depths=self._depths_of("frontiers"))

    def _visited(self) -> Visited:
        """Return an empty visited set."""
        width = self.supply.layout.row_words
        tally = np.zeros(self.supply.tabulation.most_progress + 1, np.int64)
        rows = self.arenas.make(np.int64, VISITED)
        return Visited(width, rows, tally=tally, depths=self._depths_of(VISITED))

    def _depths_of(self, _name: str) -> Arena | None:
        """Return room for the depths of states, where they are kept."""
        return None

    def begin(self) -> None:
        """Make the initial state the first level."""
        row = self.supply.initial_row()
        threads = len(self.owners)
        hashed = kernels.hash_words(row, 0, len(row)) & np.uint64(0xFFFFFFFF)
        owner = self.owners[int(hashed * np.uint64(threads) >> np.uint64(32))]
        sender = self.owners[0]
        sender.out[owner.number, : len(row)] = row
        sender.out[owner.number, len(row)] = bool(self.course.weights) << 31
        sender.sizes[owner.number] = 1
        sender.order[0] = owner.number
        self._insert(owner)
        self._gather(sender)
        sender.fresh_kinds[:] = 0
        self.next_level()

    # What is done in a chunk.

    def each(self, work: Callable[[Owner], None]) -> None:
        """Do some work for every owner, on its thread; NumPy's warnings are per thread."""

        def quietly(owner: Owner) -> None:
            with wrapping():
                work(owner)

        list(self.pool.map(quietly, self.owners))

    @property
    def unfinished(self) -> bool:
        """Some row of this level is not expanded yet."""
        return any(owner.unfinished for owner in self.owners)

    def chunk(self) -> None:
        """Expand some rows of every thread, insert their successors, fill the tables.

        Raises:
            NotGradedError: states were forgotten that may be met again.
        """
        self._share()
        self.each(self._expand)
        self.each(self._insert)
        self.each(self._gather)
        self._fill()
        if not self._well_graded:
            raise NotGradedError(str(self.supply.tabulation.grading.reason))
        most = max(int(owner.control[kernels.FULL]) for owner in self.owners)
        if most:  # A row has more successors than a block has room for.
            refuse_crowds(most)
            self.course.block = max(self.course.block, 2 * most)
            for owner in self.owners:
                owner.control[kernels.FULL] = 0
            self._new_blocks()

    @property
    def _well_graded(self) -> bool:
        """What was forgotten can never be met again."""
        return self.graded or not self.course.forgot

    def _share(self) -> None:
        """Give threads that are done half of what another one has left to do."""
        for idle in self.owners:
            if idle.unfinished:
                continue
            busy = max(self.owners, key=lambda owner: owner.fresh)
            if busy.fresh < 2 * LEAST_SHARE:
                return
            idle.source = busy.source
            idle.control[kernels.END_FRESH] = busy.control[kernels.END_FRESH]
            busy.control[kernels.END_FRESH] -= busy.fresh // 2
            idle.control[kernels.AT_FRESH] = busy.control[kernels.END_FRESH]

    def _expand(self, owner: Owner) -> None:
        level = self.owners[owner.source].level
        kernels.expand(
            level.rows.array,
            owner.todo,
            self.supply.tables,
            owner.source,
            len(self.owners),
            kernels.Outbox(owner.out, owner.sizes, owner.order, owner.recent),
            self._weighing(owner, level),
            kernels.Told(owner.postponed, owner.misses, owner.shown, owner.fired, owner.control),
        )

    def _weighing(self, _owner: Owner, _level: Level) -> kernels.Weighing:
        """Return what the kernel needs to know of weights."""
        return kernels.BY_DEPTH

    def _insert(self, owner: Owner) -> None:
        """Insert what all threads sent to `owner`, and mark what is new."""
        threads = len(self.owners)
        for lead, ahead in enumerate(owner.ahead):
            at = lead * threads + owner.number
            for sender in self.owners:
                sent, sizes = sender.out[at : at + 1], sender.sizes[at : at + 1]
                ahead.visited.insert(sent, sizes, self.supply.tables)

    def _gather(self, owner: Owner) -> None:
        """Append what is new of what `owner` sent to its next frontiers."""
        for lead in range(len(owner.ahead)):
            self._gather_ahead(owner, lead)
        owner.sizes[:] = 0

    @property
    def _traces(self) -> bool:
        """Parents are kept."""
        return self.options.traces and not self.course.weights

    def _gather_ahead(self, owner: Owner, lead: int) -> None:
        following, row_words = owner.ahead[lead].following, self.supply.layout.row_words
        threads, first = len(self.owners), owner.starts[-1]
        sent = int(owner.sizes[lead * threads : (lead + 1) * threads].sum())
        most = following.count + sent
        following.rows.ensure(most * row_words)
        if self._traces:
            owner.parents.ensure(first + most)
            owner.places.ensure(first + most)
        following.count = kernels.gather(
            kernels.Outbox(owner.out, owner.sizes, owner.order, owner.recent),
            lead * threads,
            threads,
            row_words,
            kernels.Frontier(
                following.rows.array, owner.parents.array[first:], owner.places.array[first:]
            ),
            following.count,
            self._traces,
            owner.fresh_kinds,
        )

    def _fill(self) -> None:
        """Fill what rows missed; list those rows for retrial."""
        missed = []
        for owner in self.owners:
            control = owner.control
            missed.append(owner.misses[: control[kernels.MISSES]].copy())
            postponed, left = int(control[kernels.POSTPONED]), int(control[kernels.TODO])
            if left + postponed > len(owner.todo):
                owner.todo = np.concatenate([owner.todo, np.empty(left + postponed, np.int64)])
            owner.todo[left : left + postponed] = owner.postponed[:postponed]
            control[kernels.TODO] = left + postponed
            control[kernels.POSTPONED] = control[kernels.MISSES] = 0
        self.fill_missed(np.concatenate(missed))

    def fill_missed(self, missed: Words) -> Repacking | None:
        """Fill the tables and adapt to what that changed."""
        words = self.supply.layout.words
        repacking = self.supply.fill(missed)
        if repacking is not None:
            self._repack(repacking)
        if self.supply.layout.words != words:
            for owner in self.owners:
                owner.misses = self.supply.misses()
        return repacking

    def _repack(self, repacking: Repacking) -> None:
        """Pack every row anew. Frontier rows stay with their owners, visited ones may move."""
        for owner in self.owners:
            for level in owner.levels:
                repack_level(level, repacking)
        self._new_blocks()
        self._repack_visited(repacking)

    def _repack_visited(self, repacking: Repacking) -> None:
        old = [owner.visited for owner in self.owners]
        for owner in self.owners:
            owner.ahead[0].visited = self._visited()
            owner.visited.dropped = old[owner.number].dropped
        for visited in old:
            for part in visited.parts():
                self.each(partial(self._reinsert, rows=repacking.apply(part)))
            visited.close()
        if self.options.sweep_line:
            for owner in self.owners:
                owner.visited.recount(self.supply.tables)

    def _reinsert(self, owner: Owner, rows: Words) -> None:
        """Put those of `rows` that `owner` owns into its visited set."""
        owner.visited.add(rows, owner.number, len(self.owners))

    def _new_blocks(self) -> None:
        """Make new buffers between threads, for rows of another size or blocks of another."""
        stride = self.supply.layout.row_words + 1
        for owner in self.owners:
            receivers = len(self.owners) * self.course.open_levels
            owner.out = np.empty((receivers, self.course.block * stride), np.int64)
            owner.order = np.empty(receivers * self.course.block, np.uint16)
            owner.recent = np.full(RECENT * (stride - 1), -1, np.int64)

    # What is done between levels.

    def next_level(self) -> None:
        """Make the states found in this round the current level."""
        self.course.between_levels = True
        self._advance()
        for owner in self.owners:
            owner.source = owner.number
            owner.control[kernels.AT_FRESH] = 0
            owner.control[kernels.END_FRESH] = owner.level.count
        self.course.frontier = sum(level.count for o in self.owners for level in o.levels)

    def _advance(self) -> None:
        """Go on to the next depth."""
        for owner in self.owners:
            owner.level, owner.ahead[0].following = owner.following, owner.level
            owner.following.count = 0
            owner.starts.append(owner.starts[-1] + owner.level.count)
        found = sum(owner.level.count for owner in self.owners)
        if found:
            self.course.levels.append(found)

    def forget(self) -> None:
        """Forget the visited states, none of which can be met again."""
        self.course.forgot = True
        # Levels rarely grow by more; where one does, the set grows as usual.
        expected = 3 * self.course.frontier // (2 * len(self.owners))
        self.each(lambda owner: owner.visited.forget(expected))

    def drop_composites(self) -> None:
        """Drop the composites that no state of the new level has, where there are no other states.

        Under `full` there is a composite for every ten states or so. With symmetry the least of a
        state's renamings may be another one when composites that were dropped are met again; a
        path could not be traced back.
        """
        layout, course = self.supply.layout, self.course
        had = int(layout.counts.sum())
        least = max(self.options.collect_from, 2 * course.composites_kept)
        if had < least or (self.supply.symmetric and self._traces):
            return
        self._keep_composites()
        course.composites_kept = int(layout.counts.sum())
        course.composites_dropped += had - course.composites_kept

    def _keep_composites(self) -> None:
        """Keep only the composites of open levels; number them anew."""
        layout, geo = self.supply.layout, self.supply.tables.geo
        marks = np.zeros(len(layout.counts) * layout.room, np.bool_)
        self.each(lambda owner: mark(owner, geo, marks))
        numbers = self.supply.keep(marks)
        self.each(lambda owner: renumber(owner, geo, numbers))
        for owner in self.owners:
            owner.recent[:] = -1

    def drop_behind(self) -> None:
        """Drop the visited states with less progress than every state of the new level."""
        tables, most = self.supply.tables, len(self.owners[0].visited.tally)
        least = min(
            kernels.least_progress(
                o.level.rows.array, o.level.count, tables.geo, tables.progress, most
            )
            for o in self.owners
        )
        self.each(lambda owner: owner.visited.drop_behind(tables, least))

    def forget_states(self) -> None:
        """Keep only the tables, and what paths are traced back by."""
        for owner in self.owners:
            for ahead in owner.ahead:
                ahead.visited.close()
                ahead.visited = self._visited()
            for level in owner.levels:
                level.count = 0

    # Paths.

    def places_to(self, owner: int, index: int) -> list[int]:
        """Return the places of the transitions that lead to a state of the current level."""
        places = []
        threads = len(self.owners)
        for depth in range(len(self.course.levels) - 1, 0, -1):
            at = self.owners[owner].starts[depth] + index
            places.append(int(self.owners[owner].places.array[at]))
            link = int(self.owners[owner].parents.array[at])
            index, owner = divmod(link, threads)
        return places[::-1]
