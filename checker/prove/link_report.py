"""The report of `prove --link`: LINKED says that model and Python agree, within bounds."""

from __future__ import annotations

import textwrap
from typing import Any

from antecede.checker.amounts import counted
from antecede.checker.check.spec import Spec
from antecede.checker.errors import InputError
from antecede.checker.prove.link import Link, Linked, link
from antecede.checker.prove.report import wrapped
from antecede.checker.prove.vocabulary import Model
from antecede.checker.registry import load
from antecede.checker.render.diagram import diagram
from antecede.checker.render.explanation import Explanation
from antecede.checker.render.text import steps_text
from antecede.checker.semantics.transition import System


def linked(
    model: Model, actors: int, messages: int, history: str, max_states: int | None = None
) -> Linked:
    """Link a model to the protocol of its name; see `link`.

    Raises:
        InputError: the model declares no link, or the bounds cannot be used.
    """
    link_of, system = declared(model, actors, messages, history)
    return link(model, link_of, system, max_states)


def declared(model: Model, actors: int, messages: int, history: str) -> tuple[Link, System]:
    """Return a model's link and the system for it.

    Raises:
        InputError: the model declares no link, or the bounds cannot be used.
    """
    if model.link is None:
        raise InputError(f"the model of {model.protocol} does not say how it is linked to Python")
    found: Link = load(model.link)
    spec = Spec(
        protocol=model.protocol,
        actors=actors,
        messages=messages,
        network=found.network,
        workload=found.workload,
        history=history,
    )
    return found, spec.system


def word(found: Linked) -> str:
    """Return LINKED, DIFFERENT, CONJUNCT BROKEN or NOT LINKED."""
    if found.breaks_conjunct:
        return "CONJUNCT BROKEN"
    if found.difference is not None:
        return "DIFFERENT"
    return "LINKED" if found.stopped_by is None else "NOT LINKED"


def text(model: Model, found: Linked) -> str:
    """Return the result of a link as text."""
    system = found.system
    size = f"{system.actors} actors × {counted(system.messages, 'message')}"
    explored = (
        f"{counted(found.states, 'state')} and {counted(found.transitions, 'transition')}, network "
        f"{system.network.name}, workload {system.workload.text}, history {system.oracle.name}, "
        f"{found.seconds:.1f} s"
    )
    if found.difference is not None:
        lines = [
            f"{model.protocol}: {_headline(model, found, size)}",
            textwrap.indent(found.difference, "  "),
            "",
        ]
        if found.path is not None and found.path.steps:
            lines += [steps_text(found.path, Explanation("")), ""]
            lines += diagram(found.path, {}).lines
        return "\n".join(lines)
    if found.stopped_by is not None:
        return (
            f"{model.protocol}: NOT LINKED ({found.stopped_by}): no difference was found until "
            f"then\n  {explored}"
        )
    return "\n".join(
        [
            f"{model.protocol}: LINKED to the Python code within {size}",
            wrapped(explored, "  "),
            wrapped(
                "In each of these states, every conjunct of the invariant is true, and the model "
                "describes the state of the Python code. Each transition of the code is a sequence "
                "of actions of the model. Larger systems were not compared.",
                "  ",
            ),
        ]
    )


def _headline(model: Model, found: Linked, size: str) -> str:
    """Say what the run shows, and whether this was expected of the model."""
    if not found.breaks_conjunct:
        return f"DIFFERENT: the model and the Python differ within {size}"
    expected = "not as expected" if model.expected == "PROVED" else "as expected"
    return f"{word(found)}, {expected}: a run breaks the invariant within {size}"


def as_object(found: Linked) -> dict[str, Any]:
    """Return the result of a link as JSON values."""
    system = found.system
    return {
        "word": word(found),
        "actors": system.actors,
        "messages": system.messages,
        "network": system.network.name,
        "workload": system.workload.text,
        "history": system.oracle.name,
        **{
            name: getattr(found, name)
            for name in ("states", "transitions", "seconds", "difference", "stopped_by")
        },
        "run": None if found.path is None else [repr(s.transition) for s in found.path.steps],
    }
