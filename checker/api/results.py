"""The results that the functions of the Python interface return, such as the result of a check.

`Report` is the common base class. `CheckResult` is the result of `antecede.check`, and `Run` is one
run of a system, for example a counterexample.
"""

from __future__ import annotations

from base64 import b64encode
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from html import escape
from pathlib import Path as FilePath
from typing import Any, overload

from attrs import evolve, frozen

from antecede.checker.api.wording import in_python
from antecede.checker.check.report import CheckReport, differences
from antecede.checker.check.spec import Expectation, expected_verdict
from antecede.checker.paths.path import Path
from antecede.checker.render.about import about, question
from antecede.checker.render.advice import meaning_of
from antecede.checker.render.json import counterexample_object
from antecede.checker.render.text import check_text, headline
from antecede.checker.render.trace_formats import trace_text, write_trace
from antecede.checker.search.result import Counts, Verdict
from antecede.checker.support.amounts import counted
from antecede.checker.support.errors import InputError
from antecede.checker.support.extras import check_installed


class Report:
    """A result that shows the same report as the command line.

    `print(result)` and a cell of a notebook show the report as text. A result is neither true nor
    false: `assert check(...)` would pass for a broken protocol.
    """

    def __bool__(self) -> bool:
        wanted = ".expect(...), or compare" if hasattr(self, "expect") else "compare"
        raise TypeError(f"a result is neither true nor false; use {wanted} its fields")

    def _repr_html_(self) -> str:
        return f"<pre>{escape(str(self))}</pre>"


class RowsReport(Report):
    """A report that has rows, such as one row for each check of a sweep.

    Attributes:
        rows: the rows in order. Each is a mapping from the names of columns to values.
    """

    rows: Any

    def to_frame(self) -> Any:
        """Return the rows of the result as a data frame of pandas, one column for each key.

        Raises:
            InputError: pandas is not installed.
        """
        check_installed("pandas", "to_frame()")
        import pandas

        return pandas.DataFrame(self.rows)


def tally(verdicts: Iterable[Any]) -> str:
    """Return how often each verdict occurs, as a text such as "2 HOLDS, 1 VIOLATED".

    Examples:
        >>> from antecede.checker.api.results import tally
        >>> tally(["HOLDS", "VIOLATED", "HOLDS"])
        '2 HOLDS, 1 VIOLATED'
    """
    return ", ".join(f"{number:,} {verdict}" for verdict, number in Counter(verdicts).items())


def image(svg: str, text: str) -> str:
    """Return an HTML element that shows an SVG picture.

    The picture is embedded as an image, so that its style sheet cannot change the rest of the page.

    Args:
        svg: the picture.
        text: a description of the picture, for readers who cannot see it.
    """
    data = b64encode(svg.encode()).decode()
    return f'<img alt="{escape(text)}" src="data:image/svg+xml;base64,{data}">'


@frozen(eq=False, repr=False)
class Run:
    """One run of a system: the steps that lead from the initial state to an error, for example.

    A counterexample is a run that violates a property. `print(run)` shows the steps and a diagram.
    A notebook draws the run. `len(run)`, `run[0]` and `for step in run` give its steps; a step is a
    mapping with the keys that it has in the file of `run.save("run.json")`.

    Examples:
        >>> from antecede import check
        >>> run = check("unordered", actors=2).counterexample
        >>> run
        <Run: causal-delivery VIOLATED after 4 transitions>
        >>> "sequenceDiagram" in run.text("mermaid")
        True
        >>> [step["kind"] for step in run]
        ['causal-send', 'causal-send', 'receive', 'receive']
    """

    _path: Path
    _report: CheckReport | None = None

    @property
    def violates(self) -> str | None:
        """The name of the property that the run violates, or None if it violates none."""
        return self._path.violates

    @property
    def length(self) -> int:
        """The number of transitions in the run.

        A transition is one atomic step of the system, for example that a packet arrives.
        """
        return self._path.length

    @property
    def reason(self) -> str:
        """One or two sentences that say why the run violates its property.

        The text is empty if the run violates no property.
        """
        return about(self._path, self._report).explanation.text

    def __len__(self) -> int:
        return self.length

    def __bool__(self) -> bool:
        return True  # an initial state that violates a property is a run without steps

    def __iter__(self) -> Iterator[Mapping[str, Any]]:
        return iter(self[:])

    @overload
    def __getitem__(self, number: int) -> Mapping[str, Any]: ...

    @overload
    def __getitem__(self, number: slice) -> Sequence[Mapping[str, Any]]: ...

    def __getitem__(self, number: int | slice) -> Any:
        return counterexample_object(self._path)["transitions"][number]

    def save(self, file: str | FilePath) -> None:
        """Save the run in a file.

        Args:
            file: the name of the file. Its ending selects the format, such as `.svg` (a picture),
                `.html` (a page), `.json` (for `antecede.replay`) or `.txt` (plain text).

        Raises:
            InputError: the ending is unknown, or the file cannot be written.
        """
        write_trace(self._path, str(file), report=self._report)

    def text(self, format: str = "txt") -> str:
        """Return the run as text in a format.

        Args:
            format: `txt` (plain text, the default), `svg` (a picture), `mermaid` (a sequence
                diagram), `json` (for `antecede.replay`), or another format that `Run.save` can
                write.

        Raises:
            InputError: the format is unknown; the error names the formats.
        """
        return trace_text(self._path, format, self._report)

    def __repr__(self) -> str:
        said = about(self._path, self._report)
        return f"<Run: {said.verdict}>"

    def __str__(self) -> str:
        return self.text().rstrip()

    def _repr_svg_(self) -> str:
        return self.text("svg")


