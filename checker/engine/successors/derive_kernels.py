"""All successors of a state, in the order of `checker.semantics.transition.enabled`.

This is the slow way to successors: decode the row into columns, look up the effects of each source
of transitions, and look up the composites that result. The memo calls it for transitions that it
does not know yet, and for the few that no memo can store.

A *source* of transitions is the sends of an actor, the packets of a channel, the timers of an
actor, the losses of a channel, the recoveries of an actor, or its crashes. The sources are numbered
in this order, which is the order of `enabled`.

`derive` computes the columns of all successors first, and `settle` then makes a row of each. In
between, the successors *wait* in the working memory `loc` of the thread, an array of room_for(geo)
int64 words:

    0        size       2 * size              waiting_at(geo, 0)      waiting_at(geo, 1)
    | newest | parent   | room_to_represent   | successor 0           | successor 1 ...
                                              | columns  slots  notes |
                                                size     PARTS  NOTES   words

The size is ACTORS * WORDS. *newest* is the successor that is being computed. A slot says where the
search in `cons` for a part's composite begins (-1: as the parent). `NOTE_KIND` explains the notes.

`geometry` explains the arguments and the information word of an entry.
"""

from __future__ import annotations

import numpy as np

from antecede.checker.compiled.jit import borrow, inlined, kernel
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

NOTE_KIND: its kind, shifted by KIND_SHIFT. NOTE_SHOWN: the properties that it shows. NOTE_HOW:
whether it takes no packet (1), and whether it delivers a message (2). NOTE_SUBJECT: the packet or
the sent message. NOTE_DELIVERED: the message of the column's owner that is delivered (-1: none, or
SEVERAL). NOTE_PENDING: whether that message was pending.
"""
NOTES = 6
ALL = -1
"""Stands for all transitions of a source."""
SEVERAL = -2
"""In NOTE_DELIVERED: more than one message, or a message of another actor."""
NO_EFFECTS = -3
"""A source has no transitions, because its channel is empty."""


@inlined
def room_for(geo):
    """Return the number of words of `loc`; ask again when Python has filled tables.

    Python raises geo[CHOICES], the most successors of a state, as it fills the tables.
    """
    return waiting_at(geo, geo[g.CHOICES])


@inlined
def waiting_at(geo, k):
    """Return the index in `loc` where waiting successor k begins."""
    size = geo[g.ACTORS] * geo[g.WORDS]
    return 2 * size + room_to_represent(geo) + k * (size + geo[g.PARTS] + NOTES)


@inlined
def notes_at(geo, k):
    """Return the index in `loc` of the notes about waiting successor k."""
    return waiting_at(geo, k) + geo[g.ACTORS] * geo[g.WORDS] + geo[g.PARTS]


@inlined
def source_count(geo):
    """Return the number of sources of transitions, including losses of packets."""
    channels = geo[g.CHANNEL_COUNT]
    return geo[g.ACTORS] * (1 + geo[g.ACTS]) + channels * (1 + geo[g.LOSES])


@inlined
def restarts_left(loc, base, geo):
    """Return the number of sources of recoveries, and of crashes if a crash is left."""
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

    Returns:
        The kind of its keys in `table`; the actor that acts; the actor that has the column that is
        read, and this column (for example the sender, and its channel to the receiver); and the
        number of the actor or channel in keys.
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
    """Return where the next effect begins, after the one at code[spot:]; see `g.EFFECT_WORDS`."""
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
def put_part(spot, whole, actor, tables, loc, misses, control):
    """Put the packets that get out in a crash into the channels, as `put_packets`.

    Args:
        spot: code[spot:] lists the packets that get out, for all destinations of the step.
        whole: code[whole:] lists all packets of the step, for the same destinations.

    Returns:
        Where the list ends; whether no table entry is missing; and whether the crash is possible:
        the network takes all packets that get out, and it would take some that are lost.
    """
    geo, table, code = tables.geo, tables.table, tables.code
    sends = code[spot]
    complete, taken, lost = True, True, False
    for place in range(spot + 1, spot + 1 + 2 * sends, 2):
        target = geo[g.CHAN_OF + actor * geo[g.ACTORS] + code[place]]
        into = geo[g.CHAN_COL + target]
        content = get(loc, 0, geo, actor, into)
        after = look_up(table, key_of(g.PART, target, content, code[place + 1]), misses, control)
        full = code[whole + place + 1 - spot]
        instead = look_up(table, key_of(g.APPEND, target, content, full), misses, control)
        if after == -1 or instead == -1:
            complete = False
        elif after == g.NOT_TAKEN:
            taken = False
        else:
            lost |= after != instead
            put(loc, geo, actor, into, after)
    return spot + 1 + 2 * sends, complete, taken and lost


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
    if content != -1:
        if kind == g.RESTART:
            put_incoming(content, actor, loc, geo)
        else:
            put(loc, geo, owner, column, content)
    # A loss or a crash is taken from the losses and crashes that a run has left.
    lost = np.int64(kind == g.LOSE and geo[g.BUDGET] != 0)
    if is_crash(effect, tables):
        lost = geo[g.CRASHES]
    if lost:
        put(loc, geo, 0, g.LOSSES, get(loc, 0, geo, 0, g.LOSSES) - lost)


@inlined
def is_crash(effect, tables):
    """Return whether an actor crashes in the transition at code[effect:]."""
    return tables.geo[g.CRASHES] != 0 and tables.code[effect + g.EFFECT_KIND] == g.CRASH_KIND


@inlined
def takes_no_packet(effect, kind, content, tables):
    """Return whether the transition at code[effect:] leaves the column that it reads as it is."""
    stays = tables.code[effect + g.EFFECT_CONTENT] == content
    return kind in (g.INTERNAL, g.RESTART) or (kind == g.RECEIVE and stays)


@inlined
def note_down(waiting, effect, judged, how, subject, delivered, pending, tables, loc):
    """Write what is known of the successor that waits as the next one; see NOTE_KIND."""
    code, notes = tables.code, notes_at(tables.geo, waiting)
    loc[notes + NOTE_KIND] = code[effect + g.EFFECT_KIND] << g.KIND_SHIFT
    loc[notes + NOTE_SHOWN] = code[effect + g.EFFECT_SHOWN] | judged
    loc[notes + NOTE_HOW], loc[notes + NOTE_SUBJECT] = how, subject
    loc[notes + NOTE_DELIVERED], loc[notes + NOTE_PENDING] = delivered, pending


@inlined
def return_words(size, loc):
    """Write the parent's words again, because the last alternative changed loc[0:]."""
    for k in range(size):
        loc[k] = loc[size + k]


