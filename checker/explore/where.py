"""A state that the user describes with a Python expression.

The expression is code of the user, so the server accepts it only from its own page.
"""

from __future__ import annotations

from types import CodeType
from typing import Any

from antecede.checker.errors import InputError
from antecede.checker.model import Property, What, Where
from antecede.checker.semantics.transition import System

LONGEST = 1_000
"""The greatest length of an expression, in characters."""


def searched_for(expression: str, system: System) -> Property:
    """Return a witness of the states for which an expression is true.

    In the expression, `actors` has the states of all actors in order. The name of an actor is its
    state, if the name is an identifier of Python.

    Raises:
        InputError: it is no expression; or, by the predicate, the expression raises an exception.
    """
    code = _compiled(expression)
    names = [system.names.actor(actor) for actor in range(system.actors)]

    def is_true(states: tuple[Any, ...]) -> bool:
        try:
            return bool(eval(code, {**dict(zip(names, states, strict=True)), "actors": states}))
        except Exception as error:
            known = ", ".join(name for name in names if name.isidentifier())
            raise InputError(
                f"the expression {expression!r} raises {type(error).__name__}: {error}; it can use "
                f"{known}{', and ' if known else ''}actors, the states of all actors"
            ) from None

    return Property(expression, "the expression is true", What.STATES, Where.SOMEWHERE, is_true)


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
