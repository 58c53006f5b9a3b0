"""Compiles kernels with Numba. Only a kernel that is not on the disk needs this module.

A kernel becomes one object file with one entry, a C function that reads the arguments from words
(see `arguments`). The functions that the kernel calls are optimised in it, and never by themselves:
most of the time would go into machine code without a caller.
"""

from __future__ import annotations

import operator
import os
from collections.abc import Callable, Iterator
from typing import Any

# Numba formats a message for each type that it tries in vain. Colours double the time of that.
os.environ.setdefault("NUMBA_DISABLE_ERROR_MESSAGE_HIGHLIGHTING", "1")

from attrs import frozen
from llvmlite import ir
from numba import njit
from numba.core import cgutils, config, types
from numba.core.compiler import CompilerBase, DefaultPassBuilder
from numba.core.compiler_lock import global_compiler_lock
from numba.core.compiler_machinery import register_pass
from numba.core.datamodel.models import ArrayModel
from numba.core.lowering import Lower
from numba.core.registry import cpu_target
from numba.core.typed_passes import NativeLowering
from numba.extending import intrinsic, lower_builtin, register_model
from numba.np.arrayobj import load_item, make_array, store_item
from numba.np.numpy_support import from_dtype

from antecede.checker.compiled.arguments import (
    BOOLEAN,
    INTEGER,
    NOTHING,
    NUMBER,
    UNSIGNED,
    ArrayKind,
    Kind,
    TupleKind,
)
from antecede.checker.compiled.cache import ENTRY
from antecede.checker.support.memory import without_collections

config._config_fname = ""
"""Numba reads settings in a file of the current folder, at every compilation."""

WORD = ir.IntType(64)

_TYPES: dict[Kind, Any] = {
    INTEGER: types.int64,
    UNSIGNED: types.uint64,
    BOOLEAN: types.boolean,
    NUMBER: types.float64,
    NOTHING: types.none,
}


@frozen
class ObjectCode:
    """A compiled kernel.

    Attributes:
        code: an object file.
        returns: the kinds of the results, if the kernel returns a tuple; otherwise of the result.
    """

    code: bytes
    returns: str | tuple[str, ...]


class _Lower(Lower):
    """Numba's generator of code, which takes apart every tuple of arrays to count references."""

    def incref(self, typ: Any, val: Any) -> None:
        """Count a reference, if any are counted."""
        if _is_counted(typ):
            Lower.incref(self, typ, val)

    def decref(self, typ: Any, val: Any) -> None:
        """Take a reference back, if any are counted."""
        if _is_counted(typ):
            Lower.decref(self, typ, val)


def _is_counted(kind: Any) -> bool:
    """Return whether references to a value, or to a part of it, are counted."""
    if isinstance(kind, types.BaseTuple):
        parts: Any = kind
        return any(map(_is_counted, parts))
    return not isinstance(kind, (Given, types.Number, types.Boolean))


@register_pass(mutates_CFG=True, analysis_only=False)
class _LowerForCallers(NativeLowering):
    """Generates code that only callers use: it is optimised in them, and never by itself."""

    _name = "lower_for_callers"

    @property
    def lowering_class(self) -> type[Lower]:
        """The generator of code."""
        return _Lower

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


def dispatcher(function: Callable[..., Any], **options: Any) -> Any:
    """Return Numba's version of a function, which other kernels can call.

    A kernel is a function that Numba compiles. This one is compiled once for all constant numbers
    that callers give, and LLVM inserts them later.

    Args:
        function: its source is restricted to the Python and NumPy that Numba compiles.
        options: further options of `numba.njit`, such as forceinline=True.

    Returns:
        The result of `numba.njit`: a dispatcher, which compiles for types of arguments.
    """
    options = {"forceinline": False, **options}  # otherwise Numba takes it from the caller
    made: Any = njit(nogil=True, pipeline_class=_ForCallers, **options)(function)
    template = made.get_call_template

    def for_any_number(args: Any, keywords: Any) -> Any:
        return template(tuple(map(_widened, args)), keywords)

    made.get_call_template = for_any_number
    return made


def _widened(kind: Any) -> Any:
    """Return int64 for constants and for narrower integers, and any other type itself."""
    kind = types.unliteral(kind)
    return types.int64 if kind in types.signed_domain else kind


