"""Self-check: tests whether the handlers of a protocol are deterministic and pure.

The checker calls a handler once per distinct arguments and caches the result. So a handler that
depends on anything else makes every verdict worthless. `watched` wraps a protocol. The first
distinct calls of each function, and a sample of all later calls, are then repeated in changed
circumstances:

* The function is called again on equal copies of the arguments. This finds randomness, variables
  that outlive a call, and the identity of objects.
* Clones of the function are called in a few worlds (`World`) where sets iterate in another order,
  and `hash` and `id` return other values.

All results must have one canonical text, and the arguments must keep theirs. Returned values must
be immutable, hashable, and equal only if all their fields are equal. A call that reads a clock, or
changes a file, is refused (`Effects`). After a search, `repeat_afresh` and `look_back` repeat some
of the checked calls, in new processes without earlier calls and in this one.

A fault can be missed, for example if only few of the later calls show it. Every reported fault was
observed.
"""

from __future__ import annotations

import functools
import math
import operator
import random
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from types import FunctionType
from typing import Any, TypeAlias

import attrs

from antecede.checker.model import Property, Protocol, Step, When
from antecede.checker.purity.effects import Effects, RefusedCall, listen, top_package
from antecede.checker.purity.usable import (
    Usable,
    copied,
    difference,
    for_people,
    has_order,
    hash_fault,
    text_in_any_process,
    text_of,
    unusable,
)
from antecede.checker.purity.worlds import ORDERS, TWISTS, Order, World
from antecede.checker.semantics import tracing
from antecede.checker.semantics.handlers import end_copy, owned
from antecede.checker.semantics.limits import AnyLimit, Constraint, Limit
from antecede.checker.semantics.values import Values, same, stands_for_another
from antecede.checker.support import interrupts
from antecede.checker.support.errors import AdapterError, HandlerError, ProtocolError, check_known
from antecede.checker.support.streams import printing_to_stderr

MODES = {
    "on": "check the first distinct calls of each handler, and a sample of later ones",
    "all": "check every distinct call",
    "off": "check nothing",
}

FIRST, FIRST_JUDGED = 200, 100
"""The number of distinct calls of each handler, and of each predicate, that mode `on` checks all.

There are more predicates than handlers, and each of them is called on the same states.
"""

GAP = 50
"""Later, the gap between two checked calls is a GAPth of the calls so far, on average.

So some 35 of the calls from the nth to the 2nth are checked, however many calls there are. Each of
them is repeated in one of the worlds only, in turn.
"""

_REMEMBERED = 10_000
"""The greatest number of calls kept for repetitions. It bounds the memory of mode `all`."""

_LOOKED_BACK = 32
"""The number of calls of each function that `look_back` repeats."""

_DRAWS = 64
"""Repetitions of a call that drew from `random`. A fair coin is missed with probability 2^-64."""

_ADVICE = (
    "let it depend on nothing but its arguments, change nothing, and use a timeout of the protocol "
    "to wait"
)

Args: TypeAlias = tuple[Any, ...]

_PARAMETERS = {
    "initial": ("actor", "actors"),
    "causal_send": ("state", "message"),
    "receive": ("state", "src", "packet"),
    "timeout": ("state",),
    "in_flight": ("actor", "actors"),
    "durable": ("state",),
    "recover": ("actor", "actors", "durable"),
}


def watched(protocol: Protocol, mode: str = "on", first: int | None = None) -> Protocol:
    """Return `protocol` with handlers and predicates that check themselves as they are called.

    Args:
        mode: one of MODES.
        first: the number of distinct calls per function that `on` checks before it begins to
            sample; by default FIRST or FIRST_JUDGED.

    Raises:
        InputError: there is no such mode.
    """
    check_known("selfcheck", mode, MODES, "selfcheck")
    if mode == "off":
        return protocol
    listen()
    memory = _Memory(protocol, mode)

    def watch(name: str, function: Callable[..., Any]) -> _Watch:
        kind, _, own = name.partition(".")
        usual = FIRST if not own or kind == "actions" else FIRST_JUDGED
        budget = math.inf if mode == "all" else usual if first is None else first
        return _Watch(memory, function, _KINDS.get(kind, "handler"), own or name, budget)

    watches = {name: watch(name, each) for name, each in functions_of(protocol).items()}
    records: dict[str, Any] = {
        kind: {name: watches[f"{kind}.{name}"] for name in getattr(protocol, kind)}
        for kind in _KINDS
    }
    handlers: dict[str, Any] = {n: each for n, each in watches.items() if n in _PARAMETERS}
    return attrs.evolve(protocol, **handlers, **records)


