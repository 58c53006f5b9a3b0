"""The tree paper's configurations: its examples, the protocol beside them, and seeded bugs."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Hashable, Iterable, Sequence
from functools import partial
from itertools import product
from typing import Any, TypeVar

import pytest

from antecede.checker.check.spec import Spec, system_of
from antecede.checker.model import Message, Protocol, State
from antecede.checker.papers.claims.claim import Ruling, evidence_of
from antecede.checker.papers.claims.judge import Judge
from antecede.checker.search.options import Bounds, Options
from antecede.checker.semantics.transition import enabled, initial_state, successor
from antecede.protocols import tree_lemmas as module
from antecede.protocols.tree import RING, TREE, TREE_FIGURE_1, TREE_FIGURE_2_LEFT, TREE_STAR
from antecede.protocols.tree_lemmas import (
    Configuration,
    Explored,
    Program,
    beginning,
    case_of,
    consistent,
    explored_from,
    includes,
    well_formed,
)

THREE = ((2, 1), (2,), ())
"""Three messages; the last one may depend on both others."""


def explored(
    name: str, program: Sequence[Sequence[int]] = THREE, protocol: Protocol = TREE
) -> Explored:
    nodes = [protocol.initial(node, len(program)) for node in range(len(program))]
    return explored_from(nodes, program, name)


def at_figure_2(
    first: module.Queue, second: module.Queue
) -> tuple[Configuration, Message, Message]:
    """Return Figure 2, left, with "credit" to the Bank and "buy" to the Shop in these queues."""
    routes = tuple(TREE_FIGURE_2_LEFT.initial(node, 4).routes for node in range(4))
    credit, buy = Message(0, 1, (2,)), Message(0, 2, (3,))
    at = Configuration(routes, (("Snd", credit), ("Snd", buy)))
    return module.pushed(module.pushed(at, first, credit), second, buy), credit, buy


def test_a_path_includes_its_ends_but_not_itself() -> None:
    assert includes((2, 3), (1, 2, 3))
    assert not includes((1, 2, 3), (1, 2, 3))
    assert not includes((1, 2), (1, 2, 3))


def test_credit_and_buy_are_each_before_the_other_as_section_3_4_says() -> None:
    at, credit, buy = at_figure_2(("out", 1, 2), ("in", 3, 0))
    assert (3, 3) == (case_of(at, credit, buy), case_of(at, buy, credit))


def test_an_out_queue_is_before_an_in_queue_of_the_same_node() -> None:
    at, credit, buy = at_figure_2(("out", 0, 1), ("in", 0, 1))
    assert 2 == case_of(at, credit, buy)
    assert 0 == case_of(at, buy, credit)


def test_a_message_in_a_queue_that_leads_elsewhere_is_not_well_formed() -> None:
    at, *_ = at_figure_2(("out", 0, 1), ("in", 3, 0))
    astray, *_ = at_figure_2(("out", 0, 3), ("in", 3, 0))
    assert module.well_formed(at, module.includes_or_equals)
    assert not module.well_formed(astray, module.includes_or_equals)


def test_the_configuration_that_refutes_the_theorem_is_consistent() -> None:
    routes = tuple(TREE.initial(node, 3).routes for node in range(3))
    overtaken = beginning(routes, ((2, 2), (), ()), (("in", 1, 0, 1), ("in", 2, 1, 2)))
    assert well_formed(overtaken)
    assert consistent(overtaken)


def test_a_first_configuration_that_is_not_consistent_is_refused() -> None:
    nodes = [TREE.initial(node, 3) for node in range(3)]
    with pytest.raises(ValueError, match="not consistent"):
        explored_from(nodes, ((2,), (), ()), "theorem-4-1", (("out", 0, 1, 1),))


# The protocol beside it


T = TypeVar("T", bound=Hashable)


def reached(start: T, after: Callable[[T], Iterable[T]]) -> set[T]:
    seen, waiting = {start}, deque([start])
    while waiting:
        new = set(after(waiting.popleft())) - seen
        seen |= new
        waiting.extend(new)
    return seen


def channels_of_configurations(program: Sequence[Sequence[int]], protocol: Protocol) -> set[Any]:
    """Return the contents of all channels, an in-queue before the out-queue that fills it."""
    actors = range(len(program))
    start = beginning(tuple(protocol.initial(n, len(program)).routes for n in actors), program)

    def channels(queues: dict[module.Queue, tuple[Message, ...]]) -> tuple[Any, ...]:
        return tuple(
            (*queues.get(("in", dst, src), ()), *queues.get(("out", src, dst), ()))
            for src, dst in product(actors, actors)
        )

    found = reached(start, lambda at: (after for _, after in module.steps(at, program)))
    return {(len(at.sent), channels(dict(at.queues))) for at in found}


def channels_of_protocol(program: Sequence[Sequence[int]], protocol: Protocol) -> set[Any]:
    """Return the same by the checker's transitions of the protocol `tree`."""
    script = f"script:{[list(destinations) for destinations in program]}"
    system = system_of(
        Spec(protocol=protocol.name, actors=len(program), network="fifo", workload=script)
    )

    def after(state: State) -> Iterable[State]:
        return (successor(system, state, taken).state for taken in enabled(system, state))

    return {
        (sum(state.workload), tuple(tuple(p.message for p in c) for c in state.channels))
        for state in reached(initial_state(system), after)
    }


