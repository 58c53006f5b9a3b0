"""The arrays that the kernels work on, and what the numbers in them mean."""

from __future__ import annotations

from functools import partial
from typing import Any, NamedTuple

import numpy as np

from antecede.checker.tables.kernels import jit

Array = np.ndarray[Any, Any]

WIDTH = 32
SEND, DELIVER = 0, 1

# Counters, at fixed places of `counter`.
ACTORS, MESSAGES, SETS, MEMBERS, ARENA, NAMES, SLOTS, CHUNKS, ROWS, NODES, PAIRS = range(11)
OUT, FOUND, READY, READY_END, SENDS, DELIVERIES, UNADDRESSED, LINES, COLUMNS, RAISED = range(11, 21)
FIRST, FIXED = 21, 22
COUNTERS = 24
"""CHUNKS, ROWS, SLOTS and NODES count what is free; READY to READY_END are actors that can go on;
COLUMNS is how many chunks a row has, FIRST which chunk of senders is its first one, and FIXED
whether rows keep those and no others: then only messages of these senders are judged."""

# States of a message: a tag in the lowest two bits, a value above.
UNSENT, TRANSIT, DONE, AWAITED = range(4)

CAUSAL, AGAIN, STRAY, TWICE, NEVER = range(5)
"""Kinds of findings."""

FINISHED, ASK, GROW = range(3)
"""Why a kernel returns: nothing is left; a line is for Python to read; arrays are too short."""

kernel = partial(jit.kernel, _nrt=False)
"""Kernels allocate nothing, and count no references to the many arrays that they hand on."""


class Tables(NamedTuple):
    """All arrays; sizes are in elements.

    Attributes:
        counter: int64, COUNTERS of them.
        actor_keys, message_keys, set_keys: int64; open addressing, slot s holds two hashes at 3s
            and a number at 3s + 2 (-1: empty); the length is 3 times a power of two.
        arena, starts: uint8 and int64; the names of actors, that of actor a from starts[a].
        names, name_ends: uint8 and int64; the names of messages met since they were last taken.
        members, set_starts: int32 and int64; the actors of destination sets.
        state: int64 per message, see above.
        sender, number, row, missing, to, sent_at: per message in transit.
        free_slots, free_chunks, free_rows, free_nodes: int32; stacks.
        chunks, chunk_users: int32; counters, WIDTH of each chunk; chunk 0 is all zero.
        rows, row_users: int32; COLUMNS chunks of each row.
        known: int32 per actor; its row.
        own: int32 per actor; how many messages it has causal-sent.
        waits_for: int64 per actor; the message, or -1.
        next_waiter, last_waiter: int32 per actor; of the list of those that wait for one message,
            whose end its first member knows.
        first_node, last_node: int32 per actor; its events that wait, or -1.
        nodes: int64; per waiting event kind, message, set, place, and the next node.
        pairs: int64; a set of message << 32 | actor (-1: empty): delivered there, not everywhere.
        ready: int32; a ring of actors.
        out: int64; events in causal order: place << 1 | kind, actor, message, set.
        found: int64; kind, actor, message, place, and of CAUSAL the message's sender and number.
        watched, watch_starts: int32 and int64; per actor the senders whose messages it got too
            late; empty in the first pass.
        scratch: int64; for a moment.
        raised: int64; of those: actor << 32 | sender, how many messages are known, by which one.
    """

    counter: Array
    actor_keys: Array
    message_keys: Array
    set_keys: Array
    arena: Array
    starts: Array
    names: Array
    name_ends: Array
    members: Array
    set_starts: Array
    state: Array
    sender: Array
    number: Array
    row: Array
    missing: Array
    to: Array
    sent_at: Array
    free_slots: Array
    chunks: Array
    chunk_users: Array
    free_chunks: Array
    rows: Array
    row_users: Array
    free_rows: Array
    known: Array
    own: Array
    waits_for: Array
    next_waiter: Array
    last_waiter: Array
    first_node: Array
    last_node: Array
    nodes: Array
    free_nodes: Array
    pairs: Array
    ready: Array
    out: Array
    found: Array
    watched: Array
    watch_starts: Array
    raised: Array
    scratch: Array
