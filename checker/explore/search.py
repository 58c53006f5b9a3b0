"""A search of the explore page, in a process of its own.

The process can be ended at any time, and the server goes on answering meanwhile. From the start of
all runs it is a check by the compiled engine. From another state it searches in plain Python,
because the tables of the engine begin at the start.
"""

from __future__ import annotations

import atexit
import multiprocessing
import pickle
import threading
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from multiprocessing.connection import Connection
from pathlib import Path as FilePath
from typing import Any

from attrs import define, evolve, field, frozen

from antecede.checker.check.pipeline import check, self_checking
from antecede.checker.check.spec import Spec
from antecede.checker.explore.reload import contents_of
from antecede.checker.explore.where import searched_for
from antecede.checker.model import Protocol
from antecede.checker.paths.path import Path, replay_keys, transition_key
from antecede.checker.render.progress import progress_text
from antecede.checker.search.loop import Progress, explore
from antecede.checker.search.options import Bounds
from antecede.checker.search.plain import BreadthFirst
from antecede.checker.search.result import Result
from antecede.checker.semantics.transition import EndlessSystem, System
from antecede.checker.support.block import Block
from antecede.checker.support.errors import InputError, ProtocolError
from antecede.checker.support.registry import with_objects
from antecede.checker.support.supervisor import PERIOD, Watch
from antecede.checker.sweep.processes import KILLED, begin_apart, shared_memory, starting_safely

PAUSE = 0.1
"""Seconds between two reports of a search about its progress."""

CHANGED = "the protocol has changed since the search was asked for; search again"

STARTING = 5.0
"""The time in seconds to wait for a search that is being started when the server ends."""

KEPT = 8
"""The number of searches whose results can still be asked for."""


@frozen
class Asked:
    """The question of a search, in values that another process can read.

    Attributes:
        spec: the system, with the properties to violate or the witness to show.
        before: the keys of the transitions that lead to the state where the search begins.
        contents: the files of the protocol, with the digests of their contents in the page's
            process. The process of the search imports them again.
        expression: searches for a state where it is true, in place of the properties.
    """

    spec: Spec
    before: tuple[str, ...]
    bounds: Bounds
    contents: Mapping[FilePath, str] = field(factory=dict)
    expression: str = ""


@frozen
class Ending:
    """The result of a search, in values that another process can read.

    Attributes:
        prop: the name of the property that the run violates or shows, or None without a run.
        keys: the keys of the run's transitions, from the start of all runs.
        states: the number of states that were found.
        stopped_by: the bound that ended the search, in words, or None.
    """

    prop: str | None
    keys: tuple[str, ...]
    states: int
    stopped_by: str | None

    @classmethod
    def of(cls, result: Result) -> Ending:
        """Return what a result says.

        Raises:
            ProtocolError: the protocol failed.
        """
        if result.error is not None:
            raise ProtocolError(result.error)
        runs = dict[str, Path](result.shown)
        if (run := result.counterexample) is not None and run.violates is not None:
            runs[run.violates] = run
        name = min(runs, key=lambda name: runs[name].length, default=None)
        keys = () if name is None else tuple(map(transition_key, runs[name].transitions))
        return cls(name, keys, result.size.unique_states, result.stopped_by)


def plainly(
    system: System, before: Path, bounds: Bounds, watch: Callable[[Progress], None] = lambda _: None
) -> Ending:
    """Search breadth-first in plain Python from the end of a path.

    Raises:
        ProtocolError: the protocol failed.
    """
    explorer = BreadthFirst(self_checking(system, "on"), before=before.transitions)
    return Ending.of(explore(system, explorer, bounds, watch))


def _looked(asked: Asked, watch: Callable[[Progress], None]) -> Ending:
    system = asked.spec.system
    if contents_of(asked.contents) != asked.contents:
        raise InputError(CHANGED)
    if asked.expression:
        prop = searched_for(asked.expression, system)
        checking = self_checking(evolve(system, properties=()), "on")
        before = replay_keys(system, asked.before).transitions
        explorer = BreadthFirst(evolve(checking, properties=(prop,)), before=before)
        system = evolve(system, properties=(prop,))
        return Ending.of(explore(system, explorer, asked.bounds, watch))
    if asked.before or isinstance(system, EndlessSystem):
        return plainly(system, replay_keys(system, asked.before), asked.bounds, watch)
    return Ending.of(check(asked.spec, bounds=asked.bounds, watch=watch).result)


