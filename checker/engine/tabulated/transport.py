"""The contract between a tabulated search and its transports.

A *transport* holds the states of a search as rows of numbers, and expands them level by level: on
the threads of this process (`checker.engine.threads.transport`), or on a cluster
(`checker.engine.spark.transport`). Everything else about a search is in `tabulated_search`.

A search starts on a `FirstTransport`, and moves to a `NextTransport` when a level has at least as
many states as its `threshold`.

To add an engine NAME, let `transport` in `checker/engine/NAME/transport.py` take an `Options` and
return an object with the members of `NextTransport`. Add a line to `ENGINES` in `search.options`,
and name the engine in `WANTS` of `check.engine` for each option that it supports; other options are
refused. `OneSet` in `tests/engine/tabulated/test_transport.py` is a small example.

Question: What would a third transport have to offer? `NextTransport`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, Protocol, Self, TypeAlias

import numpy as np
from attrs import define, evolve, field, frozen

from antecede.checker.engine.rows.grading import Weights
from antecede.checker.engine.rows.table_filler import Repacking, TableFiller
from antecede.checker.engine.storage.arrays import Words
from antecede.checker.engine.storage.checkpoint import Files, Saved
from antecede.checker.engine.storage.validation import MOST, numbers, whole
from antecede.checker.engine.visited.visited import NO_DEPTHS, Depths
from antecede.checker.model import Property
from antecede.checker.search.graph import Explored
from antecede.checker.search.options import Options

Pause: TypeAlias = Callable[[], None]
"""Called often while a level is expanded; it may raise `checker.search.loop.Stop`."""


@frozen(order=True)
class Address:
    """The place of a state on a transport.

    Attributes:
        depth: the depth of its level.
        part: the number of the thread or partition that has it.
        index: its index among the states of this level there.
    """

    depth: int
    part: int
    index: int


@frozen
class Showing:
    """A state that violates or reaches properties, or one of its transitions that does.

    Attributes:
        properties: the bit set of these properties; bit k stands for property k of the system.
        address: the place of the state.
        place: the index of the transition among those enabled there; -1: the state itself.
    """

    properties: int
    address: Address
    place: int


@frozen
class LevelJob:
    """Instructions to expand a level.

    Attributes:
        depth: the depth of the level.
        known: the bit set of the properties that need not be reported any more.
        last: the next level is not going to be expanded.
        combinations: the columns of actors for which the search will ask for
            `Transport.combinations`; empty if it will not ask.
    """

    depth: int
    known: int
    last: bool
    combinations: tuple[int, ...]


@frozen(eq=False)
class LevelReport:
    """The result of the expansion of a level.

    Attributes:
        level: depth -> the number of states of the next level at this depth; empty when the search
            is over. A level has states of several depths only if levels are weighted.
        frontier: the number of states that were found and not expanded.
        visited: the number of states that the transport keeps, to recognise them when it meets them
            again.
        shown: the states of the expanded level, and their transitions, that show properties.
        vanished: the number of states of the expanded level that turned out to be duplicates.
    """

    level: Mapping[int, int]
    frontier: int
    visited: int
    shown: list[Showing] = field(factory=list)
    vanished: int = 0


@define(eq=False)
class Totals:
    """Sums over all expanded states.

    Attributes:
        unique: the number of states that were found, without duplicates.
        fired: the number of transitions.
        finals: the number of final states.
        kinds: the number of transitions of each kind.
        new: the number of transitions of each kind that led to a new state; None: not counted.
        orbits: the numbers of states, of transitions and of final states that the expanded
            representatives stand for.
    """

    unique: int = 0
    fired: int = 0
    finals: int = 0
    kinds: Words = field(factory=lambda: np.zeros(1 << 10, np.int64))
    new: Words | None = field(factory=lambda: np.zeros(1 << 10, np.int64))
    orbits: Words = field(factory=lambda: np.zeros(3, np.int64))

    @classmethod
    def recorded(cls, record: Any) -> Self:
        """Return the sums that `attrs.astuple` took apart for a checkpoint."""
        unique, fired, finals, kinds, new, orbits = record
        shape, most = (1 << 10,), MOST
        return cls(
            whole("a number of states", unique),
            whole("a number of transitions", fired),
            whole("a number of final states", finals),
            numbers("numbers of transitions", kinds, np.int64, shape, most=most),
            None if new is None else numbers("new states", new, np.int64, shape, most=most),
            numbers("sizes of orbits", orbits, np.int64, (3,), most=most),
        )

    def __reduce__(self) -> Any:
        """Return what makes these sums again: few kinds of transitions occur, so it is short."""
        new = None if self.new is None else _occurring(self.new)
        orbits = self.orbits.tolist()
        return _sums, (self.unique, self.fired, self.finals, _occurring(self.kinds), new, orbits)

    def __add__(self, other: Totals) -> Totals:
        """Return the sums of both."""
        return Totals(
            self.unique + other.unique,
            self.fired + other.fired,
            self.finals + other.finals,
            self.kinds + other.kinds,
            None if self.new is None or other.new is None else self.new + other.new,
            self.orbits + other.orbits,
        )


def _occurring(kinds: Words) -> dict[int, int]:
    which = np.flatnonzero(kinds)
    return dict(zip(which.tolist(), kinds[which].tolist(), strict=True))


def _sums(
    unique: int,
    fired: int,
    finals: int,
    kinds: dict[int, int],
    new: dict[int, int] | None,
    orbits: list[int],
) -> Totals:
    """Return the sums that were pickled."""
    sums = Totals(unique, fired, finals, orbits=np.array(orbits, np.int64))
    for kind, count in kinds.items():
        sums.kinds[kind] = count
    if new is None:
        return evolve(sums, new=None)
    assert sums.new is not None
    for kind, count in new.items():
        sums.new[kind] = count
    return sums


@frozen(eq=False)
class Part:
    """States that move from one transport to the next.

    Attributes:
        rows: the states, flat, packed by the layout of the table filler.
        number: the part of their addresses; the index of a row is its place in `rows`.
        lead: how many levels after the current one they are expanded; None: the states are visited
            states. The states of the current level are among them, and come with their lead, too.
        depths: the depths of the states, if levels are weighted.
    """

    rows: Words
    number: int
    lead: int | None = 0
    depths: Depths = NO_DEPTHS


@frozen(eq=False)
class Setup:
    """Facts about a search for the transport that starts it, continues it or takes it over.

    Attributes:
        filler: the tables.
        weights: as in `SearchState`.
        forgets: no state of an earlier level can be met again, so only the level is kept.
    """

    filler: TableFiller
    weights: Weights
    forgets: bool = False


class Transport(Protocol):
    """Holds the states of a search, and expands them level by level."""

    options: Options
    pauses: bool
    """`expand` calls `pause` only where the search can be saved, as between two levels."""

    def expand(self, job: LevelJob, pause: Pause) -> LevelReport:
        """Expand the current level, or the rest of it; the next level becomes the current one.

        Raises:
            NotGradedError: states were forgotten that may be met again.
            NotSymmetricError, SelfPacketError: another assumption does not hold.
            CapacityError: there is too little room, or the cluster is lost.
        """

    def combinations(self, columns: tuple[int, ...]) -> Iterable[tuple[int, Words]]:
        """Yield the combinations of actors' numbers that occur in the current level, part by part.

        An item is the number of the part and an array of shape (n, 1 + columns * actors): the index
        of the first state that has the combination, and for each column, the number of each actor.
        """

    def reduce_memory(self, *, forgets: bool) -> None:
        """Drop states that cannot be met again; if `forgets`, keep only the current level."""

    def totals(self) -> Totals:
        """Return the sums over the states that this transport has expanded."""

    def waiting_orbits(self) -> int | None:
        """Return how many states the representatives of the current level stand for, if known."""

    def statistics(self) -> dict[str, Any]:
        """Return the figures of this transport that `--verbose` shows, by name."""

    def record(self) -> dict[str, Any]:
        """Return the states and counts as data of a checkpoint; see `adopt`."""

    def write(self, folder: Path) -> Files:
        """Write further files of a checkpoint; return their sizes and checksums."""

    def adopt(self, record: dict[str, Any], saved: Saved, setup: Setup) -> None:
        """Continue from a checkpoint with what `record` returned, and the files of `write`."""

    def drop(self) -> None:
        """Give back the states, because the search restarts or needs the memory; counts remain."""

    def close(self) -> None:
        """Give everything back; counts remain."""


class FirstTransport(Transport, Protocol):
    """A transport in this process, where every search starts."""

    def places_to(self, address: Address) -> list[int]:
        """Return the places of the transitions that lead from the initial state to a state.

        A place is the index of a transition among those that are enabled.
        """

    def begin(self, setup: Setup) -> LevelReport:
        """Make the initial state the current level."""

    def export(self, *, visited: bool) -> Iterator[Part]:
        """Yield the current level, open levels, and visited states if they are asked for.

        When all are yielded, only what traces need is kept.
        """

    def holds(self, open_states: int, current: int) -> bool:
        """Return whether there are as many open states, and current ones among them, as saved."""

    def fill(self, missed: Words) -> Repacking | None:
        """Fill missing table entries as `TableFiller.fill` does; pack all rows anew if needed."""

    def lost(self, prop: Property, tick: Pause) -> list[int] | None:
        """Return the places of a shortest run to a state with no way back; see `Explorer.lost`."""

    def so_far(self, depth: int | None, tick: Pause) -> Explored:
        """Return the graph of states, without the edges of states at `depth`; None: all edges."""

    def graph_figures(self) -> dict[str, Any]:
        """Return figures of the graph of states by name, if there is one."""


class NextTransport(Transport, Protocol):
    """A transport to which a search moves when its levels are large."""

    @property
    def threshold(self) -> int:
        """The fewest states of a level with which the search moves here."""

    def unused_statistics(self) -> dict[str, Any]:
        """Return the figures of a search that did not move."""

    def connect(self, tick: Pause) -> None:
        """Prepare for `load`, which may take long; another transport still has the states."""

    def load(self, parts: Iterable[Part], depth: int, setup: Setup) -> None:
        """Take over the states of a search between two levels, after `connect`."""

    def places_to(self, address: Address) -> tuple[list[int], Address]:
        """Return the places of the transitions to a state from one that the search moved here.

        The second result is the address that this first state had on the first transport.
        """

    def representative(self, row: Words) -> Words:
        """Return this transport's representative of a state; others may use another renaming."""
