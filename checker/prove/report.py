"""The reports of `antecede prove`: text, JSON, JUnit XML."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

from antecede.checker.prove import obligations as asked
from antecede.checker.prove.finite import Example
from antecede.checker.prove.formula import Structure, symbols
from antecede.checker.prove.obligations import Answer, Obligation, Proof, Shown
from antecede.checker.prove.validate import validate
from antecede.checker.prove.vocabulary import D, Model, Relation
from antecede.checker.render.files import make_folder, write_whole
from antecede.checker.render.json import PROOF_SCHEMA, versions
from antecede.checker.render.junit import add_totals, text_of
from antecede.checker.render.markup import plain_lines
from antecede.checker.render.pages import text_page
from antecede.checker.render.prose import aligned
from antecede.checker.render.terminal import WIDTH
from antecede.checker.support.amounts import counted


def wrapped(text: str, indent: str = "") -> str:
    """Return running text in lines of equal indent."""
    return textwrap.fill(text, WIDTH, initial_indent=indent, subsequent_indent=indent)


def text(proof: Proof) -> str:
    """Return the result of a proof as text."""
    places: dict[str, list[Shown]] = {}
    for one in proof.shown:
        places.setdefault(one.obligation.where, []).append(one)
    return text_page(
        "proof.txt",
        proof=proof,
        model=proof.model,
        headline=_headline(proof),
        marks=marks_text(proof.model),
        posts=any(" posted" in conjunct.says for conjunct in proof.model.conjuncts),
        places=list(places.items()),
        width=max(map(len, places)),
        proved=lambda shown: sum(one.answer is Answer.PROVED for one in shown),
        not_proved=_not_proved,
        counted=counted,
        wrapped=wrapped,
    ).rstrip("\n")


def short(proof: Proof) -> str:
    """Return the verdict in one line."""
    stopped = "" if proof.stopped_by is None else f" ({proof.stopped_by})"
    return f"{proof.answer}: {proof.model.protocol}{stopped}"


def _headline(proof: Proof) -> str:
    model = proof.model
    if proof.answer is Answer.PROVED:
        quiescent = ", and nothing undelivered at quiescence" if model.quiescent is not None else ""
        scope = "the abstract model, every number of actors and messages"
        verdict = f"PROVED ({scope}): safety{quiescent}"
    elif proof.answer is Answer.FAILED:
        expected = ", as expected" if model.expected == str(Answer.FAILED) else ""
        verdict = f"FAILED{expected}: the invariant is not inductive, or does not imply the claim"
    elif proof.stopped_by is not None:
        verdict = f"UNKNOWN: {proof.stopped_by} before everything was decided"
    else:
        verdict = "UNKNOWN: the solver did not decide everything"
    return f"{model.protocol}: {verdict}"


def marks_text(model: Model) -> str:
    """Say what R stands for, and D if the claim is about one of several destinations."""
    several = D.decl() in symbols(model.safety.formula)
    destination = ", and D is an arbitrary destination of R" if several else ""
    return (
        f"R is an arbitrary message{destination}, so what is proved about R is true of every "
        "message. A message depends on R, or is tainted, if its sender knew of R when it "
        "causal-sent the message."
    )


def _not_proved(model: Model, one: Shown) -> str:
    obligation = one.obligation
    lines = [f"{one.answer}: {obligation.name}", wrapped(obligation.conjunct.says, "  ")]
    if one.example is None:
        return "\n".join([*lines, f"  the solver's reason: {one.reason}"])
    lines += [
        "  A state that satisfies the invariant, a transition, and the relations that it changes",
        "  (x true, + becomes true, - becomes false). The state need not be reachable:",
        f"  {happening(obligation, one.example)}",
        "",
        textwrap.indent(picture(model, one.example), "    "),
    ]
    return "\n".join(lines)


def as_object(proof: Proof) -> dict[str, Any]:
    """Return the result of a proof as JSON values."""
    model = proof.model
    return {
        "schema": PROOF_SCHEMA,
        "answer": str(proof.answer),
        "as_expected": str(proof.answer) == model.expected,
        "about": "the abstract model, every number of actors and messages",
        "protocol": model.protocol,
        "model": model.title,
        "source": model.source,
        "assumed": [name for name, _ in model.axioms],
        "conjuncts": [
            {"name": one.name, "says": one.says, "lemma": one.lemma} for one in model.conjuncts
        ],
        "obligations": [_shown(model, one) for one in proof.shown],
        "undecided": list(proof.undecided),
        "run_length": proof.run_length,
        "stopped_by": proof.stopped_by,
        "seconds": round(proof.seconds, 3),
        "produced_by": versions(),
    }


def _shown(model: Model, one: Shown) -> dict[str, Any]:
    example = None
    if one.example is not None:
        example = {
            "happens": happening(one.obligation, one.example),
            "picture": picture(model, one.example).splitlines(),
        }
    return {
        "conjunct": one.obligation.conjunct.name,
        "where": one.obligation.where,
        "answer": str(one.answer),
        "seconds": round(one.seconds, 3),
        "reason": one.reason or None,
        "counterexample_to_induction": example,
    }


def junit(proof: Proof) -> str:
    """Return the result of a proof as JUnit XML: one test case per obligation."""
    label = f"prove {proof.model.protocol}"
    root = ElementTree.Element("testsuites", name="antecede")
    suite = ElementTree.SubElement(root, "testsuite", name=label)
    for one in proof.shown:
        case = ElementTree.SubElement(
            suite, "testcase", classname=label, name=one.obligation.name, time=f"{one.seconds:.3f}"
        )
        _outcome(case, proof.model, one)
    expectation = ElementTree.SubElement(suite, "testcase", classname=label, name="expectation")
    if str(proof.answer) != proof.model.expected:
        kind = "error" if proof.answer is Answer.UNKNOWN else "failure"
        if suite.find("testcase/failure") is not None:
            kind = "skipped"  # the failure of the obligation says it
        message = f"{proof.answer}; expected {proof.model.expected}"
        ElementTree.SubElement(expectation, kind, message=message)
    add_totals(suite, proof.seconds)
    return text_of(root)


def _outcome(case: ElementTree.Element, model: Model, one: Shown) -> None:
    """Add the reason why an obligation is not proved, unless the model expects it to fail."""
    if one.answer is Answer.UNKNOWN:
        ElementTree.SubElement(case, "skipped", message=plain_lines(f"unknown: {one.reason}"))
    elif one.answer is Answer.FAILED and model.expected == str(Answer.PROVED):
        failure = ElementTree.SubElement(case, "failure", message=f"{one.obligation.name} failed")
        failure.text = plain_lines(_not_proved(model, one))


def write_smt2(model: Model, folder: Path) -> int:
    """Write every obligation to its own file; return the number of files.

    Raises:
        InputError: a proof of the model would be meaningless; see `validate`.
    """
    every = asked.obligations(validate(model))
    make_folder(folder)
    count = 0
    for count, obligation in enumerate(every, 1):
        write_whole(str(folder / smt2_name(count, obligation)), asked.smt2(obligation))
    return count


def smt2_name(number: int, obligation: Obligation) -> str:
    """Return the name of an obligation's file."""
    return f"{number:03}-{obligation.name.replace(' ', '-')}.smt2"


# Text pictures of counterexamples

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
