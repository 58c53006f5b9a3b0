"""Table entries of the history: the oracle's functions, called by number; see `rows.tabulate`.

The oracle is the record of functions that a history consists of. A function here takes a system's
components, and the column and the two numbers of a key; `ENTRIES` names its kind of key. It returns
the value of the entry. In c.knows[actor] and c.pending[actor] are the values and numbers of

* *knowledge*: which messages an actor knows of, for example a vector clock;
* the *pending* messages of a sender, which some destination has not delivered yet, each with its
  *stamp*: what the sender knew when it sent (None before a network-send that sets it).

An *item* is the number of a message times the number of actors, plus the receiver. Some values pack
several numbers:

    bits      57           56          55-28     27-0
    tick                             | sent    | knowledge |
    take    | unexpected | overtaken | stamp   | pending   |    UNEXPECTED_SHIFT, FACT_SHIFT and
    join                 | too late  | element | knowledge |    SECOND_SHIFT of `geometry`

*Overtaken*: the receiver has delivered a later message of the sender. *Too late*: it has delivered
an effect of the message, which is a message whose sender knew of it. The *element* is appended to
the sequence of deliveries of the history `full` (0: nothing).
"""

from __future__ import annotations

from attrs import evolve, frozen

from antecede.checker.engine.rows import geometry as g
from antecede.checker.engine.rows.components import Components
from antecede.checker.model import Message
from antecede.checker.semantics.history import Ghost, Pending, with_pending
from antecede.checker.semantics.marked import ordered


@frozen
class NetworkSend:
    """The network-send of a message: its first packet leaves. It is numbered like a message."""

    message: Message


@frozen
class Owed:
    """An actor's pending messages in a final state, with the crashed actors in their order."""

    pending: tuple[Pending, ...]
    crashed: tuple[int, ...]


def tick(c: Components, actor: int, knows: int, message: int) -> int:
    """Return a sender's knowledge after a causal-send or network-send, with the stamped message."""
    before, sent = c.knows[actor].values[knows], c.messages.values[message]
    after = _ticked(c, before, sent)
    knowledge = c.knows[actor].number(with_pending(after, ()))
    return knowledge | c.sent.number(after.pending[-1]) << g.SECOND_SHIFT


def _ticked(c: Components, before: Ghost, sent: Message | NetworkSend) -> Ghost:
    """Return the ghost after a causal-send, or after the network-send of a pending message."""
    if isinstance(sent, Message):
        return c.oracle.causal_send(before, sent)
    assert c.oracle.network_send is not None
    registered = c.oracle.causal_send(before, sent.message)
    return c.oracle.network_send(registered, sent.message)


def unsent(c: Components, actor: int, pending: int, message: int) -> int:
    """Return 1 if a pending message, named by its network-send, has no stamp yet, otherwise 0.

    It is for histories whose clocks tick at the network-send.
    """
    sent = c.messages.values[message].message
    entries = c.pending[actor].values[pending]
    return int(any(e.message == sent and e.stamp is None for e in entries))


def push(c: Components, actor: int, pending: int, sent: int) -> int:
    """Return the pending messages after one more is sent, or gets its stamp in its place."""
    entry, entries = c.sent.values[sent], c.pending[actor].values[pending]
    if c.oracle.number is not None:  # several pending messages may be equal
        return c.pending[actor].number(ordered((*entries, entry)))
    place = next((k for k, e in enumerate(entries) if e.message == entry.message), None)
    if place is None:
        return c.pending[actor].number((*entries, entry))
    stamped = evolve(entries[place], stamp=entry.stamp)
    return c.pending[actor].number((*entries[:place], stamped, *entries[place + 1 :]))


def note(c: Components, _column: int, sent: int, _unused: int) -> int:
    """Return the element ("sent", message, stamp) of the history `full`; 0 without a stamp."""
    entry = c.sent.values[sent]
    if entry.stamp is None:
        return 0
    return c.records.number(("sent", entry.message.number, entry.stamp))


