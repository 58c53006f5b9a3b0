"""A third transport: the parts that it supplies, and equal results of a search on it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from attrs import define, field

from antecede.checker.engine.rows import geometry as g
from antecede.checker.engine.rows.table_filler import TableFiller, wrapping
from antecede.checker.engine.storage.arrays import Words
from antecede.checker.engine.storage.checkpoint import Files, Saved
from antecede.checker.engine.successors import memo_kernels
from antecede.checker.engine.tabulated import levels_kernels
from antecede.checker.engine.tabulated.tabulated_search import TabulatedSearch
from antecede.checker.engine.tabulated.transport import (
    Address,
    LevelJob,
    LevelReport,
    Part,
    Pause,
    Setup,
    Showing,
    Totals,
)
from antecede.checker.engine.threads.transport import Threads
from antecede.checker.search.loop import explore
from antecede.checker.search.options import Options
from tests.conftest import method
from tests.engine.threads.test_local import plainly, small

ROOM = 1 << 17
"""Successors of a level: enough for the systems of this file."""


@define(eq=False)
class OneSet:
    """Keeps all rows in a set of Python, and expands a level in one go. No symmetry, no weights."""

    options: Options
    pauses: bool = False
    threshold: int = 15
    filler: TableFiller = field(init=False)
    level: Any = field(init=False)
    visited: Any = field(init=False)
    began_at: int = 0
    origins: list[Address] = field(factory=list)
    links: list[list[tuple[int, int]]] = field(factory=list)
    sums: Totals = field(factory=lambda: Totals(new=None))

    def connect(self, tick: Pause) -> None:
        tick()

    def load(self, parts: Iterable[Part], depth: int, setup: Setup) -> None:
        assert not setup.weights
        self.filler, self.began_at, words = setup.filler, depth, setup.filler.layout.row_words
        levels, visited = [], [np.empty((0, words), np.int64)]
        for part in parts:
            rows = part.rows.reshape(-1, words).copy()
            if part.lead is None:
                visited.append(rows)
                continue
            levels.append(rows)
            self.origins += [Address(depth, part.number, index) for index in range(len(rows))]
        self.level = np.concatenate(levels)
        self.visited = np.concatenate([*visited, self.level])
        self.links = [[]]

    def expand(self, job: LevelJob, pause: Pause) -> LevelReport:
        while True:
            entries, told = self._tried(job.known)
            missed = told.misses[: told.control[g.MISSES]]
            if not len(missed):
                break
            repacking = self.filler.fill(missed)
            if repacking is not None:
                self.level, self.visited = (
                    repacking.apply(rows.ravel()).reshape(len(rows), -1)
                    for rows in (self.level, self.visited)
                )
        pause()
        met, links, fresh = set(map(tuple, self.visited.tolist())), [], []
        for *row, info in entries.tolist():
            if tuple(row) not in met:
                met.add(tuple(row))
                fresh.append(row)
                links.append((info >> 31, info & 0xFFFF))
        self.level = np.array(fresh, np.int64).reshape(-1, self.level.shape[1])
        self.visited = np.concatenate([self.visited, self.level])
        self.links.append(links)
        fired, finals = told.control[g.FIRED], told.control[g.FINALS]
        self.sums += Totals(len(fresh), int(fired), int(finals), told.fired, new=None)
        shown = [
            Showing(bits, Address(job.depth, 0, index), place)
            for bits, index, place in told.shown[: told.control[g.FOUND]].tolist()
        ]
        level = {job.depth + 1: len(fresh)} if fresh else {}
        return LevelReport(level, len(fresh), len(self.visited), shown)

    def _tried(self, known: int) -> tuple[Words, g.Told]:
        """Return the successors of all rows of the level, or the misses of some."""
        count, stride = len(self.level), self.level.shape[1] + 1
        out, sizes = np.empty((1, ROOM * stride), np.int64), np.zeros(1, np.int64)
        outbox = g.Outbox(out.ravel(), sizes, np.empty(ROOM, np.uint16), np.empty(0, np.int64))
        control = np.zeros(g.CONTROL_SIZE, np.int64)
        control[g.KNOWN], control[g.END_FRESH] = known, count
        todo, shown = np.empty(count, np.int64), np.empty((64, 3), np.int64)
        fired, misses = np.zeros(1 << 10, np.int64), self.filler.misses()
        told = g.Told(todo.copy(), misses, shown, fired, control, memo_kernels.NO_MEMO)
        with wrapping():
            rows = self.level.ravel()
            levels_kernels.expand(rows, todo, self.filler.tables, 0, 1, outbox, g.BY_DEPTH, told)
        return out[0, : int(sizes[0]) * stride].reshape(-1, stride), told

    def places_to(self, address: Address) -> tuple[list[int], Address]:
        places, index = [], address.index
        for links in reversed(self.links[1 : address.depth - self.began_at + 1]):
            index, place = links[index]
            places.append(place)
        return places[::-1], self.origins[index]

    def representative(self, row: Words) -> Words:
        return row

    def combinations(self, columns: tuple[int, ...]) -> Iterator[tuple[int, Words]]:
        return iter(())

    def reduce_memory(self, *, forgets: bool) -> None:
        pass

    def totals(self) -> Totals:
        return self.sums

    def waiting_orbits(self) -> int | None:
        return None

    def statistics(self) -> dict[str, Any]:
        return {"in_one_set": True}

    def unused_statistics(self) -> dict[str, Any]:
        return {"in_one_set": False}

    def record(self) -> dict[str, Any]:
        raise NotImplementedError

    def write(self, folder: Path) -> Files:
        raise NotImplementedError

    def adopt(self, record: dict[str, Any], saved: Saved, setup: Setup) -> None:
        raise NotImplementedError

    def drop(self) -> None:
        pass

    def close(self) -> None:
        pass


@pytest.mark.parametrize(
    ("name", "actors", "messages", "history"),
    [
        ("mfss", 2, 2, "clocks"),
        pytest.param("cykas-secret-mode", 3, 2, "knowledge", marks=pytest.mark.integration),
        ("fifo", 3, 1, "full"),
    ],
)
@pytest.mark.parametrize("traces", [True, False])
def test_a_search_on_a_third_transport_finds_what_the_plain_engine_finds(
    name: str, actors: int, messages: int, history: str, traces: bool
) -> None:
    system = small(name, actors, messages, history=history)
    options = method(threads=2, traces=traces, forget="never")
    result = explore(system, TabulatedSearch(system, None, options, Threads, OneSet))
    assert result.statistics["in_one_set"]
    expected = plainly(system)
    assert expected.counts == result.counts
    assert dict(expected.properties) == dict(result.properties)
    paths = expected.counterexample, result.counterexample
    assert (paths[0] and paths[0].length) == (paths[1] and paths[1].length)


def test_a_small_search_does_not_move() -> None:
    system = small("unordered", 2, 1)
    result = explore(system, TabulatedSearch(system, None, method(threads=1), Threads, OneSet))
    assert not result.statistics["in_one_set"]
