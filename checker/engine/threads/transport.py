"""The transport on the threads of this process; see `checker.engine.tabulated.transport`.

Each thread has a shard: the visited states that a hash selects, and the states that it found, with
their parents.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
from attrs import define, field

from antecede.checker.engine.rows import geometry as g
from antecede.checker.engine.rows import renaming_kernels
from antecede.checker.engine.rows.grading import open_levels
from antecede.checker.engine.rows.table_filler import Repacking, wrapping
from antecede.checker.engine.storage.arena import Arenas, reserve_bytes
from antecede.checker.engine.storage.arrays import Words
from antecede.checker.engine.storage.checkpoint import Files, Saved
from antecede.checker.engine.storage.validation import whole
from antecede.checker.engine.successors import memos
from antecede.checker.engine.tabulated.global_properties import first_combinations
from antecede.checker.engine.tabulated.tabulated_search import TabulatedSearch
from antecede.checker.engine.tabulated.transport import (
    Address,
    LevelJob,
    LevelReport,
    Part,
    Pause,
    Setup,
    Showing,
    Totals,
)
from antecede.checker.engine.threads.expansion import Expansion
from antecede.checker.engine.threads.graph import FollowedGraph, KeptGraph, followed_graph
from antecede.checker.engine.threads.shard import ARENAS, FURTHER, VISITED, Level, Shard
from antecede.checker.engine.threads.weighted_levels import WeightedExpansion
from antecede.checker.model import Property, When
from antecede.checker.search.options import Options
from antecede.checker.semantics.transition import System

BLOCKS = 1 << 17
"""Entries that one thread may send to all owners in a chunk.

