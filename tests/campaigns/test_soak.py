"""A short version of `make soak`, and that it would notice."""

from __future__ import annotations

import math
import random
import signal
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from antecede import cli
from antecede.checker.adapters import link
from antecede.checker.render import spacetime
from tests.campaigns import edges, fuzz, hanging, hostile, raising, soak, stored
from tests.conftest import ROOT

SEED = 1


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("fuzz")


@pytest.mark.integration
@pytest.mark.parametrize("first", range(0, 60, 20))
def test_no_input_ends_in_an_internal_error_or_not_at_all(first: int, home: Path) -> None:
    tried = fuzz.fuzzed(SEED, iter(range(first, first + 20)), home)
    assert [] == [fault for _, fault in tried if fault is not None]


@pytest.mark.integration
def test_no_moved_cycle_of_an_endless_trace_ends_in_an_internal_error(
    home: Path, tmp_path: Path
) -> None:
    if not fuzz.SEEDS.folder.name:
        fuzz.SEEDS.make(home / "seeds")
    for number in range(12):
        line = fuzz.endless_traces(random.Random(f"moved/{number}"), tmp_path)
        assert "" == fuzz.ran(line, tmp_path).fault


def test_an_internal_error_would_be_seen(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr("antecede.checker.check.spec.network_named", None)
    done = fuzz.ran(["check", "mfss"], tmp_path)
    assert "exit 4: Internal error: TypeError" in done.fault


def test_a_hang_would_be_seen(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    def goes_on(_arguments: list[str]) -> int:
        while True:
            pass

    monkeypatch.setattr(fuzz, "CPU_SECONDS", 0.2)
    monkeypatch.setattr(cli, "main", goes_on)
    assert "hangs" == fuzz.ran(["check", "mfss"], tmp_path).fault


@pytest.mark.smoke
def test_a_search_killed_and_resumed_counts_what_an_undisturbed_one_does(tmp_path: Path) -> None:
    assert [] == hostile.killed(random.Random("1/0"), tmp_path)


@pytest.mark.integration
@pytest.mark.parametrize("number", [0, 1])
def test_a_command_whose_handler_hangs_is_ended(number: int, tmp_path: Path) -> None:
    assert [] == hanging.hanging(random.Random(f"1/{number}"), tmp_path)


@pytest.mark.integration
@pytest.mark.parametrize("number", [1, 3])
def test_an_interrupted_command_says_so_and_leaves_nothing(number: int, tmp_path: Path) -> None:
    assert [] == hostile.interrupted(random.Random(f"1/{number}"), tmp_path)


@pytest.mark.integration
def test_a_full_disk_changes_no_answer(tmp_path: Path) -> None:
    assert [] == hostile.full_disk(random.Random("1/1"), tmp_path)


def test_little_memory_ends_a_check_in_good_order(tmp_path: Path) -> None:
    assert [] == hostile.little_memory(random.Random("1/0"), tmp_path)


SCARCE = (("check", "mfss", "--actors", "2", "--messages", "2"), 150)


@pytest.mark.integration
def test_little_address_space_ends_a_check_in_good_order(tmp_path: Path) -> None:
    assert [] == hostile.cramped(*SCARCE, tmp_path)


@pytest.mark.integration
def test_an_abort_for_little_address_space_would_be_seen(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As it was: kernels were loaded whatever was left."""
    bug = "import antecede.checker.support.memory as memory\nmemory.lacking = lambda *needed: None"
    monkeypatch.setattr(hostile, "COMMAND", seeded(bug))
    assert [] != hostile.cramped(*SCARCE, tmp_path)


@pytest.mark.integration
@pytest.mark.parametrize(
    ("kind", "name"),
    [("a pipe", "manifest.json"), ("a symbolic link", "array-0.npy"), ("a long key", "a.toml")],
)
def test_an_odd_file_is_refused(kind: str, name: str, tmp_path: Path) -> None:
    assert [] == stored.odd_file(kind, name, tmp_path)


@pytest.mark.integration
def test_an_odd_file_that_is_not_refused_would_be_seen(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As it was: only ValueError was expected of a manifest, and deep values were our fault."""
    bug = (
        "import antecede.checker.engine.storage.checkpoint as c\nc.UNFIT = (ValueError,)\n"
        "import antecede.cli as cli\ncli.RecursionError = ZeroDivisionError"
    )
    monkeypatch.setattr(hostile, "COMMAND", seeded(bug))
    faults = stored.odd_file("a nested list", "manifest.json", tmp_path)
    assert any("RecursionError" in fault for fault in faults)


@pytest.mark.integration
def test_another_kernel_is_not_loaded(tmp_path: Path) -> None:
    assert [] == stored.odd_kernel(random.Random(1), "another kernel", tmp_path)


@pytest.mark.integration
def test_a_kernel_that_is_loaded_under_another_name_would_be_seen(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Neither the seal nor the description of the arguments is compared."""
    bug = (
        "import antecede.checker.compiled.cache as cache, pathlib\n"
        "import antecede.checker.compiled.loading as loading, json\n"
        "cache.opened = lambda file: pathlib.Path(file).read_bytes()[16:]\n"
        "unpacked = loading.unpacked\n"
        "def bad(content, kinds):\n"
        "    head = json.loads(content[4:4 + int.from_bytes(content[:4], 'little')])\n"
        "    return unpacked(content, head['kinds'])\n"
        "loading.unpacked = bad"
    )
    monkeypatch.setattr(hostile, "COMMAND", seeded(bug))
    assert [] != stored.odd_kernel(random.Random(1), "another kernel", tmp_path)


@pytest.mark.integration
@pytest.mark.parametrize("wrapper", hostile.WRAPPERS)
def test_a_program_that_hangs_leaves_nothing_behind(
    wrapper: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(hostile, "MARGIN", math.inf)  # no test depends on the machine's speed
    assert [] == hostile.tested(tmp_path, "starts a job", 4, wrapper, 1.0, signal.SIGTERM, None)


@pytest.mark.integration
@pytest.mark.parametrize("sign", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGKILL])
def test_a_signal_during_a_hang_leaves_nothing_behind(sign: int, tmp_path: Path) -> None:
    assert [] == hostile.tested(tmp_path, "starts a daemon", 1, "{}", None, sign, 4.0)


def seeded(bug: str) -> tuple[str, ...]:
    """Return the command with a bug."""
    start = f"import sys\nsys.path.append({str(ROOT)!r})\nfrom tests import tuned"
    return (sys.executable, "-c", f"{bug}\n{start}\nsys.exit(tuned.run())")


def test_a_program_that_is_left_behind_would_be_seen(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The former behaviour: a program that does not end by itself is never ended.

    A supervisor would end it, too, so there is none.
    """
    guard = tmp_path / "guard.py"
    guard.write_text(
        "import sys\n"
        "from importlib.util import module_from_spec, spec_from_file_location\n"
        f"spec = spec_from_file_location('guard', {link.GUARD!r})\n"
        "guard = module_from_spec(spec)\n"
        "spec.loader.exec_module(guard)\n"
        "guard.end = lambda group, mark: sys.exit()\n"
        "guard.main(int(sys.argv[1]), sys.argv[2], sys.argv[3:])\n"
    )
    bug = f"import antecede.checker.adapters.link as link\nlink.GUARD = {str(guard)!r}"
    bug += "\nimport antecede.__main__ as command\ncommand.SUPERVISES = False"
    monkeypatch.setattr(hostile, "COMMAND", seeded(bug))
    faults = hostile.tested(tmp_path, "hangs", 1, "{}", 1.0, signal.SIGTERM, None)
    assert any("running" in fault for fault in faults)


@pytest.mark.integration
def test_a_verdict_on_answers_that_are_not_understood_would_be_seen(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As it was: unknown keys were left out."""
    asked = ("misspells a key", 1, "{}", None, signal.SIGTERM, None)
    assert [] == hostile.tested(tmp_path, *asked)
    bug = "import antecede.checker.adapters.pipe as pipe\npipe.ANSWER += ('deliverys',)"
    monkeypatch.setattr(hostile, "COMMAND", seeded(bug))
    (fault,) = hostile.tested(tmp_path, *asked)
    assert "a verdict on a program that misspells a key" in fault


@pytest.mark.integration
def test_a_test_that_takes_twice_its_time_would_be_seen(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As it was: the search and the walks had all of the time, each."""
    bug = (
        "import attrs, types, antecede.checker.adapters.run as run\n"
        "check = run.check\n"
        "def twice(spec, options, bounds, **more):\n"
        "    return check(spec, options, attrs.evolve(bounds, max_seconds=1.0), **more)\n"
        "run.check = twice\n"
        "run.time = types.SimpleNamespace(monotonic=lambda: 0.0)"
    )
    monkeypatch.setattr(hostile, "COMMAND", seeded(bug))
    monkeypatch.setattr(hostile, "MARGIN", 2.0)
    faults = hostile.tested(tmp_path, "hangs", 4, "{}", 1.0, signal.SIGTERM, None)
    assert any("seconds after --max-seconds" in fault for fault in faults)


def test_a_wrong_end_would_be_seen() -> None:
    ended = hostile.Ended(0, {"verdict": "INCOMPLETE"}, "")
    assert ["check: exit 0 and verdict INCOMPLETE"] == list(ended.faults(("check",)))
    assert [] != list(hostile.Ended(4, {}, "").faults(("check",)))
    assert [] == list(hostile.Ended(0, {"verdict": "HOLDS"}, "").faults(("check",)))


@pytest.mark.integration
def test_a_search_is_not_resumed_after_a_constant_changed(tmp_path: Path) -> None:
    assert [] == stored.changed_constants(random.Random("1/0"), tmp_path)


def test_a_search_that_was_resumed_wrongly_would_be_seen() -> None:
    resumed = hostile.Ended(0, {}, "own: HOLDS")
    assert [] != stored._wrong("from", resumed, changes=True)
    assert [] == stored._wrong("from", resumed, changes=False)
    refused = hostile.Ended(2, {}, "it was written before limits changed")
    assert [] == stored._wrong("from", refused, changes=True)
    assert [] != stored._wrong("from", refused, changes=False)


@pytest.mark.integration
@pytest.mark.parametrize("number", range(12))
def test_a_protocol_that_fails_is_drawn_saved_replayed_and_explored(
    number: int, tmp_path: Path
) -> None:
    chance = random.Random(f"failing/{number}")
    assert "" == fuzz.ran(raising.checks(chance, tmp_path), tmp_path).fault
    assert "" == fuzz.ran(raising.replays(chance, tmp_path), tmp_path).fault
    assert [] == raising.explored(chance, tmp_path)


@pytest.mark.integration
def test_a_picture_that_asks_what_failed_would_be_seen(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(spacetime, "_shows", lambda witness, state: witness(state))
    faults = []
    for number in range(12):
        chance = random.Random(f"failing/{number}")
        faults.append(fuzz.ran(raising.checks(chance, tmp_path), tmp_path).fault)
    assert any("'Raised' object has no attribute" in fault for fault in faults)


# The edges of a command


def faults_of(day: soak.Day, name: str, days: int, folder: Path) -> Iterator[str]:
    """Yield what goes wrong on some days."""
    for number in range(days):
        (folder / str(number)).mkdir()
        yield from day(random.Random(f"{name}/{number}"), folder / str(number))


EDGES = pytest.mark.parametrize("name", ["streams", "signals", "GitHub"])


@pytest.mark.integration
@EDGES
def test_the_edges_of_a_command_are_in_order(name: str, tmp_path: Path) -> None:
    assert [] == [*faults_of(soak.DAYS[name], name, 8, tmp_path)]


BUGS = {
    "streams": "import antecede.checker.support.streams as s\ns.replace = lambda *_: None",
    "signals": "import antecede.checker.support.supervisor as s\ns.unsupervised = lambda f: f()",
    "GitHub": "import antecede.checker.support.streams as s\ns.in_github_job = lambda _: False",
}
"""As it was: streams as they are, signals as Python takes them, lines as they come."""


@pytest.mark.integration
@EDGES
def test_a_bug_at_an_edge_would_be_seen(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(edges, "COMMAND", seeded(BUGS[name]))
    monkeypatch.setattr(edges, "BUG", BUGS[name])
    assert any(faults_of(soak.DAYS[name], name, 8, tmp_path))
