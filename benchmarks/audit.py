"""The speed and memory of `antecede audit`: the kernels compiled, and their ratio to plain Python.

    python benchmarks/audit.py [EVENTS [SHAPE ...]]

The logs are generated in a temporary folder: a queue of messages in transit, delivered in order.
Each log is judged three times in new processes, and the table has the fastest run. The compiled
kernels are loaded before the time starts. Plain Python gets 100,000 events at most. By default,
there are a million events, and all shapes are measured.
"""

from __future__ import annotations

import argparse
import json
import multiprocessing
import random
import resource
import tempfile
import time
from collections import deque
from collections.abc import Iterable, Iterator
from pathlib import Path

from antecede.checker.logs.audit import audit
from antecede.checker.logs.judge.findings import How

SHAPES = {
    "20 actors": (20, 50, False),
    "20 actors, actor by actor": (20, 50, True),
    "200 actors": (200, 1_000, False),
    "10,000 actors": (10_000, 20_000, False),
    "20 actors, 100,000 in transit": (20, 100_000, False),
}
"""Name -> actors, messages in transit, and whether each actor's lines are contiguous."""

RUNS = 3
MOST_PLAIN = 100_000
"""The most events for plain Python."""


def lines(actors: int, transit: int, events: int) -> Iterator[tuple[int, str]]:
    """Yield (actor, line) of a random system."""
    draw, queue, sent = random.Random(1), deque[tuple[int, int]](), 0
    for _ in range(events):
        if len(queue) < transit or (len(queue) < 2 * transit and draw.random() < 0.5):
            actor, to = draw.sample(range(actors), 2)
            sent += 1
            queue.append((to, sent))
            event = {"actor": f"actor{actor}", "event": "causal-send", "message": f"m{sent}"}
            yield actor, json.dumps({**event, "to": [f"actor{to}"]})
        else:
            actor, message = queue.popleft()
            event = {"actor": f"actor{actor}", "event": "deliver", "message": f"m{message}"}
            yield actor, json.dumps(event)


def write(path: Path, shape: str, events: int) -> Path:
    """Write a log and return its path."""
    actors, transit, by_actor = SHAPES[shape]
    rows: Iterable[tuple[int, str]] = lines(actors, transit, events)
    if by_actor:
        rows = sorted(rows, key=lambda row: -row[0])
    with path.open("w", encoding="utf-8") as file:
        file.writelines(f"{line}\n" for _, line in rows)
    return path


def measured(path: Path, first: Path, compiled: bool) -> tuple[float, float, float]:
    """Return the seconds, the CPU seconds and the peak MB of an audit.

    Args:
        path: the log.
        first: a small log, which is judged before the time starts.
        compiled: the kernels are machine code.
    """
    audit([str(first)], how=How(unfinished=True), compiled=compiled)
    begin, cpu = time.perf_counter(), time.process_time()
    audit([str(path)], how=How(unfinished=True), compiled=compiled)
    seconds, cpu = time.perf_counter() - begin, time.process_time() - cpu
    return seconds, cpu, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1000


def main() -> None:
    """Print a table."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("events", type=int, nargs="?", default=1_000_000, metavar="EVENTS")
    parser.add_argument("shapes", nargs="*", default=SHAPES, metavar="SHAPE")
    given = parser.parse_args()
    events = given.events
    print(
        "| log | events | compiled, events/s | CPU s per 10⁶ events | peak MB "
        "| plain, events/s | ratio |\n|---|---|---|---|---|---|---|"
    )
    few = min(MOST_PLAIN, events // 10)
    context = multiprocessing.get_context("spawn")
    with tempfile.TemporaryDirectory() as folder:
        for shape in given.shapes:
            small = write(Path(folder) / "small.jsonl", shape, few)
            large = write(Path(folder) / "large.jsonl", shape, events)
            with context.Pool(1, maxtasksperchild=1) as pool:
                jobs = [(large, small, True)] * RUNS
                seconds, cpu, peak = min(pool.starmap(measured, jobs, 1))
                slow = min(pool.starmap(measured, [(small, small, False)], 1))[0]
            fast, slow = events / seconds, few / slow
            print(
                f"| {shape} | {events:,} | {fast:,.0f} | {cpu / events * 1e6:.2f} | {peak:,.0f} "
                f"| {slow:,.0f} | {fast / slow:.0f} |",
                flush=True,
            )


if __name__ == "__main__":
    main()
