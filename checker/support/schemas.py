"""Parts of JSON schemas, from which the schemas of files and of calls are built."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any

from antecede.checker.support.settings import AMOUNT, Setting

Schema = dict[str, Any]

DRAFT = "http://json-schema.org/draft-07/schema#"
"""The dialect of the schemas. Editors for TOML know this one."""

TEXT: Schema = {"type": "string"}
NAME: Schema = {"type": "string", "minLength": 1}
WHOLE: Schema = {"type": "integer", "minimum": 0}
NUMBER: Schema = {"type": "number"}
FLAG: Schema = {"type": "boolean"}


def one_of(names: Collection[str]) -> Schema:
    """Return the schema of a text that is one of some names."""
    return {"enum": list(names)}


def or_null(schema: Schema) -> Schema:
    """Return the schema of a value that may be missing."""
    return {"anyOf": [schema, {"type": "null"}]}


def a_list(items: Schema, **more: Any) -> Schema:
    """Return the schema of a list; `more` has further keywords."""
    return {"type": "array", "items": items, **more}


def a_map(values: Schema) -> Schema:
    """Return the schema of an object with any keys."""
    return {"type": "object", "additionalProperties": values}


def an_object(keys: Mapping[str, Schema], **optional: Schema) -> Schema:
    """Return the schema of an object that has these keys, and may have the optional ones."""
    return {"type": "object", "required": list(keys), "properties": {**keys, **optional}}


def a_table(keys: Mapping[str, Schema], required: Collection[str] = ()) -> Schema:
    """Return the schema of an object that has no other keys than these."""
    needed = {"required": list(required)} if required else {}
    return {"type": "object", "properties": dict(keys), "additionalProperties": False, **needed}


def of_setting(known: Setting) -> Schema:
    """Return the schema of a setting, with its range and its default."""
    default = {"default": known.default} if isinstance(known.default, str | int | float) else {}
    if known.choices is not None:
        return {**one_of(known.choices), **default}
    schema: Schema = {"type": _TYPES[known.kind]}
    if known.kind in (int, float):
        schema["maximum"] = known.most
    if known.kind in (list, tuple):
        schema["items"] = TEXT
    if known.least is not None:
        schema["minimum"] = known.least
    if known.above is not None:
        schema["exclusiveMinimum"] = known.above
    if known.metavar == "SIZE":
        return {"anyOf": [schema, {"type": "string", "pattern": f"^{AMOUNT}$"}]}
    return {**schema, **default}


_TYPES: Mapping[type, str] = {
    int: "integer",
    float: "number",
    str: "string",
    bool: "boolean",
    list: "array",
    tuple: "array",
}
