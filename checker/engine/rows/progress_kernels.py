"""The progress measure of the sweep-line method."""

from __future__ import annotations

import numpy as np

from antecede.checker.engine.compiled.jit import borrow, inlined, kernel
from antecede.checker.engine.rows import geometry as g
from antecede.checker.engine.rows.fields_kernels import composite_in, field_of
from antecede.checker.engine.rows.hashing_kernels import hash_words, home


@inlined
def progress_of(row, at, geo, progress):
    """Return the progress of row[at:], a measure that never decreases along a transition.

    It is the sum, over all actors, of the weights of their causal-sent messages minus the number of
    copies that are still undelivered.
    """
    total = np.int64(0)
    for part in range(geo[g.PARTS]):
        composite = composite_in(row, at, field_of(geo, part))
        total += progress[part * geo[g.REN_STRIDE] + composite]
    return total


@kernel
def least_progress(rows, count, geo, progress, most):
    """Return the least progress of the first `count` rows, or `most` if there are none."""
    least = np.int64(most)
    for r in range(count):
        least = min(least, progress_of(rows, r * geo[g.ROW_WORDS], geo, progress))
    return least


@kernel
def count_progress(slots, total, geo, progress, tally):
    """Add the progress of every state in the first `total` slots to `tally`."""
    for slot in range(total):
        if slots[slot * geo[g.ROW_WORDS]] != -1:
            tally[progress_of(slots, slot * geo[g.ROW_WORDS], geo, progress)] += 1


@kernel
def drop_behind(slots, tail, old, new, geo, progress, least):
    """Drop the states of an exact visited set whose progress is below `least`, in place.

    The set shrinks from `old` to `new` slots. With fewer slots, homes move to the left. The kernel
    processes runs from left to right, and the survivors of a run fit the slots that they had
    before, so it never overwrites a slot that is still to be read.

    Returns:
        The number of states dropped.
    """
    width = geo[g.ROW_WORDS]
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
        # A run is copied before its states are inserted again, because they may take its slots.
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
