"""Every kind of property, with a protocol that violates it at a known place, asked everywhere."""

from __future__ import annotations

import copy
import pickle
from collections.abc import Callable
from itertools import product
from operator import attrgetter
from typing import Any

import pytest
from attrs import evolve, frozen

from antecede.checker.check.engine import explorer_for
from antecede.checker.explore.judgement import judged, violated_by
from antecede.checker.model import Delivery, Message, Property, Protocol, What, When
from antecede.checker.paths.path import Path, first_shown, holds_along, replay
from antecede.checker.render.graph import state_graph
from antecede.checker.search.loop import explore
from antecede.checker.search.options import Options
from antecede.checker.search.plain import found_lost
from antecede.checker.search.result import Verdict
from antecede.checker.semantics.judge import Fault, fault_of, looks_at_message, looks_at_order
from antecede.checker.semantics.transition import System
from tests.conftest import method
from tests.models import DIRECT, FORGES, KEEPS, LOSES, PING_PONG, SENDS_TWICE
from tests.questions import HIDING
from tests.semantics.test_transition import system_for

TWICE = "script:[[1,1],[]]"
ONCE = "script:[[1],[]]"
WAYS = [*product(("plain", "local"), ("breadth", "depth", "random"))]

DELIVERIES: dict[str, Callable[[Delivery], bool]] = {
    "expected": lambda d: d.expected,
    "unknown": lambda d: not d.causally_late,
    "in-order": lambda d: not d.fifo_late,
    "overtaken": lambda d: d.fifo_late,
}


@frozen
class Case:
    """A property, where it is shown, and where it is not.

    Attributes:
        shown: the protocol that violates it, or shows what is sought.
        after: how many transitions from the start.
        hidden: a protocol whose runs all respect it, or do not show it.
        network: of the second protocol.
    """

    prop: Property
    shown: Protocol
    after: int
    hidden: Protocol
    workload: str = ONCE
    network: str = "unordered"

    def system(self, *, hidden: bool = False) -> System:
        """Return the system that shows the property, or the one that does not."""
        protocol = self.hidden if hidden else self.shown
        network = self.network if hidden else "unordered"
        system = system_for(
            protocol,
            2,
            1,
            workload=self.workload,
            network=network,
            properties=("fifo-delivery",),  # so that the history tracks the order
        )
        return evolve(system, properties=(self.prop,))


def of(what: What, when: When, predicate: Callable[[Any], bool]) -> Property:
    name = f"{when.name} {what.name}".lower()
    return Property(name, "of a test", what, when, predicate)


def deliveries(when: When, name: str) -> Property:
    return of(What.DELIVERY, when, DELIVERIES[name])


def holds_nothing(state: Any) -> bool:
    return not state.held


def holds_something(state: Any) -> bool:
    return bool(state.held)


def nothing(undelivered: tuple[Message, ...]) -> bool:
    return not undelivered


def ended(has_ended: bool) -> bool:
    return has_ended


CASES = [
    # Both messages are sent, and the first copy delivered.
    Case(deliveries(When.ALWAYS, "expected"), SENDS_TWICE, 3, DIRECT),
    # Two sends, and the second message comes first.
    Case(deliveries(When.ALWAYS, "unknown"), DIRECT, 4, DIRECT, TWICE, "fifo"),
    Case(deliveries(When.ALWAYS, "in-order"), DIRECT, 4, DIRECT, TWICE, "fifo"),
    Case(deliveries(When.SOMETIMES, "overtaken"), DIRECT, 4, DIRECT, TWICE, "fifo"),
    # A send and a receive.
    Case(of(What.LOCAL_STATE, When.ALWAYS, holds_nothing), KEEPS, 2, DIRECT),
    Case(of(What.LOCAL_STATE, When.SOMETIMES, holds_something), KEEPS, 2, DIRECT),
    # The only send is lost, so the run is over; where it is received, two transitions are all.
    Case(of(What.UNDELIVERED, When.AT_FINAL_STATES, nothing), LOSES, 1, DIRECT),
    Case(of(What.UNDELIVERED, When.AT_SOME_FINAL_STATE, nothing), DIRECT, 2, LOSES),
    # The second actor waits for the ping, and its application ends with the pong's send.
    Case(of(What.ENDED, When.AT_FINAL_STATES, ended), LOSES, 1, DIRECT, PING_PONG),
    Case(of(What.ENDED, When.AT_SOME_FINAL_STATE, ended), DIRECT, 4, LOSES, PING_PONG),
    Case(of(What.UNDELIVERED, When.ALWAYS_POSSIBLE, nothing), LOSES, 1, DIRECT),
    Case(of(What.ENDED, When.ALWAYS_POSSIBLE, ended), LOSES, 0, DIRECT, PING_PONG),
]

