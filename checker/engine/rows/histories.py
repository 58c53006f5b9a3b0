"""Table entries of the history: the oracle's functions, called by number; see `rows.tabulate`.

The oracle is the record of functions that a history consists of. Its results are numbered like all
components. The functions here take a system's components and the column and the two numbers of a
key, and return the value of the entry.
"""

from __future__ import annotations

from attrs import evolve, frozen

from antecede.checker.engine.rows import geometry as g
from antecede.checker.engine.rows.components import Components
from antecede.checker.model import Message
from antecede.checker.semantics.history import Ghost, with_pending, without
from antecede.checker.semantics.marked import ordered


@frozen
class NetworkSend:
    """The network-send of a message: its first packet leaves. It is numbered like a message."""

    message: Message


def tick(c: Components, actor: int, knows: int, message: int) -> int:
    """Entry of TICK: the sender's knowledge after a send, and the message as pending."""
    before, sent = c.knows[actor].values[knows], c.messages.values[message]
    after = _ticked(c, before, sent)
    knowledge = c.knows[actor].number(with_pending(after, ()))
    return knowledge | c.sent.number(after.pending[-1]) << 28


def _ticked(c: Components, before: Ghost, sent: Message | NetworkSend) -> Ghost:
    """Return the ghost after a causal-send, or after the network-send of a pending message."""
    if isinstance(sent, Message):
        return c.oracle.causal_send(before, sent)
    assert c.oracle.network_send is not None
    registered = c.oracle.causal_send(before, sent.message)
    return c.oracle.network_send(registered, sent.message)


def unsent(c: Components, actor: int, pending: int, message: int) -> int:
    """Entry of UNSENT: whether the network-send of a message is still to come."""
    sent = c.messages.values[message].message
    entries = c.pending[actor].values[pending]
    return int(any(e.message == sent and e.stamp is None for e in entries))


def push(c: Components, actor: int, pending: int, sent: int) -> int:
    """Entry of PUSH: the pending messages with one more, or with a stamp for one of them."""
    entry, entries = c.sent.values[sent], c.pending[actor].values[pending]
    if c.oracle.number is not None:  # several pending messages may be equal
        return c.pending[actor].number(ordered((*entries, entry)))
    place = next((k for k, e in enumerate(entries) if e.message == entry.message), None)
    if place is None:
        return c.pending[actor].number((*entries, entry))
    stamped = evolve(entries[place], stamp=entry.stamp)
    return c.pending[actor].number((*entries[:place], stamped, *entries[place + 1 :]))


def note(c: Components, _column: int, sent: int, _unused: int) -> int:
    """Entry of NOTE: the record of a message and its stamp; 0 if it has no stamp yet."""
    entry = c.sent.values[sent]
    if entry.stamp is None:
        return 0
    return c.records.number(("sent", entry.message.number, entry.stamp))


def take(c: Components, sender: int, pending: int, item: int) -> int:
    """Entry of TAKE: the remaining `pending`, the stamp, the bits overtaken and unexpected."""
    message, destination = divmod(item, c.system.actors)
    sent: Message = c.messages.values[message]
    ghost = Ghost(knows=0, pending=c.pending[sender].values[pending])
    taken = c.oracle.take(ghost, sent, destination)
    if taken is None:
        return 1 << 57
    stamp = c.stamps.number((sent, taken.stamp))
    after = c.pending[sender].number(taken.ghost.pending)
    return after | stamp << 28 | taken.overtaken << 56


def join(c: Components, actor: int, knows: int, stamp: int) -> int:
    """Entry of JOIN: the receiver's next knowledge, the record, and whether it was known."""
    message, carried = c.stamps.values[stamp]
    after, was_known = c.oracle.join(c.knows[actor].values[knows], actor, message, carried)
    number = c.records.number((message.sender, carried)) if c.full else 0
    return c.knows[actor].number(after) | number << 28 | was_known << 56


def owed(c: Components, actor: int, pending: int, crashed: int) -> int:
    """Entry of OWED: what remains of `pending` without the messages to a crashed actor."""
    entries = (without(entry, crashed) for entry in c.pending[actor].values[pending])
    return c.pending[actor].number(tuple(entry for entry in entries if entry.remaining))


def forget(c: Components, actor: int, knows: int, item: int) -> int:
    """Entry of FORGET: what an actor knows without a delivered item."""
    after = _forgotten(c, c.knows[actor].values[knows], item)
    return c.knows[actor].number(after)


def trim(c: Components, actor: int, knows: int, pending: int) -> int:
    """Entry of TRIM: what an actor knows without what nobody will ask for."""
    assert c.oracle.trim is not None
    knowledge, entries = c.knows[actor].values[knows], c.pending[actor].values[pending]
    trimmed = c.oracle.trim(with_pending(knowledge, entries))
    return c.knows[actor].number(with_pending(trimmed, ()))


def drop(c: Components, actor: int, pending: int, item: int) -> int:
    """Entry of DROP: the pending messages without a delivered item."""
    before = Ghost(knows=0, pending=c.pending[actor].values[pending])
    return c.pending[actor].number(_forgotten(c, before, item).pending)


def _forgotten(c: Components, ghost: Ghost, item: int) -> Ghost:
    message, destination = divmod(item, c.system.actors)
    assert c.oracle.forget is not None
    return c.oracle.forget(ghost, c.messages.values[message], destination)


ENTRIES = {
    g.TICK: tick,
    g.TAKE: take,
    g.JOIN: join,
    g.PUSH: push,
    g.NOTE: note,
    g.FORGET: forget,
    g.TRIM: trim,
    g.DROP: drop,
    g.UNSENT: unsent,
    g.OWED: owed,
}
"""The kind of a key -> the function that makes its entry."""
