"""Variants of the model: sends in two transitions, clocks that tick at the network-send."""

from __future__ import annotations

import json
import random
from pathlib import Path
from typing import Any, TypeAlias

import attrs
import pytest
from attrs import frozen
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from antecede.checker.api.papers import table
from antecede.checker.check.spec import Spec, system_of
from antecede.checker.model import Arm, Message, Protocol, State, Step, Transition
from antecede.checker.paths.path import PathStep, replay
from antecede.checker.semantics.history import CLOCK_AT, HISTORIES
from antecede.checker.semantics.transition import (
    System,
    enabled,
    initial_state,
    network_sent,
    successor,
)
from antecede.checker.semantics.workload import SENDS
from antecede.checker.support.registry import protocol_named
from tests.conftest import ROOT, Command, search
from tests.engine.threads.test_local import found, plainly, searched, toy
from tests.models import plan_of
from tests.naive import explore
from tests.random_systems import RandomSystem, random_systems

FIGURE_3 = str(ROOT / "specs/small/cykas-secret-mode-figure3.toml")


def variant(drawn: RandomSystem, sends: str, clock_at: str, history: str) -> System:
    spec = Spec(
        protocol=drawn.protocol.name,
        actors=drawn.actors,
        messages=drawn.messages,
        network=drawn.network,
        workload=drawn.workload,
        history=history,
        sends=sends,
        clock_at=clock_at,
        properties=("causal-delivery", "integrity", "all-delivered", "fifo-delivery"),
    )
    return system_of(spec, drawn.protocol)


@pytest.mark.integration
@settings(max_examples=25, suppress_health_check=list(HealthCheck))
@given(
    drawn=random_systems(),
    sends=st.sampled_from(list(SENDS)),
    clock_at=st.sampled_from(list(CLOCK_AT)),
)
def test_the_fast_engine_agrees_with_plain_python(
    drawn: RandomSystem, sends: str, clock_at: str
) -> None:
    for history in HISTORIES:
        system = variant(drawn, sends, clock_at, history)
        expected = found(plainly(system))
        assert expected == found(searched(system))
        assert expected == found(searched(system, symmetry=True, forget_from=0, threads=2))


def with_arming(protocol: Protocol) -> Protocol:
    """Let a message without destinations stand for the decision to send the next one."""

    def causal_send(state: object, message: Message) -> Step:
        if not message.destinations:
            return Step(state)
        return protocol.causal_send(state, message)

    return attrs.evolve(protocol, causal_send=causal_send)


@pytest.mark.parametrize("history", ["knowledge", "clocks"])
@pytest.mark.parametrize("network", ["unordered", "fifo"])
@pytest.mark.parametrize(
    ("name", "actors", "messages"), [("mfss", 2, 2), ("cykas", 3, 1), ("unordered", 3, 1)]
)
def test_split_sends_agree_with_the_naive_checker(
    name: str, actors: int, messages: int, network: str, history: str
) -> None:
    protocol = protocol_named(name)
    arm: Any = (((((), None),), frozenset()),)
    rows = plan_of("any", actors, messages)
    plan = tuple(sum(((*arm, send) for send in row), ()) for row in rows)
    properties = ("causal-delivery", "all-delivered")
    naive = explore(with_arming(protocol), plan, network, history, properties)
    result = search(
        protocol,
        actors,
        messages,
        network=network,
        history=history,
        sends="split",
        properties=properties,
    )
    assert naive[:4] == attrs.astuple(result.counts)
    length = result.counterexample and result.counterexample.length
    assert min(naive.violation.values(), default=None) == length


@pytest.mark.parametrize(("name", "actors", "messages"), [("mfss", 2, 2), ("cykas", 3, 1)])
def test_a_split_send_is_one_transition_longer(name: str, actors: int, messages: int) -> None:
    joint, split = (search(name, actors, messages, sends=sends).counts for sends in SENDS)
    assert joint.depth + actors * messages == split.depth
    assert joint.final_states == split.final_states


def walk(system: System, seed: int) -> tuple[PathStep, ...]:
    chance, state = random.Random(seed), initial_state(system)
    taken: list[Transition] = []
    while choices := enabled(system, state):
        taken.append(chance.choice(choices))
        state = successor(system, state, taken[-1]).state
    return replay(system, taken).steps


def judged_by_graph(steps: tuple[PathStep, ...], actors: int) -> list[bool]:
    """Return, per delivery, whether a message sent after it on the network was delivered before.

    Reachability, by definition: `after[m]` are the messages in the past of m's network-send.
    """
    past: list[set[Message]] = [set() for _ in range(actors)]
    before: dict[Message, set[Message]] = {}
    delivered: list[list[Message]] = [[] for _ in range(actors)]
    verdicts = []

    def leaves(actor: int, message: Message) -> None:
        if message.sender == actor and message not in before:
            before[message] = set(past[actor])
            past[actor].add(message)

    for step in steps:
        for delivery in step.deliveries:
            m = delivery.message
            leaves(step.actor, m)
            verdicts.append(any(m in before[other] for other in delivered[step.actor]))
            past[step.actor] |= before[m] | {m}
            delivered[step.actor].append(m)
        for m in network_sent(step.actor, step.step.sends):
            leaves(step.actor, m)
    return verdicts


@pytest.mark.parametrize(
    ("name", "workload"),
    [("mfss", "any"), ("cykas", "any"), ("unordered", "any"), ("unordered", "multicast")],
)
def test_clocks_at_the_network_send_are_happens_before_between_network_sends(
    name: str, workload: str
) -> None:
    spec = Spec(name, 3, 3, workload=workload, history="clocks", clock_at="network-send")
    system = system_of(spec)
    wrong = 0
    for seed in range(60):
        steps = walk(system, seed)
        known = [d.causally_late for s in steps for d in s.deliveries]
        assert judged_by_graph(steps, 3) == known
        wrong += any(known)
    assert bool(wrong) == (name == "unordered")


