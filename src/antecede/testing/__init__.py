"""For test suites: `check` asserts what a protocol does, `recorder` writes logs for an audit."""

from __future__ import annotations

from antecede.checker.testing import check

__all__ = ["check"]
