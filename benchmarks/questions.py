"""Writes docs/map.md: which file answers which question about the code.

python benchmarks/questions.py    # a second

A module states the question that it answers at the end of its docstring: `Question: Where is …?`,
and after the question mark, if the file is large, what to look for in it.
"""

from __future__ import annotations

import argparse
import ast
import sys
from pathlib import Path

from attrs import frozen

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from antecede.checker.render.files import write_whole  # noqa: E402
from benchmarks.page import rendered  # noqa: E402 -- this folder is no package

PAGE = ROOT / "docs" / "map.md"
MARK = "\nQuestion: "


@frozen
class Row:
    """A question about the code, and where to look for its answer."""

    file: str
    question: str
    hint: str


def rows() -> list[Row]:
    """Return the questions that the modules of the checker answer, in the order of their files."""
    files = sorted((ROOT / "checker").rglob("*.py"))
    texts = ((file, file.read_text(encoding="utf-8")) for file in files)
    found = (row_in(file.relative_to(ROOT).as_posix(), text) for file, text in texts)
    return [row for row in found if row is not None]


def row_in(file: str, source: str) -> Row | None:
    """Return the question in the docstring of a module, or None."""
    if MARK not in source:
        return None
    _, mark, stated = (ast.get_docstring(ast.parse(source)) or "").partition(MARK)
    question, end, hint = " ".join(stated.split()).partition("?")
    if not mark:
        return None
    if not end or "\n\n" in stated:
        raise ValueError(f"{file}: the docstring must end with `Question: …?`, and hints after it")
    return Row(file, question + end, hint.strip())


def main() -> None:
    """Write the page."""
    argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0]).parse_args()
    write_whole(str(PAGE), rendered("map.md", rows=rows()))


if __name__ == "__main__":
    main()
