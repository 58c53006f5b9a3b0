"""The fast engine: tabulated exploration on all cores of one machine.

Each thread owns the states whose hash falls to it: their visited set, its frontier, their parents.
A chunk of work has two phases with a barrier between them. First every thread expands rows of its
own frontier and sorts the successors by owner; then every owner inserts what all threads sent to
it. No thread ever writes what another one reads in the same phase, so there are no locks. Rows that
missed a table entry are postponed; between chunks Python fills the tables and they are tried again.

A level is a depth. Where states have several depths but transitions have weights whose sum is the
same along all paths to a state (see `checker.tables.grading`), a large search begins again with a
level for each sum: those that a transition can reach from the current one are open at the same
time, and nothing else is kept. Whatever leads to a state comes before it, so that its least depth
is known by the time it is expanded. No parents are kept; what is found is looked for again by
depth.
"""

from __future__ import annotations

import contextlib
import os
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import Any, TypeAlias

import numpy as np
from attrs import define, evolve, field

from antecede.checker.errors import CapacityError, ReplayError, UnsoundError
from antecede.checker.local.graph import KeptGraph, figures_of
from antecede.checker.local.joint import Joint
from antecede.checker.local.owners import (
    ARENAS,
    FURTHER,
    LEAST_SHARE,
    MOST_DEPTH,
    PIECE,
    RECENT,
    ROW_BITS,
    VISITED,
    Ahead,
    Level,
    LocalCourse,
    Owner,
    forget_last,
    mark,
    renumber,
    repack_level,
)
from antecede.checker.model import Property, Transition, Where
from antecede.checker.paths.path import holds_along, replay
from antecede.checker.paths.places import transitions_at
from antecede.checker.search.loop import Found, Stop, decided
from antecede.checker.search.options import Options
from antecede.checker.search.result import Counts
from antecede.checker.semantics.transition import System
from antecede.checker.tables import kernels
from antecede.checker.tables.arena import Arenas, reserve_bytes
from antecede.checker.tables.checkpoint import (
    Checkpoints,
    Contents,
    Saved,
    last_in,
    prepared,
    readable,
)
from antecede.checker.tables.components import bits_of, in_bits
from antecede.checker.tables.encoding import filled
from antecede.checker.tables.grading import NotGradedError, Weights
from antecede.checker.tables.identity import about
from antecede.checker.tables.misses import Repacking, Supply, refuse_crowds, wrapping
from antecede.checker.tables.symmetry import NotSymmetricError, figures, why_not
from antecede.checker.tables.tabulate import SelfPacketError, Words
from antecede.checker.tables.visited import Visited

Showing: TypeAlias = tuple[Property, int, int]
"""What is shown; the index of a state of the current level, times the number of threads, plus the
owner; and the place of the transition from there that shows it, or -1 for the state itself."""

WORTH_BEGINNING_AGAIN = 16
"""How many times as many states as are worth forgetting are worth going by weight for.

A search by weight begins again, and takes longer for each state: 15 % in all for `cykas` 3 x 3,
whose five million states fit into any memory.
"""

UNFOUNDED = (NotSymmetricError, SelfPacketError, NotGradedError)
"""What is raised where something taken for granted turns out not to hold."""


