"""The layout of all arrays: keys, columns, control slots, the geometry array, and the tables.

All words are non-negative int64 (63 usable bits), so that no kernel mixes signed and unsigned
arithmetic. Only hashes are uint64. An empty slot holds -1. Terms:

* a *local word* packs the columns of one actor (see `checker.engine.rows.layout`); an actor has
  WORDS. A column is the number of a component: of the actor's state, of a channel, of a history;
* a *part* is all of an actor's local words. Under the `full` history, each actor has two parts: the
  protocol's columns and the history's columns. A part has PART_WORDS, and part p belongs to actor p
  // (PARTS // ACTORS);
* a *composite* is the number of a part's distinct local words; `cons` maps words to the number, and
  `dec` maps the number to the words;
* a *row* packs the composites of all parts into ROW_WORDS words: a global state;
* an *entry* is a row followed by one word of information (parent, transition, kind).

    row:    | composite of part 0 | composite of part 1 | ...     ROW_WORDS words
                    | decode: dec               ^ emit: cons
                    v                           |
    loc:    | columns of actor 0  | columns of actor 1  | ...     ACTORS * WORDS words

The kernels of all packages use the same names for these arrays, so their docstrings do not repeat
them:

* `geo`, `table`, `code`, `cons`, `dec`: the fields of `Tables`;
* `row, at`: the row is row[at:], of a flat int64 array; `out, start`: the row or entry is written
  to out[start:];
* `loc`: working memory of one thread (`derive_kernels.room_for`); `loc, base`: the local words of
  all actors are loc[base:]; loc[0:] without `base`;
* `misses`, `control`: output, the fields of `Missing`; `found`: the bit set of properties not to
  report.

A kernel that returns MISSED, or -1 for a number, lacks something that it recorded in `misses`: its
other output must not be used, and the caller tries again when Python has added what is missing.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

# Kinds of table look-ups; the kind, a column and two numbers make a key.
SEND, RECEIVE, INTERNAL, LOSE, APPEND, REACT = range(1, 7)
TICK, PUSH, NOTE, TAKE, JOIN, FORGET, DROP, FINAL, RECORD, RENAME, UNSENT, TRIM, GATE = range(7, 20)
TOGETHER = 20
"""The look-ups that judge all actors of a final state together.

See `derive_kernels.judge_together`.
"""
RESTART, LIVE, OWED, PART = range(21, 25)
"""The look-ups of systems with crashes: a crash or recovery, whether an actor is live, its pending
messages together with one more crashed actor, and what a channel holds if only a part of a step's
packets gets out."""
NOT_TAKEN = 1 << 25
"""The result of PART if the network does not take the last one of the packets."""
NUMBER_BITS = 25
COLUMN_BITS = 8
NUMBER_LIMIT = 1 << NUMBER_BITS
NUMBER_MASK = NUMBER_LIMIT - 1
ACTOR_BITS = 4
"""The actor in the bits below a column: in the columns of RECORD, and in the numbers of RENAME."""
SECOND_SHIFT, FACT_SHIFT, UNEXPECTED_SHIFT = 28, 56, 57
"""The fields of the values of TICK, TAKE and JOIN above their first number; see `histories`.

Bit FACT_SHIFT is 1 if a delivery has overtaken another one, or comes too late.
"""
NETWORK_SENT = -2
"""Replaces a delivered message's sender if the message is network-sent and not delivered."""
COMPOSE = 1
"""The kind of misses that are composites, not table look-ups.

The first word of such a record is COMPOSE << MISS_SHIFT | part. The local words of the part follow.
"""
MISS_SHIFT = 8
PART_SHIFT = 48
COMPOSITE_MASK = (1 << PART_SHIFT) - 1
"""Where a slot of `cons` has the part and its composite: after the local words, it has
part << PART_SHIFT | composite."""

# Columns of an actor's local words; the channels to other actors follow.
STATE, POSITION, KNOWS, PENDING, RECORDED, STAMPS, LOSSES, CHANNELS = range(8)

# The words of an effect of a handler, in `Tables.code`.
EFFECT_STATE, EFFECT_SHOWN, EFFECT_KIND, EFFECT_CONTENT, EFFECT_SUBJECT = range(5)
EFFECT_WORDS = 5
"""The words of an effect before its lists.

EFFECT_STATE: the actor's new state, or -1 if it stays. EFFECT_SHOWN: the properties that the
transition shows. EFFECT_KIND: the kind of the transition. EFFECT_CONTENT: the new content of the
column that is read, or -1 if it stays. EFFECT_SUBJECT: the packet, or the causal-sent message, or
-1.

Two lists follow: the packets that are sent, then the deliveries and network-sends. A list is its
length, and two words per element.
"""

