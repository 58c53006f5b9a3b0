"""Whether every state of a system has one depth only, proved from its tables as they are filled.

If all paths to a state have the same length, then a level of a breadth-first search meets no state
of an earlier one, and what was visited can be forgotten level by level. Such a graph is *graded*.

The proof is a rank: a number for each state of an actor, and weights for the messages sent, the
packets of each class in flight, and so on, such that every transition raises their sum by exactly
one; the sum over a state is then its depth. Ranks and weights are not guessed. Each alternative of
a table entry gives one linear equation about them: where it leads to an actor's state that is new,
the equation defines that state's rank; where the state is known, it is a condition on the weights.
As long as the conditions have a solution, all states reached by these entries have one depth.

It is a progress measure of the sweep-line method (Christensen, Kristensen and Mailund, TACAS 2001),
derived instead of given, and one that leaves nothing but the current level.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Iterable
from fractions import Fraction

from attrs import define, field

from antecede.checker.errors import AntecedeError

Linear = dict[str, int]
"""A linear form in the weights: their coefficients by name; that of 1 is a constant."""

ONE = "1"
SENT, ARMED, LOST = "sent", "armed", "lost"
"""Weights; those of the classes of packets follow, named after them."""

Change = dict[str, int]
"""What a transition changes, besides its actor's state: by how much each weighted number rises."""


def packets_of(packets: Iterable[object], times: int = 1) -> Change:
    """Return how the numbers of packets in flight change where these are added or removed."""
    counted = Counter(f"packet {type(packet).__qualname__}" for packet in packets)
    return {name: times * n for name, n in counted.items()}


class NotGradedError(AntecedeError):
    """Some state may have several depths after all; the text says where this showed."""


@define(eq=False)
class Grading:
    """The ranks of actors' states as linear forms in the weights, and conditions on these.

    Attributes:
        ranks: of each state of an actor that was reached.
        conditions: in echelon form: the weight that each is solved for -> its form, which is 0.
        seen: conditions that were found to follow from the others.
        reason: why the graph is not graded, or cannot be shown to be; None while it is.
    """

    ranks: dict[Hashable, Linear] = field(factory=dict)
    conditions: dict[str, dict[str, Fraction]] = field(factory=dict)
    seen: set[frozenset[tuple[str, int]]] = field(factory=set)
    reason: str | None = None

    def start(self, state: Hashable) -> None:
        """Give the initial state of an actor its rank."""
        self.ranks[state] = {}

    def refute(self, reason: str) -> None:
        """Take note that there are states with several depths, or that nothing says there are not.

        What was derived is of no use any more, and is forgotten.
        """
        self.reason = self.reason or reason
        self.ranks, self.conditions, self.seen = {}, {}, set()

    def step(self, before: Hashable, after: Hashable, change: Change, what: str) -> None:
        """Take note of a transition of an actor from one state to another.

        Args:
            before: the state of the actor; other actors' do not change.
            after: its next state.
            change: what else changes.
            what: names the transition, for the reason.
        """
        if self.reason is not None:
            return
        expected = dict(self.ranks[before])
        expected[ONE] = expected.get(ONE, 0) + 1
        for name, difference in change.items():
            expected[name] = expected.get(name, 0) - difference
        known = self.ranks.setdefault(after, expected)
        if known is not expected:
            self._require_equal(known, expected, what)

    def still(self, change: Change, what: str) -> None:
        """Take note of a transition that changes no actor's state."""
        if self.reason is None:
            self._require_equal({ONE: 1}, change, what)

    def _require_equal(self, one: Linear, other: Linear, what: str) -> None:
        names = one.keys() | other.keys()
        form = {name: one.get(name, 0) - other.get(name, 0) for name in names}
        key = frozenset((name, n) for name, n in form.items() if n)
        if not key or key in self.seen:
            return
        if self._solvable({name: Fraction(n) for name, n in key}):
            self.seen.add(key)
        else:
            self.refute(f"{what} leads to states by paths of different lengths")

    def _solvable(self, form: dict[str, Fraction]) -> bool:
        """Add the condition that `form` is 0; return whether all conditions have a solution."""
        for pivot, condition in self.conditions.items():
            _eliminate(form, pivot, condition)
        weight = next((name for name, n in sorted(form.items()) if name != ONE and n), None)
        if weight is None:
            return not form.get(ONE)
        for condition in self.conditions.values():
            _eliminate(condition, weight, form)
        self.conditions[weight] = form
        return True


def _eliminate(form: dict[str, Fraction], weight: str, condition: dict[str, Fraction]) -> None:
    """Take from `form` the multiple of a condition that frees it of a weight."""
    factor = form.get(weight, Fraction(0)) / condition[weight]
    if factor:
        for name, n in condition.items():
            form[name] = form.get(name, Fraction(0)) - factor * n
