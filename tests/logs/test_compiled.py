"""Compiled kernels say what plain Python says, on logs with every kind of fault."""

from __future__ import annotations

import json
import random
from pathlib import Path
from typing import Any

import pytest

from antecede.checker.compiled import cache
from antecede.checker.logs import audit as audits
from antecede.checker.logs.events.batches import Batch
from antecede.checker.logs.executions import Execution
from antecede.checker.logs.judge.findings import Audit, Finding, How
from antecede.checker.logs.judge.judge import Judge
from antecede.checker.logs.readers.parser import Parser
from antecede.checker.logs.readers.records import Fields, fields_from
from antecede.checker.logs.readers.sources import opened
from antecede.checker.support.errors import InputError
from tests.logs.test_audit import ALICE_BOB_CAROL, log

Lines = list[tuple[str, str]]


def all_of(found: Audit) -> list[Any]:
    """Return all that an audit says."""

    def told(finding: Finding) -> tuple[Any, ...]:
        events = [(e.log, e.line, e.actor, e.kind, e.message) for e in finding.events]
        return (finding, events)

    counts = (found.actors, found.causal_sends, found.deliveries, found.events)
    return [
        *map(told, found.findings),
        *map(told, found.undelivered),
        counts,
        (found.open, found.unaddressed, found.logs),
    ]


def both(paths: list[Path], fields: str | None = None) -> tuple[list[Any], list[Any]]:
    """Return the findings, or the errors, of the plain and of the compiled judge."""
    said = []
    for compiled in (False, True):
        try:
            names = [str(path) for path in paths]
            found = audits.audit(names, fields=fields_from(fields), compiled=compiled)
            said.append(all_of(found))
        except InputError as error:
            said.append([str(error)])
    return said[0], said[1]


def wild(draw: random.Random, actors: int, events: int) -> Lines:
    """Return (actor, line) pairs of a system with many faults, in the order of the events."""
    names = [draw.choice(["a{}", "ä{}", "actor number {}", "{}"]).format(n) for n in range(actors)]
    order, lines, sent = draw.random(), Lines(), 0
    transit: list[tuple[str, Any]] = []
    for _ in range(events):
        if not transit or draw.random() < 0.5:
            sent += 1
            actor = draw.choice(names)
            to = draw.sample(names, min(actors, draw.choice([1, 1, 1, 2, 5])))
            message: Any = f"m{sent}" if draw.random() < 0.98 else f"m{draw.randrange(1, sent + 1)}"
            message = sent if draw.random() < 0.05 else message
            value = {"actor": actor, "event": "causal-send", "message": message, "to": to}
            if draw.random() < 0.05:
                del value["to"]
            if draw.random() < 0.01:
                value["to"] = []
            transit += [(each, message) for each in to]
        else:
            at = draw.randrange(len(transit)) if draw.random() < order else 0
            actor, message = transit[at]
            if draw.random() < 0.97:
                transit.pop(at)
            if draw.random() < 0.02:
                actor = draw.choice(names)
            if draw.random() < 0.01:
                message = f"ghost{draw.randrange(99)}"
            value = {"actor": actor, "event": "deliver", "message": message}
        lines.append((str(value["actor"]), dressed(draw, value)))
    return lines


def dressed(draw: random.Random, value: dict[str, Any]) -> str:
    """Return an event as a line, in one of the many ways of JSON."""
    items = list(value.items())
    draw.shuffle(items)
    if draw.random() < 0.1:
        items.insert(draw.randrange(len(items)), ("note", draw.choice([1, "x", "\\", None, [1.5]])))
    compact = {"separators": (",", ":")} if draw.random() < 0.3 else {}
    text = json.dumps(dict(items), ensure_ascii=draw.random() < 0.1, **compact)  # type: ignore[arg-type]
    return draw.choice(["", "", "", " ", "\t"]) + text + draw.choice(["", "", "", " ", "\r"])


