"""The tools of `antecede mcp`, which agents call, with their arguments and budgets."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
from itertools import count
from pathlib import Path
from typing import Any

import attrs
from attrs import frozen

from antecede.checker.agents import answers
from antecede.checker.agents.running import Ran, run
from antecede.checker.render.catalogue import names_of_parts
from antecede.checker.support.errors import InputError, check_known
from antecede.checker.support.reading import json_in, small_text_in
from antecede.checker.support.registry import PIPE
from antecede.checker.support.schemas import Schema, a_table, of_setting
from antecede.checker.support.settings import check_text, checked, setting, settings_of


@frozen
class Ceilings:
    """The greatest budgets that an agent may ask for, as the user of `antecede mcp` sets them."""

    max_seconds: float = setting(
        300.0, float, "Longest time that a call may ask for, in seconds.", above=0.0
    )
    max_states: int = setting(
        5_000_000, int, "Greatest number of unique states that a call may ask for.", least=1
    )
    max_memory: int = setting(
        2 * 10**9,
        int,
        "Most memory that a call may use, such as 500M or 4G.",
        least=1,
        most=1 << 60,
        metavar="SIZE",
        otherwise="2G",
    )


_TARGET = "A name that list shows, FILE.py:OBJECT, SPEC.toml, or a folder of specs."
_TRACE = "The file that check names as the trace."


@frozen
class Listed:
    """The arguments of `list`."""

    name: str | None = setting(None, str, "A protocol, property, network, …, or FILE.py.")


@frozen
class Asked:
    """The arguments of `validate`: a question, as in a spec; the target gives missing parts."""

    target: str = setting(attrs.NOTHING, str, _TARGET)
    actors: int | None = setting(None, int, "Number of actors.", least=2)
    messages: int | None = setting(None, int, "Number of messages of each actor.", least=1)
    network: str | None = setting(None, str, "unordered, fifo, lossy, …; see list.")
    workload: str | None = setting(None, str, "any, broadcast, script:JSON, …; see list.")
    properties: list[str] | None = setting(None, list, "Names of the properties to check.")


@frozen
class Checked(Asked):
    """The arguments of `check`."""

    max_seconds: float = setting(30.0, float, "Stop after this number of seconds.", above=0.0)
    max_states: int = setting(200_000, int, "Stop after this number of unique states.", least=1)


@frozen
class Replayed:
    """The arguments of `replay`."""

    trace: str = setting(attrs.NOTHING, str, _TRACE)
    protocol: str | None = setting(
        None, str, "FILE.py:OBJECT, if the protocol is in a file; the call runs this file."
    )
    property: str | None = setting(
        None, str, "FILE.py:NAME, if the property is in a file; the call runs this file."
    )


@frozen
class Explained:
    """The arguments of `explain`."""

    trace: str = setting(attrs.NOTHING, str, _TRACE)
    first: int = setting(1, int, "The number of the first step to show.", least=1)


VALIDATED_STATES = 200
SHORT_SECONDS = 20.0
"""The states and the time in seconds of calls that have no budget among their arguments."""


class Tools:
    """The tools of a server, which keeps the results of checks in a folder until it ends."""

    def __init__(self, folder: Path, ceilings: Ceilings) -> None:
        """Keep results in a folder."""
        self._folder, self._ceilings, self._numbers = folder, ceilings, count(1)

    async def call(self, name: str, arguments: Mapping[str, Any]) -> str:
        """Return the answer of a tool.

        Raises:
            InputError: there is no such tool, an argument is wrong, or the call failed.
        """
        check_known("tool", name, TOOLS)
        kind, _, does = TOOLS[name]
        return await does(self, _arguments(name, kind, arguments))

    async def list(self, given: Listed) -> str:
        """Return the names of all parts, or the description of one."""
        if given.name is None:
            return names_of_parts() + "\nNext: list(name=…) describes one of them, or FILE.py."
        ran = await self._run(["list", "--", given.name], self._seconds(SHORT_SECONDS))
        if ran.code:
            raise InputError(ran.error)
        return answers.with_end([ran.out.strip()], "Next: check it.")

    async def validate(self, given: Asked) -> str:
        """Return whether the target can be checked; looks at a few states only."""
        states = min(VALIDATED_STATES, self._ceilings.max_states)
        found, _ = await self._result(given, self._seconds(SHORT_SECONDS), states)
        if "checks" not in found:
            return answers.validate_answer(found, given.target)
        wrong = [answers.refusal(each) for each in found["refused"]]
        wrong += [f"{c['spec']}: {c['error']}" for c in found["checks"] if c["error"] is not None]
        if wrong:
            return answers.with_end(["NOT VALID", *wrong], answers.REPAIR)
        return f"VALID: {len(found['checks'])} specs\nNext: check them."

    async def check(self, given: Checked) -> str:
        """Return the verdict with a shortest counterexample."""
        for name in ("max_seconds", "max_states"):
            if (value := getattr(given, name)) > (most := getattr(self._ceilings, name)):
                raise InputError(
                    f"{name} is {value:,}; this server allows at most {most:,}, which the user can "
                    f"change with antecede mcp --{name.replace('_', '-')}"
                )
        found, trace = await self._result(given, given.max_seconds, given.max_states)
        several = "checks" in found
        return answers.checks_answer(found) if several else answers.check_answer(found, trace)

    async def replay(self, given: Replayed) -> str:
        """Return whether a saved run still violates its property."""
        _refuse_programs(given.protocol or "")
        await asyncio.to_thread(small_text_in, given.trace, "the trace")
        named = {"protocol": given.protocol, "property": given.property}
        words = [f"--{name}={value}" for name, value in named.items() if value is not None]
        ran = await self._run(["replay", *words, "--", given.trace], self._seconds(SHORT_SECONDS))
        if ran.code not in (0, 1):
            raise InputError(ran.error)
        return answers.replay_answer(ran.code == 1, ran.out, given.trace)

    async def explain(self, given: Explained) -> str:
        """Return the steps of a saved run with their states."""
        return await asyncio.to_thread(answers.explain_answer, given.trace, given.first)

    async def _run(self, arguments: Sequence[str], seconds: float) -> Ran:
        return await run(arguments, seconds, self._folder)

    def _seconds(self, wanted: float) -> float:
        return min(wanted, self._ceilings.max_seconds)

    async def _result(self, asked: Asked, seconds: float, states: int) -> tuple[Any, str]:
        """Run a check; return the object that it writes, and its file.

        Raises:
            InputError: the target cannot be checked.
        """
        _refuse_programs(asked.target)
        file = str(self._folder / f"run-{next(self._numbers)}.json")
        values = {name: getattr(asked, name) for name in ("actors", "messages", "network")}
        values |= {"workload": asked.workload, "max-seconds": seconds, "max-states": states}
        values |= {"max-memory": self._ceilings.max_memory, "json": file}
        words = [f"--{name}={value}" for name, value in values.items() if value is not None]
        words += [f"--property={name}" for name in asked.properties or ()]
        ran = await self._run(["check", "--quiet", *words, "--", asked.target], seconds)
        return await asyncio.to_thread(_object_in, file, ran), file


def _object_in(file: str, ran: Ran) -> Any:
    if not Path(file).is_file():
        raise InputError(ran.error)
    return json_in(small_text_in(file, "the result"), file)


def _refuse_programs(reference: str) -> None:
    """Refuse a program, because the call itself would then contain what runs."""
    if reference.startswith(PIPE):
        raise InputError(
            f"{reference!r} starts a program, which only antecede test on the command line does; "
            "give FILE.py:OBJECT"
        )


def _arguments(tool: str, kind: type, given: Mapping[str, Any]) -> Any:
    """Return the checked arguments of a tool."""
    known = {each.name: each for each in settings_of(kind)}
    for name in given:
        check_known(f"argument of {tool}", name, known)
    for name, each in known.items():
        if each.default is attrs.NOTHING and given.get(name) is None:
            raise InputError(f"{tool} needs the argument {name}: {each.says}")
    values = {name: value for name, value in given.items() if value is not None}
    for name, value in values.items():
        for text in value if isinstance(value, list) else [value]:
            if known[name].kind in (str, list):
                check_text(name, text)
    return checked(kind(**values))


def input_schema(kind: type) -> Schema:
    """Return the JSON schema of the arguments of a tool."""
    known = settings_of(kind)
    return a_table(
        {each.name: {"description": each.says, **of_setting(each)} for each in known},
        [each.name for each in known if each.default is attrs.NOTHING],
    )


TOOLS: Mapping[str, tuple[type, str, Callable[[Tools, Any], Awaitable[str]]]] = {
    "list": (
        Listed,
        "Name the protocols, properties, networks and workloads, or describe one of them.",
        Tools.list,
    ),
    "validate": (
        Asked,
        "Find mistakes in a protocol file or spec quickly: import it, and explore a few states. "
        "Runs the file.",
        Tools.validate,
    ),
    "check": (
        Checked,
        "Explore every order of sends and deliveries. Answers HOLDS, or VIOLATED with a shortest "
        "counterexample. Runs the protocol's file.",
        Tools.check,
    ),
    "replay": (
        Replayed,
        "Repeat a saved counterexample with the present code: does a repair work?",
        Tools.replay,
    ),
    "explain": (
        Explained,
        "Show why a saved run violates its property, and each actor's state after each step.",
        Tools.explain,
    ),
}
"""Name of a tool -> the record of its arguments, its purpose, and the function that answers."""
