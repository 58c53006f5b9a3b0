"""All successors of a state, in the order of `checker.semantics.transition.enabled`.

This is the slow way to successors: decode the row into columns, look up the effects of each source
of transitions, and look up the composites that result. The memo calls it for transitions that it
does not know yet, and for the few that no memo can store.

In all functions, row[at:] is the state, `loc` is working space, out[start:] takes an entry,
`tables` and its arrays `geo`, `table`, `code`, `cons` and `dec` are as in `Tables`, and `misses`
and `control` as in `Told`.
"""

from __future__ import annotations

import numpy as np

from antecede.checker.engine.compiled.jit import borrow, inlined, kernel
from antecede.checker.engine.rows import geometry as g
from antecede.checker.engine.rows.composites_kernels import get, put
from antecede.checker.engine.rows.entries_kernels import key_of, look_up
from antecede.checker.engine.rows.renaming_kernels import represent, room_to_represent
from antecede.checker.engine.rows.rows_kernels import await_composites, decode, emit, same_row
from antecede.checker.engine.successors.histories_kernels import (
    causal_send,
    deliver,
    gate,
    gates,
    network_send,
)

NOTE_KIND, NOTE_SHOWN, NOTE_HOW, NOTE_SUBJECT, NOTE_DELIVERED, NOTE_PENDING = range(6)
"""What `derive` notes about a waiting successor.

NOTE_KIND: its kind, shifted by 16. NOTE_SHOWN: the properties that it shows. NOTE_HOW: whether it
takes no packet (1), and whether it delivers a message (2). NOTE_SUBJECT: the packet or the sent
message. NOTE_DELIVERED: the message of the column's owner that is delivered (-1: none, or SEVERAL).
NOTE_PENDING: whether that message was pending.
"""
NOTES = 6
NOTHING_OWED = -3
"""Stands for the pending messages of a crashed actor."""
ALL = -1
"""Stands for all transitions of a source."""
SEVERAL = -2
"""In NOTE_DELIVERED: more than one message, or a message of another actor."""
NO_EFFECTS = -3
"""A source has no transitions, because its channel is empty."""


@inlined
def room_for(geo):
    """Return how many 64-bit words of working memory one thread needs to compute successors.

    The caller makes an int64 array of this size, which the kernels call `loc`. They compute the
    successors of one state, the parent, at a time. A state's *local words* are the numbers of its
    actors' states, channels and histories, packed into geo[ACTORS] * geo[WORDS] words. The array
    holds, in this order:

    * the local words of the successor that is being computed;
    * the local words of the parent;
    * room_to_represent(geo) words, which symmetry reduction uses to rename the actors of a state;
    * all successors of the parent, one after the other, until they are packed as rows. Each takes
      its local words, one word per part, and six words about the transition; see `waiting_at`.

    The last share is for geo[CHOICES] successors. No state has more of them, as far as the tables
    of handlers' results are filled. Python may raise geo[CHOICES] when it fills the tables, so ask
    again afterwards.

    Args:
        geo: int64; the sizes and switches of this search, such as geo[ACTORS]; see `geometry`.

    Examples:
        Two actors with one local word each, and at most three successors, without symmetry:

        >>> geo = np.zeros(g.GEOMETRY_SIZE, np.int64)
        >>> geo[g.ACTORS], geo[g.WORDS], geo[g.PARTS], geo[g.CHOICES] = 2, 1, 2, 3
        >>> int(room_for(geo)) == 2 + 2 + int(room_to_represent(geo)) + 3 * (2 + 2 + 6)
        True
    """
    return waiting_at(geo, geo[g.CHOICES])


