"""The dependencies of code: its files, the files that it imports, and the values that it uses.

Stored data about a protocol, such as a checkpoint or a row of a simulation, is valid only as long
as all dependencies are unchanged. The search follows the functions and classes that the code can
reach, the modules that define them, and all imports of these modules. It leaves out the standard
library, installed packages, and antecede itself, except for its protocols and properties.

A constant may come from a file or from the environment, and then it is not in any source. So the
values that functions use from their modules, closures and defaults are dependencies, too, if they
consist of numbers, texts, tuples, lists, sets, dictionaries, enums, arrays, and classes with
fields. If a function has the attribute `files`, it also depends on these files.
"""

from __future__ import annotations

import ast
import contextlib
import dataclasses
import functools
import hashlib
import inspect
import io
import sys
import sysconfig
import tokenize
from collections import deque
from collections.abc import Iterator, Mapping
from enum import Enum
from importlib.machinery import PathFinder
from itertools import pairwise
from pathlib import Path, PurePath
from types import CodeType, FunctionType, MethodType, ModuleType
from typing import Any, TypeAlias

import attrs
from attrs import define, field, frozen

from antecede.checker.support.alone import alone

_OWN = ("antecede.protocols.", "antecede.properties.")
_INSTALLED = tuple(
    Path(sysconfig.get_path(kind)).resolve() for kind in ("stdlib", "platstdlib", "purelib")
)
_LAYOUT = {
    *(tokenize.COMMENT, tokenize.NL, tokenize.NEWLINE),
    *(tokenize.INDENT, tokenize.DEDENT, tokenize.ENDMARKER),
}
"""Kinds of tokens that are not code."""
_ATOMS = (type(None), bool, int, float, complex, str, range)

Files: TypeAlias = dict[str, Path]
"""Module -> its file."""


def digest_of(data: bytes) -> str:
    """Return a digest of 32 hexadecimal digits."""
    return hashlib.blake2b(data, digest_size=16).hexdigest()


@frozen
class Sources:
    """The dependencies of some code.

    Attributes:
        files: module -> its file.
        values: MODULE.NAME -> digest of a value that code of the module uses.
    """

    files: Mapping[str, Path]
    values: Mapping[str, str]

    def digests(self) -> dict[str, str]:
        """Return the digests of everything, by name."""
        files = {name: digest_of(file.read_bytes()) for name, file in self.files.items()}
        return files | {**self.values}


Owner: TypeAlias = tuple[Any, str] | None
"""The object, or the dictionary, that has a variable, and the variable's name there."""


def sources_of(*roots: Any) -> Sources:
    """Return the dependencies of functions, classes, or records of them."""
    search = Search()
    for root in roots:
        search.visit(root, "")
    return Sources(search.files, search.values)


def imported_by(module: str, file: Path, known: Files | None = None) -> Files:
    """Return a module and all followed modules that it imports, directly or indirectly."""
    files: Files = {} if known is None else known
    todo = [(module, file)]
    while todo:
        name, path = todo.pop()
        if name in files:
            continue
        files[name] = path
        for other in _imports(path, name):
            place = _file_of(other)
            if place is not None and is_followed(other, place):
                todo.append((other, place))
    return files


def is_followed(module: str, file: Path) -> bool:
    """Return whether a module is the user's, or a protocol or property of antecede."""
    if module.partition(".")[0] == "antecede":
        return module.startswith(_OWN)
    if "site-packages" in file.parts or "dist-packages" in file.parts:
        return False
    return not any(file.is_relative_to(folder) for folder in _INSTALLED)


def _imports(file: Path, module: str) -> Iterator[str]:
    """Yield the names of modules that a file may import, with their parent packages."""
    is_package = file.name == "__init__.py"
    for level, name in _written_imports(file.read_bytes()) if file.suffix == ".py" else ():
        outer = module.split(".")
        around = outer[: len(outer) - level + is_package] if level else []
        parts = [*around, *name.split(".")] if name else around
        yield from (".".join(parts[:end]) for end in range(1, len(parts) + 1))


