"""Results and traces as JSON.

A result is one object with stable keys. A trace file holds its `counterexample`, together with the
values that a replay needs. Actors are numbers here, not names.

Question: Where are the keys of a JSON result? `docs/files.md` documents them.
"""

from __future__ import annotations

import json
import platform
from collections.abc import Mapping, Sequence
from os.path import isfile
from pathlib import Path as FilePath
from shlex import quote
from typing import Any

import attrs
from attrs import evolve, frozen

from antecede.checker.check.report import Checked, CheckReport, Refused, exit_code_of
from antecede.checker.check.spec import OwnProperties, Spec
from antecede.checker.liveness.fairness import ENDINGS
from antecede.checker.model import Arm, CausalSend, Internal, Lose, Message, Receive, Timeout
from antecede.checker.paths.growth import Growth
from antecede.checker.paths.path import (
    Loop,
    Path,
    PathStep,
    holds_along,
    key_text,
    replay_keys,
    with_cut,
)
from antecede.checker.render import coverage
from antecede.checker.render.about import explanation_of
from antecede.checker.render.prose import Wording, property_of
from antecede.checker.semantics.crashes import cut_of
from antecede.checker.semantics.failing import FAILURES, is_declared
from antecede.checker.semantics.names import names_from
from antecede.checker.semantics.question import MODEL, Question, model_of
from antecede.checker.semantics.transition import System
from antecede.checker.semantics.values import identifying, message_in
from antecede.checker.support.errors import InputError, ReplayError, unknown
from antecede.checker.support.reading import json_in, text_in
from antecede.checker.support.registry import PIPE, is_object, property_names, protocol_names
from antecede.checker.support.settings import check_text, is_kind, kind_named, settings_of, shown
from antecede.checker.support.version import VERSION

RESULT_SCHEMA = "antecede/result/2"
RESULTS_SCHEMA = "antecede/results/2"
TRACE_SCHEMA = "antecede/trace/1"
REPLAY_SCHEMA = "antecede/replay/1"
AUDIT_SCHEMA = "antecede/audit/3"
CLAIMS_SCHEMA = "antecede/claims/1"
CLASSES_SCHEMA = "antecede/classes/1"
PROOF_SCHEMA = "antecede/proof/1"
TABLE_SCHEMA = "antecede/table/1"


def text(value: Mapping[str, Any]) -> str:
    """Return an object as JSON text for a file or a stream of any encoding."""
    return json.dumps(value, indent=2, default=str) + "\n"


def result_object(report: CheckReport) -> dict[str, Any]:
    """Return the result of one check."""
    spec, result, counts = report.spec, report.result, report.result.size
    path = result.counterexample
    return {
        "schema": RESULT_SCHEMA,
        "verdict": str(result.verdict),
        "as_expected": report.as_expected,
        "differences": list(report.differences),
        "spec": spec.file,
        **model_of(report.system.question, spec.protocol),
        **_names(report.system),
        "history": spec.history,
        "search": spec.search,
        "engine": report.options.engine,
        "properties": {name: str(verdict) for name, verdict in result.properties.items()},
        **attrs.asdict(counts),
        "counts_are_reduced": result.unreduced is None,
        "explored": attrs.asdict(result.counts),
        "seconds": round(result.seconds, 3),
        "peak_memory_bytes": result.peak_memory_bytes,
        "stopped_by": result.stopped_by,
        "error": result.error,
        "conditions": list(result.conditions),
        "vacuous": dict(result.vacuous),
        "remarks": list(result.remarks),
        "never_seen": list(result.never),
        "witnesses": {name: counterexample_object(p) for name, p in result.shown.items()},
        "growth": [_growth(growth) for growth in result.grown],
        "counterexample": None if path is None else counterexample_object(path),
        "statistics": dict(result.statistics),
        "handlers": coverage.as_object(report.coverage),
        "versions": versions(),
    }


def _growth(growth: Growth) -> dict[str, Any]:
    words = Wording.of(growth.path)
    return {
        "bound": growth.limit.text,
        "actor": growth.actor,
        "steps": list(growth.steps),
        "late": [words.value(flight.packet) for flight in growth.late],
        "run": counterexample_object(growth.path),
    }


def results_object(reports: Sequence[Checked]) -> dict[str, Any]:
    """Return the results of several checks, and the specs that could not be checked."""
    refused = [report for report in reports if isinstance(report, Refused)]
    return {
        "schema": RESULTS_SCHEMA,
        "as_expected": exit_code_of(reports) == 0,
        "exit_code": exit_code_of(reports),
        "checks": [result_object(r) for r in reports if isinstance(r, CheckReport)],
        "refused": [_refused(each) for each in refused],
        "versions": versions(),
    }


