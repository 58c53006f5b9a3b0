"""Packets of a path, with the steps that send, receive and lose them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from attrs import define, frozen

from antecede.checker.model import Lose, Message, Packet, Receive, State, What
from antecede.checker.paths.path import Path, PathStep
from antecede.checker.semantics.values import contains, message_in


@define(eq=False)
class Flight:
    """A packet that was network-sent.

    Attributes:
        sent: the step that sent it; None if it is in flight from the start.
        receptions: the steps that receive it; more than one where a network duplicates.
        gone: whether it cannot be received any more.
        in_flight: whether it is in flight when the path ends, and was never received.
        place: its index among the packets that its step sent to its destination.
        matters: whether the run may end as it does because this packet has not arrived.
    """

    src: int
    dst: int
    packet: Packet
    sent: PathStep | None
    receptions: list[PathStep]
    lost: PathStep | None = None
    gone: bool = False
    in_flight: bool = False
    place: int = 0
    matters: bool = False

    @property
    def since(self) -> int:
        """The number of the step that sent it, 0 for the start."""
        return 0 if self.sent is None else self.sent.number

    @property
    def control(self) -> bool:
        """Whether it is a control packet, which contains no message."""
        return message_in(self.packet) is None

    @property
    def drawn(self) -> bool:
        """Whether diagrams draw it: control packets in flight are left out unless they matter."""
        met = bool(self.receptions) or self.lost is not None
        return met or (self.in_flight and (self.matters or not self.control))


@frozen(eq=False)
class Flights:
    """All packets of a path.

    Some networks hold equal packets once. There a send adds no packet if an equal one is in flight.

    Attributes:
        every: all packets in network-send order; packets in flight from the start come first.
        met: step number -> the packet that the step receives or loses.
        sent: step number -> the packets that the step sends, in order; 0 stands for the start.
    """

    every: tuple[Flight, ...]
    met: dict[int, Flight]
    sent: dict[int, tuple[Flight, ...]]

    @property
    def in_flight(self) -> tuple[Flight, ...]:
        """Return the packets that are in flight when the path ends and were never received."""
        return tuple(f for f in self.every if f.in_flight)

    def is_control(self, step: PathStep) -> bool:
        """Return whether a step is about control packets only."""
        flight = self.met.get(step.number)
        if flight is None or not flight.control or step.deliveries:
            return False
        return all(f.control for f in self.sent[step.number])

    def carrying(self, message: Message, to: int, by: int) -> Flight | None:
        """Return the packet that brought `message` to an actor in step `by` or before, or None."""
        for flight in self.every:
            arrived = flight.dst == to and any(s.number <= by for s in flight.receptions)
            if arrived and contains(flight.packet, message):
                return flight
        return None


def flights_of(path: Path) -> Flights:
    """Return the packets of `path`. Equal packets are received in the order of their sending."""
    every = [Flight(src, dst, p, None, []) for src, dst, p in _channels(path, path.initial)]
    met: dict[int, Flight] = {}
    sent: dict[int, tuple[Flight, ...]] = {0: tuple(every)}
    for step in path.steps:
        if isinstance(step.transition, Receive | Lose):
            flight = _meet(every, step, step.transition)
            if flight is not None:
                met[step.number] = flight
        before = path.initial if step.number == 1 else path.steps[step.number - 2].state
        sent[step.number] = tuple(_sent_by(path, before, step))
        every.extend(sent[step.number])
    _mark_in_flight(path, every)
    if path.violated is None or path.violated.what is not What.DELIVERY:
        # A wrong delivery is explained by messages; a state or an end, also by what is missing.
        for flight in every:
            flight.matters = flight.in_flight
    return Flights(tuple(every), met, sent)


def _sent_by(path: Path, before: State, step: PathStep) -> Iterator[Flight]:
    """Yield the packets that a step adds to the network.

    If only some of several equal packets are added, they are the first ones.
    """
    actors, transition = path.system.actors, step.transition
    places: Counter[int] = Counter()
    new: dict[tuple[int, Packet], int] = {}
    for dst, packet in step.step.sends:
        if (dst, packet) not in new:
            channel = step.actor * actors + dst
            had = before.channels[channel].count(packet)
            if isinstance(transition, Receive | Lose) and not _stays(transition):
                had -= (transition.src, transition.dst, transition.packet) == (
                    step.actor,
                    dst,
                    packet,
                )
            new[dst, packet] = step.state.channels[channel].count(packet) - had
        if new[dst, packet] > 0:
            new[dst, packet] -= 1
            yield Flight(step.actor, dst, packet, step, [], place=places[dst])
        places[dst] += 1


def _stays(transition: Receive | Lose) -> bool:
    return isinstance(transition, Receive) and transition.stays


def _meet(every: list[Flight], step: PathStep, transition: Receive | Lose) -> Flight | None:
    """Return the first packet equal to the one that a step receives or loses, or None."""
    key = (transition.src, transition.dst, transition.packet)
    flight = next((f for f in every if not f.gone and (f.src, f.dst, f.packet) == key), None)
    if flight is None:
        return None
    if isinstance(transition, Lose):
        flight.lost = step
    else:
        flight.receptions.append(step)
    flight.gone = not _stays(transition)
    return flight


def _mark_in_flight(path: Path, every: list[Flight]) -> None:
    """Mark the packets in the last state. Some networks merge equal ones, so they are counted."""
    left = Counter(_channels(path, path.last))
    for flight in every:
        key = (flight.src, flight.dst, flight.packet)
        if not flight.gone and left[key]:
            left[key] -= 1
            flight.in_flight = not flight.receptions


def _channels(path: Path, state: State) -> Iterator[tuple[int, int, Packet]]:
    for (src, dst), channel in zip(path.system.pairs, state.channels, strict=True):
        for packet in channel:
            yield src, dst, packet
