"""Pictures of violations: the events that matter, by the log's names and lines."""

from __future__ import annotations

import json
import re
from pathlib import Path
from xml.etree import ElementTree

from antecede.checker.audit.picture import IN_THE_DARK, picture
from antecede.checker.render.scheme import darkening
from tests.audit.test_audit import ALICE_BOB_CAROL, audit, log
from tests.conftest import Command


def test_a_violation_is_drawn_with_names_and_lines(antecede: Command, tmp_path: Path) -> None:
    file = log(tmp_path, "x send m0 y\ny deliver m0" + ALICE_BOB_CAROL)
    assert 1 == antecede("audit", file, "--trace", tmp_path / "found.svg").code
    root = ElementTree.fromstring((tmp_path / "found.svg").read_text())
    texts = ["".join(each.itertext()) for each in root.iter() if each.tag.endswith("text")]
    assert {"alice", "bob", "carol"} <= set(texts)
    assert not {"x", "y"} & set(texts)
    assert "delivers m3 (too early)" in texts
    assert "delivers m1 (too late)" in texts
    assert [f"line {n}" for n in range(3, 9)] == [t for t in texts if t.startswith("line ")]


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
    assert picture(found, "svg") in picture(found, "html")


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
    assert 2 == antecede("audit", fine, "--trace", tmp_path / "found.png").code


def test_no_colour_of_a_picture_is_left_light_for_a_reader_in_the_dark(tmp_path: Path) -> None:
    found = audit(log(tmp_path, ALICE_BOB_CAROL))
    drawn, style = picture(found, "svg"), darkening(IN_THE_DARK)
    assert style in drawn
    used = set(re.findall('(?:fill|stroke)="(#[0-9a-f]+|[a-z]+)"', drawn.replace(style, "")))
    assert used == set(IN_THE_DARK)
