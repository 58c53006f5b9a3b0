"""The reference checker itself: counts derived by hand, and counts that others arrived at too."""

from __future__ import annotations

from pathlib import Path

import pytest
from attrs import evolve

from antecede.checker.check.pipeline import check
from antecede.checker.check.spec import Spec
from antecede.checker.model import Message, Packet, Protocol, Step
from antecede.checker.search.options import Bounds, Options
from antecede.checker.support.registry import protocol_named
from antecede.protocols.cykas import CYKAS
from antecede.protocols.mfss import MFSS
from antecede.protocols.unordered import UNORDERED
from tests import naive_endless
from tests.models import EVERY_SAFETY, MODELS, Model, naive_counts
from tests.naive import Counts

PROTOCOLS = {"mfss": MFSS, "cykas": CYKAS}


def test_reference_checker_stays_short() -> None:
    source = Path(__file__).with_name("naive.py").read_text(encoding="utf-8")
    assert len(source.splitlines()) < 370


def test_reference_checker_sees_nothing_of_the_checker_but_its_vocabulary() -> None:
    source = Path(__file__).with_name("naive.py").read_text(encoding="utf-8")
    imports = {
        line.split()[1] for line in source.splitlines() if line.startswith(("from", "import"))
    }
    assert imports == {"__future__", "antecede.checker.model", "typing"}


def test_reference_checker_of_endless_runs_stays_short() -> None:
    source = Path(__file__).with_name("naive_endless.py").read_text(encoding="utf-8")
    assert len(source.splitlines()) < 220
    assert "antecede.checker.semantics" not in source


@pytest.mark.parametrize(
    ("model", "history"),
    [(model, history) for model in MODELS for history in model.histories],
    ids=lambda value: value if isinstance(value, str) else value.name,
)
def test_toy_system_counts_what_its_comment_derives(model: Model, history: str) -> None:
    actual = naive_counts(
        model.protocol,
        model.actors,
        model.messages,
        workload=model.workload,
        network=model.network,
        history=history,
        properties=model.properties,
    )
    assert model.counts == actual


@pytest.mark.parametrize(
    ("protocol", "history", "actors", "messages", "expected"),
    [
        # Two independent explorers agree on these; the table in docs says which.
        ("mfss", "knowledge", 3, 1, (216, 649, 10, 1)),
        ("mfss", "clocks", 2, 2, (169, 361, 13, 1)),
        ("mfss", "full", 2, 2, (421, 765, 13, 20)),
        ("mfss", "clocks", 2, 3, (1_048, 2_547, 19, 1)),
        ("mfss", "full", 2, 3, (5_236, 10_371, 19, 175)),
        ("mfss", "clocks", 3, 1, (787, 1_795, 10, 23)),
        ("mfss", "full", 3, 1, (1_267, 2_611, 10, 68)),
        # With one message per actor Cykas never sends eagerly: it is MFSS, state by state.
        ("cykas", "full", 3, 1, (1_267, 2_611, 10, 68)),
        pytest.param(
            "mfss", "full", 3, 2, (873_895, 2_229_127, 19, 22_094), marks=pytest.mark.slow
        ),
        pytest.param(
            "cykas", "clocks", 3, 2, (567_367, 2_044_243, 19, 121), marks=pytest.mark.slow
        ),
    ],
)
def test_golden_count_is_reproduced(
    protocol: str, history: str, actors: int, messages: int, expected: tuple[int, int, int, int]
) -> None:
    actual = naive_counts(PROTOCOLS[protocol], actors, messages, history=history)
    assert Counts(*expected, violation={}) == actual


def test_mfss_3_by_1_is_a_product_of_three_independent_senders() -> None:
    """`knowledge` never relates the messages of two senders that send one each.

    One sender has its message unsent, in flight or its ACK in flight (to and from either of two
    actors), or done: 1 + 2 + 2 + 1 states, 2 + 2 + 2 transitions.
    """
    states, transitions = 6, 6
    expected = Counts(states**3, 1 + 3 * transitions * states**2, 1 + 3 * 3, 1, {})
    assert expected == naive_counts(MFSS, 3, 1)


def test_mfss_2_by_2_is_a_product_of_two_independent_senders() -> None:
    """Each sends two messages to the other.

    None sent: 1 state, 1 transition. One sent: the message or its ACK in flight, or done: 3 states,
    5 transitions. Both sent, the second waiting behind the first: in flight or ACK in flight, for
    the first and for the second, or done: 5 states, 4 transitions.
    """
    states, transitions = 1 + 3 + 5, 1 + 5 + 4
    expected = Counts(states**2, 1 + 2 * transitions * states, 1 + 2 * 6, 1, {})
    assert expected == naive_counts(MFSS, 2, 2)


@pytest.mark.parametrize("history", ["knowledge", "clocks", "full"])
@pytest.mark.parametrize(("actors", "messages"), [(2, 1), (2, 2), (3, 1)])
def test_cykas_is_mfss_where_it_cannot_send_eagerly(
    history: str, actors: int, messages: int
) -> None:
    """With one receiver, or one message, nothing is ever sent beside an unacknowledged message."""
    expected = naive_counts(MFSS, actors, messages, history=history)
    assert expected == naive_counts(CYKAS, actors, messages, history=history)


