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

Question: When are two states symmetric, and where are they merged?
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from itertools import permutations, repeat
from typing import Any, TypeAlias

from attrs import define, evolve, field

from antecede.checker.engine.rows import geometry as g
from antecede.checker.engine.rows.components import (
    NOT_ENABLED,
    Components,
    call_of,
    in_call,
    in_result,
)
from antecede.checker.model import Message, Packet
from antecede.checker.semantics.history import Ghost, Pending, Stamp
from antecede.checker.semantics.transition import network_sent
from antecede.checker.semantics.values import packet_class
from antecede.checker.semantics.workload import Position, Recorded
from antecede.checker.support.errors import AntecedeError

Place: TypeAlias = tuple[int, int]
"""A column and its actor."""

Permutation: TypeAlias = tuple[int, ...]
"""A permutation of the actors: p[i] is the new name of actor i."""

Sends: TypeAlias = tuple[tuple[int, Packet], ...]
"""What a call sends: pairs of a destination and a packet, in order."""

MOST_FULLY_PERMUTED = 4
"""The most actors for which all permutations are used; larger systems use only the rotations."""


class NotSymmetricError(AntecedeError):
    """The system treats actors differently; the message names the first difference."""


def group(actors: int) -> list[Permutation]:
    """Return the permutations of the actors, a group, the identity first: p[i] is i's new number.

    Up to four actors have all permutations. More actors have only the rotations.
    """
    if actors <= MOST_FULLY_PERMUTED:
        return list(permutations(range(actors)))
    return [tuple((i + k) % actors for i in range(actors)) for k in range(actors)]


def compose(outer: Permutation, inner: Permutation) -> Permutation:
    """Return the permutation of the actors that applies `inner` first, and then `outer`."""
    return tuple(outer[i] for i in inner)


def renamed_message(message: Message, p: Permutation) -> Message:
    """Return a message with its sender and destinations renamed, and all else unchanged.

    A number that is no actor, as a forged message may have, is kept.

    Examples:
        >>> message = renamed_message(Message(sender=0, number=1, destinations=(1, 2)), (2, 0, 1))
        >>> message.sender, message.destinations
        (2, (0, 1))
    """
    destinations = tuple(sorted(_renamed(d, p) for d in message.destinations))
    return evolve(message, sender=_renamed(message.sender, p), destinations=destinations)


def renamed_messages(messages: Iterable[Message], p: Permutation) -> tuple[Message, ...]:
    """Return messages with their senders and destinations renamed, in the same order."""
    return tuple(renamed_message(message, p) for message in messages)


def renamed_position(position: Position, p: Permutation) -> Position:
    """Return a position in a workload with the actors renamed; only deliveries name actors."""
    if not isinstance(position, Recorded):
        return position
    return evolve(position, delivered=renamed_messages(position.delivered, p))


def _renamed(actor: int, p: Permutation) -> int:
    return p[actor] if 0 <= actor < len(p) else actor


