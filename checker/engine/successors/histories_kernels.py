"""The history columns of local words: `checker.semantics.history` as table look-ups.

A history is what a state records of the past. It is stored in columns, like an actor's state:
KNOWS, what the actor knows of; PENDING, its messages that are not delivered everywhere yet; and
under `full`, RECORDED and STAMPS. Each change of a column is one look-up, made by a function of
`rows.histories`.

All functions update loc[0:]. They return False (or MISSED) if the table lacks a result. An *item*
is a message for one receiver: message * actors + receiver. A search with geo[FOLLOWS] judges the
deliveries of one message, the marked one; `geometry.ROOM` explains its bits.
"""

from __future__ import annotations

import numpy as np

from antecede.checker.compiled.jit import inlined, kernel
from antecede.checker.engine.rows import geometry as g
from antecede.checker.engine.rows.composites_kernels import get, put
from antecede.checker.engine.rows.entries_kernels import key_of, look_up


@inlined
def deliver(message, sender, actor, loc, geo, table, misses, control):
    """Record that an actor delivers a message, and judge the delivery; sender -1 is no actor.

    Returns:
        The sum of 1 if the actor has delivered an effect of the message, and 2 if it has delivered
        a later message of the sender; or UNEXPECTED (4), with nothing changed, if the message is
        not pending for it; or MISSED. geo[BAD + sum] is the bit set of violated properties.
    """
    item = message * geo[g.ACTORS] + actor
    judgement = np.int64(g.UNEXPECTED)
    if sender >= 0:
        key = key_of(g.TAKE, sender, get(loc, 0, geo, sender, g.PENDING), item)
        taken = look_up(table, key, misses, control)
        if taken == -1:
            judgement = np.int64(g.MISSED)
        # The message is not pending, so its delivery was not expected and changes nothing.
        elif taken >> g.UNEXPECTED_SHIFT & 1 == 0:
            put(loc, geo, sender, g.PENDING, taken & g.NUMBER_MASK)
            key = key_of(
                g.JOIN,
                actor,
                get(loc, 0, geo, actor, g.KNOWS),
                taken >> g.SECOND_SHIFT & g.NUMBER_MASK,
            )
            joined = look_up(table, key, misses, control)
            judgement = (joined >> g.FACT_SHIFT & 1) | (taken >> g.FACT_SHIFT & 1) << 1
            if joined == -1:
                judgement = np.int64(g.MISSED)
            else:
                put(loc, geo, actor, g.KNOWS, joined & g.NUMBER_MASK)
                if geo[g.FULL_HISTORY]:
                    what = joined >> g.SECOND_SHIFT & g.NUMBER_MASK
                    if not record(g.RECORDED, actor, what, loc, geo, table, misses, control):
                        judgement = np.int64(g.MISSED)
                # From here on, what the history keeps is made smaller; the judgement is made.
                if geo[g.FORGETS] and not forget(item, loc, geo, table, misses, control):
                    judgement = np.int64(g.MISSED)
                if geo[g.TRIMS] and not trim(actor, loc, geo, table, misses, control):
                    judgement = np.int64(g.MISSED)
                # The application may answer a delivery, so its position in the workload changes.
                if geo[g.REACTS]:
                    key = key_of(g.REACT, actor, get(loc, 0, geo, actor, g.POSITION), message)
                    position = look_up(table, key, misses, control)
                    if position == -1:
                        judgement = np.int64(g.MISSED)
                    else:
                        put(loc, geo, actor, g.POSITION, position)
    return judgement


@inlined
def gate(actor, base, loc, geo, table, misses, control):
    """Return the bits ROOM, TAINT, MARK and OVER of one actor, or -1."""
    knows, pending = get(loc, base, geo, actor, g.KNOWS), get(loc, base, geo, actor, g.PENDING)
    return look_up(table, key_of(g.GATE, actor, knows, pending), misses, control)


@inlined
def gates(base, loc, geo, table, misses, control):
    """Return the union of the bits of all actors, or MISSED."""
    union, complete = np.int64(0), True
    for actor in range(geo[g.ACTORS]):
        bits = gate(actor, base, loc, geo, table, misses, control)
        union |= bits
        complete = complete and bits != -1
    return union if complete else np.int64(g.MISSED)


@inlined
def forget(item, loc, geo, table, misses, control):
    """Remove an item from what all actors know and from their pending messages' stamps.

    No later judgement reads it, so it would only distinguish states that behave alike.
    """
    complete = True
    for actor in range(geo[g.ACTORS]):
        complete &= forget_by(actor, item, loc, geo, table, misses, control)
    return complete


@inlined
def forget_by(actor, item, loc, geo, table, misses, control):
    """Remove an item that no delivery needs any more from one actor's history."""
    complete = True
    for column in range(g.KNOWS, g.PENDING + 1):
        kind = g.FORGET if column == g.KNOWS else g.DROP
        key = key_of(kind, actor, get(loc, 0, geo, actor, column), item)
        after = look_up(table, key, misses, control)
        if after == -1:
            complete = False
        else:
            put(loc, geo, actor, column, after)
    return complete


@inlined
def trim(actor, loc, geo, table, misses, control):
    """Remove what no later judgement reads from a receiver's knowledge, if geo[TRIMS]."""
    knows, pending = get(loc, 0, geo, actor, g.KNOWS), get(loc, 0, geo, actor, g.PENDING)
    after = look_up(table, key_of(g.TRIM, actor, knows, pending), misses, control)
    if after != -1:
        put(loc, geo, actor, g.KNOWS, after)
    return after != -1


@inlined
def record(column, actor, what, loc, geo, table, misses, control):
    """Append element `what` of `Components.records` to a sequence of the history `full`.

    The column is RECORDED, the actor's deliveries, or STAMPS, the stamps of its messages.
    """
    key = key_of(g.RECORD, column << g.ACTOR_BITS | actor, get(loc, 0, geo, actor, column), what)
    number = look_up(table, key, misses, control)
    if number != -1:
        put(loc, geo, actor, column, number)
    return number != -1


@inlined
def causal_send(message, actor, loc, geo, table, misses, control):
    """Record that an actor hands a message to the protocol, or makes a `network_send`.

    The sender's knowledge changes (its clock ticks), and the message joins its pending messages.
    """
    key = key_of(g.TICK, actor, get(loc, 0, geo, actor, g.KNOWS), message)
    ticked = look_up(table, key, misses, control)
    complete = ticked != -1
    if complete:
        put(loc, geo, actor, g.KNOWS, ticked & g.NUMBER_MASK)
        entry = ticked >> g.SECOND_SHIFT
        key = key_of(g.PUSH, actor, get(loc, 0, geo, actor, g.PENDING), entry)
        pending = look_up(table, key, misses, control)
        complete = pending != -1
        if complete:
            put(loc, geo, actor, g.PENDING, pending)
        if geo[g.FULL_HISTORY]:
            what = look_up(table, key_of(g.NOTE, 0, entry, 0), misses, control)
            complete = complete and what != -1
            if complete and what != 0:
                complete = record(g.STAMPS, actor, what, loc, geo, table, misses, control)
    return complete


@kernel
def network_send(message, actor, loc, geo, table, misses, control):
    """Record that the first packet of a message goes to the network.

    Some histories count a message as sent only then: the sender's clock ticks, and the pending
    message gets its stamp, unless it has one already.
    """
    key = key_of(g.UNSENT, actor, get(loc, 0, geo, actor, g.PENDING), message)
    unsent = look_up(table, key, misses, control)
    if unsent == 1:
        return causal_send(message, actor, loc, geo, table, misses, control)
    return unsent == 0
