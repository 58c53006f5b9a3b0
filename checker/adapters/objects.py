"""Real Python objects as a protocol: ordinary, mutable code on a simulated network.

    class Node:
        def __init__(self, actor, actors): ...
        def causal_send(self, out, message): out.send(message.receiver, ("data", message))
        def receive(self, out, src, packet): out.deliver(packet[1])

`antecede test FILE.py:Node` explores what such objects do. It judges deliveries and shortens
counterexamples as for protocols that are written as pure functions. Every call works on a copy of
the object, so its code may change it freely. The author of the class must replace clocks, random
numbers, threads and sockets: the checker repeats calls, and reports differences.

Question: How do ordinary Python objects become a protocol?
"""

from __future__ import annotations

import copy
import copyreg
import functools
import inspect
import io
import itertools
import operator
import pickle
import re
import sys
import weakref
from collections.abc import Callable, Hashable, Mapping
from types import FunctionType
from typing import Any, TypeAlias

from attrs import define, evolve, field, frozen

from antecede.checker.adapters.calls import Out, watched
from antecede.checker.adapters.packets import PickledPacket, content, in_another_order, view
from antecede.checker.model import LocalState, Message, Packet, Protocol, Step, Unmerged
from antecede.checker.purity.effects import top_package
from antecede.checker.purity.usable import copied, difference
from antecede.checker.semantics.handlers import in_words
from antecede.checker.semantics.reads import unnoted
from antecede.checker.support import interrupts
from antecede.checker.support.errors import AdapterError, InputError, ProtocolError, check_known
from antecede.checker.support.settings import shown
from antecede.checker.support.sources import attributes_of

COPIES = {
    "pickle": "from a pickle of the object; two states are one if the pickles are equal",
    "deepcopy": "by copy.deepcopy; needs a key",
    "replay": "by all calls once more, from the start",
}
"""The ways to recreate an object before a call, by name, each with its meaning."""

METHODS = {"causal_send": "(out, message)", "receive": "(out, src, packet)"}

MOST_CALLS = 4
"""The calls per state that are repeated with other objects of the state."""

REPEATED = 16
"""The number of times that a call that changes no key is made: a forgotten counter may decide."""

IDLE = (1, 2, REPEATED)
"""The numbers of timeouts that do nothing after which objects must behave as without them."""

COMPARED, THEN_EVERY = 1000, 16
"""The first pairs of objects with equal keys that are compared; then one pair in THEN_EVERY."""

MOST_ORIGINALS = 1000
"""The most originals that are kept to be compared with their copies."""

COPYING = ("__getstate__", "__setstate__", "__reduce__", "__reduce_ex__", "__deepcopy__")
"""The methods with which a class decides what a copy contains."""

LONGEST = 200
"""The most characters of an attribute's text in an error."""

MOST_LIVE = 64
"""The most replayed objects that are kept for their next call."""

Call: TypeAlias = tuple[Any, ...]
"""A method and its arguments."""

Attributes: TypeAlias = dict[str, Any]
"""The contents of an object's attributes, by name."""

Calls: TypeAlias = tuple[tuple[Any, ...], ...]
"""The history of an object: its constructor's arguments, and each call with its arguments."""


@frozen(repr=False)
class Running:
    """The state of an actor that is a Python object, between two calls of its methods.

    The object is stored as a pickle. Two states are equal if their pickles are equal.
    """

    pickled: bytes

    def __shown__(self) -> Any:
        return view(self.object)

    def __repr__(self) -> str:
        return repr(view(self.object))

    @property
    def object(self) -> Any:
        """A new copy of the Python object, for predicates on states: invariants and witnesses."""
        return pickle.loads(self.pickled)


