"""The arrays of the judge: their columns, counters and tags.

The judge keeps, for each actor, the clock of its deliveries, and for each message in transit, the
clock of its causal-send. A clock is a tree of chunks (see `clocks_kernels`):

    known[actor] ──> chunk ──> chunk ──> WIDTH counters: how many messages of a sender are known
    slots[slot, PAST] ─┘ clocks share equal chunks; chunk_users counts the users of each

    state[message] = value << 2 | tag     TRANSIT: the slot with the message's other numbers
                                          DONE: sender << SET_BITS | set
                                          AWAITED: the first actor that waits for it

An actor whose next event delivers a message that was not sent yet waits, and its events wait in
`nodes`, a linked list. The kernels of the judge write all arrays. Python creates and lengthens them
(`tables`) whenever a kernel finds no `room`.
"""

from __future__ import annotations

from typing import NamedTuple

from antecede.checker.logs.events.columns_kernels import *

BITS = 5
WIDTH = 1 << BITS
"""The number of counters in a chunk, or of chunks below it."""

# Counters, at fixed places of `counter`.
ACTORS, MESSAGES, SETS, MEMBERS, SLOTS, CHUNKS, NODES, PAIRS, OUT, FOUND = range(10)
READY, READY_END, SENDS, DELIVERIES, UNADDRESSED, RAISED = range(10, 16)
LEAVES, HEIGHT, FIRST, FIXED, WORK = range(16, 21)
COUNTERS = 21
"""The length of `counter`.

CHUNKS, SLOTS and NODES count free places. READY to READY_END is the range of actors that can
continue. Clocks have HEIGHT levels and room for LEAVES chunks of senders, beginning with chunk
FIRST. FIXED: clocks keep only these senders, and only their messages are judged. WORK counts
visited chunks."""

MOST_WORK = 1 << 24
"""The most chunks that a kernel visits before it returns, so that Python can react to signals."""

# Tags of a message's state.
UNSENT, TRANSIT, DONE, AWAITED = range(4)

AMBIGUOUS = -4 | DONE
"""The state of a name that several actors causal-send; its value is -1."""

SET_BITS = 31
"""Bits for the destination set of a message that is done; its sender is above them."""

# Columns of `out`: the first one is place << 2 | WRONG or 0 | kind; then come ACTOR, MESSAGE, TO.
TAGGED = 0
WRONG = 2
"""Marks an event in `out` that does not count: its actor learns nothing."""

# Columns of `slots`: the sender of a message, its number among the sender's messages, the root of
# the sender's clock, the number of destinations that have not delivered it, and their set.
FROM, NTH, PAST, MISSING, WHOM = range(5)

# Columns of `found`: KIND, ACTOR, MESSAGE, the message's SENDER, PLACE, and its NUMBER.
SENDER, NUMBER = 3, 5
CAUSAL, AGAIN, STRAY, TWICE, SHARED, NEVER = range(6)
"""Kinds of findings. Only CAUSAL has a sender and a number."""

NEXT = ACTOR
"""The column of `nodes` with the next node; the others are those of a batch."""

# Columns of `raised`; the third one is MESSAGE.
PAIR, COUNT = 0, 1

# Rows of `levels`; see `clocks_kernels.merge`.
MINE, THEIRS, INDEX, OWNED = range(4)
LEVELS = 8

FOREVER = 1 << 30
"""The number of users of chunk 0, which is never free."""

# Columns of `path`, and indices of `walk`; see `judging_kernels.finish`.
WHO, AWAITS = range(2)
LENGTH, KEPT, BEGIN = range(3)


class Tables(NamedTuple):
    """The judge's arrays.

    Attributes:
        counter: int64, COUNTERS elements.
        members, set_starts: int32 and int64; the actors of destination sets.
        state: int64 per message, see above.
        slots, sent_at: int32 and int64; a row and the place per message in transit.
        free_slots, free_chunks, free_nodes: int32; stacks.
        chunks, chunk_users: int32; WIDTH numbers per chunk; chunk 0 is all zero.
        known: int32 per actor; the root of the clock of its deliveries.
        own: int32 per actor; the number of messages that it has causal-sent.
        waits_for: int64 per actor; the message, or -1.
        next_waiter, before_waiter: int32 per actor; its neighbours in the list of actors that wait
            for one message.
        first_node, last_node: int32 per actor; its events that wait, or -1.
        nodes: int64; a row per waiting event.
        pairs: int64; a set of message << 32 | actor (-1: empty): delivered there, not everywhere.
        ready: int32; a ring of actors.
        out: int64; a row per event, in causal order.
        found: int64; a row per finding.
        watched, watch_starts: int32 and int64; per actor, the senders whose messages it got too
            late; empty in the first pass.
        raised: int64; a row per delivery that raised a watched counter: actor << 32 | sender, the
            new counter, the delivered message.
        scratch: int64; temporary values.
        levels: int64; the position of a walk through two trees. Per level it has the actor's
            chunk, the message's chunk, the index of a part, and whether the actor's chunk has no
            other user.
        spare: int64; a stack of chunks to be freed.
    """

    counter: Array
    members: Array
    set_starts: Array
    state: Array
    slots: Array
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
    levels: Array
    spare: Array
