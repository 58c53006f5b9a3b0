"""The reference for classes of computations: every definition, by all linear orders.

It imports nothing of the checker. A computation is, per actor, a sequence of pairs (message,
whether it is delivered). A linear order is a list of triples (message, whether it is delivered,
actor).
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any


def linear_orders(computation: Any) -> Iterator[list[Any]]:
    """Yield every order of all events that respects the actors, and sends before deliveries."""
    if not any(computation):
        yield []
    unsent = {message for own in computation for message, delivers in own if not delivers}
    for actor, own in enumerate(computation):
        if own and not (own[0][1] and own[0][0] in unsent):
            rest = [other[1:] if i == actor else other for i, other in enumerate(computation)]
            for order in linear_orders(rest):
                yield [(*own[0], actor), *order]


def pairs(order: list[Any]) -> Iterator[tuple[bool, bool, bool]]:
    """Yield per two messages, the first one sent first: same sender, same receiver, order kept."""
    sent = {event[0]: (place, event[2]) for place, event in enumerate(order) if not event[1]}
    got = {event[0]: (place, event[2]) for place, event in enumerate(order) if event[1]}
    for m in sent:
        for k in sent:
            if sent[m][0] < sent[k][0]:
                kept = got[m][0] < got[k][0]
                yield sent[m][1] == sent[k][1], got[m][1] == got[k][1], kept


def classes(computation: Any) -> set[str]:
    """Return the names of the classes that a computation is in."""
    orders = list(linear_orders(computation))
    if not orders:
        return set()
    found = {"asynchronous"}
    judged = [list(pairs(order)) for order in orders]
    if all(kept for s, r, kept in judged[0] if s and r):
        found.add("fifo")
    if any(all(kept for _, r, kept in each if r) for each in judged):
        found.add("mailbox")
    if any(all(kept for s, _, kept in each if s) for each in judged):
        found.add("1-n")
    if any(all(kept for _, _, kept in each) for each in judged):
        found.add("n-n")
    if any(all(a[0] == b[0] for a, b in zip(o[::2], o[1::2], strict=True)) for o in orders):
        found.add("synchronous")
    if is_causal(orders):
        found.add("causal")
    return found


def is_causal(orders: list[list[Any]]) -> bool:
    """Return whether messages to one actor are delivered as their sends happened.

    An event happens before another one if it comes first in every linear order.
    """
    sends = [event for event in orders[0] if not event[1]]
    receiver = {event[0]: event[2] for event in orders[0] if event[1]}
    for m in sends:
        for k in sends:
            if m == k or receiver[m[0]] != receiver[k[0]]:
                continue
            if all(order.index(m) < order.index(k) for order in orders):
                delivered = [e[0] for e in orders[0] if e[1] and e[0] in (m[0], k[0])]
                if delivered != [m[0], k[0]]:
                    return False
    return True
