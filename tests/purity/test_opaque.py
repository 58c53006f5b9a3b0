"""Handlers and predicates that look at the numbers of messages are refused where there are none."""

from __future__ import annotations

import copy
import pickle
from collections.abc import Callable
from operator import attrgetter
from typing import Any

import pytest
from attrs import evolve, frozen

from antecede.checker.check.pipeline import check
from antecede.checker.check.spec import Spec
from antecede.checker.model import Message, Property, Protocol, Step, What, When
from antecede.checker.purity.opaque import FAR, renumbered, told
from antecede.checker.render.text import check_text
from antecede.checker.search.options import Bounds, Options
from antecede.checker.search.result import Result, Verdict
from antecede.checker.support.errors import InputError
from antecede.protocols.unordered import UNORDERED
from tests.questions import HIDING

ENGINES = pytest.mark.parametrize("engine", ["plain", "local"])


@frozen
class Held:
    """The messages that an actor has received, and the time of its last delivery."""

    held: Any = ()
    seen: Any = ()
    ticks: int = 0


@frozen
class Data:
    message: Message


def send(state: Held, message: Message) -> Step:
    return Step(state, ((message.receiver, Data(message)),))


def protocol(receive: Callable[..., Step], **values: Any) -> Protocol:
    return Protocol(
        name="looks",
        summary="looks at messages",
        source="a test",
        initial=lambda _actor, _actors: Held(),
        causal_send=values.pop("causal_send", send),
        receive=receive,
        **values,
    )


DEFAULTS = ("integrity", "no-starvation")


def asked(found: Protocol, engine: str = "plain", **values: Any) -> Result:
    given = {"workload": "endless:2:[[1],[]]", "network": "fifo", "properties": DEFAULTS, **values}
    spec = Spec(protocol="looks", actors=2, **given)
    return check(spec, Options(engine=engine), Bounds(max_states=400), protocol=found).result


def in_order(state: Held, _src: int, packet: Data) -> Step:
    """Hold one message back, and deliver two in the order of their causal-sends."""
    if not state.held:
        return Step(Held((packet.message,)))
    both = (*state.held, packet.message)
    return Step(Held(), deliveries=tuple(sorted(both, key=lambda m: m.number)))


def once(state: Held, _src: int, packet: Data) -> Step:
    """Deliver a message unless an equal one came before."""
    if packet.message in state.seen:
        return Step(state)
    return Step(evolve(state, seen=(*state.seen, packet.message)), (), (packet.message,))


def into_a_set(state: Held, _src: int, packet: Data) -> Step:
    """Keep messages in a set, for others to look at."""
    return Step(Held(frozenset(state.held) | {packet.message}), deliveries=(packet.message,))


def two_in_a_set(state: Held, _src: int, packet: Data) -> Step:
    """Keep a message in a set, and deliver it with the next one."""
    if not state.held:
        return Step(Held(frozenset({packet.message})))
    both = state.held | {packet.message}
    return Step(Held(), deliveries=tuple(sorted(both, key=repr)))


def every_other_number(state: Held, message: Message) -> Step:
    return send(state, message) if message.number % 2 else Step(state)


def deliver(state: Held, _src: int, packet: Data) -> Step:
    return Step(state, deliveries=(packet.message,))


def keep(state: Held, _src: int, packet: Data) -> Step:
    """Keep two messages at most, for others to look at."""
    return Step(Held((*state.held, packet.message)[-2:]), deliveries=(packet.message,))


def deliver_newest(state: Held) -> Step | None:
    if len(state.held) < 2:
        return None
    newest = max(state.held, key=lambda m: m.number)
    return Step(Held(), deliveries=(newest,))


@ENGINES
@pytest.mark.parametrize(
    ("found", "sentence"),
    [
        (protocol(in_order), "receive of protocol 'looks' reads the number of a message"),
        (protocol(once), "receive of protocol 'looks' compares messages with each other"),
        (protocol(into_a_set), "receive of protocol 'looks' puts messages into a set"),
        (
            protocol(deliver, causal_send=every_other_number),
            "causal_send of protocol 'looks' reads the number of a message",
        ),
        (
            protocol(keep, actions={"newest": deliver_newest}),
            "action 'newest' of protocol 'looks' reads the number of a message",
        ),
        (
            protocol(keep, timeout=deliver_newest),
            "timeout of protocol 'looks' reads the number of a message",
        ),
    ],
)
def test_a_handler_that_looks_at_numbers_is_refused_by_name(
    engine: str, found: Protocol, sentence: str
) -> None:
    result = asked(found, engine)
    assert Verdict.ERROR is result.verdict
    assert sentence in str(result.error)
    assert "let the protocol number its messages itself" in str(result.error)


