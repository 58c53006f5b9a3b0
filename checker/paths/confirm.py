"""Confirmation of counterexamples: replay, a second judgement, and a readable order of events.

Question: Where is a counterexample replayed before it is reported? `confirm`.
"""

from __future__ import annotations

import random
from collections import deque
from collections.abc import Iterable

from attrs import evolve

from antecede.checker.model import Lose, Property, Receive, State, Transition, Unmerged, When
from antecede.checker.paths.flights import flights_of
from antecede.checker.paths.path import (
    Path,
    first_difference,
    holds_along,
    replay,
    replay_keys,
    transition_key,
)
from antecede.checker.semantics.judge import ENDS, as_wanted
from antecede.checker.semantics.recoverability import recovers
from antecede.checker.semantics.transition import System, crashes, enabled, state_after, successor
from antecede.checker.support import interrupts
from antecede.checker.support.errors import AdapterError, NumbersError, ProtocolError, ReplayError

MOST_LOOKED_AT = 20_000
"""The greatest number of states after a counterexample to recoverability that are searched.

The search takes a few seconds at most.
"""

GOES_ON, SEARCHED_AFTER = 300, 300
"""The random transitions of unmerged objects after a run's end, and the states searched there."""


def confirm(system: System, transitions: Iterable[Transition], prop: Property) -> Path:
    """Replay a counterexample, make sure that it violates `prop`, and arrange it for reading.

    A counterexample to recoverability is confirmed by a search of MOST_LOOKED_AT states at most. If
    there are more, `Path.looked_at` has the number. `Path.compared` says whether there was time to
    replay it without merged states.

    Raises:
        NumbersError: it violates `prop` only as long as messages have no numbers.
        ReplayError: it does not violate `prop`, so an engine is wrong.
    """
    transitions, looked_at = tuple(transitions), None
    path = replay(system, transitions)
    if prop.when is When.ALWAYS_POSSIBLE:
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
    compared = _compared_in_time(path, prop)
    readable = arranged(path, prop)
    return evolve(readable, violates=prop.name, looked_at=looked_at, compared=compared)


def _compared_in_time(path: Path, prop: Property) -> bool:
    """Do `refuse_merged`; return False if the check is ended before. Its violation is kept."""
    try:
        refuse_merged(path, prop)
    except KeyboardInterrupt as end:
        interrupts.reason_of(end)
        return False
    return True


def refuse_merged(path: Path, prop: Property | None = None) -> None:
    """Refuse a run that is possible only because the protocol takes two states for equal.

    Args:
        path: the run.
        prop: the property that it violates; None if a handler fails at its end.

    Raises:
        AdapterError: a step differs if each actor keeps a state of its own, or the run goes on
            where `prop` takes its end for the end of everything.
    """
    unmerged = path.system.protocol.unmerged
    if unmerged is None:
        return
    different = first_difference(path, unmerged.protocol)
    if different is not None:
        number, state, other = different
        step = path.steps[number - 1]
        raise AdapterError(
            unmerged.refusal(
                state.actors[step.actor],
                other.actors[step.actor],
                f"they act differently in {transition_key(step.transition)}, which is step "
                f"{number} of a run that the search found",
            )
        )
    if prop is not None and prop.when in (*ENDS, When.ALWAYS_POSSIBLE):
        _refuse_if_it_goes_on(path, unmerged, prop)


def _refuse_if_it_goes_on(path: Path, unmerged: Unmerged, prop: Property) -> None:
    """Refuse a run after whose end real objects do what `prop` takes for impossible there.

    Raises:
        AdapterError: they do.
    """
    system = evolve(path.system, protocol=unmerged.protocol)
    end = replay_keys(system, map(transition_key, path.transitions)).last
    found = _late_action(system, end, prop)
    if found is not None:
        actor, state = found
        raise AdapterError(
            unmerged.refusal(
                path.last.actors[actor],
                state.actors[actor],
                f"a run that the search found seems to violate {prop.name}, but it goes on with "
                "objects that are not merged",
            )
        )


def _late_action(system: System, end: State, prop: Property) -> tuple[int, State] | None:
    """Return what shows that objects still act after an end, or None if nothing is found.

    At a final state, it is a call that sends or delivers. For recoverability, it is a state that
    satisfies `prop`. A counter that no key contains may decide only after many calls, so the
    objects go on at random for a while.

    Returns:
        An actor, and the state before it acts.
    """
    recoverable = prop.when is When.ALWAYS_POSSIBLE
    if recoverable and recovers(system, end, prop, SEARCHED_AFTER):
        return 0, end
    chance, state = random.Random(0), end
    for _ in range(GOES_ON):
        try:
            transitions = [t for t in enabled(system, state) if not crashes(system, t)]
            if not transitions:
                return None
            transition = chance.choice(transitions)
            outcome = successor(system, state, transition)
        except ProtocolError:
            return None  # a handler fails
        actor = transition.dst if isinstance(transition, Receive | Lose) else transition.actor
        acts = outcome.step.sends or outcome.step.deliveries
        if as_wanted(system, prop, outcome.state) if recoverable else acts:
            return actor, state
        state = outcome.state
    return None


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
    if prop.when is When.ALWAYS_POSSIBLE:  # recoverability depends on the last state
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
