"""Symmetry: the renamings of a row, and its representative among them.

The representative, or canonical form, is the renaming whose composites have the least orbits. A
composite's renamings are looked up in arrays, so a row is renamed part by part.
"""

from __future__ import annotations

import numpy as np

from antecede.checker.engine.compiled.jit import inlined, kernel
from antecede.checker.engine.rows import geometry as g
from antecede.checker.engine.rows.composites_kernels import find_composite, get, put
from antecede.checker.engine.rows.entries_kernels import key_of, look_up
from antecede.checker.engine.rows.fields_kernels import composite_in, field_of
from antecede.checker.engine.rows.hashing_kernels import mix


@inlined
def renamed_by(k, kin, geo, renamings):
    """Return the image of a composite under permutation k; `kin` is its entry in renamings.kin."""
    order = geo[g.PERMUTATIONS] + 1
    element = np.int64(renamings.products[(kin & 0xFF) * order + k])
    return np.int64(renamings.images[(kin >> 8) * order + element])


@inlined
def kin_of(row, at, geo, renamings, part):
    """Return the entry in `renamings.kin` of a part's composite in row[at:]."""
    composite = composite_in(row, at, field_of(geo, part))
    return renamings.kin[part * geo[g.REN_STRIDE] + composite]


@inlined
def room_to_represent(geo):
    """Return how many 64-bit words of working memory `represent` needs.

    `represent` replaces a state by the one that symmetry reduction keeps of all its renamings.

    Args:
        geo: int64; the sizes and switches of this search, such as geo[ACTORS]; see `geometry`.
    """
    return 3 * geo[g.PARTS] + geo[g.PERMUTATIONS] + 1


@inlined
def represent(out, start, geo, renamings, loc, base):
    """Replace a state by the one state that symmetry reduction keeps of all its renamings.

    The state is a row of composites, the numbers that stand for the parts of a state. An orbit is
    all composites that renamings of the actors make from one of them, and has a number. The
    renaming that is kept is the one whose orbits' numbers, part by part, are the least; among
    several, the one whose composites are the least.

    Args:
        out, start: the row is out[start:]; updated. `relate_composites` must have renamed its
            composites before.
        geo: int64; the sizes and switches of this search, such as geo[ACTORS]; see `geometry`.
        renamings: the orbits of the composites, a `Renamings`.
        loc, base: working memory of one thread: room_to_represent(geo) words from loc[base] on.

    Returns:
        The number of permutations of the actors that leave the row unchanged, with the identity. So
        the row stands for (number of all permutations) // result states.
    """
    parts = geo[g.PARTS]
    for part in range(parts):
        loc[base + part] = kin_of(out, start, geo, renamings, part)
    k = chosen_by_order(loc, base, geo, renamings)
    if k == -1:
        return represent_among_several(out, start, geo, renamings, loc, base)
    if k > 0:  # the most frequent way; without a detour over `write_row`
        for word in range(geo[g.ROW_WORDS]):
            out[start + word] = 0
        for part in range(parts):
            number = renamed_by(k, loc[base + part], geo, renamings)
            target = renamings.targets[k * parts + part]
            out[start + geo[g.ROW_WORD + target]] |= number << geo[g.ROW_SHIFT + target]
    return np.int64(1)


@inlined
def write_row(row, at, composites, first, geo):
    """Write the parts' composites, from composites[first] on, to row[at:]."""
    for word in range(geo[g.ROW_WORDS]):
        row[at + word] = 0
    for part in range(geo[g.PARTS]):
        row[at + geo[g.ROW_WORD + part]] |= composites[first + part] << geo[g.ROW_SHIFT + part]


@inlined
def chosen_by_order(loc, base, geo, renamings):
    """Return the permutation that gives the least orbits, or -1 if two actors' orbits are equal.

    Args:
        loc, base: loc[base:] holds each part's entry in `renamings.kin`, and room for the actors.
    """
    if renamings.choices.shape[0] == 0:
        return np.int64(-1)
    actors, unused = geo[g.ACTORS], np.int64(8)
    if geo[g.PARTS] > actors:  # an actor's two orbits become one number
        for actor in range(actors):
            pair = base + 2 * actor
            loc[base + geo[g.PARTS] + actor] = loc[pair] >> 8 << 32 | loc[pair + 1] >> 8
        base, unused = base + geo[g.PARTS], np.int64(0)
    greater, equal = np.int64(0), np.int64(0)
    for actor in range(1, actors):
        orbit = loc[base + actor] >> unused
        for other in range(actor):
            before = loc[base + other] >> unused
            greater = greater << 1 | (before > orbit)
            equal |= before == orbit
    return np.int64(-1) if equal else np.int64(renamings.choices[greater])


