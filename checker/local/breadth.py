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

from attrs import define, evolve, field

from antecede.checker.errors import CapacityError, ReplayError, UnsoundError
from antecede.checker.local.expansion import Expansion
from antecede.checker.local.figures import counts_of, figures_of, unreduced
from antecede.checker.local.followed import FollowedGraph, followed_graph
from antecede.checker.local.granted import UNFOUNDED, Granted
from antecede.checker.local.graph import KeptGraph
from antecede.checker.local.joint import Joint
from antecede.checker.local.owners import (
    ARENAS,
    FURTHER,
    VISITED,
    LocalCourse,
    Owner,
)
from antecede.checker.local.unrenaming import Unrenaming
from antecede.checker.local.weighed import WeighedExpansion, note_shown
from antecede.checker.model import Property, Where
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
from antecede.checker.tables.misses import Supply, wrapping
from antecede.checker.tables.symmetry import NotSymmetricError

Showing: TypeAlias = tuple[Property, int, int]
"""What is shown; the index of a state of the current level, times the number of threads, plus the
owner; and the place of the transition from there that shows it, or -1 for the state itself."""

WORTH_BEGINNING_AGAIN = 16
"""How many times as many states as are worth forgetting are worth going by weight for.

A search by weight begins again, and takes longer for each state: 15 % in all for `cykas` 3 x 3,
whose five million states fit into any memory.
"""