def shuffled(draw: random.Random, lines: Lines) -> Lines:
    """Return the lines in another interleaving of the actors."""
    queues: dict[str, list[str]] = {}
    for actor, line in lines:
        queues.setdefault(actor, []).append(line)
    for queue in queues.values():
        queue.reverse()
    found = Lines()
    while queues:
        actor = draw.choice(sorted(queues))
        for _ in range(draw.choice([1, 3, 50])):
            if queues[actor]:
                found.append((actor, queues[actor].pop()))
        if not queues[actor]:
            del queues[actor]
    return found


def write(path: Path, lines: Lines, blank: bool = False) -> Path:
    text = ("\n\n" if blank else "\n").join(line for _, line in lines)
    path.write_bytes(text.encode())
    return path


@pytest.mark.integration
@pytest.mark.parametrize("seed", range(60))
def test_both_judges_say_the_same_of_logs_in_which_everything_is_wrong(
    seed: int, tmp_path: Path
) -> None:
    draw = random.Random(seed)
    lines = wild(draw, draw.choice([2, 4, 9, 40]), draw.choice([20, 200, 1500]))
    if seed % 3:
        lines = shuffled(draw, lines)
    plain, compiled = both([write(tmp_path / "log", lines, blank=seed % 7 == 0)])
    assert plain == compiled


@pytest.mark.parametrize("seed", range(12))
def test_both_judges_say_the_same_of_several_logs(seed: int, tmp_path: Path) -> None:
    draw = random.Random(seed)
    lines = wild(draw, 5, 300)
    homes = {actor: draw.randrange(3) for actor, _ in lines}
    if seed == 5:
        homes = {}  # two logs have events of one actor
    logs: list[Lines] = [[], [], []]
    for actor, line in lines:
        logs[homes.get(actor, draw.randrange(3))].append((actor, line))
    paths = [write(tmp_path / f"log{n}", part) for n, part in enumerate(logs) if part]
    draw.shuffle(paths)
    plain, compiled = both(paths)
    assert plain == compiled
    assert (seed == 5) == ("two logs have no order" in str(plain[0]))


def test_random_logs_have_all_kinds_of_findings(tmp_path: Path) -> None:
    """So that the comparisons above compare something."""
    kinds = set()
    for seed in range(12):
        path = write(tmp_path / "log", wild(random.Random(seed), 9, 200))
        found = audits.audit([str(path)])
        kinds |= {f.kind for f in (*found.findings, *found.undelivered)}
        kinds |= {word for f in found.findings for word in ("again", "not sent") if word in f.text}
    assert {
        "causal-delivery",
        "integrity",
        "impossible",
        "undelivered",
        "again",
        "not sent",
    } <= kinds


@pytest.mark.parametrize(
    "line",
    [
        "{",
        "[]",
        '{"actor": 01, "event": "deliver", "message": "m"}',
        '{"actor": -0, "event": "deliver", "message": "m"}',
        '{"actor": 1.5, "event": "deliver", "message": "m"}',
        '{"actor": true, "event": "deliver", "message": "m"}',
        '{"actor": "a", "actor": "b", "event": "deliver", "message": "m"}',
        '{"actor": "a", "event": "recv", "message": "m"}',
        '{"actor": "a", "event": "causal-send", "message": "n", "to": ["b",]}',
        '{"actor": "a", "event": "causal-send", "message": "n", "to": ["b" "c"]}',
        '{"actor": "a", "event": "causal-send", "message": "n", "to": "b"}',
        '{"actor": "a", "event": "causal-send", "message": "n", "to": null}',
        '{"actor": "a", "event": "causal-send", "message": "n", "to": ["b]", "\\u0062]"]}',
        '{"actor": "a", "event": "causal-send", "message": "n", "to": ["b", "b", 1, "1"]}',
        '{"actor": "a", "event": "causal-send", "message": "n"} x',
        '{"actor": "a", "event": "causal-send", "message": "n",}',
        '{"actor": "a\u0001", "event": "causal-send", "message": "n"}',
        '{"actor": "\\ud800", "event": "causal-send", "message": "\\ud801", "to": ["b"]}',
        '{"actor": "", "event": "causal-send", "message": "", "to": [""]}',
        '{"message": "m", "x": {"y": [1, {}]}, "event": "deliver", "actor": "b"}',
        '{"actor": "a", "event": "causal-send", "message": "n", "to": []}',
        '\ufeff{"actor": "a", "event": "causal-send", "message": "n", "to": []}',
    ],
)
def test_both_judges_read_a_strange_line_alike(line: str, tmp_path: Path) -> None:
    first = '{"actor": "a", "event": "causal-send", "message": "m", "to": ["b"]}\n'
    (tmp_path / "log").write_text(f"{first}{line}\n\n", encoding="utf-8")
    plain, compiled = both([tmp_path / "log"])
    assert plain == compiled


