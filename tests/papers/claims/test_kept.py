"""The runs in short form: a replay of today computes all that they leave out."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from antecede.checker.support.errors import ReplayError
from benchmarks import drawings
from tests.conftest import ROOT, Command

RUNS = [file for file in drawings.sources() if drawings.is_run(file)]


@pytest.mark.parametrize("folder", ["docs/claims", "docs/images/protocols"])
def test_a_kept_run_and_its_picture_are_those_of_today(folder: str) -> None:
    there = [file for file in RUNS if file.is_relative_to(ROOT / folder)]
    assert len(there) > 50
    others = [file.name for file in there if differs(file)]
    assert [] == others, "run `python benchmarks/drawings.py --again`"


def differs(kept: Path) -> bool:
    """Return whether a replay of today computes another trace, or draws another picture."""
    picture = kept.with_suffix(".svg")
    is_in_file = ".py" in json.loads(kept.read_text(encoding="utf-8"))["protocol"]
    return drawings.in_short(drawings.in_full(kept)) != kept.read_text(encoding="utf-8") or (
        picture.exists()
        and not is_in_file  # the picture shows where the file was
        and drawings.drawn(kept) != picture.read_text(encoding="utf-8")
    )


@pytest.mark.parametrize(
    ("old", "new"), [('"digest": "', '"digest": "0'), ("Alice sends", "Bob sends")]
)
def test_a_kept_run_of_other_code_is_noticed(tmp_path: Path, old: str, new: str) -> None:
    kept = ROOT / "docs/claims/matrix-loss.json"
    text = kept.read_text(encoding="utf-8")
    other = tmp_path / kept.name
    other.write_text(text, encoding="utf-8")
    assert not differs(other)
    other.write_text(text.replace(old, new, 1), encoding="utf-8")
    assert differs(other)


def test_a_kept_run_whose_step_cannot_be_taken_is_noticed(tmp_path: Path) -> None:
    kept = json.loads((ROOT / "docs/claims/matrix-loss.json").read_text(encoding="utf-8"))
    kept["transitions"].reverse()
    other = tmp_path / "other.json"
    other.write_text(json.dumps(kept), encoding="utf-8")
    with pytest.raises(ReplayError):
        drawings.in_full(other)


def test_a_run_in_short_form_is_a_trace_for_the_command(antecede: Command) -> None:
    ran = antecede("replay", ROOT / "docs/claims/cykas-2-3.json")
    assert 1 == ran.code
    assert "causal-delivery" in ran.out


def test_every_picture_beside_a_run_is_embedded_in_a_page() -> None:
    """The others are drawn with the site; see benchmarks/drawings.py."""
    pictures = {run.with_suffix(".svg") for run in RUNS if run.with_suffix(".svg").exists()}
    assert set() == pictures - drawings.embedded()


SAMPLE = ("tree-lemma-4-3", "matrix-loss", "mf-4-2-race", "cykas-2-3", "tree-lemma-4-6")


@pytest.mark.parametrize("key", SAMPLE)
def test_a_fresh_run_decides_a_claim_as_its_page_says(
    key: str, tmp_path: Path, antecede: Command
) -> None:
    antecede("claims", "--claim", key, "--quiet", "--output", tmp_path / "claims.md")
    fresh, kept = (
        next(block for block in page.split("\n### ") if f"(`{key}`): " in block).rstrip()
        for page in (
            drawings.page_in_short((tmp_path / "claims.md").read_text(encoding="utf-8")),
            (ROOT / "docs/claims.md").read_text(encoding="utf-8").replace("\n## ", "\n### "),
        )
    )
    assert fresh == kept
    for file in sorted((tmp_path / "claims").glob("*.json")):
        trace = json.loads(file.read_text(encoding="utf-8"))
        assert drawings.in_short(trace) == (ROOT / "docs/claims" / file.name).read_text("utf-8")
