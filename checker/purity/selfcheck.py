"""Self-check: tests whether the handlers of a protocol are deterministic and pure.

The checker calls a handler once per distinct arguments and caches the result. So a handler that
depends on anything else makes every verdict worthless. `watched` wraps a protocol. Each distinct
call, up to a limit, is then repeated in changed circumstances:

* The function is called again on equal copies of the arguments, and an earlier call is repeated.
  This finds randomness, the clock, variables that outlive a call, and the identity of objects.
* Clones of the function are called in a few worlds (`World`) where sets iterate in another order,
  and `hash`, `id` and the clock return other values.

All results must have one canonical text, and the arguments must keep theirs. Returned values must
be immutable, hashable, and equal only if all their fields are equal.

A fault can be missed, for example in methods of the user's classes, which are not cloned. Every
reported fault was observed.
"""

from __future__ import annotations

import functools
import math
import random
from collections.abc import Callable, Iterable, Iterator, Mapping
from types import FunctionType
from typing import Any, TypeAlias

import attrs

from antecede.checker.errors import AdapterError, HandlerError, ProtocolError, unknown
from antecede.checker.model import Protocol, Step
from antecede.checker.purity.usable import (
    copied,
    difference,
    for_people,
    hash_fault,
    text_of,
    unusable,
)
from antecede.checker.purity.worlds import ORDERS, TWISTS, Order, World, top_package
from antecede.checker.semantics.values import Values, stands_for_another

MODES = {
    "on": "check the first distinct calls of each handler, up to a limit",
    "all": "check every distinct call",
    "off": "check nothing",
}

LIMIT = 1000
"""The number of distinct calls of each handler that mode `on` checks."""

_REMEMBERED = 10_000
"""The greatest number of calls kept for repetitions. It bounds the memory of mode `all`."""

_DRAWS = 64
"""Repetitions of a call that drew from `random`. A fair coin is missed with probability 2^-64."""

Args: TypeAlias = tuple[Any, ...]

_PARAMETERS = {
    "initial": ("actor", "actors"),
    "causal_send": ("state", "message"),
    "receive": ("state", "src", "packet"),
    "timeout": ("state",),
    "in_flight": ("actor", "actors"),
}


def watched(protocol: Protocol, mode: str = "on", limit: int = LIMIT) -> Protocol:
    """Return `protocol` with handlers and predicates that check themselves as they are called.

    Args:
        mode: one of MODES.
        limit: the number of distinct calls per handler that `on` checks; later calls cost one test.

    Raises:
        InputError: there is no such mode.
    """
    if mode not in MODES:
        raise unknown("self-check mode", mode, MODES)
    if mode == "off":
        return protocol
    memory = _Memory(protocol)
    budget = math.inf if mode == "all" else limit

    def each(kind: str, given: Mapping[str, Callable[..., Any]]) -> dict[str, Any]:
        return {name: _Watch(memory, one, kind, name, budget) for name, one in given.items()}

    return attrs.evolve(
        protocol,
        **each("handler", _handlers(protocol)),
        actions=each("action", protocol.actions),
        invariants=each("invariant", protocol.invariants),
        joint_invariants=each("invariant", protocol.joint_invariants),
        witnesses=each("witness", protocol.witnesses),
        joint_witnesses=each("witness", protocol.joint_witnesses),
    )


def _handlers(protocol: Protocol) -> dict[str, Callable[..., Any]]:
    functions = {name: getattr(protocol, name) for name in _PARAMETERS}
    return {name: handler for name, handler in functions.items() if handler is not None}


