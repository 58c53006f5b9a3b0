"""Real Python objects under the checker: ordinary, mutable code as a protocol.

    class Node:
        def __init__(self, actor, actors): ...
        def causal_send(self, out, message): out.send(message.receiver, ("data", message))
        def receive(self, out, src, packet): out.deliver(packet[1])

    NODE = protocol(Node)

`antecede check FILE.py:NODE` then explores everything that can happen to such objects under the
network that the checker controls, with the same oracle, counterexamples and shrinking as for
protocols written as pure functions. Before every call the object is made anew from a pickle of
what it was, so its code may change it as it likes; two states are one if their pickles are equal.
Clocks, random numbers, threads and sockets must be replaced by the adapter: the checker runs calls
twice, and says where they differ.
"""

from __future__ import annotations

import pickle
from collections.abc import Callable
from typing import Any

from attrs import define, field, frozen

from antecede.checker.errors import ProtocolError
from antecede.checker.model import Message, Packet, Protocol, Step


@define(eq=False)
class Out:
    """What an object may do during a call."""

    sends: list[tuple[int, Packet]] = field(factory=list)
    deliveries: list[Message] = field(factory=list)

    def send(self, to: int, packet: Packet) -> None:
        """Put a packet on the network; a value that can be hashed."""
        self.sends.append((to, packet))

    def deliver(self, message: Message) -> None:
        """Give a message to the application."""
        self.deliveries.append(message)


@frozen
class Running:
    """An object between two calls."""

    pickled: bytes

    @property
    def object(self) -> Any:
        """The object itself, made anew; for invariants and witnesses."""
        return pickle.loads(self.pickled)


def protocol(
    make: Callable[[int, int], Any],
    *,
    name: str | None = None,
    summary: str = "real code under the checker",
    **more: Any,
) -> Protocol:
    """Return a protocol whose actors are objects.

    Args:
        make: (actor, actors) -> an object that can be pickled, with the methods
            `causal_send(out, message)` and `receive(out, src, packet)`, and perhaps `timeout(out)`.
        name: of the protocol; None: that of `make`.
        summary: one line.
        more: `invariants` and `witnesses` of `Protocol`; their predicates take a `Running`.

    Raises:
        ProtocolError: while it is checked: an object cannot be pickled.
    """

    def initial(actor: int, actors: int) -> Running:
        return _running(make(actor, actors))

    def causal_send(state: Running, message: Message) -> Step:
        return _step(state, "causal_send", message)

    def receive(state: Running, src: int, packet: Packet) -> Step:
        return _step(state, "receive", src, packet)

    def timeout(state: Running) -> Step | None:
        step = _step(state, "timeout")
        return None if step == Step(state) else step

    called = name or str(getattr(make, "__name__", "adapter"))
    return Protocol(
        name=called,
        summary=summary,
        source=f"{getattr(make, '__module__', '')}.{called}",
        initial=initial,
        causal_send=causal_send,
        receive=receive,
        timeout=timeout if hasattr(make, "timeout") else None,
        **more,
    )


def _step(state: Running, method: str, *arguments: Any) -> Step:
    node, out = state.object, Out()
    getattr(node, method)(out, *arguments)
    return Step(_running(node), tuple(out.sends), tuple(out.deliveries))


def _running(node: Any) -> Running:
    try:
        # Twice: the first pickle may share parts where one of what was read does not.
        return Running(pickle.dumps(pickle.loads(pickle.dumps(node))))
    except (pickle.PicklingError, TypeError, AttributeError) as error:
        raise ProtocolError(
            f"a {type(node).__name__} cannot be kept between two calls: {error}; leave what cannot "
            "be pickled out of it with __getstate__"
        ) from None
