"""The campaign of protocols with livelocks: a short one, and that it would notice."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from antecede.checker.liveness import fairness
from antecede.checker.model import CausalSend
from antecede.checker.search.graph import Rows
from tests.campaigns import livelocks
from tests.campaigns.livelocks import EVENTS, NETWORKS, Game, compare_livelocks, drawn

THROWS = Game(
    table=(
        (("send", 1), ("deliver", 0), ("return", 0), (None, 0)),
        (("throw", 1), ("deliver", 1), ("return", 1), (None, 1)),
    ),
    acts=False,
    resends=False,
    network="unordered",
    rows=[[(1,)], []],
    buffer=1,
)
"""Alice throws her second message away, and a ball goes to and fro forever."""


@pytest.mark.parametrize("number", range(12))
def test_the_engines_find_the_starving_messages_of_random_systems(
    number: int, tmp_path: Path
) -> None:
    assert [] == compare_livelocks(f"ci/{number}", tmp_path, Counter())


@pytest.mark.integration
def test_most_random_systems_are_compared(tmp_path: Path) -> None:
    tally = Counter[str]()
    for number in range(10):
        compare_livelocks(f"most/{number}", tmp_path, tally)
    assert tally.total() > 10


def test_a_search_that_needs_a_causal_send_on_the_cycle_is_found(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    def sending(rows: Rows, inside: Any, **options: Any) -> list[set[int]]:
        sends = rows.which(lambda transition: isinstance(transition, CausalSend))
        return [
            states
            for states in every(rows, inside, **options)
            if any(label in sends and to in states for k in states for label, to in rows.of(k))
        ]

    every = fairness.fair_components
    monkeypatch.setattr(livelocks, "drawn", lambda _seed: THROWS)
    assert [] == compare_livelocks("any", tmp_path, Counter())
    monkeypatch.setattr(fairness, "fair_components", sending)
    (said,) = compare_livelocks("any", tmp_path, Counter())
    assert said.startswith("naive checker and starvation, --engine plain: ")
    assert "P = playing(" in (tmp_path / "livelocks-any.py").read_text(encoding="utf-8")


def test_every_action_and_every_network_is_drawn() -> None:
    games = [drawn(f"kinds/{number}") for number in range(200)]
    assert {*NETWORKS} == {game.network for game in games}
    for event, actions in enumerate(EVENTS):
        assert {*actions} == {mode[event][0] for game in games for mode in game.table}
    assert {True, False} == {game.resends for game in games} == {game.acts for game in games}
