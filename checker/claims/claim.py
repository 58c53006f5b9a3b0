"""The records that claims are made of: sources, claims, and the evidence that decides them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from enum import StrEnum
from types import MappingProxyType
from typing import Any, TypeAlias

from attrs import field, frozen

from antecede.checker.search.costs import Measures
from antecede.checker.search.result import Verdict
from antecede.checker.spec import Expectation, Spec

Size: TypeAlias = tuple[int, int]
"""Actors and messages."""


class Ruling(StrEnum):
    """What checks say of a claim.

    CONSISTENT: measured for a few sizes, it grows no faster than the claim says; that it never
    does is nothing that a few sizes can show.
    """

    CONFIRMED = "CONFIRMED"
    CONSISTENT = "CONSISTENT"
    REFUTED = "REFUTED"
    UNDECIDED = "UNDECIDED"


class Relation(StrEnum):
    """How a measured maximum should compare with what is claimed.

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
        spec: what to check, and what the claim implies.
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

    A few sizes cannot refute a law, for a greater constant may do, nor can they prove it.

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
class Unchecked:
    """Nothing that was checked decides the claim; says why."""

    reason: str


Evidence: TypeAlias = Check | Measured | ControlPackets | AtRest | Growth | Kept | Unchecked

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
    """Where in its paper's table a claim stands, and what is printed there."""

    row: str
    column: str
    printed: str


@frozen
class Claim:
    """A claim of a paper.

    Attributes:
        key: names its files; unique.
        place: where in the paper.
        text: what it claims, in our words.
        evidence: all of it has to agree.
        note: how to read it, or why it came out as it did.
        cell: its place in the paper's table, if it is one of its cells.
    """

    key: str
    place: str
    text: str
    evidence: tuple[Evidence, ...]
    note: str = ""
    cell: Cell | None = None


def proved(protocol: str, *more: str) -> str:
    """Return a note that a claim about all sizes is proved, of the abstract model."""
    text = (
        f"For every number of actors and messages, of the abstract model: antecede prove "
        f"{protocol} says PROVED (docs/proofs.md)."
    )
    return " ".join([text, *more])


@frozen
class Source:
    """A paper.

    Attributes:
        name: what it is called on the command line.
        citation: authors, title, year.
        claims: in the order of the paper.
        remark: what of the paper is left out, and why.
    """

    name: str
    citation: str
    claims: tuple[Claim, ...]
    remark: str = field(default="")


# Short forms


def _spec(protocol: str, size: Size, values: Mapping[str, Any]) -> Spec:
    return Spec(protocol=protocol, actors=size[0], messages=size[1], **values)


def holds(
    protocol: str, size: Size = (3, 2), *, quick: Size | None = (3, 1), **values: Any
) -> Check:
    """Return the evidence that the properties hold."""
    return Check(_spec(protocol, size, values), quick)


def violated(
    protocol: str, name: str, size: Size = (3, 1), *, quick: Size | None = None, **values: Any
) -> Check:
    """Return the evidence that this property is violated."""
    expect = Expectation(Verdict.VIOLATED, violates=name)
    return Check(_spec(protocol, size, {"properties": (name,), "expect": expect, **values}), quick)


def at_most(
    value: int,
    name: str,
    protocol: str,
    size: Size = (3, 2),
    *,
    quick: Size | None = (2, 2),
    **values: Any,
) -> Measured:
    """Return the evidence that a measure is never greater."""
    return Measured(_spec(protocol, size, values), name, Relation.AT_MOST, value, quick)


def reaches(value: int, name: str, protocol: str, size: Size = (2, 2), **values: Any) -> Measured:
    """Return the evidence that a measure gets as great as that."""
    return Measured(_spec(protocol, size, values), name, Relation.REACHES, value)


def exactly(value: int, name: str, protocol: str, size: Size = (2, 2), **values: Any) -> Measured:
    """Return the evidence that a measure is that at its greatest."""
    return Measured(_spec(protocol, size, values), name, Relation.EXACTLY, value)


def control_packets(
    protocol: str,
    *kinds: str,
    size: Size = (3, 1),
    quick: Size | None = None,
    **values: Any,
) -> ControlPackets:
    """Return the evidence that these control packets are sent and no others."""
    return ControlPackets(_spec(protocol, size, values), kinds, quick)


def at_rest(protocol: str, *names: str, size: Size = (3, 2), quick: Size = (3, 1)) -> AtRest:
    """Return the evidence that the protocol comes to rest like that."""
    return AtRest(_spec(protocol, size, {}), names, quick)


def grows(
    name: str,
    law: str,
    protocol: str,
    *,
    factor: int = 1,
    messages: int = 1,
    sizes: tuple[int, ...] = (2, 3, 4),
    **values: Any,
) -> Growth:
    """Return the evidence that a measure grows no faster than a law."""
    return Growth(_spec(protocol, (2, messages), values), name, law, factor, sizes)


def comes_to(value: int, name: str, protocol: str, size: Size = (3, 1), **values: Any) -> Kept:
    """Return the evidence that in some run what an actor keeps, a declared measure, is so much."""
    return Kept(_bounded(value, name, protocol, size, values), Relation.REACHES)


def never_exceeds(value: int, name: str, protocol: str, size: Size = (3, 1), **values: Any) -> Kept:
    """Return the evidence that what an actor keeps, a declared measure, is never more than that."""
    return Kept(_bounded(value + 1, name, protocol, size, values), Relation.AT_MOST)


def _bounded(bound: int, name: str, protocol: str, size: Size, values: Mapping[str, Any]) -> Spec:
    """Ask for safety alone, which every search judges; its verdict is not what is wanted."""
    asked = {"properties": ("causal-delivery",), "bound": (f"{name}={bound}",), **values}
    return _spec(protocol, size, asked)
