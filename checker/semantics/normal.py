"""Normal forms: global states of a protocol without the counters that all actors have passed.

A protocol that counts forever has an infinite state graph, even if it depends only on the order of
its counters or on their differences. It may declare how to write all actors' states and all packets
without the common past (`Protocol.normal`). Under an endless workload a state then represents all
states with the same normal form.

This is sound if the form commutes with every transition (see `checker.purity.commutes`). An
envelope that stays in flight changes its form only finitely often, because only the past grows. So
it has a constant form from some point of an infinite run on, and fairness can refer to it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import reduce

from attrs import evolve

from antecede.checker.model import (
    Envelope,
    Lose,
    NormalForm,
    Normaliser,
    Packet,
    Receive,
    State,
    Transition,
)
from antecede.checker.semantics.network import Network


def envelopes_of(state: State) -> tuple[Envelope, ...]:
    """Return the packets in flight in a state, each with its source and destination."""
    actors = len(state.actors)
    return tuple(
        Envelope(*divmod(at, actors), packet)
        for at, channel in enumerate(state.channels)
        for packet in channel
    )


def renaming_of(normal: Normaliser, state: State) -> NormalForm:
    """Return the renaming that writes `state` in normal form."""
    return normal(state.actors, envelopes_of(state))


def normal_form(normal: Normaliser, network: Network, state: State) -> State:
    """Return the normal form of a state."""
    renaming, actors = renaming_of(normal, state), len(state.actors)
    channels = []
    for at, channel in enumerate(state.channels):
        packets = (renaming.packet(Envelope(*divmod(at, actors), packet)) for packet in channel)
        channels.append(reduce(network.put, packets, ()))
    locals_ = tuple(renaming.state(actor, local) for actor, local in enumerate(state.actors))
    return evolve(state, actors=locals_, channels=tuple(channels))


def rewritten(
    transition: Transition, state: State, network: Network, write: Callable[[Envelope], Packet]
) -> Transition:
    """Return the transition that corresponds to one of `state` if all packets are rewritten.

    A loss is named by its place in the channel. Rewriting may change the order of the packets.
    """
    if not isinstance(transition, Receive | Lose):
        return transition
    src, dst = transition.src, transition.dst

    def written(packets: Iterable[Packet]) -> tuple[Packet, ...]:
        return tuple(write(Envelope(src, dst, packet)) for packet in packets)

    (packet,) = written([transition.packet])
    if isinstance(transition, Receive):
        return evolve(transition, packet=packet)
    assert network.lose is not None
    channel = state.channels[src * len(state.actors) + dst]
    _, rest = network.lose(channel)[transition.place]
    before, after = (reduce(network.put, written(packets), ()) for packets in (channel, rest))
    places = (place for place, (_, left) in enumerate(network.lose(before)) if left == after)
    return evolve(transition, packet=packet, place=next(places, transition.place))
