"""The plain engine on a newer Python: Pyodide is CPython, and npm has it."""

from __future__ import annotations

import json
import shutil
import subprocess
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path

import pytest

from tests.conftest import ROOT


@pytest.mark.slow
def test_the_plain_engine_reaches_the_expected_verdicts_on_a_newer_python(tmp_path: Path) -> None:
    place = spec_from_file_location("playground", ROOT / "docs" / "site" / "playground.py")
    assert place is not None
    assert place.loader is not None
    playground = module_from_spec(place)
    place.loader.exec_module(playground)
    runtime, node = playground.installed(ROOT / "build" / "npm"), shutil.which("node")
    if runtime is None or node is None:
        pytest.skip("Node.js and npm could not install Pyodide (apt-get install npm)")
    (tmp_path / "packages.zip").write_bytes(playground.packages())
    script, specs = ROOT / "tests" / "node" / "specs.mjs", ROOT / "specs" / "small"
    command = [node, script, runtime, tmp_path / "packages.zip", specs]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert 0 == done.returncode, done.stderr[-2_000:]
    said = json.loads(done.stdout.splitlines()[-1])
    assert [3, 12] <= said["version"]
    wrong = {name: row for name, row in said["found"].items() if row[1] or row[2]}
    assert {} == wrong
    decided = [row for row in said["found"].values() if row[0] in ("HOLDS", "VIOLATED")]
    assert len(decided) >= 10
