"""A client of the SDK drives `antecede mcp` as a process, as an agent does."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import Any

import pytest

from antecede.checker.support import extras
from tests.conftest import ROOT, Command, in_a_process

BROKEN = """\
from attrs import evolve, frozen

from antecede import Protocol, Step
from antecede.protocols.unordered import UNORDERED

CHAT = evolve(UNORDERED, name="chat")
"""

REPAIRED = BROKEN.replace("CHAT = evolve(UNORDERED", "CHAT = evolve(MFSS").replace(
    "unordered import UNORDERED", "mfss import MFSS"
)


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


def test_the_server_ends_when_its_client_has_gone(tmp_path: Path) -> None:
    pytest.importorskip("mcp")
    done = in_a_process("mcp", cwd=tmp_path)
    assert (0, "") == (done.code, done.out)
