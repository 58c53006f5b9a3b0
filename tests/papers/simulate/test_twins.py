"""Every twin does what its protocol does: the same packets to the same actors, the same deliveries.

A random schedule drives both; each packet of the twin is compared, made plain, with the protocol's.
"""

from __future__ import annotations

from random import Random
from typing import Any

import numpy as np
import pytest
from attrs import astuple

from antecede.checker.model import Message
from antecede.checker.papers.simulate import twin_rst
from antecede.checker.papers.simulate.encoding import contents_of
from antecede.checker.papers.simulate.handlers import TWINS, handlers_of
from antecede.checker.papers.simulate.results import results
from antecede.checker.papers.simulate.run import simulate
from antecede.checker.papers.simulate.scenario import Scenario
from antecede.checker.support.registry import protocol_named
from antecede.protocols import cykas, rst

SIZES = ((2, 12), (3, 8), (4, 10), (6, 12))


def plain(packet: Any, receiver: int) -> object:
    """Return what the protocol itself sends where its twin sends `packet` to a receiver."""
    if isinstance(packet, twin_rst.Stamped):
        SENT = packet.rows.after[np.arange(packet.rows.actors), packet.versions].copy()
        SENT[packet.message.sender, receiver] -= 1
        return rst.Stamped(packet.message, tuple(tuple(map(int, row)) for row in SENT))
    return getattr(cykas, type(packet).__name__)(*astuple(packet, recurse=False))


def differences(protocol_name: str, twin_name: str, seed: int, actors: int, messages: int) -> int:
    """Return how many steps of a random run differ; it ends at the first one."""
    protocol, twin, random = protocol_named(protocol_name), handlers_of(twin_name), Random(seed)
    states = [protocol.initial(i, actors) for i in range(actors)]
    fast = twin.start(actors)
    left, flying = [messages] * actors, list[tuple[int, int, object, object]]()
    while any(left) or flying:
        senders = [i for i in range(actors) if left[i]]
        if senders and (not flying or random.random() < 0.4):
            actor = random.choice(senders)
            left[actor] -= 1
            others = [j for j in range(actors) if j != actor]
            message = Message(actor, messages - left[actor], (random.choice(others),))
            mine = protocol.causal_send(states[actor], message)
            its = twin.causal_send(fast[actor], message)
        else:
            src, actor, packet, quick = flying.pop(random.randrange(len(flying)))
            mine = protocol.receive(states[actor], src, packet)
            its = twin.receive(fast[actor], src, quick)
        same = tuple((j, plain(packet, j)) for j, packet in its.sends)
        counted = all(
            contents_of(mine_packet) == twin.contents(quick)
            for (_, mine_packet), (_, quick) in zip(mine.sends, its.sends, strict=False)
        )
        if mine.sends != same or mine.deliveries != its.deliveries or not counted:
            return 1
        states[actor], fast[actor] = mine.state, its.state
        for (j, packet), (_, quick) in zip(mine.sends, its.sends, strict=True):
            flying.append((actor, j, packet, quick))
    return 0


@pytest.mark.parametrize("name", TWINS)
@pytest.mark.parametrize(("actors", "messages"), SIZES)
def test_a_twin_sends_and_delivers_what_its_protocol_does(
    name: str, actors: int, messages: int
) -> None:
    for seed in range(25):
        assert 0 == differences(name, name, seed, actors, messages), seed


@pytest.mark.parametrize(
    ("broken", "twin"),
    [
        *(("rst-before", "rst"), ("rst-no-step-2", "rst")),
        *(("cykas-secret-mode", "cykas"), ("cykas", "cykas-fair")),
    ],
)
def test_the_comparison_sees_a_twin_of_another_protocol(broken: str, twin: str) -> None:
    assert any(differences(broken, twin, seed, 3, 8) for seed in range(25))


@pytest.mark.parametrize("name", TWINS)
def test_a_run_with_the_twin_is_the_run_with_the_handlers_themselves(name: str) -> None:
    scenario = Scenario(actors=8, messages=15, interval=3_000_000, job_share=0.2, jitter=900_000)
    own, twin = (
        results(simulate(handlers_of(name, twins=twins), scenario, 5)) for twins in (False, True)
    )
    assert own == twin


def test_rst_twin_keeps_the_matrix_of_a_message_to_several() -> None:
    protocol, twin = protocol_named("rst"), handlers_of("rst")
    fast, slow = twin.start(4), [protocol.initial(i, 4) for i in range(4)]
    for number, to in ((1, (1, 2, 3)), (2, (2, 3))):
        message = Message(0, number, to)
        mine, its = protocol.causal_send(slow[0], message), twin.causal_send(fast[0], message)
        assert mine.sends == tuple((j, plain(packet, j)) for j, packet in its.sends)
        for (j, packet), (_, quick) in zip(mine.sends, its.sends, strict=True):
            got, quickly = protocol.receive(slow[j], 0, packet), twin.receive(fast[j], 0, quick)
            assert got.deliveries == quickly.deliveries == (message,)
            slow[j] = got.state
        slow[0] = mine.state
