"""The lowest versions that pyproject.toml admits: they can be installed, and the suite passes."""

from __future__ import annotations

import os
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from itertools import chain

import pytest
from packaging.requirements import Requirement

from tests.conftest import ROOT

PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))

LEFT_OUT = ("prefect",)
"""Packages that require newer versions of our own dependencies. Tests skip them if missing."""

UNCLOSED = "ignore:unclosed <socket:ResourceWarning"
"""PySpark 4.0 leaves the sockets of its results to the garbage collector."""

NO_SCIPY = "ignore:scipy not found:ImportWarning"
"""networkx 3 tries to read a generator of edges as a matrix first."""


def requirements() -> Iterator[Requirement]:
    """Yield what the build, the command, and every extra require."""
    project = PROJECT["project"]
    extras = project["optional-dependencies"].values()
    lists = (PROJECT["build-system"]["requires"], project["dependencies"], *extras)
    yield from map(Requirement, chain.from_iterable(lists))


def lowest(requirement: Requirement) -> str:
    """Return a requirement as its lowest version."""
    extras = f"[{','.join(sorted(requirement.extras))}]" if requirement.extras else ""
    (bound,) = (each.version for each in requirement.specifier if each.operator == ">=")
    return f"{requirement.name}{extras}=={bound}"


def test_every_requirement_has_one_lower_bound_wherever_it_is_named() -> None:
    bounds = dict[str, set[str]]()
    for requirement in requirements():
        bounds.setdefault(requirement.name, set()).add(lowest(requirement))
    assert [] == [versions for versions in bounds.values() if len(versions) > 1]


@pytest.mark.slow
@pytest.mark.timeout(7_200)
def test_the_suite_passes_with_the_lowest_versions(
    tmp_path_factory: pytest.TempPathFactory,
) -> None:
    folder = tmp_path_factory.mktemp("lowest")
    subprocess.run([sys.executable, "-m", "venv", folder], check=True)
    python = str(folder / "bin" / "python")
    versions = sorted({lowest(each) for each in requirements() if each.name not in LEFT_OUT})
    install = (python, "-m", "pip", "install", "--quiet")
    subprocess.run([*install, *versions], check=True)
    # The wheel is built by the lowest hatchling. It brings the plugin of pytest; the tests run
    # the sources here.
    subprocess.run([*install, "--no-build-isolation", "--no-deps", str(ROOT)], check=True)
    done = subprocess.run(
        [
            python,
            "-m",
            "pytest",
            "-q",
            "-n",
            "auto",
            "--dist",
            "loadfile",
            "-W",
            UNCLOSED,
            "-W",
            NO_SCIPY,
        ],
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": str(ROOT / "src")},
        capture_output=True,
        text=True,
        check=False,
    )
    assert 0 == done.returncode, done.stdout[-10_000:] + done.stderr[-2_000:]
    assert " passed" in done.stdout
