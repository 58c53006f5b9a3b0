"""Properties built from a protocol's declarations about one actor's state, or about all states.

A witness is a reachability property: some reachable state satisfies it, so that a spec is not
vacuous. An invariant is a safety property: every reachable state satisfies it. A final invariant
is true in every final state, in which nothing more can happen.
"""

from __future__ import annotations

from antecede import Predicate, Property, What, When

_ONE, _ALL = What.LOCAL_STATE, What.GLOBAL_STATE

SUMMARIES = {
    ("witness", _ONE): "reachability: some reachable state shows {}",
    ("witness", _ALL): "reachability: in some reachable state all actors together show {}",
    ("invariant", _ONE): "safety: every reachable state respects {}",
    ("invariant", _ALL): "safety: in every reachable state all actors together respect {}",
    ("final", _ONE): "at final states: every actor's state respects {}",
    ("final", _ALL): "at final states: all actors together respect {}",
}
"""(kind, what the predicate takes) -> the summary of a property of this name."""

WHEN = {
    "witness": When.SOMETIMES,
    "invariant": When.ALWAYS,
    "final": When.AT_FINAL_STATES,
}


def declared(kind: str, name: str, predicate: Predicate, *, joint: bool) -> Property:
    """Return the property that a predicate of a protocol declares.

    Args:
        kind: witness, invariant or final.
        name: the name in the protocol.
        predicate: takes one actor's state, or the states of all actors if it is `joint`.
        joint: whether it is about all actors together.
    """
    what = _ALL if joint else _ONE
    return Property(
        name=f"{kind}:{name}",
        summary=SUMMARIES[kind, what].format(name),
        what=what,
        when=WHEN[kind],
        predicate=predicate,
    )
