"""Logs in Parquet files: each row becomes a line with a JSON object, which one parser reads."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
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
    """

    path: str
    groups: Sequence[int] | None = None
    _chunks: Iterator[bytes] = field(init=False)

    def __attrs_post_init__(self) -> None:
        """Open the file."""
        self._chunks = _chunks(self.path, self.groups)

    def read(self, _size: int = -1) -> bytes:
        """Return the next lines, b'' at the end."""
        return next(self._chunks, b"")


def _chunks(path: str, groups: Sequence[int] | None) -> Iterator[bytes]:
    import pyarrow
    from pyarrow import parquet

    try:
        file = parquet.ParquetFile(path)
        names = [f.name for f in file.schema_arrow if _is_read(f.type)]
        for batch in file.iter_batches(ROWS, row_groups=groups, columns=names):
            if len(batch):
                yield _lines(batch)
    except pyarrow.ArrowException as error:
        raise OSError(f"no Parquet that can be read ({error})") from None


def _is_read(kind: Any) -> bool:
    """Return whether a column may be a field of an event: texts, numbers, and lists of them."""
    from pyarrow import types

    if types.is_list(kind) or types.is_large_list(kind):
        return _is_read(kind.value_type)
    if types.is_dictionary(kind):
        return _is_read(kind.value_type)
    return bool(types.is_string(kind) or types.is_large_string(kind) or types.is_integer(kind))


def _lines(batch: Any) -> bytes:
    """Return rows as lines: by columns if all texts are simple, otherwise row by row."""
    from pyarrow import compute

    columns = [_column(name, batch.column(name)) for name in batch.schema.names]
    if any(column is None for column in columns):
        rows = batch.to_pylist()
        return "".join(f"{json.dumps(_present(row))}\n" for row in rows).encode()
    # A null field leaves nothing, not even a comma, because each field starts with its own comma.
    joined = compute.binary_join_element_wise(*columns, "")
    inner = compute.utf8_slice_codeunits(joined, 1)  # without the first comma
    text = compute.binary_join_element_wise("{", inner, "}\n", "")
    return _bytes(text)


def _present(row: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in row.items() if value is not None}


def _bytes(text: Any) -> bytes:
    """Return the concatenated texts of an array."""
    import numpy as np

    offsets = np.frombuffer(text.buffers()[1], np.int32)[text.offset : text.offset + len(text) + 1]
    return bytes(memoryview(text.buffers()[2])[int(offsets[0]) : int(offsets[-1])])


def _column(name: str, values: Any) -> Any:
    """Return a column as `,"name":value`, nothing for null; None if a text is not simple."""
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
    return compute.fill_null(text, "")


def _has_special(values: Any) -> bool:
    from pyarrow import compute

    special = compute.any(compute.match_substring_regex(values, SPECIAL)).as_py()
    return bool(special)
