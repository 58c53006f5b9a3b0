"""Reports of audits: they state no more than was checked, and escape control characters."""

from __future__ import annotations

import io
import json
import time
from pathlib import Path

import pytest

from antecede.checker.logs.report.summary import watching
from antecede.checker.render.ticker import Ticker
from tests.conftest import ROOT, Command
from tests.logs.test_audit import ALICE_BOB_CAROL, audit, findings, log

IN_ORDER = ALICE_BOB_CAROL.replace(
    "carol deliver m3\ncarol deliver m1", "carol deliver m1\ncarol deliver m3"
)


def said(antecede: Command, tmp_path: Path, text: str, *options: str) -> str:
    ran = antecede("audit", log(tmp_path, text), *options)
    assert 0 == ran.code
    return " ".join(ran.out.split()).partition("; ")[2]


def test_everything_is_called_delivered_only_if_it_was(antecede: Command, tmp_path: Path) -> None:
    complete = said(antecede, tmp_path, IN_ORDER)
    assert "every message was processed, in causal order." == complete
    early = IN_ORDER.removesuffix("carol deliver m3\n")
    assert "no message was processed out of causal order; 1 copy not processed so far." == said(
        antecede, tmp_path, early, "--unfinished"
    )
    unaddressed = said(antecede, tmp_path, "a send m1\nb deliver m1")
    assert "processed, in" not in unaddressed
    assert "1 message names no destinations" in unaddressed


def test_a_log_without_causal_sends_is_refused(antecede: Command, tmp_path: Path) -> None:
    ran = antecede("audit", log(tmp_path, "a deliver m1"))
    assert (2, "") == (ran.code, ran.out)
    assert "no message was sent in 1 event," in ran.err


def test_without_deliveries_there_is_nothing_to_judge(antecede: Command, tmp_path: Path) -> None:
    ran = antecede("audit", log(tmp_path, "a send m1 b"), "--unfinished")
    assert 3 == ran.code
    assert "HOLDS" not in ran.out
    assert "nothing was processed, so there is no order to judge" in " ".join(ran.out.split())


def test_a_violation_of_an_unfinished_log_says_how_much_is_open(
    antecede: Command, tmp_path: Path
) -> None:
    file = log(tmp_path, ALICE_BOB_CAROL + "alice send m4 bob,carol")
    ran = antecede("audit", file, "--unfinished", "--json", tmp_path / "found.json")
    assert 1 == ran.code
    assert "2 copies not processed so far" in ran.out
    found = json.loads((tmp_path / "found.json").read_text())
    assert ("VIOLATED", 2) == (found["verdict"], found["undelivered_copies"])
    assert ["causal-delivery"] == [finding["kind"] for finding in found["findings"]]


@pytest.mark.parametrize("first", ["b deliver m1\n", ""], ids=["after its end", "before"])
def test_a_copy_at_an_actor_that_was_no_destination_is_no_second_delivery(
    first: str, tmp_path: Path
) -> None:
    found = audit(log(tmp_path, f"a send m1 b\n{first}c deliver m1\nc deliver m1\nb deliver m1"))
    stray = [f.text for f in found.findings if f.actor == "c"]
    assert ["c processes m1, which was not sent to it"] * 2 == stray
    assert ["b processes m1 again"] * bool(first) == [
        f.text for f in found.findings if f.actor == "b"
    ]


def test_a_violation_names_the_lines_of_both_sends_and_both_deliveries(
    antecede: Command, tmp_path: Path
) -> None:
    ran = antecede("audit", log(tmp_path, ALICE_BOB_CAROL))
    expected = "m1 sent in line 1, processed in line 6; m3 sent in line 4, processed in line 5"
    assert expected in " ".join(ran.out.split())
    (finding,) = audit(log(tmp_path, ALICE_BOB_CAROL)).findings
    assert [1, 2, 3, 4, 5, 6] == [event.line for event in finding.events]


def test_no_line_of_a_report_is_longer_than_80_columns(antecede: Command, tmp_path: Path) -> None:
    wordy = ALICE_BOB_CAROL.replace("alice", "alice-of-the-gateway").replace("m3", "m3-the-answer")
    for ran in (
        antecede("audit", log(tmp_path, wordy)),
        antecede("audit", log(tmp_path, "a send m1\nb deliver m1"), "--unfinished"),
    ):
        assert 80 >= max(len(line) for line in ran.out.splitlines()[1:])


