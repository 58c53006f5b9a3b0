"""The causality oracle on logs of real systems."""

from __future__ import annotations

import json
import random
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from antecede.checker.logs import audit as audits
from antecede.checker.logs.judge.findings import Audit
from antecede.checker.support.errors import InputError
from tests.conftest import ROOT, Command

ALICE_BOB_CAROL = """
alice send m1 carol
alice send m2 bob
bob deliver m2
bob send m3 carol
carol deliver m3
carol deliver m1
"""


def audit(*paths: Path, **how: Any) -> Audit:
    return audits.audit([*map(str, paths)], **how)


def log(tmp_path: Path, text: str) -> Path:
    """Write a log from lines such as `alice send m1 bob,carol` and `bob deliver m1`."""
    lines = []
    for line in text.strip().splitlines():
        actor, kind, message, *to = line.split()
        event: dict[str, Any] = {"actor": actor, "message": message}
        event["event"] = "causal-send" if kind == "send" else "deliver"
        if to:
            event["to"] = to[0].split(",")
        lines.append(json.dumps(event))
    path = tmp_path / "log.jsonl"
    path.write_text("\n".join(lines) + "\n")
    return path


def findings(found: Audit) -> list[tuple[str, int]]:
    return [(finding.kind, finding.line) for finding in (*found.findings, *found.undelivered)]


def test_causal_order_is_fine(tmp_path: Path) -> None:
    wrong, right = "carol deliver m3\ncarol deliver m1", "carol deliver m1\ncarol deliver m3"
    found = audit(log(tmp_path, ALICE_BOB_CAROL.replace(wrong, right)))
    assert [] == findings(found)
    assert (3, 3, 3, 6) == (found.actors, found.causal_sends, found.deliveries, found.events)


def test_the_pair_and_the_chain_of_a_violation_are_named(tmp_path: Path) -> None:
    found = audit(log(tmp_path, ALICE_BOB_CAROL))
    assert [("causal-delivery", 6)] == findings(found)
    (finding,) = found.findings
    assert ("carol", "m1", "m3") == (finding.actor, finding.first, finding.second)
    assert ("m1", "m2", "m3") == finding.chain


def test_concurrent_messages_may_arrive_in_any_order(tmp_path: Path) -> None:
    text = "a send m1 c\nb send m2 c\nc deliver m2\nc deliver m1"
    assert [] == findings(audit(log(tmp_path, text)))


def test_a_delivery_that_stands_before_its_causal_send_waits_for_it(tmp_path: Path) -> None:
    lines = ALICE_BOB_CAROL.strip().splitlines()
    by_actor = sorted(lines, key=lambda line: "cba".index(line[0]))
    found = audit(log(tmp_path, "\n".join(by_actor)))
    assert ["causal-delivery"] == [kind for kind, _ in findings(found)]
    assert ("m1", "m2", "m3") == found.findings[0].chain


def test_what_is_wrong_is_told_with_its_line(tmp_path: Path) -> None:
    text = """
a send m1 b
b deliver m1
b deliver m1
c deliver m1
c deliver ghost
a send m1 c
a send m2 b,c
b deliver m2
"""
    found = audit(log(tmp_path, text))
    assert [
        ("impossible", 6),
        ("integrity", 3),
        ("integrity", 4),
        ("impossible", 5),
        ("undelivered", 7),
    ] == findings(found)
    assert "m2 of a was not processed at c" == found.undelivered[0].text


def test_deliveries_that_wait_for_each_other_are_impossible(tmp_path: Path) -> None:
    text = "a deliver m2\na send m1 b\nb deliver m1\nb send m2 a"
    found = audit(log(tmp_path, text))
    assert [("impossible", 1), ("impossible", 3)] == findings(found)


