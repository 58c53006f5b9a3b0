"""The fast engine against the naive checker, whatever its options."""

from __future__ import annotations

import os
import subprocess
import sys
from typing import Any

import attrs
import numpy as np
import pytest
from attrs import evolve, frozen
from hypothesis import HealthCheck, given, settings

from antecede.checker.check.engine import explorer_for
from antecede.checker.engine.rows import geometry as g
from antecede.checker.engine.rows import packing
from antecede.checker.engine.rows.components import Interner
from antecede.checker.engine.rows.layout import Layout
from antecede.checker.engine.rows.packing import pack_widths, spread
from antecede.checker.engine.rows.symmetry import Symmetry
from antecede.checker.engine.threads import expansion
from antecede.checker.engine.threads.expansion import Expansion
from antecede.checker.engine.threads.shard import Rows, Shard
from antecede.checker.engine.threads.transport import search_on_threads
from antecede.checker.engine.visited import visited as visited_sets
from antecede.checker.engine.visited.visited import Visited
from antecede.checker.model import Message, Protocol, Step
from antecede.checker.search.loop import explore
from antecede.checker.search.options import Bounds, Options
from antecede.checker.search.plain import BreadthFirst
from antecede.checker.search.result import Counts, Result, Verdict
from antecede.checker.semantics.history import HISTORIES
from antecede.checker.semantics.transition import System
from antecede.checker.support.errors import CapacityError, InputError, ReplayError
from antecede.checker.support.registry import property_named, protocol_named
from antecede.properties import DEFAULT
from antecede.protocols.cykas import CYKAS
from antecede.protocols.mfss import MFSS
from tests.conftest import ROOT, method
from tests.engine.threads.common import threads_of
from tests.models import naive_counts
from tests.random_systems import RandomSystem, random_systems
from tests.semantics.test_transition import SYSTEMS, system_for

ENCODINGS = tuple(HISTORIES)

FAULTY_NETWORKS = [
    ("hybrid-basic", 2, 2, "duplicating", "any"),
    ("hybrid-basic", 2, 1, "duplicating+lossy", "any"),
    ("hybrid-basic", 2, 1, "lossy:1", "any"),
    ("hybrid-basic", 2, 1, "fifo+lossy", "any"),
    ("hybrid-basic", 2, 1, "unordered", "any"),
    ("hybrid-basic-as-printed", 2, 1, "unordered", "any"),
    ("hybrid-basic-no-timeout", 2, 2, "unordered", "any"),
    ("cykas", 2, 2, "duplicating", "any"),
    ("mfss", 2, 2, "lossy:1", "any"),
    ("mfss", 2, 2, "fifo+duplicating", "any"),
    ("rst", 2, 2, "unordered", "self"),
    ("rst-self", 2, 2, "unordered", "self"),
    ("rst", 3, 1, "unordered", "multicast"),
    ("cbcast", 3, 1, "unordered", "broadcast"),
    ("tree", 3, 1, "fifo", "any"),
]


def searched(system: System, **options: Any) -> Result:
    """Explore with the fast engine, one thread unless told otherwise."""
    chosen = method(**{"threads": 1, **options})
    return explore(system, search_on_threads(system, options=chosen))


def plainly(system: System) -> Result:
    return explore(system, BreadthFirst(system))


def found(result: Result) -> dict[str, Any]:
    """Return all that must not depend on the engine."""
    path = result.counterexample
    return {
        "verdicts": dict(result.properties),
        "counts": result.unreduced or result.counts,
        "shortest": path and (path.violates, path.length),
    }


def small(name: str, actors: int, messages: int, **options: Any) -> System:
    return system_for(protocol_named(name), actors, messages, **options)


@pytest.mark.parametrize("history", ENCODINGS)
@pytest.mark.parametrize("network", ["unordered", "fifo"])
@pytest.mark.parametrize(
    ("protocol", "actors", "messages", "workload"), SYSTEMS, ids=lambda value: str(value)[:24]
)
def test_finds_what_the_naive_checker_finds(
    protocol: Protocol, actors: int, messages: int, workload: str, network: str, history: str
) -> None:
    expected = naive_counts(
        protocol, actors, messages, workload=workload, network=network, history=history
    )
    system = system_for(
        protocol, actors, messages, workload=workload, network=network, history=history
    )
    for symmetry in (None, True) if history == "full" else (None,):
        result = searched(system, symmetry=symmetry)
        counts = attrs.astuple(result.unreduced or result.counts)
        assert (expected.unique, expected.total, expected.depth, expected.finals) == counts
        lengths = expected.violation.values()
        shortest = result.counterexample and result.counterexample.length
        assert min(lengths, default=None) == shortest


