"""Random logs, each judged in several interleavings, by every judge and by tests/naive_audit.py."""

from __future__ import annotations

import json
import random
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from unittest import mock

from antecede.checker.logs import audit as audits
from antecede.checker.logs.events import batches
from antecede.checker.logs.judge.findings import Audit
from antecede.checker.logs.spark import spread
from antecede.checker.support.errors import AntecedeError
from tests.logs.interleavings import (
    Order,
    Own,
    Places,
    found_in,
    interleaved,
    is_chain,
    whole,
    wild,
    write,
    write_torn,
)
from tests.logs.test_spread import in_pieces
from tests.naive_audit import Event
from tests.naive_audit import audit as naive

SHRINK_SECONDS = 30.0

WAYS = (
    *("plain", "compiled", "pieces", "shiviz", "plain", "compiled", "shiviz"),
    *("plain, torn", "compiled, torn", "pieces, torn"),
)


def compare_audits(seed: str, folder: Path, tally: Counter[str]) -> list[str]:
    """Audit a random log in many ways; if they differ, shrink the log and write it to a file."""
    draw = random.Random(seed)
    own = wild(draw, draw.choice([2, 3, 5, 9, 40]), draw.choice([6, 20, 60, 300]))
    own.setdefault("z", []).append(Event("causal-send", "last", ("z",)))
    wrong = difference(own, seed, tally)
    if wrong is None:
        return []
    own = shrunk(own, seed)
    folder.mkdir(parents=True, exist_ok=True)
    file = folder / f"audit-{seed.replace('/', '-')}.json"
    file.write_text(json.dumps(own, indent=1) + "\n", encoding="utf-8")
    return [f"{file} (seed {seed!r}): {difference(own, seed, Counter()) or wrong}"]


def difference(own: Own, seed: str, tally: Counter[str]) -> str | None:
    """Return the difference between two ways to audit a log in words; None if all agree."""
    if not any(event.kind == "causal-send" for row in own.values() for event in row):
        return None  # the audit refuses it
    expected = naive(own)
    first: dict[bool, tuple[str, Any]] = {}
    for number, way in enumerate(WAYS):
        judge, torn = way.partition(",")[0], "torn" in way
        try:
            audit, there, lost = judged(random.Random(f"{seed} {number}"), own, judge, torn=torn)
        except AntecedeError as error:
            return f"{way} refuses the log: {error}"
        found = [each for each in found_in(audit, there) if each.kind != "clock"]
        tally[f"{way} with tests/naive_audit.py"] += 1
        if expected != {*found} or len(expected) != len(found):
            return f"{way} finds {found}, and tests/naive_audit.py {sorted(expected, key=str)}"
        if not all(is_chain(own, f.chain) for f in audit.findings if f.chain):
            return f"{way} shows a chain that is none"
        if lost != [line for _, line in audit.torn]:
            return f"{way} finds lines {audit.torn} torn, and they are {lost}"
        clocks, said = judge == "shiviz", whole(audit, there)
        if clocks in first:
            tally[f"{way} with {first[clocks][0]} in another interleaving"] += 1
        other, before = first.setdefault(clocks, (way, said))
        if said != before:
            return f"{way} says {said}, and {other} in another interleaving {before}"
    return None


def judged(
    draw: random.Random, own: Own, judge: str, *, torn: bool
) -> tuple[Audit, Places, list[int]]:
    """Audit one interleaving; return the result, the places of the events, and the torn lines."""
    order, lost = interleaved(draw, own), list[int]()
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "log"
        if judge == "shiviz":
            there = write_clocks(path, own, order)
        elif torn:
            there, lost = write_torn(draw, path, own, order)
        else:
            there = write(path, own, order)
        if judge == "pieces":
            with mock.patch.object(spread, "SENDERS", 32):
                audit = in_pieces([str(path)], draw.choice([200, 1 << 26]))[0]
        else:
            with mock.patch.object(batches, "SIZE", draw.choice([2, 50, 1 << 14])):
                compiled = judge == "compiled" or (judge == "shiviz" and draw.random() < 0.5)
                audit = audits.audit([str(path)], compiled=compiled)
    return audit, there, lost


def write_clocks(path: Path, own: Own, order: Order) -> Places:
    """Write a log for ShiViz with some impossible clocks."""
    there, rows = Places(), list[str]()
    for actor, index in order:
        draw = random.Random(f"{actor} {own[actor]} {index}")  # equal in every interleaving
        clock = {actor: index + 1 if draw.random() < 0.95 else draw.randrange(9)}
        for other in draw.sample(sorted(own), draw.randrange(min(4, len(own)))):
            clock.setdefault(other, draw.randrange(1 + len(own[other])))
        kind, message, to = own[actor][index]
        text = f"{'causal-sends' if kind == 'causal-send' else 'delivers'} {message}"
        there[len(rows) + 1, actor] = there[len(rows) + 2, actor] = index
        rows += [f"{actor} {json.dumps(clock)}", text + (f" to {','.join(to)}" if to else "")]
    path.write_text("\n".join(rows) + "\n")
    return there


def shrunk(own: Own, seed: str) -> Own:
    """Return a smaller log with a difference between two ways to audit it."""
    until, progress = time.monotonic() + SHRINK_SECONDS, True
    while progress:
        progress = False
        for less in smaller(own):
            if time.monotonic() > until:
                return own
            if difference(less, seed, Counter()) is not None:
                own, progress = less, True
                break
    return own


def smaller(own: Own) -> Iterator[Own]:
    """Yield logs without one actor or one event, as long as they have a causal-send."""
    for actor in own:
        yield {name: row for name, row in own.items() if name != actor}
    for actor, row in own.items():
        for at in range(len(row)):
            if len(row) > 1:
                yield {**own, actor: row[:at] + row[at + 1 :]}
