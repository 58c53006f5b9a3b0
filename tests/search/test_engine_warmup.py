"""A search that begins in plain Python and goes over to the compiled engine."""

from __future__ import annotations

import json
import os
import re
import signal
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import psutil
import pytest
from attrs import evolve

from antecede.checker.check import engine
from antecede.checker.check.engine import begins_plainly, explorer_at_once, explorer_for
from antecede.checker.check.pipeline import check
from antecede.checker.check.spec import Spec
from antecede.checker.compiled import cache
from antecede.checker.engine.rows import composites
from antecede.checker.engine.tabulated import levels_kernels
from antecede.checker.engine.tabulated.tabulated_search import TabulatedSearch
from antecede.checker.engine.threads import compiling
from antecede.checker.engine.threads.transport import search_on_threads
from antecede.checker.search.engine_warmup import EngineWarmup
from antecede.checker.search.loop import Progress, explore
from antecede.checker.search.options import Bounds, Options
from antecede.checker.search.plain import BreadthFirst
from antecede.checker.search.result import Verdict
from tests.conftest import COMMAND, ROOT, Command, begun, children_of, in_a_process, method
from tests.engine.threads.test_local import found, plainly, small
from tests.support.test_interrupts import until

SYSTEMS = [("mfss", 3, 1), ("mfss", 2, 2), ("cykas", 3, 1)]


def after(looks: int) -> Callable[[], bool]:
    """Return what says yes when it was asked so often."""
    left = [looks]

    def ready() -> bool:
        left[0] -= 1
        return left[0] < 0

    return ready


def meanwhile(
    name: str, actors: int, messages: int, looks: int, pause: float = 0.0
) -> EngineWarmup:
    system = small(name, actors, messages)

    def begin() -> TabulatedSearch:
        time.sleep(pause)
        return search_on_threads(system, options=method(threads=2))

    return EngineWarmup(BreadthFirst(system), after(looks), begin, "waiting")


class TickingOften(BreadthFirst):
    """Looks before every level."""

    def round(self, tick: Callable[[], None]) -> None:
        tick()
        super().round(tick)


@pytest.mark.parametrize("looks", [0, 1, 5, 1_000_000])
@pytest.mark.parametrize(("name", "actors", "messages"), SYSTEMS)
def test_counts_and_verdicts_do_not_depend_on_when_the_other_engine_is_ready(
    name: str, actors: int, messages: int, looks: int
) -> None:
    search = meanwhile(name, actors, messages, looks)
    search.engine = TickingOften(small(name, actors, messages))
    result = explore(search.engine.system, search)
    assert found(plainly(small(name, actors, messages))) == found(result)
    assert ("explored_plainly" in result.statistics) == (looks > 100)
    assert ("table_entries" in result.statistics) == (looks < 100)


@pytest.mark.parametrize("looks", [0, 1, 2, 1_000_000])
def test_a_counterexample_is_as_short_whoever_finds_it(looks: int) -> None:
    system = small("unordered", 2, 2)
    search = meanwhile("unordered", 2, 2, looks)
    search.engine = TickingOften(system)
    assert found(plainly(system)) == found(explore(system, search))


def test_what_was_explored_in_vain_takes_no_time_and_no_bounds() -> None:
    search = meanwhile("mfss", 3, 2, 3, pause=1.0)
    seen: list[Progress] = []
    bounds = Bounds(max_seconds=0.9, max_memory=1 << 40)
    began = time.monotonic()
    result = explore(small("mfss", 3, 2), search, evolve(bounds, max_seconds=600.0), seen.append)
    assert result.verdict is Verdict.HOLDS
    assert search.vain_seconds >= 1.0
    assert result.seconds <= time.monotonic() - began - search.vain_seconds + 0.01
    assert "waiting" == seen[0].waits_for
    assert "" == seen[-1].waits_for


def test_the_bounds_on_time_and_states_are_for_both_engines() -> None:
    search = meanwhile("mfss", 3, 2, 1_000_000)
    result = explore(small("mfss", 3, 2), search, Bounds(max_seconds=1e-6))
    assert "--max-seconds 1e-06 reached" == result.stopped_by
    search = meanwhile("mfss", 3, 2, 1_000_000)
    result = explore(small("mfss", 3, 2), search, Bounds(max_states=500))
    assert "--max-states 500 reached" == result.stopped_by


@pytest.mark.integration
def test_the_first_engine_only_waits_where_there_are_many_states() -> None:
    search = meanwhile("mfss", 3, 2, 8)
    search.most_states = 300
    result = explore(small("mfss", 3, 2), search)
    assert not search.waits_for
    assert found(plainly(small("mfss", 3, 2))) == found(result)


def test_without_compiled_kernels_a_check_begins_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    asked = []

    class Never:
        def poll(self) -> None:
            asked.append("poll")

    monkeypatch.setattr(engine, "kernels_are_compiled", lambda: False)
    monkeypatch.setattr(engine, "started", Never)
    report = check(Spec(protocol="mfss", actors=2, messages=2))
    assert Verdict.HOLDS is report.result.verdict
    assert "explored_plainly" in report.result.statistics


