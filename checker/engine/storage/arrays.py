"""The types of the engine's arrays.

All numbers of the engine are 64-bit integers, because kernels then mix no types.
"""

from __future__ import annotations

from typing import Any, TypeAlias

import numpy as np

Words: TypeAlias = np.ndarray[Any, np.dtype[np.int64]]
"""An array of 64-bit integers: rows, table entries, counts."""
