"""Refuses models that the solver could prove although the protocol is wrong.

The claims are about the marked message R. The ghosts `knows` and `tainted` follow R, and no guard
and no other relation may depend on R or a ghost. Only `causal_send`, `deliver` and `deliver_at` may
change the relations of the claims. Axioms may only be about the system, and a claim must be the
property whose name it has.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import Any

import z3

from antecede.checker.prove.formula import compiled, symbols
from antecede.checker.prove.stock import ALL_DELIVERED
from antecede.checker.prove.vocabulary import (
    APPLICATION,
    APPLICATION_OF_MANY,
    MESSAGE,
    PROPERTIES,
    SORTS,
    Action,
    Conjunct,
    D,
    Formula,
    Model,
    Quiescence,
    R,
    Relation,
    Update,
    causal_send,
    deliver,
    deliver_at,
    dst,
    src,
)
from antecede.checker.support.errors import InputError

MARKS = (R, D)
FUNCTIONS = (src, dst)
RESERVED = ("R", "D", "src", "dst")
FOLLOWED = tuple(
    relation for relation in (*APPLICATION, *APPLICATION_OF_MANY) if not relation.rigid
)
"""The relations that the claims are about."""

MADE = (causal_send(), deliver(()), deliver_at(()))


def validate(model: Model) -> Model:
    """Return the model if the solver and Python can read its formulas and its claims are sound.

    Raises:
        InputError: it is not such a model; the message says what to change.
    """
    try:
        _check(model)
    except (AttributeError, TypeError, ValueError, z3.Z3Exception) as error:
        raise InputError(
            f"the model of {model.protocol} has a part of another type than the page on proofs "
            f"says: {error}"
        ) from error
    return model


def _check(model: Model) -> None:
    _check_relations(model)
    _check_names("action", [action.name for action in model.actions])
    for action in model.actions:
        _check_action(model, action)
    _check_application(model)
    _check_axioms(model)
    _check_names("conjunct", [conjunct.name for conjunct in model.conjuncts])
    for conjunct in model.conjuncts:
        _read(model, f"the conjunct {conjunct.name!r}", conjunct.formula)
    _check_safety(model)
    if model.quiescent is not None:
        _check_quiescent(model, model.quiescent)


def _check_names(kind: str, names: Sequence[str], where: str = "") -> None:
    for name in names:
        if names.count(name) > 1:
            raise InputError(f"there are two {kind}s {name!r}{where}; rename one of them")


def _check_relations(model: Model) -> None:
    _check_names("relation", [relation.name for relation in model.relations])
    for relation in model.relations:
        if not relation.name.isidentifier() or relation.name in RESERVED:
            raise InputError(
                f"a relation is called {relation.name!r}; use letters, digits and _, and not "
                f"{', '.join(RESERVED)}"
            )
        if not relation.sorts or any(sort not in SORTS.values() for sort in relation.sorts):
            raise InputError(
                f"{_signature(relation.symbol)} has no arguments, or some of other sorts; the "
                f"sorts are {', '.join(SORTS)}"
            )
        named = [one for one in (*APPLICATION, *APPLICATION_OF_MANY) if one.name == relation.name]
        if named and not any(_same_relation(relation, one) for one in named):
            raise InputError(
                f"{relation.name!r} is a relation of the vocabulary, and this one differs from "
                "it; use the vocabulary's, or another name"
            )


def _same_relation(one: Relation, other: Relation) -> bool:
    alike = (one.rigid, one.ghost) == (other.rigid, other.ghost)
    return alike and bool(one.symbol.eq(other.symbol))


def _signature(declared: Any) -> str:
    sorts = (declared.domain(k).name() for k in range(declared.arity()))
    return f"{declared.name()}({', '.join(sorts)})"


# --- actions


def _check_action(model: Model, action: Action) -> None:
    where = f" of the action {action.name!r}"
    _check_variables(model, f"the parameters{where}", action.params)
    _check_names("guard", [guard.name for guard in action.guards], where)
    for guard in action.guards:
        what = f"the guard {guard.name!r}{where}"
        _refuse_ghosts(model, what, _read(model, what, guard.formula, action.params))
    for update in action.updates:
        _check_update(model, action, update)
    _refuse_second_updates(action)


def _refuse_second_updates(action: Action) -> None:
    updated = [update.relation.name for update in action.updates]
    for name in updated:
        if updated.count(name) > 1:
            raise InputError(
                f"the action {action.name!r} updates {name!r} twice, so that one update would "
                "replace the other; write one update that says what the relation becomes"
            )


def _check_update(model: Model, action: Action, update: Update) -> None:
    what = f"the update of {update.relation.name!r} in the action {action.name!r}"
    if not any(_same_relation(update.relation, one) for one in model.relations):
        raise _missing(model, what, update.relation.symbol)
    if update.relation.rigid:
        raise InputError(f"{what} changes a rigid relation; make the relation not rigid")
    _check_variables(model, f"the variables of {what}", (*action.params, *update.variables))
    sorts = tuple(variable.sort() for variable in update.variables)
    if sorts != update.relation.sorts:
        raise InputError(
            f"the variables of {what} have the sorts {', '.join(map(str, sorts))}; give one for "
            f"each argument of {_signature(update.relation.symbol)}"
        )
    names = _read(model, what, update.formula, (*action.params, *update.variables))
    if not update.relation.ghost:
        _refuse_ghosts(model, what, names)


def _check_variables(model: Model, what: str, variables: Sequence[Any]) -> None:
    """Refuse objects that are not variables, repeated variables, and R and D."""
    for variable in variables:
        if not (z3.is_const(variable) and z3.is_app_of(variable, z3.Z3_OP_UNINTERPRETED)):
            raise InputError(f"{what}: {variable} is not a variable; use messages() or actors()")
        if variable.sort().name() not in model.sorts:
            raise InputError(
                f"{what}: {variable} is of the sort {variable.sort()}; the model's sorts are "
                f"{', '.join(model.sorts)}"
            )
    for variable in variables:
        if sum(map(variable.eq, (*variables, *MARKS))) > 1:
            raise InputError(
                f"{what}: {variable} stands for two things; give one of them another name"
            )


def _refuse_ghosts(model: Model, what: str, names: set[str]) -> None:
    hidden = {str(mark) for mark in MARKS} | {one.name for one in model.relations if one.ghost}
    if hidden & names:
        raise InputError(
            f"{what} reads {', '.join(sorted(hidden & names))}, which only watches: no guard and "
            "no update of another relation may depend on it. Use the protocol's own relations"
        )


def _check_application(model: Model) -> None:
    """Refuse a model whose application events do not change the ghosts as the vocabulary does."""
    kinds = set()
    for action in model.actions:
        updates = [
            u for u in action.updates if any(_same_relation(u.relation, f) for f in FOLLOWED)
        ]
        if not updates:
            continue
        like = [one for one in MADE if _is_made_like(action, updates, one)]
        if not like:
            changed = ", ".join(update.relation.name for update in updates)
            raise InputError(
                f"the action {action.name!r} changes {changed} in a way of its own, so that the "
                "claims would not be about its events; make it with causal_send(), deliver() or "
                "deliver_at(), and give these your guards and updates"
            )
        kinds.add(like[0].name)
    for name in ("causal-send", "deliver"):
        if name not in kinds:
            raise InputError(
                f"no action of the model is a {name}, so its claims would be vacuous; "
                f"add one that is made with {name.replace('-', '_')}()"
            )


def _is_made_like(action: Action, updates: Sequence[Update], made: Action) -> bool:
    """Return whether an action has the guards of `made` and no other application events."""
    guards = {guard.formula.get_id() for guard in action.guards}
    return (
        {_key(update) for update in updates} == {_key(update) for update in made.updates}
        and guards >= {guard.formula.get_id() for guard in made.guards}
        and action.environment >= made.environment
    )


def _key(update: Update) -> tuple[int, ...]:
    """Return a key that is equal for two updates with the same expression."""
    terms = (update.relation.symbol, *update.variables, update.formula)
    return tuple(term.get_id() for term in terms)


# --- axioms and claims


def _check_axioms(model: Model) -> None:
    _check_names("axiom", [name for name, _ in model.axioms])
    fixed = {relation.name for relation in model.relations if relation.rigid and not relation.ghost}
    for name, axiom in model.axioms:
        names = _read(model, f"the axiom {name!r}", axiom) - {str(f) for f in FUNCTIONS}
        if names - fixed:
            raise InputError(
                f"the axiom {name!r} reads {', '.join(sorted(names - fixed))}; an axiom is about "
                "the system, so it may read src, dst and rigid relations only. Write a conjunct"
            )


def _check_safety(model: Model) -> None:
    claim = model.safety
    _read(model, f"the safety claim {claim.name!r}", claim.formula)
    called = [one for one in PROPERTIES if _plain(one.name) == _plain(claim.name)]
    if called and not _is_one_of(claim, called):
        raise InputError(
            f"the safety claim {claim.name!r} is not the property of that name; use the "
            "vocabulary's, or claim it under another name"
        )


def _plain(name: str) -> str:
    """Return the words of a name or claim, so that texts that read alike are equal."""
    return " ".join(re.findall(r"[^\W_]+", name.casefold()))


def _is_one_of(claim: Conjunct, others: Iterable[Conjunct]) -> bool:
    return any(claim.formula.eq(other.formula) for other in others)


def _check_quiescent(model: Model, claim: Quiescence) -> None:
    _read(model, "what quiescent says is undone", claim.undone)
    for instance in claim.least:
        if len(instance) != 2:
            raise InputError(
                f"quiescent.least has {instance}; give pairs of a message variable and a property. "
                "The order is always `before`, because it is known to have least elements"
            )
        variable, formula = instance
        _check_variables(model, "the variable of quiescent.least", [variable])
        if variable.sort() != MESSAGE:
            raise InputError(f"quiescent.least is about messages; {variable} is none")
        _read(model, "the property of quiescent.least", formula, [variable])
    if _plain(claim.says) == _plain(ALL_DELIVERED.says) and not claim.undone.eq(
        ALL_DELIVERED.undone
    ):
        raise InputError(
            f"quiescent claims {claim.says!r}, and is not stock.ALL_DELIVERED, which says so; "
            "use that, or say what is claimed"
        )


# --- formulas


def _read(model: Model, what: str, formula: Formula, variables: Sequence[Any] = ()) -> set[str]:
    """Return the names of the relations, functions and marks that a formula reads.

    Raises:
        InputError: it is not a formula, has other free variables, reads a relation that the model
            does not have, or cannot be evaluated on finite structures.
    """
    if not z3.is_bool(formula):
        raise InputError(
            f"{what} is {formula!r}, which is no formula; use a z3 expression of sort Bool"
        )
    bound = [variable.decl() for variable in variables]
    declared = [*(mark.decl() for mark in MARKS), *FUNCTIONS, *(r.symbol for r in model.relations)]
    names = set()
    for symbol in symbols(formula):
        if any(symbol.eq(one) for one in bound):
            continue
        if not any(symbol.eq(one) for one in declared):
            raise _missing(model, what, symbol)
        names.add(symbol.name())
    compiled(formula, dict.fromkeys(model.sorts, 1), variables)
    return names


def _missing(model: Model, what: str, symbol: Any) -> InputError:
    """Return the error for a symbol that is neither bound nor in the model."""
    if symbol.arity() == 0:
        return InputError(
            f"{what} is about one {symbol.name()}, which nothing binds; bind it with ForAll or "
            "Exists, or, in a guard or an update, make it a parameter of the action"
        )
    return InputError(
        f"{what} reads {_signature(symbol)}, which is no relation of the model; add it to "
        f"relations=. The model has {', '.join(_signature(r.symbol) for r in model.relations)}"
    )
