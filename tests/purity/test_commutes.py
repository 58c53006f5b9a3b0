"""Normal forms commute with every transition; wrong ones are caught, and verdicts do not change."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from attrs import evolve
from hypothesis import given, settings
from hypothesis import strategies as st

from antecede.checker.check import check
from antecede.checker.model import (
    CausalSend,
    Envelope,
    NormalForm,
    Protocol,
    Receive,
    Renaming,
    State,
)
from antecede.checker.purity.commutes import disagreement
from antecede.checker.registry import protocol_named
from antecede.checker.search.options import Bounds
from antecede.checker.search.result import Result, Verdict
from antecede.checker.semantics.normal import normal_form
from antecede.checker.semantics.transition import System, enabled, initial_state, successor
from antecede.checker.spec import Spec
from antecede.protocols.newtop import NEWTOP_NULL, Null
from tests.conftest import Command
from tests.semantics.test_marked import system

TO_ALL = "endless:2:[[[1,2]],[[0,2]],[[0,1]]]"
SYSTEMS = (
    ("rst", "endless:2", "unordered"),
    ("rst", "endless:1:[[[1,2]],[0,2],[0]]", "unordered"),
    ("cbcast", TO_ALL, "unordered"),
    ("fifo", "endless:2", "unordered"),
    ("ses", "endless:2", "unordered"),
    ("ks", "endless:2", "fifo"),
    ("ks", "endless:2", "unordered"),
    ("hybrid-basic", "endless:2", "unordered"),
    ("hybrid-basic", "endless:1", "duplicating+lossy"),
)


def counting(protocol: str, workload: str, network: str) -> tuple[System, NormalForm]:
    """Return a system that does not apply its protocol's normal form, and the form."""
    asked = system(protocol, workload, network=network)
    normal = asked.protocol.normal
    assert normal is not None
    return evolve(asked, protocol=evolve(asked.protocol, normal=None)), normal


def first_states(asked: System, most: int) -> Iterator[State]:
    """Yield the states that are nearest to the initial one."""
    seen = {initial_state(asked): None}
    for state in (waiting := list(seen)):
        yield state
        for transition in enabled(asked, state):
            after = successor(asked, state, transition).state
            if after not in seen and len(seen) < most:
                seen[after] = None
                waiting.append(after)


@pytest.mark.parametrize(("protocol", "workload", "network"), SYSTEMS)
def test_a_normal_form_commutes_with_every_step_of_the_first_states(
    protocol: str, workload: str, network: str
) -> None:
    asked, normal = counting(protocol, workload, network)
    faults = {disagreement(asked, normal, state) for state in first_states(asked, 250)}
    assert {None} == faults


@pytest.mark.parametrize(("protocol", "workload", "network"), SYSTEMS)
@settings(max_examples=3, deadline=None)
@given(choices=st.lists(st.integers(0, 99), min_size=60, max_size=60))
def test_a_normal_form_commutes_far_from_the_start(
    protocol: str, workload: str, network: str, choices: list[int]
) -> None:
    asked, normal = counting(protocol, workload, network)
    state = initial_state(asked)
    for choice in choices:
        transitions = enabled(asked, state)
        state = successor(asked, state, transitions[choice % len(transitions)]).state
    assert disagreement(asked, normal, state) is None


@pytest.mark.parametrize(("protocol", "workload", "network"), SYSTEMS)
def test_invariants_say_the_same_of_a_normal_form(
    protocol: str, workload: str, network: str
) -> None:
    asked, normal = counting(protocol, workload, network)
    for state in first_states(asked, 250):
        small = normal_form(normal, asked.network, state)
        for judge in (*asked.protocol.invariants.values(), *asked.protocol.witnesses.values()):
            assert list(map(judge, state.actors)) == list(map(judge, small.actors))


def forgetful(name: str, field: str) -> Protocol:
    """Return a protocol whose normal form also forgets a row of counters that still matters."""
    protocol = protocol_named(name)
    form: Any = protocol.normal

    def normal(states, flying):  # type: ignore[no-untyped-def]
        right = form(states, flying)

        def state(actor, local):  # type: ignore[no-untyped-def]
            small = right.state(actor, local)
            return evolve(small, **{field: (0,) * len(getattr(small, field))})

        return Renaming(state, right.packet)

    return evolve(protocol, normal=normal)


