"""Files for other model checkers say what the checker saw, and Spin comes to the same verdict."""

from __future__ import annotations

import re
import shutil
import subprocess
from collections import deque
from pathlib import Path
from typing import Any, NamedTuple

import networkx as nx
import pytest
from attrs import evolve

from antecede import Message, Step, check, export
from antecede.checker.check.spec import Spec
from antecede.checker.render import systems
from antecede.checker.support.errors import InputError
from antecede.protocols.unordered import UNORDERED
from tests.conftest import ROOT, Command

OVERTAKING = "script:[[2,1],[2],[]]"
"""Three messages with which a protocol can violate causal delivery."""


class Labelled(NamedTuple):
    graph: Any  # an nx.MultiDiGraph with the attribute `label` on edges
    marks: set[str]


def read_aut(text: str) -> Labelled:
    """Read the format of Aldebaran; a mark is no transition."""
    head, *lines = text.splitlines()
    first, transitions, states = map(int, re.findall(r"\d+", head))
    assert (first, transitions) == (0, len(lines))
    graph, marks = nx.MultiDiGraph(), set[str]()
    graph.add_nodes_from(range(states))
    for line in lines:
        found = re.fullmatch(r'\((\d+), "([^"\\]*)", (\d+)\)', line)
        assert found is not None, line
        if found[2].startswith("violates "):
            marks.add(found[2].removeprefix("violates "))
        else:
            graph.add_edge(int(found[1]), int(found[3]), label=found[2])
    return Labelled(graph, marks)


def overtakes(graph: Any) -> bool:
    """Return whether the labels of some run violate causal order: a judge of its own.

    Its state has, per actor, how many messages it sent, the keys that it knows and those that it
    delivered; and, per message, its receivers and what its sender knew.
    """
    start: Any = (0, ((0, frozenset(), frozenset()),) * 3, frozenset())
    seen, queue = {start}, deque([start])
    while queue:
        node, actors, sent = queue.popleft()
        for _, after, label in graph.out_edges(node, data="label"):
            now, messages = list(actors), dict(sent)
            who = int(re.findall(r" by (\d)", label)[0])
            count, known, done = now[who]
            if label.startswith("causal-send"):
                to = re.findall(r"\d", label.partition(" to ")[2])
                key = (who, count + 1)
                messages[key] = (frozenset(map(int, to)), known)
                now[who] = (count + 1, known | {key}, done)
            for a, b in re.findall(r"(\d)\.(\d)", label.partition("delivers")[2]):
                key = (int(a), int(b))
                count, known, done = now[who]
                past = messages[key][1]
                if any(who in messages[each][0] and each not in done for each in past):
                    return True
                now[who] = (count, known | past | {key}, done | {key})
            state = (after, tuple(now), frozenset(messages.items()))
            if state not in seen:
                seen.add(state)
                queue.append(state)
    return False


@pytest.mark.parametrize(
    ("protocol", "violated"), [("unordered", True), ("fifo", True), ("mfss", False), ("rst", False)]
)
def test_the_labels_alone_decide_causal_order(protocol: str, violated: bool) -> None:
    found = read_aut(export(protocol, workload=OVERTAKING))
    assert overtakes(found.graph) is violated
    assert ("causal-delivery" in found.marks) is violated


@pytest.mark.parametrize("protocol", ["mfss", "cykas-secret-mode"])
def test_the_graph_has_the_states_that_the_check_counts(protocol: str) -> None:
    counts = check(protocol, actors=2, symmetry=False, engine="plain").counts
    graph = read_aut(export(protocol, actors=2)).graph
    finals = sum(1 for _, degree in graph.out_degree() if not degree)
    assert counts.unique_states == graph.number_of_nodes()
    assert counts.total_states == graph.number_of_edges() + 1
    assert counts.final_states == finals
    assert counts.depth == 1 + max(nx.single_source_shortest_path_length(graph, 0).values())


def never_delivers(state: Any, _src: int, _packet: Any) -> Step:
    return Step(state)


SILENT = evolve(UNORDERED, name="silent", receive=never_delivers)


def test_a_state_is_marked_where_it_violates() -> None:
    text = export(SILENT, actors=2, workload="script:[[1],[]]")
    assert '(2, "violates all-delivered", 2)' in text
    assert read_aut(text).marks == {"all-delivered"}


def test_text_of_any_kind_becomes_ascii_without_quotes() -> None:
    def send(state: Any, message: Message) -> Step:
        return Step(state, sends=((1, '"\\\n{ü%s'),))

    odd = evolve(UNORDERED, name="odd", causal_send=send, receive=never_delivers)
    for form in systems.SYSTEM_FORMATS:
        text = export(
            odd, actors=2, workload="script:[[1],[]]", format=form, properties="integrity"
        )
        (label,) = (line for line in text.split('"') if line.startswith("receive by 1"))
        assert text.isascii()
        assert re.search(r"u005c.*u000a", label) or "u005c" in label


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        ({"workload": "endless:1"}, "with this workload the applications never stop"),
        ({"properties": "can-deliver"}, "no single state or delivery violates can-deliver"),
        ({"format": "dot"}, "unknown format 'dot'"),
    ],
    ids=str,
)
def test_what_a_file_cannot_say_is_refused(arguments: Any, sentence: str) -> None:
    with pytest.raises(InputError, match=sentence):
        export("mfss", actors=2, **arguments)


