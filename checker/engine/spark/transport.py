"""The transport on a Spark cluster, for levels that outgrow one machine.

The states of a level become flat rows in partitions, by their hash (`spark.rows`). A round is one
job of two stages: every partition expands its part of the level and sorts the successors by owner;
they are shuffled, and every owner keeps those that it has not visited. An element of the RDD is a
piece of a partition, never a state.

The driver owns the tables. Rows that miss an entry are postponed and reported with their misses.
While the second stage runs, the driver fills its tables. It expands a few postponed rows itself. If
there are many, it broadcasts the additions, and a second job expands these rows. A task depends
only on its block and the version of the tables, and its report has a key, so a task that is run
twice counts once.
"""

from __future__ import annotations

import os
import time
from collections import Counter
from collections.abc import Collection, Iterable, Iterator
from operator import itemgetter
from pathlib import Path
from typing import Any

import numpy as np
from attrs import define, evolve, field

from antecede.checker.engine.rows import renaming_kernels
from antecede.checker.engine.rows.grading import open_levels
from antecede.checker.engine.spark.checkpoint import (
    Bounds,
    check_task,
    load_task,
    save_task,
    written,
)
from antecede.checker.engine.spark.cluster import (
    Cluster,
    check_available,
    failing_clearly,
    most_tasks,
    nothing,
)
from antecede.checker.engine.spark.cluster_state import ClusterState
from antecede.checker.engine.spark.codec import Codec, widened
from antecede.checker.engine.spark.distinct import NOTHING
from antecede.checker.engine.spark.jobs import Jobs
from antecede.checker.engine.spark.messages import ExpandReport, Job, MergeReport
from antecede.checker.engine.spark.migrate import partitions_of
from antecede.checker.engine.spark.repartition import note_move, partitions_for
from antecede.checker.engine.spark.row_accounting import check_links, check_moved, check_row_counts
from antecede.checker.engine.spark.rows import (
    INDEX_BITS,
    PLACE_BITS,
    UNWEIGHTED,
    BlockExpansion,
    BlockWeights,
    Expanded,
    links_of,
)
from antecede.checker.engine.spark.tables import SharedTables
from antecede.checker.engine.spark.tasks import orbits_task, settle_task
from antecede.checker.engine.spark.transfer import received
from antecede.checker.engine.spark.weighted_levels import next_level
from antecede.checker.engine.spark.worker_composites import keyed
from antecede.checker.engine.storage.arrays import Words
from antecede.checker.engine.storage.checkpoint import Files, Saved
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
from antecede.checker.search.options import Options
from antecede.checker.support.errors import ClusterError, ProtocolError


def _new_run() -> str:
    """Return a name that tells this search from others of workers that are still there."""
    return f"{os.getpid()}-{time.monotonic_ns()}"


@define(eq=False)
class _Round:
    """The reports of all jobs of a round, with the partitions that they are of."""

    first: list[tuple[int, ExpandReport]] = field(factory=list)
    second: list[tuple[int, MergeReport]] = field(factory=list)
    jobs: int = 0

    def add(self, first: dict[int, ExpandReport], second: dict[int, MergeReport]) -> None:
        """Add the reports of one job."""
        self.jobs += 1
        self.first += sorted(first.items(), key=itemgetter(0))
        self.second += sorted(second.items(), key=itemgetter(0))

    @property
    def totals(self) -> Totals:
        """Sums over the states that were expanded, and the new ones."""
        sums = sum((report.expanded.totals for _, report in self.first), Totals(new=None))
        return evolve(sums, unique=sum(report.new for _, report in self.second))

    def shown(self, depth: int) -> list[Showing]:
        """Return the properties that the states of this depth show, in the order of addresses."""
        shown = [
            Showing(bits, Address(depth, p, index), place)
            for p, report in self.first
            for bits, index, place in report.expanded.shown
        ]
        return sorted(shown, key=lambda each: (each.address, each.place))


