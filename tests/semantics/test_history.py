"""The causality oracle against the definition of happens-before, and its three encodings."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import pytest
from attrs import evolve, frozen
from hypothesis import given, settings
from hypothesis import strategies as st

from antecede.checker.model import Delivery, Message
from antecede.checker.semantics.history import (
    HISTORIES,
    Ghost,
    Oracle,
    Stamp,
    deliver,
    oracle_named,
)
from antecede.checker.support.errors import InputError

ENCODINGS = tuple(HISTORIES)
ACTORS = 3
MOST = 4


class Run:
    """Causal-sends and deliveries, recorded by one oracle."""

    def __init__(self, encoding: str, *, self_sends: bool = True, track_order: bool = True) -> None:
        self.oracle: Oracle = oracle_named(
            encoding, ACTORS, MOST, self_sends=self_sends, track_order=track_order
        )
        self.ghosts: tuple[Ghost, ...] = tuple(map(self.oracle.initial, range(ACTORS)))
        self.sent = [0] * ACTORS

    def send(self, sender: int, *destinations: int) -> Message:
        self.sent[sender] += 1
        message = Message(sender, self.sent[sender], destinations)
        ghosts = list(self.ghosts)
        ghosts[sender] = self.oracle.causal_send(ghosts[sender], message)
        self.ghosts = tuple(ghosts)
        return message

    def deliver(self, actor: int, message: Message) -> Delivery:
        self.ghosts, delivery = deliver(self.oracle, self.ghosts, actor, message)
        return delivery

    def pending(self, actor: int) -> list[tuple[Message, tuple[int, ...]]]:
        return [(p.message, p.remaining) for p in self.ghosts[actor].pending]

    def overtaken(self, actor: int) -> list[tuple[int, ...]]:
        return [p.overtaken for p in self.ghosts[actor].pending]

    def stamps(self, actor: int) -> list[Stamp]:
        return [p.stamp for p in self.ghosts[actor].pending]


@frozen
class Event:
    """An application event; `message` was causal-sent or delivered at `actor`."""

    actor: int
    kind: str
    message: Message


def happened_before(events: list[Event], first: Event, second: Event) -> bool:
    """Lamport's relation, by following program order and messages from `first`."""
    reached = [first]
    for at in range(events.index(first) + 1, len(events)):
        event = events[at]
        if any(
            (r.actor == event.actor)
            or (r.kind == "send" and event.kind == "deliver" and r.message == event.message)
            for r in reached
        ):
            reached.append(event)
    return second in reached[1:]


def judged_by_definition(events: list[Event], actor: int, message: Message) -> Delivery:
    """Judge the delivery of `message` at `actor` after `events`."""
    sends = {e.message: e for e in events if e.kind == "send"}
    before = [e.message for e in events if e.kind == "deliver" and e.actor == actor]
    if message not in sends or actor not in message.destinations or message in before:
        return Delivery(actor, message, expected=False, causally_late=False, fifo_late=False)
    return Delivery(
        actor,
        message,
        expected=True,
        causally_late=any(happened_before(events, sends[message], sends[m]) for m in before),
        fifo_late=any(m.sender == message.sender and m.number > message.number for m in before),
    )


@frozen
class Op:
    """A random choice: what kind of event, and numbers that pick its message and actors."""

    kind: str
    actor: int
    pick: int
    destinations: tuple[int, ...]


operations = st.lists(
    st.builds(
        Op,
        kind=st.sampled_from(["send", "send", "deliver", "deliver", "deliver", "stray"]),
        actor=st.integers(0, ACTORS - 1),
        pick=st.integers(0, 7),
        destinations=st.lists(
            st.integers(0, ACTORS - 1), min_size=1, max_size=ACTORS, unique=True
        ).map(tuple),
    ),
    min_size=14,
    max_size=24,
)
"""Causal-sends, deliveries of something pending, and deliveries of anything anywhere."""


