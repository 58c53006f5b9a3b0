"""The mutants are made as their data say, and the checks notice; see docs/mutants.md."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
from attrs import evolve

from antecede.checker.model import Protocol, Step
from antecede.checker.support.registry import protocol_named
from tests.mutants import mutant, run
from tests.mutants.mutant import (
    EXPLANATIONS,
    FILES,
    Mutant,
    Mutants,
    Outcome,
    changed_source,
    detected,
    mutants_in,
    mutated,
)

PROTOCOLS = [
    *("fifo", "mfss", "mfss-fifo", "cykas", "cykas-yct-counted", "cykas-yct-named"),
    *("cykas-fair", "cykas-fair-bounded"),
    *("rst", "rst-before", "rst-no-deliv", "rst-few", "rst-mf", "rst-self", "ses", "ks"),
    *("cbcast", "newtop-null", "tree", "hybrid-basic", "hybrid-sps"),
    *("hybrid-cumulative", "hybrid-multicast"),
]
"""All that are correct on some network."""

ALL = [mutants_in(file) for file in FILES]
EVERY = [(mutants.protocol, one) for mutants in ALL for one in mutants.mutants]


def protocol_of(mutants: Mutants) -> str:
    return mutants.protocol


def named(protocol: str, name: str) -> Mutant:
    return next(one for of, one in EVERY if of == protocol and one.name == name)


def test_every_correct_protocol_has_its_mutants() -> None:
    assert PROTOCOLS == [mutants.protocol for mutants in ALL]
    assert [file.stem for file in FILES] == [mutants.protocol for mutants in ALL]
    assert all(len(mutants.mutants) >= 8 for mutants in ALL)


def test_names_are_given_once_and_survivors_explained() -> None:
    for mutants in ALL:
        names = [one.name for one in mutants.mutants]
        assert sorted(set(names)) == sorted(names), mutants.protocol
    for one in (one for mutants in ALL for one in mutants.mutants):
        assert not one.survives or one.survives.startswith(EXPLANATIONS), one.name
        assert one.survives.startswith("needs ") == bool(one.deeper), one.name


@pytest.mark.parametrize("mutants", ALL, ids=protocol_of)
def test_every_mutant_is_made_from_the_real_source_and_loads(mutants: Mutants) -> None:
    real = protocol_named(mutants.protocol)
    for one in mutants.mutants:
        assert one.new in changed_source(one)
        made = mutated(mutants.protocol, one)
        assert made.name == f"{mutants.protocol} with {one.name}"
        assert made.witnesses.keys() == real.witnesses.keys()


def test_making_a_mutant_leaves_the_real_modules_as_they_are() -> None:
    before = {name: module for name, module in sys.modules.items() if "protocols" in name}
    made = mutated("rst-before", named("rst-before", "delivers-one"))
    after = {name: module for name, module in sys.modules.items() if "protocols" in name}
    assert before == after
    assert made.initial(0, 2) != protocol_named("rst-before").initial(0, 2)  # of another class


def test_a_change_that_does_not_fit_the_source_is_refused() -> None:
    one = named("mfss", "does-not-wait")
    for wrong in (
        evolve(one, old="no such text"),
        evolve(one, old="state"),
        evolve(one, new=one.old),
    ):
        with pytest.raises(ValueError, match="does-not-wait: `old` occurs"):
            changed_source(wrong)


@pytest.mark.parametrize(
    "mutants",
    [
        pytest.param(each, marks=pytest.mark.integration)
        if protocol_of(each) == "newtop-null"
        else each
        for each in ALL
    ],
    ids=protocol_of,
)
def test_a_small_check_detects_a_mutant_and_not_the_real_protocol(mutants: Mutants) -> None:
    made = mutated(mutants.protocol, named(mutants.protocol, QUICK[mutants.protocol]))
    small = [spec for spec in mutants.checks if spec.actors * spec.messages <= 4]
    found, _ = detected(made, small, engine="plain")
    assert found is not None
    assert (None, ()) == detected(protocol_named(mutants.protocol), [found.spec], engine="plain")


QUICK = {
    "fifo": "numbers-forgotten",
    "mfss": "does-not-wait",
    "mfss-fifo": "delivers-twice",
    "cykas": "two-unacknowledged-per-receiver",
    "cykas-yct-counted": "ack-sends-nothing",
    "cykas-yct-named": "acks-taken-for-yct-acks",
    "cykas-fair": "two-unacknowledged-per-receiver",
    "cykas-fair-bounded": "sends-before-the-ack",
    "rst": "sends-not-counted",
    "rst-before": "sends-not-counted",
    "rst-no-deliv": "message-not-counted",
    "rst-few": "sends-not-counted",
    "rst-mf": "waits-for-itself",
    "rst-self": "counted-twice",
    "ses": "no-tick",
    "ks": "waits-for-more",
    "cbcast": "no-tick",
    "newtop-null": "no-null-packets-at-a-receive",
    "tree": "delivers-on-the-way",
    "hybrid-basic": "messages-not-repeated",
    "hybrid-sps": "no-repair-of-m2",
    "hybrid-cumulative": "ack-of-earlier-ones-only",
    "hybrid-multicast": "messages-not-repeated",
}
"""Of each protocol a mutant that the smallest checks detect."""


def endless(_state: object, _message: object) -> Step:
    while True:
        pass


def test_a_handler_that_does_not_return_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(mutant, "MOST_SECONDS", 0.05)
    real: Protocol = protocol_named("mfss")
    found, _ = detected(mutant.limited(evolve(real, causal_send=endless)), ALL[1].checks, "plain")
    assert found == Outcome(ALL[1].checks[0], "handler-returns", 1)


def judged(survives: str = "", outcome: Outcome | None = None, **values: object) -> run.Judged:
    one = evolve(named("mfss", "does-not-wait"), survives=survives)
    all_values = {"deeper": None, "unfinished": (), **values}
    return run.Judged("mfss", one, outcome, **all_values)  # type: ignore[arg-type]


FOUND = Outcome(ALL[1].checks[0], "integrity", 3)


@pytest.mark.parametrize(
    ("wrong", "expected"),
    [
        (judged(), "it survives unexplained"),
        (judged(unfinished=("3×3: too many",)), "it survives unexplained 3×3: too many"),
        (judged("equivalent: so it is", FOUND), "it is detected, but said to survive: "),
        (judged("equivalent: so it is", unfinished=("3×3: too many",)), "came to no end"),
        (judged("needs 4 actors: so it is"), "it survives the larger check, too"),
        (run.Judged("mfss", None, FOUND, None, ()), "the real protocol: 3×1 unordered: integrity"),
        (run.Judged("mfss", None, None, None, ("too many",)), "the real protocol: too many"),
    ],
)
def test_an_explanation_that_is_not_true_is_a_problem(wrong: run.Judged, expected: str) -> None:
    assert expected in wrong.problem
    assert any(expected in line for line in run.problems([wrong]))


def test_a_detected_mutant_and_an_explained_one_are_none() -> None:
    fine = [
        judged("", FOUND),
        judged("equivalent: so it is"),
        run.Judged("x", None, None, None, ()),
    ]
    assert ["", "", ""] == [one.problem for one in fine]
    assert run.Score(2, 1, 1) == run.score_of(fine)
    assert [] == run.problems(fine[:2])


def test_a_low_score_is_a_problem_even_if_all_is_explained() -> None:
    found = [judged("", FOUND), judged("needs 4 actors: so it is", deeper=FOUND)]
    assert ["mfss: the score is 50 %"] == run.problems(found)


def test_a_score_is_100_percent_only_if_no_mutant_survives() -> None:
    assert run.Score(410, 56, 354).cells.endswith("| 354 | 0 | 100 %")
    assert run.Score(410, 56, 353).cells.endswith("| 353 | 1 | 99.7 %")


def test_the_scores_on_the_page_are_counted_from_the_rows() -> None:
    page, rows = (file.read_text(encoding="utf-8") for file in (run.PAGE, run.ROWS))
    for mutants in ALL:
        lines = rows.partition(f"## {mutants.protocol}\n")[2].partition("\n## ")[0].splitlines()
        cells = [line.split(" | ")[-1] for line in lines if line.startswith("| ")][2:]
        same = sum(cell.startswith("*equivalent: ") for cell in cells)
        link = f"[{mutants.protocol}]({run.ROWS_FROM_PAGE}#{mutants.protocol})"
        assert f"| {link} | {len(cells)} | {same} | " in page


def test_the_rows_show_every_mutant() -> None:
    page = run.ROWS.read_text(encoding="utf-8")
    for mutants in ALL:
        lines = page.partition(f"## {mutants.protocol}\n")[2].partition("\n## ")[0].splitlines()
        rows = [f"| {one.name} | {one.breaks} |" for one in mutants.mutants]
        shown = [line for line in lines if line.startswith("| ") and not line.startswith("| ---")]
        assert len(rows) + 1 == len(shown)
        assert all(line.startswith(row) for row, line in zip(rows, shown[1:], strict=True))


@pytest.mark.slow
@pytest.mark.parametrize("file", FILES, ids=lambda file: Path(file).stem)
def test_the_checks_detect_every_mutant_that_is_not_explained(file: Path) -> None:
    found = run.run([file], processes=1)
    assert [] == run.problems(found)
    for one in found:
        if one.mutant is not None:
            assert run.row(one) in run.ROWS.read_text(encoding="utf-8")
