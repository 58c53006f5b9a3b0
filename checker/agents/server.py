"""The server of `antecede mcp`, with the Python SDK of the Model Context Protocol."""

from __future__ import annotations

from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import anyio
import mcp_types as types
from mcp.server.lowlevel import Server
from mcp.server.stdio import stdio_server

from antecede.checker.agents.tools import TOOLS, Ceilings, Tools, input_schema
from antecede.checker.render.json import own_version
from antecede.checker.support.errors import AntecedeError

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
        content: list[Any] = [types.TextContent(type="text", text=text)]
        return types.CallToolResult(content=content, is_error=failed)

    server = Server(
        "antecede",
        version=own_version(),
        instructions=INSTRUCTIONS,
        on_list_tools=list_tools,
        on_call_tool=call_tool,
    )
    async with stdio_server() as (reads, writes):
        await server.run(reads, writes, server.create_initialization_options())


def _described(name: str) -> Any:
    kind, says, _ = TOOLS[name]
    only_reads = types.ToolAnnotations(read_only_hint=name == "explain")
    return types.Tool(
        name=name, description=says, input_schema=input_schema(kind), annotations=only_reads
    )
