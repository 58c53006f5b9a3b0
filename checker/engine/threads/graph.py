"""The graph of all states, kept by the fast engine, and the properties judged on it.

The graph is made when the search is over: then the visited sets no longer change, and a slot of one
names a state. The states are expanded once more, level by level from the initial one, and numbered
as they are found: without symmetry it is the graph of
`checker.search.graph.StateGraph`, number by number. Levels are expanded on all threads by the
kernel of the search; only the numbering is done by one.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from concurrent.futures import Executor
from typing import Any

import numpy as np
from attrs import define, field

from antecede.checker.engine.rows import geometry as g
from antecede.checker.engine.rows.orbits import split
from antecede.checker.engine.rows.symmetry import NotSymmetricError
from antecede.checker.engine.rows.table_filler import TableFiller, wrapping
from antecede.checker.engine.storage.arena import Arena, Arenas
from antecede.checker.engine.storage.arrays import Words
from antecede.checker.engine.tabulated import levels_kernels
from antecede.checker.engine.threads import graphs_kernels
from antecede.checker.engine.threads.labels import MOST_LABELS, Labels, labels_of
from antecede.checker.engine.threads.shard import Shard
from antecede.checker.graphs.backwards import first_lost
from antecede.checker.model import Property, Transition, What
from antecede.checker.search.graph import Passes, Rows
from antecede.checker.semantics.history import Ghost
from antecede.checker.semantics.judge import left
from antecede.checker.semantics.marked import follows, may_mark
from antecede.checker.support.errors import CapacityError, ReplayError

MOST_STATES = (1 << 32) - 2
"""A state's number has 32 bits."""

MOST_PROPERTIES = 8
"""Properties of ways back that are judged on one graph: a state has a bit for each."""

PIECE = 1 << 22
"""Edges that are looked through at a time."""

NOT_FOLLOWED, NOT_MARKED = 1, 2
"""Marks of a state: no marked message is undelivered; none was causal-sent."""


