"""Normal forms commute with every transition; wrong ones are caught, and verdicts do not change."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from attrs import evolve, frozen
from hypothesis import given, settings
from hypothesis import strategies as st

from antecede.checker.check.pipeline import check
from antecede.checker.check.spec import Spec
from antecede.checker.model import (
    CausalSend,
    Envelope,
    Lose,
    NormalForm,
    Normaliser,
    Protocol,
    Receive,
    State,
    Step,
)
from antecede.checker.purity.commutes import FormCheck
from antecede.checker.render.json import result_object
from antecede.checker.render.text import check_text, headline
from antecede.checker.search.options import Bounds, Options
from antecede.checker.search.result import Result, Verdict
from antecede.checker.semantics.normal import normal_form, rewritten
from antecede.checker.semantics.transition import System, enabled, initial_state, successor
from antecede.checker.support.errors import CapacityError, ProtocolError
from antecede.checker.support.registry import protocol_named
from antecede.properties import ENDLESS
from antecede.protocols.fifo import FIFO, Fifo
from antecede.protocols.newtop import NEWTOP_NULL, Null
from tests.campaigns.endless import Counting, comparisons
from tests.conftest import Command
from tests.semantics.test_marked import system

TO_ALL = "endless:2:[[[1,2]],[[0,2]],[[0,1]]]"
SYSTEMS = (
    ("rst", "endless:2", "unordered"),
    ("rst", "endless:1:[[[1,2]],[0,2],[0]]", "unordered"),
    ("cbcast", TO_ALL, "unordered"),
    ("fifo", "endless:2", "unordered"),
    ("ses", "endless:2", "unordered"),
    ("ks", "endless:2", "fifo"),
    ("ks", "endless:2", "unordered"),
    ("hybrid-basic", "endless:2", "unordered"),
    ("hybrid-basic", "endless:1", "duplicating+lossy"),
)


def whole(asked: System) -> System:
    """Return the system that does not apply its protocol's normal form."""
    return asked.with_states_as_they_are()


def first_states(asked: System, most: int) -> Iterator[State]:
    """Yield the states that are nearest to the initial one."""
    seen = {initial_state(asked): None}
    for state in (waiting := list(seen)):
        yield state
        for transition in enabled(asked, state):
            after = successor(asked, state, transition).state
            if after not in seen and len(seen) < most:
                seen[after] = None
                waiting.append(after)


@pytest.mark.integration
@pytest.mark.parametrize(("protocol", "workload", "network"), SYSTEMS)
def test_a_normal_form_commutes_with_every_step_of_the_first_states(
    protocol: str, workload: str, network: str
) -> None:
    asked = system(protocol, workload, network=network)
    forms = FormCheck(asked)
    for state in first_states(whole(asked), 250):
        forms.compare(state)


@pytest.mark.parametrize(("protocol", "workload", "network"), SYSTEMS)
@settings(max_examples=3)
@given(choices=st.lists(st.integers(0, 99), min_size=60, max_size=60))
def test_a_normal_form_commutes_far_from_the_start(
    protocol: str, workload: str, network: str, choices: list[int]
) -> None:
    asked = system(protocol, workload, network=network)
    state = initial_state(asked)
    for choice in choices:
        transitions = enabled(whole(asked), state)
        taken = transitions[choice % len(transitions)]
        state = successor(whole(asked), state, taken).state
    FormCheck(asked).compare(state)


def most_sent(state: Fifo) -> int:
    return max(state.sent)


COUNTING = evolve(
    FIFO,
    invariants={"few": lambda state: most_sent(state) < 4},
    joint_invariants={"near": lambda states: sum(map(most_sent, states)) < 4},
    witnesses={"third": lambda state: max(state.delivered) > 2},
    joint_witnesses={"both": lambda states: all(most_sent(state) > 1 for state in states)},
    measures={"sent": most_sent},
)
"""Its normal form is sound, and keeps nothing of what its predicates look at."""


@pytest.mark.parametrize(
    ("prop", "verdict", "length"),
    [
        ("invariant:few", Verdict.VIOLATED, 7),
        ("invariant:near", Verdict.VIOLATED, 6),
        ("witness:third", Verdict.HOLDS, 6),
        ("witness:both", Verdict.HOLDS, 6),
    ],
)
@pytest.mark.parametrize("form", [True, False])
def test_a_predicate_is_judged_on_states_as_they_are(
    form: bool, prop: str, verdict: Verdict, length: int
) -> None:
    asked = COUNTING if form else evolve(COUNTING, normal=None)
    spec = Spec(protocol="fifo", actors=2, workload="endless:1", properties=(prop,))
    result = check(spec, protocol=asked).result
    assert verdict is result.verdict
    assert length == (result.counterexample or result.shown[prop]).length


