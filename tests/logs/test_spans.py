"""Spans of OpenTelemetry as instrumentations write them: what counts as a delivery, and when."""

from __future__ import annotations

import json
import random
from pathlib import Path
from typing import Any

import pytest

from antecede.checker.logs.judge.findings import Audit
from antecede.checker.logs.readers.records import fields_from
from antecede.checker.logs.report.summary import as_object, text, verdict
from antecede.checker.support.errors import InputError
from tests.conftest import Command
from tests.logs.test_audit import audit
from tests.logs.test_formats import EVENTS

TRACE = "5b8efff798038103d269b633813fc60c"
OPERATION, GROUP = "messaging.operation", "messaging.consumer.group.name"


def span(
    actor: str,
    kind: int,
    at: int | str,
    key: str,
    *,
    trace: str = TRACE,
    parent: str | None = None,
    links: tuple[str, ...] = (),
    until: int | None = None,
    instance: str | None = None,
    **attributes: str,
) -> str:
    """Return the line of a span; a link is a span id, or a trace id and a span id."""
    pairs = [each.rpartition(" ") for each in links]
    about = {"service.name": actor} | ({"service.instance.id": instance} if instance else {})
    own: dict[str, Any] = {
        "traceId": trace,
        "spanId": key,
        "kind": kind,
        "startTimeUnixNano": str(at),
        "attributes": values({name.replace("_", "."): v for name, v in attributes.items()}),
        "links": [{"traceId": there or TRACE, "spanId": each} for there, _, each in pairs],
    }
    own |= {} if parent is None else {"parentSpanId": parent}
    own |= {} if until is None else {"endTimeUnixNano": str(until)}
    resource = {"resource": {"attributes": values(about)}, "scopeSpans": [{"spans": [own]}]}
    return json.dumps({"resourceSpans": [resource]})


def values(given: dict[str, str]) -> list[dict[str, Any]]:
    return [{"key": name, "value": {"stringValue": value}} for name, value in given.items()]


def judged(tmp_path: Path, *lines: str) -> Audit:
    """Audit spans in several orders of the lines, which must not matter."""
    path, said = tmp_path / "spans.jsonl", set[str]()
    for seed in range(4):
        rows = [*lines]
        random.Random(seed).shuffle(rows)
        path.write_text("\n".join(rows if seed else lines) + "\n")
        found = audit(path)
        kinds = [(f.kind, f.actor, f.first, f.second) for f in found.findings]
        said.add(f"{verdict(found)} {kinds} {found.left_out}")
    assert 1 == len(said)
    path.write_text("\n".join(lines) + "\n")
    return audit(path)


def sent(at: int, key: str, **more: Any) -> str:
    return span("orders", 4, at, key, **more)


def test_spans_have_the_findings_of_the_same_json_objects(tmp_path: Path) -> None:
    lines = [span("dave", 1, 3, "internal")]
    for at, (actor, kind, message, *_) in enumerate(EVENTS, 1):
        if kind == "send":
            lines.append(span(actor, 4, at, message))
        else:
            how: Any = {"links": (message,)} if at % 2 else {"parent": message}
            lines.append(span(actor, 5, at, f"x{at}", **how))
    found = judged(tmp_path, *lines)
    (finding,) = found.findings
    assert ("carol", ("m1", "m2", "m3")) == (finding.actor, finding.chain)
    assert (3, 3, 3, 3) == (found.actors, found.causal_sends, found.deliveries, found.unaddressed)


def test_an_empty_parent_names_no_message(tmp_path: Path) -> None:
    """The instrumentation of Kafka writes a span `recv` that has no parent and no link."""
    found = judged(
        tmp_path,
        sent(1, "a1", parent=""),
        span("billing", 5, 2, "b1", trace="ec15", parent=""),
        span("billing", 5, 3, "b2", trace="ec15", parent="b1", links=("a1",)),
    )
    assert (0, 1, "HOLDS") == (len(found.findings), found.deliveries, verdict(found))
    assert "1 span of consumers that link to no producer span" in found.left_out[0]


def test_receiving_and_processing_a_message_is_one_delivery(tmp_path: Path) -> None:
    found = judged(
        tmp_path,
        sent(1, "a1"),
        span("billing", 5, 2, "b1", links=("a1",), messaging_operation="receive"),
        span("billing", 5, 3, "b2", parent="b1", links=("a1",), messaging_operation="process"),
    )
    assert ((), 1) == (found.findings, found.deliveries)
    assert found.left_out == ("1 span of consumers about a delivery that another span stands for",)


