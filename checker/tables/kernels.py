"""Every compiled function: look up, expand, hash, probe, grow. Arrays in, arrays out.

All words are non-negative int64 (63 usable bits), so that no kernel mixes signed and unsigned
arithmetic; hashes alone are uint64. An empty slot holds -1. Terms:

* a *local word* packs the columns of one actor (see `checker.tables.layout`); an actor has WORDS;
* a *composite* numbers the distinct local words of an actor; `cons` finds the number, `dec` the
  words;
* a *row* packs the composites of all actors into `geo.row_words` words: a global state;
* an *entry* is a row followed by one word of information (parent, transition, kind).

Kernels release the GIL; none of them writes to what another thread reads at the same time.
"""

from __future__ import annotations

import operator
from typing import Any, NamedTuple

import numpy as np
from llvmlite import ir
from numba import config, njit
from numba.core import cgutils, types
from numba.core.datamodel.models import ArrayModel
from numba.extending import intrinsic, lower_builtin, register_model
from numba.np.arrayobj import load_item, make_array, store_item

# Kinds of table look-ups; the kind, a column and two numbers make a key.
SEND, RECEIVE, TIMEOUT, LOSE, APPEND, REACT = range(1, 7)
TICK, PUSH, NOTE, TAKE, JOIN, FORGET, DROP, FINAL, RECORD, RENAME, UNSENT, TRIM = range(7, 19)
NUMBER_BITS = 25
COLUMN_BITS = 8
NUMBER_LIMIT = 1 << NUMBER_BITS
NETWORK_SENT = -2
"""In place of a delivered message's sender: the message is not delivered, it is network-sent."""
COMPOSE, RENAMED = 1, 2
"""Kinds of misses that are no table look-up, times 256 in a record's first word.

COMPOSE: of a composite; the actor is added to the kind, its local words follow.
RENAMED: of a composite's renaming; (permutation << 8 | actor) << 40 | composite follows.
"""

# Columns of an actor's local words; the channels to other actors follow.
STATE, POSITION, KNOWS, PENDING, RECORDED, STAMPS, LOSSES, CHANNELS = range(8)

# Slots of the control array of `expand`.
(
    AT_FRESH,
    END_FRESH,
    TODO,
    ASIDE,
    MISSES,
    FIRED,
    FINALS,
    FOUND,
    FULL,
    KNOWN,
    ORBIT_STATES,
    ORBIT_FIRED,
    ORBIT_FINALS,
    DECREASED,
) = range(14)
CONTROL_SIZE = 14

FLAT_BITS = 63
FLAT_MASK = (1 << FLAT_BITS) - 1
PLACE_BITS = 16
MOST_TRANSITIONS = 1 << PLACE_BITS
"""From one state; the place of a transition among them has so many bits."""

AHEAD = 8
"""How many rows ahead of their expansion what they need is asked for."""

OK, MISSED, OVERFLOWED = 0, -1, -2
NEW = np.int64(-1) << np.int64(63)
"""Marks the information word of a successor that was not visited before."""


# The geometry array: scalars, then arrays at fixed places; `Layout.geometry` makes it.
ACTORS, WORDS, ROW_WORDS, CHANNEL_COUNT, FULL_HISTORY, FORGETS, REACTS, DEC_STRIDE = range(8)
PERMUTATIONS, REN_STRIDE, COLUMN_COUNT, SWEEPS, AUDITS = range(8, 13)
TIMES_OUT, LOSES, BUDGET, CHOICES, SOUGHT, TRIMS = range(13, 19)
MOST_ACTORS, MOST_COLUMNS, MOST_CHANNELS = 16, CHANNELS + 16, 256
BAD = 19
"""Per judgement of a delivery (1 known, 2 overtaken, 4 unexpected, summed): properties violated."""
COL_WORD = BAD + 8
COL_SHIFT = COL_WORD + MOST_COLUMNS
COL_MASK = COL_SHIFT + MOST_COLUMNS
ROW_WORD = COL_MASK + MOST_COLUMNS
ROW_SHIFT = ROW_WORD + MOST_ACTORS
ROW_MASK = ROW_SHIFT + MOST_ACTORS
CHAN_SRC = ROW_MASK + MOST_ACTORS
CHAN_DST = CHAN_SRC + MOST_CHANNELS
CHAN_COL = CHAN_DST + MOST_CHANNELS
CHAN_OF = CHAN_COL + MOST_CHANNELS
"""Channel of (src, dst) at src * actors + dst, or -1."""
GEOMETRY_SIZE = CHAN_OF + MOST_ACTORS**2


class Tables(NamedTuple):
    """What the kernels look up; all arrays int64 and flat.

    Attributes:
        geo: the geometry, see above.
        table: open addressing, slot s holds a key at 2s (-1: empty) and its value at 2s + 1.
        code: effects of handlers; see `checker.tables.tabulate`.
        cons: open addressing, slot s holds the local words and actor << 48 | composite (-1: empty).
        dec: the local words of each composite; actor i's begin at i * geo[DEC_STRIDE].
        ren: int32; the renamed composites (-1: not known yet), see `represent`.
        perms: where permutation p takes actor i, at p * actors + i.
        progress: int32; of composite g of actor i, at i * geo[REN_STRIDE] + g; see `progress_of`.
    """

    geo: np.ndarray[Any, Any]
    table: np.ndarray[Any, Any]
    code: np.ndarray[Any, Any]
    cons: np.ndarray[Any, Any]
    dec: np.ndarray[Any, Any]
    ren: np.ndarray[Any, Any]
    perms: np.ndarray[Any, Any]
    progress: np.ndarray[Any, Any]


if config.DISABLE_JIT:  # type: ignore[attr-defined]

    def prefetch(_array: Any, _index: Any) -> None:
        """Do nothing: without the JIT there is nothing to hide."""

    def borrow(array: Any) -> Any:
        """Return the array: without the JIT there is no reference count."""
        return array

