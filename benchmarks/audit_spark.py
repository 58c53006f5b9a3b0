"""`antecede audit --on spark`: seconds, bytes shuffled and memory, on a log in parts.

    python benchmarks/audit_spark.py [EVENTS] [ACTORS] [MASTER]

The log is generated in a temporary folder (TMPDIR). Its parts are copies of a million events of a
queue of messages in transit, with different names. In each part one delivery comes too early, so
that there is a violation. For comparison, the log is also audited without Spark.
"""

from __future__ import annotations

import argparse
import contextlib
import os
import random
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from antecede.checker.engine.spark.cluster import Cluster
from antecede.checker.logs.audit import audit
from antecede.checker.logs.judge.findings import Audit, How
from antecede.checker.logs.spark import on_spark

PART = 1_000_000


def part_lines(actors: int, events: int, transit: int = 1_000) -> Iterator[str]:
    """Yield the lines of a part where every message is delivered."""
    draw, queue, sent = random.Random(1), list[tuple[int, int]](), 0
    for left in range(events, 0, -1):
        if len(queue) < min(transit, left):
            actor, to = draw.sample(range(actors), 2)
            sent += 1
            queue.append((to, sent))
            event = f'{{"actor": "actor{actor}", "event": "causal-send", "message": "m{sent}"'
            yield f'{event}, "to": ["actor{to}"]}}\n'
        else:
            late = draw.random() < 0.00001
            actor, message = queue.pop(-1 if late else 0)
            yield f'{{"actor": "actor{actor}", "event": "deliver", "message": "m{message}"}}\n'


def generated(folder: Path, actors: int, events: int) -> None:
    """Write a log in parts."""
    text = "".join(part_lines(actors, min(PART, events)))
    for number in range(-(-events // PART)):
        part = text.replace('"message": "m', f'"message": "p{number}m')
        (folder / f"part-{number:05}.jsonl").write_text(part)


def shuffled(sc: Any) -> int:
    """Return the number of bytes written for shuffles so far."""
    none = sc._gateway.new_array(sc._gateway.jvm.double, 0)
    stages = sc._jsc.sc().statusStore().stageList(None, False, False, none, None)
    return sum(int(stages.apply(n).shuffleWriteBytes()) for n in range(int(stages.size())))


def workers() -> tuple[int, float]:
    """Return the peak memory of a Python worker in bytes, and the CPU seconds of all workers."""
    stats: dict[int, list[str]] = {}
    for each in Path("/proc").glob("[0-9]*/stat"):
        with contextlib.suppress(OSError):
            stats[int(each.parent.name)] = each.read_text().rpartition(")")[2].split()

    def is_mine(process: int) -> bool:
        parent = int(stats[process][1]) if process in stats else 0
        return parent == os.getpid() or (parent > 1 and is_mine(parent))

    most, ticks = 0, 0
    for process in filter(is_mine, stats):
        with contextlib.suppress(OSError):
            if b"pyspark.daemon" in Path(f"/proc/{process}/cmdline").read_bytes():
                about = Path(f"/proc/{process}/status").read_text()
                most = max(most, int(about.partition("VmHWM:")[2].split()[0]) * 1024)
                ticks += sum(map(int, stats[process][11:13]))
    return most, ticks / os.sysconf("SC_CLK_TCK")


def told(found: Audit, seconds: float) -> str:
    """Return a line about an audit."""
    late = sum(finding.kind == "causal-delivery" for finding in found.findings)
    return (
        f"{found.events:,} events of {found.actors:,} actors, {late} late: {seconds:.0f} s, "
        f"{found.events / seconds:,.0f} events/s"
    )


def main() -> None:
    """Print a line for each of both audits."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("events", type=int, nargs="?", default=PART, metavar="EVENTS")
    parser.add_argument("actors", type=int, nargs="?", default=20, metavar="ACTORS")
    parser.add_argument("master", nargs="?", default="local[2]", metavar="MASTER")
    given = parser.parse_args()
    events = given.events
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name) / "log"
        folder.mkdir()
        generated(folder, given.actors, events)
        cluster = Cluster.start(given.master)
        try:
            begin = time.monotonic()
            found = on_spark.audit([str(folder)], how=How(unfinished=True))
            print("Spark:", told(found, time.monotonic() - begin))
            print(f"  {shuffled(cluster.sc) / events:.0f} bytes shuffled per event")
            most, seconds = workers()
            print(f"  {most / 1e6:,.0f} MB in the largest Python worker", flush=True)
            print(f"  {seconds:.0f} s of CPU in all of them", flush=True)
        finally:
            cluster.stop()
        begin, cpu = time.monotonic(), time.process_time()
        here = audit([str(folder)], how=How(unfinished=True), compiled=True)
        print("Here: ", told(here, time.monotonic() - begin))
        print(f"  {time.process_time() - cpu:.0f} s of CPU")
        print("  the findings are", "the same" if here == found else "NOT the same")


if __name__ == "__main__":
    main()
