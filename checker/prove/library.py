"""Finds models by the name of their protocol, or in a user's file; imports none before it is asked.

The checker itself imports neither protocols nor their proofs: both registries are read by name.
"""

from __future__ import annotations

import importlib
from pathlib import Path
from types import ModuleType
from typing import Any

from antecede.checker.errors import InputError, unknown
from antecede.checker.prove.formula import compiled
from antecede.checker.prove.vocabulary import SORTS, Model
from antecede.checker.registry import import_file


def load(reference: str) -> Any:
    """Return the object that module:NAME refers to."""
    module, _, name = reference.partition(":")
    return getattr(importlib.import_module(module), name)


def model_names() -> tuple[str, ...]:
    """Return the names of the protocols that have a model, in their registry's order."""
    return tuple(importlib.import_module("antecede.protocols").PROOFS)


def model_named(reference: str) -> Model:
    """Return a registered model, or the one that FILE.py:OBJECT defines.

    Raises:
        InputError: no such name, file or object, or the file cannot be imported.
    """
    registry = importlib.import_module("antecede.protocols").PROOFS
    if reference in registry:
        model: Model = load(registry[reference])
        return model
    path, _, name = reference.rpartition(":") if ".py:" in reference else (reference, "", "")
    if not path.endswith(".py"):
        if reference in importlib.import_module("antecede.protocols").REGISTRY:
            raise InputError(
                f"the protocol {reference!r} has no proof yet; there is one of: "
                f"{', '.join(registry)} (docs/proofs.md says how to write one)"
            )
        raise unknown("proof", reference, registry)
    return checked(_model_in(import_file(Path(path)), path, name))


def checked(model: Model) -> Model:
    """Return a model whose formulas have both readings.

    Raises:
        InputError: one of them is about other sorts or functions than the vocabulary has.
    """
    sizes = dict.fromkeys(SORTS, 1)
    formulas = [one.formula for one in (*model.conjuncts, model.safety)]
    formulas += [axiom for _, axiom in model.axioms]
    formulas += [guard.formula for action in model.actions for guard in action.guards]
    formulas += [update.formula for action in model.actions for update in action.updates]
    for formula in formulas:
        compiled(formula, sizes)
    return model


def _model_in(module: ModuleType, path: str, name: str) -> Model:
    found = {key: value for key, value in vars(module).items() if isinstance(value, Model)}
    if name and name not in found:
        raise unknown(f"Model in {path}", name, found)
    own = {key: found[key] for key in found if not name or key == name}
    if len(own) != 1:
        choices = ", ".join(f"{path}:{key}" for key in found) or "none is defined there"
        raise InputError(f"say which Model of {path} to prove; available: {choices}")
    return next(iter(own.values()))
