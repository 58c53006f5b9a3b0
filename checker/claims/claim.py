"""The records that claims are made of: sources, claims, and the evidence that decides them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from enum import StrEnum
from types import MappingProxyType
from typing import TypeAlias

from attrs import frozen

from antecede.checker.check.spec import Spec
from antecede.checker.search.measures import Measures

Size: TypeAlias = tuple[int, int]
"""Actors and messages."""


class Ruling(StrEnum):
    """What checks, measurements and simulated runs say of a claim.

    CONSISTENT: for a few sizes the measure grows no faster than the claim says. A few sizes cannot
    show that it never does.
    DEPENDS: some assumption of the simulation decides whether the claim comes out true.
    """

    CONFIRMED = "CONFIRMED"
    CONSISTENT = "CONSISTENT"
    REFUTED = "REFUTED"
    DEPENDS = "DEPENDS ON"
    UNDECIDED = "UNDECIDED"


class Relation(StrEnum):
    """How a measured maximum should compare with the value in the claim.

    `at most` is about every run, so one state refutes it. `reaches` is about some run, so bounds
    that are too small leave it open. `exactly` is both.
    """

    AT_MOST = "at most"
    REACHES = "at least"
    EXACTLY = "exactly"


@frozen
class Check:
    """A check: the claim implies what its spec expects.

    A run that violates what should hold refutes the claim; if what should be violated holds within
    the bounds, the claim is left open.

    Attributes:
        spec: the check and the verdict that the claim implies.
        quick: smaller bounds, for `--quick`.
    """

    spec: Spec
    quick: Size | None = None


@frozen
class Measured:
    """A measurement: an attribute of `Measures`, and how it should compare with a number."""

    spec: Spec
    name: str
    relation: Relation
    value: int
    quick: Size | None = None


@frozen
class ControlPackets:
    """A measurement: the classes of packets without a message that are sent, and no others."""

    spec: Spec
    kinds: tuple[str, ...]
    quick: Size | None = None


@frozen
class AtRest:
    """A measurement: every run ends, and then every actor is as the protocol's `at_rest` says."""

    spec: Spec
    names: tuple[str, ...]
    quick: Size | None = None


@frozen
class Growth:
    """A measurement for several sizes that must never exceed `factor` times what a law allows.

    A few sizes cannot refute a law, because a greater constant may satisfy it, and cannot prove it.

    Attributes:
        spec: what to measure; its actors are not used.
        name: an attribute of `Measures`.
        law: one of LAWS.
        factor: the constant.
        sizes: numbers of actors; `--quick` leaves out the last one.
    """

    spec: Spec
    name: str
    law: str
    factor: int = 1
    sizes: tuple[int, ...] = (2, 3, 4)


@frozen
class Kept:
    """A search under a bound on a declared measure: how great it gets in runs of any length.

    Attributes:
        spec: what to search; its last bound is on this measure.
        relation: AT_MOST: no actor's measure ever exceeds the value; REACHES: some actor's comes
            to it.
        quick: smaller bounds, for `--quick`.
    """

    spec: Spec
    relation: Relation
    quick: Size | None = None


@frozen
class Runs:
    """Rows of `antecede simulate`, which a rule of `checker.simulate.rules` judges.

    Attributes:
        figure: whose grid has the rule's points.
        rule: the name of the rule.
        narrow: the name of a rule at fewer points, which is tried under other assumptions.
    """

    figure: str
    rule: str
    narrow: str


@frozen
class Unchecked:
    """Nothing that was checked decides the claim; says why."""

    reason: str


Evidence: TypeAlias = Check | Measured | ControlPackets | AtRest | Growth | Kept | Runs | Unchecked

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
        key: names its files; unique.
        place: where in the paper.
        text: the claim, in our words.
        evidence: all of it has to agree; a claim about time has one `Runs` and nothing else.
        note: how to read it, or why it came out as it did.
        cell: its place in the paper's table, if it is one of its cells.
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
        name: its name on the command line.
        citation: authors, title, year.
        claims: those that checks and measurements decide, in the order of the paper.
        times: those that simulated runs decide.
        remark: what of the paper is left out, and why.
        rows, columns: the headings of the table that some claims are cells of.
    """

    name: str
    citation: str
    claims: tuple[Claim, ...]
    times: tuple[Claim, ...] = ()
    remark: str = ""
    rows: tuple[str, ...] = ()
    columns: tuple[str, ...] = ()
