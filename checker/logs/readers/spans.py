"""Logs of OpenTelemetry: spans of kind producer and consumer, as JSON of OTLP, Jaeger or Zipkin.

A producer span is a causal-send. A consumer span is the delivery of the messages of the producer
spans that it links to; without such a link, of its parent. A link or parent counts only if it names
a producer span of the logs. The identity of a span is its trace id and its span id, because span
ids are unique within one trace only.

An actor is a resource: its `service.name`, with its `service.namespace` and `service.instance.id`
if it has them, or other attributes that the user names. If an actor delivers one message in several
consumer groups, each group is an actor. The name of a message is the name of its producer span,
with the destination and the key of the message, and the id of the span.

Spans may be in any order. A causal-send happens at the start of its span. So does a delivery,
except that a receiving call hands over its messages at its end, or before the first span of its
actor inside it. Spans of an actor with equal times have no known order, except that a span comes
before the spans inside it; see `moments`. Spans do not name destinations, so an audit cannot report
messages that never arrived.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import groupby
from typing import Any

from attrs import define, field, frozen

from antecede.checker.logs.events.event import DELIVER, SEND, Event
from antecede.checker.logs.events.moments import Moments, Step
from antecede.checker.logs.readers.nesting import Nesting, in_known_order
from antecede.checker.logs.readers.records import NoEvent
from antecede.checker.logs.readers.sources import Source
from antecede.checker.logs.readers.span_formats import Located, OtherSignal, documents, spans_in
from antecede.checker.support.errors import InputError

PRODUCER = (4, "SPAN_KIND_PRODUCER", "PRODUCER")
CONSUMER = (5, "SPAN_KIND_CONSUMER", "CONSUMER")

Key = tuple[str, str]
"""The identity of a span: its trace id and its span id."""

GROUPS = (
    "messaging.consumer.group.name",
    "messaging.destination.subscription.name",
    "messaging.kafka.consumer.group",
    "messaging.rocketmq.client_group",
    "messaging.eventhubs.consumer.group",
    "messaging.servicebus.destination.subscription_name",
)
"""The attributes that name a consumer group, in the versions of the conventions."""

KEYS = (
    "messaging.kafka.message.key",
    "messaging.kafka.message_key",
    "messaging.rabbitmq.message.key",
)
"""The attributes that name a message's key."""

APART = (
    "k8s.pod.name",
    "container.id",
    "host.name",
    "host.id",
    "host.ip",
    "process.pid",
    "messaging.client.id",
    "messaging.client_id",
)
"""Attributes whose values differ between the instances of a service."""

SHORT = 8
"""The number of digits of a span id in the name of a message, if they identify the span."""

OPERATIONS = ("messaging.operation.type", "messaging.operation", "messaging.operation.name")

COPIES = (
    ("messaging.message.id", "messaging.message_id"),
    ("messaging.destination.name", "messaging.destination"),
    ("messaging.destination.partition.id", "messaging.kafka.partition"),
    ("messaging.kafka.offset", "messaging.kafka.message.offset"),
)
"""Attributes that differ between two messages of one producer span, in their variants."""

NOT_MESSAGING = "{spans} of other kinds than producer and consumer"
OTHER_SIGNAL = "{documents} with logs or metrics of OpenTelemetry"
EXPORTED_AGAIN = "{spans} with the trace id and span id of another span"
SETTLES = "{spans} that settle a message, which is no delivery"
UNKNOWN = "{spans} of consumers that link to no producer span of the logs, and have no such parent"
SAME_DELIVERY = "{spans} of consumers about a delivery that another span stands for"
DIVIDED = "the order between the consumer groups of {actor}, which count as several actors"
PARTLY = (
    "{spans} of consumers that receive several messages of which only some have a span that "
    "processes them; the time of the other deliveries is not known"
)
OTHER_COPY = "{spans} of consumers about another message of the same producer span"