@inlined
def waiting_at(geo, k):
    """Return the index in `loc` where one waiting successor begins.

    A successor *waits* in the working memory `loc` (see `room_for`) between `derive`, which
    computes its columns, and `settle`, which packs it as a row. Columns are the numbers of the
    actors' states, channels and histories. From the returned index on, `loc` has, in this order:

    * geo[ACTORS] * geo[WORDS] local words: the columns of all actors, packed;
    * geo[PARTS] words: per part (an actor, or its state and its history), the index of the slot of
      the hash table `cons` where the search for the part's composite begins, or -1 if the parent
      has the same composite. A composite is the number that stands for the local words of a part;
    * six notes about the transition; see `notes_at`.

    Args:
        geo: int64; the sizes and switches of this search, such as geo[ACTORS]; see `geometry`.
        k: the index of the waiting successor, from 0.

    Examples:
        >>> geo = np.zeros(g.GEOMETRY_SIZE, np.int64)
        >>> geo[g.ACTORS], geo[g.WORDS], geo[g.PARTS] = 2, 1, 2
        >>> int(waiting_at(geo, 1) - waiting_at(geo, 0))  # 2 local words, 2 slots, and 6 notes
        10
    """
    size = geo[g.ACTORS] * geo[g.WORDS]
    return 2 * size + room_to_represent(geo) + k * (size + geo[g.PARTS] + NOTES)


@inlined
def notes_at(geo, k):
    """Return the index in `loc` of the six notes about one waiting successor.

    A successor *waits* in the working memory `loc` between `derive`, which computes the numbers of
    its actors' states, channels and histories, and `settle`, which packs it as a row. A note is one
    word about the transition that leads to it. Note NOTE_KIND is at the returned index; NOTE_SHOWN,
    NOTE_HOW, NOTE_SUBJECT, NOTE_DELIVERED and NOTE_PENDING follow. `NOTE_KIND` explains them.

    Args:
        geo: int64; the sizes and switches of this search, such as geo[ACTORS]; see `geometry`.
        k: the index of the waiting successor, from 0.

    Examples:
        >>> geo = np.zeros(g.GEOMETRY_SIZE, np.int64)
        >>> geo[g.ACTORS], geo[g.WORDS], geo[g.PARTS] = 2, 1, 2
        >>> int(notes_at(geo, 1) - waiting_at(geo, 1))  # 2 local words and 2 slots come before
        4
    """
    return waiting_at(geo, k) + geo[g.ACTORS] * geo[g.WORDS] + geo[g.PARTS]


@inlined
def source_count(geo):
    """Return the number of sources of transitions, including losses of packets."""
    channels = geo[g.CHANNEL_COUNT]
    return geo[g.ACTORS] * (1 + geo[g.ACTS]) + channels * (1 + geo[g.LOSES])


@inlined
def restarts_left(loc, base, geo):
    """Return the number of sources of recoveries and crashes, with local words in loc[base:].

    The recoveries of all actors come first, then their crashes.
    """
    if geo[g.CRASHES] == 0:
        return np.int64(0)
    return geo[g.ACTORS] * (1 + (get(loc, base, geo, 0, g.LOSSES) >= geo[g.CRASHES]))


@inlined
def losses_left(loc, base, geo):
    """Return how many packets may still be lost, with local words in loc[base:]."""
    left = get(loc, base, geo, 0, g.LOSSES)
    return left % geo[g.CRASHES] if geo[g.CRASHES] else left


