"""Types of arguments, and options that set the fields of a record."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from itertools import chain
from pathlib import Path
from typing import Any

import click
from click.shell_completion import CompletionItem

from antecede.checker.render import completion
from antecede.checker.support.errors import InputError
from antecede.checker.support.settings import (
    Setting,
    check_folder,
    names_in,
    read,
    settings_of,
    taken,
)


def options(*decorators: Callable[[Any], Any]) -> Callable[[Any], Any]:
    """Apply several click options, the first on top."""

    def apply(function: Any) -> Any:
        for decorator in reversed(decorators):
            function = decorator(function)
        return function

    return apply


def record(kind: type, *names: str, but: Collection[str] = ()) -> Callable[[Any], Any]:
    """Return the options that set the fields of a record, or only the named ones."""
    found = [s for s in settings_of(kind) if s.public and not s.key_only and s.name not in but]
    return options(*(_option(s) for s in found if not names or s.name in names))


def _option(known: Setting) -> Callable[[Any], Any]:
    """Return the option that sets a setting."""
    option, several = known.option, known.kind is tuple
    if known.kind is bool:
        no = "" if known.default is False else f"/--no-{option[2:]}"
        return click.option(option + no, is_flag=True, default=known.default, help=_help(known))
    return click.option(
        "--property" if known.name == "properties" else option,
        known.name,
        multiple=several,
        metavar=known.metavar or _METAVARS.get(known.kind),
        type=Named("property" if known.name == "properties" else "anything")
        if several
        else _type(known),
        callback=_flat if several and not known.whole else None,
        help=_help(known),
    )


_METAVARS: Mapping[type, str] = {tuple: "NAME", Path: "FOLDER"}


def _help(known: Setting) -> str:
    default = known.otherwise
    if default is None and known.default not in (None, False, ()):
        default = "on" if known.default is True else f"{known.default}"
    return known.says if default is None else f"{known.says}  [default: {default}]"


def _type(known: Setting) -> click.ParamType[Any]:
    if known.choices is not None:
        return click.Choice(list(known.choices))
    if known.kind is Path:
        return Folder(known)
    return Given(known)


class Folder(click.Path):
    """The path of a folder, made absolute."""

    def __init__(self, known: Setting) -> None:
        """Accept the values of one setting."""
        super().__init__(exists=known.present, file_okay=False, path_type=Path, resolve_path=True)
        self.known = known

    def convert(self, value: Any, param: Any, ctx: Any) -> Any:
        """Return the path; a URL is refused, because it would become a path of this machine."""
        try:
            check_folder(self.known, value)
        except InputError as error:
            self.fail(f"{error}.", param, ctx)
        return super().convert(value, param, ctx)


class Named(click.ParamType[str]):
    """Text for which the shell completes names and files; the command interprets it later."""

    name = "text"

    def __init__(self, kind: str) -> None:
        """Offer what `checker.render.completion` knows of a kind, or any file or folder (dir)."""
        self.kind = kind

    def convert(self, value: Any, param: Any, ctx: Any) -> str:
        """Return the text."""
        return str(value)

    def shell_complete(
        self, ctx: click.Context, param: click.Parameter, incomplete: str
    ) -> list[CompletionItem]:
        """Return what the shell offers."""
        if self.kind in ("file", "dir"):
            return [CompletionItem(incomplete, type=self.kind)]
        return [CompletionItem(each) for each in completion.candidates(self.kind, incomplete)]


A_FILE = Named("file")


class Given(click.ParamType[Any]):
    """The value of a setting, read and checked by `checker.support.settings`."""

    def __init__(self, known: Setting, many: bool = False) -> None:
        """Read one value, or a list of them with commas between."""
        self.known, self.many = known, many
        self.name = {int: "integer", float: "number"}.get(known.kind, "text")

    def convert(self, value: Any, param: Any, ctx: Any) -> Any:
        """Return the value that a text says."""
        try:
            if not isinstance(value, str):
                return value
            if self.many:
                return tuple(read(self.known, part) for part in names_in(value))
            return read(self.known, value)
        except InputError as error:
            self.fail(f"{error}.", param, ctx)

    def shell_complete(
        self, ctx: click.Context, param: click.Parameter, incomplete: str
    ) -> list[CompletionItem]:
        """Return the names that the setting may have."""
        if self.known.choices is not None:
            start = incomplete.rpartition(",")[2]
            before = incomplete.removesuffix(start)
            return [CompletionItem(before + c) for c in self.known.choices if c.startswith(start)]
        if self.known.name not in completion.KINDS:
            return []
        return [CompletionItem(c) for c in completion.candidates(self.known.name, incomplete)]


def _flat(_context: click.Context, _option: click.Parameter, given: Any) -> tuple[str, ...]:
    """Return the names of several lists."""
    try:
        return tuple(name for text in given for name in names_in(text))
    except InputError as error:
        raise click.BadParameter(f"{error}.") from None


def several(kind: type, name: str, says: str) -> Callable[[Any], Any]:
    """Return the option for several values of a setting; the command tries each of them."""
    (known,) = (s for s in settings_of(kind) if s.name == name)
    return click.option(
        known.option,
        name,
        type=Given(known, many=True),
        multiple=True,
        callback=lambda _context, _option, given: tuple(chain.from_iterable(given)),
        metavar="VALUE,…",
        help=f"{known.says} For example {says}.",
    )


def given(**values: Any) -> dict[str, Any]:
    """Return the options that were given."""
    return {key: value for key, value in values.items() if value not in (None, ())}


def taken_from(values: dict[str, Any], kind: type) -> dict[str, Any]:
    """Take out of `values` what was given of a record; `search` is the spec's to say."""
    return given(**taken(values, kind, but=("search",)))
