"""Breadth-first rounds on Spark, for frontiers that outgrow one machine.

A search begins with the local engine. When a level is large enough, its states and the visited ones
become flat rows in partitions, by their hash (`spark.rows`). A round of the cluster is then one
job of two stages: every partition expands its part of the level and sorts the successors by owner;
they are shuffled, and every owner keeps those that it has not visited. An element of the RDD is all
that a partition holds, never a state.

The driver owns the tables. Rows that miss an entry are postponed and reported with what they miss;
the driver fills its tables, broadcasts what was added, and a second job expands those rows alone.
A task depends on its block and the version of the tables only, and what it reports has a key, so a
task that is run twice counts once.
"""

from __future__ import annotations

import os
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
from attrs import define, evolve, field

from antecede.checker.errors import ClusterError, InputError
from antecede.checker.local.breadth import LocalBreadthFirst, lost_anew
from antecede.checker.local.course import Course
from antecede.checker.local.granted import UNFOUNDED
from antecede.checker.local.graph import KeptGraph, graph_figures
from antecede.checker.local.unrenaming import Unrenaming
from antecede.checker.local.weighed import WeighedExpansion, count_depths, leads, note_shown
from antecede.checker.model import Property, Transition
from antecede.checker.paths.places import transitions_at
from antecede.checker.search.loop import Found, Stop, decided
from antecede.checker.search.options import Options
from antecede.checker.search.result import Counts
from antecede.checker.semantics.transition import System
from antecede.checker.spark import checkpoint as spark_checkpoint
from antecede.checker.spark.cluster import (
    Cluster,
    Reports,
    check_available,
    failing_clearly,
    persisted,
    wait_for,
)
from antecede.checker.spark.conservation import check_conserved, check_links
from antecede.checker.spark.course import ClusterCourse, Totals
from antecede.checker.spark.distinct import NOTHING
from antecede.checker.spark.rows import (
    BY_DEPTH,
    INDEX_BITS,
    PLACE_BITS,
    SALTS,
    Codec,
    Expanded,
    Weighing,
    expand_block,
    widened,
)
from antecede.checker.spark.tables import SharedTables
from antecede.checker.spark.tasks import (
    DriverPartitions,
    ExpandReport,
    Job,
    MergeReport,
    Partition,
    expand_task,
    merge_task,
    orbits_task,
)
from antecede.checker.spark.transfer import clear, from_file
from antecede.checker.spark.weighed import next_level
from antecede.checker.tables import kernels
from antecede.checker.tables.checkpoint import Checkpoints, Saved, last_in, prepared
from antecede.checker.tables.components import bits_of, in_bits
from antecede.checker.tables.identity import about
from antecede.checker.tables.misses import wrapping
from antecede.checker.tables.symmetry import figures
from antecede.checker.tables.tabulate import Words

CHECKPOINT_EVERY = 4
"""Jobs; what an executor takes with it when it dies is made anew from the last checkpoint."""


def owner_of(owner: int) -> int:
    """Return the partition of an owner: its number."""
    return owner


def _new_run() -> str:
    """Return a name that tells this search from others of workers that are still there."""
    return f"{os.getpid()}-{time.monotonic_ns()}"


def _of_local(options: Options) -> Options:
    """Return the options of the local engine, with which a search begins."""
    memory = "keep" if options.memory == "keep" else "auto"
    nothing: dict[str, Any] = {"spill": None, "checkpoint": None, "resume": None}
    options = evolve(options, engine="spark", memory=memory, **nothing)
    return evolve(options, check_progress=False, spill_visited=False)


