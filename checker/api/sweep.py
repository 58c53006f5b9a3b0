"""The function `antecede.sweep`, which makes many checks, and its result."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

from attrs import evolve, frozen

from antecede.checker.api.arguments import (
    SweepArguments,
    axis,
    check_amount,
    converted,
    described,
    record_of,
    with_names,
)
from antecede.checker.api.progress import progress
from antecede.checker.api.protocols import Given, named, refuse_lists
from antecede.checker.api.results import RowsReport, image, tally
from antecede.checker.check.spec import OwnProperties, Spec
from antecede.checker.check.targets import spec_named, targets_of
from antecede.checker.render.files import write_whole
from antecede.checker.render.matrix import matrix_svg
from antecede.checker.render.pictures import PICTURES, converted_picture
from antecede.checker.search.options import Bounds, Options
from antecede.checker.semantics.question import Question
from antecede.checker.support.amounts import counted
from antecede.checker.support.errors import InputError, check_known, check_place
from antecede.checker.support.registry import is_object
from antecede.checker.support.settings import settings_of, shown, taken
from antecede.checker.sweep import smallest as smallests
from antecede.checker.sweep import sweep as sweeps

if TYPE_CHECKING:
    from typing import Unpack


@frozen(eq=False, repr=False)
class SweepResult(RowsReport):
    """The result of `antecede.sweep`: one row for each check that was made.

    `print(result)` shows a table of the verdicts. A notebook draws the table.

    Attributes:
        rows: for each check, a mapping with the protocol, the number of actors and so on, the
            verdict, and the number of states. `to_frame()` makes a data frame of them.
        smallest: the results of `sweep(…, smallest=True)`, one for each protocol, network and
            workload. Otherwise empty.

    Examples:
        >>> from antecede import sweep
        >>> result = sweep("fifo", actors=2, messages=[2, 3], engine="plain", workers=1)
        >>> result
        <Sweep of 2 checks: 2 HOLDS>
        >>> [row["unique_states"] for row in result.rows]
        [49, 225]
        >>> result.save("matrix.svg")  # doctest: +SKIP
    """

    rows: tuple[dict[str, Any], ...]
    _text: str
    smallest: tuple[smallests.Smallest, ...] = ()

    @property
    def verdicts(self) -> Mapping[str, int]:
        """The number of checks with each verdict, for example {"HOLDS": 3, "VIOLATED": 1}."""
        return Counter(str(row["verdict"]) for row in self.rows)

    def save(self, file: str | Path) -> None:
        """Save the table of verdicts as a picture.

        Args:
            file: the name of the picture; it ends with .svg, .png or .pdf.

        Raises:
            InputError: the name does not end with .svg, .png or .pdf, a package is missing, or the
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
    **arguments: Unpack[SweepArguments],
) -> SweepResult:
    """Check every combination of protocols, numbers of actors and messages, networks and workloads.

    A workload says which actor sends to which. Give a list of values for a setting to check each of
    them: `sweep("fifo", actors=[2, 3], messages=[1, 2])` makes four checks.

    Args:
        protocols: the protocols: each an `antecede.Protocol`, a name that `antecede list` shows, or
            FILE.py:OBJECT. A spec, the TOML file of a saved check, stands for its protocol and
            settings.
        smallest: True to search for the smallest number of actors and messages with which a
            property is violated, in place of checking given numbers.
        max_messages: with `smallest`, the greatest number of messages of all actors together. By
            default 4.
        engine: the part of the checker that explores the runs: `local` (compiled code, the default)
            or `plain` (plain Python, for small checks).
        workers: the number of checks that run at once. By default, one for each core.
        output: a file that keeps the rows. A later sweep with the same file makes only new checks.
            By default, the rows are not kept.
        on: where the checks run: `here` (on this machine, the default) or `spark` (on a Spark
            cluster).
        master: the address of the Spark cluster, for example spark://HOST:PORT. Only for `spark`.
        arguments: the further options of the command `antecede sweep`, with `_` in place of `-`.
            They are listed below.

    Returns:
        A row for each check, with its verdict and counts.

    Raises:
        InputError: a name or a value cannot be used, or another sweep writes to `output`.

    Examples:
        >>> from antecede import sweep
        >>> print(sweep("fifo", actors=[2, 3], engine="plain", workers=1))
                                      2x2       3x2
        fifo unordered any knowledge  HOLDS 49  VIOLATED (6)
        <BLANKLINE>
        2x3 means 2 actors with 3 messages each. The number after HOLDS counts unique states
        (without symmetry). The number after VIOLATED counts transitions of the counterexample.
    """
    _refuse_wrong(protocols, on, master, engine, workers)
    if max_messages is not None and not smallest:
        raise InputError("max_messages is for smallest=True; give messages")
    if smallest and (on == "spark" or "messages" in arguments):
        raise InputError("smallest=True runs here, and counts messages in total: max_messages")
    check_amount("max_messages", max_messages)
    most = (max_messages or smallests.MESSAGES) if smallest else None
    place = Place(on, master, workers or os.cpu_count() or 1)
    return _swept(protocols, {"engine": engine, **with_names(arguments)}, place, output, most)


