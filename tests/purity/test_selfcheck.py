"""Self-check: each kind of impure handler is reported, pure ones never are."""

from __future__ import annotations

import importlib
import importlib.util
import inspect
import itertools
import linecache
import random
import sys
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

import attrs
import pytest
from hypothesis import given
from hypothesis import strategies as st

from antecede.checker.check import pipeline
from antecede.checker.check.pipeline import check
from antecede.checker.check.spec import Spec
from antecede.checker.model import Message, Protocol, Step
from antecede.checker.purity.selfcheck import FIRST, look_back, watched
from antecede.checker.purity.worlds import ORDERS, World, scrambled_class
from antecede.checker.search.result import Verdict
from antecede.checker.semantics.history import oracle_named
from antecede.checker.semantics.network import UNORDERED
from antecede.checker.semantics.transition import System, enabled, initial_state, successor
from antecede.checker.semantics.workload import counted_sends
from antecede.checker.support.errors import InputError, ProtocolError
from antecede.protocols import REGISTRY

HEAD = """
from __future__ import annotations
import collections, enum, functools, random, time
import attrs
from attrs import define, evolve, field, frozen
from antecede.checker.model import Message, Protocol, Step

@frozen
class Bag:
    got: object = frozenset()
    extra: object = ()

def initial(actor, actors):
    return Bag()

def causal_send(state, message):
    return Step(state, sends=((message.receiver, "data"),))

def receive(state, src, packet):
    return Step(evolve(state, got=state.got | {packet}))

timeout, invariants, witnesses = None, {}, {}
"""
"""A pure protocol that collects packets; faulty ones redefine a part of it."""

MESSAGE = Message(0, 1, (1,))
_serial = itertools.count()


def load(tmp_path: Path, source: str, name: str | None = None) -> ModuleType:
    """Import `source` from a file of its own, as a user's protocol is."""
    name = name or f"toy{next(_serial)}"
    path = tmp_path / f"{name}.py"
    path.write_text(source, encoding="utf-8")
    spec = importlib.util.spec_from_file_location(name, path)
    assert spec is not None
    assert spec.loader is not None
    module = sys.modules.get(name) or importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def toy(tmp_path: Path, body: str) -> Protocol:
    """Return the protocol `toy`, made of HEAD and `body`."""
    return as_protocol(load(tmp_path, HEAD + body))


def as_protocol(module: ModuleType) -> Protocol:
    return Protocol(
        name="toy",
        summary="a toy",
        source="none",
        initial=module.initial,
        causal_send=module.causal_send,
        receive=module.receive,
        timeout=module.timeout,
        invariants=module.invariants,
        witnesses=module.witnesses,
    )


def run(protocol: Protocol) -> Any:
    """Call every handler and predicate a few times; return the last state."""
    state = protocol.initial(0, 3)
    for src, packet in enumerate("abcd"):
        state = protocol.receive(state, src % 2, packet).state
        protocol.causal_send(state, MESSAGE)
        if protocol.timeout is not None:
            protocol.timeout(state)
        for predicate in (*protocol.invariants.values(), *protocol.witnesses.values()):
            predicate(state)
    return state


def report(protocol: Protocol) -> str:
    """Return what the self-check says of a faulty protocol."""
    with pytest.raises(ProtocolError) as caught:
        run(watched(protocol))
    return str(caught.value)


def explore(protocol: Protocol, actors: int, messages: int) -> int:
    """Return the number of states; every handler meets all its arguments."""
    oracle = oracle_named("knowledge", actors, messages)
    workload = counted_sends("any", actors, messages)
    system = System(protocol, actors, messages, UNORDERED, workload, oracle, ())
    todo = [initial_state(system)]
    seen = set(todo)
    while todo and len(seen) < 1_000:
        state = todo.pop()
        for transition in enabled(system, state):
            after = successor(system, state, transition).state
            if after not in seen:
                seen.add(after)
                todo.append(after)
    return len(seen)


# The order of sets, hash, id, the clock, chance.

FIRST_ONLY = "\n    return Step(Bag(state.got | {packet}, found[:1]))\n"

