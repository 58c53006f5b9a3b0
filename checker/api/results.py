"""What `antecede.check` returns: a verdict with its counts, and a run to look at.

Other results of the Python interface extend `Report`.
"""

from __future__ import annotations

from base64 import b64encode
from collections import Counter
from collections.abc import Iterable, Mapping
from html import escape
from pathlib import Path as FilePath
from typing import Any

from attrs import evolve, frozen

from antecede.checker.amounts import counted
from antecede.checker.api.wording import in_python
from antecede.checker.check.report import CheckReport, differences
from antecede.checker.check.spec import Expectation, expected_verdict
from antecede.checker.errors import InputError
from antecede.checker.extras import check_installed
from antecede.checker.paths.path import Path
from antecede.checker.render.about import about, question
from antecede.checker.render.advice import meaning_of
from antecede.checker.render.registry import trace_text, write_trace
from antecede.checker.render.text import check_text, headline
from antecede.checker.search.result import Counts, Verdict


class Report:
    """A result that `print` shows as the report of its command, and a notebook, too."""

    def _repr_html_(self) -> str:
        return f"<pre>{escape(str(self))}</pre>"


class RowsReport(Report):
    """A report with rows: mappings from the names of columns to values."""

    rows: Any

    def to_frame(self) -> Any:
        """Return the rows as a data frame of pandas.

        Raises:
            InputError: pandas is not installed.
        """
        check_installed("pandas", "to_frame()")
        import pandas

        return pandas.DataFrame(self.rows)


def tally(verdicts: Iterable[Any]) -> str:
    """Return how often each verdict occurs, in words."""
    return ", ".join(f"{number:,} {verdict}" for verdict, number in Counter(verdicts).items())


def image(svg: str, text: str) -> str:
    """Return a picture as an image within a page.

    An image keeps the style sheet of the picture from changing the rest of the page.
    """
    data = b64encode(svg.encode()).decode()
    return f'<img alt="{escape(text)}" src="data:image/svg+xml;base64,{data}">'


@frozen(eq=False, repr=False)
class Run:
    """One run of a system, such as a counterexample. A notebook draws it.

    `print(run)` shows the steps and a diagram.

    Examples:
        >>> from antecede import check
        >>> run = check("unordered", actors=2).counterexample
        >>> run
        <Run: causal-delivery VIOLATED after 4 transitions>
        >>> "sequenceDiagram" in run.text("mermaid")
        True
    """

    _path: Path
    _report: CheckReport | None = None

    @property
    def violates(self) -> str | None:
        """The property that the run violates, or None."""
        return self._path.violates

    @property
    def length(self) -> int:
        """The number of transitions."""
        return self._path.length

    @property
    def reason(self) -> str:
        """Why the run violates its property, in a sentence or two; empty if it violates none."""
        return about(self._path, self._report).explanation.text

    def save(self, file: str | FilePath, format: str | None = None) -> None:
        """Save the run. The ending of `file` selects the format: .svg, .html, .json, .txt, ….

        Raises:
            InputError: the format is unknown, or the file cannot be written.
        """
        write_trace(self._path, str(file), format, report=self._report)

    def text(self, format: str = "txt") -> str:
        """Return the run in a format, such as `svg`, `mermaid` or `json`.

        Raises:
            InputError: there is no such format.
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
class CheckResult:
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
        """HOLDS only if every property holds and the search was exhaustive."""
        return self._report.result.verdict

    @property
    def properties(self) -> Mapping[str, Verdict]:
        """Property -> its verdict."""
        return self._report.result.properties

    @property
    def counts(self) -> Counts:
        """The size of the explored part of the system, without symmetry if that is known."""
        return self._report.result.size

    @property
    def counterexample(self) -> Run | None:
        """The shortest run found that violates a property, or that leads to a failing handler."""
        path = self._report.result.counterexample
        return None if path is None else Run(path, self._report)

    @property
    def run(self) -> Run | None:
        """The run to look at: the counterexample, or the run that `sample` asked for."""
        path = self._report.run
        return None if path is None else Run(path, self._report)

    def save(self, file: str | FilePath, format: str | None = None) -> None:
        """Save the run of the result; see `Run.save`.

        Raises:
            InputError: there is no run, the format is unknown, or the file cannot be written.
        """
        if (run := self.run) is None:
            raise InputError(
                f"{str(file)!r} would have a run, and the result {self.verdict} has none; "
                "sample='random' or sample='longest' gives a run"
            )
        run.save(file, format)

    @property
    def witnesses(self) -> Mapping[str, Run]:
        """Witness -> a run that reaches it, for each witness that was looked for and reached."""
        shown = self._report.result.shown
        return {name: Run(path, self._report) for name, path in shown.items()}

    @property
    def reason(self) -> str:
        """Why the verdict is not HOLDS, in a sentence or two; empty if it is."""
        result = self._report.result
        if result.error is None and result.counterexample is not None:
            return Run(result.counterexample, self._report).reason
        return in_python(result.error or result.stopped_by or "")

    @property
    def statistics(self) -> Mapping[str, Any]:
        """Figures of the engine by name, with the seconds and the peak memory in bytes."""
        result = self._report.result
        return {
            "seconds": result.seconds,
            "peak_memory_bytes": result.peak_memory_bytes,
            **result.statistics,
        }

    def expect(
        self, verdict: str, *, violates: str | None = None, length: int | None = None
    ) -> CheckResult:
        """Return this result if it is as expected.

        Args:
            verdict: `holds`, `violated` or `vacuous`.
            violates: a property that must be violated.
            length: the length of a shortest counterexample, in transitions.

        Raises:
            AssertionError: the result is different. The text is the report.
            InputError: there is no such verdict, or the length is no number of transitions.
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
        asked = question(self._report.system, self._report.spec.protocol)
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
    """Return the result of a check if it is as its spec expects.

    Raises:
        AssertionError: it is not. The text is the report.
    """
    __tracebackhide__ = True
    if report.exit_code:
        differing = [*report.differences, ""] if report.differences else []
        raise AssertionError("\n".join([*differing, in_python(check_text(report))]))
    return CheckResult(report)
