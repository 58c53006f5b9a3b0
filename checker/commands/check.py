"""`antecede check`."""

from __future__ import annotations

import os
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import click
from attrs import frozen

from antecede.checker.check.engine import begins_plainly, kernels_are_compiled
from antecede.checker.check.exploring import starting
from antecede.checker.check.pipeline import Extras, check_all
from antecede.checker.check.report import Checked, CheckReport, Refused, exit_code_of
from antecede.checker.check.spec import Spec
from antecede.checker.check.targets import Targets, targets_of
from antecede.checker.commands import console, outputs, shared
from antecede.checker.commands.help import CommandWithExamples
from antecede.checker.commands.parameters import A_FILE, Given, Named, options, record
from antecede.checker.commands.shared import BOUNDS, JSON_FILE, JUNIT_FILE, METHOD, QUESTION
from antecede.checker.compiled.cache import lacking
from antecede.checker.render import text as reports
from antecede.checker.render.files import append, write_whole
from antecede.checker.render.progress import watching
from antecede.checker.render.ticker import Ticker
from antecede.checker.render.trace_formats import FORMATS, format_of, write_trace
from antecede.checker.search.options import Bounds, Options
from antecede.checker.support import interrupts, streams
from antecede.checker.support.errors import InputError
from antecede.checker.support.settings import Setting, taken

WANTED = Setting("max_counterexamples", int, "", 1, least=1, most=10_000)


OUTPUT = options(
    JSON_FILE,
    click.option(
        "--trace",
        "trace_files",
        multiple=True,
        type=A_FILE,
        metavar="FILE",
        help="Save the counterexample. The ending of FILE selects the format: "
        f"{', '.join(ending for known in FORMATS.values() for ending in known.endings[:1])}. "
        "antecede replay reads .json. You can repeat this option.",
    ),
    click.option("--graph", "graph_file", type=A_FILE, metavar="FILE"),
    record(Extras),
    click.option("--max-counterexamples", "wanted", type=Given(WANTED), default=1, metavar="N"),
    JUNIT_FILE,
    click.option("--sarif", "sarif_file", type=A_FILE, metavar="FILE"),
    click.option("--summary", "summary_file", type=A_FILE, metavar="FILE"),
    click.option("--verbose", is_flag=True),
    click.option("--quiet", is_flag=True),
)


@frozen
class Output:
    """The values of the options in `OUTPUT`: what to report, and which files to write."""

    json_file: str | None
    trace_files: tuple[str, ...]
    graph_file: str | None
    wanted: int
    junit_file: str | None
    sarif_file: str | None
    summary_file: str | None
    verbose: bool
    quiet: bool

    def check_files(self) -> None:
        """Refuse files that cannot be written, before the search starts."""
        outputs.check_traces(self.trace_files)
        outputs.check_outputs(
            *(("trace", file) for file in self.trace_files),
            ("json", self.json_file),
            ("junit", self.junit_file),
            ("sarif", self.sarif_file),
            ("graph", self.graph_file),
            ("summary", self.summary_file),
        )

    def say(self, text: str) -> None:
        """Print a report on standard output, unless the JSON is printed there."""
        if self.json_file != "-":
            console.say(text)

    def mark(self, done: Sequence[Checked]) -> None:
        """Print annotations, if this is a job of GitHub's."""
        if not streams.in_github_job(os.environ):
            return
        from antecede.checker.render import github as github_marks  # few checks run in a job

        if text := github_marks.text(done):
            say = console.complain if self.json_file == "-" else console.say
            with streams.commands():
                say(text)

    def write_for_ci(self, done: Sequence[Checked], planned: int) -> None:
        """Write the results for CI servers, if that was asked for."""
        if self.junit_file is not None:
            from antecede.checker.render import junit  # imports an XML library

            write_whole(self.junit_file, junit.text(done))
        if self.sarif_file is not None:
            from antecede.checker.render import sarif

            write_whole(self.sarif_file, sarif.text(done))
        if self.summary_file is not None:
            from antecede.checker.render import summary

            append(self.summary_file, summary.text(done, planned), create=True)


