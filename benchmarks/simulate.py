"""Events per second and memory of simulated runs of every protocol.

python benchmarks/simulate.py            # prints the table and puts it into README.md
python benchmarks/simulate.py --print    # only prints it

Each run has a process of its own, so that its peak memory is its own. Times are processor times of
one core, so that other work on the machine matters less.
"""

from __future__ import annotations

import argparse
import json
import platform
import resource
import subprocess
import sys
import time
from datetime import UTC, datetime

from page import put
from run import README, table

from antecede.checker.papers.simulate.handlers import handlers_of
from antecede.checker.papers.simulate.run import simulate
from antecede.checker.papers.simulate.scenario import Scenario

LARGE = [
    (name, n, twins) for n in (100, 500) for name, twins in (("mfss", "own"), ("cykas", "twin"))
]
ROWS = [
    *LARGE,
    ("rst", 100, "twin"),
    ("rst", 500, "twin"),
    ("cykas", 100, "own"),
    ("rst", 25, "own"),
    *((name, 25, "own") for name in ("unordered", "fifo", "ses", "ks", "tree-star", "newtop-null")),
    *((name, 25, "own") for name in ("hybrid-basic", "hybrid-sps")),
]
"""Protocol, number of processes, and whether its twin runs in place of its own handlers."""


COLUMNS = ["protocol", "processes", "handlers", "events", "s", "events/s", "peak MB"]


def measured(name: str, actors: int, twin: bool) -> dict[str, float]:
    """Run a protocol, 100 messages a process every 10 ms, uplinks of 1 MB/s."""
    messages = 100 if actors >= 100 else 40
    scenario = Scenario(actors=actors, messages=messages, bandwidth=1_000_000)
    handlers = handlers_of(name, twins=twin)
    started = time.process_time()
    outcome = simulate(handlers, scenario, 1, tolerant=True)
    seconds = time.process_time() - started
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return {"events": outcome.events, "seconds": seconds, "megabytes": peak / 1024}


def measured_table() -> str:
    """Measure every row, each in a process of its own."""
    rows = []
    for name, actors, handlers in ROWS:
        arguments = [sys.executable, __file__, "--one", name, str(actors), handlers]
        done = subprocess.run(arguments, check=True, capture_output=True, text=True)
        found = json.loads(done.stdout)
        events, seconds = found["events"], found["seconds"]
        figures = [f"{events:,}", f"{seconds:.2f}", f"{events / seconds:,.0f}"]
        rows.append([name, str(actors), handlers, *figures, f"{found['megabytes']:.0f}"])
        print(*rows[-1], file=sys.stderr, flush=True)
    version, date = platform.python_version(), datetime.now(UTC).date()
    return f"Python {version}, one core, {date}.\n\n{table(rows, COLUMNS)}\n"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--print", action="store_true", dest="only_print")
    parser.add_argument("--one", nargs=3, metavar=("PROTOCOL", "PROCESSES", "HANDLERS"))
    given = parser.parse_args()
    if given.one:
        name, actors, handlers = given.one
        print(json.dumps(measured(name, int(actors), handlers == "twin")))
        return
    text = measured_table()
    print(text)
    if not given.only_print:
        put(README, {"simulate": text})


if __name__ == "__main__":
    main()
