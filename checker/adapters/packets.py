"""Packets that real code sends: the checker stores what each contained when it was sent."""

from __future__ import annotations

import io
import pickle
from collections.abc import Hashable, Iterator, Mapping
from typing import Any

from attrs import frozen

from antecede.checker.model import Message, Packet
from antecede.checker.purity.usable import Usable, unusable
from antecede.checker.semantics.values import messages_in
from antecede.checker.support.errors import ProtocolError

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
class Parcel:
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


def as_value(packet: Any) -> Packet:
    """Return a packet in a form that can be hashed, as it is now.

    A hashable packet is returned unchanged, and any other packet as a `Parcel`.

    Raises:
        ProtocolError: the packet can neither be hashed nor pickled.
    """
    return packet if _is_usable(packet) else _parcel(packet)


def _is_usable(packet: Any) -> bool:
    return unusable(packet, "the packet", Usable(_CLASSES)) is None


def _parcel(packet: Any) -> Parcel:
    file = io.BytesIO()
    pickler = _Pickler(file)
    try:
        pickler.dump(packet)
        # Pickle it twice, because an original may share parts that its unpickled copy does not.
        pickled = pickle.dumps(pickle.loads(file.getvalue()))
    except (pickle.PicklingError, TypeError, AttributeError) as error:
        raise ProtocolError(f"the packet {packet!r} cannot be sent: {error}") from None
    view = _view(packet)
    visible = set(messages_in(view))
    hidden = [message for message in dict.fromkeys(pickler.messages) if message not in visible]
    return Parcel((view, *hidden) if hidden else view, pickled)


def view(node: Any) -> Hashable:
    """Return the attributes of an object, as values; of one without a dictionary, its class."""
    return _view(getattr(node, "__dict__", type(node).__name__))


class _Pickler(pickle.Pickler):
    """Finds the messages in a packet, inside any objects."""

    def __init__(self, file: io.BytesIO) -> None:
        super().__init__(file)
        self.messages: list[Message] = []

    def persistent_id(self, value: Any) -> None:
        """Record a message; it is pickled like anything else."""
        if isinstance(value, Message):
            self.messages.append(value)


def _view(packet: Any) -> Hashable:
    """Return the content of a packet as values; for an object without a dictionary, its class."""
    if _is_usable(packet):
        return packet  # type: ignore[no-any-return]
    if isinstance(packet, Mapping):
        return Fields({_view(key): _view(value) for key, value in packet.items()})
    if isinstance(packet, list | tuple):
        return tuple(map(_view, packet))
    if isinstance(packet, set | frozenset):
        return frozenset(map(_view, packet))
    inside = getattr(packet, "__dict__", None)
    return type(packet).__name__ if inside is None else _view({type(packet).__name__: inside})
