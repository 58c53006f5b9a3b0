"""The command `antecede`: every body is parse, call, report, exit code."""

from __future__ import annotations

import contextlib
import os
import shutil
import sys
import traceback
from collections.abc import Callable, Collection, Mapping, Sequence
from functools import partial
from itertools import chain
from pathlib import Path
from typing import Any, TextIO

import attrs
import click
from click.shell_completion import CompletionItem

from antecede.checker import interrupts, streams
from antecede.checker.adapters import run as adapters
from antecede.checker.amounts import counted
from antecede.checker.audit import audit as audits
from antecede.checker.audit import logs
from antecede.checker.audit import picture as pictures
from antecede.checker.audit import report as audit_report
from antecede.checker.audit.records import fields_from
from antecede.checker.check.engine import begins_plainly, kernels_are_compiled
from antecede.checker.check.pipeline import Extras, check_all
from antecede.checker.check.report import (
    INCOMPLETE,
    INPUT_ERROR,
    INTERNAL_ERROR,
    Checked,
    CheckReport,
    Refused,
    exit_code_of,
)
from antecede.checker.check.spec import (
    Spec,
    expected_verdict,
)
from antecede.checker.check.targets import targets_of
from antecede.checker.claims import sources as papers
from antecede.checker.claims import table as tables
from antecede.checker.errors import CapacityError, InputError
from antecede.checker.explore.stepper import Stepper, interact
from antecede.checker.extras import check_installed
from antecede.checker.formats import check_writable, is_stream, junit, sarif, write_whole
from antecede.checker.formats import github as github_marks
from antecede.checker.formats import json as formats
from antecede.checker.formats.registry import FORMATS, format_of, write_trace
from antecede.checker.purity.selfcheck import MODES
from antecede.checker.reading import refuse_lost_folder, refuse_unprintable
from antecede.checker.report import catalogue, completion
from antecede.checker.report import text as reports
from antecede.checker.report.help_pages import PAGES
from antecede.checker.report.progress import watching
from antecede.checker.report.terminal import COLOURS, VERDICTS, fitted, for_stream
from antecede.checker.report.ticker import Ticker
from antecede.checker.search import counterexample_kinds as kinds
from antecede.checker.search import sample as samples
from antecede.checker.search.options import Bounds, Options
from antecede.checker.semantics.history import HISTORIES
from antecede.checker.semantics.question import Question
from antecede.checker.settings import Setting, check_text, names_in, read, settings_of, taken
from antecede.checker.simulate.figures import FIGURES
from antecede.checker.simulate.scenario import FIELDS, written
from antecede.checker.sweep import parquet
from antecede.checker.sweep import sweep as sweeps
from antecede.checker.tables.cache import lacking


def options(*decorators: Callable[[Any], Any]) -> Callable[[Any], Any]:
    """Apply several click options, the first on top."""

    def apply(function: Any) -> Any:
        for decorator in reversed(decorators):
            function = decorator(function)
        return function

    return apply


def assumption(name: str) -> Callable[[Any], Any]:
    """Return the option of a simulation for one of its parameters."""
    about = FIELDS[name]
    choices = about.metadata["choices"]
    flags = ["--processes", "--actors"] if name == "actors" else [f"--{name.replace('_', '-')}"]
    says = about.metadata["says"]
    says = f"{says[0].upper()}{says[1:]}{': ' + ', '.join(choices) if choices else ''}."
    shown = written(name, about.default)
    return click.option(*flags, name, metavar="LIST", help=f"{says}  [default: {shown}]")


def record(kind: type, *names: str, but: Collection[str] = ()) -> Callable[[Any], Any]:
    """Return the options that set the fields of a record, or those of its fields named."""
    found = [s for s in settings_of(kind) if s.public and s.name not in but]
    return options(*(_option(s) for s in found if not names or s.name in names))


def _option(known: Setting) -> Callable[[Any], Any]:
    """Return the option that sets a setting."""
    option, several = known.option, known.kind is tuple
    if known.kind is bool:
        no = "" if known.default is False else f"/--no-{option[2:]}"
        return click.option(option + no, is_flag=True, default=known.default, help=_help(known))
    return click.option(
        "--property" if known.name == "properties" else option,
        known.name,
        multiple=several,
        metavar=known.metavar or _METAVARS.get(known.kind),
        type=Named("property" if known.name == "properties" else "anything")
        if several
        else _type(known),
        callback=_flat if several else None,
        help=_help(known),
    )


_METAVARS: Mapping[type, str] = {tuple: "NAME", Path: "FOLDER"}


def _help(known: Setting) -> str:
    default = known.otherwise
    if default is None and known.default not in (None, False, ()):
        default = "on" if known.default is True else f"{known.default}"
    return known.says if default is None else f"{known.says}  [default: {default}]"


def _type(known: Setting) -> click.ParamType[Any]:
    if known.choices is not None:
        return click.Choice(list(known.choices))
    if known.kind is Path:
        return Folder(exists=known.present, file_okay=False, path_type=Path)
    return Given(known)


class Named(click.ParamType[str]):
    """Text for which the shell offers names and files; what it means is decided later."""

    name = "text"

    def __init__(self, kind: str) -> None:
        """Offer what `checker.report.completion` knows of a kind, or any file or folder (dir)."""
        self.kind = kind

    def convert(self, value: Any, param: Any, ctx: Any) -> str:
        """Return the text."""
        return str(value)

    def shell_complete(
        self, ctx: click.Context, param: click.Parameter, incomplete: str
    ) -> list[CompletionItem]:
        """Return what the shell offers."""
        if self.kind in ("file", "dir"):
            return [CompletionItem(incomplete, type=self.kind)]
        given = [*(ctx.params.get("names") or ()), ctx.params.get("target"), *ctx.args]
        found = completion.candidates(self.kind, incomplete, [name for name in given if name])
        return [CompletionItem(each) for each in found]


A_FILE = Named("file")


class Given(click.ParamType[Any]):
    """What is given for a setting, read and checked by `checker.settings`."""

    def __init__(self, known: Setting, many: bool = False) -> None:
        """Read one value, or a list of them with commas between."""
        self.known, self.many = known, many
        self.name = {int: "integer", float: "number"}.get(known.kind, "text")

    def convert(self, value: Any, param: Any, ctx: Any) -> Any:
        """Return the value that a text says."""
        try:
            if not isinstance(value, str):
                return value
            if self.many:
                return tuple(read(self.known, part) for part in names_in(value))
            return read(self.known, value)
        except InputError as error:
            self.fail(f"{error}.", param, ctx)

    def shell_complete(
        self, ctx: click.Context, param: click.Parameter, incomplete: str
    ) -> list[CompletionItem]:
        """Return the names that the setting may have."""
        if self.known.choices is not None:
            start = incomplete.rpartition(",")[2]
            before = incomplete.removesuffix(start)
            return [CompletionItem(before + c) for c in self.known.choices if c.startswith(start)]
        if self.known.name not in completion.KINDS:
            return []
        return [CompletionItem(c) for c in completion.candidates(self.known.name, incomplete)]


