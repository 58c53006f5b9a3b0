"""`antecede.prove`: proofs of abstract models for every number of actors and messages."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from attrs import evolve, frozen

from antecede.checker import interrupts
from antecede.checker.api.arguments import NoArguments, converted, described
from antecede.checker.api.progress import progress
from antecede.checker.api.results import Report, tally
from antecede.checker.errors import InputError, unknown
from antecede.checker.extras import check_installed
from antecede.checker.model import Protocol
from antecede.checker.registry import proof_names, protocol_named
from antecede.checker.search.options import Bounds
from antecede.checker.settings import is_kind, shown

if TYPE_CHECKING:
    from antecede.checker.prove.link import Linked
    from antecede.checker.prove.mutants import Strength
    from antecede.checker.prove.obligations import Proof
    from antecede.checker.prove.suggest import Suggestion
    from antecede.checker.prove.vocabulary import Model


@frozen(eq=False, repr=False)
class ProveResult(Report):
    """The result of `antecede.prove`.

    Examples:
        >>> from antecede import prove
        >>> result = prove("rst")
        >>> result.verdict
        'PROVED'
        >>> result.as_expected
        True
    """

    _proof: Proof
    _linked: Linked | None = None
    _strength: Strength | None = None
    _suggestion: Suggestion | None = None

    @property
    def verdict(self) -> str:
        """PROVED, FAILED, or UNKNOWN if the solver did not decide all obligations."""
        return str(self._proof.answer)

    @property
    def obligations(self) -> Mapping[str, str]:
        """Obligation -> PROVED, FAILED or UNKNOWN."""
        return {each.obligation.name: str(each.answer) for each in self._proof.shown}

    @property
    def link(self) -> str | None:
        """LINKED or how the model and the Python code differ, if `link=True` asked for it."""
        from antecede.checker.prove import front

        return None if self._linked is None else front.word(self._linked)

    @property
    def as_expected(self) -> bool:
        """All answers are those that the model declares."""
        from antecede.checker.prove import front

        return front.exit_code(self._proof, self._linked, self._strength) == 0

    def __repr__(self) -> str:
        link = "" if self.link is None else f", {self.link}"
        return (
            f"<Proof of {self._proof.model.protocol}: {self.verdict}{link}>\n"
            f"  obligations: {tally(self.obligations.values())}"
        )

    def __str__(self) -> str:
        from antecede.checker.prove import front, suggest

        if self._suggestion is not None:
            return suggest.text(self._suggestion)
        return front.whole_text(self._proof, self._linked, self._strength, quiet=False)


@described(NoArguments)
def prove(
    target: Model | Protocol | str | Path,
    *,
    timeout: float = 20.0,
    expect: str | None = None,
    mutants: bool = False,
    suggest: bool = False,
    link: bool = False,
    actors: int = 3,
    messages: int = 1,
    history: str = "knowledge",
    max_states: int | None = None,
) -> ProveResult:
    """Prove a protocol's abstract model for every number of actors and messages.

    The model is a description of the protocol that a person wrote. PROVED says that the model is
    correct. It says nothing about the Python code. LINKED (with `link`) says that the model and
    the Python code agree for the given number of actors and messages.

    Args:
        target: the model, a protocol that has one, its name, or FILE.py:OBJECT.
        timeout: the seconds for each obligation.
        expect: proved or failed, in place of the model's own expectation.
        mutants: find the parts of the model without which the proof fails.
        suggest: suggest an inductive invariant for a linked model, and prove the model with it.
        link: compare the model with the Python code.
        actors: with `link` or `suggest`, the number of actors.
        messages: with `link` or `suggest`, the messages per actor.
        history: with `link`, how much of the past a state records.
        max_states: with `link`, the bound of the exploration.

    Raises:
        InputError: Z3 is not installed, or there is no such model.

    Examples:
        >>> from antecede import prove
        >>> prove("rst", link=True, actors=2).link
        'LINKED'
    """
    check_installed("prove", "prove")
    if not is_kind(timeout, float) or not timeout > 0:
        raise InputError(f"timeout is {shown(timeout)}; give seconds, such as 20")
    if expect not in (None, "proved", "failed"):
        raise unknown("expect", str(expect), ("proved", "failed"))
    max_states = converted(Bounds, {"max_states": max_states})["max_states"]
    # Importing z3 takes a while.
    with interrupts.looking():
        from antecede.checker.prove import front, obligations

        model = _model(target, expect)
        with progress() as ticker:
            if suggest:
                found = front.suggestion(model, actors, messages, timeout, ticker)
                return ProveResult(found.proof, suggestion=found)
            proof = obligations.prove(model, timeout, front.watching(ticker))
            strength = linked = None
            if mutants and proof.stopped_by is None:
                strength = front.strength(proof, timeout, ticker)
            if link and proof.stopped_by is None:
                linked = front.linked(model, actors, messages, history, max_states)
            return ProveResult(proof, linked, strength)


def _model(target: Any, expect: str | None) -> Model:
    """Return the model that is given or named, with the expected answer."""
    from antecede.checker.prove import front
    from antecede.checker.prove.vocabulary import Model

    if isinstance(target, Protocol):
        if target.name not in proof_names() or target is not protocol_named(target.name):
            raise InputError(
                f"target is the protocol {target.name!r}, for which there is no abstract model; "
                f"give a model, or one of {', '.join(proof_names())}"
            )
        target = target.name
    if not isinstance(target, Model | str | Path):
        raise InputError(f"target is {shown(target)}; give a name, FILE.py:OBJECT or a model")
    if isinstance(target, Model):
        return target if expect is None else evolve(target, expected=expect.upper())
    return front.model_named(str(target), expect)