@frozen(repr=False)
class Kept:
    """The state of an actor that is a Python object with a key, between two calls of its methods.

    A key is a value that identifies the state. States of one actor with equal keys are equal.

    Attributes:
        adapter: the number of the record that keeps the object.
        actor: the number of the actor. Actors are numbered from 0.
        actors: the number of all actors.
        key: the key of the object.
    """

    adapter: int
    actor: int
    actors: int
    key: Hashable

    def __shown__(self) -> Any:
        """Return the key, which is all that tells the state from others."""
        return self.key

    def __repr__(self) -> str:
        return repr(self.key)

    @property
    def object(self) -> Any:
        """A new copy of the Python object, for predicates on states: invariants and witnesses."""
        return _keepers[self.adapter].opened(self)[0]

    def __moved__(self) -> tuple[Any, ...]:
        """Return how to make this state in another process that has the same adapter."""
        keeper = _keepers[self.adapter]
        return _moved, (keeper.made_by, self.actor, self.actors, self.key, keeper.kept[self])


def _moved(made_by: tuple[Any, ...], actor: int, actors: int, key: Any, source: Any) -> Kept:
    """Return a state of another process."""
    keeper = next(each for each in _keepers.values() if made_by == each.made_by)
    state = Kept(keeper.number, actor, actors, key)
    keeper.kept.setdefault(state, source)
    return state


def _anew(exact: bool, *given: Any) -> _Keeper:
    """Return a record in another process."""
    keeper = _Keeper(*given)
    keeper.exact = exact
    return keeper


_keepers: weakref.WeakValueDictionary[int, _Keeper] = weakref.WeakValueDictionary()
_numbers = itertools.count(1)


