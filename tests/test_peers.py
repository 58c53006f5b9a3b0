"""Spin and rumur, beside which the engine is measured, explore the same systems."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import pytest

from antecede.checker.search.result import Result
from benchmarks import peers, rumur
from benchmarks.peers import agree, explored, parsed, verifier
from benchmarks.verifiers import Found, compiler
from tests.conftest import method, search

pytestmark = pytest.mark.integration

needs_spin = pytest.mark.skipif(bool(peers.missing()), reason=peers.missing())
needs_rumur = pytest.mark.skipif(
    bool(rumur.missing()) or compiler() is None, reason=rumur.missing() or "no C compiler"
)
QUICKLY_COMPILED = "-O0"
SAID = """
State-vector 28 byte, depth reached 9, errors: 0
      787 states, stored
     1008 states, matched
     1795 transitions (= stored+matched)
    8.653	total actual memory usage
pan: elapsed time 0.01 seconds
"""


def engine(check: str) -> Result:
    protocol, bounds, history = check.split()
    actors, messages = bounds.split("x")
    options = method(engine="local", threads=1)
    return search(protocol, int(actors), int(messages), history=history, options=options)


@needs_spin
@pytest.mark.parametrize("way", peers.SPIN)
@pytest.mark.parametrize(
    "check",
    [
        "mfss 3x1 clocks",
        "cykas 3x2 knowledge",
        "rst 2x3 clocks",
        "rst 3x2 knowledge",
        "rst 4x1 clocks",
        "ses 2x3 knowledge",
        "ses 3x2 clocks",
        "ses 4x1 clocks",
    ],
)
def test_spin_stores_our_unique_states_after_our_total_states(
    check: str, way: str, tmp_path: Path
) -> None:
    counts, (compiled, options) = engine(check).counts, peers.SPIN[way]
    pan = verifier(check, tmp_path, QUICKLY_COMPILED, *compiled)
    found = explored(pan, counts.unique_states, *options)
    assert (counts.unique_states, counts.total_states) == (found.unique, found.total)
    assert "" == found.violated


@needs_spin
def test_spin_sees_that_a_secret_is_told_in_secret_mode(tmp_path: Path) -> None:
    check = "cykas-secret-mode 3x2 clocks"
    spin = explored(verifier(check, tmp_path, QUICKLY_COMPILED), 0)
    assert "stamp[" in spin.violated
    assert "VIOLATED" == engine(check).verdict.name
    with pytest.raises(SystemExit, match=r"Spin: this assertion fails: .*stamp"):
        agree(check, "Spin", spin)


@needs_spin
def test_spin_sees_that_a_message_stays_in_a_buffer_for_ever(tmp_path: Path) -> None:
    models = shutil.copytree(peers.MODELS, tmp_path / "models")
    posts_no_more = "unacknowledged[i]--"
    text = (models / "mfss.pml").read_text(encoding="utf-8")
    assert f"{posts_no_more}; post(i)" in text
    changed = text.replace(f"{posts_no_more}; post(i)", posts_no_more)
    (models / "mfss.pml").write_text(changed, encoding="utf-8")
    pan = verifier("mfss 2x2 clocks", tmp_path, QUICKLY_COMPILED, models=models)
    assert "0" == explored(pan, 0).violated


@needs_spin
@pytest.mark.parametrize(
    ("protocol", "merges"),
    [
        ("rst", "SENT[j] = 0 EACH_PAIR(larger_sent);"),
        ("ses", "merge(V_P(j, k), V_M(m, k))"),
    ],
)
def test_spin_sees_that_a_receiver_forgets_what_the_sender_knew(
    protocol: str, merges: str, tmp_path: Path
) -> None:
    models = shutil.copytree(peers.MODELS, tmp_path / "models")
    text = (models / f"{protocol}.pml").read_text(encoding="utf-8")
    assert merges in text
    changed = text.replace(merges, "skip;")
    (models / f"{protocol}.pml").write_text(changed, encoding="utf-8")
    pan = verifier(f"{protocol} 3x2 clocks", tmp_path, QUICKLY_COMPILED, models=models)
    assert "stamp[" in explored(pan, 0).violated


@needs_spin
def test_spin_sees_that_a_message_waits_in_the_mail_room_for_ever(tmp_path: Path) -> None:
    models = shutil.copytree(peers.MODELS, tmp_path / "models")
    text = (models / "mail_room.pml").read_text(encoding="utf-8")
    asks_again = "next = 0\n    :: else"
    assert asks_again in text
    changed = text.replace(asks_again, "break\n    :: else")
    (models / "mail_room.pml").write_text(changed, encoding="utf-8")
    pan = verifier("rst 2x2 clocks", tmp_path, QUICKLY_COMPILED, models=models)
    assert "0" == explored(pan, 0).violated


@needs_spin
def test_a_model_that_spin_refuses_is_shown(tmp_path: Path) -> None:
    with pytest.raises(SystemExit, match="give -DACTORS=2 to -DACTORS=4"):
        verifier("mfss 9x1 clocks", tmp_path)


def test_counts_are_read() -> None:
    assert Found(787, 1795, 0.01, 8.653e6) == parsed(SAID)


def test_a_number_of_transitions_that_spin_rounds_is_added_up() -> None:
    rounded = SAID.replace("1795 transitions", "1.7950000e+03 transitions")
    assert 1795 == parsed(rounded).total


def test_with_symmetry_our_counts_are_those_without_it() -> None:
    result = {"unique_states": 787, "total_states": 1795, "seconds": 1.0, "peak_memory_bytes": 2.0}
    asked: list[str] = []

    def check(row: str) -> dict[str, Any]:
        asked.append(row)
        return {**result, "explored": {"unique_states": 140, "total_states": 310}}

    cells = [peers._ours(check, "mfss 3x1 clocks", options) for options in peers.OURS.values()]
    assert [(787, 1795)] * 3 == [(cell.unique, cell.total) for cell in cells]
    assert [row for row in asked if "symmetry" in row] == asked[:2]


def test_rumur_has_models_of_the_protocols_of_spin() -> None:
    names = ("mfss", "cykas", "rst", "ses", "ks")
    has = {name for name in names if rumur.model(f"{name} 3x1 clocks").exists()}
    assert {"mfss", "cykas", "rst", "ses"} == has
    assert has == {name for name in names if (peers.MODELS / f"{name}.pml").exists()}


@pytest.mark.parametrize(
    ("was", "said", "complaint"),
    [
        ("787 states, stored", "", "has nothing like.*states, stored"),
        ("787 states", "1.0787e+08 states", "'1.0787e.08' is no exact count"),
        ("errors: 0", "errors: 1\npan:1: invalid end state (at depth 3)", "no failed assertion"),
        ("errors: 0", "errors: 0\nWarning: Search not completed", "did not complete its search"),
        ("errors: 0", "errors: 0\nerror: max search depth too small", "not search deeper than -m"),
    ],
)
def test_what_is_no_full_search_is_refused(was: str, said: str, complaint: str) -> None:
    assert was in SAID
    with pytest.raises(SystemExit, match=complaint):
        parsed(SAID.replace(was, said))


def test_counts_that_differ_are_an_error() -> None:
    spin, ours = Found(787, 1795, 1, 1), Found(787, 1796, 1, 1)
    agree("mfss 3x1 clocks", "Spin", spin, spin)
    with pytest.raises(SystemExit, match=r"Spin: 787 unique of 1,795 .* 787 unique of 1,796 total"):
        agree("mfss 3x1 clocks", "Spin", spin, ours)


def test_without_spin_there_is_a_sentence(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    assert "Spin is not installed" in peers.missing()
    (tmp_path / "spin").touch(mode=0o755)
    assert "There is no C compiler" in peers.missing()


@needs_rumur
@pytest.mark.parametrize(
    ("check", "threads"),
    [
        ("mfss 3x1 clocks", 1),
        ("mfss 3x1 clocks", 2),
        ("cykas 3x2 knowledge", 1),
        ("cykas 3x2 knowledge", 2),
        ("rst 2x3 clocks", 2),
        ("rst 3x2 knowledge", 1),
        ("ses 2x3 knowledge", 2),
        ("ses 3x2 clocks", 1),
    ],
)
def test_rumur_stores_our_unique_states_after_our_total_states(
    check: str, threads: int, tmp_path: Path
) -> None:
    counts = engine(check).counts
    built = rumur.verifier(check, tmp_path, threads, counts.unique_states, QUICKLY_COMPILED)
    found = rumur.explored(built)
    assert (counts.unique_states, counts.total_states) == (found.unique, found.total)
    assert "" == found.violated
    assert found.peak > 0


@needs_rumur
@pytest.mark.parametrize("size", ["2x3", "3x2"])
def test_with_symmetry_rumur_stores_our_representatives(size: str, tmp_path: Path) -> None:
    actors, messages = map(int, size.split("x"))
    options = method(engine="local", threads=1, symmetry=True)
    counts = search("rst", actors, messages, history="clocks", options=options).counts
    check = f"rst_symmetric {size} clocks"
    found = rumur.explored(rumur.verifier(check, tmp_path, 1, 0, QUICKLY_COMPILED))
    assert (counts.unique_states, counts.total_states) == (found.unique, found.total)
    assert "" == found.violated


@needs_rumur
@pytest.mark.parametrize(
    "check", ["mfss 2x2 clocks 1", "mfss 3x1 clocks 1", "mfss 3x1 knowledge 2", "mfss 3x1 clocks 3"]
)
def test_rumur_stores_our_states_if_actors_crash(check: str, tmp_path: Path) -> None:
    protocol, bounds, history, crashes = check.split()
    actors, messages = map(int, bounds.split("x"))
    safe = ("causal-delivery", "integrity")
    asked: dict[str, Any] = {"history": history, "crashes": crashes, "properties": safe}
    counts = search(protocol, actors, messages, options=method(engine="plain"), **asked).counts
    found = rumur.explored(rumur.verifier(check, tmp_path, 1, 0, QUICKLY_COMPILED))
    assert (counts.unique_states, counts.total_states) == (found.unique, found.total)
    assert "" == found.violated


@needs_rumur
def test_rumur_sees_that_a_secret_is_told_in_secret_mode(tmp_path: Path) -> None:
    check = "cykas-secret-mode 3x2 clocks"
    found = rumur.explored(rumur.verifier(check, tmp_path, 1, 0, QUICKLY_COMPILED))
    assert "causal delivery" in found.violated
    with pytest.raises(SystemExit, match=r"rumur: this assertion fails: .*causal delivery"):
        agree(check, "rumur", found)


@needs_rumur
def test_rumur_sees_that_a_message_stays_in_a_buffer_for_ever(tmp_path: Path) -> None:
    shutil.copytree(peers.MODELS, tmp_path / "spin")
    models = shutil.copytree(rumur.MODELS, tmp_path / "rumur")
    posts = "undefine unacknowledged[i]; \\\n    post(i); \\\n"
    text = (models / "mfss.m").read_text(encoding="utf-8")
    assert posts in text
    changed = text.replace(posts, posts.replace("post(i);", ""))
    (models / "mfss.m").write_text(changed, encoding="utf-8")
    built = rumur.verifier("mfss 2x2 clocks", tmp_path, 1, 0, QUICKLY_COMPILED, models=models)
    assert "a message is never delivered" in rumur.explored(built).violated


@needs_rumur
@pytest.mark.parametrize(
    ("check", "file", "step", "violated"),
    [
        ("rst 3x2 clocks", "rst.m", "SENT[j] := 0 EACH_PAIR(larger_sent);", "causal"),
        ("ses 3x2 clocks", "ses.m", "V_P(j, k) := later(V_P(j, k), V_M(i, m, k));", "causal"),
        ("rst 2x2 clocks", "mail_room.m", "if held_back != 0 then deliver_all(j); end;", "never"),
    ],
)
def test_rumur_sees_that_a_receiver_leaves_out_a_step(
    check: str, file: str, step: str, violated: str, tmp_path: Path
) -> None:
    shutil.copytree(peers.MODELS, tmp_path / "spin")
    models = shutil.copytree(rumur.MODELS, tmp_path / "rumur")
    text = (models / file).read_text(encoding="utf-8")
    assert step in text
    (models / file).write_text(text.replace(step, ""), encoding="utf-8")
    built = rumur.verifier(check, tmp_path, 1, 0, QUICKLY_COMPILED, models=models)
    assert violated in rumur.explored(built).violated


@needs_rumur
def test_a_model_that_the_preprocessor_refuses_is_shown(tmp_path: Path) -> None:
    with pytest.raises(SystemExit, match="give -DACTORS=2 to -DACTORS=4"):
        rumur.verifier("mfss 9x1 clocks", tmp_path, 1, 0)


@pytest.mark.parametrize(
    ("said", "complaint"),
    [
        ("", "has nothing like.*summary"),
        ('<summary states="7" errors="0"/>', "has nothing like.*rules_fired"),
        ('<summary states="7" rules_fired="9" errors="1"/>', "has nothing like.*message"),
    ],
)
def test_what_is_no_full_search_of_rumur_is_refused(said: str, complaint: str) -> None:
    with pytest.raises(SystemExit, match=complaint):
        rumur.parsed(said)


def test_a_verifier_of_rumur_that_crashes_is_an_error(tmp_path: Path) -> None:
    crashing = tmp_path / "verifier"
    crashing.write_text("#!/bin/sh\nkill -SEGV $$\n", encoding="utf-8")
    crashing.chmod(0o755)
    with pytest.raises(SystemExit, match="exit code -11"):
        rumur.explored(crashing)


def test_without_rumur_there_is_a_sentence(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    assert "rumur is not installed" in rumur.missing()
