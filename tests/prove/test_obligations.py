"""Proved and failed obligations, their reports, and limits on the time of the solver."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from xml.etree import ElementTree

import pytest
import z3
from attrs import evolve

from antecede.checker.prove import front, report, vacuity
from antecede.checker.prove.finite import true_in
from antecede.checker.prove.formula import Structure
from antecede.checker.prove.front import model_named
from antecede.checker.prove.obligations import Answer, ask, obligations, prove, smt2
from antecede.checker.prove.stock import LIFE_OF_A_POST
from antecede.checker.prove.vocabulary import (
    MESSAGE,
    Model,
    Relation,
    actors,
    knows,
    messages,
    sent,
)
from antecede.cli import main
from antecede.protocols import PROOFS

FAILURES = {
    "unordered": "tainted-waits-behind after post",
    "cykas-secret-mode": "others-keep-still after post",
    "cykas-as-printed": "stops-for-a-reason after acknowledge",
    "cykas-yct-acked": "life-of-a-message after confirm",
    "rst-column": "taint-is-carried after causal-send",
    "tree-ring": "tainted-is-behind after causal-send",
    "sps-alone": "its-receiver-knows-delivered after deliver",
}
"""Broken protocol -> the first obligation that fails."""


@pytest.mark.parametrize("name", PROOFS)
def test_what_should_be_is_proved_and_broken_protocols_fail_where_they_are_broken(
    name: str,
) -> None:
    model = model_named(name)
    proof = prove(model)
    assert model.expected == str(proof.answer)
    failed = [one.obligation.name for one in proof.failed]
    assert FAILURES.get(name) == (failed[0] if failed else None)
    assert all(one.example is not None for one in proof.failed)


def test_a_counterexample_to_induction_is_shown_in_words_and_as_a_picture() -> None:
    shown = report.text(prove(model_named("unordered")))
    assert "m1 is network-sent" in shown
    assert "R was causal-sent before m1 by the same actor" in shown
    assert "need not be reachable" in shown


@pytest.mark.integration
def test_what_the_solver_does_not_decide_in_time_is_unknown() -> None:
    """Only infinite structures refute it, and such ones are not looked for without end."""
    proof = prove(endless(), timeout=2.0)
    assert Answer.UNKNOWN is proof.answer
    assert ["causal-delivery safety"] == [one.obligation.name for one in proof.failed]
    assert "the solver's reason" in report.text(proof)
    assert "UNKNOWN" in report.junit(proof)


@pytest.mark.integration
def test_nothing_is_proved_from_axioms_that_may_be_contradictory() -> None:
    """All obligations are proved, but no known system satisfies the axioms."""
    undecided = vacuity.sense(endless(), 0.3).undecided
    assert "the axioms are true of some system" in undecided
    shown = prove(model_named("mfss"))
    assert Answer.PROVED is shown.answer
    proof = evolve(shown, undecided=undecided)
    assert Answer.UNKNOWN is proof.answer
    assert "UNKNOWN: whether the axioms are true of some system" in report.text(proof)
    assert undecided == tuple(report.as_object(proof)["undecided"])


def endless() -> Model:
    """Return a model whose messages are in an order without end, and that claims nonsense."""
    less = Relation("less", (MESSAGE, MESSAGE), "{0} is before {1}", rigid=True)
    x, y, z = messages("x y z")
    order = z3.And(
        z3.ForAll([x], z3.Not(less(x, x))),
        z3.ForAll([x, y, z], z3.Implies(z3.And(less(x, y), less(y, z)), less(x, z))),
        z3.ForAll([x], z3.Exists([y], less(x, y))),
    )
    mfss = model_named("mfss")
    return evolve(
        mfss,
        relations=(*mfss.relations, less),
        axioms=(("an order without end", order),),
        conjuncts=(LIFE_OF_A_POST,),
        quiescent=None,
    )


@pytest.mark.parametrize(
    "name",
    [
        name if name in ("mfss", "rst-column") else pytest.param(name, marks=pytest.mark.slow)
        for name in PROOFS
    ],
)
def test_cvc5_agrees_about_every_obligation(name: str) -> None:
    for obligation in obligations(model_named(name)):
        expected = {Answer.PROVED: "unsat", Answer.FAILED: "sat"}[ask(obligation).answer]
        assert cvc5_answer(smt2(obligation)) == expected, obligation.name


def cvc5_answer(text: str) -> str:
    """Return what cvc5 says of an SMT-LIB file; it looks for finite models, too."""
    import cvc5

    solver = cvc5.Solver()
    solver.setOption("tlimit-per", "20000")
    solver.setOption("finite-model-find", "true")
    parser = cvc5.InputParser(solver)
    parser.setStringInput(cvc5.InputLanguage.SMT_LIB_2_6, text, "obligation")
    symbols, answer = parser.getSymbolManager(), ""
    while not (command := parser.nextCommand()).isNull():
        answer += str(command.invoke(solver, symbols))
    return answer.strip()


def test_the_command_says_proved_and_never_holds(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["prove", "mfss"]) == 0
    shown = capsys.readouterr().out
    assert "PROVED" in shown
    assert "HOLDS" not in shown
    assert "LINKED" not in shown


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        (["unordered"], 0),
        (["unordered", "--expect", "proved"], 1),
        (["mfss", "--expect", "failed"], 1),
        (["mfsss"], 2),
        (["ks"], 2),
    ],
)
def test_exit_codes(arguments: list[str], code: int) -> None:
    assert main(["prove", "--quiet", *arguments]) == code


@pytest.mark.integration
def test_an_unknown_answer_has_an_exit_code_of_its_own(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(front, "model_named", lambda *_: endless())
    assert main(["prove", "--quiet", "--timeout", "0.3", "endless"]) == 3


def test_results_are_written(tmp_path: Path) -> None:
    files = [str(tmp_path / name) for name in ("a.json", "a.xml")]
    outputs = ["--json", files[0], "--junit", files[1], "--smt2", str(tmp_path / "smt2")]
    assert main(["prove", "unordered", "--quiet", *outputs]) == 0
    found = json.loads(Path(files[0]).read_text())
    assert found["answer"] == "FAILED"
    assert found["as_expected"]
    failed = [one for one in found["obligations"] if one["answer"] == "FAILED"]
    assert failed[0]["counterexample_to_induction"]["happens"] == "m1 is network-sent"
    suite = ElementTree.parse(files[1]).getroot()[0]
    assert (suite.get("tests"), suite.get("failures")) == ("33", "0")
    assert len(list((tmp_path / "smt2").iterdir())) == 32


def test_a_proof_can_stand_in_a_file_of_ones_own(tmp_path: Path) -> None:
    file = tmp_path / "mine.py"
    file.write_text("from antecede.protocols.mfss_proof import MFSS\n")
    assert main(["prove", "--quiet", f"{file}:MFSS"]) == 0
    assert main(["prove", "--quiet", f"{file}:MSS"]) == 2


@pytest.mark.integration
def test_without_the_solver_the_command_says_what_to_install() -> None:
    script = (
        "import sys; sys.modules['z3'] = None; from antecede.cli import main; "
        "sys.exit(main(['prove', 'mfss']))"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True)
    assert done.returncode == 2
    assert "[prove]" in done.stderr


def test_a_formula_without_a_second_reading_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "mine.py"
    file.write_text(ARITHMETIC)
    assert main(["prove", "--quiet", str(file)]) == 2


ARITHMETIC = """
import z3
from attrs import evolve
from antecede.checker.prove import vocabulary as v
from antecede.protocols import mfss_proof
k = z3.Int("k")
odd = v.Conjunct("odd", "nonsense", z3.ForAll([k], k > 1))
MINE = evolve(mfss_proof.MFSS, conjuncts=(odd,))
"""


def test_the_two_readings_agree_that_distinct_means_all_of_them() -> None:
    formula = z3.Exists(messages("x y z"), z3.Distinct(*messages("x y z")))
    two = Structure({"Actor": 1, "Message": 2}, {})
    three = Structure({"Actor": 1, "Message": 3}, {})
    assert (False, True) == (true_in(two, formula), true_in(three, formula))


def test_variables_of_two_sorts_may_have_one_name() -> None:
    message, actor = messages("v"), actors("v")
    structure = Structure({"Actor": 2, "Message": 2}, {"sent": 0b10, "knows": 0b01})
    formula = z3.And(sent(message), knows(actor))
    assert true_in(structure, formula, (message, actor), (1, 0))
    assert not true_in(structure, formula, (message, actor), (0, 1))


@pytest.mark.parametrize("folder", ["/proc/none", "/dev/null/none"])
def test_a_folder_that_cannot_be_made_is_named(folder: str) -> None:
    assert main(["prove", "--quiet", "mfss", "--smt2", folder]) == 2