class _Memory:
    """The shared state of the watches of one protocol.

    Attributes:
        values: states and sends returned so far.
        classes: attrs classes found to be usable.
    """

    def __init__(self, protocol: Protocol) -> None:
        self.protocol = protocol
        self.values = Values()
        self.classes: set[type] = set()

    @functools.cached_property
    def worlds(self) -> tuple[World, ...]:
        """One world per order of iteration."""
        return tuple(self.world(order) for order in ORDERS)

    def world(self, order: Order, twists: Iterable[str] | None = None) -> World:
        """Return a new world, by default with all twists."""
        homes = {
            top_package(handler.__globals__)
            for handler in (*_handlers(self.protocol).values(), *self.protocol.actions.values())
            if isinstance(handler, FunctionType)
        }
        return World(order, frozenset(TWISTS if twists is None else twists), frozenset(homes))


@attrs.frozen(eq=False)
class _Outcome:
    """The outcome of one trial of a call: a value, or the text of an exception."""

    text: str
    value: Any
    raised: bool = False


def _outcome(run: Callable[[], Any]) -> _Outcome:
    try:
        value = run()
        return _Outcome(text_of(value), value)
    except (KeyboardInterrupt, AdapterError):
        raise
    except BaseException as error:
        return _Outcome(f"raised {type(error).__name__}: {error}", error, raised=True)


