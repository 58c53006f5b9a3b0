"""Chooses the explorer for a search: which engine runs it, with which options."""

from __future__ import annotations

from attrs import frozen

from checker.errors import unknown
from checker.search import BreadthFirst, DepthFirst, Explorer, RandomWalks
from checker.transition import System

ENGINES = {
    "plain": "plain Python, the reference: small systems",
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
    """

    engine: str = "plain"
    search: str = "breadth"
    max_depth: int | None = None
    walks: int = 1000
    seed: int = 0


def explorer_for(system: System, options: Options) -> Explorer:
    """Return the explorer that `options` ask for.

    Raises:
        InputError: there is no such engine.
    """
    if options.engine not in ENGINES:
        raise unknown("engine", options.engine, ENGINES)
    if options.search == "random":
        return RandomWalks(
            system, max_depth=options.max_depth, walks=options.walks, seed=options.seed
        )
    kind = DepthFirst if options.search == "depth" else BreadthFirst
    return kind(system, max_depth=options.max_depth)