@pytest.mark.parametrize("form", [True, False])
def test_a_bound_is_on_states_as_they_are(form: bool) -> None:
    asked = COUNTING if form else evolve(COUNTING, normal=None)
    spec = Spec(protocol="fifo", actors=2, workload="endless:1", bound=("sent=3",))
    result = check(spec, protocol=asked).result
    assert [5] == [growth.path.length for growth in result.grown]
    assert Verdict.VIOLATED is result.properties["invariant:near"]


def test_invariants_that_nobody_asked_for_are_left_out_where_there_is_a_form() -> None:
    spec = Spec(protocol="fifo", actors=2, workload="endless:1")
    report = check(spec, protocol=COUNTING)
    assert ENDLESS == tuple(report.result.properties)
    told = " ".join(check_text(report).split())
    assert "Not judged: invariant:few and invariant:near, which read actors' states." in told
    asked = check(evolve(spec, properties=("invariant:few",)), protocol=COUNTING)
    told = " ".join(check_text(asked).split())
    assert "The normal form of fifo is not used, because invariant:few reads" in told


def test_a_handler_that_fails_is_found_with_a_form() -> None:
    """The run to it is looked for with marks in place of states, which no form knows."""

    def receive(state: Fifo, src: int, packet: Any) -> Step:
        if packet.sequence == 2:
            raise RuntimeError("two")
        return FIFO.receive(state, src, packet)

    spec = Spec(protocol="fifo", actors=2, workload="endless:2")
    result = check(spec, protocol=evolve(FIFO, receive=receive)).result
    assert Verdict.ERROR is result.verdict
    assert "raised RuntimeError: two" in str(result.error)


def drops(at: int, form: Normaliser | None) -> Protocol:
    """Return a protocol that counts what it receives, and drops one message."""

    def receive(count: int, _src: int, packet: Any) -> Step:
        return Step(count + 1, deliveries=() if count == at else (packet,))

    return Protocol(
        name="drops",
        summary="drops one message",
        source="a test",
        initial=lambda _actor, _actors: 0,
        causal_send=lambda state, message: Step(state, ((message.receiver, message),)),
        receive=receive,
        normal=form,
    )


def zero(_states: tuple[int, ...], _flying: tuple[Envelope, ...]) -> NormalForm:
    return NormalForm(lambda _actor, _count: 0, lambda envelope: envelope.packet)


ONE_SENDS = Spec(
    protocol="drops",
    actors=2,
    workload="endless:1:[[1],[]]",
    properties=("integrity", "no-starvation"),
)
"""One message is on its way at a time: no protocol violates an order."""


def test_a_form_that_forgets_what_matters_far_from_the_start_is_an_error() -> None:
    result = check(ONE_SENDS, protocol=drops(24, zero)).result
    assert Verdict.ERROR is result.verdict
    assert "delivers something else after the normal form" in str(result.error)
    assert Verdict.VIOLATED is check(ONE_SENDS, protocol=drops(24, None)).result.verdict


def test_what_holds_under_a_form_holds_on_a_condition() -> None:
    """No search reaches the message that matters, and no report claims that there is none."""
    report = check(ONE_SENDS, protocol=drops(10_000, zero))
    assert Verdict.HOLDS is report.result.verdict
    assert ("the normal form of drops is sound",) == report.result.conditions
    assert ["the normal form of drops is sound"] == result_object(report)["conditions"]
    assert "drops: HOLDS if the normal form of drops is sound" == headline(report)
    assert "This proves nothing about other states" in " ".join(check_text(report).split())
    without = check(
        ONE_SENDS, Options(engine="plain"), Bounds(max_states=50), protocol=drops(3, None)
    )
    assert () == without.result.conditions


@frozen
class Lamp:
    """How often an actor was told to switch, up to three times, and whether its lamp is on."""

    told: int = 0
    on: bool = False


def switches(state: Lamp, _src: int, packet: Any) -> Step:
    if state.on:
        return Step(state)
    return Step(Lamp(min(state.told + 1, 3), state.told == 2), deliveries=(packet,))


