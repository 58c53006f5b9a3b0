"""Plots the rows of the Cykas paper's Table 1 against messages per actor, on both engines.

python benchmarks/plot_table.py                    # docs/images/table1-*.svg and the data
python benchmarks/plot_table.py --max-seconds 300  # rows that take longer are left out
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
from typing import Any

import matplotlib as mpl
from plot import save
from run import HERE, machine

mpl.use("svg")
from matplotlib import pyplot

ROOT = HERE.parent
IMAGES = ROOT / "docs" / "images"
ENGINES = ("local", "spark")
MESSAGES = (1, 2, 3, 4)
STYLES = {"mfss": "o", "cykas-secret-mode": "s", "cykas": "^"}
LINES = {"local": "-", "spark": "--"}

Point = dict[str, Any]


def measured(history: str, max_seconds: float) -> list[Point]:
    """Return the rows that came to a verdict in time."""
    found: list[Point] = []
    given_up: set[tuple[str, str]] = set()
    for engine in ENGINES:
        for messages in MESSAGES:
            if all((engine, protocol) in given_up for protocol in STYLES):
                break
            options = ["--engine", engine, "--history", history, "--max-seconds", str(max_seconds)]
            command = ["table", "--bounds", f"3x{messages}", *options, "--format", "json"]
            done = subprocess.run(
                [sys.executable, "-m", "antecede", *command, "--quiet"],
                capture_output=True,
                text=True,
                check=False,
            )
            for row in json.loads(done.stdout)["rows"]:
                print(engine, messages, row["protocol"], row["verdict"], file=sys.stderr)
                if row["verdict"] == "INCOMPLETE":
                    given_up.add((engine, row["protocol"]))
                else:
                    found.append({"engine": engine, **row})
    return found


def figure(found: list[Point], value: str, label: str, about: str) -> None:
    """Write one figure: a line per protocol and engine."""
    mpl.rcParams["svg.hashsalt"] = "antecede"
    plot, axes = pyplot.subplots(figsize=(7, 4.5))
    for protocol, mark in STYLES.items():
        for engine, line in LINES.items():
            points = [p for p in found if (p["protocol"], p["engine"]) == (protocol, engine)]
            axes.plot(
                [p["messages"] for p in points],
                [p[value] for p in points],
                line + mark,
                label=f"{protocol}, {engine}",
            )
    axes.set_yscale("log")
    axes.set_xticks(MESSAGES)
    axes.set_xlabel("messages per actor, three actors")
    axes.set_ylabel(label)
    axes.set_title(about, fontsize=8)
    axes.grid(alpha=0.3)
    axes.legend(fontsize=8)
    plot.tight_layout()
    save(plot, IMAGES / f"table1-{value.partition('_')[0]}.svg")
    pyplot.close(plot)


def main() -> None:
    """Measure and draw, or draw what was measured before."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--history", default="clocks")
    parser.add_argument("--max-seconds", type=float, default=120)
    parser.add_argument("--redraw", action="store_true", help="from the data of the last time")
    arguments = parser.parse_args()
    data = HERE / "figures" / "table.json"
    if arguments.redraw:
        saved = json.loads(data.read_text(encoding="utf-8"))
    else:
        rows = measured(arguments.history, arguments.max_seconds)
        saved = {"machine": machine(), "history": arguments.history, "rows": rows}
        data.with_suffix(".new").write_text(json.dumps(saved, indent=1) + "\n", encoding="utf-8")
        data.with_suffix(".new").rename(data)
    about = f"{saved['history']}; {saved['machine']}"
    figure(saved["rows"], "unique_states", "unique states, without symmetry", about)
    figure(saved["rows"], "seconds", "seconds, with symmetry", about)


if __name__ == "__main__":
    main()