@define(eq=False)
class _Keeper:
    """Keeps the objects of one adapter between calls.

    Attributes:
        make: (actor, actors) -> an object.
        copies: one of COPIES.
        key: object -> a value that identifies the actor's state; None: the object's whole source.
        kept: state -> the source of the first object in that state.
        reused: an object at the end of a replay may be used after another object was made.
        live: the objects of the latest replays.
        others: state -> the sources of other objects in that state than the first one.
        done: state -> some calls of the first object, with their effects.
        own: methods in COPYING of the classes of objects that were copied.
        originals: state -> an object whose copy is in this state; such methods made the copy.
        comparisons: the number of pairs of objects that are one state, so far.
        idle: state -> whether a timeout does nothing there, however often it is repeated.
        exact: every timeout is a transition, even if it does nothing.
    """

    name: str
    make: Callable[[int, int], Any]
    copies: str
    key: Callable[[Any], Hashable] | None
    reused: bool = True
    number: int = field(factory=lambda: next(_numbers))
    kept: dict[Kept, Any] = field(factory=dict)
    live: dict[Calls, Any] = field(factory=dict)
    others: dict[Kept, tuple[Any, ...]] = field(factory=dict)
    done: dict[Kept, dict[Call, Step]] = field(factory=dict)
    own: dict[str, None] = field(factory=dict)
    originals: dict[LocalState, Any] = field(factory=dict)
    comparisons: int = 0
    idle: dict[Kept, bool] = field(factory=dict)
    exact: bool = False

    def __attrs_post_init__(self) -> None:
        _keepers[self.number] = self

    def __reduce__(self) -> tuple[Any, ...]:
        """Return how to make a record in another process, which has met no objects yet."""
        return _anew, (self.exact, self.name, self.make, self.copies, self.key, self.reused)

    @property
    def made_by(self) -> tuple[Any, ...]:
        """What identifies this record in another process."""
        return self.name, self.copies, self.key is not None, self.exact

    def initial(self, actor: int, actors: int) -> LocalState:
        """Return a new object as a state."""
        with watched(f"__init__ of {self.name}"):
            node = self.make(actor, actors)
            state = self.closed(node, ((actor, actors),))
            self._keep_original(state, node)
            return state

    def causal_send(self, state: LocalState, message: Message) -> Step:
        """Call the object's method."""
        return self.step(state, "causal_send", message)

    def receive(self, state: LocalState, src: int, packet: Packet) -> Step:
        """Call the object's method."""
        return self.step(state, "receive", src, packet)

    def timeout(self, state: LocalState) -> Step | None:
        """Call the object's method; return None if that changes nothing."""
        step = self.step(state, "timeout")
        if step == Step(state) or (self.compares_calls and self._is_idle(state, step)):
            return None
        return step

    @property
    def compares_calls(self) -> bool:
        """Two objects are equal if their calls are, although a timeout may do nothing."""
        return self.state_is_calls and not self.exact

    @property
    def state_is_calls(self) -> bool:
        """The state of an object is its calls, so that each call makes a new state."""
        return self.copies == "replay" and self.key is None

    def _is_idle(self, state: Kept, step: Step) -> bool:
        """Return whether a timeout does nothing, even if it is repeated.

        The object before it then stands for those after any number of timeouts. Some of them make
        each later call, too.
        """
        if step.sends or step.deliveries:
            return False
        if state not in self.idle:
            self.idle[state] = self._stays_idle(self._made(self.kept[step.state]))
            if self.idle[state]:
                sources = self.others.get(state) or (self.kept[state],) * len(IDLE)
                self._add_others(
                    state,
                    tuple(
                        (*calls, *[("timeout",)] * times)
                        for calls, times in zip(sources, IDLE, strict=True)
                    ),
                )
        return self.idle[state]

    def _stays_idle(self, node: Any) -> bool:
        try:
            outs = [self._effect_of(node, ("timeout",)) for _ in range(REPEATED)]
        except Exception:
            return False  # a search reports this failure if a run leads to it
        return not any(out.sends or out.deliveries for out in outs)

    def _add_others(self, state: Kept, sources: tuple[Any, ...]) -> None:
        """Add objects that are one state, and compare what the first one did there."""
        self.others[state] = sources
        for call, step in tuple(self.done.get(state, {}).items()):
            self._compare_all(state, call, step)

    def _compare_all(self, state: Kept, call: Call, step: Step) -> None:
        for source in self.others.get(state, ()):
            if self._is_due():
                self._compare(state, source, call, step)

    def step(self, state: LocalState, method: str, *arguments: Any) -> Step:
        """Call a method on a copy of an object."""
        with watched(f"{method} of {self.name}"):
            node, calls = self.opened(state)
            out = _call(node, method, arguments)
        # A call that is refused must end above, because an object after it is in no state.
        with watched(f"{method} of {self.name}"):
            after = self.closed(node, (*calls, (method, *arguments)))
            step = Step(after, out.sends, out.deliveries)
            if self.key is not None or self.compares_calls:
                self._remember(state, (method, *arguments), step)
            original = self._original_after(state, (method, *arguments), step)
            self._keep_original(after, node if original is None else original)
        return step

    def _keep_original(self, state: LocalState, node: Any) -> None:
        """Keep an object if its class decides what the copy in the state contains."""
        if self.own and len(self.originals) < MOST_ORIGINALS and self._is_due():
            self.originals.setdefault(state, node)

    def _original_after(self, state: LocalState, call: Call, step: Step) -> Any:
        """Make a call, which was made on a copy, on the original, too, and compare the effects.

        Returns:
            The original after the call; None if it is not kept, or if the call fails.

        Raises:
            AdapterError: the effects differ.
        """
        original = self.originals.pop(state, None)
        if original is None:
            return None
        before = _attributes(original)
        try:
            out = self._effect_of(original, call)
        except Exception:
            return None  # a search reports this failure if a run leads to it
        if (what := _difference_of_effects(call, out, step)) is not None:
            copied_before = _attributes(self.opened(state)[0])
            raise AdapterError(self.refusal(before, copied_before, what))
        return original

    def _remember(self, state: LocalState, call: Call, step: Step) -> None:
        """Compare a call with the same call of another object in that state, now or later."""
        done = self.done.setdefault(state, {})
        if len(done) < MOST_CALLS:
            done[call] = step
        self._compare_all(state, call, step)
        if self.compares_calls and state in self.others and step.state not in self.others:
            self.others[step.state] = tuple((*calls, call) for calls in self.others[state])

    def _is_due(self) -> bool:
        """Count a pair of objects with equal keys; return whether to compare it."""
        self.comparisons += 1
        return self.comparisons <= COMPARED or self.comparisons % THEN_EVERY == 0

    def _compare(self, state: Kept, source: Any, call: Call, step: Step) -> None:
        """Refuse a key that two objects have, if a call shows that they behave differently.

        Raises:
            AdapterError: they do.
        """
        before, node = self._made(source), self._made(source)
        for _ in range(REPEATED if step.state == state else 1):
            what = self._difference(node, call, step)
            if what is not None:
                first = self.opened(state)[0]
                raise AdapterError(self.refusal(_attributes(first), _attributes(before), what))

    def _difference(self, node: Any, call: Call, step: Step) -> str | None:
        """Make a call on an object; return how its effect differs from a step, or None."""
        try:
            out = self._effect_of(node, call)
        except Exception:
            return None  # a search reports this failure if a run leads to it
        if (what := _difference_of_effects(call, out, step)) is not None:
            return what
        if self.key is not None and self._key_of(node) != step.state.key:
            return f"after {call[0]}, their keys are different"
        return None

    def _effect_of(self, node: Any, call: Call) -> Out:
        """Make a call on an object; return its closed `out`."""
        method, *arguments = call
        with watched(f"{method} of {self.name}"):
            return _call(node, method, arguments)

    @property
    def condition(self) -> str | None:
        """The condition of a verdict: equal states behave alike; None if nothing can hide."""
        if self.key is not None:
            return f"objects of {self.name} with equal keys behave alike"
        if any(self.idle.values()):
            return f"timeouts of {self.name} that send and deliver nothing change nothing"
        if self.own:
            return f"copies that {', '.join(self.own)} makes behave like the originals"
        return None

    def refusal(self, one: Attributes, two: Attributes, what: str) -> str:
        """Return the error for two objects that are one state and behave differently.

        Args:
            one, two: their attributes.
            what: the difference between their behaviours.
        """
        differing = _differing(one, two)
        fault, advice = _OF_KEYS
        if self.key is None or (self.own and not differing):
            fault, advice = _OF_TIMEOUTS if self.compares_calls else _OF_COPIES
        makers = ", ".join(self.own) or "pickling"
        return (
            f"{fault.format(name=self.name, makers=makers)}: {what}. "
            f"{'; '.join(differing) or 'Their attributes look alike'}. "
            f"{advice.format(name=self.name, makers=makers)}"
        )

    def opened(self, state: LocalState) -> tuple[Any, Calls]:
        """Return a copy of a state's object, and its history.

        If objects are not replayed, the history has only the constructor's arguments.
        """
        if isinstance(state, Running):
            return state.object, ()
        source, history = self.kept[state], ((state.actor, state.actors),)
        return self._made(source), source if self.copies == "replay" else history

    def _made(self, source: Any) -> Any:
        """Return a new object from its source."""
        if self.copies == "replay":
            return self._replayed(source)
        return (pickle.loads if self.copies == "pickle" else copy.deepcopy)(source)

    def _replayed(self, calls: Calls) -> Any:
        if calls in self.live:
            return self.live.pop(calls)
        if hasattr(self.make, "replayed"):  # a program answers all questions at once
            return self.make.replayed(calls)
        node = self.make(*calls[0])
        for method, *arguments in calls[1:]:
            _call(node, method, arguments)
        return node

    def closed(self, node: Any, calls: Calls) -> LocalState:
        """Return the state of an object."""
        if self.copies == "pickle" and self.key is None:
            return Running(_pickled(node, self.own))
        (actor, actors), *since = calls
        key = tuple(since) if self.key is None else self._key_of(node)
        state = Kept(self.number, actor, actors, key)
        if state not in self.kept:
            self.kept[state] = self._source(node, calls)
        elif self.key is not None and self._is_due():
            self._merged(state, self._source(node, calls))
        if self.copies == "replay" and self.reused:
            if len(self.live) >= MOST_LIVE:
                self.live.clear()
            self.live[calls] = node
        return state

    def _key_of(self, node: Any) -> Hashable:
        """Return an object's key.

        Raises:
            ProtocolError: key() raises, or its result cannot be hashed.
        """
        assert self.key is not None, "only objects with a key have one"
        try:
            with unnoted():  # a key decides nothing but which objects are equal
                key = self.key(node)
        except ProtocolError:
            raise
        except BaseException as error:
            if isinstance(error, KeyboardInterrupt) or interrupts.is_cause_of(error):
                raise
            raise ProtocolError(f"key() of {self.name} raised {in_words(error)}") from error
        try:
            hash(key)
        except TypeError as error:
            raise ProtocolError(
                f"key() of {self.name} returned {shown(key)}, which cannot be hashed ({error}); "
                "return texts, numbers, or tuples and frozensets of them"
            ) from None
        return key

    def _merged(self, state: Kept, source: Any) -> None:
        """Compare another object of a state with the first one: do earlier calls do the same?"""
        if self.copies != "deepcopy" and source == self.kept[state]:
            return  # objects may be equal although they differ
        self.others[state] = (source,)
        for call, step in tuple(self.done.get(state, {}).items()):
            self._compare(state, source, call, step)

    def _source(self, node: Any, calls: Calls) -> Any:
        if self.copies == "replay":
            return calls
        if self.copies == "pickle":
            return _pickled(node, self.own)
        self.own |= _own_methods(node)
        return copy.deepcopy(node)


