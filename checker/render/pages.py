"""HTML pages from templates. Every value that is not markup is escaped."""

from __future__ import annotations

from functools import cache
from importlib import resources
from typing import Any

from antecede.checker.render.json import own_version
from antecede.checker.render.markup import plain


def page(template: str, **values: Any) -> str:
    """Render a template of `templates/` with `values`.

    Strings are escaped, and invisible characters in them become spaces. `markup.Markup` is inserted
    unchanged.
    """
    made: str = _environment().get_template(template).render(values, version=own_version())
    return made


def asset(package: str, name: str) -> str:
    """Return the text of a style sheet or script in a package."""
    return resources.files(package).joinpath(name).read_text(encoding="utf-8")


@cache
def _environment() -> Any:
    import jinja2

    return jinja2.Environment(
        loader=jinja2.FunctionLoader(lambda name: asset(__package__, f"templates/{name}")),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        finalize=_visible,
    )


def _visible(value: Any) -> Any:
    """Return markup unchanged, and any other value without invisible characters.

    Names come from untrusted protocols.
    """
    return value if hasattr(value, "__html__") else plain(str(value))
