"""Kernels: functions that are compiled at their first call, or loaded from the disk.

Kernels release the GIL. No kernel writes to an array that another thread reads at the same time.

This module imports neither Numba nor LLVM, because a kernel that is on the disk needs no compiler.
"""

from __future__ import annotations

import functools
import hashlib
import os
import sys
import threading
import warnings
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from types import FunctionType, ModuleType, SimpleNamespace
from typing import TYPE_CHECKING, Any

from antecede.checker.compiled import cache
from antecede.checker.compiled.arguments import Kind, kind_of, packer
from antecede.checker.support import interrupts, memory
from antecede.checker.support.errors import CapacityError
from antecede.checker.support.locks import held, locked

if TYPE_CHECKING:
    from antecede.checker.compiled.loading import Entry

LOCK = "compiling"
"""The file that a process locks in the cache while it compiles a kernel."""

_lock = threading.RLock()
"""Held while a kernel is loaded or compiled."""


def _is_on(variable: str) -> bool:
    return os.environ.get(variable, "0").strip() not in ("", "0")


INTERPRETED = _is_on("NUMBA_DISABLE_JIT")
"""Kernels run as plain Python functions, for debugging."""


@functools.cache
def compiler() -> Any:
    """Import the module that compiles. Numba then reads no settings in the current folder."""
    yaml = sys.modules.get("yaml")
    sys.modules["yaml"] = None  # type: ignore[assignment]
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # Numba says that it could not read such a file
            return import_module("antecede.checker.compiled.compiler")
    finally:
        if yaml is None:
            del sys.modules["yaml"]
        else:
            sys.modules["yaml"] = yaml


class Kernel:
    """A compiled function; called like the function from Python, and by other kernels.

    Attributes:
        python: the function.
        compiled: the number of times that it was compiled by this process.
        loaded: the number of times that it was loaded from the disk.
    """

    def __init__(self, function: Callable[..., Any], **options: Any) -> None:
        functools.update_wrapper(self, function)
        self.compiled = self.loaded = 0
        self.python, self._options = function, options
        self._entries: list[tuple[Callable[..., bytes | None], Entry]] = []
        self._known: set[tuple[Kind, ...]] = set()

    def __call__(self, *args: Any) -> Any:
        """Call the kernel.

        Raises:
            TypeError: it takes no such arguments.
            CapacityError: there is too little memory to compile it.
        """
        for pack, entry in self._entries:
            words = pack(args)
            if words is not None:
                return entry.run(words)
        self._add_entry(tuple(map(kind_of, args)))
        return self(*args)

    def _add_entry(self, kinds: tuple[Kind, ...]) -> None:
        """Load or compile the kernel for arguments of these kinds.

        Ctrl-C is delayed meanwhile. LLVM calls Python back, and an exception raised there would
        only be printed on the terminal.
        """
        with interrupts.shielded("the compilation of a kernel"), _lock:
            if kinds in self._known:  # made by another thread
                return
            entry = self._load(kinds) or self._compile(kinds)
            self._known.add(kinds)
            self._entries.append((packer(kinds), entry))

    def _load(self, kinds: tuple[Kind, ...]) -> Entry | None:
        """Return the kernel from the disk, or None; its file may be unreadable.

        Raises:
            CapacityError: there is too little memory. LLVM would abort the process.
        """
        _check_memory(cache.EACH)
        file = self._file(kinds)
        if file is None or not os.path.lexists(file):
            return None
        from antecede.checker.compiled.loading import unpacked

        try:
            content = cache.opened(file)
            if content is None:
                raise ValueError(f"{file} is damaged or another kernel's")
            entry = unpacked(content, _text(kinds))
        except Exception as error:
            cache.say(f"a compiled kernel cannot be read, and is compiled anew: {error}")
            return None
        self.loaded += entry is not None
        return entry

    def _compile(self, kinds: tuple[Kind, ...]) -> Entry:
        """Compile the kernel, unless another process does so at this time."""
        from antecede.checker.compiled.loading import Entry, packed

        file = self._file(kinds)
        with held(None if file is None else locked(Path(file).parent / LOCK, waits=True)):
            if entry := self._load(kinds):
                return entry
            _check_memory(cache.EACH_COMPILED)
            made = compiler().object_code(self._dispatcher, kinds)
            self.compiled += 1
            cache.keep(file, packed(made.code, made.returns, _text(kinds)))
        return Entry(made.code, made.returns)

    def _file(self, kinds: tuple[Kind, ...]) -> str | None:
        """Return the kernel's file for arguments of these kinds; None if there is no folder."""
        code = self.python.__code__
        folder = cache.folder(cache.home_of(code.co_filename))
        if folder is None:
            return None
        key = hashlib.blake2b(_text(kinds).encode(), digest_size=8).hexdigest()
        module = self.python.__module__.rpartition(".")[2]
        return str(folder / f"{module}.{code.co_name}-{code.co_firstlineno}-{key}{cache.SUFFIX}")

    @functools.cached_property
    def _dispatcher(self) -> Any:
        return compiler().dispatcher(self.python, **self._options)

    @property
    def _numba_type_(self) -> Any:
        """What Numba takes this name for in a kernel that it compiles."""
        return compiler().type_of(self._dispatcher)