def _call(node: Any, method: str, arguments: Any) -> Out:
    """Call a method on copies of the arguments, and return its closed `out`.

    Copies share no parts. Equal packets may share parts, and an object that keeps them would be
    pickled differently.
    """
    out = Out()
    copies = (a.opened() if isinstance(a, PickledPacket) else copied(a) for a in arguments)
    try:
        result = getattr(node, method)(out, *copies)
    finally:
        out.close()
    if inspect.iscoroutine(result):
        result.close()
        raise ProtocolError(
            f"{method} of {type(node).__name__} is async; let an ordinary method run it: "
            "asyncio.run(…)"
        )
    if result is not None:
        raise ProtocolError(
            f"{method} of {type(node).__name__} returned {result!r}; say what it does with "
            "out.send(to, packet) and out.deliver(message), and return nothing"
        )
    return out


class _Pickler(pickle.Pickler):
    """Notes the methods in COPYING of the classes of the objects that it pickles."""

    def __init__(self, file: io.BytesIO, own: dict[str, None]) -> None:
        super().__init__(file)
        self._own = own

    def reducer_override(self, value: Any) -> Any:
        """Note the methods of the value's class, and leave the rest to pickle."""
        self._own |= _own_methods(value)
        return NotImplemented


def _own_methods(value: Any) -> dict[str, None]:
    """Return the methods in COPYING that the author of a value's class wrote."""
    cls: Any = type(value)
    return _written_in(cls)


