"""The reports of `antecede prove`: text, JSON, JUnit XML."""

from __future__ import annotations

import textwrap
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

from antecede.checker.prove import obligations as asked
from antecede.checker.prove.finite import Example
from antecede.checker.prove.formula import Structure
from antecede.checker.prove.obligations import Answer, Obligation, Proof, Shown
from antecede.checker.prove.validate import validate
from antecede.checker.prove.vocabulary import Model, Relation
from antecede.checker.render.files import make_folder, write_whole
from antecede.checker.render.json import versions
from antecede.checker.render.junit import add_totals, text_of
from antecede.checker.render.markup import plain_lines
from antecede.checker.render.prose import aligned
from antecede.checker.render.terminal import WIDTH

SCHEMA = "antecede/proof/1"


def wrapped(text: str, indent: str = "") -> str:
    """Return running text in lines of equal indent."""
    return textwrap.fill(text, WIDTH, initial_indent=indent, subsequent_indent=indent)


def text(proof: Proof) -> str:
    """Return the result of a proof as text."""
    model = proof.model
    lines = [_headline(proof), "", *_what(model), "", *_places(proof)]
    for one in proof.failed:
        if one.reason != proof.stopped_by:
            lines += ["", *_not_proved(model, one)]
    return "\n".join([*lines, *_not_decided(proof)])


def short(proof: Proof) -> str:
    """Return the verdict in one line."""
    stopped = "" if proof.stopped_by is None else f" ({proof.stopped_by})"
    return f"{proof.answer}: {proof.model.protocol}{stopped}"


def _headline(proof: Proof) -> str:
    model = proof.model
    if proof.answer is Answer.PROVED:
        claims = "safety and liveness at rest" if model.at_rest is not None else "safety"
        verdict = f"PROVED (the abstract model, every number of actors and messages): {claims}"
    elif proof.answer is Answer.FAILED:
        expected = ", as expected" if model.expected == str(Answer.FAILED) else ""
        verdict = f"FAILED{expected}: the invariant is not inductive, or does not imply the claim"
    elif proof.stopped_by is not None:
        verdict = f"UNKNOWN: {proof.stopped_by} before everything was decided"
    else:
        verdict = "UNKNOWN: the solver did not decide everything"
    return f"{model.protocol}: {verdict}"


def _what(model: Model) -> list[str]:
    """Return the model's title and its invariant, in words."""
    lines = [wrapped(f"model: {model.title} ({model.source})")]
    lines += [f"assumed: {name}" for name, _ in model.axioms]
    lines.append(wrapped(marks_text(model)))
    if any(" posted" in conjunct.says for conjunct in model.conjuncts):
        lines.append("A message is posted when its sender hands it to the network.")
    lines.append(wrapped(f"{model.safety.name}: {model.safety.says}"))
    if model.at_rest is not None:
        claim = f"in every state in which only the application can act, {model.at_rest.says}"
        lines.append(wrapped(f"liveness at rest: {claim}"))
    lines.append("invariant (a list of conjuncts):")
    for conjunct in model.conjuncts:
        lemma = f" [{conjunct.lemma}]" if conjunct.lemma else ""
        lines.append(wrapped(f"{conjunct.name}: {conjunct.says}{lemma}", "  "))
    return lines


def marks_text(model: Model) -> str:
    """Say what R stands for, and D if the claim is about one of several destinations."""
    several = " D," in model.safety.says
    destination = ", and D is an arbitrary destination of R" if several else ""
    return (
        f"R is an arbitrary message{destination}, so what is proved about R is true of every "
        "message. A message depends on R, or is tainted, if its sender knew of R when it "
        "causal-sent the message."
    )


def _places(proof: Proof) -> list[str]:
    """Return lines with the number and duration of the proved obligations, by place."""
    every = Counter(one.obligation.where for one in proof.shown)
    proved = Counter(one.obligation.where for one in proof.shown if one.answer is Answer.PROVED)
    seconds: Counter[str] = Counter()
    for one in proof.shown:
        seconds[one.obligation.where] += one.seconds  # type: ignore[assignment]
    width = max(map(len, every))
    lines = [
        f"  {where:{width}}  {proved[where]:3} of {every[where]:3} obligations proved"
        f"  {seconds[where]:6.2f} s"
        for where in every
    ]
    lines.insert(0, "obligations (formulas to prove), most of them per action of the model:")
    return [*lines, f"  {'in all':{width}}  {sum(proved.values()):3} of {len(proof.shown):3}"]


def _not_proved(model: Model, one: Shown) -> list[str]:
    obligation = one.obligation
    lines = [f"{one.answer}: {obligation.name}", wrapped(obligation.conjunct.says, "  ")]
    if one.example is None:
        return [*lines, f"  the solver's reason: {one.reason}"]
    lines += [
        "  A state that satisfies the invariant, a transition, and the relations that it changes",
        "  (x true, + becomes true, - becomes false). The state need not be reachable:",
        f"  {happening(obligation, one.example)}",
        "",
        textwrap.indent(picture(model, one.example), "    "),
    ]
    return lines


def _not_decided(proof: Proof) -> list[str]:
    """Return lines about possible vacuity, and about obligations that an interruption left open."""
    lines = []
    for what in proof.undecided:
        lines += ["", wrapped(f"UNKNOWN: whether {what}; no small state shows it")]
    if proof.stopped_by is not None:
        rest = [one for one in proof.failed if one.reason == proof.stopped_by]
        lines += ["", f"Not decided ({proof.stopped_by}):"]
        lines += [f"  {one.obligation.name}" for one in rest]
    return lines


def as_object(proof: Proof) -> dict[str, Any]:
    """Return the result of a proof as JSON values."""
    model = proof.model
    return {
        "schema": SCHEMA,
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
        message = f"{proof.answer}; expected {proof.model.expected}"
        ElementTree.SubElement(expectation, kind, message=message)
    add_totals(suite, proof.seconds)
    return text_of(root)


def _outcome(case: ElementTree.Element, model: Model, one: Shown) -> None:
    """Add the reason why an obligation is not proved, unless the model expects it to fail."""
    if one.answer is Answer.UNKNOWN:
        ElementTree.SubElement(case, "error", message=plain_lines(f"unknown: {one.reason}"))
    elif one.answer is Answer.FAILED and model.expected == str(Answer.PROVED):
        failure = ElementTree.SubElement(case, "failure", message=f"{one.obligation.name} failed")
        failure.text = plain_lines("\n".join(_not_proved(model, one)))


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