@inlined
def source_of(source, geo):
    """Return the kind, the actor and the column that belong to a source of transitions.

    A *source* is the sends of an actor, the packets of a channel, the timers of an actor, the
    losses of a channel, or the recoveries or crashes of an actor. Sources are numbered from 0 in
    this order, which is the order of `semantics.transition.enabled`.

    Args:
        source: the number of the source.
        geo: int64; the sizes and switches of this search, such as geo[ACTORS]; see `geometry`.

    Returns:
        Five numbers: the kind of its keys in the table of results (SEND, RECEIVE, INTERNAL, LOSE or
        RESTART); the actor that acts; the actor that has the column that is read, and this column
        (for example the sender, and its channel to the receiver); and the number of the actor or
        channel in keys.

    Examples:
        Two actors: sources 0 and 1 are their sends, and source 2 is channel 0, from actor 0 to 1:

        >>> geo = np.zeros(g.GEOMETRY_SIZE, np.int64)
        >>> geo[g.ACTORS], geo[g.CHANNEL_COUNT] = 2, 2
        >>> geo[g.CHAN_SRC], geo[g.CHAN_DST], geo[g.CHAN_COL] = 0, 1, g.CHANNELS
        >>> tuple(map(int, source_of(2, geo))) == (g.RECEIVE, 1, 0, g.CHANNELS, 0)
        True
    """
    actors, channels = geo[g.ACTORS], geo[g.CHANNEL_COUNT]
    receiving = actors + channels
    acting = receiving + actors * geo[g.ACTS]
    if source < actors:
        return g.SEND, source, source, np.int64(g.POSITION), source
    if receiving <= source < acting:
        actor = source - receiving
        return g.INTERNAL, actor, actor, np.int64(g.POSITION), actor
    if source >= acting + channels * geo[g.LOSES]:
        actor = (source - acting - channels * geo[g.LOSES]) % actors
        return g.RESTART, actor, actor, np.int64(g.POSITION), actor
    kind = g.RECEIVE if source < receiving else g.LOSE
    channel = source - actors if source < receiving else source - acting
    dst, src = geo[g.CHAN_DST + channel], geo[g.CHAN_SRC + channel]
    return kind, dst, src, geo[g.CHAN_COL + channel], channel


@inlined
def after_step(code, spot):
    """Return where the next effect begins in the array of handlers' effects.

    An effect is the result of one call of a handler, for example of a receipt. It has EFFECT_WORDS
    words, then two lists: the packets that are sent, then the deliveries and network-sends. A list
    is its length and two words per element.

    Args:
        code: the array, `Tables.code`.
        spot: code[spot:] is an effect.

    Examples:
        >>> code = [0] * 5 + [1, 8, 9] + [0]  # one packet is sent, and nothing is delivered
        >>> after_step(code, 0)
        9
    """
    spot += g.EFFECT_WORDS
    spot += 1 + 2 * code[spot]
    return spot + 1 + 2 * code[spot]


@inlined
def put_packets(spot, actor, tables, loc, misses, control):
    """Put the packets that an actor sends, listed at code[spot:], into its channels in `loc`.

    Returns:
        Where the list ends, and whether no table entry is missing.
    """
    geo, table, code = tables.geo, tables.table, tables.code
    sends = code[spot]
    spot += 1
    complete = True
    for _ in range(sends):
        target = geo[g.CHAN_OF + actor * geo[g.ACTORS] + code[spot]]
        into = geo[g.CHAN_COL + target]
        key = key_of(g.APPEND, target, get(loc, 0, geo, actor, into), code[spot + 1])
        spot += 2
        after = look_up(table, key, misses, control)
        if after == -1:
            complete = False
        else:
            put(loc, geo, actor, into, after)
    return spot, complete


@inlined
def put_incoming(content, actor, loc, geo):
    """Replace the content of all channels that lead to an actor."""
    for channel in range(geo[g.CHANNEL_COUNT]):
        if geo[g.CHAN_DST + channel] == actor:
            put(loc, geo, geo[g.CHAN_SRC + channel], geo[g.CHAN_COL + channel], content)


@inlined
def happen(spot, complete, actor, tables, loc, misses, control):
    """Record the deliveries and network-sends listed at code[spot:] in the histories in `loc`.

    Args:
        complete: whether no table entry was missing so far; otherwise the list is only read.

    Returns:
        Where the list ends, the properties that the deliveries show or MISSED, the number of
        deliveries, the last one's message and sender, and whether it was pending.
    """
    geo, table, code = tables.geo, tables.table, tables.code
    events = code[spot]
    spot += 1
    shown, deliveries = np.int64(0), 0
    last, origin, pending = np.int64(-1), np.int64(-1), False
    for _ in range(events):
        message, sender = code[spot], code[spot + 1]
        spot += 2
        if sender != g.NETWORK_SENT:
            deliveries += 1
            last, origin = message, sender
        if complete and sender == g.NETWORK_SENT:
            complete = network_send(message, actor, loc, geo, table, misses, control)
        elif complete:
            judgement = deliver(message, sender, actor, loc, geo, table, misses, control)
            if judgement == g.MISSED:
                complete = False
            else:
                shown |= geo[g.BAD + judgement]
                pending = judgement < g.UNEXPECTED
    return spot, shown if complete else np.int64(g.MISSED), deliveries, last, origin, pending


