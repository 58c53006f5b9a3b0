"""All successors of a state, in the order of `checker.semantics.transition.enabled`."""

from __future__ import annotations

import numpy as np

from antecede.checker.tables.kernels.composites import get, put
from antecede.checker.tables.kernels.entries import key_of, look_up
from antecede.checker.tables.kernels.geometry import (
    ACTORS,
    ACTS,
    APPEND,
    BAD,
    BUDGET,
    CHAN_COL,
    CHAN_DST,
    CHAN_OF,
    CHAN_SRC,
    CHANNEL_COUNT,
    CHOICES,
    CRASH_KIND,
    CRASHES,
    FINAL,
    FOLLOWS,
    INTERNAL,
    LIVE,
    LOSE,
    LOSES,
    LOSSES,
    MARK,
    MISSED,
    NETWORK_SENT,
    OK,
    OVER,
    OVERFLOWED,
    OWED,
    PARTS,
    PENDING,
    PERMUTATIONS,
    POSITION,
    RECEIVE,
    RESTART,
    ROOM,
    ROW_WORDS,
    SEND,
    SETTLED,
    SOUGHT,
    STATE,
    TAINT,
    UNEXPECTED,
    WORDS,
    Missing,
    Renamings,
    Tables,
)
from antecede.checker.tables.kernels.histories import (
    causal_send,
    deliver,
    gate,
    gates,
    network_send,
)
from antecede.checker.tables.kernels.jit import borrow, inlined, kernel
from antecede.checker.tables.kernels.renaming import represent, room_to_represent
from antecede.checker.tables.kernels.rows import await_composites, decode, emit, same_row

NOTE_KIND, NOTE_SHOWN, NOTE_HOW, NOTE_SUBJECT, NOTE_DELIVERED, NOTE_PENDING = range(6)
"""What `derive` notes about a waiting successor.

NOTE_KIND: its kind, shifted by 16. NOTE_SHOWN: the properties that it shows. NOTE_HOW: whether it
takes no packet (1), and whether it delivers a message (2). NOTE_SUBJECT: the packet or the sent
message. NOTE_DELIVERED: the message of the column's owner that is delivered (-1: none, -2: several,
or another actor's). NOTE_PENDING: whether that message was pending.
"""
NOTES = 6
NOTHING_OWED = -3
"""Stands for the pending messages of a crashed actor."""
ALL = -1
"""Stands for all transitions of a source."""


@inlined
def room_for(geo):
    """Return the length of the working space `loc` of `successors`.

    The space begins with the local words of the current successor and of its parent, and with
    the space for `represent`. Successors that wait for memory follow (see `await_composites`).
    """
    return waiting_at(geo, geo[CHOICES])


@inlined
def waiting_at(geo, k):
    """Return where waiting successor k begins in `loc`: its local words, slots, and notes."""
    size = geo[ACTORS] * geo[WORDS]
    return 2 * size + room_to_represent(geo) + k * (size + geo[PARTS] + NOTES)


@inlined
def notes_at(geo, k):
    """Return where the notes of waiting successor k begin in `loc`; see `NOTE_KIND`."""
    return waiting_at(geo, k) + geo[ACTORS] * geo[WORDS] + geo[PARTS]


@inlined
def source_count(geo):
    """Return the number of sources of transitions, including losses of packets."""
    channels = geo[CHANNEL_COUNT]
    return geo[ACTORS] * (1 + geo[ACTS]) + channels * (1 + geo[LOSES])


@inlined
def restarts_left(loc, base, geo):
    """Return the number of sources of recoveries and crashes, with local words in loc[base:].

    The recoveries of all actors come first, then their crashes.
    """
    if geo[CRASHES] == 0:
        return np.int64(0)
    return geo[ACTORS] * (1 + (get(loc, base, geo, 0, LOSSES) >= geo[CRASHES]))


