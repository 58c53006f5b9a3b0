"""The grids to run: a grid from the command line, or the grid of a paper's figure."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import product
from typing import Any

from attrs import evolve, field, frozen

from antecede.checker.errors import InputError
from antecede.checker.simulate.scenario import FIELDS, MS, Scenario

K = 1_000

CYKAS_BASE = Scenario(actors=100, messages=100, bandwidth=50 * K, delay=5 * MS)
"""The fixed parameters in sections 5.3 and 5.4 of the Cykas paper."""

HYBRID_BASE = Scenario(
    actors=16,
    messages=30,
    bandwidth=1_000 * K,
    delay=5 * MS,
    jitter=1 * MS,
    order="fifo",
    interval=10 * MS,
)
"""A small cluster: enough bandwidth, some jitter, and FIFO order, as Newtop and trees need."""


@frozen
class Grid:
    """Protocols on every combination of values.

    Attributes:
        name: the name of the figure, or `asked`.
        protocols: the protocols that run; all of them get the same programs.
        scenarios: what they run on, in the order in which results are shown.
        seeds: how many programs are drawn; their seeds are 1, 2, ….
        quick: the scenarios are smaller than the figure's.
    """

    name: str
    title: str
    protocols: tuple[str, ...]
    scenarios: tuple[Scenario, ...]
    seeds: int = 30
    quick: bool = False


def combined(base: Scenario, axes: Mapping[str, Sequence[Any]]) -> tuple[Scenario, ...]:
    """Return every combination of the axes' values; the last axis changes fastest."""
    return tuple(
        evolve(base, **dict(zip(axes, values, strict=True))) for values in product(*axes.values())
    )


@frozen
class Part:
    """Every combination of some values; with `--quick`, `quick` replaces some of the axes."""

    base: Scenario
    axes: Mapping[str, Sequence[Any]]
    quick: Mapping[str, Sequence[Any]] = field(factory=dict)

    def scenarios(self, *, quick: bool) -> tuple[Scenario, ...]:
        """Return the combinations."""
        return combined(self.base, {**self.axes, **(self.quick if quick else {})})

    def has(self, scenario: Scenario) -> bool:
        """Return whether a scenario is one of the combinations, quick or not."""
        return any(scenario in self.scenarios(quick=quick) for quick in (False, True))


@frozen
class Figure:
    """A figure of a paper, or a figure for a question that a paper leaves open.

    Attributes:
        parts: the grids of scenarios.
        seeds: the default number of programs.
    """

    title: str
    protocols: tuple[str, ...]
    parts: tuple[Part, ...]
    seeds: int = 30

    def grid(self, name: str, seeds: int | None, *, quick: bool) -> Grid:
        """Return the grid of the figure; a scenario in several parts is run once."""
        scenarios = dict.fromkeys(s for part in self.parts for s in part.scenarios(quick=quick))
        default = 3 if quick else self.seeds
        return Grid(name, self.title, self.protocols, tuple(scenarios), seeds or default, quick)


ABOUT_JOBS = ("job_lengths", "job_deviation", "busy")


@frozen
class KeyNumber:
    """A speedup at a point of a figure, which represents a statement of the Cykas paper.

    It is also computed with every assumption changed alone; see `checker.simulate.tornado`.

    Attributes:
        of, over: the protocols; the speedup is the time of `over` divided by the time of `of`.
    """

    says: str
    scenario: Scenario
    of: str = "cykas"
    over: str = "mfss"

    def alternatives(self) -> Iterator[tuple[str, Any, Scenario]]:
        """Yield each assumption with each alternative value, and the scenario under it."""
        for name, about in FIELDS.items():
            if name in ABOUT_JOBS and not self.scenario.job_share:
                continue
            if name == "job_deviation" and self.scenario.job_lengths != "normal":
                continue
            if name == "integer" and "rst" not in (self.of, self.over):
                continue
            for value in about.metadata["others"]:
                if value != getattr(self.scenario, name):
                    yield name, value, evolve(self.scenario, **{name: value})

    def scenarios(self) -> tuple[Scenario, ...]:
        """Return the point itself and all alternatives."""
        return (self.scenario, *(scenario for _, _, scenario in self.alternatives()))


_JOBS = evolve(CYKAS_BASE, job_share=0.1)
_NORMAL = evolve(CYKAS_BASE, job_lengths="normal")

