"""Messages with labels: from the workload, or as the application chooses."""

from __future__ import annotations

import json
from typing import Any

import pytest
from attrs import astuple

from antecede import Message, Protocol, Step, check
from antecede.checker.check import pipeline
from antecede.checker.check.spec import Spec, spec_from
from antecede.checker.model import LabelledMessage
from antecede.checker.search.options import Options
from antecede.checker.semantics.workload import Workload, script
from antecede.checker.semantics.workloads import workload_from
from antecede.checker.support.errors import InputError
from tests import naive_endless
from tests.conftest import Command
from tests.models import naive_counts

State = tuple[str, ...]


def edited(state: State, message: Message) -> State:
    """Add what a message writes, or remove what it deletes."""
    kind, _, text = str(message.label).partition(" ")
    return tuple(t for t in state if t != text) if kind == "delete" else (*state, text)


def causal_send(state: State, message: Message) -> Step:
    return Step(edited(state, message), sends=tuple((d, message) for d in message.destinations))


def receive(state: State, _src: int, message: Message) -> Step:
    return Step(edited(state, message), deliveries=(message,))


EDITOR = Protocol("editor", lambda _actor, _actors: (), causal_send, receive)
SENDS: Any = [[{"to": [1, 2], "label": "write a"}, {"to": [1, 2], "label": "delete a"}], [], []]


@pytest.mark.parametrize("engine", ["plain", "local"])
@pytest.mark.parametrize("network", ["unordered", "fifo"])
def test_protocol_sees_the_label_in_every_engine(engine: str, network: str) -> None:
    written = f"script:{json.dumps(SENDS)}"
    expected = naive_counts(EDITOR, 3, 2, workload=written, network=network)
    result = check(EDITOR, actors=3, workload=SENDS, engine=engine, network=network)
    counts, run = result.counts, result.counterexample
    assert expected[:4] == (
        counts.unique_states,
        counts.total_states,
        counts.depth,
        counts.final_states,
    )
    assert expected.violation == ({} if run is None else {run.violates: run.length})


def test_tables_that_lose_a_label_are_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    """The seeded bug: messages of scripts have no labels."""
    monkeypatch.setattr(
        Workload, "message", lambda _w, actor, number, to, _label: Message(actor, number, to)
    )
    with pytest.raises(AssertionError):
        test_protocol_sees_the_label_in_every_engine("plain", "unordered")


def test_run_shows_the_labels() -> None:
    run = check(EDITOR, actors=3, workload=SENDS, engine="plain").counterexample
    assert "m2 (delete a)" in str(run)
    assert "label='delete a'" in repr(LabelledMessage(0, 2, (1,), "delete a"))
    assert "label" not in repr(Message(0, 2, (1,)))
    assert Message(0, 2, (1,)).label is None


@pytest.mark.parametrize(
    ("text", "written"),
    [
        ("script:[[1,[2,1]],[0],[]]", "script:[[1,[1,2]],[0],[]]"),
        ('script:[[{"to":[2],"label":7}],[],[]]', 'script:[[{"to":2,"label":7}],[],[]]'),
    ],
)
def test_script_is_written_in_one_way(text: str, written: str) -> None:
    assert written == workload_from(text, 3, 1).text


def test_sends_of_a_reaction_have_labels() -> None:
    text = 'reaction:[{"name":"a","from":0,"to":[1],"label":"edit"}]'
    made = workload_from(text, 2, 1)
    assert ({(0, 1): "edit"}, text) == (made.labels, made.text)


def test_sends_of_a_program_have_labels() -> None:
    """The schema of specs accepted them, and the command refused them."""
    text = 'program:[[{"send":"a","to":[1],"label":"write a"}],[{"receive":"a"}]]'
    made = workload_from(text, 2, 1)
    assert ({(0, 1): "write a"}, text) == (made.labels, made.text)
    with pytest.raises(InputError, match="is neither a send"):
        workload_from('program:[[{"receive":"any","label":"edit"}],[]]', 2, 1)


@pytest.mark.parametrize(
    ("sends", "said"),
    [
        ([[{"to": 1}], []], "needs the keys 'to' and 'label'"),
        ([[{"to": 1, "label": 1.5}], []], "the label is 1.5; give a text or a whole number"),
        ([[{"to": 1, "label": True}], []], "the label is True"),
        ([[[1, 1]], []], "destinations [1, 1]; give one or more different actors"),
        ([[[]], []], "destinations []; give one or more different actors"),
        ([[[0, 1]], []], "actor 0 sends to itself"),
    ],
)
def test_unusable_message_of_a_script_is_named(sends: Any, said: str) -> None:
    with pytest.raises(InputError) as caught:
        script(2, sends)
    assert said in str(caught.value)


def test_program_over_a_pipe_gets_no_labels() -> None:
    sends: Any = [[{"to": 1, "label": "edit"}], []]
    with pytest.raises(InputError, match="over a pipe gets no labels"):
        check("pipe:true", actors=2, workload=sends)


# The application chooses


def _last(_state: str | None, message: Message) -> Step:
    return Step(str(message.label), sends=((message.receiver, message),))


KEEPS_LAST = Protocol(
    "keeps-last",
    lambda _actor, _actors: None,
    _last,
    lambda _state, _src, message: Step(str(message.label), deliveries=(message,)),
    witnesses={"never": lambda _state: False},
)
"""A protocol whose state is the label of the last message."""