@frozen
class Place:
    """Where the checks of a sweep run."""

    on: str
    master: str | None
    processes: int


def _refuse_wrong(
    protocols: Sequence[Given], on: str, master: str | None, engine: str, workers: int | None
) -> None:
    """Raise InputError if these arguments of a sweep cannot be used."""
    if not protocols:
        raise InputError("there is nothing to check; give protocols or specs")
    refuse_lists(protocols)
    check_amount("workers", workers)
    check_place(on, master, workers)
    check_known("engine", engine, ("local", "plain"), "engine")


def _swept(
    protocols: Sequence[Given],
    given: dict[str, Any],
    place: Place,
    output: str | Path | None,
    most: int | None,
) -> SweepResult:
    """Check every combination; or, up to `most` messages, find the smallest that is violated."""
    own = given.pop("own", OwnProperties())
    bounds = record_of(Bounds, given)
    axes = _axes(taken(given, Question))
    options = record_of(Options, {"threads": 1, **given})
    with named(*protocols) as names, progress() as ticker, rows_file(output) as file:
        specs = [evolve(spec, own=own) for name in names for spec in specs_of(name)]
        if most is not None:
            actors, say = axes.pop("actors", smallests.ACTORS), lambda _line: None
            search = smallests.Search(
                actors, most, options, bounds, place.processes, file, ticker, say
            )
            found = tuple(search.of(sweeps.combined(specs, axes)))
            rows = tuple(each.row for each in found if each.row is not None)
            return SweepResult(rows, "\n".join(map(smallests.text, found)), found)
        wanted = sweeps.combined(specs, axes)
        run: sweeps.Runner = partial(sweeps.in_processes, processes=place.processes, ticker=ticker)
        if place.on == "spark":
            run = partial(sweeps.in_executors, master=place.master)
        new = list(sweeps.sweep(wanted, run, file, options, bounds))
        kept = sweeps.asked_for(wanted, file, options, bounds)
        rows = (*kept, *(row for row in new if row["verdict"] == sweeps.GAVE_UP))
        return SweepResult(rows, sweeps.matrix(rows))


def specs_of(name: str) -> Sequence[Spec]:
    """Return the specs that a name stands for.

    A spec describes one check: the protocol, its settings and the expected verdict. The name is the
    name of a protocol or of a spec, a file, or a folder of specs.

    Raises:
        InputError: there is no such protocol, file or folder.
    """
    return [spec_named(name)] if is_object(name) else targets_of([name]).strictly()


def _axes(values: dict[str, Any]) -> dict[str, tuple[Any, ...]]:
    """Return the values that each setting of the checks takes.

    All properties are checked together, so their values are no alternatives.

    Raises:
        InputError: a value cannot be used.
    """
    known = {each.name: each for each in settings_of(Question)}
    return {
        name: converted(Question, {name: value})[name]
        if known[name].kind is tuple
        else axis(known[name], value)
        for name, value in values.items()
    }


@contextmanager
def rows_file(output: str | Path | None) -> Iterator[Path]:
    """Provide a file that keeps the rows of a sweep while a `with` block runs.

    Args:
        output: the name of the file. With None, the file is temporary, and is deleted after the
            block.
    """
    if not isinstance(output, str | Path | None):
        raise InputError(f"output is {shown(output)}; give the name of a file")
    if output is not None:
        yield Path(output)
        return
    with TemporaryDirectory(prefix="antecede-") as folder:
        try:
            yield Path(folder) / "rows.jsonl"
        except KeyboardInterrupt as interruption:
            vars(interruption).pop("__notes__", None)  # they say that the file remains
            raise
