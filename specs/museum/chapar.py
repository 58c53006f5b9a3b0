"""Chapar's second key-value store: verified, on a network that never duplicates.

M. Lesani, C. Bell, A. Chlipala: Chapar: certified causally consistent distributed key-value
stores. POPL 2016, Algorithm 2; coq-community/chapar, coq/Algorithms/KVSAlg2.v at commit 1355a8dd.
What is wrong outside of its proof: issue 3 of that repository (2016). Names are the source's.

An update carries the dependencies of its put, pairs of a node and its clock. A node applies it once
it has received of each such node the update with that clock, or a later one (`guard_method`), and
then notes the update's own clock (`update_method`). Nothing asks whether the update was applied
before: the proof's network delivers each message once, the UDP below the extracted program does
not. An update that comes again is applied again, and takes `received` and the store back.

Differences: what is delivered is an update, which every client reads at once (`get_method` adds it
to the dependencies), so that causality is that of messages; there is one key, and values are left
out. As there, a put's update goes to all other nodes.
"""

from __future__ import annotations

from functools import partial
from typing import TypeAlias

from attrs import evolve, frozen

from antecede import Message, Protocol, Step

Clock: TypeAlias = int
Dependencies: TypeAlias = frozenset[tuple[int, Clock]]


@frozen
class Update:
    """UpdateRec: who put, as which of its puts, and what that depends on."""

    message: Message
    sender_clock: Clock
    sender_dep: Dependencies


@frozen
class Held:
    """An update whose guard is not satisfied yet; the source leaves it in the network."""

    src: int
    update: Update


@frozen
class Store:
    """StateRec without the store itself."""

    me: int
    received: tuple[Clock, ...]
    clock: Clock = 0
    dep: Dependencies = frozenset()
    waiting: tuple[Held, ...] = ()


def initial(actor: int, actors: int) -> Store:
    """init_method."""
    return Store(actor, (0,) * actors)


def put(state: Store, message: Message) -> Step:
    """put_method: the next clock; from now on everything depends on this put alone."""
    clock = state.clock + 1
    update = Update(message, clock, state.dep)
    received = replaced(state.received, state.me, clock)
    state = evolve(state, clock=clock, dep=frozenset({(state.me, clock)}), received=received)
    return Step(state, sends=tuple((node, update) for node in message.destinations))


def receive(once: bool, state: Store, src: int, update: Update) -> Step:
    """Apply what can be applied now, the new update first."""
    waiting = [Held(src, update), *state.waiting]
    deliveries: list[Message] = []
    while ready := [held for held in waiting if guard(state, held.update)]:
        held = ready[0]
        waiting.remove(held)
        if not once or held.update.sender_clock > state.received[held.src]:  # REPAIRED: if once
            state = applied(state, held)
            deliveries.append(held.update.message)
    order = sorted(set(waiting), key=lambda held: (held.src, held.update.sender_clock))
    return Step(evolve(state, waiting=tuple(order)), deliveries=tuple(deliveries))


def guard(state: Store, update: Update) -> bool:
    """guard_method: all that the put depends on was received."""
    return all(clock <= state.received[node] for node, clock in update.sender_dep)


def applied(state: Store, held: Held) -> Store:
    """update_method; then get_method, for the client reads the value."""
    clock = held.update.sender_clock
    return evolve(
        state,
        received=replaced(state.received, held.src, clock),
        dep=state.dep | {(held.src, clock)},
    )


def replaced(values: tuple[Clock, ...], index: int, value: Clock) -> tuple[Clock, ...]:
    """Return the tuple with another value there."""
    return (*values[:index], value, *values[index + 1 :])


def never_goes_back(state: Store) -> bool:
    """What a client has read is not older than what is in the store now."""
    return all(clock <= state.received[node] for node, clock in state.dep)


def variant(name: str, summary: str, *, once: bool) -> Protocol:
    """Return the store with or without a look at what was applied before."""
    return Protocol(
        name=name,
        summary=summary,
        source="Lesani, Bell and Chlipala 2016, Algorithm 2; coq-community/chapar, issue 3",
        initial=initial,
        causal_send=put,
        receive=partial(receive, once),
        invariants={"never-goes-back": never_goes_back},
        witnesses={"waited": lambda state: bool(state.waiting)},
    )


CHAPAR = variant("chapar", "the verified store, as it is", once=False)
REPAIRED = variant("chapar-repaired", "an update is applied once", once=True)