# Slots of the control array of `expand`.
(
    AT_FRESH,
    END_FRESH,
    TODO,
    POSTPONED,
    MISSES,
    FIRED,
    FINALS,
    FOUND,
    FULL,
    KNOWN,
    ORBIT_STATES,
    ORBIT_FIRED,
    ORBIT_FINALS,
) = range(13)
CONTROL_SIZE = 13

FLAT_BITS = 63
FLAT_MASK = (1 << FLAT_BITS) - 1
PLACE_BITS = 16
PLACE_MASK = (1 << PLACE_BITS) - 1
KIND_SHIFT, KIND_BITS = PLACE_BITS, 15
KIND_MASK = (1 << KIND_BITS) - 1
LABEL_SHIFT = KIND_SHIFT + KIND_BITS
EDGE_MASK, LABEL_MASK = (1 << LABEL_SHIFT) - 1, 0xFFFFFFFF
SHOWN_SHIFT = 32
"""The fields of the information word of an entry.

    bits    63    62-32    31    30-16   15-0
          |  0  |  shown  |  0  | kind  | place |    a successor that is not sent yet
          | new |     label     | kind  | place |    a successor in an `Outbox`

The place is the index of the transition among those of its state. Shown is the bit set of the
properties that the transition violates or reaches. A label, masked by LABEL_MASK, has 32 bits, and
what is below it is masked by EDGE_MASK; `levels_kernels` says what a label is.
"""
MOST_TRANSITIONS = 1 << PLACE_BITS
"""The most transitions from one state."""
LEAD_BITS = 16
"""The number of bits for a depth in a *mark*.

If levels are sums of weights, a row that travels has a mark: its least depth so far, in LEAD_BITS
bits, and above it its lead. A lead of n is n levels after the next level; -1 is the current level.
"""

AHEAD = 8
"""Prefetch distance: the number of rows between a prefetch and its use."""

OK, MISSED, OVERFLOWED, SETTLED = 0, -1, -2, -7
ROOM, TAINT, MARK, OVER = 1, 2, 4, 8
"""The bits of an actor in GATE, if only one message is followed (geo[FOLLOWS]).

ROOM: the actor may send, because its undelivered messages leave room for another one. TAINT: it
knows of the marked message. MARK: it sent the marked message. OVER: the marked message was
delivered everywhere, so that the state is SETTLED.
"""
NEW = np.int64(-1) << np.int64(63)
"""Marks the information word of a successor that was not visited before."""


# The geometry array: scalars, then arrays at fixed offsets; `Layout.geometry` makes it.
ACTORS, WORDS, ROW_WORDS, CHANNEL_COUNT, FULL_HISTORY, FORGETS, REACTS, DEC_STRIDE = range(8)
PERMUTATIONS, REN_STRIDE, COLUMN_COUNT = range(8, 11)
ACTS, LOSES, BUDGET, CHOICES, SOUGHT, TRIMS, FOLLOWS, PARTS, PART_WORDS, AT_NETWORK = range(11, 21)
JOINT = 21
"""What of all actors together is judged in final states: a sum of JOINT_STATES (their states) and
JOINT_POSITIONS (their positions in the workload, which record their deliveries)."""
JOINT_STATES, JOINT_POSITIONS = 1, 2
CRASHES = 22
"""What a crash subtracts from the number in the column LOSSES; 0 if no actor crashes."""
CRASH_KIND = 0
"""The number of the kind of crashes among the kinds of transitions, if actors may crash."""
CLOSES = 23
"""Whether a crash closes the channels to its actor, because packets to crashed actors are lost."""
CLOSED = 1
"""The number of the content of a closed channel."""
MOST_ACTORS, MOST_COLUMNS, MOST_CHANNELS = 16, CHANNELS + 16, 256
MOST_PARTS = 2 * MOST_ACTORS
BAD = 24
"""Per judgement of a delivery (sum of 1 known, 2 overtaken, 4 unexpected): violated properties."""
UNEXPECTED = 4
COL_WORD = BAD + 8
COL_SHIFT = COL_WORD + MOST_COLUMNS
COL_MASK = COL_SHIFT + MOST_COLUMNS
ROW_WORD = COL_MASK + MOST_COLUMNS
ROW_SHIFT = ROW_WORD + MOST_PARTS
ROW_MASK = ROW_SHIFT + MOST_PARTS
CHAN_SRC = ROW_MASK + MOST_PARTS
CHAN_DST = CHAN_SRC + MOST_CHANNELS
CHAN_COL = CHAN_DST + MOST_CHANNELS
CHAN_OF = CHAN_COL + MOST_CHANNELS
"""The channel of (src, dst), at src * actors + dst, or -1."""
GEOMETRY_SIZE = CHAN_OF + MOST_ACTORS**2


