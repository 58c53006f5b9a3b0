"""The history columns of local words: `checker.semantics.history` as table look-ups.

A history is what a state records of the past. It is stored in columns, like an actor's state, and
each change of a column is one look-up. In all functions, `loc` has the local words of the state,
`geo` and `table` are as in `Tables`, and `misses` and `control` as in `Told`.
"""

from __future__ import annotations

import numpy as np

from antecede.checker.engine.compiled.jit import inlined, kernel
from antecede.checker.engine.rows import geometry as g
from antecede.checker.engine.rows.composites_kernels import get, put
from antecede.checker.engine.rows.entries_kernels import key_of, look_up


@inlined
def deliver(message, sender, actor, loc, geo, table, misses, control):
    """Record in the history of a state that an actor delivers a message, and judge the delivery.

    The history is the part of a state that records past events. It is stored in columns of the
    actors: in the sender's, the message is no longer pending for this receiver; in the receiver's,
    its knowledge grows. If the message was not pending for this receiver, nothing changes.

    Args:
        message, sender: the number of the message, and its sender (-1: no actor).
        actor: the receiver.
        loc: int64; the state's columns (the numbers of its actors' states, channels and histories),
            packed into words: working memory of one thread; updated.
        geo: int64; the sizes and switches of this search, such as geo[ACTORS]; see `geometry`.
        table: int64, flat: the hash table of the results of Python functions; see `Tables`.
        misses: output, int64 of shape (n, 1 + geo[PART_WORDS]): a record (0, key) of each result
            that the tables lack, so that Python can make the call; see `Missing`.
        control: int64; counters of the kernels; control[MISSES] is the number of records in
            `misses`.

    Returns:
        The sum of 1 if the actor has delivered an effect of the message, and 2 if it has delivered
        a later message of the sender; or 4 (UNEXPECTED) if the message is not pending for it.
        MISSED (-1) if the table lacks a result; `loc` must not be used then. geo[BAD + sum] is the
        bit set of the properties that the delivery violates.
    """
    item = message * geo[g.ACTORS] + actor
    judgement = np.int64(g.UNEXPECTED)
    if sender >= 0:
        key = key_of(g.TAKE, sender, get(loc, 0, geo, sender, g.PENDING), item)
        taken = look_up(table, key, misses, control)
        if taken == -1:
            judgement = np.int64(g.MISSED)
        # Bit 57: the message is not pending, so its delivery was not expected and changes nothing.
        elif taken >> 57 & 1 == 0:
            put(loc, geo, sender, g.PENDING, taken & 0x1FFFFFF)
            key = key_of(g.JOIN, actor, get(loc, 0, geo, actor, g.KNOWS), taken >> 28 & 0x1FFFFFF)
            joined = look_up(table, key, misses, control)
            judgement = (joined >> 56 & 1) | (taken >> 56 & 1) << 1
            if joined == -1:
                judgement = np.int64(g.MISSED)
            else:
                put(loc, geo, actor, g.KNOWS, joined & 0x1FFFFFF)
                if geo[g.FULL_HISTORY]:
                    what = joined >> 28 & 0x1FFFFFF
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
    """Return four bits about one actor, for a search that follows one message.

    Such a search judges the deliveries of one message, the marked one. The bits say what the actor
    may send, and what it knows.

    Args:
        actor: the index of the actor.
        base: where the columns of the state begin in `loc`.
        loc: int64; the state's columns (the numbers of its actors' states, channels and histories),
            packed into words: working memory of one thread.
        geo: int64; the sizes and switches of this search, such as geo[ACTORS]; see `geometry`.
        table: int64, flat: the hash table of the results of Python functions; see `Tables`.
        misses: output, int64 of shape (n, 1 + geo[PART_WORDS]): a record (0, key) of each result
            that the tables lack, so that Python can make the call; see `Missing`.
        control: int64; counters of the kernels; control[MISSES] is the number of records in
            `misses`.

    Returns:
        A sum of ROOM (1: the actor may send, because few enough of its messages are undelivered),
        TAINT (2: it knows of the marked message), MARK (4: it sent the marked message) and OVER (8:
        the marked message was delivered everywhere); or -1 if the table lacks the result (try again
        when Python has added it).
    """
    knows, pending = get(loc, base, geo, actor, g.KNOWS), get(loc, base, geo, actor, g.PENDING)
    return look_up(table, key_of(g.GATE, actor, knows, pending), misses, control)


