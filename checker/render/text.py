"""What people read of a check: verdicts, figures, counterexamples, advice."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator, Mapping, Sequence
from itertools import zip_longest
from pathlib import Path as FilePath
from types import MappingProxyType

from antecede.checker.check.report import Checked, CheckReport, Refused, decides
from antecede.checker.check.spec import Expectation
from antecede.checker.liveness import starvation
from antecede.checker.model import Property, Where
from antecede.checker.paths.growth import Growth
from antecede.checker.paths.path import Path
from antecede.checker.render import coverage, measures
from antecede.checker.render.about import model_variant, most, network_text
from antecede.checker.render.advice import advice, next_steps
from antecede.checker.render.diagram import Diagram, diagram
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
    graph_text,
    plainly_text,
    rounds_on_spark_text,
    slowness_text,
    statistics_text,
    symmetry_text,
)
from antecede.checker.render.terminal import elapsed, rate, wrapped
from antecede.checker.search.counterexample_kinds import Collection
from antecede.checker.search.coverage import why_vacuous
from antecede.checker.search.result import Result, Verdict
from antecede.checker.semantics.failing import FAILURES, failure_in
from antecede.checker.semantics.transition import EndlessSystem, System
from antecede.checker.support.amounts import counted, memory
from antecede.checker.support.registry import default_properties, names_file

WIDEST = 150
"""Columns of the widest diagram that is worth printing."""


def check_text(report: CheckReport, *, statistics: bool = False) -> str:
    """Return the final report on one check."""
    parts = ["\n".join([_opening(report), *_title(report)]), _properties(report)]
    if (text := endless_text(report)) is not None:
        parts.append(text)
    parts += [*_run_texts(report), _figures(report)]
    remarks = (
        plainly_text,
        symmetry_text,
        graph_text,
        rounds_on_spark_text,
        slowness_text,
        checkpoint_text,
    )
    parts += [text for remark in remarks if (text := remark(report.result))]
    parts += never_text(report.result)
    if (measured := measures_text(report)) is not None:
        parts.append(measured)
    if report.coverage is not None:
        parts.append(coverage.text(report.coverage, complete=report.result.visited_all))
    if report.unfinished is not None:
        parts.append(wrapped(f"The work after the search was ended: {report.unfinished}."))
    if statistics and (text := statistics_text(report.result)):
        parts.append(text)
    return "\n\n".join([*parts, *advice(report)])


def _run_texts(report: CheckReport) -> Iterator[str]:
    """Yield the runs of a report: the counterexample, witnesses, runs to a limit, a sample."""
    if report.result.counterexample is not None:
        yield path_text(report.result.counterexample)
    for name, path in report.result.shown.items():
        yield run_text(f"{name} is reached after", path)
    yield from map(growth_text, report.result.grown)
    if report.sample is not None:
        yield run_text("A run of", report.sample)


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
    if any(prop.where is Where.ON_FAIR_RUNS for prop in system.properties):
        assumed = starvation.FAIRNESS[system.network.lose is not None]
        fair = f"  Assumed of the network: {assumed}. A timer or action that stays enabled happens."
        lines.append(wrapped(fair, "  "))
        lines.append("  The application may stop as long as anything else can happen.")
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


def measures_text(report: CheckReport) -> str | None:
    """Return what was measured, or why nothing was; None if it was not asked for."""
    if report.unmeasured is not None:
        return f"  not measured: {report.unmeasured}"
    return None if report.measures is None else measures.text(report.measures)


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


def _properties(report: CheckReport) -> str:
    """Return a line per property; those that a protocol declares, and nobody asked for, share one.

    One line has the invariants, another one the predicates of final states.
    """
    verdicts, asked = report.result.properties, report.spec.properties
    apart = [
        p
        for p in report.system.properties
        if not p.name.startswith(("invariant:", "at-rest:"))
        or p.name in asked
        or verdicts[p.name] is Verdict.VIOLATED
    ]
    rows = [(p.name, verdicts[p.name], _about(report.result, p)) for p in apart]
    others = [p.name.partition(":") for p in report.system.properties if p not in apart]
    kinds = ((kind, verdicts[f"{kind}:{name}"]) for kind, _, name in others)
    for kind, verdict in dict.fromkeys(kinds):
        names = [n for k, _, n in others if (k, verdicts[f"{k}:{n}"]) == (kind, verdict)]
        title = {"invariant": "invariants", "at-rest": "at rest"}[kind]
        rows.append((title, verdict, ", ".join(names)))
    wide = max(len(name) for name, *_ in rows)
    lines = [
        wrapped(f"  {name:<{wide}}  {verdict:<10}  {said}", " " * (wide + 16))
        for name, verdict, said in rows
    ]
    return "\n".join(line.rstrip() for line in lines)


def _about(result: Result, prop: Property) -> str:
    """Say what a property's verdict rests on, where that is not plain."""
    verdict, path = result.properties[prop.name], result.counterexample
    if verdict is Verdict.VIOLATED and path is not None and path.violates == prop.name:
        return f"counterexample below: {length_text(path)}"
    if verdict is Verdict.VIOLATED and prop.sought:
        return "no reachable state satisfies it"
    if verdict is Verdict.HOLDS and prop.name in result.shown:
        return f"reached by the run below: {length_text(result.shown[prop.name])}"
    if verdict is Verdict.VACUOUS:
        return f"nothing to judge: {why_vacuous(prop, result.counts, result.statistics)}"
    if verdict is Verdict.INCOMPLETE and path is not None:
        if result.failed:
            return f"not decided: the search ended where {failed_part(path.failure)} failed"
        return "not decided: the search ended with the violation"
    if verdict is Verdict.INCOMPLETE:
        return "not decided" if prop.sought else "no violation found so far"
    return ""


