"""`antecede.simulate`: protocols in simulated time."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from attrs import frozen

from antecede.checker.amounts import counted
from antecede.checker.api.arguments import ScenarioArguments, check_amount, check_place, described
from antecede.checker.api.progress import progress
from antecede.checker.api.protocols import Given, named
from antecede.checker.api.results import RowsReport
from antecede.checker.api.sweep import rows_file
from antecede.checker.simulate import command as simulations
from antecede.checker.simulate.figures import Grid
from antecede.checker.simulate.scenario import Scenario

if TYPE_CHECKING:
    from typing import Unpack


@frozen(eq=False, repr=False)
class SimulateResult(RowsReport):
    """The rows of a simulation, one for each run.

    Attributes:
        rows: per run its protocol, seed, parameters, and times in nanoseconds.

    Examples:
        >>> from antecede import simulate
        >>> result = simulate("fifo", "rst", actors=4, messages=2, seeds=2, workers=1)
        >>> result
        <Simulation of 4 runs: fifo, rst>
        >>> result.wrong
        ()
    """

    rows: tuple[Mapping[str, Any], ...]
    _texts: tuple[str, ...]
    _drawn: tuple[tuple[Grid, Sequence[dict[str, Any]]], ...] = ()

    @property
    def wrong(self) -> tuple[Mapping[str, Any], ...]:
        """The rows of runs that violate causal order although they must not, or that failed."""
        return tuple(row for row in self.rows if row["error"] is not None)

    def save(self, folder: str | Path) -> None:
        """Draw the figures of the papers into a folder.

        Raises:
            InputError: no figure was simulated, Matplotlib is missing, or the folder cannot be
                created.
        """
        simulations.check_drawable([grid for grid, _ in self._drawn])
        for grid, rows in self._drawn:
            simulations.draw(grid, rows, str(folder))

    def __repr__(self) -> str:
        names = ", ".join(dict.fromkeys(str(row["protocol"]) for row in self.rows))
        wrong = f"\n  {counted(len(self.wrong), 'wrong run')}" if self.wrong else ""
        return f"<Simulation of {counted(len(self.rows), 'run')}: {names}>{wrong}"

    def __str__(self) -> str:
        return "\n\n".join(self._texts)


@described(ScenarioArguments, Scenario)
def simulate(
    *protocols: Given,
    figure: str | Sequence[str] = (),
    quick: bool = False,
    seeds: int | None = None,
    own_handlers: bool = False,
    workers: int | None = None,
    output: str | Path | None = None,
    on: str = "here",
    master: str | None = None,
    spark_log: bool = False,
    **parameters: Unpack[ScenarioArguments],
) -> SimulateResult:
    """Run protocols in simulated time, and compare how long they take.

    Args:
        protocols: the protocols; all run the same random programs.
        figure: a figure of a paper to reproduce, or several.
        quick: use fewer points of a figure.
        seeds: the number of random programs.
        own_handlers: call the protocols' own handlers, and no faster twins.
        workers: the number of runs at once; by default one per core.
        output: a file that keeps the rows, so that the same runs need not run again.
        on: here, or spark.
        master: the address of the Spark cluster.
        spark_log: show Spark's own log.
        parameters: the parameters of `antecede simulate`. Lists of values make combinations.

    Returns:
        The rows and their report: median times with their 95 % confidence intervals.

    Raises:
        InputError: a name or a value cannot be used.

    Examples:
        >>> from antecede import simulate
        >>> found = simulate("rst", actors=[3, 4], delay="1 ms", messages=2, seeds=1, workers=1)
        >>> [row["actors"] for row in found.rows]
        [3, 4]
    """
    check_place(on)
    check_amount("workers", workers)
    check_amount("seeds", seeds)
    figures = (figure,) if isinstance(figure, str) else tuple(figure)
    values = {name: _text(value) for name, value in parameters.items()}
    with named(*protocols) as names, progress() as ticker, rows_file(output) as file:
        grids = simulations.grids_of(names, figures, values, seeds, quick=quick, drawn=False)
        runner = simulations.runner_of(on, workers, master, log=spark_log)
        twins, kept = not own_handlers, output is not None
        found = [
            simulations.run(grid, file, runner, ticker, twins=twins, kept=kept) for grid in grids
        ]
    rows = tuple(row for each in found for row in each.rows)
    drawn = tuple((grid, each.rows) for grid, each in zip(grids, found, strict=True))
    return SimulateResult(rows, tuple(each.text for each in found), drawn if figures else ())


def _text(value: Any) -> str:
    """Return one value or several as the command line takes them."""
    several = isinstance(value, Iterable) and not isinstance(value, str)
    return ",".join(map(str, value)) if several else str(value)
