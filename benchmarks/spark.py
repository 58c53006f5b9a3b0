"""Measures the Spark engine beside the local one, and beside one Python tuple per state.

python benchmarks/spark.py --quick            # a minute: does everything still run?
python benchmarks/spark.py                    # some minutes
python benchmarks/spark.py --check 'mfss 3x3 clocks' --runs 3
python benchmarks/spark.py --write-readme     # and put the table into benchmarks/README.md
"""

from __future__ import annotations

import argparse
import os
import statistics
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Any

from attrs import evolve, frozen
from page import put
from run import README, machine, run, table
from standalone import standalone

from antecede.checker.check.spec import Spec, system_of
from antecede.checker.engine.spark.cluster import Cluster
from antecede.checker.model import State
from antecede.checker.search.options import Options
from antecede.checker.semantics.judge import in_deliveries
from antecede.checker.semantics.transition import enabled, initial_state, successor
from antecede.checker.semantics.values import canonical
from antecede.checker.support.errors import AntecedeError

COLUMNS = [
    "search",
    "check",
    "unique",
    "s",
    "cpu s",
    "rounds",
    "unique/s",
    "of local",
    "of local, cpu",
    "of tuples",
]
CHECK = "mfss 3x6 clocks"
WORKLOAD = "--workload script:[[1,2,1,2,1,2],[0,2,0,2,0],[0,1,0,1,0]]"
"""A check of 103 million states, none of which is at the end of a bound on the depth."""

TICK = os.sysconf("SC_CLK_TCK")
Keyed = tuple[str, State]


@frozen
class Measured:
    """One way to explore.

    Attributes:
        name: the name of the row.
        check: protocol, bounds, encoding.
        unique: the number of unique states.
        seconds: the duration of the whole search, with the start of Spark.
        cpu: processor time of all processes, in seconds: Python's, Java's, and the cluster's.
        rounds: the number of rounds on Spark.
        rate: unique states per second; on Spark, of the rounds there, without the start.
        options: the options of the check, with a leading space.
    """

    name: str
    check: str
    unique: int
    seconds: float
    cpu: float
    rounds: int
    rate: float
    options: str = ""


class Meter:
    """Measures the processor time of all processes that this one starts, until they end.

    Their parents do not always wait for them, so the system's own sums lack some.
    """

    def __enter__(self) -> Meter:
        """Begin."""
        self.seconds: dict[int, float] = {}
        self.ended = threading.Event()
        self.thread = threading.Thread(target=self._watch)
        self.thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        """End."""
        self.ended.set()
        self.thread.join()

    @property
    def total(self) -> float:
        """The sum over all processes."""
        return sum(self.seconds.values())

    def _watch(self) -> None:
        while not self.ended.wait(0.25):
            self._look()

    def _look(self) -> None:
        parents, seconds = {}, {}
        for file in Path("/proc").glob("[0-9]*/stat"):
            with suppress(OSError):
                fields = file.read_text().rpartition(")")[2].split()
                pid = int(file.parent.name)
                parents[pid] = int(fields[1])
                seconds[pid] = (int(fields[11]) + int(fields[12])) / TICK
        for pid in parents:
            above = parents[pid]
            while above in parents and above != os.getpid():
                above = parents[above]
            if above == os.getpid():
                self.seconds[pid] = seconds[pid]


def local(check: str, options: str) -> Measured:
    """Measure the local engine in a process of its own."""
    with Meter() as meter:
        found = run(f"{check} --no-symmetry {options}")
    unique, seconds = found["unique_states"], found["seconds"]
    return Measured("local, two threads", check, unique, seconds, meter.total, 0, unique / seconds)


def on_spark(name: str, check: str, master: str, threshold: int, options: str) -> Measured:
    """Measure the Spark engine, its driver in a process of its own."""
    asked = f"--engine spark --master {master} --spark-threshold {threshold} {options}"
    with Meter() as meter:
        found = run(f"{check} --no-symmetry {asked}")
    rounds = found["statistics"].get("rounds", [])
    if not rounds:
        raise SystemExit(f"{check}: no level has {threshold:,} states; give a smaller --threshold")
    new, seconds = (sum(r[key] for r in rounds) for key in ("new", "seconds"))
    unique, rate = found["unique_states"], new / seconds
    return Measured(name, check, unique, found["seconds"], meter.total, len(rounds), rate)


def on_workers(
    number: int, check: str, threshold: int, options: str, *, with_driver: bool = False
) -> Measured:
    """Measure the Spark engine on a standalone cluster of workers with one core each.

    Args:
        number: of the workers.
        check: protocol, bounds, encoding.
        threshold: the least number of states of a level that is expanded on Spark.
        options: more options of the check.
        with_driver: the driver runs on the first worker's core.
    """
    name = f"standalone, {number} worker{'s' * (number > 1)} of one core"
    cores = os.sched_getaffinity(0)
    with standalone(workers=number, cores=1, pin=True) as cluster:
        try:
            if with_driver:
                name += ", the driver's too"
                os.sched_setaffinity(0, {0})
            return on_spark(name, check, cluster.master, threshold, options)
        finally:
            os.sched_setaffinity(0, cores)