@functools.cache
def _written_in(cls: Any) -> dict[str, None]:
    """Return the methods in COPYING that the author of a class wrote.

    The methods of the standard library and attrs keep everything.
    """
    methods = {f"{cls.__name__}.{name}": getattr(cls, name, None) for name in COPYING} | {
        f"copyreg of {cls.__name__}": copyreg.dispatch_table.get(cls)
    }
    return {
        name: None
        for name, method in methods.items()
        if isinstance(method, FunctionType)
        and top_package(method.__globals__) not in {"attr", *sys.stdlib_module_names}
    }


def _pickled(node: Any, own: dict[str, None]) -> bytes:
    file = io.BytesIO()
    try:
        _Pickler(file, own).dump(node)
        # Pickle it twice, because an original may share parts that its unpickled copy does not.
        return pickle.dumps(pickle.loads(file.getvalue()))
    except (pickle.PicklingError, TypeError, AttributeError) as error:
        raise ProtocolError(
            f"a {type(node).__name__} cannot be kept between two calls: {error}; leave what cannot "
            'be pickled out of it with __getstate__, or set copies = "replay" in the class'
        ) from None


def protocol(
    make: Callable[[int, int], Any],
    *,
    name: str | None = None,
    summary: str = "real code under the checker",
    copies: str | None = None,
    key: Callable[[Any], Hashable] | None = None,
    reused: bool = True,
    **more: Any,
) -> Protocol:
    """Return a protocol whose actors are objects of a Python class.

    An actor is a participant of the system. The checker calls the methods of the objects, and
    simulates the network between them.

    Args:
        make: a class, or a function that returns an object. It takes the number of the actor (from
            0) and the number of all actors. The object has the methods `causal_send(out, message)`
            and `receive(out, src, packet)`, and perhaps `timeout(out)`, which is called at any
            time.
        name: the name of the protocol in reports. By default, the name of `make`.
        summary: one line that describes the protocol.
        copies: how an object is recreated before a call: `pickle` from a pickle of it, `deepcopy`
            by copy.deepcopy (needs a key), or `replay` by making all earlier calls again. By
            default, the attribute `copies` of the class, or else `pickle`.
        key: a function that takes an object and returns a value. Objects with equal values are then
            treated as one state, so they must behave alike. By default, the method `key` of the
            class. Without a key, two objects are one state if their pickles are equal, or, with
            `replay`, if they had the same calls.
        reused: with `replay`, False if making an object changes an older object. True (the default)
            lets the checker keep objects for their next calls, which is faster.
        more: `invariants` and `witnesses`, as in `Protocol`. Their predicates take a state, whose
            attribute `object` is the Python object.

    Raises:
        InputError: `make` lacks a method, or there is no such way to copy.

    Examples:
        Nodes that deliver on arrival. They have no state, so all of them are equal:

        >>> from antecede import check
        >>> from antecede.testing import adapter
        >>> class Node:
        ...     def __init__(self, actor, actors):
        ...         pass
        ...     def causal_send(self, out, message):
        ...         out.send(message.receiver, message)
        ...     def receive(self, out, src, packet):
        ...         out.deliver(packet)
        >>> node = adapter.protocol(Node, copies="deepcopy", key=lambda node: "no state")
        >>> check(node, actors=3, messages=2, network="fifo").counterexample.length
        6
    """
    called = name or str(getattr(make, "__name__", "adapter"))
    keeper = _keeper_of(make, called, copies, key, reused=reused)
    made = _protocol_of(keeper, summary, more)
    if keeper.state_is_calls and made.timeout is None:
        return made
    apart = _Keeper(called, make, "replay", None, reused, exact=True)
    return evolve(made, unmerged=_unmerged(keeper, _protocol_of(apart, summary, more)))


