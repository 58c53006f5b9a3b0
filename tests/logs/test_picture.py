"""Pictures of violations: the events that matter, by the log's names and lines."""

from __future__ import annotations

import json
import re
from collections import Counter
from pathlib import Path
from xml.etree import ElementTree

import pytest

from antecede.checker.logs import audit as audits
from antecede.checker.logs.report.picture import picture
from antecede.checker.render.svg_style import style
from antecede.checker.support import extras
from tests.conftest import Command
from tests.logs.test_audit import ALICE_BOB_CAROL, audit, log
from tests.logs.test_spread import in_pieces


def test_a_violation_is_drawn_with_names_and_lines(antecede: Command, tmp_path: Path) -> None:
    file = log(tmp_path, "x send m0 y\ny deliver m0" + ALICE_BOB_CAROL)
    assert 1 == antecede("audit", file, "--trace", tmp_path / "found.svg").code
    root = ElementTree.fromstring((tmp_path / "found.svg").read_text())
    texts = ["".join(each.itertext()) for each in root.iter() if each.tag.endswith("text")]
    assert {"alice", "bob", "carol"} <= set(texts)
    assert not {"x", "y"} & set(texts)
    assert [
        "line 3: alice sends m1",
        "line 4: alice sends m2",
        "line 5: bob processes m2",
        "line 6: bob sends m3",
        "line 7: carol processes m3 (too early)",
        "line 8: carol processes m1 (too late)",
    ] == [text for text in texts if text.startswith("line ")]


def test_the_picture_as_a_shiviz_log_has_the_same_violation(
    antecede: Command, tmp_path: Path
) -> None:
    file = log(tmp_path, ALICE_BOB_CAROL)
    antecede("audit", file, "--trace", tmp_path / "found.shiviz")
    (finding,) = audit(tmp_path / "found.shiviz").findings
    assert ("m1", "m3", ("m1", "m2", "m3")) == (finding.first, finding.second, finding.chain)


def test_other_formats_hold_the_same_events(tmp_path: Path) -> None:
    found = audit(log(tmp_path, ALICE_BOB_CAROL))
    events = json.loads(picture(found, "json"))["events"]
    assert [1, 2, 3, 4, 5, 6] == [event["line"] for event in events]


def test_a_page_steps_through_the_events_with_what_is_known(
    antecede: Command, tmp_path: Path
) -> None:
    antecede("audit", log(tmp_path, ALICE_BOB_CAROL), "--trace", tmp_path / "run.html")
    page = (tmp_path / "run.html").read_text()
    articles = re.findall(r"<article .*?</article>", page, re.DOTALL)
    assert 7 == len(articles)  # the start and six events
    third = re.sub(r"<[^>]+>", " ", articles[3])
    assert "line 3: bob processes m2" in third
    assert "m2 has left the network" in " ".join(third.split())
    assert "alice → carol: m1" in third
    known = re.search(r'<th scope="row">knows of</th>(.*?)</tr>', articles[3], re.DOTALL)
    assert known is not None
    assert ["m1, m2", "m1, m2", ""] == [
        re.sub(r"<del>.*?</del>|<[^>]+>", "", cell).strip()
        for cell in re.findall(r"<td.*?</td>", known[1], re.DOTALL)
    ]
    assert 'class="badge">VIOLATED' in page


KINDS = {
    "again": (
        "a send m b\nb deliver m\nb deliver m",
        ["line 1: a sends m", "line 2: b processes m", "line 3: b processes m (again)"],
    ),
    "astray": (
        "a send m b\nb deliver m\nc deliver m",
        ["line 1: a sends m", "line 3: c processes m (not sent to it)"],
    ),
    "unsent": ("a send m b\nb deliver m\nb deliver x", ["line 3: b processes x (never sent)"]),
    "too soon": (
        "a deliver m3\na send m1 b\nb deliver m1\nb send m2 c\nc deliver m2\nc send m3 a",
        [
            "line 1: a processes m3 (not sent yet)",
            "line 2: a sends m1",
            "line 3: b processes m1",
            "line 4: b sends m2",
            "line 5: c processes m2",
            "line 6: c sends m3",
        ],
    ),
    "to itself": (
        "a deliver m\na send m a",
        ["line 1: a processes m (not sent yet)", "line 2: a sends m"],
    ),
    "sent twice": (
        "a send m b\na send m b\nb deliver m",
        ["line 1: a sends m", "line 2: a sends m (a second time)"],
    ),
    "shared": (
        "a send m b\nc send m b\nb deliver m",
        ["line 2: c sends m", "line 1: a sends m (sent by several actors)"],
    ),
    "undelivered": (
        "a send m b,c,d\nb deliver m",
        ["line 1: a sends m", "c never processes m", "d never processes m"],
    ),
}


@pytest.mark.parametrize("judge", ["plain", "compiled", "pieces"])
@pytest.mark.parametrize("kind", list(KINDS))
def test_every_finding_about_messages_is_drawn(kind: str, judge: str, tmp_path: Path) -> None:
    text, notes = KINDS[kind]
    path = str(log(tmp_path, text))
    compiled = judge == "compiled"
    found = (
        audits.audit([path], compiled=compiled) if judge != "pieces" else in_pieces([path], 99)[0]
    )
    root = ElementTree.fromstring(picture(found, "svg"))
    texts = ["".join(each.itertext()) for each in root.iter() if each.tag.endswith("text")]
    assert notes == [text for text in texts if text.startswith("line ") or " never p" in text]
    page = picture(found, "html")
    assert len(notes) + 1 == len(re.findall("<article ", page))
    assert len(notes) == len(json.loads(picture(found, "json"))["events"])
    assert picture(found, "shiviz")