class Folder(click.Path):
    """A path of a folder, which no broken text can be."""

    def convert(self, value: Any, param: Any, ctx: Any) -> Any:
        """Return the path."""
        try:
            check_text("the folder", str(value))
        except InputError as error:
            self.fail(f"{error}.", param, ctx)
        return super().convert(value, param, ctx)


def _flat(_context: click.Context, _option: click.Parameter, given: Any) -> tuple[str, ...]:
    """Return the names of several lists."""
    try:
        names = tuple(name for text in given for name in names_in(text))
        for name in names:
            check_text("the name", name)
    except InputError as error:
        raise click.BadParameter(f"{error}.") from None
    return names


def several(kind: type, name: str, says: str) -> Callable[[Any], Any]:
    """Return the option for several values of a setting, each of which is tried."""
    (known,) = (s for s in settings_of(kind) if s.name == name)
    return click.option(
        known.option,
        name,
        type=Given(known, many=True),
        multiple=True,
        callback=lambda _context, _option, given: tuple(chain.from_iterable(given)),
        metavar="VALUE,…",
        help=f"For example {says}.",
    )


PORT = Setting(
    "port",
    int,
    "Port of the page; 0 for any free port. Only this machine can open it.",
    8642,
    least=0,
    most=65_535,
)
WANTED = Setting("max_counterexamples", int, "", 1, least=1, most=10_000)
TIMEOUT = Setting("timeout", float, "", 20.0, above=0.0)
PROCESSES = Setting("processes", int, "", None, least=1, most=1024)

QUESTION = options(
    record(Question),
    click.option(
        "--expect",
        type=click.Choice(["holds", "violated", "vacuous"]),
        help="Verdict that gives exit code 0.  [default: holds]",
    ),
)
METHOD = options(
    record(Options),
    click.option(
        "--selfcheck",
        type=click.Choice(list(MODES)),
        default="on",
        show_default=True,
        help="Check that handlers are pure: in the first calls (on), in all calls, or never.",
    ),
)
BOUNDS = record(Bounds)
ENGINE_OF_MANY = click.option(
    "--engine",
    type=click.Choice(["local", "plain"]),
    help="Engine of each check; see antecede list.  [default: local]",
)


def where(said: str, *between: Callable[[Any], Any]) -> Callable[[Any], Any]:
    """Return the options that say where something runs: here, or on a Spark cluster.

    Args:
        said: of --on in --help.
        between: options that come after --on.
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
    return options(place, *between, master, record(Options, "spark_log"))


TRACE_FORMAT = click.option(
    "--trace-format",
    metavar="NAME",
    help=f"Format of --trace, if not the file's ending: {', '.join(FORMATS)}.",
)
OUTPUT = options(
    click.option(
        "--json", "json_file", type=A_FILE, metavar="FILE|-", help="Write the result as JSON."
    ),
    click.option(
        "--trace",
        "trace_files",
        multiple=True,
        type=A_FILE,
        metavar="FILE",
        help="Save the counterexample. The ending chooses the format: "
        f"{', '.join(ending for known in FORMATS.values() for ending in known.endings[:1])}. "
        "`antecede replay` reads .json. You can give it several times.",
    ),
    TRACE_FORMAT,
    click.option(
        "--sample",
        "sample_of",
        type=click.Choice(list(samples.SAMPLES)),
        help="If no property is violated, show a run instead: a random one, or a longest one. "
        "--trace saves it.",
    ),
    click.option(
        "--graph",
        "graph_file",
        type=A_FILE,
        metavar="FILE",
        help="Draw the graph of a small state space: .dot, .graphml; with Graphviz .svg, .html.",
    ),
    click.option(
        "--minimise",
        is_flag=True,
        help="Shorten the counterexample of a depth-first or random search, and put related steps "
        "next to each other.",
    ),
    click.option(
        "--max-counterexamples",
        "wanted",
        type=Given(WANTED),
        default=1,
        metavar="N",
        help="After a violation, look for N counterexamples of different kinds. --trace FILE saves "
        "the others as FILE-2, FILE-3, …",
    ),
    click.option(
        "--junit",
        "junit_file",
        type=A_FILE,
        metavar="FILE",
        help="Write the results as JUnit XML for CI.",
    ),
    click.option(
        "--sarif",
        "sarif_file",
        type=A_FILE,
        metavar="FILE",
        help="Write unexpected results as SARIF for code scanning. The steps of a counterexample "
        "point at the protocol's lines.",
    ),
    click.option(
        "--github/--no-github",
        default=None,
        help="Mark unexpected results in the pull request.  [default: on if GITHUB_ACTIONS is set]",
    ),
    click.option(
        "--measures",
        is_flag=True,
        help="Measure the protocol's costs: packets in transit, control data, buffers. Takes plain "
        "Python, at most 300,000 states.",
    ),
    click.option(
        "--statistics", is_flag=True, help="Report transitions by kind, memory and depths."
    ),
    click.option("--quiet", is_flag=True, help="Print only the verdict, and no progress."),
)


def _names(kind: type, *more: str) -> frozenset[str]:
    return frozenset({known.name for known in settings_of(kind)} | set(more))


OPTION_GROUPS = {
    "Question": _names(Question, "protocols", "expect", *FIELDS),
    "Search": _names(Options, "selfcheck"),
    "Bounds": _names(Bounds),
}
COMMAND_GROUPS = {
    "Check a protocol": ("check", "test", "replay", "explore", "list"),
    "Many checks": ("sweep", "table", "claims"),
    "Other methods": ("prove", "simulate", "audit"),
}


def _show_all(context: click.Context, _option: click.Parameter, wanted: bool) -> None:
    """Show the help page with all options, and end."""
    if wanted and not context.resilient_parsing:
        context.meta["all options"] = True
        click.echo(context.get_help(), color=context.color)
        context.exit()


class CommandWithExamples(click.Command):
    """A command whose help page shows examples and its main options; `--help-all` shows all."""

    def __init__(self, *arguments: Any, **named: Any) -> None:
        """Add the option --help-all."""
        super().__init__(*arguments, **named)
        if len(self._main()) < len([p for p in self.params if isinstance(p, click.Option)]):
            self.params.append(
                click.Option(
                    ["--help-all"],
                    is_flag=True,
                    is_eager=True,
                    expose_value=False,
                    callback=_show_all,
                    help="Show all options.",
                )
            )

    def _main(self) -> tuple[str, ...]:
        return PAGES[str(self.name)].main

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the examples and the main options, or all options in groups."""
        lines = {p.name: p.get_help_record(ctx) for p in self.get_params(ctx)}
        left = {name: line for name, line in lines.items() if line is not None}
        if not ctx.meta.get("all options"):
            with formatter.section("Examples"):
                formatter.write_dl(PAGES[str(self.name)].examples, col_max=60)
            helps = [line for line in left.values() if "--help" in line[0]]
            _section(formatter, "Options", [*(left[name] for name in self._main()), *helps])
            return
        for heading, group in OPTION_GROUPS.items():
            _section(formatter, heading, [left.pop(name) for name in list(left) if name in group])
        _section(formatter, "Output and other options", list(left.values()))


