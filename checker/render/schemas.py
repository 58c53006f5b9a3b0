"""The JSON schemas of the files that antecede reads and writes, for editors and other programs.

The schema of specs is derived from the settings. Each of the others is a file in `checker/schemas`.
"""

from __future__ import annotations

from importlib import resources

from antecede.checker.check.schema import spec_schema
from antecede.checker.render import json as formats
from antecede.checker.support.errors import unknown

SCHEMAS = {
    "spec": "a spec, which antecede check reads",
}
"""Name of a schema -> the files that it describes."""


def schema_text(name: str) -> str:
    """Return a JSON schema as text.

    Raises:
        InputError: there is no schema of this name.
    """
    if name not in SCHEMAS:
        raise unknown("schema", name, SCHEMAS)
    if name == "spec":
        return formats.text(spec_schema())
    file = resources.files("antecede.checker").joinpath("schemas", f"{name}.json")
    return file.read_text(encoding="utf-8")
