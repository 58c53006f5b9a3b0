"""Breadth-first search on tables, whatever transport runs it.

The search owns what is the same everywhere: levels, weights, symmetry, restarts, checkpoints,
traces, statistics and the assumptions that it makes. Its transports hold the states.

A level is a depth. If states have several depths, but transitions have weights whose sum is the
same along all paths to a state (see `checker.engine.rows.grading`), a large search restarts with
*weighted levels*: a level for each sum. The levels that a transition can reach from the current one
are open, and all other states are forgotten. Every path to a state leads through earlier levels, so
its least depth is known when it is expanded. No parents are kept, so a violation makes the search
restart by depth.

Question: How do the compiled engines search?
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from typing import Any

from attrs import define, evolve, field

from antecede.checker.engine.rows.components import bits_of, in_bits
from antecede.checker.engine.rows.fingerprint import fingerprint
from antecede.checker.engine.rows.grading import Weights
from antecede.checker.engine.rows.symmetry import NotSymmetricError, figures
from antecede.checker.engine.rows.table_filler import TableFiller
from antecede.checker.engine.storage.checkpoint import (
    Checkpoints,
    Contents,
    Saved,
    last_in,
    prepared,
    readable,
)
from antecede.checker.engine.storage.validation import seconds
from antecede.checker.engine.tabulated.assumptions import UNFOUNDED, Assumptions, ByDepthError, Plan
from antecede.checker.engine.tabulated.global_properties import GlobalProperties
from antecede.checker.engine.tabulated.search_state import SearchState
from antecede.checker.engine.tabulated.second_searches import lost_after, shortest_runs
from antecede.checker.engine.tabulated.traces import Traces
from antecede.checker.engine.tabulated.transport import (
    Address,
    FirstTransport,
    LevelJob,
    NextTransport,
    Setup,
    Showing,
    Totals,
    Transport,
)
from antecede.checker.model import Property, When
from antecede.checker.search.graph import Explored
from antecede.checker.search.loop import Evidence, Explorer, Stop, decided
from antecede.checker.search.options import Options
from antecede.checker.search.result import Counts
from antecede.checker.semantics.transition import System
from antecede.checker.support.errors import ReplayError
from antecede.checker.support.settings import checked

RESUMED_OPTIONS = ("traces", "block", "forget_from")
"""Options that a resumed search takes from its checkpoint."""


@define(eq=False)
class TabulatedSearch(Explorer):
    """Breadth-first search by levels on tables; a round is a level.

    Attributes:
        first, following: make the transport where the search starts, and the one for large levels.
        weighs: levels may be weighted.
        threads, cluster: these transports.
        transports: those that had the search since it started or restarted, the current one last.
        filler: fills the tables.
        state: the progress.
        unjudged: not all states of the current level were judged by global properties.
        dropped: a second search took the memory, so the states are gone.
        connects: the next transport is being started.
        graph_figures: figures of the graph of states, if it was made.
    """

    system: System
    max_depth: int | None
    options: Options
    first: Callable[[Options], FirstTransport]
    following: Callable[[Options], NextTransport] | None = None
    weighs: bool = True
    threads: FirstTransport = field(init=False)
    cluster: NextTransport | None = None
    transports: list[Transport] = field(factory=list)
    assumptions: Assumptions = field(init=False)
    filler: TableFiller = field(init=False)
    state: SearchState = field(init=False)
    global_properties: GlobalProperties = field(init=False)
    unjudged: bool = False
    dropped: bool = False
    connects: bool = False
    checkpoints: Checkpoints | None = None
    seconds_before: float = 0.0
    graph_figures: dict[str, Any] = field(factory=dict)
    _began: float = field(factory=time.monotonic)
    _unsaved: bool = False

    def __attrs_post_init__(self) -> None:
        """Start from the initial state, or from a checkpoint."""
        if any(prop.when is When.ALWAYS_POSSIBLE for prop in self.system.properties):
            # Ways back are looked for on the graph of all states.
            self.options = evolve(self.options, forget="never")
        if self.following is not None:
            self.cluster = self.following(self.options)
        saved = None if self.options.resume is None else last_in(self.options.resume)
        threads = self.options.threads or os.cpu_count() or 1
        if saved is not None:  # its states are divided among so many threads
            threads = int(saved.about.get("threads", threads))
        self.options = evolve(self.options, threads=threads)
        self.threads = self.first(self.options)
        weighs = self.weighs and self.max_depth is None
        self.assumptions = Assumptions(self.system.workload.self_sends, weighs)
        try:
            if saved is None:
                self._start({})
            else:
                self._resume(saved)
            self.checkpoints = prepared(
                self.options.checkpoint,
                self.options.resume,
                self.options.checkpoint_seconds,
                self._fingerprint(),
                lambda checkpoints: checkpoints.save(self.contents()),
            )
        except BaseException:
            self.close()
            raise

    exhaustive = True

    @property
    def found(self) -> dict[str, Evidence]:
        """The run that violates or reaches a property, by the property's name."""
        return self.state.found

    @property
    def truncated(self) -> bool:
        """Some state was not expanded because of --max-depth."""
        return self.state.truncated

    @property
    def waits_for(self) -> str:
        """The engine that is being started, in words; empty: none."""
        return f"starting {self.options.engine.capitalize()}" if self.connects else ""

    @property
    def frontier(self) -> int:
        """The number of states that were found and not expanded; 0 when the search is over."""
        return self.state.frontier

    @property
    def levels(self) -> Sequence[int]:
        """The numbers of new states per depth; empty if levels are weighted."""
        return () if self.state.weights else self.state.levels

    @property
    def transport(self) -> Transport:
        """The transport that has the search now."""
        return self.transports[-1]

    @property
    def _traces(self) -> Traces:
        """Traces back what the search has met."""
        moved_at = self.state.moved_at
        return Traces(self.filler, self.threads, self.cluster if moved_at else None, moved_at)

    # Figures.

    def _totals(self) -> Totals:
        return self.state.totals + self.transport.totals()

    def counts(self) -> Counts:
        """Return the numbers of states explored so far, by this process and on a cluster."""
        totals = self._totals()
        return Counts(totals.unique, 1 + totals.fired, self.state.depth, totals.finals)

    def unreduced(self) -> Counts | None:
        """Return the counts without symmetry, from the sizes of the orbits if it is used."""
        state = self.state
        if state.unreduced is not None:
            return state.unreduced
        if not self.filler.symmetric:
            return self.counts()
        if not state.between_levels or self.dropped:
            return None
        waiting = self.transport.waiting_orbits() if state.current else 0
        if waiting is None:
            return None
        states, fired, finals = map(int, self._totals().orbits)
        return Counts(states + waiting, 1 + fired, state.depth, finals)

    def statistics(self) -> dict[str, Any]:
        """Return the figures that `--verbose` shows, by name."""
        state, totals, tabulation = self.state, self._totals(), self.filler.tabulation
        why_not, whole, counts = self.assumptions.no_symmetry, self.unreduced(), self.counts()
        reduction = whole.unique_states / max(counts.unique_states, 1) if whole else None
        unused = self.cluster.unused_statistics() if self.cluster and not state.moved_at else {}
        return {
            "symmetry": figures(tabulation.symmetry, why_not, reduction),
            **self.transport.statistics(),
            **unused,
            "graded": {"on": self.filler.graded, "reason": tabulation.grading.reason},
            **({"weights": dict(state.weights)} if state.weights else {}),
            "states_per_depth": list(state.levels),
            **self.graph_figures,
            **self.filler.figures(totals.kinds, totals.new),
            "checkpoints": self.checkpoints and self.checkpoints.figures(),
        }

    # Starts and restarts.

    def _start(self, weights: Weights) -> None:
        """Start at the initial state, with new tables."""
        self.filler = self.assumptions.best_filler(self.system, self.options)
        self.global_properties = GlobalProperties(self.filler)
        self._begin(SearchState(weights=weights))

    def _begin(self, state: SearchState) -> None:
        """Start at the initial state, with the tables that there are."""
        self.state, self.transports = state, [self.threads]
        self.unjudged = self.dropped = False
        shown = in_bits(self.system, self.filler.tabulation.initially_shown())
        state.found |= {prop.name: Evidence(()) for prop in shown}
        state.add(self.threads.begin(Setup(self.filler, state.weights)))

    def _drop(self) -> None:
        """Give all states back."""
        for transport in self.transports:
            transport.drop()
        self.dropped = True

    def _restart(self, reason: Exception) -> None:
        """Restart without the assumption that turned out not to hold."""
        weights = self.assumptions.withdraw(reason, self.filler, self.state.weights)
        self._drop()
        self._start(weights)

    def _restart_weighted(self) -> None:
        """Restart with weighted levels before any state was forgotten; the tables are kept."""
        weights = self.assumptions.weights(self.filler)
        self.assumptions.tried.append(weights)
        self._drop()
        self._begin(SearchState(weights=weights, found=dict(self.found)))

    # Checkpoints.

    def _fingerprint(self) -> dict[str, Any]:
        """Return what a checkpoint of this search must agree with."""
        options = self.options
        return fingerprint(
            self.system,
            engine=options.engine,
            symmetry=options.symmetry,
            threads=options.threads,
        )

    def contents(self) -> Contents:
        """Return what a checkpoint holds; the search must be between two pauses of a transport."""
        record = {
            "options": {name: getattr(self.options, name) for name in RESUMED_OPTIONS},
            "assumptions": self.assumptions.record(),
            "seconds_before": self.seconds_before + time.monotonic() - self._began,
            "state": self.state.record(self.system),
            "tables": self.filler.record(),
            "transports": [transport.record() for transport in self.transports],
        }
        return Contents(record, self.transport.write)

    def _resume(self, saved: Saved) -> None:
        """Continue where a checkpoint ends; InputError if it is of another search, or damaged."""
        saved.refuse_unless(self._fingerprint())
        with readable(saved.folder):
            record = saved.restore()
            its_options = {name: record["options"][name] for name in RESUMED_OPTIONS}
            checked(Options(**its_options))
            self.options = evolve(self.options, **its_options)
            self.assumptions = Assumptions.recorded(record["assumptions"])
            self.assumptions.weighs &= self.max_depth is None
            self.seconds_before = seconds("the time before", record["seconds_before"])
            self.state = SearchState.recorded(self.system, record["state"])
            self._adopt_tables(record["tables"])
            setup = Setup(self.filler, self.state.weights)
            moved = [self.cluster] if self.cluster and self.state.moved_at else []
            self.transports = [self.threads, *moved]
            for transport, its in zip(self.transports, record["transports"], strict=True):
                transport.options = self.options
                transport.adopt(its, saved, setup)
            counts = self.state.frontier, self.state.current
            if not (self.state.moved_at or self.threads.holds(*counts)):
                raise ValueError("the states of a level do not have their number")
            self.unjudged = self.transport.pauses

    def _adopt_tables(self, record: Mapping[str, Any]) -> None:
        """Make the tables of a checkpoint again; ValueError if they contradict its assumptions."""
        symmetric = self.assumptions.no_symmetry is None
        try:
            self.filler = self.assumptions.filler(self.system, symmetric=symmetric)
            self.filler.adopt(record)
        except UNFOUNDED as error:
            raise ValueError(f"it assumes too much: {error}") from None
        if self.state.weights and not self.filler.tabulation.grading.allows(self.state.weights):
            raise ValueError("its levels have other weights")
        self.global_properties = GlobalProperties(self.filler)

    def _save(self) -> None:
        """Write a checkpoint."""
        if self.checkpoints is not None:
            self.checkpoints.save(self.contents())
            self._unsaved = False

    def _pause(self, tick: Callable[[], None]) -> None:
        """Report progress while a transport pauses, and save the search if it is time."""
        if not self.transport.pauses:
            tick()
            return
        self._unsaved = True
        if self.checkpoints is not None and self.checkpoints.due:
            self._save()
        try:
            tick()
        except Stop:
            # Saved at once, so that the report of the stopped search counts the checkpoint.
            self._save()
            raise
        self._unsaved = False

    def close(self) -> None:
        """Give memory, files, threads and the cluster back; the counts remain."""
        if self.checkpoints is not None:
            if self._unsaved and self.frontier and not decided(self.system, self):
                self._save()
            self.checkpoints.close()
        self.threads.close()
        if self.cluster is not None:
            self.cluster.close()

    # Levels.

    def round(self, tick: Callable[[], None]) -> None:
        """Expand the current level; restart if an assumption turns out not to hold."""
        if self.checkpoints is not None and self.checkpoints.due:
            self._save()
        self._unsaved = False
        try:
            self._round(tick)
        except UNFOUNDED as reason:
            self._restart(reason)
        self._unsaved = True

    def _round(self, tick: Callable[[], None]) -> None:
        state = self.state
        if self.max_depth is not None and state.depth >= self.max_depth:
            state.truncated, state.frontier = True, 0
            return
        if self.unjudged:  # a resumed search knows no combinations
            self._judge(tick)
            if decided(self.system, self):
                return
        if self._is_large:
            self._move(tick)
            if self.state is not state:
                return
        state.between_levels = False
        report = self.transport.expand(self._job(), partial(self._pause, tick))
        state.add(report)
        self.unjudged = True
        self._record(report.shown, tick)
        if not self.dropped:
            self._judge(tick)
        if not self.dropped:
            self._reduce_memory(report.visited)

    def _job(self) -> LevelJob:
        depth = self.state.depth
        return LevelJob(
            depth=depth,
            known=bits_of(self.system, lambda prop: prop.name in self.found),
            last=self.max_depth is not None and depth + 1 >= self.max_depth,
            combinations=self.global_properties.columns(self.found),
        )

    def _plan(self, visited: int = 0, *, moves: bool = False) -> Plan:
        weighted = bool(self.state.weights)
        return self.assumptions.plan(self.filler, self.options, weighted, visited, moves=moves)

    def _reduce_memory(self, visited: int) -> None:
        """Forget states that cannot be met again, or restart with weighted levels to do so."""
        plan = self._plan(visited)
        if plan is not Plan.WEIGH:
            self.transport.reduce_memory(forgets=plan is Plan.FORGET)
        elif self.frontier and not decided(self.system, self):
            self._restart_weighted()

    @property
    def _is_large(self) -> bool:
        """The current level is worth a cluster."""
        state = self.state
        if self.cluster is None or state.moved_at or not state.between_levels:
            return False
        return state.frontier >= self.cluster.threshold

    def _move(self, tick: Callable[[], None]) -> None:
        """Move to the cluster, or restart with weighted levels first."""
        plan, state = self._plan(moves=True), self.state
        if plan is Plan.WEIGH:
            self._restart_weighted()
            return
        assert self.cluster is not None
        self._unsaved = True  # until the cluster has started, the search can still be saved
        self.connects = True
        try:
            tick()
            self.cluster.connect(tick)
        finally:
            self.connects = False
        self._unsaved = state.between_levels = False
        forgets = plan is Plan.FORGET
        setup, totals = Setup(self.filler, state.weights, forgets), self.threads.totals()
        parts = self.threads.export(visited=not (forgets or state.weights))
        self.cluster.load(parts, state.depth, setup)
        state.totals, state.moved_at = totals, state.depth
        self.transports.append(self.cluster)

    # Properties.

    def _judge(self, tick: Callable[[], None]) -> None:
        """Judge the states of the current level by the global properties."""
        judged, asked = self.global_properties, self.global_properties.asked(self.found)
        first: dict[str, tuple[Property, Address, int]] = {}
        columns, pause = judged.columns(self.found), partial(self._pause, tick)
        for part, combinations in self.transport.combinations(columns) if asked else ():
            for index, *combination in combinations.tolist():
                address = Address(self.state.depth, part, index)
                for prop in judged.judge(tuple(combination), columns, asked, pause):
                    first.setdefault(prop.name, (prop, address, -1))
        self.unjudged = False
        self._trace(list(first.values()), tick)

    def _record(self, shown: list[Showing], tick: Callable[[], None]) -> None:
        """Trace back what the kernels saw."""
        found = ((in_bits(self.system, each.properties), each) for each in shown)
        self._trace([(p, each.address, each.place) for props, each in found for p in props], tick)

    def _trace(self, shown: list[tuple[Property, Address, int]], tick: Callable[[], None]) -> None:
        """Record a shortest run for each property that is shown for the first time."""
        if self.state.weights:
            self._note(prop for prop, *_ in shown)
            return
        untraced = set()
        for prop, address, place in sorted(shown, key=lambda each: each[2] >= 0):
            if prop.name in self.found:
                continue
            if self.options.traces:
                self.found[prop.name] = self._traces.run_to(address, place, prop)
            elif prop.sought:  # a witness need only exist
                self.found[prop.name] = Evidence(())
            else:
                untraced.add(prop.name)
        if untraced:
            self._search_again(untraced, tick)

    def _note(self, shown: Iterable[Property]) -> None:
        """Record what is shown without a run; restart by depth if that decides the search.

        The search by depth then ends earlier, with a shortest run and exact counts. A witness alone
        decides nothing, and gets no run.

        Raises:
            ByDepthError: the search is decided.
        """
        for prop in shown:
            self.found.setdefault(prop.name, Evidence(()))
        if decided(self.system, self):
            raise ByDepthError("a search by depth finds the shortest run to a witness")

    # Second searches.

    def _second(
        self, system: System, *, then_cluster: bool, weighs: bool = True, **options: Any
    ) -> TabulatedSearch:
        """Return a search that answers one question of this one."""
        following = self.following if then_cluster else None
        # No checkpoints, because the folder belongs to this search, and no bounds, because they
        # cannot change the answer.
        asked = evolve(self.options.unsaved, **options)
        return TabulatedSearch(system, None, asked, self.first, following, weighs=weighs)

    def _search_again(self, violated: set[str], tick: Callable[[], None]) -> None:
        """Find shortest runs that violate these properties, with parents this time."""
        # The verdict is reached, so the memory can go.
        self._drop()
        begin = partial(self._second, self.system, then_cluster=True, weighs=False, traces=True)
        runs, self.state.unreduced = shortest_runs(violated, begin, tick)
        self.state.found |= runs

    def lost(self, prop: Property, tick: Callable[[], None]) -> Evidence | None:
        """Return a run to a state from which no state that `prop` wants can be reached, or None."""
        if self.state.moved_at or self.dropped:
            return self._lost_by_threads(prop, tick)
        try:
            places = self.threads.lost(prop, tick)
        except NotSymmetricError as reason:
            if not self.filler.symmetric:
                raise ReplayError(f"the graph lacks states that were explored: {reason}.") from None
            return self._lost_by_threads(prop, tick, symmetry=False)
        self.graph_figures = self.threads.graph_figures()
        return None if places is None else self._traces.run(places, prop)

    def _lost_by_threads(
        self, prop: Property, tick: Callable[[], None], **options: Any
    ) -> Evidence | None:
        """Return what `lost` does, from a second search that stays on the first transport."""
        asked = evolve(self.system, properties=(prop,))
        again = self._second(asked, then_cluster=False, traces=False, **options)
        found, self.graph_figures = lost_after(again, prop, tick)
        return found

    def so_far(self, tick: Callable[[], None]) -> Explored:
        """Return the graph of the states found so far, without the edges of the current level.

        The search for fair cycles asks for it.
        """
        return self.threads.so_far(self.state.depth if self.frontier else None, tick)
