"""Optional packages: a clear error when one is missing."""

from __future__ import annotations

import json
import shlex
import sys
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

from antecede.checker.support.errors import InputError

if TYPE_CHECKING:
    from importlib import metadata

PACKAGES = {
    "mcp": ("mcp", "the MCP SDK"),
    "pandas": ("pandas", "pandas"),
    "parquet": ("pyarrow", "PyArrow"),
    "pictures": ("vl_convert", "vl-convert"),
    "plot": ("matplotlib", "Matplotlib"),
    "prove": ("z3", "Z3"),
    "zstd": ("zstandard", "zstandard"),
}
"""Extra of this project -> the module that it brings, and the name of its package."""


REQUIRED = ("networkx", "numba", "numpy", "tqdm")
"""Packages of a complete installation without which a check in plain Python runs."""


def is_installed(extra: str) -> bool:
    """Return, without importing it, whether the package of an extra is installed."""
    return find_spec(PACKAGES[extra][0]) is not None


def check_installed(extra: str, what: str) -> None:
    """Check, without importing it, that the package of an extra is installed.

    `what` needs the package: an option or a file, as the subject of a sentence.

    Raises:
        InputError: the package is missing; the error says how to install it.
    """
    if not is_installed(extra):
        package = PACKAGES[extra][1]
        raise InputError(
            f"{what} needs {package}, which is not installed; "
            f"install it with: {install_command(extra)}"
        )


def install_command(extra: str) -> str:
    """Return the command that adds an extra to antecede, in the way antecede was installed."""
    # These take as long to import as a small command needs, and only an error needs them.
    from importlib import metadata
    from urllib.parse import urlsplit
    from urllib.request import url2pathname

    try:
        installed = metadata.distribution("antecede")
    except metadata.PackageNotFoundError:  # the sources are in PYTHONPATH
        return f"pip install {PACKAGES[extra][1].lower()}"
    packages = shlex.join(_requirements(installed, extra))
    environment = Path(sys.prefix)
    if (environment / "pipx_metadata.json").is_file():
        return f"pipx inject antecede {packages}"
    if (environment / "uv-receipt.toml").is_file():
        return f"uv pip install --python {shlex.quote(sys.executable)} {packages}"
    source = json.loads(installed.read_text("direct_url.json") or "{}")
    is_folder = "dir_info" in source
    folder = url2pathname(urlsplit(source["url"]).path) if is_folder else ""
    if any(part.startswith("archive-v") for part in environment.parts):
        origin = f"--from {shlex.quote(folder)} " if is_folder else ""
        return f"uvx {origin}--with {packages} antecede …"
    if not is_folder:
        return f"pip install 'antecede[{extra}]'"
    option = "--editable " if source["dir_info"].get("editable") else ""
    return f"{_pip()} install {option}{shlex.quote(f'{folder}[{extra}]')}"


def required(module: str | None) -> str | None:
    """Return how to install the package of a missing module that antecede always requires.

    None if antecede does not require it.
    """
    name = (module or "").partition(".")[0]
    return (
        f"{name}, which is not installed; install it with: {_pip()} install {name}"
        if name in REQUIRED
        else None
    )


def _requirements(installed: metadata.Distribution, extra: str) -> list[str]:
    """Return the packages that an extra of an installed project requires."""
    split = (each.partition(";") for each in installed.requires or ())
    return [
        package.strip()
        for package, _, marker in split
        if marker.replace('"', "'").strip() == f"extra == '{extra}'"
    ]


def _pip() -> str:
    """Return the command of pip for this environment, even if it is not active."""
    from importlib import metadata

    python = shlex.quote(sys.executable)
    has_pip = any(metadata.distributions(name="pip"))
    return f"{python} -m pip" if has_pip else f"VIRTUAL_ENV={shlex.quote(sys.prefix)} uv pip"
