"""Kearns' vectors: the handlers beside the description, and the order at the server."""

from __future__ import annotations

from typing import Any

import pytest

from antecede.checker.check.pipeline import check
from antecede.checker.check.spec import Spec
from antecede.checker.model import Message, Protocol
from antecede.checker.search.result import Verdict
from antecede.protocols import kearns
from antecede.protocols.kearns import KEARNS, Counted
from tests.protocols.by_hand import At

SERVER, BOB, CAROL = range(3)
AT_SERVER = "protocols/kearns.py:CAUSAL_AT_SERVER"
CHAIN = "script:[[],[0,2],[0]]"
"""Bob sends to the server, then to Carol, who sends to the server."""


def verdict(workload: str = CHAIN, protocol: Protocol = KEARNS, **asked: Any) -> Verdict:
    spec = Spec("kearns", 3, workload=workload, properties=(AT_SERVER,), **asked)
    return check(spec, protocol=protocol).result.verdict


def test_a_client_counts_only_its_messages_to_the_server() -> None:
    bob = At(KEARNS, BOB)
    ((_, to_carol),) = bob.send(CAROL)
    ((_, to_server),) = bob.send(SERVER)
    assert ((0, 0, 0), (0, 1, 0)) == (to_carol.V, to_server.V)


def test_a_client_takes_the_maximum_of_its_vector_and_the_vector_of_another_client() -> None:
    carol = At(KEARNS, CAROL)
    message = Message(BOB, 2, (CAROL,))
    assert (message,) == carol.receive(BOB, Counted(message, (0, 1, 0))).deliveries
    ((_, packet),) = carol.send(SERVER)
    assert (0, 1, 1) == packet.V


def test_the_server_holds_back_a_message_that_misses_one_of_another_client() -> None:
    server = At(KEARNS, SERVER)
    first, late = Message(BOB, 1, (SERVER,)), Message(CAROL, 1, (SERVER,))
    assert () == server.receive(CAROL, Counted(late, (0, 1, 1))).deliveries
    assert (first, late) == server.receive(BOB, Counted(first, (0, 1, 0))).deliveries
    assert (0, 1, 1) == server.state.V


def test_the_server_delivers_in_causal_order_and_the_clients_do_not() -> None:
    assert Verdict.HOLDS == verdict()
    three = Spec("kearns", 4, workload="script:[[],[3,2],[3],[]]", properties=("causal-delivery",))
    assert Verdict.VIOLATED == check(three, protocol=KEARNS).result.verdict


def test_the_order_of_a_channel_to_the_server_matters() -> None:
    two = "script:[[],[0,0],[]]"
    assert Verdict.HOLDS == verdict(two)
    assert Verdict.VIOLATED == verdict(two, network="unordered")


@pytest.mark.parametrize("bug", ["merge", "deliverable"])
def test_a_seeded_bug_violates_the_order_at_the_server(
    monkeypatch: pytest.MonkeyPatch, bug: str
) -> None:
    forgets: dict[str, Any] = {
        "merge": lambda state, _packet: state,
        "deliverable": lambda _state, _held: True,
    }
    monkeypatch.setattr(kearns, bug, forgets[bug])
    assert Verdict.VIOLATED == verdict()
