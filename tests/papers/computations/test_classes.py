"""The classes of computations, compared with their definitions by all linear orders."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache

import pytest

from antecede.checker.check.spec import Spec, system_of
from antecede.checker.papers.computations import classes
from antecede.checker.papers.computations.classes import CLASSES, NAMES, rank
from antecede.checker.papers.computations.computation import (
    Computation,
    Event,
    Script,
    computations,
)
from antecede.checker.papers.computations.generate import drawn, generating
from antecede.checker.sweep.smallest import scripted, scripts
from tests.papers.computations import naive

CROWN: Script = ((2, 3), (3, 2), (), ())
"""Two senders with a message to each of two receivers."""

RING: Script = ((1, 2), (2, 0), (0, 1))


@cache
def small() -> tuple[tuple[Computation, frozenset[str]], ...]:
    """Return computations of up to four messages, each with its classes by definition."""
    every = [script for k in (1, 2, 3, 4) for script in scripts(3, k)] + [CROWN]
    found = (one for script in every for one in computations(script))
    return tuple((one, frozenset(naive.classes(one))) for one in found)


def differences(contains: Callable[[Computation], bool], name: str) -> int:
    """Return how many small computations a predicate judges differently from the definition."""
    return sum(contains(one) != (name in by_definition) for one, by_definition in small())


@pytest.mark.parametrize("index", range(len(CLASSES)), ids=NAMES)
def test_a_class_has_the_computations_of_its_definition(index: int) -> None:
    assert 0 == differences(CLASSES[index].contains, CLASSES[index].name)


def test_every_class_differs_from_the_next_one_but_1_n_and_mailbox() -> None:
    sizes = [sum(name in found for _, found in small()) for name in NAMES]
    assert sizes[NAMES.index("1-n")] == sizes[NAMES.index("mailbox")]
    assert len(NAMES) - 1 == len(set(sizes))
    assert sorted(sizes) == sizes


def test_each_class_contains_the_classes_before_it() -> None:
    for one, by_definition in small():
        assert by_definition == set(NAMES[rank(one) :])


def without_transitivity(computation: Computation) -> bool:
    """Judge causal delivery by messages of one sender only, which is the class fifo."""
    return classes.fifo(computation)


def without_the_receiver(computation: Computation) -> bool:
    """Let the messages to all actors share one mailbox, as in n-n."""
    return classes.n_to_n(computation)


def one_way_crowns_only(computation: Computation) -> bool:
    """Take happens-before for the order of the mailbox, which misses crowns."""
    return classes.causal(computation)


def by_the_first_order(computation: Computation) -> bool:
    """Look at one linear order in place of all."""
    order = next(naive.linear_orders(computation))
    return all(kept for _, _, kept in naive.pairs(order))


@pytest.mark.parametrize(
    ("bug", "name"),
    [
        (without_transitivity, "causal"),
        (without_the_receiver, "mailbox"),
        (one_way_crowns_only, "mailbox"),
        (one_way_crowns_only, "1-n"),
        (by_the_first_order, "n-n"),
        (classes.n_to_n, "synchronous"),
        (classes.asynchronous, "fifo"),
    ],
)
def test_a_class_with_a_bug_differs_from_its_definition(
    bug: Callable[[Computation], bool], name: str
) -> None:
    assert differences(bug, name)


def test_a_cycle_of_causes_is_no_computation() -> None:
    first, second = (0, 1), (1, 1)
    cycle = (
        (Event(second, True), Event(first, False)),
        (Event(first, True), Event(second, False)),
    )
    assert not classes.asynchronous(cycle)
    assert set() == naive.classes(cycle)


def test_the_smallest_crown_is_causal_and_has_no_mailbox_order() -> None:
    crown = (
        (Event((0, 1), False), Event((0, 2), False)),
        (Event((1, 1), False), Event((1, 2), False)),
        (Event((1, 2), True), Event((0, 1), True)),
        (Event((0, 2), True), Event((1, 1), True)),
    )
    assert "causal" == NAMES[rank(crown)]
    assert {"causal", "fifo", "asynchronous"} == naive.classes(crown)


@pytest.mark.parametrize("script", [((1,), (0,)), ((1, 1), (0, 0)), ((1, 2), (2,), (0,)), CROWN])
def test_delivery_on_arrival_generates_every_computation(script: Script) -> None:
    search = generating(system_of(scripted(Spec("unordered"), script)))
    while search.frontier:
        search.round(lambda: None)
    assert set(computations(script)) == search.complete
    assert 0 == search.stuck


def test_a_computation_is_drawn_as_a_run_with_its_events() -> None:
    for one in list(computations(RING))[::100]:
        path = drawn(RING, one)
        events: list[list[Event]] = [[], [], []]
        for step in path.steps:
            messages = [step.message] if step.message else [d.message for d in step.deliveries]
            for message in messages:
                key = (message.sender, message.number)
                events[step.actor].append(Event(key, step.message is None))
        assert one == tuple(map(tuple, events))
