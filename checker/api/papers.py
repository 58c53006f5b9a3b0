"""The functions that compare published papers with our own results: `claims` and `table`."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from itertools import chain
from typing import TYPE_CHECKING, Any

from attrs import frozen

from antecede.checker.api.arguments import NoArguments, TableArguments, described, record_of
from antecede.checker.api.progress import progress
from antecede.checker.api.results import Report, RowsReport, Run, tally
from antecede.checker.papers.claims import report
from antecede.checker.papers.claims import table as tables
from antecede.checker.papers.claims.claim import Ruling
from antecede.checker.papers.claims.judge import Judge, Judged
from antecede.checker.render.progress import watching
from antecede.checker.search.options import Bounds, Options
from antecede.checker.search.result import Verdict
from antecede.checker.semantics.question import Question
from antecede.checker.support.amounts import counted
from antecede.checker.support.errors import check_known
from antecede.checker.support.settings import taken

if TYPE_CHECKING:
    from typing import Unpack


@frozen(eq=False, repr=False)
class ClaimsResult(Report):
    """The result of `antecede.claims`: which claims of papers are true.

    A claim is a statement of a paper that checks can test, for example "the protocol delivers in
    causal order". `print(result)` shows each claim with its ruling, the answer of the checks.

    Examples:
        >>> from antecede import claims
        >>> claims(claim="mf-footnote-4").rulings
        {'mf-footnote-4': <Ruling.CONFIRMED: 'CONFIRMED'>}
    """

    _judged: tuple[Judged, ...]
    _details: bool

    @property
    def rulings(self) -> Mapping[str, Ruling]:
        """For each claim of a paper, by its key, whether the checks agree with the claim.

        CONFIRMED means that the checks agree, and REFUTED that a check contradicts the claim.
        CONSISTENT means that a claim about all sizes or programs, such as one about growth, is true
        for the few that were measured or enumerated.
        DEPENDS means that the answer depends on an assumption of a simulation. UNDECIDED means that
        the checks came to no answer.
        """
        return {judged.claim.key: judged.ruling for judged in self._judged}

    @property
    def runs(self) -> Mapping[str, tuple[Run, ...]]:
        """For each claim of a paper, by its key, the runs of the protocol that the checks found.

        The tuple of a claim is empty if its checks found no run, for example because nothing is
        violated.
        """
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
    """Check statements that papers make about their protocols, and say which statements are true.

    Each claim is a statement of a paper on causal delivery, with the checks that test the
    statement. `antecede claims` on the command line prints the claims with their keys.

    Args:
        source: the source whose claims are checked: hybrid, cykas, mf, matrix or tree. By default,
            all.
        claim: the key of one claim, such as `mf-footnote-4`. By default, all claims of the source.
        quick: use fewer actors or messages in the checks that take longest.
        engine: the part of the checker that explores the runs: `local` (compiled code, the default)
            or `plain` (plain Python, for small checks).
        threads: the number of threads of the engine `local`. By default, one for each core.
        max_seconds: the seconds after which each check ends without an answer. By default, never.

    Returns:
        The ruling for each claim: CONFIRMED, CONSISTENT, REFUTED or UNDECIDED.

    Raises:
        InputError: there is no such source or claim; the error names similar ones.

    Examples:
        >>> from antecede import claims
        >>> claims(claim="mf-footnote-4", quick=True)
        <1 claim: 1 CONFIRMED>
    """
    check_known("engine", engine, ("local", "plain"), "engine")
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
    """The result of `antecede.table`: the verification table of the Cykas paper, with our numbers.

    The paper describes the protocol Cykas, and its table compares three protocols: the verdict, the
    number of states, and the time. `print(result)` shows our numbers beside the printed ones.

    Examples:
        >>> from antecede import table
        >>> table("2x2", engine="plain").verdicts["mfss"]
        <Verdict.HOLDS: 'HOLDS'>
    """

    _rows: tuple[tables.Row, ...]
    _options: Options

    @property
    def rows(self) -> tuple[Mapping[str, Any], ...]:
        """The rows of the table, one for each protocol, as mappings.

        `unique_states`, `depth`, `verdict` and so on are our numbers. The numbers of the paper have
        the same names with `paper_` in front.
        """
        found: list[dict[str, Any]] = tables.as_object([*self._rows], self._options)["rows"]
        return tuple(found)

    @property
    def verdicts(self) -> Mapping[str, Verdict]:
        """Our verdict on each protocol of the table, by the name of the protocol.

        HOLDS means that the checks explored every state within the bounds, and no run violates a
        property. VIOLATED means that a run violates one.
        """
        return {row.report.spec.protocol: row.report.result.verdict for row in self._rows}

    @property
    def agrees(self) -> bool | None:
        """True if our verdicts are the ones that the paper prints, False if one differs.

        None if the table was made for other numbers of actors and messages than the paper's 3x3.
        """
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
    """Repeat the checks of the verification table in the Cykas paper, and show both results.

    Args:
        bounds: the number of actors (participants) and of messages that each actor sends, such as
            3x2. The paper prints 3x3, the default.
        history: how much of the past a state records: `knowledge` (the least, the default),
            `clocks`, `full` (the most), or `all` for a row of each. The verdict is the same, but
            the number of states is not.
        selfcheck: which calls of the protocols' functions are repeated, to find functions whose
            results are not determined by their arguments: `on` (some calls, the default), `all` or
            `off`.
        arguments: the further options of the command `antecede table`, with `_` in place of `-`.
            They are listed below.

    Returns:
        The table, with a row for each of the paper's protocols.

    Raises:
        InputError: a value cannot be used.

    Examples:
        >>> from antecede import table
        >>> table("2x1", engine="plain").verdicts["cykas"]
        <Verdict.HOLDS: 'HOLDS'>
    """
    given: dict[str, Any] = {**arguments}
    options, limits = record_of(Options, given), record_of(Bounds, given)
    actors, messages = tables.parsed_bounds(bounds)
    model = {"actors": actors, "messages": messages, **taken(given, Question)}
    specs = tables.specs(model, tables.parsed_histories(history))
    with progress() as ticker:
        found = tables.rows(specs, options, limits, watching(ticker, many=True))
        return TableResult(tuple(found), options)
