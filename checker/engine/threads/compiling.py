"""Compiles the kernels of searches beside a search, or beforehand with `antecede compile`.

A command whose search finds no kernels starts a process that compiles them. That process ends with
the command, however the command ends, and the kernels that it has finished stay in the cache.
Starting it imports no compiler.
"""

from __future__ import annotations

import atexit
import os
import shutil
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager

from antecede.checker.compiled import cache
from antecede.checker.model import Property, Protocol, Step, What, When
from antecede.checker.search.loop import explore
from antecede.checker.search.options import Options
from antecede.checker.search.result import Result
from antecede.checker.semantics.history import oracle_named
from antecede.checker.semantics.network import network_named
from antecede.checker.semantics.transition import System
from antecede.checker.semantics.workloads import workload_from
from antecede.checker.support.platforms import APART


def started() -> subprocess.Popen[bytes]:
    """Start a process that compiles the kernels of most searches, and return it.

    It prints nothing, Ctrl-C here does not reach it, and it ends with this process. Its exit code
    is 0 when all kernels are in the cache, and 1 if they cannot be cached.
    """
    command = [sys.executable, "-P", "-m", "antecede.checker.engine.threads.compiling"]
    command += cache.made_for_command
    silent = subprocess.DEVNULL
    # The standard input of the compiler ends when this process ends; see `_end_with_parent`.
    process = subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=silent, stderr=silent, **APART
    )
    atexit.register(_end, process)
    return process


def _end(process: subprocess.Popen[bytes]) -> None:
    """Let the compiler end, and wait for that, because it may write to a temporary folder."""
    assert process.stdin is not None
    process.stdin.close()
    try:
        process.wait(timeout=5)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()


def _end_with_parent() -> None:
    """Let a thread end this process as soon as the one that started it has ended."""

    def wait() -> None:
        os.read(0, 1)
        with cache.writing:  # no file stays half-written
            for folder in sys.argv[1:]:  # the command may have been killed, and left it
                shutil.rmtree(folder, ignore_errors=True)
            os._exit(1)

    threading.Thread(target=wait, daemon=True).start()


def main() -> bool | None:
    """Compile the kernels that most breadth-first searches need, and cache their machine code.

    Return True if this process has made sure that all of them are in the cache; False if that was
    known already; None if there is no folder for the cache.
    """
    with cache.writing:  # otherwise it could come back while `_end_with_parent` removes it
        folder = cache.folder()
    if folder is None:
        return None
    if cache.compiled_in() is not None:
        return False
    compile_all()
    (folder / cache.ALL_USUAL).touch()
    return True


WAYS = (
    Options(),
    Options(symmetry=False, forget_from=None),
    Options(symmetry=False, forget_from=0, collect_from=1),
)
"""Ways to search that use kernels of their own."""

OTHERS = (Options(search="depth"), Options(search="random"))
"""Searches that are not breadth-first."""

SEVERAL_WORDS = 24
"""So many bits for each actor make rows of two words, if there are three actors."""


def compile_all() -> list[Result]:
    """Explore a small system in all ways that use kernels of their own; return what was found."""
    done = [_explored(small_system("knowledge"), options) for options in WAYS]
    _grow()
    return done


def compile_more() -> list[Result]:
    """Compile what fewer searches need: other searches, the history full, rows of several words."""
    done = [_explored(small_system("knowledge"), options) for options in OTHERS]
    with long_rows():
        return [*done, *compile_all(), _explored(small_system("full"), Options())]


@contextmanager
def long_rows() -> Iterator[None]:
    """Let searches have rows of several words, for which kernels are compiled anew."""
    from antecede.checker.engine.rows import composites

    usual, composites.ROW_BITS = composites.ROW_BITS, SEVERAL_WORDS
    try:
        yield
    finally:
        composites.ROW_BITS = usual


def _explored(system: System, options: Options) -> Result:
    from antecede.checker.engine.threads.depth import LocalDepthFirst
    from antecede.checker.engine.threads.transport import search_on_threads
    from antecede.checker.engine.threads.walks import LocalRandomWalks

    if options.search == "depth":
        return explore(system, LocalDepthFirst(system))
    if options.search == "random":
        return explore(system, LocalRandomWalks(system, walks=1, seed=0))
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


def small_system(history: str) -> System:
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
        when=When.AT_FINAL_STATES,
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
    _end_with_parent()
    sys.exit(1 if main() is None else 0)
