"""A model that could be PROVED without being right is refused with an error that says why."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import z3
from attrs import evolve

from antecede.checker.prove.front import model_named
from antecede.checker.prove.link import link
from antecede.checker.prove.obligations import prove
from antecede.checker.prove.stock import ALL_DELIVERED, posted
from antecede.checker.prove.validate import validate
from antecede.checker.prove.vocabulary import (
    ACTOR,
    CAUSAL_DELIVERY,
    CAUSAL_DELIVERY_OF_MANY,
    MESSAGE,
    TIME,
    Action,
    Conjunct,
    D,
    Guard,
    Model,
    Quiescence,
    R,
    Relation,
    Update,
    actors,
    c,
    delivered,
    delivered_at,
    dst,
    gains,
    gains_all,
    knows,
    loses_all,
    messages,
    replaced,
    sent,
    src,
    tainted,
    times,
    without_guard,
)
from antecede.checker.support.errors import InputError
from antecede.cli import main
from antecede.protocols import PROOFS

x, y, u0 = messages("x y u0")
a = actors("a")
NOTHING = z3.ForAll([x], z3.Not(tainted(x)))
flag = Relation("flag", (MESSAGE,), "{0} has a flag")
MISUSED: Any = (x, sent(x), lambda _one, _other: True)
fixed = Relation("fixed", (MESSAGE,), "{0} is fixed", rigid=True)


def mfss(**changes: Any) -> Model:
    """Return MFSS with other values of some attributes."""
    return evolve(model_named("mfss"), **changes)


def acting(name: str, change: Callable[[Action], Action]) -> Model:
    """Return MFSS with one action changed."""
    return mfss(actions=replaced(mfss().actions, name, change))


def guarded(formula: Any, name: str = "post") -> Model:
    """Return MFSS with one more guard."""
    return acting(name, lambda one: evolve(one, guards=(*one.guards, Guard("drawn", formula))))


def updated(*updates: Update, name: str = "post") -> Model:
    """Return MFSS with more updates."""
    return acting(name, lambda one: evolve(one, updates=(*one.updates, *updates)))


def claiming(formula: Any, name: str = "claim") -> Model:
    """Return MFSS with one more conjunct."""
    return mfss(conjuncts=(*mfss().conjuncts, Conjunct(name, "a claim", formula)))


def assuming(*axioms: Any) -> Model:
    """Return MFSS with axioms, and with the relation `fixed`."""
    relations = (*mfss().relations, fixed)
    named = tuple((f"axiom {k}", axiom) for k, axiom in enumerate(axioms))
    return mfss(relations=relations, axioms=named)


def with_relation(relation: Relation) -> Model:
    """Return MFSS with one more relation."""
    return mfss(relations=(*mfss().relations, relation))


@pytest.mark.parametrize("name", PROOFS)
def test_registered_models_are_accepted(name: str) -> None:
    assert validate(model_named(name)).protocol == name


REFUSED: dict[str, tuple[Callable[[], Model], str]] = {
    # ghosts only watch
    "a guard reads a ghost": (lambda: guarded(knows(src(c))), "reads knows, which only watches"),
    "a guard reads R": (lambda: guarded(c != R), "reads R, which only watches"),
    "a guard reads D": (lambda: guarded(dst(c) != D), "reads D, which only watches"),
    "an update reads a ghost": (
        lambda: acting(
            "post", lambda one: evolve(one, updates=(gains_all(posted, (x,), tainted(x)),))
        ),
        "the update of 'posted' in the action 'post' reads tainted, which only watches",
    ),
    "an action is for R only": (
        lambda: acting("post", lambda one: evolve(one, params=(R,))),
        "R stands for two things",
    ),
    # application events are followed
    "a relation is updated twice": (
        lambda: updated(gains(posted, c)),
        "the action 'post' updates 'posted' twice",
    ),
    "a ghost is overwritten": (
        lambda: updated(loses_all(tainted, (x,), z3.BoolVal(True)), name="causal-send"),
        "the action 'causal-send' updates 'tainted' twice",
    ),
    "another action changes a ghost": (
        lambda: updated(loses_all(tainted, (x,), z3.BoolVal(True))),
        "the action 'post' changes tainted in a way of its own",
    ),
    "an action delivers unseen": (
        lambda: updated(gains(delivered, c)),
        "the action 'post' changes delivered in a way of its own",
    ),
    "an action delivers what was delivered": (
        lambda: acting("deliver", lambda one: without_guard(one, "not delivered before")),
        "the action 'deliver' changes delivered, knows in a way of its own",
    ),
    "a causal-send waits until it is let": (
        lambda: acting("causal-send", lambda one: evolve(one, environment=False)),
        "the action 'causal-send' changes sent, before, tainted, knows in a way of its own",
    ),
    "nothing is causal-sent": (
        lambda: mfss(actions=mfss().actions[1:]),
        "no action of the model is a causal-send",
    ),
    "nothing is delivered": (
        lambda: mfss(actions=(*mfss().actions[:2], mfss().actions[3])),
        "no action of the model is a deliver",
    ),
    "a ghost is declared anew": (
        lambda: mfss(relations=(*mfss().relations[:-3], evolve(tainted, ghost=False), posted)),
        "'tainted' is a relation of the vocabulary, and this one differs",
    ),
    # axioms are about the system
    "an axiom reads what changes": (
        lambda: assuming(z3.ForAll([x], z3.Not(sent(x)))),
        "the axiom 'axiom 0' reads sent; an axiom is about the system",
    ),
    "an axiom reads a ghost": (lambda: assuming(NOTHING), "reads tainted; an axiom is about"),
    "an axiom chooses R": (
        lambda: assuming(z3.ForAll([x], z3.Implies(x != R, dst(x) != dst(R)))),
        "reads R; an axiom is about",
    ),
    # claims are what they are called
    "the claim is another one": (
        lambda: mfss(safety=evolve(CAUSAL_DELIVERY, formula=NOTHING)),
        "the safety claim 'causal-delivery' is not the property of that name",
    ),
    "the claim is called almost so": (
        lambda: mfss(safety=Conjunct("Causal Delivery", "nonsense", NOTHING)),
        "the safety claim 'Causal Delivery' is not the property of that name",
    ),
    "the claim at quiescence is another one": (
        lambda: mfss(quiescent=Quiescence(z3.Exists([x], posted(x)), ALL_DELIVERED.says)),
        "quiescent claims 'every causal-sent message was delivered', and is not",
    ),
    "the claim at quiescence reads like another one": (
        lambda: mfss(
            quiescent=Quiescence(
                z3.Exists([x], posted(x)), "Every causal-sent message  was delivered."
            )
        ),
        "quiescent claims 'Every causal-sent message  was delivered.', and is not",
    ),
    "the claim is called like another one but for a full stop": (
        lambda: mfss(safety=Conjunct("causal  delivery.", "nonsense", NOTHING)),
        "the safety claim 'causal  delivery.' is not the property of that name",
    ),
    "a least element in an order of one's own": (
        lambda: mfss(quiescent=evolve(ALL_DELIVERED, least=(MISUSED,))),
        "The order is always `before`, because it is known to have least elements",
    ),
    "a least element of actors": (
        lambda: mfss(quiescent=evolve(ALL_DELIVERED, least=((a, knows(a)),))),
        "quiescent.least is about messages; a is none",
    ),
    # missing or open obligations
    "a relation is missing": (
        lambda: mfss(relations=mfss().relations[:-1]),
        "the guard 'all before it are acknowledged' of the action 'post' reads "
        "acknowledged(Message), which is no relation of the model; add it to relations=",
    ),
    "a conjunct reads what is missing": (
        lambda: claiming(z3.ForAll([x], flag(x))),
        "the conjunct 'claim' reads flag(Message), which is no relation of the model",
    ),
    "a relation has other arguments": (
        lambda: claiming(z3.ForAll([x, a], delivered_at(x, a))),
        "reads delivered(Message, Actor), which is no relation of the model",
    ),
    "the claim is about another kind of message": (
        lambda: mfss(safety=CAUSAL_DELIVERY_OF_MANY),
        "which is no relation of the model",
    ),
    "a function of one's own": (
        lambda: claiming(z3.ForAll([x], z3.Function("next", MESSAGE, MESSAGE)(x) == x)),
        "reads next(Message), which is no relation of the model",
    ),
    "a conjunct is open": (
        lambda: claiming(z3.Implies(posted(x), sent(x))),
        "the conjunct 'claim' is about one x, which nothing binds; bind it with ForAll",
    ),
    "a guard is open": (lambda: guarded(posted(x)), "is about one x, which nothing binds"),
    "an updated relation is missing": (
        lambda: updated(gains(flag, c)),
        "the update of 'flag' in the action 'post' reads flag(Message), which is no relation",
    ),
    "an update is open": (
        lambda: evolve(updated(gains(flag, x)), relations=(*mfss().relations, flag)),
        "the update of 'flag' in the action 'post' is about one x, which nothing binds",
    ),
    "an axiom is open": (lambda: assuming(fixed(x)), "is about one x, which nothing binds"),
    "what is undone is open": (
        lambda: mfss(quiescent=Quiescence(sent(x), "nothing")),
        "what quiescent says is undone is about one x",
    ),
    "the property of a least element is open": (
        lambda: mfss(quiescent=evolve(ALL_DELIVERED, least=((x, sent(y)),))),
        "the property of quiescent.least is about one y",
    ),
    "a formula is none": (lambda: claiming(True), "is True, which is no formula"),
    "a sort without elements": (
        lambda: claiming(z3.ForAll(times("t s")[:1], z3.BoolVal(True))),
        "is about all of sort Time",
    ),
    # requirements of the two readings of formulas
    "two relations of one name": (
        lambda: with_relation(evolve(posted)),
        "there are two relations 'posted'",
    ),
    "two actions of one name": (
        lambda: mfss(actions=(*mfss().actions, mfss().actions[1])),
        "there are two actions 'post'",
    ),
    "two conjuncts of one name": (
        lambda: mfss(conjuncts=(*mfss().conjuncts, mfss().conjuncts[0])),
        "there are two conjuncts 'life-of-a-message'",
    ),
    "a name that is none": (
        lambda: with_relation(Relation("is-so", (MESSAGE,), "{0}")),
        "a relation is called 'is-so'",
    ),
    "a reserved name": (
        lambda: with_relation(Relation("dst", (MESSAGE, ACTOR), "{0}")),
        "a relation is called 'dst'",
    ),
    "a relation of nothing": (
        lambda: with_relation(Relation("begun", (), "it has begun")),
        "begun() has no arguments",
    ),
    "a rigid relation changes": (
        lambda: evolve(updated(gains(fixed, c)), relations=(*mfss().relations, fixed)),
        "changes a rigid relation",
    ),
    "an update of too few variables": (
        lambda: evolve(
            updated(Update(flag, (), z3.BoolVal(True))), relations=(*mfss().relations, flag)
        ),
        "give one for each argument of flag(Message)",
    ),
    "an update's variable is a parameter": (
        lambda: evolve(
            acting(
                "post",
                lambda one: evolve(one, params=(c, u0), updates=(*one.updates, gains(flag, u0))),
            ),
            relations=(*mfss().relations, flag),
        ),
        "u0 stands for two things; give one of them another name",
    ),
    "a parameter that is no variable": (
        lambda: acting("post", lambda one: evolve(one, params=(src(c),))),
        "is not a variable",
    ),
    "a parameter of a sort without elements": (
        lambda: acting("post", lambda one: evolve(one, params=(c, z3.Const("t", TIME)))),
        "t is of the sort Time",
    ),
}


@pytest.mark.parametrize("case", REFUSED)
def test_a_model_is_refused_in_every_proof_and_every_link(case: str) -> None:
    model, reason = REFUSED[case][0](), REFUSED[case][1]
    with pytest.raises(InputError) as refusal:
        prove(model)
    assert reason in str(refusal.value)
    with pytest.raises(InputError) as refusal:
        link(model, None, None)  # type: ignore[arg-type]
    assert reason in str(refusal.value)


GHOSTS = """
from z3 import And, BoolVal, ForAll, Implies, Not
from antecede.checker.prove.stock import *
from antecede.checker.prove.vocabulary import *