@pytest.mark.parametrize(
    ("name", "actors", "messages", "network", "workload"),
    FAULTY_NETWORKS,
    ids=lambda value: str(value),
)
@pytest.mark.parametrize("symmetry", [False, True])
def test_finds_what_plain_python_finds_on_every_network(
    name: str, actors: int, messages: int, network: str, workload: str, symmetry: bool
) -> None:
    system = small(name, actors, messages, network=network, workload=workload)
    expected, actual = found(plainly(system)), found(searched(system, symmetry=symmetry))
    assert expected == actual


def system_drawn(drawn: RandomSystem, history: str) -> System:
    """Return a random system with more properties than usual."""
    return system_for(
        drawn.protocol,
        drawn.actors,
        drawn.messages,
        workload=drawn.workload,
        network=drawn.network,
        history=history,
        properties=(*DEFAULT, "fifo-delivery"),
        clock_at=drawn.clock_at,
    )


@pytest.mark.smoke
@settings(max_examples=25, suppress_health_check=list(HealthCheck))
@given(drawn=random_systems())
def test_agrees_on_random_systems(drawn: RandomSystem) -> None:
    for history in ENCODINGS:
        system = system_drawn(drawn, history)
        expected = found(plainly(system))
        assert expected == found(searched(system))
        assert expected == found(searched(system, symmetry=True, forget_from=0, threads=2))


HARD = [
    ("mfss", 3, 1, "full"),
    ("mfss", 2, 3, "full"),
    ("cykas", 3, 1, "full"),
    ("cykas", 2, 3, "clocks"),
    ("cykas-secret-mode", 3, 2, "knowledge"),
    ("cykas-as-printed", 2, 2, "full"),
]

OPTIONS: list[dict[str, Any]] = [
    {"threads": 2},
    {"threads": 3},
    {"block": 1},
    {"block": 7, "threads": 2},
    {"threads": 2, "block": 64},
    {"forget_from": 0},
    {"forget_from": 0, "threads": 2, "block": 64},
    {"traces": False},
    {"symmetry": True},
    {"symmetry": True, "threads": 3, "forget_from": 0},
    {"symmetry": True, "traces": False},
]


@pytest.mark.parametrize("options", OPTIONS, ids=str)
@pytest.mark.parametrize(("name", "actors", "messages", "history"), HARD)
def test_no_option_changes_what_is_found(
    name: str, actors: int, messages: int, history: str, options: dict[str, Any]
) -> None:
    system = small(name, actors, messages, history=history)
    expected, actual = found(searched(system)), found(searched(system, **options))
    assert expected == actual


def test_reference_counts_of_three_by_two() -> None:
    """The two largest of docs/model.md: 873,895 and 567,367 unique states."""
    full = searched(small("mfss", 3, 2, history="full"), threads=2)
    assert Counts(873_895, 2_229_127, 19, 22_094) == full.counts
    clocks = searched(small("cykas", 3, 2, history="clocks"), symmetry=True)
    assert Counts(567_367, 2_044_243, 19, 121) == clocks.unreduced


# Symmetry


def toy(name: str, **handlers: Any) -> Protocol:
    return evolve(MFSS, name=name, **handlers)


@frozen
class Named:
    """A state that knows its actor's name."""

    me: int
    got: tuple[Message, ...] = ()


def _named_send(state: Named, message: Message) -> Step:
    return Step(state, sends=((message.receiver, message),))


def _deliver(state: Named, _src: int, packet: Message) -> Step:
    return Step(state, deliveries=(packet,))


def _actor_0_drops(state: Named, _src: int, packet: Message) -> Step:
    return Step(state, deliveries=() if state.me == 0 else (packet,))


def _in_pairs_lower_sender_first(state: Named, _src: int, packet: Message) -> Step:
    got = (*state.got, packet)
    if len(got) < 2:
        return Step(evolve(state, got=got))
    deliveries = tuple(sorted(got, key=lambda m: (m.sender, m.number)))
    return Step(evolve(state, got=()), deliveries=deliveries)


