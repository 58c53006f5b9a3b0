"""The arrays of the compiled audit: created small, and lengthened when a log needs it."""

from __future__ import annotations

import functools
import threading
from collections.abc import Callable
from typing import Any, ParamSpec, TypeVar

import numpy as np

from antecede.checker.audit import kernels as k
from antecede.checker.audit.capacity import check_room

Array = np.ndarray[Any, Any]

OUT = 1 << 18
"""The number of events in `out` at which they are moved to the record."""

LARGE = 1 << 27
"""The size in bytes from which an array is lengthened only if the memory has room for it."""

STEP = 1 << 22
"""Slots of a table that one call of a kernel moves. Signals wait until the call returns."""


Given = ParamSpec("Given")
Result = TypeVar("Result")
_growth = threading.Lock()


def _alone(grow: Callable[Given, Result]) -> Callable[Given, Result]:
    """Let one thread at a time lengthen arrays, so that two do not count on the same memory."""

    @functools.wraps(grow)
    def grow_alone(*args: Given.args, **kwargs: Given.kwargs) -> Result:
        with _growth:
            return grow(*args, **kwargs)

    return grow_alone


# The parser's arrays


def no_names(messages: int) -> k.Names:
    """Return the parser's arrays before the first line, with room for a batch of `messages`."""
    arrays: dict[str, Array] = dict.fromkeys(k.Names._fields, np.zeros(0, np.int64))
    arrays["counter"] = np.zeros(k.COUNTERS, np.int64)
    for name, slots in (("actor", 64), ("message", 1 << 12), ("set", 64)):
        arrays[f"{name}_keys"] = _keys(slots)
    arrays |= _sized(arrays, ("starts", "marks"), 32, np.int64)
    arrays |= _sized(arrays, ("arena",), 1 << 10, np.uint8)
    arrays |= _sized(arrays, ("names",), 1 << 16, np.uint8)
    arrays |= _sized(arrays, ("name_ends",), messages + 1, np.int64)
    arrays |= _sized(arrays, ("members",), 1 << 8, np.int32)
    arrays |= _sized(arrays, ("set_starts",), 64, np.int64)
    arrays["spans"], arrays["ahead"] = np.zeros(8, np.int64), np.zeros(5 * k.AHEAD, np.int64)
    return k.Names(**arrays)