else:

    class Borrowed(types.Array):
        """The type of a borrowed array: an index must not be negative."""

    register_model(Borrowed)(ArrayModel)

    @lower_builtin(operator.getitem, Borrowed, types.Integer)
    def load(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        """Generate array[index] without a branch for negative indices."""
        kind, index = signature.args
        view = make_array(kind)(context, builder, args[0])
        at = context.cast(builder, args[1], index, types.intp)
        return load_item(context, builder, kind, builder.gep(view.data, [at]))

    @lower_builtin(operator.setitem, Borrowed, types.Integer, types.Any)
    def save(context: Any, builder: Any, signature: Any, args: Any) -> None:
        """Generate array[index] = value without a branch for negative indices."""
        kind, index, given = signature.args
        view = make_array(kind)(context, builder, args[0])
        at = context.cast(builder, args[1], index, types.intp)
        value = context.cast(builder, args[2], given, kind.dtype)
        store_item(context, builder, kind, value, builder.gep(view.data, [at]))

    @intrinsic
    def borrow(typingctx: Any, array: Any) -> Any:
        """Return a view of a contiguous array that takes no part in reference counting.

        The atomic increments and decrements that Numba puts around every use of an array took 85 %
        of the time of `expand`, and its care for negative indices a fifth of the instructions of
        the rest. The caller must keep the array itself alive. With NUMBA_BOUNDSCHECK=1 indices are
        checked as usual.
        """
        plain = config.BOUNDSCHECK or array.ndim != 1  # type: ignore[attr-defined]
        kind: Any = types.Array if plain else Borrowed
        borrowed = kind(array.dtype, array.ndim, array.layout)

        def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
            (struct,) = args
            for place in (0, 1):  # meminfo and parent
                kind = struct.type.elements[place]
                struct = builder.insert_value(struct, ir.Constant(kind, None), place)
            return struct

        return borrowed(array), codegen

    @intrinsic
    def prefetch(typingctx: Any, array: Any, index: Any) -> Any:
        """Ask the processor to load array[index] into its caches."""

        def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
            view = make_array(signature.args[0])(context, builder, args[0])
            address = builder.gep(view.data, [args[1]])
            byte = ir.IntType(8).as_pointer()
            flag = ir.IntType(32)
            kind = ir.FunctionType(ir.VoidType(), [byte, flag, flag, flag])
            function = cgutils.get_or_insert_function(builder.module, kind, "llvm.prefetch.p0")
            address = builder.bitcast(address, byte)
            builder.call(function, [address, flag(0), flag(1), flag(1)])
            return context.get_dummy_value()

        return types.void(array, index), codegen


@njit(cache=True, nogil=True, inline="always")
def mix(word):
    """Return a well-mixed uint64 of one word (the finaliser of splitmix64)."""
    h = np.uint64(word) + np.uint64(0x9E3779B97F4A7C15)
    h = (h ^ (h >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    h = (h ^ (h >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return h ^ (h >> np.uint64(31))


@njit(cache=True, nogil=True, inline="always")
def hash_words(array, start, count):
    """Return the uint64 hash of `count` words from array[start]."""
    h = mix(array[start])
    for k in range(1, count):
        h = mix(np.int64(h >> np.uint64(1)) ^ array[start + k])
    return h


@njit(cache=True, nogil=True, inline="always")
def key_of(kind, column, x, y):
    """Return the table key of a look-up."""
    return (((kind << COLUMN_BITS | column) << NUMBER_BITS) | x) << NUMBER_BITS | y


@njit(cache=True, nogil=True, inline="always")
def find(table, key):
    """Return the value of `key`, or -1."""
    mask = (table.shape[0] >> 1) - 1
    slot = np.int64(mix(key) >> np.uint64(20)) & mask
    while True:
        there = table[2 * slot]
        if there == key:
            return table[2 * slot + 1]
        if there == -1:
            return np.int64(-1)
        slot = (slot + 1) & mask


@njit(cache=True, nogil=True)
def store(table, keys, values):
    """Put new keys with their values into `table`, which has room for them."""
    mask = (table.shape[0] >> 1) - 1
    for k in range(keys.shape[0]):
        slot = np.int64(mix(keys[k]) >> np.uint64(20)) & mask
        while table[2 * slot] != -1 and table[2 * slot] != keys[k]:
            slot = (slot + 1) & mask
        table[2 * slot] = keys[k]
        table[2 * slot + 1] = values[k]


@njit(cache=True, nogil=True, inline="always")
def seek(cons, words, loc, base, actor):
    """Return the slot where the search for the local words loc[base:] of `actor` begins."""
    mask = cons.shape[0] // (words + 1) - 1
    return np.int64((hash_words(loc, base, words) + np.uint64(actor)) >> np.uint64(16)) & mask


@njit(cache=True, nogil=True, inline="always")
def probe(cons, words, loc, base, actor, slot):
    """Return the composite of `actor` with the local words loc[base:], or -1; see `seek`."""
    stride = words + 1
    mask = cons.shape[0] // stride - 1
    while True:
        at = slot * stride
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


@njit(cache=True, nogil=True, inline="always")
def find_composite(cons, words, loc, base, actor):
    """Return the composite of `actor` with the local words loc[base:], or -1."""
    return probe(cons, words, loc, base, actor, seek(cons, words, loc, base, actor))


@njit(cache=True, nogil=True)
def add_composites(cons, dec, stride, words, counts, records, limits):
    """Number the local words in `records` that have no number yet.

    Args:
        cons, dec: with room for all of them.
        stride: where the next actor's composites begin in `dec`.
        words: local words per actor.
        counts: per actor, composites so far; updated.
        records: (n, 1 + words): actor, local words.
        limits: per actor, the greatest number of composites that its row field holds.

    Returns:
        The number of records worked through; fewer than n when a limit was reached.
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


@njit(cache=True, nogil=True)
def mark_composites(rows, count, geo, marks):
    """Mark the composites of the first `count` rows.

    Args:
        marks: bool; of composite g of actor i at i * (its length // actors) + g.
    """
    rows, geo, marks = borrow(rows), borrow(geo), borrow(marks)
    room = marks.shape[0] // geo[ACTORS]
    for r in range(count):
        at = r * geo[ROW_WORDS]
        for actor in range(geo[ACTORS]):
            field = rows[at + geo[ROW_WORD + actor]] >> geo[ROW_SHIFT + actor]
            marks[actor * room + (field & geo[ROW_MASK + actor])] = True


@njit(cache=True, nogil=True)
def renumber(rows, count, geo, numbers):
    """Give the composites of the first `count` rows other numbers, in place.

    Args:
        numbers: int64; the new ones, at the places of `mark_composites`.
    """
    rows, geo, numbers = borrow(rows), borrow(geo), borrow(numbers)
    room = numbers.shape[0] // geo[ACTORS]
    for r in range(count):
        at = r * geo[ROW_WORDS]
        for actor in range(geo[ACTORS]):
            word, shift = at + geo[ROW_WORD + actor], geo[ROW_SHIFT + actor]
            old = rows[word] >> shift & geo[ROW_MASK + actor]
            rows[word] ^= (old ^ numbers[actor * room + old]) << shift


@njit(cache=True, nogil=True)
def index_composite(cons, mask, dec, at, words, actor, number):
    """Enter one composite, with its local words at dec[at:], into `cons`."""
    slot = np.int64((hash_words(dec, at, words) + np.uint64(actor)) >> np.uint64(16)) & mask
    while cons[slot * (words + 1) + words] != -1:
        slot = (slot + 1) & mask
    for k in range(words):
        cons[slot * (words + 1) + k] = dec[at + k]
    cons[slot * (words + 1) + words] = (actor << 48) | number


@njit(cache=True, nogil=True)
def index_composites(cons, dec, stride, words, counts):
    """Fill an empty `cons` with all composites in `dec`."""
    mask = cons.shape[0] // (words + 1) - 1
    for actor in range(counts.shape[0]):
        for number in range(counts[actor]):
            at = actor * stride + number * words
            index_composite(cons, mask, dec, at, words, actor, number)


@njit(cache=True, nogil=True, inline="always")
def get(loc, base, geo, actor, column):
    """Return a column of `actor` from the local words at loc[base:]."""
    word = loc[base + actor * geo[WORDS] + geo[COL_WORD + column]]
    return (word >> geo[COL_SHIFT + column]) & geo[COL_MASK + column]


@njit(cache=True, nogil=True, inline="always")
def put(loc, geo, actor, column, value):
    """Set a column of `actor` in the local words at loc[0:]."""
    at = actor * geo[WORDS] + geo[COL_WORD + column]
    shift = geo[COL_SHIFT + column]
    old = (loc[at] >> shift) & geo[COL_MASK + column]
    loc[at] ^= (old ^ value) << shift


@njit(cache=True, nogil=True, inline="always")
def look_up(table, key, misses, control):
    """Return the value of `key`, or -1 after recording that it is missing."""
    value = find(table, key)
    if value == -1:
        at = control[MISSES]
        if at < misses.shape[0]:
            misses[at, 0] = 0
            misses[at, 1] = key
            control[MISSES] = at + 1
    return value


@njit(cache=True, nogil=True, inline="always")
def deliver(message, sender, actor, loc, geo, table, misses, control):
    """Record a delivery in the history columns of `loc`; see `checker.semantics.history.deliver`.

    Returns:
        The judgement (see BAD), or MISSED.
    """
    item = message * geo[ACTORS] + actor
    judgement = np.int64(4)
    if sender >= 0:
        key = key_of(TAKE, sender, get(loc, 0, geo, sender, PENDING), item)
        taken = look_up(table, key, misses, control)
        if taken == -1:
            judgement = np.int64(MISSED)
        elif taken >> 57 & 1 == 0:
            put(loc, geo, sender, PENDING, taken & 0x1FFFFFF)
            key = key_of(JOIN, actor, get(loc, 0, geo, actor, KNOWS), taken >> 28 & 0x1FFFFFF)
            joined = look_up(table, key, misses, control)
            judgement = (joined >> 56 & 1) | (taken >> 56 & 1) << 1
            if joined == -1:
                judgement = np.int64(MISSED)
            else:
                put(loc, geo, actor, KNOWS, joined & 0x1FFFFFF)
                if geo[FULL_HISTORY]:
                    what = joined >> 28 & 0x1FFFFFF
                    if not record(RECORDED, actor, what, loc, geo, table, misses, control):
                        judgement = np.int64(MISSED)
                if geo[FORGETS] and not forget(item, loc, geo, table, misses, control):
                    judgement = np.int64(MISSED)
                if geo[TRIMS] and not trim(actor, loc, geo, table, misses, control):
                    judgement = np.int64(MISSED)
                if geo[REACTS]:
                    key = key_of(REACT, actor, get(loc, 0, geo, actor, POSITION), message)
                    position = look_up(table, key, misses, control)
                    if position == -1:
                        judgement = np.int64(MISSED)
                    else:
                        put(loc, geo, actor, POSITION, position)
    return judgement


@njit(cache=True, nogil=True, inline="always")
def forget(item, loc, geo, table, misses, control):
    """Remove a delivered item from all sets of messages; return whether it was known how."""
    known = True
    for actor in range(geo[ACTORS]):
        for column in range(KNOWS, PENDING + 1):
            kind = FORGET if column == KNOWS else DROP
            key = key_of(kind, actor, get(loc, 0, geo, actor, column), item)
            after = look_up(table, key, misses, control)
            if after == -1:
                known = False
            else:
                put(loc, geo, actor, column, after)
    return known


@njit(cache=True, nogil=True, inline="always")
def trim(actor, loc, geo, table, misses, control):
    """Forget what a receiver knows and cannot use any more; return whether it was known how."""
    knows, pending = get(loc, 0, geo, actor, KNOWS), get(loc, 0, geo, actor, PENDING)
    after = look_up(table, key_of(TRIM, actor, knows, pending), misses, control)
    if after != -1:
        put(loc, geo, actor, KNOWS, after)
    return after != -1


@njit(cache=True, nogil=True, inline="always")
def record(column, actor, what, loc, geo, table, misses, control):
    """Append `what` to a sequence of the `full` history; return whether its number was known."""
    key = key_of(RECORD, column << 4 | actor, get(loc, 0, geo, actor, column), what)
    number = look_up(table, key, misses, control)
    if number != -1:
        put(loc, geo, actor, column, number)
    return number != -1


@njit(cache=True, nogil=True, inline="always")
def causal_send(message, actor, loc, geo, table, misses, control):
    """Record a causal-send in the history columns of `loc`; return whether it was known how."""
    key = key_of(TICK, actor, get(loc, 0, geo, actor, KNOWS), message)
    ticked = look_up(table, key, misses, control)
    known = ticked != -1
    if known:
        put(loc, geo, actor, KNOWS, ticked & 0x1FFFFFF)
        entry = ticked >> 28
        key = key_of(PUSH, actor, get(loc, 0, geo, actor, PENDING), entry)
        pending = look_up(table, key, misses, control)
        known = pending != -1
        if known:
            put(loc, geo, actor, PENDING, pending)
        if geo[FULL_HISTORY]:
            what = look_up(table, key_of(NOTE, 0, entry, 0), misses, control)
            known = known and what != -1
            if known and what != 0:
                known = record(STAMPS, actor, what, loc, geo, table, misses, control)
    return known


@njit(cache=True, nogil=True)
def network_send(message, actor, loc, geo, table, misses, control):
    """Record a network-send, if the clock waits for it; return whether it was known how."""
    key = key_of(UNSENT, actor, get(loc, 0, geo, actor, PENDING), message)
    unsent = look_up(table, key, misses, control)
    if unsent == 1:
        return causal_send(message, actor, loc, geo, table, misses, control)
    return unsent == 0


@njit(cache=True, nogil=True, inline="always")
def room_for(geo):
    """Return the length of the working space `loc` of `successors`.

    It begins with the local words of a successor in the making and of its parent, and two rows;
    then come successors in waiting (see `await_composites`).
    """
    size = geo[ACTORS] * geo[WORDS]
    return 2 * (size + geo[ROW_WORDS]) + geo[CHOICES] * (size + geo[ACTORS] + 3)


@njit(cache=True, nogil=True, inline="always")
def await_composites(loc, size, geo, cons, base):
    """Put the successor in loc[0:] to loc[base:] until its composites are in the caches.

    Its local words are followed by a word per actor: where to begin the search for the composite,
    or -1 if that is the parent's. Looking them up one by one would wait for the memory each time.
    """
    words = geo[WORDS]
    for actor in range(geo[ACTORS]):
        same = True
        for k in range(actor * words, (actor + 1) * words):
            loc[base + k] = loc[k]
            same = same and loc[k] == loc[size + k]
        slot = np.int64(-1)
        if not same:
            slot = seek(cons, words, loc, actor * words, actor)
            prefetch(cons, slot * (words + 1))
        loc[base + size + actor] = slot


@njit(cache=True, nogil=True, inline="always")
def emit(loc, base, size, row, at, geo, cons, out, start, misses, control):
    """Encode a successor as a row into out[start:], reusing the fields that did not change.

    Args:
        base: loc[base:] holds what `await_composites` put there.
        row, at: the parent's row, at row[at:].

    Returns:
        OK or MISSED.
    """
    words = geo[WORDS]
    for k in range(geo[ROW_WORDS]):
        out[start + k] = row[at + k]
    status = np.int64(OK)
    for actor in range(geo[ACTORS]):
        slot = loc[base + size + actor]
        if slot >= 0:
            first = base + actor * words
            number = probe(cons, words, loc, first, actor, slot)
            if number == -1:
                spot = control[MISSES]
                if spot < misses.shape[0]:
                    misses[spot, 0] = COMPOSE << 8 | actor
                    for k in range(words):
                        misses[spot, 1 + k] = loc[first + k]
                    control[MISSES] = spot + 1
                status = np.int64(MISSED)
            else:
                word = start + geo[ROW_WORD + actor]
                shift = geo[ROW_SHIFT + actor]
                old = (out[word] >> shift) & geo[ROW_MASK + actor]
                out[word] ^= (old ^ number) << shift
    return status


@njit(cache=True, nogil=True, inline="always")
def prefetch_composites(row, at, geo, dec):
    """Ask for what `decode` will need of row[at:]."""
    for actor in range(geo[ACTORS]):
        field = row[at + geo[ROW_WORD + actor]] >> geo[ROW_SHIFT + actor]
        prefetch(dec, actor * geo[DEC_STRIDE] + (field & geo[ROW_MASK + actor]) * geo[WORDS])


@njit(cache=True, nogil=True, inline="always")
def decode(row, at, geo, dec, loc, base):
    """Write the local words of row[at:] to loc[base:]."""
    words = geo[WORDS]
    for actor in range(geo[ACTORS]):
        field = row[at + geo[ROW_WORD + actor]] >> geo[ROW_SHIFT + actor]
        start = actor * geo[DEC_STRIDE] + (field & geo[ROW_MASK + actor]) * words
        for k in range(words):
            loc[base + actor * words + k] = dec[start + k]


@njit(cache=True, nogil=True, inline="always")
def represent(out, start, geo, ren, perms, loc, misses, control):
    """Replace the row out[start:] by the least of its renamings.

    Permutation p renames composite g of actor i to ren[(p * actors + i) * geo[REN_STRIDE] + g] of
    actor perms[p * actors + i].

    Returns:
        The number of permutations that leave the row as it is, or MISSED.
    """
    actors, row_words = geo[ACTORS], geo[ROW_WORDS]
    best = 2 * actors * geo[WORDS]
    trial = best + row_words
    fixed = np.int64(0)
    for k in range(row_words):
        loc[best + k] = out[start + k]
    for p in range(geo[PERMUTATIONS]):
        for k in range(row_words):
            loc[trial + k] = 0
        complete = True
        for actor in range(actors):
            field = out[start + geo[ROW_WORD + actor]] >> geo[ROW_SHIFT + actor]
            number = field & geo[ROW_MASK + actor]
            renamed = np.int64(ren[(p * actors + actor) * geo[REN_STRIDE] + number])
            if renamed == -1:
                complete = False
                spot = control[MISSES]
                if spot < misses.shape[0]:
                    misses[spot, 0] = RENAMED << 8
                    misses[spot, 1] = (p << 8 | actor) << 40 | number
                    control[MISSES] = spot + 1
            else:
                target = perms[p * actors + actor]
                loc[trial + geo[ROW_WORD + target]] |= renamed << geo[ROW_SHIFT + target]
        if not complete:
            fixed = np.int64(MISSED)
        elif fixed != MISSED:
            same = True
            for k in range(row_words):
                same = same and loc[trial + k] == out[start + k]
            if same:
                fixed += 1
            less = False
            for k in range(row_words):
                if loc[trial + k] != loc[best + k]:
                    less = loc[trial + k] < loc[best + k]
                    break
            if less:
                for k in range(row_words):
                    loc[best + k] = loc[trial + k]
    if fixed != MISSED:
        for k in range(row_words):
            out[start + k] = loc[best + k]
    return fixed


@njit(cache=True, nogil=True)
def orbits(rows, count, geo, ren, perms):
    """Return the sum of the sizes of the orbits of the first `count` rows."""
    row_words = geo[ROW_WORDS]
    loc = np.empty(2 * geo[ACTORS] * geo[WORDS] + 2 * row_words, np.int64)
    row = np.empty(row_words, np.int64)
    misses = np.empty((1, 1 + geo[WORDS]), np.int64)
    control = np.zeros(CONTROL_SIZE, np.int64)
    total = np.int64(0)
    for r in range(count):
        for k in range(row_words):
            row[k] = rows[r * row_words + k]
        fixed = represent(row, 0, geo, ren, perms, loc, misses, control)
        total += (geo[PERMUTATIONS] + 1) // (fixed + 1)
    return total


@njit(cache=True, nogil=True)
def weigh(geo, dec, salts, since, counts, weights):
    """Write the weights of new composites, which depend on nothing but their columns.

    Args:
        geo, dec: as in `Tables`.
        salts: odd numbers, one per actor and column, at actor * MOST_COLUMNS + column.
        since, counts: per actor, how many composites have weights, and how many there are.
        weights: of composite g of actor i at i * geo[REN_STRIDE] + g.
    """
    loc = np.empty(geo[ACTORS] * geo[WORDS], np.int64)
    words = geo[WORDS]
    for actor in range(geo[ACTORS]):
        for number in range(since[actor], counts[actor]):
            for k in range(words):
                loc[actor * words + k] = dec[actor * geo[DEC_STRIDE] + number * words + k]
            weights[actor * geo[REN_STRIDE] + number] = weight_of(loc, geo, actor, salts)


@njit(cache=True, nogil=True, inline="always")
def weight_of(loc, geo, actor, salts):
    """Return a hash of an actor's columns in loc[0:]."""
    h = np.int64(actor)
    for column in range(geo[COLUMN_COUNT]):
        h += get(loc, 0, geo, actor, column) * salts[actor * MOST_COLUMNS + column]
    return np.int64(mix(h) >> np.uint64(1))


@njit(cache=True, nogil=True)
def lighten(rows, count, stride, geo, ren, perms, weights, dec):
    """Replace rows by the renamings of least weight, which are the same in every process.

    Composites have other numbers elsewhere, so the least row (see `represent`) would not be. Where
    two renamings weigh the same, their columns decide.

    Args:
        rows: the first `count` entries of `stride` words each begin with a row.
        geo, ren, perms, dec: as in `Tables`; all renamings are known.
        weights: see `weigh`.
    """
    actors, row_words = geo[ACTORS], geo[ROW_WORDS]
    own, best = np.empty(actors, np.int64), np.empty(actors, np.int64)
    trial = np.empty(actors, np.int64)
    for r in range(count):
        at, least = r * stride, np.int64(0)
        for actor in range(actors):
            field = rows[at + geo[ROW_WORD + actor]] >> geo[ROW_SHIFT + actor]
            own[actor] = best[actor] = field & geo[ROW_MASK + actor]
            least += weights[actor * geo[REN_STRIDE] + own[actor]]
        changed = False
        for p in range(geo[PERMUTATIONS]):
            total = np.int64(0)
            for actor in range(actors):
                target = perms[p * actors + actor]
                renamed = ren[(p * actors + actor) * geo[REN_STRIDE] + own[actor]]
                trial[target] = renamed
                total += weights[target * geo[REN_STRIDE] + renamed]
            if total < least or (total == least and comes_before(trial, best, geo, dec)):
                least, changed = total, True
                for actor in range(actors):
                    best[actor] = trial[actor]
        if changed:
            for k in range(row_words):
                rows[at + k] = 0
            for actor in range(actors):
                rows[at + geo[ROW_WORD + actor]] |= best[actor] << geo[ROW_SHIFT + actor]


@njit(cache=True, nogil=True)
def comes_before(one, other, geo, dec):
    """Return whether the columns of one row's composites are less than those of another's."""
    actors, words = geo[ACTORS], geo[WORDS]
    first, second = np.empty(actors * words, np.int64), np.empty(actors * words, np.int64)
    for actor in range(actors):
        if one[actor] == other[actor]:
            continue
        for k in range(words):
            start = actor * geo[DEC_STRIDE] + k
            first[actor * words + k] = dec[start + one[actor] * words]
            second[actor * words + k] = dec[start + other[actor] * words]
        for column in range(geo[COLUMN_COUNT]):
            a = get(first, 0, geo, actor, column)
            b = get(second, 0, geo, actor, column)
            if a != b:
                return a < b
    return False


@njit(cache=True, nogil=True)
def rename_composites(geo, table, cons, dec, ren, perms, records, misses, control):
    """Fill `ren` for the renamings listed in `records` (as in a record of RENAMED).

    What is missing for one (a renamed column, a composite) is recorded in `misses`; supply that and
    call again.
    """
    actors, words = geo[ACTORS], geo[WORDS]
    loc = np.empty(2 * actors * words, np.int64)
    for r in range(records.shape[0]):
        number = records[r] & 0xFFFFFFFFFF
        actor = records[r] >> 40 & 0xFF
        p = records[r] >> 48
        place = (p * actors + actor) * geo[REN_STRIDE] + number
        if ren[place] != -1:
            continue
        if control[MISSES] + 64 > misses.shape[0]:
            return
        target = perms[p * actors + actor]
        for k in range(words):
            start = actor * geo[DEC_STRIDE] + number * words
            loc[(actors + actor) * words + k] = dec[start + k]
            loc[target * words + k] = 0
        complete = True
        for column in range(geo[COLUMN_COUNT]):
            if RECORDED <= column <= LOSSES:
                continue
            into = column
            if column >= CHANNELS:
                into = renamed_column(geo, perms, p, actor, column)
            value = get(loc, actors * words, geo, actor, column)
            key = key_of(RENAME, p, value, column << 4 | actor)
            renamed = look_up(table, key, misses, control)
            if renamed == -1:
                complete = False
            else:
                put(loc, geo, target, into, renamed)
        if complete:
            renamed = find_composite(cons, words, loc, target * words, target)
            if renamed == -1:
                spot = control[MISSES]
                misses[spot, 0] = COMPOSE << 8 | target
                for k in range(words):
                    misses[spot, 1 + k] = loc[target * words + k]
                control[MISSES] = spot + 1
            else:
                ren[place] = renamed


@njit(cache=True, nogil=True)
def renamed_column(geo, perms, p, actor, column):
    """Return the column of the channel that a channel of `actor` becomes."""
    actors = geo[ACTORS]
    for other in range(actors):
        channel = geo[CHAN_OF + actor * actors + other]
        if channel != -1 and geo[CHAN_COL + channel] == column:
            there = perms[p * actors + actor] * actors + perms[p * actors + other]
            return geo[CHAN_COL + geo[CHAN_OF + there]]
    return np.int64(-1)


@njit(cache=True, nogil=True, inline="always")
def successors(row, at, geo, table, code, cons, dec, ren, perms, loc, out, found, misses, control):
    """Write an entry per enabled transition of row[at:], in the order of `transition.enabled`.

    Under symmetry (geo[PERMUTATIONS] > 0) each successor is replaced by its representative.

    The information word of an entry holds its transition's place (bits 0-15), the number of its
    kind (16-30) and the properties that it shows (32-62).

    Args:
        loc: int64, working space; see `room_for`.
        out: entries; one more than can be filled.
        found: bit set of properties not to report any more.

    Returns:
        The number of entries, or MISSED, or OVERFLOWED if `out` is too small.
    """
    actors, row_words = geo[ACTORS], geo[ROW_WORDS]
    size = actors * geo[WORDS]
    decode(row, at, geo, dec, loc, size)
    room = out.shape[0] // (row_words + 1) - 1
    count = np.int64(0)
    status = np.int64(OK)
    first = 2 * (size + row_words)
    step = size + actors + 3
    waiting = np.int64(0)
    channels = geo[CHANNEL_COUNT]
    receiving = actors + channels
    timing_out = receiving + actors * geo[TIMES_OUT]
    losing = timing_out + channels * geo[LOSES]
    if geo[BUDGET] and get(loc, size, geo, 0, LOSSES) == 0:
        losing = timing_out
    for source in range(losing):
        sending = source < actors
        if sending or receiving <= source < timing_out:
            actor = source if sending else source - receiving
            owner, column, at_column = actor, np.int64(POSITION), actor
            kind = SEND if sending else TIMEOUT
        else:
            kind = RECEIVE if source < receiving else LOSE
            channel = source - actors if source < receiving else source - timing_out
            owner = geo[CHAN_SRC + channel]
            actor = geo[CHAN_DST + channel]
            column = geo[CHAN_COL + channel]
            at_column = channel
        content = get(loc, size, geo, owner, column)
        if content == 0 and kind in (RECEIVE, LOSE):
            continue
        state = get(loc, size, geo, actor, STATE)
        if kind == TIMEOUT:
            key = key_of(kind, at_column, state, 0)
        elif kind == LOSE:
            key = key_of(kind, at_column, 0, content)
        else:
            key = key_of(kind, at_column, state, content)
        spot = look_up(table, key, misses, control)
        if spot == -1:
            status = np.int64(MISSED)
            continue
        alternatives = code[spot]
        spot += 1
        for _ in range(alternatives):
            for k in range(size):
                loc[k] = loc[size + k]
            shown = code[spot + 1]
            info = code[spot + 2] << 16
            stays = kind == TIMEOUT or (kind == RECEIVE and code[spot + 3] == content)
            if code[spot] != -1:
                put(loc, geo, actor, STATE, code[spot])
            if code[spot + 3] != -1:
                put(loc, geo, owner, column, code[spot + 3])
            if kind == LOSE and geo[BUDGET]:
                put(loc, geo, 0, LOSSES, get(loc, 0, geo, 0, LOSSES) - 1)
            spot += 4
            known = True
            if sending:
                if code[spot] != -1:
                    known = causal_send(code[spot], actor, loc, geo, table, misses, control)
                spot += 1
            sends = code[spot]
            spot += 1
            for _ in range(sends):
                target = geo[CHAN_OF + actor * actors + code[spot]]
                into = geo[CHAN_COL + target]
                key = key_of(APPEND, target, get(loc, 0, geo, actor, into), code[spot + 1])
                spot += 2
                after = look_up(table, key, misses, control)
                if after == -1:
                    known = False
                else:
                    put(loc, geo, actor, into, after)
            events = code[spot]
            spot += 1
            deliveries = 0
            for _ in range(events):
                deliveries += code[spot + 1] != NETWORK_SENT
                if known and code[spot + 1] == NETWORK_SENT:
                    known = network_send(code[spot], actor, loc, geo, table, misses, control)
                elif known:
                    judgement = deliver(
                        code[spot], code[spot + 1], actor, loc, geo, table, misses, control
                    )
                    if judgement == MISSED:
                        known = False
                    else:
                        shown |= geo[BAD + judgement]
                spot += 2
            if not known:
                status = np.int64(MISSED)
                continue
            base = first + waiting * step
            await_composites(loc, size, geo, cons, base)
            base += size + actors
            loc[base], loc[base + 1], loc[base + 2] = info, shown, stays and deliveries == 0
            waiting += 1
    if waiting > room:
        return np.int64(OVERFLOWED)
    for k in range(waiting):
        base = first + k * step
        start = count * (row_words + 1)
        if emit(loc, base, size, row, at, geo, cons, out, start, misses, control) != OK:
            status = np.int64(MISSED)
            continue
        base += size + actors
        if loc[base + 2]:
            # What takes nothing and changes nothing is no transition.
            changed = False
            for w in range(row_words):
                changed = changed or out[start + w] != row[at + w]
            if not changed:
                continue
        if geo[PERMUTATIONS]:
            if represent(out, start, geo, ren, perms, loc, misses, control) == MISSED:
                status = np.int64(MISSED)
                continue
        out[start + row_words] = count | loc[base] | (loc[base + 1] & ~found) << 32
        count += 1
    return count if status == OK else status


@njit(cache=True, nogil=True, inline="always")
def judge_final(row, at, geo, table, dec, loc, misses, control):
    """Return the properties that a final state violates or, if sought, shows (bits), or MISSED.

    An entry's bit of a property that is sought means that the actor is not as looked for.
    """
    violated = np.int64(0)
    status = np.int64(OK)
    decode(row, at, geo, dec, loc, 0)
    for actor in range(geo[ACTORS]):
        position = get(loc, 0, geo, actor, POSITION)
        key = key_of(FINAL, actor, get(loc, 0, geo, actor, PENDING), position)
        verdict = look_up(table, key, misses, control)
        if verdict == -1:
            status = np.int64(MISSED)
        else:
            violated |= verdict
    return violated ^ geo[SOUGHT] if status == OK else status


@njit(cache=True, nogil=True)
def expand(
    rows, todo, tables, me, owners, out, sizes, order, recent, aside, misses, shown, fired, control
):
    """Expand rows of one thread's frontier and sort their successors by owner.

    First the rows listed in `todo`, then those from control[AT_FRESH] to control[END_FRESH], until
    they are done or a buffer is full. A row that misses a table entry is listed in `aside`.

    Args:
        rows: the frontier, flat.
        todo: indices; control[TODO] says how many.
        me, owners: whose frontier it is, the number of threads.
        out: (owners, entries * (row words + 1)): successors per owner; information words hold
            parent * owners + me (bits 31-62), the transition's place (0-15) and kind (16-30).
        sizes: per owner, the entries in `out`; updated.
        order: uint16; to which owner each entry was sent, in the order of sending; updated.
        recent: flat, a power of two of rows sent lately (-1: none), which are not sent again; or
            empty.
        aside: indices of rows set aside; control[ASIDE] counts them.
        misses: (n, 1 + words) records; control[MISSES] counts them.
        shown: (n, 3): property bit set, row index * owners + me, place (-1: the state itself);
            control[FOUND] counts them.
        fired: per kind, transitions fired; updated.
        control: see the names above; FIRED and FINALS are added to; FULL is set to the number of
            successors of a row if that is more than `out`, or a place, has room for; KNOWN is the
            bit set of properties not to report any more; DECREASED counts successors with less
            progress, if geo[AUDITS].
    """
    rows, todo, aside, misses, control = (
        borrow(rows),
        borrow(todo),
        borrow(aside),
        borrow(misses),
        borrow(control),
    )
    geo, table, code = borrow(tables.geo), borrow(tables.table), borrow(tables.code)
    cons, dec, out = borrow(tables.cons), borrow(tables.dec), borrow(out)
    ren, perms, progress = borrow(tables.ren), borrow(tables.perms), borrow(tables.progress)
    row_words = geo[ROW_WORDS]
    stride = row_words + 1
    capacity = out.shape[1] // stride
    own_loc = np.empty(room_for(geo), np.int64)
    own_block = np.empty(4096 * stride, np.int64)
    loc, block = borrow(own_loc), borrow(own_block)
    found = control[KNOWN]
    recent, order = borrow(recent), borrow(order)
    sent = sizes.sum()
    remembered = recent.shape[0] // row_words
    done_todo = np.int64(0)
    while True:
        if done_todo < control[TODO]:
            index = todo[done_todo]
        elif control[AT_FRESH] < control[END_FRESH]:
            index = control[AT_FRESH]
        else:
            break
        if control[ASIDE] == aside.shape[0] or control[MISSES] >= misses.shape[0] - 64:
            break
        at = index * row_words
        if index + AHEAD < control[END_FRESH]:
            prefetch_composites(rows, at + AHEAD * row_words, geo, dec)
        count = successors(
            rows, at, geo, table, code, cons, dec, ren, perms, loc, block, found, misses, control
        )
        violated = np.int64(0)
        orbit = np.int64(1)
        if geo[PERMUTATIONS] and count >= 0:
            for k in range(row_words):
                block[count * stride + k] = rows[at + k]
            fixed = represent(block, count * stride, geo, ren, perms, loc, misses, control)
            if fixed == MISSED:
                count = np.int64(MISSED)
            else:
                orbit = (geo[PERMUTATIONS] + 1) // (fixed + 1)
        if count == 0:
            violated = judge_final(rows, at, geo, table, dec, loc, misses, control)
            if violated == MISSED:
                count = np.int64(MISSED)
        if count == OVERFLOWED:
            own_block = np.empty(2 * block.shape[0], np.int64)
            block = borrow(own_block)
            continue
        if count > capacity or count > MOST_TRANSITIONS:
            control[FULL] = count
            break
        if count == MISSED:
            aside[control[ASIDE]] = index
            control[ASIDE] += 1
        else:
            full = False
            for o in range(owners):
                full = full or sizes[o] + count > capacity
            if full:
                break
            for e in range(count):
                start = e * stride
                h = hash_words(block, start, row_words)
                if remembered:
                    spot = (np.int64(h >> np.uint64(20)) & (remembered - 1)) * row_words
                    known = True
                    for k in range(row_words):
                        known = known and recent[spot + k] == block[start + k]
                        recent[spot + k] = block[start + k]
                    if known:
                        continue
                owner = owner_by(h, owners)
                target = sizes[owner] * stride
                for k in range(row_words):
                    out[owner, target + k] = block[start + k]
                info = block[start + row_words]
                out[owner, target + row_words] = (index * owners + me) << 31 | info & 0x7FFFFFFF
                sizes[owner] += 1
                order[sent] = owner
                sent += 1
            if geo[AUDITS]:
                least = progress_of(rows, at, geo, progress)
                for e in range(count):
                    if progress_of(block, e * stride, geo, progress) < least:
                        control[DECREASED] += 1
            for e in range(count):
                info = block[e * stride + row_words]
                fired[info >> 16 & 0x7FFF] += 1
                if info >> 32:
                    note(shown, control, info >> 32, index * owners + me, info & 0xFFFF)
            control[FIRED] += count
            control[ORBIT_STATES] += orbit
            control[ORBIT_FIRED] += orbit * count
            if count == 0:
                control[FINALS] += 1
                control[ORBIT_FINALS] += orbit
                if violated & ~found:
                    note(shown, control, violated & ~found, index * owners + me, -1)
        if done_todo < control[TODO]:
            done_todo += 1
        else:
            control[AT_FRESH] += 1
    left = control[TODO] - done_todo
    for k in range(left):
        todo[k] = todo[done_todo + k]
    control[TODO] = left
    # Borrowed arrays die with their owners, so the owners must be used last.
    own_loc[0] = own_block[0] = 0


@njit(cache=True, nogil=True)
def note(shown, control, what, link, place):
    """Record that a transition shows properties, unless that is known or there is no room."""
    at = control[FOUND]
    for k in range(at):
        if what & ~shown[k, 0] == 0 and (place >= 0) == (shown[k, 2] >= 0):
            return
    if at < shown.shape[0]:
        shown[at, 0] = what
        shown[at, 1] = link
        shown[at, 2] = place
        control[FOUND] = at + 1


@njit(cache=True, nogil=True, inline="always")
def home(h, capacity):
    """Return the slot where a hash belongs; greater hashes have greater homes."""
    return np.int64(((h >> np.uint64(32)) * np.uint64(capacity)) >> np.uint64(32))


@njit(cache=True, nogil=True)
def insert(out, sizes, start, geo, slots, table, progress, tally):
    """Insert the successors that one owner was sent into its visited set, and mark the new ones.

    Args:
        out: (threads, entries * (row words + 1)): what each thread sent to this owner; the
            information words of new states become negative.
        sizes: per thread, how many entries.
        start: [thread, entry] to begin with; updated.
        geo: the geometry.
        slots: the visited set, open addressing.
        table: int64 [capacity, states, limit of states, words per slot (0: fingerprints), end of
            the slots]; states are updated.
        progress: as in Tables.
        tally: per progress, how many states have it; updated if geo[SWEEPS].

    Returns:
        0 when all is inserted, 1 when the visited set must grow.
    """
    row_words = geo[ROW_WORDS]
    stride = row_words + 1
    slots = borrow(slots)
    capacity = table[0]
    exact = table[3] != 0
    width = row_words if exact else 1
    ahead = 12
    pending = np.empty(ahead, np.int64)
    limit = table[4]
    for thread in range(start[0], sizes.shape[0]):
        first = start[1]
        size = sizes[thread]
        source = borrow(out[thread])
        for k in range(first, min(first + ahead, size)):
            slot = home(hash_words(source, k * stride, row_words), capacity)
            pending[k % ahead] = slot
            prefetch(slots, slot * width)
        for e in range(first, size):
            if table[1] >= table[2]:
                start[0], start[1] = thread, e
                return 1
            slot = pending[e % ahead]
            if e + ahead < size:
                later = home(hash_words(source, (e + ahead) * stride, row_words), capacity)
                pending[e % ahead] = later
                prefetch(slots, later * width)
            at = e * stride
            if exact:
                fresh = claim(slots, slot, limit, source, at, row_words)
            else:
                fresh = claim_mark(slots, slot, limit, hash_words(source, at, row_words))
            if fresh == 0:
                continue
            if fresh == MISSED:
                start[0], start[1] = thread, e
                return 1
            table[1] += 1
            source[at + row_words] |= NEW
            if geo[SWEEPS]:
                tally[progress_of(source, at, geo, progress)] += 1
        start[0], start[1] = thread + 1, 0
    return 0


@njit(cache=True, nogil=True)
def gather(out, order, sent, row_words, count, rows, parents, places, keeps_parents, kinds):
    """Append the new ones among the successors that one thread sent to its next frontier.

    They are appended in the order in which they were found: neighbours in a frontier have most of
    their parts in common, so what one needs of the tables is still in the caches for the next one.

    Args:
        out: (owners, entries * (row words + 1)): what this thread sent, as `insert` leaves it.
        order: to which owner each entry was sent, in the order of sending.
        sent: how many entries.
        row_words: words per row.
        count: rows in the frontier so far.
        rows: the frontier, flat, with room for all entries.
        parents, places: uint32 and uint16; of each new row, if keeps_parents.
        kinds: per kind, how many of its transitions led to a new state; updated.

    Returns:
        The number of rows in the frontier.
    """
    stride = row_words + 1
    rows, parents, places = borrow(rows), borrow(parents), borrow(places)
    out, order = borrow(out), borrow(order)
    at = np.zeros(out.shape[0], np.int64)
    for e in range(sent):
        owner = np.int64(order[e])
        entry = at[owner]
        at[owner] = entry + stride
        info = out[owner, entry + row_words]
        if info >= 0:
            continue
        for k in range(row_words):
            rows[count * row_words + k] = out[owner, entry + k]
        kinds[info >> 16 & 0x7FFF] += 1
        if keeps_parents:
            parents[count] = info >> 31 & 0xFFFFFFFF
            places[count] = info & 0xFFFF
        count += 1
    return count


@njit(cache=True, nogil=True, inline="always")
def progress_of(row, at, geo, progress):
    """Return the progress of row[at:]: what never decreases along a transition.

    It is the sum over actors of the messages causal-sent, weighted, less the copies of them that
    are still undelivered.
    """
    total = np.int64(0)
    for actor in range(geo[ACTORS]):
        field = row[at + geo[ROW_WORD + actor]] >> geo[ROW_SHIFT + actor]
        total += progress[actor * geo[REN_STRIDE] + (field & geo[ROW_MASK + actor])]
    return total


@njit(cache=True, nogil=True)
def least_progress(rows, count, geo, progress, most):
    """Return the least progress of the first `count` rows, or `most` if there are none."""
    least = np.int64(most)
    for r in range(count):
        least = min(least, progress_of(rows, r * geo[ROW_WORDS], geo, progress))
    return least


@njit(cache=True, nogil=True)
def count_progress(slots, total, geo, progress, tally):
    """Add the progress of every state in the first `total` slots to `tally`."""
    for slot in range(total):
        if slots[slot * geo[ROW_WORDS]] != -1:
            tally[progress_of(slots, slot * geo[ROW_WORDS], geo, progress)] += 1


@njit(cache=True, nogil=True)
def sweep(slots, tail, old, new, geo, progress, least):
    """Drop the states of an exact visited set whose progress is below `least`, in place.

    The set shrinks from `old` to `new` slots. Homes move to the left with fewer slots, so working
    from the first run to the last never meets a slot that is still to be read: a run of survivors
    cannot reach beyond the slots that they held before.

    Returns:
        The number of states dropped.
    """
    width = geo[ROW_WORDS]
    slots, geo, progress = borrow(slots), borrow(geo), borrow(progress)
    own_buffer = np.empty(1024 * width, np.int64)
    buffer = borrow(own_buffer)
    dropped = np.int64(0)
    begin = np.int64(0)
    while begin < old + tail:
        if slots[begin * width] == -1:
            begin += 1
            continue
        end = begin
        while end < old + tail and slots[end * width] != -1:
            end += 1
        length = (end - begin) * width
        if length > buffer.shape[0]:
            own_buffer = np.empty(2 * length, np.int64)
            buffer = borrow(own_buffer)
        for k in range(length):
            buffer[k] = slots[begin * width + k]
            slots[begin * width + k] = -1
        for e in range(end - begin):
            if progress_of(buffer, e * width, geo, progress) < least:
                dropped += 1
                continue
            slot = home(hash_words(buffer, e * width, width), new)
            while slots[slot * width] != -1:
                slot += 1
            for k in range(width):
                slots[slot * width + k] = buffer[e * width + k]
        begin = end
    own_buffer[0] = 0
    return dropped


@njit(cache=True, nogil=True, inline="always")
def claim(slots, slot, limit, source, at, width):
    """Put the row source[at:] into the visited set unless it is there.

    Returns:
        1 if it is new, 0 if not, MISSED if the slots before `limit` are taken.
    """
    while slot < limit:
        spot = slot * width
        if slots[spot] == -1:
            for k in range(width):
                slots[spot + k] = source[at + k]
            return 1
        same = True
        for k in range(width):
            if slots[spot + k] != source[at + k]:
                same = False
                break
        if same:
            return 0
        slot += 1
    return MISSED


@njit(cache=True, nogil=True, inline="always")
def claim_mark(slots, slot, limit, h):
    """Put a fingerprint into the visited set unless it is there; returns as `claim`."""
    mark = np.int64(h >> np.uint64(1))
    while slot < limit:
        if slots[slot] == -1:
            slots[slot] = mark
            return 1
        if slots[slot] == mark:
            return 0
        slot += 1
    return MISSED


@njit(cache=True, nogil=True, inline="always")
def owner_of(array, start, row_words, owners):
    """Return the thread that owns a row."""
    return owner_by(hash_words(array, start, row_words), owners)


@njit(cache=True, nogil=True, inline="always")
def owner_by(h, owners):
    """Return the thread that owns the rows with hash `h`; homes depend on its other half."""
    return np.int64(((h & np.uint64(0xFFFFFFFF)) * np.uint64(owners)) >> np.uint64(32))


@njit(cache=True, nogil=True)
def reinsert(rows, row_words, me, owners, start, slots, table):
    """Insert those of different rows that `me` owns into an exact visited set.

    Args:
        rows: flat; start[0] says where to begin and is updated.
        table: as for `insert`.

    Returns:
        0 when all is inserted, 1 when the visited set must grow.
    """
    for r in range(start[0], rows.shape[0] // row_words):
        at = r * row_words
        if owner_of(rows, at, row_words, owners) != me:
            continue
        start[0] = r
        if table[1] >= table[2]:
            return 1
        slot = home(hash_words(rows, at, row_words), table[0])
        fresh = claim(slots, slot, table[4], rows, at, row_words)
        if fresh == MISSED:
            return 1
        table[1] += fresh
    return 0


@njit(cache=True, nogil=True, inline="always")
def home_of_slot(slots, slot, width, exact, capacity):
    """Return the home of what a slot holds."""
    if exact:
        return home(hash_words(slots, slot * width, width), capacity)
    return home(np.uint64(slots[slot]) << np.uint64(1), capacity)


@njit(cache=True, nogil=True)
def grow(slots, tail, width, exact, old, new):
    """Spread a visited set over a greater capacity, in place.

    Homes grow with hashes, so states move to the right, and working from the last slot to the first
    never meets a slot that is still to be moved. The few states that would not move (their new home
    is before the slot to which they were pushed) are put back last.

    Args:
        slots: with room for new + tail slots; those from old + tail on are set to empty here.
        tail: slots behind the last home, for runs that reach beyond it.
        width: words per slot.
        exact: slots hold rows, not fingerprints.
        old, new: capacities.

    Returns:
        Whether the tail sufficed.
    """
    for k in range((old + tail) * width, (new + tail) * width):
        slots[k] = -1
    slots = borrow(slots)
    own_stash = np.empty(1024 * width, np.int64)
    stash, stashed = borrow(own_stash), np.int64(0)
    for slot in range(old + tail - 1, -1, -1):
        if slots[slot * width] == -1:
            continue
        place = home_of_slot(slots, slot, width, exact, new)
        if place < slot:
            if (stashed + 1) * width > stash.shape[0]:
                larger = np.empty(2 * stash.shape[0], np.int64)
                larger[: stash.shape[0]] = stash
                own_stash = larger
                stash = borrow(own_stash)
            for k in range(width):
                stash[stashed * width + k] = slots[slot * width + k]
                slots[slot * width + k] = -1
            stashed += 1
            continue
        while place != slot and slots[place * width] != -1:
            place += 1
        if place >= new + tail - 1:
            return False
        if place != slot:
            for k in range(width):
                slots[place * width + k] = slots[slot * width + k]
                slots[slot * width + k] = -1
    for s in range(stashed):
        place = home_of_slot(stash, s, width, exact, new)
        while slots[place * width] != -1:
            place += 1
        if place >= new + tail - 1:
            return False
        for k in range(width):
            slots[place * width + k] = stash[s * width + k]
    own_stash[0] = 0
    return True


# Slots of the control arrays of `descend` and `wander`; they use MISSES, FIRED, FINALS, KNOWN, too.
(
    STEPS,
    MAX_DEPTH,
    DEEPEST,
    RAISING,
    SHOWN,
    VIOLATED,
    FRAMES,
    ENTERING,
    CUT,
    WALKS,
    LENGTH,
    TOTAL,
) = range(CONTROL_SIZE, CONTROL_SIZE + 12)
STEPWISE_CONTROL_SIZE = CONTROL_SIZE + 12

SHOWS, RAISES, FULL_SET, CROWDED = -3, -4, -5, -6
"""Why `descend` and `wander` return, besides OK, MISSED and OVERFLOWED: properties are shown; a
handler raised on the transition just taken; a visited set must grow; a state has more than
MOST_TRANSITIONS transitions."""


@njit(cache=True, nogil=True, inline="always")
def borrowed(tables):
    """Return the tables with every array borrowed; see `borrow`."""
    return Tables(
        borrow(tables.geo),
        borrow(tables.table),
        borrow(tables.code),
        borrow(tables.cons),
        borrow(tables.dec),
        borrow(tables.ren),
        borrow(tables.perms),
        borrow(tables.progress),
    )


@njit(cache=True, nogil=True)
def compose_missed(misses, control, tables, counts, limits):
    """Number the composites in `misses` as far as there is room; keep the other records.

    Args:
        counts: per actor, composites so far; updated.
        limits: per actor, then over all actors: the most that there is room for.

    Returns:
        Whether nothing is missing any more.
    """
    geo, cons, dec = tables.geo, tables.cons, tables.dec
    words = geo[WORDS]
    mask = cons.shape[0] // (words + 1) - 1
    total = np.int64(0)
    for actor in range(geo[ACTORS]):
        total += counts[actor]
    kept = np.int64(0)
    for r in range(control[MISSES]):
        done = False
        if misses[r, 0] >> 8 == COMPOSE:
            actor = misses[r, 0] & 0xFF
            at = actor * geo[DEC_STRIDE] + counts[actor] * words
            if counts[actor] < limits[actor] and total < limits[geo[ACTORS]]:
                done = True
                for k in range(words):
                    dec[at + k] = misses[r, 1 + k]
                if find_composite(cons, words, dec, at, actor) == -1:
                    index_composite(cons, mask, dec, at, words, actor, counts[actor])
                    counts[actor] += 1
                    total += 1
        if not done:
            for k in range(misses.shape[1]):
                misses[kept, k] = misses[r, k]
            kept += 1
    control[MISSES] = kept
    return kept == 0


@njit(cache=True, nogil=True)
def enter(rows, at, tables, loc, out, counts, limits, misses, control):
    """Write the successors of rows[at:], numbering new composites; judge it if it is final.

    Depth-first search meets new composites one by one; to return to Python for each would take most
    of its time.

    Args:
        loc, out: as for `successors`.
        counts, limits: as for `compose_missed`.
        control: VIOLATED is set to the properties that a final state violates.

    Returns:
        The number of successors, MISSED, OVERFLOWED or CROWDED.
    """
    geo, table, dec = tables.geo, tables.table, tables.dec
    if out.shape[0] <= geo[ROW_WORDS]:
        return np.int64(OVERFLOWED)
    while True:
        control[MISSES] = 0
        count = successors(
            rows,
            at,
            geo,
            table,
            tables.code,
            tables.cons,
            dec,
            tables.ren,
            tables.perms,
            loc,
            out,
            control[KNOWN],
            misses,
            control,
        )
        if count != MISSED or not compose_missed(misses, control, tables, counts, limits):
            break
    if count > MOST_TRANSITIONS:
        return np.int64(CROWDED)
    if count == 0:
        violated = judge_final(rows, at, geo, table, dec, loc, misses, control)
        control[VIOLATED] = violated
        if violated == MISSED:
            count = np.int64(MISSED)
    return count


@njit(cache=True, nogil=True, inline="always")
def claim_row(slots, figures, source, at, row_words):
    """Put the row source[at:] into a visited set unless it is there; returns as `claim`.

    Args:
        figures: of the set, as the table of `insert`; the states are updated.
    """
    h = hash_words(source, at, row_words)
    slot = home(h, figures[0])
    if figures[3]:
        fresh = claim(slots, slot, figures[4], source, at, row_words)
    else:
        fresh = claim_mark(slots, slot, figures[4], h)
    if fresh == 1:
        figures[1] += 1
    return fresh


@njit(cache=True, nogil=True)
def descend(stack, frames, tables, counts, limits, slots, figures, misses, fired, kinds, control):
    """Search depth-first, taking transitions in the order of `transition.enabled`.

    A frame is a state on the path, with the entries of its successors on the stack; frame f holds
    [the next entry, the end of its entries] at frames[2 * f], and begins where frame f - 1 ends.
    Frame 0 holds the initial state alone.

    Args:
        stack: entries, flat.
        counts, limits: as for `compose_missed`.
        slots, figures: the visited set, as for `claim_row`.
        fired, kinds: per kind, transitions taken, and those that led to a new state; updated.
        control: STEPS says how many transitions to take at most. FRAMES are on the stack; if
            ENTERING, the entry before the top frame's next one is a new state without a frame.
            SHOWN is set to the properties that the last transition showed (KNOWN ones are not);
            RAISING is the property that stands for a handler that raised. States at MAX_DEPTH are
            not expanded, and CUT is set.

    Returns:
        OK when the budget is spent or all is done (one frame is left), MISSED, OVERFLOWED (the
        stack or frames have no room), SHOWS, RAISES or FULL_SET. Call again to go on.
    """
    stack, frames, slots = borrow(stack), borrow(frames), borrow(slots)
    counts, limits, figures = borrow(counts), borrow(limits), borrow(figures)
    misses, control, fired, kinds = borrow(misses), borrow(control), borrow(fired), borrow(kinds)
    tables = borrowed(tables)
    geo = tables.geo
    row_words = geo[ROW_WORDS]
    stride = row_words + 1
    own_loc = np.empty(room_for(geo), np.int64)
    loc = borrow(own_loc)
    width = row_words if figures[3] else 1
    depth = control[FRAMES]
    most = control[MAX_DEPTH]
    status = np.int64(OK)
    while True:
        top = 2 * depth - 2
        if control[ENTERING]:
            if top + 4 > frames.shape[0]:
                status = np.int64(OVERFLOWED)
                break
            end = frames[top + 1]
            here = (frames[top] - 1) * stride
            out = stack[end * stride :]
            count = enter(stack, here, tables, loc, out, counts, limits, misses, control)
            if count < 0:
                status = count
                break
            if count == 0:
                control[FINALS] += 1
                control[SHOWN] |= control[VIOLATED] & ~control[KNOWN]
            elif depth >= most:
                control[CUT] = 1
                count = np.int64(0)
            for e in range(end, end + count):
                later = home(hash_words(stack, e * stride, row_words), figures[0])
                prefetch(slots, later * width)
            control[ENTERING] = 0
            depth += 1
            top += 2
            frames[top] = end
            frames[top + 1] = end + count
        if control[SHOWN]:
            status = np.int64(SHOWS)
            break
        while top > 0 and frames[top] == frames[top + 1]:
            depth -= 1
            top -= 2
        if top == 0 or control[STEPS] <= 0:
            break
        entry = frames[top]
        info = stack[entry * stride + row_words]
        shown = info >> 32 & ~control[KNOWN]
        if shown & control[RAISING]:
            frames[top] = entry + 1
            status = np.int64(RAISES)
            break
        fresh = MISSED
        if figures[1] < figures[2]:
            fresh = claim_row(slots, figures, stack, entry * stride, row_words)
        if fresh == MISSED:
            status = np.int64(FULL_SET)
            break
        frames[top] = entry + 1
        kind = info >> 16 & 0x7FFF
        control[STEPS] -= 1
        control[FIRED] += 1
        control[SHOWN] = shown
        fired[kind] += 1
        if fresh:
            kinds[kind] += 1
            control[ENTERING] = 1
            control[DEEPEST] = max(control[DEEPEST], depth)
    control[FRAMES] = depth
    # Borrowed arrays die with their owners, so the owner must be used last.
    own_loc[0] = 0
    return status


@njit(cache=True, nogil=True, inline="always")
def draw(generator, choices):
    """Return one of 0 … choices - 1, equally likely (splitmix64; generator[0] is its state)."""
    most = np.int64(1) << 62
    most -= most % choices
    while True:
        word = np.int64(mix(generator[0]) >> np.uint64(2))
        generator[0] += np.uint64(0x9E3779B97F4A7C15)
        if word < most:
            return word % choices


@njit(cache=True, nogil=True)
def wander(
    rows,
    places,
    generator,
    tables,
    counts,
    limits,
    slots,
    figures,
    final_slots,
    final_figures,
    misses,
    fired,
    kinds,
    control,
):
    """Walk at random from the initial state to a final one or to MAX_DEPTH, again and again.

    Args:
        rows: entries, flat: the initial state, the state where the walk is, room for successors.
        places: of the transitions of this walk; control[LENGTH] of them.
        generator: see `draw`.
        counts, limits: as for `compose_missed`.
        slots, figures, final_slots, final_figures: the states and the final states met, as for
            `claim_row`.
        fired, kinds: as for `descend`.
        control: as for `descend`; WALKS are left after this one; if not ENTERING, the walk is over.
            TOTAL counts the states met.

    Returns:
        OK when the budget is spent or no walk is left, or else as `descend`.
    """
    rows, places, generator = borrow(rows), borrow(places), borrow(generator)
    slots, figures, counts, limits = borrow(slots), borrow(figures), borrow(counts), borrow(limits)
    final_slots, final_figures = borrow(final_slots), borrow(final_figures)
    misses, control, fired, kinds = borrow(misses), borrow(control), borrow(fired), borrow(kinds)
    tables = borrowed(tables)
    geo = tables.geo
    row_words = geo[ROW_WORDS]
    stride = row_words + 1
    own_loc = np.empty(room_for(geo), np.int64)
    loc = borrow(own_loc)
    out = rows[2 * stride :]
    most = control[MAX_DEPTH]
    status = np.int64(OK)
    while control[STEPS] > 0:
        if not control[ENTERING]:
            if control[WALKS] == 0:
                break
            for k in range(row_words):
                rows[stride + k] = rows[k]
            control[WALKS] -= 1
            control[STEPS] -= 1
            control[TOTAL] += 1
            control[LENGTH] = 0
            control[ENTERING] = 1
        if figures[1] >= figures[2] or final_figures[1] >= final_figures[2]:
            status = np.int64(FULL_SET)
            break
        if control[LENGTH] == places.shape[0]:
            status = np.int64(OVERFLOWED)
            break
        count = enter(rows, stride, tables, loc, out, counts, limits, misses, control)
        if count < 0:
            status = count
            break
        if count == 0:
            fresh = claim_row(final_slots, final_figures, rows, stride, row_words)
            if fresh == MISSED:
                status = np.int64(FULL_SET)
                break
            control[ENTERING] = 0
            control[FINALS] += fresh
            control[SHOWN] = control[VIOLATED] & ~control[KNOWN]
        elif control[LENGTH] + 1 >= most:
            control[ENTERING] = 0
        else:
            before = generator[0]
            place = draw(generator, count)
            chosen = place * stride
            info = out[chosen + row_words]
            shown = info >> 32 & ~control[KNOWN]
            places[control[LENGTH]] = place
            if shown & control[RAISING]:
                control[LENGTH] += 1
                status = np.int64(RAISES)
                break
            fresh = claim_row(slots, figures, out, chosen, row_words)
            if fresh == MISSED:
                generator[0] = before
                status = np.int64(FULL_SET)
                break
            for k in range(row_words):
                rows[stride + k] = out[chosen + k]
            kind = info >> 16 & 0x7FFF
            fired[kind] += 1
            kinds[kind] += fresh
            control[STEPS] -= 1
            control[TOTAL] += 1
            control[LENGTH] += 1
            control[DEEPEST] = max(control[DEEPEST], control[LENGTH] + 1)
            control[SHOWN] = shown
        if control[SHOWN]:
            status = np.int64(SHOWS)
            break
    # Borrowed arrays die with their owners, so the owner must be used last.
    own_loc[0] = 0
    return status


# Rows that travel: see `checker.spark.rows`


@njit(cache=True, nogil=True, inline="always")
def pack_flat(loc, widths, out, start):
    """Pack local words bit by bit into out[start:].

    Args:
        loc: the local words of all actors.
        widths: how many bits of each are in use.
    """
    word, used = start, np.int64(0)
    out[word] = 0
    for k in range(widths.shape[0]):
        value, width = loc[k], widths[k]
        out[word] |= (value << used) & FLAT_MASK
        used += width
        if (used >= FLAT_BITS and k + 1 < widths.shape[0]) or used > FLAT_BITS:
            used -= FLAT_BITS
            word += 1
            out[word] = value >> (width - used)


@njit(cache=True, nogil=True, inline="always")
def unpack_flat(flat, start, widths, loc):
    """Write the local words packed at flat[start:] to loc[0:]."""
    word, used = start, np.int64(0)
    for k in range(widths.shape[0]):
        width = widths[k]
        value = flat[word] >> used
        used += width
        if (used >= FLAT_BITS and k + 1 < widths.shape[0]) or used > FLAT_BITS:
            used -= FLAT_BITS
            word += 1
            if used:
                value |= flat[word] << (width - used)
        loc[k] = value & ((np.int64(1) << width) - 1)


@njit(cache=True, nogil=True)
def compose(flat, which, flat_words, widths, tables, counts, limits, rows):
    """Translate flat rows into rows of composites, numbering new composites.

    Args:
        flat: flat rows, one after the other.
        which: indices of those to translate.
        flat_words: words of a flat row.
        widths: as for `pack_flat`.
        counts, limits: as for `compose_missed`.
        rows: takes the rows of composites.

    Returns:
        How many were translated; fewer than all where there is no more room for composites.
    """
    flat, which, widths, rows = borrow(flat), borrow(which), borrow(widths), borrow(rows)
    geo, cons, dec = borrow(tables.geo), borrow(tables.cons), borrow(tables.dec)
    words, actors, row_words = geo[WORDS], geo[ACTORS], geo[ROW_WORDS]
    mask = cons.shape[0] // (words + 1) - 1
    own_loc = np.empty(actors * words, np.int64)
    loc = borrow(own_loc)
    done = which.shape[0]
    total = counts.sum()
    for r in range(which.shape[0]):
        unpack_flat(flat, which[r] * flat_words, widths, loc)
        for k in range(row_words):
            rows[r * row_words + k] = 0
        room = True
        for actor in range(actors):
            number = find_composite(cons, words, loc, actor * words, actor)
            if number == -1:
                room = counts[actor] < limits[actor] and total < limits[actors]
                if not room:
                    break
                number = counts[actor]
                at = actor * geo[DEC_STRIDE] + number * words
                for k in range(words):
                    dec[at + k] = loc[actor * words + k]
                index_composite(cons, mask, dec, at, words, actor, number)
                counts[actor] += 1
                total += 1
            rows[r * row_words + geo[ROW_WORD + actor]] |= number << geo[ROW_SHIFT + actor]
        if not room:
            done = r
            break
    own_loc[0] = 0
    return done


@njit(cache=True, nogil=True)
def flatten(rows, count, stride, geo, dec, widths, flat_words, flat):
    """Translate rows of composites into flat rows.

    Args:
        rows: the first `count` entries of `stride` words each begin with a row.
        flat: takes the flat rows.
    """
    rows, widths, flat = borrow(rows), borrow(widths), borrow(flat)
    geo, dec = borrow(geo), borrow(dec)
    own_loc = np.empty(geo[ACTORS] * geo[WORDS], np.int64)
    loc = borrow(own_loc)
    for r in range(count):
        decode(rows, r * stride, geo, dec, loc, 0)
        pack_flat(loc, widths, flat, r * flat_words)
    own_loc[0] = 0


@njit(cache=True, nogil=True)
def owners_of(flat, count, flat_words, geo, widths, salts, owners, out):
    """Write the owner of each flat row to `out`: a hash of its columns, however they are packed.

    It is the owner that `dispatch` gives it, who has weights.

    Args:
        salts: as for `weigh`.
    """
    flat, widths, geo = borrow(flat), borrow(widths), borrow(geo)
    salts, out = borrow(salts), borrow(out)
    own_loc = np.empty(geo[ACTORS] * geo[WORDS], np.int64)
    loc = borrow(own_loc)
    for r in range(count):
        unpack_flat(flat, r * flat_words, widths, loc)
        h = np.int64(0)
        for actor in range(geo[ACTORS]):
            h += weight_of(loc, geo, actor, salts)
        out[r] = owner_by(mix(h), owners)
    own_loc[0] = 0


@njit(cache=True, nogil=True)
def keep_new(entries, count, stride, slots, figures, start):
    """Put the rows of entries into a set, and move those entries to the front whose rows are new.

    Args:
        entries: the first `count` ones of `stride` words each, the last of them information.
        slots, figures: the set, as for `claim_row`.
        start: [the first entry to look at, how many are kept]; updated.

    Returns:
        Whether all are done; if not, the set must grow.
    """
    entries, slots, figures = borrow(entries), borrow(slots), borrow(figures)
    kept = start[1]
    width = stride - 1
    for e in range(start[0], count):
        at = e * stride
        if e + 12 < count:
            later = hash_words(entries, at + 12 * stride, width)
            prefetch(slots, home(later, figures[0]) * width)
        fresh = MISSED
        if figures[1] < figures[2]:
            fresh = claim_row(slots, figures, entries, at, width)
        if fresh == MISSED:
            start[0], start[1] = e, kept
            return False
        if fresh:
            for k in range(stride):
                entries[kept * stride + k] = entries[at + k]
            kept += 1
    start[0], start[1] = count, kept
    return True


@njit(cache=True, nogil=True)
def dispatch(
    entries, count, stride, tables, widths, flat_words, weights, base, numbers, rows, links
):
    """Write the flat rows of entries, and links to their parents, to their owners.

    Args:
        entries: the first `count` ones of `stride` words each.
        widths: bits of each local word of each actor.
        weights: see `weigh`.
        base: the partition of the parents, in its place in a link.
        numbers: of the parents, by the index in an entry's information word.
        rows: (owners, flat_words * room); takes the rows.
        links: (owners, 1 + room); links[:, 0] counts them, and so must be 0 at first.
    """
    entries, widths, weights = borrow(entries), borrow(widths), borrow(weights)
    geo, dec, numbers = borrow(tables.geo), borrow(tables.dec), borrow(numbers)
    own_loc = np.empty(geo[ACTORS] * geo[WORDS], np.int64)
    own_flat = np.empty(flat_words, np.int64)
    loc, flat = borrow(own_loc), borrow(own_flat)
    owners = rows.shape[0]
    for e in range(count):
        at = e * stride
        h = np.int64(0)
        for actor in range(geo[ACTORS]):
            field = entries[at + geo[ROW_WORD + actor]] >> geo[ROW_SHIFT + actor]
            h += weights[actor * geo[REN_STRIDE] + (field & geo[ROW_MASK + actor])]
        owner = owner_by(mix(h), owners)
        decode(entries, at, geo, dec, loc, 0)
        pack_flat(loc, widths, flat, 0)
        place = links[owner, 0]
        links[owner, 0] = place + 1
        info = entries[at + stride - 1]
        links[owner, 1 + place] = base | numbers[info >> 31] << PLACE_BITS | info & 0xFFFF
        for k in range(flat_words):
            rows[owner, place * flat_words + k] = flat[k]
    own_loc[0] = own_flat[0] = 0


@njit(cache=True, nogil=True)
def settle(flat, links, start, flat_words, slots, figures, kept, kept_links):
    """Put flat rows into a set and keep those that were not in it.

    Args:
        flat, links: rows, and a word for each.
        start: [the first row to look at, how many are kept]; updated.
        slots, figures: the set, as for `claim_row`.
        kept, kept_links: take the new rows and their words.

    Returns:
        Whether all are done; if not, the set must grow.
    """
    flat, links, slots, figures = borrow(flat), borrow(links), borrow(slots), borrow(figures)
    kept, kept_links = borrow(kept), borrow(kept_links)
    count = start[1]
    ahead = 12
    for r in range(start[0], links.shape[0]):
        if figures[1] >= figures[2]:
            start[0], start[1] = r, count
            return False
        if r + ahead < links.shape[0]:
            later = home(hash_words(flat, (r + ahead) * flat_words, flat_words), figures[0])
            prefetch(slots, later * flat_words)
        at = r * flat_words
        fresh = claim_row(slots, figures, flat, at, flat_words)
        if fresh == MISSED:
            start[0], start[1] = r, count
            return False
        if fresh:
            for k in range(flat_words):
                kept[count * flat_words + k] = flat[at + k]
            kept_links[count] = links[r]
            count += 1
    start[0], start[1] = links.shape[0], count
    return True


@njit(cache=True, nogil=True)
def progress_of_flat(flat, count, flat_words, geo, widths, sent, pending, room, out):
    """Write the progress of flat rows to `out`; see `progress_of`.

    Args:
        sent: what a position of an actor adds, at actor * room + position.
        pending: what an actor's undelivered copies take off, likewise.
    """
    flat, widths, geo = borrow(flat), borrow(widths), borrow(geo)
    own_loc = np.empty(geo[ACTORS] * geo[WORDS], np.int64)
    loc = borrow(own_loc)
    for r in range(count):
        unpack_flat(flat, r * flat_words, widths, loc)
        total = np.int64(0)
        for actor in range(geo[ACTORS]):
            total += sent[actor * room + get(loc, 0, geo, actor, POSITION)]
            total -= pending[actor * room + get(loc, 0, geo, actor, PENDING)]
        out[r] = total
    own_loc[0] = 0


@njit(cache=True, nogil=True)
def pack_rows(local, widths, flat_words, flat):
    """Pack local words, of shape (rows, words of all actors), into flat rows."""
    for r in range(local.shape[0]):
        pack_flat(local[r], widths, flat, r * flat_words)


@njit(cache=True, nogil=True)
def unpack_rows(flat, flat_words, widths, local):
    """Unpack flat rows into local words, of shape (rows, words of all actors)."""
    for r in range(local.shape[0]):
        unpack_flat(flat, r * flat_words, widths, local[r])


@njit(cache=True, nogil=True, inline="always")
def slot_of(slots, figures, flat, at, flat_words):
    """Return the slot of a set that holds the row flat[at:], or -1."""
    slot = home(hash_words(flat, at, flat_words), figures[0])
    while slots[slot * flat_words] != -1:
        same = True
        for k in range(flat_words):
            same = same and slots[slot * flat_words + k] == flat[at + k]
        if same:
            return slot
        slot += 1
    return np.int64(-1)


@njit(cache=True, nogil=True)
def mark(flat, flat_words, slots, figures, marks):
    """Mark the slots of a set whose rows are among some flat rows."""
    flat, slots, marks = borrow(flat), borrow(slots), borrow(marks)
    count = flat.shape[0] // flat_words
    for r in range(count):
        if r + 12 < count:
            later = home(hash_words(flat, (r + 12) * flat_words, flat_words), figures[0])
            prefetch(slots, later * flat_words)
        slot = slot_of(slots, figures, flat, r * flat_words, flat_words)
        if slot >= 0:
            marks[slot] = 1


@njit(cache=True, nogil=True)
def marked(flat, flat_words, slots, figures, marks, out):
    """Write to `out` whether the slot of each flat row, which all are in the set, is marked."""
    flat, slots, marks, out = borrow(flat), borrow(slots), borrow(marks), borrow(out)
    for r in range(out.shape[0]):
        out[r] = marks[slot_of(slots, figures, flat, r * flat_words, flat_words)]
