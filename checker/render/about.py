"""The summary of a path for files and pages: headline, question, verdict, explanation."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import attrs
from attrs import frozen

from antecede.checker.check.report import CheckReport
from antecede.checker.model import What
from antecede.checker.paths.path import Path
from antecede.checker.paths.violation import lost, wrong_order
from antecede.checker.render.explanation import Explanation, explain
from antecede.checker.render.prose import Wording, failed_part, length_text, listed, printable
from antecede.checker.search.options import Options
from antecede.checker.semantics.failing import HANDLER_RETURNS
from antecede.checker.semantics.programs import ANY_MESSAGE
from antecede.checker.semantics.question import Question
from antecede.checker.semantics.transition import EndlessSystem, System
from antecede.checker.support.amounts import counted


@frozen(eq=False)
class About:
    """Texts about one path, plain and unescaped.

    Attributes:
        violates: the property that is violated, or None.
        length: the number of transitions, in words.
        explanation: the reason of the violation, in words.
        fails: what fails at the end of the run; empty if nothing does.
        figures: (name, value) pairs with statistics of the search; empty if there was none.
    """

    headline: str
    question: str
    violates: str | None
    length: str
    explanation: Explanation
    fails: str = ""
    figures: tuple[tuple[str, str], ...] = ()

    @property
    def verdict(self) -> str:
        """The violation or failure and the length of the path, in one line."""
        if self.violates is None:
            return f"A run of {self.length}"
        if self.fails:
            return f"ERROR: {self.fails} fails after {self.length}"
        return f"{self.violates} VIOLATED after {self.length}"


def about(path: Path, report: CheckReport | None = None) -> About:
    """Return the summary of `path`; `report` is the check that found it, or None."""
    return About(
        headline=_headline(path),
        question=question(path.system),
        violates=path.violates,
        length=length_text(path),
        explanation=explanation_of(path),
        fails=_failing_part(path),
        figures=() if report is None else _figures(report),
    )


def _failing_part(path: Path) -> str:
    """Return what fails at the end of a run; empty if nothing does."""
    return "a handler" if path.violates == HANDLER_RETURNS else failed_part(path.failure)


def explanation_of(path: Path) -> Explanation:
    """Return the explanation of `path`; it is empty if the path violates nothing."""
    return Explanation("") if path.violates is None else explain(path)


def _headline(path: Path) -> str:
    words = Wording.of(path)
    if (pair := wrong_order(path)) is not None:
        first, second = words.said(pair.first), words.said(pair.second)
        who = words.actor(pair.actor)
        return f"{who} delivers {second} before {first}, which was sent earlier"
    if missing := lost(path):
        names = listed([words.said(message) for message in missing])
        if path.violated is not None and path.violated.what is What.PARTLY_DELIVERED:
            return f"Only some receivers deliver {names}"
        return f"{names} {'is' if len(missing) == 1 else 'are'} never delivered"
    if fails := _failing_part(path):
        return f"{path.system.protocol.name}: {fails} fails"
    if path.violates is not None:
        return f"{path.violates} is violated"
    return f"A run of {path.system.protocol.name}"


def model_variant(system: System) -> str | None:
    """Return the deviations from the default model in words, or None."""
    asked = system.question
    parts = [f"sends {asked.sends}"] if asked.sends != "joint" else []
    parts += [f"clocks at the {asked.clock_at}"] if asked.clock_at != "causal-send" else []
    if asked.labels:
        parts.append(f"labels {asked.labels}")
    if system.crashes is not None:
        parts.append(f"crashes {asked.crashes}")
        parts += ["packets to crashed actors lost"] if system.crashes.lost else []
    return ", ".join(parts) or None


def question(system: System) -> str:
    """Return the question in words: the protocol as on the command line, and the bounds."""
    parts = [
        system.reference or system.protocol.name,
        f"{system.actors} actors",
        _how_many(system),
        f"network {network_text(system)}",
        f"workload {workload_text(system)}",
    ]
    if (variant := model_variant(system)) is not None:
        parts.append(variant)
    return " · ".join(parts)


def setting(report: CheckReport) -> str:
    """Return the size and the network of a check, and the other settings that are not default."""
    spec, options, system = report.spec, report.options, report.system
    parts = [counted(system.actors, "actor")]
    parts += [] if most(system) else [_how_many(system)]  # the workload says it
    parts += [f"network {network_text(system)}"]
    if spec.file is not None:
        parts.insert(0, f"protocol {system.protocol.name}")
    if system.workload.text != attrs.fields(Question).workload.default:
        parts.append(f"workload {workload_text(system)}")
    if spec.history != attrs.fields(Question).history.default:
        parts.append(f"history {spec.history}")
    for name in ("search", "engine"):
        if (value := getattr(options, name)) != getattr(attrs.fields(Options), name).default:
            parts.append(f"{name} {value}")
    if (variant := model_variant(system)) is not None:
        parts.append(variant)
    return ", ".join(parts)


def network_text(system: System) -> str:
    """Return the network; if the protocol declares one, also whether they agree."""
    protocol, network = system.protocol, system.network.name
    if network == protocol.network:
        return network if network == "unordered" else f"{network}, as it needs"
    if protocol.network == "unordered":
        return network
    return f"{network}, though it needs {protocol.network}"


def _how_many(system: System) -> str:
    """Return the number of messages in words."""
    if isinstance(system, EndlessSystem):
        return f"any number of messages, {system.workload.buffer} undelivered each"
    return f"{most(system)}{counted(system.messages, 'message')} each"


def most(system: System) -> str:
    """Return `at most ` if some actors may causal-send fewer messages than others."""
    return "at most " if system.workload.kind in ("script", "reaction", "program") else ""


def _figures(report: CheckReport) -> tuple[tuple[str, str], ...]:
    result, counts = report.result, report.result.size
    properties = ", ".join(f"{name} {verdict}" for name, verdict in result.properties.items())
    return (
        ("verdict", str(result.verdict)),
        ("properties", properties),
        ("unique states", f"{counts.unique_states:,}"),
        ("total states", f"{counts.total_states:,}"),
        ("depth", f"{counts.depth:,}"),
        ("final states", f"{counts.final_states:,}"),
        ("history", report.system.oracle.name),
        ("search", f"{report.spec.search}, engine {report.options.engine}"),
    )


# Workloads: who sends what to whom


def workload_text(system: System) -> str:
    """Return the kind of a workload and, in brackets, the content of its list.

    `--workload` takes lists as JSON; captions are for people.
    """
    workload = system.workload
    kind, _, argument = workload.text.partition(":")
    if kind == "endless":
        number, _, argument = argument.partition(":")
        kind = f"{kind}:{number}"
    if not argument:
        return kind
    parts = _WORDS[workload.kind](json.loads(argument), Wording.about(system))
    return f"{kind} ({'; '.join(parts) or 'nobody sends'})"


def _rows(rows: Sequence[Sequence[Any]], words: Wording, joined: str) -> list[str]:
    """Return who sends to whom; a list in place of an actor is one message to all of these."""
    return [
        f"{words.actor(actor)} to {joined.join(_actors(target, words) for target in row)}"
        for actor, row in enumerate(rows)
        if row
    ]


def _actors(target: int | Sequence[int] | Mapping[str, Any], words: Wording) -> str:
    if isinstance(target, Mapping):
        return f"{_actors(target['to'], words)} ({printable(str(target['label']))})"
    several = [target] if isinstance(target, int) else target
    return listed([words.actor(actor) for actor in several])


def _reaction(sends: Sequence[Mapping[str, Any]], words: Wording) -> list[str]:
    return [
        f"{words.actor(send['from'])} sends {printable(send['name'])}"
        + (f" ({printable(str(send['label']))})" if "label" in send else "")
        + " to"
        f" {_actors(send['to'], words)}"
        + (f" after {_messages(send['after'])}" if "after" in send else "")
        for send in sends
    ]


def _program(programs: Sequence[Sequence[Mapping[str, Any]]], words: Wording) -> list[str]:
    return [
        f"{words.actor(actor)} {', '.join(_statement(each, words) for each in row)}"
        for actor, row in enumerate(programs)
        if row
    ]


def _statement(statement: Mapping[str, Any], words: Wording) -> str:
    if "send" in statement:
        return f"sends {printable(statement['send'])} to {_actors(statement['to'], words)}"
    accepted = statement["receive"]
    if accepted == ANY_MESSAGE:
        return "receives any message"
    return f"receives {_messages([accepted] if isinstance(accepted, str) else accepted, 'or')}"


def _messages(names: Sequence[str], joined: str = "and") -> str:
    return f" {joined} ".join(printable(name) for name in names)


_WORDS: Mapping[str, Callable[[Any, Wording], list[str]]] = {
    "script": lambda rows, words: _rows(rows, words, ", "),
    "endless": lambda rows, words: _rows(rows, words, " or "),
    "reaction": _reaction,
    "program": _program,
}
