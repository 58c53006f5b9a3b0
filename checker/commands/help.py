"""The help page of a command: examples and main options; `--help-all` shows all options."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import click
from click.shell_completion import CompletionItem

from antecede.checker.commands.help_pages import PAGES, option_texts
from antecede.checker.render.prose import listed
from antecede.checker.search.options import Bounds, Options
from antecede.checker.semantics.question import Question
from antecede.checker.support.errors import nearest_to
from antecede.checker.support.settings import settings_of


def _names(kind: type, *more: str) -> frozenset[str]:
    return frozenset({known.name for known in settings_of(kind)} | set(more))


OPTION_GROUPS = {
    "Question": _names(Question, "protocols", "expect", "settings"),
    "Search": _names(Options, "selfcheck"),
    "Bounds": _names(Bounds),
}
"""The names of the options below each heading of `--help-all`."""


def _show_all(context: click.Context, _option: click.Parameter, wanted: bool) -> None:
    """Show the help page with all options, and end."""
    if wanted and not context.resilient_parsing:
        context.meta["all options"] = True
        click.echo(context.get_help(), color=context.color)
        context.exit()


class CommandWithExamples(click.Command):
    """A command whose help page shows examples and its main options; `--help-all` shows all."""

    def __init__(self, *arguments: Any, **named: Any) -> None:
        """Add the option --help-all."""
        super().__init__(*arguments, **named)
        if len(self._main()) < len([p for p in self.params if isinstance(p, click.Option)]):
            self.params.append(
                click.Option(
                    ["--help-all"],
                    is_flag=True,
                    is_eager=True,
                    expose_value=False,
                    callback=_show_all,
                    help="Show all options.",
                )
            )

    def _main(self) -> list[str]:
        return PAGES[str(self.name)].main

    def _add_texts(self) -> None:
        """Add the help texts of options, which are read only if someone asks for help."""
        texts = option_texts(str(self.name))
        for option in self.params:
            if isinstance(option, click.Option) and option.help is None:
                option.help = texts[str(option.name)]

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Parse the arguments; the error about an unknown option names the commands that have it.

        Raises:
            NoSuchOption: the command has no such option.
        """
        try:
            return super().parse_args(ctx, args)
        except click.NoSuchOption as error:
            if having := _commands_with(error.option_name, ctx.find_root()):
                has = "has" if len(having) == 1 else "have"
                ctx.fail(
                    f"{self.name} has no option {error.option_name}; {listed(having)} {has} it."
                )
            known = (name for option in self.params for name in option.opts if name[:2] == "--")
            near = nearest_to(error.option_name, known)
            raise click.NoSuchOption(error.option_name, possibilities=near, ctx=ctx) from None

    def shell_complete(self, ctx: click.Context, incomplete: str) -> list[CompletionItem]:
        """Return what the shell offers; some shells also show the help texts of options."""
        self._add_texts()
        return super().shell_complete(ctx, incomplete)

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the examples and the main options, or all options in groups."""
        self._add_texts()
        lines = {p.name: p.get_help_record(ctx) for p in self.get_params(ctx)}
        left = {name: line for name, line in lines.items() if line is not None}
        if not ctx.meta.get("all options"):
            with formatter.section("Examples"):
                examples = PAGES[str(self.name)].examples
                formatter.write_dl([(line, purpose) for line, purpose in examples], col_max=60)
            helps = [line for line in left.values() if "--help" in line[0]]
            section(formatter, "Options", [*(left[name] for name in self._main()), *helps])
            self._format_exit_codes(formatter)
            return
        for heading, group in OPTION_GROUPS.items():
            section(formatter, heading, [left.pop(name) for name in list(left) if name in group])
        section(formatter, "Output and other options", list(left.values()))
        self._format_exit_codes(formatter)

    def _format_exit_codes(self, formatter: click.HelpFormatter) -> None:
        codes = PAGES[str(self.name)].exit_codes
        section(formatter, "Exit codes", list(codes.items()))


def _commands_with(option: str, root: click.Context) -> list[str]:
    """Return the names of the commands that have an option."""
    group = root.command
    if not isinstance(group, click.Group):
        return []
    commands = [group.get_command(root, name) for name in group.list_commands(root)]
    return [str(c.name) for c in commands if c and any(option in p.opts for p in c.params)]


def section(formatter: click.HelpFormatter, heading: str, lines: Sequence[tuple[str, str]]) -> None:
    """Write a section, unless it is empty."""
    if lines:
        with formatter.section(heading):
            formatter.write_dl(lines)
