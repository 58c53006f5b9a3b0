"""Installations: a wheel, an sdist, and a user's project with folders of the same names."""

from __future__ import annotations

import json
import subprocess
import sys
import venv
import zipfile
from pathlib import Path

import pytest

from antecede.checker.render.schemas import SCHEMAS, schema_text
from tests.conftest import ROOT

pytestmark = pytest.mark.integration

USERS_FILES = {
    "cli.py": "MINE = True\n",
    "checker.py": "MINE = True\n",
    "protocols/__init__.py": "MINE = True\n",
    "protocols/mine.py": """
from attrs import evolve
from antecede.protocols import mfss
PROTOCOL = evolve(mfss.MFSS, name="mine")
""",
    "properties/__init__.py": "MINE = True\n",
    "specs/__init__.py": "MINE = True\n",
    "test_mine.py": """
import checker, cli, properties, protocols, specs
from antecede import Message, Protocol, Step, assert_holds
from protocols.mine import PROTOCOL

def test_these_are_mine():
    assert all(module.MINE for module in (checker, cli, properties, protocols, specs))

def test_mine_holds():
    assert_holds(PROTOCOL, actors=2, messages=2, engine="plain")
""",
}
"""A project that has folders and modules called like ours."""


def ran(*command: object, cwd: Path, **environment: str) -> str:
    """Run a command that must succeed, with nothing of ours around it; return its output."""
    done = subprocess.run(
        list(map(str, command)),
        cwd=cwd,
        env={"PATH": "/usr/bin:/bin", "HOME": str(cwd), **environment},
        capture_output=True,
        text=True,
        check=False,
    )
    assert 0 == done.returncode, done.stdout + done.stderr
    return done.stdout


def built(kind: str, source: Path, folder: Path) -> Path:
    """Build a wheel or an sdist with the build backend, which is installed for development."""
    folder.mkdir()
    program = f"from hatchling.build import build_{kind} as build; print(build({str(folder)!r}))"
    return folder / ran(sys.executable, "-c", program, cwd=source).splitlines()[-1]


def contents(wheel: Path) -> dict[str, bytes]:
    with zipfile.ZipFile(wheel) as archive:
        return {
            name: archive.read(name) for name in archive.namelist() if not name.endswith("RECORD")
        }


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return built("wheel", ROOT, tmp_path_factory.mktemp("wheel") / "dist")


@pytest.fixture(scope="module")
def python(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the Python of a fresh environment: the wheel, and the libraries of this one."""
    folder = tmp_path_factory.mktemp("fresh") / "env"
    venv.create(folder, symlinks=True)
    site = next((folder / "lib").glob("python*/site-packages"))
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(site)
    for library in _libraries(site):
        (site / library.name).symlink_to(library)
    return folder / "bin" / "python"


def _libraries(site: Path) -> list[Path]:
    """Return what is installed beside us here, without us."""
    import attrs

    others = Path(attrs.__file__).parent.parent
    return [
        path
        for path in others.iterdir()
        if "antecede" not in path.name and path.suffix != ".pth" and not (site / path.name).exists()
    ]


@pytest.fixture
def project(tmp_path: Path) -> Path:
    for name, text in USERS_FILES.items():
        file = tmp_path / name
        file.parent.mkdir(exist_ok=True)
        file.write_text(text)
    return tmp_path


def test_a_wheel_installs_one_name(wheel: Path) -> None:
    tops = {name.split("/")[0] for name in contents(wheel)}
    assert {"antecede"} == {top for top in tops if not top.endswith(".dist-info")}
    assert {
        "antecede/py.typed",
        "antecede/cli.py",
        "antecede/checker/papers/claims/hybrid.toml",
        "antecede/checker/render/page.css",
        "antecede/checker/render/templates/trace.html",
        "antecede/protocols/mfss.py",
        "antecede/specs/small/cykas-3x2.toml",
    } <= contents(wheel).keys()


def test_a_wheel_has_the_schemas_that_the_command_prints(wheel: Path) -> None:
    files = contents(wheel)
    folder = "antecede/checker/schemas/"
    assert {f"{folder}{name}.json": schema_text(name) for name in SCHEMAS} == {
        name: files[name].decode() for name in files if name.startswith(folder)
    }


def test_a_wheel_from_the_sdist_is_the_same(wheel: Path, tmp_path: Path) -> None:
    sdist = built("sdist", ROOT, tmp_path / "sdist")
    unpacked = tmp_path / "source"
    unpacked.mkdir()
    subprocess.run(["tar", "-xf", sdist, "-C", unpacked], check=True)
    (source,) = unpacked.iterdir()
    assert set(SCHEMAS) == {file.stem for file in (source / "schemas").iterdir()}
    assert contents(wheel) == contents(built("wheel", source, tmp_path / "dist"))


@pytest.fixture
def without_links(tmp_path: Path) -> Path:
    """Return a copy of the project as Git makes it where there are no symbolic links."""
    copy = tmp_path / "copy"
    tracked = ("git", "ls-files", "-z", "--cached", "--others", "--exclude-standard")
    for name in subprocess.check_output(tracked, cwd=ROOT, text=True).split("\0"):
        file, target = ROOT / name, copy / name
        if name and file.is_symlink():
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_text(str(file.readlink()))
        elif file.is_file():
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes(file.read_bytes())
    return copy


def test_a_wheel_from_a_tree_without_links_is_the_same(
    wheel: Path, without_links: Path, tmp_path: Path
) -> None:
    assert contents(wheel) == contents(built("wheel", without_links, tmp_path / "dist"))


def test_a_tree_without_links_checks_a_protocol(without_links: Path) -> None:
    asked = ("check", "fifo", "--actors", "2", "--messages", "2", "--engine", "plain")
    done = subprocess.run(
        [sys.executable, "-P", "-m", "antecede", *asked, "--json", "-"],
        env={"PYTHONPATH": str(without_links / "src")},
        capture_output=True,
        text=True,
        check=False,
    )
    assert "" == done.stderr
    assert "HOLDS" == json.loads(done.stdout)["verdict"]


@pytest.mark.parametrize("command", [("-m", "pytest"), ("-P", "-m", "pytest")], ids=" ".join)
def test_a_users_project_with_our_folders_is_tested(
    python: Path, project: Path, command: tuple[str, ...]
) -> None:
    out = ran(python, *command, "-q", "-p", "no:cacheprovider", cwd=project, PYTHONPATH=".")
    assert "2 passed" in out


def test_the_command_runs_in_a_users_project(python: Path, project: Path) -> None:
    asked = ("-m", "antecede", "check", "protocols/mine.py", "--actors", "2", "--engine", "plain")
    assert "HOLDS" in ran(python, *asked, cwd=project, PYTHONPATH=".")


@pytest.mark.parametrize("name", ["checker", "protocols", "properties", "specs", "cli.py"])
def test_what_is_installed_is_a_link_to_the_top(name: str) -> None:
    """A tool that rewrites files may put a copy in a link's place, and changes would be lost."""
    link = ROOT / "src" / "antecede" / name
    assert link.is_symlink()
    assert ROOT / name == link.resolve()