KEY_NUMBERS: Mapping[str, KeyNumber] = {
    "uniform": KeyNumber("Figure 6, no hotspots, no jobs", _NORMAL),
    "hotspots": KeyNumber("Figure 6, 10 % hotspots, no jobs", evolve(_NORMAL, hotspots=0.1)),
    "hotspots-jobs": KeyNumber(
        "Figure 6, 10 % hotspots, jobs",
        evolve(_NORMAL, hotspots=0.1, job_share=0.1),
    ),
    "short-jobs": KeyNumber("Figure 5, 10 ms, jobs of 0.5 ms", evolve(_JOBS, job_length=MS // 2)),
    "middle-jobs": KeyNumber(
        "Figure 5, 10 ms, jobs of 12.5 ms",
        evolve(_JOBS, job_length=25 * MS // 2),
    ),
    "long-jobs": KeyNumber("Figure 5, 10 ms, jobs of 50 ms", evolve(_JOBS, job_length=50 * MS)),
    "frequent": KeyNumber(
        "Figure 5, 1 ms, jobs of 12.5 ms",
        evolve(_JOBS, job_length=25 * MS // 2, interval=MS),
    ),
    "crossover": KeyNumber(
        "Figure 4, MFSS over RST, 100 processes at 5000 kB/s",
        evolve(CYKAS_BASE, interval=0, bandwidth=5_000_000),
        "mfss",
        "rst",
    ),
}


def _points(of: str) -> tuple[Part, ...]:
    """Return the scenarios of the key numbers about a protocol."""
    small = {"actors": (30,), "messages": (20,)}
    return tuple(
        Part(scenario, {}, small)
        for key in KEY_NUMBERS.values()
        if key.of == of
        for scenario in key.scenarios()
    )


_PATTERNS = {"workload": ("random", "requests")}
_SMALL = {"actors": (8,), "messages": (10,)}

HYBRID: Mapping[str, Part] = {
    "load": Part(
        HYBRID_BASE,
        {**_PATTERNS, "interval": (5 * MS, 10 * MS, 20 * MS, 50 * MS, 100 * MS)},
        {**_SMALL, "interval": (5 * MS, 20 * MS, 100 * MS)},
    ),
    "handling": Part(
        evolve(HYBRID_BASE, interval=50 * MS),
        {**_PATTERNS, "handling": (0, MS // 2, 1 * MS, 2 * MS, 4 * MS)},
        {**_SMALL, "handling": (0, 2 * MS)},
    ),
    "size": Part(
        evolve(HYBRID_BASE, interval=50 * MS, messages=20),
        {**_PATTERNS, "actors": (8, 16, 32)},
        {"messages": (10,), "actors": (4, 8)},
    ),
    "distance": Part(
        evolve(HYBRID_BASE, interval=0),
        {**_PATTERNS, "delay": (MS // 2, 1 * MS, 2 * MS, 5 * MS, 10 * MS, 20 * MS)},
        {**_SMALL, "delay": (1 * MS, 5 * MS, 20 * MS)},
    ),
}
"""The questions of the hybrid paper's section 6: effects of load, handling, size and distance."""

FIGURES: Mapping[str, Figure] = {
    "cykas-4": Figure(
        "Cykas paper, Figure 4: execution time against processes per kB/s",
        ("rst", "cykas", "mfss"),
        (
            Part(
                evolve(CYKAS_BASE, interval=0),
                {
                    "actors": (25, 50, 100, 200, 500),
                    "bandwidth": (20 * K, 100 * K, 1_000 * K, 10_000 * K),
                },
                {"messages": (30,), "actors": (25, 50, 100)},
            ),
        ),
    ),
    "cykas-5": Figure(
        "Cykas paper, Figure 5: speedup of Cykas over MFSS against the length of jobs",
        ("cykas", "mfss"),
        (
            Part(
                evolve(CYKAS_BASE, job_share=0.1),
                {
                    "interval": (1 * MS, 10 * MS, 100 * MS, 1_000 * MS),
                    "job_length": (MS // 2, 5 * MS, 12 * MS + MS // 2, 25 * MS, 50 * MS),
                },
                {"actors": (50,), "messages": (30,)},
            ),
        ),
    ),
    "processes-5": Figure(
        "Cykas paper, Figure 5: speedup for other numbers of processes, with jobs of 12.5 ms",
        ("cykas", "mfss"),
        (
            Part(
                evolve(CYKAS_BASE, job_share=0.1, job_length=12 * MS + MS // 2),
                {"actors": (25, 50, 75, 100), "interval": (1 * MS, 10 * MS)},
                {"messages": (30,), "actors": (25, 50)},
            ),
        ),
    ),
    "cykas-6": Figure(
        "Cykas paper, Figure 6: speedup of Cykas over MFSS against the share of hotspots",
        ("cykas", "mfss"),
        (
            Part(
                evolve(CYKAS_BASE, interval=10 * MS, job_length=25 * MS, job_lengths="normal"),
                {"job_share": (0.0, 0.1), "hotspots": (0.0, 0.05, 0.1, 0.2)},
                {"actors": (50,), "messages": (40,), "hotspots": (0.0, 0.1, 0.2)},
            ),
        ),
    ),
    "tornado": Figure(
        "Assumptions behind Figures 5 and 6 of the Cykas paper, each changed alone",
        ("cykas", "mfss"),
        _points("cykas"),
        seeds=10,
    ),
    "tornado-4": Figure(
        "Assumptions behind Figure 4 of the Cykas paper, each changed alone",
        ("mfss", "rst"),
        _points("mfss"),
        seeds=10,
    ),
    "hybrid": Figure(
        "Hybrid paper, section 6: the evaluation that it leaves to others",
        (
            "unordered",
            "mfss",
            "cykas",
            "rst",
            "ks",
            "newtop-null",
            "tree-star",
            "tree",
            "hybrid-basic",
            "hybrid-sps",
        ),
        tuple(HYBRID.values()),
        seeds=10,
    ),
    "hybrid-broadcast": Figure(
        "Hybrid paper, section 6: the same for broadcasts",
        ("unordered", "cbcast", "rst", "ks", "newtop-null", "hybrid-multicast"),
        (
            Part(
                evolve(HYBRID_BASE, workload="broadcast", messages=10),
                {"interval": (20 * MS, 50 * MS, 100 * MS, 200 * MS)},
                {"actors": (6,), "messages": (4,)},
            ),
        ),
        seeds=10,
    ),
}


def figure_named(name: str) -> Figure:
    """Return the figure with this name.

    Raises:
        InputError: there is no such figure.
    """
    if name not in FIGURES:
        raise InputError(f"there is no figure {name!r}; available: {', '.join(FIGURES)}")
    return FIGURES[name]
