"""The reason why each step of a cycle can repeat: a packet sent in this round or the last one."""

from __future__ import annotations

from collections import defaultdict

from antecede.checker.model import CausalSend, Receive
from antecede.checker.paths.flights import Flight, flights_of
from antecede.checker.paths.path import Path, PathStep
from antecede.checker.render.prose import listed


def why_again(path: Path) -> str:
    """Return a sentence that says why each step of the cycle can repeat."""
    loop = path.loop
    assert loop is not None, "only a run without end repeats"
    steps = path.steps[loop.after :]
    met, before = flights_of(path).met, _of_the_round_before(path)
    sends = [str(s.number) for s in steps if isinstance(s.transition, CausalSend)]
    parts = [f"in {listed(sends)} the application goes on"]
    for step in steps:
        flight = met.get(step.number)
        if isinstance(step.transition, Receive) and flight is not None:
            parts.append(_received(step, flight, loop.after, before))
        elif not isinstance(step.transition, CausalSend):
            parts.append(f"{step.number} is enabled again")
    return f"Why each step comes again: {'; '.join(parts)}."


def _received(step: PathStep, flight: Flight, after: int, before: dict[int, int]) -> str:
    """Return the packet that a step receives and the step that sends it, in words."""
    what = type(flight.packet).__name__
    if flight.since > after:
        return f"{step.number} receives the {what} of {flight.since}"
    if (sender := before.get(step.number)) is not None:
        return f"{step.number} receives the {what} that {sender} sends in the round before"
    return f"{step.number} receives a {what} that stays in flight"


def _of_the_round_before(path: Path) -> dict[int, int]:
    """Return a mapping: step that receives a packet from before the cycle -> its sender later.

    In later rounds, such a step receives a packet of the previous round. The state repeats, so each
    round leaves as many packets of a class on a channel as it takes from the previous round.
    """
    assert path.loop is not None
    left, flights = defaultdict[tuple[int, int, str], list[int]](list), flights_of(path)
    for flight in flights.every:
        if flight.since > path.loop.after and flight.in_flight:
            left[flight.src, flight.dst, type(flight.packet).__name__].append(flight.since)
    senders = dict[int, int]()
    for number, flight in sorted(flights.met.items()):
        waiting = left[flight.src, flight.dst, type(flight.packet).__name__]
        if path.loop.covers(number) and not path.loop.covers(flight.since) and waiting:
            senders[number] = waiting.pop(0)
    return senders
