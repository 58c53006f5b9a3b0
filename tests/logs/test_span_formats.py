"""The JSON of OTLP, Jaeger and Zipkin: documents on one line and on several lines."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from antecede.checker.logs.readers import span_formats
from antecede.checker.logs.report.summary import verdict
from antecede.checker.support.errors import InputError
from tests.logs.test_audit import audit
from tests.logs.test_spans import span

SENT, OTHER = span("a", 4, 1, "a1"), span("a", 4, 2, "a2")
LATE = [span("b", 5, 3, "b1", links=("a2",)), span("b", 5, 4, "b2", links=("a1",))]


def pretty(*lines: str) -> str:
    return "\n".join(json.dumps(json.loads(line), indent=2) for line in lines) + "\n"


def test_a_finding_names_the_line_of_a_span_in_a_document(tmp_path: Path) -> None:
    text = pretty(SENT, OTHER, *LATE)
    (tmp_path / "log").write_text(text)
    (finding,) = audit(tmp_path / "log").findings
    inside = text.splitlines()[finding.line - 1 : finding.line + 4]
    assert '"spanId": "b2"' in "".join(inside)


def test_documents_and_lines_may_be_mixed_with_other_lines(tmp_path: Path) -> None:
    text = f"started\n{SENT}\n\n{pretty(OTHER)}{LATE[0]}\n{{]\nstopped\n{LATE[1]}{SENT}\n"
    (tmp_path / "log").write_text(text)
    found = audit(tmp_path / "log")
    assert ["causal-delivery"] == [finding.kind for finding in found.findings]
    assert 3 == found.foreign[0].lines
    assert 1 == len(found.left_out)


@pytest.mark.parametrize("indent", [None, 2])
def test_logs_of_opentelemetry_without_spans_are_refused(
    indent: int | None, tmp_path: Path
) -> None:
    document = {"resourceLogs": [{"resource": {"attributes": []}, "scopeLogs": []}]}
    (tmp_path / "log").write_text(json.dumps(document, indent=indent))
    with pytest.raises(InputError, match="no spans of producers and consumers"):
        audit(tmp_path / "log")


def test_logs_and_metrics_and_other_spans_between_spans_are_left_out(tmp_path: Path) -> None:
    """Even if most lines have no messages, as in the file of a collector."""
    metrics = json.dumps({"resourceMetrics": []})
    other = [span("a", 2, 1, f"c{number}") for number in range(9)]
    lines = [SENT, "started", *other, "stopped", *[metrics] * 9, LATE[1], "", "gone"]
    (tmp_path / "log").write_text("\n".join(lines) + "\n")
    found = audit(tmp_path / "log")
    assert (2, 3) == (found.events, found.foreign[0].lines)
    assert "9 documents with logs or metrics of OpenTelemetry" in found.left_out


def jaeger(*spans: dict[str, Any]) -> dict[str, Any]:
    return {"traceID": "t", "spans": [*spans], "processes": {"p": {"serviceName": "a", "tags": []}}}


def test_a_span_of_jaeger_may_have_its_own_process(tmp_path: Path) -> None:
    """As in the lines of its storage; the kind of a span is a tag."""
    tags = [{"key": "span.kind", "value": "producer"}]
    rows = [{"traceID": "t", "spanID": "1", "startTime": 5, "duration": 2, "tags": tags}]
    rows.append({**rows[0], "spanID": "2", "startTime": 9})
    rows[1]["tags"] = [{"key": "span.kind", "value": "consumer"}]
    rows[1]["references"] = [{"refType": "FOLLOWS_FROM", "traceID": "t", "spanID": "1"}]
    lines = [{**row, "process": {"serviceName": n}} for n, row in zip("ab", rows, strict=True)]
    (tmp_path / "log").write_text("".join(f"{json.dumps(line)}\n" for line in lines))
    found = audit(tmp_path / "log")
    assert ("HOLDS", 2, 1) == (verdict(found), found.actors, found.deliveries)


@pytest.mark.parametrize(
    "document",
    [
        {"data": [jaeger({"traceID": "t", "spanID": 1, "tags": 7})]},
        {"data": [jaeger({"traceID": "t", "tags": [{"key": "span.kind", "value": "producer"}]})]},
        [{"traceId": "t", "id": "1", "kind": "PRODUCER"}],
        [{"traceId": "t", "id": "1", "kind": "PRODUCER", "timestamp": "soon"}],
        [{"traceId": "t", "id": 1, "kind": "CONSUMER", "timestamp": 1}],
        [{"traceId": "t", "id": "1"}, 7],
    ],
)
def test_a_document_that_lacks_something_is_refused(document: Any, tmp_path: Path) -> None:
    (tmp_path / "log").write_text(json.dumps(document))
    with pytest.raises(InputError):
        audit(tmp_path / "log")


def tempo(document: dict[str, Any]) -> dict[str, Any]:
    return {"batches": document["resourceSpans"]}


SHAPES: dict[str, Callable[[str], str]] = {
    "with the prefix of a container": lambda line: f"[pod/x] collector-1  | {line}",
    "of an old version": lambda line: line.replace("scopeSpans", "instrumentationLibrarySpans"),
    "of Tempo": lambda line: json.dumps(tempo(json.loads(line))),
    "of a newer Tempo": lambda line: json.dumps({"trace": json.loads(line)}),
    "of Tempo, on several lines": lambda line: json.dumps(tempo(json.loads(line)), indent=2),
    "with short kinds": lambda line: line.replace('"kind": 4', '"kind": "PRODUCER"').replace(
        '"kind": 5', '"kind": "CONSUMER"'
    ),
}


@pytest.mark.parametrize("shape", list(SHAPES))
def test_other_shapes_of_otlp_have_the_same_findings(shape: str, tmp_path: Path) -> None:
    lines = [SHAPES[shape](line) for line in (SENT, OTHER, *LATE)]
    assert lines[0] != SENT
    (tmp_path / "log").write_text("".join(f"{line}\n" for line in lines))
    found = audit(tmp_path / "log")
    assert ["causal-delivery"] == [finding.kind for finding in found.findings]
    assert () == found.foreign


def test_an_array_of_spans_on_a_few_lines_is_read(tmp_path: Path) -> None:
    (tmp_path / "log").write_text("[" + ",\n".join([SENT, OTHER, *LATE]) + "]\n")
    assert 1 == len(audit(tmp_path / "log").findings)


def test_spans_without_a_producer_are_refused_with_what_was_left_out(tmp_path: Path) -> None:
    """Such as producers of kind client, to which nothing may link."""
    client = span("a", 3, 1, "a2")
    (tmp_path / "log").write_text("\n".join([client, LATE[0]]))
    with pytest.raises(InputError, match=r"\(left out: 1 span of consumers that link to no prod"):
        audit(tmp_path / "log")


def test_a_deep_document_is_refused(tmp_path: Path) -> None:
    (tmp_path / "log").write_text('[\n{"traceId": ' + "[" * 99_999)
    with pytest.raises(InputError, match="not JSON"):
        audit(tmp_path / "log")


def test_a_span_of_jaeger_may_name_its_parent_itself() -> None:
    span = {"traceID": "t", "spanID": "2", "parentSpanID": "1", "startTime": 5}
    assert "1" == span_formats._of_jaeger(span, {})[1]["parentSpanId"]
