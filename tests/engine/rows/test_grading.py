"""Uniform depth of states: the proof from the tables, compared with the whole graph."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from attrs import evolve, frozen
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from antecede.checker.check import exploring
from antecede.checker.check.engine import explorer_for
from antecede.checker.check.pipeline import check
from antecede.checker.check.spec import Spec
from antecede.checker.engine.rows.grading import ARMED, LOST, SENT, Grading, packets_of
from antecede.checker.engine.tabulated.tabulated_search import TabulatedSearch
from antecede.checker.engine.threads.transport import search_on_threads
from antecede.checker.engine.threads.weighted_levels import WeightedExpansion
from antecede.checker.model import Message, Protocol, Step
from antecede.checker.search.loop import explore
from antecede.checker.search.options import Bounds, Options
from antecede.checker.search.result import Counts
from antecede.checker.semantics.history import HISTORIES
from antecede.checker.semantics.transition import System, enabled, initial_state, successor
from antecede.checker.semantics.workload import split
from antecede.checker.support.errors import ReplayError
from tests.conftest import method
from tests.engine.threads.common import threads_of
from tests.engine.threads.test_local import found, plainly, searched, small, system_drawn
from tests.random_systems import RandomSystem, random_systems
from tests.semantics.test_transition import system_for


def has_one_depth_each(system: System) -> bool:
    """Return whether each transition of the whole graph leads one level down, by plain Python."""
    level = [initial_state(system)]
    depths = {level[0]: 0}
    while level:
        state = level.pop(0)
        for transition in enabled(system, state):
            after = successor(system, state, transition).state
            if after not in depths:
                level.append(after)
            if depths.setdefault(after, depths[state] + 1) != depths[state] + 1:
                return False
    return True


def explorer(system: System, **options: Any) -> TabulatedSearch:
    chosen = method(**{"threads": 1, "forget_from": 0, **options})
    return search_on_threads(system, options=chosen)


GRADED = [
    ("unordered", 3, 1, {}),
    ("unordered", 2, 2, {"network": "lossy:1"}),
    ("fifo", 2, 2, {"network": "fifo"}),
    ("mfss", 2, 3, {"network": "fifo"}),
    ("unordered", 3, 1, {"workload": "broadcast"}),
    ("mfss", 2, 2, {"history": "full"}),
    ("mfss-fifo", 2, 2, {"network": "fifo"}),
    ("rst", 3, 1, {"workload": "self"}),
    ("ses", 3, 1, {}),
    ("cykas", 3, 1, {}),
]


@pytest.mark.parametrize("symmetry", [False, True])
@pytest.mark.parametrize(("name", "actors", "messages", "options"), GRADED, ids=str)
def test_where_ranks_say_so_every_state_has_one_depth_and_the_visited_ones_are_forgotten(
    name: str, actors: int, messages: int, options: dict[str, str], symmetry: bool
) -> None:
    system = small(name, actors, messages, **options)
    assert has_one_depth_each(system)
    search = explorer(system, symmetry=symmetry, threads=2)
    result = explore(system, search)
    assert result.statistics["graded"] == {"on": True, "reason": None}
    assert found(plainly(system)) == found(result)
    if not search.found:
        assert result.statistics["dropped_states"] == result.counts.unique_states


def test_arming_a_send_is_a_transition_with_a_weight_of_its_own() -> None:
    system = small("mfss", 2, 2)
    system = evolve(system, workload=split(system.workload))
    assert has_one_depth_each(system)
    result = explore(system, explorer(system))
    assert result.statistics["graded"]["on"]
    assert plainly(system).counts == result.counts


SEVERAL_DEPTHS = [
    ("unordered", 2, 1, {"network": "duplicating"}, "receive Data leads to states by paths"),
    ("hybrid-basic", 2, 1, {"network": "duplicating"}, "a packet sent again merges"),
]


@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize(
    ("name", "actors", "messages", "options", "reason"), SEVERAL_DEPTHS, ids=str
)
def test_where_states_were_forgotten_wrongly_the_search_begins_again(
    name: str, actors: int, messages: int, options: dict[str, str], reason: str, threads: int
) -> None:
    system = small(name, actors, messages, **options)
    result = explore(system, explorer(system, threads=threads))
    assert not result.statistics["graded"]["on"]
    assert reason in result.statistics["graded"]["reason"]
    assert result.statistics["dropped_states"] == 0
    assert found(searched(system, forget_from=None)) == found(result)


def test_blind_faith_in_ranks_would_miscount(monkeypatch: pytest.MonkeyPatch) -> None:
    """The seeded bug: conditions without a solution are not noticed."""
    monkeypatch.setattr(Grading, "_add", lambda _self, _form: None)
    system = small("cykas", 3, 2)
    result = explore(system, explorer(system))
    assert result.counts.unique_states > 52_521


SCRIPT = {"workload": "script:[[1,2,1],[0,2],[1]]"}
SHORT = {"workload": "script:[[1,2,1],[0],[]]"}
WEIGHED = [
    ("cykas", SCRIPT, {"receive Normal": 2}),
    ("cykas", {**SCRIPT, "network": "fifo"}, {"receive Normal": 2}),
    ("cykas", {**SCRIPT, "history": "clocks"}, {"receive Normal": 2}),
    ("cykas", {**SHORT, "history": "full"}, {"receive Normal": 2}),
    ("cykas", {"workload": "script:[[1,2],[2,0],[0,1]]"}, {"receive Normal": 2}),
]


@pytest.mark.integration
@pytest.mark.parametrize("symmetry", [False, True])
@pytest.mark.parametrize(("name", "options", "weights"), WEIGHED, ids=str)
def test_where_weights_say_so_states_are_forgotten_by_their_sum_and_keep_their_least_depth(
    name: str, options: dict[str, str], weights: dict[str, int], symmetry: bool
) -> None:
    system = small(name, 3, 3, **options)
    result = explore(system, explorer(system, symmetry=symmetry, threads=2))
    assert weights == result.statistics["weights"]
    assert found(plainly(system)) == found(result)
    by_depth = searched(system, symmetry=symmetry, forget_from=None).statistics
    assert by_depth["states_per_depth"] == result.statistics["states_per_depth"]
    assert sum(by_depth["states_per_depth"]) == result.statistics["dropped_states"]


def test_a_search_goes_by_weight_once_it_is_large() -> None:
    system = small("cykas", 3, 3, **SCRIPT)
    counts = plainly(system).counts
    for forget, weighed in ((10, True), (10_000, False), (None, False)):
        result = explore(system, explorer(system, forget_from=forget))
        assert weighed == ("weights" in result.statistics)
        assert counts == result.counts


@pytest.mark.integration
def test_what_is_violated_is_found_again_by_depth() -> None:
    system = small("cykas-secret-mode", 3, 2)
    search = explorer(system, threads=2)
    result = explore(system, search)
    assert search.assumptions.tried
    assert "weights" not in result.statistics
    assert found(plainly(system)) == found(result)
    assert result.counterexample is not None


def test_levels_by_weight_survive_dropped_composites() -> None:
    system = small("cykas", 3, 3, history="full", **SHORT)
    expected = found(plainly(system))
    for threads in (1, 3):
        result = explore(system, explorer(system, threads=threads, collect_from=1, block=64))
        assert result.statistics["dropped_composites"] > 0
        assert result.statistics["weights"]
        assert expected == found(result)


def test_levels_by_weight_survive_wider_rows(monkeypatch: pytest.MonkeyPatch) -> None:
    repacked = []
    really = WeightedExpansion._repack

    def noted(self: WeightedExpansion, repacking: Any) -> None:
        repacked.append(dict(self.weights))
        really(self, repacking)

    monkeypatch.setattr(WeightedExpansion, "_repack", noted)
    monkeypatch.setattr("antecede.checker.engine.rows.packing.WORD_BITS", 9)
    monkeypatch.setattr("antecede.checker.engine.rows.composites.ROW_BITS", 1)
    system = small("cykas", 3, 3, **SCRIPT)
    result = explore(system, explorer(system, threads=2))
    assert {"receive Normal": 2} in repacked
    assert result.statistics["row_bytes"] > 8
    assert plainly(system).counts == result.counts


@pytest.mark.integration
def test_a_search_by_weight_goes_on_from_a_checkpoint(tmp_path: Path) -> None:
    system = small("cykas", 3, 3, **SCRIPT)
    first = explorer(system, checkpoint=tmp_path, threads=2)
    explore(system, first, bounds=Bounds(max_states=500))
    first.close()
    again = explorer(system, resume=tmp_path, threads=None)
    assert {"receive Normal": 2} == again.state.weights
    assert plainly(system).counts == explore(system, again).counts


def test_depths_that_are_not_lowered_would_be_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    """The seeded bug: a state keeps the sum of weights along one of its paths for its depth."""
    system = small("cykas", 3, 3, **SCRIPT)
    search = explorer(system)
    really = WeightedExpansion._depths
    sums = iter(range(1, 1_000))

    def wrongly(self: WeightedExpansion) -> dict[int, int]:
        for shard in self.shards:
            shard.level.known_depths[:] = next(sums)
        return really(self)

    monkeypatch.setattr(WeightedExpansion, "_depths", wrongly)
    assert plainly(system).counts.depth < explore(system, search).counts.depth


@frozen
class Way:
    """A message on its way; how it goes is in its class."""

    message: Message


@frozen
class Hop:
    """A note that is answered by the next one, until the last."""


WAYS = tuple(type(f"Way{k}", (Way,), {}) for k in range(4))
HOPS = tuple(type(f"Hop{k}", (Hop,), {}) for k in range(3))


def winding(ways: tuple[int, ...]) -> Protocol:
    """Return a protocol whose messages take ways of different lengths.

    Args:
        ways: which way a message goes, by how many were delivered to its sender; way k is followed
            by k notes.
    """

    def notes(to: int, count: int) -> tuple[tuple[int, Hop], ...]:
        return ((to, HOPS[count - 1]()),) if count else ()

    def send(delivered: int, message: Message) -> Step:
        way = WAYS[ways[delivered % len(ways)]]
        return Step(delivered, sends=((message.receiver, way(message)),))

    def receive(delivered: int, src: int, packet: Any) -> Step:
        if isinstance(packet, Way):
            after = notes(src, WAYS.index(type(packet)))
            return Step(delivered + 1, sends=after, deliveries=(packet.message,))
        return Step(delivered, sends=notes(src, HOPS.index(type(packet))))

    return Protocol(
        name="winding",
        summary="ways",
        source="this test",
        initial=lambda *_: 0,
        causal_send=send,
        receive=receive,
    )


@pytest.mark.integration
@settings(max_examples=25, suppress_health_check=list(HealthCheck))
@given(
    ways=st.lists(st.integers(0, 3), min_size=1, max_size=3).map(tuple),
    actors=st.integers(2, 3),
    history=st.sampled_from(sorted(HISTORIES)),
    safe=st.booleans(),
)
def test_random_systems_with_weights_are_explored_exactly(
    ways: tuple[int, ...], actors: int, history: str, safe: bool
) -> None:
    judged = ("all-delivered",) if safe else ("fifo-delivery", "all-delivered")
    system = system_for(winding(ways), actors, 4 - actors, history=history, properties=judged)
    expected = found(plainly(system))
    for symmetry in (False, True):
        search = explorer(system, symmetry=symmetry, threads=2)
        result = explore(system, search)
        assert expected == found(result)
        if result.statistics["graded"]["on"] and result.counterexample is None:
            assert has_one_depth_each(system)


def test_the_longest_way_weighs_least() -> None:
    system = system_for(winding((3, 1)), 2, 2, properties=("all-delivered",))
    result = explore(system, explorer(system))
    assert {"receive Way1": 3} == result.statistics["weights"]
    assert plainly(system).counts == result.counts


@pytest.mark.integration
@settings(max_examples=25, suppress_health_check=list(HealthCheck))
@given(drawn=random_systems())
def test_ranks_are_right_of_random_systems(drawn: RandomSystem) -> None:
    for history in HISTORIES:
        system = system_drawn(drawn, history)
        expected = found(plainly(system))
        for symmetry in (False, True):
            result = explore(system, explorer(system, symmetry=symmetry, threads=2))
            assert expected == found(result)
            if result.statistics["graded"]["on"] and result.counterexample is None:
                assert has_one_depth_each(system)


def test_nothing_is_forgotten_before_there_is_much() -> None:
    system = small("mfss", 3, 2)
    for forget, dropped in ((500, True), (10_000_000, False), (None, False)):
        result = explore(system, explorer(system, forget_from=forget))
        assert dropped == (result.statistics["dropped_states"] > 0)
        assert result.statistics["graded"]["on"]


def test_to_keep_all_visited_states_can_be_asked_for() -> None:
    for forget, forgets in (("auto", True), ("never", False)):
        search = explorer_for(small("mfss", 2, 1), Options(forget=forget))
        assert isinstance(search, TabulatedSearch)
        assert forgets == (search.options.forgets_after is not None)


def test_on_spark_too() -> None:
    for forget, forgets in (("auto", True), ("never", False)):
        search = explorer_for(small("mfss", 2, 1), Options(engine="spark", forget=forget))
        assert isinstance(search, TabulatedSearch)
        assert forgets == (search.options.forgets_after is not None)
        search.close()


def test_a_search_goes_on_from_a_checkpoint_with_states_forgotten(tmp_path: Path) -> None:
    system = small("mfss", 3, 2)
    first = explorer(system, checkpoint=tmp_path)
    explore(system, first, bounds=Bounds(max_states=2_000))
    first.close()
    again = explorer(system, resume=tmp_path)
    assert threads_of(again).expansion.forgot
    result = explore(system, again)
    assert searched(system).counts == result.counts


# Ranks


def test_equations_define_ranks_and_then_weights() -> None:
    grading = Grading()
    grading.start("idle")
    grading.step("idle", "waiting", {SENT: 1, "packet Data": 1}, "causal-send")
    grading.step("waiting", "idle", {"packet Ack": -1}, "receive Ack")
    grading.start("receiver")
    grading.step("receiver", "receiver", {"packet Data": -1, "packet Ack": 1}, "receive Data")
    assert grading.reason is None
    # Repetitions, and consequences of the others, add nothing new.
    grading.step("waiting", "idle", {"packet Ack": -1}, "receive Ack")
    assert {"packet Ack", SENT} == set(grading.conditions)
    assert {} == grading.weights
    # sent + data = w(causal-send), data + w(receive Data) = ack, ack + w(receive Ack) + … = 0.
    weights = {name: n for name, n in grading.conditions[SENT].items() if n and name != SENT}
    kinds = ("causal-send", "receive Data", "receive Ack")
    assert {f"transition {kind}" for kind in kinds} == set(weights)
    assert {-grading.conditions[SENT][SENT]} == set(weights.values())


def test_where_depths_differ_a_transition_may_weigh_more() -> None:
    grading = Grading()
    grading.start("idle")
    grading.step("idle", "done", {}, "jump")
    assert grading.allows({})
    grading.step("idle", "near", {}, "step")
    grading.step("near", "done", {}, "step")
    assert "step leads to states by paths of different lengths" == grading.reason
    assert {"jump": 2} == grading.weights
    assert grading.allows({"jump": 4, "step": 2})
    assert not grading.allows({})
    grading.step("near", "far", {}, "jump")
    grading.step("far", "done", {}, "jump")
    assert grading.weights is None
    assert not grading.allows({"jump": 2})


def test_equations_without_a_solution_are_refused_with_the_transition() -> None:
    grading = Grading()
    grading.start("idle")
    grading.step("idle", "idle", {SENT: 1}, "causal-send")
    grading.still({ARMED: 1}, "arm")
    assert grading.reason is None
    grading.step("idle", "idle", {SENT: 1, LOST: 0}, "lucky causal-send")
    assert grading.reason is None
    grading.step("idle", "idle", {}, "double causal-send")
    assert "double causal-send leads to states by paths of different lengths" == grading.reason
    assert grading.weights is None
    grading.step("nobody", "knows", {}, "anything")  # of no interest any more
    assert not grading.ranks


def test_packets_are_weighed_by_class() -> None:
    assert packets_of([1, "a", 2], -1) == {"packet int": -2, "packet str": -1}


def test_one_depth_is_asked_of_the_whole_graph() -> None:
    assert has_one_depth_each(small("mfss", 2, 1))
    assert not has_one_depth_each(small("unordered", 2, 1, network="duplicating"))
    assert (
        Counts(567_367, 2_044_243, 19, 121)
        == searched(small("cykas", 3, 2, history="clocks"), forget_from=0).counts
    )


@pytest.mark.integration
def test_a_search_that_may_use_little_memory_forgets_earlier(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def forgets(max_memory: int | None) -> int | None:
        return exploring.sparing(Options(), Bounds(max_memory=max_memory)).forget_from

    monkeypatch.setattr(exploring, "usable_memory_bytes", lambda: 1 << 40)
    assert forgets(None) == Options().forget_from == forgets(1 << 34)
    assert forgets(1 << 30) == 1 << 17
    assert exploring.sparing(Options(forget_from=None), Bounds(max_memory=1)).forget_from is None
    spec = Spec("cykas", actors=3, messages=2, history="knowledge")
    plenty = check(spec, bounds=Bounds()).result
    monkeypatch.setattr(exploring, "usable_memory_bytes", lambda: 10 * exploring.FORGETTING)
    little = check(spec, bounds=Bounds()).result
    assert (little.counts, little.unreduced) == (plenty.counts, plenty.unreduced)
    assert "weights" in little.statistics
    assert "weights" not in plenty.statistics


# Composites


@pytest.mark.parametrize("threads", [1, 3])
@pytest.mark.parametrize(("name", "actors", "messages"), [("mfss", 3, 1), ("rst", 2, 3)])
def test_composites_that_are_out_of_use_are_dropped(
    name: str, actors: int, messages: int, threads: int
) -> None:
    system = small(name, actors, messages, history="full")
    search = explorer(system, threads=threads, collect_from=1)
    result = explore(system, search)
    assert found(searched(system, forget_from=None)) == found(result)
    assert result.statistics["dropped_composites"] > 0
    told = result.statistics["composites"] + result.statistics["dropped_composites"]
    assert searched(system).statistics["composites"] <= told  # some are met again


@pytest.mark.parametrize(
    ("name", "messages", "history"),
    [
        ("mfss", 1, "full"),
        ("cykas", 2, "knowledge"),
        pytest.param("cykas", 2, "full", marks=pytest.mark.slow),
    ],
)
def test_composites_are_dropped_with_all_their_renamings(
    name: str, messages: int, history: str
) -> None:
    system = small(name, 3, messages, history=history)
    search = explorer(system, symmetry=True, traces=False, collect_from=1, threads=2)
    result = explore(system, search)
    assert searched(system).counts == result.unreduced
    assert result.statistics["symmetry"]["on"]
    assert result.statistics["dropped_composites"] > 0


def test_composites_stay_where_states_may_be_met_again() -> None:
    for options in ({"symmetry": True}, {"forget_from": None}):
        result = explore(
            small("mfss", 3, 1), explorer(small("mfss", 3, 1), collect_from=1, **options)
        )
        assert result.statistics["dropped_composites"] == 0


def test_a_composite_that_is_numbered_wrongly_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    """The seeded bug: rows keep the old numbers."""
    monkeypatch.setattr(
        "antecede.checker.engine.rows.composites_kernels.renumber", lambda *_args: None
    )
    system = small("mfss", 2, 3, history="full")
    with pytest.raises(ReplayError):  # states that there are not
        explore(system, explorer(system, collect_from=1))
