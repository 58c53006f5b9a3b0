"""Torn lines are skipped and told, and records that were glued behind them are read."""

from __future__ import annotations

import json
import random
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from antecede.checker.logs import audit as audits
from antecede.checker.logs.judge.findings import Audit
from antecede.checker.logs.readers import sources
from antecede.checker.logs.readers.torn import records
from antecede.checker.support.errors import InputError
from tests.conftest import Command
from tests.logs.test_compiled import all_of
from tests.logs.test_spread import in_pieces

SENT = {"actor": "alice", "event": "causal-send", "message": "{m1}", "to": ["bob", 'ca"r{ol\\']}
OTHER = {"actor": "alice", "event": "causal-send", "message": "m2", "to": ["bob"]}
LATE = {"actor": "bob", "event": "deliver", "message": "{m1}"}
EARLY = {"actor": "bob", "event": "deliver", "message": "m2"}
DECODER = json.JSONDecoder()


def log(tmp_path: Path, *lines: str) -> Path:
    path = tmp_path / "log.jsonl"
    path.write_text("\n".join(lines), encoding="utf-8")
    return path


def judged(path: Path) -> Audit:
    """Return what all judges say of a log, which is the same."""
    plain, compiled = (audits.audit([str(path)], compiled=compiled) for compiled in (False, True))
    spread, _ = in_pieces([str(path)], 120)
    assert all_of(plain) == all_of(compiled) == all_of(spread)
    assert plain.torn == compiled.torn == spread.torn
    return plain


values = st.recursive(  # JSON has no infinity
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner),
    max_leaves=6,
)


@pytest.mark.integration
@settings(max_examples=200)
@given(
    whole=st.dictionaries(st.text(max_size=5), values, min_size=1),
    cut=st.integers(0, 2**16),
    ascii_only=st.booleans(),
)
def test_a_record_behind_any_start_of_an_object_is_found(
    whole: dict[str, Any], cut: int, ascii_only: bool
) -> None:
    text = json.dumps(whole, ensure_ascii=ascii_only)
    torn = text[: 1 + cut % (len(text) - 1)]
    assert ([], True) == records(torn, lambda record: record == EARLY, DECODER)
    glued = torn + json.dumps(EARLY)
    assert ([EARLY], True) == records(glued, lambda record: record == EARLY, DECODER)
    assert ([whole, EARLY], False) == records(text + json.dumps(EARLY), lambda _: True, DECODER)


@pytest.mark.parametrize(
    "line", ["x", "{]", "{,", '{"a" 1}', '{"a": 1} x', 'x {"a": 1}', "[1", "1"]
)
def test_what_is_no_start_of_an_object_is_not_torn(line: str) -> None:
    assert records(line, lambda _: True, DECODER) is None


@pytest.mark.integration
def test_a_torn_line_is_skipped_and_the_record_behind_it_is_judged(tmp_path: Path) -> None:
    torn = json.dumps(SENT)
    for cut in range(1, len(torn)):
        path = log(
            tmp_path,
            json.dumps(SENT),
            json.dumps(OTHER),
            torn[:cut] + json.dumps(EARLY),
            torn[: cut // 2],
            "",
            torn[:cut] + torn[: cut // 2 + 1] + json.dumps(LATE),
            torn[:cut],
        )
        found = judged(path)
        assert [("causal-delivery", 6)] == [(f.kind, f.line) for f in found.findings]
        lines = [3, 4, 6, 7] if cut > 1 else [3, 6, 7]
        assert lines == [line for _, line in found.torn]


def test_whole_records_in_one_line_are_all_judged_and_nothing_is_lost(tmp_path: Path) -> None:
    glued = [json.dumps(event) for event in (EARLY, LATE, OTHER, SENT)]
    found = judged(log(tmp_path, json.dumps(SENT), json.dumps(OTHER), "".join(glued), ""))
    assert [("impossible", "m2"), ("impossible", "{m1}"), ("causal-delivery", "{m1}")] == [
        (f.kind, f.first) for f in found.findings
    ]
    assert () == found.torn


def test_the_report_says_which_lines_are_torn(antecede: Command, tmp_path: Path) -> None:
    path = log(tmp_path, json.dumps(OTHER), json.dumps(OTHER)[:30] + json.dumps(EARLY), "")
    ran = antecede("audit", path, "--json", tmp_path / "found.json")
    assert 0 == ran.code
    assert "1 line is torn, so an event may be missing (line 2)." in ran.out
    assert "every message was processed" not in ran.out
    said = json.loads((tmp_path / "found.json").read_text())
    assert [{"log": str(path), "line": 2}] == said["torn_lines"]
    (tmp_path / "other").write_text(json.dumps({**OTHER, "actor": "dora", "message": "m3"}) + "\n{")
    ran = antecede("audit", path, tmp_path / "other", "--unfinished")
    assert f"(lines {path}:2, {tmp_path}/other:2)" in " ".join(ran.out.split())


def test_a_log_of_torn_lines_is_refused(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(sources, "MOST_TORN", 9)
    path = log(tmp_path, json.dumps(OTHER), *["{"] * 20)
    for compiled in (False, True):
        with pytest.raises(InputError, match="line 11: more than 9 lines are torn"):
            audits.audit([str(path)], compiled=compiled)


def test_a_log_whose_first_line_is_torn_is_one_of_json_objects(tmp_path: Path) -> None:
    path = log(tmp_path, json.dumps(OTHER)[:9], json.dumps(OTHER), json.dumps(EARLY))
    assert 2 == judged(path).events


def test_objects_inside_a_torn_one_are_no_records(tmp_path: Path) -> None:
    draw = random.Random(1)
    nested = {"note": {"event": {"x": [{"y": 1}]}}, **OTHER}
    text = json.dumps(nested)
    for _ in range(20):
        torn = text[: draw.randrange(40, len(text))]
        assert 2 == judged(log(tmp_path, json.dumps(OTHER), torn + json.dumps(EARLY))).events
