"""What people read of a check: verdicts, figures, counterexamples, advice.

Question: Where is a sentence of a report? Beside it `statistics`, `advice`, `explanation`, `prose`.
"""

from __future__ import annotations

import textwrap
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path as FilePath
from types import MappingProxyType
from typing import TYPE_CHECKING

from antecede.checker.check.report import Checked, CheckReport, Refused, decides
from antecede.checker.check.spec import Expectation
from antecede.checker.liveness import starvation
from antecede.checker.model import Property, When
from antecede.checker.paths.growth import Growth
from antecede.checker.paths.path import Path
from antecede.checker.render import broken, coverage
from antecede.checker.render.about import setting
from antecede.checker.render.advice import advice, next_steps
from antecede.checker.render.diagram import Diagram, fitting
from antecede.checker.render.explanation import Explanation, explain, failure_text
from antecede.checker.render.prose import (
    Wording,
    bracket,
    failed_part,
    length_text,
    listed,
    loop_text,
    printable,
)
from antecede.checker.render.statistics import (
    checkpoint_text,
    explored_text,
    graph_text,
    plainly_text,
    replayed_text,
    rounds_on_spark_text,
    slowness_text,
    statistics_text,
    symmetry_text,
)
from antecede.checker.render.tables import figures_table, reason_of, verdicts_table
from antecede.checker.render.terminal import WIDTH, elapsed, wrapped
from antecede.checker.search.result import Result, Verdict
from antecede.checker.semantics.failing import FAILURES, failure_in
from antecede.checker.semantics.transition import EndlessSystem
from antecede.checker.support.amounts import counted
from antecede.checker.support.registry import KINDS, default_properties, names_file

if TYPE_CHECKING:
    from antecede.checker.search.counterexample_kinds import Collection

WIDEST = 150
"""Columns of the widest diagram that is worth printing."""


def check_text(report: CheckReport, *, verbose: bool = False) -> str:
    """Return the final report on one check; a verbose one has all tables and steps."""
    if report.result.verdict is Verdict.ERROR and not verbose:
        return broken.text(report)
    runs = [*_run_texts(report, verbose=verbose)]
    if verbose:
        parts = ["\n".join([_opening(report), *_title(report)]), verdicts_table(report)]
        parts += [*_assumed(report), *runs, figures_table(report), *_remarks(report, _ALL_REMARKS)]
    else:
        judged = [*_judged(report), *_assumed(report)]
        violated = report.result.counterexample is not None
        middle = [*runs, *judged] if violated else [*judged, *runs]
        parts = [_head(report), *middle, _ending(report), *_remarks(report, _REMARKS)]
    parts += never_text(report.result)
    if report.coverage is not None:
        parts.append(coverage.text(report.coverage, complete=report.result.visited_all))
    if report.unfinished is not None:
        parts.append(wrapped(f"The work after the search was ended: {report.unfinished}."))
    if verbose and (text := statistics_text(report.result)):
        parts.append(text)
    return "\n\n".join([*parts, *advice(report)])


_REMARKS = (plainly_text, replayed_text, rounds_on_spark_text, slowness_text, checkpoint_text)
_ALL_REMARKS = (
    plainly_text,
    symmetry_text,
    graph_text,
    rounds_on_spark_text,
    slowness_text,
    checkpoint_text,
)


def _remarks(report: CheckReport, remarks: Sequence[Callable[[Result], str]]) -> list[str]:
    return [text for remark in remarks if (text := remark(report.result))]


def _assumed(report: CheckReport) -> list[str]:
    """Return what weakens a verdict, and what it assumes."""
    parts = [wrapped(f"  {remark}", "  ") for remark in report.result.remarks]
    return parts if (text := endless_text(report)) is None else [*parts, text]


def _head(report: CheckReport) -> str:
    """Return the verdict, and beside it the violated property and the question."""
    first, *more = headline(report).split("\n")
    path, facts = report.result.counterexample, [line.strip() for line in _title(report)]
    if path is not None and path.violates is not None:
        facts.append(f"{path.violates}, after {length_text(path)}{_shortest(report, path)}")
    facts.append(setting(report))
    column = len(first) + 3
    if column > WIDTH // 2 or any(column + len(fact) > WIDTH for fact in facts):
        return "\n".join([first, *more, *(f"  {wrapped(fact, '  ', WIDTH - 2)}" for fact in facts)])
    indent = f"\n{' ' * column}"
    return "\n".join([f"{first}   {indent.join(facts)}", *more])


