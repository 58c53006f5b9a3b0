"""The key numbers of the Cykas paper's figures: speedups that represent the paper's statements.

Each one is also computed with every assumption changed alone; see `checker.simulate.tornado`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from attrs import evolve, frozen

from antecede.checker.simulate.scenario import FIELDS, MS, Scenario

ABOUT_JOBS = ("job_lengths", "job_deviation", "busy")


@frozen
class KeyNumber:
    """A speedup at a point of a figure.

    Attributes:
        of, over: the protocols; the speedup is the time of `over` divided by the time of `of`.
    """

    name: str
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


_BASE = Scenario(actors=100, messages=100, bandwidth=50_000, delay=5 * MS)
_JOBS = evolve(_BASE, job_share=0.1)
_NORMAL = evolve(_BASE, job_lengths="normal")

KEY_NUMBERS: Mapping[str, KeyNumber] = {
    k.name: k
    for k in (
        KeyNumber("uniform", "Figure 6, no hotspots, no jobs", _NORMAL),
        KeyNumber("hotspots", "Figure 6, 10 % hotspots, no jobs", evolve(_NORMAL, hotspots=0.1)),
        KeyNumber(
            "hotspots-jobs",
            "Figure 6, 10 % hotspots, jobs",
            evolve(_NORMAL, hotspots=0.1, job_share=0.1),
        ),
        KeyNumber(
            "short-jobs", "Figure 5, 10 ms, jobs of 0.5 ms", evolve(_JOBS, job_length=MS // 2)
        ),
        KeyNumber(
            "middle-jobs",
            "Figure 5, 10 ms, jobs of 12.5 ms",
            evolve(_JOBS, job_length=25 * MS // 2),
        ),
        KeyNumber("long-jobs", "Figure 5, 10 ms, jobs of 50 ms", evolve(_JOBS, job_length=50 * MS)),
        KeyNumber(
            "frequent",
            "Figure 5, 1 ms, jobs of 12.5 ms",
            evolve(_JOBS, job_length=25 * MS // 2, interval=MS),
        ),
        KeyNumber(
            "crossover",
            "Figure 4, MFSS over RST, 100 processes at 5000 kB/s",
            evolve(_BASE, interval=0, bandwidth=5_000_000),
            "mfss",
            "rst",
        ),
    )
}
