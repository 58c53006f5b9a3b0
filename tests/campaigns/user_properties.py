"""Properties as users define them, of every kind; most predicates name an actor or a message.

A predicate that names an actor tells states apart that differ only by a renaming of the actors. So
a search must not merge these states, or must notice that the predicate judges them differently.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, TypeAlias

from antecede import properties as package
from antecede.checker.model import Delivery, Message, Property, What, When
from antecede.properties.same_order import agree_in_pairs
from antecede.properties.total_order import fit_into_one_order
from tests.questions import HIDING

Predicate: TypeAlias = Callable[[Any], bool]


def _who(cell: Any) -> int:
    """Return the actor of a machine's state, or of a table's."""
    actor: int = cell.me if hasattr(cell, "me") else cell.actor
    return actor


def _held(cell: Any) -> list[Message]:
    """Return the messages that a machine or a table holds."""
    return [entry if isinstance(entry, Message) else entry[1] for entry in cell.held]


def _dispatched(delivery: Delivery) -> bool:
    """Ask for the class of the delivery first."""
    match delivery:
        case Delivery(actor=0):
            return False
    return True


def _catching(delivery: Delivery) -> bool:
    """Ignore whatever goes wrong."""
    try:
        return delivery.actor != 1
    except Exception:
        return True


def _all(predicate: Callable[[Message], bool]) -> Callable[[Iterable[Message]], bool]:
    return lambda messages: all(map(predicate, messages))


ASKED: Mapping[str, Predicate] = {
    "not-at-1": lambda d: d.actor != 1,
    "first": lambda d: d.message.number == 1,
    "in-order": lambda d: not d.fifo_late,
    "expected": lambda d: d.expected,
}
"""Predicates on deliveries that some properties hide; see `tests.questions`."""

CONSTANTS = tuple(
    Delivery(to, Message(sender, 1, (to,)), expected=True, causally_late=known, fifo_late=False)
    for sender, to in ((0, 1), (1, 0))
    for known in (False, True)
)

PREDICATES: Mapping[What, Mapping[str, Predicate]] = {
    What.DELIVERY: {
        **{
            f"{name}-{way}": hide(ask, True)
            for name, ask in ASKED.items()
            for way, hide in HIDING.items()
        },
        "constants": lambda d: d not in CONSTANTS,
        "set-of-constants": frozenset(CONSTANTS).__contains__,
        "not-at-0": lambda d: d.actor != 0,
        "not-of-1": lambda d: d.message.sender != 1,
        "first": lambda d: d.message.number == 1,
        "not-to-0": lambda d: 0 not in d.message.destinations,
        "1-in-order": lambda d: not d.fifo_late or d.actor != 1,
        "0-expected": lambda d: d.expected or d.message.sender != 0,
        "right": lambda d: d.expected and not d.fifo_late,
        "dispatched": _dispatched,
        "catching": _catching,
    },
    What.LOCAL_STATE: {
        "0-holds-nothing": lambda cell: _who(cell) != 0 or not cell.held,
        "1-holds-few": lambda cell: _who(cell) != 1 or len(cell.held) < 2,
        "none-of-0": lambda cell: all(m.sender != 0 for m in _held(cell)),
        "no-second": lambda cell: all(m.number != 2 for m in _held(cell)),
        "holds-few": lambda cell: len(cell.held) < 2,
    },
    What.GLOBAL_STATE: {
        "0-before-1": lambda cells: len(cells) < 2 or bool(cells[0].held) or not cells[1].held,
        "not-both-ends": lambda cells: not (cells and cells[0].held and cells[-1].held),
        "one-at-most": lambda cells: sum(bool(cell.held) for cell in cells) < 2,
    },
    What.SEQUENCES: {
        "same-order": agree_in_pairs,
        "total-order": fit_into_one_order,
        "0-gets-own-last": lambda rows: all(
            [m.sender for m in row] == sorted(m.sender for m in row) for row in rows[:1]
        ),
        "1-before-0": lambda rows: len(rows) < 2 or len(rows[0]) <= len(rows[1]),
        "few": lambda rows: sum(map(len, rows)) < 2,
        "one-missing": lambda rows: len(rows) == 2,
    },
    What.UNDELIVERED: {
        "none-of-0": _all(lambda m: m.sender != 0),
        "none-of-1-to-0": _all(lambda m: (m.sender, m.destinations) != (1, (0,))),
        "none-to-1": _all(lambda m: 1 not in m.destinations),
        "no-second": _all(lambda m: m.number != 2),
        "no-second-of-1": _all(lambda m: (m.sender, m.number) != (1, 2)),
        "one-at-most": lambda messages: len(messages) < 2,
    },
    What.PARTLY_DELIVERED: {
        "none": lambda messages: not messages,
        "none-of-0": _all(lambda m: m.sender != 0),
        "not-to-1": _all(lambda m: 1 not in m.destinations),
        "one-at-most": lambda messages: len(messages) < 2,
    },
    What.ENDED: {"ended": lambda ended: ended},
}


def _opposite(predicate: Predicate) -> Predicate:
    return lambda thing: not predicate(thing)


PLACES = {
    What.DELIVERY: (When.ALWAYS, When.SOMETIMES),
    What.LOCAL_STATE: tuple(When)[:4],
    What.GLOBAL_STATE: tuple(When)[:4],
    What.SEQUENCES: tuple(When)[:4],
    What.UNDELIVERED: tuple(When)[2:5],
    What.PARTLY_DELIVERED: tuple(When)[2:5],
    What.ENDED: tuple(When)[2:5],
}
"""The places where a property with a predicate on this subject can be judged."""


def _each_when(what: What, name: str, predicate: Predicate) -> Iterator[Property]:
    """Yield a property for each time at which the predicate can be judged."""
    for when in PLACES[what]:
        place = when.name.lower().replace("_", "-")
        summary = f"{what.value} {when.value}: {name}"
        yield Property(f"{name}-{what.name.lower()}-{place}", summary, what, when, predicate)


USER = {
    prop.name: prop
    for what, predicates in PREDICATES.items()
    for name, predicate in predicates.items()
    for prop in (
        *_each_when(what, name, predicate),
        *_each_when(what, f"opposite-of-{name}", _opposite(predicate)),
    )
}
"""The properties by name: each predicate and its opposite, in every place."""

REGISTRY = {**package.REGISTRY, **{name: f"{__name__}:{name}" for name in USER}}
"""The registry of properties, with these ones; put it in the place of the other."""


def __getattr__(name: str) -> Property:
    """Return a property, as the registry names it."""
    try:
        return USER[name]
    except KeyError:
        raise AttributeError(name) from None
