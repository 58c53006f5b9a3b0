"""A causal broadcast over TCP, as one writes it with asyncio: it knows nothing of antecede.

Every peer has a queue and a task that writes to it; a timer sends again what nobody has confirmed.
"""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import Awaitable, Callable
from typing import Any

Deliver = Callable[[str, str], Awaitable[None]]


class Broadcast:
    rescans = False  # the planted bug: a delivery may make an older message deliverable

    def __init__(self, name: str, peers: dict[str, tuple[str, int]], deliver: Deliver) -> None:
        self.name, self.peers, self.deliver = name, peers, deliver
        self.clock = dict.fromkeys([name, *peers], 0)
        self.early: list[dict[str, Any]] = []
        self.unconfirmed: dict[tuple[str, int], tuple[dict[str, Any], float]] = {}
        self.queues: dict[str, asyncio.Queue[dict[str, Any]]] = {p: asyncio.Queue() for p in peers}
        self.seen: set[tuple[str, int]] = set()

    async def start(self, host: str, port: int) -> None:
        self.server = await asyncio.start_server(self.serve, host, port)
        self.tasks = [asyncio.create_task(self.write(peer)) for peer in self.peers]
        self.tasks.append(asyncio.create_task(self.resend()))

    async def broadcast(self, body: str) -> None:
        self.clock[self.name] += 1
        number = self.clock[self.name]
        for peer in self.peers:
            frame = {"from": self.name, "number": number, "clock": dict(self.clock), "body": body}
            self.unconfirmed[peer, number] = (frame, time.monotonic())
            await self.queues[peer].put(frame)

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        while line := await reader.readline():
            await self.handle(json.loads(line))
        writer.close()

    async def handle(self, frame: dict[str, Any]) -> None:
        name = frame["from"], frame["number"]
        if "body" not in frame:
            self.unconfirmed.pop(name, None)
            return
        await self.queues[frame["from"]].put({"from": self.name, "number": frame["number"]})
        if name not in self.seen:
            self.seen.add(name)
            self.early.append(frame)
            while await self.deliver_what_is_next() and self.rescans:
                pass

    async def deliver_what_is_next(self) -> bool:
        progress = False
        for frame in list(self.early):
            clock, sender = frame["clock"], frame["from"]
            others = (k for k in clock if k != sender)
            if clock[sender] == self.clock[sender] + 1 and all(
                clock[k] <= self.clock[k] for k in others
            ):
                self.early.remove(frame)
                self.clock[sender] += 1
                await self.deliver(sender, frame["body"])
                progress = True
        return progress

    async def write(self, peer: str) -> None:
        _, writer = await asyncio.open_connection(*self.peers[peer])
        while True:
            frame = await self.queues[peer].get()
            writer.write(json.dumps(frame).encode() + b"\n")
            await writer.drain()

    async def resend(self) -> None:
        while True:
            await asyncio.sleep(1.0)
            now = time.monotonic()
            for (peer, number), (frame, sent) in list(self.unconfirmed.items()):
                if now - sent > 1.0:
                    self.unconfirmed[peer, number] = (frame, now)
                    await self.queues[peer].put(frame)


class Repaired(Broadcast):
    rescans = True