@inlined
def effects_of(source, said, tables, loc, misses, control):
    """Return where the effects of a source's transitions begin in `code`, and the source's content.

    Args:
        said: as for `derive`.

    Returns:
        The place in `code`, NO_EFFECTS if the source has no packet, or MISSED; and the content of
        the column that is read.
    """
    geo, table = tables.geo, tables.table
    size = geo[g.ACTORS] * geo[g.WORDS]
    kind, actor, owner, column, at_column = source_of(source, geo)
    content = get(loc, size, geo, owner, column)
    if content == 0 and kind in (g.RECEIVE, g.LOSE):
        return np.int64(NO_EFFECTS), content
    if kind == g.SEND and geo[g.FOLLOWS]:
        # If only one message is followed, an actor does not count its sends. Its possible
        # sends depend on its knowledge of the marked message, and on whether that was sent already.
        own = gate(actor, size, loc, geo, table, misses, control)
        content = own & (g.ROOM | g.TAINT) | said & g.MARK
    state = get(loc, size, geo, actor, g.STATE)
    # A timer reads no column, and the loss of a packet asks no actor. So their keys leave it out.
    read = np.int64(0) if kind == g.INTERNAL else content
    if kind == g.RESTART:
        read = np.int64(source - source_count(geo) >= geo[g.ACTORS])  # whether it is a crash
    asked = np.int64(0) if kind == g.LOSE else state
    spot = look_up(table, key_of(kind, at_column, asked, read), misses, control)
    return (np.int64(g.MISSED) if spot == -1 else spot), content


@inlined
def change_columns(effect, origin, tables, loc):
    """Write the columns that the effect at code[effect:] changes by itself to loc[0:].

    Args:
        origin: what `source_of` returns for its source.
    """
    geo, code = tables.geo, tables.code
    kind, actor, owner, column, _ = origin
    state, content = code[effect + g.EFFECT_STATE], code[effect + g.EFFECT_CONTENT]
    if state != -1:
        put(loc, geo, actor, g.STATE, state)
    # A loss or a crash is taken from the losses and crashes that a run has left.
    lost = np.int64(kind == g.LOSE and geo[g.BUDGET] != 0)
    if kind == g.RESTART:
        if content != -1:
            put_incoming(content, actor, loc, geo)
        if code[effect + g.EFFECT_KIND] == g.CRASH_KIND:
            lost = geo[g.CRASHES]
    elif content != -1:
        put(loc, geo, owner, column, content)
    if lost:
        put(loc, geo, 0, g.LOSSES, get(loc, 0, geo, 0, g.LOSSES) - lost)


@inlined
def takes_no_packet(effect, kind, content, tables):
    """Return whether the transition at code[effect:] leaves the column that it reads as it is."""
    stays = tables.code[effect + g.EFFECT_CONTENT] == content
    return kind in (g.INTERNAL, g.RESTART) or (kind == g.RECEIVE and stays)


