"""Graded state graphs: a proof, from the tables, that all paths to a state have one length.

If all paths to a state have the same length, then a level of a breadth-first search meets no state
of an earlier level, and the search can forget visited states level by level. Such a graph is called
*graded*.

The proof is a rank function. It gives a number to each state of an actor, and weights to the
messages sent, to the packets of each class in flight, and so on, such that every transition raises
their sum by exactly one. The sum over a state is then its depth. Ranks and weights are computed,
not guessed. Each alternative of a table entry gives one linear equation about them. If it leads to
a new state of an actor, the equation defines the rank of this state. Otherwise it is a condition on
the weights. As long as the conditions have a solution, all states reached so far have one depth.

If they have none, some kinds of transitions may weigh more than others. In `cykas`, one transition
more follows the receipt of an eager send than the receipt of a normal one, so a normal receipt
weighs 2. The weight of each kind is then one more unknown. As long as the conditions have a
solution with small positive weights, all paths to a state have the same sum of weights. A search
whose levels are sums of weights, not depths, can forget states in the same way.

The rank is a progress measure for the sweep-line method (Christensen, Kristensen and Mailund, TACAS
2001). Here it is derived, not declared, and the search keeps only the current level.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping
from fractions import Fraction
from itertools import product

from attrs import define, field

from antecede.checker.support.errors import AntecedeError

Linear = dict[str, int]
"""A linear form in the weights: their coefficients by name."""

Weights = dict[str, int]
"""The weights of the kinds of transitions that weigh more than 1."""

BY = "transition "
"""The prefix of the names of weights that belong to kinds of transitions."""

MOST_WEIGHT = 4
"""The greatest weight of a transition; a search keeps as many levels open."""

MOST_TRIED = 5_000
"""The most combinations of weights that are tried."""

SENT, ARMED, LOST = "sent", "armed", "lost"
"""Names of weights; each class of packets has one more, named after the class."""

Change = dict[str, int]
"""The changes of a transition besides its actor's state: weighted quantity -> increase."""


def packets_of(packets: Iterable[object], times: int = 1) -> Change:
    """Return "packet CLASS" -> how many of these packets enter channels, or leave if -1."""
    change: Change = {}
    for packet in packets:
        name = f"packet {type(packet).__qualname__}"
        change[name] = change.get(name, 0) + times
    return change


def open_levels(weights: Weights) -> int:
    """Return how many levels ahead of a state its successors can be, at most."""
    return max(weights.values(), default=1)


class NotGradedError(AntecedeError):
    """Some state may have several depths; the message names the transition that showed it."""


@define(eq=False)
class Grading:
    """The proof that a graph is graded, as far as the tables go.

    It consists of ranks of actors' states, as linear forms in the weights, and of conditions on the
    weights.

    Attributes:
        ranks: the rank of each reached state of an actor.
        conditions: linear forms that must be 0, in echelon form, by the weight they are solved for.
        equations: the equations of the transitions so far; symmetric transitions have the same.
        seen: conditions that follow from `conditions`.
        weights: a solution; empty while all transitions may weigh 1; None if there is none.
        reason: the reason why some states may have several depths; None while all have one.
    """

    ranks: dict[Hashable, Linear] = field(factory=dict)
    conditions: dict[str, dict[str, Fraction]] = field(factory=dict)
    equations: set[Hashable] = field(factory=set)
    seen: set[frozenset[tuple[str, int]]] = field(factory=set)
    weights: Weights | None = field(factory=dict)
    reason: str | None = None

    def start(self, state: Hashable) -> None:
        """Give an actor's initial state the rank 0; states that are renamings have one name."""
        self.ranks[state] = {}

    def refute(self, reason: str) -> None:
        """Give the proof up, because paths to a state may have any lengths."""
        self.reason, self.weights = self.reason or reason, None
        self.ranks, self.conditions, self.equations, self.seen = {}, {}, set(), set()

    def step(self, before: Hashable, after: Hashable, change: Change, kind: str) -> None:
        """Add the equation of a transition, in which only one actor changes its state.

        Args:
            before, after: the states of the actor, as in `start`.
            change: all other changes.
            kind: the kind of the transition.
        """
        if self.weights is None:
            return
        equation = (before, after, kind, frozenset(change.items()))
        if equation in self.equations:
            return
        self.equations.add(equation)
        expected = dict(self.ranks[before])
        expected[BY + kind] = expected.get(BY + kind, 0) + 1
        for name, difference in change.items():
            expected[name] = expected.get(name, 0) - difference
        rank = self.ranks.setdefault(after, expected)
        if rank is not expected:
            self._require_equal(rank, expected, kind)

    def still(self, change: Change, kind: str) -> None:
        """Add the equation of a transition that changes no actor's state."""
        if self.weights is not None:
            self._require_equal({BY + kind: 1}, change, kind)

    def allows(self, weights: Weights) -> bool:
        """Return whether all paths to a state have the same sum of `weights`, so far."""
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
        """Search for new weights."""
        self.reason = self.reason or reason
        self.weights = _least(list(self._of_kinds()))
        if self.weights is None:
            self.refute(reason)

    def _of_kinds(self) -> Iterable[dict[str, Fraction]]:
        """Return the conditions that contain only weights of kinds of transitions."""
        # Each other condition is solved for another weight, so a solution of these extends to all.
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
    """Subtract the multiple of `condition` from `form` that eliminates a weight."""
    factor = form.get(weight, Fraction(0)) / condition[weight]
    if factor:
        for name, n in condition.items():
            form[name] = form.get(name, Fraction(0)) - factor * n


def _holds(form: Mapping[str, Fraction], weights: Weights) -> bool:
    return not sum(n * weights.get(name.removeprefix(BY), 1) for name, n in form.items())


def _least(forms: list[dict[str, Fraction]]) -> Weights | None:
    """Return weights that satisfy `forms`, with the least maximum and then the least sum.

    Each form is solved for a kind that no other form contains.
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
