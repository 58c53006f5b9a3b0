"""The functions behind the command `antecede prove`: its models, its parts, and their reports.

The checker itself imports neither protocols nor their proofs. Both registries are read by name.
"""

from __future__ import annotations

import importlib
import textwrap
from collections.abc import Callable, Mapping
from functools import partial
from types import ModuleType
from typing import Any

import z3
from attrs import evolve

from antecede.checker.check.spec import Spec, system_of
from antecede.checker.model import Protocol
from antecede.checker.prove import mutants, suggest
from antecede.checker.prove.link import Link, Linked, Mismatch, link
from antecede.checker.prove.obligations import Answer, Obligation, Proof, Watch, follows
from antecede.checker.prove.report import as_object, short, text, wrapped
from antecede.checker.prove.vocabulary import Model, actors, messages, src, to
from antecede.checker.render.diagram import diagram
from antecede.checker.render.explanation import Explanation
from antecede.checker.render.pages import text_page
from antecede.checker.render.text import steps_text
from antecede.checker.render.ticker import Ticker, fitting
from antecede.checker.semantics.transition import System
from antecede.checker.support import interrupts
from antecede.checker.support.amounts import counted
from antecede.checker.support.errors import AntecedeError, InputError, ProtocolError, unknown
from antecede.checker.support.exit_codes import INCOMPLETE
from antecede.checker.support.registry import (
    Kind,
    imported_already,
    load,
    names_file,
    protocol_named,
    resolved,
)
from antecede.checker.support.settings import shown


def _models_in(module: ModuleType) -> Mapping[str, Model]:
    return {key: value for key, value in vars(module).items() if isinstance(value, Model)}


MODELS = Kind(
    "model",
    "an antecede.checker.prove.vocabulary.Model, as docs/proofs.md shows one",
    _models_in,
)


LINKS = Kind(
    "link",
    "an antecede.checker.prove.link.Link",
    lambda module: {key: value for key, value in vars(module).items() if isinstance(value, Link)},
)


def model_named(reference: str, expect: str | None = None) -> Model:
    """Return a registered model, or the model that FILE.py:OBJECT defines.

    `expect` is the expected answer, in place of the model's own.

    Raises:
        InputError: there is no such name, file or object, the file cannot be imported, or the model
            names a protocol that does not exist.
    """
    package = importlib.import_module("antecede.protocols")

    def refused() -> InputError:
        if reference in package.REGISTRY:
            return InputError(
                f"the protocol {reference!r} has no proof yet; there is one of: "
                f"{', '.join(package.PROOFS)} (docs/proofs.md says how to write one)"
            )
        return unknown("proof", reference, package.PROOFS)

    return accepted(resolved(reference, package.PROOFS, MODELS, refused), expect)


def accepted(model: Model, expect: str | None = None) -> Model:
    """Return a model whose protocol exists, with the expected answer `expect` if it is given.

    Raises:
        InputError: the model names a protocol that does not exist, or that cannot be imported, or
            the name of its protocol or link is no text.
    """
    for name, kind in (("protocol", str), ("link", str | None)):
        if not isinstance(value := getattr(model, name), kind):
            raise InputError(
                f"the {name} of the model {model.title!r} is {shown(value)}; give its name as a "
                "text, such as 'FILE.py:OBJECT'"
            )
    package = importlib.import_module("antecede.protocols")
    # Models of classes of algorithms, such as sps, have no protocol in Python.
    if model.protocol not in package.PROOFS:
        _protocol_of(model)
    return model if expect is None else evolve(model, expected=expect.upper())


def _protocol_of(model: Model, *, current: bool = False) -> Protocol:
    """Return the protocol in Python that a model names, with its present code if it is `current`.

    Raises:
        InputError: there is no such name, file or object, or the file cannot be imported or has
            changed.
    """
    module = imported_already(model.protocol, current=current)
    try:
        return protocol_named(model.protocol, module)
    except ProtocolError:
        raise
    except InputError as error:
        raise InputError(
            f"the model {model.title!r} names the protocol {model.protocol!r}, which is not "
            f"found: {error}"
        ) from error


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
    link_of, system = declared(model, actors, messages, "knowledge")
    return suggest.suggest(model, link_of, system, timeout, naming(ticker))


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
        linked_text = link_text(proof.model, found)
        parts.append(linked_text.splitlines()[0] if quiet else linked_text)
    return ("\n" if quiet else "\n\n").join(parts)


