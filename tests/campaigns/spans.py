"""Random spans of OpenTelemetry, judged in all their possible orders by tests/naive_audit.py.

A case is drawn as what really happened: the causal-sends and deliveries of each actor, with times.
Then it is written as spans in the ways of instrumentations: with equal times, equal span ids in two
traces, empty parents, two spans for one delivery, batches, consumer groups, and spans that mean
nothing. The judge reads only what happened, and never a span.
"""

from __future__ import annotations

import json
import random
import tempfile
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from itertools import groupby, permutations, product
from math import factorial, prod
from pathlib import Path
from typing import Any

from attrs import define, frozen

from antecede.checker.logs import audit as audits
from antecede.checker.logs.report.summary import HOLDS, UNDECIDED, VIOLATED, verdict
from antecede.checker.support.errors import AntecedeError
from tests.naive_audit import Event
from tests.naive_audit import audit as naive

MOST_ORDERS = 200
"""The most orders of a case that are judged; larger cases lose their equal times."""

Wrong = frozenset[tuple[str, str, str]]
"""The kinds, actors and messages of findings."""


@define(eq=False)
class Did:
    """A causal-send, or a delivery of several messages at one time.

    Attributes:
        actor: a service, or a consumer group of it.
        during: the delivery that it is a part of, if a causal-send is.
        lost: messages that were received in one batch with a delivery's, but never processed.
    """

    service: str
    group: str
    at: int
    sends: bool
    messages: tuple[int, ...]
    during: Did | None = None
    lost: tuple[int, ...] = ()
    key: tuple[str, str] = ("", "")

    def events(self, names: Sequence[str]) -> list[Event]:
        kind = "causal-send" if self.sends else "deliver"
        return [Event(kind, names[message]) for message in self.messages]


@frozen
class Case:
    """What happened, and the lines of its log."""

    did: list[Did]
    names: list[str]
    lines: list[str]


def drawn(seed: str) -> Case:
    """Draw what happened, and write it as spans."""
    draw = random.Random(seed)
    did = happened(draw)
    while orders_within(did) > MOST_ORDERS:
        did = happened(draw)
    if orders_of(did) > MOST_ORDERS:
        for at, each in enumerate(did):  # a sender's delivery comes first: it keeps its place
            each.at = 10 * each.at + at
    names = identities(draw, did)
    lines = [line for each in did for line in written(draw, each, did)]
    lines += [noise(draw, number) for number in range(draw.randrange(4))]
    draw.shuffle(lines)
    return Case(did, names, lines)


def happened(draw: random.Random) -> list[Did]:
    """Return the causal-sends and deliveries of some services."""
    services = [f"s{number}" for number in range(draw.choice([2, 3, 4]))]
    groups = {name: ["x", "y"] if draw.random() < 0.2 else [""] for name in services}
    ties, disorder, batches = (
        draw.choice(few) for few in ((0, 0.3, 0.6), (0, 0.3, 1), (0, 0, 0.3))
    )
    did, now, flying, sent = list[Did](), 1, list[tuple[str, str, int]](), 0
    for _ in range(draw.choice([5, 8, 14, 30])):
        now += draw.random() >= ties
        service = draw.choice(services)
        if not flying or draw.random() < 0.45:
            earlier = [d for d in did if d.service == service and not d.sends]
            during = draw.choice(earlier[-2:]) if earlier and draw.random() < 0.5 else None
            group = during.group if during else ""
            did.append(Did(service, group, now, True, (sent,), during))
            flying += [(to, name, sent) for to in services for name in groups[to]]
            sent += 1
            continue
        at = draw.randrange(len(flying)) if draw.random() < disorder else 0
        to, group, message = flying[at] if draw.random() < 0.05 else flying.pop(at)
        messages = [message]
        while draw.random() < batches:
            more = [each for each in flying if each[:2] == (to, group) and each[2] not in messages]
            if more:
                flying.remove(more[0])
                messages.append(more[0][2])
        waiting = [each[2] for each in flying if each[:2] == (to, group)]
        lost = {each for each in waiting if draw.random() < batches} - {*messages}
        did.append(Did(to, group, now, False, tuple(messages), lost=tuple(lost)))
    if draw.random() < 0.1:
        # A clock went wrong. The judge does not know which spans are inside of others.
        draw.choice([each for each in did if each.during is None]).at = 1
    return did


def divided(did: Sequence[Did]) -> set[str]:
    """Return the services that get a message in two groups."""
    groups = defaultdict[tuple[str, int], set[str]](set)
    for each in did:
        for message in () if each.sends else (*each.messages, *each.lost):
            groups[each.service, message].add(each.group)
    return {service for (service, _), names in groups.items() if len(names) > 1}


