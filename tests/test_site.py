"""The site: links to the repository's files become links to pages, and nothing is fetched."""

from __future__ import annotations

import importlib.util
import re
import subprocess
import sys
from pathlib import Path
from types import ModuleType, SimpleNamespace

import pytest

from tests.conftest import ROOT

pytest.importorskip("mkdocs")

FOREIGN = re.compile(
    r"""<(?:script|img|iframe|link)\b[^>]*\b(?:src|href)=["'](?:https?:)?//[^"']*"""
)


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The site, built as `make site` builds it."""
    folder = tmp_path_factory.mktemp("site")
    command = ["-m", "mkdocs", "build", "--strict", "--quiet", "--site-dir", str(folder)]
    done = subprocess.run(
        [sys.executable, *command], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert 0 == done.returncode, done.stdout + done.stderr
    return folder


def test_every_page_of_the_documentation_is_on_the_site(site: Path) -> None:
    for page in (ROOT / "docs").glob("*.md"):
        assert (site / f"{page.stem}.html").is_file()


def test_no_page_loads_anything_from_elsewhere(site: Path) -> None:
    for page in site.rglob("*.html"):
        assert [] == FOREIGN.findall(page.read_text(encoding="utf-8")), page.name
    assert FOREIGN.search('<script async src="//cdn.example.org/a.js">')


def test_code_that_a_page_links_to_is_on_the_site(site: Path) -> None:
    text = (site / "writing.html").read_text(encoding="utf-8")
    assert 'href="source/protocols/mfss.py.html"' in text
    assert "unacknowledged" in (site / "source/protocols/mfss.py.html").read_text(encoding="utf-8")


def test_the_reference_is_made_of_the_docstrings(site: Path) -> None:
    text = (site / "api.html").read_text(encoding="utf-8")
    assert "A protocol: a record of pure functions over frozen values." in text
    assert 'id="antecede.checker.testing.check"' in text


def hook() -> ModuleType:
    spec = importlib.util.spec_from_file_location("pages", ROOT / "docs" / "site" / "pages.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


PLACES = [
    ("README.md", "index.md"),
    ("docs/ci.md", "ci.md"),
    ("CONTRIBUTING.md", "project/CONTRIBUTING.md"),
    ("protocols/mfss.py", "source/protocols/mfss.py.md"),
    ("specs/small", "source/specs/small/index.md"),
    ("benchmarks/figures/speed.svg", "project/benchmarks/figures/speed.svg"),
]


@pytest.mark.parametrize(("path", "place"), PLACES)
def test_a_file_of_the_repository_has_its_place(path: str, place: str) -> None:
    assert place == hook().place_of(path)


def test_links_are_rewritten_and_code_is_left_alone() -> None:
    page = SimpleNamespace(file=SimpleNamespace(src_uri="project/CONTRIBUTING.md"))
    config = SimpleNamespace(extra={"origins": {"project/CONTRIBUTING.md": "CONTRIBUTING.md"}})
    text = "[a](docs/ci.md#x) [b](https://example.org) [c](#d)\n```text\n[a](docs/ci.md)\n```\n"
    found = hook().on_page_markdown(text, page=page, config=config, files=None)
    assert (
        "[a](../ci.md#x) [b](https://example.org) [c](#d)\n```text\n[a](docs/ci.md)\n```\n" == found
    )