class _Intrinsic:
    """A function that only compiled code can call; see `compiler`."""

    def __init__(self, name: str) -> None:
        self._name = name

    @property
    def _numba_type_(self) -> Any:
        return compiler().type_of(compiler().INTRINSICS[self._name])


def _text(kinds: tuple[Kind, ...]) -> str:
    """Describe everything, besides the sources, that the machine code depends on."""
    checked = " with bounds checks" if _is_on("NUMBA_BOUNDSCHECK") else ""
    return f"({', '.join(map(str, kinds))}){checked}"


def _check_memory(needed: int) -> None:
    if lacks := memory.lacking(needed, needed):
        raise CapacityError(f"too little memory for another compiled kernel: {lacks}")


def kernel(function: Callable[..., Any], **options: Any) -> Any:
    """Return a function as a kernel, which Numba compiles when it is first called.

    It runs without the GIL. Each combination of argument types is compiled once. The machine code
    is cached on the disk, and later processes load it without Numba. A kernel that another kernel
    calls stays a separate function, so that rare work takes no registers from frequent work; see
    `inlined`. With NUMBA_DISABLE_JIT=1, the function itself is returned.

    Args:
        function: its source is restricted to the Python and NumPy that Numba compiles.
        options: further options of `numba.njit`, such as forceinline=True.

    Examples:
        >>> @kernel
        ... def plus(a, b):
        ...     return a + b
        >>> plus(2, 3)
        5
    """
    return function if INTERPRETED else Kernel(function, **options)


def inlined(function: Callable[..., Any]) -> Any:
    """Return a function as a kernel that is inlined into the kernels that call it.

    A kernel is a function that Numba compiles; see `kernel`. Use this for accessors and for the
    steps of a loop: a call costs nothing then, but its code is repeated in each caller. With
    NUMBA_DISABLE_JIT=1, the function itself is returned.

    Args:
        function: its source is restricted to the Python and NumPy that Numba compiles.
    """
    return kernel(function, forceinline=True)


def together(*modules: ModuleType) -> Any:
    """Return an object with the names of some modules as attributes."""
    names: dict[str, Any] = {}
    for module in modules:
        names |= vars(module)
    return SimpleNamespace(**names)


def uncompiled(*modules: ModuleType) -> Any:
    """Return the same as `together`, but with the kernels of these modules as Python functions.

    They need no compiler, and are for small inputs. Their arrays are memory views, whose elements
    are Python's integers: these are faster than those of NumPy, and do not overflow.
    """
    names, homes = vars(together(*modules)), {module.__name__ for module in modules}
    kernels: dict[str, Any] = {
        name: getattr(value, "python", value)
        for name, value in names.items()
        if isinstance(value, Kernel | FunctionType) and value.__module__ in homes
    }
    names |= {name: FunctionType(each.__code__, names, name) for name, each in kernels.items()}
    return SimpleNamespace(**names | {name: _with_views(names[name]) for name in kernels})


def _with_views(function: Callable[..., Any]) -> Callable[..., Any]:
    def call(*args: Any) -> Any:
        return function(*map(_view, args))

    return call


def _view(value: Any) -> Any:
    if isinstance(value, tuple):
        return type(value)(*map(_view, value))
    return memoryview(value) if hasattr(value, "__array_interface__") and value.ndim else value


def _prefetch(_array: Any, _index: Any) -> None:
    """Do nothing: interpreted code gains nothing from prefetching."""


def _borrow(array: Any) -> Any:
    """Return the array: interpreted code needs no borrowing."""
    return array


borrow: Any = _borrow if INTERPRETED else _Intrinsic("borrow")
"""Return a view of a contiguous array without reference counting; see `compiler.borrow`."""

prefetch: Any = _prefetch if INTERPRETED else _Intrinsic("prefetch")
"""Ask the processor to load array[index] into its caches."""
