"""The tools that an agent calls: their arguments, budgets and answers."""

from __future__ import annotations

import asyncio
import json
import re
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from antecede.checker.agents import answers, running
from antecede.checker.agents.tools import TOOLS, Ceilings, Tools, input_schema
from antecede.checker.render.json import trace_text
from antecede.checker.support.errors import InputError
from tests.conftest import Command, counterexample, is_alive
from tests.support.test_interrupts import until


def called(folder: Path, tool: str, ceilings: Ceilings = Ceilings(), **arguments: Any) -> str:
    return asyncio.run(Tools(folder, ceilings).call(tool, arguments))


@pytest.mark.parametrize("tool", TOOLS)
def test_the_arguments_of_a_tool_have_a_schema_with_descriptions(tool: str) -> None:
    schema = input_schema(TOOLS[tool][0])
    jsonschema.Draft7Validator.check_schema(schema)
    assert all(each["description"].endswith(".") for each in schema["properties"].values())


@pytest.mark.parametrize(
    ("tool", "arguments", "error"),
    [
        ("chek", {}, "unknown tool 'chek'; did you mean 'check'"),
        ("check", {}, "check needs the argument target"),
        ("check", {"target": "mfss", "actor": 3}, "unknown argument of check 'actor'"),
        ("check", {"target": "mfss", "actors": 1}, "actors is 1; give at least 2"),
        ("check", {"target": "mfss", "actors": "3"}, "actors is '3'; it must be a whole number"),
        ("check", {"target": "mf\0ss"}, "it must be text without NUL"),
        ("check", {"target": "mfss", "properties": [3]}, "properties has 3; it must be a string"),
        ("check", {"target": "mfss", "max_seconds": 301}, "allows at most 300"),
        ("check", {"target": "mfss", "max_states": 10**8}, "--max-states"),
        ("check", {"target": "pipe:./node"}, "starts a program"),
        ("replay", {"trace": "run.json", "protocol": "pipe:./node"}, "starts a program"),
        ("explain", {"trace": "absent.json"}, "cannot read the trace 'absent.json'"),
    ],
)
def test_a_wrong_call_is_refused_in_one_sentence(
    tmp_path: Path, tool: str, arguments: dict[str, Any], error: str
) -> None:
    with pytest.raises(InputError) as refused:
        called(tmp_path, tool, **arguments)
    assert error in str(refused.value)
    assert "\n" not in str(refused.value)


@pytest.mark.parametrize(
    ("key", "value", "error"),
    [
        ("state", 5, "transition 1: state is 5; it must be a list of texts"),
        ("state", [5], "transition 1: state is [5]; it must be a list of texts"),
        ("number", None, None),
        ("text", 5, None),
    ],
)
def test_explain_refuses_a_trace_whose_states_are_no_texts(
    tmp_path: Path, key: str, value: object, error: str | None
) -> None:
    """The numbers and texts of the file are not needed."""
    trace = json.loads(trace_text(counterexample("unordered", 2)))
    trace["transitions"][0][key] = value
    (tmp_path / "run.json").write_text(json.dumps(trace), encoding="utf-8")
    if error is None:
        assert "\n  1. " in called(tmp_path, "explain", trace=str(tmp_path / "run.json"))
    else:
        with pytest.raises(InputError, match=re.escape(error)):
            called(tmp_path, "explain", trace=str(tmp_path / "run.json"))


def test_a_call_cannot_give_options_of_the_command(tmp_path: Path) -> None:
    """Otherwise a call could name files to write, for example."""
    with pytest.raises(InputError, match="stolen"):
        called(tmp_path, "validate", target=f"--trace=stolen{tmp_path}/x.svg")


def test_list_names_everything_in_a_few_lines(tmp_path: Path) -> None:
    answer = called(tmp_path, "list")
    assert "mfss" in answer
    assert "causal-delivery" in answer
    assert len(answer.splitlines()) < 12


def test_validate_says_in_one_sentence_why_a_file_cannot_be_imported(tmp_path: Path) -> None:
    (tmp_path / "broken.py").write_text("import absent_module\n", encoding="utf-8")
    with pytest.raises(InputError, match="absent_module") as refused:
        called(tmp_path, "validate", target=str(tmp_path / "broken.py"))
    assert "\n" not in str(refused.value)


def test_a_file_that_never_ends_is_killed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(running, "GRACE", 0.5)
    (tmp_path / "endless.py").write_text("while True: pass\n", encoding="utf-8")
    with pytest.raises(InputError, match="it was killed"):
        called(tmp_path, "list", Ceilings(max_seconds=0.5), name=str(tmp_path / "endless.py"))


def test_a_call_that_is_cancelled_leaves_no_process(tmp_path: Path) -> None:
    (tmp_path / "endless.py").write_text(
        "import os, pathlib\n"
        "pathlib.Path(__file__).with_name('pid').write_text(str(os.getpid()))\n"
        "while True: pass\n",
        encoding="utf-8",
    )

    async def cancel() -> int:
        call = Tools(tmp_path, Ceilings()).call("list", {"name": str(tmp_path / "endless.py")})
        task = asyncio.create_task(call)
        while not (pid := tmp_path / "pid").exists() or not pid.read_text():
            await asyncio.sleep(0.05)
        task.cancel()
        await asyncio.wait([task])
        assert task.cancelled()
        return int(pid.read_text())

    left = asyncio.run(cancel())
    until(lambda: not is_alive(left))


