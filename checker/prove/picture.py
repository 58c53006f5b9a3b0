"""Text pictures of finite structures: a table of messages with changes marked, then other facts."""

from __future__ import annotations

from collections.abc import Sequence

from antecede.checker.prove.finite import Example
from antecede.checker.prove.formula import Structure
from antecede.checker.prove.obligations import Obligation
from antecede.checker.prove.vocabulary import Model, Relation
from antecede.checker.render.prose import aligned

LETTERS = {"Actor": "A", "Message": "m", "Time": "t"}


def element(structure: Structure, sort: str, number: int) -> str:
    """Return the name of an element: A0, m1, and R for the marked message."""
    if sort == "Message" and structure.values["R"] == number:
        return "R"
    return f"{LETTERS[sort]}{number}"


def said(structure: Structure, words: str, sorts: Sequence[str], args: Sequence[int]) -> str:
    """Return `words` with {0}, {1} replaced by the names of elements."""
    return words.format(*(element(structure, sort, k) for sort, k in zip(sorts, args, strict=True)))


def facts(structure: Structure, relation: Relation) -> list[str]:
    """Return one sentence per tuple in a relation."""
    sorts = [sort.name() for sort in relation.sorts]
    return [said(structure, relation.words, sorts, args) for args in structure.tuples(relation)]


def picture(model: Model, example: Example) -> str:
    """Return the state before and after as a table of messages and a list of the other facts.

    A cell has x if the relation is true before and after, + if it becomes true, - if it becomes
    false.
    """
    state, last = example.before, example.after or example.before
    many = any(relation.name == "to" for relation in model.relations)
    columns = [r for r in model.relations if _of_messages(r)]
    head = ["message", "from" if many else "from → to", *(r.name for r in columns)]
    rows = [head]
    for m in range(state.sizes["Message"]):
        ends = f"A{state.values['src'][m]}"
        if not many:
            ends += f" → A{state.values['dst'][m]}"
        marks = [_mark(state.holds(r, m), last.holds(r, m)) for r in columns]
        rows.append([element(state, "Message", m), ends, *marks])
    others = [r for r in model.relations if not _of_messages(r)]
    return "\n".join([aligned(rows), *_others(state, last, others)])


def _of_messages(relation: Relation) -> bool:
    return [sort.name() for sort in relation.sorts] == ["Message"]


def _mark(was: bool, becomes: bool) -> str:
    return {(True, True): "x", (False, True): "+", (True, False): "-"}.get((was, becomes), "")


def _others(state: Structure, last: Structure, relations: Sequence[Relation]) -> list[str]:
    lines = []
    for relation in relations:
        was, becomes = facts(state, relation), facts(last, relation)
        lines += [f"  {fact}" for fact in was if fact in becomes]
        lines += [f"+ {fact}" for fact in becomes if fact not in was]
        lines += [f"- {fact}" for fact in was if fact not in becomes]
    return lines


def happening(obligation: Obligation, example: Example) -> str:
    """Return the step of a counterexample, in words."""
    if obligation.action is None:
        return f"nothing happens: {obligation.where}"
    sorts = [param.sort().name() for param in obligation.action.params]
    return said(example.before, obligation.action.words, sorts, example.arguments)
