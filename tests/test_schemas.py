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
from antecede.checker.logs.report.summary import stopped_object
from antecede.checker.render.schemas import SCHEMAS, schema_text
from antecede.checker.support.errors import InputError
from tests.conftest import ROOT, Command

SPECS = sorted((ROOT / "specs").rglob("*.toml"))


@cache
def validator(name: str) -> Any:
    schema = json.loads(schema_text(name))
    jsonschema.Draft7Validator.check_schema(schema)
    return jsonschema.Draft7Validator(schema)


def problems(name: str, value: Any) -> list[str]:
    """Return what a schema finds wrong in a value, each with its place."""
    return [f"{each.json_path}: {each.message}" for each in validator(name).iter_errors(value)]


def test_the_command_prints_every_schema(antecede: Command) -> None:
    for name in SCHEMAS:
        assert schema_text(name) == antecede("list", "--schema", name).out


def test_a_schema_is_printed_alone(antecede: Command) -> None:
    done = antecede("list", "--schema", "spec", "mfss")
    assert 2 == done.code
    assert "leave out 'mfss'" in done.err


# The schema of specs


def test_the_schema_of_specs_has_every_key_with_a_description() -> None:
    keys = validator("spec").schema["properties"]
    assert set(KINDS) == set(keys)
    assert all(key["description"].endswith(".") for key in keys.values())


def test_every_shipped_spec_fits_the_schema() -> None:
    wrong = {
        str(file.relative_to(ROOT)): problems("spec", tomllib.loads(file.read_text("utf-8")))
        for file in SPECS
    }
    assert {} == {file: found for file, found in wrong.items() if found}


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
    'protocol = "mfss"\ncrashes = 1\nto_crashed = "lost"\nproperties = ["final:sent"]',
    'protocol = "mfss"\ncrashes = "1:of=0,2"\nbound = ["a.py:NAME"]\nproperties = ["a.py:B"]',
    """protocol = "cbcast"
workload = { kind = "script", sends = [[1, [1, 2], { to = [1], label = "edit" }], [], []] }""",
    """protocol = "mfss"
workload = { kind = "program", programs = [[{ send = "x", to = [1], label = 3 }], []] }""",
    'protocol = "mfss"\nworkload = { kind = "broadcast" }\nexpect = { verdict = "VIOLATED" }',
    'protocol = "mfss"\nexpect = { verdict = "violated", violates = "own.py:FEW" }',
]