def test_where_a_search_is_saved_or_not_breadth_first_it_waits_for_the_kernels(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    assert not begins_plainly(Options())
    monkeypatch.setattr(engine, "kernels_are_compiled", lambda: False)
    assert begins_plainly(Options())
    for options in (
        Options(engine="plain"),
        Options(engine="spark"),
        Options(search="depth"),
        Options(checkpoint=tmp_path),
        Options(spill=tmp_path),
    ):
        assert not begins_plainly(options)
    monkeypatch.setattr(engine, "folder", lambda: None)
    assert not begins_plainly(Options())


def test_with_compiled_kernels_nothing_is_waited_for() -> None:
    for made in (explorer_at_once, explorer_for):
        search = made(small("mfss", 2, 1), Options())
        assert isinstance(search, TabulatedSearch)
        search.close()


def test_whoever_compiles_second_does_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(compiling, "compile_all", lambda: pytest.fail("compiled again"))
    assert compiling.main() is False
    monkeypatch.setattr(cache, "folder", lambda: None)
    assert compiling.main() is None


def test_what_is_explored_to_compile_the_kernels_is_explored_to_its_end() -> None:
    done = compiling.compile_all()
    assert {Verdict.HOLDS} == {result.verdict for result in done}
    assert done[0].unreduced is not None
    assert done[0].unreduced == done[1].counts == done[2].counts


def test_what_is_compiled_later_serves_long_rows_and_the_history_full(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    done = compiling.compile_more()[len(compiling.OTHERS) :]
    assert {Verdict.HOLDS} == {result.verdict for result in done}
    assert {16} == {result.statistics["row_bytes"] for result in done[:-1]}
    monkeypatch.setattr(composites, "ROW_BITS", compiling.SEVERAL_WORDS)
    versions = set(levels_kernels.expand._known)
    for history in ("clocks", "full"):
        system = small("cykas", 3, 1, history=history)
        search = explorer_for(system, Options(symmetry=False))
        assert search.statistics()["row_bytes"] > 8
        explore(system, search)
        search.close()
    assert versions == set(levels_kernels.expand._known)


QUICK = ("check", "mfss", "--actors", 3, "--messages", 1, "--verbose")


@pytest.mark.slow
def test_kernels_compiled_beforehand_serve_the_next_start(tmp_path: Path) -> None:
    first = in_a_process(*QUICK, cwd=tmp_path, XDG_CACHE_HOME=str(tmp_path))
    assert 0 == first.code
    assert "Until then it searches in plain Python" in first.err
    assert "Explored in plain Python: the search code was not compiled yet." in first.out
    assert 0 == in_a_process("compile", cwd=tmp_path, XDG_CACHE_HOME=str(tmp_path)).code
    second = in_a_process(*QUICK, cwd=tmp_path, XDG_CACHE_HOME=str(tmp_path))
    assert "compiles" not in second.err
    assert "table entries" in second.out


@pytest.mark.integration
@pytest.mark.parametrize("killed", [False, True], ids=["ends", "is killed"])
def test_nothing_is_left_of_a_command_that_compiles(tmp_path: Path, killed: bool) -> None:
    """A relative folder is refused, so the kernels are in a temporary one."""
    environment = {**os.environ, "NUMBA_CACHE_DIR": "relative", "TMPDIR": str(tmp_path)}
    asked = (*COMMAND, "check", "rst", "--actors", "3", "--messages", "3", "--max-seconds", "9")
    command = begun(asked, env=environment, cwd=ROOT, start_new_session=True)
    until(lambda: compilers_of(command.pid))
    assert list(tmp_path.iterdir())
    command.send_signal(signal.SIGKILL if killed else signal.SIGINT)
    command.wait()
    # If the command was killed, the compiler removes the folder as soon as it has seen that.
    until(lambda: not list(tmp_path.iterdir()))


def compilers_of(command: int) -> list[int]:
    """Return the processes of a command that compile. Before there is one, nobody can tidy up."""
    with suppress(psutil.Error):  # one has just ended
        below = children_of(command)
        return [each for each in below if compiling.__name__ in psutil.Process(each).cmdline()]
    return []


FIGURES = re.compile(r"(?<![\d,(])(?<!Explored )[\d,]+ (?:states|transitions|steps)")
"""The figures of a report that symmetry does not change, nor where a search ended."""


@pytest.mark.integration
@pytest.mark.parametrize(
    "question", [("mfss", 3, 1), ("cykas-secret-mode", 2, 2), ("fifo", 3, 2), ("tree-star", 2, 2)]
)
def test_the_first_start_prints_the_counts_of_all_later_ones(
    question: tuple[str, int, int], antecede: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Before any code is compiled, a search in plain Python decides, which uses no symmetry."""
    protocol, actors, messages = question
    asked = ("check", protocol, "--actors", actors, "--messages", messages)
    later, told_later = antecede(*asked).out, json.loads(antecede(*asked, "--json", "-").out)
    monkeypatch.setattr(engine, "kernels_are_compiled", lambda: False)
    monkeypatch.setattr(engine, "started", Compiling)
    first, told_first = antecede(*asked).out, json.loads(antecede(*asked, "--json", "-").out)
    assert "the search code was not compiled yet" in first
    assert "the search code was not compiled yet" not in later
    assert FIGURES.findall(first) == FIGURES.findall(later) != []
    for key in ("unique_states", "total_states", "depth", "final_states"):
        assert told_first[key] == told_later[key]
    assert told_first["explored"]["unique_states"] >= told_later["explored"]["unique_states"]


class Compiling:
    """A process that compiles and never ends."""

    def poll(self) -> None:
        """Say that the process has not ended."""