@frozen(eq=False)
class Span:
    """A producer or consumer span.

    Attributes:
        actor: the name of its resource.
        causes: the spans that it links to.
        sends: it is a producer span.
        start: when it begins, in nanoseconds.
        time: when it sends or delivers, in nanoseconds.
        operation: what it does, such as `receive`, or an empty text.
        copy: the values of COPIES.
        batch: a producer span that says that it sends several messages.
        label: its name, with the destination and the key of its message.
    """

    log: str
    line: int
    actor: str
    key: Key
    causes: tuple[Key, ...]
    sends: bool
    start: int
    time: int
    operation: str
    copy: tuple[str | None, ...]
    batch: bool
    label: str


@define(eq=False)
class Spans:
    """The spans of all logs, because a producer and its consumers may be in different logs.

    Attributes:
        by: the attributes that name an actor; none: those of its service.
        parents: the parent of each span, of any kind.
        groups: the consumer group of each span that names one; `grouped` has that of spans inside.
        nesting: which spans are inside of others.
        found: the producer and consumer spans.
        left_out: reason -> number of spans.
        unnamed: actors without `service.instance.id`.
        divided: actors of which each consumer group is an actor.
        apart: actor and attribute of APART -> its values.
        lacking: attribute of `by` -> the number of spans that lack it.
    """

    by: tuple[str, ...] = ()
    parents: dict[Key, Key] = field(factory=dict)
    groups: dict[Key, str] = field(factory=dict)
    grouped: dict[Key, str] = field(factory=dict)
    nesting: Nesting[Key] = field(factory=lambda: Nesting({}))
    found: dict[Key, Span] = field(factory=dict)
    left_out: Counter[str] = field(factory=Counter)
    unnamed: set[str] = field(factory=set)
    divided: set[str] = field(factory=set)
    apart: dict[tuple[str, str], set[str]] = field(factory=lambda: defaultdict(set))
    lacking: Counter[str] = field(factory=Counter)

    def read(self, source: Source) -> int:
        """Read a log; return the number of spans, or 0 if no span sends or receives a message.

        Raises:
            InputError: a span lacks a field; the message names it.
        """
        read, before = 0, self.left_out[EXPORTED_AGAIN] + len(self.found)
        for starts, first, value in documents(source):
            last: Mapping[str, Any] | None = None
            resource: Mapping[str, str] = {}
            try:
                for about, span in spans_in(value):
                    if about is not last:  # all spans of a resource have one
                        last, resource = about, _values(about.get("attributes"))
                    at = span.at if isinstance(span, Located) else 0
                    number = first + max(bisect_right(starts, at) - 1, 0)
                    self._take(source.name, number, resource, dict(span))
                    read += 1
            except OtherSignal:
                self.left_out[OTHER_SIGNAL] += 1
            except NoEvent as error:
                source.note_foreign(first, str(error))
            except (KeyError, TypeError, AttributeError, ValueError):
                raise InputError(
                    f"{source.name}, line {first}: no OTLP JSON, which is an object with "
                    "resourceSpans, scopeSpans and spans; and no JSON of Jaeger or Zipkin"
                ) from None
        return read if self.left_out[EXPORTED_AGAIN] + len(self.found) > before else 0

    def _actor_of(self, resource: Mapping[str, str], about: Mapping[str, str]) -> str:
        """Return the actor of a span, given the attributes of its resource and its own."""
        named = {name: about.get(name) or resource.get(name) for name in self.by}
        if named and all(named.values()):
            return "/".join(map(str, named.values()))
        self.lacking.update(name for name, value in named.items() if not value)
        name = resource.get("service.name") or "unknown"
        space, instance = resource.get("service.namespace"), resource.get("service.instance.id")
        actor = (f"{space}." if space else "") + name + (f"/{instance}" if instance else "")
        if not instance:
            self.unnamed.add(actor)
        return actor

    def _take(
        self, log: str, line: int, resource: Mapping[str, str], given: Mapping[str, Any]
    ) -> None:
        """Read a span."""
        where = f"{log}, line {line}"
        try:
            messaging = given.get("kind") in (*PRODUCER, *CONSUMER)
            ids = given if messaging else {"traceId": "", "spanId": "", **given}
            key = _id(ids["traceId"] or ""), _id(ids["spanId"] or "")
            about = _values(given.get("attributes"))
            actor = self._actor_of(resource, about) if messaging else ""
            span = _span(log, line, actor, key, given, about) if messaging else None
            parent = _id(given.get("parentSpanId") or "")
        except (KeyError, TypeError, AttributeError, ValueError) as error:
            raise InputError(
                f"{where}: a span lacks {error}; a producer or consumer span has texts as trace id "
                "and span id, and a start time above 0 in whole nanoseconds (Jaeger and Zipkin: "
                "microseconds)"
            ) from None
        if span is not None:
            self._tell_apart(span, resource, about)
        if parent:
            self.parents[key] = key[0], parent
        if group := _first(about, GROUPS):
            self.groups[key] = group
        if span is None:
            self.left_out[NOT_MESSAGING] += 1
        elif (other := self.found.setdefault(key, span)) is not span:
            self.left_out[EXPORTED_AGAIN] += 1
            if (other.actor, other.sends, other.time) != (span.actor, span.sends, span.time):
                raise InputError(
                    f"{where}: a span has the trace id and span id of another span, in line "
                    f"{other.line} of {other.log}; give each span ids of its own"
                )

    def _tell_apart(
        self, span: Span, resource: Mapping[str, str], about: Mapping[str, str]
    ) -> None:
        """Remember what may tell instances apart; a producer and a consumer are two clients."""
        for name in APART:
            if value := resource.get(name) or (None if span.sends else about.get(name)):
                self.apart[span.actor, name].add(value)

    def moments(self) -> Moments:
        """Return the causal-sends and deliveries; to be called after all logs were read."""
        self.nesting = Nesting(self.parents, [*self.found, *self.groups])
        delivered = self._delivered()
        self._divide(delivered)
        kept = self._once(delivered)
        names = self._names()
        steps = defaultdict[str, list[tuple[int, Key, Step]]](list)
        times = self._times(kept)
        for key, span in self.found.items():
            causes = (key,) if span.sends else kept.get(key, ())
            actor, kind = self._actor(span), SEND if span.sends else DELIVER
            events = [
                Event(span.line, actor, kind, names[each], log=span.log) for each in sorted(causes)
            ]
            if events:
                steps[actor].append((times[key], key, Step(tuple(events))))
        return Moments(
            {actor: [*self._moments(steps[actor], kept)] for actor in sorted(steps)},
            tuple(sorted(self.left_out.items())),
            frozenset(self.unnamed & {span.actor for span in self.found.values()}),
            frozenset(self.divided),
            tuple(
                (*pair, tuple(sorted(v))) for pair, v in sorted(self.apart.items()) if len(v) > 1
            ),
            tuple(self.lacking.items()),
        )

    def _times(self, kept: Mapping[Key, Sequence[Key]]) -> dict[Key, int]:
        """Return when each span sends or delivers: not after the spans of its actor inside it."""
        times = {key: span.time for key, span in self.found.items()}
        inside = defaultdict[str, dict[Key, int]](dict)
        # A span that begins before the one around it has a wrong clock, and does not count.
        around = defaultdict[str, dict[Key, int]](dict)
        for key, span in self.found.items():
            if span.sends or key in kept:
                inside[span.actor][key] = span.time
            if span.time > span.start:
                around[span.actor][key] = span.start
        for actor, asked in around.items():
            for key, first in self.nesting.first_inside(inside[actor], asked):
                times[key] = int(min(times[key], first))
        return times

    def _delivered(self) -> dict[Key, list[Key]]:
        """Return consumer span -> the producer spans whose messages it is about."""
        delivered = dict[Key, list[Key]]()
        for key, span in self.found.items():
            if span.sends:
                continue
            if span.operation in ("settle", "ack", "nack"):
                self.left_out[SETTLES] += 1
                continue
            linked = [cause for cause in span.causes if self._is_producer(cause)]
            parent = self.parents.get(key)
            if not linked and parent is not None and self._is_producer(parent):
                linked = [parent]
            if linked:
                delivered[key] = [*dict.fromkeys(linked)]
            else:
                self.left_out[UNKNOWN] += 1
        return delivered

    def _is_producer(self, key: Key) -> bool:
        return key in self.found and self.found[key].sends

    def _groups_of_spans(self) -> dict[Key, str]:
        """Return the group of each span, or of the nearest of its actor that it is inside of."""
        if not self.groups:
            return {}
        named = dict(self.groups)
        for key, above in self.nesting.nearest({*self.found, *self.groups}).items():
            if key in named or above not in named:
                continue
            if above not in self.found or self.found[above].actor == self.found[key].actor:
                named[key] = named[above]
        return named

    def _actor(self, span: Span) -> str:
        group = self.grouped.get(span.key) if span.actor in self.divided else None
        return f"{span.actor} in group {group}" if group else span.actor

    def _divide(self, delivered: Mapping[Key, list[Key]]) -> None:
        """Find the actors that deliver a message in several consumer groups."""
        self.grouped = self._groups_of_spans()
        groups = defaultdict[tuple[str, Key], set[str]](set)
        for key, causes in delivered.items():
            if group := self.grouped.get(key):
                for cause in causes:
                    groups[self.found[key].actor, cause].add(group)
        self.divided = {actor for (actor, _), names in groups.items() if len(names) > 1}

    def _once(self, delivered: Mapping[Key, list[Key]]) -> dict[Key, list[Key]]:
        """Return the deliveries without spans that are about a delivery of another span."""
        about = defaultdict[tuple[str, Key], list[Span]](list)
        for key, causes in delivered.items():
            for cause in causes:
                about[self._actor(self.found[key]), cause].append(self.found[key])
        kept, reasons = defaultdict[Key, list[Key]](list), dict[Key, str]()
        handing_over = _handing_over(about.values())
        for (_, cause), spans in about.items():
            processing = [span for span in spans if span.key not in handing_over]
            if not processing:
                reasons |= {span.key: PARTLY for span in spans}
                continue
            around = self.nesting.nearest([span.key for span in processing])
            outer = [span for span in processing if around[span.key] is None]
            first, *more = sorted(outer, key=lambda span: (span.time, span.key))
            again = [span for span in more if not self._differ(cause, first, span)]
            reasons |= {span.key: OTHER_COPY for span in more}
            for span in (first, *again):
                kept[span.key].append(cause)
        for key in delivered.keys() - kept.keys():
            self.left_out[reasons.get(key, SAME_DELIVERY)] += 1
        return kept

    def _differ(self, cause: Key, one: Span, other: Span) -> bool:
        """Return whether two spans may be about different messages of one producer span."""
        pairs = zip(one.copy, other.copy, strict=True)
        return self.found[cause].batch or any(a and b and a != b for a, b in pairs)

    def _names(self) -> dict[Key, str]:
        """Return the names of messages, with the ids of their spans, which are cut if possible."""
        producers = [span for span in self.found.values() if span.sends]
        ids = Counter(span.key[1] for span in producers)
        starts = Counter(own[:SHORT] for own in ids)
        names = dict[Key, str]()
        for span in producers:
            trace, own = span.key
            unique = own if ids[own] == 1 else f"{own} of trace {trace}"
            if span.label:
                cut = own[:SHORT] if ids[own] == starts[own[:SHORT]] == 1 else unique
                unique = f"{span.label} [{cut}]"
            names[span.key] = unique
        return names

    def _moments(
        self, steps: list[tuple[int, Key, Step]], causes: Mapping[Key, Sequence[Key]]
    ) -> Iterator[list[Step]]:
        """Yield the steps of an actor in order; steps of unknown order are in one list.

        A span comes after the spans that it is inside of, and after the causes that it delivers.
        """
        steps.sort(key=lambda each: each[:2])
        for _, same in groupby(steps, lambda each: each[0]):
            tied = {key: step for _, key, step in same}
            if len(tied) == 1:
                yield [*tied.values()]
                continue
            around = self.nesting.nearest(tied)
            before = {key: tied.keys() & {around[key], *causes.get(key, ())} for key in tied}
            for keys in in_known_order(before):
                yield [tied[key] for key in keys]


