"""Loads compiled kernels into this process, from object files in the cache.

This needs the linker of llvmlite, and not Numba, which takes half a second to import and to load a
kernel.
"""

from __future__ import annotations

import ctypes
import functools
import json
import pickle
from collections.abc import Callable
from typing import Any

import llvmlite.binding as llvm

from antecede.checker.compiled import cache
from antecede.checker.compiled.arguments import BOOLEAN, NOTHING, NUMBER, UNSIGNED

MOST_RESULTS = 8
"""The most numbers that a kernel returns."""

_RESULTS = ctypes.c_int64 * MOST_RESULTS
_ENTRY = ctypes.CFUNCTYPE(ctypes.c_int32, ctypes.c_char_p, ctypes.c_void_p)
_ERROR = ctypes.c_uint64 * 2
"""Numba's record of an exception begins with the address of its pickle, and the pickle's size."""


def _number(word: int) -> float:
    return ctypes.c_double.from_buffer(ctypes.c_int64(word)).value


READERS: dict[str, Callable[[int], Any]] = {
    UNSIGNED: lambda word: word & 0xFFFFFFFFFFFFFFFF,
    BOOLEAN: bool,
    NUMBER: _number,
    NOTHING: lambda _word: None,
}
"""The kind of a result -> how it is made of a word; other results are words."""


@functools.cache
def processor() -> str:
    """Return the name of the processor and of its features, for which kernels are compiled."""
    features = llvm.get_host_cpu_features().flatten()
    return f"{llvm.get_process_triple()} {llvm.get_host_cpu_name()} {features}"


@functools.cache
def _target() -> Any:
    llvm.initialize_native_target()
    llvm.initialize_native_asmprinter()
    return llvm.Target.from_triple(llvm.get_process_triple())


class Entry:
    """A kernel in the memory of this process, as machine code for arguments of certain kinds.

    A kernel is a function that Numba compiles, once per combination of kinds of its arguments.
    """

    def __init__(self, code: bytes, returns: str | tuple[str, ...]) -> None:
        """Link an object file.

        Raises:
            ValueError: it is no object file with an entry.
        """
        machine = _target().create_target_machine(jit=True)  # the engine will own it
        self._engine = llvm.create_mcjit_compiler(llvm.parse_assembly(""), machine)
        self._engine.add_object_file(llvm.object_file.ObjectFileRef.from_data(code))
        self._engine.finalize_object()
        address = self._engine.get_function_address(cache.ENTRY)
        if not address:
            raise ValueError("it has no entry")
        self._call = _ENTRY(address)
        self._returns = returns

    def run(self, words: bytes) -> Any:
        """Call the kernel, and return its result; other threads run meanwhile.

        Args:
            words: the arguments, as the function from `arguments.packer` packs them.

        Raises:
            Exception: the kernel raised it.
        """
        results = _RESULTS()
        if self._call(words, ctypes.addressof(results)):
            raise _exception(results[0])
        if isinstance(self._returns, str):
            reader = READERS.get(self._returns)
            return results[0] if reader is None else reader(results[0])
        pairs = zip(self._returns, results, strict=False)
        return tuple(READERS.get(kind, int)(word) for kind, word in pairs)


def _exception(address: int) -> Exception:
    """Return the exception in Numba's record at an address."""
    record = _ERROR.from_address(address)
    cls, args, _place = pickle.loads(ctypes.string_at(record[0], record[1] & 0xFFFFFFFF))
    error: Exception = cls(*(args or ()))
    return error


def packed(code: bytes, returns: str | tuple[str, ...], kinds: str) -> bytes:
    """Return a compiled kernel as bytes, for a file of the cache on the disk.

    A kernel is a function that Numba compiles. The bytes are the size of a description (4 bytes,
    little-endian), the description as JSON (the processor of this machine, `kinds` and `returns`),
    and the object file. `unpacked` reads them.

    Args:
        code: the object file with the kernel's machine code.
        returns: the kind of the result, such as "int64"; a tuple of kinds if the kernel returns a
            tuple.
        kinds: the kinds of the arguments as one text, for example "(<i8[1C], int64)" for a
            contiguous array of int64 with one dimension, and a number. It may be any text;
            `unpacked` compares it with its own.
    """
    head = json.dumps({"processor": processor(), "kinds": kinds, "returns": returns}).encode()
    return len(head).to_bytes(4, "little") + head + code


def unpacked(content: bytes, kinds: str) -> Entry | None:
    """Return a compiled kernel from the content of its file, linked into this process.

    A kernel is a function that Numba compiles, and the file is in the cache on the disk. The result
    is None if the kernel was compiled for another processor.

    Args:
        content: the content of the file, as `packed` returns it.
        kinds: the kinds of the arguments that the kernel must take, as the text that `packed` was
            given, for example "(<i8[1C], int64)".

    Raises:
        ValueError: the kernel takes other arguments, or the content is damaged.
    """
    size = 4 + int.from_bytes(content[:4], "little")
    head = json.loads(content[4:size])
    if head["kinds"] != kinds:
        raise ValueError("it takes other arguments")
    if head["processor"] != processor():
        return None
    returns = head["returns"]
    return Entry(content[size:], tuple(returns) if isinstance(returns, list) else returns)
