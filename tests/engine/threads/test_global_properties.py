"""Properties of all actors' states at once, by the fast engine; plain Python judges."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any
from zlib import crc32

import numpy as np
import pytest
from attrs import evolve
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from antecede.checker.check.engine import only_plainly
from antecede.checker.check.pipeline import check
from antecede.checker.check.spec import OwnProperties, Spec, load_spec, system_of
from antecede.checker.engine.rows import symmetry
from antecede.checker.engine.tabulated import global_properties
from antecede.checker.engine.tabulated.global_properties import GlobalProperties, first_places
from antecede.checker.engine.tabulated.tabulated_search import TabulatedSearch
from antecede.checker.engine.threads.transport import search_on_threads
from antecede.checker.model import Message, Property, Protocol, What, When
from antecede.checker.render.progress import place_text
from antecede.checker.search.loop import Stop, explore
from antecede.checker.search.options import Bounds, Options
from antecede.checker.search.result import Result, Verdict
from antecede.checker.semantics.transition import System
from antecede.checker.support.registry import protocol_named
from antecede.protocols.mfss import MFSS
from tests.conftest import ROOT
from tests.engine.rows.test_grading import winding
from tests.engine.threads import test_local
from tests.engine.threads.test_local import plainly
from tests.random_systems import RandomSystem, random_systems
from tests.semantics.test_transition import system_for

FILE = ROOT / "specs/examples/token_ring.py"
SUSPICIOUS = protocol_named(f"{FILE}:SUSPICIOUS")
METHODS: tuple[dict[str, Any], ...] = (
    {"threads": 1},
    {"threads": 3},
    {"threads": 3, "symmetry": False},
    {"threads": 1, "forget_from": 0},
    {"threads": 3, "forget_from": 0, "collect_from": 0, "symmetry": False},
    {"threads": 1, "traces": False},
)


def asked(system: System, *properties: Property) -> System:
    return evolve(system, properties=properties)


def respecting(predicate: Callable[[tuple[Any, ...]], bool], name: str = "own") -> Property:
    return Property(name, "of a test", What.GLOBAL_STATE, When.ALWAYS, predicate)


def seeking(predicate: Callable[[tuple[Any, ...]], bool], name: str = "sought") -> Property:
    return Property(name, "of a test", What.GLOBAL_STATE, When.SOMETIMES, predicate)


def by_tables(system: System, **options: Any) -> Result:
    return explore(system, search_on_threads(system, options=Options(**options)))


def found(result: Result) -> dict[str, Any]:
    """Return all that must not depend on how was searched."""
    shown = {name: run.length for name, run in result.shown.items()}
    return {**test_local.found(result), "shown": shown}


def assert_all_agree(system: System) -> Result:
    """Check that the fast engine finds the same however it searches; return what plain did."""
    expected = plainly(system)
    for options in METHODS:
        actual, wanted = found(by_tables(system, **options)), found(expected)
        if "traces" in options or "forget_from" in options:  # some witnesses come without a run
            assert actual["shown"].items() <= wanted["shown"].items()
            del actual["shown"], wanted["shown"]
        assert wanted == actual, options
    return expected


@pytest.mark.integration
@pytest.mark.parametrize("name", ["token-ring", "token-ring-suspicious"])
def test_the_examples_are_judged_on_tables_as_plainly(name: str) -> None:
    spec = load_spec(ROOT / f"specs/examples/{name}.toml")
    assert check(spec).as_expected
    assert "explored_plainly" not in check(spec).result.statistics
    local = [p for p in spec.system.properties if p.name != "can-deliver"]
    assert_all_agree(asked(spec.system, *local))


@pytest.mark.parametrize("actors", [2, 3])
def test_a_second_token_is_found_at_its_least_depth(actors: int) -> None:
    spec = Spec("ring", actors, 1, properties=("invariant:one-token", "causal-delivery"))
    result = assert_all_agree(system_of(spec, SUSPICIOUS))
    assert result.counterexample is not None
    assert 2 == result.counterexample.length


def on_hash(modulus: int, seed: int, *, symmetric: bool) -> Callable[[tuple[Any, ...]], bool]:
    """Return a predicate that few combinations do not respect, whichever they are."""

    def respects(cells: tuple[Any, ...]) -> bool:
        looks = [f"{cell.control} {cell.credit} {len(cell.held)}" for cell in cells]
        words = sorted(looks) if symmetric else looks
        return crc32(f"{seed} {words}".encode()) % modulus > 0

    return respects


@pytest.mark.integration
@settings(max_examples=15, suppress_health_check=list(HealthCheck))
@given(
    drawn=random_systems(),
    modulus=st.sampled_from([3, 40, 300]),
    seed=st.integers(0, 1000),
    symmetric=st.booleans(),
    alone=st.booleans(),
    history=st.sampled_from(["knowledge", "full"]),
)
def test_random_predicates_are_judged_alike_on_random_systems(
    drawn: RandomSystem, modulus: int, seed: int, symmetric: bool, alone: bool, history: str
) -> None:
    respects = on_hash(modulus, seed, symmetric=symmetric)
    shows = on_hash(modulus, seed + 1, symmetric=symmetric)
    system = system_for(
        drawn.protocol,
        drawn.actors,
        drawn.messages,
        workload=drawn.workload,
        network=drawn.network,
        history=history,
        clock_at=drawn.clock_at,
    )
    others = () if alone else system.properties
    sought = seeking(lambda cells: not shows(cells))
    assert_all_agree(asked(system, *others, respecting(respects), sought))


def test_a_predicate_that_tells_actors_apart_ends_symmetry() -> None:
    own = respecting(lambda states: states[0] == states[1] or states[1] != states[2])
    system = asked(system_for(MFSS, 3, 1), own)
    result = by_tables(system, threads=1)
    assert not result.statistics["symmetry"]["on"]
    assert "own depends on which actor is in which state" == result.statistics["symmetry"]["reason"]
    assert found(plainly(system)) == found(result)


def test_symmetry_stays_on_where_every_name_is_judged_alike() -> None:
    own = respecting(lambda states: sum(len(repr(state)) for state in states) < 10_000)
    result = by_tables(asked(system_for(MFSS, 3, 1), own), threads=1)
    assert Verdict.HOLDS is result.verdict
    assert result.statistics["symmetry"]["on"]


@pytest.mark.integration
def test_levels_by_weight_leave_the_shortest_run_to_a_search_by_depth() -> None:
    """An actor's state is how many messages were delivered there, four in all."""
    system = system_for(winding((3, 1)), 2, 2, properties=())
    holds = asked(system, respecting(lambda counts: sum(counts) <= 4))
    result = by_tables(holds, threads=2, forget_from=0, symmetry=False)
    assert Verdict.HOLDS is result.verdict
    assert {"receive Way1": 3} == result.statistics["weights"]
    sought = seeking(lambda counts: sum(counts) == 4)
    assert_all_agree(asked(system, sought, respecting(lambda counts: counts != (2, 1))))
    assert Verdict.HOLDS is assert_all_agree(asked(system, sought)).verdict