def by_actors(did: Sequence[Did]) -> dict[str, list[list[Did]]]:
    """Return, per actor, what it did in the order of the times; each time has one list."""
    own, several = defaultdict[str, list[Did]](list), divided(did)
    for each in did:
        group = each.group if each.service in several else ""
        own[f"{each.service} in group {group}" if group else each.service].append(each)
    for row in own.values():
        row.sort(key=lambda each: each.at)
    return {
        actor: [[*same] for _, same in groupby(row, lambda each: each.at)]
        for actor, row in sorted(own.items())
    }


def orders_of(did: Sequence[Did]) -> int:
    """Return an upper bound of the number of orders, also within spans of several messages."""
    rows = [same for row in by_actors(did).values() for same in row]
    return orders_within(did) * prod(factorial(min(len(same), 9)) for same in rows)


def orders_within(did: Sequence[Did]) -> int:
    """Return the number of orders within the spans of several messages."""
    return prod(factorial(len(each.messages)) for each in did)


def orders(did: Sequence[Did]) -> Iterator[dict[str, list[Did]]]:
    """Yield all orders that are possible."""
    rows = by_actors(did)
    choices = [
        [
            order
            for order in permutations(same)
            if not any(comes_before(a, b) for at, b in enumerate(order) for a in order[at:])
        ]
        for row in rows.values()
        for same in row
    ]
    for chosen in product(*choices):
        rest = iter(chosen)
        yield {actor: [each for _ in row for each in next(rest)] for actor, row in rows.items()}


def comes_before(one: Did, other: Did) -> bool:
    """Return whether the other is part of the first, or delivers what the first sends."""
    return other.during is one or (
        one.sends and not other.sends and one.messages[0] in other.messages
    )


def wrong_in(own: dict[str, list[Did]], names: Sequence[str]) -> set[Wrong]:
    """Return the findings of one order of spans.

    The messages of a span arrive together. The judge takes them in every order. If some deliveries
    are impossible, the order decides which of them are left out; each choice is a result. Among the
    orders of one choice, the one with the fewest findings counts.
    """
    every = [each for row in own.values() for each in row]
    results = dict[Wrong, Wrong]()
    for inner in product(*(permutations(each.events(names)) for each in every)):
        events = iter(inner)
        log = {actor: [e for _ in row for e in next(events)] for actor, row in own.items()}
        result = frozenset((each.kind, each.actor, each.message) for each in naive(log))
        left_out = frozenset(each for each in result if each[0] == "impossible")
        results[left_out] = min(results.get(left_out, result), result, key=len)
    return {*results.values()}


# Writing


def identities(draw: random.Random, did: Sequence[Did]) -> list[str]:
    """Give all spans their ids, and return the names of the messages."""
    traces = [f"{number:032x}" for number in draw.sample(range(1, 1000), 3)]
    used = Counter[str]()
    for each in did:
        trace = each.during.key[0] if each.during else draw.choice(traces)
        used[trace] += 1
        each.key = trace, f"{used[trace]:016x}"
    producers = {each.messages[0]: each.key for each in did if each.sends}
    times = Counter(span for _, span in producers.values())
    return [
        span if times[span] == 1 else f"{span} of trace {trace}"
        for _, (trace, span) in sorted(producers.items())
    ]


def written(draw: random.Random, each: Did, did: Sequence[Did]) -> Iterator[str]:
    """Yield the lines of something that happened, and of spans about the same."""
    parent = each.during.key[1] if each.during else draw.choice(["", None])
    if each.sends:
        line = span(each.service, 4, each.at, each.key, parent, [])
        yield from [line] * draw.choice([1, 1, 1, 2])
        return
    sender_of = {d.messages[0]: d.key for d in did if d.sends}
    causes = [sender_of[message] for message in each.messages]
    lost = [sender_of[message] for message in each.lost]
    about = {"messaging.consumer.group.name": each.group} if each.group else {}
    got = Counter(m for d in did if d.service == each.service and not d.sends for m in d.messages)
    once = all(got[message] == 1 for message in each.messages)
    receiving = ["receive"] if once and not lost else []
    operation = draw.choice(["process", "deliver", *([] if lost else [""]), *receiving])
    about |= {"messaging.operation": operation} if operation else {}
    if operation == "receive":  # it waits for its messages
        start = max(1, each.at - draw.randrange(4))
        yield span(each.service, 5, start, each.key, parent, causes, each.at, about=about)
        return
    if len(causes) == 1 and causes[0][0] == each.key[0] and draw.random() < 0.5:
        yield span(each.service, 5, each.at, each.key, causes[0][1], [], about=about)
        causes_again = [("", ""), causes[0]]
    else:
        causes_again = [*causes, ("f" * 32, "f" * 16)] if draw.random() < 0.3 else causes
        yield span(each.service, 5, each.at, each.key, parent, causes_again, about=about)
    trace, own = each.key
    if lost or (operation and draw.random() < 0.3):  # the same delivery once more
        batch = draw.sample(causes_again + lost, len(causes_again + lost))
        receiving_about = about | {"messaging.operation": "receive"}
        at = max(1, each.at - draw.randrange(3))
        yield span(each.service, 5, at, (trace, f"a{own[1:]}"), None, batch, about=receiving_about)
    if draw.random() < 0.2:
        inner, at = (trace, f"b{own[1:]}"), each.at + draw.randrange(3)
        yield span(each.service, 5, at, inner, own, causes_again, about=about)
    if draw.random() < 0.2:
        settling = about | {"messaging.operation.type": "settle"}
        yield span(each.service, 5, each.at, (trace, f"c{own[1:]}"), None, causes, about=settling)


