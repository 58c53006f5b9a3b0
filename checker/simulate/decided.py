"""All claims about time and sizes, decided by files of rows."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from antecede.checker.errors import InputError
from antecede.checker.simulate import claims_cykas, claims_hybrid
from antecede.checker.simulate.claims import Decided, decide
from antecede.checker.simulate.experiment import kept_in
from antecede.checker.sweep.kept import Row

CLAIMS = (*claims_cykas.CLAIMS, *claims_hybrid.CLAIMS)


def decided_by(files: Sequence[str]) -> list[Decided]:
    """Decide all claims by the rows of files; a run that several have counts once.

    Raises:
        InputError: a file cannot be read, or holds something else.
    """
    rows: dict[tuple[Any, ...], Row] = {}
    for name in files:
        if not os.path.isfile(name):
            raise InputError(
                f"there is no file {name!r}; make rows with antecede simulate --figure"
            )
        kept = kept_in(Path(name))
        rows |= {kept.key(row): row for row in kept.rows() if row["error"] is None}
    _check_one_code(rows.values())
    return [decide(claim, list(rows.values())) for claim in CLAIMS]


def _check_one_code(rows: Iterable[Row]) -> None:
    """Refuse rows that different versions of a protocol's code made, for they do not compare."""
    codes: dict[str, set[str]] = {}
    for row in rows:
        codes.setdefault(row["protocol"], set()).add(row["sources"])
    mixed = [name for name, found in codes.items() if len(found) > 1]
    if mixed:
        raise InputError(
            f"rows of {mixed[0]} are from different versions of its code; give files of one version"
        )
