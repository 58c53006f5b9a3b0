"""A token goes round a ring, and who has it may send: packets in flight at the start, and actions.

The token of G. Le Lann (Distributed systems, towards a formal approach. IFIP Congress 1977), used
for causal delivery. Whoever has it sends what its application has handed over, one message after
the other, each when the one before it is acknowledged; then it passes the token on, which is an
action of its own. So no two messages are in flight at once, and nothing can overtake anything.

At the start nobody has the token: it is on its way to actor 0, from the last one.

`SUSPICIOUS` takes the token for lost when it does not have it, once, and makes another one.
"""

from __future__ import annotations

from attrs import evolve, frozen

from antecede import Message, Protocol, Step


@frozen
class Token:
    """Whoever has it may send."""


@frozen
class Data:
    """A message."""

    message: Message


@frozen
class Ack:
    """The message has been delivered."""


@frozen
class Member:
    """A member of the ring: whether it has the token, and what it has yet to send."""

    successor: int
    has_token: bool = False
    unacknowledged: bool = False
    outbox: tuple[Message, ...] = ()
    suspects: bool = False


def initial(actor: int, actors: int) -> Member:
    """Nobody has the token."""
    return Member(successor=(actor + 1) % actors)


def in_flight(actor: int, actors: int) -> tuple[tuple[int, Token], ...]:
    """The token is on its way from the last actor to the first."""
    return ((0, Token()),) if actor == actors - 1 else ()


def send_next(state: Member) -> Step:
    """Send the next message, if that is allowed."""
    if not state.has_token or state.unacknowledged or not state.outbox:
        return Step(state)
    message, *rest = state.outbox
    after = evolve(state, unacknowledged=True, outbox=tuple(rest))
    return Step(after, sends=((message.receiver, Data(message)),))


def causal_send(state: Member, message: Message) -> Step:
    """Put the message in the outbox."""
    return send_next(evolve(state, outbox=(*state.outbox, message)))


def receive(state: Member, src: int, packet: Token | Data | Ack) -> Step:
    """Take the token, deliver and acknowledge a message, or go on after an acknowledgement."""
    if isinstance(packet, Token):
        return send_next(evolve(state, has_token=True))
    if isinstance(packet, Ack):
        return send_next(evolve(state, unacknowledged=False))
    return Step(state, sends=((src, Ack()),), deliveries=(packet.message,))


def pass_on(state: Member) -> Step | None:
    """Pass the token on, when there is nothing left to send."""
    if not state.has_token or state.outbox or state.unacknowledged:
        return None
    return Step(evolve(state, has_token=False), sends=((state.successor, Token()),))


def make_another(state: Member) -> Step | None:
    """Take the token for lost."""
    if state.has_token or state.suspects:
        return None
    return Step(evolve(state, has_token=True, suspects=True))


def at_most_one_token(members: tuple[Member, ...]) -> bool:
    """No two members have the token."""
    return sum(member.has_token for member in members) <= 1


def everybody_waits(members: tuple[Member, ...]) -> bool:
    """Each member has something to send, and may not."""
    return all(member.outbox for member in members)


TOKEN_RING = Protocol(
    name="token-ring",
    summary="whoever has the token sends, and passes it on when all is acknowledged",
    source="after Le Lann 1977",
    initial=initial,
    causal_send=causal_send,
    receive=receive,
    actions={"pass": pass_on},
    in_flight=in_flight,
    joint_invariants={"one-token": at_most_one_token},
    witnesses={"waited": lambda state: bool(state.outbox)},
    joint_witnesses={"everybody-waits": everybody_waits},
)
SUSPICIOUS = evolve(
    TOKEN_RING,
    name="token-ring-suspicious",
    actions={"pass": pass_on, "make-another": make_another},
)
