r"""Logs that ShiViz draws as a space-time diagram.

ShiViz (Beschastnikh, Wang, Brun, Ernst, Debugging distributed systems, CACM 2016): the first line
of a file is the regular expression that finds the events, the second one the delimiter of several
executions (none here). An event is a line of text, then a line with its host and its vector clock.
The causality oracle's clock ticks at causal-sends only, so it is not used here. In these logs every
transition of an actor is an event, even the reception of a control packet. So a host's own entries
are 1, 2, 3, … as ShiViz demands.
"""

from __future__ import annotations

import json

from antecede.checker.check.report import CheckReport
from antecede.checker.model import CausalSend, Lose
from antecede.checker.paths.flights import flights_of
from antecede.checker.paths.path import Path
from antecede.checker.render.about import explanation_of
from antecede.checker.render.markup import plain
from antecede.checker.render.prose import Wording

PARSER = r"(?<event>.*)\n(?<host>\S*) (?<clock>\{.*\})"
NETWORK = "Network"
"""The host of losses, which involve no actor."""


def text(path: Path, report: CheckReport | None = None) -> str:
    """Return `path` as a log with the regular expression that reads it."""
    words, remarks = Wording.of(path), explanation_of(path).remarks
    hosts = hosts_of(path)
    lines = [PARSER, ""]
    for step, clock in zip(path.steps, clocks(path), strict=True):
        said = words.step(step, remarks)
        if isinstance(step.transition, CausalSend):  # `antecede audit` reads these logs
            said = said.replace(" sends ", " causal-sends ", 1)
        lines.append(f"{step.number}. {plain(said)}")
        lines.append(f"{hosts[step.number]} {json.dumps(clock)}")
    return "\n".join(lines) + "\n"


def clocks(path: Path) -> list[dict[str, int]]:
    """Return each step's vector clock: host -> number of its events in the past of the step."""
    flights, hosts = flights_of(path), hosts_of(path)
    latest: dict[str, dict[str, int]] = {}
    stamps: dict[int, dict[str, int]] = {}
    for step in path.steps:
        host, flight = hosts[step.number], flights.met.get(step.number)
        clock = dict(latest.get(host, {}))
        clock[host] = clock.get(host, 0) + 1
        past = {} if flight is None else stamps.get(flight.since, {})
        for other, count in past.items():
            clock[other] = max(clock.get(other, 0), count)
        latest[host] = stamps[step.number] = clock
    return [stamps[step.number] for step in path.steps]


def hosts_of(path: Path) -> dict[int, str]:
    """Return the host of each step: its actor, in one word, or NETWORK for a loss."""
    names = path.system.names
    hosts = ["-".join(names.actor(i).split()) for i in range(path.system.actors)]
    network = NETWORK
    while network in hosts:
        network += "-"
    return {
        step.number: network if isinstance(step.transition, Lose) else hosts[step.actor]
        for step in path.steps
    }