ORBIT_SHIFT, KEY_SHIFT = 8, 40
PERMUTATION_MASK, ORBIT_MASK = (1 << ORBIT_SHIFT) - 1, (1 << KEY_SHIFT - ORBIT_SHIFT) - 1
"""Where an entry of `Renamings.kin` has the permutation, the orbit, and its key of 23 bits."""
AGE_DIGITS, HASH_BITS = 10, 8
"""The digits of an orbit's age, whose exponent has five bits more, and the bits of a hash in the
key; see `renaming_kernels.key_orbits`."""


class Renamings(NamedTuple):
    """Orbits of composites under renaming; all arrays are empty without symmetry.

    A permutation is given by its index in the group; the identity's index is 0. An orbit gets its
    number when the first of its composites is renamed.

    Attributes:
        targets: the part to which permutation k takes part i, at k * parts + i.
        sources: the part that permutation k takes to i, at k * parts + i.
        products: uint8; the permutation that applies j, then k, at j * (size of the group) + k.
        kin: for composite g of part i, at i * geo[REN_STRIDE] + g: the key of its orbit (on a
            cluster, otherwise 0) in the bits from KEY_SHIFT on, the orbit in the bits from
            ORBIT_SHIFT on, and the permutation that takes the orbit's first composite to g; -1: not
            known yet.
        images: int32; the image of an orbit's first composite under permutation k, at
            orbit * (size of the group) + k.
        known: one element, the number of orbits.
        choices: uint8; the permutation that gives the least orbits, per order of the actors'
            orbits; see `renaming_kernels.chosen_by_order`. Empty if there are too many orders.
        unordered: the bits of an entry of `kin` that do not decide which renaming of a state is its
            representative: KEY_SHIFT if keys decide, ORBIT_SHIFT if the orbits' numbers do.
    """

    targets: np.ndarray[Any, Any]
    sources: np.ndarray[Any, Any]
    products: np.ndarray[Any, Any]
    kin: np.ndarray[Any, Any]
    images: np.ndarray[Any, Any]
    known: np.ndarray[Any, Any]
    choices: np.ndarray[Any, Any]
    unordered: int


class Tables(NamedTuple):
    """Look-up tables of the kernels; all arrays are int64 and flat, except where noted.

    Attributes:
        geo: the geometry array, see above.
        table: open addressing; slot s has a key at 2s (-1: empty) and its value at 2s + 1.
        code: the effects of handlers; see `checker.engine.rows.tabulate`.
        cons: open addressing; a slot has local words, and a part with its composite (-1: empty);
            see `PART_SHIFT`.
        dec: the local words of each composite; those for part i begin at i * geo[DEC_STRIDE].
        renamings: the orbits of composites.
        one_word: True if rows have one word, as most have, and actors one part; otherwise None. The
            compiler generates code for each of the two.
    """

    geo: np.ndarray[Any, Any]
    table: np.ndarray[Any, Any]
    code: np.ndarray[Any, Any]
    cons: np.ndarray[Any, Any]
    dec: np.ndarray[Any, Any]
    renamings: Renamings
    one_word: bool | None


class Missing(NamedTuple):
    """The arrays where a kernel records missing table entries, so that Python can add them.

    Attributes:
        misses: int64 of shape (n, 1 + words): records, each of a key of the table of results (0,
            key) or of a composite (COMPOSE << MISS_SHIFT | part, its local words).
        control: counters; control[MISSES] is the number of records.
    """

    misses: np.ndarray[Any, Any]
    control: np.ndarray[Any, Any]


class Outbox(NamedTuple):
    """The successors that one thread sends to their owners in a chunk.

    Attributes:
        out: successors as entries, flat, with the same room for each owner. If the search has
            weights, there is such room per lead and owner.
        sizes: the number of entries of each owner (and lead).
        order: uint16; the owner (and lead) of each entry, in the order of sending.
        recent: recently sent rows, flat; a power of two of them (-1: none), or empty. A row found
            there is not sent again.
    """

    out: np.ndarray[Any, Any]
    sizes: np.ndarray[Any, Any]
    order: np.ndarray[Any, Any]
    recent: np.ndarray[Any, Any]


class Weighing(NamedTuple):
    """The weights of a search whose levels are sums of weights, not depths; otherwise empty arrays.

    Attributes:
        leads: per kind of transition, the number of levels that it skips.
        depths: uint16; the depth of each row of the frontier.
        recent: uint16; the depth with which each row of `Outbox.recent` was sent.
    """

    leads: np.ndarray[Any, Any]
    depths: np.ndarray[Any, Any]
    recent: np.ndarray[Any, Any]


BY_DEPTH = Weighing(np.empty(0, np.int64), np.empty(0, np.uint16), np.empty(0, np.uint16))
"""The value for a search whose levels are depths."""