def _refused(refused: Refused) -> dict[str, Any]:
    """Return a check that could not start; the sentence is for people, the rest for programs."""
    error = refused.error
    found: dict[str, Any] = {"spec": refused.label, "error": str(error), "code": error.code}
    if isinstance(error, InputError):
        found |= {"parameter": error.parameter, "value": error.value, "choices": [*error.choices]}
    return found


def versions() -> dict[str, str]:
    """Return the versions of the programs that produced a file."""
    return {"antecede": VERSION, "python": platform.python_version()}


def counterexample_object(path: Path) -> dict[str, Any]:
    """Return a path, with an explanation if it violates a property."""
    words, explanation = Wording.of(path), explanation_of(path)
    return {
        "property": property_of(path),
        "length": path.length,
        "transitions": [_transition(words, step) for step in path.steps],
        "explanation": " ".join(
            [explanation.text, *(f"{d.rstrip('.')}." for d in explanation.details)]
        ),
        **_loop_object(words, path.loop),
    }


def _names(system: System) -> dict[str, Any]:
    """Return the names to save in a trace: the names that are not in its workload."""
    table: dict[str, tuple[Any, ...]] = {"actors": system.names.actors}
    if system.workload.sends is None:
        table["messages"] = system.names.messages
    given = {key: [*names] for key, names in table.items() if names}
    return {"names": given} if given else {}


def _loop_object(words: Wording, loop: Loop | None) -> dict[str, Any]:
    if loop is None:
        return {}
    message = _message(words, loop.message)
    return {"loop": {"after": loop.after, "message": message, "ending": loop.ending}}


def _transition(words: Wording, step: PathStep) -> dict[str, Any]:
    transition, message, packet = step.transition, step.message, None
    ends: dict[str, Any] = {}
    if isinstance(transition, Receive | Lose):
        message, packet = message_in(transition.packet), identifying(transition.packet)
        ends = {"src": transition.src, "dst": transition.dst}
    if isinstance(transition, Receive) and transition.stays:
        ends["stays"] = True
    if isinstance(transition, Lose):
        ends["place"] = transition.place
    if isinstance(transition, Internal):
        ends["action"] = transition.name
    if isinstance(transition, CausalSend) and transition.label is not None:
        ends["label"] = transition.label
    if (cut := cut_of(transition)) is not None:
        ends["cut"] = list(cut)
    return {
        "number": step.number,
        "kind": transition.kind,
        "actor": step.actor,
        **ends,
        "message": None if message is None else _message(words, message),
        "packet": packet,
        "sends": [{"dst": to, "packet": identifying(p)} for to, p in step.step.sends],
        "deliveries": [_message(words, d.message) for d in step.deliveries],
        "state": [words.value(local) for local in step.state.actors],
        "clocks": [list(clock) for clock in step.clocks],
        "text": words.step(step),
    }


def trace_text(path: Path) -> str:
    """Return a path as a trace, which `replay_file` reads."""
    trace = {
        "schema": TRACE_SCHEMA,
        **model_of(path.system.question, path.system.reference or None),
        **_names(path.system),
        **counterexample_object(path),
        "versions": versions(),
    }
    return text(trace)


def replay_object(path: Path, prop: str | None, trace: str) -> dict[str, Any]:
    """Return a replayed path; the arguments are results of `replay_file`, and the trace's file."""
    return {
        "schema": REPLAY_SCHEMA,
        "trace": trace,
        "violated": path.violates is not None,
        "property": prop,
        **model_of(path.system.question, path.system.reference or None),
        **_names(path.system),
        "run": counterexample_object(path),
        "versions": versions(),
    }


def _message(words: Wording, message: Message) -> dict[str, Any]:
    return {
        "name": words.names.get(message),
        "sender": message.sender,
        "number": message.number,
        "destinations": list(message.destinations),
    }


@frozen
class Trace:
    """The contents of a trace file.

    Attributes:
        spec: the question; its only property is the violated one, if there is one.
        keys: the keys of the transitions, as `checker.paths.path` makes them.
        loop: (after, sender, number, ending) of a run whose last steps repeat forever.
        saved: the property that the file names, even if `spec` asks for another one.
    """

    spec: Spec
    keys: tuple[str, ...]
    loop: tuple[int, int, int, str] | None = None
    saved: str | None = None