def test_a_system_as_large_as_the_bound_is_written() -> None:
    system = Spec("mfss", actors=2).system
    assert 81 == systems.finite_system(system, most=81, most_transitions=180).states
    for most, transitions in ((80, 180), (81, 179)):
        with pytest.raises(InputError, match=f"more than {most} states or {transitions} trans"):
            systems.finite_system(system, most=most, most_transitions=transitions)


def test_the_command_writes_what_the_function_returns(antecede: Command, tmp_path: Path) -> None:
    wanted = export("mfss", actors=2, properties="causal-delivery", format="tla")
    asked = ("export", "mfss", "--actors", 2, "--property", "causal-delivery", "--format", "tla")
    shown = antecede(*asked)
    written = antecede(*asked, "--output", tmp_path / "System.tla")
    assert (0, wanted, "") == (shown.code, shown.out, shown.err)
    assert (0, "") == (written.code, written.out)
    assert wanted == (tmp_path / "System.tla").read_text(encoding="utf-8")


def test_what_is_not_marked_is_named(antecede: Command) -> None:
    asked = ("--property", "integrity,can-deliver")
    ran = antecede("export", "mfss", "--actors", 2, *asked, "--format", "promela")
    assert "Not marked in the file: can-deliver.\n" == ran.err
    assert " * not marked: can-deliver\n" in ran.out


def test_the_table_of_the_tla_module_has_the_same_transitions() -> None:
    text = export("fifo", workload=OVERTAKING, format="tla")
    (table,) = re.findall(r"Steps == <<\n(.*)\n>>\n", text, re.DOTALL)
    rows = table.split("  << ")[1:]
    step = r'\[text \|-> "([^"]*)", to \|-> (\d+), violates \|-> \{(.*?)\}\]'
    edges = [(n, int(s[1]), s[0]) for n, row in enumerate(rows) for s in re.findall(step, row)]
    graph = read_aut(export("fifo", workload=OVERTAKING)).graph
    assert sorted(edges) == sorted(graph.edges(data="label"))
    assert '{"causal-delivery"}]' in table


@pytest.mark.integration
def test_a_parser_of_tla_reads_the_module() -> None:
    tla = pytest.importorskip("tla", reason="the package tla is not installed (pip install tla)")
    text = export("mfss", actors=2, properties="causal-delivery", format="tla")
    units = str(tla.parse(text).units)
    defined = ("Steps", "Init", "Next", "Spec", "Causal_delivery", "Safe")
    assert [] == [name for name in defined if f"name='{name}'" not in units]


def spin(folder: Path, model: str, *options: str) -> str:
    """Verify a model, and return what Spin and the replay of its trail say."""
    for program, package in (("spin", "spin"), ("gcc", "gcc")):
        if shutil.which(program) is None:
            pytest.skip(f"{program} is not installed (apt-get install {package})")
    (folder / "model.pml").write_text(model, encoding="utf-8")
    said = ""
    commands = [
        ["spin", "-a", "model.pml"],
        ["gcc", "-w", "-DREACH", "-o", "pan", "pan.c"],
        ["./pan", *options],
        ["./pan", "-r"],
    ]
    for command in commands:
        done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
        said += done.stdout + done.stderr
    return said


@pytest.mark.integration
@pytest.mark.parametrize("protocol", ["mfss", "rst"])
def test_spin_finds_no_violation_where_the_check_holds(protocol: str, tmp_path: Path) -> None:
    found = check(protocol, workload=OVERTAKING, symmetry=False).expect("holds")
    said = spin(tmp_path, export(protocol, workload=OVERTAKING, format="promela"))
    assert "errors: 0" in said
    assert f"{found.counts.unique_states} states, stored" in said
    assert f"{found.counts.total_states} transitions (= stored+matched)" in said


@pytest.mark.integration
@pytest.mark.parametrize("protocol", ["unordered", "fifo"])
def test_spin_finds_a_violation_of_the_same_length(protocol: str, tmp_path: Path) -> None:
    size: Any = {"messages": 2} if protocol == "fifo" else {"workload": OVERTAKING}
    found = check(protocol, **size).expect("violated").counterexample
    said = spin(tmp_path, export(protocol, **size, format="promela"), "-i")
    assert found is not None
    assert "pan:1: assertion violated (violated==0)" in said
    trail = said[said.rindex("assertion violated") :] if "trail ends" not in said else said
    steps = re.findall(r"^(?:causal-send|receive|network-send|timeout) by .*$", trail, re.MULTILINE)
    assert found.length == len(steps)
    assert "delivers" in steps[-1]


@pytest.mark.integration
def test_spin_says_so_if_the_first_state_violates(tmp_path: Path) -> None:
    (tmp_path / "never.py").write_text(
        "from antecede import Property, What, When\n"
        "NEVER = Property('never', 'nothing', What.LOCAL_STATE, When.ALWAYS, lambda _: False)\n"
    )
    model = export("mfss", actors=2, properties=f"{tmp_path / 'never.py'}:NEVER", format="promela")
    assert "assertion violated" in spin(tmp_path, model)
    assert "errors: 0" in spin(tmp_path, model.replace("assert(violated == 0)", "skip"))


def test_the_page_names_every_format() -> None:
    page = (ROOT / "docs" / "export.md").read_text(encoding="utf-8")
    assert all(f"--format {form}" in page for form in systems.SYSTEM_FORMATS)
