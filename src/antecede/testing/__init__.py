"""For test suites: assertions about protocols, and `recorder`, which writes logs for an audit."""

from __future__ import annotations

from antecede.checker.api.check import assert_holds, assert_violated, check_spec

__all__ = ["assert_holds", "assert_violated", "check_spec"]
