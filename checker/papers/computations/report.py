"""The result of a placement as text and as JSON."""

from __future__ import annotations

from typing import Any

from antecede.checker.papers.computations.computation import Computation, Script
from antecede.checker.papers.computations.generate import drawn
from antecede.checker.papers.computations.placement import Example, Placement
from antecede.checker.paths.path import Path
from antecede.checker.render.diagram import diagram
from antecede.checker.render.json import CLASSES_SCHEMA, counterexample_object, versions
from antecede.checker.render.prose import listed
from antecede.checker.render.ticker import Line
from antecede.checker.semantics.question import model_of
from antecede.checker.support.amounts import counted

CAUTION = "antecede enumerated this within the bounds. It is no proof for larger programs."


def verdict(placement: Placement) -> str:
    """Return where the protocol lies, as a sentence."""
    name = placement.spec.protocol
    if not placement.programs:
        return "No program was enumerated."
    if exactly := placement.exactly:
        if len(exactly) == 1:
            return f"{name} generates exactly the {exactly[0]} computations of these programs."
        return (
            f"In these programs, {listed(exactly)} have the same computations, and {name} "
            "generates exactly these."
        )
    lower = placement.contained[-1:]
    upper = placement.containing[0]
    if not lower:
        return f"{name} generates only {upper} computations, and all computations of no class."
    return (
        f"{name} lies between {lower[0]} and {upper}: it generates all {lower[0]} computations and "
        f"others, and some but not all {upper} computations."
    )


def missing_run(placement: Placement) -> Path | None:
    """Return a run with a smallest computation that the protocol does not generate, or None."""
    beyond = placement.beyond
    return None if beyond is None else drawn(beyond[1].script, beyond[1].computation)


def text(placement: Placement) -> str:
    """Return the report of a placement."""
    lines = [bounds_text(placement), "", *table(placement), ""]
    if placement.stopped_by is not None:
        lines += [f"INCOMPLETE: {placement.stopped_by}. The programs so far:"]
    lines += [verdict(placement)]
    if {"mailbox", "causal"} <= {*placement.exactly} and "any" in placement.workloads:
        lines += ["To tell mailbox from causal, use at least 4 actors: --actors 4."]
    if placement.stuck:
        stuck = counted(placement.stuck, "final state")
        lines += [f"In {stuck}, a message is not delivered. Their runs have no computation above."]
    if (beyond := placement.beyond) is not None:
        messages = counted(beyond[1].messages, "message")
        lines += [
            "",
            f"A smallest {beyond[0]} computation that {placement.spec.protocol} does not generate "
            f"({messages}):",
            "",
            *diagram(drawn(beyond[1].script, beyond[1].computation)).lines,
        ]
    return "\n".join([*lines, "", CAUTION])


def progress(placement: Placement) -> Line:
    """Return the line that shows how far an enumeration is."""
    done = f"{counted(placement.programs, 'program')}, {counted(placement.states, 'state')}"
    return lambda _width: f"{placement.spec.protocol}: {done}"


def bounds_text(placement: Placement) -> str:
    """Return the question and the size of the enumeration, as a sentence."""
    spec = placement.spec
    size = [
        f"at most {counted(spec.messages, 'message')} each and {placement.most} in all"
        if workload == "any"
        else workload
        for workload in placement.workloads
    ]
    every = "any" in placement.workloads
    others = ", up to the names of actors" if placement.renamed and every else ""
    return (
        f"{spec.protocol}: {counted(spec.actors, 'actor')}, {' and '.join(size)}: "
        f"{counted(placement.programs, 'program')}{others}, "
        f"{counted(sum(placement.every), 'complete computation')}, "
        f"{counted(placement.states, 'state')}"
    )


def table(placement: Placement) -> list[str]:
    """Return the table of the classes, as lines."""
    lines = [f"{'class':<14}{'computations':>12}{'generated':>12}"]
    for row in placement.rows:
        lines.append(f"{row.name:<14}{row.computations:>12,}{row.generated:>12,}")
    return lines


def placement_object(placement: Placement) -> dict[str, Any]:
    """Return the result as a JSON object."""
    beyond = placement.beyond
    return {
        "schema": CLASSES_SCHEMA,
        **model_of(placement.spec),
        "workload": list(placement.workloads),
        "max_messages": placement.most,
        "programs": placement.programs,
        "up_to_names": placement.renamed,
        "states": placement.states,
        "stuck": placement.stuck,
        "exactly": placement.exactly,
        "contained": placement.contained,
        "containing": placement.containing,
        "classes": {
            row.name: {"computations": row.computations, "generated": row.generated}
            for row in placement.rows
        },
        "missing": None if beyond is None else {"class": beyond[0], **_example(beyond[1])},
        "stopped_by": placement.stopped_by,
        "proved": False,
        "versions": versions(),
    }


def _example(example: Example) -> dict[str, Any]:
    return {
        "script": _lists(example.script),
        "events": events_of(example.computation),
        "run": counterexample_object(drawn(example.script, example.computation)),
    }


def _lists(script: Script) -> list[list[int]]:
    return [list(receivers) for receivers in script]


def events_of(computation: Computation) -> list[list[dict[str, Any]]]:
    """Return per actor its events, each with its kind and its message."""
    return [
        [
            {
                "event": "deliver" if event.delivers else "causal-send",
                "sender": event.message[0],
                "number": event.message[1],
            }
            for event in own
        ]
        for own in computation
    ]
