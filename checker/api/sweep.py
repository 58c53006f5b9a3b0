"""`antecede.sweep`: every combination of protocols, sizes, networks and workloads."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

from attrs import frozen

from antecede.checker.amounts import counted
from antecede.checker.api.arguments import (
    SweepArguments,
    axis,
    check_amount,
    check_place,
    converted,
    described,
    record_of,
)
from antecede.checker.api.progress import progress
from antecede.checker.api.protocols import Given, named
from antecede.checker.api.results import RowsReport, image, tally
from antecede.checker.check.spec import Spec
from antecede.checker.check.targets import spec_named, targets_of
from antecede.checker.errors import InputError, unknown
from antecede.checker.registry import is_object
from antecede.checker.render.files import write_whole
from antecede.checker.render.matrix import matrix_svg
from antecede.checker.render.pictures import PICTURES, converted_picture
from antecede.checker.search.options import Bounds, Options
from antecede.checker.semantics.question import Question
from antecede.checker.settings import settings_of, taken
from antecede.checker.sweep import smallest as smallests
from antecede.checker.sweep import sweep as sweeps

if TYPE_CHECKING:
    from typing import Unpack


@frozen(eq=False, repr=False)
class SweepResult(RowsReport):
    """The rows of a sweep, one for each check. A notebook shows a matrix of their verdicts.

    Attributes:
        rows: per check the question, the verdict and the counts.
        smallest: the results of `sweep(smallest=True)`, one for each question.

    Examples:
        >>> from antecede import sweep
        >>> result = sweep("fifo", actors=[2, 3], messages=1, engine="plain", workers=1)
        >>> result
        <Sweep of 2 checks: 2 HOLDS>
        >>> [row["unique_states"] for row in result.rows]
        [9, 125]
        >>> result.save("matrix.svg")  # doctest: +SKIP
    """

    rows: tuple[dict[str, Any], ...]
    _text: str
    smallest: tuple[smallests.Smallest, ...] = ()

    @property
    def verdicts(self) -> Mapping[str, int]:
        """Verdict -> the number of checks that have it."""
        return Counter(str(row["verdict"]) for row in self.rows)

    def save(self, file: str | Path) -> None:
        """Save the matrix of verdicts as a picture.

        Raises:
            InputError: the name does not end in .svg, .png or .pdf, a package is missing, or the
                file cannot be written.
        """
        kind = Path(file).suffix.removeprefix(".")
        if kind not in ("svg", *PICTURES):
            raise InputError(f"{str(file)!r}: a matrix is a picture; give a name.svg, .png or .pdf")
        picture = self._repr_svg_()
        write_whole(str(file), picture if kind == "svg" else converted_picture(picture, kind))

    def __repr__(self) -> str:
        found = tally(row["verdict"] for row in self.rows)
        return f"<Sweep of {counted(len(self.rows), 'check')}: {found}>"

    def __str__(self) -> str:
        return self._text

    def _repr_svg_(self) -> str:
        return matrix_svg(sweeps.cells_of(self.rows, explained=True), sweeps.LEGEND)

    def _repr_html_(self) -> str:
        if self.smallest:
            return super()._repr_html_()
        return image(self._repr_svg_(), str(self))


@described(SweepArguments, Question, Options, Bounds)
def sweep(
    *protocols: Given,
    smallest: bool = False,
    max_messages: int | None = None,
    engine: str = "local",
    workers: int | None = None,
    output: str | Path | None = None,
    on: str = "here",
    master: str | None = None,
    spark_log: bool = False,
    **arguments: Unpack[SweepArguments],
) -> SweepResult:
    """Check every combination of protocols, sizes, networks and workloads.

    Args:
        protocols: protocols as `check` takes them, or specs.
        smallest: search for the smallest bound at which a property is violated.
        max_messages: with `smallest`, the greatest number of messages of all actors together.
        engine: local or plain.
        workers: the number of checks that run at once; by default one per core.
        output: a file that keeps the rows, so that the same sweep need not run them again.
        on: here, or spark.
        master: the address of the Spark cluster.
        spark_log: show Spark's own log.
        arguments: the options of `antecede sweep`. Lists of values make combinations.

    Returns:
        The rows: their table, a picture of their verdicts, and a data frame.

    Raises:
        InputError: a name or a value cannot be used, or another sweep writes to `output`.

    Examples:
        >>> from antecede import sweep
        >>> print(sweep("fifo", messages=[1, 2], engine="plain", workers=1))
                                      3x1        3x2
        fifo unordered any knowledge  HOLDS 125  VIOLATED (6)
        <BLANKLINE>
        2x3 means 2 actors with 3 messages each. The number after HOLDS counts unique states
        (without symmetry). The number after VIOLATED counts transitions of the counterexample.
    """
    if not protocols:
        raise InputError("there is nothing to check; give protocols or specs")
    check_place(on)
    check_amount("workers", workers)
    check_amount("max_messages", max_messages)
    if engine not in ("local", "plain"):
        raise unknown("engine", engine, ("local", "plain"))
    if on == "here" and (master is not None or spark_log):
        raise InputError("master and spark_log are for on='spark'")
    if max_messages is not None and not smallest:
        raise InputError("max_messages is for smallest=True; give messages")
    if smallest and (on == "spark" or "messages" in arguments):
        raise InputError("smallest=True runs here, and counts messages in total: max_messages")
    given: dict[str, Any] = {"engine": engine, **arguments}
    bounds = record_of(Bounds, given)
    axes = _axes(taken(given, Question))
    options = record_of(Options, {"threads": 1, **given})
    processes = workers or os.cpu_count() or 1
    with named(*protocols) as names, progress() as ticker, rows_file(output) as file:
        specs = [spec for name in names for spec in specs_of(name)]
        if smallest:
            actors = axes.pop("actors", smallests.ACTORS)
            most = max_messages or smallests.MESSAGES
            search = smallests.Search(
                actors, most, options, bounds, processes, file, ticker, lambda _line: None
            )
            found = tuple(search.of(sweeps.combined(specs, axes)))
            rows = tuple(each.row for each in found if each.row is not None)
            return SweepResult(rows, "\n".join(map(smallests.text, found)), found)
        wanted = sweeps.combined(specs, axes)
        run: sweeps.Runner = partial(sweeps.in_processes, processes=processes, ticker=ticker)
        if on == "spark":
            run = partial(sweeps.in_executors, master=master, log=spark_log)
        new = list(sweeps.sweep(wanted, run, file, options, bounds))
        kept = sweeps.asked_for(wanted, file, options, bounds)
        rows = (*kept, *(row for row in new if row["verdict"] == sweeps.GAVE_UP))
        return SweepResult(rows, sweeps.matrix(rows))


def specs_of(name: str) -> Sequence[Spec]:
    """Return the spec of a program's object, or the specs that a name stands for."""
    return [spec_named(name)] if is_object(name) else targets_of([name]).strictly()


def _axes(values: dict[str, Any]) -> dict[str, tuple[Any, ...]]:
    """Return the values of each field of the question; properties are checked together."""
    known = {each.name: each for each in settings_of(Question)}
    return {
        name: converted(Question, {name: value})[name]
        if known[name].kind is tuple
        else axis(known[name], value)
        for name, value in values.items()
    }


@contextmanager
def rows_file(output: str | Path | None) -> Iterator[Path]:
    """Return the file that keeps the rows; without `output`, it exists only in this block."""
    if output is not None:
        yield Path(output)
        return
    with TemporaryDirectory(prefix="antecede-") as folder:
        try:
            yield Path(folder) / "rows.jsonl"
        except KeyboardInterrupt as interruption:
            vars(interruption).pop("__notes__", None)  # they say that the file remains
            raise
