"""How a Python function becomes machine code, and the cache of that code."""
