"""Canonical text of values: one text per value, the same in every process.

Orders the packets of an unordered network and compares handlers' results. Built from all fields,
never from `hash` or iteration order.
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import Enum
from functools import cache
from typing import Any

import attrs

from antecede.checker.errors import ProtocolError


@cache
def _field_names(cls: Any) -> tuple[str, ...]:
    return tuple(a.name for a in attrs.fields(cls))


def canonical(value: Any) -> str:
    """Return the canonical text of `value`.

    Raises:
        ProtocolError: the value is of a type that has no canonical text.
    """
    if value is None or isinstance(value, (bool, int, str, bytes, float)):
        return value.name if isinstance(value, Enum) else repr(value)
    if attrs.has(type(value)):
        cls = type(value)
        inner = ",".join(f"{n}={canonical(getattr(value, n))}" for n in _field_names(cls))  # type: ignore[arg-type]
        return f"{cls.__name__}({inner})"
    if isinstance(value, tuple):
        return "(" + ",".join(map(canonical, value)) + ")"
    if isinstance(value, (frozenset, set)):
        return "{" + ",".join(sorted(map(canonical, value))) + "}"
    if isinstance(value, Mapping):
        items = sorted((canonical(k), canonical(v)) for k, v in value.items())
        return "{" + ",".join(f"{k}:{v}" for k, v in items) + "}"
    if isinstance(value, Enum):
        return f"{type(value).__name__}.{value.name}"
    raise ProtocolError(
        f"a value of type {type(value).__name__} ({value!r}) cannot be part of a state or packet; "
        "use frozen attrs classes, tuples, frozensets, enums, numbers, strings or None"
    )
