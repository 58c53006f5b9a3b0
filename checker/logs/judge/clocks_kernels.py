"""Vector clocks that share their parts.

A clock is a tree. Its leaves are chunks of WIDTH counters, one per sender, and every chunk above
them has the numbers of WIDTH chunks below. Chunk 0 represents any tree of zeros. All trees have
HEIGHT levels. Chunks are shared, with a count of their users. A causal-send refers to its sender's
tree, and a delivery copies a shared chunk only if its actor learns something there. So the memory
depends on the differences between clocks, not on the number of actors times their number.
"""

from __future__ import annotations

import numpy as np

from antecede.checker.logs.judge.layout_kernels import *


@kernel
def column_of(t, sender):
    """Return the index of a sender's counter in a clock, or -1 if these clocks omit it."""
    at = sender - t.counter[FIRST] * WIDTH
    return at if 0 <= at < t.counter[LEAVES] * WIDTH else -1


@kernel
def knows(t, actor, sender):
    """Return the number of a sender's messages that an actor knows by deliveries; -1: not kept."""
    at = column_of(t, sender)
    if at < 0:
        return -1
    chunk = t.known[actor]
    for level in range(t.counter[HEIGHT] - 1, -1, -1):
        chunk = t.chunks[chunk, (at >> (BITS * level)) & (WIDTH - 1)]
    return chunk


@kernel
def drop(t, chunk, level):
    """Remove one use of a chunk; a chunk without users is freed, and drops the chunks below it."""
    if chunk == 0:
        return
    t.chunk_users[chunk] -= 1
    if t.chunk_users[chunk]:
        return
    size = 0
    t.spare[size] = (chunk << 3) | level
    while size >= 0:
        chunk, level = t.spare[size] >> 3, t.spare[size] & 7
        size -= 1
        t.counter[WORK] += 1
        t.free_chunks[t.counter[CHUNKS]] = chunk
        t.counter[CHUNKS] += 1
        if level == 0:
            continue
        for k in range(WIDTH):
            below = t.chunks[chunk, k]
            if below:
                t.chunk_users[below] -= 1
                if t.chunk_users[below] == 0:
                    size += 1
                    t.spare[size] = (below << 3) | (level - 1)


@kernel
def point(t, actor, level, chunk):
    """Replace the reference to the current chunk of a level by another chunk."""
    t.levels[MINE, level] = chunk
    if level == t.counter[HEIGHT] - 1:
        t.known[actor] = chunk
    else:
        above = t.levels[MINE, level + 1]
        t.chunks[above, t.levels[INDEX, level + 1]] = chunk


@kernel
def copy(t, chunk, level):
    """Return a copy of a chunk for one user, who gives up the chunk itself."""
    t.counter[CHUNKS] -= 1
    new = t.free_chunks[t.counter[CHUNKS]]
    to, source = np.uint64(new), np.uint64(chunk)
    for k in range(np.uint64(WIDTH)):
        t.chunks[to, k] = t.chunks[source, k]
    if level:
        for k in range(WIDTH):
            t.chunk_users[t.chunks[chunk, k]] += 1
        t.chunk_users[0] = FOREVER
    if chunk:
        t.chunk_users[chunk] -= 1
    t.chunk_users[new] = 1
    return new


@kernel
def own(t, actor, level):
    """Copy shared chunks from the root down to a level, so that only this actor uses them."""
    for at in range(t.counter[HEIGHT] - 1, level - 1, -1):
        if t.levels[OWNED, at]:
            continue
        t.levels[OWNED, at] = 1
        chunk = t.levels[MINE, at]
        if chunk and t.chunk_users[chunk] == 1:
            continue
        point(t, actor, at, copy(t, chunk, at))


@kernel
def share(t, actor, level, other):
    """Replace the current chunk of a level by another chunk, which becomes shared."""
    if level + 1 < t.counter[HEIGHT]:
        own(t, actor, level + 1)
    before = t.levels[MINE, level]
    t.chunk_users[other] += 1
    point(t, actor, level, other)
    drop(t, before, level)


@kernel
def compared(t, mine, other):
    """Return whether some counter of a chunk is less than another's, and whether one is greater.

    Here and below, indices are unsigned: signed ones may be negative, and compiled code would look.
    """
    less, more = False, False
    first, second = np.uint64(mine), np.uint64(other)
    for k in range(np.uint64(WIDTH)):
        a, b = t.chunks[first, k], t.chunks[second, k]
        less |= a < b
        more |= a > b
    return less, more


@kernel
def raise_counters(t, mine, other):
    """Raise the counters of a chunk, which has one user, to those in another chunk."""
    first, second = np.uint64(mine), np.uint64(other)
    for k in range(np.uint64(WIDTH)):
        t.chunks[first, k] = max(t.chunks[first, k], t.chunks[second, k])


