"""Resumed searches end as if they had not been interrupted, or with a clear refusal."""

from __future__ import annotations

import errno
import itertools
import json
import os
import pickle
import random
import shutil
import signal
import struct
import subprocess
import sys
import zlib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from attrs import evolve, frozen
from hypothesis import given
from hypothesis import strategies as st

from antecede.checker.check.engine import explorer_for
from antecede.checker.check.spec import Spec, system_of
from antecede.checker.engine.rows import fingerprint
from antecede.checker.engine.storage import checkpoint
from antecede.checker.engine.storage.arena import Arena
from antecede.checker.engine.storage.checkpoint import LOCK, decoded, encoded
from antecede.checker.engine.tabulated.tabulated_search import TabulatedSearch
from antecede.checker.engine.threads.transport import search_on_threads
from antecede.checker.model import Message, Protocol, Step
from antecede.checker.paths.path import transition_key
from antecede.checker.search.loop import Progress, Stop, explore
from antecede.checker.search.options import Bounds
from antecede.checker.search.result import Result, Verdict
from antecede.checker.semantics.transition import System
from antecede.checker.support.errors import CapacityError, InputError
from tests.conftest import ROOT, method
from tests.engine.threads.common import threads_of
from tests.engine.threads.test_spill import (
    checked,
    give_back_all,
    jit_is_off,
    system,
    transitions_of,
)
from tests.models import DIRECT

ATOMS = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text()
KEYS = st.integers() | st.text() | st.tuples(st.integers(), st.text())
DATA = st.recursive(
    ATOMS,
    lambda inner: (
        st.lists(inner) | st.lists(inner).map(tuple) | st.dictionaries(KEYS, inner, max_size=4)
    ),
    max_leaves=12,
)

HOLDS = system("mfss", 2, 2, "full")
VIOLATED = system("fifo", 3, 2, "knowledge")


@pytest.fixture(autouse=True)
def saved_whenever_it_is_time(monkeypatch: pytest.MonkeyPatch) -> None:
    """However long the last checkpoint took; and without waiting for a slow disk."""
    monkeypatch.setattr(checkpoint, "SHARE", 0)
    monkeypatch.setattr(os, "fsync", _nothing)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path / "checkpoints"


def outcome(result: Result) -> dict[str, Any]:
    """Return everything that must not depend on a death in between.

    A memo dies with its process. So states may be expanded in another order afterwards, and be
    found by transitions of other kinds.
    """
    kinds = result.statistics["transitions"]
    return {
        "verdict": result.verdict,
        "properties": dict(result.properties),
        "counts": result.counts,
        "stopped by": result.stopped_by,
        "depths": result.statistics["states_per_depth"],
        "transitions": {kind: counts["total"] for kind, counts in kinds.items()},
        "new": sum(counts["new"] for counts in kinds.values()),
        "symmetry": result.statistics["symmetry"],
        "path": result.counterexample and [transition_key(t) for t in transitions_of(result)],
    }


def stopped_after(chunks: int, asked: System, folder: Path, **options: Any) -> Result:
    """Begin a search, saving all the time, and stop it at a certain chunk."""
    left = itertools.count(1)

    def watch(_progress: Progress) -> None:
        if next(left) == chunks:
            raise Stop("enough")

    local = method(
        **{"threads": 2, "block": 64, "checkpoint": folder, "checkpoint_seconds": 0, **options}
    )
    return explore(asked, search_on_threads(asked, options=local), watch=watch)


def resumed(asked: System, folder: Path, **options: Any) -> Result:
    """Go on; how many threads and how large a block are taken from the checkpoint."""
    return explore(asked, search_on_threads(asked, options=method(resume=folder, **options)))


# Equal ends


WAYS: dict[str, dict[str, Any]] = {
    "plain": {},
    "one thread": {"threads": 1},
    "three threads": {"threads": 3},
    "no parents": {"traces": False},
}


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("chunks", [2, 17, 40])
def test_a_search_ends_as_if_it_had_not_been_stopped(folder: Path, way: str, chunks: int) -> None:
    options = WAYS[way]
    kept = {k: v for k, v in options.items() if k != "traces"}
    assert Verdict.INCOMPLETE is stopped_after(chunks, HOLDS, folder, **options).verdict
    assert outcome(checked(HOLDS, **options)) == outcome(resumed(HOLDS, folder, **kept))


