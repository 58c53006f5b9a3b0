"""An asyncio node with tasks, streams, queues and a timer under the checker, unchanged."""

from __future__ import annotations

import asyncio
import datetime
import os
import random
import secrets
import time
import uuid
from typing import Any

import pytest

from antecede import Message
from antecede.testing import aio, assert_holds, assert_violated
from antecede.testing.adapter import Out, protocol
from tests.adapters.aio.broadcast_node import Broadcast, Repaired


class Harness(aio.Node):
    kind: type[Broadcast] = Broadcast

    async def start(self) -> None:
        self.node = self.kind(self.name, self.peers, self.deliver)
        await self.node.start(*self.address)

    async def send(self, message: Message) -> None:
        await self.node.broadcast(self.body(message))


class OfRepaired(Harness):
    kind = Repaired


BROADCAST: dict[str, Any] = {"messages": 1, "workload": "broadcast", "network": "fifo"}


def calls(node: Any, *steps: tuple[Any, ...]) -> list[Out]:
    """Make calls; return what each of them sent and delivered."""
    outs = []
    for method, *arguments in steps:
        outs.append(Out())
        getattr(node, method)(outs[-1], *arguments)
    return outs


TO_ONE = Message(0, 1, (1,))


def test_a_repaired_node_holds_between_two_actors() -> None:
    found = assert_holds(
        protocol(OfRepaired),
        actors=2,
        properties=("integrity", "all-delivered"),
        selfcheck="off",
        **BROADCAST,
    )
    assert (184, 13) == (found.counts.unique_states, found.counts.depth)


def deliveries_of_carol(kind: type[Harness]) -> list[tuple[Message, ...]]:
    """Let Bob answer m1 with m2, which reaches Carol first; return what each packet delivers."""
    alice, bob, carol = (kind(actor, 3) for actor in range(3))
    (first,) = calls(alice, ("causal_send", Message(0, 1, (1, 2))))
    packets = dict(first.sends)
    _, second = calls(bob, ("receive", 0, packets[1]), ("causal_send", Message(1, 1, (0, 2))))
    outs = calls(carol, ("receive", 1, dict(second.sends)[2]), ("receive", 0, packets[2]))
    return [out.deliveries for out in outs]


def test_only_the_repaired_node_delivers_what_waited() -> None:
    m1, m2 = Message(0, 1, (1, 2)), Message(1, 1, (0, 2))
    assert [(), (m1,)] == deliveries_of_carol(Harness)
    assert [(), (m1, m2)] == deliveries_of_carol(OfRepaired)


TWO_SEND: dict[str, Any] = {
    "workload": "script:[[[1,2]],[[0,2]],[]]",
    "network": "fifo",
    "selfcheck": "off",
}


@pytest.mark.integration
def test_a_search_finds_the_planted_bug() -> None:
    found = assert_violated(protocol(Harness), length=10, violates="all-delivered", **TWO_SEND)
    assert "equal keys behave alike" in str(found)


@pytest.mark.integration
def test_the_repaired_node_holds_between_three_actors() -> None:
    counts = assert_holds(protocol(OfRepaired), **TWO_SEND).counts
    assert (24_441, 123_087, 21) == (counts.unique_states, counts.total_states, counts.depth)


@pytest.mark.slow
def test_the_planted_bug_takes_15_steps_if_everybody_sends() -> None:
    assert_violated(
        protocol(Harness), length=15, properties=("all-delivered",), selfcheck="off", **BROADCAST
    )


class Datagrams(asyncio.DatagramProtocol):
    def __init__(self, node: Any) -> None:
        self.node = node

    def datagram_received(self, data: bytes, addr: Any) -> None:
        self.node.task = asyncio.ensure_future(self.node.on(data))


class Checks(aio.Node):
    """It checks, awaits, and acts: a second packet in between is the bug."""

    async def start(self) -> None:
        self.seen: set[bytes] = set()
        loop = asyncio.get_running_loop()
        self.udp, _ = await loop.create_datagram_endpoint(
            lambda: Datagrams(self), local_addr=self.address
        )

    async def send(self, message: Message) -> None:
        for address in self.peers.values():
            self.udp.sendto(self.body(message).encode(), address)

    async def on(self, data: bytes) -> None:
        if data not in self.seen:
            await asyncio.sleep(0)
            self.seen.add(data)
            self.deliver(data)


class ChecksSlowly(Checks):
    step = "iteration"


