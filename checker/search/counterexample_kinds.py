"""Counterexamples that differ in kind, and not in names or in the order of independent steps."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable
from itertools import permutations
from typing import Any, TypeAlias

from attrs import define, evolve, field, frozen

from antecede.checker.model import Property, State, Transition, What
from antecede.checker.paths.confirm import confirm
from antecede.checker.paths.path import Path, replay
from antecede.checker.paths.violation import lost, wrong_delivery, wrong_order
from antecede.checker.search.options import Bounds
from antecede.checker.search.plain import BreadthFirst
from antecede.checker.semantics.crashes import is_live
from antecede.checker.semantics.judge import Fault, pending
from antecede.checker.semantics.transition import System
from antecede.checker.support.errors import InputError
from antecede.checker.support.memory import memory_bytes

Shape: TypeAlias = tuple[Any, ...]
"""What kind a counterexample is of; equal for two that differ in names only."""

RENAMED = 6
"""The greatest number of actors whose renamings are all tried."""


def shape(path: Path) -> Shape:
    """Return what kind a counterexample is of.

    Where messages are in the wrong order: the pair and the chain between its messages, up to
    renaming of actors and messages, so who delivers and who sends the messages of the chain.
    """
    prop = path.violated
    assert prop is not None, "only a counterexample has a shape"
    if prop.what in (What.LOCAL_STATE, What.GLOBAL_STATE, What.SEQUENCES):
        return (prop.name,)
    if prop.what in (What.UNDELIVERED, What.PARTLY_DELIVERED) and prop.final:
        return (prop.name, *_undelivered_shape(path))
    return (prop.name, *_delivery_shape(path))


def _delivery_shape(path: Path) -> Shape:
    """Return who delivers and who sends what is in the wrong order, or why it is unexpected."""
    if (pair := wrong_order(path)) is not None:
        return _first_met([pair.actor, *(m.sender for m in pair.chain)])
    wrong = wrong_delivery(path)
    if wrong is None or wrong.fault is not Fault.UNEXPECTED:
        return ()
    if wrong.delivery.message not in path.messages:
        return ("never sent",)
    return (
        "again" if wrong.delivery.actor in wrong.delivery.message.destinations else "wrong actor",
    )


def _first_met(actors: Iterable[int]) -> Shape:
    """Number the actors anew: 0 for the one named first, and so on."""
    names: dict[int, int] = {}
    return tuple(names.setdefault(actor, len(names)) for actor in actors)


def _undelivered_shape(path: Path) -> Shape:
    """Return who lacks whose messages, with the actors renamed so that it comes first in order."""
    everyone = range(path.system.actors)
    edges = [
        (message.sender, to)
        for message in lost(path)
        for to in pending(path.last, message)
        if is_live(path.last, to)
    ]
    if len(everyone) > RENAMED:
        return tuple(sorted(edges))
    return min(tuple(sorted((n[a], n[b]) for a, b in edges)) for n in permutations(everyone))


@frozen(eq=False)
class Collection:
    """Counterexamples that differ in kind.

    Attributes:
        paths: one of the shortest found of each kind, shorter ones first.
        exhausted: whether every state was explored that is reached without a violation.
        unique_states: how many states were explored.
    """

    paths: tuple[Path, ...]
    exhausted: bool
    unique_states: int


BOUNDS = Bounds(max_states=100_000)
"""Of a search for further counterexamples, unless somebody says otherwise."""


def collect(system: System, most: int, bounds: Bounds = BOUNDS) -> Collection:
    """Find up to `most` counterexamples that differ in kind, breadth-first in plain Python.

    The search goes on past the first violation, but not through violations: a violated property
    stays violated. A kind is one of `shape`, met on the first path to a state; a
    kind that shows only on other paths to the same states (see the encodings of the history) is not
    found. `full` tells all of them apart, in a larger space.

    Args:
        system: what to explore.
        most: how many kinds to look for, at least 1.
        bounds: when to give up; the number of states of BOUNDS holds where they name none.

    Raises:
        InputError: `most` is not positive.
    """
    if most < 1:
        raise InputError(f"the number of counterexamples is {most}; give at least 1")
    states = bounds.max_states or BOUNDS.max_states
    collector = _Collector(system, bounds.max_depth, most=most, most_states=states)
    began, bounds = time.monotonic(), evolve(bounds, max_states=states)

    def tick() -> None:
        if bounds.hit(collector.unique, time.monotonic() - began, memory_bytes()) is not None:
            raise _Enough

    try:
        while collector.frontier and len(collector.kinds) < most:
            tick()
            collector.round(tick)
    except _Enough:
        pass
    paths = sorted(collector.kinds.values(), key=lambda path: path.length)
    exhausted = not collector.frontier and not collector.truncated
    return Collection(tuple(paths), exhausted, collector.unique)


def others(system: System, known: Path, most: int, bounds: Bounds = BOUNDS) -> Collection:
    """Find up to `most` counterexamples of other kinds than `known`; see `collect`."""
    found = collect(system, most + 1, bounds)
    kind = shape(known)
    paths = tuple(path for path in found.paths if shape(path) != kind)[:most]
    return evolve(found, paths=paths)


class _Enough(Exception):
    """The search has found, or explored, as much as it may."""


@define(eq=False)
class _Collector(BreadthFirst):
    """Breadth-first search that notes every violation and goes on where there was none."""

    most: int = 1
    most_states: int | None = None
    kinds: dict[Shape, Path] = field(factory=dict)

    def _judge_state(self, state: State, path: Callable[[], tuple[Transition, ...]]) -> None:
        super()._judge_state(state, path)
        if 1 < self.unique == self.most_states:
            raise _Enough

    def _show(self, prop: Property, transitions: Callable[[], tuple[Transition, ...]]) -> None:
        if prop.sought:
            return
        path = replay(self.system, transitions())
        kind = shape(evolve(path, violates=prop.name))
        if kind not in self.kinds:
            self.kinds[kind] = confirm(self.system, transitions(), prop)
            if len(self.kinds) >= self.most:
                raise _Enough
