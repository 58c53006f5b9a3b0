"""Symmetry: the renamings of a row, and its representative among them.

An *orbit* is all composites that renamings of the actors make from one of them. The
*representative* of a row, or its canonical form, is the renaming whose orbits' numbers, part by
part, are the least; among several, the one whose composites are the least. A composite's renamings
are looked up in the arrays of `Renamings`, so a row is renamed part by part.

On a cluster, these numbers differ between processes. There each orbit has a *key*, which depends
only on the contents of its composites: an age and some bits of a hash. The keys decide, and among
several renamings, the contents of the composites. So all processes choose the same state. A
composite's *weight* is a hash of its content, for the keys.
"""

from __future__ import annotations

import numpy as np

from antecede.checker.compiled.jit import inlined, kernel
from antecede.checker.engine.rows import geometry as g
from antecede.checker.engine.rows.composites_kernels import find_composite, get, put
from antecede.checker.engine.rows.entries_kernels import key_of, look_up
from antecede.checker.engine.rows.fields_kernels import composite_in, field_of
from antecede.checker.engine.rows.hashing_kernels import mix


@inlined
def renamed_by(k, kin, geo, renamings):
    """Return the image of a composite under permutation k; `kin` is its entry in renamings.kin."""
    order = geo[g.PERMUTATIONS] + 1
    element = np.int64(renamings.products[(kin & g.PERMUTATION_MASK) * order + k])
    return np.int64(renamings.images[orbit_in(kin) * order + element])


@inlined
def orbit_in(kin):
    """Return the number of the orbit in an entry of `renamings.kin`."""
    return (kin >> g.ORBIT_SHIFT) & g.ORBIT_MASK


@inlined
def kin_of(row, at, geo, renamings, part):
    """Return the entry in `renamings.kin` of a part's composite in row[at:]."""
    composite = composite_in(row, at, field_of(geo, part))
    return renamings.kin[part * geo[g.REN_STRIDE] + composite]


@inlined
def room_to_represent(geo):
    """Return how many words of working memory `represent` needs."""
    return 3 * geo[g.PARTS] + geo[g.PERMUTATIONS] + 1


@inlined
def represent(out, start, geo, renamings, dec, loc, base):
    """Replace the row out[start:] by its representative.

    `relate_composites` must have renamed its composites before.

    Returns:
        The number of permutations of the actors that leave the row unchanged, with the identity. So
        the row stands for (number of all permutations) // result states.
    """
    parts = geo[g.PARTS]
    for part in range(parts):
        loc[base + part] = kin_of(out, start, geo, renamings, part)
    k = chosen_by_order(loc, base, geo, renamings)
    if k == -1:
        return represent_among_several(out, start, geo, renamings, dec, loc, base)
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

    loc[base:] holds each part's entry in `renamings.kin`, and room for the actors.
    """
    if renamings.choices.shape[0] == 0:
        return np.int64(-1)
    actors, unused = geo[g.ACTORS], np.int64(renamings.unordered)
    if geo[g.PARTS] > actors:  # an actor's two orbits become one number
        for actor in range(actors):
            pair = base + 2 * actor
            first, second = loc[pair] >> unused, loc[pair + 1] >> unused
            loc[base + geo[g.PARTS] + actor] = first << 32 | second
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
def represent_among_several(out, start, geo, renamings, dec, loc, base):
    """Do what `represent` does if two orbits of a row may be equal; loc has their entries."""
    parts = geo[g.PARTS]
    best, trial, chosen = base + parts, base + 2 * parts, base + 3 * parts
    # The orbits leave a few permutations, which differ only in how they order equal orbits. Now
    # the composites decide, or on a cluster their contents, because composites differ there.
    # Permutations that give the same row are symmetries of the state.
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
        if n > 0 and renamings.unordered == g.ORBIT_SHIFT:
            difference = compared(loc, trial, loc, best, parts)
        elif n > 0:
            difference = compared_contents(loc, trial, best, geo, dec)
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

    loc[base:] holds each part's entry in `renamings.kin`.
    """
    parts = geo[g.PARTS]
    loc[chosen] = 0
    several = np.int64(1)
    for k in range(1, geo[g.PERMUTATIONS] + 1):
        difference = np.int64(0)
        for target in range(parts):
            other = renamings.sources[loc[chosen] * parts + target]
            one = loc[base + renamings.sources[k * parts + target]] >> renamings.unordered
            other = loc[base + other] >> renamings.unordered
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
def stand_in(row, geo, renamings, dec):
    """Replace one row by its representative, and return as `represent`; for callers in Python."""
    return represent(row, 0, geo, renamings, dec, np.empty(room_to_represent(geo), np.int64), 0)


@kernel
def orbits(rows, count, geo, renamings, dec):
    """Return the number of states that the first `count` rows, all representatives, stand for."""
    row_words = geo[g.ROW_WORDS]
    loc = np.empty(room_to_represent(geo), np.int64)
    row = np.empty(row_words, np.int64)
    total = np.int64(0)
    for r in range(count):
        for k in range(row_words):
            row[k] = rows[r * row_words + k]
        total += (geo[g.PERMUTATIONS] + 1) // represent(row, 0, geo, renamings, dec, loc, 0)
    return total


