"""Lets pytest collect specs: `pytest specs/` runs every TOML file that is one as a test.

A TOML file is a spec if it names a protocol. Nothing else of the checker is imported before.
"""

from __future__ import annotations

import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest


def pytest_collect_file(file_path: Path, parent: pytest.Collector) -> pytest.Collector | None:
    """Collect a spec."""
    if file_path.suffix != ".toml" or file_path.name == "pyproject.toml":
        return None
    try:
        table = tomllib.loads(file_path.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return None
    if not isinstance(table.get("protocol"), str):
        return None
    return SpecFile.from_parent(parent, path=file_path)


class SpecFile(pytest.File):
    """A file with a spec."""

    def collect(self) -> Iterator[pytest.Item]:
        """Yield its only test."""
        yield SpecItem.from_parent(self, name="spec")


class SpecItem(pytest.Item):
    """The check that a spec describes."""

    def runtest(self) -> None:
        """Check it."""
        from antecede.checker.testing import check_spec

        check_spec(str(self.path))

    def repr_failure(self, excinfo: pytest.ExceptionInfo[BaseException], style: Any = None) -> Any:
        """Return the report; a traceback through the checker would help nobody."""
        from antecede.checker.errors import AntecedeError

        if isinstance(excinfo.value, AssertionError | AntecedeError):
            return str(excinfo.value).strip()
        return super().repr_failure(excinfo, style)

    def reportinfo(self) -> tuple[Path, int | None, str]:
        """Return where the test stands, and its name."""
        return self.path, None, f"spec: {self.path.name}"
