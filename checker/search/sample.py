"""A run to look at where nothing is wrong: a random one, or one of the longest found."""

from __future__ import annotations

import random

from antecede.checker.model import Transition
from antecede.checker.paths.path import Path, replay
from antecede.checker.search.plain import first_states
from antecede.checker.semantics.transition import System, enabled, initial_state, successor
from antecede.checker.support.errors import check_known

SAMPLES = {
    "random": "transitions drawn by --seed, up to a final state",
    "longest": "a shortest way to one of the deepest states, among the first 20,000 or so",
}

MOST_STEPS = 1_000
"""Of a random run: protocols that retransmit may go on for ever."""

MOST_STATES, MOST_TRANSITIONS = 20_000, 100_000
"""In plain Python some 10,000 states take a second, and 30,000 transitions."""


def sample(system: System, kind: str, seed: int) -> Path:
    """Return a replayed run of a system, which violates nothing that was looked for.

    Raises:
        InputError: there is no such kind of sample.
    """
    check_known("sample", kind, SAMPLES)
    return replay(system, _random(system, seed) if kind == "random" else _longest(system))


def _random(system: System, seed: int) -> list[Transition]:
    chance, state = random.Random(seed), initial_state(system)
    taken: list[Transition] = []
    while len(taken) < MOST_STEPS and (choices := enabled(system, state)):
        taken.append(chance.choice(choices))
        state = successor(system, state, taken[-1]).state
    return taken


def _longest(system: System) -> tuple[Transition, ...]:
    search = first_states(system, MOST_STATES, MOST_TRANSITIONS)
    return search.path_to(len(search.graph.states) - 1)