def _handing_over(deliveries: Iterable[Sequence[Span]]) -> set[Key]:
    """Return the receiving spans that deliver nothing, because their messages are processed later.

    One message with a processing span is enough: it shows that the span delivers no message.

    Args:
        deliveries: the spans about each message at an actor.
    """
    handing_over = set[Key]()
    for spans in deliveries:
        receiving = {span.key for span in spans if span.operation == "receive"}
        if len(receiving) < len(spans):
            handing_over |= receiving
    return handing_over


def _values(attributes: Any) -> dict[str, str]:
    """Return attributes with texts, numbers or Booleans as texts."""
    values = dict[str, str]()
    for attribute in _objects(attributes, "attributes"):
        (given,) = _objects([attribute.get("value") or {}], "values of attributes")
        for value in given.values():
            if isinstance(value, str | int):
                values[_text(attribute.get("key"), "key of an attribute")] = str(value)
    return values


def _objects(value: Any, name: str) -> list[dict[str, Any]]:
    """Return a list of objects, which is empty if there is none."""
    if not isinstance(value or [], list) or not all(isinstance(one, dict) for one in value or []):
        raise TypeError(f"a list of objects as {name}")
    return value or []


def _text(value: Any, name: str) -> str:
    if not isinstance(value, str):
        raise TypeError(f"a text as {name}")
    return value