def type_of(dispatcher: Any) -> Any:
    """Return the type that Numba gives to a name that stands for a compiled function.

    Numba asks for it when a kernel, a function that Numba compiles, calls the name.

    Args:
        dispatcher: the function, as `dispatcher` returns it, or one of `INTRINSICS`.
    """
    if isinstance(dispatcher, type(borrow)):
        return cpu_target.typing_context.resolve_value_type(dispatcher)
    return types.Dispatcher(dispatcher)


@global_compiler_lock
@without_collections()
def object_code(dispatcher: Any, kinds: tuple[Kind, ...]) -> ObjectCode:
    """Compile a function for one combination of kinds of arguments; other threads wait meanwhile.

    Args:
        dispatcher: the function, as `dispatcher` returns it.
        kinds: the kind of each argument, as `arguments.kind_of` returns it, such as "int64".

    Returns:
        An `ObjectCode`: the object file, and the kind of the result. The file has one C function,
        named ENTRY, which reads the arguments from words of 64 bits and writes the results to
        others.

    Raises:
        TypeError: the function returns something that is no number, Boolean or None.
        NotImplementedError: it calls a function of a library that kernels are not linked with.
    """
    signature = tuple(map(_type, kinds))
    dispatcher.compile(signature)
    result = dispatcher.overloads[signature]
    returned = result.signature.return_type
    library = result.target_context.codegen().create_library(ENTRY)
    library.add_ir_module(_entry(result, kinds))
    library.add_linking_library(result.library)
    library.add_ir_module(_Memory().module)
    codes: list[bytes] = []
    optimise = library._optimize_final_module

    def optimised() -> None:
        _hide_all_but_the_entry(library)
        optimise()

    library._optimize_final_module = optimised
    library._finalize_final_module = lambda: codes.append(_emitted(library))
    library.finalize()
    returns = tuple(map(_returned, returned)) if _is_tuple(returned) else _returned(returned)
    return ObjectCode(codes[0], returns)


def _hide_all_but_the_entry(library: Any) -> None:
    """Let LLVM drop functions that it inlined, and inline only those that are to be.

    It would inline every function with one caller. Rare work in the loops of a kernel then takes
    registers from frequent work.
    """
    for function in library._final_module.functions:
        if not function.is_declaration and function.name != ENTRY:
            function.linkage = "internal"
            if b"alwaysinline" not in b" ".join(function.attributes):
                function.add_function_attribute("noinline")


def _emitted(library: Any) -> bytes:
    """Return the object file of an optimised library."""
    needed = {f.name for f in library._final_module.functions if f.is_declaration}
    missing = {name for name in needed - EXTERNAL if not name.startswith("llvm.")}
    if missing:
        raise NotImplementedError(f"a kernel calls {', '.join(sorted(missing))}")
    return bytes(library._codegen._tm.emit_object(library._final_module))


def _is_tuple(kind: Any) -> bool:
    return isinstance(kind, types.BaseTuple)


def _type(kind: Kind) -> Any:
    """Return Numba's type for a kind of arguments."""
    if isinstance(kind, ArrayKind):
        dtype: Any = from_dtype(kind.dtype)
        layout: Any = kind.layout
        return Given(dtype, kind.dimensions, layout, readonly=not kind.writeable)
    if isinstance(kind, TupleKind):
        return types.BaseTuple.from_types(tuple(map(_type, kind.parts)), kind.cls)
    return _TYPES[kind]


def _returned(kind: Any) -> str:
    """Return the kind of a result."""
    kind = types.unliteral(kind)
    if kind in types.signed_domain:
        return INTEGER
    if kind in types.unsigned_domain:
        return UNSIGNED
    names = {types.boolean: BOOLEAN, types.float64: NUMBER, types.none: NOTHING}
    if kind not in names:
        raise TypeError(f"a kernel returns a {kind}; only numbers and Booleans can be returned")
    return names[kind]


