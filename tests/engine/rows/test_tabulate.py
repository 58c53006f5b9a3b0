"""The tables: every entry is made once."""

from __future__ import annotations

import pytest

from antecede.checker.engine.threads.transport import search_on_threads
from antecede.checker.search.loop import explore
from antecede.checker.semantics.history import HISTORIES
from tests.conftest import method
from tests.engine.threads.test_local import small


@pytest.mark.parametrize("history", sorted(HISTORIES))
@pytest.mark.parametrize("symmetry", [False, True])
def test_an_entry_keeps_its_value_when_it_is_asked_for_again(history: str, symmetry: bool) -> None:
    system = small("mfss", 3, 1, history=history)
    search = search_on_threads(system, options=method(symmetry=symmetry))
    explore(system, search)
    tables = search.filler.tabulation
    components = tables.components
    before, entries, calls = tables.table.copy(), tables.entries, components.calls
    sequences = dict(components.sequences)

    tables.fill(before[::2][before[::2] != -1])
    assert (before == tables.table).all()
    assert entries == tables.entries
    assert (calls, sequences) == (components.calls, components.sequences)