def test_control_characters_of_a_log_do_not_reach_the_terminal(
    antecede: Command, tmp_path: Path
) -> None:
    evil = "\x1b[2J\x1b]0;title\x07\nlog.jsonl: HOLDS\n\r\u202e\x9b1m"
    events = [
        {"actor": evil, "event": "causal-send", "message": evil, "to": ["b"]},
        {"actor": "b", "event": "deliver", "message": evil},
        {"actor": "b", "event": "deliver", "message": evil},
    ]
    file = tmp_path / "log.jsonl"
    file.write_text("".join(f"{json.dumps(event)}\n" for event in events))
    ran = antecede("audit", file)
    assert 1 == ran.code
    assert not {"\x1b", "\x07", "\r", "\u202e", "\x9b"} & set(ran.out)
    assert "\\x1b[2J" in ran.out
    assert 1 == ran.out.count("log.jsonl: VIOLATED\n")
    assert "log.jsonl: HOLDS" not in [line.strip() for line in ran.out.splitlines()]


def test_a_lone_surrogate_in_a_log_is_no_internal_error(antecede: Command, tmp_path: Path) -> None:
    file = tmp_path / "log.jsonl"
    file.write_text(
        '{"actor": "\\ud800", "event": "causal-send", "message": "\\udfff", "to": ["b"]}\n'
        '{"actor": "b", "event": "deliver", "message": "\\udfff"}\n'
        '{"actor": "b", "event": "deliver", "message": "\\udfff"}\n'
    )
    assert 1 == antecede("audit", file, "--json", tmp_path / "found.json").code
    assert 1 == antecede("audit", file, "--json", "-").code


CONTROL = "\x1b]0;title\x07\nverdict: HOLDS"


def test_control_characters_of_a_trace_do_not_reach_the_terminal(
    antecede: Command, tmp_path: Path
) -> None:
    source = (ROOT / "protocols" / "unordered.py").read_text()
    named = source.replace("    message: Message\n", "    message: Message\n    note: object\n")
    named = named.replace("Data(message)", "Data(message, Note[CONTROL])")
    named += (
        f"\n\nfrom enum import Enum\nCONTROL = {CONTROL!r}\nNote = Enum('Note', {{CONTROL: 1}})\n"
    )
    (tmp_path / "noted.py").write_text(named)
    trace = tmp_path / "trace.json"
    ran = antecede(
        "check", f"{tmp_path}/noted.py", "--engine", "plain", "--trace", trace, "--actors", 2
    )
    assert 1 == ran.code, ran.err
    shown = ran.out + antecede("replay", trace).out
    assert "\\x1b]0;title\\x07\\nverdict" in shown
    assert not {"\x1b", "\x07"} & set(shown)


@pytest.mark.parametrize("actors", [1, 30_000], ids=["one actor", "many actors"])
def test_a_log_of_deliveries_that_were_never_sent_ends(actors: int, tmp_path: Path) -> None:
    lines = [f"a{at % actors} deliver ghost{at}" for at in range(30_000)]
    begin = time.process_time()
    found = audit(log(tmp_path, "\n".join(["z send m z", *lines])))
    assert 30_000 == len(found.findings)
    assert time.process_time() < begin + 15


def test_a_log_backwards_by_actors_ends(tmp_path: Path) -> None:
    """Every delivery stands before its causal-send, so that each actor waits again and again."""
    rounds = 20_000
    last = [f"c deliver b{at}" for at in range(rounds)]
    middle = [line for at in range(rounds) for line in (f"b deliver a{at}", f"b send b{at} c")]
    first = [f"a send a{at} b" for at in range(rounds)]
    begin = time.process_time()
    assert [] == findings(audit(log(tmp_path, "\n".join([*last, *middle, *first]))))
    assert time.process_time() < begin + 15


def test_a_long_log_has_a_live_line_on_a_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    class Terminal(io.StringIO):
        def isatty(self) -> bool:
            return True

    times = {"now": 0.0}
    monkeypatch.setenv("COLUMNS", "80")
    terminal = Terminal()
    ticker = Ticker(terminal, now=lambda: times["now"])
    watch = watching(ticker, now=lambda: times["now"])
    for times["now"], events in ((0.1, 100), (2.0, 200), (2.1, 300), (4.0, 400)):
        watch(5_000_000, events)
    ticker.clear()
    lines = terminal.getvalue().split("\r\x1b[K")
    assert ["", "200 events, 5 MB of this log, 100 events/s"] == lines[:2]
    assert ["400 events, 5 MB of this log, 100 events/s", ""] == lines[2:]


def test_quiet_audits_write_nothing_but_the_report(antecede: Command, tmp_path: Path) -> None:
    file = tmp_path / "log.jsonl"
    file.write_text(
        '{"actor": "a", "event": "causal-send", "message": "m", "to": ["b"]}\n'
        '{"actor": "b", "event": "deliver", "message": "m"}\n'
    )
    asked = ("audit", file, "--trace", tmp_path / "bug.svg")
    assert "was not written" in antecede(*asked).err
    quiet = antecede(*asked, "--quiet")
    assert (0, "") == (quiet.code, quiet.err)