def _entry(result: Any, kinds: tuple[Kind, ...]) -> ir.Module:
    """Return a module with the entry: int32 (words of the arguments, words of the results).

    The entry returns 0, or 1 if the kernel raised an exception. The first word of the results then
    points to Numba's record of the exception.
    """
    context, described = result.target_context, result.fndesc
    module = context.create_module(ENTRY)
    function = ir.Function(
        module, ir.FunctionType(ir.IntType(32), [WORD.as_pointer(), WORD.as_pointer()]), ENTRY
    )
    builder = ir.IRBuilder(function.append_basic_block("entry"))
    given, results = function.args
    loader = _Loader(context, builder, given)
    values = [loader.value(kind) for kind in kinds]
    convention = context.call_conv
    callee = ir.Function(
        module,
        convention.get_function_type(described.restype, described.argtypes),
        described.llvm_func_name,
    )
    status, value = convention.call_function(
        builder, callee, described.restype, described.argtypes, values
    )
    with builder.if_then(status.is_error, likely=False):
        builder.store(builder.ptrtoint(status.excinfoptr, WORD), results)
        builder.ret(ir.Constant(ir.IntType(32), 1))
    for place, word in enumerate(_words(context, builder, described.restype, value)):
        builder.store(word, builder.gep(results, [WORD(place)]))
    builder.ret(ir.Constant(ir.IntType(32), 0))
    return module


class _Loader:
    """Generates the code that reads arguments from words."""

    def __init__(self, context: Any, builder: Any, words: Any) -> None:
        self._context, self._builder, self._words = context, builder, words
        self._place = 0

    def _next(self) -> Any:
        word = self._builder.load(self._builder.gep(self._words, [WORD(self._place)]))
        self._place += 1
        return word

    def value(self, kind: Kind) -> Any:
        """Return the next argument."""
        if isinstance(kind, ArrayKind):
            return self._array(kind)
        if isinstance(kind, TupleKind):
            parts = [self.value(part) for part in kind.parts]
            return self._context.make_tuple(self._builder, _type(kind), parts)
        if kind == NOTHING:
            return self._context.get_dummy_value()
        word = self._next()
        if kind == BOOLEAN:
            return self._builder.icmp_signed("!=", word, WORD(0))
        return self._builder.bitcast(word, ir.DoubleType()) if kind == NUMBER else word

    def _array(self, kind: ArrayKind) -> Any:
        """Return an array that the caller keeps alive, so that it has no reference count."""
        context, builder = self._context, self._builder
        array = make_array(_type(kind))(context, builder)
        data = self._next()
        shape = [self._next() for _ in range(kind.dimensions)]
        size = WORD(kind.dtype.itemsize)
        if kind.layout == "C":
            strides = [size]
            for length in shape[:0:-1]:
                strides.insert(0, builder.mul(strides[0], length))
        else:
            strides = [self._next() for _ in shape]
        count = WORD(1)
        for length in shape:
            count = builder.mul(count, length)
        array.meminfo = cgutils.get_null_value(array.meminfo.type)
        array.parent = cgutils.get_null_value(array.parent.type)
        array.nitems, array.itemsize = count, size
        array.data = builder.inttoptr(data, array.data.type)
        array.shape = cgutils.pack_array(builder, shape)
        array.strides = cgutils.pack_array(builder, strides[: kind.dimensions])
        return array._getvalue()


def _words(context: Any, builder: Any, kind: Any, value: Any) -> Iterator[Any]:
    """Yield the words of a result."""
    if _is_tuple(kind):
        for place, part in enumerate(kind):
            yield from _words(context, builder, part, builder.extract_value(value, place))
    elif kind == types.float64:
        yield builder.bitcast(value, WORD)
    elif kind != types.none:
        yield context.cast(builder, value, kind, types.int64)


HEADER = 48
"""The bytes of Numba's record of an array or a list: the count of references, a destructor, its
argument, the address of the data, their size, and an allocator.

In records of lists, whose data are elsewhere, the destructor is 1, and its argument is the address
of the function that releases the elements, or 0.
"""
_DESTRUCTOR, _RELEASE, _DATA, _SIZE = range(1, 5)
"""Places in the record."""

_BYTE = ir.IntType(8).as_pointer()
_NOTHING = ir.VoidType()

EXTERNAL = {"malloc", "realloc", "free", "memcpy", "memmove", "memset", "memcmp"}
"""Functions of the C library that kernels may call."""


