"""Depth-first search and random walks: one transition at a time.

Both follow one path on one thread. So they number new composites themselves, and Python is needed
only for calls of the protocol and for more room.
"""

from __future__ import annotations

import numpy as np

from antecede.checker.compiled.jit import borrow, inlined, kernel, prefetch
from antecede.checker.engine.rows import geometry as g
from antecede.checker.engine.rows.composites_kernels import compose_missed
from antecede.checker.engine.rows.hashing_kernels import hash_words, home, mix
from antecede.checker.engine.successors.derive_kernels import borrowed, judge_final, room_for
from antecede.checker.engine.successors.memo_kernels import Work, borrowed_memo
from antecede.checker.engine.tabulated.levels_kernels import remembered_or_derived
from antecede.checker.engine.visited.sets_kernels import CAPACITY, claim_row, is_full


@inlined
def work_for(tables, memo, loc, out, told):
    """Return the arguments of `remembered_or_derived` that are the same for many states.

    `loc` has room for `Work.composites` and `Work.heads`, too.
    """
    geo, misses, control = tables.geo, told.misses, told.control
    composites = borrow(loc[room_for(geo) :])
    heads = borrow(loc[room_for(geo) + geo[g.PARTS] :])
    room, hidden = out.shape[0] // (geo[g.ROW_WORDS] + 1) - 1, control[g.KNOWN]
    return Work(tables, memo, loc, out, room, composites, heads, hidden, misses, control)


@kernel
def enter(rows, at, composites, work):
    """Write the successors of a state to work.out, and judge the state if it has none.

    control[VIOLATED] gets the properties that a final state violates or reaches, or MISSED.

    Returns:
        The number of successors; MISSED; OVERFLOWED if work.out is too small; or CROWDED if there
        are more than MOST_TRANSITIONS.
    """
    tables, loc, misses, control = work.tables, work.loc, work.misses, work.control
    geo, table, dec = tables.geo, tables.table, tables.dec
    if work.room < 0:
        return np.int64(g.OVERFLOWED)
    # Each pass numbers what the last one missed. Misses that only Python can fill end the loop.
    # Depth-first search meets new composites one by one, and a return to Python for each would take
    # most of the time.
    while True:
        control[g.MISSES] = 0
        count = remembered_or_derived(rows, at, False, work)
        if count != g.MISSED or not compose_missed(misses, control, tables, composites):
            break
    if count > g.MOST_TRANSITIONS:
        return np.int64(g.CROWDED)
    if count == 0:
        violated = judge_final(rows, at, geo, table, dec, loc, misses, control)
        control[g.VIOLATED] = violated
        if violated == g.MISSED:
            count = np.int64(g.MISSED)
    return count


@inlined
def borrowed_steps(told):
    """Return the output arrays with each of them borrowed; see `borrow`."""
    return g.Steps(
        borrow(told.misses), borrow(told.fired), borrow(told.kinds), borrow(told.control)
    )


FRAME_WORDS, FRAME_END = 2, 1
"""A frame has two words: its next entry, and at FRAME_END the end of its entries."""


@inlined
def frame_at(number):
    """Return where a frame begins in `frames`, with its next entry."""
    return FRAME_WORDS * number


@inlined
def is_done(frames, number):
    """Return whether all entries of a frame were taken."""
    return frames[frame_at(number)] == frames[frame_at(number) + FRAME_END]


@inlined
def open_frame(stack, frames, depth, work, composites, visited, told):
    """Put the successors of the newest state on the stack, with a frame for them.

    `depth` is the number of frames before. work.out is replaced by the free end of the stack.
    Return OK, or a negative result of `enter`.
    """
    control, figures = told.control, visited.figures
    tables, row_words = work.tables, work.tables.geo[g.ROW_WORDS]
    stride = row_words + 1
    top, new = frame_at(depth - 1), frame_at(depth)
    if new + FRAME_WORDS > frames.shape[0]:
        return np.int64(g.OVERFLOWED)
    end = frames[top + FRAME_END]
    here, out = (frames[top] - 1) * stride, stack[end * stride :]
    count = enter(stack, here, composites, work_for(tables, work.memo, work.loc, out, told))
    if count < 0:
        return count
    if count == 0:
        control[g.FINALS] += 1
        control[g.SHOWN] |= control[g.VIOLATED] & ~control[g.KNOWN]
    elif depth >= control[g.MAX_DEPTH]:
        control[g.CUT] = 1
        count = np.int64(0)
    for e in range(end, end + count):
        later = home(hash_words(stack, e * stride, row_words), figures[CAPACITY])
        prefetch(visited.slots, later * row_words)
    control[g.ENTERING] = 0
    frames[new] = end
    frames[new + FRAME_END] = end + count
    return np.int64(g.OK)


