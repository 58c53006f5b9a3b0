"""A run exported as a test and as a spec: both must be green, and red for another protocol."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path as FilePath
from typing import Any

import pytest
from attrs import evolve

from antecede.checker.check.spec import OwnProperties, Spec, load_spec
from antecede.checker.explore.tree import Tree
from antecede.checker.model import Property, What, When
from tests.conftest import ROOT, Command
from tests.explored import fetch, searched, serving, tree_of
from tests.models import toy


@pytest.fixture
def violating(tmp_path: FilePath) -> tuple[Tree, str]:
    """Return a protocol of the user, and a path that violates causal-delivery."""
    file = tmp_path / "mine.py"
    file.write_text((ROOT / "protocols/unordered.py").read_text())
    tree = Tree(Spec(str(file), actors=2, messages=2))
    return tree, violation_in(tree)


def violation_in(tree: Tree) -> str:
    """Return a shortest path that violates causal-delivery."""
    with serving(tree) as server:
        return searched(server, "path=&property=causal-delivery").path


def exported(tree: Tree, path: str, name: str, folder: FilePath) -> FilePath:
    """Save what the link of the page gives under the name that it suggests."""
    with serving(tree) as server:
        page = fetch(server, f"/?path={path}")
        assert any(a.words == name for a in page.found("a")), "the page links to it"
        got = fetch(server, f"/trace?path={path}&format={name}")
    assert 200 == got.status
    suggested = got.headers["Content-Disposition"].partition('filename="')[2].rstrip('"')
    (folder / suggested).write_text(got.body)
    return folder / suggested


def run_by_pytest(file: FilePath) -> Any:
    """Run an exported test with pytest, in a process of its own."""
    words = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-p", "no:xdist"]
    return subprocess.run(
        [*words, file.name], cwd=file.parent, capture_output=True, text=True, check=False
    )


@pytest.mark.integration
def test_the_test_of_a_violation_is_green_until_the_protocol_is_repaired(
    violating: tuple[Tree, str], tmp_path: FilePath
) -> None:
    file = exported(*violating, "test", tmp_path)
    ran = run_by_pytest(file)
    assert 0 == ran.returncode, ran.stdout
    assert "1 passed" in ran.stdout
    repaired = (tmp_path / "mine.py").read_text().replace("=(packet.message,)", "=()")
    (tmp_path / "mine.py").write_text(repaired)
    ran = run_by_pytest(file)
    assert 1 == ran.returncode
    assert "assert result.violated" in ran.stdout


OWN = """
from antecede import Property, What, When

STAYS = Property("stays", "", What.SEQUENCES, When.ALWAYS, lambda lists: not any(lists))
"""


@pytest.mark.integration
def test_a_property_of_a_file_is_found_from_any_folder(
    tmp_path: FilePath, monkeypatch: pytest.MonkeyPatch, antecede: Command
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "own.py").write_text(OWN)
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    tree = Tree(Spec("unordered", actors=2, messages=1, properties=("own.py:STAYS",)))
    test, spec = (exported(tree, "0.1", name, elsewhere) for name in ("test", "spec"))
    ran = run_by_pytest(test)
    assert 0 == ran.returncode, ran.stdout
    assert 0 == antecede("check", str(spec), "--engine", "plain").code


def test_a_property_without_a_file_cannot_be_exported() -> None:
    stays = Property("stays", "", What.SEQUENCES, When.ALWAYS, lambda lists: not any(lists))
    asked = Spec("unordered", actors=2, messages=1, properties=("stays",))
    with serving(Tree(evolve(asked, own=OwnProperties((stays,))))) as server:
        page = fetch(server, "/trace?path=0.1&format=test")
        assert 422 == page.status
        assert "The property 'stays' is an object of a program" in page.one("p", id="note").words


@pytest.mark.integration
def test_the_test_of_a_run_that_violates_nothing_compares_its_states(tmp_path: FilePath) -> None:
    file = exported(tree_of("cykas-secret-mode", 3, 2), "0.1.0", "test", tmp_path)
    assert 0 == run_by_pytest(file).returncode
    source = file.read_text()
    assert "'MODE" in source or "MODE=" in source
    file.write_text(source.replace("MODE=0", "MODE=7", 1))
    ran = run_by_pytest(file)
    assert 1 == ran.returncode
    assert "1 failed" in ran.stdout


def test_the_spec_of_a_violation_is_as_expected(
    violating: tuple[Tree, str], tmp_path: FilePath, antecede: Command
) -> None:
    file = exported(*violating, "spec", tmp_path)
    assert 0 == antecede("check", str(file), "--engine", "plain").code
    file.write_text(file.read_text().replace('"violated"', '"holds"').replace("violates", "#"))
    assert 1 == antecede("check", str(file), "--engine", "plain").code


def test_a_spec_keeps_the_question_and_the_names(tmp_path: FilePath) -> None:
    names = {"actors": ["Ann", 'B"ö\\', "Cy"]}
    tree = tree_of(
        "unordered", 3, 2, workload="script:[[1,1],[],[]]", network="unordered", names=names
    )
    spec = load_spec(exported(tree, violation_in(tree), "spec", tmp_path))
    asked = tree.system.question
    assert (3, asked.network, asked.workload) == (spec.actors, spec.network, spec.workload)
    assert ("causal-delivery",) == spec.properties == (spec.expect.violates,)
    assert tree.system.names.actors == spec.system.names.actors


def test_a_run_that_violates_nothing_gives_no_spec() -> None:
    with serving(tree_of("unordered", 2, 2)) as server:
        assert "spec" not in [a.words for a in fetch(server, "/?path=0").found("a")]
        page = fetch(server, "/trace?path=0&format=spec")
        assert (422, "0") == (page.status, page.path)
        assert "The run violates nothing" in page.one("p", id="note").words


@pytest.mark.parametrize("name", ["test", "spec"])
def test_a_protocol_without_a_file_cannot_be_exported(name: str) -> None:
    tree = tree_of(toy("held"), 2, 2)
    numbers = violation_in(tree)
    with serving(tree) as server:
        assert name not in [a.words for a in fetch(server, f"/?path={numbers}").found("a")]
        page = fetch(server, f"/trace?path={numbers}&format={name}")
        assert 422 == page.status
        assert "is an object of a program; save it as a file" in page.one("p", id="note").words


@pytest.mark.integration
def test_names_that_look_like_code_stay_data(tmp_path: FilePath) -> None:
    names = {"actors": ["'''", '"""', "C\\"]}
    tree = tree_of("unordered", 3, 2, names=names)
    ran = run_by_pytest(exported(tree, violation_in(tree), "test", tmp_path))
    assert 0 == ran.returncode, ran.stdout
