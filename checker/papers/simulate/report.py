"""The output of a simulation on the terminal: progress, and a table at the end."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence

from attrs import define, field

from antecede.checker.papers.simulate.figures import Grid
from antecede.checker.papers.simulate.scenario import written
from antecede.checker.papers.simulate.statistics import (
    CONTROL_EACH,
    Estimate,
    cell_of,
    medians,
    speedups,
    varied,
)
from antecede.checker.render.prose import aligned
from antecede.checker.render.terminal import elapsed, wrapped
from antecede.checker.render.ticker import Ticker, fitting
from antecede.checker.support.amounts import counted
from antecede.checker.sweep.kept import Row

COLUMNS = {
    "execution_ns": "execution",
    "job_start_ns": "job start",
    "latency_p50_ns": "latency p50",
    "latency_p99_ns": "p99",
}

LEGEND = {
    "execution, ms": "execution: time from the start of a run to its last receive",
    "job start, ms": ("job start: time from the start of a run to the start of a job, on average"),
    "latency p50, ms": (
        "latency: time from the causal-send of a message to its delivery; p50 is the median, and\n"
        "  99 % of the deliveries take at most p99"
    ),
    "control B/message": "control B/message: bytes per message that are not payload",
    " [": "[a, b]: 95 % confidence interval of the median before it",
}
"""A text that occurs in the table, such as the title of a column -> its explanation."""


@define(eq=False)
class RunProgress:
    """Shows how far the runs are."""

    runs: int
    ticker: Ticker
    now: Callable[[], float] = time.monotonic
    done: int = 0
    wrong: int = 0
    began: float = field(init=False)

    def __attrs_post_init__(self) -> None:
        self.began = self.now()

    def __call__(self, row: Row) -> None:
        """Count a run that is done."""
        self.done += 1
        self.wrong += row["error"] is not None
        self.ticker.show(lambda width: self._line(row, width))

    def _line(self, row: Row, width: int) -> str:
        left = (self.now() - self.began) / self.done * (self.runs - self.done)
        wrong = f"{self.wrong} wrong" if self.wrong else ""
        latest = f"latest: {row['protocol']}, {row['actors']} actors, seed {row['seed']}"
        parts = (
            (0, f"{self.done:,} of {self.runs:,} runs"),
            (1, wrong),
            (2, f"about {elapsed(left)} left"),
            (3, latest),
        )
        return fitting(parts, width, ", ")


def table(rows: Sequence[Row], grid: Grid) -> str:
    """Return a line per point and protocol: medians over the seeds, with their 95 % intervals."""
    axes = varied(grid.scenarios)
    found = {measure: medians(rows, measure) for measure in COLUMNS}
    measures = [measure for measure in COLUMNS if found[measure]]
    first, *others = grid.protocols
    faster = {other: speedups(rows, "execution_ns", first, other) for other in others}
    head = [*axes, "protocol", *(f"{COLUMNS[m]}, ms" for m in measures), "control B/message"]
    lines = [[*head, *(ratio_name(other, first) for other in others)]]
    control = medians(rows, CONTROL_EACH)
    for scenario in grid.scenarios:
        cell = cell_of(scenario)
        for protocol in grid.protocols:
            if (protocol, cell) not in control:
                continue
            point = [written(axis, getattr(scenario, axis)) for axis in axes]
            times = [
                interval(found[m].get((protocol, cell)), lambda x: f"{x / 1e6:.4g}")
                for m in measures
            ]
            ratios = [
                interval(faster[o].get(cell) if protocol == first else None, lambda x: f"{x:.3f}")
                for o in others
            ]
            each = f"{control[protocol, cell].median:.4g}"
            lines.append([*point, protocol, *times, each, *ratios])
    return aligned(lines)


def legend(shown_table: str) -> str:
    """Return the explanations of what a table shows."""
    return "\n".join(text for part, text in LEGEND.items() if part in shown_table)


def ratio_name(of: str, by: str) -> str:
    """Return the name of the ratio of two protocols' execution times."""
    return f"{of} / {by}, times"


def faster(rows: Sequence[Row], grid: Grid) -> list[str]:
    """Return what the ratios of the table are, and at how many points which protocol is faster."""
    first, *others = grid.protocols
    lines = []
    for other in others:
        ratios = speedups(rows, "execution_ns", first, other).values()
        if ratios:
            above, below = (sum(r.median > 1 for r in ratios), sum(r.median < 1 for r in ratios))
            lines.append(
                f"{ratio_name(other, first)}: the execution time of {other}, divided by the "
                f"execution time of {first} for the same program. "
                f"{_who_is_faster(first, other, above, below)}"
            )
    return ["\n".join(wrapped(line, "  ") for line in lines)] if lines else []


def _who_is_faster(first: str, other: str, above: int, below: int) -> str:
    """Return a sentence about the numbers of points at which each of two protocols is faster."""
    if above and below:
        return f"{first} is faster at {counted(above, 'point')}, and {other} at {below:,}."
    if not above and not below:
        return "Neither is faster."
    return f"{first if above else other} is faster."


def too_quick(claims: int) -> str:
    """Say why a quick figure leaves claims of the paper undecided, and what decides them."""
    return wrapped(
        f"--quick cannot decide {counted(claims, 'claim')} of the paper about this figure, because "
        "it runs smaller programs than the paper. Leave out --quick; --seeds 1 is enough."
    )


def interval(found: Estimate | None, shown: Callable[[float], str]) -> str:
    """Return a median with its interval, if there is one."""
    if found is None:
        return ""
    if found.low is None or found.high is None or found.low == found.high:
        return shown(found.median)
    return f"{shown(found.median)} [{shown(found.low)}, {shown(found.high)}]"


def wrong(rows: Sequence[Row]) -> list[str]:
    """Return a line per protocol and error: the number of runs with it, and one of them."""
    first: dict[tuple[str, str], Row] = {}
    counts: dict[tuple[str, str], int] = {}
    for row in rows:
        kind = row["protocol"], row["error"].partition(":")[0]
        first.setdefault(kind, row)
        counts[kind] = counts.get(kind, 0) + 1
    return [
        f"{protocol}: {counts[protocol, kind]:,} runs have no figures; with {row['actors']} "
        f"actors and seed {row['seed']}: {row['error']}"
        for (protocol, kind), row in first.items()
    ]


def violations(rows: Sequence[Row], *, figure: bool) -> list[str]:
    """Return a line for each protocol whose deliveries violate causality.

    In a paper's figure, such a protocol is a control.
    """
    counts: dict[str, tuple[int, int]] = {}
    for row in rows:
        violated, deliveries = counts.get(row["protocol"], (0, 0))
        counts[row["protocol"]] = violated + row["violations"], deliveries + row["deliveries"]
    role = "is a control" if figure else "does not keep causal order"
    return [
        f"{name} {role}: {violated:,} of its {deliveries:,} deliveries violate causality"
        for name, (violated, deliveries) in counts.items()
        if violated
    ]