def _figures(report: CheckReport) -> str:
    """Return what was explored, and beside it what was asked for."""
    result, system = report.result, report.system
    counts = result.size
    seen = "distinct states seen" if report.spec.search == "random" else "unique states"
    left = [
        (seen, f"{counts.unique_states:,}"),
        ("total states", f"{counts.total_states:,}"),
        ("depth", f"{counts.depth:,}"),
        ("final states", f"{counts.final_states:,}"),
        ("time", elapsed(result.seconds)),
        ("explored/s", rate(result.counts.total_states, result.seconds)),
        ("peak memory", memory(result.peak_memory_bytes)),
    ]
    left = [(name, value) for name, value in left if value]
    right = [
        ("protocol", system.protocol.name),
        ("actors", f"{system.actors}"),
        ("messages", _messages(system)),
        ("network", network_text(system)),
        ("workload", system.workload.text),
        ("history", system.oracle.name),
        ("search", _search(report)),
    ]
    if (variant := model_variant(system)) is not None:
        right.append(("model", variant))
    wide = max(len(name) for name, _ in left)
    return "\n".join(
        f"  {name:<{wide}}  {value:>13}      {other:<8}  {setting}"
        for (name, value), (other, setting) in zip_longest(left, right, fillvalue=("", ""))
    )


def _messages(system: System) -> str:
    """Return how many messages an actor causal-sends."""
    if isinstance(system, EndlessSystem):
        return f"any number, {system.workload.buffer} undelivered per actor"
    return f"{most(system)}{system.messages} per actor"


def _search(report: CheckReport) -> str:
    options = report.options
    if options.search == "random":
        walks = counted(options.walks, "walk")
        return f"random, {walks}, seed {options.seed}, engine {options.engine}"
    return f"{options.search}-first, engine {options.engine}"


def path_text(path: Path) -> str:
    """Return a counterexample: the violated property, the reason, the picture and the steps."""
    explanation = explain(path)
    parts = [
        f"{_what_happens(path)}:",
        wrapped(explanation.text),
        *_diagram_parts(path, explanation),
        steps_text(path, explanation),
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
    return "\n\n".join([head, steps_text(path, none), *_diagram_parts(path, none)])


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


def _diagram_parts(path: Path, explanation: Explanation) -> list[str]:
    drawn = diagram(path, explanation.remarks)
    if drawn.width > WIDEST:
        return [f"(No diagram: it would be {drawn.width} columns wide.)"]
    parts = ["\n".join(drawn.lines)]
    notes = [f"{text}." for text in (loop_text(path),) if text]
    notes += [*_heavy(path, explanation), *_in_flight(drawn)]
    return [*parts, wrapped(" ".join(notes))] if notes else parts


def _heavy(path: Path, explanation: Explanation) -> list[str]:
    """Say what the heavy line of a diagram is."""
    words = Wording.of(path)
    return [
        f"The heavy line is {words.message(message)}, delivered {remark}."
        for (_, message), remark in explanation.remarks.items()
        if remark == "too late"
    ]


def _in_flight(drawn: Diagram) -> list[str]:
    """Say what a diagram's run leaves in flight."""
    stub = any("┄" in line for line in drawn.lines)
    notes = ["An arrow ┄▷ is a packet that is still in flight at the end."] if stub else []
    if drawn.undrawn:
        notes.append(f"Also in flight at the end, but not drawn: {listed(drawn.undrawn)}.")
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
    statistics: bool = False,
) -> str:
    """Return the report on the only check.

    Its run is saved to the files `saved`, each with the name of its format.
    """
    if quiet:
        return headline(report)
    text, steps = check_text(report, statistics=statistics), next_steps(report, saved)
    return text if steps is None else f"{text}\n\n{steps}"


def checks_text(reports: Sequence[Checked], planned: int) -> str:
    """Return what is left to say of many checks: the failures in full, and a summary."""
    failures = [_failure_text(report) for report in reports if report.exit_code]
    return "\n\n".join([*failures, summary(reports, planned)])


def _failure_text(report: Checked) -> str:
    if isinstance(report, Refused):
        return f"{report.label}: ERROR\n{wrapped(f'  {report.error}', '  ')}"
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