def whole_object(
    proof: Proof, found: Linked | None, tried: mutants.Strength | None
) -> dict[str, Any]:
    """Return the reports of the proof, of its mutants and of the link, as JSON values."""
    return as_object(proof) | {
        "mutants": None if tried is None else mutants.as_object(tried),
        "link": None if found is None else link_object(found),
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


# The link: LINKED says that model and Python agree, within bounds


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
    found = _loaded(model.link)
    _refuse_smaller_workload(model, found)
    spec = Spec(
        protocol=model.protocol,
        actors=actors,
        messages=messages,
        network=found.network,
        workload=found.workload,
        history=history,
    )
    # The link is imported by now, and the protocol's states must be of the classes that it names.
    return _named_if_wrong(found), system_of(spec, _protocol_of(model, current=True))


ITERATED = ("events", "channels")
"""Functions of a link whose results are iterated over."""


def _named_if_wrong(found: Link) -> Link:
    """Return a link whose functions are named in the error if they raise."""

    def named(name: str) -> Any:
        function = getattr(found, name)

        def called(*arguments: Any) -> Any:
            try:
                with interrupts.at_work(f"the function {name!r} of the link"):
                    result = function(*arguments)
                    return [*result] if name in ITERATED else result
            except (AntecedeError, Mismatch):
                raise
            except Exception as error:
                raise InputError(
                    f"the function {name!r} of the link raised {type(error).__name__}: {error}"
                ) from error

        return None if function is None else called

    functions = ("events", "rebuild", "local", "channels", "rigid")
    return evolve(found, **{name: named(name) for name in functions})


def _loaded(reference: str) -> Link:
    """Return the link of module:OBJECT or FILE.py:OBJECT.

    Raises:
        InputError: there is no such link, or its file cannot be imported.
    """
    if names_file(reference):
        return _link_in_file(reference)
    try:
        found = load(reference)
    except (ImportError, AttributeError, ValueError) as error:
        raise InputError(
            f"the model's link {reference!r} cannot be loaded ({error}); give FILE.py:OBJECT, or "
            "give module:OBJECT and let PYTHONPATH name the folder of the module"
        ) from error
    if not isinstance(found, Link):
        raise InputError(
            f"the model's link {reference!r} is of the type {type(found).__name__}; give an "
            "antecede.checker.prove.link.Link"
        )
    return found


def _link_in_file(reference: str) -> Link:
    def refused() -> InputError:
        return InputError("give FILE.py:OBJECT")

    try:
        module = imported_already(reference, current=True)
        found: Link = resolved(reference, {}, LINKS, refused, module)
    except ProtocolError:
        raise
    except InputError as error:
        raise InputError(f"the model's link {reference!r} cannot be loaded: {error}") from error
    return found


def _refuse_smaller_workload(model: Model, found: Link) -> None:
    """Refuse a link that leaves out messages that the model may send.

    Raises:
        InputError: the workload of the link is smaller than the bounds of the report.
    """
    many = any(relation.name == "to" for relation in model.relations)
    whole = ["multicast"] if many else ["any", "self"]
    m, a = messages("m"), actors("a")
    if many and follows(model, z3.ForAll([m, a], z3.Implies(a != src(m), to(m, a)))):
        whole.append("broadcast")
    if found.workload not in whole:
        raise InputError(
            f"the link of {model.protocol} explores the workload {found.workload!r}, which leaves "
            "out messages that the model may send, so LINKED would claim more than was compared; "
            f"use one of: {', '.join(whole)}"
        )


def word(found: Linked) -> str:
    """Return LINKED, DIFFERENT, CONJUNCT BROKEN or NOT LINKED."""
    if found.breaks_conjunct:
        return "CONJUNCT BROKEN"
    if found.difference is not None:
        return "DIFFERENT"
    return "LINKED" if found.stopped_by is None else "NOT LINKED"


def link_text(model: Model, found: Linked) -> str:
    """Return the result of a link as text."""
    system = found.system
    size = f"{system.actors} actors × {counted(system.messages, 'message')}"
    explored = (
        f"{counted(found.states, 'state')} and {counted(found.transitions, 'transition')}, network "
        f"{system.network.name}, workload {system.workload.text}, history {system.oracle.name}, "
        f"{found.seconds:.1f} s"
    )
    return text_page(
        "link.txt",
        model=model,
        found=found,
        headline=_headline(model, found, size),
        size=size,
        explored=explored,
        steps_text=partial(steps_text, explanation=Explanation("")),
        diagram=diagram,
        wrapped=wrapped,
    ).removesuffix("\n")


def _headline(model: Model, found: Linked, size: str) -> str:
    """Say what the run shows, and whether this was expected of the model."""
    if not found.breaks_conjunct:
        return f"DIFFERENT: the model and the Python differ within {size}"
    expected = "not as expected" if model.expected == "PROVED" else "as expected"
    return f"{word(found)}, {expected}: a run breaks the invariant within {size}"


def link_object(found: Linked) -> dict[str, Any]:
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
        "actions_that_never_happened": list(found.idle),
        "packets_in_flight_compared": found.compares_channels,
        "whole_states_compared": found.compares_states,
        "run": None if found.path is None else [repr(s.transition) for s in found.path.steps],
    }
