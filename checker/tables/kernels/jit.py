"""Compilation of kernels: options and extensions for Numba.

Kernels release the GIL. No kernel writes to an array that another thread reads at the same time.
"""

from __future__ import annotations

import operator
import os
from collections.abc import Callable
from typing import Any

from llvmlite import ir
from numba import config, njit
from numba.core import cgutils, types
from numba.core.caching import (
    CompileResultCacheImpl,
    FunctionCache,
    IndexDataCacheFile,
)
from numba.core.compiler import CompilerBase, DefaultPassBuilder
from numba.core.compiler_machinery import register_pass
from numba.core.datamodel.models import ArrayModel
from numba.core.typed_passes import NativeLowering
from numba.extending import intrinsic, lower_builtin, register_model
from numba.np.arrayobj import load_item, make_array, store_item

from antecede.checker import interrupts, memory
from antecede.checker.errors import CapacityError
from antecede.checker.tables import cache


class _Place:
    """The folder of a function's compiled code, with the interface that Numba expects."""

    def __init__(self, function: Any) -> None:
        self._line = function.__code__.co_firstlineno
        self._home = cache.home_of(function.__code__.co_filename)

    @classmethod
    def from_function(cls, function: Any, _file: str) -> _Place:
        return cls(function)

    def ensure_cache_path(self) -> None:
        """Do nothing: the folder exists already, or nothing is cached."""

    def get_cache_path(self) -> str:
        return str(cache.folder(self._home) or "")

    def get_source_stamp(self) -> str:
        return cache.digest(self._home)

    def get_disambiguator(self) -> str:
        return str(self._line)


class _Kept(CompileResultCacheImpl):
    _locator_classes = [_Place]  # type: ignore[list-item]  # noqa: RUF012


class _Sealed(IndexDataCacheFile):
    """Cache files that are verified before they are unpickled, so that no foreign code runs."""

    def _load_index(self) -> Any:
        if not os.path.lexists(self._index_path):
            return {}
        content = cache.opened(self._index_path)
        if content is None:
            raise OSError(f"{self._index_path} is damaged or another kernel's")
        stamp, overloads = cache.unpickled(content)
        return overloads if stamp == [self._version, self._source_stamp] else {}

    def _save_index(self, overloads: Any) -> None:
        stamp = [self._version, self._source_stamp]
        with self._open_for_write(self._index_path) as file:
            file.write(cache.sealed(self._dump((stamp, overloads)), self._index_path))

    def _load_data(self, name: str) -> Any:
        content = cache.opened(self._data_path(name))
        if content is None:
            raise ValueError(f"{self._data_path(name)} is damaged or another kernel's")
        return cache.unpickled(content)

    def _save_data(self, name: str, data: Any) -> None:
        with self._open_for_write(self._data_path(name)) as file:
            file.write(cache.sealed(self._dump(data), self._data_path(name)))


class _Cache(FunctionCache):
    """Numba's cache in a folder of ours; prints a message and recompiles unreadable kernels."""

    _impl_class = _Kept

    def __init__(self, function: Any) -> None:
        super().__init__(function)
        impl = self._impl
        place = impl.locator
        self._cache_file = _Sealed(
            place.get_cache_path(), impl.filename_base, place.get_source_stamp()
        )

    def load_overload(self, signature: Any, target: Any) -> Any:
        """Return a cached kernel, or None; Numba then compiles it.

        Raises:
            CapacityError: there is too little memory for either. LLVM would abort the process.
        """
        _check_memory(cache.EACH)
        try:
            cached = super().load_overload(signature, target)
        except Exception as error:
            cache.say(f"a compiled kernel cannot be read, and is compiled anew: {error}")
            self._forget()
            cached = None
        if cached is None:
            _check_memory(cache.EACH_COMPILED)
        return cached

    def _forget(self) -> None:
        try:
            self.flush()
        except OSError as error:
            cache.say(f"a damaged kernel cannot be replaced: {error}")

    def save_overload(self, signature: Any, data: Any) -> None:
        if cache.folder() is None:
            tried = " and ".join(str(place) for place in cache.places())
            cache.say(
                f"compiled kernels cannot be kept, for {tried} cannot be written to: every start "
                "compiles them; give a folder with NUMBA_CACHE_DIR"
            )
            return
        try:
            super().save_overload(signature, data)
        except OSError as error:
            cache.say(f"compiled kernels cannot be kept: {error}; the next start compiles them")


def _check_memory(needed: int) -> None:
    if lacks := memory.lacking(needed, needed):
        raise CapacityError(f"too little memory for another compiled kernel: {lacks}")


