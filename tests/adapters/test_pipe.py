"""Programs that are spoken to over a pipe."""

from __future__ import annotations

import json
import shlex
import shutil
import sys
from pathlib import Path
from typing import Any

import pytest

from antecede import check
from antecede.checker.adapters.link import Link
from antecede.checker.model import Message
from antecede.checker.support.errors import InputError
from antecede.cli import main
from antecede.testing import assert_holds, assert_violated
from antecede.testing.adapter import program
from tests.conftest import Command

HERE = Path(__file__).parent
SMALL: dict[str, Any] = {"actors": 3, "messages": 1, "workload": "broadcast", "engine": "plain"}
PAIR: dict[str, Any] = {**SMALL, "actors": 2, "properties": ("integrity", "all-delivered")}
"""Too small for a violation of causal delivery."""


def python(*arguments: str) -> tuple[str, ...]:
    return (sys.executable, str(HERE / "chat.py"), *arguments)


@pytest.mark.integration
@pytest.mark.skipif(shutil.which("node") is None, reason="the example in JavaScript needs node")
def test_a_mistake_in_javascript_is_found_with_a_shortest_run() -> None:
    assert_violated(
        program(("node", str(HERE / "chat.mjs"))),
        **SMALL,
        violates="causal-delivery",
        length=5,
    )


@pytest.mark.integration
def test_a_program_that_says_a_key_has_the_states_of_the_protocol_that_it_is() -> None:
    result = assert_holds(program(python("--key")), **SMALL)
    assert result.counts == assert_holds("cbcast", **SMALL).counts


def test_a_program_that_says_nothing_of_its_state_is_replayed() -> None:
    """Each history is a state of its own, so there are more of them."""
    found, expected = assert_holds(program(python()), **PAIR), assert_holds("cbcast", **PAIR)
    assert expected.counts.depth == found.counts.depth
    assert expected.counts.unique_states < found.counts.unique_states


FIRST_KEY = """
import json, sys
for line in sys.stdin:
    asked = json.loads(line)
    me = asked.get("state", {"z": [], "a": []})
    answer = {"sends": [], "deliveries": [], "state": me}
    if asked["do"] == "causal-send":
        message = asked["message"]
        me["z"].append(message)
        if len(me[next(iter(me))]) == 2:
            packet = {"second": me["z"][0], "first": me["z"][1]}
            answer["sends"] = [{"to": 1, "packet": packet}]
    if asked["do"] == "receive":
        answer["deliveries"] = list(asked["packet"].values())
    print(json.dumps(answer), flush=True)
"""


@pytest.mark.integration
def test_a_program_gets_its_packets_and_states_with_the_keys_in_its_own_order() -> None:
    """It sends the messages together, and the receiver delivers them in the order of the keys."""
    made = program((sys.executable, "-c", FIRST_KEY))
    result = assert_holds(
        made, actors=2, workload="script:[[1,1],[]]", properties=["fifo-delivery", "all-delivered"]
    )
    assert result.counts.unique_states == 4


@pytest.mark.integration
def test_a_program_is_told_numbers_so_that_endless_workloads_are_refused() -> None:
    result = check(program(python()), actors=2, workload="endless:1:[[1],[0]]", engine="plain")
    assert "causal_send of protocol 'chat.py' reads the number" in " ".join(str(result).split())


def test_the_questions_of_a_replay_are_written_together(monkeypatch: pytest.MonkeyPatch) -> None:
    written: list[list[str]] = []
    ask_all = Link.ask_all

    def recording(link: Link, questions: list[dict[str, Any]]) -> list[dict[str, Any]]:
        written.append([question["do"] for question in questions])
        return ask_all(link, questions)

    monkeypatch.setattr(Link, "ask_all", recording)
    assert_holds(program(python()), **PAIR)

    assert ["start", "causal-send"] in written
    assert all(len(questions) == 1 or questions[0] == "start" for questions in written)
    assert not any("start" in questions[1:] for questions in written)


def test_a_program_that_says_its_state_is_given_it_in_a_replay() -> None:
    counting = "{'state': json.loads(line).get('state', 0) + 1}"
    body = f"import json, sys\nfor line in sys.stdin: print(json.dumps({counting}), flush=True)"
    made = program((sys.executable, "-c", body))
    assert made.unmerged is not None
    unmerged = made.unmerged.protocol
    sent = unmerged.causal_send(unmerged.initial(0, 2), Message(0, 1, (1,))).state

    assert [sent.object.told for _ in range(2)] == ["2", "2"]  # the second one is replayed


def test_a_program_that_is_not_there_is_refused_in_a_sentence() -> None:
    with pytest.raises(InputError, match="cannot start 'no-such-program'"):
        program("no-such-program --fast")


@pytest.mark.parametrize(
    ("body", "said"),
    [
        ("pass", "has ended"),
        ("print('hello', flush=True); input()", "which is no JSON"),
        ("print([1], flush=True); input()", "which is no object"),
        ('print(\'{"error": "no such thing"}\', flush=True); input()', "failed: no such thing"),
    ],
)
def test_an_answer_that_is_none_is_told_with_its_question(body: str, said: str) -> None:
    with pytest.raises(InputError, match=f'{said}.*it was asked .*"do":"start"'):
        program((sys.executable, "-c", body))


