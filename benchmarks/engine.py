"""Writes the block of statistics in docs/engine.md.

python benchmarks/engine.py    # seconds
"""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from benchmarks.page import put  # noqa: E402 -- this folder is no package

PAGE = ROOT / "docs" / "engine.md"
LEFT_OUT = {
    "load factor",
    "dropped states",
    "dropped composites",
    "spilled bytes",
    "delivers",
    "checkpoints",
    "states per depth",
}
"""Lines of the output that the page does not explain."""


def command(page: str) -> list[str]:
    """Return the arguments of the command of the page that prints statistics."""
    (line,) = re.findall(r"^antecede (.* --statistics)$", page, re.MULTILINE)
    return str(line).split()


def block(output: str) -> str:
    """Return the lines of a report that the page shows, as a block of code."""
    entries = re.findall(r"^  ([a-z][a-z ]*): (.*\n(?:    .*\n)*)", output, re.MULTILINE)
    shown = [f"  {name}: {text}" for name, text in entries if name not in LEFT_OUT]
    return f"\n```text\n{''.join(shown)}```\n\n"


def main() -> None:
    """Run the command, and write its lines into the page."""
    arguments = command(PAGE.read_text(encoding="utf-8"))
    program = [sys.executable, "-m", "antecede", *arguments]
    ran = subprocess.run(program, capture_output=True, text=True, check=True)
    put(PAGE, {"statistics": block(ran.stdout)})


if __name__ == "__main__":
    main()