def carry_out(runs: Sequence[Run], ops: list[Op]) -> Iterator[tuple[Event, list[Delivery]]]:
    """Let every run do the same; yield each event, before it is over, with its judgements."""
    sent: list[Message] = []
    for op in ops:
        pending = [(m, d) for i in range(ACTORS) for m, left in runs[0].pending(i) for d in left]
        if op.kind == "send" and runs[0].sent[op.actor] < MOST:
            (message,) = {run.send(op.actor, *op.destinations) for run in runs}
            sent.append(message)
            yield Event(op.actor, "send", message), []
        elif op.kind == "deliver" and pending:
            message, actor = pending[op.pick % len(pending)]
            yield Event(actor, "deliver", message), [run.deliver(actor, message) for run in runs]
        elif op.kind == "stray" and sent:
            message = sent[op.pick % len(sent)]
            judged = [run.deliver(op.actor, message) for run in runs]
            yield Event(op.actor, "deliver", message), judged


@given(operations)
def test_every_encoding_judges_as_the_definition_does(ops: list[Op]) -> None:
    runs = [Run(encoding) for encoding in ENCODINGS]
    events: list[Event] = []
    for event, judged in carry_out(runs, ops):
        if event.kind == "deliver":
            expected = judged_by_definition(events, event.actor, event.message)
            assert [expected] * len(runs) == judged
            if not expected.expected:
                continue
        events.append(event)
    for actor in range(ACTORS):
        assert runs[0].pending(actor) == runs[1].pending(actor) == runs[2].pending(actor)


@settings(max_examples=100)
@given(operations)
def test_knowledge_forgets_everything_once_all_is_delivered(ops: list[Op]) -> None:
    run = Run("knowledge")
    start = run.ghosts
    for _ in carry_out([run], ops):
        pass
    for message, remaining in [entry for i in range(ACTORS) for entry in run.pending(i)]:
        for destination in remaining:
            run.deliver(destination, message)
    assert start == run.ghosts


@settings(max_examples=100)
@given(operations)
def test_clocks_are_full_without_the_past(ops: list[Op]) -> None:
    clocks, full = Run("clocks"), Run("full")
    for _ in carry_out([clocks, full], ops):
        forgotten = tuple(evolve(ghost, stamps=(), delivered=()) for ghost in full.ghosts)
        assert forgotten == clocks.ghosts


@pytest.fixture(params=ENCODINGS)
def run(request: pytest.FixtureRequest) -> Run:
    return Run(request.param)


def test_delivery_in_causal_order_is_expected_and_not_known(run: Run) -> None:
    m1 = run.send(0, 1)
    assert Delivery(1, m1, expected=True, causally_late=False, fifo_late=False) == run.deliver(
        1, m1
    )


def test_later_message_of_the_same_sender_overtakes(run: Run) -> None:
    m1, m2 = run.send(0, 1), run.send(0, 1)
    assert not run.deliver(1, m2).causally_late
    assert Delivery(1, m1, expected=True, causally_late=True, fifo_late=True) == run.deliver(1, m1)


def test_chain_through_a_third_actor_overtakes_without_breaking_fifo(run: Run) -> None:
    """Alice, Bob and Carol: m1 to Carol, then m2 to Bob, whose m3 reaches Carol first."""
    m1, m2 = run.send(0, 2), run.send(0, 1)
    run.deliver(1, m2)
    m3 = run.send(1, 2)
    assert not run.deliver(2, m3).causally_late
    assert Delivery(2, m1, expected=True, causally_late=True, fifo_late=False) == run.deliver(2, m1)


def test_message_sent_before_hearing_of_another_is_concurrent_with_it(run: Run) -> None:
    m1, m3 = run.send(0, 2), run.send(1, 2)
    m2 = run.send(0, 1)
    run.deliver(1, m2)
    run.deliver(2, m3)
    assert not run.deliver(2, m1).causally_late


def test_violation_shows_at_the_overtaken_message_only(run: Run) -> None:
    m1, m2, m3 = run.send(0, 1), run.send(0, 1), run.send(0, 1)
    assert [False, True, True] == [run.deliver(1, m).causally_late for m in (m3, m1, m2)]


def test_who_delivers_one_copy_knows_of_the_other_copies(run: Run) -> None:
    """m1 goes to 1 and 2; what 1 sends to 2 after delivering it depends on the copy for 2."""
    m1 = run.send(0, 1, 2)
    run.deliver(1, m1)
    m2 = run.send(1, 2)
    run.deliver(2, m2)
    assert run.deliver(2, m1).causally_late


def test_copies_of_one_message_do_not_precede_each_other(run: Run) -> None:
    m1 = run.send(0, 1, 2)
    assert [False, False] == [run.deliver(d, m1).causally_late for d in (2, 1)]


