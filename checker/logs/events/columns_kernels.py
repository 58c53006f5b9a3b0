"""Events as rows of numbers: the columns of a batch, which readers write and the judge reads.

    KIND   ACTOR  MESSAGE  TO                  PLACE
    SENT   0      0        3 (a set of actors) log << PLACE_BITS | line
    GOT    2      0        -1                  log << PLACE_BITS | line

Actors, messages and sets of destinations are numbered from 0 in the order of their first use. A
causal-send without destinations has -1 in TO.
"""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np

from antecede.checker.compiled import jit

Array = np.ndarray[Any, Any]

KIND, ACTOR, MESSAGE, TO, PLACE = range(5)
COLUMNS = 5

SENT, GOT = 0, 1
"""The kinds of events, as indices in `event.EVENTS`."""

PLACE_BITS = 40
"""The number of bits of a line in a place."""

kernel = partial(jit.kernel, _nrt=False)
"""Kernels allocate nothing, and do not count references to the many arrays that they pass on."""
