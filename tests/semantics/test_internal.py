"""Actions of a protocol's own, and packets that are in flight at the start, in every engine."""

from __future__ import annotations

import itertools
import json
from pathlib import Path
from typing import Any

import attrs
import pytest
from attrs import evolve

from antecede.checker.check.pipeline import Extras, check
from antecede.checker.check.spec import Spec, load_spec, system_of
from antecede.checker.engine.threads.transport import search_on_threads
from antecede.checker.model import Internal, Message, Protocol, Receive, Step
from antecede.checker.papers.simulate.handlers import handlers_of
from antecede.checker.paths.flights import flights_of
from antecede.checker.paths.minimise import minimise
from antecede.checker.render.prose import Wording
from antecede.checker.render.text import path_text
from antecede.checker.render.trace_formats import FORMATS, trace_text
from antecede.checker.search.loop import explore
from antecede.checker.search.options import Options
from antecede.checker.search.result import Result, Verdict
from antecede.checker.semantics.transition import System, enabled, initial_state, successor
from antecede.checker.support.errors import InputError
from antecede.checker.support.registry import protocol_named
from tests.conftest import ROOT, Command, counterexample, method, search
from tests.models import COLLECTS, GREETS, Data, Hello, Toy, naive_counts
from tests.runs import walk

RING = str(ROOT / "specs/examples/token_ring.py:TOKEN_RING")


def _late_receive(state: Toy, src: int, packet: Data | Hello) -> Step:
    return Step(state) if isinstance(packet, Hello) else COLLECTS.receive(state, src, packet)


def _newest_first(state: Toy) -> Step | None:
    """Deliver what was collected, the newest message first."""
    return Step(evolve(state, held=()), deliveries=state.held[::-1]) if state.held else None


GREETS_AND_COLLECTS = evolve(
    COLLECTS, name="greets-and-collects", receive=_late_receive, in_flight=GREETS.in_flight
)
WRONG_ORDER = evolve(
    GREETS_AND_COLLECTS, name="wrong-order", network="fifo", actions={"flush": _newest_first}
)
SYSTEMS = [(COLLECTS, 2, 2), (GREETS, 2, 1), (GREETS_AND_COLLECTS, 2, 1)]


def system(protocol: Protocol, actors: int, messages: int, **values: Any) -> System:
    return system_of(Spec(protocol.name, actors, messages, **values), protocol)


@pytest.mark.parametrize("history", ["knowledge", "clocks", "full"])
@pytest.mark.parametrize("network", ["unordered", "fifo"])
@pytest.mark.parametrize(("protocol", "actors", "messages"), SYSTEMS, ids=lambda x: str(x)[15:35])
def test_every_engine_counts_what_the_naive_checker_counts(
    protocol: Protocol, actors: int, messages: int, network: str, history: str
) -> None:
    asked: dict[str, Any] = {"network": network, "history": history}
    expected = naive_counts(protocol, actors, messages, **asked)
    wanted = (expected.unique, expected.total, expected.depth, expected.finals)
    for symmetry in (False, True):
        found = _locally(system(protocol, actors, messages, **asked), symmetry=symmetry)
        if not expected.violation:
            assert wanted == attrs.astuple(found.unreduced or found.counts)
        assert (min(expected.violation.values(), default=None)) == (
            found.counterexample and found.counterexample.length
        )
    plain = search(protocol, actors, messages, **asked)
    assert wanted == attrs.astuple(plain.counts)


def _locally(asked: System, **options: Any) -> Result:
    return explore(asked, search_on_threads(asked, options=method(threads=1, **options)))


@pytest.mark.parametrize("protocol", [COLLECTS, GREETS_AND_COLLECTS])
def test_symmetry_reduces_what_is_symmetric(protocol: Protocol) -> None:
    found = _locally(system(protocol, 3, 1, network="unordered"), symmetry=True)
    assert found.unreduced is not None
    assert found.counts.unique_states * 4 < found.unreduced.unique_states


def test_packets_that_name_an_actor_switch_symmetry_off() -> None:
    found = check(Spec(RING, 3, 1, properties=("integrity",))).result
    assert "packets in flight at the start" in found.statistics["symmetry"]["reason"]


def test_an_action_that_treats_actors_differently_switches_symmetry_off() -> None:
    def flush(state: Toy) -> Step | None:
        done = COLLECTS.actions["flush"](state)
        return None if state.actor == 1 and len(state.held) == 1 else done

    protocol = evolve(COLLECTS, actions={"flush": flush})
    found = check(Spec("toy", 2, 1, properties=("integrity",)), protocol=protocol).result
    assert "the action flush depends on actors' names" in found.statistics["symmetry"]["reason"]
    expected = naive_counts(protocol, 2, 1, properties=("integrity",))
    assert expected.unique == found.counts.unique_states


@pytest.mark.parametrize("how", ["breadth", "depth", "random"])
def test_every_search_of_every_engine_finds_the_wrong_order(how: str) -> None:
    shortest = naive_counts(WRONG_ORDER, 2, 2, network="fifo").violation["causal-delivery"]
    spec = Spec("wrong", 2, 2, search=how)
    for engine in ("plain", "local"):
        report = check(
            spec,
            Options(engine=engine, seed=1),
            protocol=WRONG_ORDER,
            extras=Extras(minimise=True),
        )
        path = report.result.counterexample
        assert Verdict.VIOLATED is report.result.verdict
        assert path is not None
        assert how == "random" or shortest == path.length
        assert "flush" == path.steps[-1].transition.name  # type: ignore[union-attr]