def replay_file(
    file: str,
    protocol: str | None = None,
    prop: str | None = None,
    own: OwnProperties = OwnProperties(),
) -> tuple[Path, str | None, str | None]:
    """Replay a saved trace through plain Python.

    Args:
        file: the trace.
        prop: the property to judge; required if the property of the trace is a file's.
        own: the properties that a program gave as records.
        protocol: the protocol for the replay; required if the protocol of the trace is a file (see
            `trace_in_file`).

    Returns:
        (path, property, saved). `path.violates` is None if the path does not violate the property.
        The property is None if the trace was saved as a run that violates nothing, and `prop` is
        None. `saved` is the property that the trace names.

    Raises:
        ReplayError: the trace no longer fits the protocol; the error names the step.
        InputError: the file is not a trace.
    """
    trace = trace_in_file(file, protocol, prop, own)
    try:
        system = trace.spec.system
        path = _looped(replay_keys(system, trace.keys), trace)
    except ReplayError as error:
        raise misfit(file, trace, error) from None
    except InputError as error:
        raise type(error)(f"{file}: {error}") from None
    if not trace.spec.properties:
        return path, None, None
    (judged,) = system.properties
    if not holds_along(path, judged):
        path = evolve(path, violates=judged.name)
    return path, judged.name, trace.saved


def _looped(path: Path, trace: Trace) -> Path:
    """Return a replayed path, with its cycle if the trace has one."""
    if trace.loop is None:
        return path
    after, sender, number, ending = trace.loop
    wanted = (m for m in path.messages if (m.sender, m.number) == (sender, number))
    message = next(wanted, None)
    if message is None or not 0 <= after <= path.length or ending not in ENDINGS:
        raise InputError("its loop names no message or step of the run")
    return evolve(path, loop=Loop(after, message, ending))


def misfit(file: str, trace: Trace, error: ReplayError) -> ReplayError:
    """Return the error of a trace whose transitions cannot be taken."""
    name = trace.spec.protocol
    return ReplayError(f"{file} does not fit the protocol {name!r} any more: {error}")


def trace_in_file(
    file: str,
    protocol: str | None = None,
    prop: str | None = None,
    own: OwnProperties = OwnProperties(),
) -> Trace:
    """Read a trace.

    The trace may come from an untrusted source, so no file or command that it names is run: neither
    its protocol nor its property. The caller must name them.

    Args:
        file: the trace.
        protocol: the protocol for the replay, or None for the registered one in the trace.
        prop: the property for the replay, or None for the one in the trace.
        own: the properties that a program gave as records.

    Raises:
        InputError: the file is not a trace, or it needs a protocol file or command and `protocol`
            is None.
    """
    trace = trace_in(text_in(file, "the trace"), file)
    named = trace.spec.protocol
    if protocol is None and named.startswith(PIPE):
        raise InputError(
            f"{file} is about the program {named[len(PIPE) :]!r}, and replaying it starts that "
            f"program; if it is yours, or you know what it does, say so: --protocol {quote(named)}"
        )
    unknown_name = protocol is None and named not in protocol_names()
    if unknown_name and ".py" not in named and not is_object(named):
        error = unknown("protocol", named, protocol_names(), "protocol")
        own_one = "if it is your own, add --protocol FILE.py:OBJECT"
        raise error.reworded(f"{file}: {error}; {own_one}")
    if unknown_name and ".py" in named:
        reference = _found_protocol(named, FilePath(file).parent)
        raise InputError(
            f"{file} is about the protocol in {reference!r}, and replaying it runs that file. If "
            f"you trust the file, add --protocol {reference}"
        )
    trace = evolve(trace, spec=evolve(trace.spec, protocol=protocol or named, own=own))
    if prop is not None:
        return evolve(trace, spec=evolve(trace.spec, properties=(prop,)))
    _refuse_unknown_property(trace.spec, file)
    return trace


def _refuse_unknown_property(spec: Spec, file: str) -> None:
    """Reject a trace whose property is the code of a file or a program.

    Raises:
        InputError: it is.
    """
    known = (*property_names(), *FAILURES)
    for name in spec.properties:
        if ".py" in name:
            raise InputError(
                f"{file} is about the property in {name!r}, and replaying it runs that file. If "
                f"you trust the file, add --property {quote(name)}"
            )
        if not (name in known or is_declared(name) or spec.own.named(name)):
            error = unknown("property", name, known, "property")
            own_one = "if it is your own, add --property FILE.py:NAME"
            raise error.reworded(f"{file}: {error}; {own_one}")


def trace_in(content: str, file: str) -> Trace:
    """Parse a trace; `file` is its name in errors.

    Raises:
        InputError: the content is not a trace.
    """
    return trace_of(table_in(content, file), file)


def trace_of(table: Mapping[str, Any], file: str) -> Trace:
    """Return the trace in the table of a file.

    Raises:
        InputError: a key is missing or wrong.
    """
    try:
        prop = None if table.get("property", "") is None else _get(table, "property", str)
        keys = (_key_with_cut(table, number) for number in range(1, len(_transitions(table)) + 1))
        return Trace(_spec(table, prop), tuple(keys), _loop(table), prop)
    except InputError as error:
        raise type(error)(f"{file}: {error}") from None


