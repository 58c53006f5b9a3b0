"""Local words of one actor and the numbers of their combinations, its composites.

A *local word* packs the numbers of one actor's components; `get` and `put` read and write one of
them. A *part* is all of an actor's local words, or under `full` those of its state or its history.
The table `cons` maps the words of a part to its composite, and `dec` maps a composite to its words.
The kernels call the index of a part `actor`.
"""

from __future__ import annotations

import numpy as np

from antecede.checker.engine.compiled.jit import borrow, inlined, kernel
from antecede.checker.engine.rows import geometry as g
from antecede.checker.engine.rows.fields_kernels import change_field, composite_in, field_of
from antecede.checker.engine.rows.hashing_kernels import hash_words


@inlined
def get(loc, base, geo, actor, column):
    """Return the number in one column of an actor, for example the number of its state.

    An actor's columns hold the numbers of its components: its state, its channels, and so on. They
    are packed into its local words, of which geo[WORDS] belong to each actor.

    Args:
        loc, base: loc[base:] holds the local words of all actors, in order.
        geo: int64; the sizes and switches of this search, such as geo[ACTORS]; see `geometry`.
        actor: the index of the actor.
        column: a column of `geometry`, such as STATE, or CHANNELS + k for outgoing channel k.

    Examples:
        Each actor has one word, with the number of its state in bits 4 to 11:

        >>> geo = np.zeros(g.GEOMETRY_SIZE, np.int64)
        >>> geo[g.WORDS], geo[g.COL_SHIFT + g.STATE], geo[g.COL_MASK + g.STATE] = 1, 4, 0xFF
        >>> int(get(np.array([0, 7 << 4]), 0, geo, 1, g.STATE))
        7
    """
    word = loc[base + actor * geo[g.WORDS] + geo[g.COL_WORD + column]]
    return (word >> geo[g.COL_SHIFT + column]) & geo[g.COL_MASK + column]


@inlined
def put(loc, geo, actor, column, value):
    """Set the number in one column of an actor, for example the number of its state.

    An actor's columns hold the numbers of its components: its state, its channels, and so on. They
    are packed into its local words. The other columns keep their numbers.

    Args:
        loc: loc[0:] holds the local words of all actors, in order; updated.
        geo: int64; the sizes and switches of this search, such as geo[ACTORS]; see `geometry`.
        actor: the index of the actor.
        column: a column of `geometry`, such as STATE, or CHANNELS + k for outgoing channel k.
        value: the new number, which must fit the column.

    Examples:
        Each actor has one word, with the number of its state in bits 4 to 11:

        >>> geo = np.zeros(g.GEOMETRY_SIZE, np.int64)
        >>> geo[g.WORDS], geo[g.COL_SHIFT + g.STATE], geo[g.COL_MASK + g.STATE] = 1, 4, 0xFF
        >>> loc = np.array([0, 7 << 4 | 3])
        >>> put(loc, geo, 1, g.STATE, 8)
        >>> int(loc[1]) == 8 << 4 | 3
        True
    """
    at = actor * geo[g.WORDS] + geo[g.COL_WORD + column]
    shift = geo[g.COL_SHIFT + column]
    old = (loc[at] >> shift) & geo[g.COL_MASK + column]
    loc[at] ^= (old ^ value) << shift


@inlined
def seek(cons, words, loc, base, actor):
    """Return the slot of a hash table where the search for a part's composite begins.

    A composite is the number that stands for the local words of a part. A part is all of an actor,
    or under the history `full` its state or its history. `seek` and `probe` are the two halves of
    `find_composite`: between them, the caller can prefetch the slot.

    Args:
        cons: int64, flat: a hash table; a slot has the local words of a part, then part << 48 | its
            composite (-1: an empty slot). The number of slots is a power of two.
        words: the number of local words of a part.
        loc, base: loc[base:] holds the local words of the part.
        actor: the index of the part.

    Returns:
        The index of the slot, from 0; slot s begins at cons[s * (words + 1)].

    Examples:
        >>> cons = np.full(64 * 2, -1)  # 64 slots; each has one local word, and a composite
        >>> index_composite(cons, 63, np.array([99]), 0, 1, actor=0, number=5)
        >>> slot = seek(cons, 1, np.array([99]), 0, actor=0)
        >>> cons[2 * slot : 2 * slot + 2].tolist()  # the word 99 of part 0 has composite 5
        [99, 5]
    """
    mask = cons.shape[0] // (words + 1) - 1
    return np.int64((hash_words(loc, base, words) + np.uint64(actor)) >> np.uint64(16)) & mask


