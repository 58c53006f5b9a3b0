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
    """Return a sender's knowledge after a causal-send, and the sent message, packed in one number.

    Knowledge is the part of a history that says which messages an actor knows of, for example a
    vector clock. A message is pending until all its destinations have delivered it.

    Args:
        c: a `Components`, the values and their numbers: c.messages.values[3] has number 3. Updated.
        actor: the sender.
        knows: the number of its knowledge before, in c.knows[actor].
        message: the number in c.messages of the message, or of a `NetworkSend` (its first packet
            leaves).

    Returns:
        knowledge | entry << 28: the number of the next knowledge in c.knows[actor], and the number
        of the pending message with its time stamp in c.sent.

    Examples:
        >>> from antecede.checker.check.spec import Spec, system_of
        >>> c = Components(system_of(Spec("mfss", actors=2, history="clocks")))
        >>> knows = c.knows[0].number(c.oracle.initial(0))
        >>> first, second = (c.messages.number(Message(0, k, (1,))) for k in (1, 2))
        >>> ticked = tick(c, 0, tick(c, 0, knows, first) & 0x1FFFFFF, second)
        >>> ticked & 0x1FFFFFF, ticked >> 28, c.knows[0].values[2].knows, c.sent.values[1].stamp
        (2, 1, (2, 0), (2, 0))
    """
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
    """Return 1 if the first packet of a pending message has not left its sender yet, otherwise 0.

    It is for histories whose clocks tick at that time, which is the message's network-send. A
    message is pending until all its destinations have delivered it. It has no time stamp before its
    network-send.

    Args:
        c: a `Components`, the values and their numbers: c.messages.values[3] has number 3.
        actor: the sender.
        pending: the number of the tuple of its pending messages, in c.pending[actor].
        message: the number in c.messages of a `NetworkSend`, which names the message.

    Returns:
        1 if the message is pending and has no time stamp, otherwise 0.

    Examples:
        >>> from antecede.checker.check.spec import Spec, system_of
        >>> from antecede.checker.semantics.history import Pending
        >>> c, message = Components(system_of(Spec("mfss", actors=2))), Message(0, 1, (1,))
        >>> pending = c.pending[0].number((Pending(message, remaining=(1,), stamp=None),))
        >>> unsent(c, 0, pending, c.messages.number(NetworkSend(message)))
        1
    """
    sent = c.messages.values[message].message
    entries = c.pending[actor].values[pending]
    return int(any(e.message == sent and e.stamp is None for e in entries))


def push(c: Components, actor: int, pending: int, sent: int) -> int:
    """Return the number of an actor's pending messages after one more is sent, or gets its stamp.

    A message is pending until all its destinations have delivered it. If the message is pending
    already, without a time stamp, it keeps its place and gets the time stamp.

    Args:
        c: a `Components`, the values and their numbers: c.sent.values[3] has number 3. Updated.
        actor: the sender.
        pending: the number of the tuple of its pending messages before, in c.pending[actor].
        sent: the number in c.sent of the message with its stamp, which `tick` returns.

    Examples:
        >>> from antecede.checker.check.spec import Spec, system_of
        >>> from antecede.checker.semantics.history import Pending
        >>> c = Components(system_of(Spec("mfss", actors=2, history="clocks")))
        >>> sent = c.sent.number(Pending(Message(0, 1, (1,)), remaining=(1,), stamp=(1, 0)))
        >>> after = push(c, 0, c.pending[0].number(()), sent)
        >>> [entry.message.number for entry in c.pending[0].values[after]]
        [1]
    """
    entry, entries = c.sent.values[sent], c.pending[actor].values[pending]
    if c.oracle.number is not None:  # several pending messages may be equal
        return c.pending[actor].number(ordered((*entries, entry)))
    place = next((k for k, e in enumerate(entries) if e.message == entry.message), None)
    if place is None:
        return c.pending[actor].number((*entries, entry))
    stamped = evolve(entries[place], stamp=entry.stamp)
    return c.pending[actor].number((*entries[:place], stamped, *entries[place + 1 :]))


def note(c: Components, _column: int, sent: int, _unused: int) -> int:
    """Return the number of what the history `full` keeps of a sent message; 0 without a stamp.

    The history keeps, for each actor, a sequence with one element per message that it sent. The
    element of message 3 is ("sent", 3, stamp). The stamp is the message's vector clock, which it
    gets when the clock of its sender ticks.

    Args:
        c: a `Components`, the values and their numbers: c.sent.values[3] has number 3. Updated.
        _column, _unused: not read; all functions of `ENTRIES` take the same kinds of arguments.
        sent: the number in c.sent of the message with its stamp, which `tick` returns.

    Returns:
        The number of the element in c.records, at least 1; or 0 if the message has no stamp yet.

    Examples:
        >>> from antecede.checker.check.spec import Spec, system_of
        >>> from antecede.checker.semantics.history import Pending
        >>> c = Components(system_of(Spec("mfss", actors=2, history="full")))
        >>> sent = c.sent.number(Pending(Message(0, 3, (1,)), remaining=(1,), stamp=(3, 0)))
        >>> c.records.values[note(c, 0, sent, 0)]
        ('sent', 3, (3, 0))
    """
    entry = c.sent.values[sent]
    if entry.stamp is None:
        return 0
    return c.records.number(("sent", entry.message.number, entry.stamp))


