"""Verdicts of the properties at the end of a path."""

from __future__ import annotations

from attrs import evolve, frozen

from antecede.checker.model import Property, State, What, When
from antecede.checker.paths.path import Path, first_shown
from antecede.checker.semantics.judge import ENDS
from antecede.checker.semantics.recoverability import recovers
from antecede.checker.semantics.transition import System, enabled, is_final

VIOLATED, SHOWN, FINE, OPEN = "violated", "shown", "fine", "open"
"""The verdicts on a path. `fine` means not violated so far, or never at the end of a run."""

MOST_STATES = 2_000
"""The greatest number of states in a search for a recoverable state."""


@frozen
class Judgement:
    """The verdict of a property on a path.

    Attributes:
        verdict: VIOLATED, SHOWN, FINE or OPEN.
        step: the number of the step that decides it, or None.
    """

    prop: Property
    verdict: str
    text: str
    step: int | None = None


def judged(path: Path, system: System, state: State) -> tuple[Judgement, ...]:
    """Judge `path` by every property. `state` is the end of `path` in the history of `system`."""
    return tuple(_judged(path, prop, system, state) for prop in path.system.properties)


def violated_by(path: Path) -> tuple[str, ...]:
    """Return the properties that the last step of `path` violates, by name."""
    step = evolve(path, initial=path.last, steps=path.steps[-1:])
    judged = (prop for prop in path.system.properties if not prop.sought)
    return tuple(prop.name for prop in judged if first_shown(step, prop) is not None)


def _judged(path: Path, prop: Property, system: System, state: State) -> Judgement:
    if prop.when is When.ALWAYS_POSSIBLE:
        return _recovery(prop, system, state)
    at = first_shown(path, prop)
    verdict = SHOWN if prop.sought else VIOLATED
    if prop.when in ENDS:
        over = is_final(path.system, enabled(path.system, path.last))
        if at is not None:
            return Judgement(prop, verdict, f"{verdict}, and the run is over", at)
        return Judgement(prop, FINE if over and not prop.sought else OPEN, _not_at_end(prop, over))
    if at is not None:
        where = f"at step {at}" if at else "at the start"
        return Judgement(prop, verdict, f"{verdict} {where}", at)
    return Judgement(prop, OPEN if prop.sought else FINE, f"not {verdict} so far")


def _not_at_end(prop: Property, over: bool) -> str:
    if over:
        return (
            "not shown by this run, which is over" if prop.sought else "holds, and the run is over"
        )
    return f"{'not shown so far; ' if prop.sought else ''}judged when the run is over"


def _recovery(prop: Property, system: System, state: State) -> Judgement:
    back = recovers(system, state, prop, MOST_STATES)
    if back is None:
        too_many = f"more than {MOST_STATES:,} states would have to be looked at"
        return Judgement(prop, OPEN, f"not known here: {too_many}")
    able, unable = _REACHED[prop.what]
    if back:
        return Judgement(prop, FINE, f"{able} from here")
    return Judgement(prop, VIOLATED, f"violated: from here {unable} any more")


_REACHED = {
    What.UNDELIVERED: (
        "everything can still be delivered",
        "not everything can be delivered",
    ),
    What.PARTLY_DELIVERED: (
        "the live receivers of every message can still agree",
        "the live receivers of a message cannot agree",
    ),
    What.ENDED: (
        "every application can still come to its end",
        "not every application can come to its end",
    ),
}
"""What a recoverability property judges -> texts for reachable and for unreachable."""