@define(eq=False)
class LocalBreadthFirst:
    """Breadth-first by levels on the tables; a round is a level.

    Attributes:
        weighs: levels may be sums of weights.
        tried: weights that were gone by; other ones turned out to be needed.
        kept: the graph of all states, where it was asked for.
        joint: judges the properties of all actors' states at once.
        unjudged: it has not judged all states of the current level.
    """

    system: System
    max_depth: int | None = None
    options: Options = Options()
    exhaustive: bool = True
    joint: Joint = field(init=False)
    unjudged: bool = False
    supply: Supply = field(init=False)
    owners: list[Owner] = field(init=False)
    arenas: Arenas = field(init=False)
    pool: ThreadPoolExecutor = field(init=False)
    course: LocalCourse = field(factory=LocalCourse)
    no_symmetry: str | None = None
    seconds_before: float = 0.0
    began: float = field(factory=time.monotonic)
    self_channels: bool = False
    checkpoints: Checkpoints | None = None
    weighs: bool = True
    tried: list[Weights] = field(factory=list)
    kept: KeptGraph | None = None

    def __attrs_post_init__(self) -> None:
        """Start from the initial state, or where a checkpoint ends."""
        if any(map(looks_back, self.system.properties)):
            # Ways back are looked for on the graph of all states.
            self.options = evolve(self.options, memory="keep")
        saved = None if self.options.resume is None else last_in(self.options.resume)
        threads = self.options.threads or os.cpu_count() or 1
        if saved is not None:
            threads = self.options.threads or int(saved.about.get("threads", threads))
        self.pool = ThreadPoolExecutor(threads)
        self.options = evolve(self.options, threads=threads)
        self.self_channels |= self.system.workload.self_sends
        self.arenas = self._new_arenas()
        try:
            if saved is None:
                self._start()
            else:
                self._restore(saved)
            self.checkpoints = prepared(
                self.options, self._about(), lambda made: made.save(self.contents())
            )
        except BaseException:
            self.close()
            raise

    def _new_arenas(self) -> Arenas:
        in_memory = () if self.options.spill_visited else (VISITED,)
        arenas = (ARENAS + FURTHER * self.course.open_levels) * (self.options.threads or 1)
        return Arenas(self.options.spill, in_memory, reserve_bytes(arenas))

    def _about(self) -> dict[str, Any]:
        """Return what a checkpoint of this search says of itself."""
        return about(
            self.system,
            symmetry=self.options.symmetry,
            sweep_line=self.options.sweep_line,
            threads=self.options.threads,
        )

    def _restore(self, saved: Saved) -> None:
        """Go on where a checkpoint ends."""
        saved.refuse_unless(self._about())
        with readable(saved.folder):
            self.adopt(saved.restore(), saved)

    def adopt(self, state: dict[str, Any], saved: Saved) -> None:
        """Take over what a checkpoint saved, see `record`."""
        self.options = evolve(self.options, **state["options"])
        self.no_symmetry, self.self_channels = state["no_symmetry"], state["self_channels"]
        self.weighs, self.seconds_before = state["weighs"], state["seconds_before"]
        self.course = LocalCourse.recorded(self.system, state["course"])
        self.tried = [self.course.weights]
        self.supply = self._new_supply(symmetric=state["symmetric"])
        self.supply.adopt(filled(state["supply"], saved.array))
        self.joint, self.unjudged = Joint(self.supply), True
        self.owners = [self._owner(k, len(state["owners"])) for k in range(len(state["owners"]))]
        for owner, record in zip(self.owners, state["owners"], strict=True):
            owner.adopt(record, saved)

    def contents(self) -> Contents:
        """Return what to save between two chunks."""
        return Contents(self.record())

    def record(self) -> dict[str, Any]:
        """Return, as data, all that the search goes on from; see `adopt`."""
        options = ("traces", "block", "forget_from")
        return {
            "options": {name: getattr(self.options, name) for name in options},
            "no_symmetry": self.no_symmetry,
            "self_channels": self.self_channels,
            "weighs": self.weighs,
            "seconds_before": self.seconds_before + time.monotonic() - self.began,
            "course": self.course.record(self.system),
            "symmetric": self.supply.symmetric,
            "supply": self.supply.record(),
            "owners": [owner.record(traces=self.options.traces) for owner in self.owners],
        }

    def _start(self, weights: Weights | None = None) -> None:
        """Begin, or begin again: without symmetry, by weights, without forgetting anything."""
        self.course = LocalCourse(block=self.options.block, weights=weights or {})
        self.supply = self._new_supply(symmetric=False)
        if self.no_symmetry is None:
            self.no_symmetry = why_not(self.supply.tabulation, self.options.symmetry)
        if self.no_symmetry is None:
            try:
                self.supply = self._new_supply(symmetric=True)
            except NotSymmetricError as reason:
                self.no_symmetry = str(reason)
        self.joint, self.unjudged = Joint(self.supply), False
        self._begin()

    def _begin(self) -> None:
        """Begin with the initial state, with the tables that there are."""
        threads = self.options.threads or 1
        self.arenas = self._new_arenas()
        self.owners = [self._owner(k, threads) for k in range(threads)]
        self._show_initially(self.supply.tabulation.initially_shown())
        with wrapping():
            self._insert_initial()

    def _new_supply(self, *, symmetric: bool) -> Supply:
        return Supply(
            self.system,
            ROW_BITS,
            symmetric=symmetric,
            sweep_line=self.options.sweep_line,
            check_progress=self.options.check_progress,
            self_channels=self.self_channels,
        )

    def _owner(self, number: int, threads: int) -> Owner:
        row_words, block = self.supply.layout.row_words, self.course.block
        arena, levels = self.arenas.make, self.course.open_levels
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
        weighed = bool(self.course.weights)
        return Level(rows, depths=self.arenas.make(np.uint16, "frontiers") if weighed else None)

    def _insert_initial(self) -> None:
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
        self._next_level()

    def _show_initially(self, bits: int) -> None:
        self.course.found |= {prop.name: Found(()) for prop in in_bits(self.system, bits)}

    @property
    def found(self) -> dict[str, Found]:
        """What shows each property."""
        return self.course.found

    @property
    def truncated(self) -> bool:
        """Some state was not expanded because of --max-depth."""
        return self.course.truncated

    @property
    def levels(self) -> list[int]:
        """Per depth, how many states are new."""
        return self.course.levels

    @property
    def frontier(self) -> int:
        """States of the current depth; 0 when the search is over."""
        return self.course.frontier

    def counts(self) -> Counts:
        """Return what was explored so far."""
        return Counts(
            unique_states=sum(a.visited.unique for o in self.owners for a in o.ahead),
            total_states=1 + sum(int(o.control[kernels.FIRED]) for o in self.owners),
            depth=self.course.deepest,
            final_states=sum(int(o.control[kernels.FINALS]) for o in self.owners),
        )

    def round(self, tick: Callable[[], None]) -> None:
        """Expand the current level; begin again if what was taken for granted does not hold."""
        try:
            self._round(tick)
        except UNFOUNDED as reason:
            self.begin_again(reason)

    def begin_again(self, reason: Exception) -> None:
        """Begin again, without what was taken for granted and turned out not to hold."""
        weights: Weights | None = self.course.weights
        match reason:
            case NotSymmetricError():
                self.no_symmetry = str(reason)
            case SelfPacketError():
                self.self_channels = True
            case _:
                weights = self._new_weights()
                self.tried.append(weights or {})
                if weights is None:
                    self.options = evolve(self.options, forget_from=None)
        self.arenas.close()
        self._start(weights)

    def _new_weights(self) -> Weights | None:
        """Return weights to go by, if there are any that were not tried yet."""
        weights = self.supply.tabulation.grading.weights
        usable = self.weighs and self.max_depth is None and weights not in self.tried
        return weights if weights and usable else None

    def _go_by(self, weights: Weights) -> None:
        """Begin again by these weights, before any state was forgotten; the tables are kept."""
        self.arenas.close()
        self.tried.append(weights)
        found = dict(self.course.found)
        self.course = LocalCourse(block=self.options.block, weights=weights, found=found)
        self._begin()

    def lost(self, prop: Property, tick: Callable[[], None]) -> Found | None:
        """Return what shows that some state has no way back to what `prop` wants, or None."""
        try:
            places = self._graph(tick).lost(prop, tick)
        except NotSymmetricError as reason:
            if not self.supply.symmetric:
                raise ReplayError(f"the graph lacks states that were explored: {reason}.") from None
            return lost_anew(self, evolve(self.options, symmetry=False), prop, tick)
        if places is None:
            return None
        if self.supply.symmetric:
            return Found(self.unrenamed(places, prop))
        return Found(transitions_at(self.system, places))

    def _graph(self, tick: Callable[[], None]) -> KeptGraph:
        """Return the graph of all states, which is made when it is asked for first."""
        if self.kept is None:
            asked = tuple(p for p in self.system.properties if looks_back(p))
            self.kept = KeptGraph(self.supply, self.owners, self.arenas, self.pool, asked)
            self.kept.make(tick)
        return self.kept

    def close(self) -> None:
        """Give memory, files and threads back; the counts remain."""
        # A kernel may still be running, after Ctrl-C.
        self.pool.shutdown(wait=True, cancel_futures=True)
        self.arenas.close()
        if self.checkpoints is not None:
            self.checkpoints.close()

    def _round(self, tick: Callable[[], None]) -> None:
        if self.max_depth is not None and self.course.deepest >= self.max_depth:
            self.course.truncated, self.course.frontier = True, 0
            return
        if self.unjudged:
            self.judge_level(tick)
            if decided(self.system, self):
                return
        self.course.between_levels = False
        known = bits_of(self.system, lambda prop: prop.name in self.found)
        for owner in self.owners:
            owner.control[kernels.KNOWN] = known
        with wrapping():
            while any(o.unfinished for o in self.owners):
                self._share()
                self._chunk()
                self._pause(tick)
        self._collect(tick)
        self._next_level()
        if self.arenas.made:  # else a second search took the memory
            self.judge_level(tick)
        if self.arenas.made:
            self._drop()
        if any(o.control[kernels.DECREASED] for o in self.owners):
            raise UnsoundError(
                "a transition decreases the progress that --memory sweep-line goes by, so states "
                "were dropped too early; please report this"
            )

    def _pause(self, tick: Callable[[], None]) -> None:
        """Report, and save if it is time, while no thread is at work."""
        if self.checkpoints is not None and self.checkpoints.due:
            self.checkpoints.save(self.contents())
        try:
            tick()
        except Stop:
            if self.checkpoints is not None:
                self.checkpoints.save(self.contents())
            raise

    @property
    def graded(self) -> bool:
        """No state that was reached has several depths, see `checker.tables.grading`."""
        return self.supply.tabulation.grading.reason is None

    def _drop(self) -> None:
        """Drop the visited states that can never be met again, if that is worth it."""
        least = self.options.forget
        if least is not None and not self.graded:
            least *= WORTH_BEGINNING_AGAIN
        visited = sum(owner.visited.states for owner in self.owners)
        weights = self._new_weights()
        if self.course.weights:
            self._drop_composites()
        elif least is None or visited <= least or not (self.graded or weights):
            if self.options.sweep_line:
                self._drop_behind()
        elif not self.graded and weights:
            if self.course.frontier and not decided(self.system, self):
                self._go_by(weights)
        else:
            self.course.forgot = True
            # Levels rarely grow by more; where one does, the set grows as usual.
            expected = 3 * self.course.frontier // (2 * len(self.owners))
            self._each(lambda owner: owner.visited.forget(expected))
            self._drop_composites()

    def _drop_composites(self) -> None:
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
        geo, marks = self.supply.tables.geo, np.zeros(len(layout.counts) * layout.room, np.bool_)
        self._each(lambda o: mark(o, geo, marks))
        self._read_depths()
        numbers = self.supply.keep(marks)
        self._each(lambda o: renumber(o, geo, numbers))
        for owner in self.owners:
            owner.recent[:] = -1
        if self.course.weights:
            self._fill_visited()
        course.composites_kept = int(layout.counts.sum())
        course.composites_dropped += had - course.composites_kept

    def _drop_behind(self) -> None:
        """Drop the visited states with less progress than every state of the new level."""
        tables, most = self.supply.tables, len(self.owners[0].visited.tally)
        least = min(
            kernels.least_progress(
                o.level.rows.array, o.level.count, tables.geo, tables.progress, most
            )
            for o in self.owners
        )
        self._each(lambda owner: owner.visited.drop_behind(tables, least))

    def _each(self, work: Callable[[Owner], None]) -> None:
        """Do some work for every owner, on its thread; NumPy's warnings are per thread."""

        def quietly(owner: Owner) -> None:
            with wrapping():
                work(owner)

        list(self.pool.map(quietly, self.owners))

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

    def _chunk(self) -> None:
        """Expand some rows of every thread, insert their successors, fill the tables."""
        self._each(self._expand)
        self._each(self._insert)
        self._each(self._gather)
        self._fill()
        grading, weights = self.supply.tabulation.grading, self.course.weights
        if not (grading.allows(weights) if weights else self.graded or not self.course.forgot):
            raise NotGradedError(str(grading.reason))
        for owner in self.owners:
            if owner.control[kernels.FULL]:
                # A row with more successors than a block has room for.
                refuse_crowds(int(owner.control[kernels.FULL]))
                self.course.block = max(self.course.block, 2 * int(owner.control[kernels.FULL]))
                owner.control[kernels.FULL] = 0
                self._new_blocks()

    def _leads(self) -> Words:
        """Return how far each kind of transition leads, for the kernels."""
        weights, kinds = self.course.weights, self.supply.tabulation.kinds
        return np.array([weights.get(kind, 1) - 1 for kind in kinds if weights], np.int64)

    def _expand(self, owner: Owner) -> None:
        level = self.owners[owner.source].level
        kernels.expand(
            level.rows.array,
            owner.todo,
            self.supply.tables,
            owner.source,
            len(self.owners),
            kernels.Outbox(owner.out, owner.sizes, owner.order, owner.recent),
            kernels.Weighing(self._leads(), level.known_depths, owner.recent_depths),
            kernels.Told(owner.postponed, owner.misses, owner.shown, owner.fired, owner.control),
        )

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
        self._fill_missed(np.concatenate(missed))

    def _fill_missed(self, missed: Words) -> Repacking | None:
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
        self._read_depths()
        for owner in self.owners:
            for level in owner.levels:
                repack_level(level, repacking)
        self._new_blocks()
        if self.course.weights:
            self._fill_visited()
            return
        old = [owner.visited for owner in self.owners]
        for owner in self.owners:
            owner.ahead[0].visited = self._visited()
            owner.visited.dropped = old[owner.number].dropped
        for visited in old:
            for part in visited.parts():
                rows = repacking.apply(part)
                self._each(partial(self._reinsert, rows=rows))
            visited.close()
        if self.options.sweep_line:
            for owner in self.owners:
                owner.visited.recount(self.supply.tables)

    def forget_states(self) -> None:
        """Keep only the tables, and what paths are traced back by."""
        for owner in self.owners:
            owner.visited.close()
            owner.ahead[0].visited = self._visited()
            owner.level.count = owner.following.count = 0

    def _visited(self) -> Visited:
        width = self.supply.layout.row_words
        tally = np.zeros(self.supply.tabulation.most_progress + 1, np.int64)
        depths = self.arenas.make(np.uint16, VISITED) if self.course.weights else None
        return Visited(width, self.arenas.make(np.int64, VISITED), tally=tally, depths=depths)

    def _read_depths(self) -> None:
        """Write to the open levels the least depths that their states have so far."""
        for lead in range(self.course.open_levels if self.course.weights else 0):
            self._each(partial(self._read_depths_ahead, lead=lead))

    def _read_depths_ahead(self, finder: Owner, lead: int) -> None:
        following = finder.ahead[lead].following
        for owner in self.owners:
            owner.ahead[lead].visited.read_depths(
                following.rows.array, owner.number, len(self.owners), following.known_depths
            )

    def _fill_visited(self) -> None:
        """Make the visited sets of the open levels anew, whose depths were read."""
        for owner in self.owners:
            for ahead in owner.ahead:
                old, ahead.visited = ahead.visited, self._visited()
                ahead.visited.dropped = old.dropped
                old.close()
        self._each(self._refill)

    def _refill(self, owner: Owner) -> None:
        for lead, ahead in enumerate(owner.ahead):
            for finder in self.owners:
                level = finder.ahead[lead].following
                rows = level.rows.array[: level.count * ahead.visited.width]
                threads, depths = len(self.owners), level.known_depths
                ahead.visited.add(rows, owner.number, threads, depths)

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

    def _next_level(self) -> None:
        """Make the states found in this round the current level."""
        self.course.between_levels = True
        if self.course.weights:
            self._next_sum()
        else:
            self._next_depth()
        for owner in self.owners:
            owner.source = owner.number
            owner.control[kernels.AT_FRESH] = 0
            owner.control[kernels.END_FRESH] = owner.level.count
        self.course.frontier = sum(level.count for o in self.owners for level in o.levels)
        if self.course.frontier and not self.course.weights:
            self.course.levels.append(self.course.frontier)

    def _next_depth(self) -> None:
        for owner in self.owners:
            owner.level, owner.ahead[0].following = owner.following, owner.level
            owner.following.count = 0
            owner.starts.append(owner.starts[-1] + owner.level.count)

    def _next_sum(self) -> None:
        """Go on to the next sum of weights that some state has, and forget this one."""
        for _ in range(self.course.open_levels):
            found = sum(owner.following.count for owner in self.owners)
            self._each(partial(self._read_depths_ahead, lead=0))
            for owner in self.owners:
                first, *others = owner.ahead
                owner.level, first.following = first.following, owner.level
                first.following.count = 0
                owner.ahead = [*others, first]
            # Levels rarely grow by more; where one does, the set grows as usual.
            expected = 3 * found // (2 * len(self.owners))
            self._each(partial(forget_last, expected=expected))
            self._count_depths()
            if found:
                return

    def _count_depths(self) -> None:
        """Count the states of the current level by depth."""
        levels = self.course.levels
        for owner in self.owners:
            depths = owner.level.known_depths
            for start in range(0, len(depths), PIECE):
                counted = np.bincount(depths[start : start + PIECE])
                levels += [0] * (len(counted) - 1 - len(levels))
                for depth in np.flatnonzero(counted):
                    levels[depth - 1] += int(counted[depth])
        if len(levels) > MOST_DEPTH:
            self.weighs = False
            raise NotGradedError("depths need more than two bytes")

    def judge_level(self, tick: Callable[[], None]) -> None:
        """Judge the states of the current level by what is asked of all actors at once."""
        self.unjudged = True
        levels = [(owner.level.rows.array, owner.level.count) for owner in self.owners]
        found = self.joint.shown(levels, self.found, self.pool, partial(self._pause, tick))
        self.unjudged = False
        self._record(
            [(prop, index * len(levels) + owner, -1) for prop, owner, index in found], tick
        )

    def _collect(self, tick: Callable[[], None]) -> None:
        """Take note of what the kernels saw in this round."""
        shown = []
        for owner in self.owners:
            for bits, link, place in owner.shown[: owner.control[kernels.FOUND]]:
                known = in_bits(self.system, int(bits))
                shown += [(prop, int(link), int(place)) for prop in known]
            owner.control[kernels.FOUND] = 0
        self._record(shown, tick)

    def _record(self, shown: list[Showing], tick: Callable[[], None]) -> None:
        """Trace back what was shown, the shortest first."""
        if self.course.weights:
            self._record_by_weight(shown)
            return
        untraced = []
        for prop, link, place in shown:
            index, source = divmod(link, len(self.owners))
            if self.options.traces:
                self._show(prop, source, index, place)
            else:
                untraced.append(prop)
        # Of a witness it only matters that there is one; of a violation, how it comes about.
        self.course.found |= {p.name: Found(()) for p in untraced if p.sought}
        violated = {p.name for p in untraced if not p.sought}
        if violated:
            self._search_again(violated, tick)

    def _record_by_weight(self, shown: list[Showing]) -> None:
        """Take note of what was shown; begin again by depth if that decides the search.

        Then the search by depth is over sooner, its path is a shortest one and its counts exact. A
        witness alone decides nothing; that there is one is all that is known of it then.
        """
        for prop, _link, _place in shown:
            self.course.found.setdefault(prop.name, Found(()))
        if decided(self.system, self):
            self.weighs = False
            raise NotGradedError("what is shown has its shortest run by depth")

    def _search_again(self, violated: set[str], tick: Callable[[], None]) -> None:
        """Find the shortest paths to violations of these properties, with parents this time.

        The verdict is reached, so the memory can go; and no bound can change it any more.
        """

        def report() -> None:
            with contextlib.suppress(Stop):
                tick()

        self.arenas.close()
        options = evolve(self.options, traces=True, checkpoint=None, resume=None)
        try:
            again = LocalBreadthFirst(self.system, options=options, weighs=False)
        except CapacityError as error:
            raise self._no_path(violated, error) from None
        try:
            while again.frontier and not violated <= again.found.keys():
                again.round(report)
            self.course.whole = again.unreduced()
        except CapacityError as error:
            raise self._no_path(violated, error) from None
        finally:
            again.close()
        if not violated <= again.found.keys():
            raise ReplayError(f"a second search does not find what violates {', '.join(violated)}.")
        self.course.found |= again.found

    def _no_path(self, violated: set[str], error: CapacityError) -> CapacityError:
        return CapacityError(
            f"{', '.join(sorted(violated))} is violated, but the second search, for the "
            f"counterexample, failed: {error}"
        )

    def _show(self, prop: Property, owner: int, index: int, place: int) -> None:
        length = self.course.deepest - (place < 0)
        known = self.course.found.get(prop.name)
        if known is not None and len(known.transitions) <= length:
            return
        places = self._places_to(owner, index)
        if place >= 0:
            places.append(place)
        if self.supply.symmetric:
            self.course.found[prop.name] = Found(self.unrenamed(places, prop))
        else:
            self.course.found[prop.name] = Found(transitions_at(self.system, places))

    def _places_to(self, owner: int, index: int) -> list[int]:
        """Return the places of the transitions that lead to a state of the current level."""
        places = []
        threads = len(self.owners)
        for depth in range(len(self.course.levels) - 1, 0, -1):
            at = self.owners[owner].starts[depth] + index
            places.append(int(self.owners[owner].places.array[at]))
            link = int(self.owners[owner].parents.array[at])
            index, owner = divmod(link, threads)
        return places[::-1]

    def unrenamed(
        self,
        places: list[int],
        prop: Property,
        kept: Callable[[int, Words], Words] = lambda _number, row: row,
    ) -> tuple[Transition, ...]:
        """Return a path in original names that follows the representatives at these places.

        Wherever the representatives go, some transition of the real state leads to a state with the
        same representative. The last one must show the property, too.

        Args:
            places: of the transitions, in those of the representatives.
            prop: what the path must violate.
            kept: (number of a transition, representative after it) -> the renaming of it that the
                search went on from, if that is another one.
        """
        real = representative = self.supply.initial_row()
        path: list[int] = []
        choices: list[int] = []
        for number, place in enumerate(places, 1):
            reals, representatives, real, representative = self._both(real, representative)
            representative = representatives[place]
            choices = [
                k for k, row in enumerate(reals) if (self._represented(row) == representative).all()
            ]
            if not choices:
                raise NotSymmetricError("a run of representatives is no run of the system")
            path.append(choices[0])
            real = reals[choices[0]]
            representative = kept(number, representative)
        if looks_back(
            prop
        ):  # from states with one representative either each has a way back or none
            return transitions_at(self.system, path)
        for choice in choices:
            transitions = transitions_at(self.system, [*path[:-1], choice])
            if not holds_along(replay(self.system, transitions), prop):
                return transitions
        return transitions_at(self.system, path)

    def _both(self, real: Words, representative: Words) -> tuple[Any, Any, Words, Words]:
        """Return the successors of a real row and of its representative, and both, packed alike."""
        while True:
            first, missed = self._successors_of(real, reduced=False)
            second, more = self._successors_of(representative, reduced=True)
            missed = np.concatenate([missed, more, *map(self._misses_of, first)])
            if not len(missed):
                return first, second, real, representative
            repacking = self._fill_missed(missed)
            if repacking is not None:
                real, representative = repacking.apply(real), repacking.apply(representative)

    def _successors_of(self, row: Words, *, reduced: bool) -> tuple[Any, Words]:
        """Return the successors of one row, of shape (n, row words), and what they missed."""
        tables = self.supply.tables
        if not reduced:
            tables = tables._replace(geo=tables.geo.copy())
            tables.geo[kernels.PERMUTATIONS] = 0
        owner = self.owners[0]
        control = np.zeros(kernels.CONTROL_SIZE, np.int64)
        control[kernels.END_FRESH] = 1
        sizes, misses = np.zeros(1, np.int64), self.supply.misses()
        stride = self.supply.layout.row_words + 1
        out = np.empty((1, owner.out.shape[1]), np.int64)
        with wrapping():
            kernels.expand(
                row,
                np.empty(1, np.int64),
                tables,
                0,
                1,
                kernels.Outbox(
                    out, sizes, np.empty(out.shape[1], np.uint16), np.empty(0, np.int64)
                ),
                kernels.BY_DEPTH,
                kernels.Told(
                    postponed=np.empty(1, np.int64),
                    misses=misses,
                    shown=np.empty((64, 3), np.int64),
                    fired=np.zeros_like(owner.fired),
                    control=control,
                ),
            )
        entries = out[0, : int(sizes[0]) * stride].reshape(-1, stride)
        return entries[:, :-1].copy(), misses[: control[kernels.MISSES]]

    def _represented(self, row: Words) -> Words:
        """Return the representative of a row whose renamings are all known."""
        return self._represent(row)[0]

    def _misses_of(self, row: Words) -> Words:
        """Return what is missing for the representative of a row."""
        return self._represent(row)[1]

    def _represent(self, row: Words) -> tuple[Words, Words]:
        tables, renamed, misses = self.supply.tables, row.copy(), self.supply.misses()
        loc = np.empty(2 * len(tables.dec) + 2 * len(row), np.int64)
        control = np.zeros(kernels.CONTROL_SIZE, np.int64)
        kernels.represent(renamed, 0, tables.geo, tables.ren, tables.perms, loc, misses, control)
        return renamed, misses[: control[kernels.MISSES]]

    def _symmetry_figures(self) -> dict[str, Any]:
        symmetry, orbits = self.supply.tabulation.symmetry, self._total(kernels.ORBIT_STATES)
        current = [o.level.count for o in self.owners] if self.course.weights else []
        expanded = sum(self.course.levels) - (sum(current) or self.course.frontier)
        return figures(symmetry, self.no_symmetry, orbits, expanded)

    def _total(self, place: int) -> int:
        return sum(int(owner.control[place]) for owner in self.owners)

    def unreduced(self) -> Counts | None:
        """Return the counts without symmetry, from the sizes of the orbits."""
        if self.course.whole is not None:
            return self.course.whole
        if not (self.supply.symmetric and self.course.between_levels and self.arenas.made):
            return None
        tables, waiting = self.supply.tables, 0
        for level in (level for owner in self.owners for level in owner.levels):
            rows = level.rows.array
            waiting += kernels.orbits(rows, level.count, tables.geo, tables.ren, tables.perms)
        return Counts(
            unique_states=self._total(kernels.ORBIT_STATES) + waiting,
            total_states=1 + self._total(kernels.ORBIT_FIRED),
            depth=self.course.deepest,
            final_states=self._total(kernels.ORBIT_FINALS),
        )

    def statistics(self) -> dict[str, Any]:
        """Return further figures, by name."""
        unique = self.counts().unique_states
        visited = [ahead.visited for owner in self.owners for ahead in owner.ahead]
        stored = sum(v.bytes for v in visited)
        return {
            "symmetry": self._symmetry_figures(),
            "threads": len(self.owners),
            "visited_bytes_per_state": stored / max(unique, 1),
            "load_factor": sum(v.states for v in visited) / sum(v.capacity for v in visited),
            "graded": {"on": self.graded, "reason": self.supply.tabulation.grading.reason},
            **({"weights": dict(self.course.weights)} if self.course.weights else {}),
            "dropped_states": sum(v.dropped for v in visited),
            "dropped_composites": self.course.composites_dropped,
            "spilled_bytes": self.arenas.spilled_bytes,
            "checkpoints": self.checkpoints and self.checkpoints.figures(),
            "states_per_depth": list(self.course.levels),
            **figures_of(self.kept),
            **self.supply.figures(
                np.sum([o.fired for o in self.owners], axis=0),
                np.sum([o.fresh_kinds for o in self.owners], axis=0),
            ),
        }


def looks_back(prop: Property) -> bool:
    """Return whether a property is judged on the graph of all states."""
    return prop.where is Where.FROM_EVERYWHERE_ON


def lost_anew(
    explorer: Any, options: Options, prop: Property, tick: Callable[[], None]
) -> Found | None:
    """Return what `Explorer.lost` does, by a search that keeps all states.

    Args:
        explorer: has explored all states, and kept no graph; takes the new one's graph over.
        options: how to search.
        prop: what is judged.
        tick: called now and then; it may raise.
    """
    asked = evolve(explorer.system, properties=(prop,))
    options = evolve(options, engine="local", traces=False, checkpoint=None, resume=None)
    search = LocalBreadthFirst(asked, options=options)
    try:
        while search.frontier:
            search.round(tick)
        return search.lost(prop, tick)
    finally:
        explorer.kept = search.kept
        search.close()
