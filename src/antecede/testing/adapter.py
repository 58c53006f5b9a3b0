"""Real Python objects under the checker; see `antecede.checker.adapters.objects`."""

from __future__ import annotations

from antecede.checker.adapters.calls import Out
from antecede.checker.adapters.objects import Kept, Running, protocol
from antecede.checker.adapters.packets import Parcel
from antecede.checker.adapters.pipe import program

__all__ = ["Kept", "Out", "Parcel", "Running", "program", "protocol"]