@pytest.mark.parametrize(
    ("answer", "said"),
    [
        ('{"sends": 3}', "answered sends 3; give a list"),
        ('{"sends": [{"to": 1}]}', "give {to, packet}"),
        ('{"deliveries": ["m1"]}', "delivers 'm1'; give the message as it was handed over"),
        ('{"sends": [{"to": 7, "packet": 1}]}', "a destination from 0 to 1"),
        ('{"sends": [{"to": 1, "packet": 1, "form": 0}]}', "give {to, packet}"),
        ('{"deliverys": []}', "unknown key 'deliverys'; did you mean 'deliveries'?"),
        ('{"send": []}', "unknown key 'send'; did you mean 'sends'?"),
        ('{"timeout": "yes"}', "answered timeout 'yes'; give true or false"),
        ('{"state": 1}', "answered with a state, and first without a state or key"),
        ('{"sends": [{"to": 1, "packet": NaN}]}', "which is no JSON"),
        ('{"sends": [{"to": 1, "packet": 1e999}]}', "which is no JSON"),
    ],
)
def test_a_step_that_is_none_is_told(answer: str, said: str) -> None:
    with pytest.raises(AssertionError) as raised:
        assert_holds(program(answering("{}", answer)), actors=2, messages=1, engine="plain")
    assert said in " ".join(str(raised.value).split())


def answering(start: str, answer: str) -> tuple[str, ...]:
    """Return the command of a program with one answer to `start`, and one to all the rest."""
    said = f"print('{start}' if 'start' in line else '{answer}', flush=True)"
    return (sys.executable, "-c", f"import sys\nfor line in sys.stdin: {said}")


@pytest.mark.parametrize(
    ("start", "answer", "said"),
    [
        ('{"key": 1}', "{}", "answered without a state or key, and first with a key"),
        ('{"state": 1}', '{"key": 1}', "answered with a key, and first with a state"),
        ('{"key": 1}', '{"key": 1, "state": 2}', "answered with a state, and first with a key"),
    ],
)
def test_states_are_told_apart_by_the_same_in_every_answer(
    start: str, answer: str, said: str
) -> None:
    """Without its key a state was taken for any other one without."""
    with pytest.raises(AssertionError) as raised:
        assert_holds(program(answering(start, answer)), actors=2, messages=1, engine="plain")
    assert said in " ".join(str(raised.value).split())


def test_an_actor_that_was_just_started_sends_nothing() -> None:
    with pytest.raises(InputError, match="an actor that was just started has none"):
        program(answering('{"sends": [{"to": 1, "packet": 0}]}', "{}"))


def test_a_misspelt_key_is_no_violation(antecede: Command) -> None:
    command = shlex.join(answering("{}", '{"deliverys": []}'))
    ran = antecede("test", f"pipe:{command}", "--actors", "2", "--messages", "1", "--quiet")
    assert ran.code == 2
    assert "VIOLATED" not in ran.out


def test_an_open_quotation_is_refused_in_a_sentence(antecede: Command) -> None:
    ran = antecede("test", 'pipe:"')
    assert ran.code == 2
    assert "cannot be read: No closing quotation; quote it as for a shell" in ran.err


def test_a_trace_starts_no_program_that_nobody_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """The trace may come from a stranger, and the program may do anything."""
    monkeypatch.chdir(tmp_path)
    trace, mark = tmp_path / "trace.json", tmp_path / "started"
    asked = ["--actors", "2", "--messages", "2", "--engine", "plain", "--quiet"]
    assert main(["check", "unordered", *asked, "--trace", str(trace)]) == 1
    found = json.loads(trace.read_text())
    trace.write_text(
        json.dumps(found).replace('"protocol": "unordered"', f'"protocol": "pipe:touch {mark}"')
    )
    capsys.readouterr()
    assert main(["replay", str(trace)]) == 2
    assert "replaying it starts that program" in capsys.readouterr().err
    assert not mark.exists()


IDLE = """
import json, sys
for line in sys.stdin:
    asked = json.loads(line)
    answer = {"timeout": True} if asked["do"] == "start" else {}
    if asked["do"] == "causal-send":
        answer["sends"] = [{"to": asked["message"]["to"][0], "packet": asked["message"]}]
    if asked["do"] == "receive":
        answer["deliveries"] = [asked["packet"]]
    print(json.dumps(answer), flush=True)
"""


@pytest.mark.integration
def test_a_program_with_an_idle_timeout_and_without_a_state_has_an_end() -> None:
    made = program((sys.executable, "-c", IDLE), name="idle")
    result = assert_holds(
        made,
        actors=2,
        messages=1,
        workload="script:[[1],[]]",
        properties=("integrity", "all-delivered"),
        engine="plain",
    )
    assert "HOLDS if timeouts of idle that send and deliver nothing change nothing" in str(result)
