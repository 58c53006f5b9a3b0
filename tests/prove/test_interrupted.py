"""A signal ends a proof, and the report lists proved and undecided obligations."""

from __future__ import annotations

import io
import json
import os
import re
import signal
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import z3

from antecede.checker.prove import front, mutants, suggest
from antecede.checker.prove.front import declared, model_named
from antecede.checker.prove.link import link
from antecede.checker.prove.obligations import Answer, Proof, ask, obligations, prove
from antecede.checker.prove.report import short, text
from antecede.checker.prove.solver import check, solver_for
from antecede.checker.prove.validate import validate
from antecede.checker.render.ticker import Ticker
from antecede.checker.support import interrupts
from antecede.checker.support.interrupts import Ended
from tests.prove.test_obligations import endless
from tests.support.test_interrupts import WITHIN, Start, starting

ENDLESS = """
import sys
import z3
from attrs import evolve
from antecede.checker.prove import front
from antecede.checker.prove.stock import acknowledged
from antecede.checker.prove.vocabulary import MESSAGE, Conjunct, Relation, messages
from antecede.protocols.mfss_proof import MFSS


def watch(done, every, obligation):
    print("asks about", obligation.name, file=sys.stderr, flush=True)


front.watching = lambda _ticker: watch
less = Relation("less", (MESSAGE, MESSAGE), "{0} is before {1}", rigid=True)
x, y, z = messages("x y z")
ENDLESS = z3.And(
    z3.ForAll([x], z3.Not(less(x, x))),
    z3.ForAll([x, y, z], z3.Implies(z3.And(less(x, y), less(y, z)), less(x, z))),
    z3.ForAll([x], z3.Exists([y], less(x, y))),
)
NONE = z3.ForAll([x], z3.Not(acknowledged(x)))
HARD = Conjunct("hard", "only infinite states refute it", z3.Implies(ENDLESS, NONE))
MODEL = evolve(MFSS, relations=(*MFSS.relations, less), conjuncts=(*MFSS.conjuncts, HARD))
"""
"""A model with an obligation that keeps the solver busy until its timeout."""


@pytest.fixture
def proving(tmp_path: Path) -> Start:
    """Start a proof; return when the solver is asked what it cannot answer."""
    (tmp_path / "endless.py").write_text(ENDLESS)
    asked = ("prove", "endless.py:MODEL", "--timeout", 10 * WITHIN)
    return starting("asks about hard after acknowledge", *asked, cwd=tmp_path)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_a_signal_ends_the_solver_and_gives_the_report(
    proving: Start, tmp_path: Path, number: signal.Signals
) -> None:
    process = proving("--json", "found.json")
    os.killpg(process.pid, number)
    out, err = process.communicate(timeout=WITHIN)
    assert 3 == process.returncode, err
    reason = "interrupted by the user" if number == signal.SIGINT else f"ended by {number.name}"
    assert out.startswith(f"mfss: UNKNOWN: {reason} before everything was decided\n")
    assert re.search(r"acknowledge +6 of +7 obligations proved", out)
    claims = ["causal-delivery safety", "integrity safety", "nothing-undone at quiescence"]
    open_ones = ["hard after acknowledge", *claims]
    assert out.endswith(f"Not decided ({reason}):\n" + "".join(f"  {o}\n" for o in open_ones))
    assert "" == err
    found = json.loads((tmp_path / "found.json").read_text())
    assert (found["answer"], found["stopped_by"]) == ("UNKNOWN", reason)
    assert 34 == sum(one["answer"] == "PROVED" for one in found["obligations"])


def test_an_interrupted_proof_is_neither_varied_nor_linked(
    proving: Start,
) -> None:
    process = proving("--mutants", "--link", "--quiet")
    os.killpg(process.pid, signal.SIGINT)
    out, _ = process.communicate(timeout=WITHIN)
    assert (3, "UNKNOWN: mfss (interrupted by the user)\n") == (process.returncode, out)


# in this process


def interrupt(*_anything: object) -> None:
    """Do what Ctrl-C does."""
    signal.raise_signal(signal.SIGINT)


@pytest.fixture
def looking() -> Iterator[None]:
    """Handle signals as the command does."""
    with interrupts.handled(), interrupts.looking():
        yield


