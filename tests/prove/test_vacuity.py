"""A vacuous proof is refused; if vacuity is not decided, the proof is UNKNOWN."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import z3
from attrs import evolve

from antecede.checker.prove import delivery, report, vacuity
from antecede.checker.prove.front import model_named
from antecede.checker.prove.obligations import Answer, prove
from antecede.checker.prove.stock import LIFE_OF_A_POST, acknowledged, posted
from antecede.checker.prove.vocabulary import (
    Action,
    Conjunct,
    Guard,
    Model,
    Quiescence,
    c,
    delivered,
    dst,
    messages,
    replaced,
    sent,
    src,
)
from antecede.checker.support.errors import InputError
from antecede.protocols import PROOFS

x, y = messages("x y")
ALONE = ("there is one message", z3.ForAll([x, y], x == y))
NOT_ALONE = ("there are two messages", z3.Exists([x, y], x != y))
TO_OTHERS = ("nobody sends to itself", z3.ForAll([x], src(x) != dst(x)))
IDLE = Action("idle", (c,), (), (), "{0} is looked at")


def mfss(**changes: Any) -> Model:
    """Return MFSS with other values of some attributes."""
    return evolve(model_named("mfss"), **changes)


def guarded(name: str, guard: Guard) -> Model:
    """Return MFSS with one more guard of an action,."""
    actions = replaced(mfss().actions, name, lambda one: evolve(one, guards=(*one.guards, guard)))
    return mfss(actions=actions, quiescent=None)


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
        lambda: guarded("post", Guard("never", z3.Not(sent(c)))),
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
    "no message can be the first that is causal-sent": (
        lambda: guarded("causal-send", Guard("somebody has sent", z3.Exists([x], sent(x)))),
        "no run of the model causal-sends a message, so a proof would say nothing of the protocol. "
        "These prevent it: the guard 'somebody has sent' of 'causal-send', the relation 'sent', "
        "which is empty at the start.",
    ),
    "no message can be the first that is delivered": (
        lambda: guarded("deliver", Guard("one was delivered", z3.Exists([x], delivered(x)))),
        "no run of the model delivers a message, so a proof would say nothing of the protocol. "
        "These prevent it: the guard 'one was delivered' of 'deliver', the relation 'delivered', "
        "which is empty at the start.",
    ),
    "two actions wait for each other": (
        lambda: guarded("post", Guard("one was acknowledged", z3.Exists([x], acknowledged(x)))),
        "no run of the model delivers a message",
    ),
    "nothing can be undone": (
        lambda: mfss(quiescent=Quiescence(z3.BoolVal(False), "nothing is wrong")),
        "no protocol can leave anything undone",
    ),
    "the protocol never rests": (
        lambda: mfss(actions=(*mfss().actions, IDLE)),
        "the protocol never becomes quiescent",
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
    monkeypatch.setattr(vacuity, "sense", lambda _model, _timeout: vacuity.Sense())
    assert Answer.PROVED is prove(evolve(VACUOUS[case][0](), quiescent=None)).answer


@pytest.mark.parametrize("name", PROOFS)
def test_no_registered_proof_is_vacuous(name: str) -> None:
    sense = vacuity.sense(model_named(name), 20.0)
    assert () == sense.undecided
    assert sense.run_length == (2 if name.startswith("tree") else 3)


@pytest.mark.integration
def test_what_only_a_large_state_shows_is_possible() -> None:
    """The solver finds five messages; the small states end before."""
    many = messages("m1 m2 m3 m4 m5")
    axiom = ("there are five messages", z3.Exists(many, z3.Distinct(*many)))
    need = next(vacuity.needs(mfss(axioms=(axiom,))))
    assert not vacuity.is_possible(mfss(axioms=(axiom,)), need, 20.0)
    assert vacuity.Sense((), 3) == vacuity.sense(mfss(axioms=(axiom,)), 20.0)


@pytest.mark.integration
def test_a_run_is_as_long_as_it_must_be() -> None:
    """A delivery waits here until two other messages were causal-sent."""
    others = z3.Exists([x, y], z3.And(sent(x), sent(y), z3.Distinct(x, y, c)))
    model = guarded("deliver", Guard("two others were sent", others))
    sense = vacuity.sense(model, 20.0)
    assert 5 == sense.run_length
    proof = prove(model)
    assert Answer.PROVED is proof.answer
    assert "not vacuous: a run of 5 actions delivers a message" in report.text(proof)
    assert 5 == report.as_object(proof)["run_length"]


@pytest.mark.integration
def test_without_a_run_in_time_the_proof_is_unknown(monkeypatch: pytest.MonkeyPatch) -> None:
    """The delivery needs four actions, and only runs of three are tried."""
    model = guarded("deliver", Guard("another was sent", z3.Exists([x], z3.And(sent(x), x != c))))
    monkeypatch.setattr(delivery, "LONGEST", 3)
    proof = prove(model)
    assert Answer.UNKNOWN is proof.answer
    assert None is proof.run_length
    assert "UNKNOWN: whether a run of the model delivers a message" in report.text(proof)


def test_a_run_that_python_reads_otherwise_is_no_run(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(delivery, "applied", lambda structure, *_step: structure)
    with pytest.raises(AssertionError, match="two readings differ"):
        vacuity.sense(mfss(), 20.0)