def _unmerged(keeper: _Keeper, apart: Protocol) -> Unmerged:
    """Return how to find out whether states that `keeper` takes for equal behave alike."""

    def refusal(one: Any, two: Any, what: str) -> str:
        return keeper.refusal(_attributes(one.object), _attributes(two.object), what)

    return Unmerged(apart, lambda: keeper.condition, refusal)


_MISSING = "missing"
_OF_KEYS = (
    "key() of {name} has the same value for two objects that behave differently",
    "Let key() contain everything that decides what an object does, or leave it out.",
)
_OF_TIMEOUTS = (
    "timeouts of {name} that send and deliver nothing change what later calls do",
    "Give the class a method key() that returns everything that decides what an object does. A "
    "program gives state or key in its answers.",
)
_OF_COPIES = (
    "an object of {name} and its copy behave differently",
    "The copy is made by {makers}. Let it keep everything that decides what an object does, or set "
    'copies = "replay" in the class.',
)


def _difference_of_effects(call: Call, out: Out, step: Step) -> str | None:
    """Return how the effects of a call differ from those of another one, or None."""
    if (out.sends, out.deliveries) == (step.sends, step.deliveries):
        return None
    if out.deliveries == step.deliveries and len(out.sends) == len(step.sends):
        pairs = [pair for pair in zip(step.sends, out.sends, strict=True) if operator.ne(*pair)]
        if all(to == other and in_another_order(p, q) for (to, p), (other, q) in pairs):
            (_, one), (_, two) = pairs[0]
            return (
                f"the packets that {call[0]} makes them send are equal, but the keys of their "
                f"dictionaries are in another order, which the receiver can see: {one} and {two}; "
                "sort the keys before you send them"
            )
    return f"{call[0]} makes them send or deliver different things"


