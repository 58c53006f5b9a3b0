"""The command that tests real code, from end to end."""

from __future__ import annotations

import json
import shlex
import sys
from pathlib import Path
from typing import Any

import pytest

from antecede.checker.adapters import run
from antecede.checker.check.pipeline import check
from antecede.checker.check.report import CheckReport
from antecede.checker.check.spec import Spec
from antecede.checker.search.options import Bounds, Options
from antecede.cli import main

HASTY = """
class Hasty:
    '''It looks at the sender's own entry only, and at that of nobody else{after}.'''

    def __init__(self, actor, actors):
        self.me, self.clock, self.waiting = actor, [0] * actors, []

    def causal_send(self, out, message):
        self.clock[self.me] += 1
        for to in message.destinations:
            out.send(to, {{"clock": list(self.clock), "message": message}})

    def receive(self, out, src, packet):
        self.waiting.append((src, packet))
        while found := [each for each in self.waiting if self.fits(*each)]:
            self.waiting.remove(found[0])
            self.clock[found[0][0]] += 1
            out.deliver(found[0][1]["message"])

    def fits(self, src, packet):
        clock, late = packet["clock"], sum(self.clock) >= {careful}
        others = [at for at in range(len(clock)) if at != src and not late]
        return clock[src] == self.clock[src] + 1 and all(clock[k] <= self.clock[k] for k in others)
"""

QUICK = ("--engine", "plain", "--workload", "broadcast", "--quiet")


def adapter(tmp_path: Path, body: str, name: str = "node.py") -> str:
    (tmp_path / name).write_text(body)
    return str(tmp_path / name)


def test_a_mistake_is_found_and_its_trace_replayed(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    node, trace = adapter(tmp_path, HASTY.format(after="", careful=0)), str(tmp_path / "t.json")
    assert main(["test", node, "--messages", "1", *QUICK, "--trace", trace]) == 1
    assert "causal-delivery, after 5 transitions" in capsys.readouterr().out
    assert main(["replay", trace, "--protocol", node]) == 1
    assert "still VIOLATED" in capsys.readouterr().out


def test_code_without_the_mistake_holds(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    node = adapter(tmp_path, HASTY.format(after="", careful=99))
    assert main(["test", f"{node}:Hasty", "--messages", "1", *QUICK]) == 0
    assert "HOLDS" in capsys.readouterr().out


@pytest.mark.integration
def test_what_lies_beyond_the_bounds_is_found_by_walks_and_shortened(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    node = adapter(tmp_path, HASTY.format(after=" once it is old", careful=4))
    result = tmp_path / "result.json"
    asked = ["test", node, "--messages", "2", "--max-states", "300", "--walks", "200", *QUICK]
    assert main([*asked, "--json", str(result)]) == 1
    said = capsys.readouterr().out
    assert "Breadth-first, nothing is violated" in said
    length = json.loads(result.read_text())["counterexample"]["length"]
    assert length <= 13
    assert main([*asked[:-3], "--walks", "0", *QUICK]) == 3


def test_where_nothing_is_found_beyond_the_bounds_the_test_is_incomplete(tmp_path: Path) -> None:
    node = adapter(tmp_path, HASTY.format(after="", careful=99))
    asked = ["test", node, "--messages", "2", "--max-states", "50", "--walks", "5"]
    assert main([*asked, *QUICK]) == 3


def test_walks_have_the_time_that_the_search_leaves(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    given: list[float] = []

    def recording(spec: Spec, options: Options, bounds: Bounds, **more: Any) -> CheckReport:
        given.append(bounds.max_seconds or 0)
        return check(spec, options, bounds, **more)

    monkeypatch.setattr(run, "check", recording)
    node = adapter(tmp_path, HASTY.format(after="", careful=99))
    asked = ["test", node, "--messages", "2", "--max-states", "50", "--max-seconds", "1000"]
    assert main([*asked, "--walks", "5", *QUICK]) == 3
    assert given[0] == 500
    assert 500 <= given[1] < 1000
    assert main([*asked, "--walks", "0", *QUICK]) == 3
    assert given[2:] == [1000]


def test_no_walk_begins_when_the_time_is_over(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    node = adapter(tmp_path, HASTY.format(after="", careful=99))
    assert main(["test", node, "--messages", "2", "--max-seconds", "0.0001", *QUICK]) == 3
    assert "INCOMPLETE: --max-seconds 0.0001 reached" in capsys.readouterr().out


def test_a_program_that_hangs_when_it_is_started_ends_in_time(
    capsys: pytest.CaptureFixture[str],
) -> None:
    command = shlex.join([sys.executable, "-c", "import time; time.sleep(1000)"])
    assert main(["test", f"pipe:{command}", "--max-seconds", "0.01"]) == 3
    assert "--max-seconds 0.01 reached, before the search began" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("body", "said"),
    [
        (
            "class Node:\n    def __init__(self, a, b): ...\n"
            "    def causal_send(self, out, message): ...",
            "Node has no method receive",
        ),
        (
            "class Node:\n    def __init__(self): ...\n    causal_send = receive = None",
            "antecede cannot call Node(actor, actors): too many",
        ),
        (
            "class Node:\n    def __init__(self, a, b): ...\n"
            "    def causal_send(self, message): ...\n    def receive(self, out, src, packet): ...",
            "antecede cannot call Node.causal_send(out, message): too many",
        ),
        ("x = 1", "defines no protocol; give an antecede.Protocol, or a class with"),
    ],
)
def test_an_adapter_that_lacks_something_is_refused_in_a_sentence(
    body: str, said: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["test", adapter(tmp_path, body)]) == 2
    assert said in capsys.readouterr().err


def test_what_is_no_adapter_is_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["test", adapter(tmp_path, "x = 1") + ":x"]) == 2
    assert "is an int; give an antecede.Protocol, or a class with" in capsys.readouterr().err


def test_walks_of_objects_without_a_final_state_end(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """On a network that duplicates, each packet may arrive again forever."""
    body = HASTY.format(after="", careful=99) + '    copies = "replay"\n'
    node = adapter(tmp_path, body)
    asked = ("--actors", "2", "--messages", "1", "--network", "duplicating", "--walks", "2")
    assert main(["test", f"{node}:Hasty", *asked, "--max-states", "30", *QUICK]) == 3
    out = " ".join(capsys.readouterr().out.split())
    assert "Random walks beyond, of at most 100 transitions each" in out
    assert "up to 100 steps deep" in out
    assert "Give the class a method key()" in out