SEARCHED = [case for case in CASES if not case.prop.later]
LATER = [case for case in CASES if case.prop.later]


def named(case: Any) -> str:
    return case.prop.name if isinstance(case, Case) else str(case)


def path_of(case: Case) -> Path:
    """Return a shortest path that shows the property."""
    found = explore(case.system(), explorer_for(case.system(), Options(engine="plain")))
    path = found.shown[case.prop.name] if case.prop.sought else found.counterexample
    assert path is not None
    return path


@pytest.mark.parametrize(("engine", "search"), WAYS)
@pytest.mark.parametrize("case", SEARCHED, ids=named)
def test_every_search_finds_where_it_is_shown(case: Case, engine: str, search: str) -> None:
    system = case.system()
    options = method(engine=engine, search=search, threads=1, walks=50)
    found = explore(system, explorer_for(system, options))
    path = found.shown.get(case.prop.name) if case.prop.sought else found.counterexample
    assert path is not None
    assert path.length == case.after if search == "breadth" else path.length >= case.after
    assert found.properties[case.prop.name] is (
        Verdict.HOLDS if case.prop.sought else Verdict.VIOLATED
    )


@pytest.mark.parametrize("engine", ["plain", "local"])
@pytest.mark.parametrize("case", SEARCHED, ids=named)
def test_no_search_shows_it_where_it_is_not(case: Case, engine: str) -> None:
    system = case.system(hidden=True)
    found = explore(system, explorer_for(system, method(engine=engine, threads=1)))
    assert found.counterexample is None
    assert found.properties[case.prop.name] is (
        Verdict.VIOLATED if case.prop.sought else Verdict.HOLDS
    )


@pytest.mark.parametrize("case", SEARCHED, ids=named)
def test_a_replayed_path_shows_it_with_its_last_step_and_not_before(case: Case) -> None:
    path = path_of(case)
    assert case.after == first_shown(path, case.prop)
    assert not holds_along(path, case.prop)
    assert holds_along(evolve(path, steps=path.steps[:-1]), case.prop)


@pytest.mark.parametrize("case", SEARCHED, ids=named)
def test_the_explore_page_says_so_at_the_same_step(case: Case) -> None:
    path = path_of(case)
    before = evolve(path, steps=path.steps[:-1])
    (here,), (earlier,) = (
        judged(path, path.system, path.last),
        judged(before, path.system, path.last),
    )
    assert ("shown" if case.prop.sought else "violated") == here.verdict
    assert earlier.verdict in ("fine", "open")
    assert case.after == here.step
    assert (() if case.prop.sought else (case.prop.name,)) == violated_by(path)


@pytest.mark.parametrize("case", SEARCHED, ids=named)
def test_the_graph_marks_a_state_so_far_from_the_start(case: Case) -> None:
    graph = state_graph(case.system())
    depths = [data["depth"] for _, data in graph.nodes(data=True) if data["violates"]]
    assert (None if case.prop.sought else case.after + 1) == min(depths, default=None)
    assert not any(
        data["violates"] for _, data in state_graph(case.system(hidden=True)).nodes(data=True)
    )


@pytest.mark.parametrize("case", LATER, ids=named)
def test_the_nearest_state_without_a_way_back_is_found(case: Case) -> None:
    found = found_lost(case.system(), case.prop, lambda: None)
    assert found is not None
    assert case.after == len(found.transitions)
    path = replay(case.system(), found.transitions)
    assert not holds_along(path, case.prop)
    assert "violated" == judged(path, path.system, path.last)[0].verdict
    assert found_lost(case.system(hidden=True), case.prop, lambda: None) is None


@pytest.mark.parametrize(
    ("name", "faults", "expected"),
    [
        ("expected", {"expected": False}, Fault.UNEXPECTED),
        ("unknown", {"causally_late": True}, Fault.CAUSALLY_LATE),
        (
            "unknown",
            {"expected": False, "causally_late": True, "fifo_late": True},
            Fault.CAUSALLY_LATE,
        ),
        ("in-order", {"causally_late": True, "fifo_late": True}, Fault.FIFO_LATE),
        ("overtaken", {"causally_late": True}, None),
    ],
)
def test_the_fault_is_what_the_predicate_minds(
    name: str, faults: dict[str, bool], expected: Fault | None
) -> None:
    right = Delivery(1, Message(0, 1, (1,)), expected=True, causally_late=False, fifo_late=False)
    wrong: Any = evolve(right, **faults)  # type: ignore[arg-type]
    assert fault_of(deliveries(When.ALWAYS, name), wrong) is expected