@kernel
def derive(source, only, said, waiting, tables, loc, misses, control):
    """Append the successors by one source of transitions to the successors that wait in `loc`.

    Args:
        only: the index of one transition of the source, from 0, or ALL (-1).
        said: the union of all actors' bits from `gate`; read only with geo[FOLLOWS].
        waiting: the number of successors that wait already.

    Returns:
        The number of successors that wait now, or MISSED.
    """
    geo, code, cons = tables.geo, tables.code, tables.cons
    size = geo[g.ACTORS] * geo[g.WORDS]
    spot, content = effects_of(source, said, tables, loc, misses, control)
    if spot < 0:
        return waiting if spot == NO_EFFECTS else np.int64(g.MISSED)
    origin = source_of(source, geo)
    kind, actor, owner = origin[:3]
    status, alternatives, spot = np.int64(g.OK), code[spot], spot + 1
    # A crash in the middle of a step follows the whole step among the alternatives.
    whole = spot
    crashes = geo[g.CRASHES] != 0 and get(loc, size, geo, 0, g.LOSSES) >= geo[g.CRASHES]
    for alternative in range(alternatives):
        crash = is_crash(spot, tables)
        if not crash:
            whole = spot
        if only not in (ALL, alternative) or (crash and not crashes):
            spot = after_step(code, spot)
            continue
        return_words(size, loc)
        effect = spot
        change_columns(effect, origin, tables, loc)
        subject = code[effect + g.EFFECT_SUBJECT]
        complete = True
        if kind == g.SEND and subject != -1:
            complete = causal_send(subject, actor, loc, geo, tables.table, misses, control)
        # The lists are read even if an entry is missing: `spot` must reach the next alternative,
        # and one round in Python then fills everything that this state lacks.
        spot, possible = effect + g.EFFECT_WORDS, True
        if effect == whole:
            spot, sent = put_packets(spot, actor, tables, loc, misses, control)
        else:
            whole_sends = whole + g.EFFECT_WORDS
            spot, sent, possible = put_part(spot, whole_sends, actor, tables, loc, misses, control)
        if crash and geo[g.CLOSES]:
            put_incoming(np.int64(g.CLOSED), actor, loc, geo)
        spot, judged, deliveries, delivered, sender, pending = happen(
            spot, complete and sent, actor, tables, loc, misses, control
        )
        if judged == g.MISSED or not possible:
            status = np.int64(g.MISSED) if judged == g.MISSED else status
            continue
        if deliveries > 1 or (deliveries and sender != owner):
            delivered = np.int64(SEVERAL)
        await_composites(loc, size, geo, cons, waiting_at(geo, waiting))
        how = takes_no_packet(effect, kind, content, tables) | (deliveries > 0) << 1
        note_down(waiting, effect, judged, how, subject, delivered, pending, tables, loc)
        waiting += 1
    return waiting if status == g.OK else status