class GroupedCommands(click.Group):
    """The command, whose help groups the subcommands and cuts no sentence about them short."""

    command_class = CommandWithExamples

    def format_commands(self, _ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write each group of subcommands under its heading."""
        for heading, names in COMMAND_GROUPS.items():
            lines = [(name, self.commands[name].get_short_help_str(limit=200)) for name in names]
            _section(formatter, heading, lines)


def _section(
    formatter: click.HelpFormatter, heading: str, lines: Sequence[tuple[str, str]]
) -> None:
    if lines:
        with formatter.section(heading):
            formatter.write_dl(lines)


@click.group(
    cls=GroupedCommands,
    context_settings={"max_content_width": 100, "help_option_names": ["-h", "--help"]},
)
@click.version_option(formats.own_version(), prog_name="antecede")
def commands() -> None:
    """Check protocols for causal message delivery: explore every order of sends and deliveries.

    Start with: antecede check mfss

    Run antecede COMMAND --help for the options and exit codes of a command.
    """


@commands.command("check")
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
def check_command(
    names: tuple[str, ...],
    json_file: str | None,
    trace_files: tuple[str, ...],
    trace_format: str | None,
    junit_file: str | None,
    sarif_file: str | None,
    graph_file: str | None,
    github: bool | None,
    minimise: bool,
    wanted: int,
    measures: bool,
    sample_of: str | None,
    statistics: bool,
    quiet: bool,
    selfcheck: str,
    **values: Any,
) -> int:
    """Check protocols, specs, or every spec in a folder.

    antecede explores every interleaving within the bounds. It reports HOLDS, or the shortest
    counterexample. Options replace the settings of a spec. If one of several specs cannot be
    checked, the others still are.

    Exit codes: 0 as expected, 1 not as expected, 2 wrong usage or input, or a handler failed,
    3 INCOMPLETE (a bound or Ctrl-C ended the search) or VACUOUS (the property was never put to the
    test), 4 internal error.
    """
    bounds, method = Bounds(**_taken(values, Bounds)), Options(**_taken(values, Options))
    found = targets_of(names, _spec_values(values))
    many = found.many
    say = _discard if json_file == "-" else _say
    say_marks = _marks(github, say=_complain if json_file == "-" else _say)
    _check_traces(trace_files, trace_format)
    traces = [("trace", file) for file in trace_files]
    _check_outputs(
        *traces,
        *{"json": json_file, "junit": junit_file, "sarif": sarif_file, "graph": graph_file}.items(),
    )
    if many:
        asked: dict[str, Any] = {"trace": trace_files, "graph": graph_file, "sample": sample_of}
        asked |= {"checkpoint": method.checkpoint, "resume": method.resume, "measures": measures}
        _refuse_for_many({**asked, "max-counterexamples": wanted > 1})
    else:
        _refuse_alone(found.specs[0], junit_file, sarif_file, say_marks)
    if graph_file is not None:
        _draw(graph_file, found.readable[0], quiet=quiet)
    if found.others and not quiet:
        _complain(reports.left_out_text(found.others))
    ticker = Ticker(quiet=quiet)
    if not quiet and method.engine != "plain" and not kernels_are_compiled() and not lacking():
        _complain(
            "Compiling the kernels, which is done once; until then plain Python begins."
            if begins_plainly(method)
            else "Compiling the kernels, which takes half a minute and is done once."
        )
    done = []
    for result in check_all(
        found.specs,
        method,
        bounds,
        selfcheck=selfcheck,
        extras=Extras(minimise, measures, sample_of),
        watch=watching(ticker, many=many),
    ):
        ticker.clear()
        done.append(result)
        if many and not quiet:
            say(reports.spec_line(result))
    if wanted == 1:
        interrupts.conclude()
    _write_for_ci(junit_file, sarif_file, done)
    if many:
        say(reports.checks_text(done, len(found.specs)))
    else:
        only = _only(done)
        say(reports.single_text(only, quiet=quiet, statistics=statistics))
        if wanted > 1:
            _show_others(only, wanted, bounds, trace_files, trace_format, say)
            interrupts.conclude()
        for file in trace_files:
            _write_trace(file, trace_format, only, say)
    _write_result(json_file, done, many=many)
    say_marks(done)
    return exit_code_of(done)


def _marks(
    wanted: bool | None, *, say: Callable[[str], None]
) -> Callable[[Sequence[Checked]], None]:
    """Return what prints annotations, if they are wanted, or this is a job of GitHub's."""

    def mark(done: Sequence[Checked]) -> None:
        if streams.in_github_job(os.environ) if wanted is None else wanted:
            if text := github_marks.text(done):
                with streams.commands():
                    say(text)

    return mark


def _refuse_alone(
    spec: Spec | Refused,
    junit_file: str | None,
    sarif_file: str | None,
    mark: Callable[[Sequence[Checked]], None],
) -> None:
    """Refuse the only spec if it cannot be checked; files and marks for CI say so, too."""
    if isinstance(spec, Refused):
        _write_for_ci(junit_file, sarif_file, [spec])
        mark([spec])
        raise spec.error


def _write_for_ci(junit_file: str | None, sarif_file: str | None, done: Sequence[Checked]) -> None:
    """Write the results for CI servers, if that was asked for."""
    if junit_file is not None:
        write_whole(junit_file, junit.text(done))
    if sarif_file is not None:
        write_whole(sarif_file, sarif.text(done))


def _only(done: Sequence[Checked]) -> CheckReport:
    """Return the report on the only check; one that could not be made is wrong input."""
    (only,) = done
    if isinstance(only, Refused):
        raise only.error
    return only


@commands.command("test")
@click.argument("adapter", type=Named("adapter"), metavar="FILE.py:CLASS|pipe:COMMAND")
@QUESTION
@click.option(
    "--engine",
    type=click.Choice(["local", "plain"]),
    help="Search engine; see antecede list.  [default: local]",
)
@click.option(
    "--walks",
    type=click.IntRange(0, 10**9),
    default=Options().walks,
    show_default=True,
    help="Number of random walks after a search that a bound ended; 0 for none.",
)
@click.option(
    "--seed",
    type=int,
    default=Options().seed,
    show_default=True,
    help="Seed of the random walks.",
)
@click.option(
    "--selfcheck",
    type=click.Choice(list(MODES)),
    default="on",
    show_default=True,
    help="Check that the code is deterministic: in the first calls (on), in all calls, or never.",
)
@BOUNDS
@click.option(
    "--json", "json_file", type=A_FILE, metavar="FILE|-", help="Write the result as JSON."
)
@click.option(
    "--trace",
    "trace_file",
    type=A_FILE,
    metavar="FILE",
    help="Save the counterexample; see antecede check --help.",
)
@TRACE_FORMAT
@click.option("--quiet", is_flag=True, help="Print no progress.")
def test_command(
    adapter: str,
    walks: int,
    selfcheck: str,
    json_file: str | None,
    trace_file: str | None,
    trace_format: str | None,
    quiet: bool,
    **values: Any,
) -> int:
    """Run real code on a network that the checker controls.

    antecede calls CLASS(actor, actors) for each actor, then its methods causal_send(out, message)
    and receive(out, src, packet). A program in another language answers in JSON lines. The search
    is breadth-first, up to 20,000 states or your bounds, and takes half of --max-seconds. Random
    walks follow.

    Exit codes: 0 as expected, 1 not as expected, 2 wrong usage or input, or the code failed, 3 no
    violation was found before a bound.
    """
    bounds, method = Bounds(**_taken(values, Bounds)), Options(**_taken(values, Options))
    _check_traces([] if trace_file is None else [trace_file], trace_format)
    _check_outputs(("json", json_file), ("trace", trace_file))
    with adapters.starting(bounds):
        spec, *others = targets_of((adapter,), _spec_values(values)).strictly()
    if others:
        raise InputError(f"{adapter!r} names several specs; give one class or program")
    ticker = Ticker(quiet=quiet)
    done = adapters.run(
        spec,
        attrs.evolve(method, walks=max(walks, 1)),
        adapters.bounded(bounds),
        selfcheck=selfcheck,
        walks=walks > 0,
        watch=partial(watching(ticker), spec),
    )
    ticker.clear()
    interrupts.conclude()
    say = _discard if json_file == "-" else _say
    say(adapters.text(done))
    _write_result(json_file, [done[-1]], many=False)
    if trace_file is not None:
        _write_trace(trace_file, trace_format, done[-1], say)
    return exit_code_of([done[-1]])


def _given(**values: Any) -> dict[str, Any]:
    """Return the options that were given."""
    return {key: value for key, value in values.items() if value not in (None, ())}


def _spec_values(values: dict[str, Any]) -> dict[str, Any]:
    """Return the options given that take the place of what a spec says."""
    given = _given(**values)
    if "expect" in given:
        given["expect"] = expected_verdict(given["expect"])
    return given


def _draw(file: str, spec: Spec, *, quiet: bool) -> None:
    """Draw the state space of a spec."""
    # networkx takes a while to import, and few ask for a picture.
    from antecede.checker.formats import graph

    graph.check_drawable(file)
    note = graph.draw(file, graph.state_graph(spec.system))
    if note and not quiet:
        _complain(note)


def _taken(values: dict[str, Any], kind: type) -> dict[str, Any]:
    """Take out of `values` what was given of a record; `search` is the spec's to say."""
    return _given(**taken(values, kind, but=("search",)))


def _refuse_for_many(asked: dict[str, Any]) -> None:
    """Refuse options of one check where there are many."""
    for name, value in asked.items():
        if value:
            raise InputError(f"--{name} is for one check; give one spec, not several")


def _check_traces(files: Sequence[str], trace_format: str | None) -> None:
    """Refuse traces whose format nobody knows."""
    if trace_format is not None and not files:
        raise InputError("--trace-format says how --trace is written; give --trace FILE, too")
    for file in files:
        format_of(file, trace_format)


def _check_outputs(*files: tuple[str, str | None]) -> None:
    """Refuse files that cannot be written, or are named twice, before the search starts.

    Args:
        files: pairs of an option and its file, or None.
    """
    options: dict[str, str] = {}
    for option, file in files:
        if file is None:
            continue
        if file in options:
            raise InputError(f"--{options[file]} and --{option} both name {file!r}; give two files")
        options[file] = option
        if file != "-":
            check_writable(file)


def _write_result(json_file: str | None, done: list[Any], *, many: bool) -> None:
    """Write the results as JSON, if that was asked for."""
    if json_file is not None:
        found = formats.results_object(done) if many else formats.result_object(done[0])
        write = partial(write_whole, json_file) if json_file != "-" else _print
        write(formats.text(found))


def _show_others(
    report: CheckReport,
    wanted: int,
    bounds: Bounds,
    trace_files: Sequence[str],
    trace_format: str | None,
    say: Callable[[str], None],
) -> None:
    """Look for counterexamples of other kinds than the one that was found, and show them."""
    if report.result.counterexample is None:
        return
    found = kinds.others(
        report.system, report.result.counterexample, wanted - 1, bounds.over(report.spec.bounds)
    )
    say("\n" + reports.others_text(found, wanted))
    for number, path in enumerate(found.paths, 2):
        for file in trace_files:
            write_trace(path, _numbered(file, number), trace_format, report=report)


def _numbered(file: str, number: int) -> str:
    """Return the name of the file for the counterexample with this number."""
    path = Path(file)
    name, dot, endings = path.name.partition(".")
    return str(path.with_name(f"{name}-{number}{dot}{endings}"))


def _write_trace(
    file: str, format: str | None, report: CheckReport, say: Callable[[str], None]
) -> None:
    """Save the run that a check has to show, if there is one."""
    path = report.run
    if path is None:
        say(f"There is no counterexample, so {file} was not written; --sample gives a run.")
    else:
        write_trace(path, file, format, report=report)


@commands.command("table")
@click.option(
    "--bounds",
    "size",
    default="3x3",
    show_default=True,
    metavar="ACTORSxMESSAGES",
    help="Number of actors, and of messages per actor.",
)
@click.option(
    "--history",
    default="knowledge",
    show_default=True,
    metavar="NAME|all",
    help=f"Encoding of the history: {', '.join(HISTORIES)}, or all.",
)
@record(Question, "sends", "clock_at")
@METHOD
@BOUNDS
@click.option(
    "--format",
    "form",
    type=click.Choice(tables.FORMATS),
    default="text",
    show_default=True,
    help="Format of the table.",
)
@click.option("--output", type=A_FILE, metavar="FILE", help="Write the table to a file.")
@click.option("--quiet", is_flag=True, help="Print no progress.")
def table_command(
    size: str,
    history: str,
    sends: str | None,
    clock_at: str | None,
    form: str,
    output: str | None,
    quiet: bool,
    selfcheck: str,
    **values: Any,
) -> int:
    """Reproduce the verification table of the Cykas paper, with its figures beside ours.

    The paper's figures are for 3x3. Within other bounds, verdicts are not compared with them.

    Exit codes: 0 no verdict differs from the paper's, 1 a verdict differs, 2 wrong usage or input,
    3 a search did not reach a verdict.
    """
    bounds, method = Bounds(**_taken(values, Bounds)), Options(**_taken(values, Options))
    actors, messages = tables.parsed_bounds(size)
    histories = tables.parsed_histories(history)
    for name in ("checkpoint", "resume"):
        if getattr(method, name) is not None:
            raise InputError(f"--{name} is for one check; the table makes several")
    if output is not None:
        check_writable(output)
    model = _given(actors=actors, messages=messages, sends=sends, clock_at=clock_at)
    specs = tables.specs(model, histories)
    ticker = Ticker(quiet=quiet)
    found = []
    for row in tables.rows(specs, method, bounds, watching(ticker, many=True)):
        ticker.clear()
        found.append(row)
        if not quiet:
            _complain("  ".join(tables.cells(row)[:6]))
    interrupts.conclude()
    text = tables.rendered(found, method, form)
    if output is not None:
        write_whole(output, text + "\n")
    _say(text)
    if any(row.report.exit_code == INCOMPLETE for row in found):
        return INCOMPLETE
    return 1 if any(row.agrees is False for row in found) else 0


@commands.command("claims")
@click.option("--source", metavar="NAME", help=f"Paper: {', '.join(papers.NAMES)}.  [default: all]")
@click.option(
    "--json", "json_file", type=A_FILE, metavar="FILE|-", help="Write the report as JSON."
)
@click.option(
    "--output",
    type=A_FILE,
    metavar="FILE.md",
    help="Write the report as a page. Counterexamples go to a folder of the same name.",
)
@click.option("--quick", is_flag=True, help="Use smaller bounds; takes less than a minute.")
@click.option(
    "--rows",
    multiple=True,
    type=A_FILE,
    metavar="FILE.jsonl",
    help="Output of antecede simulate, which decides claims about times and sizes.",
)
@ENGINE_OF_MANY
@record(Options, "threads")
@record(Bounds, "max_seconds")
@click.option("--quiet", is_flag=True, help="Print only the summary.")
def claims_command(
    source: str | None,
    json_file: str | None,
    output: str | None,
    quick: bool,
    rows: tuple[str, ...],
    quiet: bool,
    **values: Any,
) -> int:
    """Decide the claims of the papers by checks: confirmed, consistent, refuted or undecided.

    Exit codes: 0 every claim is decided, 2 wrong usage or input, 3 a claim is undecided.
    """
    # The report needs the claims of all papers, and few ask for it.
    from antecede.checker.claims import report as claims_report
    from antecede.checker.claims.claim import Ruling
    from antecede.checker.claims.judge import Judge
    from antecede.checker.simulate import claims as times

    sources = claims_report.chosen(source)
    timed = times.decided_by(rows) if rows else []
    claims_report.checked_output(output, json_file)
    _check_outputs(("json", json_file), ("output", output))
    folder = None if output is None else claims_report.folder_beside(output)
    ticker = Ticker(quiet=quiet)
    bounds, method = Bounds(**_taken(values, Bounds)), Options(**_taken(values, Options))
    judge = Judge(method, bounds, quick, watching(ticker, many=True))
    say = _discard if json_file == "-" else _say
    found = []
    for judged in (judged for chosen in sources for judged in judge.judged(chosen)):
        ticker.clear()
        found.append(judged)
        if not quiet:
            say(claims_report.line(judged))
    interrupts.conclude()
    files = {} if folder is None else claims_report.save(found, folder)
    if output is not None:
        asked = f" --source {source}" if source else ""
        command = f"antecede claims{asked}{' --quick' if quick else ''} --output {output}"
        page = claims_report.markdown(found, files, command=command)
        write_whole(output, page + times.section(timed))
    if json_file is not None:
        text = formats.text(claims_report.as_object(found, files, quick=quick))
        (_print if json_file == "-" else partial(write_whole, json_file))(text)
    say(claims_report.summary(found))
    if timed:
        say(times.lines(timed))
    undecided = judge.interrupted or any(judged.reason for judged in found)
    undecided = undecided or any(claim.ruling is Ruling.UNDECIDED for claim in timed)
    return INCOMPLETE if undecided else 0


@commands.command("sweep")
@click.argument("targets", nargs=-1, type=Named("target"), metavar="[NAME|SPEC.toml|FOLDER]…")
@click.option(
    "--protocol",
    "protocols",
    type=Named("registered"),
    metavar="NAME,…",
    help="Protocols, instead of those of the specs.",
)
@several(Question, "actors", "2,3")
@several(Question, "messages", "1,2,3")
@several(Question, "network", "unordered,fifo,duplicating+lossy")
@several(Question, "workload", "any,broadcast")
@several(Question, "sends", "joint,split")
@several(Question, "clock_at", "causal-send,network-send")
@several(Question, "history", "knowledge,clocks,full")
@record(Question, "properties")
@record(Options, "symmetry", "memory")
@ENGINE_OF_MANY
@where("Run checks in processes of this machine, or as tasks of a Spark cluster.")
@click.option(
    "--processes",
    type=Given(PROCESSES),
    help="Number of checks that run at once on this machine.  [default: one per core]",
)
@BOUNDS
@click.option(
    "--output",
    type=A_FILE,
    metavar="FILE.jsonl",
    default="sweep.jsonl",
    show_default=True,
    help="Append a row per finished check. Rows that the file already has are not run again.",
)
@click.option(
    "--parquet",
    "parquet_file",
    type=A_FILE,
    metavar="FILE",
    help="At the end, also write all rows as Parquet.",
)
@click.option("--quiet", is_flag=True, help="Print only the matrix at the end.")
def sweep_command(
    targets: tuple[str, ...],
    protocols: str | None,
    place: str,
    processes: int | None,
    output: str,
    parquet_file: str | None,
    quiet: bool,
    **values: Any,
) -> int:
    """Check every combination of protocols, bounds, networks and encodings.

    Exit codes: 0 every check ended with HOLDS or VIOLATED, 2 wrong usage or input, 3 a check ended
    otherwise.
    """
    names = names_in(protocols)
    if not targets and not names:
        raise InputError("there is nothing to check; name protocols or specs")
    specs = targets_of(targets).strictly()
    axes = {"protocol": names, **_given(**taken(values, Question))}
    wanted = sweeps.combined(specs or [Spec(protocol=names[0])], axes)
    _check_rows(output, parquet_file)
    bounds, given = Bounds(**_taken(values, Bounds)), _taken(values, Options)
    master, spark_log = given.pop("master", None), given.pop("spark_log", False)
    options = Options(**{"threads": 1, **given})
    if place == "spark":
        if processes is not None:
            raise InputError("--processes is for --on here; on Spark it is a check per core")
        run = partial(sweeps.in_executors, master=master, log=spark_log)
    else:
        if master is not None or spark_log:
            raise InputError("--master and --spark-log are for --on spark")
        count = processes or os.cpu_count() or 1
        run = partial(sweeps.in_processes, processes=count, ticker=Ticker(quiet=quiet))
    file, gave_up = Path(output), False
    begun = len(sweeps.asked_for(wanted, file, options, bounds))
    if begun and not quiet:
        _complain(f"{begun} of {len(wanted)} rows are in {output} already, and are not run again.")
    with sweeps.kept_in(file).noted():
        for row in sweeps.sweep(wanted, run, file, options, bounds):
            gave_up |= row["verdict"] == sweeps.GAVE_UP
            if not quiet:
                _complain(sweeps.line(row))
    interrupts.conclude()
    rows = sweeps.asked_for(wanted, file, options, bounds)
    if parquet_file is not None:
        parquet.write(sweeps.kept_in(file).rows(), parquet_file)
    _say(sweeps.matrix(rows))
    if gave_up or any(row["verdict"] not in ("HOLDS", "VIOLATED") for row in rows):
        return INCOMPLETE
    return 0


def _check_rows(output: str, parquet_file: str | None) -> None:
    """Refuse files for the rows of a sweep that cannot be written before it starts."""
    check_writable(output)
    if is_stream(Path(output)):
        raise InputError(f"cannot keep rows in {output!r}: it is no file that can be read again")
    if parquet_file is None:
        return
    check_installed("parquet", "--parquet")
    check_writable(parquet_file)
    if Path(parquet_file).resolve() == Path(output).resolve():
        raise InputError(f"--output and --parquet both name {output!r}; give two files")


@commands.command("simulate")
@click.argument("protocols", required=False, type=Named("registered"), metavar="[NAME,…]")
@click.option(
    "--figure",
    "figures",
    multiple=True,
    type=click.Choice(["cykas", *FIGURES]),
    metavar="NAME",
    help=f"Reproduce a paper's figure: {', '.join(FIGURES)}, or cykas for all three of its paper. "
    "You can give it several times.",
)
@click.option(
    "--quick", is_flag=True, help="With --figure: fewer and smaller runs; takes a minute."
)
@options(*map(assumption, FIELDS))
@click.option(
    "--seeds",
    type=click.IntRange(1, 100_000),
    help="Number of random programs per point.  [default: 30; with --quick 3]",
)
@click.option(
    "--own-handlers",
    is_flag=True,
    help="Run the checked handlers themselves, not faster copies of them.",
)
@where(
    "Run in processes of this machine, or as tasks of a Spark cluster.",
    click.option(
        "--workers",
        type=Given(PROCESSES),
        help="Number of runs at once on this machine.  [default: one per core]",
    ),
)
@click.option(
    "--output",
    type=A_FILE,
    metavar="FILE.jsonl",
    default="simulate.jsonl",
    show_default=True,
    help="Append a row per finished run. Rows that the file already has are not run again.",
)
@click.option(
    "--parquet",
    "parquet_file",
    type=A_FILE,
    metavar="FILE",
    help="Also write the rows of these runs as Parquet.",
)
@click.option(
    "--svg",
    "folder",
    type=Named("dir"),
    metavar="FOLDER",
    help="With --figure: draw it into a folder. Needs Matplotlib: pip install 'antecede[plot]'.",
)
@click.option("--quiet", is_flag=True, help="Print no progress.")
def simulate_command(
    protocols: str | None,
    figures: tuple[str, ...],
    quick: bool,
    seeds: int | None,
    own_handlers: bool,
    place: str,
    workers: int | None,
    master: str | None,
    spark_log: bool,
    output: str,
    parquet_file: str | None,
    folder: str | None,
    quiet: bool,
    **values: str | None,
) -> int:
    """Run protocols in simulated time, and compare how long they take.

    A LIST is one or more values with commas between them. antecede runs every combination, and runs
    all protocols on the same programs. Times are medians over the seeds, with 95 % confidence
    intervals in brackets.

    Exit codes: 0 all runs are right, 1 one violates causality or delivers wrongly, 3 a cluster
    gave up on one, 2 wrong usage or input. A figure's controls may violate causality.
    """
    # It needs NumPy, which takes as long to load as all the rest of the command.
    from antecede.checker.simulate import command as simulations

    grids = simulations.grids_of(
        names_in(protocols), figures, values, seeds, quick=quick, drawn=folder is not None
    )
    _check_rows(output, parquet_file)
    runner = simulations.runner_of(place, workers, master, log=spark_log)
    rows, code = [], 0
    for grid in grids:
        found = simulations.run(grid, Path(output), runner, twins=not own_handlers, quiet=quiet)
        rows += found.rows
        code = max(code, found.exit_code)
        if grid is grids[-1]:
            interrupts.conclude()
        if folder is not None:
            simulations.draw(grid, found.rows, folder)
        _say(found.text)
    if parquet_file is not None:
        parquet.write(rows, parquet_file, simulations.PARQUET, simulations.NEVER_NULL)
    return code


@commands.command("audit")
@click.argument("names", type=A_FILE, metavar="LOG|FOLDER|-…", nargs=-1, required=True)
@click.option(
    "--log-format",
    type=click.Choice(logs.FORMATS),
    help="Format of the logs.  [default: guessed from the first line]",
)
@click.option(
    "--event",
    metavar="REGEX",
    help="Pattern for sends and deliveries in the texts of a ShiViz log, with the named groups "
    "message, event (or send and deliver) and to.  [default: 'causal-sends m1 to bob', 'delivers "
    "m1']",
)
@click.option(
    "--fields",
    metavar="NAME=FIELD,…",
    help="Field names of another program's log: actor=…, event=…, message=…, to=…, and its names "
    "for the events: send=…, deliver=….",
)
@click.option(
    "--json", "json_file", type=A_FILE, metavar="FILE|-", help="Write the findings as JSON."
)
@click.option(
    "--trace",
    "trace_file",
    type=A_FILE,
    metavar="FILE",
    help="Draw the first violation of causal delivery: .svg, .html, .shiviz, .json.",
)
@click.option(
    "--unfinished",
    is_flag=True,
    help="The log ends early, so messages may still be in transit.",
)
@click.option("--quiet", is_flag=True, help="Print no progress.")
@where("Audit in this process, or on a Spark cluster, whose executors read the logs.")
def audit_command(
    names: tuple[str, ...],
    log_format: str | None,
    event: str | None,
    fields: str | None,
    json_file: str | None,
    trace_file: str | None,
    unfinished: bool,
    quiet: bool,
    place: str,
    master: str | None,
    spark_log: bool,
) -> int:
    """Find violations of causal delivery in the logs of a real system.

    A line is {"actor": …, "event": "causal-send" or "deliver", "message": …, "to": […]}. A ShiViz
    log is read, too, and its vector clocks are checked. Logs may be compressed (gzip, zstd) or
    Parquet files. If you give several, each must hold all events of its actors. A folder is one log
    in parts, and - is standard input.

    Exit codes: 0 no violation, 1 a violation, 2 a log cannot be read or has no causal-send, 3 no
    message was delivered.
    """
    if json_file not in (None, "-"):
        check_writable(str(json_file))
    drawn = None if trace_file is None else pictures.check_format(trace_file)
    if trace_file is not None:
        check_writable(trace_file)
    known = fields_from(fields)
    if place == "spark":
        found = _audit_on_spark(
            names, log_format, event, known, unfinished=unfinished, master=master, log=spark_log
        )
    else:
        if master is not None or spark_log:
            raise InputError("--master and --spark-log are for --on spark")
        ticker = Ticker(quiet=quiet)
        tick = audit_report.watching(ticker)
        found = audits.audit(names, log_format, event, known, unfinished=unfinished, tick=tick)
        ticker.clear()
    interrupts.conclude()
    if json_file is not None:
        write = partial(write_whole, json_file) if json_file != "-" else _print
        write(formats.text(audit_report.as_object(found, unfinished=unfinished)))
    if json_file != "-":
        _say(audit_report.text(found, unfinished=unfinished))
    if trace_file is not None and drawn is not None:
        if any(finding.events for finding in found.findings):
            write_whole(trace_file, pictures.picture(found, drawn))
        elif not quiet:
            _complain(
                f"No violation of causal delivery was found, so {trace_file} was not written."
            )
    return audit_report.EXIT_CODES[audit_report.verdict(found, unfinished=unfinished)]


def _audit_on_spark(
    names: tuple[str, ...], log_format: str | None, event: str | None, *known: Any, **more: Any
) -> Any:
    """Judge logs on a cluster."""
    # Only this needs compiled kernels at once.
    from antecede.checker.audit import on_spark

    if event is not None:
        raise InputError(
            "--event is for ShiViz logs, and --on spark reads JSON objects and Parquet"
        )
    return on_spark.audit(names, log_format, *known, **more)


@commands.command("prove")
@click.argument("target", type=Named("protocol"), metavar="NAME|FILE.py:OBJECT")
@click.option(
    "--timeout",
    type=Given(TIMEOUT),
    default=TIMEOUT.default,
    show_default=True,
    metavar="SECONDS",
    help="Time limit of the solver for one obligation.",
)
@click.option(
    "--expect",
    type=click.Choice(["proved", "failed"]),
    help="Result that gives exit code 0.  [default: as registered]",
)
@click.option(
    "--mutants",
    "mutated",
    is_flag=True,
    help="Show what the proof needs: it is tried without each conjunct and each guard.",
)
@click.option(
    "--suggest",
    "suggests",
    is_flag=True,
    help="Instead of proving, look for conjuncts that hold in all linked states and are inductive "
    "together.",
)
@click.option(
    "--link",
    "links",
    is_flag=True,
    help="Also compare the model with the protocol's Python code, in every state within --actors "
    "and --messages.",
)
@click.option(
    "--actors",
    type=int,
    default=3,
    show_default=True,
    help="Number of actors for --link and --suggest.",
)
@click.option(
    "--messages",
    type=int,
    default=1,
    show_default=True,
    help="Messages per actor for --link and --suggest.",
)
@click.option(
    "--history",
    type=click.Choice(list(HISTORIES)),
    default="knowledge",
    show_default=True,
    help="Encoding of the history for --link.",
)
@click.option(
    "--max-states",
    type=click.IntRange(min=1),
    help="Stop --link after this number of unique states.",
)
@click.option(
    "--json", "json_file", type=A_FILE, metavar="FILE|-", help="Write the result as JSON."
)
@click.option(
    "--junit",
    "junit_file",
    type=A_FILE,
    metavar="FILE",
    help="Write the result as JUnit XML for CI.",
)
@click.option(
    "--smt2",
    "smt2_folder",
    type=click.Path(file_okay=False, path_type=Path),
    metavar="FOLDER",
    help="Write every obligation as SMT-LIB 2, for other solvers.",
)
@click.option("--quiet", is_flag=True, help="Print only the verdict, and no progress.")
def prove_command(
    target: str,
    timeout: float,
    expect: str | None,
    mutated: bool,
    suggests: bool,
    links: bool,
    actors: int,
    messages: int,
    history: str,
    max_states: int | None,
    json_file: str | None,
    junit_file: str | None,
    smt2_folder: Path | None,
    quiet: bool,
) -> int:
    """Prove a protocol's abstract model for every number of actors and messages.

    PROVED is a statement about the model, not about the Python code. LINKED (with --link) says that
    the model and the code agree within the bounds.

    Exit codes: 0 as expected, 1 not as expected, 2 wrong usage or input, 3 UNKNOWN, 4 internal
    error.
    """
    _check_outputs(("json", json_file), ("junit", junit_file))
    # An exception of a signal's handler would be lost in z3's import or in one of its finalizers.
    with interrupts.looking():
        proving = _proving()
        model = proving.model_named(target, expect)
        if smt2_folder is not None:
            written = counted(proving.write_smt2(model, smt2_folder), "file")
            if not quiet:
                _complain(f"{written} in {smt2_folder}")
        ticker = Ticker(quiet=quiet)
        if suggests:
            found = proving.suggestion(model, actors, messages, timeout, ticker)
            interrupts.conclude()
            _say(proving.suggest.text(found))
            return int(proving.exit_code(found.proof))
        proof = proving.prove(model, timeout, proving.watching(ticker))
        tried = found = None
        if mutated and proof.stopped_by is None:
            tried = proving.strength(proof, timeout, ticker)
        if links and proof.stopped_by is None:
            found = proving.linked(model, actors, messages, history, max_states)
        ticker.clear()
        interrupts.conclude()
        if json_file != "-":
            _say(proving.whole_text(proof, found, tried, quiet=quiet))
        _write_object(json_file, proving.whole_object(proof, found, tried))
        if junit_file is not None:
            write_whole(junit_file, proving.junit(proof))
        return int(proving.exit_code(proof, found, tried))


def _proving() -> Any:
    """Import what proves, which needs z3."""
    try:
        from antecede.checker.prove import front
    except ModuleNotFoundError as error:
        if error.name != "z3":
            raise
        raise InputError(
            "prove needs the solver z3; install it with pip install 'antecede[prove]'"
        ) from None
    return front


def _write_object(json_file: str | None, found: dict[str, Any]) -> None:
    """Write an object as JSON, if that was asked for."""
    if json_file is not None:
        write = partial(write_whole, json_file) if json_file != "-" else _print
        write(formats.text(found))


@commands.command("list")
@click.argument("names", nargs=-1, type=Named("listed"), metavar="[NAME|FILE.py]…")
def list_command(names: tuple[str, ...]) -> int:
    """List the protocols, properties, networks, workloads, histories, searches and engines.

    With names, show the details of each. With a file, show the protocols that it defines.

    Exit codes: 0, or 2 if a name is unknown.
    """
    text = "\n\n".join(map(catalogue.listing, names)) if names else catalogue.catalogue()
    interrupts.conclude()
    _say(text)
    return 0


TRACED = click.option(
    "--protocol",
    type=Named("protocol"),
    metavar="NAME|FILE.py:OBJECT",
    help="Protocol of the trace. You must give it if it is a Python file, because replaying runs "
    "the file.",
)


@commands.command("replay")
@click.argument("trace", type=Named("trace"), metavar="TRACE.json")
@click.option(
    "--trace",
    "trace_files",
    multiple=True,
    type=A_FILE,
    metavar="FILE",
    help="Also save the run in another format; see antecede check --help. You can give it several "
    "times.",
)
@TRACE_FORMAT
@TRACED
@click.option("--interactive", is_flag=True, help="Step through the run, forwards and backwards.")
def replay_command(
    trace: str,
    trace_files: tuple[str, ...],
    trace_format: str | None,
    protocol: str | None,
    interactive: bool,
) -> int:
    """Replay a saved counterexample in plain Python.

    Exit codes: 1 the run still violates its property, 0 it no longer does, 2 the file is no trace,
    or the protocol no longer allows the run.
    """
    _check_traces(trace_files, trace_format)
    _check_outputs(*(("trace", file) for file in trace_files))
    path, prop = formats.replay_file(trace, protocol)
    for file in trace_files:
        write_trace(path, file, trace_format)
    if interactive:
        interact(Stepper(path), _read, _say, shutil.get_terminal_size().columns - 1)
    else:
        interrupts.conclude()
        _say(reports.replay_text(path, prop, trace))
    return 0 if path.violates is None else 1


@commands.command("explore")
@click.argument("target", type=Named("traced"), metavar="NAME|FILE.py:OBJECT|SPEC.toml|TRACE.json")
@record(Question)
@click.option(
    "--port",
    type=Given(PORT),
    default=PORT.default,
    show_default=True,
    help=PORT.says,
)
@TRACED
@click.option("--no-browser", is_flag=True, help="Print the address, and open no browser.")
@record(Bounds, "max_states", "max_seconds")
def explore_command(
    target: str,
    port: int,
    no_browser: bool,
    **values: Any,
) -> int:
    """Step through the state space by hand, on a local web page.

    The address names the state, so you can send it to a colleague who runs the same command. Press
    Ctrl-C to end.

    Exit codes: 0 ended by Ctrl-C, 2 wrong usage or input.
    """
    # Only this command needs a web server.
    from antecede.checker.explore import start
    from antecede.checker.explore.ahead import BOUNDS as BOUNDS_AHEAD
    from antecede.checker.explore.server import Server
    from antecede.checker.explore.site import Site

    bounds = attrs.evolve(BOUNDS_AHEAD, **_taken(values, Bounds))
    tree, numbers = start.opened(target, _given(**values))
    site = Site(tree, bounds)
    with Server(site, port) as server, contextlib.suppress(KeyboardInterrupt):
        address = start.address_of(server.address, numbers)
        _say(f"Exploring {tree.spec.protocol} at {address}\nCtrl-C ends it.")
        if not no_browser:
            start.show(address)
        server.serve_forever()
    return 0


def _read() -> str | None:
    """Return the next line that the user types, None at the end."""
    try:
        return input("> " if sys.stdin.isatty() else "")
    except EOFError:
        return None


def _say(text: str) -> None:
    """Print a report for people."""
    _print(_shown(text, sys.stdout) + "\n")


def _shown(text: str, stream: TextIO) -> str:
    """Return a text as a stream shows it; verdicts have colours on a terminal that has some."""
    text = for_stream(text, stream)
    if not stream.isatty():
        return text
    text = fitted(text, shutil.get_terminal_size().columns)
    if os.environ.get("NO_COLOR") or os.environ.get("TERM") == "dumb":
        return text
    return VERDICTS.sub(lambda found: click.style(found[0], fg=COLOURS[found[0]], bold=True), text)


def _print(text: str) -> None:
    sys.stdout.write(text)
    sys.stdout.flush()


def _discard(_text: str) -> None:
    """Print nothing, for standard output belongs to the JSON."""


def _complain(text: str) -> None:
    print(_shown(text, sys.stderr), file=sys.stderr)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command and return its exit code; `arguments` are those of the process if None."""
    try:
        refuse_unprintable(sys.argv[1:] if arguments is None else arguments)
        refuse_lost_folder()
        with interrupts.handled():
            code = commands.main(arguments, prog_name="antecede", standalone_mode=False)
    except click.ClickException as error:
        error.show()
        return INPUT_ERROR
    except InputError as error:
        _complain(f"Error: {error}")
        return INPUT_ERROR
    except CapacityError as error:
        _complain(f"Error: {error}")
        return INCOMPLETE
    except MemoryError:
        _complain("Error: out of memory; use smaller bounds, or a machine with more memory")
        return INCOMPLETE
    except (click.Abort, KeyboardInterrupt) as abort:
        notes = getattr(abort.__cause__, "__notes__", ["there is no result"])
        _complain(f"Interrupted; {'; '.join(notes)}.")
        return INCOMPLETE
    except Exception as error:
        _complain(_internal(error))
        return INTERNAL_ERROR
    return int(code or 0)


def _internal(error: Exception) -> str:
    """Say that the checker failed, and how to report it."""
    if os.environ.get("ANTECEDE_DEBUG") == "1":
        traceback.print_exc()
    return (
        f"Internal error: {type(error).__name__}: {error}\nThis is a bug of antecede. Please "
        "report it with the command you ran and what it prints with ANTECEDE_DEBUG=1 set."
    )