@inlined
def take_next(stack, frames, depth, row_words, visited, told):
    """Take the next transition of the top frame.

    Returns:
        OK if the transition was taken; its properties are in control[SHOWN]. RAISES if a handler
        raised in it; the frame then goes on with its next entry. FULL_SET if the set of visited
        states must grow first; nothing was changed then.
    """
    control, figures = told.control, visited.figures
    top = frame_at(depth - 1)
    entry = frames[top]
    at = entry * (row_words + 1)
    info = stack[at + row_words]
    shown = info >> g.SHOWN_SHIFT & ~control[g.KNOWN]
    if shown & control[g.RAISING]:
        frames[top] = entry + 1
        return np.int64(g.RAISES)
    fresh = np.int64(g.MISSED)
    if not is_full(figures):
        fresh = claim_row(visited.slots, figures, stack, at, row_words)
    if fresh == g.MISSED:
        return np.int64(g.FULL_SET)
    frames[top] = entry + 1
    kind = info >> g.KIND_SHIFT & g.KIND_MASK
    control[g.STEPS] -= 1
    control[g.FIRED] += 1
    control[g.SHOWN] = shown
    told.fired[kind] += 1
    if fresh:
        told.kinds[kind] += 1
        control[g.ENTERING] = 1
        control[g.DEEPEST] = max(control[g.DEEPEST], depth)
    return np.int64(g.OK)


@kernel
def descend(stack, frames, tables, memo, composites, visited, told):
    """Search depth-first for a number of transitions, from the present path on.

    A *frame* is a state on the path from the initial state, with its successors on the stack. Frame
    0 has only the initial state, as its one successor. The search takes transitions in the order of
    `semantics.transition.enabled`. It can be interrupted after any transition and continued.

    Args:
        stack: int64, flat; the entries of all frames, frame after frame.
        frames: int64, flat; per frame, its next entry, and the end of its entries.
        told: a `Steps`. Set in its control before: STEPS (the number of transitions to take),
            FRAMES (the number of frames), MAX_DEPTH (states at this depth are not expanded), KNOWN
            (the properties not to report), and RAISING (the property that stands for a handler that
            raised). The kernel updates FRAMES, ENTERING (the last transition led to a new state
            that has no frame yet) and SHOWN (the properties that the last transition shows), and
            sets CUT if a state was not expanded.

    Returns:
        OK when the transitions are taken or the search is complete (one frame is left). Otherwise
        the reason for the interruption: MISSED (Python must fill the tables), OVERFLOWED (the stack
        or `frames` is full), FULL_SET (`visited` must grow), SHOWS (a property is violated or
        reached), RAISES (a handler raised), or CROWDED (a state has too many transitions). Remove
        the reason, and call the kernel again.
    """
    stack, frames = borrow(stack), borrow(frames)
    visited, told = g.RowSet(borrow(visited.slots), borrow(visited.figures)), borrowed_steps(told)
    composites = g.Composites(borrow(composites.counts), borrow(composites.limits))
    control, tables, memo = told.control, borrowed(tables), borrowed_memo(memo)
    row_words = tables.geo[g.ROW_WORDS]
    own_loc = np.empty(room_for(tables.geo) + 2 * tables.geo[g.PARTS], np.int64)
    work = work_for(tables, memo, borrow(own_loc), stack, told)
    depth = control[g.FRAMES]
    status = np.int64(g.OK)
    while True:
        if control[g.ENTERING]:
            status = open_frame(stack, frames, depth, work, composites, visited, told)
            if status != g.OK:
                break
            depth += 1
        if control[g.SHOWN]:
            status = np.int64(g.SHOWS)
            break
        # A frame without entries is done. Frame 0 stays: it only has the initial state.
        while depth > 1 and is_done(frames, depth - 1):
            depth -= 1
        if depth == 1 or control[g.STEPS] <= 0:
            break
        status = take_next(stack, frames, depth, row_words, visited, told)
        if status != g.OK:
            break
    control[g.FRAMES] = depth
    # A borrowed array dies with its owner, so the owner must be used last.
    own_loc[0] = 0
    return status


@inlined
def draw(generator, choices):
    """Return a random integer from 0 to `choices` - 1, for at most 2 ** 62 choices.

    The numbers are those of splitmix64: a seed, the first element of `generator` (uint64), gives
    the same numbers on every machine.

    Examples:
        >>> generator = np.array([1], np.uint64)
        >>> with np.errstate(over="ignore"):
        ...     [int(draw(generator, 6)) for _ in range(5)]
        [4, 1, 1, 2, 2]
    """
    most = np.int64(1) << 62
    most -= most % choices
    while True:
        word = np.int64(mix(generator[0]) >> np.uint64(2))
        generator[0] += np.uint64(0x9E3779B97F4A7C15)
        if word < most:
            return word % choices


