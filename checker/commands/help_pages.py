"""The help page of each command, from `help_pages.toml` and `option_texts.toml`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from antecede.checker.support.reading import own_table


class HelpPage(NamedTuple):
    """The parts of a command's help page that cannot be derived from its options.

    Attributes:
        summary: the purpose of the command, in a sentence.
        examples: pairs of a command line and its purpose.
        main: the parameters that `--help` shows, in this order; `--help-all` shows the others.
        exit_codes: the meaning of each exit code.
        module: the module of the command, if it is not called like the command.
    """

    summary: str
    examples: list[list[str]]
    main: list[str]
    exit_codes: Mapping[str, str]
    module: str = ""


_TABLE = own_table(__package__, "help_pages.toml")

PAGES: Mapping[str, HelpPage] = {name: HelpPage(**page) for name, page in _TABLE["pages"].items()}
"""Command -> its page."""

COMMAND_GROUPS: Mapping[str, list[str]] = _TABLE["groups"]
"""Heading -> commands."""


def option_texts(command: str) -> dict[str, str]:
    """Return the help texts of a command's options, by parameter."""
    table = own_table(__package__, "option_texts.toml")
    return {**table["shared"], **table.get(command, {})}
