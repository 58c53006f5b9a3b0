"""Lets pytest collect specs: `pytest specs/` runs each of them as a test.

Specs are files that match the ini option `antecede_specs`, by default `*.antecede.toml`, so that
unrelated TOML files are skipped. The rest of the checker is imported on demand.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest


def pytest_addoption(parser: pytest.Parser) -> None:
    """Declare the ini option."""
    parser.addini(
        "antecede_specs",
        "patterns of the files that are specs, matched from the right: specs/*.toml",
        type="args",
        default=["*.antecede.toml"],
    )


def pytest_collect_file(file_path: Path, parent: pytest.Collector) -> pytest.Collector | None:
    """Collect a spec."""
    if not any(file_path.match(pattern) for pattern in parent.config.getini("antecede_specs")):
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
        from antecede.checker.api.check import check_spec

        check_spec(str(self.path))

    def repr_failure(self, excinfo: pytest.ExceptionInfo[BaseException], style: Any = None) -> Any:
        """Return the report instead of a traceback through the checker."""
        from antecede.checker.errors import AntecedeError

        if isinstance(excinfo.value, AssertionError | AntecedeError):
            return str(excinfo.value).strip()
        return super().repr_failure(excinfo, style)

    def reportinfo(self) -> tuple[Path, int | None, str]:
        """Return the location and the name of the test."""
        return self.path, None, f"spec: {self.path.name}"
