"""The functions behind the command `antecede prove`."""

from __future__ import annotations

import textwrap
from collections.abc import Callable
from typing import Any

from antecede.checker.errors import InputError
from antecede.checker.exit_codes import INCOMPLETE
from antecede.checker.prove import link_report, mutants, suggest
from antecede.checker.prove.link import Linked
from antecede.checker.prove.obligations import Answer, Obligation, Proof, Watch
from antecede.checker.prove.report import as_object, short, text
from antecede.checker.prove.vocabulary import Model
from antecede.checker.render.ticker import Ticker, fitting


def strength(proof: Proof, timeout: float, ticker: Ticker) -> mutants.Strength:
    """Return the parts without which a proof fails.

    Raises:
        InputError: the model is not proved.
    """
    if proof.answer is not Answer.PROVED:
        raise InputError(f"--mutants needs a proof, but {proof.model.protocol} is not PROVED")
    return mutants.strength(proof.model, timeout, naming(ticker))


def suggestion(
    model: Model, actors: int, messages: int, timeout: float, ticker: Ticker
) -> suggest.Suggestion:
    """Return an inductive invariant found for a linked model.

    Raises:
        InputError: the model declares no link, or it differs from its Python.
    """
    declared, system = link_report.declared(model, actors, messages, "knowledge")
    return suggest.suggest(model, declared, system, timeout, naming(ticker))


def exit_code(
    proof: Proof, found: Linked | None = None, tried: mutants.Strength | None = None
) -> int:
    """Return 0 if all is as expected, 1 if not, 3 if the solver or the link did not finish.

    A run may break a conjunct of a model that is expected to fail.
    """
    if proof.stopped_by is not None or (tried is not None and tried.stopped_by is not None):
        return INCOMPLETE
    if str(proof.answer) != proof.model.expected:
        return INCOMPLETE if proof.answer is Answer.UNKNOWN else 1
    if tried is not None and not tried.as_marked:
        return 1
    if found is None or (found.difference is None and found.stopped_by is None):
        return 0
    if found.difference is not None:
        fails = proof.model.expected == str(Answer.FAILED)
        return 0 if found.breaks_conjunct and fails else 1
    return INCOMPLETE


def whole_text(
    proof: Proof, found: Linked | None, tried: mutants.Strength | None, *, quiet: bool
) -> str:
    """Return the reports of the proof, of its mutants and of the link, as text."""
    parts = [short(proof) if quiet else text(proof)]
    if tried is not None:
        tried_text = mutants.text(tried)
        parts.append(mutants.short(tried) if quiet else tried_text)
    if found is not None:
        linked_text = link_report.text(proof.model, found)
        parts.append(linked_text.splitlines()[0] if quiet else linked_text)
    return ("\n" if quiet else "\n\n").join(parts)


def whole_object(
    proof: Proof, found: Linked | None, tried: mutants.Strength | None
) -> dict[str, Any]:
    """Return the reports of the proof, of its mutants and of the link, as JSON values."""
    return as_object(proof) | {
        "mutants": None if tried is None else mutants.as_object(tried),
        "link": None if found is None else link_report.as_object(found),
    }


def watching(ticker: Ticker) -> Watch:
    """Return a function that shows which obligation is under way."""

    def watch(done: int, every: int, obligation: Obligation) -> None:
        words = f"{done} of {every} obligations decided;", f"next: {obligation.name}"
        ticker.show(lambda width: fitting(list(enumerate(words)), width, " "))

    return watch


def naming(ticker: Ticker) -> Callable[[str], None]:
    """Return a function that shows which part of the work is under way."""

    def watch(part: str) -> None:
        ticker.show(lambda width: textwrap.shorten(part, width, placeholder=" ..."))

    return watch
