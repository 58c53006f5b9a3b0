"""Candidate conjuncts for a designer: true in all linked states, and inductive together.

The grammar is fixed: disjunctions of at most three literals about the marked message R, any message
m and any actor a, which can be read as implications. The candidates that are true in every linked
state are reduced by the Houdini algorithm (C. Flanagan, K. R. M. Leino: Houdini, an annotation
assistant for ESC/Java, FME 2001). It removes every candidate that some action can break, and
repeats until none is removed. The remaining candidates are inductive, as the solver confirms.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from itertools import combinations, product

import z3
from attrs import evolve, frozen

from antecede.checker.prove.finite import Universe, applied, true_in
from antecede.checker.prove.formula import Structure, after, compiled
from antecede.checker.prove.link import Link, link
from antecede.checker.prove.mutants import used
from antecede.checker.prove.obligations import (
    SAFETY,
    TIMEOUT,
    Answer,
    Proof,
    ask,
    initial,
    obligations,
    prove,
)
from antecede.checker.prove.report import marks_text, wrapped
from antecede.checker.prove.solver import check, look, solver_for
from antecede.checker.prove.vocabulary import (
    ACTOR,
    MESSAGE,
    Conjunct,
    Formula,
    Model,
    R,
    actors,
    dst,
    messages,
    src,
)
from antecede.checker.semantics.transition import System
from antecede.checker.support.errors import InputError

MOST_LITERALS = 3

m = messages("m")
a = actors("a")


@frozen(eq=False)
class Suggestion:
    """A suggested invariant.

    Attributes:
        tried: the number of candidates in the grammar for the model.
        linked: the number of candidates that are true in all linked states.
        states: the number of linked states.
        proof: the proof of the model with the suggested conjuncts in place of its own.
        enough: the suggested conjuncts that the solver used, directly or for one another, to prove
            safety; all of them if safety does not follow.
    """

    tried: int
    linked: int
    states: int
    proof: Proof
    enough: tuple[Conjunct, ...]
    seconds: float


@frozen(eq=False)
class Literal:
    """An atom or its negation, with its text and the atom's index."""

    formula: Formula
    text: str
    atom: int
    negated: bool


def atoms(model: Model) -> list[tuple[Formula, str]]:
    """Return the atoms of the grammar: all relations applied to m, to R, to a, and to pairs."""
    pairs: list[tuple[Formula, str]] = []
    for relation in model.relations:
        if relation.sorts == (MESSAGE,):
            pairs += [(relation(x), f"{relation.name}({x})") for x in (m, R)]
        elif relation.sorts == (ACTOR,):
            pairs.append((relation(a), f"{relation.name}(a)"))
        elif relation.sorts == (MESSAGE, MESSAGE):
            pairs += [(relation(x, y), f"{relation.name}({x}, {y})") for x, y in ((R, m), (m, R))]
        elif relation.sorts == (ACTOR, MESSAGE):
            pairs += [(relation(a, x), f"{relation.name}(a, {x})") for x in (m, R)]
    pairs += [(a == src(R), "a = src(R)"), (src(m) == src(R), "src(m) = src(R)")]
    if all(relation.name != "to" for relation in model.relations):
        pairs += [(a == dst(R), "a = dst(R)"), (dst(m) == dst(R), "dst(m) = dst(R)")]
    return pairs


def candidates(model: Model) -> Iterator[tuple[Literal, ...]]:
    """Yield the disjunctions of the grammar, the shortest first; about m or about a, not both."""
    literals = [
        Literal(z3.Not(formula) if negated else formula, text, index, negated)
        for index, (formula, text) in enumerate(atoms(model))
        for negated in (False, True)
    ]
    for count in range(1, MOST_LITERALS + 1):
        for chosen in combinations(literals, count):
            distinct = len({one.atom for one in chosen}) == count
            if distinct and len({v for one in chosen for v in _about(one)}) <= 1:
                yield chosen


def _about(literal: Literal) -> set[str]:
    inside = literal.text.replace("(", " ").replace(")", " ").replace(",", " ").split()
    return {"m", "a"} & set(inside)


def clause(chosen: Sequence[Literal]) -> Formula:
    """Return a disjunction, quantified over all m and a."""
    return z3.ForAll([m, a], z3.Or([one.formula for one in chosen]))


def said(chosen: Sequence[Literal]) -> str:
    """Return a disjunction as the text of an implication."""
    premises = [one.text for one in chosen if one.negated]
    then = [one.text for one in chosen if not one.negated]
    right = " or ".join(then)
    if not premises:
        return right
    if not then:
        return "not " + premises[0] if len(premises) == 1 else f"not ({' and '.join(premises)})"
    return f"{' and '.join(premises)} implies {right}"


def linked_structures(model: Model, declared: Link, system: System) -> list[Structure]:
    """Return the distinct structures of a link, one per state and choice of the marked message."""
    seen: dict[tuple[object, ...], Structure] = {}

    def watch(structure: Structure) -> None:
        seen.setdefault(tuple(structure.values.values()), structure)

    # The link judges only safety, because the conjuncts are still unknown.
    linked = link(evolve(model, conjuncts=()), declared, system, watch=watch)
    if linked.difference is not None:
        raise InputError(f"model and Python differ, so nothing is suggested: {linked.difference}")
    return list(seen.values())


