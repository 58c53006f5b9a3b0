"""The arrays of the compiled audit: made small, and made longer as a log needs it."""

from __future__ import annotations

from typing import Any

import numpy as np

from antecede.checker.audit import kernels as k

Array = np.ndarray[Any, Any]

OUT = 1 << 18
"""After this many events, what happened is taken to the record."""


def fresh(group: tuple[int, int] | None = None) -> k.Tables:
    """Return empty tables for a small log.

    Args:
        group: the chunks of senders that are kept, from the first up to, not including, the last;
            None: those of all.
    """
    none = np.zeros(0, np.int64)
    count = np.zeros(k.COUNTERS, np.int64)
    count[k.COLUMNS] = 1
    if group is not None:
        count[k.FIRST], count[k.COLUMNS], count[k.FIXED] = group[0], group[1] - group[0], 1
    arrays: dict[str, Array] = dict.fromkeys(k.Tables._fields, none)
    arrays["counter"] = count
    for name, slots in (("actor", 64), ("message", 1 << 12), ("set", 64)):
        arrays[f"{name}_keys"] = _keys(slots)
    arrays |= _actors(arrays, 32) | _sized(arrays, ("arena",), 1 << 10, np.uint8)
    arrays |= _sized(arrays, ("names",), 1 << 16, np.uint8)
    arrays |= _sized(arrays, ("name_ends", "state"), 1 << 12, np.int64)
    arrays |= _sized(arrays, ("members",), 1 << 8, np.int32)
    arrays |= _sized(arrays, ("set_starts",), 64, np.int64)
    for kind, size in (("slots", 256), ("chunks", 256), ("rows", 256), ("nodes", 256)):
        arrays |= _stacked(arrays, kind, size)
    arrays["chunk_users"][0] = 1 << 30
    arrays["scratch"] = np.zeros(64, np.int64)
    arrays["pairs"] = np.full(1 << 8, -1, np.int64)
    arrays["out"] = np.zeros(4 * OUT, np.int64)
    arrays["found"] = np.zeros(6 << 8, np.int64)
    return k.Tables(**arrays)


def grown(t: k.Tables, longest: int = 0) -> k.Tables:
    """Return tables in which whatever is nearly full is twice as long.

    Args:
        t: the tables.
        longest: a line of this many bytes must fit.
    """
    arrays, count = t._asdict(), t.counter
    extra = longest // 2
    while 4 * (count[k.ACTORS] + extra + 2) > 3 * len(arrays["own"]):
        arrays |= _actors(arrays, 2 * len(arrays["own"]))
    while not count[k.FIXED] and count[k.ACTORS] + extra + 2 > count[k.COLUMNS] * k.WIDTH:
        columns = int(count[k.COLUMNS])
        wide = np.zeros((len(arrays["rows"]) // columns, 2 * columns), np.int32)
        wide[:, :columns] = arrays["rows"].reshape(-1, columns)
        arrays["rows"] = wide.reshape(-1)
        count[k.COLUMNS] *= 2
    for name, used in (("arena", count[k.ARENA]), ("names", _names(t))):
        while used + longest + 1 > len(arrays[name]):
            arrays |= _sized(arrays, (name,), 2 * len(arrays[name]), np.uint8)
    _lengthen(arrays, ("name_ends",), count[k.NAMES] + 2, np.int64)
    _lengthen(arrays, ("state",), count[k.MESSAGES] + 2, np.int64)
    _lengthen(arrays, ("members",), count[k.MEMBERS] + extra + 2, np.int32)
    _lengthen(arrays, ("set_starts",), count[k.SETS] + 4, np.int64)
    for name, used in (("actor", count[k.ACTORS] + extra), ("set", count[k.SETS])):
        while 6 * (used + 2) > len(arrays[f"{name}_keys"]):
            arrays[f"{name}_keys"] = _rehashed(arrays[f"{name}_keys"])
    while 4 * (count[k.MESSAGES] + 2) > len(arrays["message_keys"]):
        arrays["message_keys"] = _rehashed(arrays["message_keys"])
    needs = {"chunks": count[k.COLUMNS] + 4, "rows": extra + 4, "slots": 4, "nodes": 4}
    for kind, least in needs.items():
        while count[getattr(k, kind.upper())] < least:
            arrays |= _stacked(arrays, kind, 2 * len(arrays[f"free_{kind}"]))
    if 2 * count[k.PAIRS] + 4 > len(arrays["pairs"]):
        more = np.full(2 * len(arrays["pairs"]), -1, np.int64)
        k.repair_pairs(arrays["pairs"], more)
        arrays["pairs"] = more
    _lengthen(arrays, ("scratch",), count[k.ACTORS] + 2, np.int64)
    _lengthen(arrays, ("found",), 6 * (count[k.FOUND] + 4), np.int64)
    if len(arrays["watched"]):
        _lengthen(arrays, ("raised",), 3 * (count[k.RAISED] + count[k.ACTORS] + 1), np.int64)
    return k.Tables(**arrays)


def _names(t: k.Tables) -> int:
    """Return how many bytes of names there are."""
    return int(t.name_ends[t.counter[k.NAMES] - 1]) if t.counter[k.NAMES] else 0


def _keys(slots: int) -> Array:
    keys = np.zeros(3 * slots, np.int64)
    keys[2::3] = -1
    return keys


def _rehashed(old: Array) -> Array:
    new = _keys(2 * len(old) // 3)
    k.rehash(old, new)
    return new


def _sized(
    arrays: dict[str, Array], names: tuple[str, ...], size: int, kind: Any
) -> dict[str, Array]:
    """Return arrays of a size, beginning with what they hold."""
    found = {}
    for name in names:
        new = np.zeros(size, kind)
        new[: len(arrays[name])] = arrays[name]
        found[name] = new
    return found


def _lengthen(arrays: dict[str, Array], names: tuple[str, ...], least: int, kind: Any) -> None:
    while len(arrays[names[0]]) < least:
        arrays |= _sized(arrays, names, max(64, 2 * len(arrays[names[0]])), kind)


def _actors(arrays: dict[str, Array], size: int) -> dict[str, Array]:
    """Return what is kept per actor, for so many."""
    names = ("known", "own", "next_waiter", "last_waiter", "first_node", "last_node", "ready")
    longer = _sized(arrays, names, size, np.int32) | _sized(arrays, ("starts",), size + 1, np.int64)
    return longer | _sized(arrays, ("waits_for",), size, np.int64)


def _stacked(arrays: dict[str, Array], kind: str, size: int) -> dict[str, Array]:
    """Return what is kept per slot, chunk, row or node, for so many, and the free ones."""
    count, old = arrays["counter"], len(arrays[f"free_{kind}"])
    widths: dict[str, dict[str, int]] = {
        "slots": dict.fromkeys(("sender", "number", "row", "missing", "to"), 1),
        "chunks": {"chunks": k.WIDTH, "chunk_users": 1},
        "rows": {"rows": int(count[k.COLUMNS]), "row_users": 1},
        "nodes": {},
    }
    found = _sized(arrays, (f"free_{kind}",), size, np.int32)
    for name, width in widths[kind].items():
        found |= _sized(arrays, (name,), size * width, np.int32)
    if kind == "slots":
        found |= _sized(arrays, ("sent_at",), size, np.int64)
    if kind == "nodes":
        found |= _sized(arrays, ("nodes",), 5 * size, np.int64)
    at = getattr(k, kind.upper())
    first = old + (kind == "chunks" and old == 0)  # chunk 0 is never free
    found[f"free_{kind}"][count[at] : count[at] + size - first] = np.arange(first, size)
    count[at] += size - first
    return found
