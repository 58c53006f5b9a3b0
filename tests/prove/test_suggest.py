"""Conjuncts that are found: MFSS's invariant without its own, and nothing that is not true."""

from __future__ import annotations

import pytest
from attrs import evolve

from antecede.checker.prove.front import model_named, suggestion
from antecede.checker.prove.obligations import Answer, prove
from antecede.checker.prove.suggest import atoms, candidates, conjuncts, houdini, said, text
from antecede.checker.render.ticker import Ticker
from antecede.cli import main

QUIET = Ticker(quiet=True)


@pytest.mark.slow
def test_the_invariant_of_mfss_is_found_without_its_own_conjuncts() -> None:
    found = suggestion(model_named("mfss"), 2, 2, 20.0, QUIET)
    assert Answer.PROVED is found.proof.answer
    assert "knows(a) implies delivered(R) or a = src(R)" in text(found)
    assert "R is an arbitrary message, so" in text(found)
    enough = evolve(found.proof.model, conjuncts=found.enough)
    assert Answer.PROVED is prove(enough).answer
    assert len(found.enough) < len(found.proof.model.conjuncts)


def test_candidates_have_at_most_three_literals_about_different_atoms() -> None:
    model = model_named("fifo")
    for chosen in candidates(model):
        assert 1 <= len(chosen) <= 3
        assert len({one.atom for one in chosen}) == len(chosen)


def test_what_is_not_inductive_is_thinned_out() -> None:
    """Of all candidates about one message that was received or delivered the true ones remain."""
    model = model_named("fifo")
    names = [text for _, text in atoms(model)]
    some = {names.index(name) for name in ("sent(m)", "received(m)", "delivered(m)")}
    tried = [one for one in candidates(model) if {x.atom for x in one} <= some and len(one) == 2]
    left = {said(one) for one in houdini(model, tried)}
    expected = {
        f"{later}(m) implies {earlier}(m)"
        for earlier, later in [
            ("sent", "received"),
            ("sent", "delivered"),
            ("received", "delivered"),
        ]
    }
    assert expected == left


def test_an_implication_reads_as_one() -> None:
    model = model_named("mfss")
    chosen = next(
        one
        for one in candidates(model)
        if [x.text for x in one] == ["tainted(m)", "posted(m)", "delivered(R)"][: len(one)]
        and len(one) == 1
        and one[0].negated
    )
    assert said(chosen) == "not tainted(m)"
    assert conjuncts([chosen])[0].name == "not tainted(m)"


def test_suggestions_need_a_link() -> None:
    assert main(["prove", "--quiet", "cykas-as-printed", "--suggest"]) == 2