def true_everywhere(model: Model, structures: Sequence[Structure]) -> list[tuple[Literal, ...]]:
    """Return the candidates that are true in all structures and not implied by a shorter one.

    An assignment of m and a in a structure makes some literals true, and yields a bit mask. A
    candidate is true everywhere if it shares a bit with every mask.
    """
    literals = atoms(model)
    calls = [compiled(formula, structures[0].sizes, (m, a)) for formula, _ in literals]
    masks: set[int] = set()
    for structure in structures:
        look()
        sizes = structure.sizes
        for elements in product(range(sizes["Message"]), range(sizes["Actor"])):
            mask = 0
            for index, call in enumerate(calls):
                mask |= 1 << (2 * index + (not call.value(structure, *elements)))
            masks.add(mask)
    shortest: list[tuple[Literal, ...]] = []
    bits: list[int] = []
    for chosen in candidates(model):
        look()
        own = sum(1 << (2 * one.atom + one.negated) for one in chosen)
        if any(own & shorter == shorter for shorter in bits):
            continue
        if all(own & mask for mask in masks):
            shortest.append(chosen)
            bits.append(own)
    return shortest


def houdini(
    model: Model, clauses: Sequence[tuple[Literal, ...]], timeout: float = TIMEOUT
) -> list[tuple[Literal, ...]]:
    """Return the greatest inductive subset of `clauses`.

    First, small counterexamples to induction are collected, and each removes all clauses that it
    breaks. Then the solver checks the remaining clauses one by one.
    """
    remaining = [one for one in clauses if _initially(model, one)]
    for sizes in (
        {"Actor": 2, "Message": 2},
        {"Actor": 3, "Message": 2},
        {"Actor": 2, "Message": 3},
    ):
        remaining = _thinned(model, remaining, sizes, timeout)
    while remaining:
        trial = evolve(model, conjuncts=conjuncts(remaining), quiescent=None)
        broken = {
            one.conjunct.name
            for one in obligations(trial)
            if one.action is not None and ask(one, timeout).answer is not Answer.PROVED
        }
        if not broken:
            break
        remaining = [one for one in remaining if said(one) not in broken]
    return remaining


def _initially(model: Model, chosen: tuple[Literal, ...]) -> bool:
    solver = solver_for(TIMEOUT)
    solver.add(*initial(model), z3.Not(clause(chosen)))
    return bool(check(solver) == z3.unsat)


def _thinned(
    model: Model, clauses: list[tuple[Literal, ...]], sizes: dict[str, int], timeout: float
) -> list[tuple[Literal, ...]]:
    """Remove clauses that a small counterexample to induction breaks, until there is none."""
    remaining = list(clauses)
    for action in [*model.actions, *model.actions]:
        while remaining:
            universe = Universe.of(model, sizes, timeout)
            formulas = [clause(one) for one in remaining]
            after_it = z3.Or([z3.Not(after(formula, action)) for formula in formulas])
            example = universe.find(*formulas, action.guard, after_it, free=action.params)
            if example is None:
                break
            last = applied(example.before, action, example.arguments)
            remaining = [
                one
                for one, formula in zip(remaining, formulas, strict=True)
                if true_in(last, formula)
            ]
    return remaining


def conjuncts(clauses: Sequence[tuple[Literal, ...]]) -> tuple[Conjunct, ...]:
    """Return clauses as conjuncts that are named by their text."""
    return tuple(Conjunct(said(one), said(one), clause(one)) for one in clauses)


def suggest(
    model: Model,
    declared: Link,
    system: System,
    timeout: float = TIMEOUT,
    say: Callable[[str], None] = lambda _text: None,
) -> Suggestion:
    """Search for an invariant of a linked model, without using its own conjuncts.

    The candidates must be true in all states of the system. The timeout is in seconds, for each
    question to the solver. `say` is called with progress messages.
    """
    started = time.monotonic()
    say("exploring")
    structures = linked_structures(model, declared, system)
    say(f"{len(structures)} structures; trying candidates")
    clauses = true_everywhere(model, structures)
    say(f"{len(clauses)} candidates are true in all of them; thinning them out by induction")
    inductive = houdini(model, clauses, timeout)
    trial = evolve(model, conjuncts=conjuncts(inductive), quiescent=None)
    proof = prove(trial, timeout)
    look()
    enough = trial.conjuncts if proof.answer is not Answer.PROVED else _enough(trial, timeout)
    tried = sum(1 for _ in candidates(model))
    seconds = time.monotonic() - started
    return Suggestion(tried, len(clauses), len(structures), proof, enough, seconds)


def _enough(model: Model, timeout: float) -> tuple[Conjunct, ...]:
    """Return conjuncts that are inductive without the others and imply safety and integrity."""
    every = list(obligations(model))
    wanted: set[str] = set()
    claims = [one for one in every if one.where == SAFETY]
    more = {name for one in claims for name in used(one, model, timeout)}
    while more - wanted:
        new, wanted = more - wanted, wanted | more
        more = {
            name
            for one in every
            if one.action is not None and one.conjunct.name in new
            for name in used(one, model, timeout)
        }
    return tuple(one for one in model.conjuncts if one.name in wanted)


def text(found: Suggestion) -> str:
    """Return a suggestion as text."""
    model, proof = found.proof.model, found.proof
    lines = [
        f"{model.protocol}: {found.tried:,} candidates, {found.linked:,} true in all "
        f"{found.states:,} linked structures, {len(model.conjuncts)} inductive together "
        f"({found.seconds:.1f} s)",
        wrapped(marks_text(model)),
    ]
    names = {one.name for one in found.enough}
    claims = " and ".join(one.name for one in model.claims)
    if proof.answer is Answer.PROVED:
        lines.append(f"{claims} follow from these {len(names)}:")
    else:
        lines.append(f"{claims} do not follow from them ({proof.answer}):")
    lines += [f"  {one.says}" for one in model.conjuncts if one.name in names]
    others = [one for one in model.conjuncts if one.name not in names]
    if others:
        lines.append("Also inductive together with them:")
        lines += [f"  {one.says}" for one in others]
    return "\n".join(lines)