@pytest.mark.integration
@pytest.mark.parametrize("chunks", [30, 60])
def test_a_search_goes_on_without_the_rows_that_it_gave_back(
    folder: Path, chunks: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    give_back_all(monkeypatch)
    asked = system("mfss", 3, 2, "clocks")
    stopped = stopped_after(chunks, asked, folder, block=512, checkpoint_seconds=3600)
    assert Verdict.INCOMPLETE is stopped.verdict
    assert outcome(checked(asked)) == outcome(resumed(asked, folder))


@pytest.mark.parametrize("way", ["plain", "no parents"])
@pytest.mark.parametrize("chunks", [4, 11])
def test_a_counterexample_is_that_of_an_undisturbed_search(
    folder: Path, way: str, chunks: int
) -> None:
    undisturbed = checked(VIOLATED)
    assert Verdict.VIOLATED is undisturbed.verdict
    stopped_after(chunks, VIOLATED, folder, **WAYS[way])
    assert outcome(undisturbed) == outcome(resumed(VIOLATED, folder))


@pytest.mark.integration
def test_what_a_level_showed_before_its_search_was_stopped_is_not_forgotten(folder: Path) -> None:
    """Whatever chunk of the last level it is stopped at; the violation shows at the first."""
    asked = system("unordered", 2, 2, "knowledge")
    undisturbed = checked(asked, block=4)
    stops = 0
    for chunks in itertools.count(1):
        if Verdict.VIOLATED is stopped_after(chunks, asked, folder, block=4).verdict:
            break
        assert outcome(undisturbed) == outcome(resumed(asked, folder))
        shutil.rmtree(folder)
        stops += 1
    assert 10 < stops


def test_symmetry_goes_on_after_a_stop(folder: Path) -> None:
    asked = system("mfss", 2, 2, "knowledge")
    undisturbed = checked(asked, symmetry=True)
    assert undisturbed.statistics["symmetry"]["on"]
    stopped_after(9, asked, folder, symmetry=True)
    assert outcome(undisturbed) == outcome(resumed(asked, folder, symmetry=True))


@pytest.mark.parametrize("before", [False, True])
def test_files_and_memory_may_change_places_when_a_search_goes_on(
    folder: Path, tmp_path: Path, before: bool
) -> None:
    spill = {"spill": tmp_path / "spill"}
    stopped_after(20, HOLDS, folder, **(spill if before else {}))
    result = resumed(HOLDS, folder, **({} if before else spill))
    assert outcome(checked(HOLDS)) == outcome(result)
    assert before == (result.statistics["spilled_bytes"] == 0)


def test_a_search_that_is_stopped_all_the_time_gets_to_its_end(folder: Path) -> None:
    result = stopped_after(6, HOLDS, folder)
    again = 0
    while result.verdict is Verdict.INCOMPLETE:
        again += 1
        result = stopped_after(6, HOLDS, folder, resume=folder, threads=None)
    assert 5 < again
    assert outcome(checked(HOLDS)) == outcome(result)


def test_a_bound_saves_the_search_whenever_it_is_hit(folder: Path) -> None:
    stopped = checked(HOLDS, Bounds(max_states=200), checkpoint=folder, checkpoint_seconds=1e9)
    assert 200 <= stopped.counts.unique_states
    explorer = search_on_threads(HOLDS, options=method(resume=folder))
    assert stopped.counts == explorer.counts()
    assert outcome(checked(HOLDS)) == outcome(explore(HOLDS, explorer))


def test_an_interrupted_search_goes_on_from_the_last_checkpoint(folder: Path) -> None:
    def watch(progress: Progress) -> None:
        if progress.counts.unique_states > 200:
            raise KeyboardInterrupt

    options = method(threads=2, block=64, checkpoint=folder, checkpoint_seconds=0)
    stopped = explore(HOLDS, search_on_threads(HOLDS, options=options), watch=watch)
    assert "interrupted by the user" == stopped.stopped_by
    assert outcome(checked(HOLDS)) == outcome(resumed(HOLDS, folder))


def test_a_search_goes_on_in_another_folder(folder: Path, tmp_path: Path) -> None:
    stopped_after(20, HOLDS, folder)
    before = sorted(path.name for path in folder.rglob("*"))
    stopped_after(5, HOLDS, tmp_path / "other", resume=folder, threads=None)
    assert before == sorted(path.name for path in folder.rglob("*"))
    assert outcome(checked(HOLDS)) == outcome(resumed(HOLDS, tmp_path / "other"))


def test_the_time_before_a_stop_counts_for_the_whole_and_not_for_the_bound(folder: Path) -> None:
    stopped_after(20, HOLDS, folder)
    explorer = search_on_threads(HOLDS, options=method(resume=folder))
    assert 0 < explorer.seconds_before
    explorer.seconds_before += 1e6
    result = explore(HOLDS, explorer, Bounds(max_seconds=1e5))
    assert Verdict.HOLDS is result.verdict
    assert 1e6 < result.seconds


def names_in(folder: Path) -> list[str]:
    """Return the names in a folder, except for its lock."""
    return [path.name for path in folder.iterdir() if path.name != LOCK]


def test_one_checkpoint_is_kept_and_its_time_is_counted(folder: Path) -> None:
    figures = checked(HOLDS, checkpoint=folder, checkpoint_seconds=0).statistics["checkpoints"]
    assert [f"checkpoint-{figures['written']:06}"] == names_in(folder)
    assert 20 < figures["written"]
    assert 0 < figures["seconds"]
    assert figures["problem"] is None


def test_checkpoints_are_not_written_more_often_than_asked_for(folder: Path) -> None:
    result = checked(HOLDS, checkpoint=folder, checkpoint_seconds=1e9)
    assert 1 == result.statistics["checkpoints"]["written"]


def test_a_slow_disk_is_given_time(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Else a search would do nothing but write checkpoints."""
    monkeypatch.setattr(checkpoint, "SHARE", 1e9)
    result = checked(HOLDS, checkpoint=folder, checkpoint_seconds=0)
    assert 1 == result.statistics["checkpoints"]["written"]


def test_everything_is_on_the_disk_before_a_checkpoint_is_given_its_name(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Else a crash of the machine could leave it complete in name only."""
    forced: list[str] = []
    named: list[set[str]] = []
    rename = Path.rename

    def fsync(descriptor: int) -> None:
        forced.append(os.readlink(f"/proc/self/fd/{descriptor}"))

    def note(path: Path, target: Path) -> Path:
        written = {str(file) for file in (path, *path.iterdir())}
        named.append(written - set(forced))
        forced.clear()
        return rename(path, target)

    monkeypatch.setattr(os, "fsync", fsync)
    monkeypatch.setattr(Path, "rename", note)
    result = checked(HOLDS, checkpoint=folder, checkpoint_seconds=0)
    written = result.statistics["checkpoints"]["written"]
    assert [set[str]()] * written == named
    assert [str(folder)] == forced


# Killed


KILL = """
from pathlib import Path
import sys
from tests.engine.storage.test_checkpoint import {what}
print({what}(Path(sys.argv[1])))
"""


def in_a_process(what: Callable[[Path], int], folder: Path) -> int:
    """Run one of the functions below in a process without other threads, because it forks."""
    done = subprocess.run(
        [sys.executable, "-c", KILL.format(what=what.__name__), str(folder)],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert "" == done.stderr
    return int(done.stdout)


def _nothing(fd: Any) -> None:
    """Do nothing."""


def _tell(writer: int) -> None:
    os.write(writer, b".")


def forked(work: Callable[[], object]) -> int:
    """Run `work` in a child of this process."""
    child = os.fork()
    if not child:
        try:
            work()
        finally:
            os._exit(0)
    return child


def killed(child: int) -> bool:
    return os.WIFSIGNALED(os.waitpid(child, 0)[1])


def die_at(operation: int) -> None:
    """Have this process kill itself at an operation on checkpoints, which it leaves half done."""
    count = itertools.count(1)

    def dying(function: Any, half: Callable[..., object]) -> Any:
        def call(*args: Any, **keywords: Any) -> Any:
            if next(count) == operation:
                half(*args)
                os.kill(os.getpid(), signal.SIGKILL)
            return function(*args, **keywords)

        return call

    def write_half(file: Any, data: Any) -> None:
        file._file.write(bytes(data)[: len(data) // 2])
        file._file.flush()

    def remove_one(path: Path, **_keywords: Any) -> None:
        for file in sorted(path.glob("*"))[:1]:
            file.unlink()

    def nothing(*_args: Any) -> None:
        pass

    checked_file: Any = checkpoint._Checked
    checked_file.write = dying(checked_file.write, write_half)
    shutil.rmtree = dying(shutil.rmtree, remove_one)
    os.fsync = dying(os.fsync, nothing)
    Path.mkdir = dying(Path.mkdir, nothing)  # type: ignore[method-assign]
    Path.rename = dying(Path.rename, nothing)  # type: ignore[method-assign]


def killed_at_every_operation(folder: Path) -> int:
    """Kill a search at every operation of its first three checkpoints; return how many."""
    checkpoint.SHARE = 0
    os.fsync = _nothing  # a killed process leaves what it wrote to the system
    undisturbed = outcome(checked(HOLDS))
    for operation in itertools.count(1):

        def work(operation: int = operation) -> None:
            die_at(operation)
            stopped_after(2, HOLDS, folder)

        if not killed(forked(work)):
            return operation - 1
        try:
            result = resumed(HOLDS, folder)
        except InputError as error:
            reasons = ("no complete checkpoint", "there is no folder")
            if not any(reason in str(error) for reason in reasons):
                raise
            if list(folder.glob("checkpoint-000001")):
                raise
            result = checked(HOLDS, checkpoint=folder)
        assert undisturbed == outcome(result), operation
        shutil.rmtree(folder)
    raise AssertionError


@pytest.mark.integration
def test_killed_while_it_writes_a_checkpoint_a_search_goes_on_from_the_one_before(
    folder: Path,
) -> None:
    assert 30 < in_a_process(killed_at_every_operation, folder)


def killed_at_any_instant(folder: Path) -> int:
    """Kill a search at random instants, again and again until it ends; return how often."""
    asked = system("mfss", 3, 2, "clocks")
    options: dict[str, Any] = {"block": 1 << 12}
    checkpoint.SHARE = 0
    os.fsync = _nothing
    undisturbed = outcome(checked(asked, **options))
    rng, kills = random.Random(3), 0
    for _ in range(4):
        for again in itertools.count():
            reader, writer = os.pipe()

            def work(writer: int = writer, resume: bool = again > 0) -> None:
                explored = method(
                    threads=2,
                    checkpoint=folder,
                    checkpoint_seconds=0,
                    resume=folder if resume else None,
                    **options,
                )
                explorer = search_on_threads(asked, options=explored)
                explore(asked, explorer, watch=lambda _progress: _tell(writer))

            child = forked(work)
            os.close(writer)
            chunks = sum(len(os.read(reader, 1)) for _ in range(rng.randint(1, 60)))
            os.kill(child, signal.SIGKILL)
            os.close(reader)
            if not killed(child) or not chunks:
                break
            kills += 1
            assert any(checkpoint._complete(folder))
            if again == 3:
                break
        assert undisturbed == outcome(resumed(asked, folder)), kills
        shutil.rmtree(folder)
    return kills


@pytest.mark.integration
@pytest.mark.skipif(jit_is_off(), reason="takes minutes without the JIT")
def test_killed_at_any_instant_a_search_ends_as_if_nothing_had_happened(folder: Path) -> None:
    assert 8 <= in_a_process(killed_at_any_instant, folder)


# Refused: damaged


def saved_in(folder: Path) -> Path:
    """Return a checkpoint of HOLDS that has all kinds of files."""
    stopped_after(20, HOLDS, folder)
    (name,) = names_in(folder)
    return folder / name


def flipped(data: bytes) -> bytes:
    middle = len(data) // 2
    return data[:middle] + bytes([data[middle] ^ 1]) + data[middle + 1 :]


DAMAGES: dict[str, Callable[[bytes], bytes]] = {
    "a bit": flipped,
    "the first bit": lambda data: bytes([data[0] ^ 1]) + data[1:],
    "the last bit": lambda data: data[:-1] + bytes([data[-1] ^ 1]),
    "its end": lambda data: data[:-1],
    "all of it": lambda _data: b"",
    "a byte too many": lambda data: data + b"\0",
}


@pytest.mark.parametrize("damage", DAMAGES)
def test_a_damaged_checkpoint_is_refused(folder: Path, damage: str) -> None:
    path = saved_in(folder)
    names = sorted(file.name for file in path.iterdir())
    assert {"array-0.npy", "manifest.json"} <= set(names)
    for name in names:
        whole = (path / name).read_bytes()
        (path / name).write_bytes(DAMAGES[damage](whole))
        with pytest.raises(InputError, match=rf"checkpoint-0\d+' is damaged: {name} "):
            resumed(HOLDS, folder)
        (path / name).write_bytes(whole)
    assert outcome(checked(HOLDS)) == outcome(resumed(HOLDS, folder))


def test_a_checkpoint_that_lacks_a_file_is_refused(folder: Path) -> None:
    path = saved_in(folder)
    for file in sorted(path.iterdir()):
        file.rename(folder / "aside")
        with pytest.raises(InputError, match=rf"lacks the file {file.name}"):
            resumed(HOLDS, folder)
        (folder / "aside").rename(file)


def test_what_was_taken_for_a_damaged_checkpoint_is_given_back(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    saved_in(folder)
    closed: list[str] = []
    real, put, arenas = Arena.close, Arena.put, itertools.count(1)

    def damaged_later(arena: Arena, values: Any) -> None:
        if next(arenas) == 4:
            raise ValueError
        put(arena, values)

    def close(arena: Arena) -> None:
        closed.append(arena.name)
        real(arena)

    monkeypatch.setattr(Arena, "close", close)
    monkeypatch.setattr(Arena, "put", damaged_later)
    with pytest.raises(InputError, match="does not fit this protocol"):
        resumed(HOLDS, folder)
    assert "visited states" in closed


def test_a_folder_without_a_checkpoint_is_refused(folder: Path) -> None:
    with pytest.raises(InputError, match=r"cannot resume: there is no folder '.*checkpoints'"):
        resumed(HOLDS, folder)
    (folder / "checkpoint-000001.partial").mkdir(parents=True)
    with pytest.raises(InputError, match="there is no complete checkpoint in"):
        resumed(HOLDS, folder)


def test_a_checkpoint_of_another_format_is_refused(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    saved_in(folder)
    monkeypatch.setattr(checkpoint, "FORMAT", 7)
    with pytest.raises(InputError, match=r"has format 6, .* reads format 7 only"):
        resumed(HOLDS, folder)


# Refused: foreign


SPEC = Spec(protocol="mfss", actors=2, messages=2, history="full")

FOREIGN: dict[str, tuple[Spec, dict[str, Any], str]] = {
    "protocol": (
        evolve(SPEC, protocol="cykas"),
        {},
        "protocol is 'mfss' there and 'cykas' here",
    ),
    "actors": (evolve(SPEC, actors=3), {}, "actors is 2 there and 3 here"),
    "messages": (evolve(SPEC, messages=3), {}, "messages is 2 there and 3 here"),
    "network": (
        evolve(SPEC, network="fifo"),
        {},
        "network is 'unordered' there and 'fifo' here",
    ),
    "workload": (
        evolve(SPEC, workload="broadcast"),
        {},
        "workload is '.*any.*' there and '.*broadcast.*' here",
    ),
    "history": (evolve(SPEC, history="clocks"), {}, "history is 'full' there and 'clocks' here"),
    "properties": (
        evolve(SPEC, properties=("causal-delivery",)),
        {},
        r"properties is \[.*'integrity'.*\] there and \['causal-delivery'.*\] here",
    ),
    "symmetry": (SPEC, {"symmetry": True}, "symmetry is False there and True here"),
}


@pytest.mark.parametrize("what", FOREIGN)
def test_a_checkpoint_of_another_check_is_refused(folder: Path, what: str) -> None:
    saved_in(folder)
    spec, options, message = FOREIGN[what]
    with pytest.raises(InputError, match=rf"is of another check: {message}"):
        resumed(system_of(spec), folder, **options)


def test_the_search_may_be_asked_for_with_the_number_of_threads_it_has(folder: Path) -> None:
    saved_in(folder)
    assert outcome(checked(HOLDS)) == outcome(resumed(HOLDS, folder, threads=2))


@pytest.mark.parametrize("threads", [1, 3])
def test_a_search_goes_on_with_the_threads_of_its_checkpoint(folder: Path, threads: int) -> None:
    saved_in(folder)
    result = resumed(HOLDS, folder, threads=threads)
    assert outcome(checked(HOLDS)) == outcome(result)
    assert 2 == result.statistics["threads"]


OWN = """
from attrs import frozen
from antecede.checker.model import Protocol, Step
{imports}

@frozen
class Sent:
    message: object

def receive(state, src, packet):
    return Step(state, (), (packet.message,))

def causal_send(state, message):
    return Step(state, tuple((to, Sent(message)) for to in message.destinations))

OWN = Protocol("own", lambda actor, actors: 0, causal_send, receive)
"""


def own(file: Path, imports: str = "") -> System:
    """Return a system whose protocol stands in a file of the user's."""
    file.write_text(OWN.format(imports=imports))
    return system_of(Spec(protocol=f"{file}:OWN", actors=2, messages=2, history="clocks"))


def test_a_users_protocol_goes_on(folder: Path, tmp_path: Path) -> None:
    undisturbed = checked(own(tmp_path / "my.py"))
    assert Verdict.VIOLATED is undisturbed.verdict
    stopped_after(4, own(tmp_path / "my.py"), folder)
    assert outcome(undisturbed) == outcome(resumed(own(tmp_path / "my.py"), folder))


def test_a_checkpoint_from_before_the_protocol_changed_is_refused(
    folder: Path, tmp_path: Path
) -> None:
    stopped_after(4, own(tmp_path / "my.py"), folder)
    with pytest.raises(InputError, match=r"was written before user_protocol_my_\w+ changed"):
        resumed(own(tmp_path / "my.py", "# changed"), folder)


def test_a_checkpoint_from_before_a_file_beside_the_protocol_changed_is_refused(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    beside = tmp_path / "beside_mine.py"
    beside.write_text("def helper(): return 1\n")
    imports = "from beside_mine import helper"
    monkeypatch.syspath_prepend(tmp_path)
    stopped_after(4, own(tmp_path / "my.py", imports), folder)
    beside.write_text("def helper(): return 2\n")
    with pytest.raises(InputError, match="was written before beside_mine changed"):
        resumed(own(tmp_path / "my.py", imports), folder)


@pytest.mark.parametrize("imports", ["from limit_of_mine import LIMIT", "import limit_of_mine"])
def test_a_checkpoint_from_before_an_imported_constant_changed_is_refused(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, imports: str
) -> None:
    beside = tmp_path / "limit_of_mine.py"
    beside.write_text("LIMIT = 100\n")
    monkeypatch.delitem(sys.modules, "limit_of_mine", raising=False)
    monkeypatch.syspath_prepend(tmp_path)
    stopped_after(4, own(tmp_path / "my.py", imports), folder)
    beside.write_text("LIMIT = 1\n")
    with pytest.raises(InputError, match="was written before limit_of_mine changed"):
        resumed(own(tmp_path / "my.py", imports), folder)


def test_a_checkpoint_from_before_a_value_of_the_environment_changed_is_refused(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    limit = "import os\nLIMIT = os.environ['LIMIT_OF_MINE']\n"
    imports = f"{limit}def limited(state): return LIMIT and state"
    source = OWN.replace("Step(state,", "Step(limited(state),")
    monkeypatch.setattr(sys.modules[__name__], "OWN", source)
    monkeypatch.setenv("LIMIT_OF_MINE", "100")
    stopped_after(4, own(tmp_path / "my.py", imports), folder)
    monkeypatch.setenv("LIMIT_OF_MINE", "1")
    with pytest.raises(InputError, match=r"was written before user_protocol_my_\w+\.LIMIT changed"):
        resumed(own(tmp_path / "my.py", imports), folder)


def test_the_sources_of_a_check_are_those_of_its_protocol_properties_and_checker() -> None:
    spec = evolve(SPEC, protocol="mfss-fifo", network="fifo", properties=("witness:waited",))
    sources = fingerprint.fingerprint(system_of(spec))["sources"]
    assert {
        "antecede.protocols.mfss_fifo",
        "antecede.protocols.mfss",
        "antecede.checker.engine.tabulated.levels_kernels",
    } <= sources.keys()
    assert "antecede.protocols.cykas" not in sources
    assert "antecede.properties.causal_delivery" in fingerprint.fingerprint(HOLDS)["sources"]


# Folders, disks and values that do not take a checkpoint


def test_a_folder_that_holds_a_checkpoint_is_not_begun_again(folder: Path) -> None:
    saved_in(folder)
    before = sorted(folder.rglob("*"))
    with pytest.raises(InputError, match="holds a checkpoint; go on from it with --resume"):
        checked(HOLDS, checkpoint=folder)
    assert before == sorted(folder.rglob("*"))


def test_two_searches_do_not_write_to_one_folder(folder: Path) -> None:
    options = method(threads=1, checkpoint=folder)
    first = search_on_threads(HOLDS, options=options)
    with pytest.raises(InputError, match="another run is writing checkpoints to the folder"):
        resumed(HOLDS, folder)
    explore(HOLDS, first)
    assert Verdict.HOLDS is resumed(HOLDS, folder).verdict


def test_a_folder_that_cannot_be_written_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "file"
    file.touch()
    with pytest.raises(InputError, match=r"cannot write checkpoints to the folder '.*file'"):
        checked(HOLDS, checkpoint=file)


@pytest.fixture
def full_after(monkeypatch: pytest.MonkeyPatch) -> Callable[[int], None]:
    """Return a function that simulates a full disk after a number of files."""

    def limit(files: int) -> None:
        count = itertools.count(1)

        def fsync(_descriptor: int) -> None:
            if next(count) > files:
                raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

        monkeypatch.setattr(os, "fsync", fsync)

    return limit


def test_a_disk_that_is_full_at_the_start_is_said_to_be(
    folder: Path, full_after: Callable[[int], None]
) -> None:
    full_after(0)
    with pytest.raises(InputError, match=r"the disk does not take the checkpoint: No space left"):
        checked(HOLDS, checkpoint=folder)
    assert [] == names_in(folder)


def test_a_disk_that_gets_full_leaves_the_last_checkpoint_and_the_search(
    folder: Path, full_after: Callable[[int], None]
) -> None:
    full_after(40)
    result = checked(HOLDS, checkpoint=folder, checkpoint_seconds=0)
    figures = result.statistics["checkpoints"]
    assert outcome(checked(HOLDS)) == outcome(result)
    assert 2 < figures["written"] < 20
    assert "the disk does not take the checkpoint: No space left on device" == figures["problem"]
    assert [f"checkpoint-{figures['written']:06}"] == names_in(folder)
    assert outcome(result) == outcome(resumed(HOLDS, folder))


def local_states() -> Protocol:
    @frozen
    class Hidden:
        number: int = 0

    def causal_send(state: Any, message: Message) -> Step:
        return evolve(DIRECT.causal_send(state, message), state=state)

    return evolve(DIRECT, name="hidden", initial=lambda _actor, _actors: Hidden())


def test_values_of_any_class_are_made_again(folder: Path) -> None:
    """None of them is written, because equal calls give equal values."""
    asked = system_of(evolve(SPEC, history="knowledge"), local_states())
    stopped_after(6, asked, folder)
    assert outcome(checked(asked)) == outcome(resumed(asked, folder))


def test_handlers_that_return_something_else_now_are_noticed(folder: Path) -> None:
    calls = itertools.count()

    def causal_send(state: Any, message: Message) -> Step:
        step = DIRECT.causal_send(state, message)
        return step if next(calls) < 4 else evolve(step, sends=step.sends * 2)

    asked = system_of(evolve(SPEC, history="knowledge"), evolve(DIRECT, causal_send=causal_send))
    stopped_after(3, asked, folder)
    calls = itertools.count(4)
    with pytest.raises(InputError, match="are they pure functions"):
        resumed(asked, folder)


def test_no_file_of_a_checkpoint_is_a_pickle(folder: Path) -> None:
    path = saved_in(folder)
    for file in path.iterdir():
        with pytest.raises((pickle.UnpicklingError, EOFError, ValueError, KeyError, IndexError)):
            pickle.loads(file.read_bytes())


NO_FILES: dict[str, Callable[[Path], Any]] = {
    "symbolic link": lambda file: file.symlink_to(file.with_name("elsewhere")),
    "directory": lambda file: file.mkdir(),
    "named pipe": os.mkfifo,
}


@pytest.mark.parametrize("kind", NO_FILES)
def test_a_checkpoint_of_anything_but_files_is_refused(folder: Path, kind: str) -> None:
    path = saved_in(folder)
    for name in ("manifest.json", "array-0.npy"):
        (path / name).rename(path / "elsewhere")
        NO_FILES[kind](path / name)
        text = rf"[Ii]s a {kind}" if name == "manifest.json" else f"{name} is no regular file"
        with pytest.raises(InputError, match=text):
            resumed(HOLDS, folder)
        (path / name).rmdir() if kind == "directory" else (path / name).unlink()
        (path / "elsewhere").rename(path / name)
    assert outcome(checked(HOLDS)) == outcome(resumed(HOLDS, folder))


def test_a_manifest_that_is_too_large_is_refused(folder: Path) -> None:
    path = saved_in(folder)
    os.truncate(path / "manifest.json", checkpoint.MOST_MANIFEST + 1)
    with pytest.raises(InputError, match=r"manifest.json' has 67,108,865 bytes; it may have at"):
        resumed(HOLDS, folder)


MANIFESTS: dict[str, Callable[[dict[str, Any]], Any]] = {
    "a list": lambda _m: [],
    "without files": lambda m: {key: m[key] for key in ("format", "about", "state")},
    "without a state": lambda m: {key: m[key] for key in ("format", "about", "files")},
    "about is a list": lambda m: m | {"about": [["protocol", "mfss"]]},
    "a size is a text": lambda m: m | {"files": {"array-0.npy": ["1", 2]}},
    "a size is infinite": lambda m: m | {"files": {"array-0.npy": [float("inf"), 2]}},
    "three numbers": lambda m: m | {"files": {"array-0.npy": [1, 2, 3]}},
    "a file elsewhere": lambda m: m | {"files": m["files"] | {"../array-0.npy": [1, 2]}},
    "threads are a text": lambda m: m | {"about": m["about"] | {"threads": "two"}},
    "a million threads": lambda m: m | {"about": m["about"] | {"threads": 1_000_000}},
}


@pytest.mark.parametrize("how", MANIFESTS)
def test_a_manifest_with_wrong_types_is_refused(folder: Path, how: str) -> None:
    path = saved_in(folder)
    manifest = checkpoint._without_checksum((path / "manifest.json").read_bytes())
    (path / "manifest.json").write_bytes(checkpoint._with_checksum(MANIFESTS[how](manifest)))
    with pytest.raises(InputError, match=r"damaged: manifest.json is not as it was written"):
        resumed(HOLDS, folder)


def test_a_manifest_whose_sources_are_no_table_is_of_other_sources(folder: Path) -> None:
    path = saved_in(folder)
    manifest = checkpoint._without_checksum((path / "manifest.json").read_bytes())
    manifest["about"]["sources"] = [1]
    (path / "manifest.json").write_bytes(checkpoint._with_checksum(manifest))
    with pytest.raises(InputError, match=r"was written before .* changed; start again"):
        resumed(HOLDS, folder)


def test_a_manifest_that_is_nested_too_deeply_is_refused(folder: Path) -> None:
    path = saved_in(folder)
    text = "[" * 100_000 + "]" * 100_000
    (path / "manifest.json").write_text(f"{text}\n{zlib.crc32(text.encode()):08x}\n")
    with pytest.raises(InputError, match=r"damaged: manifest.json is not as it was written"):
        resumed(HOLDS, folder)


MADE_UP: dict[str, Callable[[Any], Any]] = {
    "nothing in it": lambda _state: {"pairs": []},
    "no form of data": lambda _state: {"code": "import os"},
    "a file that it does not list": lambda _state: {"array": "/dev/zero"},
    "no name of a file": lambda _state: {"array": {}},
    "a list": lambda _state: [],
    "other tables": lambda state: {"pairs": [p for p in state["pairs"] if p[0] != "tables"]},
    "no states": lambda state: {"pairs": [p for p in state["pairs"] if p[0] != "transports"]},
    "no transport": lambda state: {
        "pairs": [p if p[0] != "transports" else ["transports", []] for p in state["pairs"]]
    },
}


@pytest.mark.parametrize("how", MADE_UP)
def test_a_checkpoint_that_somebody_made_up_is_refused(folder: Path, how: str) -> None:
    """Sizes and checksums are right, but the content is wrong."""
    path = saved_in(folder)
    manifest = checkpoint._without_checksum((path / "manifest.json").read_bytes())
    manifest["state"] = MADE_UP[how](manifest["state"])
    (path / "manifest.json").write_bytes(checkpoint._with_checksum(manifest))
    with pytest.raises(InputError, match=r"does not fit this protocol|manifest.json is not as it"):
        resumed(HOLDS, folder)


FAR = np.lib.format.magic(1, 0) + struct.pack("<H", 118)
ARRAYS: dict[str, Callable[[Path], Any]] = {
    "an object": lambda file: np.save(file, np.array([print]), allow_pickle=True),
    "another type": lambda file: np.save(file, np.zeros(3, "f4")),
    "a structure": lambda file: np.save(file, np.zeros(3, "i8,f4")),
    "an archive": lambda file: file.write_bytes(b"PK\3\4" + bytes(100)),
    "a pickle": lambda file: file.write_bytes(pickle.dumps([1])),
    "nothing": lambda file: file.write_bytes(b""),
    "more than there is": lambda file: file.write_bytes(
        FAR + b"{'descr': '<i8', 'fortran_order': False, 'shape': (1000000000000,), }".ljust(118)
    ),
}


@pytest.mark.parametrize("how", ARRAYS)
def test_an_array_that_somebody_made_up_is_refused(folder: Path, how: str) -> None:
    path = saved_in(folder)
    manifest = checkpoint._without_checksum((path / "manifest.json").read_bytes())
    for name in manifest["files"]:
        ARRAYS[how](path / name)
        manifest["files"][name] = [(path / name).stat().st_size, checkpoint._checksum(path / name)]
    (path / "manifest.json").write_bytes(checkpoint._with_checksum(manifest))
    with pytest.raises(InputError, match="does not fit this protocol"):
        resumed(HOLDS, folder)


@given(DATA)
def test_data_are_read_as_they_were_written(value: Any) -> None:
    arrays: list[Any] = []

    def store(array: Any) -> str:
        arrays.append(array)
        return str(len(arrays) - 1)

    written = value, np.zeros((2, 0), np.int64), np.arange(100)
    text = json.dumps(encoded(written, store))
    again, empty, array = decoded(json.loads(text), lambda name: arrays[int(name)])
    assert value == again
    assert (2, 0) == empty.shape
    assert array is written[-1]


@pytest.mark.parametrize("value", [object(), {1, 2}, b"bytes", print])
def test_what_is_no_data_is_not_written(value: Any) -> None:
    with pytest.raises(TypeError, match="no data"):
        encoded({"here": [value]}, str)


def test_too_little_memory_to_go_on_is_said_to_be(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    saved_in(folder)
    monkeypatch.setattr("antecede.checker.engine.storage.arena.available_memory_bytes", lambda: 0)
    with pytest.raises(CapacityError, match="too little memory: the"):
        resumed(HOLDS, folder)


# Format


def test_the_manifest_says_what_is_checked_and_every_file(folder: Path) -> None:
    path = saved_in(folder)
    *lines, checksum = (path / "manifest.json").read_text().splitlines()
    text = "\n".join(lines)
    manifest = json.loads(text)
    assert f"{zlib.crc32(text.encode()):08x}" == checksum
    assert ["mfss", 2, 2, "unordered", "full"] == [
        manifest["about"][key] for key in ("protocol", "actors", "messages", "network", "history")
    ]
    assert {"pairs"} == manifest["state"].keys()
    files = {file.name for file in path.iterdir()} - {"manifest.json"}
    assert files == manifest["files"].keys()
    for name, (size, crc) in manifest["files"].items():
        data = (path / name).read_bytes()
        assert (len(data), zlib.crc32(data)) == (size, crc)


def test_the_engine_passes_the_options_on(folder: Path) -> None:
    explorer = explorer_for(HOLDS, method(checkpoint=folder, checkpoint_seconds=7.0, threads=1))
    assert isinstance(explorer, TabulatedSearch)
    assert explorer.checkpoints is not None
    assert (folder, 7.0) == (explorer.checkpoints.folder, explorer.checkpoints.seconds_between)
    explorer.close()
    again = explorer_for(HOLDS, method(resume=folder))
    assert isinstance(again, TabulatedSearch)
    assert 1 == len(threads_of(again).shards)
    again.close()


def arrays_of(value: Any) -> Iterator[Any]:
    yield from ()
