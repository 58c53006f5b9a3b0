"""Self-check: are the handlers of a protocol deterministic and pure?

The checker calls a handler once per distinct arguments and believes the result for ever, so a
handler that looks at anything else makes every verdict worthless. `watched` wraps a protocol; each
distinct call, up to a limit, is then made several times, with all that must not matter changed:

* the same function again on equal copies of the arguments, and an earlier call once more:
  randomness, the clock, variables that outlive a call, the identity of objects;
* clones of the function in a few worlds (`_World`) where sets iterate in another order, and
  `hash`, `id` and the clock give other values.

All results must have one canonical text, the arguments must keep theirs, and returned values must
be immutable, hashable and equal only if all their fields are.

A fault may be missed (in methods of the user's classes, for example, which are not cloned); what is
reported was seen to happen.
"""

from __future__ import annotations

import ast
import builtins
import collections
import copy
import functools
import linecache
import math
import random
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from types import (
    BuiltinFunctionType,
    CellType,
    CodeType,
    FunctionType,
    MethodType,
    ModuleType,
)
from typing import Any, TypeAlias

import attrs

from antecede.checker.errors import HandlerError, ProtocolError, unknown
from antecede.checker.model import Predicate, Protocol, Step
from antecede.checker.semantics.values import Values, canonical

MODES = {
    "on": "check the first distinct calls of each handler, up to a limit",
    "all": "check every distinct call",
    "off": "check nothing",
}

LIMIT = 1000
"""Distinct calls per handler that mode `on` checks."""

_REMEMBERED = 10_000
"""Values kept to be compared with later ones; bounds the memory of mode `all`."""

_DRAWS = 64
"""Repetitions of a call that drew from `random`; a coin lands one way throughout once in 2^64."""

Args: TypeAlias = tuple[Any, ...]
Order: TypeAlias = Callable[[list[Any]], list[Any]]

_PARAMETERS = {
    "initial": ("actor", "actors"),
    "causal_send": ("state", "message"),
    "receive": ("state", "src", "packet"),
    "timeout": ("state",),
}


def watched(protocol: Protocol, mode: str = "on", limit: int = LIMIT) -> Protocol:
    """Return `protocol` with handlers and predicates that check themselves as they are called.

    Args:
        protocol: what to watch.
        mode: one of MODES.
        limit: how many distinct calls per handler `on` checks; the later ones cost one test.

    Raises:
        InputError: there is no such mode.
    """
    if mode not in MODES:
        raise unknown("self-check mode", mode, MODES)
    if mode == "off":
        return protocol
    memory = _Memory(protocol)
    budget = math.inf if mode == "all" else limit

    def predicates(kind: str, given: Mapping[str, Predicate]) -> dict[str, Predicate]:
        return {
            name: _Watch(memory, predicate, kind, name, budget) for name, predicate in given.items()
        }

    handlers: dict[str, Any] = {
        name: _Watch(memory, handler, "handler", name, budget)
        for name, handler in _handlers(protocol).items()
    }
    return attrs.evolve(
        protocol,
        **handlers,
        invariants=predicates("invariant", protocol.invariants),
        witnesses=predicates("witness", protocol.witnesses),
    )


def _handlers(protocol: Protocol) -> dict[str, Callable[..., Any]]:
    found = {name: getattr(protocol, name) for name in _PARAMETERS}
    return {name: handler for name, handler in found.items() if handler is not None}


class _Memory:
    """What the watches of one protocol share.

    Attributes:
        protocol: the protocol as it was given.
        values: states and sends returned so far, by equality, with their canonical text.
        classes: attrs classes found to be usable.
    """

    def __init__(self, protocol: Protocol) -> None:
        self.protocol = protocol
        self.values: dict[Any, tuple[Any, str]] = {}
        self.classes: set[type] = set()

    def known(self, value: Any) -> tuple[Any, str]:
        """Return the first value seen that is equal to this one, and its canonical text."""
        found = self.values.get(value)
        if found is None:
            found = (value, canonical(value))
            if len(self.values) < _REMEMBERED:
                self.values[value] = found
        return found

    @functools.cached_property
    def worlds(self) -> tuple[_World, ...]:
        """One world per order of iteration."""
        return tuple(self.world(order) for order in _ORDERS)

    def world(self, order: Order, twists: Iterable[str] | None = None) -> _World:
        """Return a new world, by default with all twists."""
        homes = {
            _top(handler.__globals__)
            for handler in _handlers(self.protocol).values()
            if isinstance(handler, FunctionType)
        }
        return _World(order, frozenset(_TWISTS if twists is None else twists), frozenset(homes))


