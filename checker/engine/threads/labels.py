"""The transitions of a tabulated system by number, as the edges of a kept graph name them.

An entry of the tables names the kind of each transition that it offers. With the number of the
transition in that place, kernels tell which transition an edge is.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from inspect import unwrap
from typing import Any

from attrs import frozen

from antecede.checker.engine.rows import geometry as g
from antecede.checker.engine.rows.components import NOT_ENABLED, call_of, in_call
from antecede.checker.engine.rows.tabulate import Tabulation
from antecede.checker.engine.successors import derive_kernels
from antecede.checker.model import CausalSend, Internal, Lose, Receive, Timeout, Transition
from antecede.checker.semantics.marked import MARKED
from antecede.checker.support.errors import CapacityError

after_step: Callable[[Any, int], int] = unwrap(derive_kernels.after_step)

MOST_LABELS = 1 << 15
"""An entry of a kernel has 15 bits for the kind of a transition."""


@frozen(eq=False)
class Labels:
    """The transitions of a system by number; a number is the label of a graph's edge.

    Attributes:
        code: as in `g.Tables`, with a transition's number in place of its kind.
        transitions: number -> transition; all are different.
    """

    code: Any
    transitions: list[Transition]


def labels_of(tabulation: Tabulation) -> Labels:
    """Return a number for each distinct transition that the tables of a search offer.

    Raises:
        CapacityError: there are more than `MOST_LABELS` (32,768) distinct transitions.
    """
    code, numbers = tabulation.code.copy(), dict[Transition, int]()
    for key, spot in tabulation.table.reshape(-1, 2).tolist():
        if key == -1 or not g.SEND <= in_call(key)[0] <= g.LOSE:
            continue
        at = spot + 1
        for transition in _offered(tabulation, key, spot):
            code[at + g.EFFECT_KIND] = numbers.setdefault(transition, len(numbers))
            at = after_step(code, at)
    if len(numbers) > MOST_LABELS:
        raise CapacityError(
            f"{len(numbers):,} distinct transitions are more than the {MOST_LABELS:,} that the "
            "graph of the local engine has names for; --engine plain has no such limit"
        )
    return Labels(code, list(numbers))


def _offered(tabulation: Tabulation, key: int, spot: int) -> Iterator[Transition]:
    """Yield the transitions that an entry offers, in its order."""
    kind, column, state, content = in_call(key)
    components = tabulation.components
    if kind == g.SEND:
        for message in tabulation.followed_offers(column, content):
            is_marked = message.number == MARKED
            yield CausalSend(column, message.destinations, is_marked, message.label)
    elif kind == g.INTERNAL:
        for place, name in enumerate(components.internals):
            call = call_of(g.INTERNAL, column, state, place)
            if components.results.get(call, NOT_ENABLED) != NOT_ENABLED:
                yield Timeout(column) if name is None else Internal(column, name)
    else:
        network, (src, dst) = components.system.network, components.channels[column]
        here = components.contents[column].values[content]
        if kind == g.RECEIVE:
            for packet, rest in network.take(here):
                yield Receive(src, dst, packet, stays=rest == here)
        elif network.lose is not None:
            for place, (packet, _rest) in enumerate(network.lose(here)):
                yield Lose(src, dst, packet, place)
