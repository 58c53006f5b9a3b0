"""The JSON of spans: OTLP, Jaeger and Zipkin, with a document on each line or on several lines.

All spans become OTLP spans, so that `spans` has one kind of span. Jaeger and Zipkin
write times in microseconds. In Jaeger, a reference FOLLOWS_FROM is a link. Zipkin has no links.
"""

from __future__ import annotations

import json
import re
from array import array
from bisect import bisect_right
from collections.abc import Iterator, Mapping, Sequence
from itertools import chain
from json import decoder, scanner
from typing import Any

from antecede.checker.logs.events.capacity import OFTEN, check_memory
from antecede.checker.logs.readers.records import Fields, NoEvent, behind_text, value_at
from antecede.checker.logs.readers.sources import Source

RESOURCES = ("resourceSpans", "batches")
"""The names of the list of resources: of OTLP, and of Grafana Tempo."""

SCOPES = ("scopeSpans", "instrumentationLibrarySpans")
"""The names of the list of scopes, in newer and older versions of OTLP."""

WRAPPERS = ("data", "result", "trace")
"""The names of what wraps spans: of Jaeger and Tempo."""

OTHER_SIGNALS = ("resourceLogs", "resourceMetrics", "resourceProfiles")

_KEY = re.compile(r'"(?:resourceSpans|batches|resourceLogs|resourceMetrics|traceID|traceId)"\s*:')
_AHEAD = 200
"""The number of lines in which a document on several lines has the id of a trace."""


class OtherSignal(Exception):
    """A document has logs or metrics of OpenTelemetry, and no spans."""


class Located(dict[str, Any]):
    """A JSON object with its position in the text."""

    at: int


def _locating() -> json.JSONDecoder:
    """Return a decoder whose objects know their positions. It is slower than the usual one."""
    result: Any = json.JSONDecoder()

    def parse_object(text_and_end: tuple[str, int], *how: Any) -> tuple[Located, int]:
        value, end = decoder.JSONObject(text_and_end, *how)  # type: ignore[attr-defined]
        located = Located(value)
        located.at = text_and_end[1] - 1
        return located, end

    result.parse_object = parse_object
    result.scan_once = scanner.py_make_scanner(result)  # type: ignore[attr-defined]
    return result  # type: ignore[no-any-return]


def looks_like_spans(lines: Sequence[str], fields: Fields) -> bool:
    """Return whether the next lines of a log are spans, or other signals of OpenTelemetry.

    An object with the log's own fields is an event, even if it also has the ids of a trace.
    """
    value = _value(lines[0])
    own = (fields.actor, fields.event, fields.message)
    if isinstance(value, dict) and all(value_at(value, name) is not None for name in own):
        return False
    if value is not None:
        return _is_of_spans(value)
    if lines[0].lstrip()[:1] not in ("{", "[") or not any(map(_KEY.search, lines[:_AHEAD])):
        return False
    second = _value(lines[1]) if len(lines) > 1 else None
    return not isinstance(second, dict) or _is_of_spans(second)


def _value(line: str) -> Any:
    try:
        return _loaded(line)
    except (ValueError, RecursionError):
        return None


def _loaded(line: str) -> Any:
    """Return the JSON value of a line; other text may come before an object.

    Raises:
        ValueError, RecursionError: there is no value.
    """
    try:
        return json.loads(line)
    except (ValueError, RecursionError):
        if (text := behind_text(line)) == line:
            raise
        return json.loads(text)


def _is_of_spans(value: Any) -> bool:
    if isinstance(value, list):
        return bool(value) and _is_of_spans(value[0])
    if not isinstance(value, dict):
        return False
    if isinstance(value.get("data"), list):
        return _is_of_spans(value["data"])
    if isinstance(value.get("result"), dict):
        return _is_of_spans(value["result"])
    if isinstance(value.get("trace"), dict):
        return any(isinstance(value["trace"].get(name), list) for name in RESOURCES)
    return (
        any(name in value for name in ("resourceSpans", *OTHER_SIGNALS))
        or isinstance(value.get("batches"), list)
        or {"spans", "processes"} <= value.keys()
        or {"traceID", "spanID"} <= value.keys()
        or ({"traceId", "id"} <= value.keys() and "actor" not in value)
    )


def documents(source: Source) -> Iterator[tuple[Sequence[int], int, Any]]:
    """Yield the JSON values of a log.

    Yields:
        The starts of the text's lines, the number of its first line, and the value. A value on
        one line has no starts.
    """
    lines = source.lines()
    for number, line in lines:
        if number % OFTEN == 0:
            check_memory()
        if not line.strip():
            continue
        try:
            value = _loaded(line)
        except (ValueError, RecursionError) as error:
            if line.lstrip()[0] in "{[":
                rest = (text for _, text in lines)
                yield from _documents_in(source, number, "\n".join(chain([line], rest)))
                return
            source.note_foreign(number, f"not JSON ({getattr(error, 'msg', 'too large')})")
        else:
            yield (), number, value