@kernel
def represent_among_several(out, start, geo, renamings, loc, base):
    """Do what `represent` does if two orbits of a row may be equal; loc has their entries."""
    parts = geo[g.PARTS]
    best, trial, chosen = base + parts, base + 2 * parts, base + 3 * parts
    # The orbits leave a few permutations, which differ only in how they order equal orbits. Now
    # the composites decide. Permutations that give the same row are symmetries of the state.
    several = choose_by_orbits(loc, base, chosen, geo, renamings)
    if several == 1 and loc[chosen] == 0:
        return np.int64(1)
    fixed = np.int64(1)
    for n in range(several):
        k = loc[chosen + n]
        for part in range(parts):
            number = renamed_by(k, loc[base + part], geo, renamings)
            loc[trial + renamings.targets[k * parts + part]] = number
        difference = np.int64(-1)
        if n > 0:
            difference = compared(loc, trial, loc, best, parts)
        if difference == 0:
            fixed += 1
        elif difference < 0:
            fixed = np.int64(1)
            for part in range(parts):
                loc[best + part] = loc[trial + part]
    write_row(out, start, loc, best, geo)
    return fixed


@inlined
def choose_by_orbits(loc, base, chosen, geo, renamings):
    """Write the permutations with the least orbits to loc[chosen:], and return their number.

    Args:
        loc, base: loc[base:] holds each part's entry in `renamings.kin`.
    """
    parts = geo[g.PARTS]
    loc[chosen] = 0
    several = np.int64(1)
    for k in range(1, geo[g.PERMUTATIONS] + 1):
        difference = np.int64(0)
        for target in range(parts):
            one = loc[base + renamings.sources[k * parts + target]] >> 8
            other = loc[base + renamings.sources[loc[chosen] * parts + target]] >> 8
            if one != other:
                difference = np.int64(-1) if one < other else np.int64(1)
                break
        if difference < 0:
            several = np.int64(0)
        if difference <= 0:
            loc[chosen + several] = k
            several += 1
    return several


@inlined
def compared(one, at, other, there, length):
    """Return -1, 0 or 1 if one[at:] is less than, equal to or greater than other[there:]."""
    for k in range(length):
        if one[at + k] != other[there + k]:
            return np.int64(-1) if one[at + k] < other[there + k] else np.int64(1)
    return np.int64(0)


@kernel
def stand_in(row, geo, renamings):
    """Replace one row by its representative, and return as `represent` does.

    It is for callers in Python; kernels call `represent`. A row is a state, packed into a few
    words. Its representative is the one state that symmetry reduction keeps of all states that
    differ only in the names of actors.

    Args:
        row: int64; the words of the row; updated.
        geo: int64; the sizes and switches of this search, such as geo[ACTORS]; see `geometry`.
        renamings: the renamings of the parts of states, a `Renamings`.

    Returns:
        The number of permutations of the actors that leave the row unchanged, with the identity.
    """
    return represent(row, 0, geo, renamings, np.empty(room_to_represent(geo), np.int64), 0)


@kernel
def orbits(rows, count, geo, renamings):
    """Return the number of states that some rows stand for under symmetry reduction.

    Symmetry reduction keeps one state, the representative, of all states that differ only in the
    names of actors. A row is a state, packed into a few words. The result is the sum, over the
    rows, of the number of states that differ from it in this way, and 1 for itself.

    Args:
        rows: int64, flat; the rows, which must be representatives, as `represent` makes them.
        count: the number of rows to read, from the first on.
        geo: int64; the sizes and switches of this search, such as geo[ACTORS]; see `geometry`.
        renamings: the renamings of the parts of states, a `Renamings`.
    """
    row_words = geo[g.ROW_WORDS]
    loc = np.empty(room_to_represent(geo), np.int64)
    row = np.empty(row_words, np.int64)
    total = np.int64(0)
    for r in range(count):
        for k in range(row_words):
            row[k] = rows[r * row_words + k]
        total += (geo[g.PERMUTATIONS] + 1) // represent(row, 0, geo, renamings, loc, 0)
    return total