@frozen
class _Reporting:
    """Runs a search and sends what happens."""

    connection: Connection

    def __call__(self, asked: Asked) -> None:
        last = -PAUSE

        def watch(progress: Progress) -> None:
            nonlocal last
            if time.monotonic() > last + PAUSE:
                last = time.monotonic()
                self.connection.send(progress_text(progress))

        try:
            self.connection.send(_looked(asked, watch))
        except InputError as error:
            self.connection.send(InputError(str(error)))
        except Exception as error:
            told = f"internal error of the search: {type(error).__name__}: {error}"
            self.connection.send(InputError(told))


def _begin(call: Callable[[Asked], None], asked: Asked, keep_safe_path: bool, *memory: Any) -> None:
    """Run a search in a new process."""
    begin_apart(keep_safe_path, *memory)
    call(asked)


@define(eq=False)
class Search:
    """A search that was started.

    Attributes:
        number: names the search in addresses.
        progress: the latest figures, in words.
        ended: how it ended; None while it goes on, or if it was cancelled.
    """

    number: int
    asked: Asked
    process: Any
    connection: Connection
    watch: Watch
    progress: str = "starting"
    ended: Ending | InputError | None = None
    cancelled: bool = False
    over: threading.Event = field(factory=threading.Event)

    def read(self) -> None:
        """Read what the process sends, until it ends."""
        try:
            while not isinstance(got := self._next(), Ending | InputError):
                self.progress = got
            self.ended = got
        except (EOFError, OSError):
            if not self.cancelled:
                self.ended = InputError(KILLED.replace("its process", "the process of the search"))
        finally:
            self.end()
            self.over.set()

    def _next(self) -> str | Ending | InputError:
        """Return what the process sends next, or why it was killed."""
        while not self.connection.poll(PERIOD):
            if self.watch.look(time.monotonic()):
                return InputError(self.watch.unfinished())
        return self.connection.recv()  # type: ignore[no-any-return]

    def cancel(self) -> None:
        """End the search without a result."""
        self.cancelled = True
        self.end()

    def end(self) -> None:
        """End the process, even while it works."""
        with suppress(Exception):
            self.process.kill()


@define(eq=False)
class Searches:
    """The searches of a server. Only one is under way at a time."""

    _all: dict[str, Search] = field(factory=dict, init=False)
    _lock: threading.Lock = field(factory=threading.Lock, init=False)
    _started: int = field(default=0, init=False)
    _closed: bool = field(default=False, init=False)

    def __attrs_post_init__(self) -> None:
        """See to it that no process outlives this one."""
        atexit.register(self.close)

    def under_way(self) -> Search | None:
        """Return the search that has not ended, or None."""
        searches = list(self._all.values())  # a copy, because other threads begin searches
        return next((each for each in searches if not each.over.is_set()), None)

    def numbered(self, number: str) -> Search | None:
        """Return the search of a number, if it is known."""
        return self._all.get(number)

    def begin(self, asked: Asked, objects: Mapping[str, Protocol]) -> Search:
        """Return the search for `asked`: the one under way if it looks for this, or a new one.

        Args:
            objects: the protocols that have no file, by name.

        Raises:
            InputError: a search for something else is under way, a protocol cannot be sent to
                another process, or the server has ended.
        """
        with self._lock:
            if self._closed:
                raise InputError("the server has ended")
            running = self.under_way()
            if running is not None:
                if running.asked != asked:
                    raise InputError("another search is under way; cancel it first, or wait")
                return running
            search = self._start(asked, objects)
            self._all[str(search.number)] = search
            for number in list(self._all)[:-KEPT]:
                del self._all[number]
        threading.Thread(target=search.read, daemon=True).start()
        return search

    def _start(self, asked: Asked, objects: Mapping[str, Protocol]) -> Search:
        self._started += 1
        context = multiprocessing.get_context("spawn")
        reading, writing = context.Pipe(duplex=False)
        memory = shared_memory()
        try:
            with starting_safely() as keeps_safe_path:
                call = with_objects(_Reporting(writing), objects)
                arguments = (call, asked, keeps_safe_path, *memory)
                process = context.Process(target=_begin, args=arguments)
                process.start()
        except (TypeError, ValueError, AttributeError, pickle.PicklingError) as error:
            raise InputError(
                f"the protocol cannot be sent to the process of the search: {error}; save the "
                "protocol as a file, and explore the file"
            ) from None
        finally:
            writing.close()
        return Search(self._started, asked, process, reading, Watch(Block(*memory)))

    def close(self) -> None:
        """End the search under way. There is none after it, which the process would wait for."""
        self._closed = True
        if self._lock.acquire(timeout=STARTING):
            self._lock.release()  # no other thread is about to start a search
        running = self.under_way()
        if running is not None:
            running.cancel()
            running.process.join()
        atexit.unregister(self.close)