def test_overtaking_is_told_apart_per_destination(run: Run) -> None:
    m1, m2 = run.send(0, 1, 2), run.send(0, 1)
    run.deliver(1, m2)
    assert [(1,)] == run.overtaken(0)
    assert [False, True] == [run.deliver(d, m1).fifo_late for d in (2, 1)]


def test_message_is_not_overtaken_by_one_to_another_actor(run: Run) -> None:
    m1, m2 = run.send(0, 1), run.send(0, 2)
    run.deliver(2, m2)
    assert [()] == run.overtaken(0)
    assert not run.deliver(1, m1).fifo_late


def test_overtaking_is_forgotten_where_the_message_has_been_delivered(run: Run) -> None:
    m1, m2 = run.send(0, 1, 2), run.send(0, 1)
    run.deliver(1, m2)
    run.deliver(1, m1)
    assert [()] == run.overtaken(0)


def test_earlier_message_is_not_overtaken_by_its_predecessor(run: Run) -> None:
    m1, m2 = run.send(0, 1), run.send(0, 1)
    assert [False, False] == [run.deliver(1, m).fifo_late for m in (m1, m2)]


@pytest.mark.parametrize("encoding", ENCODINGS)
def test_overtaking_is_not_recorded_unless_asked_for(encoding: str) -> None:
    run = Run(encoding, track_order=False)
    m1, m2 = run.send(0, 1), run.send(0, 1)
    run.deliver(1, m2)
    assert [()] == run.overtaken(0)
    assert not run.deliver(1, m1).fifo_late


def test_self_addressed_message_does_not_count_as_known_from_its_send(run: Run) -> None:
    m1 = run.send(0, 0)
    assert not run.deliver(0, m1).causally_late


def test_self_addressed_messages_out_of_order_violate(run: Run) -> None:
    m1, m2 = run.send(0, 0), run.send(0, 0)
    assert [False, True] == [run.deliver(0, m).causally_late for m in (m2, m1)]


def test_self_addressed_message_is_known_from_what_others_answer(run: Run) -> None:
    """0 sends m1 to itself and m2 to 1; 1's answer reaches 0 before m1 does."""
    m1, m2 = run.send(0, 0), run.send(0, 1)
    run.deliver(1, m2)
    m3 = run.send(1, 0)
    run.deliver(0, m3)
    assert run.deliver(0, m1).causally_late


def test_message_to_oneself_and_another_is_judged_at_each(run: Run) -> None:
    m1 = run.send(0, 0, 1)
    run.deliver(1, m1)
    m2 = run.send(1, 0)
    run.deliver(0, m2)
    assert run.deliver(0, m1).causally_late


@pytest.mark.parametrize(
    ("actor", "message"),
    [
        (2, Message(0, 1, (1,))),  # not sent there
        (1, Message(0, 2, (1,))),  # never sent
        (1, Message(0, 1, (1, 2))),  # sent to fewer
        (1, Message(7, 1, (1,))),  # no actor's
        (1, Message(-1, 1, (1,))),  # no actor's, but Python accepts the index
    ],
)
def test_unexpected_delivery_leaves_the_history_as_it_was(
    run: Run, actor: int, message: Message
) -> None:
    run.send(0, 1)
    before = run.ghosts
    expected = Delivery(actor, message, expected=False, causally_late=False, fifo_late=False)
    assert expected == run.deliver(actor, message)
    assert before == run.ghosts


def test_second_delivery_is_unexpected_and_not_judged_as_causality(run: Run) -> None:
    m1, m2 = run.send(0, 1, 2), run.send(0, 1)
    run.deliver(1, m2)
    run.deliver(1, m1)
    before = run.ghosts
    assert Delivery(1, m1, expected=False, causally_late=False, fifo_late=False) == run.deliver(
        1, m1
    )
    assert before == run.ghosts


def test_message_stays_pending_until_its_last_destination(run: Run) -> None:
    m1, m2 = run.send(0, 1, 2), run.send(0, 1)
    run.deliver(1, m1)
    assert [(m1, (2,)), (m2, (1,))] == run.pending(0)
    run.deliver(2, m1)
    assert [(m2, (1,))] == run.pending(0)