@attrs.frozen(eq=False)
class _Call:
    """A distinct call and its outcome.

    Attributes:
        shown: their texts for people before the call.
        outcome: the outcome of the first trial.
        drew: whether the call drew numbers from the module `random`.
    """

    args: Args
    shown: tuple[Any, ...]
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
        self._is_predicate = kind not in ("handler", "action")
        self._is_optional = kind == "action" or name == "timeout"
        self._title = name if kind == "handler" else f"{kind} {name!r}"
        self._parameters = _PARAMETERS[name] if kind == "handler" else ("state",)
        self._makes_step = not self._is_predicate and (
            kind == "action" or name not in ("initial", "in_flight")
        )
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
            fault = next(filter(None, map(unusable, args, self._parameters)), "not hashable")
            raise self._error(
                tuple(map(text_of, args)), f"was given a bad value: {fault}"
            ) from None
        return len(self._seen) > known

    def _check(self, args: Args) -> Any:
        """Call the handler on new arguments, and check its result and its purity.

        Raises:
            ProtocolError: the handler is not a pure function, or returned an unusable value.
                Exceptions of the handler itself pass through.
        """
        before = tuple(map(text_of, args))
        luck = random.getstate()
        result = self.handler(*args)
        drew = random.getstate() != luck
        self._compare_arguments(before, args)
        if not self._is_of_expected_type(result):
            return result  # for the caller to report
        # Stand-ins for real objects cannot change, and errors alone need their text.
        shown = tuple(
            arg if stands_for_another(arg) else text for arg, text in zip(args, before, strict=True)
        )
        self._inspect(shown, result)
        value = self._read(result)
        call = _Call(args, shown, _Outcome(text_of(value), value), drew)
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
        """Return the relevant part of a result: a bool for a predicate."""
        return bool(result) if self._is_predicate else result

    def _is_of_expected_type(self, result: Any) -> bool:
        if not self._makes_step:
            return True
        return isinstance(result, Step) or (result is None and self._is_optional)

    def _compare_arguments(self, before: tuple[str, ...], args: Args) -> None:
        for name, old, arg in zip(self._parameters, before, args, strict=True):
            new = text_of(arg)
            if new != old:
                raise self._error(
                    before,
                    f"changed its argument {name!r}, which was {old} and is now {new}; leave "
                    "arguments alone and build a new value (attrs.evolve or dataclasses.replace)",
                )

    def _inspect(self, shown: tuple[Any, ...], result: Any) -> None:
        """Check that the values in `result` can be parts of a state."""
        if self._is_predicate:
            return
        path = "" if self._makes_step else "packets" if self._name == "in_flight" else "state"
        fault = unusable(result, path, self._memory.classes)
        fault = fault or _refusal(result, self._memory.values)
        if fault is not None:
            error = self._error(shown, f"returned a value that cannot be used: {fault}")
            # If plain Python refuses the value, too, the report shows the run that leads there.
            raise error if _refusal(result, Values()) is None else HandlerError(str(error))

    def _repeat(self, call: _Call) -> None:
        """Call the same function on copies of the arguments; often if it drew random numbers."""
        for _ in range(_DRAWS if call.drew else 1):
            again = self._run(self.handler, copied(call.args))
            if again.text != call.outcome.text:
                raise self._error(call.shown, self._why_not_again(call, again))

    def _repeat_an_earlier_one(self) -> None:
        """Repeat an earlier call, because state outside the function may have changed since."""
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

    def _run_in(self, world: World, call: _Call) -> _Outcome:
        return self._run(world.value(self.handler), world.copied(call.args))

    def _why_not_again(self, call: _Call, again: _Outcome) -> str:
        """Return the reason for another outcome on copies of the arguments.

        The call is repeated with the original arguments to find it.
        """
        for _ in range(_DRAWS):
            same = self._run(self.handler, call.args)
            if same.text != call.outcome.text:
                return (
                    "returned different results for the same arguments: "
                    f"{_contrast(call.outcome, same)}{self._suspect(call)}; "
                    "let it depend on nothing but its arguments"
                )
        orders = (self._memory.world(order, ["order"]) for order in ORDERS)
        if len({self._run_in(world, call).text for world in orders}) > 1:
            # A copy of a set may happen to iterate in another order than the set.
            return TWISTS["order"].format(contrast=_contrast(call.outcome, again))
        return (
            "depends on the identity of objects: on equal copies of its arguments, "
            f"{_contrast(call.outcome, again)}; compare with == instead of `is`; do without id()"
        )

    def _suspect(self, call: _Call) -> str:
        """Return a likely cause of the difference, preferably a variable that a call changes."""
        world = self._memory.world(list)
        world.value(self.handler)
        before = {name: repr(value) for name, value in world.variables().items()}
        self._run(self.handler, call.args)
        after = {name: repr(value) for name, value in world.variables().items()}
        changed = [f"{n} from {before[n]} to {after[n]}" for n in before if before[n] != after[n]]
        mutable = [name for name, value in world.variables().items() if hash_fault(value, name)]
        if changed:
            return f"; a call changes the variable {', '.join(changed)}"
        if call.drew:
            return "; it draws from the module random"
        if mutable:
            return f"; it uses the variable {', '.join(mutable)}, which can change"
        return " (it may use randomness, the clock or a variable that outlives the call)"

    def _twist_that_matters(self, world: World, call: _Call, other: _Outcome) -> str:
        for twist, sentence in TWISTS.items():
            single = self._run_in(self._memory.world(world.order, [twist]), call)
            if single.text != call.outcome.text and not _is_artefact(single):
                return sentence.format(contrast=_contrast(call.outcome, single))
        return (
            "depends on more than the values of its arguments (the order of a set, hash(), id() "
            f"or the clock): {_contrast(call.outcome, other)}"
        )

    def _error(self, shown: tuple[Any, ...], fault: str) -> ProtocolError:
        where = f"{self._title} of protocol {self._memory.protocol.name!r}"
        return ProtocolError(
            f"{where} {fault}; it was called as {self._name}({', '.join(map(str, shown))})"
        )


def _refusal(result: Any, values: Values) -> str | None:
    """Return the reason why plain Python refuses a result after earlier values, or None."""
    try:
        for at, value in _components(result):
            values.kept(value, at)
    except ProtocolError as error:
        return str(error)
    return None


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
        return f"it returned {for_people(first.value)} and then {other.text}"
    where, old, new = difference(first.value, other.value)
    return f"{where or 'the result'} was {old} and then {new}"


_ARTEFACTS = (TypeError, AttributeError, NameError, ImportError, RecursionError)


def _is_artefact(outcome: _Outcome) -> bool:
    """Return whether the exception may be an artefact of the world's stand-ins."""
    return outcome.raised and isinstance(outcome.value, _ARTEFACTS)
