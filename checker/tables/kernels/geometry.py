"""What is where: keys, columns, control slots, the geometry array, and the tables themselves.

All words are non-negative int64 (63 usable bits), so that no kernel mixes signed and unsigned
arithmetic; hashes alone are uint64. An empty slot holds -1. Terms:

* a *local word* packs the columns of one actor (see `checker.tables.layout`); an actor has WORDS;
* a *part* is all of an actor's local words; or, where there are two parts of each actor, what the
  protocol knows or what the history records; a part has PART_WORDS, and part p belongs to actor
  p // (PARTS // ACTORS);
* a *composite* numbers the distinct local words of a part; `cons` finds the number, `dec` the
  words;
* a *row* packs the composites of all parts into `geo.row_words` words: a global state;
* an *entry* is a row followed by one word of information (parent, transition, kind).
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

# Kinds of table look-ups; the kind, a column and two numbers make a key.
SEND, RECEIVE, INTERNAL, LOSE, APPEND, REACT = range(1, 7)
TICK, PUSH, NOTE, TAKE, JOIN, FORGET, DROP, FINAL, RECORD, RENAME, UNSENT, TRIM, GATE = range(7, 20)
NUMBER_BITS = 25
COLUMN_BITS = 8
NUMBER_LIMIT = 1 << NUMBER_BITS
NETWORK_SENT = -2
"""In place of a delivered message's sender: the message is not delivered, it is network-sent."""
COMPOSE = 1
"""The kind of misses that are no table look-up, times 256 in a record's first word: of a composite.

The actor is added to it, its local words follow.
"""

# Columns of an actor's local words; the channels to other actors follow.
STATE, POSITION, KNOWS, PENDING, RECORDED, STAMPS, LOSSES, CHANNELS = range(8)

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
    DECREASED,
) = range(14)
CONTROL_SIZE = 14

FLAT_BITS = 63
FLAT_MASK = (1 << FLAT_BITS) - 1
PLACE_BITS = 16
MOST_TRANSITIONS = 1 << PLACE_BITS
"""From one state; the place of a transition among them has so many bits."""
LEAD_BITS = 16
"""Where levels are sums of weights, a row that travels has a *mark*: its least depth so far, in so
many bits, and above it its lead: how many levels after the next one it is; -1 is the current."""

AHEAD = 8
"""How many rows ahead of their expansion what they need is asked for."""

OK, MISSED, OVERFLOWED, SETTLED = 0, -1, -2, -7
ROOM, TAINT, MARK, OVER = 1, 2, 4, 8
"""What GATE says of an actor where one message is followed (geo[FOLLOWS]): its own undelivered
messages leave room for another one; it knows of the marked message; it marked it; and that message
was delivered everywhere, so that the state is SETTLED."""
NEW = np.int64(-1) << np.int64(63)
"""Marks the information word of a successor that was not visited before."""


# The geometry array: scalars, then arrays at fixed places; `Layout.geometry` makes it.
ACTORS, WORDS, ROW_WORDS, CHANNEL_COUNT, FULL_HISTORY, FORGETS, REACTS, DEC_STRIDE = range(8)
PERMUTATIONS, REN_STRIDE, COLUMN_COUNT, DROPS_BEHIND, CHECKS_PROGRESS = range(8, 13)
ACTS, LOSES, BUDGET, CHOICES, SOUGHT, TRIMS, FOLLOWS, PARTS, PART_WORDS = range(13, 22)
MOST_ACTORS, MOST_COLUMNS, MOST_CHANNELS = 16, CHANNELS + 16, 256
MOST_PARTS = 2 * MOST_ACTORS
BAD = 22
"""Per judgement of a delivery (1 known, 2 overtaken, 4 unexpected, summed): properties violated."""
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
"""Channel of (src, dst) at src * actors + dst, or -1."""
GEOMETRY_SIZE = CHAN_OF + MOST_ACTORS**2


class Renamings(NamedTuple):
    """Which composites are renamings of each other, orbit by orbit; all empty without symmetry.

    A permutation is given by its place in the group, the identity's is 0. An orbit is numbered when
    the first of its composites is renamed.

    Attributes:
        targets: where permutation k takes part i, at k * parts + i.
        sources: which part permutation k takes to i, at k * parts + i.
        products: uint8; the permutation that applies j, then k, at j * (size of the group) + k.
        kin: of composite g of part i, at i * geo[REN_STRIDE] + g: its orbit, times 256, and a
            permutation that makes it of the first of that orbit; -1: not known yet.
        images: int32; what permutation k makes of the first of an orbit, at
            orbit * (size of the group) + k.
        known: one element, how many orbits there are.
    """

    targets: np.ndarray[Any, Any]
    sources: np.ndarray[Any, Any]
    products: np.ndarray[Any, Any]
    kin: np.ndarray[Any, Any]
    images: np.ndarray[Any, Any]
    known: np.ndarray[Any, Any]