class Memo(NamedTuple):
    """The transitions that one thread remembers; the arrays are flat.

    `memo_kernels` explains the terms.

    Attributes:
        figures: int64; the numbers that `memo_kernels` names, such as IN_USE.
        source_part: int64; per source of transitions (see `source_of`), the part whose composites
            have its list.
        source_slot: int64; per source, the slot of its list among the heads of a composite.
        source_receiver: int64; per source, the part that receives its packets, or -1 if there is
            none but the part that has its list.
        heads: int32; the place in `lists` where the list of a composite and a slot begins; 0: not
            known yet. Composite g of part p has figures[SLOTS] of them, at (p * figures[MEMO_ROOM]
            + g) * figures[SLOTS]. If actors have two parts, this is so for the first ones, and the
            histories follow.
        lists: int32; `OWN_AFTER`, `OFFER_EVENT` and `STEPS_CAPACITY` name the words of an entry in
            the two kinds of lists, and of a table of steps.
        shows: int64; the bit sets of properties that codes stand for.
        items: int64; per event, the delivered item, NO_ITEM, or STALE.
        events: int64, open addressing; the number of an event, and the message that the receipt of
            a packet delivers.
        parted: True if an actor's second part is its history; None if actors have one part. The
            compiler generates code for each of the two.
    """

    figures: np.ndarray[Any, Any]
    source_part: np.ndarray[Any, Any]
    source_slot: np.ndarray[Any, Any]
    source_receiver: np.ndarray[Any, Any]
    heads: np.ndarray[Any, Any]
    lists: np.ndarray[Any, Any]
    shows: np.ndarray[Any, Any]
    items: np.ndarray[Any, Any]
    events: np.ndarray[Any, Any]
    parted: bool | None


class Told(NamedTuple):
    """The arrays where `expand` returns its results, except for the successors.

    Attributes:
        postponed: indices of rows that miss something; control[POSTPONED] counts them.
        misses: the missing table entries; see `Missing`.
        shown: (n, 3): property bit set, row index * owners + me, index of the transition (-1: the
            state itself); control[FOUND] counts them.
        fired: per kind, the number of transitions taken.
        control: slots as named above.
        memo: the transitions that the thread remembers.
    """

    postponed: np.ndarray[Any, Any]
    misses: np.ndarray[Any, Any]
    shown: np.ndarray[Any, Any]
    fired: np.ndarray[Any, Any]
    control: np.ndarray[Any, Any]
    memo: Memo


class Frontier(NamedTuple):
    """The states of one depth that a thread has found and not expanded.

    Attributes:
        rows: int64, flat; the states, packed into a few words each.
        parents: uint32; per row, the number of its parent, if parents are kept.
        places: uint16; per row, the index of the transition among the parent's transitions.
    """

    rows: np.ndarray[Any, Any]
    parents: np.ndarray[Any, Any]
    places: np.ndarray[Any, Any]


class Composites(NamedTuple):
    """The number of composites, and the room for them.

    Attributes:
        counts: per part, the number so far.
        limits: per part, then over all parts: the number that there is room for.
    """

    counts: np.ndarray[Any, Any]
    limits: np.ndarray[Any, Any]


class RowSet(NamedTuple):
    """An exact set of rows, as kernels take it; see `sets_kernels`."""

    slots: np.ndarray[Any, Any]
    figures: np.ndarray[Any, Any]


class Met(NamedTuple):
    """The states that random walks have met: all states, and the final states among them."""

    visited: RowSet
    finals: RowSet


class Steps(NamedTuple):
    """The arrays where `descend` and `wander` return their results.

    Attributes:
        misses: the missing table entries; see `Missing`.
        fired: per kind of transition, the number taken.
        kinds: per kind, the number of transitions that led to a new state.
        control: the slots named below, and some slots of `expand`.
    """

    misses: np.ndarray[Any, Any]
    fired: np.ndarray[Any, Any]
    kinds: np.ndarray[Any, Any]
    control: np.ndarray[Any, Any]


# Slots of the control arrays of `descend` and `wander`; they use MISSES, FIRED, FINALS, KNOWN, too.
(
    STEPS,
    MAX_DEPTH,
    DEEPEST,
    RAISING,
    SHOWN,
    VIOLATED,
    FRAMES,
    ENTERING,
    CUT,
    WALKS,
    LENGTH,
    TOTAL,
) = range(CONTROL_SIZE, CONTROL_SIZE + 12)
STEPWISE_CONTROL_SIZE = CONTROL_SIZE + 12

SHOWS, RAISES, FULL_SET, CROWDED = -3, -4, -5, -6
"""The results of `descend` and `wander` besides OK, MISSED and OVERFLOWED.

SHOWS: a property is violated or reached. RAISES: a handler raised on the last transition.
FULL_SET: a visited set must grow. CROWDED: a state has more than MOST_TRANSITIONS transitions.
"""