@inlined
def settle(k, row, at, tables, loc, out, start, missing):
    """Write waiting successor k as a row; return 1 or 0, whether its transition exists, or MISSED.

    A transition that takes no packet and changes nothing, such as a timer without effect, is none.
    """
    geo = tables.geo
    if emit(loc, waiting_at(geo, k), row, at, tables, out, start, missing) != g.OK:
        return np.int64(g.MISSED)
    changed = loc[notes_at(geo, k) + NOTE_HOW] != 1
    return np.int64(changed or not same_row(row, at, out, start, geo[g.ROW_WORDS]))


@inlined
def told_by(loc, geo, k, found):
    """Return the word of waiting successor k without its index: its kind, and its properties."""
    notes = notes_at(geo, k)
    return loc[notes + NOTE_KIND] | (loc[notes + NOTE_SHOWN] & ~found) << g.SHOWN_SHIFT


@inlined
def successors(row, at, tables, loc, out, found, misses, control):
    """Write all successors of a state to `out` as entries, in the order of `enabled`.

    Under symmetry (geo[PERMUTATIONS] > 0) the row of an entry is the successor's representative.
    The last entry that `out` has room for is not filled.

    Returns:
        The number of entries; MISSED; OVERFLOWED if `out` is too small; or SETTLED if the message
        that is followed was delivered everywhere.
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
    """Return an actor's pending messages together with the crashed actors, in a final state.

    No protocol can deliver to a crashed actor, so these deliveries are not owed.
    """
    for other in range(geo[g.ACTORS]):
        key = key_of(g.LIVE, other, get(loc, 0, geo, other, g.STATE), 0)
        live = look_up(table, key, misses, control)
        if live == -1:
            return np.int64(g.MISSED)
        if live == 0:
            pending = look_up(table, key_of(g.OWED, actor, pending, other), misses, control)
            if pending == -1:
                return np.int64(g.MISSED)
    return pending


@inlined
def is_final(out, count, geo):
    """Return whether a state has no transition but crashes; a negative count is no final state."""
    if count > 0 and geo[g.CRASHES] != 0:
        # Crashes are the last source, so the first successor tells.
        return out[geo[g.ROW_WORDS]] >> g.KIND_SHIFT & g.KIND_MASK == g.CRASH_KIND
    return count == 0


@inlined
def judge_final(row, at, geo, table, dec, loc, misses, control):
    """Return the bit set of the properties that a final state violates or reaches, or MISSED.

    Crashed actors are left out, except where a property is about all actors together.
    """
    violated = np.int64(0)
    status = np.int64(g.OK)
    decode(row, at, geo, dec, loc, 0)
    for actor in range(geo[g.ACTORS]):
        position = get(loc, 0, geo, actor, g.POSITION)
        pending = get(loc, 0, geo, actor, g.PENDING)
        if geo[g.CRASHES]:
            pending = owed(actor, pending, loc, geo, table, misses, control)
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
    # A property in SOUGHT is about some final state: its bit counts if the state satisfies it.
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
    """Return views of the tables for use inside a kernel, only as long as the arrays exist.

    Numba counts the references to an array at each use, but not to a borrowed view.
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