PARTLY = (
    "1 span of consumers that receive several messages of which only some have a span that "
    "processes them; the time of the other deliveries is not known"
)


def test_a_batch_of_which_one_message_is_processed_does_not_deliver_the_others(
    tmp_path: Path,
) -> None:
    """The batch has two messages of one sender. Only the processing of the first is recorded."""
    found = judged(
        tmp_path,
        sent(1, "a1"),
        sent(2, "a2"),
        span("w", 5, 3, "w1", links=("a1", "a2"), until=4, messaging_operation="receive"),
        span("w", 5, 6, "w2", links=("a1",), messaging_operation="process"),
    )
    assert ("HOLDS", 1, (PARTLY,)) == (verdict(found), found.deliveries, found.left_out)


def test_a_message_of_such_a_batch_that_comes_again_is_delivered_then(tmp_path: Path) -> None:
    """The second message was lost with its batch, and a later batch brings it again."""
    found = judged(
        tmp_path,
        sent(1, "a1"),
        sent(2, "a2"),
        sent(3, "a3"),
        span("w", 5, 4, "w1", links=("a1", "a2"), until=5, messaging_operation="receive"),
        span("w", 5, 6, "w2", links=("a1",), messaging_operation="process"),
        span("w", 5, 7, "w3", links=("a3",), messaging_operation="process"),
        span("w", 5, 8, "w4", links=("a2",), until=9, messaging_operation="receive"),
    )
    (finding,) = found.findings
    assert ("causal-delivery", "a2", "a3") == (finding.kind, finding.first, finding.second)


def test_a_batch_without_processing_delivers_all_of_its_messages(tmp_path: Path) -> None:
    batch = span("w", 5, 3, "w1", links=("a1", "a2"), until=4, messaging_operation="receive")
    found = judged(tmp_path, sent(1, "a1"), sent(2, "a2"), batch)
    assert ("HOLDS", 2, ()) == (verdict(found), found.deliveries, found.left_out)


def test_a_message_that_is_processed_twice_is_delivered_twice(tmp_path: Path) -> None:
    one, two = (
        span("billing", 5, at, f"b{at}", links=("a1",), messaging_operation="process")
        for at in (2, 3)
    )
    (finding,) = judged(tmp_path, sent(1, "a1"), one, two).findings
    assert ("integrity", "billing") == (finding.kind, finding.actor)


def test_a_span_inside_another_span_of_its_message_is_the_same_delivery(tmp_path: Path) -> None:
    inner = span("billing", 5, 4, "b3", parent="b2", links=("a1",))
    between = span("billing", 1, 3, "b2", parent="b1")
    found = judged(
        tmp_path, sent(1, "a1"), span("billing", 5, 2, "b1", links=("a1",)), between, inner
    )
    assert ((), 1) == (found.findings, found.deliveries)


def test_a_receiving_call_delivers_at_its_end(tmp_path: Path) -> None:
    """The service waits for a message, and meanwhile sends another one."""
    found = judged(
        tmp_path,
        sent(1, "a1"),
        sent(2, "a2"),
        span("w", 5, 3, "w1", links=("a2",), until=9, messaging_operation="receive"),
        span("w", 4, 5, "w2"),
        span("v", 5, 6, "v1", links=("w2",)),
        span("v", 5, 7, "v2", links=("a1",)),
    )
    assert "HOLDS" == verdict(found)


@pytest.mark.parametrize("between", [False, True])
def test_a_receiving_call_delivers_before_what_is_sent_inside_it(
    between: bool, tmp_path: Path
) -> None:
    """The handler of the message runs inside the span of the call, which ends later."""
    (finding,) = judged(
        tmp_path,
        sent(1, "a1"),
        sent(2, "a2"),
        span("w", 5, 5, "w1", links=("a2",), until=20, messaging_operation="RECEIVE"),
        span("w", 1, 6, "w2", parent="w1"),
        span("w", 4, 7, "w3", parent="w2" if between else "w1"),
        span("v", 5, 40, "v1", links=("w3",)),
        span("v", 5, 50, "v2", links=("a1",)),
    ).findings
    assert ("v", "a1", "w3") == (finding.actor, finding.first, finding.second)