class Tables(NamedTuple):
    """What the kernels look up; all arrays int64 and flat.

    Attributes:
        geo: the geometry, see above.
        table: open addressing, slot s holds a key at 2s (-1: empty) and its value at 2s + 1.
        code: effects of handlers; see `checker.tables.tabulate`.
        cons: open addressing, slot s holds the local words and part << 48 | composite (-1: empty).
        dec: the local words of each composite; part i's begin at i * geo[DEC_STRIDE].
        renamings: of composites.
        progress: int32; of composite g of part i, at i * geo[REN_STRIDE] + g; see `progress_of`.
    """

    geo: np.ndarray[Any, Any]
    table: np.ndarray[Any, Any]
    code: np.ndarray[Any, Any]
    cons: np.ndarray[Any, Any]
    dec: np.ndarray[Any, Any]
    renamings: Renamings
    progress: np.ndarray[Any, Any]


class Outbox(NamedTuple):
    """What one thread sends to the others in a chunk.

    Attributes:
        out: (owners, entries * (row words + 1)): successors per owner; where a search goes by
            weight, per lead and owner.
        sizes: per row of `out`, the entries in it.
        order: uint16; to which row of `out` each entry was sent, in the order of sending.
        recent: flat, a power of two of rows sent lately (-1: none), which are not sent again; or
            empty.
    """

    out: np.ndarray[Any, Any]
    sizes: np.ndarray[Any, Any]
    order: np.ndarray[Any, Any]
    recent: np.ndarray[Any, Any]


class Weighing(NamedTuple):
    """How a search goes by the sum of weights; arrays without elements where it goes by depth.

    Attributes:
        leads: per kind of transition, how many levels further down it leads, less one.
        depths: uint16; the depth of each row of the frontier.
        recent: uint16; the depth with which each row of `Outbox.recent` was sent.
    """

    leads: np.ndarray[Any, Any]
    depths: np.ndarray[Any, Any]
    recent: np.ndarray[Any, Any]


BY_DEPTH = Weighing(np.empty(0, np.int64), np.empty(0, np.uint16), np.empty(0, np.uint16))
"""For a search that does not go by weights."""


class Told(NamedTuple):
    """What a kernel tells Python.

    Attributes:
        postponed: indices of rows that miss something; control[POSTPONED] counts them.
        misses: (n, 1 + words) records; control[MISSES] counts them.
        shown: (n, 3): property bit set, row index * owners + me, place (-1: the state itself);
            control[FOUND] counts them.
        fired: per kind, transitions fired.
        control: slots as named above.
    """

    postponed: np.ndarray[Any, Any]
    misses: np.ndarray[Any, Any]
    shown: np.ndarray[Any, Any]
    fired: np.ndarray[Any, Any]
    control: np.ndarray[Any, Any]


class Frontier(NamedTuple):
    """The states of one depth that a thread expands.

    Attributes:
        rows: flat.
        parents, places: uint32 and uint16, of each row; see `levels.gather`.
    """

    rows: np.ndarray[Any, Any]
    parents: np.ndarray[Any, Any]
    places: np.ndarray[Any, Any]


class Composites(NamedTuple):
    """How many composites there are.

    Attributes:
        counts: per part, so far.
        limits: per part, then over all parts: the most that there is room for.
    """

    counts: np.ndarray[Any, Any]
    limits: np.ndarray[Any, Any]


class RowSet(NamedTuple):
    """An exact set of rows.

    Attributes:
        slots: open addressing.
        figures: as for `levels.insert`.
    """

    slots: np.ndarray[Any, Any]
    figures: np.ndarray[Any, Any]


class Steps(NamedTuple):
    """What `descend` and `wander` tell Python.

    Attributes:
        misses: as in `Told`.
        fired, kinds: per kind, transitions taken, and those that led to a new state.
        control: slots as named below.
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
"""Why `descend` and `wander` return, besides OK, MISSED and OVERFLOWED: properties are shown; a
handler raised on the transition just taken; a visited set must grow; a state has more than
MOST_TRANSITIONS transitions."""