@inlined
def start_walk(rows, row_words, control):
    """Make the initial state the current one, and count the new walk."""
    for k in range(row_words):
        rows[row_words + 1 + k] = rows[k]
    control[g.WALKS] -= 1
    control[g.STEPS] -= 1
    control[g.TOTAL] += 1
    control[g.LENGTH] = 0
    control[g.ENTERING] = 1


@inlined
def step_at_random(rows, row_words, count, places, generator, visited, told):
    """Make one of the `count` successors in `rows` the current state.

    Returns:
        OK if the step was made; its properties are in control[SHOWN]. RAISES if a handler raised in
        it; the step is then the last one in `places`. FULL_SET if the set of visited states must
        grow first; the same step is drawn again then.
    """
    control = told.control
    stride = row_words + 1
    before = generator[0]
    place = draw(generator, count)
    chosen = (2 + place) * stride
    info = rows[chosen + row_words]
    shown = info >> g.SHOWN_SHIFT & ~control[g.KNOWN]
    places[control[g.LENGTH]] = place
    if shown & control[g.RAISING]:
        control[g.LENGTH] += 1
        return np.int64(g.RAISES)
    fresh = claim_row(visited.slots, visited.figures, rows, chosen, row_words)
    if fresh == g.MISSED:  # the same number is drawn again, so a walk does not depend on the room
        generator[0] = before
        return np.int64(g.FULL_SET)
    for k in range(row_words):
        rows[stride + k] = rows[chosen + k]
    kind = info >> g.KIND_SHIFT & g.KIND_MASK
    told.fired[kind] += 1
    told.kinds[kind] += fresh
    control[g.STEPS] -= 1
    control[g.TOTAL] += 1
    control[g.LENGTH] += 1
    control[g.DEEPEST] = max(control[g.DEEPEST], control[g.LENGTH] + 1)
    control[g.SHOWN] = shown
    return np.int64(g.OK)


@inlined
def end_walk(finals, rows, row_words, control):
    """End the walk in the current state, which is final; return False if `finals` must grow."""
    fresh = claim_row(finals.slots, finals.figures, rows, row_words + 1, row_words)
    if fresh == g.MISSED:
        return False
    control[g.ENTERING] = 0
    control[g.FINALS] += fresh
    control[g.SHOWN] = control[g.VIOLATED] & ~control[g.KNOWN]
    return True


@kernel
def wander(rows, places, generator, tables, memo, composites, sets, told):
    """Walk at random through the states, from the initial state to a final state, again and again.

    A walk also ends at the depth control[MAX_DEPTH]. Each transition of a state is equally likely.
    The work can be interrupted after any transition and continued.

    Args:
        rows: int64, flat; entries: the initial state, the current state, and room for its
            successors.
        places: output; the places of the transitions of the present walk; control[LENGTH] is their
            number.
        generator: the state of the random numbers; see `draw`.
        told: a `Steps`. Set in its control before: STEPS (the number of transitions to take), WALKS
            (the number of walks to start), MAX_DEPTH, KNOWN and RAISING, as for `descend`. The
            kernel updates ENTERING (0: the present walk is over), LENGTH, and TOTAL (the number of
            states met, with repetitions).

    Returns:
        As `descend`; OK also when no walk is left.
    """
    rows, places, generator = borrow(rows), borrow(places), borrow(generator)
    visited = g.RowSet(borrow(sets.visited.slots), borrow(sets.visited.figures))
    finals = g.RowSet(borrow(sets.finals.slots), borrow(sets.finals.figures))
    told = borrowed_steps(told)
    composites = g.Composites(borrow(composites.counts), borrow(composites.limits))
    control, tables, memo = told.control, borrowed(tables), borrowed_memo(memo)
    row_words = tables.geo[g.ROW_WORDS]
    stride = row_words + 1
    own_loc = np.empty(room_for(tables.geo) + 2 * tables.geo[g.PARTS], np.int64)
    loc = borrow(own_loc)
    out, status = rows[2 * stride :], np.int64(g.OK)
    while control[g.STEPS] > 0:
        if not control[g.ENTERING]:
            if control[g.WALKS] == 0:
                break
            start_walk(rows, row_words, control)
        full = is_full(visited.figures) or is_full(finals.figures)
        if full or control[g.LENGTH] == places.shape[0]:
            status = np.int64(g.FULL_SET if full else g.OVERFLOWED)
            break
        count = enter(rows, stride, composites, work_for(tables, memo, loc, out, told))
        if count < 0:
            status = count
            break
        if count == 0:
            if not end_walk(finals, rows, row_words, control):
                status = np.int64(g.FULL_SET)
                break
        elif control[g.LENGTH] + 1 >= control[g.MAX_DEPTH]:
            control[g.ENTERING] = 0
        else:
            status = step_at_random(rows, row_words, count, places, generator, visited, told)
            if status != g.OK:
                break
        if control[g.SHOWN]:
            status = np.int64(g.SHOWS)
            break
    # A borrowed array dies with its owner, so the owner must be used last.
    own_loc[0] = 0
    return status
