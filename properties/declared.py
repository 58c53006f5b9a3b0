"""Properties built from a protocol's declarations about one actor's state, or about all states.

A witness is a reachability property: some reachable state satisfies it, so that a spec is not
vacuous. An invariant is a safety property: every reachable state satisfies it.
"""

from __future__ import annotations

from antecede import Predicate, Property, What, Where


def witness(name: str, predicate: Predicate) -> Property:
    """Return the property that some actor's state satisfies `predicate`, in some run."""
    return Property(
        name=f"witness:{name}",
        summary=f"reachability: some reachable state shows {name}",
        what=What.STATE,
        where=Where.SOMEWHERE,
        predicate=predicate,
    )


def invariant(name: str, predicate: Predicate) -> Property:
    """Return the property that every actor's state always satisfies `predicate`."""
    return Property(
        name=f"invariant:{name}",
        summary=f"safety: every reachable state respects {name}",
        what=What.STATE,
        where=Where.EVERYWHERE,
        predicate=predicate,
    )


def joint_witness(name: str, predicate: Predicate) -> Property:
    """Return the property that the states of all actors satisfy `predicate` in some run."""
    return Property(
        name=f"witness:{name}",
        summary=f"reachability: in some reachable state all actors together show {name}",
        what=What.STATES,
        where=Where.SOMEWHERE,
        predicate=predicate,
    )


def joint_invariant(name: str, predicate: Predicate) -> Property:
    """Return the property that the states of all actors always satisfy `predicate`."""
    return Property(
        name=f"invariant:{name}",
        summary=f"safety: in every reachable state all actors together respect {name}",
        what=What.STATES,
        where=Where.EVERYWHERE,
        predicate=predicate,
    )
