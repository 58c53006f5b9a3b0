"""Events per second of `antecede audit`: the compiled judge, and its ratio to the plain one.

    python benchmarks/audit.py [EVENTS]

The logs are generated in a temporary folder: a queue of messages in transit, delivered in order.
The plain judge gets a tenth of the events. The compiled kernels are warmed up on a small log.
"""

from __future__ import annotations

import json
import random
import sys
import tempfile
import time
from collections import deque
from collections.abc import Iterator
from pathlib import Path

from antecede.checker.audit.audit import audit

SHAPES = {
    "20 actors": (20, 50, False),
    "20 actors, actor by actor": (20, 50, True),
    "200 actors": (200, 1_000, False),
    "10,000 actors": (10_000, 20_000, False),
    "20 actors, 100,000 in transit": (20, 100_000, False),
}
"""Name -> actors, messages in transit, and whether each actor's lines are contiguous."""


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


def rate(path: Path, judge: str) -> float:
    """Return events per second of CPU."""
    begin = time.process_time()
    found = audit([str(path)], judge=judge, unfinished=True)
    return found.events / (time.process_time() - begin)


def main(events: int) -> None:
    """Print a table."""
    print("| log | events | compiled, events/s | plain, events/s | ratio |\n|---|---|---|---|---|")
    with tempfile.TemporaryDirectory() as folder:
        large, small = Path(folder) / "large.jsonl", Path(folder) / "small.jsonl"
        for name, (actors, transit, by_actor) in SHAPES.items():
            made = list(lines(actors, transit, events))
            for path, part in ((large, made), (small, made[: events // 10])):
                rows = sorted(part, key=lambda row: -row[0]) if by_actor else part
                path.write_text("".join(f"{line}\n" for _, line in rows))
            rate(small, "compiled")
            fast, slow = rate(large, "compiled"), rate(small, "plain")
            print(f"| {name} | {events:,} | {fast:,.0f} | {slow:,.0f} | {fast / slow:.0f} |")


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 1_000_000)
