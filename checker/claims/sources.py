"""The papers and their claims, read from the TOML files beside this one.

A claim has a list of evidence. Evidence has the keys of a spec (see `specs/`) and these:

* nothing else: all properties of the spec hold;
* `violates`: this property is violated;
* `measure` with `at_most`, `at_least` or `exactly`: an attribute of `Measures` and its value;
* `measure` with `law` (and `factor`, `sizes`): how it grows with the number of actors;
* `control_packets`: the classes of packets without a message that are sent;
* `at_rest`: how every actor is when a run has ended;
* `kept` with `at_most` or `at_least`: a declared measure in runs of any length;
* `statement` with `fails` and `placed`: a statement of the tree paper, which holds in every step,
  or fails in some step; `placed` has the first queues, `["in", node, neighbour, message]`;
* `figure` with `rule` (and `narrow`): rows of `antecede simulate`, and nothing of a spec;
* `unchecked`: the reason why nothing decides the claim, and nothing of a spec.

`quick` has the smaller bounds for `--quick`, such as 2x1: two actors with one message each.
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from functools import cache
from importlib import resources
from typing import Any

from attrs import evolve

from antecede.checker.check.spec import Expectation, Spec, spec_from
from antecede.checker.claims.claim import (
    RELATIONS,
    Cell,
    Check,
    Claim,
    Evidence,
    Relation,
    Runs,
    Size,
    Source,
    Unchecked,
)
from antecede.checker.search.result import Verdict

NAMES = ("hybrid", "cykas", "mf", "matrix", "tree")
"""The names of the sources, in the order in which they are reported."""

OWN = {"quick", "violates", "measure", "law", "factor", "sizes", "control_packets", "at_rest"} | {
    "kept",
    "statement",
    "fails",
    "placed",
    *RELATIONS,
}
"""The keys of evidence that are not keys of a spec."""


@cache
def source_named(name: str) -> Source:
    """Return the source of one of NAMES."""
    text = resources.files(__package__).joinpath(f"{name}.toml").read_text(encoding="utf-8")
    table = tomllib.loads(text)
    return Source(
        name,
        table["citation"],
        tuple(_claim(name, claim) for claim in table["claims"]),
        tuple(_claim(name, claim) for claim in table.get("times", ())),
        table.get("remark", ""),
        tuple(table.get("rows", ())),
        tuple(table.get("columns", ())),
    )


def sources() -> tuple[Source, ...]:
    """Return all sources."""
    return tuple(map(source_named, NAMES))


def _claim(source: str, table: Mapping[str, Any]) -> Claim:
    evidence = tuple(map(evidence_of, table["evidence"]))
    rest = (table["claim"], evidence, table.get("note", ""))
    if "cell" not in table:
        return Claim(table["key"], table["place"], *rest)
    cell = Cell(**table["cell"])
    key = f"{source}-table-1-{cell.row}-{cell.column}".lower().replace(": ", "-").replace(" ", "-")
    return Claim(key, f"Table 1: {cell.row}, {cell.column}", *rest, cell)


def evidence_of(table: Mapping[str, Any]) -> Evidence:
    """Return the evidence that a table describes.

    Raises:
        InputError: a key of the spec is wrong.
    """
    if "unchecked" in table:
        return Unchecked(table["unchecked"])
    if "rule" in table:
        return Runs(table["figure"], table["rule"], table.get("narrow", table["rule"]))
    spec = spec_from({key: value for key, value in table.items() if key not in OWN})
    own = {key: table[key] for key in OWN & table.keys()}
    check = Check(spec, _size(table["quick"]) if "quick" in table else None, own)
    if "kept" in table:
        return evolve(check, spec=_kept(spec, table["kept"], *check.relation))
    if "violates" in table:
        expect = Expectation(Verdict.VIOLATED, violates=table["violates"])
        return evolve(check, spec=evolve(spec, properties=(table["violates"],), expect=expect))
    return check


def _size(text: str) -> Size:
    actors, messages = map(int, text.split("x"))
    return actors, messages


def _kept(spec: Spec, name: str, relation: Relation, value: int) -> Spec:
    """Return a spec that judges safety only; the bound matters, not the verdict."""
    bound = value + 1 if relation is Relation.AT_MOST else value
    return evolve(spec, properties=("causal-delivery",), bound=(f"{name}={bound}",))