def test_a_receiving_call_delivers_before_what_is_processed_inside_it(tmp_path: Path) -> None:
    found = judged(
        tmp_path,
        sent(1, "a1"),
        sent(2, "a2"),
        span("w", 5, 5, "w1", links=("a1",), until=60, messaging_operation="receive"),
        span("w", 5, 40, "w2", links=("a2",), parent="w1", messaging_operation="process"),
    )
    assert "HOLDS" == verdict(found)


def test_settling_a_message_is_no_delivery(tmp_path: Path) -> None:
    found = judged(
        tmp_path,
        sent(1, "a1"),
        span("billing", 5, 2, "b1", links=("a1",)),
        span("billing", 5, 3, "b2", links=("a1",), messaging_operation_type="settle"),
    )
    assert ((), 1) == (found.findings, found.deliveries)
    assert "1 span that settle a message, which is no delivery" in found.left_out[0]


def test_span_ids_are_unique_within_a_trace_only(tmp_path: Path) -> None:
    found = judged(
        tmp_path,
        span("alice", 4, 1, "01", trace="a1"),
        span("bob", 4, 2, "01", trace="a2"),
        span("carol", 5, 3, "02", trace="a1", parent="01"),
        span("carol", 5, 4, "02", trace="a2", parent="01"),
    )
    assert ((), 2, 2) == (found.findings, found.causal_sends, found.deliveries)


def test_a_link_to_a_span_that_is_no_producer_is_no_delivery(tmp_path: Path) -> None:
    found = judged(
        tmp_path,
        sent(1, "a1"),
        span("web", 1, 1, "c1"),
        span("billing", 5, 2, "b1", links=("c1", "ff ff", "00")),
        span("billing", 5, 3, "b2", links=("c1",), parent="a1"),
    )
    assert 1 == found.deliveries


def test_ids_are_equal_in_upper_and_lower_case(tmp_path: Path) -> None:
    lines = sent(1, "AB"), span("w", 5, 2, "w1", trace="00", links=(f"{TRACE.upper()} aB",))
    assert 1 == judged(tmp_path, *lines).deliveries


def test_a_span_that_was_exported_twice_counts_once(tmp_path: Path) -> None:
    line = span("billing", 5, 2, "b1", links=("a1",))
    found = judged(tmp_path, sent(1, "a1"), sent(1, "a1"), line, line)
    assert ((), 1, 1) == (found.findings, found.causal_sends, found.deliveries)
    assert found.left_out == ("2 spans with the trace id and span id of another span",)


def test_two_spans_with_the_same_ids_are_refused(tmp_path: Path) -> None:
    (tmp_path / "log").write_text("\n".join([sent(1, "a1"), sent(2, "a1")]) + "\n")
    with pytest.raises(InputError, match="line 2: a span has the trace id and span id of another"):
        audit(tmp_path / "log")


def test_groups_that_get_the_same_message_are_several_actors(tmp_path: Path) -> None:
    groups = [
        span(
            "billing", 5, at, f"b{at}", links=(f"a{message}",), messaging_consumer_group_name=group
        )
        for at, message, group in ((3, 2, "x"), (4, 1, "y"), (5, 2, "y"))
    ]
    late = span("billing", 5, 6, "b6", links=("a1",), messaging_consumer_group_name="x")
    found = judged(tmp_path, sent(1, "a1"), sent(2, "a2"), *groups)
    assert ((), 3) == (found.findings, found.deliveries)
    assert "the order between the consumer groups of billing" in found.left_out[0]
    (finding,) = judged(tmp_path, sent(1, "a1"), sent(2, "a2"), *groups, late).findings
    assert ("causal-delivery", "billing in group x") == (finding.kind, finding.actor)


def test_groups_that_get_different_messages_are_one_actor(tmp_path: Path) -> None:
    one, two = (
        span("w", 5, at, f"w{at}", links=(f"a{message}",), messaging_kafka_consumer_group=group)
        for at, message, group in ((3, 2, "x"), (4, 1, "y"))
    )
    (finding,) = judged(tmp_path, sent(1, "a1"), sent(2, "a2"), one, two).findings
    assert "w" == finding.actor


def test_messages_with_ids_of_their_own_are_different_although_one_span_sent_them(
    tmp_path: Path,
) -> None:
    one, two = (
        span("w", 5, at, f"w{at}", links=("a1",), messaging_message_id=f"m{at}") for at in (2, 3)
    )
    found = judged(tmp_path, sent(1, "a1"), one, two)
    assert ((), 1) == (found.findings, found.deliveries)
    assert "another message of the same producer span" in found.left_out[0]