@kernel
def derive(source, only, said, waiting, tables, loc, misses, control):
    """Append the successors by one source of transitions to the successors that wait in `loc`.

    A *source* is, for example, an actor's sends or the packets of a channel. A successor *waits* in
    the working memory `loc`, as local words (the numbers of all actors' states, channels and
    histories, packed), until `settle` writes it as a row. The kernel reads the results of handlers
    from the tables, and calls no Python.

    Args:
        source: the index of the source; see `source_of`.
        only: the index of one transition of the source, from 0, or ALL (-1).
        said: the union of all actors' bits from `gate`, if only one message is followed
            (geo[FOLLOWS]); otherwise it is not read.
        waiting: the number of successors that wait already.
        tables: a `Tables`: the geometry, the results of handlers, and the composites with their
            local words.
        loc: int64, working memory of one thread, of room_for(geo) words. The geo[ACTORS] *
            geo[WORDS] words from loc[geo[ACTORS] * geo[WORDS]] on have the state, as `decode`
            writes it. The words before them are overwritten. The new successors are written from
            loc[waiting_at(geo, waiting)] on.
        misses: output, int64 of shape (n, 1 + geo[PART_WORDS]): a record (0, key) of each result
            that the tables lack, so that Python can add it; see `Missing`.
        control: int64; control[MISSES] is the number of records in `misses`; updated.

    Returns:
        The number of successors that wait now. Or MISSED (-1) if the tables lack a result: when
        Python has added it, expand the state again.
    """
    geo, code, cons = tables.geo, tables.code, tables.cons
    size = geo[g.ACTORS] * geo[g.WORDS]
    spot, content = effects_of(source, said, tables, loc, misses, control)
    if spot < 0:
        return waiting if spot == NO_EFFECTS else np.int64(g.MISSED)
    origin = source_of(source, geo)
    kind, actor, owner = origin[:3]
    status = np.int64(g.OK)
    alternatives = code[spot]
    spot += 1
    for alternative in range(alternatives):
        if only not in (ALL, alternative):
            spot = after_step(code, spot)
            continue
        # Each alternative begins with the parent's words, because the last one changed loc[0:].
        for k in range(size):
            loc[k] = loc[size + k]
        effect = spot
        change_columns(effect, origin, tables, loc)
        subject = code[effect + g.EFFECT_SUBJECT]
        complete = True
        if kind == g.SEND and subject != -1:
            complete = causal_send(subject, actor, loc, geo, tables.table, misses, control)
        # The lists are read even if an entry is missing: `spot` must reach the next alternative,
        # and one round in Python then fills everything that this state lacks.
        spot, sent = put_packets(effect + g.EFFECT_WORDS, actor, tables, loc, misses, control)
        spot, judged, deliveries, delivered, sender, pending = happen(
            spot, complete and sent, actor, tables, loc, misses, control
        )
        if judged == g.MISSED:
            status = np.int64(g.MISSED)
            continue
        if deliveries > 1 or (deliveries and sender != owner):
            delivered = np.int64(SEVERAL)
        await_composites(loc, size, geo, cons, waiting_at(geo, waiting))
        notes, stays = notes_at(geo, waiting), takes_no_packet(effect, kind, content, tables)
        loc[notes + NOTE_KIND] = code[effect + g.EFFECT_KIND] << 16
        loc[notes + NOTE_SHOWN] = code[effect + g.EFFECT_SHOWN] | judged
        loc[notes + NOTE_HOW], loc[notes + NOTE_SUBJECT] = stays | (deliveries > 0) << 1, subject
        loc[notes + NOTE_DELIVERED], loc[notes + NOTE_PENDING] = delivered, pending
        waiting += 1
    return waiting if status == g.OK else status


@inlined
def settle(k, row, at, tables, loc, out, start, missing):
    """Write one waiting successor as a row, and say whether its transition exists.

    A successor *waits* in the working memory `loc` since `derive` computed its local words: the
    numbers of all actors' states, channels and histories, packed. A row is a state as one composite
    per part (an actor, or its state and its history); a composite is the number that stands for the
    local words of the part. A transition that takes no packet and changes nothing, such as a timer
    without effect, does not count as a transition.

    Args:
        k: the index of the waiting successor, from 0.
        row, at: the parent's row is row[at:].
        tables: a `Tables`: the geometry, the results of handlers, and the composites with their
            local words.
        loc: working memory of one thread, as `derive` leaves it.
        out, start: output; the row is written to out[start:].
        missing: output, a `Missing`: missing.misses gets a record of each composite that the tables
            lack, so that Python can add it.

    Returns:
        1 if it is a transition. 0 if it is none: leave it out. MISSED (-1) if the tables lack a
        composite: do not use the row in `out`, and expand the parent again when Python has added
        the composite.
    """
    geo = tables.geo
    if emit(loc, waiting_at(geo, k), row, at, tables, out, start, missing) != g.OK:
        return np.int64(g.MISSED)
    changed = loc[notes_at(geo, k) + NOTE_HOW] != 1
    return np.int64(changed or not same_row(row, at, out, start, geo[g.ROW_WORDS]))


