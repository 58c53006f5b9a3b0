"""Runs of endless workloads, told with numbered messages and checked to go round."""

from __future__ import annotations

import pytest

from antecede.checker.liveness.fairness import Lasso, lasso
from antecede.checker.model import CausalSend, Message, Receive, Transition
from antecede.checker.paths.endless import anonymous, check_cycle, numbered, renamed
from antecede.checker.paths.path import for_replay, replay
from antecede.checker.semantics.transition import System, enabled, initial_state, successor
from antecede.checker.support.errors import ReplayError
from antecede.protocols.cykas import Normal
from tests.search.test_graph import graph_of
from tests.semantics.test_marked import system

CYKAS = system("cykas", "endless:1:[[1,2],[2],[0]]")
PLAIN = for_replay(CYKAS)


@pytest.fixture(scope="module")
def run() -> Lasso:
    found = lasso(CYKAS, graph_of(CYKAS, most=6_000))
    assert found is not None
    return found


def test_messages_are_replaced_wherever_they_stand() -> None:
    one, two = Message(0, 1, (1,)), Message(0, 2, (1,))
    assert (Normal(two), frozenset({two}), 1) == renamed(
        (Normal(one), frozenset({one}), 1), {one: two}
    )


def test_a_lasso_is_told_with_numbered_messages(run: Lasso) -> None:
    told = replay(PLAIN, numbered(CYKAS, PLAIN, run.stem + run.cycle))
    assert len(run.stem) + len(run.cycle) == told.length
    assert [(0, 1), (0, 2), (2, 1), (0, 3), (0, 4)] == [(m.sender, m.number) for m in told.messages]
    assert Message(2, 1, (0,)) in {p.message for ghost in told.last.history for p in ghost.pending}


def test_a_told_run_is_turned_back(run: Lasso) -> None:
    transitions = run.stem + run.cycle
    assert transitions == anonymous(PLAIN, numbered(CYKAS, PLAIN, transitions), Message(2, 1, (0,)))


def test_the_cycle_is_run_twice_and_returns(run: Lasso) -> None:
    check_cycle(CYKAS, run.stem, run.cycle)


def test_a_cycle_that_does_not_return_is_refused(run: Lasso) -> None:
    with pytest.raises(ReplayError, match="does not lead back"):
        check_cycle(CYKAS, run.stem, run.cycle[:1])


def test_a_cycle_in_which_the_message_is_not_under_way_is_refused(run: Lasso) -> None:
    with pytest.raises(ReplayError, match="delivered, or was never causal-sent"):
        check_cycle(CYKAS, run.stem[:-1], run.cycle)


def test_a_cycle_that_cannot_be_taken_again_is_refused(run: Lasso) -> None:
    """The cycle begins one step late, so the second round lacks the packet of that step."""
    with pytest.raises(ReplayError, match=r"not lead back .* step \d of the cycle is not enabled"):
        check_cycle(CYKAS, run.stem + run.cycle[:1], run.cycle[1:])


def test_a_cycle_that_cannot_be_taken_once_is_refused(run: Lasso) -> None:
    with pytest.raises(ReplayError, match=r"^step \d of the cycle is not enabled"):
        check_cycle(CYKAS, run.stem, run.cycle[1:])


def test_an_unfair_cycle_is_refused() -> None:
    """Bob's message could be received all along, while Alice talks to Carol."""
    asked = system("unordered", "endless:1:[[2],[0],[]]")
    send = CausalSend(1, (0,), marked=True)
    talk = CausalSend(0, (2,))
    received = next(t for t in _after(asked, send, talk) if isinstance(t, Receive) and t.src == 0)
    with pytest.raises(ReplayError, match="the cycle is not fair"):
        check_cycle(asked, (send,), (talk, received))


def _after(asked: System, *transitions: CausalSend) -> tuple[Transition, ...]:
    state = initial_state(asked)
    for transition in transitions:
        state = successor(asked, state, transition).state
    return enabled(asked, state)


TURNS = "s01 r10 s02 r20 m20", "s10 r01 r01 s12 r21 r02 r20 s01 r10 r10 s02 r20 r12 r21"
"""Causal-sends (m: marked) and receptions; each says who acts, and whom it is to or from."""


def test_two_senders_who_take_turns_starve_the_third_on_fifo_channels() -> None:
    """Hybrid paper, section 4.3: the eager send of each arrives before the YCT of the other."""
    asked = system("cykas", "endless:1:[[1,2],[0,2],[0]]", network="fifo")
    state, taken = initial_state(asked), list[Transition]()
    for step in " ".join(TURNS).split():
        taken.append(next(t for t in enabled(asked, state) if _is(t, step)))
        state = successor(asked, state, taken[-1]).state
    check_cycle(asked, taken[:5], taken[5:])
    assert 14 == len(taken[5:])


def _is(transition: Transition, step: str) -> bool:
    what, actor, other = step[0], int(step[1]), int(step[2])
    if isinstance(transition, CausalSend):
        wanted = CausalSend(actor, (other,), marked=what == "m")
        return what != "r" and transition == wanted
    met = isinstance(transition, Receive) and (transition.dst, transition.src) == (actor, other)
    return what == "r" and met