def take(c: Components, sender: int, pending: int, item: int) -> int:
    """Return a sender's pending messages after a delivery, the message's stamp, and two facts.

    Examples:
        Message 1 of actor 0 is delivered to actor 1. It was pending, so nothing remains; a second
        delivery is unexpected:

        >>> from antecede.checker.check.spec import Spec, system_of
        >>> from antecede.checker.semantics.history import Pending
        >>> c, message = Components(system_of(Spec("mfss", actors=2))), Message(0, 1, (1,))
        >>> item = 2 * c.messages.number(message) + 1
        >>> nothing = c.pending[0].number(())
        >>> pending = c.pending[0].number((Pending(message, remaining=(1,), stamp=0),))
        >>> take(c, 0, pending, item) & g.NUMBER_MASK == nothing
        True
        >>> take(c, 0, nothing, item) == 1 << g.UNEXPECTED_SHIFT
        True
    """
    message, destination = divmod(item, c.system.actors)
    sent: Message = c.messages.values[message]
    ghost = Ghost(knows=0, pending=c.pending[sender].values[pending])
    taken = c.oracle.take(ghost, sent, destination)
    if taken is None:
        return 1 << g.UNEXPECTED_SHIFT
    stamp = c.stamps.number((sent, taken.stamp))
    after = c.pending[sender].number(taken.ghost.pending)
    return after | stamp << g.SECOND_SHIFT | taken.overtaken << g.FACT_SHIFT


def join(c: Components, actor: int, knows: int, stamp: int) -> int:
    """Return a receiver's knowledge after a delivery, and whether the delivery came too late.

    Examples:
        Actor 1 has delivered nothing. It delivers message 1 of actor 0, so its clock becomes (1,
        0), and the delivery is not too late:

        >>> from antecede.checker.check.spec import Spec, system_of
        >>> c = Components(system_of(Spec("mfss", actors=2, history="clocks")))
        >>> stamp = c.stamps.number((Message(0, 1, (1,)), (1, 0)))
        >>> joined = join(c, 1, c.knows[1].number(c.oracle.initial(1)), stamp)
        >>> c.knows[1].values[joined & g.NUMBER_MASK].knows, joined >> g.FACT_SHIFT
        ((1, 0), 0)
    """
    message, carried = c.stamps.values[stamp]
    after, was_known = c.oracle.join(c.knows[actor].values[knows], actor, message, carried)
    number = c.records.number((message.sender, carried)) if c.full else 0
    return c.knows[actor].number(after) | number << g.SECOND_SHIFT | was_known << g.FACT_SHIFT


def owed(c: Components, actor: int, pending: int, crashed: int) -> int:
    """Return the pending messages, or a result of this function, with one more crashed actor."""
    before = c.pending[actor].values[pending]
    if not isinstance(before, Owed):
        before = Owed(before, ())
    return c.pending[actor].number(evolve(before, crashed=(*before.crashed, crashed)))


def forget(c: Components, actor: int, knows: int, item: int) -> int:
    """Return the number of an actor's knowledge without an item, which was delivered."""
    # Whether a later delivery is too late does not depend on the item. Without it, states that
    # differ only in it become equal.
    after = _forgotten(c, c.knows[actor].values[knows], item)
    return c.knows[actor].number(after)


def trim(c: Components, actor: int, knows: int, pending: int) -> int:
    """Return the number of a receiver's knowledge with the least `heard` that decides the same.

    `heard` is there if actors also send to themselves: the last of the actor's own messages that it
    has delivered, or on which a delivered message depends. Its own message k is too late if k <=
    `heard`. So only messages matter that it has not delivered yet: `heard` becomes the greatest
    number of such a message up to its old value, or 0. The kernels call this only if c.oracle.trim
    is there.

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
    """Return the pending messages of any actor, without the item in their stamps."""
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
