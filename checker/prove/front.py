"""The functions behind the command `antecede prove`."""

from __future__ import annotations

import sys
import time
from typing import Any, TextIO

from attrs import evolve

from antecede.checker.check.report import INCOMPLETE
from antecede.checker.errors import InputError
from antecede.checker.prove import library, link_report, mutants, suggest
from antecede.checker.prove.link import Linked
from antecede.checker.prove.link_report import linked
from antecede.checker.prove.obligations import Answer, Obligation, Proof, prove
from antecede.checker.prove.report import as_object, junit, short, text, write_smt2
from antecede.checker.prove.vocabulary import Model


def model_named(reference: str, expect: str | None = None) -> Model:
    """Return a model, with another expectation if `expect` is given; see `library.model_named`."""
    model = library.model_named(reference)
    return model if expect is None else evolve(model, expected=expect.upper())


def strength(proof: Proof, timeout: float, ticker: Ticker) -> mutants.Strength:
    """Return the parts without which a proof fails.

    Raises:
        InputError: the model is not proved.
    """
    if proof.answer is not Answer.PROVED:
        raise InputError(f"--mutants needs a proof, but {proof.model.protocol} is not PROVED")
    return mutants.strength(proof.model, timeout, ticker.say)


def suggestion(
    model: Model, actors: int, messages: int, timeout: float, ticker: Ticker
) -> suggest.Suggestion:
    """Return an inductive invariant found for a linked model.

    Raises:
        InputError: the model declares no link, or it differs from its Python.
    """
    declared, system = link_report.declared(model, actors, messages, "knowledge")
    return suggest.suggest(model, declared, system, timeout, ticker.say)


def exit_code(
    proof: Proof, found: Linked | None = None, tried: mutants.Strength | None = None
) -> int:
    """Return 0 if all is as expected, 1 if not, 3 if the solver or the link did not finish.

    A model that is expected to fail may differ from its Python, because a conjunct may be false.
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
        return 1 if proof.model.expected == str(Answer.PROVED) else 0
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


class Ticker:
    """Shows the current obligation: a live line on a terminal, otherwise a line now and then."""

    PAUSE = 5.0

    def __init__(self, stream: TextIO | None = None, *, quiet: bool = False) -> None:
        """Write to `stream` (standard error)."""
        self._stream = stream or sys.stderr
        self._quiet, self._live = quiet, self._stream.isatty()
        self._next = time.monotonic() + (0 if self._live else self.PAUSE)

    def __call__(self, done: int, every: int, obligation: Obligation) -> None:
        """Show the progress if the last line is old enough."""
        self.say(f"{done} of {every} obligations; {obligation.name}", done + 1 == every)

    def say(self, line: str, last: bool = False) -> None:
        """Show a line if the last one is old enough; on a terminal, the last line is erased."""
        if self._quiet or time.monotonic() < self._next:
            return
        if self._live:
            self._stream.write(f"\r\x1b[K{line[:100]}" + ("\r\x1b[K" if last else ""))
        else:
            self._stream.write(line + "\n")
            self._next = time.monotonic() + self.PAUSE
        self._stream.flush()

    def clear(self) -> None:
        """Erase the live line before a report is printed."""
        if self._live and not self._quiet:
            self._stream.write("\r\x1b[K")
            self._stream.flush()


__all__ = [
    "Ticker",
    "exit_code",
    "junit",
    "linked",
    "model_named",
    "prove",
    "strength",
    "suggest",
    "suggestion",
    "whole_object",
    "whole_text",
    "write_smt2",
]
