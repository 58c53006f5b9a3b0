"""Write the spans of real OpenTelemetry instrumentations; the queue between the actors is a list.

Needs opentelemetry-sdk, opentelemetry-exporter-otlp-proto-common, and for each library its package
and its opentelemetry-instrumentation. Run `python tests/logs/spans/write.py` to write the files of
this folder again. No server is needed, because the parts of the libraries that speak with one are
replaced. The instrumentations and their spans are real.

The shop sends an order to the mail service, then the same order to billing. Billing processes it,
and sends an invoice to the mail service. In the run `ordered` the mail service gets the order
first; in the run `reordered` the queue hands out the invoice first.
"""

# mypy: ignore-errors

from __future__ import annotations

import asyncio
import base64
import json
import sys
from collections import deque
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import SimpleNamespace
from typing import Any

from google.protobuf.json_format import MessageToDict
from opentelemetry.exporter.otlp.proto.common.trace_encoder import encode_spans
from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor, SpanExporter, SpanExportResult

FOLDER = Path(__file__).parent
IDS = ("traceId", "spanId", "parentSpanId")


class Lines(SpanExporter):
    """Writes what the file exporter of a collector writes: a line of OTLP JSON per export."""

    def __init__(self, lines: list[str]) -> None:
        self.lines = lines

    def export(self, spans: Any) -> SpanExportResult:
        self.lines.append(json.dumps(hexadecimal(MessageToDict(encode_spans(spans)))))
        return SpanExportResult.SUCCESS


def hexadecimal(value: Any) -> Any:
    """Return OTLP JSON, whose ids are hexadecimal and whose enumerations are numbers."""
    if isinstance(value, list):
        return [hexadecimal(each) for each in value]
    if not isinstance(value, dict):
        return value
    kinds = {"SPAN_KIND_PRODUCER": 4, "SPAN_KIND_CONSUMER": 5, "SPAN_KIND_INTERNAL": 1}
    return {
        key: base64.b64decode(each).hex() if key in IDS
        else kinds[each] if key == "kind"
        else hexadecimal(each)
        for key, each in value.items()
    }  # fmt: skip


class Queues:
    """The queues of a broker: topic -> messages, and the number of messages so far."""

    def __init__(self, *, reorder: bool) -> None:
        self.reorder, self.queues, self.sent = reorder, {}, 0

    def put(self, topic: str, message: Any) -> int:
        self.queues.setdefault(topic, deque()).append(message)
        self.sent += 1
        return self.sent

    def get(self, topic: str) -> Any:
        queue = self.queues[topic]
        return queue.pop() if self.reorder else queue.popleft()


class Confluent:
    @contextmanager
    def at(self, provider: TracerProvider, queues: Queues) -> Iterator[None]:
        from opentelemetry.instrumentation.confluent_kafka import ConfluentKafkaInstrumentor as Real

        def produce(topic: str, value: bytes, headers: Any = None, **_more: Any) -> None:
            queues.put(topic, (value, headers))

        def poll(timeout: Any = -1) -> Any:
            value, headers = queues.get(self.topic)
            return SimpleNamespace(
                topic=lambda: self.topic,
                partition=lambda: 0,
                offset=lambda: int(value),
                headers=lambda: headers,
                value=lambda: value,
            )

        self.producer = Real.instrument_producer(SimpleNamespace(produce=produce), provider)
        consumer = SimpleNamespace(poll=poll, close=lambda: None)
        self.consumer = Real.instrument_consumer(consumer, provider)
        yield
        self.consumer.close()

    def send(self, topic: str, key: str) -> None:
        self.producer.produce(topic, key.encode())

    def receive(self, topic: str) -> str:
        self.topic = topic
        return self.consumer.poll(1).value().decode()


class Aio:
    @contextmanager
    def at(self, provider: TracerProvider, queues: Queues) -> Iterator[None]:
        import aiokafka
        from opentelemetry.instrumentation.aiokafka import AIOKafkaInstrumentor

        async def send(_self: Any, topic: str, value: Any, key: Any, headers: Any = None) -> None:
            queues.put(topic, (value, key, headers))

        async def getone(_self: Any) -> Any:
            value, key, headers = queues.get(self.topic)
            return SimpleNamespace(
                topic=self.topic, partition=0, offset=int(value), key=key, headers=headers
            )

        aiokafka.AIOKafkaProducer.send, aiokafka.AIOKafkaConsumer.getone = send, getone
        AIOKafkaInstrumentor().instrument(tracer_provider=provider)
        client = SimpleNamespace(_bootstrap_servers="broker:9092", _client_id="client")
        self.producer = aiokafka.AIOKafkaProducer.__new__(aiokafka.AIOKafkaProducer)
        self.producer.client, self.producer._closed = client, True
        self.consumer = aiokafka.AIOKafkaConsumer.__new__(aiokafka.AIOKafkaConsumer)
        self.consumer._client, self.consumer._group_id = client, "services"
        self.consumer._closed = True
        yield
        AIOKafkaInstrumentor().uninstrument()

    def send(self, topic: str, key: str) -> None:
        asyncio.run(self.producer.send(topic, key.encode(), key.encode()))

    def receive(self, topic: str) -> str:
        self.topic = topic
        return asyncio.run(self.consumer.getone()).key.decode()