def tuples(check: str) -> Measured:
    """Measure the simplest search on Spark: an element per state, a shuffle per level.

    It suffices if every state has only one depth, as in systems of mfss, because then no state is
    visited twice. The local engine's counts confirm this.
    """
    began = time.monotonic()
    protocol, bounds, history = check.split()
    actors, messages = map(int, bounds.split("x"))
    spec = Spec(protocol, actors=actors, messages=messages, history=history)
    start = initial_state(system_of(spec))
    meter = Meter()
    with meter:
        unique, rounds, first, ended = _levels_of_tuples(spec, start)
    expected = run(f"{check} --no-symmetry")["unique_states"]
    if unique != expected:
        raise SystemExit(f"{check}: {unique:,} states by tuples, {expected:,} by the local engine")
    rate, cpu = unique / (ended - first), meter.total
    return Measured("tuples, flatMap + distinct", check, unique, ended - began, cpu, rounds, rate)


def _levels_of_tuples(spec: Spec, start: State) -> tuple[int, int, float, float]:
    """Return how many states and levels there are, and when the first and the last one ended."""
    cluster = Cluster.start("local[2,4]")
    try:
        level = cluster.sc.parallelize([(canonical(start), start)], 2)
        unique, rounds, first = 1, 0, time.monotonic()
        while True:
            following = level.mapPartitions(partial(successors, spec)).reduceByKey(either, 2)
            following.persist()
            new = following.count()
            level.unpersist()
            unique, rounds, level = unique + new, rounds + 1, following
            if not new:
                break
        return unique, rounds, first, time.monotonic()
    finally:
        cluster.stop()


def successors(spec: Spec, states: Iterator[Keyed]) -> Iterator[Keyed]:
    """Yield the successors of states with their canonical texts; runs in an executor."""
    system = system_of(spec)
    for _, state in states:
        for transition in enabled(system, state):
            outcome = successor(system, state, transition)
            for prop in system.properties:
                if in_deliveries(prop, outcome.deliveries):
                    raise ValueError(f"{prop.name} is violated")
            yield canonical(outcome.state), outcome.state


def either(one: State, _other: State) -> State:
    """Return one of two equal states. This is `distinct` by text, because hashes may differ."""
    return one


def median(measured: list[Measured]) -> Measured:
    """Return the measurement with the median rate."""
    middle = statistics.median_low(m.rate for m in measured)
    return next(m for m in measured if m.rate == middle)


def cells(row: Measured, first: Measured, last: Measured) -> list[str]:
    """Return the cells of a row, with ratios to the first and to the last row."""
    return [
        row.name,
        row.check + row.options,
        f"{row.unique:,}",
        f"{row.seconds:,.1f}",
        f"{row.cpu:,.0f}",
        str(row.rounds or "–"),
        f"{row.rate:,.0f}",
        ratio(row.rate / first.rate),
        ratio(row.unique / row.cpu * first.cpu / first.unique),
        ratio(row.rate / last.rate),
    ]


def ratio(value: float) -> str:
    """Return a ratio with two digits or more."""
    return f"{value:,.0f}" if value >= 10 else f"{value:.2g}"


def text_of(rows: list[Measured]) -> str:
    """Return the table and its description as Markdown."""
    lines = table([cells(row, rows[0], rows[-1]) for row in rows], COLUMNS)
    shared, one, two = (row.rate for row in rows[2:5])
    faster = (
        f"Two workers are {two / one:.2f} times as fast as one, and {two / shared:.2f} times as "
        "fast as one that shares its core with the driver."
    )
    return f"{machine()}.\n\n{lines}\n\n{faster}"


def arguments() -> Any:
    """Parse the command line."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--check", default=CHECK, metavar="'PROTOCOL AxM HISTORY'")
    parser.add_argument("--tuples", default="mfss 3x2 clocks", metavar="'PROTOCOL AxM HISTORY'")
    parser.add_argument(
        "--threshold", type=int, default=Options().spark_threshold, metavar="STATES"
    )
    parser.add_argument(
        "--options",
        help="more options of check, for all but tuples; default: a script of receivers",
    )
    parser.add_argument("--runs", type=int, default=1, help="medians of so many; default: 1")
    parser.add_argument("--quick", action="store_true", help="small bounds, one run")
    parser.add_argument("--write-readme", action="store_true")
    given = parser.parse_args()
    if given.quick:
        given.check, given.tuples = "mfss 3x2 clocks", "mfss 2x3 clocks"
        given.threshold, given.runs = 5_000, 1
    if given.options is None:
        given.options = WORKLOAD if given.check == CHECK else ""
    for check in (given.check, given.tuples):
        if len(check.split()) != 3:
            parser.error(f"{check!r} is not a check; give for example 'mfss 3x3 clocks'")
    return given


def main() -> None:
    """Measure, print."""
    given = arguments()
    check, threshold, options = given.check, given.threshold, f"--threads 2 {given.options}"
    run(given.tuples)  # compiles the kernels if necessary
    ways: list[Callable[[], Measured]] = [
        lambda: local(check, options),
        lambda: on_spark("Spark, local[2]", check, "local[2,4]", threshold, options),
        lambda: on_workers(1, check, threshold, options, with_driver=True),
        lambda: on_workers(1, check, threshold, options),
        lambda: on_workers(2, check, threshold, options),
        lambda: on_workers(4, check, threshold, options),
        lambda: tuples(given.tuples),
    ]
    rows = []
    for way in ways:
        row = median([way() for _ in range(given.runs)])
        if row.check == check and given.options:
            row = evolve(row, options=f" {given.options}")
        rows.append(row)
        print(rows[-1], file=sys.stderr, flush=True)
    text = text_of(rows)
    print(text)
    if given.write_readme:
        put(README, {"spark": f"{text}\n"})


if __name__ == "__main__":
    try:
        main()
    except AntecedeError as error:
        raise SystemExit(f"Error: {error}") from None