@inlined
def gates(base, loc, geo, table, misses, control):
    """Return the union of four bits over all actors, for a search that follows one message.

    Such a search judges the deliveries of one message, the marked one. ROOM (1): some actor may
    send. TAINT (2): some actor knows of the marked message. MARK (4): it was sent. OVER (8): it was
    delivered everywhere.

    Args:
        base: where the columns of the state begin in `loc`.
        loc: int64; the state's columns (the numbers of its actors' states, channels and histories),
            packed into words: working memory of one thread.
        geo: int64; the sizes and switches of this search, such as geo[ACTORS]; see `geometry`.
        table: int64, flat: the hash table of the results of Python functions; see `Tables`.
        misses: output, int64 of shape (n, 1 + geo[PART_WORDS]): a record (0, key) of each result
            that the tables lack, so that Python can make the call; see `Missing`.
        control: int64; counters of the kernels; control[MISSES] is the number of records in
            `misses`.

    Returns:
        The sum of the bits, or MISSED (-1) if the table lacks a result for some actor.
    """
    union, complete = np.int64(0), True
    for actor in range(geo[g.ACTORS]):
        bits = gate(actor, base, loc, geo, table, misses, control)
        union |= bits
        complete = complete and bits != -1
    return union if complete else np.int64(g.MISSED)


@inlined
def forget(item, loc, geo, table, misses, control):
    """Remove a delivered message from the histories of all actors, for one receiver.

    The message goes out of the columns for each actor's knowledge and pending messages. Otherwise
    it would only distinguish states that behave alike, because no later judgement reads it.

    Args:
        item: the message with its receiver: the number of the message times the number of actors,
            plus the index of the receiver.
        loc: int64; loc[0:] has the state: the local words (packed columns) of all actors; updated.
        geo: int64; the sizes and switches of this search, such as geo[ACTORS]; see `geometry`.
        table: int64, flat: the hash table of the results of Python functions; see `Tables`.
        misses: output, int64 of shape (n, 1 + geo[PART_WORDS]): a record (0, key) of each result
            that the table lacks, so that Python can make the call; see `Missing`.
        control: int64; control[MISSES] is the number of records in `misses`; updated.

    Returns:
        True; or False if the table lacks a result, and `loc` must not be used then.
    """
    complete = True
    for actor in range(geo[g.ACTORS]):
        complete &= forget_by(actor, item, loc, geo, table, misses, control)
    return complete


@inlined
def forget_by(actor, item, loc, geo, table, misses, control):
    """Remove a delivered message that no delivery needs any more from one actor's history.

    The message goes out of the two columns for what the actor knows and for its pending messages.

    Args:
        actor: the index of the actor that forgets.
        item: the message with its receiver: the number of the message, times the number of actors,
            plus the index of the receiver.
        loc: int64; the state's columns (the numbers of its actors' states, channels and histories),
            packed into words: working memory of one thread; updated.
        geo: int64; the sizes and switches of this search, such as geo[ACTORS]; see `geometry`.
        table: int64, flat: the hash table of the results of Python functions; see `Tables`.
        misses: output, int64 of shape (n, 1 + geo[PART_WORDS]): a record (0, key) of each result
            that the tables lack, so that Python can make the call; see `Missing`.
        control: int64; counters of the kernels; control[MISSES] is the number of records in
            `misses`.

    Returns:
        True; or False if the table lacks a result, and `loc` must not be used then.
    """
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
    """Remove from a receiver's history the knowledge that no later judgement reads.

    Knowledge is the content of the column KNOWS: which messages the actor knows of. Call it after a
    delivery, in a search with geo[TRIMS].

    Args:
        actor: the index of the receiver.
        loc: int64; loc[0:] has the state: the local words (packed columns) of all actors; updated.
        geo: int64; the sizes and switches of this search, such as geo[ACTORS]; see `geometry`.
        table: int64, flat: the hash table of the results of Python functions; see `Tables`.
        misses: output, int64 of shape (n, 1 + geo[PART_WORDS]): a record (0, key) of each result
            that the table lacks, so that Python can make the call; see `Missing`.
        control: int64; control[MISSES] is the number of records in `misses`; updated.

    Returns:
        True; or False if the table lacks the result, and `loc` is unchanged then.
    """
    knows, pending = get(loc, 0, geo, actor, g.KNOWS), get(loc, 0, geo, actor, g.PENDING)
    after = look_up(table, key_of(g.TRIM, actor, knows, pending), misses, control)
    if after != -1:
        put(loc, geo, actor, g.KNOWS, after)
    return after != -1


