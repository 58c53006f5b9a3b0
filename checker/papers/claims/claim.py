"""The papers and their claims, read from the TOML files beside this one.

A claim has a list of evidence. Evidence has the keys of a spec (see `specs/`) and these:

* nothing else: all properties of the spec hold;
* `violates`: this property is violated;
* `within`: no run within the bounds of `bound` violates a property; runs may exceed these bounds;
* `raises`: a handler raises this exception;
* `measure` with `at_most`, `at_least` or `exactly`: an attribute of `Measures` and its value;
* `measure` with `law` (and `factor`, `sizes`): how it grows with the number of actors;
* `control_packets`: the classes of packets without a message that are sent;
* `final_invariants`: how every actor is when a run has ended;
* `kept` with `at_most` or `at_least`: a declared measure in runs of any length;
* `statement` with `fails`, `programs` and `placed`: a statement of the tree paper, which holds in
  every step, or fails in some step; `programs` is a number of messages, and the statement is about
  all programs with so many; `placed` has the first queues, `["in", node, neighbour, message]`;
* `generates_all` and `generates_only`: classes of computations; in all small programs, the protocol
  generates all computations of the first class, and no others than those of the second one;
* `proof` with `fails`: a model that `antecede prove` proves; with `fails`, it refutes the claim;
* `figure` with `rule` (and `narrow`): rows of `antecede simulate`, and nothing of a spec;
* `unchecked`: the reason why nothing decides the claim, and nothing of a spec.

`quick` has the keys of the spec that are different with `--quick`. A check of causal order keeps a
workload that can violate it, such as `script:[[2,1],[2],[]]`; one message per actor cannot.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from enum import StrEnum
from functools import cache
from types import MappingProxyType
from typing import Any, TypeAlias

from attrs import evolve, field, frozen

from antecede.checker.check.spec import Expectation, Spec, spec_from
from antecede.checker.papers.claims.measures import Measures
from antecede.checker.search.result import Verdict
from antecede.checker.support.reading import own_table


class Ruling(StrEnum):
    """The answer of checks, measurements and simulated runs to a claim, a statement of a paper.

    Attributes:
        CONFIRMED: the checks agree with the claim.
        CONSISTENT: the claim is about all sizes or all programs, and a few of them agree with it:
            a measured number grows no faster than the claim says, or the computations of small
            programs are of the class that it names.
        REFUTED: a check contradicts the claim.
        DEPENDS: the answer depends on an assumption of the simulation.
        UNDECIDED: the checks came to no answer.
    """

    CONFIRMED = "CONFIRMED"
    CONSISTENT = "CONSISTENT"
    REFUTED = "REFUTED"
    DEPENDS = "DEPENDS ON"
    UNDECIDED = "UNDECIDED"


class Relation(StrEnum):
    """The relation between a measured maximum and the value in the claim.

    `at most` is about every run, so one state refutes it. `at least` is about some run, so bounds
    that are too small leave it open. `exactly` is both.
    """

    AT_MOST = "at most"
    AT_LEAST = "at least"
    EXACTLY = "exactly"


RELATIONS = {relation.name.lower(): relation for relation in Relation}
"""Key of a TOML file -> relation."""


@frozen
class Check:
    """A check or a measurement that decides a claim.

    If the spec expects HOLDS, a violation refutes the claim. If it expects VIOLATED and the
    property holds within the bounds, the claim stays undecided. A few sizes cannot refute a law,
    because a greater constant may satisfy it, and they cannot prove it.

    Attributes:
        spec: the check and the verdict that the claim implies, or the system to measure.
        quick: a smaller check of the same, for `--quick`, or None.
        table: the keys of the TOML file that are not keys of a spec.
    """

    spec: Spec
    quick: Spec | None = None
    table: Mapping[str, Any] = field(factory=dict)

    @property
    def relation(self) -> tuple[Relation, int]:
        """The relation between a measured maximum and the number in the claim."""
        return _relation(self.table)


@frozen
class Runs:
    """Rows of `antecede simulate`, which a rule of `checker.simulate.rules` judges.

    Attributes:
        figure: the figure whose grid has the rule's points.
        rule: the name of the rule.
        narrow: the name of a rule at fewer points, for runs under other assumptions.
    """

    figure: str
    rule: str
    narrow: str


@frozen
class Unchecked:
    """The reason why no check decides the claim."""

    reason: str


Evidence: TypeAlias = Check | Runs | Unchecked

LAWS: Mapping[str, Callable[[int, Measures], int]] = MappingProxyType(
    {
        "1": lambda _n, _found: 1,
        "n²": lambda n, _found: n * n,
        "n²(b+1)": lambda n, found: n * n * (found.buffered + 1),
        "n+b": lambda n, found: n + found.buffered,
        "b+1": lambda _n, found: found.buffered + 1,
        "no+b": lambda n, found: n * (n - 1) + found.buffered,
        "i+o+b": lambda n, found: 2 * (n - 1) + found.buffered,
    }
)
"""Bounds on integers for n actors, each of which may have all others as peers (i = o = n - 1).