def take(c: Components, sender: int, pending: int, item: int) -> int:
    """Return a sender's pending messages after a delivery, with the message's stamp and two facts.

    A message is pending until all its destinations have delivered it. Its stamp is the causal past
    of the message, for example a vector clock. The receiver learns it; see `join`. The two facts
    say whether the delivery was out of order, and whether it was expected at all.

    Args:
        c: a `Components`, the values and their numbers: c.stamps.values[3] has number 3. Updated.
        sender: the sender.
        pending: the number of the tuple of its pending messages, in c.pending[sender].
        item: the number of the message in c.messages times the number of actors, plus the receiver.

    Returns:
        pending | stamp << 28 | overtaken << 56: the number of the messages that remain, in
        c.pending[sender]; the number of (message, stamp) in c.stamps; and 1 if the receiver has
        delivered a later message of the sender, otherwise 0. Or 1 << 57 if the message is not
        pending for this receiver, so that the delivery is unexpected.

    Examples:
        Message 1 of actor 0 is delivered to actor 1. It was pending, so nothing remains; a second
        delivery is unexpected:

        >>> from antecede.checker.check.spec import Spec, system_of
        >>> from antecede.checker.semantics.history import Pending
        >>> c, message = Components(system_of(Spec("mfss", actors=2))), Message(0, 1, (1,))
        >>> item = 2 * c.messages.number(message) + 1
        >>> nothing = c.pending[0].number(())
        >>> pending = c.pending[0].number((Pending(message, remaining=(1,), stamp=0),))
        >>> take(c, 0, pending, item) & 0x1FFFFFF == nothing, take(c, 0, nothing, item) == 1 << 57
        (True, True)
    """
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
    """Return a receiver's knowledge after a delivery, and whether the delivery came too late.

    Knowledge is the part of a history that says which messages an actor knows of, for example a
    vector clock. A delivery of m is too late if the receiver has already delivered an effect of m.
    An effect of m is a message whose sender knew of m when it sent.

    Args:
        c: a `Components`, the values and their numbers: c.stamps.values[3] has number 3. Updated.
        actor: the receiver.
        knows: the number of its knowledge before, in c.knows[actor].
        stamp: the number in c.stamps of the message with its causal past, which `take` returns.

    Returns:
        Three numbers in one, knowledge | element << 28 | too_late << 56:

        * knowledge: the number of the receiver's next knowledge in c.knows[actor], below 2 ** 25
        * element: the number in c.records of the element that is added to the receiver's sequence
          of deliveries, under the history `full`; otherwise 0
        * too_late: 1 if the delivery is too late, otherwise 0

    Examples:
        Actor 1 has delivered nothing. It delivers message 1 of actor 0, so its clock becomes (1,
        0), and the delivery is not too late:

        >>> from antecede.checker.check.spec import Spec, system_of
        >>> c = Components(system_of(Spec("mfss", actors=2, history="clocks")))
        >>> stamp = c.stamps.number((Message(0, 1, (1,)), (1, 0)))
        >>> joined = join(c, 1, c.knows[1].number(c.oracle.initial(1)), stamp)
        >>> c.knows[1].values[joined & 0x1FFFFFF].knows, joined >> 56
        ((1, 0), 0)
    """
    message, carried = c.stamps.values[stamp]
    after, was_known = c.oracle.join(c.knows[actor].values[knows], actor, message, carried)
    number = c.records.number((message.sender, carried)) if c.full else 0
    return c.knows[actor].number(after) | number << 28 | was_known << 56


def owed(c: Components, actor: int, pending: int, crashed: int) -> int:
    """Return the number of an actor's pending messages without their deliveries to a crashed actor.

    A message is pending until all its destinations have delivered it. A message whose last
    destination is the crashed actor is left out.

    Args:
        c: a `Components`, the values and their numbers: c.knows[0].values[3] has number 3. Updated.
        actor: the sender.
        pending: the number of the tuple of its pending messages, in c.pending[actor].
        crashed: the index of the crashed actor.

    Examples:
        >>> from antecede.checker.check.spec import Spec, system_of
        >>> from antecede.checker.semantics.history import Pending
        >>> c = Components(system_of(Spec("mfss", actors=3)))
        >>> pending = c.pending[0].number((Pending(Message(0, 1, (1, 2)), (1, 2), stamp=0),))
        >>> [entry.remaining for entry in c.pending[0].values[owed(c, 0, pending, crashed=2)]]
        [(1,)]
    """
    entries = (without(entry, crashed) for entry in c.pending[actor].values[pending])
    return c.pending[actor].number(tuple(entry for entry in entries if entry.remaining))