ONCE: dict[str, Any] = {"actors": 2, "messages": 1, "selfcheck": "off", "network": "duplicating"}


def test_a_race_inside_a_node_needs_one_iteration_at_a_time() -> None:
    assert_holds(protocol(Checks), properties=("integrity",), **ONCE)
    assert_violated(protocol(ChecksSlowly), properties=("integrity",), length=6, **ONCE)


class Asks(aio.Node):
    """A request and its reply on one connection, within a time."""

    async def start(self) -> None:
        self.log: list[str] = []
        await asyncio.start_server(self.serve, *self.address)

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        line = await reader.readline()
        self.deliver(line)
        writer.write(b"thanks\n")
        writer.close()
        assert b"" == await reader.read()

    async def send(self, message: Message) -> None:
        address = self.address_of(message.destinations[0])
        reader, writer = await asyncio.open_connection(*address)
        writer.write(self.body(message).encode() + b"\n")
        try:
            async with asyncio.timeout(2):
                self.log.append((await reader.readline()).decode())
        except TimeoutError:
            self.log.append("late")
        writer.close()


def test_a_reply_on_the_same_connection_and_its_end_arrive() -> None:
    client, server = Asks(0, 2), Asks(1, 2)
    (sent,) = calls(client, ("causal_send", TO_ONE))
    ((_, request),) = sent.sends
    (answered,) = calls(server, ("receive", 0, request))
    assert (TO_ONE,) == answered.deliveries
    calls(client, *(("receive", 1, frame) for _, frame in answered.sends))
    assert ["thanks\n"] == client.adapter.log


def test_the_earliest_timer_is_the_timeout() -> None:
    client = Asks(0, 2)
    calls(client, ("causal_send", TO_ONE), ("timeout",))
    assert (["late"], 2.0) == (client.adapter.log, client.loop.now)


class Unheard(Asks):
    async def start(self) -> None:
        self.log = []


def test_a_connection_without_a_server_is_reset() -> None:
    client, nobody = Asks(0, 2), Unheard(1, 2)
    (sent,) = calls(client, ("causal_send", TO_ONE))
    (reset,) = calls(nobody, ("receive", 0, sent.sends[0][1]))
    with pytest.raises(aio.Unsupported, match=r"ConnectionResetError: .*connection reset by peer"):
        calls(client, ("receive", 1, reset.sends[0][1]))


class Reads(aio.Node):
    """It notes everything that differs from call to call on a real machine."""

    def start(self) -> None:
        self.read: tuple[Any, ...] = ()

    async def send(self, message: Message) -> None:
        await asyncio.sleep(1.5)
        times = (time.time(), time.monotonic(), time.time_ns(), datetime.datetime.now(datetime.UTC))
        self.read = (*times, random.random(), uuid.uuid4(), os.urandom(4), secrets.token_hex(4))


def test_clocks_and_chance_come_from_the_loop() -> None:
    before = random.getstate()
    nodes = [Reads(0, 2), Reads(0, 2)]
    for node in nodes:
        calls(node, ("causal_send", TO_ONE), ("timeout",))
    one, two = (node.adapter.read for node in nodes)
    assert one == two
    assert (1_700_000_001.5, 1.5, 1_700_000_001_500_000_000) == one[:3]
    assert before == random.getstate()
    assert abs(time.time() - one[0]) > 1e6, "the real clock is back"


def test_differences_of_times_do_not_depend_on_the_time() -> None:
    from antecede.checker.adapters.aio.clocks import EPOCH, TICK, instant

    for start in (0, 1, EPOCH * TICK + 200_003, EPOCH * TICK + 12_345_678_901):
        assert 0.2 == (instant(start) + 0.2) - instant(start)


class AsksEverybody(Asks):
    async def send(self, message: Message) -> None:
        await asyncio.gather(*(super(AsksEverybody, self).send(each) for each in parts(message)))


def parts(message: Message) -> list[Message]:
    return [Message(message.sender, message.number, (to,)) for to in message.destinations]


def test_connections_to_two_actors_are_two() -> None:
    client = AsksEverybody(0, 3)
    (sent,) = calls(client, ("causal_send", Message(0, 1, (1, 2))))
    for actor, request in sent.sends:
        if request.kind == "data":
            (answered,) = calls(AsksEverybody(actor, 3), ("receive", 0, request))
            calls(client, *(("receive", actor, frame) for _, frame in answered.sends))
    assert ["thanks\n"] * 2 == client.adapter.log
