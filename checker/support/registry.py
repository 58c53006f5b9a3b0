"""Finds protocols and properties by name; the checker itself imports neither."""

from __future__ import annotations

import contextlib
import difflib
import importlib
import importlib.util
import os
import pickle
import sys
import traceback
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from hashlib import blake2b, sha256
from itertools import chain
from pathlib import Path
from types import ModuleType
from typing import Any, TypeVar

from attrs import evolve, frozen

from antecede.checker.model import Predicate, Property, Protocol
from antecede.checker.support import interrupts
from antecede.checker.support.errors import InputError, ProtocolError, unknown
from antecede.checker.support.streams import printing_to_stderr

PIPE = "pipe:"
"""The prefix of a command whose program is connected over a pipe."""


Item = TypeVar("Item")
Value = TypeVar("Value")

PACKAGE = Path(__file__).resolve().parents[2]
"""The folder that has `checker`, `protocols`, `properties` and `specs`; in a clone, its root."""

PACKAGES = ("checker", "protocols", "properties")

KINDS = {
    "invariant": ("invariant", "invariants"),
    "witness": ("witness", "witnesses"),
    "final": ("final invariant", "final invariants"),
}
"""The kinds of properties that a protocol declares, with the nouns for one and for several.

The name of such a property is KIND:NAME.
"""

_objects: dict[str, Protocol] = {}
"""Protocols that a program gave as objects, by name; see `objects_named`."""


_sources: dict[str, tuple[bytes, dict[str, str]]] = {}
"""Module name -> the text of the file and the environment when `import_file` imported it.

Modules whose import failed are left out.
"""


_seen: dict[str, tuple[Any, bytes]] = {}
"""Name of a module that another file imported -> its spec, and the text of its file then."""


@contextlib.contextmanager
def objects_named(protocols: Mapping[str, Protocol]) -> Iterator[None]:
    """Let names stand for protocols within this block, even if others are registered under them.

    A program that defines a protocol has no file to name, for example in a notebook.
    """
    before = dict(_objects)
    _objects.update(protocols)
    try:
        yield
    finally:
        _objects.clear()
        _objects.update(before)


def is_object(name: str) -> bool:
    """Return whether a name stands for a protocol that a program gave as an object."""
    return name in _objects


def with_objects(
    call: Callable[[Item], Value], protocols: Mapping[str, Protocol] | None = None
) -> Callable[[Item], Value]:
    """Return a call that knows some protocols by name in other processes, too.

    Functions of a notebook's cells cannot be imported there, so they are sent with their code.

    Args:
        call: the call.
        protocols: name -> protocol; None for all objects that `objects_named` has given a name.
    """
    named = _objects if protocols is None else protocols
    return partial(_called_with_objects, with_code(dict(named)), call) if named else call


_PYTHON = str(Path(os.__file__).parent)


def with_code(value: Any, *, whole: bool = False) -> bytes:
    """Return the pickle of a value with the code of its functions, which no file need have.

    Args:
        whole: the modules of the program are in the pickle, too, with the variables as they are
            now; another process that imports them would have the variables of their start.
    """
    import cloudpickle

    own = modules_of_program() if whole else []
    for module in own:
        cloudpickle.register_pickle_by_value(module)
    try:
        return cloudpickle.dumps(value)  # type: ignore[no-any-return]
    finally:
        for module in own:
            cloudpickle.unregister_pickle_by_value(module)


def modules_of_program() -> list[ModuleType]:
    """Return the imported modules of the program and its protocols, without `__main__`."""
    return [module for module in list(sys.modules.values()) if _is_of_program(module)]


def _is_of_program(module: ModuleType) -> bool:
    """Return whether a module is of the program or of a protocol, and not of a package."""
    file = getattr(module, "__file__", None) or ""
    name = module.__name__
    if name.startswith("antecede."):
        return name.startswith("antecede.protocols.")
    installed = "site-packages" in file or file.startswith(_PYTHON)
    return file.endswith(".py") and not installed and name not in ("antecede", "__main__")


def _called_with_objects(pickled: bytes, call: Callable[[Item], Value], item: Item) -> Value:
    with objects_named(pickle.loads(pickled)):
        return call(item)


