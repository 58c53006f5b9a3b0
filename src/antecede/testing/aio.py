"""asyncio nodes under test, with their tasks, timers, streams and datagrams.

Subclass `Node`, start the node in `start`, and let it send in `send`. `antecede test` then runs the
node on a loop that antecede owns.
"""

from __future__ import annotations

from antecede.checker.adapters.aio.clocks import Unsupported
from antecede.checker.adapters.aio.node import Node
from antecede.checker.adapters.aio.transports import Frame, body_of, message_in

__all__ = ["Frame", "Node", "Unsupported", "body_of", "message_in"]
