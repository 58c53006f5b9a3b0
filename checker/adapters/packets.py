"""Packets that real code sends: the checker stores what each contained when it was sent."""

from __future__ import annotations

import io
import pickle
from collections.abc import Hashable, Iterator, Mapping
from functools import partial
from typing import Any

from attrs import frozen

from antecede.checker.model import Message, Packet
from antecede.checker.purity.usable import Usable, unusable
from antecede.checker.semantics.values import messages_in, names_in
from antecede.checker.support.errors import ProtocolError
from antecede.checker.support.sources import attributes_of

_CLASSES: set[type] = set()
"""The attrs and data classes of packets that were found to be usable; see `Usable`."""


class Fields(Mapping[Any, Any]):
    """A dictionary that cannot change and can be hashed. Reports show packets with it."""

    __nameless__ = True  # texts show it as a dictionary

    def __init__(self, items: Mapping[Any, Any]) -> None:
        self._items = dict(items)

    def __getitem__(self, key: Any) -> Any:
        return self._items[key]

    def __iter__(self) -> Iterator[Any]:
        return iter(self._items)

    def __len__(self) -> int:
        return len(self._items)

    def __hash__(self) -> int:
        return hash(frozenset(self._items.items()))

    def __repr__(self) -> str:
        return repr(self._items)


@frozen(repr=False)
class PickledPacket:
    """A packet of real code that Python cannot hash, such as a dictionary.

    Attributes:
        holds: the content of the packet in hashable form. Reports show it.
        pickled: the packet itself, as a pickle. Its receiver is given a copy.
    """

    holds: Any
    pickled: bytes

    def __shown__(self) -> Any:
        return self.holds

    def __repr__(self) -> str:
        return repr(self.holds)

    def opened(self) -> Any:
        """Return a new copy of the packet."""
        return _opened(self.pickled)


def in_another_order(one: Packet, other: Packet) -> bool:
    """Return whether two packets differ in nothing but the order of keys in dictionaries."""
    return (
        isinstance(one, PickledPacket)
        and isinstance(other, PickledPacket)
        and one.holds == other.holds
        and repr(one) != repr(other)
    )


def as_value(packet: Any) -> Packet:
    """Return a packet in a form that can be hashed, as it is now.

    A hashable packet is returned unchanged, and any other packet as a `PickledPacket`.

    Raises:
        ProtocolError: the packet can neither be hashed nor pickled.
    """
    return packet if _is_usable(packet) else _pickled_packet(packet)


def _is_usable(packet: Any) -> bool:
    return unusable(packet, "the packet", Usable(_CLASSES)) is None


def _pickled_packet(packet: Any) -> PickledPacket:
    file = io.BytesIO()
    pickler = _PacketPickler(file)
    try:
        pickler.dump(packet)
    except (pickle.PicklingError, TypeError, AttributeError) as error:
        raise ProtocolError(f"the packet {packet!r} cannot be sent: {error}") from None
    seen = content(packet)
    visible = set(messages_in(seen))
    hidden = [message for message in dict.fromkeys(pickler.messages) if message not in visible]
    return PickledPacket((seen, *hidden) if hidden else seen, file.getvalue())


def view(node: Any) -> Hashable:
    """Return the attributes of an object, as values; of one without any, its class."""
    return content(attributes_of(node) or type(node).__name__)


class _PacketPickler(pickle.Pickler):
    """Writes equal packets alike, and finds the messages in them, inside any objects.

    A pickle says which parts are one object. It matters for parts that can change, such as two
    references to one list. Values are written anew in every place, because two equal texts or
    messages may be one object or not.
    """

    def __init__(self, file: io.BytesIO) -> None:
        super().__init__(file)
        self.messages: list[Message] = []

    def persistent_id(self, part: Any) -> bytes | None:
        """Return a pickle of a value without references, and None for other parts."""
        cls: Any = type(part)
        if cls not in _TEXTS and not (_is_of_parts(cls) and _is_usable(part)):
            return None
        self.messages += messages_in(part)
        return _without_references(part)


class _Values(pickle.Pickler):
    """Writes a value without references between its parts, and sets in a fixed order."""

    def persistent_id(self, part: Any) -> list[bytes] | None:
        """Return the sorted elements of a set."""
        return sorted(map(_without_references, part)) if type(part) is frozenset else None


class _Unpickler(pickle.Unpickler):
    """Reads what `_PacketPickler` and `_Values` wrote."""

    def persistent_load(self, told: bytes | list[bytes]) -> Any:
        """Return a value, or a set of its elements."""
        return _opened(told) if isinstance(told, bytes) else frozenset(map(_opened, told))


_TEXTS = (str, bytes)


def _is_of_parts(cls: Any) -> bool:
    return cls in (tuple, frozenset) or names_in(cls) is not None


def _without_references(value: Any) -> bytes:
    file = io.BytesIO()
    pickler = _Values(file)
    pickler.fast = True
    pickler.dump(value)
    return file.getvalue()


def _opened(pickled: bytes) -> Any:
    return _Unpickler(io.BytesIO(pickled)).load()


def content(packet: Any, *, within: tuple[Any, ...] = ()) -> Hashable:
    """Return the content of a packet as values.

    Args:
        within: the objects that the packet is a part of. Of one of them, and of an object without
            attributes, the content is the name of its class.
    """
    if _is_usable(packet):
        return packet  # type: ignore[no-any-return]
    if any(each is packet for each in within):
        return type(packet).__name__
    inside = partial(content, within=(*within, packet))
    if isinstance(packet, Mapping):
        return Fields({inside(key): inside(value) for key, value in packet.items()})
    if isinstance(packet, list | tuple):
        return tuple(map(inside, packet))
    if isinstance(packet, set | frozenset):
        return frozenset(map(inside, packet))
    attributes = attributes_of(packet)
    name = type(packet).__name__
    return Fields({name: inside(attributes)}) if attributes else name
