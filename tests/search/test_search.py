"""The searches against each other: verdicts, counts, bounds, interruption, repetition."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from attrs import define, evolve

from antecede.checker.check.engine import explorer_for
from antecede.checker.check.spec import Spec, system_of
from antecede.checker.model import Message, Protocol, Step
from antecede.checker.search.loop import Progress, explore
from antecede.checker.search.options import Bounds, Options
from antecede.checker.search.plain import BreadthFirst
from antecede.checker.search.result import Result, Verdict
from antecede.checker.support.errors import InputError, ProtocolError, ReplayError
from antecede.checker.support.registry import protocol_named
from tests.conftest import search
from tests.models import DIRECT, LOSES, toy

PLAIN = Options(engine="plain")
DEPTH = Options(engine="plain", search="depth")
FIGURE_3 = "script:[[1,2],[0,2],[0]]"


def walks(number: int, seed: int = 7) -> Options:
    return Options(engine="plain", search="random", walks=number, seed=seed)


HOLDING = [
    ("mfss", 2, 2, "any"),
    ("mfss", 3, 1, "any"),
    ("cykas", 2, 3, "any"),
    ("cykas", 3, 2, FIGURE_3),
    ("cykas-fair", 3, 2, FIGURE_3),
]
VIOLATED = [
    ("unordered", 2, 2, "any"),
    ("fifo", 3, 2, "any"),
    ("fifo", 3, 1, "broadcast"),
    ("cykas-as-printed", 2, 2, "any"),
    ("cykas-secret-mode", 3, 2, FIGURE_3),
]


@pytest.mark.parametrize(("protocol", "actors", "messages", "workload"), HOLDING)
def test_depth_first_counts_what_breadth_first_counts_when_a_protocol_holds(
    protocol: str, actors: int, messages: int, workload: str
) -> None:
    breadth = search(protocol, actors, messages, workload=workload)
    depth = search(protocol, actors, messages, workload=workload, options=DEPTH)
    assert Verdict.HOLDS is breadth.verdict is depth.verdict
    assert breadth.counts.unique_states == depth.counts.unique_states
    assert breadth.counts.total_states == depth.counts.total_states
    assert breadth.counts.final_states == depth.counts.final_states
    assert depth.counts.depth >= breadth.counts.depth


@pytest.mark.parametrize(("protocol", "actors", "messages", "workload"), VIOLATED)
def test_all_searches_find_the_violation_and_breadth_first_the_shortest(
    protocol: str, actors: int, messages: int, workload: str
) -> None:
    results = [
        search(protocol, actors, messages, workload=workload, options=options)
        for options in (PLAIN, DEPTH, walks(2000))
    ]
    assert [Verdict.VIOLATED] * 3 == [result.verdict for result in results]
    breadth, *others = [path for r in results if (path := r.counterexample) is not None]
    assert 2 == len(others)
    assert all(breadth.violates == other.violates for other in others)
    assert all(breadth.length <= other.length for other in others)


def test_random_walks_never_say_that_a_protocol_holds() -> None:
    result = search("mfss", 2, 1, options=walks(500))
    assert search("mfss", 2, 1).counts.unique_states == result.counts.unique_states
    assert Verdict.INCOMPLETE is result.verdict
    assert result.stopped_by is not None


def test_random_walks_are_repeated_by_their_seed() -> None:
    def found(seed: int) -> Result:
        return search("cykas", 3, 2, options=walks(20, seed))

    assert found(1).counts == found(1).counts
    assert found(1).counts != found(2).counts


def test_random_walks_count_a_state_once() -> None:
    result = search("mfss", 2, 2, options=walks(200))
    assert result.counts.unique_states <= 81
    assert result.counts.total_states > result.counts.unique_states


BOUNDED = [
    pytest.param(PLAIN, Bounds(max_states=30), "--max-states 30", id="breadth states"),
    pytest.param(DEPTH, Bounds(max_states=30), "--max-states 30", id="depth states"),
    pytest.param(PLAIN, Bounds(max_seconds=1e-9), "--max-seconds 1e-09", id="breadth seconds"),
    pytest.param(DEPTH, Bounds(max_seconds=1e-9), "--max-seconds 1e-09", id="depth seconds"),
    pytest.param(PLAIN, Bounds(max_memory=1), "--max-memory 0 MB", id="breadth memory"),
    pytest.param(walks(9), Bounds(max_memory=1), "--max-memory 0 MB", id="random memory"),
    pytest.param(PLAIN, Bounds(max_depth=5), "--max-depth 5", id="breadth"),
    pytest.param(
        DEPTH,
        Bounds(max_depth=5),
        "--max-depth 5",
        id="depth",
    ),
]


@pytest.mark.parametrize(("options", "bounds", "reason"), BOUNDED)
def test_hitting_a_bound_is_incomplete_and_never_holds(
    options: Options, bounds: Bounds, reason: str
) -> None:
    result = search("mfss", 3, 2, options=options, bounds=bounds)
    assert Verdict.INCOMPLETE is result.verdict
    assert {Verdict.INCOMPLETE} == set(result.properties.values())
    assert result.stopped_by is not None
    assert result.stopped_by.startswith(reason)
    assert result.counts.unique_states < 6_859


@pytest.mark.parametrize("method", ["breadth", "depth"])
def test_a_depth_bound_that_cuts_nothing_off_leaves_the_verdict_alone(method: str) -> None:
    deep = 100
    options = Options(engine="plain", search=method)
    result = search("mfss", 2, 2, options=options, bounds=Bounds(max_depth=deep))
    assert Verdict.HOLDS is result.verdict
    assert 81 == result.counts.unique_states


def test_a_depth_bound_counts_states_not_transitions() -> None:
    options = PLAIN
    result = search("mfss", 2, 2, options=options, bounds=Bounds(max_depth=1))
    assert (1, 1, 1) == (
        result.counts.unique_states,
        result.counts.total_states,
        result.counts.depth,
    )


def test_random_walks_stop_at_the_depth_bound() -> None:
    result = search("mfss", 3, 2, options=walks(5), bounds=Bounds(max_depth=4))
    assert 4 == result.counts.depth


def interrupted_at(call: int) -> Callable[[Progress], None]:
    """Return a watcher that does what Ctrl-C does, at its `call`th call."""
    calls = iter(range(1, call + 1))

    def watch(_progress: Progress) -> None:
        if next(calls) == call:
            raise KeyboardInterrupt

    return watch


@pytest.mark.parametrize("options", [PLAIN, DEPTH, walks(50)], ids=["breadth", "depth", "random"])
def test_an_interruption_leaves_a_partial_result(options: Options) -> None:
    system = system_of(Spec(protocol="cykas", actors=3, messages=2))
    result = explore(system, explorer_for(system, options), watch=interrupted_at(4))
    assert Verdict.INCOMPLETE is result.verdict
    assert "interrupted by the user" == result.stopped_by
    assert 0 < result.counts.unique_states < 52_521


@pytest.mark.parametrize("options", [PLAIN, DEPTH, walks(9)], ids=["breadth", "depth", "random"])
def test_a_handler_that_raises_is_an_error_that_names_the_call(options: Options) -> None:
    result = search(toy("raises", receive=_raise), options=options)
    assert Verdict.ERROR is result.verdict
    assert result.error is not None
    assert "receive of protocol 'toy-raises' raised RuntimeError: no such luck" in result.error
    assert "Message(sender=" in result.error


def _raise(_state: Any, _src: int, _packet: Any) -> Step:
    raise RuntimeError("no such luck")


def test_a_witness_that_is_reached_holds_and_does_not_end_the_search() -> None:
    result = search("mfss", 2, 2, properties=("causal-delivery", "witness:waited"))
    assert Verdict.HOLDS is result.properties["witness:waited"]
    assert 81 == result.counts.unique_states


def test_a_witness_that_is_never_reached_is_violated_without_a_counterexample() -> None:
    result = search("mfss", 2, 1, properties=("causal-delivery", "witness:waited"))
    assert Verdict.VIOLATED is result.verdict
    assert Verdict.HOLDS is result.properties["causal-delivery"]
    assert Verdict.VIOLATED is result.properties["witness:waited"]
    assert result.counterexample is None


def test_a_search_for_witnesses_alone_ends_when_all_are_found() -> None:
    result = search("mfss", 2, 3, properties=("witness:waited",))
    assert Verdict.HOLDS is result.verdict
    assert result.counts.unique_states < 256


def test_a_violation_hides_the_verdict_on_what_was_not_exhausted() -> None:
    result = search("unordered", 2, 2)
    assert Verdict.VIOLATED is result.properties["causal-delivery"]
    assert Verdict.INCOMPLETE is result.properties["all-delivered"]


def test_of_two_properties_violated_the_one_with_the_shorter_path_is_shown() -> None:
    result = search(LOSES, 2, 1, properties=("integrity", "all-delivered"))
    assert result.counterexample is not None
    assert "all-delivered" == result.counterexample.violates


def never_true(_state: Any) -> bool:
    return False


def test_an_invariant_that_breaks_at_the_start_has_an_empty_counterexample() -> None:
    broken = _with_invariant(DIRECT)
    for options in (PLAIN, DEPTH, walks(3)):
        result = search(broken, properties=("invariant:never",), options=options)
        assert result.counterexample is not None
        assert 0 == result.counterexample.length


def _with_invariant(protocol: Protocol) -> Protocol:
    return Protocol(
        name=protocol.name,
        summary=protocol.summary,
        source=protocol.source,
        initial=protocol.initial,
        causal_send=protocol.causal_send,
        receive=protocol.receive,
        invariants={"never": never_true},
    )


def test_an_engine_whose_path_does_not_replay_is_not_believed() -> None:
    """A protocol that changes its mind between search and replay stands for a wrong engine."""
    delivered: list[Message] = []

    def receive(state: Any, _src: int, packet: Any) -> Step:
        delivered.append(packet.message)
        twice = (packet.message,) * 2
        return Step(state, deliveries=twice if len(delivered) == 1 else twice[:1])

    with pytest.raises(ReplayError, match="does not violate it in plain Python"):
        search(toy("fickle", receive=receive), 2, 1)


def test_an_unknown_engine_is_named_with_the_choices() -> None:
    with pytest.raises(InputError, match="unknown engine 'plian'; did you mean 'plain'"):
        search("mfss", options=Options(engine="plian"))


@define(eq=True, unsafe_hash=True)
class Mutable:
    """A state that a handler can change in place."""

    count: int = 0


def test_a_handler_that_mutates_its_state_is_named_by_the_plain_engine() -> None:
    def receive(state: Mutable, _src: int, packet: Any) -> Step:
        state.count += 1
        raise ProtocolError("receive mutates its state")

    protocol = evolve(
        protocol_named("unordered"), initial=lambda _actor, _actors: Mutable(), receive=receive
    )
    system = system_of(Spec("unordered", actors=2, messages=1), protocol)
    result = explore(system, BreadthFirst(system))
    assert result.verdict is Verdict.ERROR
    # How to get there is said where the state, whose hash is another one now, is found by chance.
    assert (result.error or "").startswith("receive mutates its state")
