"""The JSON schemas: of specs, which editors use, and of the files that commands write."""

from __future__ import annotations

import json
import re
import tomllib
from functools import cache
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from antecede.checker.check.spec import KINDS, spec_from
from antecede.checker.render.schemas import SCHEMAS, schema_text
from antecede.checker.support.errors import InputError
from tests.conftest import ROOT, Command

FILES = ROOT / "checker" / "schemas"
SPECS = sorted((ROOT / "specs").rglob("*.toml"))


@cache
def validator(name: str) -> Any:
    schema = json.loads(schema_text(name))
    jsonschema.Draft7Validator.check_schema(schema)
    return jsonschema.Draft7Validator(schema)


def problems(name: str, value: Any) -> list[str]:
    """Return what a schema finds wrong in a value, each with its place."""
    return [f"{each.json_path}: {each.message}" for each in validator(name).iter_errors(value)]


def test_every_schema_has_a_file() -> None:
    assert set(SCHEMAS) == {path.stem for path in FILES.iterdir()}


def test_the_command_prints_every_schema(antecede: Command) -> None:
    for name in SCHEMAS:
        assert schema_text(name) == antecede("list", "--schema", name).out


def test_a_schema_is_printed_alone(antecede: Command) -> None:
    done = antecede("list", "--schema", "spec", "mfss")
    assert 2 == done.code
    assert "leave out 'mfss'" in done.err


# The schema of specs


def test_the_schema_of_specs_is_up_to_date() -> None:
    """To write it again: antecede list --schema spec > checker/schemas/spec.json."""
    assert schema_text("spec") == (FILES / "spec.json").read_text(encoding="utf-8")


def test_the_schema_of_specs_has_every_key_with_a_description() -> None:
    keys = validator("spec").schema["properties"]
    assert set(KINDS) == set(keys)
    assert all(key["description"].endswith(".") for key in keys.values())


@pytest.mark.parametrize("file", SPECS, ids=lambda file: f"{file.parent.name}-{file.stem}")
def test_every_shipped_spec_fits_the_schema(file: Path) -> None:
    assert [] == problems("spec", tomllib.loads(file.read_text(encoding="utf-8")))


def test_the_examples_on_the_page_about_specs_fit_the_schema() -> None:
    page = (ROOT / "docs" / "specs.md").read_text(encoding="utf-8")
    examples = re.findall(r"```toml\n(?!\[\[rule)(.*?)```", page, re.DOTALL)
    assert len(examples) > 3
    for example in examples:
        assert [] == problems("spec", {"protocol": "mfss", **tomllib.loads(example)})


ACCEPTED = [
    'protocol = "mfss"\nmax_memory = "500m"\nmax_seconds = 1',
    'protocol = "chat.py:CHAT"\nnetwork = "fifo+lossy:2"\nproperties = ["invariant:anything"]',
    'protocol = "pipe:./node"\nworkload = "endless:2"',
    'protocol = "mfss"\nworkload = { kind = "broadcast" }\nexpect = { verdict = "VIOLATED" }',
]

REFUSED = [
    "actors = 3",
    'protocol = "mfss"\nactor = 3',
    'protocol = "mfss"\nactors = 1',
    'protocol = "mfss"\nactors = "3"',
    'protocol = "mfsss"',
    'protocol = "mfss"\nnetwork = "fifoo"',
    'protocol = "mfss"\nhistory = "clock"',
    'protocol = "mfss"\nsearch = "breadth-first"',
    'protocol = "mfss"\nproperties = ["causal-delivry"]',
    'protocol = "mfss"\nworkload = "anyone"',
    'protocol = "mfss"\nworkload = { kind = "script", programs = [] }',
    'protocol = "mfss"\nworkload = { kind = "script", sends = [[1], [true], []] }',
    'protocol = "mfss"\nmax_memory = "4 gigabytes"',
    'protocol = "mfss"\nmax_states = 0',
    'protocol = "mfss"\nbound = ["mode"]',
    'protocol = "mfss"\nnames = { actor = ["A", "B", "C"] }',
    'protocol = "mfss"\nexpect = { verdict = "broken" }',
    'protocol = "mfss"\nexpect = { counts = { clocks = { unique = 1 } } }',
]


@pytest.mark.parametrize("text", ACCEPTED)
def test_the_schema_accepts_every_form_of_a_value(text: str) -> None:
    assert [] == problems("spec", tomllib.loads(text))


@pytest.mark.parametrize("text", REFUSED)
def test_the_schema_refuses_what_the_command_refuses(text: str) -> None:
    table = tomllib.loads(text)
    assert problems("spec", table)
    with pytest.raises(InputError):
        _ = spec_from(table).system