def watched_property(protocol: Protocol, prop: Property) -> Property:
    """Return a property of a user whose predicate checks itself, as functions of a protocol do.

    Args:
        protocol: as `watched` returned it.
        prop: the property. `look_back` repeats calls of its predicate, too.
    """
    watch = _judging(protocol, "property", prop.name, prop.predicate)
    if watch is None or prop.when is When.EVENTUALLY_IF_FAIR:
        return prop

    return attrs.evolve(prop, predicate=watch)


def watched_limit(protocol: Protocol, limit: AnyLimit) -> AnyLimit:
    """Return a bound whose property or measure checks itself, as `watched_property` does."""
    if isinstance(limit, Constraint):
        return attrs.evolve(limit, prop=watched_property(protocol, limit.prop))
    if not isinstance(limit, Limit) or limit.name not in protocol.measures:
        return limit
    watch = _judging(protocol, "measure", limit.name, limit.measure)
    return limit if watch is None else attrs.evolve(limit, measure=watch, known={})


def _judging(
    protocol: Protocol, kind: str, name: str, function: Callable[[Any], Any]
) -> _Watch | None:
    """Return a function on states or deliveries that checks itself; None if no handler does."""
    watches = list(_watches(protocol).values())
    if not watches:
        return None
    memory = watches[0].memory
    budget = math.inf if memory.mode == "all" else FIRST_JUDGED
    watch = _Watch(memory, function, kind, name, budget)
    memory.judging.append(watch)
    return watch


_KINDS = {
    "actions": "action",
    "invariants": "invariant",
    "joint_invariants": "invariant",
    "final_invariants": "final invariant",
    "joint_final_invariants": "final invariant",
    "witnesses": "witness",
    "joint_witnesses": "witness",
}
"""Fields of a protocol that are dictionaries of functions -> the word for one of them."""


def functions_of(protocol: Protocol) -> dict[str, Callable[..., Any]]:
    """Return the functions of a protocol: `receive`, `actions.NAME`, `invariants.NAME`, …."""
    more = {f"{kind}.{n}": each for kind in _KINDS for n, each in getattr(protocol, kind).items()}
    return _handlers(protocol) | more


def _watches(protocol: Protocol) -> dict[str, _Watch]:
    """Return the functions of a protocol that check themselves."""
    functions = {
        # An endless workload has a check around a handler that checks itself.
        name: each if isinstance(each, _Watch) else getattr(each, "handler", None)
        for name, each in functions_of(protocol).items()
    }
    return {name: each for name, each in functions.items() if isinstance(each, _Watch)}


_AFRESH = {"on": (100, 4), "all": (1_000, 32)}
"""Numbers of calls that are repeated in a new process: of each function, together with all others,
and of each handler, alone."""

Asked: TypeAlias = tuple[str, Args]
"""The name of a function, as in `functions_of`, and the arguments of a call."""

Again: TypeAlias = Callable[[Sequence[Sequence[Asked]], float], list[list[str | None]]]
"""Makes calls, each group in a new process, and returns the texts of their outcomes.

The text is None if the arguments cannot be sent to another process. The number is the time in
seconds that the checks took so far.
"""


def look_back(protocol: Protocol) -> None:
    """Repeat some calls that were checked, after a search.

    Raises:
        ProtocolError: one of them has another result now.
    """
    with printing_to_stderr():
        watches = list(_watches(protocol).values())
        for watch in (*watches, *(watches[0].memory.judging if watches else ())):
            watch.look_back()