def test_the_live_line_is_taken_away_before_the_report(monkeypatch: pytest.MonkeyPatch) -> None:
    class Terminal(io.StringIO):
        def isatty(self) -> bool:
            return True

    monkeypatch.setenv("COLUMNS", "40")
    terminal, obligation = Terminal(), next(iter(obligations(model_named("mfss"))))
    ticker = Ticker(terminal, now=iter(range(0, 1_000, 9)).__next__)
    front.watching(ticker)(3, 32, obligation)
    front.naming(ticker)("the conjunct tainted-waits-behind of the invariant")
    ticker.clear()
    first, second, after = terminal.getvalue().split("\r\x1b[K")[1:]
    assert "3 of 32 obligations decided;" == first
    assert "the conjunct tainted-waits-behind ..." == second
    assert "" == after


@pytest.mark.usefixtures("looking")
def test_what_was_proved_before_the_signal_is_kept() -> None:
    def watch(done: int, _every: int, _obligation: Any) -> None:
        if done == 5:
            interrupt()

    proof = prove(model_named("mfss"), watch=watch)
    answers = [one.answer for one in proof.shown]
    assert [Answer.PROVED] * 5 + [Answer.UNKNOWN] * 28 == answers
    assert "interrupted by the user" == proof.stopped_by
    assert 3 == front.exit_code(proof)


@pytest.mark.usefixtures("looking")
def test_what_failed_before_the_signal_is_shown_and_the_exit_code_is_3() -> None:
    def watch(_done: int, _every: int, obligation: Any) -> None:
        if obligation.where == "deliver":
            interrupt()

    proof = prove(model_named("unordered"), watch=watch)
    assert Answer.FAILED is proof.answer
    assert "FAILED: tainted-waits-behind after post" in text(proof)
    assert "FAILED: unordered (interrupted by the user)" == short(proof)
    assert 3 == front.exit_code(proof)


@pytest.mark.usefixtures("looking")
def test_a_link_ends_with_what_it_explored() -> None:
    model = model_named("mfss")
    linked = link(model, *declared(model, 3, 3, "full"), watch=interrupt)
    assert "interrupted by the user" == linked.stopped_by
    assert "NOT LINKED (interrupted by the user): no difference" in front.link_text(model, linked)
    assert 3 == front.exit_code(Proof(model, (), 0.0), linked)


@pytest.mark.usefixtures("looking")
def test_parts_that_were_not_tried_are_not_judged() -> None:
    tried = mutants.strength(model_named("fifo"), watch=interrupt)
    assert all(mutant.part.startswith("conjunct ") for mutant in tried.mutants)
    assert "interrupted by the user; the other parts were not tried" in mutants.text(tried)
    assert mutants.short(tried).endswith("(interrupted by the user)")
    assert 3 == front.exit_code(Proof(tried.model, (), 0.0), None, tried)


@pytest.mark.usefixtures("looking")
def test_suggestions_end_without_a_result() -> None:
    model = model_named("mfss")
    with pytest.raises(Ended, match="interrupted by the user"):
        suggest.suggest(model, *declared(model, 2, 2, "knowledge"), say=interrupt)


@pytest.mark.usefixtures("looking")
def test_the_solver_is_not_asked_after_a_signal() -> None:
    solver = solver_for(10 * WITHIN)
    solver.add(z3.BoolVal(True))
    descriptor = signal.set_wakeup_fd(-1)
    signal.set_wakeup_fd(descriptor)
    assert z3.sat == check(solver)
    interrupt()
    with pytest.raises(Ended):
        check(solver)
    assert descriptor == signal.set_wakeup_fd(descriptor)


@pytest.mark.parametrize("of_main_thread", [True, False])
def test_a_solver_that_misses_the_end_of_its_time_is_interrupted(of_main_thread: bool) -> None:
    every = obligations(validate(endless()))
    hard = next(each for each in every if ask(each, 2.0).answer is Answer.UNKNOWN)
    solver = solver_for(0.1)
    solver.set("timeout", 2**32 - 1)  # as if z3 did not look at the time
    solver.add(*hard.refutation())
    answers = list[Any]()
    asking = threading.Thread(target=lambda: answers.append(check(solver)))
    if of_main_thread:
        answers.append(check(solver))
    else:
        asking.start()
        asking.join()
    assert [z3.unknown] == answers
