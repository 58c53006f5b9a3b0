"""Reports that people read, in full: one file per kind in `tests/golden`.

GOLDEN=write .venv/bin/python -m pytest tests/render    # writes them as they are today

Read the difference before you commit it. Tests of facts belong elsewhere: they should not quote
sentences.
"""

from __future__ import annotations

import os
import re
from pathlib import Path

FOLDER = Path(__file__).parent / "golden"

FIGURES = re.compile(r"\b\d[\d,.:]* (?:s|[MG]B)\b")
"""Times and amounts of memory, which differ from run to run."""


def check_golden(name: str, text: str) -> None:
    """Compare a report with its file."""
    file = FOLDER / f"{name}.txt"
    told = FIGURES.sub("…", text).rstrip("\n") + "\n"
    if os.environ.get("GOLDEN") == "write":
        FOLDER.mkdir(exist_ok=True)
        file.write_text(told, encoding="utf-8")
    assert file.read_text(encoding="utf-8") == told, f"{file.name}; see tests/goldens.py"
