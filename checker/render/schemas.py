"""The JSON schemas of the files that antecede reads and writes, for editors and other programs.

`docs/files.md` says what the keys mean. A key may be added at any time. If a key changes or goes
away, the number at the end of the key `schema` changes, too.

Question: Where are the JSON schemas?
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from antecede.checker.check.schema import spec_schema
from antecede.checker.check.spec import COUNT_KEYS
from antecede.checker.liveness.fairness import ENDINGS
from antecede.checker.model import Arm, CausalSend, Internal, Lose, Receive, Timeout
from antecede.checker.render import json as formats
from antecede.checker.search.options import ENGINES, SEARCHES
from antecede.checker.search.result import Verdict
from antecede.checker.semantics.history import HISTORIES
from antecede.checker.semantics.question import MODEL, Question
from antecede.checker.support.errors import CODES, check_known
from antecede.checker.support.schemas import (
    DRAFT,
    FLAG,
    NUMBER,
    TEXT,
    WHOLE,
    Schema,
    a_list,
    a_map,
    an_object,
    one_of,
    or_null,
)
from antecede.checker.support.settings import settings_of

_VERDICT = one_of([str(verdict) for verdict in Verdict])
_VERSIONS = an_object({"antecede": TEXT, "python": TEXT})
_COUNTS: dict[str, Schema] = dict.fromkeys(COUNT_KEYS, WHOLE)

_SYSTEM: dict[str, Schema] = {
    known.name: one_of(known.choices) if known.choices else WHOLE if known.kind is int else TEXT
    for known in settings_of(Question)
    if known.name in MODEL
} | {"network": or_null(TEXT)}
"""The keys that say which system was explored."""

_NAMES = an_object({}, actors=a_list(TEXT), messages=a_list(a_list(TEXT)))

_MESSAGE = an_object(
    {"name": or_null(TEXT), "sender": WHOLE, "number": WHOLE, "destinations": a_list(WHOLE)}
)
_TRANSITION = an_object(
    {
        "number": WHOLE,
        "kind": one_of([each.kind for each in (CausalSend, Arm, Receive, Timeout, Internal, Lose)]),
        "actor": WHOLE,
        "message": or_null(_MESSAGE),
        "packet": or_null(TEXT),
        "sends": a_list(an_object({"dst": WHOLE, "packet": TEXT})),
        "deliveries": a_list(_MESSAGE),
        "state": a_list(TEXT),
        "clocks": a_list(a_list(WHOLE)),
        "text": TEXT,
    },
    action=TEXT,
    label=TEXT,
    src=WHOLE,
    dst=WHOLE,
    stays=FLAG,
    place=WHOLE,
    cut=a_list(WHOLE),
)
_RUN_KEYS: dict[str, Schema] = {
    "property": or_null(TEXT),
    "length": WHOLE,
    "transitions": a_list(_TRANSITION),
    "explanation": TEXT,
}
_LOOP = an_object({"after": WHOLE, "message": _MESSAGE, "ending": one_of(ENDINGS)})
_RUN = an_object(_RUN_KEYS, loop=_LOOP)

_GROWTH = an_object(
    {
        "bound": TEXT,
        "actor": WHOLE,
        "steps": a_list(WHOLE),
        "late": a_list(TEXT),
        "run": {"$ref": "#/definitions/run"},
    }
)
_HANDLER = an_object(
    {
        "function": TEXT,
        "file": TEXT,
        "conditions": WHOLE,
        **dict.fromkeys(("lines", "never_ran", "always_true", "always_false"), a_list(WHOLE)),
    }
)
_RESULT = an_object(
    {
        "schema": {"const": formats.RESULT_SCHEMA},
        "verdict": _VERDICT,
        "as_expected": FLAG,
        "differences": a_list(TEXT),
        "spec": or_null(TEXT),
        **_SYSTEM,
        "history": one_of(HISTORIES),
        "search": one_of(SEARCHES),
        "engine": one_of(ENGINES),
        "properties": a_map(_VERDICT),
        **_COUNTS,
        "counts_are_reduced": FLAG,
        "explored": an_object(_COUNTS),
        "seconds": NUMBER,
        "peak_memory_bytes": WHOLE,
        "stopped_by": or_null(TEXT),
        "error": or_null(TEXT),
        "conditions": a_list(TEXT),
        "vacuous": a_map(TEXT),
        "remarks": a_list(TEXT),
        "never_seen": a_list(TEXT),
        "witnesses": a_map({"$ref": "#/definitions/run"}),
        "growth": a_list(_GROWTH),
        "counterexample": or_null({"$ref": "#/definitions/run"}),
        "statistics": {"type": "object"},
        "handlers": or_null(a_list(_HANDLER)),
        "versions": _VERSIONS,
    },
    names=_NAMES,
)
_REFUSED = an_object(
    {"spec": TEXT, "error": TEXT, "code": {"enum": [*CODES]}},
    parameter=or_null(TEXT),
    value={},
    choices=a_list(TEXT),
)
_RESULTS = an_object(
    {
        "schema": {"const": formats.RESULTS_SCHEMA},
        "as_expected": FLAG,
        "exit_code": WHOLE,
        "checks": a_list({"$ref": "#/definitions/result"}),
        "refused": a_list(_REFUSED),
        "versions": _VERSIONS,
    }
)


def _result() -> Schema:
    """Return the schema of the results of one check, and of several."""
    return {
        "definitions": {"run": _RUN, "result": _RESULT},
        "anyOf": [{"$ref": "#/definitions/result"}, _RESULTS],
    }


def _trace() -> Schema:
    keys = {"schema": {"const": formats.TRACE_SCHEMA}, **_SYSTEM, **_RUN_KEYS}
    return an_object({**keys, "versions": _VERSIONS}, names=_NAMES, loop=_LOOP)


def _replay() -> Schema:
    return an_object(
        {
            "schema": {"const": formats.REPLAY_SCHEMA},
            "trace": TEXT,
            "violated": FLAG,
            "property": or_null(TEXT),
            **_SYSTEM,
            "run": _RUN,
            "versions": _VERSIONS,
        },
        names=_NAMES,
    )


_ANSWER = one_of(["PROVED", "FAILED", "UNKNOWN"])


def _proof() -> Schema:
    example = an_object({"happens": TEXT, "picture": a_list(TEXT)})
    obligation = {
        "conjunct": TEXT,
        "where": TEXT,
        "answer": _ANSWER,
        "seconds": NUMBER,
        "reason": or_null(TEXT),
        "counterexample_to_induction": or_null(example),
    }
    return an_object(
        {
            "schema": {"const": formats.PROOF_SCHEMA},
            "answer": _ANSWER,
            "as_expected": FLAG,
            "about": TEXT,
            "protocol": TEXT,
            "model": TEXT,
            "source": TEXT,
            "assumed": a_list(TEXT),
            "conjuncts": a_list(an_object({"name": TEXT, "says": TEXT, "lemma": TEXT})),
            "obligations": a_list(an_object(obligation)),
            "undecided": a_list(TEXT),
            "run_length": or_null(WHOLE),
            "stopped_by": or_null(TEXT),
            "seconds": NUMBER,
            "produced_by": _VERSIONS,
            "mutants": or_null(_mutants()),
            "link": or_null(_link()),
        }
    )


def _mutants() -> Schema:
    one = {"part": TEXT, "marked_as_needed": FLAG, "answer": _ANSWER, "fails": or_null(TEXT)}
    return an_object(
        {"as_marked": FLAG, "stopped_by": or_null(TEXT), "without": a_list(an_object(one))}
    )


def _link() -> Schema:
    return an_object(
        {
            "word": TEXT,
            "actors": WHOLE,
            "messages": WHOLE,
            "network": TEXT,
            "workload": TEXT,
            "history": one_of(HISTORIES),
            "states": WHOLE,
            "transitions": WHOLE,
            "seconds": NUMBER,
            "difference": or_null(TEXT),
            "stopped_by": or_null(TEXT),
            "actions_that_never_happened": a_list(TEXT),
            "packets_in_flight_compared": FLAG,
            "whole_states_compared": FLAG,
            "run": or_null(a_list(TEXT)),
        }
    )


def _claims() -> Schema:
    check = {
        "command": TEXT,
        "found": TEXT,
        "verdict": TEXT,
        "trace": or_null(TEXT),
        "picture": or_null(TEXT),
        "seconds": NUMBER,
    }
    claim = {
        "key": TEXT,
        "source": TEXT,
        "place": TEXT,
        "cell": or_null(an_object({"row": TEXT, "column": TEXT, "printed": TEXT})),
        "claim": TEXT,
        "verdict": TEXT,
        "reason": TEXT,
        "note": TEXT,
        "checks": a_list(an_object(check)),
    }
    return an_object(
        {
            "schema": {"const": formats.CLAIMS_SCHEMA},
            "date": {"type": "string", "pattern": "^[0-9]{4}-[0-9]{2}-[0-9]{2}$"},
            "versions": _VERSIONS,
            "quick": FLAG,
            "counts": a_map(WHOLE),
            "claims": a_list(an_object(claim)),
        }
    )


def _classes() -> Schema:
    event = {"event": one_of(["causal-send", "deliver"]), "sender": WHOLE, "number": WHOLE}
    missing = {
        "class": TEXT,
        "script": a_list(a_list(WHOLE)),
        "events": a_list(a_list(an_object(event))),
        "run": _RUN,
    }
    return an_object(
        {
            "schema": {"const": formats.CLASSES_SCHEMA},
            **_SYSTEM,
            "workload": a_list(TEXT),
            "max_messages": WHOLE,
            "programs": WHOLE,
            "up_to_names": FLAG,
            "states": WHOLE,
            "stuck": WHOLE,
            **dict.fromkeys(("exactly", "contained", "containing"), a_list(TEXT)),
            "classes": a_map(an_object({"computations": WHOLE, "generated": WHOLE})),
            "missing": or_null(an_object(missing)),
            "stopped_by": or_null(TEXT),
            "proved": FLAG,
            "versions": _VERSIONS,
        }
    )


def _audit() -> Schema:
    """Return the schema of an audit; one that was stopped has the first keys only."""
    place = {"log": TEXT, "line": WHOLE}
    event = {**place, "actor": TEXT, "event": TEXT, "message": TEXT}
    finding = {
        "kind": TEXT,
        **place,
        "text": TEXT,
        "actor": TEXT,
        "first": or_null(TEXT),
        "second": or_null(TEXT),
        "chain": a_list(TEXT),
        "events": a_list(an_object(event)),
    }
    foreign = {"log": TEXT, "lines": WHOLE, "first_line": WHOLE, "why": TEXT}
    begin: dict[str, Schema] = {
        "schema": {"const": formats.AUDIT_SCHEMA},
        "logs": a_list(TEXT),
        "verdict": TEXT,
    }
    whole = {
        "unfinished": FLAG,
        **dict.fromkeys(("actors", "causal_sends", "deliveries", "lines"), WHOLE),
        "undelivered_copies": WHOLE,
        "causal_sends_without_destinations": WHOLE,
        "torn_lines": a_list(an_object(place)),
        "foreign_lines": a_list(an_object(foreign)),
        "clocks": WHOLE,
        "executions": a_list(an_object({"name": TEXT, "verdict": TEXT})),
        "left_out": a_list(TEXT),
        "undecided": or_null(TEXT),
        "warnings": a_list(TEXT),
        "findings": a_list(an_object(finding)),
    }
    judged = an_object({**begin, "stopped_by": {"type": "null"}, **whole})
    return {"anyOf": [judged, an_object({**begin, "stopped_by": TEXT})]}


def _table() -> Schema:
    row = {
        **_SYSTEM,
        "history": one_of(HISTORIES),
        "total_states": WHOLE,
        "unique_states": WHOLE,
        "depth": WHOLE,
        "seconds": NUMBER,
        "verdict": _VERDICT,
        "stopped_by": or_null(TEXT),
        "paper_total_states_in_millions": NUMBER,
        "paper_unique_states_in_millions": NUMBER,
        "paper_depth": WHOLE,
        "paper_seconds": NUMBER,
        "paper_verdict": _VERDICT,
        "agrees": or_null(FLAG),
    }
    return an_object(
        {
            "schema": {"const": formats.TABLE_SCHEMA},
            "machine": TEXT,
            "paper_bounds": TEXT,
            "verdicts_agree": or_null(FLAG),
            "rows": a_list(an_object(row)),
        }
    )


def _row() -> Schema:
    return an_object(
        {
            **_SYSTEM,
            "history": one_of(HISTORIES),
            "properties": TEXT,
            "digest": TEXT,
            "verdict": _VERDICT,
            "violates": or_null(TEXT),
            **dict.fromkeys(
                ("counterexample_length", "unique_states", "total_states", "depth"), or_null(WHOLE)
            ),
            "seconds": NUMBER,
            "stopped_by": or_null(TEXT),
            "error": or_null(TEXT),
        },
        vacuous=or_null(TEXT),
        cannot_fail=or_null(TEXT),
        names_matter=or_null(TEXT),
    )


_MADE: Mapping[str, tuple[str, Callable[[], Schema]]] = {
    "spec": ("a spec, which antecede check reads", spec_schema),
    "result": ("antecede check --json, antecede test --json", _result),
    "trace": ("antecede check --trace FILE.json, antecede replay", _trace),
    "replay": ("antecede replay --json", _replay),
    "prove": ("antecede prove --json", _proof),
    "classes": ("antecede classes --json", _classes),
    "claims": ("antecede claims --json", _claims),
    "audit": ("antecede audit --json", _audit),
    "table": ("antecede table --format json", _table),
    "sweep": ("antecede sweep --output: each line of the file", _row),
}

SCHEMAS = {name: files for name, (files, _) in _MADE.items()}
"""Name of a schema -> the files that it describes."""


def schema_text(name: str) -> str:
    """Return a JSON schema as text.

    Raises:
        InputError: there is no schema of this name.
    """
    check_known("schema", name, _MADE)
    files, make = _MADE[name]
    head: dict[str, Any] = {"$schema": DRAFT, "title": f"antecede: {files}"}
    return formats.text({**head, **make()})
