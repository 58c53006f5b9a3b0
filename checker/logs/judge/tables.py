"""The arrays of the judge: created small, and lengthened when a log needs it."""

from __future__ import annotations

from typing import Any

import numpy as np

from antecede.checker.logs.events.space import alone, lengthen, longer, moved, new_array
from antecede.checker.logs.judge import layout_kernels as k
from antecede.checker.logs.judge.code import Code

Array = np.ndarray[Any, Any]

OUT = 1 << 18
"""The number of events in `out` at which they are moved to the record."""

PER_ACTOR = {
    **dict.fromkeys(("known", "own", "next_waiter", "before_waiter", "last_node"), 0),
    **dict.fromkeys(("first_node", "waits_for"), -1),
}
"""The arrays with a number for each actor; a new actor knows nothing and does not wait."""

STACKED = {
    "slots": ("slots", "sent_at"),
    "chunks": ("chunks", "chunk_users"),
    "nodes": ("nodes",),
}
"""The arrays whose free rows are on a stack, such as `free_slots`."""

_WIDE = {"slots": 5, "chunks": k.WIDTH, "nodes": k.COLUMNS, "out": 4, "found": 6, "raised": 3}
_INT64 = {
    *("counter", "set_starts", "state", "sent_at", "waits_for", "nodes", "pairs", "out", "found"),
    *("watch_starts", "raised", "scratch", "levels", "spare"),
}


def fresh(group: tuple[int, int] | None = None) -> k.Tables:
    """Return empty tables for a small log.

    A group is the first chunk of senders to keep, and the one after the last; None: all chunks.
    """
    arrays: dict[str, Array] = {
        name: np.zeros(
            (0, _WIDE[name]) if name in _WIDE else 0, np.int64 if name in _INT64 else np.int32
        )
        for name in k.Tables._fields
    }
    count = arrays["counter"] = np.zeros(k.COUNTERS, np.int64)
    count[k.LEAVES] = count[k.HEIGHT] = 1
    if group is not None:
        count[k.FIRST], count[k.LEAVES], count[k.FIXED] = group[0], group[1] - group[0], 1
        while k.WIDTH ** (int(count[k.HEIGHT]) - 1) < count[k.LEAVES]:
            count[k.HEIGHT] += 1
    _add_actors(arrays, 32)
    sizes = {"state": 1 << 12, "members": 1 << 8, "set_starts": 64, "scratch": 64}
    for name, size in {**sizes, "found": 1 << 8, "spare": k.LEVELS * k.WIDTH}.items():
        arrays[name] = longer(arrays[name], size)
    for kind in STACKED:
        _stack(arrays, kind, 256)
    arrays["chunk_users"][0] = k.FOREVER
    arrays["out"] = np.zeros((OUT, _WIDE["out"]), np.int64)
    arrays["levels"] = np.zeros((4, k.LEVELS), np.int64)
    arrays["pairs"] = np.full(1 << 8, -1, np.int64)
    return k.Tables(**arrays)


def again(t: k.Tables, group: tuple[int, int] | None, code: Code) -> k.Tables:
    """Return tables before the first event, for the actors, messages and sets of other tables."""
    new = fresh(group)
    arrays = new._asdict() | {"members": t.members, "set_starts": t.set_starts}
    _add_actors(arrays, len(t.own))
    arrays["state"] = new_array((len(t.state),), np.int64)
    for counter in (k.ACTORS, k.MESSAGES, k.SETS, k.MEMBERS):
        new.counter[counter] = t.counter[counter]
    return grown(k.Tables(**arrays), code)


@alone
def grown(t: k.Tables, code: Code) -> k.Tables:
    """Return tables with each array that is nearly full made twice as long.

    Raises:
        CapacityError: there is too little memory.
    """
    arrays, count = t._asdict(), t.counter
    size = len(t.own)
    while 4 * (count[k.ACTORS] + 2) > 3 * size:
        size *= 2
    if size > len(t.own):
        _add_actors(arrays, size)
    while not count[k.FIXED] and count[k.ACTORS] + 2 > count[k.LEAVES] * k.WIDTH:
        _make_taller(arrays)
    lengthen(arrays, "state", count[k.MESSAGES] + 2)
    lengthen(arrays, "members", count[k.MEMBERS] + 2)
    lengthen(arrays, "set_starts", count[k.SETS] + 4)
    needs = {"chunks": code.least_chunks(int(count[k.ACTORS])) + 4, "slots": 4, "nodes": 4}
    for kind, least in needs.items():
        while count[getattr(k, kind.upper())] < least:
            _stack(arrays, kind, 2 * len(arrays[f"free_{kind}"]))
    if 2 * count[k.PAIRS] + 4 > len(arrays["pairs"]):
        more = new_array((2 * len(arrays["pairs"]),), np.int64, -1)
        arrays["pairs"] = moved(code.repair_pairs, arrays["pairs"], more)
    lengthen(arrays, "found", count[k.FOUND] + 4)
    if len(arrays["watched"]):
        lengthen(arrays, "scratch", count[k.ACTORS] + 2)
        lengthen(arrays, "raised", count[k.RAISED] + count[k.ACTORS] + 1)
    count[k.WORK] = 0
    return k.Tables(**arrays)


def _add_actors(arrays: dict[str, Array], size: int) -> None:
    """Lengthen the arrays for actors."""
    for name, value in PER_ACTOR.items():
        arrays[name] = longer(arrays[name], size, value)
    # The ring of ready actors is rebuilt, because indices in it depend on its length.
    count, old = arrays["counter"], arrays["ready"]
    ring = np.arange(count[k.READY], count[k.READY_END])
    arrays["ready"] = new_array((size,), np.int32)
    arrays["ready"][: len(ring)] = old[ring % max(1, len(old))]
    count[k.READY], count[k.READY_END] = 0, len(ring)


def _stack(arrays: dict[str, Array], kind: str, size: int) -> None:
    """Lengthen the arrays for slots, chunks or nodes, and the stack of free ones."""
    count, free = arrays["counter"], f"free_{kind}"
    old = len(arrays[free])
    for name in (free, *STACKED[kind]):
        arrays[name] = longer(arrays[name], size)
    at = getattr(k, kind.upper())
    first = old + (kind == "chunks" and old == 0)  # chunk 0 is never free
    arrays[free][count[at] : count[at] + size - first] = np.arange(first, size)
    count[at] += size - first


def _make_taller(arrays: dict[str, Array]) -> None:
    """Make room for more senders: put a chunk above the root of every clock."""
    count = arrays["counter"]
    in_transit = np.ones(len(arrays["slots"]), bool)
    in_transit[arrays["free_slots"][: count[k.SLOTS]]] = False
    known, past = arrays["known"], arrays["slots"][:, k.PAST]
    roots = np.unique(np.concatenate([known[: count[k.ACTORS]], past[in_transit]]))
    roots = roots[roots > 0]
    while count[k.CHUNKS] < len(roots):
        _stack(arrays, "chunks", 2 * len(arrays["free_chunks"]))
    count[k.CHUNKS] -= len(roots)
    above = arrays["free_chunks"][count[k.CHUNKS] : count[k.CHUNKS] + len(roots)]
    chunks = arrays["chunks"]
    chunks[above], chunks[above, 0] = 0, roots
    arrays["chunk_users"][above] = arrays["chunk_users"][roots]
    arrays["chunk_users"][roots] = 1
    over = np.zeros(len(chunks), np.int32)
    over[roots] = above
    known[:] = over[known]
    past[in_transit] = over[past[in_transit]]
    count[k.LEAVES] *= k.WIDTH
    count[k.HEIGHT] += 1
