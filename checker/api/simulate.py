"""The function `antecede.simulate`, which measures the speed of protocols, and its result."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from attrs import frozen

from antecede.checker.api.arguments import ScenarioArguments, check_amount, described, texts
from antecede.checker.api.progress import progress
from antecede.checker.api.protocols import Given, named, refuse_lists
from antecede.checker.api.results import RowsReport
from antecede.checker.api.sweep import rows_file
from antecede.checker.papers.simulate import command as simulations
from antecede.checker.papers.simulate.figures import Grid
from antecede.checker.papers.simulate.scenario import Scenario
from antecede.checker.support.amounts import counted
from antecede.checker.support.errors import check_place

if TYPE_CHECKING:
    from typing import Unpack


@frozen(eq=False, repr=False)
class SimulateResult(RowsReport):
    """The result of `antecede.simulate`: one row for each simulated run.

    `print(result)` shows the median times of the protocols, with confidence intervals.

    Attributes:
        rows: for each run, a mapping with the protocol, the seed of its random numbers, the
            parameters and the measured values. Names of times end with `_ns`: they are in
            nanoseconds.

    Examples:
        >>> from antecede import simulate
        >>> result = simulate("fifo", "rst", actors=4, messages=2, seeds=2, workers=1)
        >>> result
        <Simulation of 4 runs: fifo, rst>
        >>> result.rows[0]["deliveries"]
        8
    """

    rows: tuple[Mapping[str, Any], ...]
    _texts: tuple[str, ...]
    _drawn: tuple[tuple[Grid, Sequence[dict[str, Any]]], ...] = ()

    @property
    def wrong(self) -> tuple[Mapping[str, Any], ...]:
        """The rows of the runs that went wrong; `error` of each row says why.

        A run is wrong if it failed, or if it violates causal order although its protocol must not.
        """
        return tuple(row for row in self.rows if row["error"] is not None)

    def save(self, folder: str | Path) -> None:
        """Draw the figures of the papers that were simulated, as files in a folder.

        Args:
            folder: the name of the folder. It is created if it does not exist.

        Raises:
            InputError: no `figure` was simulated, Matplotlib is missing, or the folder cannot be
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
    **parameters: Unpack[ScenarioArguments],
) -> SimulateResult:
    """Run protocols in simulated time, and compare how long they take to deliver messages.

    Times in the simulation do not depend on the speed of your machine. All protocols run the same
    random programs, which decide when each actor (participant) sends to which other actor.

    Args:
        protocols: the protocols: each an `antecede.Protocol`, a name that `antecede list` shows, or
            FILE.py:OBJECT.
        figure: the name of a figure of a paper to reproduce, such as `cykas-4`, or a list of names.
            By default, none.
        quick: True to simulate fewer points of a figure.
        seeds: the number of random programs that each protocol runs. By default 30, or the number
            of the figure.
        own_handlers: True to call the protocols' own functions. By default, some protocols have
            faster versions of them, which behave the same.
        workers: the number of runs at once. By default, one for each core.
        output: a file that keeps the rows. A later simulation with the same file makes only new
            runs. By default, the rows are not kept.
        on: where the runs are made: `here` (on this machine, the default) or `spark` (on a Spark
            cluster).
        master: the address of the Spark cluster, for example spark://HOST:PORT. Only for `spark`.
        parameters: the further options of the command `antecede simulate`, such as `actors`,
            `messages` and `delay`; `antecede simulate --help` describes them. Times and bandwidths
            have units: "5 ms", "50 kB/s". Each value of a list is combined with the values of the
            other parameters.

    Returns:
        The rows of the runs, and a report with the median times and their 95 % confidence
        intervals.

    Raises:
        InputError: a name or a value cannot be used.

    Examples:
        >>> from antecede import simulate
        >>> found = simulate("rst", actors=[3, 4], delay="1 ms", messages=2, seeds=1, workers=1)
        >>> [row["actors"] for row in found.rows]
        [3, 4]
    """
    refuse_lists(protocols)
    check_amount("workers", workers)
    check_place(on, master, workers)
    check_amount("seeds", seeds)
    figures = texts("figure", figure, "cykas-4")
    values = {name: _text(value) for name, value in parameters.items()}
    with named(*protocols) as names, progress() as ticker, rows_file(output) as file:
        grids = simulations.grids_of(names, figures, values, seeds, quick=quick, drawn=False)
        runner = simulations.runner_of(on, workers, master)
        twins, kept = not own_handlers, output is not None
        found = [
            simulations.run(grid, file, runner, ticker, twins=twins, kept=kept) for grid in grids
        ]
    rows = tuple(row for each in found for row in each.rows)
    drawn = tuple((grid, each.rows) for grid, each in zip(grids, found, strict=True))
    return SimulateResult(rows, tuple(each.text for each in found), drawn if figures else ())


def _text(value: Any) -> str:
    """Return a parameter as the command line takes it: several values are separated by commas."""
    several = isinstance(value, Iterable) and not isinstance(value, str)
    return ",".join(map(str, value)) if several else str(value)
