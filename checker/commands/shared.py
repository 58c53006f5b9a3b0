"""Options that several commands have.

Question: Where are the options of commands, and their help texts? `option_texts.toml` beside this
file has the texts, and `help_pages.toml` the examples.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import click

from antecede.checker.check.spec import expected_verdict
from antecede.checker.commands.parameters import (
    A_FILE,
    Given,
    Named,
    given,
    options,
    record,
    taken_from,
)
from antecede.checker.purity.selfcheck import MODES
from antecede.checker.search.options import Bounds, Options
from antecede.checker.semantics.question import Question
from antecede.checker.support.settings import Setting

WORKERS = Setting("workers", int, "", None, least=1, most=1024)

QUESTION = options(
    record(Question),
    click.option("--expect", type=click.Choice(["holds", "violated", "vacuous"])),
)

SELFCHECK = click.option(
    "--selfcheck", type=click.Choice(list(MODES)), default="on", show_default=True
)

METHOD = options(record(Options), SELFCHECK)

BOUNDS = record(Bounds)

ENGINE_OF_MANY = click.option("--engine", type=click.Choice(["local", "plain"]))


ON = click.option(
    "--on", "place", type=click.Choice(["here", "spark"]), default="here", show_default=True
)

PLACE = options(ON, click.option("--master", metavar="URL"))
"""The options that say where something runs: here, or on a Spark cluster."""


def kept_rows(file: str) -> Callable[[Any], Any]:
    """Return the options of a command that makes many rows in a `file`."""
    return options(
        click.option("--workers", type=Given(WORKERS)),
        click.option(
            "--output", type=A_FILE, metavar="FILE.jsonl", default=file, show_default=True
        ),
        click.option("--parquet", "parquet_file", type=A_FILE, metavar="FILE"),
    )


def spec_values(values: dict[str, Any]) -> dict[str, Any]:
    """Return the options that replace the settings of a spec."""
    settings = given(**values)
    if "expect" in settings:
        settings["expect"] = expected_verdict(settings["expect"])
    return settings


JSON_FILE = click.option("--json", "json_file", type=A_FILE, metavar="FILE|-")

JUNIT_FILE = click.option("--junit", "junit_file", type=A_FILE, metavar="FILE")


def search_from(values: dict[str, Any]) -> tuple[Bounds, Options]:
    """Take the options of a search out of `values`."""
    bounds, method = taken_from(values, Bounds), taken_from(values, Options)
    return Bounds(**bounds), Options(**method)


TRACED = click.option("--protocol", type=Named("protocol"), metavar="NAME|FILE.py:OBJECT")
