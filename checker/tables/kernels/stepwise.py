"""Depth-first search and random walks: one transition at a time."""

from __future__ import annotations

import numpy as np

from antecede.checker.tables.kernels.composites import (
    compose_missed,
)
from antecede.checker.tables.kernels.geometry import (
    CROWDED,
    CUT,
    DEEPEST,
    ENTERING,
    FINALS,
    FIRED,
    FRAMES,
    FULL_SET,
    KNOWN,
    LENGTH,
    MAX_DEPTH,
    MISSED,
    MISSES,
    MOST_TRANSITIONS,
    OK,
    OVERFLOWED,
    RAISES,
    RAISING,
    ROW_WORDS,
    SHOWN,
    SHOWS,
    STEPS,
    TOTAL,
    VIOLATED,
    WALKS,
    Composites,
)
from antecede.checker.tables.kernels.hashing import (
    hash_words,
    home,
    mix,
)
from antecede.checker.tables.kernels.jit import (
    borrow,
    inlined,
    kernel,
    prefetch,
)
from antecede.checker.tables.kernels.sets import (
    claim_row,
)
from antecede.checker.tables.kernels.successors import (
    borrowed,
    judge_final,
    room_for,
    successors,
)


@kernel
def enter(rows, at, tables, loc, out, composites, misses, control):
    """Write the successors of rows[at:], numbering new composites; judge the state if it is final.

    Depth-first search meets new composites one by one. Returning to Python for each of them would
    take most of the time.

    Args:
        loc, out: as for `successors`.
        composites: a `Composites`; updated.
        control: VIOLATED is set to the properties that a final state violates.

    Returns:
        The number of successors, MISSED, OVERFLOWED or CROWDED.
    """
    geo, table, dec = tables.geo, tables.table, tables.dec
    if out.shape[0] <= geo[ROW_WORDS]:
        return np.int64(OVERFLOWED)
    while True:
        control[MISSES] = 0
        count = successors(rows, at, tables, loc, out, control[KNOWN], misses, control)
        if count != MISSED or not compose_missed(misses, control, tables, composites):
            break
    if count > MOST_TRANSITIONS:
        return np.int64(CROWDED)
    if count == 0:
        violated = judge_final(rows, at, geo, table, dec, loc, misses, control)
        control[VIOLATED] = violated
        if violated == MISSED:
            count = np.int64(MISSED)
    return count


@kernel
def descend(stack, frames, tables, composites, visited, told):
    """Search depth-first, taking transitions in the order of `transition.enabled`.

    A frame is a state on the path, with the entries of its successors on the stack. Frame f holds
    [the next entry, the end of its entries] at frames[2 * f]. It begins where frame f - 1 ends.
    Frame 0 holds only the initial state.

    Args:
        stack: entries, flat.
        composites: a `Composites`; updated.
        visited: a `RowSet`; updated.
        told: a `Steps`. In its control, STEPS is the number of transitions left to take. FRAMES
            is the number of frames. If ENTERING, the entry before the top frame's next one is a
            new state without a frame. SHOWN is set to the properties that the last transition
            shows, except KNOWN ones. RAISING is the property that stands for a handler that
            raised. States at MAX_DEPTH are not expanded; then CUT is set.

    Returns:
        OK when STEPS transitions were taken or the search is complete (one frame is left), MISSED,
        OVERFLOWED (the stack or `frames` is full), SHOWS, RAISES or FULL_SET. Call again to
        continue.
    """
    stack, frames, slots = borrow(stack), borrow(frames), borrow(visited.slots)
    composites = Composites(borrow(composites.counts), borrow(composites.limits))
    figures, misses, control = borrow(visited.figures), borrow(told.misses), borrow(told.control)
    fired, kinds = borrow(told.fired), borrow(told.kinds)
    tables = borrowed(tables)
    geo = tables.geo
    row_words = geo[ROW_WORDS]
    stride = row_words + 1
    own_loc = np.empty(room_for(geo), np.int64)
    loc = borrow(own_loc)
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
            count = enter(stack, here, tables, loc, out, composites, misses, control)
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
                prefetch(slots, later * row_words)
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
    # A borrowed array dies with its owner, so the owner must be used last.
    own_loc[0] = 0
    return status


@inlined
def draw(generator, choices):
    """Return one of 0 … choices - 1, equally likely (splitmix64; generator[0] is its state)."""
    most = np.int64(1) << 62
    most -= most % choices
    while True:
        word = np.int64(mix(generator[0]) >> np.uint64(2))
        generator[0] += np.uint64(0x9E3779B97F4A7C15)
        if word < most:
            return word % choices


@kernel
def wander(rows, places, generator, tables, composites, visited, finals, told):
    """Walk at random from the initial state to a final state or to MAX_DEPTH, repeatedly.

    Args:
        rows: entries, flat: the initial state, the current state, room for successors.
        places: the indices of the transitions of this walk; control[LENGTH] is their number.
        generator: as for `draw`.
        composites, visited: as for `descend`.
        finals: a `RowSet` of the final states met; updated.
        told: as for `descend`. In its control, WALKS is the number of walks after this one. If not
            ENTERING, the walk is over. TOTAL counts the states met.

    Returns:
        OK when STEPS transitions were taken or no walk is left; otherwise as `descend`.
    """
    rows, places, generator = borrow(rows), borrow(places), borrow(generator)
    slots, figures = borrow(visited.slots), borrow(visited.figures)
    final_slots, final_figures = borrow(finals.slots), borrow(finals.figures)
    composites = Composites(borrow(composites.counts), borrow(composites.limits))
    misses, control = borrow(told.misses), borrow(told.control)
    fired, kinds = borrow(told.fired), borrow(told.kinds)
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
        count = enter(rows, stride, tables, loc, out, composites, misses, control)
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
    # A borrowed array dies with its owner, so the owner must be used last.
    own_loc[0] = 0
    return status
