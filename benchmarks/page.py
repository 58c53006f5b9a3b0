"""Pages that scripts write: texts from the templates in `pages/`, and marked parts of a page."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import jinja2

from antecede.checker.render.files import write_whole

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
