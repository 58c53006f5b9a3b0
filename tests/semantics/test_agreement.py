"""Agreement, and the order of deliveries where actors crash: every engine against the reference."""

from __future__ import annotations

from typing import Any

import pytest
from attrs import astuple, evolve, frozen

from antecede.checker.check.pipeline import check
from antecede.checker.check.report import CheckReport
from antecede.checker.check.spec import OwnProperties, Spec
from antecede.checker.model import Property, Protocol, Step, What, When
from antecede.checker.render.about import about
from antecede.checker.render.advice import next_steps
from antecede.checker.render.explanation import explain
from antecede.checker.render.spacetime import layout_of
from antecede.checker.render.text import check_text
from antecede.checker.search.options import Options
from antecede.checker.search.result import Verdict
from antecede.checker.support.registry import protocol_named
from antecede.properties.agreement import AGREEMENT
from antecede.properties.same_order import SAME_ORDER
from antecede.properties.total_order import TOTAL_ORDER
from tests.engine.spark.common import without_cluster
from tests.models import Data, Toy, naive_counts, toy
from tests.naive import Crashes

CHAT = toy("chat")
"""A protocol that delivers on arrival."""


def _odd(state: Toy, _src: int, packet: Data) -> Step:
    return Step(state, deliveries=(packet.message,) if state.actor % 2 else ())


ODD = toy("odd", receive=_odd)
"""A protocol in which only actors with odd numbers deliver."""


@frozen
class Slow(Toy):
    """The state of an actor that sends one packet in a step, and has `sent` of them."""

    sent: int = 0


def _one_by_one(state: Slow) -> Step | None:
    """Send the message that is held to its next destination."""
    if not state.held:
        return None
    to = state.held[0].destinations
    after = evolve(state, sent=state.sent + 1)
    if after.sent == len(to):
        after = evolve(after, sent=0, held=())
    return Step(after, sends=((to[state.sent], Data(state.held[0])),))


SLOW = evolve(
    toy("slow", causal_send=lambda state, message: Step(evolve(state, held=(message,)))),
    initial=Slow,
    actions={"send": _one_by_one},
)
"""A protocol that sends one packet in a step, so that a crash can come between two packets."""

HEARD = evolve(
    toy(
        "heard",
        receive=lambda state, _src, packet: Step(
            evolve(state, held=(*state.held, packet.message)), deliveries=(packet.message,)
        ),
    ),
    durable=lambda state: len(state.held),
    recover=lambda actor, actors, _durable: Step(Toy(actor, actors)),
)
"""A protocol whose actors recover."""

PAIR = "script:[[[1,2]],[],[]]"
TWO_SENDERS = "script:[[[1,2]],[],[],[[1,2]]]"


def few(sequences: tuple[Any, ...]) -> bool:
    return sum(map(len, sequences)) < 2


def all_live(sequences: tuple[Any, ...]) -> bool:
    return len(sequences) == 3


OWN = tuple(
    Property(f"{name}-{where.name.lower()}", "own", What.SEQUENCES, where, predicate)
    for name, predicate in (("few", few), ("all-live", all_live))
    for where in tuple(When)[:4]
)


def found(protocol: Protocol, options: Options, prop: Property, **asked: Any) -> CheckReport:
    """Return the report of a check of one property."""
    question: dict[str, Any] = {"actors": 3, "messages": 1, **asked}
    spec = Spec(protocol.name, **question, properties=(prop.name,), own=OwnProperties((prop,)))
    return check(spec, options, protocol=protocol, selfcheck="off")


ENGINES = {
    "plain": Options(engine="plain"),
    "local": Options(threads=1),
    "spark": Options(engine="spark", spark_threshold=1, partitions=2),
}


def answers(engine: str, protocol: Protocol, prop: Property, **asked: Any) -> Any:
    """Return the counts, and the length of the counterexample or whether nothing shows `prop`."""
    if engine == "spark":
        with without_cluster():
            result = found(protocol, ENGINES[engine], prop, **asked).result
    else:
        result = found(protocol, ENGINES[engine], prop, **asked).result
    path = result.counterexample
    unreached = prop.sought and result.verdict is Verdict.VIOLATED
    return astuple(result.unreduced or result.counts), path and path.length, unreached


@pytest.mark.integration
@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize(
    ("protocol", "workload", "network", "crashes"),
    [
        (CHAT, "broadcast", "unordered", "0"),
        (CHAT, TWO_SENDERS, "fifo", "1"),
        (SLOW, PAIR, "unordered", "1"),
        (SLOW, PAIR, "unordered", "2:of=0,1"),
        (ODD, PAIR, "fifo", "1:of=1"),
        (HEARD, PAIR, "unordered", "1"),
    ],
)
def test_engines_judge_deliveries_of_live_actors_as_the_reference_checker_does(
    engine: str, protocol: Protocol, workload: str, network: str, crashes: str
) -> None:
    of = {int(c) for c in crashes[5:].split(",")} if ":" in crashes else None
    actors = 4 if workload == TWO_SENDERS else 3
    asked: dict[str, Any] = {"workload": workload, "network": network}
    for prop in (AGREEMENT, SAME_ORDER, TOTAL_ORDER, *OWN):
        if actors == 4 and prop in OWN:
            continue
        naive = naive_counts(
            protocol, actors, 1, properties=(prop,), crashes=Crashes(int(crashes[0]), of), **asked
        )
        expected = (
            tuple(naive[:4]),
            min(naive.violation.values(), default=None),
            bool(naive.unreached),
        )
        assert expected == answers(
            engine, protocol, prop, actors=actors, crashes=crashes, **asked
        ), prop.name


