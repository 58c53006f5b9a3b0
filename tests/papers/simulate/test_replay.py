"""Every simulated run is a run of the checker: its transitions replay, with equal steps."""

from __future__ import annotations

import pytest
from attrs import evolve

from antecede.checker.model import Protocol, Receive, State, Step, Transition
from antecede.checker.papers.simulate.handlers import Handlers, handlers_of
from antecede.checker.papers.simulate.run import simulate
from antecede.checker.papers.simulate.scenario import Scenario
from antecede.checker.semantics.history import oracle_named
from antecede.checker.semantics.network import network_named
from antecede.checker.semantics.transition import System, enabled, initial_state, successor
from antecede.checker.semantics.workloads import workload_from
from antecede.checker.support.registry import property_named

Event = tuple[Transition, Step]

TINY = Scenario(actors=3, messages=4, interval=2_000_000, jitter=4_000_000, job_share=0.3)
PROTOCOLS = ("unordered", "mfss", "cykas", "rst", "ses", "ks")
RETRANSMITTING = ("hybrid-basic", "hybrid-sps")
IN_ORDER = ("fifo", "mfss-fifo", "tree", "tree-star", "newtop-null")


def recorded(handlers: Handlers, scenario: Scenario, seed: int) -> list[Event]:
    events: list[Event] = []
    simulate(
        handlers,
        scenario,
        seed,
        tolerant=handlers.protocol.name in ("unordered", "fifo"),
        record=lambda transition, step: events.append((transition, step)),
    )
    return events


def system_of(protocol: Protocol, scenario: Scenario, network: str) -> System:
    kind = "broadcast" if scenario.workload == "broadcast" else "any"
    return System(
        protocol=protocol,
        actors=scenario.actors,
        messages=scenario.messages,
        network=network_named(network, retransmits=protocol.timeout is not None),
        workload=workload_from(kind, scenario.actors, scenario.messages),
        oracle=oracle_named("clocks", scenario.actors, scenario.messages),
        properties=(property_named("causal-delivery"),),
    )


def replayed(system: System, events: list[Event]) -> State:
    """Return the state after the events; each must be enabled and make an equal step."""
    state = initial_state(system)
    for transition, step in events:
        if system.network.duplicates and isinstance(transition, Receive):
            transition = evolve(transition, stays=True)
            if changes_nothing(system, state, transition):
                continue
        assert transition in enabled(system, state), transition
        outcome = successor(system, state, transition)
        assert outcome.step == step
        assert system.protocol.name in ("unordered", "fifo") or not any(
            delivery.causally_late for delivery in outcome.deliveries
        )
        state = outcome.state
    return state


def changes_nothing(system: System, state: State, transition: Receive) -> bool:
    """Return whether a packet comes a second time without an effect; that is no transition."""
    channel = state.channels[transition.src * system.actors + transition.dst]
    if transition.packet not in channel:
        return False
    outcome = successor(system, state, transition)
    return outcome.state == state and not outcome.deliveries


@pytest.mark.parametrize(
    ("protocol", "network"),
    [
        *((p, "unordered") for p in PROTOCOLS),
        *((p, "duplicating") for p in RETRANSMITTING),
        *((p, "fifo") for p in IN_ORDER),
    ],
)
@pytest.mark.parametrize("busy", ["process", "application", "background"])
def test_a_simulated_run_is_a_run_of_the_checker(protocol: str, network: str, busy: str) -> None:
    scenario = evolve(TINY, busy=busy, order="fifo" if network == "fifo" else "any")
    for seed in range(3):
        handlers = handlers_of(protocol, twins=False)
        system = system_of(handlers.protocol, scenario, network)
        state = replayed(system, recorded(handlers, scenario, seed))
        assert not any(system.workload.choices(i, p) for i, p in enumerate(state.workload))
        assert all(not ghost.pending for ghost in state.history)


def test_a_broadcast_is_a_run_of_the_checker() -> None:
    scenario = evolve(TINY, workload="broadcast", messages=2)
    handlers = handlers_of("cbcast")
    events = recorded(handlers, scenario, 1)
    replayed(system_of(handlers.protocol, scenario, "unordered"), events)


def test_a_run_of_another_protocol_does_not_replay() -> None:
    events = recorded(handlers_of("unordered"), TINY, 1)
    with pytest.raises(AssertionError):
        replayed(system_of(handlers_of("mfss").protocol, TINY, "unordered"), events)


def test_a_run_whose_events_change_places_does_not_replay() -> None:
    events = recorded(handlers_of("mfss"), TINY, 1)
    first = next(k for k, (what, _) in enumerate(events) if isinstance(what, Receive))
    moved = [events[first], *events[:first], *events[first + 1 :]]
    with pytest.raises(AssertionError):
        replayed(system_of(handlers_of("mfss").protocol, TINY, "unordered"), moved)
