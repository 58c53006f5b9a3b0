"""What a checkpoint belongs to: the question, and every source that its content depends on."""

from __future__ import annotations

import functools
import hashlib
import inspect
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

from attrs import asdict

from antecede.checker.model import Protocol
from antecede.checker.semantics.transition import System


def about(system: System, **engine: Any) -> dict[str, Any]:
    """Return everything that a checkpoint's content depends on, as JSON values.

    Args:
        system: what is being checked.
        engine: options of the engine that decide what is saved, by name.
    """
    return {
        **asdict(system.question),
        "properties": list(system.question.properties),
        "sources": _sources(system),
        **engine,
    }


_ROOMS = ("semantics", "tables", "search", "local", "spark")
"""The checker's rooms on which the content of a checkpoint depends."""


def _sources(system: System) -> dict[str, str]:
    """Return module -> hash of its file, for all that the protocol and the properties come from.

    Followed are the modules beside that of a handler or property from which it takes anything.
    """
    starts = {sys.modules[name] for name in _modules_of(system) if name in sys.modules}
    folders = {Path(file).parent for module in starts if (file := _file_of(module))}
    found: dict[str, str] = {}
    todo = list(starts)
    while todo:
        module = todo.pop()
        file = _file_of(module)
        if module.__name__ in found or not file or Path(file).parent not in folders:
            continue
        found[module.__name__] = _digest(Path(file))
        todo += _taken_from(module)
    return found | _own_sources()


@functools.cache
def _own_sources() -> dict[str, str]:
    """Return module -> hash of its file for the checker, as it was when this process began."""
    own = Path(__file__).parent.parent
    files = [own / "model.py", *(file for room in _ROOMS for file in (own / room).rglob("*.py"))]
    return {_dotted(file.relative_to(own)): _digest(file) for file in sorted(files)}


def _dotted(file: Path) -> str:
    return ".".join(("antecede.checker", *file.with_suffix("").parts))


def _file_of(module: ModuleType) -> str | None:
    file: str | None = getattr(module, "__file__", None)
    return file if file is not None and Path(file).is_file() else None


def _digest(path: Path) -> str:
    return hashlib.blake2b(path.read_bytes(), digest_size=16).hexdigest()


def _taken_from(module: ModuleType) -> Iterator[ModuleType]:
    """Yield the modules that the values in `module` come from."""
    for value in list(vars(module).values()):
        name = value.__name__ if isinstance(value, ModuleType) else _module_of(value)
        if name in sys.modules:
            yield sys.modules[name]


def _module_of(value: Any) -> str:
    return str(getattr(value, "__module__", ""))


def _modules_of(system: System) -> set[str]:
    """Return the names of the modules that define the handlers and the properties."""
    functions = [*_functions(system.protocol), *(prop.predicate for prop in system.properties)]
    return {_module_of(_innermost(function)) for function in functions if function is not None}


def _functions(protocol: Protocol) -> list[Any]:
    handlers = [protocol.initial, protocol.causal_send, protocol.receive, protocol.timeout]
    handlers += [protocol.in_flight, *protocol.actions.values()]
    invariants = (*protocol.invariants.values(), *protocol.joint_invariants.values())
    witnesses = (*protocol.witnesses.values(), *protocol.joint_witnesses.values())
    return [*handlers, *invariants, *witnesses]


def _innermost(function: Any) -> Any:
    """Return the function inside self-checks and partial applications."""
    function = inspect.unwrap(function)
    while hasattr(function, "func"):
        function = inspect.unwrap(function.func)
    return function
