"""Mistakes that most specs show by their counts only: a small script shows each by its verdict."""

from __future__ import annotations

from pathlib import Path

import pytest
from attrs import evolve

from antecede.checker.check.pipeline import check
from antecede.checker.check.spec import Spec, load_spec
from antecede.checker.search.options import Bounds
from antecede.checker.search.result import Verdict
from antecede.properties import DEFAULT
from tests.mutants.mutant import Mutant, mutants_in, mutated

SPECS = Path(__file__).parent.parent.parent / "specs" / "protocols"


def plain_spec(name: str) -> Spec:
    """Return a spec that judges events of the application, without declared invariants."""
    spec = load_spec(SPECS / f"{name}.toml")
    return evolve(spec, properties=spec.properties or DEFAULT)


NOTICED = [
    (
        "hybrid-sps",
        Mutant(
            name="predecessor-of-anybody",
            breaks="line 14: the predecessor is the last message to anybody",
            old="pid=state.ls[j], per",
            new="pid=max(state.ls), per",
            file="hybrid_sps.py",
        ),
        "hybrid-sps-three-recovers",
        "can-deliver",
    ),
    (
        "hybrid-sps",
        Mutant(
            name="last-only-repeated",
            breaks="lines 20-21: the timeout repeats the last message only",
            old="for m in state.u if m.sent and m.pl is not None]\n",
            new="for m in state.u if m.sent and m.pl is not None][-1:]\n",
            file="hybrid_sps.py",
        ),
        "hybrid-sps-repeats",
        "can-deliver",
    ),
    (
        "hybrid-sps",
        Mutant(
            name="first-permit-frees-one-less",
            breaks="line 94: the first missing permit frees one message less",
            old="state, sends = send_interval(state, state.m1, k)",
            new="state, sends = send_interval(state, state.m1, k - 1)",
            file="hybrid_sps.py",
        ),
        "hybrid-sps-three-window",
        "all-delivered",
    ),
    (
        "ks",
        Mutant(
            name="deliveries-counted",
            breaks="RCV: SR counts deliveries instead of noting clocks",
            old="SR = with_item(state.SR, k, packet.clock)",
            new="SR = with_item(state.SR, k, state.SR[k] + 1)",
            file="ks.py",
        ),
        "ks-three-known",
        "all-delivered",
    ),
    (
        "newtop-null",
        Mutant(
            name="silent-actors-ignored",
            breaks="does not wait for actors from whom nothing was heard yet",
            old="enumerate(state.last_received) if j != state.me)",
            new="enumerate(state.last_received) if j != state.me and clock)",
            file="newtop.py",
        ),
        "newtop-null-story",
        "causal-delivery",
    ),
]


@pytest.mark.parametrize(
    ("protocol", "mutant", "spec", "violated"),
    [
        pytest.param(*case, id=case[1].name, marks=[pytest.mark.slow] * (case[3] == "can-deliver"))
        for case in NOTICED
    ],
)
def test_spec_notices_the_mistake(protocol: str, mutant: Mutant, spec: str, violated: str) -> None:
    report = check(plain_spec(spec), protocol=mutated(protocol, mutant))
    assert Verdict.VIOLATED is report.result.verdict
    assert report.result.counterexample is not None
    assert violated == report.result.counterexample.violates


GHOST = [
    ("told_early=True", "told_early=False", "cykas-ghost-yct"),
    ("any(cykas.acknowledged(state, src).UNACK)", "True", "cykas-ghost-yct"),
    ("and tells and any", "and any", "cykas-ghost-yct"),
    (
        "any(cykas.acknowledged(state, src).UNACK)",
        "any(step.state.UNACK)",
        "cykas-ghost-yct-same-receiver",
    ),
]
"""Changes of the ghost bit, and a spec that does not end as expected with the change."""


@pytest.mark.parametrize(("old", "new", "name"), GHOST)
def test_a_spec_notices_a_ghost_bit_that_records_something_else(
    old: str, new: str, name: str
) -> None:
    spec = load_spec(SPECS / f"{name}.toml")
    changed = Mutant("changed-ghost", "the ghost bit", old, new, "cykas_ghost_yct.py")
    assert check(spec).as_expected
    assert not check(spec, protocol=mutated("cykas-ghost-yct", changed)).as_expected


def named(protocol: str, name: str) -> Mutant:
    """Return a mutant that none of the checks it is listed with notices."""
    mutants = mutants_in(Path(__file__).parent / f"{protocol}.toml").mutants
    return next(mutant for mutant in mutants if mutant.name == name)


@pytest.mark.parametrize("name", ["everything-needs-a-permit", "no-permit-for-the-unacknowledged"])
def test_what_only_the_timeout_repairs_is_noticed_without_one(name: str) -> None:
    protocol = mutated("hybrid-basic-no-timeout", named("hybrid-basic", name))
    report = check(plain_spec("hybrid-basic-no-timeout-fifo"), protocol=protocol)
    assert report.result.counterexample is not None
    assert ("all-delivered", 7) == (
        report.result.counterexample.violates,
        report.result.counterexample.length,
    )


@pytest.mark.parametrize(
    ("protocol", "name", "workload"),
    [("cbcast", "at-most-next", "broadcast"), ("rst-before", "at-most-one-greater", "any")],
)
def test_delivering_twice_is_noticed_where_packets_are_duplicated(
    protocol: str, name: str, workload: str
) -> None:
    spec = Spec(
        protocol=protocol,
        actors=2,
        messages=1,
        network="duplicating",
        workload=workload,
        properties=DEFAULT,
    )
    bounds = Bounds(max_depth=8)  # copies pile up in the mail room forever
    assert Verdict.INCOMPLETE is check(spec, bounds=bounds).result.verdict
    path = check(spec, bounds=bounds, protocol=mutated(protocol, named(protocol, name))).result
    assert path.counterexample is not None
    assert ("integrity", 3) == (path.counterexample.violates, path.counterexample.length)