@frozen(eq=False, repr=False)
class CheckResult(Report):
    """The result of `antecede.check`: the verdict, the counts, and a counterexample.

    `print(result)` shows the report of the command `antecede check`. A notebook shows the verdict
    with the picture of a counterexample, or with the properties, the counts and their meaning.

    Examples:
        >>> from antecede import check
        >>> result = check("fifo", actors=3, messages=2)
        >>> result.verdict
        <Verdict.VIOLATED: 'VIOLATED'>
        >>> result.properties["causal-delivery"]
        <Verdict.VIOLATED: 'VIOLATED'>
        >>> result.counterexample.length
        6
        >>> result.expect("violated", length=6).counts.depth
        7
    """

    _report: CheckReport

    @property
    def verdict(self) -> Verdict:
        """The verdict on the whole check, as a `Verdict`.

        HOLDS means that the search explored everything and that every property holds. VIOLATED
        means that a run violates a property. VACUOUS means that nothing is violated, and nothing
        could be: no run had the events that some property is about, or no order of the messages of
        this workload violates it. INCOMPLETE means that a bound, such as `max_states`,
        ended the search early. ERROR means that a function of the protocol failed.
        """
        return self._report.result.verdict

    @property
    def properties(self) -> Mapping[str, Verdict]:
        """The verdict on each property: a mapping from the names of properties to `Verdict`s."""
        return self._report.result.properties

    @property
    def counts(self) -> Counts:
        """The number of states that the search explored, and their depth, as a `Counts`.

        With symmetry reduction, the search visits only one of the states that differ in the names
        of actors. The counts then still include the other states, unless a bound ended the search
        early.
        """
        return self._report.result.size

    @property
    def counterexample(self) -> Run | None:
        """The shortest run found that violates a property, or that ends in a failing function.

        None if no property is violated and no function of the protocol failed. Only a breadth-first
        search, the default, guarantees that no shorter run violates a property.
        """
        path = self._report.result.counterexample
        return None if path is None else Run(path, self._report)

    @property
    def run(self) -> Run | None:
        """The run to look at: the counterexample, a witness, or a run to a limit of `bound`.

        A counterexample is a run that violates a property. None if there is no such run.
        """
        path = self._report.run
        return None if path is None else Run(path, self._report)

    def save(self, file: str | FilePath) -> None:
        """Save the run of the result; see `Run.save`.

        Raises:
            InputError: there is no run, the ending is unknown, or the file cannot be written.
        """
        if (run := self.run) is None:
            raise InputError(
                f"{str(file)!r} would have a run, and the result {self.verdict} has none"
            )
        run.save(file)

    @property
    def witnesses(self) -> Mapping[str, Run]:
        """A run for each witness that the check found, by the witness's name.

        A witness is a predicate that some reachable state should satisfy, such as "a message had to
        wait". A witness for which the check did not look, or which it did not find, is not in the
        mapping.
        """
        shown = self._report.result.shown
        return {name: Run(path, self._report) for name, path in shown.items()}

    @property
    def reason(self) -> str:
        """One or two sentences that say why the verdict is not HOLDS.

        The text is empty if the verdict is HOLDS.
        """
        result = self._report.result
        if result.error is None and result.counterexample is not None:
            return Run(result.counterexample, self._report).reason
        vacuous = " and ".join(dict.fromkeys(result.vacuous.values()))
        return in_python(result.error or result.stopped_by or vacuous)

    @property
    def vacuous(self) -> Mapping[str, str]:
        """The reason for each property whose verdict is VACUOUS, by the property's name."""
        return self._report.result.vacuous

    @property
    def statistics(self) -> Mapping[str, Any]:
        """Figures about the search itself, by name, for example `seconds` and `peak_memory_bytes`.

        `seconds` is the duration of the search, and `peak_memory_bytes` is the most memory that the
        process has used so far. The other figures depend on the engine.
        """
        result = self._report.result
        return {
            "seconds": result.seconds,
            "peak_memory_bytes": result.peak_memory_bytes,
            **result.statistics,
        }

    def expect(
        self, verdict: str, *, violates: str | None = None, length: int | None = None
    ) -> CheckResult:
        """Return this result if it has the expected verdict, and raise an AssertionError otherwise.

        Args:
            verdict: the expected verdict: `holds`, `violated` or `vacuous` (nothing is violated,
                but no run had the events that some property is about, or no protocol can violate
                it).
            violates: the name of the property that must be violated. By default, any.
            length: the number of transitions (atomic steps) of the counterexample. By default, any.

        Raises:
            AssertionError: the result is different. The text of the error is the report.
            InputError: there is no such verdict, or the length is not a whole number.

        Examples:
            >>> from antecede import check
            >>> result = check("unordered", actors=2)
            >>> result.expect("violated", violates="causal-delivery", length=4).verdict
            <Verdict.VIOLATED: 'VIOLATED'>
        """
        __tracebackhide__ = True  # pytest then shows the line of the test
        if length is not None and (type(length) is not int or length < 0):
            raise InputError(f"length is {length!r}; give a number of transitions, such as 4")
        wanted = Expectation(expected_verdict(str(verdict)), length, violates)
        spec = evolve(self._report.spec, expect=wanted)
        return as_expected(
            evolve(self._report, spec=spec, differences=differences(spec, self._report.result))
        )

    def __repr__(self) -> str:
        counts = self.counts
        first = in_python(headline(self._report)).partition("\n")[0]
        size = f"{self._report.system.actors} actors, {counts.unique_states:,} unique states"
        lines = [first if len(first) <= 200 else f"{first[:199]}…", f"  {size}"]
        if (run := self.counterexample) is not None:
            lines.append(f"  {run!r}")
        return "\n".join(lines)

    def __str__(self) -> str:
        return in_python(check_text(self._report))

    def _repr_html_(self) -> str:
        title, run = in_python(headline(self._report)), self.counterexample
        parts = [f"<p><strong>{escape(title)}</strong></p>"]
        if run is not None:  # the picture has the reason and the question
            failed = self._report.result.error is not None
            reason = f"<p>{escape(self.reason)}</p>" if failed and self.reason not in title else ""
            return "\n".join([*parts, reason, image(run.text("svg"), run.reason)])
        if self.reason not in title:
            parts.append(f"<p>{escape(self.reason)}</p>")
        asked = question(self._report.system)
        counts = self.counts
        size = (
            f"{counted(counts.unique_states, 'unique state')}, "
            f"{counted(counts.total_states, 'total state')}, depth {counts.depth:,}"
        )
        verdicts = [
            f"<tr><td>{escape(name)}</td><td>{verdict}</td></tr>"
            for name, verdict in self.properties.items()
        ]
        meaning = in_python(" ".join(meaning_of(self._report).split()))
        parts += [f"<p>{escape(asked)}<br>{size}</p>", f"<table>{''.join(verdicts)}</table>"]
        parts += [f"<p>What this means: {escape(meaning)}</p>"] if meaning else []
        return "\n".join(parts)


def as_expected(report: CheckReport) -> CheckResult:
    """Return the result of a check if it has the outcome that its spec expects.

    A spec is a saved check: a question for the checker and the expected answer.

    Args:
        report: the report of the check, with the differences from the expected answer.

    Raises:
        AssertionError: the outcome is different. The text of the error is the report.
    """
    __tracebackhide__ = True
    if report.exit_code:
        differing = [*report.differences, ""] if report.differences else []
        raise AssertionError("\n".join([*differing, in_python(check_text(report))]))
    return CheckResult(report)