@inlined
def losses_left(loc, base, geo):
    """Return how many packets may still be lost, with local words in loc[base:]."""
    left = get(loc, base, geo, 0, LOSSES)
    return left % geo[CRASHES] if geo[CRASHES] else left


@inlined
def source_of(source, geo):
    """Return where a group of transitions comes from, in the order of `transition.enabled`.

    Sources from `source_count` on are recoveries, then crashes.

    Returns:
        The kind, the actor that acts, the owner of the column that is read, that column, and the
        number of the actor or channel in table keys.
    """
    actors, channels = geo[ACTORS], geo[CHANNEL_COUNT]
    receiving = actors + channels
    acting = receiving + actors * geo[ACTS]
    if source < actors:
        return SEND, source, source, np.int64(POSITION), source
    if receiving <= source < acting:
        actor = source - receiving
        return INTERNAL, actor, actor, np.int64(POSITION), actor
    if source >= acting + channels * geo[LOSES]:
        actor = (source - acting - channels * geo[LOSES]) % actors
        return RESTART, actor, actor, np.int64(POSITION), actor
    kind = RECEIVE if source < receiving else LOSE
    channel = source - actors if source < receiving else source - acting
    return kind, geo[CHAN_DST + channel], geo[CHAN_SRC + channel], geo[CHAN_COL + channel], channel


@inlined
def after_step(code, spot):
    """Return where the transition that follows the one at code[spot:] begins."""
    spot += 5
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
        target = geo[CHAN_OF + actor * geo[ACTORS] + code[spot]]
        into = geo[CHAN_COL + target]
        key = key_of(APPEND, target, get(loc, 0, geo, actor, into), code[spot + 1])
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
    for channel in range(geo[CHANNEL_COUNT]):
        if geo[CHAN_DST + channel] == actor:
            put(loc, geo, geo[CHAN_SRC + channel], geo[CHAN_COL + channel], content)


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
        if sender != NETWORK_SENT:
            deliveries += 1
            last, origin = message, sender
        if complete and sender == NETWORK_SENT:
            complete = network_send(message, actor, loc, geo, table, misses, control)
        elif complete:
            judgement = deliver(message, sender, actor, loc, geo, table, misses, control)
            if judgement == MISSED:
                complete = False
            else:
                shown |= geo[BAD + judgement]
                pending = judgement < UNEXPECTED
    return spot, shown if complete else np.int64(MISSED), deliveries, last, origin, pending