NAMED: dict[str, Any] = {
    "initial": lambda actor, _actors: Named(actor),
    "causal_send": _named_send,
    "witnesses": {},
}
ASYMMETRIC = {
    "actor 0 drops": toy("drops", **NAMED, receive=_actor_0_drops),
    "lower sender first": toy("pairs", **NAMED, receive=_in_pairs_lower_sender_first),
}


def test_a_state_that_holds_its_actors_name_may_still_be_symmetric() -> None:
    system = system_for(toy("named", **NAMED, receive=_deliver), 3, 1)
    result = searched(system, symmetry=True)
    assert result.statistics["symmetry"]["on"]
    assert plainly(system).counts == result.unreduced


@pytest.mark.parametrize("protocol", ASYMMETRIC.values(), ids=list(ASYMMETRIC))
def test_a_protocol_that_treats_actors_differently_is_not_reduced(protocol: Protocol) -> None:
    system = system_for(protocol, 3, 1)
    result = searched(system, symmetry=True)
    assert not result.statistics["symmetry"]["on"]
    assert "actors" in result.statistics["symmetry"]["reason"]
    assert found(plainly(system)) == found(result)


def test_a_witness_that_names_an_actor_is_not_reduced() -> None:
    protocol = toy("seen", **{**NAMED, "witnesses": {"zero": lambda s: s.me == 0 and s.got}})
    protocol = evolve(
        protocol, receive=lambda s, _src, m: Step(evolve(s, got=(*s.got, m)), deliveries=(m,))
    )
    system = system_for(protocol, 2, 1)
    system = evolve(system, properties=(property_named("witness:zero", protocol),))
    result = searched(system, symmetry=True)
    assert "differ between actors" in result.statistics["symmetry"]["reason"]
    assert {"witness:zero": Verdict.HOLDS} == dict(result.properties)


@pytest.mark.parametrize(
    ("workload", "reason"),
    [("script:[[1],[0]]", "the workload script names actors")],
)
def test_why_there_is_no_symmetry_is_said(workload: str, reason: str) -> None:
    result = searched(small("mfss", 2, 1, workload=workload), symmetry=True)
    assert {"on": False, "reason": reason} == result.statistics["symmetry"]


def test_five_actors_are_rotated_and_nothing_is_lost() -> None:
    system = small("unordered", 5, 1)
    result = searched(system, symmetry=True)
    assert 5 == result.statistics["symmetry"]["permutations"]
    assert searched(system).counts == result.unreduced


def test_renaming_that_forgets_something_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    """The seeded bug: undelivered messages keep their stamps when actors are renamed."""
    real = Symmetry._renamed_stamp
    monkeypatch.setattr(
        Symmetry, "_renamed_stamp", lambda self, stamp, _p: real(self, stamp, (0, 1, 2))
    )
    with pytest.raises(ReplayError, match="a bug of the engine"):
        searched(small("mfss", 3, 1, history="clocks"), symmetry=True)


