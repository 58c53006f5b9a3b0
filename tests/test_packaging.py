"""The files by which other tools install and run antecede: an action, a hook, an image."""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
import tomllib
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest
import yaml

from antecede.checker.support.version import VERSION
from tests.conftest import ROOT, Command
from tests.test_pages import accepted

PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]


def yaml_in(name: str) -> Any:
    return yaml.safe_load((ROOT / name).read_text(encoding="utf-8"))


def step_of_action(name: str) -> str:
    """Return the script of a step of the action."""
    (step,) = (each for each in yaml_in("action.yml")["runs"]["steps"] if each.get("name") == name)
    return str(step["run"])


@pytest.mark.integration
@pytest.mark.parametrize(("messages", "code"), [(1, 0), (2, 1)])
def test_the_action_checks_specs_and_writes_a_summary(
    tmp_path: Path, messages: int, code: int
) -> None:
    (tmp_path / "specs").mkdir()
    spec = f'protocol = "unordered"\nactors = 3\nmessages = {messages}\n'
    if code == 0:  # nobody can violate an order with one message per actor
        spec += 'properties = ["integrity"]\n'
    (tmp_path / "specs" / "a.toml").write_text(spec)
    files = {name: tmp_path / name for name in ("GITHUB_OUTPUT", "GITHUB_STEP_SUMMARY")}
    command = tmp_path / "bin" / "antecede"
    command.parent.mkdir()
    command.write_text(f'#!/bin/sh\nexec {sys.executable} -m antecede "$@"\n')
    command.chmod(0o755)
    done = subprocess.run(
        ["bash", "-eo", "pipefail", "-c", step_of_action("Check the specs")],
        cwd=tmp_path,
        env={
            **os.environ,
            "PATH": f"{command.parent}:{os.environ['PATH']}",
            "PYTHONPATH": str(ROOT / "src"),
            "GITHUB_ACTIONS": "true",
            "RUNNER_TEMP": str(tmp_path),
            "SPECS": "specs",
            "OPTIONS": "--engine plain --max-seconds 600",
            **{name: str(file) for name, file in files.items()},
        },
        capture_output=True,
        text=True,
        check=False,
    )
    assert code == done.returncode, done.stderr
    assert f"exit-code={code}\nwritten=true\n" == files["GITHUB_OUTPUT"].read_text()
    assert "### antecede" in files["GITHUB_STEP_SUMMARY"].read_text(encoding="utf-8")
    assert ("::error" in done.stdout) == (code == 1)
    results = {file.name for file in (tmp_path / "antecede").iterdir()}
    assert {"results.xml", "results.sarif", "results.json"} == results


def test_the_action_uses_inputs_that_exist() -> None:
    text = (ROOT / "action.yml").read_text(encoding="utf-8")
    assert set(yaml_in("action.yml")["inputs"]) == set(re.findall(r"inputs\.(\w+)", text))


def test_the_hook_checks_specs_that_changed(antecede: Command, tmp_path: Path) -> None:
    (hook,) = yaml_in(".pre-commit-hooks.yaml")
    assert re.search(hook["files"], "specs/a.toml")
    assert re.search(hook["files"], "my/specs/deep/a.toml")
    assert not re.search(hook["files"], "pyproject.toml")
    spec = tmp_path / "a.toml"
    spec.write_text('protocol = "fifo"\nactors = 2\n')
    program, *arguments = shlex.split(hook["entry"])
    assert "antecede" == program
    assert 0 == antecede(*arguments, "--engine", "plain", spec).code


def test_the_commands_of_the_image_are_commands() -> None:
    text = (ROOT / "Dockerfile").read_text(encoding="utf-8").replace("\\\n", " ")
    (command,) = re.findall(r"^RUN antecede (.*)", text, re.MULTILINE)
    accepted(shlex.split(command))


def test_the_citation_has_our_version() -> None:
    citation = yaml_in("CITATION.cff")
    assert (VERSION, PROJECT["license"]) == (citation["version"], citation["license"])
    assert [{"name": "The antecede developers"}] == citation["authors"]
    preferred = citation["preferred-citation"]
    for key in ("title", "version", "authors"):
        assert citation[key] == preferred[key]
    page = (ROOT / "docs/papers.md").read_text(encoding="utf-8")
    entry = dict(re.findall(r"^  (\w+) += \{([^{}]*)\}", page, re.MULTILINE))
    for key in ("title", "version", "year"):
        assert entry[key] == str(preferred[key])


def placeholders(files: Iterable[Path]) -> list[str]:
    """Return the files that name an address which nobody knows before the release."""
    return [f.name for f in files if re.search(r"\bOWNER/", f.read_text(encoding="utf-8"))]


def test_one_file_has_placeholders_for_the_address_of_the_repository(tmp_path: Path) -> None:
    second = tmp_path / "second.md"
    second.write_text("Clone OWNER/antecede.")
    texts = ["*.md", "*.cff", "*.yml", ".*.yaml", "docs/**/*.md", "benchmarks/*.md"]
    files = [file for pattern in texts for file in sorted(ROOT.glob(pattern))]
    assert ["ci.md"] == placeholders(files)
    assert ["ci.md", "second.md"] == placeholders([*files, second])


def test_the_suite_runs_on_every_version_that_is_classified() -> None:
    jobs = yaml_in(".github/workflows/tests.yml")["jobs"]
    run = set(jobs["linux"]["strategy"]["matrix"]["python"])
    kinds = (each.rpartition(" :: ") for each in PROJECT["classifiers"])
    assert {last for first, _, last in kinds if first.endswith("Python")} <= run
