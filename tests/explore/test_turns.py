"""Requests of many tabs at one time."""

from __future__ import annotations

import socket
import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from antecede.checker.explore import server as serving_module
from antecede.checker.explore.server import HOST, Handler, Server
from antecede.checker.explore.site import Site
from tests.explored import fetch, post, serving, tree_of
from tests.models import deliver_the_first_copy, toy


def at_once(*requests: Callable[[], Any]) -> list[Any]:
    """Return the answers to requests that are sent at one time."""
    with ThreadPoolExecutor(len(requests)) as tabs:
        return [tab.result() for tab in [tabs.submit(request) for request in requests]]


class Receiver:
    """A handler that counts the calls under way; `most` is their greatest number."""

    def __init__(self) -> None:
        self.calls = self.most = 0

    def __call__(self, state: Any, src: int, packet: Any) -> Any:
        self.calls += 1
        self.most = max(self.most, self.calls)
        time.sleep(0.01)
        self.calls -= 1
        return deliver_the_first_copy(state, src, packet)


def test_one_tab_at_a_time_calls_handlers_and_expressions() -> None:
    """A handler may keep a cache, which its author did not protect from other threads."""
    receiver = Receiver()

    def receive(state: Any, src: int, packet: Any) -> Any:
        return receiver(state, src, packet)

    with serving(tree_of(toy("slow", receive=receive))) as server:
        answers = at_once(
            lambda: fetch(server, "/?path=0.1"),
            lambda: fetch(server, "/graph?path=0"),
            lambda: fetch(server, "/trace?path=0.1&format=svg"),
            lambda: post(server, "/search", "path=0"),
            lambda: post(server, "/walk", "path=1"),
            lambda: post(server, "/watch", "path=1.0&expression=state"),
        )
    assert [200] * 6 == [answer.status for answer in answers]
    assert 1 == receiver.most


def test_two_servers_of_one_program_take_turns_too() -> None:
    receiver = Receiver()

    def receive(state: Any, src: int, packet: Any) -> Any:
        return receiver(state, src, packet)

    protocol = toy("slow", receive=receive)
    with serving(tree_of(protocol)) as server, serving(tree_of(protocol)) as other:
        at_once(*(lambda each=each: fetch(each, "/?path=0.1") for each in (server, other)))
    assert 1 == receiver.most


def test_a_call_that_takes_long_holds_up_no_other_tab(monkeypatch: pytest.MonkeyPatch) -> None:
    hangs, called, returns = threading.Event(), threading.Event(), threading.Event()

    def receive(state: Any, src: int, packet: Any) -> Any:
        if hangs.is_set():
            called.set()
            returns.wait()
        return deliver_the_first_copy(state, src, packet)

    monkeypatch.setattr(serving_module, "HELD_UP", 0.1)
    monkeypatch.setattr(serving_module, "PATIENCE", 600.0)
    with serving(tree_of(toy("slow", receive=receive))) as server:
        hangs.set()
        last_resort = threading.Timer(60, returns.set)
        last_resort.start()
        with ThreadPoolExecutor(1) as tab:
            answer = tab.submit(fetch, server, "/?path=0")
            called.wait()
            hangs.clear()
            assert 200 == fetch(server, "/?path=1").status
            assert not returns.is_set()
            returns.set()
            assert 200 == answer.result().status
        last_resort.cancel()


def test_many_connections_can_wait_for_the_server() -> None:
    with Server(Site(tree_of("mfss")), 0) as server:  # which has not begun to answer
        waiting = [socket.create_connection((HOST, server.server_port), 0.5) for _ in range(40)]
        for each in waiting:
            each.close()


def test_a_request_whose_rest_does_not_come_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Handler, "timeout", 0.1)
    with serving(tree_of("mfss")) as server:
        own = server.origin
        host = own.removeprefix("http://")
        headers = (("Host", host), ("Origin", own), ("Content-Length", "9"))
        answer = fetch(server, "/search", method="POST", body="path=", headers=headers)
        assert 408 == answer.status