@kernel
def merge_root(t, actor, other):
    """Merge a chunk of counters into an actor's clock, if clocks have one level."""
    enter(t, 0, t.known[actor], other)
    less, more = compared(t, t.known[actor], other)
    if less and more:
        own(t, actor, 0)
        raise_counters(t, t.known[actor], other)
    elif less:
        share(t, actor, 0, other)


@kernel
def merge_counters(t, actor, other, end):
    """Merge another chunk of level 1 into the current one.

    Returns:
        Whether both now have equal chunks below, and only this actor uses the current chunk.
    """
    same, mine, theirs = True, np.uint64(t.levels[MINE, 1]), np.uint64(other)
    for k in range(np.uint64(end)):
        a, b = t.chunks[mine, k], t.chunks[theirs, k]
        if a == b:
            continue
        less, more = False, True
        if b:
            less, more = compared(t, a, b)
        same &= not more
        if not less:
            same = False
            continue
        if not t.levels[OWNED, 1]:
            own(t, actor, 1)
            mine = np.uint64(t.levels[MINE, 1])
        if not more:
            t.chunk_users[b] += 1
            t.chunks[mine, k] = b
            drop(t, a, 0)
            continue
        if t.chunk_users[a] > 1:
            a = copy(t, a, 0)
            t.chunks[mine, k] = a
        raise_counters(t, a, b)
    return same and t.levels[OWNED, 1] == 1


@kernel
def same_chunk(t, one, other):
    """Return whether two chunks have equal numbers."""
    first, second = np.uint64(one), np.uint64(other)
    for k in range(np.uint64(WIDTH)):  # noqa: SIM110 compiled
        if t.chunks[first, k] != t.chunks[second, k]:
            return False
    return True


@kernel
def merge(t, actor, root):
    """Merge a tree into an actor's clock; see the attribute `levels` of `Tables`."""
    top = t.counter[HEIGHT] - 1
    if root == 0 or root == t.known[actor]:
        return
    if t.known[actor] == 0:
        enter(t, top, 0, root)
        share(t, actor, top, root)
        return
    if top == 0:
        merge_root(t, actor, root)
        return
    # Senders after the last actor have no chunks.
    last = min(t.counter[ACTORS] - t.counter[FIRST] * WIDTH, t.counter[LEAVES] * WIDTH) - 1
    end = (last >> (BITS * top)) + 1
    level = top
    enter(t, level, t.known[actor], root)
    while level <= top:
        mine, other = t.levels[MINE, level], t.levels[THEIRS, level]
        t.counter[WORK] += WIDTH
        if level == 1:
            same = merge_counters(t, actor, other, end if top == 1 else WIDTH)
        else:
            k = next_difference(t, mine, other, t.levels[INDEX, level])
            t.levels[INDEX, level] = k
            if k < WIDTH:
                a, b = t.chunks[mine, k], t.chunks[other, k]
                level -= 1
                enter(t, level, a, b)
                if a:
                    continue
                share(t, actor, level, b)
                same = False
            else:
                same = t.levels[OWNED, level] == 1 and same_chunk(t, mine, other)
        if same:
            share(t, actor, level, t.levels[THEIRS, level])
        level += 1
        t.levels[INDEX, level] += 1


@kernel
def next_difference(t, mine, other, k):
    """Return the index, `k` or greater, of a lower chunk that may have news; WIDTH if none."""
    while k < WIDTH:
        below = t.chunks[other, k]
        if below and below != t.chunks[mine, k]:
            break
        k += 1
    return k


@kernel
def enter(t, level, mine, other):
    """Start the merge of two chunks of a level."""
    t.levels[MINE, level], t.levels[THEIRS, level] = mine, other
    t.levels[INDEX, level] = t.levels[OWNED, level] = 0


@kernel
def learn(t, actor, slot):
    """Merge the clock of a message's causal-send into an actor's clock, and count the message."""
    merge(t, actor, t.slots[slot, PAST])
    sender, number = t.slots[slot, FROM], t.slots[slot, NTH]
    at = column_of(t, sender)
    if at < 0 or knows(t, actor, sender) >= number:
        return
    chunk = t.known[actor]
    for level in range(t.counter[HEIGHT] - 1, -1, -1):
        enter(t, level, chunk, 0)
        k = (at >> (BITS * level)) & (WIDTH - 1)
        t.levels[INDEX, level] = k
        chunk = t.chunks[chunk, k]
    own(t, actor, 0)
    t.chunks[t.levels[MINE, 0], at & (WIDTH - 1)] = number
