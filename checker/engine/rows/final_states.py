"""Table entries that judge final states, in which no transition is enabled or all are crashes.

A property of final states is about what single actors have left undelivered, or about the states or
deliveries of all actors together. Kernels know numbers, so Python judges each combination once.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import partial
from typing import Any

from attrs import define, field

from antecede.checker.engine.rows import geometry as g
from antecede.checker.engine.rows.components import Components, Interner, bits_of, in_bits
from antecede.checker.engine.rows.histories import Owed
from antecede.checker.engine.rows.symmetry import (
    NotSymmetricError,
    Place,
    Symmetry,
    renamed_messages,
)
from antecede.checker.model import Message, What, When
from antecede.checker.semantics.crashes import with_crashed
from antecede.checker.semantics.judge import left
from antecede.checker.semantics.workload import Position

PARTLY = What.PARTLY_DELIVERED
MESSAGES = (What.UNDELIVERED, PARTLY)
"""What properties of a sender's messages are about."""


@define(eq=False)
class FinalStates:
    """Makes the table entries that judge final states.

    Attributes:
        components: the components of the states.
        symmetry: the renamings of the components; None without symmetry.
        combinations: combinations of numbers of the first actors' states, positions or both.
        undelivered: some final state leaves a message undelivered. Kernels request entries of final
            states only, so a reachable one does.
    """

    components: Components
    symmetry: Symmetry | None
    combinations: Interner = field(factory=partial(Interner, "combinations of actors' states"))
    undelivered: bool = False

    def __attrs_post_init__(self) -> None:
        """Number the empty combination 0."""
        self.combinations.number(())

    @property
    def sought(self) -> int:
        """The bit set of properties that require some final state."""
        return bits_of(self.components.system, lambda prop: prop.when is When.AT_SOME_FINAL_STATE)

    @property
    def joint(self) -> int:
        """What of all actors together is judged in final states, as in `g.JOINT`."""
        ends = {prop.what for prop in self.components.system.properties if prop.at_end}
        sequences = What.SEQUENCES in ends
        crash = self.components.system.crashes is not None
        states = bool(ends & {What.LOCAL_STATE, What.GLOBAL_STATE}) or (sequences and crash)
        return g.JOINT_STATES * states | g.JOINT_POSITIONS * sequences

    def final(self, actor: int, pending: int, position: int) -> int:
        """Entry of FINAL: bit set of the final-state properties whose predicate the actor fails.

        Raises:
            NotSymmetricError: with other names of the actors, a predicate answers differently.
        """
        c, group = self.components, self.symmetry.group if self.symmetry else ()
        owed = c.pending[actor].values[pending]
        if not isinstance(owed, Owed):
            owed = Owed(owed, ())
        messages = {what: left(what, owed.pending, owed.crashed) for what in MESSAGES}
        self.undelivered |= actor not in owed.crashed and bool(messages[What.UNDELIVERED])
        here = c.positions[actor].values[position]
        if actor in owed.crashed:  # it owes nothing, and its application need not end
            return self._failed({PARTLY: (messages[PARTLY],)})
        renamed = (
            self._left(p[actor], {k: renamed_messages(m, p) for k, m in messages.items()}, here)
            for p in group
        )
        return self._in_all_names(self._left(actor, messages, here), renamed)

    def _left(
        self, actor: int, messages: Mapping[What, tuple[Message, ...]], position: Position
    ) -> int:
        """Return the bit set of the properties whose predicate an actor fails."""
        ended = self.components.system.workload.ended(actor, position)
        things = {what: (of_what,) for what, of_what in messages.items()}
        return self._failed({**things, What.ENDED: (ended,)})

    def together(self, column: int, combination: int, number: int) -> int:
        """Entry of TOGETHER: a longer combination, or the properties that the actors fail.

        Args:
            column: the actor, plus MOST_ACTORS if `number` is of its position, not of its state.
            combination: the number of the combination so far; 0: it is empty.
        """
        of_position, actor = divmod(column, g.MOST_ACTORS)
        place = g.POSITION if of_position else g.STATE, actor
        longer = (*self.combinations.values[combination], (place, number))
        if len(longer) < self.components.system.actors * self.joint.bit_count():
            return self.combinations.number(longer)
        numbers = dict(longer)
        renamed = self.symmetry.renamings_of(numbers) if self.symmetry else ()
        failed = self._failed_together(numbers)
        return self._in_all_names(failed, map(self._failed_together, renamed))

    def _failed_together(self, numbers: Mapping[Place, int]) -> int:
        """Return the bit set of the properties that a combination fails."""
        c = self.components
        states, delivered = (
            c.values_of_all(
                kind, [numbers[kind, i] for i in range(c.system.actors) if (kind, i) in numbers]
            )
            for kind in (g.STATE, g.POSITION)
        )
        if c.system.crashes is not None and delivered:
            delivered = with_crashed(delivered, states)
        return self._failed(
            {What.LOCAL_STATE: states, What.GLOBAL_STATE: (states,), What.SEQUENCES: (delivered,)}
        )

    def _failed(self, things: Mapping[What, Iterable[Any]]) -> int:
        """Return the bit set of the final-state properties whose predicate is false for a thing."""
        return bits_of(
            self.components.system,
            lambda prop: (
                prop.at_end
                and prop.what in things
                and not all(map(prop.predicate, things[prop.what]))
            ),
        )

    def _in_all_names(self, failed: int, renamed: Iterable[int]) -> int:
        """Return the properties that a state fails, after a check that its renamings fail them."""
        for other in renamed:
            for prop in in_bits(self.components.system, failed ^ other):
                raise NotSymmetricError(f"{prop.name} depends on actors' names")
        return failed
