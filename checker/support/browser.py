"""Python in a page of a browser, by Pyodide: one thread, and no facts about the process."""

from __future__ import annotations

import sys
from importlib import import_module

IN_BROWSER = sys.platform == "emscripten"
"""Whether a browser's page runs this code. (Node.js with Pyodide is like a page.)"""


def heap_bytes() -> int:
    """Return the memory of this Python in bytes. It never shrinks, so it is the peak, too."""
    size: int = import_module("pyodide_js")._module.HEAPU8.length
    return size
