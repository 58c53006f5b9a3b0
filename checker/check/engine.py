"""Selects the explorer of a search, and rejects options that the explorer would ignore.

Question: Which engine searches, and when is it plain Python instead? `plain_instead`.
"""

from __future__ import annotations

import os
from functools import partial
from pkgutil import resolve_name
from typing import TYPE_CHECKING, Any

import attrs

from antecede.checker.compiled.cache import compiled_in, folder, lacking
from antecede.checker.engine.threads.compiling import started
from antecede.checker.search.engine_warmup import EngineWarmup
from antecede.checker.search.loop import Explorer, Pausing
from antecede.checker.search.options import Options
from antecede.checker.search.plain import BreadthFirst, DepthFirst, RandomWalks
from antecede.checker.semantics.judge import is_joint, looks_at_message
from antecede.checker.semantics.transition import System
from antecede.checker.support.errors import CapacityError, InputError
from antecede.checker.support.settings import checked

if TYPE_CHECKING:
    from antecede.checker.engine.tabulated.tabulated_search import TabulatedSearch

MOST_ACTORS = 16
"""The greatest number of actors of the local engine, because of the keys of its tables.

`engine.rows.geometry` has the same number, but importing it would load NumPy.
"""

WANTS = {
    "spill": ("local",),
    "checkpoint": ("local", "spark"),
    "resume": ("local", "spark"),
    "master": ("spark",),
    "spark_threshold": ("spark",),
    "spark_conf": ("spark",),
}
"""Option -> the engines that support it in a breadth-first search."""


def kernels_are_compiled() -> bool:
    """Return whether compiled kernels are on the disk; does not import the compiler."""
    return compiled_in() is not None


def explorer_for(system: System, options: Options, max_depth: int | None = None) -> Explorer:
    """Return the explorer for `options`; states at `max_depth` are not expanded.

    Raises:
        InputError: there is no such engine, or it lacks a requested feature.
    """
    _refuse(system, options)
    if options.engine == "plain":
        return _plain(system, options, max_depth)
    return _local(system, options, max_depth)


def _refuse(system: System, options: Options) -> None:
    """Check that the engine exists and supports all options.

    Raises:
        InputError: it does not.
    """
    checked(options)
    for name, engines in WANTS.items():
        if _is_set(options, name):
            _refuse_elsewhere(options, name, engines)
    if options.engine == "spark" and options.search != "breadth":
        raise InputError(
            f"--engine spark searches breadth-first; this is {options.search}-first",
            code="engine-lacks-search",
            parameter="search",
            value=options.search,
            choices=("breadth",),
        )
    if options.engine == "plain":
        return
    if reason := only_plainly(system, options):
        searching = "" if options.search == "breadth" else f" in {options.search}-first search"
        raise InputError(
            f"{reason}, which the tables of the {options.engine} engine do not know{searching}; "
            "give --engine plain",
            code="engine-lacks-question",
            parameter="engine",
            value=options.engine,
            choices=("plain",),
        )
    if system.actors > MOST_ACTORS:
        raise InputError(
            f"actors is {system.actors}; the {options.engine} engine takes at most "
            f"{MOST_ACTORS}, the plain one any number (--engine plain)",
            code="engine-lacks-question",
            parameter="actors",
            value=system.actors,
        )


def only_plainly(system: System, options: Options = Options()) -> str | None:
    """Return the reason why only plain Python can judge the question, or None."""
    if system.limits:
        return f"--bound {','.join(limit.text for limit in system.limits)} cuts the search"
    if system.crashes is not None and (reason := _crashing_plainly(system, options)):
        return reason
    joint = [prop.name for prop in system.properties if is_joint(prop)]
    if joint and options.search != "breadth":
        return f"{', '.join(joint)} is about all actors at once"
    if system.network.ordering is not None:
        return f"the network {system.network.name} relates packets of several channels"
    if system.oracle.number is not None and system.network.merges:
        return "equal packets are one, so that messages need numbers that no other message has"
    closer = [prop.name for prop in system.properties if looks_at_message(prop)]
    return f"{', '.join(closer)} asks which message is delivered, or where" if closer else None


def _crashing_plainly(system: System, options: Options) -> str | None:
    """Return the reason why only plain Python can judge a question with crashes, or None."""
    later = [prop.name for prop in system.properties if prop.later]
    if later:
        return f"{', '.join(later)} depends on which actors crashed"
    return "actors may crash" if options.search != "breadth" else None


