"""The set of visited states leaves room: it grows before its slots are taken."""

from __future__ import annotations

import numpy as np
import pytest

from antecede.checker.engine.storage.arena import Arena
from antecede.checker.engine.visited.visited import SMALLEST, STAGES, Visited


@pytest.mark.parametrize("stage", range(len(STAGES)))
def test_the_limit_of_a_set_is_its_load(stage: int) -> None:
    arena = Arena(np.int64, 1 << 22)
    visited = Visited(1, arena)
    visited.capacity = max(SMALLEST, STAGES[stage - 1][0] if stage else 0)
    assert visited.limit == int(visited.capacity * STAGES[stage][2]) < visited.capacity
    arena.close()
