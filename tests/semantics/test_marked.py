"""The history `marked` judges as the others do, and is finite for runs of any length."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator
from typing import Any

import pytest
from attrs import evolve
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from antecede.checker.check.pipeline import check
from antecede.checker.check.spec import Spec, load_spec
from antecede.checker.model import CausalSend, Delivery, Protocol, State
from antecede.checker.search.options import Options
from antecede.checker.search.result import Verdict
from antecede.checker.semantics import transition
from antecede.checker.semantics.history import oracle_named
from antecede.checker.semantics.marked import follows, marked_oracle, may_mark
from antecede.checker.semantics.network import network_named
from antecede.checker.semantics.transition import (
    EndlessSystem,
    System,
    enabled,
    initial_state,
    next_message,
    successor,
)
from antecede.checker.semantics.workload import EndlessWorkload
from antecede.checker.semantics.workloads import workload_from
from antecede.checker.support.errors import InputError
from antecede.checker.support.registry import protocol_named
from tests.conftest import ROOT
from tests.models import pairs
from tests.random_systems import RandomSystem, random_systems, scripts

WRONG: dict[str, Callable[[Delivery], bool]] = {
    "causal-delivery": lambda delivery: delivery.causally_late,
    "integrity": lambda delivery: not delivery.expected,
    "fifo-delivery": lambda delivery: delivery.fifo_late,
}


def system(
    protocol: str | Protocol,
    workload: str,
    actors: int = 3,
    network: str = "unordered",
    messages: int = 2,
) -> System:
    """Return a system with the history `marked`."""
    found = protocol_named(protocol) if isinstance(protocol, str) else protocol
    work = workload_from(workload, actors, messages)
    made: type[System] = EndlessSystem if isinstance(work, EndlessWorkload) else System
    return made(
        protocol=found,
        actors=actors,
        messages=work.most,
        network=network_named(network, retransmits=found.timeout is not None),
        workload=work,
        oracle=marked_oracle(track_order=True),
        properties=(),
    )


def with_knowledge(asked: System) -> System:
    """Return the same system under the history `knowledge`."""
    oracle = oracle_named(
        "knowledge",
        asked.actors,
        asked.workload.most,
        self_sends=asked.workload.self_sends,
        track_order=True,
    )
    return evolve(asked, oracle=oracle)


def explored(
    asked: System,
    within: Callable[[State], bool] = lambda _state: True,
    until: Collection[str] = (),
) -> tuple[int, dict[str, int]]:
    """Return how many states there are, and the length of a shortest violation of each property.

    The last level is the first one that ends with a violation of one of the properties `until`.
    """
    start = initial_state(asked)
    seen, level, length, found = {start}, [start], 0, dict[str, int]()
    while level and not found.keys() & set(until):
        length, states, level = length + 1, level, []
        for state in states:
            transitions = enabled(asked, state)
            if not transitions and any(ghost.pending for ghost in state.history):
                found.setdefault("all-delivered", length - 1)
            for outcome in (successor(asked, state, t) for t in transitions):
                for name, wrong in WRONG.items():
                    if any(map(wrong, outcome.deliveries)):
                        found.setdefault(name, length)
                if outcome.state not in seen and within(outcome.state):
                    seen.add(outcome.state)
                    level.append(outcome.state)
    return len(seen), found


@pytest.mark.parametrize(
    ("protocol", "workload", "actors", "network"),
    [
        ("unordered", "any", 2, "unordered"),
        ("unordered", "script:[[1,2],[2],[]]", 3, "unordered"),
        ("unordered", "script:[[1],[]]", 2, "duplicating"),
        ("unordered", "self", 2, "unordered"),
        ("unordered", "broadcast", 2, "lossy:1"),
        ("fifo", "script:[[2,1],[2],[]]", 3, "unordered"),
        ("mfss", "any", 2, "unordered"),
        ("mfss", "script:[[1,2],[0],[0]]", 3, "unordered"),
        ("mfss", "script:[[1,1,1],[]]", 2, "duplicating"),
        ("cykas-as-printed", "any", 2, "unordered"),
        ("cykas-secret-mode", "script:[[1,2],[0,2],[0]]", 3, "unordered"),
        ("rst-no-deliv", "self", 2, "unordered"),
        ("newtop", "script:[[1],[0],[]]", 3, "fifo"),
        ("hybrid-basic", "script:[[1,1],[]]", 2, "lossy:1"),
    ],
)
def test_on_finite_workloads_it_gives_the_verdicts_and_lengths_of_the_other_histories(
    protocol: str | Protocol, workload: str, actors: int, network: str
) -> None:
    asked = system(protocol, workload, actors, network)
    expected = explored(with_knowledge(asked))[1]
    assert expected == explored(asked)[1]


def small_specs() -> Iterator[Any]:
    """Yield the small specs, except for those whose sends wait for messages by their numbers."""
    for file in sorted((ROOT / "specs" / "small").glob("*.toml")):
        spec = load_spec(file)
        states = spec.expect.counts["knowledge"]["unique_states"]
        if not spec.system.workload.reacts:
            slow = [pytest.mark.slow, pytest.mark.timeout(1_800)] if states > 300 else []
            yield pytest.param(spec, id=file.stem, marks=slow)


@pytest.mark.parametrize("spec", list(small_specs()))
def test_it_gives_the_verdict_and_the_length_of_every_small_spec(spec: Spec) -> None:
    asked = evolve(spec.system, oracle=marked_oracle(track_order=True))
    names = [prop.name for prop in asked.properties]
    found = {k: n for k, n in explored(asked, until=names)[1].items() if k in names}
    expected = spec.expect
    assert (expected.verdict is Verdict.VIOLATED) == bool(found)
    if found:
        assert expected.counterexample_length == min(found.values())


@settings(max_examples=25, suppress_health_check=[HealthCheck.too_slow])
@given(random_systems(), st.data())
def test_random_systems_are_judged_alike(drawn: RandomSystem, data: st.DataObject) -> None:
    workload = data.draw(scripts(drawn.actors, 3))
    asked = system(drawn.protocol, workload, drawn.actors, drawn.network)
    assert explored(with_knowledge(asked))[1] == explored(asked)[1]


def undecided(state: State) -> bool:
    """Return whether the marked message may still be overtaken, or starve."""
    return may_mark(state.history) or follows(state.history)


def no_mark(state: State) -> bool:
    return may_mark(state.history)


@pytest.mark.parametrize(
    ("buffer", "states"), [(1, 729), pytest.param(2, 9_261, marks=pytest.mark.slow)]
)
def test_mfss_without_end_has_finitely_many_states(buffer: int, states: int) -> None:
    """729 is 9³ and 9,261 is 21³: what actors do without messages between them is independent."""
    assert (states, {}) == explored(system("mfss", f"endless:{buffer}"), no_mark)


def test_mfss_delivers_causally_in_runs_of_any_length() -> None:
    """Once the marked message is delivered nothing is left to judge."""
    states, violated = explored(system("mfss", "endless:1"), undecided)
    assert 2_187 == states
    assert {} == violated


@pytest.mark.integration
def test_a_violation_needs_no_more_transitions_without_end_than_with_one() -> None:
    finite = explored(with_knowledge(system("unordered", "any", 3, messages=2)))[1]
    endless = explored(system("unordered", "endless:2"), undecided)[1]
    assert finite["causal-delivery"] == endless["causal-delivery"]


def test_an_actor_sends_only_while_its_buffer_has_room() -> None:
    asked = system("unordered", "endless:1:[[1],[]]", 2)
    state = successor(asked, initial_state(asked), enabled(asked, initial_state(asked))[0]).state
    assert ["receive"] == [transition.kind for transition in enabled(asked, state)]


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("endless", "undelivered (endless:1) is ''; it must be a whole number"),
        ("endless:0", "give at least 1"),
        ("endless:1001", "give at most 1,000"),
        ("endless:²", "it must be a whole number"),
        ("endless:1:[[1]]", "one list per actor: 2, got 1"),
        ("endless:1:[[0],[]]", "actor 0 sends to itself"),
        ("endless:1:[1,2]", "needs a JSON list of lists"),
    ],
)
def test_an_endless_workload_that_cannot_be_is_refused(text: str, sentence: str) -> None:
    with pytest.raises(InputError) as caught:
        workload_from(text, 2, 1)
    assert sentence in str(caught.value)


PAIRS = Spec(
    protocol="pairs",
    network="fifo",
    workload="endless:2:[[1,2],[2],[]]",
    properties=("causal-delivery", "integrity"),
)


@pytest.mark.parametrize("timeout", [False, True])
@pytest.mark.parametrize("engine", ["plain", "local"])
def test_two_messages_never_become_one_packet(timeout: bool, engine: str) -> None:
    """A timeout makes equal packets one; without one they are two."""
    report = check(PAIRS, Options(engine=engine), protocol=pairs(timeout=timeout))
    path = report.result.counterexample
    assert path is not None
    assert ("causal-delivery", 8) == (path.violates, path.length)


def test_messages_that_are_numbered_alike_would_be_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(transition, "told_apart", lambda message, _state: message)
    result = check(PAIRS, protocol=pairs(timeout=True)).result
    assert Verdict.VIOLATED is not result.verdict


def test_a_number_is_free_again_once_nobody_has_the_message() -> None:
    asked = system(pairs(timeout=True), "endless:2:[[1,1],[2],[]]", network="fifo")
    start, send = initial_state(asked), CausalSend(0, (1,))
    sent = successor(asked, start, send).state
    assert [0, 3] == [next_message(asked, state, send).number for state in (start, sent)]
    delivered = evolve(sent, history=start.history)
    assert 0 == next_message(asked, delivered, send).number