@attrs.frozen(eq=False)
class _Outcome:
    """How one trial of a call ended: with a value, or with an exception; told by its text."""

    text: str
    value: Any
    raised: bool = False


def _outcome(run: Callable[[], Any]) -> _Outcome:
    try:
        value = run()
        return _Outcome(_text(value), value)
    except KeyboardInterrupt:
        raise
    except BaseException as error:
        return _Outcome(f"raised {type(error).__name__}: {error}", error, raised=True)


@attrs.frozen(eq=False)
class _Call:
    """A distinct call and how it ended.

    Attributes:
        args: the arguments.
        shown: their canonical texts before the call.
        outcome: of the first trial.
        drew: the module `random` gave numbers meanwhile.
    """

    args: Args
    shown: tuple[str, ...]
    outcome: _Outcome
    drew: bool


class _Watch:
    """A handler or predicate that checks its first distinct calls; called like the original."""

    def __init__(
        self, memory: _Memory, handler: Callable[..., Any], kind: str, name: str, budget: float
    ) -> None:
        functools.update_wrapper(self, handler)
        self.left = budget
        self.handler = handler
        self._memory = memory
        self._name = name
        self._is_predicate = kind != "handler"
        self._title = f"{kind} {name!r}" if self._is_predicate else name
        self._parameters = ("state",) if self._is_predicate else _PARAMETERS[name]
        self._seen: set[Args] = set()
        self._past: list[_Call] = []
        self._checks = 0

    def __call__(self, *args: Any) -> Any:
        """Call the handler, with checks if the arguments are new and the limit is not spent."""
        if not self.left:
            return self.handler(*args)
        return self._check(args) if self._is_new(args) else self.handler(*args)

    def _is_new(self, args: Args) -> bool:
        known = len(self._seen)
        try:
            self._seen.add(args)
        except TypeError:
            fault = next(filter(None, map(_unusable, args, self._parameters)), "not hashable")
            raise self._error(tuple(map(_text, args)), f"was given a bad value: {fault}") from None
        return len(self._seen) > known

    def _check(self, args: Args) -> Any:
        """Call the handler on new arguments; check the result and how it came about.

        Raises:
            ProtocolError: the handler is not a pure function, or returned an unusable value. What
                the handler itself raises passes through.
        """
        shown = tuple(map(_text, args))
        luck = random.getstate()
        result = self.handler(*args)
        drew = random.getstate() != luck
        self._compare_arguments(shown, args)
        if not self._is_of_expected_type(result):
            return result  # for the caller to report
        self._inspect(shown, result)
        value = self._read(result)
        call = _Call(args, shown, _Outcome(_text(value), value), drew)
        self._repeat(call)
        self._repeat_an_earlier_one()
        self._repeat_in_other_worlds(call)
        self._remember(call)
        return result

    def _remember(self, call: _Call) -> None:
        if len(self._past) < _REMEMBERED:
            self._past.append(call)
        self._checks += 1
        self.left -= 1
        if not self.left:
            self._seen.clear()
            self._past.clear()

    def _read(self, result: Any) -> Any:
        """Return what counts in a result: of a predicate's only whether it holds."""
        return bool(result) if self._is_predicate else result

    def _is_of_expected_type(self, result: Any) -> bool:
        if self._is_predicate or self._name == "initial":
            return True
        return isinstance(result, Step) or (result is None and self._name == "timeout")

    def _compare_arguments(self, before: tuple[str, ...], args: Args) -> None:
        for name, old, arg in zip(self._parameters, before, args, strict=True):
            new = _text(arg)
            if new != old:
                raise self._error(
                    before,
                    f"changed its argument {name!r}, which was {old} and is now {new}; leave "
                    "arguments alone and build a new value (attrs.evolve)",
                )

    def _inspect(self, shown: tuple[str, ...], result: Any) -> None:
        """Check that the values in `result` can be parts of a state."""
        if self._is_predicate:
            return
        path = "state" if self._name == "initial" else ""
        fault = _unusable(result, path, self._memory.classes)
        if fault is not None:
            error = self._error(shown, f"returned a value that cannot be used: {fault}")
            # What plain Python refuses, too, is shown with the run that leads there.
            raise HandlerError(str(error)) if _is_refused(result) else error
        for at, value in _components(result):
            known, text = self._memory.known(value)
            if known is not value and canonical(value) != text:
                where, old, new = _difference(known, value, at)
                raise self._error(
                    shown,
                    f"returned a value that is equal to an earlier one but not the same: {where} "
                    f"is {new} and was {old}; use one of the two throughout",
                )

    def _repeat(self, call: _Call) -> None:
        """Call the same function on copies of the arguments; often if it drew random numbers."""
        for _ in range(_DRAWS if call.drew else 1):
            again = self._run(self.handler, _copied(call.args))
            if again.text != call.outcome.text:
                raise self._error(call.shown, self._why_not_again(call, again))

    def _repeat_an_earlier_one(self) -> None:
        """Call the same function as some calls ago: something else may have changed since."""
        if not self._past:
            return
        call = self._past[self._checks // 2 % len(self._past)]
        again = self._run(self.handler, call.args)
        if again.text != call.outcome.text:
            raise self._error(
                call.shown,
                "returned another result when it was called with the same arguments later: "
                f"{_contrast(call.outcome, again)}{self._suspect(call)}; "
                "let it depend on nothing but its arguments",
            )

    def _repeat_in_other_worlds(self, call: _Call) -> None:
        for world in self._memory.worlds:
            other = self._run_in(world, call)
            if other.text != call.outcome.text and not _is_artefact(other):
                raise self._error(call.shown, self._twist_that_matters(world, call, other))

    def _run(self, handler: Callable[..., Any], args: Args) -> _Outcome:
        return _outcome(lambda: self._read(handler(*args)))

    def _run_in(self, world: _World, call: _Call) -> _Outcome:
        return self._run(world.value(self.handler), world.copied(call.args))

    def _why_not_again(self, call: _Call, again: _Outcome) -> str:
        """Say why a call on copies of the arguments ended otherwise: try the very same ones."""
        for _ in range(_DRAWS):
            same = self._run(self.handler, call.args)
            if same.text != call.outcome.text:
                return (
                    "returned different results for the same arguments: "
                    f"{_contrast(call.outcome, same)}{self._suspect(call)}; "
                    "let it depend on nothing but its arguments"
                )
        orders = (self._memory.world(order, ["order"]) for order in _ORDERS)
        if len({self._run_in(world, call).text for world in orders}) > 1:
            # A copy of a set may happen to iterate in another order than the set.
            return _TWISTS["order"].format(contrast=_contrast(call.outcome, again))
        return (
            "depends on the identity of objects: on equal copies of its arguments, "
            f"{_contrast(call.outcome, again)}; compare with == instead of `is`; do without id()"
        )

    def _suspect(self, call: _Call) -> str:
        """Name what the result may depend on, best of all a variable that one more call changes."""
        world = self._memory.world(list)
        world.value(self.handler)
        before = {name: repr(value) for name, value in world.variables().items()}
        self._run(self.handler, call.args)
        after = {name: repr(value) for name, value in world.variables().items()}
        changed = [f"{n} from {before[n]} to {after[n]}" for n in before if before[n] != after[n]]
        mutable = [name for name, value in world.variables().items() if _hash_fault(value, name)]
        if changed:
            return f"; a call changes the variable {', '.join(changed)}"
        if call.drew:
            return "; it draws from the module random"
        if mutable:
            return f"; it uses the variable {', '.join(mutable)}, which can change"
        return " (it may use randomness, the clock or a variable that outlives the call)"

    def _twist_that_matters(self, world: _World, call: _Call, other: _Outcome) -> str:
        for twist, sentence in _TWISTS.items():
            single = self._run_in(self._memory.world(world.order, [twist]), call)
            if single.text != call.outcome.text and not _is_artefact(single):
                return sentence.format(contrast=_contrast(call.outcome, single))
        return (
            "depends on more than the values of its arguments (the order of a set, hash(), id() "
            f"or the clock): {_contrast(call.outcome, other)}"
        )

    def _error(self, shown: tuple[str, ...], fault: str) -> ProtocolError:
        where = f"{self._title} of protocol {self._memory.protocol.name!r}"
        return ProtocolError(f"{where} {fault}; it was called as {self._name}({', '.join(shown)})")


def _text(value: Any) -> str:
    try:
        return canonical(value)
    except ProtocolError:
        return repr(value)


def _is_refused(result: Any) -> bool:
    try:
        for at, value in _components(result):
            Values().kept(value, at)
    except ProtocolError:
        return True
    return False


def _components(result: Any) -> Iterator[tuple[str, Any]]:
    """Yield the values in a handler's result that the checker identifies by equality."""
    if not isinstance(result, Step):
        yield "state", result
        return
    yield "state", result.state
    for at, send in enumerate(result.sends if isinstance(result.sends, tuple) else ()):
        yield f"sends[{at}]", send


def _contrast(first: _Outcome, other: _Outcome) -> str:
    if other.raised:
        return f"it returned {first.text} and then {other.text}"
    where, old, new = _difference(first.value, other.value)
    return f"{where or 'the result'} was {old} and then {new}"


def _difference(first: Any, other: Any, path: str = "") -> tuple[str, str, str]:
    """Return where two values first differ, and their canonical texts there."""
    if type(first) is type(other):
        for (at, one), (_, two) in zip(_children(first), _children(other), strict=False):
            if _text(one) != _text(two):
                return _difference(one, two, (path + at).lstrip("."))
    return path, _text(first), _text(other)


@functools.lru_cache(maxsize=1024)
def _names_in(cls: type) -> tuple[str, ...] | None:
    return tuple(field.name for field in attrs.fields(cls)) if attrs.has(cls) else None


def _field_names(value: object) -> tuple[str, ...] | None:
    """Return the names of the fields of a value of an attrs class, None for another value."""
    cls: Any = type(value)
    return _names_in(cls)


def _children(value: Any) -> Iterator[tuple[str, Any]]:
    """Yield the fields of an attrs value, or the elements of a tuple, with their access path."""
    if (names := _field_names(value)) is not None:
        for name in names:
            yield f".{name}", getattr(value, name)
    elif isinstance(value, tuple):
        for at, element in enumerate(value):
            yield f"[{at}]", element


# Values: immutable, hashable, equal only if all fields are.

_BETTER = {
    list: "a tuple",
    collections.deque: "a tuple",
    set: "a frozenset",
    dict: "a tuple of pairs",
    bytearray: "bytes",
}


def _unusable(value: Any, path: str, usable: set[type] | None = None) -> str | None:
    """Return what is wrong with `value` or a part of it, or None; `usable` classes are not judged.

    `path` is how the value is reached, as in `state.held_back[1]`.
    """
    usable = set() if usable is None else usable
    if isinstance(value, tuple(_BETTER)):
        better = next(better for cls, better in _BETTER.items() if isinstance(value, cls))
        return f"{path} is a {type(value).__name__}; use {better}"
    for at, part in _parts(value):
        fault = _unusable(part, (path + at).lstrip("."), usable)
        if fault is not None:
            return fault
    if type(value) not in usable and _field_names(value) is not None:
        fault = _class_fault(value)
        if fault is not None:
            return f"{path or 'the result'} is of a class that cannot be used: {fault}"
        usable.add(type(value))
    return _hash_fault(value, path) if _is_made_of_parts(value) else _atom_fault(value, path)


def _is_made_of_parts(value: Any) -> bool:
    return _field_names(value) is not None or isinstance(value, (tuple, frozenset, Mapping))


def _parts(value: Any) -> Iterator[tuple[str, Any]]:
    yield from _children(value)
    if isinstance(value, frozenset):
        yield from (("{…}", element) for element in value)
    elif isinstance(value, Mapping):
        for key, content in value.items():
            yield "{…}", key
            yield f"[{key!r}]", content


def _atom_fault(value: Any, path: str) -> str | None:
    try:
        canonical(value)
    except ProtocolError as error:
        return f"{path}: {error}"
    return None if _equal(value, value) else f"{path} is {value!r}, which is not equal to itself"


def _hash_fault(value: Any, path: str) -> str | None:
    try:
        hash(value)
    except TypeError as error:
        return f"{path} cannot be hashed ({error}); use frozen attrs classes, tuples, frozensets"
    return None


def _class_fault(value: Any) -> str | None:
    """Return what is wrong with the attrs class of `value`, found out on copies of it."""
    cls, twin = type(value).__name__, _twin(value)
    if twin is None:
        return None
    names = _field_names(value) or ()
    if any(_can_set(twin, name) for name in names):
        return f"class {cls} is not frozen, its fields can be set; declare it with @attrs.frozen"
    if not _equal(twin, value):
        return f"equality of class {cls} is that of objects, not of values; leave out eq=False"
    for name in names:
        if _ignores(value, name):
            return (
                f"equality of class {cls} leaves out field {name!r}; states that differ in it "
                "would be taken for one"
            )
    if type(value).__hash__ is not None and _hashes_differ(twin, value):
        return f"the hash of class {cls} differs for equal values; leave __hash__ to attrs"
    return None


def _twin(value: Any) -> Any:
    """Return another object like the attrs value, or None where none can be made."""
    try:
        twin = copy.copy(value)
    except Exception:
        return None
    return twin if twin is not value and type(twin) is type(value) else None


def _can_set(twin: Any, name: str) -> bool:
    try:
        setattr(twin, name, getattr(twin, name))
    except Exception:
        return False
    return True


def _equal(one: Any, other: Any) -> bool:
    return bool(one == other)


def _ignores(value: Any, name: str) -> bool:
    """Is the value equal to a copy with, in one field, an object that nothing is equal to?"""
    twin = _twin(value)
    object.__setattr__(twin, name, object())
    try:
        return _equal(twin, value)
    except Exception:
        return False  # so equality looks at the field


def _hashes_differ(one: Any, other: Any) -> bool:
    try:
        return hash(one) != hash(other)
    except TypeError:
        return False  # a part is to blame, and will be


def _copied(value: Any, scrambled: Callable[[Iterable[Any]], Any] | None = None) -> Any:
    """Return an equal value of new objects; atoms, and what cannot be copied, stay as they are.

    With `scrambled`, a stand-in for `frozenset`, sets and mappings iterate in another order.
    """
    if (names := _field_names(value)) is not None:
        twin = _twin(value)
        if twin is None:
            return value
        for name in names:
            object.__setattr__(twin, name, _copied(getattr(value, name), scrambled))
        return twin
    if isinstance(value, tuple):
        elements = [_copied(element, scrambled) for element in value]
        if type(value) is tuple:
            return tuple(elements)
        return value._make(elements) if hasattr(value, "_make") else value
    if type(value) is frozenset:
        return (scrambled or frozenset)(_copied(element, scrambled) for element in value)
    if scrambled is not None and isinstance(value, Mapping):
        return _reversed_mapping(value)
    return value


def _reversed_mapping(value: Mapping[Any, Any]) -> Any:
    """Return the mapping with its keys inserted in the opposite order."""
    try:
        twin = type(value)(dict(reversed(list(value.items()))))  # type: ignore[call-arg]
        return twin if twin == value else value
    except Exception:
        return value


# Worlds: the same program, where what must not matter is otherwise.

_ORDERS: tuple[Order, ...] = (
    list,
    lambda elements: elements[::-1],
    lambda elements: elements[1:] + elements[:1],
)
"""Orders of iteration, applied to the canonical one.

The first two are opposite, so each pair of elements is met both ways round whatever the order of
the plain set; the third moves the middle element too.
"""

_TWISTS = {
    "order": (
        "depends on the order in which a set or mapping is iterated, which is no part of its "
        "value: in another order, {contrast}; sort it first, or keep a tuple"
    ),
    "hash": (
        "depends on hash(), which differs from process to process for strings: with other "
        "hashes, {contrast}; use the value itself"
    ),
    "id": (
        "depends on id(), which is no part of a value: with other ids, {contrast}; use the value "
        "itself"
    ),
    "clock": "depends on the clock: at another time, {contrast}; use a timeout of the protocol",
}
"""What a world changes, and what to say of a handler that notices."""

_ARTEFACTS = (TypeError, AttributeError, NameError, ImportError, RecursionError)


def _is_artefact(outcome: _Outcome) -> bool:
    """May the world itself have raised this, a stand-in not being quite like the original?"""
    return outcome.raised and isinstance(outcome.value, _ARTEFACTS)


class _World:
    """Clones of functions, and of all user functions they reach, with other built-ins.

    Variables are copied, so that nothing done in a world is seen outside.

    Attributes:
        order: how sets iterate.
    """

    def __init__(self, order: Order, twists: frozenset[str], homes: frozenset[str]) -> None:
        self.order = order
        self._homes = homes
        self._twists = twists
        self._clones: dict[int, tuple[Any, Any]] = {}
        self._scopes: dict[int, tuple[dict[str, Any], dict[str, Any], set[str]]] = {}
        self._builtins = dict(vars(builtins))
        self._set: Any = set
        self._frozenset: Any = frozenset
        if "order" in twists:
            self._set, self._frozenset = _scrambled(set, order), _scrambled(frozenset, order)
        self._builtins |= {"set": self._set, "frozenset": self._frozenset, _SET: self._set}
        if "hash" in twists:
            self._builtins["hash"] = _other_hash
        if "id" in twists:
            self._builtins["id"] = lambda value: ~id(value)

    def copied(self, args: Args) -> Args:
        """Return equal arguments whose sets iterate in this world's order."""
        if "order" not in self._twists:
            return args
        copies: Args = _copied(args, self._frozenset)
        return copies

    def variables(self) -> dict[str, Any]:
        """Return the module variables that cloned functions use, as they are outside."""
        found = {
            name: original[name]
            for original, _, names in self._scopes.values()
            for name in names & original.keys()
            if not callable(original[name]) and not isinstance(original[name], ModuleType)
        }
        return dict(sorted(found.items()))

    def value(self, value: Any) -> Any:
        """Return this world's version of a value found in a variable."""
        if id(value) in self._clones:
            return self._clones[id(value)][1]
        make = _CLONERS.get(type(value))
        return value if make is None else make(self, value)

    def lookup(self, scope: dict[str, Any], name: str) -> Any:
        """Return this world's version of a module variable; make it on first use."""
        original, clone, names = self._scope(scope)
        if name not in names:
            names.add(name)
            clone[name] = self.value(original[name])
        return clone[name]

    def assign(self, scope: dict[str, Any], name: str, value: Any) -> None:
        """Set a module variable in this world only."""
        _, clone, names = self._scope(scope)
        names.add(name)
        clone[name] = value

    def _scope(self, scope: dict[str, Any]) -> tuple[dict[str, Any], dict[str, Any], set[str]]:
        if id(scope) not in self._scopes:
            clone = {**scope, "__builtins__": self._builtins}
            self._scopes[id(scope)] = (scope, clone, set())
        return self._scopes[id(scope)]

    def _kept(self, value: Any, clone: Any) -> Any:
        """Remember the clone; holding the original keeps its id from being used again."""
        self._clones[id(value)] = (value, clone)
        return clone

    def _is_users(self, scope: dict[str, Any]) -> bool:
        """Is the module with these variables the user's, as against a library's or ours?"""
        top = _top(scope)
        if top in self._homes:
            return True
        parts = Path(str(scope.get("__file__", ""))).parts
        installed = "site-packages" in parts or "dist-packages" in parts
        return not installed and top != "checker" and top not in sys.stdlib_module_names

    def _function(self, function: FunctionType) -> Any:
        if not self._is_users(function.__globals__):
            return self._kept(function, function)
        code = _with_set_calls(function) if "order" in self._twists else function.__code__
        clone = FunctionType(
            code,
            self._scope(function.__globals__)[1],
            function.__name__,
            None,
            tuple(map(self.value, function.__closure__ or ())),
        )
        self._kept(function, clone)
        clone.__defaults__ = self.value(function.__defaults__)
        clone.__kwdefaults__ = self.value(function.__kwdefaults__)
        vars(clone).update(self.value(vars(function)))
        for name in _names(function.__code__) & function.__globals__.keys():
            self.lookup(function.__globals__, name)
        return clone

    def _cell(self, cell: CellType) -> CellType:
        clone: CellType = self._kept(cell, CellType())
        try:
            content = cell.cell_contents
        except ValueError:
            return clone  # not assigned yet
        clone.cell_contents = self.value(content)
        return clone

    def _cached(self, function: Any) -> Any:
        clone = self.value(function.__wrapped__)
        return self._kept(function, functools.lru_cache(**function.cache_parameters())(clone))

    def _partial(self, partial: functools.partial[Any]) -> Any:
        args, keywords = map(self.value, partial.args), self.value(partial.keywords)
        return self._kept(partial, functools.partial(self.value(partial.func), *args, **keywords))

    def _method(self, method: MethodType) -> Any:
        return MethodType(self.value(method.__func__), method.__self__)

    def _module(self, module: ModuleType) -> Any:
        if module is not time and not self._is_users(vars(module)):
            return module
        return self._kept(module, _ModuleView(self, module))

    def _clock(self, function: BuiltinFunctionType) -> Any:
        ahead = _CLOCKS.get(function) if "clock" in self._twists else None
        return function if ahead is None else lambda: function() + ahead

    def _tuple(self, value: tuple[Any, ...]) -> tuple[Any, ...]:
        return tuple(map(self.value, value))

    def _list(self, value: list[Any]) -> list[Any]:
        clone: list[Any] = self._kept(value, [])
        clone.extend(map(self.value, value))
        return clone

    def _dict(self, value: dict[Any, Any]) -> dict[Any, Any]:
        clone: dict[Any, Any] = self._kept(value, {})
        clone.update((key, self.value(content)) for key, content in value.items())
        return clone

    def _plain_copy(self, value: Any) -> Any:
        return self._kept(value, copy.copy(value))


_CLONERS: dict[type, Callable[[_World, Any], Any]] = {
    FunctionType: _World._function,
    CellType: _World._cell,
    type(functools.lru_cache(len)): _World._cached,
    functools.partial: _World._partial,
    MethodType: _World._method,
    ModuleType: _World._module,
    BuiltinFunctionType: _World._clock,
    tuple: _World._tuple,
    list: _World._list,
    dict: _World._dict,
    set: lambda world, value: world._kept(value, world._set(value)),
    frozenset: lambda world, value: world._kept(value, world._frozenset(value)),
    collections.OrderedDict: _World._plain_copy,
    collections.defaultdict: _World._plain_copy,
    collections.deque: _World._plain_copy,
}
"""How to make a world's version of a value, by its exact type; all others are left alone."""

_AHEAD = 1_000_001
"""Seconds by which clocks differ: odd, and more than a day."""

_CLOCKS: dict[Any, int] = {
    **dict.fromkeys([time.time, time.monotonic, time.perf_counter, time.process_time], _AHEAD),
    **dict.fromkeys([time.time_ns, time.monotonic_ns, time.perf_counter_ns], _AHEAD * 10**9),
}


class _ModuleView:
    """A module as a world sees it."""

    def __init__(self, world: _World, module: ModuleType) -> None:
        vars(self).update(_world=world, _module=module)

    def __getattr__(self, name: str) -> Any:
        scope = vars(self._module)
        return self._world.lookup(scope, name) if name in scope else getattr(self._module, name)

    def __setattr__(self, name: str, value: Any) -> None:
        self._world.assign(vars(self._module), name, value)


def _top(scope: Mapping[str, Any]) -> str:
    """Return the top-level package of the module with these variables."""
    return str(scope.get("__name__", "")).partition(".")[0]


def _names(code: CodeType) -> set[str]:
    """Return the global names that `code` and the functions in it may use."""
    return {name for each in _codes(code) for name in each.co_names}


def _codes(code: CodeType) -> Iterator[CodeType]:
    yield code
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from _codes(constant)


def _other_hash(value: Any) -> int:
    """Return the hash, or another number where it may differ between processes."""
    return hash(value) if _is_numbers(value) else ~hash(value)


def _is_numbers(value: Any) -> bool:
    if isinstance(value, (int, float)):
        return True
    if isinstance(value, (tuple, frozenset)):
        return all(map(_is_numbers, value))
    known = _field_names(value) is not None
    return known and all(_is_numbers(part) for _, part in _children(value))


class _Scrambled(type):
    """Class of the stand-ins for `set` and `frozenset`, of which the plain ones are instances."""

    def __instancecheck__(cls, value: object) -> bool:
        return isinstance(value, cls.__mro__[1])

    def __subclasscheck__(cls, other: type) -> bool:
        return issubclass(other, cls.__mro__[1])


_OPERATORS = ("or", "and", "sub", "xor")
_MAKING_SETS = (
    *("copy", "union", "intersection", "difference", "symmetric_difference"),
    *(f"__{operator}__" for operator in _OPERATORS),
    *(f"__r{operator}__" for operator in _OPERATORS),
)


def _scrambled(base: Any, order: Order) -> Any:
    """Return a subclass of `set` or `frozenset` that iterates in `order` and gives its like."""

    def ordered(self: Any) -> list[Any]:
        elements = list(base.__iter__(self))
        try:
            return order(sorted(elements, key=canonical))
        except ProtocolError:
            return order(elements)

    def closed(name: str) -> Callable[..., Any]:
        plain = getattr(base, name)

        def operation(self: Any, *others: Any) -> Any:
            result = plain(self, *others)
            return result if result is NotImplemented else cls(result)

        return operation

    def pop(self: Any) -> Any:
        if not self:
            raise KeyError("pop from an empty set")
        first = ordered(self)[0]
        self.remove(first)
        return first

    def text(self: Any) -> str:
        inner = ", ".join(map(repr, ordered(self)))
        shown = f"{{{inner}}}" if inner else ""
        return shown if inner and base is set else f"{base.__name__}({shown})"

    body: dict[str, Any] = {name: closed(name) for name in _MAKING_SETS}
    body |= {"__iter__": lambda self: iter(ordered(self)), "__repr__": text, "__slots__": ()}
    if base is set:
        body["pop"] = pop
    cls: Any = _Scrambled(base.__name__, (base,), body)
    return cls


# Set displays and comprehensions do not look up the name `set`; in recompiled source they do.

_SET = "@set"
"""The built-in name that set displays call; no identifier of the user's."""


class _SetCalls(ast.NodeTransformer):
    """Turns `{a, b}` and `{x for …}` into calls of _SET with a list."""

    def visit_Set(self, node: ast.Set) -> ast.AST:
        self.generic_visit(node)
        return self._call(node, ast.List(node.elts, ast.Load()))

    def visit_SetComp(self, node: ast.SetComp) -> ast.AST:
        self.generic_visit(node)
        return self._call(node, ast.ListComp(node.elt, node.generators))

    def _call(self, node: ast.expr, elements: ast.expr) -> ast.AST:
        call = ast.Call(ast.Name(_SET, ast.Load()), [elements], [])
        return ast.fix_missing_locations(ast.copy_location(call, node))


def _with_set_calls(function: FunctionType) -> CodeType:
    """Return the function's code with set displays as calls, or as it is if its source is lost."""
    code = function.__code__
    linecache.checkcache(code.co_filename)
    source = "".join(linecache.getlines(code.co_filename, function.__globals__))
    return _recompiled(source, code.co_filename).get(_identity(code), code)


@functools.lru_cache(maxsize=64)
def _recompiled(source: str, filename: str) -> dict[Any, CodeType]:
    """Return the code of each function of a module with set displays as calls, by `_identity`."""
    try:
        tree = ast.parse(source, filename)
        plain = compile(tree, filename, "exec", dont_inherit=True)
        changed = compile(_SetCalls().visit(tree), filename, "exec", dont_inherit=True)
        pairs = zip(_codes(plain), _codes(changed), strict=True)
        return {_identity(before): after for before, after in pairs}
    except (SyntaxError, ValueError):
        return {}


def _identity(code: CodeType) -> tuple[Any, ...]:
    """Return what tells a function of one source from all others; a file may have changed since."""
    constants = tuple(repr(c) for c in code.co_consts if not isinstance(c, CodeType))
    place = (code.co_qualname, code.co_firstlineno)
    return (*place, code.co_code, code.co_names, code.co_varnames, constants)
