"""The tables of a report with `--verbose`: every verdict, every figure, every setting."""

from __future__ import annotations

from itertools import zip_longest

from antecede.checker.check.report import CheckReport
from antecede.checker.model import Property
from antecede.checker.render.about import model_variant, most, network_text
from antecede.checker.render.prose import failed_part, length_text
from antecede.checker.render.terminal import elapsed, rate, wrapped
from antecede.checker.search.result import Result, Verdict
from antecede.checker.semantics.failing import is_declared
from antecede.checker.semantics.transition import EndlessSystem, System
from antecede.checker.support.amounts import counted, memory
from antecede.checker.support.registry import KINDS


def verdicts_table(report: CheckReport) -> str:
    """Return a line per property; those that a protocol declares, and nobody asked for, share one.

    One line has the invariants, another one the predicates of final states.
    """
    verdicts, asked = report.result.properties, report.spec.properties
    apart = [
        p
        for p in report.system.properties
        if not (is_declared(p.name) and not p.sought)
        or p.name in asked
        or verdicts[p.name] is Verdict.VIOLATED
    ]
    rows = [(p.name, verdicts[p.name], _about(report.result, p)) for p in apart]
    others = [p.name.partition(":") for p in report.system.properties if p not in apart]
    kinds = ((kind, verdicts[f"{kind}:{name}"]) for kind, _, name in others)
    for kind, verdict in dict.fromkeys(kinds):
        names = [n for k, _, n in others if (k, verdicts[f"{k}:{n}"]) == (kind, verdict)]
        title = KINDS[kind][1]
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
    if verdict is Verdict.INCOMPLETE and path is not None:
        if result.failed:
            return f"not decided: the search ended where {failed_part(path.failure)} failed"
        return "not decided: the search ended with the violation"
    if verdict is Verdict.INCOMPLETE:
        return "not decided" if prop.sought else "no violation found so far"
    return reason_of(result, prop)


def reason_of(result: Result, prop: Property) -> str:
    """Return what a decided property's verdict rests on, or "" if that is plain."""
    verdict = result.properties[prop.name]
    if verdict is Verdict.VIOLATED and prop.sought:
        return "no reachable state satisfies it"
    if verdict is Verdict.HOLDS and prop.name in result.shown:
        return f"reached by the run below: {length_text(result.shown[prop.name])}"
    if verdict is Verdict.VACUOUS:
        return f"nothing to judge: {result.vacuous[prop.name]}"
    return ""


def figures_table(report: CheckReport) -> str:
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
        f"  {name:<{wide}}  {value:>13}      {other:<8}  {setting}".rstrip()
        for (name, value), (other, setting) in zip_longest(left, right, fillvalue=("", ""))
    )


def _messages(system: System) -> str:
    """Return how many messages an actor sends."""
    if isinstance(system, EndlessSystem):
        return f"any number, {system.workload.buffer} undelivered per actor"
    return f"{most(system)}{system.messages} per actor"


def _search(report: CheckReport) -> str:
    options = report.options
    if options.search == "random":
        walks = counted(options.walks, "walk")
        return f"random, {walks}, seed {options.seed}, engine {options.engine}"
    return f"{options.search}-first, engine {options.engine}"