def load(reference: str) -> Any:
    """Return the object that module:OBJECT refers to."""
    module, _, name = reference.partition(":")
    return getattr(importlib.import_module(module), name)


def protocol_names() -> tuple[str, ...]:
    """Return the registered protocols' names, in their registry's order."""
    return tuple(importlib.import_module("antecede.protocols").REGISTRY)


def is_as_shipped(name: str) -> bool:
    """Return whether a name is a registered protocol whose modules antecede's tests have seen.

    `protocols/SHA256SUMS` has the digests of the files, and a test compares them. A file that its
    user has changed is another one.
    """
    if name not in protocol_names():
        return False
    protocol_named(name)  # imports its modules
    try:
        lines = (PACKAGE / "protocols" / "SHA256SUMS").read_text(encoding="ascii").splitlines()
        tested = {tuple(line.split()) for line in lines}
        files = [
            Path(str(module.__file__))
            for name, module in list(sys.modules.items())
            if name.startswith("antecede.protocols.")
        ]
        return all((sha256(file.read_bytes()).hexdigest(), file.name) in tested for file in files)
    except OSError:
        return False


def protocol_named(reference: str, module: ModuleType | None = None) -> Protocol:
    """Return a registered protocol, or the protocol of FILE.py:OBJECT or pipe:COMMAND.

    Args:
        reference: the name, file or command.
        module: the module of the file, if it is imported already.

    Raises:
        InputError: no such name, file, object or program, or the file cannot be imported.
    """
    if reference in _objects:
        return _objects[reference]
    if reference.startswith(PIPE):
        asked: Protocol = load("antecede.checker.adapters.pipe:program")(reference[len(PIPE) :])
        return asked
    registry = importlib.import_module("antecede.protocols").REGISTRY

    def refused() -> InputError:
        if (likely := _file_meant(reference)) is not None:
            return InputError(f"there is no protocol {reference!r}; did you mean {likely!r}?")
        if "/" in reference:
            return InputError(f"there is no file or folder {reference!r}")
        return unknown("protocol", reference, registry, "protocol")

    return _adapted(resolved(reference, registry, PROTOCOLS, refused, module))


@frozen
class Kind:
    """A kind of object that a reference can name.

    Attributes:
        wanted: the object that a file must define, for errors.
        offered: a file's module -> the objects of this kind in it, by name.
    """

    name: str
    wanted: str
    offered: Callable[[ModuleType], Mapping[str, Any]]


def resolved(
    reference: str,
    registry: Mapping[str, str],
    kind: Kind,
    refused: Callable[[], InputError],
    module: ModuleType | None = None,
) -> Any:
    """Return the entry of a registry, or the object of FILE.py or FILE.py:OBJECT.

    Args:
        registry: name -> module:OBJECT.
        refused: returns the error for a reference that is neither.
        module: the module of the file, if it is imported already.

    Raises:
        InputError: there is no such object of that kind, or the file cannot be imported.
    """
    if reference in registry:
        return load(registry[reference])
    path, _, name = _parts(reference)
    if not path.endswith(".py"):
        raise refused()
    return _object(path, name, kind, module or import_file(Path(path)))


def names_file(reference: str) -> bool:
    """Return whether a reference is FILE.py or FILE.py:OBJECT."""
    return _parts(reference)[0].endswith(".py")


def imported_already(reference: str, *, current: bool = False) -> ModuleType | None:
    """Return the module of FILE.py or FILE.py:OBJECT if it is imported already, or None.

    Other files import a file under its own name, such as `mine`, and `import_file` under another
    one. The two modules have two classes of each name. So the module of its own name comes first,
    then a script that is running, then the module of `import_file` if the file is unchanged.

    Raises:
        InputError: `current` is true, and the file has changed since an earlier call, but the
            module of its own name has not been reloaded.
    """
    file = _place_of(Path(_parts(reference)[0]))
    if not os.path.isfile(file):
        return None
    own = _name_of(file)
    unchanged = _is_unchanged(own, file)
    real = os.path.realpath(file)
    of_file = {
        name: module
        for name, module in [*sys.modules.items()]
        if isinstance(module, ModuleType)
        and isinstance(place := vars(module).get("__file__"), str)
        and os.path.basename(place) == file.name
        and os.path.realpath(place) == real
        and (name != own or unchanged)
    }
    ranked = sorted(of_file, key=lambda name: (name == own, name == "__main__"))
    if not ranked:
        return None
    module = of_file[ranked[0]]
    if ranked[0] != own:
        first = _first_text(module, file)
        # A script that is running has no spec, so nothing tells its next run from this one.
        if current and module.__spec__ is not None and first != file.read_bytes():
            raise InputError(
                f"{str(file)!r} has changed since Python imported the module {module.__name__!r}; "
                "restart Python, or reload the module with importlib.reload"
            )
    return module


