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

from antecede.checker.claims.table import NOTE

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
HEAD = """# Table 1 of the Cykas paper

Section 4 of the [Cykas paper](papers.md) checks three protocols, each with three actors and three
messages per actor on an unordered network. Its Table 1 shows the results. The authors used
Stateright, another model checker, on 96 threads. This page compares their table with ours. The full
table takes long. The following command makes a smaller table, with two messages per actor, in
seconds:

```sh
antecede table --bounds 3x2
```

`python benchmarks/table1.py` wrote this page, most recently on {date}. Each section begins with
the command that made its table. The last sections, whose titles begin with "By hand", show single
checks that the script does not run.

**Result.** Wherever our search reached a verdict, it is the verdict of the paper. The numbers of
states differ from the paper's, because the paper does not say how sends are triggered or what its
history records. Three choices in our model change the number of states:

* **Sends.** In our model a causal-send is one transition, including the choice of the destination.
  A longest run of MFSS has nine causal-sends, nine receptions of messages and nine receptions of
  acknowledgements. With the initial state its depth is 28. The paper's depth is 37, which is nine
  more, as if each of the nine sends took two transitions. With `--sends split` each send takes two
  transitions, and our depth is 37, too. [Longest runs](#by-hand-longest-runs) compares the depths
  of all rows.
* **History.** The history is the part of a state that records past events, so that antecede can
  judge deliveries. `full` records the vector clocks of all actors and messages, and the order of
  all deliveries. `clocks` forgets the order of past deliveries.
  `knowledge` keeps only facts that can still matter. All three give the same verdicts ([the
  model](model.md)), but they distinguish different numbers of states. The paper has 527 million
  unique states for MFSS, which is closest to our number under `full`.
* **Clocks.** Our clocks normally tick when the application hands over a message. With
  `--clock-at network-send` they tick when the message leaves the actor. If a message
  waits in its sender's buffer, its clock then also counts the deliveries during the wait. The
  search meets fewer different states.

**How close is our model?** With `--sends split --clock-at network-send`, MFSS has the paper's depth
and also the paper's ratio of total to unique states, 2.93. This is weak evidence that the models
are equal, because the counts themselves differ, and not by a common factor: the paper has 1.43
times our unique states for MFSS, but 0.39 times ours for Cykas (527 million to 368 million, and
1,945 million to 4,937 million). So at least one rule of the models differs, and we do not know
which. [The encodings that were tried](#by-hand-the-encodings-that-were-tried) lists their counts,
and [four questions](#by-hand-questions-that-would-settle-it) would settle it.

All counts in the tables are numbers of all states, even if the search used symmetry. If a protocol
is violated, our search stops at the end of the level with the first violation, and the row counts
the states up to there. Stateright stops wherever its threads are at that moment, so the paper's
counts for the violated protocol cannot be compared with ours.

![Unique states against messages per actor](images/table1-unique.svg)

![Seconds against messages per actor](images/table1-seconds.svg)

`python benchmarks/plot_table.py --max-seconds 45` drew these pictures. They leave out checks that
took longer than 45 seconds.
"""


def table(bounds: str, options: str) -> str:
    """Return the output of the command, as Markdown."""
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
    printed = done.stdout.strip().removesuffix(NOTE).strip()  # the head of the page has the note
    return f"`antecede table --bounds {bounds} {options}`\n\n{printed}\n"


def sections(page: Path) -> dict[str, str]:
    """Return the sections of an existing page by title."""
    text = page.read_text(encoding="utf-8") if page.exists() else ""
    matches = re.finditer(r"^## ([^\n]*)\n.*?(?=^## |\Z)", text, re.M | re.S)
    return {match[1]: match[0].rstrip() + "\n" for match in matches}


def main() -> None:
    """Run everything; write the page at the end, whole or not at all."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--bounds", default="3x3")
    parser.add_argument("--output", type=Path, default=ROOT / "docs" / "table1.md")
    parser.add_argument("--only", default="", help="only sections with this in the title")
    arguments = parser.parse_args()
    parts = [HEAD.format(date=time.strftime("%Y-%m-%d"))]
    before = sections(arguments.output)
    for title, options in RUNS:
        section = before.pop(title, None)
        if arguments.only in title:
            print(title, file=sys.stderr, flush=True)
            section = f"## {title}\n\n{table(arguments.bounds, options)}"
        parts += [] if section is None else [section]
    parts += before.values()  # made by hand
    temporary = arguments.output.with_suffix(".new")
    temporary.write_text("\n".join(parts), encoding="utf-8")
    temporary.rename(arguments.output)


if __name__ == "__main__":
    main()