def _shortest(report: CheckReport, path: Path) -> str:
    prop = path.violated
    exact = report.options.search == "breadth" and prop is not None and not prop.later
    return " (no shorter run)" if exact else ""


def _judged(report: CheckReport) -> Iterator[str]:
    """Yield the verdicts that are not in the headline: a table, and what is left open."""
    result, path = report.result, report.result.counterexample
    shown = None if path is None else path.violates
    rows: dict[tuple[str, str], list[str]] = {}
    for prop in report.system.properties:
        verdict = result.properties[prop.name]
        if verdict is not Verdict.INCOMPLETE and prop.name != shown:
            name, said = _row(report, prop, verdict)
            rows.setdefault((name, str(verdict).lower()), []).append(said)
    if rows:
        yield _table(rows)
    undecided = [n for n, verdict in result.properties.items() if verdict is Verdict.INCOMPLETE]
    if undecided and path is None:
        yield wrapped(f"No violation so far: {listed(_gathered(report, undecided))}.")


def _shares(report: CheckReport, prop: str) -> bool:
    """Return whether a property shares a line: the protocol declares it, and nobody asked."""
    return prop.partition(":")[0] in KINDS and prop not in report.spec.properties


def _row(report: CheckReport, prop: Property, verdict: Verdict) -> tuple[str, str]:
    """Return the name of a line of the table, and what it says."""
    kind, _, name = prop.name.partition(":")
    if _shares(report, prop.name) and verdict is not Verdict.VIOLATED:
        return kind, name
    return prop.name, reason_of(report.result, prop)


def _table(rows: Mapping[tuple[str, str], Sequence[str]]) -> str:
    """Return (name, verdict) -> remarks as lines; declared properties are counted."""
    cells = []
    for (name, verdict), said in rows.items():
        one, several = KINDS.get(name, (name, name))
        title = f"{len(said)} {one if len(said) == 1 else several}" if name in KINDS else name
        plural = name in KINDS and len(said) > 1 and verdict == "holds"
        cells.append((title, "hold" if plural else verdict, ", ".join(filter(None, said))))
    wide, next_wide = (max(len(cell[at]) for cell in cells) for at in (0, 1))
    indent = " " * (wide + next_wide + 8)
    return "\n".join(
        wrapped(f"  {title:<{wide}}   {verdict:<{next_wide}}   {said}".rstrip(), indent)
        for title, verdict, said in cells
    )


def _gathered(report: CheckReport, names: Sequence[str]) -> list[str]:
    """Return names of properties; those that share a line are counted."""
    alone = [name for name in names if not _shares(report, name)]
    kinds = Counter(name.partition(":")[0] for name in names if _shares(report, name))
    return alone + [f"{n} {KINDS[kind][n > 1]}" for kind, n in kinds.items()]


def _ending(report: CheckReport) -> str:
    """Return what was not checked after a violation, and what was explored."""
    result, lines = report.result, [wrapped(explored_text(report.result, report.options))]
    undecided = [n for n, verdict in result.properties.items() if verdict is Verdict.INCOMPLETE]
    if undecided and result.counterexample is not None:
        names = listed(_gathered(report, undecided))
        lines.insert(0, wrapped(f"Not checked, because the search stopped here: {names}."))
    return "\n".join(lines)


def _run_texts(report: CheckReport, *, verbose: bool) -> Iterator[str]:
    """Yield the runs of a report: the counterexample, witnesses, runs to a limit."""
    if (path := report.result.counterexample) is not None:
        yield path_text(path, steps=True) if verbose else violation_text(path)
    for name, path in report.result.shown.items():
        yield run_text(f"{name} is reached after", path)
    yield from map(growth_text, report.result.grown)


def endless_text(report: CheckReport) -> str | None:
    """Return for how many messages the verdict holds where the application never stops."""
    result, system = report.result, report.system
    if not isinstance(system, EndlessSystem):
        return None
    bound = f"at most {counted(system.workload.buffer, 'message')} of each actor undelivered"
    lines = [wrapped(f"  {said}", "  ") for said in _form_texts(report)]
    if result.verdict is Verdict.HOLDS:
        bounded = f"  The verdict is for every number of messages, with {bound} at any time."
        lines.append(wrapped(bounded, "  "))
    if any(prop.when is When.EVENTUALLY_IF_FAIR for prop in system.properties):
        assumed = starvation.FAIRNESS[system.network.lose is not None]
        fair = f"  Assumed of the network: {assumed}. A timer or action that stays enabled happens."
        lines.append(wrapped(fair, "  "))
        lines.append("  An application may fall silent unless nothing else can happen.")
    return "\n".join(lines) or None


