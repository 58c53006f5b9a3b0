"""What actors know, as vector clocks whose parts are shared.

What an actor knows is a row of numbers of chunks, each of WIDTH counters. Rows and chunks are
shared and counted by their users: a causal-send refers to its sender's row, a delivery copies the
row that somebody refers to, and only those chunks in which it learns something. So a message in
transit costs what its sender has learned since, not a clock of all actors.
"""

from __future__ import annotations

from antecede.checker.audit.kernels.arrays import CHUNKS, COLUMNS, FIRST, ROWS, WIDTH, kernel


@kernel
def knows(t, actor, sender):
    """Return how many messages of a sender an actor knows of by its deliveries; -1: not kept."""
    column = sender // WIDTH - t.counter[FIRST]
    if column < 0 or column >= t.counter[COLUMNS]:
        return -1
    chunk = t.rows[t.known[actor] * t.counter[COLUMNS] + column]
    return t.chunks[chunk * WIDTH + sender % WIDTH]


@kernel
def drop_chunk(t, chunk):
    """Use a chunk once less."""
    if chunk:
        t.chunk_users[chunk] -= 1
        if t.chunk_users[chunk] == 0:
            t.free_chunks[t.counter[CHUNKS]] = chunk
            t.counter[CHUNKS] += 1


@kernel
def drop_row(t, row):
    """Use a row once less."""
    t.row_users[row] -= 1
    if t.row_users[row] == 0:
        columns = t.counter[COLUMNS]
        for column in range(columns):
            drop_chunk(t, t.rows[row * columns + column])
        t.free_rows[t.counter[ROWS]] = row
        t.counter[ROWS] += 1


@kernel
def own_row(t, actor):
    """Return the actor's row, for changes: a copy, if somebody else refers to it."""
    row, columns = t.known[actor], t.counter[COLUMNS]
    if t.row_users[row] == 1:
        return row
    t.counter[ROWS] -= 1
    new = t.free_rows[t.counter[ROWS]]
    for column in range(columns):
        chunk = t.rows[row * columns + column]
        t.rows[new * columns + column] = chunk
        t.chunk_users[chunk] += 1
    t.row_users[row] -= 1
    t.row_users[new] = 1
    t.known[actor] = new
    return new


@kernel
def own_chunk(t, at):
    """Return the chunk at a place of `rows`, for changes: a copy, if it is used elsewhere."""
    chunk = t.rows[at]
    if chunk and t.chunk_users[chunk] == 1:
        return chunk
    t.counter[CHUNKS] -= 1
    new = t.free_chunks[t.counter[CHUNKS]]
    for k in range(WIDTH):
        t.chunks[new * WIDTH + k] = t.chunks[chunk * WIDTH + k]
    if chunk:
        t.chunk_users[chunk] -= 1
    t.chunk_users[new] = 1
    t.rows[at] = new
    return new


@kernel
def merge_chunk(t, at, other):
    """Make the chunk at a place of `rows` know what another one does."""
    mine = t.rows[at]
    less, more = False, False
    for k in range(WIDTH):
        a, b = t.chunks[mine * WIDTH + k], t.chunks[other * WIDTH + k]
        less |= a < b
        more |= a > b
    if not less:
        return
    if not more:
        t.chunk_users[other] += 1
        t.rows[at] = other
        drop_chunk(t, mine)
        return
    mine = own_chunk(t, at)
    for k in range(WIDTH):
        t.chunks[mine * WIDTH + k] = max(t.chunks[mine * WIDTH + k], t.chunks[other * WIDTH + k])


@kernel
def learn(t, actor, slot):
    """Let an actor know what was known at the causal-send of a message, and of the message."""
    columns, sender, number = t.counter[COLUMNS], t.sender[slot], t.number[slot]
    row, other = own_row(t, actor) * columns, t.row[slot] * columns
    for column in range(columns):
        theirs = t.rows[other + column]
        if theirs and theirs != t.rows[row + column]:
            merge_chunk(t, row + column, theirs)
    column = sender // WIDTH - t.counter[FIRST]
    if column < 0 or column >= columns:
        return
    at = row + column
    if t.chunks[t.rows[at] * WIDTH + sender % WIDTH] < number:
        t.chunks[own_chunk(t, at) * WIDTH + sender % WIDTH] = number
