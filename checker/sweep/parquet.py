"""Writes the rows of a sweep as a Parquet file."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from antecede.checker.render.files import write_whole
from antecede.checker.semantics.question import Question
from antecede.checker.support.errors import InputError
from antecede.checker.support.settings import settings_of

_KINDS = {str: "string", int: "int32", tuple: "string"}

COLUMNS = {
    **{known.name: _KINDS[known.kind] for known in settings_of(Question)},
    "digest": "string",
    "verdict": "string",
    "vacuous": "string",
    "cannot_fail": "string",
    "violates": "string",
    "counterexample_length": "int32",
    "unique_states": "int64",
    "total_states": "int64",
    "depth": "int32",
    "seconds": "float64",
    "stopped_by": "string",
    "error": "string",
    "names_matter": "string",
}
"""Name -> type; the columns up to the verdict are never null."""

NEVER_NULL = list(COLUMNS).index("verdict") + 1


def write(
    rows: Sequence[dict[str, Any]],
    target: str,
    columns: Mapping[str, str] = COLUMNS,
    never_null: int = NEVER_NULL,
) -> None:
    """Write rows, in their order; a key that a row lacks is null.

    Args:
        rows: columns by name.
        target: the file.
        columns: name -> type; by default the columns of a sweep.
        never_null: the number of leading columns that every row has.

    Raises:
        InputError: the file cannot be written, or a row has a value of another type.
    """
    import pyarrow
    from pyarrow import parquet

    schema = pyarrow.schema(
        pyarrow.field(name, pyarrow.type_for_alias(kind), nullable=number >= never_null)
        for number, (name, kind) in enumerate(columns.items())
    )
    try:
        table = pyarrow.Table.from_pylist(list(rows), schema)
    except pyarrow.ArrowException as error:
        raise InputError(f"a row does not fit into {target!r}: {error}") from None
    buffer = pyarrow.BufferOutputStream()
    parquet.write_table(table, buffer)
    write_whole(target, buffer.getvalue().to_pybytes())
