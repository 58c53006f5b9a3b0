"""`antecede.claims` and `antecede.table`: the papers' claims and table, beside our own results."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from itertools import chain
from typing import TYPE_CHECKING, Any

from attrs import frozen

from antecede.checker.amounts import counted
from antecede.checker.api.arguments import NoArguments, TableArguments, described, record_of
from antecede.checker.api.progress import progress
from antecede.checker.api.results import Report, RowsReport, Run, tally
from antecede.checker.claims import report
from antecede.checker.claims import table as tables
from antecede.checker.claims.claim import Ruling
from antecede.checker.claims.judge import Judge, Judged
from antecede.checker.errors import unknown
from antecede.checker.render.progress import watching
from antecede.checker.search.options import Bounds, Options
from antecede.checker.search.result import Verdict
from antecede.checker.semantics.question import Question
from antecede.checker.settings import taken

if TYPE_CHECKING:
    from typing import Unpack


@frozen(eq=False, repr=False)
class ClaimsResult(Report):
    """The rulings on the claims of papers.

    Examples:
        >>> from antecede import claims
        >>> claims(claim="mf-footnote-4").rulings
        {'mf-footnote-4': <Ruling.CONFIRMED: 'CONFIRMED'>}
    """

    _judged: tuple[Judged, ...]
    _details: bool

    @property
    def rulings(self) -> Mapping[str, Ruling]:
        """Key of a claim -> CONFIRMED, CONSISTENT, REFUTED or UNDECIDED."""
        return {judged.claim.key: judged.ruling for judged in self._judged}

    @property
    def runs(self) -> Mapping[str, tuple[Run, ...]]:
        """Key of a claim -> the runs that its checks found."""
        return {
            judged.claim.key: tuple(
                Run(each.path, each.report) for each in judged.findings if each.path is not None
            )
            for judged in self._judged
        }

    def __repr__(self) -> str:
        return f"<{counted(len(self._judged), 'claim')}: {tally(self.rulings.values())}>"

    def __str__(self) -> str:
        lines = [
            line
            for judged in self._judged
            for line in (report.line(judged), *([report.details(judged)] * self._details))
        ]
        return "\n".join([*lines, report.summary(self._judged)])


@described(NoArguments)
def claims(
    source: str | None = None,
    *,
    claim: str | None = None,
    quick: bool = False,
    engine: str = "local",
    threads: int | None = None,
    max_seconds: float | None = None,
) -> ClaimsResult:
    """Decide the claims of the papers by checks: confirmed, consistent, refuted or undecided.

    Args:
        source: decide the claims of one source, such as cykas or tree; by default of all.
        claim: the key of one claim.
        quick: leave out the largest checks.
        engine: local or plain.
        threads: the number of threads of engine="local".
        max_seconds: the time for each check.

    Raises:
        InputError: there is no such source or claim.

    Examples:
        >>> from antecede import claims
        >>> claims(claim="mf-footnote-4", quick=True)
        <1 claim: 1 CONFIRMED>
    """
    if engine not in ("local", "plain"):
        raise unknown("engine", engine, ("local", "plain"))
    sources = report.chosen(source, claim)
    options, bounds = Options(engine=engine, threads=threads), Bounds(max_seconds=max_seconds)
    with progress() as ticker:
        judge = Judge(options, bounds, quick, watching(ticker, many=True))
        found: list[Judged] = []
        every = sum(len(each.claims) for each in sources)
        for judged in chain.from_iterable(map(judge.judged, sources)):
            found.append(judged)
            done = f"{len(found)} of {counted(every, 'claim')}: {judged.claim.key} {judged.ruling}"
            ticker.show(partial(_cut, done))
        return ClaimsResult(tuple(found), claim is not None)


def _cut(text: str, width: int) -> str:
    return text[:width]


@frozen(eq=False, repr=False)
class TableResult(RowsReport):
    """The verification table of the Cykas paper, beside the printed numbers.

    Examples:
        >>> from antecede import table
        >>> table("2x2", engine="plain").verdicts["mfss"]
        <Verdict.HOLDS: 'HOLDS'>
    """

    _rows: tuple[tables.Row, ...]
    _options: Options

    @property
    def rows(self) -> tuple[Mapping[str, Any], ...]:
        """Our numbers and the paper's, one row for each protocol."""
        found: list[dict[str, Any]] = tables.as_object([*self._rows], self._options)["rows"]
        return tuple(found)

    @property
    def verdicts(self) -> Mapping[str, Verdict]:
        """Protocol -> our verdict."""
        return {row.report.spec.protocol: row.report.result.verdict for row in self._rows}

    @property
    def agrees(self) -> bool | None:
        """Our verdicts are the paper's; None if the bounds are not."""
        compared = [row.agrees for row in self._rows]
        return None if None in compared else all(compared)

    def __repr__(self) -> str:
        return f"<Table of {counted(len(self._rows), 'check')}: {tally(self.verdicts.values())}>"

    def __str__(self) -> str:
        return tables.rendered([*self._rows], self._options, "text")


@described(TableArguments, Options, Bounds, Question)
def table(
    bounds: str = "3x3",
    *,
    history: str = "knowledge",
    selfcheck: str = "on",
    **arguments: Unpack[TableArguments],
) -> TableResult:
    """Reproduce the verification table of the Cykas paper, beside the printed numbers.

    Args:
        bounds: actors and messages per actor, such as 3x2. The paper prints 3x3.
        history: how much of the past a state records, or all.
        selfcheck: the calls of the protocols to check for purity: off, on or all.
        arguments: the options of `antecede table`.

    Raises:
        InputError: a value cannot be used.

    Examples:
        >>> from antecede import table
        >>> table("2x1", engine="plain").agrees
    """
    given: dict[str, Any] = {**arguments}
    options, limits = record_of(Options, given), record_of(Bounds, given)
    actors, messages = tables.parsed_bounds(bounds)
    model = {"actors": actors, "messages": messages, **taken(given, Question)}
    specs = tables.specs(model, tables.parsed_histories(history))
    with progress() as ticker:
        found = tables.rows(specs, options, limits, watching(ticker, many=True))
        return TableResult(tuple(found), options)
