"""The fast engine's memory: arenas, files in their place, and clear ends when either is full."""

from __future__ import annotations

import contextlib
import errno
import itertools
import mmap
import os
import re
import resource
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from antecede.checker.check.engine import explorer_for
from antecede.checker.check.spec import Spec, system_of
from antecede.checker.engine.rows.packing import Fields
from antecede.checker.engine.rows.table_filler import Repacking
from antecede.checker.engine.storage import arena
from antecede.checker.engine.storage.arena import Arena, Arenas
from antecede.checker.engine.tabulated.tabulated_search import TabulatedSearch
from antecede.checker.engine.threads import shard as shards
from antecede.checker.engine.threads.expansion import Expansion
from antecede.checker.engine.threads.shard import VISITED, Level, repack_level
from antecede.checker.engine.threads.transport import search_on_threads
from antecede.checker.engine.visited.visited import SMALLEST
from antecede.checker.model import Transition
from antecede.checker.search.loop import Progress, Stop, explore
from antecede.checker.search.options import Bounds, Options
from antecede.checker.search.result import Result, Verdict
from antecede.checker.semantics.transition import System
from antecede.checker.support import memory
from antecede.checker.support.errors import CapacityError, InputError, ProtocolError
from tests.conftest import ROOT, method
from tests.engine.threads.common import threads_of

PAGE = mmap.PAGESIZE


def jit_is_off() -> bool:
    return os.environ.get("NUMBA_DISABLE_JIT") == "1"


def system(
    protocol: str = "mfss", actors: int = 2, messages: int = 2, history: str = "full"
) -> System:
    return system_of(Spec(protocol=protocol, actors=actors, messages=messages, history=history))


def checked(asked: System, bounds: Bounds = Bounds(), **options: Any) -> Result:
    """Explore with 2 threads that send each other few states at a time."""
    chosen = method(**{"threads": 2, "block": 64, **options})
    return explore(asked, search_on_threads(asked, bounds.max_depth, chosen), bounds)


def transitions_of(result: Result) -> list[Transition]:
    assert result.counterexample is not None
    return [step.transition for step in result.counterexample.steps]


def open_files_in(folder: Path) -> list[str]:
    """Return the files of this process in `folder`, with or without a name."""
    files = set()
    for number in os.listdir("/proc/self/fd"):
        with contextlib.suppress(FileNotFoundError):  # raised by listdir itself
            files.add(os.readlink(f"/proc/self/fd/{number}"))
    return [file for file in files if file.startswith(f"{folder}/")]


@pytest.fixture
def spilled(tmp_path: Path) -> Path:
    return tmp_path / "spill"


# Arenas


@pytest.mark.parametrize("in_a_file", [False, True])
def test_an_arena_keeps_its_place_and_content_when_it_grows(
    tmp_path: Path, in_a_file: bool
) -> None:
    made = Arena(np.int64, 1 << 22, "rows", tmp_path if in_a_file else None)
    made.ensure(10)
    before = made.array
    made.array[:10] = range(10)
    made.ensure(400_000)
    made.array[399_999] = 7
    assert before is made.array
    assert list(range(10)) == made.array[:10].tolist()
    made.close()


