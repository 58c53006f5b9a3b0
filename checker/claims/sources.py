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
    AtRest,
    Cell,
    Check,
    Claim,
    ControlPackets,
    Evidence,
    Growth,
    Kept,
    Measured,
    Relation,
    Runs,
    Size,
    Source,
    Stated,
    Unchecked,
)
from antecede.checker.search.result import Verdict

NAMES = ("hybrid", "cykas", "mf", "matrix", "tree")
"""The names of the sources, in the order in which they are reported."""

RELATIONS = {
    "at_most": Relation.AT_MOST,
    "at_least": Relation.REACHES,
    "exactly": Relation.EXACTLY,
}

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
    quick = _size(table["quick"]) if "quick" in table else None
    if "statement" in table:
        placed = tuple(tuple(place) for place in table.get("placed", ()))
        return Stated(spec, table["statement"], table.get("fails", False), placed)
    if "law" in table:
        sizes = tuple(table.get("sizes", (2, 3, 4)))
        return Growth(spec, table["measure"], table["law"], table.get("factor", 1), sizes)
    if "control_packets" in table:
        return ControlPackets(spec, tuple(table["control_packets"]), quick)
    if "at_rest" in table:
        return AtRest(spec, tuple(table["at_rest"]), quick)
    if "measure" in table:
        return Measured(spec, table["measure"], *_relation(table), quick)
    if "kept" in table:
        return _kept(spec, table["kept"], *_relation(table), quick)
    if "violates" in table:
        expect = Expectation(Verdict.VIOLATED, violates=table["violates"])
        return Check(evolve(spec, properties=(table["violates"],), expect=expect), quick)
    return Check(spec, quick)


def _size(text: str) -> Size:
    actors, messages = map(int, text.split("x"))
    return actors, messages


def _relation(table: Mapping[str, Any]) -> tuple[Relation, int]:
    (word,) = RELATIONS.keys() & table.keys()
    return RELATIONS[word], table[word]


def _kept(spec: Spec, name: str, relation: Relation, value: int, quick: Size | None) -> Kept:
    """Return evidence whose spec judges safety only; the bound matters, not the verdict."""
    bound = value + 1 if relation is Relation.AT_MOST else value
    asked = evolve(spec, properties=("causal-delivery",), bound=(f"{name}={bound}",))
    return Kept(asked, relation, quick)
