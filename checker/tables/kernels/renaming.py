"""Symmetry: the renamings of a row, and which of them stands for all."""

from __future__ import annotations

import numpy as np

from antecede.checker.tables.kernels.composites import (
    find_composite,
    get,
    put,
)
from antecede.checker.tables.kernels.entries import (
    key_of,
    look_up,
)
from antecede.checker.tables.kernels.geometry import (
    ACTORS,
    CHAN_COL,
    CHAN_OF,
    CHANNELS,
    COLUMN_COUNT,
    COMPOSE,
    CONTROL_SIZE,
    DEC_STRIDE,
    FULL_HISTORY,
    LOSSES,
    MISSED,
    MISSES,
    MOST_COLUMNS,
    PERMUTATIONS,
    RECORDED,
    REN_STRIDE,
    RENAME,
    RENAMED,
    ROW_MASK,
    ROW_SHIFT,
    ROW_WORD,
    ROW_WORDS,
    STAMPS,
    WORDS,
)
from antecede.checker.tables.kernels.hashing import (
    mix,
)
from antecede.checker.tables.kernels.jit import (
    inlined,
    kernel,
)


@inlined
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


@kernel
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


@kernel
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


@inlined
def weight_of(loc, geo, actor, salts):
    """Return a hash of an actor's columns in loc[0:]."""
    h = np.int64(actor)
    for column in range(geo[COLUMN_COUNT]):
        h += get(loc, 0, geo, actor, column) * salts[actor * MOST_COLUMNS + column]
    return np.int64(mix(h) >> np.uint64(1))


@kernel
def represent_by_weight(rows, count, stride, geo, ren, perms, weights, dec):
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


@kernel
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


@kernel
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
            if column == LOSSES or (RECORDED <= column <= STAMPS and not geo[FULL_HISTORY]):
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


@kernel
def renamed_column(geo, perms, p, actor, column):
    """Return the column of the channel that a channel of `actor` becomes."""
    actors = geo[ACTORS]
    for other in range(actors):
        channel = geo[CHAN_OF + actor * actors + other]
        if channel != -1 and geo[CHAN_COL + channel] == column:
            there = perms[p * actors + actor] * actors + perms[p * actors + other]
            return geo[CHAN_COL + geo[CHAN_OF + there]]
    return np.int64(-1)
