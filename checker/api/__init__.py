"""The Python interface: what scripts, notebooks and test suites call.

Each function is in a module with its result: `check.py` and `results.py`, `sweep.py`, and so on.
`arguments.py` has the names and types of their keyword arguments, `protocols.py` says what a
protocol may be, and `progress.py` shows progress in notebooks.
"""
