"""What a search that found nothing wrong has never seen happen: a verdict may rest on nothing."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Any

from antecede.checker.model import Internal, Lose, Property, Receive, Transition
from antecede.checker.search.handled import handled
from antecede.checker.search.result import Result, Verdict
from antecede.checker.semantics.transition import System


def kind_of(transition: Transition) -> str:
    """Return the kind of a transition as engines count it, such as `receive Ack`."""
    if isinstance(transition, Receive | Lose):
        return f"{transition.kind} {type(transition.packet).__name__}"
    if isinstance(transition, Internal):
        return f"{transition.kind} {transition.name}"
    return transition.kind


def never_seen(system: System, result: Result) -> tuple[str, ...]:
    """Return, in words, what never happened where everything was explored."""
    fired: Mapping[str, Any] | None = result.statistics.get("transitions")
    if fired is None or not _exhausted(system, result):
        return ()
    taken = {kind for kind, count in fired.items() if count["total"]}
    happened = {kind.partition(" ")[0] for kind in taken}
    candidates = {
        "causal-send": "nobody causal-sends a message",
        "receive": "no packet is received",
        "timeout": "no timeout runs" if system.protocol.timeout is not None else "",
        "lose": "nothing is lost" if system.network.lose is not None else "",
    }
    found = [said for kind, said in candidates.items() if said and kind not in happened]
    for name in system.protocol.actions:
        if f"{Internal.kind} {name}" not in taken:
            found.append(f"nobody takes the action {name}")
    if "causal-send" in happened:
        found += [f"nobody causal-sends {name}" for name in _unsent(system, result)]
    if "receive" in happened:
        found += _unreceived(system, taken)
    if not result.counts.final_states and system.workload.buffer is None:
        found.append("no run comes to an end")
    return tuple(found)


def _exhausted(system: System, result: Result) -> bool:
    """Return whether everything was explored; a search ends as soon as all witnesses are found."""
    if result.stopped_by is not None or all(prop.sought for prop in system.properties):
        return False
    return result.verdict in (Verdict.HOLDS, Verdict.VACUOUS)


def _unsent(system: System, result: Result) -> list[str]:
    """Return the sends, by name, that waited in every run for what never came."""
    most: Sequence[int] = result.statistics.get("most_sent", ())
    named = system.workload.sends or ()
    return [name for row, sent in zip(named, most, strict=False) for name in row[sent:]]


def _unreceived(system: System, taken: Collection[str]) -> list[str]:
    """Say which packets are never received that the protocol's handler knows."""
    names = [
        known.__name__
        for known in handled(system.protocol.receive)
        if not any(f"receive {each.__name__}" in taken for each in _with_subclasses(known))
    ]
    if system.network.duplicates:  # a reception that changes nothing is no transition there
        return [f"no reception of {name} changes anything" for name in names]
    return [f"no {name} is received" for name in names]


def _with_subclasses(known: type) -> Iterator[type]:
    yield known
    each: type
    for each in known.__subclasses__():
        yield from _with_subclasses(each)


def vacuous(prop: Property, *, states: int, finals: int) -> bool:
    """Return whether a property that nothing violates holds of nothing.

    Args:
        prop: the property, which is not one that a run is to show.
        states: how many states there are; if the initial one is the only one, nothing can happen.
        finals: how many of them are final.
    """
    return states == 1 or (prop.final and not finals)
