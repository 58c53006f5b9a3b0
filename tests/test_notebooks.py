"""The notebooks of docs/notebooks, in a fresh kernel without a browser."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.notebooks import FOLDER, executed, names, pictures, texts, without_outputs

pytestmark = pytest.mark.integration

pytest.importorskip("nbclient")
pytest.importorskip("ipykernel")


def steps_of(picture: str) -> int:
    """Return the number of the last step in a picture of a run."""
    return max(map(int, re.findall(r'data-step="(\d+)"', picture)), default=0)


def actors_of(picture: str) -> list[str]:
    return list(dict.fromkeys(re.findall(r'<text class="name"[^>]*>([^<]+)<', picture)))


def test_notebooks_are_stored_without_outputs() -> None:
    stored = {name: (FOLDER / f"{name}.ipynb").read_text(encoding="utf-8") for name in names()}
    assert {name: without_outputs(name) for name in stored} == stored, "run `make notebooks`"


def test_a_first_protocol_is_broken_drawn_repaired_swept_and_saved(tmp_path: Path) -> None:
    notebook = executed("first-protocol", tmp_path)
    run, matrix = pictures(notebook)
    assert ["Alice", "Bob", "Carol"] == actors_of(run)
    assert 4 == steps_of(run)
    assert "causal-delivery VIOLATED after 4 transitions" in run
    shown = texts(notebook)
    assert "direct: VIOLATED\n  3 actors, 354 unique states" in shown[2]
    assert "repaired: HOLDS" in shown[4]
    assert 10 >= len(shown)
    for text in ("direct, network unordered, workload any", "VIOLATED (4)", "HOLDS 70,917", "3x2"):
        assert f">{text}<" in matrix
    saved = (tmp_path / "counterexample.svg").read_text("utf-8")
    assert saved.strip() == run.strip()
    assert (tmp_path / "sizes.svg").read_text("utf-8") == matrix


def test_a_bug_in_the_repair_changes_verdict_and_picture(tmp_path: Path) -> None:
    """The repair then holds back only messages of the same sender, as `fifo` does."""
    notebook = executed(
        "first-protocol",
        tmp_path,
        change=lambda source: source.replace(
            "if earlier.receiver == message.receiver",
            "if (earlier.receiver, earlier.sender) == (message.receiver, message.sender)",
        ),
    )
    _, repaired, matrix = pictures(notebook)
    assert "repaired: VIOLATED" in texts(notebook)[4]
    assert ["Alice", "Bob", "Carol"] == actors_of(repaired)
    assert 6 == steps_of(repaired)
    assert "causal-delivery VIOLATED after 6 transitions" in repaired
    assert ">VIOLATED (6)<" in matrix


def test_the_lesson_shows_what_it_says(tmp_path: Path) -> None:
    notebook = executed("lesson", tmp_path)
    story, _, lost = pictures(notebook)
    assert (["Alice", "Bob", "Carol"], 6) == (actors_of(story), steps_of(story))
    assert "causal-delivery VIOLATED after 6 transitions" in story
    assert (["Alice", "Bob"], 5) == (actors_of(lost), steps_of(lost))
    assert "all-delivered VIOLATED after 5 transitions" in lost
    shown = texts(notebook)
    assert (
        "Bob delivers m3 before m1, although m1 happened before m3: "
        "Alice sent m1, then m2; Carol delivered m2, then sent m3."
    ) in " ".join(shown[2].split())
    assert "<Sweep of 2 checks: 2 HOLDS>" in shown[3]
    assert "mfss: INCOMPLETE" in shown[4]
    assert "mfss: HOLDS" in shown[5]


@pytest.mark.slow
def test_the_results_of_the_papers_are_found_again(tmp_path: Path) -> None:
    notebook = executed("papers", tmp_path)
    cykas, matrix = pictures(notebook)
    assert (["Alice", "Bob", "Carol"], 9) == (actors_of(cykas), steps_of(cykas))
    assert "causal-delivery VIOLATED after 9 transitions" in cykas
    shown = texts(notebook)
    assert "'cykas-secret-mode': <Verdict.VIOLATED" in shown[2]
    assert ">VIOLATED (9)<" in matrix
    assert "22 claims: 21 CONFIRMED, 1 UNDECIDED" in shown[4]
    assert "<Proof of rst: PROVED>" in shown[5]


EXPLORES = """
from antecede import explore
from urllib.parse import urljoin
from urllib.request import Request, urlopen
from attrs import evolve

DIRECT = evolve(DIRECT, name="defined-again")
page = explore(DIRECT, actors=2)
cookie = urlopen(page.address).headers["Set-Cookie"].partition(";")[0]
shown = urlopen(Request(urljoin(page.address, "/"), headers={"Cookie": cookie}))
print("defined-again" in shown.read().decode())
page
"""

SHOWS_PROGRESS = """
from antecede.checker.api import progress

progress.DELAY = progress.CellTicker.LIVE = 0
with progress.progress() as ticker:
    ticker.show(lambda width: "level 1")
    ticker.show(lambda width: "level 2")
    import sys
    print("between", file=sys.stderr)
"""


def test_the_explorer_opens_in_the_cell_and_progress_is_one_line(tmp_path: Path) -> None:
    """The cells follow those that define protocols; the last two are the ones to look at."""
    notebook = executed(
        "first-protocol",
        tmp_path,
        EXPLORES,
        SHOWS_PROGRESS,
        change=lambda source: "" if re.search(r"\b(check|sweep|save)\(", source) else source,
    )
    *_, explored, progress = notebook.cells
    assert "True\n" == explored.outputs[0].text
    assert '<iframe src="http://127.0.0.1:' in explored.outputs[1].data["text/html"]
    (line,) = progress.outputs
    assert "level 2between" in line.text.replace("\r", "").replace("level 1", "")


def test_an_error_is_one_sentence(tmp_path: Path) -> None:
    misspelt = "get_ipython().run_cell('check(DIRECT, actor=3)');"
    notebook = executed(
        "first-protocol",
        tmp_path,
        misspelt,
        change=lambda source: "" if re.search(r"\b(check|sweep|save)\(", source) else source,
    )
    (shown,) = notebook.cells[-1].outputs
    assert ["InputError: unknown argument 'actor'; did you mean 'actors'?"] == shown.traceback
