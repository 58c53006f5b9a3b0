"""A proof and a link say no more than was proved and compared, whatever a model declares."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import Any

import pytest
import z3
from attrs import evolve

from antecede.checker.check.spec import Spec, system_of
from antecede.checker.model import CausalSend, Protocol, Step
from antecede.checker.prove import front
from antecede.checker.prove.front import model_named
from antecede.checker.prove.link import Event, Link, Linked, View, causal_sent, delivered_in, link
from antecede.checker.prove.obligations import Answer, prove
from antecede.checker.prove.vocabulary import (
    APPLICATION,
    Conjunct,
    Guard,
    Model,
    Quiescence,
    actors,
    c,
    causal_send,
    deliver,
    delivered,
    dst,
    messages,
    sent,
    src,
)
from antecede.checker.support.errors import InputError
from antecede.checker.support.registry import load, protocol_named
from antecede.cli import main
from antecede.protocols import mfss_proof
from tests.campaigns.variations import delivers_early

x, y = messages("x y")
a = actors("a")

WAS_SENT = Guard("was causal-sent", sent(c))
ANY_ORDER = Model(
    protocol="fifo",
    title="delivers causal-sent messages in any order",
    source="none",
    relations=APPLICATION,
    actions=(causal_send(), deliver([WAS_SENT])),
    conjuncts=(),
    safety=Conjunct("nothing", "nothing", z3.BoolVal(True)),
)


def application(view: View, transition: Any, outcome: Any) -> Iterator[Event]:
    """Yield the causal-send and the deliveries of a transition, and nothing else."""
    if isinstance(transition, CausalSend):
        yield "causal-send", causal_sent(view, transition)
    for m in delivered_in(view, outcome):
        yield "deliver", m


def reversed_application(view: View, transition: Any, outcome: Any) -> Iterator[Event]:
    """As `application`, with the deliveries of a transition in the reverse order."""
    return reversed(list(application(view, transition, outcome)))


def nothing(_view: View, _transition: Any, _outcome: Any) -> Iterator[Event]:
    """Yield no action."""
    return iter(())


def sends_only(view: View, transition: Any, outcome: Any) -> Iterator[Event]:
    """Yield the causal-sends, and no deliveries."""
    return (event for event in application(view, transition, outcome) if event[0] != "deliver")


def unseeing(events: Callable[..., Iterator[Event]]) -> Link:
    """Return a link that compares neither states nor channels."""
    return Link(events=events, rebuild=lambda _view, _actor: None, local=lambda _state: None)


NOTHING = unseeing(nothing)
SMALL = evolve(unseeing(application), workload="script:[[1],[],[]]")
NO_LINK = "a text"


def linked(
    model: Model, declared: Link, protocol: Protocol | str, actors: int = 2, messages: int = 2
) -> Linked:
    """Return the link of a model to a protocol."""
    name = protocol if isinstance(protocol, str) else protocol.name
    given = protocol_named(protocol) if isinstance(protocol, str) else protocol
    spec = Spec(
        protocol=name,
        actors=actors,
        messages=messages,
        network=declared.network,
        workload=declared.workload,
    )
    return link(model, declared, system_of(spec, given))


# --- links


@pytest.mark.parametrize("events", [nothing, sends_only, reversed_application])
def test_causal_sends_and_deliveries_are_compared_whatever_the_link_declares(
    events: Callable[..., Iterator[Event]],
) -> None:
    difference = linked(ANY_ORDER, unseeing(events), "fifo").difference
    assert difference is not None
    assert "the causal-sends and deliveries of this step differ" in difference
    assert re.search(r"Python: (sent\(m1\)|delivered\(m\d\))\n", difference)


def test_a_link_whose_states_are_all_equal_is_refused() -> None:
    with pytest.raises(InputError, match="maps all states of each actor to one value"):
        linked(ANY_ORDER, unseeing(application), "fifo")


def test_a_protocol_whose_actors_have_one_state_needs_no_map() -> None:
    found = linked(ANY_ORDER, unseeing(application), "unordered")
    assert found.difference is None
    assert not found.compares_channels


def test_a_second_delivery_is_a_difference() -> None:
    protocol = protocol_named("unordered")

    def receive(state: Any, src: int, packet: Any) -> Step:
        step = protocol.receive(state, src, packet)
        return evolve(step, deliveries=step.deliveries * 2)

    twice = evolve(protocol, receive=receive)
    difference = linked(ANY_ORDER, unseeing(application), twice).difference
    assert difference is not None
    assert "or was delivered before" in difference


def silent() -> Protocol:
    """Return a protocol that delivers nothing."""
    return evolve(protocol_named("unordered"), receive=lambda state, _src, _packet: Step(state))


def test_a_link_without_a_delivery_is_refused() -> None:
    with pytest.raises(InputError, match="no message is delivered in any of the"):
        linked(ANY_ORDER, unseeing(application), silent())


def test_the_model_is_quiescent_wherever_the_python_is() -> None:
    """Otherwise the claim is proved of the model, and is not true of the Python."""
    claim = Quiescence(
        z3.Not(z3.ForAll([x], z3.Implies(sent(x), delivered(x)))), "all is delivered"
    )
    model = evolve(ANY_ORDER, quiescent=claim)
    difference = linked(model, unseeing(application), silent()).difference
    assert difference is not None
    assert "the model can still take the action 'deliver'" in difference


ONE_SENDER = (
    "all messages to an actor have one sender",
    z3.ForAll([x, y], z3.Implies(dst(x) == dst(y), src(x) == src(y))),
)
ONE_EACH = (
    "each sender has one message",
    z3.ForAll([x, y], z3.Implies(src(x) == src(y), x == y)),
)
TWO_MESSAGES = ("there are two messages", z3.Exists([x, y], x != y))
THREE_MESSAGES = (
    "there are three messages",
    z3.Exists(messages("x y z"), z3.Distinct(*messages("x y z"))),
)


@pytest.mark.parametrize(
    ("axiom", "actors", "messages", "length"),
    [
        (ONE_SENDER, 3, 1, 2),
        (ONE_EACH, 2, 2, 2),
        (THREE_MESSAGES, 2, 1, 0),
        (ONE_EACH, 2, 1, None),
        (TWO_MESSAGES, 2, 1, None),
    ],
)
def test_axioms_are_checked_of_the_messages_that_are_sent(
    axiom: Any, actors: int, messages: int, length: int | None
) -> None:
    """An axiom that is false at the start differs, too; `length` is the length of the run."""
    model = evolve(ANY_ORDER, axioms=(axiom,))
    found = linked(model, unseeing(application), "unordered", actors, messages)
    if length is None:
        assert found.difference is None
        return
    assert f"this system violates an axiom of the model: {axiom[0]}" == found.difference
    assert found.path is not None
    assert length == found.path.length


def test_the_command_shows_a_system_that_violates_an_axiom(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    model = evolve(model_named("mfss"), axioms=(THREE_MESSAGES,))
    monkeypatch.setattr(front, "model_named", lambda *_: model)
    assert main(["prove", "mfss", "--link", "--actors", "2", "--messages", "1"]) == 1
    shown = capsys.readouterr().out
    assert "mfss: DIFFERENT: the model and the Python differ within 2 actors × 1 message" in shown
    assert "this system violates an axiom of the model: there are three messages" in shown


@pytest.mark.parametrize(
    ("name", "workload", "choices"),
    [
        ("mfss", "script:[[1],[],[]]", "any, self"),
        ("mfss", "broadcast", "any, self"),
        ("hybrid-multicast", "broadcast", "multicast"),
        ("hybrid-multicast", "any", "multicast"),
        ("cbcast", "any", "multicast, broadcast"),
    ],
)
def test_a_link_with_a_smaller_workload_than_the_report_says_is_refused(
    name: str, workload: str, choices: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    model = model_named(name)
    assert model.link is not None
    smaller = evolve(load(model.link), workload=workload)
    monkeypatch.setattr(front, "load", lambda _reference: smaller)
    with pytest.raises(InputError, match=f"use one of: {choices}$"):
        front.declared(model, 3, 1, "knowledge")


@pytest.mark.parametrize(
    "reference", ["no.such.module:LINK", "tests.prove.test_gaps:NONE", f"{__name__}:NO_LINK", "x"]
)
def test_a_link_that_is_none_is_named(reference: str) -> None:
    with pytest.raises(InputError, match="the model's link"):
        front.declared(evolve(ANY_ORDER, link=reference), 2, 1, "knowledge")


@pytest.mark.parametrize(
    ("event", "reason"),
    [
        (("hand-over", 0), "its actions are causal-send, deliver"),
        (("deliver", 9), "numbers of elements below 4"),
        (("deliver",), "numbers of elements below 4"),
    ],
)
def test_a_step_that_the_model_cannot_take_is_refused(event: Event, reason: str) -> None:
    with pytest.raises(InputError, match=reason):
        linked(ANY_ORDER, unseeing(lambda *_: iter([event])), "unordered")


@pytest.mark.integration
def test_actions_that_never_happened_are_named(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["prove", "cykas", "--link", "--actors", "2", "--messages", "1"]) == 0
    shown = " ".join(capsys.readouterr().out.split())
    assert "LINKED" in shown
    assert "never happened, so they were not compared: tell, hear." in shown


def test_packets_that_are_not_compared_are_named(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["prove", "hybrid-sps", "--link", "--actors", "2", "--messages", "1"]) == 0
    shown = " ".join(capsys.readouterr().out.split())
    assert "does not describe the packets in flight, so they were not compared" in shown


# --- proofs


def test_a_model_that_delivers_before_the_causal_send_is_not_proved() -> None:
    proof = prove(delivers_early())
    assert Answer.FAILED is proof.answer
    assert ["integrity safety"] == [one.obligation.name for one in proof.failed]
    assert proof.failed[0].example is not None


def test_every_model_owes_integrity() -> None:
    assert "integrity safety" in [one.obligation.name for one in prove(model_named("cbcast")).shown]


def raising(*_arguments: Any) -> Any:
    raise KeyError("nothing there")


def raises_later(*_arguments: Any) -> Iterator[Event]:
    yield from ()
    raise KeyError("nothing there")


EVENTS = Link(events=raises_later, rebuild=lambda view, actor: None, local=lambda state: None)
REBUILD = Link(events=application, rebuild=raising)


@pytest.mark.parametrize("name", ["EVENTS", "REBUILD"])
def test_a_function_of_a_link_that_raises_is_named(name: str) -> None:
    model = evolve(ANY_ORDER, link=f"{__name__}:{name}")
    with pytest.raises(InputError, match=f"the function '{name.lower()}' of the link raised"):
        front.linked(model, 2, 1, "knowledge")


COUNTS = evolve(
    mfss_proof.LINK,
    local=lambda state: len(state.unacknowledged),
    rebuild=lambda view, actor: len(mfss_proof.waiting(view, actor)),
    channels=None,
)
REARRANGES = evolve(
    mfss_proof.LINK,
    local=lambda state: [len(state.unacknowledged), *state.OB],
    rebuild=lambda view, actor: [
        len(mfss_proof.waiting(view, actor)),
        *mfss_proof.buffered(view, actor),
    ],
)


def report_of(name: str) -> tuple[str, bool]:
    """Return the report on MFSS with a link of this file, and its JSON on whole states."""
    model = evolve(model_named("mfss"), link=f"{__name__}:{name}")
    found = front.linked(model, 2, 2, "knowledge")
    whole: bool = front.link_object(found)["whole_states_compared"]
    return " ".join(front.link_text(model, found).split()), whole


def test_a_link_that_compares_a_part_of_each_state_says_so() -> None:
    shown, whole = report_of("COUNTS")
    assert "LINKED" in shown
    assert "describes a part of the state of each actor in the Python code." in shown
    assert "compares a part of each state: the value of its function `local`" in shown
    assert "for example: Mfss(OB=" in shown
    assert "the packets in flight, so they were not compared" in shown
    assert not whole


def test_a_link_that_rearranges_each_state_compares_all_of_it() -> None:
    shown, whole = report_of("REARRANGES")
    assert "the model describes the state of the Python code." in shown
    assert "a part" not in shown
    assert whole
