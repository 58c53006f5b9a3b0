"""Finds models by the name of their protocol, or in a user's file; imports them only on demand.

The checker itself imports neither protocols nor their proofs. Both registries are read by name.
"""

from __future__ import annotations

import importlib
from collections.abc import Mapping
from types import ModuleType

from attrs import evolve

from antecede.checker.errors import InputError, unknown
from antecede.checker.prove.vocabulary import Model
from antecede.checker.registry import Kind, resolved


def _models_in(module: ModuleType) -> Mapping[str, Model]:
    return {key: value for key, value in vars(module).items() if isinstance(value, Model)}


MODELS = Kind(
    "model",
    "an antecede.checker.prove.vocabulary.Model, as docs/proofs.md has it at its end",
    _models_in,
)


def model_named(reference: str, expect: str | None = None) -> Model:
    """Return a registered model, or the model that FILE.py:OBJECT defines.

    `expect` is the expected answer, in place of the model's own.

    Raises:
        InputError: there is no such name, file or object, or the file cannot be imported.
    """
    package = importlib.import_module("antecede.protocols")

    def refused() -> InputError:
        if reference in package.REGISTRY:
            return InputError(
                f"the protocol {reference!r} has no proof yet; there is one of: "
                f"{', '.join(package.PROOFS)} (docs/proofs.md says how to write one)"
            )
        return unknown("proof", reference, package.PROOFS)

    model: Model = resolved(reference, package.PROOFS, MODELS, refused)
    return model if expect is None else evolve(model, expected=expect.upper())
