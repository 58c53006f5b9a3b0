"""Plain data as JSON and arrays; reading them never runs code.

Data are None, truth values, numbers, strings, lists, tuples, dictionaries and arrays of numbers.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import Any, TypeAlias

import numpy as np
from attrs import frozen

Store: TypeAlias = Callable[[Any], str]
"""A function that saves an array and returns a name for it."""

SMALL = 64
"""The most elements of an array that is written as JSON numbers."""


@frozen
class Stored:
    """A reference to an array that is stored under a name."""

    kind: str
    shape: tuple[int, ...]
    name: str

    def empty(self) -> Any:
        """Return an uninitialised array of this type and shape."""
        return np.empty(self.shape, _numeric(self.kind))

    @property
    def size(self) -> int:
        """The number of elements."""
        return int(np.prod(self.shape, dtype=np.int64))


def _numeric(kind: Any) -> Any:
    """Return the NumPy type named `kind`.

    Raises:
        ValueError: its elements are not plain numbers.
    """
    dtype = np.dtype(kind)
    if dtype.kind not in "biuf":
        raise ValueError(f"arrays of {dtype} are no data")
    return dtype


def encoded(value: Any, store: Store) -> Any:
    """Return a value as JSON values; larger arrays go to `store`.

    Raises:
        TypeError: a part of the value is not data.
    """
    if value is None or isinstance(value, bool | int | float | str):
        return value
    if isinstance(value, np.bool_ | np.integer | np.floating):
        return value.item()
    if isinstance(value, np.ndarray):
        kind, shape = _numeric(value.dtype).str, list(value.shape)
        if value.size <= SMALL:
            return {"numbers": [kind, shape, value.ravel().tolist()]}
        return {"array": [kind, shape, store(value)]}
    if isinstance(value, list | tuple):
        items = [encoded(item, store) for item in value]
        return items if isinstance(value, list) else {"tuple": items}
    if isinstance(value, Mapping):
        return {"pairs": [[encoded(k, store), encoded(v, store)] for k, v in value.items()]}
    raise TypeError(f"{type(value).__name__} is no data")


def decoded(value: Any) -> Any:
    """Return the value that `encoded` got, with a `Stored` for every array that went to `store`.

    Raises:
        ValueError: `encoded` did not return this.
    """
    if isinstance(value, list):
        return [decoded(item) for item in value]
    if not isinstance(value, dict):
        return value
    ((form, content),) = value.items()
    if form == "tuple":
        return tuple(decoded(item) for item in content)
    if form == "pairs":
        return {decoded(key): decoded(item) for key, item in content}
    kind, shape, what = content
    if form == "array":
        return Stored(str(kind), tuple(map(int, shape)), str(what))
    if form == "numbers":
        return np.array(what, _numeric(kind)).reshape(shape)
    raise ValueError(f"{form!r} is no form of data")


def filled(value: Any, load: Callable[[Stored], Any]) -> Any:
    """Return a decoded value with every `Stored` replaced by the result of `load`."""
    if isinstance(value, Stored):
        return load(value)
    if isinstance(value, dict):
        return {key: filled(item, load) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return type(value)(filled(item, load) for item in value)
    return value


def to_bytes(value: Any) -> bytes:
    """Return a value as bytes: a line of JSON, and the arrays."""
    arrays: list[bytes] = []

    def store(array: Any) -> str:
        arrays.append(np.ascontiguousarray(array).tobytes())
        return str(sum(map(len, arrays[:-1])))

    text = json.dumps(encoded(value, store))
    return b"\n".join([text.encode(), b"".join(arrays)])


def from_bytes(data: bytes) -> Any:
    """Return the value that `to_bytes` got.

    Raises:
        ValueError: `to_bytes` did not return these bytes.
    """
    text, _, rest = data.partition(b"\n")

    def load(stored: Stored) -> Any:
        array = np.frombuffer(rest, _numeric(stored.kind), stored.size, int(stored.name))
        return array.reshape(stored.shape).copy()

    return filled(decoded(json.loads(text)), load)