def test_the_same_handlers_are_no_error_where_messages_have_numbers() -> None:
    for receive in (in_order, once, into_a_set, two_in_a_set):
        finite: dict[str, Any] = {"workload": "script:[[1,1],[]]", "properties": ("all-delivered",)}
        assert Verdict.HOLDS is asked(protocol(receive), **finite).verdict


def test_a_run_that_only_exists_without_numbers_names_the_handler(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A fault that the calls do not show appears in the run; it was an internal error."""
    monkeypatch.setattr(
        "antecede.checker.check.pipeline.with_opaque_messages", lambda watched, *_, **__: watched
    )
    result = asked(protocol(two_in_a_set))
    assert Verdict.ERROR is result.verdict
    assert "receive of protocol 'looks' compares messages with each other" in str(result.error)
    assert "of a run it returned" in str(result.error)


@pytest.mark.integration
@pytest.mark.parametrize(
    ("name", "workload", "network"),
    [
        ("fifo", "endless:2:[[1],[0]]", "duplicating"),
        ("rst-before", "endless:2:[[[1,2]],[[0,2]],[0]]", "duplicating+lossy"),
        ("hybrid-basic", "endless:2:[[1],[]]", "unordered"),
        ("hybrid-multicast", "endless:1:[[1],[0]]", "duplicating"),
        ("newtop", "endless:2:[[1],[0]]", "fifo"),
    ],
)
def test_to_take_equal_packets_for_one_is_no_comparison_of_messages(
    name: str, workload: str, network: str
) -> None:
    """A packet may arrive twice there; the protocol distinguishes packets by its own numbers."""
    actors = workload.count("[") - 1 - 2 * workload.count("[[[")
    spec = Spec(protocol=name, actors=actors, workload=workload, network=network)
    result = check(spec, Options(engine="plain"), Bounds(max_states=1_000)).result
    assert result.error is None


SECOND, THIRD = Message(0, 2, (1,)), Message(0, 3, (1,))
KNOWN = {SECOND, THIRD}


HIDES: dict[str, Callable[[Message], bool]] = {
    "parsed": lambda message: "number=2" in repr(message),
    "constant": lambda message: message == SECOND or message in (THIRD, SECOND),
    "constant first": lambda message: SECOND == message or message == THIRD,
    "set of constants": lambda message: message in KNOWN,
    "new set of constants": lambda message: message in {SECOND, THIRD},
    "bytes": lambda message: pickle.dumps(message) in map(pickle.dumps, (SECOND, THIRD)),
    "getattr": lambda message: getattr(message, "number", 0) > 1,
    "attrgetter": lambda message: attrgetter("number")(message) > 1,
    **{way: hide(lambda message: message.number > 1, False) for way, hide in HIDING.items()},
}
"""Ways to drop all messages of a sender but the first, for a reason that shows only later."""

HARMLESS: dict[str, Callable[[Message], Message]] = {
    "class": lambda message: message if type(message) is Message else SECOND,
    "isinstance": lambda message: message if isinstance(message, Message) else SECOND,
    "copied": copy.copy,
    "copied deeply": copy.deepcopy,
    "pickled": lambda message: pickle.loads(pickle.dumps(message)),
    "compared with itself": lambda message: message if message in (message,) else SECOND,
    "destinations": lambda message: message if message.receiver == 1 - message.sender else SECOND,
}
"""Ways to look at a message that are the same for every number."""


LOOKS = protocol(
    keep,
    invariants={
        "ordered": lambda state: state.held == tuple(sorted(state.held, key=lambda m: m.number)),
        "different": lambda state: len(set(state.held)) == len(state.held),
        "few": lambda state: len(state.held) < 3,
    },
    joint_invariants={"apart": lambda states: len({*states[1].held}) == len(states[1].held)},
    measures={"newest": lambda state: max((m.number for m in state.held), default=0)},
)


@ENGINES
def test_predicates_that_look_at_numbers_are_left_out_and_named(engine: str) -> None:
    report = check(
        Spec(protocol="looks", actors=2, workload="endless:1"),
        Options(engine=engine),
        protocol=LOOKS,
    )
    assert Verdict.HOLDS is report.result.properties["invariant:few"]
    left = {"invariant:ordered", "invariant:different", "invariant:apart"}
    assert left.isdisjoint(report.result.properties)
    told_of = " ".join(check_text(report).split())
    assert (
        "Not judged: invariant:ordered, invariant:different and invariant:apart, which read "
        "the numbers of messages" in told_of
    )


@ENGINES
@pytest.mark.parametrize(
    "values",
    [
        {"properties": ("invariant:ordered",)},
        {"properties": ("invariant:different",)},
        {"properties": ("invariant:apart",)},
        {"properties": ("integrity",), "bound": ("newest=3",)},
    ],
)
def test_who_asks_for_one_is_refused(engine: str, values: dict[str, Any]) -> None:
    with pytest.raises(InputError, match="looks at the numbers of messages"):
        asked(LOOKS, engine, **values)


@ENGINES
def test_a_property_of_deliveries_that_reads_a_number_is_refused(
    engine: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The number of a message is its kind here, so that no number would be great."""
    few = Property(
        "few", "", What.DELIVERY, When.ALWAYS, lambda delivery: delivery.message.number < 3
    )
    first = evolve(few, name="first", predicate=lambda delivery: delivery.actor != 1)
    monkeypatch.setattr(
        "antecede.checker.check.spec.property_named",
        lambda name, _protocol: {"few": few, "first": first}[name],
    )
    with pytest.raises(InputError, match="few looks at the numbers of messages"):
        asked(UNORDERED, engine, properties=("few",))
    assert Verdict.VIOLATED is asked(UNORDERED, engine, properties=("first",)).verdict


def test_other_numbers_make_all_messages_different_but_the_one_that_is_followed() -> None:
    anonymous, marked = Message(0, 0, (1,)), Message(0, 1, (1,))
    others, originals = renumbered((anonymous, Data(anonymous), marked, (marked,)), FAR)
    one, two, followed, again = others
    assert one != two.message
    assert followed == again[0]
    assert (anonymous, Data(anonymous), marked) == told((one, two, followed), originals)
    assert type(one) is Message
    assert (0, 1) == (one.sender, one.receiver)


@pytest.mark.parametrize("read", HIDES.values(), ids=HIDES)
@ENGINES
def test_a_question_about_a_number_is_noticed_however_it_is_hidden(
    engine: str, read: Callable[[Message], bool]
) -> None:
    """The messages of a buffer of one have the number 0 or 1, so the answer never changes."""

    def receive(state: Held, _src: int, packet: Data) -> Step:
        return Step(state, (), () if read(packet.message) else (packet.message,))

    result = asked(protocol(receive), engine, workload="endless:1:[[1],[]]")
    assert Verdict.ERROR is result.verdict
    assert "receive of protocol 'looks'" in str(result.error)
    lost = {"workload": "script:[[1,1,1],[]]", "properties": ("all-delivered",)}
    assert Verdict.VIOLATED is asked(protocol(receive), engine, **lost).verdict


@pytest.mark.parametrize("look", HARMLESS.values(), ids=HARMLESS)
def test_what_does_not_tell_the_number_is_no_question(look: Callable[[Message], Message]) -> None:
    def receive(state: Held, _src: int, packet: Data) -> Step:
        return Step(state, deliveries=(look(packet.message),))

    result = asked(protocol(receive), workload="endless:1:[[1],[0]]")
    assert (None, Verdict.HOLDS) == (result.error, result.verdict)


@pytest.mark.parametrize("read", HIDES.values(), ids=HIDES)
def test_a_predicate_that_hides_its_question_about_a_number_is_refused(
    read: Callable[[Message], bool],
) -> None:
    found = protocol(keep, invariants={"read": lambda state: not any(map(read, state.held))})
    with pytest.raises(InputError, match="looks at the numbers of messages"):
        asked(found, workload="endless:1:[[1],[]]", properties=("invariant:read",))


def test_a_protocol_that_treats_messages_as_opaque_is_not_refused() -> None:
    spec = Spec("unordered", actors=2, workload="endless:1", properties=("no-starvation",))
    assert Verdict.HOLDS is check(spec, protocol=UNORDERED).result.verdict
