"""The JSON schema of specs, so that editors complete and check them.

It is derived from the settings of a question and of bounds, and from the keys that `spec.py` reads.
"""

from __future__ import annotations

from collections.abc import Mapping

from antecede.checker.check.spec import COUNT_KEYS, EXPECTED, KINDS
from antecede.checker.search.options import SEARCHES, Bounds
from antecede.checker.semantics.failing import FAILURES
from antecede.checker.semantics.history import HISTORIES
from antecede.checker.semantics.names import LONGEST
from antecede.checker.semantics.network import NETWORKS
from antecede.checker.semantics.programs import ANY_MESSAGE
from antecede.checker.semantics.question import Question
from antecede.checker.semantics.workload import CHOICES, SUMMARIES
from antecede.checker.support.registry import KINDS as KINDS_DECLARED
from antecede.checker.support.registry import PIPE, property_names, protocol_names
from antecede.checker.support.schemas import (
    NAME,
    TEXT,
    WHOLE,
    Schema,
    a_list,
    a_table,
    of_setting,
    one_of,
)
from antecede.checker.support.settings import Setting, settings_of


def spec_schema() -> Schema:
    """Return the JSON schema of a spec."""
    settings = {known.name: known for kind in (Question, Bounds) for known in settings_of(kind)}
    keys = {key: _key(key, settings.get(key)) for key in sorted(KINDS)}
    return {
        "description": "A question for antecede, and the expected answer.",
        **a_table(keys, required=["protocol"]),
    }


def _key(key: str, known: Setting | None) -> Schema:
    """Return the schema of one key; a description here replaces the text for the command line."""
    if key in _OWN:
        says, schema = _OWN[key]
        return {"description": says, **schema}
    assert known is not None
    says = known.says + (f" The default is {known.otherwise}." if known.otherwise else "")
    return {"description": says, **(_WRITTEN.get(key) or of_setting(known))}


def _names(names: list[str], *patterns: str) -> Schema:
    """Return the schema of a text that is one of some names, or matches a pattern."""
    return {"anyOf": [{"enum": names}, *({"type": "string", "pattern": p} for p in patterns)]}


def _workload() -> Schema:
    """Return the schema of a workload: a text as on the command line, or a table."""
    listed = [kind for kind in SUMMARIES if kind not in CHOICES]
    to = a_list(WHOLE, minItems=1)
    label: Schema = {"type": ["string", "integer"]}
    one_or_all: Schema = {"anyOf": [WHOLE, to]}
    labelled = a_table({"to": one_or_all, "label": label}, ["to", "label"])
    send = {"name": NAME, "from": WHOLE, "to": to, "after": a_list(NAME), "label": label}
    one_or_several = {"anyOf": [NAME, a_list(NAME, minItems=1)]}
    statements = [
        a_table(
            {"send": {**NAME, "not": {"const": ANY_MESSAGE}}, "to": to, "label": label},
            ["send", "to"],
        ),
        a_table({"receive": one_or_several}, ["receive"]),
    ]
    tables = {
        "script": ("sends", a_list(a_list({"anyOf": [WHOLE, to, labelled]}))),
        "reaction": ("sends", a_list(a_table(send, ["name", "from", "to"]))),
        "program": ("programs", a_list(a_list({"anyOf": statements}))),
    }
    return {
        "default": "any",
        "anyOf": [
            *_names(list(CHOICES), f"^({'|'.join(listed)}):")["anyOf"],
            a_table({"kind": {"enum": list(CHOICES)}}, ["kind"]),
            *(
                a_table({"kind": {"const": kind}, argument: schema}, ["kind", argument])
                for kind, (argument, schema) in tables.items()
            ),
        ],
    }


def _property() -> Schema:
    """Return the schema of the name of a property."""
    declared = f"^({'|'.join(KINDS_DECLARED)}):."
    return _names([*property_names(), *FAILURES], declared, r"\.py(:\w+)?$")


def _expect() -> Schema:
    counts = a_table(dict.fromkeys(COUNT_KEYS, WHOLE))
    verdicts = [*EXPECTED, *(name.upper() for name in EXPECTED)]
    return a_table(
        {
            "verdict": {"enum": verdicts, "default": "holds"},
            "violates": {"description": "The property that is violated.", **_property()},
            "counterexample_length": {
                "description": "The number of transitions of a shortest counterexample.",
                **WHOLE,
            },
            "counts": {
                "description": "The exact numbers of states, for each history.",
                **a_table(dict.fromkeys(HISTORIES, counts)),
            },
        }
    )


def _of_names() -> Schema:
    name = {"type": "string", "minLength": 1, "maxLength": LONGEST}
    unique = a_list(name, uniqueItems=True)
    return a_table({"actors": unique, "messages": a_list(unique)})


_WORD = f"({'|'.join(NETWORKS)})(:[0-9]+)?"
"""The pattern of one of the words of a network, such as lossy:1."""

_WRITTEN: Mapping[str, Schema] = {
    "network": _names(list(NETWORKS), f"^{_WORD}(\\+{_WORD})*$"),
    "workload": _workload(),
    "labels": {"anyOf": [TEXT, a_list(TEXT, minItems=1)]},
    "crashes": {
        "anyOf": [WHOLE, {"type": "string", "pattern": "^[0-9]+(:of=[0-9, ]+)?(:whole)?$"}]
    },
}
"""Key -> the schema of a setting whose values are more than its kind says."""

_OWN: Mapping[str, tuple[str, Schema]] = {
    "protocol": (
        "A name that antecede list shows, or FILE.py:OBJECT relative to the spec.",
        _names(list(protocol_names()), r"\.py", f"^{PIPE}"),
    ),
    "title": ("One line that reports show.", TEXT),
    "search": (
        "Order of the search: breadth-first, depth-first, or random walks.",
        {**one_of(SEARCHES), "default": "breadth"},
    ),
    "properties": (
        "The properties to check. The default is the properties that antecede list marks as "
        "default, and all invariants of the protocol.",
        a_list(_property()),
    ),
    "bound": (
        "Limits on measures of an actor's state, such as mode=3. The search does not explore "
        "beyond a state in which a measure reaches its limit. A property, such as FILE.py:NAME, is "
        "a limit, too.",
        a_list({"type": "string", "pattern": r"=|\.py"}),
    ),
    "names": ("Names of actors and messages for reports.", _of_names()),
    "expect": ("The expected answer.", _expect()),
}
"""Key -> its description and its schema, if it is no setting or the command line differs."""
