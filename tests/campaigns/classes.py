"""Random complete computations: their classes by antecede and by the naive judge.

A computation is drawn as a run: at each step, some actor sends its next message to a random actor,
or some message in flight is delivered. Or it is one of the computations of a program that has some
in a class and not in the next smaller one, because runs rarely have those.
"""

from __future__ import annotations

import json
import random
from collections import Counter
from pathlib import Path

from antecede.checker.papers.computations.classes import CLASSES
from antecede.checker.papers.computations.computation import Computation, Event, computations
from tests.papers.computations import naive

SIZES = ((3, 5), (4, 4))
"""Actors, and messages in all. The judge looks at thousands of linear orders at most."""


TELLING = (((2, 3), (3, 2), (), ()), ((1, 2), (0,), (0,)), ((2, 1), (2,), ()))
"""Programs with computations that are causal and not mailbox, 1-n and not n-n, fifo and not causal.
"""


def drawn(seed: str) -> Computation:
    """Draw a complete computation."""
    draw = random.Random(seed)
    if draw.random() < 0.5:
        return draw.choice(list(computations(draw.choice(TELLING))))
    actors, left = draw.choice(SIZES)
    events: list[list[Event]] = [[] for _ in range(actors)]
    numbers, flying = [0] * actors, list[tuple[tuple[int, int], int]]()
    while left or flying:
        if left and (not flying or draw.random() < 0.6):
            sender, receiver = draw.sample(range(actors), 2)
            numbers[sender] += 1
            left -= 1
            message = (sender, numbers[sender])
            events[sender].append(Event(message, False))
            flying.append((message, receiver))
        else:
            message, receiver = flying.pop(draw.randrange(len(flying)))
            events[receiver].append(Event(message, True))
    return tuple(map(tuple, events))


def compare_classes(seed: str, folder: Path, tally: Counter[str]) -> list[str]:
    """Compare the classes of one computation; write it into the folder if they differ."""
    computation = drawn(seed)
    found = {each.name for each in CLASSES if each.contains(computation)}
    right = naive.classes(computation)
    for name in right:
        tally[f"classes with tests/papers/computations/naive.py: {name}"] += 1
    if found == right:
        return []
    folder.mkdir(parents=True, exist_ok=True)
    file = folder / f"classes-{seed.replace('/', '-')}.json"
    file.write_text(json.dumps(computation), encoding="utf-8")
    return [f"{file}: {sorted(found)}, by all linear orders {sorted(right)}"]
