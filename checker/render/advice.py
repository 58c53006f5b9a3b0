"""The end of a report: the meaning of an undecided verdict, and what to do next."""

from __future__ import annotations

import shlex
from collections.abc import Collection, Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import Any

import attrs

from antecede.checker.check.report import CheckReport
from antecede.checker.model import CausalSend, What
from antecede.checker.paths.path import Path, PathStep
from antecede.checker.render.prose import Wording, listed, property_of
from antecede.checker.render.terminal import WIDTH, wrapped
from antecede.checker.search.emptiness import (
    RULES,
    at_stake_in_channels,
    can_break_chains,
    messages_of,
)
from antecede.checker.search.options import Options
from antecede.checker.search.result import Verdict
from antecede.checker.semantics.crashes import cut_of, is_live
from antecede.checker.semantics.failing import is_declared
from antecede.checker.semantics.normal import envelopes_of
from antecede.checker.semantics.question import Question, as_asked, has_options, options_of
from antecede.checker.semantics.transition import EndlessSystem, System
from antecede.checker.semantics.workload import CHOICES
from antecede.checker.semantics.workloads import workload_from
from antecede.checker.support.extras import is_installed
from antecede.checker.support.interrupts import is_interruption
from antecede.checker.support.registry import PIPE, proof_names

_REMEDIES = {
    "no final state can be reached": "Check can-deliver, which needs no final state.",
    "nothing is delivered": "Check all-delivered or can-deliver to see what is not delivered.",
    "no message has two receivers": "Use --workload broadcast.",
}
"""Reason for VACUOUS -> a remedy other than another workload."""


def advice(report: CheckReport) -> list[str]:
    """Return the meaning of a verdict that decides nothing, and a remedy; empty for others."""
    if report.result.verdict is Verdict.VACUOUS:
        return [_about_vacuous(report)]
    if report.result.verdict is Verdict.INCOMPLETE:
        return [_about_incomplete(report.result.stopped_by or "", report.system)]
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
    reasons = dict.fromkeys(result.vacuous.values())
    sentences = [f"VACUOUS: nothing was violated, but {listed(list(reasons))}."]
    if result.empty:
        sentences += _about_empty(report)
    other = "Check a workload in which more happens."
    met = [why for name, why in result.vacuous.items() if name not in result.empty]
    sentences += dict.fromkeys(_REMEDIES.get(reason, other) for reason in met)
    return wrapped(" ".join(sentences))


_NEEDS = {
    "causal-delivery": "A message is overtaken only by a message to the same receiver that depends "
    "on it, and here there is none.",
    "fifo-delivery": "Here no actor sends two messages to one receiver.",
    "same-order": "Here no two messages have two receivers in common.",
    "total-order": "Here the receivers of messages overlap too little for a contradiction.",
}
"""A property that no protocol can violate with some messages -> what these messages lack."""


def _about_empty(report: CheckReport) -> list[str]:
    """Return why no protocol can violate some properties, and which workload lets one do it."""
    result = report.result
    lacking = [_NEEDS[name] for name in result.properties if name in result.empty & _NEEDS.keys()]
    if result.empty - _NEEDS.keys():
        lacking.append("antecede tried every order of their deliveries.")
    changes = more_messages(report.system, result.empty)
    use = _as_options(changes)
    small = {"workload": SMALL, "actors": 3}
    if report.system.workload.kind in ("any", "self") and "workload" not in changes:
        use += f", or for fewer states {_as_options(small)}"
    kept = (name for name in result.properties if name not in result.vacuous)
    others = [name for name in kept if not is_declared(name)]
    steps = [*lacking, f"Use {use}."]
    if others:
        steps.append(f"To check only {listed(others)}, add --property {','.join(others)}.")
    return steps


def _as_options(changes: Mapping[str, Any]) -> str:
    return " and ".join(f"--{name} {shlex.quote(str(value))}" for name, value in changes.items())


SMALL = "script:[[2,1],[2],[]]"
"""A workload of three actors with few states, in which a message can be overtaken.

Its sender sends again, and the receiver of the second message sends to the receiver of the first.
"""


