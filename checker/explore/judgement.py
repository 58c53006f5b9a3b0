"""What the properties say at the end of a path."""

from __future__ import annotations

from attrs import frozen

from antecede.checker.errors import CapacityError
from antecede.checker.model import Property, State
from antecede.checker.paths.path import Path, PathStep, at_end
from antecede.checker.semantics.recoverability import recovers
from antecede.checker.semantics.transition import System, enabled

VIOLATED, SHOWN, FINE, OPEN = "violated", "shown", "fine", "open"
"""The verdicts on a path: `fine` means so far, or (at the end of a run) for good."""

MOST_STATES = 2_000
"""How many states may be looked at to answer whether there is a way back."""


@frozen
class Judgement:
    """What a property says.

    Attributes:
        prop: the property.
        verdict: one of the words above.
        text: the verdict in words.
        step: where it was decided: the number of a step, or None.
    """

    prop: Property
    verdict: str
    text: str
    step: int | None = None


def judged(path: Path, system: System, state: State) -> tuple[Judgement, ...]:
    """Judge `path` by every property.

    Args:
        path: what is judged.
        system: explored where a property asks what can still happen.
        state: the end of `path` in the history of `system`.
    """
    return tuple(_judged(path, prop, system, state) for prop in path.system.properties)


def violated_by(path: Path) -> tuple[str, ...]:
    """Return the properties that the last step of `path` violates, by name."""
    return tuple(p.name for p in path.system.properties if _wrong(path, p, path.length))


def _wrong(path: Path, prop: Property, number: int) -> bool:
    """Return whether `path` violates `prop` after `number` steps, or in the step to there."""
    step = path.steps[number - 1] if number else None
    state = path.initial if step is None else step.state
    if prop.at_delivery is not None:
        return step is not None and not all(map(prop.at_delivery, step.deliveries))
    if prop.invariant is not None:
        return not all(map(prop.invariant, state.actors))
    if prop.final:
        return not enabled(path.system, state) and at_end(path.system, prop, state)
    return False


def _judged(path: Path, prop: Property, system: System, state: State) -> Judgement:
    if prop.recoverable is not None:
        return _recovery(prop, system, state)
    if prop.witness is not None:
        return _witness(path, prop)
    if prop.final:
        return _at_the_end(path, prop)
    if prop.ending is not None:
        return _ending(path, prop)
    at = next((n for n in range(path.length + 1) if _wrong(path, prop, n)), None)
    if at is None:
        return Judgement(prop, FINE, "not violated so far")
    return Judgement(prop, VIOLATED, f"violated {_where(at)}", at)


def _where(number: int) -> str:
    return f"at step {number}" if number else "at the start"


def _at_the_end(path: Path, prop: Property) -> Judgement:
    if enabled(path.system, path.last):
        return Judgement(prop, OPEN, "judged when the run is over")
    if _wrong(path, prop, path.length):
        return Judgement(prop, VIOLATED, "violated, for the run is over", path.length)
    return Judgement(prop, FINE, "holds, and the run is over")


def _ending(path: Path, prop: Property) -> Judgement:
    if enabled(path.system, path.last):
        return Judgement(prop, OPEN, "not shown so far; judged when the run is over")
    if at_end(path.system, prop, path.last):
        return Judgement(prop, SHOWN, "shown, and the run is over", path.length)
    return Judgement(prop, OPEN, "not shown by this run, which is over")


def _witness(path: Path, prop: Property) -> Judgement:
    assert prop.witness is not None
    states = (path.initial, *map(_state, path.steps))
    at = next((n for n, state in enumerate(states) if any(map(prop.witness, state.actors))), None)
    if at is None:
        return Judgement(prop, OPEN, "not shown so far")
    return Judgement(prop, SHOWN, f"shown {_where(at)}", at)


def _state(step: PathStep) -> State:
    return step.state


def _recovery(prop: Property, system: System, state: State) -> Judgement:
    def tick(states: int) -> None:
        if states > MOST_STATES:
            raise CapacityError(f"more than {MOST_STATES:,} states")

    try:
        back = recovers(system, state, prop, tick)
    except CapacityError as limit:
        return Judgement(prop, OPEN, f"not known here: {limit} would have to be looked at")
    if back:
        return Judgement(prop, FINE, "everything can still be delivered from here")
    return Judgement(prop, VIOLATED, "violated: from here not everything can be delivered any more")
