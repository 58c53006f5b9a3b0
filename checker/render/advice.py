"""The end of a report: the meaning of an undecided verdict, and what to do next."""

from __future__ import annotations

import shlex
from collections.abc import Mapping
from types import MappingProxyType

import attrs

from antecede.checker.check.report import CheckReport
from antecede.checker.model import CausalSend, What
from antecede.checker.paths.path import Path
from antecede.checker.render.prose import Wording, listed, property_of
from antecede.checker.render.terminal import WIDTH, wrapped
from antecede.checker.search.coverage import why_vacuous
from antecede.checker.search.result import Verdict
from antecede.checker.semantics.crashes import is_live
from antecede.checker.semantics.normal import envelopes_of
from antecede.checker.semantics.question import Question, as_asked, options_of
from antecede.checker.support.extras import is_installed
from antecede.checker.support.interrupts import is_interruption
from antecede.checker.support.registry import PIPE, proof_names

_REMEDIES = {
    "no final state can be reached": "Check can-deliver, which needs no final state.",
    "nothing is delivered": "Check all-delivered or can-deliver to see what is not delivered.",
}
"""Reason for VACUOUS -> a remedy other than another workload."""


def advice(report: CheckReport) -> list[str]:
    """Return the meaning of a verdict that decides nothing, and a remedy; empty for others."""
    if report.result.verdict is Verdict.VACUOUS:
        return [_about_vacuous(report)]
    if report.result.verdict is Verdict.INCOMPLETE:
        return [_about_incomplete(report.result.stopped_by or "")]
    return []


def meaning_of(report: CheckReport) -> str:
    """Return what a verdict without a counterexample says about the system, in a few sentences."""
    if report.result.verdict is not Verdict.HOLDS:
        return "\n".join(advice(report))
    return (
        f"every run within these bounds satisfies {listed([*report.result.properties])}. "
        "The result says nothing about more actors or messages."
    )


def _about_vacuous(report: CheckReport) -> str:
    result = report.result
    reasons = dict.fromkeys(
        why_vacuous(prop, result.counts, result.statistics) or ""
        for prop in report.system.properties
        if result.properties[prop.name] is Verdict.VACUOUS
    )
    other = "Check a workload in which more happens."
    remedies = dict.fromkeys(_REMEDIES.get(reason, other) for reason in reasons)
    why = f"VACUOUS: nothing was violated, but {listed(list(reasons))}."
    return wrapped(" ".join([why, *remedies]))


def _about_incomplete(stopped: str) -> str:
    bound = stopped.partition(" ")[0]
    if "had not returned after" in stopped:
        meaning = "INCOMPLETE: a call did not return, so nothing is proved."
        return wrapped(f"{meaning} A function of a protocol must return soon.")
    if bound == "--bound":
        remedy = "Violations within the bound are real. Raise the bound to see more."
    elif bound.startswith("--"):
        remedy = f"Raise {bound} or leave it out, or check fewer actors or messages."
    elif is_interruption(stopped):
        remedy = "Run it again to the end, or check fewer actors or messages."
    elif stopped == "out of memory" or stopped.startswith("too little memory"):
        remedy = "Check fewer actors or messages, or use a machine with more memory."
    else:
        remedy = "Random walks can find a violation but never exclude one; use --search breadth."
    meaning = "INCOMPLETE: some reachable states were not explored, so nothing is proved."
    return wrapped(f"{meaning} {remedy}")


def next_steps(report: CheckReport, saved: Mapping[str, str] = MappingProxyType({})) -> str | None:
    """Return the commands that help the user further after a report, or None.

    The run of the report is saved to the files `saved`, each with the name of its format.
    """
    path = report.result.counterexample
    if path is not None:
        hints = _crash(path) or _broadcast(report, path)
        steps = _about_run(report, path, saved)
    elif report.result.verdict is Verdict.HOLDS and report.spec.file is None:
        hints, steps = [], _further(report)
    else:
        return None
    lines = [_in_line(purpose, command) for purpose, command in steps]
    return "\n\n".join([*hints, "\n".join(["Next:", *lines])]) if lines else None


def _in_line(purpose: str, command: str) -> str:
    """Return a step in one line, or in two if it is too wide for a terminal."""
    line = f"  {purpose:<15}  {command}"
    return line if len(line) <= WIDTH else f"  {purpose}\n    {command}"