@pytest.mark.parametrize(
    ("protocol", "field"), [("fifo", "sent"), ("cbcast", "VT"), ("hybrid-basic", "ls")]
)
def test_a_form_that_forgets_what_matters_is_an_error(protocol: str, field: str) -> None:
    wrong = forgetful(protocol, field)
    spec = Spec(protocol=protocol, workload=TO_ALL)
    result = check(spec, protocol=wrong, bounds=Bounds(max_states=200)).result
    assert Verdict.ERROR is result.verdict
    assert f"the normal form of {protocol} is not sound" in (result.error or "")


def checked(protocol: str, workload: str, *, normal: bool = True, most: int = 3000) -> Result:
    found = protocol_named(protocol)
    asked = found if normal else evolve(found, normal=None)
    spec = Spec(protocol=protocol, workload=workload)
    return check(spec, protocol=asked, bounds=Bounds(max_states=most)).result


@pytest.mark.parametrize(
    ("protocol", "workload"),
    [
        ("fifo", "endless:2:[[1,2],[2],[]]"),
        ("cbcast", "endless:1:[[1,2],[2],[]]"),
        ("fifo", "endless:1:[[1],[],[0]]"),
    ],
)
def test_a_form_changes_no_verdict(protocol: str, workload: str) -> None:
    one, other = (checked(protocol, workload, normal=normal) for normal in (True, False))
    if other.verdict is Verdict.INCOMPLETE:
        assert Verdict.HOLDS is one.verdict
        return
    assert one.verdict is other.verdict
    assert one.counterexample is not None
    assert other.counterexample is not None
    assert one.counterexample.length == other.counterexample.length


@pytest.mark.parametrize("protocol", ["fifo", "rst"])
def test_a_protocol_that_counts_becomes_finite(protocol: str) -> None:
    workload = "endless:1:[[1,2],[],[0]]"
    assert Verdict.HOLDS is checked(protocol, workload).verdict
    assert Verdict.INCOMPLETE is checked(protocol, workload, normal=False, most=400).verdict


def test_a_run_is_told_with_the_counters_as_they_are(antecede: Command, tmp_path: Path) -> None:
    file = tmp_path / "stuck.json"
    ran = antecede("check", "cbcast", "--workload", "endless:1:[[1,2],[],[]]", "--trace", file)
    assert 1 == ran.code
    assert "VT=(2, 0, 0)" in ran.out
    assert "still VIOLATED" in antecede("replay", file).out


def all_forgotten(states: tuple[Any, ...], _flying: tuple[Envelope, ...]) -> Renaming:
    """Forget everything of `newtop-null` that a form can: all clocks, and what packets carry."""
    return Renaming(
        state=lambda actor, _local: NEWTOP_NULL.initial(actor, len(states)),
        packet=lambda _envelope: Null(0),
    )


def test_no_form_makes_the_graph_of_newtop_with_null_packets_finite() -> None:
    """A busy sender need not receive anything: null packets on their way to it pile up.

    A form writes packets anew, one for one, so states with more packets in flight stay different
    states, whatever it forgets.
    """
    asked = system("newtop-null", "endless:1:[[1],[],[]]", network="fifo")
    state, forms = initial_state(asked), list[State]()
    for rounds in range(1, 6):
        state = after_causal_send(asked, state)
        while others := [t for t in enabled(asked, state) if isinstance(t, Receive) and t.dst]:
            state = successor(asked, state, others[0]).state
        assert [()] * 3 == [ghost.pending for ghost in state.history]  # her message was delivered
        assert [2 * rounds] == [sum(map(len, state.channels))]
        forms.append(normal_form(all_forgotten, asked.network, state))
    assert 5 == len(set(forms))


def after_causal_send(asked: System, state: State) -> State:
    """Return the state after the first causal-send that is enabled."""
    send = next(t for t in enabled(asked, state) if isinstance(t, CausalSend) and not t.marked)
    return successor(asked, state, send).state