def syntax_tree(source: str | bytes, file: str = "<unknown>") -> ast.Module:
    """Return the syntax tree of Python code, as `ast.parse` does, also while other threads parse.

    Args:
        source: the code.
        file: the name of its file, for the text of a SyntaxError.

    Raises:
        SyntaxError: the code is not Python.
        ValueError: the code has a null byte.
        RecursionError: the code is nested too deeply.
    """
    with alone:
        return ast.parse(source, file)


@functools.lru_cache(maxsize=1_000)
def _written_imports(source: bytes) -> tuple[tuple[int, str], ...]:
    """Return the imports in a source, as (number of leading dots, name)."""
    try:
        nodes = list(ast.walk(syntax_tree(source)))
    except (SyntaxError, ValueError, RecursionError):
        return ()
    imports = list[tuple[int, str]]()
    for node in nodes:
        if isinstance(node, ast.Import):
            imports += [(0, alias.name) for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            names = (f"{node.module or ''}.{alias.name}" for alias in node.names)
            imports += [(node.level, name.strip(".")) for name in names]
    return tuple(dict.fromkeys(imports))


def _file_of(module: str) -> Path | None:
    """Return the file of a module without importing it, or None if there is none."""
    if (loaded := sys.modules.get(module)) is not None:
        file = getattr(loaded, "__file__", None)
    else:
        module_spec = _spec_of(module)
        file = None if module_spec is None or not module_spec.has_location else module_spec.origin
    path = None if file is None else Path(file).resolve()
    return path if path is not None and path.is_file() else None


def _spec_of(module: str) -> Any:
    parent, _, _ = module.rpartition(".")
    if not parent:
        return PathFinder.find_spec(module)
    around = sys.modules.get(parent)
    package = _spec_of(parent) if around is None else around.__spec__
    places = None if package is None else package.submodule_search_locations
    return None if places is None else PathFinder.find_spec(module, list(places))


def bare(source: str) -> str:
    """Return Python code without comments, docstrings and empty lines.

    Only texts that are statements of their own on lines of their own count as docstrings.

    Raises:
        SyntaxError, tokenize.TokenError: the source is no Python code.
    """
    lines, kept, begins = source.split("\n"), set[int](), True
    for token, following in pairwise(tokenize.generate_tokens(io.StringIO(source).readline)):
        (row, column), (end, _) = token.start, token.end
        if token.type == tokenize.COMMENT:
            lines[row - 1] = lines[row - 1][:column].rstrip()
        is_docstring = token.type == tokenize.STRING and following.type == tokenize.NEWLINE
        if token.type not in _LAYOUT and not (begins and is_docstring):
            kept.update(range(row - 1, end))
        begins = token.type in _LAYOUT and (begins or token.type == tokenize.NEWLINE)
    return "\n".join(lines[row] for row in sorted(kept))


def names_in(code: CodeType) -> set[str]:
    """Return the global names that `code` and the functions in it may use."""
    return {name for each in codes_in(code) for name in each.co_names}


def codes_in(code: CodeType) -> Iterator[CodeType]:
    """Yield `code` and the functions in it."""
    yield code
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from codes_in(constant)


def last_line(code: CodeType) -> int:
    """Return the last line of a function."""
    return max(code.co_firstlineno, *_last_lines(code))


def code_of(handler: Any) -> CodeType | None:
    """Return the code of the innermost function, or None if it is not written in Python."""
    function = function_of(handler)
    return None if function is None else function.__code__


def function_of(handler: Any) -> FunctionType | None:
    """Return the innermost function, or None if it is not written in Python.

    Partial functions, methods and functions with `__wrapped__` are unwrapped.
    """
    seen: list[Any] = []
    while not any(handler is before for before in seen):
        seen.append(handler)
        if isinstance(handler, functools.partial):
            handler = handler.func
        elif hasattr(handler, "__wrapped__"):
            handler = handler.__wrapped__
        elif inspect.ismethod(handler):
            handler = handler.__func__
        elif inspect.isfunction(handler):
            return handler
        elif callable(handler) and not isinstance(handler, type):
            handler = type(handler).__call__
    return None


def _last_lines(code: CodeType) -> Iterator[int]:
    """Yield the last lines of all instructions in `code`."""
    yield from (end for _, end, _, _ in code.co_positions() if end is not None)
    for inner in code.co_consts:
        if isinstance(inner, CodeType):
            yield from _last_lines(inner)


@define(eq=False)
class Search:
    """Follows values to the files that define them.

    Attributes:
        files, values: as in `Sources`.
        seen: the visited functions, classes and records, by identity.
    """

    files: Files = field(factory=dict)
    values: dict[str, str] = field(factory=dict)
    seen: dict[int, Any] = field(factory=dict)

    def visit(self, value: Any, name: str, owner: Owner = None) -> None:
        """Follow a value that code uses under a name."""
        if (text := text_of_plain(value)) is not None:
            self.visit_plain(value, name, text, owner)
            value = type(value)
        if id(value) in self.seen:
            return
        self.seen[id(value)] = value
        if isinstance(value, FunctionType):
            self.visit_function(value)
        elif isinstance(value, type):
            self.visit_class(value)
        else:
            elements = isinstance(value, Mapping | tuple | list | set | frozenset)
            for part, inner in self.parts_of(value):
                self.visit(inner, f"{name}.{part}", None if elements else (value, part))

    def visit_plain(self, value: Any, name: str, text: str, owner: Owner) -> None:
        """Note a value that is plain data."""
        self.values[name] = digest_of(text.encode("utf-8", "surrogatepass"))

    def visit_function(self, function: FunctionType) -> None:
        """Follow a function: its module, closure and defaults, and the variables that it uses."""
        scope, home = function.__globals__, str(function.__globals__.get("__name__", ""))
        self.files |= {file: Path(file) for file in getattr(function, "files", ())}
        ours = self.visit_module(home, scope.get("__file__"))
        name = f"{home}.{function.__qualname__}"
        for variable, value, owner in _given_to(function):
            if ours or callable(value):  # the values in our own closures change during a run
                self.visit(value, f"{name}.{variable}", owner)
        if ours and "__file__" not in scope:
            self.values[name] = digest_of(_code_text(function.__code__).encode())
        if ours:
            self.visit_variables(home, scope, names_in(function.__code__))

    def visit_variables(self, home: str, scope: Mapping[str, Any], names: set[str]) -> None:
        """Follow the variables of a module, and of modules in it, that a function names."""
        todo, done = [(home, scope)], set[int]()
        while todo:
            home, scope = todo.pop()
            done.add(id(scope))
            for name in sorted(names & scope.keys()):
                value = scope[name]
                if not isinstance(value, ModuleType):
                    self.visit(value, f"{home}.{name}", (scope, name))
                elif self.visit_module(value.__name__, getattr(value, "__file__", None)):
                    todo += [(value.__name__, vars(value))] if id(vars(value)) not in done else []

    def visit_class(self, cls: type) -> None:
        """Follow a class: its module, its methods and variables, and its bases."""
        if not self.visit_module(*_home_of(cls)):
            return
        for base in cls.__bases__:
            self.visit(base, "")
        for name, value in list(vars(cls).items()):
            if callable(value) or not name.startswith("__"):
                self.visit(value, f"{cls.__module__}.{cls.__qualname__}.{name}", (cls, name))

    def visit_module(self, name: str, file: str | None) -> bool:
        """Add a module and its imports; return whether it is followed."""
        if file is None:
            return name == "__main__"  # a notebook
        place = Path(file).resolve()
        if not is_followed(name, place) or not place.is_file():
            return False
        imported_by(name, place, self.files)
        return True

    def parts_of(self, value: Any) -> Iterator[tuple[str, Any]]:
        """Yield (name, part) of a value; only the functions of a record of antecede."""
        if isinstance(value, MethodType):
            yield from (("method", value.__func__), ("self", value.__self__))
        elif isinstance(value, functools.partial):
            yield from (("func", value.func), ("args", value.args), ("kwargs", value.keywords))
        elif isinstance(value, property):
            yield from (("get", value.fget), ("set", value.fset))
        elif isinstance(value, Mapping):
            yield from ((repr(key), inner) for key, inner in value.items())
        elif isinstance(value, tuple | list | set | frozenset):
            yield from ((str(at), inner) for at, inner in enumerate(value))
        elif self.visit_module(*_home_of(type(value))):
            yield from (("class", type(value)), *attributes_of(value).items())
        elif callable(inside := getattr(value, "func", getattr(value, "__wrapped__", None))):
            yield "", inside  # our wrapper around a handler, or a cache around a function
        else:
            variables = attributes_of(value).items()
            yield from (
                each for each in variables if callable(each[1]) or _holds_functions(each[1])
            )


def _given_to(function: FunctionType) -> Iterator[tuple[str, Any, Owner]]:
    """Yield the variables of a function's closure, its defaults, and the function it wraps."""
    for name, cell in zip(function.__code__.co_freevars, function.__closure__ or (), strict=True):
        with contextlib.suppress(ValueError):  # it is empty
            yield name, cell.cell_contents, (cell, "cell_contents")
    for at, each in enumerate(function.__defaults__ or ()):
        yield f"default {at}", each, None
    for name, each in (function.__kwdefaults__ or {}).items():
        yield name, each, None
    for name, each in vars(function).items():
        yield name, each, (function, name)


def attributes_of(value: Any) -> dict[str, Any]:
    """Return the attributes of an object, whether its class keeps them in slots or not."""
    state = object.__getstate__(value)
    named, slots = state if isinstance(state, tuple) else (state, None)
    return {**(named or {}), **(slots or {})}


def _home_of(cls: type) -> tuple[str, str | None]:
    """Return the module that defines a class, and its file."""
    return cls.__module__, getattr(sys.modules.get(cls.__module__), "__file__", None)


def _holds_functions(value: Any) -> bool:
    return isinstance(value, Mapping) and bool(value) and all(map(callable, value.values()))


def _code_text(code: CodeType) -> str:
    constants = [_code_text(c) if isinstance(c, CodeType) else repr(c) for c in code.co_consts]
    return repr((code.co_code, code.co_names, code.co_varnames, constants))


class _NotPlain(Exception):
    """A value is not made of plain data."""


def text_of_plain(value: Any) -> str | None:
    """Return a text of plain data that is stable across processes; None for other values."""
    try:
        return _text(value)
    except (_NotPlain, RecursionError):
        return None


def _fields(value: Any) -> list[str] | None:
    """Return the names of the fields of an attrs or dataclass value, None for other values."""
    if attrs.has(type(value)):
        return [field.name for field in attrs.fields(type(value))]
    if dataclasses.is_dataclass(type(value)):
        return [field.name for field in dataclasses.fields(value)]
    return None


def _text(value: Any) -> str:
    cls: Any = type(value)
    name = cls.__qualname__
    if cls in _ATOMS or isinstance(value, PurePath):
        return repr(value)
    if isinstance(value, Enum):
        return f"{name}.{value.name}={_text(value.value)}"
    if isinstance(value, tuple | list | deque):
        return f"{name}({','.join(map(_text, value))})"
    if isinstance(value, set | frozenset):
        return f"{name}({','.join(sorted(map(_text, value)))})"
    if isinstance(value, Mapping):
        pairs = sorted(f"{_text(key)}:{_text(inner)}" for key, inner in value.items())
        return f"{name}({','.join(pairs)})"
    if (fields := _fields(value)) is not None:
        return f"{name}({','.join(f'{field}={_text(getattr(value, field))}' for field in fields)})"
    try:
        view = memoryview(value)
    except TypeError:
        raise _NotPlain from None
    return f"{name}({view.format},{view.shape},{digest_of(view.tobytes())})"
