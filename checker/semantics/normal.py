"""Normal forms: a state of a protocol that only compares its counters, without what is past.

Such a protocol counts for ever, and its graph is infinite, though nothing but the order of its
counters, or how far they are apart, ever matters. It may declare how to write all actors' states
and all packets without what everybody has passed (`Protocol.normal`). Under an endless workload a
state stands for all those that have the same normal form.

That is sound if the form commutes with every transition (see `checker.purity.commutes`). An
envelope that stays in flight changes its form only finitely often, for nothing but the past grows;
so on a run without end it has one form from some point on, and fairness can speak of it.
"""

from __future__ import annotations

from functools import reduce

from attrs import evolve

from antecede.checker.model import (
    Envelope,
    Lose,
    NormalForm,
    Receive,
    Renaming,
    State,
    Transition,
)
from antecede.checker.semantics.network import Network


def renaming_of(normal: NormalForm, state: State) -> Renaming:
    """Return how a protocol's normal form writes one state."""
    actors = len(state.actors)
    flying = (
        Envelope(*divmod(at, actors), packet)
        for at, channel in enumerate(state.channels)
        for packet in channel
    )
    return normal(state.actors, tuple(flying))


def normal_form(normal: NormalForm, network: Network, state: State) -> State:
    """Return a state as a protocol's normal form writes it."""
    renaming, actors = renaming_of(normal, state), len(state.actors)
    channels = []
    for at, channel in enumerate(state.channels):
        packets = (renaming.packet(Envelope(*divmod(at, actors), packet)) for packet in channel)
        channels.append(reduce(network.put, packets, ()))
    locals_ = tuple(renaming.state(actor, local) for actor, local in enumerate(state.actors))
    return evolve(state, actors=locals_, channels=tuple(channels))


def renamed(transition: Transition, renaming: Renaming) -> Transition:
    """Return a transition of a state as it is called in the state's normal form."""
    if not isinstance(transition, Receive | Lose):
        return transition
    envelope = Envelope(transition.src, transition.dst, transition.packet)
    return evolve(transition, packet=renaming.packet(envelope))
