"""Lines that are no events, text before events, rotated files: all judges read them alike."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from antecede.checker.logs import audit as audits
from antecede.checker.logs.judge.findings import Audit, How
from antecede.checker.logs.readers.records import fields_from
from antecede.checker.logs.readers.sources import Foreign, parts_of_logs
from antecede.checker.support.errors import InputError
from tests.conftest import Command
from tests.logs.test_audit import ALICE_BOB_CAROL, log
from tests.logs.test_compiled import all_of
from tests.logs.test_spread import in_pieces

EVENTS = [
    {"actor": "a", "event": "causal-send", "message": "m", "to": ["b"]},
    {"actor": "a", "event": "causal-send", "message": "n", "to": ["b"]},
    {"actor": "b", "event": "deliver", "message": "n"},
    {"actor": "b", "event": "deliver", "message": "m"},
]
LINES = [json.dumps(event) for event in EVENTS]


def judged(path: Path) -> Audit:
    """Return what all judges say of a log, which is the same."""
    plain, compiled = (audits.audit([str(path)], compiled=compiled) for compiled in (False, True))
    spread, _ = in_pieces([str(path)], 120)
    assert all_of(plain) == all_of(compiled) == all_of(spread)
    assert (plain.torn, plain.foreign) == (compiled.torn, compiled.foreign)
    assert (plain.torn, plain.foreign) == (spread.torn, spread.foreign)
    return plain


def write(path: Path, *lines: str) -> Path:
    path.write_text("\n".join([*lines, ""]), encoding="utf-8")
    return path


@pytest.mark.parametrize(
    "line",
    [
        "Listening on port 80",
        "[1, 2]",
        "7",
        '{"level": "info", "text": "started"}',
        '{"actor": "a", "event": "recv", "message": "m"}',
        'INFO settings {"port": 80}',
        'DEBUG got {"actor": "a"} from b',
        "{not JSON}",
        '\u00a0{ {"x": 1}',
    ],
)
def test_a_line_that_is_no_event_is_skipped_and_counted(line: str, tmp_path: Path) -> None:
    found = judged(write(tmp_path / "log", line, *LINES[:2], line, "", *LINES[2:]))
    assert [("causal-delivery", 7)] == [(f.kind, f.line) for f in found.findings]
    (foreign,) = found.foreign
    assert (2, 1) == (foreign.lines, foreign.first)
    assert foreign.why


@pytest.mark.parametrize(
    "prefix",
    [
        "web-1  | ",
        "\x1b[33mweb-1  |\x1b[0m 2026-11-26T22:33:03.000000000Z ",
        "[pod/web-7d9/web] ",
        "Nov 26 22:33:03 host web[12]: ",
        'INFO request={"id": 1, "event": "x"} {"a": {"b": 2}} ',
    ],
)
def test_text_before_an_event_is_skipped(prefix: str, tmp_path: Path) -> None:
    """Such as the names of containers in `docker compose logs`."""
    text = [prefix + line for line in LINES]
    found = judged(write(tmp_path / "log", f"{prefix}started", *text))
    assert [("causal-delivery", 5)] == [(f.kind, f.line) for f in found.findings]
    assert [(1, 1)] == [(each.lines, each.first) for each in found.foreign]


def test_a_torn_line_behind_text_is_torn(tmp_path: Path) -> None:
    found = judged(write(tmp_path / "log", *LINES, "web-1 | " + LINES[0][:30]))
    assert [5] == [line for _, line in found.torn]


def test_a_log_of_other_lines_is_refused(tmp_path: Path) -> None:
    path = write(tmp_path / "log", *LINES, *["started"] * 4)
    assert 4 == judged(path).foreign[0].lines
    write(path, *LINES, *["started"] * 5)
    said = "line 5: .*not JSON .*. Only 4 of 9 lines of the log are events"
    for compiled in (False, True):
        with pytest.raises(InputError, match=said):
            audits.audit([str(path)], compiled=compiled)


def test_an_event_without_an_actor_is_still_an_error(tmp_path: Path) -> None:
    path = write(tmp_path / "log", *LINES, '{"event": "deliver", "message": "m"}')
    for compiled in (False, True):
        with pytest.raises(InputError, match="line 5: there is no field 'actor'"):
            audits.audit([str(path)], compiled=compiled)


@pytest.mark.integration
def test_other_events_of_a_log_with_words_of_its_own_are_counted(tmp_path: Path) -> None:
    """The compiled judge counts each once, although it reads lines again with larger tables."""
    send = '{"actor": "a", "event": "PUB", "message": "m%d"}\n{"actor": "a", "event": "PING"}\n'
    other = '{"actor": "a", "event": "PING", "message": "x"}\n\n'
    path = tmp_path / "log"
    path.write_text("".join(send % at + other for at in range(20_000)))
    fields = fields_from("send=PUB,deliver=SUB")
    plain, compiled = (
        audits.audit([str(path)], fields=fields, compiled=compiled) for compiled in (False, True)
    )
    assert (Foreign(str(path), 40_000),) == plain.foreign == compiled.foreign


def test_other_events_of_its_own_words_do_not_make_a_log_unreadable(tmp_path: Path) -> None:
    own = [line.replace("causal-send", "PUB").replace("deliver", "SUB") for line in LINES]
    ping = '{"actor": "a", "event": "PING", "message": "x"}'
    path = write(tmp_path / "log", "started", *own, *[ping] * 90)
    fields = fields_from("send=PUB,deliver=SUB")
    plain, compiled = (
        audits.audit([str(path)], fields=fields, compiled=compiled) for compiled in (False, True)
    )
    assert plain.foreign == compiled.foreign
    assert [(91, 1, 1)] == [(each.lines, each.odd, each.first) for each in plain.foreign]


@pytest.mark.parametrize("fields", [None, "send=PUB", "deliver=SUB"])
def test_a_log_may_say_sent_and_processed(fields: str | None, tmp_path: Path) -> None:
    own = [line.replace("causal-send", "sent").replace("deliver", "processed") for line in LINES]
    if fields is not None:  # the other word stays
        old, new = ("sent", "PUB") if "PUB" in fields else ("processed", "SUB")
        own = [line.replace(old, new) for line in own]
    path = write(tmp_path / "log", *own)
    plain, compiled = (
        audits.audit([str(path)], fields=fields_from(fields), compiled=compiled)
        for compiled in (False, True)
    )
    assert all_of(plain) == all_of(compiled)
    assert [("causal-delivery", 4)] == [(f.kind, f.line) for f in plain.findings]
    assert () == plain.foreign == compiled.foreign


def test_one_word_for_both_kinds_is_refused() -> None:
    with pytest.raises(InputError, match="send and deliver are both 'x'"):
        fields_from("send=x,deliver=x")


def test_fields_inside_of_others_are_recognised_behind_other_lines(tmp_path: Path) -> None:
    """A line with the ids of a trace, and nested fields, is an event and no span."""
    nested = [json.dumps({"traceId": "1", "id": "2", "log": json.loads(line)}) for line in LINES]
    fields = fields_from("actor=log.actor,event=log.event,message=log.message,to=log.to")
    path = write(tmp_path / "log", "a,event,message", *nested)
    found = audits.audit([str(path)], fields=fields)
    assert [("causal-delivery", 5)] == [(f.kind, f.line) for f in found.findings]


def test_the_report_says_what_was_left_out(antecede: Command, tmp_path: Path) -> None:
    path = write(tmp_path / "app.log", "started", *LINES[:2], LINES[3], LINES[2], "stopped")
    ran = antecede("audit", path, "--json", tmp_path / "found.json")
    said = " ".join(ran.out.split())
    assert 0 == ran.code
    assert "2 lines are no events (the first is line 1 of app.log: this is not JSON" in said
    (shown,) = json.loads((tmp_path / "found.json").read_text())["foreign_lines"]
    assert (2, 1) == (shown["lines"], shown["first_line"])


# Tables


def test_lines_of_a_table_that_are_no_events_are_skipped(tmp_path: Path) -> None:
    rows = ["started", "actor,event,message", "a,causal-send,m", "a,boot,x", "b,deliver,m", "b,x"]
    rows.append("a,causal-send,n")
    found = audits.audit([str(write(tmp_path / "log.csv", *rows))])
    assert (3, 3, 1) == (found.events, found.foreign[0].lines, found.foreign[0].first)


def test_a_file_is_a_table_by_its_ending(tmp_path: Path) -> None:
    path = write(tmp_path / "log.csv", "host,what,message", "a,causal-send,m")
    with pytest.raises(InputError, match="no column 'actor' among host, what, message"):
        audits.audit([str(path)])


def test_a_log_without_a_send_says_which_lines_were_skipped(tmp_path: Path) -> None:
    """A skipped line may be the send."""
    said = r"no message was sent in 1 event, .*left out: 1 line is no event \(line 2 of log: "
    path = write(tmp_path / "log", "actor,event,message", "a,sent,m,extra,x", "b,processed,m")
    with pytest.raises(InputError, match=said + "5 values for 3 columns"):
        audits.audit([str(path)])
    write(path, LINES[2], "{not JSON}")
    for compiled in (False, True):
        with pytest.raises(InputError, match=said + "this is not JSON"):
            audits.audit([str(path)], compiled=compiled)


@pytest.mark.parametrize("name", ["actor", "event", "message", "to"])
def test_a_table_in_which_a_column_is_repeated_is_refused(name: str, tmp_path: Path) -> None:
    """The last one used to count, so a finding could be wrong."""
    path = write(tmp_path / "log", f"actor,event,message,to,{name}", "a,sent,m,b,c", "b,sent,n,a,")
    with pytest.raises(InputError, match=f"line 1: 2 columns are named '{name}'; keep one"):
        audits.audit([str(path)])


def test_a_table_in_which_another_column_is_repeated_is_read(tmp_path: Path) -> None:
    path = write(tmp_path / "log", "actor,event,message,x,x", "a,sent,m,1,2", "b,processed,m,,")
    assert 2 == audits.audit([str(path)]).events


# Repeated fields of objects

HEAD = '"actor": "a", "event": "sent", "message": "m", "to": ["b"]'


@pytest.mark.parametrize("before", ["", "web-1  | ", '{"x": 1}', '{"x": "', 'level {"x": 1} '])
@pytest.mark.parametrize(
    ("name", "more"),
    [
        ("actor", '"actor": "a"'),
        ("event", '"event": "processed"'),
        ("message", '"x": {}, "message": "n"'),
        ("to", '"to": ["c"]'),
        ("to", '"t\\u006f": ["c"]'),
    ],
)
def test_an_object_in_which_a_field_is_repeated_is_refused(
    before: str, name: str, more: str, tmp_path: Path
) -> None:
    path = write(tmp_path / "log", LINES[0], f"{before}{{{HEAD}, {more}}}")
    for compiled in (False, True):
        with pytest.raises(InputError, match=f"line 2: the field '{name}' occurs twice; give it"):
            audits.audit([str(path)], compiled=compiled)


@pytest.mark.parametrize("more", ['"x": 1, "x": 2', '"x": {"to": 1, "to": 2}', '"x": "to"'])
def test_an_object_in_which_another_field_is_repeated_is_read(more: str, tmp_path: Path) -> None:
    path = write(tmp_path / "log", f"{{{HEAD}, {more}}}", LINES[2])
    assert 2 == judged(path).events


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ('{"log": {"actor": "b", "actor": "a", REST}}', "the field 'log.actor' occurs twice"),
        ('{"log": {"to": []}, "log": {"actor": "a", REST}}', "the field 'log.actor' occurs twice"),
        ('{"actor": 1, "actor": 2, "log": {"actor": "a", REST}}', ""),
    ],
)
def test_a_field_inside_of_another_is_given_once(text: str, says: str, tmp_path: Path) -> None:
    text = text.replace("REST", '"event": "sent", "message": "m"')
    fields = fields_from("actor=log.actor,event=log.event,message=log.message,to=log.to")
    path = write(tmp_path / "log", text)
    if not says:
        assert 1 == audits.audit([str(path)], fields=fields).events
        return
    with pytest.raises(InputError, match=says):
        audits.audit([str(path)], fields=fields)


# Rotated files


def test_rotated_files_are_one_log_from_old_to_new() -> None:
    given = ["x/app.log", "x/app.log.2.gz", "b.jsonl", "x/app.log.10", "x/app.log-20261125.gz"]
    expected = ["x/app.log-20261125.gz", "x/app.log.10", "x/app.log.2.gz", "x/app.log"]
    assert [*((part, "x/app.log") for part in expected), ("b.jsonl", "b.jsonl")] == parts_of_logs(
        given
    )
    assert [("app.log.1", "app.log.1")] == parts_of_logs(["app.log.1"])
    apart = ["node-1.jsonl", "node-2.jsonl", "part-00001", "part-00000", "10.0.0.1"]
    assert [(name, name) for name in apart] == parts_of_logs(apart)


@pytest.mark.parametrize("folder", [True, False])
def test_rotated_files_are_judged_in_their_order(folder: bool, tmp_path: Path) -> None:
    lines = log(tmp_path, ALICE_BOB_CAROL).read_text().splitlines()
    (tmp_path / "logs").mkdir()
    names = [f"logs/app.log{ending}" for ending in (".2", ".1", "")]
    for name, at in zip(names, (0, 2, 4), strict=True):
        write(tmp_path / name, *lines[at : at + 2])
    given = ["logs"] if folder else sorted(names)
    found = audits.audit([str(tmp_path / name) for name in given])
    assert [str(tmp_path / name) for name in names] == [*found.logs]
    (finding,) = found.findings
    assert ("causal-delivery", 2, names[2]) == (
        finding.kind,
        finding.line,
        str(Path(finding.log).relative_to(tmp_path)),
    )


# At-least-once systems, and logs from the middle


AGAIN = [
    "a send m1 b",
    "a send m2 b",
    "b deliver m1",
    "b deliver m2",
    "b deliver m1",
    "b deliver m1",
]


@pytest.mark.parametrize("compiled", [False, True])
def test_a_message_may_be_delivered_again_if_the_user_says_so(
    compiled: bool, tmp_path: Path
) -> None:
    path = log(tmp_path, "\n".join([*AGAIN, "c deliver m1"]))
    strict = audits.audit([str(path)], compiled=compiled)
    assert 3 == len(strict.findings)
    found = audits.audit([str(path)], compiled=compiled, how=How(redelivery=True))
    assert ["c processes m1, which was not sent to it"] == [f.text for f in found.findings]
    assert ("2 times, an actor processed a message again",) == found.left_out


@pytest.mark.parametrize("compiled", [False, True])
def test_the_first_delivery_of_a_message_counts(compiled: bool, tmp_path: Path) -> None:
    """A redelivery cannot repair an order that was wrong."""
    late = ["a send m1 b", "a send m2 b", "b deliver m2", "b deliver m1", "b deliver m2"]
    path = log(tmp_path, "\n".join(late))
    (finding,) = audits.audit([str(path)], compiled=compiled, how=How(redelivery=True)).findings
    assert ("causal-delivery", 4) == (finding.kind, finding.line)


@pytest.mark.parametrize("compiled", [False, True])
def test_messages_from_before_the_log_are_no_findings(compiled: bool, tmp_path: Path) -> None:
    lines = ["b deliver old", "c deliver old", *AGAIN[:2], "b deliver m2", "b deliver m1"]
    path = log(tmp_path, "\n".join(lines))
    found = audits.audit([str(path)], compiled=compiled, how=How(from_middle=True))
    assert [("causal-delivery", 6)] == [(f.kind, f.line) for f in found.findings]
    assert ("2 times, an actor processed a message that no log sends",) == found.left_out


def test_both_options_are_options_of_the_command(antecede: Command, tmp_path: Path) -> None:
    path = log(tmp_path, "\n".join([*AGAIN, "b deliver old"]))
    assert 1 == antecede("audit", path).code
    assert 1 == antecede("audit", path, "--redelivery", "ok").code
    ran = antecede("audit", path, "--redelivery", "ok", "--from-middle")
    assert 0 == ran.code
    assert "Left out: 2 times, an actor processed a message again; 1" in ran.out