REFUSED = [
    "actors = 3",
    'protocol = "mfss"\nactor = 3',
    'protocol = "mfss"\nactors = 1',
    'protocol = "mfss"\nactors = "3"',
    'protocol = "mfsss"',
    'protocol = "mfss"\nnetwork = "fifoo"',
    'protocol = "mfss"\nnetwork = "fifo+losy"',
    'protocol = "mfss"\nhistory = "clock"',
    'protocol = "mfss"\nsearch = "breadth-first"',
    'protocol = "mfss"\nproperties = ["causal-delivry"]',
    'protocol = "mfss"\nproperties = ["invariant:"]',
    'protocol = "mfss"\nexpect = { verdict = "violated", violates = "causal-delivry" }',
    'protocol = "mfss"\nworkload = "anyone"',
    'protocol = "mfss"\nworkload = { kind = "script", programs = [] }',
    'protocol = "mfss"\nworkload = { kind = "script", sends = [[1], [true], []] }',
    'protocol = "mfss"\nworkload = { kind = "script", sends = [[{ to = 1 }], [], []] }',
    'protocol = "mfss"\ncrashes = "one"',
    'protocol = "mfss"\ncrashes = "1:of=Alice"',
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


# The schemas of what commands write

LOG = """\
{"actor": "alice", "event": "causal-send", "message": "m1", "to": ["carol"]}
{"actor": "alice", "event": "causal-send", "message": "m2", "to": ["bob"]}
{"actor": "bob", "event": "deliver", "message": "m2"}
{"actor": "bob", "event": "causal-send", "message": "m3", "to": ["carol"]}
{"actor": "carol", "event": "deliver", "message": "m3"}
{"actor": "carol", "event": "deliver", "message": "m1"}
"""

NODE = """
class Node:
    def __init__(self, actor, actors):
        self.actor = actor

    def causal_send(self, out, message):
        for actor in message.destinations:
            out.send(actor, message)

    def receive(self, out, src, packet):
        out.deliver(packet)
"""

FAILING = """
from attrs import evolve

from antecede import Step
from antecede.protocols.unordered import UNORDERED

def fail(*_arguments):
    raise ValueError("this handler fails")

def forget(state, _src, _packet):
    return Step(state)

BAD = evolve(UNORDERED, name="bad", receive=fail)
FORGETFUL = evolve(UNORDERED, name="forgetful", receive=forget)
"""

WRITTEN = {
    "violated": ("result", 1, "check unordered --actors 2 --engine plain --selfcheck off"),
    "holds": (
        "result",
        0,
        "check mfss --actors 2 --messages 2 --coverage --engine plain",
    ),
    "vacuous": ("result", 3, "check mfss --actors 2 --messages 1 --engine plain"),
    "names": ("result", 0, "check examples/customer-shop-bank-figure-2-right --engine plain"),
    "endless": (
        "result",
        1,
        "check bad.py:FORGETFUL --actors 2 --workload endless:1 --engine plain",
    ),
    "growth": ("result", 3, "check mfss --actors 2 --bound held=1 --engine plain"),
    "failing": ("result", 2, "check bad.py:BAD --actors 2 --engine plain"),
    "stopped": ("result", 3, "check mfss --max-states 5 --engine plain --selfcheck off"),
    "several": ("result", 2, "check unordered absent.toml --actors 2 --engine plain"),
    "test": ("result", 1, "test node.py:Node --actors 2 --engine plain --selfcheck off"),
    "proof": ("prove", 0, "prove fifo --link --actors 2 --messages 1"),
    "classes": ("classes", 0, "classes fifo --messages 1"),
    "claims": ("claims", 0, "claims --claim mf-lemma-4 --engine plain"),
    "audit": ("audit", 1, "audit run.jsonl"),
}
"""A run -> the schema of its --json file, its exit code, and its command."""


def strict(schema: Any) -> Any:
    """Return a schema that also refuses keys that it does not name."""
    if isinstance(schema, list):
        return [strict(each) for each in schema]
    if not isinstance(schema, dict):
        return schema
    inner = {key: strict(each) for key, each in schema.items()}
    closed = {"additionalProperties": False} if "required" in schema else {}
    return inner | closed


def refused_by(name: str, value: Any) -> list[str]:
    """Return what a schema finds wrong in a file, and the keys that it does not name."""
    closed = jsonschema.Draft7Validator(strict(validator(name).schema))
    return [f"{each.json_path}: {each.message[:300]}" for each in closed.iter_errors(value)]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for name, text in {"run.jsonl": LOG, "node.py": NODE, "bad.py": FAILING}.items():
        (tmp_path / name).write_text(text, encoding="utf-8")
    return tmp_path


@pytest.mark.parametrize("run", WRITTEN)
def test_what_a_command_writes_fits_its_schema(antecede: Command, folder: Path, run: str) -> None:
    name, code, command = WRITTEN[run]
    done = antecede(*command.split(), "--json", "out.json", cwd=folder)
    assert code == done.code, done.err + done.out
    found = json.loads((folder / "out.json").read_text(encoding="utf-8"))
    assert [] == refused_by(name, found)


def test_an_audit_that_was_stopped_fits_the_schema() -> None:
    assert [] == refused_by("audit", stopped_object(["run.jsonl"], "--max-seconds 1 reached"))


def test_rare_parts_of_a_result_are_among_the_files(antecede: Command, folder: Path) -> None:
    found = {}
    for run in ("endless", "growth", "holds", "vacuous"):
        antecede(*WRITTEN[run][2].split(), "--json", "out.json", cwd=folder)
        found[run] = json.loads((folder / "out.json").read_text(encoding="utf-8"))
    assert "loop" in found["endless"]["counterexample"]
    assert found["growth"]["growth"]
    assert found["vacuous"]["vacuous"].keys() == {"causal-delivery"}
    assert found["holds"]["remarks"]
    assert found["holds"]["handlers"]


def test_a_trace_fits_its_schema(antecede: Command, folder: Path) -> None:
    antecede(*WRITTEN["violated"][2].split(), "--trace", folder / "t.json")
    trace = json.loads((folder / "t.json").read_text(encoding="utf-8"))
    assert [] == refused_by("trace", trace)
    del trace["transitions"][0]["text"]
    assert ["$.transitions[0]: 'text' is a required property"] == refused_by("trace", trace)


def test_a_replay_fits_its_schema(antecede: Command, folder: Path) -> None:
    antecede(*WRITTEN["violated"][2].split(), "--trace", folder / "t.json")
    done = antecede("replay", folder / "t.json", "--json", "-")
    found = json.loads(done.out)
    assert 1 == done.code
    assert [] == refused_by("replay", found)
    assert (True, "causal-delivery", 4) == (
        found["violated"],
        found["property"],
        found["run"]["length"],
    )


def test_a_replay_by_hand_cannot_share_standard_output(antecede: Command, folder: Path) -> None:
    antecede(*WRITTEN["violated"][2].split(), "--trace", folder / "t.json")
    done = antecede("replay", folder / "t.json", "--interactive", "--json", "-")
    assert 2 == done.code
    assert "give --json FILE" in done.err


def test_the_table_fits_its_schema(antecede: Command) -> None:
    done = antecede("table", "--bounds", "2x1", "--format", "json", "--engine", "plain", "--quiet")
    assert [] == refused_by("table", json.loads(done.out))


def test_the_rows_of_a_sweep_fit_their_schema(antecede: Command, folder: Path) -> None:
    few = ("--actors", 2, "--messages", "1", "--engine", "plain", "--workers", 1, "--quiet")
    antecede("sweep", "--protocol", "unordered,mfss", *few, "--output", folder / "rows.jsonl")
    rows = (folder / "rows.jsonl").read_text(encoding="utf-8").splitlines()
    assert 2 == len(rows)
    assert [] == [each for row in rows for each in refused_by("sweep", json.loads(row))]


def test_the_schemas_name_every_value_of_schema_that_a_program_can_meet() -> None:
    written = set(re.findall(r"antecede/\w+/\d+", "".join(map(schema_text, SCHEMAS))))
    sources = [path for path in ROOT.glob("checker/*/*.py") if path.name != "schemas.py"]
    named = "".join(path.read_text(encoding="utf-8") for path in sources)
    assert set(re.findall(r'"(antecede/\w+/\d+)"', named)) == written


def keys_of(schema: Any) -> set[str]:
    """Return the keys of objects that a schema names anywhere in it."""
    if isinstance(schema, list):
        return set().union(*map(keys_of, schema))
    if not isinstance(schema, dict):
        return set()
    own = schema.get("properties", ()) if schema.get("type") == "object" else ()
    return set(own).union(*map(keys_of, schema.values()))


@pytest.mark.parametrize("name", [name for name in SCHEMAS if name != "spec"])
def test_every_key_of_a_schema_is_documented(name: str) -> None:
    page = (ROOT / "docs" / "files.md").read_text(encoding="utf-8")
    assert set() == keys_of(validator(name).schema) - set(re.findall(r"`(\w+)`", page))