@kernel
def derive(source, only, said, waiting, tables, loc, misses, control):
    """Append the successors that one source of transitions has to those that wait in `loc`.

    loc holds the local words of the parent.

    Args:
        source: see `source_of`.
        only: which of the source's transitions, or ALL.
        said: the union of all actors' GATE bits, if geo[FOLLOWS].
        waiting: the number of successors that wait already.

    Returns:
        The number of successors that wait now, or MISSED.
    """
    geo, table, code, cons = tables.geo, tables.table, tables.code, tables.cons
    actors = geo[ACTORS]
    size = actors * geo[WORDS]
    kind, actor, owner, column, at_column = source_of(source, geo)
    sending = kind == SEND
    content = get(loc, size, geo, owner, column)
    if content == 0 and kind in (RECEIVE, LOSE):
        return waiting
    if sending and geo[FOLLOWS]:
        own = gate(actor, size, loc, geo, table, misses, control)
        content = own & (ROOM | TAINT) | said & MARK
    state = get(loc, size, geo, actor, STATE)
    if kind == INTERNAL:
        key = key_of(kind, at_column, state, 0)
    elif kind == LOSE:
        key = key_of(kind, at_column, 0, content)
    elif kind == RESTART:
        key = key_of(kind, at_column, state, source - source_count(geo) >= actors)
    else:
        key = key_of(kind, at_column, state, content)
    spot = look_up(table, key, misses, control)
    if spot == -1:
        return np.int64(MISSED)
    status = np.int64(OK)
    alternatives = code[spot]
    spot += 1
    for alternative in range(alternatives):
        if only not in (ALL, alternative):
            spot = after_step(code, spot)
            continue
        for k in range(size):
            loc[k] = loc[size + k]
        shown = code[spot + 1]
        info = code[spot + 2] << 16
        stays = kind in (INTERNAL, RESTART) or (kind == RECEIVE and code[spot + 3] == content)
        if code[spot] != -1:
            put(loc, geo, actor, STATE, code[spot])
        if code[spot + 3] != -1 and kind == RESTART:
            put_incoming(code[spot + 3], actor, loc, geo)
        elif code[spot + 3] != -1:
            put(loc, geo, owner, column, code[spot + 3])
        if kind == RESTART and code[spot + 2] == CRASH_KIND:
            put(loc, geo, 0, LOSSES, get(loc, 0, geo, 0, LOSSES) - geo[CRASHES])
        if kind == LOSE and geo[BUDGET]:
            put(loc, geo, 0, LOSSES, get(loc, 0, geo, 0, LOSSES) - 1)
        subject = code[spot + 4]
        spot += 5
        complete = True
        if sending and subject != -1:
            complete = causal_send(subject, actor, loc, geo, table, misses, control)
        spot, sent = put_packets(spot, actor, tables, loc, misses, control)
        spot, judged, deliveries, delivered, sender, pending = happen(
            spot, complete and sent, actor, tables, loc, misses, control
        )
        if deliveries > 1 or (deliveries and sender != owner):
            delivered = np.int64(-2)
        if judged == MISSED:
            status = np.int64(MISSED)
            continue
        shown |= judged
        await_composites(loc, size, geo, cons, waiting_at(geo, waiting))
        notes = notes_at(geo, waiting)
        loc[notes + NOTE_KIND], loc[notes + NOTE_SHOWN] = info, shown
        loc[notes + NOTE_HOW], loc[notes + NOTE_SUBJECT] = stays | (deliveries > 0) << 1, subject
        loc[notes + NOTE_DELIVERED], loc[notes + NOTE_PENDING] = delivered, pending
        waiting += 1
    return waiting if status == OK else status


@inlined
def settle(k, row, at, tables, loc, out, start, missing):
    """Write the row of waiting successor k to out[start:].

    Returns:
        1, 0 if it is no transition, since it takes no packet and changes nothing, or MISSED.
    """
    geo = tables.geo
    if emit(loc, waiting_at(geo, k), row, at, tables, out, start, missing) != OK:
        return np.int64(MISSED)
    changed = loc[notes_at(geo, k) + NOTE_HOW] != 1
    return np.int64(changed or not same_row(row, at, out, start, geo[ROW_WORDS]))


@inlined
def told_by(loc, geo, k, found):
    """Return what an information word says of waiting successor k, except for its index."""
    notes = notes_at(geo, k)
    return loc[notes + NOTE_KIND] | (loc[notes + NOTE_SHOWN] & ~found) << 32


