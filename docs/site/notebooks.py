"""Runs the notebooks, so that those on the site have outputs. `mkdocs serve` does not run them."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any, Literal

from mkdocs.structure.files import File, Files

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))

from tests.notebooks import names, with_outputs  # noqa: E402 -- it is no package that is installed

_runs = True


def on_startup(*, command: Literal["build", "gh-deploy", "serve"], **_more: Any) -> None:
    """See whether the notebooks are to run."""
    global _runs
    _runs = command != "serve"


def on_files(files: Files, *, config: Any) -> Files:
    """Replace the notebooks by those with outputs."""
    for name in names() if _runs else ():
        place = f"notebooks/{name}.ipynb"
        if (stored := files.get_file_from_path(place)) is not None:
            files.remove(stored)
        files.append(File.generated(config, place, content=with_outputs(name)))
    return files