def _form_texts(report: CheckReport) -> Iterator[str]:
    """Yield what a normal form keeps from being judged, or the other way round."""
    result, system = report.result, report.system
    known = {prop.name for prop in system.properties}
    asked = report.spec.properties or default_properties(system.protocol, endless=True)
    if left := [name for name in asked if name not in known]:
        verb = "reads" if len(left) == 1 else "read"
        if system.normal is None:
            yield (
                f"Not judged: {listed(left)}, which {verb} the numbers of messages. Under an "
                "endless workload, only the marked message has a number of its own: the message "
                "whose delivery is judged."
            )
        else:
            yield (
                f"Not judged: {listed(left)}, which {verb} actors' states. The normal form of "
                f"{system.protocol.name} leaves out parts of these states. If you name a property "
                "with --property, antecede judges it in complete states, without the normal form."
            )
    if system.protocol.normal is not None and system.normal is None:
        looks = [*(f"--bound {limit.text}" for limit in system.limits)]
        looks += [prop.name for prop in system.properties if prop.of_states]
        verb = "reads" if len(looks) == 1 else "read"
        yield (
            f"The normal form of {system.protocol.name} is not used, because {listed(looks)} "
            f"{verb} complete actors' states."
        )
    if "compared_with_forms" in result.statistics and result.conditions:
        compared = counted(result.statistics["compared_with_forms"], "state")
        yield (
            f"antecede compared the normal form with {compared} that the search replaced by it. "
            "The handlers did the same in both. This proves nothing about other states."
        )


def headline(report: CheckReport) -> str:
    """Return the verdict on one check in a line, followed by what was not as expected."""
    start = f"{report.spec.label}: {report.result.verdict}{_conditions(report.result)}"
    if report.spec.file is None and report.spec.expect == Expectation():
        return start if report.exit_code < 2 else _troubled(start, report.result)
    if decides(report.spec, report.result):
        return "\n".join(
            [f"{start}, {'as expected' if report.as_expected else 'NOT AS EXPECTED'}"]
            + [f"  {difference}" for difference in report.differences]
        )
    return _troubled(start, report.result)


def _opening(report: CheckReport) -> str:
    """Return the headline of a report that has further parts, so that each error appears once."""
    path = report.result.counterexample
    if path is None or path.violates not in FAILURES:
        return headline(report)
    if failure_text(str(report.result.error)) != explain(path).text:
        return headline(report)
    return f"{report.spec.label}: {report.result.verdict}: {_where_it_fails(path)}"


def _conditions(result: Result) -> str:
    """Return under which conditions the verdict is true, as the end of a sentence."""
    return f" if {listed(result.conditions)}" if result.conditions else ""


def _troubled(start: str, result: Result) -> str:
    why = result.error or result.stopped_by
    return f"{start}: {why}" if why else start


def _title(report: CheckReport) -> list[str]:
    return [f"  {report.spec.title}"] if report.spec.title else []


def path_text(path: Path, *, steps: bool = False) -> str:
    """Return a counterexample with its property; `steps` as for `violation_text`."""
    return f"{_what_happens(path)}:\n\n{violation_text(path, steps=steps)}"


def violation_text(path: Path, *, steps: bool = False) -> str:
    """Return the reason of a violation, the picture of its run, and what is left at the end.

    The steps are listed if a diagram cannot show them, or if `steps` asks for them.
    """
    explanation = explain(path)
    parts = [
        wrapped(explanation.text),
        *_picture(path, explanation, steps=steps),
        "\n".join(wrapped(detail, "    ") for detail in explanation.details),
        _traceback(path),
    ]
    return "\n\n".join(filter(None, parts))


def _what_happens(path: Path) -> str:
    if path.violates in FAILURES:
        said = _where_it_fails(path)
        return f"{said[0].upper()}{said[1:]}"
    return f"{path.violates} is violated after {length_text(path)}"


def _where_it_fails(path: Path) -> str:
    where = f"in step {path.length}" if path.steps else "at the start"
    return f"{failed_part(path.failure)} fails {where}"


def _traceback(path: Path) -> str:
    """Return the traceback of the exception that ends a run, or ""."""
    failure = failure_in(path.last.actors)
    return "" if failure is None else textwrap.indent(failure.traceback, "  ")


