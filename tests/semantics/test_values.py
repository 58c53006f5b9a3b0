"""Values: the canonical text tells all values apart, and what equality does not tell is refused."""

from __future__ import annotations

import copy
import dataclasses
import enum
import pickle
from collections.abc import Callable
from typing import Any, NamedTuple

import pytest
from attrs import field, frozen
from hypothesis import assume, example, given
from hypothesis import strategies as st

from antecede.checker.check.pipeline import check
from antecede.checker.check.spec import Spec
from antecede.checker.model import Message, Protocol, Step
from antecede.checker.search.options import Options
from antecede.checker.search.result import Result, Verdict
from antecede.checker.semantics.values import Values, canonical, contains, messages_in, same
from antecede.checker.support.errors import ProtocolError

EVERYWHERE = [
    (engine, search) for engine in ("plain", "local") for search in ("breadth", "depth", "random")
]
in_every_engine = pytest.mark.parametrize(("engine", "search"), EVERYWHERE)


class Ack(NamedTuple):
    mid: int


class Nack(NamedTuple):
    mid: int


class Name(str):
    __slots__ = ()


class Bytes(bytes):
    __slots__ = ()


class Colour(enum.IntEnum):
    RED = 1


class Taste(enum.IntEnum):
    SWEET = 1


@frozen
class Bag:
    inside: Any


@frozen
class Unseen:
    """A class whose equality leaves out a field."""

    number: int
    note: Any = field(eq=False)


@frozen(eq=False)
class Lonely:
    """A class whose values are equal only to themselves."""

    inside: Any


@dataclasses.dataclass(frozen=True)
class Data:
    message: Message


class Outer:
    @frozen
    class Ack:
        """One class of this name."""


class Other:
    @frozen
    class Ack:
        """And another one."""


def made_twice() -> type:
    @frozen
    class Made:
        """A class of its own each time."""

    return Made


def sends_first(one: Any, other: Any) -> Protocol:
    """Return a protocol whose actors send one value with their first message and another then."""

    def causal_send(state: int, message: Message) -> Step:
        extra = one if message.number == 1 else other
        return Step(state, sends=((message.receiver, Data(message)), (message.receiver, extra)))

    def receive(state: int, _src: int, packet: Any) -> Step:
        return Step(state, deliveries=(packet.message,) if isinstance(packet, Data) else ())

    return Protocol("odd", lambda _actor, _actors: 0, causal_send, receive)


def found(protocol: Protocol, engine: str, search: str, messages: int = 2, **how: Any) -> Result:
    spec = Spec(protocol="odd", actors=2, messages=messages, search=search, **how)
    options = Options(engine=engine, walks=50)
    return check(spec, options, protocol=protocol, selfcheck="off").result


TOLD_APART = [
    (1, True),
    (0, False),
    (1, 1.0),
    (0.0, -0.0),
    ("a", b"a"),
    (Ack(1), Nack(1)),
    (Ack(1), (1,)),
    (Colour.RED, Taste.SWEET),
    (Colour.RED, 1),
    (Bag(1), Bag(True)),
    (Bag((1, 2)), Bag((1, 2.0))),
    (frozenset({1}), frozenset({True})),
    (Outer.Ack(), Other.Ack()),
    ((), frozenset()),
    (("a", "b"), ("a,'b'",)),
]


@pytest.mark.parametrize(("one", "other"), TOLD_APART, ids=repr)
def test_canonical_text_tells_values_apart(one: Any, other: Any) -> None:
    assert canonical(one) != canonical(other)
    assert canonical(one) == canonical(copy.deepcopy(one))


@pytest.mark.parametrize("pair", [pair for pair in TOLD_APART if pair[0] == pair[1]], ids=repr)
def test_what_is_equal_and_not_the_same_is_refused_where_both_are_met(pair: Any) -> None:
    values = Values()
    assert not same(*pair)
    values.kept(pair[0], "a packet")
    with pytest.raises(ProtocolError, match="a packet is equal to an earlier value and not the"):
        values.kept(pair[1], "a packet")


EQUALS: list[tuple[Any, ...]] = [
    (0, False, 0.0, -0.0),
    (1, True, 1.0, Colour.RED, Taste.SWEET),
    (Ack(1), Nack(1), (1,), (True,)),
    ("a", Name("a")),
    (b"a", Bytes(b"a")),
    (None,),
]
"""Rows of equal values: each has a text of its own, or none."""


@st.composite
def pairs(draw: st.DrawFn, depth: int = 3) -> tuple[Any, Any]:
    """Draw two values that are equal, or that differ in what equality may leave out."""
    if not depth or draw(st.booleans()):
        row = st.sampled_from(draw(st.sampled_from(EQUALS)))
        return draw(row), draw(row)
    parts = draw(st.lists(pairs(depth - 1), max_size=3))
    ones, others = [part[0] for part in parts], [part[1] for part in parts]
    kind = draw(st.sampled_from([tuple, frozenset, Bag, Lonely, Unseen]))
    if kind is Unseen:
        return Unseen(1, tuple(ones)), Unseen(1, draw(pairs(depth - 1))[1])
    if kind in {tuple, frozenset}:
        return kind(ones), kind(others)
    return kind(tuple(ones)), kind(tuple(others))