def repeat_afresh(protocol: Protocol, again: Again) -> None:
    """Repeat some calls in one new process, in the opposite order, and some in one of their own.

    Raises:
        ProtocolError: one of them has another result there.
    """
    watches = _watches(protocol)
    alone, together = list[tuple[str, _Call]](), list[tuple[str, _Call]]()
    for name, watch in watches.items():
        most, few = _AFRESH[watch.memory.mode]
        calls = [(name, call) for call in watch.spread(most)]
        together += calls
        alone += () if watch.judges else calls[:: max(len(calls) // few, 1)]
    groups = [together[::-1], *([each] for each in alone)]
    asked = [[(name, call.args) for name, call in group] for group in groups]
    for group, texts in zip(groups, again(asked, seconds_spent(protocol)), strict=True):
        for (name, call), text in zip(group, texts, strict=True):
            watches[name].compare_afresh(call, text)


def seconds_spent(protocol: Protocol) -> float:
    """Return the time in seconds that the checks of a protocol have taken."""
    return sum(
        {id(watch.memory): watch.memory.seconds for watch in _watches(protocol).values()}.values()
    )


def _handlers(protocol: Protocol) -> dict[str, Callable[..., Any]]:
    functions = {name: getattr(protocol, name) for name in _PARAMETERS}
    return {name: handler for name, handler in functions.items() if handler is not None}


class _Memory:
    """The shared state of the watches of one protocol.

    Attributes:
        mode: one of MODES.
        values: states and sends returned so far.
        usable: parts of results that were found to be usable.
        seconds: the time that the checks took.
        luck: the state of the module `random` after the latest checked call.
        effects: the outside things that the first trial of a call reads and changes.
        judging: the watches of functions that judge states or deliveries for a question.
    """

    def __init__(self, protocol: Protocol, mode: str) -> None:
        self.protocol = protocol
        self.mode = mode
        self.effects = Effects(self.homes)
        self.values = Values()
        self.usable = Usable()
        self.seconds = 0.0
        self.luck: Any = random.getstate()
        self.judging: list[_Watch] = []
        self._last: Args = ()
        self._copies: list[Args] = []
        self._described: Args = ()
        self._texts: tuple[str, ...] = ()

    def has_drawn(self, luck: Any) -> bool:
        """Return whether numbers were drawn from `random` since it had the state `luck`."""
        self.luck = random.getstate()
        return bool(self.luck != luck)

    def copies(self, args: Args) -> list[Args]:
        """Return equal arguments made of new objects, then a version of them per world.

        Predicates are called on the same state one after the other, so the last copies are kept.
        """
        if not _are_same(args, self._last):
            plain, worlds = copied(args), self.worlds
            others = [world.copied(args) for world in worlds] if has_order(args) else None
            self._copies = [plain, *(others or [plain] * len(worlds))]
            self._last = args
        return self._copies

    def texts_before(self, args: Args) -> tuple[str, ...]:
        """Return the texts of arguments; the latest ones are known already."""
        return self._texts if _are_same(args, self._described) else self.texts_of(args)

    def texts_of(self, args: Args) -> tuple[str, ...]:
        """Return the texts of arguments, as they are now."""
        self._described, self._texts = args, tuple(map(text_of, args))
        return self._texts

    @functools.cached_property
    def worlds(self) -> tuple[World, ...]:
        """One world per order of iteration."""
        return tuple(self.world(order) for order in ORDERS)

    def world(self, order: Order, twists: Iterable[str] | None = None) -> World:
        """Return a new world, by default with all twists."""
        return World(order, frozenset(TWISTS if twists is None else twists), self.homes)

    @functools.cached_property
    def homes(self) -> frozenset[str]:
        """The packages of the handlers; an installed protocol is the user's code, too."""
        return frozenset(
            top_package(handler.__globals__)
            for handler in (*_handlers(self.protocol).values(), *self.protocol.actions.values())
            if isinstance(handler, FunctionType)
        )


def _are_same(some: Args, others: Args) -> bool:
    return len(some) == len(others) and all(map(operator.is_, some, others))


class _Outcome:
    """The outcome of one trial of a call: a value, or an exception."""

    def __init__(self, value: Any, *, raised: bool = False) -> None:
        self.value = value
        self.raised = raised

    @functools.cached_property
    def text(self) -> str:
        """The text of the value or of the exception."""
        return self._raised or text_of(self.value)

    @property
    def text_in_any_process(self) -> str:
        """The text, without the pickles of real objects, which differ between processes."""
        return self._raised or text_in_any_process(self.value)

    @property
    def _raised(self) -> str | None:
        return f"raised {type(self.value).__name__}: {self.value}" if self.raised else None

    def differs(self, other: _Outcome) -> bool:
        """Return whether the texts differ; values that share their parts are compared quickly."""
        if not self.raised and not other.raised:
            try:
                if self.value == other.value and same(self.value, other.value):
                    return False
            except Exception:
                pass
        return self.text != other.text


def _outcome(run: Callable[[], Any]) -> _Outcome:
    try:
        try:
            return _Outcome(run())
        finally:
            end_copy()
            if interrupts.was_interrupted():
                raise interrupts.again()
    except (KeyboardInterrupt, AdapterError):
        raise
    except BaseException as error:
        return _Outcome(error, raised=True)


@attrs.frozen(eq=False)
class _Call:
    """A distinct call and its outcome.

    Attributes:
        shown: their texts for people before the call.
        outcome: the outcome of the first trial.
        drew: whether numbers were drawn from the module `random` since the call before it.
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
        self.memory = memory
        self._name = name
        self.judges = kind not in ("handler", "action")
        self._is_predicate = self.judges and kind != "measure"
        self._is_optional = kind == "action" or name == "timeout"
        self._title = name if kind == "handler" else f"{kind} {name!r}"
        self._parameters = _PARAMETERS[name] if kind == "handler" else ("state",)
        self._makes_step = not self.judges and (
            kind == "action" or name not in ("initial", "in_flight", "durable")
        )
        self._seen: set[Args] = set()
        self._past: list[_Call] = []
        self._checks = 0
        self._calls = 0
        self._next = 0
        self._chance = random.Random(0)

    def __call__(self, *args: Any) -> Any:
        """Call the handler, with checks if it is one of the first calls or in the sample."""
        if self.left:
            return self._timed_check(args) if self._is_new(args) else self.handler(*args)
        self._calls += 1
        if self._calls < self._next:
            return self.handler(*args)
        self._next = self._calls + self._chance.randint(1, 1 + 2 * self._calls // GAP)
        return self._timed_check(args)

    def _timed_check(self, args: Args) -> Any:
        began = time.perf_counter()
        try:
            return self._check(args)
        finally:
            self.memory.seconds += time.perf_counter() - began

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
        before = self.memory.texts_before(args)
        luck = self.memory.luck
        with self.memory.effects.observed() as faults:
            try:
                result = self.handler(*args)
            except RefusedCall:
                raise self._error(_shown(args, before), f"{faults[0]}; {_ADVICE}") from None
        tracing.stop()
        if interrupts.was_interrupted():
            raise interrupts.again()
        if faults:
            raise self._error(_shown(args, before), f"{faults[0]}; {_ADVICE}")
        drew = self.memory.has_drawn(luck)
        self._compare_arguments(before, args)
        if not self._is_of_expected_type(result):
            return result  # for the caller to report
        shown = _shown(args, before)
        self._inspect(shown, result)
        value = self._read(result)
        call = _Call(args, shown, _Outcome(value), drew)
        self._repeat(call)
        self._repeat_in_other_worlds(call)
        self._remember(call)
        return result

    def _remember(self, call: _Call) -> None:
        if len(self._past) < _REMEMBERED:
            self._past.append(call)
        self._checks += 1
        if self.left:
            self.left -= 1
            self._calls += 1
            if not self.left:
                self._seen.clear()

    def spread(self, most: int) -> list[_Call]:
        """Return about `most` of the calls that were checked, evenly spread."""
        return self._past[:: max(len(self._past) // most, 1)]

    def look_back(self) -> None:
        """Repeat some of the calls that were checked."""
        for call in self.spread(_LOOKED_BACK):
            self._compare_later(call)

    def compare_afresh(self, call: _Call, text: str | None) -> None:
        """Compare the outcome of a call with its text in a new process."""
        before = call.outcome.text_in_any_process
        if text not in (None, before):
            raise self._error(
                call.shown,
                f"depends on the calls before it, or on its process: it returned {before}, and "
                f"in a new process in an empty folder {text}{self._suspect(call)}. Let it depend "
                "on nothing but its arguments",
            )

    def _read(self, result: Any) -> Any:
        """Return the relevant part of a result: a bool for a predicate."""
        return bool(result) if self._is_predicate else result

    def _is_of_expected_type(self, result: Any) -> bool:
        if not self._makes_step:
            return True
        return isinstance(result, Step) or (result is None and self._is_optional)

    def _compare_arguments(self, before: tuple[str, ...], args: Args) -> None:
        after = self.memory.texts_of(args)
        for name, old, new in zip(self._parameters, before, after, strict=True):
            if new != old:
                raise self._error(
                    before,
                    f"changed its argument {name!r}, which was {old} and is now {new}; leave "
                    "arguments alone and build a new value (attrs.evolve or dataclasses.replace)",
                )

    def _inspect(self, shown: tuple[Any, ...], result: Any) -> None:
        """Check that the values in `result` can be parts of a state."""
        if self.judges:
            return
        path = "" if self._makes_step else "packets" if self._name == "in_flight" else "state"
        fault = unusable(result, path, self.memory.usable)
        fault = fault or _refusal(result, self.memory.values)
        if fault is not None:
            error = self._error(shown, f"returned a value that cannot be used: {fault}")
            # If plain Python refuses the value, too, the report shows the run that leads there.
            raise error if _refusal(result, Values()) is None else HandlerError(str(error))

    def _repeat(self, call: _Call) -> None:
        """Call the same function on copies of the arguments; often if it drew random numbers."""
        for draw in range(_DRAWS if call.drew else 1):
            args = copied(call.args) if draw else self.memory.copies(call.args)[0]
            again = self._run(self.handler, args)
            if again.differs(call.outcome):
                raise self._error(call.shown, self._why_not_again(call, again))

    def _called_later(self, call: _Call) -> _Outcome:
        with interrupts.at_work(f"a repeated call of {self._title}"):
            return self._run(self.handler, call.args)

    def _compare_later(self, call: _Call) -> None:
        again = self._called_later(call)
        if again.differs(call.outcome):
            raise self._error(
                call.shown,
                "returned another result when it was called with the same arguments later: "
                f"{_contrast(call.outcome, again)}{self._suspect(call)}; "
                "let it depend on nothing but its arguments",
            )

    def _repeat_in_other_worlds(self, call: _Call) -> None:
        versions = self.memory.copies(call.args)[1:]
        pairs = list(zip(self.memory.worlds, versions, strict=True))
        if not self.left:
            pairs = [pairs[self._checks % len(pairs)]]
        for world, args in pairs:
            other = self._run(world.value(self.handler), args)
            if other.differs(call.outcome) and not _is_artefact(other):
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
            later = self._run(self.handler, call.args)
            if later.differs(call.outcome):
                return (
                    "returned different results for the same arguments: "
                    f"{_contrast(call.outcome, later)}{self._suspect(call)}; "
                    "let it depend on nothing but its arguments"
                )
        orders = (self.memory.world(order, ["order"]) for order in ORDERS)
        if len({self._run_in(world, call).text for world in orders}) > 1:
            # A copy of a set may happen to iterate in another order than the set.
            return TWISTS["order"].format(contrast=_contrast(call.outcome, again))
        return (
            "depends on the identity of objects: on equal copies of its arguments, "
            f"{_contrast(call.outcome, again)}; compare with == instead of `is`; do without id()"
        )

    def _suspect(self, call: _Call) -> str:
        """Return a likely cause of the difference, preferably a variable that a call changes."""
        world = self.memory.world(list)
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
            single = self._run_in(self.memory.world(world.order, [twist]), call)
            if single.differs(call.outcome) and not _is_artefact(single):
                return sentence.format(contrast=_contrast(call.outcome, single))
        return (
            "depends on more than the values of its arguments (the order of a set, hash() "
            f"or id()): {_contrast(call.outcome, other)}"
        )

    def _error(self, shown: tuple[Any, ...], fault: str) -> ProtocolError:
        where = owned(self._title, self.memory.protocol)
        return ProtocolError(
            f"{where} {fault}; it was called as {self._name}({', '.join(map(str, shown))})"
        )


def text_afresh(protocol: Protocol, name: str, args: Args) -> str:
    """Call a function of a protocol, in a new process, and return the text of the outcome."""
    function = functions_of(protocol)[name]
    judges = name.startswith(("invariants.", "joint_", "final_invariants.", "witnesses."))

    def call() -> Any:
        result = function(*args)
        return bool(result) if judges else result

    try:
        with interrupts.at_work(name):  # so that a copy that the function forks is known as one
            return _outcome(call).text_in_any_process
    except AdapterError as error:
        return _Outcome(error, raised=True).text_in_any_process


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


def _shown(args: Args, texts: tuple[str, ...]) -> tuple[Any, ...]:
    """Return arguments as errors show them: texts, or the stand-ins for real objects.

    A stand-in cannot change, and only an error needs its readable text, which `str` makes.
    """
    return tuple(
        arg if stands_for_another(arg) else text for arg, text in zip(args, texts, strict=True)
    )


def _contrast(first: _Outcome, other: _Outcome) -> str:
    if other.raised:
        return f"it returned {for_people(first.value)} and then {other.text}"
    where, old, new = difference(first.value, other.value)
    return f"{where or 'the result'} was {old} and then {new}"


_ARTEFACTS = (TypeError, AttributeError, NameError, ImportError, RecursionError)


def _is_artefact(outcome: _Outcome) -> bool:
    """Return whether the exception may be an artefact of the world's stand-ins."""
    return outcome.raised and isinstance(outcome.value, _ARTEFACTS)
