"""Files that commands write: checked before the work, written after it."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from antecede.checker.check.report import CheckReport
from antecede.checker.commands import console
from antecede.checker.render import json as formats
from antecede.checker.render.files import check_writable, is_stream, write_whole
from antecede.checker.render.trace_formats import format_of, write_trace
from antecede.checker.support.errors import InputError
from antecede.checker.support.extras import check_installed


def check_traces(files: Sequence[str]) -> None:
    """Refuse traces of an unknown format."""
    for file in files:
        format_of(file)


def check_outputs(*files: tuple[str, str | None]) -> None:
    """Refuse files that cannot be written, or are named twice, before the search starts.

    `files` are pairs of an option and its file, or None.
    """
    options: dict[str, str] = {}
    for option, file in files:
        if file is None:
            continue
        path = os.path.realpath(file)
        if path in options:
            raise InputError(f"--{options[path]} and --{option} both name {file!r}; give two files")
        options[path] = option
        if file != "-":
            check_writable(file)


def write_result(json_file: str | None, done: list[Any], *, many: bool) -> None:
    """Write the results as JSON, if that was asked for."""
    if json_file is not None:
        found = formats.results_object(done) if many else formats.result_object(done[0])
        write_object(json_file, found)


def write_run(file: str, report: CheckReport, say: Callable[[str], None]) -> None:
    """Save the run that a check has to show; without a run, a page has the coverage alone."""
    path = report.run
    if path is None and report.coverage is not None and format_of(file) == "html":
        from antecede.checker.render import html  # an import that few checks need

        write_whole(file, html.coverage_page(report, report.coverage))
    elif path is None:
        say(f"There is no counterexample, so {file} was not written.")
    else:
        write_trace(path, file, report=report)


def check_rows(output: str, parquet_file: str | None) -> None:
    """Refuse files for the rows of a sweep that cannot be written before it starts."""
    check_outputs(("output", output), ("parquet", parquet_file))
    if is_stream(Path(output)):
        raise InputError(f"cannot keep rows in {output!r}: it is no file that can be read again")
    if parquet_file is not None:
        check_installed("parquet", "--parquet")


def write_object(json_file: str, found: dict[str, Any]) -> None:
    """Write an object as JSON to a file, or to standard output (-)."""
    text = formats.text(found)
    if json_file == "-":
        console.emit(text)
    else:
        write_whole(json_file, text)
