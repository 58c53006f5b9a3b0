"""A model and its invariant as Markdown, for docs/proofs.md."""

from __future__ import annotations

from antecede.checker.prove.vocabulary import Conjunct, Model


def markdown(model: Model) -> str:
    """Return a model's claims, its assumptions and its conjuncts, in words."""
    claims = [f"* Safety, {model.safety.name}: {model.safety.says}."]
    if model.at_rest is not None:
        claims.append(f"* Liveness at rest: {model.at_rest.says}.")
    claims += [f"* Assumed: {name}." for name, _ in model.axioms]
    head = f"### {model.protocol}\n\n{model.title[0].upper()}{model.title[1:]} ({model.source})."
    table = ["| conjunct | in every reachable state |", "|---|---|", *map(_row, model.conjuncts)]
    return "\n".join([head, "", *claims, "", *table])


def _row(conjunct: Conjunct) -> str:
    lemma = f" ({conjunct.lemma})" if conjunct.lemma else ""
    own = "" if conjunct.needed else "; not needed"
    return f"| `{conjunct.name}` | {conjunct.says}{lemma}{own} |"