def test_a_circle_of_messages_is_a_chain_with_its_lines(antecede: Command, tmp_path: Path) -> None:
    ran = antecede("audit", log(tmp_path, KINDS["too soon"][0]))
    said = " ".join(ran.out.split())
    assert "a processes m3, before it can have been sent. m3 → m1 → m2 → m3" in said
    assert "m3 sent in line 6, processed in line 1" in said


def test_a_sender_waits_only_before_its_send(tmp_path: Path) -> None:
    """Actor b waits for q after it has sent x, so the shorter way by q is no circle of x."""
    text = "a deliver x\na send y b\na deliver r\na send q b\n"
    text += "b deliver p\nb send x a\nb deliver q\nb send r a\nc deliver y\nc send p b"
    found = audit(log(tmp_path, text))
    chains = {each.first: each.chain for each in found.findings if each.what == "too soon"}
    assert {"x": ("x", "y", "p", "x"), "r": ("r", "q", "r"), "q": ("q", "r", "q")}.items() <= (
        chains.items()
    )


def test_a_late_message_is_drawn_rather_than_an_earlier_finding(tmp_path: Path) -> None:
    found = audit(log(tmp_path, "a send m b\nb deliver m\nb deliver m" + ALICE_BOB_CAROL))
    assert ["integrity", "causal-delivery"] == [each.kind for each in found.findings]
    assert "carol processes m1 (too late)" in picture(found, "svg")


def test_wrong_clocks_have_no_picture(antecede: Command, tmp_path: Path) -> None:
    (tmp_path / "log").write_text('a {"a": 2}\nx\n')
    ran = antecede("audit", tmp_path / "log", "--trace", tmp_path / "found.svg")
    assert (1, False) == (ran.code, (tmp_path / "found.svg").exists())
    assert "wrong clocks only, which have no picture" in ran.err


def test_hostile_names_are_no_markup(tmp_path: Path) -> None:
    evil = "<script>\x1b\x00&"
    text = (log(tmp_path, ALICE_BOB_CAROL)).read_text().replace("alice", json.dumps(evil)[1:-1])
    (tmp_path / "log").write_text(text)
    drawn = picture(audit(tmp_path / "log"), "svg")
    ElementTree.fromstring(drawn)
    assert not re.search("<script|[\x00-\x08\x1b]", drawn)


def test_what_cannot_be_drawn_is_said(antecede: Command, tmp_path: Path) -> None:
    fine = log(tmp_path, "a send m1 b\nb deliver m1")
    ran = antecede("audit", fine, "--trace", tmp_path / "found.svg")
    assert 0 == ran.code
    assert "was not written" in ran.err
    assert not (tmp_path / "found.svg").exists()
    assert 2 == antecede("audit", fine, "--trace", tmp_path / "found.gif").code


def test_the_picture_looks_like_those_of_counterexamples(tmp_path: Path) -> None:
    drawn = picture(audit(log(tmp_path, ALICE_BOB_CAROL)), "svg")
    assert style() in drawn
    looks = Counter(re.findall('class="((?:arrow|mark)[^"]*)" data-step="[0-9]+"', drawn))
    arrows = {"arrow late": 3, "arrow chain": 5}  # each, its text, and one of each in the legend
    assert {**arrows, "mark causal-send": 3, "mark deliver": 1, "mark deliver wrong": 2} == looks
    assert "happens-before chain" in drawn


def test_an_actor_may_tell_itself(tmp_path: Path) -> None:
    found = audit(log(tmp_path, "a send m1 a\na send m2 a\na deliver m2\na deliver m1"))
    assert 2 == len(re.findall('class="arrow [^>]*><path d="M [^"]* C ', picture(found, "svg")))


def test_long_names_are_cut_and_several_logs_are_named(tmp_path: Path) -> None:
    text = log(tmp_path, ALICE_BOB_CAROL).read_text().replace("alice", "alice" * 30)
    lines = text.splitlines(keepends=True)
    for name in ("alice", "bob", "carol"):
        own = (line for line in lines if f'"actor": "{name}' in line)
        (tmp_path / name).write_text("".join(own))
    names = [str(tmp_path / name) for name in ("alice", "bob", "carol")]
    drawn = picture(audits.audit(names), "svg")
    assert ">alicealicealicealiceali…</text>" in drawn
    assert "carol:2: carol processes m1 (too late)" in drawn


def test_every_picture_that_is_asked_for_is_drawn(antecede: Command, tmp_path: Path) -> None:
    files = [tmp_path / name for name in ("a.svg", "b.html", "c.json")]
    asked = [word for file in files for word in ("--trace", file)]
    assert 1 == antecede("audit", log(tmp_path, ALICE_BOB_CAROL), *asked).code
    assert all(file.stat().st_size for file in files)
    again = antecede("audit", tmp_path / "log", "--trace", files[0], "--trace", files[0])
    assert "both name" in again.err


def test_a_violation_is_drawn_as_png_and_pdf(antecede: Command, tmp_path: Path) -> None:
    pytest.importorskip("vl_convert")
    png, pdf = tmp_path / "bug.png", tmp_path / "bug.pdf"
    ran = antecede("audit", log(tmp_path, ALICE_BOB_CAROL), "--trace", png, "--trace", pdf)
    assert (1, "") == (ran.code, ran.err)
    assert png.read_bytes().startswith(b"\x89PNG")
    assert pdf.read_bytes().startswith(b"%PDF")


def test_without_the_package_a_picture_is_refused_before_the_audit(
    antecede: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(extras, "find_spec", lambda _name: None)
    ran = antecede("audit", log(tmp_path, ALICE_BOB_CAROL), "--trace", tmp_path / "bug.png")
    assert (2, "") == (ran.code, ran.out)
    assert extras.install_command("pictures") in ran.err
