"""Keeps the rows of many runs in a file of JSON lines.

Each row is written as soon as its run has ended, and nothing is run twice.

This module does not know the runs themselves: an item has columns that identify it, and a runner
yields rows with these columns and results.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TypeAlias, TypeVar

from attrs import field, frozen

from antecede.checker.render.files import append, placed
from antecede.checker.support.errors import InputError
from antecede.checker.support.locks import Taken, held, locked
from antecede.checker.support.reading import json_in, text_in

Row: TypeAlias = dict[str, Any]
Item = TypeVar("Item")


def _fits(value: Any, kind: str) -> bool:
    """Return whether a value has a column's type, which is given by its Parquet name."""
    if isinstance(value, bool):
        return kind == "bool"
    if kind == "string":
        return isinstance(value, str)
    if kind.startswith("int"):
        return isinstance(value, int) and abs(value) < 1 << int(kind.removeprefix("int")) - 1
    return not kind.startswith("float") or isinstance(value, int | float)


@frozen
class Kept:
    """A file of rows.

    Attributes:
        keys: the columns that identify a run; every row has them.
        of: the noun for the runs in error messages, such as `a sweep`.
        types: column -> its type, by Parquet name; for columns that may be missing, too.
        whole: whether a row with these columns has all parts of a result.
    """

    file: Path
    keys: tuple[str, ...]
    of: str
    types: Mapping[str, str] = field(factory=dict)
    whole: Callable[[Row], bool] = lambda _row: True

    def key(self, row: Mapping[str, Any]) -> tuple[Any, ...]:
        """Return the values that identify a row, or the columns of an item."""
        return tuple(row[name] for name in self.keys)

    def rows(self) -> list[Row]:
        """Return the rows of earlier runs, without a last line that is cut off.

        Raises:
            InputError: the file contains something else.
        """
        if not placed(self.file).exists():
            return []
        rows = []
        lines = text_in(placed(self.file), f"the rows of {self.of} in").splitlines(keepends=True)
        for number, line in enumerate(lines, 1):
            where = f"{self.file}, line {number}"
            try:
                row = json_in(line, where)
            except InputError:
                if number == len(lines):
                    break
                row = None
            if not self._is_row(row):
                raise InputError(f"{where}: no row of {self.of}; give another file")
            rows.append(row)
        return rows

    def _is_row(self, row: Any) -> bool:
        """Return whether a value has all identifying columns, and values of the right types."""
        if not isinstance(row, dict):
            return False
        needed = [row.get(name) for name in self.keys]
        if any(value is None or isinstance(value, dict | list) for value in needed):
            return False
        if not self.whole(row):
            return False
        return all(
            _fits(row[name], kind) for name, kind in self.types.items() if row.get(name) is not None
        )

    def rows_of(self, items: Sequence[Item], columns: Callable[[Item], Row]) -> list[Row]:
        """Return the rows of these items that are in the file, in the order of the items."""
        found = {self.key(row): row for row in self.rows()}
        keys = [self.key(columns(item)) for item in items]
        return [found[key] for key in keys if key in found]

    def run(
        self,
        items: Sequence[Item],
        columns: Callable[[Item], Row],
        run: Callable[[Sequence[Item]], Iterator[Row]],
        lasting: Callable[[Row], bool] = lambda _row: True,
    ) -> Iterator[Row]:
        """Run the items that are missing in the file; yield each row when it is in the file.

        `columns` returns the columns that identify an item. `run` yields the rows of items as they
        come. Rows that are not `lasting` are not saved.
        """
        with self._alone():
            rows = self.rows()
            done = {self.key(row) for row in rows}
            self._mend(len(rows))
            missing = [item for item in items if self.key(columns(item)) not in done]
            for row in run(missing):
                if lasting(row):
                    append(str(self.file), f"{json.dumps(row)}\n")
                yield row

    @contextmanager
    def _alone(self) -> Iterator[None]:
        """Keep other runs from writing to the file meanwhile.

        Raises:
            InputError: another run is writing to it, or it cannot be written.
        """
        append(str(self.file), "", create=True)
        file = placed(self.file).resolve()
        try:
            lock = locked(file.with_name(f".{file.name}.lock"))
        except Taken:
            raise InputError(
                f"another run is writing rows to {str(self.file)!r}; wait for its end, or give "
                "another file"
            ) from None
        with held(lock):
            yield

    def _mend(self, rows: int) -> None:
        """Remove a last line that was cut off, and end the line before it.

        The file stays the same one, because other runs look for its lock.
        """
        lines = placed(self.file).read_bytes().splitlines(keepends=True)
        whole = b"".join(lines[:rows])
        if len(lines) > rows:
            os.truncate(placed(self.file), len(whole))
        if whole and not whole.endswith(b"\n"):
            append(str(self.file), "\n")

    @contextmanager
    def noted(self) -> Iterator[None]:
        """Add a note on the file to an interruption, wherever it occurs while rows are used."""
        try:
            yield
        except KeyboardInterrupt as interruption:
            interruption.add_note(
                f"the rows so far are in {self.file}, and the same command goes on from there"
            )
            raise
