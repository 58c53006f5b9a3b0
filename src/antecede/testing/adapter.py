"""Real code as a protocol: `protocol` makes one of a Python class, and `program` of any program.

An adapter is the connection between real code and the checker, which runs the code on a simulated
network. The actors, the participants of the system, are then objects of the class or parts of the
program.
"""

from __future__ import annotations

from antecede.checker.adapters.calls import Out
from antecede.checker.adapters.objects import Kept, Running, protocol
from antecede.checker.adapters.packets import PickledPacket
from antecede.checker.adapters.pipe import program

__all__ = ["Kept", "Out", "PickledPacket", "Running", "program", "protocol"]
