"""Compiles the kernels in a process of its own, which keeps them for all later starts.

This module starts that process, and the process runs it. The process continues when the one that
started it has its answer, because the next start will need the kernels. Starting it imports no
compiler.
"""

from __future__ import annotations

import os
import subprocess
import sys

from antecede.checker.engine.compiled import cache
from antecede.checker.model import Property, Protocol, Step, What, Where
from antecede.checker.search.loop import explore
from antecede.checker.search.options import Options
from antecede.checker.search.result import Result
from antecede.checker.semantics.history import oracle_named
from antecede.checker.semantics.network import network_named
from antecede.checker.semantics.transition import System
from antecede.checker.semantics.workloads import workload_from
from antecede.checker.support.locks import held, locked
from antecede.checker.support.platforms import APART

_running: list[subprocess.Popen[bytes]] = []
"""Kept, for Python complains of those that are dropped while they run."""


MORE = "more"
"""The argument of a process that compiles what fewer searches need."""


def started(*arguments: str) -> subprocess.Popen[bytes]:
    """Start a process in the background that compiles the kernels for later starts, and return it.

    Kernels are functions that Numba compiles; their machine code is cached on the disk. The process
    ends with exit code 0 when the kernels are compiled, by it or another process, and with 1 if
    they cannot be cached. It prints nothing, and Ctrl-C here does not end it.

    Args:
        arguments: the command line of the process: nothing for the kernels that most breadth-first
            searches need, or MORE for those that fewer searches need.
    """
    command = [sys.executable, "-P", "-m", "antecede.checker.engine.threads.compiling", *arguments]
    silent = subprocess.DEVNULL
    _running.append(subprocess.Popen(command, stdin=silent, stdout=silent, stderr=silent, **APART))
    return _running[-1]


def main() -> bool | None:
    """Compile the kernels that breadth-first search needs, and cache their machine code on disk.

    A kernel is a function that Numba compiles. If another process compiles them at this time, wait
    until it is done.

    Returns:
        True if this process has compiled the kernels; False if they are in the cache already; None
        if there is no folder for the cache, or no file in it can be locked.
    """
    folder = cache.folder()
    lock = None if folder is None else locked(folder / "compiling", waits=True)
    if lock is None:
        return None
    with held(lock):
        if cache.compiled_in() is not None:
            return False
        compile_all()
    return True


WAYS = (
    Options(),
    Options(symmetry=False, forget_from=None),
    Options(symmetry=False, forget_from=0, collect_from=1),
)
"""Ways to search that use kernels of their own."""

SEVERAL_WORDS = 24
"""So many bits for each actor make rows of two words, if there are three actors."""


def compile_all() -> list[Result]:
    """Explore a small system in all ways that use kernels of their own; return what was found."""
    done = [_explored(_toy("knowledge"), options) for options in WAYS]
    _grow()
    return done


def compile_more() -> list[Result]:
    """Compile the versions of kernels for rows of several words, and for the history full.

    Fewer searches need them. All later searches of this process have rows of several words.
    """
    from antecede.checker.engine.rows import composites

    composites.ROW_BITS = SEVERAL_WORDS
    return [*compile_all(), _explored(_toy("full"), Options())]


def _explored(system: System, options: Options) -> Result:
    from antecede.checker.engine.threads.transport import search_on_threads

    return explore(system, search_on_threads(system, options=options))


def _grow() -> None:
    """Let a visited set grow; the visited set of a small system does not."""
    import numpy as np

    from antecede.checker.engine.rows.table_filler import wrapping
    from antecede.checker.engine.storage.arena import Arena
    from antecede.checker.engine.visited.visited import SMALLEST, Visited

    visited = Visited(1, Arena(np.int64, 1 << 24))
    with wrapping():
        visited.add(np.arange(SMALLEST))
    visited.close()


def _toy(history: str) -> System:
    """Return a system whose messages are sent and delivered at once."""
    protocol = Protocol(
        name="direct",
        summary="sends and delivers at once",
        source="none",
        initial=lambda _actor, _actors: (),
        causal_send=lambda state, message: Step(state, sends=((message.receiver, message),)),
        receive=lambda state, _src, message: Step(state, deliveries=(message,)),
    )
    nothing_left = Property(
        name="nothing-left",
        summary="all is delivered",
        what=What.UNDELIVERED,
        where=Where.AT_FINAL_STATES,
        predicate=lambda messages: not messages,
    )
    return System(
        protocol=protocol,
        actors=3,
        messages=1,
        network=network_named("unordered"),
        workload=workload_from("any", 3, 1),
        oracle=oracle_named(history, 3, 1),
        properties=(nothing_left,),
    )


if __name__ == "__main__":
    if sys.argv[1:] == [MORE]:
        if hasattr(os, "nice"):
            os.nice(19)
        compile_more()
        sys.exit()
    compiled = main()
    # Searches need not wait for the rest. A process that waited for another leaves the rest to it.
    if compiled:
        started(MORE)
    sys.exit(1 if compiled is None else 0)
