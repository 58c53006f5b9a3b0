"""The kept runs of claims and their pictures are those that antecede writes today."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.conftest import ROOT, Command

RUNS = sorted((ROOT / "docs/claims").glob("*.json"))


def lasting(trace: Path) -> dict[str, Any]:
    """Return the contents of a trace without versions and without the protocol.

    A replay writes the name of the protocol, even if the replayed trace has the protocol's file.
    """
    contents: dict[str, Any] = json.loads(trace.read_text(encoding="utf-8"))
    return contents | {"versions": None, "protocol": None}


@pytest.mark.parametrize("kept", RUNS, ids=lambda file: file.stem)
def test_a_kept_run_and_its_picture_are_those_of_today(
    kept: Path, tmp_path: Path, antecede: Command
) -> None:
    run, picture = tmp_path / "run.json", tmp_path / "run.svg"
    contents = json.loads(kept.read_text(encoding="utf-8"))
    is_in_file = ".py" in contents["protocol"]
    trusted = [f"--{name}={contents[name]}" for name in ("protocol", "property") if is_in_file]
    ran = antecede("replay", kept, "--trace", run, "--trace", picture, *trusted)
    assert ran.code in (0, 1), ran.err
    assert lasting(kept) == lasting(run)
    if not is_in_file:
        drawn = kept.with_suffix(".svg").read_text(encoding="utf-8")
        assert drawn == picture.read_text(encoding="utf-8")
