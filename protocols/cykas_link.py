"""How the abstract model of Cykas is linked to its Python."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from antecede.checker.model import CausalSend, Packet, Receive, Transition
from antecede.checker.prove.link import (
    Event,
    Link,
    View,
    causal_sent,
    delivered_in,
    posted_in,
)
from antecede.protocols.cykas import Ack, Cykas, Eager, Normal, Yct
from antecede.protocols.cykas_secret_mode import CykasSecretMode
from antecede.protocols.mfss_link import buffered, unacknowledged, waiting


def events(view: View, transition: Transition, outcome: Any) -> Iterator[Event]:
    """Algorithms 1, 3, 4 and 5."""
    if isinstance(transition, CausalSend):
        actor = transition.actor
        yield "causal-send", causal_sent(view, transition, outcome)
    else:
        assert isinstance(transition, Receive)
        actor = transition.dst
        if isinstance(transition.packet, Ack):
            yield "acknowledge", view.first(unacknowledged(view, transition), "to acknowledge")
            yield from tells(view, actor, outcome)
        elif isinstance(transition.packet, Yct):
            yield "hear", view.first(unheard(view, transition.src, actor), "whose YCT this is")
        else:
            for m in delivered_in(view, outcome):
                yield "deliver", m
            return
    for m in posted_in(view, actor, outcome):
        yield "post", m
    yield "stop", actor


def tells(view: View, actor: int, outcome: Any) -> Iterator[Event]:
    """The YCTs of a step: to each receiver those of its oldest Eager Sends."""
    queues = {
        j: [m for m in view.sent(actor, j) if view.has("eager", m) and not view.has("told", m)]
        for j in range(view.system.actors)
    }
    for j, packet in outcome.step.sends:
        if isinstance(packet, Yct):
            yield "tell", view.first(queues[j], "whose YCT this is")
            queues[j] = queues[j][1:]


def unheard(view: View, src: int, dst: int) -> list[int]:
    """Return the messages of which a YCT is in flight; they are alike."""
    return [m for m in view.sent(src, dst) if view.has("told", m) and not view.has("heard", m)]


def rebuild(view: View, actor: int) -> Cykas:
    """UNACK, EAGER_SENT, OB and MODE."""
    actors = range(view.system.actors)
    receivers = {view.dst(m) for m in waiting(view, actor)}
    return Cykas(
        UNACK=tuple(j in receivers for j in actors),
        EAGER_SENT=tuple(tuple(bit_vectors(view, actor, j)) for j in actors),
        OB=buffered(view, actor),
        MODE=sum(
            view.has("eager", m) and view.has("delivered", m) and not view.has("heard", m)
            for m in view.sent(to=actor)
        ),
    )


def bit_vectors(view: View, actor: int, j: int) -> Iterator[tuple[bool, ...]]:
    """The queue of EAGER_SENT for j: per Eager Send the receivers whose ACK it waits for."""
    for m in view.sent(actor, j):
        if view.has("eager", m) and not view.has("told", m):
            missing = {
                view.dst(x)
                for x in view.sent(actor)
                if view.has("waits", m, x) and not view.has("acknowledged", x)
            }
            yield tuple(k in missing for k in range(view.system.actors))


def channels(view: View) -> Iterator[tuple[int, int, Packet]]:
    """Messages, ACKs and YCTs in flight."""
    for m in view.sent():
        src, dst = view.src(m), view.dst(m)
        if view.has("posted", m) and not view.has("delivered", m):
            kind = Eager if view.has("eager", m) else Normal
            yield src, dst, kind(view.message(m))
        if view.has("delivered", m) and not view.has("acknowledged", m):
            yield dst, src, Ack()
        if view.has("told", m) and not view.has("heard", m):
            yield src, dst, Yct()


def rebuild_secret_mode(view: View, actor: int) -> CykasSecretMode:
    """The same, and who is confided in."""
    made = rebuild(view, actor)
    found = [j for j in range(view.system.actors) if view.has("confidant", actor, j)]
    return CykasSecretMode(
        made.UNACK, made.EAGER_SENT, made.OB, made.MODE, confidant=found[0] if found else None
    )


LINK = Link(events=events, rebuild=rebuild, channels=channels)
SECRET_MODE_LINK = Link(events=events, rebuild=rebuild_secret_mode, channels=channels)
