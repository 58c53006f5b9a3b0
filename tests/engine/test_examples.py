"""The examples in the docstrings of the engine.

They run without the compiler, because compiled kernels take a minute to compile.
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]

RUN = """
import doctest, sys
from importlib import import_module

results = [doctest.testmod(import_module(name)) for name in sys.argv[1:]]
print(sum(result.attempted for result in results))
sys.exit(any(result.failed for result in results))
"""


def modules_with_examples() -> list[str]:
    """Return the names of the modules of the engine that have an example in a docstring."""
    files = sorted((ROOT / "checker/engine").rglob("*.py"))
    names = [file.relative_to(ROOT).with_suffix("").parts for file in files if has_example(file)]
    return [".".join(("antecede", *name)) for name in names]


def has_example(file: Path) -> bool:
    return ">>> " in file.read_text(encoding="utf-8")


@pytest.mark.integration
def test_every_example_in_the_engine_works() -> None:
    done = subprocess.run(
        [sys.executable, "-c", RUN, *modules_with_examples()],
        env={**os.environ, "NUMBA_DISABLE_JIT": "1"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert int(done.stdout) > 50
