"""Pages, pictures, style sheets and texts from templates."""

from __future__ import annotations

from functools import cache
from typing import Any

from antecede.checker.render.markup import escaped, number
from antecede.checker.support.reading import own_text
from antecede.checker.support.version import VERSION


def page(template: str, **values: Any) -> str:
    """Render a template of `templates/` with `values`.

    Strings are escaped, and invisible characters in them become spaces. `markup.Markup` is inserted
    unchanged. Numbers with a fraction are coordinates, which have one digit after the point.
    """
    made: str = _environment(True).get_template(template).render(values, version=VERSION)
    return made


def text_page(template: str, **values: Any) -> str:
    """Render a template of a text that is neither HTML nor SVG; nothing is escaped."""
    made: str = _environment(False).get_template(template).render(values)
    return made


@cache
def _environment(escapes: bool) -> Any:
    import jinja2

    return jinja2.Environment(
        loader=jinja2.FunctionLoader(_source),
        autoescape=escapes,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=not escapes,
        finalize=_written if escapes else None,
    )


def _source(name: str) -> str:
    """Return the text of a template; a picture is one line, because text in it keeps its spaces."""
    text = own_text(__package__, f"templates/{name}")
    return "".join(map(str.strip, text.splitlines())) if name.endswith(".svg") else text


def _written(value: Any) -> Any:
    """Return a value as markup. Names come from untrusted protocols, so text is escaped."""
    if isinstance(value, float):
        return number(value)
    return value if hasattr(value, "__html__") else escaped(str(value))
