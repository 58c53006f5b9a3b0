"""Shorter and clearer counterexamples.

A depth-first or random search finds long paths: delta debugging (Zeller and Hildebrandt 2002,
ddmin) deletes transitions and replays what is left, and then independent steps are reordered so
that what belongs together stands together.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import Any, TypeAlias

from attrs import evolve, frozen

from antecede.checker.errors import ReplayError
from antecede.checker.model import Lose, Property, Receive, State, Transition
from antecede.checker.paths.flights import flights_of
from antecede.checker.paths.path import Path, first_shown, for_replay, holds_along, replay
from antecede.checker.semantics.transition import System, enabled, initial_state, successor

Kept: TypeAlias = tuple[int, ...]
"""Indices into the steps of the path that is minimised, in their order."""


def minimise(path: Path) -> Path:
    """Return a path as short as deleting transitions makes it, in an order that reads well.

    No single transition of the result can be left out: what remains would not violate the property,
    even if everything that depends on the transition were left out too. The result need not be
    a shortest counterexample; breadth-first search finds those. Each attempt costs a replay; in
    practice there are some n * log n of them for n transitions.
    """
    prop = violated_property(path)
    return reordered(_Deletion(path, prop).minimal())


def violated_property(path: Path) -> Property:
    """Return the property that a counterexample violates."""
    assert path.violated is not None, "only a counterexample has a violated property"
    return path.violated


# Deleting


@frozen
class _Origin:
    """Where a packet came from: the `place`-th packet that the step at `step` sent to its `dst`."""

    step: int
    place: int


def _origins(path: Path) -> list[_Origin | None]:
    """Return for each step where the packet that it receives or loses was sent, if a step did."""
    met = (flights_of(path).met.get(step.number) for step in path.steps)
    return [
        None if f is None or f.sent is None else _Origin(f.sent.number - 1, f.place) for f in met
    ]


class _Deletion:
    """Deletes steps of one path.

    A reception is known by the step that sent its packet, not by the packet: when a causal-send is
    deleted, later messages of its sender change their numbers, and so do the packets.
    """

    def __init__(self, path: Path, prop: Property) -> None:
        self._path, self._prop = path, prop
        self._system = for_replay(path.system)
        self._origins = _origins(path)
        self._tried: dict[Kept, tuple[Kept, Path] | None] = {}

    def minimal(self) -> Path:
        """Delete ever smaller runs of steps, from the end, until not one can be deleted."""
        found = self._attempt(tuple(range(self._path.length)))
        assert found is not None, "the path to minimise violates its property"
        size = max(1, len(found[0]) // 2)
        while True:
            shorter = self._pass(found, size)
            if size == 1 and len(shorter[0]) == len(found[0]):
                return shorter[1]
            found, size = shorter, max(1, size // 2)

    def _pass(self, found: tuple[Kept, Path], size: int) -> tuple[Kept, Path]:
        """Try once to delete each run of `size` steps."""
        end = len(found[0])
        while end > 0:
            kept = found[0]
            shorter = self._attempt(kept[: max(0, end - size)] + kept[end:])
            if shorter is not None:
                found = shorter
            end = min(end - size, len(found[0]))
        return found

    def _attempt(self, kept: Kept) -> tuple[Kept, Path] | None:
        """Replay the steps `kept` if that violates the property; leave out what is impossible."""
        if kept not in self._tried:
            self._tried[kept] = self._replayed(kept)
        return self._tried[kept]

    def _replayed(self, kept: Kept) -> tuple[Kept, Path] | None:
        possible, transitions = self._possible(kept)
        path = replay(self._system, transitions)
        if holds_along(path, self._prop):
            return None
        path = evolve(_cut(path, self._prop), violates=self._prop.name)
        return possible[: path.length], path

    def _possible(self, kept: Kept) -> tuple[Kept, list[Transition]]:
        """Return those of the steps `kept` that can be taken in turn, and what they become."""
        state = initial_state(self._system)
        possible: list[int] = []
        transitions: list[Transition] = []
        sends: dict[int, tuple[tuple[int, Any], ...]] = {}
        for at in kept:
            wanted = self._resolved(at, sends)
            transition = _offered(self._system, state, wanted)
            if transition is None:
                continue
            outcome = successor(self._system, state, transition)
            possible.append(at)
            transitions.append(transition)
            sends[at] = outcome.step.sends
            state = outcome.state
        return tuple(possible), transitions

    def _resolved(self, at: int, sends: dict[int, tuple[tuple[int, Any], ...]]) -> Transition:
        """Return the transition at `at`, with the packet that its origin sends now."""
        transition, origin = self._path.steps[at].transition, self._origins[at]
        if not isinstance(transition, Receive | Lose) or origin is None:
            return transition
        packets = [p for to, p in sends.get(origin.step, ()) if to == transition.dst]
        if origin.place >= len(packets):
            return transition
        return evolve(transition, packet=packets[origin.place])


def _offered(system: System, state: State, wanted: Transition) -> Transition | None:
    """Return `wanted` if it is enabled; the place of a loss may differ."""
    for transition in enabled(system, state):
        same = transition == wanted
        if isinstance(wanted, Lose) and isinstance(transition, Lose):
            same = evolve(transition, place=wanted.place) == wanted
        if same:
            return transition
    return None


def _cut(path: Path, prop: Property) -> Path:
    """Return `path` up to its first violation of `prop`."""
    return evolve(path, steps=path.steps[: first_shown(path, prop)])


# Reordering


def reordered(path: Path) -> Path:
    """Return a path of the same steps in which what belongs together stands together.

    Adjacent steps of different actors are swapped as long as that brings an actor's steps together
    or a reception closer to its network-send. A swap counts only if a replay reaches the
    same state, with its whole history. The last step of a safety violation stays the last.
    """
    prop = violated_property(path)
    movable = path.length if prop.final else path.length - 1
    origins = [None if origin is None else origin.step for origin in _origins(path)]
    order = list(range(path.length))
    while (better := _better(path, prop, order, origins, movable)) is not None:
        order = better
    return _in_order(path, order)


def _better(
    path: Path, prop: Property, order: list[int], origins: list[int | None], movable: int
) -> list[int] | None:
    """Return the best order that moving one step makes, or None if none is better than `order`."""
    actors = [step.actor for step in path.steps]
    cost = _cost(order, actors, origins)
    moved = {tuple(new) for new in _moves(order, actors, origins, movable)}
    ranked = sorted((_cost(new, actors, origins), new) for new in moved)
    for new_cost, new in ranked:
        if new_cost >= cost:
            return None
        if _same_outcome(path, prop, new):
            return list(new)
    return None


def _moves(
    order: list[int], actors: list[int], origins: list[int | None], movable: int
) -> Iterator[list[int]]:
    """Yield the orders that moving one step forwards makes, swap by swap.

    A step moves past those of other actors only, and a reception not past its network-send.
    Moving a step backwards is moving others forwards.
    """
    for start in range(movable):
        new = list(order)
        for at in range(start, 0, -1):
            step, before = new[at], new[at - 1]
            if actors[step] == actors[before] or origins[step] == before:
                break
            new[at - 1], new[at] = step, before
            yield list(new)
    for start in range(movable):
        new = list(order)
        for at in range(start, movable - 1):
            step, after = new[at], new[at + 1]
            if actors[step] == actors[after] or origins[after] == step:
                break
            new[at], new[at + 1] = after, step
            yield list(new)


def _cost(
    order: Sequence[int], actors: list[int], origins: list[int | None]
) -> tuple[int, int, int]:
    """Return how far apart stands what belongs together; the later parts break ties."""
    place = {step: at for at, step in enumerate(order)}
    changes = sum(actors[a] != actors[b] for a, b in pairwise(order))
    distance = sum(place[i] - place[o] for i, o in enumerate(origins) if o is not None)
    inversions = sum(a > b for at, a in enumerate(order) for b in order[at + 1 :])
    return changes, distance, inversions


def _same_outcome(path: Path, prop: Property, order: Sequence[int]) -> bool:
    try:
        found = _in_order(path, order)
    except ReplayError:
        return False
    return found.steps[-1].state == path.steps[-1].state and not holds_along(found, prop)


def _in_order(path: Path, order: Sequence[int]) -> Path:
    """Return `path` with its steps in another order."""
    if list(order) == list(range(path.length)):
        return path
    found = replay(path.system, [path.steps[at].transition for at in order])
    return evolve(found, violates=path.violates)