def text(value: Any) -> str | None:
    """Return the canonical text of a value; None if it has none."""
    try:
        return canonical(value)
    except ProtocolError:
        return None


@given(pairs())
@example((Unseen(1, frozenset({Lonely(1)})), Unseen(1, frozenset({Lonely(1)}))))
def test_equal_values_are_the_same_if_they_have_the_same_text(pair: tuple[Any, Any]) -> None:
    one, other = pair
    assume(one == other and text(one) is not None)
    try:
        answer = same(one, other)
    except ProtocolError:
        answer = False
    assert answer == (text(one) == text(other))


def test_value_is_kept_as_it_was_first_met() -> None:
    values, first = Values(), Bag((1, 2))
    assert first is values.kept(first, "a packet")
    assert first is values.kept(Bag((1, 2)), "a packet")


def test_another_process_meets_values_of_its_own() -> None:
    values = Values()
    values.kept(1, "a packet")
    assert {} == pickle.loads(pickle.dumps(values)).known


def test_dataclass_and_named_tuple_are_shown_by_class_and_field() -> None:
    assert "Ack(mid=1)" == canonical(Ack(1))
    assert "Data(message=Message(sender=0,number=1,destinations=(1)))" == canonical(
        Data(Message(0, 1, (1,)))
    )


def test_messages_are_found_in_dataclasses_and_named_tuples() -> None:
    message = Message(0, 1, (1,))
    assert [message] == list(messages_in(Data(message)))
    assert contains(Data(message), message)


@pytest.mark.parametrize(
    ("value", "said"),
    [
        (float("nan"), "a packet holds nan, which is not equal to itself"),
        (Bag((1, float("nan"))), "a packet holds nan, which is not equal to itself"),
        ([1], "a packet cannot be hashed"),
        (Bag([1]), "a packet cannot be hashed"),
        (Name("a"), "a value of type Name"),
        (1j, "a value of type complex"),
    ],
    ids=repr,
)
def test_value_that_is_no_value_is_refused(value: Any, said: str) -> None:
    with pytest.raises(ProtocolError) as caught:
        Values().kept(value, "a packet")
    assert said in str(caught.value)


def test_two_classes_of_one_name_are_refused() -> None:
    values = Values()
    values.kept(made_twice()(), "a packet")
    with pytest.raises(ProtocolError, match="give the two classes different names"):
        values.kept(made_twice()(), "a packet")


UNTOLD: list[Callable[[], tuple[Any, Any]]] = [
    lambda: (Ack(1), Nack(1)),
    lambda: (Colour.RED, Taste.SWEET),
    lambda: (1, True),
    lambda: (1, 1.0),
    lambda: (0.0, -0.0),
    lambda: (Bag(frozenset({1})), Bag(frozenset({1.0}))),
    lambda: (Unseen(1, "a"), Unseen(1, "b")),
    lambda: ("a", Name("a")),
]


@in_every_engine
@pytest.mark.parametrize("pair", UNTOLD)
def test_every_engine_refuses_packets_that_equality_does_not_tell(
    pair: Any, engine: str, search: str
) -> None:
    result = found(sends_first(*pair()), engine, search)
    assert Verdict.ERROR is result.verdict
    assert "causal_send of protocol 'odd' returned what cannot be used" in str(result.error)


@pytest.mark.parametrize(("engine", "search"), [e for e in EVERYWHERE if e[1] != "random"])
def test_every_engine_takes_packets_of_classes_in_different_classes_for_two(
    engine: str, search: str
) -> None:
    result = found(sends_first(Outer.Ack(), Other.Ack()), engine, search)
    assert Verdict.VIOLATED is result.verdict, "the network reorders"
    both = found(sends_first(Outer.Ack(), Other.Ack()), engine, search, properties=("integrity",))
    renamed = found(sends_first("one", "other"), engine, search, properties=("integrity",))
    assert renamed.counts == both.counts
    assert Verdict.HOLDS is both.verdict


@in_every_engine
@pytest.mark.parametrize("destination", [1.0, True, Colour.RED])
def test_every_engine_refuses_a_destination_that_is_no_int(
    destination: Any, engine: str, search: str
) -> None:
    def causal_send(state: int, message: Message) -> Step:
        return Step(state, sends=((destination, Data(message)),))

    protocol = sends_first(0, 0)
    protocol = Protocol("odd", protocol.initial, causal_send, protocol.receive)
    result = found(protocol, engine, search, messages=1)
    assert Verdict.ERROR is result.verdict
    assert "with a destination from 0 to 1, an int" in str(result.error)


@in_every_engine
def test_every_engine_refuses_a_delivered_message_that_only_equals_the_one_sent(
    engine: str, search: str
) -> None:
    def receive(state: int, _src: int, packet: Data) -> Step:
        m = packet.message
        return Step(state, deliveries=(Message(float(m.sender), m.number, m.destinations),))  # type: ignore[arg-type]

    def causal_send(state: int, message: Message) -> Step:
        return Step(state, sends=((message.receiver, Data(message)),))

    protocol = Protocol("odd", lambda _actor, _actors: 0, causal_send, receive)
    result = found(protocol, engine, search, messages=1)
    assert Verdict.ERROR is result.verdict
    assert "a delivered message is equal to an earlier value" in str(result.error)
