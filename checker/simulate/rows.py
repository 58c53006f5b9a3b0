"""One row per run: all parameters of the run, and its results."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import attrs
from attrs import frozen

from antecede.checker.errors import AntecedeError, InputError
from antecede.checker.simulate.handlers import digest, handlers_of
from antecede.checker.simulate.results import RESULTS, results
from antecede.checker.simulate.run import simulate
from antecede.checker.simulate.scenario import FIELDS, Scenario
from antecede.checker.simulate.workload import plan_of
from antecede.checker.sweep.kept import Row

CONTROLS = ("unordered", "fifo")
"""Protocols that do not promise causal delivery; their violations are counted."""


@frozen
class Asked:
    """A requested run.

    Attributes:
        protocol: the name as on the command line.
        scenario, seed: see `simulate`.
        twins: call a twin if the protocol has one.
        sources: a digest of all sources that the run depends on.
    """

    protocol: str
    scenario: Scenario
    seed: int
    twins: bool
    sources: str

    @property
    def columns(self) -> Row:
        """The columns that identify this run."""
        handlers = "twin" if self.twins else "own"
        return {
            "protocol": self.protocol,
            "seed": self.seed,
            **attrs.asdict(self.scenario),
            "handlers": handlers,
            "sources": self.sources,
        }


KEYS = ("protocol", "seed", *FIELDS, "handlers", "sources")
"""The columns that identify a run: the first columns of a row."""


def asked(
    protocols: Sequence[str], scenarios: Sequence[Scenario], seeds: Iterable[int], *, twins: bool
) -> list[Asked]:
    """Return all runs of the protocols on the scenarios, the first seed's runs first.

    Raises:
        InputError: a protocol is unknown, or a scenario is impossible.
    """
    sources = {name: digest(name, twins=twins) for name in protocols}
    has_twin = {name: handlers_of(name, twins=twins).twin is not None for name in protocols}
    for scenario in scenarios:
        check(scenario)
    return [
        Asked(name, scenario, seed, has_twin[name], sources[name])
        for seed in seeds
        for scenario in scenarios
        for name in protocols
    ]


def check(scenario: Scenario) -> None:
    """Refuse an impossible scenario before anything is run."""
    plan_of(attrs.evolve(scenario, messages=1), 0)
    if scenario.messages * scenario.actors > 10**7:
        raise InputError(
            f"{scenario.actors:,} actors with {scenario.messages:,} messages each are more than "
            "10,000,000 messages; give fewer"
        )


def row_of(wanted: Asked) -> Row:
    """Run a simulation and return its row; a violation or an error appears in the row."""
    row = wanted.columns
    try:
        handlers = handlers_of(wanted.protocol, twins=wanted.twins)
        tolerant = wanted.protocol in CONTROLS
        outcome = simulate(handlers, wanted.scenario, wanted.seed, tolerant=tolerant)
    except AntecedeError as error:
        return {**row, **dict.fromkeys(RESULTS), "error": str(error)}
    return {**row, **results(outcome, wanted.scenario), "error": None}