@pytest.mark.parametrize(
    ("program", "protocol"),
    [(THREE, TREE), (((2,), (2, 0), ()), TREE), (((1,), (2, 3), (), ()), TREE_STAR)],
    ids=["line", "both ways", "star"],
)
def test_the_queues_are_the_channels_of_the_protocol(
    program: Sequence[Sequence[int]], protocol: Protocol
) -> None:
    assert channels_of_protocol(program, protocol) == channels_of_configurations(program, protocol)


def test_the_example_of_section_3_1_reaches_both_of_its_histories() -> None:
    """On Figure 2, left, the purchase may arrive first, so the statement notices more histories."""
    program = ((2, 3), (), (), (2,))
    routes = tuple(TREE_FIGURE_1.initial(node, 4).routes for node in range(4))
    ends = reached(
        beginning(routes, program), lambda at: (after for _, after in module.steps(at, program))
    )
    words = {tuple(module.in_words(at, f"{k} {{}}", m) for k, m in at.history) for at in ends}
    assert set(module.EXAMPLE) <= words
    assert explored("example-histories", program, TREE_FIGURE_1).run is None
    assert explored("example-histories", program, TREE_FIGURE_2_LEFT).run is not None


# Seeded bugs


def test_a_queue_that_reorders_refutes_the_theorem(monkeypatch: pytest.MonkeyPatch) -> None:
    def to_the_front(at: Configuration, queue: module.Queue, m: Message) -> Configuration:
        queues = dict(at.queues)
        queues[queue] = (m, *queues.get(queue, ()))
        return Configuration(at.routes, at.history, tuple(sorted(queues.items())))

    assert explored("theorem-4-1", ((2, 2), (), ())).run is None
    monkeypatch.setattr(module, "pushed", to_the_front)
    assert explored("theorem-4-1", ((2, 2), (), ())).run is not None


def test_a_cycle_refutes_the_theorem() -> None:
    assert explored("theorem-4-1", THREE).run is None
    assert explored("theorem-4-1", THREE, RING).run is not None


