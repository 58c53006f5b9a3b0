"""The Python interface: what scripts, notebooks and test suites call.

`check.py` has the functions, `arguments.py` the names and types of their keyword arguments, and
`results.py` the objects that they return.
"""
