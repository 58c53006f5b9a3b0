"""Python expressions of the user about states: a state to search for, and values to watch.

An expression is code of the user, so the server accepts it only from its own page.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from types import CodeType
from typing import Any, TypeVar

from attrs import frozen

from antecede.checker.model import Property, State, What, When
from antecede.checker.paths.path import Path
from antecede.checker.render.html import Cell
from antecede.checker.render.prose import Wording
from antecede.checker.semantics.transition import System
from antecede.checker.support.errors import InputError
from antecede.checker.support.interrupts import at_work

Value = TypeVar("Value")

LONGEST = 1_000
"""The greatest length of an expression, in characters."""

MOST_WATCHED = 8
"""The greatest number of expressions that a page watches."""

FAILED = "error"
"""The text in place of a value that an expression fails to compute."""


def searched_for(expression: str, system: System) -> Property:
    """Return a witness of the states for which an expression is true.

    In the expression, `actors` has the states of all actors in order. The name of an actor is its
    state, if the name is an identifier of Python.

    Raises:
        InputError: it is no expression; or, by the predicate, the expression raises an exception.
    """
    evaluated = _evaluating(expression, system, bool)
    return Property(
        expression, "the expression is true", What.GLOBAL_STATE, When.SOMETIMES, evaluated
    )


def _evaluating(
    expression: str, system: System, converted: Callable[[Any], Value], also: str = ""
) -> Callable[..., Value]:
    """Return a function of the states of all actors, and of further variables of the expression.

    Args:
        converted: a function of the value, such as its text, which may raise an exception, too.
        also: the further variables with their meanings, for errors.

    Raises:
        InputError: it is no expression; or, by the function, the expression raises an exception.
    """
    code = _compiled(expression)
    names = [system.names.actor(actor) for actor in range(system.actors)]

    def evaluated(states: tuple[Any, ...], **others: Any) -> Value:
        try:
            variables = dict(zip(names, states, strict=True)) | {"actors": states} | others
            with at_work(f"the expression {expression!r}"):
                return converted(eval(code, variables))
        except (Exception, SystemExit) as error:
            known = ", ".join([*filter(str.isidentifier, names), *filter(None, [also])])
            raise InputError(
                f"the expression {expression!r} raises {type(error).__name__}: {error}; it can use "
                f"{known}{', and ' if known else ''}actors, the states of all actors"
            ) from None

    return evaluated


def _compiled(expression: str) -> CodeType:
    if len(expression) > LONGEST:
        raise InputError(
            f"the expression has {len(expression):,} characters; give at most {LONGEST:,}"
        )
    try:
        return compile(expression.strip(), "expression", "eval")
    except (SyntaxError, ValueError, MemoryError, RecursionError) as error:
        raise InputError(
            f"{expression!r} is no Python expression ({error}); give one such as actors[0] == "
            "actors[1]"
        ) from None


# Watched expressions


@frozen
class Watched:
    """The values of an expression along a path.

    Attributes:
        rows: at the start and after each step, the value for each actor, compared with the value
            before; None until the user has agreed to run the expression.
        wrong: the first error of the expression, in a sentence, or None.
    """

    expression: str
    rows: tuple[tuple[Cell, ...], ...] | None = None
    wrong: str | None = None


def watched(expression: str, path: Path) -> Watched:
    """Evaluate an expression for each actor in each state of a path.

    In the expression, `state` is the actor's state. The other variables are as in `searched_for`.
    """
    words, wrong = Wording.of(path), list[str]()
    also = "state, the state of the actor"
    try:
        evaluated = _evaluating(expression, path.system, words.value, also)
    except InputError as error:
        return Watched(expression, (), sentence(error))

    def value(step: int, state: State, actor: int) -> str:
        try:
            return evaluated(state.actors, state=state.actors[actor])
        except InputError as error:
            where = f"after step {step}" if step else "at the start"
            wrong.append(sentence(f"for {words.actor(actor)} {where}, {error}"))
            return FAILED

    rows = [
        [value(step, state, actor) for actor in range(path.system.actors)]
        for step, state in enumerate((path.initial, *(step.state for step in path.steps)))
    ]
    pairs = zip((rows[0], *rows), rows, strict=False)
    cells = tuple(tuple(map(Cell, *pair)) for pair in pairs)
    return Watched(expression, cells, wrong[0] if wrong else None)


def sentence(error: InputError | str) -> str:
    """Return an error as a sentence."""
    text = str(error)
    return f"{text[:1].upper()}{text[1:]}."


def check_watched(expressions: Sequence[str]) -> None:
    """Check expressions to watch.

    Raises:
        InputError: one is no expression, or there are too many.
    """
    if len(expressions) > MOST_WATCHED:
        raise InputError(
            f"the page watches {MOST_WATCHED} expressions at most; remove one, then add another"
        )
    for expression in expressions:
        _compiled(expression)
