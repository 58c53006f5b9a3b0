"""An error has a code, the parameter, the wrong value and the choices."""

from __future__ import annotations

import pickle
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import antecede.checker
from antecede import check, sweep
from antecede.checker.support.errors import CODES, InputError, NumbersError, unknown
from tests.conftest import ROOT

CHECKER = Path(antecede.checker.__path__[0])


@pytest.mark.parametrize(
    ("call", "arguments", "code", "parameter", "value"),
    [
        (check, {"max_states": -1}, "too-small", "max_states", -1),
        (check, {"max_states": 10**40}, "too-large", "max_states", 10**40),
        (check, {"max_seconds": float("inf")}, "not-finite", "max_seconds", "inf"),
        (check, {"actors": True}, "wrong-kind", "actors", True),
        (check, {"search": "width"}, "unknown-name", "search", "width"),
        (check, {"network": "ordered"}, "unknown-name", "network", "ordered"),
        (check, {"properties": "order"}, "unknown-name", "property", "order"),
        (check, {"clock_at": "x"}, "unknown-name", "clock_at", "x"),
        (check, {"master": "local[2]"}, "engine-lacks-option", "master", "local[2]"),
        (check, {"engine": "spark", "search": "random"}, "engine-lacks-search", "search", "random"),
        (check, {"engine": "local", "actors": 17}, "engine-lacks-question", "actors", 17),
        (sweep, {"on": "there"}, "unknown-name", "on", "there"),
        (sweep, {"on": "spark", "workers": 2}, "place-lacks-option", "workers", 2),
        (sweep, {"master": "x"}, "place-lacks-option", "master", "x"),
    ],
)
def test_an_error_says_what_is_wrong(
    call: Callable[..., Any], arguments: dict[str, Any], code: str, parameter: str, value: object
) -> None:
    with pytest.raises(InputError) as raised:
        call("fifo", **{"actors": 2, "messages": 1, **arguments})
    error = raised.value
    assert (error.code, error.parameter, error.value) == (code, parameter, value)


def test_another_process_and_another_sentence_keep_the_code() -> None:
    error = unknown("engine", ["x"], ["plain", "local"], "engine")
    for same in (pickle.loads(pickle.dumps(error)), error.reworded("in a file")):
        assert (same.code, same.parameter) == ("unknown-name", "engine")
        assert (same.value, same.choices) == ("['x']", ("local", "plain"))


def test_the_error_about_numbers_survives_another_process() -> None:
    error = NumbersError("mine")
    assert str(pickle.loads(pickle.dumps(error))) == str(error)
    assert str(error).count("mine") == str(error).count("looks at") == 1


def test_the_page_has_the_table_of_codes() -> None:
    page = (ROOT / "docs" / "files.md").read_text(encoding="utf-8")
    section = page.partition("\n## Errors\n")[2].partition("\n## ")[0]
    assert dict(re.findall(r"^\| `(.+)` \| (.+) \|$", section, re.MULTILINE)) == CODES


def test_the_table_has_the_codes_that_the_sources_use() -> None:
    written = re.compile(r'\bcode ?= ?"([a-z-]+)"|_out_of_range\(known, value, "([a-z-]+)"')
    texts = [file.read_text() for file in CHECKER.rglob("*.py")]
    used = {a or b for text in texts if "InputError" in text for a, b in written.findall(text)}
    assert used == set(CODES)