@pytest.mark.parametrize(
    ("predicate", "expected"),
    [
        (lambda d: d.expected and not d.causally_late, False),
        (lambda d: not d.fifo_late, True),
        (lambda d: d.expected or d.causally_late or not d.fifo_late, True),
        (lambda d: not (d.causally_late and d.message.number > 1 and d.fifo_late), True),
        *((hide(lambda d: not d.fifo_late, True), True) for hide in HIDING.values()),
        (attrgetter("expected"), False),
        (attrgetter("fifo_late"), True),
    ],
)
def test_the_history_tracks_the_order_if_a_predicate_may_ask(
    predicate: Callable[[Delivery], bool], expected: bool
) -> None:
    assert expected is looks_at_order(of(What.DELIVERY, When.ALWAYS, predicate))


def matches(delivery: Delivery) -> bool:
    match delivery:
        case Delivery(actor=1):
            return False
    return True


def catches(delivery: Delivery) -> bool:
    try:
        return delivery.actor != 1
    except Exception:
        return True


WRONG = Delivery(1, Message(0, 1, (1,)), expected=True, causally_late=False, fifo_late=False)
WRONG_ONES = {WRONG}


@pytest.mark.parametrize(
    ("predicate", "expected"),
    [
        (lambda d: d.expected and not d.causally_late and not d.fifo_late, False),
        (lambda d: d.causally_late and d.actor == 0, True),
        (matches, True),
        (catches, True),
        (lambda d: d != WRONG, True),
        (lambda d: d not in {WRONG}, True),
        (lambda d: d in WRONG_ONES, True),
        *((hide(lambda d: d.actor != 1, True), True) for hide in HIDING.values()),
        (lambda d: type(d) is Delivery and d.expected, False),
        (lambda d: isinstance(d, Delivery) and d.expected, False),
        (lambda d: "actor=1" not in repr(d), True),
        (lambda d: pickle.dumps(d) != pickle.dumps(WRONG), True),
        (lambda d: copy.deepcopy(d).expected, False),
        (attrgetter("expected"), False),
        (attrgetter("message.sender"), True),
    ],
)
def test_a_predicate_that_may_ask_which_message_is_delivered_is_for_plain_python(
    predicate: Callable[[Delivery], bool], expected: bool
) -> None:
    assert expected is looks_at_message(of(What.DELIVERY, When.ALWAYS, predicate))


def test_what_a_predicate_minds_may_be_no_fault() -> None:
    prop = of(What.DELIVERY, When.ALWAYS, lambda d: d.message.number < 2)
    second = Delivery(1, Message(0, 2, (1,)), expected=False, causally_late=True, fifo_late=False)
    assert fault_of(prop, second) is None


def test_a_run_shows_what_comes_first() -> None:
    """The forged message is unexpected already when it is delivered, and stays so."""
    prop = deliveries(When.ALWAYS, "expected")
    path = path_of(Case(prop, FORGES, 2, DIRECT))
    assert 2 == first_shown(evolve(path, steps=path.steps * 2), prop)


def pairs_that_cannot_be_judged() -> list[tuple[What, When]]:
    good = {(case.prop.what, case.prop.when) for case in CASES}
    good.add((What.UNDELIVERED, When.EVENTUALLY_IF_FAIR))
    # Other tests judge these: test_joint.py, and the random systems with properties of users.
    good |= set(product((What.LOCAL_STATE, What.GLOBAL_STATE, What.SEQUENCES), tuple(When)[:4]))
    good |= set(product((What.PARTLY_DELIVERED,), tuple(When)[2:5]))
    return [pair for pair in product(What, When) if pair not in good]


@pytest.mark.parametrize(("what", "when"), pairs_that_cannot_be_judged())
def test_what_no_engine_could_judge_is_refused(what: What, when: When) -> None:
    with pytest.raises(ValueError, match=rf"What\.{what.name} goes with When\."):
        of(what, when, bool)


def test_a_property_needs_a_predicate_except_on_fair_runs() -> None:
    with pytest.raises(ValueError, match=r"'own' has When.ALWAYS, and that needs a predicate"):
        Property("own", "of a test", What.DELIVERY, When.ALWAYS)
    with pytest.raises(ValueError, match="EVENTUALLY_IF_FAIR, and that takes no predicate"):
        of(What.UNDELIVERED, When.EVENTUALLY_IF_FAIR, nothing)
