"""What to run: a grid that was asked for, or that of a paper's figure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import product
from typing import Any

from attrs import evolve, field, frozen

from antecede.checker.errors import InputError
from antecede.checker.simulate.scenario import Scenario

MS = 1_000_000
K = 1_000

CYKAS_BASE = Scenario(actors=100, messages=100, bandwidth=50 * K, delay=5 * MS)
"""What sections 5.3 and 5.4 of the Cykas paper keep fixed."""


@frozen
class Grid:
    """Protocols on every combination of values.

    Attributes:
        name: of the figure, or `asked`.
        title: what it is about.
        protocols: who runs; all of them get the same programs.
        scenarios: on what, in the order in which they are shown.
        seeds: how many programs; they are 1, 2, ….
    """

    name: str
    title: str
    protocols: tuple[str, ...]
    scenarios: tuple[Scenario, ...]
    seeds: int = 30


def combined(base: Scenario, axes: Mapping[str, Sequence[Any]]) -> tuple[Scenario, ...]:
    """Return every combination of the values of axes; the last axis changes fastest."""
    return tuple(
        evolve(base, **dict(zip(axes, values, strict=True))) for values in product(*axes.values())
    )


@frozen
class Figure:
    """A paper's figure.

    Attributes:
        grid: as the paper has it.
        quick: what is made smaller for `--quick`, and to what.
        quick_axes: the axes that are made shorter.
    """

    title: str
    protocols: tuple[str, ...]
    base: Scenario
    axes: Mapping[str, Sequence[Any]]
    quick: Mapping[str, Any] = field(factory=dict)
    quick_axes: Mapping[str, Sequence[Any]] = field(factory=dict)

    def grid(self, name: str, seeds: int | None, *, quick: bool) -> Grid:
        """Return what to run."""
        base = evolve(self.base, **self.quick) if quick else self.base
        axes = {**self.axes, **self.quick_axes} if quick else self.axes
        default = 3 if quick else 30
        return Grid(name, self.title, self.protocols, combined(base, axes), seeds or default)


FIGURES: Mapping[str, Figure] = {
    "cykas-4": Figure(
        title="Cykas paper, Figure 4: execution time against processes per kB/s",
        protocols=("rst", "cykas", "mfss"),
        base=evolve(CYKAS_BASE, interval=0),
        axes={
            "actors": (25, 50, 100, 200, 500),
            "bandwidth": (20 * K, 100 * K, 1_000 * K, 10_000 * K),
        },
        quick={"messages": 30},
        quick_axes={"actors": (25, 50, 100)},
    ),
    "cykas-5": Figure(
        title="Cykas paper, Figure 5: speedup of Cykas over MFSS against the length of jobs",
        protocols=("cykas", "mfss"),
        base=evolve(CYKAS_BASE, job_share=0.1),
        axes={
            "interval": (1 * MS, 10 * MS, 100 * MS, 1_000 * MS),
            "job_length": (MS // 2, 5 * MS, 12 * MS + MS // 2, 25 * MS, 50 * MS),
        },
        quick={"actors": 50, "messages": 30},
    ),
    "cykas-6": Figure(
        title="Cykas paper, Figure 6: speedup of Cykas over MFSS against the share of hotspots",
        protocols=("cykas", "mfss"),
        base=evolve(CYKAS_BASE, interval=10 * MS, job_length=25 * MS, job_lengths="normal"),
        axes={"job_share": (0.0, 0.1), "hotspots": (0.0, 0.05, 0.1, 0.2)},
        quick={"actors": 50, "messages": 40},
        quick_axes={"hotspots": (0.0, 0.1, 0.2)},
    ),
}


def figure_named(name: str) -> Figure:
    """Return a figure.

    Raises:
        InputError: there is none of that name.
    """
    if name not in FIGURES:
        raise InputError(f"there is no figure {name!r}; available: {', '.join(FIGURES)}")
    return FIGURES[name]
