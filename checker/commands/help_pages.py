"""The help page of each command, from `help_pages.toml`."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from importlib import resources
from typing import Any

from attrs import frozen


@frozen
class HelpPage:
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


_TABLE: dict[str, Any] = tomllib.loads(
    resources.files(__package__).joinpath("help_pages.toml").read_text(encoding="utf-8")
)

PAGES: Mapping[str, HelpPage] = {name: HelpPage(**page) for name, page in _TABLE["pages"].items()}
"""Command -> its page."""

COMMAND_GROUPS: Mapping[str, list[str]] = _TABLE["groups"]
"""Heading -> commands."""
