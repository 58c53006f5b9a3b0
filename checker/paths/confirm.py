"""Confirmation of counterexamples: replay, a second judgement, and a readable order of events."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable

from attrs import evolve

from antecede.checker.errors import AdapterError, NumbersError, ReplayError
from antecede.checker.model import Property, Transition, Where
from antecede.checker.paths.flights import flights_of
from antecede.checker.paths.path import Path, first_difference, holds_along, replay, transition_key
from antecede.checker.semantics.recoverability import recovers
from antecede.checker.semantics.transition import System, state_after

MOST_LOOKED_AT = 20_000
"""The greatest number of states after a counterexample to recoverability that are searched.

The search takes a few seconds at most.
"""


def confirm(system: System, transitions: Iterable[Transition], prop: Property) -> Path:
    """Replay a counterexample, make sure that it violates `prop`, and arrange it for reading.

    A counterexample to recoverability is confirmed by a search of MOST_LOOKED_AT states at most. If
    there are more, `Path.looked_at` has the number.

    Raises:
        NumbersError: it violates `prop` only as long as messages have no numbers.
        ReplayError: it does not violate `prop`, so an engine is wrong.
    """
    transitions, looked_at = tuple(transitions), None
    path = replay(system, transitions)
    if prop.where is Where.FROM_EVERYWHERE_ON:
        state = state_after(system, transitions)  # the path's states have a longer history
        holds = recovers(system, state, prop, MOST_LOOKED_AT)
        looked_at = MOST_LOOKED_AT if holds is None else None
    else:
        holds = holds_along(path, prop)
    if holds:
        if system.oracle.number is not None and prop.of_states:
            raise NumbersError(prop.name)
        raise ReplayError(
            f"the path found for {prop.name} does not violate it in plain Python; this is a bug "
            "of the engine, please report it"
        )
    refuse_merged(path)
    return evolve(arranged(path, prop), violates=prop.name, looked_at=looked_at)


def refuse_merged(path: Path) -> None:
    """Refuse a run that is possible only because the protocol takes two states for equal.

    Raises:
        AdapterError: a step differs if each actor keeps a state of its own.
    """
    unmerged = path.system.protocol.unmerged
    if unmerged is None:
        return
    different = first_difference(path, unmerged.protocol)
    if different is None:
        return
    number, state, other = different
    step = path.steps[number - 1]
    raise AdapterError(
        unmerged.refusal(
            state.actors[step.actor],
            other.actors[step.actor],
            f"they act differently in {transition_key(step.transition)}, which is step {number} of "
            "a run that the search found",
        )
    )


def arranged(path: Path, prop: Property) -> Path:
    """Return a path of the same events that also violates `prop`, in a readable order.

    Engines find different orders of independent events. Here each actor, from the first, acts until
    it must wait for a packet from another actor. So engines that find the same events show the same
    path.
    """
    try:
        rearranged = replay(
            path.system, [path.steps[at].transition for at in _actor_by_actor(path)]
        )
    except ReplayError:
        return path
    if prop.where is Where.FROM_EVERYWHERE_ON:  # recoverability depends on the last state
        return rearranged if rearranged.last == path.last else path
    return path if holds_along(rearranged, prop) else rearranged


def _actor_by_actor(path: Path) -> list[int]:
    """Return the steps' indices, an actor's in order and a reception after its network-send."""
    met = flights_of(path).met
    since = (met[s.number].since if s.number in met else 0 for s in path.steps)
    sources = [number - 1 if number else None for number in since]
    rows: list[deque[int]] = [deque() for _ in range(path.system.actors)]
    for at, step in enumerate(path.steps):
        rows[step.actor].append(at)
    order: list[int] = []
    done: set[int | None] = {None}
    while len(order) < len(path.steps):
        row = next(row for row in rows if row and sources[row[0]] in done)
        while row and sources[row[0]] in done:
            order.append(row[0])
            done.add(row.popleft())
    return order
