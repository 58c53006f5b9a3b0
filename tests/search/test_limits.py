"""Limits on measures of an actor's state: the cut graph, and the shortest run to the limit."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from attrs import evolve

from antecede.checker.check.pipeline import check
from antecede.checker.check.report import CheckReport
from antecede.checker.check.spec import Spec
from antecede.checker.liveness.fairness import lasso
from antecede.checker.model import Protocol, State
from antecede.checker.search.options import Options
from antecede.checker.search.result import Verdict
from antecede.checker.semantics.limits import Limit, greatest, held, limits_from
from antecede.checker.semantics.transition import System, enabled, initial_state, successor
from antecede.checker.support.errors import ProtocolError
from antecede.checker.support.registry import protocol_named
from tests.conftest import Command
from tests.search.test_graph import graph_of
from tests.semantics.test_marked import system

ALONE = "endless:1:[[1,2],[],[]]"
"""Alice alone sends."""


def counting(protocol: str) -> Protocol:
    """Return a protocol without its normal form, so that its counters grow."""
    return evolve(protocol_named(protocol), normal=None)


def limited(protocol: str, *bounds: str, workload: str = ALONE, network: str = "fifo") -> System:
    asked = system(counting(protocol), workload, network=network)
    return evolve(asked, limits=limits_from(bounds, asked.protocol))


def checked(protocol: str, *bounds: str, network: str = "fifo") -> CheckReport:
    spec = Spec(protocol=protocol, workload=ALONE, network=network, bound=bounds)
    return check(spec, protocol=counting(protocol))


def naive_length(asked: System) -> int | None:
    """Return after how many transitions the first limit can be reached, level by level."""
    (limit,) = asked.limits
    assert isinstance(limit, Limit)
    level, seen, length = {initial_state(asked)}, set[State](), 0
    while level:
        if any(limit.of(local) >= limit.bound for state in level for local in state.actors):
            return length
        seen |= level
        after = {successor(asked, s, t).state for s in level for t in enabled(asked, s)}
        level, length = after - seen, length + 1
    return None


@pytest.mark.parametrize(
    ("protocol", "bound"),
    [("cykas", "eager-sent=2"), ("cykas", "mode=2"), ("ses", "greatest=2"), ("ks", "log=2")],
)
def test_the_run_to_a_limit_is_a_shortest_one(protocol: str, bound: str) -> None:
    result = checked(protocol, bound).result
    (growth,) = result.grown
    assert naive_length(limited(protocol, bound)) == growth.path.length
    assert bound == growth.limit.text
    assert growth.limit.of(growth.path.last.actors[growth.actor]) == growth.limit.bound
    assert Verdict.INCOMPLETE is result.verdict
    assert f"--bound {bound} reached" == result.stopped_by


def test_what_grows_is_told_with_the_packet_that_is_late() -> None:
    (growth,) = checked("cykas", "eager-sent=3").result.grown
    assert (3, 6, 9) == growth.steps
    assert [("Ack", 2, 0)] == [(type(f.packet).__name__, f.src, f.dst) for f in growth.late]


def test_a_protocol_that_counts_grows_though_nothing_is_late() -> None:
    (growth,) = checked("fifo", "greatest=3").result.grown
    assert () == growth.late


def test_a_limit_that_nobody_reaches_leaves_the_verdict_as_it_is() -> None:
    report = checked("mfss", "held=9", network="unordered")
    assert Verdict.HOLDS is report.result.of_this_search.verdict
    assert () == report.result.grown


def test_a_state_at_the_limit_is_not_taken_for_one_where_nothing_can_happen() -> None:
    asked = limited("fifo", "greatest=2")
    graph = graph_of(asked)
    assert graph.cut
    assert not any(any(graph.rows.of(k)) or graph.all_edges(k) for k in graph.cut)
    assert lasso(asked, graph) is None


@pytest.mark.integration
def test_what_starves_within_the_limit_is_found() -> None:
    spec = Spec(protocol="cykas", workload="endless:1:[[1,2],[2],[0]]", bound=("mode=3",))
    result = check(spec).result
    assert Verdict.VIOLATED is result.properties["no-starvation"]


@pytest.mark.parametrize("search", ["breadth", "depth", "random"])
def test_every_search_in_plain_python_stops_at_a_limit(search: str) -> None:
    spec = Spec(protocol="fifo", search=search, network="fifo", bound=("greatest=1",))
    result = check(spec, Options(engine="plain", walks=5)).result
    assert Verdict.INCOMPLETE is result.verdict
    assert ["greatest=1"] == [growth.limit.text for growth in result.grown]
    assert all(growth.path.length == 1 for growth in result.grown if search == "breadth")


def test_common_measures_leave_messages_apart() -> None:
    rst = protocol_named("rst")
    asked = system("rst", "any", messages=7)
    state = initial_state(asked)
    assert (0, 2) == (held(rst.initial(2, 3)), greatest(rst.initial(2, 3)))
    after = successor(asked, state, enabled(asked, state)[0]).state
    assert 1 == greatest(after.actors[0])


def test_a_measure_that_gives_no_number_is_named() -> None:
    size: Any = lambda _state: "much"  # noqa: E731
    wrong = evolve(protocol_named("fifo"), measures={"size": size})
    (limit,) = limits_from(("size=2",), wrong)
    assert isinstance(limit, Limit)
    with pytest.raises(ProtocolError, match="the measure 'size' of fifo returned 'much'"):
        limit.of(wrong.initial(0, 2))


def test_a_limit_is_asked_for_on_the_command_line_and_its_run_is_saved(
    antecede: Command, tmp_path: Path
) -> None:
    file = tmp_path / "growth.json"
    ran = antecede(
        *("check", "cykas", "--network", "fifo", "--workload", ALONE),
        *("--bound", "eager-sent=3", "--trace", file),
    )
    assert 3 == ran.code
    assert "eager-sent of Alice comes to 3 after 9 transitions" in ran.out
    assert "Ack from Carol to Alice (sent in step 4) is late" in " ".join(ran.out.split())
    assert 0 == antecede("replay", file).code


def test_a_spec_may_have_a_bound(antecede: Command, tmp_path: Path) -> None:
    file = tmp_path / "grows.toml"
    file.write_text(f'protocol = "ks"\nnetwork = "fifo"\nworkload = "{ALONE}"\nbound = ["log=2"]\n')
    ran = antecede("check", file)
    assert 3 == ran.code
    assert "--bound log=2 reached" in ran.out


@pytest.mark.parametrize(
    ("bound", "sentence"),
    [
        ("modes=3", "unknown measure of cykas 'modes'; did you mean 'mode'?"),
        ("mode", "give a measure and where to stop, such as mode=3"),
        ("mode=0", "the bound on mode is 0; give at least 1"),
        ("mode=x", "the bound on mode is 'x'; it must be a whole number"),
    ],
)
def test_a_bound_that_says_nothing_is_refused(antecede: Command, bound: str, sentence: str) -> None:
    ran = antecede("check", "cykas", "--workload", ALONE, "--bound", bound)
    assert 2 == ran.code
    assert sentence in ran.err


def test_engine_that_takes_no_limits_says_so(antecede: Command) -> None:
    ran = antecede("check", "cykas", "--bound", "mode=2", "--engine", "spark")
    assert 2 == ran.code
    assert "--bound mode=2 cuts the search, which the tables of the spark engine do not" in ran.err


TWO_TO_ONE = ("--actors", 3, "--workload", "script:[[2],[2],[]]")
"""Two actors send a message to a third one: 9 states, 12 transitions."""


def test_bound_on_packets_in_flight_leaves_out_what_follows(antecede: Command) -> None:
    """The state with both messages in flight has two transitions; other runs reach what follows."""
    ran = antecede("check", "unordered", *TWO_TO_ONE, "--bound", "in-flight=2")
    assert 3 == ran.code
    assert "INCOMPLETE: --bound in-flight=2 reached" in ran.out
    assert "9 states, 10 transitions" in ran.out
    assert "Explored in plain Python: --bound in-flight=2 cuts the search" in ran.out


def test_bound_that_nothing_reaches_leaves_nothing_out(antecede: Command) -> None:
    order = ("--property", "integrity,all-delivered")
    ran = antecede("check", "unordered", *TWO_TO_ONE, "--bound", "in-flight=3", *order)
    assert 0 == ran.code
    assert "12 transitions" in ran.out


BOUNDS_FILE = """
from antecede import Property, What, When

