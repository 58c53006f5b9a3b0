"""The fingerprint of a checkpoint: the question, and every source that its content depends on."""

from __future__ import annotations

import functools
from pathlib import Path
from typing import Any

from attrs import asdict

from antecede.checker.semantics.transition import System
from antecede.checker.sources import digest_of, sources_of


def fingerprint(system: System, **engine: Any) -> dict[str, Any]:
    """Return everything that a checkpoint's content depends on, as JSON values.

    Args:
        system: the system that is checked.
        engine: options of the engine that decide what is saved, by name.
    """
    return {
        **asdict(system.question),
        "properties": list(system.question.properties),
        "sources": _sources(system),
        **engine,
    }


_ROOMS = ("semantics", "tables", "search", "liveness", "local", "spark", "adapters")
"""The checker's rooms on which the content of a checkpoint depends."""


def _sources(system: System) -> dict[str, str]:
    """Return name -> digest of all that the protocol and the properties depend on.

    These are modules with their files, and the values that their functions were given.
    """
    predicates = (prop.predicate for prop in system.properties)
    return sources_of(system.protocol, *predicates).digests() | _own_sources()


@functools.cache
def _own_sources() -> dict[str, str]:
    """Return module -> digest of its file for the checker, as it was when this process began."""
    own = Path(__file__).parent.parent
    files = [own / "model.py", *(file for room in _ROOMS for file in (own / room).rglob("*.py"))]
    return {_dotted(file.relative_to(own)): digest_of(file.read_bytes()) for file in sorted(files)}


def _dotted(file: Path) -> str:
    return ".".join(("antecede.checker", *file.with_suffix("").parts))
