"""A client of the SDK drives `antecede mcp` as a process, as an agent does."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from antecede.checker.support import extras
from tests.conftest import COMMAND, ROOT, Command, children_of, in_a_process, is_alive
from tests.support.test_interrupts import until

BROKEN = """\
from attrs import evolve, frozen

from antecede import Protocol, Step
from antecede.protocols.unordered import UNORDERED

CHAT = evolve(UNORDERED, name="chat")
"""

REPAIRED = BROKEN.replace("CHAT = evolve(UNORDERED", "CHAT = evolve(MFSS").replace(
    "unordered import UNORDERED", "mfss import MFSS"
)


@pytest.mark.integration
def test_an_agent_checks_a_protocol_and_replays_its_run_after_a_repair(tmp_path: Path) -> None:
    pytest.importorskip("mcp")
    import anyio

    anyio.run(_check_repair_and_replay, tmp_path)


async def _check_repair_and_replay(folder: Path) -> None:
    from mcp import ClientSession, StdioServerParameters
    from mcp.client.stdio import stdio_client

    environment = {**os.environ, "PYTHONPATH": os.fspath(ROOT / "src")}
    command = StdioServerParameters(
        command=sys.executable, args=["-m", "antecede", "mcp"], env=environment, cwd=folder
    )
    (folder / "chat.py").write_text(BROKEN, encoding="utf-8")
    async with stdio_client(command) as streams, ClientSession(*streams) as session:
        await session.initialize()
        listed = await session.list_tools()
        assert {"list", "validate", "check", "replay", "explain"} == {t.name for t in listed.tools}

        answer, failed = await _answer(session, "check", target="chat.py:CHAT", actors=2)
        assert not failed
        assert answer.startswith("VIOLATED: causal-delivery\nchat.py:CHAT: 2 actors")
        assert "  4. " in answer
        trace = answer.partition("Trace: ")[2].splitlines()[0]

        answer, failed = await _answer(session, "replay", trace=trace)
        assert failed
        assert "chat.py:CHAT" in answer
        answer, failed = await _answer(session, "replay", trace=trace, protocol="chat.py:CHAT")
        assert not failed
        assert answer.startswith("STILL VIOLATED")

        (folder / "chat.py").write_text(REPAIRED, encoding="utf-8")
        answer, failed = await _answer(session, "replay", trace=trace, protocol="chat.py:CHAT")
        assert failed
        assert "does not fit" in answer
        answer, failed = await _answer(session, "check", target="chat.py:CHAT", actors=2)
        assert not failed
        assert answer.startswith("HOLDS")
        answer, failed = await _answer(session, "check", target="chat.py", actors=0)
        assert (True, "Error: actors is 0; give at least 2") == (failed, answer)
    assert not Path(trace).exists()


async def _answer(session: Any, tool: str, **arguments: Any) -> tuple[str, bool]:
    result = await session.call_tool(tool, arguments)
    (content,) = result.content
    return content.text, bool(result.is_error)


def test_without_the_package_the_command_says_what_to_install(
    antecede: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(extras, "find_spec", lambda _module: None)
    done = antecede("mcp")
    assert 2 == done.code
    assert "antecede mcp needs the MCP SDK" in done.err
    assert 1 == len(done.err.strip().splitlines())


@pytest.mark.integration
def test_the_server_ends_when_its_client_has_gone(tmp_path: Path) -> None:
    pytest.importorskip("mcp")
    done = in_a_process("mcp", cwd=tmp_path)
    assert (0, "") == (done.code, done.out)


class Client:
    """Sends lines to a server, and reads its answers."""

    def __init__(self, process: subprocess.Popen[bytes]) -> None:
        self.process = process
        self.send(
            id=0,
            method="initialize",
            params={
                "protocolVersion": "2025-06-18",
                "capabilities": {},
                "clientInfo": {"name": "test", "version": "1"},
            },
        )
        self.answer()
        self.send(method="notifications/initialized")

    def line(self, line: bytes) -> None:
        assert self.process.stdin is not None
        self.process.stdin.write(line + b"\n")
        self.process.stdin.flush()

    def send(self, **message: Any) -> None:
        self.line(json.dumps({"jsonrpc": "2.0", **message}).encode())

    def answer(self) -> Any:
        assert self.process.stdout is not None
        return json.loads(self.process.stdout.readline())

    def call(self, tool: str, **arguments: Any) -> str:
        self.send(id=1, method="tools/call", params={"name": tool, "arguments": arguments})
        answer = self.answer()
        assert 1 == answer["id"]
        text: str = answer["result"]["content"][0]["text"]
        return text


@contextmanager
def client(folder: Path) -> Iterator[Client]:
    """Start a server in a folder, with its temporary files in `folder/tmp`."""
    pytest.importorskip("mcp")
    (folder / "tmp").mkdir()
    process = subprocess.Popen(
        [*COMMAND, "mcp"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        cwd=folder,
        env={**os.environ, "TMPDIR": str(folder / "tmp")},
    )
    with process:
        try:
            yield Client(process)
        finally:
            if process.stdin is not None:
                process.stdin.close()
            process.wait(600)


@pytest.mark.integration
def test_every_malformed_request_is_answered(tmp_path: Path) -> None:
    """Otherwise its sender would wait forever."""
    lines = [
        (b"{", -32700, None),
        (b"\xff\xfe", -32700, None),
        (b"[" * 100_000, -32700, None),
        (b'{"jsonrpc": "2.0", "id": 7, "method": "\\ud800"}', -32700, 7),
        (b"null", -32600, None),
        (b"[{}]", -32600, None),
        (b'{"jsonrpc": "1.0", "id": 8, "method": "ping"}', -32600, 8),
        (b'{"jsonrpc": "2.0", "id": "a", "method": 5}', -32600, "a"),
        (b'{"jsonrpc": "2.0", "id": 9, "method": "no-such"}', -32601, 9),
    ]
    with client(tmp_path) as asking:
        for line, code, number in lines:
            asking.line(line)
            answer = asking.answer()
            assert (code, number) == (answer["error"]["code"], answer["id"]), line[:80]
        assert "mfss" in asking.call("list")


@pytest.mark.integration
def test_the_server_reads_regular_files_of_a_limited_size_only(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe.json")
    (tmp_path / "large.json").write_bytes(b"")
    os.truncate(tmp_path / "large.json", 50 << 30)
    with client(tmp_path) as asking:
        for tool in ("explain", "replay"):
            answer = asking.call(tool, trace="pipe.json")
            assert "Error: the trace 'pipe.json' is a named pipe" in answer
            answer = asking.call(tool, trace="large.json")
            assert "Error: the trace 'large.json' has 53,687,091,200 bytes" in answer


@pytest.mark.integration
def test_a_billion_actors_keep_within_the_budget(tmp_path: Path) -> None:
    with client(tmp_path) as asking:
        for tool in ("check", "validate"):
            answer = asking.call(tool, target="mfss", actors=10**9)
            assert "channels between 1,000,000,000 actors take more than the memory" in answer


@pytest.mark.integration
def test_a_call_that_is_too_long_for_the_system_is_refused(tmp_path: Path) -> None:
    with client(tmp_path) as asking:
        answer = asking.call("check", target="mfss", workload="x" * 300_000)
        assert "Error: the call cannot be run: Argument list too long" == answer


SPINNING = """\
from attrs import evolve

from antecede.protocols.unordered import UNORDERED


def receive(state, source, packet):
    while True:
        pass


SPIN = evolve(UNORDERED, name="spin", receive=receive)
"""


@pytest.mark.integration
@pytest.mark.parametrize("way", ["closed", "SIGTERM", "SIGKILL"])
def test_a_search_ends_with_its_server(tmp_path: Path, way: str) -> None:
    (tmp_path / "spin.py").write_text(SPINNING, encoding="utf-8")
    with client(tmp_path) as asking:
        call = {"name": "check", "arguments": {"target": "spin.py:SPIN", "max_seconds": 200}}
        asking.send(id=1, method="tools/call", params=call)
        until(lambda: len(children_of(asking.process.pid)) >= 2)  # the self-check has one, too
        started = children_of(asking.process.pid)
        if way != "closed":
            asking.process.send_signal(getattr(signal, way))
    until(lambda: not any(map(is_alive, started)))
    assert way == "SIGKILL" or [] == list((tmp_path / "tmp").iterdir())