def forget(c: Components, actor: int, knows: int, item: int) -> int:
    """Return the number of an actor's knowledge without a message that was delivered.

    Knowledge is the part of a history that says which undelivered messages an actor knows of, each
    with its receiver. Whether a later delivery is too late does not depend on the delivered
    message, so all actors forget it, and states that differ only in it become equal.

    Args:
        c: a `Components`, the values and their numbers: c.knows[0].values[3] has number 3. Updated.
        actor: the actor that forgets, which may be any actor.
        knows: the number of its knowledge before, in c.knows[actor].
        item: the number of the message in c.messages times the number of actors, plus the receiver.

    Examples:
        Actor 1 knows of one undelivered message, and forgets it:

        >>> from antecede.checker.check.spec import Spec, system_of
        >>> c = Components(system_of(Spec("mfss", actors=2)))
        >>> message = c.messages.number(Message(0, 1, (1,)))
        >>> knows = c.knows[1].number(Ghost(knows=0b10))  # bit 1: message 1 of actor 0 to actor 1
        >>> c.knows[1].values[forget(c, 1, knows, 2 * message + 1)].knows
        0
    """
    after = _forgotten(c, c.knows[actor].values[knows], item)
    return c.knows[actor].number(after)


def trim(c: Components, actor: int, knows: int, pending: int) -> int:
    """Return the number of a receiver's knowledge with the least `heard` that decides the same.

    Knowledge is the part of a history that says which messages an actor knows of. It has a number
    `heard` if actors also send messages to themselves: the last of the actor's own messages that it
    has delivered, or on which a delivered message depends. When it delivers its own message k, the
    delivery is too late if k <= `heard`. So only messages matter that it has not delivered yet.

    This function sets `heard` to the greatest number k <= `heard` of such a message, or to 0 if
    there is none. States that differed only in `heard` then become equal. The kernels call it only
    if c.oracle.trim is not None: actors send to themselves, and the option `--history` is not
    `knowledge`.

    Args:
        c: a `Components`, the values and their numbers: c.knows[0].values[3] has number 3. Updated.
            c.oracle, the functions of the history, must have `trim`.
        actor: the receiver, after a delivery.
        knows: the number of its knowledge, in c.knows[actor].
        pending: the number of the tuple of its pending messages, in c.pending[actor]: those that
            some destination has not delivered yet.

    Examples:
        Actor 0 has heard of its messages up to 5. It has not yet delivered its messages 2 and 7 to
        itself, so `heard` becomes 2:

        >>> from antecede.checker.check.spec import Spec, system_of
        >>> from antecede.checker.semantics.history import Pending
        >>> spec = Spec("mfss", actors=2, history="clocks", workload="self")
        >>> c = Components(system_of(spec))
        >>> two, seven = (Pending(Message(0, n, (0,)), (0,), stamp=(n, 0)) for n in (2, 7))
        >>> pending = c.pending[0].number((two, seven))
        >>> knows = c.knows[0].number(Ghost(knows=(7, 0), heard=5))
        >>> c.knows[0].values[trim(c, 0, knows, pending)].heard
        2
    """
    assert c.oracle.trim is not None
    knowledge, entries = c.knows[actor].values[knows], c.pending[actor].values[pending]
    trimmed = c.oracle.trim(with_pending(knowledge, entries))
    return c.knows[actor].number(with_pending(trimmed, ()))


def drop(c: Components, actor: int, pending: int, item: int) -> int:
    """Return the number of an actor's pending messages, whose stamps forget a delivered message.

    A message is pending until all its destinations have delivered it, and carries a stamp: the
    undelivered messages of its causal past. The forgotten message goes out of these stamps, for one
    receiver. No pending message is removed.

    Args:
        c: a `Components`, the values and their numbers: c.knows[0].values[3] has number 3. Updated.
        actor: the actor that forgets, which may be any actor.
        pending: the number of the tuple of its pending messages before, in c.pending[actor].
        item: the number of the message in c.messages times the number of actors, plus the receiver.

    Examples:
        >>> from antecede.checker.check.spec import Spec, system_of
        >>> from antecede.checker.semantics.history import Pending
        >>> c = Components(system_of(Spec("mfss", actors=2)))
        >>> entry = Pending(Message(1, 1, (0,)), remaining=(0,), stamp=0b10)  # bit 1: see `forget`
        >>> item = 2 * c.messages.number(Message(0, 1, (1,))) + 1
        >>> after = drop(c, 1, c.pending[1].number((entry,)), item)
        >>> c.pending[1].values[after][0].stamp
        0
    """
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
