"""The campaign on networks where equal packets are one: a short one, and that it would notice."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest

from antecede.checker.semantics import transition
from tests.campaigns.packets import compare_packets, drawn


@pytest.mark.parametrize("number", range(8))
def test_a_message_is_not_lost_where_equal_packets_are_one(number: int, tmp_path: Path) -> None:
    tally = Counter[str]()
    assert [] == compare_packets(f"ci/{number}", tmp_path, tally)
    assert tally.total() > 1


@pytest.mark.integration
def test_messages_that_are_numbered_alike_are_found_and_written_down(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(transition, "told_apart", lambda message, _state: message)
    numbers = [f"ci/{n}" for n in range(8) if drawn(f"ci/{n}").timeout != "none"]
    found = [text for own in numbers for text in compare_packets(own, tmp_path, Counter())]
    assert found
    assert "states with all messages numbered and with one followed" in found[0]
    written = next(tmp_path.glob("packets-ci-*.py"))
    assert "PROTOCOL = station(" in written.read_text(encoding="utf-8")
