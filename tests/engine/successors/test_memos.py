"""Successors from memory are the successors that the tables give."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import pytest

from antecede.checker.engine.successors import memo_kernels, memos
from antecede.checker.engine.tabulated.tabulated_search import TabulatedSearch
from antecede.checker.engine.threads.depth import LocalDepthFirst
from antecede.checker.engine.threads.stepwise import Stepwise
from antecede.checker.engine.threads.transport import search_on_threads
from antecede.checker.engine.threads.walks import LocalRandomWalks
from antecede.checker.model import Message, Protocol, Step
from antecede.checker.search.loop import explore
from antecede.checker.search.result import Result
from antecede.checker.semantics.transition import System
from tests.conftest import method
from tests.engine.threads.common import threads_of
from tests.engine.threads.test_kept_graph import CAN_DELIVER, asked, whole
from tests.engine.threads.test_local import ENCODINGS, found, small
from tests.semantics.test_transition import system_for

REACTION = (
    'reaction:[{"name":"a","from":0,"to":[1,2]},{"name":"b","from":1,"to":[0,2],"after":["a"]},'
    '{"name":"c","from":2,"to":[0,1],"after":["a"]},{"name":"d","from":2,"to":[0,1]},'
    '{"name":"e","from":0,"to":[1,2]}]'
)

SYSTEMS = [
    ("mfss", 3, 2, "unordered", "any", "clocks"),
    ("mfss", 2, 3, "fifo+duplicating", "any", "knowledge"),
    ("cykas", 3, 2, "unordered", "any", "knowledge"),
    ("cykas", 2, 2, "duplicating+lossy", "any", "knowledge"),
    ("cykas-secret-mode", 3, 2, "unordered", "any", "knowledge"),
    ("rst", 3, 2, "unordered", "any", "knowledge"),
    ("rst", 3, 1, "unordered", "multicast", "clocks"),
    ("ses", 2, 3, "unordered", "any", "knowledge"),
    ("cbcast", 3, 1, "unordered", "broadcast", "clocks"),
    ("hybrid-basic", 2, 1, "duplicating+lossy", "any", "knowledge"),
    ("mfss", 2, 2, "lossy:1", "any", "clocks"),
    ("cykas", 2, 2, "fifo+lossy:2", "any", "knowledge"),
    ("rst", 3, 1, "duplicating+lossy:1", "multicast", "clocks"),
    ("hybrid-basic", 2, 1, "fifo+duplicating", "any", "knowledge"),
    ("tree", 3, 1, "fifo", "any", "knowledge"),
    ("newtop", 3, 1, "fifo", "any", "knowledge"),
    ("fifo", 3, 2, "unordered", "any", "clocks"),
    ("mfss", 3, 2, "unordered", "any", "full"),
    ("cykas-secret-mode", 3, 2, "unordered", "any", "full"),
    ("cykas", 2, 2, "unordered", "any", "full"),
    ("mfss", 3, 1, "duplicating+lossy", "any", "full"),
    ("mfss", 3, 1, "lossy:2", "any", "full"),
    ("rst", 3, 1, "unordered", "multicast", "full"),
    ("hybrid-basic", 2, 1, "fifo+duplicating", "any", "full"),
    ("newtop", 3, 1, "fifo", "any", "full"),
    ("rst", 3, 2, "unordered", REACTION, "full"),
]
"""Protocols that deliver at once or later, one message or several, on all kinds of networks."""


def explored(system: System, **options: Any) -> tuple[Result, int, int]:
    """Return the result, and how many successors were found and derived by threads with a memo."""
    search = search_on_threads(system, options=method(**{"threads": 1, **options}))
    return explore(system, search), *figures_of(search)


def figures_of(search: TabulatedSearch) -> tuple[int, int]:
    """Return how many successors were found and derived by all threads."""
    figures = [shard.memo.figures for shard in threads_of(search).shards]
    total = sum(int(f[memo_kernels.SUCCESSORS]) for f in figures)
    return total, sum(int(f[memo_kernels.DERIVED]) for f in figures)


def totals(result: Result) -> dict[str, int]:
    """Return the number of transitions of each kind."""
    kinds = result.statistics["transitions"]
    return {kind: counts["total"] for kind, counts in kinds.items()}


def without_memos(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(memos, "why_not", lambda _filler: "of this test")


@pytest.mark.parametrize(
    ("name", "actors", "messages", "network", "workload", "history"), SYSTEMS, ids=str
)
@pytest.mark.parametrize("options", [{}, {"symmetry": True, "threads": 2, "block": 64}], ids=str)
def test_a_memo_changes_nothing_that_is_found(
    name: str,
    actors: int,
    messages: int,
    network: str,
    workload: str,
    history: str,
    options: dict[str, Any],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    system = small(name, actors, messages, network=network, workload=workload, history=history)
    remembered, total, derived = explored(system, **options)
    without_memos(monkeypatch)
    plain, *unused = explored(system, **options)
    assert [0, 0] == unused
    assert 0 < derived < total
    assert found(plain) == found(remembered)
    assert totals(plain) == totals(remembered)


def _holds(state: tuple[Message, ...], _src: int, message: Message) -> Step:
    return Step((*state, message))


def _delivers_all(state: tuple[Message, ...]) -> Step | None:
    return Step((), deliveries=state) if state else None


HOLDS = Protocol(
    name="holds",
    summary="delivers nothing before its timeout, and then all that has arrived",
    source="none",
    initial=lambda _actor, _actors: (),
    causal_send=lambda state, message: Step(state, sends=((message.receiver, message),)),
    receive=_holds,
    timeout=_delivers_all,
)


@pytest.mark.integration
@pytest.mark.parametrize(
    ("name", "actors", "messages", "network", "history"),
    [
        ("mfss", 3, 2, "unordered", "clocks"),
        ("hybrid-basic", 2, 2, "lossy:1", "knowledge"),
        ("rst", 3, 1, "unordered", "full"),
    ],
)
@pytest.mark.parametrize(
    "explorer", [LocalDepthFirst, partial(LocalRandomWalks, walks=300)], ids=["depth", "random"]
)
def test_a_memo_changes_no_path(
    explorer: Callable[[System], Stepwise],
    name: str,
    actors: int,
    messages: int,
    network: str,
    history: str,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    system = small(name, actors, messages, network=network, history=history)
    search = explorer(system)
    remembered = explore(system, search)
    figures = search.memo.figures
    without_memos(monkeypatch)
    plain = explore(system, explorer(system))
    assert 0 < 2 * figures[memo_kernels.DERIVED] < figures[memo_kernels.SUCCESSORS]
    assert found(plain) == found(remembered)
    assert totals(plain) == totals(remembered)


@pytest.mark.parametrize(("network", "history"), [("unordered", "clocks"), ("lossy:1", "full")])
def test_a_graph_is_made_from_memory(
    network: str, history: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def rows_of(shown: list[int]) -> list[list[int]]:
        search = whole(system, symmetry=False)
        before = figures_of(search)
        search.lost(CAN_DELIVER, lambda: None)
        shown += [after - first for after, first in zip(figures_of(search), before, strict=True)]
        graph = threads_of(search).graph
        assert graph is not None
        rows = graph.first.array[: graph.states + 1], graph.target.array[: graph.edges]
        copied = [row.tolist() for row in rows]
        search.close()
        return copied

    system = asked("mfss", 2, 2, network=network, history=history)
    shown = list[int]()
    remembered = rows_of(shown)
    assert len(remembered[1]) <= shown[0] > 2 * shown[1]
    without_memos(monkeypatch)
    assert remembered == rows_of(shown)
    assert [0, 0] == shown[2:]


@pytest.mark.parametrize("history", ENCODINGS)
def test_a_timeout_may_deliver_several_messages(
    history: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    system = system_for(HOLDS, 3, 2, history=history)
    remembered, total, derived = explored(system)
    without_memos(monkeypatch)
    plain, *_ = explored(system)
    assert 0 < derived < total
    assert found(plain) == found(remembered)
    assert totals(plain) == totals(remembered)


@pytest.mark.parametrize(
    ("name", "option"), [("mfss", {"clock_at": "network-send"}), ("rst", {"workload": "self"})]
)
def test_no_memo_where_a_state_and_its_history_change_together(
    name: str, option: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    system = small(name, 2, 2, history="full", **option)
    result, *remembered = explored(system)
    without_memos(monkeypatch)
    assert [0, 0] == remembered
    assert found(result) == found(explored(system)[0])


def test_a_send_may_wait_for_a_delivery_that_changes_no_clock(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Actor 2 knows of the first message when it is delivered, and answers only then."""
    late = (
        'reaction:[{"name":"first","from":0,"to":[1,2]},'
        '{"name":"second","from":1,"to":[2],"after":["first"]},'
        '{"name":"answer","from":2,"to":[0,1],"after":["first"]}]'
    )
    properties = ("all-delivered",)
    system = small("unordered", 3, 1, workload=late, history="full", properties=properties)
    remembered, _, derived = explored(system)
    without_memos(monkeypatch)
    assert derived > 0
    assert found(remembered) == found(explored(system)[0])


