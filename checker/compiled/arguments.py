"""The arguments of kernels: their kinds, and the words that compiled code reads.

Compiled code depends on the kinds of its arguments, such as "a flat array of int64". It takes one
pointer to words of eight bytes: an array is its address and its shape (and its strides, unless its
elements are contiguous), a tuple is its parts, and any other value is one word.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Sequence
from ctypes import addressof, c_char
from typing import Any, TypeAlias

import numpy as np
from attrs import frozen

INTEGER, UNSIGNED, BOOLEAN, NUMBER, NOTHING = "int64", "uint64", "bool", "float64", "none"

FORMATS = {INTEGER: "q", UNSIGNED: "Q", BOOLEAN: "q", NUMBER: "d"}
"""The kind of a single value -> its format in `struct`."""

CLASSES: dict[str, tuple[type, ...]] = {
    INTEGER: (int, np.int64, np.int32, np.int16, np.int8),
    UNSIGNED: (np.uint64, np.uint32, np.uint16, np.uint8, int),
    BOOLEAN: (bool, np.bool_),
    NUMBER: (float, np.float64),
    NOTHING: (type(None),),
}
"""The kind of a single value -> its classes."""


@frozen
class ArrayKind:
    """The kind of an array: what compiled code must know to read it.

    Attributes:
        dtype: the type of the elements.
        dimensions: the number of dimensions.
        layout: C if the elements are contiguous, F if those of the transpose are, otherwise A.
        writeable: a kernel may write to the array.
    """

    dtype: np.dtype[Any]
    dimensions: int
    layout: str
    writeable: bool

    def __str__(self) -> str:
        access = "" if self.writeable else " const"
        return f"{self.dtype.str}{access}[{self.dimensions}{self.layout}]"


@frozen
class TupleKind:
    """The kind of a tuple: its class, and the kinds of its elements.

    Attributes:
        cls: `tuple`, or the class of a named tuple.
        parts: the kind of each element.
    """

    cls: type
    parts: tuple[Kind, ...]

    def __str__(self) -> str:
        inner = ", ".join(map(str, self.parts))
        return f"{self.cls.__module__}.{self.cls.__qualname__}({inner})"


Kind: TypeAlias = str | ArrayKind | TupleKind


def kind_of(value: Any) -> Kind:
    """Return the kind of a value, which says how machine code reads it as an argument of a kernel.

    A kernel is a function that Numba compiles, once for each combination of kinds of its arguments.
    A kind is an `ArrayKind` (element type, dimensions, layout, access), a `TupleKind` (class, and
    the kinds of the elements), or one of the texts "int64", "uint64" (a Python integer from 2 ** 63
    on), "bool", "float64" and "none".

    Raises:
        TypeError: no kernel takes such a value.

    Examples:
        >>> kind_of(3), kind_of(True), kind_of(None)
        ('int64', 'bool', 'none')
    """
    if isinstance(value, np.ndarray):
        flags = value.flags
        layout = "C" if flags.c_contiguous else "F" if flags.f_contiguous else "A"
        return ArrayKind(value.dtype, value.ndim, layout, bool(flags.writeable))
    if isinstance(value, tuple):
        return TupleKind(type(value), tuple(map(kind_of, value)))
    if type(value) is int and value >> 63 > 0:
        return UNSIGNED
    for kind, classes in CLASSES.items():
        if type(value) in classes:
            return kind
    raise TypeError(f"no kernel takes a {type(value).__name__}: {value!r}")


def packer(kinds: Sequence[Kind]) -> Callable[[Sequence[Any]], bytes | None]:
    """Return a function that packs a kernel's arguments into the words that machine code reads.

    A kernel is a function that Numba compiles. The returned function takes the sequence of
    arguments, and returns their words as bytes, eight per word: an array becomes its address and
    its shape (and its strides, unless its elements are contiguous), a tuple becomes the words of
    its elements, None becomes no word, and any other value becomes one. It returns None if the
    arguments are of other kinds. Because it runs before every call, it is generated for these
    kinds, without loops.

    Args:
        kinds: the kind of each argument, as `kind_of` returns it.

    Examples:
        >>> pack = packer(["int64", "none"])
        >>> pack((3, None)).hex()
        '0300000000000000'
        >>> pack(("three", None)) is None
        True
    """
    writer = _Writer()
    writer.unpack("given", kinds)
    lines = ["def pack(given):", " try:", *(f"  {line}" for line in writer.lines)]
    lines += [
        f"  return write({', '.join(writer.words)})",
        f" except {_REFUSALS}:",
        "  return None",
    ]
    writer.names["write"] = struct.Struct(writer.format).pack
    exec("\n".join(lines), writer.names)
    pack: Callable[[Sequence[Any]], bytes | None] = writer.names["pack"]
    return pack


_REFUSALS = "(TypeError, ValueError, AttributeError, BufferError, error, WrongKind)"


class WrongKind(Exception):
    """An argument is of another kind."""


_BYTES = c_char * 0


class _Writer:
    """Writes the lines of a packer.

    Attributes:
        words: an expression per word; `format` is their format in `struct`.
        names: the values of names in the lines.
    """

    def __init__(self) -> None:
        self.lines: list[str] = []
        self.words: list[str] = []
        self.format = "="
        self.names: dict[str, Any] = {
            "WrongKind": WrongKind,
            "address": addressof,
            "borrowed": _BYTES.from_buffer,
            "error": struct.error,
        }
        self._count = 0

    def unpack(self, name: str, kinds: Sequence[Kind]) -> None:
        """Write the lines for the parts of a sequence."""
        parts = [self._new("a") for _ in kinds]
        self.lines.append("".join(f"{part}, " for part in parts) + f"= {name}")
        for part, kind in zip(parts, kinds, strict=True):
            self._take(part, kind)

    def _new(self, prefix: str, value: Any = None) -> str:
        self._count += 1
        name = f"{prefix}{self._count}"
        if value is not None:
            self.names[name] = value
        return name

    def _take(self, name: str, kind: Kind) -> None:
        if isinstance(kind, ArrayKind):
            self._take_array(name, kind)
        elif isinstance(kind, TupleKind):
            self._require(f"type({name}) is {self._new('cls', kind.cls)}")
            self.unpack(name, kind.parts)
        else:
            self._require(f"type({name}) in {self._new('classes', CLASSES[kind])}")
            if kind != NOTHING:
                self._add(name, FORMATS[kind])

    def _take_array(self, name: str, kind: ArrayKind) -> None:
        dtype = self._new("dtype", kind.dtype)
        self._require(f"{name}.dtype is {dtype} or {name}.dtype == {dtype}")
        sizes = [self._new("n") for _ in range(kind.dimensions)]
        self.lines.append("".join(f"{size}, " for size in sizes) + f"= {name}.shape")
        if kind.layout == "C" and kind.writeable:
            self._add(f"address(borrowed({name}))", "q")  # refuses all other arrays
        else:
            order = {"C": "c_contiguous", "F": "f_contiguous"}.get(kind.layout, "aligned")
            self._require(f"{name}.flags.{order} and {name}.flags.writeable is {kind.writeable}")
            if kind.layout != "C":
                self._require(f"not {name}.flags.c_contiguous")
            self._add(f"{name}.ctypes.data", "q")
        for size in sizes:
            self._add(size, "q")
        if kind.layout != "C":
            for axis in range(kind.dimensions):
                self._add(f"{name}.strides[{axis}]", "q")

    def _require(self, condition: str) -> None:
        self.lines.append(f"if not ({condition}): raise WrongKind")

    def _add(self, word: str, form: str) -> None:
        self.words.append(word)
        self.format += form
