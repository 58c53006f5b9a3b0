"""What reproduces published results: claims, tables, simulations, classes of computations.

Nothing below imports this wing; `tests/test_architecture.py` says so.
"""
