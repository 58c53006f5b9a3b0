"""The sizes of packets: a declared number of bytes for each field.

`check --measures` counts in the same way (`checker.search.measures`), except that booleans are
counted separately: a packet consists of its headers, its messages' payload and its control data,
integer by integer.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import attrs
from attrs import define, field, frozen

from antecede.checker.model import Message, Packet
from antecede.checker.simulate.scenario import Scenario


@frozen
class Contents:
    """The messages of a packet, and the number of its other integers and truth values."""

    messages: tuple[Message, ...]
    integers: int
    flags: int


@frozen
class Encoding:
    """Bytes of headers, of a message's payload, and of an integer and a flag of control data."""

    header: int
    payload: int
    integer: int
    flag: int

    @classmethod
    def of(cls, scenario: Scenario) -> Encoding:
        """Return what a scenario declares."""
        return cls(scenario.header, scenario.payload, scenario.integer, scenario.flag)

    def control_bytes(self, contents: Contents) -> int:
        """Return the bytes of a packet that are not payload."""
        return self.header + self.integer * contents.integers + self.flag * contents.flags

    def bytes(self, contents: Contents) -> int:
        """Return the bytes of a packet."""
        return self.control_bytes(contents) + self.payload * len(contents.messages)


def contents_of(packet: Packet) -> Contents:
    """Count what is in a packet, however deep; None and empty containers are nothing."""
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
            self.integers += 1  # another scalar counts as one, as it does in `--measures`