@inlined
def record(column, actor, what, loc, geo, table, misses, control):
    """Append an element to one of the two sequences that the history `full` keeps for an actor.

    A sequence is stored as a number, in a column. The table maps the number of a sequence and its
    new last element to the number of the longer sequence.

    Args:
        column: RECORDED, for the actor's deliveries, or STAMPS, for the stamps of its messages.
        actor: the index of the actor.
        what: the number of the new element, in `Components.records`.
        loc: int64; loc[0:] has the state: the local words (packed columns) of all actors; updated.
        geo: int64; the sizes and switches of this search, such as geo[ACTORS]; see `geometry`.
        table: int64, flat: the hash table of the results of Python functions; see `Tables`.
        misses: output, int64 of shape (n, 1 + geo[PART_WORDS]): a record (0, key) of each result
            that the table lacks, so that Python can make the call; see `Missing`.
        control: int64; control[MISSES] is the number of records in `misses`; updated.

    Returns:
        True; or False if the table lacks the number of the longer sequence; `loc` is unchanged
        then.
    """
    key = key_of(g.RECORD, column << 4 | actor, get(loc, 0, geo, actor, column), what)
    number = look_up(table, key, misses, control)
    if number != -1:
        put(loc, geo, actor, column, number)
    return number != -1


@inlined
def causal_send(message, actor, loc, geo, table, misses, control):
    """Record in the history of a state that an actor hands a message to the protocol.

    The sender's knowledge changes (under the history `clocks`, for example, its clock ticks), and
    the message joins its pending messages, which are not delivered everywhere yet.

    Args:
        message: the number of the message, or the number of its network-send; see `network_send`.
        actor: the sender.
        loc: int64; the state's columns (the numbers of its actors' states, channels and histories),
            packed into words: working memory of one thread; updated.
        geo: int64; the sizes and switches of this search, such as geo[ACTORS]; see `geometry`.
        table: int64, flat: the hash table of the results of Python functions; see `Tables`.
        misses: output, int64 of shape (n, 1 + geo[PART_WORDS]): a record (0, key) of each result
            that the tables lack, so that Python can make the call; see `Missing`.
        control: int64; counters of the kernels; control[MISSES] is the number of records in
            `misses`.

    Returns:
        True; or False if the table lacks a result, and `loc` must not be used then.
    """
    key = key_of(g.TICK, actor, get(loc, 0, geo, actor, g.KNOWS), message)
    ticked = look_up(table, key, misses, control)
    complete = ticked != -1
    if complete:
        put(loc, geo, actor, g.KNOWS, ticked & 0x1FFFFFF)
        entry = ticked >> 28
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
    """Record in the history of a state that the first packet of a message goes to the network.

    Some histories count a message as sent only then: the sender's clock ticks, and the pending
    message (it is not delivered everywhere yet) gets a time stamp. If it has one already, nothing
    changes.

    Args:
        message: the number of the network-send, which is numbered like a message.
        actor: the sender.
        loc: int64; the state's columns (the numbers of its actors' states, channels and histories),
            packed into words: working memory of one thread; updated.
        geo: int64; the sizes and switches of this search, such as geo[ACTORS]; see `geometry`.
        table: int64, flat: the hash table of the results of Python functions; see `Tables`.
        misses: output, int64 of shape (n, 1 + geo[PART_WORDS]): a record (0, key) of each result
            that the tables lack, so that Python can make the call; see `Missing`.
        control: int64; counters of the kernels; control[MISSES] is the number of records in
            `misses`.

    Returns:
        True; or False if the table lacks a result, and `loc` must not be used then.
    """
    key = key_of(g.UNSENT, actor, get(loc, 0, geo, actor, g.PENDING), message)
    unsent = look_up(table, key, misses, control)
    if unsent == 1:
        return causal_send(message, actor, loc, geo, table, misses, control)
    return unsent == 0