@click.command("check", cls=CommandWithExamples)
@click.argument(
    "names",
    nargs=-1,
    required=True,
    type=Named("target"),
    metavar="NAME|FILE.py:OBJECT|SPEC.toml|FOLDER…",
)
@QUESTION
@METHOD
@BOUNDS
@OUTPUT
def command(names: tuple[str, ...], selfcheck: str, **values: Any) -> int:
    """Check protocols, specs, or every spec in a folder.

    antecede explores every order of sends and deliveries of the given number of messages. It
    reports HOLDS, or VIOLATED with a shortest counterexample.

    A spec is a TOML file with a question and its expected answer. Options replace the settings of a
    spec. If one of several specs cannot be checked, the others still are.
    """
    began = time.monotonic()
    output, extras = Output(**taken(values, Output)), Extras(**taken(values, Extras))
    bounds, method = shared.search_from(values)
    with starting(bounds):
        found = targets_of(names, shared.spec_values(values))
    many = found.many
    output.check_files()
    if many:
        _refuse_for_many(output, extras, method)
    if output.graph_file is not None and found.readable:
        _draw(output.graph_file, found.readable[0], quiet=output.quiet)
    if found.others and not output.quiet:
        console.complain(reports.left_out_text(found.others))
    ticker = Ticker(quiet=output.quiet)
    if not output.quiet:
        _announce_waiting(method)
    done: list[Checked] = []

    for result in check_all(
        found.specs,
        method,
        bounds,
        selfcheck=selfcheck,
        extras=extras,
        watch=watching(ticker, many=many),
        began=began,
    ):
        ticker.clear()
        done.append(result)
        if many and not output.quiet:
            output.say(reports.spec_line(result))
    return _reported(found, done, output, bounds)


def _reported(found: Targets, done: list[Checked], output: Output, bounds: Bounds) -> int:
    """Print the report on checks and write their files; return the exit code."""
    many = found.many
    if output.wanted == 1:
        interrupts.conclude()
    output.write_for_ci(done, len(found.specs))
    only = done[0]
    if many:
        output.say(reports.checks_text(done, len(found.specs)))
    elif isinstance(only, Refused):
        output.mark(done)
        raise only.error
    else:
        _show(only, output, bounds)
    outputs.write_result(output.json_file, done, many=many)
    output.mark(done)
    return exit_code_of(done)


def _announce_waiting(method: Options) -> None:
    """Say on standard error that a search waits for the compiler of the kernels."""
    if method.engine != "plain" and not kernels_are_compiled() and not lacking():
        console.complain(
            "antecede compiles its search code, once per machine; this takes about 20 seconds of "
            "one core. Until then it searches in plain Python."
            if begins_plainly(method)
            else "antecede compiles its search code, once per machine; this takes about 20 seconds."
        )


def _draw(file: str, spec: Spec, *, quiet: bool) -> None:
    """Draw the state space of a spec."""
    # networkx takes a while to import, and few ask for a picture.
    from antecede.checker.render import graph

    graph.check_drawable(file)
    note = graph.draw(file, graph.state_graph(spec.system))
    if note and not quiet:
        console.complain(note)


def _refuse_for_many(output: Output, extras: Extras, method: Options) -> None:
    """Refuse options of one check where there are many."""
    asked = {
        "trace": output.trace_files,
        "graph": output.graph_file,
        "checkpoint": method.checkpoint,
        "resume": method.resume,
        "coverage": extras.coverage,
        "max-counterexamples": output.wanted > 1,
    }
    for name, value in asked.items():
        if value:
            raise InputError(f"--{name} is for one check; give one spec, not several")


def _show(report: CheckReport, output: Output, bounds: Bounds) -> None:
    """Show the report on the only check, and save its traces."""
    traces, quiet, verbose = output.trace_files, output.quiet, output.verbose
    saved = {file: format_of(file) for file in traces}
    output.say(reports.single_text(report, saved, quiet=quiet, verbose=verbose))
    if output.wanted > 1:
        _show_others(report, output, bounds)
        interrupts.conclude()
    for file in traces:
        outputs.write_run(file, report, output.say)


def _show_others(report: CheckReport, output: Output, bounds: Bounds) -> None:
    """Look for counterexamples of other kinds than the one that was found, and show them."""
    known = report.result.counterexample
    if known is None:
        return
    # Few checks ask for more than one counterexample.
    from antecede.checker.search import counterexample_kinds as kinds

    bounds = bounds.over(report.spec.bounds)
    found = kinds.others(report.system, known, output.wanted - 1, bounds)
    output.say("\n" + reports.others_text(found, output.wanted))
    for number, path in enumerate(found.paths, 2):
        for file in output.trace_files:
            write_trace(path, _numbered(file, number), report=report)


def _numbered(file: str, number: int) -> str:
    """Return the name of the file for the counterexample with this number."""
    path = Path(file)
    name, dot, endings = path.name.partition(".")
    return str(path.with_name(f"{name}-{number}{dot}{endings}"))