class _Memory:
    """Generates Numba's functions that make and remove arrays and lists.

    They do the same as the functions of Numba's runtime, but do not count allocations, so that a
    kernel needs nothing but the C library.
    """

    def __init__(self) -> None:
        self.module = ir.Module(ENTRY)
        self._malloc = self._declare("malloc", _BYTE, WORD)
        self._realloc = self._declare("realloc", _BYTE, _BYTE, WORD)
        self._free = self._declare("free", _NOTHING, _BYTE)
        for name in ("NRT_MemInfo_alloc_safe_aligned", "NRT_MemInfo_alloc_aligned"):
            self._define(self._make_array, name, _BYTE, WORD, ir.IntType(32))
        self._define(self._make_list, "NRT_MemInfo_new_varsize", _BYTE, WORD)
        self._define(self._make_list, "NRT_MemInfo_new_varsize_dtor", _BYTE, WORD, _BYTE)
        for name in ("NRT_MemInfo_varsize_alloc", "NRT_MemInfo_varsize_realloc"):
            self._define(self._resize, name, _BYTE, _BYTE, WORD)
        self._define(self._release_data, "NRT_MemInfo_varsize_free", _NOTHING, _BYTE, _BYTE)
        self._define(self._remove, "NRT_MemInfo_call_dtor", _NOTHING, _BYTE)

    def _declare(self, name: str, returned: Any, *given: Any) -> ir.Function:
        return ir.Function(self.module, ir.FunctionType(returned, given), name)

    def _define(self, body: Callable[..., None], name: str, returned: Any, *given: Any) -> None:
        function = self._declare(name, returned, *given)
        body(ir.IRBuilder(function.append_basic_block()), *function.args)

    def _make_array(self, builder: ir.IRBuilder, size: Any, alignment: Any) -> None:
        """Return a record that is followed by the data, or a null pointer."""
        wide = builder.zext(alignment, WORD)
        before = builder.add(wide, WORD(HEADER))
        record = self._allocated(builder, builder.add(before, size))
        end = builder.add(builder.ptrtoint(record, WORD), before)
        _fill(builder, record, 0, WORD(0), builder.and_(end, builder.neg(wide)), size)
        builder.ret(record)

    def _make_list(self, builder: ir.IRBuilder, size: Any, release: Any = None) -> None:
        """Return a record whose data are elsewhere, or a null pointer."""
        data = self._allocated(builder, size)
        record = builder.call(self._malloc, [WORD(HEADER)])
        with builder.if_then(cgutils.is_null(builder, record), likely=False):
            builder.call(self._free, [data])
            builder.ret(record)
        address = WORD(0) if release is None else builder.ptrtoint(release, WORD)
        _fill(builder, record, 1, address, builder.ptrtoint(data, WORD), size)
        builder.ret(record)

    def _allocated(self, builder: ir.IRBuilder, size: Any) -> Any:
        """Return new memory; if there is none, let the function return a null pointer."""
        memory = builder.call(self._malloc, [size])
        with builder.if_then(cgutils.is_null(builder, memory), likely=False):
            builder.ret(memory)
        return memory

    def _resize(self, builder: ir.IRBuilder, record: Any, size: Any) -> None:
        """Give the data of a list another size; return their address or a null pointer.

        Numba frees the old data after `varsize_alloc`, so that function must not move them.
        """
        moves = builder.function.name.endswith("_realloc")
        old = builder.inttoptr(builder.load(_at(builder, record, _DATA)), _BYTE)
        function, given = (self._realloc, [old, size]) if moves else (self._malloc, [size])
        data = builder.call(function, given)
        with builder.if_then(cgutils.is_null(builder, data), likely=False):
            builder.ret(data)
        builder.store(builder.ptrtoint(data, WORD), _at(builder, record, _DATA))
        builder.store(size, _at(builder, record, _SIZE))
        builder.ret(data)

    def _release_data(self, builder: ir.IRBuilder, record: Any, data: Any) -> None:
        """Free data of a list, which may be its current ones."""
        builder.call(self._free, [data])
        place = _at(builder, record, _DATA)
        with builder.if_then(
            builder.icmp_signed("==", builder.load(place), _number(builder, data))
        ):
            builder.store(WORD(0), place)
        builder.ret_void()

    def _remove(self, builder: ir.IRBuilder, record: Any) -> None:
        """Free an array or a list."""
        elsewhere = builder.load(_at(builder, record, _DESTRUCTOR))
        with builder.if_then(builder.icmp_signed("!=", elsewhere, WORD(0))):
            data = builder.inttoptr(builder.load(_at(builder, record, _DATA)), _BYTE)
            release = builder.load(_at(builder, record, _RELEASE))
            with builder.if_then(builder.icmp_signed("!=", release, WORD(0))):
                kind = ir.FunctionType(_NOTHING, [_BYTE]).as_pointer()
                builder.call(builder.inttoptr(release, kind), [data])
            builder.call(self._free, [data])
        builder.call(self._free, [record])
        builder.ret_void()


