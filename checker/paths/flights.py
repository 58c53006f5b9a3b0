"""Packets in flight along a path: where each was network-sent, received and lost."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from attrs import define, frozen

from antecede.checker.model import Lose, Message, Packet, Receive
from antecede.checker.paths.path import Path, PathStep
from antecede.checker.semantics.values import contains, message_in


@define(eq=False)
class Flight:
    """A packet that was network-sent.

    Attributes:
        src: who sent it.
        dst: where it goes.
        packet: the packet.
        sent: the step that sent it.
        receptions: the steps that receive it; more than one where a network duplicates.
        lost: the step that loses it.
        gone: it cannot be received any more.
        in_flight: it is still on its way when the path ends, and was never received.
    """

    src: int
    dst: int
    packet: Packet
    sent: PathStep
    receptions: list[PathStep]
    lost: PathStep | None = None
    gone: bool = False
    in_flight: bool = False

    @property
    def control(self) -> bool:
        """It carries no message."""
        return message_in(self.packet) is None


@frozen(eq=False)
class Flights:
    """All packets of a path.

    Attributes:
        every: in network-send order.
        met: step number -> what that step receives or loses.
        sent: step number -> what that step sends, in order.
    """

    every: tuple[Flight, ...]
    met: dict[int, Flight]
    sent: dict[int, tuple[Flight, ...]]

    @property
    def in_flight(self) -> tuple[Flight, ...]:
        """Return what is on its way when the path ends and was never received."""
        return tuple(f for f in self.every if f.in_flight)

    def carrying(self, message: Message, to: int, by: int) -> Flight | None:
        """Return what brought `message` to an actor at or before the step numbered `by`."""
        for flight in self.every:
            arrived = flight.dst == to and any(s.number <= by for s in flight.receptions)
            if arrived and contains(flight.packet, message):
                return flight
        return None


def flights_of(path: Path) -> Flights:
    """Follow the packets of `path`; of equal ones, that which was sent first is received first."""
    every: list[Flight] = []
    met: dict[int, Flight] = {}
    sent: dict[int, tuple[Flight, ...]] = {}
    for step in path.steps:
        if isinstance(step.transition, Receive | Lose):
            met[step.number] = _meet(every, step, step.transition)
        sent[step.number] = tuple(Flight(step.actor, d, p, step, []) for d, p in step.step.sends)
        every.extend(sent[step.number])
    _mark_in_flight(path, every)
    return Flights(tuple(every), met, sent)


def _meet(every: list[Flight], step: PathStep, transition: Receive | Lose) -> Flight:
    key = (transition.src, transition.dst, transition.packet)
    flight = next(f for f in every if not f.gone and (f.src, f.dst, f.packet) == key)
    if isinstance(transition, Lose):
        flight.lost = step
    else:
        flight.receptions.append(step)
    flight.gone = not (isinstance(transition, Receive) and transition.stays)
    return flight


def _mark_in_flight(path: Path, every: list[Flight]) -> None:
    """Mark as many flights as the last state holds: some networks merge equal packets."""
    left = Counter(_channels(path))
    for flight in every:
        key = (flight.src, flight.dst, flight.packet)
        if not flight.gone and left[key]:
            left[key] -= 1
            flight.in_flight = not flight.receptions


def _channels(path: Path) -> Iterator[tuple[int, int, Packet]]:
    last = path.steps[-1].state if path.steps else path.initial
    for (src, dst), channel in zip(path.system.pairs, last.channels, strict=True):
        for packet in channel:
            yield src, dst, packet
