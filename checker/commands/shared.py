"""Options that several commands have."""

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
from antecede.checker.render.registry import FORMATS
from antecede.checker.search.options import Bounds, Options
from antecede.checker.semantics.question import Question
from antecede.checker.settings import Setting

WORKERS = Setting("workers", int, "", None, least=1, most=1024)

QUESTION = options(
    record(Question),
    click.option(
        "--expect",
        type=click.Choice(["holds", "violated", "vacuous"]),
        help="The verdict that you expect. antecede ends with exit code 0 if the check has this "
        "verdict.  [default: holds]",
    ),
)

SELFCHECK = click.option(
    "--selfcheck",
    type=click.Choice(list(MODES)),
    default="on",
    show_default=True,
    help="Check that handlers are pure (the same arguments give the same result): at the first "
    "calls and a sample of later ones (on), at all calls (all), or never (off).",
)

METHOD = options(record(Options), SELFCHECK)

BOUNDS = record(Bounds)

ENGINE_OF_MANY = click.option(
    "--engine",
    type=click.Choice(["local", "plain"]),
    help="Engine of each check: local (compiled) or plain (plain Python).  [default: local]",
)


def where(said: str) -> Callable[[Any], Any]:
    """Return the options that say where something runs: here, or on a Spark cluster.

    `said` is the help of --on.
    """
    place = click.option(
        "--on",
        "place",
        type=click.Choice(["here", "spark"]),
        default="here",
        show_default=True,
        help=said,
    )
    master = click.option(
        "--master",
        metavar="URL",
        help="Spark cluster: local[N], spark://HOST:PORT, yarn or k8s://…",
    )
    return options(place, master, record(Options, "spark_log"))


def kept_rows(thing: str, file: str) -> Callable[[Any], Any]:
    """Return the options of a command that makes many rows, each of one `thing`, in a `file`."""
    workers = click.option(
        "--workers",
        type=Given(WORKERS),
        help=f"Number of {thing}s at the same time on this machine.  [default: one per core]",
    )
    output = click.option(
        "--output",
        type=A_FILE,
        metavar="FILE.jsonl",
        default=file,
        show_default=True,
        help=f"Append each finished {thing} to this file, as a line of JSON. A {thing} that is "
        "already in the file is skipped.",
    )
    parquet = click.option(
        "--parquet",
        "parquet_file",
        type=A_FILE,
        metavar="FILE",
        help=f"At the end, also write all finished {thing}s as a Parquet file.",
    )
    return options(workers, output, parquet)


TRACE_FORMAT = click.option(
    "--trace-format",
    metavar="NAME",
    help=f"Format of the --trace file, if its ending does not say it: {', '.join(FORMATS)}.",
)


def spec_values(values: dict[str, Any]) -> dict[str, Any]:
    """Return the options that replace the settings of a spec."""
    settings = given(**values)
    if "expect" in settings:
        settings["expect"] = expected_verdict(settings["expect"])
    return settings


JSON_FILE = click.option(
    "--json", "json_file", type=A_FILE, metavar="FILE|-", help="Write the result as JSON."
)

JUNIT_FILE = click.option(
    "--junit",
    "junit_file",
    type=A_FILE,
    metavar="FILE",
    help="Write the results as JUnit XML for CI.",
)


def search_from(values: dict[str, Any]) -> tuple[Bounds, Options]:
    """Take the options of a search out of `values`."""
    bounds, method = taken_from(values, Bounds), taken_from(values, Options)
    return Bounds(**bounds), Options(**method)


TRACED = click.option(
    "--protocol",
    type=Named("protocol"),
    metavar="NAME|FILE.py:OBJECT",
    help="Protocol of the saved trace. This option is required if the protocol is a Python file: "
    "antecede runs the code of such a file only if you name the file.",
)