@inlined
def told_by(loc, geo, k, found):
    """Return the word about the transition to one waiting successor: its kind and its properties.

    A successor *waits* in the working memory `loc` since `derive` computed it there. In the output
    it becomes an entry: its row, and then this word.

    Args:
        loc: working memory of one thread, as `derive` leaves it.
        geo: int64; the sizes and switches of this search, such as geo[ACTORS]; see `geometry`.
        k: the index of the waiting successor, from 0.
        found: the bit set of properties to leave out, for example because they are decided.

    Returns:
        kind << 16 | shown << 32: the number of the transition's kind, and the bit set of the
        properties that it violates or reaches. Bits 0-15, the index of the transition among the
        state's transitions, are 0; the caller adds it.

    Examples:
        Successor 0 has kind 3 and shows the properties 0 and 2, of which 0 is left out:

        >>> geo = np.zeros(g.GEOMETRY_SIZE, np.int64)
        >>> loc = np.zeros(20, np.int64)
        >>> loc[notes_at(geo, 0) + NOTE_KIND] = 3 << 16
        >>> loc[notes_at(geo, 0) + NOTE_SHOWN] = 0b101
        >>> int(told_by(loc, geo, 0, found=0b001)) == 3 << 16 | 0b100 << 32
        True
    """
    notes = notes_at(geo, k)
    return loc[notes + NOTE_KIND] | (loc[notes + NOTE_SHOWN] & ~found) << 32


@inlined
def successors(row, at, tables, loc, out, found, misses, control):
    """Write all successors of a state to `out`, in the order of `semantics.transition.enabled`.

    A state is a row, which packs the composites of its actors: each is the number that stands for
    one actor's part of the state. Each successor is an entry: its row, and then a word with the
    transition's index among the state's transitions (bits 0-15), the number of its kind (16-30) and
    the bit set of the properties that it violates or reaches (32-62). Under symmetry
    (geo[PERMUTATIONS] > 0) the row is that of the successor's representative.

    Args:
        row, at: the row is row[at:].
        tables: the arrays that the kernels read, a `Tables`, as `borrowed` returns it.
        loc: the state's columns, unpacked: int64, working memory of one thread; see `room_for`.
        out: output; the entries, flat. The last entry that it has room for is not filled.
        found: the bit set of properties not to report.
        misses: output, int64 of shape (n, 1 + geo[PART_WORDS]): a record of each result (0, key) or
            composite that the tables lack, so that Python can add it; see `Missing`.
        control: int64; counters of the kernels; control[MISSES] is the number of records in
            `misses`.

    Returns:
        The number of entries. Or a negative number: MISSED (-1) if the tables lack something (try
        again when Python has added it), OVERFLOWED (-2) if `out` is too small, or SETTLED (-7) if
        the message that is followed was delivered everywhere, so that the state needs no
        successors.
    """
    geo, table = tables.geo, tables.table
    row_words = geo[g.ROW_WORDS]
    size = geo[g.ACTORS] * geo[g.WORDS]
    decode(row, at, geo, tables.dec, loc, size)
    count = np.int64(0)
    status = np.int64(g.OK)
    waiting = np.int64(0)
    said = np.int64(0)
    if geo[g.FOLLOWS]:
        # If the followed message was delivered everywhere, the state needs no successors.
        said = gates(size, loc, geo, table, misses, control)
        if said == g.MISSED:
            return np.int64(g.MISSED)
        if said & g.OVER:
            return np.int64(g.SETTLED)
    sources = source_count(geo)
    restarts = restarts_left(loc, size, geo)
    if geo[g.BUDGET] and losses_left(loc, size, geo) == 0:
        sources -= geo[g.CHANNEL_COUNT]
    # A miss does not end the loop: one round in Python then fills everything that the state lacks.
    for number in range(sources + restarts):
        source = number if number < sources else source_count(geo) + number - sources
        now = derive(source, ALL, said, waiting, tables, loc, misses, control)
        if now == g.MISSED:
            status = np.int64(g.MISSED)
        else:
            waiting = now
    if waiting > out.shape[0] // (row_words + 1) - 1:
        return np.int64(g.OVERFLOWED)
    # Only now are composites looked up. `await_composites` has asked the memory for all of them, so
    # the look-ups do not wait one after the other.
    for k in range(waiting):
        start = count * (row_words + 1)
        done = settle(k, row, at, tables, loc, out, start, g.Missing(misses, control))
        if done == g.MISSED:
            status = np.int64(g.MISSED)
        elif done:
            if geo[g.PERMUTATIONS]:
                represent(out, start, geo, tables.renamings, tables.dec, loc, 2 * size)
            out[start + row_words] = count | told_by(loc, geo, k, found)
            count += 1
    return count if status == g.OK else status