def tie(*later: str) -> list[str]:
    two = [span("w", 5, 5, f"w{n}", links=(f"a{n}",)) for n in (1, 2)]
    return [sent(1, "a1"), sent(2, "a2"), *two, *later]


def test_deliveries_at_equal_times_are_undecided(tmp_path: Path, antecede: Command) -> None:
    found = judged(tmp_path, *tie())
    assert ((), "UNDECIDED") == (found.findings, verdict(found))
    ran = antecede("audit", tmp_path / "spans.jsonl", "--json", tmp_path / "found.json")
    assert 3 == ran.code
    assert "spans that have equal times: w in lines 3, 4" in " ".join(ran.out.split())
    assert "UNDECIDED" == json.loads((tmp_path / "found.json").read_text())["verdict"]


def test_equal_times_do_not_matter_if_no_order_is_wrong(tmp_path: Path) -> None:
    lines = [span("a", 4, 1, "a1"), span("b", 4, 1, "b1")]
    two = [span("w", 5, 5, f"w{n}", links=(f"{n}1",)) for n in ("a", "b")]
    assert "HOLDS" == verdict(judged(tmp_path, *lines, *two))


def test_a_violation_in_every_order_is_certain(tmp_path: Path) -> None:
    late = [span("v", 5, 6, "v2", links=("a2",)), span("v", 5, 7, "v1", links=("a1",))]
    found = judged(tmp_path, *tie(*late))
    (finding,) = found.findings
    assert ("v", "VIOLATED") == (finding.actor, verdict(found))
    assert found.undecided


def test_causal_sends_at_equal_times_are_undecided(tmp_path: Path) -> None:
    two = [span("w", 5, 4 + n, f"w{n}", links=(f"a{n}",)) for n in (1, 2)]
    assert "UNDECIDED" == verdict(judged(tmp_path, sent(1, "a1"), sent(1, "a2"), *two))


def test_a_span_comes_after_the_span_that_it_is_inside_of(tmp_path: Path) -> None:
    """The service sends its answer in the same millisecond in which it gets the question."""
    answer = [
        span("w", 5, 5, "w1", links=("a2",)),
        span("w", 1, 5, "w2", parent="w1"),
        span("w", 4, 5, "w3", parent="w2"),
    ]
    late = [span("v", 5, 6, "v1", links=("w3",)), span("v", 5, 7, "v2", links=("a1",))]
    (finding,) = judged(tmp_path, sent(1, "a1"), sent(2, "a2"), *answer, *late).findings
    assert ("v", "a1", "w3") == (finding.actor, finding.first, finding.second)


def test_messages_of_one_span_arrive_together(tmp_path: Path) -> None:
    batch = span("w", 5, 5, "w1", links=("a2", "a1"))
    assert "HOLDS" == verdict(judged(tmp_path, sent(1, "a1"), sent(2, "a2"), batch))


def test_a_circle_that_only_some_orders_have_is_undecided(tmp_path: Path) -> None:
    found = judged(
        tmp_path,
        span("a", 4, 1, "a1"),
        span("a", 5, 1, "a2", links=("b1",)),
        span("b", 4, 1, "b1"),
        span("b", 5, 1, "b2", links=("a1",)),
    )
    assert ((), "UNDECIDED") == (found.findings, verdict(found))


def test_a_circle_of_all_orders_is_impossible(tmp_path: Path) -> None:
    found = judged(
        tmp_path,
        span("a", 4, 2, "c1"),
        span("a", 5, 1, "c2", links=("b1",)),
        span("b", 4, 2, "b1"),
        span("b", 5, 1, "b2", links=("c1",)),
        *tie(),
    )
    assert ["impossible", "impossible"] == [finding.kind for finding in found.findings]


def test_a_late_delivery_is_found_behind_an_impossible_one(tmp_path: Path) -> None:
    """Billing processes b1 and a2 in one batch, and sends b1 afterwards."""
    found = judged(
        tmp_path,
        sent(1, "a1"),
        sent(2, "a2"),
        span("billing", 5, 3, "c1", links=("b1", "a2")),
        span("billing", 4, 4, "b1"),
        span("billing", 5, 5, "c2", links=("a1",)),
    )
    assert [("impossible", "b1"), ("causal-delivery", "a1")] == [
        (finding.kind, finding.first) for finding in found.findings
    ]


