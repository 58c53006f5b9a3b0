"""`antecede claims`."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from antecede.checker.commands import console, outputs, shared
from antecede.checker.commands.help import CommandWithExamples
from antecede.checker.commands.parameters import A_FILE, record
from antecede.checker.commands.shared import ENGINE_OF_MANY, JSON_FILE
from antecede.checker.papers.claims import claim as papers
from antecede.checker.render.files import write_whole
from antecede.checker.render.progress import watching
from antecede.checker.render.ticker import Ticker
from antecede.checker.search.options import Bounds, Options
from antecede.checker.support import interrupts
from antecede.checker.support.exit_codes import INCOMPLETE, INPUT_ERROR, most_urgent


@click.command("claims", cls=CommandWithExamples)
@click.option(
    "--source",
    metavar="NAME",
    help=f"Decide the claims of one source: {', '.join(papers.NAMES)}.  [default: all]",
)
@click.option("--claim", metavar="KEY")
@JSON_FILE
@click.option("--output", type=A_FILE, metavar="FILE.md")
@click.option("--quick", is_flag=True)
@click.option("--rows", multiple=True, type=A_FILE, metavar="FILE.jsonl")
@ENGINE_OF_MANY
@record(Options, "threads")
@record(Bounds, "max_seconds")
@click.option("--quiet", is_flag=True)
def command(
    source: str | None,
    claim: str | None,
    json_file: str | None,
    output: str | None,
    quick: bool,
    rows: tuple[str, ...],
    quiet: bool,
    **values: Any,
) -> int:
    """Decide the claims of the papers by checks: confirmed, consistent, refuted or undecided.

    A claim is CONFIRMED if the checks agree with it, and REFUTED if a check contradicts it. A claim
    about all sizes or programs, such as one about growth, is CONSISTENT if it is true for the few
    that were measured or enumerated.
    """
    # The report needs the claims of all papers, and few ask for it.
    from antecede.checker.papers.claims import report as claims_report
    from antecede.checker.papers.claims.claim import Ruling
    from antecede.checker.papers.claims.judge import Judge
    from antecede.checker.papers.simulate import timed_claims as times

    sources = claims_report.chosen(source, claim)
    timed = times.decided_by(rows) if rows else []
    outputs.check_outputs(("json", json_file), ("output", output))
    folder = None if output is None else claims_report.folder_beside(output)
    ticker = Ticker(quiet=quiet)
    bounds, method = shared.search_from(values)
    judge = Judge(method, bounds, quick, watching(ticker, many=True))
    say = console.discard if json_file == "-" else console.say
    found = []
    for judged in (judged for chosen in sources for judged in judge.judged(chosen)):
        ticker.clear()
        found.append(judged)
        if not quiet:
            say(claims_report.line(judged))
            if claim is not None:
                say(claims_report.details(judged))
    interrupts.conclude()
    files = {} if folder is None else claims_report.save(found, folder)
    if output is not None:
        asked = f" --source {source}" if source else ""
        asked += f" --claim {claim}" if claim else ""
        command = f"antecede claims{asked}{' --quick' if quick else ''} --output {output}"
        folder = Path(output).parent
        page = claims_report.markdown(found, files, command=command, folder=folder)
        write_whole(output, page + times.section(timed))
    if json_file is not None:
        outputs.write_object(json_file, claims_report.as_object(found, files, quick=quick))
    say(claims_report.summary(found))
    if timed:
        say(times.lines(timed))
    undecided = judge.interrupted or any(judged.reason for judged in found)
    undecided = undecided or any(claim.ruling is Ruling.UNDECIDED for claim in timed)
    return most_urgent([INPUT_ERROR if judge.failed else 0, INCOMPLETE if undecided else 0])
