"""The function `antecede.prove`, which proves abstract models of protocols, and its result."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from attrs import frozen

from antecede.checker.api.arguments import NoArguments, converted, described
from antecede.checker.api.progress import progress
from antecede.checker.api.results import Report, tally
from antecede.checker.model import Protocol
from antecede.checker.search.options import Bounds
from antecede.checker.support import interrupts
from antecede.checker.support.errors import InputError, check_known
from antecede.checker.support.extras import check_installed
from antecede.checker.support.registry import proof_names, protocol_named
from antecede.checker.support.settings import is_kind, shown

if TYPE_CHECKING:
    from antecede.checker.prove.link import Linked
    from antecede.checker.prove.mutants import Strength
    from antecede.checker.prove.obligations import Proof
    from antecede.checker.prove.suggest import Suggestion
    from antecede.checker.prove.vocabulary import Model


@frozen(eq=False, repr=False)
class ProveResult(Report):
    """The result of `antecede.prove`: whether the model of a protocol was proved to be correct.

    `print(result)` shows the report of the command `antecede prove`.

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
        """The result of the proof: PROVED, FAILED or UNKNOWN.

        PROVED means that the model is correct for every number of actors and messages. FAILED means
        that a step of the proof is false. UNKNOWN means that the solver did not decide every step
        in time.
        """
        return str(self._proof.answer)

    @property
    def obligations(self) -> Mapping[str, str]:
        """The answer to each obligation, by its name: PROVED, FAILED or UNKNOWN.

        An obligation is one formula that the solver has to prove, for example that a step of the
        protocol keeps an invariant true. UNKNOWN means that the solver did not decide the formula
        in time.
        """
        return {each.obligation.name: str(each.answer) for each in self._proof.shown}

    @property
    def link(self) -> str | None:
        """Whether the model of the protocol agrees with its Python code.

        None if `prove` was called without `link=True`. LINKED means that the two agree in every
        state. DIFFERENT means that they differ in some state. CONJUNCT BROKEN means that a part of
        the model's invariant is false in a state of the code. NOT LINKED means that a bound ended
        the comparison early.
        """
        from antecede.checker.prove import front

        return None if self._linked is None else front.word(self._linked)

    @property
    def as_expected(self) -> bool:
        """True if the proof and all other results are as the model declares.

        A model of a broken protocol declares that its proof fails, so FAILED can be the expected
        result.
        """
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
    """Prove that a protocol's abstract model is correct for every number of actors and messages.

    The model is a description of the protocol in logic that a person wrote. PROVED says that the
    model is correct. It says nothing about the Python code. With `link=True`, the model is also
    compared with the Python code, for the given number of actors (participants) and messages:
    LINKED says that the two agree.

    Args:
        target: the model, a protocol that has a model, its name, or FILE.py:OBJECT.
        timeout: the seconds that the solver may take for each obligation, a formula to prove.
        expect: the expected result, `proved` or `failed`. By default, the one that the model
            declares.
        mutants: also leave out parts of the model one at a time, and report the parts without which
            the proof fails.
        suggest: search for an invariant by itself, and prove the model with it, in place of the
            invariant that the author wrote. Needs a model that can be linked to Python code.
        link: compare the model with the Python code.
        actors: the number of actors, for `link` and `suggest`.
        messages: the number of messages that each actor sends, for `link` and `suggest`.
        history: how much of the past a state records, for `link`: `knowledge` (the least, the
            default), `clocks` or `full` (the most). More states are then compared.
        max_states: the number of states after which `link` ends. By default, it compares all
            states.

    Returns:
        The verdict PROVED, FAILED or UNKNOWN, and the answers to all obligations.

    Raises:
        InputError: Z3, the solver, is not installed, there is no such model, or the model names a
            protocol that does not exist.

    Examples:
        >>> from antecede import prove
        >>> prove("rst", link=True, actors=2).link
        'LINKED'
    """
    check_installed("prove", "prove")
    if not is_kind(timeout, float) or not timeout > 0:
        raise InputError(f"timeout is {shown(timeout)}; give seconds, such as 20")
    if expect is not None:
        check_known("expect", expect, ("proved", "failed"), "expect")
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
    """Return the model that is given, or the model that a name stands for.

    Args:
        target: a model, the name of a protocol that has a model, or FILE.py:OBJECT.
        expect: `proved` or `failed`, in place of the result that the model declares; None keeps
            that result.
    """
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
        return front.accepted(target, expect)
    return front.model_named(str(target), expect)
