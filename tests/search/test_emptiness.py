"""Checks that cannot fail: the rules, the search with the adversary, and what reports say."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest
from attrs import evolve

from antecede import Delivery, Property, What, When, check
from antecede.checker.check import pipeline
from antecede.checker.check.report import CheckReport
from antecede.checker.check.spec import Spec, system_of
from antecede.checker.model import LabelledMessage, Message, Protocol, Step
from antecede.checker.render import junit, sarif
from antecede.checker.render.advice import more_messages
from antecede.checker.render.json import result_object
from antecede.checker.render.text import check_text
from antecede.checker.search import emptiness
from antecede.checker.search.emptiness import by_rule, by_search
from antecede.checker.search.options import Bounds, Options
from antecede.checker.search.result import Verdict
from antecede.protocols.unordered import UNORDERED
from tests.campaigns.emptiness import can_be_violated, compare_emptiness, comparisons
from tests.conftest import Command
from tests.models import without_permits

CHAIN = "script:[[2,1],[2],[]]"
ENGINES = pytest.mark.parametrize("engine", ["plain", "local"])


def reported(protocol: str, actors: int = 3, engine: str = "plain", **values: Any) -> CheckReport:
    return pipeline.check(Spec(protocol, actors, **values), Options(engine=engine), selfcheck="off")


def said(report: CheckReport) -> str:
    return " ".join(check_text(report).split())


def test_the_rules_say_what_the_reference_checkers_find(tmp_path: Path) -> None:
    tally = Counter[str]()
    wrong = [each for n in range(5) for each in compare_emptiness(f"ci/{n}", tmp_path, tally)]
    assert [] == wrong
    assert tally.total() > 15


@pytest.mark.integration
def test_the_rules_say_what_the_reference_checkers_find_in_hundreds_of_workloads(
    tmp_path: Path,
) -> None:
    tally = Counter[str]()
    cases = range(5, 300)
    assert [] == [each for n in cases for each in compare_emptiness(f"ci/{n}", tmp_path, tally)]
    assert len(tally) == 6


TELLING = (
    Spec("unordered", 3, workload="script:[[2,1],[],[]]"),
    Spec("unordered", 3, workload="script:[[1,2],[2],[]]"),
    Spec("unordered", 4, workload="script:[[3,1],[2],[3],[]]"),
    Spec("unordered", 3, workload="script:[[2,1],[0],[]]"),
    Spec("unordered", 2, workload="script:[[1,1],[]]"),
    Spec("unordered", 3, 1, workload="broadcast"),
    Spec("unordered", 3, workload="script:[[[1,2]],[],[]]"),
)
"""Workloads that tell the rules from simpler ones."""


@pytest.mark.parametrize("spec", TELLING, ids=lambda spec: spec.workload)
def test_the_rules_know_workloads_in_which_little_is_missing(spec: Spec) -> None:
    assert all(expected == actual for _, expected, actual in comparisons(spec))


@pytest.mark.parametrize(
    ("rule", "wrong"),
    [
        ("can_break_chains", lambda _messages: False),
        ("can_break_chains", lambda _messages: True),
        ("can_break_fifo", lambda _messages: False),
        ("can_break_fifo", lambda _messages: True),
        ("can_differ_in_pairs", emptiness.can_go_in_circles),
        ("can_go_in_circles", emptiness.can_differ_in_pairs),
        ("_leads", lambda hears, start, end, _without: any(end in hears[a] for a in start)),
        ("_leads", lambda _hears, start, _end, _without: bool(start)),
        ("_leads", lambda hears, start, end, without: leads_over_sender(hears, start, end)),
    ],
)
def test_a_bug_in_a_rule_is_noticed(rule: str, wrong: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    right = getattr(emptiness, rule)
    rules = {name: wrong if known is right else known for name, known in emptiness.RULES.items()}
    monkeypatch.setattr(emptiness, rule, wrong)
    monkeypatch.setattr(emptiness, "RULES", rules)
    answers = (each for spec in TELLING for each in comparisons(spec))
    assert any(expected != actual for _, expected, actual in answers)


LEADS = emptiness._leads


def leads_over_sender(hears: list[set[int]], start: set[int], end: int) -> bool:
    """Forget that the sender itself must not pass anything on."""
    return LEADS(hears, start, end, -1)


def test_a_message_that_was_sent_later_counts_where_a_protocol_chooses_the_order() -> None:
    """The first message to leave its sender can be its second one."""
    row: dict[str, Any] = {"workload": "script:[[1,2],[2],[]]", "properties": ("causal-delivery",)}
    assert Verdict.VACUOUS is reported("mfss", **row).result.verdict
    late = reported("mfss", **row, clock_at="network-send")
    assert Verdict.HOLDS is late.result.verdict
    second_first = pipeline.check(
        late.spec, Options(engine="plain"), protocol=second_message_first(), selfcheck="off"
    )
    assert Verdict.VIOLATED is second_first.result.verdict


def second_message_first() -> Protocol:
    """Return a protocol whose actor 0 sends its first message after its second one."""

    def causal_send(state: tuple[Message, ...], message: Message) -> Step:
        if message.sender == 0 and message.number == 1:
            return Step((message,))
        sent = (message, *state)
        return Step((), tuple((each.receiver, each) for each in sent))

    return evolve(UNORDERED, initial=lambda *_: (), causal_send=causal_send, receive=deliver)


def deliver(state: Any, _src: int, message: Message) -> Step:
    return Step(state, deliveries=(message,))


# Verdicts


@ENGINES
@pytest.mark.parametrize(
    ("asked", "suggested"),
    [
        ({"actors": 2, "messages": 1}, "Use --actors 3 and --messages 2, or"),
        (
            {"messages": 1},
            "--messages 2, or for fewer states --workload 'script:[[2,1],[2],[]]' and --actors 3",
        ),
        ({"actors": 2, "messages": 1, "workload": "broadcast"}, "Use --actors 3."),
        ({"workload": "endless:1"}, "Use --workload endless:2."),
        ({"workload": "script:[[1],[2],[]]"}, "Use --workload 'script:[[2,1],[2],[]]'."),
        ({"actors": 2, "workload": "program:[[],[]]", "properties": ("integrity",)}, ""),
    ],
)
def test_what_no_protocol_can_violate_is_vacuous_and_a_larger_workload_is_named(
    engine: str, asked: dict[str, Any], suggested: str
) -> None:
    report = reported("mfss", engine=engine, **asked)
    assert Verdict.VACUOUS is report.result.verdict
    assert 3 == report.exit_code
    assert suggested in said(report)
    if suggested:
        reason = "no order of these messages can violate causal-delivery"
        assert {"causal-delivery": reason} == result_object(report)["vacuous"]


@pytest.mark.parametrize("name", ["causal-delivery", "fifo-delivery", "same-order", "total-order"])
@pytest.mark.parametrize(
    "workload", ["any", "self", "broadcast", "multicast", "script:[[1],[]]", "endless:1"]
)
def test_the_workload_that_is_named_can_fail(name: str, workload: str) -> None:
    if workload == "endless:1" and name in ("same-order", "total-order"):
        return  # refused
    spec = Spec("cbcast", 2, 1, workload=workload, properties=(name,))
    assert by_rule(spec.system, spec.system.properties[0]) is False
    larger = evolve(spec, **more_messages(spec.system, [name]))
    assert by_rule(larger.system, larger.system.properties[0]) is True


def test_a_violation_and_an_unfinished_search_are_not_doubted() -> None:
    violated = pipeline.check(
        Spec("rst", 2, 1), protocol=evolve(UNORDERED, receive=twice), selfcheck="off"
    )
    assert Verdict.VIOLATED is violated.result.verdict
    assert {} == violated.result.vacuous
    stopped = pipeline.check(Spec("rst", 3, 1), bounds=Bounds(max_states=5), selfcheck="off")
    assert {} == stopped.result.vacuous


def twice(state: Any, _src: int, packet: Any) -> Step:
    return Step(state, deliveries=(packet.message, packet.message))


def test_a_spec_may_expect_that_a_check_cannot_fail(antecede: Command, tmp_path: Path) -> None:
    spec = tmp_path / "few.antecede.toml"
    table = 'protocol = "mfss"\nactors = 2\nmessages = 1\n[expect]\nverdict = "{}"\n'
    for verdict, code in (("vacuous", 0), ("holds", 3)):
        spec.write_text(table.format(verdict), encoding="utf-8")
        assert code == antecede("check", spec, "--engine", "plain").code


def test_files_for_other_programs_say_why_a_check_cannot_fail() -> None:
    report, why = reported("mfss", messages=1), "no order of these messages can violate"
    cases = ElementTree.fromstring(junit.text([report]))
    assert why in str(cases.find(".//skipped[@message]").attrib)  # type: ignore[union-attr]
    assert why in str(cases.find(".//error[@message]").attrib)  # type: ignore[union-attr]
    assert why in sarif.text([report])


def test_a_result_says_why_it_is_vacuous() -> None:
    result = check("mfss", actors=3, messages=1, engine="plain")
    assert result.reason == result.vacuous["causal-delivery"]
    with pytest.raises(AssertionError, match="messages=2"):
        result.expect("holds")


def test_a_table_may_take_the_verdict_of_the_search() -> None:
    result = reported("mfss", messages=1).result
    assert Verdict.HOLDS is result.of_this_search.verdict
    assert Verdict.HOLDS is result.of_this_search.properties["causal-delivery"]
    nothing = reported("mfss", workload="script:[[],[],[]]").result
    assert Verdict.VACUOUS is nothing.of_this_search.verdict


# Properties of users


def own(predicate: Any, what: What = What.DELIVERY, where: When = When.ALWAYS) -> Property:
    return Property("own", "", what, where, predicate)


@pytest.mark.parametrize(
    ("prop", "possible"),
    [
        (own(lambda d: not d.fifo_late), False),
        (own(lambda d: not d.causally_late or d.message.sender != 0), False),
        (own(lambda d: d.expected), True),
        (own(lambda d: d.actor != 0), True),
        (own(lambda d: d.message.sender != 0 or d.actor == 1), True),
        (own(lambda rows: len(rows[1]) < 2, What.SEQUENCES), False),
        (own(lambda rows: len(rows[1]) < 1, What.SEQUENCES), True),
        (own(lambda rows: len(rows[1]) > 0, What.SEQUENCES, When.AT_FINAL_STATES), True),
    ],
)
def test_an_own_property_is_asked_about_all_that_protocols_can_do(
    prop: Property, possible: bool
) -> None:
    """Actor 0 sends one message to actor 1, and actor 1 one to actor 2."""
    script = {"workload": "script:[[1],[2],[]]", "actors": 3}
    result = check("mfss", properties=[prop], engine="plain", **script)  # type: ignore[arg-type]
    system = result._report.system
    assert by_rule(system, system.properties[0]) is None
    assert possible is by_search(system, system.properties[0])
    if result.verdict != "VIOLATED":
        assert ("HOLDS" if possible else "VACUOUS") == result.verdict


@pytest.mark.parametrize(
    ("predicate", "verdict"),
    [
        (lambda d: d.message.number == 1, Verdict.HOLDS),
        (lambda d: d.actor != 2 or d.message.label is None, Verdict.HOLDS),
        (lambda d: not d.expected or d.message.number == 1, Verdict.VACUOUS),
    ],
)
def test_a_property_that_an_invented_message_can_violate_is_not_vacuous(
    predicate: Any, verdict: Verdict
) -> None:
    asked: dict[str, Any] = {"workload": "script:[[1],[2],[]]", "actors": 3, "engine": "plain"}
    asked["properties"] = [own(predicate)]
    assert verdict == check("mfss", **asked).verdict
    invents = evolve(UNORDERED, receive=lambda s, *_: Step(s, deliveries=(INVENTED,)))
    violated = check(invents, **asked).verdict == "VIOLATED"
    assert violated is (verdict is Verdict.HOLDS)


INVENTED = LabelledMessage(0, 7, (1,), "x")


def test_a_predicate_that_raises_for_what_the_protocol_never_does_decides_nothing() -> None:
    def picky(delivery: Delivery) -> bool:
        if delivery.actor >= 0 and not delivery.expected:
            raise ValueError("the protocol never does this")
        return True

    result = check("mfss", actors=2, messages=1, properties=[own(picky)], engine="plain")
    assert "HOLDS" == result.verdict


def test_the_search_ends_at_its_bound(monkeypatch: pytest.MonkeyPatch) -> None:
    asked = own(lambda rows: len(rows[0]) < 9, What.SEQUENCES)
    result = check("mfss", actors=2, messages=2, properties=[asked], engine="plain")
    assert "VACUOUS" == result.verdict
    monkeypatch.setattr(emptiness, "MOST_STATES", 5)
    again = check("mfss", actors=2, messages=2, properties=[asked], engine="plain")
    assert "HOLDS" == again.verdict


def test_what_an_actor_knew_is_not_decided_if_a_protocol_chooses_the_order_of_messages() -> None:
    asked: dict[str, Any] = {"actors": 2, "messages": 1, "engine": "plain"}
    asked["properties"] = [own(lambda d: not d.causally_late)]
    assert "VACUOUS" == check("mfss", **asked).verdict
    assert "HOLDS" == check("mfss", clock_at="network-send", **asked).verdict


# Remarks


@ENGINES
@pytest.mark.parametrize(
    ("protocol", "values", "remark"),
    [
        ("mfss", {"actors": 2}, "This check tests only the order within each channel"),
        ("mfss", {"workload": "script:[[2,1,1],[],[]]"}, "only the order within each channel"),
        ("unordered", {"actors": 2, "network": "fifo"}, "The network fifo keeps this order by"),
        ("rst", {"actors": 2, "network": "fifo+lossy:1"}, "The network fifo+lossy:1 keeps this"),
        ("mfss", {"workload": CHAIN}, None),
        ("cbcast", {"workload": CHAIN, "network": "fifo"}, None),
    ],
)
def test_a_simpler_protocol_that_passes_the_check_is_told(
    engine: str, protocol: str, values: dict[str, Any], remark: str | None
) -> None:
    values = {"properties": ("causal-delivery", "integrity"), **values}
    if protocol == "cbcast":
        values["properties"] = ("causal-delivery", "can-deliver")
    report = reported(protocol, engine=engine, **values)
    found = [each for each in report.result.remarks if remark is None or remark in each]
    assert len(found) == (remark is not None)
    if remark is not None:
        assert 0 == report.exit_code
        assert remark in said(report)


def test_a_network_that_relates_channels_keeps_the_order_by_itself() -> None:
    for network in ("mailbox", "causal", "instant"):
        report = reported("unordered", workload=CHAIN, network=network)
        assert [f"The network {network} keeps"] == [
            r[: 18 + len(network)] for r in report.result.remarks
        ]


@ENGINES
@pytest.mark.parametrize("protocol", ["cbcast", "newtop"])
def test_a_protocol_that_keeps_messages_back_is_told_where_nothing_asks_for_them(
    engine: str, protocol: str
) -> None:
    alone: dict[str, Any] = {"workload": CHAIN, "properties": ("causal-delivery",)}
    report = reported(protocol, engine=engine, **alone)
    assert Verdict.HOLDS is report.result.verdict
    assert "In some runs, messages are never delivered." in said(report)
    asked = {**alone, "properties": ("causal-delivery", "can-deliver")}
    assert () == reported(protocol, engine=engine, **asked).result.remarks
    assert () == reported("rst", engine=engine, **alone).result.remarks


def test_messages_that_are_never_sent_are_told_too() -> None:
    waits = 'reaction:[{"name":"a","from":0,"to":[1]},{"name":"b","from":0,"to":[1]},'
    waits += '{"name":"c","from":1,"to":[0],"after":["a"]}]'
    silent = evolve(UNORDERED, receive=lambda state, _src, _packet: Step(state))
    spec = Spec("rst", 2, workload=waits, properties=("fifo-delivery",))
    result = pipeline.check(spec, protocol=silent, selfcheck="off").result
    assert "never sent or delivered" in " ".join(result.remarks)


def test_lost_packets_are_no_silence() -> None:
    asked: dict[str, Any] = {
        "network": "lossy",
        "workload": CHAIN,
        "properties": ("causal-delivery",),
    }
    assert () == reported("rst", **asked).result.remarks


# A known protocol without its mechanism


@pytest.mark.parametrize("network", ["unordered", "duplicating+lossy"])
def test_hybrid_basic_without_permits_passes_only_checks_that_are_said_to_be_weak(
    network: str,
) -> None:
    """These two checks were all the evidence for its Algorithm 1."""
    asked: dict[str, Any] = {"network": network, "properties": ("causal-delivery",)}
    for actors, messages in ((2, 2), (3, 1)):
        spec = Spec("hybrid-basic", actors, messages, **asked)
        result = pipeline.check(spec, protocol=without_permits(), selfcheck="off").result
        assert Verdict.VIOLATED is not result.verdict
        assert result.vacuous or result.remarks
    spec = Spec("hybrid-basic", workload=CHAIN, **asked)
    result = pipeline.check(spec, protocol=without_permits(), selfcheck="off").result
    assert Verdict.VIOLATED is result.verdict


def test_the_adversary_is_the_system_itself_with_another_protocol_and_network() -> None:
    system = system_of(Spec("rst", 3, workload=CHAIN, crashes="1", network="fifo"))
    (first, *_) = system.properties
    other = emptiness.adversary(system, first)
    assert ("unordered", "unordered") == (other.protocol.name, other.network.name)
    assert other.crashes is None
    assert can_be_violated(system, first) is True
