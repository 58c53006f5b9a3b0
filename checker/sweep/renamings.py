"""Whether a check would find the same if the actors had other names.

A script and its renaming have the same result if every call of a handler and of a predicate that
the check of the script made returns the renamed result for renamed arguments. The check therefore
explores a system that compares each call with its renamings, as it is made. `Symmetry` learns the
renamings of states and packets from these calls.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from attrs import define, evolve, field

from antecede.checker.engine.rows import geometry as g
from antecede.checker.engine.rows.components import Components, call_of
from antecede.checker.engine.rows.symmetry import (
    NotSymmetricError,
    Permutation,
    Symmetry,
    renamed_message,
    renamed_messages,
)
from antecede.checker.model import (
    Delivery,
    LocalState,
    Message,
    Packet,
    Property,
    Protocol,
    Step,
    What,
)
from antecede.checker.semantics.crashes import Crashed
from antecede.checker.semantics.judge import looks_at_message
from antecede.checker.semantics.transition import System
from antecede.checker.support.errors import AntecedeError


@define(eq=False)
class Renamings:
    """Compares the calls of one check with their renamings.

    A handler is not told which actor it acts for. So a call is compared for each actor that has
    been in this state, and that has been sent this packet.

    Attributes:
        difference: the first call that treats actors differently, or None if there is none.
    """

    difference: str | None = "no call was compared"
    _symmetry: Symmetry = field(init=False)
    _compared: set[Any] = field(factory=set)

    def watching(self, system: System) -> System:
        """Return a system that compares the calls of its handlers and predicates."""
        if system.crashes is not None:  # some actors may not crash, and recoveries get a name
            self.difference = "actors may crash"
            return system
        try:
            self._symmetry = Symmetry(Components(system, self_channels=True))
        except AntecedeError as reason:
            self.difference = str(reason)
            return system
        self.difference = None
        properties = tuple(map(self._watched, system.properties))
        return evolve(system, protocol=self._watching(system.protocol), properties=properties)

    def _watching(self, protocol: Protocol) -> Protocol:
        """Return a protocol that compares the calls of its handlers."""

        def causal_send(state: LocalState, message: Message) -> Step:
            self._compare(self._learn_send, state, message)
            return protocol.causal_send(state, message)

        def receive(state: LocalState, src: int, packet: Packet) -> Step:
            self._compare(self._learn_receive, state, src, packet)
            return protocol.receive(state, src, packet)

        def internal(
            name: str | None, act: Callable[[LocalState], Step | None]
        ) -> Callable[[LocalState], Step | None]:
            def acts(state: LocalState) -> Step | None:
                self._compare(self._learn_internal, state, name)
                return act(state)

            return acts

        return evolve(
            protocol,
            causal_send=causal_send,
            receive=receive,
            timeout=None if protocol.timeout is None else internal(None, protocol.timeout),
            actions={name: internal(name, act) for name, act in protocol.actions.items()},
        )

    def _compare(self, learn: Callable[..., None], *args: Any) -> None:
        """Compare a call with its renamings, unless some call differs already."""
        if self.difference is None:
            try:
                learn(*args)
            except Exception as reason:  # a predicate of a user can raise anything
                self.difference = str(reason)

    def _actors_in(self, state: LocalState) -> list[tuple[int, int]]:
        """Return each actor that has been in a state, with the number of the state."""
        found = []
        for actor, states in enumerate(self._symmetry.components.states):
            number = states.numbers.get(state)
            if number is not None and (actor, number) in self._symmetry.states:
                found.append((actor, number))
        if not found:
            raise NotSymmetricError(f"no call that was compared returned {state!r}")
        return found

    def _learn_send(self, state: LocalState, message: Message) -> None:
        number = dict(self._actors_in(state))[message.sender]
        argument = self._symmetry.components.messages.number(message)
        self._symmetry.learn(call_of(g.SEND, message.sender, number, argument))

    def _learn_receive(self, state: LocalState, src: int, packet: Packet) -> None:
        t = self._symmetry.components
        argument, compared = t.packets.number(packet), False
        for actor, number in self._actors_in(state):
            channel = t.channel_of[src, actor]
            if (channel, argument) in self._symmetry.packets:
                self._symmetry.learn(call_of(g.RECEIVE, channel, number, argument))
                compared = True
        if not compared:
            raise NotSymmetricError(f"no call that was compared sent {packet!r}")

    def _learn_internal(self, state: LocalState, name: str | None) -> None:
        place = self._symmetry.components.internals.index(name)
        for actor, number in self._actors_in(state):
            self._symmetry.learn(call_of(g.INTERNAL, actor, number, place))

    def _is_new(self, call: Any) -> bool:
        """Return whether a call has not been compared yet, and note it."""
        new = call not in self._compared
        self._compared.add(call)
        return new

    def _watched(self, prop: Property) -> Property:
        """Return a property that compares the calls of its predicate.

        `Symmetry` itself compares predicates on the state of one actor. A predicate on ends of
        workloads is given no name.
        """
        if prop.what is What.LOCAL_STATE and prop.at_end:
            return evolve(prop, predicate=self._watching_one_state(prop))
        renamed = _RENAMED.get(prop.what)
        if renamed is None or (prop.what is What.DELIVERY and not looks_at_message(prop)):
            return prop

        def learn(thing: Any, answer: bool) -> None:
            if not self._is_new((prop.name, thing)):
                return
            for p in self._symmetry.group:
                if bool(prop.predicate(renamed(self._symmetry, thing, p))) != bool(answer):
                    raise NotSymmetricError(f"{prop.name} depends on actors' names")

        def predicate(thing: Any) -> bool:
            answer = prop.predicate(thing)
            self._compare(learn, thing, answer)
            return answer

        return evolve(prop, predicate=predicate)

    def _watching_one_state(self, prop: Property) -> Callable[[LocalState], bool]:
        """Return a predicate on final states of one actor that compares its calls."""

        def learn(state: LocalState, answer: bool) -> None:
            known = self._symmetry.components.states
            for actor, number in self._actors_in(state) if self._is_new((prop.name, state)) else ():
                images = self._symmetry.states[actor, number]
                for p, image in zip(self._symmetry.group, images, strict=True):
                    if bool(prop.predicate(known[p[actor]].values[image])) != bool(answer):
                        raise NotSymmetricError(f"{prop.name} depends on actors' names")

        def predicate(state: LocalState) -> bool:
            answer = prop.predicate(state)
            self._compare(learn, state, answer)
            return answer

        return predicate


def _renamed_delivery(_symmetry: Symmetry, delivery: Delivery, p: Permutation) -> Delivery:
    return evolve(delivery, actor=p[delivery.actor], message=renamed_message(delivery.message, p))


def _renamed_undelivered(
    _symmetry: Symmetry, messages: tuple[Message, ...], p: Permutation
) -> tuple[Message, ...]:
    return renamed_messages(messages, p)


def _renamed_sequences(
    _symmetry: Symmetry, sequences: tuple[tuple[Message, ...], ...], p: Permutation
) -> tuple[tuple[Message, ...], ...]:
    renamed = list(sequences)
    for actor, delivered in enumerate(sequences):
        crashed = isinstance(delivered, Crashed)
        renamed[p[actor]] = delivered if crashed else renamed_messages(delivered, p)
    return tuple(renamed)


def _renamed_states(
    symmetry: Symmetry, states: tuple[LocalState, ...], p: Permutation
) -> tuple[LocalState, ...]:
    renamed, known, k = list(states), symmetry.components.states, symmetry.index[p]
    for actor, state in enumerate(states):
        image = symmetry.states[actor, known[actor].numbers[state]][k]
        renamed[p[actor]] = known[p[actor]].values[image]
    return tuple(renamed)


_RENAMED: dict[What, Callable[[Symmetry, Any, Permutation], Any]] = {
    What.DELIVERY: _renamed_delivery,
    What.UNDELIVERED: _renamed_undelivered,
    What.PARTLY_DELIVERED: _renamed_undelivered,
    What.GLOBAL_STATE: _renamed_states,
    What.SEQUENCES: _renamed_sequences,
}
"""What a predicate is about -> (the renamings, its argument, p) -> its argument under p."""
