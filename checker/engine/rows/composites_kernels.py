"""Local words of one actor and the numbers of their combinations, its composites.

`geometry` defines the terms. All kernels read two arrays:

    dec    | words of composite 0 of part 0 | words of composite 1 | ...   stride words per part
    cons   | words | part << PART_SHIFT | composite | ...                  one slot; -1: empty

`cons` is a hash table with open addressing and a power of two slots; one slot at least is empty.
Each part numbers its composites from 0, in the order in which they are added. If several threads
read the arrays, only Python adds composites, while they wait. `words` is the number of words of a
part. The functions call the index of a part `actor`.
"""

from __future__ import annotations

import numpy as np

from antecede.checker.compiled.jit import borrow, inlined, kernel
from antecede.checker.engine.rows import geometry as g
from antecede.checker.engine.rows.fields_kernels import change_field, composite_in, field_of
from antecede.checker.engine.rows.hashing_kernels import hash_words


@inlined
def get(loc, base, geo, actor, column):
    """Return the number in one column of an actor, for example the number of its state.

    A column is one of `geometry`, such as STATE, or CHANNELS + k for outgoing channel k.
    """
    word = loc[base + actor * geo[g.WORDS] + geo[g.COL_WORD + column]]
    return (word >> geo[g.COL_SHIFT + column]) & geo[g.COL_MASK + column]


@inlined
def put(loc, geo, actor, column, value):
    """Set the number in one column of an actor; it must fit."""
    at = actor * geo[g.WORDS] + geo[g.COL_WORD + column]
    shift = geo[g.COL_SHIFT + column]
    old = (loc[at] >> shift) & geo[g.COL_MASK + column]
    loc[at] ^= (old ^ value) << shift


@inlined
def seek(cons, words, loc, base, actor):
    """Return the slot of `cons` where the search for a part's composite begins.

    The caller of `seek` and `probe`, the halves of `find_composite`, can prefetch in between.
    """
    mask = cons.shape[0] // (words + 1) - 1
    return np.int64((hash_words(loc, base, words) + np.uint64(actor)) >> np.uint64(16)) & mask


@inlined
def probe(cons, words, loc, base, actor, slot):
    """Return the composite of the words loc[base:], or -1, searching from a slot on; see `seek`."""
    stride = words + 1
    mask = cons.shape[0] // stride - 1
    while True:
        at = slot * stride
        # Two parts may have equal words, so the part is compared, too.
        owner = cons[at + words]
        if owner == -1:
            return np.int64(-1)
        if owner >> g.PART_SHIFT == actor:
            same = True
            for k in range(words):
                if cons[at + k] != loc[base + k]:
                    same = False
                    break
            if same:
                return owner & g.COMPOSITE_MASK
        slot = (slot + 1) & mask


@inlined
def find_composite(cons, words, loc, base, actor):
    """Return the composite of the words loc[base:] of a part; -1 if they have none yet."""
    return probe(cons, words, loc, base, actor, seek(cons, words, loc, base, actor))


@kernel
def index_composite(cons, mask, dec, at, words, actor, number):
    """Add a part's new composite, whose words are dec[at:], to `cons`, which has mask + 1 slots."""
    slot = np.int64((hash_words(dec, at, words) + np.uint64(actor)) >> np.uint64(16)) & mask
    while cons[slot * (words + 1) + words] != -1:
        slot = (slot + 1) & mask
    for k in range(words):
        cons[slot * (words + 1) + k] = dec[at + k]
    cons[slot * (words + 1) + words] = (actor << g.PART_SHIFT) | number


@kernel
def index_composites(cons, dec, stride, words, counts):
    """Enter all composites into an empty `cons`, for example after it became larger."""
    mask = cons.shape[0] // (words + 1) - 1
    for actor in range(counts.shape[0]):
        for number in range(counts[actor]):
            at = actor * stride + number * words
            index_composite(cons, mask, dec, at, words, actor, number)