def test_a_finding_warns_of_services_without_an_instance(tmp_path: Path) -> None:
    late = [span("w", 5, 4 - n, f"w{n}", links=(f"a{n}",)) for n in (1, 2)]
    found = judged(tmp_path, sent(1, "a1"), sent(2, "a2"), *late)
    assert "Warning: no service.instance.id at orders, w." in " ".join(text(found).split())
    assert 1 == len(as_object(found)["warnings"])
    named = [span("w", 5, 4 - n, f"w{n}", links=(f"a{n}",), instance="1") for n in (1, 2)]
    sends = sent(1, "a1", instance="1"), sent(2, "a2", instance="1")
    found = judged(tmp_path, *sends, *named)
    assert ("VIOLATED", ()) == (verdict(found), found.warnings)


def test_a_producer_and_its_consumer_may_be_in_different_logs(tmp_path: Path) -> None:
    one, two = tmp_path / "one", tmp_path / "two"
    one.write_text(sent(1, "a1") + "\n" + sent(2, "a2") + "\n")
    two.write_text("\n".join(tie()[2:]) + "\n")
    assert 2 == audit(two, one).deliveries


def test_spans_in_a_folder_are_ordered_by_their_times(tmp_path: Path) -> None:
    (tmp_path / "log").mkdir()
    late = [span("w", 5, 7 - n, f"w{n}", links=(f"a{n}",)) for n in (2, 1)]
    for number, line in enumerate([late[1], sent(2, "a2"), late[0], sent(1, "a1")]):
        (tmp_path / "log" / f"part-{number}").write_text(line + "\n")
    (finding,) = audit(tmp_path / "log").findings
    assert ("a1", "a2") == (finding.first, finding.second)


def test_spans_beside_another_format_are_refused(tmp_path: Path) -> None:
    (tmp_path / "spans").write_text(sent(1, "a1") + "\n")
    (tmp_path / "log").write_text('{"actor": "a", "event": "causal-send", "message": "m"}\n')
    with pytest.raises(InputError, match="audit them separately"):
        audit(tmp_path / "spans", tmp_path / "log")


@pytest.mark.parametrize("time", ["0", "-1", "1.5", "1e9", "soon", ""])
def test_a_time_that_is_none_is_refused(time: str, tmp_path: Path) -> None:
    (tmp_path / "log").write_text(span("a", 4, time, "a1") + "\n")
    with pytest.raises(InputError, match="startTimeUnixNano"):
        audit(tmp_path / "log")


def test_a_log_without_messaging_spans_is_refused(tmp_path: Path) -> None:
    (tmp_path / "log").write_text(span("a", 1, 1, "a1") + "\n")
    with pytest.raises(InputError, match="no spans of producers and consumers"):
        audit(tmp_path / "log")


def with_member(where: str, value: Any) -> str:
    """Return the line of a span with another value of a member."""
    line = json.loads(span("bob", 5, 2, "b", links=("a",), messaging_system="kafka"))
    own = line["resourceSpans"][0]["scopeSpans"][0]["spans"][0]
    *path, name = where.split()
    for step in path:
        own = own[step][0]
    own[name] = value
    return json.dumps(line)


WRONG: tuple[Any, ...] = (5, "x", [5], [[]], {"a": 1}, [{"a": 1}], [{"value": 5}], True)


@pytest.mark.parametrize(
    "where",
    [
        *("traceId", "spanId", "parentSpanId", "kind", "startTimeUnixNano", "attributes", "links"),
        *("attributes key", "attributes value", "links traceId", "links spanId"),
    ],
)
def test_a_span_with_a_wrong_member_is_refused_in_words_about_spans(
    tmp_path: Path, where: str, antecede: Command
) -> None:
    for value in WRONG:
        path = tmp_path / "spans.jsonl"
        path.write_text(f"{sent(1, 'a')}\n{with_member(where, value)}\n")
        ran = antecede("audit", path)
        assert ran.code in (0, 2, 3), value
        assert not any(word in ran.err for word in ("object has no", "iterable", "unhash", "items"))


def test_attributes_that_are_no_list_are_named(tmp_path: Path) -> None:
    path = tmp_path / "spans.jsonl"
    path.write_text(f"{sent(1, 'a')}\n{with_member('attributes', [5])}\n")
    with pytest.raises(InputError, match="line 2: a span lacks a list of objects as attributes;"):
        audit(path)


