"""Keeps the rows of many runs in a file of JSON lines.

Each row is written as soon as its run has ended, and nothing is run twice.

What the runs are is not known here: an item has columns that tell it from others, and a runner
yields rows that have these columns and results.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TypeAlias, TypeVar

from attrs import field, frozen

from antecede.checker.errors import InputError
from antecede.checker.reading import json_in, text_in
from antecede.checker.render.files import append, write_whole

Row: TypeAlias = dict[str, Any]
Item = TypeVar("Item")


def _fits(value: Any, kind: str) -> bool:
    """Return whether a value is one of a column's type, as Parquet calls it."""
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
        file: where they are.
        keys: the columns that tell runs apart; every row has them.
        of: the word for what a row is about, such as `a sweep`.
        types: column -> its type, as Parquet calls it; of those that a row has.
        whole: whether a row of these columns has all that a result has.
    """

    file: Path
    keys: tuple[str, ...]
    of: str
    types: Mapping[str, str] = field(factory=dict)
    whole: Callable[[Row], bool] = lambda _row: True

    def key(self, row: Mapping[str, Any]) -> tuple[Any, ...]:
        """Return what tells a row, or the columns of an item, from others."""
        return tuple(row[name] for name in self.keys)

    def rows(self) -> list[Row]:
        """Return the rows of earlier runs; a last line that is cut off is left out.

        Raises:
            InputError: the file holds something else.
        """
        if not self.file.exists():
            return []
        rows = []
        lines = text_in(self.file, f"the rows of {self.of} in").splitlines(keepends=True)
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
        """Return whether a value has the columns that tell runs apart, and only what fits them."""
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

    def run(
        self,
        items: Sequence[Item],
        columns: Callable[[Item], Row],
        run: Callable[[Sequence[Item]], Iterator[Row]],
        lasting: Callable[[Row], bool] = lambda _row: True,
    ) -> Iterator[Row]:
        """Run what is missing in the file; yield each row when it is in the file.

        Args:
            items: what is asked for.
            columns: the columns of an item that tell it from others.
            run: yields the rows of items as they come.
            lasting: says whether a row is worth keeping.
        """
        rows = self.rows()
        done = {self.key(row) for row in rows}
        # What was cut off in the middle of a line is written anew.
        write_whole(str(self.file), "".join(f"{json.dumps(row)}\n" for row in rows))
        missing = [item for item in items if self.key(columns(item)) not in done]
        for row in run(missing):
            if lasting(row):
                append(str(self.file), f"{json.dumps(row)}\n")
            yield row

    @contextmanager
    def noted(self) -> Iterator[None]:
        """Let an interruption say where the rows are, wherever it strikes while rows are used."""
        try:
            yield
        except KeyboardInterrupt as interruption:
            interruption.add_note(
                f"the rows so far are in {self.file}, and the same command goes on from there"
            )
            raise
