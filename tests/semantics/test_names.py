"""Actors and messages are called in every text and file what their spec calls them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from attrs import evolve

from antecede.checker.check.pipeline import check as run_check
from antecede.checker.check.spec import Spec, load_spec, overridden, spec_from, system_of
from antecede.checker.paths.path import for_replay
from antecede.checker.render.graph import state_graph
from antecede.checker.render.prose import Wording
from antecede.checker.render.shiviz import hosts_of
from antecede.checker.render.trace_formats import FORMATS
from antecede.checker.search.options import Options
from antecede.checker.semantics.names import Names, names_from
from antecede.checker.support.errors import InputError
from antecede.testing import assert_holds
from tests.conftest import Command, counterexample
from tests.runs import FIGURE_3, walk

NAMES: dict[str, Any] = {
    "actors": ["north", "<south>", "the east"],
    "messages": [["ask", "tell"], ["ok", "on"], ["done"]],
}
SPEC = """
protocol = "cykas-secret-mode"
actors = 3
workload = "script:[[1,2],[0,2],[0]]"

[names]
actors = ["north", "<south>", "the east"]
messages = [["ask", "tell"], ["ok", "on"], ["done"]]
"""


@pytest.fixture
def spec(tmp_path: Path) -> Path:
    """A spec with names."""
    file = tmp_path / "named.toml"
    file.write_text(SPEC)
    return file


def test_without_names_they_are_whom_papers_write_of() -> None:
    names = Names()
    assert ["Alice", "Bob", "Heidi", "Actor 9"] == [names.actor(i) for i in (0, 1, 7, 8)]
    assert names.message(0, 1) is None


def test_the_report_calls_everything_by_its_name(antecede: Command, spec: Path) -> None:
    found = antecede("check", spec, "--expect", "violated").out
    assert 'the east sends "done" to north' in found
    assert 'north delivers "done" before "ok"' in found
    assert not {"Alice", "Bob", "Carol", "m1"} & set(found.replace(",", " ").split())


@pytest.mark.parametrize("name", FORMATS)
def test_every_format_calls_them_so(name: str, antecede: Command, spec: Path) -> None:
    file = spec.parent / f"trace{FORMATS[name].endings[0]}"
    wanted = ["--trace", file]
    assert 0 == antecede("check", spec, "--expect", "violated", "--quiet", *wanted).code
    text = file.read_text(encoding="utf-8")
    assert "north" in text
    assert "done" in text
    assert "Alice" not in text
    assert "m1" not in text.replace("&#", "")


def test_a_trace_keeps_the_names_and_its_replay_and_its_page_show_them(
    antecede: Command, spec: Path
) -> None:
    trace, result = spec.parent / "trace.json", spec.parent / "result.json"
    antecede("check", spec, "--expect", "violated", "--trace", trace, "--json", result)
    for file in (trace, result):
        assert NAMES == json.loads(file.read_text())["names"]
        found = antecede("replay", file)
        assert 0 == found.code - 1, "it still violates"
        assert '<south> sends "ok" to north' in found.out
    again = spec.parent / "again.mmd"
    antecede("replay", trace, "--trace", again)
    assert "participant p0 as north" in again.read_text()


def test_a_trace_without_names_has_none(antecede: Command, tmp_path: Path) -> None:
    trace = tmp_path / "trace.json"
    antecede("check", "unordered", "--actors", 2, "--trace", trace)
    assert "names" not in json.loads(trace.read_text())


def test_a_workload_that_names_its_messages_is_believed() -> None:
    load = 'reaction:[{"name":"buy","from":0,"to":[1]},{"name":"credit","from":0,"to":[1]}]'
    path = counterexample("unordered", 2, workload=load)
    words = Wording.of(path)
    assert {"buy", "credit"} == {words.message(m) for m in path.messages}


def test_what_a_workload_calls_its_messages_cannot_steer_a_terminal() -> None:
    load = 'reaction:[{"name":"b\\u001b[2J","from":0,"to":[1]},{"name":"c","from":0,"to":[1]}]'
    path = counterexample("unordered", 2, workload=load)
    assert "b\\x1b[2J" == Wording.of(path).message(path.messages[0])


def test_a_graph_of_states_has_names_before_any_run() -> None:
    names = names_from({"actors": ["left", "right"], "messages": [["hello"], []]})
    system = system_of(Spec("mfss", 2, workload="script:[[1],[]]", names=names))
    texts = [data["text"] for _, _, data in state_graph(system).edges(data=True)]
    assert any("delivers hello" in text for text in texts)


def test_shiviz_hosts_are_one_word_and_none_is_the_network_by_chance() -> None:
    names = names_from({"actors": ["Network", "a b"]})
    path = walk("hybrid-basic", seed=4, most=40, actors=2, network="lossy:3", names=names)
    hosts = set(hosts_of(path).values())
    assert {"Network", "a-b", "Network-"} == hosts


def test_names_are_no_part_of_the_question() -> None:
    bare = Spec("mfss", 2, 2)
    named = evolve(bare, names={"actors": ["left", "right"]})
    assert system_of(bare).question == system_of(named).question
    result = assert_holds("mfss", actors=2, messages=2, names={"actors": ["left", "right"]})
    assert result.counts == assert_holds("mfss", actors=2, messages=2).counts
    assert ("left", "right") == for_replay(system_of(named)).names.actors


def test_names_go_with_those_whom_they_name() -> None:
    spec = spec_from({"protocol": "mfss", "workload": FIGURE_3, "names": NAMES})
    assert spec.names == overridden(spec, {"history": "full"}).names
    assert Names() == overridden(spec, {"actors": 4}).names
    left = overridden(spec, {"workload": "any"}).names
    assert names_from({"actors": NAMES["actors"]}) == left


@pytest.mark.parametrize(
    ("names", "says"),
    [
        ({"actor": []}, "unknown key of names 'actor'; did you mean 'actors'"),
        ({"actors": "abc"}, "names.actors is 'abc'; it must be a list of names"),
        ({"actors": ["a", "b", 3]}, "names.actors has 3; a name is a string"),
        ({"actors": ["a", "b", ""]}, "printable characters"),
        ({"actors": ["a", "b", " c"]}, "with no space around"),
        ({"actors": ["a", "b", "c\n"]}, "printable characters"),
        ({"actors": ["a", "b", "\u202ec"]}, "printable characters"),
        ({"actors": ["a", "b", "c" * 41]}, "of 41 characters; a name has at most 40"),
        ({"actors": ["a", "b", "a"]}, "two actors are called 'a'; give each a name of its own"),
        ({"actors": ["a", "x y", "X-y"]}, "called 'x y' and 'X-y', which look alike"),
        ({"actors": ["a", "b"]}, "names.actors has 2 names and there are 3 actors"),
        ({"messages": 1}, "it must be a list with one list of names per actor"),
        ({"messages": [["a"], ["b"], "c"]}, "names.messages of actor 2 is 'c'"),
        ({"messages": [["a"], ["b"]]}, "names.messages has 2 lists and there are 3 actors"),
        ({"messages": [["a"], ["A"], ["c"]]}, "two messages are called 'a' and 'A'"),
        (
            {"messages": [["a", "b"], ["c"], []]},
            "names.messages of actor 2 has 0 names, and the actor causal-sends 1 message",
        ),
    ],
)
def test_wrong_names_are_refused_with_a_sentence(names: dict[str, Any], says: str) -> None:
    load = "script:[[1,2],[2],[0]]"
    with pytest.raises(InputError) as error:
        system_of(spec_from({"protocol": "mfss", "workload": load, "names": names}))
    assert says in str(error.value)


@pytest.mark.parametrize(
    ("workload", "says"),
    [
        ('reaction:[{"name":"m","from":0,"to":[1]}]', "the reaction workload names itself"),
        ("endless:1", "an endless one has too many messages"),
    ],
)
def test_messages_that_cannot_be_named_are_refused(workload: str, says: str) -> None:
    names = {"messages": [["a"], [], []]}
    with pytest.raises(InputError, match=says):
        system_of(Spec("mfss", workload=workload, names=names))


def test_messages_of_a_split_workload_are_counted_without_the_decisions() -> None:
    names = {"messages": [["a"], ["b"]]}
    assert system_of(Spec("mfss", 2, 1, sends="split", names=names)).names.messages


def test_names_stand_in_both_engines(tmp_path: Path) -> None:
    file = tmp_path / "named.toml"
    file.write_text(SPEC + '[expect]\nverdict = "violated"\n')
    spec = load_spec(file)
    for engine in ("plain", "local"):
        path = run_check(spec, Options(engine=engine)).result.counterexample
        assert path is not None
        assert tuple(NAMES["actors"]) == path.system.names.actors


def test_a_table_that_is_none_is_refused(tmp_path: Path, antecede: Command) -> None:
    file = tmp_path / "named.toml"
    file.write_text('protocol = "mfss"\nnames = 3\n')
    found = antecede("check", file)
    assert 2 == found.code
    assert "names is 3; it must be a table" in found.err