def _span(
    log: str, line: int, actor: str, key: Key, given: Mapping[str, Any], about: Mapping[str, str]
) -> Span:
    """Return a producer or consumer span; `about` are its attributes."""
    sends, operation = given["kind"] in PRODUCER, (_first(about, OPERATIONS) or "").lower()
    received = not sends and operation == "receive" and given.get("endTimeUnixNano")
    links = [each for each in _objects(given.get("links"), "links") if each.get("spanId")]
    return Span(
        log,
        line,
        actor,
        key,
        tuple((_id(link.get("traceId") or ""), _id(link["spanId"])) for link in links),
        sends,
        _time(given, "startTimeUnixNano"),
        _time(given, "endTimeUnixNano" if received else "startTimeUnixNano"),
        operation,
        tuple(_first(about, names) for names in COPIES),
        about.get("messaging.batch.message_count") not in (None, "1"),
        _label(given.get("name"), about),
    )


def _label(name: Any, about: Mapping[str, str]) -> str:
    """Return the name of a span, with the destination and the key of its message."""
    label = name if isinstance(name, str) else ""
    to, key = _first(about, COPIES[1]), _first(about, KEYS)
    label += f" to {to}" if label and to and to not in label else ""
    return label + (f", key {key}" if label and key else "")


def _first(about: Mapping[str, str], names: Sequence[str]) -> str | None:
    """Return the first of some attributes that a span has."""
    return next((about[name] for name in names if about.get(name)), None)


def _id(value: Any) -> str:
    """Return an id; hexadecimal digits count alike in both cases."""
    text = _text(value, "id")
    return text.lower() if _HEXADECIMAL.fullmatch(text) else text


_HEXADECIMAL = re.compile("[0-9a-fA-F]*")


def _time(span: Mapping[str, Any], name: str) -> int:
    value = span[name]
    text = str(value) if isinstance(value, str | int) else ""
    if not (text.isascii() and text.isdecimal() and len(text) < 20 and int(text)):
        raise ValueError(f"a {name} (it has {value!r})")
    return int(text)