@inlined
def owed(actor, pending, loc, geo, table, misses, control):
    """Return an actor's pending messages without the messages to crashed actors, in a final state.

    A message is pending until all its destinations have delivered it. No protocol can deliver to a
    crashed actor, so these deliveries are not owed.

    Args:
        actor: the index of the sender.
        pending: the number of its pending messages, which is the content of its column PENDING.
        loc: int64; loc[0:] has the state: the local words (packed columns) of all actors.
        geo: int64; the sizes and switches of this search, such as geo[ACTORS]; see `geometry`.
        table: int64, flat: the hash table of the results of Python functions; see `Tables`.
        misses: output, int64 of shape (n, 1 + geo[PART_WORDS]): a record (0, key) of each result
            that the table lacks, so that Python can make the call; see `Missing`.
        control: int64; control[MISSES] is the number of records in `misses`; updated.

    Returns:
        The number of the pending messages that remain. Or a negative number: NOTHING_OWED (-3) if
        the actor itself has crashed, or MISSED (-1) if the table lacks a result (try again when
        Python has added it).
    """
    for k in range(geo[g.ACTORS]):  # the actor itself comes first
        other = (actor + k) % geo[g.ACTORS]
        key = key_of(g.LIVE, other, get(loc, 0, geo, other, g.STATE), 0)
        live = look_up(table, key, misses, control)
        if live == -1:
            return np.int64(g.MISSED)
        if live == 0 and other == actor:
            return np.int64(NOTHING_OWED)
        if live == 0:
            pending = look_up(table, key_of(g.OWED, actor, pending, other), misses, control)
            if pending == -1:
                return np.int64(g.MISSED)
    return pending


@inlined
def is_final(out, count, geo):
    """Return whether a state is final: it has no transition, or all of them are crashes of actors.

    Crashes come last among the transitions of a state, so the first successor tells.

    Args:
        out: int64, flat; the successors of the state, as entries that `successors` wrote: a row of
            geo[ROW_WORDS] words, and a word with the transition's kind in bits 16-30.
        count: the number of entries. A negative number, with which `successors` reports a problem,
            gives False.
        geo: int64; the sizes and switches of this search, such as geo[ACTORS]; see `geometry`.

    Examples:
        >>> geo = np.zeros(g.GEOMETRY_SIZE, np.int64)  # no actor crashes
        >>> [bool(is_final(np.zeros(2, np.int64), count, geo)) for count in (0, 1, g.MISSED)]
        [True, False, False]
    """
    if count > 0 and geo[g.CRASHES] != 0:
        return out[geo[g.ROW_WORDS]] >> 16 & 0x7FFF == g.CRASH_KIND
    return count == 0


