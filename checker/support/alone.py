"""What only one thread at a time may ask of Python, although Python does not see to it."""

from __future__ import annotations

import os
import threading

alone = threading.RLock()
"""Held by the thread that asks for one of these:

- to set a trace function or a profiler: Python 3.11 fails if two threads set theirs at one time;
- to make a syntax tree: before 3.11.8, Python fails if two threads do so (CPython's issue 106905);
- for the source lines of a file: another thread may remove the lines from Python's cache just after
  Python has seen them there.

A fork waits for it, so that it is free in the child process.
"""

if hasattr(os, "register_at_fork"):
    os.register_at_fork(
        before=alone.acquire, after_in_parent=alone.release, after_in_child=alone.release
    )
