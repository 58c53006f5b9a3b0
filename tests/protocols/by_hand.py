"""An actor whose handlers a test calls one by one."""

from __future__ import annotations

from typing import Any

from antecede.checker.model import Message, Packet, Protocol, Step


class At:
    """One actor of a protocol, fed by hand."""

    def __init__(self, protocol: Protocol, actor: int = 0, actors: int = 3) -> None:
        self.protocol, self.actor = protocol, actor
        self.state: Any = protocol.initial(actor, actors)
        self.messages: list[Message] = []

    def send(self, *destinations: int) -> list[tuple[int, Packet]]:
        """Causal-send the next message; return what is network-sent."""
        message = Message(self.actor, len(self.messages) + 1, destinations)
        self.messages.append(message)
        step = self.protocol.causal_send(self.state, message)
        assert () == step.deliveries
        self.state = step.state
        return list(step.sends)

    def receive(self, src: int, packet: Packet) -> Step:
        step = self.protocol.receive(self.state, src, packet)
        self.state = step.state
        return step

    def sends_on(self, src: int, packet: Packet) -> list[tuple[int, Packet]]:
        """Receive a packet that delivers nothing; return what is network-sent."""
        step = self.receive(src, packet)
        assert () == step.deliveries
        return list(step.sends)

    def repeats(self) -> list[tuple[int, Packet]]:
        """Return what the periodic part network-sends."""
        assert self.protocol.timeout is not None
        step = self.protocol.timeout(self.state)
        if step is None:
            return []
        assert (self.state, ()) == (step.state, step.deliveries)
        return list(step.sends)
