"""The class of computations that a protocol generates, and the command that reports it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from attrs import evolve

import antecede
from antecede import Step
from antecede.checker.support.errors import InputError
from antecede.protocols.mfss import MFSS
from tests.conftest import Command

CROWN = "script:[[2,3],[3,2],[],[]]"
NESTED = "script:[[1,2],[0,3],[0],[1]]"


@pytest.mark.integration
def test_mfss_generates_exactly_the_mailbox_computations() -> None:
    result = antecede.classes("mfss", actors=4)
    assert ("1-n", "mailbox") == result.exactly
    assert (898, 897) == result.counts["causal"]
    assert result.missing is not None
    assert 8 == result.missing.length


@pytest.mark.integration
def test_rst_generates_exactly_the_causal_computations() -> None:
    assert ("causal",) == antecede.classes("rst", actors=4).exactly


@pytest.mark.slow
def test_cykas_lies_strictly_between_mailbox_and_causal() -> None:
    """It generates the crown, but not every nested crown: then each sender waits for the other."""
    result = antecede.classes("cykas", actors=4, workload=[CROWN, NESTED])
    assert () == result.exactly
    assert "mailbox" == result.contained[-1]
    assert "causal" == result.containing[0]
    assert result.missing is not None
    assert 12 == result.missing.length


def test_cykas_generates_a_crown_that_mfss_does_not() -> None:
    assert "causal" in antecede.classes("cykas", actors=4, workload=CROWN).exactly
    mfss = antecede.classes("mfss", actors=4, workload=CROWN)
    assert "mailbox" == mfss.exactly[-1]


def test_a_script_that_only_renames_a_program_is_left_out() -> None:
    once = antecede.classes("mfss", max_messages=2)
    again = antecede.classes("mfss", max_messages=2, workload=["any", "script:[[],[],[1]]"])
    assert once.counts == again.counts


def test_a_protocol_that_delivers_on_arrival_generates_every_computation() -> None:
    result = antecede.classes("unordered")
    assert ("asynchronous",) == result.exactly
    assert result.missing is None


def test_numbers_on_channels_give_exactly_the_fifo_computations() -> None:
    assert ("fifo",) == antecede.classes("fifo").exactly


def test_a_protocol_that_never_delivers_generates_no_computation() -> None:
    silent = evolve(MFSS, name="silent", receive=lambda state, _src, _packet: Step(state))
    result = antecede.classes(silent, max_messages=1)
    assert () == result.exactly
    assert (1, 0) == result.counts["asynchronous"]
    assert "is not delivered" in str(result)


def test_names_of_actors_that_matter_are_all_tried() -> None:
    """The tree protocol has neighbours, so a script and its renaming have different runs."""
    text = str(antecede.classes("tree", max_messages=2))
    assert "up to the names" not in text
    assert "up to the names" in str(antecede.classes("mfss", max_messages=2))


def test_a_result_that_is_not_as_expected_fails_a_test() -> None:
    result = antecede.classes("mfss", max_messages=3)
    assert result is result.expect("mailbox")
    with pytest.raises(AssertionError, match="mfss generates exactly these"):
        result.expect("fifo")
    with pytest.raises(InputError, match="unknown class 'mailbx'"):
        result.expect("mailbx")


def test_another_workload_is_refused() -> None:
    with pytest.raises(InputError, match="give workload='any', or script:JSON"):
        antecede.classes("mfss", workload="broadcast")


def test_the_command_reports_the_class_and_draws_a_missing_computation(
    antecede: Command, tmp_path: Path
) -> None:
    json_file, picture = tmp_path / "classes.json", tmp_path / "missing.svg"
    done = antecede(
        *("classes", "mfss", "--actors", "4", "--workload", CROWN),
        *("--json", str(json_file), "--trace", str(picture), "--expect", "mailbox"),
    )
    assert 0 == done.code, done.err
    assert "A smallest causal computation that mfss does not generate (4 messages):" in done.out
    assert "It is no proof for larger programs." in done.out
    found = json.loads(json_file.read_text(encoding="utf-8"))
    assert found["classes"]["causal"]["computations"] > found["classes"]["causal"]["generated"]
    assert "causal" == found["missing"]["class"]
    assert picture.read_text(encoding="utf-8").startswith("<svg")


def test_another_class_than_expected_gives_exit_code_1(antecede: Command) -> None:
    done = antecede("classes", "mfss", "--max-messages", "3", "--expect", "fifo")
    assert 1 == done.code


def test_nothing_is_said_of_a_class_if_no_program_was_enumerated() -> None:
    result = antecede.classes("mfss", max_states=1)
    assert () == result.exactly
    assert "No program was enumerated." in str(result)


def test_a_bound_that_ends_the_enumeration_gives_exit_code_3(antecede: Command) -> None:
    done = antecede("classes", "mfss", "--max-states", "100", "--expect", "mailbox")
    assert 3 == done.code
    assert "INCOMPLETE: --max-states 100 reached" in done.out
