"""The Python interface: the functions that scripts, notebooks and test suites call.

Each function is in a module with its result, for example `antecede.check` in `check.py`, and its
result in `results.py`. `arguments.py` has the names and types of the keyword arguments,
`protocols.py` accepts protocols in several forms, and `progress.py` shows progress in notebooks.

Question: Where is a Python function such as `antecede.sweep`? A file per function.
"""
