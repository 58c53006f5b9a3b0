"""Writes the blocks of pages that show what a command prints today.

python benchmarks/blocks.py    # seconds

A block stands between two marks, and shows the output of the last command before it.
"""

from __future__ import annotations

import argparse
import re
import shlex
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from benchmarks.page import put  # noqa: E402 -- this folder is no package

UNEXPLAINED = {
    "load factor",
    "dropped states",
    "dropped composites",
    "spilled bytes",
    "delivers",
    "checkpoints",
    "states per depth",
}
"""Lines of the statistics that docs/engine.md does not explain."""
TIMES = re.compile(r"\d+\.\d+, \d+% of the time|\bin [\d.:]+( s)?( and [\d.]+ [MG]B)?(?=[ .])")
"""Figures that differ from run to run."""


def statistics(output: str) -> str:
    """Return the lines of statistics in a report, without those of UNEXPLAINED."""
    entries = re.findall(r"^  ([a-z][a-z ]*): (.*\n(?:    .*\n)*)", output, re.MULTILINE)
    return "".join(f"  {name}: {text}" for name, text in entries if name not in UNEXPLAINED)


BLOCKS: dict[tuple[str, str], Callable[[str], str]] = {
    ("docs/engine.md", "statistics"): statistics,
    ("docs/tutorial.md", "report"): str,
}
"""A page and the name of a block -> the part of the output that the block shows."""


def command(page: str, name: str) -> list[str]:
    """Return the arguments of the last command before a block."""
    before = page.partition(f"<!-- {name} -->")[0]
    return shlex.split(re.findall(r"^antecede (.*)$", before, re.MULTILINE)[-1], comments=True)


def block(page: str, name: str, output: str) -> str:
    """Return a block with the output of its command."""
    return f"\n```text\n{BLOCKS[page, name](output)}```\n\n"


def main() -> None:
    """Run the commands, and write what they print into the pages."""
    argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0]).parse_args()
    for page, name in BLOCKS:
        arguments = command((ROOT / page).read_text(encoding="utf-8"), name)
        program = [sys.executable, "-m", "antecede", *arguments]
        ran = subprocess.run(program, capture_output=True, text=True, check=False, cwd=ROOT)
        if ran.returncode not in (0, 1):
            raise SystemExit(ran.stderr)
        put(ROOT / page, {name: block(page, name, ran.stdout)})


if __name__ == "__main__":
    main()