@inlined
def judge_final(row, at, geo, table, dec, loc, misses, control):
    """Return the bit set of the properties that a final state violates or reaches, or MISSED.

    A final state has no transition, except perhaps crashes. Bit k stands for property k of the
    system. It is set if property k is about all final states and this one violates it, or if it is
    about some final state and this one satisfies it. Crashed actors are left out, except where a
    property is about all actors together.

    Args:
        row, at: the state is row[at:], a row: one number per actor's part, packed into a few words.
        geo: int64; the sizes and switches of this search, such as geo[ACTORS]; see `geometry`.
        table: int64, flat: the hash table of the results of Python functions; see `Tables`.
        dec: int64, flat: the columns that number c of part p stands for are at p * geo[DEC_STRIDE]
            + c * geo[PART_WORDS], packed into words.
        loc: the state's columns, unpacked: working memory of one thread; overwritten.
        misses: output, int64 of shape (n, 1 + geo[PART_WORDS]): a record (0, key) of each result
            that the tables lack, so that Python can make the call; see `Missing`.
        control: int64; counters of the kernels; control[MISSES] is the number of records in
            `misses`.

    Returns:
        The bit set; or MISSED (-1) if the table lacks a result (try again when Python has made the
        call).
    """
    violated = np.int64(0)
    status = np.int64(g.OK)
    decode(row, at, geo, dec, loc, 0)
    for actor in range(geo[g.ACTORS]):
        position = get(loc, 0, geo, actor, g.POSITION)
        pending = get(loc, 0, geo, actor, g.PENDING)
        if geo[g.CRASHES]:
            pending = owed(actor, pending, loc, geo, table, misses, control)
            if pending == NOTHING_OWED:
                continue
            if pending == g.MISSED:
                status = np.int64(g.MISSED)
                continue
        key = key_of(g.FINAL, actor, pending, position)
        verdict = look_up(table, key, misses, control)
        if verdict == -1:
            status = np.int64(g.MISSED)
        else:
            violated |= verdict
    if geo[g.JOINT]:
        verdict = judge_together(geo, table, loc, misses, control)
        if verdict == g.MISSED:
            status = np.int64(g.MISSED)
        else:
            violated |= verdict
    return violated ^ geo[g.SOUGHT] if status == g.OK else status


@inlined
def judge_together(geo, table, loc, misses, control):
    """Return the bit set of properties that all actors of a final state fail together, or MISSED.

    Each look-up extends a combination of the first actors' states by the next one, from 0 (nothing)
    on. The last look-up returns the bit set.
    """
    combination = np.int64(0)
    for actor in range(geo[g.ACTORS]):
        if combination != g.MISSED and geo[g.JOINT] & g.JOINT_STATES:
            key = key_of(g.TOGETHER, actor, combination, get(loc, 0, geo, actor, g.STATE))
            combination = np.int64(look_up(table, key, misses, control))
        if combination != g.MISSED and geo[g.JOINT] & g.JOINT_POSITIONS:
            position = get(loc, 0, geo, actor, g.POSITION)
            key = key_of(g.TOGETHER, g.MOST_ACTORS + actor, combination, position)
            combination = np.int64(look_up(table, key, misses, control))
    return combination


@inlined
def borrowed(tables):
    """Return the tables with each array replaced by a borrowed view of it, for use inside a kernel.

    Numba counts the references to an array, which costs time at each use inside a kernel. It does
    not count references to a borrowed view. The views share the memory of the arrays, so use them
    only as long as the arrays exist.

    Args:
        tables: a `Tables`: the geometry, the results of handlers, and the composites with their
            local words.
    """
    return g.Tables(
        borrow(tables.geo),
        borrow(tables.table),
        borrow(tables.code),
        borrow(tables.cons),
        borrow(tables.dec),
        g.Renamings(
            borrow(tables.renamings.targets),
            borrow(tables.renamings.sources),
            borrow(tables.renamings.products),
            borrow(tables.renamings.kin),
            borrow(tables.renamings.images),
            borrow(tables.renamings.known),
            borrow(tables.renamings.choices),
            tables.renamings.unordered,
        ),
        tables.one_word,
    )
