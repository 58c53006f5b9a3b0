"""The numbers of components."""

from __future__ import annotations

from antecede.checker.engine.rows.components import Interner


def test_equal_values_have_one_number_wherever_they_lie() -> None:
    interner = Interner("values")
    for n in range(700):  # an equal value goes at once, and the next one may take its place
        assert interner.number((n % 7, "other")) == n % 7
    assert [interner.number(value) for value in interner.values] == list(range(7))
