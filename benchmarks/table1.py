"""Writes docs/table1.md: the Cykas paper's Table 1 in all encodings on both engines.

python benchmarks/table1.py              # about an hour on two cores
python benchmarks/table1.py --bounds 3x2 # seconds: does everything still run?
"""

from __future__ import annotations

import argparse
import re
import subprocess
import sys
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
RUNS = (
    ("Local engine, `knowledge`", "--history knowledge --no-symmetry"),
    ("Local engine, `knowledge`, with symmetry", "--history knowledge"),
    ("Local engine, `clocks`", "--history clocks --no-symmetry"),
    (
        "Local engine, `full`",
        "--history full --no-symmetry --no-traces --memory sweep-line --max-memory 17G "
        "--max-seconds 600",
    ),
    (
        "Local engine, `full`, with symmetry",
        "--history full --symmetry --no-traces --threads 2 --max-memory 17G",
    ),
    (
        "Local engine, `full`, variants of the model: sends split, clocks at the network-send",
        "--history full --sends split --clock-at network-send --no-symmetry --no-traces "
        "--memory sweep-line --max-memory 17G --max-seconds 480",
    ),
    ("Spark, two cores of the same machine, `knowledge`", "--engine spark --history knowledge"),
    (
        "Spark, two cores of the same machine, `clocks`",
        "--engine spark --history clocks --max-seconds 300",
    ),
    (
        "Spark, two cores of the same machine, `full`",
        "--engine spark --history full --max-seconds 60",
    ),
)
HEAD = """# The verification table of the Cykas paper

Table 1 of the paper (section 4): three protocols, three actors, three messages each, an unordered
network; the paper's figures were made with Stateright on 96 threads. `antecede table` makes
ours. This page is the output of `python benchmarks/table1.py`, {date}; each table says with which
command it was made.

All verdicts that were reached are the paper's. The counts are not, and need not be: the paper
does not say how an application's sends are triggered, nor what its history records, and both
change the number of states:

* Here a causal-send, with the choice of its destination, is one transition, so a longest run of
  MFSS has nine causal-sends, nine receptions of messages and nine of acknowledgements: depth 28
  with the initial state. The paper's 37 is nine more, as if each send took two transitions;
  `--sends split` makes it so.
* `full` records clocks, all stamps and the order of all deliveries, `clocks` forgets the past
  order of deliveries, `knowledge` keeps what can still matter. All three judge the same
  (docs/model.md). The paper's 527 million unique states of MFSS are nearest to our `full`.
* Clocks here tick when the application hands a message over. With `--clock-at network-send` they
  tick when it leaves, so that a message that waited knows what was delivered meanwhile; fewer
  states are told apart. With both variants MFSS has the paper's depth and its ratio of total to
  unique states, 2.93, so its model comes closest to the paper's.
* A violated row counts the states up to the end of the level in which the first violation was
  found; Stateright stops in the middle, wherever its threads are.

![Unique states against messages per actor](images/table1-unique.svg)

![Seconds against messages per actor](images/table1-seconds.svg)

Drawn by `python benchmarks/plot_table.py --max-seconds 45`; rows that took longer are left out.
"""


def table(bounds: str, options: str) -> str:
    """Return what the command prints, as Markdown."""
    command = ["table", "--bounds", bounds, *options.split(), "--format", "markdown", "--quiet"]
    done = subprocess.run(
        [sys.executable, "-m", "antecede", *command],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode not in (0, 3):
        raise SystemExit(f"{command}: exit code {done.returncode}\n{done.stdout}{done.stderr}")
    return f"`antecede table --bounds {bounds} {options}`\n\n{done.stdout.strip()}\n"


def main() -> None:
    """Run everything; write the page at the end, whole or not at all."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--bounds", default="3x3")
    parser.add_argument("--output", type=Path, default=ROOT / "docs" / "table1.md")
    parser.add_argument("--only", default="", help="of the sections there, make these anew")
    arguments = parser.parse_args()
    parts = [HEAD.format(date=time.strftime("%Y-%m-%d"))]
    before = arguments.output.read_text(encoding="utf-8") if arguments.only else ""
    for title, options in RUNS:
        found = re.search(rf"^## {re.escape(title)}\n.*?(?=^## |\Z)", before, re.M | re.S)
        if arguments.only not in title:
            parts += [found[0].rstrip() + "\n"] if found else []
            continue
        print(title, file=sys.stderr, flush=True)
        parts.append(f"## {title}\n\n{table(arguments.bounds, options)}")
    temporary = arguments.output.with_suffix(".new")
    temporary.write_text("\n".join(parts), encoding="utf-8")
    temporary.rename(arguments.output)


if __name__ == "__main__":
    main()