class KafkaPython:
    @contextmanager
    def at(self, provider: TracerProvider, queues: Queues) -> Iterator[None]:
        import kafka
        from opentelemetry.instrumentation.kafka import KafkaInstrumentor

        def send(_self: Any, topic: str, value: Any, headers: Any = None) -> None:
            queues.put(topic, (value, headers))

        def take(_self: Any) -> Any:
            value, headers = queues.get(self.topic)
            return SimpleNamespace(topic=self.topic, partition=0, value=value, headers=headers)

        kafka.KafkaProducer.send, kafka.KafkaConsumer.__next__ = send, take
        KafkaInstrumentor().instrument(tracer_provider=provider)
        self.producer = kafka.KafkaProducer.__new__(kafka.KafkaProducer)
        self.consumer = kafka.KafkaConsumer.__new__(kafka.KafkaConsumer)
        for one in (self.producer, self.consumer):
            one.config, one._closed = {"bootstrap_servers": ["broker:9092"]}, True
        yield
        KafkaInstrumentor().uninstrument()

    def send(self, topic: str, key: str) -> None:
        self.producer.send(topic, key.encode())

    def receive(self, topic: str) -> str:
        self.topic = topic
        return next(self.consumer).value.decode()


class Pika:
    @contextmanager
    def at(self, provider: TracerProvider, queues: Queues) -> Iterator[None]:
        from opentelemetry.instrumentation.pika import PikaInstrumentor
        from pika.adapters.blocking_connection import BlockingChannel

        channel = BlockingChannel.__new__(BlockingChannel)
        params = SimpleNamespace(host="broker", port=5672)
        channel.__dict__["_connection"] = SimpleNamespace(params=params)
        channel._consumer_infos = {}
        channel._cleanup = lambda: None

        def publish(
            _exchange: str, to: str, body: bytes, properties: Any, _mandatory: bool
        ) -> None:
            queues.put(to, (body, properties))

        def consume(queue: str, on_message_callback: Any) -> None:
            callback = SimpleNamespace(on_message_callback=on_message_callback)
            channel._consumer_infos[queue] = callback

        channel.basic_publish, channel.basic_consume = publish, consume
        PikaInstrumentor.instrument_channel(channel, tracer_provider=provider)
        self.channel, self.queues = channel, queues
        yield

    def send(self, topic: str, key: str) -> None:
        self.channel.basic_publish("", topic, key.encode())

    def receive(self, topic: str, then: Any) -> None:
        self.channel.basic_consume(topic, lambda _channel, _method, _about, body: then(body))
        body, properties = self.queues.get(topic)
        method = SimpleNamespace(exchange="", routing_key=topic)
        self.channel._consumer_infos[topic].on_message_callback(
            self.channel, method, properties, body
        )


class Celery:
    """Tasks are traced by the real signals; the messages go through kombu's queues in memory."""

    @contextmanager
    def at(self, provider: TracerProvider, queues: Queues) -> Iterator[None]:
        import celery
        from celery.app.trace import build_tracer
        from opentelemetry.instrumentation.celery import CeleryInstrumentor

        CeleryInstrumentor().instrument(tracer_provider=provider)
        app = celery.Celery("shop", broker="memory://", backend=None, set_as_current=False)
        app.conf.task_ignore_result = True
        self.app, self.queues, self.build_tracer = app, queues, build_tracer
        yield
        CeleryInstrumentor().uninstrument()

    def send(self, topic: str, key: str) -> None:
        task = self._task(topic, lambda _key: None)
        task.apply_async((key,), queue=topic)
        with self.app.connection_for_read() as connection:
            message = connection.SimpleQueue(topic).get(timeout=1)
            message.ack()
        self.queues.put(topic, message)

    def _task(self, topic: str, then: Any) -> Any:
        def run(key: str) -> None:
            then(key)

        return self.app.task(run, name=topic)

    def receive(self, topic: str, then: Any) -> None:
        from celery.worker.request import Request

        message = self.queues.get(topic)
        task = self._task(topic, then)
        request = Request(message, app=self.app, task=task, decoded=False)
        args, kwargs, _ = request._payload
        about = {**request.request_dict, "args": args, "kwargs": kwargs, "hostname": "worker"}
        tracer = self.build_tracer(topic, task, app=self.app, eager=False)
        tracer(request.id, args, kwargs, about)


LIBRARIES = {
    "confluent-kafka": Confluent,
    "aiokafka": Aio,
    "kafka-python": KafkaPython,
    "pika": Pika,
    "celery": Celery,
}


def spans_of(library: Any, *, reorder: bool) -> list[str]:
    """Run the shop, billing and the mail service; return the lines of their spans."""
    lines: list[str] = []
    queues = Queues(reorder=reorder)

    @contextmanager
    def actor(name: str) -> Iterator[Any]:
        about = {"service.name": name, "service.instance.id": f"{name}-1"}
        provider = TracerProvider(resource=Resource(about))
        provider.add_span_processor(SimpleSpanProcessor(Lines(lines)))
        part = library()
        with part.at(provider, queues):
            yield part

    def process(part: Any, topic: str, then: Any) -> None:
        if isinstance(part, Pika | Celery):
            part.receive(topic, then)
        else:
            then(part.receive(topic))

    with actor("shop") as shop:
        shop.send("mail", "1")
        shop.send("billing", "2")
    with actor("billing") as billing:
        process(billing, "billing", lambda _body: billing.send("mail", "3"))
    with actor("mail") as mail:
        for _ in range(2):
            process(mail, "mail", lambda _body: None)
    return lines


def main(names: list[str]) -> None:
    for name in names or LIBRARIES:
        for run, reorder in (("ordered", False), ("reordered", True)):
            lines = spans_of(LIBRARIES[name], reorder=reorder)
            (FOLDER / f"{name}-{run}.jsonl").write_text("\n".join(lines) + "\n")
            print(name, run, len(lines), "spans")


if __name__ == "__main__":
    main(sys.argv[1:])
