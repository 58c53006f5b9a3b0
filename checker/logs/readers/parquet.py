"""Logs in Parquet files: each row becomes a line with a JSON object, which one parser reads."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Sequence, Set
from typing import Any

from attrs import define, field

MAGIC = b"PAR1"

ROWS = 1 << 16
"""The most rows in memory at once."""

SPECIAL = r'["\\\x00-\x1f\x7f]'
"""Matches characters that must be escaped in a JSON text."""


def row_counts(path: str) -> list[int]:
    """Return the number of rows in each row group of a file."""
    from pyarrow import parquet

    about = parquet.ParquetFile(path).metadata
    return [about.row_group(group).num_rows for group in range(about.num_row_groups)]


@define(eq=False)
class ParquetLines:
    """The rows of a Parquet file as bytes of lines, with the interface of a file.

    Attributes:
        groups: the row groups to read, in order; None: all.
        used: the names of the fields of an event. A column with such a name must have a type that
            is read. A null in it is written, unless the field may be missing.
        optional: the name in `used` that may be missing.
    """

    path: str
    groups: Sequence[int] | None = None
    used: Sequence[str] = ()
    optional: str = ""
    _chunks: Iterator[bytes] = field(init=False)

    def __attrs_post_init__(self) -> None:
        """Open the file."""
        self._chunks = _chunks(self)

    def read(self, _size: int = -1) -> bytes:
        """Return the next lines, b'' at the end."""
        return next(self._chunks, b"")


def _chunks(asked: ParquetLines) -> Iterator[bytes]:
    import pyarrow
    from pyarrow import parquet

    try:
        file = parquet.ParquetFile(asked.path)
        _check_columns(file.schema_arrow, asked)
        schema = file.schema_arrow
        times = Counter(schema.names)
        names = [c.name for c in schema if times[c.name] == 1 and _is_read(c.type)]
        written = frozenset(asked.used) - {asked.optional}
        for batch in file.iter_batches(ROWS, row_groups=asked.groups, columns=names):
            if len(batch):
                yield _lines(batch, written)
    except pyarrow.ArrowException as error:
        raise OSError(f"no Parquet that can be read ({error})") from None


def _check_columns(schema: Any, asked: ParquetLines) -> None:
    """Refuse a column that is a field of an event, or contains it, and is not read.

    Raises:
        OSError: there is one; the message names its type, or says that the column is repeated.
    """
    for name in asked.used:
        column = name if name in schema.names else name.partition(".")[0]
        if (times := schema.names.count(column)) > 1:
            raise OSError(f"{times} columns are named {column!r}; keep one of them")
        kind = schema.field(column).type if times else None
        if kind is None or _is_read(kind):
            continue
        what = "lists of texts" if name == asked.optional else "texts or whole numbers"
        raise OSError(f"the column {column!r} has the type {kind}; give a column of {what}")


def _is_read(kind: Any) -> bool:
    """Return whether a column may be a field of an event: texts, numbers, and lists of them.

    Writers give the type null to a column, or to the members of lists, without any value.
    """
    from pyarrow import types

    if types.is_list(kind) or types.is_large_list(kind):
        return _is_read(kind.value_type)
    if types.is_dictionary(kind):
        return _is_read(kind.value_type)
    kinds = (types.is_string, types.is_large_string, types.is_integer, types.is_null)
    return any(is_one(kind) for is_one in kinds)


def _lines(batch: Any, written: Set[str]) -> bytes:
    """Return rows as lines: by columns if all texts are simple, otherwise row by row.

    Nulls are left out, except in the columns `written`.
    """
    from pyarrow import compute

    columns = [_column(name, batch.column(name), name in written) for name in batch.schema.names]
    if any(column is None for column in columns):
        rows = batch.to_pylist()
        return "".join(f"{json.dumps(_present(row, written))}\n" for row in rows).encode()
    # A null field leaves nothing, not even a comma, because each field starts with its own comma.
    joined = compute.binary_join_element_wise(*columns, "")
    inner = compute.utf8_slice_codeunits(joined, 1)  # without the first comma
    text = compute.binary_join_element_wise("{", inner, "}\n", "")
    return _bytes(text)


def _present(row: dict[str, Any], written: Set[str]) -> dict[str, Any]:
    return {name: value for name, value in row.items() if value is not None or name in written}


def _bytes(text: Any) -> bytes:
    """Return the concatenated texts of an array."""
    import numpy as np

    offsets = np.frombuffer(text.buffers()[1], np.int32)[text.offset : text.offset + len(text) + 1]
    return bytes(memoryview(text.buffers()[2])[int(offsets[0]) : int(offsets[-1])])


def _column(name: str, values: Any, writes_null: bool) -> Any:
    """Return a column as `,"name":value`; None if a text is not simple.

    Null is written as null, or leaves nothing.
    """
    import pyarrow
    from pyarrow import compute, types

    start = f",{json.dumps(name)}:"
    if types.is_list(values.type) or types.is_large_list(values.type):
        # Nulls inside a list are rare, and are left to the slow path.
        inner = values.flatten().cast(pyarrow.string())
        if inner.null_count or _has_special(inner):
            return None
        members = values.cast(pyarrow.list_(pyarrow.string()))
        joined = compute.binary_join(members, '","')
        text = compute.binary_join_element_wise(start + '["', joined, '"]', "")
        empty = compute.equal(compute.list_value_length(members), 0)
        text = compute.if_else(empty, start + "[]", text)
    else:
        values = values.cast(pyarrow.string())
        if _has_special(values):
            return None
        text = compute.binary_join_element_wise(start + '"', values, '"', "")
    return compute.fill_null(text, f"{start}null" if writes_null else "")


def _has_special(values: Any) -> bool:
    from pyarrow import compute

    special = compute.any(compute.match_substring_regex(values, SPECIAL)).as_py()
    return bool(special)