@kernel
def weigh(geo, dec, salts, since, counts, weights):
    """Write the weights of the composites from `since` on, at the same indices as in `kin`.

    `salts` has the odd factor of each column at actor * MOST_COLUMNS + column.
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
    """Return the weight of one part: a hash of its columns, not negative."""
    h, actor = np.int64(part), part // (geo[g.PARTS] // geo[g.ACTORS])
    for column in range(geo[g.COLUMN_COUNT]):
        if is_in(geo, column, part):
            h += get(loc, 0, geo, actor, column) * salts[actor * g.MOST_COLUMNS + column]
    return np.int64(mix(h) >> np.uint64(1))


@kernel
def key_orbits(geo, renamings, weights, dec, since, counts):
    """Put the keys of their orbits into the entries of composites in `renamings.kin`.

    Two orbits can have the same key. Composites without an orbit get none.

    Args:
        weights: as `weigh` writes it.
        since, counts: per part, the first composite without a key, and the number of composites.
    """
    parts, order, words = geo[g.PARTS], geo[g.PERMUTATIONS] + 1, geo[g.PART_WORDS]
    loc = np.empty(parts * words, np.int64)
    for part in range(parts):
        for number in range(since[part], counts[part]):
            place = part * geo[g.REN_STRIDE] + number
            kin = renamings.kin[place]
            if kin == -1:
                continue
            age = weight = np.int64((1 << 63) - 1)  # the least ones of all images follow
            for k in range(order):
                image = renamed_by(k, kin, geo, renamings)
                target = renamings.targets[k * parts + part]
                for w in range(words):
                    at = target * geo[g.DEC_STRIDE] + image * words + w
                    loc[target * words + w] = dec[at]
                age = min(age, age_of(loc, geo, target))
                weight = min(weight, weights[target * geo[g.REN_STRIDE] + image])
            key = age << g.HASH_BITS | weight & ((1 << g.HASH_BITS) - 1)
            renamings.kin[place] = key << g.KEY_SHIFT | kin & ((1 << g.KEY_SHIFT) - 1)


@inlined
def age_of(loc, geo, part):
    """Return a small number for a part's content: roughly, the greater the later it was found.

    With ages, the representatives of neighbouring states have the same composites in their first
    parts, which are then still in the caches.
    """
    total, actor = np.int64(0), part // (geo[g.PARTS] // geo[g.ACTORS])
    for column in range(geo[g.COLUMN_COUNT]):
        if is_in(geo, column, part):
            total += get(loc, 0, geo, actor, column)
    # The bits after the first eleven are left out, as in a floating-point number.
    exponent = np.int64(0)
    while total >> g.AGE_DIGITS + 1:
        total >>= 1
        exponent += 1
    return (exponent << g.AGE_DIGITS) + total


@kernel
def represent_all(rows, count, stride, geo, renamings, dec):
    """Replace the rows at the beginning of `count` entries of `stride` words by representatives."""
    loc = np.empty(room_to_represent(geo), np.int64)
    for r in range(count):
        represent(rows, r * stride, geo, renamings, dec, loc, 0)


@inlined
def compared_contents(loc, one, other, geo, dec):
    """Return -1, 0 or 1 if the contents of one row's composites are less, equal or greater.

    loc[one:] and loc[other:] hold a composite per part.
    """
    each, words = geo[g.PARTS] // geo[g.ACTORS], geo[g.PART_WORDS]
    for part in range(geo[g.PARTS]):
        if loc[one + part] == loc[other + part]:
            continue
        first = part * geo[g.DEC_STRIDE] + loc[one + part] * words
        second = part * geo[g.DEC_STRIDE] + loc[other + part] * words
        # Column by column, because the packing of local words can change during a search.
        for column in range(geo[g.COLUMN_COUNT]):
            if is_in(geo, column, part):
                word = geo[g.COL_WORD + column] - part % each * words
                shift, mask = geo[g.COL_SHIFT + column], geo[g.COL_MASK + column]
                a = (dec[first + word] >> shift) & mask
                b = (dec[second + word] >> shift) & mask
                if a != b:
                    return np.int64(-1) if a < b else np.int64(1)
    return np.int64(0)


@kernel
def relate_composites(tables, since, upto, misses, control):
    """Compute the orbits of the composites from `since` to `upto`, and new orbits' images.

    `renamings` must have room for one more orbit per composite. A renaming that is not in the
    tables yet is a miss: call the kernel again when Python has added it.
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
                orbit = np.int64(renamings.known[0])
                renamings.known[0] = orbit + 1
                for k in range(order):
                    renamings.images[orbit * order + k] = images[k]
                    target = renamings.targets[k * parts + part]
                    place = target * geo[g.REN_STRIDE] + images[k]
                    # Several permutations may lead to one composite; the first one is kept.
                    if renamings.kin[place] == -1:
                        renamings.kin[place] = orbit << g.ORBIT_SHIFT | k


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
        key = key_of(g.RENAME, k - 1, value, column << g.ACTOR_BITS | actor)
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
        misses[spot, 0] = g.COMPOSE << g.MISS_SHIFT | target
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