@inlined
def successors(row, at, tables, loc, out, found, misses, control):
    """Write an entry per enabled transition of row[at:], in the order of `transition.enabled`.

    Under symmetry (geo[PERMUTATIONS] > 0) each successor is replaced by its representative.

    The information word of an entry holds its transition's index (bits 0-15), the number of its
    kind (16-30) and the properties that it shows (32-62).

    Args:
        tables: borrowed.
        loc: int64, working space; see `room_for`.
        out: entries; the last one is not filled.
        found: the bit set of properties not to report.

    Returns:
        The number of entries, MISSED, OVERFLOWED if `out` is too small, or SETTLED if nothing is
        left to judge.
    """
    geo, table = tables.geo, tables.table
    row_words = geo[ROW_WORDS]
    size = geo[ACTORS] * geo[WORDS]
    decode(row, at, geo, tables.dec, loc, size)
    count = np.int64(0)
    status = np.int64(OK)
    waiting = np.int64(0)
    said = np.int64(0)
    if geo[FOLLOWS]:
        said = gates(size, loc, geo, table, misses, control)
        if said == MISSED:
            return np.int64(MISSED)
        if said & OVER:
            return np.int64(SETTLED)
    sources = source_count(geo)
    restarts = restarts_left(loc, size, geo)
    if geo[BUDGET] and losses_left(loc, size, geo) == 0:
        sources -= geo[CHANNEL_COUNT]
    for number in range(sources + restarts):
        source = number if number < sources else source_count(geo) + number - sources
        now = derive(source, ALL, said, waiting, tables, loc, misses, control)
        if now == MISSED:
            status = np.int64(MISSED)
        else:
            waiting = now
    if waiting > out.shape[0] // (row_words + 1) - 1:
        return np.int64(OVERFLOWED)
    for k in range(waiting):
        start = count * (row_words + 1)
        done = settle(k, row, at, tables, loc, out, start, Missing(misses, control))
        if done == MISSED:
            status = np.int64(MISSED)
        elif done:
            if geo[PERMUTATIONS]:
                represent(out, start, geo, tables.renamings, loc, 2 * size)
            out[start + row_words] = count | told_by(loc, geo, k, found)
            count += 1
    return count if status == OK else status


@inlined
def owed(actor, pending, loc, geo, table, misses, control):
    """Return what remains of `pending` without the messages to crashed actors.

    Returns:
        The number of the remaining pending messages, NOTHING_OWED if the actor crashed, or MISSED.
    """
    for other in range(geo[ACTORS]):
        key = key_of(LIVE, other, get(loc, 0, geo, other, STATE), 0)
        live = look_up(table, key, misses, control)
        if live == -1:
            return np.int64(MISSED)
        if live == 0 and other == actor:
            return np.int64(NOTHING_OWED)
        if live == 0:
            pending = look_up(table, key_of(OWED, actor, pending, other), misses, control)
            if pending == -1:
                return np.int64(MISSED)
    return pending


@inlined
def only_crashes(out, count, geo):
    """Return whether all transitions of a state are crashes, which come last in its entries."""
    return geo[CRASHES] != 0 and count > 0 and out[geo[ROW_WORDS]] >> 16 & 0x7FFF == CRASH_KIND


@inlined
def judge_final(row, at, geo, table, dec, loc, misses, control):
    """Return the bit set of properties that a final state violates or reaches, or MISSED.

    In an entry, the bit of a required property means that this actor does not satisfy it.
    """
    violated = np.int64(0)
    status = np.int64(OK)
    decode(row, at, geo, dec, loc, 0)
    for actor in range(geo[ACTORS]):
        position, pending = get(loc, 0, geo, actor, POSITION), get(loc, 0, geo, actor, PENDING)
        if geo[CRASHES]:
            pending = owed(actor, pending, loc, geo, table, misses, control)
            if pending == NOTHING_OWED:
                continue
            if pending == MISSED:
                status = np.int64(MISSED)
                continue
        key = key_of(FINAL, actor, pending, position)
        verdict = look_up(table, key, misses, control)
        if verdict == -1:
            status = np.int64(MISSED)
        else:
            violated |= verdict
    return violated ^ geo[SOUGHT] if status == OK else status


@inlined
def borrowed(tables):
    """Return the tables with every array borrowed; see `borrow`."""
    return Tables(
        borrow(tables.geo),
        borrow(tables.table),
        borrow(tables.code),
        borrow(tables.cons),
        borrow(tables.dec),
        Renamings(
            borrow(tables.renamings.targets),
            borrow(tables.renamings.sources),
            borrow(tables.renamings.products),
            borrow(tables.renamings.kin),
            borrow(tables.renamings.images),
            borrow(tables.renamings.known),
            borrow(tables.renamings.choices),
        ),
        borrow(tables.progress),
        tables.one_word,
    )
