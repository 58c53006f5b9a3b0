"""Algorithm 2 of the hybrid paper with a record of what the packets told.

P. S. Almeida: Space-Optimal, Computation-Optimal, Topology-Agnostic, Throughput-Scalable Causal
Delivery through Hybrid Buffering (the hybrid paper), sections 4.2 and 5.6. Section 4.2 calls an
algorithm optimal if a message stays in the send buffer only until its sender could learn that it
may go. The invariants ask whether Algorithm 2 keeps a message, or a permit, although the packets
that it got already say that it may go (see `protocols.hybrid_cumulative` for the reasons).

Each actor notes the greatest number of a PERMIT or of a delivered message without a flag, per
sender, and of an ACK, per receiver. The notes decide nothing. Everything else is as in
`protocols.hybrid_sps`.
"""

from __future__ import annotations

from collections.abc import Callable

from attrs import evolve, frozen

from antecede import LocalState, Step
from antecede.checker.model import with_item
from antecede.protocols import hybrid_sps
from antecede.protocols.hybrid_basic import Ack, Ids, Msg, Per, Permit
from antecede.protocols.hybrid_sps import HYBRID_SPS, Entry, HybridSps


@frozen
class HybridSpsTold(HybridSps):
    """Lines 1-11, and what the packets told.

    Attributes:
        permitted: per sender, the greatest message for which a permit came, sent as a PERMIT or
            implied by a message without a flag.
        acked: per receiver, the greatest message whose ACK came.
    """

    permitted: Ids
    acked: Ids


def initial(actor: int, actors: int) -> HybridSpsTold:
    """Lines 1-11: as in Algorithm 2."""
    start = hybrid_sps.initial(actor, actors)
    fields = [getattr(start, field) for field in HybridSps.__match_args__]
    nothing = (0,) * actors
    return HybridSpsTold(*[*fields, nothing, nothing])


def receive(state: HybridSpsTold, src: int, packet: Msg | Ack | Permit) -> Step:
    """Lines 48-100."""
    before = state
    step = hybrid_sps.receive(state, src, packet)
    state = step.state
    if isinstance(packet, Ack):
        acked = max(state.acked[src], packet.mid)
        return evolve(step, state=evolve(state, acked=with_item(state.acked, src, acked)))
    if isinstance(packet, Permit):
        told = packet.mid
    else:
        held = (*before.rb[src], packet)
        new = (m.mid for m in held if before.ld[src] < m.mid <= state.ld[src] and not m.per)
        told = max(new, default=0)
    permitted = with_item(state.permitted, src, max(state.permitted[src], told))
    return evolve(step, state=evolve(state, permitted=permitted))


# The algorithm ends here. Below: the invariants for the checker.

Tells = Callable[[HybridSpsTold, Per], bool]


def a_later_permit_came(state: HybridSpsTold, permit: Per) -> bool:
    """A permit for a later message of the same sender came."""
    return permit.mid < state.permitted[permit.snd]


def it_came_early(state: HybridSpsTold, permit: Per) -> bool:
    """The permit came before its message, or a later one came."""
    return permit.mid <= state.permitted[permit.snd]


def numbers_tell(state: HybridSpsTold, permit: Per) -> bool:
    """A permit came from which on all messages of the sender were delivered here."""
    return permit.mid <= known_from(state, permit.snd)


def known_from(state: HybridSpsTold, j: int) -> int:
    """Return the greatest message before which all of `j` to others are known to be delivered."""
    known = state.permitted[j]
    while Per(j, known + 1) in state.p:
        known += 1
    return known


def keeps_none(tells: Tells) -> Callable[[LocalState], bool]:
    """Return whether each unsent message waits for a permit of which nothing tells the content."""

    def predicate(state: LocalState) -> bool:
        return all(m.sent or waits(state, m, tells) for m in state.u)

    return predicate


def waits(state: HybridSpsTold, m: Entry, tells: Tells) -> bool:
    """Return whether `m` depends on another sender's permit of which nothing tells the content."""
    missing = [one for one in state.p if state.p.index(one) in range(m.per)]
    return any(one.snd != m.rcv and not tells(state, one) for one in missing)


def keeps_no_permit(state: LocalState) -> bool:
    """Each flagged message without its permit follows one whose delivery no ACK tells."""
    return all(
        any(e.rcv != m.rcv and e.mid > state.acked[e.rcv] for e in before(state, m))
        for m in state.u
        if m.sent and m.per and any(e.rcv != m.rcv and e.pl is not None for e in before(state, m))
    )


def before(state: HybridSpsTold, m: Entry) -> list[Entry]:
    """Return the messages of the unified buffer before `m`."""
    return [e for e in state.u if e.mid < m.mid]


def told_is_true(states: tuple[HybridSpsTold, ...]) -> bool:
    """What an actor knows from permits and ACKs of others is so."""
    return all(
        m.mid <= states[m.rcv].ld[j]
        for j, sender in enumerate(states)
        for m in sender.u
        for i, state in enumerate(states)
        if m.mid <= sender.acked[m.rcv] or (i != m.rcv and m.mid < known_from(state, j))
    )


HYBRID_SPS_TOLD = evolve(
    HYBRID_SPS,
    name="hybrid-sps-told",
    summary="hybrid-sps with a record beside it of what PERMITs, ACKs and messages told",
    source="hybrid paper, section 4.2, on the optimal algorithm",
    initial=initial,
    receive=receive,
    invariants={
        "sends-when-a-later-permit-came": keeps_none(a_later_permit_came),
        "sends-when-its-permit-came": keeps_none(it_came_early),
        "sends-when-numbers-tell": keeps_none(numbers_tell),
        "permits-when-a-later-ack-came": keeps_no_permit,
    },
    joint_invariants={"told-is-true": told_is_true},
)
