"""States and packets with fields are shown alike, whichever way their class was made."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any, NamedTuple

import pytest
from attrs import frozen

from antecede.checker.model import Message, Protocol, Step
from antecede.checker.papers.claims.measures import size_of
from antecede.checker.render.itf import encoded
from antecede.checker.render.prose import Wording
from antecede.checker.render.trace_formats import trace_text
from tests.conftest import counterexample


@frozen
class OfAttrs:
    held: tuple[Message, ...] = ()
    size: int = 7


@dataclass(frozen=True)
class OfDataclass:
    held: tuple[Message, ...] = ()
    size: int = 7


class OfNamedTuple(NamedTuple):
    held: tuple[Message, ...] = ()
    size: int = 7


KINDS = [OfAttrs, OfDataclass, OfNamedTuple]


def protocol_of(kind: Any) -> Protocol:
    """Return a protocol with such states and packets, which keeps what it receives."""
    return Protocol(
        name="keeps",
        summary="",
        source="",
        initial=lambda _actor, _actors: kind(),
        causal_send=lambda state, m: Step(state, ((m.receiver, kind((m,))),)),
        receive=lambda state, _src, packet: Step(kind(state.held + packet.held)),
    )


@pytest.mark.parametrize("kind", KINDS)
def test_words_name_the_class_and_its_fields(kind: Any) -> None:
    assert f"{kind.__name__}(held=(), size=7)" == Wording({}).value(kind())
    message = Message(0, 1, (1,))
    assert f"{kind.__name__}(m1)" == Wording({message: "m1"}).label(kind((message,)))


@pytest.mark.parametrize("kind", KINDS)
def test_an_itf_trace_has_the_fields(kind: Any) -> None:
    value = {"held": {"#tup": []}, "size": {"#bigint": "7"}}
    assert {"tag": kind.__name__, "value": value} == encoded(kind())


@pytest.mark.parametrize("kind", KINDS)
def test_what_is_in_the_fields_is_measured(kind: Any) -> None:
    size = size_of(kind((Message(0, 1, (1,)),)))
    assert (1, 1) == (size.integers, size.messages)


@pytest.mark.parametrize("kind", KINDS)
def test_a_run_tells_which_field_keeps_a_message_and_shows_each(kind: Any) -> None:
    path = counterexample(protocol_of(kind), 2, 1)
    assert "is stuck in Bob's held" in json.loads(trace_text(path, "json"))["explanation"]
    page = trace_text(path, "html")
    assert ">held<" in page
    assert ">size<" in page