b is the greatest number of messages that an actor holds, for whatever reason.
"""


@frozen
class Cell:
    """The place of a claim in its paper's table, with the text printed there."""

    row: str
    column: str
    printed: str


@frozen
class Claim:
    """A claim of a paper.

    Attributes:
        key: a unique key, which is also the name of its files.
        place: the section or page of the paper.
        evidence: the evidence, which must agree; a claim about time has exactly one `Runs`.
        note: an explanation of the claim or of its ruling.
        cell: its cell in the paper's table, or None.
    """

    key: str
    place: str
    text: str
    evidence: tuple[Evidence, ...]
    note: str = ""
    cell: Cell | None = None


@frozen
class Source:
    """A paper.

    Attributes:
        claims: the claims that checks and measurements decide, in the order of the paper.
        times: the claims that simulated runs decide.
        remark: the omitted parts of the paper, with the reasons.
        rows, columns: the headings of the table that some claims are cells of.
    """

    name: str
    citation: str
    claims: tuple[Claim, ...]
    times: tuple[Claim, ...] = ()
    remark: str = ""
    rows: tuple[str, ...] = ()
    columns: tuple[str, ...] = ()


NAMES = ("hybrid", "cykas", "mf", "matrix", "tree")
"""The names of the sources, in the order in which they are reported."""

OWN = {"quick", "violates", "raises", "measure", "law", "factor", "sizes", "control_packets"} | {
    "final_invariants",
    "kept",
    "statement",
    "fails",
    "placed",
    "programs",
    "generates_all",
    "generates_only",
    "proof",
    "within",
    *RELATIONS,
}
"""The keys of evidence that are not keys of a spec."""


@cache
def source_named(name: str) -> Source:
    """Return the source of one of NAMES."""
    table = own_table(__package__, f"{name}.toml")
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
    quick = _spec({**table, **table["quick"]}) if "quick" in table else None
    return Check(_spec(table), quick, {key: table[key] for key in OWN & table.keys()})


def _relation(table: Mapping[str, Any]) -> tuple[Relation, int]:
    (key,) = RELATIONS.keys() & table.keys()
    return RELATIONS[key], table[key]


def _spec(table: Mapping[str, Any]) -> Spec:
    """Return the check of some evidence, with the verdict that the claim implies."""
    spec = spec_from({key: value for key, value in table.items() if key not in OWN})
    if "kept" in table:  # the bound matters, and not the verdict
        relation, value = _relation(table)
        bound = value + 1 if relation is Relation.AT_MOST else value
        return evolve(spec, properties=("integrity",), bound=(f"{table['kept']}={bound}",))
    if "violates" in table:
        expect = Expectation(Verdict.VIOLATED, violates=table["violates"])
        return evolve(spec, properties=(table["violates"],), expect=expect)
    return spec