def _attributes(node: Any) -> Attributes:
    """Return the attributes of an object, as they are now, apart from each `out` of a call."""
    return {
        name: _snapshot(value)
        for name, value in attributes_of(node).items()
        if not isinstance(getattr(value, "__self__", value), Out)
    }


def _snapshot(value: Any) -> Any:
    """Return the content of a value; if it cannot be seen, its text without a place in memory."""
    try:
        return content(value)
    except Exception:  # such as objects that contain each other
        return re.sub(r" at 0x[0-9a-f]+", "", shown(value))


def _short(text: str) -> str:
    return text if len(text) <= LONGEST else f"{text[:LONGEST]}..."


def _differing(one: Attributes, two: Attributes) -> list[str]:
    """Return the differences of two objects' attributes, as clauses."""
    clauses = []
    for name in dict.fromkeys((*one, *two)):
        if name not in one or name not in two:
            texts = [repr(each[name]) if name in each else _MISSING for each in (one, two)]
            clauses.append(f"{name} is {' and '.join(map(_short, texts))}")
        elif one[name] != two[name]:
            place, *texts = difference(one[name], two[name], name)
            clauses.append(f"{place} is {' and '.join(map(_short, texts))}")
        elif repr(one[name]) != repr(two[name]):
            clauses.append(f"{name} has equal keys in another order")
    return clauses


def _protocol_of(keeper: _Keeper, summary: str, more: Mapping[str, Any]) -> Protocol:
    """Return the protocol whose states are the objects of a keeper."""
    make, called = keeper.make, keeper.name
    return Protocol(
        name=called,
        summary=summary,
        source=f"{getattr(make, '__module__', '')}.{called}",
        initial=keeper.initial,
        causal_send=keeper.causal_send,
        receive=keeper.receive,
        timeout=keeper.timeout if hasattr(make, "timeout") else None,
        shows_messages=False,
        states_are_calls=keeper.state_is_calls,
        **more,
    )


def _keeper_of(
    make: Any,
    name: str,
    copies: str | None,
    key: Callable[[Any], Hashable] | None,
    *,
    reused: bool,
) -> _Keeper:
    """Return the keeper of the objects of `make`; arguments and errors as for `protocol`."""
    _check_methods(make, name)
    copies = str(copies or getattr(make, "copies", "pickle"))
    key = key or getattr(make, "key", None)
    check_known(f"copies of {name}", copies, COPIES)
    if copies == "deepcopy" and key is None:
        raise InputError(
            f"{name} has no key, so antecede cannot compare copies by deepcopy; add a method "
            "key(self) that returns everything that decides what the object does"
        )
    return _Keeper(name, make, copies, key, reused)


def _check_methods(make: Any, name: str) -> None:
    """Refuse an unsuitable `make` before anything is called."""
    if not callable(make):
        raise InputError(f"{name!r} is a {type(make).__name__}; give a class, or a function of "
                         "(actor, actors) that makes an object")  # fmt: skip
    _check_parameters(make, (0, 2), f"{name}(actor, actors)")
    if not inspect.isclass(make):
        return
    for method, parameters in METHODS.items():
        function = getattr(make, method, None)
        if function is None:
            raise InputError(
                f"{name} has no method {method}{parameters}; a class for the checker has "
                "causal_send(out, message) and receive(out, src, packet)"
            )
        placeholders = (None,) * (parameters.count(",") + 2)
        _check_parameters(function, placeholders, f"{name}.{method}{parameters}")


def _check_parameters(function: Any, given: tuple[Any, ...], wanted: str) -> None:
    try:
        inspect.signature(function).bind(*given)
    except TypeError as error:
        raise InputError(
            f"antecede cannot call {wanted}: {error}; let it take these arguments"
        ) from None
    except ValueError:
        return  # it is not written in Python
