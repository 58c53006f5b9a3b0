"""KS: a message carries only the destinations of earlier messages that are still worth knowing.

A. D. Kshemkalyani, M. Singhal: Necessary and sufficient conditions on information for causal
message ordering and their optimal implementation. Distributed Computing 11(2), 1998.

The hybrid paper's Table 1 lists it for FIFO networks. The rules also enforce the order of a
channel, because the copy for a destination still names the earlier messages sent there. So it is
checked on networks of any order, too.

If one receive makes several messages deliverable, they are delivered in the order of
`protocols.mail_room`.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TypeAlias

from attrs import evolve, frozen

from antecede import Envelope, Message, NormalForm, Protocol, Step
from antecede.checker.model import with_item
from antecede.protocols.mail_room import Held, released
from antecede.protocols.ranks import ranked


@frozen
class Entry:
    """The knowledge of an earlier message: its sender, clock and remaining destinations."""

    sender: int
    clock: int
    Dests: frozenset[int]


Log: TypeAlias = frozenset[Entry]


@frozen
class Stamped:
    """A message with its sender's clock and O_M, the part of the log its receiver may need."""

    message: Message
    clock: int
    O: Log  # noqa: E741, the paper's name


@frozen
class Ks:
    """clock_j; SR_j[i], the clock of the last message from i delivered; LOG_j.

    `held_back` holds received, undelivered packets, sorted by sender, then by clock.
    """

    me: int
    clock: int
    SR: tuple[int, ...]
    LOG: Log = frozenset()
    held_back: tuple[Held[Stamped], ...] = ()


def initial(actor: int, actors: int) -> Ks:
    """Return an empty log, with nothing sent or delivered."""
    return Ks(actor, clock=0, SR=(0,) * actors)


def causal_send(state: Ks, message: Message) -> Step:
    """SND: tick; send each destination its O_M; then forget and add destinations in the log."""
    clock, D = state.clock + 1, frozenset(message.destinations)

    def needed_by(d: int) -> Log:
        return purge(without(state.LOG, D - {d}))

    sends = tuple((d, Stamped(message, clock, needed_by(d))) for d in message.destinations)
    LOG = purge(without(state.LOG, D)) | {Entry(state.me, clock, D)}
    return Step(evolve(state, clock=clock, LOG=LOG), sends=sends)


def receive(state: Ks, src: int, packet: Stamped) -> Step:
    """RCV: hold the message back; deliver all messages that have become deliverable."""
    arrived = (*state.held_back, Held(src, packet))
    waiting = tuple(sorted(arrived, key=lambda held: (held.src, held.packet.clock)))
    state, waiting, deliveries = released(state, waiting, src, deliverable, after_delivery)
    return Step(evolve(state, held_back=waiting), deliveries=deliveries)


def deliverable(state: Ks, held: Held[Stamped]) -> bool:
    """RCV, the wait: all messages that O_M lists as sent here have been delivered."""
    return all(o.clock <= state.SR[o.sender] for o in held.packet.O if state.me in o.Dests)


def after_delivery(state: Ks, held: Held[Stamped]) -> Ks:
    """RCV, after the delivery: SR_j is updated; O_M and the message itself join the log."""
    k, packet = held.src, held.packet
    SR = with_item(state.SR, k, packet.clock)
    news = packet.O | {Entry(k, packet.clock, frozenset(packet.message.destinations))}
    still_to_reach = without(news, frozenset({state.me}))
    LOG = purge(merge(state.LOG, still_to_reach))
    return evolve(state, SR=SR, LOG=LOG)


def without(log: Log, destinations: frozenset[int]) -> Log:
    """Return the entries with `destinations` removed from theirs."""
    return frozenset(evolve(entry, Dests=entry.Dests - destinations) for entry in log)


def purge(log: Log) -> Log:
    """PURGE_NULL_ENTRIES: drop entries without destinations if their sender has a newer entry."""
    return frozenset(entry for entry in log if entry.Dests or not has_newer(entry, log))


def merge(log: Log, news: Log) -> Log:
    """Join two logs: a message is forgotten if the better informed side has forgotten it.

    A message in both logs keeps the destinations that remain in both.
    """
    remaining: dict[tuple[int, int], frozenset[int]] = {}
    for entry in (*still_known(log, news), *still_known(news, log)):
        key = (entry.sender, entry.clock)
        remaining[key] = remaining.get(key, entry.Dests) & entry.Dests
    return frozenset(Entry(*key, Dests) for key, Dests in remaining.items())


def still_known(log: Log, other: Log) -> Log:
    """Return the entries that `other` also has, or whose sender has no newer entry in `other`."""
    known = {(entry.sender, entry.clock) for entry in other}
    return frozenset(
        entry
        for entry in log
        if (entry.sender, entry.clock) in known or not has_newer(entry, other)
    )


def has_newer(entry: Entry, log: Iterable[Entry]) -> bool:
    """Return whether `log` has an entry of the same sender that is newer."""
    return any(e.sender == entry.sender and e.clock > entry.clock for e in log)


# The algorithms end here. Below: invariants, witnesses, measures and normal forms for the checker.


def normal(states: tuple[Ks, ...], flying: tuple[Envelope, ...]) -> NormalForm:
    """Replace the clocks of each actor by ranks, because they are only compared."""
    sent = [(envelope.src, envelope.packet) for envelope in flying]
    sent += [(held.src, held.packet) for state in states for held in state.held_back]
    clocks = [{state.clock, *(other.SR[state.me] for other in states)} for state in states]
    for log in (*(state.LOG for state in states), *(stamped.O for _, stamped in sent)):
        for entry in log:
            clocks[entry.sender].add(entry.clock)
    for src, stamped in sent:
        clocks[src].add(stamped.clock)
    ranks = list(map(ranked, clocks))

    def entries(log: Log) -> Log:
        return frozenset(evolve(e, clock=ranks[e.sender](e.clock)) for e in log)

    def packet(src: int, stamped: Stamped) -> Stamped:
        return evolve(stamped, clock=ranks[src](stamped.clock), O=entries(stamped.O))

    def state(actor: int, local: Ks) -> Ks:
        return evolve(
            local,
            clock=ranks[actor](local.clock),
            SR=tuple(rank(clock) for rank, clock in zip(ranks, local.SR, strict=True)),
            LOG=entries(local.LOG),
            held_back=tuple(evolve(h, packet=packet(h.src, h.packet)) for h in local.held_back),
        )

    return NormalForm(state, lambda envelope: packet(envelope.src, envelope.packet))


KS = Protocol(
    name="ks",
    summary="receiver-side: a log of the destinations still worth knowing on every message",
    source="Kshemkalyani and Singhal 1998",
    initial=initial,
    causal_send=causal_send,
    receive=receive,
    network="fifo",
    witnesses={"waited": lambda state: bool(state.held_back)},
    normal=normal,
    measures={"log": lambda state: len(state.LOG)},
)
