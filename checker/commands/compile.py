"""`antecede compile`."""

from __future__ import annotations

import json
import tempfile
from contextlib import nullcontext
from itertools import product

import click

from antecede.checker.check.engine import explorer_for
from antecede.checker.commands import console
from antecede.checker.commands.help import CommandWithExamples
from antecede.checker.compiled import cache
from antecede.checker.engine.threads import compiling
from antecede.checker.logs.audit import audit
from antecede.checker.search.loop import explore
from antecede.checker.search.options import Options
from antecede.checker.support.errors import CapacityError, InputError


@click.command("compile", cls=CommandWithExamples)
def command() -> int:
    """Compile the code of searches and audits now, and keep it for all later commands.

    Otherwise, the first checks on a machine compile the code that they need while they search.
    Compiling all of it takes one to two minutes of one core. Use this command when you build an
    image, or fill the cache of a CI job.
    """
    if lacks := cache.lacking():
        raise CapacityError(lacks)
    folder = cache.folder()
    if folder is None or cache.is_temporary():
        raise InputError(
            f"no folder can keep the search code; name one that only you can write to with "
            f"{cache.CHOSEN}"
        )
    compiling.main()
    compiling.compile_more()
    _audit()
    _search_on_spark()
    console.say(f"The search code is compiled: {folder}")
    return 0


def _audit() -> None:
    """Audit a small log that has each kind of finding."""
    lines = [
        {"actor": "a", "event": "sent", "message": f"m{number}", "to": ["b", "c"]}
        for number in range(9)
    ]
    for actor, numbers in {"b": (1, 0, 0, 2, 7), "c": (2, 1, 0)}.items():
        lines += [
            {"actor": actor, "event": "processed", "message": f"m{number}"} for number in numbers
        ]
    with tempfile.NamedTemporaryFile("w", suffix=".jsonl") as log:
        log.write("".join(f"{json.dumps(line)}\n" for line in lines))
        log.flush()
        audit([log.name], compiled=True)


def _search_on_spark() -> None:
    """Search on Spark in this machine in all ways; leave it out if it cannot run."""
    system = compiling.small_system("knowledge")
    for symmetry, long in product((True, False), (False, True)):
        options = Options(engine="spark", master="local[1]", spark_threshold=1, symmetry=symmetry)
        try:
            with compiling.long_rows() if long else nullcontext():
                explore(system, explorer_for(system, options))
        except (InputError, CapacityError) as error:
            console.say(f"The code of searches on Spark is left out: {error}")
            return