def _first_text(module: ModuleType, file: Path) -> bytes:
    """Return the text that a module's file had at the first call; a reload is another module."""
    if module.__name__ not in _seen or _seen[module.__name__][0] is not module.__spec__:
        _seen[module.__name__] = module.__spec__, file.read_bytes()
    return _seen[module.__name__][1]


def _parts(reference: str) -> tuple[str, str, str]:
    """Return the file, the colon and the object of FILE.py or FILE.py:OBJECT."""
    return reference.rpartition(":") if ".py:" in reference else (reference, "", "")


def _object(path: str, name: str, kind: Kind, module: ModuleType) -> Any:
    """Return an object of the module of a file; without a name, the only one of its kind.

    Raises:
        InputError: there is no such object.
    """
    objects = kind.offered(module)
    if name in objects:
        return objects[name]
    if name and hasattr(module, name):
        other = type(getattr(module, name)).__name__
        article = "an" if other[0] in "aeiouAEIOU" else "a"
        raise InputError(f"{name!r} in {path} is {article} {other}; give {kind.wanted}")
    if name:
        raise unknown(f"object in {path}", name, objects)
    if len(objects) == 1:
        return next(iter(objects.values()))
    if not objects:
        raise InputError(f"{path} defines no {kind.name}; give {kind.wanted}")
    choices = ", ".join(f"{path}:{key}" for key in objects)
    raise InputError(f"say which {kind.name} of {path} is meant; available: {choices}")


def _file_meant(reference: str) -> str | None:
    """Return the reference with the forgotten ending .py (g4:A is g4.py:A), if the file exists."""
    stem, colon, name = reference.partition(":")
    for ending in (".py", ".toml"):
        if stem and os.path.isfile(f"{stem}{ending}") and (ending == ".py" or not colon):
            return f"{stem}{ending}{colon}{name}"
    return None


def _other_files(path: Path) -> str:
    """Return a hint with alternatives to a missing file."""
    # os.path is used here and below, because pathlib raises if a name is too long for a file.
    beside = path.parent.glob("*.py") if os.path.isdir(path.parent) else ()
    others = [other.name for other in beside]
    near = difflib.get_close_matches(path.name, sorted(others), n=1, cutoff=0.75)
    if near:
        return f"did you mean {str(path.parent / near[0])!r}?"
    return "give FILE.py:OBJECT or a protocol name"


def _place_of(path: Path) -> Path:
    """Return where a file is.

    A name such as `protocols/rst.py` also stands for a file of antecede, in every folder that has
    no such file. Claims of papers name such files.
    """
    own = PACKAGE / path
    return own if inside(own) and os.path.isfile(own) and not os.path.isfile(path) else path


def inside(file: Path) -> Path | None:
    """Return a file of antecede as `protocols/rst.py`, or None for any other file.

    In a clone, the user's own files may lie beside the packages of antecede.
    """
    is_ours = any(file.is_relative_to(PACKAGE / package) for package in PACKAGES)
    return file.relative_to(PACKAGE) if is_ours else None


def shown_place(file: str) -> str:
    """Return a file of antecede as `protocols/rst.py`, and any other file as it is.

    So reports are the same on every machine.
    """
    ours = inside(Path(file).resolve())
    return file if ours is None else ours.as_posix()