@_alone
def more_names(t: k.Names) -> k.Names:
    """Return the parser's arrays with each array that is nearly full made twice as long.

    Raises:
        CapacityError: there is too little memory.
    """
    arrays, count = t._asdict(), t.counter
    _lengthen(arrays, ("starts", "marks"), 4 * (count[k.ACTORS] + 2) // 3, np.int64)
    names = t.name_ends[count[k.NAMES] - 1] if count[k.NAMES] else 0
    for name, used in (("arena", count[k.ARENA]), ("names", names)):
        _lengthen(arrays, (name,), used + count[k.WANTED] + 1, np.uint8)
    _lengthen(arrays, ("name_ends",), count[k.NAMES] + 2, np.int64)
    _lengthen(arrays, ("members",), count[k.MEMBERS] + count[k.LISTED] + 2, np.int32)
    new_sets = count[k.SETS] - count[k.FIRST_SET]
    _lengthen(arrays, ("set_starts",), new_sets + 4, np.int64)
    for name, used in (("actor", count[k.ACTORS]), ("set", count[k.SETS])):
        while 6 * (used + 2) > len(arrays[f"{name}_keys"]):
            arrays[f"{name}_keys"] = _rehashed(arrays[f"{name}_keys"])
    while 4 * (count[k.MESSAGES] + 2) > len(arrays["message_keys"]):
        arrays["message_keys"] = _rehashed(arrays["message_keys"])
    count[k.WANTED] = count[k.LISTED] = 0
    return k.Names(**arrays)


# The judge's arrays


def fresh(group: tuple[int, int] | None = None) -> k.Tables:
    """Return empty tables for a small log.

    A group is the first chunk of senders to keep, and the one after the last; None: all chunks.
    """
    none = np.zeros(0, np.int64)
    count = np.zeros(k.COUNTERS, np.int64)
    count[k.COLUMNS] = count[k.HEIGHT] = 1
    if group is not None:
        count[k.FIRST], count[k.COLUMNS], count[k.FIXED] = group[0], group[1] - group[0], 1
        while k.WIDTH ** (int(count[k.HEIGHT]) - 1) < count[k.COLUMNS]:
            count[k.HEIGHT] += 1
    arrays: dict[str, Array] = dict.fromkeys(k.Tables._fields, none)
    arrays["counter"] = count
    arrays |= _actors(arrays, 32) | _sized(arrays, ("state",), 1 << 12, np.int64)
    arrays |= _sized(arrays, ("members",), 1 << 8, np.int32)
    arrays |= _sized(arrays, ("set_starts",), 64, np.int64)
    for kind in ("slots", "chunks", "nodes"):
        arrays |= _stacked(arrays, kind, 256)
    arrays["chunk_users"][0] = k.FOREVER
    arrays["scratch"] = np.zeros(64, np.int64)
    arrays["stack"] = np.zeros(k.STACK, np.int64)
    arrays["pairs"] = np.full(1 << 8, -1, np.int64)
    arrays["out"] = np.zeros(4 * OUT, np.int64)
    arrays["found"] = np.zeros(6 << 8, np.int64)
    return k.Tables(**arrays)


def populated(t: k.Tables, actors: int) -> k.Tables:
    """Return tables with `actors` actors that have no names."""
    arrays = t._asdict()
    arrays |= _actors(arrays, max(actors + 2, len(t.own)))
    t.counter[k.ACTORS] = actors
    return grown(k.Tables(**arrays))


def again(t: k.Tables, group: tuple[int, int] | None) -> k.Tables:
    """Return tables before the first event, for the actors, messages and sets of other tables."""
    new = fresh(group)
    arrays = new._asdict() | {"members": t.members, "set_starts": t.set_starts}
    arrays |= _actors(arrays, len(t.own))
    arrays["state"] = _new(len(t.state), np.int64)
    for counter in (k.ACTORS, k.MESSAGES, k.SETS, k.MEMBERS):
        new.counter[counter] = t.counter[counter]
    return grown(k.Tables(**arrays))


@_alone
def grown(t: k.Tables) -> k.Tables:
    """Return tables with each array that is nearly full made twice as long.

    Raises:
        CapacityError: there is too little memory.
    """
    arrays, count = t._asdict(), t.counter
    size = len(t.own)
    while 4 * (count[k.ACTORS] + 2) > 3 * size:
        size *= 2
    if size > len(t.own):
        arrays |= _actors(arrays, size)
    while not count[k.FIXED] and count[k.ACTORS] + 2 > count[k.COLUMNS] * k.WIDTH:
        _make_taller(arrays)
    _lengthen(arrays, ("state",), count[k.MESSAGES] + 2, np.int64)
    _lengthen(arrays, ("members",), count[k.MEMBERS] + 2, np.int32)
    _lengthen(arrays, ("set_starts",), count[k.SETS] + 4, np.int64)
    needs = {"chunks": k.least_chunks(count[k.ACTORS]) + 4, "slots": 4, "nodes": 4}
    for kind, least in needs.items():
        while count[getattr(k, kind.upper())] < least:
            arrays |= _stacked(arrays, kind, 2 * len(arrays[f"free_{kind}"]))
    if 2 * count[k.PAIRS] + 4 > len(arrays["pairs"]):
        more = _new(2 * len(arrays["pairs"]), np.int64, -1)
        _moved(k.repair_pairs, arrays["pairs"], more, len(arrays["pairs"]))
        arrays["pairs"] = more
    _lengthen(arrays, ("found",), 6 * (count[k.FOUND] + 4), np.int64)
    if len(arrays["watched"]):
        _lengthen(arrays, ("scratch",), count[k.ACTORS] + 2, np.int64)
        _lengthen(arrays, ("raised",), 3 * (count[k.RAISED] + count[k.ACTORS] + 1), np.int64)
    count[k.WORK] = 0
    return k.Tables(**arrays)


def _new(size: int, kind: Any, value: int = 0) -> Array:
    """Return an array filled with a value.

    Raises:
        CapacityError: there is too little memory.
    """
    if (wanted := size * np.dtype(kind).itemsize) >= LARGE:
        check_room(wanted)
    return np.full(size, value, kind) if value else np.zeros(size, kind)


def _keys(slots: int) -> Array:
    keys = _new(3 * slots, np.int64)
    keys[2::3] = -1
    return keys


def _rehashed(old: Array) -> Array:
    new = _keys(2 * len(old) // 3)
    _moved(k.rehash, old, new, len(old) // 3)
    return new


def _moved(move: Callable[[Array, Array, int, int], None], old: Array, new: Array, n: int) -> None:
    for begin in range(0, n, STEP):
        move(old, new, begin, min(begin + STEP, n))


def _sized(
    arrays: dict[str, Array], names: tuple[str, ...], size: int, kind: Any, value: int = 0
) -> dict[str, Array]:
    """Return longer copies of arrays."""
    longer = {}
    for name in names:
        longer[name] = _new(size, kind, value)
        longer[name][: len(arrays[name])] = arrays[name]
    return longer


def _lengthen(arrays: dict[str, Array], names: tuple[str, ...], least: int, kind: Any) -> None:
    size = max(64, len(arrays[names[0]]))
    while size < least:
        size *= 2
    if size > len(arrays[names[0]]):
        arrays |= _sized(arrays, names, size, kind)


def _actors(arrays: dict[str, Array], size: int) -> dict[str, Array]:
    """Return longer arrays for actors; a new actor knows nothing and does not wait."""
    names = ("known", "own", "next_waiter", "before_waiter", "last_node", "ready")
    longer = _sized(arrays, names, size, np.int32)
    longer |= _sized(arrays, ("first_node",), size, np.int32, -1)
    # The ring of ready actors is rebuilt, because indices in it depend on its length.
    count = arrays["counter"]
    ring = np.arange(count[k.READY], count[k.READY_END])
    longer["ready"][: len(ring)] = arrays["ready"][ring % max(1, len(arrays["ready"]))]
    count[k.READY], count[k.READY_END] = 0, len(ring)
    return longer | _sized(arrays, ("waits_for",), size, np.int64, -1)


def _stacked(arrays: dict[str, Array], kind: str, size: int) -> dict[str, Array]:
    """Return longer arrays for slots, chunks or nodes, and the stack of free ones."""
    count, old = arrays["counter"], len(arrays[f"free_{kind}"])
    widths: dict[str, dict[str, int]] = {
        "slots": dict.fromkeys(("sender", "number", "past", "missing", "to"), 1),
        "chunks": {"chunks": k.WIDTH, "chunk_users": 1},
        "nodes": {},
    }
    longer = _sized(arrays, (f"free_{kind}",), size, np.int32)
    for name, width in widths[kind].items():
        longer |= _sized(arrays, (name,), size * width, np.int32)
    if kind == "slots":
        longer |= _sized(arrays, ("sent_at",), size, np.int64)
    if kind == "nodes":
        longer |= _sized(arrays, ("nodes",), 5 * size, np.int64)
    at = getattr(k, kind.upper())
    first = old + (kind == "chunks" and old == 0)  # chunk 0 is never free
    longer[f"free_{kind}"][count[at] : count[at] + size - first] = np.arange(first, size)
    count[at] += size - first
    return longer


def _make_taller(arrays: dict[str, Array]) -> None:
    """Make room for more senders: put a chunk above the root of every clock."""
    count = arrays["counter"]
    in_transit = np.ones(len(arrays["past"]), bool)
    in_transit[arrays["free_slots"][: count[k.SLOTS]]] = False
    known, past = arrays["known"], arrays["past"]
    roots = np.unique(np.concatenate([known[: count[k.ACTORS]], past[in_transit]]))
    roots = roots[roots > 0]
    while count[k.CHUNKS] < len(roots):
        arrays |= _stacked(arrays, "chunks", 2 * len(arrays["free_chunks"]))
    count[k.CHUNKS] -= len(roots)
    above = arrays["free_chunks"][count[k.CHUNKS] : count[k.CHUNKS] + len(roots)]
    chunks = arrays["chunks"].reshape(-1, k.WIDTH)
    chunks[above], chunks[above, 0] = 0, roots
    arrays["chunk_users"][above] = arrays["chunk_users"][roots]
    arrays["chunk_users"][roots] = 1
    over = np.zeros(len(chunks), np.int32)
    over[roots] = above
    known[:] = over[known]
    past[in_transit] = over[past[in_transit]]
    count[k.COLUMNS] *= k.WIDTH
    count[k.HEIGHT] += 1
