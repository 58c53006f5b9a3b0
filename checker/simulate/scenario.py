"""The parameters and assumptions of a simulated run, each with its name and its reason.

Times are whole nanoseconds, sizes are bytes, and bandwidths are bytes per second. A run is
therefore exact: equal arguments give equal rows, on every machine.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from typing import Any

import attrs
from attrs import frozen

from antecede.checker.errors import InputError, unknown

MS = 10**6
"""A millisecond."""

NANOSECONDS = {"ns": 1, "us": 10**3, "µs": 10**3, "ms": 10**6, "s": 10**9}
MULTIPLES = {"": 1, "k": 10**3, "K": 10**3, "M": 10**6, "G": 10**9}
UNLIMITED = 0
"""The bandwidth at which sending a packet takes no time."""

MOST_ACTORS, MOST_MESSAGES = 5_000, 1_000_000


def _assumed(
    default: Any,
    kind: str,
    says: str,
    reason: str = "",
    choices: Mapping[str, str] | None = None,
    others: tuple[Any, ...] = (),
) -> Any:
    """Return a field of `Scenario`.

    Args:
        default: the default value.
        kind: a key of `_NUMBERS`, or `name`.
        says: a description of the value.
        reason: the reason for the default; empty if a paper states the value.
        choices: for a name, the possible values and their meanings.
        others: alternative values for the tornado chart.
    """
    about = {"kind": kind, "says": says, "reason": reason, "choices": choices, "others": others}
    return attrs.field(default=default, metadata=about)


@frozen
class Scenario:
    """All parameters of a run except its protocol and its seed."""

    actors: int = _assumed(100, "count", "number of actors, which the papers call processes")
    messages: int = _assumed(100, "count", "number of messages that each actor causal-sends")
    bandwidth: int = _assumed(
        50_000,
        "rate",
        "bandwidth in bytes per second; --limits says which part of the network has it",
    )
    delay: int = _assumed(
        5_000_000,
        "time",
        "time that a packet travels from any actor to any other, after its transmission",
    )
    limits: str = _assumed(
        "uplink",
        "name",
        "the part of the network that has the bandwidth",
        "an actor has one network interface, and so control data takes time",
        {
            "uplink": "each actor sends one packet after another",
            "access": "each actor sends one packet after another and receives one after another",
            "link": "each ordered pair of actors has a link of its own",
            "shared": "all actors share one medium",
        },
        ("access", "link", "shared"),
    )
    control: str = _assumed(
        "pays",
        "name",
        "whether packets without a message use bandwidth",
        "they are packets like others",
        {"pays": "they do", "free": "they do not, and only --delay applies to them"},
        ("free",),
    )
    jitter: int = _assumed(
        0,
        "time",
        "extra random delay of each packet, uniform between 0 and this time",
        "not mentioned",
        others=(2_000_000,),
    )
    order: str = _assumed(
        "any",
        "name",
        "whether jitter may reorder the packets from one actor to another",
        "most protocols here do not need this order",
        {"any": "it may", "fifo": "it may not: a packet waits for the one before it"},
    )
    payload: int = _assumed(
        100,
        "size",
        "size in bytes of a message, without headers and control data",
        "a short message, as between services",
        others=(10, 1_000),
    )
    header: int = _assumed(
        28,
        "size",
        "size in bytes of the headers of each packet",
        "IPv4 and UDP: 20 + 8",
        others=(0, 60),
    )
    integer: int = _assumed(
        4,
        "size",
        "size in bytes of an integer in control data",
        "a machine word of 32 bits",
        others=(1, 8),
    )
    flag: int = _assumed(1, "size", "size in bytes of a truth value in control data", "a byte")
    workload: str = _assumed(
        "random",
        "name",
        "which actors a message goes to",
        "as the Cykas paper describes it",
        {
            "random": "to any one other actor; see --hotspots",
            "broadcast": "to all other actors",
            "requests": "clients send requests through gateways to services, which answer",
        },
    )
    hotspots: float = _assumed(
        0.0,
        "share",
        "share of the actors that are hotspots: actors that get more messages than others",
    )
    hot_share: float = _assumed(
        0.8, "share", "share of all messages that go to hotspots, if there are hotspots"
    )
    interval: int = _assumed(10_000_000, "time", "mean time between two causal-sends of an actor")
    spacing: str = _assumed(
        "fixed",
        "name",
        "distribution of the times between two causal-sends",
        "the plainest reading",
        {
            "fixed": "always the same",
            "uniform": "uniform between 0 and twice the mean",
            "exponential": "exponential",
        },
        ("uniform", "exponential"),
    )
    start: str = _assumed(
        "staggered",
        "name",
        "when actors start to send",
        "actors have no clock in common",
        {"staggered": "each at a random time in the first interval", "together": "all at once"},
        ("together",),
    )
    reacting: float = _assumed(
        0.0,
        "share",
        "share of the causal-sends that wait until the latest message to their actor is delivered",
        "the Cykas paper's programs are partially ordered sends; for its random workloads it "
        "names no order except time",
        others=(0.1, 0.5),
    )
    job_share: float = _assumed(
        0.0, "share", "share of the messages that start a job, which keeps the receiver busy"
    )
    job_length: int = _assumed(25_000_000, "time", "mean length of a job")
    job_lengths: str = _assumed(
        "fixed",
        "name",
        "distribution of the lengths of jobs",
        "Figure 5 names lengths; Figure 6 says normal",
        {
            "fixed": "all the same",
            "normal": "normal with --job-deviation, cut off at zero",
            "exponential": "exponential",
        },
        ("normal", "exponential"),
    )
    job_deviation: int = _assumed(
        5_000_000,
        "time",
        "standard deviation of the lengths of jobs, with --job-lengths normal",
        "a fifth of Figure 6's mean; not stated",
        others=(0, 12_500_000),
    )
    busy: str = _assumed(
        "process",
        "name",
        "the part of an actor that a job blocks",
        "an actor has one thread, so a job delays its communication",
        {
            "process": "all of it: the actor receives and sends nothing meanwhile",
            "application": "its application: the protocol continues, and causal-sends wait",
            "background": "nothing: jobs run one after another in the background",
        },
        ("application", "background"),
    )
    handling: int = _assumed(
        0, "time", "time that an actor is busy with each message delivered to it", "not mentioned"
    )
    fan_out: int = _assumed(
        3, "count", "number of services that a gateway asks for each request (--workload requests)"
    )
    timeout: int = _assumed(
        1_000_000_000,
        "time",
        "time after which a protocol that retransmits sends a packet again",
        "a hundred round trips: nothing is lost here",
    )


FIELDS = {field.name: field for field in attrs.fields(Scenario)}


def parsed(name: str, text: str) -> Any:
    """Return the value of a field that a user wrote as text.

    Raises:
        InputError: the field cannot have this value.
    """
    kind, choices = FIELDS[name].metadata["kind"], FIELDS[name].metadata["choices"]
    text = text.strip()
    if kind == "name":
        if text not in choices:
            raise unknown(name.replace("_", " "), text, choices)
        return text
    return _NUMBERS[kind](name.replace("_", " "), text)


def parsed_list(name: str, text: str) -> list[Any]:
    """Return the values of a field that a user wrote as a list such as `25,50`.

    Raises:
        InputError: the field cannot have one of these values.
    """
    return [parsed(name, part) for part in text.split(",") if part.strip()]


def _quantity(text: str, units: Mapping[str, int]) -> float | None:
    """Return a number times its unit; None if the text is something else."""
    match = re.fullmatch(r"([0-9]+(?:\.[0-9]+)?) ?([^0-9. ]*)", text)
    if match is None or len(match[1]) > 20 or match[2] not in units:
        return None
    return float(match[1]) * units[match[2]]


def _count(name: str, text: str) -> int:
    least, most = (2, MOST_ACTORS) if name == "actors" else (1, MOST_MESSAGES)
    if not re.fullmatch("[0-9]{1,9}", text) or not least <= int(text) <= most:
        raise InputError(f"{name} is {text!r}; give a whole number from {least} to {most:,}")
    return int(text)


def _time(name: str, text: str) -> int:
    value = 0.0 if text == "0" else _quantity(text, NANOSECONDS)
    if value is None or value > 10**18:
        raise InputError(f"{name} is {text!r}; give a time such as 500us, 12.5ms or 1s")
    return round(value)


def _size(name: str, text: str) -> int:
    value = _quantity(text.removesuffix("B"), MULTIPLES)
    if value is None or value > 10**12:
        raise InputError(f"{name} is {text!r}; give bytes, such as 100 or 1k")
    return round(value)


def _rate(name: str, text: str) -> int:
    if text == "unlimited":
        return UNLIMITED
    rate = round(_quantity(re.sub("(B|B/s|Bps)$", "", text), MULTIPLES) or 0)
    if not 1 <= rate <= 10**12:
        raise InputError(
            f"{name} is {text!r}; give bytes per second, such as 20k or 5M, or unlimited"
        )
    return rate


def _share(name: str, text: str) -> float:
    value = _quantity(text.removesuffix("%"), {"": 1})
    value = None if value is None else value / 100 if text.endswith("%") else value
    if value is None or not 0 <= value <= 1:
        raise InputError(f"{name} is {text!r}; give a share such as 10% or 0.1")
    return value


_NUMBERS: Mapping[str, Any] = {
    "count": _count,
    "time": _time,
    "size": _size,
    "rate": _rate,
    "share": _share,
}


def written(name: str, value: Any) -> str:
    """Return a value as a short text, which `parsed` can read."""
    kind = FIELDS[name].metadata["kind"]
    if kind == "time":
        unit = next((u for u in ("s", "ms", "us") if value >= NANOSECONDS[u]), "ns")
        return f"{_plain(value / NANOSECONDS[unit])}{unit}" if value else "0"
    if kind in ("rate", "size"):
        if kind == "rate" and value == UNLIMITED:
            return "unlimited"
        unit = next((u for u in ("G", "M", "k") if value >= MULTIPLES[u]), "")
        return f"{_plain(value / MULTIPLES[unit])}{unit}"
    if kind == "share":
        return f"{_plain(value * 100)}%"
    return str(value)


def _plain(value: float) -> str:
    return f"{value:.12g}" if math.isfinite(value) else str(value)
