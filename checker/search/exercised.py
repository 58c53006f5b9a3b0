"""What a search that found nothing wrong has never seen happen: a verdict may rest on nothing."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from antecede.checker.model import Lose, Property, Receive, Transition
from antecede.checker.search.result import Result, Verdict
from antecede.checker.semantics.transition import System


def kind_of(transition: Transition) -> str:
    """Return the kind of a transition as engines count it, such as `receive Ack`."""
    if isinstance(transition, Receive | Lose):
        return f"{transition.kind} {type(transition.packet).__name__}"
    return transition.kind


def never_seen(system: System, result: Result) -> tuple[str, ...]:
    """Return, in words, what never happened in a search that ended with an answer."""
    fired: Mapping[str, Any] | None = result.statistics.get("transitions")
    if fired is None or result.verdict not in (Verdict.HOLDS, Verdict.VACUOUS):
        return ()
    happened = {kind.partition(" ")[0] for kind, count in fired.items() if count["total"]}
    candidates = {
        "causal-send": "nobody causal-sends a message",
        "receive": "no packet is received",
        "timeout": "no timeout runs" if system.protocol.timeout is not None else "",
        "lose": "nothing is lost" if system.network.lose is not None else "",
    }
    found = [said for kind, said in candidates.items() if said and kind not in happened]
    if not result.counts.final_states and system.workload.buffer is None:
        found.append("no run comes to an end")
    return tuple(found)


def vacuous(prop: Property, *, states: int, finals: int) -> bool:
    """Return whether a property that nothing violates holds of nothing.

    Args:
        prop: it is not sought.
        states: how many there are; if the initial one is the only one, nothing can happen.
        finals: how many of them are final.
    """
    return states == 1 or (prop.final and not finals)