NONE_HELD = Property(
    "none", "", What.GLOBAL_STATE, When.ALWAYS, lambda all: not any(s.held_back for s in all)
)
ENDS = Property("ends", "", What.ENDED, When.AT_FINAL_STATES, bool)
BROKEN = Property("broken", "", What.LOCAL_STATE, When.ALWAYS, lambda state: state.nothing)
"""


@pytest.mark.parametrize(
    ("name", "code", "said"),
    [
        ("NONE_HELD", 3, "INCOMPLETE: --bound bounds.py:NONE_HELD reached"),
        ("ENDS", 2, "the bound bounds.py:ENDS judges ends of workloads at final states"),
        ("BROKEN", 2, "bound 'bounds.py:BROKEN' raised AttributeError"),
    ],
)
def test_predicate_of_a_file_bounds_a_search(
    antecede: Command,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    name: str,
    code: int,
    said: str,
) -> None:
    (tmp_path / "bounds.py").write_text(BOUNDS_FILE)
    monkeypatch.chdir(tmp_path)
    ran = antecede("check", "rst", "--actors", 2, "--bound", f"bounds.py:{name}")
    assert code == ran.code
    assert said in " ".join((ran.out + ran.err).split())


def test_bounds_on_whole_states_are_for_workloads_that_end(antecede: Command) -> None:
    ran = antecede("check", "mfss", "--workload", "endless:1", "--bound", "in-flight=2")
    assert 2 == ran.code
    assert "--bound in-flight=2 is for workloads that end" in ran.err
