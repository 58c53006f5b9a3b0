"""The grids to run: a grid from the command line, or the grid of a paper's figure.

`figures.toml` has the figures.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import product
from typing import Any

from attrs import evolve, field, frozen

from antecede.checker.papers.simulate.scenario import Scenario, parameters, parsed, parsed_list
from antecede.checker.support.errors import InputError
from antecede.checker.support.reading import own_table

K = 1_000


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
        parts: the grids of scenarios, by name.
        seeds: the default number of programs.
    """

    title: str
    protocols: tuple[str, ...]
    parts: Mapping[str, Part]
    seeds: int = 30

    def grid(self, name: str, seeds: int | None, *, quick: bool) -> Grid:
        """Return the grid of the figure; a scenario in several parts is run once."""
        parts = self.parts.values()
        scenarios = dict.fromkeys(s for part in parts for s in part.scenarios(quick=quick))
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
        for name, about in parameters().items():
            if name in ABOUT_JOBS and not self.scenario.job_share:
                continue
            if name == "job_deviation" and self.scenario.job_lengths != "normal":
                continue
            if name == "integer" and "rst" not in (self.of, self.over):
                continue
            for value in about.others:
                if value != getattr(self.scenario, name):
                    yield name, value, evolve(self.scenario, **{name: value})

    def scenarios(self) -> tuple[Scenario, ...]:
        """Return the point itself and all alternatives."""
        return (self.scenario, *(scenario for _, _, scenario in self.alternatives()))


_TABLE = own_table(__package__, "figures.toml")


def _scenario(base: str, fixed: Mapping[str, str]) -> Scenario:
    """Return a base of the figures with some values fixed."""
    values = {**_TABLE["bases"][base], **fixed}
    return Scenario(**{name: parsed(name, text) for name, text in values.items()})


def _axes(table: Mapping[str, str]) -> dict[str, list[Any]]:
    return {name: parsed_list(name, text) for name, text in table.items()}


def _part(table: Mapping[str, Any]) -> Part:
    base = _scenario(table["base"], table.get("fixed", {}))
    return Part(base, _axes(table["axes"]), _axes(table["quick"]))


def _figure(table: Mapping[str, Any]) -> Figure:
    """Return a figure, whose parts may be those of another one or scenarios of key numbers."""
    of = _TABLE["figures"][table["parts_of"]] if "parts_of" in table else table
    parts = {name: _part(part) for name, part in of.get("parts", {}).items()}
    for name, key in KEY_NUMBERS.items():
        if key.of == table.get("key_numbers_of"):
            for at, scenario in enumerate(key.scenarios()):
                parts[f"{name} {at}"] = Part(scenario, {}, _axes(table["quick"]))
    return Figure(table["title"], tuple(table["protocols"]), parts, table.get("seeds", 30))


def _key_number(says: str, fixed: Mapping[str, str], **protocols: str) -> KeyNumber:
    return KeyNumber(says, _scenario("cykas", fixed), **protocols)


CYKAS_BASE = _scenario("cykas", {})

KEY_NUMBERS: Mapping[str, KeyNumber] = {
    name: _key_number(**table) for name, table in _TABLE["key_numbers"].items()
}

FIGURES: Mapping[str, Figure] = {name: _figure(table) for name, table in _TABLE["figures"].items()}

HYBRID = FIGURES["hybrid"].parts

PICTURES: Mapping[str, Mapping[str, Mapping[str, Any]]] = _TABLE["pictures"]
"""Figure -> name of a picture -> the fields of `plots.GrowthPicture`."""


def figure_named(name: str) -> Figure:
    """Return the figure with this name.

    Raises:
        InputError: there is no such figure.
    """
    if name not in FIGURES:
        raise InputError(f"there is no figure {name!r}; available: {', '.join(FIGURES)}")
    return FIGURES[name]
