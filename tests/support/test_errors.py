"""Errors for unknown names: which names they suggest, and how many they list."""

from __future__ import annotations

import pytest

from antecede.checker.support.errors import MOST_NAMES, InputError, check_known, unknown
from antecede.checker.support.registry import protocol_names
from tests.conftest import Command


@pytest.mark.parametrize(
    ("typed", "meant"),
    [("mffs", "mfss"), ("mfs", "mfss"), ("cykass", "cykas"), ("hybrid-bsaic", "hybrid-basic")],
)
def test_a_misspelt_protocol_is_suggested_without_the_whole_list(typed: str, meant: str) -> None:
    text = str(unknown("protocol", typed, protocol_names()))
    assert text.startswith(f"unknown protocol {typed!r}; did you mean {meant!r}")
    assert "available" not in text


def test_the_beginning_of_names_suggests_them() -> None:
    text = str(unknown("protocol", "hybrid", protocol_names()))
    assert "did you mean 'hybrid-basic' or 'hybrid-basic-as-printed' or " in text


def test_a_name_that_is_near_nothing_gets_the_whole_list() -> None:
    names = [f"name-{number}" for number in range(MOST_NAMES + 1)]
    text = str(unknown("thing", "quite another one", names))
    assert text == f"unknown thing 'quite another one'; available: {', '.join(sorted(names))}"


def test_few_names_are_listed_beside_a_suggestion() -> None:
    assert "unknown x 'pinng'; did you mean 'ping'? available: ping, pong" == str(
        unknown("x", "pinng", ["pong", "ping"])
    )


def test_swapped_letters_are_understood() -> None:
    assert "did you mean 'mfss'?" in str(unknown("protocol", "msff", protocol_names()))


def test_a_name_that_is_far_from_all_names_gets_no_guess() -> None:
    for typed in ("nope", "zzz", "x", "protocol", "specs"):
        assert "did you mean" not in str(unknown("protocol", typed, protocol_names()))


def test_an_option_suggests_the_options_that_it_begins(antecede: Command) -> None:
    said = antecede("check", "mfss", "--actor", 3).err
    assert "--actors" in said
    assert "--master" not in said
    assert "Did you mean" not in antecede("check", "mfss", "--zzzz").err


@pytest.mark.parametrize("value", ["onn", None, 5, ["on"], {"on": 1}])
def test_a_value_that_is_no_choice_is_refused_whatever_its_type(value: object) -> None:
    check_known("mode", "on", {"on": 1, "off": 2})
    with pytest.raises(InputError, match=r"unknown mode .* available: off, on"):
        check_known("mode", value, {"on": 1, "off": 2})
