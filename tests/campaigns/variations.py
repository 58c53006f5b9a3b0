"""Random variations of small abstract models; most variations are wrong or mean nothing.

A variation is a base model and a list of changes. Each change has a seed of its own, so that it
does the same when others are left out.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, TypeAlias

import z3
from attrs import evolve, frozen

from antecede.checker.prove.formula import symbols
from antecede.checker.prove.front import model_named
from antecede.checker.prove.stock import LIFE_OF_A_POST
from antecede.checker.prove.vocabulary import (
    ACTOR,
    APPLICATION,
    CAUSAL_DELIVERY,
    GHOST_IS_OF_SENT,
    MESSAGE,
    NO_SELF_SENDS,
    Action,
    Conjunct,
    Formula,
    Guard,
    Model,
    R,
    Relation,
    Update,
    actors,
    c,
    causal_send,
    deliver,
    delivered,
    dst,
    knows,
    messages,
    sent,
    src,
    tainted,
)

m, x, y = messages("m x y")
a = actors("a")


def as_claimed() -> Model:
    """Return "deliver on arrival"; its invariant is the claim itself, and it lacks a guard."""
    model = model_named("unordered")
    claim = Conjunct("as claimed", CAUSAL_DELIVERY.says, CAUSAL_DELIVERY.formula)
    return evolve(model, conjuncts=(LIFE_OF_A_POST, *GHOST_IS_OF_SENT, claim))


def delivers_early() -> Model:
    """Return a model whose messages are delivered before their causal-sends, with an invariant."""
    return evolve(
        model_named("unordered"),
        title="delivers messages that nobody has sent",
        actions=(
            causal_send([Guard("was delivered", delivered(c))]),
            deliver([Guard("was not causal-sent", z3.Not(sent(c)))]),
        ),
        conjuncts=(
            Conjunct("knowers", "as named", z3.ForAll([a], z3.Implies(knows(a), delivered(R)))),
            Conjunct("taint", "as named", z3.ForAll([x], z3.Implies(tainted(x), delivered(R)))),
            Conjunct("early", "as named", z3.ForAll([x], z3.Implies(sent(x), delivered(x)))),
        ),
    )


BASES: dict[str, tuple[int, Callable[[], Model]]] = {
    "mfss": (3, partial(model_named, "mfss")),
    "mfss-fifo": (1, partial(model_named, "mfss-fifo")),
    "fifo": (2, partial(model_named, "fifo")),
    "rst": (1, partial(model_named, "rst")),
    "as claimed": (2, as_claimed),
    "delivers early": (0, delivers_early),
}
"""The models that are varied, with their weights; one of weight 0 takes the place of others."""

EARLY = 0.1
"""The probability that a case varies the model that delivers early."""

WAITING, ONLY_WAITING = 0.15, 0.5
"""The probability that an action waits for a first one, and then that nothing else changes."""

flag = Relation("flag", (MESSAGE,), "{0} has a flag")
busy = Relation("busy", (ACTOR,), "{0} is busy")
shadow = Relation("shadow", (MESSAGE,), "{0} is in the shadow of R", ghost=True)

AXIOMS = (
    NO_SELF_SENDS,
    ("somebody sends to itself", z3.Exists([x], src(x) == dst(x))),
    ("there is one message", z3.ForAll([x, y], x == y)),
    ("all are for one actor", z3.ForAll([x, y], dst(x) == dst(y))),
    ("all are of one actor", z3.ForAll([x, y], src(x) == src(y))),
    ("nobody gets two messages", z3.ForAll([x, y], z3.Implies(dst(x) == dst(y), x == y))),
    ("there are two messages", z3.Exists([x, y], x != y)),
)

Change: TypeAlias = tuple[str, int]
"""The name of a change, and its seed."""


@frozen
class Variation:
    """A model that was drawn."""

    base: str
    changes: tuple[Change, ...]

    @property
    def model(self) -> Model:
        """The base model after all changes."""
        model = evolve(BASES[self.base][1](), link=None, expected="PROVED")
        for name, seed in self.changes:
            model = CHANGES[name][1](random.Random(seed), model)
        return model


def drawn(seed: str) -> Variation:
    """Return the variation of a seed: one to three changes of a base model."""
    chance = random.Random(f"model {seed}")
    count = chance.choice((1, 1, 2, 2, 3))
    names = chance.choices(list(CHANGES), [weight for weight, _ in CHANGES.values()], k=count)
    (base,) = chance.choices(list(BASES), [weight for weight, _ in BASES.values()])
    if random.Random(f"early {seed}").random() < EARLY:
        base = "delivers early"
    changes = tuple((name, chance.randrange(10**9)) for name in names)
    waiting = random.Random(f"waiting {seed}")
    if waiting.random() < WAITING:
        change = ("wait for a first one", waiting.randrange(10**9))
        changes = (change,) if waiting.random() < ONLY_WAITING else (*changes, change)
    return Variation(base, changes)


# --- formulas


def _terms(model: Model, variables: Sequence[Any], chance: random.Random) -> dict[Any, list[Any]]:
    """Return the terms that literals are about, by sort; sometimes R is one of them."""
    own = [v for v in variables if v.sort() == MESSAGE]
    of_messages = own + ([R] if chance.random() < 0.15 else [])
    of_actors = [v for v in variables if v.sort() == ACTOR]
    of_actors += [f(v) for v in of_messages for f in (src, dst)]
    return {MESSAGE: of_messages, ACTOR: of_actors}


def literal(
    chance: random.Random, model: Model, variables: Sequence[Any], ghosts: float
) -> Formula:
    """Return an atom over the variables, or its negation; ghosts are read with a probability."""
    terms = _terms(model, variables, chance)
    usable = [
        relation
        for relation in model.relations
        if all(terms[sort] for sort in relation.sorts)
        and (not relation.ghost or chance.random() < ghosts)
    ]
    if usable and chance.random() < 0.8:
        relation = chance.choice(usable)
        atom = relation(*(chance.choice(terms[sort]) for sort in relation.sorts))
    else:
        sort = chance.choice([sort for sort in (MESSAGE, ACTOR) if terms[sort]])
        atom = chance.choice(terms[sort]) == chance.choice(terms[sort])
    return z3.Not(atom) if chance.random() < 0.5 else atom


def formula(
    chance: random.Random, model: Model, variables: Sequence[Any], ghosts: float
) -> Formula:
    """Return a literal, a clause, or a quantified clause over the variables and one more."""
    shape = chance.choice(("literal", "clause", "forall", "exists")) if variables else "forall"
    if shape == "literal":
        return literal(chance, model, variables, ghosts)
    more = [] if shape == "clause" else [chance.choice((x, x, a))]
    inside = [*variables, *more]
    parts = [literal(chance, model, inside, ghosts) for _ in range(chance.choice((2, 2, 3)))]
    if shape == "exists":
        return z3.Exists(more, z3.And(parts))
    clause = z3.Or(parts)
    return z3.ForAll(more, clause) if more else clause


# --- changes


def _changed(chance: random.Random, model: Model, change: Callable[[Action], Action]) -> Model:
    """Return the model with one of its actions changed."""
    chosen = chance.choice(model.actions)
    actions = tuple(change(one) if one is chosen else one for one in model.actions)
    return evolve(model, actions=actions)


def _without(chance: random.Random, things: tuple[Any, ...]) -> tuple[Any, ...]:
    """Return the things without one of them."""
    left_out = chance.randrange(len(things)) if things else 0
    return things[:left_out] + things[left_out + 1 :]


def drop_guard(chance: random.Random, model: Model) -> Model:
    """Leave out a guard of an action."""
    return _changed(chance, model, lambda one: evolve(one, guards=_without(chance, one.guards)))


def add_guard(chance: random.Random, model: Model) -> Model:
    """Add a guard, which sometimes reads what it must not."""

    def change(action: Action) -> Action:
        guard = Guard(f"drawn {chance.random()}", formula(chance, model, action.params, 0.1))
        return evolve(action, guards=(*action.guards, guard))

    return _changed(chance, model, change)


def wait_for_a_first_one(chance: random.Random, model: Model) -> Model:
    """Let actions wait until a relation contains another message; often nothing can be first."""
    relations = [one for one in model.changing if set(one.sorts) == {MESSAGE}]
    relation = chance.choice(relations)
    variables = [z3.Const(f"w{k}", MESSAGE) for k in range(len(relation.sorts))]
    some = relation(*variables)
    if chance.random() < 0.5:
        some = z3.And(some, variables[0] != c)
    guard = Guard("waits for a first one", z3.Exists(variables, some))
    return _changed(chance, model, lambda one: evolve(one, guards=(*one.guards, guard)))


def replace_guard(chance: random.Random, model: Model) -> Model:
    """Replace a guard of an action."""

    def change(action: Action) -> Action:
        guard = Guard(f"drawn {chance.random()}", formula(chance, model, action.params, 0.1))
        return evolve(action, guards=(*_without(chance, action.guards), guard))

    return _changed(chance, model, change)


def spy(chance: random.Random, model: Model) -> Model:
    """Add a guard that avoids what would violate the claim, because it reads the ghosts."""
    avoided = (
        z3.Implies(z3.And(tainted(c), dst(c) == dst(R)), delivered(R)),
        z3.Not(tainted(c)),
        z3.Or(c == R, delivered(R)),
        z3.Not(knows(src(c))),
    )
    guard = Guard("spies", chance.choice(avoided))
    return _changed(chance, model, lambda one: evolve(one, guards=(*one.guards, guard)))


def change_update(chance: random.Random, model: Model) -> Model:
    """Add an update, mostly in the place of the one that the relation has."""
    followed = chance.random() < 0.15
    some = [r for r in model.relations if (r in APPLICATION) == followed]
    relation = chance.choice(some or model.relations)
    variables = tuple(z3.Const(f"w{k}", sort) for k, sort in enumerate(relation.sorts))
    replaces = chance.random() < 0.9

    def change(action: Action) -> Action:
        becomes = formula(chance, model, (*action.params, *variables), 0.5 * relation.ghost)
        shape = chance.choice(("gains", "loses", "becomes"))
        if shape == "gains":
            becomes = z3.Or(relation(*variables), becomes)
        elif shape == "loses":
            becomes = z3.And(relation(*variables), z3.Not(becomes))
        kept = tuple(u for u in action.updates if not (replaces and u.relation is relation))
        return evolve(action, updates=(*kept, Update(relation, variables, becomes)))

    return _changed(chance, model, change)


def drop_update(chance: random.Random, model: Model) -> Model:
    """Leave out an update."""
    return _changed(chance, model, lambda one: evolve(one, updates=_without(chance, one.updates)))


def overwrite_ghost(chance: random.Random, model: Model) -> Model:
    """Let all actions say that a ghost is true of nothing, and claim that.

    Conjuncts that read no ghost stay, because integrity may follow from them.
    """
    ghost = chance.choice([relation for relation in model.relations if relation.ghost])
    variable = z3.Const("w0", ghost.sorts[0])
    nothing = Update(ghost, (variable,), z3.BoolVal(False))
    actions = tuple(evolve(one, updates=(*one.updates, nothing)) for one in model.actions)
    claim = Conjunct(f"no {ghost.name}", "drawn", z3.ForAll([variable], z3.Not(ghost(variable))))
    ghosts = {relation.name for relation in model.relations if relation.ghost}
    kept = (
        one
        for one in model.conjuncts
        if not ghosts & {symbol.name() for symbol in symbols(one.formula)}
    )
    return evolve(model, actions=actions, conjuncts=(*kept, claim))


def add_relation(chance: random.Random, model: Model) -> Model:
    """Add a relation, an update of it, and a guard that reads it."""
    relation = chance.choice((flag, flag, busy, busy, shadow))
    if relation in model.relations:
        return model
    model = evolve(model, relations=(*model.relations, relation))
    variable = z3.Const("w0", relation.sorts[0])
    atom = relation(c if relation.sorts == (MESSAGE,) else chance.choice((src, dst))(c))
    guard = Guard(f"of {relation.name}", z3.Not(atom) if chance.random() < 0.7 else atom)

    def updated(action: Action) -> Action:
        gained = formula(chance, model, (*action.params, variable), 0.5 * relation.ghost)
        update = Update(relation, (variable,), z3.Or(relation(variable), gained))
        return evolve(action, updates=(*action.updates, update))

    model = _changed(chance, model, updated)
    return _changed(chance, model, lambda one: evolve(one, guards=(*one.guards, guard)))


def add_conjunct(chance: random.Random, model: Model) -> Model:
    """Add a conjunct about the marked message, ghosts and all."""
    closed = [[m], [m], [a], [m, x]][chance.randrange(4)]
    inside = [literal(chance, model, [*closed, R], 0.7) for _ in range(chance.choice((1, 2, 3)))]
    added = Conjunct(f"drawn {chance.random()}", "drawn", z3.ForAll(closed, z3.Or(inside)))
    return evolve(model, conjuncts=(*model.conjuncts, added))


def drop_conjunct(chance: random.Random, model: Model) -> Model:
    """Leave out a conjunct."""
    return evolve(model, conjuncts=_without(chance, model.conjuncts))


def add_axiom(chance: random.Random, model: Model) -> Model:
    """Add an axiom about all systems, or one that is about more than that."""
    drawn_axiom = ("drawn", formula(chance, model, (), 0.3))
    added = drawn_axiom if chance.random() < 0.2 else chance.choice(AXIOMS)
    return evolve(model, axioms=(*model.axioms, added))


def change_safety(chance: random.Random, model: Model) -> Model:
    """Claim something else, under the same name or another one."""
    claim = formula(chance, model, (), 0.7)
    if chance.random() < 0.7:
        claim = z3.Implies(claim, model.safety.formula)
    name = model.safety.name if chance.random() < 0.5 else "drawn"
    conjuncts = tuple(
        evolve(one, formula=claim) if one.formula.eq(model.safety.formula) else one
        for one in model.conjuncts
    )
    return evolve(model, safety=Conjunct(name, "drawn", claim), conjuncts=conjuncts)


def add_action(chance: random.Random, model: Model) -> Model:
    """Add an action that does a part of what another one does."""
    like = chance.choice(model.actions)
    again = evolve(like, name=f"{like.name} again", updates=_without(chance, like.updates))
    return evolve(model, actions=(*model.actions, again))


def drop_action(chance: random.Random, model: Model) -> Model:
    """Leave out an action."""
    return evolve(model, actions=_without(chance, model.actions))


CHANGES: dict[str, tuple[int, Callable[[random.Random, Model], Model]]] = {
    "drop a guard": (2, drop_guard),
    "add a guard": (6, add_guard),
    "replace a guard": (2, replace_guard),
    "spy on a ghost": (2, spy),
    "change an update": (3, change_update),
    "drop an update": (1, drop_update),
    "overwrite a ghost": (1, overwrite_ghost),
    "add a relation": (5, add_relation),
    "add a conjunct": (3, add_conjunct),
    "drop a conjunct": (2, drop_conjunct),
    "add an axiom": (2, add_axiom),
    "change the claim": (1, change_safety),
    "add an action": (1, add_action),
    "drop an action": (1, drop_action),
    "wait for a first one": (0, wait_for_a_first_one),
}
"""What may be changed, with weights; a change of weight 0 is added to others."""
