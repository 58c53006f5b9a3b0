"""Sections 5.3 to 5.6 of the hybrid paper: the loops visit a few elements per event, on average.

The paper's bound is amortised. So the visits of a whole simulated run are counted, and divided by
the events of the run.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from antecede.checker.papers.simulate.handlers import handlers_of
from antecede.checker.papers.simulate.run import simulate
from antecede.checker.papers.simulate.scenario import MS, Scenario
from antecede.protocols import hybrid_sps
from antecede.protocols.hybrid_sps import HybridSps
from antecede.protocols.sliding import IndexableSlidingMap, SlidingArray, SlidingMap


@pytest.fixture
def visits(monkeypatch: pytest.MonkeyPatch) -> list[object]:
    """Return a list that grows with each element that a sliding array or map visits."""
    seen: list[object] = []

    def counted(read: Callable[..., Any]) -> Callable[..., Any]:
        def counting(window: Any, index: int) -> Any:
            seen.append(index)
            return read(window, index)

        return counting

    removed = SlidingMap.remove

    def remove(window: Any, element: Any) -> Any:
        left = removed(window, element)
        seen.extend(range(window.first, left.first + 1))  # the slots that it skips
        return left

    for kind in (SlidingArray, IndexableSlidingMap):
        monkeypatch.setattr(kind, "__getitem__", counted(kind.__getitem__))
    monkeypatch.setattr(SlidingMap, "remove", remove)
    return seen


def per_event(visits: list[object], name: str, actors: int, messages: int) -> float:
    """Return the visits per event of a run in which packets overtake each other."""
    scenario = Scenario(
        actors=actors, messages=messages, interval=5 * MS, jitter=2 * MS, bandwidth=1_000_000
    )
    visits.clear()
    events = simulate(handlers_of(name), scenario, 1).events
    return len(visits) / events


SIZES = ((4, 10), (4, 20), (4, 40), (8, 20))
MOST = {"hybrid-basic": 1.0, "hybrid-sps": 3.3}
"""The most visits per event that we saw, rounded up."""


@pytest.mark.parametrize("name", MOST)
def test_the_visits_per_event_do_not_grow_with_actors_or_messages(
    visits: list[object], name: str
) -> None:
    assert all(0.5 < per_event(visits, name, *size) <= MOST[name] for size in SIZES)


def test_a_search_from_the_oldest_message_visits_more(
    visits: list[object], monkeypatch: pytest.MonkeyPatch
) -> None:
    send_interval = hybrid_sps.send_interval

    def from_the_oldest(state: HybridSps, _k: int, p: int) -> Any:
        return send_interval(state, state.u.first, p)

    monkeypatch.setattr(hybrid_sps, "send_interval", from_the_oldest)
    few, many = (per_event(visits, "hybrid-sps", 4, messages) for messages in (10, 40))
    assert MOST["hybrid-sps"] < few < many
