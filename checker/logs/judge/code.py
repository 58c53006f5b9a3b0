"""The kernels of the judge: as machine code, or the same functions as plain Python.

Plain Python judges some 20,000 events a second. So a small log does not wait until its kernels are
compiled, or loaded from the disk.
"""

from __future__ import annotations

from typing import Any, TypeAlias

from antecede.checker.compiled import jit
from antecede.checker.logs.judge import clocks_kernels, following_kernels, judging_kernels

Code: TypeAlias = Any
"""An object whose attributes are the functions of `judging_kernels` and `following_kernels`."""

MODULES = (clocks_kernels, judging_kernels, following_kernels)

MACHINE: Code = jit.together(*MODULES)
PLAIN: Code = jit.uncompiled(*MODULES)