@define(eq=False)
class LocalBreadthFirst:
    """Breadth-first by levels on the tables; a round is a level.

    Attributes:
        granted: what it takes for granted.
        supply, course, expansion: the tables, how far it has come, and what the threads do, since
            it began or began again.
        kept: the graph of all states, where it was asked for.
        followed: the graph as far as it was known when it was asked for last.
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
    expansion: Expansion = field(init=False)
    arenas: Arenas = field(init=False)
    pool: ThreadPoolExecutor = field(init=False)
    course: LocalCourse = field(factory=LocalCourse)
    seconds_before: float = 0.0
    began: float = field(factory=time.monotonic)
    checkpoints: Checkpoints | None = None
    weighs: bool = True
    granted: Granted = field(init=False)
    kept: KeptGraph | None = None
    followed: FollowedGraph | None = None

    def __attrs_post_init__(self) -> None:
        """Start from the initial state, or where a checkpoint ends."""
        if any(prop.where is Where.FROM_EVERYWHERE_ON for prop in self.system.properties):
            # Ways back are looked for on the graph of all states.
            self.options = evolve(self.options, memory="keep")
        saved = None if self.options.resume is None else last_in(self.options.resume)
        threads = self.options.threads or os.cpu_count() or 1
        if saved is not None:
            threads = self.options.threads or int(saved.about.get("threads", threads))
        self.pool = ThreadPoolExecutor(threads)
        self.options = evolve(self.options, threads=threads)
        self.granted = Granted(self.system.workload.self_sends, self.weighs)
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
        self.granted = Granted.recorded(state["granted"])
        self.seconds_before = state["seconds_before"]
        self.course = LocalCourse.recorded(self.system, state["course"])
        self.supply = self.granted.supply(self.system, self.options, symmetric=state["symmetric"])
        self.supply.adopt(filled(state["supply"], saved.array))
        self.joint, self.unjudged = Joint(self.supply), True
        self._expand_anew()
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
            "granted": self.granted.record(),
            "seconds_before": self.seconds_before + time.monotonic() - self.began,
            "course": self.course.record(self.system),
            "symmetric": self.supply.symmetric,
            "supply": self.supply.record(),
            "owners": [owner.record(traces=self.options.traces) for owner in self.owners],
        }

    def _start(self, weights: Weights | None = None) -> None:
        """Begin, or begin again: without symmetry, by weights, without forgetting anything."""
        self.course = LocalCourse(block=self.options.block, weights=weights or {})
        self.supply = self.granted.best_supply(self.system, self.options)
        self.joint, self.unjudged = Joint(self.supply), False
        self._begin()

    def _begin(self) -> None:
        """Begin with the initial state, with the tables that there are."""
        self._expand_anew()
        shown = in_bits(self.system, self.supply.tabulation.initially_shown())
        self.course.found |= {prop.name: Found(()) for prop in shown}
        with wrapping():
            self.expansion.begin()

    def _expand_anew(self) -> None:
        """Take new threads' worth of room, with nothing in it yet."""
        self.arenas = self._new_arenas()
        make = WeighedExpansion if self.course.weights else Expansion
        self.expansion = make(self.supply, self.course, self.arenas, self.pool, self.options)

    @property
    def owners(self) -> list[Owner]:
        """What each thread owns."""
        return self.expansion.owners

    @property
    def found(self) -> dict[str, Found]:
        """What shows each property."""
        return self.course.found

    @property
    def truncated(self) -> bool:
        """Some state was not expanded because of --max-depth."""
        return self.course.truncated

    @property
    def frontier(self) -> int:
        """States of the current depth; 0 when the search is over."""
        return self.course.frontier

    def counts(self) -> Counts:
        """Return what was explored so far."""
        return counts_of(self.expansion)

    def unreduced(self) -> Counts | None:
        """Return the counts without symmetry, from the sizes of the orbits."""
        return unreduced(self.expansion)

    def statistics(self) -> dict[str, Any]:
        """Return further figures, by name."""
        return {
            **figures_of(self.expansion, self.granted.no_symmetry, self.kept),
            "checkpoints": self.checkpoints and self.checkpoints.figures(),
        }

    def round(self, tick: Callable[[], None]) -> None:
        """Expand the current level; begin again if what was taken for granted does not hold."""
        try:
            self._round(tick)
        except UNFOUNDED as reason:
            self.begin_again(reason)

    def begin_again(self, reason: Exception) -> None:
        """Begin again, without what was taken for granted and turned out not to hold."""
        weights = self.course.weights
        self.granted.give_up(reason)
        if isinstance(reason, NotGradedError):
            weights = self._new_weights()
            self.granted.tried.append(weights)
            self.granted.forgets &= bool(weights)
        self.arenas.close()
        self._start(weights)

    def _new_weights(self) -> Weights:
        """Return weights to go by that were not tried yet; none if there are no such ones."""
        return {} if self.max_depth is not None else self.granted.weights(self.supply)

    def go_by_weight(self) -> bool:
        """Begin again by weight where that allows to forget states; return whether it does."""
        may = self.options.forget is not None and self.granted.forgets
        weights = {} if self.course.weights or self.expansion.graded else self._new_weights()
        if may and weights:
            self._go_by(weights)
        return may and bool(weights)

    def _go_by(self, weights: Weights) -> None:
        """Begin again by these weights, before any state was forgotten; the tables are kept."""
        self.arenas.close()
        self.granted.tried.append(weights)
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
        return None if places is None else self._run(places, prop)

    def _run(self, places: list[int], prop: Property) -> Found:
        """Return the run with transitions at these places, in original names."""
        if self.supply.symmetric:
            return Found(Unrenaming(self.expansion).run(places, prop))
        return Found(transitions_at(self.system, places))

    def _graph(self, tick: Callable[[], None]) -> KeptGraph:
        """Return the graph of all states, which is made when it is asked for first."""
        if self.kept is None:
            props = self.system.properties
            asked = tuple(p for p in props if p.where is Where.FROM_EVERYWHERE_ON)
            self.kept = KeptGraph(self.supply, self.owners, self.arenas, self.pool, asked)
            self.kept.make(tick)
        return self.kept

    def so_far(self, tick: Callable[[], None]) -> FollowedGraph:
        """Return the graph as far as it is known: without the edges of the current level."""
        if self.followed is not None:
            self.followed.kept.close()
        make = partial(KeptGraph, self.supply, self.owners, self.arenas, self.pool, ())
        depth = self.course.deepest if self.course.frontier else None
        self.followed = followed_graph(self.supply, make, tick, depth)
        return self.followed

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
            while self.expansion.unfinished:
                self.expansion.chunk()
                self._pause(tick)
        self._collect(tick)
        self.expansion.next_level()
        if self.arenas.made:  # else a second search took the memory
            self.judge_level(tick)
        if self.arenas.made:
            self._drop()
        if self.expansion.total(kernels.DECREASED):
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

    def _drop(self) -> None:
        """Drop the visited states that can never be met again, if that is worth it."""
        least = self.options.forget if self.granted.forgets else None
        graded = self.expansion.graded
        if least is not None and not graded:
            least *= WORTH_BEGINNING_AGAIN
        visited = sum(owner.visited.states for owner in self.owners)
        weights = self._new_weights()
        if self.course.weights:
            self.expansion.drop_composites()
        elif least is None or visited <= least or not (graded or weights):
            if self.options.sweep_line:
                self.expansion.drop_behind()
        elif not graded and weights:
            if self.course.frontier and not decided(self.system, self):
                self._go_by(weights)
        else:
            self.expansion.forget()
            self.expansion.drop_composites()

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
            note_shown(self.system, self, (prop for prop, _link, _place in shown))
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
        places = self.expansion.places_to(owner, index)
        if place >= 0:
            places.append(place)
        self.course.found[prop.name] = self._run(places, prop)


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