def _documents_in(
    source: Source, first: int, text: str
) -> Iterator[tuple[Sequence[int], int, Any]]:
    """Yield the values in the rest of a log, where a value may have several lines."""
    starts, end = array("q", [0]), 0
    starts.extend(match.end() for match in re.finditer("\n|$", text))
    decode = _locating().raw_decode
    while end < len(text):
        at = end
        while at < len(text) and text[at].isspace():
            at += 1
        if at == len(text):
            return
        try:
            value, end = decode(text, at)
        except (ValueError, RecursionError) as error:
            line = bisect_right(starts, at)
            source.note_foreign(
                first + line - 1, f"not JSON ({getattr(error, 'msg', 'too large')})"
            )
            end = starts[line]
        else:
            yield starts, first, value
            check_memory()


def spans_in(value: Any) -> Iterator[tuple[Mapping[str, Any], Any]]:
    """Yield the resources and spans of a JSON value, in the form of OTLP.

    Raises:
        NoEvent: the value has no spans.
        OtherSignal: it has logs or metrics.
        KeyError, TypeError, AttributeError, ValueError: it is no such JSON.
    """
    if isinstance(value, list):
        return chain.from_iterable(map(spans_in, value))
    if not isinstance(value, dict) or not _is_of_spans(value):
        raise NoEvent("no spans of OTLP, Jaeger or Zipkin")
    if any(name in value for name in RESOURCES):
        return _in_otlp(value)
    if any(name in value for name in OTHER_SIGNALS):
        raise OtherSignal
    if any(name in value for name in WRAPPERS):
        return spans_in(_first(value, WRAPPERS))
    return iter([_of_zipkin(value)]) if "id" in value else _in_jaeger(value)


def _in_otlp(value: Mapping[str, Any]) -> Iterator[tuple[Mapping[str, Any], Any]]:
    for resource in _first(value, RESOURCES):
        about = resource.get("resource") or {}
        for scope in _first(resource, SCOPES):
            for span in scope.get("spans") or []:
                yield about, span


def _in_jaeger(value: Mapping[str, Any]) -> Iterator[tuple[Mapping[str, Any], Any]]:
    processes = value.get("processes") or {}
    for span in value.get("spans") or [value]:
        yield _of_jaeger(span, span.get("process") or processes.get(span.get("processID")) or {})


def _first(value: Mapping[str, Any], names: Sequence[str]) -> Any:
    """Return the first value of these names that is not empty, or an empty list."""
    return next((value[name] for name in names if value.get(name)), [])


def _of_jaeger(
    span: Mapping[str, Any], process: Mapping[str, Any]
) -> tuple[Mapping[str, Any], Mapping[str, Any]]:
    tags = {tag["key"]: tag.get("value") for tag in span.get("tags") or []}
    references = span.get("references") or []
    parents = [each for each in references if each.get("refType") == "CHILD_OF"]
    about = {tag["key"]: tag.get("value") for tag in process.get("tags") or []}
    about["service.name"] = process.get("serviceName")
    start, duration = span.get("startTime"), span.get("duration") or 0
    return _attributes(about), {
        "traceId": span.get("traceID"),
        "spanId": span.get("spanID"),
        "parentSpanId": parents[0]["spanID"] if parents else span.get("parentSpanID") or "",
        "name": span.get("operationName"),
        "kind": _kind(tags.get("span.kind")),
        "startTimeUnixNano": _nanoseconds(start),
        "endTimeUnixNano": _nanoseconds(start, duration),
        "links": [
            {"traceId": each.get("traceID"), "spanId": each.get("spanID")}
            for each in references
            if each not in parents[:1]
        ],
        **_attributes(tags),
    }


def _of_zipkin(span: Mapping[str, Any]) -> tuple[Mapping[str, Any], Mapping[str, Any]]:
    endpoint, start = span.get("localEndpoint") or {}, span.get("timestamp")
    address = endpoint.get("ipv4") or endpoint.get("ipv6")
    return _attributes({"service.name": endpoint.get("serviceName"), "host.ip": address}), {
        "traceId": span.get("traceId"),
        "spanId": span.get("id"),
        "parentSpanId": span.get("parentId") or "",
        "name": span.get("name"),
        "kind": _kind(span.get("kind")),
        "startTimeUnixNano": _nanoseconds(start),
        "endTimeUnixNano": _nanoseconds(start, span.get("duration") or 0),
        **_attributes(span.get("tags") or {}),
    }


def _kind(word: Any) -> str:
    return f"SPAN_KIND_{str(word).upper()}"


def _nanoseconds(start: Any, duration: Any = 0) -> Any:
    """Return microseconds as nanoseconds; a value that is no number stays as it is."""
    whole = isinstance(start, int) and isinstance(duration, int)
    return str((start + duration) * 1000) if whole else start


def _attributes(values: Mapping[str, Any]) -> dict[str, Any]:
    given = [(key, each) for key, each in values.items() if isinstance(each, str | int)]
    return {"attributes": [{"key": key, "value": {"stringValue": str(v)}} for key, v in given]}
