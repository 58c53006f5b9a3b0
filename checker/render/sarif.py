"""Results as SARIF 2.1.0, for code scanning: a result per violation, its steps as a code flow.

M. Fanning, L. Golding (editors): Static Analysis Results Interchange Format (SARIF) Version 2.1.0
Plus Errata 01, OASIS 2023. A step of a counterexample points at the handler that made it.

An incomplete search is also a result, of kind `open`: "insufficient information to decide whether a
problem exists" (3.27.9, written for proof-based tools). The kind `review` would ask a person to
decide, but only more states can. Without such a result the report would look like a success. A
notification of the run has the reason.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
from collections.abc import Mapping, Sequence
from pathlib import Path as FilePath
from typing import Any, TypeAlias
from urllib.parse import quote, unquote

from antecede.checker.check.report import Checked, CheckReport, Refused, decides, exit_code_of
from antecede.checker.model import CausalSend, Internal, Protocol, Receive, Timeout
from antecede.checker.paths.path import Path, PathStep
from antecede.checker.render import coverage
from antecede.checker.render import json as formats
from antecede.checker.render.about import about, explanation_of, question
from antecede.checker.render.markup import plain
from antecede.checker.render.prose import Wording
from antecede.checker.render.source import Source, source_of
from antecede.checker.search.result import Verdict
from antecede.checker.semantics.crashes import CRASH, RECOVER
from antecede.checker.semantics.question import model_of
from antecede.checker.semantics.tracing import lines_of
from antecede.checker.support.amounts import counted
from antecede.checker.support.errors import InputError
from antecede.checker.support.reading import MOST_BYTES, content_of
from antecede.checker.support.version import VERSION

Object: TypeAlias = dict[str, Any]

SCHEMA = (
    "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"
)
ROOT = "%SRCROOT%"
"""The base of relative file names. It stands for the current folder."""
EXPECTATION = "expectation"
"""The rule that a check must end as expected. The other rules are the properties."""
COVERAGE = "coverage"
"""The rule that each line of a handler runs. Its results are notes."""
FINGERPRINT = "antecedeQuestion/v1"

_HANDLERS = {CausalSend: "causal_send", Receive: "receive", Timeout: "timeout"}
"""Transition -> handler. An arming and a loss run no handler."""


def text(done: Sequence[Checked]) -> str:
    """Return the results as a SARIF log of one run."""
    reports = [each for each in done if isinstance(each, CheckReport)]
    rules, version = _rules(reports), VERSION
    run = {
        "tool": {
            "driver": {
                "name": "antecede",
                **({"version": version} if version[0].isdigit() else {}),
                "rules": [_rule(name, summary) for name, summary in rules.items()],
            }
        },
        "invocations": [_invocation(done)],
        "originalUriBaseIds": {
            ROOT: {"description": _message("The folder in which antecede was run.")}
        },
        "results": [
            {**found, "ruleIndex": list(rules).index(found["ruleId"])} for found in results(done)
        ],
    }
    return formats.text({"$schema": SCHEMA, "version": "2.1.0", "runs": [run]})


def results(done: Sequence[Checked]) -> list[Object]:
    """Return the results of the log: unexpected outcomes, and specs that could not be checked."""
    objects: list[Object] = []
    for each in done:
        if isinstance(each, CheckReport):
            objects += [*_results(each), *_coverage_results(each)]
        elif each.label.endswith(".toml"):  # only a spec has a file
            said, place = f"It could not be checked: {each.text}", _spec_source(each.label)
            spec = _portable(each.label)
            objects.append(_object(EXPECTATION, "fail", said, _location(place), spec))
    return objects


def unescaped(text: str) -> str:
    """Return the original text of a message; the inverse of `_message`."""
    return text.replace("{{", "{").replace("}}", "}").replace("] (", "](")


def path_of(artifact: Mapping[str, str]) -> str:
    """Return the path of an artifact below the current folder."""
    return unquote(artifact["uri"])


def _rules(reports: Sequence[CheckReport]) -> dict[str, str]:
    """Return the properties that were checked, and the expectation, with their summaries."""
    summaries = {plain(p.name): p.summary for report in reports for p in report.system.properties}
    ended = "the check comes to a verdict, and to all else that is expected of it"
    covered = any(report.coverage is not None for report in reports)
    ran = {COVERAGE: "each line of a handler runs in some reachable state"} if covered else {}
    return {**summaries, EXPECTATION: ended, **ran}


def _rule(name: str, summary: str) -> Object:
    short = f"{name}: {summary}"
    long = f"{short}. The steps of a counterexample are the result's code flow."
    return {
        "id": name,
        "shortDescription": _message(short),
        "fullDescription": _message(long),
        "help": _message(long),
        "defaultConfiguration": {"level": "error"},
    }


def _invocation(done: Sequence[Checked]) -> Object:
    """Return whether all checks were completed, with notifications on the others."""
    notes = [note for each in done for note in _notifications(each)]
    return {
        "executionSuccessful": not notes,
        "exitCode": exit_code_of(done),
        "toolExecutionNotifications": notes,
    }


def _notifications(done: Checked) -> list[Object]:
    """Return the reasons why a check has no verdict; empty if it has one."""
    if isinstance(done, Refused):
        return [{"level": "error", "message": _message(done.text)}]
    if decides(done.spec, done.result):
        return []
    level = "error" if done.result.verdict is Verdict.ERROR else "warning"
    return [{"level": level, "message": _message(f"{done.spec.label}: {_undecided_text(done)}")}]


def _undecided_text(report: CheckReport) -> str:
    result = report.result
    if result.verdict is Verdict.ERROR:
        return f"The check failed: {result.error}"
    if result.verdict is Verdict.VACUOUS:
        reasons = " and ".join(dict.fromkeys(result.vacuous.values()))
        names = ", ".join(result.vacuous)
        return f"VACUOUS: nothing was violated, but {reasons}. Not judged: {names}."
    missing = [name for name, v in result.properties.items() if v is Verdict.INCOMPLETE]
    why = result.stopped_by or "the search visits only some of the states"
    return f"INCOMPLETE: nothing is proved ({why}). Not decided: {', '.join(missing)}."


# Results


def _coverage_results(report: CheckReport) -> list[Object]:
    """Return a note for each part of a handler that never ran; empty if nobody asked for it."""
    found: list[Object] = []
    for each in report.coverage or ():
        spots = [(first, last, "Never ran") for first, last in coverage.spans(each.never)]
        for side in each.one_sided:
            spots.append((side.line, side.line, f"Always {str(side.always).lower()}"))
        for first, last, said in sorted(spots):
            place = _location(Source(each.file, first, last, each.name))
            text = f"{said} in this check: {each.name}, {counted(last - first + 1, 'line')}."
            lines = "\n".join(lines_of(each.file)[first - 1 : last])
            note = _object(COVERAGE, "fail", text, place, each.name, said, lines)
            found.append({**note, "level": "note"})
    return found


def _results(report: CheckReport) -> list[Object]:
    """Return the unexpected results of one check."""
    result, path = report.result, report.result.counterexample
    if not decides(report.spec, report.result):
        kind = "fail" if result.verdict is Verdict.ERROR else "open"
        return [_result(report, EXPECTATION, _undecided_text(report), None, kind)]
    if not report.differences:
        return []
    if result.verdict is Verdict.VIOLATED and report.spec.expect.verdict is Verdict.HOLDS:
        violated = [name for name, v in result.properties.items() if v is Verdict.VIOLATED]
        shown = {path.violates: path} if path is not None else {}
        return [_violation(report, name, shown.get(name)) for name in violated]
    return [_result(report, EXPECTATION, f"{'; '.join(report.differences)}.", path)]


def _violation(report: CheckReport, name: str, path: Path | None) -> Object:
    if path is None:
        sought = any(p.sought for p in report.system.properties if p.name == name)
        never = "no reachable state satisfies it" if sought else "it is violated"
        return _result(report, name, f"{name}: {never}.", None)
    said = about(path, report)
    why = " ".join([said.explanation.text, *(f"{d}." for d in said.explanation.details)])
    return _result(report, name, f"{said.headline}. {said.verdict}: {why}", path)


def _result(
    report: CheckReport, rule: str, said: str, path: Path | None, kind: str = "fail"
) -> Object:
    asked = question(report.system)
    model = model_of(report.system.question, _portable(report.spec.protocol))
    result = _object(rule, kind, f"{said} ({asked})", _place(report, rule, path), *model.values())
    if path is not None and path.steps:
        result["codeFlows"] = [_code_flow(path)]
    return result


def _object(rule: str, kind: str, said: str, location: Object, *asked: Any) -> Object:
    """Return a result. Its fingerprint depends on the question, and not on lines or counts."""
    digest = hashlib.sha256(json.dumps([rule, *asked]).encode()).hexdigest()[:32]
    return {
        "ruleId": plain(rule),
        "kind": kind,
        "level": "error" if kind == "fail" else "none",
        "message": _message(said),
        "locations": [location],
        "partialFingerprints": {FINGERPRINT: digest},
    }


def _portable(reference: str) -> str:
    """Return a name for a protocol that is valid on every machine.

    A file is relative to the current folder. A file elsewhere is reduced to its name.
    """
    name, ending, thing = reference.partition(".py")
    if not ending:
        return reference
    file = name + ending
    return (_below_root(file) or FilePath(file).name) + thing


def _code_flow(path: Path) -> Object:
    words, remarks = Wording.of(path), explanation_of(path).remarks
    wrong = {number for number, _ in remarks}
    return {
        "message": _message(about(path).verdict),
        "threadFlows": [
            {
                "locations": [
                    {
                        "location": _step_location(
                            path.system.protocol, step, words.step(step, remarks)
                        ),
                        "executionOrder": step.number,
                        "importance": "essential" if step.number in wrong else "important",
                        "state": {
                            words.actor(step.actor): _message(
                                words.value(step.state.actors[step.actor])
                            )
                        },
                    }
                    for step in path.steps
                ]
            }
        ],
    }


# Locations


def _place(report: CheckReport, rule: str, path: Path | None) -> Object:
    """Return the location of a result: the first candidate below the current folder.

    A difference from the expectation is located at the spec, and a violation at the handler of its
    last step. If no handler ran, it is located at the predicate or at `causal_send`.
    """
    steps = () if path is None else path.steps
    handlers = [source_of(_handler(report.system.protocol, step)) for step in reversed(steps)]
    prop = next((p for p in report.system.properties if p.name == rule), None)
    if not handlers and prop is not None and prop.of_states:
        handlers.append(source_of(prop.predicate))
    handlers.append(source_of(report.system.protocol.causal_send))
    sources = [source for source in handlers if source is not None]
    spec = [] if report.spec.file is None else [_spec_source(report.spec.file)]
    ranked = [*spec, *sources] if rule == EXPECTATION else [*sources, *spec]
    ranked.sort(key=lambda source: _below_root(source.file) is None)
    if ranked:
        return _location(ranked[0])
    return {"logicalLocations": [{"name": plain(report.spec.protocol), "kind": "object"}]}


def _spec_source(file: str) -> Source:
    """Return the lines of a spec with its expectation."""
    try:
        lines = content_of(file, "the spec", MOST_BYTES).decode().splitlines()
    except (InputError, UnicodeDecodeError):
        lines = []
    says = re.compile(r"\s*(\[\s*expect\b|expect\b.*=)")
    line = next((number for number, text in enumerate(lines, 1) if says.match(text)), 1)
    return Source(file, line, line, "")


def _handler(protocol: Protocol, step: PathStep) -> Any:
    if isinstance(step.transition, Internal):
        restarts = {CRASH: protocol.durable, RECOVER: protocol.recover}
        return {**restarts, **protocol.actions}[step.transition.name]
    name = _HANDLERS.get(type(step.transition))
    return None if name is None else getattr(protocol, name)


def _step_location(protocol: Protocol, step: PathStep, said: str) -> Object:
    handler = _handler(protocol, step)
    source = source_of(handler)
    if source is not None:
        location = _location(source)
    elif handler is not None:
        location = _logical(_HANDLERS.get(type(step.transition), "action"))
    else:
        location = {}
    return {**location, "message": _message(f"{step.number}. {said}")}


def _location(source: Source) -> Object:
    location: Object = {
        "physicalLocation": {
            "artifactLocation": _artifact(source.file),
            "region": {"startLine": source.first, "endLine": source.last},
        }
    }
    return {**location, **(_logical(source.name) if source.name else {})}


def _logical(name: str) -> Object:
    return {"logicalLocations": [{"fullyQualifiedName": name, "kind": "function"}]}


def _artifact(file: str) -> Object:
    below = _below_root(file)
    if below is None:
        return {"uri": FilePath(file).resolve().as_uri()}
    return {"uri": quote(below), "uriBaseId": ROOT}


def _below_root(file: str) -> str | None:
    """Return the path of a file from the current folder, or None if it is elsewhere.

    Links are followed as far as they stay below that folder, because a code host needs real files.
    """
    for found in (FilePath(file).resolve(), FilePath(os.path.abspath(file))):
        if found.is_relative_to(FilePath.cwd()):
            return found.relative_to(FilePath.cwd()).as_posix()
    return None


def _message(text: str) -> Mapping[str, str]:
    """Return a message on one line, with braces (3.11.5) and links `[…](…)` escaped."""
    said = plain(text).replace("{", "{{").replace("}", "}}").replace("](", "] (")
    return {"text": said or " "}
