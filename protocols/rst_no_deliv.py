"""RST without DELIV: the matrix source's question whether DELIV is redundant.

Column i of SENT_i replaces DELIV_i, which stays empty. `rst-ghost-deliv` maintains DELIV_i without
reading it. Its invariant `deliv-is-column-of-sent`, which `rst` also has, says that the two agree
in every state. They do not agree if an actor sends to itself, because it counts such a message at
the send, before the delivery. Everything else is as in `protocols.rst`.
"""

from __future__ import annotations

from functools import partial

from attrs import evolve

from antecede.protocols import rst
from antecede.protocols.rst import RST, Mail, Rst, at_least, column


def initial(actor: int, actors: int) -> Rst:
    """Getting started, without DELIV."""
    return evolve(rst.initial(actor, actors), DELIV=())


def deliverable(state: Rst, held: Mail) -> bool:
    """For all k, SENT_i[k, i] >= SENT_m[k, i]."""
    i = state.me
    return at_least(column(state.SENT, i), column(held.packet.SENT, i))  # the variant: no DELIV


def after_delivery(state: Rst, held: Mail) -> Rst:
    """After delivering a message, steps 2 and 3."""
    return rst.merge_past(rst.count_received(state, held.src), held.packet)


RST_NO_DELIV = evolve(
    RST,
    name="rst-no-deliv",
    summary="rst with column i of SENT in the place of DELIV",
    source="matrix source, the question whether DELIV is redundant",
    initial=initial,
    receive=partial(rst.receive, may_deliver=deliverable, update=after_delivery),
    invariants={},
    normal=None,
)
RST_GHOST_DELIV = evolve(
    RST,
    name="rst-ghost-deliv",
    summary="rst-no-deliv with a DELIV beside it that decides nothing",
    source="matrix source, the question whether DELIV is redundant",
    receive=partial(rst.receive, may_deliver=deliverable),  # with step 1: DELIV is not read
    normal=None,
)
