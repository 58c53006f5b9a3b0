"""How the abstract models of MFSS are linked to its Python."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from antecede.checker.model import CausalSend, Packet, Transition
from antecede.checker.prove.link import (
    Event,
    Link,
    View,
    causal_sent,
    delivered_in,
    posted_in,
)
from antecede.protocols import unordered
from antecede.protocols.mfss import Ack, Data, Mfss
from antecede.protocols.mfss_fifo import MfssFifo


def events(view: View, transition: Transition, outcome: Any) -> Iterator[Event]:
    """A causal-send or an acknowledgement, and what is posted then; or a delivery."""
    if isinstance(transition, CausalSend):
        actor = transition.actor
        yield "causal-send", causal_sent(view, transition, outcome)
    elif isinstance(transition.packet, Ack):  # type: ignore[union-attr]
        actor = transition.dst  # type: ignore[union-attr]
        yield "acknowledge", view.first(unacknowledged(view, transition), "to acknowledge")
    else:
        for m in delivered_in(view, outcome):
            yield "deliver", m
        return
    for m in posted_in(view, actor, outcome):
        yield "post", m


def unacknowledged(view: View, transition: Any) -> list[int]:
    """Return the delivered messages whose acknowledgement this may be; they are alike."""
    return [
        m
        for m in view.sent(by=transition.dst, to=transition.src)
        if view.has("delivered", m) and not view.has("acknowledged", m)
    ]


def buffered(view: View, actor: int) -> tuple[Any, ...]:
    """Return OB."""
    return tuple(view.message(m) for m in view.sent(by=actor) if not view.has("posted", m))


def waiting(view: View, actor: int) -> list[int]:
    """Return the actor's posted messages without an acknowledgement."""
    return [
        m for m in view.sent(by=actor) if view.has("posted", m) and not view.has("acknowledged", m)
    ]


def rebuild(view: View, actor: int) -> Mfss:
    """The output buffer, and how many messages are unacknowledged."""
    return Mfss(buffered(view, actor), len(waiting(view, actor)))


def rebuild_fifo(view: View, actor: int) -> MfssFifo:
    """The same, and their receiver."""
    found = waiting(view, actor)
    receiver = view.dst(found[0]) if found else None
    return MfssFifo(buffered(view, actor), len(found), receiver)


def channels(view: View) -> Iterator[tuple[int, int, Packet]]:
    """Messages that were posted and not delivered; acknowledgements of those delivered."""
    for m in view.sent():
        src, dst = view.src(m), view.dst(m)
        if view.has("posted", m) and not view.has("delivered", m):
            yield src, dst, Data(view.message(m))
        if view.has("delivered", m) and not view.has("acknowledged", m):
            yield dst, src, Ack()


LINK = Link(events=events, rebuild=rebuild, channels=channels)
FIFO_LINK = Link(events=events, rebuild=rebuild_fifo, channels=channels, network="fifo")


def unordered_channels(view: View) -> Iterator[tuple[int, int, Packet]]:
    """Messages that were posted and not delivered."""
    for m in view.sent():
        if view.has("posted", m) and not view.has("delivered", m):
            yield view.src(m), view.dst(m), unordered.Data(view.message(m))


UNORDERED_LINK = Link(
    events=events,
    rebuild=lambda _view, _actor: unordered.Nothing(),
    channels=unordered_channels,
)
