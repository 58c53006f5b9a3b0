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
from collections.abc import Callable, Iterable
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
from antecede.checker.local.weighed import count_depths, leads, note_shown
from antecede.checker.model import Property, Transition
from antecede.checker.paths.places import transitions_at
from antecede.checker.search.loop import Found, Stop, decided
from antecede.checker.search.options import Options
from antecede.checker.search.result import Counts
from antecede.checker.semantics.transition import System
from antecede.checker.spark import checkpoint as spark_checkpoint
from antecede.checker.spark.cluster import (
    Cluster,
    check_available,
    failing_clearly,
)
from antecede.checker.spark.conservation import check_conserved, check_links
from antecede.checker.spark.course import ClusterCourse, Totals
from antecede.checker.spark.distinct import NOTHING
from antecede.checker.spark.exchange import ExpandReport, Job, MergeReport
from antecede.checker.spark.handover import handed_over
from antecede.checker.spark.jobs import Jobs
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
from antecede.checker.spark.tasks import orbits_task
from antecede.checker.spark.transfer import from_file
from antecede.checker.spark.weighed import next_level
from antecede.checker.tables import kernels
from antecede.checker.tables.checkpoint import Checkpoints, Saved, last_in, prepared
from antecede.checker.tables.components import bits_of, in_bits
from antecede.checker.tables.identity import about
from antecede.checker.tables.misses import wrapping
from antecede.checker.tables.symmetry import figures
from antecede.checker.tables.tabulate import Words


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
    jobs: Jobs | None = None
    tables: SharedTables = field(init=False)

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
        assert self.jobs is not None
        return spark_checkpoint.written(folder, self.jobs.each(task))

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
        jobs = self._connect()
        jobs.load(spark_checkpoint.load_task(str(saved.folder.resolve())))
        self.jobs = jobs

    @property
    def on_cluster(self) -> bool:
        """The search has moved to Spark."""
        return self.jobs is not None

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
        if self.jobs is None:
            return self.local.unreduced()
        if not (self.symmetric and self._between) or self.course.stragglers:
            return None
        waiting = 0
        if self.course.frontier:
            job = self._new_job(self.jobs, advances=True)
            try:
                waiting = sum(self.jobs.each(orbits_task(job, self.tables.growths)))
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
        if self.jobs is not None:
            self.jobs.drop()
        self.run, self.course, self.jobs = _new_run(), ClusterCourse(), None
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
            if self.jobs is None:
                if self.local.unjudged:  # what a checkpoint has
                    self.local.judge_level(tick)
                    if decided(self.system, self):
                        return
                if self.local.go_by_weight():
                    return
                self._between = False
                self.jobs = self._hand_over(tick)
                self._between = True
            self._round(self.jobs, tick)

    # From the local engine to the cluster.

    def _hand_over(self, tick: Callable[[], None]) -> Jobs:
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
        jobs = self._connect()
        jobs.give(handed_over(local, self.course, self.tables.own))
        return jobs

    @property
    def _forgets_levels(self) -> bool:
        """Every state seems to have one depth, and levels are depths."""
        local = self.local
        forgets = local.options.forget is not None and local.granted.forgets
        return forgets and local.expansion.graded and not local.course.weights

    def _connect(self) -> Jobs:
        """Give the cluster all tables."""
        options = self.options
        cluster = self.cluster or Cluster.start(options.master, log=options.spark_log)
        self.cluster, folder = cluster, None
        if options.spark_files and cluster.sc.master.startswith("local["):
            folder = str(cluster.folder.path / "blocks")
        self.tables = SharedTables(cluster.sc, self.local.supply, self.course.forgets_by)
        return Jobs(cluster, self.course.owners, folder)

    # Rounds.

    def _round(self, jobs: Jobs, tick: Callable[[], None]) -> None:
        """Expand the level; see the module's text."""
        began, new = time.monotonic(), 0
        totals = Totals()
        links: list[list[Words]] = [[] for _ in range(self.course.owners)]
        shown: list[tuple[int, int, int, int]] = []
        met: list[tuple[int, Words]] = []
        ran, sent, advances, expanding, merging = 0, 0, True, 0.0, 0.0
        while True:
            codec = self.tables.own.codec
            first, second = self._job(jobs, tick, advances=advances)
            self._between = False
            if advances:
                self._count_stragglers(first)
            advances, ran = False, ran + 1
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
            jobs.clear()
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
                "where": "driver" if jobs.here else "cluster",
                "jobs": ran,
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
        if course.frontier:
            rows = sum(r.following + r.visited for r in second.values())
            jobs.relocate(rows, course.frontier, self.options.spark_threshold)
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
        self, jobs: Jobs, tick: Callable[[], None], *, advances: bool
    ) -> tuple[dict[int, ExpandReport], dict[int, MergeReport]]:
        """Run both tasks of every partition; return their reports."""
        job = self._new_job(jobs, advances=advances)
        first, second = jobs.run(job, self.tables.own, self.tables.growths, tick)
        check_conserved(first, second, self.course.held, starts_anew=job.starts_anew)
        self.course.held = {p: report.held for p, report in second.items()}
        return first, second

    def _new_job(self, jobs: Jobs, *, advances: bool) -> Job:
        known = bits_of(self.system, lambda prop: prop.name in self.found)
        return Job(
            run=self.run,
            number=jobs.number + 1,
            owners=self.course.owners,
            known=known,
            links=self._traces,
            advances=advances,
            graded=self.course.graded,
            weighing=self._weighing(),
            least=self.course.least,
            folder=None if jobs.here else jobs.folder,
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
        counts = self.local.supply.layout.counts
        stride = int(tables.geo[kernels.REN_STRIDE])
        weights, row = np.zeros(len(counts) * stride, np.int64), row.copy()
        kernels.weigh(tables.geo, tables.dec, SALTS, 0 * counts, counts, weights)
        kernels.represent_by_weight(
            row, 1, len(row), tables.geo, tables.renamings, weights, tables.dec
        )
        return row