def test_search_finishes_the_level_in_which_a_violation_was_seen() -> None:
    """Deliver on arrival at 2 x 2: the shortest overtaking takes four transitions."""
    checked = naive_counts(UNORDERED, 2, 2)
    unchecked = naive_counts(UNORDERED, 2, 2, properties=("integrity", "all-delivered"))
    assert {"causal-delivery": 4} == checked.violation
    assert (5, 9) == (checked.depth, unchecked.depth)
    assert {} == unchecked.violation


def test_duplicate_delivery_is_not_judged_as_causality() -> None:
    """Without integrity among the properties nothing is wrong with a second delivery."""
    model = next(m for m in MODELS if m.name == "sends-twice-unchecked")
    actual = naive_counts(
        model.protocol, model.actors, 1, workload=model.workload, properties=EVERY_SAFETY
    )
    assert {"integrity": 3} == actual.violation


BUSY: dict[str, naive_endless.Rows] = {
    "endless:1": [[(1,), (2,)], [(0,), (2,)], [(0,), (1,)]],
    "endless:2": [[(1,), (2,)], [(0,), (2,)], [(0,), (1,)]],
    "endless:2:[[1],[0]]": [[(1,)], [(0,)]],
    "endless:1:[[1,2],[2],[0]]": [[(1,), (2,)], [(2,)], [(0,)]],
    "endless:2:[[[1,2]],[[0]],[]]": [[(1, 2)], [(0,)], []],
}
"""Workload -> per actor the destinations of the messages that it may send."""


@pytest.mark.parametrize(
    ("protocol", "workload", "network"),
    [
        ("mfss", "endless:1", "unordered"),
        ("mfss", "endless:2:[[1],[0]]", "unordered"),
        ("cykas-fair", "endless:1", "unordered"),
        ("unordered", "endless:2", "unordered"),
        ("tree", "endless:1", "fifo"),
        ("unordered", "endless:2:[[[1,2]],[[0]],[]]", "fifo"),
    ],
)
def test_endless_runs_are_counted_and_judged_alike(
    protocol: str, workload: str, network: str
) -> None:
    rows, buffer = BUSY[workload], int(workload.split(":")[1])
    found = evolve(protocol_named(protocol), normal=None, invariants={})
    naive, _ = naive_endless.explore(found, rows, buffer, network, most=3_000)
    spec = Spec(
        protocol=protocol,
        actors=len(rows),
        workload=workload,
        network=network,
        properties=("causal-delivery", "integrity"),
    )
    bounds = Bounds(max_depth=naive.depth if naive.unique >= 3_000 else None)
    result = check(spec, Options(engine="local"), bounds, protocol=found).result
    counts, run = result.counts, result.counterexample
    assert naive[:3] == (counts.unique_states, counts.total_states, counts.depth)
    assert dict(naive.violation) == ({run.violates: run.length} if run else {})


def crowded() -> Protocol:
    """Return a protocol where messages of actor 1 can wait for messages of actor 0 forever.

    Their receiver delivers one only if it has received nothing from actor 0 since it asked last;
    else it asks actor 1 to send it once more.
    """

    def receive(busy: bool, src: int, packet: Packet) -> Step:
        if isinstance(packet, Message) and src == 0:
            return Step(True, deliveries=(packet,))
        if isinstance(packet, Message) and not busy:
            return Step(False, deliveries=(packet,))
        return Step(False, sends=((src, (packet,) if isinstance(packet, Message) else packet[0]),))

    return Protocol(
        name="crowded",
        summary="a receiver who serves one sender first",
        source="a test",
        initial=lambda _actor, _actors: False,
        causal_send=lambda busy, m: Step(busy, sends=tuple((d, m) for d in m.destinations)),
        receive=receive,
    )


@pytest.mark.parametrize(("protocol", "expected"), [("crowded", 4), ("mfss", None)])
def test_naive_fairness_and_the_engines_agree(protocol: str, expected: int | None) -> None:
    """The naive checker examines every simple cycle, and applies the definition of fairness."""
    found = crowded() if protocol == "crowded" else protocol_named(protocol)
    rows: naive_endless.Rows = [[(2,)], [(2,)], []]
    _counts, graph = naive_endless.explore(found, rows, 1)
    cycles = naive_endless.starving_cycles(graph, 7)
    assert expected == min(map(len, cycles), default=None)
    for engine in ("plain", "local"):
        spec = Spec(protocol="mfss", workload="endless:1:[[2],[2],[]]")
        run = check(spec, Options(engine=engine), protocol=found).result.counterexample
        assert expected == (run and run.loop and run.length - run.loop.after)


@pytest.mark.slow
def test_naive_fairness_finds_that_cykas_starves() -> None:
    rows, found = BUSY["endless:1:[[1,2],[2],[0]]"], protocol_named("cykas")
    _counts, graph = naive_endless.explore(found, rows, 1, most=5_000)
    assert 7 == min(map(len, naive_endless.starving_cycles(graph, 7)))