def noise(draw: random.Random, number: int) -> str:
    """Return a span that means nothing: of another kind, or without a known producer."""
    key, trace = f"e{number:015x}", f"{draw.choice([1, 2, 3]):032x}"
    parent, links = draw.choice([None, "", "f" * 16]), draw.choice([[], [("e" * 32, "1" * 16)]])
    return span("s0", draw.choice([1, 2, 3, 5]), 1 + number, (trace, key), parent, links)


def span(
    service: str,
    kind: int,
    at: int,
    key: tuple[str, str],
    parent: str | None,
    links: Sequence[tuple[str, str]],
    until: int | None = None,
    about: Mapping[str, str] | None = None,
) -> str:
    """Return the line of a span."""
    own: dict[str, Any] = {"traceId": key[0], "spanId": key[1], "kind": kind}
    own |= {"startTimeUnixNano": str(at), "endTimeUnixNano": str(until or at + 1)}
    own |= {} if parent is None else {"parentSpanId": parent}
    own["links"] = [{"traceId": trace, "spanId": linked} for trace, linked in links]
    own["attributes"] = [{"key": k, "value": {"stringValue": v}} for k, v in (about or {}).items()]
    name = [{"key": "service.name", "value": {"stringValue": service}}]
    resource = {"resource": {"attributes": name}, "scopeSpans": [{"spans": [own]}]}
    return json.dumps({"resourceSpans": [resource]})


# Comparing


def compare_spans(seed: str, folder: Path, tally: Counter[str]) -> list[str]:
    """Audit random spans, and compare the result with all possible orders of what happened."""
    case = drawn(seed)
    wrong = difference(case, tally)
    if wrong is None:
        return []
    folder.mkdir(parents=True, exist_ok=True)
    file = folder / f"spans-{seed.replace('/', '-')}.jsonl"
    file.write_text("\n".join(case.lines) + "\n", encoding="utf-8")
    return [f"{file} (seed {seed!r}): {wrong}"]


def difference(case: Case, tally: Counter[str]) -> str | None:
    """Return in words what is wrong with the audit of a case, or None."""
    every = [wrong_in(own, case.names) for own in orders(case.did)]
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "log"
        path.write_text("\n".join(case.lines) + "\n")
        try:
            found = audits.audit([str(path)])
        except AntecedeError as error:
            return f"the log is refused: {error}"
    said, shown = verdict(found), {(f.kind, f.actor, str(f.first)) for f in found.findings}
    tally[f"spans with all orders of tests/naive_audit.py: {said}"] += 1
    wrong = [any(results) for results in every]
    if len(every) == 1 and (said == UNDECIDED or shown not in every[0]):
        return f"{said}, {sorted(shown)}; the only possible order has {in_words(every[0])}"
    if said == HOLDS and any(wrong):
        return f"{said}; one of {len(every)} orders has {in_words(every[wrong.index(True)])}"
    if said == VIOLATED and not all(wrong):
        return f"{said}, {sorted(shown)}; one of {len(every)} orders has no violation"
    # A tie can also be ordered so that effects precede their causes, which cannot have happened.
    # If this is so in every order, an order also decides which delivery of two counts.
    in_each = [frozenset().union(*results) for results in every]
    possible = [each for each in in_each if all(kind != "impossible" for kind, *_ in each)]
    certain = frozenset.intersection(*(possible or in_each))
    unclear = {"impossible"} if possible else {"impossible", "integrity"}
    if strange := {each for each in shown - certain if each[0] not in unclear}:
        return f"{sorted(strange)} is not in all of {len(every)} orders"
    if said == UNDECIDED and len({*wrong}) == 1:
        tally[f"undecided although all orders are {'wrong' if wrong[0] else 'right'}"] += 1
    return None


def in_words(results: set[Wrong]) -> str:
    """Return the possible findings of an order, sorted."""
    return " or ".join(str(sorted(each)) for each in sorted(results, key=sorted))
