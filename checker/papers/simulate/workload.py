"""Timed workloads: programs as partially ordered sends, drawn from a seed.

A planned send waits for an earlier send of its actor, for deliveries at its actor, or for both, and
then for its gap. The program depends on the scenario and the seed, never on the protocol, so all
protocols get the same program for a seed. Each kind of choice has its own random numbers. Another
distribution of job lengths, for instance, does not change the receivers.

Question: How is the workload of `simulate` made?
"""

from __future__ import annotations

from collections.abc import Callable
from random import Random
from typing import TypeAlias

from attrs import frozen

from antecede.checker.papers.simulate.scenario import Scenario
from antecede.checker.support.errors import InputError

NOTHING = -1


@frozen
class Planned:
    """A send of a plan; sends are identified by their index in it.

    Attributes:
        gap: nanoseconds between the last event that it waits for (or the start) and the send.
        behind: the send of `src` that precedes this one, or NOTHING.
        after: sends whose deliveries at `src` must have been handled.
        job: nanoseconds of the job that its delivery triggers; 0: none.
    """

    src: int
    destinations: tuple[int, ...]
    gap: int
    behind: int = NOTHING
    after: tuple[int, ...] = ()
    job: int = 0


Plan: TypeAlias = tuple[Planned, ...]


def plan_of(scenario: Scenario, seed: int) -> Plan:
    """Return the program for a seed.

    Raises:
        InputError: the scenario has too few actors for its workload.
    """
    return WORKLOADS[scenario.workload](scenario, seed)


def _stream(seed: int, what: str) -> Random:
    return Random(f"{seed} {what}")


def _random(scenario: Scenario, seed: int) -> Plan:
    """Return a plan: each actor sends at intervals, each message to a random other actor."""
    draw = _receivers(scenario, _stream(seed, "receivers"))
    return _at_intervals(scenario, seed, lambda src: (draw(src),))


def _broadcast(scenario: Scenario, seed: int) -> Plan:
    """Return a plan: each actor sends at intervals, each message to all other actors."""
    others = [tuple(j for j in range(scenario.actors) if j != i) for i in range(scenario.actors)]
    return _at_intervals(scenario, seed, lambda src: others[src])


def _receivers(scenario: Scenario, random: Random) -> Callable[[int], int]:
    """Return a function that draws a receiver for a sender; the first actors are the hotspots."""
    hot = round(scenario.hotspots * scenario.actors)
    if hot == 0:
        return lambda src: _another(random, 0, scenario.actors, src)
    if not 2 <= hot <= scenario.actors - 2:
        raise InputError(
            f"{hot} of {scenario.actors} actors would be hotspots; give at least 2, and leave "
            "at least 2 others"
        )

    def draw(src: int) -> int:
        if random.random() < scenario.hot_share:
            return _another(random, 0, hot, src)
        return _another(random, hot, scenario.actors, src)

    return draw


def _another(random: Random, low: int, high: int, src: int) -> int:
    """Return one of low, …, high - 1 except `src`, with equal probabilities."""
    if not low <= src < high:
        return random.randrange(low, high)
    drawn = random.randrange(low, high - 1)
    return drawn + (drawn >= src)


def _at_intervals(
    scenario: Scenario, seed: int, destinations: Callable[[int], tuple[int, ...]]
) -> Plan:
    gaps, jobs = _gaps(scenario, seed), _jobs(scenario, seed)
    order, reacts = _stream(seed, "order"), _stream(seed, "reacting")
    last = [NOTHING] * scenario.actors
    latest_to = [NOTHING] * scenario.actors
    plan: list[Planned] = []
    for turn in range(scenario.messages):
        # The sends of a turn come in random order, so that there is no pattern of waiting. A send
        # waits only for earlier sends, so that every program ends.
        for src in order.sample(range(scenario.actors), scenario.actors):
            to = destinations(src)
            waits = reacts.random() < scenario.reacting and latest_to[src] != NOTHING
            after = (latest_to[src],) if waits else ()
            plan.append(Planned(src, to, gaps(turn == 0), last[src], after, jobs()))
            last[src] = len(plan) - 1
            for j in to:
                latest_to[j] = len(plan) - 1
    return tuple(plan)


