"""Symmetry: states that differ by a renaming of the actors have the same future.

Protocols are opaque and do not declare how a renaming changes their states and packets. The
renaming is built along with the tables. The initial state of actor i becomes the initial state of
actor p(i). If a step takes state s to s', then the renamed step takes the renamed s to the
renamed s', and the sends and deliveries of the two steps are renamings of each other. If a value
turns out to have two different renamings, the protocol treats actors differently, and the search
uses no symmetry. So the construction of the tables also checks that the reduction is sound.

A toy shows the reduction. In `unordered` with two actors and one message each, an actor's message
is not sent (0), on the way (1) or delivered (2). The system has nine states, written as the two
actors' numbers:

    00  01  02  10  11  12  20  21  22

A renaming of the two actors exchanges the numbers, so 01 and 10 are symmetric, as are 02 and 20,
and 12 and 21. The search keeps six representatives, and counts three of them twice:

    00  01  02  11  12  22

The search then keeps one state of each orbit (Ip and Dill, Better Verification Through Symmetry,
1996). The actors' composites have orbits of their own. The representative is the state whose
composites are ordered by the numbers of these orbits, so that comparing these numbers yields the
renaming. The search also adds up the sizes of the orbits, which yields the unreduced counts.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable
from itertools import permutations
from typing import Any, TypeAlias

from attrs import define, evolve, field

from antecede.checker.engine.rows import geometry as g
from antecede.checker.engine.rows.components import Components
from antecede.checker.model import Message, Packet, Step
from antecede.checker.semantics.history import Ghost, Pending, Stamp
from antecede.checker.semantics.transition import network_sent
from antecede.checker.semantics.values import packet_class
from antecede.checker.semantics.workload import Position, Recorded
from antecede.checker.support.errors import AntecedeError

Permutation: TypeAlias = tuple[int, ...]
"""A permutation of the actors: p[i] is the new name of actor i."""

MOST_FULLY_PERMUTED = 4
"""The most actors for which all permutations are used; larger systems use only the rotations."""


class NotSymmetricError(AntecedeError):
    """The system treats actors differently; the message names the first difference."""


def group(actors: int) -> list[Permutation]:
    """Return a group of permutations of the actors, the identity first.

    It has all permutations for up to four actors, and the rotations for more.
    """
    if actors <= MOST_FULLY_PERMUTED:
        return list(permutations(range(actors)))
    return [tuple((i + k) % actors for i in range(actors)) for k in range(actors)]


def compose(outer: Permutation, inner: Permutation) -> Permutation:
    """Return the permutation that applies `inner`, then `outer`."""
    return tuple(outer[i] for i in inner)


def renamed_message(message: Message, p: Permutation) -> Message:
    """Return `message` with its actors renamed; destinations stay in ascending order.

    A forged message may name an actor that does not exist; this name is unchanged.
    """
    destinations = tuple(sorted(_renamed(d, p) for d in message.destinations))
    return evolve(message, sender=_renamed(message.sender, p), destinations=destinations)


def renamed_messages(messages: Iterable[Message], p: Permutation) -> tuple[Message, ...]:
    """Return messages with their actors renamed, in the same order."""
    return tuple(renamed_message(message, p) for message in messages)


def renamed_position(position: Position, p: Permutation) -> Position:
    """Return a position in a workload with the actors renamed; only deliveries name actors."""
    if not isinstance(position, Recorded):
        return position
    return evolve(position, delivered=renamed_messages(position.delivered, p))


def _renamed(actor: int, p: Permutation) -> int:
    return p[actor] if 0 <= actor < len(p) else actor


def why_not(components: Components, asked: bool | None) -> str | None:
    """Return a reason not to use symmetry that is known before the search, or None.

    Args:
        components: the system's components.
        asked: the user's choice (`--symmetry`), or None for the default.
    """
    if asked is False:
        return "this search does not use it"
    system = components.system
    if not system.workload.symmetric:
        return f"the workload {system.workload.kind} names actors"
    if system.network.budget is not None:
        return "the losses are counted for all actors together"
    if system.crashes is not None:
        return "the crashes are counted for all actors together"
    if components.full and asked is None:
        return "the full history is meant to visit every state; --symmetry turns it on"
    return None


def figures(
    symmetry: Symmetry | None, reason: str | None, reduction: float | None
) -> dict[str, Any]:
    """Return statistics of the reduction, or the reason why symmetry is off.

    Args:
        symmetry: the renamings of the search, or None.
        reason: the reason why there are none.
        reduction: the number of unique states without symmetry, divided by the number of states
            that were explored; None if it is unknown.
    """
    if symmetry is None:
        return {"on": False, "reason": reason}
    permutations = len(symmetry.group)
    return {"on": True, "permutations": permutations, "reduction": reduction}


@define(eq=False)
class Symmetry:
    """The renamings of one system's components, learned along with its tables.

    Attributes:
        components: the components that are renamed.
        group: all permutations, the identity first.
        index: permutation -> its index in `group`.
        composed: [k][j] is the index of group[j] after group[k].
        states: (actor, state) -> the state's number after each permutation.
        packets: (channel, number of the packet) -> the packet after each permutation.
        learned: calls whose renamings were compared already, and these renamings.
    """

    components: Components
    group: list[Permutation] = field(init=False)
    index: dict[Permutation, int] = field(init=False)
    composed: list[list[int]] = field(init=False)
    states: dict[tuple[int, int], tuple[int, ...]] = field(factory=dict)
    packets: dict[tuple[int, int], tuple[Packet, ...]] = field(factory=dict)
    learned: set[Hashable] = field(factory=set)

    def __attrs_post_init__(self) -> None:
        """Learn the renamings of the initial states."""
        actors = self.components.system.actors
        self.group = group(actors)
        self.index = {p: k for k, p in enumerate(self.group)}
        self.composed = [[self.index[compose(q, p)] for q in self.group] for p in self.group]
        initial = self.components.initial_states()
        for i in range(actors):
            self._relate_states(i, tuple(initial[p[i]] for p in self.group), "initial states")
            sends = [self.components.system.handlers.in_flight(p[i]) for p in self.group]
            self._relate_sends(i, sends, "packets in flight at the start")

    def _relate_states(self, actor: int, images: tuple[int, ...], where: str) -> None:
        """Record that state images[0] of `actor` becomes images[k] of actor group[k][actor]."""
        earlier = self.states.get((actor, images[0]))
        if earlier == images:
            return  # then the whole orbit was recorded together
        for k, p in enumerate(self.group):
            row = tuple([images[k_after] for k_after in self.composed[k]])
            if self.states.setdefault((p[actor], images[k]), row) != row:
                raise NotSymmetricError(f"{where} differ between actors")

    def learn_send(self, actor: int, state: int, message: Message, step: Step) -> None:
        """Compare a causal_send with its renamings."""
        system = self.components.system

        if (actor, state, message) in self.learned:
            return
        for k, p in enumerate(self.group):
            image = self.states[actor, state][k]
            self.learned.add((p[actor], image, renamed_message(message, p)))

        def run(p: Permutation, renamed: int) -> Step:
            value = self.components.states[p[actor]].values[renamed]
            return system.handlers.causal_send(value, renamed_message(message, p))

        self._learn(actor, state, step, run, "causal_send")

    def learn_receive(self, actor: int, state: int, src: int, packet: Packet, step: Step) -> None:
        """Compare a receive with its renamings."""
        t = self.components
        number = t.packets.number
        if (actor, state, src, number(packet)) in self.learned:
            return
        images, states = self.images_of(t.channel_of[src, actor], packet), self.states[actor, state]
        for k, p in enumerate(self.group):
            self.learned.add((p[actor], states[k], p[src], number(images[k])))

        def run(p: Permutation, renamed: int) -> Step:
            image = images[self.index[p]]
            return t.receive_step(p[actor], renamed, p[src], image)

        self._learn(actor, state, step, run, f"receive of {packet_class(packet)}")

    def learn_internal(self, actor: int, state: int, name: str | None, step: Step | None) -> None:
        """Compare a timeout (name None) or an action with its renamings."""
        t = self.components
        rows = self.states[actor, state]
        steps = [t.internal_step(p[actor], rows[k], name) for k, p in enumerate(self.group)]
        if step is None or None in steps:
            if any(other is not None for other in (step, *steps)):
                what = "timeouts depend" if name is None else f"the action {name} depends"
                raise NotSymmetricError(f"{what} on actors' names")
            return

        def run(p: Permutation, _renamed: int) -> Step:
            renamed = steps[self.index[p]]
            assert renamed is not None
            return renamed

        self._learn(actor, state, step, run, name or "timeout")

    def _learn(
        self,
        actor: int,
        state: int,
        step: Step,
        run: Callable[[Permutation, int], Step],
        what: str,
    ) -> None:
        t = self.components
        rows = self.states[actor, state]
        steps = [step] + [run(p, rows[k]) for k, p in enumerate(self.group) if k > 0]
        where = f"results of {what}"
        images = [
            t.states[p[actor]].number(s.state) for p, s in zip(self.group, steps, strict=True)
        ]
        if len({t.shown(s.state) for s in steps}) > 1:
            raise NotSymmetricError("invariants or witnesses differ between actors")
        self._relate_states(actor, tuple(images), where)
        self._relate_sends(actor, [other.sends for other in steps], where)
        for p, other in zip(self.group, steps, strict=True):
            if renamed_messages(step.deliveries, p) != other.deliveries:
                raise NotSymmetricError(f"deliveries in {where} depend on actors' names")
        self._relate_network_sends(actor, steps, where)

    def _relate_network_sends(self, actor: int, steps: list[Step], where: str) -> None:
        """Compare the order of an actor's network-sends with its renamings, if they tick the clock.

        Otherwise, sends to different actors are independent, and `_relate_sends` compares packets
        channel by channel. Here the order across channels matters, because it decides the stamps.
        """
        if self.components.oracle.network_send is None:
            return
        first = network_sent(actor, steps[0])
        for p, other in zip(self.group, steps, strict=True):
            if renamed_messages(first, p) != network_sent(p[actor], other):
                raise NotSymmetricError(
                    f"the order of network-sends in {where} depends on actors' names"
                )

    def _relate_sends(
        self, actor: int, sends: list[tuple[tuple[int, Packet], ...]], where: str
    ) -> None:
        actors = range(self.components.system.actors)
        for dst in actors:
            rows = [
                [packet for d, packet in row if d == p[dst]]
                for p, row in zip(self.group, sends, strict=True)
            ]
            if len(set(map(len, rows))) > 1:
                raise NotSymmetricError(f"sends in {where} depend on actors' names")
            for images in zip(*rows, strict=True):
                self._relate_packets(actor, dst, images, where)

    def _relate_packets(self, src: int, dst: int, images: tuple[Packet, ...], where: str) -> None:
        channel_of, number = self.components.channel_of, self.components.packets.number
        if (src, dst) not in channel_of:
            return
        if self.packets.get((channel_of[src, dst], number(images[0]))) == images:
            return
        for k, p in enumerate(self.group):
            row = tuple([images[at] for at in self.composed[k]])
            earlier = self.packets.setdefault((channel_of[p[src], p[dst]], number(images[k])), row)
            if earlier != row:
                raise NotSymmetricError(f"packets in {where} differ between actors")

    def images_of(self, channel: int, packet: Packet) -> tuple[Packet, ...]:
        """Return the images of a channel's packet under every permutation."""
        return self.packets[channel, self.components.packets.number(packet)]

    def renamed_column(self, p: int, column: int, actor: int, value: int) -> int:
        """Return the number in a column of `actor` after renaming by group[p]."""
        t, permutation = self.components, self.group[p]
        target = permutation[actor]
        if column == g.STATE:
            return self.states[actor, value][p]
        if column == g.POSITION:
            position = renamed_position(t.positions[actor].values[value], permutation)
            return t.positions[target].number(position)
        if column == g.KNOWS:
            ghost = self.renamed_knowledge(t.knows[actor].values[value], permutation)
            return t.knows[target].number(ghost)
        if column == g.PENDING:
            pending = self.renamed_pending(t.pending[actor].values[value], permutation)
            return t.pending[target].number(pending)
        return self._renamed_channel(p, column - g.CHANNELS, actor, value)

    def _renamed_channel(self, p: int, place: int, actor: int, value: int) -> int:
        t, permutation = self.components, self.group[p]
        src, dst = [pair for pair in t.channels if pair[0] == actor][place]
        old = t.channel_of[src, dst]
        new = t.channel_of[permutation[src], permutation[dst]]
        content: tuple[Packet, ...] = ()
        for packet in t.contents[old].values[value]:
            content = t.system.network.put(content, self.images_of(old, packet)[p])
        return t.contents[new].number(content)

    def renamed_knowledge(self, ghost: Ghost, p: Permutation) -> Ghost:
        """Return one actor's knowledge with all actors renamed; `ghost` has nothing pending."""
        masks = isinstance(ghost.knows, int)
        heard = self._renamed_mask(ghost.heard, p) if masks else ghost.heard
        return evolve(ghost, knows=self._renamed_stamp(ghost.knows, p), heard=heard)

    def renamed_record(self, record: Any, p: Permutation) -> Any:
        """Return a record of the `full` history with all actors renamed.

        A record is ("sent", number, stamp) for a sent message, (sender, stamp) for a delivery.
        """
        if record is None:
            return None
        *what, stamp = record
        if len(what) == 1:
            what = [_renamed(what[0], p)]
        return (*what, self._renamed_stamp(stamp, p))

    def renamed_pending(self, pending: tuple[Pending, ...], p: Permutation) -> tuple[Pending, ...]:
        """Return one actor's undelivered messages with all actors renamed."""
        return tuple(
            Pending(
                message=renamed_message(entry.message, p),
                remaining=tuple(sorted(p[d] for d in entry.remaining)),
                stamp=self._renamed_stamp(entry.stamp, p),
                overtaken=tuple(sorted(p[d] for d in entry.overtaken)),
            )
            for entry in pending
        )

    def _renamed_stamp(self, stamp: Stamp, p: Permutation) -> Stamp:
        """Rename a vector clock, or a mask of messages; None stays None."""
        if stamp is None:
            return None
        if isinstance(stamp, int):
            return self._renamed_mask(stamp, p)
        renamed = [0] * len(stamp)
        for actor, count in enumerate(stamp):
            renamed[p[actor]] = count
        return tuple(renamed)

    def _renamed_mask(self, mask: int, p: Permutation) -> int:
        """Rename a mask of (sender, number, destination); see `checker.semantics.history`."""
        system = self.components.system
        actors, most = system.actors, system.workload.most
        renamed = 0
        while mask:
            low = mask & -mask
            mask ^= low
            rest, destination = divmod(low.bit_length() - 1, actors)
            sender, number = divmod(rest, most)
            renamed |= 1 << ((p[sender] * most + number) * actors + p[destination])
        return renamed