def _about_run(report: CheckReport, path: Path, saved: Mapping[str, str]) -> list[tuple[str, str]]:
    """Return how to draw a counterexample, and how to step through it."""
    steps = [] if saved or not path.steps else [("draw the run", "add --trace bug.svg")]
    # `antecede explore` knows a trace by its ending.
    traces = (file for file, it in saved.items() if it == "json" and file.endswith(".json"))
    trace = next(traces, None)
    protocol = report.spec.protocol
    of_user = ".py" in protocol or protocol.startswith(PIPE)
    given = f" --protocol {shlex.quote(protocol)}" if of_user else ""
    prop = property_of(path) or ""
    if ".py" in prop:
        given += f" --property {shlex.quote(prop)}"
    if trace is not None:
        return [*steps, ("step through it", f"antecede explore {shlex.quote(trace)}{given}")]
    if report.spec.file is not None:
        return [*steps, ("step through it", f"antecede explore {shlex.quote(report.spec.label)}")]
    return [
        *steps,
        ("step through it", f"add --trace bug.json, then: antecede explore bug.json{given}"),
    ]


def _crash(path: Path) -> list[str]:
    """Return what a protocol needs if a run is over, or waits for ever, after a crash."""
    prop, state = path.violated, path.last
    crashed = [actor for actor in range(path.system.actors) if not is_live(state, actor)]
    if not crashed or prop is None or not (prop.at_end or prop.later):
        return []
    words = Wording.of(path)
    who = listed([words.actor(actor) for actor in crashed])
    packets = [words.label(each.packet) for each in envelopes_of(state) if each.dst in crashed]
    stay = "stays" if len(packets) == 1 else "stay"
    rest = f", so {listed(packets)} {stay} in flight" if packets else ""
    return [
        wrapped(
            f"{who} crashed and {'take' if len(crashed) > 1 else 'takes'} no more steps{rest}. A "
            f"protocol that waits for an answer or a message of {who} needs a failure detector, so "
            "that the others go on. To ask only whether the deliveries are right, add --property "
            "causal-delivery,integrity."
        )
    ]


def _broadcast(report: CheckReport, path: Path) -> list[str]:
    """Return a hint if a violation may come from checking a broadcast protocol without broadcasts.

    Such a protocol sends every packet to all actors, or waits for messages that this workload
    addresses to others.
    """
    system, prop = path.system, path.violated
    if system.workload.text != "any" or system.actors < 3 or prop is None:
        return []
    waits = prop.what is What.UNDELIVERED and system.network.lose is None
    if not waits and not _sends_to_all(path):
        return []
    name = report.system.protocol.name
    return [
        wrapped(
            f"This workload addresses each message to one actor. If {name} is a broadcast "
            "protocol, check it with --workload broadcast."
        )
    ]


def _sends_to_all(path: Path) -> bool:
    """Return whether every causal-send of a run sends packets to all other actors."""
    sends = [step for step in path.steps if isinstance(step.transition, CausalSend)]
    everyone = set(range(path.system.actors))
    return bool(sends) and all(
        {destination for destination, _ in step.step.sends} == everyone - {step.actor}
        for step in sends
    )


def _further(report: CheckReport) -> list[tuple[str, str]]:
    """Return how to check more of a protocol that holds, and how to prove it."""
    spec, asked = report.spec, as_asked(report.spec)
    steps: list[tuple[str, str]] = []
    if spec.workload in ("any", "broadcast", "multicast", "self"):
        larger = attrs.evolve(asked, messages=spec.messages + 1)
        steps.append(("check more", _check_of(larger)))
    # Timeouts can go on for ever, and all-delivered says nothing about runs that never end.
    repeats = report.system.protocol.timeout is not None
    if repeats and "all-delivered" in report.result.properties:
        reachable = attrs.evolve(asked, properties=("can-deliver",))
        steps.append(("endless runs", _check_of(reachable)))
    # A proof is about causal delivery, and about actors that do not crash.
    answers = spec.network in (None, "unordered", "fifo") and spec.crashes == "0"
    if answers and not spec.properties and spec.protocol in proof_names() and is_installed("prove"):
        steps.append(("try a proof", f"antecede prove {spec.protocol}"))
    return steps


def _check_of(question: Question) -> str:
    """Return the command that checks a question."""
    size = str(attrs.fields(Question).actors.default)
    options = (pair for pair in options_of(question) if pair != ("--actors", size))
    words = [f"{option} {shlex.quote(value)}" for option, value in options]
    return " ".join([f"antecede check {shlex.quote(question.protocol)}", *words])