ORDER_FAULTS = {
    "a set in the state": """
def receive(state, src, packet):
    found = tuple(state.got)
""",
    "a set computed from one in the state": """
def receive(state, src, packet):
    found = tuple((state.got | frozenset({packet})) - {"z"})
""",
    "set()": """
def receive(state, src, packet):
    found = tuple(set(("x", "y", packet)))
""",
    "a set display": """
def receive(state, src, packet):
    found = tuple({"x", "y", packet})
""",
    "a set comprehension": """
def receive(state, src, packet):
    found = tuple({name + packet for name in "xyz"})
""",
    "pop": """
def receive(state, src, packet):
    found = (set(("x", "y", packet)).pop(),)
""",
    "the text of a set": """
def receive(state, src, packet):
    found = (str({"x", "y", packet})[2:3],)
""",
    "a constant of the module": """
NAMES = frozenset({"x", "y", "z"})
def receive(state, src, packet):
    found = tuple(NAMES)
""",
    "a default argument": """
def receive(state, src, packet, names=frozenset({"x", "y", "z"})):
    found = tuple(names)
""",
    "a set of the module": """
NAMES = {"x", "y", "z"}
def receive(state, src, packet):
    found = tuple(NAMES)
""",
    "a keyword default": """
def receive(state, src, packet, *, names=frozenset({"x", "y", "z"})):
    found = tuple(names)
""",
    "an attribute of the function": """
def helper(packet):
    return tuple(helper.names)
helper.names = frozenset({"x", "y", "z"})
def receive(state, src, packet):
    found = helper(packet)
""",
    "the middle of three": """
def receive(state, src, packet):
    found = tuple(map(str, {1, 2, 3}))[1:]
""",
    "a helper": """
def helper(packet):
    return tuple({"x", "y", packet})
def receive(state, src, packet):
    found = helper(packet)
""",
    "a table of helpers": """
TABLE = {"helpers": [lambda packet: tuple({"x", "y", packet})]}
def receive(state, src, packet):
    found = TABLE["helpers"][0](packet)
""",
    "a cached helper": """
@functools.lru_cache
def helper(packet):
    return tuple({"x", "y", packet})
def receive(state, src, packet):
    found = helper(packet)
""",
    "a local function": """
def receive(state, src, packet):
    def helper():
        return tuple({"x", "y", packet})
    found = helper()
""",
    "a local set of a wrapping function": """
def made():
    names = frozenset({"x", "y", "z"})
    def receive(state, src, packet):
        found = tuple(names)
        return Step(Bag(state.got | {packet}, found[:1]))
    return receive
receive = made()
def _unused(state, packet, found):
    pass
""",
    "a partial function": """
def helper(names, state, src, packet):
    return Step(Bag(state.got | {packet}, tuple(names)[:1]))
receive = functools.partial(helper, frozenset({"x", "y", "z"}))
def _unused(state, packet, found):
    pass
""",
    "a bound method": """
class Handlers:
    def receive(self, state, src, packet):
        return Step(Bag(state.got | {packet}, tuple({"x", "y", packet})[:1]))
receive = Handlers().receive
def _unused(state, packet, found):
    pass
""",
}


@pytest.mark.parametrize("where", ORDER_FAULTS)
def test_dependence_on_the_order_of_a_set_is_reported(tmp_path: Path, where: str) -> None:
    text = report(toy(tmp_path, ORDER_FAULTS[where] + FIRST_ONLY))
    assert text.startswith("receive of protocol 'toy' depends on the order in which a set or map")
    assert "state.extra[0] was '" in text
    assert "it was called as receive(Bag(got={" in text


def test_a_helper_imported_from_another_module_is_followed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.syspath_prepend(str(tmp_path))
    name = f"helpers{next(_serial)}"
    load(tmp_path, 'def pick(packet):\n    return tuple({"x", "y", packet})[:1]\n', name)
    for line, call in ((f"import {name}", f"{name}.pick"), (f"from {name} import pick", "pick")):
        body = f"""
{line}
def receive(state, src, packet):
    return Step(Bag(state.got | {{packet}}, {call}(packet)))
"""
        assert "depends on the order" in report(toy(tmp_path, body))


def test_an_installed_protocol_is_followed_too(tmp_path: Path) -> None:
    installed = tmp_path / "site-packages"
    installed.mkdir()
    protocol = toy(installed, ORDER_FAULTS["a helper"] + FIRST_ONLY)
    assert "depends on the order" in report(protocol)


def test_a_set_whose_copy_iterates_otherwise_is_not_taken_for_an_identity(tmp_path: Path) -> None:
    """The hashes of 3 and 11 collide in a small set, so its order is the order of insertion."""
    assert list(frozenset((3, 11))) != list(frozenset(list(frozenset((3, 11)))))
    body = """
def initial(actor, actors):
    return Bag(frozenset((3, 11)))
def receive(state, src, packet):
    return Step(evolve(state, extra=tuple(state.got)[:1]))
"""
    text = report(toy(tmp_path, body))
    assert "depends on the order in which a set or mapping is iterated" in text
    assert "state.extra[0] was 11 and then 3" in text


def test_dependence_on_the_order_of_a_mapping_is_reported(tmp_path: Path) -> None:
    text = report(
        toy(
            tmp_path,
            """
class Frozen(collections.UserDict):
    def __hash__(self):
        return hash(frozenset(self.data.items()))

def initial(actor, actors):
    return Bag(extra=Frozen({"x": 1, "y": 2}))

def receive(state, src, packet):
    return Step(state, sends=tuple((1, key) for key in state.extra))
""",
        )
    )
    assert "depends on the order in which a set or mapping is iterated" in text
    assert "sends[0][1] was 'x' and then 'y'" in text


