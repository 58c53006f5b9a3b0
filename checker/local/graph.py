"""The graph of all states, kept by the fast engine, and what is judged on it.

The graph is made when the search is over: then the visited sets no longer change, and a slot of one
names a state. The states are expanded once more, level by level from the initial one, and numbered
in the order in which they are found: without symmetry it is the graph of
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

from antecede.checker.errors import CapacityError, ReplayError
from antecede.checker.local.labels import MOST_LABELS, Labels
from antecede.checker.local.owners import Owner
from antecede.checker.model import Property, What
from antecede.checker.search.recovery import first_lost
from antecede.checker.tables import kernels
from antecede.checker.tables.arena import Arena, Arenas
from antecede.checker.tables.misses import Supply, wrapping
from antecede.checker.tables.symmetry import NotSymmetricError
from antecede.checker.tables.tabulate import Words

MOST_STATES = (1 << 32) - 2
"""A state's number has 32 bits."""

MOST_PROPERTIES = 8
"""Properties of ways back that are judged on one graph: a state has a bit for each."""

PIECE = 1 << 22
"""Edges that are looked through at a time."""


@define(eq=False)
class KeptGraph:
    """The graph of all states that a search has found.

    It takes 4 bytes per edge, and per state 9 and 4 for each slot of the visited sets; on disk
    where the search spills.

    Attributes:
        supply: the tables of the search, which is over.
        owners: their visited sets have every state.
        arenas: make room.
        pool: a thread for each owner.
        props: the properties of ways back.
        labels: what the transitions are, where the edges are to say it.
        first, target, label: the edges, as of `checker.search.graph.Rows`.
        marks: per state, a bit for each of `props` that is as wanted there, or as `wanted` says.
        seconds: what it took to make, and to look for ways back.
    """

    supply: Supply
    owners: Sequence[Owner]
    arenas: Arenas
    pool: Executor
    props: tuple[Property, ...]
    labels: Labels | None = None
    wanted: Any = None
    first: Arena = field(init=False)
    target: Arena = field(init=False)
    label: Arena = field(init=False)
    marks: Arena = field(init=False)
    figures: Words = field(factory=lambda: np.array([1, 0, 0], np.int64))
    seconds: float = 0.0
    _number: Arena = field(init=False)
    _levels: list[Arena] = field(init=False)
    _share: int = 1 << 8
    _tables: kernels.Tables = field(init=False)

    def __attrs_post_init__(self) -> None:
        """Make room.

        Raises:
            CapacityError: there is too little, or there are too many properties.
        """
        make = self.arenas.make
        self.first = make(np.int64, "rows of the graph")
        self.target = make(np.uint32, "edges of the graph")
        self.label = make(np.uint16, "labels of the graph")
        self.marks = make(np.uint8, "marks of states")
        self._number = make(np.uint32, "numbers of states")
        self._levels = [make(np.int64, "levels of the graph") for _ in range(2)]
        if len(self.props) > MOST_PROPERTIES:
            raise CapacityError(
                f"{len(self.props)} properties of ways back are more than the {MOST_PROPERTIES} "
                "that can be judged at once; check some of them alone"
            )
        if self.wanted is None:
            self.wanted = wanted_composites(self.supply, self.props)
        self._tables = self.supply.tables
        if self.labels is not None:
            self._tables = self._tables._replace(code=self.labels.code)

    @property
    def states(self) -> int:
        """How many states have a number."""
        return int(self.figures[kernels.NUMBERED])

    @property
    def edges(self) -> int:
        """How many edges there are so far."""
        return int(self.figures[kernels.LINKED])

    @property
    def ended(self) -> int:
        """How many states have their edges."""
        return int(self.figures[kernels.ENDED])

    def make(self, tick: Callable[[], None], depth: int | None = None) -> None:
        """Number all states and add their edges.

        Args:
            tick: called now and then; it may raise.
            depth: the states of this depth and beyond get no edges; None: all do.

        Raises:
            CapacityError: there is too little room.
            NotSymmetricError: a state's representative is not the one that the search met.
        """
        began = time.perf_counter()
        known = sum(owner.visited.states for owner in self.owners)
        if known > MOST_STATES:
            raise CapacityError(f"{known:,} states are more than a graph has numbers for")
        count, here = self._begin(), 1
        while count and here != depth:
            count, here = self._level(count, tick), here + 1
            self._levels.reverse()
        for owner in self.owners:
            owner.sizes[:] = 0
        if depth is None and self.states != known:
            raise NotSymmetricError("some states are met under other names than at first")
        for arena in (self._number, *self._levels):
            arena.close()
        self.seconds = time.perf_counter() - began

    def _begin(self) -> int:
        """Number the initial state; return the size of the first level."""
        row = self.supply.initial_row()
        self._number.ensure(sum(owner.visited.slot_count for owner in self.owners))
        for level in self._levels:
            level.ensure(len(row))
        self._levels[0].array[: len(row)] = row
        self.first.ensure(1)
        self.first.array[0] = 0
        self.marks.ensure(1)
        numbers = np.concatenate(self.supply.layout.composites(row))
        here = self.wanted.reshape(len(numbers), -1)[np.arange(len(numbers)), numbers]
        self.marks.array[0] = np.bitwise_and.reduce(here)
        for owner, offset in zip(self.owners, self._offsets(), strict=True):
            found = np.empty(1, np.int64)
            entry = np.append(row, 0)
            self._find(owner, entry, 1, offset, found)
            if found[0] >= 0:
                self._number.array[found[0]] = 1
        return 1

    def _offsets(self) -> list[int]:
        """Return where the slots of each owner begin among all."""
        sizes = [owner.visited.slot_count for owner in self.owners]
        return [sum(sizes[:k]) for k in range(len(sizes))]

    def _find(self, owner: Owner, out: Words, size: int, offset: int, found: Words) -> None:
        visited = owner.visited
        with wrapping():
            kernels.find_slots(
                out, size, visited.width, visited.slots, visited.figures(), offset, found
            )

    def _level(self, count: int, tick: Callable[[], None]) -> int:
        """Expand the first rows of a level; return how many rows the next one has."""
        owners, at, fresh = self.owners, 0, 0
        while at < count:
            shares = [
                (min(at + k * self._share, count), min(at + (k + 1) * self._share, count))
                for k in range(len(owners))
            ]
            works = [_Work(owner, *share) for owner, share in zip(owners, shares, strict=True)]
            self._expand(works)
            for work in works:
                fresh = self._link(work, fresh)
                while work.begin < work.end:
                    self._expand([work])
                    fresh = self._link(work, fresh)
            at = shares[-1][1]
            fullest = max(int(owner.sizes.max()) for owner in owners)
            self._adapt(fullest)
            tick()
        return fresh

    def _adapt(self, fullest: int) -> None:
        """Choose how much a thread expands at a time, so that its buffers are rarely full."""
        stride = self.supply.layout.row_words + 1
        room = self.owners[0].out.shape[1] // stride
        if fullest < room // 4:
            self._share *= 2
        elif fullest > room // 2:
            self._share = max(self._share // 2, 1)

    def _expand(self, works: list[_Work]) -> None:
        """Expand shares of the level, each on its thread, and find the states that they lead to."""
        list(self.pool.map(self._expand_one, works))
        for work in works:
            if work.control[kernels.MISSES]:
                raise ReplayError("a state asks for what it did not need when it was explored.")

    def _expand_one(self, work: _Work) -> None:
        owner, owners = work.owner, self.owners
        control = work.control
        control[:] = 0
        control[kernels.KNOWN] = (1 << 31) - 1
        control[kernels.AT_FRESH], control[kernels.END_FRESH] = work.begin, work.end
        owner.sizes[:] = 0
        with wrapping():
            kernels.expand(
                self._levels[0].array,
                np.empty(1, np.int64),
                self._tables,
                0,
                len(owners),
                kernels.Outbox(owner.out, owner.sizes, owner.order, np.empty(0, np.int64)),
                kernels.BY_DEPTH,
                kernels.Told(
                    np.empty(1, np.int64),
                    self.supply.misses(),
                    np.empty((1, 3), np.int64),
                    np.zeros(MOST_LABELS, np.int64),
                    control,
                ),
            )
        stride = self.supply.layout.row_words + 1
        work.found = np.empty((len(owners), owner.out.shape[1] // stride), np.int64)
        for other, offset in zip(owners, self._offsets(), strict=True):
            sent, size = owner.out[other.number], int(owner.sizes[other.number])
            self._find(other, sent, size, offset, work.found[other.number])

    def _link(self, work: _Work, fresh: int) -> int:
        """Number what a thread found; return how many rows the next level has so far."""
        owner = work.owner
        sizes, row_words = owner.sizes, self.supply.layout.row_words
        if any((work.found[k, :n] < 0).any() for k, n in enumerate(sizes)):
            raise NotSymmetricError("a state's representative is not the one that was met")
        sent, done = int(sizes.sum()), int(work.control[kernels.AT_FRESH])
        self.first.ensure(int(self.figures[kernels.ENDED]) + done - work.begin + 1)
        self.target.ensure(self.edges + sent)
        if self.labels is not None:
            self.label.ensure(self.edges + sent)
        self.marks.ensure(self.states + sent)
        self._levels[1].ensure((fresh + sent) * row_words)
        fresh = kernels.link(
            kernels.Outbox(owner.out, sizes, owner.order, owner.recent),
            work.found,
            len(self.owners),
            work.begin,
            done,
            self.supply.tables,
            self.wanted,
            kernels.Growing(
                self._number.array,
                self.first.array,
                self.target.array,
                self.marks.array,
                self.label.array if self.labels is not None else np.empty(0, np.uint16),
                self._levels[1].array,
                self.figures,
            ),
            fresh,
        )
        work.begin = done
        return int(fresh)

    def lost(self, prop: Property, tick: Callable[[], None]) -> list[int] | None:
        """Return the shortest way to a state with no way back to what `prop` wants, or None.

        Args:
            prop: one of `props`, by its name.
            tick: called now and then; it may raise.

        Returns:
            The places of its transitions.
        """
        bit = [asked.name for asked in self.props].index(prop.name)
        good = bytearray(self.states)
        marked = np.frombuffer(good, np.uint8)
        marked[:] = self.marks.array[: self.states] >> np.uint8(bit) & np.uint8(1)
        first, target = self.first.array[: self.states + 1], self.target.array[: self.edges]

        def one_pass(_first: Any, _target: Any, _good: Any, upwards: bool) -> int:
            return int(kernels.spread(first, target, marked, upwards))

        began = time.perf_counter()
        state = first_lost(first, target, good, tick, one_pass)
        self.seconds += time.perf_counter() - began
        return None if state is None else self._places_to(state)

    def _places_to(self, state: int) -> list[int]:
        """Return the places of the transitions by which a state was found."""
        return [edge - int(self.first.array[source]) for source, edge in self.edges_to(state)]

    def edges_to(self, state: int) -> list[tuple[int, int]]:
        """Return the edges by which a state was found, each with the state that it leads from."""
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
        for arena in (self.first, self.target, self.label, self.marks):
            arena.close()

    def figures_by_name(self) -> dict[str, Any]:
        """Return how large it is and what it took to make."""
        arenas = (self.first, self.target, self.marks)
        sizes = (self.states + 1, self.edges, self.states)
        used = sum(a.array.itemsize * n for a, n in zip(arenas, sizes, strict=True))
        return {
            "states": self.states,
            "edges": self.edges,
            "symmetric": self.supply.symmetric,
            "bytes": used,
            "seconds": self.seconds,
        }


def graph_figures(graph: KeptGraph | None) -> dict[str, Any]:
    """Return the figures of a graph among those of a search, if there is one."""
    return {} if graph is None else {"graph": graph.figures_by_name()}


@define(eq=False)
class _Work:
    """What one thread expands: rows `begin` to `end` of the level, and what that led to."""

    owner: Owner
    begin: int
    end: int
    control: Words = field(factory=lambda: np.zeros(kernels.CONTROL_SIZE, np.int64))
    found: Words = field(factory=lambda: np.empty((0, 0), np.int64))


def wanted_composites(supply: Supply, props: tuple[Property, ...]) -> Any:
    """Return which properties want each part of an actor to be as a composite says.

    Args:
        supply: its tables have all composites.
        props: those of ways back.

    Returns:
        uint8, of composite g of part i at i * (the room for composites) + g: a bit for each
        property that accepts what is undelivered there, or whether the workload has ended, or that
        does not ask about this part.

    Raises:
        NotSymmetricError: a property wants something else of a composite when it is renamed.
    """
    layout, tabulation = supply.layout, supply.tabulation
    wanted = np.zeros((len(layout.counts), layout.room), np.uint8)
    for part, count in enumerate(layout.counts):
        actor = part // layout.each
        things: list[Any]
        for bit, prop in enumerate(props):
            if prop.what is What.UNDELIVERED:
                column, values = kernels.PENDING, tabulation.pending[actor].values
                things = [tuple(entry.message for entry in entries) for entries in values]
            else:
                column, ends = kernels.POSITION, tabulation.system.workload.ended
                things = [ends(actor, position) for position in tabulation.positions[actor].values]
            accepted = np.array([bool(prop.predicate(thing)) for thing in things], np.uint8)
            said = np.ones(count, np.uint8)
            if layout.part_of(actor, column) == part:
                said = accepted[layout.column(actor, column)]
            wanted[part, :count] |= said << np.uint8(bit)
    _refuse_renamed(supply, wanted)
    return wanted.ravel()


def _refuse_renamed(supply: Supply, wanted: Any) -> None:
    """Raise NotSymmetricError unless a renamed composite is as wanted as the composite."""
    if not supply.symmetric:
        return
    orbits = supply.layout.orbits
    known = orbits.kin >= 0
    orbit, here = orbits.kin[known] >> 8, wanted.ravel()[known]
    by_orbit = np.zeros(int(orbits.known[0]), np.uint8)
    by_orbit[orbit] = here
    if (by_orbit[orbit] != here).any():
        raise NotSymmetricError("a property of ways back tells the actors apart")