@define(eq=False)
class SparkBreadthFirst:
    """Breadth-first by levels, large ones on Spark; a round is a level."""

    system: System
    max_depth: int | None = None
    options: Options = Options()
    exhaustive: bool = True
    local: LocalBreadthFirst = field(init=False)
    cluster: Cluster | None = None
    checkpoints: Checkpoints | None = None
    kept: KeptGraph | None = None
    weighs: bool = True
    seconds_before: float = 0.0
    began: float = field(factory=time.monotonic)
    _between: bool = True
    run: str = field(init=False)
    course: ClusterCourse = field(factory=ClusterCourse)
    _partitions: Any = None
    _reports: Any = None
    tables: SharedTables = field(init=False)
    _jobs: int = 0
    _folder: str | None = None

    def __attrs_post_init__(self) -> None:
        """Start with the local engine, once it is sure that there is a Spark to go on with."""
        check_available(self.options.master)
        self.run = _new_run()
        resume = self.options.resume
        saved = None if resume is None else last_in(resume)
        threads = self.options.threads or os.cpu_count() or 1
        if saved is not None:
            threads = int(saved.about.get("threads", threads))
        options = evolve(_of_local(self.options), threads=threads)
        self.local = LocalBreadthFirst(self.system, self.max_depth, options, weighs=self.weighs)
        try:
            if saved is not None:
                self._restore(saved)
            self.checkpoints = prepared(self.options, self._about(), self._save)
        except BaseException:
            self.close()
            raise

    # Checkpoints.

    def _about(self) -> dict[str, Any]:
        """Return what a checkpoint of this search says of itself."""
        traces, threads = self.options.traces, self.local.options.threads
        symmetry = self.options.symmetry
        return about(self.system, engine="spark", traces=traces, threads=threads, symmetry=symmetry)

    def _save(self, checkpoints: Checkpoints) -> None:
        """Write a checkpoint, between two levels."""
        now, before = time.monotonic(), self.seconds_before
        self.seconds_before += now - self.began
        write = self._write_partitions if self.on_cluster else None
        checkpoints.save(spark_checkpoint.contents(self, write))
        self.seconds_before = before

    def _write_partitions(self, folder: Path) -> spark_checkpoint.Files:
        task = spark_checkpoint.save_task(str(folder.resolve()))
        return spark_checkpoint.written(folder, self._each(task))

    def _each(self, task: Callable[[int, Iterator[Any]], Iterator[Any]]) -> list[Any]:
        """Return what a task yields for all partitions, wherever they are."""
        if isinstance(self._partitions, DriverPartitions):
            return self._partitions.each(task)
        assert self.cluster is not None
        found = wait_for(self.cluster.sc, self._partitions.mapPartitionsWithIndex(task).collect)
        return list(found)

    def _restore(self, saved: Saved) -> None:
        """Go on where a checkpoint ends."""
        saved.refuse_unless(self._about())
        on_cluster = spark_checkpoint.restored(self, self.local, saved)
        if not on_cluster:
            return
        wanted = self.options.partitions
        if wanted not in (None, self.course.owners):
            raise InputError(
                f"--partitions is {wanted}, and the checkpoint has {self.course.owners}; a search "
                "keeps its partitions"
            )
        self._connect()
        assert self.cluster is not None
        sc, owners = self.cluster.sc, self.course.owners
        load = spark_checkpoint.load_task(str(saved.folder.resolve()))
        self._partitions = sc.parallelize([(p, p) for p in range(owners)], owners).partitionBy(
            owners, owner_of
        )
        self._partitions = persisted(
            self._partitions.mapPartitions(
                lambda parts: (pair for p, _ in parts for pair in load(p)),
                preservesPartitioning=True,
            )
        )
        wait_for(sc, self._partitions._jrdd.count)

    @property
    def on_cluster(self) -> bool:
        """The search has moved to Spark."""
        return self._partitions is not None

    @property
    def _now(self) -> Course:
        return self.course if self.on_cluster else self.local.course

    @property
    def found(self) -> dict[str, Found]:
        """What shows each property."""
        return self._now.found

    @property
    def truncated(self) -> bool:
        """Some state was not expanded because of --max-depth."""
        return self._now.truncated

    @property
    def frontier(self) -> int:
        """States of the current depth; 0 when the search is over."""
        return self._now.frontier

    @property
    def rounds(self) -> list[dict[str, Any]]:
        """Figures of each round on the cluster."""
        return self.course.rounds

    def counts(self) -> Counts:
        """Return what was explored so far."""
        return self.course.counts() if self.on_cluster else self.local.counts()

    @property
    def symmetric(self) -> bool:
        """States are replaced by representatives."""
        return self.local.supply.symmetric

    def unreduced(self) -> Counts | None:
        """Return the counts without symmetry, from the sizes of the orbits."""
        if not self.on_cluster:
            return self.local.unreduced()
        if not (self.symmetric and self._between) or self.course.stragglers:
            return None
        waiting = 0
        if self.course.frontier:
            task = orbits_task(self._new_job(advances=True), self.tables.growths)
            try:
                waiting = sum(self._each(task))
            except ClusterError:
                return None
        states, fired, finals = map(int, self.course.totals.orbits)
        return Counts(states + waiting, 1 + fired, len(self.course.levels), finals)

    def _symmetry_figures(self) -> dict[str, Any]:
        course, symmetry = self.course, self.local.supply.tabulation.symmetry
        orbits = int(course.totals.orbits[0])
        return figures(symmetry, self.local.granted.no_symmetry, orbits, course.expanded)

    def lost(self, prop: Property, tick: Callable[[], None]) -> Found | None:
        """Return what shows that some state has no way back to what `prop` wants, or None."""
        if not self.on_cluster:
            return self.local.lost(prop, tick)
        return lost_anew(self, self.options, prop, tick)

    def close(self) -> None:
        """Give everything back; the counts remain."""
        if self.checkpoints is not None:
            if self._between and self.frontier and not self.found:
                self._save(self.checkpoints)
            self.checkpoints.close()
        self.local.close()
        if self.cluster is not None:
            self.cluster.stop()

    def statistics(self) -> dict[str, Any]:
        """Return further figures, by name."""
        if not self.on_cluster:
            found = self.local.statistics()
            return {**found, "rounds_on_spark": 0, "spark_threshold": self.options.spark_threshold}
        tabulation = self.local.supply.tabulation
        return {
            "symmetry": self._symmetry_figures(),
            "rounds_on_spark": sum(r["where"] == "cluster" for r in self.rounds),
            "spark_threshold": self.options.spark_threshold,
            "partitions": self.course.owners,
            "row_bytes": 8 * self.tables.own.codec.words,
            "graded": {"on": self.course.graded, "reason": tabulation.grading.reason},
            **({"weights": dict(self.course.weights)} if self.course.weights else {}),
            "rounds": self.rounds,
            "checkpoints": self.checkpoints and self.checkpoints.figures(),
            "protocol_calls": tabulation.calls,
            "actor_states": sum(len(states.values) for states in tabulation.states),
            "table_entries": tabulation.entries,
            "python_seconds": tabulation.seconds,
            **tabulation.met,
            "states_per_depth": list(self.course.levels),
            **graph_figures(self.kept),
            "transitions": {
                kind: {"total": int(self.course.totals.kinds[k])}
                for k, kind in enumerate(tabulation.kinds)
            },
        }

    def round(self, tick: Callable[[], None]) -> None:
        """Expand the current level, on the cluster if it is large."""
        if self.checkpoints is not None and self.checkpoints.due:
            self._save(self.checkpoints)
        try:
            self._expand_level(tick)
        except ClusterError:
            self._between = False
            raise
        except UNFOUNDED as reason:
            self._begin_again(reason)
        self._between = True

    def _begin_again(self, reason: Exception) -> None:
        """Begin again with the local engine, without what was taken for granted in vain."""
        if not isinstance(self._partitions, DriverPartitions | None):
            self._partitions.unpersist()
        self.run, self.course, self._partitions = _new_run(), ClusterCourse(), None
        self.local.begin_again(reason)

    def _expand_level(self, tick: Callable[[], None]) -> None:
        if not self.on_cluster and self.local.frontier < self.options.spark_threshold:
            self._between = False
            try:
                self.local.round(tick)
            except Stop:  # between two chunks, where the local engine can be saved
                self._between = True
                raise
            return
        if self.max_depth is not None and self._now.deepest >= self.max_depth:
            self._now.truncated, self._now.frontier = True, 0
            return
        with failing_clearly():
            if not self.on_cluster:
                if self.local.unjudged:  # what a checkpoint has
                    self.local.judge_level(tick)
                    if decided(self.system, self):
                        return
                if self.local.go_by_weight():
                    return
                self._between = False
                self._hand_over(tick)
                self._between = True
            self._round(tick)

    # From the local engine to the cluster.

    def _hand_over(self, tick: Callable[[], None]) -> None:
        """Cut the local engine's states into partitions, and give them to the cluster."""
        options = self.options
        self.cluster = Cluster.start(options.master, log=options.spark_log, tick=tick)
        local = self.local
        counts = local.counts()
        orbits = slice(kernels.ORBIT_STATES, kernels.ORBIT_FINALS + 1)
        self.course = ClusterCourse(
            found=dict(local.found),
            levels=list(local.course.levels),
            frontier=local.frontier,
            weights=dict(local.course.weights),
            current=sum(owner.level.count for owner in local.owners),
            owners=options.partitions or max(self.cluster.sc.defaultParallelism, 1),
            handed_over_at=len(local.course.levels),
            graded=self._forgets_levels,
            unique=counts.unique_states,
            totals=Totals(
                fired=counts.total_states - 1,
                finals=counts.final_states,
                kinds=np.sum([o.fired for o in local.owners], axis=0),
                orbits=np.sum([o.control[orbits] for o in local.owners], axis=0),
            ),
        )
        self._connect()
        weighed = isinstance(local.expansion, WeighedExpansion)
        self._give_to_cluster(self._open_levels() if weighed else self._first_partitions())

    @property
    def _forgets_levels(self) -> bool:
        """Every state seems to have one depth, and levels are depths."""
        local = self.local
        forgets = local.options.forget is not None and local.granted.forgets
        return forgets and local.expansion.graded and not local.course.weights

    def _connect(self) -> None:
        """Give the cluster all tables."""
        self.cluster = self.cluster or Cluster.start(
            self.options.master, log=self.options.spark_log
        )
        self._reports = self.cluster.sc.accumulator({}, Reports())
        if self.options.spark_files and self.cluster.sc.master.startswith("local["):
            self._folder = str(self.cluster.folder.path / "blocks")
            Path(self._folder).mkdir(exist_ok=True)
        self.tables = SharedTables(self.cluster.sc, self.local.supply, self.course.forgets_by)

    def _first_partitions(self) -> list[tuple[int, Partition]]:
        """Return what the local engine has visited, by partitions, in pieces."""
        local, threads = self.local, len(self.local.owners)
        levels, links, visited = [], [], []
        with wrapping():
            for owner in local.owners:
                rows = owner.level.rows.array[: owner.level.count * local.supply.layout.row_words]
                levels.append(self.tables.own.representatives(self._flat(rows)))
                links.append(np.arange(owner.level.count) * threads + owner.number)
                if not self.course.graded:
                    parts = (self._flat(part.ravel()) for part in owner.visited.parts())
                    visited += [self.tables.own.representatives(part) for part in parts]
            following, old = np.concatenate(levels), np.concatenate([NOTHING, *visited])
            which, old_which = (
                self.tables.own.owners_of(rows, self.course.owners) for rows in (following, old)
            )
            progress = NOTHING
            if not self.course.graded:
                self.course.least = int(self.tables.own.progress(following).min())
                progress = self.tables.own.progress(old)
        local.expansion.forget_states()
        words, all_links = self.tables.own.codec.words, np.concatenate(links)
        following, old = following.reshape(-1, words), old.reshape(-1, words)
        columns = self.tables.own.codec.col_widths
        self.course.links = [[[all_links[which == p]] for p in range(self.course.owners)]]
        found = []
        for p in range(self.course.owners):
            partition = Partition(
                columns=columns,
                level=NOTHING,
                todo=NOTHING,
                visited=old[old_which == p].ravel(),
                progress=progress[old_which == p].astype(np.int32),
                following=following[which == p].ravel(),
            )
            self.course.held[p] = partition.held(self.tables.own)
            found += [(p, piece) for piece in partition.pieces(words)]
        return found

    def _open_levels(self) -> list[tuple[int, Partition]]:
        """Return the states of the local engine's open levels, by partitions, in pieces."""
        local, own, rows, marks = self.local, self.tables.own, [], []
        assert isinstance(local.expansion, WeighedExpansion)
        with wrapping():
            local.expansion.read_depths()
            for lead, level in (pair for owner in local.owners for pair in enumerate(owner.levels)):
                some = level.rows.array[: level.count * local.supply.layout.row_words]
                rows.append(own.representatives(self._flat(some)))
                marks.append((lead << kernels.LEAD_BITS) + level.known_depths.astype(np.int32))
            flat, of_rows = np.concatenate(rows), np.concatenate(marks)
            which = own.owners_of(flat, self.course.owners)
        local.expansion.forget_states()
        words, found = own.codec.words, []
        for p in range(self.course.owners):
            partition = Partition(
                columns=own.codec.col_widths,
                level=NOTHING,
                todo=NOTHING,
                visited=NOTHING,
                progress=np.empty(0, np.int32),
                following=flat.reshape(-1, words)[which == p].ravel(),
                marks=of_rows[which == p],
            )
            self.course.held[p] = partition.held(own)
            found += [(p, piece) for piece in partition.pieces(words)]
        return found

    def _flat(self, rows: Words) -> Words:
        layout, codec = self.local.supply.layout, self.tables.own.codec
        count = len(rows) // layout.row_words
        flat = np.empty(count * codec.words, np.int64)
        kernels.flatten(
            rows,
            count,
            layout.row_words,
            self.local.supply.tables.geo,
            layout.dec,
            codec.widths,
            codec.words,
            flat,
        )
        return flat

    # Rounds.

    def _round(self, tick: Callable[[], None]) -> None:
        """Expand the level; see the module's text."""
        began, new = time.monotonic(), 0
        totals = Totals()
        links: list[list[Words]] = [[] for _ in range(self.course.owners)]
        shown: list[tuple[int, int, int, int]] = []
        met: list[tuple[int, Words]] = []
        jobs, sent, advances, expanding, merging = 0, 0, True, 0.0, 0.0
        while True:
            codec = self.tables.own.codec
            first, second = self._job(tick, advances=advances)
            self._between = False
            if advances:
                self._count_stragglers(first)
            advances, jobs = False, jobs + 1
            expanding += sum(r.seconds for r in first.values())
            merging += sum(r.seconds for r in second.values())
            for p, report in sorted(first.items()):
                totals.add(report.expanded)
                sent += report.sent_bytes
                shown += [(bits, p, index, at) for bits, index, at in report.expanded.shown]
            for p, merged in sorted(second.items()):
                new += merged.new
                met.append((p, merged.combinations))
                links[p].append(from_file(merged.links))
                if self._traces:
                    check_links(merged.new, links[p][-1])
            if self._folder is not None:
                clear(self._folder, kept=f"{self._jobs}-partition-")
            tick()
            waiting = {p: r.expanded for p, r in first.items() if len(r.expanded.postponed)}
            if waiting:
                keys = np.unique(np.concatenate([e.keys for e in waiting.values()]))
                self.tables.learn(keys, np.concatenate([e.waiting for e in waiting.values()]))
            # A property of all actors is asked when all states of the level are known to be new.
            here = not (shown or self.course.weights or self.local.joint.asked(self.found))
            if not waiting or (here and self._expand_here(waiting, codec, totals)):
                break  # else a second job expands what the first one postponed
        course, own = self.course, self.tables.own
        course.unique += new
        course.totals.merge(totals)
        self._collect(shown)
        course.links.append(links)
        sizes = [r.following for r in second.values()]
        course.frontier = sum(sizes) + sum(len(links) for _, links in course.stragglers.values())
        course.rounds.append(
            {
                "depth": len(course.levels),
                "where": "driver" if isinstance(self._partitions, DriverPartitions) else "cluster",
                "jobs": jobs,
                "new": new,
                "generated": totals.fired,
                "shuffle_bytes": sent,
                "skew": max(sizes) * len(sizes) / max(sum(sizes), 1),
                "visited": sum(r.visited for r in second.values()),
                "expand_seconds": expanding,
                "merge_seconds": merging,
            }
        )
        if course.frontier and course.weights:
            marks = sum((r.waiting for r in second.values()), Counter[int]())
            course.least, depths = next_level(marks)
            course.current = int(depths.sum())
            count_depths(course, depths)
        elif course.frontier:
            course.levels.append(course.frontier)
        self._judge(met, tick)
        if not (course.graded or course.weights):
            stragglers = [
                own.progress(rows).min() for rows, _ in course.stragglers.values() if len(rows)
            ]
            course.least = int(min([r.least for r in second.values()] + stragglers))
        self._learn_ahead([widened(r.preview, codec, own.codec) for r in second.values()])
        self._relocate(sum(r.following + r.visited for r in second.values()))
        course.rounds[-1]["seconds"] = time.monotonic() - began

    def _learn_ahead(self, previews: list[Words]) -> None:
        """Fill what the next level will miss, as far as some of its rows tell."""
        codec = self.tables.own.codec
        self.tables.learn(NOTHING, np.concatenate(previews))
        for owner, (rows, links) in self.course.stragglers.items():
            self.course.stragglers[owner] = widened(rows, codec, self.tables.own.codec), links

    def _count_stragglers(self, reports: dict[int, ExpandReport]) -> None:
        """Count the stragglers that turned out new; they are the last ones of their level."""
        stragglers = sum(len(links) for _, links in self.course.stragglers.values())
        if stragglers:
            new = sum(len(r.straggler_links) for r in reports.values())
            self.course.unique += new
            self.course.levels[-1] += new - stragglers
            if not self.course.levels[-1]:
                self.course.levels.pop()
            for p, report in reports.items():
                self.course.links[-1][p].append(report.straggler_links)
        self.course.stragglers = {}

    def _expand_here(self, waiting: dict[int, Expanded], codec: Codec, totals: Totals) -> bool:
        """Expand the postponed rows here, where they are few; return whether that was done.

        Their successors are *stragglers*: only the next job finds out which of them are new.
        """
        last = self.max_depth is not None and len(self.course.levels) + 1 >= self.max_depth
        few = all(len(e.postponed) <= len(e.waiting) // codec.words for e in waiting.values())
        if last or not few:
            return False
        parts, found = [], Totals()
        own = self.tables.own
        for p, expanded in sorted(waiting.items()):
            flat = widened(expanded.waiting, codec, own.codec)
            done = expand_block(own, flat, expanded.postponed, p, self.course.owners, 0)
            if len(done.postponed) or done.shown:
                return False
            found.add(done)
            parts.append([[part.copy() for part in gathered.done()] for gathered in done.sent])
        for owner in range(self.course.owners):
            rows, links = (
                np.concatenate(some) for some in zip(*(p[owner] for p in parts), strict=True)
            )
            if len(rows):
                self.course.stragglers[owner] = rows, links
        totals.merge(found)
        return True

    def _job(
        self, tick: Callable[[], None], *, advances: bool
    ) -> tuple[dict[int, ExpandReport], dict[int, MergeReport]]:
        """Run both tasks of every partition; return their reports."""
        self._jobs += 1
        job = self._new_job(advances=advances)
        if isinstance(self._partitions, DriverPartitions):
            self._partitions.run(job, self.tables.own)
        else:
            self._run_on_cluster(job, tick)
        first, second = self._taken(0), self._taken(1)
        check_conserved(first, second, self.course.held, starts_anew=job.starts_anew)
        self.course.held = {p: report.held for p, report in second.items()}
        return first, second

    def _run_on_cluster(self, job: Job, tick: Callable[[], None]) -> None:
        assert self.cluster is not None
        before, sc = self._partitions, self.cluster.sc
        sent = before.mapPartitionsWithIndex(
            expand_task(job, self.tables.growths, self._reports), preservesPartitioning=False
        ).partitionBy(self.course.owners, owner_of)
        if not job.starts_anew:
            sent = sc.union([before, sent])
        self._partitions = persisted(
            sent.mapPartitionsWithIndex(
                merge_task(job, self.tables.growths, self._reports), preservesPartitioning=True
            )
        )
        if self._jobs % CHECKPOINT_EVERY == 0:
            self._partitions.checkpoint()
        try:
            wait_for(sc, self._partitions._jrdd.count, tick)
        except BaseException:
            self._partitions = before
            raise
        before.unpersist()

    def _relocate(self, rows: int) -> None:
        """Bring partitions here when they have become small, and back when there is work again.

        Args:
            rows: of all partitions.
        """
        assert self.cluster is not None
        sc, partitions = self.cluster.sc, self._partitions
        if not self.course.frontier:
            return
        here, threshold = isinstance(partitions, DriverPartitions), self.options.spark_threshold
        if not here and rows < threshold // 2:
            found = wait_for(sc, partitions.collect)
            self._partitions = DriverPartitions.of(found, self.course.owners)
            partitions.unpersist()
        elif here and self.course.frontier >= threshold:
            self._give_to_cluster(partitions.pairs)

    def _give_to_cluster(self, pairs: list[tuple[int, Partition]]) -> None:
        """Hand pieces of partitions, each with its number, to the executors."""
        assert self.cluster is not None
        sc = self.cluster.sc
        partitions = sc.parallelize(pairs, self.course.owners).partitionBy(
            self.course.owners, owner_of
        )
        self._partitions = persisted(partitions)
        wait_for(sc, self._partitions._jrdd.count)

    def _new_job(self, *, advances: bool) -> Job:
        known = bits_of(self.system, lambda prop: prop.name in self.found)
        return Job(
            run=self.run,
            number=self._jobs,
            owners=self.course.owners,
            known=known,
            links=self._traces,
            advances=advances,
            graded=self.course.graded,
            weighing=self._weighing(),
            least=self.course.least,
            folder=None if isinstance(self._partitions, DriverPartitions) else self._folder,
            stragglers=self.course.stragglers,
            joint=bool(self.local.joint.asked(self.found)),
        )

    @property
    def _traces(self) -> bool:
        """Links are kept."""
        return self.options.traces and not self.course.weights

    def _weighing(self) -> Weighing:
        """Return how blocks are expanded, without their depths."""
        course, kinds = self.course, self.local.supply.tabulation.kinds
        if not course.weights:
            return BY_DEPTH
        return Weighing(leads(course.weights, kinds), course.open_levels, NOTHING)

    def _taken(self, task: int) -> dict[int, Any]:
        """Return what one of the tasks of the last job reported, per partition."""
        here = isinstance(self._partitions, DriverPartitions)
        value = self._partitions.value if here else self._reports.value
        taken = {p: r for (job, k, p), r in value.items() if job == self._jobs and k == task}
        owners = self.course.owners
        if len(taken) != owners:
            raise ClusterError(f"{owners - len(taken)} of {owners} Spark tasks did not report")
        for key in [key for key in value if key[0] < self._jobs or key[1] == task]:
            del value[key]
        return taken

    # Counterexamples.

    def _judge(self, met: list[tuple[int, Words]], tick: Callable[[], None]) -> None:
        """Judge the level that this round found by what is asked of all actors at once.

        Args:
            met: partitions, each with combinations of states in it; see `checker.spark.joint`.
            tick: called now and then; it may raise.
        """
        joint, shows = self.local.joint, dict[str, tuple[Property, int, int, int]]()
        asked = joint.asked(self.found)
        for number, found in met:
            for index, *combination in found.tolist():
                for prop in joint.judge(tuple(combination), asked, tick):
                    shows.setdefault(prop.name, (prop, number, index, -1))
        self._record(list(shows.values()))

    def _collect(self, shown: list[tuple[int, int, int, int]]) -> None:
        """Record what the kernels saw in this round, the shortest first."""
        self._record(
            (prop, number, index, place)
            for bits, number, index, place in sorted(shown, key=lambda s: (s[3] >= 0, *s[1:]))
            for prop in in_bits(self.system, bits)
        )

    def _record(self, shown: Iterable[tuple[Property, int, int, int]]) -> None:
        """Trace back what is shown for the first time."""
        if self.course.weights:
            note_shown(self.system, self, (prop for prop, *_ in shown))
            return
        untraced = set()
        for prop, number, index, place in shown:
            if prop.name in self.found:
                continue
            if prop.sought:  # that there is one is all that matters
                self.course.found[prop.name] = Found(())
            elif self.options.traces:
                places = self._places_to(number, index)
                found = self._path([*places, place] if place >= 0 else places, prop)
                self.course.found[prop.name] = Found(found)
            else:
                untraced.add(prop.name)
        if untraced:
            self._search_again(untraced)

    def _search_again(self, violated: set[str]) -> None:
        """Find the shortest paths to violations of these properties, with links this time."""
        again = SparkBreadthFirst(
            self.system,
            self.max_depth,
            evolve(self.options, traces=True),
            weighs=False,
        )
        try:
            while again.frontier and not violated <= again.found.keys():
                again.round(lambda: None)
            self.course.found |= again.found
        finally:
            again.close()

    def _places_to(self, number: int, index: int) -> list[int]:
        """Return the places of the transitions that lead to a state of the level just expanded."""
        places = []
        for level in reversed(self.course.links[1:]):
            links = np.concatenate([NOTHING, *level[number]])
            link = int(links[index])
            places.append(link & (1 << PLACE_BITS) - 1)
            index = link >> PLACE_BITS & (1 << INDEX_BITS) - 1
            number = link >> PLACE_BITS + INDEX_BITS
        handed = np.concatenate(self.course.links[0][number])
        index, owner = divmod(int(handed[index]), len(self.local.owners))
        return [*self.local.expansion.places_to(owner, index), *reversed(places)]

    def _path(self, places: list[int], prop: Property) -> tuple[Transition, ...]:
        """Return the path with transitions at these places, in original names."""
        if not self.symmetric:
            return transitions_at(self.system, places)
        self.local.supply.refresh()  # the tables have grown here since
        with wrapping():
            return Unrenaming(self.local.expansion).run(places, prop, self._kept)

    def _kept(self, number: int, row: Words) -> Words:
        """Return what the search went on from; see `Unrenaming.run`."""
        if number + 1 < self.course.handed_over_at:
            return row
        tables = self.local.supply.tables
        actors, counts = self.system.actors, self.local.supply.layout.counts
        stride = int(tables.geo[kernels.REN_STRIDE])
        weights, row = np.zeros(actors * stride, np.int64), row.copy()
        kernels.weigh(tables.geo, tables.dec, SALTS, np.zeros(actors, np.int64), counts, weights)
        kernels.represent_by_weight(
            row, 1, len(row), tables.geo, tables.renamings, weights, tables.dec
        )
        return row
