"""Protocols as arguments of functions: objects of a program, registered names, and files."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TypeAlias

from antecede.checker.model import Protocol
from antecede.checker.support.errors import InputError
from antecede.checker.support.registry import PIPE, load, objects_named, protocol_names
from antecede.checker.support.settings import shown

Given: TypeAlias = Protocol | type | str | Path
"""A protocol as an argument: an `antecede.Protocol`, a class for `antecede.test`, a name that
`antecede list` shows, or FILE.py:OBJECT."""


def name_of(protocol: Any) -> str:
    """Return the name of a protocol, or the FILE.py:OBJECT that was given for it.

    Args:
        protocol: an `antecede.Protocol`, a name, or a file.

    Raises:
        InputError: the value is neither a protocol nor a text.
    """
    if isinstance(protocol, str | Path):
        return str(protocol)
    if isinstance(protocol, Protocol):
        return protocol.name
    if isinstance(protocol, type):
        raise InputError(
            f"the protocol is the class {protocol.__name__}; check real code with "
            f"antecede.test({protocol.__name__})"
        )
    raise InputError(
        f"the protocol is {shown(protocol)}; give a name, FILE.py:OBJECT, an "
        "antecede.Protocol, or for antecede.test a class"
    )


def refuse_lists(protocols: Sequence[Any]) -> None:
    """Check that each protocol is an argument of its own.

    Args:
        protocols: the arguments of a function that takes several protocols.

    Raises:
        InputError: an argument is a list, or names with commas between them.
    """
    for each in protocols:
        if isinstance(each, list | tuple | set | frozenset):
            parts = [*each]
        elif isinstance(each, str) and not each.startswith(PIPE) and not os.path.exists(each):
            parts = [part.strip() for part in each.split(",")]
            parts = parts if len(parts) > 1 and {*parts} & {*protocol_names()} else []
        else:
            parts = []
        if parts:
            apart = ", ".join(map(repr, parts[:2])) + (", …" if len(parts) > 2 else "")
            raise InputError(
                f"{shown(each)} is one argument; give several protocols as several arguments, such "
                f"as {apart}"
            )


@contextmanager
def named(*protocols: Any) -> Iterator[Sequence[str]]:
    """Provide names for protocols while a `with` block runs.

    In the block, other parts of the checker find a protocol of your program by its name.

    Args:
        protocols: each an `antecede.Protocol`, a class for `antecede.test`, a name, or a file.

    Raises:
        InputError: a value is no protocol, or two different protocols have the same name.
    """
    records = [_record_of(each) for each in protocols]
    objects: dict[str, Protocol] = {}
    for each in records:
        if isinstance(each, Protocol) and objects.setdefault(each.name, each) is not each:
            raise InputError(
                f"two protocols have the name {each.name!r}; give one of them another name, with "
                f'attrs.evolve(PROTOCOL, name="another")'
            )
    with objects_named(objects):
        yield [name_of(each) for each in records]


def _record_of(protocol: Any) -> Any:
    """Return the protocol that a class stands for, and any other value unchanged."""
    if not isinstance(protocol, type):
        return protocol
    return load("antecede.checker.adapters.objects:protocol")(protocol)
