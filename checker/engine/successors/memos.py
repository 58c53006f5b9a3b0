"""The memo of each thread: made, enlarged between chunks, and emptied when numbers change.

The kernels read and fill the arrays of a memo. This module makes the arrays and gives them more
room, since kernels cannot.

Question: Which systems use no memo of transitions, and when is it emptied? `why_not`, `tended`.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from antecede.checker.engine.rows import entries_kernels
from antecede.checker.engine.rows import geometry as g
from antecede.checker.engine.rows.geometry import Memo
from antecede.checker.engine.storage.arrays import Words
from antecede.checker.engine.successors import memo_kernels

LISTS, EVENTS = 1 << 14, 1 << 10
"""The first sizes of a memo's lists, and of its events."""
LEAST_ROOM = 1 << 8
"""The least number of composites of a part that have heads."""
MOST_WORDS = 1 << 26
"""The greatest size of a memo's lists, and of its heads: 256 MB each."""


def why_not(geo: Words) -> str | None:
    """Return why memos cannot store a system's transitions, or None; `--verbose` shows it."""
    if geo[g.PARTS] > geo[g.ACTORS] and (geo[g.TRIMS] or geo[g.AT_NETWORK]):
        return "with --history full, clocks tick at network-sends or actors send to themselves"
    if geo[g.CRASHES]:
        return "actors may crash"
    if geo[g.FOLLOWS]:
        return "only one message is followed"
    return None


def empty(geo: Words, counts: Words) -> Memo:
    """Return a memo that has no transition yet; NO_MEMO if memos cannot store the transitions.

    The number of composites of each part decides for how many there is room at first.
    """
    if why_not(geo):
        return memo_kernels.NO_MEMO
    part, slot, receiver = _sources(geo)
    figures = np.zeros(memo_kernels.FIGURES, np.int64)
    figures[memo_kernels.IN_USE] = 1
    figures[memo_kernels.LISTED] = memo_kernels.FIRST_LIST
    figures[memo_kernels.SLOTS] = slot.max() + 1
    memo = Memo(
        figures=figures,
        source_part=part,
        source_slot=slot,
        source_receiver=receiver,
        heads=np.zeros(0, np.int32),
        lists=np.zeros(LISTS, np.int32),
        shows=np.zeros(memo_kernels.MOST_CODES, np.int64),
        items=np.zeros(EVENTS, np.int64),
        events=np.full(4 * EVENTS, -1, np.int64),
        parted=True if geo[g.PARTS] > geo[g.ACTORS] else None,
    )
    return _with_more_heads(memo, counts)


def emptied(memo: Memo, geo: Words, counts: Words) -> Memo:
    """Return an empty memo with the statistics of another one, after composites got new numbers."""
    if not memo.figures[memo_kernels.IN_USE]:
        return memo
    after = empty(geo, counts)
    for figure in (memo_kernels.SUCCESSORS, memo_kernels.DERIVED):
        after.figures[figure] = memo.figures[figure]
    return after


def _sources(geo: Words) -> tuple[Words, Words, Words]:
    """Return the part, the slot and the receiver of each source, as `Memo` has them.

    The sources are in the order of `transition.enabled`.
    """
    actors = int(geo[g.ACTORS])
    channels = range(int(geo[g.CHANNEL_COUNT]))
    ends = [(int(geo[g.CHAN_SRC + k]), int(geo[g.CHAN_DST + k])) for k in channels]
    places = [int(geo[g.CHAN_COL + k]) - g.CHANNELS for k in channels]
    first = memo_kernels.CHANNEL_SLOTS
    more = first + max(places, default=0) + 1
    rows = [(actor, memo_kernels.OWN_SLOT, -1) for actor in range(actors)]
    for (src, dst), place in zip(ends, places, strict=True):
        rows.append((src, first + place, dst if dst != src else -1))
    if geo[g.ACTS]:
        rows += [(actor, more, -1) for actor in range(actors)]
    if geo[g.LOSES]:
        lost = more + int(geo[g.ACTS])
        for (src, _), place in zip(ends, places, strict=True):
            rows.append((src, lost + place, 0 if geo[g.BUDGET] and src else -1))
    part, slot, receiver = np.array(rows, np.int64).T.copy()
    each = geo[g.PARTS] // actors
    return each * part, slot, np.where(receiver < 0, -1, each * receiver)


def tended(memo: Memo, counts: Words) -> Memo:
    """Return a memo with more room if it is nearly full; call it between kernels.

    Lists that have their greatest size already (256 MB) are emptied. Do not use the old memo
    afterwards, because the result shares its arrays.
    """
    figures = memo.figures
    if not figures[memo_kernels.IN_USE]:
        return memo
    if 4 * figures[memo_kernels.LISTED] > 3 * len(memo.lists):
        if len(memo.lists) < MOST_WORDS:
            memo = memo._replace(lists=_longer(memo.lists, 16))  # unused memory costs nothing
        else:
            memo.heads[:] = 0
            figures[memo_kernels.LISTED] = memo_kernels.FIRST_LIST
    if 2 * figures[memo_kernels.EVENTS] > len(memo.items):
        memo = memo._replace(items=_longer(memo.items, 2))
    events = entries_kernels.with_room(memo.events, int(figures[memo_kernels.NAMED]))
    memo = memo._replace(events=events)
    return _with_more_heads(memo, counts)


def _longer(array: Any, times: int) -> Any:
    longer = np.zeros(times * len(array), array.dtype)
    longer[: len(array)] = array
    return longer


def _with_more_heads(memo: Memo, counts: Words) -> Memo:
    """Return a memo with heads for more composites than there are, as far as memory allows."""
    figures, each = memo.figures, 2 if memo.parted else 1
    rooms = [memo_kernels.MEMO_ROOM, memo_kernels.HISTORY_ROOM][:each]
    slots = np.array([figures[memo_kernels.SLOTS], memo_kernels.HISTORY_SLOTS][:each])
    actors, most = len(counts) // each, counts.reshape(-1, each).max(axis=0)
    before = figures[rooms]
    if (4 * most <= 3 * before).all():
        return memo
    room = np.minimum(2 * most + LEAST_ROOM, MOST_WORDS // int(actors * slots.sum()))
    room = np.maximum(room, before)
    if (room == before).all():
        return memo
    heads = []
    old = np.split(memo.heads, [actors * int(before[0] * slots[0])])
    for k in range(each):
        heads.append(np.zeros((actors, room[k] * slots[k]), np.int32))
        heads[k][:, : before[k] * slots[k]] = old[k].reshape(actors, -1)
    figures[rooms], figures[memo_kernels.HISTORIES] = room, heads[0].size
    flat = [part.ravel() for part in heads]
    return memo._replace(heads=flat[0] if each == 1 else np.concatenate(flat))


def share_of(memos: Iterable[Memo], geo: Words) -> dict[str, Any]:
    """Return the share of successors that memos gave, and of how many, or why they gave none."""
    reason = why_not(geo)
    if reason is not None:
        return {"share": 0.0, "of": None, "reason": reason}
    figures = [memo.figures for memo in memos]
    total = sum(int(f[memo_kernels.SUCCESSORS]) for f in figures)
    derived = sum(int(f[memo_kernels.DERIVED]) for f in figures)
    share = max(total - derived, 0) / max(total, 1)
    return {"share": round(share, 4), "of": total, "reason": None}