def lists_of(
    search: TabulatedSearch, part: int, composite: int, slot: int, words: int
) -> list[Any]:
    """Return the entries of a list in the memo of the only thread."""
    (shard,) = threads_of(search).shards
    memo = shard.memo
    first = part * memo.figures[memo_kernels.MEMO_ROOM] + composite
    head = memo.heads[first * memo.figures[memo_kernels.SLOTS] + slot]
    entries: list[Any] = (
        memo.lists[head + 1 :][: words * memo.lists[head]].reshape(-1, words).tolist()
    )
    return entries


def test_the_worked_example_has_the_numbers_of_a_search() -> None:
    """See `checker.engine.successors`."""
    system = small("mfss", 2, 1, history="clocks")
    search = search_on_threads(system, options=method(threads=1, symmetry=False))
    explore(system, search)
    own, channel = memo_kernels.OWN_SLOT, memo_kernels.CHANNEL_SLOTS
    kinds = search.filler.tabulation.kinds
    assert ["causal-send", "receive Data", "receive Ack"] == kinds
    assert [[1, kinds.index("causal-send"), 0, 0]] == lists_of(search, 0, 0, own, memo_kernels.OWN)
    acknowledged, received = lists_of(search, 0, 7, channel, memo_kernels.OFFER)
    assert [3, 10, -1, kinds.index("receive Ack") << 1] == acknowledged
    assert [5, -1, 9, kinds.index("receive Data") << 1] == received
    (shard,) = threads_of(search).shards
    first = shard.memo.figures[memo_kernels.MEMO_ROOM] + 3
    head = shard.memo.heads[first * shard.memo.figures[memo_kernels.SLOTS]]
    table = shard.memo.lists[head + memo_kernels.STEPS_FIRST :]
    capacity = shard.memo.lists[head + memo_kernels.STEPS_CAPACITY]
    steps = dict(table[: 2 * capacity].reshape(-1, 2).tolist())
    assert 10 == steps[5 << 1] & memo_kernels.STEP_MASK
    assert [31, 0] == search.filler.layout.row_fields.shift.tolist()


