"""The newest Numba still has the private names that our compiler uses."""

from __future__ import annotations

import ast
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.conftest import ROOT

COMPILER = ROOT / "checker" / "compiled" / "compiler.py"

MISSING = """
import sys
from importlib import import_module
import numba
print(numba.__version__)
for name in sys.argv[1:]:
    module, *path = name.split(":")
    try:
        found = import_module(module)
        for part in path:
            found = getattr(found, part)
    except (ImportError, AttributeError):
        print(name)
"""
"""Prints Numba's version, and each of the names that it lacks."""

ATTRIBUTES = [
    "numba.core.codegen:CPUCodeLibrary:_optimize_final_module",
    "numba.core.codegen:CPUCodeLibrary:_finalize_final_module",
    "numba.core.dispatcher:Dispatcher:get_call_template",
    "numba.core.lowering:Lower:incref",
    "numba.core.lowering:Lower:decref",
    "numba.core.config:_config_fname",
]
"""Names that are no imports. Those that exist only in an object are found by compiling a kernel."""


def names() -> list[str]:
    """Return what our compiler imports of Numba, as MODULE:NAME, and the attributes."""
    imports = [
        node
        for node in ast.walk(ast.parse(COMPILER.read_text()))
        if isinstance(node, ast.ImportFrom) and str(node.module).startswith("numba")
    ]
    found = [f"{node.module}:{alias.name}" for node in imports for alias in node.names]
    return [*found, *ATTRIBUTES]


def lacking(path: str, *more: str) -> tuple[str, list[str]]:
    """Return the version of the Numba in a folder, and the names that it lacks."""
    command = [sys.executable, "-c", MISSING, *names(), *more]
    environment = {**os.environ, "PYTHONPATH": path}
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
    version, *lacks = done.stdout.splitlines()
    return version, lacks


@pytest.mark.integration
def test_the_installed_numba_has_all_private_names_and_a_missing_one_is_named() -> None:
    assert [] == lacking("")[1]
    assert ["numba.core.lowering:Lowered"] == lacking("", "numba.core.lowering:Lowered")[1]


@pytest.mark.slow
def test_the_newest_numba_has_all_private_names(tmp_path: Path) -> None:
    install = [sys.executable, "-m", "pip", "install", "--quiet", "--upgrade", "--target"]
    done = subprocess.run(
        [*install, tmp_path, "numba"], capture_output=True, text=True, check=False
    )
    if done.returncode:
        pytest.skip(f"the newest Numba could not be installed: {done.stderr[-500:]}")
    version, lacks = lacking(str(tmp_path))
    assert not lacks, f"Numba {version} lacks {', '.join(lacks)}"
    tests = [
        sys.executable,
        "-m",
        "pytest",
        "-q",
        "-n",
        "0",
        "tests/compiled/test_kernels.py",
    ]
    environment = {
        **os.environ,
        "PYTHONPATH": str(tmp_path),
        "NUMBA_CACHE_DIR": str(tmp_path / "cache"),
    }
    done = subprocess.run(tests, cwd=ROOT, env=environment, capture_output=True, text=True)
    assert 0 == done.returncode, f"Numba {version}: {done.stdout[-3000:]}"