def run_text(start: str, path: Path) -> str:
    """Return a run that violates nothing, in words and in a picture."""
    none = Explanation("")
    head = f"{start} {length_text(path)}:"
    return "\n\n".join([head, *_picture(path, none)])


def growth_text(growth: Growth) -> str:
    """Return the run in which a measure comes to its limit, and what was late meanwhile."""
    why = f"It grows in {_steps_text(growth.steps)}{_late_text(growth)}."
    return "\n\n".join([run_text(_growth_head(growth), growth.path), wrapped(why)])


def growth_line(growth: Growth) -> str:
    """Return in one line who comes to the limit, how soon, and what was late meanwhile."""
    return f"{_growth_head(growth)} {length_text(growth.path)}{_late_text(growth)}"


def _growth_head(growth: Growth) -> str:
    who = Wording.of(growth.path).actor(growth.actor)
    return f"{growth.limit.name} of {who} comes to {growth.limit.bound} after"


def _late_text(growth: Growth) -> str:
    words = Wording.of(growth.path)
    late = [
        f"{words.value(flight.packet)} from {words.actor(flight.src)} to {words.actor(flight.dst)} "
        f"({f'sent in step {flight.since}' if flight.since else 'in flight from the start'})"
        for flight in growth.late
    ]
    verb = "is" if len(late) == 1 else "are"
    return f", while {listed(late)} {verb} late" if late else "; nothing is late"


def _steps_text(steps: Sequence[int]) -> str:
    """Return a few of the steps of a run, in words; there may be many, or none."""
    if not steps:
        return "no step"
    shown = [*map(str, steps[:3]), "…", str(steps[-1])] if len(steps) > 5 else list(map(str, steps))
    return f"{'step' if len(steps) == 1 else 'steps'} {listed(shown)}"


def never_text(result: Result) -> list[str]:
    """Return what never happened, in one line, if there is anything."""
    if not result.never:
        return []
    return [wrapped(f"  In all that was explored, {listed(result.never)}.", "  ")]


def steps_text(path: Path, explanation: Explanation) -> str:
    """Return the transitions of a path in words, numbered."""
    words, rail = Wording.of(path), bracket([_in_loop(path, step.number) for step in path.steps])
    return "\n".join(
        wrapped(f"{sign}{step.number:3}. {words.step(step, explanation.remarks)}", f"{below:<6}")
        for step, (sign, below) in zip(path.steps, rail, strict=True)
    )


def _in_loop(path: Path, step: int) -> bool:
    return path.loop is not None and path.loop.covers(step)


def _picture(path: Path, explanation: Explanation, *, steps: bool = False) -> list[str]:
    """Return the diagram of a run, and a list of its steps where a diagram cannot show them."""
    words = Wording.of(path)
    packets = {packet for step in path.steps for _, packet in step.step.sends}
    detailed = any(words.value(packet) != words.label(packet) for packet in packets)
    drawn = fitting(path, explanation.remarks, WIDTH, beside_a_list=detailed)
    told = [steps_text(path, explanation)] if path.steps else []
    if drawn.width > WIDEST:
        return [f"(No diagram: it would be {drawn.width} columns wide.)", *told]
    notes = [f"{text}." for text in (loop_text(path),) if text] + _in_flight(drawn)
    parts = ["\n".join(drawn.lines), *([wrapped(" ".join(notes))] if notes else [])]
    return [*parts, *(told if steps or detailed or drawn.brief else [])]


def _in_flight(drawn: Diagram) -> list[str]:
    """Say what a diagram's run leaves in flight."""
    stub = any("┄" in line for line in drawn.lines)
    notes = ["An arrow ┄▷ is a packet that is still in flight at the end."] if stub else []
    if drawn.undrawn:
        left = [name if n == 1 else f"{n} {name}" for name, n in Counter(drawn.undrawn).items()]
        notes.append(f"Also in flight at the end, but not drawn: {listed(left)}.")
    return notes


def others_text(found: Collection, wanted: int) -> str:
    """Return the counterexamples of other kinds than the first one."""
    parts = [
        f"({number} of {wanted}) {path_text(path)}" for number, path in enumerate(found.paths, 2)
    ]
    if len(found.paths) + 1 < wanted:
        what = "there are no others" if found.exhausted else "the search ended before it found more"
        parts.append(
            wrapped(
                f"{len(found.paths) + 1} of {wanted} counterexamples that differ in kind: {what}. "
                f"The search explored {counted(found.unique_states, 'state')} and did not continue "
                "after a violation."
            )
        )
    return "\n\n".join(parts)


