"""Pages that scripts write: texts from the templates in `pages/`, and marked parts of a page."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import Any

import jinja2

from antecede.checker.render.files import write_whole
from antecede.checker.semantics.transition import System
from antecede.checker.support.sources import bare, sources_of

TEMPLATES = jinja2.Environment(
    loader=jinja2.FileSystemLoader(Path(__file__).parent / "pages"),
    undefined=jinja2.StrictUndefined,
    trim_blocks=True,
    keep_trailing_newline=True,
)


def rendered(template: str, **values: Any) -> str:
    """Return the text of a template of `pages/`, filled with `values`."""
    return TEMPLATES.get_template(template).render(values)


def part(page: str, name: str) -> str:
    """Return the text between the marks of a name.

    Raises:
        SystemExit: the page has no such marks.
    """
    _, start, rest = page.partition(f"<!-- {name} -->\n")
    text, end, _ = rest.partition(f"<!-- end {name} -->")
    if not start or not end:
        raise SystemExit(f"the page has no marks for {name}")
    return text


def put(file: Path, parts: dict[str, str]) -> None:
    """Replace the texts between the marks of some names in a page; each text ends with a newline.

    Raises:
        SystemExit: the page has no such marks.
    """
    page = file.read_text(encoding="utf-8")
    for name, text in parts.items():
        begin = f"<!-- {name} -->\n"
        page = page.replace(f"{begin}{part(page, name)}", f"{begin}{text}")
    write_whole(str(file), page)


def lines_of(value: Any, depth: int) -> str:
    """Return a value as JSON in which each part has a line, down to a depth; below it, none has.

    A list without inner parts has one line.
    """
    flat = isinstance(value, list) and not any(isinstance(each, dict | list) for each in value)
    if depth == 0 or flat or not isinstance(value, dict | list):
        return json.dumps(value)
    if isinstance(value, list):
        return "[\n" + ",\n".join(lines_of(each, depth - 1) for each in value) + "\n]"
    parts = (f"{json.dumps(key)}: {lines_of(each, depth - 1)}" for key, each in value.items())
    return "{\n" + ",\n".join(parts) + "\n}"


def code_of(system: System) -> dict[str, str]:
    """Return the code of a system's protocol and properties: name of a file -> its bare code.

    The names have no folder, so a result is valid in each clone. The checker's own code is left
    out, because a change of it should not change a result.
    """
    found = sources_of(system.protocol, *(one.predicate for one in system.properties))
    return {file.name: bare(file.read_text("utf-8")) for file in found.files.values()}


def digest_of(parts: list[Any]) -> str:
    """Return a digest of what a stored result depends on: texts, numbers, and lists of them."""
    return hashlib.blake2b(json.dumps(parts).encode(), digest_size=8).hexdigest()
