"""`antecede test`."""

from __future__ import annotations

import time
from functools import partial
from typing import Any

import attrs
import click

from antecede.checker.adapters import run as adapters
from antecede.checker.check.exploring import starting
from antecede.checker.check.report import exit_code_of
from antecede.checker.check.targets import targets_of
from antecede.checker.commands import console, outputs, shared
from antecede.checker.commands.help import CommandWithExamples
from antecede.checker.commands.parameters import A_FILE, Named
from antecede.checker.commands.shared import BOUNDS, ENGINE_OF_MANY, JSON_FILE, QUESTION, SELFCHECK
from antecede.checker.render.progress import watching
from antecede.checker.render.ticker import Ticker
from antecede.checker.search.options import Options
from antecede.checker.support import interrupts
from antecede.checker.support.errors import InputError


@click.command("test", cls=CommandWithExamples)
@click.argument("adapter", type=Named("adapter"), metavar="FILE.py:CLASS|pipe:COMMAND")
@QUESTION
@ENGINE_OF_MANY
@click.option("--walks", type=click.IntRange(0, 10**9), default=Options().walks, show_default=True)
@click.option("--seed", type=int, default=Options().seed, show_default=True)
@SELFCHECK
@BOUNDS
@JSON_FILE
@click.option("--trace", "trace_files", multiple=True, type=A_FILE, metavar="FILE")
@click.option("--quiet", is_flag=True)
def command(
    adapter: str,
    walks: int,
    selfcheck: str,
    json_file: str | None,
    trace_files: tuple[str, ...],
    quiet: bool,
    **values: Any,
) -> int:
    """Run real code on a network that the checker controls.

    antecede creates an object CLASS(actor, actors) for each actor, and calls its methods
    causal_send(out, message) and receive(out, src, packet). A program in another language reads
    questions and writes answers, as lines of JSON.

    The search has two parts. The first part is breadth-first: it stops after 20,000 states, or at
    the bounds that you give, and takes half of --max-seconds. If it finds nothing within these
    limits, random walks follow.
    """
    began = time.monotonic()
    bounds, method = shared.search_from(values)
    outputs.check_traces(trace_files)
    outputs.check_outputs(("json", json_file), *(("trace", file) for file in trace_files))
    with starting(bounds):
        spec, *others = targets_of((adapter,), shared.spec_values(values)).strictly()
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
        began=began,
    )
    ticker.clear()
    interrupts.conclude()
    say = console.discard if json_file == "-" else console.say
    say(adapters.text(done))
    outputs.write_result(json_file, [done[-1]], many=False)
    for file in trace_files:
        outputs.write_run(file, done[-1], say)
    return exit_code_of([done[-1]])
