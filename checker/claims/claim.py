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

    `at most` is about every run, so one state refutes it. `reaches` is about some run, so bounds
    that are too small leave it open. `exactly` is both.
    """

    AT_MOST = "at most"
    REACHES = "at least"
    EXACTLY = "exactly"


@frozen
class Check:
    """A check: the claim implies the verdict that the spec expects.

    If the spec expects HOLDS, a violation refutes the claim. If it expects VIOLATED and the
    property holds within the bounds, the claim stays undecided.

    Attributes:
        spec: the check and the verdict that the claim implies.
        quick: smaller bounds, for `--quick`.
    """

    spec: Spec
    quick: Size | None = None


@frozen
class Measured:
    """A measurement: an attribute of `Measures`, with its expected relation to a number."""

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
    """A measurement for several sizes, which must not exceed `factor` times the value of a law.

    A few sizes cannot refute a law, because a greater constant may satisfy it, and cannot prove it.

    Attributes:
        spec: the system to measure; its number of actors is ignored.
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
    """Evidence on the maximum of a declared measure in runs of any length.

    Attributes:
        spec: the search; its last bound is on this measure.
        relation: AT_MOST: no actor's measure exceeds the value; REACHES: some actor's measure
            reaches it.
        quick: smaller bounds, for `--quick`.
    """

    spec: Spec
    relation: Relation
    quick: Size | None = None


@frozen
class Stated:
    """A statement of the tree paper about its own configurations (`protocols.tree_lemmas`).

    Attributes:
        spec: the tree, and the messages that are sent, as a script.
        name: the name of the statement.
        fails: whether the claim is that the statement is false.
        placed: queues for the messages before the first step; by default nothing is sent.
    """

    spec: Spec
    name: str
    fails: bool = False
    placed: tuple[tuple[str, int, int, int], ...] = ()


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


Evidence: TypeAlias = (
    Check | Measured | ControlPackets | AtRest | Growth | Kept | Stated | Runs | Unchecked
)

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
        text: the claim in our words.
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
        name: its name on the command line.
        citation: authors, title, year.
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
