"""Optional packages: a clear error when one is missing."""

from __future__ import annotations

from importlib.util import find_spec

from antecede.checker.support.errors import InputError

PACKAGES = {
    "mcp": ("mcp", "the MCP SDK"),
    "pandas": ("pandas", "pandas"),
    "parquet": ("pyarrow", "PyArrow"),
    "pictures": ("vl_convert", "vl-convert"),
    "plot": ("matplotlib", "Matplotlib"),
    "prove": ("z3", "Z3"),
}
"""Extra of this project -> the module that it brings, and the name of its package."""


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
            f"install it with: pip install 'antecede[{extra}]'"
        )