@pytest.mark.integration
def test_lines_that_are_read_again_with_larger_tables_are_counted_once(tmp_path: Path) -> None:
    send = '{"actor": "a", "event": "causal-send", "message": "m%d", "to": ["b"]}\n'
    late = '{"actor": "b", "event": "deliver", "message": "m2"}\n\n' * 2
    (tmp_path / "log").write_text("".join(send % at for at in range(20_000)) + late)
    plain, compiled = both([tmp_path / "log"])
    assert plain == compiled
    assert ("integrity", 20_003) == (plain[0][0].kind, plain[0][0].line)


def test_both_judges_know_the_fields_of_other_programs(tmp_path: Path) -> None:
    text = log(tmp_path, ALICE_BOB_CAROL).read_text()
    for ours, theirs in (("actor", "host"), ("causal-send", "PUB"), ("deliver", "SUB")):
        text = text.replace(f'"{ours}"', f'"{theirs}"')
    (tmp_path / "log").write_text(text + '{"host": "alice", "event": "START", "message": 0}\n')
    plain, compiled = both([tmp_path / "log"], "actor=host,send=PUB,deliver=SUB")
    assert plain == compiled
    assert ("m1", "m2", "m3") == plain[0][0].chain


@pytest.mark.parametrize(
    ("on_disk", "least", "least_uncompiled", "compiled"),
    [
        (True, 300, 1 << 20, True),
        (True, 1 << 20, 1 << 20, False),
        (False, 300, 1 << 20, False),  # compiling would take longer
        (False, 1, 300, True),
    ],
)
def test_the_size_of_a_log_says_whether_kernels_are_compiled(
    on_disk: bool,
    least: int,
    least_uncompiled: int,
    compiled: bool,
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
) -> None:
    monkeypatch.setattr(audits, "LARGE", least)
    monkeypatch.setattr(audits, "LARGE_UNCOMPILED", least_uncompiled)
    monkeypatch.setattr(cache, "compiled_in", lambda _home: tmp_path if on_disk else None)
    monkeypatch.setattr(cache, "lacking", lambda home: None)
    path, chosen, take = str(log(tmp_path, ALICE_BOB_CAROL)), list[bool](), Judge.take

    def noted(self: Judge, batch: Batch) -> None:
        chosen.append(self.compiled)
        take(self, batch)

    monkeypatch.setattr(Judge, "take", noted)
    assert 1 == len(audits.audit([path]).findings)
    assert [compiled] == chosen


def test_memory_goes_into_what_is_undelivered(tmp_path: Path) -> None:
    """Tables of messages in transit and of chunks stay small in a log that has few of them."""
    lines = []
    for at in range(20_000):
        lines.append(f"a{at % 7} send m{at} a{(at + 1) % 7}")
        lines.append(f"a{(at + 1) % 7} deliver m{at}")
    execution = Execution(How(), True, True)
    with opened(str(log(tmp_path, "\n".join(lines)))) as source:
        assert isinstance(execution.reader, Parser)
        execution.reader.read(source, Fields(), lambda _bytes, _events: None)
    execution.ahead.wait()
    t = execution.judge.tables
    sizes = [len(each) for each in (t.free_slots, t.free_chunks, t.free_nodes, t.pairs)]
    execution.close()
    assert [256] * 4 == sizes