More of them leave the caches. Fewer make more chunks, and Python costs time between two chunks.
"""
MOST_BLOCK = max(BLOCKS, 2 * g.MOST_TRANSITIONS)
"""The most entries of a block; blocks grow where a state has very many transitions."""

PIECE = 1 << 20
"""Rows whose combinations are looked up in one go."""

ORBITS = slice(g.ORBIT_STATES, g.ORBIT_FINALS + 1)


def search_on_threads(
    system: System, max_depth: int | None = None, options: Options = Options()
) -> TabulatedSearch:
    """Return a new breadth-first search that runs compiled code on threads of this process.

    It never moves to a cluster. States at the depth `max_depth` are not expanded (the initial state
    has depth 1).
    """
    return TabulatedSearch(system, max_depth, options, Threads)


@define(eq=False)
class Threads:
    """The transport on the threads of this process.

    Attributes:
        pool: the threads.
        arenas: creates the arrays that grow; it has none if the states were given back.
        expansion: the states, since the search started or restarted.
        graph: the graph of all states, if it was asked for.
    """

    options: Options
    pauses: bool = True
    pool: ThreadPoolExecutor = field(init=False)
    arenas: Arenas = field(init=False)
    expansion: Expansion = field(init=False)
    graph: KeptGraph | None = None
    _exported: int = 0
    _followed: FollowedGraph | None = None

    def __attrs_post_init__(self) -> None:
        """Start the threads."""
        self.pool = ThreadPoolExecutor(self.options.threads)
        self.arenas = Arenas(None, (), 0)

    def _make_room(self, setup: Setup, block: int) -> None:
        """Take room for a search, with no state in it."""
        options, self._exported = self.options, 0
        arenas = (ARENAS + FURTHER * open_levels(setup.weights)) * (options.threads or 1)
        self.arenas = Arenas(options.spill, (VISITED,), reserve_bytes(arenas))
        make = WeightedExpansion if setup.weights else Expansion
        self.expansion = make(setup.filler, setup.weights, self.arenas, self.pool, options, block)

    @property
    def shards(self) -> list[Shard]:
        """The part of each thread."""
        return self.expansion.shards

    def begin(self, setup: Setup) -> LevelReport:
        """Make the initial state the current level."""
        blocks = max(BLOCKS // (self.options.threads or 1), 1)
        self._make_room(setup, self.options.block or blocks)
        with wrapping():
            self.expansion.begin()
        return self._report(self.expansion.next_level())

    def expand(self, job: LevelJob, pause: Pause) -> LevelReport:
        """Expand the current level in chunks, and pause between them.

        Raises:
            NotGradedError: states were forgotten that may be met again.
        """
        for shard in self.shards:
            shard.control[g.KNOWN] = job.known
        with wrapping():
            while self.expansion.unfinished:
                self.expansion.chunk()
                pause()
        shown = self._shown(job.depth)
        return self._report(self.expansion.next_level(), shown)

    def _report(self, level: dict[int, int], shown: Iterable[Showing] = ()) -> LevelReport:
        shards = self.shards
        return LevelReport(
            level=level,
            frontier=sum(level.count for shard in shards for level in shard.levels),
            visited=sum(shard.visited.states for shard in shards),
            shown=list(shown),
        )

    def _shown(self, depth: int) -> list[Showing]:
        """Return what the kernels saw in this level; they may write it anew then."""
        shown = []
        for shard in self.shards:
            for bits, link, place in shard.shown[: shard.control[g.FOUND]].tolist():
                index, source = divmod(link, len(self.shards))
                shown.append(Showing(bits, Address(depth, source, index), place))
            shard.control[g.FOUND] = 0
        return shown

    def combinations(self, columns: tuple[int, ...]) -> Iterator[tuple[int, Words]]:
        """Yield the combinations in these columns of all actors in the current level, by shard."""
        met = self.pool.map(lambda shard: self._combinations(shard.level, columns), self.shards)
        yield from enumerate(met)

    def _combinations(self, level: Level, asked: tuple[int, ...]) -> Words:
        layout = self.expansion.filler.layout
        actors = range(self.expansion.filler.system.actors)
        columns = [layout.column(i, column) for column in asked for i in actors]
        parts = [layout.part_of(i, column) for column in asked for i in actors]

        def states() -> Iterator[list[Words]]:
            """Yield the numbers of each actor, some rows at a time."""
            for at in range(0, level.count, PIECE):
                end = min(at + PIECE, level.count)
                rows = level.rows.array[at * layout.row_words : end * layout.row_words]
                composites = layout.composites(rows)
                yield [c[composites[part]] for c, part in zip(columns, parts, strict=True)]

        return first_combinations(states(), len(columns))

    def reduce_memory(self, *, forgets: bool) -> None:
        """Drop states that cannot be met again; if `forgets`, keep only the current level."""
        expansion = self.expansion
        if forgets:
            expansion.forget()
        if forgets or expansion.weights:
            expansion.drop_composites()

    def totals(self) -> Totals:
        """Return the sums over the states that were expanded here."""
        shards, total = self.shards, self.expansion.total
        return Totals(
            unique=self._exported
            or sum(ahead.visited.unique for shard in shards for ahead in shard.ahead),
            fired=total(g.FIRED),
            finals=total(g.FINALS),
            kinds=np.sum([shard.fired for shard in shards], axis=0),
            new=np.sum([shard.fresh_kinds for shard in shards], axis=0),
            orbits=np.sum([shard.control[ORBITS] for shard in shards], axis=0),
        )

    def waiting_orbits(self) -> int:
        """Return how many states the representatives of all open levels stand for."""
        t = self.expansion.filler.tables
        return sum(
            int(renaming_kernels.orbits(level.rows.array, level.count, t.geo, t.renamings, t.dec))
            for shard in self.shards
            for level in shard.levels
        )

    def places_to(self, address: Address) -> list[int]:
        """Return the places of the transitions that lead from the initial state to another one."""
        return self.expansion.places_to(address)

    def fill(self, missed: Words) -> Repacking | None:
        """Fill missing table entries, and pack all rows anew where that is needed."""
        return self.expansion.fill(missed)

    def export(self, *, visited: bool) -> Iterator[Part]:
        """Yield the open levels, and visited states if they are asked for; then forget them."""
        expansion, row_words = self.expansion, self.expansion.filler.layout.row_words
        expansion.read_depths()
        for shard in self.shards:
            levels = shard.levels if expansion.weights else [shard.level]
            for lead, level in enumerate(levels):
                rows = level.rows.array[: level.count * row_words]
                yield Part(rows, shard.number, lead, level.known_depths)
        for shard in self.shards if visited else ():
            for rows in shard.visited.parts():
                yield Part(rows.ravel(), shard.number, None)
        self._exported = self.totals().unique
        expansion.forget_states()

    # The graph of states.

    def lost(self, prop: Property, tick: Pause) -> list[int] | None:
        """Return the places of a shortest run to a state with no way back; see `Explorer.lost`."""
        if self.graph is None:
            props = self.expansion.filler.system.properties
            asked = tuple(p for p in props if p.when is When.ALWAYS_POSSIBLE)
            self.graph = self._new_graph(asked)
            self.graph.make(tick)
        return self.graph.lost(prop, tick)

    def _new_graph(self, props: tuple[Property, ...], *labels: Any) -> KeptGraph:
        filler = self.expansion.filler
        return KeptGraph(filler, self.shards, self.arenas, self.pool, props, *labels)

    def graph_figures(self) -> dict[str, Any]:
        """Return figures of the graph of all states by name, if there is one."""
        return {} if self.graph is None else {"graph": self.graph.figures_by_name()}

    def so_far(self, depth: int | None, tick: Pause) -> FollowedGraph:
        """Return the graph of states, without the edges of states at `depth`; None: all edges."""
        if self._followed is not None:
            self._followed.kept.close()
        self._followed = followed_graph(
            self.expansion.filler, lambda *labels: self._new_graph((), *labels), tick, depth
        )
        return self._followed

    # Figures, checkpoints, and the end.

    def statistics(self) -> dict[str, Any]:
        """Return the figures of the threads and their memory that `--verbose` shows, by name."""
        visited = [ahead.visited for shard in self.shards for ahead in shard.ahead]
        stored, unique = sum(v.bytes for v in visited), sum(v.unique for v in visited)
        return {
            "threads": len(self.shards),
            "visited_bytes_per_state": stored / max(unique, 1),
            "load_factor": sum(v.states for v in visited) / sum(v.capacity for v in visited),
            "dropped_states": sum(v.dropped for v in visited),
            "composites": int(self.expansion.filler.layout.counts.sum()),
            "dropped_composites": self.expansion.composites_dropped,
            "remembered_successors": memos.share_of(
                [shard.memo for shard in self.shards], self.expansion.filler.tables.geo
            ),
            "spilled_bytes": self.arenas.spilled_bytes,
            "row_bytes": 8 * self.expansion.filler.layout.row_words,
        }

    def record(self) -> dict[str, Any]:
        """Return the states and counts as data of a checkpoint, between two chunks."""
        return self.expansion.record()

    def write(self, _folder: Path) -> Files:
        """Write nothing: `record` has everything."""
        return {}

    def adopt(self, record: dict[str, Any], _saved: Saved, setup: Setup) -> None:
        """Continue from a checkpoint."""
        self._make_room(setup, whole("the size of a block", record["block"], 1, MOST_BLOCK))
        with wrapping():
            self.expansion.adopt(record)

    def holds(self, open_states: int, current: int) -> bool:
        """Return whether there are as many open states, and current ones among them, as saved."""
        here = sum(shard.level.count for shard in self.shards)
        # In the middle of a level, more states were found than a checkpoint counts.
        return here == current <= open_states <= self.expansion.frontier

    def drop(self) -> None:
        """Give memory and files back; counts remain."""
        self.arenas.close()

    def close(self) -> None:
        """Give memory, files and threads back; counts remain."""
        # A kernel may still be running, after Ctrl-C.
        self.pool.shutdown(wait=True, cancel_futures=True)
        self.arenas.close()
