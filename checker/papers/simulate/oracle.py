"""The causality oracle of a simulation: vector clocks as in `checker.semantics.history`.

The clocks are dense arrays, because a simulated run has hundreds of actors that all communicate. A
delivery of message number k of s at j is wrong if and only if j's clock has k or more for s. Then j
has already delivered a message with this message in its causal past.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from attrs import define, field

from antecede.checker.model import Message
from antecede.checker.support.errors import AntecedeError


class WrongRun(AntecedeError):
    """A simulated run that violates the protocol's promises; it has no results."""


@define(eq=False)
class RunOracle:
    """Judges every delivery.

    Attributes:
        clocks: actors x actors; row j counts the causal-sends that j knows.
        waiting: message in transit -> its stamp, and the actors that have not delivered it.
        violations: deliveries that came after a delivery that they should precede.
        tolerant: count violations instead of raising; for controls.
    """

    actors: int
    most: int
    tolerant: bool = False
    clocks: Any = field(init=False)
    waiting: dict[tuple[int, int], tuple[Any, set[int]]] = field(factory=dict)
    violations: int = 0

    def __attrs_post_init__(self) -> None:
        small = np.uint16 if self.most < 2**16 else np.uint32
        self.clocks = np.zeros((self.actors, self.actors), dtype=small)

    def causal_send(self, message: Message) -> None:
        """Record a causal-send by the sender's application."""
        clock = self.clocks[message.sender]
        clock[message.sender] += 1
        key = message.sender, message.number
        self.waiting[key] = clock.copy(), set(message.destinations)

    def deliver(self, actor: int, message: Message) -> None:
        """Judge a delivery.

        Raises:
            WrongRun: it violates integrity, or causal delivery.
        """
        key = message.sender, message.number
        stamp, missing = self.waiting.get(key, _NOWHERE)
        if actor not in missing:
            raise WrongRun(
                f"integrity: {name(message)} is delivered at actor {actor} a second time, or it "
                "was never sent there"
            )
        clock = self.clocks[actor]
        if clock[message.sender] >= message.number:
            self._violated(actor, message)
        np.maximum(clock, stamp, out=clock)
        missing.remove(actor)
        if not missing:
            del self.waiting[key]

    def _violated(self, actor: int, message: Message) -> None:
        self.violations += 1
        if not self.tolerant:
            raise WrongRun(
                f"causal-delivery: {name(message)} is delivered at actor {actor} after a message "
                "that it happened before"
            )

    def finish(self) -> None:
        """Check the end of the run.

        Raises:
            WrongRun: a message was not delivered everywhere.
        """
        if self.waiting:
            (sender, number), (_, missing) = next(iter(self.waiting.items()))
            raise WrongRun(
                f"all-delivered: {len(self.waiting):,} messages never arrive, the first of them "
                f"message {number} of actor {sender} at actor {min(missing)}"
            )


_NOWHERE: tuple[Any, set[int]] = (None, set())


def name(message: Message) -> str:
    """Return the name of a message in a sentence."""
    return f"message {message.number} of actor {message.sender}"