# Spans that real instrumentations wrote (see spans/write.py)

WRITTEN = sorted((Path(__file__).parent / "spans").glob("*.jsonl"))


@pytest.mark.parametrize("path", WRITTEN, ids=lambda path: path.stem)
def test_a_reordering_in_the_queue_is_found_in_the_spans_of_an_instrumentation(path: Path) -> None:
    found = audit(path)
    assert (3, 3, 3) == (found.actors, found.causal_sends, found.deliveries)
    if path.stem.endswith("-ordered"):
        assert "HOLDS" == verdict(found)
        return
    (finding,) = found.findings
    assert ("causal-delivery", "mail/mail-1", 3) == (
        finding.kind,
        finding.actor,
        len(finding.chain),
    )
    lines = path.read_text().splitlines()
    for event in finding.events:
        (scope,) = json.loads(lines[event.line - 1])["resourceSpans"][0]["scopeSpans"]
        assert event.kind == ("causal-send" if scope["spans"][0]["kind"] == 4 else "deliver")


def test_five_instrumentations_wrote_spans() -> None:
    assert 10 == len(WRITTEN)


# Names of messages and actors


def named(line: str, name: str) -> str:
    whole = json.loads(line)
    whole["resourceSpans"][0]["scopeSpans"][0]["spans"][0]["name"] = name
    return json.dumps(whole)


def test_a_message_has_the_name_the_destination_and_the_key_of_its_span(tmp_path: Path) -> None:
    about = {"messaging_destination_name": "orders", "messaging_kafka_message_key": "7"}
    lines = [named(sent(at, f"{at}a", **about), "send") for at in (1, 2)]
    lines += [span("b", 5, at, f"{at}b", links=(f"{5 - at}a",)) for at in (3, 4)]
    (finding,) = judged(tmp_path, *lines).findings
    assert "send to orders, key 7 [1a]" == finding.first
    assert "send to orders, key 7 [2a]" == finding.second


def replicas(**pods: str) -> list[str]:
    """Return two messages that two pods of a service process in their order."""
    lines = [sent(1, "a1"), sent(2, "a2")]
    for at, (cause, pod) in enumerate(pods.items(), 3):
        line = json.loads(span("billing", 5, at, f"b{at}", links=(cause,)))
        line["resourceSpans"][0]["resource"]["attributes"] += values({"k8s.pod.name": pod})
        lines.append(json.dumps(line))
    return lines


def test_two_instances_that_look_like_one_actor_are_said(tmp_path: Path) -> None:
    found = judged(tmp_path, *replicas(a2="p", a1="q"))
    assert "VIOLATED" == verdict(found)
    assert (
        "billing counts as one actor, although its spans have 2 values of k8s.pod.name (p, q)"
        in (found.warnings[0])
    )
    assert () == judged(tmp_path, *replicas(a1="p", a2="p")).warnings


def test_the_attributes_that_name_an_actor_can_be_chosen(antecede: Command, tmp_path: Path) -> None:
    path = tmp_path / "spans.jsonl"
    path.write_text("\n".join(replicas(a2="p", a1="q")) + "\n")
    assert 1 == antecede("audit", path).code
    ran = antecede("audit", path, "--fields", "actor=service.name+k8s.pod.name")
    assert 0 == ran.code
    assert "4 events of 3 actors" in ran.out


def test_an_attribute_that_spans_lack_is_said(tmp_path: Path) -> None:
    """A misspelt attribute would otherwise count all instances of a service as one actor."""
    one, two = span("a", 4, 1, "a1", pod="x"), span("b", 5, 2, "b1", links=("a1",))
    (tmp_path / "log").write_text("\n".join([one, two]))
    found = audit(tmp_path / "log", fields=fields_from("actor=service.name+pod"))
    (warning,) = found.warnings
    assert warning.startswith("1 span of producers and consumers lacks the attribute 'pod'")
    assert () == audit(tmp_path / "log", fields=fields_from("actor=service.name")).warnings


def test_spans_have_no_fields_to_name_but_the_actor(tmp_path: Path) -> None:
    (tmp_path / "log").write_text(span("a", 4, 1, "a1"))
    with pytest.raises(InputError, match="of which --fields names the actor only"):
        audit(tmp_path / "log", fields=fields_from("message=messaging.message.id"))