@settings(max_examples=60)
@given(seed=st.integers(0, 10**6), delays=st.booleans())
def test_agrees_with_vector_clocks_by_the_definition(
    tmp_path_factory: pytest.TempPathFactory, seed: int, delays: bool
) -> None:
    draw = random.Random(seed)
    actors, text, past, flight = "abcd", [], {name: set[str]() for name in "abcd"}, []
    before: dict[str, set[str]] = {}
    delivered: dict[str, list[str]] = {name: [] for name in actors}
    expected = 0
    for number in range(12):
        actor = draw.choice(actors)
        to = draw.choice([each for each in actors if each != actor])
        name = f"m{number}"
        before[name] = set(past[actor])
        past[actor].add(name)
        text.append(f"{actor} send {name} {to}")
        flight.append((name, to))
        while flight and draw.random() < 0.6:
            name, to = flight.pop(draw.randrange(len(flight)) if delays else 0)
            expected += any(name in before[other] for other in delivered[to])
            delivered[to].append(name)
            past[to] |= before[name] | {name}
            text.append(f"{to} deliver {name}")
    found = audit(log(tmp_path_factory.mktemp("log"), "\n".join(text)))
    assert expected == len([f for f in found.findings if f.kind == "causal-delivery"])


@pytest.mark.parametrize(
    ("line", "text"),
    [
        ("{]", "line 2: this is not JSON"),
        ("x y", "; a line is an object with actor, event and message"),
        ("[]", "line 2: a line is an object"),
        ('{"actor": "a", "message": "m"}', "no field 'event' among actor, message; name"),
        ('{"host": "a", "event": "deliver"}', "name the actor's field with --fields actor=FIELD"),
        ('{"event": null}', "line 2: 'event' is None; give a text"),
        ('{"actor": "a", "event": "recv", "message": "m"}', "unknown event 'recv'; available: "),
        ('{"actor": "a", "event": "recv", "message": "m"}', "--fields send=WORD,deliver=WORD"),
        ('{"actor": "a", "event": "deliver", "message": null}', "'message' is None"),
        ('{"actor": "a", "event": "causal-send", "message": 1, "to": "b"}', "'to' is 'b'"),
    ],
)
def test_a_line_that_is_no_event_is_named(tmp_path: Path, line: str, text: str) -> None:
    path = tmp_path / "log.jsonl"
    path.write_text(
        '{"actor": "a", "event": "causal-send", "message": "m"}\n' + f"{line}\n{line}\n"
    )
    with pytest.raises(InputError, match=re.escape(text)):
        audit(path)


# The command


def test_the_command_reports_and_exits_like_check(antecede: Command, tmp_path: Path) -> None:
    file = log(tmp_path, ALICE_BOB_CAROL)
    ran = antecede("audit", file)
    assert 1 == ran.code
    assert "line 6: causal-delivery: carol processes m1 after m3" in ran.out
    assert "m1 → m2 → m3" in ran.out
    ran = antecede("audit", file, "--json", "-")
    assert ["m1", "m2", "m3"] == json.loads(ran.out)["findings"][0]["chain"]
    assert 2 == antecede("audit", tmp_path / "none.jsonl").code


def test_a_log_that_ends_early_may_leave_messages_in_transit(
    antecede: Command, tmp_path: Path
) -> None:
    file = log(tmp_path, "a send m1 b")
    assert 1 == antecede("audit", file).code
    assert 3 == antecede("audit", file, "--unfinished").code


@pytest.mark.integration
def test_the_documented_example_shows_what_the_documentation_says(
    antecede: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    text = (ROOT / "docs" / "audit.md").read_text(encoding="utf-8")
    recording = (ROOT / "docs" / "log-formats.md").read_text(encoding="utf-8")
    (program,) = re.findall(r"```python\n(.*?)```", recording, re.DOTALL)
    (shown,) = re.findall(r"```text\n\$ [^\n]*\n(.*?)```", text, re.DOTALL)
    (lines,) = re.findall(r"```json\n(.*?)```", text, re.DOTALL)
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, check=True)
    assert lines == done.stdout.decode()
    (tmp_path / "example.jsonl").write_bytes(done.stdout)
    monkeypatch.chdir(tmp_path)
    assert shown == antecede("audit", "example.jsonl").out
