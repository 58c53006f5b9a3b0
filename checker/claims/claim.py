"""The records that claims are made of: sources, claims, and the evidence that decides them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from enum import StrEnum
from types import MappingProxyType
from typing import Any, TypeAlias

from attrs import field, frozen

from antecede.checker.check.spec import Spec
from antecede.checker.search.measures import Measures

Size: TypeAlias = tuple[int, int]
"""Actors and messages."""


class Ruling(StrEnum):
    """The result of checks, measurements and simulated runs for a claim.

    CONSISTENT: for a few sizes, the measure grows no faster than the claim says. A few sizes cannot
    prove it for all sizes.
    DEPENDS: the result depends on an assumption of the simulation.
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
        quick: smaller bounds, for `--quick`.
        table: the keys of the TOML file that are not keys of a spec; `sources` describes them.
    """

    spec: Spec
    quick: Size | None = None
    table: Mapping[str, Any] = field(factory=dict)

    @property
    def relation(self) -> tuple[Relation, int]:
        """The relation between a measured maximum and the number in the claim."""
        (key,) = RELATIONS.keys() & self.table.keys()
        return RELATIONS[key], self.table[key]


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