@pytest.mark.parametrize(
    ("expression", "fault"),
    [
        ("hash(packet) % 2", "depends on hash(), which differs from process to process"),
        ("hash((src, Bag(packet))) % 2", "depends on hash()"),
        ("id(packet) % 2", "depends on id(), which is no part of a value"),
        ("random.randrange(2)", "it draws from the module random"),
        ("int(state is START)", "depends on the identity of objects"),
    ],
)
def test_what_is_no_argument_is_reported(tmp_path: Path, expression: str, fault: str) -> None:
    text = report(
        toy(
            tmp_path,
            f"""
from time import time as clock
START = Bag()
def initial(actor, actors):
    return START
def receive(state, src, packet):
    return Step(evolve(state, got=packet, extra={expression}))
""",
        )
    )
    assert text.startswith("receive of protocol 'toy' ")
    assert fault in text
    assert "state.extra was " in text
    assert "it was called as receive(Bag(" in text


@pytest.mark.parametrize("name", ["setswitchinterval", "setrecursionlimit"])
def test_a_call_that_changes_the_interpreter_is_refused_before_it_runs(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Otherwise a handler could keep antecede from ending it."""
    body = f"""
from sys import {name} as change
def receive(state, src, packet):
    change(5_000)
    return Step(evolve(state, got=packet))
"""
    before = sys.getswitchinterval(), sys.getrecursionlimit()
    try:
        with pytest.raises(ProtocolError, match=rf"receive of .* calls sys\.{name}\(\)"):
            run(watched(toy(tmp_path, body)))
        assert before == (sys.getswitchinterval(), sys.getrecursionlimit())
    finally:
        sys.setswitchinterval(before[0])
        sys.setrecursionlimit(before[1])


def test_hashes_of_numbers_are_the_same_everywhere_and_pass(tmp_path: Path) -> None:
    body = """
def receive(state, src, packet):
    return Step(evolve(state, got=packet, extra=hash((src, 1.5, Message(0, src, (1,))))))
"""
    state = run(watched(toy(tmp_path, body)))
    assert hash((1, 1.5, Message(0, 1, (1,)))) == state.extra


# What outlives a call.


@pytest.mark.parametrize(
    ("body", "variable"),
    [
        ("COUNT = 0", "global COUNT; COUNT += 1; found = COUNT"),
        ("COUNT = [0]", "COUNT[0] += 1; found = COUNT[0]"),
        ("COUNT = itertools.count()", "found = next(COUNT)"),
    ],
)
def test_a_variable_of_the_module_that_a_call_changes_is_named(
    tmp_path: Path, body: str, variable: str
) -> None:
    text = report(
        toy(
            tmp_path,
            f"""
import itertools
import linecache
{body}
def receive(state, src, packet):
    {variable}
    return Step(evolve(state, extra=found))
""",
        )
    )
    assert "receive of protocol 'toy' returned different results for the same arguments" in text
    assert f"a call changes the variable {body.split()[0]} from " in text
    assert "it was called as receive(Bag(got={},extra=()), 0, 'a')" in text


@pytest.mark.parametrize(
    "body",
    [
        """
def receive(state, src, packet, calls=[]):
    calls.append(packet)
    return Step(evolve(state, extra=len(calls)))
""",
        """
def receive(state, src, packet):
    receive.calls += 1
    return Step(evolve(state, extra=receive.calls))
receive.calls = 0
""",
        """
def made():
    calls = 0
    def receive(state, src, packet):
        nonlocal calls
        calls += 1
        return Step(evolve(state, extra=calls))
    return receive
receive = made()
""",
    ],
)
def test_other_things_that_outlive_a_call_are_reported(tmp_path: Path, body: str) -> None:
    assert "different results for the same arguments" in report(toy(tmp_path, body))


def test_what_another_handler_left_behind_is_reported(tmp_path: Path) -> None:
    protocol = watched(
        toy(
            tmp_path,
            """
LAST = [0]
def causal_send(state, message):
    LAST[0] = len(state.got)
    return Step(state)
def receive(state, src, packet):
    return Step(Bag(state.got | {packet}, LAST[0]))
""",
        )
    )
    run(protocol)
    with pytest.raises(ProtocolError) as caught:
        look_back(protocol)
    text = str(caught.value)
    assert "receive of protocol 'toy' returned another result when it was called" in text
    assert "state.extra was 0 and then 4" in text
    assert "it uses the variable LAST, which can change" in text
    assert "it was called as receive(Bag(got={},extra=()), 0, 'a')" in text


def test_a_repeated_call_that_raises_is_reported(tmp_path: Path) -> None:
    text = report(
        toy(
            tmp_path,
            """
SEEN = []
def receive(state, src, packet):
    if packet in SEEN:
        raise TypeError("twice")
    SEEN.append(packet)
    return Step(state)
""",
        )
    )
    assert "and then raised TypeError: twice; it uses the variable SEEN, which can change" in text


# Arguments.


@pytest.mark.parametrize(
    ("parameter", "statement"),
    [
        ("state", "object.__setattr__(state, 'extra', src + 1)"),
        ("packet", "object.__setattr__(packet, 'extra', src + 1)"),
    ],
)
def test_a_changed_argument_is_named(tmp_path: Path, parameter: str, statement: str) -> None:
    module = load(
        tmp_path,
        HEAD
        + f"""
def receive(state, src, packet):
    {statement}
    return Step(state)
""",
    )
    with pytest.raises(ProtocolError) as caught:
        watched(as_protocol(module)).receive(module.Bag(), 0, module.Bag(extra=0))
    assert f"receive of protocol 'toy' changed its argument {parameter!r}, which was" in str(
        caught.value
    )
    assert "it was called as receive(Bag(got={},extra=()), 0, " in str(caught.value)


def test_an_argument_that_cannot_be_hashed_is_named(tmp_path: Path) -> None:
    module = load(tmp_path, HEAD)
    with pytest.raises(ProtocolError) as caught:
        watched(as_protocol(module)).receive(module.Bag(extra=[]), 0, "a")
    assert "was given a bad value: state.extra is a list; use a tuple" in str(caught.value)


# Values that cannot be parts of a state.


@pytest.mark.parametrize(
    ("classes", "result", "fault"),
    [
        ("", "Step(Bag(extra=[1]))", "state.extra is a list; use a tuple"),
        ("", "Step(Bag(extra={}))", "state.extra is a dict; use a tuple of pairs"),
        ("", "Step(Bag(extra=set()))", "state.extra is a set; use a frozenset"),
        ("", "Step(Bag(extra=bytearray(1)))", "state.extra is a bytearray; use bytes"),
        ("", "Step(Bag(extra=collections.deque()))", "state.extra is a deque; use a tuple"),
        ("", "Step(Bag(extra=(0, Bag(extra=[]))))", "state.extra[1].extra is a list; use a tuple"),
        ("", "Step([])", "state is a list; use a tuple"),
        ("", "Step(state, sends=[])", "sends is a list; use a tuple"),
        ("", "Step(state, sends=((1, {}),))", "sends[0][1] is a dict; use a tuple of pairs"),
        ("", "Step(state, deliveries=[])", "deliveries is a list; use a tuple"),
        ("", "Step(state, sends=((d, 0) for d in (1,)))", "sends: a value of type generator"),
        ("", "Step(Bag(extra=len))", "state.extra: a value of type builtin_function_or_method"),
        ("", "Step(Bag(extra=float('nan')))", "state.extra is nan, which is not equal to itself"),
        ("import numpy", "Step(Bag(extra=numpy.zeros(1)))", "state.extra: a value of type ndarray"),
        (
            "class Table(collections.UserDict): pass",
            "Step(Bag(extra=Table(a=1)))",
            "state.extra cannot be hashed (unhashable type: 'Table')",
        ),
        ("@define\nclass X: x: int = 0", "Step(X())", "class X is not frozen"),
        ("@define\nclass X: x: int = 0", "Step(X())", "declare it with @attrs.frozen"),
        (
            "import dataclasses\nX = dataclasses.make_dataclass('X', [('x', int, 0)])",
            "Step(X())",
            "declare it with @dataclass(frozen=True)",
        ),
        (
            "@define(unsafe_hash=True)\nclass X: x: int = 0",
            "Step(Bag(extra=X()))",
            "state.extra is of a class that cannot be used: class X is not frozen",
        ),
        (
            "@frozen(eq=False)\nclass X: x: int = 0",
            "Step(X())",
            "class X compares objects, not values",
        ),
        (
            "@frozen\nclass X:\n    x: int = 0\n    y: int = field(default=0, eq=False)",
            "Step(X())",
            "equality of class X leaves out field 'y'; states that differ in it would be taken",
        ),
        (
            "@frozen(eq=False)\nclass X:\n    x: int = 0\n    y: int = 0\n"
            "    def __eq__(self, other): return self.x == other.x\n"
            "    def __hash__(self): return 0",
            "Step(X())",
            "equality of class X leaves out field 'y'",
        ),
        (
            "@frozen\nclass X:\n    x: int = 0\n    def __hash__(self):\n        return id(self)",
            "Step(X())",
            "the hash of class X differs for equal values",
        ),
    ],
)
def test_a_value_that_cannot_be_part_of_a_state_is_named(
    tmp_path: Path, classes: str, result: str, fault: str
) -> None:
    body = f"{classes}\ndef receive(state, src, packet):\n    return {result}\n"
    text = report(toy(tmp_path, body))
    assert text.startswith("receive of protocol 'toy' returned a value that cannot be used: ")
    assert fault in text
    assert text.endswith("it was called as receive(Bag(got={},extra=()), 0, 'a')")


def test_an_unusable_initial_state_is_named(tmp_path: Path) -> None:
    text = report(toy(tmp_path, "def initial(actor, actors):\n    return Bag(got=[])\n"))
    assert "initial of protocol 'toy' returned a value that cannot be used: state.got is a" in text
    assert text.endswith("it was called as initial(0, 3)")


def test_equal_values_that_are_not_the_same_are_reported(tmp_path: Path) -> None:
    text = report(
        toy(
            tmp_path,
            """
def receive(state, src, packet):
    return Step(Bag(extra=True if packet == "a" else 1))
""",
        )
    )
    assert "is equal to an earlier value and not the same" in text
    assert "1 is equal to True" in text


# The other functions of a protocol.


@pytest.mark.parametrize(
    ("body", "start", "end"),
    [
        (
            "def initial(actor, actors):\n    return Bag(extra=random.random())\n",
            "initial of protocol 'toy' returned different results",
            "initial(0, 3)",
        ),
        (
            "def causal_send(state, message):\n    return Step(state, sends=((1, tuple({1, 2})),))",
            "causal_send of protocol 'toy' depends on the order",
            "causal_send(Bag(got={'a'},extra=()), Message(sender=0,number=1,destinations=(1)))",
        ),
        (
            "def timeout(state):\n    return Step(state, sends=((1, hash('x') % 2),))",
            "timeout of protocol 'toy' depends on hash()",
            "timeout(Bag(got={'a'},extra=()))",
        ),
        (
            "witnesses = {'first': lambda state: min(state.got) == next(iter(state.got))}",
            "witness 'first' of protocol 'toy' depends on the order",
            "extra=()))",
        ),
        (
            "invariants = {'receive': lambda state: random.random() < 0.5}",
            "invariant 'receive' of protocol 'toy' returned different results",
            "receive(Bag(got={'a'},extra=()))",
        ),
    ],
)
def test_every_handler_and_predicate_is_watched(
    tmp_path: Path, body: str, start: str, end: str
) -> None:
    text = report(toy(tmp_path, body))
    assert text.startswith(start)
    assert text.endswith(end)


# Pure handlers.


@pytest.mark.parametrize("name", REGISTRY)
@pytest.mark.parametrize(("actors", "messages"), [(2, 2), (3, 1)])
def test_registered_protocols_pass(name: str, actors: int, messages: int) -> None:
    module, _, record = REGISTRY[name].partition(":")
    protocol = getattr(importlib.import_module(module), record)
    try:
        expected = explore(protocol, actors, messages)
    except ProtocolError:  # it fixes the number of actors, as the trees of the paper's figures do
        actors, messages = 4, 1
        expected = explore(protocol, actors, messages)
    assert expected == explore(watched(protocol, "all"), actors, messages)


PURE = {
    "one element of a set, whichever": """
def receive(state, src, packet):
    (found,) = [name for name in {"x", "y", packet} if name == packet]
    return Step(Bag(state.got | {packet}, found))
""",
    "sets in sorted order": """
def receive(state, src, packet):
    got = frozenset(state.got | {packet})
    return Step(Bag(got, tuple(sorted({name * 2 for name in got}))))
""",
    "sets of all kinds": """
PLAIN = frozenset
def receive(state, src, packet):
    got = frozenset.union(state.got, {packet}, *({name} for name in "xy"))
    got = (got & {packet, "x"}) ^ {"y"} | state.got
    assert isinstance(got, frozenset) and isinstance({"x"}, set)
    assert isinstance(state.got, (frozenset, tuple)) and not isinstance(got, set)
    assert issubclass(PLAIN, frozenset) and not issubclass(PLAIN, set)
    match got:
        case frozenset():
            pass
    changing = set(got)
    changing |= {"w"}
    changing.discard("w")
    assert got == changing and repr(set()) == "set()" and repr({"x"}) == "{'x'}"
    return Step(Bag(frozenset(changing), (str(frozenset({1})), len(got))))
""",
    "an equality of hashes or ids": """
def receive(state, src, packet):
    same = hash(packet) == hash(packet + ""), id(state) == id(state)
    return Step(Bag(state.got | {packet}, same))
""",
    "a table of results": """
MEMO = {}
def receive(state, src, packet):
    if (state, packet) not in MEMO:
        MEMO[state, packet] = Step(evolve(state, got=state.got | {packet}))
    return MEMO[state, packet]
""",
    "a cache": """
@functools.cache
def helper(got, packet):
    return got | {packet}
def receive(state, src, packet):
    return Step(Bag(helper(state.got, packet)))
""",
    "a log that nobody reads": """
LOG, CALLS = [], 0
def receive(state, src, packet):
    global CALLS
    CALLS += 1
    LOG.append(packet)
    return Step(evolve(state, got=state.got | {packet}))
""",
    "a generator that its arguments seed": """
def receive(state, src, packet):
    random.seed(src)
    return Step(Bag(state.got | {packet}, random.randrange(1000)))
""",
    "a class compared exactly": """
def receive(state, src, packet):
    if type(state.got) is not frozenset or type(set()) is not set:
        raise TypeError(type(state.got))
    return Step(evolve(state, got=state.got | {packet}))
""",
    "what stand-ins for sets cannot do": """
PLAIN = frozenset
def receive(state, src, packet):
    if type(state.got) is not PLAIN:
        raise TypeError("no stand-ins here")
    return Step(evolve(state, got=state.got | {packet}))
""",
    "a predicate that is true in several ways": """
witnesses = {"any": lambda state: tuple(state.got)}
""",
    "a class that copies itself": """
@frozen
class State:
    got: frozenset = frozenset()
    def __copy__(self):
        return self
def initial(actor, actors):
    return State()
""",
    "functions that call each other": """
def made():
    def even(n):
        return n == 0 or odd(n - 1)
    def odd(n):
        return n != 0 and even(n - 1)
    return even
even = made()
def twice(n, least={0, 1}):
    return n if n in least else twice(n - 1)
def receive(state, src, packet):
    return Step(Bag(state.got | {packet}, (even(len(state.got)), twice(src))))
""",
    "enums, named tuples, nothing": """
class Mode(enum.Enum):
    IDLE = 1
    BUSY = 2
Pair = collections.namedtuple("Pair", "mode names")
def receive(state, src, packet):
    pair = Pair(Mode.BUSY if src else Mode.IDLE, frozenset({packet, "x"}))
    assert state.extra == () or state.extra.mode is Mode.IDLE or state.extra.mode is Mode.BUSY
    return Step(Bag(state.got | {packet}, pair))
def timeout(state):
    return None
""",
    "a derived attribute outside the fields": """
@frozen(slots=False, cache_hash=True)
class State:
    got: frozenset = frozenset()
    @functools.cached_property
    def size(self):
        return len(self.got)
def initial(actor, actors):
    return State()
def receive(state, src, packet):
    return Step(evolve(state, got=state.got | {packet}), sends=((1, state.size),))
""",
}


@pytest.mark.parametrize("what", PURE)
def test_a_pure_handler_passes(tmp_path: Path, what: str) -> None:
    protocol = toy(tmp_path, PURE[what])
    luck = random.getstate()
    expected = run(protocol)
    assert expected == run(watched(protocol, "all"))
    random.setstate(luck)


@pytest.mark.parametrize(
    ("made", "used", "read"),
    [
        ("{}", "KEPT[packet] = state", "KEPT.values()"),
        ("[]", "KEPT.append(state)", "KEPT"),
        ("set()", "KEPT.add(state)", "KEPT"),
        ("collections.deque()", "KEPT.append(state)", "KEPT"),
        ("collections.OrderedDict()", "KEPT[packet] = state", "KEPT.values()"),
        ("collections.defaultdict(list)", "KEPT[packet] = state", "KEPT.values()"),
        ("None", "global KEPT; KEPT = state", "[KEPT]"),
        ("None", "THIS.KEPT = state", "[KEPT]"),
        ("None", "receive.kept = state", "[receive.kept]"),
    ],
)
def test_no_stand_in_for_a_set_gets_out_through_a_variable(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, made: str, used: str, read: str
) -> None:
    body = f"""
import importlib, sys
THIS = sys.modules[__name__]
KEPT = {made}
def receive(state, src, packet):
    {used}
    return Step(evolve(state, got=state.got | {{packet}}))
"""
    name = f"toy{next(_serial)}"
    monkeypatch.setitem(sys.modules, name, ModuleType(name))
    module = load(tmp_path, HEAD + body, name)
    state = run(watched(as_protocol(module), "all"))
    kept = eval(read, vars(module))
    assert {frozenset} == {type(each.got) for each in (state, *kept)}


def test_a_watched_handler_goes_by_its_own_name(tmp_path: Path) -> None:
    protocol = toy(tmp_path, "")
    assert protocol.receive is inspect.unwrap(watched(protocol).receive)


def test_source_that_changed_since_the_import_is_not_used(tmp_path: Path) -> None:
    module = load(tmp_path, HEAD + PURE["sets in sorted order"])
    Path(str(module.__file__)).write_text((HEAD + PURE["a cache"]).replace("{packet}", "{0}"))
    assert frozenset("abcd") == run(watched(as_protocol(module), "all")).got


def test_without_source_calls_of_set_are_still_seen() -> None:
    module = ModuleType("toy_without_source")
    exec(HEAD + ORDER_FAULTS["set()"] + FIRST_ONLY, vars(module))
    assert "depends on the order" in report(as_protocol(module))


Keep = Callable[[frozenset[Any]], frozenset[Any]]

KEEPS: dict[str, Keep] = {
    "all": lambda got: got,
    "least": lambda got: frozenset(sorted(got, key=repr)[:2]),
    "short": lambda got: frozenset({element for element in got if len(repr(element)) < 5}),
    "without greatest": lambda got: got - {max(got, key=repr, default=None)},
    "pairs": lambda got: got | {(len(got), len(got) % 2)},
}

SHOWS: dict[str, Callable[[frozenset[Any]], Any]] = {
    "size": len,
    "sorted": lambda got: tuple(sorted(got, key=repr)),
    "itself": lambda got: got,
    "joined": lambda got: "".join(sorted(map(repr, got))),
    "counted": lambda got: sum(isinstance(element, str) for element in got),
}


@given(
    keep=st.sampled_from(sorted(KEEPS)),
    show=st.sampled_from(sorted(SHOWS)),
    packets=st.lists(st.text("abc") | st.tuples(st.integers(0, 3), st.text("ab")), max_size=5),
)
def test_handlers_composed_of_pure_parts_are_never_reported(
    keep: str, show: str, packets: list[Any]
) -> None:
    def receive(state: Any, src: int, packet: Any) -> Step:
        got = KEEPS[keep](state[0] | {packet})
        return Step((got, SHOWS[show](got)), sends=((src, SHOWS[show](state[0])),))

    def nothing(actor: int, actors: int) -> Any:
        return (frozenset(), None)

    def idle(state: Any, message: Message) -> Step:
        return Step(state)

    plain = Protocol("composed", nothing, idle, receive)
    expected, actual = plain.initial(0, 2), watched(plain, "all")
    state = actual.initial(0, 2)
    for packet in packets:
        expected = plain.receive(expected, 1, packet).state
        state = actual.receive(state, 1, packet).state
    assert expected == state


elements = st.frozensets(st.integers(0, 9) | st.text("ab", max_size=2), max_size=5)


@pytest.mark.parametrize("base", [set, frozenset])
@given(one=elements, other=elements, order=st.sampled_from(ORDERS))
def test_stand_ins_are_equal_to_the_sets_they_stand_for(
    base: Any, one: frozenset[Any], other: frozenset[Any], order: Any
) -> None:
    kind = scrambled_class(base, order)
    left, right, plain = kind(one), kind(other), base(one)
    pairs = [
        (plain, left),
        (plain | other, left | right),
        (plain & other, left & right),
        (plain - other, left - right),
        (plain ^ other, left ^ right),
        (base(other) - one, base(other) - left),
        (plain.union(other, one), left.union(right, one)),
        (plain.difference(other), left.difference(right)),
        (plain.copy(), left.copy()),
    ]
    for expected, actual in pairs:
        assert expected == actual
        assert kind is type(actual)
        assert sorted(expected, key=repr) == sorted(actual, key=repr)
    assert isinstance(plain, kind)
    assert not isinstance(plain, scrambled_class(frozenset if base is set else set, order))
    assert base is set or hash(plain) == hash(left)


def test_a_popped_element_is_the_first_one() -> None:
    backwards = scrambled_class(set, ORDERS[1])({"x", "y", "z"})
    last, *others = sorted(backwards, reverse=True)
    assert [last, *others] == list(backwards)
    assert last == backwards.pop()
    assert set(others) == backwards
    with pytest.raises(KeyError):
        scrambled_class(set, ORDERS[1])().pop()


# Modes and cost.


def counted(calls: list[str]) -> Protocol:
    """Return a protocol whose `receive` leaves the packet of each call in `calls`."""

    def receive(state: int, src: int, packet: str) -> Step:
        calls.append(packet)
        return Step(state)

    return Protocol("counted", lambda i, n: 0, lambda s, m: Step(s), receive)


def test_mode_off_returns_the_protocol_itself() -> None:
    protocol = counted([])
    assert protocol is watched(protocol, "off")


def test_the_record_keeps_its_other_fields(tmp_path: Path) -> None:
    protocol = toy(tmp_path, "witnesses = {'any': lambda state: bool(state.got)}\n")
    after = watched(protocol)
    assert protocol.name == after.name
    assert protocol.summary == after.summary
    assert protocol.source == after.source
    assert after.timeout is None
    assert list(protocol.witnesses) == list(after.witnesses)
    assert after.witnesses["any"](run(after)) is True


def test_equal_arguments_are_checked_once() -> None:
    calls: list[str] = []
    protocol = watched(counted(calls))
    protocol.receive(0, 1, "a")
    assert len(calls) > 1
    calls.clear()
    protocol.receive(0, 1, "a")
    assert len(calls) == 1


def test_after_the_first_calls_only_a_sample_is_checked() -> None:
    calls: list[str] = []
    protocol = watched(counted(calls))
    for number in range(FIRST):
        protocol.receive(0, 1, str(number))
    assert len(calls) >= 2 * FIRST
    checked = 0
    for number in range(FIRST, 10_000):
        calls.clear()
        protocol.receive(0, 1, str(number))
        checked += len(calls) > 1
    assert 100 < checked < 300


def test_mode_all_has_no_limit() -> None:
    calls: list[str] = []
    protocol = watched(counted(calls), "all", first=1)
    for packet in "abcd":
        calls.clear()
        protocol.receive(0, 1, packet)
        assert len(calls) > 1


def impure(faulty: Callable[[int], bool]) -> Protocol:
    """Return a protocol whose results are random for the packets that are `faulty`."""

    def receive(state: int, src: int, packet: int) -> Step:
        return Step(random.randrange(1 << 30) if faulty(packet) else 0)

    return attrs.evolve(counted([]), receive=receive)


def receive_all(protocol: Protocol, packets: int) -> None:
    for packet in range(packets):
        protocol.receive(0, 1, packet)


@pytest.mark.parametrize("packet", [0, 1, FIRST // 2, FIRST - 1])
def test_a_fault_of_one_of_the_first_calls_is_always_found(packet: int) -> None:
    with pytest.raises(ProtocolError, match="different results for the same arguments"):
        receive_all(watched(impure(lambda other: other == packet)), FIRST)


def test_a_fault_that_many_late_calls_have_is_found_by_the_sample() -> None:
    with pytest.raises(ProtocolError, match="different results for the same arguments"):
        receive_all(watched(impure(lambda packet: packet >= 3_000)), 4_000)


def test_a_fault_of_one_late_call_can_be_missed_and_is_found_by_mode_all() -> None:
    protocol = impure(lambda packet: packet == 3_000)
    receive_all(watched(protocol), 4_000)
    with pytest.raises(ProtocolError, match="different results for the same arguments"):
        receive_all(watched(protocol, "all"), 4_000)


def test_a_variable_that_changed_after_the_last_check_is_found_when_looking_back() -> None:
    shift = [0]
    protocol = watched(
        attrs.evolve(counted([]), receive=lambda state, _src, packet: Step(packet + shift[0]))
    )
    receive_all(protocol, 10)
    look_back(protocol)
    shift[0] = 1
    with pytest.raises(ProtocolError, match=r"another result when it was called .* later"):
        look_back(protocol)


def test_a_check_looks_back_after_the_search(monkeypatch: pytest.MonkeyPatch) -> None:
    def found(_protocol: Protocol) -> None:
        raise ProtocolError("it returned another result")

    monkeypatch.setattr(pipeline, "look_back", found)
    result = check(Spec(protocol="mfss", actors=2, messages=1)).result
    assert Verdict.ERROR is result.verdict
    assert "it returned another result" in str(result.error)


def test_the_time_of_the_checks_is_part_of_the_statistics() -> None:
    spec = Spec(protocol="mfss", actors=2, messages=1)
    assert check(spec).result.statistics["selfcheck_seconds"] > 0
    assert "selfcheck_seconds" not in check(spec, selfcheck="off").result.statistics


def test_errors_of_the_handler_pass_through_unchanged() -> None:
    error = ValueError("not mine")

    def receive(state: int, src: int, packet: str) -> Step:
        raise error

    protocol = watched(attrs.evolve(counted([]), receive=receive))
    with pytest.raises(ValueError, match="not mine") as caught:
        protocol.receive(0, 1, "a")
    assert error is caught.value


def test_what_is_no_step_is_left_to_the_caller_to_report() -> None:
    expected: Any = ["a"]
    protocol = watched(attrs.evolve(counted([]), receive=lambda state, src, packet: expected))
    assert expected is protocol.receive(0, 1, "a")


def test_an_unknown_mode_is_named_with_the_choices() -> None:
    expected = "unknown selfcheck 'onn'; did you mean 'on'? available: all, off, on"
    with pytest.raises(InputError) as caught:
        watched(counted([]), "onn")
    assert expected == str(caught.value)


def test_a_function_is_not_taken_for_one_whose_inner_code_differs(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    sources = [f"def f(xs):\n    return sum(x + {k} for x in xs)\n" for k in (1, 2)]
    older, file = sources[0].splitlines(keepends=True), "a file that was loaded twice"
    monkeypatch.setitem(linecache.cache, file, (len(sources[0]), None, older, file))
    scope: dict[str, Any] = {"__name__": "mine"}
    exec(compile(sources[1], file, "exec"), scope)
    world = World(ORDERS[1], frozenset({"order"}), frozenset({"mine"}))
    assert world.value(scope["f"])([1, 2]) == scope["f"]([1, 2])