@kernel
def weigh(geo, dec, salts, since, counts, weights):
    """Write the weights of new composites to `weights`.

    A composite is the number that stands for the content of one part of a state, usually of an
    actor. It can differ between the processes of a cluster. Its weight, a hash of the content, is
    the same in all of them.

    Args:
        geo: int64; the sizes and switches of this search, such as geo[ACTORS]; see `geometry`.
        dec: int64, flat: the local words (the content) of each composite; see `Tables`.
        salts: odd int64; the factor of each column is at actor * MOST_COLUMNS + column.
        since: per part, the number of composites that have weights already.
        counts: per part, the number of all composites.
        weights: output, int64; the weight of composite g of part p is at p * geo[REN_STRIDE] + g.
    """
    words = geo[g.PART_WORDS]
    loc = np.empty(geo[g.PARTS] * words, np.int64)
    for part in range(geo[g.PARTS]):
        for number in range(since[part], counts[part]):
            for k in range(words):
                loc[part * words + k] = dec[part * geo[g.DEC_STRIDE] + number * words + k]
            weights[part * geo[g.REN_STRIDE] + number] = weight_of(loc, geo, part, salts)


@inlined
def is_in(geo, column, part):
    """Return whether a part has this column of its actor."""
    each = geo[g.PARTS] // geo[g.ACTORS]
    return geo[g.COL_WORD + column] // geo[g.PART_WORDS] == part % each


@inlined
def weight_of(loc, geo, part, salts):
    """Return a hash of the columns of one part, as an int64 that is not negative: its weight.

    A part is all of an actor, or under the history `full` its state or its history. Its columns
    hold the numbers of its components, packed into local words. A part with equal columns has an
    equal weight in every process, but its composite (the number of its local words) may differ.

    Args:
        loc: loc[0:] holds the local words of all actors; only those of the part are read.
        geo: int64; the sizes and switches of this search, such as geo[ACTORS]; see `geometry`.
        part: the index of the part.
        salts: odd numbers; the factor of each column is at actor * MOST_COLUMNS + column.
    """
    h, actor = np.int64(part), part // (geo[g.PARTS] // geo[g.ACTORS])
    for column in range(geo[g.COLUMN_COUNT]):
        if is_in(geo, column, part):
            h += get(loc, 0, geo, actor, column) * salts[actor * g.MOST_COLUMNS + column]
    return np.int64(mix(h) >> np.uint64(1))


@kernel
def represent_by_weight(rows, count, stride, geo, renamings, weights, dec):
    """Replace rows by representatives that are the same in every process of a cluster.

    A row is a state as one composite (a number) per part. Its representative is one of the states
    that differ from it only in the names of actors. The one that `represent` chooses depends on the
    numbers of composites, which differ between processes. This kernel chooses the one with the
    least sum of weights; a weight is a hash of the content of a part. If two sums are equal, the
    contents decide.

    Args:
        rows: int64, flat; entries of `stride` words, each of which begins with a row; updated.
        count: the number of entries to change, from the first on.
        stride: the number of words per entry.
        geo: int64; the sizes and switches of this search, such as geo[ACTORS]; see `geometry`.
        renamings: the renamings of all composites in the rows, a `Renamings`.
        weights: int64; composite g of part p has its weight at p * geo[REN_STRIDE] + g, as `weigh`
            writes it.
        dec: int64, flat: the local words (the content) of each composite; see `Tables`.
    """
    parts = geo[g.PARTS]
    kin, best = np.empty(parts, np.int64), np.empty(parts, np.int64)
    trial = np.empty(parts, np.int64)
    for r in range(count):
        at, least = r * stride, np.int64(0)
        for part in range(parts):
            kin[part] = kin_of(rows, at, geo, renamings, part)
        changed = False
        for k in range(geo[g.PERMUTATIONS] + 1):
            total = np.int64(0)
            for part in range(parts):
                target = renamings.targets[k * parts + part]
                trial[target] = renamed_by(k, kin[part], geo, renamings)
                total += weights[target * geo[g.REN_STRIDE] + trial[target]]
            # Weights are hashes, so equal weights are rare and columns are hardly ever compared.
            if k == 0 or total < least or (total == least and comes_before(trial, best, geo, dec)):
                least, changed = total, k > 0
                for part in range(parts):
                    best[part] = trial[part]
        if changed:
            write_row(rows, at, best, 0, geo)


@kernel
def comes_before(one, other, geo, dec):
    """Return whether the columns of one row's composites are less than the other row's columns."""
    parts, words = geo[g.PARTS], geo[g.PART_WORDS]
    first, second = np.empty(parts * words, np.int64), np.empty(parts * words, np.int64)
    for part in range(parts):
        if one[part] == other[part]:
            continue
        for k in range(words):
            start = part * geo[g.DEC_STRIDE] + k
            first[part * words + k] = dec[start + one[part] * words]
            second[part * words + k] = dec[start + other[part] * words]
        actor = part // (parts // geo[g.ACTORS])
        for column in range(geo[g.COLUMN_COUNT]):
            if is_in(geo, column, part):
                a = get(first, 0, geo, actor, column)
                b = get(second, 0, geo, actor, column)
                if a != b:
                    return a < b
    return False


