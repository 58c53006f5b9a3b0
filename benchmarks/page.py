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


def code_of(system: System) -> dict[str, str]:
    """Return the code of a system's protocol and properties: name of a file -> its bare code.

    The checker's own code is left out, because a change of it should not change a result.
    """
    found = sources_of(system.protocol, *(one.predicate for one in system.properties))
    return {name: bare(file.read_text("utf-8")) for name, file in found.files.items()}


def digest_of(parts: list[Any]) -> str:
    """Return a digest of what a stored result depends on: texts, numbers, and lists of them."""
    return hashlib.blake2b(json.dumps(parts).encode(), digest_size=8).hexdigest()
