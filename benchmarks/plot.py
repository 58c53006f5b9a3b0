"""Plots states per second and memory per state against the bounds, from real runs.

python benchmarks/plot.py                    # figures/speed.json, figures/memory.json, and the data
python benchmarks/plot.py --max-seconds 60   # larger bounds are left out
"""

from __future__ import annotations

import argparse
import json
import sys
from typing import Any

from drawings import keep_chart
from page import lines_of
from run import FIXED_BYTES, HERE, QUICK, machine, run

from antecede.checker.papers.simulate.chart import Chart, Panel, Point
from antecede.checker.render.files import write_whole

FIGURES = HERE / "figures"
SERIES = {
    f"{protocol}, {history}, {threads} thread{'s' * (threads > 1)}": (
        f"{protocol} {{}} {history} --no-symmetry --threads {threads}"
    )
    for protocol in ("mfss", "cykas")
    for history in ("knowledge", "clocks")
    for threads in (1, 2)
}
BOUNDS = ("2x2", "2x3", "3x2", "2x4", "3x3", "4x2", "3x4")
LEAST = 0.08
"""The shortest run to plot, in seconds. The start dominates shorter runs."""


def measured(max_seconds: float) -> dict[str, list[dict[str, Any]]]:
    """Return, per series, a point for each of the bounds that fit into the time."""
    found: dict[str, list[dict[str, Any]]] = {}
    for name, row in SERIES.items():
        found[name] = []
        for bounds in BOUNDS:
            result = run(f"{row.format(bounds)} --max-seconds {max_seconds}")
            if result["verdict"] == "INCOMPLETE":
                print(f"{name}, {bounds}: more than {max_seconds:g} s, left out", file=sys.stderr)
                continue
            point = {key: result[key] for key in ("unique_states", "total_states", "seconds")}
            found[name].append(
                {"bounds": bounds, **point, "peak_memory_bytes": result["peak_memory_bytes"]}
            )
            print(name, bounds, point, file=sys.stderr)
    return found


def drawn(found: dict[str, list[dict[str, Any]]], about: str) -> None:
    """Write both figures."""
    speed, memory = dict[str, list[Point]](), dict[str, list[Point]]()
    for name, points in found.items():
        speed[name], memory[name] = [], []
        for p in points:
            unique, peak = p["unique_states"], p["peak_memory_bytes"]
            rate = p["total_states"] / p["seconds"] / 1e6
            if p["seconds"] >= LEAST:
                speed[name].append(Point(unique / 1e6, rate, label=p["bounds"]))
            if peak > 2 * FIXED_BYTES:
                each = (peak - FIXED_BYTES) / unique
                memory[name].append(Point(unique / 1e6, each, label=p["bounds"]))
    figure(speed, "million total states per second", "speed", about)
    figure(memory, "bytes per unique state, beyond 300 MB", "memory", about)


def figure(series: dict[str, list[Point]], label: str, name: str, about: str) -> None:
    """Write one figure: a panel per protocol and history, and in it a line per number of threads.

    The points are labelled with the bounds.
    """
    lines: dict[str, dict[str, list[Point]]] = {}
    for title, points in series.items():
        panel, _, threads = title.rpartition(", ")
        lines.setdefault(panel, {})[threads] = sorted(points, key=lambda point: point.x)
    panels = [
        Panel(title, "million unique states", label, drawn, log="x", from_zero=True)
        for title, drawn in lines.items()
        if any(drawn.values())
    ]
    keep_chart(Chart(about, panels), FIGURES / f"{name}.json")


def main() -> None:
    """Measure and draw, or draw earlier measurements."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--max-seconds", type=float, default=30)
    parser.add_argument("--redraw", action="store_true", help="from the data of the last time")
    arguments = parser.parse_args()
    FIGURES.mkdir(exist_ok=True)
    data = FIGURES / "plot.json"
    if arguments.redraw:
        saved = json.loads(data.read_text(encoding="utf-8"))
    else:
        run(QUICK[0])  # compiles the kernels if necessary
        saved = {"machine": machine(), "series": measured(arguments.max_seconds)}
        write_whole(str(data), lines_of(saved, 3) + "\n")
    drawn(saved["series"], saved["machine"])


if __name__ == "__main__":
    main()