def single_text(
    report: CheckReport,
    saved: Mapping[str, str] = MappingProxyType({}),
    *,
    quiet: bool,
    verbose: bool = False,
) -> str:
    """Return the report on the only check.

    Its run is saved to the files `saved`, each with the name of its format.
    """
    if quiet:
        return headline(report)
    text, steps = check_text(report, verbose=verbose), next_steps(report, saved)
    return text if steps is None else f"{text}\n\n{steps}"


def checks_text(reports: Sequence[Checked], planned: int) -> str:
    """Return what is left to say of many checks: the failures in full, and a summary."""
    failures = [_failure_text(report) for report in reports if report.exit_code]
    return "\n\n".join([*failures, summary(reports, planned)])


def _failure_text(report: Checked) -> str:
    if isinstance(report, Refused):
        return wrapped(f"{report.label}: ERROR: {report.error}", "  ")
    return check_text(report)


def spec_line(report: Checked) -> str:
    """Return the line of one spec among many."""
    if isinstance(report, Refused):
        return f"{'ERROR':<10}  {'-':<10}  {'-':>13}         {'-':>8}  {report.label}"
    verdict = {0: "ok", 1: "FAILED", 2: "ERROR", 3: "INCOMPLETE"}[report.exit_code]
    counts = report.result.size
    states = counted(counts.unique_states, "state").split()[1]
    return (
        f"{verdict:<10}  {report.result.verdict:<10}  {counts.unique_states:>13,} {states:<6}  "
        f"{elapsed(report.result.seconds):>8}  {report.spec.label}{_conditions(report.result)}"
    )


def left_out_text(others: Sequence[FilePath]) -> str:
    """Say which TOML files of a folder are no specs."""
    first, more = [str(file) for file in others[:3]], len(others) - 3
    files = listed([*first, f"{more} more"] if more > 0 else first)
    return wrapped(f"Skipped, because they are not specs: {files}.")


def summary(reports: Sequence[Checked], planned: int) -> str:
    """Return the last line on many specs."""
    kinds = [report.exit_code for report in reports]
    seconds = sum(r.result.seconds for r in reports if isinstance(r, CheckReport))
    tallies = [
        f"{kinds.count(code)} {word}"
        for code, word in ((0, "as expected"), (1, "not as expected"), (2, "with an error"))
        if code == 0 or kinds.count(code)
    ]
    if kinds.count(3):
        tallies.append(f"{kinds.count(3)} incomplete")
    if planned > len(reports):
        tallies.append(f"{planned - len(reports)} not run")
    labels = [r.spec.label if isinstance(r, CheckReport) else r.label for r in reports]
    noun = "spec" if all(label.endswith(".toml") for label in labels) else "check"
    return f"{counted(planned, noun)}: {', '.join(tallies)}; {elapsed(seconds)}"


def replay_text(path: Path, prop: str | None, saved: str | None, file: str) -> str:
    """Return the report on a replayed trace.

    Args:
        path: the replayed run.
        prop: the property that was judged.
        saved: the property that the trace names.
        file: the trace.
    """
    every = "the transition" if path.length == 1 else f"all {path.length} transitions"
    if prop is None:
        return f"{file}: {every} of this run can still be taken"
    as_saved = saved is not None and _is_same_property(prop, saved)
    if path.violates is not None:
        still = "still " if as_saved else ""
        return "\n\n".join([f"{file}: {still}VIOLATED", path_text(path)])
    verb = "violates" if path.length == 1 else "violate"
    if as_saved:
        return (
            f"{file}: the {counted(path.length, 'transition')} can still be taken and no longer "
            f"{verb} {prop}"
        )
    # The two names may mean one property, which a program gave as an object.
    about = "no property" if saved is None else printable(saved)
    return wrapped(
        f"{file}: {every} of this run can still be taken. The run does not violate {prop}. It was "
        f"saved as a run that violates {about}."
    )


def _is_same_property(one: str, other: str) -> bool:
    """Return whether two names are equal, except that a file may be found at another place.

    FILE.py also names the only property of a file, which is FILE.py:OBJECT.
    """
    if not (names_file(one) and names_file(other)):
        return one == other
    (file, _, part), (other_file, _, other_part) = (each.rpartition(".py") for each in (one, other))
    return FilePath(file).name == FilePath(other_file).name and (
        part == other_part or not part or not other_part
    )
