"""What the papers say of time beside what was measured: CONFIRMED, REFUTED or DEPENDS ON.

A claim is a rule on medians at some points of its figure. It is decided under the default
assumptions, and again under each alternative that there are rows of for all its points; where one
of them turns the ruling, the claim DEPENDS ON that assumption.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from enum import StrEnum
from typing import Any, TypeAlias

from attrs import evolve, field, frozen

from antecede.checker.simulate.scenario import FIELDS, Scenario, written
from antecede.checker.simulate.statistics import added, cell_of, medians, speedups
from antecede.checker.sweep.kept import Row


class Ruling(StrEnum):
    """What runs say of a claim."""

    CONFIRMED = "CONFIRMED"
    REFUTED = "REFUTED"
    DEPENDS = "DEPENDS ON"
    UNDECIDED = "UNDECIDED"


class MissingError(Exception):
    """There are no rows of a point that a claim needs."""


@frozen(eq=False)
class Numbers:
    """Medians at the points of a claim, under one assumption changed or none.

    Attributes:
        rows: of runs that came out right.
        changed: field -> value, in place of the default.
    """

    rows: Sequence[Row]
    changed: Mapping[str, Any] = field(factory=dict)
    _found: dict[tuple[str, ...], Mapping[Any, Any]] = field(factory=dict)
    _moved: list[Scenario] = field(factory=list)

    def speedup(
        self,
        point: Scenario,
        of: str = "cykas",
        over: str = "mfss",
        measure: str = "execution_ns",
    ) -> float:
        """Return how many times less `of` takes than `over`."""
        key = ("speedup", measure, of, over)
        return self._at(key, lambda: speedups(self.rows, measure, of, over), self._cell(point))

    def median(self, protocol: str, point: Scenario, measure: str = "execution_ns") -> float:
        """Return a protocol's median."""
        found = ("median", measure)
        return self._at(found, lambda: medians(self.rows, measure), (protocol, self._cell(point)))

    def added(self, protocol: str, point: Scenario, measure: str) -> float:
        """Return how much more a protocol takes than delivery without causal order does."""
        found = ("added", measure)
        where = (protocol, self._cell(point))
        return self._at(found, lambda: added(self.rows, measure, "unordered"), where)

    @property
    def differs(self) -> bool:
        """Whether the changed assumption made another of some point that was asked for."""
        return bool(self._moved)

    def _cell(self, point: Scenario) -> tuple[Any, ...]:
        moved = evolve(point, **self.changed)
        if moved != point:
            self._moved.append(moved)
        return cell_of(moved)

    def _at(self, key: tuple[str, ...], make: Callable[[], Any], where: Any) -> float:
        if key not in self._found:
            self._found[key] = make()
        if where not in self._found[key]:
            raise MissingError
        median: float = self._found[key][where].median
        return median


Rule: TypeAlias = Callable[[Numbers], tuple[bool, str]]


@frozen(eq=False)
class TimedClaim:
    """A claim about time, bytes or buffers.

    Attributes:
        key: unique.
        place: where in the paper.
        text: what it says, in our words.
        figure: whose grid has its points.
        rule: numbers -> whether they agree with it, and what they are.
        note: how it was read.
        narrow: the rule at fewer points, by which assumptions are tried; None: the same.
    """

    key: str
    place: str
    text: str
    figure: str
    rule: Rule
    note: str = ""
    narrow: Rule | None = None


@frozen
class Decided:
    """A claim with its ruling.

    Attributes:
        usual: the ruling under the defaults alone.
        found: the numbers under the defaults.
        turned: the alternatives that turn the ruling, each with its numbers.
        tried: how many alternatives there were rows of.
    """

    claim: TimedClaim
    ruling: Ruling
    usual: Ruling
    found: str
    turned: tuple[str, ...] = ()
    tried: int = 0


def decide(claim: TimedClaim, rows: Sequence[Row]) -> Decided:
    """Decide a claim by rows; UNDECIDED if there are none of some point under the defaults."""
    try:
        holds, found = claim.rule(Numbers(rows))
    except MissingError:
        text = "there are no runs of some of its points"
        return Decided(claim, Ruling.UNDECIDED, Ruling.UNDECIDED, text)
    rule, turned, tried = claim.narrow or claim.rule, [], 0
    usually, _ = rule(Numbers(rows))
    for name, value in alternatives():
        changed = Numbers(rows, {name: value})
        try:
            other, numbers = rule(changed)
        except MissingError:
            continue
        if not changed.differs:
            continue
        tried += 1
        if other != usually:
            turned.append(f"{name.replace('_', ' ')} {written(name, value)}: {numbers}")
    usual = Ruling.CONFIRMED if holds else Ruling.REFUTED
    return Decided(claim, Ruling.DEPENDS if turned else usual, usual, found, tuple(turned), tried)


def alternatives() -> Iterable[tuple[str, Any]]:
    """Return each assumption with each of its other values."""
    return ((name, value) for name, about in FIELDS.items() for value in about.metadata["others"])


def listed(values: Iterable[float], digits: int = 2) -> str:
    """Return numbers for a sentence."""
    return ", ".join(f"{value:.{digits}f}" for value in values)


def lines(decided: Sequence[Decided]) -> str:
    """Return a line for each claim, for a terminal."""
    return "\n".join(
        f"{found.ruling:<10}  {found.claim.place}: {found.claim.text} {found.found}"
        + "".join(f"\n{'':<12}turned by {turn}" for turn in found.turned)
        for found in decided
    )


def markdown(decided: Sequence[Decided]) -> str:
    """Return a table of claims, as Markdown."""
    lines = ["| Place | Claim | Ruling | What came out |", "| --- | --- | --- | --- |"]
    for found in decided:
        claim = found.claim
        note = f"<br>*{claim.note}*" if claim.note else ""
        ruling = str(found.ruling)
        if found.ruling is Ruling.DEPENDS:
            names = dict.fromkeys(turn.partition(":")[0] for turn in found.turned)
            ruling = f"{found.usual}, but DEPENDS ON {', '.join(names)}"
        turned = "".join(f"<br>With {turn}" for turn in found.turned)
        tried = f" ({found.tried} alternatives tried)" if found.tried else ""
        lines.append(
            f"| {claim.place} | {claim.text}{note} | {ruling} | {found.found}{tried}{turned} |"
        )
    return "\n".join(lines) + "\n"


def section(decided: Sequence[Decided]) -> str:
    """Return the claims as a section of a page; nothing if there are none."""
    if not decided:
        return ""
    return f"\n## Times and sizes, by `antecede simulate`\n\n{markdown(decided)}"
