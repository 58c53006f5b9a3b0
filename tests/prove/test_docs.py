"""The documentation says of every model what it is; the axioms of trees are true of trees."""

from __future__ import annotations

from itertools import product

import pytest

from antecede.checker.prove.finite import true_in
from antecede.checker.prove.formula import Structure
from antecede.checker.prove.front import model_named
from antecede.checker.prove.vocabulary import Conjunct, Model
from antecede.protocols import PROOFS
from antecede.protocols.tree import routes_in, shortest_way_round
from antecede.protocols.tree_proof import TREE_AXIOMS
from tests.conftest import ROOT

PAGE = (ROOT / "docs" / "proofs-reference.md").read_text(encoding="utf-8")
INVARIANTS = (ROOT / "benchmarks" / "invariants.md").read_text(encoding="utf-8")


def markdown(model: Model) -> str:
    """Return a model's source, its claims, its assumptions and its conjuncts, in words."""
    claims = [f"* Source: {model.source}.", f"* Safety, {model.safety.name}: {model.safety.says}."]
    if model.quiescent is not None:
        claims.append(f"* At quiescence: {model.quiescent.says}.")
    claims += [f"* Assumed: {name}." for name, _ in model.axioms]
    head = f"## {model.protocol}\n\n{model.title[0].upper()}{model.title[1:]}."
    table = ["| conjunct | in every reachable state |", "|---|---|", *map(_row, model.conjuncts)]
    return "\n".join([head, "", *claims, "", *table])


def _row(conjunct: Conjunct) -> str:
    lemma = f" ({conjunct.lemma})" if conjunct.lemma else ""
    own = "" if conjunct.needed else "; not needed"
    return f"| `{conjunct.name}` | {conjunct.says}{lemma}{own} |"


def test_the_pages_have_every_model_with_its_conjuncts() -> None:
    models = [model_named(name) for name in PROOFS]
    assert [] == [name for name in PROOFS if f"| `{name}` | " not in PAGE]
    proved = [model for model in models if model.expected != "FAILED"]
    assert [] == [model.protocol for model in proved if markdown(model) not in INVARIANTS]


def structure(routes: tuple[tuple[int, ...], ...]) -> Structure:
    """Return the links and sides that routes amount to."""
    n = len(routes)
    nodes = range(n)
    links = [(u, v) for u, v in product(nodes, nodes) if u != v and routes[u][v] == v]
    near = [(u, v, a) for u, v in links for a in nodes if a != v and routes[v][a] == u]
    return Structure(
        {"Actor": n, "Message": 1},
        {
            "link": sum(1 << (u * n + v) for u, v in links),
            "near": sum(1 << ((u * n + v) * n + a) for u, v, a in near),
        },
    )


@pytest.mark.parametrize("nodes", [2, 3, 4, 5, 6])
def test_the_axioms_are_true_of_every_tree(nodes: int) -> None:
    """Up to the names of the nodes, every tree has parents with lesser numbers."""
    for parents in product(*(range(max(node, 1)) for node in range(nodes))):
        tree = structure(routes_in(parents))
        assert all(true_in(tree, axiom) for _, axiom in TREE_AXIOMS), parents


def test_the_axioms_are_not_true_of_a_ring() -> None:
    ring = structure(shortest_way_round(4))
    assert not all(true_in(ring, axiom) for _, axiom in TREE_AXIOMS)