def test_an_arena_takes_less_address_space_if_the_system_refuses_more(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Half of an odd number of pages is no whole number of pages."""
    reserve, most = mmap.mmap, 600 * PAGE

    def refuse(descriptor: int, size: int, **more: Any) -> mmap.mmap:
        if size > most:
            raise OSError(errno.ENOMEM, os.strerror(errno.ENOMEM))
        return reserve(descriptor, size, **more)

    monkeypatch.setattr(mmap, "mmap", refuse)
    made = Arena(np.int64, ((300 << 11) + 1) * PAGE)
    made.ensure(1_000)
    made.array[:1_000] = 7
    assert 0 == len(made.array) * 8 % PAGE
    assert 300 * PAGE <= len(made.array) * 8 <= most
    made.close()


def test_an_arena_takes_disk_before_its_array_is_written(tmp_path: Path) -> None:
    """A write to a map has no error: where the disk is full it would end the process."""
    made = Arena(np.uint16, 1 << 30, "places", tmp_path)
    for elements in (1, 3_000_000, 3_000_001, 9_000_000):
        made.ensure(elements)
        assert elements * 2 <= os.fstat(made._descriptor).st_blocks * 512
    made.close()


def test_the_file_of_an_arena_has_no_name(tmp_path: Path) -> None:
    """So it is gone when the process ends, however that happens."""
    made = Arena(np.int64, 1 << 20, "rows", tmp_path)
    made.ensure(1000)
    assert [] == list(tmp_path.iterdir())
    assert 1 == len(open_files_in(tmp_path))
    made.close()
    assert [] == open_files_in(tmp_path)


@pytest.mark.parametrize("in_a_file", [False, True])
def test_an_arena_gives_back_what_is_behind_the_elements_still_needed(
    tmp_path: Path, in_a_file: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(arena, "KEPT", 0)
    made = Arena(np.int64, 1 << 23, "rows", tmp_path if in_a_file else None)
    made.ensure(1 << 20)
    made.array[: 1 << 20] = 5
    made.release(PAGE)
    assert [5] * PAGE == made.array[:PAGE].tolist()
    if in_a_file:
        assert 2 * PAGE * 8 >= os.fstat(made._descriptor).st_blocks * 512
    made.ensure(1 << 20)
    if in_a_file:
        assert 8 << 20 <= os.fstat(made._descriptor).st_blocks * 512
    made.array[(1 << 20) - 1] = 6
    assert 0 == made.array[1 << 19]
    made.close()


@pytest.mark.parametrize("in_a_file", [False, True])
def test_an_arena_in_memory_gives_back_its_first_elements(
    tmp_path: Path, in_a_file: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(arena, "KEPT", 0)
    made = Arena(np.int64, 1 << 23, "rows", tmp_path if in_a_file else None)
    made.ensure(1 << 20)
    made.array[: 1 << 20] = 5
    page = arena.HUGE_PAGE // 8
    made.release_first(page + PAGE)
    assert {5 if in_a_file else 0} == set(made.array[:page].tolist())
    assert {5} == set(made.array[page : 1 << 20].tolist())
    made.close()


def test_an_arena_keeps_a_little_memory() -> None:
    made = Arena(np.int64, arena.KEPT + (1 << 21))
    room = len(made.array)
    made.ensure(room)
    made.array[:room] = 5
    made.release_first(arena.KEPT // 8)
    made.release(0)
    kept = made.array[: arena.KEPT // 8]
    assert {5} == set(kept.tolist())
    assert {0} == set(made.array[arena.KEPT // 8 : room].tolist())
    made.close()


def test_an_arena_cannot_grow_beyond_its_reservation() -> None:
    made = Arena(np.int64, 4 * PAGE, "parents")
    made.ensure(4 * PAGE // 8)
    with pytest.raises(CapacityError, match=r"the parents need 0 MB and there is room for"):
        made.ensure(4 * PAGE // 8 + 1)


def test_an_arena_is_refused_memory_that_the_machine_does_not_have(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Otherwise the operating system would end the process."""
    left = 10 << 20
    monkeypatch.setattr(arena, "machine_memory_bytes", lambda: 64 << 20)
    monkeypatch.setattr(arena, "available_memory_bytes", lambda: left)
    made = Arena(np.uint8, 64 << 20, "frontiers")
    made.ensure(left - (1 << 20))
    with pytest.raises(CapacityError, match=r"too little memory: the frontiers need 12 MB more"):
        made.ensure(2 * left)


def test_memory_left_is_that_of_the_tightest_control_group(tmp_path: Path) -> None:
    def group(folder: str, **files: object) -> None:
        (tmp_path / folder).mkdir(parents=True, exist_ok=True)
        for name, content in files.items():
            (tmp_path / folder / name.replace("__", ".")).write_text(f"{content}\n")

    group("pod", memory__max=1000, memory__current=900, memory__stat="active_file 50\nanon 850")
    group("pod/box", memory__max="max", memory__current=10, memory__stat="active_file 0")
    stat = "total_inactive_file 5\ninactive_file 3"
    figures = {"memory__limit_in_bytes": 700, "memory__usage_in_bytes": 100, "memory__stat": stat}
    group("memory/old", **figures)
    assert [150] == memory._left_in_groups("0::/pod/box\n", tmp_path)
    assert [605] == memory._left_in_groups("4:memory:/old\n3:cpu,cpuacct:/x\n", tmp_path)
    assert [] == memory._left_in_groups("0::/nowhere\n", tmp_path)


def test_arenas_share_the_address_space_that_a_process_may_have(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    unlimited = arena.reserve_bytes(12)
    assert memory.machine_memory_bytes() == unlimited
    used = int(Path("/proc/self/statm").read_text().split()[0]) * PAGE
    monkeypatch.setattr(resource, "getrlimit", lambda _which: (used + (240 << 20), -1))
    assert 10 == pytest.approx(arena.reserve_bytes(12) / (1 << 20), rel=0.2)


def test_only_what_is_meant_for_files_is_spilled(tmp_path: Path) -> None:
    made = Arenas(tmp_path, (VISITED,), 1 << 20)
    in_memory, in_file = made.make(np.int64, VISITED), made.make(np.int64, "parents")
    in_memory.ensure(10)
    in_file.ensure(10)
    assert [0, True] == [in_memory.file_bytes, in_file.file_bytes >= 80]
    assert in_file.file_bytes == made.spilled_bytes
    made.close()
    assert 0 == made.spilled_bytes


# Whole searches


def test_spilling_changes_nothing_but_where_things_are(spilled: Path) -> None:
    asked = system()
    kept = checked(asked)
    result = checked(asked, spill=spilled)
    assert Verdict.HOLDS is kept.verdict is result.verdict
    assert kept.counts == result.counts
    assert kept.statistics["states_per_depth"] == result.statistics["states_per_depth"]
    assert 0 == kept.statistics["spilled_bytes"] < result.statistics["spilled_bytes"]


@pytest.mark.skipif(jit_is_off(), reason="takes minutes without the JIT")
def test_a_spilled_visited_set_grows(spilled: Path) -> None:
    asked = system("mfss", 3, 2, "clocks")
    result = checked(asked, spill=spilled, block=1 << 12)
    assert result.counts.unique_states > 4 * SMALLEST
    assert checked(asked, block=1 << 12).counts == result.counts


@pytest.mark.parametrize("count", [0, 1, 3, 10])
def test_a_frontier_is_packed_anew_in_place_piece_by_piece(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, count: int
) -> None:
    """For in a file it may be larger than the memory."""
    monkeypatch.setattr(shards, "PIECE", 3)
    before = Fields.of([30, 30], [0, 0], [0, 30])
    after = Fields.of([40, 40], [0, 1], [0, 0])
    repacking = Repacking(before, after, old_words=1, new_words=2)
    level = Level(Arena(np.int64, 1 << 20, "frontiers", tmp_path), count)
    level.rows.ensure(count)
    level.rows.array[:count] = [row << 30 | 7 * row for row in range(count)]
    repack_level(level, repacking)
    expected = [word for row in range(count) for word in (7 * row, row)]
    assert expected == level.rows.array[: 2 * count].tolist()
    level.rows.close()


def give_back_all(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let searches give back the memory of expanded rows, however little it is."""
    monkeypatch.setattr(arena, "HUGE_PAGE", PAGE)
    monkeypatch.setattr(arena, "KEPT", 0)


@pytest.mark.integration
@pytest.mark.skipif(jit_is_off(), reason="takes minutes without the JIT")
@pytest.mark.parametrize(
    ("name", "history", "options"),
    [
        ("cykas", "knowledge", {}),
        ("cykas", "knowledge", {"forget_from": 0, "symmetry": True}),  # levels by weight
        ("mfss", "clocks", {"forget_from": 0, "traces": False, "collect_from": 1}),
        ("mfss", "clocks", {"forget_from": 0, "threads": 3}),
    ],
)
def test_expanded_rows_are_given_back_and_not_needed_again(
    name: str, history: str, options: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    asked = system(name, 3, 2, history)
    expected = checked(asked, **options)
    give_back_all(monkeypatch)
    given_back: list[int] = []
    release = Arena.release_first

    def released(self: Arena, elements: int) -> None:
        given_back.append(elements)
        release(self, elements)

    monkeypatch.setattr(Arena, "release_first", released)
    result = checked(asked, **options)
    assert 8 * max(given_back) > PAGE
    assert expected.counts == result.counts
    assert expected.statistics["states_per_depth"] == result.statistics["states_per_depth"]


def test_no_thread_is_left_when_a_search_ends() -> None:
    explorer = search_on_threads(system(), options=method(threads=2))
    explore(explorer.system, explorer)
    threads = threads_of(explorer).pool._threads
    assert threads
    assert not any(thread.is_alive() for thread in threads)


def test_a_counterexample_is_traced_back_through_files(spilled: Path) -> None:
    asked = system("fifo", 3, 2, "knowledge")
    kept, result = checked(asked), checked(asked, spill=spilled)
    assert Verdict.VIOLATED is result.verdict
    assert transitions_of(kept) == transitions_of(result)


def bad_step(*_arguments: Any) -> Any:
    raise ValueError("seeded")


def interrupt(_progress: Progress) -> None:
    raise KeyboardInterrupt


ENDS: dict[str, Callable[[Path], Any]] = {
    "holds": lambda spill: checked(system(), spill=spill),
    "violated": lambda spill: checked(system("fifo", 3, 2), spill=spill),
    "bound": lambda spill: checked(system(), Bounds(max_states=9), spill=spill),
    "Ctrl-C": lambda spill: explore(
        system(),
        search_on_threads(system(), options=method(threads=2, spill=spill)),
        watch=interrupt,
    ),
}


@pytest.mark.parametrize("end", ENDS)
def test_files_are_gone_however_a_search_ends(spilled: Path, end: str) -> None:
    ENDS[end](spilled)
    assert [] == list(spilled.iterdir())
    assert [] == open_files_in(spilled)


def test_files_are_gone_when_the_protocol_fails_at_the_start(
    spilled: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Expansion, "begin", bad_step)
    with pytest.raises(ValueError, match="seeded"):
        checked(system(), spill=spilled)
    assert [] == open_files_in(spilled)


def test_two_searches_may_spill_to_one_folder(spilled: Path) -> None:
    asked = system()
    options = method(threads=2, block=64, spill=spilled)
    first, second = (search_on_threads(asked, options=options) for _ in range(2))
    assert checked(asked).counts == explore(asked, first).counts == explore(asked, second).counts


# Full disks, too little memory


@pytest.fixture
def small_disk(monkeypatch: pytest.MonkeyPatch) -> Callable[[int], None]:
    """Return a function that simulates a full disk after a number of bytes."""

    def limit(size: int) -> None:
        real, left = os.posix_fallocate, [size]

        def fallocate(descriptor: int, offset: int, length: int) -> None:
            if length > left[0]:
                raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
            real(descriptor, offset, length)
            left[0] -= length

        monkeypatch.setattr(os, "posix_fallocate", fallocate)

    return limit


def test_a_disk_that_gets_full_ends_the_search_without_a_verdict(
    spilled: Path,
    small_disk: Callable[[int], None],
) -> None:
    """Four pages hold what the first shard found, but not what the second one finds."""
    small_disk(4 * PAGE)
    result = checked(system(), spill=spilled)
    assert Verdict.INCOMPLETE is result.verdict
    assert {Verdict.INCOMPLETE} == set(result.properties.values())
    assert result.stopped_by is not None
    what = "the (frontiers|parents|places) in"
    assert re.match(f"the disk is full: {what} .* give another --spill", result.stopped_by)
    assert [] == open_files_in(spilled)


def test_a_disk_that_is_full_at_the_start_is_said_to_be(
    spilled: Path, small_disk: Callable[[int], None]
) -> None:
    small_disk(0)
    with pytest.raises(CapacityError, match="the disk is full: the "):
        checked(system(), spill=spilled)
    assert [] == open_files_in(spilled)


def test_the_last_pages_of_a_disk_are_used(
    spilled: Path, small_disk: Callable[[int], None]
) -> None:
    """An arena asks for more than it needs, but not to the last."""
    spilled.mkdir()
    small_disk(3 * PAGE)
    made = Arena(np.int64, 1 << 20, "rows", spilled)
    made.ensure(3 * PAGE // 8)
    with pytest.raises(CapacityError, match="the disk is full: the rows in"):
        made.ensure(3 * PAGE // 8 + 1)
    made.close()


@pytest.mark.integration
def test_a_file_system_that_really_is_full_ends_the_search(tmp_path: Path) -> None:
    """On a disk of 6 MB, which only root can make."""
    disk = tmp_path / "disk"
    disk.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", "size=6m", "tmpfs", str(disk)]
    if os.geteuid() != 0 or subprocess.run(mount, capture_output=True, check=False).returncode:
        pytest.skip("no small file system can be mounted here")
    try:
        asked = system("mfss", 3, 2, "knowledge" if jit_is_off() else "full")
        result = checked(asked, spill=disk, block=1 << 12)
        assert Verdict.INCOMPLETE is result.verdict
        assert result.stopped_by is not None
        assert "the disk is full: the " in result.stopped_by
        assert [] == open_files_in(disk)
    finally:
        subprocess.run(["umount", str(disk)], check=True)


def test_a_folder_that_cannot_be_written_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "file"
    file.touch()
    with pytest.raises(InputError, match=r"cannot spill to the folder '.*file': File exists"):
        checked(system(), spill=file)


def test_too_little_memory_ends_the_search_without_a_verdict(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    asked = system()
    explorer = search_on_threads(asked, options=method(threads=2, block=64))
    for made in threads_of(explorer).arenas.made:
        made._backed = min(made._backed, PAGE)
    monkeypatch.setattr(arena, "available_memory_bytes", lambda: 0)
    result = explore(asked, explorer)
    assert Verdict.INCOMPLETE is result.verdict
    assert result.stopped_by is not None
    assert result.stopped_by.startswith("too little memory: the ")


LIMITED = """
import resource
from tests.engine.threads.test_spill import checked, system
asked = system("mfss", 3, 2, "full")
checked(system(), block=1 << 14)  # what is compiled is loaded before memory becomes scarce
for megabytes in (100, 20):
    used = int(open("/proc/self/statm").read().split()[0]) * resource.getpagesize()
    resource.setrlimit(resource.RLIMIT_AS, (used + (megabytes << 20), -1))
    result = checked(asked, block=1 << 14)
    print(result.verdict, "|", result.stopped_by)
"""


@pytest.mark.integration
@pytest.mark.skipif(jit_is_off(), reason="takes minutes without the JIT")
def test_a_process_with_little_address_space_comes_to_a_clear_end() -> None:
    done = subprocess.run(
        [sys.executable, "-c", LIMITED], cwd=ROOT, capture_output=True, text=True, check=False
    )
    expected = (
        r"INCOMPLETE \| the visited states need .* MB and there is room for .* MB; use smaller"
    )
    assert "" == done.stderr
    assert 2 == len(re.findall(expected, done.stdout))


# Without parents


@pytest.mark.parametrize(
    ("protocol", "actors", "messages"),
    [("unordered", 2, 2), ("fifo", 3, 2), ("cykas-as-printed", 2, 2)],
)
@pytest.mark.parametrize("symmetry", [False, True])
def test_without_parents_a_second_search_finds_the_counterexample(
    protocol: str, actors: int, messages: int, symmetry: bool
) -> None:
    asked = system(protocol, actors, messages, "knowledge")
    kept = checked(asked, symmetry=symmetry)
    result = checked(asked, symmetry=symmetry, traces=False)
    assert Verdict.VIOLATED is kept.verdict is result.verdict
    assert kept.counts == result.counts
    assert transitions_of(kept) == transitions_of(result)
    assert kept.properties == result.properties


def test_no_parents_are_kept_unless_asked_for() -> None:
    asked = system()
    explorer = search_on_threads(asked, options=method(threads=1, traces=False))
    assert Verdict.HOLDS is explore(asked, explorer).verdict
    assert 0 == sum(
        shard.parents._backed + shard.places._backed for shard in threads_of(explorer).shards
    )


def test_a_witness_without_parents_leaves_the_search_going_on() -> None:
    spec = Spec(
        protocol="mfss",
        actors=2,
        messages=2,
        properties=("witness:waited", "causal-delivery"),
    )
    kept, result = checked(system_of(spec)), checked(system_of(spec), traces=False)
    assert Verdict.HOLDS is result.verdict
    assert kept.properties == result.properties
    assert kept.counts == result.counts


def test_no_bound_stops_the_second_search() -> None:
    """The verdict is reached by then."""
    asked = system("fifo", 3, 2, "knowledge")

    def stopped_at(report: int, *, traces: bool) -> tuple[Result, int]:
        seen = itertools.count(1)

        def watch(_progress: Progress) -> None:
            if next(seen) >= report:
                raise Stop("enough")

        options = method(threads=2, block=64, traces=traces)
        result = explore(asked, search_on_threads(asked, options=options), watch=watch)
        return result, next(seen) - 1

    kept, reports = stopped_at(1 << 20, traces=True)
    assert Verdict.INCOMPLETE is stopped_at(reports, traces=False)[0].verdict
    result, more = stopped_at(reports + 1, traces=False)
    assert Verdict.VIOLATED is result.verdict
    assert transitions_of(kept) == transitions_of(result)
    assert reports + 1 < more


def test_a_second_search_without_memory_says_what_is_known(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    asked = system("fifo", 3, 2, "knowledge")
    first = search_on_threads(asked, options=method(threads=1, traces=False))

    def too_little(*_arguments: Any) -> Iterator[None]:
        raise CapacityError("too little memory")

    monkeypatch.setattr(TabulatedSearch, "_start", too_little)
    result = explore(asked, first)
    assert Verdict.INCOMPLETE is result.verdict
    expected = "causal-delivery is violated, but the second search, for the counterexample, failed"
    assert f"{expected}: too little memory" == result.stopped_by


# Options


def test_the_engine_passes_the_options_on(spilled: Path) -> None:
    options = Options(spill=spilled, traces=False, threads=1)
    explorer = explorer_for(system(), options)
    assert isinstance(explorer, TabulatedSearch)
    assert (spilled, False) == (explorer.options.spill, explorer.options.traces)
    explorer.close()


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (Options(engine="plain", spill=Path("x")), "--spill is for breadth-first search by the"),
        (Options(search="random", checkpoint=Path("x")), "this is random-first search"),
        (Options(search="depth", resume=Path("x")), "--resume is for breadth-first search"),
    ],
)
def test_options_that_an_engine_lacks_are_refused(options: Options, message: str) -> None:
    with pytest.raises(InputError, match=message):
        explorer_for(system(), options)


def test_a_protocol_that_fails_still_ends_in_an_error(
    spilled: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_arguments: Any) -> None:
        raise ProtocolError("seeded")

    asked = system("mfss", 2, 1)
    explorer = search_on_threads(asked, options=method(threads=1, spill=spilled))
    monkeypatch.setattr(Expansion, "_fill_missed", fail)
    assert Verdict.ERROR is explore(asked, explorer).verdict
    assert [] == open_files_in(spilled)
