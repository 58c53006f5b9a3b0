"""Executes the notebooks of docs/notebooks.

They are stored without outputs; `make site` adds the outputs, and `make notebooks` removes those of
your own session.
"""

from __future__ import annotations

import re
import sys
import tempfile
import warnings
from base64 import b64decode
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import Any

FOLDER = Path(__file__).resolve().parents[1] / "docs" / "notebooks"


def read(name: str) -> Any:
    """Return a notebook as it is stored."""
    nbformat: Any = import_module("nbformat")  # it has types for a part only

    return nbformat.read(FOLDER / f"{name}.ipynb", as_version=4)


def executed(
    name: str,
    folder: str | Path,
    *more: str,
    change: Callable[[str], str] = lambda source: source,
) -> Any:
    """Return a notebook after a fresh run in `folder`.

    Args:
        name: the name of its file, without the ending.
        folder: where its cells read and write files.
        more: the sources of further cells.
        change: changes the source of each cell before the run.

    Raises:
        CellExecutionError: a cell raised an exception.
    """
    with tempfile.TemporaryDirectory() as sockets, warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of libraries of Jupyter
        nbformat: Any = import_module("nbformat")  # it has types for a part only
        from nbclient import NotebookClient
        from traitlets.config import Config

        notebook = read(name)
        for cell in _code(notebook):
            cell.source, cell.outputs, cell.execution_count = change(cell.source), [], None
        notebook.cells += map(nbformat.v4.new_code_cell, more)
        place = {"transport": "ipc", "ip": f"{sockets}/kernel"}
        client = NotebookClient(
            notebook,
            timeout=None,
            startup_timeout=600,
            kernel_name="python3",
            shutdown_kernel="immediate",
            coalesce_streams=True,
            record_timing=False,
            resources={"metadata": {"path": str(folder)}},
            config=Config(AsyncKernelManager=place),
        )
        return client.execute()


def texts(notebook: Any) -> list[str]:
    """Return the text that each cell shows, without pictures and progress."""
    return ["".join(map(_text, _kept(cell))) for cell in _code(notebook)]


def _kept(cell: Any) -> list[Any]:
    """Return the outputs of a cell without its progress."""
    return [output for output in cell.outputs if output.get("name") != "stderr"]


def _text(output: Any) -> str:
    return str(output.get("text") or output.get("data", {}).get("text/plain", ""))


def pictures(notebook: Any) -> list[str]:
    """Return the pictures of all cells, as SVG."""
    shown = [output.get("data", {}) for cell in _code(notebook) for output in cell.outputs]
    return [
        b64decode(found).decode()
        for data in shown
        for found in re.findall(r"data:image/svg\+xml;base64,([^\"]+)", data.get("text/html", ""))
    ]


def _code(notebook: Any) -> list[Any]:
    return [cell for cell in notebook.cells if cell.cell_type == "code"]


def names() -> list[str]:
    """Return the names of all notebooks."""
    return sorted(file.stem for file in FOLDER.glob("*.ipynb"))


def with_outputs(name: str) -> str:
    """Return a notebook after a fresh run, as the text of a file."""
    with tempfile.TemporaryDirectory() as folder:
        notebook = executed(name, folder)
    for cell in _code(notebook):
        cell.outputs = _kept(cell)
    return _text_of(notebook)


def without_outputs(name: str) -> str:
    """Return a notebook as it is to be stored."""
    notebook = read(name)
    for cell in _code(notebook):
        cell.outputs, cell.execution_count = [], None
    return _text_of(notebook)


def _text_of(notebook: Any) -> str:
    nbformat: Any = import_module("nbformat")  # it has types for a part only

    notebook.metadata = {
        "kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"},
        "language_info": {"name": "python"},
    }
    return str(nbformat.writes(notebook)) + "\n"


def main() -> int:
    """Remove the outputs from all notebooks."""
    for name in names():
        (FOLDER / f"{name}.ipynb").write_text(without_outputs(name), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