@inlined
def probe(cons, words, loc, base, actor, slot):
    """Return the composite of a part with the given local words; -1 if they have no composite yet.

    A composite is the number that stands for the local words of a part. A part is all of an actor,
    or under the history `full` its state or its history. `find_composite` does the same without a
    slot to begin with.

    Args:
        cons: int64, flat: a hash table; a slot has the local words of a part, then part << 48 | its
            composite (-1: an empty slot). The number of slots is a power of two.
        words: the number of local words of a part.
        loc, base: loc[base:] holds the local words of the part.
        actor: the index of the part.
        slot: the index of the slot where the search begins: the result of `seek` for these words.

    Examples:
        >>> cons, word = np.full(4 * 2, -1), np.array([99])  # four slots of one local word
        >>> index_composite(cons, 3, word, 0, 1, actor=0, number=5)
        >>> int(probe(cons, 1, word, 0, 0, seek(cons, 1, word, 0, actor=0)))
        5
    """
    stride = words + 1
    mask = cons.shape[0] // stride - 1
    while True:
        at = slot * stride
        # Two parts may have equal words, so the part is compared, too.
        owner = cons[at + words]
        if owner == -1:
            return np.int64(-1)
        if owner >> 48 == actor:
            same = True
            for k in range(words):
                if cons[at + k] != loc[base + k]:
                    same = False
                    break
            if same:
                return owner & 0xFFFFFFFFFFFF
        slot = (slot + 1) & mask


@inlined
def find_composite(cons, words, loc, base, actor):
    """Return the composite of a part with the given local words; -1 if they have no composite yet.

    A composite is the number that stands for the local words of a part. A part is all of an actor,
    or under the history `full` its state or its history. Local words pack the numbers of a part's
    components, for example of the actor's state.

    Args:
        cons: int64, flat: a hash table; a slot has the local words of a part, then part << 48 | its
            composite (-1: an empty slot).
        words: the number of local words of a part.
        loc, base: loc[base:] holds the local words of the part.
        actor: the index of the part.

    Examples:
        >>> cons = np.full(4 * 2, -1)  # four slots; each has one local word, and a composite
        >>> index_composite(cons, 3, np.array([99]), 0, 1, actor=0, number=5)
        >>> int(find_composite(cons, 1, np.array([99]), 0, actor=0))
        5
        >>> int(find_composite(cons, 1, np.array([99]), 0, actor=1))
        -1
    """
    return probe(cons, words, loc, base, actor, seek(cons, words, loc, base, actor))


@kernel
def index_composite(cons, mask, dec, at, words, actor, number):
    """Add a new composite to the hash table `cons`, which must have a free slot.

    A composite is the number that stands for the local words of a part. A part is all of an actor,
    or under the history `full` its state or its history. `find_composite` finds it then.

    Args:
        cons: int64, flat: a hash table; a slot has the local words of a part, then part << 48 | its
            composite (-1: an empty slot). Updated.
        mask: the number of slots of `cons`, a power of two, minus 1.
        dec, at: dec[at:] holds the local words of the part.
        words: the number of local words of a part.
        actor: the index of the part.
        number: the composite.

    Examples:
        >>> cons = np.full(4 * 2, -1)  # four slots; each has one local word, and a composite
        >>> index_composite(cons, 3, np.array([99]), 0, 1, actor=1, number=5)
        >>> [int(word) for word in cons if word != -1] == [99, 1 << 48 | 5]
        True
    """
    slot = np.int64((hash_words(dec, at, words) + np.uint64(actor)) >> np.uint64(16)) & mask
    while cons[slot * (words + 1) + words] != -1:
        slot = (slot + 1) & mask
    for k in range(words):
        cons[slot * (words + 1) + k] = dec[at + k]
    cons[slot * (words + 1) + words] = (actor << 48) | number


@kernel
def index_composites(cons, dec, stride, words, counts):
    """Enter all composites into an empty hash table, for example after the table became larger.

    A composite is the number that stands for the local words of a part. A part is all of an actor,
    or under the history `full` its state or its history. Local words pack the numbers of a part's
    components, for example of the actor's state.

    Args:
        cons: int64, flat, all -1; the hash table from local words to composites; updated. A slot
            has the local words of a part, then part << 48 | its composite. The number of slots is a
            power of two, and greater than the number of composites.
        dec: int64, flat; the local words of composite c of part p are at p * stride + c * words.
        stride: the number of words that `dec` has for each part.
        words: the number of local words of a part.
        counts: per part, the number of its composites.

    Examples:
        One part, whose composites 0 and 1 stand for the words 99 and 98. The hash table has four
        slots of one word and a composite:

        >>> cons = np.full(4 * 2, -1)
        >>> index_composites(cons, np.array([99, 98, 0]), 3, 1, counts=np.array([2]))
        >>> int(find_composite(cons, 1, np.array([98]), 0, actor=0))
        1
    """
    mask = cons.shape[0] // (words + 1) - 1
    for actor in range(counts.shape[0]):
        for number in range(counts[actor]):
            at = actor * stride + number * words
            index_composite(cons, mask, dec, at, words, actor, number)