def _number(builder: ir.IRBuilder, pointer: Any) -> Any:
    return builder.ptrtoint(pointer, WORD)


def _at(builder: ir.IRBuilder, record: Any, place: int) -> Any:
    """Return the address of a word in a record."""
    return builder.gep(builder.bitcast(record, WORD.as_pointer()), [WORD(place)])


def _fill(
    builder: ir.IRBuilder, record: Any, destructor: int, release: Any, data: Any, size: Any
) -> None:
    """Write a new record with one reference."""
    for place, value in enumerate((WORD(1), WORD(destructor), release, data, size, WORD(0))):
        builder.store(value, _at(builder, record, place))


class Given(types.Array):
    """The type of an array whose owner is elsewhere, so that no reference to it is counted."""


class Borrowed(Given):
    """The type of a borrowed array; its indices must not be negative."""


@register_model(Given)
@register_model(Borrowed)
class _Uncounted(ArrayModel):
    def traverse(self, _builder: Any) -> list[Any]:
        return []  # nothing to count in an array


@lower_builtin(operator.getitem, Borrowed, types.Integer)
def load(context: Any, builder: Any, signature: Any, args: Any) -> Any:
    """Generate the machine code for array[index], without a branch for negative indices.

    Numba calls it when a kernel reads an element of a borrowed array (see `borrow`).

    Args:
        context: Numba's target, which converts types.
        builder: the llvmlite builder of the function that is generated; it gets the instructions.
        signature: the types of the arguments, a `Borrowed` and an integer, and of the result.
        args: the array and the index, as values of LLVM.

    Returns:
        The element, as a value of LLVM.
    """
    kind, index = signature.args
    view = make_array(kind)(context, builder, args[0])
    at = context.cast(builder, args[1], index, types.intp)
    return load_item(context, builder, kind, builder.gep(view.data, [at]))


@lower_builtin(operator.setitem, Borrowed, types.Integer, types.Any)
def save(context: Any, builder: Any, signature: Any, args: Any) -> None:
    """Generate the machine code for array[index] = value, without a branch for negative indices.

    Numba calls it when a kernel writes an element of a borrowed array (see `borrow`).

    Args:
        context: Numba's target, which converts types.
        builder: the llvmlite builder of the function that is generated; it gets the instructions.
        signature: the types of the arguments: a `Borrowed`, an integer, and any type that can be
            converted to the type of the elements.
        args: the array, the index and the value, as values of LLVM.
    """
    kind, index, given = signature.args
    view = make_array(kind)(context, builder, args[0])
    at = context.cast(builder, args[1], index, types.intp)
    value = context.cast(builder, args[2], given, kind.dtype)
    store_item(context, builder, kind, value, builder.gep(view.data, [at]))


@intrinsic
def borrow(typingctx: Any, array: Any) -> Any:
    """Return a view of an array without reference counting, in a kernel that calls this.

    A kernel is a function that Numba compiles. Numba's atomic increments and decrements around
    every use of an array took 85 % of the time of `expand`. Its handling of negative indices took a
    fifth of the remaining instructions. Indices of a view with one dimension must not be negative,
    and the caller must keep the array itself alive. With NUMBA_BOUNDSCHECK=1, indices are checked
    as usual. Numba calls this function to compile the call.

    Args:
        typingctx: not read; Numba gives it.
        array: the type of the argument: a contiguous array.

    Returns:
        The signature of the call, and the function that generates its machine code.
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
    """Ask the processor to load array[index] into its caches, in a kernel that calls this.

    A kernel is a function that Numba compiles. The call changes no result, and returns nothing.
    Numba calls this function to compile the call.

    Args:
        typingctx: not read; Numba gives it.
        array, index: the types of the two arguments: an array and an integer. The index may be out
            of range, because the processor ignores such a request.

    Returns:
        The signature of the call, and the function that generates its machine code.
    """

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


INTRINSICS = {"borrow": borrow, "prefetch": prefetch}
"""The functions that only compiled code can call, by their names."""
