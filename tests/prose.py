"""`make lint`: finds what is wrong in any text, in pages and in printed texts.

    python -m tests.prose            # every page and every text that the program prints
    python -m tests.prose docs/ci.md # some files

The patterns find mistakes, not habits: a habit that a pattern counts is replaced by a worse one. In
Markdown, code is left out. In Python, the literals outside docstrings are the texts that the
program may print.
"""

from __future__ import annotations

import ast
import re
import sys
from collections.abc import Iterator
from pathlib import Path

from attrs import frozen

ROOT = Path(__file__).parents[1]

MISTAKES = {
    "a path of one machine": r"(?<![\w.~$}])/(?:root|work|home/\w+|Users/\w+)/\w",
    "a rate without its unit": (
        r"\b\d[\d,.]*(?: (?:thousand|million|billion))? (?:per second|a second|/ ?s)\b"
    ),
    "write 'forever'": r"\bfor ever\b",
}
"""Advice -> what it is about."""

PATTERNS = {advice: re.compile(mistake) for advice, mistake in MISTAKES.items()}

PAGES = ("*.md", "docs/*.md", "benchmarks/*.md")
PROGRAM = ("cli.py", "checker/**/*.py")
QUOTED = {"docs/style.md"}
"""Pages that quote bad examples."""


@frozen
class Place:
    """A text and the line where it begins."""

    file: Path
    line: int
    text: str


def places(file: Path) -> Iterator[Place]:
    """Yield the texts in a file that people read."""
    source = file.read_text(encoding="utf-8")
    yield from (_in_page if file.suffix == ".md" else _in_program)(file, source)


def _in_page(file: Path, source: str) -> Iterator[Place]:
    fenced = False
    for number, line in enumerate(source.splitlines(), 1):
        if line.lstrip().startswith("```"):
            fenced = not fenced
        elif not fenced and not line.startswith("    "):
            yield Place(file, number, re.sub(r"`[^`]*`", "X", line))


def _in_program(file: Path, source: str) -> Iterator[Place]:
    tree = ast.parse(source)
    expressions = [node.value for node in ast.walk(tree) if isinstance(node, ast.Expr)]
    docstrings = {id(value) for value in expressions if isinstance(value, ast.Constant)}
    if file.name == "cli.py" or file.parent.name == "commands":
        docstrings = set()  # docstrings of commands are help pages
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            if id(node) not in docstrings and node.value.count(" ") > 2:
                yield Place(file, node.lineno, re.sub(r"\s+", " ", node.value))


def hits(file: Path) -> Iterator[str]:
    """Yield a line for each mistake in a file."""
    for place in places(file):
        for advice, pattern in PATTERNS.items():
            for match in pattern.finditer(place.text):
                around = place.text[max(0, match.start() - 30) : match.end() + 30]
                yield f"{file}:{place.line}: {advice}: …{around}…"


def main(arguments: list[str]) -> int:
    """Print every hit; return 1 if there is one."""
    files = [Path(argument) for argument in arguments]
    if not files:
        found = [path for pattern in (*PAGES, *PROGRAM) for path in sorted(ROOT.glob(pattern))]
        files = [path.relative_to(ROOT) for path in found]
        files = [path for path in files if str(path) not in QUOTED]
    lines = [line for file in files for line in hits(ROOT / file)]
    print("\n".join(lines), end="\n" if lines else "")
    return int(bool(lines))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
