"""The commands that add an optional package, and what runs without the large packages."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from importlib import metadata
from pathlib import Path

import pytest

from antecede.checker.support import extras
from tests.conftest import ROOT

NEEDS = "z3-solver>=4.12.6"
METADATA = (
    f"Metadata-Version: 2.1\nName: antecede\nVersion: 1\nRequires-Dist: {NEEDS}; extra == 'prove'\n"
)


@pytest.fixture
def prefix(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return an environment in which antecede is installed from an index."""
    folder = tmp_path / "env"
    (folder / "antecede-1.dist-info").mkdir(parents=True)
    (folder / "antecede-1.dist-info" / "METADATA").write_text(METADATA)
    installed = metadata.Distribution.at(folder / "antecede-1.dist-info")
    monkeypatch.setattr(metadata, "distribution", lambda _name: installed)
    monkeypatch.setattr(metadata, "distributions", lambda name: [name])
    monkeypatch.setattr(sys, "prefix", str(folder))
    monkeypatch.setattr(sys, "executable", "/env/bin/python")
    return folder


def installed_from(prefix: Path, **source: object) -> None:
    text = json.dumps({"url": "file:///my%20clone", **source})
    (prefix / "antecede-1.dist-info" / "direct_url.json").write_text(text)


def test_an_installation_from_an_index_names_the_extra(prefix: Path) -> None:
    assert "pip install 'antecede[prove]'" == extras.install_command("prove")


def test_a_clone_names_its_folder_and_its_python(prefix: Path) -> None:
    installed_from(prefix, dir_info={"editable": True})
    command = "/env/bin/python -m pip install --editable '/my clone[prove]'"
    assert command == extras.install_command("prove")
    installed_from(prefix, dir_info={})
    assert command.replace("--editable ", "") == extras.install_command("prove")


def test_an_environment_without_pip_names_uv(prefix: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(metadata, "distributions", lambda name: [])
    installed_from(prefix, dir_info={"editable": True})
    assert f"VIRTUAL_ENV={prefix} uv pip install --editable" in extras.install_command("prove")


@pytest.mark.parametrize(
    ("file", "command"),
    [
        ("pipx_metadata.json", f"pipx inject antecede '{NEEDS}'"),
        ("uv-receipt.toml", f"uv pip install --python /env/bin/python '{NEEDS}'"),
    ],
)
def test_a_tool_of_pipx_or_uv_gets_the_package(prefix: Path, file: str, command: str) -> None:
    (prefix / file).touch()
    assert command == extras.install_command("prove")


def test_uvx_gets_the_package_for_one_run(prefix: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "prefix", "/cache/uv/archive-v0/x")
    assert f"uvx --with '{NEEDS}' antecede …" == extras.install_command("prove")
    installed_from(prefix, dir_info={})
    command = f"uvx --from '/my clone' --with '{NEEDS}' antecede …"
    assert command == extras.install_command("prove")


def test_sources_without_an_installation_name_the_package(
    prefix: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def missing(name: str) -> None:
        raise metadata.PackageNotFoundError(name)

    monkeypatch.setattr(metadata, "distribution", missing)
    assert "pip install matplotlib" == extras.install_command("plot")


def test_each_extra_with_a_hint_has_requirements() -> None:
    installed = metadata.distribution("antecede")
    assert [] == [name for name in extras.PACKAGES if not extras._requirements(installed, name)]


WITHOUT = """
import sys
from importlib.machinery import PathFinder

class Without(PathFinder):
    @classmethod
    def find_spec(cls, name, path=None, target=None):
        if name.partition(".")[0] in ("numba", "llvmlite", "numpy"):
            return None
        return super().find_spec(name, path, target)

sys.meta_path[sys.meta_path.index(PathFinder)] = Without
"""


def without_large_packages(folder: Path, *command: str) -> subprocess.CompletedProcess[str]:
    """Run the command in Python that finds neither Numba nor NumPy."""
    (folder / "sitecustomize.py").write_text(WITHOUT)
    env = {**os.environ, "PYTHONPATH": os.pathsep.join((str(folder), str(ROOT / "src")))}
    line = (sys.executable, "-m", "antecede", *command)
    return subprocess.run(
        line, cwd=folder, env=env, capture_output=True, text=True, encoding="utf-8", check=False
    )


@pytest.mark.integration
def test_without_numba_a_check_explores_in_plain_python(tmp_path: Path) -> None:
    done = without_large_packages(tmp_path, "check", "fifo", "--actors", "2", "--messages", "2")
    assert (0, "") == (done.returncode, done.stderr)
    assert "Explored in plain Python: Numba" in done.stdout


@pytest.mark.integration
def test_without_numpy_another_command_names_what_it_needs(tmp_path: Path) -> None:
    done = without_large_packages(tmp_path, "simulate", "fifo")
    assert (2, "") == (done.returncode, done.stdout)
    assert done.stderr.startswith(
        "Error: this command needs numpy, which is not installed; install"
    )