def more_messages(system: System, names: Collection[str]) -> dict[str, Any]:
    """Return the changes to a question after which all these properties of order can be violated.

    Causal order can then be violated across channels. The workload remains of the same kind, if one
    of that kind will do.
    """
    workload, several = system.workload, {"same-order", "total-order"}.intersection(names)
    kind, _, argument = workload.text.partition(":")
    if kind in ("any", "self") and several:
        return {"workload": "broadcast", **_larger(system, "broadcast", names)}
    if kind in CHOICES:
        return _larger(system, kind, names)
    if kind == "endless":
        wider = ":".join(["endless:2", *argument.split(":")[1:]])
        if _suffices(wider, system.actors, 1, names):
            return {"workload": wider}
    if several:
        return {"workload": "broadcast", "actors": 3, "messages": 2}
    small = {"workload": SMALL if _suffices(SMALL, 3, 2, names) else "script:[[1,1],[],[]]"}
    return small | ({} if system.actors == 3 else {"actors": 3})


_SIZES = tuple((actors, messages) for messages in (1, 2) for actors in (2, 3, 4))


def _larger(system: System, kind: str, names: Collection[str]) -> dict[str, Any]:
    """Return the smallest numbers of actors and messages that suffice, if they differ."""
    own = system.actors, system.messages
    sizes = sorted(_SIZES, key=lambda size: (size[0] < own[0], size[0] * size[1]))
    found = next(size for size in sizes if _suffices(kind, *size, names))
    changed = zip(("actors", "messages"), found, own, strict=True)
    return {name: value for name, value, before in changed if value != before}


def _suffices(text: str, actors: int, messages: int, names: Collection[str]) -> bool:
    """Return whether some protocol can violate each property, and causal order across channels."""
    sent = messages_of(workload_from(text, actors, messages), actors)
    rules = {**RULES, "causal-delivery": can_break_chains}
    return all(rules.get(name, can_break_chains)(sent) for name in names)


def _grows(system: System) -> bool:
    """Return whether objects without a key may have infinitely many states."""
    repeats = system.protocol.timeout is not None or system.network.duplicates
    return system.protocol.states_are_calls and repeats


def _about_incomplete(stopped: str, system: System) -> str:
    bound = stopped.partition(" ")[0]
    if "had not returned after" in stopped:
        meaning = "INCOMPLETE: a call did not return, so nothing is proved."
        return wrapped(f"{meaning} A function of a protocol must return soon.")
    if _grows(system):
        again = "timeout" if system.protocol.timeout is not None else "packet that arrives again"
        remedy = (
            f"Without a key, the state of an object is its calls, so every {again} makes a new "
            "state. Give the class a method key(); a program gives state or key in its answers."
        )
    elif bound == "--bound":
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
    path, verdict = report.result.counterexample, report.result.verdict
    if verdict is Verdict.VIOLATED and path is not None:
        hints = _crash(path) or _broadcast(report, path)
        steps, opening = _about_run(report, path, saved), "Next:"
    elif verdict is Verdict.HOLDS and report.spec.file is None:
        hints, steps = [], _further(report)
        every = isinstance(report.system, EndlessSystem)
        opening = "Next:" if every else "HOLDS says nothing about larger systems. Next:"
    else:
        return None
    return "\n\n".join([*hints, "\n".join([opening, *_lines(steps)])]) if steps else None


def _lines(steps: Sequence[tuple[str, str]]) -> Iterator[str]:
    """Yield commands, each with its purpose beside it or, if one is too long, below it."""
    short = [command for command, purpose in steps if len(command) + len(purpose) + 5 <= WIDTH]
    wide = max(map(len, short), default=0)
    for command, purpose in steps:
        line = f"  {command:<{wide}}   {purpose}"
        yield line if len(line) <= WIDTH else f"  {command}\n      {purpose}"


def _about_run(report: CheckReport, path: Path, saved: Mapping[str, str]) -> list[tuple[str, str]]:
    """Return how to draw a counterexample or step through it, and how to check the rest."""
    # `antecede explore` knows a trace by its ending.
    traces = (file for file, it in saved.items() if it == "json" and file.endswith(".json"))
    if (trace := next(traces, None)) is not None:
        given = _given(report, path)
        steps = [(f"antecede explore {shlex.quote(trace)}{given}", "step through the run")]
    elif saved:
        steps = []
    else:
        steps = [(f"{_same(report)} --trace run.html", "packets and states, step by step")]
    undecided = [
        name
        for name, verdict in report.result.properties.items()
        if verdict is Verdict.INCOMPLETE and not is_declared(name)
    ]
    if undecided and report.spec.file is None:
        others = attrs.evolve(as_asked(report.spec), properties=())
        steps.append(
            (f"{_check_of(others)} --property {','.join(undecided)}", "the other properties")
        )
    return steps