def table_in(content: str, file: str) -> Mapping[str, Any]:
    """Return the keys of a trace, or of a result with its counterexample.

    Raises:
        InputError: the content is neither.
    """
    table = json_in(content, file)
    schema = table.get("schema") if isinstance(table, dict) else None
    if schema == RESULT_SCHEMA and isinstance(table.get("counterexample"), dict):
        return {**table, **table["counterexample"]}
    if schema != TRACE_SCHEMA:
        raise InputError(
            f"{file} is not a trace that this version reads: its schema is {schema!r}, not "
            f"{TRACE_SCHEMA!r}"
        )
    assert isinstance(table, dict)
    return table


def _get(table: Mapping[str, Any], key: str, kind: type, where: str = "") -> Any:
    """Return table[key], which must be a `kind`; `where` describes the table in errors."""
    if key not in table:
        raise InputError(f"{where}the key {key!r} is missing")
    value = table[key]
    if not is_kind(value, kind):
        raise InputError(f"{where}{key} is {shown(value)}; it must be {kind_named(kind)}")
    if kind is str:
        check_text(f"{where}{key}", value)
    return value


LATER = ("crashes", "labels")
"""Fields of a question that traces of earlier versions lack, and that have no list of choices."""


def _spec(table: Mapping[str, Any], prop: str | None) -> Spec:
    """Return the question of a trace; missing keys of an older trace have their defaults."""
    known = [s for s in settings_of(Question) if s.name in MODEL]
    told = [s for s in known if s.name in table or (s.choices is None and s.name not in LATER)]
    values = {s.name: _get(table, s.name, s.kind) for s in told}
    names = names_from(table.get("names", {}))
    return Spec(**values, properties=() if prop is None else (prop,), names=names)


def _loop(table: Mapping[str, Any]) -> tuple[int, int, int, str] | None:
    """Return the cycle of a run and the message that it starves; see `Trace.loop`."""
    if table.get("loop") is None:
        return None
    loop: Mapping[str, Any] = _get(table, "loop", dict)
    message = _get(loop, "message", dict, "loop: ")
    return (
        _get(loop, "after", int, "loop: "),
        _get(message, "sender", int, "loop: message: "),
        _get(message, "number", int, "loop: message: "),
        _get(loop, "ending", str, "loop: "),
    )


def _found_protocol(reference: str, folder: FilePath) -> str:
    """Return a protocol's name or file; a file may also be relative to the trace's folder."""
    name, colon, thing = reference.partition(".py:")
    name = reference if not colon else f"{name}.py"
    if not name.endswith(".py") or isfile(name) or not isfile(folder / name):
        return reference
    return f"{folder / name}{':' if colon else ''}{thing}"


def _transitions(table: Mapping[str, Any]) -> list[Any]:
    found: list[Any] = _get(table, "transitions", list)
    return found


def _key_with_cut(table: Mapping[str, Any], number: int) -> str:
    """Return the key of the transition at `number`, in whose middle the actor may crash."""
    key, entry = _key(table, number), _transitions(table)[number - 1]
    cut = _get(entry, "cut", list, f"transition {number}: ") if "cut" in entry else None
    return with_cut(key, cut)


def _key(table: Mapping[str, Any], number: int) -> str:
    """Return the key of the transition at `number`, as `checker.paths.path` makes it."""
    entry = _transitions(table)[number - 1]
    where = f"transition {number}: "
    if not isinstance(entry, dict):
        raise InputError(f"transition {number} is {entry!r}; it must be an object")
    kind, actor = _get(entry, "kind", str, where), _get(entry, "actor", int, where)
    if kind == CausalSend.kind:
        message = _get(entry, "message", dict, where)
        to = _get(message, "destinations", list, where)
        label = _get(entry, "label", str, where) if "label" in entry else None
        return key_text(kind, actor, destinations=to, label=label)
    if kind in (Receive.kind, Lose.kind):
        src, packet = _get(entry, "src", int, where), _get(entry, "packet", str, where)
        stays, place = entry.get("stays") is True, entry.get("place", 0)
        return key_text(kind, actor, src=src, packet=packet, stays=stays, place=place)
    if kind in (Arm.kind, Timeout.kind):
        return key_text(kind, actor)
    if kind == Internal.kind:
        return key_text(kind, actor, name=_get(entry, "action", str, where))
    kinds = tuple(each.kind for each in (CausalSend, Arm, Receive, Timeout, Internal, Lose))
    raise unknown(f"kind of transition {number}", kind, kinds)
