"""Chooses the explorer for a search: which engine runs it, with which options."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from attrs import frozen

from antecede.checker.errors import InputError, unknown
from antecede.checker.search.loop import BreadthFirst, DepthFirst, Explorer, RandomWalks
from antecede.checker.semantics.transition import System

ENGINES = {
    "local": "tabulated and compiled, on all cores of this machine",
    "spark": "the same kernels on a Spark cluster, once a level of the search is large",
    "plain": "plain Python, the reference: small systems",
}

VISITED = {
    "exact": "the packed states themselves",
    "fingerprint": "8-byte hashes; states may be omitted, with a probability that is reported",
}

MOST_ACTORS = 16
"""For the local engine: what the keys of its tables have room for."""

MEMORY = {
    "auto": "forget the visited states of earlier levels once there are many, where every state is "
    "proved to have one depth only",
    "keep": "keep all visited states",
    "sweep": "as auto, and elsewhere drop visited states that can never be met again (the "
    "sweep-line method)",
}


@frozen
class Options:
    """How to explore; what is found does not depend on it.

    Attributes:
        engine: one of ENGINES.
        search: `breadth`, `depth` or `random`.
        max_depth: states at this depth are not expanded.
        walks: for `random`, how many.
        seed: for `random`.
        threads: for `local`; None: one per core.
        visited: one of VISITED, for `local`.
        symmetry: not for `plain`, breadth-first: keep one state of each orbit under renaming of
            actors, where the system turns out to be symmetric.
        memory: one of MEMORY, for `local`, breadth-first; `spark` sweeps in any case, and
            forgets levels unless it is `keep`.
        audit: check at every transition that what `sweep` goes by never decreases.
        traces: keep what counterexamples are traced back by; if not, a second search finds them.
        spill: for `local`, a folder that frontiers and traces may be written out to.
        spill_visited: the visited set, too.
        checkpoint: for `local` and `spark`, a folder to save the search in, again and again.
        checkpoint_seconds: how often, at most.
        resume: for `local` and `spark`, a folder of checkpoints to go on from.
        master: for `spark`, of the cluster; None: what spark-submit says, or else all cores of this
            machine.
        partitions: for `spark`; None: as many as the cluster has cores.
        spark_threshold: for `spark`, states of a level from which on it runs on the cluster; None:
            as many as are worth a job.
        spark_log: leave Spark's log on the terminal.
    """

    engine: str = "local"
    search: str = "breadth"
    max_depth: int | None = None
    walks: int = 1000
    seed: int = 0
    threads: int | None = None
    visited: str = "exact"
    symmetry: bool = True
    memory: str = "auto"
    audit: bool = False
    traces: bool = True
    spill: Path | None = None
    spill_visited: bool = False
    checkpoint: Path | None = None
    checkpoint_seconds: float = 180.0
    resume: Path | None = None
    master: str | None = None
    partitions: int | None = None
    spark_threshold: int | None = None
    spark_log: bool = False


def kernels_are_compiled() -> bool:
    """Return whether compiled kernels are on disk from an earlier start; imports no compiler."""
    folder = os.environ.get("NUMBA_CACHE_DIR") or Path(__file__).parent / "tables" / "__pycache__"
    return any(Path(folder).rglob("kernels.expand-*.nbi"))


def explorer_for(system: System, options: Options) -> Explorer:
    """Return the explorer that `options` ask for.

    Raises:
        InputError: there is no such engine, or it lacks what is asked for.
    """
    if options.engine not in ENGINES:
        raise unknown("engine", options.engine, ENGINES)
    if options.visited not in VISITED:
        raise unknown("visited set", options.visited, VISITED)
    if options.memory not in MEMORY:
        raise unknown("memory", options.memory, MEMORY)
    if options.memory == "sweep" and options.visited != "exact":
        raise InputError(
            "the sweep-line needs the states themselves; use --visited exact with --memory sweep"
        )
    if options.threads is not None and options.threads < 1:
        raise InputError(f"threads is {options.threads}; give at least 1")
    if options.spill_visited and options.spill is None:
        raise InputError("the visited set is to be spilled, and there is no folder; give --spill")
    _refuse_files(options)
    if options.engine != "spark":
        _refuse_cluster(options)
    if options.engine == "plain":
        return _plain(system, options)
    if system.actors > MOST_ACTORS:
        raise InputError(
            f"actors is {system.actors}; the {options.engine} engine takes at most "
            f"{MOST_ACTORS}, the plain "
            "one any number (--engine plain)"
        )
    return _spark(system, options) if options.engine == "spark" else _local(system, options)


def _refuse_cluster(options: Options) -> None:
    for name in ("master", "partitions", "spark_threshold"):
        if getattr(options, name) is not None:
            raise InputError(f"--{name.replace('_', '-')} is for --engine spark")


def _refuse_files(options: Options) -> None:
    """Refuse files that only some engines write."""
    engines = {"spill": ("local",), "checkpoint": ("local", "spark"), "resume": ("local", "spark")}
    for name, known in engines.items():
        wanted = getattr(options, name) is not None
        if wanted and (options.search != "breadth" or options.engine not in known):
            raise InputError(
                f"--{name} is for breadth-first search by the {' or '.join(known)} engine; this is "
                f"{options.search}-first search by the {options.engine} engine"
            )


def _plain(system: System, options: Options) -> Explorer:
    if options.search == "random":
        return RandomWalks(
            system, max_depth=options.max_depth, walks=options.walks, seed=options.seed
        )
    kind = DepthFirst if options.search == "depth" else BreadthFirst
    return kind(system, max_depth=options.max_depth)


def _local(system: System, options: Options) -> Explorer:
    # Numba takes a second to import; `antecede list` must not wait for it.
    from antecede.checker.local.breadth import FORGET_FROM, LocalBreadthFirst, LocalOptions
    from antecede.checker.local.depth import LocalDepthFirst
    from antecede.checker.local.walks import LocalRandomWalks

    if options.search != "breadth":
        shared: dict[str, Any] = {
            "max_depth": options.max_depth,
            "fingerprints": options.visited == "fingerprint",
        }
        if options.search == "depth":
            return LocalDepthFirst(system, **shared)
        return LocalRandomWalks(system, walks=options.walks, seed=options.seed, **shared)
    local = LocalOptions(
        threads=options.threads,
        fingerprints=options.visited == "fingerprint",
        parents=options.traces,
        symmetry=options.symmetry,
        forget=None if options.memory == "keep" else FORGET_FROM,
        sweep=options.memory == "sweep",
        audit=options.audit,
        spill=options.spill,
        spill_visited=options.spill_visited,
        checkpoint=options.checkpoint,
        checkpoint_seconds=options.checkpoint_seconds,
        resume=options.resume,
    )
    return LocalBreadthFirst(system, max_depth=options.max_depth, options=local)


def _spark(system: System, options: Options) -> Explorer:
    if options.search != "breadth":
        raise InputError(f"--engine spark searches breadth-first; this is {options.search}-first")
    if options.visited != "exact":
        raise InputError("--engine spark keeps the states themselves; use --visited exact")
    for name in ("partitions", "spark_threshold"):
        number = getattr(options, name)
        if number is not None and number < 1:
            raise InputError(f"--{name.replace('_', '-')} is {number}; give at least 1")
    from antecede.checker.local.breadth import FORGET_FROM, LocalOptions
    from antecede.checker.spark.breadth import THRESHOLD, SparkBreadthFirst, SparkOptions

    spark = SparkOptions(
        master=options.master,
        partitions=options.partitions,
        threshold=options.spark_threshold or THRESHOLD,
        log=options.spark_log,
        parents=options.traces,
        checkpoint=options.checkpoint,
        checkpoint_seconds=options.checkpoint_seconds,
        resume=options.resume,
    )
    local = LocalOptions(
        threads=options.threads,
        symmetry=options.symmetry,
        forget=None if options.memory == "keep" else FORGET_FROM,
    )
    return SparkBreadthFirst(
        system, max_depth=options.max_depth, options=spark, local_options=local
    )
