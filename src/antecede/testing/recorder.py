"""Recorders, which write the sends and deliveries of a program as a log for `antecede audit`."""

from __future__ import annotations

from antecede.checker.logs.recorder import Actor, Recorder

__all__ = ["Actor", "Recorder"]
