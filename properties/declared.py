"""Properties built from a protocol's declarations about one actor's state, or about all states.

A witness is a reachability property: some reachable state satisfies it, so that a spec is not
vacuous. An invariant is a safety property: every reachable state satisfies it. A predicate at rest
is true in every final state, in which nothing more can happen.
"""

from __future__ import annotations

from antecede import Predicate, Property, What, Where

SUMMARIES = {
    ("witness", What.STATE): "reachability: some reachable state shows {}",
    ("witness", What.STATES): "reachability: in some reachable state all actors together show {}",
    ("invariant", What.STATE): "safety: every reachable state respects {}",
    ("invariant", What.STATES): "safety: in every reachable state all actors together respect {}",
    ("at-rest", What.STATE): "at final states: every actor's state respects {}",
    ("at-rest", What.STATES): "at final states: all actors together respect {}",
}
"""(kind, what the predicate takes) -> the summary of a property of this name."""


WHERE = {
    "witness": Where.SOMEWHERE,
    "invariant": Where.EVERYWHERE,
    "at-rest": Where.AT_FINAL_STATES,
}


def declared(kind: str, name: str, predicate: Predicate, *, joint: bool) -> Property:
    """Return the property that a predicate of a protocol declares.

    Args:
        kind: witness, invariant or at-rest.
        name: the name in the protocol.
        predicate: takes one actor's state, or the states of all actors if it is `joint`.
        joint: whether it is about all actors together.
    """
    what = What.STATES if joint else What.STATE
    return Property(
        name=f"{kind}:{name}",
        summary=SUMMARIES[kind, what].format(name),
        what=what,
        where=WHERE[kind],
        predicate=predicate,
    )
