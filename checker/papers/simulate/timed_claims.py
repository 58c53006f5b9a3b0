"""Rulings on the papers' claims about time: CONFIRMED, REFUTED or DEPENDS ON an assumption.

A claim is a rule on medians at some points of its figure. It is decided under the default
assumptions, and again under each alternative that has rows for all its points. If an alternative
changes the ruling, the claim DEPENDS ON that assumption.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from attrs import frozen

from antecede.checker.papers.claims.claim import Claim, Ruling, Runs, source_named
from antecede.checker.papers.simulate.experiment import kept_in
from antecede.checker.papers.simulate.rules import RULES, MissingError, Numbers
from antecede.checker.papers.simulate.scenario import parameters, written
from antecede.checker.render.pages import text_page
from antecede.checker.support.errors import InputError
from antecede.checker.sweep.kept import Row


def timed_claims(figure: str | None = None) -> list[Claim]:
    """Return the claims about time and sizes; only those about one figure, if it is named."""
    claims = (*source_named("cykas").times, *source_named("hybrid").times)
    return [claim for claim in claims if figure in (None, runs_of(claim).figure)]


def runs_of(claim: Claim) -> Runs:
    """Return the rules and runs that decide a claim about time."""
    (evidence,) = claim.evidence
    assert isinstance(evidence, Runs)
    return evidence


@frozen
class Decided:
    """A claim with its ruling.

    Attributes:
        usual: the ruling under the defaults alone.
        found: the numbers under the defaults.
        turned: the alternatives that change the ruling, each with its numbers.
        tried: the number of alternatives with rows.
    """

    claim: Claim
    ruling: Ruling
    usual: Ruling
    found: str
    turned: tuple[str, ...] = ()
    tried: int = 0

    @property
    def depends_on(self) -> list[str]:
        """The changed assumptions with a value that changes the ruling."""
        return list(dict.fromkeys(turn.partition(":")[0] for turn in self.turned))


def decide(claim: Claim, rows: Sequence[Row]) -> Decided:
    """Decide a claim by rows; UNDECIDED if some point has no rows under the defaults."""
    about = runs_of(claim)
    try:
        holds, summary = RULES[about.rule](Numbers(rows))
    except MissingError:
        text = "there are no runs of some of its points"
        return Decided(claim, Ruling.UNDECIDED, Ruling.UNDECIDED, text)
    rule, turned, tried = RULES[about.narrow], [], 0
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
    return Decided(claim, Ruling.DEPENDS if turned else usual, usual, summary, tuple(turned), tried)


def alternatives() -> Iterable[tuple[str, Any]]:
    """Return each assumption with each of its alternative values."""
    return ((name, value) for name, about in parameters().items() for value in about.others)


def decided_by(files: Sequence[str]) -> list[Decided]:
    """Decide all claims by the rows of files; a run in several files counts once.

    Raises:
        InputError: a file cannot be read, or does not contain rows.
    """
    rows: dict[tuple[Any, ...], Row] = {}
    for name in files:
        if not os.path.isfile(name):
            raise InputError(
                f"there is no file {name!r}; make rows with antecede simulate --figure"
            )
        file_rows = kept_in(Path(name))
        rows |= {file_rows.key(row): row for row in file_rows.rows() if row["error"] is None}
    _check_one_code(rows.values())
    return [decide(claim, list(rows.values())) for claim in timed_claims()]


def _check_one_code(rows: Iterable[Row]) -> None:
    """Refuse rows from different versions of a protocol's code, because they are not comparable."""
    codes: dict[str, set[str]] = {}
    for row in rows:
        codes.setdefault(row["protocol"], set()).add(row["sources"])
    mixed = [name for name, found in codes.items() if len(found) > 1]
    if mixed:
        raise InputError(
            f"rows of {mixed[0]} are from different versions of its code; give files of one version"
        )


def lines(decided: Sequence[Decided]) -> str:
    """Return the rulings as lines of text."""
    return "\n".join(
        f"{one.ruling:<10}  {one.claim.place}: {one.claim.text} {one.found}"
        + "".join(f"\n{'':<12}turned by {turn}" for turn in one.turned)
        for one in decided
    )


def markdown(decided: Sequence[Decided]) -> str:
    """Return a table of claims, as Markdown."""
    return text_page("timed_claims.md", decided=decided)


def section(decided: Sequence[Decided]) -> str:
    """Return the claims as a section of a page; empty without claims."""
    if not decided:
        return ""
    return f"\n## Times and sizes, by `antecede simulate`\n\n{markdown(decided)}"
