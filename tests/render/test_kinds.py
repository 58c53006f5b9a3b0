"""Texts about a violation depend on the kind of its property, not on the property's name."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from attrs import evolve

from antecede.checker.check.spec import Spec, system_of
from antecede.checker.model import (
    CausalSend,
    Delivery,
    Message,
    Property,
    Receive,
    Transition,
    What,
    When,
)
from antecede.checker.paths.path import Path, replay
from antecede.checker.paths.violation import Violation, lost, wrong_order
from antecede.checker.render.about import about
from antecede.checker.render.explanation import explain
from antecede.checker.render.sequence import lines_of
from antecede.checker.render.spacetime import layout_of
from antecede.checker.search.counterexample_kinds import collect, shape
from antecede.protocols.unordered import Data
from tests import runs
from tests.conftest import counterexample
from tests.models import LOSES

PATHS: dict[str, Callable[[], Path]] = {
    "causal-delivery": runs.secret_mode,
    "fifo-delivery": lambda: counterexample("unordered", 2, 2, properties=("fifo-delivery",)),
    "integrity": lambda: counterexample("cykas", 2, 1, network="duplicating"),
    "all-delivered": runs.undelivered,
    "agreement": lambda: counterexample(
        "unordered", 3, 1, properties=("agreement",), workload=ONE_TO_TWO, crashes="1:of=0"
    ),
    "finishes": lambda: counterexample(
        "rst-on-request", 2, 1, properties=("finishes",), workload=BLOCKED
    ),
}
ONE_TO_TWO = "script:[[[1,2]],[],[]]"
BLOCKED = 'program:[[{"send":"x","to":[1]},{"receive":"any"}],[{"receive":"x"}]]'


def renamed(path: Path) -> Path:
    """Return the path with an unregistered name of the property that it violates."""
    assert path.violated is not None
    mine = evolve(path.violated, name="mine")
    return evolve(path, system=evolve(path.system, properties=(mine,)), violates="mine")


@pytest.mark.parametrize("name", PATHS)
def test_a_property_of_any_name_is_told_alike(name: str) -> None:
    path = PATHS[name]()
    assert name == path.violates
    own = renamed(path)
    assert explain(path) == explain(own)
    assert about(path).headline.replace(name, "mine") == about(own).headline
    assert (wrong_order(path), lost(path)) == (wrong_order(own), lost(own))
    assert layout_of(path).marks == layout_of(own).marks
    assert [*lines_of(path)] == [*lines_of(own)]
    assert shape(path)[1:] == shape(own)[1:]


def violating(path: Path, predicate: Callable[[Delivery], bool]) -> Path:
    """Return a path as a counterexample to a property of deliveries."""
    own = Property("own", "of a test", What.DELIVERY, When.ALWAYS, predicate)
    return evolve(path, system=evolve(path.system, properties=(own,)), violates="own")


def test_the_overtaken_message_is_told_where_the_order_of_one_sender_is_judged() -> None:
    """Bob's message overtakes Alice's second one first; that is not what is asked."""
    first, second, third = Message(0, 1, (2,)), Message(0, 2, (2,)), Message(0, 3, (1,))
    answer = Message(1, 1, (2,))
    transitions: list[Transition] = [
        CausalSend(0, (2,)),
        CausalSend(0, (2,)),
        CausalSend(0, (1,)),
        Receive(0, 1, Data(third)),
        CausalSend(1, (2,)),
        Receive(1, 2, Data(answer)),
        Receive(0, 2, Data(second)),
        Receive(0, 2, Data(first)),
    ]
    system = system_of(Spec(protocol="unordered", actors=3, workload="script:[[2,2,1],[2],[]]"))
    path = replay(system, transitions)

    by_causality = violating(path, lambda d: not d.causally_late)
    assert Violation(2, second, answer, (second, third, answer)) == wrong_order(by_causality)
    by_order = violating(path, lambda d: not d.fifo_late)
    assert Violation(2, first, second, (first, second)) == wrong_order(by_order)
    assert "Carol delivers m2 before m1" in about(by_order).headline


def test_a_message_that_one_receiver_delivers_is_not_called_never_delivered() -> None:
    assert "Only some receivers deliver m1" == about(PATHS["agreement"]()).headline
    assert "never delivered" in about(PATHS["all-delivered"]()).headline


def test_a_delivery_that_only_its_message_makes_wrong_is_named() -> None:
    path = counterexample("unordered", 2, 2)
    own = violating(path, lambda d: d.message.number < 2)
    assert wrong_order(own) is None
    text = explain(own).text
    assert "delivers m" in text
    assert "this is false: of a test." in text
    assert "own is violated" == about(own).headline


def test_only_what_a_property_minds_is_lost() -> None:
    """If only the second actor's messages must arrive, the first one's are not reported as lost."""
    path = counterexample(LOSES, 2, 1)
    assert [0, 1] == [message.sender for message in lost(path)]

    def arrives(undelivered: tuple[Message, ...]) -> bool:
        return all(message.sender == 0 for message in undelivered)

    own = Property("own", "of a test", What.UNDELIVERED, When.AT_FINAL_STATES, arrives)
    path = evolve(path, system=evolve(path.system, properties=(own,)), violates="own")
    assert [1] == [message.sender for message in lost(path)]


def test_messages_of_crashed_actors_make_no_further_kind() -> None:
    """In every violation, Bob lacks a message of Alice. What Carol misses is not owed."""
    spec = Spec(
        protocol="mfss",
        actors=3,
        workload="script:[[2,1],[2],[]]",
        crashes="1:of=2",
        properties=("all-delivered",),
    )
    found = collect(spec.system, 5)
    assert (True, 1) == (found.exhausted, len(found.paths))