@define(eq=False)
class KeptGraph:
    """The graph of all states that a search has found: its nodes are states, its edges transitions.

    It takes 4 bytes per edge, and per state 9 and 4 for each slot of the visited sets; on disk
    where the search spills.

    Attributes:
        filler: the tables of the search, which is over.
        shards: their visited sets have every state.
        arenas: creates the arrays of the graph.
        pool: a thread for each shard.
        props: the properties that ask for ways back, such as `can-deliver`.
        labels: the transitions by number, if edges are labelled.
        wanted: per composite, the bits of `conditions` that it allows, or None; see
            `wanted_composites`.
        first, target, label: the edges, as in `checker.search.graph.Rows`.
        conditions: per state, the bits that all its composites have: bit k means that the state is
            one that property k of `props` wants to be reached.
        figures: the figures of `graphs_kernels.Growing`.
        seconds: the time spent to make the graph and to look for ways back.
    """

    filler: TableFiller
    shards: Sequence[Shard]
    arenas: Arenas
    pool: Executor
    props: tuple[Property, ...]
    labels: Labels | None = None
    wanted: Any = None
    first: Arena = field(init=False)
    target: Arena = field(init=False)
    label: Arena = field(init=False)
    conditions: Arena = field(init=False)
    figures: Words = field(factory=lambda: np.array([1, 0, 0], np.int64))
    seconds: float = 0.0
    _number: Arena = field(init=False)
    _levels: list[Arena] = field(init=False)
    _share: int = 1 << 8
    _tables: g.Tables = field(init=False)

    def __attrs_post_init__(self) -> None:
        """Make room; CapacityError: there is too little, or there are too many properties."""
        make = self.arenas.make
        self.first = make(np.int64, "rows of the graph")
        self.target = make(np.uint32, "edges of the graph")
        self.label = make(np.uint16, "labels of the graph")
        self.conditions = make(np.uint8, "conditions of states")
        self._number = make(np.uint32, "numbers of states")
        self._levels = [make(np.int64, "levels of the graph") for _ in range(2)]
        if len(self.props) > MOST_PROPERTIES:
            raise CapacityError(
                f"{len(self.props)} properties of ways back are more than the {MOST_PROPERTIES} "
                "that can be judged at once; check some of them alone"
            )
        if self.wanted is None:
            self.wanted = wanted_composites(self.filler, self.props)
        self._tables = self.filler.tables
        if self.labels is not None:
            self._tables = self._tables._replace(code=self.labels.code)

    @property
    def states(self) -> int:
        """The number of states that have a number."""
        return int(self.figures[graphs_kernels.NUMBERED])

    @property
    def edges(self) -> int:
        """The number of edges so far."""
        return int(self.figures[graphs_kernels.LINKED])

    @property
    def ended(self) -> int:
        """The number of states that have their edges."""
        return int(self.figures[graphs_kernels.ENDED])

    def make(self, tick: Callable[[], None], depth: int | None = None) -> None:
        """Number all states and add their edges; states of this depth and beyond get none.

        Raises:
            CapacityError: there is too little room.
            NotSymmetricError: a state's representative is not the one that the search met.
        """
        began = time.perf_counter()
        known = sum(shard.visited.states for shard in self.shards)
        if known > MOST_STATES:
            raise CapacityError(f"{known:,} states are more than a graph has numbers for")
        count, here = self._begin(), 1
        while count and here != depth:
            count, here = self._level(count, tick), here + 1
            self._levels.reverse()
        for shard in self.shards:
            shard.sizes[:] = 0
        if depth is None and self.states != known:
            raise NotSymmetricError("some states are met under other names than at first")
        for arena in (self._number, *self._levels):
            arena.close()
        self.seconds = time.perf_counter() - began

    def _begin(self) -> int:
        """Number the initial state; return the size of the first level."""
        row = self.filler.initial_row()
        self._number.ensure(sum(shard.visited.slot_count for shard in self.shards))
        for level in self._levels:
            level.ensure(len(row))
        self._levels[0].array[: len(row)] = row
        self.first.ensure(1)
        self.first.array[0] = 0
        self.conditions.ensure(1)
        numbers = np.concatenate(self.filler.layout.composites(row))
        here = self.wanted.reshape(len(numbers), -1)[np.arange(len(numbers)), numbers]
        self.conditions.array[0] = np.bitwise_and.reduce(here)
        for shard, offset in zip(self.shards, self._offsets(), strict=True):
            found = np.empty(1, np.int64)
            entry = np.append(row, 0)
            if self._find(shard, entry, 1, offset, found):
                self._number.array[found[0]] = 1
        return 1

    def _offsets(self) -> list[int]:
        """Return where the slots of each shard begin among all."""
        sizes = [shard.visited.slot_count for shard in self.shards]
        return [sum(sizes[:k]) for k in range(len(sizes))]

    def _find(self, shard: Shard, out: Words, size: int, offset: int, found: Words) -> bool:
        """Find states in a thread's visited set; return whether all are there."""
        visited, number = shard.visited, self._number.array
        with wrapping():
            complete = graphs_kernels.find_states(
                out, size, visited.width, visited.slots, visited.figures(), offset, number, found
            )
        return bool(complete)

    def _level(self, count: int, tick: Callable[[], None]) -> int:
        """Expand the first rows of a level; return how many rows the next one has."""
        shards, at, fresh = self.shards, 0, 0
        while at < count:
            shares = [
                (min(at + k * self._share, count), min(at + (k + 1) * self._share, count))
                for k in range(len(shards))
            ]
            works = [_Work(shard, *share) for shard, share in zip(shards, shares, strict=True)]
            self._expand(works)
            for work in works:
                fresh = self._link(work, fresh)
                while work.begin < work.end:
                    self._expand([work])
                    fresh = self._link(work, fresh)
            at = shares[-1][1]
            fullest = max(int(shard.sizes.max()) for shard in shards)
            self._adapt(fullest)
            tick()
        return fresh

    def _adapt(self, fullest: int) -> None:
        """Choose how much a thread expands at a time, so that its buffers are rarely full."""
        stride = self.filler.layout.row_words + 1
        room = self.shards[0].out.shape[1] // stride
        if fullest < room // 4:
            self._share *= 2
        elif fullest > room // 2:
            self._share = max(self._share // 2, 1)

    def _expand(self, works: list[_Work]) -> None:
        """Expand shares of the level, each on its thread, and find the states that they lead to.

        The search may have taken successors from memory whose table entries were never needed.
        """
        while True:
            list(self.pool.map(self._expand_one, works))
            missed = np.concatenate([work.missed for work in works])
            if not len(missed):
                break
            self._fill(missed)
        list(self.pool.map(self._find_all, works))

    def _fill(self, missed: Words) -> None:
        """Fill the tables; a new composite is a ReplayError, because handlers are not pure then."""
        before = self.filler.layout.counts.tolist()
        repacking = self.filler.fill(missed)
        after = self.filler.layout.counts.tolist()
        if repacking is not None or before != after or self.labels is not None:
            raise ReplayError("a state asks for what it did not need when it was explored.")
        self._tables = self.filler.tables

    def _expand_one(self, work: _Work) -> None:
        shard, shards = work.shard, self.shards
        control = work.control
        control[:] = 0
        control[g.KNOWN] = (1 << 31) - 1
        control[g.AT_FRESH], control[g.END_FRESH] = work.begin, work.end
        shard.sizes[:] = 0
        misses = self.filler.misses()
        with wrapping():
            levels_kernels.expand(
                self._levels[0].array,
                np.empty(1, np.int64),
                self._tables,
                0,
                len(shards),
                g.Outbox(shard.out.ravel(), shard.sizes, shard.order, np.empty(0, np.int64)),
                g.BY_DEPTH,
                g.Told(
                    np.empty(1, np.int64),
                    misses,
                    np.empty((1, 3), np.int64),
                    np.zeros(MOST_LABELS, np.int64),
                    control,
                    shard.memo,
                ),
            )
        work.missed = misses[: control[g.MISSES]]

    def _find_all(self, work: _Work) -> None:
        """Find the states that a thread's successors are."""
        shard, shards = work.shard, self.shards
        stride = self.filler.layout.row_words + 1
        work.complete = True
        work.found = np.empty((len(shards), shard.out.shape[1] // stride), np.int64)
        for other, offset in zip(shards, self._offsets(), strict=True):
            sent, size = shard.out[other.number], int(shard.sizes[other.number])
            found = work.found[other.number]
            work.complete &= self._find(other, sent, size, offset, found)

    def _link(self, work: _Work, fresh: int) -> int:
        """Number what a thread found; return how many rows the next level has so far."""
        shard = work.shard
        sizes, row_words = shard.sizes, self.filler.layout.row_words
        if not work.complete:
            raise NotSymmetricError("a state's representative is not the one that was met")
        sent, done = int(sizes.sum()), int(work.control[g.AT_FRESH])
        self.first.ensure(int(self.figures[graphs_kernels.ENDED]) + done - work.begin + 1)
        self.target.ensure(self.edges + sent)
        if self.labels is not None:
            self.label.ensure(self.edges + sent)
        self.conditions.ensure(self.states + sent)
        self._levels[1].ensure((fresh + sent) * row_words)
        fresh = graphs_kernels.link(
            g.Outbox(shard.out.ravel(), sizes, shard.order, shard.recent),
            work.found,
            work.begin,
            done,
            self.filler.tables,
            self.wanted,
            graphs_kernels.Growing(
                self._number.array,
                self.first.array,
                self.target.array,
                self.conditions.array,
                self.label.array if self.labels is not None else np.empty(0, np.uint16),
                self._levels[1].array,
                self.figures,
            ),
            fresh,
        )
        work.begin = done
        return int(fresh)

    def lost(self, prop: Property, tick: Callable[[], None]) -> list[int] | None:
        """Return a shortest path to a state with no way back to what `prop` wants, or None.

        A path is the places of its transitions.
        """
        bit = [asked.name for asked in self.props].index(prop.name)
        good = bytearray(self.states)
        marked = np.frombuffer(good, np.uint8)
        marked[:] = self.conditions.array[: self.states] >> np.uint8(bit) & np.uint8(1)
        first, target = self.first.array[: self.states + 1], self.target.array[: self.edges]

        def one_pass(_first: Any, _target: Any, _good: Any, upwards: bool) -> int:
            return int(graphs_kernels.spread(first, target, marked, upwards))

        began = time.perf_counter()
        state = first_lost(first, target, good, tick, one_pass)
        self.seconds += time.perf_counter() - began
        return None if state is None else self._places_to(state)

    def _places_to(self, state: int) -> list[int]:
        """Return the places of the transitions that led to a state when it was found."""
        return [edge - int(self.first.array[source]) for source, edge in self.edges_to(state)]

    def edges_to(self, state: int) -> list[tuple[int, int]]:
        """Return the edges that led to a state when it was found, each with its source."""
        first, found = self.first.array[: self.ended + 1], list[tuple[int, int]]()
        while state:
            edge = self._first_edge_to(state)
            state = int(np.searchsorted(first, edge, side="right")) - 1
            found.append((state, edge))
        return found[::-1]

    def _first_edge_to(self, state: int) -> int:
        for at in range(0, self.edges, PIECE):
            part = self.target.array[at : min(at + PIECE, self.edges)] == state
            if part.any():
                return at + int(part.argmax())
        raise ReplayError(f"no edge leads to state {state} of the graph.")

    def close(self) -> None:
        """Give its memory back."""
        for arena in (self.first, self.target, self.label, self.conditions):
            arena.close()

    def figures_by_name(self) -> dict[str, Any]:
        """Return the size of the graph and the time that it took, for `--verbose`."""
        arenas = (self.first, self.target, self.conditions)
        sizes = (self.states + 1, self.edges, self.states)
        used = sum(a.array.itemsize * n for a, n in zip(arenas, sizes, strict=True))
        return {
            "states": self.states,
            "edges": self.edges,
            "symmetric": self.filler.symmetric,
            "bytes": used,
            "seconds": self.seconds,
        }


@define(eq=False)
class _Work:
    """Rows `begin` to `end` of the level, which one thread expands, and their successors."""

    shard: Shard
    begin: int
    end: int
    control: Words = field(factory=lambda: np.zeros(g.CONTROL_SIZE, np.int64))
    found: Words = field(factory=lambda: np.empty((0, 0), np.int64))
    complete: bool = True
    missed: Words = field(factory=lambda: np.empty((0, 0), np.int64))


def wanted_composites(filler: TableFiller, props: tuple[Property, ...]) -> Any:
    """Return a bit for each property that allows a composite, at its index in `kin`, as uint8.

    A property allows a composite if it accepts the messages that are pending there, or whether the
    workload has ended, or does not ask about this part.

    Raises:
        NotSymmetricError: a property wants something else of a composite when it is renamed.
    """
    layout, components = filler.layout, filler.components
    wanted = np.zeros((len(layout.counts), layout.room), np.uint8)
    for part, count in enumerate(layout.counts):
        actor = part // layout.each
        things: list[Any]
        for bit, prop in enumerate(props):
            if prop.what is not What.ENDED:
                column, values = g.PENDING, components.pending[actor].values
                things = [left(prop.what, entries) for entries in values]
            else:
                column, ends = g.POSITION, components.system.workload.ended
                things = [ends(actor, position) for position in components.positions[actor].values]
            accepted = np.array([bool(prop.predicate(thing)) for thing in things], np.uint8)
            said = np.ones(count, np.uint8)
            if layout.part_of(actor, column) == part:
                said = accepted[layout.column(actor, column)]
            wanted[part, :count] |= said << np.uint8(bit)
    _refuse_renamed(filler, wanted)
    return wanted.ravel()


def _refuse_renamed(filler: TableFiller, wanted: Any) -> None:
    """Raise NotSymmetricError unless a renamed composite is as wanted as the composite."""
    if not filler.symmetric:
        return
    orbits = filler.layout.orbits
    known = orbits.kin >= 0
    (orbit, _), here = split(orbits.kin[known]), wanted.ravel()[known]
    by_orbit = np.zeros(int(orbits.known[0]), np.uint8)
    by_orbit[orbit] = here
    if (by_orbit[orbit] != here).any():
        raise NotSymmetricError("a property of ways back tells the actors apart")


@define(eq=False)
class FollowedGraph:
    """Adapts a kept graph to the search for fair cycles, `checker.liveness.fairness`.

    It takes 6 bytes per edge and 9 per state, and what `KeptGraph` takes while it is made.

    Attributes:
        kept: the graph, with labels.
        rows: its edges.
    """

    kept: KeptGraph
    rows: Rows = field(init=False)

    @rows.default
    def _rows(self) -> Rows:
        kept = self.kept
        assert kept.labels is not None
        return Rows(
            kept.first.array[: kept.ended + 1],
            kept.target.array[: kept.edges],
            kept.label.array[: kept.edges],
            kept.labels.transitions,
        )

    @property
    def passes(self) -> Passes:
        """The compiled passes over the rows of the graph that the search for fair cycles calls."""
        return graphs_kernels.COMPILED

    def followed(self) -> bytearray:
        """Return, per state, whether the marked message was causal-sent and is undelivered."""
        return self._marked(0)

    def over(self) -> bytearray:
        """Return, per state, whether the marked message was delivered everywhere."""
        return self._marked(NOT_FOLLOWED)

    def _marked(self, exactly: int) -> bytearray:
        conditions = self.kept.conditions.array[: self.kept.states]
        return bytearray(conditions == exactly)

    def all_edges(self, number: int) -> bool:
        """Return whether the edges of the state with this number are in the graph."""
        return number < self.kept.ended

    def path_to(self, number: int) -> tuple[Transition, ...]:
        """Return a shortest path to the state with this number."""
        labels = (self.rows.label[edge] for _, edge in self.kept.edges_to(number))
        return tuple(self.rows.transitions[label] for label in labels)


def followed_graph(
    filler: TableFiller,
    make: Callable[[Labels, Any], KeptGraph],
    tick: Callable[[], None],
    depth: int | None,
) -> FollowedGraph:
    """Return the graph of the states that a search has found, for the search for fair cycles.

    Each edge is labelled with its transition, and each state has conditions: whether the message
    that is followed was sent, and whether it is sent but not delivered everywhere.

    Args:
        make: returns an empty graph, given what `labels_of` and `followed_composites` return.
        depth: the states of this depth were not expanded, and get no edges; None: all do.

    Raises:
        CapacityError: there is too little memory, or there are too many transitions to label.
    """
    kept = make(labels_of(filler.tabulation), followed_composites(filler))
    kept.make(tick, depth)
    return FollowedGraph(kept)


def followed_composites(filler: TableFiller) -> Any:
    """Return the conditions that each composite allows, as `wanted_composites` does."""
    layout, components = filler.layout, filler.components
    conditions = np.zeros((len(layout.counts), layout.room), np.uint8)
    for actor, count in enumerate(layout.counts):
        pending = components.pending[actor].values
        waits = [follows((Ghost(knows=0, pending=entries),)) for entries in pending]
        sent = [not may_mark((ghost,)) for ghost in components.knows[actor].values]
        quiet = ~np.array(waits, np.bool_)[layout.column(actor, g.PENDING)]
        unmarked = ~np.array(sent, np.bool_)[layout.column(actor, g.KNOWS)]
        conditions[actor, :count] = quiet * NOT_FOLLOWED + unmarked * NOT_MARKED
    return conditions.ravel()
