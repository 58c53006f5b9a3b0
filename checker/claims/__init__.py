"""What the papers claim, as data, and what checks say of it.

A claim is a record: where it stands, what it says in our words, and the checks and measurements
that decide it within bounds. `SOURCES` has those of every paper; `checker.claims.judge` runs them.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from antecede.checker.claims import cykas, hybrid, matrix, mf, tree
from antecede.checker.claims.claim import Source

SOURCES: Mapping[str, Source] = MappingProxyType(
    {module.SOURCE.name: module.SOURCE for module in (hybrid, cykas, mf, matrix, tree)}
)
"""Name -> source, in the order in which they are reported."""