@define(eq=False)
class SparkTransport:
    """Runs a search on a Spark cluster.

    Attributes:
        cluster: the cluster, once it was started.
        jobs: the partitions, and how jobs run on them, once the search has moved.
        tables: the driver's tables, as workers know them.
        state: the progress of the search on the cluster.
    """

    options: Options
    pauses: bool = False
    cluster: Cluster | None = None
    jobs: Jobs | None = None
    tables: SharedTables = field(init=False)
    state: ClusterState = field(factory=ClusterState)
    _setup: Setup = field(init=False)
    _combinations: list[tuple[int, Words]] = field(factory=list)
    _preview: tuple[Words, Codec] | None = None
    _ahead: ProtocolError | None = None
    _run: str = field(factory=_new_run)

    def __attrs_post_init__(self) -> None:
        """Check that there is a Spark to move to; InputError otherwise."""
        check_available(self.options.master, self.options.spark_conf)

    @property
    def threshold(self) -> int:
        """The fewest states of a level for which the search moves."""
        return self.options.spark_threshold

    # Starting.

    def connect(self, tick: Pause) -> None:
        """Start the cluster, or find the one that runs."""
        with failing_clearly():
            self.cluster = self.cluster or self._started(tick)

    def _started(self, tick: Pause = nothing) -> Cluster:
        return Cluster.start(self.options.master, self.options.spark_conf, tick=tick)

    def load(self, parts: Iterable[Part], depth: int, setup: Setup) -> None:
        """Give the states of a search to the cluster."""
        assert self.cluster is not None, "connect first"
        with failing_clearly():
            self._run, self._combinations = _new_run(), []
            self.state = ClusterState(began_at=depth, graded=setup.forgets)
            jobs = self._prepare(self.cluster, setup)
            pairs = partitions_of(
                parts, setup.filler, self.state, self.tables.own, self._partitions_for
            )
            jobs.owners = self.state.owners
            jobs.give(pairs)
            self.jobs = jobs

    def _partitions_for(self, states: int) -> int:
        """Return how many partitions so many states are to have on the cluster as it is now."""
        assert self.cluster is not None, "connect first"
        options = self.options
        if options.partitions is not None:
            return options.partitions
        most = most_tasks(self.cluster.sc)
        return partitions_for(states, most, options.partition_states, self.state.owners)

    def _prepare(self, cluster: Cluster, setup: Setup) -> Jobs:
        """Give the cluster all tables."""
        self._setup, folder = setup, None
        # Both are about the former tables only.
        self._preview = self._ahead = None
        if self.options.spark_files and cluster.sc.master.startswith("local["):
            folder = str(cluster.folder.path / "blocks")
        forgets_by = setup.weights if self.state.graded or setup.weights else None
        self.tables = SharedTables(
            cluster.sc, setup.filler, forgets_by, self.state.columns, self.state.composites
        )
        return Jobs(cluster, self.state.owners, folder)

    @property
    def _jobs(self) -> Jobs:
        assert self.jobs is not None, "the search has not moved yet"
        return self.jobs

    # Rounds.

    def expand(self, job: LevelJob, pause: Pause) -> LevelReport:
        """Expand the current level, in one job or two.

        Raises:
            NotGradedError: a new table entry contradicts what states are forgotten by.
            ClusterError: Spark gave up, or rows were lost.
        """
        with failing_clearly():
            return self._expand(job, pause)

    def _repartition(self, level: LevelJob, pause: Pause) -> None:
        """Divide the states anew if the number of partitions does not fit theirs any more."""
        state, tables = self.state, self.tables
        held = (counts.level + counts.visited + counts.following for counts in state.held.values())
        owners = self._partitions_for(sum(held))
        if owners == state.owners:
            return
        job = self._job(level, advances=False)
        job = evolve(job, owners=owners, moves=True, stragglers={})
        first, second = self._jobs.run(job, tables.own, tables.growths, pause)
        check_moved(first, second, state.held, graded=state.graded)
        note_move(state, first, second, tables.own)
        self._jobs.clear()

    def _expand(self, level: LevelJob, pause: Pause) -> LevelReport:
        began, state, own = time.monotonic(), self.state, self.tables.own
        self._repartition(level, pause)
        done, vanished, totals = _Round(), 0, Totals(new=None)
        links: list[list[Words]] = [[] for _ in range(state.owners)]
        while True:
            codec = own.codec
            first, second = self._run_job(level, pause, advances=not done.jobs)
            if not done.jobs:
                vanished = self._settle_stragglers(first)
            done.add(first, second)
            for p, merged in second.items():
                links[p] += [received(some) for some in merged.links]
                if self._keeps_links:
                    check_links(merged.new, merged.links)
            self._jobs.clear()
            pause()
            waiting = {p: r.expanded for p, r in first.items() if len(r.expanded.postponed)}
            if not waiting:
                break
            # Global properties are judged when all states of the level are known to be new.
            simple = not (self._setup.weights or level.combinations)
            here = self._expand_here(waiting, codec) if simple and not done.shown(0) else None
            if here is not None:
                totals = here
                break
            # A second job expands what the first one postponed.
        totals += done.totals
        state.totals += totals
        state.links.append(links)
        if level.last:
            self._settle_at_once(level)
        self._combinations = [(p, report.combinations) for p, report in done.second]
        report = self._next_level(level, second, done.shown(level.depth), vanished)
        self._note_round(level, done, second, totals)
        self._preview = np.concatenate([r.preview for r in second.values()]), codec
        self.tables.number()
        if report.frontier:
            rows = sum(r.following + r.visited for r in second.values())
            self._jobs.relocate(rows, report.frontier, self.threshold)
        state.rounds[-1]["seconds"] = time.monotonic() - began
        ahead, self._ahead = self._ahead, None
        if ahead is not None and not (report.shown or level.combinations or level.last):
            raise ahead  # otherwise, this level may decide the search, or the next one raises
        return report

    def _next_level(
        self, level: LevelJob, second: dict[int, MergeReport], shown: list[Showing], vanished: int
    ) -> LevelReport:
        """Return the size of the next level, and note the least lead in it."""
        state, reports = self.state, second.values()
        frontier = sum(report.following for report in reports)
        frontier += sum(len(links) for _, links in state.stragglers.values())
        sizes = {level.depth + 1: frontier} if frontier else {}
        if frontier and self._setup.weights:
            marks = sum((report.waiting for report in reports), Counter[int]())
            state.least, sizes = next_level(marks)
        return LevelReport(sizes, frontier, sum(r.visited for r in reports), shown, vanished)

    def _note_round(
        self, level: LevelJob, done: _Round, last: dict[int, MergeReport], totals: Totals
    ) -> None:
        """Note the figures of a round."""
        sizes = [report.following for report in last.values()]
        self.state.rounds.append(
            {
                "depth": level.depth,
                "where": "driver" if self._jobs.here else "cluster",
                "partitions": self.state.owners,
                "jobs": done.jobs,
                "new": totals.unique,
                "generated": totals.fired,
                "shuffle_bytes": sum(report.sent_bytes for _, report in done.first),
                "skew": max(sizes) * len(sizes) / max(sum(sizes), 1),
                "visited": sum(report.visited for report in last.values()),
                "expand_seconds": sum(report.seconds for _, report in done.first),
                "merge_seconds": sum(report.seconds for _, report in done.second),
            }
        )

    def _learn_ahead(self) -> None:
        """Fill what the next level will miss, as far as successors of some rows of this one tell.

        The driver does so while executors expand this level.
        """
        if self._preview is not None:
            (flat, codec), self._preview = self._preview, None
            following = self.tables.learn(NOTHING, widened(flat, codec, self.tables.own.codec))
            try:
                self.tables.learn(NOTHING, following)
            except ProtocolError as error:
                self._ahead = error

    def _learn_missed(self, reports: Collection[ExpandReport], codec: Codec) -> None:
        """Fill what postponed rows miss, and number composites that have no number.

        The driver does so while executors merge what this level led to.
        """
        some = (report.composites for report in reports)
        self.tables.unnumbered += [(records, codec) for records in some if len(records)]
        waiting = [r.expanded for r in reports if len(r.expanded.postponed)]
        if waiting:
            keys = np.unique(np.concatenate([e.keys for e in waiting]))
            flat = np.concatenate([e.waiting for e in waiting])
            self.tables.learn(keys, widened(flat, codec, self.tables.own.codec))
        self.tables.number()

    def _settle_stragglers(self, reports: dict[int, ExpandReport]) -> int:
        """Count the stragglers of the current level that were new; return how many were not."""
        state = self.state
        stragglers = sum(len(links) for _, links in state.stragglers.values())
        if not stragglers or state.settled:
            state.stragglers, state.settled = {}, False
            return 0
        new = sum(len(report.straggler_links) for report in reports.values())
        state.totals.unique += new
        for p, report in reports.items():
            state.links[-1][p].append(report.straggler_links)
        state.stragglers = {}
        return stragglers - new

    def _settle_at_once(self, level: LevelJob) -> None:
        """Find out which stragglers are new, in a small job: no round follows that would do it."""
        if not self.state.stragglers:
            return
        self.tables.number()
        task = settle_task(self._job(level, advances=True), self.tables.growths)
        state, found = self.state, self._jobs.each(task, f"level {level.depth}: count late states")
        state.stragglers, state.settled = {p: (rows, links) for p, rows, links in found}, True
        for p, (_, links) in state.stragglers.items():
            state.totals.unique += len(links)
            state.links[-1][p].append(links)

    def _expand_here(self, waiting: dict[int, Expanded], codec: Codec) -> Totals | None:
        """Expand the postponed rows here, if they are few, and return what that came to.

        Their successors are *stragglers*: only the next job finds out which of them are new.
        """
        if any(len(e.postponed) > len(e.waiting) // codec.words for e in waiting.values()):
            return None
        own, owners = self.tables.own, self.state.owners
        flat = [widened(waiting[p].waiting, codec, own.codec) for p in sorted(waiting)]
        # With these numbers, notes are links to the parents in all partitions at once.
        numbers = [(p << INDEX_BITS) + waiting[p].postponed for p in sorted(waiting)]
        expansion = BlockExpansion(
            own, np.concatenate(flat), True, np.concatenate(numbers), owners, 0
        )
        sent: list[list[tuple[Words, Words]]] = [[] for _ in range(owners)]
        for owner, rows, notes, _ in expansion.parcels():
            sent[owner].append((rows.copy(), links_of(notes, 0)))
        done = expansion.done()
        if len(done.postponed) or done.shown:
            return None
        for owner, parts in enumerate(sent):
            if parts:
                rows, links = (np.concatenate(some) for some in zip(*parts, strict=True))
                self.state.stragglers[owner] = rows, links
        return done.totals

    def _run_job(
        self, level: LevelJob, pause: Pause, *, advances: bool
    ) -> tuple[dict[int, ExpandReport], dict[int, MergeReport]]:
        """Run both tasks of every partition; return their reports."""
        job = self._job(level, advances=advances)
        tables = self.tables
        learned: dict[int, ExpandReport] = {}
        codec = tables.own.codec

        def between(first: dict[int, ExpandReport]) -> None:
            learned.update(first)
            self._learn_missed(first.values(), codec)

        first, second = self._jobs.run(
            job, tables.own, tables.growths, pause, self._learn_ahead, between
        )
        if any(report is not learned.get(p) for p, report in first.items()):
            between(first)
        check_row_counts(first, second, self.state.held, starts_anew=job.starts_anew)
        self.state.held = {p: report.held for p, report in second.items()}
        return first, second

    def _job(self, level: LevelJob, *, advances: bool) -> Job:
        jobs, weights = self._jobs, self._setup.weights
        leads = self._setup.filler.leads(weights)
        return Job(
            run=self._run,
            number=jobs.number + 1,
            depth=level.depth,
            owners=self.state.owners,
            known=level.known,
            links=self._keeps_links,
            advances=advances,
            graded=self.state.graded,
            weights=BlockWeights(leads, open_levels(weights), NOTHING) if weights else UNWEIGHTED,
            least=self.state.least,
            folder=None if jobs.here else jobs.folder,
            stragglers=self.state.stragglers,
            settled=self.state.settled,
            combinations=level.combinations,
        )

    @property
    def _keeps_links(self) -> bool:
        return self.options.traces and not self._setup.weights

    def combinations(self, _columns: tuple[int, ...]) -> Iterator[tuple[int, Words]]:
        """Yield the combinations that the last job reported, partition by partition."""
        yield from self._combinations

    def reduce_memory(self, *, forgets: bool) -> None:
        """Do nothing: the tasks drop what cannot be met again."""

    # Traces.

    def places_to(self, address: Address) -> tuple[list[int], Address]:
        """Return the places of the transitions to a state from one of the level that was loaded.

        Returns:
            The places, and the address that the first state of the run had on the first transport.
        """
        places, depth, number, index = [], self.state.began_at, address.part, address.index
        for level in reversed(self.state.links[1 : address.depth - depth + 1]):
            links = np.concatenate([NOTHING, *level[number]])
            link = int(links[index])
            places.append(link & (1 << PLACE_BITS) - 1)
            index = link >> PLACE_BITS & (1 << INDEX_BITS) - 1
            number = link >> PLACE_BITS + INDEX_BITS
        origin = int(np.concatenate(self.state.links[0][number])[index])
        return places[::-1], Address(depth, origin >> INDEX_BITS, origin & (1 << INDEX_BITS) - 1)

    def representative(self, row: Words) -> Words:
        """Return the representative that the cluster uses: the one with the least keys."""
        t, row = self._setup.filler.tables, row.copy()
        renamings = keyed(t, self._setup.filler.layout.counts)
        renaming_kernels.stand_in(row, t.geo, renamings, t.dec)
        return row

    # Figures, checkpoints, and the end.

    def totals(self) -> Totals:
        """Return the sums over the states that the cluster has expanded."""
        return self.state.totals

    def waiting_orbits(self) -> int | None:
        """Return how many states the representatives of the current level stand for, if known."""
        stragglers, own = self.state.stragglers.values(), self.tables.own
        if stragglers and not self.state.settled:
            return None
        here = sum(own.orbit_sizes(own.formed(rows)) for rows, _ in stragglers)
        job = self._job(LevelJob(0, 0, last=True, combinations=()), advances=True)
        try:
            task = orbits_task(job, self.tables.growths)
            return here + int(sum(self._jobs.each(task, "count orbits")))
        except ClusterError:
            return None

    def statistics(self) -> dict[str, Any]:
        """Return the figures of the cluster that `--verbose` shows, by name."""
        rounds = self.state.rounds
        return {
            "rounds_on_spark": sum(r["where"] == "cluster" for r in rounds),
            "spark_threshold": self.options.spark_threshold,
            "partitions": max((r["partitions"] for r in rounds), default=self.state.owners),
            "row_bytes": 8 * self.tables.own.row_size,
            "rounds": rounds,
        }

    def unused_statistics(self) -> dict[str, Any]:
        """Return the figures of a search that did not move."""
        return {"rounds_on_spark": 0, "spark_threshold": self.options.spark_threshold}

    def record(self) -> dict[str, Any]:
        """Return the progress as data of a checkpoint, between two levels."""
        own = self.tables.own
        self.state.columns = own.codec.col_widths
        self.state.composites = own.numbering.records() if own.numbered else None
        return self.state.record()

    def write(self, folder: Path) -> Files:
        """Let every task write its partition to a checkpoint; return sizes and checksums."""
        task = save_task(str(folder.resolve()))
        return written(folder, self._jobs.each(task, "write a checkpoint"))

    def adopt(self, record: dict[str, Any], saved: Saved, setup: Setup) -> None:
        """Continue from a checkpoint, with the partitions that it has.

        Raises:
            InputError: a partition's file is damaged, or there are fewer or more of them.
        """
        self.state = ClusterState.recorded(record)
        if sum(name.startswith("partition-") for name in saved.files) != self.state.owners:
            raise ValueError("the partitions do not have their number")
        bounds = self._bounds(setup)
        with failing_clearly():
            self.cluster = self._started()
            jobs = self._prepare(self.cluster, setup)
            bounds = evolve(bounds, counts=self.tables.own.numbering.counts.tolist())
            folder = str(saved.folder.resolve())
            if problem := jobs.first_of(check_task(folder, bounds)):
                raise ValueError(problem)
            jobs.load(load_task(folder))
        self.jobs = jobs

    def _bounds(self, setup: Setup) -> Bounds:
        """Return what partitions are checked by; ValueError: a composite or straggler is wrong."""
        layout, state = setup.filler.layout, self.state
        actors = setup.filler.system.actors
        codec = Codec.of(actors, layout.col_widths, parted=layout.parted)
        sizes = [layout.column_sizes(actor) for actor in range(actors)]
        bounds = Bounds(codec, sizes, (), open_levels(setup.weights), state.graded)
        if state.composites is not None:
            bounds.check_records(state.composites, state.columns)
        for rows, links in state.stragglers.values():
            its = codec.with_widths(state.columns or layout.col_widths)
            bounds.check_flat(rows, its)
            if len(links) != len(rows) // its.words:
                raise ValueError("some states have no links")
        return bounds

    def drop(self) -> None:
        """Give back the partitions; counts remain."""
        if self.jobs is not None:
            self.jobs.drop()

    def close(self) -> None:
        """Disconnect from the cluster; counts remain."""
        if self.cluster is not None:
            self.cluster.stop()


transport = SparkTransport
"""What `checker.check.engine` looks for in the module of an engine."""
