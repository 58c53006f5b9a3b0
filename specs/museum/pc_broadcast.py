"""Causal broadcast without timestamps, and what a new link does to it.

B. Nédelec, P. Molli, A. Mostéfaoui: Breaking the scalability barrier of causal broadcast for large
and dynamic systems. SRDS 2018; arXiv:1805.05201.

Whoever delivers a broadcast for the first time forwards it on all its links. Along FIFO links this
alone delivers in causal order, as long as the links stay as they are. A new link is a shortcut:
what is broadcast later may overtake on it what is still on its way along the old ones. So a process
that gets a link does not use it yet: it sends a ping to the new neighbour along the old links,
buffers what it delivers from then on, and once the pong is there, sends the buffered messages on
the new link first.

The topology is part of the protocol: 0 - 1 - 2 in a line at the start, and a link from 0 to 2 that
appears at any time (a timeout of actor 0).

Differences: a message is not sent back to where it came from; the pong takes the direct way, for
its order does not matter; links come, and none goes.
"""

from __future__ import annotations

from functools import partial

from attrs import evolve, field, frozen

from antecede import Message, Protocol, Step

LINE = ((1,), (0, 2), (1,))
"""Per actor, its neighbours at the start."""

FROM, TO = 0, 2
"""The link that appears."""


@frozen
class Broadcast:
    """A message."""

    message: Message


@frozen
class Ping:
    """Asks the new neighbour, along the old links."""


@frozen
class Pong:
    """Its answer."""


@frozen
class Process:
    """Its links, what it has delivered or sent, and what waits for the new link (or None)."""

    me: int
    links: tuple[int, ...]
    seen: frozenset[Message] = field(factory=frozenset)
    linked: bool = False
    buffer: tuple[Message, ...] | None = None


def initial(actor: int, actors: int) -> Process:
    """Return a process of the line; there are three."""
    if actors != len(LINE):
        raise ValueError(f"the line has {len(LINE)} actors")
    return Process(actor, LINE[actor])


def broadcast(state: Process, message: Message) -> Step:
    """Send a message of its own on all links."""
    return spread(state, message, state.links)


def receive(state: Process, src: int, packet: Broadcast | Ping | Pong) -> Step:
    """Deliver and forward what is new; pass a ping on, answer it, or use the new link."""
    if isinstance(packet, Pong):
        late = tuple((TO, Broadcast(message)) for message in state.buffer or ())
        return Step(evolve(state, links=(*state.links, TO), buffer=None), sends=late)
    if isinstance(packet, Ping):
        on = tuple((link, packet) for link in state.links if link != src)
        return Step(state, sends=((FROM, Pong()),) if state.me == TO else on)
    if packet.message in state.seen:
        return Step(state)
    step = spread(state, packet.message, tuple(link for link in state.links if link != src))
    return evolve(step, deliveries=(packet.message,))


def spread(state: Process, message: Message, links: tuple[int, ...]) -> Step:
    """Note a message, and send it on links, or keep it for the link that is not safe yet."""
    buffer = None if state.buffer is None else (*state.buffer, message)
    state = evolve(state, seen=state.seen | {message}, buffer=buffer)
    return Step(state, sends=tuple((link, Broadcast(message)) for link in links))


def new_link(buffers: bool, state: Process) -> Step | None:
    """Get the link: use it at once, or ask along the old ones first."""
    if state.me != FROM or state.linked:
        return None
    state = evolve(state, linked=True)
    if not buffers:  # WRONG: later messages overtake earlier ones
        return Step(evolve(state, links=(*state.links, TO)))
    return Step(evolve(state, buffer=()), sends=tuple((link, Ping()) for link in state.links))


def variant(name: str, summary: str, *, buffers: bool) -> Protocol:
    """Return the broadcast with or without buffering for a new link."""
    return Protocol(
        name=name,
        summary=summary,
        source="Nédelec, Molli and Mostéfaoui 2018",
        initial=initial,
        causal_send=broadcast,
        receive=receive,
        timeout=partial(new_link, buffers),
        network="fifo",
        witnesses={"linked": lambda state: TO in state.links and state.me == FROM},
    )


AT_ONCE = variant("pc-broadcast-at-once", "uses a new link at once", buffers=False)
BUFFERED = variant("pc-broadcast", "buffers until a new link is safe", buffers=True)