def test_transitions_stand_in_a_fixed_order() -> None:
    asked = system(GREETS_AND_COLLECTS, 2, 1, network="unordered")
    state = initial_state(asked)
    kinds = [t.kind for t in enabled(asked, state)]
    assert ["causal-send", "causal-send", "receive", "receive"] == kinds
    sent = successor(asked, state, enabled(asked, state)[0]).state
    data = next(
        t for t in enabled(asked, sent) if isinstance(t, Receive) and isinstance(t.packet, Data)
    )
    collected = successor(asked, sent, data).state
    assert Internal(1, "flush") == enabled(asked, collected)[-1]


def test_a_run_says_who_takes_which_action(antecede: Command, tmp_path: Path) -> None:
    path = counterexample(WRONG_ORDER, 2)
    said = path_text(path)
    assert "takes the action flush, delivers" in said
    assert Wording.of(path).step(path.steps[-1]).startswith(("Alice", "Bob"))


@pytest.mark.parametrize("name", FORMATS)
def test_every_format_shows_the_action(name: str) -> None:
    assert "flush" in trace_text(counterexample(WRONG_ORDER, 2), name)


@pytest.mark.parametrize("name", FORMATS)
def test_every_format_shows_packets_from_the_start(name: str) -> None:
    path = walk(RING, seed=3, most=14, messages=1)
    assert any(isinstance(s.transition, Receive) for s in path.steps)
    assert "Token" in trace_text(path, name)


def test_a_packet_from_the_start_was_sent_by_no_step() -> None:
    path = walk(RING, seed=3, most=14, messages=1)
    first = flights_of(path).every[0]
    assert (None, 0, 2, 0) == (first.sent, first.since, first.src, first.dst)
    assert first.receptions


def test_a_trace_of_an_action_is_replayed(antecede: Command, tmp_path: Path) -> None:
    file, trace = ROOT / "specs/examples/token_ring.py", tmp_path / "trace.json"
    run = walk(f"{file}:TOKEN_RING", seed=3, most=20, messages=1)
    trace.write_text(trace_text(run, "json"))
    steps = json.loads(trace.read_text())["transitions"]
    assert {"pass"} == {step["action"] for step in steps if step["kind"] == "internal"}
    found = antecede("replay", trace, "--protocol", f"{file}:TOKEN_RING")
    assert "can still be taken" in found.out
    steps[[s["kind"] for s in steps].index("internal")].pop("action")
    trace.write_text(json.dumps({**json.loads(trace.read_text()), "transitions": steps}))
    found = antecede("replay", trace, "--protocol", f"{file}:TOKEN_RING")
    assert 2 == found.code
    assert "the key 'action' is missing" in found.err


def test_a_counterexample_with_actions_is_minimised() -> None:
    path = search(WRONG_ORDER, 2, options=Options(engine="plain", search="depth")).counterexample
    assert path is not None
    assert minimise(path).length <= path.length


def test_the_token_ring_is_as_its_spec_says() -> None:
    spec = load_spec(ROOT / "specs/examples/token-ring.toml")
    report = check(spec)
    assert report.as_expected, report.differences
    expected = naive_counts(protocol_named(spec.protocol), 3, 1)
    counts = spec.expect.counts["knowledge"]
    assert (480, 1153, 20, 0) == (expected.unique, expected.total, expected.depth, expected.finals)
    assert [480, 1153, 20, 0] == list(counts.values())


def test_what_is_never_taken_is_said() -> None:
    protocol = evolve(COLLECTS, actions={**COLLECTS.actions, "rest": lambda _state: None})
    found = check(Spec("toy", 2, 1), protocol=protocol).result
    assert ("no actor takes the action rest",) == found.never


@pytest.mark.parametrize("engine", ["plain", "local"])
def test_an_action_that_fails_is_a_finding(engine: str) -> None:
    def flush(state: Toy) -> Step | None:
        if len(state.held) > 1:
            raise ValueError("too many")
        return COLLECTS.actions["flush"](state)

    protocol = evolve(COLLECTS, actions={"flush": flush})
    spec = Spec("toy", 2, 2, properties=("integrity",))
    result = check(spec, Options(engine=engine), protocol=protocol).result
    assert Verdict.ERROR is result.verdict
    assert "action 'flush' of protocol 'toy-collects' raised ValueError: too many" in str(
        result.error
    )
    assert result.counterexample is not None
    assert "the action 'flush' of protocol" in path_text(result.counterexample)


@pytest.mark.parametrize("engine", ["plain", "local"])
@pytest.mark.parametrize(
    ("packets", "says"),
    [
        ((0, Hello()), "the send 0, which is no (destination, packet) pair"),
        (((5, Hello()),), "give (destination, packet) with a destination from 0 to 1"),
        (((0, Data(Message(0, 1, (1,)))),), "no actor has sent it at the start"),
        (((0, []),), "is a list; use a tuple"),
        (None, "give a tuple"),
    ],
)
def test_packets_that_cannot_be_in_flight_are_refused(packets: Any, says: str, engine: str) -> None:
    protocol = evolve(GREETS, in_flight=lambda _actor, _actors: packets)
    result = check(Spec("toy", 2, 1), Options(engine=engine), protocol=protocol).result
    assert Verdict.ERROR is result.verdict
    assert says in str(result.error)
    assert "in_flight of protocol" in str(result.error)


def test_impure_actions_are_found_out() -> None:
    count = itertools.count()

    def flush(state: Toy) -> Step | None:
        return Step(evolve(state, actor=next(count))) if state.held else None

    protocol = evolve(COLLECTS, actions={"flush": flush})
    result = check(Spec("toy", 2, 1), protocol=protocol).result
    assert "action 'flush'" in str(result.error)
    assert "different results" in str(result.error) or "variable" in str(result.error)


def test_a_simulation_says_that_it_runs_neither() -> None:
    with pytest.raises(InputError, match="has actions of its own, which a simulation does not run"):
        handlers_of(RING)
