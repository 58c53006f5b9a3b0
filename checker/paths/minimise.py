"""Shorter and clearer counterexamples.

A depth-first or random search finds long paths. Delta debugging (ddmin, Zeller and Hildebrandt
2002) deletes transitions and replays the rest. Then `checker.paths.confirm` brings the remaining
steps into the order in which it shows every counterexample.
"""

from __future__ import annotations

from typing import Any, TypeAlias

from attrs import evolve, frozen

from antecede.checker.model import Arm, Lose, Property, Receive, State, Transition
from antecede.checker.paths.confirm import arranged
from antecede.checker.paths.flights import flights_of
from antecede.checker.paths.path import Path, first_shown, for_replay, holds_along, replay
from antecede.checker.semantics.crashes import cut_of
from antecede.checker.semantics.transition import System, enabled, initial_state, successor

Kept: TypeAlias = tuple[int, ...]
"""The steps that are kept, as increasing indices into the steps of the original path."""


def minimise(path: Path) -> Path:
    """Return a 1-minimal counterexample with transitions of `path`, in a readable order.

    If you delete any one transition of the result, and the transitions that depend on it, the rest
    does not violate the property. The result need not be a shortest counterexample; breadth-first
    search finds one. Each attempt replays a path. In practice there are about n * log n attempts
    for n transitions.
    """
    if path.loop is not None:
        return path  # a breadth-first search found it, and without a step its cycle does not close
    prop = path.violated
    assert prop is not None, "only a counterexample has a violated property"
    shortest = _Deletion(path, prop).minimal()
    return _cut(evolve(arranged(shortest, prop), violates=prop.name), prop)


# Deleting


@frozen
class _Origin:
    """The origin of a packet: the `place`-th packet that a step sent to `dst`."""

    step: int
    place: int


def _origins(path: Path) -> list[_Origin | None]:
    """Return per step the origin of the packet that it receives or loses, or None."""
    met = (flights_of(path).met.get(step.number) for step in path.steps)
    return [
        None if f is None or f.sent is None else _Origin(f.sent.number - 1, f.place) for f in met
    ]


class _Deletion:
    """Deletes steps of one path.

    A reception is identified by the step that sent its packet, not by the packet. When a
    causal-send is deleted, later messages of its sender change their numbers, and packets change
    with them.
    """

    def __init__(self, path: Path, prop: Property) -> None:
        self._path, self._prop = path, prop
        self._system = for_replay(path.system)
        self._origins = _origins(path)
        self._tried: dict[Kept, tuple[Kept, Path] | None] = {}
        self._whole = set[int]()  # the steps in whose middle no actor crashes any more

    def minimal(self) -> Path:
        """Delete ever smaller blocks of steps, from the end, until no step can be deleted.

        Then let actors take whole steps where they crash in the middle of one for no reason.
        """
        kept, path = self._shortest()
        for at in kept:
            if cut_of(self._path.steps[at].transition) is None:
                continue
            self._whole.add(at)
            again = self._replayed(kept)
            kept, path = again or (kept, path)
            self._whole -= set() if again else {at}
        return path

    def _shortest(self) -> tuple[Kept, Path]:
        shortest = self._attempt(tuple(range(self._path.length)))
        assert shortest is not None, "the path to minimise violates its property"
        size = max(1, len(shortest[0]) // 2)
        while True:
            shorter = self._pass(shortest, size)
            if size == 1 and len(shorter[0]) == len(shortest[0]):
                return shorter
            shortest, size = shorter, max(1, size // 2)

    def _pass(self, found: tuple[Kept, Path], size: int) -> tuple[Kept, Path]:
        """Try once to delete each block of `size` steps."""
        end = len(found[0])
        while end > 0:
            kept = found[0]
            shorter = self._attempt(kept[: max(0, end - size)] + kept[end:])
            if shorter is not None:
                found = shorter
            end = min(end - size, len(found[0]))
        return found

    def _attempt(self, kept: Kept) -> tuple[Kept, Path] | None:
        """Return the possible steps of `kept` and their replay; None if it violates nothing."""
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
        """Return the steps of `kept` that can be taken in turn, and their transitions."""
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
        """Return the transition of step `at`, with the packet that its origin now sends."""
        transition, origin = self._path.steps[at].transition, self._origins[at]
        if at in self._whole and not isinstance(transition, Arm | Lose):
            transition = evolve(transition, cut=None)
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