@kernel
def relate_composites(tables, since, upto, misses, control):
    """Compute the renamings of new composites, as symmetry reduction needs them.

    A composite is the number that stands for one actor's part of a state. An orbit is all
    composites that renamings of the actors make from one of them. Each new composite gets the
    number of its orbit, and each new orbit gets the images of its first composite under all
    permutations.

    The renaming of a component of the part, or a composite, may not be in the tables yet. It is
    then recorded in `misses`. Call the kernel again when Python has added it.

    Args:
        tables: the arrays that the kernels read, a `Tables`. Its `renamings` are updated; they must
            have room for one more orbit per composite in the range.
        since, upto: per part, the first composite of the range, and the first one after the range.
        misses: output, int64 of shape (n, words): a record of each call or composite that the
            tables lack, so that Python can add it.
        control: int64; counters of the kernels; control[MISSES] is the number of records in
            `misses`.
    """
    geo, renamings = tables.geo, tables.renamings
    parts, order = geo[g.PARTS], geo[g.PERMUTATIONS] + 1
    loc = np.empty(2 * geo[g.ACTORS] * geo[g.WORDS], np.int64)
    images = np.empty(order, np.int64)
    for part in range(parts):
        for number in range(since[part], upto[part]):
            if renamings.kin[part * geo[g.REN_STRIDE] + number] != -1:
                continue
            # A composite must not lose records for lack of room, so it is left for the next call.
            if control[g.MISSES] + order * (geo[g.COLUMN_COUNT] + 1) > misses.shape[0]:
                return
            complete = True
            for k in range(order):
                images[k] = rename(tables, k, part, number, loc, misses, control)
                complete = complete and images[k] != g.MISSED
            # An orbit is entered at once or not at all: `represent` takes every image for granted.
            if complete:
                orbit = renamings.known[0]
                renamings.known[0] = orbit + 1
                for k in range(order):
                    renamings.images[orbit * order + k] = images[k]
                    target = renamings.targets[k * parts + part]
                    place = target * geo[g.REN_STRIDE] + images[k]
                    # Several permutations may lead to one composite; the first one is kept.
                    if renamings.kin[place] == -1:
                        renamings.kin[place] = orbit << 8 | k


@kernel
def rename(tables, k, part, number, loc, misses, control):
    """Return the image of a part's composite under permutation k, or MISSED.

    Every column is renamed, and belongs to the actor that the permutation names.
    """
    geo, targets = tables.geo, tables.renamings.targets
    if k == 0:
        return number
    parts, words = geo[g.PARTS], geo[g.PART_WORDS]
    each, target = parts // geo[g.ACTORS], targets[k * parts + part]
    for w in range(words):
        start = part * geo[g.DEC_STRIDE] + number * words
        loc[(parts + part) * words + w] = tables.dec[start + w]
        loc[target * words + w] = 0
    actor = part // each
    complete = True
    for column in range(geo[g.COLUMN_COUNT]):
        if not is_in(geo, column, part):
            continue
        # The count of losses belongs to no actor, and only `full` fills the two sequences.
        if column == g.LOSSES or (g.RECORDED <= column <= g.STAMPS and not geo[g.FULL_HISTORY]):
            continue
        into = column
        if column >= g.CHANNELS:
            into = renamed_column(geo, targets, k, actor, column)
        value = get(loc, parts * words, geo, actor, column)
        key = key_of(g.RENAME, k - 1, value, column << 4 | actor)
        renamed = look_up(tables.table, key, misses, control)
        # A miss does not end the loop, so that one call of Python renames all columns of the part.
        if renamed == -1:
            complete = False
        else:
            put(loc, geo, target // each, into, renamed)
    if not complete:
        return np.int64(g.MISSED)
    found = find_composite(tables.cons, words, loc, target * words, target)
    if found == -1:
        spot = control[g.MISSES]
        misses[spot, 0] = g.COMPOSE << 8 | target
        for w in range(words):
            misses[spot, 1 + w] = loc[target * words + w]
        control[g.MISSES] = spot + 1
        return np.int64(g.MISSED)
    return found


@kernel
def renamed_column(geo, targets, k, actor, column):
    """Return the column of the image of a channel of `actor`."""
    actors, parts = geo[g.ACTORS], geo[g.PARTS]
    each = parts // actors
    for other in range(actors):
        channel = geo[g.CHAN_OF + actor * actors + other]
        if channel != -1 and geo[g.CHAN_COL + channel] == column:
            src = targets[k * parts + actor * each] // each
            dst = targets[k * parts + other * each] // each
            return geo[g.CHAN_COL + geo[g.CHAN_OF + src * actors + dst]]
    return np.int64(-1)
