"""The fingerprint of a checkpoint: the question that is checked and digests of all sources.

A resumed search must ask the same question of the same code, so a checkpoint is refused if its
fingerprint differs.
"""

from __future__ import annotations

import functools
from pathlib import Path
from typing import Any

from attrs import asdict

from antecede.checker.semantics.transition import System
from antecede.checker.support.registry import PACKAGE
from antecede.checker.support.sources import digest_of, sources_of


def fingerprint(system: System, **engine: Any) -> dict[str, Any]:
    """Return everything that can change the result of a check, by name, as JSON values.

    Args:
        engine: further inputs, such as the engine's name and the number of threads.
    """
    return {
        **asdict(system.question),
        "properties": list(system.question.properties),
        "sources": _sources(system),
        **engine,
    }


_ROOMS = ("semantics", "graphs", "search", "liveness", "engine", "adapters")
"""The checker's rooms on which the content of a checkpoint depends."""


def _sources(system: System) -> dict[str, str]:
    """Return a digest of each module and each captured value that the system depends on."""
    predicates = (prop.predicate for prop in system.properties)
    return sources_of(system.protocol, *predicates).digests() | _own_sources()


@functools.cache
def _own_sources() -> dict[str, str]:
    """Return the digest of each module of the checker, as its file was when the process began."""
    own = PACKAGE / "checker"
    files = [own / "model.py", *(file for room in _ROOMS for file in (own / room).rglob("*.py"))]
    return {_dotted(file.relative_to(own)): digest_of(file.read_bytes()) for file in sorted(files)}


def _dotted(file: Path) -> str:
    return ".".join(("antecede.checker", *file.with_suffix("").parts))