def test_progress_tells_sums_of_weights_from_levels() -> None:
    winds = system_for(winding((3, 1)), 2, 2, properties=())
    system = asked(winds, respecting(lambda counts: sum(counts) <= 4))
    lines: list[str] = []
    usual = Options(threads=1, symmetry=False)
    for options in (usual, evolve(usual, forget_from=0)):
        search = search_on_threads(system, options=options)
        explore(system, search, watch=lambda progress: lines.append(place_text(progress)))
        assert (options is usual) is not bool(search.state.weights)
        assert lines[-1].startswith("greatest depth " if search.state.weights else "level ")


def test_what_the_initial_state_shows_is_found_at_once() -> None:
    result = assert_all_agree(asked(system_for(MFSS, 2, 1), respecting(lambda _states: False)))
    assert result.counterexample is not None
    assert 0 == result.counterexample.length


def noting(calls: list[Any]) -> Callable[[tuple[Any, ...]], bool]:
    def respects(states: tuple[Any, ...]) -> bool:
        calls.append(states)
        return True

    return respects


def test_each_combination_is_judged_once() -> None:
    calls: list[Any] = []
    own = respecting(noting(calls))
    by_tables(asked(system_for(MFSS, 3, 1), own), threads=3, symmetry=False)
    # The initial state is judged before there are rows, and once more as one of them.
    assert len(calls) <= len(set(calls)) + 1
    plain: list[Any] = []
    plainly(asked(system_for(MFSS, 3, 1), respecting(noting(plain))))
    assert set(plain) == set(calls)


