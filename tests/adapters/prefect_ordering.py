"""The ordering of events that follow each other in `prefect`, under the checker.

`CausalOrdering` of prefect.server.events.ordering.memory holds an event back until the one that it
`follows` was processed. Each actor has one of its own, and reacts as prefect's triggers do. What is
replaced: identifiers come from messages, times from their numbers.
"""

from __future__ import annotations

import asyncio
import contextlib
import datetime
import uuid
from typing import Any

from attrs import frozen
from prefect.server.events.ordering.memory import CausalOrdering, EventArrivedEarly
from prefect.server.events.schemas.events import ReceivedEvent, Resource

from antecede import Message
from antecede.testing.adapter import Out

NOON = datetime.datetime(2100, 1, 1, 12, tzinfo=datetime.UTC)
"""Ahead of every clock, so that no event is ever old."""


@frozen
class Event:
    """An event: a message, and the message whose event it follows."""

    message: Message
    follows: Message | None


def name_of(message: Message) -> uuid.UUID:
    return uuid.uuid5(uuid.NAMESPACE_OID, f"{message.sender}.{message.number}")


def received(event: Event) -> ReceivedEvent:
    message = event.message
    return ReceivedEvent(
        id=name_of(message),
        occurred=NOON + datetime.timedelta(seconds=message.number),
        received=NOON,
        event="message",
        resource=Resource({"prefect.resource.id": f"actor.{message.sender}"}),
        follows=None if event.follows is None else name_of(event.follows),
    )


class Latest:
    """An event follows the latest one that its actor emitted or processed."""

    copies = "replay"

    def __init__(self, actor: int, actors: int) -> None:
        CausalOrdering._instances.pop(f"actor {actor}", None)  # prefect has one per scope
        self.ordering = CausalOrdering(f"actor {actor}")
        self.latest: Message | None = None
        self.processed: list[str] = []
        self.messages: dict[uuid.UUID, Message] = {}

    def key(self) -> Any:
        waiting = sorted(map(str, self.ordering._events))
        return self.latest, tuple(waiting), tuple(sorted(self.processed))

    def causal_send(self, out: Out, message: Message) -> None:
        event = Event(message, self.latest)
        for to in message.destinations:
            out.send(to, event)
        asyncio.run(self.handle(event, Out()))  # to the application it is nothing new
        self.latest = message

    def receive(self, out: Out, src: int, packet: Event) -> None:
        asyncio.run(self.handle(packet, out))

    async def handle(self, event: Event, out: Out) -> None:
        """Do what the message handler of prefect's triggers does."""
        self.messages[name_of(event.message)] = event.message
        if await self.ordering.event_has_been_seen(name_of(event.message)):
            return

        async def react(event: ReceivedEvent, depth: int = 0) -> None:
            async with self.ordering.preceding_event_confirmed(react, event, depth):
                self.processed.append(str(event.id))
                self.deliver(out, self.messages[event.id])

        with contextlib.suppress(EventArrivedEarly):
            await react(received(event))

    def deliver(self, out: Out, message: Message) -> None:
        out.deliver(message)
        self.latest = message


class Own(Latest):
    """An event follows the latest one that its actor emitted."""

    def deliver(self, out: Out, message: Message) -> None:
        out.deliver(message)