def why_not(components: Components, asked: bool | None) -> str | None:
    """Return the reason why a search does not use symmetry, as text for reports, or None if it may.

    Even then, the protocol may turn out to treat actors differently.

    Args:
        asked: the user's choice (--symmetry, --no-symmetry), or None for the default.
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
    """Return the statistics of symmetry reduction for reports, as JSON values by name.

    Args:
        symmetry, reason: the renamings of the search, or None and why symmetry is off.
        reduction: unique states without symmetry, divided by the states explored, or None.
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
        packets: (channel, packet) -> the packet's number after each permutation.
        messages: a message -> its number after each permutation.
        compared: (actor, effects after each permutation) of effects that are renamings.
    """

    components: Components
    group: list[Permutation] = field(init=False)
    index: dict[Permutation, int] = field(init=False)
    composed: list[list[int]] = field(init=False)
    states: dict[tuple[int, int], tuple[int, ...]] = field(factory=dict)
    packets: dict[tuple[int, int], tuple[int, ...]] = field(factory=dict)
    messages: dict[int, tuple[int, ...]] = field(factory=dict)
    compared: set[tuple[int, tuple[int, ...]]] = field(factory=set)

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

    def learn(self, call: int) -> None:
        """Make a call of the protocol and its renamings, and compare their results, but only once.

        Raises:
            NotSymmetricError: the results are no renamings of each other.
        """
        t, made = self.components, dict[int, int]()
        if call in t.results:
            return
        calls = self._renamed_calls(call)
        for each in calls:
            if each not in made:  # a renaming may leave a call as it is
                made[each] = t.make(each)
        self._relate_results(call, [made[each] for each in calls])
        t.results.update(made)  # not before: an orbit in `results` was compared

    def _renamed_calls(self, call: int) -> list[int]:
        """Return a call after each permutation."""
        kind, column, state, argument = in_call(call)
        t, actor = self.components, self._actor_of(call)
        columns = [p[actor] for p in self.group]
        arguments: Iterable[int] = repeat(argument)
        if kind == g.SEND:
            arguments = self._renamed_message_numbers(argument)
        elif kind == g.RECEIVE:
            src, arguments = t.channels[column][0], self.packets[column, argument]
            columns = [t.channel_of[p[src], p[actor]] for p in self.group]
        images = zip(columns, self.states[actor, state], arguments, strict=False)
        return [call_of(kind, *image) for image in images]

    def _actor_of(self, call: int) -> int:
        kind, column, _, _ = in_call(call)
        return self.components.channels[column][1] if kind == g.RECEIVE else column

    def _renamed_message_numbers(self, message: int) -> tuple[int, ...]:
        images, messages = self.messages.get(message), self.components.messages
        if images is None:
            renamed = [renamed_message(messages.values[message], p) for p in self.group]
            images = self.messages[message] = tuple(map(messages.number, renamed))
        return images

    def _relate_results(self, call: int, results: list[int]) -> None:
        """Compare the result of a call with the results of the renamed calls."""
        t, actor = self.components, self._actor_of(call)
        if NOT_ENABLED in results:
            if any(result != NOT_ENABLED for result in results):
                name = t.internals[in_call(call)[3]]
                what = "timeouts depend" if name is None else f"the action {name} depends"
                raise NotSymmetricError(f"{what} on actors' names")
            return
        states, effects = zip(*map(in_result, results), strict=True)
        if t.asks_of_states:
            values = [t.states[p[actor]].values[n] for p, n in zip(self.group, states, strict=True)]
            if len(set(map(t.shown, values))) > 1:
                raise NotSymmetricError("invariants or witnesses differ between actors")
        if self.states.get((actor, states[0])) != states:
            self._relate_states(actor, states, f"results of {self._what(call)}")
        if any(effects) and (actor, effects) not in self.compared:
            self._relate_effects(actor, effects, f"results of {self._what(call)}")
            self.compared.add((actor, effects))

    def _what(self, call: int) -> str:
        """Return a description of a call for errors."""
        kind, _, _, argument = in_call(call)
        t = self.components
        if kind == g.RECEIVE:
            return f"receive of {packet_class(t.packets.values[argument])}"
        return "causal_send" if kind == g.SEND else t.internals[argument] or "timeout"

    def _relate_effects(self, actor: int, effects: tuple[int, ...], where: str) -> None:
        """Compare sends and deliveries of `actor` with those of the renamed calls."""
        images = [self.components.effects.values[number] for number in effects]
        self._relate_sends(actor, [sends for sends, _ in images], where)
        for p, (_, deliveries) in zip(self.group, images, strict=True):
            if renamed_messages(images[0][1], p) != deliveries:
                raise NotSymmetricError(f"deliveries in {where} depend on actors' names")
        self._relate_network_sends(actor, [sends for sends, _ in images], where)

    def _relate_network_sends(self, actor: int, sends: list[Sends], where: str) -> None:
        """Compare the order of an actor's network-sends with its renamings, if clocks tick then."""
        if self.components.oracle.network_send is None:
            return
        # The order across channels matters here, because it decides the stamps. Other sends to
        # different actors are independent, so `_relate_sends` compares channel by channel.
        first = network_sent(actor, sends[0])
        for p, other in zip(self.group, sends, strict=True):
            if renamed_messages(first, p) != network_sent(p[actor], other):
                raise NotSymmetricError(
                    f"the order of network-sends in {where} depends on actors' names"
                )

    def _relate_sends(self, actor: int, sends: list[Sends], where: str) -> None:
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
        channel_of = self.components.channel_of
        if (src, dst) not in channel_of:
            return
        numbers = tuple(map(self.components.packets.number, images))
        if self.packets.get((channel_of[src, dst], numbers[0])) == numbers:
            return
        for k, p in enumerate(self.group):
            row = tuple([numbers[at] for at in self.composed[k]])
            earlier = self.packets.setdefault((channel_of[p[src], p[dst]], numbers[k]), row)
            if earlier != row:
                raise NotSymmetricError(f"packets in {where} differ between actors")

    def renamed_column(self, p: int, column: int, actor: int, value: int) -> int:
        """Return what a number in a column of `actor` becomes under group[p].

        The result belongs to the same column of the actor to which `actor` is renamed.
        """
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

    def renamings_of(self, numbers: Mapping[Place, int]) -> Iterator[dict[Place, int]]:
        """Yield what numbers, by column and actor, become under each renaming of the group."""
        for p, permutation in enumerate(self.group):
            yield {
                (column, permutation[actor]): self.renamed_column(p, column, actor, number)
                for (column, actor), number in numbers.items()
            }

    def _renamed_channel(self, p: int, place: int, actor: int, value: int) -> int:
        t, permutation = self.components, self.group[p]
        src, dst = [pair for pair in t.channels if pair[0] == actor][place]
        old = t.channel_of[src, dst]
        new = t.channel_of[permutation[src], permutation[dst]]
        content: tuple[Packet, ...] = ()
        for packet in t.contents[old].values[value]:
            image = self.packets[old, t.packets.number(packet)][p]
            content = t.system.network.put(content, t.packets.values[image])
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
