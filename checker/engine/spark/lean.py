"""Reports that are pickled as their values alone, because the driver reads thousands per job."""

from __future__ import annotations

from typing import Any

import numpy as np
from attrs import astuple

from antecede.checker.engine.spark.distinct import NOTHING


class Lean:
    """Instances of its attrs classes are pickled without names, and without empty arrays."""

    __slots__ = ()

    def __reduce__(self) -> Any:
        """Return what makes this instance again."""
        values: tuple[Any, ...] = astuple(self, recurse=False)  # type: ignore[arg-type]
        return _made, (type(self), *(None if _is_empty(value) else value for value in values))


def _is_empty(value: Any) -> bool:
    return isinstance(value, np.ndarray) and not len(value)


def _made(kind: Any, *values: Any) -> Any:
    return kind(*[NOTHING if value is None else value for value in values])
