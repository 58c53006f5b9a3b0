"""What a message of cykas-fair waits for is fixed when it is sent; in Cykas it is not.

`no-starvation` is checked within bounds. The obligations here are about every number of actors and
messages, but about single steps only: docs/cykas-fair.md has the argument that needs them.
"""

from __future__ import annotations

from collections.abc import Callable

import pytest
from z3 import And, ForAll, Implies, Not

from antecede.checker.prove.formula import after
from antecede.checker.prove.front import model_named
from antecede.checker.prove.obligations import Answer, Obligation, ask
from antecede.checker.prove.stock import acknowledged, posted
from antecede.checker.prove.vocabulary import (
    Action,
    Conjunct,
    Formula,
    before,
    delivered,
    dst,
    messages,
    sent,
    src,
)
from antecede.protocols.cykas_fair_proof import needs
from antecede.protocols.cykas_proof import eager, heard, told, waits

m, e = messages("m e")

FIXED = {
    "the YCTs that a message needs": (needs(m, e), sent(m)),
    "the messages before it in OB": (before(e, m), sent(m)),
    "the ACKs that the YCT of an Eager Send waits for": (waits(m, e), posted(m)),
    "which messages are Eager Sends": (eager(m), posted(m)),
}
"""Name -> the condition that does not become true any more, and the condition since when."""

LASTING = {
    relation.name: relation(m) for relation in (sent, posted, delivered, acknowledged, told, heard)
}
"""What stays true once it is true."""

AWAITED_BY_CYKAS = And(eager(e), delivered(e), dst(e) == src(m), Not(heard(e)))
"""The YCTs for which a message of Cykas waits: those that are missing at its sender."""


def answers(name: str, goal: Callable[[Action], Formula]) -> dict[str, Answer]:
    """Return per action of a model whether it keeps to `goal`, in all states of the invariant."""
    model = model_named(name)
    given = tuple(conjunct.formula for conjunct in model.conjuncts)
    found = {}
    for action in model.actions:
        claim = Conjunct("step", "what a step may change", goal(action))
        step = Obligation(action.name, claim, (*given, action.guard), claim.formula, action)
        found[action.name] = ask(step).answer
    return found


def is_not_added(condition: Formula, since: Formula) -> Callable[[Action], Formula]:
    """Return the goal that a step does not make `condition` true if `since` was true before."""
    return lambda action: ForAll(
        [m, e], Implies(And(since, Not(condition)), Not(after(condition, action)))
    )


@pytest.mark.parametrize("what", FIXED)
def test_no_step_adds_to_what_a_message_waits_for(what: str) -> None:
    found = answers("cykas-fair", is_not_added(*FIXED[what]))
    assert {Answer.PROVED} == set(found.values())


@pytest.mark.parametrize("what", LASTING)
def test_no_step_takes_back_what_a_message_waits_for(what: str) -> None:
    found = answers(
        "cykas-fair",
        lambda action: ForAll([m], Implies(LASTING[what], after(LASTING[what], action))),
    )
    assert {Answer.PROVED} == set(found.values())


def test_in_cykas_a_delivery_adds_to_what_a_message_waits_for() -> None:
    found = answers("cykas", is_not_added(AWAITED_BY_CYKAS, sent(m)))
    assert ["deliver"] == [name for name, answer in found.items() if answer is Answer.FAILED]