def import_file(path: Path) -> ModuleType:
    """Import a user's Python file, or one of antecede's own, and return the module.

    A file is imported again only if it or the environment has changed, or if its import failed.
    Otherwise the classes of its protocols would be other classes than those of its properties.

    Raises:
        InputError: there is no such file.
        ProtocolError: it cannot be imported.
    """
    path = _place_of(path)
    if not os.path.isfile(path):
        raise InputError(f"there is no file {str(path)!r}; {_other_files(path)}")
    name = _name_of(path)
    if name in sys.modules and _is_unchanged(name, path):
        return sys.modules[name]
    spec = importlib.util.spec_from_file_location(name, path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[module.__name__] = module
    folder, is_imported = str(path.resolve().parent), False
    if folder not in sys.path:
        sys.path.append(folder)
    try:
        _sources[module.__name__] = path.read_bytes(), dict(os.environ)
        with printing_to_stderr(), interrupts.at_work(f"the import of {path}"):
            spec.loader.exec_module(module)
        if interrupts.was_interrupted():
            raise interrupts.again()
        is_imported = True
    except SyntaxError as error:
        raise ProtocolError(
            f"{error.filename}, line {error.lineno}: {error.msg}; the file is not valid Python"
        ) from None
    except KeyboardInterrupt:
        raise
    except BaseException as error:
        if interrupts.is_cause_of(error):
            raise interrupts.again() from None
        raise ProtocolError(
            f"importing {path} failed: {type(error).__name__}: {error}{_line(error, path)}"
        ) from error
    finally:
        if not is_imported:
            _sources.pop(module.__name__, None)
    return module


def _name_of(path: Path) -> str:
    """Return the name of a user's file as a module: two files of one name have two modules."""
    digest = blake2b(os.fsencode(os.path.realpath(path)), digest_size=4).hexdigest()
    return f"user_protocol_{path.stem}_{digest}"


def forget_imports() -> None:
    """Import all files anew from now on: a new command sees what they do in its environment."""
    _sources.clear()


def _is_unchanged(name: str, path: Path) -> bool:
    """Return whether a file and the environment are as when `import_file` imported it."""
    try:
        return name in _sources and _sources[name] == (path.read_bytes(), dict(os.environ))
    except OSError:
        return False


def places_in(error: BaseException) -> list[tuple[str, int]]:
    """Return the file and the line of each frame in the traceback of an error, outermost first.

    Unlike `traceback.extract_tb`, it does not read the files, which may have changed.
    """
    frames = traceback.walk_tb(error.__traceback__)
    return [(frame.f_code.co_filename, line) for frame, line in frames]


def _line(error: BaseException, path: Path) -> str:
    """Return where the import of a file raised: the last line of a file in its folder."""
    folder = str(path.resolve().parent) + os.sep
    own = [
        f" (line {line} of {file})"
        for file, line in places_in(error)
        if os.path.realpath(file).startswith(folder)
        and "site-packages" not in file
        and os.path.isfile(file)
    ]
    return own[-1] if own else ""


def defined_in(reference: str) -> tuple[dict[str, Protocol], dict[str, Property]]:
    """Return the protocols and the properties of FILE.py or FILE.py:OBJECT, by reference.

    Raises:
        InputError: there is none, or the file cannot be imported.
    """
    path, colon, name = _parts(reference)
    module = import_file(Path(path))
    properties = {f"{path}:{key}": each for key, each in PROPERTIES.offered(module).items()}
    if reference in properties:
        return {}, {reference: properties[reference]}
    if colon:
        return {reference: _adapted(_object(path, name, PROTOCOLS, module))}, {}
    protocols = _defined_in(module)
    if not protocols and not properties:
        raise InputError(f"{path} defines no protocol, that is, no antecede.Protocol")
    named = {
        path if len(protocols) == 1 else f"{path}:{key}": each for key, each in protocols.items()
    }
    return {key: _adapted(each) for key, each in named.items()}, properties


def _defined_in(module: ModuleType) -> Mapping[str, Any]:
    """Return the protocols of a module, and the classes that can be made protocols."""
    protocols = {key: value for key, value in vars(module).items() if isinstance(value, Protocol)}
    return protocols | {k: value for k, value in vars(module).items() if _is_adapter(value, module)}


PROTOCOLS = Kind(
    "protocol",
    "an antecede.Protocol, or a class with causal_send(out, message) and receive(out, src, packet)",
    _defined_in,
)


def _is_adapter(value: Any, module: ModuleType) -> bool:
    """Return whether a class of a module looks like real code for the checker."""
    methods = ("causal_send", "receive")
    here = isinstance(value, type) and value.__module__ == module.__name__
    return here and any(hasattr(value, method) for method in methods)


def _adapted(value: Any) -> Protocol:
    """Return a protocol unchanged, and an adapter class as a protocol."""
    if isinstance(value, Protocol):
        return value
    made: Protocol = load("antecede.checker.adapters.objects:protocol")(value)
    return made


def proof_names() -> tuple[str, ...]:
    """Return the names of the protocols that have an abstract model for `antecede prove`."""
    return tuple(importlib.import_module("antecede.protocols").PROOFS)


def property_names() -> tuple[str, ...]:
    """Return the registered properties' names, in their registry's order."""
    return tuple(importlib.import_module("antecede.properties").REGISTRY)


def default_properties(
    protocol: Protocol | None = None, *, endless: bool = False
) -> tuple[str, ...]:
    """Return the names of the default properties of a check.

    They include the invariants of `protocol` and, unless runs are endless, its final invariants.
    """
    package = importlib.import_module("antecede.properties")
    default: tuple[str, ...] = package.ENDLESS if endless else package.DEFAULT
    kinds = ("invariant",) if endless else ("invariant", "final")
    own = () if protocol is None else (declared_names(protocol, kind) for kind in kinds)
    return (*default, *chain.from_iterable(own))


def declared_names(protocol: Protocol, kind: str) -> tuple[str, ...]:
    """Return the names of the properties of a kind that a protocol declares.

    Args:
        protocol: the protocol.
        kind: invariant, witness or final, on one actor's state and on all actors' states.
    """
    return tuple(f"{kind}:{name}" for names in _declared(protocol, kind) for name in names)


def _declared(
    protocol: Protocol, kind: str
) -> tuple[Mapping[str, Predicate], Mapping[str, Predicate]]:
    """Return the predicates of a kind on one actor's state, and on all actors' states."""
    if kind == "witness":
        return protocol.witnesses, protocol.joint_witnesses
    if kind == "final":
        return protocol.final_invariants, protocol.joint_final_invariants
    return protocol.invariants, protocol.joint_invariants


PROPERTIES = Kind(
    "property",
    "an antecede.Property",
    lambda module: {k: each for k, each in vars(module).items() if isinstance(each, Property)},
)


def property_in_file(reference: str) -> Property:
    """Return the property of FILE.py or FILE.py:NAME. In reports, its name is the reference.

    Raises:
        InputError: there is no such file or property.
        ProtocolError: the file cannot be imported.
    """
    found: Property = resolved(reference, {}, PROPERTIES, _no_file)
    return evolve(found, name=reference)


def _no_file() -> InputError:
    return InputError("give FILE.py:NAME")


def property_named(name: str, protocol: Protocol | None = None) -> Property:
    """Return the property of a name.

    Args:
        name: a registered name, FILE.py:NAME, or KIND:NAME of a predicate of `protocol`.
        protocol: the protocol that declares it.

    Raises:
        InputError: there is none of that name.
        ProtocolError: the file cannot be imported.
    """
    package = importlib.import_module("antecede.properties")
    kind, colon, declared = name.partition(":")
    if name not in package.REGISTRY and (name.endswith(".py") or ".py:" in name):
        return property_in_file(name)
    if colon and kind in KINDS and protocol is not None:
        _, nouns = KINDS[kind]
        own, joint = _declared(protocol, kind)
        choices = {**own, **joint}
        if declared in joint and declared in own:
            raise InputError(
                f"the protocol {protocol.name!r} has two {nouns} {declared!r}, one of each "
                "actor and one of all actors; give each a name of its own"
            )
        if declared not in choices:
            if not choices:
                raise InputError(f"the protocol {protocol.name!r} declares no {nouns}")
            raise unknown(f"{KINDS[kind][0]} of {protocol.name}", declared, choices)
        make = load(package.DECLARED)
        made: Property = make(kind, declared, choices[declared], joint=declared in joint)
        return made
    if name not in package.REGISTRY:
        declared_ones = (f"{kind}:NAME" for kind in KINDS)
        known = (*package.REGISTRY, *declared_ones, "FILE.py:NAME")
        raise unknown("property", name, known, "property")
    prop: Property = load(package.REGISTRY[name])
    return prop