def test_a_message_that_waited_is_stamped_when_it_leaves() -> None:
    """In MFSS a message may wait for an acknowledgement while its sender delivers others."""
    at_causal, at_network = (
        search("mfss", 2, 2, history="clocks", clock_at=event).counts.unique_states
        for event in CLOCK_AT
    )
    assert (169, 129) == (at_causal, at_network)


def split_figure(folder: Path, *more: str) -> Path:
    """Write the spec of Figure 3 with sends in two transitions, and further lines before it."""
    spec = folder / "variant.toml"
    figure = Path(FIGURE_3).read_text(encoding="utf-8").partition("counterexample_length")[0]
    lines = ['sends = "split"', *more, figure]
    spec.write_text("\n".join(lines), encoding="utf-8")
    return spec


def test_the_secret_mode_counterexample_grows_by_its_five_decisions(
    antecede: Command, tmp_path: Path
) -> None:
    ran = antecede("check", split_figure(tmp_path), "--json", "-", "--quiet")
    assert 0 == ran.code
    transitions = json.loads(ran.out)["counterexample"]["transitions"]
    assert 14 == len(transitions)
    assert 5 == sum(t["kind"] == Arm.kind for t in transitions)


@pytest.mark.parametrize("engine", ["plain", "local"])
def test_traces_of_variants_replay(engine: str, antecede: Command, tmp_path: Path) -> None:
    trace = tmp_path / "run.json"
    ran = antecede(
        "check", split_figure(tmp_path, 'clock_at = "network-send"'),
        "--engine", engine, "--trace", trace,
    )  # fmt: skip
    assert 0 == ran.code
    assert "Alice decides to send" in ran.out
    assert "sends split, clocks at the network-send" in " ".join(ran.out.split())
    ran = antecede("replay", trace)
    assert 1 == ran.code
    assert "causal-delivery" in ran.out
    drawn = tmp_path / "run.svg"
    assert 1 == antecede("replay", trace, "--trace", drawn).code
    assert "decides to send" in drawn.read_text()


@pytest.mark.parametrize("key", ["sends", "clock_at"])
def test_a_wrong_variant_is_refused_with_the_choices(
    key: str, antecede: Command, tmp_path: Path
) -> None:
    spec = tmp_path / "spec.toml"
    spec.write_text(f'protocol = "mfss"\n{key} = "sometimes"\n')
    ran = antecede("check", spec)
    assert 2 == ran.code
    assert "split" in ran.err or "network-send" in ran.err


def test_a_spec_may_ask_for_a_variant(antecede: Command, tmp_path: Path) -> None:
    spec = tmp_path / "split.toml"
    spec.write_text('protocol = "mfss"\nactors = 2\nmessages = 2\nsends = "split"\n')
    assert 0 == antecede("check", spec).code
    spec.write_text('protocol = "mfss"\nclock_at = "noon"\n')
    ran = antecede("check", spec)
    assert 2 == ran.code
    assert "network-send" in ran.err


def test_the_table_comes_in_variants() -> None:
    rows = table("3x1", sends="split").rows
    assert {"split"} == {row["sends"] for row in rows}
    assert [13, 13, 13] == [row["depth"] for row in rows]


@frozen
class Undecided:
    """The messages that an actor holds back until it has two, and whether to swap them."""

    held: tuple[Message, ...] = ()
    told: bool = False
    done: bool = False


def _two_at_once(state: Undecided, message: Message) -> Step:
    held = (*state.held, message)
    if message.sender == 0 and len(held) < 2:
        return Step(attrs.evolve(state, held=held))
    ordered = held if state.told else held[::-1]
    return Step(Undecided(done=True), sends=tuple((m.receiver, m) for m in ordered))


def _first_actor_is_told(state: Undecided, _src: int, message: Message) -> Step:
    if message.sender == 0:
        return Step(state, deliveries=(message,))
    return Step(state if state.done else attrs.evolve(state, told=True))


TURNS = toy(
    "turns",
    initial=lambda _actor, _actors: Undecided(),
    causal_send=_two_at_once,
    receive=_first_actor_is_told,
    witnesses={},
)
"""Actor 0 sends two messages at once, in the order of their numbers or not."""

Stamps: TypeAlias = frozenset[tuple[Message, Any]]


def _stamped(state: State, before: Stamps) -> Stamps:
    """Return, by message, the stamps that were given so far."""
    given = ((e.message, e.stamp) for ghost in state.history for e in ghost.pending)
    return frozenset({*before, *((message, stamp) for message, stamp in given if stamp)})


def with_their_stamps(system: System) -> set[tuple[State, Stamps]]:
    """Return all states with the stamps given on the way."""
    start: tuple[State, Stamps] = (initial_state(system), frozenset())
    met, todo = {start}, [start]
    while todo:
        state, stamps = todo.pop()
        for transition in enabled(system, state):
            after = successor(system, state, transition).state
            pair = after, _stamped(after, stamps)
            if pair not in met:
                met.add(pair)
                todo.append(pair)
    return met


@pytest.mark.parametrize("clock_at", CLOCK_AT)
def test_full_tells_apart_which_message_got_which_stamp(clock_at: str) -> None:
    """By the letter, the stamps given on the way are in the state."""
    workload = "script:[[1,1],[0]]"
    how: dict[str, Any] = {"workload": workload, "history": "full", "properties": ("integrity",)}
    system = system_of(Spec("turns", 2, 2, clock_at=clock_at, **how), TURNS)

    plain, local = plainly(system), searched(system)

    assert len(with_their_stamps(system)) == plain.counts.unique_states
    assert found(plain) == found(local)
