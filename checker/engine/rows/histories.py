"""Table entries of the history: the oracle's functions, called by number; see `rows.tabulate`.

The oracle is the record of functions that a history consists of. Its results are numbered like all
components.
"""

from __future__ import annotations

from attrs import define, evolve, frozen

from antecede.checker.engine.rows.components import Components
from antecede.checker.model import Message
from antecede.checker.semantics.history import Ghost, with_pending
from antecede.checker.semantics.marked import ordered


@frozen
class NetworkSend:
    """The network-send of a message; it is numbered like a message."""

    message: Message


@define(eq=False)
class Histories(Components):
    """Makes the table entries that call the oracle."""

    def _fill_tick(self, actor: int, knows: int, message: int) -> int:
        """Entry of TICK: the sender's knowledge after a send, and the message as pending."""
        before, sent = self.knows[actor].values[knows], self.messages.values[message]
        after = self._ticked(before, sent)
        knowledge = self.knows[actor].number(with_pending(after, ()))
        return knowledge | self.sent.number(after.pending[-1]) << 28

    def _ticked(self, before: Ghost, sent: Message | NetworkSend) -> Ghost:
        """Return the ghost after a causal-send, or after the network-send of a pending message."""
        if isinstance(sent, Message):
            return self.oracle.causal_send(before, sent)
        assert self.oracle.network_send is not None
        registered = self.oracle.causal_send(before, sent.message)
        return self.oracle.network_send(registered, sent.message)

    def _fill_unsent(self, actor: int, pending: int, message: int) -> int:
        """Entry of UNSENT: whether the network-send of a message is still to come."""
        sent = self.messages.values[message].message
        entries = self.pending[actor].values[pending]
        return int(any(e.message == sent and e.stamp is None for e in entries))

    def _fill_push(self, actor: int, pending: int, sent: int) -> int:
        entry, entries = self.sent.values[sent], self.pending[actor].values[pending]
        if self.oracle.number is not None:  # several pending messages may be equal
            return self.pending[actor].number(ordered((*entries, entry)))
        place = next((k for k, e in enumerate(entries) if e.message == entry.message), None)
        if place is None:
            return self.pending[actor].number((*entries, entry))
        stamped = evolve(entries[place], stamp=entry.stamp)
        return self.pending[actor].number((*entries[:place], stamped, *entries[place + 1 :]))

    def _fill_note(self, _column: int, sent: int, _unused: int) -> int:
        """Entry of NOTE: the record of a message and its stamp; 0 if it has no stamp yet."""
        entry = self.sent.values[sent]
        if entry.stamp is None:
            return 0
        return self.records.number(("sent", entry.message.number, entry.stamp))

    def _fill_take(self, sender: int, pending: int, item: int) -> int:
        """Entry of TAKE: the remaining `pending`, the stamp, the bits overtaken and unexpected."""
        message, destination = divmod(item, self.system.actors)
        sent: Message = self.messages.values[message]
        ghost = Ghost(knows=0, pending=self.pending[sender].values[pending])
        taken = self.oracle.take(ghost, sent, destination)
        if taken is None:
            return 1 << 57
        stamp = self.stamps.number((sent, taken.stamp))
        after = self.pending[sender].number(taken.ghost.pending)
        return after | stamp << 28 | taken.overtaken << 56

    def _fill_join(self, actor: int, knows: int, stamp: int) -> int:
        """Entry of JOIN: the receiver's next knowledge, the record, and whether it was known."""
        message, carried = self.stamps.values[stamp]
        after, was_known = self.oracle.join(
            self.knows[actor].values[knows], actor, message, carried
        )
        number = self.records.number((message.sender, carried)) if self.full else 0
        return self.knows[actor].number(after) | number << 28 | was_known << 56

    def _fill_forget(self, actor: int, knows: int, item: int) -> int:
        after = self._forgotten(self.knows[actor].values[knows], item)
        return self.knows[actor].number(after)

    def _fill_trim(self, actor: int, knows: int, pending: int) -> int:
        assert self.oracle.trim is not None
        knowledge, entries = self.knows[actor].values[knows], self.pending[actor].values[pending]
        trimmed = self.oracle.trim(with_pending(knowledge, entries))
        return self.knows[actor].number(with_pending(trimmed, ()))

    def _fill_drop(self, actor: int, pending: int, item: int) -> int:
        before = Ghost(knows=0, pending=self.pending[actor].values[pending])
        return self.pending[actor].number(self._forgotten(before, item).pending)

    def _forgotten(self, ghost: Ghost, item: int) -> Ghost:
        message, destination = divmod(item, self.system.actors)
        assert self.oracle.forget is not None
        return self.oracle.forget(ghost, self.messages.values[message], destination)