@pytest.fixture
def trace(antecede: Command, tmp_path: Path) -> str:
    """The result of a check, which has a counterexample."""
    file = tmp_path / "run.json"
    plainly = ("--engine", "plain", "--selfcheck", "off")
    assert 1 == antecede("check", "unordered", "--actors", 2, *plainly, "--json", file).code
    return str(file)


def test_explain_shows_the_states_that_each_step_changes(tmp_path: Path, trace: str) -> None:
    answer = called(tmp_path, "explain", trace=trace)
    assert answer.startswith("causal-delivery: 4 steps\nWhy: ")
    assert "  1. Alice sends m1 to Bob" in answer
    assert "       Alice: Nothing" in answer
    assert "Next: " in answer.splitlines()[-1]


def test_explain_can_begin_at_a_later_step(tmp_path: Path, trace: str) -> None:
    answer = called(tmp_path, "explain", trace=trace, first=4)
    assert "  3. " not in answer
    assert "  4. " in answer
    with pytest.raises(InputError, match="first is 5; the run has 4 steps"):
        called(tmp_path, "explain", trace=trace, first=5)


def test_a_long_answer_says_how_to_read_on(
    tmp_path: Path, trace: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(answers, "MOST_CHARACTERS", 200)
    answer = called(tmp_path, "explain", trace=trace)
    assert len(answer) < 800
    first = int(answer.rpartition("first=")[2].split()[0])
    assert f"{first:3}. " not in answer
    assert f"{first:3}. " in called(tmp_path, "explain", trace=trace, first=first)


def result_in(trace: str, **changes: Any) -> Any:
    return {**json.loads(Path(trace).read_text(encoding="utf-8")), **changes}


def test_the_answer_to_a_violation_has_the_steps_and_the_call_that_replays_them(trace: str) -> None:
    answer = answers.check_answer(result_in(trace, protocol="chat.py:CHAT"), "run.json")
    assert answer.startswith("VIOLATED: causal-delivery\nchat.py:CHAT: 2 actors, 2 messages each")
    assert "  4. Bob receives" in answer
    assert "replay(trace='run.json', protocol='chat.py:CHAT')" in answer


@pytest.mark.parametrize(
    ("changes", "last"),
    [
        ({"verdict": "HOLDS"}, 'verdict = "holds"'),
        ({"verdict": "INCOMPLETE", "stopped_by": "--max-states 5 reached"}, "raise max_states"),
        ({"verdict": "VACUOUS"}, "nothing was violated, but nothing could be"),
        ({"verdict": "ERROR", "error": "receive raises"}, "repair the function"),
        ({"verdict": "HOLDS", "spec": "a.toml", "as_expected": True}, "does what the spec says"),
        ({"verdict": "HOLDS", "spec": "a.toml"}, "find out why the result changed"),
    ],
)
def test_every_verdict_has_a_next_step(trace: str, changes: dict[str, Any], last: str) -> None:
    result = result_in(trace, **{"counterexample": None, "properties": {}, **changes})
    answer = answers.check_answer(result, "run.json")
    assert answer.startswith(changes["verdict"])
    assert last in answer.partition("Next: ")[2]
    assert "--" not in answer


@pytest.mark.parametrize(
    ("changes", "first"),
    [
        ({"verdict": "HOLDS"}, "VALID"),
        ({"verdict": "INCOMPLETE", "stopped_by": "--max-states 200 reached"}, "VALID"),
        ({"verdict": "INCOMPLETE", "stopped_by": "--max-seconds 20 reached"}, "NOT VALID"),
        ({"verdict": "ERROR", "error": "receive raises"}, "NOT VALID"),
    ],
)
def test_a_handler_that_fails_or_hangs_is_not_valid(
    trace: str, changes: dict[str, Any], first: str
) -> None:
    answer = answers.validate_answer(result_in(trace, **changes), "chat.py:CHAT")
    assert first == answer.splitlines()[0]
    assert ("check(target='chat.py:CHAT')" in answer) == (first == "VALID")


def test_the_answer_about_several_specs_begins_with_those_that_are_wrong(trace: str) -> None:
    right = result_in(trace, spec="right.toml", as_expected=True)
    wrong = result_in(trace, spec="wrong.toml", as_expected=False)
    refused = [{"spec": "typo.toml", "error": "typo.toml: unknown key"}]
    lines = answers.checks_answer({"checks": [right, wrong], "refused": refused}).splitlines()
    assert [
        "1 of 3 checks as expected",
        "ERROR  typo.toml: unknown key",
        "VIOLATED (NOT AS EXPECTED)  wrong.toml",
        "VIOLATED  right.toml",
    ] == lines[:4]
