"""Tables and spans as logs have the findings of JSON objects."""

from __future__ import annotations

from pathlib import Path

import pytest

from antecede.checker.logs.readers.records import fields_from
from antecede.checker.support.errors import InputError
from tests.logs.test_audit import ALICE_BOB_CAROL, audit, findings, log

EVENTS = [line.split() for line in ALICE_BOB_CAROL.strip().splitlines()]


def test_a_table_has_the_findings_of_the_same_json_objects(tmp_path: Path) -> None:
    rows = ["note,message,actor,event,to"]
    for actor, kind, message, *to in EVENTS:
        event = "causal-send" if kind == "send" else "deliver"
        rows.append(f'"a, b",{message},{actor},{event},{" ".join(to)}')
    (tmp_path / "log.csv").write_text("\n".join(rows) + "\n")
    (finding,) = audit(tmp_path / "log.csv").findings
    (expected,) = audit(log(tmp_path, ALICE_BOB_CAROL)).findings
    assert (expected.text, expected.chain) == (finding.text, finding.chain)
    assert 7 == finding.line


def test_the_columns_of_a_table_may_have_other_names(tmp_path: Path) -> None:
    (tmp_path / "log").write_text("host,what,id\na,PUB,1\nb,SUB,1\nb,PING,2\n")
    fields = fields_from("actor=host,event=what,message=id,send=PUB,deliver=SUB")
    found = audit(tmp_path / "log", fields=fields)
    assert (2, 1, 1) == (found.actors, found.causal_sends, found.deliveries)


@pytest.mark.parametrize("delimiter", [",", ";", "\t"])
def test_spreadsheets_separate_columns_in_several_ways(delimiter: str, tmp_path: Path) -> None:
    rows = [["actor", "event", "message", "to"], ["a", "sent", "m", "b|c"]]
    rows += [["b", "processed", "m", ""], ["c", "processed", "m", ""]]
    text = "\ufeff" + "".join(f"{delimiter.join(row)}\r\n" for row in rows)
    (tmp_path / "log").write_text(text, newline="")
    found = audit(tmp_path / "log")
    assert (3, 1, 2, 0, 0) == (
        found.actors,
        found.causal_sends,
        found.deliveries,
        found.open,
        found.unaddressed,
    )


def test_commas_separate_destinations_in_quotes(tmp_path: Path) -> None:
    text = 'actor,event,message,to\na,sent,m,"b,c"\nb,processed,m,\nc,processed,m,\n'
    (tmp_path / "log").write_text(text)
    assert [] == findings(audit(tmp_path / "log"))


def test_values_of_a_table_may_have_line_breaks(tmp_path: Path) -> None:
    text = (
        'actor,event,message,note\na,sent,m,"one\n\ntwo, ""three"""\n"b\nc",processed,m,\n'
        'a,sent,n,"never closed\nd,processed,m,"x"\nd,processed,m,\n'
    )
    (tmp_path / "log").write_text(text)
    found = audit(tmp_path / "log")
    (finding,) = found.findings
    assert ('d processes "m" again', 9) == (finding.text, finding.line)
    assert (4, 1, 3) == (found.events, found.causal_sends, found.deliveries)
    assert [(1, 7)] == [(each.lines, each.first) for each in found.foreign]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("actor,event\na,b\n", "no column 'message' among actor, event"),
        ("actor,event,message\na,deliver\n", "2 values for 3 columns"),
        ('actor,event,message\n"a,deliver,m\n', "line 2: no CSV"),
        ("actor,event,message\na,get,m\n", "unknown event 'get'"),
    ],
)
def test_a_table_that_is_no_log_is_refused(text: str, expected: str, tmp_path: Path) -> None:
    (tmp_path / "log").write_text(text)
    with pytest.raises(InputError, match=expected):
        audit(tmp_path / "log", format="csv")


@pytest.mark.parametrize("text", ["actor=", "=x", "who=x", "actor"])
def test_a_field_that_is_none_is_refused(text: str) -> None:
    with pytest.raises(InputError, match="names no field"):
        fields_from(text)


@pytest.mark.parametrize(
    "line",
    [
        '{"resourceSpans": 1}',
        '{"resourceSpans": [{"scopeSpans": [{"spans": [1]}]}]}',
        '{"resourceSpans": [{"scopeSpans": [{"spans": [{"kind": 4}]}]}]}',
        '{"resourceSpans": [{"scopeSpans": [{"spans": [{"kind": 5, "startTimeUnixNano": 1}]}]}]}',
        '{"resourceSpans": [{"scopeSpans": [{"spans": [{"kind": [], "spanId": 1}]}]}]}',
        '{"resourceSpans": [{"resource": 1}]}',
    ],
)
def test_spans_that_lack_something_are_refused(line: str, tmp_path: Path) -> None:
    (tmp_path / "log").write_text(line + "\n")
    with pytest.raises(InputError):
        audit(tmp_path / "log")


def test_a_first_line_that_is_no_record_is_said(tmp_path: Path) -> None:
    (tmp_path / "log").write_bytes(b"actor,event\r,message\na,causal-send,m\n")
    with pytest.raises(InputError, match="line 1"):
        audit(tmp_path / "log")
