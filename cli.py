"""The command `antecede`: finds the module of a command, and turns errors into exit codes."""

from __future__ import annotations

import os
import sys
import traceback
from collections.abc import Sequence
from importlib import import_module
from typing import Any

import click

from antecede.checker.commands import console
from antecede.checker.commands.help_pages import COMMAND_GROUPS, PAGES
from antecede.checker.render.files import placed_here
from antecede.checker.support import extras, interrupts
from antecede.checker.support.errors import (
    NO_THREAD,
    CapacityError,
    InputError,
    is_refused_thread,
    unknown,
)
from antecede.checker.support.exit_codes import INCOMPLETE, INPUT_ERROR, INTERNAL_ERROR
from antecede.checker.support.reading import refuse_lost_folder, refuse_unprintable


def command_named(name: str) -> click.Command:
    """Return a command; its module is imported only now, because each imports much."""
    module = import_module(f"antecede.checker.commands.{PAGES[name].module or name}")
    # `--version` and the help of all commands need no registry.
    from antecede.checker.support.registry import forget_imports

    forget_imports()
    command: click.Command = module.command
    return command


class LazyCommands(click.Group):
    """The group of all commands; its help needs none of their modules."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Return the names of all commands."""
        return list(PAGES)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Return a command, or None if there is none of that name."""
        return command_named(cmd_name) if cmd_name in PAGES else None

    def resolve_command(self, ctx: click.Context, args: list[str]) -> Any:
        """Return the command of a command line, or suggest the nearest name."""
        if args and args[0] not in PAGES and not args[0].startswith("-"):
            ctx.fail(f"{unknown('command', args[0], PAGES)}")
        return super().resolve_command(ctx, args)

    def format_commands(self, _ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write each group of commands under its heading."""
        for heading, names in COMMAND_GROUPS.items():
            with formatter.section(heading):
                formatter.write_dl([(name, PAGES[name].summary) for name in names])


def _show_version(context: click.Context, _option: click.Parameter, wanted: bool) -> None:
    """Show the version, and end."""
    if wanted and not context.resilient_parsing:
        from antecede.checker.support.version import VERSION

        click.echo(f"antecede, version {VERSION}")
        context.exit()


@click.group(
    cls=LazyCommands,
    context_settings={"max_content_width": 100, "help_option_names": ["-h", "--help"]},
)
@click.option(
    "--version",
    is_flag=True,
    is_eager=True,
    expose_value=False,
    callback=_show_version,
    help="Show the version and exit.",
)
def commands() -> None:
    """Check protocols for causal message delivery.

    antecede explores every order of sends and deliveries, within bounds that you choose.

    Start with: antecede check mfss

    Run antecede COMMAND --help for the options and exit codes of a command.
    """


TOO_DEEP = (
    "a value of the protocol is nested too deeply, such as a tuple in a tuple in a tuple, "
    f"{sys.getrecursionlimit():,} times; keep what belongs together side by side in one tuple"
)
"""The error about a value that the recursion of Python cannot follow to its end."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command and return its exit code; `arguments` default to the process's own."""
    try:
        refuse_unprintable(sys.argv[1:] if arguments is None else arguments)
        refuse_lost_folder()
        with interrupts.handled(), placed_here():
            code = commands.main(arguments, prog_name="antecede", standalone_mode=False)
    except click.ClickException as error:
        error.show()
        return INPUT_ERROR
    except InputError as error:
        console.complain(f"Error: {error}")
        return INPUT_ERROR
    except CapacityError as error:
        console.complain(f"Error: {error}")
        return INCOMPLETE
    except MemoryError:
        console.complain("Error: out of memory; use smaller bounds, or a machine with more memory")
        return INCOMPLETE
    except RecursionError:
        _trace_if_asked()
        console.complain(f"Error: {TOO_DEEP}")
        return INPUT_ERROR
    except (click.Abort, KeyboardInterrupt) as abort:
        notes = getattr(abort.__cause__, "__notes__", ["there is no result"])
        console.complain(f"Interrupted; {'; '.join(notes)}.")
        return INCOMPLETE
    except Exception as error:
        if isinstance(error, ModuleNotFoundError) and (package := extras.required(error.name)):
            console.complain(f"Error: this command needs {package}")
            return INPUT_ERROR
        if isinstance(error, RuntimeError) and is_refused_thread(error):
            console.complain(f"Error: {NO_THREAD}")
            return INCOMPLETE
        if (sentence := _failure_of_value(error)) is not None:
            _trace_if_asked()
            console.complain(f"Error: {sentence}")
            return INPUT_ERROR
        console.complain(_internal(error))
        return INTERNAL_ERROR
    return int(code or 0)


def _failure_of_value(error: Exception) -> str | None:
    # The command has imported this if it called code of the user.
    from antecede.checker.semantics.handlers import failure_of_value

    return failure_of_value(error)


def _trace_if_asked() -> None:
    """Print where the present error was raised, for developers."""
    if os.environ.get("ANTECEDE_DEBUG") == "1":
        traceback.print_exc()


def _internal(error: Exception) -> str:
    """Say that the checker failed, and how to report it."""
    _trace_if_asked()
    return (
        f"Internal error: {type(error).__name__}: {error}\nThis is a bug of antecede. Please "
        "report it with the command you ran and its output with ANTECEDE_DEBUG=1 set."
    )


if __name__ == "__main__":  # spark-submit runs this file
    sys.exit(import_module("antecede.__main__").main())