CHOICE = ("write a", "delete a")
SOME: Any = [[{"to": [1, 2], "label": "write b"}, [1, 2]], [], []]
REACTION = (
    'reaction:[{"name":"m","from":0,"to":[1,2]},{"name":"n","from":1,"to":[2],"after":["m"]}]'
)
PROGRAM = (
    'program:[[{"send":"a","to":[1]},{"receive":"b"},{"send":"c","to":[1],"label":"write b"}],'
    '[{"receive":"a"},{"send":"b","to":[0]}],[]]'
)


def answered(engine: str, **asked: Any) -> Any:
    """Return the counts, and the violations with their lengths."""
    spec = Spec("editor", **{"labels": ",".join(CHOICE), **asked})
    result = pipeline.check(spec, Options(engine=engine), protocol=EDITOR, selfcheck="off").result
    run = result.counterexample
    counts = astuple(result.unreduced or result.counts)
    return counts, {} if run is None else {run.violates: run.length}


@pytest.mark.parametrize("engine", ["plain", "local"])
@pytest.mark.parametrize(
    ("workload", "actors", "messages", "history"),
    [
        ("any", 2, 1, "full"),
        ("self", 2, 1, "knowledge"),
        ("broadcast", 2, 2, "knowledge"),
        (f"script:{json.dumps(SOME)}", 3, 2, "clocks"),
        (REACTION, 3, 1, "full"),
        (PROGRAM, 3, 2, "knowledge"),
    ],
)
def test_every_label_is_explored_on_every_workload(
    engine: str, workload: str, actors: int, messages: int, history: str
) -> None:
    asked: Any = {"workload": workload, "history": history}
    expected = naive_counts(EDITOR, actors, messages, labels=CHOICE, **asked)
    actual = answered(engine, actors=actors, messages=messages, **asked)
    assert (tuple(expected[:4]), expected.violation) == actual


@pytest.mark.parametrize("engine", ["plain", "local"])
@pytest.mark.parametrize("network", ["unordered", "fifo"])
def test_every_label_is_explored_where_applications_never_stop(engine: str, network: str) -> None:
    rows: naive_endless.Rows = [[(1,)], [(0,)]]
    naive, _ = naive_endless.explore(KEEPS_LAST, rows, 1, network, safety=False, labels=CHOICE)
    spec = Spec(
        "keeps-last",
        2,
        workload="endless:1:[[1],[0]]",
        labels=",".join(CHOICE),
        network=network,
        properties=("witness:never",),
    )
    result = pipeline.check(
        spec, Options(engine=engine), protocol=KEEPS_LAST, selfcheck="off"
    ).result
    assert naive[:3] == astuple(result.counts)[:3]


def test_an_application_that_chooses_a_label_can_send_a_message_with_each_of_them() -> None:
    """A message is not sent; or in flight or delivered, with either label."""
    counts, violation = answered("plain", actors=2, messages=1, workload="script:[[1],[]]")
    assert (counts[0], violation) == (5, {})


def test_a_run_with_chosen_labels_is_saved_and_replayed(antecede: Command, tmp_path: Any) -> None:
    asked = ("--workload", "broadcast", "--messages", 2, "--labels", "add,remove", "--actors", 2)
    run = tmp_path / "run.json"
    found = antecede("check", "unordered", *asked, "--engine", "plain", "--trace", run)
    assert (found.code, "Alice sends m1 (add) to Bob" in found.out) == (1, True)
    entries = json.loads(run.read_text())
    assert entries["labels"] == "add,remove"
    labels = [e["label"] for e in entries["transitions"] if e["kind"] == "causal-send"]
    assert labels == ["add", "add"]
    again = antecede("replay", run)
    assert (again.code, "m1 (add)" in again.out) == (1, True)
    entries["transitions"][0]["label"] = "edit"
    run.write_text(json.dumps(entries))
    changed = antecede("replay", run)
    assert changed.code == 2
    said = " ".join(changed.err.split())
    assert "causal-send by 0 to [1], with the label 'edit', is not enabled" in said


def test_a_spec_and_python_list_labels() -> None:
    spec = spec_from({"protocol": "rst", "labels": ["add", "remove"]})
    assert (spec.labels, spec.system.question.labels) == ("add,remove", "add,remove")
    result = check(
        "unordered",
        actors=2,
        messages=1,
        labels=["add", "remove"],
        properties=("integrity", "all-delivered"),
    )
    assert (result.verdict, result.counts.unique_states) == ("HOLDS", 4**2)


@pytest.mark.parametrize(
    ("labels", "workload", "said"),
    [
        ("add,add", "any", "the label 'add' is given twice"),
        ("add,", "any", "is empty"),
        ("a\x07", "any", "has characters that do not print"),
        ("add", 'script:[[{"to":1,"label":"x"}],[]]', "gives every message a label"),
        (["a,b"], "any", "give texts without commas"),
        ([1], "any", "give texts without commas"),
    ],
)
def test_labels_that_cannot_be_chosen_are_refused(labels: Any, workload: str, said: str) -> None:
    with pytest.raises(InputError, match=said):
        check("rst", actors=2, messages=1, labels=labels, workload=workload)
