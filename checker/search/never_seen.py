"""Coverage of a complete search: events that never happened, so that a verdict may be vacuous."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Any

from antecede.checker.model import Internal, Lose, Property, Receive, Transition, What
from antecede.checker.search.packet_classes import handled
from antecede.checker.search.result import Counts, Result, Verdict
from antecede.checker.semantics.crashes import CRASH, is_crash
from antecede.checker.semantics.transition import EndlessSystem, System
from antecede.checker.semantics.values import packet_class


def kind_of(transition: Transition) -> str:
    """Return the kind of a transition as engines count it, such as `receive Ack`.

    A step with a crash in its middle counts as a crash.
    """
    if is_crash(transition):
        return f"{Internal.kind} {CRASH}"
    if isinstance(transition, Receive | Lose):
        return f"{transition.kind} {packet_class(transition.packet)}"
    if isinstance(transition, Internal):
        return f"{transition.kind} {transition.name}"
    return transition.kind


def never_seen(system: System, result: Result) -> tuple[str, ...]:
    """Return the events that never happened in a complete search, in words."""
    fired: Mapping[str, Any] | None = result.statistics.get("transitions")
    if fired is None or not _exhausted(system, result):
        return ()
    taken = {kind for kind, count in fired.items() if count["total"]}
    happened = {kind.partition(" ")[0] for kind in taken}
    candidates = {
        "causal-send": "no actor sends a message",
        "receive": "no packet is received",
        "timeout": "no timeout runs" if system.protocol.timeout is not None else "",
        "lose": "nothing is lost" if system.network.lose is not None else "",
    }
    sentences = [said for kind, said in candidates.items() if said and kind not in happened]
    for name in system.protocol.actions:
        if f"{Internal.kind} {name}" not in taken:
            sentences.append(f"no actor takes the action {name}")
    if "causal-send" in happened:
        sentences += [f"no actor sends {name}" for name in unsent(system, result)]
        if not _delivers(result.statistics):
            sentences.append("nothing is delivered")
    if "receive" in happened:
        sentences += _unreceived(system, taken)
    if not result.counts.final_states and not isinstance(system, EndlessSystem):
        sentences.append("no run comes to an end")
    return tuple(sentences)


def _exhausted(system: System, result: Result) -> bool:
    """Return whether everything was explored; a search ends as soon as all witnesses are found."""
    if result.stopped_by is not None or all(prop.sought for prop in system.properties):
        return False
    return result.verdict in (Verdict.HOLDS, Verdict.VACUOUS)


def unsent(system: System, result: Result) -> list[str]:
    """Return the names of sends that wait in every run for a message that never arrives."""
    most: Sequence[int] = result.statistics.get("most_sent", ())
    named = system.workload.sends or ()
    return [name for row, sent in zip(named, most, strict=False) for name in row[sent:]]


def _unreceived(system: System, taken: Collection[str]) -> list[str]:
    """Return sentences on packet classes that the handler names and no run receives."""
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


def why_vacuous(prop: Property, counts: Counts, statistics: Mapping[str, Any]) -> str | None:
    """Return the reason why an unviolated property is vacuous, in words, or None.

    Every engine counts the statistics used here, so all engines give the same verdict.

    Args:
        prop: the property, which is not a witness.
        counts: the counts of a complete search. One state means that nothing can happen.
        statistics: the statistics of this search.
    """
    if counts.unique_states == 1:
        return "nothing can happen"
    if prop.final and not counts.final_states:
        return "no final state can be reached"
    of_messages = prop.what in (What.UNDELIVERED, What.PARTLY_DELIVERED)
    if of_messages and not _causal_sends(statistics):
        return "no actor sends a message"
    if prop.what is What.PARTLY_DELIVERED and statistics.get("most_receivers", 2) < 2:
        return "no message has two receivers"
    if prop.what in (What.DELIVERY, What.SEQUENCES) and not _delivers(statistics):
        return "nothing is delivered"
    return None


def judged(prop: Property, counts: Counts, statistics: Mapping[str, Any]) -> Verdict:
    """Return the verdict on a property that no run violates: HOLDS or VACUOUS."""
    return Verdict.VACUOUS if why_vacuous(prop, counts, statistics) else Verdict.HOLDS


def _causal_sends(statistics: Mapping[str, Any]) -> bool:
    """Return whether some message is causal-sent; True if the engine does not count it."""
    fired = statistics.get("transitions", {"causal-send": {"total": 1}})
    return bool(fired.get("causal-send", {}).get("total"))


def _delivers(statistics: Mapping[str, Any]) -> bool:
    """Return whether some message is delivered; True if the engine does not count it."""
    return bool(statistics.get("delivers", True))
