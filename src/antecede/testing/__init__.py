"""Functions for test suites: they fail a test if a protocol does not behave as expected.

`assert_holds` and `assert_violated` check a protocol, and `check_spec` makes a saved check. The
module `antecede.testing.adapter` connects real code to the checker, and `antecede.testing.recorder`
writes logs for `antecede audit`.
"""

from __future__ import annotations

from antecede.checker.api.check import assert_holds, assert_violated, check_spec

__all__ = ["assert_holds", "assert_violated", "check_spec"]
