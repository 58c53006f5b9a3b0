"""Logs recorded from real programs, over real sockets of this machine."""

from __future__ import annotations

import asyncio
import json
import multiprocessing
import os
import random
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from antecede.checker.support.errors import InputError
from antecede.testing.recorder import Recorder
from tests.conftest import on_unix
from tests.logs.test_audit import audit

NAMES = ("alice", "bob", "carol")


async def chat(log: Recorder, seed: int, *, delay: float) -> None:
    """Three tasks tell each other things over TCP; every message has a connection of its own.

    Whoever delivers a message sends the next one; what is told may wait up to `delay` seconds
    before its connection is made, so that with a delay messages overtake each other.
    """
    draw, left, idle = random.Random(seed), [24], asyncio.Event()
    servers: dict[str, asyncio.Server] = {}
    actors = {name: log.actor(name) for name in NAMES}
    waiting: set[asyncio.Task[None]] = set()

    def tell(sender: str) -> None:
        if left[0]:
            left[0] -= 1
            to = draw.choice([name for name in NAMES if name != sender])
            name, pause = f"{sender}-{left[0]}", draw.random() * delay
            actors[sender].causal_send(name, to=[to])
            task = asyncio.create_task(transmit(name, to, pause))
            waiting.add(task)

    async def transmit(message: str, to: str, pause: float) -> None:
        await asyncio.sleep(pause)
        port = servers[to].sockets[0].getsockname()[1]
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        writer.write(message.encode() + b"\n")
        await reader.read()  # until it was delivered
        writer.close()
        task = asyncio.current_task()
        assert task is not None
        waiting.discard(task)
        if not waiting:
            idle.set()

    async def serve(name: str) -> asyncio.Server:
        async def got(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            actors[name].deliver((await reader.readline()).decode().strip())
            tell(name)
            tell(name)
            writer.close()

        return await asyncio.start_server(got, "127.0.0.1", 0)

    for name in NAMES:
        servers[name] = await serve(name)
    tell("alice")
    await asyncio.wait_for(idle.wait(), 60)
    for server in servers.values():
        server.close()


def test_messages_over_tcp_that_overtake_each_other_are_found(tmp_path: Path) -> None:
    with Recorder(tmp_path / "run.jsonl") as log:
        asyncio.run(chat(log, seed=1, delay=0.05))
    found = audit(tmp_path / "run.jsonl")
    assert (3, 24, 24, 0) == (found.actors, found.causal_sends, found.deliveries, found.open)
    assert {"causal-delivery"} == {finding.kind for finding in found.findings}


def relay(port: int, ready: threading.Event, log: Recorder) -> None:
    """Bob: gets a message of alice and sends one to carol, over zmq."""
    zmq = pytest.importorskip("zmq")
    context = zmq.Context.instance()
    with context.socket(zmq.PULL) as come, context.socket(zmq.PUSH) as go:
        come.bind(f"tcp://127.0.0.1:{port + 1}")
        go.connect(f"tcp://127.0.0.1:{port}")
        ready.set()
        bob = log.actor("bob")
        bob.deliver(come.recv_string())
        bob.causal_send("m3", to=["carol"])
        go.send_string("m3")


@pytest.mark.parametrize("slow", [True, False])
def test_threads_over_zmq_are_recorded(slow: bool, tmp_path: Path) -> None:
    """Alice tells Carol directly, and by way of Bob; the direct way may be the slow one."""
    zmq = pytest.importorskip("zmq")
    context, port = zmq.Context.instance(), 20_000 + random.SystemRandom().randrange(20_000)
    ready = threading.Event()
    with (
        Recorder(tmp_path / "run.jsonl") as log,
        context.socket(zmq.PULL) as carols,
        context.socket(zmq.PUSH) as to_carol,
        context.socket(zmq.PUSH) as to_bob,
    ):
        carols.bind(f"tcp://127.0.0.1:{port}")
        thread = threading.Thread(target=relay, args=(port, ready, log))
        thread.start()
        assert ready.wait(600)
        to_carol.connect(f"tcp://127.0.0.1:{port}")
        to_bob.connect(f"tcp://127.0.0.1:{port + 1}")
        alice, carol = log.actor("alice"), log.actor("carol")
        alice.causal_send("m1", to=["carol"])
        if not slow:
            to_carol.send_string("m1")
            carol.deliver(carols.recv_string())
        alice.causal_send("m2", to=["bob"])
        to_bob.send_string("m2")
        carol.deliver(carols.recv_string())
        if slow:
            to_carol.send_string("m1")
            carol.deliver(carols.recv_string())
        thread.join()
    chains = [finding.chain for finding in audit(tmp_path / "run.jsonl").findings]
    assert [("m1", "m2", "m3")] * slow == chains


def many(path: Path, name: str) -> None:
    """Send and deliver a thousand messages to oneself."""
    with Recorder(path) as log:
        actor = log.actor(name)
        for at in range(1000):
            actor.causal_send(f"{name}-{at}", to=[name])
            actor.deliver(f"{name}-{at}")


@pytest.mark.integration
def test_processes_may_write_to_one_log(tmp_path: Path) -> None:
    path, context = tmp_path / "run.jsonl", multiprocessing.get_context("spawn")
    processes = [context.Process(target=many, args=(path, f"p{n}")) for n in range(2)]
    for process in processes:
        process.start()
    for process in processes:
        process.join()
    found = audit(path)
    assert (2, 2000, 2000) == (found.actors, found.causal_sends, found.deliveries)
    assert not found.findings


def test_what_is_recorded_is_a_line_per_event(tmp_path: Path) -> None:
    with Recorder(tmp_path / "run.jsonl") as log:
        log.actor("a").causal_send(1)
        log.actor("b").deliver(1)
    lines = (tmp_path / "run.jsonl").read_text().splitlines()
    assert [
        {"actor": "a", "event": "causal-send", "message": 1},
        {"actor": "b", "event": "deliver", "message": 1},
    ] == [json.loads(line) for line in lines]
    with pytest.raises(InputError, match="cannot write"):
        Recorder(tmp_path / "none" / "run.jsonl")


def test_a_closed_recorder_writes_into_no_file_that_has_its_descriptor_now(tmp_path: Path) -> None:
    log = Recorder(tmp_path / "run.jsonl")
    actor = log.actor("a")
    log.close()
    with (tmp_path / "other").open("wb", buffering=0) as other:
        with pytest.raises(InputError, match=r"run\.jsonl is closed"):
            actor.deliver("m1")
        log.close()  # it is closed once
        other.write(b"mine")
    assert b"mine" == (tmp_path / "other").read_bytes()


@pytest.mark.parametrize(
    ("record", "said"),
    [
        (lambda log: log.actor(None), "actor None is no name"),
        (lambda log: log.actor(b"a"), "actor b'a' is no name"),
        (lambda log: log.actor("a").deliver(1.5), "message 1.5 is no name"),
        (lambda log: log.actor("a").deliver(True), "message True is no name"),
        (lambda log: log.actor("a").deliver(10**5000), "give shorter numbers"),
        (lambda log: log.actor("a").causal_send("m", to="bob"), "the destinations are 'bob'"),
        (lambda log: log.actor("a").causal_send("m", to=b"bob"), "the destinations are b'bob'"),
        (lambda log: log.actor("a").causal_send("m", to=3), "the destinations are 3"),
        (lambda log: log.actor("a").causal_send("m", to=[None]), "destination None is no name"),
        (lambda log: log.write("a", "delivr", "m"), "did you mean 'deliver'"),
    ],
)
def test_what_an_audit_cannot_read_is_not_recorded(
    record: Callable[[Recorder], None], said: str, tmp_path: Path
) -> None:
    with Recorder(tmp_path / "run.jsonl") as log, pytest.raises(InputError, match=said):
        record(log)
    assert b"" == (tmp_path / "run.jsonl").read_bytes()


@pytest.mark.parametrize("path", [3, None, "a\0b", "."])
def test_what_is_no_file_is_refused(path: Any) -> None:
    with pytest.raises(InputError, match="cannot write to"):
        Recorder(path)


def test_the_first_event_begins_a_line_of_its_own_behind_a_torn_one(tmp_path: Path) -> None:
    (tmp_path / "run.jsonl").write_text('{"actor": "alice", "ev')
    for _ in range(2):
        with Recorder(tmp_path / "run.jsonl") as log:
            log.actor("bob").causal_send("m1")
    lines = (tmp_path / "run.jsonl").read_text().splitlines()
    assert 3 == len(lines)
    assert lines[1] == lines[2]


def test_after_a_full_disk_the_next_event_begins_a_line_of_its_own(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write = os.write
    with Recorder(tmp_path / "run.jsonl") as log:
        actor = log.actor("a")
        monkeypatch.setattr(os, "write", lambda file, line: write(file, line[:20]))
        with pytest.raises(OSError, match="in part only"):
            actor.causal_send("m1")
        monkeypatch.setattr(os, "write", write)
        actor.causal_send("m2")
    torn, whole = (tmp_path / "run.jsonl").read_text().splitlines()
    assert 20 == len(torn)
    assert "m2" == json.loads(whole)["message"]


@pytest.mark.integration
@on_unix
def test_a_forked_process_records_while_its_parent_writes(tmp_path: Path) -> None:
    path = tmp_path / "run.jsonl"
    with Recorder(path) as log:
        done = threading.Event()

        def keep_writing() -> None:
            while not done.is_set():
                log.actor("parent").causal_send("m")

        thread = threading.Thread(target=keep_writing)
        thread.start()
        for number in range(20):
            child = os.fork()
            if child == 0:
                log.actor("child").causal_send(f"c{number}")
                os._exit(0)
            assert 0 == os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
        done.set()
        thread.join()
    events = [json.loads(line) for line in path.read_text().splitlines()]
    assert 20 == sum(event["actor"] == "child" for event in events)
