"""A plugin for pytest: `pytest specs/` runs each spec as a test.

A spec is a TOML file with a saved check: a protocol, the number of actors (participants) and
messages, and the expected verdict. Files that match the ini option `antecede_specs` are specs. By
default, these are the files `*.antecede.toml`. The plugin imports the rest of the checker only if
it runs a spec.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest


def pytest_addoption(parser: pytest.Parser) -> None:
    """Declare the ini option `antecede_specs`: the patterns of the files that are specs."""
    parser.addini(
        "antecede_specs",
        "patterns of the files that are specs, matched from the right: specs/*.toml",
        type="args",
        default=["*.antecede.toml"],
    )


def pytest_collect_file(file_path: Path, parent: pytest.Collector) -> pytest.Collector | None:
    """Return the test file for a path if the path matches `antecede_specs`, and None otherwise."""
    if not any(file_path.match(pattern) for pattern in parent.config.getini("antecede_specs")):
        return None
    return SpecFile.from_parent(parent, path=file_path)


class SpecFile(pytest.File):
    """A TOML file that contains a spec, a saved check. pytest collects one test from the file."""

    def collect(self) -> Iterator[pytest.Item]:
        """Yield the only test of the file, which makes the check that the file describes."""
        yield SpecItem.from_parent(self, name="spec")


class SpecItem(pytest.Item):
    """The test that makes the check of a spec, and fails if the result is not the expected one."""

    def runtest(self) -> None:
        """Make the check that the spec describes.

        Raises:
            AssertionError: the result is not the one that the spec expects.
            AntecedeError: the spec cannot be used, or the check could not be made.
        """
        from antecede.checker.api.check import check_spec

        check_spec(str(self.path))

    def repr_failure(self, excinfo: pytest.ExceptionInfo[BaseException], style: Any = None) -> Any:
        """Return the text that pytest shows if the test fails.

        If the result of the check is unexpected, the text is the report of the check. If the spec
        cannot be used, the text is the error. Other exceptions are shown with their traceback.
        """
        from antecede.checker.support.errors import AntecedeError

        if isinstance(excinfo.value, AssertionError | AntecedeError):
            return str(excinfo.value).strip()
        return super().repr_failure(excinfo, style)

    def reportinfo(self) -> tuple[Path, int | None, str]:
        """Return the file of the test, no line number, and a name such as "spec: a.toml"."""
        return self.path, None, f"spec: {self.path.name}"
