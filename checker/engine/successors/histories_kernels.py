"""The history columns of local words: `checker.semantics.history` as table look-ups."""

from __future__ import annotations

import numpy as np

from antecede.checker.engine.compiled.jit import inlined, kernel
from antecede.checker.engine.rows.composites_kernels import get, put
from antecede.checker.engine.rows.entries_kernels import key_of, look_up
from antecede.checker.engine.rows.geometry import (
    ACTORS,
    DROP,
    FORGET,
    FORGETS,
    FULL_HISTORY,
    GATE,
    JOIN,
    KNOWS,
    MISSED,
    NOTE,
    PENDING,
    POSITION,
    PUSH,
    REACT,
    REACTS,
    RECORD,
    RECORDED,
    STAMPS,
    TAKE,
    TICK,
    TRIM,
    TRIMS,
    UNEXPECTED,
    UNSENT,
)


@inlined
def deliver(message, sender, actor, loc, geo, table, misses, control):
    """Record a delivery in the history columns of `loc`; see `checker.semantics.history.deliver`.

    Returns:
        The judgement (see BAD), or MISSED.
    """
    item = message * geo[ACTORS] + actor
    judgement = np.int64(UNEXPECTED)
    if sender >= 0:
        key = key_of(TAKE, sender, get(loc, 0, geo, sender, PENDING), item)
        taken = look_up(table, key, misses, control)
        if taken == -1:
            judgement = np.int64(MISSED)
        elif taken >> 57 & 1 == 0:
            put(loc, geo, sender, PENDING, taken & 0x1FFFFFF)
            key = key_of(JOIN, actor, get(loc, 0, geo, actor, KNOWS), taken >> 28 & 0x1FFFFFF)
            joined = look_up(table, key, misses, control)
            judgement = (joined >> 56 & 1) | (taken >> 56 & 1) << 1
            if joined == -1:
                judgement = np.int64(MISSED)
            else:
                put(loc, geo, actor, KNOWS, joined & 0x1FFFFFF)
                if geo[FULL_HISTORY]:
                    what = joined >> 28 & 0x1FFFFFF
                    if not record(RECORDED, actor, what, loc, geo, table, misses, control):
                        judgement = np.int64(MISSED)
                if geo[FORGETS] and not forget(item, loc, geo, table, misses, control):
                    judgement = np.int64(MISSED)
                if geo[TRIMS] and not trim(actor, loc, geo, table, misses, control):
                    judgement = np.int64(MISSED)
                if geo[REACTS]:
                    key = key_of(REACT, actor, get(loc, 0, geo, actor, POSITION), message)
                    position = look_up(table, key, misses, control)
                    if position == -1:
                        judgement = np.int64(MISSED)
                    else:
                        put(loc, geo, actor, POSITION, position)
    return judgement


@inlined
def gate(actor, base, loc, geo, table, misses, control):
    """Return the GATE bits of an actor whose local words are at loc[base:], or -1."""
    knows, pending = get(loc, base, geo, actor, KNOWS), get(loc, base, geo, actor, PENDING)
    return look_up(table, key_of(GATE, actor, knows, pending), misses, control)


@inlined
def gates(base, loc, geo, table, misses, control):
    """Return the union of all actors' GATE bits, or MISSED."""
    union, complete = np.int64(0), True
    for actor in range(geo[ACTORS]):
        bits = gate(actor, base, loc, geo, table, misses, control)
        union |= bits
        complete = complete and bits != -1
    return union if complete else np.int64(MISSED)


@inlined
def forget(item, loc, geo, table, misses, control):
    """Remove a delivered item from all sets of messages; return False if an entry is missing."""
    complete = True
    for actor in range(geo[ACTORS]):
        complete &= forget_by(actor, item, loc, geo, table, misses, control)
    return complete


@inlined
def forget_by(actor, item, loc, geo, table, misses, control):
    """Remove a delivered item from one actor's sets of messages; return as `forget`."""
    complete = True
    for column in range(KNOWS, PENDING + 1):
        kind = FORGET if column == KNOWS else DROP
        key = key_of(kind, actor, get(loc, 0, geo, actor, column), item)
        after = look_up(table, key, misses, control)
        if after == -1:
            complete = False
        else:
            put(loc, geo, actor, column, after)
    return complete


@inlined
def trim(actor, loc, geo, table, misses, control):
    """Remove a receiver's useless knowledge; return False if an entry is missing."""
    knows, pending = get(loc, 0, geo, actor, KNOWS), get(loc, 0, geo, actor, PENDING)
    after = look_up(table, key_of(TRIM, actor, knows, pending), misses, control)
    if after != -1:
        put(loc, geo, actor, KNOWS, after)
    return after != -1


@inlined
def record(column, actor, what, loc, geo, table, misses, control):
    """Append `what` to a sequence of the `full` history; return False if an entry is missing."""
    key = key_of(RECORD, column << 4 | actor, get(loc, 0, geo, actor, column), what)
    number = look_up(table, key, misses, control)
    if number != -1:
        put(loc, geo, actor, column, number)
    return number != -1


@inlined
def causal_send(message, actor, loc, geo, table, misses, control):
    """Record a causal-send in the history columns of `loc`; return False if an entry is missing."""
    key = key_of(TICK, actor, get(loc, 0, geo, actor, KNOWS), message)
    ticked = look_up(table, key, misses, control)
    complete = ticked != -1
    if complete:
        put(loc, geo, actor, KNOWS, ticked & 0x1FFFFFF)
        entry = ticked >> 28
        key = key_of(PUSH, actor, get(loc, 0, geo, actor, PENDING), entry)
        pending = look_up(table, key, misses, control)
        complete = pending != -1
        if complete:
            put(loc, geo, actor, PENDING, pending)
        if geo[FULL_HISTORY]:
            what = look_up(table, key_of(NOTE, 0, entry, 0), misses, control)
            complete = complete and what != -1
            if complete and what != 0:
                complete = record(STAMPS, actor, what, loc, geo, table, misses, control)
    return complete


@kernel
def network_send(message, actor, loc, geo, table, misses, control):
    """Record a network-send if the clock ticks then; return False if an entry is missing."""
    key = key_of(UNSENT, actor, get(loc, 0, geo, actor, PENDING), message)
    unsent = look_up(table, key, misses, control)
    if unsent == 1:
        return causal_send(message, actor, loc, geo, table, misses, control)
    return unsent == 0