@kernel
def add_composites(cons, dec, stride, words, counts, records, limits):
    """Give a composite to each content of a part that has none yet, and enter it in the tables.

    Args:
        counts: per part, the number of its composites; updated.
        records: (n, 1 + words): the part and its local words, new or not.
        limits: per part, the most composites that its field in a row can tell apart.

    Returns:
        n; or the index of the first record whose part is at its limit: widen the part's field in
        all rows, and call again.

    Examples:
        One part of one word. The words 99 and 98 get the composites 0 and 1; the third record
        repeats the first:

        >>> cons, dec, counts = np.full(8, -1), np.zeros(4, np.int64), np.zeros(1, np.int64)
        >>> records = np.array([[0, 99], [0, 98], [0, 99]])
        >>> int(add_composites(cons, dec, 4, 1, counts, records, limits=np.array([4])))
        3
        >>> dec[: counts[0]].tolist()
        [99, 98]
    """
    mask = cons.shape[0] // (words + 1) - 1
    loc = np.empty(words, np.int64)
    for r in range(records.shape[0]):
        actor = records[r, 0]
        for k in range(words):
            loc[k] = records[r, 1 + k]
        if find_composite(cons, words, loc, 0, actor) != -1:
            continue
        if counts[actor] >= limits[actor]:
            return r
        at = actor * stride + counts[actor] * words
        for k in range(words):
            dec[at + k] = loc[k]
        index_composite(cons, mask, dec, at, words, actor, counts[actor])
        counts[actor] += 1
    return records.shape[0]


@kernel
def compose_missed(misses, control, tables, composites):
    """Give numbers to the composites in `misses`, and return whether nothing else is missing.

    Depth-first searches and random walks use this kernel. A search on several threads must not: all
    threads read the tables, so only Python may change them.
    """
    geo, cons, dec = tables.geo, tables.cons, tables.dec
    counts, limits = composites.counts, composites.limits
    words = geo[g.PART_WORDS]
    mask = cons.shape[0] // (words + 1) - 1
    total = np.int64(0)
    for part in range(geo[g.PARTS]):
        total += counts[part]
    remaining = np.int64(0)
    for r in range(control[g.MISSES]):
        done = False
        if misses[r, 0] >> g.MISS_SHIFT == g.COMPOSE:
            part = misses[r, 0] & 0xFF
            at = part * geo[g.DEC_STRIDE] + counts[part] * words
            if counts[part] < limits[part] and total < limits[geo[g.PARTS]]:
                done = True
                for k in range(words):
                    dec[at + k] = misses[r, 1 + k]
                # The same words may have been missed twice; then their second copy in `dec` is
                # overwritten by the next composite.
                if find_composite(cons, words, dec, at, part) == -1:
                    index_composite(cons, mask, dec, at, words, part, counts[part])
                    counts[part] += 1
                    total += 1
        # What is left, look-ups and composites without room, needs Python.
        if not done:
            for k in range(misses.shape[1]):
                misses[remaining, k] = misses[r, k]
            remaining += 1
    control[g.MISSES] = remaining
    return remaining == 0


@kernel
def find_used(rows, count, geo, used):
    """Find the composites that occur in some rows, so that the others can be dropped.

    Composite g of part p is found at p * (len(used) // geo[PARTS]) + g.
    """
    rows, geo, used = borrow(rows), borrow(geo), borrow(used)
    room = used.shape[0] // geo[g.PARTS]
    for r in range(count):
        at = r * geo[g.ROW_WORDS]
        for part in range(geo[g.PARTS]):
            used[part * room + composite_in(rows, at, field_of(geo, part))] = True


@kernel
def renumber(rows, count, geo, numbers):
    """Replace the composites in some rows by other numbers, in place.

    The number for composite g of part p is at p * (len(numbers) // geo[PARTS]) + g.
    """
    rows, geo, numbers = borrow(rows), borrow(geo), borrow(numbers)
    room = numbers.shape[0] // geo[g.PARTS]
    for r in range(count):
        at = r * geo[g.ROW_WORDS]
        for part in range(geo[g.PARTS]):
            field = field_of(geo, part)
            old = composite_in(rows, at, field)
            change_field(rows, at, field, old, numbers[part * room + old])
