"""The server of `antecede mcp`, with the Python SDK of the Model Context Protocol."""

from __future__ import annotations

import json
from contextlib import suppress
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import anyio
import mcp_types as types
from mcp.server.lowlevel import Server
from mcp.server.stdio import stdio_server
from mcp.shared.message import SessionMessage
from pydantic import ValidationError

from antecede.checker.agents.tools import TOOLS, Ceilings, Tools, input_schema
from antecede.checker.support.errors import AntecedeError
from antecede.checker.support.version import VERSION

INSTRUCTIONS = (
    "antecede checks protocols for causal message delivery. Write a protocol as a Python file. "
    "Call validate, then check. If check answers VIOLATED, read the steps, repair the protocol, "
    "replay the trace, and check again. When it HOLDS with several sizes, save the question as a "
    "spec."
)


def serve(ceilings: Ceilings) -> None:
    """Answer the calls of a client on standard input until it closes its end."""
    with TemporaryDirectory(prefix="antecede-mcp-") as folder:
        anyio.run(_serve, Tools(Path(folder), ceilings))


async def _serve(tools: Tools) -> None:
    one_at_a_time = anyio.Lock()

    async def list_tools(_context: Any, _params: Any) -> Any:
        return types.ListToolsResult(tools=[_described(name) for name in TOOLS])

    async def call_tool(_context: Any, params: Any) -> Any:
        try:
            async with one_at_a_time:
                text, failed = await tools.call(params.name, params.arguments or {}), False
        except AntecedeError as error:
            text, failed = f"Error: {error}", True
        except Exception as error:
            text, failed = f"Internal error: {type(error).__name__}: {error}", True
        text = text.encode(errors="replace").decode()  # a file may hold half a character
        content: list[Any] = [types.TextContent(type="text", text=text)]
        return types.CallToolResult(content=content, is_error=failed)

    server = Server(
        "antecede",
        version=VERSION,
        instructions=INSTRUCTIONS,
        on_list_tools=list_tools,
        on_call_tool=call_tool,
    )
    async with stdio_server() as (reads, writes), anyio.create_task_group() as tasks:
        sends, requests = anyio.create_memory_object_stream[Any](0)
        tasks.start_soon(_pass_on, reads, sends, writes.clone())
        await server.run(requests, writes, server.create_initialization_options())
        tasks.cancel_scope.cancel()


async def _pass_on(reads: Any, requests: Any, writes: Any) -> None:
    """Pass requests on, and answer what is no request, which the SDK would drop."""
    async with requests, writes:
        async for message in reads:
            if isinstance(message, Exception):
                await writes.send(SessionMessage(_refusal(message)))
            else:
                await requests.send(message)


def _refusal(error: Exception) -> types.JSONRPCError:
    """Return the answer to a line that is no message of JSON-RPC 2.0, with its id if it has one."""
    faults = error.errors() if isinstance(error, ValidationError) else []
    is_json = not any(fault["type"] == "json_invalid" for fault in faults)
    inputs = [fault["input"] for fault in faults]
    if not is_json:  # JSON with a lone surrogate is read by Python only
        with suppress(ValueError, RecursionError):
            inputs = [json.loads(inputs[0])]
    numbers = (each["id"] for each in inputs if isinstance(each, dict) and "id" in each)
    known = next((n for n in numbers if isinstance(n, int | str) and n is not True), None)
    code, says = (
        (types.INVALID_REQUEST, "the line is no request of JSON-RPC 2.0")
        if is_json
        else (types.PARSE_ERROR, "the line is not valid JSON in UTF-8")
    )
    return types.JSONRPCError(
        jsonrpc="2.0", id=known, error=types.ErrorData(code=code, message=says)
    )


def _described(name: str) -> Any:
    kind, says, _ = TOOLS[name]
    only_reads = types.ToolAnnotations(read_only_hint=name == "explain")
    return types.Tool(
        name=name, description=says, input_schema=input_schema(kind), annotations=only_reads
    )
