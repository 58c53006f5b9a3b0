"""The same random run in all formats of logs; the findings must agree with tests/naive_audit.py.

A run is drawn with the real time of each event, in microseconds. The writers below share no code
with the readers. Every writer adds lines that are no events where its format allows them.
"""

from __future__ import annotations

import csv
import io
import json
import random
import tempfile
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from attrs import evolve, frozen

from antecede.checker.logs import audit as audits
from antecede.checker.logs.judge.findings import How
from antecede.checker.logs.report.summary import HOLDS, UNDECIDED, VIOLATED, verdict
from antecede.checker.support.errors import AntecedeError
from tests.naive_audit import Event
from tests.naive_audit import audit as naive

START = 1_700_000_000_000_000
"""The time of the first event, in microseconds."""


@frozen
class At:
    """An event of a run.

    Attributes:
        time: in microseconds.
        fraction: nanoseconds, which Jaeger and Zipkin do not write.
        key: the id of its span.
        cause: a delivery's causal-send.
    """

    actor: str
    kind: str
    message: str
    time: int
    fraction: int
    key: str
    clock: Mapping[str, int]
    cause: At | None = None


def drawn(seed: str) -> list[At]:
    """Return a random run in the order of its times; some deliveries are late or repeated."""
    draw = random.Random(seed)
    actors = [f"a{number}" for number in range(draw.choice([2, 3, 4]))]
    clocks: dict[str, dict[str, int]] = {actor: {} for actor in actors}
    close = draw.random() < 0.3
    run: list[At] = []
    flight: list[tuple[At, str]] = []
    delivered: list[tuple[At, str]] = []

    def happens(actor: str, kind: str, message: str, cause: At | None = None) -> At:
        clock = clocks[actor]
        for other, count in (cause.clock if cause else {}).items():
            clock[other] = max(clock.get(other, 0), count)
        clock[actor] = clock.get(actor, 0) + 1
        step = draw.randrange(300, 900) if close else draw.randrange(1_000, 9_000)
        now = run[-1].time * 1_000 + run[-1].fraction + step if run else START * 1_000
        key = f"{draw.randrange(1, 1 << 64):016x}"
        run.append(At(actor, kind, message, now // 1_000, now % 1_000, key, dict(clock), cause))
        return run[-1]

    for number in range(draw.randrange(2, 12)):
        sender = draw.choice(actors)
        sent = happens(sender, "causal-send", f"m{number}")
        flight += [(sent, actor) for actor in actors if actor != sender and draw.random() < 0.7]
        while flight and draw.random() < 0.6:
            cause, actor = flight.pop(0 if draw.random() < 0.6 else draw.randrange(len(flight)))
            happens(actor, "deliver", cause.message, cause)
            delivered.append((cause, actor))
        if delivered and draw.random() < 0.15:
            cause, actor = draw.choice(delivered)
            happens(actor, "deliver", cause.message, cause)
    return run


def with_ties(draw: random.Random, run: list[At]) -> list[At]:
    """Return the run with equal times of some neighbours."""
    tied = [*run]
    for at in range(1, len(run)):
        if draw.random() < 0.3:
            tied[at] = evolve(tied[at], time=tied[at - 1].time, fraction=tied[at - 1].fraction)
    return tied


# Writers of events


def as_objects(draw: random.Random, run: Sequence[At]) -> tuple[bytes, int]:
    prefix = draw.choice(["", "web-1  | ", "2026-11-26T22:33:03Z app "])
    rows = [
        prefix + json.dumps({"actor": at.actor, "event": at.kind, "message": at.message})
        for at in run
    ]
    junk = ["Listening on port 80", '{"level": "info"}', '{"event": "ping", "actor": "a0"}']
    return with_junk(draw, rows, junk, 1)


def as_table(draw: random.Random, run: Sequence[At]) -> tuple[bytes, int]:
    text = io.StringIO()
    table = csv.writer(text)
    table.writerow(["time", "message", "event", "actor"])
    table.writerows([at.time, at.message, at.kind, at.actor] for at in run)
    first, *rows = text.getvalue().splitlines()
    body, lines = with_junk(draw, rows, ["started", "1,m0,boot,a0"], 1)
    return f"{first}\n".encode() + body, lines


def as_parquet(_draw: random.Random, run: Sequence[At]) -> tuple[bytes, int]:
    import pyarrow
    from pyarrow import parquet

    rows = [{"actor": at.actor, "event": at.kind, "message": at.message} for at in run]
    sink = io.BytesIO()
    parquet.write_table(pyarrow.Table.from_pylist(rows), sink)
    return sink.getvalue(), 0


def as_shiviz(draw: random.Random, run: Sequence[At]) -> tuple[bytes, int]:
    rows = []
    for at in run:
        verb = "causal-sends" if at.kind == "causal-send" else "delivers"
        rows.append(f"{at.actor} {json.dumps(at.clock)}\n{verb} {at.message}")
    return with_junk(draw, rows, ["-----", "config {port: 80}", "warning: slow"], 1)


def with_junk(
    draw: random.Random, rows: Sequence[str], junk: Sequence[str], first: int
) -> tuple[bytes, int]:
    """Return rows with other lines between them, and the number of other lines."""
    lines, count = [*rows[:first]], 0
    for row in rows[first:]:
        if draw.random() < 0.15 and count < len(rows) // 3:
            lines.append(draw.choice(junk))
            count += 1
        lines.append(row)
    return "\n".join([*lines, ""]).encode(), count


# Writers of spans


def trace_of(at: At) -> str:
    """Return the trace of an event: that of the causal-send."""
    return f"{(at.cause or at).key}{1:016x}"


def as_otlp(draw: random.Random, at: At) -> dict[str, Any]:
    """Return resource spans with one span."""
    start = at.time * 1_000 + at.fraction
    span: dict[str, Any] = {
        "traceId": trace_of(at),
        "spanId": at.key,
        "parentSpanId": "",
        "name": at.message if at.kind == "causal-send" else f"process {at.message}",
        "kind": 5 if at.cause else 4,
        "startTimeUnixNano": str(start),
        "endTimeUnixNano": str(start + 1),
        "attributes": [],
        "links": [],
        "status": {},
    }
    if at.cause and draw.random() < 0.5:
        span["links"] = [{"traceId": trace_of(at.cause), "spanId": at.cause.key}]
    elif at.cause:
        span["parentSpanId"] = at.cause.key
    about = [{"key": "service.name", "value": {"stringValue": at.actor}}]
    scope = {"scope": {"name": "random"}, "spans": [span]}
    return {"resource": {"attributes": about}, "scopeSpans": [scope]}


def as_otlp_lines(draw: random.Random, run: Sequence[At]) -> tuple[bytes, int]:
    rows = [json.dumps({"resourceSpans": [as_otlp(draw, at)]}) for at in shuffled(draw, run)]
    return with_junk(draw, rows, ["started", "export was slow"], 1)


def as_otlp_document(draw: random.Random, run: Sequence[At]) -> tuple[bytes, int]:
    spans = [as_otlp(draw, at) for at in shuffled(draw, run)]
    return json.dumps({"resourceSpans": spans}).encode(), 0


def as_otlp_pretty(draw: random.Random, run: Sequence[At]) -> tuple[bytes, int]:
    spans = [as_otlp(draw, at) for at in shuffled(draw, run)]
    half = draw.randrange(len(spans) + 1)
    texts = [json.dumps({"resourceSpans": s}, indent=2) for s in (spans[:half], spans[half:]) if s]
    junk = draw.choice([[], ["}", "stopped"]])
    return "\n".join([*texts, *junk]).encode(), len(junk)


def as_jaeger(draw: random.Random, run: Sequence[At]) -> tuple[bytes, int]:
    spans = []
    for at in shuffled(draw, run):
        span: dict[str, Any] = {"traceID": trace_of(at), "spanID": at.key, "flags": 1}
        span |= {"operationName": at.message, "references": [], "startTime": at.time, "duration": 1}
        kind = "consumer" if at.cause else "producer"
        span["tags"] = [{"key": "span.kind", "type": "string", "value": kind}]
        span |= {"logs": [], "processID": f"p{at.actor}", "warnings": None}
        if at.cause:
            ids = {"traceID": trace_of(at.cause), "spanID": at.cause.key}
            kind = draw.choice(["CHILD_OF", "FOLLOWS_FROM"])
            span["references"] = [{"refType": kind, **ids}]
        spans.append(span)
    names = {at.actor for at in run}
    processes = {f"p{name}": {"serviceName": name, "tags": []} for name in names}
    trace = {"traceID": trace_of(run[0]), "spans": spans, "processes": processes, "warnings": None}
    document = {"data": [trace], "total": 0, "limit": 0, "offset": 0, "errors": None}
    return json.dumps(document, indent=draw.choice([None, 2])).encode(), 0


def as_zipkin(draw: random.Random, run: Sequence[At]) -> tuple[bytes, int]:
    spans = []
    for at in shuffled(draw, run):
        span: dict[str, Any] = {"traceId": trace_of(at), "id": at.key, "name": at.message}
        span |= {"kind": "CONSUMER" if at.cause else "PRODUCER", "timestamp": at.time}
        span |= {"duration": 1, "localEndpoint": {"serviceName": at.actor}, "tags": {}}
        if at.cause:
            span["parentId"] = at.cause.key
        spans.append(span)
    return json.dumps(spans, indent=draw.choice([None, 2])).encode(), 0


def shuffled(draw: random.Random, run: Sequence[At]) -> list[At]:
    return draw.sample(run, len(run))


Writer = Callable[[random.Random, Sequence[At]], tuple[bytes, int]]

IN_ORDER: dict[str, Writer] = {
    "log.jsonl": as_objects,
    "log.csv": as_table,
    "log.parquet": as_parquet,
    "run.shiviz": as_shiviz,
}
BY_TIME: dict[str, Writer] = {
    "lines.otlp": as_otlp_lines,
    "document.otlp": as_otlp_document,
    "pretty.otlp": as_otlp_pretty,
    "jaeger.json": as_jaeger,
    "zipkin.json": as_zipkin,
}
COARSE = ("jaeger.json", "zipkin.json")
"""The formats with times in microseconds."""


# Comparing


def compare_formats(seed: str, folder: Path, tally: Counter[str]) -> list[str]:
    """Audit a random run in all formats; if a result is wrong, write the log to a file."""
    run = drawn(seed)
    wrong = []
    with tempfile.TemporaryDirectory() as name:
        for number, (file, write) in enumerate({**IN_ORDER, **BY_TIME}.items()):
            path = Path(name, file)
            content, other = write(random.Random(f"{seed} {number}"), run)
            path.write_bytes(content)
            difference = difference_of(path, run, other, tally)
            if difference is not None:
                folder.mkdir(parents=True, exist_ok=True)
                kept = folder / f"format-{seed.replace('/', '-')}-{file}"
                kept.write_bytes(content)
                wrong.append(f"{kept} (seed {seed!r}): {difference}")
    return wrong + ties_in_all_formats(seed, run, tally)


def difference_of(path: Path, run: list[At], other: int, tally: Counter[str]) -> str | None:
    """Return in words what is wrong with the audit of a log, or None."""
    for redelivery in (False, True):
        expected = expected_of(run, redelivery=redelivery)
        try:
            found = audits.audit([str(path)], how=How(redelivery=redelivery))
        except AntecedeError as error:
            return f"the log is refused: {error}"
        said = verdict(found)
        tally[f"{path.name} with tests/naive_audit.py: {said}"] += 1
        if not any(at.cause for at in run):
            return None
        seen = sorted((f.kind, f.actor, str(f.first).split(" [")[0]) for f in found.findings)
        if path.name in COARSE and len({(at.actor, at.time) for at in run}) < len(run):
            # Some events have no order, so some findings are not certain.
            if {*seen} <= {*expected} and said in (VIOLATED if seen else UNDECIDED, HOLDS):
                continue
        if seen != expected or said != (VIOLATED if expected else HOLDS):
            return f"{said}, {seen}; expected {expected}"
        lines = sum(each.lines for each in found.foreign)
        if lines != other:
            return f"{lines} lines are no events, and {other} were written"
    return None


def expected_of(run: Sequence[At], *, redelivery: bool) -> list[tuple[str, str, str]]:
    own: dict[str, list[Event]] = {}
    for at in run:
        own.setdefault(at.actor, []).append(Event(at.kind, at.message))
    found = naive(own)
    return sorted(
        (f.kind, f.actor, f.message) for f in found if not (redelivery and f.kind == "integrity")
    )


def ties_in_all_formats(seed: str, run: list[At], tally: Counter[str]) -> list[str]:
    """Return where the formats of spans disagree about a run with equal times."""
    draw = random.Random(f"ties {seed}")
    # Only whole microseconds, so that all formats have the same times.
    tied = [evolve(at, time=START + at_ * 2, fraction=0) for at_, at in enumerate(run)]
    tied = with_ties(draw, tied)
    if not any(at.cause for at in tied):
        return []
    said = dict[str, list[str]]()
    with tempfile.TemporaryDirectory() as name:
        for file, write in BY_TIME.items():
            path = Path(name, file)
            path.write_bytes(write(random.Random(seed), tied)[0])
            try:
                found = audits.audit([str(path)])
            except AntecedeError as error:
                return [f"seed {seed!r}: {file} is refused: {error}"]
            shown = sorted((f.kind, f.actor, str(f.first).split(" [")[0]) for f in found.findings)
            said.setdefault(f"{verdict(found)} {shown}", []).append(file)
    word = min(said).split()[0]
    tally[f"formats of spans with equal times: {word}"] += 1
    wrong = bool(expected_of(tied, redelivery=False))  # in one of the possible orders
    if len(said) > 1 or word == (HOLDS if wrong else VIOLATED):
        return [f"seed {seed!r}, equal times: {said}; one order has {wrong}"]
    return []
