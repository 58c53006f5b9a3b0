"""Whether depths, or sums of weights, tell states apart: proved from the tables as they are filled.

If all paths to a state have the same length, then a level of a breadth-first search meets no state
of an earlier one, and what was visited can be forgotten level by level. Such a graph is *graded*.

The proof is a rank: a number for each state of an actor, and weights for the messages sent, the
packets of each class in flight, and so on, such that every transition raises their sum by exactly
one; the sum over a state is then its depth. Ranks and weights are not guessed. Each alternative of
a table entry gives one linear equation about them: where it leads to an actor's state that is new,
the equation defines that state's rank; where the state is known, it is a condition on the weights.
As long as the conditions have a solution, all states reached by these entries have one depth.

Elsewhere some kinds of transitions may weigh more than others: in `cykas` to receive an eager send
is followed by one transition more than to receive a normal one, so the latter weighs 2. The weight
of each kind is then one more unknown, and as long as the conditions have a solution with small
positive weights of transitions, all paths to a state have the same sum of these. A search that goes
by that sum instead of by depth can forget in the same way.

It is a progress measure of the sweep-line method (Christensen, Kristensen and Mailund, TACAS 2001),
derived instead of given, and one that leaves nothing but the current level.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping
from fractions import Fraction
from itertools import product

from attrs import define, field

from antecede.checker.errors import AntecedeError

Linear = dict[str, int]
"""A linear form in the weights: their coefficients by name."""

Weights = dict[str, int]
"""The kinds of transitions that weigh more than 1 -> how much."""

BY = "transition "
"""What the names of the weights of kinds of transitions begin with."""

MOST_WEIGHT = 4
"""Of a transition: a search keeps as many levels open."""

MOST_TRIED = 5_000
"""Choices of weights that are looked at."""

SENT, ARMED, LOST = "sent", "armed", "lost"
"""Weights; those of the classes of packets follow, named after them."""

Change = dict[str, int]
"""What a transition changes, besides its actor's state: by how much each weighted number rises."""


def packets_of(packets: Iterable[object], times: int = 1) -> Change:
    """Return how the numbers of packets in flight change where these are added or removed."""
    change: Change = {}
    for packet in packets:
        name = f"packet {type(packet).__qualname__}"
        change[name] = change.get(name, 0) + times
    return change


class NotGradedError(AntecedeError):
    """Some state may have several depths after all; the text says where this showed."""


@define(eq=False)
class Grading:
    """The ranks of actors' states as linear forms in the weights, and conditions on these.

    Attributes:
        ranks: of each state of an actor that was reached.
        conditions: in echelon form: the weight that each is solved for -> its form, which is 0.
        seen: conditions that were found to follow from the others.
        weights: a solution; empty while all transitions may weigh 1; None if there is none.
        reason: why some states may have several depths; None while every one has one depth only.
    """

    ranks: dict[Hashable, Linear] = field(factory=dict)
    conditions: dict[str, dict[str, Fraction]] = field(factory=dict)
    seen: set[frozenset[tuple[str, int]]] = field(factory=set)
    weights: Weights | None = field(factory=dict)
    reason: str | None = None

    def start(self, state: Hashable) -> None:
        """Give the initial state of an actor its rank."""
        self.ranks[state] = {}

    def refute(self, reason: str) -> None:
        """Take note that nothing is known about paths to the same state.

        What was derived is of no use any more, and is forgotten.
        """
        self.reason, self.weights = self.reason or reason, None
        self.ranks, self.conditions, self.seen = {}, {}, set()

    def step(self, before: Hashable, after: Hashable, change: Change, kind: str) -> None:
        """Take note of a transition of an actor from one state to another.

        Args:
            before: the state of the actor; other actors' do not change.
            after: its next state.
            change: what else changes.
            kind: of transition.
        """
        if self.weights is None:
            return
        expected = dict(self.ranks[before])
        expected[BY + kind] = expected.get(BY + kind, 0) + 1
        for name, difference in change.items():
            expected[name] = expected.get(name, 0) - difference
        known = self.ranks.setdefault(after, expected)
        if known is not expected:
            self._require_equal(known, expected, kind)

    def still(self, change: Change, kind: str) -> None:
        """Take note of a transition that changes no actor's state."""
        if self.weights is not None:
            self._require_equal({BY + kind: 1}, change, kind)

    def allows(self, weights: Weights) -> bool:
        """Return whether all paths to a state have the same sum of these weights, so far."""
        return self.weights is not None and all(_holds(form, weights) for form in self._of_kinds())

    def _require_equal(self, one: Linear, other: Linear, kind: str) -> None:
        names = one.keys() | other.keys()
        form = {name: one.get(name, 0) - other.get(name, 0) for name in names}
        key = frozenset((name, n) for name, n in form.items() if n)
        if not key or key in self.seen:
            return
        self.seen.add(key)
        self._add({name: Fraction(n) for name, n in key})
        if self.weights is not None and not self.allows(self.weights):
            self._weigh_again(f"{kind} leads to states by paths of different lengths")

    def _weigh_again(self, reason: str) -> None:
        """Look for other weights."""
        self.reason = self.reason or reason
        self.weights = _least(list(self._of_kinds()))
        if self.weights is None:
            self.refute(reason)

    def _of_kinds(self) -> Iterable[dict[str, Fraction]]:
        """Return the conditions on the weights of kinds of transitions alone.

        For any such weights that meet them all other conditions have a solution, for each is solved
        for a weight of its own that is none of these.
        """
        return (form for solved, form in self.conditions.items() if solved.startswith(BY))

    def _add(self, form: dict[str, Fraction]) -> None:
        """Add the condition that `form` is 0, unless it follows from the others."""
        for pivot, condition in self.conditions.items():
            _eliminate(form, pivot, condition)
        names = sorted((name for name, n in form.items() if n), key=_kinds_last)
        if not names:
            return
        for condition in self.conditions.values():
            _eliminate(condition, names[0], form)
        self.conditions[names[0]] = form


def _kinds_last(name: str) -> tuple[bool, str]:
    return name.startswith(BY), name


def _eliminate(form: dict[str, Fraction], weight: str, condition: Mapping[str, Fraction]) -> None:
    """Take from `form` the multiple of a condition that frees it of a weight."""
    factor = form.get(weight, Fraction(0)) / condition[weight]
    if factor:
        for name, n in condition.items():
            form[name] = form.get(name, Fraction(0)) - factor * n


def _holds(form: Mapping[str, Fraction], weights: Weights) -> bool:
    return not sum(n * weights.get(name.removeprefix(BY), 1) for name, n in form.items())


def _least(forms: list[dict[str, Fraction]]) -> Weights | None:
    """Return weights of kinds that meet conditions: the greatest as small as can be, then the sum.

    Args:
        forms: in echelon form, each solved for the kind that no other one has.
    """
    names = sorted({name for form in forms for name, n in form.items() if n})
    for most in range(2, MOST_WEIGHT + 1):
        if most ** len(names) > MOST_TRIED:
            return None
        tried = sorted(product(range(1, most + 1), repeat=len(names)), key=sum)
        for values in tried:
            weights = dict(zip((name.removeprefix(BY) for name in names), values, strict=True))
            if all(_holds(form, weights) for form in forms):
                return {name: n for name, n in weights.items() if n > 1}
    return None
