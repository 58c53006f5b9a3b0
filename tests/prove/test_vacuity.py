"""A vacuous proof is refused; if vacuity is not decided, the proof is UNKNOWN."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import z3
from attrs import evolve

from antecede.checker.errors import InputError
from antecede.checker.prove import vacuity
from antecede.checker.prove.front import model_named
from antecede.checker.prove.obligations import Answer, prove
from antecede.checker.prove.stock import LIFE_OF_A_POST, posted
from antecede.checker.prove.vocabulary import (
    Action,
    AtRest,
    Conjunct,
    Guard,
    Model,
    c,
    dst,
    messages,
    replaced,
    sent,
    src,
)
from antecede.protocols import PROOFS

x, y = messages("x y")
ALONE = ("there is one message", z3.ForAll([x, y], x == y))
NOT_ALONE = ("there are two messages", z3.Exists([x, y], x != y))
TO_OTHERS = ("nobody sends to itself", z3.ForAll([x], src(x) != dst(x)))
IDLE = Action("idle", (c,), (), (), "{0} is looked at")


def mfss(**changes: Any) -> Model:
    """Return MFSS with other values of some attributes."""
    return evolve(model_named("mfss"), **changes)


def never_posting() -> Model:
    """Return MFSS with a guard of post that is never true."""
    never = Guard("never", z3.Not(sent(c)))
    return mfss(
        actions=replaced(
            mfss().actions, "post", lambda one: evolve(one, guards=(*one.guards, never))
        )
    )


VACUOUS: dict[str, tuple[Callable[[], Model], str]] = {
    "the axioms contradict each other": (
        lambda: mfss(axioms=(TO_OTHERS, ALONE, NOT_ALONE)),
        "the axioms contradict each other, so everything would follow from them: the axiom "
        "'there is one message', the axiom 'there are two messages'.",
    ),
    "an axiom contradicts itself": (
        lambda: mfss(axioms=(("nothing is", z3.ForAll([x], x != x)),)),
        "the axioms contradict each other, so everything would follow from them: the axiom "
        "'nothing is'.",
    ),
    "an axiom implies the claim": (
        lambda: mfss(axioms=(TO_OTHERS, ALONE)),
        "the safety claim 'causal-delivery' is true for every protocol, so a proof would "
        "say nothing of the protocol; it follows from: the axiom 'there is one message'.",
    ),
    "axioms together imply the claim": (
        lambda: mfss(
            axioms=(
                ("one sender is one message", z3.ForAll([x, y], (src(x) == src(y)) == (x == y))),
                ("there is one sender", z3.ForAll([x, y], src(x) == src(y))),
            )
        ),
        "it follows from: the axiom 'one sender is one message', the axiom 'there is one sender'.",
    ),
    "nothing is claimed": (
        lambda: mfss(safety=Conjunct("nothing", "nothing", z3.BoolVal(True))),
        "the safety claim 'nothing' is true for every protocol, so a proof would say "
        "nothing of the protocol; it follows from: nothing.",
    ),
    "an action is never possible": (
        never_posting,
        "the action 'post' can never happen, so a proof would say nothing of it; these contradict "
        "each other: the guard 'was causal-sent', the guard 'never'.",
    ),
    "an action waits for one that is missing": (
        lambda: mfss(
            actions=tuple(one for one in mfss().actions if one.name != "post"),
            conjuncts=(
                LIFE_OF_A_POST,
                Conjunct("none", "nothing is posted", z3.ForAll([x], z3.Not(posted(x)))),
            ),
        ),
        "the action 'deliver' can never happen, so a proof would say nothing of it; these "
        "contradict each other: the conjunct 'none', the guard 'was posted'.",
    ),
    "nothing can be undone": (
        lambda: mfss(at_rest=AtRest(z3.BoolVal(False), "nothing is wrong")),
        "no protocol can leave anything undone",
    ),
    "the protocol never rests": (
        lambda: mfss(actions=(*mfss().actions, IDLE)),
        "the protocol never comes to rest",
    ),
}


@pytest.mark.parametrize("case", VACUOUS)
def test_a_proof_that_would_say_nothing_is_refused(case: str) -> None:
    model, reason = VACUOUS[case][0](), VACUOUS[case][1]
    with pytest.raises(InputError) as refusal:
        prove(model)
    assert reason in str(refusal.value)


@pytest.mark.parametrize("case", [*VACUOUS][:-2])
def test_without_the_refusal_nonsense_would_be_proved(
    case: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Wherever the rest of the model is as it was, all its obligations can be shown."""
    monkeypatch.setattr(vacuity, "undecided", lambda _model, _timeout: ())
    assert Answer.PROVED is prove(evolve(VACUOUS[case][0](), at_rest=None)).answer


@pytest.mark.parametrize("name", PROOFS)
def test_no_registered_proof_is_vacuous(name: str) -> None:
    assert () == vacuity.undecided(model_named(name), 20.0)


def test_what_only_a_large_state_shows_is_possible() -> None:
    """The solver finds five messages; the small states end before."""
    many = messages("m1 m2 m3 m4 m5")
    axiom = ("there are five messages", z3.Exists(many, z3.Distinct(*many)))
    need = next(vacuity.needs(mfss(axioms=(axiom,))))
    assert not vacuity.is_possible(mfss(axioms=(axiom,)), need, 20.0)
    assert () == vacuity.undecided(mfss(axioms=(axiom,)), 20.0)