def test_a_receiver_that_never_delivers_what_another_one_did_is_named() -> None:
    report = found(ODD, ENGINES["plain"], AGREEMENT, workload=PAIR)
    path = report.result.counterexample
    assert path is not None
    assert (path.violates, path.length) == ("agreement", 3)
    said = explain(path).text
    assert said.startswith("The run is over: Bob delivered m1 (step ")
    assert ", and Carol never did. m1 is no longer in any actor's state." in said
    assert any(mark.kind == "missing" for mark in layout_of(path).marks)


@pytest.mark.parametrize("engine", ["plain", "local"])
@pytest.mark.parametrize("name", ["unordered", "rst", "ses", "ks", "cbcast"])
def test_a_crash_in_the_middle_of_a_broadcast_violates_agreement(name: str, engine: str) -> None:
    """Actor 0 crashes after its packet to one receiver, and only this receiver delivers.

    If crashes split no steps, both packets are in flight or none is.
    """
    protocol = protocol_named(name)
    for crashes, counts, length in (("1", 21, 2), ("1:whole", 20, None)):
        asked: dict[str, Any] = {"workload": PAIR, "crashes": crashes}
        result = found(protocol, ENGINES[engine], AGREEMENT, **asked).result
        run = result.counterexample
        assert (result.counts.unique_states, run and run.length) == (counts, length)


def test_the_report_of_a_disagreement_speaks_of_the_other_receivers() -> None:
    """A failure detector would not help: no actor waits."""
    asked: dict[str, Any] = {"workload": PAIR, "crashes": "1"}
    report = found(protocol_named("cbcast"), ENGINES["plain"], AGREEMENT, **asked)
    assert report.result.counterexample is not None
    assert about(report.result.counterexample).headline == "Only some receivers deliver m1"
    text = " ".join(str(next_steps(report)).split())
    assert "let its receivers pass it on" in text
    assert "failure detector" not in text


def test_a_message_that_nobody_delivers_violates_nothing() -> None:
    silent = toy("silent", receive=lambda state, _src, _packet: Step(state))
    assert found(silent, ENGINES["plain"], AGREEMENT, workload=PAIR).result.verdict is Verdict.HOLDS


def test_a_crash_between_two_packets_violates_agreement_and_leaves_nothing_owed() -> None:
    """The message of the crashed sender is not owed, but one live receiver has delivered it."""
    asked: dict[str, Any] = {"workload": PAIR, "crashes": "1:of=0"}
    wrong = found(SLOW, ENGINES["plain"], AGREEMENT, **asked).result
    assert wrong.counterexample is not None
    assert wrong.counterexample.length == 4  # sends, one packet, crashes, is received
    spec = Spec("slow", 3, 1, **asked, properties=("all-delivered",))
    owed = check(spec, ENGINES["plain"], protocol=SLOW, selfcheck="off").result
    assert owed.verdict is Verdict.HOLDS


@pytest.mark.parametrize("engine", ["plain", "local"])
def test_what_only_a_crashed_actor_has_delivered_need_not_be_delivered(engine: str) -> None:
    """Actor 1 delivers, and crashes. Actor 2 never delivers, and no live actor has."""
    asked: dict[str, Any] = {"workload": "script:[[[1,2]],[],[]]", "crashes": "1:of=1"}
    only_1 = toy(
        "only-1",
        receive=lambda state, _src, packet: Step(
            state, deliveries=(packet.message,) if state.actor == 1 else ()
        ),
    )
    some = Property("some", "", What.PARTLY_DELIVERED, When.AT_SOME_FINAL_STATE, lambda m: not m)
    assert found(only_1, ENGINES[engine], some, **asked).result.verdict is Verdict.HOLDS
    never = found(only_1, ENGINES[engine], some, workload=PAIR).result
    assert never.verdict is Verdict.VIOLATED


def test_agreement_is_vacuous_if_every_message_has_one_receiver() -> None:
    report = found(CHAT, ENGINES["plain"], AGREEMENT)
    assert report.result.verdict is Verdict.VACUOUS
    text = " ".join(check_text(report).split())
    assert text.endswith("but no message has two receivers. Use --workload broadcast.")


def test_receivers_that_can_still_agree_satisfy_a_property_of_ways_back() -> None:
    can = Property("can-agree", "", What.PARTLY_DELIVERED, When.ALWAYS_POSSIBLE, lambda m: not m)
    for engine in ("plain", "local"):
        assert found(CHAT, ENGINES[engine], can, workload=PAIR).result.verdict is Verdict.HOLDS
        wrong = found(ODD, ENGINES[engine], can, workload=PAIR).result
        assert wrong.verdict is Verdict.VIOLATED
        assert wrong.counterexample is not None
        said = "From here on, nothing leads to this: can-agree."
        assert said == explain(wrong.counterexample).text


def test_the_report_says_whose_deliveries_a_crash_leaves_out() -> None:
    asked: dict[str, Any] = {"workload": PAIR, "crashes": "1:of=1"}
    some = next(prop for prop in OWN if prop.name == "all-live-always")
    path = found(CHAT, ENGINES["plain"], some, **asked).result.counterexample
    assert path is not None
    assert "Bob crashed, and is left out" in explain(path).details
