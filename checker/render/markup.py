"""Markup that is safe by construction: text is escaped unless it is markup already."""

from __future__ import annotations

from html import escape


class Markup(str):
    """Text that is valid in an SVG or HTML file without escaping."""

    __slots__ = ()

    def __html__(self) -> str:
        return str(self)


def plain(text: str) -> str:
    """Return `text` on one line, without invisible characters.

    Names come from untrusted protocols. XML forbids control characters, and directional marks would
    reverse text.
    """
    return "".join(ch if ch.isprintable() else " " for ch in text)


def plain_lines(text: str) -> str:
    """Return `text` as `plain` does, but with its line breaks."""
    return "\n".join(map(plain, text.split("\n")))


def escaped(text: str) -> Markup:
    """Return `text` as markup; markup stays as it is."""
    return text if isinstance(text, Markup) else Markup(escape(plain(text)))


def number(value: float) -> str:
    """Return a coordinate with at most one digit after the point."""
    return f"{round(value, 1) + 0.0:.1f}".removesuffix(".0")