@kernel
def add_composites(cons, dec, stride, words, counts, records, limits):
    """Give a number to each content of a part that has none yet, and enter it in the tables.

    The content of a part (an actor's share of a state) is its *local words*: `words` words of 64
    bits that pack the numbers of its components. Its *composite* is the number that stands for
    them. Each part numbers its composites from 0, in the order in which they are added.

    Args:
        cons: int64, flat: the hash table from local words to composites; updated. A slot has the
            local words of a part, then part << 48 | its composite (-1: an empty slot). The number
            of slots is a power of two, and greater than the number of composites can become by this
            call.
        dec: int64, flat: the local words of composite c of part p are at p * stride + c * words;
            updated.
        stride: the number of words that `dec` has for each part. It must suffice for all records.
        words: the number of local words of a part.
        counts: per part, the number of its composites; updated.
        records: int64 of shape (n, 1 + words): in each row of this array, the index of a part and
            its local words. Words that have a composite already, or that occur twice, get no second
            one.
        limits: per part, the most composites that it may have: as many as its field in a row can
            tell apart.

    Returns:
        n if all records are done. Otherwise, the index of the first record whose part is at its
        limit. The records before it have composites. Then widen the part's field in all rows, and
        call again.

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
    """Give numbers to the composites that a kernel missed, so that the kernel need not ask Python.

    A composite is the number that stands for the local words of a part: the numbers of its
    components, packed. When a kernel expands a state, it records in `misses` what it did not find
    in the tables. There are two kinds of records:

    * (256 * COMPOSE + part, its local words): the part has a content without a composite. If there
      is room, this kernel gives it the next number of the part;
    * (0, key): the result of a call is not known, for example of a handler. Only Python can make
      the call, so this kernel leaves the record.

    Depth-first searches and random walks use this kernel. A search on several threads must not: all
    threads read the tables, so only Python may change them.

    Args:
        misses: int64 of shape (n, 1 + geo[PART_WORDS]): the records, first to last. Records that
            are not done move to the front.
        control: int64; control[MISSES] is the number of records; updated to the number that
            remains.
        tables: a `Tables`. tables.cons, the hash table from local words to composites, and
            tables.dec, the local words of each composite, are updated.
        composites: a `Composites`: per part, the number of its composites (updated), and the limits
            of these numbers and of their sum.

    Returns:
        True if no record remains: expand the state again. False if some remain: return to Python,
        which makes the calls and more room, and expand the state again afterwards.
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
        if misses[r, 0] >> 8 == g.COMPOSE:
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
def mark_composites(rows, count, geo, marks):
    """Mark the composites that occur in some rows, so that the others can be dropped.

    A row is a state as one composite per part, packed into a few words. A composite is the number
    that stands for the content of one part, usually of an actor.

    Args:
        rows: int64, flat; the rows.
        count: the number of rows to read, from the first on.
        geo: int64; the sizes and switches of this search, such as geo[ACTORS]; see `geometry`.
        marks: bool, flat; updated. It has the same number of elements for each part: composite g of
            part p is at p * (len(marks) // geo[PARTS]) + g.

    Examples:
        Rows of one part, whose composite is in bits 0 to 7:

        >>> geo = np.zeros(g.GEOMETRY_SIZE, np.int64)
        >>> geo[g.PARTS], geo[g.ROW_WORDS], geo[g.ROW_MASK] = 1, 1, 0xFF
        >>> marks = np.zeros(4, bool)
        >>> mark_composites(np.array([3, 1, 3]), 3, geo, marks)
        >>> marks.tolist()
        [False, True, False, True]
    """
    rows, geo, marks = borrow(rows), borrow(geo), borrow(marks)
    room = marks.shape[0] // geo[g.PARTS]
    for r in range(count):
        at = r * geo[g.ROW_WORDS]
        for part in range(geo[g.PARTS]):
            marks[part * room + composite_in(rows, at, field_of(geo, part))] = True


@kernel
def renumber(rows, count, geo, numbers):
    """Replace the composites in some rows by other numbers, in place.

    A row is a state as one composite per part, packed into a few words. A composite is the number
    that stands for the content of one part, usually of an actor. They get new numbers when the
    search has dropped the composites that occur in no row.

    Args:
        rows: int64, flat; the rows; updated.
        count: the number of rows to change, from the first on.
        geo: int64; the sizes and switches of this search, such as geo[ACTORS]; see `geometry`.
        numbers: int64, flat; the new number of composite c of part p is at p * room + c, where room
            is len(numbers) // geo[PARTS].

    Examples:
        Rows of one part, whose composite is in bits 0 to 7. Composite 3 becomes 1, and 1 becomes 0:

        >>> geo = np.zeros(g.GEOMETRY_SIZE, np.int64)
        >>> geo[g.PARTS], geo[g.ROW_WORDS], geo[g.ROW_MASK] = 1, 1, 0xFF
        >>> rows = np.array([3, 1, 3])
        >>> renumber(rows, 3, geo, numbers=np.array([0, 0, 0, 1]))
        >>> rows.tolist()
        [1, 0, 1]
    """
    rows, geo, numbers = borrow(rows), borrow(geo), borrow(numbers)
    room = numbers.shape[0] // geo[g.PARTS]
    for r in range(count):
        at = r * geo[g.ROW_WORDS]
        for part in range(geo[g.PARTS]):
            field = field_of(geo, part)
            old = composite_in(rows, at, field)
            change_field(rows, at, field, old, numbers[part * room + old])
