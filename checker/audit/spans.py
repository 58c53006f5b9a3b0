"""Logs of OpenTelemetry: spans of kind producer and consumer, as OTLP JSON.

A producer span is a causal-send, named by its span id. A consumer span is the delivery of a
producer's message. It is the producer span's child or links to it. The actor is the resource's
`service.name` (with `service.instance.id`, if there is one). Spans may be in any order. They are
sorted by start time, actor by actor, which is the order of one machine's clock. Spans do not name
destinations, so an audit cannot report messages that never arrived.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from antecede.checker.audit.capacity import OFTEN, check_memory
from antecede.checker.audit.events import DELIVER, SEND, Event
from antecede.checker.audit.records import parsed
from antecede.checker.audit.sources import Source
from antecede.checker.errors import InputError

PRODUCER = (4, "SPAN_KIND_PRODUCER")
CONSUMER = (5, "SPAN_KIND_CONSUMER")


def looks_like_spans(first: str) -> bool:
    """Return whether the first line of a log has resource spans."""
    return '"resourceSpans"' in first


def span_events(source: Source) -> Iterator[Event]:
    """Yield the events of a log with an object of resource spans on each line.

    Raises:
        InputError: a line has no spans, or a span lacks a field; the message names it.
    """
    rows: list[tuple[str, int, int, Event]] = []
    for number, line in source.lines():
        if number % OFTEN == 0:
            check_memory()
        if line.strip():
            where = f"{source.name}, line {number}"
            for actor, span in _spans(where, parsed(where, line, "")):
                rows += _events(where, source.name, number, actor, span)
    rows.sort(key=lambda each: each[:3])
    for _, _, _, event in rows:
        yield event


def _spans(where: str, value: Any) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield the spans of one line, with their actors."""
    try:
        for resource in value["resourceSpans"]:
            actor = _actor(resource.get("resource", {}).get("attributes", []))
            for scope in resource.get("scopeSpans", []):
                for span in scope.get("spans", []):
                    yield actor, dict(span)
    except (KeyError, TypeError, AttributeError, ValueError):
        raise InputError(
            f"{where}: no OTLP JSON; a line is an object with resourceSpans, scopeSpans and spans"
        ) from None


def _actor(attributes: list[dict[str, Any]]) -> str:
    values = {
        attribute["key"]: attribute.get("value", {}).get("stringValue") for attribute in attributes
    }
    name, instance = values.get("service.name"), values.get("service.instance.id")
    return f"{name or 'unknown'}/{instance}" if instance else str(name or "unknown")


def _events(
    where: str, log: str, number: int, actor: str, span: dict[str, Any]
) -> Iterator[tuple[str, int, int, Event]]:
    kind = span.get("kind")
    if kind not in (*PRODUCER, *CONSUMER):
        return
    try:
        start = int(span["startTimeUnixNano"])
        if kind in PRODUCER:
            yield actor, start, number, Event(number, actor, SEND, str(span["spanId"]), log=log)
            return
        linked = [str(link["spanId"]) for link in span.get("links", [])]
        for message in linked or [str(span["parentSpanId"])]:
            yield actor, start, number, Event(number, actor, DELIVER, message, log=log)
    except (KeyError, TypeError, ValueError) as error:
        raise InputError(
            f"{where}: a span lacks {error}; a producer span has spanId and startTimeUnixNano, a "
            "consumer span also a link to the producer's, or it is its child"
        ) from None