def plain_instead(system: System, options: Options) -> str | None:
    """Return the reason why plain Python replaces the requested engine, or None.

    Raises:
        CapacityError: there is too little memory for kernels, and the options require them.
    """
    if options.engine == "local" and (reason := only_plainly(system, options)):
        return reason
    lacks = None if options.engine == "plain" else lacking(options.threads or os.cpu_count() or 1)
    if lacks is None:
        return None
    wants = [name for name in WANTS if _is_set(options, name)]
    if options.engine != "local" or wants:
        asked = [f"--engine {options.engine}"] if options.engine != "local" else []
        asked += [f"--{name.replace('_', '-')}" for name in wants]
        raise CapacityError(f"{lacks}; change that, or leave {' and '.join(asked)} out")
    return lacks


def explorer_at_once(system: System, options: Options, max_depth: int | None = None) -> Explorer:
    """Return an explorer as `explorer_for`, without waiting for the compilation of kernels.

    If possible, the search begins in plain Python, and continues with the explorer of
    `explorer_for` when the kernels are ready.

    Raises:
        InputError: there is no such engine, or it lacks a requested feature.
    """
    if not begins_plainly(options):
        return explorer_for(system, options, max_depth)
    _refuse(system, options)
    compiling = started()
    return EngineWarmup(
        BreadthFirst(system, max_depth),
        ready=lambda: compiling.poll() is not None,
        begin=partial(explorer_for, system, options, max_depth),
        waits_for="plain Python, until the search code is compiled",
    )


def pausing_explorer(system: System, options: Options, max_depth: int | None = None) -> Pausing:
    """Return an explorer that can pause its search, so that its graph is examined meanwhile.

    Raises:
        InputError: there is no such engine, or it lacks a requested feature.
    """
    _refuse(system, options)
    if options.engine == "plain":
        return BreadthFirst(system, max_depth)
    return _by_levels(system, options, max_depth)


def begins_plainly(options: Options) -> bool:
    """Return whether a search begins in plain Python because no kernels are compiled yet."""
    simple = options.search == "breadth" and options.engine == "local"
    saved = (options.spill, options.checkpoint, options.resume)
    return (
        simple
        and not any(saved)
        and not kernels_are_compiled()
        and folder() is not None
        and not os.environ.get("NUMBA_DISABLE_JIT")
    )


def _is_set(options: Options, name: str) -> bool:
    default: Any = getattr(attrs.fields(Options), name).default
    return bool(getattr(options, name) != default)


def _refuse_elsewhere(options: Options, name: str, engines: tuple[str, ...]) -> None:
    """Reject an option if the engine ignores it."""
    if options.search == "breadth" and options.engine in engines:
        return
    option = f"--{name.replace('_', '-')}"
    text = f"{option} is for --engine spark"
    if engines != ("spark",):
        text = (
            f"{option} is for breadth-first search by the {' or '.join(engines)} engine; this is "
            f"{options.search}-first search by the {options.engine} engine"
        )
    value = getattr(options, name)
    raise InputError(text, code="engine-lacks-option", parameter=name, value=value)


def _plain(system: System, options: Options, max_depth: int | None) -> Explorer:
    if options.search == "random":
        return RandomWalks(system, max_depth, walks=options.walks, seed=options.seed)
    return (DepthFirst if options.search == "depth" else BreadthFirst)(system, max_depth)


def _local(system: System, options: Options, max_depth: int | None) -> Explorer:
    # NumPy takes a while to import; `antecede list` must not wait for it.
    if options.search == "depth":
        from antecede.checker.engine.threads.depth import LocalDepthFirst

        return LocalDepthFirst(system, max_depth)
    if options.search == "random":
        from antecede.checker.engine.threads.walks import LocalRandomWalks

        return LocalRandomWalks(system, max_depth, walks=options.walks, seed=options.seed)
    return _by_levels(system, options, max_depth)


def _by_levels(system: System, options: Options, max_depth: int | None) -> TabulatedSearch:
    """Return a breadth-first search on tables, with the transport of its engine.

    Every search starts on threads. For a cluster, `transport` of the module
    `checker/engine/ENGINE/transport.py` makes the next transport. It is imported on demand.
    """
    from antecede.checker.engine.tabulated.tabulated_search import TabulatedSearch
    from antecede.checker.engine.threads.transport import Threads

    following = None
    if options.engine != "local":
        following = resolve_name(f"antecede.checker.engine.{options.engine}.transport:transport")
    return TabulatedSearch(system, max_depth, options, Threads, following)
