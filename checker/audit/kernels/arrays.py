"""The arrays of the audit's kernels, and the meaning of their numbers."""

from __future__ import annotations

from functools import partial
from typing import Any, NamedTuple

import numpy as np

from antecede.checker.engine.compiled import jit

Array = np.ndarray[Any, Any]

BITS = 5
WIDTH = 1 << BITS
SEND, DELIVER = 0, 1
WRONG = 2
"""Marks an event in `out` that does not count: its actor learns nothing."""

# Counters, at fixed places of `counter`. The parser and the judge each have their own.
ACTORS, MESSAGES, SETS, MEMBERS, ARENA, NAMES, SLOTS, CHUNKS, NODES, PAIRS = range(10)
OUT, FOUND, READY, READY_END, SENDS, DELIVERIES, UNADDRESSED, LINES, RAISED = range(10, 19)
COLUMNS, HEIGHT, FIRST, FIXED, WORK, WANTED, LISTED, LISTS, FIRST_SET, NAMED, OTHERS = range(19, 30)
COUNTERS = 32
"""The length of `counter`.

CHUNKS, SLOTS and NODES count free places. READY to READY_END is the range of actors that can
continue. Clocks have HEIGHT levels and room for COLUMNS chunks of senders, beginning with chunk
FIRST. FIXED: clocks keep only these senders, and only their messages are judged. WORK counts
visited chunks. WANTED is the length of a name that did not fit. LISTED is the number of members of
a list that did not fit. LISTS numbers lists. FIRST_SET is the number of the first destination set
in the parser's arrays. NAMED is the number of events in a batch whose messages have numbers. OTHERS
counts the lines with other words since the kernel began."""

AHEAD = 8
"""The number of events between the hashes of a message's name and its number. Meanwhile, the
processor loads the name's slot, which is usually not in its caches."""

MOST_WORK = 1 << 24
"""The most chunks that a kernel visits before it returns, so that Python can react to signals."""

# States of a message: a tag in the lowest two bits, a value above. For a message in transit, the
# value is its slot. For a message that is done, it is the sender and the destination set. For an
# awaited message, it is the first actor that waits for it.
UNSENT, TRANSIT, DONE, AWAITED = range(4)

AMBIGUOUS = -4 | DONE
"""The state of a name that several actors causal-send; its value is -1."""

SET_BITS = 31
"""Bits for the destination set of a message that is done; its sender is above them."""

CAUSAL, AGAIN, STRAY, TWICE, SHARED, NEVER = range(6)
"""Kinds of findings."""

# Offsets in `stack` of an actor's and a message's current chunks; see `clocks.merge`.
MINE, THEIRS, INDEX, OWNED, SPARE = 0, 8, 16, 24, 40
STACK = SPARE + 8 * WIDTH

FOREVER = 1 << 30
"""The number of users of chunk 0, which is never free."""

LENGTH, KEPT, ACTOR = range(3)
"""Indices of `walk`; see `judging.finish`."""

FINISHED, ASK, GROW = range(3)
"""Reasons of a kernel's return: all is done; Python must read a line; arrays are too short."""

kernel = partial(jit.kernel, _nrt=False)
"""Kernels allocate nothing, and do not count references to the many arrays that they pass on."""


class Names(NamedTuple):
    """The parser's arrays; sizes are in elements.

    Attributes:
        counter: int64, COUNTERS elements.
        actor_keys, message_keys, set_keys: int64; open addressing, slot s has two hashes at 3s
            and a number at 3s + 2 (-1: empty); the length is 3 times a power of two.
        arena, starts: uint8 and int64; the names of actors; actor a's name begins at starts[a].
        marks: int64 per actor; the last list (see LISTS) that named it.
        names, name_ends: uint8 and int64; the names of messages that are not yet on disk.
        members, set_starts: int32 and int64; the actors of destination sets that the judge does
            not have yet.
        spans: int64; the values of the four fields in a line.
        ahead: int64; a ring of events whose messages have no numbers yet: per event the hashes, the
            start and the end of the name, and the start of the line.
    """

    counter: Array
    actor_keys: Array
    message_keys: Array
    set_keys: Array
    arena: Array
    starts: Array
    marks: Array
    names: Array
    name_ends: Array
    members: Array
    set_starts: Array
    spans: Array
    ahead: Array


class Tables(NamedTuple):
    """The judge's arrays; sizes are in elements.

    Attributes:
        counter: int64, COUNTERS elements.
        members, set_starts: int32 and int64; the actors of destination sets.
        state: int64 per message, see above.
        sender, number, past, missing, to, sent_at: per message in transit; `past` is the root of
            its sender's clock.
        free_slots, free_chunks, free_nodes: int32; stacks.
        chunks, chunk_users: int32; WIDTH numbers per chunk; chunk 0 is all zero.
        known: int32 per actor; the root of the clock of its deliveries.
        own: int32 per actor; the number of messages that it has causal-sent.
        waits_for: int64 per actor; the message, or -1.
        next_waiter, before_waiter: int32 per actor; its neighbours in the list of actors that wait
            for one message.
        first_node, last_node: int32 per actor; its events that wait, or -1.
        nodes: int64; per waiting event kind, message, set, place, and the next node.
        pairs: int64; a set of message << 32 | actor (-1: empty): delivered there, not everywhere.
        ready: int32; a ring of actors.
        out: int64; events in causal order: place << 2 | WRONG or 0 | kind, actor, message, set.
        found: int64; kind, actor, message, place; for CAUSAL also the message's sender and number.
        watched, watch_starts: int32 and int64; per actor, the senders whose messages it got too
            late; empty in the first pass.
        scratch: int64; temporary values.
        stack: int64, STACK elements; the position of a walk through two trees. Per level it has
            the actor's chunk, the message's chunk, the index of a part, and whether the actor's
            chunk has no other user. Chunks to be freed begin at SPARE.
        raised: int64; per delivery that raised a watched counter: actor << 32 | sender, the new
            counter, the delivered message.
    """

    counter: Array
    members: Array
    set_starts: Array
    state: Array
    sender: Array
    number: Array
    past: Array
    missing: Array
    to: Array
    sent_at: Array
    free_slots: Array
    chunks: Array
    chunk_users: Array
    free_chunks: Array
    known: Array
    own: Array
    waits_for: Array
    next_waiter: Array
    before_waiter: Array
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
    stack: Array
