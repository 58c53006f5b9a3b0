"""All processes of a cluster choose the same representative of a state.

They do so although their numbers for actors' parts of states differ.
"""

from __future__ import annotations

import functools
from typing import Any

import numpy as np
import pytest

from antecede.checker.engine.rows import geometry as g
from antecede.checker.engine.rows import renaming_kernels
from antecede.checker.engine.rows.orbits import Orbits
from antecede.checker.engine.rows.table_filler import wrapping
from antecede.checker.engine.spark.tables import SharedTables
from antecede.checker.engine.spark.worker_composites import TableUpdate, WorkerComposites
from antecede.checker.engine.storage.arrays import Words
from antecede.checker.engine.threads.transport import search_on_threads
from antecede.checker.semantics.history import HISTORIES
from antecede.checker.semantics.transition import System
from tests.conftest import method
from tests.engine.spark.common import Nowhere, here, locally
from tests.engine.threads.test_local import small


@functools.cache
def explored_of(name: str, history: str) -> tuple[Words, Words, list[TableUpdate]]:
    """Return `explored` of a protocol with three actors and two messages each."""
    return explored(small(name, 3, 2, history=history))


def explored(system: System) -> tuple[Words, Words, list[TableUpdate]]:
    """Return the representatives of all states, and all states, as flat rows; and the tables."""
    search = search_on_threads(system, options=method(threads=1, symmetry=True, forget="never"))
    while search.frontier:
        search.round(lambda: None)
    assert search.filler.symmetric
    expected = search.counts().unique_states
    tables, layout = SharedTables(Nowhere(), search.filler, None), search.filler.layout
    own, t = tables.own, search.filler.tables
    rows = np.concatenate([p.rows for p in search.threads.export(visited=True) if p.lead is None])
    count = len(rows) // layout.row_words
    assert expected == count
    search.close()
    flat = own.codec.packed(rows, count, layout.row_words, t.geo, t.dec)
    updates = [update for some in tables.growths for update in some.value]
    return flat, renamings_of(flat, own), updates


def renamings_of(flat: Words, own: WorkerComposites) -> Words:
    """Return all renamings of some states, as flat rows: those of each permutation together."""
    count, parts = len(flat) // own.codec.words, len(own.counts)
    with wrapping():
        rows = own.composed(flat, np.arange(count), flat=True)
    order, found = own.orbits.order, []
    targets = own.orbits.targets.reshape(order, parts)
    products = own.orbits.products.reshape(order, order)
    images, kin = own.orbits.images.reshape(-1, order), own.orbits.kin.reshape(parts, -1)
    composites = own.composites(rows)
    for k in range(order):
        renamed = np.zeros((count, own.row_words), np.int64)
        for part in range(parts):
            entry = kin[part, composites[part]]
            orbit = entry >> g.ORBIT_SHIFT & g.ORBIT_MASK
            image = images[orbit, products[entry & g.PERMUTATION_MASK, k]]
            own.row_fields.write(renamed, targets[k, part], image.astype(np.int64))
        t = own.tables
        found.append(own.codec.packed(renamed.ravel(), count, own.row_words, t.geo, t.dec))
    return np.concatenate(found)


def process(updates: list[TableUpdate]) -> WorkerComposites:
    """Return the composites of a process that has met no state yet."""
    own = WorkerComposites()
    for update in updates:
        own.learn(update)
    return own


def represented(states: Words, order: Any, updates: list[TableUpdate]) -> Any:
    """Return the representatives that a process chooses that meets the states in some order."""
    own = process(updates)
    words, found = own.codec.words, np.empty((len(order), own.codec.words), np.int64)
    with wrapping():
        for some in np.array_split(order, 7):  # so that the numbers of composites grow meanwhile
            flat = states.reshape(-1, words)[some].ravel()
            found[some] = own.representatives(flat).reshape(-1, words)
    return found


def compare_numbers(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let workers compare the numbers of their orbits, as the local engine does, and not keys."""
    tables = Orbits.tables
    monkeypatch.setattr(
        Orbits, "tables", lambda self: tables(self)._replace(unordered=g.ORBIT_SHIFT)
    )


@pytest.mark.integration
@pytest.mark.parametrize("history", HISTORIES)
@pytest.mark.parametrize("name", ["cykas", "mfss"])
@pytest.mark.parametrize("keys", ["age and hash", "equal", "numbers of a process"])
def test_two_processes_choose_the_same_representative_of_every_state(
    name: str, history: str, keys: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """If all keys are equal, only the contents decide. The seeded bug: the numbers decide."""
    flat, states, updates = explored_of(name, history)
    if keys == "equal":
        monkeypatch.setattr(renaming_kernels, "key_orbits", lambda *_arguments: None)
    if keys == "numbers of a process":
        compare_numbers(monkeypatch)
    words = process(updates).codec.words
    count, most = len(flat) // words, len(states) // words
    rng = np.random.default_rng(1)
    one = represented(states, np.arange(most), updates)
    other = represented(states, rng.permutation(most), updates)
    if keys == "numbers of a process":
        assert (one != other).any()
        return
    assert (one == other).all()
    of_each = one.reshape(-1, count, words)  # all renamings of a state have one representative
    assert (of_each == of_each[0]).all()
    assert count == len(np.unique(of_each[0], axis=0))


@pytest.mark.integration
@pytest.mark.parametrize("bug", [False, True])
@pytest.mark.parametrize(
    ("name", "messages", "options", "forget"),
    [
        ("cykas", 2, {"history": "knowledge"}, "never"),
        ("cykas", 2, {"history": "clocks"}, "auto"),
        ("mfss", 2, {"history": "full"}, "never"),
        ("rst", 1, {"workload": "multicast"}, "auto"),
    ],
)
def test_partitions_in_processes_of_their_own_count_each_state_once(
    name: str,
    messages: int,
    options: dict[str, str],
    forget: str,
    *,
    bug: bool,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The tables of rst grow as it is explored. The seeded bug is the same as above."""
    if bug:
        compare_numbers(monkeypatch)
    system = small(name, 3, messages, **options)
    result, search = here(system, 5, apart=True, symmetry=True, forget=forget)
    assert search.rounds
    assert result.statistics["symmetry"]["on"]
    assert bug == (locally(system).counts != result.unreduced)
