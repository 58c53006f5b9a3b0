"""Checks of endless workloads: safety and starvation, on larger and larger parts of the graph.

A message starves in a fair run that never delivers it: an endless run, with or without causal-sends
on its cycle, or a run to a state where nothing can happen any more.

The graph may be infinite because a protocol's own state grows. Then a complete search for safety
violations would never end. So the search pauses after the first few thousand states to search for
fair cycles among them. It then continues to eight times as many states, until a property is
violated, everything is explored, or a bound is hit. A cycle in a part of the graph is real. The
verdict HOLDS needs the whole graph.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

from attrs import evolve

from antecede.checker.liveness.fairness import Lasso, lasso
from antecede.checker.model import CausalSend, Property, When
from antecede.checker.paths.endless import check_cycle
from antecede.checker.paths.path import Loop, Path, replay
from antecede.checker.purity.commutes import FormCheck
from antecede.checker.search.graph import Explored
from antecede.checker.search.never_seen import judged
from antecede.checker.search.options import Bounds, Options
from antecede.checker.search.result import Result, Verdict, overall
from antecede.checker.semantics.transition import System, enabled
from antecede.checker.support.errors import CapacityError, InputError, ReplayError

FIRST = {"plain": 8_000, "local": 32_000}
"""Engine -> the number of states of the first part. The tables ignore a part's last level."""

FACTOR = 8
"""The factor between the sizes of successive parts."""

FAIRNESS = {
    False: "a packet that can always be received is received",
    True: "a packet that can be received again and again is received",
}
"""Whether the network loses packets -> the assumption on it; see docs/liveness.md."""

Tick = Callable[[], None]
"""Called now and then; it may raise CapacityError."""


def refuse(options: Options) -> None:
    """Check that no option conflicts with an endless workload.

    Raises:
        InputError: an option does; names it and the alternative.
    """
    if options.search != "breadth":
        raise InputError(
            f"endless workloads are searched breadth-first, not {options.search}-first"
        )
    if options.engine == "spark":
        raise InputError(
            "endless workloads are explored on one machine, not on Spark; leave out --engine"
        )


def method(system: System, options: Options) -> Options:
    """Return the options for the exploration of a system with an endless workload.

    The compiled engines support neither normal forms nor limits on several actors' states.
    """
    whole = system.limits or system.normal is not None or system.workload.splits
    if options.engine == "plain" or whole:
        return evolve(options, engine="plain")
    return evolve(options, symmetry=False)


def explored(
    system: System,
    bounds: Bounds,
    explore: Callable[[Bounds], Result],
    graph: Callable[[Tick], Explored],
    tick: Tick,
    first: int,
) -> Result:
    """Explore a system with an endless workload, and search for starvation if it is a property.

    If states are in normal form, HOLDS has the condition that the form is sound.

    Args:
        system: the system; its history is `marked`.
        bounds: the bounds of the search.
        explore: continues the search for violations of safety, up to some bounds.
        graph: returns the part of the graph that is explored so far.
        tick: called by the search for cycles.
        first: the states of the first part.
    """
    if system.normal is None:
        return _explored(system, bounds, explore, graph, tick, first)
    forms = FormCheck(system)
    forms.walk()
    result = _explored(system, bounds, explore, graph, tick, first)
    if not _rests_on_forms(result):
        return result
    try:
        forms.cover(result.counts.unique_states, tick)
    except CapacityError as limit:
        if result.counterexample is None:
            return _undecided(result, str(limit))
    compared = {**result.statistics, "compared_with_forms": forms.compared}
    condition = f"the normal form of {system.protocol.name} is sound"
    return evolve(result, conditions=(condition,), statistics=compared)


def _rests_on_forms(result: Result) -> bool:
    """Return whether a verdict depends on the soundness of normal forms."""
    path = result.counterexample
    if path is None:
        return result.verdict in (Verdict.HOLDS, Verdict.VACUOUS)
    return path.loop is not None and bool(enabled(path.system, path.last))


def _undecided(result: Result, reason: str) -> Result:
    """Return an undecided result, because a normal form could not be checked."""
    verdicts = dict.fromkeys(result.properties, Verdict.INCOMPLETE)
    return evolve(
        result, verdict=Verdict.INCOMPLETE, properties=verdicts, stopped_by=reason, conditions=()
    )


def _explored(
    system: System,
    bounds: Bounds,
    explore: Callable[[Bounds], Result],
    graph: Callable[[Tick], Explored],
    tick: Tick,
    first: int,
) -> Result:
    """Explore as `explored`, but without the conditions on normal forms."""
    prop = next((p for p in system.properties if p.when is When.EVENTUALLY_IF_FAIR), None)
    if prop is None:
        return explore(bounds)
    began, most = time.monotonic(), first
    while True:
        part = evolve(bounds, max_states=_least(most, bounds.max_states))
        result = evolve(explore(part), seconds=time.monotonic() - began)
        cut = result.stopped_by == f"--max-states {part.max_states:,} reached"
        if result.counterexample or result.error:
            return result
        if result.stopped_by and not (cut or result.grown):
            return result
        try:
            known = graph(tick)
            result = evolve(result, statistics={**result.statistics, **figures_of(known)})
            starving = lasso(system, known, tick)
        except CapacityError as limit:
            return evolve(result, stopped_by=str(limit))
        result = evolve(result, seconds=time.monotonic() - began)
        if starving is not None:
            return _starved(system, prop, result, starving)
        if not cut and result.grown:
            return result
        if not cut:
            return _with(result, prop, judged(prop, result.counts, result.statistics))
        if part.max_states == bounds.max_states:
            return result
        most *= FACTOR


DELIVERED_AGAIN = (
    "an actor delivers a copy of a message that it has delivered before, so no-starvation is not "
    "decided; repair what violates integrity first"
)
"""Why a run of messages without numbers may be no run of the system."""


def figures_of(graph: Explored) -> dict[str, Any]:
    """Return statistics with the size of the graph of the search for cycles."""
    rows = graph.rows
    return {"cycles": {"states": len(rows), "edges": int(rows.first[len(rows)])}}


def _least(most: int, asked: int | None) -> int:
    return most if asked is None else min(most, asked)


def _with(result: Result, prop: Property, verdict: Verdict) -> Result:
    verdicts = {**result.properties, prop.name: verdict}
    return evolve(result, properties=verdicts, verdict=overall(verdicts))


def _starved(system: System, prop: Property, result: Result, found: Lasso) -> Result:
    try:
        path = confirmed(system, found, prop)
    except ReplayError:
        if not system.network.duplicates or system.network.merges:
            raise
        # There an old copy of a delivered message stands for any later message without a number.
        return _undecided(result, DELIVERED_AGAIN)
    return evolve(_with(result, prop, Verdict.VIOLATED), counterexample=path, stopped_by=None)


def confirmed(system: System, found: Lasso, prop: Property) -> Path:
    """Replay a lasso in plain Python, with its cycle twice, and number its messages.

    Raises:
        ReplayError: the state does not repeat, or the cycle is unfair; then the search is wrong.
    """
    check_cycle(system, found.stem, found.cycle)
    path = replay(system, found.stem + found.cycle)
    marked = [isinstance(t, CausalSend) and t.marked for t in found.stem]
    if True not in marked:
        raise ReplayError("no message is followed before the cycle")
    message = path.steps[marked.index(True)].message
    assert message is not None
    return evolve(path, violates=prop.name, loop=Loop(len(found.stem), message, found.ending))