def kernel(function: Callable[..., Any], **options: Any) -> Any:
    """Return a function that is compiled at its first call; the result is cached.

    Ctrl-C is delayed until the compilation ends. LLVM calls Python back, and an exception raised
    there would only be printed on the terminal.
    """
    dispatcher: Any = njit(nogil=True, **options)(function)
    if config.DISABLE_JIT:  # type: ignore[attr-defined]
        return dispatcher
    dispatcher._cache = _Cache(function)
    compiled = dispatcher.compile

    def shielded(signature: Any) -> Any:
        with interrupts.shielded():
            return compiled(signature)

    dispatcher.compile = shielded
    return dispatcher


@register_pass(mutates_CFG=True, analysis_only=False)
class _LowerForCallers(NativeLowering):
    """Generates code that only callers use: it is optimised in them, and never by itself.

    Most of the compilation time went into machine code of such functions that nobody called.
    """

    _name = "lower_for_callers"

    def run_pass(self, state: Any) -> bool:
        """Generate the code, and make it known to callers."""
        codegen, flags = state.targetctx.codegen(), state.flags
        library = state.library = codegen.create_library(state.func_id.func_qualname)
        flags.no_compile = flags.no_cpython_wrapper = flags.no_cfunc_wrapper = True
        library._optimize_final_module = lambda: None
        library._finalize_final_module = lambda: setattr(library, "_finalized", True)
        NativeLowering.run_pass(self, state)
        lowered = state["cr"]
        key = object().__reduce__  # stands for the code; Numba accepts built-in methods only
        state.targetctx.insert_user_function(key, lowered.fndesc, [library])
        state["cr"] = lowered._replace(cfunc=key)
        return True


class _ForCallers(CompilerBase):
    """Numba's usual compiler, with the pass above."""

    def define_pipelines(self) -> list[Any]:
        """Return the usual passes."""
        manager = DefaultPassBuilder.define_nopython_pipeline(self.state)
        manager.passes = [
            (_LowerForCallers if each is NativeLowering else each, name)
            for each, name in manager.passes
        ]
        manager.finalize()
        return [manager]


inlined = njit(nogil=True, forceinline=True, pipeline_class=_ForCallers)
"""Inline a function into its callers."""

if config.DISABLE_JIT:  # type: ignore[attr-defined]

    def prefetch(_array: Any, _index: Any) -> None:
        """Do nothing: interpreted code gains nothing from prefetching."""

    def borrow(array: Any) -> Any:
        """Return the array: interpreted code needs no borrowing."""
        return array

else:

    class Borrowed(types.Array):
        """The type of a borrowed array; its indices must not be negative."""

    register_model(Borrowed)(ArrayModel)

    @lower_builtin(operator.getitem, Borrowed, types.Integer)
    def load(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        """Generate array[index] without a branch for negative indices."""
        kind, index = signature.args
        view = make_array(kind)(context, builder, args[0])
        at = context.cast(builder, args[1], index, types.intp)
        return load_item(context, builder, kind, builder.gep(view.data, [at]))

    @lower_builtin(operator.setitem, Borrowed, types.Integer, types.Any)
    def save(context: Any, builder: Any, signature: Any, args: Any) -> None:
        """Generate array[index] = value without a branch for negative indices."""
        kind, index, given = signature.args
        view = make_array(kind)(context, builder, args[0])
        at = context.cast(builder, args[1], index, types.intp)
        value = context.cast(builder, args[2], given, kind.dtype)
        store_item(context, builder, kind, value, builder.gep(view.data, [at]))

    @intrinsic
    def borrow(typingctx: Any, array: Any) -> Any:
        """Return a view of a contiguous array without reference counting.

        Numba's atomic increments and decrements around every use of an array took 85 % of the time
        of `expand`. Its handling of negative indices took a fifth of the remaining instructions.
        The caller must keep the array itself alive. With NUMBA_BOUNDSCHECK=1, indices are checked
        as usual.
        """
        plain = config.BOUNDSCHECK or array.ndim != 1  # type: ignore[attr-defined]
        kind: Any = types.Array if plain else Borrowed
        borrowed = kind(array.dtype, array.ndim, array.layout)

        def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
            (struct,) = args
            for place in (0, 1):  # meminfo and parent
                kind = struct.type.elements[place]
                struct = builder.insert_value(struct, ir.Constant(kind, None), place)
            return struct

        return borrowed(array), codegen

    @intrinsic
    def prefetch(typingctx: Any, array: Any, index: Any) -> Any:
        """Ask the processor to load array[index] into its caches."""

        def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
            view = make_array(signature.args[0])(context, builder, args[0])
            address = builder.gep(view.data, [args[1]])
            byte = ir.IntType(8).as_pointer()
            flag = ir.IntType(32)
            kind = ir.FunctionType(ir.VoidType(), [byte, flag, flag, flag])
            function = cgutils.get_or_insert_function(builder.module, kind, "llvm.prefetch.p0")
            address = builder.bitcast(address, byte)
            builder.call(function, [address, flag(0), flag(1), flag(1)])
            return context.get_dummy_value()

        return types.void(array, index), codegen
