"""The memo of each thread: made, enlarged between chunks, and emptied when numbers change."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from antecede.checker.tables import kernels
from antecede.checker.tables.kernels import Memo
from antecede.checker.tables.tabulate import Words

LISTS, EVENTS = 1 << 14, 1 << 10
"""The first sizes of a memo's lists, and of its events."""
LEAST_ROOM = 1 << 8
"""The least number of composites of a part that have heads."""
MOST_WORDS = 1 << 26
"""The greatest size of a memo's lists, and of its heads: 256 MB each."""


def why_not(geo: Words) -> str | None:
    """Return why transitions of this system depend on more than a memo expects, or None."""
    if geo[kernels.PARTS] > geo[kernels.ACTORS] and (geo[kernels.TRIMS] or geo[kernels.AT_NETWORK]):
        return "with --history full, clocks tick at network-sends or actors send to themselves"
    if geo[kernels.CRASHES]:
        return "actors may crash"
    if geo[kernels.FOLLOWS]:
        return "only one message is followed"
    return None


def empty(geo: Words, counts: Words) -> Memo:
    """Return a memo that knows nothing.

    Args:
        geo: the geometry of the composites that it is about.
        counts: their number per part.
    """
    if why_not(geo):
        return kernels.NO_MEMO
    sources = _sources(geo)
    figures = np.zeros(kernels.FIGURES, np.int64)
    figures[kernels.IN_USE] = 1
    figures[kernels.LISTED] = kernels.FIRST_LIST
    figures[kernels.SLOTS] = sources[1::3].max() + 1
    memo = Memo(
        figures=figures,
        sources=sources,
        heads=np.zeros(0, np.int32),
        lists=np.zeros(LISTS, np.int32),
        shows=np.zeros(kernels.MOST_CODES, np.int64),
        items=np.zeros(EVENTS, np.int64),
        events=np.full(4 * EVENTS, -1, np.int64),
        parted=True if geo[kernels.PARTS] > geo[kernels.ACTORS] else None,
    )
    return _with_more_heads(memo, counts)


def emptied(memo: Memo, geo: Words, counts: Words) -> Memo:
    """Return an empty memo that counts on."""
    if not memo.figures[kernels.IN_USE]:
        return memo
    after = empty(geo, counts)
    for figure in (kernels.SUCCESSORS, kernels.DERIVED):
        after.figures[figure] = memo.figures[figure]
    return after


def _sources(geo: Words) -> Words:
    """Return `Memo.sources`, in the order of `transition.enabled`."""
    actors = int(geo[kernels.ACTORS])
    channels = range(int(geo[kernels.CHANNEL_COUNT]))
    ends = [(int(geo[kernels.CHAN_SRC + k]), int(geo[kernels.CHAN_DST + k])) for k in channels]
    places = [int(geo[kernels.CHAN_COL + k]) - kernels.CHANNELS for k in channels]
    first = kernels.CHANNEL_SLOTS
    more = first + max(places, default=0) + 1
    rows = [(actor, kernels.OWN_SLOT, -1) for actor in range(actors)]
    for (src, dst), place in zip(ends, places, strict=True):
        rows.append((src, first + place, dst if dst != src else -1))
    if geo[kernels.ACTS]:
        rows += [(actor, more, -1) for actor in range(actors)]
    if geo[kernels.LOSES]:
        lost = more + int(geo[kernels.ACTS])
        for (src, _), place in zip(ends, places, strict=True):
            rows.append((src, lost + place, 0 if geo[kernels.BUDGET] and src else -1))
    sources = np.array(rows, np.int64)
    each = geo[kernels.PARTS] // actors
    sources[:, 0] *= each
    sources[:, 2] = np.where(sources[:, 2] < 0, -1, each * sources[:, 2])
    return sources.ravel()


def tended(memo: Memo, counts: Words) -> Memo:
    """Return a memo with more room, where it may soon lack some; or with forgotten lists."""
    figures = memo.figures
    if not figures[kernels.IN_USE]:
        return memo
    if 4 * figures[kernels.LISTED] > 3 * len(memo.lists):
        if len(memo.lists) < MOST_WORDS:
            memo = memo._replace(lists=_longer(memo.lists, 16))  # unused memory costs nothing
        else:
            memo.heads[:] = 0
            figures[kernels.LISTED] = kernels.FIRST_LIST
    if 2 * figures[kernels.EVENTS] > len(memo.items):
        memo = memo._replace(items=_longer(memo.items, 2))
    if 4 * figures[kernels.NAMED] > len(memo.events):
        events = np.full(4 * len(memo.events), -1, np.int64)
        used = memo.events[::2] != -1
        kernels.store(events, memo.events[::2][used], memo.events[1::2][used])
        memo = memo._replace(events=events)
    return _with_more_heads(memo, counts)


def _longer(array: Any, times: int) -> Any:
    longer = np.zeros(times * len(array), array.dtype)
    longer[: len(array)] = array
    return longer


def _with_more_heads(memo: Memo, counts: Words) -> Memo:
    """Return a memo with heads for more composites than there are, as far as memory allows."""
    figures, each = memo.figures, 2 if memo.parted else 1
    rooms = [kernels.MEMO_ROOM, kernels.HISTORY_ROOM][:each]
    slots = np.array([figures[kernels.SLOTS], kernels.HISTORY_SLOTS][:each])
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
    figures[rooms], figures[kernels.HISTORIES] = room, heads[0].size
    flat = [part.ravel() for part in heads]
    return memo._replace(heads=flat[0] if each == 1 else np.concatenate(flat))


def share_text(memos: Iterable[Memo], geo: Words) -> str:
    """Say how many successors came from memory, or why none did."""
    reason = why_not(geo)
    if reason is not None:
        return f"none, because {reason}"
    figures = [memo.figures for memo in memos]
    total = sum(int(f[kernels.SUCCESSORS]) for f in figures)
    derived = sum(int(f[kernels.DERIVED]) for f in figures)
    return f"{max(total - derived, 0) / max(total, 1):.1%} of {total:,}"
