"""Is a protocol's normal form sound: does it commute with every transition?

After a state's normal form the same transitions must be enabled, up to how their packets are
written; they must deliver the same messages, and lead to states with the same normal forms. A check
looks at a few random runs before it relies on a form.
"""

from __future__ import annotations

import random

from attrs import evolve

from antecede.checker.errors import ProtocolError
from antecede.checker.model import NormalForm, State
from antecede.checker.semantics.normal import normal_form, renamed, renaming_of
from antecede.checker.semantics.transition import System, enabled, initial_state, successor

WALKS, STEPS = 4, 40
"""How many random runs are looked at, and how long they are."""


def check_normal_form(system: System, seed: int = 0) -> None:
    """Look at random runs of a system whose protocol declares a normal form.

    Raises:
        ProtocolError: the form does not commute; says where.
    """
    normal = system.protocol.normal
    if normal is None:
        return
    counting, rng = (
        evolve(system, protocol=evolve(system.protocol, normal=None)),
        random.Random(seed),
    )
    for _ in range(WALKS):
        state = initial_state(counting)
        for step in range(STEPS):
            if (fault := disagreement(counting, normal, state)) is not None:
                raise ProtocolError(
                    f"the normal form of {system.protocol.name} is not sound: {step} transitions "
                    f"from the start {fault}; leave `normal` out, or let it commute with every step"
                )
            if not (transitions := enabled(counting, state)):
                break
            state = successor(counting, state, rng.choice(transitions)).state


def disagreement(counting: System, normal: NormalForm, state: State) -> str | None:
    """Return where a state and its normal form part, in words, or None.

    Args:
        counting: a system that does not apply the form.
        normal: the form.
        state: one of the system's states.
    """
    small, renaming = normal_form(normal, counting.network, state), renaming_of(normal, state)
    if normal_form(normal, counting.network, small) != small:
        return "the normal form of a normal form is another one"
    steps = [(step, renamed(step, renaming)) for step in enabled(counting, state)]
    if {their for _, their in steps} != set(enabled(counting, small)):
        return "a state and its normal form enable different transitions"
    for step, their in steps:
        one, other = successor(counting, state, step), successor(counting, small, their)
        if one.deliveries != other.deliveries:
            return f"{step} delivers something else after the normal form"
        forms = [normal_form(normal, counting.network, after.state) for after in (one, other)]
        if forms[0] != forms[1]:
            return f"{step} leads somewhere else after the normal form"
    return None