def test_representatives_stay_the_same_when_rows_need_more_words(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(packing, "WORD_BITS", 26)
    system = small("cykas", 3, 2)
    explorer = search_on_threads(system, options=method(threads=1, symmetry=True))
    result = explore(system, explorer)
    assert 2 == explorer.filler.layout.row_words
    assert Counts(52_521, 221_935, 19, 1) == result.unreduced


# Tables, rows and the visited set


@pytest.mark.parametrize("bits", [1, 2, 12, 31, 40])
@pytest.mark.parametrize("symmetry", [False, True])
def test_rows_that_become_too_narrow_are_packed_anew(
    bits: int, symmetry: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With narrow fields that are never widened in advance, rows grow word by word."""
    monkeypatch.setattr(
        "antecede.checker.engine.rows.composites.spread", lambda needs: [max(n, 1) for n in needs]
    )
    monkeypatch.setattr("antecede.checker.engine.rows.composites.ROW_BITS", bits)
    system = small("mfss", 3, 1, history="full")
    result = searched(system, symmetry=symmetry, threads=2)
    assert Counts(1_267, 2_611, 10, 68) == (result.unreduced or result.counts)


def test_columns_that_need_two_words_are_found_again() -> None:
    assert (2, [0, 0, 1], [0, 40, 0]) == pack_widths([40, 20, 10])
    assert [21, 21, 21] == spread([4, 4, 4])
    assert 1 == pack_widths(spread([31, 4, 4]))[0]


def test_local_words_grow_to_two_and_nothing_changes(monkeypatch: pytest.MonkeyPatch) -> None:
    real = Layout.needed_columns
    monkeypatch.setattr(
        Layout, "needed_columns", lambda self, slack: [n and n + 14 for n in real(self, slack)]
    )
    explorer = search_on_threads(small("cykas", 3, 1, history="full"), options=method())
    result = explore(explorer.system, explorer)
    assert 1 < explorer.filler.layout.words
    assert Counts(1_267, 2_611, 10, 68) == result.counts


@pytest.mark.parametrize("width", [1, 2])
def test_the_visited_set_keeps_every_state_as_it_grows_and_shrinks(
    width: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(visited_sets, "SMALLEST", 64)
    explorer = search_on_threads(
        small("cykas", 2, 3, history="clocks"),
        options=method(threads=2, forget_from=0 if width == 2 else None),
    )
    for shard in threads_of(explorer).shards:
        shard.visited.capacity = 64
    result = explore(explorer.system, explorer)
    assert found(plainly(explorer.system))["counts"] == result.counts


def test_no_more_values_are_numbered_than_a_key_has_room_for(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("antecede.checker.engine.rows.geometry.NUMBER_LIMIT", 2)
    interner = Interner("things")
    assert [0, 1, 0] == [interner.number(value) for value in "aba"]
    with pytest.raises(CapacityError, match=r"more than 2 distinct values of things.*plain"):
        interner.number("c")


@frozen
class Diary:
    """A state that never repeats."""

    events: tuple[Any, ...] = ()


def test_a_protocol_whose_states_never_repeat_still_works() -> None:
    protocol = evolve(
        MFSS,
        name="diary",
        initial=lambda _actor, _actors: Diary(),
        causal_send=lambda s, m: Step(
            Diary((*s.events, m)), sends=((m.receiver, (m, len(s.events))),)
        ),
        receive=lambda s, src, p: Step(Diary((*s.events, (src, p))), deliveries=(p[0],)),
        witnesses={},
    )
    system = system_for(protocol, 3, 1)
    assert found(plainly(system)) == found(searched(system))
    assert found(plainly(system)) == found(searched(system, symmetry=True))


def test_bounds_give_incomplete() -> None:
    system = small("mfss", 3, 2)
    for bounds in (Bounds(max_states=100), Bounds(max_seconds=1e-9), Bounds(max_memory=1)):
        result = explore(system, search_on_threads(system, options=method()), bounds)
        assert (Verdict.INCOMPLETE, True) == (result.verdict, bool(result.stopped_by))
    result = explore(system, search_on_threads(system, 5, method()), Bounds(max_depth=5))
    assert (Verdict.INCOMPLETE, 5) == (result.verdict, result.counts.depth)


def test_more_actors_than_keys_have_room_for_are_refused() -> None:
    with pytest.raises(InputError, match=r"actors is 17; .* at most 16.*--engine plain"):
        explorer_for(small("mfss", 17, 1), Options())
    system = small("unordered", 16, 1, workload="script:" + str([[1], [0], *[[]] * 14]))
    assert found(plainly(system)) == found(explore(system, explorer_for(system, Options())))


@pytest.mark.parametrize("engine", ["plain", "local"])
def test_what_an_actor_heard_of_itself_is_kept_only_while_it_matters(engine: str) -> None:
    system = small("unordered", 2, 1, workload="self", history="clocks")
    result = plainly(system) if engine == "plain" else searched(system)
    assert Counts(29, 45, 5, 4) == result.counts


@pytest.mark.slow
def test_a_state_may_have_tens_of_thousands_of_transitions() -> None:
    """Each of 13 actors can send to any group of others: that is more than 15 bits can say."""
    system = small("unordered", 13, 1, workload="multicast", properties=("integrity",))
    explorer = search_on_threads(system, max_depth=2, options=Options(threads=1))
    counts = explore(system, explorer).counts
    sends = 13 * (2**12 - 1)
    assert (1 + sends, 1 + sends) == (counts.unique_states, counts.total_states)


def test_a_state_with_more_transitions_than_a_place_can_say_ends_the_search(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(g, "MOST_TRANSITIONS", 8)
    result = searched(small("unordered", 3, 1, workload="multicast"), block=1)
    assert Verdict.INCOMPLETE is result.verdict
    assert "a state has more than 8 transitions" in (result.stopped_by or "")


def test_transitions_are_told_by_kind() -> None:
    result = searched(small("cykas", 2, 2))
    kinds = result.statistics["transitions"]
    assert {"causal-send", "receive Normal", "receive Ack"} == set(kinds)
    assert result.counts.total_states - 1 == sum(kind["total"] for kind in kinds.values())
    assert result.counts.unique_states - 1 == sum(kind["new"] for kind in kinds.values())
    assert result.counts.unique_states == sum(result.statistics["states_per_depth"])


WITHOUT_JIT = """
from antecede.checker.engine.threads.transport import search_on_threads
from antecede.checker.search.loop import explore
from tests.conftest import method
from tests.engine.threads.test_local import found, plainly, small
from tests.engine.threads.test_local_depth import both, walked
for name, history in (("mfss", "full"), ("cykas", "knowledge"), ("cykas-as-printed", "clocks")):
    system = small(name, 2, 2, history=history)
    for options in ({}, {"symmetry": True, "forget_from": 0}):
        explorer = search_on_threads(system, options=method(threads=2, block=64, **options))
        assert found(plainly(system)) == found(explore(system, explorer)), (name, options)
plain, local = both(small("cykas", 2, 2))
assert plain == local
walked(small("mfss", 2, 1), walks=3)
"""


@pytest.mark.integration
def test_kernels_work_without_the_compiler() -> None:
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", WITHOUT_JIT],
        cwd=ROOT,
        env={**os.environ, "NUMBA_DISABLE_JIT": "1"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert (0, "") == (done.returncode, done.stderr)


def test_one_visited_set_tells_how_full_it_is() -> None:
    explorer = search_on_threads(small("mfss", 2, 2), options=method(threads=1))
    explore(explorer.system, explorer)
    owned: Visited = threads_of(explorer).shards[0].visited
    assert 81 == owned.unique == owned.states
    assert CYKAS.name == "cykas"


# Sharing a level among threads


def test_rows_that_were_not_tried_yet_are_shared_first() -> None:
    rows = Rows(2, np.array([3, 9, 4]), 10, 15)
    assert (8, 3) == (rows.count, rows.first)
    last = rows.cut(2)
    assert (2, [], 13, 15) == (last.source, list(last.todo), last.begin, last.end)
    more = rows.cut(4)
    assert (2, [4], 10, 13) == (more.source, list(more.todo), more.begin, more.end)
    assert (2, [3, 9], 10, 10) == (rows.source, list(rows.todo), rows.begin, rows.end)
    assert (2, 3) == (rows.count, rows.first)


def test_threads_get_equal_numbers_of_rows(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(expansion, "LEAST_SHARE", 2)
    search = search_on_threads(small("mfss", 2, 1), options=method(threads=3))
    explore(search.system, search)
    part: Expansion = threads_of(search).expansion
    for shard, todo, fresh in zip(part.shards, (15, 0, 1), (15, 1, 1), strict=True):
        shard.waiting = [Rows(shard.number, np.arange(100, 100 + todo), 0, fresh)]
    part._share()
    assert [11, 11, 11] == [shard.unfinished for shard in part.shards]
    waiting = [rows for shard in part.shards for rows in shard.waiting if rows.source == 0]
    assert sorted([*range(15), *range(100, 115)]) == sorted(
        row for rows in waiting for row in [*rows.todo, *range(rows.begin, rows.end)]
    )


def test_threads_that_are_done_take_over_rows_of_another(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(expansion, "LEAST_SHARE", 1)
    taken = set()
    expand = Expansion._expand_rows

    def watched(self: Expansion, shard: Shard, rows: Rows) -> bool:
        taken.add((shard.number, rows.source))
        return expand(self, shard, rows)

    monkeypatch.setattr(Expansion, "_expand_rows", watched)
    options = method(threads=3, block=64, symmetry=False)
    explorer = search_on_threads(small("cykas-secret-mode", 3, 2), options=options)
    shared = explore(explorer.system, explorer)
    explorer = search_on_threads(
        small("cykas-secret-mode", 3, 2), options=evolve(options, threads=1)
    )
    alone = explore(explorer.system, explorer)
    assert {number for number, source in taken if number != source}
    assert alone.counts == shared.counts
    assert alone.counterexample is not None
    assert shared.counterexample is not None
    assert alone.counterexample.length == shared.counterexample.length