def _gaps(scenario: Scenario, seed: int) -> Callable[[bool], int]:
    """Return a function that draws the gap before a send; its argument: it is the actor's first."""
    random, interval = _stream(seed, "gaps"), scenario.interval

    def gap(first: bool) -> int:
        if first:
            return random.randrange(interval + 1) if scenario.start == "staggered" else 0
        if scenario.spacing == "uniform":
            return random.randrange(2 * interval + 1)
        if scenario.spacing == "exponential":
            return round(random.expovariate(1 / interval)) if interval else 0
        return interval

    return gap


def _jobs(scenario: Scenario, seed: int) -> Callable[[], int]:
    """Return a function that draws the length of a message's job, 0 for none."""
    which, lengths = _stream(seed, "jobs"), _stream(seed, "lengths")

    def job() -> int:
        if which.random() >= scenario.job_share:
            return 0
        if scenario.job_lengths == "normal":
            return max(0, round(lengths.gauss(scenario.job_length, scenario.job_deviation)))
        if scenario.job_lengths == "exponential":
            return round(lengths.expovariate(1 / max(scenario.job_length, 1)))
        return scenario.job_length

    return job


def _requests(scenario: Scenario, seed: int) -> Plan:
    """Clients ask gateways, which ask services, which may ask stores; each answer goes back.

    Half of the actors are clients, an eighth gateways, a quarter services, the others stores. A
    client makes `messages` requests at intervals, and does not wait for earlier answers. A gateway
    asks `fan_out` services (or all, if there are fewer) at once and answers when all have answered.
    A service asks a store for every other request.
    """
    n = scenario.actors
    gateways, services = max(1, n // 8), max(1, n // 4)
    stores = max(1, n - n // 2 - gateways - services)
    clients = n - stores - gateways - services
    if clients < 1:
        raise InputError(f"requests need at least 4 actors, not {n}")
    tiers = _Tiers(clients, clients + gateways, clients + gateways + services, n)
    gaps, jobs, random = _gaps(scenario, seed), _jobs(scenario, seed), _stream(seed, "requests")
    plan: list[Planned] = []
    last = [NOTHING] * clients
    for turn in range(scenario.messages):
        for client in random.sample(range(clients), clients):
            last[client] = _request(
                plan, tiers, client, last[client], gaps(turn == 0), scenario.fan_out, random, jobs
            )
    return tuple(plan)


@frozen
class _Tiers:
    """The end of each tier's range of actors; clients start at actor 0."""

    clients: int
    gateways: int
    services: int
    stores: int


def _request(
    plan: list[Planned],
    tiers: _Tiers,
    client: int,
    behind: int,
    gap: int,
    fan_out: int,
    random: Random,
    jobs: Callable[[], int],
) -> int:
    """Add one request with all its consequences; return the index of its first send."""

    def send(src: int, dst: int, after: tuple[int, ...]) -> int:
        plan.append(Planned(src, (dst,), 0, after=after, job=jobs()))
        return len(plan) - 1

    gateway = random.randrange(tiers.clients, tiers.gateways)
    plan.append(Planned(client, (gateway,), gap, behind, job=jobs()))
    first = len(plan) - 1
    services = range(tiers.gateways, tiers.services)
    answers = []
    for service in random.sample(services, min(fan_out, len(services))):
        known = send(gateway, service, (first,))
        if random.random() < 0.5:
            store = random.randrange(tiers.services, tiers.stores)
            known = send(store, service, (send(service, store, (known,)),))
        answers.append(send(service, gateway, (known,)))
    send(gateway, client, tuple(answers))
    return first


WORKLOADS: dict[str, Callable[[Scenario, int], Plan]] = {
    "random": _random,
    "broadcast": _broadcast,
    "requests": _requests,
}