x = messages("x")
MORE = dict(
    protocol="unordered",
    source="",
    relations=(*APPLICATION, posted, acknowledged),
    safety=CAUSAL_DELIVERY,
    link="antecede.protocols.mfss_proof:UNORDERED_LINK",
)
SPY = Guard("oracle", Implies(And(tainted(c), dst(c) == dst(R)), delivered(R)))
READS = Model(
    title="a guard reads the ghost",
    actions=(causal_send(), post(), deliver([WAS_POSTED, SPY]), ACKNOWLEDGE),
    conjuncts=(
        LIFE_OF_A_POST,
        *GHOST_IS_OF_SENT,
        Conjunct("co", "as claimed", CAUSAL_DELIVERY.formula),
    ),
    **MORE,
)
OVERWRITES = loses_all(tainted, (x,), BoolVal(True))
REPLACES = Model(
    title="an update replaces the ghost's",
    actions=(causal_send(updates=[OVERWRITES]), post(), deliver([WAS_POSTED]), ACKNOWLEDGE),
    conjuncts=(Conjunct("none", "nothing is tainted", ForAll([x], Not(tainted(x)))),),
    **MORE,
)
"""


@pytest.mark.parametrize("options", [[], ["--link"], ["--suggest"], ["--smt2", "folder"]])
@pytest.mark.parametrize(
    ("name", "reason"),
    [("READS", "reads R, tainted, which only watches"), ("REPLACES", "updates 'tainted' twice")],
)
def test_deliver_on_arrival_cannot_be_proved_with_a_ghost(
    name: str,
    reason: str,
    options: list[str],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("ghosts.py").write_text(GHOSTS)
    assert main(["prove", f"ghosts.py:{name}", *options]) == 2
    shown = capsys.readouterr()
    assert reason in shown.err
    assert "PROVED" not in shown.out
    assert ["ghosts.py"] == [file.name for file in tmp_path.iterdir() if file.is_file()]
    assert not (tmp_path / "folder").exists()
