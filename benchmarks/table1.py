"""Writes benchmarks/table1.md: the Cykas paper's Table 1 in all encodings on both engines.

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

from page import rendered

from antecede.checker.papers.claims.table import NOTE
from antecede.checker.render.files import write_whole

ROOT = Path(__file__).resolve().parent.parent
RUNS = (
    ("Local engine, `knowledge`", "--history knowledge --no-symmetry"),
    ("Local engine, `knowledge`, with symmetry", "--history knowledge"),
    ("Local engine, `clocks`", "--history clocks --no-symmetry"),
    (
        "Local engine, `full`",
        "--history full --no-symmetry --max-memory 17G --max-seconds 600",
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
    parser.add_argument("--output", type=Path, default=ROOT / "benchmarks" / "table1.md")
    parser.add_argument("--only", default="", help="only sections with this in the title")
    arguments = parser.parse_args()
    parts = [rendered("table1.md", date=time.strftime("%Y-%m-%d"))]
    before = sections(arguments.output)
    for title, options in RUNS:
        section = before.pop(title, None)
        if arguments.only in title:
            print(title, file=sys.stderr, flush=True)
            section = f"## {title}\n\n{table(arguments.bounds, options)}"
        parts += [] if section is None else [section]
    parts += before.values()  # made by hand
    write_whole(str(arguments.output), "\n".join(parts))


if __name__ == "__main__":
    main()