def _same(report: CheckReport) -> str:
    """Return the command that finds the same run again."""
    if report.spec.file is not None:
        return f"antecede check {shlex.quote(report.spec.label)}"
    options = [
        f" --{name} {value}"
        for name in ("search", "seed")
        if (value := getattr(report.options, name)) != getattr(attrs.fields(Options), name).default
    ]
    return _check_of(as_asked(report.spec)) + "".join(options)


def _given(report: CheckReport, path: Path) -> str:
    """Return the options that name the protocol and the property of a trace, if files have them."""
    protocol, prop = report.spec.protocol, property_of(path) or ""
    of_user = ".py" in protocol or protocol.startswith(PIPE)
    given = f" --protocol {shlex.quote(protocol)}" if of_user else ""
    return f"{given} --property {shlex.quote(prop)}" if ".py" in prop else given


def _crash(path: Path) -> list[str]:
    """Return what a protocol needs if a run is over, or waits forever, after a crash."""
    prop, state = path.violated, path.last
    if prop is None or not (prop.at_end or prop.later):
        return []
    crashed = [actor for actor in range(path.system.actors) if not is_live(state, actor)]
    words = Wording.of(path)
    recovers = path.system.protocol.recover is not None
    split = [
        _split(words, step, recovers=recovers)
        for step in path.steps
        if cut_of(step.transition) is not None
    ]
    if not crashed or prop.what is What.PARTLY_DELIVERED:
        return split[:1]
    who = listed([words.actor(actor) for actor in crashed])
    packets = [words.label(each.packet) for each in envelopes_of(state) if each.dst in crashed]
    stay = "stays" if len(packets) == 1 else "stay"
    rest = f", so {listed(packets)} {stay} in flight" if packets else ""
    return [
        wrapped(
            f"{who} crashed and {'take' if len(crashed) > 1 else 'takes'} no more steps{rest}. A "
            f"protocol that waits for an answer or a message of {who} needs a failure detector to "
            "go on. To judge only the deliveries, add --property causal-delivery,integrity."
        ),
        *split[:1],
    ]


def _split(words: Wording, step: PathStep, *, recovers: bool) -> str:
    """Return what a protocol needs if an actor crashes in the middle of a step."""
    what = f"In step {step.number}, {words.actor(step.actor)} crashed before all its packets left."
    again = "Keep the packets on the disk, and let recover send them again."
    all_of_them = (
        "If all the others must deliver a message, or none of them, let its receivers pass it on."
    )
    return wrapped(f"{what} {again if recovers else all_of_them}")


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
    if not has_options(asked):
        return steps
    if at_stake_in_channels(report.system, report.result):
        wider = attrs.evolve(asked, **more_messages(report.system, ["causal-delivery"]))
        steps.append((_check_of(wider), "order across channels"))
    if spec.workload in ("any", "broadcast", "multicast", "self"):
        larger = attrs.evolve(asked, messages=spec.messages + 1)
        steps.append((_check_of(larger), "a larger system"))
    # Timeouts can go on forever, and all-delivered says nothing about runs that never end.
    repeats = report.system.protocol.timeout is not None
    if repeats and "all-delivered" in report.result.properties:
        reachable = attrs.evolve(asked, properties=("can-deliver",))
        steps.append((_check_of(reachable), "runs that never end"))
    # A proof is about causal delivery, about actors that do not crash, and not about labels.
    answers = spec.network in (None, "unordered", "fifo") and spec.crashes == "0"
    answers = answers and not spec.labels
    if answers and not spec.properties and spec.protocol in proof_names() and is_installed("prove"):
        steps.append((f"antecede prove {spec.protocol}", "every size, on an abstract model"))
    return steps


def _check_of(question: Question) -> str:
    """Return the command that checks a question."""
    fields = attrs.fields(Question)
    usual = {(f"--{name}", str(getattr(fields, name).default)) for name in ("actors", "messages")}
    properties = ",".join(question.properties)
    options = [
        pair for pair in options_of(attrs.evolve(question, properties=())) if pair not in usual
    ]
    options += [("--property", properties)] if properties else []
    words = [f"{option} {shlex.quote(value)}" for option, value in options]
    return " ".join([f"antecede check {shlex.quote(question.protocol)}", *words])
