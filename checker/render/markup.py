"""Markup that is safe by construction: text is escaped unless it is markup already."""

from __future__ import annotations

from html import escape


class Markup(str):
    """Text that is valid in an SVG or HTML file without escaping."""

    __slots__ = ()

    def __html__(self) -> str:
        """Return the text, for templates."""
        return str(self)


def plain(text: str) -> str:
    """Return `text` on one line, without invisible characters.

    Names come from untrusted protocols. XML forbids control characters, and directional marks would
    reverse text.
    """
    return "".join(ch if ch.isprintable() else " " for ch in text)


def escaped(text: str) -> Markup:
    """Return `text` as markup; markup stays as it is."""
    return text if isinstance(text, Markup) else Markup(escape(plain(text)))


def joined(*parts: str, by: str = "") -> Markup:
    """Return all `parts` as markup, escaped where they are not markup yet."""
    return Markup(by.join(map(escaped, parts)))


def tag(name: str, /, *content: str, **attributes: str | float | bool | None) -> Markup:
    """Return an element; the attribute `data_step` is written data-step, and `class_` class.

    An attribute that is None or False is left out. An attribute that is True has its own name as
    its value. So the text is well-formed both as XML and as HTML.
    """
    written = "".join(_attribute(key, value) for key, value in attributes.items())
    inner = joined(*content)
    if not inner and name in _VOID:
        return Markup(f"<{name}{written}/>")
    return Markup(f"<{name}{written}>{inner}</{name}>")


_VOID = {"br", "circle", "input", "line", "link", "meta", "path", "polygon", "polyline", "rect"}
"""Elements that have no content."""


def _attribute(key: str, value: str | float | bool | None) -> str:
    if value is None or value is False:
        return ""
    name = key.rstrip("_").replace("_", "-")
    shown = name if value is True else number(value) if isinstance(value, float) else str(value)
    return f' {name}="{escape(plain(shown))}"'


def number(value: float) -> str:
    """Return a coordinate with at most one digit after the point."""
    return f"{round(value, 1) + 0.0:.1f}".removesuffix(".0")
