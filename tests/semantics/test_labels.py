"""Messages with labels, and multicasts, in scripts and reactions."""

from __future__ import annotations

from typing import Any

import pytest
from attrs import evolve

from antecede import Message, Protocol, Step, check
from antecede.checker.model import LabelledMessage
from antecede.checker.semantics.workload import Workload, script
from antecede.checker.semantics.workloads import workload_from
from antecede.checker.support.errors import InputError
from tests.models import plan_of
from tests.naive import explore

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


def with_labels(labels: dict[tuple[int, int], str]) -> Protocol:
    """Return the editor that labels messages itself: the naive checker knows no labels."""

    def label(message: Message) -> LabelledMessage:
        key = message.sender, message.number
        return LabelledMessage(*key, message.destinations, labels[key])

    def bare(message: Message) -> Message:
        return Message(message.sender, message.number, message.destinations)

    def received(state: State, src: int, message: Message) -> Step:
        step = receive(state, src, message)
        return evolve(step, deliveries=tuple(map(bare, step.deliveries)))

    def sent(state: State, message: Message) -> Step:
        return causal_send(state, label(message))

    return evolve(EDITOR, causal_send=sent, receive=received)


@pytest.mark.parametrize("engine", ["plain", "local"])
@pytest.mark.parametrize("network", ["unordered", "fifo"])
def test_protocol_sees_the_label_in_every_engine(engine: str, network: str) -> None:
    labels = {(0, 1): "write a", (0, 2): "delete a"}
    plan = plan_of(
        'reaction:[{"name":"m","from":0,"to":[1,2]},{"name":"n","from":0,"to":[1,2]}]', 3, 2
    )
    asked = ("causal-delivery", "integrity", "all-delivered")
    expected = explore(with_labels(labels), plan, network, "knowledge", asked)
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
        Workload, "message", lambda _w, actor, number, to: Message(actor, number, to)
    )
    with pytest.raises(AssertionError):
        test_protocol_sees_the_label_in_every_engine("plain", "unordered")


def test_run_shows_the_labels() -> None:
    run = check(EDITOR, actors=3, workload=SENDS, engine="plain").counterexample
    assert "Alice causal-sends m2 (delete a) to Bob and Carol" in str(run)
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
    asked: Any = {"actors": 2, "workload": text, "engine": "plain", "sample": "longest"}
    assert "delivers a (write a)" in str(check(EDITOR, **asked))
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
