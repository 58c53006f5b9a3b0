"""The explore page when the protocol's file changes under it."""

from __future__ import annotations

from pathlib import Path

import pytest

from antecede.checker.explore.renewal import Renewed
from tests.conftest import ROOT
from tests.explored import fetch, serving, tree_of

SOURCE = (ROOT / "protocols" / "unordered.py").read_text(encoding="utf-8")


@pytest.fixture
def mine(tmp_path: Path) -> Path:
    file = tmp_path / "mine.py"
    file.write_text(SOURCE)
    return file


def test_a_changed_protocol_is_shown_at_the_same_path_and_said_once(mine: Path) -> None:
    with serving(tree_of(f"{mine}:UNORDERED")) as server:
        assert "has changed" not in fetch(server, "/?path=0").body
        mine.write_text(SOURCE.replace('name="unordered"', 'name="renamed"'))
        page = fetch(server, "/?path=0")
        assert "mine.py has changed; this page shows the new version." in page.body
        assert "Exploring renamed" in page.body
        assert "has changed" not in fetch(server, "/?path=0").body


def test_a_protocol_that_is_broken_leaves_the_old_one_until_it_is_mended(mine: Path) -> None:
    with serving(tree_of(f"{mine}:UNORDERED")) as server:
        mine.write_text(f"{SOURCE}\nthis is no Python\n")
        for _ in range(2):
            page = fetch(server, "/?path=0").body
            assert "and this is still what it was before" in page
            assert "not valid Python" in page
            assert "Exploring unordered" in page
        mine.unlink()
        assert "there is no file" in fetch(server, "/").body
        mine.write_text(SOURCE)
        assert "this page shows the new version" in fetch(server, "/").body


def test_a_path_that_the_new_protocol_does_not_have_is_refused(mine: Path) -> None:
    with serving(tree_of(f"{mine}:UNORDERED")) as server:
        assert 200 == fetch(server, "/?path=0.1").status
        (line,) = (line for line in SOURCE.splitlines() if "sends=" in line)
        unsent = SOURCE.replace(line, "    return Step(state)")
        mine.write_text(unsent)
        assert 200 != fetch(server, "/?path=0.1").status


def test_a_registered_protocol_is_in_no_file_that_changes() -> None:
    renewed = Renewed(tree_of("mfss"))
    tree = renewed.tree
    assert ("", False) == renewed.look()
    assert tree is renewed.tree


def test_a_changed_file_that_the_protocol_imports_is_shown_too(mine: Path) -> None:
    beside = mine.with_name("names_of_mine.py")
    beside.write_text('NAME = "first"\n')
    imports = "from names_of_mine import NAME\nfrom attrs import frozen"
    source = SOURCE.replace("from attrs import frozen", imports)
    mine.write_text(source.replace('name="unordered"', "name=NAME"))
    with serving(tree_of(f"{mine}:UNORDERED")) as server:
        assert "Exploring first" in fetch(server, "/").body
        for name in ("second name", "the third name"):
            beside.write_text(f'NAME = "{name}"\n')
            page = fetch(server, "/").body
            assert "names_of_mine.py has changed; this page shows the new version." in page
            assert f"Exploring {name}" in page
        beside.write_text("NAME = \n")
        assert "Exploring the third name" in fetch(server, "/").body
        beside.write_text('NAME = "mended"\n')
        assert "Exploring mended" in fetch(server, "/").body