def test_a_message_that_stays_in_its_queue_refutes_the_repaired_lemma_4_3(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    assert explored("lemma-4-3-equal-paths").run is None
    monkeypatch.setattr(module, "popped", lambda at, _queue: at)
    assert explored("lemma-4-3-equal-paths").run is not None


def test_direct_causes_alone_are_not_transitive(monkeypatch: pytest.MonkeyPatch) -> None:
    chain = ((1,), (2,), (0,))
    assert explored("cause-strict-order", chain).run is None
    monkeypatch.setattr(module, "causes", module.directly_causes)
    assert explored("cause-strict-order", chain).run is not None


def test_lemma_4_5_notices_causes_that_come_from_nowhere(monkeypatch: pytest.MonkeyPatch) -> None:
    chain = ((1,), (2,), (0,))
    assert explored("lemma-4-5", chain).run is None
    causes = module.causes

    def causes_all_later(at: Configuration, m: Message, n: Message) -> bool:
        return causes(at, m, n) or at.precedes(("Rec", m), ("Snd", n))

    monkeypatch.setattr(module, "causes", causes_all_later)
    assert "not as the lemma says" in explored("lemma-4-5", chain).contradiction


def test_lemma_4_5_notices_a_cause_that_another_message_brings(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def when_received(at: Configuration, m: Message, n: Message) -> bool:
        return at.received(m) and ("Snd", n) in at.history

    monkeypatch.setattr(module, "causes", when_received)
    assert "by a step of another message" in explored("lemma-4-5").contradiction


def test_a_repair_that_is_left_out_refutes_lemma_4_6() -> None:
    assert explored("lemma-4-6-repaired", ((), (0, 2), ())).run is None
    assert (
        "M-Send m1, M-Send m2" in explored("lemma-4-6-equal-paths", ((), (0, 2), ())).contradiction
    )


# Figure 8, repaired


def failing(*repaired: int, programs: int = 2) -> str:
    """Return how Lemma 4.4 fails if these cases of Figure 8 are repaired, or "" if it holds."""
    start = beginning(tuple(TREE.initial(node, 3).routes for node in range(3)), programs)
    case = partial(case_of, repaired=repaired)
    lemma = partial(module.lemma_4_4, inclusion=module.includes_or_equals, case=case)
    return module.explored(start, programs, lemma).contradiction


@pytest.mark.parametrize(("left", "case"), [((3, 5), 2), ((2, 5), 3), ((2, 3), 5)])
def test_lemma_4_4_needs_each_repair_of_figure_8(left: tuple[int, int], case: int) -> None:
    assert f"held by case {case}" in failing(*left)
    assert failing(2, 3, 5) == ""


def test_the_prose_for_case_2_is_not_lost() -> None:
    """The prose: the out-queue leads towards the destination of the other message."""

    def by_the_prose(at: Configuration, m: Message, n: Message) -> int:
        case = case_of(at, m, n)
        towards = case != 2 or at.places[m][2] == at.routes[at.places[m][1]][n.receiver]
        return case if towards else 0

    start = beginning(tuple(TREE.initial(node, 3).routes for node in range(3)), 2)
    lemma = partial(module.lemma_4_4, inclusion=module.includes_or_equals, only=2)
    assert "held by case 2" in module.explored(start, 2, lemma).contradiction
    assert module.explored(start, 2, partial(lemma, case=by_the_prose)).contradiction == ""


def test_all_programs_are_the_union_of_each_program() -> None:
    routes = tuple(TREE.initial(node, 3).routes for node in range(3))
    start = Configuration(routes)

    def reached_by(program: Program) -> set[Configuration]:
        return reached(start, lambda at: (after for _, after in module.steps(at, program)))

    others = [[other for other in range(3) if other != node] for node in range(3)]
    rows = [[row for size in range(3) for row in product(others[n], repeat=size)] for n in range(3)]
    programs = [each for each in product(*rows) if sum(map(len, each)) == 2]
    assert reached_by(2) == set().union(*map(reached_by, programs))


# As evidence


@pytest.mark.parametrize(
    ("name", "words", "ruling", "steps"),
    [
        ("theorem-4-1", {}, Ruling.CONFIRMED, None),
        ("theorem-4-1", {"fails": True}, Ruling.UNDECIDED, None),
        ("lemma-4-3", {}, Ruling.REFUTED, 1),
        ("arrival-antisymmetric", {"fails": True}, Ruling.CONFIRMED, 2),
    ],
)
def test_a_statement_is_evidence_and_its_run_one_of_the_protocol(
    name: str, words: dict[str, Any], ruling: Ruling, steps: int | None
) -> None:
    given = {"protocol": "tree", "network": "fifo", "workload": "script:[[2],[2],[]]"}
    finding = Judge(Options(engine="plain"), Bounds()).finding(
        evidence_of({**given, "statement": name, **words}), "key"
    )
    assert ruling == finding.ruling
    assert "antecede claims --claim key" == finding.command
    assert steps == (finding.path and finding.path.length)