def test_take_refuses_what_is_not_pending_there(run: Run) -> None:
    m1 = run.send(0, 1)
    ghost = run.ghosts[0]
    assert run.oracle.take(ghost, m1, 2) is None
    assert run.oracle.take(run.ghosts[1], m1, 1) is None
    taken = run.oracle.take(ghost, m1, 1)
    assert taken is not None
    assert () == taken.ghost.pending


def test_clocks_are_vector_clocks() -> None:
    run = Run("clocks", self_sends=False)
    m1 = run.send(0, 1)
    m2 = run.send(0, 2)
    run.deliver(1, m1)
    m3 = run.send(1, 2)
    assert [(2, 0, 0), (1, 1, 0), (0, 0, 0)] == [ghost.knows for ghost in run.ghosts]
    run.deliver(2, m3)
    assert (1, 1, 0) == run.ghosts[2].knows
    run.deliver(2, m2)
    assert (2, 1, 0) == run.ghosts[2].knows


def test_delivery_of_an_old_message_does_not_turn_a_clock_back() -> None:
    run = Run("clocks", self_sends=False)
    m1, m2 = run.send(0, 1), run.send(0, 1)
    run.deliver(1, m2)
    run.deliver(1, m1)
    assert (2, 0, 0) == run.ghosts[1].knows


def test_clocks_keep_the_stamps_of_undelivered_messages_only() -> None:
    run = Run("clocks", self_sends=False)
    m1, _ = run.send(0, 1), run.send(0, 1)
    assert [(1, 0, 0), (2, 0, 0)] == run.stamps(0)
    run.deliver(1, m1)
    assert [(2, 0, 0)] == run.stamps(0)
    assert all(ghost.stamps == ghost.delivered == () for ghost in run.ghosts)


def test_full_keeps_every_stamp_and_the_order_of_deliveries() -> None:
    run = Run("full", self_sends=False)
    m1, m2 = run.send(0, 1), run.send(0, 1)
    run.deliver(1, m2)
    run.deliver(1, m1)
    assert ((1, (1, 0, 0)), (2, (2, 0, 0))) == run.ghosts[0].stamps
    assert ((0, (2, 0, 0)), (0, (1, 0, 0))) == run.ghosts[1].delivered


def test_knowledge_keeps_which_undelivered_message_precedes_which() -> None:
    """A bit per (message, destination), counted by sender, number and destination."""
    run = Run("knowledge", self_sends=False)
    _, m2 = run.send(0, 2), run.send(0, 1)
    first, second = 1 << 2, 1 << (ACTORS + 1)
    assert [0, first] == run.stamps(0)
    assert first | second == run.ghosts[0].knows
    run.deliver(1, m2)
    assert [first, first, 0] == [ghost.knows for ghost in run.ghosts]


def test_knowledge_forgets_a_delivered_message_in_actors_and_in_stamps() -> None:
    run = Run("knowledge", self_sends=False)
    m1 = run.send(0, 2)
    run.send(0, 1)
    run.deliver(2, m1)
    assert [0] == run.stamps(0)
    assert [1 << (ACTORS + 1), 0, 0] == [ghost.knows for ghost in run.ghosts]


def test_knowledge_keeps_self_addressed_messages_heard_of_apart() -> None:
    run = Run("knowledge")
    run.send(0, 0)
    assert [(1, 0)] == [(g.knows, g.heard) for g in run.ghosts[:1]]
    m2 = run.send(0, 1)
    run.deliver(1, m2)
    run.deliver(0, run.send(1, 0))
    assert [(1, 1)] == [(g.knows, g.heard) for g in run.ghosts[:1]]


@pytest.mark.parametrize("encoding", ["clocks", "full"])
def test_clock_encodings_never_forget(encoding: str) -> None:
    assert oracle_named(encoding, ACTORS, MOST).forget is None


@pytest.mark.parametrize("encoding", ENCODINGS)
def test_oracle_bears_the_name_it_was_asked_for_by(encoding: str) -> None:
    assert encoding == oracle_named(encoding, ACTORS, MOST).name


def test_unknown_encoding_is_named_with_the_choices() -> None:
    with pytest.raises(InputError) as caught:
        oracle_named("clock", ACTORS, MOST)
    expected = "unknown history 'clock'; did you mean 'clocks'? available: clocks, full, knowledge"
    assert expected == str(caught.value)