def test_rows_that_are_not_looked_at_are_missed(monkeypatch: pytest.MonkeyPatch) -> None:
    """The seeded bug: one combination of each level is judged."""
    right = global_properties.first_places
    monkeypatch.setattr(global_properties, "first_places", lambda columns: right(columns)[:1])
    spec = Spec("ring", 3, 1, properties=("invariant:one-token",))
    with pytest.raises(AssertionError):
        assert_all_agree(system_of(spec, SUSPICIOUS))


def test_judging_only_the_representative_is_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    """The seeded bug: the states that a representative replaces are not judged."""
    monkeypatch.setattr(
        GlobalProperties, "_orbit", lambda _self, combination, _columns: {combination}
    )
    with pytest.raises(AssertionError):
        test_a_predicate_that_tells_actors_apart_ends_symmetry()


@pytest.mark.parametrize("most", [1 << 62, 50])
@pytest.mark.parametrize("high", [3, 1 << 24])
def test_the_first_of_equal_rows_is_looked_at(
    most: int, high: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(global_properties, "MOST_KEYS", most)
    rows = np.random.default_rng(1).integers(0, 3, (200, 5)) * (high // 3)
    places = first_places(list(rows.T))
    listed = [tuple(row) for row in rows]
    assert [k for k, row in enumerate(listed) if row not in listed[:k]] == list(places)


def test_a_search_ended_while_it_judges_goes_on_by_judging_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(global_properties, "JUDGED_PER_PAUSE", 2)
    spec = Spec("ring", 3, 1, properties=("invariant:one-token",))
    system = system_of(spec, SUSPICIOUS)
    search = search_on_threads(system, options=Options(checkpoint=tmp_path / "saved", threads=2))

    def end() -> None:
        if search.unjudged:
            raise Stop("a test")

    with pytest.raises(Stop):
        _round_by_round(search, end)
    assert not search.found
    search.close()
    again = search_on_threads(system, options=Options(resume=tmp_path / "saved"))
    assert again.unjudged
    result = explore(system, again)
    assert result.counterexample is not None
    assert 2 == result.counterexample.length


def _round_by_round(search: TabulatedSearch, tick: Callable[[], None]) -> None:
    while search.frontier:
        search.round(tick)


def test_no_deeper_state_is_judged_than_was_asked_for() -> None:
    system = system_of(Spec("ring", 3, 1, properties=("invariant:one-token",)), SUSPICIOUS)
    for depth, verdict in ((2, Verdict.INCOMPLETE), (3, Verdict.VIOLATED)):
        search = search_on_threads(system, depth, Options(threads=1))
        assert verdict is explore(system, search, Bounds(max_depth=depth)).verdict


def test_a_predicate_that_raises_is_the_protocols_error() -> None:
    protocol = evolve(SUSPICIOUS, joint_invariants={"odd": at_most_one_or_raise})
    result = check(Spec("ring", 3, 1), Options(engine="local"), protocol=protocol).result
    assert Verdict.ERROR is result.verdict
    assert "invariant 'odd' of protocol 'token-ring-suspicious' raised ValueError" in str(
        result.error
    )


def at_most_one_or_raise(states: tuple[Any, ...]) -> bool:
    if sum(state.has_token for state in states) > 1:
        raise ValueError("two tokens")
    return True


@pytest.mark.parametrize(
    ("engine", "search", "judges"),
    [("local", "breadth", True), ("local", "depth", False), ("spark", "breadth", True)],
)
def test_breadth_first_search_alone_judges_it(engine: str, search: str, judges: bool) -> None:
    system = asked(system_for(MFSS, 2, 1), respecting(lambda _states: True))
    reason = only_plainly(system, Options(engine=engine, search=search))
    assert (reason is None) is judges


def test_an_actors_own_names_do_not_matter() -> None:
    """Four actors; every renaming of them is judged."""
    protocol: Protocol = MFSS
    own = respecting(lambda states: len({len(repr(state)) for state in states}) < 4)
    result = by_tables(asked(system_for(protocol, 4, 1), own), threads=2)
    whole = by_tables(asked(system_for(protocol, 4, 1), own), threads=2, symmetry=False)
    assert found(result) == found(whole)


CASTS: dict[str, Any] = {"actors": 3, "messages": 1, "workload": "broadcast"}
"""Each of three actors sends a message to the two others."""


def in_total_order(*, symmetry: bool) -> tuple[int, int, int | None]:
    spec = Spec(protocol="unordered", properties=("total-order",), **CASTS)
    result = check(spec, Options(symmetry=symmetry), selfcheck="off").result
    run, counts = result.counterexample, result.size
    return counts.unique_states, counts.total_states, None if run is None else run.length


def test_symmetry_renames_the_messages_that_actors_delivered() -> None:
    assert in_total_order(symmetry=False) == in_total_order(symmetry=True)
    assert 9 == in_total_order(symmetry=True)[2]


def waits_for_others(sequences: tuple[tuple[Message, ...], ...]) -> bool:
    """Return whether no actor delivered a message of its own, and not all those of the others."""
    foreign = all(m.sender != i for i, delivered in enumerate(sequences) for m in delivered)
    return foreign and any(len(delivered) < 2 for delivered in sequences)


OF_OTHERS = Property("waits-for-others", "of a test", What.SEQUENCES, When.ALWAYS, waits_for_others)


def length_with_symmetry() -> int | None:
    """Return the length of the run to the end of all deliveries; None without symmetry."""
    spec = Spec(
        protocol="unordered",
        properties=("waits-for-others",),
        own=OwnProperties((OF_OTHERS,)),
        **CASTS,
    )
    result = check(spec, Options(symmetry=True), selfcheck="off").result
    assert Verdict.VIOLATED is result.verdict
    assert result.counterexample is not None
    return result.counterexample.length if result.statistics["symmetry"]["on"] else None


def test_delivered_messages_that_keep_their_names_are_noticed(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The seeded bug: a renaming of actors leaves the messages that they delivered alone."""
    assert 9 == length_with_symmetry()  # three causal-sends and six deliveries
    monkeypatch.setattr(symmetry, "renamed_position", lambda position, _p: position)
    assert 9 != length_with_symmetry()


AT_END = Property(
    "agree",
    "of a test",
    What.GLOBAL_STATE,
    When.AT_FINAL_STATES,
    lambda states: len(set(states)) == 1,
)


@pytest.mark.parametrize("search", ["breadth", "depth", "random"])
def test_every_search_on_tables_judges_all_actors_in_final_states(search: str) -> None:
    """Actors of `rst` that send to one receiver disagree about what was sent."""
    spec = Spec(
        protocol="rst",
        actors=3,
        messages=1,
        search=search,
        properties=("agree",),
        own=OwnProperties((AT_END,)),
    )
    report = check(spec, Options(walks=5), selfcheck="off")
    assert Verdict.VIOLATED is report.result.verdict
    assert report.options.engine == "local"
