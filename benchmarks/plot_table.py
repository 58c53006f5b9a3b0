"""Plots the rows of the Cykas paper's Table 1 against messages per actor, on both engines.

python benchmarks/plot_table.py                    # docs/images/table1-*.json and the data
python benchmarks/plot_table.py --max-seconds 300  # rows that take longer are left out
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
from collections.abc import Mapping
from typing import Any

from drawings import keep_chart
from page import lines_of
from run import HERE, machine

from antecede.checker.papers.simulate.chart import Chart, Panel, Point
from antecede.checker.render.files import write_whole

ROOT = HERE.parent
IMAGES = ROOT / "docs" / "images"
ENGINES = ("local", "spark")
MESSAGES = (1, 2, 3, 4)
PROTOCOLS = ("mfss", "cykas-secret-mode", "cykas")

Result = dict[str, Any]


def measured(history: str, max_seconds: float) -> list[Result]:
    """Return the rows with a verdict within the time limit."""
    found: list[Result] = []
    given_up: set[tuple[str, str]] = set()
    for engine in ENGINES:
        for messages in MESSAGES:
            if all((engine, protocol) in given_up for protocol in PROTOCOLS):
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


def series(rows: list[Result], value: str) -> dict[str, list[Point]]:
    """Return a line per protocol."""
    return {
        protocol: [
            Point(row["messages"], row[value]) for row in rows if row["protocol"] == protocol
        ]
        for protocol in PROTOCOLS
    }


def figure(panels: Mapping[str, list[Result]], value: str, label: str, about: str) -> None:
    """Write one figure: a panel per title, and in it a line per protocol.

    Engines have panels of their own, because lines of equal values would cover each other.
    """
    across = "messages per actor, three actors"
    drawn = [
        Panel(title, across, label, series(rows, value), log="y", ticks=MESSAGES)
        for title, rows in panels.items()
    ]
    file = IMAGES / f"table1-{value.partition('_')[0]}.json"
    keep_chart(Chart(about, drawn, inches=(7, 4.5)), file)


def counts(rows: list[Result]) -> list[Result]:
    """Return one row per question, after a comparison of the engines' counts."""
    found: dict[tuple[str, int], Result] = {}
    for row in rows:
        first = found.setdefault((row["protocol"], row["messages"]), row)
        if first["unique_states"] != row["unique_states"]:
            raise SystemExit(f"the engines differ: {first}, {row}")
    return list(found.values())


def main() -> None:
    """Measure and draw, or draw earlier measurements."""
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
        write_whole(str(data), lines_of(saved, 2) + "\n")
    about = f"{saved['history']}; {saved['machine']}"
    rows = saved["rows"]
    by_engine = {each: [row for row in rows if row["engine"] == each] for each in ENGINES}
    counted = {"both engines": counts(rows)}
    figure(counted, "unique_states", "unique states, without symmetry", about)
    figure(by_engine, "seconds", "seconds, with symmetry", about)


if __name__ == "__main__":
    main()