def test_what_has_no_room_is_derived_again(monkeypatch: pytest.MonkeyPatch) -> None:
    system = small("cykas", 3, 2)
    expected, total, derived = explored(system)
    monkeypatch.setattr(memos, "LISTS", 1 << 8)
    monkeypatch.setattr(memos, "MOST_WORDS", 1 << 12)
    crowded, _, more = explored(system)
    assert found(expected) == found(crowded)
    assert 2 * derived < more < total


def test_lists_that_fill_their_room_are_forgotten(monkeypatch: pytest.MonkeyPatch) -> None:
    system = small("mfss", 3, 2, history="clocks")
    expected, _, derived = explored(system)
    monkeypatch.setattr(memos, "_with_more_heads", lambda memo, *_: memo)
    monkeypatch.setattr(memos, "MOST_WORDS", 1 << 16)
    forgetful, _, more = explored(system)
    assert found(expected) == found(forgetful)
    assert derived < more


@pytest.mark.parametrize("history", ["clocks", "full"])
def test_composites_get_new_numbers_and_the_memo_begins_again(history: str) -> None:
    system = small("mfss", 3, 2, history=history)
    result, total, derived = explored(system, forget_from=0, collect_from=1, traces=False)
    assert result.statistics["dropped_composites"] > 0
    expected, _, fewer = explored(system)
    assert found(expected) == found(result)
    assert fewer < derived < total


def test_the_statistics_say_what_came_from_memory_and_why_nothing_did() -> None:
    result, total, derived = explored(small("mfss", 3, 2))
    said = result.statistics["remembered_successors"]
    assert {"share": round((total - derived) / total, 4), "of": total, "reason": None} == said
    system = small("mfss", 2, 2, history="full", clock_at="network-send")
    said = explored(system)[0].statistics["remembered_successors"]
    assert said["reason"].startswith("with --history full, clocks tick at network-sends")
