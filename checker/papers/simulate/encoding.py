"""The sizes of packets: a declared number of bytes for each field.

A packet consists of its headers, its messages' payload and its control data, which is counted
integer by integer. `antecede claims` counts in the same way (`checker.papers.claims.measures`),
except that booleans are counted separately here.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import attrs
from attrs import define, field, frozen

from antecede.checker.model import Message, Packet
from antecede.checker.papers.simulate.scenario import Scenario


@frozen
class Contents:
    """The messages of a packet, and the number of its other integers and truth values."""

    messages: tuple[Message, ...]
    integers: int
    flags: int


def control_bytes(contents: Contents, scenario: Scenario) -> int:
    """Return the number of bytes of a packet that are not payload."""
    integers, flags = scenario.integer * contents.integers, scenario.flag * contents.flags
    return scenario.header + integers + flags


def contents_of(packet: Packet) -> Contents:
    """Count the contents of a packet at any depth; None and empty containers count nothing."""
    count = _Count()
    count.add(packet)
    return Contents(tuple(count.messages), count.integers, count.flags)


_FIELDS: dict[type, tuple[str, ...]] = {}


@define
class _Count:
    messages: list[Message] = field(factory=list)
    integers: int = 0
    flags: int = 0

    def add(self, value: Any) -> None:
        kind = type(value)
        if kind is int:
            self.integers += 1
        elif kind is bool:
            self.flags += 1
        elif kind is Message:
            self.messages.append(value)
        elif value is not None:
            self._add_parts(value, kind)

    def _add_parts(self, value: Any, kind: type) -> None:
        if isinstance(value, Mapping):
            for item in value.items():
                self.add(item)
        elif isinstance(value, tuple | list | frozenset | set):
            for part in value:
                self.add(part)
        elif attrs.has(kind):
            if kind not in _FIELDS:
                _FIELDS[kind] = tuple(a.name for a in attrs.fields(kind))
            for name in _FIELDS[kind]:
                self.add(getattr(value, name))
        else:
            self.integers += 1  # any other scalar counts as an integer, as in `claims`