def test_a_form_that_merges_two_states_is_an_error_though_they_differ_later(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """It forgets whether the lamp is on. A search that trusts it never sees that this matters."""
    lamp = evolve(
        drops(0, lambda _states, _flying: NormalForm(forgets_lamp, lambda e: e.packet)),
        initial=lambda _actor, _actors: Lamp(),
        receive=switches,
    )
    monkeypatch.setattr("antecede.checker.purity.commutes.WALKS", 0)
    result = check(ONE_SENDS, protocol=lamp).result
    assert Verdict.ERROR is result.verdict
    assert "the normal form of drops is not sound" in str(result.error)
    monkeypatch.setattr(FormCheck, "cover", lambda *_: None)
    assert Verdict.HOLDS is check(ONE_SENDS, protocol=lamp).result.verdict


def test_a_form_is_checked_within_the_bounds(monkeypatch: pytest.MonkeyPatch) -> None:
    def cover(_forms: FormCheck, _most: int, _tick: object) -> None:
        raise CapacityError("--max-seconds 1 reached")

    monkeypatch.setattr(FormCheck, "cover", cover)
    report = check(ONE_SENDS, protocol=drops(10_000, zero))
    assert Verdict.INCOMPLETE is report.result.verdict
    assert {Verdict.INCOMPLETE} == set(report.result.properties.values())
    assert "drops: INCOMPLETE: --max-seconds 1 reached" == headline(report)


@pytest.mark.integration
def test_a_cycle_under_a_form_is_one_on_the_condition_that_the_form_is_sound() -> None:
    """Where a run ends the states as they are say so themselves."""
    result = check(evolve(ONE_SENDS, workload="endless:2:[[1],[]]"), protocol=keeps_back()).result
    assert Verdict.VIOLATED is result.verdict
    assert result.counterexample is not None
    assert result.counterexample.repeats
    assert ("the normal form of drops is sound",) == result.conditions
    stuck = check(Spec(protocol="cbcast", workload="endless:1:[[1,2],[],[]]")).result
    assert Verdict.VIOLATED is stuck.verdict
    assert () == stuck.conditions


def keeps_back() -> Protocol:
    """Return a protocol that never delivers the first message, and counts the others."""
    first = drops(0, lambda *_: NormalForm(lambda _actor, n: min(n, 1), lambda e: e.packet))
    return evolve(first, name="drops")


def test_a_run_that_only_exists_under_a_form_is_an_error_of_the_form(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """It says that the lamp is on; then nothing is delivered, and the run ends at once."""
    lamp = evolve(
        drops(0, lambda *_: NormalForm(lambda _actor, s: Lamp(s.told, True), lambda e: e.packet)),
        initial=lambda _actor, _actors: Lamp(),
        receive=switches,
    )
    monkeypatch.setattr("antecede.checker.purity.commutes.WALKS", 0)
    result = check(ONE_SENDS, protocol=lamp).result
    assert Verdict.ERROR is result.verdict
    assert "the normal form of drops is not sound" in str(result.error)


def forgets_lamp(_actor: int, state: Lamp) -> Lamp:
    return Lamp(state.told)


def test_two_packets_that_a_form_makes_one_are_both_compared() -> None:
    """They enable one transition by name, and only one of them is delivered."""

    def receive(state: int, _src: int, packet: Any) -> Step:
        return Step(state, deliveries=(packet[0],) if packet[1] else ())

    two = evolve(
        drops(0, lambda *_: NormalForm(lambda _actor, n: 0, lambda e: (e.packet[0], 0))),
        causal_send=lambda n, m: Step(n + 1, ((m.receiver, (m, n)),)),
        receive=receive,
    )
    asked = system(two, "endless:2:[[1],[]]", 2)
    state = initial_state(asked)
    for _ in range(2):
        state = after_causal_send(whole(asked), state)
    with pytest.raises(ProtocolError, match="something else"):
        FormCheck(asked).compare(state)


def forgetful(name: str, field: str) -> Protocol:
    """Return a protocol whose normal form also forgets a row of counters that still matters."""
    protocol = protocol_named(name)
    form: Any = protocol.normal

    def normal(states, flying):  # type: ignore[no-untyped-def]
        right = form(states, flying)

        def state(actor, local):  # type: ignore[no-untyped-def]
            small = right.state(actor, local)
            return evolve(small, **{field: (0,) * len(getattr(small, field))})

        return NormalForm(state, right.packet)

    return evolve(protocol, normal=normal)


@pytest.mark.parametrize(
    ("protocol", "field"), [("fifo", "sent"), ("cbcast", "VT"), ("hybrid-basic", "ls")]
)
def test_a_form_that_forgets_what_matters_is_an_error(protocol: str, field: str) -> None:
    wrong = forgetful(protocol, field)
    spec = Spec(protocol=protocol, workload=TO_ALL)
    result = check(spec, protocol=wrong, bounds=Bounds(max_states=200)).result
    assert Verdict.ERROR is result.verdict
    assert f"the normal form of {protocol} is not sound" in (result.error or "")


def checked(protocol: str, workload: str, *, normal: bool = True, most: int = 3000) -> Result:
    found = protocol_named(protocol)
    asked = found if normal else evolve(found, normal=None)
    spec = Spec(protocol=protocol, workload=workload)
    return check(spec, protocol=asked, bounds=Bounds(max_states=most)).result


@pytest.mark.parametrize(
    ("protocol", "workload"),
    [
        ("fifo", "endless:2:[[1,2],[2],[]]"),
        ("cbcast", "endless:1:[[1,2],[2],[]]"),
        ("fifo", "endless:2:[[1],[],[0]]"),
    ],
)
def test_a_form_changes_no_verdict(protocol: str, workload: str) -> None:
    one, other = (checked(protocol, workload, normal=normal) for normal in (True, False))
    if other.verdict is Verdict.INCOMPLETE:
        assert Verdict.HOLDS is one.verdict
        return
    assert one.verdict is other.verdict
    assert one.counterexample is not None
    assert other.counterexample is not None
    assert one.counterexample.length == other.counterexample.length


@pytest.mark.parametrize("protocol", ["fifo", "rst"])
def test_a_protocol_that_counts_becomes_finite(protocol: str) -> None:
    workload = "endless:2:[[1,2],[],[0]]"
    assert Verdict.HOLDS is checked(protocol, workload).verdict
    assert Verdict.INCOMPLETE is checked(protocol, workload, normal=False, most=400).verdict


@pytest.mark.integration
def test_a_run_is_told_with_the_counters_as_they_are(antecede: Command, tmp_path: Path) -> None:
    file = tmp_path / "stuck.json"
    ran = antecede("check", "cbcast", "--workload", "endless:1:[[1,2],[],[]]", "--trace", file)
    assert 1 == ran.code
    assert "VT=(2, 0, 0)" in ran.out
    assert "still VIOLATED" in antecede("replay", file).out


def all_forgotten(states: tuple[Any, ...], _flying: tuple[Envelope, ...]) -> NormalForm:
    """Forget everything of `newtop-null` that a form can: all clocks, and what packets carry."""
    return NormalForm(
        state=lambda actor, _local: NEWTOP_NULL.initial(actor, len(states)),
        packet=lambda _envelope: Null(0),
    )


def test_no_form_makes_the_graph_of_newtop_with_null_packets_finite() -> None:
    """A busy sender need not receive anything: null packets on their way to it pile up.

    A form writes packets anew, one for one, so states with more packets in flight stay different
    states, whatever it forgets.
    """
    asked = system("newtop-null", "endless:1:[[1],[],[]]", network="fifo")
    state, forms = initial_state(asked), list[State]()
    for rounds in range(1, 6):
        state = after_causal_send(asked, state)
        while others := [t for t in enabled(asked, state) if isinstance(t, Receive) and t.dst]:
            state = successor(asked, state, others[0]).state
        assert [()] * 3 == [ghost.pending for ghost in state.history]  # her message was delivered
        assert [2 * rounds] == [sum(map(len, state.channels))]
        forms.append(normal_form(all_forgotten, asked.network, state))
    assert 5 == len(set(forms))


def after_causal_send(asked: System, state: State) -> State:
    """Return the state after the first causal-send that is enabled."""
    send = next(t for t in enabled(asked, state) if isinstance(t, CausalSend) and not t.marked)
    return successor(asked, state, send).state


def test_a_loss_is_the_same_where_the_form_orders_packets_otherwise() -> None:
    """The text of -1 comes before that of -2, but the text of 3 comes before that of 4."""
    asked = system("unordered", "endless:2", network="lossy", actors=2)

    def put_at(numbers: tuple[int, ...]) -> State:
        start = initial_state(whole(asked))
        return evolve(start, channels=((), numbers, (), ()))

    def lose(place: int, packet: int) -> Lose:
        return Lose(0, 1, packet, place)

    def less_five(envelope: Envelope) -> int:
        return int(envelope.packet) - 5

    changed = [
        rewritten(lose(place, packet), put_at((3, 4)), asked.network, less_five)
        for place, packet in ((0, 3), (1, 4))
    ]
    assert [lose(1, -2), lose(0, -1)] == changed


def test_a_sound_form_is_not_refused_because_packets_may_be_lost() -> None:
    case = Counting(
        table=(
            (("answer", 0), ("deliver", 0), ("deliver-kept", 0)),
            (("drop", 1), ("answer", 0), ("answer", 0)),
        ),
        resends=True,
        fault=None,
        actors=2,
        network="lossy:1",
        workload="endless:1:[[], [0]]",
        prop="integrity",
        bound=None,
    )
    assert [] == [name for name, expected, actual in comparisons(case) if expected != actual]
